"""vmap runs every operation on the whole batch at once, whichever of its inputs differ between the examples.

The operations are those of tests/ops.py. Those in LOOPS are run for each example, and say so.
"""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import minigrad
from minigrad import func
from minigrad.func import batching
from tests.oracle import case
from tests.test_ops_transforms import MAPPED, as_function

# Searching and counting: NumPy does one row at a time; a norm of each slice, over all other dimensions; rare losses.
LOOPS = {
    "bincount",
    "histc",
    "histogram",
    "searchsorted",
    "renorm",
    "multi_margin_loss",
    "multilabel_margin_loss",
}
BATCH = 3


def floating(outs: tuple) -> tuple:
    return tuple(t for t in outs if t.is_floating_point())


def ways(run, count: int) -> dict:
    """The operation's value, its gradient, its derivative forward."""

    def energy(*inputs):
        return sum((out * out).sum() for out in floating(run(*inputs)))

    def tangent(*inputs):
        return func.jvp(lambda *xs: floating(run(*xs)), inputs, tuple(x * 0 + 1 for x in inputs))[1]

    return {"value": run, "gradient": func.grad(energy, tuple(range(count))), "tangent": tangent}


def batches(op) -> list:
    """For each input a batch of examples."""
    return [
        minigrad.tensor(np.stack([a * (1 + 0.03 * k) for k in range(BATCH)])) for a in op.inputs(0).values()
    ]


def who_differs(count: int) -> list[tuple[int | None, ...]]:
    """in_dims: all inputs differ between the examples, or one of them alone."""
    alone = [tuple(0 if i == j else None for i in range(count)) for j in range(count)]
    return [(0,) * count, *alone] if count > 1 else [(0,)]


# A write of an example's values, or to its places, into a tensor that all examples share.
REFUSED = re.compile(r"vmap: .*_\(self, \*extra_args\)|inplace arithmetic")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [case(f"batch/{op.name}", op) for op in MAPPED])
def test_one_call_for_the_batch_gives_what_the_loop_gives(op):
    run, inputs = as_function(op), batches(op)
    smooth = bool(floating(run(*(b[0] for b in inputs))))
    for name, f in ways(run, len(inputs)).items():
        if name != "value" and not smooth:
            continue
        for dims in who_differs(len(inputs)):
            examples = [
                [b[k] if d == 0 else b[0] for b, d in zip(inputs, dims, strict=True)] for k in range(BATCH)
            ]
            given = [b if d == 0 else b[0] for b, d in zip(inputs, dims, strict=True)]
            batching.warned.clear()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    got = func.vmap(f, in_dims=dims)(*given)
                except RuntimeError as error:
                    assert REFUSED.search(str(error)), f"{name}, in_dims={dims}: {error}"
                    continue
            looped = {m[1] for w in caught if (m := re.search(r"rule for aten::(\w+)\.", str(w.message)))}
            assert looped <= LOOPS, f"{name}, in_dims={dims}"
            for whole, *rows in zip(got, *(f(*example) for example in examples), strict=True):
                np.testing.assert_allclose(
                    whole.detach().numpy(),
                    [row.detach().numpy() for row in rows],
                    rtol=1e-6,
                    atol=1e-8,
                    err_msg=f"{name}, in_dims={dims}",
                )


def test_a_loop_is_announced_once():
    x = minigrad.tensor(np.arange(12.0).reshape(3, 4))
    batching.warned.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            func.vmap(lambda row: minigrad.histc(row, 3))(x)
    assert len([w for w in caught if "performance drop" in str(w.message)]) == 1


# ---------------------------------------------------------------- indices, classes and tables for each example

