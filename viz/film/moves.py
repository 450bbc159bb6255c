"""The numbers of the leaves at one moment, copied: their norms, and how far each has moved since an earlier moment."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np

from .norms import UNKNOWN, length_of, numbers


class Leaves:
    """Copies of arrays (None among them) and their norms, UNKNOWN for None.

    ``before`` are the same arrays as they were: then ``moved`` says for each by what part of its norm it has changed since;
    infinite for one that was all zero. One go for each array, since in a large net they do not stay in the processor's cache.
    """

    def __init__(self, arrays: list[np.ndarray | None], before: Leaves | None = None):
        self.norms = [UNKNOWN if a is None else length_of(a) for a in arrays]
        self.arrays: list[np.ndarray | None] = []
        self.moved: list[float] = []
        with np.errstate(invalid="ignore", over="ignore"):
            for k, a in enumerate(arrays):
                if before is not None:
                    old, norm, change = before.arrays[k], before.norms[k], UNKNOWN
                    if a is not None and old is not None and a.shape == old.shape:
                        change = length_of(a - old)
                        change = change / norm if norm else math.inf if change else 0.0
                    self.moved.append(change)
                self.arrays.append(None if a is None else a.copy("K"))


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
