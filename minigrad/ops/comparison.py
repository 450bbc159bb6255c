"""Questions about elements, and choices between them: ==, where, maximum, clamp. The rules say what happens at a tie."""

from __future__ import annotations

from functools import partial

import numpy as np

from .. import dtypes
from ..tensor import Tensor
from .publish import function
from .table import op

ndarray = np.ndarray
elementwise = partial(op, kind="elementwise")
question = partial(op, kind="elementwise", inplace=False)

# ---------------------------------------------------------------- on arrays


def beside(self: ndarray, *numbers: object) -> ndarray:
    """An array in the dtype that it takes beside these Python numbers: integers become floats beside a float."""
    if self.dtype.kind != "f" and any(isinstance(n, float) for n in numbers):
        return self.astype(dtypes.default_float())
    return self.astype(np.int64) if self.dtype.kind == "b" and type(numbers[0]) is int else self


def _near(self: ndarray, other: ndarray, *options: object) -> ndarray:
    if self.dtype != other.dtype:
        raise RuntimeError(f"{dtypes.word(self.dtype)} did not match {dtypes.word(other.dtype)}")
    return np.isclose(self, other, *options)


def _where(condition: ndarray, self: ndarray, other: ndarray) -> ndarray:
    if condition.dtype.kind != "b":
        told = f"but got a tensor with dtype {dtypes.word(condition.dtype)}"
        raise RuntimeError(f"where expected condition to be a boolean tensor, {told}")
    return np.where(condition, self, other)


def fitted(value: object, self: ndarray) -> object:
    """A number for which integers have room; beside floats NumPy takes any."""
    fits = self.dtype.kind == "f" or isinstance(value, ndarray)
    return value if fits else dtypes.fitting(value, self.dtype)


def _masked_fill(self: ndarray, mask: ndarray, value: object) -> ndarray:
    if mask.dtype.kind != "b":
        name = dtypes.of_numpy(mask.dtype).c_name
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {name}")
    return np.where(mask, fitted(value, self), self)


def _clamp(self: ndarray, min: object, max: object) -> ndarray:
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    self = beside(self, min, max)
    raised = self if min is None else np.maximum(self, fitted(min, self))
    return raised if max is None else np.minimum(raised, fitted(max, self))


def within(x, min, max):
    """A mask of the elements between two bounds, each included; one may be None."""
    if min is None:
        return x <= max
    return x >= min if max is None else (x >= min) & (x <= max)


# fmt: off
# ---------------------------------------------------------------- true or false: no derivative

# What does not change has the derivative zero: zeros in the shape of the gradient.
no_slope = question("no_slope(grad)", lambda grad: np.zeros(grad.shape, grad.dtype), at="")

eq = question("eq(self, other)", np.equal, operators="eq", doc="`self == other` of each pair of elements.")
ne = question("ne(self, other)", np.not_equal, operators="ne", aliases="not_equal", doc="`self != other` of each pair.")
lt = question("lt(self, other)", np.less, operators="lt", aliases="less", doc="`self < other` of each pair.")
le = question("le(self, other)", np.less_equal, operators="le", aliases="less_equal", doc="`self <= other` of each pair.")
gt = question("gt(self, other)", np.greater, operators="gt", aliases="greater", doc="`self > other` of each pair.")
ge = question("ge(self, other)", np.greater_equal, operators="ge", aliases="greater_equal", doc="`self >= other` of each.")
isnan = question("isnan(self)", np.isnan, doc="True where an element is NaN.")
isinf = question("isinf(self)", np.isinf, doc="True where an element is infinite, of either sign.")
isfinite = question("isfinite(self)", np.isfinite, doc="True where an element is neither infinite nor NaN.")
isclose = op("isclose(self, other, rtol: float=1e-05, atol: float=1e-08, equal_nan: bool=False)", _near,
             batch="elementwise", doc="Where `|self - other| <= atol + rtol * |other|`.")
