"""Two backward passes side by side: a learner's engine and the reference, two branches, minigrad and PyTorch.

Works on traces (plain data) alone. Nodes are matched by their positions in the two graphs, whatever their tensors are
called; steps by their nodes; numbers are compared as numbers.
"""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from types import FrameType
from typing import Any

import numpy as np

from ..read.arguments import Names, Tensors, check_labels, named, public
from ..read.graph import Function, Graph
from ..read.names import target_name
from ..read.rules import base_name
from ..read.text import html_table, table
from ..read.values import Value, short
from .steps import Step, Trace
from .trace import recorded

Matches = dict[Function, Function]


@dataclass(slots=True, eq=False)
class Pair:
    """A step on the left and the matching one on the right; None on the side that has no such step here."""

    left: Step | None
    right: Step | None
    difference: str | None  # None if they are the same
    moved: bool = False  # the other side has this step, too, at another time


@dataclass(eq=False, repr=False)
class Comparison:
    """Matched steps. ``first`` is the first pair that differs (None if none does); print it for a table.

    If all numbers are the same and only the order of the steps differs, ``first`` is the first step that is in another place.
    """

    left: Trace
    right: Trace
    pairs: list[Pair]
    labels: tuple[str, str]
    # the first two nodes whose results are known and differ: the forward passes differ
    forward: tuple[Function, Function] | None = None

    @cached_property
    def first(self) -> Pair | None:
        different = [p for p in self.pairs if p.difference]
        return next((p for p in different if not p.moved), different[0] if different else None)

    def __repr__(self) -> str:
        n = sum(p.difference is not None for p in self.pairs)
        sentence = "no difference" if not n else f"{n} of {len(self.pairs)} steps differ"
        return f"Comparison({self.labels[0]} and {self.labels[1]}: {sentence})"[:109]

    @property
    def sentence(self) -> str:
        """The first difference in words."""
        if self.first is None:
            return f"Both passes are the same: {len(self.pairs)} steps, every gradient equal."
        step: Any = self.first.left or self.first.right
        side = f"step {step.number} ({step.name} of {step.tensor})"
        if self.first.moved:
            return f"Every number is the same, but the order is not: at {side}, {self.first.difference}."
        sentence = f"The first difference is at {side}: {self.first.difference}."
        if self.forward is None:
            return sentence
        x, y = (f.outputs[0] for f in self.forward)
        name = x.name if x.name == y.name else f"{x.name} ({y.name} on the other side)"
        return f"{sentence} The forward passes already differ: {name} is {short(x.value, 30)} and {short(y.value, 30)}."

    def _rows(self, same: str) -> list[tuple[str, ...]]:
        marks = (("≠" if p.difference else same, p) for p in self.pairs)
        return [(mark, _cell(p.left), _cell(p.right), p.difference or "") for mark, p in marks]

    def __str__(self) -> str:
        return "\n".join([*table([("", *self.labels, ""), *self._rows("")], most=80), self.sentence])

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        first = self.pairs.index(self.first) if self.first is not None else -1
        shown = html_table(("", *self.labels, "difference"), self._rows("="), marked=first)
        return {"text/plain": repr(self), "text/html": f"{shown}<p>{html.escape(self.sentence)}</p>"}


@public
def compare(
    *passes: Tensors | Trace | Sequence[Tensors | Trace],
    names: Names = None,
    labels: Sequence[str] = ("left", "right"),
    tolerance: float = 1e-5,
    _frame: FrameType | None = None,
) -> Comparison:
    """Compare two backward passes: traces, or tensors (then their backward pass runs, as in ``viz.trace``).

    * names: names for the tensors of both, as in ``viz.draw``.
    * labels: what to call the two passes.
    * tolerance: how far apart two numbers may be, relative to the right one; near 0, a hundredth of it, absolute.

    The two may come from different frameworks.
    """
    left, right = two(passes, "compare")
    first, second = check_labels(labels, 2, "compare")
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not tolerance >= 0:
        raise ValueError(f"tolerance must be a number of at least 0, not {tolerance!r}.")
    called = named(names)
    a, b = (recorded(given, "compare", called, _frame) for given in (left, right))
    same = _match(a.graph, b.graph)
    pairs = _in_order(a, b, same, (first, second), tolerance)
    both = same | {p.left.function: p.right.function for p in pairs if p.left and p.right}
    results = ((f, both[f]) for f in a.graph.functions if f in both)
    known = ((f, g) for f, g in results if f.outputs[0].value and g.outputs[0].value)
    others = ((f, g) for f, g in known if _values(f.outputs[0].value, g.outputs[0].value, "is", tolerance))
    return Comparison(a, b, pairs, (first, second), next(others, None))


def two(passes: Sequence[Any], verb: str) -> tuple[Any, Any]:
    """Two passes, given separately or as a list; ValueError for any other number."""
    found = list(passes[0]) if len(passes) == 1 and isinstance(passes[0], list | tuple) else list(passes)
    if len(found) != 2:
        raise ValueError(f"viz.{verb} needs two passes, but got {len(found)}: viz.{verb}(a, b).")
    return found[0], found[1]


