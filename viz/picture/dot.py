"""A picture as a ``graphviz.Digraph``; and the colours and lines of items and edges, for all that is drawn.

We fix every size, and every name is one of our own ids, so the layout does not depend on fonts, and the user's text appears
only in escaped labels. Colours for light and dark are here too; ``svg.py`` paints with the same.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Collection, Iterable

import graphviz

from ..read.text import fit, width
from ..read.values import Value
from .parts import CAPTION, LABEL, WIDEST, Item, Line, Link, Picture, Places

FONT = "Helvetica, Arial, sans-serif"
INK, MUTED = "#1b1f24", "#495057"
#            kind or class: (fill, line) in light, (fill, line) in dark
COLOURS: dict[str, tuple[str, str, str, str]] = {
    **dict.fromkeys(("tensor", "input", "none"), ("#f0f2f5", "#6e7781", "#20262d", "#8d97a2")),
    **dict.fromkeys(("leaf", "alias"), ("#ddf5e3", "#1a7f37", "#14301d", "#4cc26a")),
    "value": ("#ffffff", "#8c959f", "#0d1117", "#6e7681"),
    "gradient": ("#f5fafe", "#7fb3da", "#0f1c28", "#3d7cab"),
    "op": ("#eef1f4", "#eef1f4", "#262c34", "#262c34"),
    "cut": ("#ffffff", "#c92a2a", "#161b22", "#ff8787"),
    "function": ("#e4f0fa", "#2273ad", "#14293b", "#5aa9e0"),
    "accumulate": ("#fff2bf", "#8a6100", "#332a0c", "#d9b23a"),
    "fold": ("#e7ecff", "#3b5bdb", "#1f2a55", "#91a7ff"),
    "saved": ("#fff4e6", "#c2500b", "#3d2410", "#ffa94d"),
    "second": ("#f1e6fb", "#7b3fb5", "#2b1d3a", "#bb8ae8"),
    "custom": ("#dff7fa", "#0b7285", "#083b45", "#66d9e8"),
    "failed": ("#ffe3e3", "#c92a2a", "#3d1518", "#ff8787"),
    # colours for the costs in viz.costs, from the least to the most
    "heat1": ("#fff5eb", "#8c5a2b", "#2a2018", "#c9a27c"),
    "heat2": ("#fee3c8", "#8c5a2b", "#3b2815", "#c9a27c"),
    "heat3": ("#fdc692", "#8c4a12", "#533312", "#e0a76a"),
    "heat4": ("#fda55c", "#7f3b08", "#70400c", "#f0b46e"),
    "heat5": ("#f98334", "#6b2f05", "#934d06", "#ffc078"),
}
# how an edge looks, for draw, the pane, its legend and GIFs: light, dark, dash pattern, width. In the pane "backward" is grey
# until its gradient has been sent
EDGES: dict[str, tuple[str, str, str, float]] = {
    "backward": ("#343a40", "#ced4da", "", 1.5),
    "flow": ("#868e96", "#7d8790", "", 1.4),
    "arrives": ("#343a40", "#ced4da", "", 1.5),
    "forward": ("#868e96", "#7d8790", "5 4", 1.1),
    "store": ("#d9480f", "#ff922b", "", 1.5),
    "not_computed": ("#868e96", "#7d8790", "1.5 3.5", 1.3),
    "grad_fn": ("#495057", "#adb5bd", "", 1.0),
    "saved": ("#c2500b", "#ffa94d", "2 2", 1.0),
    "cut": ("#c92a2a", "#ff8787", "1.5 3.5", 1.5),
}
FRAME = ("#f6f8fa", "#ced4da", "#1b2028", "#3a424c")  # for a module: fill and line in light, then in dark
POSITIVE, NEGATIVE = "#D55E00", "#0072B2"
WRITTEN = 12  # at most this many numbers of an array are written into its cells


def colours(kind: str, classes: Collection[str]) -> tuple[str, str, str, str]:
    """Fill and line of an item, light then dark."""
    heat = [css for css in classes if css.startswith("heat")]
    own = [css for css in ("failed", "second", "custom") if css in classes]
    return COLOURS[(heat or own * (kind in ("function", "accumulate")) or [kind])[0]]


def digraph(p: Picture, bare: bool = False) -> graphviz.Digraph:
    """The picture in DOT: ``graphviz`` renders it as it is. ``bare``: only what the layout depends on, named by position:
    the same for all pictures of one form, whatever their text."""
    dot = graphviz.Digraph(name="viz", encoding="utf-8")
    # with two lanes, only one is laid out: the other one is the same, shifted
    items = [item for item in p.items if not (bare and item in p.below)]
    links = [link for link in p.links if not (bare and link in p.mirrors)]
    # a label already takes space between two ranks
    close = p.view == "functions" and any(link.label for link in p.links)
    between = f"{p.gap:g}" if p.below else "0.45" if p.direction == "LR" else "0.25" if close else "0.35"
    dot.attr("graph", rankdir=p.direction, nodesep="0.28", ranksep=between, pad="0.12")
    dot.attr("graph", bgcolor="white", fontname=FONT, splines="true", newrank="true")
    dot.attr("node", fixedsize="true", fontname=FONT, fontcolor=INK, style="filled")
    dot.attr("edge", fontname=FONT, fontsize=f"{LABEL:g}", arrowsize="0.7")
    # statements are written straight into the body: we quote all values, which is five times faster
    # leave room for the wider of two items, one above the other
    room = {above: max(above.width, item.width) for item, above in p.below.items()} if bare else {}
    body, name = dot.body, {item: f"n{i}" if bare else item.id for i, item in enumerate(items)}
    body.extend(_node(item, name[item], bare, room.get(item, item.width)) for item in items)
    framed = {item: k for k, (_, items) in enumerate(p.clusters) for item in items}
    inside: list[list[str]] = [[] for _ in p.clusters]
    for i, pair in enumerate(p.same_rank):  # a tensor and its function stay side by side
        members = " ".join(name[item] for item in pair)
        text = f'subgraph cluster_pair{i} {{ graph [label="" margin=2 rank=same style=invis] {members} }}'
        where = {framed.get(item) for item in pair}
        if len(where) == 1 and None not in where:
            inside[where.pop()].append(text)
        else:
            body.append(f"\t{text}\n")
    for k, (caption, items) in enumerate(p.clusters):
        text = fit(caption, WIDEST, CAPTION, bold=True)
        row = f"<TR><TD>{escaped('' if bare else text)}</TD></TR>"
        label = _table(row, width(text, CAPTION, bold=True), CAPTION + 3)
        look = f'label=<{label}> labelloc=t margin=9 style="rounded,filled" color="{FRAME[1]}" fillcolor="{FRAME[0]}"'
        members = " ".join([*inside[k], *(name[item] for item in items)])
        body.append(f"\tsubgraph cluster_frame{k} {{ graph [{look}] {members} }}\n")
    body.extend(_edge(link, f"e{i}" if bare else link.id, name, bare) for i, link in enumerate(links))

    return dot


def fixed(
    p: Picture,
    at: Places,
    look: Callable[[Item | Link], dict[str, str]] = lambda part: {},
    seen: Callable[[Item], Item] = lambda item: item,
    more: Iterable[str] = (),
) -> str:
    """The picture in DOT with all positions fixed, for ``layout.painted``: a PNG or a PDF is the same picture as the SVG.

    For the frames of a GIF ``look`` gives attributes of an item or a link instead of its own, ``seen`` the item with the text
    and numbers that it shows by then, and ``more`` are further statements.
    """

    def pos(x: float, y: float) -> str:
        return f"{x:.2f},{at.height - y:.2f}"

    def box(name: str, x: float, y: float, w: float, h: float, look: str) -> str:
        size = f"width={w / 72:.4f} height={h / 72:.4f}"
        return f'{name} [shape=box label="" {size} pos="{pos(x + w / 2, y + h / 2)}!" {look}]'

    def text(name: str, x: float, y: float, line: Line) -> str:
        look = 'shape=plain fixedsize=false style=""' + ' fontname="Courier"' * line.mono
        return f'{name} [label=<{_text(line)}> pos="{pos(x, y - 0.36 * line.size)}!" {look}]'

    out = ['digraph { graph [bgcolor="white" pad=0.1 outputorder=nodesfirst]']
    out += ["node [fontname=Helvetica fixedsize=true]; edge [fontname=Helvetica fontsize=9 arrowsize=0.7]"]
    out += [box("page", 0, 0, at.width, at.height, "style=filled fillcolor=white color=white")]
    for k, ((caption, _), (x, y, w, h, base)) in enumerate(zip(p.clusters, at.frames, strict=True)):
        filled = f'style="filled,rounded" fillcolor="{FRAME[0]}" color="{FRAME[1]}"'
        out.append(box(f"frame{k}", x, y, w, h, filled))
        caption = fit(caption, WIDEST, CAPTION, bold=True)
        out.append(text(f"caption{k}", x + w / 2, base, Line("caption", caption, CAPTION, bold=True)))
    out += [text(f"lane{k}", x, y, Line("lane", label, LABEL)) for k, (label, x, y) in enumerate(at.lanes)]
    for item in p.items:
        (x, y), now = at.items[item.id], seen(item)
        place = quoted(f"{pos(x + item.width / 2, y + item.height / 2)}!")
        out.append(_node(item, item.id, False, item.width, {"label": '""', "pos": place} | look(item)))
        out += [text(f"{item.id}_t{i}", x + t.x, y + t.y, t) for i, t in enumerate(now.lines)]
        for name, (left, top, w, h) in item.boxes.items():
            look_of = f'shape=plain style="" label=<{cells_table(shown(now, name), w, h)}>'
            out.append(box(f"{item.id}_{name}", x + left, y + top, w, h, look_of))
    names = {item: item.id for item in p.items}
    for link in (link for link in p.links if link.id in at.lines):
        curve, tip = at.lines[link.id]
        way = " ".join(pos(*q) for q in curve)
        end = f"{'s' if link.backwards else 'e'},{pos(*tip)} " if tip else ""
        given = {"pos": quoted(end + way)}
        given |= {"lp": quoted(pos(*at.labels[link.id]))} if link.id in at.labels else {}
        out.append(_edge(link, link.id, names, False, given | look(link)))
    return "\n".join([*out, *more, "}"])


def quoted(text: str) -> str:
    """A quoted string in which nothing is special: no escapes of Graphviz's own (``\\N``), no markup; line ends stay."""
    clean = text if text.isprintable() else "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    return '"' + clean.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def ground(x: float, y: float, frames: Iterable[tuple[float, ...]]) -> str:
    """The light-theme colour behind a point: that of a module's frame, or of the page."""
    inside = any(0 < x - left < wide and 0 < y - top < high for left, top, wide, high, *_ in frames)
    return FRAME[0] if inside else "#ffffff"


