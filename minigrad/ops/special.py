"""More mathematics on each element: inverse functions, logarithms near 0, remainders, blends, bounds that are tensors."""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes
from ..basics import check
from ..tensor import Tensor
from .pointwise import (
    ERF,
    LN2,
    OF_PAIRS,
    _rest,
    beside,
    cos,
    elementwise,
    exp,
    fitted,
    log,
    no_slope,
    pi,
    question,
    reflected,
    rsqrt,
    sigmoid,
    sin,
    smooth,
    step,
    where,
)  # fmt: skip
from .signature import NUMBERS
from .table import FUNCTIONS, METHODS, function, op

ndarray = np.ndarray

WHOLE_QUOTIENT = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of "
    "tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / "
    "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future "
    "addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes."
)
NOT_FLOORED = "derivative for aten::floor_divide is not implemented"

# ---------------------------------------------------------------- on arrays, and parts of rules


def _cut_rest(self: ndarray, other: object) -> ndarray:
    """The remainder of a division, with the sign of `self`."""
    self = beside(self, other)
    other = np.asarray(other, self.dtype)
    dtypes.require("fiu", "fmod_cpu", self.dtype)
    check(self.dtype.kind == "f" or other.all(), "ZeroDivisionError")
    return np.fmod(self, other)


def _whole_quotient(name: str, round_to: np.ufunc, self: ndarray, other: object) -> ndarray:
    """A rounded quotient, which is exact if both are integers."""
    self = beside(self, other)
    other = np.asarray(other, self.dtype)
    dtypes.require("fiu", f"div_{name}_cpu", self.dtype)
    if self.dtype.kind == "f":
        quotient = self / other
        return (
            round_to(quotient)
            if round_to is np.trunc
            else np.where(other == 0, quotient, np.floor_divide(self, other))
        )
    check(other.all(), "ZeroDivisionError")
    return np.floor_divide(self, other) if round_to is np.floor else (self - np.fmod(self, other)) // other


def _beside_number(number: float, other: ndarray) -> ndarray:
    """A Python number as an array, in the dtype to which it is promoted with another array."""
    return dtypes.wrapped(number, beside(other, number).dtype)


def _rounded(self: ndarray, other: ndarray, rounding_mode: str | None) -> ndarray:
    message = "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{}'"
    check(rounding_mode in ("trunc", "floor", None), message, rounding_mode)
    if rounding_mode is None:
        return np.true_divide(self, other, dtype=None if self.dtype.kind == "f" else dtypes.default_float())
    return _whole_quotient(rounding_mode, np.floor if rounding_mode == "floor" else np.trunc, self, other)


def _erfc(self: ndarray) -> ndarray:
    return np.array([math.erfc(v) for v in self.ravel().tolist()], self.dtype).reshape(self.shape)


def _sinc(self: ndarray) -> ndarray:
    return np.where(self == 0, 1, np.sin(pi * self) / np.where(self == 0, 1, pi * self)).astype(self.dtype)


def sinc_self(grad, self):
    """∂x = grad · (πx cos(πx) - sin(πx)) / (πx²), and 0 near 0."""
    near = self * self * pi == 0
    x = where(near, 1.0, self)
    angle = x * pi
    return where(near, 0.0, grad * ((angle * cos(angle) - sin(angle)) / (x * x * pi)))


def _lerped(self: ndarray, end: ndarray, weight: object) -> ndarray:
    kernel = f"lerp_kernel_{'tensor' if isinstance(weight, ndarray) else 'scalar'}"
    if not isinstance(weight, ndarray):
        weight = np.asarray(weight).astype(self.dtype)
    check(self.dtype == end.dtype == weight.dtype, "expected dtype {0.c_name} for `end` but got dtype {1.c_name}",
           self.dtype, end.dtype if end.dtype != self.dtype else weight.dtype)  # fmt: skip
    dtypes.require("f", kernel, self.dtype)
    way = end - self
    return np.where(np.abs(weight) < 0.5, self + weight * way, end - way * (1 - weight))


def _logit(self: ndarray, eps: float | None) -> ndarray:
    x = self if eps is None else np.clip(self, eps, 1 - eps)
    return np.log(x / (1 - x))


