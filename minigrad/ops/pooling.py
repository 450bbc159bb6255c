"""Operations that make images smaller or larger: maxima or means of windows, means of bins, blends of neighbours."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from ..tensor import wrap
from .images import padded, put_back, windows
from .indexing import spread_places
from .reduction import rows
from .table import is_array, op

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


@functools.lru_cache(maxsize=64)
def places_met(
    size: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, more: tuple
) -> ndarray:
    """The flat positions of each window's elements in a plane of this size: one window after the other."""
    places = np.arange(math.prod(size)).reshape(size)
    return windows(padded(places, padding, 0, more), kernel, stride, dilation).ravel()


def excess(
    size: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, ceil_mode: bool
) -> tuple[int, int]:
    """How many elements the last windows reach beyond the padded plane, where `ceil_mode` lets them."""
    results = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        rest = n + 2 * p - d * (k - 1) - 1
        last = -(-rest // s)  # the last window begins in the plane or in the padding before it
        last -= last * s >= n + p
        results.append(max(last * s - rest, 0) if ceil_mode else 0)
    return tuple(results)


def _max_pool(self, kernel_size, stride, padding, dilation, ceil_mode):
    """(the largest element of each window, its position in the plane)."""
    lowest = -np.inf if self.dtype.kind == "f" else np.iinfo(self.dtype).min
    more = excess(self.shape[-2:], kernel_size, stride, padding, dilation, ceil_mode)
    met = windows(padded(self, padding, lowest, more), kernel_size, stride, dilation)
    met = met.reshape(*met.shape[:-2], -1)
    k = met.argmax(-1)
    places = places_met(self.shape[-2:], kernel_size, stride, padding, dilation, more)
    return met.take(k + rows(met.shape)), places.take(k + rows(met.shape[-3:]))


def max_pool_put(grad, indices, sizes):
    """Each gradient goes to the element that was the largest of its window."""
    planes = rows((*sizes[:-2], math.prod(sizes[-2:])))[..., None, None]
    return spread_places(grad, sizes, indices + (planes if is_array(indices) else wrap(planes)))


@functools.lru_cache(maxsize=64)
def divisors(size, kernel, stride, padding, ceil_mode, count_include_pad, dtype) -> ndarray:
    """The number that each window's sum is divided by: how many elements it covers, with or without the padding."""
    more, filled = (
        excess(size, kernel, stride, padding, (1, 1), ceil_mode),
        (0, 0) if count_include_pad else padding,
    )
    ones = np.ones(
        [n + 2 * p for n, p in zip(size, padding, strict=True)] if count_include_pad else size, dtype
    )
    return windows(padded(ones, filled, 0, more), kernel, stride).sum((-2, -1))


def _avg_pool(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    more = excess(self.shape[-2:], kernel_size, stride, padding, (1, 1), ceil_mode)
    met = windows(padded(self, padding, 0, more), kernel_size, stride)
    for _ in range(2):  # the rows of each window, then their sums: np.add.reduce takes four times as long
        met = functools.reduce(np.add, [met[..., i] for i in range(met.shape[-1])])
    if divisor_override is None and (any(more) or not count_include_pad):
        return met / divisors(
            self.shape[-2:], kernel_size, stride, padding, ceil_mode, count_include_pad, self.dtype
        )
    return met / (divisor_override or math.prod(kernel_size))


def _avg_pool_spread(
    self, sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    size, more = sizes[-2:], excess(sizes[-2:], kernel_size, stride, padding, (1, 1), ceil_mode)
    count = divisor_override or math.prod(kernel_size)
    if divisor_override is None and (any(more) or not count_include_pad):
        count = divisors(size, kernel_size, stride, padding, ceil_mode, count_include_pad, self.dtype)
    return put_back((self / count)[..., None, None], size, kernel_size, stride, padding, (1, 1), more)


# ---------------------------------------------------------------- resizing: a matrix for the rows, one for the columns


@functools.lru_cache(maxsize=64)
def bins(size: int, out: int) -> ndarray:
    """The matrix (out, size) that averages a dimension over `out` bins of nearly equal length."""
    matrix = np.zeros((out, size))
    for i in range(out):
        start, end = i * size // out, -(-(i + 1) * size // out)
        matrix[i, start:end] = 1 / (end - start)
    return matrix


@functools.lru_cache(maxsize=64)
def blend(size: int, out: int, mode: str, align_corners: bool, scale: float | None) -> ndarray:
    """The matrix (out, size) that takes the nearest element, or the blend of the two nearest."""
    step = (size - 1) / max(out - 1, 1) if align_corners else size / out if scale is None else 1 / scale
    at = np.arange(out) * step if align_corners or mode == "nearest" else (np.arange(out) + 0.5) * step - 0.5
    at = np.clip(at, 0, size - 1) if mode != "nearest" else np.minimum(at.astype(int), size - 1)
    low = np.floor(at).astype(int)
    matrix, rows = np.zeros((out, size)), np.arange(out)
    np.add.at(matrix, (rows, low), 1 - (at - low))
    np.add.at(matrix, (rows, np.minimum(low + 1, size - 1)), at - low)
    return matrix


def resized(x: ndarray, rows: ndarray, columns: ndarray) -> ndarray:
    """Resize planes: multiply all rows and all columns by these matrices."""
    rows, columns = rows.astype(x.dtype), columns.astype(x.dtype)
    return np.matmul(np.matmul(rows, x), columns.T)


def _binned(self, output_size):
    return resized(self, *map(bins, self.shape[-2:], output_size))


def blends(sizes: tuple, output_size: tuple, mode: str, align_corners: bool, scales: tuple) -> list[ndarray]:
    return [blend(n, m, mode, align_corners, s) for n, m, s in zip(sizes, output_size, scales, strict=True)]


def resized_back(grad, rows, columns):
    """The transpose of `resized`, for arrays and for Tensors."""
    if is_array(grad):
        return resized(grad, rows.T, columns.T)
    rows, columns = (wrap(m.astype(grad._array.dtype)) for m in (rows, columns))
    return rows.mT @ grad @ columns


def _shuffled(self, upscale_factor):
    (*lead, c, h, w), r = self.shape, upscale_factor
    if not self.size:
        return np.zeros((*lead, c // (r * r), h * r, w * r), self.dtype)
    parts = self.reshape(-1, c // (r * r), r, r, h, w)
    return parts.transpose(0, 1, 4, 2, 5, 3).reshape(*lead, c // (r * r), h * r, w * r)


def _unshuffled(self, downscale_factor):
    (*lead, c, h, w), r = self.shape, downscale_factor
    if not self.size:
        return np.zeros((*lead, c * r * r, h // r, w // r), self.dtype)
    parts = self.reshape(-1, c, h // r, r, w // r, r)
    return parts.transpose(0, 1, 3, 5, 2, 4).reshape(*lead, c * r * r, h // r, w // r)


# fmt: off
# ---------------------------------------------------------------- pooling

max_pool = op("max_pool2d_with_indices(self, kernel_size: object, stride: object, padding: object, dilation: object, "
              "ceil_mode: bool)", _max_pool, at="", takes="fiu", kernel="max_pool2d", node="MaxPool2DWithIndicesBackward0",
    outputs=("result0", "result1"), constants=("result1",), zero_slope=("self",), batch="fold",
    self=lambda grad, self, result1: max_pool_put(grad, result1, tuple(self.shape)))
AVERAGED = "kernel_size: object, stride: object, padding: object, ceil_mode: bool, count_include_pad: bool, "
AVERAGED += "divisor_override: object)"
avg_pool = op("avg_pool2d(self, " + AVERAGED, _avg_pool, at="", takes="f", kernel="avg_pool2d",
    kind="linear", node="AvgPool2DBackward0", zero_slope=("self",), batch="fold",
    self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: avg_pool_spread(
        grad, tuple(self.shape), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override))
avg_pool_spread = op("avg_pool2d_backward(self, sizes: size, " + AVERAGED, _avg_pool_spread,
    at="", kind="linear", node="AvgPool2DBackwardBackward0",
    self=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override:
        avg_pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override))

# ---------------------------------------------------------------- resizing

adaptive_avg_pool = op("adaptive_avg_pool2d(self, output_size: object)", _binned, at="", kind="linear", batch="rows",
    takes="f", kernel="adaptive_avg_pool2d",
    node="AdaptiveAvgPool2DBackward0", zero_slope=("self",), self=lambda grad, self, output_size:
        resized_back(grad, *map(bins, self.shape[-2:], output_size)))

pixel_shuffled = op("pixel_shuffle(self, upscale_factor: int)", _shuffled, at="", kind="linear", batch="rows",
                    self=lambda grad, upscale_factor: pixel_unshuffled(grad, upscale_factor))
pixel_unshuffled = op("pixel_unshuffle(self, downscale_factor: int)", _unshuffled, at="", kind="linear", batch="rows",
                      self=lambda grad, downscale_factor: pixel_shuffled(grad, downscale_factor))


def upsampling(mode: str) -> Callable:
    """Images in another size, made of the nearest elements or of blended ones."""
    return op(f"upsample_{mode}2d(self, output_size: object, align_corners: bool, scales: object)", lambda self, size, corners,
              scales: resized(self, *blends(self.shape[-2:], size, mode, corners, scales)), at="", kind="linear", batch="rows",
              node=f"Upsample{mode.title()}2DBackward0", self=lambda grad, self_sym_sizes, output_size, align_corners, scales:
                  resized_back(grad, *blends(self_sym_sizes[-2:], output_size, mode, align_corners, scales)))


upsample_nearest, upsample_bilinear = upsampling("nearest"), upsampling("bilinear")
# fmt: on
