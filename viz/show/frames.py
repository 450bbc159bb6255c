"""The steps of a recorded pass as pictures for slides: a numbered PNG series or one animated GIF.

Graphviz paints each frame from the places that the payload already has (nothing is laid out again, so nothing moves): the
texts of its SVG, and over them what each step changes.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..picture.dot import FRAME, INK, MUTED, cells_table, colours, escaped, ground, line_style, quoted
from ..picture.layout import painted
from ..read.text import shape_text, write_whole
from ..read.values import Value

SVG = "{http://www.w3.org/2000/svg}"
WIDEST, HIGHEST, DPI = 1080, 810, 100  # of a GIF: pixels, and how many an inch
CAPTION = 46.0  # points below the picture, for the sentence
NOW, DONE, WAIT = "#c05000", "#0072b2", "#8c959f"


def _label(array: Mapping) -> str:
    """The label of an arrow: the gradient's numbers if they fit, otherwise a heat map; the shape if it has no numbers."""
    value = _value(array)
    if value is None or not value.array.size:
        return escaped(shape_text(tuple(array["shape"])))
    text = f"{value.array.item():.4g}" if value.array.size == 1 else value.short(12)
    if len(text) <= 12:
        return escaped(text)
    rows, columns = value.cells()[0].shape
    side = max(2.5, min(7, 28 / max(rows, columns)))  # as large as in the pane
    return cells_table(value, side * columns, side * rows)


def _value(array: Mapping | None) -> Value | None:
    """An array of the payload with as many of its numbers as are painted."""
    if array is None or "shape" not in array:
        return None
    numbers, shape = array.get("values"), array["shape"]
    if numbers is None:
        cells = array["cells"]
        numbers, shape = cells.get("values"), (cells["rows"], cells["cols"])
    return None if numbers is None else Value(np.array(numbers, float).reshape(shape), array["dtype"])


Point, Window = tuple[float, float], tuple[float, float, float, float]


@dataclass(frozen=True)
class _Scene:
    """The contents of the payload's SVG: the lines of text of each node, frames around modules, and the arrows."""

    texts: dict[str, list[tuple[str, str, float, float, float]]] = field(default_factory=dict)
    frames: list[tuple[list[float], str, Point]] = field(default_factory=list)
    curves: dict[str, tuple[list[Point], Point | None]] = field(default_factory=dict)
    notes: list[tuple[str, float, float]] = field(default_factory=list)  # what is written at two lanes


@lru_cache(maxsize=4)
def _scene(svg: str) -> _Scene:
    scene = _Scene()
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        ident, css = group.get("id"), group.get("class", "").split()
        if "cluster" in css:
            rect, text = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
            box = [float(rect.get(k)) for k in ("x", "y", "width", "height")]
            scene.frames.append((box, text.text or "", (float(text.get("x")), float(text.get("y")))))
        elif "lane" in css:
            notes = group.findall(f"{SVG}text")
            scene.notes.extend((t.text or "", float(t.get("x")), float(t.get("y"))) for t in notes)
        elif "node" in css and ident:
            scene.texts[ident] = [
                (f"{t.get('class', '')}{' bold' * bool(t.get('font-weight'))}", t.text or "")
                + tuple(float(t.get(k)) for k in ("x", "y", "font-size"))
                for t in group.findall(f"{SVG}text")
            ]
        elif "edge" in css and ident:
            parts = {p.get("class"): p.get("d", "") for p in group.findall(f"{SVG}path")}
            found = [re.findall(r"-?[\d.]+", parts.get(k, "")) for k in ("line", "head")]
            numbers = [[float(x) for x in one] for one in found]
            points, head = (list(zip(n[::2], n[1::2], strict=True)) for n in numbers)
            scene.curves[ident] = (points, head[0] if len(head) == 3 else None)
    return scene


