"""Choosing between values, element by element: where, maximum, clamp. Their derivatives say what happens at a tie."""

from __future__ import annotations

import builtins
import functools
import operator
import warnings
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..memory import in_rows
from ..tensor import Tensor, full_name, wrap
from .arguments import explain
from .inplace import in_both_forms
from .table import define, function, method, operand

ndarray = np.ndarray

zeros_like = define("zeros_like", lambda x: np.zeros(x.shape, x.dtype), kind="elementwise", self=None)


def refuse(array: ndarray, kinds: str, kernel: str) -> None:
    """Raise PyTorch's error for a dtype (of a kind of "b", "i", "u", "f") that an operation does not take."""
    if array.dtype.kind in kinds:
        raise dtypes.not_implemented(kernel, array.dtype)


def beside(input: Tensor, *numbers: object) -> Tensor:
    """`input` in the dtype that it takes beside these Python numbers: an integer tensor becomes float beside a float."""
    if not isinstance(input, Tensor):
        raise TypeError(f"argument 'input' (position 1) must be Tensor, not {full_name(type(input))}")
    kind = input._array.dtype.kind
    if kind == "f":
        return input
    if builtins.any(isinstance(n, (float, np.floating)) for n in numbers):
        return input.to(dtypes.get_default_dtype())
    if kind == "b" and builtins.any(type(n) is int for n in numbers):
        return input.long()
    return input


# ---------------------------------------------------------------- where
#
# np.where decides for each element, which takes long where the processor cannot guess the answer; multiplying the bits of
# numbers by 0 and 1 does not.

BITS = {kind: np.dtype(f"i{np.dtype(kind).itemsize}") for kind in "efdbBhilq"}
MANY = 1024  # elements from which on it pays to write into memory of one's own first


def masked(x: ndarray, mask: ndarray) -> ndarray:
    """`x` where `mask` holds, else an exact zero, even for NaN."""
    dtype = x.dtype
    if x.size < MANY:
        out = np.zeros(x.shape, dtype)
        np.putmask(out, mask, x)
        return out
    integers = BITS[dtype.char]
    bits = mask.astype(integers)
    bits *= x.view(integers)
    return bits.view(dtype)


def kept(x: ndarray, mask: ndarray) -> ndarray:
    """`masked`, written over `x`, which nobody else has."""
    bits = x.view(BITS[x.dtype.char])
    bits *= mask.astype(bits.dtype)
    return x


def chosen(mask: ndarray, x: ndarray, other: ndarray) -> ndarray:
    """`np.where`, for arrays and numbers."""
    if type(x) is not ndarray or type(other) is not ndarray:
        return np.where(mask, x, other)
    dtype = x.dtype
    if mask.size < 4 * MANY:
        if other.dtype != dtype or not x.shape == other.shape == mask.shape:
            return np.where(mask, x, other)
        out = other.copy()
        np.putmask(out, mask, x)
        return out
    sizes = mask.shape, ()
    if other.dtype != dtype or mask.dtype != bool or x.shape not in sizes or other.shape not in sizes:
        return np.where(mask, x, other)
    bits = mask.astype(BITS[dtype.char])
    from_other = other.view(bits.dtype)
    np.negative(bits, out=bits)  # all ones where the mask holds
    bits &= x.view(bits.dtype) ^ from_other
    bits ^= from_other
    return bits.view(dtype)


_where = define(
    "where", chosen, kind="elementwise",
    condition=None,
    self=lambda grad, condition: where(condition, grad, 0.0),
    other=lambda grad, condition: where(condition, 0.0, grad),
)  # fmt: skip


