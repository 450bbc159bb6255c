"""Classes that do not count, rows that lie far apart, arguments that do not fit: as PyTorch has it.

Ordinary values of the same functions are compared in test_nn_functional.py.
"""

import itertools

import numpy as np
import pytest

import minigrad

NAN, INF = float("nan"), float("inf")


def outcome(t, run):
    """The arrays that `run(t)` returns, or the type and first line of its error."""
    try:
        return [x.detach().numpy() for x in run(t)]
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def assert_same(torch, run, rtol=1e-6, atol=1e-6):
    expected, found = outcome(torch, run), outcome(minigrad, run)
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, str):
        assert found == expected
        return
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)


# ---------------------------------------------------------------- classes that do not count


@pytest.mark.parametrize(
    "shape", [(3,), (1, 3), (4, 3), (40, 3), (2, 3, 2), (2, 3, 2, 2), (0, 3), (4, 1)], ids=str
)
def test_nll_loss_of_classes_that_are_ignored_weigh_nothing_or_do_not_exist(torch, shape):
    """An ignored entry has no part in the loss, even where its log-probability is -inf; all ignored, the mean is nan."""
    rng = np.random.default_rng(0)
    classes, lead = (shape[1], shape[:1] + shape[2:]) if len(shape) > 1 else (shape[0], ())
    choices = itertools.product(
        (-100, 0, 2, 7),
        ("mean", "sum", "none"),
        (None, 1, 0),
        ("any", "some ignored", "all ignored", "wrong"),
    )
    for ignore_index, reduction, weights, which in choices:
        x, t = rng.standard_normal(shape), np.asarray(rng.integers(0, classes, lead))
        if which == "some ignored":
            t.flat[:1] = ignore_index
        elif which == "all ignored":
            t[...] = ignore_index
        elif which == "wrong":
            t.flat[-1:] = 9
        x.flat[:1] = -INF
        grad = rng.standard_normal(lead if reduction == "none" else ())

        def run(lib):
            logs = lib.tensor(x, requires_grad=True)  # noqa: B023
            weight = None if weights is None else lib.arange(classes, dtype=lib.float64) * weights  # noqa: B023
            loss = lib.nn.functional.nll_loss(
                logs, lib.tensor(t), weight=weight, ignore_index=ignore_index, reduction=reduction  # noqa: B023
            )  # fmt: skip
            loss.backward(lib.tensor(grad))  # noqa: B023
            return loss, logs.grad

        assert_same(torch, run)


def test_a_smoothed_loss_divides_by_a_count_that_looks_like_pytorchs(torch):
    for t in (minigrad, torch):
        x = t.zeros(3, 2, requires_grad=True)
        loss = t.nn.functional.cross_entropy(x, t.tensor([0, 1, -100]), label_smoothing=0.1)
        division = loss.grad_fn.next_functions[1][0].next_functions[0][0]
        assert division.name() == "DivBackward0" and repr(division._saved_other) == "tensor(2)"


# ---------------------------------------------------------------- rows that lie far apart

