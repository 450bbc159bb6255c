"""What layers compute, as functions: `import minigrad.nn.functional as F`. Signatures and errors are PyTorch's.

Convolutions, pooling and normalisation take (N, C, ...): a batch of N examples with C channels.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import no_grad
from ..ops import loss as losses
from ..ops import nn as ops
from ..ops.loss import broadcast_pair
from ..random import rng
from ..tensor import Tensor, wrap

# ---------------------------------------------------------------- convolution


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple | str = 0,
    dilation: int | tuple = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of (N, C, L) with a weight (O, C/groups, K): (N, O, (L + 2·padding - dilation·(K-1) - 1)/stride + 1).

    padding: a number, "valid" or "same". Raises RuntimeError for shapes that do not fit.
    """
    return ops.conv_nd(input, weight, bias, stride, padding, dilation, groups, 1)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple | str = 0,
    dilation: int | tuple = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of (N, C, H, W) with a weight (O, C/groups, KH, KW); see conv1d."""
    return ops.conv_nd(input, weight, bias, stride, padding, dilation, groups, 2)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple | str = 0,
    dilation: int | tuple = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of (N, C, D, H, W) with a weight (O, C/groups, KD, KH, KW); see conv1d."""
    return ops.conv_nd(input, weight, bias, stride, padding, dilation, groups, 3)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple = 0,
    output_padding: int | tuple = 0,
    groups: int = 1,
    dilation: int | tuple = 1,
) -> Tensor:
    """The transpose of conv1d: (N, C, L) with a weight (C, O/groups, K)."""
    return ops.conv_transpose_nd(input, weight, bias, stride, padding, output_padding, groups, dilation, 1)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple = 0,
    output_padding: int | tuple = 0,
    groups: int = 1,
    dilation: int | tuple = 1,
) -> Tensor:
    """The transpose of conv2d: (N, C, H, W) with a weight (C, O/groups, KH, KW)."""
    return ops.conv_transpose_nd(input, weight, bias, stride, padding, output_padding, groups, dilation, 2)


# ---------------------------------------------------------------- pooling


def max_pool2d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    dilation: int | tuple = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The maximum of each window of (N, C, H, W) or (C, H, W); the gradient goes to the first of equal maxima.

    return_indices: also the position of each maximum in its plane, counted row by row.
    """
    window = ops.check_pool(input, kernel_size, stride, padding, dilation, ceil_mode, "max_pool2d()")
    out, indices = ops.max_pool2d_with_indices(input, *window, ceil_mode)
    return (out, indices) if return_indices else out


def _one_dim(value: int | tuple | None, other: int) -> tuple | None:
    """The argument of a one-dimensional pooling for the two-dimensional one with height 1."""
    return None if value is None else (other, value if isinstance(value, int) else value[0])


def _check_1d(input: Tensor, caller: str) -> None:
    if input.dim() not in (2, 3):
        raise RuntimeError(f"{caller}() Expected 2D or 3D input tensor, but got {list(input.shape)}")


def max_pool1d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    dilation: int | tuple = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The maximum of each window of (N, C, L) or (C, L)."""
    _check_1d(input, "max_pool1d")
    window = (_one_dim(kernel_size, 1), _one_dim(stride, 1), _one_dim(padding, 0), _one_dim(dilation, 1))
    out, indices = max_pool2d(input.unsqueeze(-2), *window, ceil_mode, True)
    return (out.squeeze(-2), indices.squeeze(-2)) if return_indices else out.squeeze(-2)


def avg_pool2d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of (N, C, H, W) or (C, H, W); with count_include_pad padding counts as zeros."""
    window = ops.check_pool(input, kernel_size, stride, padding, 1, ceil_mode, "avg_pool2d()")
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    return ops.avg_pool2d(input, *window[:3], ceil_mode, count_include_pad, divisor_override)


def avg_pool1d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of (N, C, L) or (C, L)."""
    _check_1d(input, "avg_pool1d")
    window = (_one_dim(kernel_size, 1), _one_dim(stride, 1), _one_dim(padding, 0))
    return avg_pool2d(input.unsqueeze(-2), *window, ceil_mode, count_include_pad).squeeze(-2)


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """The mean over as many windows as make an output of `output_size`; None keeps a length."""
    if input.dim() not in (3, 4):
        raise RuntimeError(f"adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got {list(input.shape)}")
    given = (output_size,) * 2 if isinstance(output_size, int) else tuple(output_size)
    size = tuple(n if want is None else want for want, n in zip(given, input.shape[-2:], strict=True))
    if size == (1, 1):
        return input.mean((-1, -2), keepdim=True)
    return ops.adaptive_avg_pool2d(input, size)


