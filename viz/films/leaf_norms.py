"""The numbers of the leaves at one moment, copied: their norms, and how far each has moved since an earlier moment."""

from __future__ import annotations

import math
import weakref
from itertools import accumulate
from typing import Any

import numpy as np

from .norms import UNKNOWN, length_of, lengths_of, numbers

Arrays = list[np.ndarray | None]
FEW = 4096  # larger arrays are measured one by one: the processor's cache holds only one of them


class LeafNorms:
    """Copies of arrays (None among them) and their norms, UNKNOWN for None.

    ``before`` are earlier copies of the same arrays: then ``moved`` says by what fraction of its norm each has changed since;
    infinity for one that was all zero. Small arrays are measured together: their copies are in ``flat``, one after another, in
    float64, which can hold the square of every float32 number. ``like`` may be laid out in the same way.
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
        """The norms in an array that is laid out as ``flat`` is; UNKNOWN for all others."""
        out, found = [UNKNOWN] * len(self.kinds), [] if flat is None else lengths_of(flat, self.starts)
        if len(found) == len(out):
            return found
        for k, norm in zip(self.layout[0], found, strict=False):
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
