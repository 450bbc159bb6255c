"""A film as a still picture: the SVG that a saved notebook shows where nothing may run, and the frames of a GIF.

A still is a list of marks (boxes, lines, texts) with their places; it becomes SVG text here, or DOT whose places are fixed,
which Graphviz paints.
"""

from __future__ import annotations

import html
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..picture.gif import animation
from ..picture.layout import painted
from ..read.text import fit, width, write_whole
from .findings import Looker, broken, say
from .norms import NONE
from .scene import short

RAMP = ["#fffde0", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58"]
INK, MUTED, ALARM, NOW = "#1b1f24", "#57606a", "#b42318", "#c05000"
TOP, FOOT, WIDE, SHADES, MOST = 78, 22, 880, 32, 48
PAUSE, END = 0.12, 2.0  # seconds

Mark = tuple  # ("box", x, y, w, h, fill, line, label) | ("line", points, wide, colour, head) | ("text", x, y, said, ...)


def _shade(t: float) -> str:
    x = round(max(0.0, min(1.0, t)) * SHADES) / SHADES * (len(RAMP) - 1)
    k = min(len(RAMP) - 2, int(x))
    pair = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in RAMP[k : k + 2]]
    return "#" + "".join(f"{round(a + (b - a) * (x - k)):02x}" for a, b in zip(*pair, strict=True))


def text(
    x: float, y: float, said: str, size: float, colour: str = INK, anchor: str = "start", bold: bool = False
) -> Mark:
    return "text", x, y, said, size, colour, anchor, bold


