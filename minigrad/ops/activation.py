"""The nonlinear functions of neural networks, with the signatures of torch.nn.functional."""

from __future__ import annotations

import functools
import math
import operator
import warnings

import numpy as np

from .. import dtypes
from ..size import check_dim
from ..tensor import Tensor, full_name
from . import exponential
from .choice import ZERO, at_most, between, chosen, kept, masked, parts, positive_part, refuse, where
from .elementary import ONE, _sigmoid, erf, exp, sigmoid, tanh
from .inplace import apply_inplace, define_inplace
from .shape import _view, reshape
from .table import define, function, is_array

ndarray = np.ndarray
SIXTH = float(np.float32(1 / 6))  # PyTorch's constant, rounded to float32, also where it computes in float64
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _floating(input: Tensor, kernel: str) -> None:
    """Most of these are for floating point only; `kernel` is how PyTorch's message calls the function."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{kernel.removesuffix('_cpu')}(): argument 'input' (position 1) must be Tensor, not {full_name(type(input))}"
        )
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.word(input._array.dtype)}'")


# ---------------------------------------------------------------- straight lines with a kink


@functools.lru_cache(maxsize=256)
def constants(char: str, *values: float) -> tuple[ndarray, ...]:
    """Numbers as arrays of a dtype: NumPy computes more quickly with these than with Python's numbers."""
    return tuple(np.asarray(v, char) for v in values)


def beside_arrays(x, *values: float) -> tuple:
    """The numbers of a formula for `x`: as they are for a Tensor, as `constants` for an array."""
    return constants(x.dtype.char, *values) if is_array(x) else values


def _relu_forward(self: ndarray) -> ndarray:
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return positive_part(self)


relu = define(
    "relu", _relu_forward, kind="elementwise", flat=("result",),
    doc="`max(input, 0)`. Its derivative at 0 is 0. Raises RuntimeError for bools.",
    self=lambda grad, result: where(result != 0, grad, 0.0),  # it is positive then, or NaN
)  # fmt: skip


def _leaky_relu_forward(self: ndarray, negative_slope: float) -> ndarray:
    scaled = self * np.asarray(negative_slope, self.dtype)
    return np.maximum(self, scaled) if 0 <= negative_slope <= 1 else chosen(self > 0, self, scaled)


_leaky_relu = define(
    "leaky_relu", _leaky_relu_forward, kind="elementwise", flat=("self",),
    self=lambda grad, self, negative_slope: where(self > 0, grad, grad * negative_slope),
)  # fmt: skip
_leaky_relu_in_place = define(
    "leaky_relu_", _leaky_relu_forward, kind="elementwise", node="LeakyReluBackward1", flat=("result",),
    self=lambda grad, result, negative_slope: where(result > 0, grad, grad * negative_slope),
)  # fmt: skip


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`x` where positive, else `negative_slope * x`. Its derivative at 0 is negative_slope."""
    _floating(input, "leaky_relu_cpu")
    if not inplace:
        return _leaky_relu(input, negative_slope)
    # the sign of the result would not tell the sign of the input
    if negative_slope < 0 and input._requires_grad:
        raise RuntimeError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This is caused "
            "by calling in-place forward function with a negative slope, please call out-of-place version instead. File an "
            "issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward calculation "
            "with negative slope"
        )
    return apply_inplace(_leaky_relu_in_place.op, (input,), (negative_slope,))


def _prelu_forward(self: ndarray, weight: ndarray) -> ndarray:
    if weight.size == 1:
        weight = weight.reshape(())  # NumPy is quicker with a number than with a row of one
    return chosen(self > ZERO[self.dtype.char], self, self * weight)


def prelu_backward(grad, grad_input_mask, self, weight):
    """∂self = grad above 0, else grad · weight; ∂weight = 0 above 0, else grad · self."""
    zero = ZERO[self.dtype.char] if is_array(self) else 0
    above, one = self > zero, math.prod(weight.shape) == 1
    for_self, for_weight = grad_input_mask
    return (
        where(above, grad, grad * (weight.reshape(()) if one else weight)) if for_self else None,
        grad * (np.minimum(self, zero) if is_array(self) else where(above, 0.0, self))
        if for_weight
        else None,
    )


def prelu_tangent(inputs, moves, results, params):
    """As PyTorch has it: at 0 the tangent is that from above, the gradient that from below."""
    (self, weight), (move, weight_move) = inputs, moves
    parts = [] if move is None else [where(self >= 0, move, weight * move)]
    parts += [] if weight_move is None else [where(self >= 0, 0.0, weight_move * self)]
    return functools.reduce(operator.add, parts)


_prelu = define(
    "prelu", _prelu_forward, kind="elementwise", node="PreluKernelBackward0", flat=("self",),
    self=prelu_backward, weight=prelu_backward, jvp=prelu_tangent,
)  # fmt: skip


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`x` where positive, else `weight * x`, with one learnt weight for all or one for each channel (dimension 1).

    Its derivative at 0 is the weight.
    """
    size, shape = weight._array.size, input._array.shape
    if weight._array.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight._array.ndim}"
        )
    if size != 1 and not shape:
        raise RuntimeError("Not allow zero-dim input tensor.")
    channels = shape[1] if len(shape) > 1 else 1
    if size not in (1, channels):
        raise RuntimeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {size} and channel size = "
            f"{channels}."
        )
    if weight._array.ndim != len(shape):
        across = (1, size, *(1,) * (len(shape) - 2)) if len(shape) > 1 else (size,) * len(shape)
        weight = (_view if weight._array.flags.c_contiguous else reshape)(weight, across)
    return _prelu(input, weight)


