"""Functions of one variable, each with its derivative: the table at the back of the calculus book."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..tensor import Tensor
from . import special
from .choice import refuse, where, zeros_like
from .comparison import isfinite
from .inplace import define_inplace, in_both_forms
from .table import define, function

ndarray = np.ndarray
inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
LN2, LN10 = math.log(2), math.log(10)

# ---------------------------------------------------------------- exponentials, logarithms, roots

exp = define(
    "exp", np.exp, kind="elementwise", floating=True,
    doc="`exp(input)`: e to the power of each element.",
    self=lambda grad, result: grad * result,
)  # fmt: skip
exp2 = define(
    "exp2", np.exp2, kind="elementwise", floating=True,
    doc="`2 ** input`: 2 to the power of each element.",
    self=lambda grad, result: grad * result * LN2,
)  # fmt: skip
expm1 = define(
    "expm1", np.expm1, kind="elementwise", floating=True,
    doc="`exp(input) - 1`, accurate also near 0.",
    self=lambda grad, result: grad * (result + 1),
)  # fmt: skip
log = define(
    "log", np.log, kind="elementwise", floating=True,
    doc="`log(input)`: the natural logarithm. -inf at 0, where the derivative is inf; NaN below.",
    self=lambda grad, self: grad / self,
)  # fmt: skip
log2 = define(
    "log2", np.log2, kind="elementwise", floating=True,
    doc="`log2(input)`: the logarithm to base 2. -inf at 0, NaN below.",
    self=lambda grad, self: grad / (self * LN2),
)  # fmt: skip
log10 = define(
    "log10", np.log10, kind="elementwise", floating=True,
    doc="`log10(input)`: the logarithm to base 10. -inf at 0, NaN below.",
    self=lambda grad, self: grad / (self * LN10),
)  # fmt: skip
log1p = define(
    "log1p", np.log1p, kind="elementwise", floating=True, node="Log1PBackward0",
    doc="`log(1 + input)`, accurate also near 0. -inf at -1, NaN below.",
    self=lambda grad, self: grad / (self + 1),
)  # fmt: skip
sqrt = define(
    "sqrt", np.sqrt, kind="elementwise", floating=True,
    doc="`sqrt(input)`: the square root. Its derivative at 0 is inf; NaN below 0.",
    self=lambda grad, result: grad / (2 * result),
)  # fmt: skip
rsqrt = define(
    "rsqrt", lambda x: 1 / np.sqrt(x), kind="elementwise", floating=True,
    doc="`1 / sqrt(input)`: inf at 0, where the derivative is -inf; NaN below.",
    self=lambda grad, result: -0.5 * grad * (result * result * result),
)  # fmt: skip

# ---------------------------------------------------------------- trigonometry

sin = define(
    "sin", np.sin, kind="elementwise", floating=True,
    doc="`sin(input)`, of angles in radians.",
    self=lambda grad, self: grad * cos(self),
)  # fmt: skip
cos = define(
    "cos", np.cos, kind="elementwise", floating=True,
    doc="`cos(input)`, of angles in radians.",
    self=lambda grad, self: grad * -sin(self),
)  # fmt: skip
tan = define(
    "tan", np.tan, kind="elementwise", floating=True,
    doc="`tan(input)`, of angles in radians.",
    self=lambda grad, result: grad * (1 + result * result),
)  # fmt: skip
asin = define(
    "asin", np.arcsin, kind="elementwise", floating=True,
    doc="`asin(input)`: the angle, from -pi/2 to pi/2, whose sine it is. NaN outside [-1, 1]; at -1 and 1 "
    "the derivative is inf.",
    self=lambda grad, self: grad * rsqrt(1 - self * self),
)  # fmt: skip
acos = define(
    "acos", np.arccos, kind="elementwise", floating=True,
    doc="`acos(input)`: the angle, from 0 to pi, whose cosine it is. NaN outside [-1, 1]; at -1 and 1 the "
    "derivative is -inf.",
    self=lambda grad, self: -grad * rsqrt(1 - self * self),
)  # fmt: skip
atan = define(
    "atan", np.arctan, kind="elementwise", floating=True,
    doc="`atan(input)`: the angle, from -pi/2 to pi/2, whose tangent it is.",
    self=lambda grad, self: grad / (self * self + 1),
)  # fmt: skip
sinh = define(
    "sinh", np.sinh, kind="elementwise", floating=True,
    doc="`sinh(input)`: `(exp(input) - exp(-input)) / 2`.",
    self=lambda grad, self: grad * cosh(self),
)  # fmt: skip
cosh = define(
    "cosh", np.cosh, kind="elementwise", floating=True,
    doc="`cosh(input)`: `(exp(input) + exp(-input)) / 2`.",
    self=lambda grad, self: grad * sinh(self),
)  # fmt: skip
tanh = define(
    "tanh", np.tanh, kind="elementwise", floating=True,
    doc="`tanh(input)`: `sinh(input) / cosh(input)`, between -1 and 1.",
    self=lambda grad, result: grad * (1 - result * result),
)  # fmt: skip
asinh = define(
    "asinh", np.arcsinh, kind="elementwise", floating=True,
    doc="`asinh(input)`: the inverse of sinh, `log(input + sqrt(input ** 2 + 1))`.",
    self=lambda grad, self: grad * rsqrt(self * self + 1),
)  # fmt: skip
acosh = define(
    "acosh", np.arccosh, kind="elementwise", floating=True,
    doc="`acosh(input)`: the inverse of cosh, `log(input + sqrt(input ** 2 - 1))`. NaN below 1; at 1 the derivative "
    "is inf.",
    self=lambda grad, self: grad * rsqrt(self * self - 1),
)  # fmt: skip
atanh = define(
    "atanh", np.arctanh, kind="elementwise", floating=True,
    doc="`atanh(input)`: the inverse of tanh, `log((1 + input) / (1 - input)) / 2`. NaN outside [-1, 1].",
    self=lambda grad, self: grad / (1 - self * self),
)  # fmt: skip
sinc = define(
    "sinc", np.sinc, kind="elementwise", floating=True,
    doc="`sin(pi * input) / (pi * input)`, and 1 at 0, where the derivative is 0.",
    self=lambda grad, self: where(self == 0, 0.0, grad * ((cos(self * pi) - sinc(self)) / self)),
)  # fmt: skip
deg2rad = define(
    "deg2rad", lambda x: x * (pi / 180), kind="elementwise", floating=True,
    doc="`input * pi / 180`: degrees as radians.",
    self=lambda grad: grad * (pi / 180),
)  # fmt: skip
rad2deg = define(
    "rad2deg", lambda x: x * (180 / pi), kind="elementwise", floating=True,
    doc="`input * 180 / pi`: radians as degrees.",
    self=lambda grad: grad * (180 / pi),
)  # fmt: skip

# ---------------------------------------------------------------- logistic, error and gamma functions


ONE = {char: np.ones((), char) for char in "efd"}


def _sigmoid(x: ndarray) -> ndarray:
    y = np.negative(x, out=...)
    np.exp(y, out=y)
    y += ONE[y.dtype.char]
    return np.reciprocal(y, out=y)


sigmoid = define(
    "sigmoid", _sigmoid, kind="elementwise", floating=True,
    doc="`1 / (1 + exp(-input))`: between 0 and 1, the logistic function.",
    self=lambda grad, result: grad * ((1 - result) * result),
)  # fmt: skip


def _logit(self: ndarray, eps: float | None) -> ndarray:
    if eps is not None:
        self = np.minimum(np.maximum(self, np.asarray(eps, self.dtype)), np.asarray(1 - eps, self.dtype))
    return np.log(self / (1 - self))


def _logit_self(grad, self, eps):
    if eps is None:
        return where((self >= 0) & (self <= 1), grad / (self * (1 - self)), nan)
    return where((self >= eps) & (self <= 1 - eps), grad / (self * (1 - self)), 0.0)


_logit_op = define("logit", _logit, kind="elementwise", floating=True, self=_logit_self)
erf = define(
    "erf", special.erf, kind="elementwise", floating=True,
    doc="`erf(input)`: the error function, 2 / sqrt(pi) times the integral of exp(-t ** 2) from 0 to "
    "`input`.",
    self=lambda grad, self: grad * (2 / math.sqrt(pi) * exp(-(self * self))),
)  # fmt: skip
erfc = define(
    "erfc", special.erfc, kind="elementwise", floating=True,
    doc="`1 - erf(input)`, accurate also for large `input`.",
    self=lambda grad, self: grad * (-2 / math.sqrt(pi) * exp(-(self * self))),
)  # fmt: skip
erfinv = define(
    "erfinv", special.erfinv, kind="elementwise", floating=True,
    doc="`erfinv(input)`: the inverse of erf. -inf and inf at -1 and 1, NaN outside.",
    self=lambda grad, self: grad * (math.sqrt(pi) / 2 * exp(erfinv(self) ** 2)),
)  # fmt: skip
lgamma = define(
    "lgamma", special.lgamma, kind="elementwise", floating=True,
    doc="`log(abs(gamma(input)))`: the logarithm of the gamma function. Its derivative is digamma.",
    self=lambda grad, self: grad * digamma(self),
)  # fmt: skip
digamma = define(
    "digamma", special.digamma, kind="elementwise", floating=True,
    doc="`digamma(input)`: the derivative of lgamma.",
    self=lambda grad, self: grad * _polygamma(self, 1),
)  # fmt: skip
_polygamma = define(
    "polygamma", lambda self, n: special.polygamma(n, self), kind="elementwise", floating=True,
    self=lambda grad, self, n: grad * _polygamma(self, n + 1),
)  # fmt: skip


@in_both_forms()
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """`log(x / (1 - x))`, the inverse of sigmoid; with `eps` the elements are first clamped to [eps, 1 - eps]."""
    return _logit_op, input, eps


def polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of digamma."""
    if not isinstance(n, int):
        raise TypeError(f"polygamma() takes an integer n, not {n}")
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return _polygamma(input, n)


