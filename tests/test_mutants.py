"""tools/mutants.py: each mutant is one small change that parses, and a mistake on a covered line is noticed."""

from __future__ import annotations

import ast

import pytest

from tools import mutants
from tools.lines_of_tests import Lines, cheapest
from tools.mutants import ROOT, Mutant


def changed_text(mutant: Mutant) -> str:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    return text[: mutant.start] + mutant.new + text[mutant.end :]


@pytest.mark.long
def test_each_mutant_is_one_change_that_parses():
    chosen = mutants.choose(60, seed=3, only="")
    assert len(chosen) == 60 and len({(m.file, m.line) for m in chosen}) == 60
    for package in mutants.PACKAGES:
        assert sum(m.file.startswith(package) for m in chosen) == 20
    for mutant in chosen:
        before = ast.dump(ast.parse((ROOT / mutant.file).read_text(encoding="utf-8")))
        assert ast.dump(ast.parse(changed_text(mutant))) != before, str(mutant)


def test_a_seed_names_its_mutants():
    assert mutants.choose(6, seed=5, only="viz") == mutants.choose(6, seed=5, only="viz")
    assert mutants.choose(6, seed=5, only="viz") != mutants.choose(6, seed=6, only="viz")


def test_cheap_tests_come_first_and_each_function_of_tests_in_turn():
    seconds = {"a.py::t[1]": 0.1, "a.py::t[2]": 0.2, "b.py::u": 3.0, "c.py::v": 20.0, "d.py::w": 0.05}
    assert cheapest(iter(seconds), seconds) == ["d.py::w", "a.py::t[1]", "b.py::u", "a.py::t[2]"]
    assert cheapest(iter(["c.py::v"]), seconds) == ["c.py::v"]  # one at least


def test_the_tests_of_a_line_inside_an_expression_are_those_of_its_first_line():
    lines = Lines(["one", "two"], {"viz/x.py": {"1": [], "3": [1], "7": [0, 1]}})
    assert lines.tests("viz/x.py", 8) == ["one", "two"] and lines.tests("viz/x.py", 4) == ["two"]
    # the head of a function
    assert lines.tests("viz/y.py", 3) == [] and lines.tests("viz/x.py", 1) == ["two"]
