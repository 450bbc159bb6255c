"""A film as plain JSON: the tables of its scenes, what its columns mean, the findings. Every string in it is untrusted text."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any

from ..read.text import one_line, shape_text
from .frame_table import FrameTable
from .rows import Row, lanes
from .scene import short

# parts of kept passes: passes of one model share them, so they are sent once
ONCE = ("svg", "edges", "pictures")
MOST_RUNS = 2_000  # at most this many dead units
# losses that JSON cannot hold, as JavaScript reads them
WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def payload(films: list[Any], titles: list[str] | None = None) -> dict[str, Any]:
    """Everything that the player shows, for one film or several side by side. Strict JSON."""
    titles = titles or [film.title or "" for film in films]
    shown = [_film(film, one_line(title)) for film, title in zip(films, titles, strict=True)]
    shared: list[Any] = []
    for kept in [kept for film in shown for kept in film["kept"].values()]:
        shared += [kept[key] for key in ONCE if kept[key] not in shared]
        kept |= {key: shared.index(kept[key]) for key in ONCE}
    return {"films": shown, "shared": shared}


def _film(film: Any, title: str) -> dict[str, Any]:
    scenes = film._scenes()
    place = {number: k for k, (number, _, _) in enumerate(scenes)}
    return {
        "title": title,
        "every": film.every,
        "steps": film.steps,
        "losses": [WORDS.get(str(x), x) for x in film.losses],
        "scenes": [_scene(table, rows) for _, table, rows in scenes],
        "findings": [
            dict(zip(("from", "to", "row"), f.place, strict=True))
            | {"kind": f.kind, "node": f.node, "scene": place[f.scene], "text": one_line(f.text)}
            | {"alarm": f.alarm, "under": f.cause is not None}
            for f in film.findings
            if f.scene in place
        ],
        "kept": film._kept_passes(),
        "notes": film.notes,  # last, since everything above may add to them
    }


def _scene(table: FrameTable, rows: list[Row]) -> dict[str, Any]:
    scene = table.scene
    gates = {f: k for k, f in enumerate(scene.gates)}
    places = {f: (r, c) for r, row in enumerate(rows) for c, f in enumerate(row.functions)}
    row_of, number = {f: r for f, (r, _) in places.items()}, {f: k for k, f in enumerate(places)}
    functions = []
    for f, (r, c) in places.items():
        name = one_line(scene.names[f])
        named = {"name": name, "label": short(name), "row": r, "column": c}
        functions.append(named | {"gate": gates.get(f, -1)})
    uses = Counter(a.leaf for row in rows for a in row.leaves)
    last_use = {a.leaf: a.index for row in rows for a in row.leaves}
    leaves, box = [], {}
    for r, row in enumerate(rows):
        for place, a in enumerate(row.leaves):
            name, box[a.index] = one_line(table.names[a.leaf]), len(leaves)
            leaf = {"name": name, "label": name.rpartition(".")[2] or name, "leaf": a.leaf, "row": r}
            use = {"alias": a.index != last_use[a.leaf], "uses": uses[a.leaf], "column": a.index}
            leaves.append(leaf | use | {"place": place, "shape": shape_text(table.shapes[a.leaf])})
    arrows, lane_of = [], lanes(scene, row_of)
    for a in sorted(scene.arrows, key=lambda a: (row_of[a.source], row_of.get(a.target, 0))):
        way = {"from": number[a.source], "to": number.get(a.target), "leaf": box.get(a.index)}
        arrows.append(way | {"column": a.index, "hops": a.hops, "lane": lane_of.get(a.index, 0)})
    return {
        "at": list(table.at),
        "rows": [
            {"name": one_line(row.name), "into": table.into(row.functions[0])}
            | {"functions": len(row.functions), "leaves": len(row.leaves)}
            for row in rows
        ],
        "functions": functions,
        "leaves": leaves,
        "arrows": arrows,
        "lanes": max(lane_of.values(), default=0),
        "folded": scene.folded,
        "parts": {name: part.start for name, part in table.columns.items()},
        "width": table.width,
        "dead": [[gates[f], u, a, b] for f, u, a, b in table.dead()[:MOST_RUNS]],
        "table": base64.b64encode(table.decades().astype("<f4").tobytes()).decode(),
    }