def where(
    condition: Tensor, input: Tensor | float | None = None, other: Tensor | float | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Elements of `input` where `condition` holds, else of `other`; with one argument the indices where it holds.

    A gradient reaches only the elements that were chosen; the others get an exact zero, even where theirs is not finite.
    """
    plain = (
        type(condition) is ndarray and type(input) is ndarray and type(other) is float
    )  # what most rules give
    if plain and not other and input.shape == condition.shape:
        return masked(input, condition)
    if type(input) is Tensor and type(other) is Tensor and type(condition) is Tensor:
        if condition._array.dtype.kind == "b":
            return _where(condition, input, other)
    elif not (isinstance(condition, Tensor) or isinstance(input, Tensor) or isinstance(other, Tensor)):
        if type(input) is float and not input and type(other) is ndarray and other.shape == condition.shape:
            return masked(other, ~condition)
        return chosen(condition, input, other)  # inside a rule
    if (input is None) != (other is None):
        raise TypeError(
            "where() received an invalid combination of arguments - got (Tensor, Tensor), but expected one of:\n"
            " * (Tensor condition)\n * (Tensor condition, Tensor or Number input, Tensor or Number other)"
        )
    if input is None:
        condition._dynamic("aten::where")
        return tuple(wrap(in_rows(i)) for i in np.nonzero(condition._array))
    if not isinstance(condition, Tensor):
        if not isinstance(condition, ndarray):
            explain(where, "where", (condition, input, other), {})
        condition = wrap(np.asarray(condition))
    if condition._array.dtype == np.uint8:
        warnings.warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of "
            "PyTorch. Use a boolean condition instead.",
            UserWarning,
            stacklevel=2,
        )
        condition = condition.bool()
    if condition._array.dtype.kind != "b":
        word = dtypes.word(condition._array.dtype)
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {word}"
        )
    for value in (input, other):
        if not isinstance(value, (Tensor, float, int)) and dtypes.is_complex(value):
            raise dtypes.no_complex()
    like = next((t for t in (input, other) if isinstance(t, Tensor)), None)
    if like is None:
        input, other = (
            wrap(np.asarray(v, dtypes.default_float() if isinstance(v, float) else None))
            for v in (input, other)
        )
    return _where(condition, *(operand(t, like) if not isinstance(t, Tensor) else t for t in (input, other)))


@method("where")
def _where_method(self: Tensor, condition: Tensor, other: Tensor | float) -> Tensor:
    """`where(condition, self, other)`."""
    return where(condition, self, other)


# ---------------------------------------------------------------- the larger, the smaller


def tangent_of_chosen(takes_self: Callable) -> Callable:
    """The tangent of the larger or smaller: that of `self` where it is taken, the mean's of equal ones, else of `other`."""

    def tangent(inputs, moves, results, params):
        self, other = inputs
        mine, others = (
            zeros_like(x) if t is None else t.to(results[0].dtype) for x, t in zip(inputs, moves, strict=True)
        )
        share = where(self == other, 0.5, takes_self(self, other).to(mine.dtype))
        return others + share * (mine - others)

    return tangent


maximum = define(
    "maximum", np.maximum, kind="elementwise", numbers=False,
    doc="The larger of each pair of elements, NaN if one is NaN. Equal ones share the gradient, half to "
    "each.",
    self=lambda grad, self, other: where(self < other, 0.0, where(self == other, grad / 2, grad)),
    other=lambda grad, self, other: where(self > other, 0.0, where(self == other, grad / 2, grad)),
    jvp=tangent_of_chosen(operator.gt),
)  # fmt: skip
minimum = define(
    "minimum", np.minimum, kind="elementwise", numbers=False,
    doc="The smaller of each pair of elements, NaN if one is NaN. Equal ones share the gradient, half to "
    "each.",
    self=lambda grad, self, other: where(self > other, 0.0, where(self == other, grad / 2, grad)),
    other=lambda grad, self, other: where(self < other, 0.0, where(self == other, grad / 2, grad)),
    jvp=tangent_of_chosen(operator.lt),
)  # fmt: skip
fmax = define(
    "fmax", np.fmax, kind="elementwise", numbers=False,
    doc="The larger of each pair of elements; of a number and NaN, the number. Of equal ones, `input` gets "
    "the gradient.",
    self=lambda grad, self, other: where((self >= other) | (other != other), grad, 0.0),
    other=lambda grad, self, other: where((self >= other) | (other != other), 0.0, grad),
)  # fmt: skip
fmin = define(
    "fmin", np.fmin, kind="elementwise", numbers=False,
    doc="The smaller of each pair of elements; of a number and NaN, the number. Of equal ones, `input` "
    "gets the gradient.",
    self=lambda grad, self, other: where((self <= other) | (other != other), grad, 0.0),
    other=lambda grad, self, other: where((self <= other) | (other != other), 0.0, grad),
)  # fmt: skip


# ---------------------------------------------------------------- beside a number
#
# NumPy compares many numbers with one up to four times as slowly as with as many.

ZERO = {char: np.zeros((), char) for char in "efdbBhHiIlLqQ"}


@functools.lru_cache(maxsize=64)
def _filled(shape: tuple, char: str, value: float) -> ndarray:
    return np.full(shape, value, char)


def _as_many(x: ndarray, value: ndarray) -> tuple[ndarray, ndarray | None]:
    """(the number, as often as there are elements if these are many; where the result may go, if that is the same)."""
    size = x.size
    if size < MANY:
        return value, ...
    if size < 4 * MANY:
        return _filled(x.shape, x.dtype.char, value.item()), None
    out = np.empty_like(x)
    out.fill(value)
    return out, out


def at_least(x: ndarray, low: ndarray) -> ndarray:
    """`np.maximum(x, low)` for a 0-d `low` of the same dtype, a new array."""
    low, out = _as_many(x, low)
    return np.maximum(x, low, out=out)


def at_most(x: ndarray, high: ndarray) -> ndarray:
    """`np.minimum(x, high)` for a 0-d `high` of the same dtype, a new array."""
    high, out = _as_many(x, high)
    return np.minimum(x, high, out=out)


def positive_part(x: ndarray) -> ndarray:
    """max(x, 0), a new array."""
    kind = x.dtype.char
    if x.size < MANY:  # `_as_many`, without a call
        return np.maximum(x, ZERO[kind], out=...)
    if x.size < 4 * MANY:
        return np.maximum(x, _filled(x.shape, kind, 0.0))
    zero, out = _as_many(x, ZERO[kind])
    return np.maximum(x, zero, out=out)


def parts(x: ndarray) -> tuple[ndarray, ndarray]:
    """(max(x, 0), min(x, 0)), new arrays."""
    zero, out = _as_many(x, ZERO[x.dtype.char])
    below = np.minimum(x, zero, out=None if out is zero else out)
    return np.maximum(x, zero, out=out), below


def between(x, low: float, high: float):
    """The elements of an array or a Tensor clamped to [low, high]."""
    if isinstance(x, Tensor):
        return clamp(x, low, high)
    return at_most(at_least(x, np.asarray(low, x.dtype)), np.asarray(high, x.dtype))


# ---------------------------------------------------------------- clamp: the bounds themselves let the gradient through


def _clamp_numbers(self: ndarray, min: float | None, max: float | None) -> ndarray:
    if min is not None:  # a negative bound of unsigned numbers wraps round
        self = at_least(self, dtypes.fitting(min, self.dtype))
    return self if max is None else at_most(self, dtypes.fitting(max, self.dtype))


def within(x, min, max):
    """A mask of the elements between two bounds, each included, each may be None."""
    if min is None:
        return x <= max
    return x >= min if max is None else (x >= min) & (x <= max)


_clamp = define(
    "clamp", _clamp_numbers, kind="elementwise", node="ClampBackward1",
    self=lambda grad, self, min, max: where(within(self, min, max), grad, 0.0),
)  # fmt: skip


def _clamp_tensors_forward(self: ndarray, min: ndarray | None, max: ndarray | None) -> ndarray:
    raised = self if min is None else np.maximum(self, min)
    return raised if max is None else np.minimum(raised, max)


_clamp_both = define(
    "clamp", lambda self, min, max: np.minimum(np.maximum(self, min), max), kind="elementwise", node="ClampBackward0",
    numbers=False,
    self=lambda grad, self, min, max: where((self >= min) & (self <= max), grad, 0.0),
    min=lambda grad, self, min, max: where((self < min) & (min < max), grad, 0.0),
    max=lambda grad, self, min, max: where((self > max) | (max < min), grad, 0.0),
)  # fmt: skip
_clamp_tensors = define(
    "clamp", _clamp_tensors_forward, kind="elementwise", node="ClampBackward0", optional=("min", "max"),
    numbers=False,
    self=lambda grad, self, min, max: where(within(self, min, max), grad, 0.0),
    min=lambda grad, self, min, max: where(self < min if max is None else (self < min) & (min < max), grad, 0.0),
    max=lambda grad, self, min, max: where(self > max if min is None else (self > max) | (max < min), grad, 0.0),
)  # fmt: skip
_clamp_min = define(
    "clamp_min", lambda self, min: _clamp_numbers(self, min, None), kind="elementwise",
    self=lambda grad, self, min: where(self >= min, grad, 0.0),
)  # fmt: skip
_clamp_min_tensor = define(
    "clamp_min", np.maximum, kind="elementwise", node="ClampMinBackward1", numbers=False,
    self=lambda grad, self, min: where(self >= min, grad, 0.0),
    min=lambda grad, self, min: where(self < min, grad, 0.0),
)  # fmt: skip
_clamp_max = define(
    "clamp_max", lambda self, max: _clamp_numbers(self, None, max), kind="elementwise",
    self=lambda grad, self, max: where(self <= max, grad, 0.0),
)  # fmt: skip
_clamp_max_tensor = define(
    "clamp_max", np.minimum, kind="elementwise", node="ClampMaxBackward1", numbers=False,
    self=lambda grad, self, max: where(self <= max, grad, 0.0),
    max=lambda grad, self, max: where(self > max, grad, 0.0),
)  # fmt: skip


@in_both_forms("clamp", "clip")
def clamp(input: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """The elements, those below `min` raised to it, those above `max` lowered to it. Where min > max, max.

    At the bounds the derivative is 1. The bounds are both numbers or both tensors; one may be left out. Raises
    RuntimeError if both are, TypeError if they are mixed.
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    given = [b for b in (min, max) if b is not None]
    if builtins.all(isinstance(b, Tensor) for b in given):
        if len(given) == 2:
            return _clamp_both, input, min, max
        return _clamp_tensors, input, min, max
    if builtins.any(isinstance(b, Tensor) for b in given):  # where one is a number, a 0-d tensor is one, too
        min, max = number_of(min), number_of(max)
        given = [b for b in (min, max) if b is not None]
    if not builtins.all(isinstance(b, (int, float, np.generic)) for b in given):
        kinds = ", ".join(full_name(type(b)) for b in given)
        raise TypeError(
            f"clamp() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
            " * (Tensor min = None, Tensor max = None)\n * (Number min = None, Number max = None)"
        )
    input = beside(input, *given)
    if input._array.dtype.kind == "b":
        which = "" if len(given) == 2 else "max_" if min is None else "min_"
        raise dtypes.not_implemented(f"clamp_{which}scalar_cpu", input._array.dtype)
    return _clamp, input, min, max


def number_of(bound: object) -> object:
    """The number in a 0-d tensor that needs no gradient; anything else as it is."""
    single = isinstance(bound, Tensor) and not bound._array.ndim and not bound._requires_grad
    return bound.item() if single else bound


@in_both_forms()
def clamp_min(input: Tensor, min: Tensor | float) -> Tensor:
    """The elements, those below `min` raised to it. At the bound the derivative is 1."""
    if isinstance(min, Tensor):
        return _clamp_min_tensor, input, min
    return _clamp_min, beside(input, min), min


@in_both_forms()
def clamp_max(input: Tensor, max: Tensor | float) -> Tensor:
    """The elements, those above `max` lowered to it. At the bound the derivative is 1."""
    if isinstance(max, Tensor):
        return _clamp_max_tensor, input, max
    return _clamp_max, beside(input, max), max


clip = clamp

for _call in (maximum, minimum, fmax, fmin):
    function(_call, _call.__name__)

__all__ = ["clamp", "clamp_max", "clamp_min", "clip", "fmax", "fmin", "maximum", "minimum", "where"]
