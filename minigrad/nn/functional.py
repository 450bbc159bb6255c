"""What layers compute, as functions: `import minigrad.nn.functional as F`. Signatures and errors are PyTorch's.

Convolutions, pooling and normalisation take (N, C, ...): a batch of N examples with C channels.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..autograd.captured import refuse_captured
from ..autograd.grad_mode import local, no_grad, special
from ..autograd.interpreter import Wrapper
from ..ops import activation
from ..ops import nn as ops
from ..ops.activation import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu6,
    selu,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
    threshold,
)  # fmt: skip
from ..ops.attention import fused_attention as _fused_attention
from ..ops.elementary import sigmoid, tanh
from ..ops.exponential import safe_softmax
from ..ops.linalg import bilinear
from ..ops.linalg import linear as _linear
from ..ops.pointwise import add_number, mul_number
from ..random import drawn_for_each_example, rng
from ..tensor import Tensor, plain_types, wrap
from . import functional_images, functional_losses, functional_random
from .functional_images import *  # noqa: F403
from .functional_images import tensor_argument
from .functional_losses import *  # noqa: F403
from .functional_random import *  # noqa: F403

# ---------------------------------------------------------------- activations


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(x, 0)`; with `inplace` written into `input`. Its derivative at 0 is 0."""
    return input.relu_() if inplace else activation.relu(input)


