"""Every pair of dtypes, as vectors, 0-d tensors and numbers: the result has PyTorch's dtype and value, or is its error."""

from __future__ import annotations

import itertools
import warnings
from types import ModuleType

import numpy as np
import pytest

import minigrad

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
NUMBERS = [True, 2, 2.5]

# `x` and `y` are of every pair of dtypes; `b` is a mask and `j` positions.
EXPRESSIONS = """
    x + y | x - y | x * y | x / y | x // y | x % y | x ** y | x == y | x < y | x & y | x | y | x ^ y | x << y | x >> y
    torch.maximum(x, y) | torch.where(b, x, y) | torch.where(b, y, x) | torch.atan2(x, y) | torch.fmod(x, y)
    torch.logaddexp(x, y) | torch.hypot(x, y) | torch.copysign(x, y) | torch.logical_and(x, y) | torch.xlogy(x, y)
    torch.add(x, y, alpha=2) | torch.div(x, y, rounding_mode="floor") | torch.div(x, y, rounding_mode="trunc")
    torch.result_type(x, y) | torch.heaviside(x, y) | torch.gcd(x, y) | torch.float_power(x, y) | torch.isclose(x, y)
    torch.cat([x, y]) | torch.stack([x, y]) | torch.dot(x, y) | torch.clamp(x, y) | torch.lerp(x, y, 0.5)
    torch.addcmul(x, y, y) | x.to(y.dtype) | x.type_as(y) | x.sum(dtype=y.dtype) | x.prod(dtype=y.dtype) | x.mean(dtype=y.dtype)
    torch.can_cast(x.dtype, y.dtype) | torch.promote_types(x.dtype, y.dtype) | x.new_tensor([1], dtype=y.dtype)
    x.index_add(0, j, y) | x.masked_fill(b, y)
"""
IN_PLACE = """
    x += y | x -= y | x *= y | x /= y | x **= y | x[0] = y | x[b] = y | x.copy_(y) | x.fill_(y) | x.masked_fill_(b, y)
    x.add_(y, alpha=2) | x.clamp_(y) | x.lerp_(y, 0.5) | x.pow_(y) | x.logical_and_(y) | x.eq_(y) | x.atan2_(y)
"""


def listed(text: str) -> list[str]:
    return [
        part.strip()
        for line in text.strip().splitlines()
        for part in line.replace("x | y", "x.__or__(y)").split(" | ")
    ]


def outcome(torch: ModuleType, source: str, x: object, y: object) -> tuple:
    """The dtype and the values of a result, or the first line of the error."""
    names = {
        "torch": torch,
        "x": x,
        "y": y,
        "b": torch.tensor([True, False, True]),
        "j": torch.tensor([0, 2, 1]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if source in listed(IN_PLACE):
                exec(source, names)
                found = names["x"]
            else:
                found = eval(source, names)
        except Exception as error:
            return (f"{type(error).__name__}: {error}".split("\n")[0].replace("minigrad", "torch"),)
    if not isinstance(found, torch.Tensor):
        return type(found).__name__, repr(found)
    return str(found.dtype), found.tolist()


def operands(torch: ModuleType, first: str, second: str | float) -> list[tuple]:
    """Two vectors, a vector and a 0-d tensor, the reverse; or a tensor and a number, the reverse."""
    vector, single = (torch.tensor(v, dtype=getattr(torch, first)) for v in ([1, 0, 1], 1))
    if not isinstance(second, str):
        return [(vector, second), (second, vector.clone()), (single, second)]
    other, one = (torch.tensor(v, dtype=getattr(torch, second)) for v in ([1, 1, 1], 1))
    return [(vector, other), (vector.clone(), one), (single, other.clone())]


def same(a: tuple, b: tuple) -> bool:
    if len(a) != len(b) or a[0] != b[0] or len(a) == 1:
        return a == b
    return a == b or bool(np.allclose(a[1], b[1], rtol=1e-3, equal_nan=True))


# In place PyTorch looks at the dtype of the result before it looks whether there is a kernel.
def unlike(source: str, expected: tuple, got: tuple) -> bool:
    return len(expected) == len(got) == 1 and source in listed(IN_PLACE)


@pytest.mark.parametrize("source", listed(EXPRESSIONS) + listed(IN_PLACE))
def test_every_pair_of_dtypes_gives_what_it_gives_in_pytorch(torch, source):
    differ = []
    for first, second in itertools.product(DTYPES, [*DTYPES, *NUMBERS]):
        pairs = zip(*(operands(module, first, second) for module in (torch, minigrad)), strict=True)
        for form, (theirs, ours) in enumerate(pairs):
            expected, got = outcome(torch, source, *theirs), outcome(minigrad, source, *ours)
            if not same(expected, got) and not unlike(source, expected, got):
                differ.append(f"{first}, {second}, form {form}: expected {expected}, got {got}")
    assert not differ, "\n" + "\n".join(differ)


@pytest.mark.parametrize("default", ["float64", "float16"])
def test_numbers_follow_the_default_dtype_whatever_was_computed_before(torch, default):
    """Also beside a number that has been used with the same tensor before."""
    found = {}
    for module in (torch, minigrad):
        i = module.tensor([1, 2])
        before = [i + 2.5, i / 2, module.where(i > 1, i, 2.5)]
        module.set_default_dtype(getattr(module, default))
        after = [i + 2.5, i / 2, module.where(i > 1, i, 2.5), i.sqrt(), i.float() + 1.0]
        module.set_default_dtype(module.float32)
        found[module] = [str(t.dtype) for t in [*before, *after, i + 2.5]]
    assert found[minigrad] == found[torch]
