"""Questions about each element, and logic: the results are true or false (or bits) and have no gradient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..tensor import Tensor, full_name
from .calls import make_call
from .described import described
from .inplace import as_operator, define_inplace
from .table import define, function

ndarray = np.ndarray
NUMBERS = (bool, int, float, np.generic)


def _comparison(name: str, symbol: str, compare: np.ufunc, *aliases: str):
    doc = f"`input {symbol} other` of each pair of elements."
    call = define(name, compare, kind="elementwise", numbers="others", doc=doc, self=None, other=None)
    function(described(make_call(call.op, operator=True), call.op), f"__{name}__")
    return function(call, name, *aliases)


eq, ne = _comparison("eq", "==", np.equal), _comparison("ne", "!=", np.not_equal, "not_equal")
lt, le = _comparison("lt", "<", np.less, "less"), _comparison("le", "<=", np.less_equal, "less_equal")
gt, ge = (
    _comparison("gt", ">", np.greater, "greater"),
    _comparison("ge", ">=", np.greater_equal, "greater_equal"),
)
not_equal, less, less_equal, greater, greater_equal = ne, lt, le, gt, ge


# ---------------------------------------------------------------- logic and bits

logical_and = define(
    "logical_and", np.logical_and, kind="elementwise", numbers=False, self=None, other=None,
    doc="True where both elements are nonzero, whatever their dtypes.",
)  # fmt: skip
logical_or = define(
    "logical_or", np.logical_or, kind="elementwise", numbers=False, self=None, other=None,
    doc="True where at least one of both elements is nonzero, whatever their dtypes.",
)  # fmt: skip
logical_xor = define(
    "logical_xor", np.logical_xor, kind="elementwise", numbers=False, self=None, other=None,
    doc="True where exactly one of both elements is nonzero, whatever their dtypes.",
)  # fmt: skip
logical_not = define(
    "logical_not", np.logical_not, kind="elementwise", self=None,
    doc="True where the element is zero, whatever the dtype.",
)  # fmt: skip


def _bitwise(name: str, compute: Callable, symbol: str, doc: str):
    def forward(self: ndarray, other: ndarray) -> ndarray:
        if self.dtype.kind == "f" or (self.dtype.kind == "b" and "shift" in name):
            kernel = name.replace("bitwise_left_shift", "lshift").replace("bitwise_right_shift", "rshift")
            raise NotImplementedError(f"\"{kernel}_cpu\" not implemented for '{dtypes.word(self.dtype)}'")
        return compute(self, other)

    call = define(name, forward, kind="elementwise", doc=doc, self=None, other=None)

    def reflected(self: Tensor, other: Tensor | int) -> Tensor:
        return call(other, self) if isinstance(other, (Tensor, *NUMBERS, ndarray)) else NotImplemented

    reflected.__doc__ = f"`{name}(other, self)`: this tensor is the second operand."
    function(described(make_call(call.op, operator=True), call.op), f"__{symbol}__")
    function(reflected, f"__r{symbol}__")
    return function(call, name)


REFUSES = "Raises NotImplementedError for floating point"
bitwise_and = _bitwise(
    "bitwise_and", np.bitwise_and, "and", f"`input & other`, bit by bit, of integers or bools. {REFUSES}."
)
bitwise_or = _bitwise(
    "bitwise_or", np.bitwise_or, "or", f"`input | other`, bit by bit, of integers or bools. {REFUSES}."
)
bitwise_xor = _bitwise(
    "bitwise_xor", np.bitwise_xor, "xor", f"`input ^ other`, bit by bit, of integers or bools. {REFUSES}."
)
bitwise_left_shift = _bitwise(
    "bitwise_left_shift", np.left_shift, "lshift", f"`input << other`: `input * 2 ** other`, of integers. {REFUSES} and bools."
)  # fmt: skip
bitwise_right_shift = _bitwise(
    "bitwise_right_shift", np.right_shift, "rshift",
    f"`input >> other`: `input / 2 ** other`, rounded down, of integers. {REFUSES} and bools.",
)  # fmt: skip
bitwise_not = define(
    "bitwise_not", np.invert, kind="elementwise", self=None,
    doc=f"`~input`: each bit inverted (`-input - 1`, if signed); for bools, not. {REFUSES}.",
)  # fmt: skip


def _invert(self: Tensor) -> Tensor:
    """`~self`: each bit inverted; for bools, not. Raises TypeError for floating point."""
    if self._array.dtype.kind == "f":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


function(_invert, "__invert__")


for _call in (logical_and, logical_or, logical_xor, logical_not, bitwise_and, bitwise_or, bitwise_xor, bitwise_left_shift,
              bitwise_right_shift, bitwise_not):  # fmt: skip
    define_inplace(_call, _call.op.name + "_")
for _symbol, _name in {
    "__iand__": "bitwise_and_", "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_", "__ilshift__": "bitwise_left_shift_",
    "__irshift__": "bitwise_right_shift_",
}.items():  # fmt: skip
    function(as_operator(getattr(Tensor, _name)), _symbol)


# ---------------------------------------------------------------- special values

isnan = define("isnan", np.isnan, kind="elementwise", self=None, doc="True where an element is NaN.")
isinf = define(
    "isinf", np.isinf, kind="elementwise", self=None,
    doc="True where an element is infinite, of either sign.",
)  # fmt: skip
isfinite = define(
    "isfinite", np.isfinite, kind="elementwise", self=None,
    doc="True where an element is neither infinite nor NaN.",
)  # fmt: skip
isposinf = define(
    "isposinf", lambda x: x == np.inf, kind="elementwise", self=None,
    doc="True where an element is positive infinity.",
)  # fmt: skip
isneginf = define(
    "isneginf", lambda x: x == -np.inf, kind="elementwise", self=None,
    doc="True where an element is negative infinity.",
)  # fmt: skip
isreal = define(
    "isreal", lambda x: np.ones(x.shape, bool), kind="elementwise", self=None,
    doc="True for every element, as there are no complex tensors here.",
)  # fmt: skip
signbit = define(
    "signbit", lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0, kind="elementwise", self=None,
    doc="True where the sign is minus, for -0.0, too.",
)  # fmt: skip


# ---------------------------------------------------------------- equality of whole tensors


def _is_near(self: ndarray, other: ndarray, rtol: float, atol: float, equal_nan: bool) -> ndarray:
    near = self == other
    if equal_nan and self.dtype.kind == "f":
        near = near | (np.isnan(self) & np.isnan(other))
    if self.dtype.kind != "f":
        self, other = self.astype(np.float64), other.astype(np.float64)
    difference = np.abs(self - other)
    return near | (np.isfinite(difference) & (difference <= atol + np.abs(rtol * other)))


_isclose = define("isclose", _is_near, kind="elementwise", self=None, other=None)


def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Where `|input - other| <= atol + rtol * |other|`. Raises RuntimeError if the dtypes differ."""
    a, b = input._array, other._array
    if a.dtype != b.dtype:
        raise RuntimeError(f"{dtypes.word(a.dtype)} did not match {dtypes.word(b.dtype)}")
    if rtol < 0 or atol < 0:
        name, value = ("rtol", rtol) if rtol < 0 else ("atol", atol)
        raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")
    return _isclose(input, other, rtol, atol, equal_nan)