# ---------------------------------------------------------------- linear


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weightᵀ + bias`, for an input of shape (*, n), a weight (m, n) or (n,) and a bias (m,): shape (*, m)."""
    if (
        type(input) is Tensor
        and type(weight) in plain_types
        and type(bias) in plain_types
        and not_recording(input, weight, bias)
    ):
        x, w, b = input._array, weight._array, bias._array
        if (
            x.ndim == w.ndim == 2
            and b.ndim == 1
            and x.dtype == w.dtype == b.dtype
            and x.shape[1] == w.shape[1]
        ):
            out = np.matmul(x, w.T)  # what `addmm` computes, without a view of the weight and a node
            if b.shape[0] == out.shape[1]:
                out += b
                return wrap(out)
    try:
        return _linear(input, weight, bias)
    except (AttributeError, TypeError, RuntimeError):
        _explain_linear(input=input, weight=weight, bias=bias)
        raise


def _explain_linear(**given: Tensor | None) -> None:
    """Raise the error that speaks of a linear layer, if what went wrong in its parts is one of these."""
    for i, (name, t) in enumerate(given.items()):
        if not isinstance(t, Tensor) and (t is not None or name != "bias"):
            kind = type(t)
            found = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
            raise TypeError(
                f"linear(): argument '{name}' (position {i + 1}) must be Tensor, not {found}"
            ) from None
    input, weight, bias = given.values()
    if input.dim() == 0 or weight.dim() == 0:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.dim()}D and {weight.dim()}D"
        ) from None
    if bias is not None and input.dtype != weight.dtype and weight.dim() == 2:
        words = (t.dtype.tensor_type.removeprefix("torch.").removesuffix("Tensor") for t in (input, weight))
        raise RuntimeError(
            "mat1 and mat2 must have the same dtype, but got {} and {}".format(*words)
        ) from None


def not_recording(input: Tensor, weight: Tensor, bias: Tensor) -> bool:
    """Is there nothing to remember of an operation on these, and nobody else who wants to see it?"""
    if special:
        if not local.ordinary:
            return False
        if not local.grad:
            return True
    return not (input._requires_grad or weight._requires_grad or bias._requires_grad)


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
    if isinstance(weight, Tensor) and weight._array.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if sparse:
        raise NotImplementedError("minigrad has no sparse gradients; leave out sparse=True")
    if not isinstance(input, Tensor):
        raise TypeError(
            f"embedding(): argument 'indices' (position 2) must be Tensor, not {type(input).__name__}"
        )
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
    refuse_captured("embedding_renorm", weight)
    rows = np.unique(input._array)
    values = weight._array[rows]
    norms = np.linalg.norm(values, norm_type, axis=1, keepdims=True)
    weight._array[rows] = np.where(norms > max_norm, values * (max_norm / (norms + 1e-7)), values)
    weight._own_counter().version += 1


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Each number k of `tensor` (*) as a row with a 1 at place k: (*, num_classes), int64."""
    values = tensor._array
    if values.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if type(tensor) is Tensor:  # else it is inside a transform, which does not show its values
        num_classes = _count_classes(values, num_classes)
        if num_classes <= 64:
            return wrap(_identity(num_classes).take(values, 0))
        out = np.zeros((*values.shape, num_classes), np.int64)
        out.reshape(-1)[values.reshape(-1) + np.arange(0, out.size, num_classes)] = 1
        return wrap(out)
    if num_classes < 1:
        raise RuntimeError(
            "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument.\nThe number "
            "of classes must not depend on the values."
        )
    return (tensor.unsqueeze(-1) == wrap(np.arange(num_classes))).long()


@functools.lru_cache(maxsize=64)
def _identity(n: int) -> np.ndarray:
    return np.eye(n, dtype=np.int64)


def _count_classes(values: np.ndarray, num_classes: int) -> int:
    """num_classes, or if it is -1 what the values need. Raises RuntimeError for values that do not fit."""
    if num_classes == 0 or num_classes < -1:
        raise RuntimeError("num_classes should be positive")
    if values.size == 0:
        if num_classes == -1:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return num_classes
    numbers = values.ravel().tolist() if values.size <= 64 else (values.min(), values.max())
    if min(numbers) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        return int(max(numbers)) + 1
    if max(numbers) >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return num_classes


# ---------------------------------------------------------------- dropout


def _check_probability(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@drawn_for_each_example
def _mask(shape: tuple, p: float, dtype: np.dtype, order: list[int] | None = None) -> Tensor:
    """0 with probability p, else 1/(1-p), so that the mean of what passes stays the same.

    order: the dimensions as they lie in memory, the outermost first: PyTorch draws one number behind the other there.
    """
    if order is None:
        tosses = rng().tosses(1.0 - p, shape)
    else:
        tosses = rng().tosses(1.0 - p, tuple(shape[i] for i in order)).transpose(np.argsort(order))
    return wrap(tosses * np.asarray(1.0 / (1.0 - p), dtype))


def _memory_order(array: np.ndarray) -> list[int] | None:
    """The dimensions from the outermost to the innermost in memory; None if that is their order anyway."""
    if array.flags.c_contiguous or 0 in array.strides:
        return None
    return sorted(range(array.ndim), key=lambda i: -abs(array.strides[i]))


def _dropped(
    input: Tensor, p: float, training: bool, inplace: bool, shape: tuple, order: list[int] | None = None
) -> Tensor:
    _check_probability(p)
    if not training or p == 0 or input._array.size == 0:
        return input
    dtype = input._array.dtype
    if dtype.kind != "f":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {dtypes.word(dtype)}")
    mask = wrap(np.zeros(shape, dtype)) if p == 1 else _mask(shape, p, dtype, order)
    return input.mul_(mask) if inplace else input * mask


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element set to 0 with probability p, the others divided by 1 - p; `input` itself if not training."""
    tensor_argument(input, "dropout")
    array = input._array
    return _dropped(input, p, training, inplace, array.shape, _memory_order(array))


def _feature_shape(input: Tensor) -> tuple:
    """One number for each channel of (N, C, *)."""
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*input.shape[:2], *(1,) * (input.dim() - 2))


def _for_channels(dims: int, found: int, instead: str) -> str:
    return (
        f"{instead} Note that dropout{dims}d exists to provide channel-wise dropout on inputs with {dims} spatial "
        f"dimension{'s' if dims > 1 else ''}, a channel dimension, and an optional batch dimension "
        f"(i.e. {dims + 1}D or {dims + 2}D inputs)."
    )


def _warn_of_dims(dims: int, found: int) -> None:
    if found not in (dims + 1, dims + 2):
        text = (
            f"dropout{dims}d: Received a {found}-D input to dropout{dims}d, which is deprecated and will result in an error "
            "in a future release. To retain the behavior and silence this warning, please use dropout instead."
        )
        warnings.warn(_for_channels(dims, found, text), UserWarning, stacklevel=3)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, L) or (C, L) dropped."""
    _check_probability(p)
    found = input.dim()
    if found not in (2, 3):
        text = f"dropout1d: Expected 2D or 3D input, but received a {found}D input."
        raise RuntimeError(_for_channels(1, found, text))
    shape = (input.shape[0], 1) if found == 2 else _feature_shape(input)
    return _dropped(input, p, training, inplace, shape)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, H, W) dropped; (N, C, L) too."""
    _check_probability(p)
    _warn_of_dims(2, input.dim())
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input "
            "is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to "
            "interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
            UserWarning,
            stacklevel=2,
        )
    return _dropped(input, p, training, inplace, _feature_shape(input))


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) dropped."""
    _check_probability(p)
    _warn_of_dims(3, input.dim())
    if input.dim() == 5:
        return _dropped(input, p, training, inplace, _feature_shape(input))
    one = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    out = _dropped(one, p, training, inplace, _feature_shape(one))
    return out.squeeze_(0) if inplace else out.squeeze(0)


# the value that a SELU comes near to for large negative inputs, without its sign
SELU_FLOOR = 1.7580993408473766


def _alpha_dropped(
    input: Tensor, p: float, training: bool, inplace: bool, shape: tuple, order=None
) -> Tensor:
    """Some elements set to the floor of a SELU, and all stretched so that mean and variance stay (Klambauer 2017)."""
    _check_probability(p)
    if not training or p == 0 or input._array.size == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    dtype = input._array.dtype
    kept = _mask(shape, p, dtype, order) * (1 - p)
    scale = 1.0 / math.sqrt((SELU_FLOOR**2 * p + 1) * (1 - p))
    shift = (kept - 1) * (SELU_FLOOR * scale) + SELU_FLOOR * scale * p
    kept = kept * scale
    return (input.mul_(kept) if inplace else input * kept).add_(shift)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps the mean and the variance of what SELUs give."""
    tensor_argument(input, "alpha_dropout")
    array = input._array
    return _alpha_dropped(input, p, training, inplace, array.shape, _memory_order(array))


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels of (N, C, *)."""
    tensor_argument(input, "feature_alpha_dropout")
    shape = _feature_shape(input) if training and p else ()
    return _alpha_dropped(input, p, training, inplace, shape)


# ---------------------------------------------------------------- normalisation


def _refuse_integers(input: Tensor, kernel: str) -> None:
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.word(input._array.dtype)}'")


def _check_one_dtype(input: Tensor, *others: Tensor | None) -> None:
    """Refuse weights, biases and statistics of another dtype. The first decides what PyTorch says."""
    own, found = input._array.dtype, [t._array.dtype for t in others if t is not None]
    if found and found[0] != own:
        if any(dtype != np.float32 for dtype in found):
            raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
        raise RuntimeError(
            "mixed dtype (CPU): all inputs must share same datatype.\n"
            f"Got torch.{own} and torch.{found[0]}; input.to(torch.{found[0]}) makes them one"
        )
    for dtype in found:
        if dtype != own:
            raise RuntimeError(f"expected scalar type {dtypes.word(own)} but found {dtypes.word(dtype)}")


def _fits(given: Tensor | None, shape: tuple, dtype: np.dtype) -> bool:
    """Has a weight, bias or statistic this shape and dtype, a floating point one, if there is one?"""
    return given is None or (given._array.shape == shape and given._array.dtype is dtype)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean)/√(var + eps)·weight + bias`, mean and variance over the last dimensions, those in normalized_shape."""
    if not isinstance(input, Tensor):
        tensor_argument(input, "layer_norm")
    x, shape = input._array, tuple(normalized_shape)
    if not (
        shape and x.shape[-len(shape) :] == shape and x.dtype.kind == "f"
        and _fits(weight, shape, x.dtype) and _fits(bias, shape, x.dtype)
    ):  # fmt: skip
        _check_layer_norm(input, shape, weight, bias)
    return ops.layer_norm(input, weight, bias, shape, eps)


def _check_normalized(shape: tuple, **parameters: Tensor | None) -> None:
    """Refuse no dimensions at all, and a weight or bias of another shape than what is normalised."""
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, given in parameters.items():
        if given is not None and given._array.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(given.shape)} and "
                f"normalized_shape = {list(shape)}"
            )


def _check_layer_norm(input: Tensor, shape: tuple, weight: Tensor | None, bias: Tensor | None) -> None:
    """Raise PyTorch's error for arguments that do not go together."""
    _check_normalized(shape, weight=weight, bias=bias)
    if input._array.shape[-len(shape) :] != shape:
        wanted = ", ".join(map(str, ("*", *shape)))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{wanted}], but got input of "
            f"size{list(input.shape)}"
        )
    _check_one_dtype(input, weight, bias)
    _refuse_integers(input, "LayerNormKernelImpl")


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
    if not isinstance(input, Tensor):
        tensor_argument(input, "batch_norm")
    x = input._array
    tracked, channels = running_mean is not None and running_var is not None, x.shape[1:2]
    if not (
        x.ndim > 1 and x.dtype.kind == "f" and _fits(weight, channels, x.dtype) and _fits(bias, channels, x.dtype)
        and _fits(running_mean, channels, x.dtype) and _fits(running_var, channels, x.dtype)
        and (x.size > channels[0] if training else tracked and x.size)
    ):  # fmt: skip
        if not x.size:
            return _norm_of_nothing(input, weight, bias)
        _check_batch_norm(input, running_mean, running_var, weight, bias, training)
    if eps <= 0.0 and (training or eps < 0.0):
        wanted = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {wanted}, but got {eps}")
    if not training:
        return ops.batch_norm(input, weight, bias, running_mean, running_var, False, eps)
    if running_mean is None and running_var is None:
        return ops.batch_norm(input, weight, bias, None, None, True, eps)
    out, mean, _, var = ops.native_batch_norm(input, weight, bias, None, None, True, eps)
    if running_mean is not None:
        _move(running_mean, mean, momentum)
    if running_var is not None:
        count = x.size // channels[0]
        _move(running_var, var, momentum, count / (count - 1))
    return out


