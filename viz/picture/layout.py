"""Where Graphviz puts things: it takes DOT and returns positions. The picture itself is painted by ``svg.py``.

``engine.py`` has Graphviz itself. In this process it cannot be interrupted, so anything but a small picture is laid out by a
child process, which can be ended: every layout has a time limit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import lru_cache

import numpy as np

from ..read.text import width
from . import engine
from .dot import digraph
from .parts import Item, Link, Picture, Places, bezier

LANES = ("values, forward →", "← gradients, backward"), ("values, forward ↓", "gradients, backward ↑")
# points: between lanes; length of an arrow head; font size of a lane's caption, and the room for it
BETWEEN, HEAD, NOTE, WORDS = 30.0, 7.0, 10.5, 18.0
IN_PROCESS = 150  # up to this many items and links take some hundredths of a second, so no process is needed
# the time limit of a layout, in processor time if the system can measure it, so that a busy machine draws the same
SECONDS, STARTING = 2.0, 1.0  # STARTING: the time a process may take to start, where only the clock is known
FORMATS = ".svg", ".png", ".pdf", ".dot"  # in which a drawing can be saved


class LayoutTooSlow(RuntimeError):
    """Graphviz did not finish in time. The caller folds more of the picture and tries again."""


def least_length(p: Picture) -> float:
    """The least length along the direction of the picture, in points: its longest path (with two rails, that of the forward
    pass), with its items side by side. If this is too long already, there is no need to lay the picture out."""
    rightwards = p.direction == "LR"
    reach: dict[Item, float] = {}
    for a in [a for a in p.links if a.kind == "forward"] if p.same_rank else p.links:
        before, after = (a.head, a.tail) if a.backwards else (a.tail, a.head)
        own, start = (after.width, before.width) if rightwards else (after.height, before.height)
        own += 72 * p.gap if p.below else 0
        reach[after] = max(reach.get(after, 0.0), reach.get(before, start) + own)
    return max(reach.values(), default=0.0)


def places(p: Picture, margin: float = 10.0, seconds: float = SECONDS) -> Places:
    """Lay the picture out, once for all pictures of its form. Raises LayoutTooSlow after ``seconds``."""
    source = digraph(p, bare=True).source
    data = json.loads(laid_out(source, "json0", seconds, len(p.items) + len(p.links) <= IN_PROCESS))
    x0, y0, x1, y1 = map(float, data["bb"].split(","))
    axis, extent, mirrored = int(p.direction == "LR"), (x1 - x0, y1 - y0), False

    def point(text: str, dx: float = margin, dy: float = margin) -> tuple[float, float]:
        x, y = map(float, text.split(","))
        q = [x - x0, y1 - y]
        q[axis] = extent[axis] - q[axis] if mirrored else q[axis]
        return q[0] + dx, q[1] + dy

    objects = {o["name"]: o for o in data.get("objects", ())}
    laid = [item for item in p.items if item not in p.below]
    ways = [link for link in p.links if link not in p.mirrors]
    pos = {item: objects[f"n{i}"]["pos"] for i, item in enumerate(laid)}
    # Graphviz may put functions above their tensors; a reader wants the forward pass in the same place every time
    mirrored = np.mean([point(pos[a])[axis] < point(pos[b])[axis] for a, *_, b in p.same_rank] or [1]) < 0.5
    items, frames = {i.id: point(pos[i], margin - i.width / 2, margin - i.height / 2) for i in laid}, []
    for k in range(len(p.clusters)):
        left, low, right, high = objects[f"cluster_frame{k}"]["bb"].split(",")
        (x, y), (u, v) = point(f"{left},{high}"), point(f"{right},{low}")
        frames.append((min(x, u), min(y, v), abs(u - x), abs(v - y), y + (15 if y < v else -7)))
    lines, labels = {}, {}
    for e in data.get("edges", ()):
        parts, link = e.get("pos", "").split(), ways[int(e["id"][1:])]
        curve = [point(part) for part in parts if part[0] not in "es"]
        tips = {part[0]: point(part[2:]) for part in parts if part[0] in "es"}
        lines[link.id] = (curve, tips.get("e", tips.get("s")))
        if "lp" in e:
            labels[link.id] = point(e["lp"])
    at = Places(extent[0] + 2 * margin, extent[1] + 2 * margin, items, lines, labels, frames)
    return _in_lanes(p, at, margin) if p.below else _freed(p, at)


def _in_lanes(p: Picture, at: Places, margin: float) -> Places:
    """The lane of the gradients: below that of the values (beside it, where these flow down), each item at the same distance
    from its own value. Each arrow takes the shortest smooth path or, if something is in its way, Graphviz's."""
    along, across = (0, 1) if p.direction == "LR" else (1, 0)

    def size(item: Item) -> tuple[float, float]:
        return (item.width, item.height) if along == 0 else (item.height, item.width)

    def point(u: float, v: float) -> tuple[float, float]:
        return (u, v) if along == 0 else (v, u)

    placed: dict[Item, tuple[float, float]] = {}  # its position along and across, before its lane is moved
    for item in p.items:
        above = p.below.get(item, item)
        u, v = (at.items[above.id][axis] for axis in (along, across))
        placed[item] = u + (size(above)[0] - size(item)[0]) / 2, v + (size(above)[1] - size(item)[1]) / 2

    ends = {link: (link.head, link.tail) if link.backwards else (link.tail, link.head) for link in p.links}
    port = _ports(ends, placed, size)
    lines: dict[Link, tuple[list, tuple | None]] = {}
    for link, (before, after) in ends.items():
        a = (placed[before][0] + size(before)[0], port[link, 0])
        b = (placed[after][0], port[link, 1])
        tip = None if link.headless else a if link.backwards else b
        start = (a[0] + HEAD, a[1]) if tip is a else a
        end = (b[0] - HEAD, b[1]) if tip is b else b
        rest = ((item, q) for item, q in placed.items() if item not in (before, after))
        others = [(*q, *size(item)) for item, q in rest if (item in p.below) == (before in p.below)]
        curve = _smooth(start, end, others)
        # Graphviz's own way around the obstacles, if possible leaving and arriving along the lane
        if curve is None:
            way = [(q[along], q[across]) for q in at.lines[p.mirrors.get(link, link).id][0]]
            soft = [start, (way[1][0], start[1]), *way[2:-2], (way[-2][0], end[1]), end]
            ways = [soft, [start, *way[1:-1], end], [start, start, way[0], *way, way[-1], end, end]]
            curve = next((way for way in ways if _clear(way, others)), ways[-1])
        lines[link] = curve, tip

    reach = [[v for f in at.frames for v in (f[across], f[across] + f[2 + across])], []]  # edges of frames
    for item, (_, v) in placed.items():
        reach[item in p.below] += [v, v + size(item)[1]]
    for link, (curve, _) in lines.items():
        reach[link in p.mirrors] += [v for _, v in curve]
    shift = [(0.0, margin + WORDS - min(reach[0])) if along == 0 else (WORDS, margin - min(reach[0]))]
    shift.append((shift[0][0], shift[0][1] + max(reach[0]) - min(reach[1]) + BETWEEN))

    def moved(lane: bool, q: tuple[float, float]) -> tuple[float, float]:
        return point(q[0] + shift[lane][0], q[1] + shift[lane][1])

    at.items = {item.id: moved(item in p.below, q) for item, q in placed.items()}
    for link, (curve, tip) in lines.items():
        lane = link in p.mirrors
        at.lines[link.id] = [moved(lane, q) for q in curve], tip and moved(lane, tip)
    dx, dy = point(*shift[0])
    at.frames = [(x + dx, y + dy, w, h, base + dy) for x, y, w, h, base in at.frames]
    last, middle = max(reach[1]) + shift[1][1], max(reach[0]) + shift[0][1] + BETWEEN / 2
    left, right = (width(text, NOTE) / 2 for text in LANES[along])
    if along == 0:
        at.height, where = last + WORDS, (margin + 9, last + WORDS - 5)
    else:
        at.width, at.height, where = last + margin, at.height + WORDS, (margin + 9, margin + 9)
    at.apart = (*point(margin, middle), *point((at.width, at.height)[along] - margin, middle))
    at.lanes = list(zip(LANES[along], (margin + left, at.width - margin - right), where, strict=True))
    return at


