"""What a film shows, in words: each finding with the steps from which and to which it holds, the row and the node.

Works on the kept numbers alone (decades, see reel.py); touches no tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..read.text import plural
from .norms import NONE
from .reel import Reel
from .rows import Row

VANISHES, EXPLODES, GREW, LARGE = 1e-6, 1e2, 10.0, 0.1  # of the top row's norm, twice; times; of the weight
WITHIN = 5  # steps
TINY = -5.5  # decades: an update that float32 rounds away in most numbers of a weight
RANK = ["nan", "explode", "vanish", "missing", "dead", "still", "grew", "large"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``kind`` is one of nan, explode, vanish, missing, dead, still, grew, large; it holds from ``step`` to ``until``.

    ``row`` and ``node`` say where; ``text`` says it in a sentence with the numbers of the first step.
    """

    kind: str
    step: int
    until: int
    row: str
    node: str
    text: str
    scene: int = 0
    place: tuple[int, int, int] = (0, 0, 0)  # first frame, last frame, row, as the page counts them

    def __str__(self) -> str:
        since = f"step {self.step}" if self.step == self.until else f"steps {self.step} to {self.until}"
        return f"{since}: {self.text}"


def say(decade: float) -> str:
    """A norm in two digits: ``0.031``, ``1.3e-9``, ``0``, ``NaN``; ``–`` where it was not computed."""
    if decade == NONE:
        return "–"
    if decade == -np.inf:
        return "0"
    if not np.isfinite(decade):
        return "NaN" if np.isnan(decade) else "Inf"
    if decade < -300 or decade > 300:
        return f"1e{decade:.0f}"
    value = 10.0 ** float(decade)
    two = float(f"{value:.1e}")
    if 0.01 <= two < 1e4:
        return f"{value:.0f}" if two >= 100 else f"{value:#.2g}".removesuffix(".")
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}e{int(power)}"


def broken(decade: Any) -> Any:
    """Whether a norm is NaN or Inf."""
    return np.isnan(decade) | (decade == np.inf)


