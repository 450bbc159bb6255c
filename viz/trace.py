"""One backward pass as a list of steps, recorded through public node hooks alone.

``trace(z)`` runs the backward pass once, exactly as ``z.backward()`` would (``.grad`` ends the same), and returns what
happened: plain data, no tensors, no widget. The order of the steps is the engine's own; the ready queue and who waits for
whom are worked out from the dependency counts, as an engine does. Hooks are removed whatever happens.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from types import FrameType
from typing import Any

import numpy as np

from . import names as naming
from . import rules
from .check import check_steps
from .graph import Edge, Function, Graph, Saved, as_tensors, is_tensor, read
from .record import recall
from .values import Value, as_array

LISTED = 40  # of a long queue, as many nodes are listed at each step
MISSING = 5  # of those that a node waits for, as many are named


@dataclass(slots=True, eq=False)
class Part:
    """One contribution to the gradient that a node receives: along ``edge``, or the seed (None)."""

    edge: Edge | None
    nr: int
    value: Value | None


@dataclass(slots=True, eq=False)
class Sent:
    """What a step sends along one of its edges; ``reason`` says why nothing is sent, ``reduced`` how it was shaped."""

    edge: Edge
    input: str
    code: str | None
    math: str | None
    value: Value | None
    reason: str | None = None
    reduced: str | None = None
    lost: bool = False  # its target had fired for the last time: only a wrong engine sends then


@dataclass(slots=True, eq=False)
class Accumulated:
    """``before + contribution = after`` in ``.grad`` of a leaf; ``wrong`` says what happened where that is not so."""

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
    wrong: str | None = (
        None  # why the parts that were sent do not add up to what the rule received: a hook, or the engine
    )
    # two mistakes of an engine: who had not sent its part yet, and how often the node had fired before
    early: list[Function] = field(default_factory=list)
    again: int = 0
    ready: list[Function] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    freed: bool = False
    check: Any = None
    sentence: str = ""

    @property
    def name(self) -> str:
        """The name of the function that runs, such as "MulBackward0"."""
        return self.function.name

    @property
    def total(self) -> Value | None:
        """What the rule receives; of a node with several outputs, the gradient of the first that has one."""
        return next((t for t in self.totals if t is not None), None)

    def __repr__(self) -> str:
        return f"Step({self.number}: {self.name} of {self.tensor}, receives {_short(self.total, 40)})"[:110]


class Trace:
    """The steps of one backward pass. Print it for a table; ``leaves`` maps each leaf to its ``.grad`` at the end.

    ``of_what`` is what the gradients are of: the root where it is one number and the pass starts with 1, else ``L``, the
    scalar that the given gradients are slopes of.
    """

    def __init__(self, graph: Graph, steps: list[Step], seeds: list[Value | None], title: str):
        self.graph, self.steps, self.seeds, self.title = graph, steps, seeds, title
        self.leaves: dict[str, Value | None] = {}
        self.create_graph = False
        self.given = False  # whether the caller passed gradient=
        self.wanted: set[tuple[Function, int]] = set()  # of inputs=, those that are results of functions
        single = len(graph.roots) == 1 and seeds[0] is not None and seeds[0].array.size == 1
        self.of_what = title if single and seeds[0].array.item() == 1 else "L"

    def __repr__(self) -> str:
        return f"Trace({self.title}: {_plural(len(self.steps), 'step')})"

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self):
        return iter(self.steps)

    def __getitem__(self, i):
        return self.steps[i]

    def __str__(self) -> str:
        """A table for a terminal: a line for each step, and one for each gradient that it sends."""
        rows = [("step", "node", "tensor", "receives", "sends")]
        for s in self.steps:
            receives = _short(s.total, 28)
            if s.accumulate is not None:
                a = s.accumulate
                before = "None" if a.before is None else _short(a.before, 24)
                rows.append(
                    (str(s.number), s.name, s.tensor, receives, f".grad: {before} → {_short(a.after, 24)}")
                )
                continue
            first = (str(s.number), s.name, s.tensor, receives)
            for sent in s.sent or [None]:
                if sent is None:
                    text = ""
                elif sent.reason:
                    text = sent.reason
                else:
                    text = f"{_target_name(sent.edge)}: {_short(sent.value, 28)}"
                rows.append((*first, text))
                first = ("", "", "", "")
        wide = [max(len(r[c]) for r in rows) for c in range(5)]
        wide = [min(w, 34) for w in wide[:4]] + [0]
        lines = [
            "  ".join(_cut(t, w).ljust(w) if w else t for t, w in zip(r, wide, strict=True)).rstrip()
            for r in rows
        ]
        lines.insert(1, "─" * max(len(x) for x in lines))
        return "\n".join(lines)

    def of(self, name: str) -> Step:
        """The step of the tensor or node called ``name``; KeyError lists what there is."""
        for s in self.steps:
            if name in (s.tensor, s.name):
                return s
        known = ", ".join(dict.fromkeys(s.tensor for s in self.steps))
        raise KeyError(f"no step for {name!r} in this trace; it has: {known}")


def trace(
    tensors: Any,
    *,
    gradient: Any = None,
    inputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    names: Mapping | None = None,
    frame: FrameType | None = None,
    check: bool = False,
) -> Trace:
    """Run the backward pass of ``tensors`` and record every step.

    tensors: a tensor with a graph, or a list of them. gradient: dL/d(tensor), needed for a tensor that is not one number
    (a list for several). inputs, retain_graph, create_graph: as for ``backward``. names: ``{"w": tensor}``, wins over the
    caller's variables. check: compare each node's rule with a finite difference.

    Raises TypeError or ValueError for what cannot run backward, RuntimeError if the graph was already freed, and whatever
    the framework or a hook raises on the way; in every case all hooks of ours are removed.
    """
    graph, plain = prepare(tensors, "trace", names, frame or sys._getframe(1))
    return run(graph, plain, gradient, inputs, retain_graph, create_graph, check)


def prepare(tensors: Any, verb: str, names: Mapping | None, frame: FrameType | None) -> tuple[Graph, dict]:
    """Read and name the graph of ``tensors``, with what ``viz.record`` knows of it."""
    graph = read(as_tensors(tensors, verb))
    plain = naming.give_names(graph, frame, names, recall)
    return graph, plain


def run(
    graph: Graph,
    plain: dict[int, str],
    gradient: Any = None,
    inputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    check: bool = False,
    verb: str = "trace",
) -> Trace:
    """Run the backward pass of a graph that was read, and record it; then let go of the live nodes."""
    gradients = _gradients(graph, gradient, verb)
    _refuse_freed(graph, verb)
    for f in graph.functions:
        missing = [m for m in ("register_prehook", "register_hook") if not hasattr(f.fn, m)]
        if missing:
            raise TypeError(
                f"viz.{verb} listens to the backward pass through hooks on the nodes, but {f.name} has no {missing[0]}. A node "
                "needs register_prehook(fn(grad_outputs)) and register_hook(fn(grad_inputs, grad_outputs)), each returning a "
                "handle with remove(). viz.draw works without them."
            )
    title = ", ".join(r.function.outputs[r.nr].name or "?" for r in graph.roots)
    recorder = _Recorder(graph)
    handles = []
    try:
        for f in graph.functions:
            if f.unreached or any(e.cut for e in f.edges):
                handles.append(f.fn.register_hook(_stop(f)))
            if not f.unreached:
                handles.append(f.fn.register_prehook(recorder.before(f)))
                handles.append(f.fn.register_hook(recorder.after(f)))
        _backward(graph, gradients, inputs, retain_graph, create_graph)
    finally:
        for handle in handles:
            handle.remove()
    out = Trace(
        graph, recorder.steps, [_seed(r, g) for r, g in zip(graph.roots, gradients, strict=True)], title
    )
    out.create_graph, out.given = create_graph, any(g is not None for g in gradients)
    out.wanted = _wanted(graph, inputs)
    keep = create_graph if retain_graph is None else retain_graph
    _finish(out, plain, keep)
    if check:
        check_steps(out)
    for f in graph.leaves:
        grad = getattr(f.leaf, "grad", None)
        out.leaves[f.outputs[0].name] = Value.of(grad) if grad is not None else None
    graph.release()
    return out


def _stop(f: Function):
    """A hook that takes away what ``f`` sends along its cut edges, or along all where no gradient should have come to it
    (a custom function makes zeros of nothing): to the gradients that is what ``detach()`` does."""

    def hook(grad_inputs, grad_outputs):
        sent = _match(f, _tuple(grad_inputs))
        return tuple(None if f.unreached or e.cut else g for e, g in zip(f.edges, sent, strict=True))

    return hook


class _Recorder:
    """Two hooks a node: one just before its rule runs, one just after."""

    def __init__(self, graph: Graph):
        self.graph, self.steps, self.before_grad = graph, [], {}

    def before(self, f: Function):
        def prehook(grad_outputs):
            if f.kind == "accumulate":
                grad = getattr(f.leaf, "grad", None)
                self.before_grad[f.index] = Value.of(grad) if grad is not None else None

        return prehook

    def after(self, f: Function):
        def hook(grad_inputs, grad_outputs):
            totals = [Value.of(g) if g is not None else None for g in _tuple(grad_outputs)]
            step = Step(len(self.steps) + 1, f, f.outputs[0].name, totals)
            step.sent = [
                Sent(e, "", None, None, Value.of(g) if g is not None else None)
                for e, g in zip(f.edges, _match(f, _tuple(grad_inputs)), strict=True)
            ]
            if any(s.edge.cut and s.value is not None for s in step.sent):
                raise TypeError(
                    f"An edge of {f.name} cannot be cut: what a hook on the node returns is not used in place of the gradients."
                )
            if f.kind == "accumulate":
                grad = getattr(f.leaf, "grad", None)
                after = Value.of(grad) if grad is not None else None
                step.accumulate = Accumulated(
                    f.outputs[0].name, self.before_grad.get(f.index), step.total, after
                )
                step.accumulate.wrong = _wrong_store(step.accumulate, f)
            self.steps.append(step)

        return hook


def _tuple(x: Any) -> tuple:
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def _match(f: Function, grads: tuple) -> list:
    """One gradient for each edge; an engine may leave out those of the last inputs."""
    return [grads[i] if i < len(grads) else None for i in range(len(f.edges))]


def _gradients(graph: Graph, gradient: Any, verb: str) -> list:
    many = len(graph.roots) > 1
    given = list(gradient) if isinstance(gradient, list | tuple) else [gradient] * (1 if not many else 0)
    if gradient is None:
        given = [None] * len(graph.roots)
    if (many and isinstance(gradient, list | tuple) is False and gradient is not None) or len(given) != len(
        graph.roots
    ):
        raise ValueError(
            f"viz.{verb} got {len(graph.roots)} tensors, so gradient= must be a list of {len(graph.roots)} "
            "(None for a tensor that is one number)."
        )
    for root, g in zip(graph.roots, given, strict=True):
        out = root.function.outputs[root.nr]
        shape = tuple(root.tensor.shape)
        size = int(np.prod(shape, dtype=np.int64))
        if g is None and size != 1:
            if verb in ("explore", "beside"):
                raise RuntimeError(
                    f"viz.{verb} starts from one number, but {out.name} has shape {shape}. Take a scalar of it, such as "
                    f"{out.name}.sum()."
                )
            raise RuntimeError(
                f"viz.{verb} needs gradient= here: {out.name} has shape {shape}, not one number, so there is no "
                "single slope to start from. Pass gradient= with the same shape (for example ones), or step from "
                f"a scalar such as {out.name}.sum()."
            )
        if g is not None:
            if not hasattr(g, "shape") or not is_tensor(g):
                raise TypeError(f"gradient= must be a tensor of shape {shape}, but it is {type(g).__name__}.")
            if tuple(g.shape) != shape:
                raise RuntimeError(
                    f"gradient= has shape {tuple(g.shape)}, but {out.name} has shape {shape}. They must be the same."
                )
    return given


def _wanted(graph: Graph, inputs: Any) -> set[tuple[Function, int]]:
    tensors = inputs if isinstance(inputs, list | tuple) else [] if inputs is None else [inputs]
    made = [(graph.by_fn.get(t.grad_fn), int(getattr(t, "output_nr", 0))) for t in tensors if is_tensor(t)]
    return {(f, nr) for f, nr in made if f is not None}


def _seed(root: Any, gradient: Any) -> Value:
    if gradient is not None:
        return Value.of(gradient)
    return Value(
        np.ones(tuple(root.tensor.shape), as_array(root.tensor).dtype),
        root.function.outputs[root.nr].dtype or "",
    )


def _refuse_freed(graph: Graph, verb: str) -> None:
    for f in graph.functions:
        for s in f.saved if len(graph) <= 2_000 else ():
            if s.state == "freed":
                raise RuntimeError(
                    f"viz.{verb} cannot go backward through this graph a second time: {f.name} (which made "
                    f"{f.outputs[0].name}) has already freed what it saved. Run the forward pass again, or use "
                    "retain_graph=True in the first backward pass."
                )


def _backward(
    graph: Graph, gradients: list, inputs: Any, retain_graph: bool | None, create_graph: bool
) -> None:
    options: dict[str, Any] = {}
    if retain_graph is not None:
        options["retain_graph"] = retain_graph
    if create_graph:
        options["create_graph"] = True
    if inputs is not None:
        options["inputs"] = inputs
    tensors = [r.tensor for r in graph.roots]
    if len(tensors) == 1:
        if gradients[0] is not None:
            options["gradient"] = gradients[0]
        tensors[0].backward(**options)
        return
    framework = sys.modules.get(type(tensors[0]).__module__.split(".")[0])
    together = getattr(getattr(framework, "autograd", None), "backward", None)
    if together is None:
        raise TypeError(
            "Going backward from several tensors at once needs the framework's autograd.backward, which "
            f"{type(tensors[0]).__module__} does not have. Add the tensors up and pass their sum."
        )
    together(tensors, gradients if any(g is not None for g in gradients) else None, **options)


def _finish(out: Trace, plain: dict[int, str], keep: bool) -> None:
    """Everything that can be said once the order is known: parts, queue, rules in words, sentences."""
    graph, steps = out.graph, out.steps
    fired = {s.function: s for s in steps}
    seeds: dict[Function, list[Part]] = {}
    for root, value in zip(graph.roots, out.seeds, strict=True):
        seeds.setdefault(root.function, []).append(Part(None, root.nr, value))
    incoming: dict[Function, list[Part]] = {f: list(p) for f, p in seeds.items()}
    counted: dict[
        Function, list[Part]
    ] = {}  # what was there when a node fired before: a right engine fires each once
    needs = {f: sum(e.source in fired and not e.cut for e in f.users) for f in fired}
    got = dict.fromkeys(fired, 0)
    done: set[Function] = set()
    ready = {f for f in seeds if f in fired and needs[f] == 0}
    waiting: dict[Function, None] = {}
    for s in steps:
        f = s.function
        done.add(f)
        ready.discard(f)
        s.saved = f.saved if f.edges else []
        s.freed = bool(s.saved) and not keep
        s.parts = incoming.pop(f, [])
        s.again = sum(t.function is f for t in steps[: s.number - 1]) if f in counted else 0
        if _one_by_one(
            s, steps
        ):  # an engine that hands each part on by itself: this firing is for the first of them
            incoming[f] = s.parts[1:]
            s.parts = s.parts[:1]
        _share(s)
        s.wrong = _wrong_total(s, counted.get(f, []))
        s.early = _missing(f, fired, done) if got[f] < needs[f] else []
        counted.setdefault(f, []).extend(s.parts)
        _explain(s, out.of_what)
        for sent in s.sent:
            target = sent.edge.target
            if target is not None and target not in fired and (target, sent.edge.nr) in out.wanted:
                continue  # it arrives where inputs= asked for it; the function need not fire for that
            if target is None or target not in fired or sent.edge.cut:
                sent.value, sent.reason = None, _reason(sent, target)
                continue
            if sent.value is None:
                sent.reason = f"no gradient: the rule of {f.name} returned None for {sent.input}"
            else:
                incoming.setdefault(target, []).append(Part(sent.edge, sent.edge.nr, sent.value))
                sent.lost = fired[target].number < s.number
            got[target] += 1
            if got[target] < needs[target]:
                waiting[target] = None
                continue
            waiting.pop(target, None)
            if fired[target].number > s.number:
                ready.add(target)
        s.ready = nsmallest(LISTED, ready, key=lambda f: fired[f].number)
        s.waiting = [Waiting(w, got[w], needs[w], _missing(w, fired, done)) for w in islice(waiting, LISTED)]
        s.sentence = _sentence(s, len(steps), out)


def _share(s: Step) -> None:
    """What arrived is the very thing that was sent where one part came and nobody changed it: it is kept once."""
    if len(s.parts) == len(s.totals) == 1 and s.total is not None and s.parts[0].value is not None:
        sent = s.parts[0].value
        if (
            sent.dtype == s.total.dtype
            and sent.shape == s.total.shape
            and sent.array.tobytes() == s.total.array.tobytes()
        ):
            s.totals[0] = sent
            if s.accumulate is not None:
                s.accumulate.contribution = sent


def _one_by_one(s: Step, steps: list[Step]) -> bool:
    """Whether the engine fires a node for its first part alone, and again for the next before anyone sends it more."""
    if len(s.parts) < 2 or s.total is None or any(p.value is None for p in s.parts):
        return False
    if not _equal(s.total, s.parts[0].value.array) or _equal(s.total, _sum([p.value for p in s.parts])):
        return False
    senders = {e.source for e in s.function.users}
    following = (t.function for t in steps[s.number :])
    return next((f for f in following if f is s.function or f in senders), None) is s.function


def _missing(f: Function, fired: dict, done: set) -> list[Function]:
    """The first few functions that will still send something to ``f``."""
    still = (e.source for e in f.users if e.source in fired and e.source not in done and not e.cut)
    return list(dict.fromkeys(islice(still, MISSING)))


def _reason(sent: Sent, target: Function | None) -> str:
    if target is None:
        label = sent.edge.label
        if label and not sent.edge.tensor:
            return f"not computed: {_cut(label, 30)} is a constant"
        return f"not computed: {_cut(label or sent.input, 60)} does not require grad"
    if sent.edge.cut:
        return f"nothing, the edge is cut: as if {target.output(sent.edge.nr).name} were detached here"
    return f"not computed: {target.outputs[0].name} is not needed for inputs="


def _sum(values: list[Value]) -> np.ndarray:
    total = values[0].array.astype(np.complex128 if values[0].array.dtype.kind == "c" else np.float64)
    for value in values[1:]:
        total = total + value.array
    return total


def _equal(value: Value, array: np.ndarray) -> bool:
    return value.shape == array.shape and np.allclose(
        array, value.array, rtol=1e-3, atol=1e-5, equal_nan=True
    )


def _wrong_total(s: Step, before: list[Part]) -> str | None:
    """Where the parts do not add up to what the rule received: what was sent, what arrived, and what that tells.

    ``before``: the parts with which the node has fired already. PyTorch's engine adds; a learner's may not.
    """
    f = s.function
    for nr, total in enumerate(s.totals):
        parts = [p.value for p in s.parts if p.nr == nr and p.value is not None]
        if total is None or not parts or any(p.shape != total.shape for p in parts):
            continue
        if _equal(total, _sum(parts)):
            continue
        earlier = [p.value for p in before if p.nr == nr and p.value is not None]
        shown = [_short(p, 24) for p in parts[:4]] + ["…"] * (len(parts) > 4)
        sent = " and ".join(shown) if len(shown) < 3 else ", ".join(shown)
        if f.hooks or f.output(nr).hooks:
            why = "a hook changed it"
        elif len(parts) > 1 and _equal(total, parts[-1].array):
            why = "the last part was written over the others, where it should be added"
        elif earlier and _equal(total, _sum(earlier + parts)):
            why = "what it has passed on before is counted again"
        elif len(parts) > 1 and _equal(total, parts[0].array):
            why = "only the first part was kept, where all should be added"
        else:
            why = "something on the way changed it, a hook for example"
        what = (
            f"{_plural(len(parts), 'contribution')}, {sent}, were sent"
            if len(parts) > 1
            else f"{sent} was sent"
        )
        return f"{what}, but {_short(total)} arrived: {why}"
    return None


def _wrong_store(a: Accumulated, f: Function) -> str | None:
    """Where ``.grad`` is not what was there before plus the contribution: what happened instead."""
    if a.contribution is None or a.after is None:
        gone = a.contribution is not None and bool(f.after_hooks)
        return f"a hook that runs after it took {a.leaf}.grad away" if gone else None
    terms = [a.contribution] if a.before is None else [a.before, a.contribution]
    if any(t.shape != a.after.shape for t in terms) or _equal(a.after, _sum(terms)):
        return None
    if f.after_hooks:
        return f"a hook that runs after it changed {a.leaf}.grad to {_short(a.after)}"
    if a.before is not None and _equal(a.after, a.contribution.array):
        return f"{_short(a.contribution)} was written over {_short(a.before)} in {a.leaf}.grad, where it should be added"
    return f"{a.leaf}.grad is {_short(a.after)} after it, not {' + '.join(_short(t) for t in terms)}"


def _explain(s: Step, title: str) -> None:
    """Name the inputs, fill in code and mathematics, and say how a broadcast was undone."""
    f = s.function
    if f.kind == "accumulate":
        return
    words = naming.operand_names(f)
    words["result"] = f.outputs[0].name
    words = {k: _operand(v) for k, v in words.items()}
    words["g"] = f"∂{_of(title)}/∂{_of(f.outputs[0].name)}"
    for sent, name, code, math in zip(
        s.sent, rules.input_names(f), rules.code_of(f), rules.math_of(f, words), strict=True
    ):
        sent.input, sent.code = name, code
        target = sent.edge.target
        if math and target is not None:
            several = len(target.users) > 1
            sent.math = f"∂{_of(title)}/∂{_of(_target_name(sent.edge))} {'+=' if several else '='} {math}"
        if f.kind == "function" and s.total is not None and sent.value is not None:
            sent.reduced = _reduced(f, s.total.shape, sent.value.shape)


def _operand(name: str) -> str:
    return f"({name})" if any(c in name for c in " +-*/@") and not name.endswith(")") else name


def _of(name: str) -> str:
    return f"({name})" if " " in name else name


def _target_name(edge: Edge) -> str:
    if edge.target is None:
        return "?"
    return edge.target.output(edge.nr).name or "?"


_BROADCASTS = {"Add", "Sub", "Rsub", "Mul", "Div", "Pow", "Maximum", "Minimum", "Where", "MseLoss", "Addmm"}


def _reduced(f: Function, big: tuple[int, ...], small: tuple[int, ...]) -> str | None:
    """How a broadcast input's gradient came back to its own shape, or None where nothing was broadcast."""
    if rules.base_name(f.name) not in _BROADCASTS or big == small or len(small) > len(big):
        return None
    padded = (1,) * (len(big) - len(small)) + small
    axes = [
        i
        for i, (b, p) in enumerate(zip(big, padded, strict=True))
        if p == 1 and (b != 1 or i < len(big) - len(small))
    ]
    if not axes or any(p not in (1, b) for b, p in zip(big, padded, strict=True)):
        return None
    which = f"axis {axes[0]}" if len(axes) == 1 else "axes " + ", ".join(map(str, axes))
    return f"summed over {which}: {big} → {small or 'scalar'}"