# ---------------------------------------------------------------- signs and rounding: steps, whose derivative is zero


def _rounding(compute: np.ufunc, kernel: str):
    """A forward function that leaves integers as they are (but its result is always a new array) and refuses bools."""

    def forward(x: ndarray) -> ndarray:
        if x.dtype.kind == "f":
            return compute(x)
        refuse(x, "b", kernel)
        return x.copy()

    return forward


def _absolute(x: ndarray) -> ndarray:
    refuse(x, "b", "abs_cpu")
    return np.absolute(x)


def _fraction(x: ndarray) -> ndarray:
    refuse(x, "biu", "frac_cpu")
    return x - np.trunc(x)


abs = define(
    "abs", _absolute, kind="elementwise",
    doc="`abs(input)`: the absolute value. Its derivative is the sign, 0 at 0. Raises NotImplementedError "
    "for bools.",
    self=lambda grad, self: grad * sgn(self),
)  # fmt: skip


def _sign(x: ndarray) -> ndarray:
    if x.dtype.kind == "b":
        return x.copy()
    y = np.sign(x, out=...)
    missing = y != y
    if np.count_nonzero(missing):
        y[missing] = 0
    return y


sign = define(
    "sign", _sign, kind="elementwise",
    doc="`sign(input)`: -1, 0 or 1, as each element is negative, zero or positive. Its derivative is 0 "
    "everywhere.",
    self=lambda grad: zeros_like(grad),
)  # fmt: skip
sgn = define(
    "sgn", _sign, kind="elementwise",
    doc="`sign(input)`: -1, 0 or 1, as each element is negative, zero or positive. Its derivative is 0 "
    "everywhere.",
    self=lambda grad, self, result: zeros_like(grad),
)  # fmt: skip
floor = define(
    "floor", _rounding(np.floor, "floor_vml_cpu"), kind="elementwise",
    doc="`floor(input)`: the largest integer that is not larger, in the same dtype. Its derivative is 0 "
    "everywhere.",
    self=lambda grad: zeros_like(grad),
)  # fmt: skip
ceil = define(
    "ceil", _rounding(np.ceil, "ceil_vml_cpu"), kind="elementwise",
    doc="`ceil(input)`: the smallest integer that is not smaller, in the same dtype. Its derivative is 0 "
    "everywhere.",
    self=lambda grad: zeros_like(grad),
)  # fmt: skip
trunc = define(
    "trunc", _rounding(np.trunc, "trunc_vml_cpu"), kind="elementwise",
    doc="`trunc(input)`: rounded towards zero, in the same dtype. Its derivative is 0 everywhere.",
    self=lambda grad: zeros_like(grad),
)  # fmt: skip
_round = define(
    "round", _rounding(np.rint, "round_vml_cpu"), kind="elementwise", self=lambda grad: zeros_like(grad)
)


