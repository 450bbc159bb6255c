"""What is drawn: a graph as boxes and arrows, in one of three views. No colours, no coordinates, no Graphviz.

* ``graph``: tensors and functions apart, as two rails: the forward pass dashed above, the backward pass solid below.
* ``cards``: one card for each tensor and the function that made it, with room for its value and its gradient.
* ``functions``: only the functions and the leaves; the compact form for large graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import rules
from .fold import Group
from .graph import Edge, Function, Graph, Output
from .text import fit, one_line, shape_text, width
from .values import SIDE, Value

VIEWS = ("graph", "cards", "functions")
CELL = 15.0  # side of one painted cell
NAME, SUB, TINY, MONO = 13.0, 10.5, 9.5, 9.5  # font sizes
LABEL = 10.0
WIDEST = 190.0
ALIAS_FROM = 40  # in a graph with more nodes, each later use of a leaf is a small node of its own
HUB_FROM = 5  # in any graph, the same for a leaf with as many uses


@dataclass(slots=True)
class Line:
    """One line of text in an item, centred at ``(x, y)`` from the item's top left corner (``y`` is the baseline)."""

    css: str
    text: str
    x: float
    y: float
    size: float
    bold: bool = False
    mono: bool = False


@dataclass(slots=True, eq=False)
class Item:
    """Something with a place: a tensor, a leaf, a function, a card."""

    id: str
    kind: str
    outline: str  # box, cylinder, ellipse, diamond, card, tag, stub, fold
    width: float
    height: float
    lines: list[Line]
    tooltip: str
    function: Function | None = None
    nr: int = 0
    classes: list[str] = field(default_factory=list)
    boxes: dict[str, tuple[float, float, float, float]] = field(
        default_factory=dict
    )  # from the item's top left
    value: Value | None = None
    name: str | None = None
    output: Output | None = None
    members: list[Function] = field(default_factory=list)  # of a fold

    @property
    def css(self) -> str:
        grad = ["grad"] if self.kind in ("tensor", "leaf", "alias") else []
        return " ".join(["node", self.kind, *grad, *self.classes])


@dataclass(slots=True, eq=False)
class Link:
    """An arrow from ``tail`` to ``head``. ``backwards``: Graphviz places the head first, so inputs stay on the left."""

    id: str
    tail: Item
    head: Item
    kind: str  # backward, forward, store, not_computed, grad_fn
    tooltip: str
    label: str = ""
    backwards: bool = False
    edge: Edge | None = None
    more: list[Edge] = field(default_factory=list)  # further edges that a folded picture draws as this one
    classes: list[str] = field(default_factory=list)
    label_width: float = 0.0
    spine: bool = False
    constraint: bool = True

    @property
    def css(self) -> str:
        return " ".join(["edge", self.kind, *self.classes])


@dataclass(slots=True, eq=False)
class Picture:
    """Items and links of one view, ready for Graphviz."""

    view: str
    direction: str
    title: str
    items: list[Item] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    same_rank: list[tuple[Item, ...]] = field(default_factory=list)
    clusters: list[tuple[str, list[Item]]] = field(default_factory=list)
    of_function: dict[Function, Item] = field(default_factory=dict)  # what lights up when a node fires
    notes: list[str] = field(default_factory=list)

    def add(
        self, kind: str, outline: str, width: float, height: float, lines: list[Line], tooltip: str, **more
    ) -> Item:
        item = Item(
            f"n{len(self.items)}",
            kind,
            outline,
            round(width),
            round(height),
            lines,
            one_line(tooltip)[:600],
            **more,
        )
        self.items.append(item)
        return item

    def link(self, tail: Item, head: Item, kind: str, tooltip: str, **more) -> Link:
        link = Link(f"e{len(self.links)}", tail, head, kind, one_line(tooltip)[:600], **more)
        if link.label:
            link.label = fit(link.label, 110, LABEL)
            link.label_width = round(max(width(link.label, LABEL) + 10, 44))
        self.links.append(link)
        return link


