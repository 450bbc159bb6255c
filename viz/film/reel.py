"""The frames of one scene: one row of float32 numbers a frame, in memory as they go into a page.

Columns: arrows, joins, then value, gradient and update of each leaf, all log10 (``norms.NONE``: not computed), then the
share of zeros of each gate as it is.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from .camera import Shot
from .norms import logs
from .scene import Scene

RUN = 10  # frames in a row without any gradient, before a unit is called dead


class Reel:
    """A scene and its frames. ``at`` are the numbers of the frames in the film; ``table()`` is all of them."""

    def __init__(self, scene: Scene, leaves: list[Any], names: list[str], shapes: list[tuple[int, ...]]):
        self.scene, self.names, self.shapes = scene, names, shapes
        self.leaves = leaves  # weak references: which leaves they are
        counts = [len(scene.arrows), len(scene.joins), *[len(scene.leaves)] * 3, len(scene.gates)]
        ends = np.cumsum(counts).tolist()
        parts = ("arrow", "join", "value", "grad", "update", "zero")
        self.columns = {p: slice(e - n, e) for p, n, e in zip(parts, counts, ends, strict=True)}
        self.width = ends[-1]
        self.numbers = array("f")
        self.at: list[int] = []
        self.since: dict[
            int, np.ndarray
        ] = {}  # gate -> first of our frames without a gradient, for each unit; -1: lives
        self.runs: list[
            tuple[int, int, int, int]
        ] = []  # gate, unit, first and last of our frames: at least RUN of them

    def add(self, frame: int, shot: Shot, values: list[float | None], grads: list[float | None]) -> None:
        """One more frame; its updates are not known yet."""
        scene = self.scene
        joined = [shot.joined.get(f) for f in scene.joins]
        row = logs([*shot.norms, *joined, *values, *grads, *[None] * len(values)])
        zeros = np.array([shot.zeros.get(f, -1.0) for f in scene.gates], np.float32)
        self._units(len(self.at), shot.alive)
        self.at.append(frame)
        self.numbers.frombytes(row.tobytes() + zeros.tobytes())

    def settle(self, index: int, ratios: list[float | None]) -> None:
        """What the leaves moved by after frame ``index`` of ours."""
        part = self.columns["update"]
        start = index * self.width + part.start
        self.numbers[start : start + len(ratios)] = array("f", logs(ratios).tobytes())

    def _units(self, index: int, alive: dict[int, np.ndarray]) -> None:
        for f, units in alive.items():
            since = self.since.get(f)
            if since is None or since.shape != units.shape:
                since = self.since[f] = np.full(units.shape, -1)
            over = units & (since >= 0)
            if over.any():
                self.runs += [
                    (f, int(u), int(since[u]), index - 1)
                    for u in np.flatnonzero(over)
                    if index - since[u] >= RUN
                ]
                since[over] = -1
            since[~units & (since < 0)] = index

    def dead(self) -> list[tuple[int, int, int, int]]:
        """(gate, unit, first, last of our frames) of every unit that got no gradient for RUN frames in a row."""
        now = len(self.at)
        still = [
            (f, int(u), int(since[u]), now - 1)
            for f, since in self.since.items()
            for u in np.flatnonzero((since >= 0) & (now - since >= RUN))
        ]
        return sorted([*self.runs, *still], key=lambda run: (run[2], run[0], run[1]))

    def table(self) -> np.ndarray:
        """(frames, width) numbers, a copy."""
        return np.array(self.numbers, np.float32).reshape(-1, self.width)[: len(self.at)]

    def part(self, name: str) -> np.ndarray:
        """(frames, n) numbers of one kind."""
        return self.table()[:, self.columns[name]]
