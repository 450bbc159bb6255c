"""Convolution and its transposes, of images and of rows. Also the windows on images that pooling uses."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable

import numpy as np

from .operands import constant
from .table import is_array, op

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


def padded(x: ndarray, padding: tuple, value: float = 0, more: tuple = (0, 0)) -> ndarray:
    """A contiguous array with `padding` more elements at both ends of its last dimensions, and `more` at the far end."""
    if not any(padding) and not any(more):
        return np.ascontiguousarray(x)
    (*lead, h, w), (p, q) = x.shape, padding
    out = np.full((*lead, h + 2 * p + more[0], w + 2 * q + more[1]), value, x.dtype)
    out[..., p : p + h, q : q + w] = x
    return out


def windows(x: ndarray, kernel: tuple, stride: tuple, dilation: tuple = (1, 1)) -> ndarray:
    """The elements under the kernel at each output position: (..., *out, *kernel), a view of a contiguous array."""
    (*lead, h, w), (*steps, i, j), (a, b), (s, t), (d, e) = x.shape, x.strides, kernel, stride, dilation
    shape = (*lead, (h - (a - 1) * d - 1) // s + 1, (w - (b - 1) * e - 1) // t + 1, a, b)
    return ndarray(shape, x.dtype, x, 0, (*steps, i * s, j * t, i * d, j * e))


def put_back(
    parts: ndarray,
    size: tuple,
    kernel: tuple,
    stride: tuple,
    padding: tuple,
    dilation: tuple = (1, 1),
    more: tuple = (0, 0),
) -> ndarray:
    """The transpose of `windows` of a padded array: add up `parts`, which broadcast to the windows, where they overlap."""
    (h, w), (p, q) = size, padding
    out = np.zeros((*parts.shape[:-4], h + 2 * p + more[0], w + 2 * q + more[1]), parts.dtype)
    rows, columns = parts.shape[-4:-2]
    met, alone = windows(out, kernel, stride, dilation)[..., :rows, :columns, :, :], dilation == (1, 1)
    if (alone and stride[0] >= kernel[0] and stride[1] >= kernel[1]) or met.shape[-4:-2] == (1, 1):
        met[...] = parts
    else:
        for i, j in itertools.product(*map(range, kernel)):
            part = met[..., i, j]
            part += parts[..., i % parts.shape[-2], j % parts.shape[-1]]
    return out[..., p : p + h, q : q + w] if any((p, q, *more)) else out


def in_two_dimensions(run: Callable) -> Callable:
    """Let a kernel for images also take rows (N, C, L), as images that are one pixel high."""

    @functools.wraps(run)
    def call(first, second, *options):
        if first.ndim > 3:
            return run(first, second, *options)
        *others, stride, padding, dilation, groups = [
            o if not isinstance(o, tuple) else (0, *o) for o in options
        ]
        others = [o if not isinstance(o, tuple) else (1, o[1]) for o in others]
        result = run(
            first[:, :, None], second[:, :, None], *others, (1, stride[1]), padding, (1, dilation[1]), groups
        )
        return result[:, :, 0]

    return call


@in_two_dimensions
def _convolve(input, weight, bias, stride, padding, dilation, groups):
    met = windows(padded(input, padding), weight.shape[2:], stride, dilation)
    count, _, *out = met.shape[:4]
    columns = met.transpose(0, 1, 4, 5, 2, 3).reshape(count, groups, -1, math.prod(out))
    kernels = weight.reshape(groups, len(weight) // groups, -1)
    result = np.matmul(kernels, columns).reshape(count, len(weight), *out)
    return result if bias is None else result + per_channel(bias, 4)


@in_two_dimensions
def _convolve_input(output, weight, size, stride, padding, dilation, groups):
    """The transpose of `_convolve` in x: each output is spread over the inputs it was made from, in an image of this `size`."""
    count, channels, *out = output.shape
    kernels = weight.reshape(groups, channels // groups, -1).mT
    columns = np.matmul(kernels, output.reshape(count, groups, channels // groups, -1))
    parts = columns.reshape(count, groups * weight.shape[1], *weight.shape[2:], *out).transpose(
        0, 1, 4, 5, 2, 3
    )
    return put_back(parts, size, weight.shape[2:], stride, padding, dilation)


@in_two_dimensions
def _convolve_weight(output, input, kernel, stride, padding, dilation, groups):
    """The transpose of `_convolve` in the weight: the inputs that each kernel element was applied to, weighted by y."""
    channels, met = output.shape[1], windows(padded(input, padding), kernel, stride, dilation)
    met = met[:, :, : output.shape[2], : output.shape[3]]
    columns = met.transpose(1, 4, 5, 0, 2, 3).reshape(
        groups, input.shape[1] // groups * math.prod(kernel), -1
    )
    rows = output.swapaxes(0, 1).reshape(groups, channels // groups, -1)
    return np.matmul(rows, columns.mT).reshape(channels, input.shape[1] // groups, *kernel)


def _convolve_transposed(input, weight, bias, size, stride, padding, dilation, groups):
    result = _convolve_input(input, weight, size, stride, padding, dilation, groups)
    return result if bias is None else result + per_channel(bias, result.ndim)


def channel_sums(x, factors=None):
    """The sums over all dimensions but the channels', of an array or a Tensor; with `factors`, each row times its factor."""
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


