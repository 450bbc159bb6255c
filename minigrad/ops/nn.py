"""The operations of neural networks that have nothing to do with images: activations, softmax, losses, looking up.

`minigrad.nn.functional` offers them, with what is composed of them. Forward functions and rules that are used inside vmap,
too (`batch=`), are written for arrays and Tensors alike.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .. import dtypes
from ..words import expect
from .pointwise import abs, clamp, clamp_min, erf, exp, log, log1p, sigmoid, where, within
from .reduction import add_at, added, average, leaves, rows, sum_dim
from .run import constant
from .shape import split_equally
from .table import is_array, op, zeros_beside

ndarray = np.ndarray
activation = partial(op, kind="elementwise")
NONE, MEAN, SUM = 0, 1, 2  # the `reduction` of a loss, as in PyTorch's saved values

# ---------------------------------------------------------------- on arrays, and what rules are made of


def floats(x, kernel: str):
    """The array or Tensor. Raises NotImplementedError, with PyTorch's name of the kernel, unless it is floating point."""
    if is_array(x) and x.dtype.kind != "f":
        raise dtypes.not_implemented(kernel, x.dtype)
    return x


def _relu(self: ndarray) -> ndarray:
    expect(self.dtype.kind != "b", "Boolean inputs not supported for relu")
    return np.maximum(self, constant((), self.dtype, 0))


def normal_cdf(x):
    """The probability that a standard normal variable is below x."""
    return 0.5 * (1 + erf(x * math.sqrt(0.5)))


def _gelu(self: ndarray, approximate: str) -> ndarray:
    told = "gelu with approximate={!r} is not offered here"
    expect(approximate == "none", told, approximate, error=NotImplementedError)
    return floats(self, "GeluKernelImpl") * normal_cdf(self)


def gelu_backward(grad, self):
    """∂x = grad · (Φ(x) + x φ(x)), Φ the normal distribution and φ its density."""
    return grad * (normal_cdf(self) + self * (exp(-0.5 * (self * self)) * math.sqrt(0.5 / math.pi)))


def below(x, threshold: float):
    """x, but infinite above the threshold; at the threshold it is a constant, so that the second derivative there is 0."""
    if is_array(x) and x.size and x.item(x.argmax()) < threshold:  # as nearly always; a NaN is not
        return x
    return where(x == threshold, threshold, where(x > threshold, math.inf, x))


def _softplus(self: ndarray, beta: float, threshold: float) -> ndarray:
    x = floats(self, "softplus_cpu") * beta
    y = np.log1p(np.exp(x)) / beta
    return y if below(x, threshold) is x else np.where(x > threshold, self, y)


def sums(x, dim: int):
    """The sums over a dimension, which is kept, of an array or a Tensor."""
    if type(x) is ndarray and dim == x.ndim - 1:  # a product with ones takes a fraction of the time
        return x.dot(constant((x.shape[dim], 1), x.dtype.char))
    return sum_dim(x, (dim,), True) if len(x.shape) else x


def shifted(x: ndarray, dim: int, name: str) -> tuple[ndarray, ndarray, ndarray]:
    """(y, exp(y), the sums of these along `dim`), where y is x less the largest of each row, or x itself if it is near 0."""
    if x.dtype.kind != "f":
        floats(x, f"{name}{'_lastdim' * (dim == x.ndim - 1)}_kernel_impl")
    if not x.size or (x.item(x.argmin()) > -3 and x.item(x.argmax()) < 3):  # a NaN is not
        y = x
    elif dim == x.ndim - 1 and x.flags.c_contiguous:  # where the largest is takes a fifth of the time
        y = x - x.take(x.argmax(dim) + rows(x.shape))[..., None]
    else:
        y = x - np.maximum.reduce(x, axis=dim if x.ndim else None, keepdims=True)
    e = np.exp(y)
    return y, e, sums(e, dim)


def _softmax(self: ndarray, dim: int) -> ndarray:
    _, e, summed = shifted(self, dim, "softmax")
    e /= summed
    return e


def _log_softmax(self: ndarray, dim: int) -> ndarray:
    y, _, summed = shifted(self, dim, "log_softmax")
    return y - np.log(summed)


def softmax_backward(grad, result, dim):
    weighted = grad * result
    return weighted - result * sums(weighted, dim)


