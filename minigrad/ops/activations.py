"""Activations of neural networks: functions of each element. They are public in `minigrad.nn.functional` and `minigrad.nn`.

Forward functions and rules that vmap also uses (`batch=`) are written for arrays and Tensors alike.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..basics import check
from .operands import constant
from .pointwise import erf, exp, sigmoid, tanh, where
from .shape import cat, key_along
from .table import is_array, op

ndarray = np.ndarray
activation = partial(op, kind="elementwise")
SIXTH = float(np.float32(1 / 6))  # in single precision, as in PyTorch

# ---------------------------------------------------------------- on arrays, and parts of rules


def _relu(self: ndarray) -> ndarray:
    if self.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    return np.maximum(self, constant((), self.dtype, 0))


def normal_cdf(x):
    """The probability that a standard normal variable is below x."""
    return 0.5 * (1 + erf(x * math.sqrt(0.5)))


def _gelu(self: ndarray, approximate: str) -> ndarray:
    check(approximate in ("none", "tanh"), "approximate argument must be either none or tanh.")
    return self * normal_cdf(self) if approximate == "none" else 0.5 * self * (1 + np.tanh(bent(self)))


def bent(x):
    """√(2/π) (x + 0.044715 x³): its tanh is close to the error function of x/√2 (Hendrycks & Gimpel 2016)."""
    return math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))


def gelu_backward(grad, self, approximate):
    """∂x = grad · (Φ(x) + x φ(x)), where Φ is the normal distribution and φ its density, or their approximations."""
    if approximate == "tanh":
        t, slope = tanh(bent(self)), math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * (self * self))
        return grad * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * slope)
    return grad * (normal_cdf(self) + self * (exp(-0.5 * (self * self)) * math.sqrt(0.5 / math.pi)))


def _elu(self: ndarray, alpha: float, scale: float, input_scale: float) -> ndarray:
    return np.where(
        self > 0, self * scale, np.expm1(np.minimum(self, 0) * input_scale) * (alpha * scale)
    ).astype(self.dtype)


def off_zero(x):
    """`x`, but constant at 0, so that the second derivative of an elu is 0 there, as in PyTorch."""
    return where(x == 0, 0.0, x)


def _mish(self: ndarray) -> ndarray:
    return self * np.tanh(np.logaddexp(self, 0))


def mish_backward(grad, self):
    """∂x = grad · (t + x σ(x) (1 - t²)), where t = tanh(log(1 + exp(x))) and σ is the sigmoid."""
    t = tanh(softplus(self))
    return grad * (t + self * sigmoid(self) * (1 - t * t))


def _hardtanh(self: ndarray, min_val: float, max_val: float) -> ndarray:
    check(self.dtype.kind != "b", "Bool inputs not supported for hardtanh")
    message = "cannot do hardtanh on an unsigned type with negative limits"
    check(self.dtype.kind != "u" or int(min(min_val, max_val)) >= 0, message)
    return np.minimum(np.maximum(self, self.dtype.type(min_val)), self.dtype.type(max_val))


def _softshrink(self: ndarray, lambd: float) -> ndarray:
    message = "lambda must be in range [0, {:g}] for input dtype {.word}, but found {:g}"
    check(lambd >= 0, message, np.finfo(self.dtype).max, self.dtype, lambd)
    return np.where(self > lambd, self - lambd, np.where(self < -lambd, self + lambd, self * 0))


def _glu(self: ndarray, dim: int) -> ndarray:
    check(self.ndim > 0, "glu does not support 0-dimensional tensors")
    message = "Halving dimension must be even, but dimension {} is size {}"
    check(self.shape[dim] % 2 == 0, message, dim, self.shape[dim])
    half = self.shape[dim] // 2
    first, second = self[key_along(dim, slice(half))], self[key_along(dim, slice(half, None))]
    return first * sigmoid.op.forward(second)


def glu_backward(grad, self, dim):
    half = self.shape[dim] // 2
    first, gate = self[key_along(dim, slice(half))], sigmoid(self[key_along(dim, slice(half, None))])
    parts = [grad * gate, grad * first * gate * (1 - gate)]
    return np.concatenate(parts, dim) if is_array(grad) else cat(parts, dim)


def below(x, threshold: float):
    """x, but infinite above the threshold; at the threshold it is a constant, so that the second derivative there is 0."""
    if is_array(x) and x.size and x.item(x.argmax()) < threshold:  # the usual case; false for a NaN
        return x
    return where(x == threshold, threshold, where(x > threshold, math.inf, x))


def _softplus(self: ndarray, beta: float, threshold: float) -> ndarray:
    x = self * beta
    y = np.log1p(np.exp(x)) / beta
    return y if below(x, threshold) is x else np.where(x > threshold, self, y)


# fmt: off
# ---------------------------------------------------------------- activations

relu = activation("relu(self)", _relu, at="torch Tensor", zero_slope=("result",),
    doc="`max(input, 0)`. Its derivative at 0 is 0.",
    self=lambda grad, result: where(result != 0, grad, 0.0))  # it is positive then, or NaN
leaky_relu = activation("leaky_relu(self, negative_slope: Scalar=0.01)", lambda self, negative_slope:
        np.where(self > 0, self, self * negative_slope), at="", takes="f", zero_slope=("self",),
    doc="`input` where positive, else `negative_slope * input`. Its derivative at 0 is `negative_slope`.",
    self=lambda grad, self, negative_slope: where(self > 0, grad, grad * negative_slope))
gelu = activation("gelu(self, *, approximate: str='none')", _gelu, at="", takes="f", kernel="GeluKernelImpl",
    doc="`input` times the probability that a normal variable is below it; approximate=\"tanh\" uses a formula with tanh.",
    self=gelu_backward)
silu = activation("silu(self)", lambda self: self / (1 + np.exp(-self)), at="", takes="f",
    doc="`input * sigmoid(input)`.", self=lambda grad, self: grad * ((s := sigmoid(self)) * (1 + self * (1 - s))))
softplus = activation("softplus(self, beta: Scalar=1.0, threshold: Scalar=20.0)", _softplus, at="F", takes="f",
    doc="`log(1 + exp(beta * input)) / beta`, and `input` itself where `beta * input > threshold`.",
    self=lambda grad, self, beta, threshold: grad * sigmoid(below(self * beta, threshold)))
logsigmoid = activation("logsigmoid(self)",
    lambda self: np.minimum(self, 0) - np.log1p(np.exp(-np.abs(self))), at="F", takes="f", kernel="log_sigmoid_cpu",
    node="LogSigmoidBackward0", doc="`log(sigmoid(input))`, without overflow.",
    self=lambda grad, self: grad * sigmoid(-self))
elu_of = activation("elu(self, alpha: Scalar=1.0, scale: Scalar=1.0, input_scale: Scalar=1.0)", _elu, at="", takes="f",
    self=lambda grad, self, alpha, scale, input_scale:
        grad * where(self > 0, scale, exp(off_zero(self) * input_scale) * (alpha * scale * input_scale)))
celu_of = activation("celu(self, alpha: Scalar=1.0)", lambda self, alpha: _elu(self, alpha, 1.0, 1 / alpha), at="", takes="f",
    kernel="elu_cpu",
    self=lambda grad, self, alpha: grad * where(self > 0, 1.0, exp(off_zero(self) / alpha)))
hardtanh_of = activation("hardtanh(self, min_val: Scalar=-1.0, max_val: Scalar=1.0)", _hardtanh, at="",
    zero_slope=("self",), self=lambda grad, self, min_val, max_val: where((self > min_val) & (self < max_val), grad, 0.0))
hardsigmoid_of = activation("hardsigmoid(self)", lambda self: np.clip(self + 3, 0, 6) / 6, at="", takes="f",
    self=lambda grad, self: where((self > -3) & (self < 3), grad * SIXTH, 0.0))
hardswish_of = activation("hardswish(self)", lambda self: self * np.clip(self + 3, 0, 6) / 6, at="", takes="f",
    self=lambda grad, self: where(self <= -3, 0.0, where(self >= 3, grad, grad * (self / 3 + 0.5))))
mish_of = activation("mish(self)", _mish, at="", takes="f", self=mish_backward)
softshrink = activation("softshrink(self, lambd: Scalar=0.5)", _softshrink, at="F", takes="f", kernel="softshrink_check",
    doc="`input` moved towards 0 by `lambd`; 0 where `|input| <= lambd`.",
    zero_slope=("self",), self=lambda grad, self, lambd: where((self > lambd) | (self < -lambd), grad, 0.0))
hardshrink = activation("hardshrink(self, lambd: Scalar=0.5)", lambda self, lambd:
        np.where(np.abs(self) <= lambd, self.dtype.type(0), self), at="F torch Tensor", inplace=False, takes="f",
    doc="`input`; 0 where `|input| <= lambd`.",
    zero_slope=("self",), self=lambda grad, self, lambd: where((self > lambd) | (self < -lambd), grad, 0.0))
threshold_of = activation("threshold(self, threshold: Scalar, value: Scalar)", lambda self, threshold, value:
        np.where(self <= threshold, np.asarray(value, self.dtype), self), at="", takes="fiu",
    zero_slope=("self",), self=lambda grad, self, threshold: where(self <= threshold, 0.0, grad))
prelu_of = activation("prelu(self, weight)", lambda self, weight: np.where(self > 0, self, self * weight), at="",
    zero_slope=("self",), node="PreluKernelBackward0", self=lambda grad, self, weight: where(self > 0, grad, grad * weight),
    weight=lambda grad, self: where(self > 0, 0.0, grad * self))
glu = op("glu(self, dim: dim=-1)", _glu, at="F", takes="f", self=glu_backward,
         doc="The first half along `dim` times the sigmoid of the second half.")
# in-place forms, which save their result
leaky_relu_written = activation("leaky_relu(self, negative_slope: Scalar)", leaky_relu.op.forward, at="",
    zero_slope=("result",), node="LeakyReluBackward1",
    self=lambda grad, result, negative_slope: where(result > 0, grad, grad * negative_slope))
elu_written = activation("elu(self, alpha: Scalar, scale: Scalar, input_scale: Scalar)", _elu, at="", node="EluBackward1",
    takes="f", self=lambda grad, result, alpha, scale, input_scale:
        grad * where(result > 0, scale, (off_zero(result) + alpha * scale) * input_scale))
celu_written = activation("celu(self, alpha: Scalar)", celu_of.op.forward, at="", node="CeluBackward1",
    self=lambda grad, result, alpha: grad * where(result > 0, 1.0, off_zero(result) / alpha + 1))
# fmt: on
