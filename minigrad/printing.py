"""The printed form of a tensor, character for character PyTorch's. Knows arrays only, nothing of Tensor.

One `_Style` is chosen for the whole array: integers as they are, floats as `1.` when all of them are whole, as
`1.2346e+05` when their magnitudes lie far apart, else with `precision` digits. Then the array is laid out in nested
brackets, a long one with `...` in the middle, and suffixes (`dtype=`, `grad_fn=`) follow on the last line if they fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

__all__ = ["set_printoptions"]


@dataclass
class _Options:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=math.inf),
}
_options = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors print; `None` keeps an option, except `sci_mode`, where it means "choose for each tensor".

    `profile` is "default", "short" or "full" (no summary) and is applied before the other options.
    """
    global _options
    if profile is not None and profile not in _PROFILES:
        raise ValueError(f"set_printoptions: profile must be one of {', '.join(_PROFILES)}, got {profile!r}")
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    given = {name: value for name, value in given.items() if value is not None}
    _options = replace(_PROFILES[profile] if profile else _options, **given, sci_mode=sci_mode)


class _Style:
    """How each element of one array is written, and the width that they share."""

    def __init__(self, shown: np.ndarray) -> None:
        self.spec, self.point, self.width = "", "", 1
        sample = shown.ravel()
        if shown.dtype.kind == "f":
            self.spec, self.point = ".0f", "."
            sample = sample[np.isfinite(sample) & (sample != 0)]
            if sample.size:
                self._choose(sample)
        self.width = max([1, *(len(self.write(value)) for value in sample.tolist())])

    def _choose(self, sample: np.ndarray) -> None:
        size = np.abs(sample.astype(np.float64))
        low, high = size.min(), size.max()
        with np.errstate(over="ignore"):
            far_apart = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
        if far_apart if _options.sci_mode is None else _options.sci_mode:
            self.spec, self.point = f".{_options.precision}e", ""
        elif (sample != np.ceil(sample)).any():
            self.spec, self.point = f".{_options.precision}f", ""

    def write(self, value: float | int | bool) -> str:
        if not self.spec:
            return str(value)
        return format(value, self.spec) + (self.point if math.isfinite(value) else "")

    def pad(self, value: float | int | bool) -> str:
        return self.write(value).rjust(self.width)


def _is_cut(length: int, summarize: bool) -> bool:
    return summarize and length > 2 * _options.edgeitems


def _shown(array: np.ndarray) -> np.ndarray:
    """The elements that a summary keeps: the first and last few along every axis."""
    edge = _options.edgeitems
    for axis, length in enumerate(array.shape):
        if _is_cut(length, True):
            array = np.take(array, [*range(edge), *range(length - edge, length)], axis)
    return array


def _layout(array: np.ndarray, indent: int, summarize: bool, style: _Style) -> str:
    if array.ndim == 0:
        return style.pad(array.item())
    head, dots, tail = array, [], array[:0]
    if _is_cut(len(array), summarize):
        edge = _options.edgeitems
        dots = [" ..." if array.ndim == 1 and edge else "..."]
        head, tail = array[:edge], array[len(array) - edge :]
    if array.ndim > 1:
        rows = [_layout(row, indent + 1, summarize, style) for row in head]
        rows += dots + [_layout(row, indent + 1, summarize, style) for row in tail]
        line_break = "\n" * (array.ndim - 1)
    else:
        cells = [*map(style.pad, head.tolist()), *dots, *map(style.pad, tail.tolist())]
        per_line = max(1, (_options.linewidth - indent) // (style.width + 2))
        rows = [", ".join(cells[i : i + per_line]) for i in range(0, len(cells), per_line)]
        line_break = "\n"
    return "[" + ("," + line_break + " " * (indent + 1)).join(rows) + "]"


def tensor_str(array: np.ndarray, indent: int = 0) -> str:
    """The nested brackets alone; `indent` is the width of what stands before them on the first line."""
    if array.size == 0:
        return "[]"
    summarize = array.size > _options.threshold
    return _layout(array, indent, summarize, _Style(_shown(array) if summarize else array))


def tensor_repr(
    array: np.ndarray,
    *,
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    prefix: str = "tensor(",
    default_dtype: np.dtype | type = np.float32,
    tangent: str | None = None,
) -> str:
    """`tensor([1., 2.], grad_fn=<AddBackward0>)`: the whole printed form.

    The dtype appears only where the digits do not tell it: not for `default_dtype`, int64 and bool, except that an empty
    tensor has no digits to tell by.
    """
    suffixes = []
    if (array.size == 0 and array.ndim != 1) or (array.size and not _options.edgeitems):
        suffixes.append(f"size={array.shape}")
    if array.dtype != default_dtype and (array.size == 0 or array.dtype not in (np.int64, np.bool_)):
        suffixes.append(f"dtype=torch.{array.dtype.name}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")

    text = prefix + tensor_str(array, len(prefix))
    # PyTorch counts one character more than the last line has when it decides whether a suffix still fits.
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * len(prefix) + suffix
            used = len(prefix) + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"
