"""Operations that act on each element: arithmetic, powers, exponentials, activations, comparisons."""

from __future__ import annotations

import builtins
import math

import numpy as np

from .. import dtypes
from ..tensor import Tensor, wrap
from .table import define, function, is_array, method, operand

ndarray = np.ndarray


# ---------------------------------------------------------------- arithmetic

_add = define("add", np.add, kind="elementwise", self=lambda grad: grad, other=lambda grad: grad)
_add_alpha = define(
    "add", lambda self, other, alpha: self + other * np.asarray(alpha, other.dtype), kind="elementwise", node="AddBackward0",
    self=lambda grad: grad,
    other=lambda grad, alpha: grad * alpha,
)  # fmt: skip
_sub = define("sub", np.subtract, kind="elementwise", self=lambda grad: grad, other=lambda grad: -grad)
_sub_alpha = define(
    "sub", lambda self, other, alpha: self - other * np.asarray(alpha, other.dtype), kind="elementwise", node="SubBackward0",
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad * alpha,
)  # fmt: skip
_rsub = define(
    "rsub", lambda self, other: np.asarray(other, self.dtype) - self, kind="elementwise", node="RsubBackward1",
    self=lambda grad: -grad,
)  # fmt: skip
mul = define(
    "mul", np.multiply, kind="elementwise",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)  # fmt: skip
_div = define(
    "div", np.true_divide, kind="elementwise", floating=True,
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
)  # fmt: skip
neg = define("neg", np.negative, kind="linear", self=lambda grad: -grad)
reciprocal = define(
    "reciprocal", np.reciprocal, kind="elementwise", floating=True,
    self=lambda grad, result: -grad * (result * result),
)  # fmt: skip


