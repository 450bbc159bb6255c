"""A film as a still picture: for a paper, for a saved notebook where nothing may run, and as the frames of a GIF.

A still is a list of marks (boxes, lines, texts) with their positions. Lines are painted first, so that no arrow crosses a word;
this module turns it into SVG text, or into DOT with fixed positions, which Graphviz paints.
"""

from __future__ import annotations

import html
import re
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from ..picture.dot import quoted
from ..picture.gif import animation
from ..picture.layout import painted
from ..read.text import fit, one_line, width, write_whole
from .analysis import SceneAnalysis
from .findings import broken, norm_text
from .loss_curve import loss_text
from .norms import NONE
from .rows import lanes
from .scene import Arrow, short

RAMP = ["#fffde0", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58"]
INK, MUTED, ALARM, NOW = "#1b1f24", "#57606a", "#b42318", "#c05000"
_RGB = [[int(c[i : i + 2], 16) for c in RAMP] for i in (1, 3, 5)]
SHADES = ["#" + bytes(round(np.interp(x / 4, range(9), c)) for c in _RGB).hex() for x in range(33)]
HEAD = 20  # the line with the loss and the first finding
TOP, FOOT, WIDE, MOST, LANE = 78 + HEAD, 32, 880, 48, 11  # LANE: between arrows next to the table
NARROW = 2.0  # decades: if rows span less, each has its own scale
PAUSE, END = 0.12, 2.0  # seconds

# ("box", x, y, w, h, fill, line) | ("line", points, wide, colour, tip) | ("text", x, y, label, size, colour, anchor, bold)
Mark = tuple


def text(
    x: float, y: float, label: str, size: float, colour: str = INK, anchor: str = "start", bold: bool = False
) -> Mark:
    return "text", x, y, one_line(label), size, colour, anchor, bold


class Still:
    """One film, ready to be painted at any of its frames; ``place`` is its position in a grid of films, two per row."""

    def __init__(self, film: Any, label: str, wide: float = WIDE, place: int = 0):
        self.film, self.label, self.wide, self.line = film, label, wide, place // 2
        x = self.x = wide * (place % 2)
        self.looks = film._analyses()
        self.many = max(len(look.rows) for look in self.looks.values()) - 1  # rows
        self.pitch = max(4.0, min(36.0, 420 / max(1, self.many)))
        self.height = TOP + self.many * self.pitch + FOOT
        known = np.concatenate([look.into.ravel() for look in self.looks.values()])
        known = known[np.isfinite(known) & (known != NONE)]
        known = known if known.size else np.zeros(1)
        self.high = float(np.ceil(np.quantile(known, 0.95)))
        self.each = bool(np.ptp(known) < NARROW)
        least = self.high - (NARROW if self.each else 6)
        self.low = max(min(float(np.floor(np.quantile(known, 0.02))), least), self.high - 12)
        self.functions = max(len(r.functions) for look in self.looks.values() for r in look.rows)
        shown = self.pitch >= 16 and self.functions <= 4 and wide > 600
        self.fn = 100.0 if shown else 0.0
        self.lanes = {n: lanes(look.table.scene, look.row_of) for n, look in self.looks.items() if shown}
        self.beside = LANE * min(6, max((k for of in self.lanes.values() for k in of.values()), default=0))
        self.names = x + (self.beside + self.functions * self.fn + 14 if shown else 44)
        self.ribbon = (self.names + 206, x + wide - 16)

    def shades(self, decades: np.ndarray) -> list[str]:
        """The colours of a row of norms."""
        known = decades[np.isfinite(decades) & (decades != NONE)]
        low, high = self.low, self.high
        if self.each and known.size:
            wide = max(0.0, 0.15 - np.ptp(known)) / 2
            low, high = known.min() - wide, known.max() + wide
        with np.errstate(invalid="ignore"):
            part = np.nan_to_num(np.clip((decades - low) / (high - low), 0, 1))
        fills = zip(decades.tolist(), np.round(32 * part).astype(int).tolist(), strict=True)
        return [ALARM if broken(d) else "#ffffff" if d in (NONE, -np.inf) else SHADES[k] for d, k in fills]

    def at(self, frame: float) -> float:
        left, right = self.ribbon
        return left + (right - left) * frame / len(self.film)

    def marks(self, frame: int) -> list[Mark]:
        """Everything that is painted at one frame."""
        look = self.looks.get(self.film._scene_of[frame]) or next(iter(self.looks.values()))
        k = look.at.index(frame) if frame in look.at else 0
        marks = [*self._headline(), *self._ribbon(look, frame), *self._table(look, k), *self._loss(frame)]
        return sorted(marks, key=lambda mark: mark[0] != "line")

    def _headline(self) -> list[Mark]:
        """The loss from first to last, and the first finding, with as many of its later sentences as fit; the title."""
        known, room = [x for x in self.film.losses if x is not None], self.wide - 24
        sentences = [f"Loss {loss_text(known[0])} → {loss_text(known[-1])}."] if known else []
        sentences += [part for f in self.film.findings[:1] for part in re.split(r"(?<=[.?]) ", f.text)]
        while len(sentences) > 2 and width(" ".join(sentences), 12) > room:
            sentences.pop()
        title = text(self.x + 12, 18 + HEAD, self.label, 13, bold=True)
        return [text(self.x + 12, 18, fit(" ".join(sentences), room, 12), 12), title]

    def y(self, r: int) -> float:  # as in the stepper, values flow down to the loss, and gradients up from it
        return self.height - FOOT + (-(r - 0.5) * self.pitch if r else 20)

    def _ribbon(self, look: SceneAnalysis, frame: int) -> list[Mark]:
        out, words, high = [], [], self.pitch - (2.0 if self.pitch >= 10 else 0.0)
        for r in range(1, len(look.rows)):
            shades = self.shades(look.into[:, r])
            cells = zip(shades, look.at, [*look.at[1:], len(self.film)], strict=True)
            for fill, same in groupby(cells, itemgetter(0)):  # neighbours of one shade are one box
                _, (first, *_), (*_, last) = zip(*same, strict=True)
                x, y, wide = self.at(first), self.y(r), self.at(last) - self.at(first) + 0.5  # no seam
                out.append(("box", x, y - high / 2, wide, high, fill, fill))
                if fill == ALARM and wide > 30 and self.pitch > 12:
                    words.append(("box", x + wide / 2 - 13, y - 6, 26, 12, fill, fill))
                    words.append(text(x + wide / 2, y + 3.5, "NaN", 10, "#ffffff", "middle"))
        y = self.height - FOOT + 14
        for k in (0, len(self.film) - 1):
            out.append(text(self.at(k + 0.5), y, str(self.film.steps[k]), 10, MUTED, "middle"))
        now = "box", self.at(frame + 0.5) - 0.7, 26 + HEAD, 1.4, self.height - FOOT - 26 - HEAD, NOW, NOW
        return [*out, now, *words]

    def _table(self, look: SceneAnalysis, k: int) -> list[Mark]:
        out: list[Mark] = []
        size, h, scene = min(11.0, self.pitch - 1), min(9.0, self.pitch * 0.3), look.table.scene
        place: dict[int, complex] = {}
        for r, row in enumerate(look.rows):
            for c, f in enumerate(row.functions):
                q = place[f] = complex(self.names - 14 - self.fn * (len(row.functions) - c - 0.5), self.y(r))
                if self.fn:
                    out.append(("oval", q.real - 38, q.imag - h, 76, 2 * h, "#e4f0fa", "#2273ad"))
                    label = fit(short(scene.names[f]), 62, 10)
                    out.append(text(q.real, q.imag + 3.5, label, 10, INK, "middle"))
            if r and size >= 5:
                decade = look.into[k, r]
                y, ink = self.y(r) + size * 0.36, ALARM if broken(decade) else INK
                out.append(text(self.names, y, fit(row.name, 96, size, bold=True), size, bold=True))
                first = f"{norm_text(look.into[0, r])} → " if k else ""
                out.append(text(self.names + 196, y, first + norm_text(decade), size, ink, "end"))
        if self.fn:
            sent = ((a, look.arrows[k, a.index]) for a in scene.arrows if a.leaf is None)
            ways = [(self._way(look, place, a, h), decade) for a, decade in sent]
        else:  # one arrow into each row
            spine = pairwise(complex(self.x + 24, self.y(r)) for r in range(len(look.rows)))
            ways = [*zip(([a - 1j, b + 1j] for a, b in spine), look.into[k, 1:], strict=True)]
        shared = any(len(way) == 4 for way, _ in ways)  # the space between two rows, next to two arrows
        for way, decade in ways:
            most = min(7.0, self.pitch * (0.16 if shared else 0.42))
            part = np.clip((decade - self.low) / (self.high - self.low), 0, 1)
            wide = 0.8 + (most - 0.8) * part if abs(decade) < NONE else 1.0
            (*way, last, tip), ink = way, ALARM if broken(decade) else "#818a95"
            # the head is between the end of the line and its tip
            end = tip - (tip - last) * min(0.4, 7 / (abs(tip - last) or 1)) if self.fn else tip
            out.append(("line", _round([*way, last, end]), wide, ink, tip if self.fn else None))
        return out

    def _way(self, look: SceneAnalysis, place: dict[int, complex], a: Arrow, h: float) -> list[complex]:
        """The corners of an arrow from oval to oval, each ``2 * h`` high, to the row above: straight where nothing is in the
        way, otherwise through the middle between two rows; it passes other rows on their left."""
        p, q, h, gap = place[a.source], place[a.target], -h, self.pitch * -0.5j
        if lane := self.lanes[look.scene].get(a.index):
            x, leave, come = self.x + 12 + self.beside - LANE * min(lane, 6), p - 38 + gap, q - 38 - gap
            corners = [leave, complex(x, leave.imag), complex(x, come.imag), come]
            return [p - 24 + 0.7j * h, *corners, q - 24 - 0.8j * h]
        if p.imag != q.imag:
            side = np.sign(q.real - p.real)
            return [p + 24 * side + 0.75j * h, q - 24 * side - 0.8j * h] if side else [p + 1j * h, q - 1j * h]
        if q.real - p.real <= self.fn:
            return [p + 38, q - 38]
        return [p + 24 - 0.8j * h, p + 50 - gap, q - 50 - gap, q - 24 - 0.8j * h]

    def _loss(self, frame: int) -> list[Mark]:
        now = self.film.losses[frame]
        label = f"step {self.film.steps[frame]}" + (f"   loss {now:.4g}" if now is not None else "")
        out: list[Mark] = [text(self.ribbon[0], 18 + HEAD, label, 12, bold=True)]
        losses = np.array(self.film.losses, float)  # NaN for None
        known = np.flatnonzero(np.isfinite(losses))
        if known.size > 1:
            v = losses[known]
            v = np.log(v) if 0 < 20 * v.min() < v.max() else v
            down = 62 + HEAD - 32 * (v - v.min()) / (np.ptp(v) or 1.0)
            across = [self.at(i + 0.5) for i in known.tolist()]
            out.append(("line", [*map(complex, across, down.tolist())], 1.4, INK, None))
        return out


def _round(way: list[complex]) -> list[complex]:
    """A line with rounded corners, in short straight pieces."""
    out = way[:1]
    for a, b, c in zip(way[:-2], way[1:-1], way[2:], strict=True):
        start, end = ((z - b) * min(0.5, 9 / (abs(z - b) or 1)) for z in (a, c))
        out += [b + start * (1 - t) ** 2 + end * t * t for t in (0, 0.25, 0.5, 0.75, 1)]
    return [*out, way[-1]]


def _listed(points: list[complex]) -> str:
    return " ".join(f"{q.real:.1f},{q.imag:.1f}" for q in points)


def svg(*stills: Still) -> str:
    """The last frames of the films, side by side, as SVG."""
    pitch = max(s.height for s in stills)
    wide, high = max(s.x + s.wide for s in stills), pitch * (max(s.line for s in stills) + 1)
    size = f'viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" height="{high:.0f}"'
    face = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif"'
    out = [f'<svg {face} {size}><rect width="100%" height="100%" fill="#fff"/>']
    for still in stills:
        out += [f'<g transform="translate(0 {still.line * pitch:.0f})">', *_svg_of(still), "</g>"]
    return "".join([*out, "</svg>"])


def _svg_of(still: Still) -> list[str]:
    out: list[str] = []
    for kind, *mark in still.marks(len(still.film) - 1):
        if kind == "text":
            x, y, label, size, colour, anchor, bold = mark
            weight = ' font-weight="700"' * bold
            face = f'font-size="{size:g}" fill="{colour}" text-anchor="{anchor}"{weight}'
            out.append(f'<text x="{x:.1f}" y="{y:.1f}" {face}>{html.escape(label)}</text>')
        elif kind == "line":
            points, wide, colour, tip = mark
            face = f'fill="none" stroke="{colour}" stroke-width="{wide:.1f}"'
            out.append(f'<polyline points="{_listed(points)}" {face}/>')
            if tip is not None:
                side = 1j * (tip - points[-1]) / (abs(tip - points[-1]) or 1) * (wide / 2 + 2.2)
                head = _listed([tip, points[-1] + side, points[-1] - side])
                out.append(f'<polygon points="{head}" fill="{colour}"/>')
        else:
            x, y, w, h, fill, line = mark
            rx = f' rx="{w / 2:g}" ry="{h / 2:g}" stroke="{line}"' if kind == "oval" else ""
            out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"{rx} fill="{fill}"/>')
    return out


def dot(stills: list[Still], frames: list[int]) -> str:
    """The films at these frames, side by side, as DOT with all positions fixed."""
    pitch = -8 * min(-s.height // 8 for s in stills)  # gives whole pixels at 72 and at 81 dots per inch
    wide, height = max(s.x + s.wide for s in stills), pitch * (max(s.line for s in stills) + 1)

    def node(x: float, y: float, w: float, h: float, look: str) -> str:
        return f'[pos="{x + w / 2:.2f},{height - y - h / 2:.2f}!" width={w / 72:.4f} height={h / 72:.4f} {look}];'

    out = [
        "digraph { graph [bgcolor=white pad=0 outputorder=edgesfirst]; edge [arrowsize=0.35];",
        'node [fontname="Helvetica" fixedsize=true style=filled penwidth=0 label=""];',
        "g " + node(0, 0, wide, height, "shape=box style=invis"),
    ]
    for s, (still, frame) in enumerate(zip(stills, frames, strict=True)):
        down = still.line * pitch
        for i, (kind, *mark) in enumerate(still.marks(frame)):
            if kind == "text":
                x, y, label, size, colour, anchor, bold = mark
                w = width(label, size, bold=bold) + 4
                left = x - {"start": 2, "middle": w / 2, "end": w - 2}[anchor]
                face = "Helvetica-Bold" if bold else "Helvetica"
                look = f'shape=plain style="" label={quoted(label)} fontsize={size:.1f} fontcolor="{colour}" fontname="{face}"'
                box = left, down + y - size, w, size * 1.3
            elif kind == "line":
                points, w, colour, tip = mark
                at = [f"{q.real:.2f},{height - down - q.imag:.2f}" for q in points]
                # straight pieces as Bézier curves
                way = " ".join([at[0], *(f"{a} {b} {b}" for a, b in pairwise(at))])
                end = f"e,{tip.real:.2f},{height - down - tip.imag:.2f} " if tip is not None else ""
                look = f'penwidth={w:.2f} color="{colour}" arrowhead={"normal" if end else "none"}'
                out.append(f'g -> g [pos="{end}{way}" {look}];')
                continue
            else:
                x, y, w, h, fill, line = mark
                shape = "ellipse penwidth=1" if kind == "oval" else "box"
                look = f'shape={shape} fillcolor="{fill}" color="{line}"'
                box = x, down + y, w, h
            out.append(f"n{s}_{i} " + node(*box, look))
    return "\n".join([*out, "}"])


def stills_of(films: list[Any], labels: list[str]) -> list[Still]:
    """The films that have a frame, ready to be painted side by side on one scale."""
    shown = [(f, label) for f, label in zip(films, labels, strict=True) if f.steps]
    wide = WIDE if len(shown) == 1 else 432
    stills = [Still(f, label, wide, i) for i, (f, label) in enumerate(shown)]
    low, high = min(s.low for s in stills), max(s.high for s in stills)
    for still in stills:
        still.low, still.high, still.each = max(low, high - 12), high, still.each and len(stills) == 1
    return stills


def save_picture(films: list[Any], labels: list[str], path: Path) -> Path:
    """The last frame of the films as .svg, .pdf or .png."""
    stills, form = stills_of(films, labels), path.suffix.lower()[1:]
    if form == "svg":
        return write_whole(path, svg(*stills))
    return write_whole(path, painted(dot(stills, [len(s.film) - 1 for s in stills]), form, 144))


def save_gif(films: list[Any], labels: list[str], path: Path) -> Path:
    """The films as one animated GIF of at most 48 frames, on one axis of training steps."""
    stills = stills_of(films, labels)
    films = [still.film for still in stills]
    steps = sorted({step for f in films for step in f.steps})
    places = np.linspace(0, len(steps) - 1, min(MOST, len(steps))).round().astype(int)
    dpi = 81 if len(films) <= 2 else 72

    every = [np.searchsorted(f.steps, np.take(steps, places), "right") for f in films]
    at = [[max(0, int(k) - 1) for k in one] for one in zip(*every, strict=True)]
    frames = [painted(dot(stills, now), "gif", dpi) for now in at]
    pauses = [PAUSE] * (len(places) - 1) + [END]
    return write_whole(path, animation(frames, pauses, [NOW, ALARM]))
