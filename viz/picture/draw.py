"""``viz.draw``: the graph of a tensor as a picture."""

from __future__ import annotations

import base64
import html
import re
from functools import cache, cached_property
from pathlib import Path
from types import FrameType
from typing import Any

import graphviz

from ..read.arguments import Fold, Names, Tensors, check_flags, public
from ..read.graph import Graph
from ..read.recall import prepare
from ..read.text import clipped, plural, write_whole
from . import dot as language
from . import svg as painter
from .choose import check_options, fitting, pictures_of
from .layout import FORMATS, SECONDS, painted, places
from .parts import Picture, Places
from .shown import Shown, target

LEAST = 9  # px: the smallest text of a drawing on a page; one that is too wide for that scrolls


class Drawing(Shown):
    """A drawn graph: ``.dot`` (a ``graphviz.Digraph``), ``.svg`` (text) and ``.save("z.svg")``.

    Shows itself in a notebook as an image that survives saving, and as one line of text.
    """

    _saved_as = "svg"

    def __init__(self, picture: Picture, graph: Graph, at: Places | None = None, seconds: float = SECONDS):
        self.picture, self.graph = picture, graph
        self.places = at or places(picture, seconds=seconds)

    @cached_property
    def dot(self) -> graphviz.Digraph:
        """The picture in DOT, for Graphviz."""
        return language.digraph(self.picture)

    @cached_property
    def svg(self) -> str:
        """The picture as a standalone SVG: same program, same bytes."""
        return painter.paint(self.picture, self.places)

    def save(self, path: str | Path) -> Path:
        """Write the picture to ``path``; its ending gives the format: svg, png, pdf or dot."""
        path, form = target(path, "a drawing", *FORMATS)
        if form in (".svg", ".dot"):
            return write_whole(path, self.svg if form == ".svg" else self.dot.source)
        return write_whole(path, painted(language.fixed(self.picture, self.places), form[1:], 144))

    def __repr__(self) -> str:
        size = f"{plural(len(self.graph), 'node')}, {plural(len(self.graph.edges), 'edge')}"
        return f"Drawing({clipped(self.picture.title, 40)}: {size}, {self.picture.view} view)"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        data = base64.b64encode(self.svg.encode()).decode()
        alt = html.escape(painter.summary(self.picture), quote=True)
        notes = "".join(f"<p>{html.escape(n)}</p>" for n in self.picture.notes)
        source = f'src="data:image/svg+xml;base64,{data}" onload="{_opened()}"'
        sizes = map(float, re.findall(r'font-size="([\d.]+)"', self.svg))
        least = self.places.width * min(1.0, LEAST / min(sizes, default=LEAST))
        image = f'<img alt="{alt}" style="max-width:100%;min-width:{least:.0f}px" {source}>'
        shown = f'<div style="overflow:auto">{image}</div>{notes}'
        return {"text/plain": repr(self), "text/html": shown, "image/svg+xml": self.svg}


@cache
def _opened() -> str:
    """The code that turns a loaded image into a part of the page; where a page runs no scripts, the image stays."""
    lines = Path(__file__).with_name("drawing.js").read_text(encoding="utf-8").splitlines()
    code = " ".join(re.sub(r" // .*$", "", line).strip() for line in lines if not line.startswith("//"))
    return html.escape(f"(img=>{{{code}}})(this)", quote=True)


@public
def draw(
    *tensors: Tensors,
    view: str | None = None,
    direction: str | None = None,
    fold: Fold = None,
    names: Names = None,
    saved: bool = False,
    forward: Tensors | None = None,
    seconds: float = SECONDS,
    _frame: FrameType | None = None,
) -> Drawing:
    """Draw the live graph behind ``tensors``: one or several that have a ``grad_fn``, or a list of them.

    * view: "lanes" (values flow to the right, below them their gradients come back), "graph" (tensors and functions apart),
      "cards" (value and gradient on one card), "functions" (compact). The default is "lanes" for a small graph (up to a dozen
      functions). A larger one shows its modules if it has any; if not, "graph" up to 40 nodes, then "functions".
    * direction: "LR" (inputs on the left) or "TB" (inputs above). The default is "TB" for functions and boxes, else what fits.
    * fold: which modules become a box: a depth (1: the layers of the model, 2: the layers inside these, ...), a class or its
      name, a function of the module that returns True or False. True: as many modules as fit or, without any, what occurs
      many times in a row, such as the time steps of an RNN. False: draw everything.
    * names: what to call tensors: a dict ``{"w": w}``, pairs such as ``model.named_parameters()``, or a module. By default
      the caller's variables are read, and what they hold (``trainer.model``).
    * saved: draw what each function keeps for its rule (graph view).
    * forward: in a graph made with create_graph=True, the tensors of the forward pass; what the backward pass added gets
      its own colours. By default they are found in the caller's own lines.
    * seconds: how long Graphviz may take for a picture; if it needs longer, the picture is folded further, and says so.

    With the default view and fold, without saved, a picture is at most 1,100 points wide and 1,200 high. Nothing is run or
    changed. Raises TypeError or ValueError, with what to do, for anything that has no graph.
    """
    check_options(view, direction, fold, seconds)
    check_flags(saved=saved)
    graph, _ = prepare(tensors, "draw", names, _frame, forward)
    pictures = pictures_of(graph, view, direction, fold, saved=saved, page=True)
    picture, at = fitting(graph, pictures, seconds, limited=view is None and fold is None and not saved)
    graph.release()
    return Drawing(picture, graph, at, seconds)
