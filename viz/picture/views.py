"""What is drawn: a graph as items and links, in one of four views.

* ``lanes``: values above, flowing right; their gradients below, coming back left (lanes.py). For small graphs.
* ``graph``: tensors and functions apart, as two rails: the forward pass dashed above, the backward pass solid below.
* ``cards``: one card for each tensor and the function that made it, with room for its value and its gradient.
* ``functions``: only the functions and the leaves; the compact form for large graphs.
"""

from __future__ import annotations

from collections import Counter

from ..read import rules
from ..read.graph import Edge, Function, Graph, Output
from ..read.modules import owner, prefixes
from ..read.names import operand_names
from ..read.text import fit, one_line, plural, shape_text, width
from ..read.values import size_of
from . import view as common
from .blocks import Block, leaves_of
from .captions import TITLE, common_start, texts
from .lanes import Lanes, operation
from .levels import boxes
from .parts import SUB, TINY, Column, Item, Line, Link, Picture, name_line, sub_line
from .view import ALIAS_FROM, FRAMES_UP_TO, HUB_FROM, SMALLEST, View, classes_of, leaf_tooltip

VIEWS = ("lanes", "graph", "cards", "functions")
MOST_USES = 2  # boxes; an input that more boxes use, such as a mask, is not drawn next to them
SMALL = 8  # nodes; in a larger graph only the legend calls a leaf AccumulateGrad


def build(
    graph: Graph,
    view: str,
    direction: str,
    title: str,
    groups: list[Block] | None = None,
    *,
    saved: bool = False,
    terse: int = 0,
    close: int = 0,
) -> Picture:
    """The picture of ``graph`` in ``view``; each of ``groups`` is drawn as one box (in the compact views).

    saved: draw what each function keeps (in the graph view).
    terse: only a name, a class and a shape on each box (2: no shape), for a window without room for more; nothing on arrows.
    close: how tightly the lanes are set (an index into CLOSER).
    """
    picture = Picture(view, direction, one_line(title)[:80], saved)
    picture.terse = terse
    if view == "lanes":
        Lanes(graph, picture, close).draw()
    elif view == "graph":
        _GraphView(graph, picture).draw()
    else:
        (_Cards if view == "cards" else _Functions)(graph, picture, groups or []).draw()
    if len(graph) <= FRAMES_UP_TO and not groups:
        _frame_modules(graph, picture)
    return picture


def inside(graph: Graph, box: Item, direction: str, most: int) -> Picture:
    """The inside of a box as a separate picture: its nodes and the edges between them; if more than ``most``, the boxes that
    hold them."""
    picture = Picture("functions", direction, "")
    start = box.block.path
    start = prefixes(start)[-2] if box.block.times > 1 and len(prefixes(start)) > 1 else start
    _Functions(graph, picture, boxes(box.block, most), box.members, start).draw()
    return picture


def _frame_modules(graph: Graph, p: Picture) -> None:
    """A frame around the functions of each call of a module, with its class and the leaves that only this call uses."""
    calls: dict[tuple[str, int], list[Function]] = {}
    for f in (f for f in graph.functions if f.module is not None and f.call is not None and not f.second):
        calls.setdefault((f.module, f.call), []).append(f)
    several, number = Counter(module for module, _ in calls), Counter[str]()
    for (module, _), functions in calls.items():
        number[module] += 1
        caption = f"{module}, call {number[module]}" if several[module] > 1 else module
        own = {f for f in leaves_of(functions) if module in prefixes(f.outputs[0].name or "")}
        inside = {*functions, *(f for f in own if all(e.source in functions for e in f.users))}
        members = [i for i in p.items if i.function in inside and i.kind != "alias" and i not in p.below]
        if len(members) > 1:
            kind = graph.classes.get(module)
            p.clusters.append((one_line(f"{caption}: {kind}" if kind else caption), members))


# -- the graph view -------------------------------------------------------------------------------------------------------


