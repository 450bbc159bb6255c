"""``viz.draw``: the graph of a tensor as a picture."""

from __future__ import annotations

import base64
import html
import pathlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import FrameType
from typing import Any

import graphviz

from ..read.graph import Graph
from ..read.recall import prepare
from ..read.source import mark_second
from ..read.text import clipped, one_line, plural, write_whole
from . import dot as language
from . import svg as painter
from .fold import Group, groups
from .layout import FORMATS, Places, cost, least_width, places, render
from .parts import Picture
from .shown import Shown
from .views import VIEWS, build

SMALL = 40  # nodes; up to this many the graph view is offered without being asked for, to half as many in both directions
# boxes: into so many a graph is folded where a picture of its modules is too wide, and for the windows of a pane
SOME, FEW = 40, 8
MAP_FROM = 8  # nodes; from here on also a picture in which the modules are folded
WIDEST = 2_600  # points; a graph view that would be wider is not drawn unless it is asked for
GRAPH_UP_TO = 250  # nodes; above this the graph view becomes the functions view
WHOLE_UP_TO = 1_500  # nodes; above this a graph is folded unless fold=False
WHOLE_COST = 25_000  # the same for the estimated cost of the layout


class Drawing(Shown):
    """A drawn graph: ``.dot`` (a ``graphviz.Digraph``), ``.svg`` (text) and ``.save("z.svg")``.

    Shows itself in a notebook as an image that survives saving, and as one line of text.
    """

    SAVED_AS = "svg"

    def __init__(self, picture: Picture, graph: Graph):
        self.picture, self.graph = picture, graph

    @cached_property
    def dot(self) -> graphviz.Digraph:
        """The picture in DOT, for Graphviz."""
        return language.digraph(self.picture)

    @cached_property
    def places(self) -> Places:
        """Where everything is; Graphviz is asked once."""
        return places(self.picture)

    @cached_property
    def svg(self) -> str:
        """The picture as a standalone SVG: same program, same bytes."""
        return painter.paint(self.picture, self.places)

    def save(self, path: str | pathlib.Path) -> pathlib.Path:
        """Write the picture to ``path``; its ending says the format: svg, png, pdf or dot."""
        path = pathlib.Path(path)
        form = path.suffix.lower().removeprefix(".")
        if form not in FORMATS:
            known = ".svg, .png, .pdf or .dot"
            raise ValueError(f"Cannot save a drawing as {path.name!r}. The name must end in {known}.")
        source = self.dot.source.replace("graph [", "graph [dpi=144 ", form == "png")
        if form not in ("svg", "dot"):
            return write_whole(path, render(source, form, cost(self.picture)))
        return write_whole(path, self.svg if form == "svg" else source)

    def __repr__(self) -> str:
        size = f"{plural(len(self.graph), 'node')}, {plural(len(self.graph.edges), 'edge')}"
        return f"Drawing({clipped(self.picture.title, 40)}: {size}, {self.picture.view} view)"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        data = base64.b64encode(self.svg.encode()).decode()
        alt = html.escape(painter.summary(self.picture), quote=True)
        notes = "".join(f"<p>{html.escape(n)}</p>" for n in self.picture.notes)
        image = f'<img alt="{alt}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
        return {"text/plain": repr(self), "text/html": image + notes, "image/svg+xml": self.svg}


def draw(
    tensors: Any,
    view: str | None = None,
    *,
    names: Mapping | None = None,
    direction: str | None = None,
    fold: bool | str | None = None,
    forward: Any = None,
    values: bool | None = None,
    saved: bool = False,
    frame: FrameType | None = None,
) -> Drawing:
    """Draw the live graph behind ``tensors`` (a tensor with a ``grad_fn``, or a list of them).

    * view: "graph" (tensors and functions apart), "cards" (value and gradient on one card), "functions" (compact); by
      default "graph" for a small graph and "functions" for a large one. direction: "LR" (inputs on the left) or "TB";
      by default what is not too wide.
    * names: ``{"w": tensor}``; by default the caller's variables are read.
    * values: write short values into the tensors of the graph view, or (False) leave them out of the cards.
    * saved: draw what each function keeps for its rule (graph view).
    * fold: "repeat" or True (time steps, equal layers), "module", False (draw everything); by default what repeats in a
      large graph is folded, and the picture says so.
    * forward: in a graph made with create_graph=True, the tensors of the forward pass; what the backward pass added gets
      its own colours. By default the caller's own lines are read for it.

    Nothing is run and nothing is changed. Raises TypeError or ValueError, with what to do, for anything that has no graph.
    """
    check_options(view, direction, fold)
    frame = frame or sys._getframe(1)
    graph, _ = prepare(tensors, "draw", names, frame)
    mark_second(graph, frame, forward)
    shown = {"values": values, "saved": saved}
    drawing = Drawing(picture_of(graph, view, direction or "LR", fold, **shown), graph)
    free = view is None and direction is None and len(graph) > MAP_FROM
    for how in (fold, *(("module", SOME) if fold is None else ())) if free else ():
        fits = least_width(drawing.picture) <= WIDEST and drawing.places.width <= WIDEST
        if fits or (how != fold and not groups(graph, how)):
            continue
        same = fold is False and drawing.picture.view == "functions"
        turned = replace(drawing.picture, direction="TB", notes=[]) if same else None
        drawing = Drawing(turned or picture_of(graph, "functions", "TB", how, **shown), graph)
        more = ", and what belongs together is one box" * (how != fold)
        note = f"Only the functions are drawn, from top to bottom{more}: view='graph' would be wider than a page."
        drawing.picture.notes.insert(0, note)
    graph.release()
    return drawing


