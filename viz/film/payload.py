"""A film as plain JSON: the tables of its scenes, what its columns mean, the findings. Every string in it is untrusted text."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ..read.text import one_line, shape_text
from .reel import Reel
from .rows import Row
from .scene import short

MOST_RUNS = 2_000  # of dead units, as many are told


def payload(films: list[Any], titles: list[str] | None = None) -> dict[str, Any]:
    """Everything that the player shows, for one film or several beside each other. Strict JSON."""
    titles = titles or [film.title or "" for film in films]
    several = len(films) > 1
    return {"relative": several, "films": [_film(f, one_line(t)) for f, t in zip(films, titles, strict=True)]}


def _film(film: Any, title: str) -> dict[str, Any]:
    scenes = film.scenes()
    place = {number: k for k, (number, _, _) in enumerate(scenes)}
    return {
        "title": title,
        "every": film.every,
        "steps": list(film.steps),
        "losses": [x if x is None or np.isfinite(x) else _word(x) for x in film.losses],
        "scenes": [_scene(reel, rows) for _, reel, rows in scenes],
        "findings": [
            {
                "kind": f.kind,
                "from": f.place[0],
                "to": f.place[1],
                "row": f.place[2],
                "node": f.node,
                "scene": place[f.scene],
                "text": one_line(f.text),
            }
            for f in film.findings
            if f.scene in place
        ],
        "notes": list(film.notes),
        "kept": film.whole(),
    }


def _word(x: float) -> str:
    """A loss that JSON cannot hold, as JavaScript reads it."""
    return "NaN" if x != x else "Infinity" if x > 0 else "-Infinity"


def _scene(reel: Reel, rows: list[Row]) -> dict[str, Any]:
    scene = reel.scene
    start = {name: part.start for name, part in reel.columns.items()}
    row_of = {f: r for r, row in enumerate(rows) for f in row.functions}
    gates = {f: k for k, f in enumerate(scene.gates)}
    functions = [
        {
            "name": one_line(scene.names[f]),
            "label": one_line(short(scene.names[f])),
            "row": r,
            "column": c,
            "gate": gates.get(f, -1),
        }
        for r, row in enumerate(rows)
        for c, f in enumerate(row.functions)
    ]
    number = {f: k for k, f in enumerate(f for row in rows for f in row.functions)}
    last_use = {a.leaf: a.index for row in rows for a in row.leaves}
    counts = {k: sum(a.leaf == k for row in rows for a in row.leaves) for k in range(len(scene.leaves))}
    leaves, box = [], {}
    for r, row in enumerate(rows):
        for place, a in enumerate(row.leaves):
            name = one_line(reel.names[a.leaf])
            box[a.index] = len(leaves)
            leaves.append(
                {
                    "name": name,
                    "label": name.rpartition(".")[2] or name,
                    "leaf": a.leaf,
                    "row": r,
                    "place": place,
                    "alias": a.index != last_use[a.leaf],
                    "uses": counts[a.leaf],
                    "column": a.index,
                    "shape": shape_text(reel.shapes[a.leaf]),
                }
            )
    arrows, lanes = [], _Lanes()
    drawn = sorted(scene.arrows, key=lambda a: (row_of[a.source], row_of.get(a.target, 0)))
    for a in drawn:
        leaf = box.get(a.index)
        span = (row_of[a.source], row_of.get(a.target, 0))
        far = leaf is None and span[1] - span[0] != 1 and span[0] != span[1]
        arrows.append(
            {
                "from": number[a.source],
                "to": None if leaf is not None else number[a.target],
                "leaf": leaf,
                "column": a.index,
                "hops": a.hops,
                "lane": lanes.take(*span) if far else 0,
            }
        )
    return {
        "at": list(reel.at),
        "rows": [
            {
                "name": one_line(row.name),
                "into": _into(reel, row.functions[0]),
                "functions": len(row.functions),
                "leaves": len(row.leaves),
            }
            for row in rows
        ],
        "functions": functions,
        "leaves": leaves,
        "arrows": arrows,
        "lanes": lanes.count,
        "folded": scene.folded,
        "parts": start,
        "width": reel.width,
        "dead": [[gates[f], u, a, b] for f, u, a, b in reel.dead()[:MOST_RUNS]],
        "table": base64.b64encode(reel.table().astype("<f4").tobytes()).decode(),
    }


def _into(reel: Reel, f: int) -> int:
    """The column with the norm of what a function receives; -1 for the first, which receives what backward was given."""
    arrows = reel.scene.into.get(f, [])
    if len(arrows) == 1:
        return arrows[0].index
    return reel.columns["join"].start + reel.scene.joins.index(f) if arrows else -1


class _Lanes:
    """Ways beside the table for arrows that skip rows: the first lane that is free over all their rows, from 1."""

    def __init__(self) -> None:
        self.taken: list[list[tuple[int, int]]] = []

    @property
    def count(self) -> int:
        return len(self.taken)

    def take(self, a: int, b: int) -> int:
        low, high = min(a, b), max(a, b)
        for k, spans in enumerate(self.taken, 1):
            if all(high <= x or y <= low for x, y in spans):
                spans.append((low, high))
                return k
        self.taken.append([(low, high)])
        return len(self.taken)