def _short(value: Value | None, limit: int = 40) -> str:
    return "None" if value is None else value.short(limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _plural(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")


def _sentence(s: Step, n: int, out: Trace) -> str:
    """The step in words, for a screen reader and the caption."""
    head = f"Step {s.number} of {n}. "
    name = _cut(s.tensor, 60)
    odd = f" {s.wrong}." if s.wrong else ""
    if s.again:
        odd += f" It has fired {'once' if s.again == 1 else f'{s.again} times'} before."
    if s.early:
        missing = ", ".join(_cut(f.outputs[0].name, 30) for f in s.early[:3])
        odd += f" It fires too early: {missing} {'has' if len(s.early) == 1 else 'have'} not sent {name} a part yet."
    if s.accumulate is not None:
        return head + _stored(s.accumulate, name) + odd
    receives = _received(s, name, out) + "." + odd
    sends = [f"{_short(x.value)} to {_cut(_target_name(x.edge), 60)}" for x in s.sent if x.reason is None]
    tail = f" It sends {', and '.join(sends)}." if sends else " It sends nothing."
    for x in s.sent:
        target = _cut(_target_name(x.edge), 60)
        if x.reason and x.edge.target is not None:
            tail += f" {target}: {x.reason}."
        elif x.reduced:
            tail += f" For {target} it is {x.reduced}."
        if x.lost:
            tail += f" {target} has fired already: this part is lost."
    return f"{head}{s.name} {receives}{tail}"


def _stored(a: Accumulated, name: str) -> str:
    """What AccumulateGrad did, in words."""
    if a.wrong:
        return f"AccumulateGrad receives {_short(a.contribution)} for {name}, but {a.wrong}."
    if a.contribution is None:
        return f"AccumulateGrad receives nothing for {name}: {name}.grad stays {_short(a.after)}."
    if a.before is None:
        return f"AccumulateGrad stores {_short(a.after)} in {name}.grad, which was None."
    change = f"{_short(a.before)} becomes {_short(a.after)}"
    return f"AccumulateGrad adds {_short(a.contribution)} to {name}.grad: {change}."


def _received(s: Step, name: str, out: Trace) -> str:
    got = [p for p in s.parts if p.value is not None]
    if any(total is not None for total in s.totals[1:]):
        return _received_by_each(s)
    if s.wrong:
        return f"receives {_short(s.total)}, the gradient for {name}"
    if len(got) > 1:
        parts = " + ".join(_short(p.value, 24) for p in got[:4])
        receives = f"adds {_plural(len(got), 'contribution')} for {name}: {parts}"
        return receives + f"{' + …' if len(got) > 4 else ''} = {_short(s.total)}"
    if got and got[0].edge is None:
        seed = f"the gradient of {name} with respect to itself"
        if out.of_what == "L":  # not a single number that starts with 1: the gradient of what follows it
            seed = f"the gradient {'that was given ' if out.given else ''}for {name}"
        return f"starts with {seed}, {_short(s.total)}"
    return f"receives {_short(s.total)}, the gradient for {name}"


def _received_by_each(s: Step) -> str:
    """What a node with several outputs receives: a gradient, or nothing, for each of the first few."""
    said = []
    for nr, total in enumerate(s.totals[:6]):
        name = _cut(s.function.output(nr).name or f"output {nr}", 30)
        parts = [_short(p.value, 24) for p in s.parts if p.nr == nr and p.value is not None]
        added = (
            f"{' + '.join(parts[:4])}{' + …' if len(parts) > 4 else ''} = "
            if len(parts) > 1 and not s.wrong
            else ""
        )
        said.append(f"nothing for {name}" if total is None else f"{added}{_short(total)} for {name}")
    return f"receives {', '.join(said)}{', …' if len(s.totals) > 6 else ''}"


__all__: Sequence[str] = ("Step", "Trace", "trace")
