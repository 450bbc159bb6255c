"""Random programs and calls do under minigrad what they do under PyTorch (see random_programs.py and bad_calls.py).

`python -m tests.minigrad.at_random` tries any number of them.
"""

from __future__ import annotations

import ast

import pytest

import minigrad
from tests.minigrad.at_random import KINDS, feature, transforms
from tests.minigrad.bad_calls import call, names, outcome
from tests.minigrad.oracle import run
from tests.minigrad.random_programs import write_transforms

SLICES = [  # the kind, the first number, how many in one test
    *(("programs", first, 50) for first in range(0, 1600, 50)),
    *(("transforms in transforms", first, 50) for first in range(0, 600, 50)),
    *(("bad calls", first, 500) for first in range(0, 3000, 500)),
    *(("programs", number, 1) for number in (207400, 301201, 910279, 910362, 920584)),  # differed once
    *(("transforms in transforms", number, 1) for number in (218989, 900407)),
]


@pytest.mark.parametrize(("kind", "first", "count"), SLICES)
def test_it_goes_as_in_pytorch(torch, kind: str, first: int, count: int):
    for number in range(first, first + count):
        difference, why = KINDS[kind](torch, number)
        if difference and not why:
            pytest.fail(difference, pytrace=False)


def test_most_bad_calls_are_bad(torch):
    """Otherwise the test would compare results, as others do."""
    known = names(torch)
    assert sum(bool(outcome(minigrad, call(n, *known))[0]) for n in range(500)) > 400


def test_the_programs_use_what_they_are_for():
    """Four statements in five do something, and each kind of pass and hook is there."""
    programs = [feature(seed) for seed in range(50)]
    count = sum(len(ast.parse(program.source).body) for program in programs)
    failed = sum("error" in s for program in programs for s in run(minigrad, program)["statements"])
    assert failed < count / 5
    text = "".join(program.source for program in programs)
    words = "Increase.apply inputs= note('again note('after create_graph inference_mode"
    assert [word for word in words.split() if word not in text] == []


def test_transforms_do_something():
    """Nine programs in ten run to the end; and they are nested two deep."""
    transcripts = [run(minigrad, transforms(seed)) for seed in range(40)]
    assert sum("out" in t["variables"] for t in transcripts) >= 36
    assert sum("f2 = " in write_transforms(seed) for seed in range(40)) >= 20
