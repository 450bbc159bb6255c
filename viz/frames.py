"""The steps of a recorded pass as pictures for slides: a numbered PNG series or one animated GIF.

Graphviz paints each frame from the places that the payload already has (nothing is laid out again, so nothing moves); the
GIF frames that it makes are joined here, byte by byte, because no other library is needed for that.
"""

from __future__ import annotations

import re
import struct
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .layout import _quiet_c_level
from .text import shape_text

SVG = "{http://www.w3.org/2000/svg}"
CAPTION = 46.0  # points below the picture, for the sentence
FILLS = {
    "function": ("#e4f0fa", "#2273ad"),
    "accumulate": ("#fff2bf", "#8a6100"),
    "leaf": ("#ddf5e3", "#1a7f37"),
}
PLAIN = ("#f0f2f5", "#6e7781")
NOW, DONE, WAIT = "#c05000", "#0072b2", "#8c959f"


def _quoted(text: str) -> str:
    """A DOT string whose label escapes (\\N, \\G, ...) mean nothing; line ends stay."""
    clean = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    return '"' + clean.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _number(value: Mapping | None) -> str:
    if not value:
        return ""
    values = value.get("values")
    if values and len(values) == 1:
        return f"{float(values[0]):.4g}"
    return shape_text(tuple(value["shape"]))


