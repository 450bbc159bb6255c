"""The film of a training run: ``backward`` instead of ``loss.backward()``, a frame now and then, and what was seen."""

from __future__ import annotations

import math
import sys
import threading
from array import array
from collections.abc import Iterable, Mapping
from functools import partial
from types import FrameType
from typing import Any

from ..read.arguments import Names, Tensor, Tensors, public
from ..read.graph import is_tensor
from ..read.hooks import hanging, let_go
from ..read.names import overrides, reachable
from ..read.text import one_line, plural
from .analysis import SceneAnalysis
from .findings import Finding
from .frame_table import FrameTable
from .norms import numbers
from .pass_hooks import PassHooks
from .replay import ReplayedPass, SceneInfo
from .rows import Row, arrange
from .scene import read, walk
from .show import Played
from .training import TrainingState, findings_of

Data = dict[str, Any]
MOST_SCENES = 20  # if there are more scenes than this, only the most frequent are laid out


@public
def film(every: int = 1, keep: Iterable[int] = (), names: Names = None, title: str | None = None) -> Film:
    """Film a training run: call ``film.backward(loss)`` instead of ``loss.backward()``, then show the film, or ``save`` it.

    * every: record a frame every ``every`` steps (a step is one call of ``film.backward``).
    * keep: a list of steps whose whole backward pass is kept, to be stepped through inside the film. The last step, and the
      first with NaN or Inf, are always kept. A pass is kept if its graph has up to 600 nodes and saves up to 16
      million numbers, without hooks that pack them; for the others the film's ``notes`` give the reason.
    * names: names for tensors, as in ``viz.draw``. They override the names of the caller's variables.
    * title: shown above the film.

    Returns a :class:`Film`. Raises TypeError or ValueError for arguments of the wrong kind, and says what is expected.
    """
    return Film(every, keep, names, title)


