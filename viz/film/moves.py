"""How far the leaves moved: a copy of their values at a frame, compared when the next pass begins."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .norms import length_of, numbers


class Moves:
    """The values of the leaves at one frame. ``ratios()`` says by what part of its norm each has moved since then."""

    def __init__(self, leaves: list[Any], norms: list[float | None]):
        self.norms = norms
        self.leaves: list[Any] = []
        self.before: list[np.ndarray | None] = []
        for leaf, norm in zip(leaves, norms, strict=True):
            self.leaves.append(_weak(leaf))
            self.before.append(None if norm is None else numbers(leaf.detach()).copy())

    def ratios(self) -> list[float | None]:
        """Norm of the change ÷ norm before; infinite for a leaf that was all zero, None where the leaf is gone."""
        out: list[float | None] = []
        for leaf, old, norm in zip(self.leaves, self.before, self.norms, strict=True):
            now = None if old is None else leaf()
            now = None if now is None else numbers(now.detach())
            if now is None or now.shape != old.shape:
                out.append(None)
                continue
            with np.errstate(invalid="ignore", over="ignore"):
                moved = length_of(now - old)
            out.append(moved / norm if norm else (float("inf") if moved else 0.0))
        return out


def _weak(leaf: Any) -> Any:
    """A leaf that the user has let go of is not kept alive; an engine's tensors may not offer that."""
    try:
        return weakref.ref(leaf)
    except TypeError:
        return lambda: leaf
