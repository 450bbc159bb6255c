"""Programs made up at random do under minigrad what they do under PyTorch (see random_programs.py).

Values, gradients, graphs, the order of nodes and hooks, what is printed, the first line of errors.

    python -m tests.minigrad.test_random 200 900               compares the programs of these numbers, shows what differs
    python -m tests.minigrad.test_random transforms 0 500      the same for transforms in transforms
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterable
from types import ModuleType

import pytest

import minigrad
from tests.minigrad import oracle
from tests.minigrad.oracle import Program, run
from tests.minigrad.random_programs import write, write_transforms

FEATURES, TRANSFORMS, AT_ONCE = 1600, 600, 50  # how many programs; how many in one test
# Programs that are left out, and why: what PyTorch 2.13 does there is its own fault.
FAULTS = {
    557: "it crashes",
    79: "a detached inference tensor may be written to outside of inference mode",
    903: "the gradients of two leaves share their memory",
}
# What PyTorch cannot do inside its transforms, with writes in place or saved values; minigrad may.
LIMITS = re.compile(
    "ZeroTensors are immutable|vmap: |modified by an inplace operation|not supported|not implemented|Batching rule"
)


def compare(torch: ModuleType, program: Program) -> list[str]:
    expected, got = run(torch, program), run(minigrad, program)
    if any("INTERNAL ASSERT FAILED" in s.get("error", "") for s in expected["statements"]):
        return []
    return oracle.differences(expected, got, noise=True)


def compare_transforms(torch: ModuleType, program: Program) -> list[str]:
    """Of transforms only values are compared: how they are come by is each engine's own affair."""
    expected, got = run(torch, program), run(minigrad, program)
    if any(LIMITS.search(s.get("error", "")) for s in expected["statements"]):
        return []
    for transcript in (expected, got):
        for statement in transcript["statements"]:
            for part in ("warnings", "order", "nodes"):
                statement.pop(part, None)
    return oracle.differences(expected, got, noise=True)


def feature(seed: int) -> Program:
    return Program(f"random program {seed}", write(seed))


def transforms(seed: int) -> Program:
    return Program(f"transforms {seed}", write_transforms(seed))


@pytest.mark.parametrize("first", range(0, FEATURES, AT_ONCE))
def test_features_meet_as_in_pytorch(torch, first: int):
    check(set(range(first, first + AT_ONCE)) - set(FAULTS), feature, lambda program: compare(torch, program))


@pytest.mark.parametrize("first", range(0, TRANSFORMS, AT_ONCE))
def test_transforms_in_transforms_give_what_they_give_in_pytorch(torch, first: int):
    seeds = range(first, first + AT_ONCE)
    check(seeds, transforms, lambda program: compare_transforms(torch, program))


def check(seeds: Iterable[int], made: Callable, compared: Callable) -> None:
    for seed in seeds:
        program = made(seed)
        if found := compared(program):
            pytest.fail(oracle.report(program, found), pytrace=False)


def test_the_programs_use_what_they_are_for():
    """Four statements in five do something, and each kind of pass and hook is there."""
    programs = [feature(seed) for seed in range(50)]
    count = sum(len(ast.parse(program.source).body) for program in programs)
    failed = sum("error" in s for program in programs for s in run(minigrad, program)["statements"])
    assert failed < count / 5
    text = "".join(program.source for program in programs)
    for word in (
        "Increase.apply",
        "inputs=",
        "get_gradient_edge(v",
        "mode='any'",
        "create_graph",
        "inference_mode",
    ):
        assert word in text, word


def test_transforms_do_something():
    """Nine programs in ten run through; and they are two deep."""
    transcripts = [run(minigrad, transforms(seed)) for seed in range(40)]
    assert sum("out" in t["variables"] for t in transcripts) >= 36
    assert sum("f2 = " in write_transforms(seed) for seed in range(40)) >= 20


if __name__ == "__main__":
    engine, words = importlib.import_module("torch"), sys.argv[1:]
    made, compared = (transforms, compare_transforms) if words[0] == "transforms" else (feature, compare)
    for number in set(range(*map(int, words[-2:]))) - (set(FAULTS) if made is feature else set()):
        if told := compared(engine, made(number)):
            print(oracle.report(made(number), told))
