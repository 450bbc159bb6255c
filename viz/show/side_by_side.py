"""Two backward passes side by side, stepped together, the first difference marked in both pictures.

What differs is decided by compare.py on the traces; here the two pictures are put beside each other.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import ipywidgets as widgets

from ..picture.choose import DETAIL, check_options, pictures_of
from ..picture.shown import Shown
from ..read.arguments import check_flags, check_labels, named, public
from ..read.recall import prepare
from ..read.text import write_whole
from ..run.compare import Comparison, compare, two
from ..run.steps import Trace
from ..run.trace import run
from .live import Live
from .live import widgets as shows_widgets
from .page import frame as in_frame
from .page import sent
from .payload import describe
from .stepper import Pane


def _record(given: Any, names: Any, frame: FrameType | None, picture: dict, how: dict) -> tuple[Trace, dict]:
    if isinstance(given, Trace):
        trace = given
    else:
        graph, plain = prepare(given, "beside", names, frame)
        trace = run(
            graph, plain, how["gradient"], verb="beside", **{k: v for k, v in how.items() if k != "gradient"}
        )
    small = picture["view"] is None and picture["fold"] is None and len(trace.graph) <= DETAIL
    picture = picture | {"view": "functions"} if small else picture  # two panes have half the room each
    return trace, describe(trace, *pictures_of(trace.graph, **picture))


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


@public
def beside(
    *passes: Any,
    labels: Sequence[str] | None = None,
    view: str | None = None,
    direction: str | None = None,
    fold: Any = None,
    names: Any = None,
    gradient: Any = None,
    inputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    _frame: FrameType | None = None,
) -> Any:
    """Run backward from two tensors and step through both passes at once; differences carry a mark.

    * passes: two tensors or traces, of one framework or of two (a learner's engine and the reference, minigrad and
      PyTorch). Or films, of any number: they are put on one scale and one axis.
    * labels: what to call them.
    * view, direction, fold, names: as of ``viz.draw``; by default the functions, or the modules of a large graph.
    * gradient, inputs, retain_graph, create_graph: as of ``backward``, for both.

    Errors are those of ``viz.trace``.
    """
    if passes and hasattr(passes[0], "_put_beside"):
        return passes[0]._put_beside(*passes[1:], labels=labels)
    left, right = two(passes, "beside")
    check_options(view, direction, fold)
    check_flags(retain_graph=retain_graph, create_graph=create_graph)
    called, names = tuple(check_labels(labels or ("left", "right"), 2, "beside")), named(names)
    picture = {"view": view, "direction": direction, "fold": fold}
    how = {"gradient": gradient, "inputs": inputs, "retain_graph": retain_graph, "create_graph": create_graph}
    both = [_record(given, names, _frame, picture, how) for given in (left, right)]
    return Beside(*both, called)
