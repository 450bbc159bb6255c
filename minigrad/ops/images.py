"""Operations on images of any number of dimensions: resampling, windows as columns, maxima of windows, pixels from channels.

A linear operation that treats each dimension by itself (resampling, averaging) is one matrix per dimension. What the
matrix, or the windows, look like depends on sizes alone: an operation gets a description and finds them in a cache.
"""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from . import places
from .choice import refuse
from .nn import _every_place, _output_size, _padded, _windows
from .table import define
from .windows import pooled_size

ndarray = np.ndarray
remembered = functools.lru_cache(maxsize=128)

# ---------------------------------------------------------------- one matrix for each dimension


def _weights(kind: str, n: int, out: int, scale: float | None, align_corners: bool) -> list[dict[int, float]]:
    """How each of `out` values is made of `n`: {place: weight}. scale: inputs per output, if it is not n/out."""
    step = n / out if scale is None else scale
    if kind in ("nearest", "nearest-exact"):
        shift = np.float32(0.5 if kind == "nearest-exact" else 0.0)
        found = np.floor((np.arange(out, dtype=np.float32) + shift) * np.float32(step)).astype(int)
        return [{min(int(i), n - 1): 1.0} for i in found]
    if align_corners:
        step = (n - 1) / (out - 1) if out > 1 else 0.0
        at = [i * step for i in range(out)]
    else:
        at = [(i + 0.5) * step - 0.5 for i in range(out)]
    rows = []
    for x in at:
        if kind == "linear":
            x = max(x, 0.0)
            first = min(int(x), n - 1)
            taps = {first: 1.0 - (x - first), first + 1: x - first}
        else:
            first = math.floor(x)
            taps = {first + k: _cubic(x - first - k) for k in range(-1, 3)}
        row: dict[int, float] = {}
        for place, weight in taps.items():
            place = min(max(place, 0), n - 1)
            row[place] = row.get(place, 0.0) + weight
        rows.append(row)
    return rows


def _cubic(distance: float) -> float:
    """The weight of a point at this distance in cubic convolution (Keys 1981), with a = -3/4."""
    d, a = abs(distance), -0.75
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0.0


