"""Arithmetic and powers: operations on the elements of two or three tensors, which are broadcast together.

Functions of one variable (`exp`, `sin`, ...) are in elementary.py, `where`, `maximum` and `clamp` in choice.py, what gives
true or false in comparison.py, the nonlinear functions of neural networks in activation.py.
"""

from __future__ import annotations

import builtins
import math

import numpy as np

from .. import dtypes
from ..autograd.node import Node
from ..dtypes import fitting, wrapped
from ..tensor import Tensor, full_name
from .arguments import number
from .calls import make_call
from .choice import beside, chosen, refuse, where, zeros_like
from .described import described
from .elementary import log
from .inplace import as_operator, define_inplace, in_both_forms, writer
from .table import define, function, is_array

ndarray = np.ndarray


# ---------------------------------------------------------------- addition, subtraction, multiplication

_add = define(
    "add", np.add, kind="elementwise", doc="`input + other`.",
    self=lambda grad: grad,
    other=lambda grad: grad,
)  # fmt: skip
_add_alpha = define(
    "add", lambda self, other, alpha: self + other * fitting(alpha, other.dtype), kind="elementwise",
    self=lambda grad: grad,
    other=lambda grad, alpha: grad * alpha,
)  # fmt: skip

TWO_BOOLS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
    "instead."
)
ONE_BOOL = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)


def refuse_bools(*operands: object) -> None:
    """Truth values have no difference."""
    bools = [
        isinstance(t, builtins.bool) or (isinstance(t, Tensor) and t._array.dtype.kind == "b")
        for t in operands
    ]
    if builtins.any(bools):
        raise RuntimeError(TWO_BOOLS if builtins.all(bools) else ONE_BOOL)


_sub = define(
    "sub", np.subtract, kind="elementwise", doc="`input - other`. Raises RuntimeError for bools.",
    self=lambda grad: grad,
    other=lambda grad: -grad,
)  # fmt: skip
_sub_alpha = define(
    "sub", lambda self, other, alpha: np.subtract(self, other * fitting(alpha, other.dtype)), kind="elementwise",
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad * alpha,
)  # fmt: skip
_add_alpha.op.into = lambda self, other, alpha: np.add(self, other * np.asarray(alpha, other.dtype), self)
_sub_alpha.op.into = lambda self, other, alpha: np.subtract(
    self, other * np.asarray(alpha, other.dtype), self
)
_rsub = define(
    "rsub", lambda self, other, alpha: np.subtract(other, self * fitting(alpha, self.dtype)), kind="elementwise",
    numbers=False,
    self=lambda grad, alpha: -grad * alpha,
    other=lambda grad: grad,
)  # fmt: skip
_rsub_scalar = define(
    "rsub", lambda self, other, alpha: wrapped(other, self.dtype) - (self if alpha == 1 else self * fitting(alpha, self.dtype)),
    kind="elementwise", node="RsubBackward1",
    self=lambda grad, alpha: -grad if alpha == 1 else -grad * alpha,
)  # fmt: skip
for _op in (_add, _sub):
    _op.op.node_class._saved_alpha = 1  # a fact of the class: so a plain sum stores nothing

_mul = define(
    "mul", np.multiply, kind="elementwise", doc="`input * other`.",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)  # fmt: skip


def _negative(x: ndarray) -> ndarray:
    if x.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
            "or `logical_not()` operator instead."
        )
    return np.negative(x)


neg = define(
    "neg", _negative, kind="linear",
    doc="`-input`. Raises RuntimeError for bools.",
    self=lambda grad: -grad,
)  # fmt: skip