class _Moment:
    """The state after ``k`` steps."""

    def __init__(self, data: Mapping[str, Any], k: int):
        self.k, steps = k, data["steps"]
        self.fired: dict[str, int] = {}
        self.hot: dict[str, Mapping] = {}
        self.done: dict[str, Mapping | None] = {}
        self.grads: dict[str, Mapping] = {}  # what a node received; of a leaf its .grad
        folds, lines = data["folds"], data["lines"]
        several = set(lines.values())  # arrows of several edges: which gradient is told when it is sent
        for number, step in enumerate(steps[:k], 1):
            node = folds.get(step["node"], step["node"])
            self.fired[node] = number
            self.done |= {edge: None if edge in several else value for edge, value in self.hot.items()}
            sent = [o for o in step["outgoing"] if o["edge"] and o["value"]]
            self.hot = {lines.get(o["edge"], o["edge"]): o["value"] for o in sent}
            got = step["accumulate"]["after"] if step["accumulate"] else step["total"]
            if got:
                self.grads[node] = got
        last = steps[k - 1] if k else None
        ready = last["ready"] if last else [s["node"] for s in steps[:1]]
        self.ready = {folds.get(node, node) for node in ready}
        # of what is ready all parts have come
        self.whole = {
            s["node"]: s["totals"] or s["total"] for s in steps if s["node"] in ready or s in steps[:k]
        }
        self.sentence = last["sentence"] if last else data["start"]["sentence"]
        self.leaves = {s["node"]: s["accumulate"]["after"] for s in steps[:k] if s["accumulate"]}

    def grad_in(self, ident: str, node: Mapping) -> Mapping | None:
        """The text in the box for the gradient; in a lane as soon as all of it is there."""
        if node["kind"] != "gradient":
            return self.grads.get(ident)
        whole = self.whole.get(node["function"])
        return whole[node["output"] or 0] if isinstance(whole, list) else whole


def windows(data: Mapping[str, Any], dpi: int) -> list[Window]:
    """The part of the picture in sight before the first step and after each: x, y, width, height in points.

    The whole picture if a frame has room for it. Otherwise the window follows the node that fires and the nodes that
    it sends to, and moves no more than it must.
    """
    width, height = max(data["width"], 420.0), data["height"]
    size = min(width, (WIDEST - 2) * 72 / dpi), min(height, HIGHEST * 72 / dpi - CAPTION)
    at, out = [0.0, 0.0], []
    for step in [*data["steps"][:1], *data["steps"]]:
        sent = [data["lines"].get(o["edge"], o["edge"]) for o in step["outgoing"] if o["edge"]]
        to = [data["edges"][edge]["to"] for edge in sent if edge in data["edges"]]
        # the node itself last: of all these it must be in sight
        for ident in [*to, data["folds"].get(step["node"], step["node"])]:
            place = data["nodes"][ident]["at"]
            for axis, whole in enumerate((width, height)):
                low, long = place[axis] - 30, place[axis + 2] + 60
                near = max(min(at[axis], low), low + long - size[axis])
                at[axis] = max(0.0, min(near, whole - size[axis]))
        out.append((*at, *size))
    return out