class Film(Played):
    """The film of a training run, made by :func:`viz.film`, which describes the arguments.

    Works on minigrad and PyTorch alike, through public hooks on the nodes, which are removed when the pass ends. Frames hold
    norms only, except those that are kept. ``steps`` are the training steps of the frames, ``losses`` their losses (None where
    a loss is not one number), ``findings`` what was seen in them, ``notes`` what could not be seen, and why.
    """

    def __init__(
        self, every: int = 1, keep: Iterable[int] = (), names: Names = None, title: str | None = None
    ):
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            instead = ". Call film = viz.film() first, then film.backward(loss)" if is_tensor(every) else ""
            got = f"{one_line(repr(every))[:60]}{instead}"
            raise ValueError(f"every= must be a whole number of steps, 1 or more, got {got}")
        if title is not None and not isinstance(title, str):
            raise TypeError(f"title= must be a string, got {type(title).__name__}")
        self.every, self.keep, self.title = every, _steps_of(keep), title and one_line(title)
        self._films = [self]
        self._given_names = list(overrides(names))  # complains here, not in the middle of a training run
        self._passes = 0  # backward passes so far: the number of the next step
        self._steps, self._losses = array("q"), array("d")
        self._unknown: set[int] = set()  # frames whose loss is not one number
        self._scene_of: list[int] = []
        self._tables: list[FrameTable] = []
        self._notes: list[str] = []
        self._training = TrainingState()
        self._broken = False  # a number was not finite
        self._by_shape: dict[Any, list[FrameTable]] = {}
        self._newest: tuple[Any, ...] | None = None  # the data held for the newest frame
        self._replayed: dict[int, ReplayedPass] = {}  # by frame: passes that are kept
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        seen = [x for x in self.losses if x is not None]
        # two digits: engines differ in the third
        loss = f", loss {seen[0]:.2g} → {seen[-1]:.2g}" if seen else ""
        return f"Film({plural(len(self), 'frame')} of {plural(self._passes, 'step')}{loss})"

    def __len__(self) -> int:
        return len(self._steps)

    def __bool__(self) -> bool:
        return True  # ``film or viz.film()``: a film that has no frame yet is still the one to use

    steps = property(lambda self: self._steps.tolist(), doc="The training step of each frame.")
    losses = property(
        lambda self: [None if k in self._unknown else x for k, x in enumerate(self._losses)],
        doc="The loss of each frame, None where it is not one number.",
    )

    @property
    def notes(self) -> list[str]:
        """What could not be seen, and why."""
        with self._lock:
            self._hold_newest()
            return list(dict.fromkeys([*filter(None, [self._why_not_kept()]), *self._notes]))

    def backward(
        self,
        loss: Tensor,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensors | None = None,
    ) -> None:
        """``loss.backward(...)`` with the same arguments, and a frame if this step is to be filmed.

        Raises what backward raises, and TypeError for a loss that is not a tensor. Anything that goes wrong while filming
        becomes a line in ``notes``, never an exception.
        """
        if not is_tensor(loss):
            got = type(loss).__name__
            raise TypeError(f"film.backward needs the loss, a tensor computed from the parameters; got {got}")
        named = {"gradient": gradient, "retain_graph": retain_graph, "create_graph": create_graph or None}
        options = {key: value for key, value in (named | {"inputs": inputs}).items() if value is not None}
        with self._lock:
            step, self._passes = self._passes, self._passes + 1
        if step % self.every and step not in self.keep:
            self._settle(step)
            loss.backward(**options)
            return
        self._film(loss, step, options, sys._getframe(1))

    def _film(self, loss: Any, step: int, options: Data, frame: FrameType) -> None:
        if (taken := hanging(partial(self._run, loss, step, options, frame))) is None:
            return
        hooks, table, value = taken
        try:
            hooks.end()
            with self._lock:
                self._steps.append(step)
                self._losses.append(math.nan if value is None else value)
                self._scene_of.append(table.number)
                here = len(self._steps) - 1
                self._unknown |= {here} if value is None else set()
                table.add(here, hooks)
                self._training.after(table, hooks, step)
                self._newest = here, hooks, loss.detach(), getattr(loss, "output_nr", 0), options
                first = not self._broken and (hooks.broken() or not (value is None or math.isfinite(value)))
                if first:
                    table.info.bad_data = hooks.bad_data()
                self._broken = self._broken or first
                if hooks.trouble:
                    self._note(f"step {step}: some numbers could not be read", hooks.trouble[0])
                if first or step in self.keep:
                    if reason := self._why_not_kept():
                        self._note(reason)
                    else:
                        self._hold_newest(for_good=True)
        except Exception as error:
            self._note(f"step {step}: this frame is not complete", error)

    def _run(self, loss: Any, step: int, options: Data, frame: FrameType, handles: list[Any]) -> Any:
        """Run the pass with our hooks; None where it cannot be filmed."""
        hooks = None
        try:
            if getattr(loss, "grad_fn", None) is None:
                if loss.requires_grad and self._training.graphless is None:
                    self._training.graphless = step
            else:
                array = numbers(loss, tracked=True)
                value = float(array.sum()) if array.size == 1 and array.dtype.kind != "c" else None
                nodes, shape = walk(loss.grad_fn)
                with self._lock:
                    table, leaves = self._table_of(nodes, shape, frame, step)
                    before, refs = self._training.values_of(table), table.leaves
                    self._training.look(step)
                hooks = PassHooks(table, nodes, leaves, refs, frame, before, handles)
                del nodes  # holding a node's wrapper past the pass would keep the graph alive
        except Exception as error:
            let_go(handles)
            self._note(f"step {step} is not filmed", error)
        self._settle(step, hooks)
        loss.backward(**options)
        return None if hooks is None else (hooks, table, value)

    def _settle(self, step: int, hooks: PassHooks | None = None) -> None:
        """At the beginning of a pass, measure how far each leaf has moved since the previous frame."""
        try:
            with self._lock:
                self._training.before(step, hooks)
        except Exception as error:
            self._note(f"step {step}: the change made by the step before is not known", error)

    def _note(self, text: str, error: Exception | None = None) -> None:
        """Note what could not be seen, with the message of a framework's error if that is a sentence."""
        is_sentence = isinstance(error, RuntimeError | ValueError | TypeError | ArithmeticError)
        reason = str(error) if is_sentence else ""
        text = one_line(f"{text}: {reason}" if " " in reason else text)[:200]
        with self._lock:
            if len(self._notes) < 20:
                self._notes.append(text)

    def _table_of(self, nodes: list[Any], shape: Any, frame: FrameType, step: int) -> tuple[FrameTable, Any]:
        """The table for this graph (an earlier one if the shape and the leaves, or their names, are the same); its leaves."""
        known = self._by_shape.setdefault(shape, [])
        for table in known:
            leaves = [nodes[i].variable for i in table.scene.leaves]
            alive = [ref() for ref in table.leaves]
            if all(old is leaf or old is None for old, leaf in zip(alive, leaves, strict=True)):
                if any(old is None for old in alive):
                    table.follow(leaves)
                return table, leaves
        scene = read(shape)
        leaves = [nodes[i].variable for i in scene.leaves]
        tensors, modules = reachable(frame)
        called = [(one_line(name), tensor) for name, tensor in [*self._given_names, *tensors]]
        paths = self._training.meet(leaves, called, modules, step)
        paths |= {id(x): one_line(name) for name, x in self._given_names}
        of = {id(x): name for name, x in reversed(called)} | paths
        names = [of.get(id(leaf), f"leaf {k + 1}") for k, leaf in enumerate(leaves)]
        for table in known:
            if table.names == names:  # other tensors in the same variables: a new batch, say
                table.follow(leaves)
                return table, leaves
        info = SceneInfo(scene, nodes, called, modules)
        known.append(FrameTable(len(self._tables), scene, info, leaves, names))
        self._tables.append(known[-1])
        return known[-1], leaves

    # ---- passes that are kept

    def _why_not_kept(self) -> str:
        """Why the newest frame cannot be shown whole; empty if it can."""
        here, hooks, *_ = self._newest or (None, None)
        why = "" if hooks is None or hooks.saved is not None else hooks.info.why or hooks.why_not_saved
        return why and f"step {self._steps[here]} is not kept in full: {why}"

    def _hold_newest(self, for_good: bool = False) -> None:
        """Copy what the newest frame still holds, so that its pass can be replayed; nothing is laid out."""
        here, hooks, loss, output_nr, options = self._newest or (None,) * 5
        if hooks is None or hooks.saved is None:
            return
        if here not in self._replayed:
            self._replayed = {k: old for k, old in self._replayed.items() if old.for_good}
            table = self._tables[self._scene_of[here]]
            try:
                self._replayed[here] = ReplayedPass(hooks, loss, options, output_nr, table)
            except Exception as error:
                hooks.saved, hooks.why_not_saved = None, "its numbers could not be read again"
                self._note(self._why_not_kept(), error)
                return
        self._replayed[here].for_good |= for_good

    def _kept_passes(self) -> dict[str, Data]:
        """{frame: the stepper's payload} for the frames that are kept whole, which are laid out here."""
        with self._lock:
            self._hold_newest()
            kept: dict[str, Data] = {}
            for here in sorted(self._replayed):
                try:
                    kept[str(here)] = dict(self._replayed[here].payload)
                except Exception as error:
                    self._replayed.pop(here)
                    self._note(f"step {self._steps[here]} cannot be stepped through", error)
            return kept

    # ---- what was seen

    def _scenes(self) -> list[tuple[int, FrameTable, list[Row]]]:
        """The scenes that are laid out: (number, table, rows), the most frequent ones where there are more than 20."""
        with self._lock:
            used = sorted(range(len(self._tables)), key=lambda n: (-len(self._tables[n].at), n))
            chosen = used[:MOST_SCENES]
            return [(n, t, arrange(t.scene, t.names)) for n, t in enumerate(self._tables) if n in chosen]

    def _analyses(self) -> dict[int, SceneAnalysis]:
        """For each scene, by its number: its numbers by row."""
        scenes = [(n, table, rows) for n, table, rows in self._scenes() if table.at]
        return {n: SceneAnalysis(table, rows, self.steps, self.losses, n) for n, table, rows in scenes}

    @property
    def findings(self) -> list[Finding]:
        """What was seen, the most important first; a consequence follows its cause. See :class:`viz.films.findings.Finding`."""
        with self._lock:
            return findings_of(self, self._analyses())


def _steps_of(keep: Any) -> frozenset[int]:
    """``keep=`` as a set of steps. Raises TypeError or ValueError for anything else."""
    if isinstance(keep, str | bytes | Mapping) or not isinstance(keep, Iterable):
        raise TypeError(f"keep= must be a list of steps, such as keep=[0, 10], got {keep!r}")
    steps = list(keep)
    for step in steps:
        if isinstance(step, bool) or not hasattr(type(step), "__index__") or step < 0:
            raise ValueError(f"keep= must hold step numbers, whole and 0 or more, but one entry is {step!r}")
    return frozenset(map(int, steps))
