"""One backward pass as a list of steps, recorded through public node hooks alone.

``trace(z)`` runs the backward pass once, exactly as ``z.backward()`` would (``.grad`` ends up the same), and returns what
happened: plain data, no tensors, no widget. The order of the steps is the engine's own; the ready queue and which node waits
for which are worked out from the dependency counts, as in an engine. Hooks are removed whatever happens.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Mapping
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np

from ..read.arguments import Names, Seeds, Tensors, check_flags, public
from ..read.graph import Function, Graph, framework, is_tensor
from ..read.hooks import hanging, own
from ..read.recall import prepare
from ..read.rules import operand
from ..read.text import plural
from ..read.values import KEPT, Value, as_array, shape_of, size_of
from .check import check_steps
from .explain import finish, wrong_store
from .steps import Accumulated, Sent, Step, Trace

# called when a pass raises, to show it: (graph, exception, live nodes that ran, those that had begun); set by viz/show
ON_FAILURE: list[Callable[[Graph, Exception, list[Any], list[Any]], Any]] = []
Hook = Callable[..., Any]
PASS = "viz pass"  # the key in a root's metadata for the pass that was recorded from there


@public
def trace(
    *tensors: Tensors,
    names: Names = None,
    gradient: Seeds = None,
    inputs: Tensors | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    check: bool = False,
    _frame: FrameType | None = None,
) -> Trace:
    """Run the backward pass of ``tensors`` and record every step.

    * tensors: one or several that have a graph, or a list of them.
    * names: names for tensors, as in ``viz.draw``; they override the caller's variables.
    * gradient: dL/d(tensor), needed for a tensor that is not a single number (a list for several).
    * inputs, retain_graph, create_graph: as for ``backward``.
    * check: compare each node's rule with a finite difference.

    TypeError or ValueError for a tensor that cannot run backward, RuntimeError for a freed graph or a missing or misshapen
    ``gradient``, and whatever the framework or a hook raises on the way; in every case all our hooks are removed.
    """
    check_flags(retain_graph=retain_graph, create_graph=create_graph, check=check)
    how = {"inputs": inputs, "retain_graph": retain_graph, "create_graph": create_graph}
    return recorded(tensors, "trace", names, _frame, gradient=gradient, check=check, **how)


def recorded(given: Any, verb: str, names: Any, frame: FrameType | None, **how: Any) -> Trace:
    """The pass from ``given``, with the options of ``run``; a trace is returned as it is."""
    return given if isinstance(given, Trace) else run(*prepare(given, verb, names, frame), verb=verb, **how)


def run(
    graph: Graph, plain: Any, gradient: Any = None, check: bool = False, verb: str = "trace", **how: Any
) -> Trace:
    """Run the backward pass of a graph that was read, and record it; then let go of the live nodes.

    ``how``: ``inputs``, ``retain_graph`` and ``create_graph``, as for ``backward``.
    """
    gradients = _gradients(graph, gradient, verb)
    if (gone := first_freed(graph)) is not None:
        raise RuntimeError(
            f"viz.{verb} cannot go backward through this graph a second time: {gone.name} (which made "
            f"{gone.outputs[0].name}) has already freed what it saved. Run the forward pass again, or use "
            "retain_graph=True in the first backward pass."
        )
    for f in graph.functions:
        missing = [m for m in ("register_prehook", "register_hook") if not hasattr(f.fn, m)]
        if missing:
            raise TypeError(
                f"viz.{verb} listens to the backward pass through hooks on the nodes, but {f.name} has no {missing[0]}. A node "
                "needs register_prehook(fn(grad_outputs)) and register_hook(fn(grad_inputs, grad_outputs)), each returning a "
                "handle with remove(). viz.draw works without them."
            )
    _refuse_without_numbers(graph, verb)
    recorder = _Recorder()

    def listening(handles: list[Any]) -> None:
        for f in graph.functions:
            if f.unreached or any(e.cut for e in f.edges):
                handles.append(f.fn.register_hook(own(_stop(f))))
            if not f.unreached:
                handles.append(f.fn.register_prehook(own(recorder.before(f))))
                handles.append(f.fn.register_hook(own(recorder.after(f))))
        _backward(graph, gradients, how)

    wanted = _wanted(graph, how.get("inputs"))
    try:
        hanging(listening)
    except Exception as error:
        ran, begun = [s.function.fn for s in recorder.steps], [f.fn for f in recorder.before_rule]
        for show in ON_FAILURE:
            with contextlib.suppress(Exception):
                show(graph, error, ran, begun)
        raise
    out = Trace(graph, recorder.steps, list(map(_seed, graph.roots, gradients)), graph.title)
    out.create_graph, out.given = how.get("create_graph", False), any(g is not None for g in gradients)
    out.wanted = wanted
    keep = how.get("retain_graph")
    finish(out, plain, out.create_graph if keep is None else keep)
    if check:
        check_steps(out)
    for f in graph.leaves:
        out.leaves[f.outputs[0].name] = _copy(getattr(f.leaf, "grad", None))
    graph.release()
    return out


def _stop(f: Function) -> Hook:
    """A hook that drops what ``f`` sends along its cut edges, or along all edges if no gradient should have reached it
    (a custom function turns a missing gradient into zeros). For the gradients that is the same as ``detach()``."""

    def hook(grad_inputs: Any, grad_outputs: Any) -> tuple[Any, ...]:
        sent = zip(f.edges, _sent(f, grad_inputs), strict=True)
        return tuple(None if f.unreached or e.cut else g for e, g in sent)

    return hook


class _Recorder:
    """Two hooks per node: one just before its rule runs (which may write into what it received), and one after."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.before_rule: dict[Function, tuple[Value | None, list[Value | None], float]] = {}

    def before(self, f: Function) -> Hook:
        def prehook(grad_outputs: Any) -> None:
            grad, received = _copy(getattr(f.leaf, "grad", None)), list(map(_copy, _tuple(grad_outputs)))
            self.before_rule[f] = grad, received, perf_counter()

        return prehook

    def after(self, f: Function) -> Hook:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            now = perf_counter()
            if f not in self.before_rule:
                raise TypeError(f"{f.name} did not first call the hook given to its register_prehook")
            before, totals, began = self.before_rule.pop(f)
            step = Step(len(self.steps) + 1, f, f.outputs[0].name, totals, seconds=now - began)
            sent = zip(f.edges, _sent(f, grad_inputs), strict=True)
            step.sent = [Sent(e, "", None, None, _copy(g)) for e, g in sent]
            if any(s.edge.cut and s.value is not None for s in step.sent):
                why = "a hook on this node cannot replace the gradients that it sends"
                raise TypeError(f"An edge of {f.name} cannot be cut: {why}.")
            if f.kind == "accumulate":
                after = _copy(getattr(f.leaf, "grad", None))
                step.accumulate = Accumulated(f.outputs[0].name, before, step.total, after)
                step.accumulate.wrong = wrong_store(step.accumulate, f)
            self.steps.append(step)

        return hook


