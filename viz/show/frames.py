"""The steps of a recorded pass as pictures for slides: a numbered PNG series or one animated GIF.

Graphviz paints each frame as it paints a drawing, with the positions that the picture already has: nothing is laid out again,
so nothing moves. A frame has its own colours and numbers, and also badges and the sentence of its step.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..picture import dot as language
from ..picture.dot import escaped, ground, quoted
from ..picture.gif import animation
from ..picture.layout import painted
from ..picture.parts import Item, Link, Picture
from ..read.graph import Function
from ..read.text import shape_text, write_whole
from ..read.values import Value
from ..run.steps import Step
from .payload import Payload

WIDEST, DPI = 1080, 100  # a GIF's largest width in pixels, if possible; pixels per inch
CAPTION = 46.0  # points below the picture, for the sentence
NOW, DONE, WAIT = "#c05000", "#0072b2", "#8c959f"
GROUND = "#fdebdd"  # of a node as it fires
FOLLOWS = ("tensor", "value", "gradient", "leaf")  # items that show what their function did


def _number(value: Value, fill: str | None = None) -> str:
    """A label: the numbers if they fit, otherwise a heat map; the shape if there are none. ``fill``: the plate's colour."""
    count = value.array.size
    text = value.short(12) if count else shape_text(value.shape)
    label = escaped(f"{value.array.item():.4g}" if count == 1 else text)
    if count > 1 and len(text) > 12:
        rows, columns = value.cells()[0].shape
        side = max(2.5, min(7, 28 / max(rows, columns)))  # as large as in the pane
        label = language.cells_table(value, side * columns, side * rows)
    plate = f'BORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="{fill}"'
    return f"<TABLE {plate}><TR><TD>{label}</TD></TR></TABLE>" if fill else label


