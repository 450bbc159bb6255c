"""Mathematics on each element: arithmetic, powers, the functions of calculus, copies and casts.

Also comparisons of elements and choices between them: ==, where, maximum, clamp. Activations: activations.py.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from .. import dtypes, messages
from ..basics import check
from ..tensor import Tensor
from .signature import NUMBERS
from .table import METHODS, add_form, function, op, public

ndarray = np.ndarray
elementwise = functools.partial(op, kind="elementwise")
question = functools.partial(op, kind="elementwise", inplace=False)
smooth = functools.partial(op, kind="elementwise", floating=True)  # integers are computed in floating point
step = functools.partial(op, kind="elementwise", self=lambda grad: no_slope(grad))
OF_PAIRS = {"numbers": False, "inplace": False}
BITS = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)}  # unsigned numbers with the same number of bytes
pi, LN2, ERF = math.pi, math.log(2), 2 / math.sqrt(math.pi)

# ---------------------------------------------------------------- on arrays


def beside(self: ndarray, *numbers: object) -> ndarray:
    """An array in the dtype that it takes with Python numbers: integers become floats with a float."""
    if self.dtype.kind != "f" and any(isinstance(n, float) for n in numbers):
        return self.astype(dtypes.default_float())
    return self.astype(np.int64) if self.dtype.kind == "b" and int in map(type, numbers) else self


def _near(self: ndarray, other: ndarray, rtol: float, atol: float, equal_nan: bool) -> ndarray:
    check(self.dtype == other.dtype, "{0.word} did not match {1.word}", self.dtype, other.dtype)
    for name, bound in (("rtol", rtol), ("atol", atol)):
        check(bound >= 0, "{} must be greater than or equal to zero, but got {:g}", name, bound)
    return np.isclose(self, other, rtol, atol, equal_nan)


NO_MASK = "where expected condition to be a boolean tensor, but got a tensor with dtype {0.word}"
NO_MASK_TO_FILL = "masked_fill_ only supports boolean masks, but got mask with dtype {0.c_name}"


def _where(condition: ndarray, self: ndarray, other: ndarray, message: str = NO_MASK) -> ndarray:
    check(condition.dtype.kind == "b", message, condition.dtype)
    if type(other) is not float or other != 0 or type(self) is not ndarray:
        return np.where(condition, self, other)
    # in a rule: a product of bits with 1 or 0 is quicker than np.where
    bits = BITS[self.itemsize]
    return (self.view(bits) * condition.astype(bits)).view(self.dtype)


def fitted(value: object, self: ndarray) -> object:
    """A number that fits an integer dtype; with floats, NumPy accepts any number."""
    fits = self.dtype.kind == "f" or isinstance(value, ndarray)
    return value if fits else dtypes.fitting(value, self.dtype)


def _filled(self: ndarray, value: ndarray) -> ndarray:
    message = "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions."
    check(not value.ndim, message, value.ndim)
    return np.full(self.shape, value, self.dtype)


def _masked_fill(self: ndarray, mask: ndarray, value: object) -> ndarray:
    return _where(mask, fitted(value, self), self, NO_MASK_TO_FILL)


def _clamp(self: ndarray, min: object, max: object) -> ndarray:
    check(min is not None or max is not None, "torch.clamp: At least one of 'min' or 'max' must not be None")
    self = beside(self, min, max)
    raised = self if min is None else np.maximum(self, fitted(min, self))
    return raised if max is None else np.minimum(raised, fitted(max, self))


def _between(self: ndarray, min: ndarray | None, max: ndarray | None) -> ndarray:
    check(min is not None or max is not None, "torch.clamp: At least one of 'min' or 'max' must not be None")
    raised = self if min is None else np.maximum(self, min)
    return raised if max is None else np.minimum(raised, max)


def between_self(grad, self, min, max):
    """The gradient where `self` is within its bounds."""
    grad = grad if min is None else where(self >= min, grad, 0.0)
    return grad if max is None else where(self <= max, grad, 0.0)


def between_min(grad, self, min, max):
    """Where the lower bound is the result, `min` gets the gradient."""
    below = self < min
    return where(below if max is None else below & (min < max), grad, 0.0)


def between_max(grad, self, min, max):
    """Where the upper bound is the result, `max` gets the gradient."""
    above = self > max
    return where(above if min is None else above | (max < min), grad, 0.0)


def within(x, min, max):
    """A mask of the elements between two bounds, each included; one may be None."""
    if min is None:
        return x <= max
    return x >= min if max is None else (x >= min) & (x <= max)


def _scaled(x: ndarray, alpha: float) -> ndarray:
    message = "For integral input tensors, argument alpha must not be a floating point number."
    check(type(alpha) is int or x.dtype.kind not in "iu", message)
    return x * dtypes.fitting(alpha, x.dtype)


def _rest(self: ndarray, other: object) -> ndarray:
    self = beside(self, other)
    other = np.asarray(other, self.dtype)
    dtypes.require("fiu", "remainder_cpu", self.dtype)
    check(self.dtype.kind == "f" or other.all(), "ZeroDivisionError")
    return np.remainder(self, other)


def power(base, exponent: float):
    """base ** exponent for a Python number; a cube as a product, because NumPy's power is much slower."""
    return base * base * base if exponent == 3 else base**exponent


