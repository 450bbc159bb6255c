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
from .dependencies import Root, Targets, count_dependencies, nodes_leading_to
from .grad_mode import anomaly, local
from .hooks import run_post_hooks, run_pre_hooks, run_tensor_hooks
from .node import AccumulateGrad, Node

ZEROS = itertools.repeat(0)


class PartialPass(dict):
    """The nodes of a pass that goes to some of them only: is the node fired, or is a gradient only taken from it?"""

    __slots__ = ()


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
        local.backward_pass = PartialPass.fromkeys((n for n in capture_nodes if n in waiting), False)
        local.backward_pass.update(dict.fromkeys(needed, True))
    arrived: dict[Node, object] = {}  # at nodes that wait for more
    own: set[Node] = set()  # nodes whose arrived gradient is a sum made here, which may be added to in place

    # Ready, with their gradients: leaves, which go first, in the order in which they became so; a heap of other nodes,
    # highest sequence number first, then first come; and the one that is ready while nothing else is, which need not go
    # through the heap.
    leaves: deque[tuple[AccumulateGrad, object]] = deque()
    ready: list[tuple[int, int, Node, object]] = []
    following, its_grad = None, None
    ticket = 0
    if len(roots) == 1 and roots[0][0]._output_count == 1:  # as nearly always
        following, _, its_grad = roots[0]
    else:
        for node, output_nr, grad in roots:
            put(arrived, node, output_nr, grad)
        for ticket, (node, _, _) in enumerate(roots):
            if node in arrived and not waiting[node]:
                heappush(ready, (-node._sequence, ticket, node, arrived.pop(node)))
    watched = anomaly.on

    while True:
        if leaves:
            node, grad = leaves.popleft()
        elif following is not None:
            node, grad, following, its_grad = following, its_grad, None, None
        elif ready:
            _, _, node, grad = heappop(ready)
        else:
            return
        hooks = node._hooks
        if needed is not None:
            fired = node in needed
            if hooks is not None and not fired:
                grad = run_tensor_hooks(node, grad, recorded)
            # If the node is fired, too, what is captured is the gradient before the hooks, as in PyTorch.
            for output_nr in capture_nodes.get(node, ()):
                targets[node, output_nr] = grad[output_nr] if type(grad) is list else grad
            if not fired:
                continue
        try:
            if hooks is not None:
                grad = run_pre_hooks(node, run_tensor_hooks(node, grad, recorded), recorded)
            silent = grad is None and not node._runs_undefined
            grad_inputs = (None,) * len(node._edges) if silent else node._vjp(grad, recorded)
            if hooks is not None and hooks.post:
                if needed is not None and not node._runs_undefined:  # hooks see nothing that nobody asked for
                    parts = zip(node._edges, grad_inputs, strict=True)
                    grad_inputs = tuple(g if p in needed or p in capture_nodes else None for p, g in parts)
                grad_inputs = run_post_hooks(node, grad_inputs, grad, recorded)
        except Exception:
            if watched:
                anomaly_mode.warn_of(node)
            raise
        if not grad_inputs:  # of a leaf: there is nothing to hand on
            continue
        if node._frees and not retain_graph:
            node._kept = None
        if watched:
            anomaly_mode.refuse_nan(node, grad_inputs)

        for parent, part, output_nr in zip(node._edges, grad_inputs, node._input_nrs or ZEROS):  # noqa: B905
            if parent is None:
                continue
            if parent._output_count == 1:
                before = arrived.pop(parent, None)
                if before is None:
                    pass
                elif part is None:
                    part = before
                elif recorded:
                    part = before + part
                elif parent in own:
                    before += part
                    part = before
                else:
                    part = add(before, part, out=...)
                    if part.ndim:  # NumPy makes a single number anew more quickly than it adds to one
                        own.add(parent)
            else:
                put(arrived, parent, output_nr, part)
                part = arrived.pop(parent)
            left = waiting[parent] - 1
            if left:
                waiting[parent] = left
                arrived[parent] = part
            elif needed is None or parent in needed or parent in capture_nodes:
                if type(parent) is AccumulateGrad:
                    leaves.append((parent, part))
                elif following is None and not ready:
                    following, its_grad = parent, part
                else:
                    if following is not None:
                        heappush(ready, (-following._sequence, ticket + 1, following, its_grad))
                        following = its_grad = None
                    heappush(ready, (-parent._sequence, ticket + 2, parent, part))
                    ticket += 2
        # nothing is held longer than needed, see AccumulateGrad._vjp
        node = grad = grad_inputs = part = before = None


def put(arrived: dict[Node, object], node: Node, output_nr: int, part) -> None:
    """Add one gradient to those that have arrived at output `output_nr` of `node`."""
    before = arrived.get(node)
    if part is None:
        arrived[node] = before  # None until a gradient arrives, also if it has several outputs
    elif node._output_count == 1:
        arrived[node] = part if before is None else before + part
    else:
        if before is None:
            before = arrived[node] = [None] * node._output_count
        before[output_nr] = part if before[output_nr] is None else before[output_nr] + part