class _GraphView(View):
    """Every tensor is above its function; their two rails run side by side in opposite directions."""

    def draw(self) -> None:
        self.tensors: dict[tuple[Function, int], Item] = {}
        self.inputs: dict[Edge, Item] = {}
        functions = [f for f in self.graph.functions if f.kind != "accumulate"]
        for f in functions:
            for e in f.edges:  # inputs from top to bottom, as they are written
                if e.target is None:
                    self.inputs[e] = self.plain_input(e)
                elif e.target.kind == "accumulate":
                    self.inputs[e] = self.leaf(e.target)
            self.function(f)
        for f in functions:
            self.links(f)

    def leaf_item(self, f: Function) -> Item:
        p, out = self.p, f.outputs[0]
        note = sub_line("requires_grad=True", "note", TINY)
        lines = [name_line(out.name), sub_line(shape_text(out.shape)), note]
        more, column = {"function": f, "name": out.name, "output": out}, Column.of(lines, 84, 12, 12)
        item = p.add("leaf", "cylinder", column, leaf_tooltip(f), value=out.value, **more)
        column = Column.of([Line("name", "AccumulateGrad", SUB)], width("AccumulateGrad", SUB) * 1.55, 0, 18)
        tip = f"AccumulateGrad adds the gradient that arrives to {out.name}.grad{common.hooks_in_words(f)}"
        diamond = p.add("accumulate", "diamond", column, tip, classes=classes_of(f), **more)
        p.same_rank.append((item, diamond))
        label = "+= .grad" if self.labelled else ""
        hooked = ["hooked"] if f.after_hooks else []
        tip = f"adds to {out.name}.grad"
        p.link(diamond, item, "store", tip, label=label, backwards=True, constraint=False, classes=hooked)
        p.of_function[f] = diamond
        return item

    def function(self, f: Function) -> None:
        p = self.p
        used = sorted({e.nr for e in f.users} | {r.nr for r in self.graph.roots if r.function is f})
        for nr in used:
            out = f.output(nr)
            lines = [name_line(out.name), sub_line(shape_text(out.shape) or "shape not known")]
            kept = f"value {out.value.short()}" if out.value else "its value is not kept"
            tip = f"{out.name}: {common.describe(out)}, grad_fn {f.name}; {kept}"
            classes = self.root_mark(f, nr)
            more = {"nr": nr, "name": out.name, "output": out, "value": out.value, "classes": classes}
            self.tensors[f, nr] = p.add("tensor", "box", Column.of(lines, 56, 12, 8), tip, function=f, **more)
        column = Column.of([Line("name", fit(f.name, 190, 12), 12.0)], 76, 20, 11)
        more = {"classes": classes_of(f), "name": f.outputs[0].name}
        item = p.add("function", "ellipse", column, common.function_tooltip(f), function=f, **more)
        p.of_function[f] = item
        p.same_rank.append((*(self.tensors[f, nr] for nr in used[:6]), item))
        if p.saved:
            self.kept(f, item)

    def kept(self, f: Function, item: Item) -> None:
        """The tensors that the function keeps for its rule, as small notes attached to it."""
        for s in f.saved:
            single = s.value is not None and not s.value.shape
            what = s.label or (s.value.short(common.SHORT) if single else s.text)
            shape = shape_text(s.value.shape) if s.value is not None and s.value.shape else ""
            text = f"{s.name} = {what}" if what and s.state == "kept" else s.name
            state = shape if s.state == "kept" else s.state
            column = Column.of([sub_line(text), sub_line(state, "note", TINY)], 40, 8, 5)
            tip = f"{f.name} keeps {text} {state}: its rule reads it"
            note = self.p.add("saved", "stub", column, tip, name=s.name, value=s.value, classes=[s.state])
            self.p.link(item, note, "saved", tip, backwards=True)

    def links(self, f: Function) -> None:
        p, item = self.p, self.p.of_function[f]
        boxes = [(nr, self.tensors[f, nr]) for nr in range(len(f.outputs)) if (f, nr) in self.tensors]
        first = boxes[0][0]
        for nr, box in boxes:
            root = (f, nr) in self.roots
            seed = " = 1" if root and box.output.shape is not None and size_of(box.output.shape) == 1 else ""
            text = common.grad_label(box.output) + seed if root else "grad_fn"
            more = {"label": text if self.labelled else "", "classes": ["seed"] if root else []}
            tip = f"{box.name}.grad_fn is {f.name}"
            p.link(box, item, "grad_fn", tip, backwards=True, constraint=nr == first, **more)
        operands = operand_names(f)
        symbol, written = rules.symbol(f.name, rules.form_of(f, operands)), rules.expression(f, operands)
        for e in f.edges:
            source = self.inputs.get(e) or self.tensors[e.target, e.nr]
            for nr, box in boxes[: 1 if len(boxes) > 4 else 4]:
                label = symbol if self.labelled and nr == first else ""
                tip = written if box.name == written else f"{box.name} = {written}"
                p.link(source, box, "forward", tip, label=label, spine=True)
            if e.target is not None:
                self.backward_link(f, e, item, source if source.kind == "alias" else p.of_function[e.target])
            elif source.kind == "input":  # readers do not look for the gradient of a constant
                tip = f"not computed: {source.name} does not require grad"
                more = {"label": "not computed" if self.labelled else "", "edge": e, "constraint": False}
                p.link(item, source, "not_computed", tip, backwards=True, **more)
            if e.detached is not None:
                head = self.tensors.get(e.detached) or self.first_use.get(e.detached[0])
                self.detached_link(e, source, head)