def _power(self: ndarray, exponent: float) -> ndarray:
    check(self.dtype.kind != "u" or type(exponent) is float or exponent >= 0, messages.NEGATIVE_POWER)
    return power(beside(self, exponent), exponent)


def _from_number(self: ndarray, other: float) -> ndarray:
    check(self.dtype.kind != "b", messages.ONE_BOOL)
    return other - beside(self, other)


def _sigmoid(self: ndarray) -> ndarray:
    y = np.asarray(np.negative(self))
    np.exp(y, out=y)
    y += 1
    return np.reciprocal(y, out=y)


@functools.cache
def erf_table(dtype: np.dtype) -> tuple[ndarray, ndarray]:
    """The error function, which NumPy lacks, and its derivative: 4096 points per unit from -6 to 6; beyond,
    it is -1 or 1."""
    points = np.arange(-6 * 4096, 6 * 4096 + 1) / 4096
    values = np.array([math.erf(p) for p in points.tolist()], dtype)
    return values, (ERF * np.exp(-points * points)).astype(dtype)


def _erf(self: ndarray) -> ndarray:
    """The value at the nearest point of the table, and from there Taylor's series: three terms suffice."""
    (values, slopes), x = erf_table(self.dtype), np.clip(self, -6, 6)
    place = np.rint(x * 4096)
    index = (place + 6 * 4096).astype(np.intp)
    c = place / 4096
    d = x - c  # NaN stays NaN, whichever row `clip` assigns to it
    series = (((2 * c * c - 1) / 3 * d - c) * d + 1) * d
    return values.take(index, mode="clip") + slopes.take(index, mode="clip") * series


def power_self(grad, self, exponent):
    """∂self^n = n self^(n-1): also at 0, for the powers 0 and 1."""
    if exponent == 2:
        return grad * (self + self)
    return no_slope(grad) if exponent == 0 else grad * (power(self, exponent - 1) * exponent)


# fmt: off
# ---------------------------------------------------------------- true or false: no derivative

# What does not change has the derivative zero: zeros in the shape of the gradient.
no_slope = question("no_slope(grad)", lambda grad: np.zeros(grad.shape, grad.dtype), at="")