def _rounded(self: ndarray, decimals: int) -> ndarray:
    refuse(self, "biu", "round_cpu" if decimals else "round_vml_cpu")
    return np.round(self, decimals)


_round_decimals = define(
    "round", _rounded, kind="elementwise", node="RoundBackward1",
    self=lambda grad: zeros_like(grad),
)  # fmt: skip
frac = define(
    "frac", _fraction, kind="elementwise",
    doc="`input - trunc(input)`: the fraction, with the sign of the element. Raises NotImplementedError for integers.",
    self=lambda grad: grad,
)  # fmt: skip


@in_both_forms()
def round(input: Tensor, *, decimals: int | None = None) -> Tensor:
    """To the nearest integer, halves to the even one; or to that many decimals."""
    return (_round, input) if decimals is None else (_round_decimals, input, decimals)


def positive(input: Tensor) -> Tensor:
    """`+input`: the tensor itself. Raises RuntimeError for bool tensors."""
    if input._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def _nan_to_num_forward(
    self: ndarray, nan: float | None, posinf: float | None, neginf: float | None
) -> ndarray:
    if self.dtype.kind != "f":
        return self.copy()
    return np.nan_to_num(self, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


_nan_to_num = define(
    "nan_to_num",
    _nan_to_num_forward,
    kind="elementwise",
    self=lambda grad, self: where(isfinite(self), grad, 0.0),
)


@in_both_forms()
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest and smallest finite numbers)."""
    return _nan_to_num, input, nan, posinf, neginf


# ---------------------------------------------------------------- what PyTorch does in place, but does not differentiate


def _in_place_only(call: Callable) -> Callable:
    """The in-place form of an inverse hyperbolic function: PyTorch records it, then refuses both kinds of derivative."""
    name = call.op.name

    def derivative(grad):
        raise NotImplementedError(f"the derivative for 'inplace version of {name}' is not implemented.")

    def jvp(primals, tangents, results, params):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_ that does not support it because it has not been implemented yet."
        )

    return define(
        name, call.op.forward, kind="elementwise", floating=True, node=name.title() + "Backward1",
        doc=f"{call.op.doc} Backward through this form raises NotImplementedError, as in PyTorch.",
        self=derivative, jvp=jvp,
    )  # fmt: skip


IN_PLACE = {call: _in_place_only(call) for call in (acosh, asinh, atanh)}

# ---------------------------------------------------------------- methods, and other names for the same

ALIASES = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atanh": "arctanh", "trunc": "fix",
}  # fmt: skip
for _call in (exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh,
              asinh, acosh, atanh, sinc, deg2rad, rad2deg, sigmoid, erf, erfc, erfinv, lgamma, digamma, abs, sign, sgn,
              floor, ceil, trunc, frac):  # fmt: skip
    _names = [_call.op.name, *([ALIASES[_call.op.name]] if _call.op.name in ALIASES else [])]
    function(_call, *_names)
    define_inplace(IN_PLACE.get(_call, _call), *(n + "_" for n in _names))
function(abs, "__abs__")
function(positive, "positive", "__pos__")
absolute, arccos, arccosh, arcsin, arcsinh, arctan, arctanh, fix = (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    trunc,
)

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "e",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "fix",
    "floor",
    "frac",
    "inf",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logit",
    "nan",
    "nan_to_num",
    "pi",
    "polygamma",
    "positive",
    "rad2deg",
    "round",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]  # fmt: skip