class _Moment:
    """What is true after ``k`` steps of a pass, in one of its pictures: colours and numbers of items and arrows."""

    def __init__(self, data: Payload, picture: Picture, k: int):
        self.picture, self.at, self.k = picture, picture.at, k
        steps: list[Step] = data.trace.steps
        self.fired = {s.function: s.number for s in steps[:k]}
        self.ready = {*(steps[k - 1].ready if k else [s.function for s in steps[:1]])}
        self.stored = {s.function: s.accumulate.after for s in steps[:k] if s.accumulate}
        sent = ((x.edge, s.number, x.value) for s in steps[:k] for x in s.sent)
        self.sent = {edge: (number, value) for edge, number, value in sent if value is not None}
        self.met = Counter(link.head for link in picture.links if link.kind == "backward")
        self.sentence: str = (data["steps"][k - 1] if k else data["start"])["sentence"]

    def functions(self, item: Item) -> list[Function]:
        """The functions that fire in an item; none for one that only shows what a function did."""
        own = item.function is not None and self.picture.of_function.get(item.function) is item
        return item.members or ([item.function] if own else [])

    def number(self, item: Item) -> int:
        """The step in which an item fired last; 0 if it has not."""
        return max((self.fired.get(f, 0) for f in self.functions(item)), default=0)

    def look(self, part: Item | Link) -> dict[str, str]:
        """The attributes of an item or an arrow that differ from those of a drawing."""
        return self._of_item(part) if isinstance(part, Item) else self._of_arrow(part)

    def _of_item(self, item: Item) -> dict[str, str]:
        own, number, lanes = self.functions(item), self.number(item), self.picture.view == "lanes"
        if not own and item.kind in FOLLOWS:
            number = self.fired.get(item.function, 0)
            if lanes and item.kind != "gradient" and number < self.k:
                number = 0  # in the lane of values, mark only the items of this step
        look = {}
        if number:
            now = number == self.k
            look = {"color": quoted(NOW if now else DONE), "penwidth": "3" if now else "2"}
            look |= {"fillcolor": quoted(GROUND)} if now and (own or not lanes) else {}
        elif self.ready & {*own}:
            style = quoted(f"{language.style(item)},dashed")
            look = {"color": quoted(NOW), "penwidth": "2", "style": style}
        return look

    def seen(self, item: Item) -> Item:
        """The item with the gradient that it shows at this step; a leaf without a box for it shows its .grad as text."""
        known = item.function in self.fired or (item.kind == "gradient" and item.function in self.ready)
        now = replace(item, grad=item.grad if known else None)
        stored = self.stored.get(item.function) if item.kind == "leaf" and "grad" not in item.boxes else None
        if stored is not None:
            number = _number(stored)
            note = f".grad = {number}" if number[:1] not in "(<" else ".grad is there"
            now.lines = [replace(x, text=note) if x.css == "note" else x for x in item.lines]
        return now

    def _of_arrow(self, link: Link) -> dict[str, str]:
        several = [self.sent[edge] for edge in [link.edge, *link.more] if edge in self.sent]
        number, value = max(several, key=lambda sent: sent[0], default=(0, None))
        if link.kind == "arrives":
            number = self.number(link.head)
        now = number == self.k != 0
        colour, wide = (NOW, "2.6") if now else (DONE, "1.8") if number else (WAIT, "1")
        look = {"color": quoted(colour), "penwidth": wide}
        # in two lanes the card at the end shows what arrived, unless several parts meet there
        labelled = self.picture.view != "lanes" or self.met[link.head] > 1
        if value is None or not labelled or (link.more and not now):
            return look
        if link.id in self.at.labels:  # on a plate
            x, y = self.at.labels[link.id]
            fill = ground(x, y, self.at.frames)
        else:  # next to the arrow
            curve, fill = self.at.lines[link.id][0], None
            x, y = curve[len(curve) // 2]
            y -= 7
        place = quoted(f"{x:.2f},{self.at.height - y:.2f}")
        return look | {"label": f"<{_number(value, fill)}>", "lp": place, "fontcolor": quoted(colour)}


def frame_dot(data: Payload, picture: Picture, k: int) -> str:
    """The picture after ``k`` steps as DOT with all positions fixed."""
    places, now = picture.at, _Moment(data, picture, k)
    wide, tall = max(places.width, 420.0), places.height + CAPTION  # with space for the sentence

    def at(x: float, y: float) -> str:
        return f"{x:.2f},{places.height - y:.2f}"

    more = [f'page [width={wide / 72:.3f} height={tall / 72:.3f} pos="{at(wide / 2, tall / 2)}!"];']
    for item, number in ((item, now.number(item)) for item in picture.items):
        if not number:
            continue
        x, y = places.items[item.id]
        inset = 0.12 if item.kind == "accumulate" or picture.view == "graph" else 0.0
        above = picture.view == "lanes" and item.kind == "function"
        middle = at(x + item.width / 2, y - 8)
        if not above:
            middle = at(x + item.width * inset, y + item.height * inset)
        size = f"width={(9 + 5 * len(str(number))) / 72:.3f} height={14 / 72:.3f}"
        fill = f'fillcolor="{NOW if number == k else DONE}" color=white fontcolor=white fontsize=8'
        look = f'shape=box style="filled,rounded" {fill} label="{number}"'
        more.append(f'{item.id}_n [pos="{middle}!" {size} {look}];')
    lines = textwrap.wrap(now.sentence, max(36, int(wide / 6.6)))[:3]
    label = '"' + "\\l".join(quoted(line)[1:-1] for line in lines) + '\\l"'
    middle = at(wide / 2, tall - CAPTION / 2)
    more.append(f'caption [shape=plain fixedsize=false pos="{middle}!" fontsize=11 label={label}];')
    return language.fixed(picture, places, now.look, now.seen, more)


def for_slides(data: Payload) -> Picture:
    """The first picture of a pass that is not too wide for a slide, or the narrowest."""
    if not isinstance(data, Payload):
        raise TypeError("a payload read from a page has no picture: make the stepper with viz.step")
    fits = [p for p in data.shown if p.at.width * DPI / 72 <= WIDEST]
    return fits[0] if fits else min(data.shown, key=lambda p: p.at.width)


def save_gif(data: Any, path: Path, seconds: float = 1.5) -> Path:
    """All steps as one animated GIF; the last frame is shown twice as long."""
    picture, count = for_slides(data), len(data["steps"]) + 1
    frames = [painted(frame_dot(data, picture, k), "gif", DPI) for k in range(count)]
    return write_whole(path, animation(frames, [seconds] * (count - 1) + [2 * seconds], [NOW, DONE, WAIT]))


def save_pngs(data: Any, path: Path) -> list[Path]:
    """``steps.png`` becomes steps-00.png (before the first step), steps-01.png, ..."""
    picture, count = for_slides(data), len(data["steps"]) + 1
    digits = max(2, len(str(count - 1)))
    paths = [path.with_name(f"{path.stem}-{k:0{digits}d}.png") for k in range(count)]
    shown = (painted(frame_dot(data, picture, k), "png", 144) for k in range(count))
    return [write_whole(file, one) for file, one in zip(paths, shown, strict=True)]