_hardtanh = define(
    "hardtanh", lambda self, min_val, max_val: between(self, min_val, max_val), kind="elementwise", flat=("self",),
    self=lambda grad, self, min_val, max_val: where((self > min_val) & (self < max_val), grad, 0.0),
)  # fmt: skip


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """The elements clamped to [min_val, max_val]; at the bounds the derivative is 0 (that of `clamp` is 1)."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input._array.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if input._array.dtype.kind != "f":
        min_val, max_val = int(min_val), int(max_val)
        if input._array.dtype.kind == "u" and min_val < 0:
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    params = (min_val, max_val)
    return apply_inplace(_hardtanh.op, (input,), params) if inplace else _hardtanh(input, *params)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`min(max(x, 0), 6)`. Its derivative at 0 and at 6 is 0."""
    return hardtanh(input, 0, 6, inplace)


def _line(x: ndarray) -> ndarray:
    """From 0 at -3 to 6 at 3."""
    three, six = constants(x.dtype.char, 3, 6)
    return at_most(positive_part(x + three), six)


SIX = {char: np.asarray(6, char) for char in "efd"}


def _hardsigmoid_forward(x: ndarray) -> ndarray:
    if x.dtype.kind != "f":
        refuse(x, "biu", "hardsigmoid_cpu")
    out = _line(x)
    out /= SIX[x.dtype.char]
    return out


_hardsigmoid = define(
    "hardsigmoid", _hardsigmoid_forward, kind="elementwise", flat=("self",),
    self=lambda grad, self: where(abs(self) < 3, grad * SIXTH, 0.0),
)  # fmt: skip


def _hardswish_forward(x: ndarray) -> ndarray:
    if x.dtype.kind != "f":
        refuse(x, "biu", "hardswish_cpu")
    out = _line(x)
    out *= x
    out /= SIX[out.dtype.char]
    return out


def hardswish_self(grad, self):
    """The slope: 0 up to -3, from there the straight line x/3 + 1/2, 1 from 3 on."""
    if not is_array(self):
        return where(self <= -3, 0.0, where(self >= 3, grad, grad * (self / 3 + 0.5)))
    three, minus_three, half = constants(self.dtype.char, 3, -3, 0.5)
    slope, lift = at_most(self, three), (self < three).astype(self.dtype)
    lift *= half
    slope /= three
    slope += lift
    slope *= grad
    return kept(slope, ~(self <= minus_three))


_hardswish = define("hardswish", _hardswish_forward, kind="elementwise", self=hardswish_self)
_softshrink = define(
    "softshrink", lambda self, lambd: self - between(self, -lambd, lambd), kind="elementwise", flat=("self",),
    self=lambda grad, self, lambd: where((self < -lambd) | (self > lambd), grad, 0.0),
)  # fmt: skip
_hardshrink = define(
    "hardshrink", lambda self, lambd: masked(self, ~(np.abs(self) <= lambd)), kind="elementwise",
    flat=("self",),
    self=lambda grad, self, lambd: where((self < -lambd) | (self > lambd), grad, 0.0),
)  # fmt: skip


