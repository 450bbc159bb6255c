"""Functions of two and three variables besides arithmetic, broadcast: atan2, hypot, logaddexp, xlogy, lerp, addcmul."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..tensor import Tensor, full_name
from .arguments import number
from .choice import chosen, refuse, where, zeros_like
from .elementary import exp, exp2
from .inplace import define_inplace, in_both_forms
from .pointwise import is_floating, without_derivative
from .table import define, function

ndarray = np.ndarray


# ---------------------------------------------------------------- sums of products, interpolation


def _addcmul_forward(self: ndarray, tensor1: ndarray, tensor2: ndarray, value: float) -> ndarray:
    refuse(self, "b", "addcmul_cpu_out")
    return self + dtypes.fitting(value, self.dtype) * tensor1 * tensor2


def _addcdiv_forward(self: ndarray, tensor1: ndarray, tensor2: ndarray, value: float) -> ndarray:
    return self + dtypes.fitting(value, self.dtype) * tensor1 / tensor2


_addcmul = define(
    "addcmul", _addcmul_forward, kind="elementwise", numbers=False,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value),
)  # fmt: skip
_addcdiv = define(
    "addcdiv", _addcdiv_forward, kind="elementwise", numbers=False,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (value * tensor1 / (tensor2 * tensor2)),
)  # fmt: skip


@in_both_forms()
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """`input + value * tensor1 * tensor2`, broadcast."""
    return _addcmul, input, tensor1, tensor2, value


@in_both_forms()
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """`input + value * tensor1 / tensor2`, broadcast. Raises RuntimeError if both are integers."""
    if not (is_floating(tensor1) or is_floating(tensor2)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
            "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
            "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) "
            "for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
            "tensor2), for all dtypes."
        )
    return _addcdiv, input, tensor1, tensor2, value


def _interpolate(self: ndarray, end: ndarray, weight: ndarray | float) -> ndarray:
    """Exact at both ends: counted from the nearer one."""
    weight = np.asarray(weight, self.dtype)
    step = end - self
    if not weight.ndim:
        return self + weight * step if abs(weight) < 0.5 else end - step * (1 - weight)
    return chosen(np.abs(weight) < 0.5, self + weight * step, end - step * (1 - weight))


_lerp = define(
    "lerp", _interpolate, kind="elementwise",
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
)  # fmt: skip
_lerp_tensor = define(
    "lerp", _interpolate, kind="elementwise", node="LerpBackward1",
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)  # fmt: skip


@in_both_forms()
def lerp(input: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """`input + weight * (end - input)`, broadcast. Raises RuntimeError if the dtypes differ."""
    for name, t in (("end", end), ("weight", weight)):
        if not isinstance(t, Tensor):
            if name == "weight":
                continue
            raise TypeError(
                f"lerp(): argument '{name}' (position 2) must be Tensor, not {full_name(type(t))}"
            )
        if t._array.dtype != input._array.dtype:
            if name == "weight" and not t._array.ndim and not t._requires_grad:
                return _lerp, input, end, t.item()
            raise RuntimeError(
                f"expected dtype {dtypes.c_name(input._array.dtype)} for `{name}` but got dtype {dtypes.c_name(t._array.dtype)}"
            )
    refuse(input._array, "biu", "lerp_kernel_tensor" if isinstance(weight, Tensor) else "lerp_kernel_scalar")
    return (_lerp_tensor if isinstance(weight, Tensor) else _lerp), input, end, weight


# ---------------------------------------------------------------- angles, lengths, logarithms, signs


def inverse_or_zero(x):
    """1 / x, and 0 where x is 0: at the origin atan2 has no derivative, PyTorch says 0."""
    return where(x == 0, 0.0, 1 / x)


atan2 = define(
    "atan2", np.arctan2, kind="elementwise", floating=True, numbers=False,
    doc="`atan(input / other)` in the right quadrant: the angle, from -pi to pi, of the point (`other`, "
    "`input`). At the origin the derivatives are 0.",
    self=lambda grad, self, other: grad * (other * inverse_or_zero(self * self + other * other)),
    other=lambda grad, self, other: grad * (-self * inverse_or_zero(self * self + other * other)),
)  # fmt: skip


def only_floating(compute: Callable, kernel: str):
    """A function of two arrays that refuses integers with PyTorch's words."""

    def forward(self: ndarray, other: ndarray) -> ndarray:
        refuse(self, "biu", kernel)
        return compute(self, other)

    return forward


hypot = define(
    "hypot", only_floating(np.hypot, "hypot_cpu"), kind="elementwise", numbers=False,
    doc="`sqrt(input ** 2 + other ** 2)`. At the origin the derivatives are NaN. Raises NotImplementedError for integers.",
    self=lambda grad, self, result: grad * (self / result),
    other=lambda grad, other, result: grad * (other / result),
)  # fmt: skip


def _log_of_sum(self: ndarray, other: ndarray) -> ndarray:
    """The larger of the two and log(1 + exp(-difference)), in a few quick steps; NumPy's own takes five times as long."""
    larger = np.maximum(self, other)
    if self.size < 64 or not np.isfinite(larger).all():  # a difference of infinities would be NaN
        return np.logaddexp(self, other)
    return larger + np.log1p(np.exp(-np.abs(self - other)))


logaddexp = define(
    "logaddexp", only_floating(_log_of_sum, "logaddexp_cpu"), kind="elementwise", numbers=False,
    doc="`log(exp(input) + exp(other))`, without overflow. Raises NotImplementedError for integers.",
    self=lambda grad, self, other: grad / (1 + exp(other - self)),
    other=lambda grad, self, other: grad / (1 + exp(self - other)),
)  # fmt: skip
logaddexp2 = define(
    "logaddexp2", only_floating(np.logaddexp2, "logaddexp2_cpu"), kind="elementwise", numbers=False,
    doc="`log2(2 ** input + 2 ** other)`, without overflow. Raises NotImplementedError for integers.",
    self=lambda grad, self, other: grad / (1 + exp2(other - self)),
    other=lambda grad, self, other: grad / (1 + exp2(self - other)),
)  # fmt: skip


