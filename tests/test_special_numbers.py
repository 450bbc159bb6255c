"""NaN, infinities, zeros of both signs, huge and denormal numbers: values and derivatives are PyTorch's there, too.

A new operation is tested by being listed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np
import pytest

import minigrad

# As many as PyTorch computes at once: what it makes of NaN in elu, selu, celu and hardswish depends on whether it does.
POINTS = {
    "float32": [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e30, 3e38, 1e-40, -1e-40, 100.0, -100.0, 20.5, -20.5]
    + [0.3, -0.7, 1.0, -1.0, 2.5, -2.5, 3.0, -3.0, 0.5, -0.5, 6.0, 1e-4, 0.1, -0.1, 10.0, -10.0, 1.5, -1.5],
    "float64": [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e200, -1e200, 1.7e308, 1e-310, -1e-310, 800.0, -800.0, 20.5, -20.5]
    + [0.3, -0.7, 1.0, -1.0, 2.5, -2.5, 3.0, -3.0, 0.5, -0.5, 6.0, 1e-8, 0.1, -0.1, 10.0, -10.0, 1.5, -1.5],
}  # fmt: skip

METHODS = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "deg2rad", "digamma", "erf", "erfc",
    "erfinv", "exp", "exp2", "expm1", "floor", "frac", "lgamma", "log", "log10", "log1p", "log2", "logit", "nan_to_num",
    "neg", "positive", "rad2deg", "reciprocal", "relu", "round", "rsqrt", "sgn", "sigmoid", "sign", "sin", "sinc", "sinh",
    "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
ACTIVATIONS = (
    "celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish", "relu6",
    "selu", "silu", "softplus", "softshrink", "softsign", "tanhshrink",
)  # fmt: skip
ONE = (
    {name: lambda t, x, name=name: getattr(x, name)() for name in METHODS}
    | {name: lambda t, x, name=name: getattr(t.nn.functional, name)(x) for name in ACTIVATIONS}
    | {
        "gelu, tanh": lambda t, x: t.nn.functional.gelu(x, approximate="tanh"),
        "celu, 2": lambda t, x: t.nn.functional.celu(x, 2.0),
        "elu, 0.5": lambda t, x: t.nn.functional.elu(x, 0.5),
        "softplus, 2": lambda t, x: t.nn.functional.softplus(x, 2.0, 5.0),
        "threshold": lambda t, x: t.nn.functional.threshold(x, 0.5, 2.0),
        "prelu": lambda t, x: t.nn.functional.prelu(x, t.tensor([0.25], dtype=x.dtype)),
        "rrelu": lambda t, x: t.nn.functional.rrelu(x),
        "glu": lambda t, x: t.nn.functional.glu(t.stack([x, x.flip(0)], -1), -1),
        "clamp": lambda t, x: x.clamp(-1, 1),
        "clamp_min": lambda t, x: x.clamp_min(0.5),
        "clamp_max": lambda t, x: x.clamp_max(0.5),
        "x ** 2": lambda t, x: x**2,
        "x ** 3": lambda t, x: x**3,
        "x ** 0": lambda t, x: x**0,
        "x ** 0.5": lambda t, x: x**0.5,
        "x ** -1": lambda t, x: x**-1,
        "x ** -0.5": lambda t, x: x**-0.5,
        "x ** 2.5": lambda t, x: x**2.5,
        "2 ** x": lambda t, x: 2**x,
        "0 ** x": lambda t, x: 0**x,
        "1 / x": lambda t, x: 1 / x,
        "x / 3": lambda t, x: x / 3,
        "3 - x": lambda t, x: 3 - x,
        "x * inf": lambda t, x: x * float("inf"),
        "x % 2": lambda t, x: x % 2,
        "fmod": lambda t, x: t.fmod(x, 2),
        "xlogx": lambda t, x: t.xlogy(x, x),
        "entr": lambda t, x: t.special.entr(x),
        "ndtr": lambda t, x: t.special.ndtr(x),
        "logit, eps": lambda t, x: t.logit(x, 0.1),
        "nan_to_num, given": lambda t, x: x.nan_to_num(1.0, 2.0, 3.0),
        "masked_fill": lambda t, x: x.masked_fill(x > 0, 2.0),
        "where": lambda t, x: t.where(x > 0, x, x * 2),
        "lerp": lambda t, x: t.lerp(x, x * 2, 0.3),
    }
)  # fmt: skip
TWO = {
    "add": lambda t, x, y: x + y,
    "sub": lambda t, x, y: x - y,
    "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / y,
    "pow": lambda t, x, y: x**y,
    "maximum": lambda t, x, y: t.maximum(x, y),
    "minimum": lambda t, x, y: t.minimum(x, y),
    "fmax": lambda t, x, y: t.fmax(x, y),
    "fmin": lambda t, x, y: t.fmin(x, y),
    "atan2": lambda t, x, y: t.atan2(x, y),
    "hypot": lambda t, x, y: t.hypot(x, y),
    "xlogy": lambda t, x, y: t.xlogy(x, y),
    "xlog1py": lambda t, x, y: t.special.xlog1py(x, y),
    "logaddexp": lambda t, x, y: t.logaddexp(x, y),
    "logaddexp2": lambda t, x, y: t.logaddexp2(x, y),
    "copysign": lambda t, x, y: t.copysign(x, y),
    "fmod": lambda t, x, y: t.fmod(x, y),
    "remainder": lambda t, x, y: t.remainder(x, y),
    "addcmul": lambda t, x, y: t.addcmul(x, x, y, value=0.5),
    "addcdiv": lambda t, x, y: t.addcdiv(x, x, y, value=0.5),
    "mse_loss": lambda t, x, y: t.nn.functional.mse_loss(x, y, reduction="none"),
    "l1_loss": lambda t, x, y: t.nn.functional.l1_loss(x, y, reduction="none"),
    "smooth_l1_loss": lambda t, x, y: t.nn.functional.smooth_l1_loss(x, y, reduction="none"),
    "huber_loss": lambda t, x, y: t.nn.functional.huber_loss(x, y, reduction="none", delta=0.7),
    "soft_margin_loss": lambda t, x, y: t.nn.functional.soft_margin_loss(x, y.detach(), reduction="none"),
    "hinge_embedding_loss": lambda t, x, y: t.nn.functional.hinge_embedding_loss(
        x, y.detach().sign(), reduction="none"
    ),
    "margin_ranking_loss": lambda t, x, y: t.nn.functional.margin_ranking_loss(
        x, y, y.detach().sign(), reduction="none"
    ),
    "poisson_nll_loss": lambda t, x, y: t.nn.functional.poisson_nll_loss(x, y, reduction="none"),
    "poisson_nll_loss, full": lambda t, x, y: t.nn.functional.poisson_nll_loss(
        x, y.detach(), log_input=False, full=True, reduction="none"
    ),
    "gaussian_nll_loss": lambda t, x, y: t.nn.functional.gaussian_nll_loss(x, y, x.detach().abs(), reduction="none"),
    "kl_div": lambda t, x, y: t.nn.functional.kl_div(x, y, reduction="none"),
    "kl_div, log": lambda t, x, y: t.nn.functional.kl_div(x, y, reduction="none", log_target=True),
    "bce with logits": lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="none"),
}  # fmt: skip
ALONG = {  # of each number and some others
    "softmax": lambda t, x: t.softmax(x, -1),
    "log_softmax": lambda t, x: t.log_softmax(x, -1),
    "logsumexp": lambda t, x: t.logsumexp(x, -1),
    "sum": lambda t, x: x.sum(-1),
    "mean": lambda t, x: x.mean(-1),
    "prod": lambda t, x: x.prod(-1),
    "var": lambda t, x: x.var(-1),
    "std": lambda t, x: x.std(-1),
    "norm": lambda t, x: x.norm(dim=-1),
    "norm, 1": lambda t, x: x.norm(1, dim=-1),
    "norm, 3": lambda t, x: x.norm(3, dim=-1),
    "norm, inf": lambda t, x: x.norm(float("inf"), dim=-1),
    "norm, 0.5": lambda t, x: x.norm(0.5, dim=-1),
    "max": lambda t, x: x.max(-1)[0],
    "min": lambda t, x: x.min(-1)[0],
    "amax": lambda t, x: x.amax(-1),
    "amin": lambda t, x: x.amin(-1),
    "median": lambda t, x: x.median(-1)[0],
    "nanmedian": lambda t, x: x.nanmedian(-1)[0],
    "nansum": lambda t, x: x.nansum(-1),
    "nanmean": lambda t, x: x.nanmean(-1),
    "cumsum": lambda t, x: x.cumsum(-1),
    "cumprod": lambda t, x: x.cumprod(-1),
    "cummax": lambda t, x: x.cummax(-1)[0],
    "sort": lambda t, x: x.sort(-1)[0],
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, (3,)),
    "cross_entropy": lambda t, x: t.nn.functional.cross_entropy(
        x, t.zeros(len(x), dtype=t.int64), reduction="none"
    ),
    "normalize": lambda t, x: t.nn.functional.normalize(x, dim=-1),
    "dist": lambda t, x: t.nn.functional.pairwise_distance(x, x.detach().flip(-1)),
    "cosine_similarity": lambda t, x: t.nn.functional.cosine_similarity(x, x.detach().flip(-1), dim=-1),
}


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Each number with each."""
    numbers = np.array(POINTS[dtype])
    return np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))