def _attributes(values: dict[str, str]) -> str:
    return "[" + " ".join(f"{k}={v}" for k, v in values.items()) + "]"


_NODE_STYLES = dict.fromkeys(("card", "fold", "tag", "pill"), "filled,rounded") | {"stub": "filled,dashed"}


def style(item: Item) -> str:
    """How an item is drawn, in Graphviz's terms."""
    plain = _NODE_STYLES.get(item.outline, "filled")
    return plain.replace("filled", "dashed") if {"freed", "unreached"} & {*item.classes} else plain


def _node(item: Item, name: str, bare: bool, wide: float, more: dict | None = None) -> str:
    shape = item.outline if item.outline in ("cylinder", "ellipse", "diamond") else "box"
    w, h, thick = f"{wide / 72:.4f}", f"{item.height / 72:.4f}", "2.4" if "root" in item.classes else ""
    if bare:
        return f'\t{name} [shape={shape} width={w} height={h} label="" penwidth="{thick}"]\n'
    fill, line, _, _ = colours(item.kind, item.classes)
    values = {
        "id": item.id,
        "class": quoted(item.css),
        "shape": shape,
        "style": quoted(style(item)),
        "fillcolor": quoted(fill),
        "color": quoted(line),
        "width": w,
        "height": h,
        "label": _label(item),
        "tooltip": quoted(item.tooltip),
        **({"penwidth": thick} if thick else {}),
        **(more or {}),
    }
    return f"\t{name} {_attributes(values)}\n"