class Still:
    """One film, ready to be painted at any of its frames; ``place`` counts those beside it, two in a line."""

    def __init__(self, film: Any, label: str, wide: float = WIDE, place: int = 0):
        self.film, self.label, self.wide, self.line = film, label, wide, place // 2
        x = self.x = wide * (place % 2)
        self.looks = film.lookers()
        many = max(len(look.rows) for look in self.looks.values()) - 1
        self.pitch = max(4.0, min(36.0, 420 / max(1, many)))
        self.height = TOP + many * self.pitch + FOOT
        known = np.concatenate([look.into.ravel() for look in self.looks.values()])
        known = known[np.isfinite(known) & (known != NONE)]
        known = known if known.size else np.zeros(1)
        self.high = float(np.ceil(np.quantile(known, 0.95)))
        self.low = max(min(float(np.floor(np.quantile(known, 0.02))), self.high - 6), self.high - 12)
        self.functions = max(len(r.functions) for look in self.looks.values() for r in look.rows)
        shown = self.pitch >= 16 and self.functions <= 4 and wide > 600
        self.fn = 100.0 if shown else 0.0
        self.names = x + (self.functions * self.fn + 14 if shown else 44)
        self.ribbon = (self.names + 170, x + wide - 16)

    def part(self, decade: float) -> float:
        return max(0.0, min(1.0, (decade - self.low) / (self.high - self.low)))

    def at(self, frame: float) -> float:
        left, right = self.ribbon
        return left + (right - left) * frame / len(self.film)

    def marks(self, frame: int) -> list[Mark]:
        """Everything that is painted at one frame."""
        look = self.looks.get(self.film.scene_of[frame]) or next(iter(self.looks.values()))
        k = look.at.index(frame) if frame in look.at else 0
        label = text(self.x + 12, 18, self.label, 13, bold=True)
        return [label, *self._ribbon(look), *self._table(look, k), *self._loss(frame)]

    def y(self, r: int) -> float:
        return TOP + (r - 0.5) * self.pitch if r else TOP - 24

    def _ribbon(self, look: Looker) -> list[Mark]:
        out, gap = [], 1.0 if self.pitch >= 10 else 0.0
        for r in range(1, len(look.rows)):
            cells: list[list] = []  # [first, last, fill]: neighbours of one shade are one box
            for k, decade in enumerate(look.into[:, r].tolist()):
                first = look.at[k]
                last = look.at[k + 1] if k + 1 < len(look.at) else len(self.film)
                fill = "#ffffff" if decade in (NONE, -np.inf) else _shade(self.part(decade))
                fill = ALARM if broken(decade) else fill
                if cells and cells[-1][2] == fill:
                    cells[-1][1] = last
                else:
                    cells.append([first, last, fill])
            y = TOP + (r - 1) * self.pitch + gap
            for first, last, fill in cells:
                x = self.at(first)
                word = "NaN" if fill == ALARM and self.at(last) - x > 30 and self.pitch > 12 else ""
                out.append(("box", x, y, self.at(last) - x, self.pitch - 2 * gap, fill, fill, word))
        y = TOP + (len(look.rows) - 1) * self.pitch + 14
        for k in (0, len(self.film) - 1):
            out.append(text(self.at(k + 0.5), y, str(self.film.steps[k]), 10, MUTED, "middle"))
        return out

    def _table(self, look: Looker, k: int) -> list[Mark]:
        out: list[Mark] = []
        size = min(11.0, self.pitch - 1)
        scene, most = look.reel.scene, min(10.0, self.pitch * 0.42)
        place: dict[int, tuple[float, float]] = {}
        for r, row in enumerate(look.rows):
            for c, f in enumerate(row.functions):
                place[f] = (self.names - 14 - self.fn * (len(row.functions) - c - 0.5), self.y(r))
            if r and size >= 5:
                decade = look.into[k, r]
                y, ink = self.y(r) + size * 0.36, ALARM if broken(decade) else INK
                out.append(text(self.names, y, fit(row.name, 96, size, bold=True), size, bold=True))
                out.append(text(self.names + 158, y, say(decade), size, ink, "end"))
        arrows = [(a.source, a.target, look.arrows[k, a.index]) for a in scene.arrows if a.leaf is None]
        if not self.fn:  # one arrow into each row
            place = {row.functions[0]: (self.x + 24, self.y(r)) for r, row in enumerate(look.rows)}
            firsts = [row.functions[0] for row in look.rows]
            arrows = [(a, b, look.into[k, r]) for r, (a, b) in enumerate(pairwise(firsts), 1)]
        h = min(9.0, self.pitch * 0.3) if self.fn else 1.0
        for a, b, decade in arrows:
            (x1, y1), (x2, y2) = place[a], place[b]
            bad = broken(decade)
            known = not bad and np.isfinite(decade) and decade != NONE
            wide = 0.8 + (most - 0.8) * self.part(decade) if known else 1.0
            ends = [(x1 + 38, y1), (x2 - 38, y2)] if y1 == y2 else [(x1, y1 + h), (x2, y2 - h)]
            out.append(("line", ends, wide, ALARM if bad else "#818a95", bool(self.fn)))
        if self.fn:
            for f, (x, y) in place.items():
                label = fit(short(scene.names[f]), 62, 10)
                out.append(("oval", x - 38, y - h, 76, 2 * h, "#e4f0fa", "#2273ad", label))
        return out

    def _loss(self, frame: int) -> list[Mark]:
        known = {i: v for i, v in enumerate(self.film.losses) if v is not None and np.isfinite(v)}
        now = self.film.losses[frame]
        said = f"step {self.film.steps[frame]}" + (f"   loss {now:.4g}" if now is not None else "")
        out: list[Mark] = [text(self.ribbon[0], 18, said, 12, bold=True)]
        if known:
            low, high = min(known.values()), max(known.values())
            if low > 0 and high > 20 * low:  # as logarithms
                known, low, high = {i: float(np.log(v)) for i, v in known.items()}, np.log(low), np.log(high)
            size = float(high - low) or 1.0
            points = [(self.at(i + 0.5), 62 - 32 * (v - low) / size) for i, v in known.items()]
            if len(points) > 1:
                out.append(("line", points, 1.4, INK, False))
        x = self.at(frame + 0.5)
        out.append(("line", [(x, 26), (x, self.height - FOOT)], 1.4, NOW, False))
        return out


def svg(still: Still) -> str:
    """The last frame as SVG."""
    box = f'viewBox="0 0 {WIDE} {still.height:.0f}" font-family="sans-serif"'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" {box}><rect width="100%" height="100%" fill="#fff"/>']
    for kind, *mark in still.marks(len(still.film) - 1):
        if kind == "text":
            x, y, said, size, colour, anchor, bold = mark
            face = f'font-size="{size:.1f}" fill="{colour}" text-anchor="{anchor}" font-weight="{700 if bold else 400}"'
            out.append(f'<text x="{x:.1f}" y="{y:.1f}" {face}>{html.escape(said)}</text>')
        elif kind == "line":
            points, wide, colour, _ = mark
            way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            out.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="{wide:.1f}"/>')
        else:
            x, y, w, h, fill, line, said = mark
            rx = f' rx="{w / 2:.1f}" ry="{h / 2:.1f}" stroke="{line}"' if kind == "oval" else ""
            out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"{rx} fill="{fill}"/>')
            if said:
                place = f'x="{x + w / 2:.1f}" y="{y + h / 2 + 3.5:.1f}" text-anchor="middle" font-size="10"'
                out.append(f'<text {place} fill="{INK if rx else "#fff"}">{html.escape(said)}</text>')
    return "".join([*out, "</svg>"])