eq = question("eq(self, other)", np.equal, operators="eq", doc="Elementwise `input == other`.")
ne = question("ne(self, other)", np.not_equal, operators="ne", aliases="not_equal", doc="Elementwise `input != other`.")
lt = question("lt(self, other)", np.less, operators="lt", aliases="less", doc="Elementwise `input < other`.")
le = question("le(self, other)", np.less_equal, operators="le", aliases="less_equal", doc="Elementwise `input <= other`.")
gt = question("gt(self, other)", np.greater, operators="gt", aliases="greater", doc="Elementwise `input > other`.")
ge = question("ge(self, other)", np.greater_equal, operators="ge", aliases="greater_equal", doc="Elementwise `input >= other`.")
isnan = question("isnan(self)", np.isnan, doc="True where an element is NaN.")
isinf = question("isinf(self)", np.isinf, doc="True where an element is infinite, of either sign.")
isfinite = question("isfinite(self)", np.isfinite, doc="True where an element is neither infinite nor NaN.")
isclose = op("isclose(self, other, rtol: float=1e-05, atol: float=1e-08, equal_nan: bool=False)", _near,
             batch="elementwise", doc="Where `|input - other| <= atol + rtol * |other|`.")
logical_and = elementwise("logical_and(self, other)", np.logical_and, numbers=False, doc="True where both are nonzero.")
logical_or = elementwise("logical_or(self, other)", np.logical_or, numbers=False, doc="True where either is nonzero.")
logical_not = elementwise("logical_not(self)", np.logical_not, doc="True where the element is zero, whatever the dtype.")
bitwise_and = elementwise("bitwise_and(self, other)", np.bitwise_and, operators="and rand iand", doc="`input & other`.")
bitwise_or = elementwise("bitwise_or(self, other)", np.bitwise_or, operators="or ror ior", doc="`input | other`.")
bitwise_xor = elementwise("bitwise_xor(self, other)", np.bitwise_xor, operators="xor rxor ixor", doc="`input ^ other`.")
bitwise_not = elementwise("bitwise_not(self)", np.invert, operators="invert", doc="Each bit inverted; logical NOT for bools.")

# ---------------------------------------------------------------- choices

where = elementwise("where(condition, self, other)", _where, at="torch",
    doc="Elements of `input` where `condition` holds, else of `other`. A gradient reaches only the elements that were chosen; "
        "the others get an exact zero, even where the incoming gradient is not finite.",
    self=lambda grad, condition: where(condition, grad, 0.0), other=lambda grad, condition: where(condition, 0.0, grad))
masked_fill_tensor = elementwise("masked_fill(self, mask, value)", _masked_fill, numbers=False, node="MaskedFillBackward1",
    doc="`value`, a 0-d tensor, where `mask` holds, else `input`.", self=lambda grad, mask: masked_fill(grad, mask, 0.0),
    value=lambda grad, mask: masked_fill(grad, ~mask, 0.0))
masked_fill = elementwise("masked_fill(self, mask, value: Scalar)", _masked_fill,
    doc="`value` where `mask` holds, else `input`.", self=lambda grad, mask: masked_fill(grad, mask, 0.0))
maximum = elementwise("maximum(self, other)", np.maximum, **OF_PAIRS,
    doc="The larger of each pair, NaN if one is NaN. Equal ones share the gradient, half to each.", aliases="max",
    self=lambda grad, self, other: where(self < other, 0.0, where(self == other, grad / 2, grad)),
    other=lambda grad, self, other: where(self > other, 0.0, where(self == other, grad / 2, grad)))
minimum = elementwise("minimum(self, other)", np.minimum, **OF_PAIRS,
    doc="The smaller of each pair, NaN if one is NaN. Equal ones share the gradient, half to each.", aliases="min",
    self=maximum.op.rules["other"], other=maximum.op.rules["self"])
clamp_tensors = elementwise("clamp(self, min=None, max=None)", _between, numbers=False, node="ClampBackward0", aliases="clip",
    doc="First `min` replaces what is below it, then `max` what is above it. Gradients go to where elements came from.",
    self=between_self, min=lambda grad, self, min, max: between_min(grad, self, min, max),
    max=lambda grad, self, min, max: between_max(grad, self, min, max))
