"""Where Graphviz puts things: DOT in, positions out. The picture itself is painted by ``svg.py``.

Graphviz runs inside ``pygraphviz``'s wheel: nothing has to be installed on the machine. In process it cannot be
interrupted, so a graph that could be slow is laid out in a child process with a time limit.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .dot import digraph
from .parts import Item, Picture

IN_PROCESS = 3_000  # up to this estimated cost (about 0.15 s, 1,300 items at most) the layout runs in process
SECONDS = 10.0  # the time limit of a child process
FORMATS = ("svg", "png", "pdf", "dot")


class LayoutTooSlow(RuntimeError):
    """Graphviz did not finish in time."""


@dataclass(slots=True)
class Places:
    """Positions in points, y downwards: of items (top left), of lines (Bezier points and tip), of labels (centre)."""

    width: float
    height: float
    items: dict[str, tuple[float, float]]
    lines: dict[str, tuple[list[tuple[float, float]], tuple[float, float] | None]]
    labels: dict[str, tuple[float, float]]
    # of each cluster: x, y, width, height, baseline of its caption
    frames: list[tuple[float, float, float, float, float]]


def cost(p: Picture) -> float:
    """About how much work the layout is: items, links, and the ranks that long links span."""
    place = {item: i for i, item in enumerate(p.items)}
    spans = sum(min(abs(place[a.tail] - place[a.head]), 200) for a in p.links)
    return len(p.items) + len(p.links) + spans / 4


def least_width(p: Picture) -> float:
    """The least width where inputs stand on the left: the longest way (of two rails the forward pass), item beside item."""
    if p.direction != "LR":
        return 0.0
    reach: dict[Item, float] = {}
    for a in [a for a in p.links if a.kind == "forward"] if p.same_rank else p.links:
        before, after = (a.head, a.tail) if a.backwards else (a.tail, a.head)
        reach[after] = max(reach.get(after, 0.0), reach.get(before, before.width) + after.width)
    return max(reach.values(), default=0.0)


def places(p: Picture, margin: float = 10.0) -> Places:
    """Lay the picture out, each form once: the same program comes again, and a net has many layers of one form."""
    data = json.loads(laid_out(digraph(p, bare=True).source, "json0", cost(p)))
    x0, y0, x1, y1 = map(float, data["bb"].split(","))

    def point(text: str) -> tuple[float, float]:
        x, y = text.split(",")
        return float(x) - x0 + margin, y1 - float(y) + margin

    sizes = {i.id: (i.width, i.height) for i in p.items}
    items, frames = {}, {}
    for o in data.get("objects", ()):
        if o["name"].startswith("cluster_frame"):
            left, low, right, high = map(float, o["bb"].split(","))
            top = y1 - high + margin
            frames[o["name"]] = (left - x0 + margin, top, right - left, high - low, top + 15)
        elif "pos" in o:
            (x, y), item = point(o["pos"]), p.items[int(o["name"][1:])]
            items[item.id] = (x - item.width / 2, y - item.height / 2)
    lines, labels = {}, {}
    for e in data.get("edges", ()):
        parts, ident = e.get("pos", "").split(), p.links[int(e["id"][1:])].id
        tip = next((point(part[2:]) for part in parts if part[0] in "es"), None)
        lines[ident] = ([point(part) for part in parts if part[0] not in "es"], tip)
        if "lp" in e:
            labels[ident] = point(e["lp"])
    for link in p.links if p.direction == "TB" else ():
        x, y = labels.get(link.id, (0.0, 0.0))
        if link.kind == "grad_fn" and link.id in labels and (by := lines[link.id][0][0][1] - y) < 12:
            labels[link.id] = (x, y + 2 * by)  # below the arrow: others come from above
    framed = [frames[f"cluster_frame{k}"] for k in range(len(p.clusters))]
    at = Places(x1 - x0 + 2 * margin, y1 - y0 + 2 * margin, items, lines, labels, framed)
    _forward_rail_first(p, at, sizes)
    return at


def _forward_rail_first(p: Picture, at: Places, sizes: dict[str, tuple[float, float]]) -> None:
    """Mirror the picture if Graphviz put the functions above (or left of) their tensors: both are equally good for it, but
    a reader wants the forward pass in the same place every time."""
    axis = 0 if p.direction == "TB" else 1
    first = sum(at.items[pair[0].id][axis] < at.items[pair[-1].id][axis] for pair in p.same_rank)
    if 2 * first >= len(p.same_rank):
        return
    whole = (at.width, at.height)[axis]

    def mirror(q: tuple[float, float], size: float = 0.0) -> tuple[float, float]:
        return (whole - q[0] - size, q[1]) if axis == 0 else (q[0], whole - q[1] - size)

    at.items = {k: mirror(q, sizes[k][axis]) for k, q in at.items.items()}
    at.lines = {k: ([*map(mirror, curve)], tip and mirror(tip)) for k, (curve, tip) in at.lines.items()}
    at.labels = {k: mirror(q) for k, q in at.labels.items()}
    at.frames = [(*mirror((x, y), (w, h)[axis]), w, h, mirror((x, b), -8)[1]) for x, y, w, h, b in at.frames]


def render(source: str, form: str, work: float = 0.0) -> bytes:
    """DOT rendered by Graphviz, in process or, for a large graph, in a child process with a time limit."""
    if work <= IN_PROCESS:
        return _graphviz(source, form)
    options = {"capture_output": True, "timeout": SECONDS, "check": False}
    try:  # -P: a module of the user's folder must not stand in for one of the library's
        child = subprocess.run([sys.executable, "-P", "-c", _CHILD, form], input=source.encode(), **options)
    except subprocess.TimeoutExpired:
        raise LayoutTooSlow(
            f"Graphviz could not place this graph within {SECONDS:g} seconds. Draw less of it: view='functions', "
            "fold=True, or one layer or time step."
        ) from None
    if child.returncode:
        raise RuntimeError(f"Graphviz failed: {child.stderr.decode(errors='replace').strip()[-500:]}")
    return child.stdout


laid_out = lru_cache(maxsize=64)(render)


def _graphviz(source: str, form: str) -> bytes:
    import pygraphviz

    # fonts and label sizes: the geometry does not depend on them
    with warnings.catch_warnings(), quiet_c_level():
        warnings.simplefilter("ignore", RuntimeWarning)
        return pygraphviz.AGraph(string=source).draw(format=form, prog="dot")


@contextlib.contextmanager
def quiet_c_level() -> Iterator[None]:
    """Discard what C libraries write on stderr: fontconfig comments there on the machine's own font settings."""
    before = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


_CHILD = """
import sys, warnings, pygraphviz
warnings.simplefilter("ignore", RuntimeWarning)
sys.stdout.buffer.write(pygraphviz.AGraph(string=sys.stdin.buffer.read().decode()).draw(format=sys.argv[1], prog="dot"))
"""


def painted(dot: str, form: str, dpi: int) -> bytes:
    """The picture of DOT in which all places are fixed: "png", or "gd", which has 11 bytes in front (width and height
    from the third) and four a pixel: transparency, red, green, blue."""
    import pygraphviz

    source = dot.replace("graph [", f"graph [dpi={dpi} ", 1)
    with quiet_c_level(), tempfile.TemporaryDirectory() as folder:  # "gd" is written into a file only
        path = Path(folder, "picture")
        pygraphviz.AGraph(string=source).draw(path=path, format=form, prog="nop2")
        return path.read_bytes()