def cropped(x, sizes: tuple):
    """The first rows and columns: with `output_padding`, a transposed convolution has more rows and columns."""
    return x if tuple(x.shape[2:]) == tuple(sizes[2:]) else x[(..., *[slice(n) for n in sizes[2:]])]


def transposed_tangent(inputs: tuple, tangents: tuple, results: tuple, params: tuple):
    """The tangent of a transposed convolution, which is linear in each of its inputs."""
    (x, weight, _), (dx, dweight, dbias), parts = inputs, tangents, []
    if dx is not None:
        parts.append(convolution_transposed(dx, weight, None, *params))
    if dweight is not None:
        parts.append(convolution_transposed(x, dweight, None, *params))
    if dbias is not None:
        parts.append(per_channel(dbias, len(results[0].shape)).expand(results[0].shape))
    return functools.reduce(operator.add, parts)


def _im2col(self, kernel_size, dilation, padding, stride):
    met = windows(padded(self, padding), kernel_size, stride, dilation)
    return met.transpose(0, 1, 4, 5, 2, 3).reshape(
        len(self), self.shape[1] * math.prod(kernel_size), math.prod(met.shape[2:4])
    )


def _col2im(self, output_size, kernel_size, dilation, padding, stride):
    channels = self.shape[1] // math.prod(kernel_size)
    numbers = zip(output_size, kernel_size, dilation, padding, stride, strict=True)
    out = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in numbers]
    parts = self.reshape(len(self), channels, *kernel_size, *out).transpose(0, 1, 4, 5, 2, 3)
    return put_back(parts, output_size, kernel_size, stride, padding, dilation)


# fmt: off
# ---------------------------------------------------------------- convolution
#
# ⟨y, conv(x, w)⟩ is linear in each of x, w, y. Its derivative with respect to y is the convolution itself, with respect
# to x `convolution_input(y, w)` (the transposed convolution), with respect to w `convolution_weight(y, x)`.

OF_WINDOWS = "stride: object=(1, 1), padding: object=(0, 0), dilation: object=(1, 1), groups: int=1)"
convolution = op("convolution(input, weight, bias=None, " + OF_WINDOWS, _convolve, at="", takes="fiu", kernel="slow_conv2d_cpu",
    batch="fold", zero_slope=("input", "weight"), input=lambda grad, input_sym_sizes, weight, stride, padding, dilation, groups:
        convolution_input(grad, weight, input_sym_sizes[2:], stride, padding, dilation, groups),
    weight=lambda grad, input, weight_sym_sizes, stride, padding, dilation, groups:
        convolution_weight(grad, input, weight_sym_sizes[2:], stride, padding, dilation, groups),
    bias=lambda grad: channel_sums(grad))
convolution_transposed = op("convolution(input, weight, bias=None, size: object=(), " + OF_WINDOWS, _convolve_transposed, at="",
    takes="fi", kernel="slow_conv_transpose2d_out_cpu",
    batch="fold", zero_slope=("input", "weight"), jvp=transposed_tangent,
    input=lambda grad, input_sym_sizes, weight, stride, padding, dilation, groups:
        cropped(convolution(grad, weight, None, stride, padding, dilation, groups), input_sym_sizes),
    weight=lambda grad, input, weight_sym_sizes, stride, padding, dilation, groups:
        convolution_weight(input, grad, weight_sym_sizes[2:], stride, padding, dilation, groups),
    bias=lambda grad: channel_sums(grad))
convolution_input = op("convolution_input(output, weight, size: object, " + OF_WINDOWS,
    _convolve_input, at="", kind="linear", node="ConvolutionBackwardBackward0", batch="fold",
    output=lambda grad, output_sym_sizes, weight, stride, padding, dilation, groups:
        cropped(convolution(grad, weight, None, stride, padding, dilation, groups), output_sym_sizes),
    weight=lambda grad, output, weight_sym_sizes, stride, padding, dilation, groups:
        convolution_weight(output, grad, weight_sym_sizes[2:], stride, padding, dilation, groups))
convolution_weight = op("convolution_weight(output, input, kernel: object, " + OF_WINDOWS,
    _convolve_weight, at="", kind="linear", node="ConvolutionBackwardBackward0",
    output=lambda grad, output_sym_sizes, input, stride, padding, dilation, groups:
        cropped(convolution(input, grad, None, stride, padding, dilation, groups), output_sym_sizes),
    input=lambda grad, output, input_sym_sizes, stride, padding, dilation, groups:
        convolution_input(output, grad, input_sym_sizes[2:], stride, padding, dilation, groups))
im2col = op("im2col(self, kernel_size: object, dilation: object, padding: object, stride: object)", _im2col, kind="linear",
    takes="fb", kernel="im2col_out_cpu", at="", batch="fold", node="Im2ColBackward0",
    self=lambda grad, self_sym_sizes, kernel_size, dilation, padding, stride:
        col2im(grad, tuple(self_sym_sizes[-2:]), kernel_size, dilation, padding, stride))
col2im = op("col2im(self, output_size: object, kernel_size: object, dilation: object, padding: object, stride: object)",
    _col2im, kind="linear", at="", batch="fold", node="Col2ImBackward0",
    self=lambda grad, kernel_size, dilation, padding, stride: im2col(grad, kernel_size, dilation, padding, stride))
# fmt: on
