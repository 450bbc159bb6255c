"""What layers compute, as functions: `import minigrad.nn.functional as F`. Here are those that are composed of operations.

Images are (N, C, H, W): a batch of N examples with C channels.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..creation import new_leaf
from ..missing import guard, offers
from ..ops import images, linalg, nn
from ..ops.publish import NN, function
from ..ops.shape import common_shape
from ..random import rng
from ..tensor import Tensor
from ..words import expect

globals().update(NN)  # relu, sigmoid, softmax, ...
__all__ = [
    *NN, "avg_pool2d", "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "conv2d", "cross_entropy",
    "dropout", "embedding", "l1_loss", "layer_norm", "linear", "max_pool2d", "mse_loss", "nll_loss", "smooth_l1_loss",
]  # fmt: skip
__dir__, __getattr__ = offers(__name__, __all__)
Sides = int | tuple  # of each spatial dimension, or one number for both
Weight = Tensor | None
NO_BATCH = "input without a batch is not offered: got {} dimensions"
NO_PROBABILITY = "dropout probability has to be between 0 and 1, but got {}"


def pair(value: int | Sequence[int]) -> tuple[int, int]:
    """One number for each spatial dimension; a single number stands for both."""
    told = "padding={!r} is not offered: give the numbers"
    expect(not isinstance(value, str), told, value, error=ValueError)
    height, width = (value, value) if isinstance(value, int) else value
    return height, width


@function(at="")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weightᵀ + bias, for an input of shape (*, n), a weight (m, n) or (n,) and a bias (m,): shape (*, m)."""
    if bias is None:
        return input @ weight.t()
    n = input._array.ndim
    if n == 2:
        return linalg.addmm(bias, input, weight.t())
    whole = input._array.flags.c_contiguous and bias._array.flags.c_contiguous
    if n and weight._array.ndim == 2 and bias._array.ndim == 1 and whole:
        *batch, length = input._array.shape
        out = linalg.addmm(bias, input.view(math.prod(batch), length), weight.t())
        return out.view(*batch, weight._array.shape[0])
    return (input @ weight.t()).add_(bias)


def conv2d(
    input: Tensor, weight: Tensor, bias: Weight = None, stride: Sides = 1, padding: Sides = 0
) -> Tensor:
    """Convolution of (N, C, H, W) with a weight (O, C, KH, KW)."""
    x, window = input._array, weight._array.shape
    expect(x.ndim == 4, NO_BATCH, x.ndim, error=ValueError)
    stride, padding = pair(stride), pair(padding)
    told = "Given groups=1, weight of size {}, expected input{} to have {} channels, but got {} channels "
    expect(x.shape[1] == window[1], told + "instead", window, x.shape, window[1], x.shape[1])
    h, w = [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]
    told = "Calculated padded input size per channel: ({} x {}). Kernel size: ({} x {}). Kernel size can't be greater than "
    expect(h >= window[2] and w >= window[3], told + "actual input size", h, w, *window[2:])
    others = [t._array.dtype for t in (weight, bias) if t is not None and t._array.dtype != x.dtype]
    expect(not others, "expected scalar type {.word} but found {.word}", x.dtype, *others)
    return images.convolution(input, weight, bias, stride, padding)