def frame_dot(data: Mapping[str, Any], k: int, window: Window | None = None) -> str:
    """The picture after ``k`` steps, or the part of it in ``window``, as DOT with all places fixed."""
    width, height = max(data["width"], 420.0), data["height"] + CAPTION
    left, top, wide, high = window or (0.0, 0.0, width, data["height"])
    scene, now = _scene(data["svg"]), _Moment(data, k)

    def at(x: float, y: float) -> str:
        return f"{x:.2f},{height - y:.2f}"

    def box(ident: str, x: float, y: float, w: float, h: float, look: str) -> str:
        size = f"width={w / 72:.3f} height={h / 72:.3f}"
        return f'{ident} [pos="{at(x + w / 2, y + h / 2)}!" {size} {look}];'

    def text(ident: str, x: float, y: float, said: str, look: str) -> str:
        return f'{ident} [shape=plain fixedsize=false style="" pos="{at(x, y)}!" label={said} {look}];'

    middle = at(left + wide / 2, top + (high + CAPTION) / 2)
    out = [
        "digraph {",
        f'graph [viewport="{wide:.2f},{high + CAPTION:.2f},1,{middle}"]; '
        * bool(window)
        + 'graph [bgcolor="white" pad=0.1 outputorder=nodesfirst]; node [fontname="Helvetica" fixedsize=true style=filled]; '
        'edge [fontname="Helvetica" fontsize=9 arrowsize=0.6];',
        box("ground", 0, 0, width, height, 'shape=box fillcolor=white color=white label=""'),
    ]
    for i, ((x, y, w, h), caption, (cx, cy)) in enumerate(scene.frames):
        look = f'shape=box style="filled,rounded" fillcolor="{FRAME[0]}" color="{FRAME[1]}" label=""'
        out.append(box(f"frame{i}", x, y, w, h, look))
        said = f"<<B>{escaped(caption)}</B>>"
        out.append(text(f"frame{i}_t", cx, cy - 4, said, f'fontsize=10 fontcolor="{MUTED}"'))
    for ident, node in data["nodes"].items():
        x, y, w, h = node["at"]
        out.append(box(ident, x, y, w, h, _look(data, ident, node, now)))
        for i, (said, tx, ty, look) in enumerate(_lines(data, ident, node, scene, now)):
            out.append(text(f"{ident}_t{i}", tx, ty, said, look))
        for name, (bx, by, bw, bh) in (node.get("box") or {}).items():
            array = now.grad_in(ident, node) if name == "grad" else node.get(name)
            look = f'shape=plain style="" label=<{cells_table(_value(array), bw, bh)}>'
            out.append(box(f"{ident}_{name}", bx, by, bw, bh, look))
        if ident in now.fired:
            said = str(now.fired[ident])
            colour = NOW if now.fired[ident] == k else DONE
            badge = f'shape=box style="filled,rounded" fillcolor="{colour}" color=white'
            look = f'{badge} fontcolor=white fontsize=8 label="{said}"'
            across = 9 + 5 * len(said)
            inset = 0.12 if node["kind"] == "accumulate" or data["view"] == "graph" else 0.0
            above = data["view"] == "lanes" and node["kind"] == "function"
            cx, cy = (x + w / 2, y - 8) if above else (x + w * inset, y + h * inset)
            out.append(box(f"{ident}_n", cx - across / 2, cy - 7, across, 14, look))
    for i, (said, x, y) in enumerate(scene.notes):
        out.append(text(f"lane{i}", x, y - 4, f"<{escaped(said)}>", f'fontsize=10 fontcolor="{MUTED}"'))
    out += _arrows(data, scene, now, at)
    lines = textwrap.wrap(now.sentence, max(36, int(wide / 6.6)))[:3]
    said = '"' + "\\l".join(quoted(line)[1:-1] for line in lines) + '\\l"'
    # on a white plate over what the window cuts off: a thick line, for arrows are painted after nodes
    y, ends = top + high + CAPTION / 2, (left - 9, left + wide + 9)
    out += [f'caption{i} [style=invis width=0 height=0 pos="{at(x, y)}!"];' for i, x in enumerate(ends)]
    plate = f'pos="{at(ends[0], y)} {at(left, y)} {at(left + wide, y)} {at(ends[1], y)}" penwidth={CAPTION} color=white'
    look = f'lp="{at(left + wide / 2, y)}" fontsize=11'
    out.append(f"caption0 -> caption1 [{plate} arrowhead=none label={said} {look}];")
    return "\n".join([*out, "}"])


def _look(data: Mapping, ident: str, node: Mapping, now: _Moment) -> str:
    """Shape and colours of a node at this moment."""
    classes = node.get("classes") or []
    fill, line, _, _ = colours(node["kind"], classes)
    of = node.get("function")
    style, wide = ["filled"], 1.2
    fired = now.fired.get(
        ident, now.fired.get(of) if node["kind"] in ("tensor", "value", "gradient", "leaf") else None
    )
    if data["view"] == "lanes" and ident != of and node["kind"] != "gradient":
        fired = fired if fired == now.k else None  # the lane of the values only says what belongs together
    if fired is not None:
        line, wide = (NOW, 3.0) if fired == now.k else (DONE, 2.0)
        fill = "#fdebdd" if fired == now.k and (data["view"] != "lanes" or ident == of) else fill
    elif ident in now.ready:
        line, wide = NOW, 2.0
        style.append("dashed")
    elif "unreached" in classes:
        fill = "#ffffff"
        style.append("dotted")
    shape = {"accumulate": "diamond", "leaf": "cylinder", "function": "ellipse"}.get(node["kind"], "box")
    if data["view"] != "graph":
        shape = "box"
        style.append("rounded")
    styles = ",".join(style)
    return f'shape={shape} style="{styles}" fillcolor="{fill}" color="{line}" penwidth={wide} label=""'