def _x_log_y(self: ndarray, other: ndarray) -> ndarray:
    other = other if other.dtype.kind == "f" else other.astype(self.dtype)
    return np.where(
        np.isnan(other), other, np.where(self == 0, np.zeros((), other.dtype), self * np.log(other))
    )


def _xlogy_self(grad, self, other):
    return where((self == 0) & (other <= 0), 0.0, xlogy(grad, other))


_xlogy = define(
    "xlogy", _x_log_y, kind="elementwise", floating=True,
    self=_xlogy_self,
    other=lambda grad, self, other: grad * self / other,
)  # fmt: skip
_xlogy_of_number = define(
    "xlogy", lambda other, self: _x_log_y(np.asarray(self, other.dtype), other), kind="elementwise", floating=True,
    node="XlogyBackward1", other=lambda grad, other, self: grad * self / other,
)  # fmt: skip
_xlogy_number = define(
    "xlogy", lambda self, other: _x_log_y(self, np.asarray(other, self.dtype)), kind="elementwise", floating=True,
    node="XlogyBackward2",
    self=lambda grad, self, other: grad * math.log(other) if other > 0 else where(self == 0, 0.0, grad * -math.inf),
)  # fmt: skip


@in_both_forms()
def xlogy(input: Tensor | float, other: Tensor | float) -> Tensor:
    """`input * log(other)`, broadcast, and 0 where `input` is 0 (unless `other` is NaN)."""
    if not isinstance(other, Tensor):
        if isinstance(input, Tensor):
            return _xlogy_number, input, number(other)
    elif not isinstance(input, Tensor) and isinstance(input, (int, float)):
        return _xlogy_of_number, other, input
    return _xlogy, input, other


def _copysign_self(grad, self, result):
    return grad * where(self == 0, 0.0, result / self)


_copysign = define(
    "copysign", np.copysign, kind="elementwise", floating=True, numbers=False,
    self=_copysign_self,
    other=lambda grad: zeros_like(grad),
)  # fmt: skip
_copysign_number = define(
    "copysign", lambda self, other: np.copysign(self, np.asarray(other, self.dtype)), kind="elementwise", floating=True,
    node="CopysignBackward1", self=_copysign_self,
)  # fmt: skip


@in_both_forms()
def copysign(input: Tensor, other: Tensor | float) -> Tensor:
    """The magnitude of `input` with the sign of `other`, broadcast. Where `input` is 0 the derivative is 0."""
    return (
        (_copysign, input, other) if isinstance(other, Tensor) else (_copysign_number, input, number(other))
    )


def _heaviside(self: ndarray, values: ndarray) -> ndarray:
    """0 below zero, 1 above it, `values` at it."""
    return np.where(self == 0, values, (self > 0).astype(self.dtype))


_heaviside_op = without_derivative("heaviside", _heaviside, "self", "values")


@in_both_forms()
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 where `input` is negative, 1 where it is positive, `values` where it is zero. The dtypes must be equal."""
    if input._array.dtype != values._array.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return _heaviside_op, input, values


ldexp = define(
    "ldexp", lambda self, other: self * np.exp2(other), kind="elementwise", floating=True, numbers=False,
    doc="`input * 2 ** other`.",
    self=lambda grad, other: grad * exp2(other),
    other=lambda grad, result: grad * result * math.log(2),
)  # fmt: skip


def only_integers(compute: np.ufunc, kernel: str):
    """A ufunc that refuses floating point numbers with PyTorch's words."""

    def forward(self: ndarray, other: ndarray) -> ndarray:
        refuse(self, "fb", kernel)
        return compute(self, other)

    return forward


gcd = define(
    "gcd", only_integers(np.gcd, "gcd_cpu"), kind="elementwise", numbers=False,
    doc="The greatest common divisor of each pair of integers, not negative. Raises NotImplementedError for floating point.",
    self=None,
    other=None,
)  # fmt: skip
lcm = define(
    "lcm", only_integers(np.lcm, "lcm_cpu"), kind="elementwise", numbers=False,
    doc="The least common multiple of each pair of integers, not negative. Raises NotImplementedError for floating point.",
    self=None,
    other=None,
)  # fmt: skip

for _call in (atan2, hypot, ldexp, gcd, lcm):
    function(_call, _call.op.name)
    define_inplace(_call, _call.op.name + "_")
for _call in (logaddexp, logaddexp2):  # in PyTorch they have no in-place form
    function(_call, _call.op.name)
function(atan2, "arctan2")
arctan2 = atan2


def _scale_in_place(self: Tensor, other: Tensor) -> Tensor:
    """`self * 2 ** other`, written into this tensor. Returns it."""
    if self._array.dtype.kind != "f" and isinstance(other, Tensor):
        raise RuntimeError(f"ldexp can't be cast to the desired output type {dtypes.word(self._array.dtype)}")
    return _ldexp_(self, other)


_ldexp_ = Tensor.ldexp_
function(_scale_in_place, "ldexp_")
_scale_in_place.__name__ = _scale_in_place.__qualname__ = "ldexp_"

__all__ = [
    "addcdiv", "addcmul", "arctan2", "atan2", "copysign", "gcd", "heaviside", "hypot", "lcm", "ldexp", "lerp", "logaddexp",
    "logaddexp2", "xlogy",
]  # fmt: skip