clamp = elementwise("clamp(self, min: Scalar=None, max: Scalar=None)", _clamp, node="ClampBackward1", aliases="clip",
    doc="Elements below `min` become `min`, then those above `max` become `max`. At a bound the derivative is 1.",
    self=lambda grad, self, min, max: where(within(self, min, max), grad, 0.0))
clamp_min_tensor = elementwise("clamp_min(self, min)", np.maximum, numbers=False, node="ClampMinBackward1",
    doc="Elements below `min` become `min`.", self=lambda grad, self, min: where(self >= min, grad, 0.0),
    min=lambda grad, self, min: where(self < min, grad, 0.0))
clamp_min = elementwise("clamp_min(self, min: Scalar)", lambda self, min: _clamp(self, min, None),
    doc="Elements below `min` become `min`.", self=lambda grad, self, min: where(self >= min, grad, 0.0))
clamp_max_tensor = elementwise("clamp_max(self, max)", np.minimum, numbers=False, node="ClampMaxBackward1",
    doc="Elements above `max` become `max`.", self=lambda grad, self, max: where(self <= max, grad, 0.0),
    max=lambda grad, self, max: where(self > max, grad, 0.0))
clamp_max = elementwise("clamp_max(self, max: Scalar)", lambda self, max: _clamp(self, None, max),
    doc="Elements above `max` become `max`.", self=lambda grad, self, max: where(self <= max, grad, 0.0))
# ---------------------------------------------------------------- arithmetic

add = elementwise("add(self, other)", np.add, number_first=True, operators="add radd iadd", doc="`input + other`.",
                  self=lambda grad: grad, other=lambda grad: grad)
add_alpha = elementwise("add(self, other, *, alpha: Scalar=1)", lambda x, y, alpha: x + _scaled(y, alpha),
                        number_first=True, doc="`input + alpha * other`.", self=lambda grad: grad,
                        other=lambda grad, alpha: grad * alpha)
sub = elementwise("sub(self, other)", np.subtract, number_first=True, operators="sub isub", aliases="subtract",
                  doc="`input - other`.", self=lambda grad: grad, other=lambda grad: -grad)
sub_alpha = elementwise("sub(self, other, *, alpha: Scalar=1)", lambda x, y, alpha: x - _scaled(y, alpha),
                        number_first=True, doc="`input - alpha * other`.", self=lambda grad: grad,
                        other=lambda grad, alpha: -grad * alpha)
rsub = elementwise("rsub(self, other: Scalar)", _from_number, at="", node="RsubBackward1", self=lambda grad: -grad)
for _call in (add, sub, rsub):
    _call.op.node_class._saved_alpha = 1  # on the class: a plain sum stores nothing