def _match(a: Graph, b: Graph) -> Matches:
    """Match the nodes of ``a`` and ``b``. Works from the roots down along equal operations, then from matched nodes up
    again; names count only if both sides know them."""
    known = [{o.name for f in g.functions for o in f.outputs if o.named} for g in (a, b)]
    same: Matches = {}
    taken: set[Function] = set()

    def fits(f: Function, g: Function) -> bool:
        x, y = f.outputs[0], g.outputs[0]
        if base_name(f.name) != base_name(g.name) or f in same or g in taken:
            return False
        return not (x.named and y.named) or x.name == y.name or not (x.name in known[1] or y.name in known[0])

    def down(start: list[tuple[Function, Function]]) -> None:
        todo = deque(start)
        while todo:
            f, g = todo.popleft()
            if fits(f, g):
                same[f] = g
                taken.add(g)
                todo.extend(_inputs(f, g, fits))

    down([(r.function, q.function) for r, q in zip(a.roots, b.roots, strict=False)])
    named = {g.outputs[0].name: g for g in b.functions if g.outputs[0].named}
    down([(f, named[f.outputs[0].name]) for f in a.functions if f.outputs[0].name in named])
    rest = [[f for f in g.leaves if f not in same and f not in taken] for g in (a, b)]
    down([(f, g) for f, g in zip(*rest, strict=False) if f.outputs[0].shape == g.outputs[0].shape])
    for f in a.functions:  # inputs come first: a match goes on to its users
        inputs = [e.target for e in f.edges if e.target is not None]
        if f in same or not inputs or any(x not in same for x in inputs):
            continue
        users = [e.source for e in same[inputs[0]].users]
        down([(f, g) for g in users if [e.target for e in g.edges if e.target] == [same[x] for x in inputs]])
    return same


def _inputs(f: Function, g: Function, fits: Callable[..., bool]) -> list[tuple[Function, Function]]:
    """The inputs of two nodes, slot by slot; swapped if only that fits (``a + b`` and ``b + a``)."""
    pairs = [(e.target, d.target) for e, d in zip(f.edges, g.edges, strict=False) if e.target and d.target]
    if len(pairs) == 2 and not all(fits(*p) for p in pairs):
        crossed = [(pairs[0][0], pairs[1][1]), (pairs[1][0], pairs[0][1])]
        if all(fits(*p) for p in crossed):
            return crossed
    return pairs


def _in_order(a: Trace, b: Trace, same: Matches, labels: tuple[str, str], tolerance: float) -> list[Pair]:
    """The steps of both passes in one list; a matched step that is elsewhere on the other side is listed twice."""
    firings: dict[Function, list[Step]] = {}
    for s in b:
        firings.setdefault(s.function, []).append(s)
    partner: dict[Step, Step] = {}
    for s in a:
        match = same.get(s.function)
        if match is not None and (waiting := firings.get(match)):
            partner[s] = waiting.pop(0)
    back = {y: x for x, y in partner.items()}
    matched = [s for s in a if s in partner]
    numbers = [partner[s].number for s in matched]
    alike = SequenceMatcher(None, numbers, sorted(numbers), autojunk=False).get_matching_blocks()
    kept = {s for at, _, n in alike for s in matched[at : at + n]}  # those in the same order
    pairs: list[Pair] = []
    left, right = list(a.steps), list(b.steps)
    while left or right:
        # first steps of one side only, then different operations in one place, then steps of both sides
        if left and right and left[0] not in partner and right[0] not in back:
            x, y = left.pop(0), right.pop(0)
            pairs.append(Pair(x, y, f"is {x.name} here and {y.name} there"))
        elif left and left[0] not in kept:
            pairs.append(_alone(left.pop(0), partner, labels, 0, tolerance))
        elif right and back.get(right[0]) not in kept:
            pairs.append(_alone(right.pop(0), back, labels, 1, tolerance))
        else:
            x, y = left.pop(0), right.pop(0)
            pairs.append(Pair(x, y, _differs(x, y, tolerance)))
    return pairs


def _alone(s: Step, partner: dict[Step, Step], labels: tuple[str, str], side: int, tolerance: float) -> Pair:
    """A step that has no partner at this place: none at all, or one at another time."""
    other, reason, moved = partner.get(s), f"only “{labels[side]}” has this step", False
    if other is not None:
        x, y = (s, other) if side == 0 else (other, s)
        number = _differs(x, y, tolerance)
        moved = number is None and x.name == y.name
        reason = f"{labels[1 - side]} fires it at step {other.number}" + (f" and {number}" if number else "")
    return Pair(s, None, reason, moved) if side == 0 else Pair(None, s, reason, moved)


def _cell(s: Step | None) -> str:
    return "" if s is None else f"{s.name} of {s.tensor}: {short(s.total, 30)}"


def _differs(x: Step, y: Step, tolerance: float) -> str | None:
    """The difference between two matched steps, or None."""
    both = [(a, b, "receives") for a, b in zip(x.totals, y.totals, strict=False)]
    for s, t in zip(x.sent, y.sent, strict=False):
        both.append((s.value, t.value, f"sends to {target_name(s.edge if s.edge.target else t.edge)}"))
    for left, right, what in both:
        if difference := _values(left, right, what, tolerance):
            return difference
    if len(x.sent) != len(y.sent):
        return f"sends {len(x.sent)} gradients and {len(y.sent)}"
    if x.accumulate and y.accumulate:
        a, b = x.accumulate, y.accumulate  # if .grad differed before, compare what was added
        known = a.before is not None and b.before is not None
        before = not known or _values(a.before, b.before, "had", tolerance) is not None
        if before and a.before is not b.before:
            return _values(a.contribution, b.contribution, "adds to .grad", tolerance)
        return _values(a.after, b.after, "leaves in .grad", tolerance)
    return None


def _values(a: Value | None, b: Value | None, what: str, tolerance: float) -> str | None:
    if a is None or b is None:
        x, y = ("nothing" if v is None else v.short(30) for v in (a, b))
        return None if a is b else f"{what} {x} and {y}"
    if a.shape != b.shape:
        return f"{what} shape {a.shape} and {b.shape}"
    if np.allclose(a.array, b.array, rtol=tolerance, atol=tolerance * 1e-2, equal_nan=True):
        return None
    return f"{what} {a.short(30)} and {b.short(30)}"
