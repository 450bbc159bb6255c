"""What a training run shows between its passes: what moved, what was cleared, what is frozen; and how its loss develops.

``TrainingState`` watches while the training runs; ``findings_of`` puts everything that a film shows into words, afterwards.
"""

from __future__ import annotations

import math
import re
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from threading import get_ident
from typing import Any

from ..read.text import listed, shape_text
from .analysis import SceneAnalysis
from .findings import Finding, agree, ordered
from .frame_table import FrameTable
from .loss_curve import LossCurve, loss_text
from .norms import LeafNorms, numbers, seen, weak

Named = list[tuple[str, Any]]  # the caller's names for tensors, including those that optimizers hold
SAMPLED = 16, 8  # the direction of the update is measured in the first 16 frames, then in every 8th
OF_OPTIMIZER = re.compile(r"(.*)\.param_groups\[\d+\]\['params'\]\[\d+\]")  # the path of a tensor
MODES = ("Dropout", "BatchNorm")  # modules that compute something else in eval mode


@dataclass(slots=True)
class Pending:
    """A frame whose updates are not known yet; ``index`` is None for a pass between frames that is only watched."""

    table: FrameTable
    index: int | None
    leaves: list[Any]
    values: LeafNorms
    grads: LeafNorms | None


class TrainingState:
    """The part of the training loop that backward passes reveal. Names are those of parameters and modules."""

    def __init__(self) -> None:
        # by thread: the leaves of another may be in a pass, which writes their .grad without the interpreter's lock
        self.pending: dict[int, Pending] = {}
        # name -> first step: parameters that no gradient reached; parameters of a trained model that do not require grad;
        # leaves whose old gradient was added to a new one, and used; modules in eval mode
        self.missing: dict[str, int] = {}
        self._idle: dict[str, tuple[Any, int]] = {}  # these, and how many times each was written to
        self.frozen: dict[str, int] = {}
        self.added: dict[str, int] = {}
        self.in_eval: dict[str, int] = {}
        self.graphless: int | None = None  # the first step whose loss was a leaf
        self.was_training: set[str] = set()
        self._modes: dict[str, Any] = {}
        # leaf -> step: it moved, and the gradient that moved it was still there
        self._kept_grad: dict[int, int] = {}

    def meet(self, leaves: list[Any], called: Named, modules: dict[str, Any], step: int) -> dict[int, str]:
        """For a new graph, the names (by id) of all parameters of the models it reaches; notes frozen and missing ones."""
        reached, names, known = {id(leaf) for leaf in leaves}, {}, set()
        first = {id(tensor): name for name, tensor in reversed(called)}
        optimizers: dict[str, list[Any]] = {}
        for name, tensor in called:
            if within := OF_OPTIMIZER.fullmatch(name):
                optimizers.setdefault(within[1], []).append(tensor)
        for held in optimizers.values():
            for p in held if any(id(p) in reached for p in held) else ():
                if id(p) not in reached and p.grad is None and p.requires_grad:
                    unnamed = rf"\1's parameter of shape {shape_text(tuple(p.shape))}"
                    self._miss(OF_OPTIMIZER.sub(unnamed, first[id(p)]), p, step)
        for path, model in modules.items():
            if id(model) in known:
                continue  # a part of a model seen before
            inside, parameters = dict(model.named_modules()), dict(model.named_parameters())
            known |= {id(module) for module in inside.values()}
            if not any(id(p) in reached for p in parameters.values()):
                continue
            for key, p in parameters.items():
                name = names.setdefault(id(p), f"{path}.{key}".strip("."))
                if not p.requires_grad:
                    self.frozen.setdefault(name, step)
                elif id(p) not in reached and p.grad is None:
                    self._miss(name, p, step)
            for key, module in inside.items():
                kind = type(module).__name__
                if any(mode in kind for mode in MODES):
                    name = f"{f'{path}.{key}'.strip('.')} ({kind})".strip()
                    self._modes.setdefault(name, weakref.ref(module))
        return names

    def _miss(self, name: str, p: Any, step: int) -> None:
        if not any(ref() is p for ref, _ in self._idle.values()):  # it may have two names
            self.missing.setdefault(name, step)
            self._idle.setdefault(name, (weak(p), getattr(p, "_version", 0)))

    def look(self, step: int) -> None:
        """Note modules in eval mode, and parameters that moved after all, by the gradient of a pass that is not filmed."""
        for name, (ref, version) in self._idle.items():
            if getattr(ref(), "_version", version) != version:
                self.missing.pop(name, None)
        modes = {name: getattr(ref(), "training", None) for name, ref in self._modes.items()}
        self.was_training |= {name for name, trains in modes.items() if trains}
        self.in_eval = {name: step for name, trains in modes.items() if trains is False} | self.in_eval

    def values_of(self, table: FrameTable) -> LeafNorms | None:
        """The values of a table's leaves at the previous frame, if that had the same leaves."""
        last = self.pending.get(get_ident())
        return last.values if last and last.leaves is table.leaves else None

    def after(self, table: FrameTable, hooks: Any, step: int) -> None:
        """Note that a frame was taken."""
        self.pending[get_ident()] = Pending(table, len(table.at) - 1, hooks.refs, hooks.values, hooks.grads)

    def before(self, step: int, hooks: Any = None) -> None:
        """At the beginning of a pass, note what has moved since the previous frame; ``hooks`` will make the new one."""
        for k, leaf in enumerate(hooks.leaves if hooks is not None and self._kept_grad else ()):
            if hooks.old is None or not hooks.old.norms[k] > 0.0:
                self._kept_grad.pop(id(leaf), None)  # it was cleared
        if (last := self.pending.pop(get_ident(), None)) is None:
            return
        leaves, known = [ref() for ref in last.leaves], hooks is not None and hooks.before is last.values
        now = hooks.values if known else LeafNorms(seen(leaves, []), last.values)
        if (i := last.index) is not None:
            looks = i < SAMPLED[0] or i % SAMPLED[1] == 0
            last.table.settle(i, now.moved, now.along(last.values, last.grads) if looks else math.nan)
        old = hooks.old.norms if known and hooks.old is not None else None
        if known and old is None:
            return
        watch = False
        for k, (leaf, moved) in enumerate(zip(leaves, now.moved, strict=False)):
            grad = None if leaf is None else leaf.grad
            if grad is None or not (old[k] if old is not None else numbers(grad, grad.requires_grad).any()):
                self._kept_grad.pop(id(leaf), None)
            elif moved > 0.0:
                if id(leaf) in self._kept_grad:
                    self.added.setdefault(last.table.names[k], self._kept_grad[id(leaf)])
                else:
                    self._kept_grad[id(leaf)], watch = step, True
        if watch and hooks is None:  # does it move again, by the sum that this pass accumulates?
            self.pending[get_ident()] = Pending(last.table, None, last.leaves, now, None)

    def found(self, steps: list[int], reached: set[str]) -> Iterator[tuple[str, int, str, str, bool]]:
        """(kind, step, name, text, whether it is an alarm) for everything that was seen."""
        for kind, known in (("missing", self.missing), ("frozen", self.frozen)):
            if left := {name: step for name, step in known.items() if name not in reached}:
                get, are, it = agree(left, "gets", "get"), agree(left, "is", "are"), agree(left, "it", "them")
                text = f"{listed(left)} {are} frozen: requires_grad is False, so no gradient is computed."
                if kind == "missing":
                    text = f"{listed(left)} {get} no gradient: no path from the loss reaches {it}."
                yield kind, min(left.values()), next(iter(left)), text, kind == "missing"
        if self.added:
            first = min(self.added.values())
            text = f"Gradients add up from step to step: at step {first}, .grad of {listed(self.added)} still held "
            text += "the gradient of the step before, which had already been used. Is optimizer.zero_grad() called?"
            yield "accumulate", first, next(iter(self.added)), text, True
        if self.in_eval:
            first, names = min(self.in_eval.values()), self.in_eval
            does = ["running statistics are used but not updated"] * any("BatchNorm" in n for n in names)
            does += ["nothing is dropped"] * any("Dropout" in n for n in names)
            text = f"{listed(names)} {agree(names, 'is', 'are')} in eval mode"
            if self.was_training & names.keys():
                has = agree(names, "has", "have")
                text = f"{listed(names)} {has} been in eval mode since step {first}, after training mode"
            text += f": {', and '.join(does)}."
            yield "eval", first, next(iter(names)), text, False


