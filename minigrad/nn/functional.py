"""What layers compute, as functions: `import minigrad.nn.functional as F`. Here are those that are composed of operations.

Images are (N, C, H, W): a batch of N examples with C channels.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..autograd.modes import local
from ..basics import not_offered
from ..ops import images, nn
from ..ops.nn import MEAN, NONE, SUM
from ..ops.pointwise import clamp_min
from ..ops.publish import NN
from ..ops.shape import common_shape
from ..random import drawn, rng
from ..tensor import Tensor, full_name, wrap

globals().update(NN)  # linear, relu, sigmoid, ...
__all__ = [
    *NN, "avg_pool2d", "batch_norm", "binary_cross_entropy", "binary_cross_entropy_with_logits", "conv2d", "cross_entropy",
    "dropout", "embedding", "l1_loss", "layer_norm", "max_pool2d", "mse_loss", "nll_loss", "normalize", "smooth_l1_loss",
]  # fmt: skip
__dir__ = __all__.copy  # what completion offers
__getattr__ = not_offered("nn.functional.")


def pair(value: int | Sequence[int]) -> tuple[int, int]:
    """One number for each spatial dimension; a single number stands for both."""
    if isinstance(value, str):
        raise ValueError(f"padding={value!r} is not offered: give the numbers")
    height, width = (value, value) if isinstance(value, int) else value
    return height, width


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple = 0,
) -> Tensor:
    """Convolution of (N, C, H, W), or (C, H, W), with a weight (O, C, KH, KW)."""
    size, window = input.shape, weight.shape
    if len(size) == 3:
        return conv2d(input.unsqueeze(0), weight, bias, stride, padding).squeeze(0)
    if len(size) != 4:
        raise RuntimeError(
            f"Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: {list(size)}"
        )
    stride, padding = pair(stride), pair(padding)
    if size[1] != window[1]:
        raise RuntimeError(
            f"Given groups=1, weight of size {list(window)}, expected input{list(size)} to have {window[1]} channels, but got "
            f"{size[1]} channels instead"
        )
    padded = [n + 2 * p for n, p in zip(size[2:], padding, strict=True)]
    if padded[0] < window[2] or padded[1] < window[3]:
        raise RuntimeError(
            "Calculated padded input size per channel: ({} x {}). Kernel size: ({} x {}). Kernel size can't be greater than "
            "actual input size".format(*padded, *window[2:])
        )
    for t in (weight, weight if bias is None else bias):
        if input.dtype is not t.dtype:
            raise RuntimeError(f"expected scalar type {input.dtype.word} but found {t.dtype.word}")
    return images.convolution(input, weight, bias, stride, padding)


def _pool_options(input: Tensor, kernel, stride, padding) -> list[tuple]:
    """Two numbers for each option; the stride is the kernel's size if it was left out."""
    if input.dim() not in (3, 4):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    found, out = [pair(v) for v in (kernel, kernel if stride is None else stride, padding)], []
    for n, k, s, p in zip(input.shape[-2:], *found, strict=True):
        if p > k // 2:
            told = f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation=1"
            raise RuntimeError(told)
        out.append((n + 2 * p - k) // s + 1)
    if min(out) < 1:
        sizes = ("x".join(map(str, (input.shape[-3], *n))) for n in (input.shape[-2:], out))
        raise RuntimeError(
            "Given input size: ({}). Calculated output size: ({}). Output size is too small".format(*sizes)
        )
    return found


def max_pool2d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    dilation: int | tuple = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of (N, C, H, W) or (C, H, W)."""
    if dilation not in (1, (1, 1)) or ceil_mode:
        raise NotImplementedError("max_pool2d with dilation or ceil_mode is not offered here")
    return images.max_pool(input, *_pool_options(input, kernel_size, stride, padding))[0]


def avg_pool2d(
    input: Tensor, kernel_size: int | tuple, stride: int | tuple | None = None, padding: int | tuple = 0
) -> Tensor:
    """The mean of each window of (N, C, H, W) or (C, H, W); the padding counts as zeros."""
    return images.avg_pool(input, *_pool_options(input, kernel_size, stride, padding))


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """The rows of `weight` (V, D) with the numbers in `input` (*): (*, D). Raises IndexError for rows out of range."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"embedding(): argument 'indices' (position 2) must be Tensor, not {full_name(type(input))}"
        )
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
    if input.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.dtype.tensor_type} instead (while checking arguments for embedding)"
        )
    return nn.lookup(weight, input)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(input, 0)`, element by element; with `inplace` written into `input`."""
    return input.relu_() if inplace else NN["relu"](input)


@drawn
def _mask(shape: tuple, p: float, dtype: np.dtype) -> Tensor:
    """0 with probability p, else 1/(1-p), so that the mean of what passes stays the same."""
    tosses = rng().random(shape) < 1.0 - p
    return wrap(tosses * np.asarray(1.0 / (1.0 - p) if p < 1 else 0.0, dtype))


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Each element set to 0 with probability p, the others divided by 1 - p; `input` itself if not training."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or input.numel() == 0:
        return input
    if not input.is_floating_point():
        raise RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype.word}")
    return input * _mask(tuple(input.shape), p, input._array.dtype)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean)/√(var + eps)·weight + bias`, mean and variance over the last dimensions, those in normalized_shape."""
    x, shape = input._array, tuple(normalized_shape)
    if x.shape[-len(shape) :] != shape:
        wanted = ", ".join(map(str, ("*", *shape)))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{wanted}], but got input of size{list(x.shape)}"
        )
    _check_dtypes(x.dtype, "LayerNormKernelImpl", weight, bias)
    return images.native_layer_norm(input, weight, bias, shape, eps)[0]


def _check_dtypes(dtype: np.dtype, kernel: str, *others: Tensor | None) -> None:
    if dtype.kind != "f":
        raise dtypes.not_implemented(kernel, dtype)
    for t in others:
        if t is not None and t._array.dtype != dtype:
            raise RuntimeError(
                "mixed dtype (CPU): all inputs must share same datatype.\n"
                f"Got torch.{dtype} and {t.dtype}; input.to({t.dtype}) makes them one"
            )


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
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
    if training and x.size == channels:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}"
        )
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, given in named.items():
        if given is not None and given._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {given.numel()}")
    _check_dtypes(x.dtype, "batch_norm", weight, bias, running_mean, running_var)
    if not training:
        return images.native_batch_norm(input, weight, bias, running_mean, running_var, False, eps)[0]
    out, mean, _, var = images.native_batch_norm(input, weight, bias, None, None, True, eps)
    for running, new in ((running_mean, mean), (running_var, var)):
        if running is not None and local.interpreter is None:
            running._array += momentum * (new._array - running._array)
            running._own_counter().version += 1
        elif running is not None:
            running.add_((new - running) * momentum)
    return out


def normalize(input: Tensor, p: float = 2.0, dim: int | tuple = 1, eps: float = 1e-12) -> Tensor:
    """`input` divided by its p-norm along `dim`, which is at least eps."""
    return input / clamp_min(input.norm(p, dim, keepdim=True), eps).expand(input.shape)


REDUCTIONS = {"none": NONE, "mean": MEAN, "sum": SUM}
INDICES = np.dtype(np.int64).char + np.dtype(np.uint8).char  # the dtypes of classes


def _number(reduction: str) -> int:
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]


def _pair(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """input and target, broadcast (with PyTorch's warning) and in one dtype."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
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
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please "
            "ensure they have the same size."
        )
    return nn.bce(input, target, _number(reduction))


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """`binary_cross_entropy` of sigmoid(input), computed without overflow."""
    if input.shape != target.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return nn.bce_logits(input, target, _number(reduction))