logical_and = elementwise("logical_and(self, other)", np.logical_and, numbers=False, doc="True where both are nonzero.")
logical_or = elementwise("logical_or(self, other)", np.logical_or, numbers=False, doc="True where one of both is nonzero.")
logical_xor = elementwise("logical_xor(self, other)", np.logical_xor, numbers=False, doc="True where just one is nonzero.")
logical_not = elementwise("logical_not(self)", np.logical_not, doc="True where the element is zero, whatever the dtype.")
bitwise_and = elementwise("bitwise_and(self, other)", np.bitwise_and, operators="and rand iand", doc="`self & other`.")
bitwise_or = elementwise("bitwise_or(self, other)", np.bitwise_or, operators="or ror ior", doc="`self | other`.")
bitwise_xor = elementwise("bitwise_xor(self, other)", np.bitwise_xor, operators="xor rxor ixor", doc="`self ^ other`.")
bitwise_not = elementwise("bitwise_not(self)", np.invert, operators="invert", doc="Each bit inverted; for bools, not.")

# ---------------------------------------------------------------- choices

where = elementwise(
    "where(condition, self, other)", _where, at="torch",
    doc="Elements of `self` where `condition` holds, else of `other`. A gradient reaches only the elements that were chosen; "
        "the others get an exact zero, even where theirs is not finite.",
    self=lambda grad, condition: where(condition, grad, 0.0),
    other=lambda grad, condition: where(condition, 0.0, grad))
masked_fill_tensor = elementwise(
    "masked_fill(self, mask, value)", _masked_fill, numbers=False, node="MaskedFillBackward1",
    self=lambda grad, mask: masked_fill(grad, mask, 0.0), value=lambda grad, mask: masked_fill(grad, ~mask, 0.0))
masked_fill = elementwise(
    "masked_fill(self, mask, value: Scalar)", _masked_fill, doc="`value` where `mask` holds, else `self`.",
    self=lambda grad, mask: masked_fill(grad, mask, 0.0))
maximum = elementwise(
    "maximum(self, other)", np.maximum, numbers=False, inplace=False, aliases="max",
    doc="The larger of each pair, NaN if one is NaN. Equal ones share the gradient, half to each.",
    self=lambda grad, self, other: where(self < other, 0.0, where(self == other, grad / 2, grad)),
    other=lambda grad, self, other: where(self > other, 0.0, where(self == other, grad / 2, grad)))
minimum = elementwise(
    "minimum(self, other)", np.minimum, numbers=False, inplace=False, aliases="min",
    doc="The smaller of each pair, NaN if one is NaN. Equal ones share the gradient, half to each.",
    self=lambda grad, self, other: where(self > other, 0.0, where(self == other, grad / 2, grad)),
    other=lambda grad, self, other: where(self < other, 0.0, where(self == other, grad / 2, grad)))
clamp_tensors = elementwise(
    "clamp(self, min=None, max=None)", _clamp, numbers=False, node="ClampBackward0", aliases="clip",
    self=lambda grad, self, min, max: where(within(self, min, max), grad, 0.0),
    min=lambda grad, self, min, max: where(self < min if max is None else (self < min) & (min < max), grad, 0.0),
    max=lambda grad, self, min, max: where(self > max if min is None else (self > max) | (max < min), grad, 0.0))
clamp = elementwise(
    "clamp(self, min: Scalar=None, max: Scalar=None)", _clamp, node="ClampBackward1", aliases="clip",
    doc="The elements, those below `min` raised to it, then those above `max` lowered. At a bound the derivative is 1.",
    self=lambda grad, self, min, max: where(within(self, min, max), grad, 0.0))
clamp_min = elementwise("clamp_min(self, min: Scalar)", np.maximum, at="",
                        self=lambda grad, self, min: where(self >= min, grad, 0.0))
# fmt: on


@function("torch Tensor")
def equal(self: Tensor, other: Tensor) -> bool:
    """True if both have the same shape and elements."""
    return self.shape == other.shape and bool((self == other).all())


@function("torch Tensor")
def allclose(
    self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """True if `isclose` holds everywhere."""
    return bool(isclose(self, other, rtol, atol, equal_nan).all())
