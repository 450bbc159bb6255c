"""Operations of layers that look at neighbours: convolution, pooling, normalisation."""

from __future__ import annotations

import math

import numpy as np

from .nn import floats, remembered, weighted
from .pointwise import rsqrt
from .run import ones
from .table import is_array, op

ndarray = np.ndarray

# ---------------------------------------------------------------- convolution
#
# ⟨y, conv(x, w)⟩ is linear in each of x, w, y. Its derivative by y is the convolution itself, by x
# `convolution_input(y, w)` (the transposed convolution), by w `convolution_weight(y, x)`.


def _framed(size: tuple, padding: tuple) -> tuple[tuple, tuple]:
    """(lengths with `padding` more elements at both ends, the key of the elements that were there before)."""
    (h, w), (p, q) = size, padding
    return (h + 2 * p, w + 2 * q), (..., slice(p, p + h), slice(q, q + w))


def _padded(x: ndarray, padding: tuple) -> ndarray:
    """A contiguous array with `padding` more zeros at both ends of its last dimensions."""
    if not any(padding):
        return np.ascontiguousarray(x)
    size, inside = _framed(x.shape[-2:], padding)
    out = np.zeros(x.shape[:-2] + size, x.dtype)
    out[inside] = x
    return out


@remembered
def _met_by(kernel: tuple, out: tuple, stride: tuple) -> list[tuple[tuple, tuple]]:
    """For each position in the kernel: it, and the key of the inputs that it meets, one for each output."""
    (a, b), (h, w), (s, t) = kernel, out, stride
    return [
        ((i, j), (..., slice(i, i + s * (h - 1) + 1, s), slice(j, j + t * (w - 1) + 1, t)))
        for i in range(a)
        for j in range(b)
    ]