def nll_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Minus the log-probability of the target class. input: (N, C) or (C,); target: int64 (N,) or ().

    Raises IndexError for classes that do not exist.
    """
    x, t, kind = input._array, target._array, _number(reduction)
    if x.ndim > 2:
        raise NotImplementedError(f"a loss of classes is not offered here for input of size {list(x.shape)}")
    if t.shape != x.shape[:-1]:
        _refuse_target(x.shape, t.shape)
    if t.dtype.char not in INDICES:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.word}")
    if local.interpreter is not None:  # of operations that every transform knows
        return nn.reduced(-input.gather(-1, target.unsqueeze(-1)).squeeze(-1), kind)
    return nn.nll(input, target, kind)[0]


def _refuse_target(size: tuple, target: tuple) -> None:
    """Raise PyTorch's error for log-probabilities and classes that do not go together."""
    if len(size) > 1 and (not target or size[0] != target[0]):
        raise ValueError(
            f"Expected input batch_size ({size[0]}) to match target batch_size ({target[0] if target else 0})."
        )
    raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")


def cross_entropy(
    input: Tensor, target: Tensor, *, reduction: str = "mean", label_smoothing: float = 0.0
) -> Tensor:
    """`nll_loss` of log_softmax(input). input: logits, (N, C) or (C,); target: classes, int64 (N,) or ().

    label_smoothing: in 0..1, how much of each target is spread evenly over the classes.
    """
    if not (isinstance(input, Tensor) and isinstance(target, Tensor)):
        name, place, wrong = ("target", 2, target) if isinstance(input, Tensor) else ("self", 1, input)
        raise TypeError(
            f"cross_entropy_loss(): argument '{name}' (position {place}) must be Tensor, not {full_name(type(wrong))}"
        )
    if input._array.shape == target._array.shape:
        raise NotImplementedError("cross_entropy with a probability for each class is not offered here")
    logs = nn.log_softmax(input, min(1, input._array.ndim - 1))
    loss = nll_loss(logs, target, reduction=reduction)
    if not label_smoothing:
        return loss
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    # a part of the loss replaced by the mean over all classes; the nodes, and their order, are PyTorch's
    ignored = target == -100
    smooth = (-logs.sum(-1)).masked_fill(ignored, 0.0)
    if reduction != "none":
        smooth = smooth.sum()
    if reduction == "mean":
        smooth = smooth / (~ignored).sum()
    smooth = nn.mul_number(smooth, label_smoothing / logs.shape[-1])  # first, as the order of backward shows
    return nn.mul_number(loss, 1 - label_smoothing) + smooth
