"""Programs in which autograd's features meet at random do under minigrad what they do under PyTorch.

Values, gradients, graphs, the order of nodes and hooks, what is printed, errors. `python -m tests.test_random_programs 200 900`
compares the programs of these numbers, and shows those that differ.
"""

from __future__ import annotations

import ast
import importlib
import sys

import pytest

import minigrad
from tests import oracle
from tests.oracle import Program, run
from tests.random_programs import write


def differences(torch, seed: int) -> tuple[Program, list[str]]:
    program = Program(f"random program {seed}", write(seed))
    return program, oracle.differences(run(torch, program), run(minigrad, program))


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_features_meet_as_in_pytorch(torch, first: int):
    for seed in range(first, first + 25):
        program, found = differences(torch, seed)
        if found:
            pytest.fail(oracle.report(program, found), pytrace=False)


def test_the_programs_use_what_they_are_for():
    """Four statements in five do something, and each kind of pass and hook is there."""
    programs = [Program("random", write(seed)) for seed in range(50)]
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


if __name__ == "__main__":
    engine = importlib.import_module("torch")
    for number in range(*map(int, sys.argv[1:3])):
        source, told = differences(engine, number)
        if told:
            print(oracle.report(source, told))
