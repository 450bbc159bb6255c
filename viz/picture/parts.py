"""The parts of a picture before Graphviz sees it: items with their text and size, links, and the picture that holds them.

No colours, no coordinates on the page: sizes come from our own table of widths, places from ``layout.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..read.graph import Edge, Function, Output
from ..read.text import fit, one_line, width
from ..read.values import SIDE, Value
from .blocks import Block

CELL = 15.0  # side of one painted cell
NAME, SUB, TINY, LABEL = 13.0, 10.5, 9.5, 10.0  # font sizes
CAPTION = 11.0  # of a frame around items
WIDEST = 190.0  # of a line of text


@dataclass(slots=True)
class Line:
    """A line of text in an item: centred at ``(x, y)`` from the item's top left corner, where ``y`` is the baseline."""

    css: str
    text: str
    size: float
    bold: bool = False
    mono: bool = False
    x: float = 0.0
    y: float = 0.0


def name_line(name: str | None, size: float = NAME, widest: float = WIDEST) -> Line:
    """The name of an item, bold."""
    return Line("name", fit(name or "?", widest, size, bold=True), size, bold=True)


def sub_line(text: str, css: str = "sub", size: float = SUB) -> Line:
    """A quieter line: a shape, a kind."""
    return Line(css, fit(text, WIDEST, size), size)


@dataclass(slots=True, eq=False)
class Item:
    """Something with a place: a tensor, a leaf, a function, a card. ``boxes`` are measured from its top left corner."""

    id: str
    kind: str
    outline: str  # box, cylinder, ellipse, diamond, card, tag, stub, fold, pill
    width: float
    height: float
    lines: list[Line]
    tooltip: str
    function: Function | None = None
    nr: int = 0
    name: str | None = None
    output: Output | None = None
    value: Value | None = None
    grad: Value | None = None  # what a recorded pass brought
    classes: list[str] = field(default_factory=list)
    boxes: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)
    members: list[Function] = field(default_factory=list)  # of a box that stands for several nodes
    block: Block | None = None  # what can be opened: see blocks.py

    def write(self, text: str) -> None:
        """Add a line of text below the others, before the item has its place."""
        line = sub_line(text, "cost", CAPTION)
        wide = width(line.text, line.size) + 20
        for other in self.lines:
            other.x += max(0.0, wide - self.width) / 2
        self.width = max(self.width, round(wide))
        line.x, line.y = self.width / 2, self.height - 5 + line.size
        self.height += round(line.size + 7)
        self.lines.append(line)

    @property
    def css(self) -> str:
        grad = ["grad"] if self.kind in ("tensor", "value", "leaf", "alias") else []
        return " ".join(["node", self.kind, *grad, *self.classes])


@dataclass(slots=True, eq=False)
class Link:
    """An arrow from ``tail`` to ``head``. ``backwards``: Graphviz places the head first, so inputs stay on the left."""

    id: str
    tail: Item
    head: Item
    kind: str  # one of EDGES in dot.py
    tooltip: str
    label: str = ""
    backwards: bool = False
    edge: Edge | None = None
    more: list[Edge] = field(default_factory=list)  # further edges that a folded picture draws as this one
    classes: list[str] = field(default_factory=list)
    label_width: float = 0.0
    spine: bool = False
    headless: bool = False
    constraint: bool = True

    @property
    def css(self) -> str:
        return " ".join(["edge", self.kind, *self.classes])


@dataclass(slots=True)
class Column:
    """Lines one below the other, and the size that holds them: at least ``least`` wide, with ``pad`` left and right."""

    lines: list[Line]
    width: float
    height: float

    @classmethod
    def of(cls, lines: list[Line], least: float, pad: float, top: float) -> Column:
        lines = [x for x in lines if x.text]
        wide = max([least, *(width(x.text, x.size, bold=x.bold, mono=x.mono) + 2 * pad for x in lines)])
        y = top
        for line in lines:
            y += line.size
            line.x, line.y = wide / 2, y
            y += line.size * 0.35
        return cls(lines, wide, y - (0.1 * lines[-1].size if lines else 0) + top)