def _bin_means(n: int, out: int) -> list[dict[int, float]]:
    bins = [range(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]
    return [dict.fromkeys(seen, 1.0 / len(seen)) for seen in bins]


@remembered
def matrix(how: tuple, dtype: str) -> ndarray:
    """The matrix (out, n) of a description: ("resample", kind, n, out, ...) or ("bins", n, out)."""
    kind, *sizes = how
    rows = {"resample": _weights, "bins": _bin_means}[kind](*sizes)
    n = sizes[1] if kind == "resample" else sizes[0]
    found = np.zeros((len(rows), n), dtype)
    for i, row in enumerate(rows):
        found[i, list(row)] = list(row.values())
    return found


def _through(self: ndarray, hows: tuple, transposed: bool) -> ndarray:
    for dim, how in enumerate(hows, self.ndim - len(hows)):
        by = matrix(how, self.dtype.str)
        self = np.moveaxis(np.moveaxis(self, dim, -1) @ (by if transposed else by.T), -1, dim)
    return np.ascontiguousarray(self)


def _separable(name: str, node: str):
    """An operation that multiplies the last dimensions by the matrices of descriptions; its rule is the transpose."""
    back = define(
        f"{name}_backward", lambda self, hows: _through(self, hows, True), kind="linear", node=f"{node}Backward0",
        self=lambda grad, hows: forth(grad, hows),
    )  # fmt: skip
    forth = define(
        name, lambda self, hows: _through(self, hows, False), kind="linear", node=f"{node}0",
        self=lambda grad, hows: back(grad, hows),
    )  # fmt: skip
    return forth


resampling = {
    (kind, dims): _separable(f"upsample_{label.lower()}{dims}d", f"Upsample{label}{dims}DBackward")
    for kind, labels in (
        ("nearest", ("Nearest",) * 3), ("nearest-exact", ("NearestExact",) * 3),
        ("linear", ("Linear", "Bilinear", "Trilinear")), ("cubic", (None, "Bicubic", None)),
    )
    for dims, label in enumerate(labels, 1)
    if label is not None
}  # fmt: skip


def _adaptive_averages(self: ndarray, hows: tuple) -> ndarray:
    refuse(self, "biu", "adaptive_avg_pool3d_cpu")
    return _through(self, hows, False)


adaptive_averages3d = define(
    "adaptive_avg_pool3d", _adaptive_averages, kind="linear", node="AdaptiveAvgPool3DBackward0", flat=("self",),
    self=lambda grad, self, hows: _adaptive_spread(grad, hows),
)  # fmt: skip
_adaptive_spread = define(
    "adaptive_avg_pool3d_backward", lambda self, hows: _through(self, hows, True), kind="linear",
    node="AdaptiveAvgPool3DBackwardBackward0",
    self=lambda grad, hows: adaptive_averages3d(grad, hows),
)  # fmt: skip

# ---------------------------------------------------------------- maxima of windows


@remembered
def _seen(how: tuple) -> tuple[tuple, ndarray]:
    """(output size, the places that each output sees, one row each; in missing places stands the first that it sees)."""
    kind, size, *options = how
    if kind == "bins":
        (out,) = options
        lines = [
            [range(i * n // o, -(-(i + 1) * n // o)) for i in range(o)]
            for n, o in zip(size, out, strict=True)
        ]
    else:
        kernel, stride, padding, dilation, ceil_mode = options
        out, lines = pooled_size(size, kernel, stride, padding, dilation, ceil_mode), []
        for n, o, k, s, p, d in zip(size, out, kernel, stride, padding, dilation, strict=True):
            starts = [i * s - p for i in range(o)]
            lines.append([[at for at in range(a, a + d * k, d) if 0 <= at < n] for a in starts])
    steps = [math.prod(size[i + 1 :]) for i in range(len(size))]
    rows = []
    for windows in itertools.product(*lines):
        rows.append([sum(map(int.__mul__, at, steps)) for at in itertools.product(*windows)])
    if not all(rows):
        raise RuntimeError("a window sees nothing but padding; use less padding or dilation")
    longest = max(map(len, rows), default=0)
    seen = [row + row[:1] * (longest - len(row)) for row in rows]
    return tuple(out), np.array(seen, int).reshape(len(rows), longest)


def _max_forward(self: ndarray, how: tuple) -> tuple[ndarray, ndarray]:
    dims = len(how[1])
    if how[0] == "bins":
        refuse(self, "biu", "adaptive_max_pool2d" if dims == 2 else "adaptive_max_pool3d_cpu")
    else:
        refuse(self, "b", "max_pool3d")
    out, seen = _seen(how)
    planes = self.reshape(math.prod(self.shape[:-dims]), math.prod(self.shape[-dims:]))
    shape = (*self.shape[:-dims], *out)
    if not len(seen):
        return np.empty(shape, self.dtype), np.empty(shape, int)
    best = planes[:, seen].argmax(-1)  # of equal ones the first, as of NaNs
    index = seen[np.arange(len(seen)), best]
    return places.read(planes, index, 1).reshape(shape), index.reshape(shape)


def _flattened(x: ndarray, rows: int) -> ndarray:
    """In so many rows; of nothing -1 would not say how long they are."""
    return x.reshape(rows, x.size // rows if rows else 0)


def _put_forward(self: ndarray, indices: ndarray, sizes: tuple, how: tuple) -> ndarray:
    out, count = np.zeros(sizes, self.dtype), math.prod(sizes[: -len(how[1])])
    places.add(_flattened(out, count), _flattened(indices, count), 1, self)
    return out


def _read_forward(self: ndarray, indices: ndarray, how: tuple) -> ndarray:
    count = math.prod(self.shape[: -len(how[1])])
    return np.take_along_axis(_flattened(self, count), _flattened(indices, count), -1).reshape(indices.shape)


_put = define(
    "max_pool_backward", _put_forward, kind="linear", node="MaxPool3DWithIndicesBackwardBackward0",
    self=lambda grad, indices, how: _read(grad, indices, how),
    indices=None,
)  # fmt: skip
_read = define(
    "max_pool_pick", _read_forward, kind="linear", node="GatherBackward0",
    self=lambda grad, self_sym_sizes, indices, how: _put(grad, indices, tuple(self_sym_sizes), how),
    indices=None,
)  # fmt: skip


def _maxima(name: str, node: str):
    return define(
        name, _max_forward, outputs=("result0", "result1"), constants=("result1",), node=node, flat=("self",),
        self=lambda grad, self, result1, how: _put(grad, result1, tuple(self.shape), how),
    )  # fmt: skip


max_pool3d_with_indices = _maxima("max_pool3d_with_indices", "MaxPool3DWithIndicesBackward0")
adaptive_maxima = {
    dims: _maxima(f"adaptive_max_pool{dims}d", f"AdaptiveMaxPool{dims}DBackward0") for dims in (2, 3)
}

# ---------------------------------------------------------------- windows as columns


def _im2col_forward(self: ndarray, kernel_size, dilation, padding, stride) -> ndarray:
    batch = self if self.ndim == 4 else self[None]
    out = _output_size(batch.shape[2:], kernel_size, stride, padding, dilation)
    windows = _windows(batch, out, kernel_size, stride, padding, dilation)  # (C, *kernel, N, *out)
    examples_first = np.moveaxis(windows, len(kernel_size) + 1, 0)
    return examples_first.reshape(*self.shape[:-3], self.shape[-3] * math.prod(kernel_size), math.prod(out))


def _col2im_forward(self: ndarray, output_size, kernel_size, dilation, padding, stride) -> ndarray:
    out = _output_size(output_size, kernel_size, stride, padding, dilation)
    channels = self.shape[-2] // math.prod(kernel_size)
    columns = self.reshape(math.prod(self.shape[:-2]), channels, *kernel_size, *out)
    full = _padded(
        np.zeros((len(columns), channels, *output_size), self.dtype), tuple((p, p) for p in padding)
    )
    for at, window in _every_place(kernel_size, out, stride, dilation):
        full[window] += columns[at]
    inside = tuple(slice(p, p + n) for p, n in zip(padding, output_size, strict=True))
    return full[(..., *inside)].reshape(*self.shape[:-2], channels, *output_size)


im2col = define(
    "im2col", _im2col_forward, kind="linear", node="Im2ColBackward0",
    self=lambda grad, self_sym_sizes, kernel_size, dilation, padding, stride:
        col2im(grad, tuple(self_sym_sizes[-2:]), kernel_size, dilation, padding, stride),
)  # fmt: skip
col2im = define(
    "col2im", _col2im_forward, kind="linear", node="Col2ImBackward0",
    self=lambda grad, kernel_size, dilation, padding, stride: im2col(grad, kernel_size, dilation, padding, stride),
)  # fmt: skip

# ---------------------------------------------------------------- pixels from channels


def _shuffle_forward(self: ndarray, upscale_factor: int) -> ndarray:
    *lead, c, h, w = self.shape
    r, n = upscale_factor, len(lead)
    parts = self.reshape(*lead, c // r**2, r, r, h, w)
    turned = parts.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return turned.reshape(*lead, c // r**2, h * r, w * r)


def _unshuffle_forward(self: ndarray, downscale_factor: int) -> ndarray:
    *lead, c, h, w = self.shape
    r, n = downscale_factor, len(lead)
    parts = self.reshape(*lead, c, h // r, r, w // r, r)
    turned = parts.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return turned.reshape(*lead, c * r**2, h // r, w // r)


pixel_shuffle = define(
    "pixel_shuffle", _shuffle_forward, kind="linear", node="PixelShuffleBackward0",
    self=lambda grad, upscale_factor: pixel_unshuffle(grad, upscale_factor),
)  # fmt: skip
pixel_unshuffle = define(
    "pixel_unshuffle", _unshuffle_forward, kind="linear", node="PixelUnshuffleBackward0",
    self=lambda grad, downscale_factor: pixel_shuffle(grad, downscale_factor),
)  # fmt: skip


def _dealt(self: ndarray, groups: int) -> ndarray:
    n, channels, *rest = self.shape
    return self.reshape(n, groups, channels // groups, *rest).swapaxes(1, 2).reshape(self.shape)


channel_shuffle = define(
    "channel_shuffle", _dealt, kind="linear",
    self=lambda grad, self_sym_sizes, groups: channel_shuffle(grad, self_sym_sizes[1] // groups),
)  # fmt: skip
