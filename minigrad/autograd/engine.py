"""The backward pass: one generator that fires the nodes of a graph in PyTorch's order.

A node is fired once, after the gradients of all its consumers have arrived and been added up. Among the nodes that are
ready the newest goes first, except that AccumulateGrad goes before everything. The walk is a loop with a queue, never
recursion, so a chain of a million nodes is no deeper than one of three.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

import numpy as np

from ..tensor import Tensor, wrap
from .grad_mode import anomaly, state
from .node import AccumulateGrad, Node, no_recording

ndarray = np.ndarray


def run(
    roots: Sequence[tuple[Node, int, object]],
    *,
    retain_graph: bool,
    recorded: bool,
    targets: dict[tuple[Node, int], object] | None = None,
    accumulate_into: set[Node] = frozenset(),
) -> Iterator[tuple[Node, object, tuple]]:
    """Walk back from `roots`, yielding `(node, grad, grad_inputs)` after each node that is fired.

    roots: (node, output number, gradient) of each tensor that the walk starts from.
    recorded: gradients are Tensors and the rules' operations are recorded (create_graph); else they are plain arrays.
    targets: if given, only nodes on a path to one of these (node, output number) are fired, and the gradient that
        arrives there is put into this dictionary. Accumulators in `accumulate_into` are fired as well.
    """
    waiting = count_dependencies(roots)
    needed = None if targets is None else nodes_leading_to(targets, accumulate_into, waiting)
    arrived: dict[Node, object] = {}
    ready: list[
        tuple[int, int, Node]
    ] = []  # a heap: highest sequence number first, then first come first served
    ticket = 0

    for node, output_nr, grad in roots:
        if node not in arrived and not waiting[node]:
            heappush(ready, (-node.sequence, ticket, node))
            ticket += 1
        put(arrived, node, output_nr, grad)

    capture_nodes = {} if targets is None else outputs_by_node(targets)
    while ready:
        node = heappop(ready)[2]
        grad = arrived.pop(node)
        hooks = node.hooks
        if hooks is not None:
            grad = run_tensor_hooks(node, grad, recorded)
        if node in capture_nodes:
            for output_nr in capture_nodes[node]:
                targets[node, output_nr] = grad[output_nr] if type(grad) is list else grad
        if needed is not None and node not in needed:
            continue
        if hooks is not None:
            grad = run_pre_hooks(node, grad, recorded)

        if grad is None and not node.runs_undefined:
            grad_inputs = (None,) * len(node.edges)
        else:
            grad_inputs = node.vjp(grad, recorded)
        if not retain_graph:
            node.release()
        if state.special and anomaly.on:
            refuse_nan(node, grad_inputs)
        if hooks is not None and hooks.post:
            grad_inputs = run_post_hooks(node, grad_inputs, grad, recorded)

        numbers = node.input_nrs
        for i, parent in enumerate(node.edges):
            if parent is None:
                continue
            part = grad_inputs[i]
            if numbers is None and parent.outputs == 1:  # put(), inlined for the common case
                if part is not None:
                    before = arrived.get(parent)
                    arrived[parent] = part if before is None else before + part
                elif parent not in arrived:
                    arrived[parent] = None
            else:
                put(arrived, parent, 0 if numbers is None else numbers[i], part)
            left = waiting[parent] = waiting[parent] - 1
            if not left and (needed is None or parent in needed or parent in capture_nodes):
                heappush(ready, (-parent.sequence, ticket, parent))
                ticket += 1
        yield node, grad, grad_inputs


def count_dependencies(roots: Sequence[tuple[Node, int, object]]) -> dict[Node, int]:
    """For each node that can be reached: how many gradients it will have to wait for."""
    waiting = dict.fromkeys((node for node, _, _ in roots), 0)
    stack = list(waiting)
    while stack:
        for parent in stack.pop().edges:
            if parent is None:
                continue
            if parent in waiting:
                waiting[parent] += 1
            else:
                waiting[parent] = 1
                stack.append(parent)
    return waiting


def nodes_leading_to(
    targets: dict[tuple[Node, int], object], accumulate_into: set[Node], reachable: dict[Node, int]
) -> set[Node]:
    """The nodes that have to be fired so that a gradient reaches one of `targets`."""
    goals = {node for node, _ in targets} | accumulate_into
    consumers: dict[Node, list[Node]] = {}
    for node in reachable:
        for parent in node.edges:
            if parent is not None:
                consumers.setdefault(parent, []).append(node)
    needed = set(accumulate_into)
    stack = list(goals)
    while stack:
        for consumer in consumers.get(stack.pop(), ()):
            if consumer not in needed:
                needed.add(consumer)
                stack.append(consumer)
    return needed


def outputs_by_node(targets: dict[tuple[Node, int], object]) -> dict[Node, list[int]]:
    wanted: dict[Node, list[int]] = {}
    for node, output_nr in targets:
        wanted.setdefault(node, []).append(output_nr)
    return wanted


def put(arrived: dict[Node, object], node: Node, output_nr: int, part) -> None:
    """Add one gradient to those that have arrived at output `output_nr` of `node`."""
    if node.outputs == 1:
        before = arrived.get(node)
        arrived[node] = part if before is None else before if part is None else before + part
    else:
        parts = arrived.get(node)
        if parts is None:
            parts = arrived[node] = [None] * node.outputs
        if part is not None:
            parts[output_nr] = part if parts[output_nr] is None else parts[output_nr] + part


# ---------------------------------------------------------------- hooks and checks: users see Tensors


def as_tensor(grad) -> Tensor | None:
    return grad if grad is None or isinstance(grad, Tensor) else wrap(grad)


def as_inner(grad: Tensor | None, recorded: bool):
    return grad if grad is None or recorded else grad._array


def run_tensor_hooks(node: Node, grad, recorded: bool):
    """Hooks on tensors, then retain_grad, which sees what they made of the gradient."""
    hooks = node.hooks
    if not hooks.tensor and not hooks.retain:
        return grad
    grads = grad if type(grad) is list else [grad]
    with no_recording(recorded):
        for output_nr, fns in sorted(hooks.tensor.items()):
            for fn in tuple(fns.values()):
                if grads[output_nr] is None:
                    break
                before = as_tensor(grads[output_nr])
                after = fn(before)
                if after is not None:
                    check_hook_result(before, after)
                    grads[output_nr] = as_inner(after, recorded)
        for output_nr, ref in hooks.retain.items():
            t = ref()
            if t is None or grads[output_nr] is None:
                continue
            meta, new = t.meta(), as_tensor(grads[output_nr])
            if meta.grad is None:
                meta.grad = new if recorded else wrap(np.array(new._array))
            else:
                meta.grad = meta.grad + new
    return grads if type(grad) is list else grads[0]


def check_hook_result(before: Tensor, after: object) -> None:
    if not isinstance(after, Tensor):
        raise TypeError(f"expected Tensor, but hook returned '{type(after).__name__}'")
    if after._array.shape != before._array.shape:
        raise RuntimeError(
            f"hook 'hook' has changed the size of value. (expected {list(before.shape)}, got {list(after.shape)})"
        )
    if after._array.dtype != before._array.dtype:
        raise RuntimeError("hook 'hook' has changed the type of value")


def run_pre_hooks(node: Node, grad, recorded: bool):
    """Node.register_prehook: sees all output gradients and may replace them."""
    if not node.hooks.pre:
        return grad
    several = type(grad) is list
    grads = tuple(as_tensor(g) for g in (grad if several else [grad]))
    with no_recording(recorded):
        for fn in tuple(node.hooks.pre.values()):
            grads = replaced(fn(grads), grads)
    inner = [as_inner(g, recorded) for g in grads]
    return inner if several else inner[0]


def run_post_hooks(node: Node, grad_inputs: tuple, grad, recorded: bool) -> tuple:
    """Node.register_hook: sees what went in and what came out, and may replace the latter."""
    grad_outputs = tuple(as_tensor(g) for g in (grad if type(grad) is list else [grad]))
    results = tuple(as_tensor(g) for g in grad_inputs)
    with no_recording(recorded):
        for fn in tuple(node.hooks.post.values()):
            results = replaced(fn(results, grad_outputs), results)
    return tuple(as_inner(g, recorded) for g in results)


def replaced(new, old: tuple) -> tuple:
    """What a node hook returned in the place of `old`; None leaves it."""
    if new is None:
        return old
    new = new if isinstance(new, tuple) else (new,)
    if len(new) != len(old):
        raise RuntimeError(
            f"hook 'hook' has returned an incorrect number of values (got {len(new)}, but expected {len(old)})"
        )
    for before, after in zip(old, new, strict=True):
        if before is not None and after is not None:
            check_hook_result(before, after)
    return new


def refuse_nan(node: Node, grad_inputs: tuple) -> None:
    """Anomaly mode: the first node that makes a NaN is named, with the line that recorded it."""
    from .anomaly_mode import report_nan

    if type(node) is not AccumulateGrad:
        report_nan(node, [as_tensor(g) for g in grad_inputs])