mul = elementwise("mul(self, other)", np.multiply, number_first=True, operators="mul rmul imul",
                  aliases="multiply", doc="`input * other`.",
                  self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
neg = op("neg(self)", np.negative, kind="linear", batch="elementwise", operators="neg", aliases="negative", inplace=True,
         doc="`-input`.", self=lambda grad: -grad)
div = smooth("div(self, other)", np.true_divide, number_first=True, operators="truediv itruediv",
             aliases="divide true_divide", doc="`input / other`.", self=lambda grad, other: grad / other,
             other=lambda grad, self, other: -grad * ((self / other) / other))
remainder_tensor = elementwise("remainder(self, other)", _rest, numbers=False, node="RemainderBackward1", operators="mod imod",
                               doc="The remainder of a division, with the sign of `other`.", self=lambda grad: grad,
                               other=lambda grad, self, other: -grad * floor(self / other))
remainder = elementwise("remainder(self, other: Scalar)", _rest, operators="mod imod",
                        doc="The remainder of a division, with the sign of `other`.", self=lambda grad: grad)
reciprocal = smooth("reciprocal(self)", np.reciprocal, doc="`1 / input`: inf at 0.",
                    self=lambda grad, result: -grad * (result * result))
pow_tensor = elementwise("pow(self, exponent)", np.power, numbers=False, node="PowBackward1",
    operators="pow ipow", takes="fiu", kernel="pow", doc="`input ** exponent`. At 0 ** 0 both derivatives are 0.",
    self=lambda grad, self, exponent: where(exponent == 0, 0.0, grad * (exponent * self ** (exponent - 1))),
    exponent=lambda grad, self, exponent, result: grad * where((self == 0) & (exponent >= 0), 0.0, result * log(self)))
pow = elementwise("pow(self, exponent: Scalar)", _power, operators="pow ipow", doc="`input ** exponent`.", self=power_self)
pow_of_number = elementwise("pow(self: Scalar, exponent)", lambda exponent, self: np.power(dtypes.wrapped(
    self, beside(exponent, self).dtype), beside(exponent, self)), node="PowBackward2", inplace=False,
    doc="`input ** exponent`. At 0 ** 0 both derivatives are 0.", exponent=lambda grad, self, exponent, result:
        grad * (result * float(np.log(self)) if self else where(exponent >= 0, 0.0, result * -math.inf)))
square = elementwise("square(self)", lambda x: np.square(beside(x, 2)), node="PowBackward0", doc="`input ** 2`.",
                     self=lambda grad, self: grad * (self + self))
square.op.node_class._saved_exponent = 2

# ---------------------------------------------------------------- exponentials, logarithms, roots, angles

exp = smooth("exp(self)", np.exp, doc="e to the power of each element.", self=lambda grad, result: grad * result)
exp2 = smooth("exp2(self)", np.exp2, doc="2 to the power of each element.", self=lambda grad, result: grad * result * LN2)
log = smooth("log(self)", np.log, doc="The natural logarithm: -inf at 0, NaN below.", self=lambda grad, self: grad / self)
log2 = smooth("log2(self)", np.log2, doc="The logarithm to base 2.", self=lambda grad, self: grad / (self * LN2))
log1p = smooth("log1p(self)", np.log1p, node="Log1PBackward0", doc="`log(1 + input)`, exact near 0.",
               self=lambda grad, self: grad / (self + 1))
sqrt = smooth("sqrt(self)", np.sqrt, doc="The square root: slope inf at 0.", self=lambda grad, result: grad / (2 * result))
rsqrt = smooth("rsqrt(self)", lambda self: np.reciprocal(np.sqrt(self)), doc="`1 / sqrt(input)`: inf at 0, NaN below.",
               self=lambda grad, result: -0.5 * grad * (result * result * result))
sin = smooth("sin(self)", np.sin, doc="The sine, of radians.", self=lambda grad, self: grad * cos(self))
cos = smooth("cos(self)", np.cos, doc="The cosine, of radians.", self=lambda grad, self: grad * -sin(self))
tan = smooth("tan(self)", np.tan, doc="The tangent, of radians.", self=lambda grad, result: grad * (1 + result * result))
sinh = smooth("sinh(self)", np.sinh, doc="`(exp(input) - exp(-input)) / 2`.", self=lambda grad, self: grad * cosh(self))
cosh = smooth("cosh(self)", np.cosh, doc="`(exp(input) + exp(-input)) / 2`.", self=lambda grad, self: grad * sinh(self))
tanh = smooth("tanh(self)", np.tanh, at="torch Tensor F", doc="`sinh / cosh`, between -1 and 1.",
              self=lambda grad, result: grad * (1 - result * result))
sigmoid = smooth("sigmoid(self)", _sigmoid, at="torch Tensor F", doc="`1 / (1 + exp(-input))`: between 0 and 1.",
                 self=lambda grad, result: grad * ((1 - result) * result))
erf = smooth("erf(self)", _erf, doc="The error function: 2 / sqrt(pi) times the integral of exp(-t²) from 0 to `input`.",
             self=lambda grad, self: grad * (ERF * exp(-(self * self))))

# ---------------------------------------------------------------- signs and rounding

abs = elementwise("abs(self)", np.absolute, operators="abs", aliases="absolute", takes="fiu",
                  doc="The absolute value, with slope 0 at 0.", self=lambda grad, self: grad * sign(self))
sgn, sign = [step(f"{name}(self)", lambda self: np.subtract(self > 0, self < 0, dtype=np.int8).astype(self.dtype),  # 0 for NaN
                  doc="-1, 0 or 1 for a negative, zero or positive element.") for name in ("sgn", "sign")]
floor = step("floor(self)", np.floor, takes="fiu", kernel="floor_vml_cpu", doc="The largest integer not above the element.")
ceil = step("ceil(self)", np.ceil, takes="fiu", kernel="ceil_vml_cpu", doc="The smallest integer not below the element.")
round = step("round(self)", ndarray.round, takes="fiu", kernel="round_vml_cpu", doc="The nearest integer, ties to even.")
round_decimals = step("round(self, *, decimals: int=0)", ndarray.round, node="RoundBackward1", doc="With `decimals` places.")
nan_to_num = elementwise("nan_to_num(self, nan: float=None, posinf: float=None, neginf: float=None)",
                         lambda self, nan, posinf, neginf: np.nan_to_num(self, True, nan or 0.0, posinf, neginf),
                         doc="NaN replaced by `nan`, infinities by `posinf`, `neginf` (the largest finite numbers).",
                         self=lambda grad, self: where(isfinite(self), grad, 0.0))

# ---------------------------------------------------------------- copies, casts, writes that ignore the old value

clone = op("clone(self)", ndarray.copy, kind="linear", batch="elementwise", doc="A copy that is part of the graph.",
           self=lambda grad: grad)
to_copy = op("to_copy(self, dtype: dtype)", ndarray.astype, kind="linear", batch="elementwise", broadcasts=True, at="",
             self=lambda grad: grad)
copy = op("copy(self, other, non_blocking: bool=False)", lambda self, other, non_blocking=False:
              (other if other.shape == self.shape else np.broadcast_arrays(self, other)[1]).astype(self.dtype), at="",
          node="CopyBackwards", kind="jointly linear", batch="rows", broadcasts=True, numbers=True,
          doc="`other`, a tensor or a number, broadcast and cast. non_blocking changes nothing.",
          self=lambda grad: no_slope(grad), other=lambda grad: grad)
copy.op.node_class.name = lambda node: "torch::autograd::CopyBackwards"
fill = step("fill(self, value: Scalar)", np.full_like, at="", node="FillBackward2", doc="Every element set to the number.")
fill_tensor = op("fill(self, value)", _filled, at="",
                 node="FillBackward3", kind="jointly linear", doc="Every element set to the number that a 0-d tensor holds.",
                 batch=lambda self, value: value.to(self.dtype).expand(self.shape),
                 self=lambda grad: no_slope(grad), value=lambda grad: grad.sum())
zero = step("zero(self)", np.zeros_like, at="", doc="Every element 0.")
for _call in (copy, fill_tensor, fill, zero):
    add_form(METHODS, _call.op.name + "_", public(_call.op, _call.op.name + "_", in_place=True))
# fmt: on

# ---------------------------------------------------------------- operators and methods


def reflected(run: Callable) -> Callable:
    """An operator of a number and a tensor; for an unknown operand, Python tries that operand's own."""
    return lambda self, other: run(self, other) if isinstance(other, NUMBERS) else NotImplemented


METHODS["__rsub__"] = reflected(rsub)
# so PyTorch records it, for arrays, too
METHODS["__rtruediv__"] = lambda self, other: reciprocal(self) * other
METHODS["__rpow__"] = reflected(lambda self, other: pow_of_number(other, self))


@function("torch Tensor")
def equal(self: Tensor, other: Tensor) -> bool:
    """True if both have the same shape and elements."""
    return self.shape == other.shape and bool((self == other).all())


@function("torch Tensor")
def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False):
    """True if `isclose` holds everywhere."""
    return bool(isclose(self, other, rtol, atol, equal_nan).all())
