"""How far the leaves moved: a copy of their values at a frame, compared when the next pass begins."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

import numpy as np

from .norms import UNKNOWN, length_of, numbers


class Moves:
    """The values of the leaves at one frame. ``ratios()`` says by what part of its norm each has moved since then.

    ``spare`` are copies that are used up, to write into.
    """

    def __init__(
        self,
        leaves: list[Any],
        arrays: list[np.ndarray | None],
        norms: list[float],
        spare: Iterable[np.ndarray | None] = (),
    ):
        self.norms = norms
        self.leaves = [weak(leaf) for leaf in leaves]
        self.before: list[np.ndarray | None] = []
        for a, buffer in zip_longest(arrays, spare):
            if a is not None and buffer is not None and (a.shape, a.dtype) == (buffer.shape, buffer.dtype):
                np.copyto(buffer, a)
                self.before.append(buffer)
            else:
                self.before.append(None if a is None else a.copy())

    def ratios(self, leaves: list[Any], arrays: list[np.ndarray | None]) -> list[float]:
        """Norm of the change ÷ norm before; infinite for a leaf that was all zero, unknown where the leaf is gone.

        ``arrays`` are the numbers of ``leaves`` as they are now, where these are at hand. Uses the copies up.
        """
        if len(leaves) != len(self.leaves) or not all(
            ref() is leaf for ref, leaf in zip(self.leaves, leaves, strict=True)
        ):
            alive = [ref() for ref in self.leaves]
            arrays = [None if leaf is None else numbers(leaf.detach()) for leaf in alive]
        out = []
        with np.errstate(invalid="ignore", over="ignore"):
            for now, old, norm in zip(arrays, self.before, self.norms, strict=True):
                if now is None or old is None or now.shape != old.shape:
                    out.append(UNKNOWN)
                    continue
                moved = length_of(np.subtract(now, old, out=old))
                out.append(moved / norm if norm else math.inf if moved else 0.0)
        return out


def weak(leaf: Any) -> Any:
    """A leaf that the user has let go of is not kept alive; an engine's tensors may not offer that."""
    try:
        return weakref.ref(leaf)
    except TypeError:
        return lambda: leaf