def rows(dtype: str) -> tuple[np.ndarray]:
    """Each number beside two ordinary ones."""
    numbers = np.array(POINTS[dtype])
    return (np.stack([numbers, np.full_like(numbers, 0.5), np.full_like(numbers, -2.0)], -1),)


# PyTorch has no second derivative of these.
ONCE = {"hardsigmoid"}

# At infinite, huge and denormal numbers PyTorch's formula of these overflows to NaN or infinity. minigrad's does not.
OVERFLOWS = {
    "0 ** x", "addcdiv", "asinh", "atan2", "atanh", "digamma", "erf", "erfc", "fmod", "gelu", "layer_norm", "mish", "ndtr",
    "prod", "remainder", "soft_margin_loss",
}  # fmt: skip
# What else is another number, and why.
OTHERWISE = {
    ("digamma", "gradient 0"): "infinite at the poles, where PyTorch divides by a sine that is not quite 0",
    ("digamma", "gradient 0, 0"): "the same",
    ("digamma", "tangent"): "the same",
    ("lgamma", "gradient 0, 0"): "the same",
    ("sinc", "gradient 0"): "what is left where x cos(x) - sin(x) cancels near 0: both are off",
    ("sinc", "gradient 0, 0"): "the same",
    ("sinc", "tangent"): "the same",
    ("hardswish", "gradient 0, 0"): "a third at NaN",
    ("mish", "value"): "the last bit of a denormal result",
    ("mish", "gradient 0, 0"): "PyTorch's is NaN where exp(x) overflows",
    ("gelu", "value"): "PyTorch's vectorised kernel gives NaN at infinity in single precision",
    ("gelu, tanh", "value"): "x³ overflows one step earlier",
    ("glu", "gradient 0, 0"): "1e30 times a sigmoid, which differs in its last bits",
    ("0 ** x", "gradient 0, 0"): "PyTorch's is NaN, minigrad's 0",
    ("atan2", "tangent"): "0 at (0, 0), as the gradient is; PyTorch's is NaN",
    ("logaddexp2", "value"): "0 exactly; PyTorch rounds",
    ("addcmul", "value"): "PyTorch multiplies and adds in one step",
    ("addcdiv", "tangent"): "infinity times 0 in another order",
    ("soft_margin_loss", "gradient 0"): "PyTorch's is NaN where exp(x) overflows",
    ("soft_margin_loss", "gradient 0, 0"): "the same",
    ("soft_margin_loss", "tangent"): "the same",
    (
        "prod",
        "gradient 0, 0",
    ): "minigrad multiplies the other elements, PyTorch divides the product by the element",
    ("std", "value"): "PyTorch adds up squares of single precision in double",
    ("std", "gradient 0"): "the same",
    ("norm, 0.5", "tangent"): "NaN at 0, where the slope is infinite",
    ("cumprod", "gradient 0, 0"): "infinity times 0 in another order",
    ("cumprod", "tangent"): "the same",
    ("layer_norm", "gradient 0"): "0 where the variance overflows, PyTorch's is NaN",
    ("layer_norm", "gradient 0, 0"): "the same",
    ("layer_norm", "tangent"): "the same",
    ("layer_norm", "value"): "the same",
}
KINDS = {
    "one": (ONE, lambda dtype: (np.array(POINTS[dtype]),)),
    "two": (TWO, pairs),
    "along": (ALONG, rows),
}
CASES = [(kind, name) for kind, (table, _) in KINDS.items() for name in table]