def _copy(grad: Any) -> Value | None:
    return None if grad is None else Value.of(grad)


def _tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def _sent(f: Function, grads: Any) -> list[Any]:
    """One gradient for each edge; an engine may leave out those of the last inputs."""
    given = _tuple(grads)
    return [given[i] if i < len(given) else None for i in range(len(f.edges))]


def _gradients(graph: Graph, gradient: Any, verb: str) -> list[Any]:
    given = list(gradient) if isinstance(gradient, list | tuple) else [gradient]
    if gradient is None:
        given *= len(graph.roots)
    if len(given) != (n := len(graph.roots)):
        raise ValueError(
            f"viz.{verb} got {plural(n, 'tensor')}, so gradient= must be {'one tensor' if n == 1 else f'a list of {n}'} "
            "(None for a tensor with a single number)."
        )
    for root, g in zip(graph.roots, given, strict=True):
        out = root.function.outputs[root.nr]
        shape = tuple(root.tensor.shape)
        if g is None and size_of(shape) != 1:
            made_up = not out.name or re.fullmatch(r"t\d+′*", out.name)
            total = "its sum()" if made_up else f"{operand(out.name)}.sum()"
            advice = f"reduce it to a scalar, such as {total}."
            if verb not in ("explore", "beside"):
                advice = f"pass gradient= with this shape (for example ones), or {advice}"
            start = f"viz.{verb} needs a single number to start from, but {out.name}"
            raise RuntimeError(f"{start} has shape {shape}: {advice}")
        if g is not None:
            if not hasattr(g, "shape") or not is_tensor(g):
                raise TypeError(f"gradient= must be a tensor of shape {shape}, but it is {type(g).__name__}.")
            if tuple(g.shape) != shape:
                both = f"gradient= has shape {tuple(g.shape)}, but {out.name} has shape {shape}"
                raise RuntimeError(f"{both}. They must be the same.")
    return given


