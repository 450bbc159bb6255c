"""``viz.costs``: what each node and each module keeps for the backward pass, and the time it took, if known.

Memory is counted once: two nodes that save one tensor, or views of one, share it. The leaves' own memory, the
parameters, is there with or without a graph and is counted separately. Plain data, which prints as a table.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ..picture.blocks import leaves_of, tree
from ..picture.choose import DETAIL, check_options, fitting, pictures_of
from ..picture.draw import Drawing
from ..picture.layout import SECONDS
from ..picture.parts import Picture
from ..read.arguments import Fold, Names, Tensors, named, public
from ..read.graph import Function, Graph
from ..read.modules import prefixes
from ..read.recall import prepare
from ..read.text import bytes_text, html_table, plural, table
from ..read.values import item_size, size_of
from ..run.steps import Trace
from ..run.trace import first_freed, remembered

DEPTH = 3  # levels of nested modules in the table
LARGEST = 12  # without modules, at most this many nodes are listed


@dataclass(slots=True)
class Cost:
    """What a node, a module or a whole graph costs.

    ``kept``: bytes that it keeps alive until its backward pass, not counting leaves. ``parameters``: bytes of the
    leaves that it uses. ``forward``, ``backward``: seconds, None where they were not recorded.
    """

    name: str
    kind: str = ""  # the class of a module or the name of a node
    depth: int = 0
    functions: int = 1
    kept: int = 0
    parameters: int = 0
    forward: float | None = None
    backward: float | None = None


@dataclass(eq=False)
class Costs:
    """What :func:`viz.costs` found: ``total``, ``modules`` (outer before inner) and ``nodes`` (by position in the graph), each
    a Cost. Print it for a table; ``draw()`` writes the costs on the picture."""

    title: str
    total: Cost
    graph: Graph
    modules: list[Cost] = field(default_factory=list)
    nodes: dict[int, Cost] = field(default_factory=dict)
    _memory: Any = None
    _seconds: dict[Function, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Costs({self.title}: {plural(self.total.functions, 'function')}, {bytes_text(self.total.kept)} kept)"

    def draw(self, by: str = "kept", *, direction: str | None = None, fold: Fold = None) -> Drawing:
        """The graph with its costs, darker where they are higher: ``by`` is "kept" (bytes), "forward" or "backward"
        (seconds). ``direction`` and ``fold`` as in ``viz.draw``. Raises ValueError for another ``by``, and for times that were
        not measured."""
        if by not in ("kept", "forward", "backward"):
            raise ValueError(f"by must be 'kept', 'forward' or 'backward', not {by!r}.")
        check_options(None, direction, fold)
        if getattr(self.total, by) is None:
            forward = "run the forward pass inside viz.record()"
            how = forward if by == "forward" else "call viz.costs(viz.trace(loss))"
            raise ValueError(f"No {by} times are known: {how}.")
        small = fold is None and len(self.graph) <= DETAIL
        pictures = pictures_of(self.graph, "functions" if small else None, direction, fold, page=True)
        for picture in pictures:
            self._paint(picture, by)
        picture, places = fitting(self.graph, pictures, SECONDS, limited=fold is None and direction is None)
        self._paint(picture, by)  # a picture with fewer boxes, made as a last resort
        return Drawing(picture, self.graph, places)

    def _paint(self, picture: Picture, by: str) -> None:
        """Write its cost on each box of a picture that is not laid out yet."""
        boxes = [item for item in picture.items if item.kind in ("function", "fold")]
        if any(line.css == "cost" for item in boxes for line in item.lines):
            return
        found: dict[str, float] = {}
        for item in boxes:
            functions: list[Any] = [f for f in item.members if f.kind != "accumulate"] or [item.function]
            cost = _cost(item.name or "", functions, self._memory, self._seconds)
            path = functions[0].module if item.block is None else item.block.path
            cost.forward = _forward(functions, path)
            found[item.id] = getattr(cost, by) or 0
        most = max(found.values(), default=0)
        for item in boxes:
            value = found[item.id]
            if value:
                item.classes.append(f"heat{max(1, math.ceil(5 * value / most))}")
                item.write(f"keeps {bytes_text(int(value))}" if by == "kept" else seconds_text(value))

    def rows(self) -> list[Cost]:
        """The rows before the total: modules, or if there are none, the nodes that keep the most."""
        if self.modules:
            return [cost for cost in self.modules if cost.depth < DEPTH]
        largest = sorted(self.nodes.values(), key=lambda cost: -cost.kept)[:LARGEST]
        return [cost for cost in largest if cost.kept]

    def _columns(self) -> tuple[list[tuple[str, ...]], list[str]]:
        rows = [*self.rows(), self.total]
        head = ["module" if self.modules else "node", "functions", "parameters", "kept for backward"]
        timed = [name for name in ("forward", "backward") if any(getattr(c, name) is not None for c in rows)]
        body = []
        for cost in rows:
            title = f"{'  ' * cost.depth}{cost.name}{f' ({cost.kind})' if cost.kind else ''}"
            numbers = [f"{cost.functions:,}", bytes_text(cost.parameters), bytes_text(cost.kept)]
            body.append((title, *numbers, *(seconds_text(getattr(cost, name)) for name in timed)))
        return body, head + timed

    def __str__(self) -> str:
        body, head = self._columns()
        first, *lines = table([tuple(head), *body], most=60, numbers=True)
        return "\n".join([first, "─" * max(map(len, [first, *lines])), *lines, *self.notes()])

    def notes(self) -> list[str]:
        """Notes on the numbers in the table."""
        outer = sum(cost.kept for cost in self.modules if cost.depth == 0)
        shared = ["Memory that modules share is counted in each of their rows, and once in the total."]
        return shared if self.modules and outer > self.total.kept else []

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        body, head = self._columns()
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes())
        return {"text/plain": repr(self), "text/html": html_table(head, body, numbers=True) + notes}


@public
def costs(*tensors: Tensors | Trace, names: Names = None, _frame: FrameType | None = None) -> Costs:
    """What the graph behind ``tensors`` keeps for its backward pass, node by node and module by module.

    tensors: one or several that have a graph, a list of them, or a trace: ``viz.costs(viz.trace(loss))`` has backward
    times as well. Forward times are known after ``viz.record()``, which slows small operations down. Nothing is run and
    nothing changed. Costs are still known after a pass run by ``viz.step``; ValueError if any other pass freed the graph.
    """
    if len(tensors) == 1 and isinstance(tensors[0], Trace):
        return costs_of(tensors[0].graph, tensors[0])
    graph, _ = prepare(tensors, "costs", named(names), _frame)
    freed, known = first_freed(graph), remembered(graph)
    if freed is not None and known is None:
        raise ValueError(
            f"The backward pass has freed what {freed.name} kept, so the cost of this graph is no longer known. "
            "Call viz.costs before the pass, or pass it a trace: viz.costs(viz.trace(loss))."
        )
    found = costs_of(known[0].graph, known[0]) if known is not None else costs_of(graph)
    graph.release()
    return found


def costs_of(graph: Graph, trace: Trace | None = None) -> Costs:
    """The costs of a graph that was read and named; with ``trace``, the time its rules took as well."""
    seconds: dict[Function, float] = {}
    for step in trace or ():
        seconds[step.function] = seconds.get(step.function, 0.0) + step.seconds
    functions = [f for f in graph.functions if f.kind != "accumulate"]
    memory = _Memory(graph)
    total = _cost("total", functions, memory, seconds)
    found = Costs(graph.title, total, graph, _memory=memory, _seconds=seconds)
    found.total.forward = _forward(functions)
    for f in functions:
        found.nodes[f.index] = _cost(f.outputs[0].name or "?", [f], memory, seconds)
        found.nodes[f.index].kind = f.name
    for path, depth, own in _modules(graph):
        cost = _cost(path, own, memory, seconds)
        cost.kind, cost.depth, cost.forward = graph.classes.get(path, ""), depth, _forward(own, path)
        found.modules.append(cost)
    return found


class _Memory:
    """The memory that each function keeps, by address."""

    def __init__(self, graph: Graph):
        held = {f.memory[0] for f in graph.leaves if f.memory is not None}
        self.of: dict[Function, dict[Any, int]] = {}
        for f in graph.functions:
            kept = dict(s.memory or ((f, s.name), s.bytes) for s in f.saved)
            self.of[f] = {at: size for at, size in kept.items() if at not in held}


def kept_once(graph: Graph) -> dict[Function, int]:
    """The bytes that each function keeps; shared memory is counted for the first that keeps it, so the sum is the total."""
    memory, seen, kept = _Memory(graph), set[Any](), {}
    for f in graph.functions:
        own = {at: size for at, size in memory.of[f].items() if at not in seen}
        seen |= own.keys()
        kept[f] = sum(own.values())
    return kept


def _cost(name: str, functions: list[Function], memory: _Memory, seconds: dict[Function, float]) -> Cost:
    kept: dict[Any, int] = {}
    for f in functions:
        kept |= memory.of[f]
    leaves = leaves_of(functions)
    cost = Cost(name, functions=len(functions), kept=sum(kept.values()))
    of_leaves = (f.outputs[0] for f in leaves)
    cost.parameters = sum(size_of(out.shape) * item_size(out.dtype or "") for out in of_leaves)
    if any(f in seconds for f in functions):
        cost.backward = sum(seconds.get(f, 0.0) for f in functions)
    return cost


def _forward(functions: list[Function], path: str | None = None) -> float | None:
    """The time of a module's recorded calls with functions in the graph; without a path, of all outermost calls."""
    calls = {call for f in functions for call in f.calls if call[0] == path}
    if path is None:
        calls = {f.calls[-1] for f in functions if f.calls}
    return sum(seconds for _, _, seconds in calls) if calls else None


def _modules(graph: Graph) -> Iterator[tuple[str, int, list[Function]]]:
    """Path, depth and functions of every module, outer ones before inner: the functions that it is known to have made,
    even if there is only one, and those in between."""
    found: dict[str, set[Function]] = {}
    for f in graph.functions:
        for path in prefixes(f.module or "") if f.kind != "accumulate" and not f.second else ():
            if path in graph.classes or path == f.module:
                found.setdefault(path, set()).add(f)
    blocks = [tree(graph)]
    for block in blocks:
        blocks += block.inside
        if block.is_module and not block.backward:
            found.setdefault(block.path, set()).update(block.functions)
    around = {path: [p for p in prefixes(path) if p in found] for path in found}
    first = {path: min(f.index for f in functions) for path, functions in found.items()}
    for path in sorted(found, key=lambda path: [(first[p], p) for p in around[path]]):
        yield path, len(around[path]) - 1, sorted(found[path], key=lambda f: f.index)


def seconds_text(seconds: float | None) -> str:
    """``1.20 ms``, ``35 µs``, ``2.10 s``; a dash if the time is not known."""
    if seconds is None:
        return "–"
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"
