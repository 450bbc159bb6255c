"""The norm of a gradient, right for every magnitude that its dtype can hold, and how many of its numbers are zero; the norms of
all leaves at one moment, and how far each has moved since an earlier one.

A frame takes a hundred norms, so the usual one is a single dot product in the gradient's own dtype; if its square leaves the
range in which that is exact, the norm is computed again, in float64 and scaled.
"""

from __future__ import annotations

import math
import weakref
from itertools import accumulate
from typing import Any

import numpy as np

from ..read.values import as_array

UNKNOWN = -1.0  # a norm that was not computed
NONE = 999.0  # the same in an array of decades
SAFE = 1e-30, 1e30  # squares within this range are accurate in float32
Arrays = list[np.ndarray | None]
FEW = 4096  # larger arrays are measured one by one: the processor's cache holds only one of them


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


def logs(a: np.ndarray) -> np.ndarray:
    """Norms as decades in float32: zero is -Inf, NaN and Inf stay, ``UNKNOWN`` becomes ``NONE``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.log10(a)
    out[a < 0] = NONE
    return out.astype(np.float32)


def alive(gradients: list[np.ndarray]) -> list[tuple[float, bytes]]:
    """For gradients of one shape, their shares of zeros; for a batch of units also a byte per unit: 0 if it got no gradient.

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


class LeafNorms:
    """Copies of arrays, some of which may be None, and their norms, UNKNOWN for None.

    ``before`` are earlier copies of the same arrays: then ``moved`` says by what fraction of its norm each has changed since;
    infinity for one that was all zero. Small arrays are measured together: their copies are in ``flat``, one after another, in
    float64, which can hold the square of every float32 number. The layout of ``like`` is reused if it fits.
    """

    def __init__(self, arrays: Arrays, before: LeafNorms | None = None, like: LeafNorms | None = None):
        like = before or like
        self.kinds = [None if a is None else (a.shape, a.dtype) for a in arrays]
        alike = like is not None and like.kinds == self.kinds
        self.layout = few, rest, self.starts = like.layout if alike else _layout(arrays)
        self.flat = np.concatenate([arrays[k] for k in few], None, dtype=np.float64) if few else np.empty(0)
        self.large: dict[int, np.ndarray] = {}
        with np.errstate(invalid="ignore", over="ignore"):
            self.norms = self._each(self.flat)
            alike = alike and before is not None
            change = self._each(self.flat - before.flat if alike else None)
            for k in rest:  # everything about one array while it is in the processor's cache
                self.large[k], self.norms[k] = arrays[k].copy("K"), length_of(arrays[k])
                change[k] = length_of(arrays[k] - before.large[k]) if alike else UNKNOWN
        self.change = change
        pairs = zip(change, before.norms, strict=True) if alike else ()
        self.moved = [c / n if c > 0.0 < n else _share(c, n) for c, n in pairs]

    def _each(self, flat: np.ndarray | None) -> list[float]:
        """The norms in an array that is laid out like ``flat``; UNKNOWN for all others."""
        out = [UNKNOWN] * len(self.kinds)
        if flat is not None and flat.size:
            norms = np.sqrt(np.add.reduceat(flat * flat, self.starts[:-1])).tolist()
            for k, norm in zip(self.layout[0], norms, strict=True):
                out[k] = norm
        return out

    def along(self, before: LeafNorms, grads: LeafNorms | None) -> float:
        """The cosine between the movement since ``before`` and the gradients: -1 is straight downhill. NaN if not known."""
        if grads is None or not self.kinds == before.kinds == grads.kinds:
            return math.nan
        with np.errstate(invalid="ignore", over="ignore"):
            dot = float((self.flat - before.flat) @ grads.flat)
            for k, array in self.large.items():
                dot += float(np.vdot(array - before.large[k], grads.large[k]).real)
            way, steep = (math.hypot(*(x for x in norms if x > 0.0)) for norms in (self.change, grads.norms))
        return dot / (way * steep) if way * steep > 0.0 else math.nan

    @property
    def arrays(self) -> Arrays:
        """The copies, one by one."""
        parts = zip(self.layout[0], np.split(self.flat.astype(np.float32), self.starts[1:]), strict=False)
        every = self.large | {k: part.reshape(self.kinds[k][0]) for k, part in parts}
        return [every.get(k) for k in range(len(self.kinds))]


def _layout(arrays: Arrays) -> tuple[list[int], list[int], list[int]]:
    """Which arrays are measured together and which one by one; where each of the former starts and the last one ends."""
    known = [k for k, a in enumerate(arrays) if a is not None]
    few = [k for k in known if arrays[k].dtype.char == "f" and 0 < arrays[k].size <= FEW]
    return few, [k for k in known if k not in few], [0, *accumulate([arrays[k].size for k in few])]


def _share(change: float, norm: float) -> float:
    return UNKNOWN if change == UNKNOWN else change / norm if norm else math.inf if change else 0.0


def seen(tensors: list[Any], trouble: list[Exception]) -> Arrays:
    """The numbers of the user's tensors; None for a tensor without any (meta, a tracer's), with the reason in ``trouble``."""
    out: Arrays = []
    for t in tensors:
        try:
            out.append(None if t is None else numbers(t, t.requires_grad))
        except Exception as error:
            trouble.append(error)
            out.append(None)
    return out


def weak(leaf: Any) -> Any:
    """A weak reference, so that a leaf is not kept alive; not every engine's tensors allow one."""
    try:
        return weakref.ref(leaf)
    except TypeError:
        return lambda: leaf
