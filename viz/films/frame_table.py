"""The frames of one scene: one row of numbers per frame.

Columns: arrows, joins, then value, gradient and update of each leaf, then the share of zeros of each gate. In memory they are
float64 as they were measured (``norms.UNKNOWN``: not computed); ``decades()`` returns decades, the form that pages use.
"""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np

from .norms import UNKNOWN, logs, weak
from .pass_hooks import PassHooks, hooked
from .scene import Scene

RUN = 10  # frames in a row without any gradient, before a unit is called dead


class FrameTable:
    """A scene and its frames. ``at``: the frames' numbers in the film. ``info``: facts about the nodes, see replay.py."""

    def __init__(self, number: int, scene: Scene, info: Any, leaves: list[Any], names: list[str]):
        self.number, self.scene, self.info, self.names = number, scene, info, names
        self.shapes = [tuple(leaf.shape) for leaf in leaves]
        self.follow(leaves)
        parameters = np.array([type(leaf).__name__ == "Parameter" for leaf in leaves], bool)
        self.trained = parameters if parameters.any() else ~parameters  # inputs may ask for gradients, too
        counts = [len(scene.arrows), len(scene.joins), *[len(scene.leaves)] * 3, len(scene.gates)]
        ends = np.cumsum(counts).tolist()
        parts = ("arrow", "join", "value", "grad", "update", "zero")
        self.columns = {p: slice(e - n, e) for p, n, e in zip(parts, counts, ends, strict=True)}
        self.width = ends[-1]
        self.numbers = array("d")
        self.at = array("q")
        # the cosine between each update and the gradient; NaN where it was not measured
        self.along = array("d")
        # by gate: for each unit, 0 if it got no gradient in the last frame; for each such unit, the first frame without one
        self.alive: dict[int, bytes] = {}
        self.since: dict[int, dict[int, int]] = {}
        self.runs: list[tuple[int, int, int, int]] = []  # gate, unit, first and last of at least RUN frames

    def follow(self, leaves: list[Any]) -> None:
        """Use these tensors as the leaves from now on. They are not kept alive."""
        self.leaves = [weak(leaf) for leaf in leaves]
        if any(map(hooked, leaves)):
            self.scene.others = None

    def add(self, frame: int, hooks: PassHooks) -> None:
        """Add a frame; its updates are not known yet."""
        joined = [hooks.joined.get(f, UNKNOWN) for f in self.scene.joins]
        zeros = [hooks.zeros.get(f, UNKNOWN) for f in self.scene.gates]
        for f, units in hooks.alive.items():
            if units != self.alive.get(f):
                self._count(f, units)
        self.alive |= hooks.alive
        self.at.append(frame)
        self.along.append(math.nan)
        leaves = *hooks.values.norms, *hooks.grads.norms, *[UNKNOWN] * len(self.leaves)
        self.numbers.fromlist([*hooks.norms, *joined, *leaves, *zeros])

    def settle(self, index: int, ratios: list[float], along: float) -> None:
        """Note how far the leaves moved after our frame ``index``, and the cosine between that and the gradient."""
        self.along[index] = along
        start = index * self.width + self.columns["update"].start
        self.numbers[start : start + len(ratios)] = array("d", ratios)

    def _count(self, f: int, units: bytes) -> None:
        now, since = len(self.at), self.since.setdefault(f, {})
        dead = [unit for unit, lives in enumerate(units) if not lives] if 0 in units else []
        for unit in since.keys() - dead:
            first = since.pop(unit)
            if now - first >= RUN:
                self.runs.append((f, unit, first, now - 1))
        for unit in dead:
            since.setdefault(unit, now)

    def dead(self) -> list[tuple[int, int, int, int]]:
        """(gate, unit, first, last of our frames) of every unit that got no gradient for RUN frames in a row."""
        now = len(self.at)
        every = [(f, u, a, now - 1) for f, since in self.since.items() for u, a in since.items()]
        still = [run for run in every if now - run[2] >= RUN]
        return sorted([*self.runs, *still], key=lambda run: (run[2], run[0], run[1]))

    def decades(self) -> np.ndarray:
        """(frames, width) numbers, float32, a copy: log10 of the norms, shares of zeros as they are."""
        raw = np.array(self.numbers).reshape(-1, self.width)[: len(self.at)]
        out = logs(raw)
        out[:, self.columns["zero"]] = raw[:, self.columns["zero"]]
        return out

    def into(self, f: int) -> int:
        """The column with the norm of what a function receives; -1 for the first, which receives what backward was given."""
        arrows = self.scene.into.get(f, [])
        if len(arrows) == 1:
            return arrows[0].index
        return self.columns["join"].start + self.scene.joins.index(f) if arrows else -1

    def part(self, name: str) -> np.ndarray:
        """(frames, n) numbers of one kind."""
        return self.decades()[:, self.columns[name]]