def reduced(values, reduction: int):
    """The values, their mean or their sum; of an array or a Tensor."""
    if is_array(values):  # at once: the first call of an operation is dear
        return values if reduction == NONE else (average if reduction == MEAN else added)(values)
    return values if reduction == NONE else values.mean() if reduction == MEAN else values.sum()


def share(grad, like, reduction: int):
    """The transpose of `reduced`, not yet broadcast: the gradient that each element of `like` gets."""
    return grad / math.prod(like.shape) if reduction == MEAN else grad


def weighted(values, weight):
    return values if weight is None else values * weight


def _mse(self, target, reduction):
    difference = floats(self, "mse_cpu") - target
    return reduced(difference * difference, reduction)


def _smooth_l1(self, target, reduction, beta):
    d = abs(floats(self, "smooth_l1_cpu") - target)
    return reduced(where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), reduction)


def smooth_l1_backward(grad, grad_input_mask, self, target, reduction, beta):
    """∂self = grad · clip((self - target) / beta, -1, 1), ∂target = -∂self."""
    slope = clamp((self - target) / beta, -1.0, 1.0) * share(grad, self, reduction)
    return slope if grad_input_mask[0] else None, -slope if grad_input_mask[1] else None


def _bce(self, target, reduction):
    if is_array(self):
        told = "Found dtype {0.word} but expected {1.word}"
        expect(target.dtype == self.dtype, told, target.dtype, self.dtype)
        expect(within(self, 0, 1).all(), "all elements of input should be between 0 and 1")
    # logarithms of at least -100, so that a certain and wrong answer costs 100, not infinity
    yes, no = clamp_min(log(floats(self, "binary_cross_entropy")), -100.0), clamp_min(log1p(-self), -100.0)
    return reduced((target - 1) * no - target * yes, reduction)


def _bce_logits(self, target, reduction):
    return reduced((1 - target) * self - logsigmoid(self), reduction)


def _nll(self, target, reduction):
    if leaves(target, self.shape[-1]):
        bad = next(t for t in target.flat if not 0 <= t < self.shape[-1])
        raise IndexError(f"Target {bad} is out of bounds.")
    picked = self.take(rows(self.shape) + target)
    if reduction == NONE:
        return -picked, np.zeros((), self.dtype)
    return 0 - reduced(picked, reduction), np.array(picked.size, self.dtype)


def _nll_spread(self, target, sizes, reduction):
    out = np.zeros(sizes, self.dtype)
    out.reshape(-1)[rows(sizes) + target] = share(-self, target, reduction)
    return out


def _lookup(weight, indices):
    expect(not leaves(indices, weight.shape[0]), "index out of range in self", error=IndexError)
    return weight.take(indices, 0)


def _lookup_back(self, indices, rows):
    """The transpose of looking up: the gradients of the same row are added up."""
    places = indices[..., None] * self.shape[-1] + np.arange(self.shape[-1])
    return add_at(np.zeros((rows, self.shape[-1]), self.dtype), places, self)


# fmt: off
# ---------------------------------------------------------------- activations

relu = activation("relu(self)", _relu, at="torch Tensor F nn.ReLU", flat=("result",),
    doc="`max(x, 0)`. Its derivative at 0 is 0.",
    self=lambda grad, result: where(result != 0, grad, 0.0))  # it is positive then, or NaN
leaky_relu = activation("leaky_relu(self, negative_slope: Scalar=0.01)", lambda self, negative_slope:
        np.where(self > 0, self, floats(self, "leaky_relu_cpu") * negative_slope), at="F nn.LeakyReLU", flat=("self",),
    doc="`x` where positive, else `negative_slope * x`; so is its derivative at 0.",
    self=lambda grad, self, negative_slope: where(self > 0, grad, grad * negative_slope))
gelu = activation("gelu(self, *, approximate: str='none')", _gelu, at="F nn.GELU",
    doc="`x` times the probability that a normal variable is below it.", self=gelu_backward)
silu = activation("silu(self)", lambda self: self / (1 + np.exp(-floats(self, "silu_cpu"))), at="F nn.SiLU",
    doc="`x * sigmoid(x)`.", self=lambda grad, self: grad * ((s := sigmoid(self)) * (1 + self * (1 - s))))
