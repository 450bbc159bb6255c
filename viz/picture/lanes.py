"""Two lanes: values above, flowing to the right; below each value its gradient, coming back to the left.

A tensor is a card with its numbers, its gradient a card of the same size in the other lane. An operation is a word on the way
from its inputs to its result, and the backward function a word on the way back. Only the lane of the values is laid
out: the other one is the same lane, shifted (``Picture.below`` and ``mirrors``).
"""

from __future__ import annotations

import re

from ..read import rules
from ..read.derivative import rule_of
from ..read.graph import Edge, Function, Graph
from ..read.names import UNKNOWN, operand_names
from ..read.replay import worked_out
from ..read.text import fit, shape_text, width
from ..read.values import Value, size_of
from .parts import LABEL, SUB, Column, Item, Line, Link, Picture, grid, name_line, sub_line
from .view import View, classes_of, describe, function_tooltip, leaf_tooltip

# how tightly a lane is set, from roomy to tight: how many numbers of an array are written out, the side of a painted cell,
# whether functions have their full names, the width of a name, inches between two items, points around a text
CLOSER = ((12, 14.0, True, 120.0, 0.4, 10), (4, 13.0, False, 110.0, 0.3, 9), (1, 11.0, False, 72.0, 0.2, 6))
CLOSER += ((1, 8.0, False, 62.0, 0.12, 4),)
TITLE = SUB + 1.5  # the size of a name
NUMBER = (38.0, 17.0)  # a cell with a number in it
_NUMBER = re.compile(r"\(?-?[\d.]+(e[-+]?\d+)?j?\)?$").match
_ONE_AXIS = re.compile(r"^[(\[](-?\d+),?[)\]]$")  # sum(1) rather than sum((1,))


