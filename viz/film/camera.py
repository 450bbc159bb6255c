"""One frame: hooks on the functions of a graph while its backward pass runs, and what they saw.

Only numbers are kept. A hook looks and returns nothing, so the pass is the one that runs without it, the user's own hooks
included; whatever goes wrong while looking makes a number unknown. The hooks go when the pass ends, however it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .norms import UNKNOWN, alive, length_of, lengths, numbers
from .scene import Scene


class Shot:
    """The hooks of one pass. ``norms`` are those of the arrows, ``joined`` of what functions with several receive.

    ``leaves`` are the live leaves, ``arrays`` their numbers before the pass (their own memory, where NumPy can see it).
    ``every`` hooks all functions, not only those whose numbers are needed. ``handles`` is where the hooks' go.
    """

    def __init__(self, scene: Scene, nodes: list[Any], handles: list[Any], every: bool = False):
        self.scene = scene
        self.norms = [UNKNOWN] * len(scene.arrows)
        self.joined: dict[int, float] = {}
        self.zeros: dict[int, float] = {}
        self.alive: dict[int, np.ndarray] = {}
        self.fired: list[int] = []
        self.trouble: Exception | None = None
        self.leaves = [nodes[i].variable for i in scene.leaves]
        # where .grad will hold what one arrow brings and nothing else, its norm is taken there, once
        alone = tuple(
            [
                arrow >= 0 and leaf.grad is None and not _hooked(leaf)
                for arrow, leaf in zip(scene.only, self.leaves, strict=True)
            ]
        )
        self.alone = alone
        self.arrays = self.seen([leaf.detach() for leaf in self.leaves])
        self.values = lengths(self.arrays)
        plan = scene.plans.get((every, alone))
        if plan is None:
            plan = scene.plans[every, alone] = list(_plan(scene, alone, every or not scene.order))
        for f, sends, receives in plan:
            handles.append(nodes[f].register_hook(partial(self.look, f, sends, receives)))

    def look(self, f: int, sends: list[Look], receives: Look | None, sent: tuple, received: tuple) -> None:
        self.fired.append(f)
        try:
            for slot, arrow, gate in sends:
                g = sent[slot]
                if g is not None:
                    a = numbers(g)
                    self.norms[arrow] = length_of(a)
                    if gate is not None:
                        self.count(gate, a)
            if receives is not None:
                nr, arrow, gate = receives
                if received[nr] is not None:
                    a = numbers(received[nr])
                    if arrow is None:
                        self.joined[f] = length_of(a)
                    else:
                        self.norms[arrow] = length_of(a)
                    if gate is not None:
                        self.count(gate, a)
        except IndexError:
            pass  # an engine may leave out the gradients of the last inputs
        except Exception as error:  # looking never ends the user's pass: the number is unknown
            self.trouble = error

    def count(self, gate: int, a: np.ndarray) -> None:
        self.zeros[gate], units = alive(a)
        if units is not None:
            self.alive[gate] = units

    def grads(self) -> list[float]:
        """After the pass: the norm of each leaf's .grad; fills in the arrows that end at one leaf."""
        grads = [leaf.grad for leaf in self.leaves]
        norms = lengths(self.seen(grads))
        for arrow, alone, norm in zip(self.scene.only, self.alone, norms, strict=True):
            if alone:
                self.norms[arrow] = norm
        return norms

    def seen(self, tensors: list[Any]) -> list[np.ndarray | None]:
        """The numbers of tensors of the user's; None where one has none to tell (meta, a tracer's)."""
        out = []
        for tensor in tensors:
            try:
                out.append(None if tensor is None else numbers(tensor))
            except Exception as error:
                self.trouble = error
                out.append(None)
        return out


Look = tuple[
    int, int | None, int | None
]  # slot or output; its arrow (None: a sum); the gate whose zeros are counted


def _plan(
    scene: Scene, alone: tuple[bool, ...], every: bool
) -> Iterator[tuple[int, list[Look], Look | None]]:
    """(function, what to measure of what it sends, of what it receives); ``every`` function, or those that are needed."""
    gates, covered = set(scene.gates), set() if every else scene.covered
    for f in scene.functions:
        if f in covered:
            continue
        arrows, entering = scene.out.get(f, ()), scene.into.get(f, ())
        sends: list[Look] = [
            (a.slot, a.index, f if f in gates and a is arrows[0] else None)
            for a in arrows
            if a.leaf is None or not alone[a.leaf] or (f in gates and a is arrows[0])
        ]
        receives: Look | None = None
        if len(entering) > 1 or (every and entering):
            receives = (entering[0].nr, None, None)
        elif entering and entering[0].source in covered:
            source = entering[0].source
            receives = (entering[0].nr, entering[0].index, source if source in gates else None)
        if sends or receives or every:
            yield f, sends, receives


def cover(scene: Scene, shot: Shot) -> None:
    """After the first pass of a scene: functions that need no hook, since whoever they send to sees the very same.

    Where a hook of the user's changes a gradient on its way, it is not the same, and both are hooked.
    """
    for f in scene.functions[1:]:
        arrows = scene.out.get(f, ())
        if len(arrows) != 1 or len(scene.into.get(f, ())) != 1:
            continue
        arrow = arrows[0]
        norm, target = shot.norms[arrow.index], arrow.target
        straight = arrow.leaf is None and not arrow.hops and len(scene.into[target]) == 1
        same = norm != UNKNOWN and shot.joined.get(target) == norm
        if straight and same and scene.into[f][0].source not in scene.covered:
            scene.covered.add(f)
    scene.order = list(shot.fired)
    scene.plans.clear()


def _hooked(leaf: Any) -> bool:
    """Whether somebody may change a leaf's gradient on its way into .grad, or .grad itself."""
    return bool(getattr(leaf, "_backward_hooks", None) or getattr(leaf, "_post_accumulate_grad_hooks", None))