def _windows(x: ndarray, kernel: tuple, stride: tuple, padding: tuple) -> ndarray:
    """What the kernel's elements meet at each output position: (C, *kernel, N, *out), a view of the padded input."""
    x = _padded(x, padding)
    (n, c, h, w), (i, j, p, q) = x.shape, x.strides
    (a, b), (s, t) = kernel, stride
    shape = (c, a, b, n, (h - a) // s + 1, (w - b) // t + 1)
    return ndarray(shape, x.dtype, x, 0, (j, p, q, i, p * s, q * t))


def _convolve(input, weight, bias, stride, padding):
    columns = _windows(input, weight.shape[2:], stride, padding)
    count, *out = columns.shape[3:]
    columns = np.moveaxis(columns, 3, 0).reshape(count, -1, math.prod(out))
    result = np.matmul(weight.reshape(len(weight), -1), columns).reshape(count, len(weight), *out)
    return result if bias is None else result + per_channel(bias, 4)


def _convolve_input(output, weight, size, stride, padding):
    """The transpose of `_convolve` in x: each output value is spread over the `size` inputs that it was made from."""
    count, channels, *out = output.shape
    columns = np.matmul(weight.reshape(channels, -1).T, output.reshape(count, channels, -1))
    columns = columns.reshape(count, *weight.shape[1:], *out)
    size, inside = _framed(size, padding)
    full = np.zeros((*columns.shape[:2], *size), output.dtype)
    for (i, j), met in _met_by(weight.shape[2:], tuple(out), stride):
        full[met] += columns[:, :, i, j]
    return full[inside]


def _convolve_weight(output, input, kernel, stride, padding):
    """The transpose of `_convolve` in the weight: how each kernel element met the inputs, weighted by y."""
    channels = output.shape[1]
    columns = _windows(input, kernel, stride, padding).reshape(input.shape[1] * math.prod(kernel), -1)
    rows = output.swapaxes(0, 1).reshape(channels, -1)
    return rows.dot(columns.T).reshape(channels, input.shape[1], *kernel)


def _convolved(x, weight, size, stride, padding):
    """A convolution of which the first `size` outputs count: the last inputs may have met no kernel."""
    out = convolution(x, weight, None, stride, padding)
    return out if tuple(out.shape[2:]) == size else out[(..., *map(slice, size))]


# fmt: off
convolution = op("convolution(input, weight, bias=None, stride: object=(1, 1), padding: object=(0, 0))", _convolve, at="",
    batch="fold", flat=("input", "weight"),
    input=lambda grad, input_sym_sizes, weight, stride, padding:
        convolution_input(grad, weight, input_sym_sizes[2:], stride, padding),
    weight=lambda grad, input, weight_sym_sizes, stride, padding:
        convolution_weight(grad, input, weight_sym_sizes[2:], stride, padding),
    bias=lambda grad: channel_sums(grad))
convolution_input = op("convolution_input(output, weight, size: object, stride: object, padding: object)",
    _convolve_input, at="", kind="linear", node="ConvolutionBackwardBackward0", batch="fold",
    output=lambda grad, output_sym_sizes, weight, stride, padding:
        _convolved(grad, weight, output_sym_sizes[2:], stride, padding),
    weight=lambda grad, output, weight_sym_sizes, stride, padding:
        convolution_weight(output, grad, weight_sym_sizes[2:], stride, padding))
convolution_weight = op("convolution_weight(output, input, kernel: object, stride: object, padding: object)",
    _convolve_weight, at="", kind="linear", node="ConvolutionBackwardBackward0",
    output=lambda grad, output_sym_sizes, input, stride, padding:
        _convolved(input, grad, output_sym_sizes[2:], stride, padding),
    input=lambda grad, output, input_sym_sizes, stride, padding:
        convolution_input(output, grad, input_sym_sizes[2:], stride, padding))
# fmt: on


# ---------------------------------------------------------------- pooling


@remembered
def _met(size: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, ceil_mode: bool):
    """(the lengths of the output, the places in a plane that each window meets: (windows, places)).

    With ceil_mode a last window may reach over the end. For a place outside stands the first one inside: of equal elements
    the first is the largest.
    """
    out, lines = [], []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        o = (n + 2 * p - d * (k - 1) - 1 + (s - 1) * ceil_mode) // s + 1
        out.append(o - 1 if ceil_mode and (o - 1) * s >= n + p else o)
        line = np.arange(out[-1])[:, None] * s - p + np.arange(k) * d
        inside = (line >= 0) & (line < n)
        lines.append(np.where(inside, line, line[np.arange(out[-1]), inside.argmax(1), None]))
    rows, columns = lines
    return tuple(out), (rows[:, None, :, None] * size[1] + columns[:, None]).reshape(out[0] * out[1], -1)


def _max_pool(self, kernel_size, stride, padding, dilation, ceil_mode):
    """(the largest element that each window meets, its place in the plane): of equal ones the first, of NaNs the last."""
    out, met = _met(self.shape[-2:], kernel_size, stride, padding, dilation, ceil_mode)
    planes, shape = self.reshape(-1, self.shape[-2] * self.shape[-1]), self.shape[:-2] + out
    values = planes.take(met, 1)
    index, nans = met.take(values.argmax(-1) + np.arange(len(met)) * met.shape[1]), values != values
    if nans.any():
        index = np.where(nans.any(-1), np.where(nans, met, -1).max(-1), index)
    return self.take(_in_all(index.reshape(shape), planes.shape[1])), index.reshape(shape)


def _in_all(places: ndarray, length: int) -> ndarray:
    """Places in planes of `length` elements as places in all of them together."""
    rows = places.reshape(-1, places.shape[-2] * places.shape[-1])
    return (rows + np.arange(len(rows))[:, None] * length).reshape(places.shape)


def _put_back(self, indices, sizes):
    out = np.zeros(sizes, self.dtype)
    np.add.at(out.reshape(-1), _in_all(indices, sizes[-2] * sizes[-1]).reshape(-1), self.reshape(-1))
    return out


def _pick(self, indices):
    return self.take(_in_all(indices, self.shape[-2] * self.shape[-1]))


def _avg_pool(self, kernel_size, stride, padding):
    x = _padded(floats(self, "avg_pool2d_out_frame"), padding)
    out = tuple([(n - k) // s + 1 for n, k, s in zip(x.shape[-2:], kernel_size, stride, strict=True)])
    (_, first), *others = _met_by(kernel_size, out, stride)
    result = x[first].copy()
    for _, met in others:
        result += x[met]
    result /= math.prod(kernel_size)
    return result


def _avg_spread(self, sizes, kernel_size, stride, padding):
    size, inside = _framed(sizes[-2:], padding)
    full, part = np.zeros((*sizes[:-2], *size), self.dtype), self / math.prod(kernel_size)
    for _, met in _met_by(kernel_size, self.shape[-2:], stride):
        full[met] += part
    return full[inside]


# fmt: off
max_pool = op(
    "max_pool2d_with_indices(self, kernel_size: object, stride: object, padding: object, dilation: object, ceil_mode: bool)",
    _max_pool, at="", node="MaxPool2DWithIndicesBackward0", outputs=("result0", "result1"), constants=("result1",),
    flat=("self",), batch="fold", self=lambda grad, self, result1: max_pool_put(grad, result1, tuple(self.shape)))
max_pool_put = op("max_pool_backward(self, indices, sizes: size)", _put_back, at="", kind="linear",
    node="MaxPool2DWithIndicesBackwardBackward0", self=lambda grad, indices: max_pool_pick(grad, indices))
max_pool_pick = op("max_pool_pick(self, indices)", _pick, at="", kind="linear", node="GatherBackward0",
    self=lambda grad, self_sym_sizes, indices: max_pool_put(grad, indices, self_sym_sizes))
avg_pool = op("avg_pool2d(self, kernel_size: object, stride: object, padding: object)", _avg_pool, at="",
    kind="linear", node="AvgPool2DBackward0", flat=("self",), batch="fold",
    self=lambda grad, self, kernel_size, stride, padding:
        avg_pool_spread(grad, tuple(self.shape), kernel_size, stride, padding))
avg_pool_spread = op("avg_pool2d_backward(self, sizes: size, kernel_size: object, stride: object, padding: object)",
    _avg_spread, at="", kind="linear", node="AvgPool2DBackwardBackward0",
    self=lambda grad, kernel_size, stride, padding: avg_pool(grad, kernel_size, stride, padding))
# fmt: on


# ---------------------------------------------------------------- normalisation
#
# x̂ = (x - m)·r with m the mean and r = 1/√(var + ε), y = x̂·w + b. With g the gradient of y, and all means over what is
# normalised together (Ioffe & Szegedy 2015, section 3),
#
#     ∂b = Σ g    ∂w = Σ g·x̂    ∂x = r·(g·w - mean(g·w) - x̂·mean(g·w·x̂))
#
# m and r are saved. Where a gradient is itself to be differentiated they are computed again, as functions of x.


def scale_of(r, weight):
    """r times the weight: of rows' r and columns' weights a matrix, which a product gives most quickly."""
    if weight is not None and is_array(r) and r.ndim == 2 and r.shape[1] == 1:
        return r.dot(weight)
    return weighted(r, weight)


def normalised(x, mean, eps: float, weight, bias) -> tuple:
    """(y, m, r, variance), where `mean` averages over what is normalised together."""
    m = mean(x)
    centred = x - m
    var = mean(centred * centred)
    r = inverse_root(var, eps)
    scale = scale_of(r, weight)
    if not is_array(x):
        return centred * scale if bias is None else centred * scale + bias, m, r, var
    centred *= scale
    if bias is not None:
        centred += bias
    return centred, m, r, var


def inverse_root(var, eps: float):
    if not is_array(var):
        return rsqrt(var + eps)
    out = var + eps
    np.sqrt(out, out)
    return np.reciprocal(out, out)


def normalised_backward(grad, mask, x, weight, m, r, mean, sums, constant=False) -> tuple:
    """The gradients of x, w and b. sums: of a product with r or of the first alone, over what a weight is shared by.

    constant: m and r do not depend on x.
    """
    centred, grad_input = x - m, None
    if mask[0]:
        grad_input = scaled = grad * scale_of(r, weight)
        if not constant:
            grad_input = scaled - centred * (mean(scaled * centred) * (r * r)) - mean(scaled)
    return grad_input, sums(grad * centred, r) if mask[1] else None, sums(grad) if mask[2] else None


@remembered
def even(n: int, dtype: str) -> ndarray:
    """n times 1/n: a product with it gives the mean, at the price of a sum, which is less than that of NumPy's."""
    return np.full((n, 1), 1 / max(n, 1), dtype)


def row_means(x):
    return x.dot(even(x.shape[1], x.dtype.char)) if is_array(x) else x.mean(1, keepdim=True)


def column_sums(x, r=None):
    if is_array(x):
        return (ones(len(x), x.dtype.char) if r is None else r.reshape(-1)).dot(x)
    return x.sum(0) if r is None else r.reshape((1, -1)) @ x


def channel_sums(x, r=None):
    """The sums over all dimensions but the channels', of an array or a Tensor."""
    if not is_array(x):
        summed = x.sum((0, *range(2, len(x.shape))))
    else:
        if x.ndim > 2:
            inner = x.size // (x.shape[0] * x.shape[1] or 1)
            x = x.reshape(*x.shape[:2], inner).dot(ones(inner, x.dtype.char))
        summed = ones(len(x), x.dtype.char).dot(x)
    return summed if r is None else summed * r.reshape((-1,))


def per_channel(values, ndim: int):
    """Values of the channels, shaped to be broadcast along dimension 1 of `ndim`; None stays None."""
    return values if values is None else values.reshape((1, -1) + (1,) * (ndim - 2))


def channel_means(x):
    return per_channel(channel_sums(x), len(x.shape)) / (math.prod(x.shape) // x.shape[1])


@remembered
def _rows(shape: tuple, normalized_shape: tuple) -> tuple[tuple, tuple]:
    """(the shape of a matrix whose rows are what is normalised, the shape of the statistics)."""
    split = len(shape) - len(normalized_shape)
    rows = math.prod(shape[:split]), math.prod(normalized_shape)
    return rows, shape[:split] + (1,) * len(normalized_shape)


def _layer_norm(input, weight, bias, normalized_shape, eps):
    rows, kept = _rows(tuple(input.shape), normalized_shape)
    weight = weight if weight is None else weight.reshape((1, rows[1]))
    bias = bias if bias is None else bias.reshape((1, rows[1]))
    out, m, r, _ = normalised(input.reshape(rows), row_means, eps, weight, bias)
    return out.reshape(input.shape), m.reshape(kept), r.reshape(kept)


def layer_norm_backward(grad, grad_input_mask, input, weight, result1, result2, normalized_shape, _eps):
    """The gradients of x, w and b; see `normalised_backward`."""
    rows, _ = _rows(tuple(input.shape), normalized_shape)
    x, w = input.reshape(rows), weight if weight is None else weight.reshape((1, rows[1]))
    if is_array(grad):
        m, r = result1.reshape((rows[0], 1)), result2.reshape((rows[0], 1))
    else:
        _, m, r, _ = normalised(x, row_means, _eps, None, None)
    dx, dw, db = normalised_backward(grad.reshape(rows), grad_input_mask, x, w, m, r, row_means, column_sums)
    dx = dx if dx is None else dx.reshape(input.shape)
    dw = dw if dw is None else dw.reshape(normalized_shape)
    return dx, dw, db if db is None else db.reshape(normalized_shape)


def _batch_norm(input, weight, bias, running_mean, running_var, training, eps):
    """y, m, r, and the variance without bias (over n - 1)."""
    ndim = len(input.shape)
    weight, bias = per_channel(weight, ndim), per_channel(bias, ndim)
    if training:
        out, m, r, var = normalised(input, channel_means, eps, weight, bias)
        n = math.prod(input.shape) // input.shape[1]
        return out, m.reshape((-1,)), r.reshape((-1,)), var.reshape((-1,)) * (n / max(n - 1, 1))
    r = inverse_root(running_var, eps)
    out = (input - per_channel(running_mean, ndim)) * weighted(per_channel(r, ndim), weight)
    return out if bias is None else out + bias, running_mean, r, running_var


def batch_norm_backward(grad, grad_input_mask, input, weight, result1, result2, training, eps):
    """The gradients of x, w and b; see `normalised_backward`."""
    m, r, w = (per_channel(v, len(input.shape)) for v in (result1, result2, weight))
    if training and not is_array(grad):
        _, m, r, _ = normalised(input, channel_means, eps, None, None)
    return normalised_backward(
        grad, grad_input_mask, input, w, m, r, channel_means, channel_sums, not training
    )


# fmt: off
native_layer_norm = op(
    "native_layer_norm(input, weight=None, bias=None, normalized_shape: object=(), eps: float=1e-05)", _layer_norm,
    at="", outputs=("result0", "result1", "result2"), constants=("result1", "result2"), flat=("input", "weight"),
    batch=_layer_norm, input=layer_norm_backward, weight=layer_norm_backward, bias=layer_norm_backward)
native_batch_norm = op(
    "native_batch_norm(input, weight=None, bias=None, running_mean=None, running_var=None, training: bool=True, "
    "eps: float=1e-05)", _batch_norm, at="", flat=("input", "weight"), batch=_batch_norm,
    outputs=("result0", "result1", "result2", "batch_var"), constants=("result1", "result2", "batch_var"),
    input=batch_norm_backward, weight=batch_norm_backward, bias=batch_norm_backward)
# fmt: on
