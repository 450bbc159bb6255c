"""Turn any value into something plain that can be compared and described. Never raises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from types import FunctionType
from typing import Any

import numpy as np

DEPTH = 6  # lists nested deeper than this are not read


@dataclass(frozen=True)
class Opaque:
    """A value that is not a number, a string, a truth value or a collection of these."""

    kind: str


def plain(value: Any, depth: int = 0) -> Any:
    """`value` as None, bool, str, Ellipsis, float64 array, tuple, dict or Opaque; a tensor as an array."""
    try:
        return _plain(value, depth)
    except Exception:  # a learner's object may do anything when it is asked for its numbers
        return Opaque(type(value).__name__)


def _plain(value: Any, depth: int) -> Any:
    if value is None or value is Ellipsis or isinstance(value, bool | np.bool_):
        return bool(value) if isinstance(value, np.bool_) else value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Opaque):
        return value
    if isinstance(value, Real | Decimal):  # int, float, Fraction, NumPy's numbers
        return np.asarray(float(value))
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return np.asarray(value.detach().numpy(), dtype=np.float64)
    if isinstance(value, np.ndarray):
        return value.astype(np.float64) if value.dtype.kind in "biuf" else Opaque(f"array of {value.dtype}")
    if isinstance(value, dict) and depth < DEPTH:
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple) and depth < DEPTH:
        items = tuple(plain(item, depth + 1) for item in value)
        shapes = {item.shape if isinstance(item, np.ndarray) else None for item in items}
        if items and len(shapes) == 1 and None not in shapes:
            return np.stack(items)  # a list of numbers is as good as a tensor of them
        return items
    return Opaque(type(value).__name__)


def same(got: Any, want: Any, rtol: float) -> bool:
    """Whether two plain values are equal, numbers to within `rtol` of those in `want`. NaN equals NaN."""
    if isinstance(got, np.ndarray) and isinstance(want, np.ndarray):
        if got.shape != want.shape:
            return False
        if got.ndim == 0:
            one, other = float(got), float(want)
            if math.isfinite(one) and math.isfinite(other):
                return abs(one - other) <= rtol * abs(other) + 1e-6 * (abs(other) or 1.0)
            return one == other or (math.isnan(one) and math.isnan(other))
        exact = np.isfinite(want) & np.isfinite(got)
        largest = np.abs(want[exact]).max(initial=0.0)
        room = rtol * np.abs(want[exact]) + 1e-6 * (largest or 1.0)
        near = np.abs(got[exact] - want[exact]) <= room
        return bool(near.all() and np.array_equal(got[~exact], want[~exact], equal_nan=True))
    if isinstance(got, str) and isinstance(want, str):
        return got.strip().casefold() == want.strip().casefold()
    if isinstance(got, tuple) and isinstance(want, tuple):
        return len(got) == len(want) and all(same(g, w, rtol) for g, w in zip(got, want, strict=True))
    if isinstance(got, dict) and isinstance(want, dict):
        return got.keys() == want.keys() and all(same(got[key], want[key], rtol) for key in want)
    return type(got) is type(want) and not isinstance(got, np.ndarray) and got == want


def whole(value: Any) -> bool:
    """Whether a plain value is a whole number, or a table of nothing else."""
    if not isinstance(value, np.ndarray) or value.ndim:
        return isinstance(value, np.ndarray) and bool(np.all(value == np.round(value)))
    return float(value).is_integer() or math.isinf(value)


def blank(value: Any) -> bool:
    """Whether a plain value is, or contains, the `...` that an exercise starts with."""
    if isinstance(value, tuple):
        return any(blank(item) for item in value)
    if isinstance(value, dict):
        return any(blank(item) for item in value.values())
    return value is Ellipsis


def describe(value: Any, width: int = 70) -> str:
    """How a value is written in a message: its repr on one line, cut at `width`; no memory addresses."""
    try:
        if isinstance(value, bool) or value is None:
            return repr(value)
        if isinstance(value, Opaque):
            return f"a value of type {value.kind}"
        if isinstance(value, FunctionType):
            return "a function" if value.__name__ == "<lambda>" else value.__name__
        if isinstance(value, int | float | np.number):
            return f"{float(value):.6g}"
        seen = plain(value) if isinstance(value, np.ndarray | list) else None
        text = _numbers(seen) if isinstance(seen, np.ndarray) and seen.size <= width else repr(value)
    except Exception:  # see plain()
        text = ""
    text = " ".join(text.split())
    if not text or " at 0x" in text:
        text = f"a value of type {type(value).__name__}"
    if len(text) > width and isinstance(seen := plain(value), np.ndarray):
        text = f"a tensor of shape {seen.shape}"
    return text if len(text) <= width else text[: width - 1] + "…"


def _numbers(value: np.ndarray) -> str:
    """An array as nested lists, with as many digits as are meaningful."""
    if value.ndim == 0:
        return f"{float(value):.6g}"
    return f"[{', '.join(map(_numbers, value))}]"
