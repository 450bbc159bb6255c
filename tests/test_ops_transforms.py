"""Every operation of tests/ops.py under the function transforms: vmap is the loop, forward mode is reverse mode's transpose."""

from __future__ import annotations

import re
import warnings
import zlib

import numpy as np
import pytest

import minigrad
from minigrad import func
from tests import oracle
from tests.ops import IMPORT_F, OPS, Op
from tests.oracle import case

# What depends on the values of an example in a way that gives results of different shapes, or asks Python.
DEPENDS_ON_VALUES = re.compile(
    r"x\[x( >|\[:, 0\] >)|masked_select|nonzero\(\)|allclose|equal\(|list\(x\)|\.item\(\)|unique|combinations|bincount"
)
# What reverse mode alone leaves out (the row of the padding), or where both are nan, in different ways.
ONE_SIDED = re.compile(r"padding_idx|^x\.mean\(\)$")
RANDOM = re.compile(r"dropout|bernoulli|rand|gumbel|rrelu\(x, training")


def flat(result: object) -> list:
    """The tensors of a result, whatever holds them."""
    if isinstance(result, minigrad.Tensor):
        return [result]
    return [t for part in result for t in flat(part)] if isinstance(result, tuple | list) else []


def as_function(op: Op):
    """The operation as a function of its inputs, which returns its tensors."""
    names = [name for name, _ in op.shapes]

    def run(*inputs):
        scope = oracle.names(minigrad) | dict(zip(names, inputs, strict=True))
        if "F." in op.expression:
            exec(IMPORT_F, scope)
        return tuple(flat(eval(op.expression, scope)))

    return run


def of(values: dict[str, np.ndarray]) -> list:
    return [minigrad.tensor(a) for a in values.values()]


CERTAIN = [op for op in OPS if not RANDOM.search(op.expression)]
MAPPED = [op for op in CERTAIN if not DEPENDS_ON_VALUES.search(op.expression)]
PUSHED = [op for op in CERTAIN if not ONE_SIDED.search(op.expression)]


@pytest.mark.parametrize("op", [case(f"vmap/{op.name}", op) for op in MAPPED])
def test_vmap_equals_the_loop(op):
    first = op.inputs(0)
    examples = [of(first), of({name: a * 1.03 for name, a in first.items()})]
    run = as_function(op)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a loop, and of what the operation itself warns of
        expected = [run(*inputs) for inputs in examples]
        got = func.vmap(run)(*(minigrad.stack(column) for column in zip(*examples, strict=True)))
    for whole, *rows in zip(got, *expected, strict=True):
        assert whole.dtype == rows[0].dtype
        np.testing.assert_allclose(
            whole.numpy(), [row.detach().numpy() for row in rows], rtol=1e-7, atol=1e-9
        )


@pytest.mark.parametrize("op", [case(f"jvp/{op.name}", op) for op in PUSHED])
def test_forward_mode_is_the_transpose_of_reverse_mode(op):
    rng = np.random.default_rng(zlib.crc32(op.expression.encode()))
    values = op.inputs(1)
    primals = of(values)
    tangents = of({name: rng.standard_normal(a.shape) for name, a in values.items()})
    run = as_function(op)

    def floating(*inputs):
        return tuple(t for t in run(*inputs) if t.is_floating_point())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not floating(*primals):
            return
        outs, pushed = func.jvp(floating, tuple(primals), tuple(tangents))
        weights = [
            minigrad.tensor(np.cos(np.arange(o.numel()) + 1.0).reshape(o.shape)).to(o.dtype) for o in outs
        ]
        pulled = func.vjp(floating, *primals)[1](tuple(weights))
    forward = sum(float((p * w).sum()) for p, w in zip(pushed, weights, strict=True))
    reverse = sum(float((p * t).sum()) for p, t in zip(pulled, tangents, strict=True))
    assert forward == pytest.approx(reverse, rel=1e-5, abs=1e-6, nan_ok=True)
