"""The numbers of one scene, by row, and what they show: where gradients vanish, explode or stop, and what moves.

Works on the kept numbers alone (decades, see frame_table.py); touches no tensor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from ..read.text import plural
from .findings import Finding, broken, intervals, listed, longest, norm_text, times
from .frame_table import RUN, FrameTable
from .loss_curve import LossCurve, loss_text
from .norms import NONE
from .rows import Row
from .scene import Arrow, operation
from .structure import LOSSES, after_loss, lowest_loss, mistakes, negated, top_of

VANISHES, EXPLODES, GREW, LARGE = 1e-6, 1e3, 10.0, 0.1  # of the top row's norm, twice; times; of the weight
SATURATED = 1e-4  # of what a function receives
WITHIN = 5  # steps
PERSISTS = 3  # frames, before something that may pass is an alarm
TINY = -5.5  # decades: an update that float32 rounds away in most numbers of a weight
SMALL = 1e-5  # of the weight: an update that changes nothing for thousands of steps
BEGINS, FAR = (
    3,
    20,
)  # times what equal probabilities give: where a loss begins that is told, and that is an alarm
UPHILL = 0.9  # the share of steps that go along the gradient, before the sign is called wrong
SQUASHES = {"Sigmoid", "Tanh", "Softmax", "SafeSoftmax", "LogSigmoid", "Softplus"}


class SceneAnalysis:
    """The numbers of one scene, by row, and everything that is found in them."""

    def __init__(
        self, table: FrameTable, rows: list[Row], steps: list[int], losses: list[float | None], scene: int
    ):
        self.table, self.rows, self.scene = table, rows, scene
        self.losses = [losses[i] for i in table.at]
        self.decades = table.decades()
        self.arrows = self.decades[:, table.columns["arrow"]]
        self.at = table.at
        self.steps = [steps[i] for i in table.at]
        self.into = np.stack([self.entering(row.functions[0]) for row in rows], axis=1)
        self.row_of = {f: r for r, row in enumerate(rows) for f in row.functions}
        self.row_of_leaf = {a.leaf: r for r, row in enumerate(rows) for a in row.leaves}

    def entering(self, f: int) -> np.ndarray:
        """The norm of what a function receives, in each frame."""
        column = self.table.into(f)
        return self.decades[:, column] if column >= 0 else np.full(len(self.at), NONE, np.float32)

    def found(self, curve: LossCurve) -> Iterator[Finding]:
        """All findings of this scene, in no order; ``curve`` is the loss of its training."""
        yield from self.nonfinite()
        yield from self.built_wrongly(curve)
        yield from self.beginning(curve)
        if len(self.rows) > 2:
            yield from self.along(curve)
        yield from self.stopped(curve)
        if len(self.rows) > 1:
            yield from self.growth(curve)
        yield from self.dead(curve)
        yield from self.updates(curve)

    def make(
        self, kind: str, first: int, last: int, row: int, node: str, text: str, alarm: bool = True
    ) -> Finding:
        name, steps = self.rows[row].name, (self.steps[first], self.steps[last])
        return Finding(
            kind, *steps, name, node, text, alarm, None, self.scene, (self.at[first], self.at[last], row)
        )

    def node(self, f: int) -> str:
        return self.table.scene.names[f]

    def nonfinite(self) -> Iterator[Finding]:
        """The first frame with a number that is not finite, and which function made it."""
        bad = broken(self.decades[:, : self.table.columns["grad"].stop]).any(axis=1)
        bad |= [not (x is None or np.isfinite(x)) for x in self.losses]
        if not bad.any():
            return
        i = int(bad.argmax())
        loss, scene = self.losses[i], self.table.scene
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

    def built_wrongly(self, curve: LossCurve) -> Iterator[Finding]:
        """Mistakes that the graph itself shows, and a sign that is wrong."""
        make, last = partial(self.make, first=0, last=len(self.at) - 1), len(self.at) - 1
        for kind, f, text in mistakes(self.table):
            yield make(kind, row=self.row_of[f], node=self.node(f), text=text)
        scene = self.table.scene
        a, b = loss_text(curve.start), loss_text(curve.end)
        if (f := negated(scene)) is not None and curve.end < curve.start - 0.1 * abs(curve.start):
            text = f"The loss is minus a {LOSSES[operation(self.node(f))]}, and training makes it {a} → {b}: the error grows."
            yield make("sign", row=self.row_of[f], node=self.node(f), text=text)
            return
        if (
            (f := lowest_loss(scene)) is not None
            and (below := curve.known < 0).any()
            and negated(scene) is None
        ):
            text = f"The loss is {loss_text(float(curve.known[below][0]))}, but a {LOSSES[operation(self.node(f))]} "
            yield make(
                "nll",
                row=self.row_of[f],
                node=self.node(f),
                text=f"{text}cannot be below 0: {after_loss(scene, f)}.",
            )
        along = np.array(self.table.along)
        along = along[np.isfinite(along)]
        if (
            len(along) > PERSISTS
            and np.mean(along > 0) >= UPHILL
            and np.mean(along) > 0.1
            and not curve.learns
        ):
            count = int(np.sum(along > 0))
            share = f"all {len(along)} steps" if count == len(along) else f"{count} of {len(along)} steps"
            text = f"The parameters move along their gradient, not against it, in {share} that were measured: uphill."
            yield self.make("sign", 0, last, 0, self.node(0), text)

    def beginning(self, curve: LossCurve) -> Iterator[Finding]:
        """Units that are alike, and a classifier that begins far from a guess."""
        info, last = self.table.info, len(self.at) - 1
        alike = [(k, units) for k, units in info.alike if k in self.row_of_leaf]
        if alike:
            k, units = alike[0]
            names = [self.table.names[k] for k, _ in alike]
            text = f"All {units} units of {names[0]} have the same weights and get the same gradient: they stay alike."
            if len(alike) > 1:
                text = f"In {listed(names)} all units have the same weights and get the same gradient: they stay alike."
            yield self.make("alike", 0, last, self.row_of_leaf[k], names[0], text)
        guess = info.classes and math.log(info.classes)
        if guess and curve.known.size and (begins := curve.known[0]) > BEGINS * guess + 1:
            text = (
                f"The loss begins at {loss_text(begins)}; equal probabilities would give {loss_text(guess)}. "
            )
            text, alarm = f"{text}The logits are too large.", begins > FAR * guess or not curve.learns
            yield self.make("start", 0, 0, 0, self.node(0), text, alarm)

    def _own(self, r: int) -> tuple[np.ndarray, list[Arrow]]:
        """(frames, n) norms of what the arrows of row ``r`` bring to its leaves."""
        arrows = self.rows[r].leaves
        return self.arrows[:, [a.index for a in arrows]], arrows

    def along(self, curve: LossCurve) -> Iterator[Finding]:
        """Vanishing and exploding from the top row down."""
        with_leaves = [r for r in range(len(self.rows)) if self.rows[r].leaves]
        if len(with_leaves) > 1:
            yield from self._vanishing(with_leaves)
        rows, top = self.into[:, 2:], self.into[:, 1]
        usable = np.isfinite(top) & (top != NONE)
        known = (rows != NONE) & np.isfinite(rows)
        with np.errstate(invalid="ignore"):
            ratio = np.where(known, rows - top[:, None], 0.0)
        runs = intervals(usable & (ratio.max(axis=1) > np.log10(EXPLODES)), gap=2)
        for first, last in runs:
            r = int(ratio[first].argmax())
            row, name = self.rows[r + 2], self.rows[1].name
            where = f"{self.node(row.functions[0])} in {row.name} receives {norm_text(rows[first, r])}"
            text = (
                f"The gradient explodes: {where}, {norm_text(ratio[first, r])} times what arrives in {name}."
            )
            lasts = last - first + 1 >= min(PERSISTS, len(self.at))
            yield self.make(
                "explode", first, last, r + 2, self.node(row.functions[0]), text, lasts or not curve.learns
            )

    def _vanishing(self, with_leaves: list[int]) -> Iterator[Finding]:
        """Rows all of whose leaves get less than a millionth of what the top row's get."""
        parts = [self._own(r) for r in with_leaves]
        most = np.stack([np.where(part == NONE, -np.inf, part).max(axis=1) for part, _ in parts], axis=1)
        top, rows = most[:, 0], most[:, 1:]
        with np.errstate(invalid="ignore"):
            ratio = rows - top[:, None]
        ratio[~np.isfinite(ratio)] = 0.0  # what gets nothing at all is told elsewhere
        for first, last in intervals(np.isfinite(top) & (ratio.min(axis=1) < np.log10(VANISHES)), gap=2):
            if last - first + 1 < min(PERSISTS, len(self.at)):
                continue
            n = ratio.shape[1] - 1 - int(ratio[first][::-1].argmin())  # the deepest of the smallest
            (own, arrows), (over, above) = parts[n + 1], parts[0]
            leaf, best = (x[int(y[first].argmax())].leaf for x, y in ((arrows, own), (above, over)))
            names, row = self.table.names, self.rows[with_leaves[n + 1]]
            at = f" at {row.name}" if sum(a.leaf == leaf for rw in self.rows for a in rw.leaves) > 1 else ""
            gets = f"{names[leaf]} gets {norm_text(rows[first, n])}{at}"
            than = (
                f"what {names[best]} gets"
                if leaf != best
                else f"what it gets at {self.rows[with_leaves[0]].name}"
            )
            text = f"The gradient vanishes: {gets}, {norm_text(ratio[first, n])} of {than}."
            yield self.make("vanish", first, last, with_leaves[n + 1], self.node(row.functions[0]), text)

    def stopped(self, curve: LossCurve) -> Iterator[Finding]:
        """Leaves whose own gradient is exactly 0, and functions that let next to nothing through."""
        by_leaf: dict[int, list[int]] = {}
        for a in self.table.scene.arrows:
            if a.leaf is not None:
                by_leaf.setdefault(a.leaf, []).append(a.index)
        zero: dict[tuple[int, int], list[int]] = {}
        for k, columns in by_leaf.items():
            run = longest((self.arrows[:, columns] == -np.inf).all(axis=1))
            if run is not None and (run[1] - run[0] + 1 >= PERSISTS or len(self.at) < PERSISTS):
                zero.setdefault(run, []).append(k)
        for (first, last), leaves in zero.items():
            frames = last - first + 1
            names, r = [self.table.names[k] for k in leaves], max(self.row_of_leaf.get(k, 0) for k in leaves)
            get = "gets" if len(names) == 1 else "get"
            text = f"{listed(names)} {get} a gradient of exactly 0{f' in {frames} frames running' if frames > 1 else ''}."
            done = curve.learns and len(leaves) == len(by_leaf)  # a loss of 0 has no gradient
            lasting = frames >= PERSISTS and frames > len(self.at) // 2 and not done
            yield self.make("zero", first, last, r, names[0], text, lasting)
        behind = {
            f for r in range(1, len(self.rows)) for f in self.rows[r].functions if r > self._first_leaf_row()
        }
        for f in behind:
            arrows = self.table.scene.out.get(f, ())
            if operation(self.node(f)) not in SQUASHES or not arrows:
                continue
            received, sent = self.entering(f), self.arrows[:, arrows[0].index]
            fine = np.isfinite(received) & (received != NONE) & (sent != NONE) & ~broken(sent)
            with np.errstate(invalid="ignore"):
                share = np.where(fine, sent - received, 0.0)
            run = longest(share < np.log10(SATURATED))
            if run is None or run[1] - run[0] + 1 < min(PERSISTS, len(self.at)):
                continue
            first, last = run
            node, r = self.node(f), self.row_of[f]
            lets = f"it receives {norm_text(received[first])} and sends {norm_text(sent[first])}"
            text = f"{node} in {self.rows[r].name} is saturated: {lets}."
            yield self.make("saturated", first, last, r, node, text, not curve.learns)

    def _first_leaf_row(self) -> int:
        return next((r for r, row in enumerate(self.rows) if row.leaves), len(self.rows))

    def growth(self, curve: LossCurve) -> Iterator[Finding]:
        """Growth from frame to frame, where the loss rises after it."""
        rows = np.where(np.isfinite(self.into) & (self.into != NONE), self.into, np.nan)[:, 1:]
        steps = np.array(self.steps)
        earlier = np.minimum(np.searchsorted(steps, steps - WITHIN), np.maximum(np.arange(len(steps)) - 1, 0))
        with np.errstate(invalid="ignore"):
            grew = np.nan_to_num(rows - rows[earlier], nan=-np.inf, posinf=-np.inf)
        for first, last in intervals(grew.max(axis=1, initial=-np.inf) > np.log10(GREW), gap=2):
            r, before = int(grew[first].argmax()) + 1, int(earlier[first])
            if not curve.rises_after(self.at[before]):
                continue
            sizes = f"from {norm_text(self.into[before, r])} to {norm_text(self.into[first, r])}"
            within = plural(self.steps[first] - self.steps[before], "step")
            node = self.node(self.rows[r].functions[0])
            text = f"The gradient that {node} in {self.rows[r].name} receives grew {sizes} within {within}."
            yield self.make("grew", first, last, r, node, text)

    def _dead_units(self) -> Iterator[tuple[list[int], dict[int, tuple[int, int]]]]:
        """(the uses of one layer, unit -> first and last frame) of units that are dead in all uses: time steps, inputs."""
        runs: dict[
            int, dict[int, tuple[int, int]]
        ] = {}  # of each unit the run that goes on, else the longest
        for f, unit, first, last in self.table.dead():
            known, end = runs.setdefault(f, {}), len(self.at) - 1
            if self.entering(f)[first] != -np.inf:  # else nothing came that it could stop
                known[unit] = max(
                    known.get(unit, (0, -1)), (first, last), key=lambda run: (run[1] == end, run[1] - run[0])
                )
        layers: dict[tuple, list[int]] = {}
        for f in self.table.alive:
            leaves = sorted({a.leaf for a in self.rows[self.row_of[f]].leaves}) or [-1 - f]
            layers.setdefault((self.node(f), *leaves), []).append(f)
        for uses in layers.values():
            units: dict[int, tuple[int, int]] = {}
            for unit in set.intersection(*(set(runs.get(f, ())) for f in uses)):
                firsts, lasts = zip(*(runs[f][unit] for f in uses), strict=True)
                if min(lasts) - max(firsts) + 1 >= RUN:
                    units[unit] = max(firsts), min(lasts)
            end = len(self.at) - 1
            for goes_on in (True, False):
                if some := {unit: run for unit, run in units.items() if (run[1] == end) is goes_on}:
                    yield uses, some

    def dead(self, curve: LossCurve) -> Iterator[Finding]:
        """Units that got no gradient for ten frames running. A few in a net that learns are a fact."""
        for uses, units in self._dead_units():
            f, r = uses[0], self.row_of[uses[0]]
            first, last = min(a for a, _ in units.values()), max(b for _, b in units.values())
            count, every = len(units), len(self.table.alive[f])
            where = self.rows[r].name if len(uses) == 1 else f"all {len(uses)} uses of the layer"
            of = f"{every} in {self.node(f)} of {where}"
            until = last < len(self.at) - 1
            verb = ("was" if count == 1 else "were") if until else f"{'has' if count == 1 else 'have'} been"
            since = (
                f"from step {self.steps[first]} to {self.steps[last]}"
                if until
                else f"since step {self.steps[first]}"
            )
            some = " " if len({a for a, _ in units.values()}) == 1 else ", the first "
            which = (
                "" if count == every else ": " + ", ".join(map(str, sorted(units)[:4])) + ", …" * (count > 4)
            )
            text = f"{count} units of {of} {verb} dead{some}{since}{which}."
            if count == every > 1:
                text = f"All {every} units {of.partition(' ')[2]} {verb} dead{some}{since}."
            if count == 1:
                text = f"Unit {next(iter(units))} of {of} {verb} dead {since}."
            kills = operation(self.node(f)) in ("Relu", "LeakyRelu", "Threshold", "Hardtanh", "Clamp")
            hinge = f in top_of(self.table.scene)  # a margin that is kept
            alarm = kills and ((count == every and not hinge) or (count >= every / 2 and not curve.learns))
            yield self.make("dead", first, last, r, self.node(f), text, alarm)

    def updates(self, curve: LossCurve) -> Iterator[Finding]:
        """What moves too far, too little, or not at all."""
        update, grad, value = (self.table.part(kind) for kind in ("update", "grad", "value"))
        names, shapes = self.table.names, self.table.shapes
        if not update.size:
            return
        moved = np.isfinite(update) & (update != NONE)
        matrices = [k for k, shape in enumerate(shapes) if len(shape) > 1]
        far = (
            np.where(moved, update, -np.inf)[:, matrices] if matrices else np.full((len(self.at), 1), -np.inf)
        )
        for first, last in intervals(far.max(axis=1) > np.log10(LARGE), gap=2):
            k = matrices[int(far[first].argmax())]
            if curve.rises_after(self.at[first]):  # else it did no harm
                text = f"Large update: {names[k]} moves by {times(update[first, k])} its norm in one step, and the loss rises."
                yield self.make("large", first, last, self.row_of_leaf.get(k, 0), names[k], text)
        known, got = (update != NONE).all(axis=1), np.isfinite(grad) & (grad != NONE)
        small = self._too_small(update, grad, value)
        # as far as the others move for their gradients, this one would by less than a digit
        lost = (update == -np.inf) & got & small
        run = longest(lost.any(axis=1) & moved.any(axis=1))
        if run is not None and run[1] - run[0] + 1 >= min(PERSISTS, int(known.sum())):
            first, last = run
            names_lost = [name for name, is_lost in zip(names, lost[first], strict=True) if is_lost]
            does = "does" if len(names_lost) == 1 else "do"
            text = f"{listed(names_lost)} {does} not change: the update is lost to rounding."
            k = names.index(names_lost[0])
            yield self.make("still", first, last, self.row_of_leaf.get(k, 0), names[k], text, False)
        most = np.where(moved, update, -np.inf).max(axis=1)[moved.any(axis=1)]
        steady = abs(curve.end - curve.start) < 0.02 * abs(curve.start)
        if len(most) >= WITHIN and np.median(most) < np.log10(SMALL) and steady:
            largest, a, b = norm_text(most.max()), loss_text(curve.start), loss_text(curve.end)
            text = f"Every update is tiny, at most {largest} of a parameter's norm, and the loss goes from {a} to {b}."
            yield self.make("small", 0, len(self.at) - 1, 0, self.node(0), text)

    @staticmethod
    def _too_small(update: np.ndarray, grad: np.ndarray, value: np.ndarray) -> np.ndarray:
        moved = np.isfinite(update) & (update != NONE)
        with np.errstate(invalid="ignore"):
            pace = np.where(moved, update + value - grad, -np.inf).max(axis=1, keepdims=True)
            return pace + grad - value < TINY

    def never_moved(self) -> set[str]:
        """The leaves that get a gradient in most frames, large enough to move them, and have one value in all frames."""
        update, grad, value = (self.table.part(kind) for kind in ("update", "grad", "value"))
        known, got = update != NONE, np.isfinite(grad) & (grad != NONE)
        still = ((update == -np.inf) | ~known).all(axis=0) & (np.ptp(value, axis=0) == 0)
        still &= (known.sum(axis=0) >= PERSISTS) & self.table.trained
        if not still[self.table.trained].all():
            still &= ~(self._too_small(update, grad, value) & known).any(axis=0)
        return {self.table.names[k] for k in np.flatnonzero(still & (got.mean(axis=0) > 0.5)).tolist()}