def build(graph: Graph, view: str, direction: str, title: str, groups: list[Group] | None = None) -> Picture:
    """The picture of ``graph`` in ``view``; each of ``groups`` is drawn as one box (not in the graph view)."""
    picture = Picture(view, direction, one_line(title)[:80])
    if view == "graph":
        _graph(graph, picture)
    else:
        (_cards if view == "cards" else _functions)(graph, picture, groups or [])
    return picture


# -- the parts that the views share ---------------------------------------------------------------------------------------


def _column(
    lines: list[tuple[str, str, float, bool, bool]], least: float, pad: float, top: float
) -> tuple[list[Line], float, float]:
    """Lines one below the other, centred: the lines, and the width and height that hold them."""
    wide = max([least, *(width(t, s, bold=b, mono=m) + 2 * pad for _, t, s, b, m in lines)])
    y, out = top, []
    for css, text, size, bold, mono in lines:
        y += size
        out.append(Line(css, text, wide / 2, y, size, bold, mono))
        y += size * 0.35
    return out, wide, y - 0.1 * (lines[-1][2] if lines else 0) + top


def _name_line(name: str) -> tuple[str, str, float, bool, bool]:
    return "name", fit(name, WIDEST, NAME, bold=True), NAME, True, False


def _sub_line(text: str, css: str = "sub", size: float = SUB) -> tuple[str, str, float, bool, bool]:
    return css, fit(text, WIDEST, size), size, False, False


def _about(out: Output) -> str:
    return ", ".join(t for t in (shape_text(out.shape), out.dtype) if t)


def _leaf_tooltip(f: Function) -> str:
    out = f.outputs[0]
    grad = "None" if f.leaf_grad is None else f.leaf_grad.short()
    return f"{out.name}: leaf, {_about(out)}, requires_grad=True, .grad is {grad}"


def _function_tooltip(f: Function) -> str:
    parts = [f"{f.name} made {', '.join(o.name or '?' for o in f.outputs[:4])}"]
    for name, code in zip(rules.input_names(f), rules.code_of(f), strict=True):
        parts.append(f"{name}: {code}" if code else name)
    kept = [f"{s.name} {'(' + s.state + ')' if s.state != 'kept' else ''}".strip() for s in f._saved or ()]
    if kept:
        parts.append("keeps " + ", ".join(kept))
    if f.module:
        parts.append(f"in {f.module}")
    return "; ".join(parts)


def _marks(f: Function) -> list[str]:
    marks = []
    if f.kind in ("custom", "copyslices"):
        marks.append(f.kind)
    if f.second:
        marks.append("second")
    if f.freed:
        marks.append("freed")
    if f.hooks or any(o.hooks for o in f.outputs):
        marks.append("hooked")
    return marks


def _grad_label(name: str | None, named: bool) -> str:
    return f"grad_{name}" if name and named and len(name) <= 14 else "grad"


def _root_outputs(graph: Graph) -> set[tuple[Function, int]]:
    return {(r.function, r.nr) for r in graph.roots}


class _Leaves:
    """Leaf items: one each in a small graph; in a large one, or for a hub, every use after the first is an alias."""

    def __init__(self, picture: Picture, graph: Graph, make, make_alias):
        self.picture, self.make, self.make_alias = picture, make, make_alias
        self.apart = len(graph) > ALIAS_FROM
        self.first: dict[Function, Item] = {}

    def item(self, f: Function) -> Item:
        if f not in self.first:
            self.first[f] = self.make(f)
            return self.first[f]
        if self.apart or len(f.users) >= HUB_FROM:
            return self.make_alias(f)
        return self.first[f]


