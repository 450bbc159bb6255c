"""The stepper in a notebook: the anywidget pane, with all of its controls.

Everything was computed when the object was made; moving through it needs no kernel. The same
payload becomes a page or a frame through page.py. May import ipywidgets and anywidget; knows nothing of any framework.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from ..picture.layout import SECONDS
from ..picture.shown import Shown, target
from ..read.arguments import Fold, Names, Seeds, Tensors, check_flags, public
from ..read.text import clipped, plural, write_whole
from .ask import questions
from .frames import save_gif, save_pngs
from .live import Live
from .page import asset, frame, page, sent, still_of
from .payload import payload

FIRING = {"function", "accumulate"}


class Pane(Live, anywidget.AnyWidget):
    """The picture and the panels; ``step`` k shows what is true after k steps (with ``forward``, its steps come first)."""

    _esm = asset("stepper.js")
    _css = asset("stepper.css")
    data = traitlets.Unicode().tag(sync=True)  # JSON
    step = traitlets.Int(0).tag(sync=True)
    options = traitlets.Dict().tag(sync=True)
    answers: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)


class Stepper(Live, Shown, widgets.VBox):
    """A recorded backward pass to walk through. Made by :func:`viz.step`, or from a payload.

    ``data`` is the payload (plain JSON, see payload.py); ``options`` are the pane's: ``ask`` ("gradients" or "order"),
    ``forward`` (walk through the forward pass first). ``step`` is the step that is shown and can be set. ``save(path)``
    writes a page (.html) that needs neither kernel nor network, and ``show()`` opens one.
    """

    def __init__(self, data: Mapping[str, Any], *, options: Mapping[str, Any] | None = None):
        self.data, self.options = data, dict(options or {})
        self.closed = getattr(data, "closed", {})
        self._inside: Any = getattr(data, "open", None)
        more = {"opens": True} if self.closed else {}  # a closed box asks for its inside when it is opened
        self.pane = Pane(data=sent(data, self.options), options=self.options | more)
        self.pane.on_msg(lambda _, content, buffers: self._answer(content))
        if self.pane.comm is not None:
            self.pane.layout.width = "100%"
        super().__init__([self.pane])

    def _answer(self, asked: Mapping[str, Any]) -> None:
        """The reply to the pane: the inside of a closed box, or a page of the whole pass."""
        if (ident := asked.get("open")) in self.closed:
            self.pane.send({"open": ident, "inside": sent(self._inside(ident))})
        if asked.get("page"):
            self.pane.send({"page": self._page(None)})

    def _page(self, title: str | None) -> str:
        while self.closed:
            self._inside(next(iter(self.closed)))
        return page(self.data, title=title, options=self.options)

    @property
    def last(self) -> int:
        """The number of the last step."""
        forward = self.data.get("forward") or [] if self.options.get("forward") else []
        return (len(forward) + 1 if forward else 0) + len(self.data["steps"])

    @property
    def step(self) -> int:
        """The step that is shown: 0 before the first, k after the k-th; with ``forward``, its steps come first."""
        return self.pane.step

    @step.setter
    def step(self, value: int) -> None:
        if not hasattr(type(value), "__index__") or not 0 <= value <= self.last:
            known = f"a whole number between 0 and {self.last}, the last of this pass"
            raise ValueError(f"step must be {known}, got {value!r}")
        self.pane.step = value

    @property
    def answers(self) -> list[dict[str, Any]]:
        """The answers so far: {"step", "given", "outcome"}; the outcome is "right", "shown" or the cause of the mistake."""
        return self.pane.answers

    def __repr__(self) -> str:
        nodes = self.data["nodes"].values()
        fires = sum(n.get("members") or (n["kind"] in FIRING or n.get("step") is not None) for n in nodes)
        title = clipped(" ".join(str(self.data.get("title") or "tensor").split()), 40)
        return f"Stepper({title}: {plural(fires, 'node')}, step {self.step} of {self.last}{self._hint()})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        saved = frame(self.data, options=self.options, text=self.pane.data)
        still = {"image/svg+xml": still_of(self.data, self.options)["svg"]}
        return self.live(**kwargs) | {"text/html": saved, "text/plain": repr(self)} | still

    def save(self, path: str | Path, *, title: str | None = None) -> Path | list[Path]:
        """Write the pass to ``path``, whose ending decides the format: .html, .gif or .png.

        .html: a page that opens from disk, steps and asks on its own. .gif: all steps, animated. .png: one picture per step,
        ``steps.png`` becomes steps-00.png, steps-01.png, ... (the list is returned). Raises ValueError for others.
        """
        path, form = target(path, "a stepper", ".html", ".gif", ".png")
        if form == ".html":
            return write_whole(path, self._page(title))
        return save_gif(self.data, path) if form == ".gif" else save_pngs(self.data, path)


@public
def step(
    *tensors: Tensors,
    view: str | None = None,
    direction: str | None = None,
    fold: Fold = None,
    names: Names = None,
    saved: bool = False,
    forward: bool | Tensors = False,
    seconds: float = SECONDS,
    gradient: Seeds = None,
    inputs: Tensors | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    check: bool = True,
    ask: str | None = None,
    given: int = 0,
    insist: bool = False,
    _frame: FrameType | None = None,
) -> Stepper:
    """Run backward from ``tensors`` (one, several, or a list) exactly as ``.backward()`` would; return a stepper through it.

    * view, direction, fold, names, saved, seconds: as in ``viz.draw``; by default the pane takes, from the
      pictures that these allow, the one that fits its window. A box opens in place.
    * gradient, inputs, retain_graph, create_graph: as in ``backward``. gradient is needed for a tensor that is not a single
      number (a list for several).
    * check: compare each node's rule with a finite difference, and mark the nodes (on by default).
    * forward: True to walk through the forward pass first (values are known after ``viz.record()``), or its tensors, as
      in ``viz.draw``.
    * ask: None, "gradients" or "order": predict before a step is shown; the first ``given`` are a worked example.
    * insist: for a test, each question must be answered, or its answer requested, before the next; the questions cannot be
      switched off.

    Errors are those of ``viz.draw`` and ``viz.trace``; ValueError for more than 3,000 nodes.
    """
    check_flags(insist=insist)
    if ask is None and (given or insist):
        option = "given" if given else "insist"
        raise ValueError(f"{option}= applies only to questions: it needs ask='gradients' or 'order'.")
    options: Any = {"view": view, "direction": direction, "fold": fold, "names": names}
    options |= {"saved": saved, "gradient": gradient, "inputs": inputs}
    options |= {"retain_graph": retain_graph, "create_graph": create_graph}
    collects = gc.isenabled()
    gc.disable()  # the garbage collector would take a third of the time, searching the objects that are kept
    try:
        data = payload(*tensors, **options, forward=forward, seconds=seconds, check=check, _frame=_frame)
        if ask is not None:
            data["questions"] = questions(data, ask, given)
        shown = {"ask": ask, "forward": forward is True, "insist": insist}
        return Stepper(data, options={key: value for key, value in shown.items() if value})
    finally:
        if collects:
            gc.enable()