ROWS = {
    "near each other": [[1.0, 2.0], [1.5, 0.5]],
    "far apart": [[200.0, 199.0], [-200.0, -201.0]],
    "a row of nan": [[NAN, 1.0], [0.0, 1.0]],
    "infinite": [[INF, 0.0], [0.0, 1.0]],
    "nothing but minus infinity": [[-INF, -INF], [0.0, 1.0]],
    "one minus infinity": [[-INF, 3.0], [0.0, 1.0]],
    "far from zero": [[3000.0, 3001.0], [2999.0, 3002.0]],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("function", ["softmax", "log_softmax"])
def test_a_row_does_not_notice_the_others(torch, function, name):
    """One number is subtracted from all rows before exponentials are taken, but only where no row loses digits by it."""
    for dim in (0, 1):
        assert_same(torch, lambda t: [getattr(t, function)(t.tensor(ROWS[name]), dim)])  # noqa: B023
    table = minigrad.tensor(ROWS[name], dtype=minigrad.float64)
    alone = [getattr(minigrad, function)(row, 0).numpy() for row in table]
    np.testing.assert_allclose(getattr(minigrad, function)(table, 1).numpy(), np.stack(alone), rtol=1e-12)


# ---------------------------------------------------------------- norms


def ones(t, *shape, dtype="float32"):
    return t.ones(*shape, dtype=getattr(t, dtype))


UNFIT = {
    "layer_norm of integers": lambda t, F: F.layer_norm(ones(t, 2, 3, dtype="int64"), (3,)),
    "layer_norm over another shape": lambda t, F: F.layer_norm(ones(t, 2, 3), (2,)),
    "layer_norm over nothing": lambda t, F: F.layer_norm(ones(t, 2, 3), ()),
    "layer_norm, a weight too short": lambda t, F: F.layer_norm(ones(t, 2, 3), (3,), ones(t, 2)),
    "layer_norm, a weight in double": lambda t, F: F.layer_norm(
        ones(t, 2, 3), (3,), ones(t, 3, dtype="float64")
    ),
    "layer_norm, a bias in double": lambda t, F: F.layer_norm(
        ones(t, 2, 3), (3,), ones(t, 3), ones(t, 3, dtype="float64")
    ),
    "layer_norm, an input in double": lambda t, F: F.layer_norm(
        ones(t, 2, 3, dtype="float64"), (3,), ones(t, 3)
    ),
    "layer_norm of a number": lambda t, F: F.layer_norm(1.0, (3,)),
    "batch_norm of integers": lambda t, F: F.batch_norm(
        ones(t, 2, 3, dtype="int64"), None, None, training=True
    ),
    "batch_norm of a vector": lambda t, F: F.batch_norm(ones(t, 3), None, None, training=True),
    "batch_norm of one example": lambda t, F: F.batch_norm(ones(t, 1, 3), None, None, training=True),
    "batch_norm, a mean too short": lambda t, F: F.batch_norm(ones(t, 2, 3), ones(t, 2), ones(t, 3)),
    "batch_norm, a bias too short": lambda t, F: F.batch_norm(
        ones(t, 2, 3), None, None, None, ones(t, 2), training=True
    ),
    "batch_norm without a mean": lambda t, F: F.batch_norm(ones(t, 2, 3), None, ones(t, 3)),
    "batch_norm without a variance": lambda t, F: F.batch_norm(ones(t, 2, 3), ones(t, 3), None),
    "batch_norm, a variance in double": lambda t, F: F.batch_norm(
        ones(t, 2, 3), ones(t, 3, dtype="float64"), ones(t, 3, dtype="float64")
    ),
    "group_norm of integers": lambda t, F: F.group_norm(ones(t, 2, 4, dtype="int64"), 2),
    "group_norm, a weight in double": lambda t, F: F.group_norm(
        ones(t, 2, 4), 2, ones(t, 4, dtype="float64")
    ),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_norm_refuses_what_does_not_fit_in_pytorchs_words(torch, name):
    def run(t):
        return [UNFIT[name](t, t.nn.functional)]

    assert isinstance(outcome(torch, run), str)
    assert_same(torch, run)


EMPTY = {
    "layer_norm of rows of length 0": lambda t, F: F.layer_norm(ones(t, 2, 0), (0,)),
    "layer_norm of no rows": lambda t, F: F.layer_norm(ones(t, 0, 2, 3), (2, 3)),
    "batch_norm of no examples": lambda t, F: F.batch_norm(ones(t, 0, 2), None, None, training=True),
    "batch_norm of no channels": lambda t, F: F.batch_norm(ones(t, 2, 0), None, None, training=True),
    "group_norm of no examples": lambda t, F: F.group_norm(ones(t, 0, 4, 2), 2),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_norm_of_nothing_is_nothing(torch, name):
    assert_same(torch, lambda t: [EMPTY[name](t, t.nn.functional)])


LAYERS = {
    "layer_norm": lambda F, x, w, b: F.layer_norm(x, w.shape, w, b),
    "batch_norm": lambda F, x, w, b: F.batch_norm(x, None, None, w, b, True),
    "group_norm": lambda F, x, w, b: F.group_norm(x, 2, w, b),
}


@pytest.mark.parametrize("shape", [(2, 2), (32, 64), (5, 6, 9), (3, 4, 5, 6), (4096, 8), (8, 1000)], ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_norms_in_single_precision_are_as_exact_as_pytorchs(torch, name, shape):
    """Values and gradients, beside PyTorch's in double precision; also where the mean is large beside the deviations."""
    rng = np.random.default_rng(0)
    size = shape[1:] if name == "layer_norm" else shape[1:2]
    for mean in (0, 100):
        arrays = [
            (rng.standard_normal(s) + m).astype(np.float32) for s, m in ((shape, mean), (size, 0), (size, 0))
        ]
        grad = rng.standard_normal(shape)

        def run(t, dtype):
            leaves = [t.tensor(a, dtype=dtype, requires_grad=True) for a in arrays]  # noqa: B023
            out = LAYERS[name](t.nn.functional, *leaves)
            out.backward(t.tensor(grad, dtype=dtype))  # noqa: B023
            return [x.detach().numpy() for x in (out, *(leaf.grad for leaf in leaves))]

        exact = run(torch, torch.float64)
        own, theirs = run(minigrad, minigrad.float32), run(torch, torch.float32)
        for a, b, e in zip(own, theirs, exact, strict=True):
            scale = np.abs(e).max()
            assert np.abs(a - e).max() / scale <= 8 * np.abs(b - e).max() / scale + 5e-6