def _alias(picture: Picture, f: Function) -> Item:
    out = f.outputs[0]
    lines, w, h = _column([("name", fit(out.name or "?", 120, SUB, bold=True), SUB, True, False)], 30, 9, 4)
    return picture.add(
        "alias",
        "tag",
        w,
        h,
        lines,
        f"{out.name} again: the same leaf, drawn once for each use",
        function=f,
        name=out.name,
    )


def _plain_input(picture: Picture, edge: Edge, seen: dict[str, Item], outline: str = "cylinder") -> Item:
    """The item of an input that does not require grad: a named tensor, a constant, or a stub where nothing is known."""
    if edge.tensor and edge.label in seen:
        return seen[edge.label]
    if edge.tensor:
        shape = edge.value.shape if edge.value else None
        lines, w, h = _column(
            [
                _name_line(edge.label),
                _sub_line(shape_text(shape)),
                _sub_line("requires_grad=False", "note", TINY),
            ],
            84,
            12,
            12,
        )
        tip = f"{edge.label}: {shape_text(shape)}, requires_grad=False, so no gradient is computed for it"
        item = picture.add("input", outline, w, h, lines, tip, name=edge.label, value=edge.value)
        seen[edge.label] = item
        return item
    if edge.label:
        lines, w, h = _column([("sub", fit(edge.label, 90, SUB), SUB, False, False)], 30, 8, 5)
        return picture.add(
            "none",
            "stub",
            w,
            h,
            lines,
            f"{edge.label}: a constant, no gradient is computed for it",
            name=edge.label,
        )
    lines, w, h = _column([("note", "no grad", TINY, False, False)], 46, 7, 4)
    return picture.add(
        "none", "stub", w, h, lines, "an input that does not require grad; the graph keeps nothing of it"
    )


# -- the three views ---------------------------------------------------------------------------------------------------