def findings_of(film: Any, analyses: dict[int, SceneAnalysis]) -> list[Finding]:
    """Everything that a film shows, in words, ordered. ``analyses``: those of its scenes."""
    training: TrainingState = film._training
    steps, losses, scene_of = film.steps, film.losses, film._scene_of
    out: list[Finding] = []
    if (step := training.graphless) is not None:
        text = f"The loss of step {step} has no graph, so no parameter gets a gradient from it: it was made from a number, "
        text += "such as loss.item(), or detached, and itself requires grad."
        out.append(Finding("missing", step, step, "", "", text))
    groups = {n: frozenset(a.table.names) for n, a in analyses.items()}
    frames: dict[frozenset, list[int]] = {}
    for frame, scene in enumerate(scene_of):
        if scene in groups:
            frames.setdefault(groups[scene], []).append(frame)
    alone = max(map(len, frames.values()), default=0) > 0.9 * sum(map(len, frames.values()))
    curves = {g: LossCurve([losses[i] for i in at], at, alone) for g, at in frames.items()}
    for n, analysis in analyses.items():
        out += analysis.found(curves[groups[n]])
    nan = sorted((f for f in out if f.kind == "nan"), key=lambda f: f.step)
    out = [f for f in out if f not in nan[1:]]  # the first over all scenes counts

    def make(kind: str, first: int, last: int, node: str, text: str, alarm: bool, scene: int) -> Finding:
        return Finding(kind, steps[first], steps[last], "", node, text, alarm, None, scene, (first, last, 0))

    reached = {name for a in analyses.values() for name in a.table.names}
    for kind, step, node, text, alarm in training.found(steps, reached):
        first = next((i for i, s in enumerate(steps) if s >= step), 0)
        out.append(make(kind, first, len(steps) - 1, node, text, alarm, scene_of[first]))
    if not training.in_eval:  # the modules themselves may be out of sight
        for n, a in analyses.items():
            kept = zip(a.table.scene.names, a.table.info.fixed, strict=True)
            if node := next((name for name, saved in kept if saved.get("_saved_training") is False), ""):
                text = f"{node} is in eval mode: it uses running statistics and does not update them."
                out.append(make("eval", a.at[0], a.at[-1], node, text, False, n))
    for node, text, alarm in _unstepped([*analyses.values()]):
        scene = next(n for n, a in analyses.items() if node in a.table.names)
        out.append(make("unstepped", analyses[scene].at[0], len(steps) - 1, node, text, alarm, scene))
    for group, curve in curves.items():
        classes = next((a.table.info.classes for n, a in analyses.items() if groups[n] == group), None)
        trend = curve.trend(math.log(classes) if classes else None)
        if len(curve.at) < 0.9 * len(steps) or trend is None:
            continue
        first, last = curve.at[0], curve.at[-1]
        a, b = loss_text(curve.start), loss_text(curve.end)
        text = {
            "runaway": f"The loss runs away below 0: from {a} to {b}.",
            "rising": f"The loss rises: from {a} to {b}.",
            "flat": f"The loss is flat: {a} in the first frames, {b} in the last.",
        }[trend]
        out.append(make(trend, first, last, "", text, True, next(n for n, g in groups.items() if g == group)))
    facts: dict[tuple, Finding] = {}  # what is seen of one function in several graphs is reported once
    seen_in = [f if f.alarm else facts.setdefault((f.kind, f.row, f.node), f) for f in out]
    return ordered([f for f, first in zip(out, seen_in, strict=True) if f.scene == first.scene])


def _unstepped(analyses: list[SceneAnalysis]) -> Iterator[tuple[str, str, bool]]:
    """(leaf, text, alarm) of parameters that get a gradient in every graph that has them, and never move."""
    never = {a: a.never_moved() for a in analyses}
    trained = [zip(a.table.names, a.table.trained.tolist(), strict=True) for a in analyses]
    every = list(dict.fromkeys(name for pairs in trained for name, is_trained in pairs if is_trained))
    still = [name for name in every if all(name in never[a] for a in analyses if name in a.table.names)]
    if still and len(still) == len(every):
        inputs = [name for a in analyses for name in a.inputs_moved()]
        text = "No parameter moves, though each gets a gradient"
        ask = "Is optimizer.step() called, with these parameters and a learning rate that is large enough?"
        does = inputs and f"{listed(inputs)} {agree(set(inputs), 'moves', 'move')}"
        yield still[0], f"{text}; {does}." if does else f"{text}. {ask}", not inputs
    elif still:
        text = agree(still, "gets a gradient but never moves", "get gradients but never move")
        ask = agree(still, "Is it", "Are they")
        yield still[0], f"{listed(still)} {text}, while other parameters do. {ask} in the optimizer?", True
