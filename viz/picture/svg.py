"""A picture whose items have places, painted as SVG: small, the same on every machine, and safe (all text is escaped).

Coordinates are final user units. Colours are presentation attributes, so any style sheet wins over them; a standalone SVG
brings its own style for dark pages.
"""

from __future__ import annotations

import re
from collections import Counter
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ..read.text import fit, plural, width
from ..read.values import Value
from . import dot
from .layout import Places
from .parts import CAPTION, LABEL, WIDEST, Item, Link, Picture

FAMILY = 'system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif'
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, monospace'
_SPECIAL = re.compile(r'[&<>"\n\r\t]').search  # characters that must be escaped in an attribute value
_MISSING = {"value": "not kept", "grad": "None"}  # the text in a box without numbers


def paint(p: Picture, at: Places, *, standalone: bool = True, grads: bool = True) -> str:
    """The SVG text. ``standalone`` paints a background, the values in the boxes, tooltips, and a style for dark pages;
    without ``grads`` it leaves out the gradients of a recorded pass."""
    w, h = _n(at.width), _n(at.height)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="viz-graph viz-{p.view}" viewBox="0 0 {w} {h}" width="{w}" '
        f'height="{h}" role="img" aria-label={quoteattr(summary(p))} font-family={quoteattr(FAMILY)}>'
    ]
    if standalone:
        heat = any(css.startswith("heat") for item in p.items for css in item.classes)
        panel = _tag("rect", "panel", width=w, height=h, rx=8, fill="#ffffff")
        out += [f"<style>{_dark(heat)}</style>", panel]
    arrows = np.concatenate([*at.ways.values()]) if p.clusters else None
    frames = [_frame(text, arrows, box) for (text, _), box in zip(p.clusters, at.frames, strict=True)]
    out += [frame for frame, _ in frames]
    out += _lanes(at)
    out += [_link(link, at, standalone) for link in p.links if link.id in at.ways]
    out += [over for _, over in frames if over]
    out += [_item(item, *at.items[item.id], standalone, grads) for item in p.items]
    out.append("</svg>")
    return "\n".join(out)


def summary(p: Picture) -> str:
    """The picture in one sentence, for people who cannot see it."""
    kinds = ((item.kind, item.function or item) for item in p.items)
    count = Counter(kind for kind, _ in dict.fromkeys(kinds))
    return f"Graph of {p.title}: {plural(count['function'], 'function')}, {plural(count['leaf'], 'leaf')}"