def _pool_options(input: Tensor, kernel, stride, padding) -> tuple[tuple, ...]:
    """Two numbers for each option; the stride is the kernel's size if it was left out."""
    size, kernel, padding = input._array.shape, pair(kernel), pair(padding)
    stride = kernel if stride is None else pair(stride)
    expect(len(size) in (3, 4), "non-empty 3D or 4D (batch mode) tensor expected for input")
    (h, w), (a, b), (s, t), (p, q) = size[-2:], kernel, stride, padding
    told = "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and "
    expect(p <= a // 2 and q <= b // 2, told + "dilation=1", *((q, b) if p <= a // 2 else (p, a)))
    out = (h + 2 * p - a) // s + 1, (w + 2 * q - b) // t + 1
    told = "Given input size: ({0}x{1}x{2}). Calculated output size: ({0}x{3}x{4}). Output size is too small"
    expect(min(out) > 0, told, *size[-3:], *out)
    return kernel, stride, padding


def max_pool2d(input: Tensor, kernel_size: Sides, stride: Sides | None = None, padding: Sides = 0) -> Tensor:
    """The largest element of each window of (N, C, H, W) or (C, H, W)."""
    return images.max_pool(input, *_pool_options(input, kernel_size, stride, padding))[0]


def avg_pool2d(input: Tensor, kernel_size: Sides, stride: Sides | None = None, padding: Sides = 0) -> Tensor:
    """The mean of each window of (N, C, H, W) or (C, H, W); the padding counts as zeros."""
    return images.avg_pool(input, *_pool_options(input, kernel_size, stride, padding))


@function(at="")
def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """The rows of `weight` (V, D) with the numbers in `input` (*): (*, D). Raises IndexError for rows out of range."""
    told = "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
    told += "{.tensor_type} instead (while checking arguments for embedding)"
    expect(input.dtype in (dtypes.int64, dtypes.int32), told, input.dtype)
    expect(weight.dim() == 2, "'weight' must be 2-D")
    return nn.lookup(weight, input)


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Each element set to 0 with probability p, the others divided by 1 - p; `input` itself if not training."""
    expect(0.0 <= p <= 1.0, NO_PROBABILITY, p, error=ValueError)
    if not training or p == 0 or input.numel() == 0:
        return input
    told = "result type Float can't be cast to the desired output type {.word}"
    expect(input.is_floating_point(), told, input.dtype)
    # those that pass are enlarged, so that the mean stays the same
    tosses = rng().random(tuple(input.shape)) < 1.0 - p
    return input * new_leaf(tosses * np.asarray(1.0 / (1.0 - p) if p < 1 else 0.0, input._array.dtype))


def layer_norm(
    input: Tensor, normalized_shape: tuple, weight: Weight = None, bias: Weight = None, eps: float = 1e-5
) -> Tensor:
    """`(x - mean)/√(var + eps)·weight + bias`, mean and variance over the last dimensions, those in normalized_shape."""
    x, shape = input._array, tuple(normalized_shape)
    if x.shape[-len(shape) :] != shape:
        wanted = ", ".join(map(str, ("*", *shape)))
        told = "Given normalized_shape={}, expected input with shape [{}], but got input of size{}"
        expect(False, told, shape, wanted, x.shape)
    _check_dtypes(x.dtype, "LayerNormKernelImpl", weight, bias)
    return images.native_layer_norm(input, weight, bias, shape, eps)[0]


def _check_dtypes(dtype: np.dtype, kernel: str, *others: Tensor | None) -> None:
    if dtype.kind != "f":
        raise dtypes.not_implemented(kernel, dtype)
    told = "mixed dtype (CPU): all inputs must share same datatype."
    for t in others:
        expect(t is None or t._array.dtype == dtype, told)


def batch_norm(
    input: Tensor,
    running_mean: Weight,
    running_var: Weight,
    weight: Weight = None,
    bias: Weight = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean)/√(var + eps)·weight + bias` for each channel of (N, C, *).

    training: with the mean and variance of this batch, which also move running_mean and running_var (in place, by
    `momentum`; the variance unbiased); else with running_mean and running_var.
    Raises ValueError when training on one value per channel.
    """
    x, channels = input._array, input._array.shape[1]
    told = "Expected more than 1 value per channel when training, got input size {}"
    expect(not training or x.size != channels, told, input.shape, error=ValueError)
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, given in named.items():
        if given is not None and given._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {given._array.size}")
    _check_dtypes(x.dtype, "batch_norm", weight, bias, running_mean, running_var)
    if not training:
        return images.native_batch_norm(input, weight, bias, running_mean, running_var, False, eps)[0]
    out, mean, _, var = images.native_batch_norm(input, weight, bias, None, None, True, eps)
    for running, new in ((running_mean, mean), (running_var, var)):
        if running is not None:
            running.add_((new - running) * momentum)
    return out


REDUCTIONS = {"none": nn.NONE, "mean": nn.MEAN, "sum": nn.SUM}
INDICES = np.dtype(np.int64).char + np.dtype(np.uint8).char  # the dtypes of classes


def _number(reduction: str) -> int:
    expect(reduction in REDUCTIONS, "{} is not a valid value for reduction", reduction, error=ValueError)
    return REDUCTIONS[reduction]


def _pair(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """input and target, broadcast (with PyTorch's warning) and in one dtype."""
    if input.shape != target.shape:
        told = f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will"
        more = "likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        warnings.warn(f"{told} {more}", stacklevel=3)
        shape = common_shape(input.shape, target.shape)
        input, target = (t if t.shape == shape else t.expand(shape) for t in (input, target))
    wanted = dtypes.of_numpy(dtypes.promote([(t._array.dtype, 2) for t in (input, target)]))
    return input.to(wanted), target.to(wanted)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """`(input - target)²`, and its mean or sum. reduction: "none", "mean" or "sum"."""
    return nn.squared_error(*_pair(input, target), _number(reduction))


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """`|input - target|`, and its mean or sum. Where both are equal the derivative is 0."""
    input, target = _pair(input, target)
    return nn.reduced((input - target).abs(), _number(reduction))


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """`d²/(2·beta)` where `d = |input - target| < beta`, else `d - beta/2`."""
    input, target = _pair(input, target)
    if beta == 0:
        return l1_loss(input, target, reduction)
    return nn.smooth_l1(input, target, _number(reduction), beta)


def binary_cross_entropy(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """`-(t·log x + (1 - t)·log(1 - x))` for probabilities x; logarithms are at least -100. Raises RuntimeError outside 0..1."""
    told = "Using a target size ({}) that is different to the input size ({}) is deprecated. Please ensure they have the same "
    expect(input.shape == target.shape, told + "size.", target.shape, input.shape, error=ValueError)
    return nn.bce(input, target, _number(reduction))


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """`binary_cross_entropy` of sigmoid(input), computed without overflow."""
    told = "Target size ({}) must be the same as input size ({})"
    expect(input.shape == target.shape, told, target.shape, input.shape, error=ValueError)
    return nn.bce_logits(input, target, _number(reduction))


def nll_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Minus the log-probability of the target class. input: (N, C) or (C,); target: int64 (N,) or ().

    Raises IndexError for classes that do not exist.
    """
    x, t, kind = input._array, target._array, _number(reduction)
    told = "a loss of classes is not offered here for input of size {}"
    expect(x.ndim <= 2, told, x.shape, error=NotImplementedError)
    if t.shape != x.shape[:-1]:
        n, m = x.shape[0] if x.ndim > 1 else 0, t.shape[0] if t.ndim else 0
        told = "Expected input batch_size ({}) to match target batch_size ({})."
        expect(n == m, told, n, m, error=ValueError)
        expect(False, "0D or 1D target tensor expected, multi-target not supported")
    expect(t.dtype.char in INDICES, "expected target dtype to be Long or Byte, but got {.word}", t.dtype)
    return nn.nll(input, target, kind)[0]


@function(at="", name="cross_entropy_loss")
def cross_entropy(
    input: Tensor, target: Tensor, *, reduction: str = "mean", label_smoothing: float = 0.0
) -> Tensor:
    """`nll_loss` of log_softmax(input). input: logits, (N, C) or (C,); target: classes, int64 (N,) or ().

    label_smoothing: in 0..1, how much of each target is spread evenly over the classes.
    """
    told = "cross_entropy with a probability for each class is not offered here"
    expect(input._array.shape != target._array.shape, told, error=NotImplementedError)
    logs = nn.log_softmax(input, min(1, input._array.ndim - 1))
    loss = nll_loss(logs, target, reduction=reduction)
    if not label_smoothing:
        return loss
    told = "label_smoothing must be between 0.0 and 1.0. Got: {:g}"
    expect(0.0 <= label_smoothing <= 1.0, told, label_smoothing)
    # a part of the loss replaced by the mean over all classes; the nodes, and their order, are PyTorch's
    ignored = target == -100
    smooth = (-logs.sum(-1)).masked_fill(ignored, 0.0)
    if reduction != "none":
        smooth = smooth.sum()
    if reduction == "mean":
        smooth = smooth / (~ignored).sum()
    smooth = nn.mul_number(smooth, label_smoothing / logs.shape[-1])  # first, as the order of backward shows
    return nn.mul_number(loss, 1 - label_smoothing) + smooth


guard(__name__, "nn.functional")
