"""Functions of probability theory, the multivariate gamma function, and the parts of a floating point number."""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes, return_types
from ..tensor import Tensor
from . import special
from .choice import refuse, where, zeros_like
from .elementary import digamma, erf, exp, exp2, log, log1p
from .inplace import define_inplace, in_both_forms
from .pointwise import add_number, mul_number
from .table import define, function, is_array

ndarray = np.ndarray

# ---------------------------------------------------------------- entropy and logarithms


def _entropy(x: ndarray) -> ndarray:
    out = -x * np.log(np.where(x > 0, x, 1))
    return np.where(x < 0, -np.inf, out).astype(x.dtype)


entr = define(
    "special_entr", _entropy, kind="elementwise", floating=True,
    doc="`-input * log(input)`, 0 at 0, -inf below: the terms of an entropy. At 0 the derivative is inf.",
    self=lambda grad, self: grad * (-(1 + log(self))),
)  # fmt: skip
entr.__name__ = entr.__qualname__ = "entr"
_xlog1py = define(
    "special_xlog1py", lambda self, other: np.where((self == 0) & ~np.isnan(other), 0, self * np.log1p(other)),
    kind="elementwise", floating=True, node="SpecialXlog1PyBackward0",
    self=lambda grad, self, other: where((self == 0) & (other <= -1), 0.0, grad * log1p(other)),
    other=lambda grad, self, other: grad * self / (other + 1),
)  # fmt: skip


def xlog1py(input: Tensor, other: Tensor) -> Tensor:
    """`input * log(1 + other)`, 0 where `input` is."""
    return _xlog1py(input, other)


# ---------------------------------------------------------------- the normal distribution


def ndtr(input: Tensor) -> Tensor:
    """The probability that a standard normal variable is below `input`."""
    x = input if input.is_floating_point() else input.float()
    return mul_number(add_number(erf(mul_number(x, math.sqrt(0.5))), 1.0), 0.5)


def _quantile_of_normal(x: ndarray) -> ndarray:
    return special.erfinv(2 * x - 1) * x.dtype.type(math.sqrt(2))


ndtri = define(
    "special_ndtri", _quantile_of_normal, kind="elementwise", floating=True,
    doc="The quantile of the standard normal distribution: the x below which a value lies with probability "
    "`input`. The inverse of ndtr.",
    self=lambda grad, result: grad * math.sqrt(2 * math.pi) * exp(result * result / 2),
)  # fmt: skip
ndtri.__name__ = ndtri.__qualname__ = "ndtri"

# ---------------------------------------------------------------- gamma functions


def _multigamma(self: ndarray, p: int) -> ndarray:
    shifts = np.arange(p) / 2
    total = sum(special.lgamma(self - self.dtype.type(s)) for s in shifts)
    return total + self.dtype.type(p * (p - 1) / 4 * math.log(math.pi))


def multigamma_self(grad, self, p):
    """The sum of the derivatives of the p terms."""
    total = digamma(self)
    for j in range(1, p):
        total = total + digamma(self - j / 2)
    return grad * total


_mvlgamma = define(
    "mvlgamma", _multigamma, kind="elementwise", floating=True,
    self=lambda grad, self, p: multigamma_self(grad, self, p),
)  # fmt: skip


@in_both_forms()
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p, for elements larger than (p - 1) / 2."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if not isinstance(p, int):
        raise TypeError(f"mvlgamma() takes an integer p, not {p}")
    if input._array.dtype.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    return _mvlgamma, input, p


def _multigamma_in_place(self: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function, written into this tensor. Returns it."""
    if self._array.dtype.kind in "iu":
        word = dtypes.word(self._array.dtype)
        raise RuntimeError(
            f"mvlgamma: result type {word} can't be cast to the desired output type Float"
        )  # sic
    return mvlgamma.in_place(self, p)


_multigamma_in_place.__name__ = _multigamma_in_place.__qualname__ = "mvlgamma_"
function(_multigamma_in_place, "mvlgamma_")


# ---------------------------------------------------------------- floating point numbers


def _mantissa(self: ndarray) -> tuple[ndarray, ndarray]:
    mantissa, exponent = np.frexp(self)
    return mantissa, exponent.astype(np.int32)


def over_powers_of_two(grad, exponent):
    """grad / 2^exponent, of an array or a Tensor."""
    return np.ldexp(grad, -exponent) if is_array(grad) and is_array(exponent) else grad * exp2(-exponent)


_frexp = define(
    "frexp", _mantissa, outputs=("mantissa", "exponent"), constants=("exponent",),
    self=lambda grad, exponent: over_powers_of_two(grad, exponent),
)  # fmt: skip


def frexp(input: Tensor) -> return_types.frexp:
    """(mantissa, exponent) of each element: input = mantissa · 2^exponent, the mantissa at least ½ and below 1."""
    if not input.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return return_types.frexp(*_frexp(input))


def _next_tangent(primals, tangents, results, params):
    (self, other), (tangent, _) = primals, tangents
    return None if tangent is None else where(self == other, 0.0, tangent)


def _next(self: ndarray, other: ndarray) -> ndarray:
    refuse(self, "biu", "nextafter_cpu")
    return np.nextafter(self, other)


nextafter = define(
    "nextafter", _next, kind="elementwise", numbers=False, jvp=_next_tangent,
    doc="The floating point number next to `input`, towards `other`. Raises NotImplementedError for integers.",
    self=lambda grad, self, other: where(self == other, 0.0, grad),
    other=lambda grad: zeros_like(grad),
)  # fmt: skip
define_inplace(nextafter, "nextafter_")
for _fn in (frexp, nextafter):
    function(_fn, _fn.__name__)

__all__ = ["frexp", "mvlgamma", "nextafter"]
