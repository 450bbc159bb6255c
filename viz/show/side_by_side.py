"""Two backward passes side by side, stepped together, the first difference marked in both pictures.

compare.py finds the differences between the traces; this module puts the two pictures next to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import ipywidgets as widgets

from ..picture.choose import DETAIL, check_options, pictures_of
from ..picture.shown import Shown, target
from ..read.arguments import Fold, Names, Seeds, Tensors, check_flags, check_labels, named, public
from ..read.text import write_whole
from ..run.compare import Comparison, compare, two
from ..run.steps import Trace
from ..run.trace import recorded
from .live import Live
from .live import widgets as shows_widgets
from .page import FRAMED, over, page, sent, still_of
from .payload import describe
from .stepper import Pane

Data = dict[str, Any]


def _record(given: Any, names: Any, frame: FrameType | None, picture: Data, how: Data) -> tuple[Trace, Data]:
    trace = recorded(given, "beside", names, frame, **how)
    if picture["view"] is None and picture["fold"] is None and len(trace.graph) <= DETAIL:
        picture = picture | {"view": "functions"}
    return trace, describe(trace, *pictures_of(trace.graph, **picture))


class Beside(Live, Shown, widgets.VBox):
    """Two panes that move together; ``comparison`` says what differs. Made by :func:`viz.beside`."""

    def __init__(self, left: tuple[Trace, Data], right: tuple[Trace, Data], labels: tuple[str, str]):
        self.comparison: Comparison = compare(left[0], right[0], labels=labels)
        self.data = (left[1], right[1])
        for side, data in zip(("left", "right"), self.data, strict=True):
            steps = [(getattr(pair, side), pair.difference) for pair in self.comparison.pairs]
            data["differs"] = {str(s.number): what for s, what in steps if s is not None and what}
            first = getattr(self.comparison.first, side, None)
            data["first"] = first.number if first is not None else None
        # one text with both payloads in it, which the front end separates
        self.text = f'{{"beside":[{",".join(map(sent, self.data))}]}}'
        self.options = {"labels": list(labels), "said": self.comparison.sentence}
        self.pane = Pane(data=self.text, options=self.options)
        if self.pane.comm is not None:
            self.pane.layout.width = "100%"
        super().__init__([self.pane] if shows_widgets() else ())

    def __repr__(self) -> str:
        return repr(self.comparison).replace("Comparison(", "Beside(", 1)

    def _page(self, title: str | None = None, *, bare: bool = False, **more: Any) -> str:
        title = title or " and ".join(self.comparison.labels)
        return page(self.data[0], title=title, options=self.options | more, bare=bare, text=self.text)

    def _html(self) -> str:
        shown = [still_of(data) for data in self.data]
        heights = [round(min(max(float(one["height"]), 60.0), 300.0)) for one in shown]
        both = zip(shown, self.comparison.labels, heights, strict=True)
        stills = [(one["svg"], f"Graph of {label}", tall) for one, label, tall in both]
        inside = self._page(bare=True, framed=FRAMED)
        return over(stills, f"{' and '.join(self.comparison.labels)}, step by step", inside, FRAMED)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return self.live(**kwargs) | {"text/html": self._html(), "text/plain": repr(self)}

    def save(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write both passes to one page, ``path``.html. Raises ValueError for another ending."""
        return write_whole(target(path, "two steppers", ".html")[0], self._page(title))


@public
def beside(
    *passes: Any,
    labels: Sequence[str] | None = None,
    view: str | None = None,
    direction: str | None = None,
    fold: Fold = None,
    names: Names = None,
    gradient: Seeds = None,
    inputs: Tensors | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    _frame: FrameType | None = None,
) -> Beside | Any:
    """Run backward from two tensors and step through both passes at once; differences carry a mark.

    * passes: two tensors or traces, from one framework or from two (a learner's engine and the reference, minigrad and
      PyTorch). Or any number of films: they share one scale and one axis.
    * labels: what to call them.
    * view, direction, fold, names: as in ``viz.draw``; the default is the functions, or the modules of a large graph.
    * gradient, inputs, retain_graph, create_graph: as in ``backward``, for both.

    Errors are those of ``viz.trace``.
    """
    picture = {"view": view, "direction": direction, "fold": fold}
    how = {"gradient": gradient, "inputs": inputs, "retain_graph": retain_graph, "create_graph": create_graph}
    film = next((one for one in passes if hasattr(one, "_put_beside")), None)
    if film is not None:
        if useless := [name for name, value in (picture | how | {"names": names}).items() if value]:
            raise TypeError(f"viz.beside takes labels= for films; {useless[0]}= is for two passes.")
        return film._put_beside(*passes, labels=labels)
    left, right = two(passes, "beside")
    check_options(view, direction, fold)
    check_flags(retain_graph=retain_graph, create_graph=create_graph)
    first, second = check_labels(("left", "right") if labels is None else labels, 2, "beside")
    called = named(names)
    left, right = (_record(given, called, _frame, picture, how) for given in (left, right))
    return Beside(left, right, (first, second))
