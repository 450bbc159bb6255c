"""The norm of a gradient, right for every magnitude that its dtype can hold, and how many of its numbers are zero.

A frame takes a hundred norms, so the usual one is a single dot product in the gradient's own dtype; only where its
square leaves the range in which that is exact is it done again, in float64 and scaled.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..read.values import as_array

UNKNOWN = -1.0  # a norm that was not computed
NONE = 999.0  # the same among decades
SAFE = 1e-30, 1e30  # squares within this range are accurate in float32


def numbers(tensor: Any, tracked: bool = False) -> np.ndarray:
    """The numbers of a tensor, ``tracked`` if it requires grad: its own memory where NumPy can see that, else a copy. Raises
    what the framework raises."""
    try:
        return tensor.numpy(force=True) if tracked else tensor.numpy()
    except (RuntimeError, TypeError, AttributeError):  # on another device, a dtype unknown to NumPy
        return as_array(tensor)


def length_of(a: np.ndarray) -> float:
    kind = a.dtype.char
    if kind not in "fd":
        a = np.abs(a).astype(np.float64)  # complex numbers, too
    a = a.ravel("K")
    square = float(a.dot(a))  # unlike vdot, dot warns of an overflow; it takes two thirds of the time
    if SAFE[0] < square < SAFE[1]:
        return math.sqrt(square)
    if kind == "f":
        a = a.astype(np.float64)  # float64 holds the square of every float32 number
        return math.sqrt(a.dot(a))
    most = float(np.abs(a).max(initial=0.0))  # NaN if there is one
    if most == 0.0 or not math.isfinite(most):
        return most
    a = a / most
    return most * math.sqrt(a.dot(a))


def lengths_of(flat: np.ndarray, starts: list[int]) -> list[float]:
    """The norms of non-empty arrays that lie one after another in a float64 array; each ends where the next starts."""
    return np.sqrt(np.add.reduceat(flat * flat, starts[:-1])).tolist() if flat.size else []


def logs(a: np.ndarray) -> np.ndarray:
    """Norms as decades in float32: zero is -Inf, NaN and Inf stay, ``UNKNOWN`` becomes ``NONE``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log10(a)
    out[a < 0] = NONE
    return out.astype(np.float32)


def alive(gradients: list[np.ndarray]) -> list[tuple[float, bytes]]:
    """For gradients of one shape, their shares of zeros; for a batch of units also one byte each: 0 if none got anything.

    Units are the last axis of (batch, units) and (batch, time, units), the second of (batch, channels, height, width).
    """
    count, size = len(gradients), gradients[0].size
    some, zero = np.empty((count, *gradients[0].shape), bool), np.zeros((), gradients[0].dtype)
    for a, row in zip(gradients, some, strict=True):
        np.not_equal(a, zero, row)
    if not size:
        return [(0.0, b"")] * count
    some = np.moveaxis(some, 2, -1) if some.ndim == 5 else some
    units = some.shape[-1] if some.ndim > 2 else 1
    marks = some.reshape(count, -1).view(np.uint8)
    if size % (8 * units) == 0:  # eight rows at once; a block is small enough that no byte exceeds 255
        rows = size // (8 * units)
        blocks = next(k for k in range(1, rows + 1) if rows % k == 0 and rows // k < 256)
        marks = np.add.reduce(marks.view(np.uint64).reshape(count, blocks, -1, units), 2).view(np.uint8)
    counts = np.add.reduce(marks.reshape(count, -1, units), 1, np.intp)
    shares = (1.0 - np.add.reduce(counts, 1) / size).tolist()
    lives = [row.tobytes() for row in counts > 0] if some.ndim > 2 else [b""] * count
    return list(zip(shares, lives, strict=True))
