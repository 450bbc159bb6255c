"""Every program of the corpus does under minigrad what it does under PyTorch.

Where PyTorch is installed both run side by side. Everywhere, minigrad is held against PyTorch's recorded transcripts,
and where PyTorch is installed those are held against PyTorch.
"""

from __future__ import annotations

import functools
import json
import warnings

import numpy as np
import pytest

import minigrad
from tests import oracle
from tests.corpus import CELLS, NODE_NAMES, RECORDED, SINGULAR_POINTS, items, one_line
from tests.oracle import Program, case, run

# Items of the curriculum that claim nothing a program could show.
MOTIVATION = {
    "A": (1, 2, 29),
    "B": (1, 2, 3, 4, 7, 35, 38, 39),
    "C": (1, 4, 21, 22, 23, 24, 28, 29, 30, 33),
    "D": (1, 3, 4, 11, 21, 39, 53, 54, 55),
}
MOTIVATION = {f"{source}{number:02}" for source, numbers in MOTIVATION.items() for number in numbers}
ITEMS = {f"{s}{i:02}" for s, n in (("A", 45), ("B", 39), ("C", 33), ("D", 63)) for i in range(1, n + 1)}


@functools.cache
def recorded() -> dict[str, dict]:
    return json.loads(RECORDED.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=4)  # the tests of one program follow each other
def run_cell(module, program: Program) -> dict:
    return run(module, program)


every_cell = pytest.mark.parametrize("program", CELLS, ids=[cell.name for cell in CELLS])


@pytest.mark.parametrize("program", [case(cell.name, cell) for cell in CELLS])
def test_does_what_torch_does(torch, program):
    oracle.assert_same(program, run_cell(torch, program), run_cell(minigrad, program))


@pytest.mark.parametrize("program", [case(f"recorded/{cell.name}", cell) for cell in CELLS])
def test_does_what_torch_did_when_recorded(program):
    oracle.assert_same(program, recorded()[program.name], run_cell(minigrad, program))


@every_cell
def test_the_recorded_transcript_is_what_torch_does(torch, program):
    transcript = run_cell(torch, program)
    assert program.name in recorded(), "not recorded yet: python -m tests.corpus"
    oracle.assert_same(program, recorded()[program.name], transcript)
    raising = {statement["line"] for statement in transcript["statements"] if "error" in statement}
    assert raising == program.raising, "mark the lines that raise, and only those, with `# raises`"


def test_nothing_else_is_recorded():
    assert set(recorded()) == {cell.name for cell in CELLS}, "out of date: python -m tests.corpus"


def test_every_claim_of_the_curriculum_has_a_program():
    named = set().union(*(items(cell) for cell in CELLS))
    assert named <= ITEMS
    assert sorted(ITEMS - named - MOTIVATION) == []
    assert sorted(named & MOTIVATION) == []


@pytest.mark.parametrize(
    ("preamble", "line", "name"), [case(f"node_names/{row[1]}", *row) for row in NODE_NAMES]
)
def test_the_node_has_torchs_name(preamble, line, name):
    scope = oracle.names(minigrad)
    exec(one_line("node_names", preamble, line).source, scope)
    node = scope["out"].grad_fn
    assert str(node and node.name()) == name


@pytest.mark.parametrize(
    ("preamble", "line"), [case(f"node_graphs/{row[1]}", *row[:2]) for row in NODE_NAMES]
)
def test_the_graph_behind_the_node_is_torchs(torch, preamble, line):
    program = one_line("node_names", preamble, line)
    oracle.assert_same(program, run(torch, program), run(minigrad, program))


@pytest.mark.parametrize(
    ("preamble", "line", "expected"), [case(f"singular_points/{row[1]}", *row) for row in SINGULAR_POINTS]
)
def test_the_gradient_at_the_kink_is_torchs(preamble, line, expected):
    gradients = gradients_at_kink(minigrad, preamble, line)
    assert oracle.close(np.ravel(eval(expected, vars(np))).tolist(), gradients, 1e-12), gradients


@pytest.mark.parametrize(
    ("preamble", "line", "expected"),
    SINGULAR_POINTS,
    ids=[f"singular_points/{row[1]}" for row in SINGULAR_POINTS],
)
def test_the_table_of_kinks_is_torchs(torch, preamble, line, expected):
    gradients = gradients_at_kink(torch, preamble, line)
    assert oracle.close(np.ravel(eval(expected, vars(np))).tolist(), gradients, 1e-12), gradients


def gradients_at_kink(module, preamble: str, line: str) -> list[float]:
    """All gradients of the sum of `f(*inputs)` for a row `f | inputs`, one after another."""
    function, _, values = line.partition(" | ")
    scope = oracle.names(module) | {"inf": np.inf}
    exec(preamble, scope)
    inputs = [module.tensor(v, dtype=module.float64, requires_grad=True) for v in eval(f"[{values}]", scope)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a pole is no reason to warn
        eval(f"lambda x, y=None, z=None: {function}", scope)(*inputs).sum().backward()
    return [g for x in inputs for g in np.ravel(x.grad.numpy()).tolist()]