class Lanes(View):
    """``close``: which line of CLOSER to use."""

    def __init__(self, graph: Graph, picture: Picture, close: int = 0):
        super().__init__(graph, picture)
        self.written, self.side, self.whole_names, self.widest, picture.gap, self.pad = CLOSER[close]
        if picture.direction != "LR":
            picture.gap = min(0.28, 1.4 * picture.gap)
        self.labelled = False
        self.recomputed = worked_out(graph)
        self.values: dict[tuple[Function, int], Item] = {}
        self.grads: dict[tuple[Function, int], Item] = {}

    def draw(self) -> None:
        for f in self.graph.functions:
            if f.kind != "accumulate":
                self.function(f)

    def function(self, f: Function) -> None:
        p = self.p
        ways = [(e, source) for e in f.edges if (source := self.source(e)) is not None]
        op, back = self.words(f, {e for e, _ in ways})
        forward: dict[Edge, Link] = {}
        for e, source in ways:
            tip = f"{source.name} goes into {op.name}"
            forward[e] = p.link(source, op, "flow", tip, headless=True, spine=self.spine(e))
        for nr in sorted({e.nr for e in f.users} | {r.nr for r in self.graph.roots if r.function is f}):
            value, grad = self.tensor(f, nr)
            tip = f"{value.name} = {rules.expression(f, operand_names(f))}"
            out = p.link(op, value, "flow", tip, spine=True)
            tip = f"{back.name} receives the gradient of {value.name}"
            kind = "not_computed" if f.unreached else "arrives"
            p.mirrors[p.link(grad, back, kind, tip, backwards=True, headless=True)] = out
        for e, source in ways:
            if e.target is not None:
                link = self.backward_link(f, e, back, self.grads[e.target, e.nr])
                p.mirrors[link] = forward[e]
            elif e.detached is not None and (head := self.values.get(e.detached)) is not None:
                self.detached(source, head)

    def source(self, e: Edge) -> Item | None:
        """The card of an input; None for a number, which the operation names, and for an unknown input."""
        if e.target is not None:
            if e.target.kind == "accumulate" and (e.target, e.nr) not in self.values:
                self.leaf(e.target)
            return self.values[e.target, e.nr]
        several = e.value is not None and size_of(e.value.shape) > 1
        if (not e.tensor and not several) or _NUMBER(e.label or ""):
            return None
        name = e.label if e.label and not e.label.startswith(("[", "tensor(")) else "constant"
        if e.label not in self.plain or not e.tensor:
            shape = e.value.shape if e.value is not None else None
            words = [shape_text(shape), "data" if e.tensor else "constant"]
            card, places = self.card(name, shape, words, ["value"])
            tip = f"{name}: {words[0]} does not require grad, so it gets no gradient"
            about = {"name": name, "value": e.value, "boxes": places}
            self.plain[e.label] = self.p.add("input", "card", card, tip, **about)
        return self.plain[e.label]

    def words(self, f: Function, drawn: set[Edge]) -> tuple[Item, Item]:
        """The operation in the forward pass, and its backward function in the backward pass."""
        label = fit(operation(f, drawn), self.widest, SUB, bold=True)
        called = f.name if self.whole_names or f.kind == "custom" else rules.base_name(f.name)
        op = self.word("op", label, rules.expression(f, operand_names(f)), function=f, name=label)
        about = {"function": f, "output": f.outputs[0], "name": f.outputs[0].name, "classes": classes_of(f)}
        back = self.word("function", fit(called, self.widest, LABEL), function_tooltip(f), **about)
        self.p.below[back] = op
        self.p.of_function[f] = back
        return op, back

    def word(self, kind: str, text: str, tip: str, **more) -> Item:
        """A word along an arrow."""
        size, bold = (SUB, True) if kind == "op" else (LABEL, False)
        wide = max(round(width(text, size, bold=bold) + 13), 22)
        column = Column([Line("name", text, size, bold=bold, x=wide / 2, y=13.5)], wide, 19)
        return self.p.add(kind, "pill", column, tip, **more)

    def tensor(self, f: Function, nr: int) -> tuple[Item, Item]:
        """A result and its gradient."""
        out = f.output(nr)
        value = out.value or self.recomputed.get(f)
        kept = f"value {value.short()}" if value else "its value is not kept; viz.record() would keep it"
        kept += ", recomputed" * (value is not out.value)
        parts = sum(e.nr == nr for e in f.users) + ((f, nr) in self.roots)
        about = [f"sum of {parts}"] * (parts > 1) + ["hook"] * bool(out.hooks)
        tip = f"{out.name}: {describe(out)}; {kept}"
        return self.pair(f, nr, "value", tip, [], about, value)

    def leaf_item(self, f: Function) -> Item:
        out = f.outputs[0]
        about = ["adds to it"] * (f.leaf_grad is not None) + [f"sum of {len(f.users)}"] * (len(f.users) > 1)
        about += ["hook"] * bool(out.hooks or f.hooks or f.after_hooks)
        value, grad = self.pair(f, 0, "leaf", leaf_tooltip(f), ["learns"], about, out.value)
        grad.classes += classes_of(f) + ["node-hooked"] * bool(f.after_hooks and not f.hooks)
        self.p.of_function[f] = grad
        return value

    def pair(
        self,
        f: Function,
        nr: int,
        kind: str,
        tip: str,
        about: list[str],
        back: list[str],
        value: Value | None,
    ) -> tuple[Item, Item]:
        """The card of a tensor in one lane and that of its gradient in the other, of the same size."""
        out, name = f.output(nr), f.output(nr).name or "?"
        label = _short(name, self.widest) if kind == "leaf" else fit(name, self.widest, TITLE, bold=True)
        title = f"{_short(name, self.widest - 6)}.grad" if kind == "leaf" else f"grad of {label}"
        room = max(64.0 + 2 * self.pad, width(label, TITLE, bold=True))
        if kind != "leaf" and width(title, TITLE, bold=True) > room:
            title = "its gradient"
        above = self.card(label, out.shape, [shape_text(out.shape), *about], ["value"])
        below = self.card(title, out.shape, [shape_text(out.shape), *back], ["grad"])
        wide = max(above[0].width, below[0].width)
        common = {"function": f, "nr": nr, "name": out.name, "output": out}
        made = []
        other = "leaf" if kind == "leaf" else "gradient", f"the gradient of {out.name}", None
        for (column, places), own, words, held in ((above, kind, tip, value), (below, *other)):
            by = (wide - column.width) / 2
            for line in column.lines:
                line.x += by
            column.width = wide
            moved = {key: (x + by, *rest) for key, (x, *rest) in places.items()}
            more = common | {"boxes": moved, "value": held, "classes": self.root_mark(f, nr)}
            made.append(self.p.add(own, "card", column, words, **more))
        self.p.below[made[1]] = made[0]
        self.values[f, nr], self.grads[f, nr] = made
        return made[0], made[1]

    def card(
        self, name: str, shape: tuple[int, ...] | None, words: list[str], boxes: list[str]
    ) -> tuple[Column, dict[str, tuple[float, float, float, float]]]:
        """Name, cells, and below them the shape and what the tensor is: the lines, their size, and where the cells are."""
        rows, columns = grid(shape)
        count = size_of(shape) if shape is not None else 0
        if count == 1:
            w, h = 58.0, 20.0
        elif rows * columns == count <= self.written and columns <= 4:
            w, h = columns * NUMBER[0], rows * NUMBER[1]
        else:
            w, h = max(columns * self.side, 36.0), max(rows * self.side, 16.0)
        title = name_line(fit(name, self.widest + 40, TITLE, bold=True), TITLE)
        column = Column.of([title], w + 2 * self.pad, self.pad, 6)
        tops = [column.height + k * (h + 4) for k in range(len(boxes))]
        below = sub_line(" · ".join(filter(None, words)) or "shape not known")
        below.y = column.height + len(boxes) * (h + 4) + below.size - (0 if boxes else 4)
        column.width = max(column.width, width(below.text, below.size) + 2 * self.pad)
        column.height = below.y + 8
        column.lines.append(below)
        for line in column.lines:
            line.x = column.width / 2
        left = (column.width - w) / 2
        return column, {key: (left, top, w, h) for key, top in zip(boxes, tops, strict=True)}

    def detached(self, card: Item, head: Item) -> None:
        """Where ``detach()`` cut the graph: the value goes on, and nothing comes back."""
        if (card, head) in self.cuts:
            return
        self.cuts.add((card, head))
        tip = f"{card.name} is {head.name} cut off by detach(): no gradient goes back from it"
        op = self.word("op", "detach", tip, name="detach")
        self.p.below[self.word("cut", "nothing comes back", tip, name="nothing comes back")] = op
        self.p.link(head, op, "flow", f"{head.name} is detached", headless=True)
        self.p.link(op, card, "flow", f"{card.name} shares the numbers of {head.name}")