def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """True if `isclose` holds everywhere."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Tensor, other: Tensor) -> bool:
    """True if both have the same shape and elements."""
    if not isinstance(other, Tensor):
        raise TypeError(
            f"equal(): argument 'other' (position 2) must be Tensor, not {full_name(type(other))}"
        )
    return input._array.shape == other._array.shape and bool((input == other).all())


def is_nonzero(input: Tensor) -> bool:
    """True if the single element is not zero."""
    return bool(input)


_isin = define("isin", lambda self, other, invert: np.isin(self, other, invert=invert), self=None, other=None)


def isin(
    elements: Tensor | float,
    test_elements: Tensor | float,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Where an element of `elements` occurs in `test_elements` (with `invert` where not); one of them may be a number.

    assume_unique: promises that neither holds an element twice. It changes nothing here.
    """
    if any(isinstance(t, Tensor) and t._array.dtype.kind == "b" for t in (elements, test_elements)):
        raise RuntimeError("Unsupported input type encountered for isin(): Bool")
    return _isin(elements, test_elements, invert)


for _fn in (logical_and, logical_or, logical_xor, logical_not, bitwise_not, isnan, isinf, isfinite, isposinf, isneginf,
            isreal, signbit, isclose, allclose, equal, is_nonzero):  # fmt: skip
    function(_fn, _fn.__name__)

__all__ = [
    "allclose", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "eq", "equal", "ge", "greater", "greater_equal", "gt", "is_nonzero", "isclose", "isfinite", "isin", "isinf",
    "isnan", "isneginf", "isposinf", "isreal", "le", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lt", "ne", "not_equal", "signbit",
]  # fmt: skip
