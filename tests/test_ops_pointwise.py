"""Elementwise operations beyond the list in ops.py: what nodes save, in-place forms, operators, bad calls, exactness."""

from __future__ import annotations

import math

import numpy as np
import pytest

import minigrad
from tests import oracle
from tests.oracle import Program, case, run
from tests.test_ops import pull_back

PREAMBLE = """
import torch.nn.functional as F
x = torch.tensor([[0.3, 0.6, 0.9], [0.2, 0.5, 0.8]], requires_grad=True)
y = torch.tensor([[0.5, 0.4, 0.9], [0.7, 0.5, 0.1]], requires_grad=True)
d = x.detach(); i = torch.tensor([3, -2, 5]); b = torch.tensor([True, False, True])
"""


def same_in_both(torch, key: str, source: str) -> None:
    """Run the lines after the preamble under both engines and compare everything."""
    program = Program(key, PREAMBLE + source)
    transcripts = [run(module, program, backward=pull_back(module)) for module in (torch, minigrad)]
    oracle.assert_same(program, *transcripts)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


# ------------------------------------------------------------------------------------------------ what a node saves
SAVED = lines("""
    x + y
    x.add(y, alpha=2)
    x.sub(y, alpha=3)
    1 - x
    torch.rsub(x, 2, alpha=3)
    torch.rsub(x, y)
    x * 2
    x / y
    2 / x
    torch.div(x, y, rounding_mode="floor")
    x % y
    x % 2
    torch.fmod(x, y)
    x ** 2
    x ** y
    2 ** x
    torch.addcmul(x, x, y, value=2)
    torch.addcdiv(x, x, y)
    torch.lerp(x, y, 0.3)
    torch.lerp(x, y, y)
    x.clamp(0, 1)
    x.clamp(min=0)
    x.clamp(y)
    x.clamp(max=y)
    x.clamp_min(0)
    torch.clamp_max(x, y)
    torch.where(b, x, y)
    torch.maximum(x, y)
    torch.hypot(x, y)
    torch.copysign(x, y)
    torch.copysign(x, -2.0)
    torch.xlogy(x, y)
    torch.xlogy(x, 2.0)
    torch.xlogy(2.0, x)
    torch.logit(x, eps=0.1)
    x.abs()
    x.sgn()
    x.tan()
    x.exp()
    x.rsqrt()
    x.nan_to_num()
    x.round(decimals=1)
    F.leaky_relu(x, 0.2)
    F.elu(x, 2.0)
    F.selu(x)
    F.celu(x)
    F.gelu(x, approximate="tanh")
    F.softplus(x)
    F.hardtanh(x)
    F.relu6(x)
    F.threshold(x, 0.1, 20.0)
    F.softshrink(x)
    F.prelu(x, torch.tensor([0.25], requires_grad=True))
""")
READ_SAVED = """
def kept(node):
    found = {a: getattr(node, a) for a in dir(node) if a.startswith("_saved_")}
    return {a: v.shape if isinstance(v, torch.Tensor) else v for a, v in sorted(found.items())}
saved = kept((EXPRESSION).grad_fn)
"""


@pytest.mark.parametrize("expression", [case(f"saved/{e}", e) for e in SAVED])
def test_a_node_saves_what_torchs_saves(torch, expression):
    same_in_both(torch, expression, READ_SAVED.replace("EXPRESSION", expression))


# ---------------------------------------------------------------------------------------------------- in-place forms
IN_PLACE = lines("""
    z.add_(y)
    z.add_(y, alpha=2)
    z.sub_(1)
    z.add_(z)
    z.div_(2)
    z.div_(y, rounding_mode="floor")
    z.pow_(2)
    z.pow_(y)
    z.square_()
    z.neg_()
    z.exp_()
    z.log_()
    z.sqrt_()
    z.rsqrt_()
    z.sigmoid_()
    z.tanh_()
    z.relu_()
    z.abs_()
    z.sin_()
    z.floor_()
    z.round_()
    z.reciprocal_()
    z.clamp_(0.3, 0.7)
    z.clamp_(min=0.4)
    z.clamp_(max=y)
    z.clamp_min_(0.4)
    z.clip_(0, 0.5)
    z.remainder_(0.4)
    z.fmod_(0.4)
    z.addcmul_(x, y, value=0.5)
    z.addcdiv_(x, y)
    z.lerp_(y, 0.3)
    z.atan2_(y)
    z.hypot_(y)
    z.copysign_(y - 0.5)
    z.xlogy_(y)
    z.nan_to_num_()
    z.erf_()
    z.logit_()
    F.relu(z, inplace=True)
    F.leaky_relu(z - 0.5, 0.2, inplace=True)
    F.elu(z - 0.5, inplace=True)
    F.hardtanh(z, 0.3, 0.7, inplace=True)
    F.silu(z, inplace=True)
    F.threshold(z, 0.5, 0.0, inplace=True)
    z[0].mul_(2)
    z[:, 1:].clamp_(0.3, 0.6)
    z.t().add_(1, alpha=2)
    z.view(6)[::2].pow_(2)
""")