def _short(name: str, limit: float) -> str:
    """A name in bold, or its end if there is no room for all of it: ``0.weight`` for ``net.0.weight``."""
    if width(name, TITLE, bold=True) > limit and (key := re.fullmatch(r".*\[['\"](.+)['\"]\]", name)):
        name = key[1]
    while width(name, TITLE, bold=True) > limit and "." in name:
        name = name.partition(".")[2]
    return fit(name, limit, TITLE, bold=True)


def operation(f: Function, drawn: set[Edge], unnamed: str = UNKNOWN) -> str:
    """An operation without the inputs that have cards: ``@``, ``+ 1``, ``sum(1)``; ``unnamed``: a constant without a name."""
    operands = operand_names(f)
    form = rules.form_of(f, operands)
    called = rules.forward_name(f.name)
    if rule := rule_of(f.name):  # the rule of an operation, as one more operation
        return f"∂ {rules.forward_name(rule + 'Backward0')}"
    if form is None:
        return called
    names = rules.input_names(f)
    own = {name for name, e in zip(names, f.edges, strict=True) if e in drawn}
    known = {name: _ONE_AXIS.sub(r"\1", text) for name, text in operands.items()}
    words = {name: unnamed if text == UNKNOWN else rules.operand(text) for name, text in known.items()}
    symbol = rules.symbol(f.name, form).removesuffix("()")
    parts = re.split(r"\{(\w+)\}", form)  # words in braces at the odd places
    unknown = any(name not in own and name not in words for name in parts[1::2])
    if unknown or form.count("{") > 2 + ("alpha" in form):
        return symbol if not symbol.startswith(("·", "{")) else called
    kept = ("" if part in own else words.get(part, part) if k % 2 else part for k, part in enumerate(parts))
    text = re.sub(r"\((, )+", "(", re.sub(r"(, )+\)", ")", "".join(kept).strip()))
    text = text.removeprefix(".").removesuffix("()").strip()
    return "neg" if text == "-" and len(f.edges) == 1 else text or symbol
