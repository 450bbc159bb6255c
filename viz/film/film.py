"""The film of a training run: ``backward`` in place of ``loss.backward()``, a frame now and then, and what was seen."""

from __future__ import annotations

import math
import sys
import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import is_
from pathlib import Path
from types import FrameType
from typing import Any

from ..read.hooks import hanging, let_go
from ..read.names import overrides, variables
from ..read.text import one_line, plural
from .again import About, Again, whole
from .camera import Shot
from .findings import Finding, Looker, ranked
from .moves import Leaves, seen
from .reel import Reel
from .rows import Row, arrange
from .scene import read, walk

MOST_SCENES = 20  # of more, the most frequent are laid out


class Film:
    """A film of a training run: call ``film.backward(loss)`` where ``loss.backward()`` stood; then show it, or ``save`` it.

    every: a frame each so many steps (a step is one call of ``film.backward``). keep: steps whose pass is kept whole, to be
    stepped through inside the film; so are always the last and the first with a NaN or Inf. The newest pass is held until the
    next frame for that, where its graph has up to 600 nodes that save up to 16 million numbers and no hooks pack these; of
    others the film says that they are not kept whole, and why. names: ``{"w": tensor}``, wins over the caller's variables.
    title: shown above it. Raises ValueError where ``every`` is not a whole number of steps.

    Works on minigrad and PyTorch alike, through public hooks on the nodes, which go when the pass ends. Other frames keep norms
    only. ``steps`` are the training steps of the frames, ``losses`` their losses, ``findings`` what is seen in them, in words.
    """

    def __init__(
        self, every: int = 1, keep: Iterable[int] = (), names: Mapping | None = None, title: str | None = None
    ):
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(f"every= must be a whole number of steps, 1 or more, got {every!r}")
        self.every, self.keep, self.title = every, frozenset(map(int, keep)), title
        list(overrides(names))  # complains here, not in the middle of a training run
        self.given = names
        self.passes = 0  # backward passes so far: the next is that step
        self._steps = array("q")
        self._losses = array("d")
        self._unknown: set[int] = set()  # frames whose loss is not one number
        self.scene_of: list[int] = []
        self.reels: list[Reel] = []
        self.notes: list[str] = []  # what could not be seen, and why
        self.kept: dict[str, dict] = {}  # frame -> the stepper's payload of its whole pass
        self.broken = False  # a loss was not finite
        self.missing: dict[str, int] = {}  # parameters that no gradient reached -> first step
        self._by_shape: dict[Any, list[int]] = {}
        self._pending: tuple[Reel, int, list, Leaves] | None = None  # whose updates are not known yet
        self._newest: tuple | None = None  # what is held of the newest frame
        self._last: dict[str, dict] = {}  # it whole, once it was shown
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        seen = [x for x in self.losses if x is not None]
        loss = f", loss {_brief(seen[0])} → {_brief(seen[-1])}" if seen else ""
        return f"Film({plural(len(self), 'frame')} of {plural(self.passes, 'step')}{loss})"

    def __len__(self) -> int:
        return len(self._steps)

    steps = property(lambda self: self._steps.tolist())
    losses = property(lambda self: [None if k in self._unknown else x for k, x in enumerate(self._losses)])

    def backward(
        self,
        loss: Any,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """``loss.backward(...)`` with the same arguments, and one frame where this step is one of those to film.

        Raises what backward raises. Whatever goes wrong while looking is a line in ``notes``, never an exception.
        """
        given = {"gradient": gradient, "retain_graph": retain_graph, "create_graph": create_graph or None}
        options = {key: value for key, value in (given | {"inputs": inputs}).items() if value is not None}
        with self._lock:
            step = self.passes
            self.passes += 1
        if step % self.every and step not in self.keep:
            if self._pending is not None:
                self._settle()
            loss.backward(**options)
            return
        self._film(loss, step, options, sys._getframe(1))

    def _film(self, loss: Any, step: int, options: dict, frame: FrameType) -> None:
        if (taken := hanging(partial(self._shoot, loss, step, options, frame))) is None:
            return
        shot, reel, number, value = taken
        try:
            shot.end()
            with self._lock:
                self._steps.append(step)
                self._losses.append(math.nan if value is None else value)
                self.scene_of.append(number)
                here = len(self._steps) - 1
                self._unknown |= {here} if value is None else set()
                reel.add(here, shot)
                self._pending = reel, len(reel.at) - 1, reel.leaves, shot.values
                self._newest = here, shot, loss.detach(), getattr(loss, "output_nr", 0), options
                first = not self.broken and (shot.broken() or not (value is None or math.isfinite(value)))
                self.broken = self.broken or first
                if shot.trouble:
                    self._note(shot.trouble[0], step)
                if first or step in self.keep:
                    if unkept := self.unkept():
                        self._note(unkept)
                    else:
                        self.kept |= self._keep()
        except Exception as error:
            self._note(error, step)

    def _shoot(self, loss: Any, step: int, options: dict, frame: FrameType, handles: list) -> tuple | None:
        """The pass, with the hooks of a shot; None where it cannot be filmed."""
        shot = None
        try:
            if getattr(loss, "grad_fn", None) is not None:
                value = _one_number(loss)
                nodes, shape = walk(loss.grad_fn)
                with self._lock:
                    reel, number, leaves = self._reel(nodes, shape, frame, step)
                    before = self._pending[3] if self._pending and self._pending[2] is reel.leaves else None
                shot = Shot(reel, nodes, leaves, frame, before, handles)
                del nodes  # a node's wrapper that is held past the pass keeps the graph alive
        except Exception as error:
            let_go(handles)
            self._note(error, step)
        self._settle(shot)
        loss.backward(**options)
        return None if shot is None else (shot, reel, number, value)

    def _keep(self) -> dict[str, dict]:
        """The newest frame whole, which is still held: its number -> the stepper's payload."""
        here, shot, loss, output_nr, options = self._newest
        again = Again(shot, loss, options.get("gradient"), output_nr, self.reels[self.scene_of[here]])
        return {str(here): whole(again, options)}

    def unkept(self) -> str:
        """Why the newest frame, so far the last, cannot be shown whole; empty where it can."""
        if self._newest is None or self._newest[1].saved is not None:
            return ""
        here, shot, *_ = self._newest
        return f"step {self._steps[here]} is not kept whole: {shot.about.why or 'its graph was freed before'}"

    def whole(self) -> dict[str, dict]:
        """Frame -> the stepper's payload, of the frames that are kept whole; the last is one of them where it is small."""
        with self._lock:
            here, shot, *_ = self._newest or (None, None)
            if shot is not None and shot.saved is not None and str(here) not in {**self.kept, **self._last}:
                try:
                    self._last = self._keep()
                except Exception as error:
                    self._note(error, self._steps[here])
            return {**self._last, **self.kept}

    def _settle(self, shot: Shot | None = None) -> None:
        """The pass after a frame begins: how far has each leaf moved since then?"""
        with self._lock:
            pending, self._pending = self._pending, None
        if pending is None:
            return
        reel, index, leaves, before = pending
        try:
            known = shot is not None and shot.before is before
            now = shot.values if known else Leaves(seen([ref() for ref in leaves], []), before)
            reel.settle(index, now.moved)
        except Exception as error:
            self._note(error, self._steps[reel.at[index]])

    def _note(self, what: str | Exception, step: int = 0) -> None:
        told = what if isinstance(what, str) else f"step {step}: {type(what).__name__}: {what}"
        text = one_line(told)[:200]
        with self._lock:
            if len(self.notes) < 20:
                self.notes.append(text)

    def _reel(self, nodes: list[Any], shape: Any, frame: FrameType, step: int) -> tuple[Reel, int, list]:
        """The scene that this graph belongs to: the same shape, and the same leaves where those still live."""
        known = self._by_shape.setdefault(shape, [])
        for number in known:
            reel = self.reels[number]
            leaves = [nodes[i].variable for i in reel.scene.leaves]
            alive = [ref() for ref in reel.leaves]
            if all(map(is_, alive, leaves)):
                return reel, number, leaves
            if all(old is leaf or old is None for old, leaf in zip(alive, leaves, strict=True)):
                reel.follow(leaves)
                return reel, number, leaves
        scene = read(shape)
        leaves = [nodes[i].variable for i in scene.leaves]
        called = [(one_line(name), tensor) for name, tensor in [*overrides(self.given), *variables(frame)]]
        names = self._names(leaves, called, step)
        for number in known:
            if self.reels[number].names == names:  # other tensors in the same variables: a new batch, say
                self.reels[number].follow(leaves)
                return self.reels[number], number, leaves
        reel = Reel(scene, leaves, names)
        reel.about = About(scene, nodes, called, frame)
        known.append(len(self.reels))
        self.reels.append(reel)
        return reel, len(self.reels) - 1, leaves

    def _names(self, leaves: list[Any], called: list[tuple[str, Any]], step: int) -> list[str]:
        """What the caller calls the leaves. Notes parameters of the same models that are not in this graph."""
        wanted = {id(leaf): k for k, leaf in enumerate(leaves)}
        names: dict[int, str] = {}
        others: dict[str, Any] = {}
        for name, tensor in called:
            k = wanted.get(id(tensor))
            if k is not None:
                names.setdefault(k, name)
            elif "." in name and tensor.requires_grad and tensor.grad_fn is None and tensor.grad is None:
                others.setdefault(name, tensor)
        models = {name.split(".")[0] for name in names.values() if "." in name}
        for name in others:
            if name.split(".")[0] in models:
                self.missing.setdefault(name, step)
        return [names.get(k, f"leaf {k + 1}") for k in range(len(leaves))]

    # ---- what was seen

    def scenes(self) -> list[tuple[int, Reel, list[Row]]]:
        """The scenes that are laid out: (number, reel, rows), the most frequent ones where there are more than 20."""
        with self._lock:
            chosen = sorted(range(len(self.reels)), key=lambda n: (-len(self.reels[n].at), n))[:MOST_SCENES]
            return [(n, r, arrange(r.scene, r.names)) for n, r in enumerate(self.reels) if n in chosen]

    def lookers(self) -> dict[int, Looker]:
        """By the number of the scene: its numbers by row."""
        steps = self.steps
        return {n: Looker(reel, rows, steps, self.losses, n) for n, reel, rows in self.scenes() if reel.at}

    @property
    def findings(self) -> list[Finding]:
        """What is seen, the most important first: each with its step, row and node."""
        with self._lock:
            out = [found for look in self.lookers().values() for found in look.found()]
            reached = {name for reel in self.reels for name in reel.names}
            missing = {name: step for name, step in self.missing.items() if name not in reached}
            if missing and len(self):
                step, last, first = min(missing.values()), self._steps[-1], next(iter(missing))
                listed = ", ".join([*missing][:3]) + f" and {len(missing) - 3} more" * (len(missing) > 3)
                get = "gets" if len(missing) == 1 else "get"
                text = f"{listed} {get} no gradient: no path leads there from the loss."
                place = (next((i for i, s in enumerate(self.steps) if s >= step), 0), len(self.steps) - 1, 0)
                out.append(Finding("missing", step, last, "", first, text, self.scene_of[place[0]], place))
            nan = [f for f in out if f.kind == "nan"]
            late = sorted(nan, key=lambda f: f.step)[1:]  # the first of all scenes is the one that counts
            return ranked([f for f in out if f not in late])

    # ---- showing it

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        from .show import bundle

        return bundle([self], repr(self), **kwargs)

    def put_beside(self, *others: Any, labels: Sequence[str] | None = None) -> Any:
        """This film and others on one scale and one axis of steps; see ``viz.beside``. TypeError for what is no film."""
        from .show import Films

        return Films([self, *others], labels)

    def save(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write the film to ``path``: .html, a page that plays from disk; .gif, the frames animated. ValueError for others."""
        from .show import save

        return save([self], path, title)


def _brief(x: float) -> str:
    return f"{x:.2g}" if not 99.5 <= abs(x) < 1e4 else f"{x:.0f}"


def _one_number(loss: Any) -> float | None:
    """The loss, where it is one number."""
    try:
        value = loss.item()
    except (RuntimeError, ValueError):
        return None
    return None if isinstance(value, complex) else float(value)
