"""Operations of layers that look at neighbours: convolution, pooling, normalisation."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from ..tensor import wrap
from .indexing import spread_places
from .nn import floats, weighted
from .operands import constant
from .pointwise import rsqrt
from .reduction import mean_dim, rows
from .table import is_array, op

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and what rules are made of


def padded(x: ndarray, padding: tuple, value: float = 0) -> ndarray:
    """A contiguous array with `padding` more elements at both ends of its last dimensions."""
    if not any(padding):
        return np.ascontiguousarray(x)
    (*lead, h, w), (p, q) = x.shape, padding
    out = np.full((*lead, h + 2 * p, w + 2 * q), value, x.dtype)
    out[..., p : p + h, q : q + w] = x
    return out


def windows(x: ndarray, kernel: tuple, stride: tuple) -> ndarray:
    """What the kernel's elements meet at each output position: (..., *out, *kernel), a view of a contiguous array."""
    (*lead, h, w), (*steps, i, j), (a, b), (s, t) = x.shape, x.strides, kernel, stride
    shape = (*lead, (h - a) // s + 1, (w - b) // t + 1, a, b)
    return ndarray(shape, x.dtype, x, 0, (*steps, i * s, j * t, i, j))


def put_back(parts: ndarray, size: tuple, kernel: tuple, stride: tuple, padding: tuple) -> ndarray:
    """The transpose of `windows` of a padded array: `parts`, which broadcast to them, added up where they overlap."""
    (h, w), (p, q) = size, padding
    out = np.zeros((*parts.shape[:-4], h + 2 * p, w + 2 * q), parts.dtype)
    met = windows(out, kernel, stride)
    if (stride[0] >= kernel[0] and stride[1] >= kernel[1]) or met.shape[-4:-2] == (1, 1):
        met[...] = parts
    else:
        for i, j in itertools.product(*map(range, kernel)):
            part = met[..., i, j]
            part += parts[..., i % parts.shape[-2], j % parts.shape[-1]]
    return out[..., p : p + h, q : q + w] if p or q else out


def _convolve(input, weight, bias, stride, padding):
    met = windows(padded(input, padding), weight.shape[2:], stride)
    count, _, *out = met.shape[:4]
    columns = met.transpose(0, 1, 4, 5, 2, 3).reshape(count, -1, math.prod(out))
    result = np.matmul(weight.reshape(len(weight), -1), columns).reshape(count, len(weight), *out)
    return result if bias is None else result + per_channel(bias, 4)


def _convolve_input(output, weight, size, stride, padding):
    """The transpose of `_convolve` in x: each output value is spread over the `size` inputs that it was made from."""
    count, channels, *out = output.shape
    columns = np.matmul(weight.reshape(channels, -1).T, output.reshape(count, channels, -1))
    parts = columns.reshape(count, *weight.shape[1:], *out).transpose(0, 1, 4, 5, 2, 3)
    return put_back(parts, size, weight.shape[2:], stride, padding)


def _convolve_weight(output, input, kernel, stride, padding):
    """The transpose of `_convolve` in the weight: how each kernel element met the inputs, weighted by y."""
    channels, met = output.shape[1], windows(padded(input, padding), kernel, stride)
    columns = met.transpose(1, 4, 5, 0, 2, 3).reshape(input.shape[1] * math.prod(kernel), -1)
    rows = output.swapaxes(0, 1).reshape(channels, -1)
    return rows.dot(columns.T).reshape(channels, input.shape[1], *kernel)


@functools.lru_cache(maxsize=64)
def places_met(size: tuple, kernel: tuple, stride: tuple, padding: tuple) -> ndarray:
    """Where in a plane of this size the elements are that each window meets: one window after the other, flat."""
    return windows(padded(np.arange(math.prod(size)).reshape(size), padding), kernel, stride).ravel()


def _max_pool(self, kernel_size, stride, padding):
    """(the largest element that each window meets, its place in the plane)."""
    lowest = -np.inf if self.dtype.kind == "f" else np.iinfo(self.dtype).min
    met = windows(padded(self, padding, lowest), kernel_size, stride)
    met = met.reshape(*met.shape[:-2], -1)
    k = met.argmax(-1)
    places = places_met(self.shape[-2:], kernel_size, stride, padding)
    return met.take(k + rows(met.shape)), places.take(k + rows(met.shape[-3:]))


def max_pool_put(grad, indices, sizes):
    """Each gradient goes to the element that was the largest of its window."""
    planes = rows((*sizes[:-2], math.prod(sizes[-2:])))[..., None, None]
    return spread_places(grad, sizes, indices + (planes if is_array(indices) else wrap(planes)))


def _avg_pool(self, kernel_size, stride, padding):
    met = windows(padded(floats(self, "avg_pool2d_out_frame"), padding), kernel_size, stride)
    for _ in range(2):  # the rows of each window, then their sums: np.add.reduce takes four times as long
        met = functools.reduce(np.add, [met[..., i] for i in range(met.shape[-1])])
    return met / math.prod(kernel_size)


def normalised(x, weight, bias, mean, eps: float) -> tuple:
    """(y, m, r, the variance), where `mean` averages over what is normalised together."""
    m = mean(x)
    centred = x - m
    variance = mean(centred * centred)
    r = rsqrt(variance + eps)
    y = centred * weighted(r, weight)
    return y if bias is None else y + bias, m, r, variance


def last_mean(x, shape: tuple):
    """What averages over the last dimensions, of this shape, an array or Tensor like `x`."""
    dims = tuple(range(len(x.shape) - len(shape), len(x.shape)))
    if not is_array(x) or len(shape) > 1:
        return lambda x: mean_dim(x, dims, True)
    ones, count = constant((*shape, 1), x.dtype.char), constant((), x.dtype.char, *shape)
    return lambda x: x.dot(ones) / count  # in half the time


def _layer_norm(input, weight, bias, normalized_shape, eps):
    return normalised(input, weight, bias, last_mean(input, normalized_shape), eps)[:3]


def layer_norm_backward(grad, grad_input_mask, input, weight, result1, result2, normalized_shape, _eps):
    def whole(x, factors=None):  # only if it must be a view, which a leaf copies
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


def channel_sums(x, factors=None):
    """The sums over all dimensions but the channels', of an array or a Tensor, each row times its factor if there are any."""
    if not is_array(x):
        x = x if factors is None else x * factors.reshape((-1, 1))
        return x.sum((0, *range(2, len(x.shape))))
    if x.ndim > 2:  # by products with ones
        inner = x.size // (x.shape[0] * x.shape[1] or 1)
        x = x.reshape(*x.shape[:2], inner).dot(constant(inner, x.dtype.char))
    return (constant(len(x), x.dtype.char) if factors is None else factors.reshape(-1)).dot(x)


def per_channel(values, ndim: int):
    """Values of the channels, shaped to be broadcast along dimension 1 of `ndim`; None stays None."""
    return values if values is None or ndim == 2 else values.reshape((1, -1) + (1,) * (ndim - 2))


def channel_means(x):
    return per_channel(channel_sums(x), len(x.shape)) / (math.prod(x.shape) // x.shape[1])


def _batch_norm(input, weight, bias, running_mean, running_var, training, eps):
    """y, m, r, and the variance without bias (over n - 1)."""
    ndim, n = len(input.shape), math.prod(input.shape) // input.shape[1]
    weight, bias = per_channel(weight, ndim), per_channel(bias, ndim)
    if training:
        y, *kept = normalised(input, weight, bias, channel_means, eps)
        m, r, variance = [v.reshape((-1,)) for v in kept]
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
    return tuple([g if wanted else None for g, wanted in zip(grads, grad_input_mask, strict=True)])


# fmt: off
# ---------------------------------------------------------------- convolution
#
# ⟨y, conv(x, w)⟩ is linear in each of x, w, y. Its derivative by y is the convolution itself, by x
# `convolution_input(y, w)` (the transposed convolution), by w `convolution_weight(y, x)`.

convolution = op("convolution(input, weight, bias=None, stride: object=(1, 1), padding: object=(0, 0))", _convolve, at="",
    batch="fold", flat=("input", "weight"), input=lambda grad, input_sym_sizes, weight, stride, padding:
        convolution_input(grad, weight, input_sym_sizes[2:], stride, padding),
    weight=lambda grad, input, weight_sym_sizes, stride, padding:
        convolution_weight(grad, input, weight_sym_sizes[2:], stride, padding),
    bias=lambda grad: channel_sums(grad))
convolution_input = op("convolution_input(output, weight, size: object, stride: object, padding: object)",
    _convolve_input, at="", kind="linear", node="ConvolutionBackwardBackward0", batch="fold",
    output=lambda grad, weight, stride, padding: convolution(grad, weight, None, stride, padding),
    weight=lambda grad, output, weight_sym_sizes, stride, padding:
        convolution_weight(output, grad, weight_sym_sizes[2:], stride, padding))
convolution_weight = op("convolution_weight(output, input, kernel: object, stride: object, padding: object)",
    _convolve_weight, at="", kind="linear", node="ConvolutionBackwardBackward0",
    output=lambda grad, input, stride, padding: convolution(input, grad, None, stride, padding),
    input=lambda grad, output, input_sym_sizes, stride, padding:
        convolution_input(output, grad, input_sym_sizes[2:], stride, padding))

# ---------------------------------------------------------------- pooling

max_pool = op("max_pool2d_with_indices(self, kernel_size: object, stride: object, padding: object)", _max_pool, at="",
    node="MaxPool2DWithIndicesBackward0", outputs=("result0", "result1"), constants=("result1",), flat=("self",), batch="fold",
    self=lambda grad, self, result1: max_pool_put(grad, result1, tuple(self.shape)))
avg_pool = op("avg_pool2d(self, kernel_size: object, stride: object, padding: object)", _avg_pool, at="",
    kind="linear", node="AvgPool2DBackward0", flat=("self",), batch="fold",
    self=lambda grad, self, kernel_size, stride, padding:
        avg_pool_spread(grad, tuple(self.shape), kernel_size, stride, padding))
avg_pool_spread = op("avg_pool2d_backward(self, sizes: size, kernel_size: object, stride: object, padding: object)",
    lambda self, sizes, kernel_size, stride, padding:
        put_back(self[..., None, None] / math.prod(kernel_size), sizes[-2:], kernel_size, stride, padding),
    at="", kind="linear", node="AvgPool2DBackwardBackward0",
    self=lambda grad, kernel_size, stride, padding: avg_pool(grad, kernel_size, stride, padding))

# ---------------------------------------------------------------- normalisation
#
# x̂ = (x - m)·r with m the mean and r = 1/√(var + ε), y = x̂·w + b. With g the gradient of y, and all means over what is
# normalised together (Ioffe & Szegedy 2015, section 3),
#
#     ∂b = Σ g    ∂w = Σ g·x̂    ∂x = r·(g·w - mean(g·w) - x̂·mean(g·w·x̂))
#
# in which w stands before the brackets where it is the same for all that is averaged, so that the means are ∂b/n and ∂w/n.
# m and r are saved. Where a gradient is itself to be differentiated they are computed again, as functions of x.

native_layer_norm = op("native_layer_norm(input, weight=None, bias=None, normalized_shape: object=(), eps: float=1e-05)",
    _layer_norm, at="", outputs=("result0", "result1", "result2"), constants=("result1", "result2"), flat=("input", "weight"),
    batch=_layer_norm, input=layer_norm_backward, weight=layer_norm_backward, bias=layer_norm_backward)
native_batch_norm = op(
    "native_batch_norm(input, weight=None, bias=None, running_mean=None, running_var=None, training: bool=True, "
    "eps: float=1e-05)", _batch_norm, at="", flat=("input", "weight"), batch=_batch_norm,
    outputs=("result0", "result1", "result2", "batch_var"), constants=("result1", "result2", "batch_var"),
    input=batch_norm_backward, weight=batch_norm_backward, bias=batch_norm_backward)
# fmt: on