def _smooth(start: tuple[float, float], end: tuple[float, float], others: list[tuple]) -> list | None:
    """A path that leaves and arrives along the lane and touches none of the ``others``: it bends at once, or after or
    before everything in between. None if there is no such path."""
    between = [q for q in others if q[0] + q[2] > start[0] and q[0] < end[0]]
    late = max((u + wide for u, _, wide, _ in between), default=0)
    early = min((u for u, *_ in between), default=0)
    for a, b in ((start[0], end[0]), (late + 2, end[0]), (start[0], early - 2)):
        if not start[0] <= a < b - 8 or b > end[0]:
            continue
        middle = (a + b) / 2
        bend = [(a, start[1]), (middle, start[1]), (middle, end[1]), (b, end[1])]
        before = [start, start, bend[0]] if a > start[0] else []
        curve = [*before, *bend, *([bend[3], end, end] if b < end[0] else [])]
        if _clear(curve, others):
            return curve
    return None


def _clear(curve: list, others: list[tuple]) -> bool:
    """Whether a path touches none of the others: (start along, start across, extent along, extent across)."""
    x, y = np.vstack([bezier(24) @ np.array(curve[i : i + 4]) for i in range(0, len(curve) - 3, 3)]).T
    u, v, w, h = np.array(others, float).reshape(-1, 4).T[..., None]
    return not ((x > u) & (x < u + w) & (y > v - 3) & (y < v + h + 3)).any()