# -- the compact views ----------------------------------------------------------------------------------------------------


class _Compact(View):
    """One item for each node or group of nodes, one arrow for each edge between them; subclasses define ``function_item``."""

    draws_plain = False  # whether inputs that do not require grad are drawn

    def __init__(
        self,
        graph: Graph,
        picture: Picture,
        groups: list[Block],
        within: list[Function] | None = None,
        start: str | None = None,
    ):
        super().__init__(graph, picture)
        self.order = graph.functions if within is None else sorted(within, key=lambda f: f.index)
        self.within = set(self.order)
        self.start = common_start(groups) if start is None else start
        if groups:
            self.many = len(self.order) - sum(len(g.functions) - 1 for g in groups) > ALIAS_FROM
        self.folded = bool(groups) or within is not None  # arrows to and from boxes are labelled
        self.beside_modules = within is None and any(g.path for g in groups)
        self.group_of = {f: g for g in groups for f in g.functions}
        for f in self.order if groups else ():  # a leaf that only one group uses is folded into it
            users = [self.group_of.get(e.source) for e in f.users] if f.kind == "accumulate" else [None]
            # the box of the parameter's module, or of one around or inside that: no arrow leads to the parameter
            paths = [g.path for g in users if g is not None]
            theirs = all(p in prefixes(owner(f)) or owner(f) in prefixes(p) for p in paths)
            if None not in users and (len(set(users)) == 1 or theirs):
                self.group_of[f] = users[0]
        self.members: dict[Block, list[Function]] = {}
        for f, g in self.group_of.items():
            self.members.setdefault(g, []).append(f)
        self.folds: dict[Block, Item] = {}
        self.joined: dict[tuple[Item, Item], Link] = {}  # links to or from a fold: one stands for many
        # for each such link: (function, output) of every gradient that flows along it
        self.tensors: dict[Link, set] = {}
        self.leaf_of_fold: dict[tuple[Item, Function], Item] = {}
        self.hubs: set[Function] = set()  # functions with many users, drawn once already

    def about(self, f: Function, out: Output) -> dict:
        marks = self.root_mark(f) or ["node-hooked"] * bool(f.after_hooks and not f.hooks)
        common = {"function": f, "name": out.name, "output": out, "value": out.value}
        return common | {"classes": classes_of(f) + marks}

    def draw(self) -> None:
        for f in self.order:
            if f.kind == "accumulate":
                if self.within.isdisjoint(e.source for e in f.users):
                    self.leaf(f)
                continue
            group = self.group_of.get(f)
            if group is None:
                drawn = [e for e in f.edges if e.target is None or e.target in self.within]
                pairs = [(e, self.source(e)) for e in drawn]
                self.p.of_function[f] = item = self.function_item(f)
            else:
                item = self.fold(group)
                drawn = [e for e in f.edges if e.target in self.within]
                out = (e for e in drawn if self.group_of.get(e.target) is not group and not self.shared(e))
                pairs = [(e, self.source_of_fold(item, e)) for e in out]
            for e, source in pairs:
                if source is not None:
                    self.join(f, e, item, source)
            for e in f.edges:
                if e.detached is not None and e.detached[0] in self.within:
                    at = self.plain.get(e.label) if self.draws_plain else None
                    self.detached_link(e, at or item, self.p.of_function.get(e.detached[0]))

    def source(self, e: Edge) -> Item | None:
        if e.target is None:
            return self.plain_input(e) if self.draws_plain or e.source.kind == "failed" else None
        if e.target in self.group_of:
            return self.fold(self.group_of[e.target])
        return self.leaf(e.target) if e.target.kind == "accumulate" else self.function_source(e)

    def function_source(self, e: Edge) -> Item:
        """A function whose result is used many times is drawn again, small, for each further use, as a leaf is."""
        f = e.target
        if f in self.hubs:
            return self.alias(f, f.output(e.nr).name, f"the result of the same {f.name}")
        if len(f.users) >= 2 * HUB_FROM:
            self.hubs.add(f)
        return self.p.of_function[f]

    def shared(self, e: Edge) -> bool:
        """Whether an edge of a box leads to a parameter that is folded into another box of the same module."""
        return e.target.kind == "accumulate" and e.target in self.group_of

    def source_of_fold(self, item: Item, e: Edge) -> Item | None:
        """As ``source``, but all uses of one leaf inside a fold are drawn as one."""
        if e.target.kind != "accumulate" or e.target in self.group_of:
            return self.source(e)
        key = (item, e.target)
        if key not in self.leaf_of_fold:
            self.leaf_of_fold[key] = self.leaf(e.target)
        return self.leaf_of_fold[key]

    def join(self, f: Function, e: Edge, item: Item, source: Item) -> None:
        if f.fn is None and f.kind == "failed":  # it made no tensor, and no gradient will come back from it
            shape = e.target.output(e.nr).shape if e.target is not None else e.value and e.value.shape
            tip = f"{source.name} {shape_text(shape)} went into {f.outputs[0].name}, which failed"
            self.p.link(source, item, "forward", tip, edge=e, label=shape_text(shape))
            return
        if e.target is None:
            tip = f"not computed: {source.name or 'this input'} does not require grad"
            self.p.link(item, source, "not_computed", tip, backwards=True, edge=e)
            return
        known = self.joined.get((item, source))
        if known is not None:
            known.more.append(e)
            tensors = self.tensors[known]
            tensors.add((e.target, e.nr))
            if known.label and len(tensors) > 1:
                self.p.say(known, f"{len(tensors):,} tensors")
            return
        link = self.backward_link(f, e, item, source, spine=self.spine(e))
        if "fold" in (item.kind, source.kind):
            self.joined[item, source] = link
            self.tensors[link] = {(e.target, e.nr)}
        if self.folded and link.kind == "backward":
            between = not self.p.terse and "fold" in (item.kind, source.kind)
            self.p.say(link, shape_text(e.target.output(e.nr).shape) if between else "")

    def fold(self, group: Block) -> Item:
        """The box of a group: a second edge behind it says that there is more inside."""
        if group in self.folds:
            return self.folds[group]
        members = self.members[group]
        leaves = [f for f in members if f.kind == "accumulate"]  # that only these functions use
        several = group.call and not leaves_of(group.functions).keys() <= set(leaves)  # calls that share them
        inner = [f for f in leaves if not group.is_module or not owner(f) or group.path in prefixes(owner(f))]
        title, lines = texts(group, self.start, [] if several else inner)
        written = [*([group.kind or "".join(lines[:1])] if self.p.terse else lines), self.result(members)]
        below = [sub_line(text, size=SMALLEST) for text in written]
        column = Column.of([name_line(title, widest=TITLE), *below], 90, 12, 9)
        about = [*lines, plural(len(members) - len(leaves), "function")]
        about += [plural(len(leaves), "leaf")] * bool(leaves)
        tip = f"{group.path or title}: {', '.join(about)}"
        item = self.p.add("fold", "fold", column, tip, name=title, members=members, block=group)
        self.folds[group] = item
        self.p.of_function.update(dict.fromkeys(members, item))
        return item

    def result(self, members: list[Function]) -> str:
        """The shape of a box's result, unless an arrow shows it."""
        inside = set(members)
        uses = [e for f in members if f.edges for e in f.users if e.source not in inside]
        if self.p.terse > 1 or (not self.p.terse and any(e.source in self.within for e in uses)):
            return ""
        leaving = {(e.target, e.nr) for e in uses} | {at for at in self.roots if at[0] in inside}
        shapes = [shape_text(f.output(nr).shape) for f, nr in leaving]
        return shapes[0] if len(shapes) == 1 else plural(len(shapes), "tensor") if shapes else ""