def logit_self(grad, self, eps):
    """∂x = grad / (x (1 - x)); only between the bounds, if there are any."""
    slope = grad / (self * (1 - self))
    if eps is None:
        return where((self >= 0) & (self <= 1), slope, math.nan)
    return where((self >= eps) & (self <= 1 - eps), slope, 0.0)


def _xlogy(self: ndarray, other: ndarray) -> ndarray:
    return np.where(np.isnan(other), other, np.where(self == 0, 0, self * np.log(other))).astype(self.dtype)


def atan2_slope(self, other):
    """1 / (self² + other²), or 0 at the origin."""
    squares = self * self + other * other
    return where(squares == 0, 0.0, 1.0 / squares)


def _with_quotient(self: ndarray, tensor1: ndarray, tensor2: ndarray, value: float) -> ndarray:
    check(self.dtype.kind == "f", WHOLE_QUOTIENT)
    return self + tensor1 / tensor2 * value


# fmt: off
# ---------------------------------------------------------------- inverse functions

asin = smooth("asin(self)", np.arcsin, aliases="arcsin", doc="The angle whose sine this is: NaN outside of -1..1.",
              self=lambda grad, self: grad * rsqrt(1 - self * self))
acos = smooth("acos(self)", np.arccos, aliases="arccos", doc="The angle whose cosine this is: NaN outside of -1..1.",
              self=lambda grad, self: grad * -rsqrt(1 - self * self))
atan = smooth("atan(self)", np.arctan, aliases="arctan", doc="The angle whose tangent this is.",
              self=lambda grad, self: grad / (self * self + 1))
asinh = smooth("asinh(self)", np.arcsinh, aliases="arcsinh", doc="The number whose hyperbolic sine this is.",
               self=lambda grad, self: grad * rsqrt(self * self + 1))
acosh = smooth("acosh(self)", np.arccosh, aliases="arccosh", doc="The number whose hyperbolic cosine this is: NaN below 1.",
               self=lambda grad, self: grad * rsqrt(self * self - 1))
atanh = smooth("atanh(self)", np.arctanh, aliases="arctanh", doc="The number whose hyperbolic tangent this is.",
               self=lambda grad, self: grad * 1 / (1 - self * self))
atan2 = smooth("atan2(self, other)", np.arctan2, numbers=False, aliases="arctan2",
    doc="The angle, in -π..π, of the point with the coordinates (`other`, `input`). At the origin both derivatives are 0.",
    self=lambda grad, self, other: grad * atan2_slope(self, other) * other,
    other=lambda grad, self, other: grad * atan2_slope(self, other) * -self)
logit = op("logit(self, eps: float=None)", _logit, kind="elementwise", floating=True, doc="`log(x / (1 - x))`, for x in 0..1.",
           self=logit_self)

# ---------------------------------------------------------------- exponentials and logarithms

log10 = smooth("log10(self)", np.log10, doc="The logarithm to base 10.",
               self=lambda grad, self: grad / (self * 2.3025850929940456))
expm1 = smooth("expm1(self)", np.expm1, doc="`exp(input) - 1`, exact near 0.", self=lambda grad, result: grad * (result + 1))
logaddexp = elementwise("logaddexp(self, other)", np.logaddexp, **OF_PAIRS, takes="f", doc="`log(exp(input) + exp(other))`.",
    self=lambda grad, self, other: grad * sigmoid(self - other),
    other=lambda grad, self, other: grad * sigmoid(other - self))
logaddexp2 = elementwise("logaddexp2(self, other)", np.logaddexp2, **OF_PAIRS, takes="f",
    doc="`log2(2 ** input + 2 ** other)`.",
    self=lambda grad, self, other: grad * sigmoid((self - other) * LN2),
    other=lambda grad, self, other: grad * sigmoid((other - self) * LN2))
xlogy = smooth("xlogy(self, other)", _xlogy, doc="`input * log(other)`, and 0 where `input` is 0.",
    self=lambda grad, self, other: where((self == 0) & (other <= 0), 0.0, grad * log(other)),
    other=lambda grad, self, other: grad * self / other)
sinc = smooth("sinc(self)", _sinc, doc="`sin(πx) / (πx)`, and 1 at 0.", self=sinc_self)
erfc = smooth("erfc(self)", _erfc, doc="1 - erf(input).",
              self=lambda grad, self: grad * (-ERF * exp(-(self * self))))
