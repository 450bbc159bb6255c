"""The backward pass: one loop that fires the nodes of a graph in PyTorch's order.

A node is fired once, after the gradients of all its consumers have arrived and been added up. Among the nodes
that are ready the newest goes first, and AccumulateGrad goes before all others. The walk is a loop with a
queue, not a recursion, so a chain of a million nodes is no deeper than one of three.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from heapq import heappop, heappush
from operator import attrgetter

from .grad_mode import refuse_nan, warn_of
from .hooks import Needed, run_with_hooks, take_captured
from .modes import anomaly, local, settle, special
from .node import ZEROS, Node

Root = tuple[Node, int, object]  # a node, the number of its output, the gradient that arrives there
Roots = Sequence[Root]
Captures = dict[tuple[Node, int], object]  # for a node and the number of its output: the gradient there
Nodes = Collection[Node]
AGE = attrgetter("_sequence")


def execute(roots: Roots, retain: bool, create: bool, captures: Captures | None, last: Nodes = ()) -> None:
    """Run a whole backward pass.

    retain: keep the saved tensors. create: record the pass, so that the gradients can be differentiated.
    captures: if given, only nodes on a path to one of these (node, output number) are fired, and the gradient
        that arrives there is put into this dictionary. The nodes in `last` are fired too.
    """
    before = local.modes
    recorded = bool(create) or before.interpreter is not None
    dependencies, needed = count_dependencies(roots), None
    if captures is not None:
        needed = dict.fromkeys([node for node, _ in captures if node in dependencies], False)
        needed.update(dict.fromkeys(nodes_leading_to(captures, last, dependencies), True))
    try:
        if recorded:
            local.update(grad=bool(create))
        walk(roots, dependencies, retain, recorded, needed, captures)
    finally:
        if local.modes is not before:  # a mode that a hook entered and did not leave ends with the pass
            local.modes = before
            settle()


def walk(
    roots: Roots,
    dependencies: dict[Node, int],
    graph_is_kept: bool,
    recorded: bool,
    needed: Needed | None = None,
    captures: Captures | None = None,
) -> None:
    """Fire the nodes behind `roots`, each once, when all its gradients have arrived.

    Ready nodes wait in a heap: the newest first (highest sequence number), AccumulateGrad before all, ties by
    arrival. dependencies: how many gradients each node waits for. recorded: gradients are Tensors and the
    rules' operations are recorded; else they are plain arrays. needed, captures: see `execute`.
    """
    arrived, ready, turn = {}, [], itertools.count()

    for node, output_nr, grad in roots:
        arrived[node] = added(arrived.get(node), grad, node, output_nr)
    for node in arrived:
        if not dependencies[node] and (needed is None or node in needed):
            heappush(ready, (-node._sequence, next(turn), node))

    while ready:
        node = heappop(ready)[-1]
        grad = arrived.pop(node)
        if needed is not None:
            grad = take_captured(node, grad, recorded, captures, needed)
            if not needed[node]:
                continue
        grads = fire(node, grad, recorded, needed)
        if node._frees and not graph_is_kept:
            node._release()
        for parent, output_nr, part in zip(node._next_nodes, node._output_nrs or ZEROS, grads):  # noqa: B905
            if parent is None or (needed is not None and parent not in needed):
                continue
            if parent in arrived or parent._output_count > 1:
                part = added(arrived.get(parent), part, parent, output_nr)
            arrived[parent] = part
            dependencies[parent] -= 1
            if not dependencies[parent]:
                heappush(ready, (-parent._sequence, next(turn), parent))


def fire(node: Node, grad: object, recorded: bool, needed: Needed | None) -> Sequence:
    """Run one node: the hooks on the tensors that it made, its prehooks, its rules, its own hooks."""
    try:
        plain = node._hooks is None and grad is not None
        grads = node._vjp(grad, recorded) if plain else run_with_hooks(node, grad, recorded, needed)
    except Exception:
        if anomaly.on:
            warn_of(node)
        raise
    if special and anomaly.on:
        refuse_nan(node, grads)
    return grads


def added(before: object, part: object, node: Node, output_nr: int) -> object:
    """The gradient that has arrived at a node so far: a sum, or a list of sums if it has several outputs."""
    if node._output_count == 1:
        return part if before is None else before if part is None else before + part
    if part is not None:
        before = before or [None] * node._output_count
        before[output_nr] = part if before[output_nr] is None else before[output_nr] + part
    return before


def count_dependencies(roots: Roots) -> dict[Node, int]:
    """For each node that can be reached: how many gradients it waits for."""
    dependencies: dict[Node, int] = {node: 0 for node, _, _ in roots}
    reached = list(dependencies)
    for node in reached:  # the list grows during the loop
        for parent in node._next_nodes:
            if parent in dependencies:
                dependencies[parent] += 1
            elif parent is not None:
                dependencies[parent] = 1
                reached.append(parent)
    return dependencies


def nodes_leading_to(ends: Collection, last: Nodes, reachable: dict[Node, int]) -> set[Node]:
    """The nodes that must be fired so that a gradient reaches one of the (node, output number) in `ends`."""
    fired = {node for node in last if node in reachable}
    leading = fired | {node for node, _ in ends}
    for node in sorted(reachable, key=AGE):  # each is younger than the nodes that it sends gradients to
        if not leading.isdisjoint(node._next_nodes):
            fired.add(node)
            leading.add(node)
    return fired