def _edge(link: Link, ident: str, name: dict[Item, str], bare: bool, more: dict | None = None) -> str:
    light, _, dash, wide = EDGES[link.kind]
    values = {"id": ident}
    if not bare:
        values |= {"class": quoted(link.css), "color": quoted(light), "tooltip": quoted(link.tooltip)}
    values["penwidth"] = f"{wide:g}"
    if dash and not bare:
        values["style"] = "dashed" if float(dash.split()[0]) > 3 else "dotted"
    tail, head = name[link.tail], name[link.head]
    arrow = "none" if link.headless else "tee" if link.kind in ("not_computed", "cut") else "normal"
    # leave room for a head at both ends: the returning arrow has its head at the other end
    if link.kind == "flow" and bare:
        values["dir"], arrow = "both", "normal"
    if link.backwards:
        tail, head = head, tail
        values |= {"dir": "back", "arrowtail": arrow}
    elif arrow != "normal":
        values["arrowhead"] = arrow
    if not link.constraint:
        values["constraint"] = "false"
    if link.spine:
        values["weight"] = "8"
    if link.label:
        # a table of fixed size: the layout knows how much room the text needs without asking a font
        font = f'<FONT COLOR="#495057">{escaped("" if bare else link.label)}</FONT>'
        values["label"] = f"<{_table(f'<TR><TD>{font}</TD></TR>', link.label_width, 15)}>"
    return f"\t{tail} -> {head} {_attributes(values | (more or {}))}\n"


def _label(item: Item) -> str:
    """The lines of an item, and between them its boxes side by side with their captions."""
    top = min((box[1] for box in item.boxes.values()), default=item.height)
    rows = [(x.y, f"<TR><TD>{_text(x)}</TD></TR>") for x in item.lines if x.css != "caption"]
    captions = "".join(f"<TD>{_text(x)}</TD>" for x in item.lines if x.css == "caption")
    cells = "".join(f"<TD>{cells_table(shown(item, c), w, h)}</TD>" for c, (_, _, w, h) in item.boxes.items())
    rows += [(top, f"<TR><TD>{_table(f'<TR>{row}</TR>')}</TD></TR>") for row in (captions, cells) if row]
    return f"<{_table(''.join(row for _, row in sorted(rows, key=lambda row: row[0])))}>" if rows else '""'