softplus = activation("softplus(self, beta: Scalar=1.0, threshold: Scalar=20.0)", _softplus, at="F nn.Softplus",
    doc="`log(1 + exp(beta * x)) / beta`, and `x` itself where `beta * x > threshold`.",
    self=lambda grad, self, beta, threshold: grad * sigmoid(below(self * beta, threshold)))
logsigmoid = activation("logsigmoid(self)",
    lambda self: np.minimum(floats(self, "log_sigmoid_cpu"), 0) - np.log1p(np.exp(-np.abs(self))),
    at="F nn.LogSigmoid", node="LogSigmoidBackward0", doc="`log(sigmoid(x))`, without overflow.",
    self=lambda grad, self: grad * sigmoid(-self))

# ---------------------------------------------------------------- softmax

softmax = op("softmax(self, dim: dim)", _softmax, at="torch Tensor F nn.Softmax", self=softmax_backward,
    doc="`exp(x)` divided by its sum over the dimension `dim`: positive numbers that add up to 1.")
log_softmax = op("log_softmax(self, dim: dim)", _log_softmax, at="torch Tensor F nn.LogSoftmax",
    jvp=lambda inputs, moves, results, params: moves[0] - sums(exp(results[0]) * moves[0], *params),
    doc="`log(softmax(x))`, computed without overflow.", self=lambda grad, result, dim: grad - exp(result) * sums(grad, dim))

# ---------------------------------------------------------------- losses

squared_error = op("mse_loss(self, target, reduction: int)", _mse, at="", batch=_mse,
    self=lambda grad, self, target, reduction: share(grad, self, reduction) * 2 * (self - target),
    target=lambda grad, self, target, reduction: share(grad, self, reduction) * -2 * (self - target))
smooth_l1 = op("smooth_l1_loss(self, target, reduction: int, beta: float)", _smooth_l1, at="", batch=_smooth_l1,
    node="SmoothL1LossBackward0", self=smooth_l1_backward, target=smooth_l1_backward)
bce = op("binary_cross_entropy(self, target, reduction: int)", _bce, at="", batch=_bce,
    self=lambda grad, self, target, reduction:
        share(grad, self, reduction) * (self - target) / clamp_min((1 - self) * self, 1e-12),
    target=lambda grad, self, reduction: share(grad, self, reduction) * (log(1 - self) - log(self)))
bce_logits = op("binary_cross_entropy_with_logits(self, target, reduction: int)", _bce_logits, at="", batch=_bce_logits,
    self=lambda grad, self, target, reduction: share(grad, self, reduction) * (sigmoid(self) - target),
    target=lambda grad, self, reduction: share(grad, self, reduction) * -self)
nll = op("nll_loss(self, target, reduction: int)", _nll, at="", outputs=("result", "total_weight"),
    constants=("total_weight",), flat=("self",), kind="linear", self=lambda grad, self, target, total_weight, reduction:
        nll_loss_backward(grad, target, tuple(self.shape), reduction), batch=lambda self, target, reduction:
        (reduced(-self.gather(-1, target[..., None])[..., 0], reduction), zeros_beside(self, ()) + math.prod(target.shape)))
nll_loss_backward = op("nll_loss_backward(self, target, sizes: object, reduction: int)", _nll_spread, at="", kind="linear",
    node="NllLossBackwardBackward0", self=lambda grad, target, reduction: nll(grad, target, reduction)[0],
    batch=lambda self, target, sizes, reduction:
        where(target[..., None] == np.arange(sizes[-1]), share(-self, target, reduction)[..., None], 0.0))

# ---------------------------------------------------------------- looking up

lookup = op("embedding(weight, indices)", _lookup, at="", kind="linear", batch=lambda weight, indices: weight[indices],
    weight=lambda grad, weight_sym_sizes, indices: lookup_back(grad, indices, weight_sym_sizes[0]))
lookup_back = op("embedding_backward(self, indices, rows: int)", _lookup_back, at="", kind="linear",
    node="EmbeddingDenseBackwardBackward0", self=lambda grad, indices: lookup(grad, indices))
# Gates that are written over: no views, so who writes to a part must not use the whole again.
unsafe_split = op("unsafe_split(self, split_size: int, dim: dim)", split_equally.op.forward, kind="linear", outputs=(),
    at="", **split_equally.op.rules)
# fmt: on
