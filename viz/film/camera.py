"""One frame: hooks on the functions of a graph while its backward pass runs, and what they saw.

A hook looks and returns nothing, so the pass is the one that runs without it, the user's own hooks included; whatever goes
wrong while looking makes a number unknown. The hooks go when the pass ends, however it ends. What a small pass was made of is
held until the next frame, so that the newest can be shown whole (again.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from types import FrameType
from typing import Any

from .moves import Leaves, seen
from .norms import UNKNOWN, alive, length_of, numbers
from .scene import Arrow, Scene, stem


class Shot:
    """The hooks of one pass. ``norms`` are those of the arrows, ``joined`` of what functions with several receive.

    ``leaves`` are the live leaves, ``values`` their numbers before the pass, ``before`` what they were at the frame before.
    ``held`` is what functions received and sent, ``saved`` what the nodes kept. ``handles`` is where the hooks' go.
    """

    def __init__(
        self, reel: Any, nodes: list, leaves: list, frame: FrameType, before: Leaves | None, handles: list
    ):
        self.scene, self.about = scene, about = reel.scene, reel.about
        self.leaves, self.before = leaves, before
        self.norms = [UNKNOWN] * len(scene.arrows)
        self.joined: dict[int, float] = {}
        self.zeros: dict[int, float] = {}
        self.alive: dict[int, bytes] = {}
        self.fired: list[int] = []
        self.held: dict[int, tuple[tuple, tuple]] = {}
        self.trouble: list[Exception] = []
        old = [leaf.grad for leaf in leaves]
        # where .grad will hold what one arrow brings, and no hook makes something else of it, its norm is taken there, once
        self.alone = alone = tuple(
            [
                a >= 0
                and g is None
                and not getattr(leaf, "_backward_hooks", None)
                and not getattr(leaf, "_post_accumulate_grad_hooks", None)
                for a, g, leaf in zip(scene.only, old, leaves, strict=True)
            ]
        )
        self.values = Leaves(seen(leaves, self.trouble), before)
        self.saved, self.named = about.saved(nodes), about.named(nodes, frame)
        self.old = Leaves(seen(old, self.trouble)) if old.count(None) < len(old) else None
        plan = scene.plans.get(alone)
        if plan is None:
            plan = scene.plans[alone] = list(_plan(scene, alone))
        for f, *looks in plan:
            handles.append(nodes[f].register_hook(partial(self.look, f, *looks)))

    def look(
        self, f: int, sends: list[Look], receives: list[Look], holds: list[int], sent: tuple, received: tuple
    ) -> None:
        self.fired.append(f)
        if self.saved is not None:
            self.held[f] = received, {slot: sent[slot] for slot in holds if slot < len(sent)}
        try:
            for side, looks in ((received, receives), (sent, sends)):
                for nr, arrow, gate in looks:
                    g = side[nr]
                    if g is None:
                        continue
                    a = numbers(g)
                    if arrow is None:
                        self.joined[f] = length_of(a)
                    else:
                        self.norms[arrow] = length_of(a)
                    if gate is not None:
                        self.zeros[gate], self.alive[gate] = alive(a)
        except IndexError:
            pass  # an engine may leave out the gradients of the last inputs
        except Exception as error:  # looking never ends the user's pass: the number is unknown
            self.trouble.append(error)

    def end(self) -> None:
        """After the pass: what .grad of each leaf holds; fills in the arrows that end at one leaf, and lets go of them."""
        self.grads = Leaves(seen([x.grad for x in self.leaves], self.trouble))
        for arrow, alone, norm in zip(self.scene.only, self.alone, self.grads.norms, strict=True):
            if alone:
                self.norms[arrow] = norm
        self.leaves = []

    def broken(self) -> bool:
        """Whether it saw a number that is not finite."""
        return not math.isfinite(sum(self.norms) + sum(self.values.norms) + sum(self.grads.norms))


# slot or output; its arrow (None: a sum); the gate whose zeros are counted
Look = tuple[int, int | None, int | None]


def _plan(scene: Scene, alone: tuple[bool, ...]) -> Iterator[tuple[int, list[Look], list[Look], list[int]]]:
    """(function, what to measure of what it sends, of what it receives, what it sends that is held until the next frame).

    In the first pass of a scene it is every function.
    """
    gates, every = set(scene.gates), not scene.order
    for f in scene.functions:
        if f in scene.covered:
            continue
        arrows, entering = scene.out.get(f, ()), scene.into.get(f, ())
        sends: list[Look] = [
            (a.slot, a.index, f if f in gates and a is arrows[0] else None)
            for a in arrows
            if a.leaf is None or not alone[a.leaf] or (f in gates and a is arrows[0])
        ]
        receives: list[Look] = []
        if len(entering) > 1 or (every and entering):
            receives = [(entering[0].nr, None, None)]
        elif entering and entering[0].source in scene.covered:
            source = entering[0].source
            receives = [(entering[0].nr, entering[0].index, source if source in gates else None)]
        if sends or receives or every:
            yield f, sends, receives, [a.slot for a in arrows if not _in_grad(scene, a, alone)]


def _in_grad(scene: Scene, arrow: Arrow, alone: tuple[bool, ...]) -> bool:
    """Whether what an arrow brings can be read in .grad, as it is or transposed; to hold it would make the engine copy it."""
    relays = (scene.names[scene.edges[e][0]] for e in arrow.edges[1:])
    mine = arrow.leaf is not None and alone[arrow.leaf]
    return mine and (not arrow.hops or [stem(n) for n in relays] == ["T"])


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
