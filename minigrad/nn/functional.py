"""The functions that layers compute: `import minigrad.nn.functional as F`. Here are linear, lookups, dropout, normalisation.

Activations are in functional_activations.py, convolution and pooling in functional_images.py, padding and resizing in
functional_resizing.py, losses in functional_losses.py, distances in functional_distances.py; all are public here.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from .. import dtypes
from ..basics import check
from ..creation import new_leaf
from ..missing import guard, module_attributes
from ..ops import linalg, nn, normalisation, pointwise, special
from ..ops.activations import glu, hardshrink, logsigmoid, softplus, softshrink
from ..ops.indexing import one_hot
from ..ops.pointwise import sigmoid, tanh
from ..ops.signature import check_ints
from ..ops.table import function
from ..random import rng
from ..tensor import Tensor
from .functional_activations import (
    celu,
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    hardtanh,
    in_functional,
    leaky_relu,
    log_softmax,
    mish,
    prelu,
    relu,
    relu6,
    selu,
    silu,
    softmax,
    softmin,
    softsign,
    tanhshrink,
    threshold,
)  # fmt: skip
from .functional_distances import (
    cosine_embedding_loss,
    cosine_similarity,
    hinge_embedding_loss,
    margin_ranking_loss,
    normalize,
    pairwise_distance,
    triplet_margin_loss,
)  # fmt: skip
from .functional_images import (
    Weight,
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    conv1d,
    conv2d,
    conv_transpose1d,
    conv_transpose2d,
    max_pool1d,
    max_pool2d,
)  # fmt: skip
from .functional_losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)  # fmt: skip
from .functional_resizing import fold, interpolate, pad, pixel_shuffle, pixel_unshuffle, unfold

NO_PROBABILITY = "dropout probability has to be between 0 and 1, but got {}"
NO_SHAPE = (
    "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
)
NO_SHAPE += "normalized_shape = []"
THREE_DIMENSIONS = (
    "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
    "interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to interpret "
    "the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, "
    "please switch to using dropout1d instead."
)

# ---------------------------------------------------------------- linear, looking up, dropout


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


@function(at="")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
) -> Tensor:
    """The rows of `weight` (V, D) at the indices in `input` (*): (*, D). Raises IndexError for an index out of range.

    padding_idx: a row that gets no gradient. max_norm: rows looked up are scaled down to this norm, in place, if longer.
    """
    check(weight.dim() == 2, "'weight' must be 2-D")
    message = "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
    message += "{.tensor_type} instead (while checking arguments for embedding)"
    check(input.dtype in (dtypes.int64, dtypes.int32), message, input.dtype)
    rows = weight._array.shape[0]
    message = "Padding_idx must be within num_embeddings"
    check(padding_idx is None or -rows <= padding_idx < rows, message, error=AssertionError)
    if max_norm is not None:
        result = np.unique(input._array)
        norms = np.linalg.norm(weight._array[result], norm_type, -1, keepdims=True)
        longer = (norms > max_norm)[:, 0]
        weight._array[result[longer]] *= max_norm / (norms[longer] + 1e-7)
        weight._own_counter().version += 1
    return nn.lookup(weight, input, -1 if padding_idx is None else padding_idx % rows)


@function(at="")
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Tensor:
    """The values (*, S, V) weighted by softmax(query keyᵀ · scale), queries (*, L, E) and keys (*, S, E): (*, L, V).

    attn_mask: False or -inf where a query must not see a key. is_causal: no query sees a later key. scale: 1/√E if not given.
    """
    shapes, masked = [t._array.shape for t in (query, key, value)], attn_mask is not None
    check(
        not (masked and is_causal),
        "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True",
    )
    kinds = [t._array.dtype for t in (query, key, value)]
    message = "Expected query, key, and value to have the same dtype, but got query.dtype: {0.c_name} key.dtype: {1.c_name}"
    check(kinds.count(kinds[0]) == 3, message + " and value.dtype: {2.c_name} instead.", *kinds)
    alike = {len(size) for size in shapes} == {4} and len({(*size[:2], size[3]) for size in shapes}) == 1
    if (
        alike and not dropout_p and not (masked and attn_mask._requires_grad)
    ):  # PyTorch has one node for this case
        return nn.attention(query, key, value, attn_mask, is_causal=is_causal, scale=scale)[0]
    factor = math.sqrt(1 / math.sqrt(shapes[0][-1]) if scale is None else scale)
    scores = special.mul_number(query, factor) @ special.mul_number(key.transpose(-2, -1), factor)
    if is_causal:
        attn_mask = new_leaf(np.tri(*scores._array.shape[-2:], dtype=np.bool_))
    if attn_mask is not None and attn_mask._array.dtype.kind == "b":
        attn_mask = new_leaf(np.where(attn_mask._array, 0, -np.inf).astype(scores._array.dtype))
    weights = nn.safe_softmax(scores if attn_mask is None else scores.add_(attn_mask), -1)
    return (dropout(weights, dropout_p) if dropout_p else weights) @ value


@in_functional
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set each element to 0 with probability p and divide the others by 1 - p; return `input` itself if not training."""
    return _dropped(input, p, training, inplace, tuple(input.shape))


