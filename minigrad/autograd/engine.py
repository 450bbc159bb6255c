"""The backward pass: one loop that fires the nodes of a graph in PyTorch's order.

A node is fired once, after the gradients of all its consumers have arrived and been added up. Among the nodes that are
ready the newest goes first, except that AccumulateGrad goes before everything. The walk is a loop with a queue, never
recursion, so a chain of a million nodes is no deeper than one of three.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from heapq import heappop, heappush, heappushpop
from operator import attrgetter

from numpy import ndarray

from .anomaly import refuse_nan, warn_of
from .hooks import run_after, run_before, run_post_accumulate_hooks
from .modes import anomaly, local, set_grad
from .node import ZEROS, AccumulateGrad, Node

Root = tuple[Node, int, object]  # a node, the number of its output, the gradient that arrives there
Roots, Nodes = Sequence[Root], Collection[Node]
Targets = dict[tuple[Node, int], object] | None  # for a node and the number of its output: that gradient
AGE = attrgetter("_sequence")


class PartialPass(dict[Node, bool]):
    """The nodes of a pass that goes to some of them only: is the node fired, or is a gradient only taken from it?"""


def execute(roots: Roots, retain: bool, create: bool, targets: Targets = None, last: Nodes = ()) -> None:
    """Do a whole backward pass, recorded if `create` (see `walk` for the arguments)."""
    modes = local.__dict__  # the thread's own, looked up once
    recorded, before = create or modes["interpreter"] is not None, modes.copy()
    if recorded:
        set_grad(create)
    try:
        walk(roots, retain, recorded, targets, last)
    finally:  # a mode that was entered in a hook or a rule and not left does not outlive the pass
        modes["backward_pass"] = before["backward_pass"]
        if modes != before:
            local.update(**before)


def walk(roots: Roots, retain: bool, recorded: bool, targets: Targets, last: Nodes) -> None:
    """Walk back from `roots`.

    roots: (node, output number, gradient) of each tensor that the walk starts from.
    recorded: gradients are Tensors and the rules' operations are recorded (create_graph); else they are plain arrays.
    targets: if given, only nodes on a path to one of these (node, output number) are fired, and the gradient that
        arrives there is put into this dictionary. The nodes in `last` are fired, too, but nothing behind them alone.
    """
    waiting = local.backward_pass = count_dependencies(roots)
    wanted = None
    if targets is not None:
        ends = {n for n, _ in targets if n in waiting}
        wanted = local.backward_pass = PartialPass.fromkeys(ends, False)
        wanted.update(dict.fromkeys(nodes_leading_to(targets, last, waiting), True))
    arrived: dict[Node, object] = {}  # at nodes that wait for more
    own: set[Node] = set()  # nodes whose arrived gradient is a sum made here, which may be added to in place

    # Ready, with their gradients: leaves, which go first, in the order in which they became so; a heap of other nodes,
    # highest sequence number first; and the newest of those that became ready last, which often goes next.
    leaves: deque[tuple[AccumulateGrad, object]] = deque()
    ready: list[tuple[int, Node, object]] = []
    following, its_grad, watched = None, None, anomaly.on
    if len(roots) == 1 and roots[0][0]._output_count == 1:  # as nearly always
        following, _, its_grad = roots[0]
    else:
        for node, output_nr, grad in roots:
            arrive(arrived, node, output_nr, grad)
        for node in list(arrived):
            if not waiting[node]:
                if type(node) is AccumulateGrad:
                    leaves.append((node, arrived.pop(node)))
                else:
                    heappush(ready, (-node._sequence, node, arrived.pop(node)))
            elif node._output_count == 1:
                waiting[node] *= -1  # something has arrived there

    while True:
        if leaves:
            grad_inputs = part = before = None  # nothing else may hold the gradient, see AccumulateGrad._vjp
            node, grad = leaves.popleft()
            if wanted is None and node._hooks is None and node.variable._meta.post_hooks is None:
                node._vjp(grad, recorded)
                continue
        elif following is not None:
            node, grad = following, its_grad
            if ready:
                _, node, grad = heappushpop(ready, (-node._sequence, node, grad))
            following = its_grad = None
        elif ready:
            _, node, grad = heappop(ready)
        else:
            return
        hooks = node._hooks
        if wanted is not None:
            fires = wanted.get(node, False)
            if hooks is not None and not fires:
                grad = run_before(node, grad, recorded, fires=False)
            # If the node is fired, too, what is captured is the gradient before the hooks, as in PyTorch.
            for output_nr in range(node._output_count) if node in ends else ():
                if (node, output_nr) in targets:
                    targets[node, output_nr] = grad[output_nr] if type(grad) is list else grad
            if not fires:
                continue
        try:
            if hooks is not None:
                grad = run_before(node, grad, recorded, fires=True)
            known = grad is not None or node._runs_undefined
            grad_inputs = node._vjp(grad, recorded) if known else (None,) * len(node._edges)
            if type(node) is AccumulateGrad and node.variable._meta.post_hooks:
                run_post_accumulate_hooks(node.variable, recorded)
            if hooks is not None and hooks.post:
                if wanted is not None and not node._runs_undefined:  # hooks see nothing that nobody asked for
                    parts = zip(node._edges, grad_inputs, strict=True)
                    grad_inputs = tuple(g if p in wanted else None for p, g in parts)
                grad_inputs = run_after(node, grad_inputs, grad, recorded)
        except Exception:
            if watched:
                warn_of(node)
            raise
        if not grad_inputs:  # there is nothing to hand on
            continue
        if not retain and node._frees:
            node._kept = None
        if watched:
            refuse_nan(node, grad_inputs)

        for parent, part, output_nr in zip(node._edges, grad_inputs, node._input_nrs or ZEROS):  # noqa: B905
            if parent is None:
                continue
            left = waiting[parent]
            if parent._output_count > 1:
                arrive(arrived, parent, output_nr, part)
                waiting[parent] = left = left - 1
                if left:
                    continue
                part = arrived.pop(parent)
            elif left != 1:
                if left > 1:  # the first of several; how many more there will be is counted up to 0
                    waiting[parent], arrived[parent] = 1 - left, part
                    continue
                if parent in own and part is not None:
                    arrived[parent] += part
                elif part is not None:
                    before = arrived[parent]
                    arrived[parent] = part if before is None else before + part
                    if type(before) is ndarray:
                        own.add(parent)
                if left != -1:
                    waiting[parent] = left + 1
                    continue
                part = arrived.pop(parent)
            if wanted is None or parent in wanted:
                if type(parent) is AccumulateGrad:
                    leaves.append((parent, part))
                elif following is None:
                    following, its_grad = parent, part
                else:
                    if following._sequence < parent._sequence:
                        parent, part, following, its_grad = following, its_grad, parent, part
                    heappush(ready, (-parent._sequence, parent, part))


def arrive(arrived: dict[Node, object], node: Node, output_nr: int, part: object) -> None:
    """Add one gradient to those that have arrived at output `output_nr` of `node`."""
    before = arrived.get(node)
    if part is None:
        arrived[node] = before  # None until a gradient arrives, also if it has several outputs
    elif node._output_count == 1:
        arrived[node] = part if before is None else before + part
    else:
        before = arrived[node] = before or [None] * node._output_count
        before[output_nr] = part if before[output_nr] is None else before[output_nr] + part


def count_dependencies(roots: Roots) -> dict[Node, int]:
    """For each node that can be reached: how many gradients it will have to wait for."""
    waiting: dict[Node, int] = {node: 0 for node, _, _ in roots}
    found = list(waiting)
    for node in found:  # which grows meanwhile
        for parent in node._edges:
            if parent in waiting:
                waiting[parent] += 1
            elif parent is not None:
                waiting[parent] = 1
                found.append(parent)
    return waiting


def nodes_leading_to(targets: Targets, last: Nodes, reachable: dict[Node, int]) -> set[Node]:
    """The nodes that have to be fired so that a gradient reaches one of `targets`."""
    needed = {node for node in last if node in reachable}
    ends = needed | {node for node, _ in targets}
    for node in sorted(reachable, key=AGE):  # each is younger than those that it hands gradients to
        if not ends.isdisjoint(node._edges):
            needed.add(node)
            ends.add(node)
    return needed