def check_options(view: str | None, direction: str | None, fold: bool | str | None = None) -> None:
    """Refuse a view, direction or fold that does not exist, saying which do."""
    if view is not None and view not in VIEWS:
        raise ValueError(f"There is no view {one_line(view)[:40]!r}. Choose one of: {', '.join(VIEWS)}.")
    if direction not in (None, "LR", "TB"):
        what = one_line(direction)[:40]
        raise ValueError(f"direction must be 'LR' (left to right) or 'TB' (top to bottom), not {what!r}.")
    if fold not in (None, True, False, "repeat", "module"):
        given = one_line(fold)[:40]
        raise ValueError(f"fold must be 'repeat', 'module', True, False or None, not {given!r}.")


def picture_of(
    graph: Graph,
    view: str | None,
    direction: str = "LR",
    fold: bool | str | int | None = None,
    **shown: bool | None,  # values, saved
) -> Picture:
    """The picture of a graph that has been read and named; a note says what was folded or why another view was taken."""
    title = ", ".join(r.function.outputs[r.nr].name or "?" for r in graph.roots)
    notes, found, wanted = [], [], view or "graph"
    fold = {True: "repeat"}.get(fold, fold)  # 1 is equal to True
    if fold and wanted == "graph":
        wanted = "functions"
    elif len(graph) > GRAPH_UP_TO and wanted == "graph":
        wanted = "functions"
        notes.append(
            f"This graph has {len(graph):,} nodes, so only the functions are drawn (view='graph' is for small graphs)."
        )
    if fold:
        found = groups(graph, fold)
        if not found:
            why = "no block of functions comes at least four times in a row."
            if fold == "module":
                why = "no parameter has a name with a module in it, such as layer.weight."
            notes.append(f"Nothing to fold was found: {why}")
    elif fold is None and view is None and GRAPH_UP_TO < len(graph) <= WHOLE_UP_TO:
        found = groups(graph, "repeat")  # a row of hundreds of boxes says less than one that says how often
        said = f"{_folded(graph, found)} because they repeat. fold=False draws each of them."
        notes += [said] if found else []
    shown["bare"] = fold in (SOME, FEW)
    whole = len(graph) <= WHOLE_UP_TO or fold is not None
    picture = build(graph, wanted, direction, title, found, **shown) if whole else None
    if picture is None or (fold is None and cost(picture) > WHOLE_COST):
        found = groups(graph, "size")
        picture = build(graph, wanted, direction, title, found, **shown)
        said = ", because a picture of all of them could not be read. fold=False draws all that can be placed in time."
        notes = [_folded(graph, found) + said] if found else notes
    picture.notes, picture.fold = notes, fold or ""
    return picture


def pictures_of(
    graph: Graph,
    view: str | None,
    direction: str | None = None,
    fold: bool | str | None = None,
    **shown: bool | None,  # values, saved
) -> list[Picture]:
    """The pictures among which the pane takes the one that fits: what was asked for in both directions; by default the
    views for a graph of this size, and one with its modules folded."""
    if direction is not None:
        return [picture_of(graph, view, direction, fold, **shown)]
    if view is not None or fold is not None:
        compact = view == "functions" or fold not in (None, False)  # these are read in the order of the pass
        wanted = [(view, "LR", fold), (view, "BT" if compact else "TB", fold)]
    else:
        both = [("graph", "LR", None), ("graph", "TB", None)]
        wanted = both[: 2 if 2 * len(graph) <= SMALL else 1 if len(graph) <= SMALL else 0]
        wanted.append(("functions" if len(graph) <= GRAPH_UP_TO else None, "BT", None))
        if len(graph) > MAP_FROM and True not in shown.values():
            folds = ["module", FEW] if len(graph) <= GRAPH_UP_TO else ["module"]
            wanted += [("functions", "BT", how) for how in folds if groups(graph, how)]
    found, seen = [], []
    for v, d, f in wanted:
        picture = picture_of(graph, v, d, f, **shown)
        boxes = [(item.name, item.members) for item in picture.items if item.members]
        known = boxes and boxes in seen  # folded by itself it is the same
        seen.append(boxes)
        if not known and (f != FEW or len(picture.items) < 0.8 * len(found[-1].items)):
            found.append(picture)
    return found


def _folded(graph: Graph, found: list[Group]) -> str:
    hidden = sum(len(g.functions) for g in found)
    boxes = "one box" if len(found) == 1 else f"{len(found)} boxes"
    return f"{hidden:,} of {len(graph):,} nodes are folded into {boxes}"
