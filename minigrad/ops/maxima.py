"""The largest element of each window: max pooling in any number of dimensions, adaptive or not.

Which places of a plane each window meets depends on sizes alone: it is worked out once, as a table of places counted
through the plane. The gradient of a result goes to the one place that it was taken from.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from . import places
from .choice import refuse
from .table import define, first_of
from .windows import pooled_size

ndarray = np.ndarray
remembered = functools.lru_cache(maxsize=128)

# ---------------------------------------------------------------- what a window meets


def _met(size: tuple, lines: list[ndarray], inside: list[ndarray]) -> ndarray:
    """The places in a plane of this size that each window meets: (windows, places).

    lines: for each dimension the positions (windows, positions) along it, some of which may not be `inside`. For a place
    outside stands the first that the window does meet, which is no larger than the largest.
    """
    dims, spots, seen = len(size), np.zeros((), np.int64), np.ones((), bool)
    for d, (n, line, there) in enumerate(zip(size, lines, inside, strict=True)):
        shape = [1] * (2 * dims)
        shape[d], shape[dims + d] = line.shape
        spots, seen = spots * n + line.reshape(shape), seen & there.reshape(shape)
    table = math.prod(map(len, lines)), math.prod(line.shape[1] for line in lines)
    spots, seen = spots.reshape(table), seen.reshape(table)
    if not seen.any(-1).all():
        raise RuntimeError("a window sees nothing but padding; use less padding or dilation")
    return (
        np.where(seen, spots, np.take_along_axis(spots, seen.argmax(-1)[:, None], 1)) if seen.size else spots
    )


@remembered
def _by_windows(
    size: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, ceil_mode: bool
) -> tuple[tuple, ndarray]:
    """(the lengths of the output, what the windows of a pooling meet)."""
    out = pooled_size(size, kernel, stride, padding, dilation, ceil_mode)
    ends = zip(out, kernel, stride, padding, dilation, strict=True)
    lines = [np.arange(o)[:, None] * s - p + np.arange(k) * d for o, k, s, p, d in ends]
    return out, _met(size, lines, [(line >= 0) & (line < n) for line, n in zip(lines, size, strict=True)])


@remembered
def _by_bins(size: tuple, out: tuple) -> tuple[tuple, ndarray]:
    """(the lengths of the output, what the windows of an adaptive pooling meet)."""
    lines, inside = [], []
    for n, o in zip(size, out, strict=True):
        first, end = np.arange(o) * n // o, -(-np.arange(1, o + 1) * n // o)
        line = first[:, None] + np.arange(max(end - first, default=0))
        lines.append(line)
        inside.append(line < end[:, None])
    return tuple(out), _met(size, lines, inside)


@remembered
def apart(kernel: tuple, stride: tuple, dilation: tuple) -> bool:
    """Do no two windows meet?"""
    return all(s > d * (k - 1) for k, s, d in zip(kernel, stride, dilation, strict=True))


# ---------------------------------------------------------------- taking the largest, and putting values where it was


@remembered
def _starts(count: int, windows: int, length: int) -> tuple[ndarray, ndarray]:
    """Where the rows of (windows, length) begin in memory; where those of `count` such arrays do, counted from there."""
    rows, arrays = np.arange(windows) * length, np.arange(count)[:, None] * (windows * length)
    if count * windows > places.SMALL:
        return rows, arrays
    return tuple(np.ascontiguousarray(np.broadcast_to(a, (count, windows))) for a in (rows, arrays))


def _largest(x: ndarray, out: tuple, met: ndarray) -> tuple[ndarray, ndarray]:
    """(the largest element that each window meets, its place in the plane): of equal ones the first, of NaNs the last."""
    lead = x.shape[: -len(out)]
    planes = x.reshape(math.prod(lead), math.prod(x.shape[len(lead) :]))
    if not met.size:
        return np.empty(lead + out, x.dtype), np.empty(lead + out, np.int64)
    values = planes.take(met, 1)
    in_plane, in_all = _starts(len(planes), *met.shape)
    at = values.argmax(-1)
    at += in_plane
    index = met.take(at)
    at += in_all
    largest = values.take(at)
    if np.count_nonzero(largest != largest):
        last = np.where(values != values, met, -1).max(-1)
        index = np.where(last < 0, index, last)
    return largest.reshape(lead + out), index.reshape(lead + out)


def _put_forward(self: ndarray, indices: ndarray, sizes: tuple, dims: int, apart: bool) -> ndarray:
    count, length = math.prod(sizes[:-dims]), math.prod(sizes[-dims:])
    rows = count, math.prod(indices.shape[-dims:])
    return places.spread(self.reshape(rows), indices.reshape(rows), 1, length, apart).reshape(sizes)


def _pick_forward(self: ndarray, indices: ndarray, dims: int) -> ndarray:
    count = math.prod(self.shape[:-dims])
    planes = self.reshape(count, math.prod(self.shape[-dims:]))
    rows = indices.reshape(count, math.prod(indices.shape[-dims:]))
    return places.read(planes, rows, 1).reshape(indices.shape)


def _putting(node: str):
    """Values put at the places in their planes that `indices` names. apart: no place is named twice."""
    put = define(
        "max_pool_backward", _put_forward, kind="linear", node=node,
        self=lambda grad, indices, dims: pick(grad, indices, dims),
        indices=None,
    )  # fmt: skip
    pick = define(
        "max_pool_pick", _pick_forward, kind="linear", node="GatherBackward0",
        self=lambda grad, self_sym_sizes, indices, dims: put(grad, indices, tuple(self_sym_sizes), dims, False),
        indices=None,
    )  # fmt: skip
    return put


# ---------------------------------------------------------------- the operations

RESULTS = {"outputs": ("result0", "result1"), "constants": ("result1",), "flat": ("self",)}


def _max_pooling(dims: int):
    put = _putting(f"MaxPool{dims}DWithIndicesBackwardBackward0")

    def forward(self, kernel_size, stride, padding, dilation, ceil_mode):
        refuse(self, "b", f"max_pool{dims}d")
        size = self.shape[-dims:]
        return _largest(
            self, *_by_windows(size, kernel_size, stride or kernel_size, padding, dilation, ceil_mode)
        )

    return define(
        f"max_pool{dims}d_with_indices", forward, **RESULTS, node=f"MaxPool{dims}DWithIndicesBackward0",
        self=lambda grad, self, result1, kernel_size, stride, padding, dilation, ceil_mode:
            put(grad, result1, tuple(self.shape), dims, apart(kernel_size, stride or kernel_size, dilation)),
    )  # fmt: skip


def _adaptive_max_pooling(dims: int):
    put = _putting(f"AdaptiveMaxPool{dims}DBackwardBackward0")
    kernel = "adaptive_max_pool2d" if dims == 2 else "adaptive_max_pool3d_cpu"

    def forward(self, output_size):
        refuse(self, "biu", kernel)
        return _largest(self, *_by_bins(self.shape[-dims:], output_size))

    return define(
        f"adaptive_max_pool{dims}d", forward, **RESULTS, node=f"AdaptiveMaxPool{dims}DBackward0",
        self=lambda grad, self, result1: put(grad, result1, tuple(self.shape), dims, False),
    )  # fmt: skip


max_pool = {dims: _max_pooling(dims) for dims in (2, 3)}  # (values, indices)
adaptive_max_pool = {dims: _adaptive_max_pooling(dims) for dims in (2, 3)}
max_pool_alone = {dims: first_of(call) for dims, call in max_pool.items()}  # the values

__all__ = []
