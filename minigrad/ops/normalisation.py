"""Operations that normalise: over the last dimensions, over a batch for each channel, over groups of channels."""

from __future__ import annotations

import math

import numpy as np

from .images import channel_sums, per_channel
from .losses import weighted
from .operands import constant
from .pointwise import rsqrt
from .reduction import mean_dim
from .table import is_array, op

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


def normalised(x, weight, bias, mean, eps: float) -> tuple:
    """(y, m, r, the variance), where `mean` averages over what is normalised together."""
    m = mean(x)
    centred = x - m
    variance = mean(centred * centred)
    r = rsqrt(variance + eps)
    y = centred * weighted(r, weight)
    return y if bias is None else y + bias, m, r, variance


def last_mean(x, shape: tuple):
    """A function that averages an array or Tensor like `x` over its last dimensions, which have this shape."""
    dims = tuple(range(len(x.shape) - len(shape), len(x.shape)))
    if not is_array(x) or len(shape) > 1:
        return lambda x: mean_dim(x, dims, True)
    ones, count = constant((*shape, 1), x.dtype.char), constant((), x.dtype.char, *shape)
    return lambda x: x.dot(ones) / count  # takes half the time


def _layer_norm(input, weight, bias, normalized_shape, eps):
    return normalised(input, weight, bias, last_mean(input, normalized_shape), eps)[:3]


def layer_norm_backward(grad, grad_input_mask, input, weight, result1, result2, normalized_shape, _eps):
    def whole(x, factors=None):  # a view only if necessary: a view of a leaf would be a copy
        summed = channel_sums(x.reshape((-1, math.prod(normalized_shape))), factors)
        return summed if len(normalized_shape) == 1 else summed.reshape(normalized_shape)

    of_input, of_weight, of_bias = grad_input_mask
    mean, m, r = last_mean(input, normalized_shape), result1, result2
    if not is_array(grad):
        _, m, r, _ = normalised(input, None, None, mean, _eps)
    centred, moved = input - m, None
    if of_input:
        scaled = grad * weighted(r, weight)
        moved = scaled - mean(scaled) - centred * (r * r * mean(scaled * centred))
    return moved, whole(grad * centred, r) if of_weight else None, whole(grad) if of_bias else None


def channel_means(x):
    return per_channel(channel_sums(x), len(x.shape)) / (math.prod(x.shape) // x.shape[1])


def _batch_norm(input, weight, bias, running_mean, running_var, training, eps):
    """y, m, r, and the unbiased variance (divided by n - 1)."""
    ndim, n = len(input.shape), math.prod(input.shape) // input.shape[1]
    weight, bias = per_channel(weight, ndim), per_channel(bias, ndim)
    if training:
        y, *stats = normalised(input, weight, bias, channel_means, eps)
        m, r, variance = [v.reshape((-1,)) for v in stats]
        return y, m, r, variance * (n / max(n - 1, 1))
    r = rsqrt(running_var + eps)
    y = (input - per_channel(running_mean, ndim)) * weighted(per_channel(r, ndim), weight)
    return y if bias is None else y + bias, running_mean, r, running_var


def batch_norm_backward(grad, grad_input_mask, input, weight, result1, result2, training, eps):
    ndim, m, r = len(input.shape), result1, result2
    if training and not is_array(grad):
        _, m, r, _ = [v.reshape((-1,)) for v in normalised(input, None, None, channel_means, eps)]
    centred, moved = input - per_channel(m, ndim), grad
    total, slope = channel_sums(grad), channel_sums(grad * centred) * r
    if training:
        n = math.prod(input.shape) // input.shape[1]
        moved = grad - per_channel(total / n, ndim) - centred * per_channel(slope * r / n, ndim)
    grads = moved * per_channel(weighted(r, weight), ndim), slope, total
    return tuple([g if needed else None for g, needed in zip(grads, grad_input_mask, strict=True)])


def groups_of(input, group: int) -> tuple[int, int, int]:
    """(N, groups, elements of a group)"""
    return input.shape[0], group, input.shape[1] // group * math.prod(input.shape[2:])


def _group_norm(input, weight, bias, group, eps):
    groups, ndim = input.reshape(groups_of(input, group)), len(input.shape)
    y, m, r, _ = normalised(groups, None, None, lambda x: mean_dim(x, (2,), True), eps)
    y = weighted(y.reshape(tuple(input.shape)), per_channel(weight, ndim))
    return y if bias is None else y + per_channel(bias, ndim), m.reshape(m.shape[:2]), r.reshape(r.shape[:2])


def group_norm_backward(grad, grad_input_mask, input, weight, result1, result2, group, eps):
    shape, (of_input, of_weight, of_bias) = tuple(input.shape), grad_input_mask
    groups, m, r, moved = input.reshape(groups_of(input, group)), result1[..., None], result2[..., None], None
    if not is_array(grad):
        _, m, r, _ = normalised(groups, None, None, lambda x: mean_dim(x, (2,), True), eps)
    x = (groups - m) * r
    if of_input:
        scaled = weighted(grad, per_channel(weight, len(shape))).reshape(groups.shape)
        means = mean_dim(scaled, (2,), True), mean_dim(scaled * x, (2,), True)
        moved = ((scaled - means[0] - x * means[1]) * r).reshape(shape)
    return (
        moved,
        channel_sums(grad * x.reshape(shape)) if of_weight else None,
        channel_sums(grad) if of_bias else None,
    )


# fmt: off
# ---------------------------------------------------------------- normalisation
#
# x̂ = (x - m)·r with m the mean and r = 1/√(var + ε), y = x̂·w + b. With g the gradient of y, and all means over what is
# normalised together (Ioffe & Szegedy 2015, section 3),
#
#     ∂b = Σ g    ∂w = Σ g·x̂    ∂x = r·(g·w - mean(g·w) - x̂·mean(g·w·x̂))
#
# where w is taken out of the brackets if it is the same for all averaged elements, so that the means are ∂b/n and ∂w/n.
# m and r are saved. If a gradient is itself differentiated, they are computed again, as functions of x.

native_layer_norm = op("native_layer_norm(input, weight=None, bias=None, normalized_shape: object=(), eps: float=1e-05)",
    _layer_norm, at="", outputs=("result0", "result1", "result2"), constants=("result1", "result2"),
    zero_slope=("input", "weight"),
    batch=_layer_norm, input=layer_norm_backward, weight=layer_norm_backward, bias=layer_norm_backward)
native_batch_norm = op(
    "native_batch_norm(input, weight=None, bias=None, running_mean=None, running_var=None, training: bool=True, "
    "eps: float=1e-05)", _batch_norm, at="", zero_slope=("input", "weight"), batch=_batch_norm,
    outputs=("result0", "result1", "result2", "batch_var"), constants=("result1", "result2", "batch_var"),
    input=batch_norm_backward, weight=batch_norm_backward, bias=batch_norm_backward)
native_group_norm = op("native_group_norm(input, weight=None, bias=None, group: int=1, eps: float=1e-05)", _group_norm, at="",
    outputs=("result0", "result1", "result2"), constants=("result1", "result2"), batch="fold",
    input=group_norm_backward, weight=group_norm_backward, bias=group_norm_backward)
# fmt: on
