"""Derivatives where functions have none, or only one by convention: at 0, at ties, at bounds.

There, both modes agree with PyTorch's. A rule's special case serves forward mode as well: it computes the tangent from
the rule by differentiating with respect to the gradient that comes in.
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest

import minigrad
import minigrad.nn.functional

# Functions of x, a vector of three; z: zeros like x; m: x above a row of zeros. Functions that are not implemented are skipped.
EXPRESSIONS = """
x.norm() | x.norm(1) | x.norm(inf) | x.norm(3) | x.norm(0.5) | x.norm(0) | m.norm(dim=1).sum() | m.norm(dim=0, p=1)
torch.linalg.norm(x) | torch.linalg.vector_norm(x, dim=0) | torch.dist(x, z) | F.pairwise_distance(m, m)
F.normalize(x, dim=0) | F.normalize(m, dim=1) | F.cosine_similarity(x, z, dim=0)
x.prod() | m.prod(0) | m.prod(1) | z.prod() | x.cumprod(0) | m.cumprod(1) | m.logcumsumexp(0)
x[:1].std() | x.std() | x.var() | m.std(0) | m.std(1, unbiased=False) | x[:1].var() | x[:1].var(unbiased=False)
torch.std_mean(m, 1)[0] | torch.var_mean(x)[1] | F.layer_norm(m, (3,)) | F.batch_norm(m, None, None, training=True)
x.max() | x.min() | m.amax(0) | m.amin(1) | m.max(0)[0] | m.min(1)[0] | torch.maximum(x, z) | torch.minimum(x, z)
x.median() | x.sort()[0] | x.topk(2)[0] | x.aminmax()[0] | x.cummax(0)[0] | F.max_pool2d(m[None, None], 2, 1)
x.abs() | x.sign() | x.sqrt() | x.rsqrt() | x.reciprocal() | x.square() | x / z | x ** 2 | x ** 0 | x ** 0.5 | x ** 1.5
x ** -1.0 | x ** 3 | x ** x | x ** z | z ** x | 2 ** x | torch.pow(0, x) | x.log() | x.log1p() | x.log2() | x.expm1()
x.clamp(0, 1) | x.clamp(min=0) | x.clamp(max=0) | x.clamp(z, z + 1) | x.relu() | F.leaky_relu(x) | F.elu(x) | F.selu(x)
F.hardtanh(x) | F.relu6(x) | F.hardsigmoid(x) | F.hardswish(x) | F.softsign(x) | F.mish(x) | F.gelu(x) | F.silu(x)
F.softplus(x) | F.logsigmoid(x) | F.threshold(x, 0, 0) | F.l1_loss(x, z) | F.smooth_l1_loss(x, z) | F.huber_loss(x, z)
F.mse_loss(x, z) | F.kl_div(x, z) | F.binary_cross_entropy(x.clamp(0, 1), z) | F.cross_entropy(m, torch.tensor([0, 1]))
x.softmax(0) | x.logsumexp(0) | (x - inf).logsumexp(0) | torch.logaddexp(x, z) | torch.sinc(x) | torch.hypot(x, z)
x.tan() | x.asin() | (x + 1).acos() | x.atanh() | x.logit() | x.erf() | x.round() | x.floor() | x.trunc() | x.frac()
x.fmod(1) | x % 1 | x.diff() | x.nan_to_num() | x.nansum() | torch.where(x > 0, x, x * 2) | x.masked_fill(x == 0, 1.0)
torch.linalg.det(m[:2, :2]) | torch.linalg.eigvalsh(m.T @ m + torch.diag(torch.arange(3.0, dtype=x.dtype)))
"""
EXPRESSIONS = [e.strip() for e in EXPRESSIONS.replace("\n", " | ").split(" | ") if e.strip()]
POINTS = [
    (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, -1.0), (-1.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.0, -1.0, 1.0), (-1.0, -1.0, 0.0),
]  # fmt: skip


def jacobian(engine: ModuleType, expression: str, point: tuple, mode: str) -> list:
    """The numbers of the Jacobian, one after the other."""

    def f(x: object) -> object:
        z, m = engine.zeros_like(x), engine.stack([x, engine.zeros_like(x)])
        return eval(
            expression, {"torch": engine, "F": engine.nn.functional, "inf": math.inf, "x": x, "z": z, "m": m}
        )

    found = getattr(engine.func, mode)(f)(engine.tensor(point, dtype=engine.float64))
    return found.detach().reshape(-1).tolist()


def nearly(a: list, b: list) -> bool:
    return a == pytest.approx(b, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_both_modes_say_there_what_pytorchs_say(torch, expression: str) -> None:
    """Where PyTorch's own modes differ, because 0 · inf occurs in one of them, forward mode may follow either."""
    different = []
    for point in POINTS:
        theirs = {mode: jacobian(torch, expression, point, mode) for mode in ("jacrev", "jacfwd")}
        backward, forward = (jacobian(minigrad, expression, point, mode) for mode in ("jacrev", "jacfwd"))
        if not nearly(backward, theirs["jacrev"]):
            different.append(f"at {point} backward: {backward}, PyTorch {theirs['jacrev']}")
        if not (nearly(forward, theirs["jacfwd"]) or nearly(forward, backward)):
            different.append(f"at {point} forward: {forward}, PyTorch {theirs['jacfwd']}")
    assert not different, "\n".join(different)