def _ports(ends: dict[Link, tuple[Item, Item]], placed: dict, size) -> dict[tuple[Link, int], float]:
    """Where across the lane each arrow leaves and arrives: the middle of a word, side by side at a card, ordered by their
    origins."""
    found = {}
    arrows: dict[tuple[Item, int], list[Link]] = {}
    for link, pair in ends.items():
        for k, item in enumerate(pair):
            arrows.setdefault((item, k), []).append(link)
    for (item, k), links in arrows.items():
        middle, room = placed[item][1] + size(item)[1] / 2, size(item)[1]
        others = {link: placed[ends[link][1 - k]][1] + size(ends[link][1 - k])[1] / 2 for link in links}
        by = 0.0 if item.outline == "pill" else min(13.0, (room - 16) / len(links))
        for n, link in enumerate(sorted(links, key=others.__getitem__)):
            found[link, k] = middle + (n - (len(links) - 1) / 2) * by
    return found


def _freed(p: Picture, at: Places) -> Places:
    """Each label at its own arrow; if another arrow crosses it, in the nearest free place along the arrow or beside it."""
    sizes = {item.id: complex(item.width, item.height) for item in p.items}
    centres = {ident: complex(*q) + sizes.get(ident, 0) / 2 for ident, q in (at.items | at.labels).items()}
    sizes |= {link.id: complex(link.label_width, 15) for link in p.links}

    def meets(points: np.ndarray, spot: complex, size: complex | np.ndarray) -> bool:
        off = points - spot
        return bool(((abs(off.real) < size.real / 2) & (abs(off.imag) < size.imag / 2)).any())

    for ident in list(at.labels):
        now, size, own = centres.pop(ident), sizes[ident], at.ways[ident]
        others = np.concatenate([own[[0, -1]], *(way for a, way in at.ways.items() if a != ident)])
        boxes, room = np.array([*centres.values()]), size + np.array([sizes[a] for a in centres])
        if meets(others[2:], now, size - (4 + 4j)):
            asides = (0, size.real / 2 + 4, -size.real / 2 - 4, 12j, -12j, 24j, -24j)
            spots = sorted((spot + by for spot in own for by in asides), key=lambda spot: abs(spot - now))
            spots = (spot for spot in spots if not meets(boxes, spot, room))
            spot = next((spot for spot in spots if not meets(others, spot, size + (2 + 2j))), None)
            now = now if spot is None else spot
        lines, by = np.concatenate([own, others]), (own[abs(own - now).argmin()] - now) / 12
        while not (meets(lines, now + by, size) or meets(boxes, now + by, room)):
            now += by
        # no place is free: no label is better than one with an arrow across it
        if meets(others[2:], now, size - (4 + 4j)):
            del at.labels[ident]
            continue
        centres[ident], at.labels[ident] = now, (now.real, now.imag)
    return at


def render(source: str, form: str, seconds: float = SECONDS, here: bool = False) -> bytes:
    """DOT rendered by Graphviz: ``here``, in this process, or with a time limit in a child process, which in a browser is a
    worker. Raises LayoutTooSlow after ``seconds``."""
    if here:
        return engine.layout(source, form)
    if source in TOO_SLOW and TOO_SLOW[source] >= seconds:
        raise LayoutTooSlow(TOO_LONG.format(TOO_SLOW[source]))
    try:
        if engine.IN_BROWSER:
            return engine.wasm(form).layout_within(source, form, seconds).encode()
        return _in_child(source, form, seconds)
    except TimeoutError:
        TOO_SLOW[source] = seconds
        raise LayoutTooSlow(TOO_LONG.format(seconds)) from None


laid_out = lru_cache(maxsize=64)(render)

TOO_SLOW: dict[str, float] = {}  # layouts that took too long, with their time limits: not tried again
TOO_LONG = (
    "Graphviz could not place this graph within {:g} seconds. Draw less of it: fold=True, one layer or one time step; or "
    "give it more time, such as seconds=20."
)


def _in_child(source: str, form: str, seconds: float) -> bytes:
    """Graphviz in a process that ends itself after ``seconds`` of processor time; the clock is a second limit."""
    # -P: a module in the user's folder must not shadow one of the library's
    command = [sys.executable, "-P", "-c", _PROGRAM, form, f"{seconds}"]
    limit = seconds + STARTING if os.name == "nt" else 4 * (seconds + STARTING)
    try:
        done = subprocess.run(command, input=source.encode(), capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    if done.returncode < 0:  # ended by the timer's signal
        raise TimeoutError
    if done.returncode:
        engine.load()  # raises an error that says why it could not start
        raise RuntimeError(f"Graphviz failed: {done.stderr.decode(errors='replace').strip()[-500:]}")
    return done.stdout


_PROGRAM = """
import signal, sys, pygraphviz
graph = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode())
if hasattr(signal, "setitimer"):
    signal.setitimer(signal.ITIMER_PROF, float(sys.argv[2]))
sys.stdout.buffer.write(graph.draw(format=sys.argv[1], prog="dot"))
"""


def painted(dot: str, form: str, dpi: int) -> bytes:
    """The picture of DOT in which all positions are fixed, as "png" (which a frame of a "gif" is, too) or "pdf"."""
    return engine.layout(dot.replace("graph [", f"graph [dpi={dpi} ", 1), form, "nop2")