RNG = np.random.default_rng(3)
F = minigrad.nn.functional
# name: (function, its arguments for a batch of 3)
EACH = {
    "take": (lambda x, i: x.take(i), RNG.standard_normal((3, 4, 2)), RNG.integers(-8, 8, (3, 2, 3))),
    "put": (lambda x, i, s: x.put(i, s, True) if hasattr(x, "put") else x.clone().put_(i, s, True),
            RNG.standard_normal((3, 4, 2)), RNG.integers(0, 8, (3, 5)), RNG.standard_normal((3, 5))),
    "index_add": (lambda x, i, s: x.index_add(1, i, s, alpha=2.0),
                  RNG.standard_normal((3, 4, 2)), RNG.integers(0, 2, (3, 3)), RNG.standard_normal((3, 4, 3))),
    "index_copy": (lambda x, i, s: x.index_copy(0, i, s),
                   RNG.standard_normal((3, 4, 2)), np.array([[0, 2], [1, 3], [3, 0]]), RNG.standard_normal((3, 2, 2))),
    "index_fill": (lambda x, i: x.index_fill(0, i, 7.0), RNG.standard_normal((3, 4, 2)), RNG.integers(0, 4, (3, 2))),
    "index_fill with a tensor": (lambda x, i, v: x.index_fill(1, i, v),
                                 RNG.standard_normal((3, 4, 2)), RNG.integers(0, 2, (3, 1)), RNG.standard_normal(3)),
    "one row for several places": (lambda x, v: x.index_put((minigrad.tensor([0, 2]),), v),
                                   RNG.standard_normal((3, 4, 2)), RNG.standard_normal((3, 2))),
    "embedding": (lambda w, i: F.embedding(i, w, padding_idx=1),
                  RNG.standard_normal((3, 5, 2)), RNG.integers(0, 5, (3, 4))),
    "embedding, scaled": (lambda w, i: F.embedding(i, w, scale_grad_by_freq=True),
                          RNG.standard_normal((3, 5, 2)), RNG.integers(0, 5, (3, 4))),
    "cross_entropy of images": (lambda x, y, w: F.cross_entropy(x, y, w),
                                RNG.standard_normal((3, 2, 4, 3, 2)), RNG.integers(0, 4, (3, 2, 3, 2)), RNG.random((3, 4))),
    "nll_loss of one": (lambda x, y, w: F.nll_loss(x, y, w, reduction="sum"),
                        RNG.standard_normal((3, 4)), RNG.integers(0, 4, 3), RNG.random((3, 4))),
    "cross_entropy, some ignored": (lambda x, y: F.cross_entropy(x, y, ignore_index=2, reduction="none"),
                                    RNG.standard_normal((3, 5, 4)), RNG.integers(0, 4, (3, 5))),
    "solve for a vector": (lambda a, b: minigrad.linalg.solve(a, b),
                           RNG.standard_normal((3, 4, 4)) + 4 * np.eye(4), RNG.standard_normal((3, 4))),
    "solve for vectors": (lambda a, b: minigrad.linalg.solve(a, b),
                          RNG.standard_normal((3, 2, 4, 4)) + 4 * np.eye(4), RNG.standard_normal((3, 2, 4))),
    "solve from the right": (lambda a, b: minigrad.linalg.solve(a, b, left=False),
                             RNG.standard_normal((3, 4, 4)) + 4 * np.eye(4), RNG.standard_normal((3, 2, 4))),
    "median with ties": (lambda x: x.median(), np.array([[1.0, 2, 2, 5], [3, 3, 3, 1], [0, 1, 2, 3]])),
    "windows": (lambda x: x.unfold(0, 3, 2) ** 2, RNG.standard_normal((3, 9, 2))),
    "a number along its dimension": (lambda x: x.softmax(0) + x.cumsum(0) * x.sum(0) + x.norm(), RNG.standard_normal(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", EACH)
def test_indices_classes_and_tables_may_differ_between_the_examples(name):
    f, *arrays = EACH[name]
    arguments = [minigrad.tensor(a) for a in arrays]
    argnums = tuple(
        i for i, t in enumerate(arguments) if t.is_floating_point() and name[:4] != "nll_" and i < 2
    )
    argnums = argnums if "cross" not in name else (0,)
    gradient = func.grad(lambda *xs: (f(*xs) ** 2).sum(), argnums or 0)
    for g in (f, gradient):
        expected = [g(*(t[k] for t in arguments)) for k in range(3)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = func.vmap(g)(*arguments)
        for whole, *rows in zip(
            *(r if isinstance(r, tuple) else (r,) for r in (got, *expected)), strict=True
        ):
            np.testing.assert_allclose(whole.numpy(), [row.numpy() for row in rows], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", EACH)
def test_a_gradient_through_the_batch_is_the_sum_of_the_loops(name):
    f, *arrays = EACH[name]
    arguments = [minigrad.tensor(a) for a in arrays]

    def total(x, loop):
        if loop:
            return sum((f(x[k], *(t[k] for t in arguments[1:])) ** 2).sum() for k in range(3))
        return (func.vmap(f)(x, *arguments[1:]) ** 2).sum()

    np.testing.assert_allclose(
        func.grad(total)(arguments[0], False).numpy(),
        func.grad(total)(arguments[0], True).numpy(),
        rtol=1e-9,
        atol=1e-12,
    )


# ---------------------------------------------------------------- one example decides about dtypes and shapes


PROMOTED = {
    "mul": lambda torch: lambda a, b: a * b,
    "sub": lambda torch: lambda a, b: b - a,
    "lt": lambda torch: lambda a, b: a < b,
    "atan2": lambda torch: lambda a, b: torch.atan2(a, b),
    "where": lambda torch: lambda a, b: torch.where(a > 0, a, b),
    "addcmul": lambda torch: lambda a, b: torch.addcmul(a, b, b),
}


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2,), ()), ((2, 3), ()), ((2, 3), (3,))])
@pytest.mark.parametrize("name", PROMOTED)
def test_dtypes_are_promoted_as_for_one_example(torch, name, shapes):
    """A number for each example counts as a number beside vectors; PyTorch takes this care of two operands only."""

    def found(engine, kinds):
        x, w = (
            engine.ones(shape, dtype=getattr(engine, kind)) for shape, kind in zip(shapes, kinds, strict=True)
        )
        f = PROMOTED[name](engine)
        outs = engine.func.vmap(f, (0, None))(x, w), engine.func.vmap(f, (None, 0))(w, x)
        return [(str(out.dtype).split(".")[-1], tuple(out.shape)) for out in outs]

    for kinds in (("float64", "float32"), ("float32", "float64"), ("int64", "float32"), ("float16", "int32")):
        assert found(minigrad, kinds) == found(torch, kinds)


SHAPED = {
    "as_strided": (lambda torch: lambda x: x.as_strided((2, 2), (1, 2), 1), (3, 6)),
    "cat of nothing": (lambda torch: lambda x: torch.cat((x[:0, 0], x), 1), (3, 2, 2)),
    "unfold of a number": (lambda torch: lambda x: x.unfold(0, 1, 1), (3,)),
    "diff of order 0": (lambda torch: lambda x: torch.diff(x, 0), (3, 4)),
    "gradient of a bias": (
        lambda torch: (
            lambda x: torch.func.grad(
                lambda b: torch.nn.functional.conv1d(
                    x[None], torch.ones(2, 2, 1, dtype=x.dtype) * x[0, 0], b
                ).sum()
            )(x[:, 0])
        ),
        (3, 2, 4),
    ),
}


@pytest.mark.parametrize("name", SHAPED)
def test_an_example_has_the_shape_that_it_has_alone(torch, name):
    make, shape = SHAPED[name]
    values = RNG.standard_normal(shape)
    expected, got = (engine.func.vmap(make(engine))(engine.tensor(values)) for engine in (torch, minigrad))
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-12)
