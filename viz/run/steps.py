"""The parts of a recorded backward pass: plain data, no tensors, no widget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, overload

from ..read.graph import Edge, Function, Graph, Saved
from ..read.names import target_name
from ..read.text import plural, table
from ..read.values import Value, short


@dataclass(slots=True, eq=False)
class Part:
    """One contribution to the gradient that a node receives: along ``edge``, or the seed (None)."""

    edge: Edge | None
    nr: int
    value: Value | None


@dataclass(slots=True, eq=False)
class Sent:
    """What a step sends along one of its edges; ``reason`` says why nothing is sent, ``reduced`` how its shape was reduced."""

    edge: Edge
    input: str
    code: str | None
    math: str | None
    value: Value | None
    reason: str | None = None
    reduced: str | None = None
    lost: bool = False  # its target has already fired for the last time: only a faulty engine sends this late


@dataclass(slots=True, eq=False)
class Accumulated:
    """``before + contribution = after`` in ``.grad`` of a leaf; ``wrong`` says what happened if this does not hold."""

    leaf: str
    before: Value | None
    contribution: Value | None
    after: Value | None
    wrong: str | None = None


@dataclass(slots=True, eq=False)
class Waiting:
    """A node that has ``got`` of the ``needs`` contributions it waits for; ``missing`` are the first that will send more."""

    function: Function
    got: int
    needs: int
    missing: list[Function]


@dataclass(slots=True, eq=False)
class Step:
    """The firing of one node."""

    number: int
    function: Function
    tensor: str  # the name of what the node made in the forward pass, or of the leaf
    totals: list[Value | None]  # the gradient of each output of the node: what its rule receives
    parts: list[Part] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    saved: list[Saved] = field(default_factory=list)
    accumulate: Accumulated | None = None
    # why the parts that were sent do not add up to what the rule received: a hook, or the engine
    wrong: str | None = None
    # two mistakes of an engine: which nodes had not sent their part yet, and how many times the node had already fired
    early: list[Function] = field(default_factory=list)
    again: int = 0
    ready: list[Function] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    freed: bool = False
    seconds: float = 0.0  # taken by the rule
    check: Any = None
    sentence: str = ""

    @property
    def name(self) -> str:
        """The name of the function that runs, such as "MulBackward0"."""
        return self.function.name

    @property
    def total(self) -> Value | None:
        """What the rule receives; for a node with several outputs, the gradient of the first that has one."""
        return next((t for t in self.totals if t is not None), None)

    def __repr__(self) -> str:
        return f"Step({self.number}: {self.name} of {self.tensor}, receives {short(self.total, 40)})"[:110]


class Trace:
    """The steps of one backward pass. Print it for a table; ``leaves`` maps each leaf to its ``.grad`` at the end.

    ``of_what`` is what is differentiated: the root if it is one number and the pass starts with 1, otherwise ``L``, the
    scalar whose slopes are the given gradients.
    """

    def __init__(self, graph: Graph, steps: list[Step], seeds: list[Value | None], title: str):
        self.graph, self.steps, self.seeds, self.title = graph, steps, seeds, title
        self.leaves: dict[str, Value | None] = {}
        self.create_graph = False
        self.given = False  # whether the caller passed gradient=
        self.wanted: set[tuple[Function, int]] = set()  # of inputs=, those that are results of functions
        seed = seeds[0] if len(graph.roots) == 1 else None
        self.of_what = title if seed is not None and seed.array.size == 1 == seed.array.item() else "L"

    def __repr__(self) -> str:
        return f"Trace({self.title}: {plural(len(self.steps), 'step')})"

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    @overload
    def __getitem__(self, i: int) -> Step: ...
    @overload
    def __getitem__(self, i: slice) -> list[Step]: ...
    def __getitem__(self, i: int | slice) -> Step | list[Step]:
        return self.steps[i]

    def __str__(self) -> str:
        """A table for a terminal: a line for each step, and one for each gradient that it sends."""
        rows = [("step", "node", "tensor", "receives", "sends")]
        for s in self.steps:
            sends = [x.reason or f"{target_name(x.edge)}: {short(x.value, 28)}" for x in s.sent]
            if s.accumulate is not None:
                sends = [f".grad: {short(s.accumulate.before, 24)} → {short(s.accumulate.after, 24)}"]
            first, *others = sends or [""]
            rows.append((str(s.number), s.name, s.tensor, short(s.total, 28), first))
            rows += [("", "", "", "", other) for other in others]
        head, *lines = table(rows, most=34)
        return "\n".join([head, "─" * max(map(len, [head, *lines])), *lines])

    def of(self, name: str) -> Step:
        """The step of the tensor or node called ``name``; KeyError lists the names that exist."""
        for s in self.steps:
            if name in (s.tensor, s.name):
                return s
        known = ", ".join(dict.fromkeys(s.tensor for s in self.steps))
        raise KeyError(f"no step for {name!r} in this trace; it has: {known}")