class _Functions(_Compact):
    def draw(self) -> None:
        super().draw()
        if not self.beside_modules:
            return
        uses: dict[tuple, dict[Item, None]] = {}  # for the caller's data: the items that keep it
        for item, s in ((self.p.of_function[f], s) for f in self.order for s in f._saved or () if s.data):
            if s.label.isidentifier():
                uses.setdefault((s.label, shape_text(s.data)), {})[item] = None
        for (name, shape), users in uses.items():
            column = Column.of([name_line(name), sub_line(shape, size=SMALLEST)], 64, 12, 6)
            tip = f"{name}: {shape} does not require grad, so no gradient goes back to it"
            item = self.p.add("input", "tag", column, tip, name=name) if len(users) <= MOST_USES else None
            for user in users if item is not None else ():
                self.p.link(item, user, "forward", f"{name} goes into {user.name}")

    def leaf_item(self, f: Function) -> Item:
        out = f.outputs[0]
        name = out.name.partition(".")[2] if self.p.terse and out.name.count(".") > 1 else out.name
        lines = [name_line(name), sub_line(shape_text(out.shape), size=SMALLEST)]
        if len(self.graph) <= SMALL:  # if there are more, the legend says it
            lines.append(sub_line("AccumulateGrad", "note", TINY))
        column = Column.of(lines, 64, 12, 6)
        column.width += 12
        self.p.of_function[f] = self.p.add("leaf", "tag", column, leaf_tooltip(f), **self.about(f, out))
        return self.p.of_function[f]

    def function_item(self, f: Function) -> Item:
        out = f.outputs[0]
        named = [o.name for o in f.outputs if o.named and o.name]
        sub = " ".join(
            t for t in (", ".join(named[:3]) + ", …" * (len(named) > 3), shape_text(out.shape)) if t
        )
        inputs = {e for e in f.edges if e.target is not None}
        # beside modules, under the program's name for it
        title = operation(f, inputs, unnamed="") if self.beside_modules else f.name
        column = Column.of([name_line(title, 12.0), sub_line(sub, size=SMALLEST)], 70, 10, 6)
        return self.p.add("function", "card", column, common.function_tooltip(f), **self.about(f, out))