def adaptive_avg_pool1d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """The mean over as many windows of (N, C, L) as make an output of that length."""
    _check_1d(input, "adaptive_avg_pool1d")
    size = output_size if isinstance(output_size, int) else output_size[0]
    return ops.adaptive_avg_pool2d(input.unsqueeze(-2), (1, size)).squeeze(-2)


# ---------------------------------------------------------------- padding


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """`input` with more elements at the ends of its last dimensions.

    pad: (before, after) of the last dimension, then of the one before it, ...; negative numbers cut off.
    mode: "constant" (filled with `value`, default 0), "reflect", "replicate" or "circular".
    """
    pad = tuple(int(p) for p in pad)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    dims = len(pad) // 2
    if dims > input.dim():
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length {len(pad)} "
            f"and input of dimension {input.dim()}"
        )
    if mode == "constant":
        _check_pad_lengths(input, pad)
        return ops.constant_pad_nd(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    found = ops.index_pads.get((mode, dims))
    if found is None or input.dim() not in (dims + 1, dims + 2):
        if mode not in ("reflect", "replicate", "circular"):
            raise NotImplementedError(f"Unrecognised padding mode {mode}")
        raise NotImplementedError(
            f"Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now, got {input.dim()}D input with "
            f"padding {list(pad)}"
        )
    if mode == "reflect":
        _check_reflection(input, pad)
    return found(input, pad)


def _check_pad_lengths(input: Tensor, pad: tuple) -> None:
    for i in range(len(pad) // 2):
        n, before, after = input.shape[-1 - i], pad[2 * i], pad[2 * i + 1]
        if n + before + after < 0:
            raise RuntimeError(
                f"The input size {n}, plus negative padding {before} and {after} resulted in a negative output size, which "
                f"is invalid. Check dimension {input.dim() - 1 - i} of your input."
            )


def _check_reflection(input: Tensor, pad: tuple) -> None:
    for i in range(len(pad) // 2):
        dim = input.dim() - 1 - i
        if max(pad[2 * i : 2 * i + 2]) >= input.shape[dim]:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({pad[2 * i]}, {pad[2 * i + 1]}) at dimension {dim} of input {list(input.shape)}"
            )


# ---------------------------------------------------------------- embedding


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` (V, D) with the numbers in `input` (*): (*, D).

    padding_idx: this row gets no gradient. max_norm: rows that are longer are shortened first, in place.
    scale_grad_by_freq: divide a row's gradient by how often it was looked up. Raises IndexError for rows out of range.
    """
    if sparse:
        raise NotImplementedError("minigrad has no sparse gradients; leave out sparse=True")
    if input._array.dtype.kind not in "iu":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.dtype.tensor_type} instead (while checking arguments for embedding)"
        )
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    padding = -1 if padding_idx is None else padding_idx % rows
    if max_norm is not None:
        _shorten_rows(weight, input, max_norm, norm_type)
    return ops.embedding(weight, input, padding, scale_grad_by_freq)


def _shorten_rows(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    rows = np.unique(input._array)
    values = weight._array[rows]
    norms = np.linalg.norm(values, norm_type, axis=1, keepdims=True)
    weight._array[rows] = np.where(norms > max_norm, values * (max_norm / (norms + 1e-7)), values)
    weight.counter().version += 1


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Each number k of `tensor` (*) as a row with a 1 at place k: (*, num_classes), int64."""
    values = tensor._array
    if values.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if num_classes == 0 or (num_classes < -1):
        raise RuntimeError("num_classes should be positive")
    if values.size == 0:
        if num_classes == -1:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(np.zeros((*values.shape, num_classes), np.int64))
    if values.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(values.max()) + 1
    elif values.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return wrap((values[..., None] == np.arange(num_classes)).astype(np.int64))


# ---------------------------------------------------------------- dropout


def _check_probability(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _mask(shape: tuple, p: float, dtype: np.dtype) -> Tensor:
    """0 with probability p, else 1/(1-p), so that the mean of what passes stays the same."""
    keep = rng().random(shape, dtype=np.float32) >= p
    return wrap(keep * np.asarray(1.0 / (1.0 - p), dtype))


def _dropped(input: Tensor, p: float, training: bool, inplace: bool, shape: tuple) -> Tensor:
    _check_probability(p)
    if not training or p == 0 or input._array.size == 0:
        return input
    dtype = input._array.dtype
    mask = wrap(np.zeros(shape, dtype)) if p == 1 else _mask(shape, p, dtype)
    return input.mul_(mask) if inplace else input * mask


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element set to 0 with probability p, the others divided by 1 - p; `input` itself if not training."""
    return _dropped(input, p, training, inplace, input._array.shape)


def _channels_dropped(input: Tensor, p: float, training: bool, inplace: bool, dims: int) -> Tensor:
    if input.dim() == dims + 1:  # one example: its channels come first
        return _dropped(input, p, training, inplace, (input.shape[0], *(1,) * dims))
    lead = tuple(input.shape[:2])
    return _dropped(input, p, training, inplace, lead + (1,) * (input.dim() - 2))


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, L) or (C, L) dropped."""
    return _channels_dropped(input, p, training, inplace, 1)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, H, W) dropped."""
    return _channels_dropped(input, p, training, inplace, 99)


# ---------------------------------------------------------------- normalisation


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean)/√(var + eps)·weight + bias, mean and variance over the last dimensions, those in normalized_shape."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for given, name in ((weight, "weight"), (bias, "bias")):
        if given is not None and given._array.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(given.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    if input._array.shape[-len(shape) :] != shape:
        wanted = ", ".join(map(str, ("*", *shape)))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{wanted}], but got input of "
            f"size{list(input.shape)}"
        )
    return ops.native_layer_norm(input, weight, bias, shape, eps)[0]


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
    """(x - mean)/√(var + eps)·weight + bias for each channel of (N, C, *).

    training: with the mean and variance of this batch, which also move running_mean and running_var (in place, by
    `momentum`; the variance unbiased); else with running_mean and running_var.
    Raises ValueError when training on one value per channel.
    """
    count = input.numel() // input.shape[1] if input.shape[1] else 0
    if training and count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}"
        )
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, given in named.items():
        if given is not None and given.numel() != input.shape[1]:
            raise RuntimeError(f"{name} should contain {input.shape[1]} elements not {given.numel()}")
    if not training:
        if running_mean is None:
            raise RuntimeError("Expected running_mean to be defined when training=False")
        if running_var is None:
            raise RuntimeError("Expected running_var to be defined when training=False")
        return ops.native_batch_norm(input, weight, bias, running_mean, running_var, False, eps)[0]
    out, mean, _, var = ops.native_batch_norm(input, weight, bias, None, None, True, eps)
    if running_mean is not None:
        _move(running_mean, mean._array, momentum)
    if running_var is not None:
        _move(running_var, var._array * (count / (count - 1)), momentum)
    return out


def _move(running: Tensor, new: np.ndarray, momentum: float) -> None:
    """Move a running average towards `new`."""
    running._array[...] = (1 - momentum) * running._array + momentum * new
    running.counter().version += 1


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean)/√(var + eps)·weight + bias, mean and variance over each of `num_groups` groups of channels."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    channels = input.shape[1]
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for given, name in ((weight, "weight"), (bias, "bias")):
        if given is not None and given._array.shape != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{list(given.shape)} and input of shape {list(input.shape)}"
            )
    return ops.native_group_norm(input, weight, bias, num_groups, eps)[0]


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Batch normalisation of each example by itself."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    n, c = input.shape[:2]
    flat = input.reshape(1, n * c, *input.shape[2:])
    repeated = [None if t is None else t.repeat(n) for t in (running_mean, running_var, weight, bias)]
    out = batch_norm(flat, *repeated, True, momentum, eps).view(*input.shape)
    for running, moved in zip((running_mean, running_var), repeated, strict=False):
        if running is not None:
            running._array[...] = moved._array.reshape(n, c).mean(0)
            running.counter().version += 1
    return out


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x/√(mean(x²) + eps)·weight over the last dimensions."""
    shape = tuple(normalized_shape)
    if input._array.shape[-len(shape) :] != shape:
        wanted = ", ".join(map(str, ("*", *shape)))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{wanted}], but got input of "
            f"size{list(input.shape)}"
        )
    eps = float(np.finfo(input._array.dtype).eps) if eps is None else eps
    dims = tuple(range(-len(shape), 0))
    out = input * (input.pow(2).mean(dims, keepdim=True) + eps).rsqrt()
    return out if weight is None else out * weight


def normalize(input: Tensor, p: float = 2.0, dim: int | tuple = 1, eps: float = 1e-12) -> Tensor:
    """`input` divided by its p-norm along `dim`, which is at least eps."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


# ---------------------------------------------------------------- distances


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between x1 and x2 along `dim`; norms are at least eps."""
    x1, x2 = broadcast_pair(x1, x2)
    return (_unit(x1, dim, eps) * _unit(x2, dim, eps)).sum(dim)


def _unit(x: Tensor, dim: int, eps: float) -> Tensor:
    length = x.norm(2, dim, keepdim=True).clone()
    with no_grad():
        length.clamp_min_(eps)
    return x / length


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim)


# ---------------------------------------------------------------- losses

REDUCTIONS = {"none": losses.NONE, "mean": losses.MEAN, "sum": losses.SUM}


def _reduction(reduction: str, size_average: object = None, reduce: object = None) -> int:
    """The number of a reduction. The two arguments of old PyTorch are understood, with its warning."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            UserWarning,
            stacklevel=4,
        )
    found = REDUCTIONS.get(reduction)
    if found is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return found


def _reduced(values: Tensor, reduction: str) -> Tensor:
    return {losses.NONE: lambda v: v, losses.MEAN: Tensor.mean, losses.SUM: Tensor.sum}[
        _reduction(reduction)
    ](values)


def _pair(input: Tensor, target: Tensor, caller: str, *, warn: bool = True) -> tuple[Tensor, Tensor]:
    """input and target, broadcast (with PyTorch's warning) and in one dtype."""
    for position, (name, t) in enumerate((("input", input), ("target", target)), 1):
        if not isinstance(t, Tensor):
            raise TypeError(
                f"{caller}(): argument '{name}' (position {position}) must be Tensor, not {type(t).__name__}"
            )
    if input._array.shape != target._array.shape:
        if warn:
            warnings.warn(
                f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
                "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
                UserWarning,
                stacklevel=3,
            )
        input, target = broadcast_pair(input, target)
    if input._array.dtype != target._array.dtype:
        wanted = dtypes.promote_types(input.dtype, target.dtype)
        input, target = input.to(wanted), target.to(wanted)
    return input, target


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target)², and its mean or sum. reduction: "none", "mean" or "sum"."""
    input, target = _pair(input, target, "mse_loss")
    if weight is not None:
        return _weighted((input - target) ** 2, weight, reduction)
    return losses.mse_loss(input, target, _reduction(reduction, size_average, reduce))


def _weighted(values: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """A weighted loss: the mean is that of weighted values over the sum of weights."""
    if values.shape != weight.shape:
        raise ValueError("Inputs and weights must have the same size.")
    values = values * weight
    return values.sum() / weight.sum() if reduction == "mean" else _reduced(values, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|, and its mean or sum."""
    input, target = _pair(input, target, "l1_loss")
    values = (input - target).abs()
    if weight is not None:
        return _weighted(values, weight, reduction)
    kind = _reduction(reduction, size_average, reduce)
    return values if kind == losses.NONE else values.mean() if kind == losses.MEAN else values.sum()


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """d²/(2·beta) where d = |input - target| < beta, else d - beta/2."""
    input, target = _pair(input, target, "smooth_l1_loss")
    if beta == 0.0:
        return l1_loss(input, target, size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return losses.smooth_l1_loss(input, target, _reduction(reduction, size_average, reduce), beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """d²/2 where d = |input - target| ≤ delta, else delta·(d - delta/2)."""
    input, target = _pair(input, target, "huber_loss")
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        return _weighted(losses.huber_loss(input, target, losses.NONE, delta), weight, reduction)
    return losses.huber_loss(input, target, _reduction(reduction), delta)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability of the target class. input: (N, C, *) or (C,); target: int64 (N, *) or ().

    weight: of each class, (C,); the mean is then weighted too. Targets equal to ignore_index do not count.
    Raises IndexError for classes that do not exist.
    """
    return _nll(input, target, weight, ignore_index, _reduction(reduction, size_average, reduce))


def _nll(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: int) -> Tensor:
    x, t = input._array, target._array
    if x.ndim < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {x.ndim})")
    if x.ndim != 1 and x.shape[0] != (t.shape[0] if t.ndim else 1):
        raise ValueError(
            f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({t.shape[0] if t.ndim else 1})."
        )
    if t.dtype != np.int64 and t.dtype != np.uint8:
        found = dtypes.of_numpy(t.dtype).tensor_type.removeprefix("torch.").removesuffix("Tensor")
        raise RuntimeError(f"expected scalar type Long but found {found}")
    classes = x.shape[1] if x.ndim > 1 else x.shape[0]
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )
    if x.ndim <= 2:
        if t.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if t.ndim != x.ndim - 1:
            raise RuntimeError(f"size mismatch (got input: {list(x.shape)}, target: {list(t.shape)})")
        return losses.nll_loss(input, target, weight, reduction, ignore_index)[0]
    if t.shape != x.shape[:1] + x.shape[2:]:
        if t.ndim != x.ndim - 1 and x.ndim == 4:
            raise RuntimeError(
                f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {t.ndim}"
            )
        raise RuntimeError(
            f"Expected target size {list(x.shape[:1] + x.shape[2:])}, got {list(t.shape)}"
            if x.ndim != 4
            else f"size mismatch (got input: {list(x.shape)} , target: {list(t.shape)}"
        )
    if x.ndim == 4:
        return losses.nll_loss2d(input, target, weight, reduction, ignore_index)[0]
    n = x.shape[0]  # other numbers of dimensions: all into one, as PyTorch does
    flat = input.contiguous().view(n, classes, 1, -1)
    out = losses.nll_loss2d(flat, target.contiguous().view(n, 1, -1), weight, reduction, ignore_index)[0]
    return out.view(*t.shape) if reduction == losses.NONE else out


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """nll_loss of log_softmax(input). input: logits, (N, C, *) or (C,).

    target: classes, int64 (N, *), or probabilities of the input's shape and a floating point type.
    label_smoothing: in 0..1, how much of each target is spread evenly over the classes.
    """
    kind = _reduction(reduction, size_average, reduce)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    class_dim = 0 if input._array.ndim == 1 else 1
    if input._array.shape == target._array.shape:
        return _probability_loss(input, target, weight, ignore_index, kind, label_smoothing, class_dim)
    logs = log_softmax(input, class_dim)
    loss = _nll(logs, target, weight, ignore_index, kind)
    if label_smoothing == 0.0:
        return loss
    smooth = -(logs if weight is None else logs * per_class(weight, logs, class_dim)).sum(class_dim)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0.0)
    if kind == losses.MEAN:
        if weight is None:
            count = (target != ignore_index).sum()
        else:
            count = weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0).sum()
        smooth = smooth.sum() / count
    elif kind == losses.SUM:
        smooth = smooth.sum()
    classes = input.shape[class_dim]
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / classes)


def per_class(weight: Tensor, like: Tensor, class_dim: int) -> Tensor:
    """Class weights, shaped to be broadcast along the class dimension."""
    return weight.view(*(-1 if i == class_dim else 1 for i in range(like.dim())))


def _probability_loss(input, target, weight, ignore_index, kind, label_smoothing, class_dim) -> Tensor:
    if target._array.dtype.kind != "f":
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            + target.dtype.tensor_type.removeprefix("torch.").removesuffix("Tensor")
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    classes = input.shape[class_dim]
    if label_smoothing > 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    values = log_softmax(input, class_dim) * target
    if weight is not None:
        values = values * per_class(weight, values, class_dim)
    if kind == losses.NONE:
        return -values.sum(class_dim)
    return -values.sum() / (input.numel() // classes) if kind == losses.MEAN else -values.sum()


def _check_same_size(input: Tensor, target: Tensor) -> None:
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please "
            "ensure they have the same size."
        )


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(t·log x + (1-t)·log(1-x)) for probabilities x; logarithms are at least -100. Raises RuntimeError outside 0..1."""
    kind = _reduction(reduction, size_average, reduce)
    _check_same_size(input, target)
    return losses.binary_cross_entropy(input, target, weight, kind)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """binary_cross_entropy of sigmoid(input), computed without overflow. pos_weight: weight of the ones, broadcast."""
    kind = _reduction(reduction, size_average, reduce)
    if input.shape != target.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return losses.binary_cross_entropy_with_logits(input, target, weight, pos_weight, kind)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target·(log target - input) for log-probabilities `input`; with log_target the target is given as logarithms.

    reduction: "batchmean" is the divergence (sum over the first length), "mean" divides by all elements.
    """
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only "
            "by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as "
            "'batchmean' in the next major release.",
            UserWarning,
            stacklevel=2,
        )
    per_batch = reduction == "batchmean"
    kind = losses.SUM if per_batch else _reduction(reduction, size_average, reduce)
    values = target.exp() * (target - input) if log_target else _xlogy(target) - target * input
    out = values if kind == losses.NONE else values.mean() if kind == losses.MEAN else values.sum()
    return out / input.shape[0] if per_batch and input.dim() else out


def _xlogy(t: Tensor) -> Tensor:
    """t·log t, which is 0 at 0."""
    zero = t == 0
    return t * t.masked_fill(zero, 1.0).log()


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + e^(-target·input)), target ±1."""
    return losses.soft_margin_loss(input, target, _reduction(reduction, size_average, reduce))


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`input` where target is 1, max(0, margin - input) where it is -1."""
    zero = wrap(np.zeros((), input._array.dtype))
    far = (margin - input).clamp_min(0).where(target != 1, zero)
    return _reduced(far + input.where(target != -1, zero), reduction)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target·(input1 - input2) + margin): input1 is to be larger where target is 1."""
    return _reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1."""
    eps = 1e-12
    lengths = ((input1 * input1).sum(-1) + eps) * ((input2 * input2).sum(-1) + eps)
    cos = (input1 * input2).sum(-1) / lengths.sqrt()
    zero = wrap(np.zeros((), input1._array.dtype))
    near = (1 - cos).where(target == 1, zero)
    return _reduced(near + (cos - margin).clamp_min(0).where(target == -1, zero), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin)."""
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return _reduced((margin + near - far).clamp_min(0), reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """e^input - target·input; with log_input=False, input - target·log(input + eps). full: with Stirling's term."""
    values = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        values = values + stirling.masked_fill(target <= 1, 0)
    return _reduced(values, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """½(log var + (input - target)²/var), the variance at least eps. full: with ½ log 2π."""
    if not isinstance(var, Tensor):
        var = wrap(np.full(input._array.shape, var, input._array.dtype))
    if (var._array < 0).any():
        raise ValueError("var has negative entry/entries")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    values = 0.5 * (var.log() + (input - target) ** 2 / var)
    return _reduced(values + 0.5 * math.log(2 * math.pi) if full else values, reduction)


# ---------------------------------------------------------------- attention


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query·keyᵀ·scale + mask)·value. query: (..., L, E), key: (..., S, E), value: (..., S, V).

    attn_mask: boolean (True takes part) or added to the scores. is_causal: no position sees later ones.
    scale: 1/√E if not given. Vaswani et al. 2017.
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = (t.repeat_interleave(groups, -3) for t in (key, value))
    dtype = query._array.dtype
    length, source = query.shape[-2], key.shape[-2]
    if is_causal:
        attn_mask = wrap(np.tri(length, source, dtype=bool))
    root = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    scores = (query * root) @ (key.transpose(-2, -1) * root)
    if attn_mask is not None:
        if attn_mask._array.dtype.kind == "b":
            attn_mask = wrap(np.where(attn_mask._array, np.asarray(0, dtype), np.asarray(-np.inf, dtype)))
        scores = scores + attn_mask
    weights = softmax(scores, -1)
    if attn_mask is not None:  # a row that sees nothing attends to nothing
        blind = np.isneginf(scores._array).all(-1, keepdims=True)
        if blind.any():
            weights = weights.masked_fill(wrap(blind), 0.0)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return weights @ value
