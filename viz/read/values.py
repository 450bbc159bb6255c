"""A tensor at one moment as plain data: a copy of its numbers, and the forms in which they are shown.

Reads a tensor through ``detach()``, ``numpy()``, ``shape`` and ``dtype`` only; keeps no reference to it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .text import clipped

KEPT = 1 << 20  # arrays of more numbers than this are not copied just to be shown
FULL = 64  # up to this many numbers are sent and printed one by one
SIDE = 8  # a picture of an array has at most SIDE x SIDE cells


@contextmanager
def unseen() -> Iterator[None]:
    """Inside this block the user's own PyTorch modes, which count or log operations, do not see what we do."""
    core: Any = getattr(sys.modules.get("torch"), "_C", None)
    modes = sys.modules.get("torch.utils._python_dispatch")
    with ExitStack() as off:
        if modes is not None:
            off.enter_context(core.DisableTorchFunction())
            if core._len_torch_dispatch_stack():  # without this test, reading is thirty times as slow
                off.enter_context(modes._disable_current_modes())
        yield


def as_array(tensor: Any) -> np.ndarray:
    """A NumPy copy of ``tensor`` (of any framework that has ``detach`` and ``numpy``, or of an array or number).

    Sparse ones become dense, nested ones are padded with 0. Raises what the framework raises for a tensor without
    numbers: one on the device "meta", or a tensor of a tracer or a transform.
    """
    if getattr(tensor, "is_nested", False):
        tensor = sys.modules["torch"].nested.to_padded_tensor(tensor.detach().contiguous(), 0.0)
    sparse = not str(getattr(tensor, "layout", "strided")).endswith("strided")
    for method in ("detach", *["to_dense"] * sparse, "resolve_conj", "resolve_neg", "cpu"):
        if hasattr(tensor, method):
            tensor = getattr(tensor, method)()
    if not hasattr(tensor, "numpy"):
        return np.array(tensor)
    try:
        return np.array(tensor.numpy())
    except TypeError:  # a dtype that NumPy does not have, such as bfloat16
        return np.array(tensor.float().numpy())
    except RuntimeError:  # zeros that PyTorch has not written out
        return np.array(tensor.numpy(force=True))


def shape_of(tensor: Any) -> tuple[int, ...] | None:
    """The shape of a tensor, or of an object that describes one; None if its sizes are not numbers, as in nested tensors."""
    with suppress(AttributeError, RuntimeError):
        return tuple(map(int, tensor.shape))
    return None


def size_of(shape: Any) -> int:
    """How many numbers an array of this shape has; 0 where the shape is not known."""
    return 0 if shape is None else math.prod(map(int, shape))


def dtype_name(tensor: Any) -> str:
    """``float32`` for a tensor, whatever its framework calls it (``torch.float32``)."""
    return str(getattr(tensor, "dtype", type(tensor).__name__)).rsplit(".", 1)[-1]


def item_size(dtype: str) -> int:
    """How many bytes a number of a dtype takes, by its name: 4 for ``float32``, 1 for ``bool``."""
    return int("".join(filter(str.isdigit, dtype)) or 8) // 8


def number(x: Any) -> str:
    """One number, a float with at most four significant digits: ``0.3333``, ``-2``, ``1e-07``, ``inf``, ``True``."""
    return str(x) if isinstance(x, int) else f"{x:z.4g}"


def nested(values: Any) -> str:
    """A number, or nested lists of numbers, as ``number`` writes each: ``[[0.5], [1]]``."""
    return "[" + ", ".join(map(nested, values)) + "]" if isinstance(values, list) else number(values)


def _plain(values: list[Any]) -> list[Any]:
    """Numbers for JSON; those that JSON does not have become the strings nan, inf and -inf."""
    return [x if not isinstance(x, float) or math.isfinite(x) else str(x) for x in values]


