"""The backward pass: one loop that fires the nodes of a graph in PyTorch's order.

A node is fired once, after the gradients of all its consumers have arrived and been added up. Among the nodes that are
ready the newest goes first, except that AccumulateGrad goes before everything. The walk is a loop with a queue, never
recursion, so a chain of a million nodes is no deeper than one of three.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush

from numpy import add

from . import anomaly_mode
from .grad_mode import anomaly, local
from .hooks import run_post_hooks, run_pre_hooks, run_tensor_hooks
from .node import AccumulateGrad, Node

Root = tuple[Node, int, object]  # a node, the number of its output, the gradient that arrives there
Targets = dict[tuple[Node, int], object]  # for a node and the number of its output: that gradient
ZEROS = itertools.repeat(0)


def execute(
    roots: Sequence[Root],
    *,
    retain_graph: bool,
    create_graph: bool,
    targets: Targets | None = None,
    last: set[Node] = frozenset(),
) -> None:
    """Do a whole backward pass, recorded if `create_graph` (see `run` for the arguments)."""
    recorded = local.gradients_are_tensors(create_graph)
    outer_grad, outer_pass = local.grad, local.backward_pass
    if recorded:
        local.update(grad=create_graph)
    try:
        run(roots, retain_graph, recorded, targets, last)
    finally:
        local.backward_pass = outer_pass
        if recorded:
            local.update(grad=outer_grad)


def run(
    roots: Sequence[Root],
    retain_graph: bool,
    recorded: bool,
    targets: Targets | None = None,
    last: set[Node] = frozenset(),
) -> None:
    """Walk back from `roots`.

    roots: (node, output number, gradient) of each tensor that the walk starts from.
    recorded: gradients are Tensors and the rules' operations are recorded (create_graph); else they are plain arrays.
    targets: if given, only nodes on a path to one of these (node, output number) are fired, and the gradient that
        arrives there is put into this dictionary. The nodes in `last` are fired, too, but nothing behind them alone.
    """
    waiting = local.backward_pass = count_dependencies(roots)
    needed = None
    if targets is not None:
        needed = nodes_leading_to(targets, last, waiting)
        capture_nodes: dict[Node, list[int]] = {}  # of the targets' nodes: the outputs that are asked for
        for node, output_nr in targets:
            capture_nodes.setdefault(node, []).append(output_nr)
        local.backward_pass = {*needed, *capture_nodes}
    arrived: dict[Node, object] = {}
    own: set[Node] = set()  # nodes whose arrived gradient is a sum made here, which may be added to in place

    leaves: deque[AccumulateGrad] = deque()  # ready: these go first, in the order in which they became so
    ready: list[tuple[int, int, Node]] = []  # ready: a heap, highest sequence number first, then first come
    following = None  # ready while nothing else is: it need not go through the heap
    watched = anomaly.on
    for ticket, (node, output_nr, grad) in enumerate(roots):
        if node not in arrived and not waiting[node]:
            heappush(ready, (-node.sequence, ticket, node))
        put(arrived, node, output_nr, grad)

    while True:
        if leaves:
            node = leaves.popleft()
        elif following is not None:
            node, following = following, None
        elif ready:
            node = heappop(ready)[2]
        else:
            return
        grad = arrived.pop(node)
        hooks = node.hooks
        if needed is not None:
            fired = node in needed
            if hooks is not None and not fired:
                grad = run_tensor_hooks(node, grad, recorded)
            # If the node is fired, too, what is captured is the gradient before the hooks, as in PyTorch.
            for output_nr in capture_nodes.get(node, ()):
                targets[node, output_nr] = grad[output_nr] if type(grad) is list else grad
            if not fired:
                continue
        if hooks is not None:
            grad = run_pre_hooks(node, run_tensor_hooks(node, grad, recorded), recorded)

        if grad is None and not node.runs_undefined:
            grad_inputs = (None,) * len(node.edges)
        else:
            try:
                grad_inputs = node.vjp(grad, recorded)
            except Exception:
                if watched:
                    anomaly_mode.warn_of(node)
                raise
        if not grad_inputs and hooks is None:  # of a leaf: there is nothing to hand on
            continue
        if node.frees and not retain_graph:
            node.release()
        if watched:
            anomaly_mode.refuse_nan(node, grad_inputs)
        if hooks is not None and hooks.post:
            grad_inputs = run_post_hooks(node, grad_inputs, grad, recorded)

        for parent, part, output_nr in zip(node.edges, grad_inputs, node.input_nrs or ZEROS):  # noqa: B905
            if parent is None:
                continue
            if parent.outputs == 1:
                before = arrived.get(parent)
                if before is None:
                    arrived[parent] = part
                elif part is not None:
                    if recorded:
                        before = before + part
                    elif parent in own:
                        before += part
                    else:
                        before = add(before, part, out=...)
                        if before.ndim:  # NumPy makes a single number anew more quickly than it adds to one
                            own.add(parent)
                    arrived[parent] = before
            else:
                put(arrived, parent, output_nr, part)
            left = waiting[parent] - 1
            if left:
                waiting[parent] = left
            elif needed is None or parent in needed or parent in capture_nodes:
                if type(parent) is AccumulateGrad:
                    leaves.append(parent)
                elif following is None and not ready:
                    following = parent
                else:
                    if following is not None:
                        heappush(ready, (-following.sequence, ticket + 1, following))
                        following = None
                    heappush(ready, (-parent.sequence, ticket + 2, parent))
                    ticket += 2
        # nothing is held longer than needed, see AccumulateGrad.vjp
        node = grad = grad_inputs = part = before = None


def count_dependencies(roots: Sequence[Root]) -> dict[Node, int]:
    """For each node that can be reached: how many gradients it will have to wait for."""
    waiting: dict[Node, int] = {}
    for node, _, _ in roots:
        waiting[node] = 0
    found = list(waiting)
    for node in found:  # which grows meanwhile
        for parent in node.edges:
            if parent in waiting:
                waiting[parent] += 1
            elif parent is not None:
                waiting[parent] = 1
                found.append(parent)
    return waiting


def nodes_leading_to(targets: Targets, last: set[Node], reachable: dict[Node, int]) -> set[Node]:
    """The nodes that have to be fired so that a gradient reaches one of `targets`."""
    consumers: dict[Node, list[Node]] = {}
    for node in reachable:
        for parent in node.edges:
            if parent is not None:
                consumers.setdefault(parent, []).append(node)
    needed = set(last)
    stack = [*needed, *(node for node, _ in targets)]
    while stack:
        for consumer in consumers.get(stack.pop(), ()):
            if consumer not in needed:
                needed.add(consumer)
                stack.append(consumer)
    return needed


def put(arrived: dict[Node, object], node: Node, output_nr: int, part) -> None:
    """Add one gradient to those that have arrived at output `output_nr` of `node`."""
    before = arrived.get(node)
    if part is None:
        arrived[node] = before  # None until a gradient arrives, also if it has several outputs
    elif node.outputs == 1:
        arrived[node] = part if before is None else before + part
    else:
        if before is None:
            before = arrived[node] = [None] * node.outputs
        before[output_nr] = part if before[output_nr] is None else before[output_nr] + part