@pytest.mark.parametrize("statement", [case(f"in place/{s}", s) for s in IN_PLACE])
def test_in_place_form(torch, statement):
    """Same value, version, graph and gradient as torch's; on views through CopySlices."""
    same_in_both(torch, statement, f"z = x * 1\nout = {statement}\nbackward((z, out))\nz._version\n")


# --------------------------------------------------------------------------------------------------------- bad calls
BAD_CALLS = lines("""
    x + "a"
    x - None
    x + [1, 2]
    x % None
    None // x
    x ** "a"
    x < None
    x < [1, 2]
    x == "a"
    x != None
    ~x
    x & d
    x << 1
    x - b
    b - 1
    1 - b
    b - b
    -b
    +b
    i % 0
    i // 0
    torch.fmod(i, 0)
    torch.div(i, 0, rounding_mode="trunc")
    torch.div(x, 2, rounding_mode="up")
    i ** -1
    i.add(1, alpha=1.5)
    i.add_(1.5)
    i.div_(2)
    i.remainder_(2.5)
    torch.add(x, "a")
    torch.mul(x, None)
    torch.exp(2.0)
    torch.maximum(x, 2.0)
    torch.atan2(x, 2.0)
    torch.logical_and(x, 1)
    torch.equal(x, 2)
    torch.allclose(d, i)
    torch.lerp(x, i, 0.3)
    torch.where(i, x, x)
    torch.where(b, x, torch.ones(4))
    x.clamp()
    x + torch.ones(4)
    x == torch.ones(4)
    x.add_(1)
    (x * 1).add_(torch.ones(2, 2, 3))
    torch.abs(b)
    torch.floor(b)
    torch.frac(i)
    torch.relu(b)
    torch.hypot(i, i)
    torch.logaddexp(i, i)
    torch.addcdiv(i, i, i)
    F.gelu(i)
    F.silu(i)
    F.elu(i)
    F.leaky_relu(i)
    F.softplus(i)
    F.hardtanh(x, 1, -1)
    F.gelu(x, approximate="sigmoid")
    F.softshrink(x, -1.0)
    F.glu(x)
    (x // 2).sum().backward()
    (2 % x).sum().backward()
    torch.heaviside(x, y).sum().backward()
""")


@pytest.mark.parametrize("call", [case(f"bad/{c}", c) for c in BAD_CALLS])
def test_a_bad_call_gets_torchs_error(torch, call):
    same_in_both(torch, call, f"{call}\n")


def test_a_foreign_operand_is_asked_too():
    class Metre:
        def __radd__(self, other):
            return "added"

        def __rtruediv__(self, other):
            return "divided"

    t = minigrad.ones(2)
    assert t + Metre() == "added"
    assert t / Metre() == "divided"
    with pytest.raises(TypeError, match="unsupported operand"):
        t * Metre()


# --------------------------------------------------------------------------------------------------- what is hard to get right
def test_a_kink_stops_an_infinite_gradient():
    """The derivative of sqrt at 0 is infinite; relu and clamp pass none of it on, not 0 * inf."""
    for f in (minigrad.relu, lambda t: t.clamp_min(0.5) - 0.5, lambda t: minigrad.where(t > 0, t, 0.0)):
        x = minigrad.tensor([-1.0, 4.0], requires_grad=True)
        f(x).sqrt().sum().backward()
        assert x.grad.tolist()[0] == 0.0


@pytest.mark.parametrize("shape", [(5,), (40_001,)])
def test_erf_is_exact_to_rounding(shape):
    x = np.linspace(-6.5, 6.5, shape[0]) + 1e-4
    x = np.concatenate([x, x * 1e-3, x * 1e-9, [0.0, -0.0, np.inf, -np.inf]])
    got = minigrad.tensor(x).erf().numpy()
    right = np.array([math.erf(v) for v in x])
    np.testing.assert_allclose(got, right, rtol=4 * np.finfo(float).eps)
    assert np.isnan(minigrad.tensor([np.nan] * 100).erf().numpy()).all()


@pytest.mark.parametrize("name", ["erfc", "erfinv", "digamma", "lgamma"])
def test_special_functions_agree_with_torch(torch, name):
    x = np.random.default_rng(0).uniform(-1, 1, 300) if name == "erfinv" else np.linspace(-5.3, 30.1, 400)
    got = getattr(minigrad.tensor(x), name)().numpy()
    np.testing.assert_allclose(got, getattr(torch.tensor(x), name)().numpy(), rtol=1e-12, atol=1e-14)


def test_a_number_does_not_change_the_dtype():
    t = minigrad.ones(2)
    for made in (t + 2.5, t * True, t.clamp(0, 1), t % 2, minigrad.where(t > 0, t, 0.0), t**2):
        assert made.dtype is minigrad.float32
    assert (minigrad.arange(3) * 2.5).dtype is minigrad.float32
    assert (minigrad.arange(3) // 2).dtype is minigrad.int64