def dot(stills: list[Still], frames: list[int]) -> str:
    """The films at these frames, beside each other, as DOT with all places fixed."""
    pitch = max(s.height for s in stills)
    wide, height = max(s.x + s.wide for s in stills), pitch * (max(s.line for s in stills) + 1)

    def quoted(said: str) -> str:
        plain = "".join(c if c.isprintable() else " " for c in said)
        return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def node(x: float, y: float, w: float, h: float, look: str) -> str:
        return f'[pos="{x + w / 2:.2f},{height - y - h / 2:.2f}!" width={w / 72:.4f} height={h / 72:.4f} {look}];'

    out = [
        "digraph { graph [bgcolor=white pad=0 outputorder=nodesfirst]; edge [arrowsize=0.35];",
        'node [fontname="Helvetica" fixedsize=true style=filled penwidth=0 label=""];',
    ]
    out.append("g " + node(0, 0, wide, height, "shape=box fillcolor=white"))
    for s, (still, frame) in enumerate(zip(stills, frames, strict=True)):
        down = still.line * pitch
        for i, (kind, *mark) in enumerate(still.marks(frame)):
            name = f"n{s}_{i}"
            if kind == "text":
                x, y, said, size, colour, anchor, bold = mark
                w = width(said, size, bold=bold) + 4
                left = x - {"start": 2, "middle": w / 2, "end": w - 2}[anchor]
                face = "Helvetica-Bold" if bold else "Helvetica"
                look = f'shape=plain style="" label={quoted(said)} fontsize={size:.1f} fontcolor="{colour}" fontname="{face}"'
                out.append(f"{name} " + node(left, down + y - size, w, size * 1.3, look))
            elif kind == "line":
                way, w, colour, head = mark
                points = [(x, down + y) for x, y in way]
                tip = points[-1]
                if head:  # the arrow's head stands between the end of the line and its tip
                    (x1, y1), (x2, y2) = points[-2:]
                    part = 1 - min(0.4, 7 / (np.hypot(x2 - x1, y2 - y1) or 1))
                    points = [*points[:-1], (x1 + (x2 - x1) * part, y1 + (y2 - y1) * part)]
                ways = [points[0]]  # straight pieces as Bézier curves
                for (x1, y1), (x2, y2) in pairwise(points):
                    ways += [(x1, y1), (x2, y2), (x2, y2)]
                way = " ".join(f"{x:.2f},{height - y:.2f}" for x, y in ways)
                end = f"e,{tip[0]:.2f},{height - tip[1]:.2f} " if head else ""
                look = f'penwidth={w:.2f} color="{colour}" arrowhead={"normal" if head else "none"}'
                out.append(f'g -> g [pos="{end}{way}" {look}];')
            else:
                x, y, w, h, fill, line, said = mark
                shape = "ellipse penwidth=1" if kind == "oval" else "box"
                ink = INK if kind == "oval" else "white"
                look = f'shape={shape} fillcolor="{fill}" color="{line}" label={quoted(said)} fontsize=10 fontcolor="{ink}"'
                out.append(f"{name} " + node(x, down + y, w, h, look))
    return "\n".join([*out, "}"])


def save_gif(films: list[Any], labels: list[str], path: Path) -> Path:
    """The films as one animated GIF of at most 48 frames, on one axis of training steps."""
    wide = WIDE if len(films) == 1 else 430
    stills = [Still(f, label, wide, i) for i, (f, label) in enumerate(zip(films, labels, strict=True))]
    low, high = min(s.low for s in stills), max(s.high for s in stills)  # one scale
    for still in stills:
        still.low, still.high = max(low, high - 12), high
    steps = sorted({step for f in films for step in f.steps})
    places = np.linspace(0, len(steps) - 1, min(MOST, len(steps))).round().astype(int)
    dpi = 80 if len(films) <= 2 else 72

    def frame(step: int) -> bytes:
        frames = [max(0, int(np.searchsorted(f.steps, step, "right")) - 1) for f in films]
        return painted(dot(stills, frames), "gd", dpi)

    pauses = [PAUSE] * (len(places) - 1) + [END]
    return write_whole(path, animation([frame(steps[i]) for i in places], pauses, [NOW, ALARM]))