def _text(line: Line) -> str:
    text = f"<B>{escaped(line.text)}</B>" if line.bold else escaped(line.text)
    ink = INK if line.css == "name" else MUTED
    return f'<FONT POINT-SIZE="{line.size - 1:g}" COLOR="{ink}">{text}</FONT>'


def escaped(text: str) -> str:
    return html.escape(text, quote=True).replace("\\", "&#92;") or " "


def _table(rows: str, w: float = 0, h: float = 0, more: str = 'BORDER="0"') -> str:
    size = f' FIXEDSIZE="TRUE" WIDTH="{w:g}" HEIGHT="{h:g}"' if w else ""
    return f'<TABLE CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" {more}{size}>{rows}</TABLE>'


def cells_table(value: Value | None, w: float, h: float) -> str:
    cells = value.cells()[0] if value is not None and value.array.size else None
    if cells is None or cells.size == 1:
        text = "" if cells is None else f'<FONT POINT-SIZE="9">{escaped(value.short(40).strip("[]"))}</FONT>'
        cell = f'<TD FIXEDSIZE="TRUE" WIDTH="{w:g}" HEIGHT="{h:g}">{text}</TD>'
        return _table(f"<TR>{cell}</TR>", w, h, 'BORDER="1" COLOR="#adb5bd" BGCOLOR="white"')
    top, texts = scale(cells), numbers(value, w, h)
    size = f'FIXEDSIZE="TRUE" WIDTH="{w / cells.shape[1]:g}" HEIGHT="{h / cells.shape[0]:g}"'
    rows = []
    for i, row in enumerate(cells.tolist()):
        marks = ["−" if x < 0 and w / len(row) >= 8 else "" for x in row]  # where a cell has room for it
        if texts is not None:
            font, words = f'<FONT POINT-SIZE="{texts[0] - 1:g}">', texts[1][i * len(row) : (i + 1) * len(row)]
            marks = [f"{font}{escaped(text)}</FONT>" for text in words]
        shades = [shade(float(x), top, written=texts is not None) for x in row]
        tds = "".join(f'<TD {size} BGCOLOR="{c}">{m}</TD>' for c, m in zip(shades, marks, strict=True))
        rows.append(f"<TR>{tds}</TR>")
    return _table("".join(rows))


def shown(item: Item, caption: str, grads: bool = True) -> Value | None:
    """The array that a box of a drawn card shows; the gradient is blank until a pass has reached it; for a leaf it is
    .grad."""
    grad = (item.grad if grads else None) or (item.function.leaf_grad if item.kind == "leaf" else None)
    return {"value": item.value, "grad": grad}[caption]


def scale(cells) -> float:
    """The magnitude painted in full colour."""
    finite = [abs(float(x)) for x in cells.ravel() if math.isfinite(float(x))]
    return max(finite, default=0.0) or 1.0


def numbers(value: Value, w: float, h: float) -> tuple[float, list[str]] | None:
    """The font size and the text of each number of an array, if a box of this size has room for them at a readable size."""
    cells, smaller = value.cells()
    wide, high = w / cells.shape[1], h / cells.shape[0]
    if smaller or value.array.dtype.kind == "c" or cells.size > WRITTEN or wide < 20 or high < 10:
        return None
    for digits in (3, 2):
        texts = [f"{x:z.{digits}g}" for x in map(float, cells.ravel())]
        size = min(11.0, high - 2, (wide - 3) / (0.58 * max(map(len, texts))))
        if size >= 9:
            return size, texts
    return None


def tint_of(x: float, top: float) -> float:
    """The strength of the colour behind a number: pale enough for the number to be readable."""
    return (0.06 + 0.24 * min(1.0, abs(x) / top) ** 0.7) if x and math.isfinite(x) else 0.0


def shade(x: float, top: float, written: bool = False) -> str:
    """Orange for positive, blue for negative, paler towards 0; black for infinity, grey for NaN.
    ``written``: paler, as the background of a number, and infinity is grey, too."""
    if math.isnan(x) or (written and math.isinf(x)):
        return "#adb5bd"
    if math.isinf(x):
        return "#000000"
    full = POSITIVE if x >= 0 else NEGATIVE
    t = tint_of(x, top) if written else min(1.0, abs(x) / top) ** 0.7
    return "#" + "".join(f"{round(255 + (int(full[i : i + 2], 16) - 255) * t):02x}" for i in (1, 3, 5))
