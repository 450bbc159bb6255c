"""The printed form of a tensor, character for character PyTorch's. It works on arrays and does not know Tensor.

All elements are written in one way: integers as they are, floats as `1.2346e+05` when their magnitudes are far apart, as `1.`
when all of them are whole, else with four digits. Then the array is laid out in nested brackets, a long one with
`...` in the middle, and marks (`dtype=`, `grad_fn=`) follow on the last line if they fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

DIGITS, SUMMARY, EDGE, WIDTH = 4, 1000, 3, 80  # more elements than SUMMARY: EDGE at both ends of each axis


def _writer(shown: np.ndarray) -> tuple[Callable[[float], str], int]:
    """A function that writes one element, and its width: that of the widest one shown, except floats that are 0, inf or NaN."""
    spec, point, width = "", "", 1
    if shown.dtype.kind == "f":
        spec, point, shown = ".0f", ".", shown[np.isfinite(shown) & (shown != 0)]
        if shown.size:
            sizes = np.abs(shown.astype(np.float64))
            low, high = sizes.min(), sizes.max()
            with np.errstate(over="ignore"):
                far_apart = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
            if far_apart or (sizes != np.ceil(sizes)).any():
                spec, point = f".{DIGITS}{'e' if far_apart else 'f'}", ""

    def write(value: float) -> str:
        text = format(value, spec) if spec else str(value)
        return (text + point if math.isfinite(value) else text).rjust(width)

    width = max(map(len, map(write, shown.ravel().tolist())), default=1)
    return write, width


def _nested(shown: np.ndarray, lengths: tuple[int, ...], indent: int, write: Callable, width: int) -> str:
    """The elements of an array with these `lengths`, in brackets."""
    if not lengths:
        return write(shown.item())
    rows = [_nested(part, lengths[1:], indent + 1, write, width) for part in shown]
    if len(rows) < lengths[0]:
        rows.insert(EDGE, "..." if lengths[1:] else " ...")
    if not lengths[1:]:
        fit = max(1, (WIDTH - indent) // (width + 2))
        rows = [", ".join(rows[i : i + fit]) for i in range(0, len(rows), fit)]
    return "[" + ("," + "\n" * (len(lengths[1:]) or 1) + " " * (indent + 1)).join(rows) + "]"


def tensor_repr(array: np.ndarray, default_dtype: np.dtype, *marks: str) -> str:
    """`tensor([1., 2.], grad_fn=<AddBackward0>)`: the whole printed form.

    The dtype is left out where the digits show it: for `default_dtype`, int64 and bool. An empty tensor has no digits, so
    that only `default_dtype` is left out.
    """
    if array.dtype != default_dtype and (array.size == 0 or array.dtype not in (np.int64, np.bool_)):
        marks = (f"dtype=torch.{array.dtype.name}", *marks)
    text, indent = "tensor(", len("tensor(")
    if array.size:
        shown = array
        for axis, length in enumerate(array.shape if array.size > SUMMARY else ()):
            if length > 2 * EDGE:
                shown = np.take(shown, [*range(EDGE), *range(-EDGE, 0)], axis)
        text += _nested(shown, array.shape, indent, *_writer(shown))
    else:
        text += "[]"
        marks = marks if array.ndim == 1 else (f"size={array.shape}", *marks)
    # PyTorch counts one character more than the last line has when it decides whether a mark still fits.
    used = len(text) - text.rfind("\n") + 1
    for mark in marks:
        fits = used + len(mark) + 2 <= WIDTH
        text += f", {mark}" if fits else ",\n" + " " * indent + mark
        used = used + len(mark) + 2 if fits else indent + len(mark)
    return text + ")"