def derivatives(t, call: Callable, arrays: tuple, dtype: str, twice: bool) -> dict[str, np.ndarray]:
    """The value, its gradients, theirs, and the tangent, each for itself as a number may be NaN."""
    forward_ad = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
    kind = getattr(t, dtype)
    xs = [t.tensor(a, dtype=kind, requires_grad=True) for a in arrays]
    y = call(t, *xs)
    found = {"value": y}
    grads = (
        t.autograd.grad(y, xs, t.ones_like(y), create_graph=True, allow_unused=True)
        if y.requires_grad
        else ()
    )
    for i, g in enumerate(grads):
        if g is None:
            continue
        found[f"gradient {i}"] = g
        if g.requires_grad and twice:
            again = t.autograd.grad(g, xs, t.ones_like(g), retain_graph=True, allow_unused=True)
            found |= {f"gradient {i}, {j}": h for j, h in enumerate(again) if h is not None}
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x.detach(), t.ones_like(x)) for x in xs]
        tangent = forward_ad.unpack_dual(call(t, *duals)).tangent
        if tangent is not None:
            found["tangent"] = tangent
        return {name: value.detach().numpy(force=True) for name, value in found.items()}


def differences(torch, kind: str, name: str, dtype: str) -> dict[str, list[str]]:
    """For each derivative where it is another number than in PyTorch."""
    table, inputs = KINDS[kind]
    arrays, found = inputs(dtype), []
    for t in (torch, minigrad):
        t.manual_seed(0)
        found.append(derivatives(t, table[name], arrays, dtype, name not in ONCE))
    theirs, ours = found
    tiny = np.finfo(dtype).smallest_subnormal
    rtol, noise = (2e-4, 1e-6) if dtype == "float32" else (1e-9, 1e-13)
    limits = [(np.abs(a) > 1e20) | ((a != 0) & (np.abs(a) < 1e-30)) for a in arrays]
    wrong = {}
    for part, expected in theirs.items():
        got = ours.get(part, np.zeros_like(expected))  # a derivative that is known to be zero may be left out
        near = np.isclose(got, expected, rtol, 4 * tiny if part == "value" else noise, equal_nan=True)
        if name in OVERFLOWS:
            limit = np.logical_or.reduce(limits)
            limit = limit.any(-1) if limit.ndim > got.ndim else limit
            near |= np.isfinite(got) & ~np.isfinite(expected) & limit
        wrong[part] = [
            f"{part} at {[a[tuple(place)[: a.ndim]] for a in arrays]}: {got[tuple(place)]}, in PyTorch "
            f"{expected[tuple(place)]}"
            for place in np.argwhere(~near)
        ]
    return wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", POINTS)
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_derivatives_at_special_numbers_are_pytorchs(torch, kind, name, dtype):
    wrong = differences(torch, kind, name, dtype)
    told = [line for part, lines in wrong.items() if (name, part) not in OTHERWISE for line in lines]
    assert not told, "\n".join(told[:40])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "name"), [case for case in CASES if case[1] in {n for n, _ in OTHERWISE}])
def test_what_is_told_to_be_another_number_is_another(torch, kind, name):
    wrong = [differences(torch, kind, name, dtype) for dtype in POINTS]
    for other, part in OTHERWISE:
        if other == name:
            assert any(w.get(part) for w in wrong), f"{name}: {part} is PyTorch's by now"
