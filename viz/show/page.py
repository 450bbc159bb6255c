"""A recorded pass as one HTML page: the same front end, no kernel, no network, opens from disk.

The program, its style and the payload are packed (deflate, base85) into one block that a few readable lines unpack, so
that a page of 30 nodes stays below 60 kB and can sit in a saved notebook. Reads the files of front/; touches no widget.
"""

from __future__ import annotations

import base64
import html
import json
import math
import re
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..picture.svg import edge_rules
from ..read.text import one_line

FRONT = Path(__file__).parent / "front"
PARTS = "lanes forward narrow_layout beside typed answers questions kernel"
# the files in the order in which they are joined: each uses those before it. After the pane come the optional parts of a page
PROGRAM = "elements toolbar strip numbers svg timeline columns boxes equation painting panels overlays finding exporting "
PROGRAM += "legend viewport pane " + PARTS
# left out of a page: imports between the files, indentation, comments
_LEFT_OUT = re.compile(
    r'^import \{[^}]*\} from "\./\w+\.js";\n|^export (?!default)|^ *//.*\n|^ +| // [^"\x27`\n]*$|/\*[^*]*\*/\n?',
    re.M,
)
# and spaces around punctuation and the last semicolon of a block; strings, templates and regular expressions are kept
_KEPT = r"""(`(?:\\.|\$\{(?:[^{}`]|`(?:\\.|[^`\\])*`|\{[^{}]*\})*\}|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?:"""
_KEPT += r"(?<=[(,=>:!&|?\[])|(?<=[(,=>:!&|?\[] ))/(?![*/ ])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/\w*)"
_BLANKS = {
    ".js": re.compile(
        _KEPT
        + r"|;?\s*(\})\s*(?!export)| ([+-]) (?![+-])|([;{,(\[])\s+(?!export)| *([*/%=<>!&|?:;,(){}\[\]]) *"
    ),
    ".css": re.compile(r"""("[^"]*")|;?\s*(})\s*|\s*([{;,])\s*|(?<=[\w-])(:) """),
    ".html": re.compile(r"<!-- .*? -->\s*(<)", re.S),
}
FRAMED = 640  # pixels, the height of a frame: its pane is never taller, even in a taller frame
DIGITS_85 = re.findall('digits = "(.+)"', (FRONT / "inflate.js").read_text(encoding="utf-8"))[0]
_PLAIN = {str, int, bool, type(None)}  # sent unchanged
Options = Mapping[str, Any] | None  # of the pane
DIGITS = 7  # of a number in the payload: as many as float32 has


@cache
def asset(name: str) -> str:
    """A file of the front end; for ``stepper.js`` and ``stepper.css``, the whole program or its style sheet."""
    ending = name.removeprefix("stepper.")
    return minified([FRONT / name]) if ending == name else program(*PARTS.split(), ending=ending)


@cache
def program(*parts: str, ending: str = "js") -> str:
    """The program as one text, with these of its optional ``PARTS``; for the ending "css", its style sheet."""
    left_out = {*PARTS.split()} - {*parts}
    files = [FRONT / f"{name}.{ending}" for name in ("stepper", *PROGRAM.split()) if name not in left_out]
    return minified([file for file in files if file.exists()]) + (edge_rules() if ending == "css" else "")


def minified(files: list[Path]) -> str:
    """Files of one kind, joined, without what only human readers need."""
    text = "\n".join(_LEFT_OUT.sub("", file.read_text(encoding="utf-8")) for file in files)
    return _BLANKS[files[0].suffix].sub(lambda found: next(filter(None, found.groups())), text)


# text that the pane adds itself, or that is in its own style sheet
_COLOURS = re.compile(
    r' (?:fill|stroke|stroke-width|stroke-dasharray|fill-opacity|stroke-linejoin|text-anchor|role|aria-label)="[^"]*"'
    r"| font-family='[^']*'"
)
# an arrow's label, whose position its ``label_box`` gives
_PLATES = re.compile(r'<rect class="label-bg"[^>]*/><text class="label-text"[^>]*>([^<]*)</text>')
_NODE = re.compile(r'<g class="node[^"]*" id="(\w+)">.*?</g>')  # positions inside are relative to its corner
_PLACE = re.compile(r' ([xy])="(-?\d+(?:\.\d)?)"')
# an arrow: the points of its line, then the first point of its head; the others follow from these
_ARROW = re.compile(r'd="M([^"]*)"/><path class="head" d="M([^L]*)L[^"]*Z"/>')
# the keys of a box and of an arrow that the pane reads
_READ = {
    "nodes": ("kind", "label", "name", "function", "value", "output", "tooltip", "at", "box"),
    "edges": ("from", "to", "kind", "label_box"),
}