@in_functional
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """`dropout` of whole channels of (N, C, L) or (C, L)."""
    text = "dropout1d: Expected 2D or 3D input, but received a {}D input. Note that dropout1d exists to provide channel-wise "
    text += "dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. 2D or 3D "
    check(input._array.ndim in (2, 3), text + "inputs).", input._array.ndim)
    return _dropped(input, p, training, inplace, (*input.shape[:-1], 1))


@in_functional
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """`dropout` of whole channels of (N, C, H, W)."""
    if input._array.ndim == 3:
        warnings.warn(THREE_DIMENSIONS, stacklevel=3)
    return _dropped(input, p, training, inplace, (*input.shape[:2], *(1,) * (input._array.ndim - 2)))


def _dropped(input: Tensor, p: float, training: bool, inplace: bool, shape: tuple) -> Tensor:
    check(0.0 <= p <= 1.0, NO_PROBABILITY, p, error=ValueError)
    if not training or p == 0 or input.numel() == 0:
        return input
    message = "result type Float can't be cast to the desired output type {.word}"
    check(input.is_floating_point(), message, input.dtype)
    # kept elements are scaled up, so that the mean stays the same
    tosses = rng().random(shape) < 1.0 - p if p < 1 else np.zeros(shape, bool)
    mask = new_leaf(tosses * np.asarray(1.0 / (1.0 - p) if p < 1 else 0.0, input._array.dtype))
    return input.mul_(mask) if inplace else input * mask


# ---------------------------------------------------------------- normalisation


