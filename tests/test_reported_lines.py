"""An error is reported with the learner's line in which it arose, whether it was raised in the learner's code or a library's.

Each solution is taken as a learner's cell, and a piece of code that raises is put in front of its first statement. The line
that must be reported is marked in it. (test_replies.py does the same for every exercise, with an error inside an operation.)
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import textwrap

import pytest

from exercises.answer_table import COMMON
from exercises.judge import judge
from exercises.model import module_of
from tests.exercise_helpers import EXERCISES

# minigrad warns about these answers
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

HERE = "# here"
ABOVE = """\
def helper(t):
    one = torch.ones(3)
    return t + one  {helper}


class Helper:
    def method(self):
        return self.missing  {method}


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, upstream):
        return upstream + torch.ones(5)  {function}


"""
PLANTED = {
    "lines": "_value = (\n    torch.ones(2)  # here\n    + torch.ones(3)\n)",
    "lambda": "list(map(lambda n: torch.ones(2) + torch.ones(n), (2, 3)))  # here",
    "comprehension": "[\n    torch.ones(2) * torch.ones(n)  # here\n    for n in (2, 3)\n]",
    "helper": "helper(torch.ones(2))",
    "method": "Helper().method()",
    "hook": """\
        with torch.enable_grad():
            _leaf = torch.ones(2, requires_grad=True)
            _leaf.register_hook(lambda grad: grad + torch.ones(3))  # here
            (_leaf * 2).sum().backward()""",
    "function": """\
        with torch.enable_grad():
            Broken.apply(torch.ones(2, requires_grad=True)).sum().backward()""",
    "second pass": """\
        with torch.enable_grad():
            _leaf = torch.ones(2, requires_grad=True)
            _sum = (_leaf * _leaf).sum()
            _sum.backward()
            _sum.backward()  # here""",
}


def planted(kind: str, solution: str) -> str:
    """A cell with the solution, in which the first function that is called begins with the code of this kind."""
    function = next(node for node in ast.walk(ast.parse(solution)) if isinstance(node, ast.FunctionDef))
    before, indent = function.body[0].lineno - 1, " " * function.body[0].col_offset
    lines = solution.split("\n")
    lines[before:before] = textwrap.indent(textwrap.dedent(PLANTED[kind]), indent).split("\n")
    marks = {name: HERE if name == kind else "" for name in ("helper", "method", "function")}
    return ABOVE.format(**marks) + "\n".join(lines) + "\n"


CODE = [exercise for exercise in EXERCISES if not exercise.typed]


@pytest.mark.parametrize("kind", PLANTED)
def test_the_reported_line_is_the_one_that_raised(kind, monkeypatch):
    monkeypatch.setattr("exercises.judge.SEARCH", (0.0, 0.0))  # the line is reported in any case
    failed, first = [], list(PLANTED).index(kind) % 4
    for exercise in CODE[first::4]:  # two of the eight kinds for each exercise
        source = planted(kind, exercise.solution_source)
        file = f"<ipython-input-{kind}-{exercise.id}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        lesson = module_of(exercise.id)
        beside = sys.modules.get(
            exercise.reference[0].__module__, lesson
        )  # where the solution is, as in lesson 7
        scope = {**COMMON, **vars(lesson), **vars(beside), "__name__": "__main__"}
        exec(textwrap.dedent(exercise.setup), scope)
        exec(compile(source, file, "exec"), scope)
        reply = judge(exercise, tuple(scope[name] for name in exercise.names)).message
        (due,) = (number for number, line in enumerate(source.split("\n"), 1) if HERE in line)
        line = source.split("\n")[due - 1].strip()
        found = re.search(r"Line (\d+), `(.*?)`: ", reply)
        if not found or (int(found[1]), found[2]) != (due, line):
            failed.append(f"{exercise.id}: line {due}, {line}, is reported as: {reply}")
    assert not failed, "\n\n".join(failed)