@dataclass(slots=True, eq=False)
class Picture:
    """Items and links of one view, ready for Graphviz."""

    view: str
    direction: str
    title: str
    saved: bool = False  # draw what each function keeps
    items: list[Item] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    same_rank: list[tuple[Item, ...]] = field(default_factory=list)
    clusters: list[tuple[str, list[Item]]] = field(default_factory=list)  # caption, items
    of_function: dict[Function, Item] = field(default_factory=dict)  # what lights up when a node fires
    notes: list[str] = field(default_factory=list)
    # with two lanes: item in the lower one -> the item above it
    below: dict[Item, Item] = field(default_factory=dict)
    mirrors: dict[Link, Link] = field(default_factory=dict)  # arrows -> those that they retrace
    at: Any = None  # the positions of all this, once it is laid out
    gap: float = 0.0  # inches between the items of a lane
    terse: int = 0  # 1: on boxes only a name, a class and a shape, and nothing on arrows; 2: not even a shape
    fold: str | int = ""  # how boxes were folded: "module", "repeat", or into at most this many

    def add(self, kind: str, outline: str, column: Column, tooltip: str, **more) -> Item:
        """Put an item of the size of its text into the picture."""
        ident, w, h = f"n{len(self.items)}", round(column.width), round(column.height)
        item = Item(ident, kind, outline, w, h, column.lines, one_line(tooltip)[:600], **more)
        self.items.append(item)
        return item

    def card(
        self, kind: str, lines: list[Line], shape: tuple | None, boxes: list[str], tooltip: str, **more
    ) -> Item:
        """A card: lines of text, then captioned boxes, as large as the cells of ``shape`` need."""
        rows, columns = grid(shape)
        one = shape is not None and all(n == 1 for n in shape)
        w, h = (58.0, 22.0) if one else (max(columns * CELL, 40.0), max(rows * CELL, 20.0))
        gap = 12.0
        need = len(boxes) * w + (len(boxes) - 1) * gap
        column = Column.of(lines, need + 24, 12, 8)
        left, top = (column.width - need) / 2, column.height
        places = {}
        for i, caption in enumerate(boxes):
            x = left + i * (w + gap)
            column.lines.append(Line("caption", caption, TINY, x=x + w / 2, y=top + 4))
            places[caption] = (x, top + 8, w, h)
        column.height = top + 8 + h + 10
        return self.add(kind, "card", column, tooltip, boxes=places, **more)

    def link(self, tail: Item, head: Item, kind: str, tooltip: str, **more) -> Link:
        """Draw an arrow; its label, if any, gets the room that it needs."""
        link = Link(f"e{len(self.links)}", tail, head, kind, one_line(tooltip)[:600], **more)
        self.say(link, link.label)
        self.links.append(link)
        return link

    def say(self, link: Link, label: str) -> None:
        """Write ``label`` on an arrow, or nothing if it is empty."""
        link.label = fit(label, 110, LABEL) if label else ""
        least = 44 if link.kind == "backward" else 16
        link.label_width = round(max(width(link.label, LABEL) + 10, least)) if label else 0.0


def grid(shape: tuple[int, ...] | None) -> tuple[int, int]:
    """Rows and columns of the painted cells of an array of this shape (at most 8 by 8)."""
    if not shape:
        return 1, 1
    return max(1, min(math.prod(shape[:-1]), SIDE)), max(1, min(shape[-1], SIDE))


@cache
def bezier(n: int, endpoint: bool = True) -> np.ndarray:
    """The weights of the four points of a curve at ``n`` places along it."""
    t = np.linspace(0, 1, n, endpoint=endpoint)[:, None]
    return np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3])


@dataclass
class Places:
    """Positions in points, y downwards: of items (top left), of lines (Bezier points and tip), of labels (centre)."""

    width: float
    height: float
    items: dict[str, tuple[float, float]]
    lines: dict[str, tuple[list[tuple[float, float]], tuple[float, float] | None]]
    labels: dict[str, tuple[float, float]]
    # of each cluster: x, y, width, height, baseline of its caption
    frames: list[tuple[float, float, float, float, float]]
    # the labels of two lanes, and where they are
    lanes: list[tuple[str, float, float]] = field(default_factory=list)
    apart: tuple[float, float, float, float] | None = None  # the line between them

    @cached_property
    def ways(self) -> dict[str, np.ndarray]:
        """Points on each line, x + iy, close together."""
        weights = bezier(64, endpoint=False)
        curves = {ident: np.array(curve) @ [1, 1j] for ident, (curve, _) in self.lines.items() if curve}
        parts = {a: [weights @ q[i : i + 4] for i in range(0, len(q) - 3, 3)] for a, q in curves.items()}
        return {ident: np.concatenate(spans) for ident, spans in parts.items()}