def _threshold_forward(self: ndarray, threshold: float, value: float) -> ndarray:
    refuse(self, "b", "threshold_cpu")
    limit = threshold if self.dtype.kind == "f" else int(threshold)
    return chosen(self <= limit, np.asarray(value, self.dtype), self)


_threshold = define(
    "threshold", _threshold_forward, kind="elementwise", flat=("self",),
    self=lambda grad, self, threshold: where(self <= threshold, 0.0, grad),
)  # fmt: skip
_threshold_in_place = define(
    "threshold_", _threshold_forward, kind="elementwise", node="ThresholdBackward1", flat=("self",),
    self=lambda grad, self, threshold: where(self <= threshold, 0.0, grad),
)  # fmt: skip


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A straight line from 0 at -3 to 1 at 3, constant outside. Its derivative at both corners is 0."""
    return apply_inplace(_hardsigmoid.op, (input,)) if inplace else _hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * hardsigmoid(x)`. Its derivative at -3 is 0, at 3 it is 1."""
    return apply_inplace(_hardswish.op, (input,)) if inplace else _hardswish(input)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """The elements moved towards 0 by `lambd`, those nearer than that to 0; at the corners the derivative is 0."""
    _floating(input, "softshrink_check")
    if lambd < 0:
        raise RuntimeError(
            f"lambda must be in range [0, {np.finfo(input._array.dtype).max:.6g}] for input dtype "
            f"{dtypes.word(input._array.dtype)}, but found {lambd:g}"
        )
    return _softshrink(input, lambd)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """The elements, those in [-lambd, lambd] replaced by 0; there the derivative is 0."""
    _floating(input, "hardshrink_cpu")
    return _hardshrink(input, lambd)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """The elements above `threshold`, in the place of the others `value`; there the derivative is 0."""
    if inplace:
        return apply_inplace(_threshold_in_place.op, (input,), (threshold, value))
    return _threshold(input, threshold, value)


# ---------------------------------------------------------------- smooth ones


def _elu_forward(self: ndarray, alpha: float, scale: float, input_scale: float) -> ndarray:
    """Above and below 0: each of the two parts is 0 where the other counts."""
    if self.dtype.kind != "f":
        refuse(self, "biu", "elu_cpu")
    above, below = parts(self)
    if input_scale != 1:
        below *= input_scale
    np.expm1(below, out=below)
    if alpha != 1 or scale != 1:
        above_by, below_by = constants(self.dtype.char, scale, alpha * scale)
        above *= above_by
        below *= below_by
    above += below
    return above


@functools.lru_cache(maxsize=64)
def _elu_slopes(char: str, alpha: float, scale: float, input_scale: float) -> tuple[ndarray, ndarray]:
    """(the factor of exp(x) below 0, how much larger the slope is above), in a dtype."""
    below = np.asarray(alpha * scale * input_scale, char)
    return below, np.asarray(np.asarray(scale, char) - below)


def elu_self(grad, self, alpha, scale, input_scale):
    if not is_array(self):
        below = exp(where(self >= 0, 0.0, self) * input_scale) * (alpha * scale * input_scale)
        return grad * where(self > 0, float(scale), below)
    zero = ZERO[self.dtype.char]
    slope = np.minimum(self, zero, out=...)
    if input_scale != 1:
        slope *= input_scale
    np.exp(slope, out=slope)
    if alpha != 1 or scale != 1 or input_scale != 1:  # above 0 it is 1 so far
        below, more = _elu_slopes(self.dtype.char, alpha, scale, input_scale)
        above = (self > zero).astype(self.dtype)
        above *= more
        slope *= below
        slope += above
    slope *= grad
    return slope


_elu = define(
    "elu", _elu_forward, kind="elementwise",
    self=elu_self,
)  # fmt: skip
_elu_in_place = define(
    "elu_", _elu_forward, kind="elementwise", node="EluBackward1",
    self=lambda grad, result, alpha, scale, input_scale: where(
        result > 0, grad * scale, grad * ((result + alpha * scale) * input_scale)
    ),
)  # fmt: skip
_celu = define(
    "celu", lambda self, alpha: _elu_forward(self, alpha, 1, 1 / alpha), kind="elementwise",
    self=lambda grad, self, alpha: elu_self(grad, self, alpha, 1, 1 / alpha),
)  # fmt: skip

