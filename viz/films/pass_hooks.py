"""The hooks of one frame, on the functions of a graph while its backward pass runs, and what they saw.

A hook only reads and returns nothing, so the pass runs as it would without it, the user's own hooks included; if anything goes
wrong while reading, a number is unknown. The hooks are removed when the pass ends, however it ends. The parts of a small pass
are held until the next frame, so that the newest pass can be replayed (replay.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from ..read.hooks import let_go
from .norms import UNKNOWN, LeafNorms, alive, length_of, numbers, seen
from .scene import Arrow, Scene, operation

GIVEN = {f"_saved_{name}" for name in ("self", "other", "input", "mat1", "mat2")}  # what a function was given
ours = count(1)  # counts the hooks of all films; without a lock, which Ctrl+C could leave locked

# (0: received, 1: sent; the position among these; the arrow, or None for a sum; the gate whose zeros are counted)
Look = tuple[int, int, int | None, int | None]


class PassHooks:
    """The hooks of one pass. ``norms`` are those of the arrows, ``joined`` those of totals (where several arrows end).

    ``leaves`` are the live leaves, ``values`` their numbers before the pass, ``before`` their numbers at the previous frame;
    ``refs`` are the table's references to them, which another thread may replace before the pass ends.
    ``held`` is what functions received and sent, ``saved`` what the nodes kept. ``handles`` collects the hooks' handles.
    """

    def __init__(
        self, table: Any, nodes: list, leaves: list, refs: list, frame: Any, before: Any, handles: list
    ):
        self.scene, self.info = table.scene, table.info
        self.leaves, self.refs, self.before = leaves, refs, before
        self.norms = [UNKNOWN] * len(self.scene.arrows)
        self.joined: dict[int, float] = {}
        self.zeros: dict[int, float] = {}
        self.alive: dict[int, bytes] = {}
        self.sums: dict[int, Any] | None = None  # by arrow, or ~f for what f receives; if all is measured
        self.gates: dict[tuple, list[tuple[int, Any]]] = {}  # by shape: counted together
        self.fired: list[int] = []
        self.held: dict[int, tuple[Sequence, dict]] = {}
        self.arrived: dict[int, list[np.ndarray | None]] = {}  # at functions whose rules are the user's
        self.trouble: list[Exception] = []
        old = [leaf.grad for leaf in leaves]
        self.values = LeafNorms(seen(leaves, self.trouble), before)
        self.saved, self.named = self.info.saved(nodes), self.info.named(nodes, frame)
        self.why_not_saved = "its graph was freed before"
        self.old = LeafNorms(seen(old, self.trouble)) if old.count(None) < len(old) else None
        self._hang(nodes, old, handles)

    def _hang(self, nodes: list, old: list, handles: list) -> None:
        scene, mine = self.scene, 0
        # where .grad will hold what a single arrow brings, its norm is taken there, once
        self.alone = tuple([plain and g is None for plain, g in zip(scene.plain, old, strict=True)])
        plan = scene.plans.get(self.alone)
        if plan is None:
            plan = scene.plans[self.alone] = list(_plan(scene, self.alone, self.sums is not None))
        for f, *looks in plan:
            mine = next(ours)
            handles.append(nodes[f].register_hook(partial(self.look, f, *looks)))
            if f in self.info.custom:
                mine = next(ours)
                handles.append(nodes[f].register_prehook(partial(self.arrive, f)))
        # frameworks count all hooks, ours and the user's
        number = getattr(handles[-1], "id", None) if handles else None
        self.others = None if number is None else number - mine
        if self.sums is None and (self.others is None or scene.others != self.others):
            let_go(handles)
            self.sums, scene.covered, scene.plain, scene.plans = {}, set(), [False] * len(old), {}
            return self._hang(nodes, old, handles)
        self.late = plan if scene.calm and self.sums is None and self.saved is not None else []

    def arrive(self, f: int, received: Sequence) -> None:
        self.arrived[f] = self.copies(received)

    def copies(self, grads: Sequence) -> list[np.ndarray | None]:
        """Copies, in case a user's rule writes into a gradient that it or other functions received."""
        return [None if a is None else a.copy() for a in seen(grads, self.trouble)]

    def look(self, f: int, looks: list[Look], holds: list[int], sent: Sequence, received: Sequence) -> None:
        if self.info.custom:
            received, sent = self.arrived.get(f) or self.copies(received), self.copies(sent)
        if self.saved is not None:
            self.held[f] = received, {slot: sent[slot] for slot in holds if slot < len(sent)}
        if self.sums is not None:
            sides = [[None if g is None else tuple(g.shape) for g in side] for side in (received, sent)]
            self.info.shapes[f] = tuple(sides)
        if not self.late:
            self.fired.append(f)
            self.measure([(f, looks, received, sent)])
            self.count()

    @np.errstate(over="ignore", invalid="ignore")
    def measure(self, seen: Iterable[tuple[int, list[Look], Sequence, Any]]) -> None:
        for f, looks, received, sent in seen:
            try:
                for side, nr, arrow, gate in looks:
                    g = (sent if side else received)[nr]
                    if g is None:
                        continue
                    a = numbers(g)
                    found, key = (self.joined, f) if arrow is None else (self.norms, arrow)
                    found[key] = length_of(a)
                    if gate is not None:
                        self.gates.setdefault(a.shape, []).append((gate, a))
                    if self.sums is not None:
                        self.sums[~f if arrow is None else arrow] = a.sum(dtype=np.result_type(a, np.float64))
            except LookupError:
                pass  # an engine may leave out the gradients of the last inputs
            except Exception as error:  # reading must never end the user's pass: the number is unknown
                self.trouble.append(error)

    def count(self) -> None:
        for gates in self.gates.values():
            for (gate, _), found in zip(gates, alive([a for _, a in gates]), strict=True):
                self.zeros[gate], self.alive[gate] = found
        self.gates.clear()

    def end(self) -> None:
        """After the pass: read .grad of each leaf, fill in the arrows that end at one leaf, and release them."""
        self.measure((f, looks, *self.held.get(f, ((), {}))) for f, looks, _ in self.late)
        self.count()
        self.grads = LeafNorms(seen([x.grad for x in self.leaves], self.trouble), like=self.values)
        for arrow, alone, norm in zip(self.scene.only, self.alone, self.grads.norms, strict=True):
            if alone:
                self.norms[arrow] = norm
        if self.sums is not None:
            self._cover()
            self._first_look()
        self.leaves = []

    def _first_look(self) -> None:
        """What shows only if all is measured: weights whose units are equal and get equal gradients; the number of classes."""
        scene, info = self.scene, self.info
        found = ((a.leaf, _unit_axis(scene, a)) for a in scene.arrows if a.leaf is not None)
        axes = {leaf: axis for leaf, axis in found if axis is not None}
        values, grads = (self.values.arrays, self.grads.arrays) if axes else ([], [])
        equal = [(k, axis) for k, axis in axes.items() if _same_units(values[k], axis)]
        info.alike = [k for k, axis in equal if np.any(grads[k]) and _same_units(grads[k], axis, 1e-4)]
        if operation(scene.names[0]) == "NllLoss" and int(info.fixed[0].get("_saved_reduction", 0)) == 1:
            _, sent = info.shapes.get(scene.out[0][0].target, ((), ()))
            info.classes = sent[0][-1] if sent and sent[0] and len(sent[0]) == 2 else 0

    @np.errstate(over="ignore", invalid="ignore")
    def _cover(self) -> None:
        """Decide what the next frames can skip, now that this one has looked at everything. Valid until a hook is added."""
        scene, sums, covered = self.scene, self.sums, set()
        scene.order = scene.order or self.fired

        def same(arrow: int, norm: float, total: Any) -> bool:
            close = math.isfinite(norm) and math.isclose(self.norms[arrow], norm, rel_tol=1e-6)
            return close and arrow in sums and bool(abs(sums[arrow] - total) <= 1e-9 * norm)

        single = [a for a in scene.arrows if a.leaf is None and len(scene.into[a.target]) == 1]
        known = [a for a in single if a.target in self.joined]
        alike = [a for a in known if same(a.index, self.joined[a.target], sums[~a.target])]
        for a in alike:
            out, into = scene.out[a.source], scene.into.get(a.source, ())
            if not a.hops and len(out) == len(into) == 1 and into[0].source not in covered:
                covered.add(a.source)
        ends = zip(scene.only, self.leaves, self.grads.norms, self.grads.arrays, strict=True)
        plain = [
            g is not None and not hooked(leaf) and same(a, norm, g.sum(dtype=np.result_type(g, np.float64)))
            for a, leaf, norm, g in ends
        ]
        scene.covered, scene.plain, scene.plans, scene.others = covered, plain, {}, self.others
        scene.calm = alike == single and all(plain) and not self.info.custom

    def bad_data(self) -> str:
        """The first data (not results) with NaN or Inf that a function was given, in words; empty if none are known."""
        for i, name in sorted((key for key in self.saved or () if key[1] in GIVEN), reverse=True):
            [array] = seen([self.saved[i, name][0]], self.trouble)
            if array is not None and array.dtype.kind == "f" and not np.isfinite(array).all():
                what = "NaN" if np.isnan(array).any() else "Inf"
                data = self.info.others.get((i, name), "the input")
                return f"{data}, which {self.scene.names[i]} was given, holds {what}"
        return ""

    def broken(self) -> bool:
        """Whether any number seen was not finite."""
        return not math.isfinite(sum(self.norms) + sum(self.values.norms) + sum(self.grads.norms))