def _curves(svg: str) -> dict[str, tuple[list[tuple[float, float]], tuple[float, float] | None]]:
    """The places of the arrows, from the picture: control points of the line and the tip of the head, by edge id."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        parts = {p.get("class"): p.get("d", "") for p in group.findall(f"{SVG}path")}
        if "line" in parts and group.get("id"):
            numbers = [
                [float(x) for x in re.findall(r"-?[\d.]+", parts.get(k, ""))] for k in ("line", "head")
            ]
            points, head = (list(zip(n[::2], n[1::2], strict=True)) for n in numbers)
            found[group.get("id")] = (points, head[0] if len(head) == 3 else None)
    return found


def frame_dot(data: Mapping[str, Any], k: int) -> str:
    """The picture after ``k`` steps, as DOT with all places fixed."""
    width, height = max(data["width"], 420.0), data["height"] + CAPTION
    fired: dict[str, int] = {}
    hot: dict[str, Mapping] = {}
    done: dict[str, Mapping] = {}
    for number, step in enumerate(data["steps"][:k], 1):
        fired[step["node"]] = number
        done |= hot
        hot = {out["edge"]: out["value"] for out in step["outgoing"] if out["edge"] and out["value"]}
    before = data["steps"][k - 1] if k else None
    ready = set(before["ready"]) if before else {s["node"] for s in data["steps"][:1]}
    leaf_grads = {s["node"]: s["accumulate"]["after"] for s in data["steps"][:k] if s["accumulate"]}

    def at(x: float, y: float) -> str:
        return f"{x:.2f},{height - y:.2f}"

    out = [
        "digraph {",
        'graph [bgcolor="white" pad=0.1]; node [fontname="Helvetica" fixedsize=true fontsize=10]; '
        'edge [fontname="Helvetica" fontsize=9 arrowsize=0.6];',
        f'ground [shape=box style=filled fillcolor=white color=white label="" pos="{at(width / 2, height / 2)}!" '
        f"width={width / 72:.3f} height={height / 72:.3f}];",
    ]
    for ident, node in data["nodes"].items():
        x, y, w, h = node["at"]
        fill, line = FILLS.get(node["kind"], PLAIN)
        of = node.get("function")
        style, wide = ["filled"], 1.2
        if ident in fired or (of in fired and node["kind"] in ("tensor", "leaf")):
            now = fired.get(ident, fired.get(of)) == k
            line, wide = (NOW, 3.0) if now else (DONE, 2.0)
            fill = "#fdebdd" if now else fill
        elif ident in ready:
            line, wide = NOW, 2.0
            style.append("dashed")
        label = [node["name"] or node["label"] or "no grad"]
        if node["name"] and node["label"] not in (node["name"], "", None):
            label = [node["label"]] if data["view"] == "graph" else [node["name"], node["label"]]
        if node["kind"] in ("tensor", "leaf") and node["shape"] is not None:
            label.append(shape_text(tuple(node["shape"])))
        grad = leaf_grads.get(ident) or (leaf_grads.get(of) if node["kind"] == "leaf" else None)
        if grad:
            label.append(f".grad = {_number(grad)}" if _number(grad)[:1] != "(" else ".grad is there")
        if ident in fired:
            label[0] = f"{fired[ident]}. {label[0]}"
        shape = {"accumulate": "diamond", "leaf": "cylinder", "function": "ellipse"}.get(node["kind"], "box")
        if data["view"] != "graph":
            shape = "box"
            style.append("rounded")
        short = "\n".join(textwrap.shorten(part, 34, placeholder="…") for part in label)
        out.append(
            f'{ident} [shape={shape} style="{",".join(style)}" fillcolor="{fill}" color="{line}" penwidth={wide} '
            f'label={_quoted(short)} pos="{at(x + w / 2, y + h / 2)}!" width={w / 72:.3f} height={h / 72:.3f}];'
        )
    for ident, (points, tip) in _curves(data["svg"]).items():
        edge = data["edges"].get(ident)
        if edge is None or not points:
            continue
        colour, wide = (NOW, 2.6) if ident in hot else (DONE, 1.8) if ident in done else (WAIT, 1.0)
        style = (
            "dashed"
            if edge["kind"] in ("forward", "grad_fn")
            else "dotted"
            if edge["kind"] != "backward"
            else "solid"
        )
        value = hot.get(ident) or done.get(ident)
        place = ""
        if value:
            mx, my = points[len(points) // 2]
            if edge.get("label_box"):
                bx, by, bw, bh = edge["label_box"]
                mx, my = bx + bw / 2, by + bh / 2
            place = f'label={_quoted(_number(value))} lp="{at(mx, my)}" fontcolor="{colour}"'
        curve = " ".join(at(*p) for p in points)
        end = f"e,{at(*tip)} " if tip else ""
        out.append(
            f'{edge["from"]} -> {edge["to"]} [pos="{end}{curve}" color="{colour}" penwidth={wide} style={style} '
            f"arrowhead={'normal' if tip else 'none'} {place}];"
        )
    said = before["sentence"] if before else data["start"]["sentence"]
    lines = textwrap.wrap(said, max(40, int(width / 5.6)))[:3]
    text = "\\l".join(_quoted(line)[1:-1] for line in lines) + "\\l"
    out.append(
        f'caption [shape=plain fixedsize=false fontsize=11 label="{text}" '
        f'pos="{at(width / 2, height - CAPTION / 2)}!"];'
    )
    return "\n".join([*out, "}"])


def paint(data: Mapping[str, Any], k: int, form: str, dpi: int = 144) -> bytes:
    """The picture after ``k`` steps, painted by Graphviz as "png" or "gif"."""
    import pygraphviz

    source = frame_dot(data, k).replace("graph [", f"graph [dpi={dpi} ", 1)
    with _quiet_c_level():
        return pygraphviz.AGraph(string=source).draw(format=form, prog="nop2")


def _parts(gif: bytes) -> tuple[tuple[int, int], bytes, bytes]:
    """Size, colour table and image data of a GIF with one picture."""
    width, height, flags = struct.unpack("<HHB", gif[6:11])
    colours = 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0
    table, at = gif[13 : 13 + colours], 13 + colours
    while gif[at] != 0x2C:  # extensions stand before the image
        at += 2
        while gif[at]:
            at += gif[at] + 1
        at += 1
    local = gif[at + 9]
    start = at + 10
    if local & 0x80:
        table = gif[start : start + 3 * 2 ** ((local & 7) + 1)]
        start += len(table)
    return (width, height), table, gif[start : gif.rindex(b";")]


def join(frames: list[bytes], seconds: list[float]) -> bytes:
    """One animated GIF (GIF89a, repeated for ever) of GIFs with one picture each, all of the same size."""
    parts = [_parts(frame) for frame in frames]
    (width, height), _, _ = parts[0]
    out = [
        b"GIF89a",
        struct.pack("<HHBBB", width, height, 0x70, 0, 0),
        b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00",
    ]
    for (size, table, image), pause in zip(parts, seconds, strict=True):
        bits = (len(table) // 3).bit_length() - 2
        out.append(struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 0, round(pause * 100), 0, 0))
        out.append(struct.pack("<BHHHHB", 0x2C, 0, 0, *size, 0x80 | bits) + table + image)
    return b"".join([*out, b";"])


def save_gif(data: Mapping[str, Any], path: Path, seconds: float = 1.5) -> Path:
    """All steps as one animated GIF; the last picture stays twice as long."""
    count = len(data["steps"]) + 1
    frames = [paint(data, k, "gif", dpi=110) for k in range(count)]
    path.write_bytes(join(frames, [seconds] * (count - 1) + [2 * seconds]))
    return path


def save_pngs(data: Mapping[str, Any], path: Path) -> list[Path]:
    """``steps.png`` becomes steps-00.png (before the first step), steps-01.png, ..."""
    digits = max(2, len(str(len(data["steps"]))))
    paths = [path.with_name(f"{path.stem}-{k:0{digits}d}.png") for k in range(len(data["steps"]) + 1)]
    for k, file in enumerate(paths):
        file.write_bytes(paint(data, k, "png"))
    return paths