@in_both_forms("add", usual=_add)
def add(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """`input + alpha * other`, broadcast."""
    return (_add, input, other) if alpha == 1 else (_add_alpha, input, other, _alpha(alpha, input, other))


@in_both_forms("sub", "subtract", usual=_sub)
def sub(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """`input - alpha * other`, broadcast. Raises RuntimeError for bool tensors."""
    refuse_bools(input, other)
    return (_sub, input, other) if alpha == 1 else (_sub_alpha, input, other, _alpha(alpha, input, other))


def rsub(input: Tensor, other: Tensor | float, *, alpha: float = 1) -> Tensor:
    """`other - alpha * input`, broadcast. Raises RuntimeError for bool tensors."""
    refuse_bools(input, other)
    if isinstance(other, Tensor):
        return _rsub(input, other, alpha)
    return _rsub_scalar(beside(input, other), other, alpha)


@in_both_forms("mul", "multiply", usual=_mul)
def mul(input: Tensor, other: Tensor | float) -> Tensor:
    """`input * other`, broadcast."""
    return _mul, input, other


def _alpha(alpha: float, input: object, other: object) -> float:
    if isinstance(alpha, float) and not (is_floating(input) or is_floating(other)):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    return alpha


def is_floating(value: object) -> builtins.bool:
    return isinstance(value, float) or (isinstance(value, Tensor) and value._array.dtype.kind == "f")


# ---------------------------------------------------------------- division


def _div_tangent(inputs, moves, results, params):
    """(∂self - ∂other · result) / other"""
    move, other_move = moves
    if other_move is None:
        return move / inputs[1]
    shift = other_move * results[0]
    return (-shift if move is None else move - shift) / inputs[1]


_div = define(
    "div", np.true_divide, kind="elementwise", floating=True, doc="`input / other`.", jvp=_div_tangent,
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
)  # fmt: skip
reciprocal = define(
    "reciprocal", np.reciprocal, kind="elementwise", floating=True,
    doc="`1 / input`: inf at 0.",
    self=lambda grad, result: -grad * (result * result),
)  # fmt: skip


# From here on a quotient has no room for two binary places, and PyTorch's algorithm, which is NumPy's, may round it.
COARSE = {char: 2.0 ** (np.finfo(char).nmant - 1) for char in "efd"}


def _floor_quotient(self: ndarray, other: ndarray) -> ndarray:
    if other.dtype.kind != "f":
        if other.dtype.kind == "b":
            refuse(self, "b", "div_floor_cpu")
        _refuse_zero(other)
    elif self.size + other.size > 128:  # NumPy's own is much slower than a division
        return _floor_of_quotient(self, other)
    return np.floor_divide(self, other)


def _floor_of_quotient(self: ndarray, other: ndarray) -> ndarray:
    """`np.floor_divide` of floating point numbers."""
    quotient = np.true_divide(self, other, out=...)
    floor = np.floor(quotient, out=...)
    doubtful = quotient == floor  # perhaps it has only been rounded to that
    doubtful |= np.absolute(quotient) >= COARSE[quotient.dtype.char]
    if np.count_nonzero(doubtful):
        np.floor_divide(self, other, out=floor, where=doubtful)
    return floor


def _rounded_quotient(self: ndarray, other: ndarray, rounding_mode: str) -> ndarray:
    if rounding_mode == "floor":
        return _floor_quotient(self, other)
    if self.dtype.kind == "f" or other.dtype.kind == "f":
        return np.trunc(self / other)
    refuse(self, "b", "div_trunc_cpu")
    _refuse_zero(other)
    return (np.abs(self) // np.abs(other) * (np.sign(self) * np.sign(other))).astype(self.dtype)


def _refuse_zero(divisor: ndarray) -> None:
    if divisor.dtype.kind != "f" and not divisor.all():
        raise RuntimeError("ZeroDivisionError")


_div_rounded = define(
    "div", _rounded_quotient, kind="elementwise", node="DivBackward2",
    self=lambda grad, other, rounding_mode: zeros_like(grad),
    other=lambda grad, self, other, rounding_mode: zeros_like(grad),
)  # fmt: skip


@in_both_forms("div", "divide", usual=_div)
def div(input: Tensor, other: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """`input / other`, broadcast; rounded towards zero with "trunc", downwards with "floor" (integers then stay integers)."""
    if rounding_mode is None:
        return _div, input, other
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return _div_rounded, input, other, rounding_mode


@in_both_forms(usual=_div)
def true_divide(input: Tensor, other: Tensor | float) -> Tensor:
    """`input / other`, broadcast."""
    return _div, input, other


def without_derivative(
    name: str, forward, *inputs: str, kind: str | None = "elementwise", index: str | None = None, **options
):
    """An operation that PyTorch records but cannot differentiate: backward through it raises its error."""

    def derivative(grad):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    rules = {name: None if name == index else derivative for name in inputs}
    call = define(name, forward, kind=kind, node="NotImplemented", **options, **rules)
    cls = call.op.node_class
    cls.name = lambda node: "torch::autograd::NotImplemented"
    cls.next_functions = property(
        lambda node: tuple(e for e in Node.next_functions.fget(node) if e[0] is not None)
    )
    return call


_floor_divide = without_derivative("floor_divide", _floor_quotient, "self", "other")


@in_both_forms("floor_divide")
def floor_divide(input: Tensor, other: Tensor | float) -> Tensor:
    """`input / other` rounded downwards, broadcast. It has no derivative in PyTorch: backward through it is an error."""
    return _floor_divide, input, other


def _modulo(self: ndarray, other: ndarray) -> ndarray:
    if other.dtype.kind != "f":
        refuse(self, "b", "remainder_cpu")
        _refuse_zero(other)
        return np.remainder(self, other)
    rest = _rest_in_double(self, other) if other.dtype.char == "f" and self.size > 64 else None
    if rest is not None:
        return rest
    rest = np.fmod(self, other, out=...)  # it has the sign of `self`
    wrong = (rest != 0) & ((rest < 0) != (other < 0))
    return chosen(wrong, rest + other, rest) if np.count_nonzero(wrong) else rest


def _rest_in_double(self: ndarray, other: ndarray) -> ndarray | None:
    """`self` - `other` · ⌊quotient⌋ of single precision, which double precision computes without rounding.

    That is many times as quick as np.fmod. None where the quotient is too large, or something is not finite.
    """
    numerator, denominator = self.astype(np.float64), other.astype(np.float64)
    quotient = np.divide(numerator, denominator, out=...)
    np.floor(quotient, out=quotient)
    exact = np.absolute(quotient) < 2.0**28
    if np.count_nonzero(exact) < exact.size or np.count_nonzero(np.isfinite(denominator)) < denominator.size:
        return None
    quotient *= denominator
    rest = np.subtract(numerator, quotient, out=quotient).astype(np.float32)
    nothing = rest == 0
    if np.count_nonzero(nothing):
        np.copysign(rest, self, out=rest, where=nothing)
    return rest


def _fmodulo(self: ndarray, other: ndarray) -> ndarray:
    refuse(self, "b", "fmod_cpu")
    _refuse_zero(other)
    return np.fmod(self, other)


_remainder_scalar = define(
    "remainder", lambda self, other: _modulo(self, wrapped(other, self.dtype)), kind="elementwise",
    self=lambda grad: grad,
)  # fmt: skip
_remainder = define(
    "remainder", _modulo, kind="elementwise", node="RemainderBackward1",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div(self, other, rounding_mode="floor"),
)  # fmt: skip
_remainder_of_number = without_derivative(
    "remainder", lambda other, self: _modulo(wrapped(self, other.dtype), other), "other"
)
_fmod_scalar = define(
    "fmod", lambda self, other: _fmodulo(self, wrapped(other, self.dtype)), kind="elementwise",
    self=lambda grad: grad,
)  # fmt: skip
_fmod = define(
    "fmod", _fmodulo, kind="elementwise", node="FmodBackward1", numbers=False,
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div(self, other, rounding_mode="trunc"),
)  # fmt: skip


@in_both_forms("remainder")
def remainder(input: Tensor | float, other: Tensor | float) -> Tensor:
    """`input % other`, broadcast: the rest of a division rounded downwards, so it has the sign of `other`."""
    if isinstance(other, Tensor):
        if isinstance(input, Tensor):
            return _remainder, input, other
        return _remainder_of_number, beside(other, input), input
    return _remainder_scalar, beside(input, other), number(other)


@in_both_forms("fmod")
def fmod(input: Tensor, other: Tensor | float) -> Tensor:
    """The rest of a division rounded towards zero, so it has the sign of `input`."""
    return (
        (_fmod, input, other)
        if isinstance(other, Tensor)
        else (_fmod_scalar, beside(input, other), number(other))
    )


# ---------------------------------------------------------------- beside a plain number: what PyTorch's own C++ code records
#
# `x + 2` in Python makes a tensor of the 2 and records AddBackward0. Functions that PyTorch composes inside (attention,
# the losses) add and multiply numbers as they are, which is recorded under another name.


def with_number(compute):
    """A forward function for a tensor and a Python number: an integer tensor becomes floating point beside a fraction."""

    def forward(self: ndarray, other: float) -> ndarray:
        if self.dtype.kind != "f" and (type(other) is float or compute is np.true_divide):
            self = self.astype(dtypes.default_float())
        return compute(self, other)

    return forward


add_number = define(
    "add", with_number(np.add), kind="elementwise", node="AddBackward1", self=lambda grad: grad
)
sub_number = define(
    "sub", with_number(np.subtract), kind="elementwise", node="SubBackward1", self=lambda grad: grad
)
mul_number = define(
    "mul", with_number(np.multiply), kind="elementwise", node="MulBackward1",
    self=lambda grad, other: grad * other,
)  # fmt: skip
div_number = define(
    "div", with_number(np.true_divide), kind="elementwise", node="DivBackward1",
    self=lambda grad, other: grad / other,
)  # fmt: skip


# ---------------------------------------------------------------- powers


def _power(base, exponent):
    """base ** exponent for a Python number: products for the small powers, which NumPy computes much more slowly."""
    if exponent == 1:
        return base
    if exponent == 2:
        return base * base
    if exponent == 3:
        return base * base * base
    if is_array(base):
        if exponent == 0.5:
            return np.sqrt(base)
        if exponent == -1:
            return 1 / base
        if exponent == -0.5:
            return 1 / np.sqrt(base)
        return base ** (wrapped if base.dtype.kind == "f" else fitting)(exponent, base.dtype)
    return base**exponent


def _pow_forward(self: ndarray, exponent: float) -> ndarray:
    if self.dtype.kind in "iu" and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return self.copy() if exponent == 1 else _power(self, exponent)


def _pow_self(grad, self, exponent):
    if exponent == 2:
        return grad * (self + self)
    return zeros_like(grad) if exponent == 0 else grad * (_power(self, exponent - 1) * exponent)


def _power_of_arrays(self: ndarray, exponent: ndarray) -> ndarray:
    refuse(self, "b", "pow")
    if self.dtype.kind == "i" and (exponent < 0).any():  # 1 / n, rounded towards zero
        odd, negative = exponent % 2 == 1, exponent < 0
        inverse = np.where(self == 1, 1, np.where(self == -1, np.where(odd, -1, 1), 0)).astype(self.dtype)
        return np.where(negative, inverse, np.power(self, np.where(negative, 0, exponent)))
    return np.power(self, exponent)


def type_as(x, other):
    """x in the dtype of `other`. Of arrays in a plain backward all have the same."""
    return x if is_array(x) else x.type_as(other)


_pow_scalar = define("pow", _pow_forward, kind="elementwise", doc="`input ** exponent`.", self=_pow_self)
_pow_tensor = define(
    "pow", _power_of_arrays, kind="elementwise", node="PowBackward1",
    self=lambda grad, self, exponent: where(exponent == 0, 0.0, grad * (exponent * self ** (exponent - 1))),
    exponent=lambda grad, self, exponent, result:
        grad * where((self == 0) & (exponent >= 0), 0.0, result * log(type_as(self, result))),
)  # fmt: skip
_pow_base = define(
    "pow", lambda exponent, self: _power_of_arrays(wrapped(self, exponent.dtype), exponent), kind="elementwise",
    node="PowBackward2",
    exponent=lambda grad, self, exponent, result: grad * (result * math.log(self)) if self > 0
        else where((exponent >= 0) & (self == 0), 0.0, grad * (result * math.nan if self else result * -math.inf)),
)  # fmt: skip


@in_both_forms()
def pow(input: Tensor | float, exponent: Tensor | float) -> Tensor:
    """`input ** exponent`, broadcast; one of them may be a Python number. At 0 ** 0 both derivatives are 0."""
    if isinstance(exponent, Tensor):
        if isinstance(input, Tensor):
            return _pow_tensor, input, exponent
        if isinstance(input, (int, float, np.generic)):
            return _pow_base, beside(exponent, input), input
    elif isinstance(input, Tensor) and isinstance(exponent, (int, float, np.generic)):
        return _pow_scalar, beside(input, exponent), exponent
    if isinstance(exponent, np.ndarray):
        return _pow_tensor, input, exponent
    kinds = f"{full_name(type(input))}, {full_name(type(exponent))}"
    raise TypeError(
        f"pow() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
        " * (Tensor input, Tensor exponent)\n * (Number self, Tensor exponent)\n"
        " * (Tensor input, Number exponent)"
    )


@in_both_forms()
def square(input: Tensor) -> Tensor:
    """`input ** 2`."""
    return _pow_scalar, beside(input, 2), 2


def float_power(input: Tensor | float, exponent: Tensor | float) -> Tensor:
    """`input ** exponent`, computed in double precision."""
    power, base = (t.double() if isinstance(t, Tensor) else float(t) for t in (exponent, input))
    return pow(base, power)


# ---------------------------------------------------------------- methods and operators


def _operator(run, reflected: str = ""):
    """A function as an operator, which leaves foreign operands to Python; as a reflected one of this symbol."""

    def operator(self, other):
        if not isinstance(other, (Tensor, int, float, np.generic, ndarray)):
            if isinstance(other, complex):
                raise dtypes.no_complex()
            return NotImplemented
        return run(other, self) if reflected else run(self, other)

    operator.__doc__ = f"`other {reflected} self`, broadcast." if reflected else run.__doc__
    return operator


_plus, _times, _over = (described(make_call(c.op, operator=True), c.op) for c in (_add, _mul, _div))

_minus = make_call(_sub.op, suits="same and dtype.num", otherwise=_operator(sub))  # bools are refused
described(_minus, _sub.op)
_to_the_power = make_call(
    _pow_scalar.op, compute=lambda self, exponent: self * self if exponent == 2 else _pow_forward(self, exponent),
    suits="(type(params[0]) is int or type(params[0]) is float) and x0.dtype.kind == 'f'", otherwise=_operator(pow),
)  # fmt: skip
described(_to_the_power, _pow_scalar.op)


for _symbol, _operation in {
    "__add__": _plus, "__radd__": _plus, "__mul__": _times, "__rmul__": _times, "__neg__": neg,
    "__truediv__": _over, "__sub__": _minus, "__rsub__": _operator(rsub),
    "__rtruediv__": _operator(lambda other, self: _mul(reciprocal(self), other), "/"),  # as PyTorch records `2 / x`
    "__floordiv__": _operator(floor_divide), "__rfloordiv__": _operator(lambda x, y: _floor_divide(x, y), "//"),
    "__mod__": _operator(remainder), "__rmod__": _operator(remainder, "%"),
    "__pow__": _to_the_power, "__rpow__": _operator(pow, "**"),
    "__iadd__": writer(_add.op, as_operator(Tensor.add_)), "__isub__": writer(_sub.op, as_operator(Tensor.sub_)),
    "__imul__": writer(_mul.op, as_operator(Tensor.mul_)), "__itruediv__": writer(_div.op, as_operator(Tensor.div_)),
    "__ifloordiv__": as_operator(Tensor.floor_divide_), "__imod__": as_operator(Tensor.remainder_),
    "__ipow__": as_operator(Tensor.pow_),
}.items():  # fmt: skip
    function(_operation, _symbol)
for _call in (neg, reciprocal):
    function(_call, _call.op.name)
    define_inplace(_call, _call.op.name + "_")
function(neg, "negative")
function(float_power, "float_power")
divide, multiply, negative, subtract = div, mul, neg, sub

__all__ = [
    "add", "div", "divide", "float_power", "floor_divide", "fmod", "mul", "multiply", "neg", "negative", "pow", "reciprocal",
    "remainder", "rsub", "square", "sub", "subtract", "true_divide",
]  # fmt: skip
