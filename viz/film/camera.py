"""One frame: hooks on the functions of a graph while its backward pass runs, and what they saw.

Only numbers are kept. A hook looks and returns nothing, so the pass is the one that runs without it, the user's own hooks
included; whatever goes wrong while looking makes a number unknown. The hooks go when the pass ends, however it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .norms import alive, length, length_of, numbers
from .scene import Scene, uses


class Shot:
    """The hooks of one pass. ``norms`` are those of the arrows, ``joined`` of what functions with several receive."""

    def __init__(self, scene: Scene, nodes: list[Any]):
        self.scene = scene
        self.norms: list[float | None] = [None] * len(scene.arrows)
        self.joined: dict[int, float] = {}
        self.zeros: dict[int, float] = {}
        self.alive: dict[int, np.ndarray] = {}
        self.fired: list[int] = []
        self.sent: dict[int, np.ndarray] = {}
        self.trouble: Exception | None = None
        self.leaves = [nodes[i].variable for i in scene.leaves]
        # where .grad holds what this one arrow brings and nothing else, its norm is taken there, once
        self.alone = [
            len(uses(scene, k)) == 1 and leaf.grad is None and not _hooked(leaf)
            for k, leaf in enumerate(self.leaves)
        ]
        self.handles: list[Any] = []
        joins = set(scene.joins)
        try:
            for f in scene.functions:
                wanted = [
                    (a.slot, a.index)
                    for a in scene.out.get(f, ())
                    if a.leaf is None or not self.alone[a.leaf]
                ]
                nr = scene.into[f][0].nr if f in joins else None
                gate = scene.out[f][0].slot if f in scene.gates else None
                if wanted or nr is not None or gate is not None or not scene.order:
                    self.handles.append(nodes[f].register_hook(self.look(f, wanted, nr, gate)))
        except BaseException:
            self.done()
            raise

    def look(self, f: int, wanted: list[tuple[int, int]], nr: int | None, gate: int | None) -> Callable:
        norms, fired = self.norms, self.fired

        def hook(sent: tuple, received: tuple) -> None:
            fired.append(f)
            try:
                for slot, arrow in wanted:
                    g = sent[slot] if slot < len(sent) else None
                    if g is not None:
                        norms[arrow] = length(g)
                if nr is not None and nr < len(received) and received[nr] is not None:
                    self.joined[f] = length(received[nr])
                if gate is not None and gate < len(sent) and sent[gate] is not None:
                    self.zeros[f], units = alive(numbers(sent[gate]))
                    if units is not None:
                        self.alive[f] = units
            except Exception as error:  # looking never ends the user's pass: the number is unknown
                self.trouble = error

        return hook

    def done(self) -> None:
        """Take the hooks away."""
        for handle in self.handles:
            handle.remove()
        self.handles.clear()

    def finish(self) -> tuple[list[float | None], list[float | None]]:
        """After the pass: the norm of each leaf's value and of its .grad; fills in the arrows that end at one leaf."""
        values: list[float | None] = []
        grads: list[float | None] = []
        for k, leaf in enumerate(self.leaves):
            grad = leaf.grad
            norm = None if grad is None else self.seen(grad)
            grads.append(norm)
            values.append(self.seen(leaf))
            if self.alone[k]:
                self.norms[uses(self.scene, k)[0].index] = norm
        return values, grads

    def seen(self, tensor: Any) -> float | None:
        """The norm of a tensor of the user's, or None where it has none to tell (meta, a tracer's)."""
        try:
            return length_of(numbers(tensor.detach()))
        except Exception as error:
            self.trouble = error
            return None


def _hooked(leaf: Any) -> bool:
    """Whether somebody may change a leaf's gradient on its way into .grad, or .grad itself."""
    return bool(getattr(leaf, "_backward_hooks", None) or getattr(leaf, "_post_accumulate_grad_hooks", None))