@in_functional
def layer_norm(
    input: Tensor,
    normalized_shape: tuple,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`(input - mean)/√(var + eps)·weight + bias`, mean and variance over the last dimensions, of sizes normalized_shape."""
    x, shape = input._array, _shape("layer_norm", normalized_shape)
    check(len(shape) > 0, NO_SHAPE)
    if x.shape[-len(shape) :] != shape:
        expected = ", ".join(map(str, ("*", *shape)))
        message = "Given normalized_shape={}, expected input with shape [{}], but got input of size{}"
        check(False, message, shape, expected, x.shape)
    _check_dtypes(x.dtype, "LayerNormKernelImpl", weight, bias)
    return normalisation.native_layer_norm(input, weight, bias, shape, eps)[0]


def _shape(name: str, normalized_shape: object) -> tuple[int, ...]:
    check_ints(normalized_shape, f"{name}(): argument 'normalized_shape' (position 2)", alone=False)
    return tuple(normalized_shape)


def _check_dtypes(dtype: np.dtype, kernel: str, *others: Tensor | None) -> None:
    dtypes.require("f", kernel, dtype)
    for dtype_of_other in [t._array.dtype for t in others if t is not None and t._array.dtype != dtype]:
        message = "mixed dtype (CPU): expect parameter to have scalar type of Float"
        check(dtype_of_other == np.float32, message)
        check(False, "mixed dtype (CPU): all inputs must share same datatype.")


@in_functional
def batch_norm(
    input: Tensor,
    running_mean: Weight,
    running_var: Weight,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """`(input - mean)/√(var + eps)·weight + bias` for each channel of (N, C, *).

    training: use the mean and variance of this batch, and move running_mean and running_var towards them (in place, by
    `momentum`; the variance unbiased); otherwise, use running_mean and running_var.
    Raises ValueError when training on one value per channel.
    """
    x = input._array
    check(x.ndim > 1, "batch_norm: expected an input (N, C, *) of at least 2 dimensions, got {}", x.ndim)
    channels = x.shape[1]
    message = "Expected more than 1 value per channel when training, got input size {}"
    check(not training or x.size != channels, message, input.shape, error=ValueError)
    if not x.size:
        return input.clone()
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, given in named.items():
        message = "batch_norm(): argument '{}' must be Tensor, not {}"
        check(given is None or isinstance(given, Tensor), message, name, type(given), error=TypeError)
        if given is not None and given._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {given._array.size}")
    _check_dtypes(x.dtype, "batch_norm", weight, bias, running_mean, running_var)
    if not training:
        message = "Expected running_mean and running_var to be defined when training=False"
        check(running_mean is not None and running_var is not None, message)
        return normalisation.native_batch_norm(input, weight, bias, running_mean, running_var, False, eps)[0]
    out, mean, _, var = normalisation.native_batch_norm(input, weight, bias, None, None, True, eps)
    for running, new in ((running_mean, mean), (running_var, var)):
        if running is not None:
            running.add_((new - running) * momentum)
    return out


@in_functional
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
    """`batch_norm` of (N, C, *) with the mean and variance of each channel of each example."""
    check(
        input._array.ndim > 1,
        "instance_norm: expected an input (N, C, *), but got one of {} dimensions",
        input._array.ndim,
    )
    n, channels, *sizes = input._array.shape
    message = "Expected more than 1 spatial element when training, got input size {}"
    check(not use_input_stats or math.prod(sizes) != 1, message, input.shape, error=ValueError)
    given = [t if t is None else t.repeat(n) for t in (running_mean, running_var, weight, bias)]
    rows = input.contiguous().view(1, n * channels, *sizes)
    out = batch_norm(rows, *given, use_input_stats, momentum, eps)
    for running, new in zip((running_mean, running_var), given[:2], strict=True):
        if running is not None and use_input_stats:
            running.copy_(new.view(n, channels).mean(0))
    return out.view(input.shape)


@in_functional
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`(input - mean)/√(var + eps)·weight + bias` of (N, C, *), with mean and variance over groups of channels."""
    check(
        input._array.ndim > 1,
        "Expected at least 2 dimensions for input tensor but received {}",
        input._array.ndim,
    )
    channels = input._array.shape[1]
    message = "Expected number of channels in input to be divisible by num_groups, but got input of shape {} and num_groups={}"
    check(num_groups > 0 and channels % num_groups == 0, message, tuple(input.shape), num_groups)
    message = "Expected weight to be a vector of size equal to the number of channels in input, but got weight of shape {} and "
    for t in (weight, bias):
        check(t is None or t._array.shape == (channels,), message + "input of shape {}", t is not None and t._array.shape,
               tuple(input.shape))  # fmt: skip
    _check_dtypes(input._array.dtype, "GroupNormKernelImpl", weight, bias)
    return normalisation.native_group_norm(input, weight, bias, num_groups, eps)[0]


@in_functional
def rms_norm(
    input: Tensor, normalized_shape: tuple, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """`input/√(mean(input²) + eps)·weight`, with the mean over the last dimensions, of sizes normalized_shape."""
    shape, x = _shape("rms_norm", normalized_shape), input._array
    check(len(shape) > 0, NO_SHAPE)
    expected = ", ".join(map(str, ("*", *shape)))
    message = "Given normalized_shape={}, expected input with shape [{}], but got input of size{}"
    check(x.shape[x.ndim - len(shape) :] == shape, message, shape, expected, x.shape)
    dtypes.require("f", "rms_norm", x.dtype)
    eps = float(np.finfo(x.dtype).eps) if eps is None else eps
    squares = pointwise.pow(input, 2).mean(tuple(range(x.ndim - len(shape), x.ndim)), True)
    out = input * special.add_number(squares, eps).rsqrt()
    return out if weight is None else out * weight


__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "avg_pool1d", "avg_pool2d", "batch_norm", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d",
    "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "dropout", "dropout1d", "dropout2d", "elu",
    "embedding", "fold", "gaussian_nll_loss", "gelu", "glu", "group_norm", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate", "kl_div", "l1_loss", "layer_norm",
    "leaky_relu",
    "linear", "log_softmax", "logsigmoid", "margin_ranking_loss", "max_pool1d", "max_pool2d", "mish", "mse_loss",
    "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance", "pixel_shuffle", "pixel_unshuffle",
    "poisson_nll_loss", "prelu", "relu", "relu6", "rms_norm", "scaled_dot_product_attention", "selu", "sigmoid",
    "silu", "smooth_l1_loss", "softmax",
    "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "triplet_margin_loss", "unfold",
]  # fmt: skip
__dir__, __getattr__ = module_attributes(__name__, __all__)
guard(__name__, "nn.functional")