def _wanted(graph: Graph, inputs: Any) -> set[tuple[Function, int]]:
    tensors = inputs if isinstance(inputs, list | tuple) else [] if inputs is None else [inputs]
    for t in tensors:
        if not is_tensor(t):
            wanted = "inputs= takes the tensors whose gradients you want, as backward does"
            raise TypeError(f"{wanted}, not {type(t).__name__}.")
        if not t.requires_grad:
            raise ValueError("inputs= takes tensors that require grad, and one of these does not.")
    made = map(graph.made, tensors)
    return {(f, nr) for f, nr in made if f is not None and f.kind != "accumulate"}


def _seed(root: Any, gradient: Any) -> Value:
    if gradient is not None:
        return Value.of(gradient)
    dtype = root.function.outputs[root.nr].dtype or ""
    return Value(np.ones(tuple(root.tensor.shape), as_array(root.tensor).dtype), dtype)


def first_freed(graph: Graph) -> Function | None:
    """The first function whose saved tensors an earlier backward pass has freed: no pass can go through it again."""
    return next((f for f in graph.functions if any(s.state == "freed" for s in f.saved)), None)


def remember(root: Any, trace: Trace, *more: Any) -> None:
    """Attach what was recorded to the node where the pass started, for the node's lifetime (if nodes have ``metadata``)."""
    metadata = getattr(root, "metadata", None)
    if isinstance(metadata, dict):
        metadata[PASS] = [(r.function.index, r.nr) for r in trace.graph.roots], (trace, *more)


def remembered(graph: Graph) -> tuple[Any, ...] | None:
    """The data kept with the pass from exactly these roots, or None."""
    metadata = getattr(graph.roots[0].function.fn, "metadata", None)
    roots, what = metadata.get(PASS, (None, None)) if isinstance(metadata, dict) else (None, None)
    return what if roots == [(r.function.index, r.nr) for r in graph.roots] else None


def _refuse_without_numbers(graph: Graph, verb: str) -> None:
    tensors = [(r.function.output(r.nr).name, r.tensor) for r in graph.roots]
    for name, tensor in [*((f.outputs[0].name, f.leaf) for f in graph.leaves), *tensors]:
        if size_of(shape_of(tensor)) <= KEPT and Value.seen(tensor) is None:
            kind = type(tensor).__name__
            where = f" on the device {tensor.device}" if hasattr(tensor, "device") else ""
            raise TypeError(
                f"viz.{verb} shows numbers, but {name} (a {kind} of shape {shape_of(tensor)}{where}) has none. "
                "viz.draw draws the graph without numbers."
            )


def _backward(graph: Graph, gradients: list[Any], how: Mapping[str, Any]) -> None:
    usual = {"inputs": None, "retain_graph": None, "create_graph": False}
    options = {name: value for name, value in how.items() if value is not usual[name]}
    tensors = [r.tensor for r in graph.roots]
    if len(tensors) == 1:
        if gradients[0] is not None:
            options["gradient"] = gradients[0]
        tensors[0].backward(**options)
        return
    package = framework(tensors[0])
    together = getattr(getattr(sys.modules.get(package), "autograd", None), "backward", None)
    if together is None:
        raise TypeError(
            "Going backward from several tensors at once needs the framework's autograd.backward, which "
            f"{package} does not have. Add the tensors up and pass their sum."
        )
    together(tensors, gradients if any(g is not None for g in gradients) else None, **options)
