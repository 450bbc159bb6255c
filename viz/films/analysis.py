"""The numbers of one scene, by row, and what they show: where gradients vanish, explode or stop, and what moves.

Works on the kept numbers alone (decades, see frame_table.py); touches no tensor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..read.text import listed, plural
from .findings import Finding, agree, broken, intervals, longest, norm_text, times
from .frame_table import RUN, FrameTable
from .loss_curve import LossCurve, loss_text
from .norms import NONE
from .rows import Row
from .scene import operation
from .structure import given_to_loss, loss_name, mistakes, top_of, wrong_sign

Run = tuple[int, int]  # the first and last of some frames
VANISHES, EXPLODES, GREW, LARGE = 1e-6, 1e3, 10.0, 0.1  # relative to the first row (two), before, the weight
# fractions of what the function receives; a softmax sends a difference, which is small even in a healthy net
SATURATED = dict.fromkeys(("Softmax", "SafeSoftmax", "LogSigmoid", "Softplus"), 1e-4)
SATURATED |= {"Sigmoid": 1e-2, "Tanh": 1e-2}
WITHIN = 5  # steps over which growth is measured
PERSISTS = 3  # something that may be temporary is an alarm once it has lasted for this many frames
TINY = -5.5  # decades: an update that float32 rounds away in most numbers of a weight
SMALL = 1e-5  # an update of this fraction of the weight changes nothing for thousands of steps
BEGINS, FAR = 3, 20  # a first loss BEGINS times that of a guess is a finding; FAR times, an alarm
SHRUNK, FITTED = 0.1, 0.2  # the most that may be left at the end: of a weight matrix's norm; of the loss
UPHILL = 0.9  # if at least this share of the steps goes along the gradient, the sign is wrong


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
        self.all = 0, len(table.at) - 1
        self.row_of = {f: r for r, row in enumerate(rows) for f in row.functions}
        self.row_of_leaf = {a.leaf: r for r, row in enumerate(rows) for a in row.leaves}
        self.update, self.grad, self.value = map(table.part, ("update", "grad", "value"))
        self.moved = np.isfinite(self.update) & (self.update != NONE)

    def entering(self, f: int) -> np.ndarray:
        """The norm of what a function receives, in each frame."""
        column = self.table.into(f)
        return self.decades[:, column] if column >= 0 else np.full(len(self.at), NONE, np.float32)

    def found(self, curve: LossCurve) -> Iterator[Finding]:
        """All findings of this scene, in no particular order; ``curve`` is the loss of its training."""
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

    def make(self, kind: str, span: Run, r: int, node: str, text: str, alarm: bool = True) -> Finding:
        """A finding about row ``r``; ``span``: the first and last of our frames."""
        (first, last), name = span, self.rows[r].name
        steps, place = (self.steps[first], self.steps[last]), (self.at[first], self.at[last], r)
        return Finding(kind, *steps, name, node, text, alarm, None, self.scene, place)

    def at_function(self, kind: str, span: Run, f: int, text: str, alarm: bool = True) -> Finding:
        return self.make(kind, span, self.row_of[f], self.node(f), text, alarm)

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
        node, row = self.node(maker or 0), self.rows[self.row_of[maker or 0]]
        if not (loss is None or np.isfinite(loss)):
            what = "NaN" if np.isnan(loss) else "Inf"
            sends = f"; {node} is the first to send it back" if maker is not None else ""
            data = self.table.info.bad_data
            comes = f", and {data}" if data else ", so it comes from the forward pass"
            text = f"First {what}: the loss itself is {loss}{comes}{sends}."
        elif maker is not None:
            text = f"First {what}: {node} in {row.name} made it from a finite gradient."
        else:
            text = "First NaN or Inf: a leaf holds it; the gradients are finite."
        yield self.at_function("nan", (i, len(self.at) - 1), maker or 0, text)

    def built_wrongly(self, curve: LossCurve) -> Iterator[Finding]:
        """Mistakes that the graph itself shows, and a wrong sign."""
        for kind, f, text in mistakes(self.table):
            yield self.at_function(kind, self.all, f, text)
        scene = self.table.scene
        a, b = loss_text(curve.start), loss_text(curve.end)
        if (
            curve.alone
            and (wrong := wrong_sign(self.table))
            and curve.end < curve.start - 0.1 * abs(curve.start)
        ):
            text = f"{wrong[0]}, and training takes it from {a} to {b}: {wrong[1]}."
            yield self.at_function("sign", self.all, 0, text)
            return
        if (name := loss_name(scene, 0)) and (below := curve.known < 0).any():
            text = f"The loss is {loss_text(float(curve.known[below][0]))}, but a {name} cannot be below 0: "
            yield self.at_function("nll", self.all, 0, f"{text}{given_to_loss(scene)}.")
        along = np.array(self.table.along)
        along = along[np.isfinite(along)]
        up = int(np.sum(along > 0))
        if len(along) > PERSISTS and up >= UPHILL * len(along) and np.mean(along) > 0.1 and not curve.learns:
            share = f"all {up} steps" if up == len(along) else f"{up} of {len(along)} steps"
            text = f"In {share} that were measured, the parameters move along their gradient instead of against it: uphill."
            yield self.at_function("sign", self.all, 0, text)

    def beginning(self, curve: LossCurve) -> Iterator[Finding]:
        """Units that are alike, and a classifier whose first loss is far from that of a guess."""
        info = self.table.info
        if alike := [k for k in info.alike if k in self.row_of_leaf]:
            names = [self.table.names[k] for k in alike]
            text = f"In {listed(names)} all units have the same weights and get the same gradient: they stay identical."
            yield self.make("alike", self.all, self.row_of_leaf[alike[0]], names[0], text)
        guess = info.classes and math.log(info.classes)
        if guess and curve.known.size and (begins := curve.known[0]) > BEGINS * guess + 1:
            first, equal = loss_text(begins), loss_text(guess)
            text = f"The loss begins at {first}; equal probabilities would give {equal}. The logits are too large."
            alarm = begins > FAR * guess or not curve.learns
            yield self.at_function("start", (0, 0), 0, text, alarm)

    def along(self, curve: LossCurve) -> Iterator[Finding]:
        """Gradients that vanish or explode on the way back from the loss."""
        with_leaves = [r for r in range(len(self.rows)) if self.rows[r].leaves]
        if len(with_leaves) > 1:
            yield from self._vanishing(with_leaves)
        # in a loss with several terms, the gradient of the largest term is the one that counts
        tops = {a.target for f in self.rows[0].functions for a in self.table.scene.out.get(f, ())}
        terms = [r for r in range(1, len(self.rows)) if tops & {*self.rows[r].functions}] or [1]
        below = [r for r in range(1, len(self.rows)) if r not in terms]
        usable, known = (np.isfinite(x) & (x != NONE) for x in (self.into[:, terms], self.into[:, below]))
        top = np.where(usable, self.into[:, terms], -np.inf)
        with np.errstate(invalid="ignore"):
            ratio = self.into[:, below] - top.max(axis=1)[:, None]
        ratio[~(known & usable.any(axis=1)[:, None])] = 0.0
        far = ratio.max(axis=1, initial=0.0) > np.log10(EXPLODES)
        for first, last in intervals(far, gap=2):
            r, n = int(ratio[first].argmax()), terms[int(top[first].argmax())]
            row, f = self.rows[below[r]], self.rows[below[r]].functions[0]
            gets = f"{self.node(f)} in {row.name} receives {norm_text(self.into[first, below[r]])}"
            than = f"{norm_text(ratio[first, r])} times what arrives in {self.rows[n].name}"
            alarm = last - first + 1 >= min(PERSISTS, len(self.at)) or not curve.learns
            text = f"The gradient explodes: {gets}, {than}."
            yield self.at_function("explode", (first, last), f, text, alarm)

    def _vanishing(self, with_leaves: list[int]) -> Iterator[Finding]:
        """Rows in which every leaf gets less than a millionth of what the leaves next to the loss get."""
        brought = [self.rows[r].leaves for r in with_leaves]
        parts = [(self.arrows[:, [a.index for a in arrows]], arrows) for arrows in brought]
        most = np.stack([np.where(part == NONE, -np.inf, part).max(axis=1) for part, _ in parts], axis=1)
        top, rows = most[:, 0], most[:, 1:]
        with np.errstate(invalid="ignore"):
            ratio = rows - top[:, None]
        ratio[~np.isfinite(ratio)] = 0.0  # a gradient of exactly 0 is a different finding
        for first, last in intervals(np.isfinite(top) & (ratio.min(axis=1) < np.log10(VANISHES)), gap=2):
            if last - first + 1 < min(PERSISTS, len(self.at)):
                continue
            n = ratio.shape[1] - 1 - int(ratio[first][::-1].argmin())  # the deepest of equal minima
            (own, arrows), (over, above) = parts[n + 1], parts[0]
            leaf, best = (x[int(y[first].argmax())].leaf for x, y in ((arrows, own), (above, over)))
            names, row = self.table.names, self.rows[with_leaves[n + 1]]
            at = f" at {row.name}" if sum(a.leaf == leaf for rw in self.rows for a in rw.leaves) > 1 else ""
            gets = f"{names[leaf]} gets {norm_text(rows[first, n])}{at}"
            than = f"{names[best]} gets" if leaf != best else f"it gets at {self.rows[with_leaves[0]].name}"
            text = f"The gradient vanishes: {gets}, {norm_text(ratio[first, n])} times what {than}."
            yield self.at_function("vanish", (first, last), row.functions[0], text)

    def stopped(self, curve: LossCurve) -> Iterator[Finding]:
        """Leaves whose own gradient is exactly 0, and functions that let next to nothing through."""
        scene = self.table.scene
        by_leaf = {k: [a.index for a in scene.into[node]] for k, node in enumerate(scene.leaves)}
        zero: dict[Run, list[int]] = {}
        for k, columns in by_leaf.items():
            run = longest((self.arrows[:, columns] == -np.inf).all(axis=1))
            if run is not None and (run[1] - run[0] + 1 >= PERSISTS or len(self.at) < PERSISTS):
                zero.setdefault(run, []).append(k)
        for (first, last), leaves in zero.items():
            frames = last - first + 1
            names, r = [self.table.names[k] for k in leaves], max(self.row_of_leaf.get(k, 0) for k in leaves)
            often = f" in {frames} frames in a row" if frames > 1 else ""
            text = f"{listed(names)} {agree(names, 'gets', 'get')} a gradient of exactly 0{often}."
            done = curve.learns and len(leaves) == len(by_leaf)  # a loss of 0 has no gradient
            lasting = frames >= PERSISTS and frames > len(self.at) // 2 and not done
            # a penalty on the gradient of a ReLU net has no gradient with respect to the input
            lasting = lasting and bool(self.table.trained[leaves].any())
            yield self.make("zero", (first, last), r, names[0], text, lasting)
        top = next((r for r, row in enumerate(self.rows) if row.leaves), len(self.rows))
        for f in [f for row in self.rows[top + 1 :] for f in row.functions]:
            arrows = self.table.scene.out.get(f, ())
            limit = SATURATED.get(operation(self.node(f)))
            if limit is None or not arrows:
                continue
            received, sent = self.entering(f), self.arrows[:, arrows[0].index]
            fine = np.isfinite(received) & (received != NONE) & (sent != NONE) & ~broken(sent)
            with np.errstate(invalid="ignore"):
                share = np.where(fine, sent - received, 0.0)
            run = longest(share < np.log10(limit))
            if run is None or run[1] - run[0] + 1 < min(PERSISTS, len(self.at)):
                continue
            first, last = run
            node, r = self.node(f), self.row_of[f]
            lets = f"it receives {norm_text(received[first])} and sends {norm_text(sent[first])}"
            text = f"{node} in {self.rows[r].name} is saturated: {lets}."
            yield self.at_function("saturated", run, f, text, not curve.learns)

    def growth(self, curve: LossCurve) -> Iterator[Finding]:
        """Gradients that grow from frame to frame, if the loss then rises."""
        rows = np.where(np.isfinite(self.into) & (self.into != NONE), self.into, np.nan)[:, 1:]
        at = np.array(self.steps)
        earlier = np.minimum(np.searchsorted(at, at - WITHIN), np.maximum(np.arange(len(at)) - 1, 0))
        with np.errstate(invalid="ignore"):
            grew = np.nan_to_num(rows - rows[earlier], nan=-np.inf, posinf=-np.inf)
        for first, last in intervals(grew.max(axis=1, initial=-np.inf) > np.log10(GREW), gap=2):
            r, before = int(grew[first].argmax()) + 1, int(earlier[first])
            if not curve.rises_after(self.at[max(before, first - 1)]):
                continue
            sizes = f"from {norm_text(self.into[before, r])} to {norm_text(self.into[first, r])}"
            steps, f = plural(self.steps[first] - self.steps[before], "step"), self.rows[r].functions[0]
            gets = f"The gradient that {self.node(f)} in {self.rows[r].name} receives"
            text = f"{gets} grew {sizes} in {steps}."
            yield self.at_function("grew", (first, last), f, text)

    def _dead_units(self) -> Iterator[tuple[list[int], dict[int, Run]]]:
        """(the uses of one layer, {unit: first and last frame}) for units that are dead in all uses, such as time steps."""
        end = len(self.at) - 1
        runs: dict[int, dict[int, Run]] = {}
        for f, unit, first, last in self.table.dead():
            known = runs.setdefault(f, {})  # the first run of a unit, unless one lasts until the end
            if (last == end or unit not in known) and self.entering(f)[first] != -np.inf:
                known[unit] = first, last  # if no gradient entered the function, it stopped none
        layers: dict[tuple, list[int]] = {}
        for f in self.table.alive:
            leaves = sorted({a.leaf for a in self.rows[self.row_of[f]].leaves}) or [-1 - f]
            layers.setdefault((self.node(f), *leaves), []).append(f)
        for uses in layers.values():
            units: dict[int, Run] = {}
            for unit in set.intersection(*(set(runs.get(f, ())) for f in uses)):
                firsts, lasts = zip(*(runs[f][unit] for f in uses), strict=True)
                if min(lasts) - max(firsts) + 1 >= RUN:
                    units[unit] = max(firsts), min(lasts)
            for goes_on in (True, False):
                if some := {unit: run for unit, run in units.items() if (run[1] == end) is goes_on}:
                    yield uses, some

    def dead(self, curve: LossCurve) -> Iterator[Finding]:
        """Units that got no gradient for ten frames in a row. A few of them in a net that learns are a fact, not an alarm."""
        for uses, units in self._dead_units():
            f, starts = uses[0], {a for a, _ in units.values()}
            first, last = min(starts), max(b for _, b in units.values())
            count, every, one = len(units), len(self.table.alive[f]), len(units) == 1
            row = self.rows[self.row_of[f]].name
            if len(uses) > 1:
                often = "both" if len(uses) == 2 else f"all {len(uses)}"
                called = f"{row.partition(' (')[0]}, in {often} uses,"
                row = "every time step" if row.startswith("t = ") else called
            begin, end, over = self.steps[first], self.steps[last], last < len(self.at) - 1
            if len(starts) == 1:
                are = agree(units, "was", "were") if over else agree(units, "has been", "have been")
                dead = f"{are} dead " + (f"from step {begin} to {end}" if over else f"since step {begin}")
            else:
                dead = f"were dead for a time, between steps {begin} and {end}"
                dead = dead if over else f"are dead; the first died at step {begin}"
            which = ", ".join(map(str, sorted(units)[:4])) + ", …" * (count > 4)
            units_text = f"Unit {which} of {every}" if one else f"{count} of {every} units ({which})"
            units_text = f"All {every} units" if 1 < count == every else units_text
            text = f"{units_text} in {self.node(f)} of {row} {dead}."
            kills = operation(self.node(f)) in ("Relu", "LeakyRelu", "Threshold", "Hardtanh", "Clamp")
            hinge = f in top_of(self.table.scene)  # all examples satisfy the margin
            alarm = kills and ((count == every and not hinge) or (count >= every / 2 and not curve.learns))
            yield self.at_function("dead", (first, last), f, text, alarm)

    def updates(self, curve: LossCurve) -> Iterator[Finding]:
        """Leaves that move too far, too little, or not at all."""
        update, value, moved, names = self.update, self.value, self.moved, self.table.names
        if not update.size:
            return
        matrices = [k for k, shape in enumerate(self.table.shapes) if len(shape) > 1]
        far = np.where(moved, update, -np.inf)[:, matrices]
        for first, last in intervals(far.max(axis=1, initial=-np.inf) > np.log10(LARGE), gap=2):
            k = matrices[int(far[first].argmax())]
            lost = PERSISTS <= len(self.at) < 2 * (moved[:, k] & (update[:, k] > 0)).sum()
            if lost or curve.rises_after(self.at[first]):  # otherwise it did no harm
                then = "again and again" if lost else "in one step, and the loss rises"
                text = f"Large update: {names[k]} moves by {times(update[first, k])} its norm {then}."
                yield self.make("large", (first, last), self.row_of_leaf.get(k, 0), names[k], text)
        known = (update != NONE).all(axis=1)
        # lost to rounding: a leaf whose update, at the other leaves' ratio of update to gradient, would be less than one digit
        lost = (update == -np.inf) & self._got & self._too_small
        run = longest(lost.any(axis=1) & moved.any(axis=1))
        if run is not None and run[1] - run[0] + 1 >= min(PERSISTS, int(known.sum())):
            ks = np.flatnonzero(lost[run[0]]).tolist()
            text = f"{listed(names[k] for k in ks)} {agree(ks, 'does', 'do')} not change: the update is lost to rounding."
            yield self.make("still", run, self.row_of_leaf.get(ks[0], 0), names[ks[0]], text, False)
        yield from self._tiny(curve, np.where(moved, update, -np.inf).max(axis=1))
        fell = (value[-1] - value[0])[matrices]
        if matrices and not curve.learns and (fell < np.log10(SHRUNK)).all():
            k = matrices[int(fell.argmin())]
            sizes = f"the norm of {names[k]} falls from {norm_text(value[0, k])} to {norm_text(value[-1, k])}"
            text = f"The weights shrink: {sizes}, and the loss does not fall. Is the weight decay too strong?"
            yield self.make("shrinks", self.all, self.row_of_leaf.get(k, 0), names[k], text)

    def _tiny(self, curve: LossCurve, most: np.ndarray) -> Iterator[Finding]:
        """Updates (``most``: the largest of each frame) that are too small to change the loss, though the gradients are not."""
        known = np.isfinite(most)
        tiny = np.flatnonzero(known & (most < np.log10(SMALL))).tolist()
        if len(tiny) < max(WITHIN, known.sum() / 2):
            return
        loss = LossCurve([self.losses[i] for i in tiny], tiny)
        steep = np.where(self._got, self.grad, -np.inf).max(axis=1)
        if abs(loss.end - loss.start) < 0.02 * abs(loss.start) and steep[tiny[-1]] > steep[0] - 2:
            moves, a, b = norm_text(most[tiny].max()), loss_text(loss.start), loss_text(loss.end)
            text = f"Updates are tiny in {len(tiny)} of {plural(len(self.at), 'frame')}: no parameter moves by more than "
            text += f"{moves} of its norm, and the loss goes from {a} to {b}."
            yield self.at_function("small", (tiny[0], tiny[-1]), 0, text, curve.end > FITTED * curve.start)

    @property
    def _got(self) -> np.ndarray:
        """Which leaves have a gradient that is neither 0, NaN nor infinite."""
        return np.isfinite(self.grad) & (self.grad != NONE)

    @property
    def _too_small(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            pace = np.where(self.moved, self.update + self.value - self.grad, -np.inf)
            return pace.max(axis=1, keepdims=True) + self.grad - self.value < TINY

    def inputs_moved(self) -> list[str]:
        """The leaves that move although they are not parameters."""
        moves = self.moved.any(axis=0) & ~self.table.trained
        return [name for name, does in zip(self.table.names, moves, strict=True) if does]

    def never_moved(self) -> set[str]:
        """The leaves that get a gradient in most frames, large enough to move them, but never change."""
        known = self.update != NONE
        still = ((self.update == -np.inf) | ~known).all(axis=0) & (self.value == self.value[:1]).all(axis=0)
        still &= (known.sum(axis=0) >= PERSISTS) & self.table.trained
        if not still[self.table.trained].all():
            still &= ~(self._too_small & known).any(axis=0)
        return {self.table.names[k] for k in np.flatnonzero(still & (self._got.mean(axis=0) > 0.5)).tolist()}