def _graph(graph: Graph, p: Picture) -> None:
    tensors: dict[tuple[Function, int], Item] = {}
    functions: dict[Function, Item] = {}
    seen: dict[str, Item] = {}
    roots = _root_outputs(graph)
    labelled = len(graph) <= 60

    def leaf(f: Function) -> Item:
        out = f.outputs[0]
        lines, w, h = _column(
            [
                _name_line(out.name),
                _sub_line(shape_text(out.shape)),
                _sub_line("requires_grad=True", "note", TINY),
            ],
            84,
            12,
            12,
        )
        item = p.add(
            "leaf",
            "cylinder",
            w,
            h,
            lines,
            _leaf_tooltip(f),
            function=f,
            name=out.name,
            output=out,
            value=out.value,
        )
        size = width("AccumulateGrad", SUB) * 1.55
        label, _, h = _column([("name", "AccumulateGrad", SUB, False, False)], size, 0, 18)
        tip = f"AccumulateGrad adds the gradient that arrives to {out.name}.grad"
        diamond = p.add(
            "accumulate",
            "diamond",
            size,
            h,
            label,
            tip,
            function=f,
            name=out.name,
            output=out,
            classes=_marks(f),
        )
        functions[f] = diamond
        p.same_rank.append((item, diamond))
        p.link(
            diamond,
            item,
            "store",
            f"adds to {out.name}.grad",
            label="+= .grad" if labelled else "",
            backwards=True,
            constraint=False,
        )
        p.of_function[f] = diamond
        return item

    leaves = _Leaves(p, graph, leaf, lambda f: _alias(p, f))
    inputs: dict[Edge, Item] = {}
    for f in graph.functions:
        if f.kind == "accumulate":
            continue
        for e in f.edges:  # inputs from top to bottom, as they are written
            if e.target is None:
                inputs[e] = _plain_input(p, e, seen)
            elif e.target.kind == "accumulate":
                inputs[e] = leaves.item(e.target)
        used = sorted({e.nr for e in f.users} | {r.nr for r in graph.roots if r.function is f})
        for nr in used:
            out = f.output(nr)
            text = [_name_line(out.name or "?"), _sub_line(shape_text(out.shape) or "shape not known")]
            lines, w, h = _column(text, 56, 12, 8)
            kept = " ".join(("", f"value {out.value.short()}" if out.value else "its value is not kept"))
            tensors[f, nr] = p.add(
                "tensor",
                "box",
                w,
                h,
                lines,
                f"{out.name}: {_about(out)}, made by {f.name};{kept}",
                function=f,
                nr=nr,
                name=out.name,
                output=out,
                value=out.value,
                classes=["root"] if (f, nr) in roots else [],
            )
        lines, w, h = _column([("name", fit(f.name, WIDEST, 12), 12.0, False, False)], 76, 20, 11)
        item = p.add(
            "function",
            "ellipse",
            w,
            h,
            lines,
            _function_tooltip(f),
            function=f,
            classes=_marks(f),
            name=f.outputs[0].name,
        )
        functions[f] = p.of_function[f] = item
        p.same_rank.append((*(tensors[f, nr] for nr in used[:6]), item))
    for f in graph.functions:
        if f.kind == "accumulate":
            continue
        item = functions[f]
        outs = [(nr, tensors[f, nr]) for nr in range(len(f.outputs)) if (f, nr) in tensors]
        for nr, box in outs:
            seed = " = 1" if (f, nr) in roots and box.output.shape == () else ""
            text = _grad_label(box.name, box.output.named) + seed if (f, nr) in roots else "grad_fn"
            p.link(
                box,
                item,
                "grad_fn",
                f"{box.name}.grad_fn is {f.name}",
                label=text if labelled else "",
                backwards=True,
                constraint=nr == outs[0][0],
                classes=["seed"] if (f, nr) in roots else [],
            )
        symbol = rules.symbol(f.name)
        for e in f.edges:
            source = inputs.get(e) or tensors[e.target, e.nr]
            for nr, box in outs[: 1 if len(outs) > 4 else 4]:
                p.link(
                    source,
                    box,
                    "forward",
                    f"{f.outputs[nr].name} = {rules.expression(f, _operands(f))}",
                    edge=None,
                    label=symbol if labelled and nr == outs[0][0] else "",
                    spine=True,
                )
            if e.target is None:
                if source.kind == "input":  # a constant has no gradient that anyone would look for
                    p.link(
                        item,
                        source,
                        "not_computed",
                        f"not computed: {source.name} does not require grad",
                        label="not computed" if labelled else "",
                        backwards=True,
                        edge=e,
                        constraint=False,
                    )
                continue
            target = source if source.kind == "alias" else functions[e.target]
            out = e.target.output(e.nr)
            p.link(
                item,
                target,
                "backward",
                f"the gradient of {out.name}, from {f.name}",
                backwards=True,
                edge=e,
                label=_grad_label(out.name, out.named) if labelled else "",
                classes=["hooked"] if out.hooks else [],
            )


def _operands(f: Function) -> dict[str, str]:
    from .names import operand_names

    return operand_names(f)


def _functions(graph: Graph, p: Picture, groups: list[Group]) -> None:
    def leaf(f: Function) -> Item:
        out = f.outputs[0]
        text = [
            _name_line(out.name),
            _sub_line(shape_text(out.shape)),
            _sub_line("AccumulateGrad", "note", TINY),
        ]
        lines, w, h = _column(text, 64, 12, 6)
        p.of_function[f] = p.add(
            "leaf",
            "tag",
            w + 12,
            h,
            lines,
            _leaf_tooltip(f),
            function=f,
            name=out.name,
            output=out,
            value=out.value,
            classes=_marks(f),
        )
        return p.of_function[f]

    _one_item_each(graph, p, groups, leaf, _function_item)


