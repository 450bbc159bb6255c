"""What a backward pass finds out before it starts: how many gradients each node waits for, which nodes it needs."""

from __future__ import annotations

from collections.abc import Sequence

from .node import Node

Root = tuple[Node, int, object]  # a node, the number of its output, the gradient that arrives there
Targets = dict[tuple[Node, int], object]  # for a node and the number of its output: that gradient


def count_dependencies(roots: Sequence[Root]) -> dict[Node, int]:
    """For each node that can be reached: how many gradients it will have to wait for."""
    waiting: dict[Node, int] = {}
    for node, _, _ in roots:
        waiting[node] = 0
    found = list(waiting)
    for node in found:  # which grows meanwhile
        for parent in node._edges:
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
        for parent in node._edges:
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