def _norm_of_nothing(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """What batch_norm gives for an input without elements: a copy, so that gradients have a way back."""
    out = input.clone()
    if weight is not None:
        out = out * weight[0]
    return out if bias is None else out + bias[0]


def _check_batch_norm(input, running_mean, running_var, weight, bias, training: bool) -> None:
    """Raise PyTorch's error for arguments that do not go together."""
    channels = input.size(1)
    if training and math.prod((*input.shape[:1], *input.shape[2:])) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}"
        )
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, given in named.items():
        if given is not None and given.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {given.numel()}")
    for name in ("running_mean", "running_var"):
        if named[name] is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
    _refuse_integers(input, "batch_norm")
    _check_one_dtype(input, weight, bias, running_mean, running_var)


def _move(running: Tensor, new: Tensor, momentum: float, scale: float = 1.0) -> None:
    """Move a running average towards `new * scale`."""
    if isinstance(running, Wrapper) or isinstance(new, Wrapper):
        if getattr(new, "bdim", None) is not None and getattr(running, "bdim", None) is None:
            raise RuntimeError(
                "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
                "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
                "`track_running_stats` to be False."
            )
        with no_grad():
            running.mul_(1 - momentum).add_(new.detach(), alpha=momentum * scale)
        return
    new = new._array if scale == 1 else new._array * scale
    running._array[...] = (1 - momentum) * running._array + momentum * new
    running._own_counter().version += 1


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean)/√(var + eps)·weight + bias`, mean and variance over each of `num_groups` groups of channels."""
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
    _check_one_dtype(input, weight, bias)
    _refuse_integers(input, "GroupNormKernelImpl")
    return ops.group_norm(input, weight, bias, num_groups, eps)


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
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    n, c = input.shape[:2]
    given = (running_mean, running_var, weight, bias)
    repeated = {i: given[i].repeat(n) for i in (2, 3, 0, 1) if given[i] is not None}
    flat = input.contiguous().view(1, n * c, *input.shape[2:])
    out = batch_norm(flat, *(repeated.get(i) for i in range(4)), use_input_stats, momentum, eps)
    for i in (0, 1):
        if i in repeated:
            given[i]._array[...] = repeated[i]._array.reshape(n, c).mean(0)
            given[i]._own_counter().version += 1
    return out.view(*input.shape)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """`x/√(mean(x²) + eps)·weight`, the mean over the last dimensions, those in normalized_shape."""
    shape = tuple(normalized_shape)
    _check_normalized(shape, weight=weight)
    if input._array.shape[-len(shape) :] != shape:
        wanted = "*" + ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{wanted}], but got input of "
            f"size{list(input.shape)}"
        )
    dims, halves = tuple(range(-len(shape), 0)), input.dtype is dtypes.float16
    if halves:  # their squares are too large, or too small, too soon
        input = input.float()
    eps = float(np.finfo(input._array.dtype).eps) if eps is None else eps
    out = input * add_number(input.pow(2).mean(dims, keepdim=True), eps).rsqrt()
    if weight is not None:
        out = out * weight
    return out.half() if halves else out


def normalize(input: Tensor, p: float = 2.0, dim: int | tuple = 1, eps: float = 1e-12) -> Tensor:
    """`input` divided by its p-norm along `dim`, which is at least eps."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


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
    """`softmax(query·keyᵀ·scale + mask)·value`. query: (..., L, E), key: (..., S, E), value: (..., S, V).

    attn_mask: boolean (True takes part) or added to the scores. is_causal: no position sees later ones.
    scale: 1/√E if not given. Vaswani et al. 2017.
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
        )
    if (
        local.interpreter is None
        and dropout_p == 0.0
        and _can_be_fused(query, key, value, attn_mask, enable_gqa)
    ):
        return _fused_attention(query, key, value, attn_mask, dropout_p, is_causal, scale)
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = (t.repeat_interleave(groups, -3) for t in (key, value))
    halves = query.dtype is dtypes.float16
    if halves:
        query, key, value = query.float(), key.float(), value.float()
    (*_, length, width), source = query._array.shape, key._array.shape[-2]
    if is_causal:
        attn_mask = wrap(np.tri(length, source, dtype=bool))
    root = math.sqrt(1 / math.sqrt(width) if scale is None else abs(scale))
    scores = mul_number(query, root if scale is None or scale >= 0 else -root) @ mul_number(
        key.transpose(-2, -1), root
    )
    if attn_mask is not None:
        if attn_mask._array.dtype.kind == "b":
            dtype = query._array.dtype
            attn_mask = wrap(np.where(attn_mask._array, np.asarray(0, dtype), np.asarray(-np.inf, dtype)))
        scores = scores + attn_mask
    weights = safe_softmax(scores, scores._array.ndim - 1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    out = weights @ value
    return out.half() if halves else out


def _can_be_fused(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, shares_heads: bool
) -> bool:
    """Does PyTorch compute it in one operation? Rows of batches of heads, of one width, and a mask that is a constant."""
    q, k, v = query._array, key._array, value._array
    if not (
        q.ndim == k.ndim == v.ndim == 4
        and q.size
        and k.size
        and q.dtype == k.dtype == v.dtype
        and q.dtype.kind == "f"
        and q.shape[0] == k.shape[0]
        and k.shape[:3] == v.shape[:3]
        and q.shape[3] == k.shape[3] == v.shape[3]
        and (q.shape[1] == k.shape[1] or (shares_heads and q.shape[1] % k.shape[1] == 0))
        and all(x.strides[3] == x.itemsize for x in (q, k, v))
    ):
        return False
    if attn_mask is None:
        return True
    mask, scores = attn_mask._array, (*q.shape[:3], k.shape[2])
    return (
        not attn_mask.requires_grad
        and mask.ndim in (2, 4)
        and mask.dtype in (np.bool_, q.dtype)
        and all(m in (1, n) for m, n in zip(mask.shape[::-1], scores[::-1], strict=False))
    )


# ---------------------------------------------------------------- in-place forms: relu_(x) is relu(x, inplace=True)


def _in_place(call):
    @functools.wraps(call)
    def overwrite(*args, **kwargs):
        return call(*args, **kwargs, inplace=True)

    overwrite.__module__, overwrite.__name__ = __name__, call.__name__ + "_"
    overwrite.__qualname__ = overwrite.__name__
    overwrite.__doc__ = f"`{call.__name__}`, written into its argument. Returns it."
    return overwrite


relu_, elu_, celu_, selu_, leaky_relu_, hardtanh_, threshold_, rrelu_ = map(
    _in_place,
    (relu, elu, celu, selu, leaky_relu, hardtanh, threshold, rrelu),  # noqa: F405
)

__all__ = [
    *functional_images.__all__, *functional_losses.__all__, *functional_random.__all__,
    "alpha_dropout", "batch_norm", "bilinear", "celu", "celu_", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "dropout", "dropout1d", "dropout2d", "dropout3d", "elu", "elu_", "embedding",
    "feature_alpha_dropout", "gelu", "glu", "group_norm", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hardtanh_", "instance_norm", "layer_norm", "leaky_relu", "leaky_relu_", "linear", "log_softmax", "logsigmoid",
    "mish", "normalize", "one_hot", "prelu", "relu", "relu6", "relu_", "rms_norm", "rrelu_",
    "scaled_dot_product_attention", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip
__dir__ = __all__.copy  # what completion offers