def shared(data: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A payload as it is sent: what the pane reads, every array once, in ``arrays``; {"$": 7} stands for the eighth.

    An array goes along edges, is added, stored and kept, so the same numbers come up many times in a pass. What follows
    from ``values`` (range, cells) is left out: the front end computes it again. Numbers have ``DIGITS`` digits, and the
    result is strict JSON: those that are not finite are the strings "nan", "inf" and "-inf". ``options`` are the
    pane's; the forward pass is sent only if they let the reader step through it.
    """
    arrays: list[dict[str, Any]] = []
    places: dict[int, dict[str, Any]] = {}  # by identity: most arrays come up as the same object again
    known: dict[str, dict[str, Any]] = {}

    def array(x: dict[str, Any]) -> dict[str, Any]:
        thin: dict[str, Any] = {k: walk(x[k]) for k in ("shape", "dtype", "values") if k in x}
        if "values" not in thin:
            thin |= {key: walk(value) for key, value in x.items() if key not in thin}
        key = repr(thin)
        if key not in known:
            known[key] = {"$": len(arrays)}
            arrays.append(thin)
        return known[key]

    def walk(x: Any) -> Any:
        kind = type(x)
        if kind is dict:
            if "cells" not in x or "shape" not in x:
                return {k: v if type(v) in _PLAIN else walk(v) for k, v in x.items() if v is not None}
            if id(x) not in places:
                places[id(x)] = array(x)
            return places[id(x)]
        if kind is list or kind is tuple:
            return [v if type(v) in _PLAIN else walk(v) for v in x]
        if kind in _PLAIN:
            return x
        if kind is float:
            x = float(f"{x:.{DIGITS}g}")
            return int(x) if x % 1 == 0 and 0 < abs(x) < 1e9 else x if math.isfinite(x) else str(x)
        return walk(x.item())  # a NumPy scalar

    def picture(drawn: Mapping[str, Any]) -> dict[str, Any]:
        read = {
            part: {key: {k: v[k] for k in keys if k in v} for key, v in drawn[part].items()}
            for part, keys in _READ.items()
        }
        within = {key: picture(one) for key, one in drawn.get("insides", {}).items()}
        return {**drawn, **read, "insides": within, "svg": _compact_svg(drawn)}

    def lean(step: Mapping[str, Any]) -> dict[str, Any]:
        """A step without what follows from the rest: a single part is the total; a leaf stores its total."""
        parts = [{k: v for k, v in part.items() if v is not step["total"]} for part in step["incoming"]]
        sends = [{k: v for k, v in out.items() if k != "name"} for out in step["outgoing"]]
        stores = {k: v for k, v in (step["accumulate"] or {}).items() if k not in ("leaf", "contribution")}
        return {**step, "incoming": parts, "outgoing": sends, "accumulate": stores or None}

    whole = picture(data) | {"pictures": [picture(one) for one in data.get("pictures", ())]}
    whole["steps"] = [lean(one) for one in data.get("steps", ())]
    if not (options or {}).get("forward"):
        whole["forward"] = []
    return {**walk(whole), "arrays": arrays}


def _compact_svg(drawn: Mapping[str, Any]) -> str:
    """The SVG without what the pane adds again: colours, plates, positions of nodes; coordinates of arrows rounded to 0.1."""

    def near(found: re.Match[str]) -> str:
        by = dict(zip("xy", drawn["nodes"][found[1]]["at"], strict=False))
        return _PLACE.sub(lambda at: f' {at[1]}="{round(float(at[2]) - by[at[1]], 1):g}"', found[0])

    def steps(found: re.Match[str]) -> str:
        x = [round(10 * float(n)) for n in re.findall(r"-?[\d.]+", f"{found[1]} {found[2]}")]
        return 'd="' + " ".join(str(n - before) for n, before in zip(x, [0, 0, *x], strict=False)) + '"/>'

    return _ARROW.sub(steps, _NODE.sub(near, _PLATES.sub(r"\1", _COLOURS.sub("", drawn["svg"]))))


def sent(data: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> str:
    """The text of ``shared(data, options)``: a single string is faster to copy and keep than a tree."""
    return text_of(shared(data, options))


def picture(svg: str) -> str:
    """An SVG as a data URL, for an <img>: nothing inside it can run."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def text_of(content: Mapping[str, Any]) -> str:
    """Strict JSON, as short as possible."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@cache
def _deflated_start(text: str) -> tuple[bytes, Any]:
    """The beginning of a deflated text, and the state from which to continue: a program is deflated only once."""
    packer = zlib.compressobj(9, memLevel=7)  # short blocks: programs, styles and data repeat different words
    return packer.compress(text.encode()) + packer.flush(zlib.Z_BLOCK), packer


def packed(begin: str, text: str) -> str:
    """Two texts as one, deflated, in base85: five characters for four bytes, none of them special in HTML or JSON."""
    first, state = _deflated_start(begin)
    packer = state.copy()
    data = first + packer.compress(text.encode()) + packer.flush()
    words = np.frombuffer(data + bytes(-len(data) % 4), ">u4")
    digits = np.array([*DIGITS_85], "S1")[words[:, None] // 85 ** np.arange(4, -1, -1) % 85]
    return digits.tobytes().decode()[: -(-len(data) * 5 // 4)]


def page(
    data: Mapping[str, Any],
    *,
    title: str | None = None,
    options: Mapping[str, Any] | None = None,
    bare: bool = False,
    text: str | None = None,
) -> str:
    """The whole page as text. ``bare`` leaves out heading and margin, for a frame inside a notebook.

    ``title`` defaults to one that names the tensor; ``options`` are the pane's (``ask``, ``step``, ...); ``text`` is
    ``sent(data, options)``, if that is known.
    """
    name = html.escape(one_line(title or f"The backward pass of {data.get('title') or 'a tensor'}"))
    drawn, options = (data, *data.get("pictures", ())), dict(options or {})
    two = options.get("labels")
    boxes = [[p["nodes"][key]["at"] for key in p.get("insides", ())] for p in drawn]
    grows = any(max(x for x, *_ in all_) > min(x + w for x, _, w, _ in all_) for all_ in boxes if all_)
    narrow = grows or min(p["width"] for p in drawn) > 320  # points: wider than a phone, or with open boxes
    needs = {"lanes": two or any(p["view"] == "lanes" for p in drawn), "forward": options.get("forward")}
    needs |= {"narrow_layout": two or narrow, "beside": two}
    needs |= dict.fromkeys(("typed", "answers", "questions"), options.get("ask"))
    parts = [*filter(needs.get, needs)]
    content = {"js": program(*parts), "css": program(*parts, ending="css"), "options": options}
    return whole(name, content | {"data": text or sent(data, options)}, bare)


def whole(title: str, content: Mapping[str, Any], bare: bool) -> str:
    """The page of a program with its data: ``content`` has js, css, options and data as JSON; ``title`` is HTML."""
    begin = text_of({"js": content["js"], "css": content["css"]})[:-1]
    heading, margin = ("", "0") if bare else (f"<header><h1>{title}</h1></header>\n", "20px")
    parts = {"title": title, "heading": heading, "margin": margin, "inflate": asset("inflate.js")}
    parts["packed"] = packed(begin, f',"options":{text_of(content["options"])},"data":{content["data"]}}}')
    return re.sub(r"@(\w+)@", lambda found: parts[found[1]], asset("page.html"))


# a printed frame runs no script (JupyterLab's File > Print) or was never laid out, so the picture under it is printed
PRINTED = (
    "<style>@media print{.viz-live{display:none!important}"
    ".viz-still{height:auto!important;max-height:230mm;break-inside:avoid}}</style>"
)


def over(stills: list[tuple[str, str, int]], title: str, inside: str, tall: int) -> str:
    """HTML for a saved notebook: plain pictures (SVG, what it shows, its height), and over them a page in a sandboxed frame.

    On paper and in an untrusted notebook the pictures remain and the frame is lost. Where it is allowed, it covers them.
    """
    under = sum(high for *_, high in stills)
    shown = "".join(
        f'<img class="viz-still" src="{picture(svg)}" alt="{html.escape(alt)}" height="{high}" '
        f'style="display:block;margin:0;height:{high}px;max-width:100%;object-fit:contain">'
        for svg, alt, high in stills
    )
    return (
        f'{PRINTED}{shown}<iframe class="viz-live" title="{html.escape(title)}" sandbox="allow-scripts" '
        f'srcdoc="{html.escape(inside)}" width="100%" height="{tall}" style="position:relative;display:block;'
        f'margin-top:-{under}px;border:0;width:100%;height:{max(tall, under)}px;background:Canvas"></iframe>'
    )


def still_of(data: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """The richest picture of a payload that can be read on a page of text, with the numbers in its boxes; without the
    gradients if the reader is asked for them."""
    drawn = [data, *data.get("pictures", ())]
    k, best = max(enumerate(drawn), key=lambda p: min(0.8, 720 / p[1]["width"], 900 / p[1]["height"]))
    still = getattr(data, "still", None)  # a payload read from a page has none
    return best if still is None else {**best, "svg": still(k, not (options or {}).get("ask"))}


def frame(data: Mapping[str, Any], *, options: Options = None, text: str | None = None) -> str:
    """What a saved notebook shows: the richest picture that can be read on a page of text, with the stepper over it."""
    shown = still_of(data, options)
    tall = round(min(max(float(shown["height"]), 60.0), 480.0))
    alt = f"Graph of {data.get('title') or 'a tensor'}"
    inside = page(data, options={**(options or {}), "framed": FRAMED}, bare=True, text=text)
    return over([(shown["svg"], alt, tall)], f"{alt}, step by step", inside, FRAMED)