def _function_item(p: Picture, f: Function, roots: set) -> Item:
    out = f.outputs[0]
    sub = " ".join(t for t in (out.name if out.named else "", shape_text(out.shape)) if t)
    text = [("name", fit(f.name, WIDEST, 12, bold=True), 12.0, True, False)]
    if sub:
        text.append(_sub_line(sub))
    lines, w, h = _column(text, 70, 10, 6)
    marks = _marks(f) + (["root"] if any((f, nr) in roots for nr in range(len(f.outputs))) else [])
    return p.add(
        "function",
        "card",
        w,
        h,
        lines,
        _function_tooltip(f),
        function=f,
        name=out.name,
        output=out,
        value=out.value,
        classes=marks,
    )


def _cards(graph: Graph, p: Picture, groups: list[Group]) -> None:
    def leaf(f: Function) -> Item:
        out = f.outputs[0]
        head = [
            _name_line(out.name),
            _sub_line(f"leaf {shape_text(out.shape)}"),
            _sub_line("AccumulateGrad", "note", TINY),
        ]
        p.of_function[f] = _card(
            p,
            "leaf",
            head,
            out.shape,
            ("value", "grad"),
            _leaf_tooltip(f),
            function=f,
            name=out.name,
            output=out,
            value=out.value,
            classes=_marks(f),
        )
        return p.of_function[f]

    def function(p: Picture, f: Function, roots: set) -> Item:
        outs = [o.name or "?" for o in f.outputs]
        title = outs[0] if len(outs) == 1 else ", ".join(outs[:3]) + (", …" if len(outs) > 3 else "")
        head = [_name_line(title), _sub_line(f"{f.name} {shape_text(f.outputs[0].shape)}".strip())]
        operands = _operands(f)
        for name, code, e in zip(rules.input_names(f), rules.code_of(f), f.edges, strict=True):
            if code and e.target is not None:
                head.append(
                    (
                        "rule",
                        fit(f"{operands.get(name, name)}: {code}", 150, MONO, mono=True),
                        MONO,
                        False,
                        True,
                    )
                )
        marks = _marks(f) + (["root"] if any((f, nr) in roots for nr in range(len(outs))) else [])
        out = f.outputs[min((e.nr for e in f.users), default=0)]
        return _card(
            p,
            "function",
            head[:5],
            out.shape,
            ("value", "grad"),
            _function_tooltip(f),
            function=f,
            name=outs[0],
            output=out,
            value=out.value,
            classes=marks,
        )

    _one_item_each(graph, p, groups, leaf, function, plain=True)


def _card(
    p: Picture,
    kind: str,
    head: list,
    shape: tuple[int, ...] | None,
    captions: tuple[str, ...],
    tooltip: str,
    **more,
) -> Item:
    """A card: lines of text, then one box for each caption, as large as the cells of ``shape`` ask for."""
    rows, columns = grid(shape)
    one = shape is not None and all(n == 1 for n in shape)
    box_w, box_h = (58.0, 22.0) if one else (max(columns * CELL, 40.0), max(rows * CELL, 20.0))
    gap = 12.0
    need = len(captions) * box_w + (len(captions) - 1) * gap + 24
    lines, w, h = _column(head, need, 12, 8)
    left = (w - (need - 24)) / 2
    boxes = {}
    for i, caption in enumerate(captions):
        x = left + i * (box_w + gap)
        lines.append(Line("caption", caption, x + box_w / 2, h + 4, TINY))
        boxes[caption] = (x, h + 8, box_w, box_h)
    return p.add(kind, "card", w, h + 8 + box_h + 10, lines, tooltip, boxes=boxes, **more)


def grid(shape: tuple[int, ...] | None) -> tuple[int, int]:
    """Rows and columns of the painted cells of an array of this shape (at most 8 by 8)."""
    if not shape:
        return 1, 1
    rows = 1
    for n in shape[:-1]:
        rows *= n
    return max(1, min(rows, SIDE)), max(1, min(shape[-1], SIDE))