@dataclass(frozen=True, repr=False)
class Value:
    """What a tensor held when it was read: ``array`` is a copy, so later changes do not reach it."""

    array: np.ndarray
    dtype: str

    @classmethod
    def of(cls, tensor: Any) -> Value:
        with unseen():
            return cls(as_array(tensor), dtype_name(tensor))

    @classmethod
    def seen(cls, tensor: Any) -> Value | None:
        """The value of ``tensor`` if it can be read; None if it has no numbers, or if they may not be read now.

        Code that only looks (a drawing, a recording) must not fail where a number is not available, and frameworks raise many
        kinds of exception there.
        """
        if hasattr(tensor, "fake_mode"):  # PyTorch would log that it failed
            return None
        try:
            return cls.of(tensor)
        except Exception:  # only the value is unknown, then
            return None

    @classmethod
    def small(cls, tensor: Any) -> Value | None:
        """As ``seen``; also None if there are more numbers than are copied just to be shown."""
        return cls.seen(tensor) if size_of(shape_of(tensor)) <= KEPT else None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def painted(self) -> np.ndarray:
        """The real numbers that are painted: the magnitude of complex ones."""
        return np.abs(self.array) if self.array.dtype.kind == "c" else self.array

    def __repr__(self) -> str:
        return f"Value({self.short(70)})"

    def short(self, limit: int = 60) -> str:
        """The numbers if they fit in ``limit`` characters, otherwise the shape and the range."""
        if self.array.size <= min(FULL, limit // 3 + 1):  # a number and a comma are three characters
            text = nested(self.array.tolist())
            if len(text) <= limit:
                return text
        low, high = self.range
        if low == high and not self.nonfinite:
            return f"{tuple(self.shape)}, all {number(low)}"
        if not self.array.size:
            return f"empty, {self.shape}"
        text = f"{tuple(self.shape)}, from {number(low)} to {number(high)}"
        return f"{text}, {self.nonfinite} not finite" if self.nonfinite else text

    @property
    def text(self) -> str:
        """One line as a tensor prints: ``tensor([[0.3333], [0.6667]])``."""
        if self.array.size <= FULL:
            return f"tensor({nested(self.array.tolist())})"
        return f"tensor({self.short()}, {self.dtype})"

    @cached_property
    def range(self) -> tuple[float, float]:
        """Smallest and largest finite number; (nan, nan) if there is none."""
        a = self.painted
        if a.dtype.kind == "f":
            a = a[np.isfinite(a)]
        return (a.min().item(), a.max().item()) if a.size else (math.nan, math.nan)

    @cached_property
    def nonfinite(self) -> int:
        """The number of values that are nan, inf or -inf."""
        return int(self.array.size - np.isfinite(self.array).sum()) if self.array.dtype.kind in "fc" else 0

    def cells(self) -> tuple[np.ndarray, bool]:
        """At most 8 x 8 numbers that represent the array, and whether it was made smaller.

        A block of a large array is shown by its number of largest magnitude, sign kept, so that no large value is hidden.
        Leading axes are stacked in rows.
        """
        a = self.painted
        a = a.reshape(-1, a.shape[-1]) if a.ndim > 1 else a.reshape(1, -1)
        if a.shape[0] <= SIDE and a.shape[1] <= SIDE:
            return a, False
        bands = np.array_split(a, min(SIDE, a.shape[0]))
        blocks = [np.array_split(band, min(SIDE, a.shape[1]), axis=1) for band in bands]
        return np.array([[b.flat[np.argmax(np.abs(b))] for b in row] for row in blocks], dtype=a.dtype), True

    @cached_property
    def json(self) -> dict[str, Any]:
        """The form sent to the page (ARRAY of the payload). If every number is sent, in ``values``, then ``cells``
        and ``text`` do not repeat them. Built only once, since the same gradient is sent, received and stored.
        """
        cells, smaller = self.cells() if self.array.size else (self.array.reshape(0, 0), False)
        low, high = self.range
        every = self.array.size <= FULL and self.array.dtype.kind != "c"
        grid = {"rows": cells.shape[0], "cols": cells.shape[1], "downsampled": smaller}
        out = {
            "shape": list(self.shape),
            "dtype": self.dtype,
            "cells": grid,
            "min": _plain([low])[0],
            "max": _plain([high])[0],
            "nonfinite": self.nonfinite,
        }
        out |= {"values": _plain(self.array.ravel().tolist())} if every else {"text": self.text}
        if self.array.dtype.kind == "c":
            out["parts"] = [Value(a, str(a.dtype)).json for a in (self.array.real, self.array.imag)]
        if smaller or not every:
            grid["values"] = _plain(cells.ravel().tolist())
        return out


def scalar_text(value: Any) -> str:
    """The text of a saved value that is not a tensor: ``2``, ``(3, 4)``, ``None``; long ones are cut."""
    return clipped(number(value) if isinstance(value, int | float) else repr(value), 60)


def same(a: Value | None, b: Value | None) -> bool:
    """Whether two values that may be missing are the same numbers, of one dtype and shape."""
    if a is None or b is None:
        return a is b
    alike, x, y = a.dtype == b.dtype and a.shape == b.shape, a.array, b.array
    return alike and (x.tobytes() == y.tobytes() or np.array_equal(x, y, equal_nan=True))


def short(value: Value | None, limit: int = 40) -> str:
    """The numbers of a value that may be missing, in a sentence."""
    return "None" if value is None else value.short(limit)
