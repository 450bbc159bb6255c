"""``viz.draw``: the graph of a tensor as a picture."""

from __future__ import annotations

import base64
import html
import pathlib
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

import graphviz

from . import dot as language
from . import svg as painter
from .graph import Graph
from .layout import FORMATS, Places, cost, places, render
from .text import one_line
from .trace import prepare
from .views import VIEWS, Picture, build


class Drawing:
    """A drawn graph: ``.dot`` (a ``graphviz.Digraph``), ``.svg`` (text) and ``.save("z.svg")``.

    Shows itself in a notebook as an image that survives saving, and as one line of text.
    """

    def __init__(self, picture: Picture, graph: Graph):
        self.picture, self.graph = picture, graph
        self.dot: graphviz.Digraph = language.digraph(picture)
        self._places: Places | None = None
        self._svg: str | None = None

    @property
    def places(self) -> Places:
        """Where everything is; Graphviz is asked once."""
        if self._places is None:
            self._places = places(self.picture, self.dot.source)
        return self._places

    @property
    def svg(self) -> str:
        """The picture as a standalone SVG: same program, same bytes."""
        if self._svg is None:
            self._svg = painter.paint(self.picture, self.places)
        return self._svg

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write the picture to ``path``; its ending says the format: svg, png, pdf or dot."""
        path = pathlib.Path(path)
        form = path.suffix.lower().removeprefix(".")
        if form not in FORMATS:
            raise ValueError(
                f"Cannot save a drawing as {path.name!r}. The name must end in .svg, .png, .pdf or .dot."
            )
        if form == "svg":
            path.write_text(self.svg, encoding="utf-8")
        elif form == "dot":
            path.write_text(self.dot.source, encoding="utf-8")
        else:
            source = self.dot.source
            if form == "png":
                source = source.replace("graph [", "graph [dpi=144 ", 1)
            path.write_bytes(render(source, form, cost(self.picture)))
        return path

    def __repr__(self) -> str:
        title = self.picture.title if len(self.picture.title) <= 40 else self.picture.title[:39] + "…"
        n, e = len(self.graph.functions), len(self.graph.edges)
        return (
            f"Drawing({title}: {n} node{'s' * (n != 1)}, {e} edge{'s' * (e != 1)}, {self.picture.view} view)"
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        data = base64.b64encode(self.svg.encode()).decode()
        alt = html.escape(painter.summary(self.picture), quote=True)
        notes = "".join(f"<p>{html.escape(n)}</p>" for n in self.picture.notes)
        return {
            "text/plain": repr(self),
            "text/html": f'<img alt="{alt}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">{notes}',
        }


def draw(
    tensors: Any,
    view: str = "graph",
    *,
    names: Mapping | None = None,
    direction: str = "LR",
    frame: FrameType | None = None,
) -> Drawing:
    """Draw the live graph behind ``tensors`` (a tensor with a ``grad_fn``, or a list of them).

    view: "graph" (tensors and functions apart), "cards" (value and gradient on one card), "functions" (compact).
    names: ``{"w": tensor}``; by default the caller's variables are read. direction: "LR" (inputs on the left) or "TB".

    Nothing is run and nothing is changed. Raises TypeError or ValueError, with what to do, for anything that has no graph.
    """
    check_options(view, direction)
    graph, _ = prepare(tensors, "draw", names, frame or sys._getframe(1))
    drawing = Drawing(picture_of(graph, view, direction), graph)
    graph.release()
    return drawing


def check_options(view: str, direction: str) -> None:
    """Refuse a view or direction that does not exist, saying which do."""
    if view not in VIEWS:
        raise ValueError(f"There is no view {one_line(view)[:40]!r}. Choose one of: {', '.join(VIEWS)}.")
    if direction not in ("LR", "TB"):
        raise ValueError(
            f"direction must be 'LR' (left to right) or 'TB' (top to bottom), not {one_line(direction)[:40]!r}."
        )


def picture_of(graph: Graph, view: str, direction: str = "LR") -> Picture:
    """The picture of a graph that has been read and named."""
    title = ", ".join(r.function.outputs[r.nr].name or "?" for r in graph.roots)
    return build(graph, view, direction, title)