def _unit_axis(scene: Scene, a: Arrow) -> int | None:
    """The dimension along which the units of a weight matrix lie; each unit makes one number of the layer's result."""
    made_by = operation(scene.names[a.source])
    passed = [operation(scene.names[scene.edges[e][0]]) for e in a.edges[1:]]
    if made_by == "Convolution":
        return 0
    if made_by not in ("Mm", "Addmm") or passed not in ([], ["T"]):
        return None
    last = a.slot == (1 if made_by == "Mm" else 2)
    return int(last) if not passed else int(not last)


def _same_units(array: np.ndarray | None, axis: int, within: float = 0.0) -> bool:
    """Whether all units have the same numbers, to within this fraction of the largest."""
    if array is None or array.ndim < 2 or array.shape[axis] < 2:
        return False
    one = array.take([0], axis)
    return bool((np.abs(array - one) <= within * np.abs(one).max(initial=0.0)).all())


def hooked(leaf: Any) -> bool:
    """Whether the user's hooks may change a leaf's gradient, now or later."""
    return any(getattr(leaf, f"_{kind}_hooks", None) for kind in ("backward", "post_accumulate_grad"))


def _plan(scene: Scene, alone: tuple[bool, ...], every: bool) -> Iterator[tuple[int, list[Look], list[int]]]:
    """(function, what to measure there, what it sends that is held until the next frame)."""
    gates, covered = set(scene.gates), scene.covered
    for f in scene.functions:
        if f in covered:
            continue
        arrows, entering = scene.out.get(f, ()), scene.into.get(f, ())
        looks: list[Look] = []
        if len(entering) > 1 or (every and entering):
            looks = [(0, entering[0].nr, None, None)]
        elif entering and (source := entering[0].source) in covered:
            looks = [(0, entering[0].nr, entering[0].index, source if source in gates else None)]
        for a in arrows:
            gate = f if f in gates and a is arrows[0] else None
            if gate is not None or a.leaf is None or not alone[a.leaf]:
                looks.append((1, a.slot, a.index, gate))
        sent = {slot for side, slot, *_ in looks if side}
        holds = [a.slot for a in arrows if a.slot in sent or not _in_grad(scene, a, alone)]
        if looks or holds or every:
            yield f, looks, holds


def _in_grad(scene: Scene, arrow: Arrow, alone: tuple[bool, ...]) -> bool:
    """Whether what an arrow brings can be read in .grad, as it is or transposed; holding it would make the engine copy it."""
    relays = [operation(scene.names[scene.edges[e][0]]) for e in arrow.edges[1:]]
    return arrow.leaf is not None and alone[arrow.leaf] and (not arrow.hops or relays == ["T"])
