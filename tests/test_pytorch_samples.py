"""minigrad does what PyTorch does on the inputs on which PyTorch tests its own operations (see pytorch_samples.py).

The operations are dealt out to a few tests each, for there are many and the table is made anew in each process.
"""

from __future__ import annotations

import itertools
import zlib

import pytest

from tests import pytorch_samples as samples

PARTS = 8
MOST = 24  # samples of one operation; of more, these many are taken at even distances

in_parts = pytest.mark.parametrize("part", range(PARTS))


@pytest.mark.usefixtures("torch")
class TestSamples:
    @in_parts
    def test_values_gradients_and_graphs(self, part: int) -> None:
        check("once", "float64", part)


@pytest.mark.usefixtures("torch")
class TestOtherNumbers:
    @in_parts
    def test_integers(self, part: int) -> None:
        check("once", "int64", part)

    @in_parts
    def test_truth_values(self, part: int) -> None:
        check("once", "bool", part)

    @in_parts
    def test_halves(self, part: int) -> None:
        check("once", "float16", part, most=12)

    @in_parts
    def test_errors(self, part: int) -> None:
        check("once", "errors", part)


@pytest.mark.usefixtures("torch")
class TestSecondDerivatives:
    @in_parts
    def test_gradients_of_gradients(self, part: int) -> None:
        check("twice", "float64", part)


@pytest.mark.usefixtures("torch")
class TestForwardMode:
    @in_parts
    def test_tangents(self, part: int) -> None:
        check("forward", "float64", part)


@pytest.mark.usefixtures("torch")
class TestBatches:
    @in_parts
    def test_vmap(self, part: int) -> None:
        check("vmap", "float64", part, most=8)


def check(what: str, inputs: str, part: int, most: int = MOST) -> None:
    """Compare one part of the operations on one kind of input; fail with the first differences of each."""
    found, compared = [], 0
    for info in samples.table():
        if zlib.crc32(samples.key(info).encode()) % PARTS == part and what in samples.programs(info):
            for form, sample in chosen(info, inputs, most):
                try:
                    different = samples.compare(info, form, sample, what)
                except samples.Unsuitable:
                    continue
                compared += 1
                if different:
                    found.append(
                        f"{samples.key(info)} as {form} of {samples.shown(sample.input)}\n    {different[0]}"
                    )
    again = f"python -m tests.pytorch_samples {what} {inputs}".removesuffix(" errors")
    assert not found, f"{len(found)} of {compared} calls differ, see {again} NAME\n" + "\n".join(found[:12])
    assert compared > 20


def chosen(info, inputs: str, most: int) -> itertools.product:
    """The calls of an operation: (form, sample)."""
    forms = samples.forms(info)
    every = (
        list(samples.error_samples(info) if inputs == "errors" else samples.samples(info, inputs))
        if forms
        else []
    )
    step = -(-len(every) // most) or 1
    return itertools.product(forms, every[::step])