_celu_in_place = define(
    "celu_", _celu.op.forward, kind="elementwise", node="CeluBackward1",
    self=lambda grad, result, alpha: where(result > 0, grad, grad * (result / alpha + 1)),
)  # fmt: skip


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`x` where positive, else `alpha * (exp(x) - 1)`. Its derivative at 0 is alpha."""
    return apply_inplace(_elu_in_place.op, (input,), (alpha, 1, 1)) if inplace else _elu(input, alpha, 1, 1)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """A scaled elu that keeps the mean 0 and the variance 1 of its input (Klambauer and others, 2017)."""
    if inplace:
        return apply_inplace(_elu_in_place.op, (input,), (SELU_ALPHA, SELU_SCALE, 1))
    return _elu(input, SELU_ALPHA, SELU_SCALE, 1)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`x` where positive, else `alpha * (exp(x / alpha) - 1)`. Its derivative at 0 is 1."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    _floating(input, "elu_cpu")
    return apply_inplace(_celu_in_place.op, (input,), (alpha,)) if inplace else _celu(input, alpha)


ROOT_HALF, ROOT_2_OVER_PI, CUBIC = math.sqrt(0.5), math.sqrt(2 / math.pi), 0.044715


def normal_cdf(x):
    """The probability that a standard normal variable is below x."""
    return 0.5 * (1 + erf(x * ROOT_HALF))


def normal_pdf(x):
    return exp(-0.5 * (x * x)) * (1 / math.sqrt(2 * math.pi))


def _gelu_forward(self: ndarray, approximate: str) -> ndarray:
    if self.dtype.kind != "f":
        refuse(self, "biu", "GeluKernelImpl")
    if approximate == "none":
        return self * normal_cdf(self)
    half, one, linear, cubic = constants(self.dtype.char, 0.5, 1, ROOT_2_OVER_PI, ROOT_2_OVER_PI * CUBIC)
    out = np.multiply(self, self, out=...)
    out *= cubic
    out += linear
    out *= self
    np.tanh(out, out=out)
    out += one
    out *= self
    out *= half
    return out


def gelu_self(grad, self, approximate):
    if approximate == "none":
        return grad * (normal_cdf(self) + self * normal_pdf(self))
    half, one, three, linear, cubic = beside_arrays(self, 0.5, 1, 3, ROOT_2_OVER_PI, ROOT_2_OVER_PI * CUBIC)
    cube = self * self * cubic
    t = tanh((cube + linear) * self)
    slope = (one - t * t) * (cube * three + linear)
    return grad * ((t + one + self * slope) * half)


_gelu = define("gelu", _gelu_forward, kind="elementwise", self=gelu_self)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """`x` times the probability that a normal variable is below it; `approximate="tanh"` for a formula without erf."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _gelu(input, approximate)


def silu_self(grad, self):
    if not is_array(self):
        s = sigmoid(self)
        return grad * (s * (1 + self * (1 - s)))
    one, s = ONE[self.dtype.char], _sigmoid(self)
    slope = np.subtract(one, s, out=...)
    slope *= self
    slope += one
    slope *= s
    slope *= grad
    return slope


def _silu_forward(x: ndarray) -> ndarray:
    if x.dtype.kind != "f":
        refuse(x, "biu", "silu_cpu")
    out = np.negative(x, out=...)
    np.exp(out, out=out)
    out += ONE[out.dtype.char]
    return np.divide(x, out, out=out)


