"""Two backward passes side by side, stepped together, the first difference marked in both pictures.

What differs is decided by compare.py on the traces; here the two pictures are put beside each other.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import ipywidgets as widgets

from ..picture.choose import pictures_of
from ..picture.shown import Shown
from ..read.recall import prepare
from ..read.text import write_whole
from ..run.compare import Comparison, compare
from ..run.steps import Trace
from ..run.trace import run
from .live import Live
from .live import widgets as shows_widgets
from .page import frame as in_frame
from .page import sent
from .payload import describe
from .stepper import Pane


def _record(tensor: Any, view: str | None, names: Mapping | None, frame: FrameType) -> tuple[Trace, dict]:
    graph, plain = prepare(tensor, "beside", names, frame)
    trace = run(graph, plain, verb="beside")
    return trace, describe(trace, *pictures_of(graph, view))


class Beside(Live, Shown, widgets.VBox):
    """Two panes that move together; ``comparison`` says what differs. Made by :func:`viz.beside`."""

    def __init__(self, left: tuple[Trace, dict], right: tuple[Trace, dict], labels: tuple[str, str]):
        self.comparison: Comparison = compare(left[0], right[0], labels=labels)
        self.data = (left[1], right[1])
        for side, data in zip(("left", "right"), self.data, strict=True):
            steps = [(getattr(pair, side), pair.difference) for pair in self.comparison.pairs]
            data["differs"] = {str(s.number): said for s, said in steps if s is not None and said}
            first = getattr(self.comparison.first, side, None)
            data["first"] = first.number if first is not None else None
        last = max(len(d["steps"]) for d in self.data)
        options = [{"label": label, "last": last} for label in labels]
        self.panes = [Pane(data=sent(d), options=o) for d, o in zip(self.data, options, strict=True)]
        self.said = f"<p>{html.escape(self.comparison.sentence)}</p>"
        super().__init__(self._controls() if shows_widgets() else ())

    def _controls(self) -> list[widgets.Widget]:
        self._link = widgets.jslink(*((pane, "step") for pane in self.panes))  # without the kernel
        for pane in self.panes:
            pane.layout.flex = "1 1 420px"
            pane.layout.min_width = "0"
        both = widgets.HBox(self.panes, layout=widgets.Layout(flex_flow="row wrap", grid_gap="8px"))
        return [widgets.HTML(self.said), both]

    def __repr__(self) -> str:
        return repr(self.comparison).replace("Comparison(", "Beside(", 1)

    def _html(self) -> str:
        both = zip(self.data, self.comparison.labels, strict=True)
        return self.said + "".join(in_frame(d, options={"label": label}) for d, label in both)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return self.live(**kwargs) | {"text/html": self._html(), "text/plain": repr(self)}

    def save(self, path: str | Path) -> Path:
        """Write both passes to one page, ``path``.html. Raises ValueError for another ending."""
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"cannot save two steppers as {path.name!r}: give a name that ends in .html")
        title = html.escape(" and ".join(self.comparison.labels))
        return write_whole(path, f"<!doctype html><meta charset=utf-8><title>{title}</title>{self._html()}")


def beside(
    *things: Any,
    labels: Sequence[str] | None = None,
    view: str | None = "functions",
    names: Mapping[str, Any] | None = None,
) -> Any:
    """Run backward from two tensors and step through both passes at once; differences carry a mark.

    The two may be of different frameworks: a learner's engine and the reference, minigrad and PyTorch. ``view`` and
    ``names`` as of ``viz.step``. Errors are those of ``viz.trace``. Films, of any number, are put on one scale and one axis.
    """
    if things and hasattr(things[0], "put_beside"):
        return things[0].put_beside(*things[1:], labels=labels)
    (left, right), caller = things, sys._getframe(1)
    labels = tuple(labels or ("left", "right"))
    return Beside(_record(left, view, names, caller), _record(right, view, names, caller), labels)
