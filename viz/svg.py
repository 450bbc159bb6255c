"""A picture with its places, painted as SVG: small, the same on every machine, and safe (all text is escaped).

Coordinates are final user units. Colours are presentation attributes, so any style sheet wins over them; a standalone SVG
brings its own style for dark pages.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from .dot import COLOURS, EDGES, INK, colours, scale, shade
from .layout import Places
from .values import Value
from .views import LABEL, Item, Link, Picture

FAMILY = 'system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif'
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, monospace'
_MUTED = "#495057"


def paint(p: Picture, at: Places, *, standalone: bool = True) -> str:
    """The SVG text. ``standalone`` paints a background, the values in the boxes, and a style for dark pages."""
    w, h = _n(at.width), _n(at.height)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="viz-graph viz-{p.view}" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        f'role="img" aria-label={quoteattr(_summary(p))} font-family={quoteattr(FAMILY)}>'
    ]
    if standalone:
        out.append(f"<style>{_dark()}</style>")
        out.append(f'<rect class="panel" width="{w}" height="{h}" rx="8" fill="#ffffff"/>')
    for i, (title, _) in enumerate(p.clusters):
        if i in at.clusters:
            out.append(_cluster(title, at.clusters[i]))
    out += [_link(link, at) for link in p.links if link.id in at.lines]
    out += [_item(item, *at.items[item.id], standalone) for item in p.items]
    out.append("</svg>")
    return "\n".join(out)


def _n(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")


def _summary(p: Picture) -> str:
    functions = sum(i.kind == "function" for i in p.items)
    leaves = sum(i.kind == "leaf" for i in p.items)
    return f"Graph of {p.title}: {functions} function{'s' * (functions != 1)}, {leaves} lea{'f' if leaves == 1 else 'ves'}"


def _cluster(title: str, box: tuple[float, float, float, float]) -> str:
    x, y, w, h = map(_n, box)
    return (
        f'<g class="cluster"><rect class="shape" x="{x}" y="{y}" width="{w}" height="{h}" rx="8" fill="none" stroke="#868e96" '
        f'stroke-dasharray="4 3"/><text class="caption" x="{_n(box[0] + 8)}" y="{_n(box[1] + 13)}" font-size="10" '
        f'fill="{_MUTED}">{escape(title)}</text></g>'
    )


def _link(link: Link, at: Places) -> str:
    curve, tip = at.lines[link.id]
    if not curve:
        return ""
    colour, _, dash, wide = EDGES[link.kind]
    reverse = link.backwards
    points = curve[::-1] if reverse else curve
    tip = tip or points[-1]
    path = f"M{_p(points[0])}C" + " ".join(_p(q) for q in points[1:])
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    out = [
        f'<g id="{link.id}" class="{link.css}"><title>{escape(link.tooltip)}</title>'
        f'<path class="line" d="{path}" fill="none" stroke="{colour}" stroke-width="{wide:g}"{dashes}/>',
        _head(link, points[-1], tip, colour),
    ]
    if "hooked" in link.classes:
        x, y = points[len(points) // 2]
        out.append(
            f'<path class="hook" d="M{_n(x)},{_n(y - 5)}l5,5l-5,5l-5,-5Z" fill="#ffffff" stroke="#c2255c" stroke-width="1.6"/>'
        )
    if link.id in at.labels:
        x, y, w, h = label_box(link, at)
        out.append(
            f'<g class="label"><rect class="label-bg" x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" rx="4" fill="#ffffff" '
            f'fill-opacity="0.9"/><text class="label-text" x="{_n(x + w / 2)}" y="{_n(y + h / 2 + LABEL * 0.35)}" font-size="{LABEL:g}" '
            f'text-anchor="middle" fill="{_label_ink(link)}">{escape(link.label)}</text></g>'
        )
    return "".join(out) + "</g>"


def _label_ink(link: Link) -> str:
    return {"store": "#b83a09", "backward": "#212529"}.get(link.kind, _MUTED)


def label_box(link: Link, at: Places) -> tuple[float, float, float, float]:
    """x, y, width, height of the label of a link."""
    x, y = at.labels[link.id]
    return round(x - link.label_width / 2, 1), round(y - 7.5, 1), link.label_width, 15.0


def _p(q: tuple[float, float]) -> str:
    return f"{_n(q[0])},{_n(q[1])}"


def _head(link: Link, base: tuple[float, float], tip: tuple[float, float], colour: str) -> str:
    dx, dy = tip[0] - base[0], tip[1] - base[1]
    long = (dx * dx + dy * dy) ** 0.5 or 1.0
    ux, uy = dx / long, dy / long
    if link.kind == "not_computed":  # a bar across: the way ends here
        a, b = (tip[0] - uy * 5, tip[1] + ux * 5), (tip[0] + uy * 5, tip[1] - ux * 5)
        return f'<path class="head" d="M{_p(a)}L{_p(b)}" fill="none" stroke="{colour}" stroke-width="2"/>'
    a, b = (base[0] - uy * 3.4, base[1] + ux * 3.4), (base[0] + uy * 3.4, base[1] - ux * 3.4)
    return f'<path class="head" d="M{_p(tip)}L{_p(a)}L{_p(b)}Z" fill="{colour}"/>'


def _item(item: Item, x: float, y: float, standalone: bool) -> str:
    fill, line, _, _ = colours(item)
    dash = (
        ' stroke-dasharray="3 3"'
        if item.outline == "stub"
        else ' stroke-dasharray="5 3"'
        if "freed" in item.classes
        else ""
    )
    wide = "2.4" if "root" in item.classes else "1.3"
    paint = (
        f'fill="{"#ffffff" if "freed" in item.classes else fill}" stroke="{line}" stroke-width="{wide}"{dash}'
    )
    out = [
        f'<g id="{item.id}" class="{item.css}"><title>{escape(item.tooltip)}</title>',
        _outline(item, x, y, paint),
    ]
    for t in item.lines:
        weight = ' font-weight="600"' if t.bold else ""
        family = f" font-family={quoteattr(MONO)}" if t.mono else ""
        ink = INK if t.css == "name" else _MUTED
        out.append(
            f'<text class="{t.css}" x="{_n(x + t.x)}" y="{_n(y + t.y)}" font-size="{t.size:g}" text-anchor="middle" fill="{ink}"'
            f"{weight}{family}>{escape(t.text)}</text>"
        )
    for caption, (bx, by, bw, bh) in item.boxes.items():
        box = (x + bx, y + by, bw, bh)
        out.append(
            f'<rect class="box {caption}-box" x="{_n(box[0])}" y="{_n(box[1])}" width="{_n(bw)}" height="{_n(bh)}" fill="#ffffff" '
            'stroke="#adb5bd"/>'
        )
        if standalone and caption == "value" and item.value is not None:
            out.append(cells(item.value, box))
    return "".join(out) + "</g>"


def cells(value: Value, box: tuple[float, float, float, float]) -> str:
    """The cells of an array painted into ``box``: sign by colour and by a minus mark; one number is written out."""
    grid, _ = value.cells()
    x, y, w, h = box
    if not grid.size:
        return f'<g class="cells"><text x="{_n(x + w / 2)}" y="{_n(y + h / 2 + 3)}" font-size="9" text-anchor="middle">empty</text></g>'
    if grid.size == 1:
        text = escape(value.short(40).strip("[]"))
        return (
            f'<g class="cells"><text class="number" x="{_n(x + w / 2)}" y="{_n(y + h / 2 + 3.8)}" font-size="11" text-anchor="middle" '
            f'fill="{INK}">{text}</text></g>'
        )
    top = scale(grid)
    cw, ch = w / grid.shape[1], h / grid.shape[0]
    out = [f'<g class="cells"><title>{escape(value.text)}</title>']
    for i, row in enumerate(grid.tolist()):
        for j, v in enumerate(row):
            v = float(v)
            cx, cy = x + j * cw, y + i * ch
            out.append(
                f'<rect x="{_n(cx + 0.5)}" y="{_n(cy + 0.5)}" width="{_n(max(cw - 1, 1))}" height="{_n(max(ch - 1, 1))}" fill="{shade(v, top)}"/>'
            )
            if v < 0:
                deep = min(1.0, -v / top) ** 0.7 > 0.5
                out.append(
                    f'<path d="M{_n(cx + cw * 0.3)},{_n(cy + ch / 2)}h{_n(cw * 0.4)}" stroke="{"#ffffff" if deep else INK}" stroke-width="1.4"/>'
                )
    return "".join(out) + "</g>"


def _outline(item: Item, x: float, y: float, paint: str) -> str:
    w, h = item.width, item.height
    if item.outline == "ellipse":
        return f'<ellipse class="shape" cx="{_n(x + w / 2)}" cy="{_n(y + h / 2)}" rx="{_n(w / 2)}" ry="{_n(h / 2)}" {paint}/>'
    if item.outline == "diamond":
        return (
            f'<path class="shape" d="M{_n(x + w / 2)},{_n(y)}L{_n(x + w)},{_n(y + h / 2)}L{_n(x + w / 2)},{_n(y + h)}'
            f'L{_n(x)},{_n(y + h / 2)}Z" stroke-linejoin="round" {paint}/>'
        )
    if item.outline == "cylinder":
        r = 5.0
        body = (
            f"M{_n(x)},{_n(y + r)}A{_n(w / 2)},{r:g} 0 0 1 {_n(x + w)},{_n(y + r)}V{_n(y + h - r)}"
            f"A{_n(w / 2)},{r:g} 0 0 1 {_n(x)},{_n(y + h - r)}Z"
        )
        rim = f"M{_n(x)},{_n(y + r)}A{_n(w / 2)},{r:g} 0 0 0 {_n(x + w)},{_n(y + r)}"
        return f'<path class="shape" d="{body}{rim}" {paint}/>'
    if item.outline == "tag":  # points at what it belongs to, as a label on a string
        c = min(10.0, h / 2)
        d = f"M{_n(x)},{_n(y)}H{_n(x + w - c)}L{_n(x + w)},{_n(y + h / 2)}L{_n(x + w - c)},{_n(y + h)}H{_n(x)}Z"
        return f'<path class="shape" d="{d}" stroke-linejoin="round" {paint}/>'
    round_ = {"card": 9, "stub": 4, "fold": 9}.get(item.outline, 3)
    out = f'<rect class="shape" x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" rx="{round_}" {paint}/>'
    if item.outline == "fold":  # a second edge behind: there is more inside
        out = (
            f'<rect class="behind" x="{_n(x + 4)}" y="{_n(y - 4)}" width="{_n(w)}" height="{_n(h)}" rx="{round_}" {paint}/>'
            + out
        )
    return out


def _dark() -> str:
    """Colours for a dark page, by class; the light ones are attributes."""
    rules = [
        ".panel{fill:#161b22}text{fill:#e6edf3}.sub,.note,.rule,.caption,.label-text{fill:#c3ccd5}.label-bg{fill:#161b22}"
        ".box{fill:#0d1117;stroke:#6e7781}.cells .number{fill:#e6edf3}.hook{fill:#161b22}"
    ]
    for css, (_, _, fill, line) in COLOURS.items():
        rules.append(f".node.{css}>.shape,.node.{css}>.behind{{fill:{fill};stroke:{line}}}")
    rules.append(".node.freed>.shape{fill:#161b22}")
    for css, (_, line, _, _) in EDGES.items():
        head = "stroke" if css == "not_computed" else "fill"
        rules.append(f".edge.{css}>.line{{stroke:{line}}}.edge.{css}>.head{{{head}:{line}}}")
    return "@media (prefers-color-scheme:dark){" + "".join(rules) + "}"