def _one_item_each(
    graph: Graph, p: Picture, groups: list[Group], leaf, function, plain: bool = False
) -> None:
    """The skeleton of the two compact views: one item for each node or group, one arrow for each edge between them."""
    seen: dict[str, Item] = {}
    roots = _root_outputs(graph)
    leaves = _Leaves(p, graph, leaf, lambda f: _alias(p, f))
    labelled = len(graph) <= 60
    group_of = {f: g for g in groups for f in g.functions}
    for f in graph.leaves:  # a leaf that only one group uses is folded into it
        users = {group_of.get(e.source) for e in f.users}
        if groups and len(users) == 1 and None not in users:
            group_of[f] = users.pop()
    folds: dict[Group, Item] = {}
    merged: dict[tuple[Item, Item], Link] = {}

    def plain_card(e: Edge) -> Item:
        if not e.tensor or e.value is None or e.label in seen:
            return _plain_input(p, e, seen)
        shape = shape_text(e.value.shape)
        head = [_name_line(e.label), _sub_line(shape), _sub_line("requires_grad=False", "note", TINY)]
        tip = f"{e.label}: {shape}, requires_grad=False, so no gradient is computed for it"
        seen[e.label] = _card(p, "input", head, e.value.shape, ("value",), tip, name=e.label, value=e.value)
        return seen[e.label]

    def source_of(e: Edge, folded: bool) -> Item | None:
        if e.target is None:
            return plain_card(e) if plain and not folded else None
        if e.target in group_of:
            return folds.get(group_of[e.target]) or _fold(p, group_of[e.target], group_of, folds)
        return leaves.item(e.target) if e.target.kind == "accumulate" else p.of_function[e.target]

    for f in graph.functions:
        if f.kind == "accumulate":
            continue
        group = group_of.get(f)
        if group is not None:
            item = folds.get(group) or _fold(p, group, group_of, folds)
            inside = [e for e in f.edges if e.target is not None and group_of.get(e.target) is not group]
            pairs = [(e, _known(merged, item, e, p) or source_of(e, True)) for e in inside]
        else:
            pairs = [(e, source_of(e, False)) for e in f.edges]
            p.of_function[f] = item = function(p, f, roots)
        for e, source in pairs:
            if source is None:
                continue
            if e.target is None:
                why = f"not computed: {source.name or 'this input'} does not require grad"
                p.link(item, source, "not_computed", why, backwards=True, edge=e)
                continue
            if folds and (item, source) in merged and (item.kind == "fold" or source.kind == "fold"):
                merged[item, source].more.append(e)
                continue
            out = e.target.output(e.nr)
            merged[item, source] = p.link(
                item,
                source,
                "backward",
                f"the gradient of {out.name}, from {f.name}",
                backwards=True,
                edge=e,
                label=_grad_label(out.name, out.named) if labelled else "",
                classes=["hooked"] if out.hooks else [],
                spine=e.target.kind != "accumulate",
            )


def _known(merged: dict[tuple[Item, Item], Link], item: Item, e: Edge, p: Picture) -> Item | None:
    """The item that a group is already joined to for the same leaf: one arrow stands for all its uses in the group."""
    if e.target.kind != "accumulate":
        return None
    return next((s for (i, s) in merged if i is item and s.function is e.target), None)


def _fold(p: Picture, group: Group, group_of: dict[Function, Group], folds: dict[Group, Item]) -> Item:
    """The box of a group: a second edge behind it says that there is more inside."""
    members = [f for f, g in group_of.items() if g is group]
    leaves = sum(f.kind == "accumulate" for f in members)
    about = group.about + (f", {leaves} lea{'f' if leaves == 1 else 'ves'}" if leaves else "")
    lines, w, h = _column([_name_line(group.title), _sub_line(about)], 90, 12, 9)
    tip = f"{group.title}: {len(group.functions):,} functions, from {group.functions[0].name} to {group.functions[-1].name}"
    folds[group] = p.add("fold", "fold", w, h, lines, tip, name=group.title, members=members)
    for f in members:
        p.of_function[f] = folds[group]
    return folds[group]
