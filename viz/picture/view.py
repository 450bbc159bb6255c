"""What every view of a graph shares: its inputs, once each or once for each use, its arrows, and the words on them."""

from __future__ import annotations

from ..read import rules
from ..read.graph import Edge, Function, Graph, Output
from ..read.names import UNKNOWN, operand_names
from ..read.text import fit, plural, shape_text
from .parts import SUB, TINY, Column, Item, Line, Link, Picture, name_line, sub_line

ALIAS_FROM = 40  # in a graph with more nodes, each later use of a leaf is a separate small node
HUB_FROM = 5  # the same in any graph for a leaf with this many uses; in compact views, for a function with twice as many
FRAMES_UP_TO = 250  # nodes; the modules of larger graphs have no frames
LABELS_UP_TO = 60  # nodes; the arrows of larger graphs have no labels
SMALLEST = 11.0  # points: the smallest text in the compact views of larger graphs, which are scaled down
SHORT = 24  # characters; a value that is longer is not written into a tensor of the graph view


def classes_of(f: Function) -> list[str]:
    names = ("failed", "custom", "copyslices", "second", "freed", "hooked", "node-hooked", "unreached")
    kinds, hooked = (f.kind == name for name in names[:3]), any(o.hooks for o in f.outputs)
    so = (*kinds, f.second, f.freed, hooked, f.hooks, f.unreached)
    return [name for name, yes in zip(names, so, strict=True) if yes]


def grad_label(out: Output) -> str:
    return f"grad_{out.name}" if out.name and out.named and len(out.name) <= 14 else "grad"


def describe(out: Output) -> str:
    return ", ".join(t for t in (shape_text(out.shape), out.dtype) if t)


def leaf_tooltip(f: Function, now: bool = True) -> str:
    """The tooltip of a leaf, with its current ``.grad`` if ``now``."""
    out = f.outputs[0]
    grad = f", .grad is {'None' if f.leaf_grad is None else f.leaf_grad.short()}" if now else ""
    return f"{out.name}: leaf, {describe(out)}, requires_grad=True{grad}{hooks_in_words(f)}"


def function_tooltip(f: Function) -> str:
    parts = [f"{f.name} is the backward function of {', '.join(o.name or '?' for o in f.outputs[:4])}"]
    for name, rule in zip(rules.input_names(f), rules.words_of(f, operand_names(f)), strict=True):
        parts.append(f"{name}: {rule}" if rule else name)
    kept = [f"{s.name} {'(' + s.state + ')' if s.state != 'kept' else ''}".strip() for s in f._saved or ()]
    if kept:
        parts.append("keeps " + ", ".join(kept))
    if f.module:
        parts.append(f"made by the backward pass through {f.module}" if f.second else f"in {f.module}")
    return "; ".join(parts) + hooks_in_words(f)


def hooks_in_words(f: Function) -> str:
    """The hooks, for a tooltip."""
    places = ("on the gradient", "on the node", "after .grad is added to")
    counts = zip(places, (sum(o.hooks for o in f.outputs), f.hooks, f.after_hooks), strict=True)
    counted = [f"{plural(n, 'hook')} {where}" for where, n in counts if n]
    return "; ".join(["", *counted])


def plain_words(e: Edge) -> tuple[list[Line], str]:
    """Lines and tooltip of an input that does not require grad."""
    shape = shape_text(e.value.shape) if e.value else ""
    lines = [name_line(e.label), sub_line(shape), sub_line("requires_grad=False", "note", TINY)]
    return lines, f"{e.label}: {shape}, requires_grad=False, so no gradient is computed for it"