def add(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """`input + alpha * other`, broadcast."""
    return _add(input, other) if alpha == 1 else _add_alpha(input, other, alpha)


def sub(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """`input - alpha * other`, broadcast."""
    _refuse_bool_subtraction(input, other)
    return _sub(input, other) if alpha == 1 else _sub_alpha(input, other, alpha)


def _refuse_bool_subtraction(*operands: object) -> None:
    if builtins.all(isinstance(t, Tensor) and t._array.dtype.kind == "b" for t in operands):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
        )


def rsub(input: Tensor, other: Tensor | float) -> Tensor:
    """`other - input`."""
    if isinstance(other, Tensor):
        return _sub(other, input)
    return _rsub(input if _keeps_dtype(input, other) else input.to(dtypes.get_default_dtype()), other)


def _keeps_dtype(input: Tensor, number: float) -> builtins.bool:
    """Does an operation with this Python number leave the tensor's dtype as it is?"""
    return input._array.dtype.kind == "f" or (isinstance(number, int) and input._array.dtype.kind != "b")


def div(input: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """`input / other`, broadcast; rounded towards zero with "trunc", downwards with "floor"."""
    if rounding_mode is None:
        return _div(input, other)
    rounded = {"trunc": trunc, "floor": floor}.get(rounding_mode)
    if rounded is None:
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return rounded(_div(input, other))


def _rdiv(self: Tensor, other: float) -> Tensor:
    return mul(reciprocal(self), other)  # as PyTorch records `2 / x`


# ---------------------------------------------------------------- powers


def _power(base, exponent):
    """base ** exponent for a Python number: products for the small powers, which NumPy computes much more slowly."""
    if exponent == 1:
        return base
    if exponent == 2:
        return base * base
    if exponent == 3:
        return base * base * base
    if exponent == 0.5:
        return np.sqrt(base) if is_array(base) else sqrt(base)
    return base ** (np.asarray(exponent, base.dtype) if is_array(base) else exponent)


def _pow_forward(self: ndarray, exponent: float) -> ndarray:
    if self.dtype.kind in "iu" and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return self.copy() if exponent == 1 else _power(self, exponent)


def _pow_self(grad, self, exponent):
    return grad * 0.0 if exponent == 0 else grad * (_power(self, exponent - 1) * exponent)


_pow_scalar = define("pow", _pow_forward, kind="elementwise", node="PowBackward0", self=_pow_self)
_pow_tensor = define(
    "pow", np.power, kind="elementwise", node="PowBackward1",
    self=lambda grad, self, exponent: grad * where(exponent == 0.0, 0.0, exponent * self ** (exponent - 1)),
    exponent=lambda grad, self, exponent, result: grad * where((self == 0.0) & (exponent >= 0.0), 0.0, result * log(self)),
)  # fmt: skip
_pow_base = define(
    "pow", lambda exponent, self: np.power(np.asarray(self, exponent.dtype), exponent), kind="elementwise", node="PowBackward2",
    exponent=lambda grad, self, exponent, result: where(exponent >= 0, 0.0, grad * (result * math.nan)) if self == 0
        else grad * (result * (math.log(self) if self > 0 else math.nan)),
)  # fmt: skip


def pow(input: Tensor | float, exponent: Tensor | float) -> Tensor:
    """`input ** exponent`, broadcast; either may be a Python number."""
    if not isinstance(exponent, Tensor):
        if isinstance(exponent, (ndarray, str)) or not isinstance(input, Tensor):
            raise TypeError(
                f"pow(): argument 'exponent' must be a Tensor or a number, not {type(exponent).__name__}"
            )
        if not _keeps_dtype(input, exponent):
            input = input.to(dtypes.get_default_dtype())
        return _pow_scalar(input, exponent)
    if not isinstance(input, Tensor):
        if not _keeps_dtype(exponent, input):
            exponent = exponent.to(dtypes.get_default_dtype())
        return _pow_base(exponent, input)
    return _pow_tensor(input, exponent)


def square(input: Tensor) -> Tensor:
    """`input ** 2`."""
    return pow(input, 2)


# ---------------------------------------------------------------- functions of one variable

exp = define("exp", np.exp, kind="elementwise", floating=True, self=lambda grad, result: grad * result)
log = define("log", np.log, kind="elementwise", floating=True, self=lambda grad, self: grad / self)
sqrt = define(
    "sqrt", np.sqrt, kind="elementwise", floating=True, self=lambda grad, result: grad / (2 * result)
)
sin = define("sin", np.sin, kind="elementwise", floating=True, self=lambda grad, self: grad * cos(self))
cos = define("cos", np.cos, kind="elementwise", floating=True, self=lambda grad, self: -grad * sin(self))
tanh = define(
    "tanh", np.tanh, kind="elementwise", floating=True,
    self=lambda grad, result: grad * (1 - result * result),
)  # fmt: skip


def _sigmoid(x: ndarray) -> ndarray:
    return np.reciprocal(np.exp(-x) + 1)


sigmoid = define(
    "sigmoid", _sigmoid, kind="elementwise", floating=True,
    self=lambda grad, result: grad * ((1 - result) * result),
)  # fmt: skip
relu = define(
    "relu", lambda x: np.maximum(x, np.zeros((), x.dtype)), kind="elementwise",
    self=lambda grad, result: grad * (result > 0),
)  # fmt: skip
trunc = define("trunc", np.trunc, kind="elementwise", self=lambda grad: grad * 0.0)
floor = define("floor", np.floor, kind="elementwise", self=lambda grad: grad * 0.0)


# ---------------------------------------------------------------- choice

_where = define(
    "where", np.where, kind="elementwise",
    condition=None,
    self=lambda grad, condition: where(condition, grad, 0.0),
    other=lambda grad, condition: where(condition, 0.0, grad),
)  # fmt: skip


def where(condition: Tensor, input: Tensor | float | None = None, other: Tensor | float | None = None):
    """Elements of `input` where `condition` holds, else of `other`; with one argument the indices where it holds."""
    if is_array(condition) and is_array(input) and is_array(other):  # inside a rule
        like = input if isinstance(input, ndarray) else other
        return np.where(
            condition, *(v if isinstance(v, ndarray) else np.asarray(v, like.dtype) for v in (input, other))
        )
    if input is None:
        return tuple(wrap(i) for i in np.nonzero(condition._array))
    if not isinstance(condition, Tensor):
        condition = wrap(np.asarray(condition))
    if condition._array.dtype.kind != "b":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            + condition.dtype.name
        )
    like = next((t for t in (input, other) if isinstance(t, Tensor)), None)
    if like is None:
        input, other = (
            wrap(np.asarray(v, dtypes.default_float() if isinstance(v, float) else None))
            for v in (input, other)
        )
    return _where(condition, *(operand(t, like) if not isinstance(t, Tensor) else t for t in (input, other)))


# ---------------------------------------------------------------- comparisons: no gradient


def _comparison(name: str, compare: np.ufunc):
    op = define(name, compare, kind="elementwise", self=None, other=None)

    def call(input: Tensor, other: Tensor | float) -> Tensor:
        if not isinstance(other, Tensor):
            if not isinstance(other, (builtins.bool, int, float, np.generic)):
                return NotImplemented
            other = operand(other, input)
        return op(input, other)

    call.__name__, call.__doc__ = name, f"Elementwise `{name}`: a boolean tensor, broadcast."
    return call


eq, ne = _comparison("eq", np.equal), _comparison("ne", np.not_equal)
lt, le = _comparison("lt", np.less), _comparison("le", np.less_equal)
gt, ge = _comparison("gt", np.greater), _comparison("ge", np.greater_equal)
logical_and = define("logical_and", np.logical_and, self=None, other=None)
logical_or = define("logical_or", np.logical_or, self=None, other=None)
logical_not = define("logical_not", np.logical_not, self=None)
logical_xor = define("logical_xor", np.logical_xor, self=None, other=None)
bitwise_and = define("bitwise_and", np.bitwise_and, kind="elementwise", self=None, other=None)
bitwise_or = define("bitwise_or", np.bitwise_or, kind="elementwise", self=None, other=None)
bitwise_xor = define("bitwise_xor", np.bitwise_xor, kind="elementwise", self=None, other=None)
bitwise_not = define("bitwise_not", np.invert, kind="elementwise", self=None)


# ---------------------------------------------------------------- methods and operators


def _operator(op, symbol: str):
    """An operation as an operator: foreign operands get Python's own TypeError."""

    def call(self, other):
        if not isinstance(other, (Tensor, int, float, np.generic, ndarray)):
            return NotImplemented
        return op(self, other)

    call.__name__ = symbol
    return call


for _name, _op in {
    "__add__": _add, "__radd__": _add, "__mul__": mul, "__rmul__": mul, "__neg__": neg, "__truediv__": _div,
    "__pow__": pow, "__lt__": lt, "__le__": le, "__gt__": gt, "__ge__": ge, "__eq__": eq, "__ne__": ne,
    "__invert__": bitwise_not, "__and__": bitwise_and, "__or__": bitwise_or, "__xor__": bitwise_xor,
}.items():  # fmt: skip
    function(_op, _name)
function(lambda self, other: sub(self, other), "__sub__")
function(lambda self, other: rsub(self, other), "__rsub__")
function(lambda self, other: pow(other, self), "__rpow__")
function(_rdiv, "__rtruediv__")
for _op in (add, sub, mul, div, neg, reciprocal, pow, square, exp, log, sqrt, sin, cos, tanh, sigmoid, relu, trunc, floor,
            eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_not, logical_xor, bitwise_not, rsub):  # fmt: skip
    function(_op, _op.__name__)
function(div, "divide", "true_divide")
function(sub, "subtract")
function(mul, "multiply")


@method("where")
def _where_method(self: Tensor, condition: Tensor, other: Tensor | float) -> Tensor:
    """`where(condition, self, other)`."""
    return where(condition, self, other)


__all__ = [
    "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "cos", "div", "eq", "exp", "floor", "ge", "gt", "le",
    "log", "logical_and", "logical_not", "logical_or", "logical_xor", "lt", "mul", "ne", "neg", "pow", "reciprocal", "relu",
    "rsub", "sigmoid", "sin", "sqrt", "square", "sub", "tanh", "trunc", "where",
]  # fmt: skip