class _Cards(_Compact):
    draws_plain = True

    def leaf_item(self, f: Function) -> Item:
        out = f.outputs[0]
        note = sub_line("AccumulateGrad", "note", TINY)
        lines = [name_line(out.name), sub_line(f"leaf {shape_text(out.shape)}"), note]
        item = self.p.card("leaf", lines, out.shape, ["value", "grad"], leaf_tooltip(f), **self.about(f, out))
        return self.p.of_function.setdefault(f, item)

    def plain_tensor(self, e: Edge) -> Item:
        if e.value is None:
            return super().plain_tensor(e)
        lines, tip = common.plain_words(e)
        return self.p.card("input", lines, e.value.shape, ["value"], tip, name=e.label, value=e.value)

    def function_item(self, f: Function) -> Item:
        names = [o.name or "?" for o in f.outputs]
        title = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        lines = [name_line(title), sub_line(f"{f.name} {shape_text(f.outputs[0].shape)}".strip())]
        operands = operand_names(f)
        for name, rule, e in zip(rules.input_names(f), rules.words_of(f, operands), f.edges, strict=True):
            if rule and e.target is not None and len(lines) < 5:
                text = fit(f"{operands.get(name, name)}: {rule}", 185, TINY, mono=True)
                lines.append(Line("rule", text, TINY, mono=True))
        out = f.outputs[min((e.nr for e in f.users), default=0)]
        if len(names) > 1:
            lines.append(sub_line(f"of {out.name}:", "note", TINY))
        more = self.about(f, out) | {"name": names[0]}
        return self.p.card(
            "function", lines, out.shape, ["value", "grad"], common.function_tooltip(f), **more
        )