def curvature(engine: ModuleType, expression: str, point: tuple) -> list | None:
    """The derivative of the sum of all first derivatives; None if there is no graph of them."""
    x = engine.tensor(point, dtype=engine.float64, requires_grad=True)
    z, m = engine.zeros_like(x), engine.stack([x, engine.zeros_like(x)])
    names = {"torch": engine, "F": engine.nn.functional, "inf": math.inf, "x": x, "z": z, "m": m}
    y = eval(expression, names).sum()
    (slope,) = (
        engine.autograd.grad(y, x, create_graph=True, allow_unused=True) if y.requires_grad else (None,)
    )
    if slope is None or not slope.requires_grad:
        return None
    (found,) = engine.autograd.grad(slope.sum(), x, allow_unused=True)
    return None if found is None else found.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_second_derivatives_there_are_pytorchs_where_these_are_numbers(torch, expression: str) -> None:
    """PyTorch has NaN at many of these points, where 0 is divided by 0; minigrad may have the limit instead."""
    different = []
    for point in POINTS:
        try:
            theirs = curvature(torch, expression, point)
        except RuntimeError:  # PyTorch has no second derivative of this operation
            continue
        ours = curvature(minigrad, expression, point)
        # a NaN without a graph, and one with it
        if theirs is None and ours is not None and math.isnan(sum(ours)):
            continue
        pairs = zip(ours or [0.0] * 3, theirs or [0.0] * 3, strict=True)
        if not all(math.isnan(b) or a == pytest.approx(b, rel=1e-6, abs=1e-9) for a, b in pairs):
            different.append(f"at {point}: {ours}, PyTorch {theirs}")
    assert not different, "\n".join(different)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 30])
@pytest.mark.parametrize(
    "kind", ["regular", "two equal rows", "a row of zeros", "nearly singular", "rows of many sizes"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_gradient_of_a_determinant_is_its_cofactors(n: int, kind: str, dtype: str) -> None:
    """Each from its definition, the determinant of the matrix without a row and a column."""
    A = np.random.default_rng(n).standard_normal((n, n)).astype(dtype)
    if kind == "rows of many sizes":
        A *= np.logspace(-3, 3, n, dtype=dtype)[:, None]
    elif kind != "regular":
        A[-1] = {"two equal rows": A[0], "a row of zeros": 0 * A[0], "nearly singular": A[0] * (1 + 1e-5)}[
            kind
        ]
    signs = (-1.0) ** np.add.outer(range(n), range(n))
    minors = [[np.delete(np.delete(A, i, 0), j, 1) for j in range(n)] for i in range(n)]
    cofactors = signs * np.linalg.det(np.array(minors, "float64").reshape(n, n, n - 1, n - 1))
    x = minigrad.tensor(A, requires_grad=True)
    minigrad.linalg.det(x).backward()
    close = 1e-9 if dtype == "float64" else 1e-3
    rows = abs(cofactors).max(-1, keepdims=True) if kind == "rows of many sizes" else abs(cofactors).max()
    assert (abs(x.grad.numpy() - cofactors) <= close * rows).all()