hypot = elementwise("hypot(self, other)", np.hypot, **OF_PAIRS, takes="f", doc="The root of `input² + other²`.",
    self=lambda grad, self, result: grad * (self / result), other=lambda grad, other, result: grad * (other / result))
deg2rad = smooth("deg2rad(self)", np.deg2rad, doc="Degrees in radians.", self=lambda grad: grad * (pi / 180))
rad2deg = smooth("rad2deg(self)", np.rad2deg, doc="Radians in degrees.", self=lambda grad: grad * (180 / pi))

# ---------------------------------------------------------------- rounding and remainders

trunc = step("trunc(self)", np.trunc, aliases="fix", takes="fiu", kernel="trunc_vml_cpu",
             doc="Without the fraction: rounded towards 0.")
frac = elementwise("frac(self)", lambda self: self - np.trunc(self), takes="f",
                   doc="The fraction, with the sign of the number.", self=lambda grad: grad)
fmod_tensor = elementwise("fmod(self, other)", _cut_rest, numbers=False, node="FmodBackward1", self=lambda grad: grad,
    other=lambda grad, self, other: -grad * trunc(self / other),
    doc="The remainder of the division, with the sign of `input`.")
fmod = elementwise("fmod(self, other: Scalar)", _cut_rest, self=lambda grad: grad,
                   doc="The remainder of the division, with the sign of `input`.")
div_rounded = elementwise("div(self, other, *, rounding_mode: str=None)", _rounded, node="DivBackward2",
    aliases="divide", self=lambda grad, other, rounding_mode: no_slope(grad) if rounding_mode else grad / other,
    other=lambda grad, self, other, rounding_mode:
        no_slope(grad) if rounding_mode else -grad * ((self / other) / other),
    doc="`input / other`, rounded down (rounding_mode=\"floor\"), towards 0 (\"trunc\") or not at all (None).")
floor_divide = elementwise("floor_divide(self, other)",
    lambda self, other: _whole_quotient("floor", np.floor, self, other), node="NotImplemented",
    operators="floordiv ifloordiv", doc="`input // other`: the quotient, rounded down.", numbers=False,
    self=lambda grad: check(False, NOT_FLOORED),
    other=lambda grad: check(False, NOT_FLOORED))
floor_divide_number = elementwise("floor_divide(self, other: Scalar)",
    lambda self, other: _whole_quotient("floor", np.floor, self, other), node="NotImplemented",
    operators="floordiv ifloordiv", doc="`input // other`: the quotient, rounded down.",
    self=lambda grad: check(False, NOT_FLOORED))
number_floored = elementwise("floor_divide(self: Scalar, other)",
    lambda other, self: _whole_quotient("floor", np.floor, _beside_number(self, other), other), at="", node="NotImplemented",
    other=lambda grad: check(False, NOT_FLOORED))
remainder_of_number = elementwise("remainder(self: Scalar, other)",
    lambda other, self: _rest(_beside_number(self, other), other), inplace=False, node="NotImplemented",
    other=lambda grad: check(False, NOT_FLOORED.replace("floor_divide", "remainder")))

for _call in (floor_divide, floor_divide_number, number_floored, remainder_of_number):
    _call.op.node_class.name = lambda node: "torch::autograd::NotImplemented"

# ---------------------------------------------------------------- with a number, as inside PyTorch's own functions

add_number = elementwise("add(self, other: Scalar)", lambda self, other: beside(self, other) + other, at="",
                         node="AddBackward1", self=lambda grad: grad)
sub_number = elementwise("sub(self, other: Scalar)", lambda self, other: beside(self, other) - other, at="",
                         node="SubBackward1", self=lambda grad: grad)
mul_number = elementwise("mul(self, other: Scalar)", lambda self, other: beside(self, other) * other, at="",
                         node="MulBackward1", self=lambda grad, other: grad * other)
div_number = elementwise("div(self, other: Scalar)", lambda self, other: self / other, at="", node="DivBackward1",
                         floating=True, self=lambda grad, other: grad / other)

# ---------------------------------------------------------------- blends and bounds

lerp_tensor = elementwise("lerp(self, end, weight)", _lerped, numbers=False, promotes=(), node="LerpBackward1",
    doc="`input + weight * (end - input)`.", self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight, weight=lambda grad, self, end: grad * (end - self))