def _lines(
    data: Mapping, ident: str, node: Mapping, scene: _Scene, now: _Moment
) -> Iterator[tuple[str, float, float, str]]:
    """The lines of text of a node: label, position of the middle, style. A leaf without a box shows its .grad."""
    grad = now.leaves.get(ident) or (now.leaves.get(node.get("function")) if node["kind"] == "leaf" else None)
    told = grad and not (node.get("box") or {}).get("grad") and node["kind"] == "leaf"
    for css, said, x, y, size in scene.texts.get(ident, ()):
        colour, face = (INK if css.startswith("name") else MUTED), ""
        if told and css == "note":
            number = _label(grad)
            said, colour = (f".grad = {number}" if number[:1] not in "(<" else ".grad is there"), DONE
        if css == "rule":
            face = ' fontname="Courier"'
        said = f"<<B>{escaped(said)}</B>>" if css.endswith("bold") else f"<{escaped(said)}>"
        yield said, x, y - size * 0.36, f'fontsize={size - 1:g} fontcolor="{colour}"{face}'


def _arrows(data: Mapping, scene: _Scene, now: _Moment, at) -> Iterator[str]:
    met = Counter(edge["to"] for edge in data["edges"].values() if edge["kind"] == "backward")
    for ident, (points, tip) in scene.curves.items():
        edge = data["edges"].get(ident)
        if edge is None or not points:
            continue
        fired = now.fired.get(edge["to"]) if edge["kind"] == "arrives" else None
        hot, done = ident in now.hot or fired == now.k != 0, ident in now.done or fired is not None
        colour, wide = (NOW, 2.6) if hot else (DONE, 1.8) if done else (WAIT, 1.0)
        place = ""
        # in two lanes the card at the end says what came, but where several parts meet
        told = data["view"] != "lanes" or met[edge["to"]] > 1
        if told and (value := now.hot.get(ident) or now.done.get(ident)):
            number = _label(value)
            if box := edge.get("label_box"):
                mx, my = box[0] + box[2] / 2, box[1] + box[3] / 2
                fill = ground(mx, my, (frame for frame, *_ in scene.frames))
                plate = f'BORDER="0" CELLPADDING="2" CELLSPACING="0" BGCOLOR="{fill}"'
                number = f"<TABLE {plate}><TR><TD>{number}</TD></TR></TABLE>"
            else:  # beside the arrow
                mx, my = points[len(points) // 2]
                my -= 7
            place = f'label=<{number}> lp="{at(mx, my)}" fontcolor="{colour}"'
        curve = " ".join(at(*p) for p in points)
        end = f"e,{at(*tip)} " if tip else ""
        yield (
            f'{edge["from"]} -> {edge["to"]} [pos="{end}{curve}" color="{colour}" penwidth={wide} '
            f"style={line_style(edge['kind'])} arrowhead={'normal' if tip else 'none'} {place}];"
        )


def _for_slides(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pass in the first of its pictures that is not too wide for a slide, or the narrowest."""
    pictures = [data, *data["pictures"]]
    fits = [p for p in pictures if p["width"] * DPI / 72 <= WIDEST]
    return {**data, **(fits[0] if fits else min(pictures, key=lambda p: p["width"]))}


def save_gif(data: Mapping[str, Any], path: Path, seconds: float = 1.5) -> Path:
    """All steps as one animated GIF, which follows them in a large picture; the last frame is shown twice as long."""
    from ..picture.gif import animation  # Pillow: for nothing else

    count, data = len(data["steps"]) + 1, _for_slides(data)
    frames = [painted(frame_dot(data, k, window), "gd", DPI) for k, window in enumerate(windows(data, DPI))]
    return write_whole(path, animation(frames, [seconds] * (count - 1) + [2 * seconds], [NOW, DONE, WAIT]))


def save_pngs(data: Mapping[str, Any], path: Path) -> list[Path]:
    """``steps.png`` becomes steps-00.png (before the first step), steps-01.png, ..."""
    digits = max(2, len(str(len(data["steps"]))))
    paths = [path.with_name(f"{path.stem}-{k:0{digits}d}.png") for k in range(len(data["steps"]) + 1)]
    return [write_whole(file, painted(frame_dot(data, k), "png", 144)) for k, file in enumerate(paths)]
