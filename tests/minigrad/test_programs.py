"""Every listed program does under minigrad what it does under PyTorch: see programs.py.

What PyTorch does in the sessions is recorded: without PyTorch minigrad is compared with the record, with it the record is
compared with PyTorch. To see what differs in some lines: `python -m tests.minigrad.test_programs FILE...`, `-` is the
standard input.
"""

from __future__ import annotations

import ast
import math
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import minigrad
from tests.minigrad import oracle
from tests.minigrad.oracle import Program, assert_same, differences, run
from tests.minigrad.programs import LINES, SESSIONS, fact, facts, one_line, scope, tools
from tests.minigrad.record import recorded

each_session = pytest.mark.parametrize("program", SESSIONS, ids=lambda program: program.name)


@each_session
def test_a_session_goes_as_it_went_in_pytorch(program: Program) -> None:
    assert_same(program, recorded("sessions")[program.name], run(minigrad, program, **tools(minigrad)))


@each_session
def test_what_is_recorded_is_what_pytorch_does(torch, program: Program) -> None:
    transcript = run(torch, program, **tools(torch))
    assert_same(program, recorded("sessions")[program.name], transcript)
    raising = {statement["line"] for statement in transcript["statements"] if "error" in statement}
    lines_with_err = {s.lineno for s in ast.parse(program.source).body if "err(" in ast.unparse(s)}
    assert raising - lines_with_err == program.raising - lines_with_err, (
        "mark the lines that raise, and only those, with `# raises`"
    )


def test_nothing_else_is_recorded() -> None:
    assert set(recorded("sessions")) == {program.name for program in SESSIONS}, (
        "python -m tests.minigrad.record"
    )


def transcripts(torch: ModuleType, line: str) -> tuple[Program, dict[str, Any], dict[str, Any]]:
    """The program of a line, and what it does under PyTorch and under minigrad."""
    program = one_line(line)
    expected, got = (run(engine, program, **scope(engine)) for engine in (torch, minigrad))
    return program, expected, got


@pytest.mark.parametrize(("file", "line"), LINES, ids=[f"{file}: {line}" for file, line in LINES])
def test_a_line_does_what_it_does_in_pytorch(torch, file: str, line: str) -> None:
    assert_same(*transcripts(torch, line), noise=True)


# ---------------------------------------------------------------- facts

NODES, KINKS = facts("node_names"), facts("singular_points")
ids = {"ids": lambda value: value if "\n" not in str(value) else ""}


@pytest.mark.parametrize(("preamble", "line", "name"), NODES, ids=[row[1] for row in NODES])
def test_the_node_has_pytorchs_name(preamble: str, line: str, name: str) -> None:
    found = oracle.names(minigrad)
    exec(fact("node_names", preamble, line).source, found)
    node = found["out"].grad_fn
    assert str(node and node.name()) == name


@pytest.mark.parametrize(("preamble", "line"), [row[:2] for row in NODES], ids=[row[1] for row in NODES])
def test_the_graph_behind_the_node_is_pytorchs(torch, preamble: str, line: str) -> None:
    program = fact("node_names", preamble, line)
    assert_same(program, run(torch, program), run(minigrad, program))


@pytest.mark.parametrize("engine", ["minigrad", "torch"])
@pytest.mark.parametrize(("preamble", "line", "expected"), KINKS, ids=[row[1] for row in KINKS])
def test_the_gradient_at_the_kink(request, engine: str, preamble: str, line: str, expected: str) -> None:
    module = minigrad if engine == "minigrad" else request.getfixturevalue("torch")
    function, _, values = line.partition(" | ")
    found = oracle.names(module) | {"inf": np.inf}
    exec(preamble, found)
    inputs = [module.tensor(v, dtype=module.float64, requires_grad=True) for v in eval(f"[{values}]", found)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a pole must not cause a warning
        eval(f"lambda x, y=None, z=None: {function}", found)(*inputs).sum().backward()
    gradients = [g for x in inputs for g in np.ravel(x.grad.numpy()).tolist()]
    assert oracle.close(np.ravel(eval(expected, vars(np))).tolist(), gradients, 1e-12), gradients


# ---------------------------------------------------------------- whole programs

WHOLE = sorted((oracle.ROOT / "tests/programs").glob("*.py"))
RUN = """
import importlib, runpy, sys
path, library = sys.argv[1:]
if library == "minigrad":
    sys.modules["torch"] = importlib.import_module("minigrad")
    for part in ("func", "nn", "optim", "utils", "utils.data"):
        sys.modules["torch." + part] = importlib.import_module("minigrad." + part)
runpy.run_path(path, run_name="__main__")
"""
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def printed(program: Path, library: str) -> str:
    """The output of a program in a separate process."""
    command = [sys.executable, "-W", "ignore", "-c", RUN, str(program), library]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, cwd=oracle.ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", WHOLE, ids=lambda path: path.stem)
def test_a_whole_program_runs(program: Path) -> None:
    assert printed(program, "minigrad")


@pytest.mark.parametrize("program", WHOLE, ids=lambda path: path.stem)
def test_a_whole_program_prints_what_it_prints_in_pytorch(torch, program: Path) -> None:
    here, there = printed(program, "minigrad"), printed(program, "torch")
    assert NUMBER.sub("#", here) == NUMBER.sub("#", there)
    for a, b in zip(NUMBER.findall(here), NUMBER.findall(there), strict=True):
        assert math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=2e-4), f"{a} in place of {b}"


if __name__ == "__main__":
    import torch

    for path in sys.argv[1:]:
        for text in Path("/dev/stdin" if path == "-" else path).read_text(encoding="utf-8").splitlines():
            if text.strip() and text[0] != "#":
                program, expected, got = transcripts(torch, text.strip())
                if found := differences(expected, got, noise=True):
                    print(oracle.report(program, found, limit=3))