class View:
    """What every view does: leaves and other inputs, once each or once for each use; subclasses define ``leaf_item``."""

    def __init__(self, graph: Graph, picture: Picture):
        self.graph, self.p = graph, picture
        self.roots = {(r.function, r.nr) for r in graph.roots}
        self.labelled, self.many = len(graph) <= LABELS_UP_TO, len(graph) > ALIAS_FROM
        self.first_use: dict[Function, Item] = {}
        self.plain: dict[str, Item] = {}
        self.cuts: set[tuple[Item, Item]] = set()
        # functions on the longest path from there to a leaf
        self.depth: dict[Function | None, int] = {None: 0}
        for f in graph.functions:
            self.depth[f] = max((self.depth[e.target] + 1 for e in f.edges), default=0)

    def spine(self, e: Edge) -> bool:
        """Whether an edge is drawn straight: on the longest path or, in smaller graphs, if it does not end near a leaf."""
        far = self.depth[e.target]
        return 0 < far == self.depth[e.source] - 1 or (far > 1 and len(self.graph) <= FRAMES_UP_TO)

    def leaf(self, f: Function) -> Item:
        """The item for one use of a leaf: in a large graph, or for a hub, every use after the first is an alias."""
        if f not in self.first_use:
            self.first_use[f] = self.leaf_item(f)
        elif self.many or len(f.users) >= HUB_FROM:
            return self.alias(f, f.outputs[0].name, "the same leaf")
        return self.first_use[f]

    def alias(self, f: Function, name: str | None, what: str) -> Item:
        """Another use of something that is drawn elsewhere."""
        column = Column.of([name_line(name, SMALLEST, 120)], 30, 9, 4)
        tip = f"{name} again: {what}, drawn once for each use"
        return self.p.add("alias", "tag", column, tip, function=f, name=name)

    def plain_input(self, e: Edge) -> Item:
        """An input that does not require grad: a named tensor, or a constant, possibly unknown."""
        if e.tensor:
            if e.label not in self.plain:
                self.plain[e.label] = self.plain_tensor(e)
            return self.plain[e.label]
        name, shape = e.label or UNKNOWN, shape_text(e.value.shape) if e.value and e.value.shape else ""
        column = Column.of([sub_line(fit(name, 90, SUB)), sub_line(shape, "note", TINY)], 30, 8, 5)
        tip = f"{e.label or shape}: a constant, no gradient is computed for it"
        if not e.label and e.value is None:
            tip = "an input that does not require grad; the graph saves nothing from it"
        return self.p.add("none", "stub", column, tip, name=name, value=e.value)

    def plain_tensor(self, e: Edge) -> Item:
        lines, tip = plain_words(e)
        return self.p.add("input", "cylinder", Column.of(lines, 84, 12, 12), tip, name=e.label, value=e.value)

    def root_mark(self, f: Function, *nrs: int) -> list[str]:
        return ["root"] if any((f, nr) in self.roots for nr in nrs or range(len(f.outputs))) else []

    def detached_link(self, e: Edge, tail: Item, head: Item | None) -> None:
        """Where ``detach()`` cut the graph: from its result to the tensor that it was called on; nothing flows along it."""
        if head is None or head is tail or (tail, head) in self.cuts:
            return
        self.cuts.add((tail, head))
        name = e.detached[0].output(e.detached[1]).name
        tip = f"cut by detach(): no gradient goes from {e.source.name} back to {name}"
        self.p.link(tail, head, "cut", tip, backwards=True, label="detach()" if self.labelled else "")

    def backward_link(self, f: Function, e: Edge, tail: Item, head: Item, **more) -> Link:
        out = e.target.output(e.nr)
        label = grad_label(out) if self.labelled else ""
        several = sum(x.nr == e.nr for x in e.target.users) + ((e.target, e.nr) in self.roots) > 1
        classes = ["hooked"] if out.hooks and not several else []
        marks = self.p.of_function[e.target].classes
        # the hook runs once, after the sum, so its only mark is there
        if out.hooks and several and "node-hooked" not in marks:
            marks.append("node-hooked")
        tip = f"the gradient of {out.name}, from {f.name}"
        if e.cut or f.unreached:
            kind = "cut" if e.cut else "not_computed"
            tip = f"not computed: no gradient reaches {f.outputs[0].name}"
            if e.cut:
                tip = f"cut: {f.name} sends nothing to {out.name}, as if {out.name} were detached here"
            label = ("cut" if e.cut else "not computed") if self.labelled else ""
            return self.p.link(tail, head, kind, tip, backwards=True, edge=e, label=label, **more)
        more |= {"label": label, "classes": classes}
        return self.p.link(tail, head, "backward", tip, backwards=True, edge=e, **more)