lerp = elementwise("lerp(self, end, weight: Scalar)", _lerped, numbers=False, promotes=(),
    doc="`input + weight * (end - input)`.",
    self=lambda grad, weight: grad * (1 - weight), end=lambda grad, weight: grad * weight)
addcmul = elementwise("addcmul(self, tensor1, tensor2, *, value: Scalar=1)",
    lambda self, tensor1, tensor2, value: self + tensor1 * tensor2 * fitted(value, self), numbers=False, takes="fiu",
    kernel="addcmul_cpu_out",
    doc="`input + value * tensor1 * tensor2`.", self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value))
addcdiv = elementwise("addcdiv(self, tensor1, tensor2, *, value: Scalar=1)", _with_quotient, numbers=False,
    doc="`input + value * tensor1 / tensor2`.", self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (tensor1 * value / (tensor2 * tensor2)))
fmax = elementwise("fmax(self, other)", np.fmax, **OF_PAIRS, doc="The larger of each pair; if one is NaN, the other.",
    self=lambda grad, self, other: where((self >= other) | (other != other), grad, 0.0),
    other=lambda grad, self, other: where((self >= other) | (other != other), 0.0, grad))
fmin = elementwise("fmin(self, other)", np.fmin, **OF_PAIRS, doc="The smaller of each pair; if one is NaN, the other.",
    self=lambda grad, self, other: where((self <= other) | (other != other), grad, 0.0),
    other=lambda grad, self, other: where((self <= other) | (other != other), 0.0, grad))
copysign = elementwise("copysign(self, other)", np.copysign, numbers=False, floating=True,
    doc="The absolute value of `input` with the sign of `other`.", other=lambda grad: no_slope(grad),
    self=lambda grad, self, result: where(self == 0, 0.0, grad * (result / self)))
copysign_of_number = elementwise("copysign(self, other: Scalar)", lambda self, other:
        np.copysign(self, other).astype(self.dtype), floating=True, node="CopysignBackward1",
    doc="The absolute value of `input` with the sign of a number.",
    self=lambda grad, self, result: where(self == 0, 0.0, grad * (result / self)))

# ---------------------------------------------------------------- questions and bits

signbit = question("signbit(self)", lambda self: np.signbit(self) if self.dtype.kind == "f" else self < 0,
                   doc="True where an element is negative, including -0.0.")
isposinf = question("isposinf(self)", lambda self: self == np.inf, doc="True where an element is inf.")
isneginf = question("isneginf(self)", lambda self: self == -np.inf, doc="True where an element is -inf.")
logical_xor = elementwise("logical_xor(self, other)", np.logical_xor, numbers=False,
                          doc="True where exactly one of the two is nonzero.")
# fmt: on


METHODS["__rfloordiv__"] = reflected(lambda self, other: number_floored(other, self))
METHODS["__rmod__"] = reflected(lambda self, other: remainder_of_number(other, self))


@function("torch Tensor")
def float_power(self: Tensor, exponent: object) -> Tensor:
    """`input ** exponent`, computed in double precision."""
    message = "float_power(): argument 'exponent' must be Tensor or Number, not {}"
    check(isinstance(exponent, (Tensor, *NUMBERS)), message, type(exponent), error=TypeError)
    # computed first, as in PyTorch's graph
    exponent = exponent.double() if isinstance(exponent, Tensor) else exponent
    return self.double() ** exponent


@function("torch Tensor")
def positive(self: Tensor) -> Tensor:
    """The tensor itself. Raises RuntimeError for bools."""
    check(self._array.dtype.kind != "b", "The `+` operator, on a bool tensor is not supported.")
    return self


METHODS["__pos__"] = METHODS["positive"]


# Functions of the elements that PyTorch also has in place, as `torch.name_(x)`.
WRITTEN = """abs acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil clamp clamp_max clamp_min
clip cos cosh deg2rad erf erfc exp exp2 expm1 fix floor frac log log10 log1p log2 logit nan_to_num neg negative rad2deg
reciprocal round rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc xlogy fill zero"""
FUNCTIONS.update({f"{name}_": METHODS[f"{name}_"] for name in WRITTEN.split()})