_silu = define("silu", _silu_forward, kind="elementwise", self=silu_self)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)`."""
    return apply_inplace(_silu.op, (input,)) if inplace else _silu(input)


def _softplus_forward(self: ndarray, beta: float, threshold: float) -> ndarray:
    if self.dtype.kind != "f":
        refuse(self, "biu", "softplus_cpu")
    scaled = self if beta == 1 else self * beta
    out = np.exp(scaled, out=...)
    np.log1p(out, out=out)
    if beta != 1:
        out /= beta
    straight = scaled > threshold
    return np.where(straight, self, out) if np.count_nonzero(straight) else out


def softplus_self(grad, self, beta, threshold):
    scaled = self if beta == 1 else self * beta
    straight = scaled > threshold
    if is_array(self) and not np.count_nonzero(straight):
        return grad * sigmoid(scaled)
    if not is_array(self):
        scaled = where(scaled >= threshold, float(threshold), scaled)  # the slope is constant from there on
    return where(straight, grad, grad * sigmoid(scaled))


_softplus = define("softplus", _softplus_forward, kind="elementwise", self=softplus_self)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """`log(1 + exp(beta * x)) / beta`, and `x` itself where `beta * x > threshold`."""
    return _softplus(input, beta, threshold)


def mish_self(grad, self):
    t = tanh(_softplus(self, 1, 20))
    return grad * (t + self * sigmoid(self) * (1 - t * t))


_mish = define("mish", lambda x: x * np.tanh(_softplus_forward(x, 1, 20)), kind="elementwise", self=mish_self)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * tanh(softplus(x))`."""
    _floating(input, "mish_cpu")
    return apply_inplace(_mish.op, (input,)) if inplace else _mish(input)


def _log_sigmoid_forward(x: ndarray) -> ndarray:
    return np.minimum(x, np.zeros((), x.dtype)) - np.log1p(np.exp(-np.abs(x)))


_log_sigmoid = define(
    "log_sigmoid", _log_sigmoid_forward, kind="elementwise", self=lambda grad, self: grad * sigmoid(-self)
)


def logsigmoid(input: Tensor) -> Tensor:
    """`log(sigmoid(x))`, without overflow."""
    _floating(input, "log_sigmoid_cpu")
    return _log_sigmoid(input)


def tanhshrink(input: Tensor) -> Tensor:
    """`x - tanh(x)`."""
    return input - tanh(input)


def softsign(input: Tensor) -> Tensor:
    """`x / (1 + |x|)`."""
    return input / (input.abs() + 1)


# ---------------------------------------------------------------- gates


def halves(x, dim: int) -> tuple:
    """The first and the second half of an array or a Tensor along a dimension."""
    first, second = _half_keys(x.shape[dim] // 2, dim)
    return x[first], x[second]


@functools.lru_cache(maxsize=64)
def _half_keys(half: int, dim: int) -> tuple[tuple, tuple]:
    before = (slice(None),) * dim
    return (*before, slice(half)), (*before, slice(half, None))


def glu_self(grad, self, dim):
    value, gate = halves(self, dim)
    if is_array(grad) and is_array(self):
        open_ = _sigmoid(gate)
        for_value = grad * open_
        for_gate = for_value * value
        for_gate *= np.subtract(ONE[self.dtype.char], open_, out=open_)
        return np.concatenate((for_value, for_gate), axis=dim)
    from .joining import cat  # here, as joining.py itself uses operations of this family

    open_ = sigmoid(gate)
    return cat((grad * open_, grad * value * open_ * (1 - open_)), dim)


def _glu_forward(self: ndarray, dim: int) -> ndarray:
    value, gate = halves(self, dim)
    return value * _sigmoid(gate)


_glu = define("glu", _glu_forward, self=glu_self)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """One half of the tensor times the sigmoid of the other."""
    if input._array.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    dim = check_dim(dim, input._array.ndim)
    if input._array.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {input._array.shape[dim]}"
        )
    return _glu(input, dim)


# ---------------------------------------------------------------- softmax with the dimension left to guesswork


def _implied_dim(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None
) -> Tensor:
    """`exp(x)` divided by its sum over a dimension."""
    if dim is None:
        dim = _implied_dim("softmax", input._array.ndim, _stacklevel)
    return exponential.softmax(input, dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None
) -> Tensor:
    """`log(softmax(x))`, without overflow."""
    if dim is None:
        dim = _implied_dim("log_softmax", input._array.ndim, _stacklevel)
    return exponential.log_softmax(input, dim, dtype=dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtypes.dtype | None = None
) -> Tensor:
    """`softmax(-x)`."""
    if dim is None:
        dim = _implied_dim("softmin", input._array.ndim, _stacklevel)
    return exponential.softmax(-input, dim, dtype=dtype)


function(relu, "relu")
define_inplace(relu, "relu_")
function(prelu, "prelu")
function(hardshrink, "hardshrink")

__all__ = ["celu", "hardshrink", "prelu", "relu", "selu", "threshold"]