def _n(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")


def _p(q: tuple[float, float]) -> str:
    return f"{_n(q[0])},{_n(q[1])}"


def _tag(name: str, css: str = "", inside: str | None = None, **attributes: object) -> str:
    """One element; numbers are rounded, ``inside`` is markup already, attribute values are escaped."""
    out = [f'<{name} class="{css}"' if css else f"<{name}"]
    for key, value in attributes.items():
        if isinstance(value, float):
            out.append(f' {key}="{_n(value)}"')
        elif value is not None:
            text = str(value)
            quoted = quoteattr(text) if _SPECIAL(text) else f'"{text}"'
            out.append(f" {key.replace('_', '-')}={quoted}")
    return "".join(out) + ("/>" if inside is None else f">{inside}</{name}>")


def _frame(caption: str, arrows: np.ndarray, box: tuple[float, ...]) -> tuple[str, str]:
    """The frame around what belongs to one module; no arrow crosses its caption, which is as close to the middle as
    possible. If arrows leave no room for it, a cover to paint over them is returned as well."""
    x, y, w, h, base = box
    shape = _tag("rect", "shape", x=x, y=y, width=w, height=h, rx=8, fill=dot.FRAME[0], stroke=dot.FRAME[1])
    text = fit(caption, WIDEST, CAPTION, bold=True)
    half, crossed = width(text, CAPTION, bold=True) / 2 + 5, arrows.real[abs(arrows.imag - base + 4) < 8]
    spots = [x + w / 2 + side * by for by in range(0, max(1, int(w / 2 - half)), 3) for side in (1, -1)]
    at = next((spot for spot in spots if (abs(crossed - spot) > half).all()), None)
    spot = spots[0] if at is None else at
    written = _text("caption", text, spot, base, CAPTION, fill=dot.MUTED, font_weight="600")
    plate = _tag("rect", x=spot - half + 3, y=base - 11, width=2 * half - 6, height=14, fill=dot.FRAME[0])
    return _tag("g", "cluster", shape + written), "" if at is not None else _tag("g", "over", plate + written)


def _lanes(at: Places) -> list[str]:
    """The line between two lanes, and a caption for each lane."""
    if at.apart is None:
        return []
    x, y, u, v = at.apart
    line = _tag("path", "line", d=f"M{_n(x)},{_n(y)}L{_n(u)},{_n(v)}", stroke="#d8dee4", fill="none")
    words = [_text("sub", text, x, y, 10.5, fill=dot.MUTED) for text, x, y in at.lanes]
    return [_tag("g", "lane", line + "".join(words))]


def _text(css: str, text: str, x: float, y: float, size: float, **attributes: object) -> str:
    attributes = {"x": x, "y": y, "font_size": f"{size:g}", "text_anchor": "middle"} | attributes
    return _tag("text", css, escape(text), **attributes)


def _link(link: Link, at: Places, standalone: bool) -> str:
    curve, tip = at.lines[link.id]
    colour, _, dash, wide = dot.EDGES[link.kind]
    points = curve[::-1] if link.backwards else curve
    path = f"M{_p(points[0])}C" + " ".join(_p(q) for q in points[1:])
    paint = {"fill": "none", "stroke": colour, "stroke_width": f"{wide:g}", "stroke_dasharray": dash or None}
    head = _head(link, points[-1], tip or points[-1], colour)
    out = [f"<title>{escape(link.tooltip)}</title>" * standalone, _tag("path", "line", d=path, **paint)]
    out += [head] * bool(head)
    if link.id in at.labels:
        x, y, w, h = label_box(link, at)
        fill = dot.ground(x + w / 2, y + h / 2, at.frames)
        plate = _tag("rect", "label-bg", x=x + 3, y=y + 1, width=w - 6, height=h - 2, rx=4, fill=fill)
        ink = {"store": "#b83a09", "backward": "#212529"}.get(link.kind, dot.MUTED)
        text = _text("label-text", link.label, x + w / 2, y + h / 2 + LABEL * 0.35, LABEL, fill=ink)
        out.append(f'<g class="label{" framed" * (fill == dot.FRAME[0])}">{plate}{text}</g>')
    if "hooked" in link.classes:
        # before the head, or before a label; on a short arrow in the middle, where it touches neither end
        q, to, by = (points[0], points[1], 6) if link.kind == "store" else (points[-1], tip or points[-1], -6)
        begin, end = complex(*points[0]), complex(*(tip or points[-1]))
        place = (begin + end) / 2 if abs(end - begin) < 20 else complex(*q) + by * _unit(q, to)
        out.append(_hook_mark(place))
    return _tag("g", link.css, "".join(out), id=link.id)


def _hook_mark(q: complex) -> str:
    """A small diamond that marks a hook."""
    d = f"M{_n(q.real)},{_n(q.imag - 5)}l5,5l-5,5l-5,-5Z"
    return _tag("path", "hook", d=d, fill="#ffffff", stroke="#c2255c", stroke_width="1.6")


def _unit(base: tuple[float, float], tip: tuple[float, float]) -> complex:
    """The direction in which an arrow points."""
    way = complex(*tip) - complex(*base)
    return way / (abs(way) or 1.0)


def label_box(link: Link, at: Places) -> tuple[float, float, float, float]:
    """x, y, width, height of the label of a link."""
    x, y = at.labels[link.id]
    return round(x - link.label_width / 2, 1), round(y - 7.5, 1), link.label_width, 15.0


def _head(link: Link, base: tuple[float, float], tip: tuple[float, float], colour: str) -> str:
    if link.headless:
        return ""

    def at(along: float, across: float) -> str:
        q = complex(*base) + _unit(base, tip) * complex(along, across)
        return _p((q.real, q.imag))

    if link.kind == "cut":  # a pair of scissors on its way to the head
        halves = [(at(-9.5, 3 * side), at(7, -3.4 * side), at(-9.6, 3.2 * side)) for side in (1, -1)]
        d = "".join(f"M{ring}L{blade}M{ring}A2.7,2.7 0 1 0 {end}" for ring, blade, end in halves)
        return _tag("path", "head", d=d, fill="none", stroke=colour, stroke_width=1.6)
    if link.kind == "not_computed":  # a bar across: the path ends here
        a, b = (at(abs(complex(*tip) - complex(*base)), side) for side in (5, -5))
        return _tag("path", "head", d=f"M{a}L{b}", fill="none", stroke=colour, stroke_width=2)
    return _tag("path", "head", d=f"M{_p(tip)}L{at(0, 3.4)}L{at(0, -3.4)}Z", fill=colour)


def _item(item: Item, x: float, y: float, standalone: bool, grads: bool) -> str:
    fill, line, _, _ = dot.colours(item.kind, item.classes)
    freed, unreached = "freed" in item.classes, "unreached" in item.classes
    dash = "1.5 3.5" if unreached else "5 3" if freed else None
    paint = {
        "fill": "#ffffff" if freed or unreached else fill,
        "stroke": line,
        "stroke_width": "2.4" if "root" in item.classes else "1.3",
        "stroke_dasharray": "3 3" if item.outline == "stub" else dash,
    }
    out = [f"<title>{escape(item.tooltip)}</title>" * standalone, _outline(item, x, y, paint)]
    for t in item.lines:
        weight, family = "600" if t.bold else None, MONO if t.mono else None
        ink = dot.INK if t.css == "name" else dot.MUTED
        look = {"fill": ink, "font_weight": weight, "font_family": family}
        out.append(_text(t.css, t.text, x + t.x, y + t.y, t.size, **look))
    if "node-hooked" in item.classes:
        right, down = {"ellipse": (0.86, 0.14), "diamond": (0.72, 0.22)}.get(item.outline, (0.97, 0.14))
        out.append(_hook_mark(complex(x + item.width * right, y + item.height * down)))
    for caption, (bx, by, w, h) in item.boxes.items():
        box = (x + bx, y + by, float(w), float(h))
        frame = {"x": box[0], "y": box[1], "width": w, "height": h}
        out.append(_tag("rect", f"box {caption}-box", **frame, fill="#ffffff", stroke="#adb5bd"))
        value = dot.shown(item, caption, grads) if standalone else None
        if standalone and (value is not None or caption != "grad" or item.kind == "leaf"):
            out.append(cells(value, box) if value is not None else _note(_MISSING[caption], box))
    return _tag("g", item.css, "".join(out), id=item.id)


def _note(text: str, box: tuple[float, float, float, float]) -> str:
    return _text("note", text, box[0] + box[2] / 2, box[1] + box[3] / 2 + 3, 9, fill=dot.MUTED)


def cells(value: Value, box: tuple[float, float, float, float]) -> str:
    """The cells of an array painted into ``box``: sign by colour and by a minus mark; one number is written out."""
    x, y, w, h = box
    if not value.array.size:
        return _note("empty", box)
    grid, _ = value.cells()
    if grid.size == 1:
        return _text("number", value.short(40).strip("[]"), x + w / 2, y + h / 2 + 3.8, 11, fill=dot.INK)
    top, texts = dot.scale(grid), dot.numbers(value, w, h)
    cw, ch = w / grid.shape[1], h / grid.shape[0]
    out = [f"<title>{escape(value.text)}</title>"]
    for i, row in enumerate(grid.tolist()):
        for j, v in enumerate(map(float, row)):
            cx, cy = x + j * cw, y + i * ch
            size = {"width": max(cw - 1, 1.0), "height": max(ch - 1, 1.0)}
            if texts is not None:
                font, cell = texts[0], texts[1][i * grid.shape[1] + j]
                look = {
                    "fill": dot.POSITIVE if v >= 0 else dot.NEGATIVE,
                    "fill_opacity": f"{dot.tint_of(v, top):.2f}",
                }
                out.append(_tag("rect", x=cx + 0.5, y=cy + 0.5, **size, **look))
                middle = cx + cw / 2, cy + ch / 2 + font * 0.36
                out.append(_text("number", cell, *middle, round(font, 1), fill=dot.INK))
                continue
            out.append(_tag("rect", x=cx + 0.5, y=cy + 0.5, **size, fill=dot.shade(v, top)))
            if v < 0:
                ink = "#ffffff" if min(1.0, -v / top) ** 0.7 > 0.5 else dot.INK
                minus = f"M{_n(cx + cw * 0.3)},{_n(cy + ch / 2)}h{_n(cw * 0.4)}"
                out.append(_tag("path", d=minus, stroke=ink, stroke_width="1.4"))
    return f'<g class="cells">{"".join(out)}</g>'


def _outline(item: Item, x: float, y: float, paint: dict) -> str:
    w, h = float(item.width), float(item.height)
    if item.outline == "ellipse":
        return _tag("ellipse", "shape", cx=x + w / 2, cy=y + h / 2, rx=w / 2, ry=h / 2, **paint)
    if item.outline == "diamond":
        d = f"M{_n(x + w / 2)},{_n(y)}L{_n(x + w)},{_n(y + h / 2)}L{_n(x + w / 2)},{_n(y + h)}L{_n(x)},{_n(y + h / 2)}Z"
        return _tag("path", "shape", d=d, stroke_linejoin="round", **paint)
    if item.outline == "cylinder":
        r, left, right = 5.0, _n(x), _n(x + w)
        arc = f"A{_n(w / 2)},{r:g} 0 0"
        up, low = _n(y + r), _n(y + h - r)
        body = f"M{left},{up}{arc} 1 {right},{up}V{low}{arc} 1 {left},{low}Z"
        rim = f"M{left},{up}{arc} 0 {right},{up}"
        return _tag("path", "shape", d=body + rim, **paint)
    if item.outline == "tag":  # points at what it belongs to, like a tag on a string
        c = min(10.0, h / 2)
        d = f"M{_n(x)},{_n(y)}H{_n(x + w - c)}L{_n(x + w)},{_n(y + h / 2)}L{_n(x + w - c)},{_n(y + h)}H{_n(x)}Z"
        return _tag("path", "shape", d=d, stroke_linejoin="round", **paint)
    radius = {"card": 9, "stub": 4, "fold": 9, "pill": 9.5}.get(item.outline, 3)
    out = _tag("rect", "shape", x=x, y=y, width=w, height=h, rx=radius, **paint)
    if item.outline == "fold":  # a second edge behind: there is more inside
        out = _tag("rect", "behind", x=x + 4, y=y - 4, width=w, height=h, rx=radius, **paint) + out
    return out


def edge_rules() -> str:
    """The styles of edges for the pane, which paints each step over them: rules that every other rule overrides."""
    rules = []
    for css, (light, dark, dash, wide) in dot.EDGES.items():
        if css not in ("backward", "arrives"):
            of, colour = f".mgv-svg .edge:where(.{css})", f"light-dark({light},{dark})"
            head = "" if css in ("not_computed", "cut") else f";fill:{colour}"
            dashes = f";stroke-dasharray:{dash}" if dash else ""
            rules.append(f"{of} .line{{stroke:{colour};stroke-width:{wide:g}{dashes}}}")
            rules.append(f"{of} .head{{stroke:{colour}{head}}}")
    return "@media (forced-colors:none){" + "".join(rules) + "}"


def _dark(heat: bool) -> str:
    """Colours for a dark page, by class; the light ones are attributes."""
    rules = [
        ".panel{fill:#161b22}text{fill:#e6edf3}:is(.sub,.note,.rule,.caption,.label-text){fill:#c3ccd5}.label-bg{fill:#161b22}"
        ".box{fill:#0d1117;stroke:#6e7781}.number{fill:#e6edf3}.hook{fill:#161b22}.lane>.line{stroke:#303840}"
        f".cluster>.shape{{fill:{dot.FRAME[2]};stroke:{dot.FRAME[3]}}}:is(.over,.framed)>rect{{fill:{dot.FRAME[2]}}}"
    ]
    for css, (_, _, fill, line) in dot.COLOURS.items():
        if heat or not css.startswith("heat"):
            rules.append(f".node.{css}>:is(.shape,.behind){{fill:{fill};stroke:{line}}}")
    rules.append(":is(.node.freed,.node.unreached)>.shape{fill:#161b22}")
    for css, (_, line, _, _) in dot.EDGES.items():
        head = "stroke" if css in ("not_computed", "cut") else "fill"
        rules.append(f".edge.{css}>.line{{stroke:{line}}}.edge.{css}>.head{{{head}:{line}}}")
    # of this picture, where it is part of a page
    own = re.sub(r"(^|\})(?=[^{}]+\{)", r"\1.viz-graph ", "".join(rules))
    return f"@media (prefers-color-scheme:dark){{{own}}}"
