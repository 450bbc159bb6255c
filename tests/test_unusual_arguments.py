"""What a call with unusual arguments gives or is told, one expression a line, is what PyTorch gives or tells."""

from __future__ import annotations

import warnings
from types import ModuleType

import pytest

import minigrad

# x, i, u, h: floats, integers, bytes, halves; many: 4096 rows of two halves
EXPRESSIONS = {
    "operands of the wrong kind": """
        x.add("a")
        x.mul_("a")
        x.eq("a")
        x.eq_("a")
        x.maximum("a")
        torch.maximum(x, 2)
        x.fmax(2)
        x.atan2_(2)
        x.gcd_(2)
        x.logical_and(2)
        x.logical_and_(2)
        x.hypot_(2)
        x.nextafter(2)
        x.heaviside(2)
        x.ldexp_(2)
        x.bitwise_and_("a")
        x.pow_("a")
        x.div_("a")
        x.lerp(2, 3)
        x.lerp(x, "a")
        torch.eq("a", x)
        torch.eq(2, x)
        torch.ge("a", 2)
        torch.fmod(2, x)
        torch.fmod(2, 3)
        torch.remainder(2, 3)
        torch.rsub(2, x)
        torch.copysign(2, x)
        torch.xlogy(2, 3)
        torch.float_power(2, 3)
        torch.pow("a", 3)
        torch.isin(2, 3)
        torch.clamp_max(2, x)
        torch.clamp_min(2, 3)
        torch.clamp(2, x)
        torch.addcmul(2, x, x)
        torch.addcmul(x, 2, x)
        torch.bitwise_and(2, 3)
        torch.where(True, x, x)
        torch.special.xlog1py(2, 3)
        torch.mm(2, x)
        x.dot(2)
        x.polygamma(2.0)
        x.mvlgamma(2.0)
        torch.polygamma(x, 1)
        x > None
        x & None
    """,
    "numbers that stand first": """
        torch.add(2, x)
        torch.sub(2, x)
        torch.mul(2, x)
        torch.div(2, x)
        torch.floor_divide(2, x)
        torch.bitwise_and(2, i)
        torch.bitwise_left_shift(2, i)
        torch.xlogy(2, x)
        torch.special.xlog1py(2, x)
        torch.isin(2, x)
        torch.remainder(2, x)
        2 & i
        2 << i
        2 // i
        i.__ror__(i)
        i.__rlshift__(i)
    """,
    "sizes": """
        torch.zeros()
        torch.zeros(2.0)
        torch.zeros(True)
        torch.zeros(2, True)
        torch.zeros("a")
        torch.zeros(2, "a")
        torch.zeros((2.0,))
        torch.zeros((2, None))
        torch.zeros((2,), (3,))
        torch.zeros(size=2)
        torch.zeros(-2)
        torch.ones(-2)
        torch.zeros(x)
        torch.zeros(x.long())
        torch.zeros(i[1], 3)
        torch.full("a", 1)
        torch.full((2.0,), 1)
        torch.full((-2,), True)
        x.new_zeros(2.0)
        x.new_zeros(size=2)
        x.new_full(2, 3)
        torch.rand((2, 3.0))
        torch.rand(-1)
        torch.randn("a")
        torch.empty_strided((2, 3), (1,))
        torch.empty_strided((2, 3), (1, -1))
        x.new_empty_strided((2,), 2)
    """,
    "values and dtypes of new tensors": """
        torch.zeros_like(2)
        torch.zeros(2, dtype="a")
        torch.zeros(2, requires_grad="a")
        torch.zeros(2, dtype=torch.int32, requires_grad=True)
        torch.full((2,), "a")
        torch.full((2,), x)
        torch.full((2,), x[0])
        torch.full_like(x, x)
        torch.full_like(u, 2.7)
        torch.scalar_tensor("a")
        torch.scalar_tensor(x)
        torch.eye(2.0)
        torch.eye(2, -1)
        torch.tril_indices(-2, 3)
        torch.triu_indices(2, 3, dtype=torch.float32)
        torch.tensor([300], dtype=torch.uint8)
        torch.tensor([-1], dtype=torch.uint8)
        torch.tensor(2**70)
    """,
    "counting": """
        torch.arange()
        torch.arange("a")
        torch.arange(3, "a")
        torch.arange(x)
        torch.arange(end=5)
        torch.arange(5, step=2)
        torch.arange(0, 5, 0)
        torch.arange(0, 5, -1)
        torch.arange(1, 0.5)
        torch.arange(0, float("inf"))
        torch.arange(float("nan"))
        torch.arange(3, dtype=torch.bool)
        torch.arange(0.5, 3.1, 1.3, dtype=torch.int32)
        torch.arange(0.5, 3.1, 0.3, dtype=torch.int32)
        torch.arange(0.0, -8.000001, -4.0, dtype=torch.int64)
        torch.linspace(0, 3, 1.0)
        torch.linspace(0, 3, True)
        torch.linspace(0, 3, -1)
        torch.linspace(0, x, 2)
        torch.linspace(x, x, 2)
        torch.linspace(4.3, -3, 9, dtype=torch.int64)
        torch.linspace(0, 1, 2, dtype=torch.bool)
        torch.logspace(0, 1.2, 4, dtype=torch.int64)
        torch.logspace(i[0], 3, 3, 2)
        torch.logspace(0, 3, 4, base=-2.0)
    """,
    "random numbers": """
        torch.rand(2, dtype=torch.int64)
        torch.randn_like(i)
        torch.randint(5)
        torch.randint(0, 5, 2)
        torch.randint(0.5, 5, (2,))
        torch.randint(5, 0, (2,))
        torch.randint(0, 300, (2,), dtype=torch.uint8)
        torch.randint(-3, 5, (2,), dtype=torch.uint8)
        torch.randint(high=5, size=(2,))
        torch.randint(0, 2**25, (2,), dtype=torch.float32)
        torch.randint_like(x, 2.0)
        torch.randint_like(x, high=5)
        torch.randperm(-1)
        torch.randperm(3, dtype=torch.bool)
        torch.randn(25, dtype=torch.float16)
        torch.normal(x, 0, 5)
        torch.normal(0, 5)
        torch.normal(x, -1)
        torch.normal(x, -x.abs())
        torch.multinomial(x.abs(), 2, "a")
        torch.multinomial(x, 2, True)
        torch.multinomial(x / 0, 2, True)
        torch.bernoulli(x)
        torch.bernoulli(i)
        x.bernoulli_(1.5)
        x.bernoulli_(x)
        x.random_(2.5)
        u.random_()
        u.random_(0, 300)
        i.normal_()
        i.uniform_()
        i.exponential_()
        i.cauchy_()
        i.log_normal_()
        i.bool().geometric_(0.5)
        x.uniform_(0, float("inf"))
        x.uniform_(-3e38, 3e38)
        x.normal_(x[0], 1)
    """,
    "numbers beside narrow dtypes": """
        u + -3
        u + 300
        300 - u
        u // -2
        u % 300
        300 % u
        u ** 300
        (-3) ** u
        u.add(u, alpha=-3)
        u.add(u, alpha=300)
        torch.rsub(u, 1, alpha=-3)
        u == -1
        u < -1
        u > 300
        u & -1
        u | 300
        u >> -1
        u.clamp(-5, 300)
        u.clamp_min(-5)
        u.fill_(-3)
        u.fill_(300)
        torch.full((2,), -9, dtype=torch.uint8)
        torch.full_like(u, 300)
        torch.scalar_tensor(300, dtype=torch.uint8)
        torch.where(u > 1, u, -1)
        u.masked_fill(u > 1, -1)
        u.masked_fill(u > 1, 300)
        u.addcmul(u, u, value=-1)
        u.mul_(-1)
        i.char() * 200
        h + 1e6
        h.fill_(1e6)
        h.clamp(max=1e6)
        x.fill_(1e40)
        torch.full((2,), 1e40)
    """,
    "halves, which are added up in single precision": """
        many.sum(0)
        many.mean(0)
        many.var(0)
        many.cumsum(0)[-1]
        many.nansum(0)
        many.norm(dim=0)
        torch.logsumexp(many, 0)
        torch.softmax(many, 0)[0] * 4096
        torch.nn.functional.cross_entropy(many.t(), i[:2] - 1)
        torch.autograd.grad((many * h.requires_grad_()[:1]).sum(), h)
    """,
    "dtypes that an operation does not take": """
        i.ldexp_(i)
        i.mvlgamma_(1)
        i.bool().mvlgamma_(1)
        i.polygamma_(1)
        torch.nextafter(i, i)
        torch.hypot(i, i)
        torch.gcd(x, x)
        torch.round(i, decimals=0)
        torch.round(i, decimals=1)
        torch.isclose(x, i)
        x.clone().requires_grad_().square().acosh_().sum().backward()
        torch.where(x, x, i)
    """,
}
CASES = [
    pytest.param(line.strip(), id=f"{group}: {line.strip()}")
    for group, lines in EXPRESSIONS.items()
    for line in lines.strip().splitlines()
]


def outcome(torch: ModuleType, expression: str) -> str:
    """What the expression gives, as it is printed, or the first line of what it raises."""
    torch.manual_seed(0)
    scope = {
        "torch": torch,
        "x": torch.tensor([1.0, -2.0, 3.0]),
        "i": torch.tensor([1, 2, 3]),
        "u": torch.tensor([1, 2, 3], dtype=torch.uint8),
        "h": torch.ones(3, dtype=torch.float16),
        "many": torch.ones(4096, 2, dtype=torch.float16),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(eval(expression, scope))
        except Exception as error:
            return f"{type(error).__name__}: {error}".splitlines()[0]


@pytest.mark.parametrize("expression", CASES)
def test_a_call_gives_or_is_told_what_pytorch_says(torch, expression):
    assert outcome(minigrad, expression) == outcome(torch, expression)