class Looker:
    """The numbers of one scene, by row, and everything that is found in them."""

    def __init__(self, reel: Reel, rows: list[Row], steps: list[int], losses: list[float | None], scene: int):
        self.reel, self.rows, self.scene = reel, rows, scene
        self.losses = [losses[i] for i in reel.at]
        self.table = reel.table()
        self.arrows = self.table[:, reel.columns["arrow"]]
        self.at = reel.at
        self.steps = [steps[i] for i in reel.at]
        self.into = np.stack([self.entering(row.functions[0]) for row in rows], axis=1)
        self.row_of = {f: r for r, row in enumerate(rows) for f in row.functions}

    def entering(self, f: int) -> np.ndarray:
        """The norm of what a function receives, in each frame."""
        column = self.reel.into(f)
        return self.table[:, column] if column >= 0 else np.full(len(self.at), NONE, np.float32)

    def found(self) -> Iterator[Finding]:
        """All findings of this scene, in no order."""
        yield from self.nonfinite()
        if len(self.rows) > 2:
            yield from self.along()
        if len(self.rows) > 1:
            yield from self.growth()
        yield from self.dead()
        yield from self.updates()

    def make(self, kind: str, first: int, last: int, row: int, node: str, text: str) -> Finding:
        name = self.rows[row].name
        place = (self.at[first], self.at[last], row)
        return Finding(kind, self.steps[first], self.steps[last], name, node, text, self.scene, place)

    def node(self, f: int) -> str:
        return self.reel.scene.names[f]

    def nonfinite(self) -> Iterator[Finding]:
        """The first frame with a number that is not finite, and who made it."""
        bad = broken(self.table[:, : self.reel.columns["grad"].stop]).any(axis=1)
        bad |= [not (x is None or np.isfinite(x)) for x in self.losses]
        if not bad.any():
            return
        i = int(bad.argmax())
        loss, scene = self.losses[i], self.reel.scene
        sent = {f: self.arrows[i, [a.index for a in scene.out.get(f, ())]] for f in self.row_of}
        makers = (f for f, norms in sent.items() if broken(norms).any() and not broken(self.entering(f)[i]))
        maker = next(makers, None)
        what = "NaN" if maker is None or np.isnan(sent[maker][broken(sent[maker])][0]) else "Inf"
        row, node = self.row_of[maker or 0], self.node(maker or 0)
        if not (loss is None or np.isfinite(loss)):
            what = "NaN" if np.isnan(loss) else "Inf"
            sends = f"; {node} is the first to send it back" if maker is not None else ""
            text = f"First {what}: the loss itself is {loss}, so the forward pass made it{sends}."
        elif maker is not None:
            text = f"First {what}: {node} in {self.rows[row].name} made it from a finite gradient."
        else:
            text = "First NaN or Inf: a leaf holds it, the gradients are finite."
        yield self.make("nan", i, len(self.at) - 1, row, node, text)

    def along(self) -> Iterator[Finding]:
        """Vanishing and exploding from the top row down."""
        rows, top = self.into[:, 2:], self.into[:, 1]
        usable = np.isfinite(top) & (top != NONE)
        known = (rows != NONE) & ~broken(rows)
        with np.errstate(invalid="ignore"):
            ratio = np.where(known, rows - top[:, None], np.nan)
        flat = np.where(np.isnan(ratio), 0.0, ratio)
        name = self.rows[1].name
        for first, last in intervals(usable & (flat.min(axis=1) < np.log10(VANISHES))):
            r = flat.shape[1] - 1 - int(flat[first][::-1].argmin())  # the deepest of the smallest
            row = self.rows[r + 2]
            share = "" if rows[first, r] == -np.inf else f", {say(ratio[first, r])} of what {name} gets"
            text = f"The gradient vanishes: {row.name} gets {say(rows[first, r])}{share}."
            yield self.make("vanish", first, last, r + 2, self.node(row.functions[0]), text)
        for first, last in intervals(usable & (flat.max(axis=1) > np.log10(EXPLODES))):
            r = int(flat[first].argmax())
            row = self.rows[r + 2]
            times = say(ratio[first, r])
            text = f"The gradient explodes: {row.name} gets {say(rows[first, r])}, {times} times what {name} gets."
            yield self.make("explode", first, last, r + 2, self.node(row.functions[0]), text)

    def growth(self) -> Iterator[Finding]:
        """Growth from frame to frame."""
        rows = np.where(np.isfinite(self.into) & (self.into != NONE), self.into, np.nan)[:, 1:]
        steps = np.array(self.steps)
        earlier = np.minimum(np.searchsorted(steps, steps - WITHIN), np.maximum(np.arange(len(steps)) - 1, 0))
        with np.errstate(invalid="ignore"):
            grew = np.nan_to_num(rows - rows[earlier], nan=-np.inf, posinf=-np.inf)
        for first, last in intervals(grew.max(axis=1, initial=-np.inf) > np.log10(GREW), gap=2):
            r, before = int(grew[first].argmax()) + 1, int(earlier[first])
            sizes = f"from {say(self.into[before, r])} to {say(self.into[first, r])}"
            within = plural(self.steps[first] - self.steps[before], "step")
            text = f"The gradient of {self.rows[r].name} grew {sizes} within {within}."
            yield self.make("grew", first, last, r, self.node(self.rows[r].functions[0]), text)

    def dead(self) -> Iterator[Finding]:
        """Units that got no gradient for ten frames running."""
        runs: dict[int, list[tuple[int, int, int]]] = {}
        for f, unit, first, last in self.reel.dead():
            runs.setdefault(f, []).append((unit, first, last))
        for f, mine in runs.items():
            units, r = sorted({u for u, _, _ in mine}), self.row_of[f]
            first, last = min(a for _, a, _ in mine), max(b for _, _, b in mine)
            listed = ", ".join(map(str, units[:4])) + (", …" if len(units) > 4 else ".")
            of = f"of {len(self.reel.alive[f])} in {self.node(f)} of {self.rows[r].name}"
            text = f"{len(units)} units {of} are dead, the first since step {self.steps[first]}: {listed}"
            if len(units) == 1:
                text = f"Unit {units[0]} {of} is dead since step {self.steps[first]}."
            yield self.make("dead", first, last, r, self.node(f), text)

    def updates(self) -> Iterator[Finding]:
        """Updates above a tenth of the weight, and those that are lost in rounding."""
        update, grad, names = self.reel.part("update"), self.reel.part("grad"), self.reel.names
        if not update.size:
            return
        row_of = {a.leaf: r for r, row in enumerate(self.rows) for a in row.leaves}
        known = np.where(np.isfinite(update) & (update != NONE), update, -np.inf)
        for first, last in intervals(known.max(axis=1) > np.log10(LARGE), gap=2):
            k = int(known[first].argmax())
            share = 10.0 ** float(known[first, k])
            by = f"{100 * share:.0f} % of" if share < 2 else f"{say(known[first, k])} times"
            text = f"Large update: {names[k]} moves by {by} its norm in one step."
            yield self.make("large", first, last, row_of.get(k, 0), names[k], text)
        moved = np.isfinite(update) & (update != NONE)
        value = self.reel.part("value")
        # as far as the others move for their gradients, this one would by less than a digit
        with np.errstate(invalid="ignore"):
            pace = np.where(moved, update + value - grad, -np.inf).max(axis=1, keepdims=True)
            tiny = pace + grad - value < TINY
        lost = (update == -np.inf) & np.isfinite(grad) & (grad != NONE) & tiny
        for first, last in intervals(lost.any(axis=1) & moved.any(axis=1), gap=2):
            k, n = int(lost[first].argmax()), int(lost[first].sum())
            what = f"{names[k]} does" if n == 1 else f"{n} of {len(names)} leaves do"
            text = f"{what} not move at all: the update is too small for the digits of the weight."
            yield self.make("still", first, last, row_of.get(k, 0), names[k], text)


def intervals(holds: np.ndarray, gap: int = 0) -> list[tuple[int, int]]:
    """(first, last) of each run of True; runs that stand at most ``gap`` apart are one."""
    out: list[tuple[int, int]] = []
    for i in np.flatnonzero(holds).tolist():
        if out and i - out[-1][1] <= gap + 1:
            out[-1] = (out[-1][0], i)
        else:
            out.append((i, i))
    return out


def ranked(findings: list[Finding]) -> list[Finding]:
    """The most important first, then in the order in which they begin."""
    return sorted(findings, key=lambda x: (RANK.index(x.kind), x.step, x.row))
