"""Operations on images of any number of dimensions: resampling, windows as columns, pixels from channels.

A linear operation that treats each dimension by itself (resampling, averaging) is one matrix per dimension. What the
matrix, or the windows, look like depends on sizes alone: an operation gets a description and finds them in a cache.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from .choice import refuse
from .nn import _every_place, _output_size, _padded, _windows
from .table import define

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
