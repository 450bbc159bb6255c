"""The numbers of the leaves at one moment, copied: their norms, and how far each has moved since an earlier moment."""

from __future__ import annotations

import math
import weakref
from itertools import accumulate
from typing import Any

import numpy as np

from .norms import UNKNOWN, length_of, lengths_of, numbers

FEW = 4096  # numbers; of larger arrays the processor's cache holds one at a time


class Leaves:
    """Copies of arrays (None among them) and their norms, UNKNOWN for None.

    ``before`` are the same arrays as they were: then ``moved`` says for each by what part of its norm it has changed since;
    infinite for one that was all zero. Small ones are measured together: their copies lie in ``flat``, one after another.
    """

    def __init__(self, arrays: list[np.ndarray | None], before: Leaves | None = None):
        self.shapes = [None if a is None else a.shape for a in arrays]
        self.few = [
            k for k, a in enumerate(arrays) if a is not None and a.dtype.char == "f" and 0 < a.size <= FEW
        ]
        self.starts = [0, *accumulate([arrays[k].size for k in self.few])]
        self.flat = np.concatenate([arrays[k] for k in self.few], None) if self.few else np.empty(0)
        self.large: dict[int, np.ndarray] = {}
        alike = before is not None and (before.few, before.shapes) == (self.few, self.shapes)
        with np.errstate(invalid="ignore", over="ignore"):
            self.norms = self._each(self.flat)
            change = self._each(self.flat - before.flat if alike else None)
            for k, a in enumerate(arrays):
                if a is not None and self.norms[k] == UNKNOWN:
                    change[k] = length_of(a - before.large[k]) if alike else UNKNOWN
                    self.norms[k], self.large[k] = length_of(a), a.copy("K")
        self.moved = (
            [_share(c, n) for c, n in zip(change, before.norms, strict=True)] if before is not None else []
        )

    def _each(self, flat: np.ndarray | None) -> list[float]:
        """The norms in an array that is made as ``flat`` is; UNKNOWN for the large."""
        out = [UNKNOWN] * len(self.shapes)
        for k, norm in zip(self.few, lengths_of(flat, self.starts), strict=False):
            out[k] = norm
        return out

    @property
    def arrays(self) -> list[np.ndarray | None]:
        """The copies, one by one."""
        parts = zip(self.few, np.split(self.flat, self.starts[1:]), strict=False)
        every = self.large | {k: part.reshape(self.shapes[k]) for k, part in parts}
        return [every.get(k) for k in range(len(self.shapes))]


def _share(change: float, norm: float) -> float:
    return UNKNOWN if change == UNKNOWN else change / norm if norm else math.inf if change else 0.0


def seen(tensors: list[Any], trouble: list[Exception]) -> list[np.ndarray | None]:
    """The numbers of tensors of the user's; None where one has none to tell (meta, a tracer's), and why in ``trouble``."""
    out: list[np.ndarray | None] = []
    for t in tensors:
        try:
            out.append(None if t is None else numbers(t.detach() if t.requires_grad else t))
        except Exception as error:
            trouble.append(error)
            out.append(None)
    return out


def weak(leaf: Any) -> Any:
    """A leaf that the user has let go of is not kept alive; an engine's tensors may not offer that."""
    try:
        return weakref.ref(leaf)
    except TypeError:
        return lambda: leaf
