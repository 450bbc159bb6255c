"""How much memory a graph keeps: the bytes of the tensors that its nodes have saved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..autograd.dependencies import count_dependencies
from ..autograd.node import Node
from ..tensor import Tensor


def saved_bytes(root: Tensor | Node, *, by_node: bool = False) -> int | list[tuple[Node, int]]:
    """How many bytes the saved tensors behind `root` keep alive.

    Memory that is shared counts once, at the first node that holds it; leaves (a parameter lives anyway) do not count.
    With `by_node`, a list of (node, bytes) in the order of a walk from `root`.
    """
    start = root.grad_fn if isinstance(root, Tensor) else root
    rows, counted = [], set()
    for node in count_dependencies([] if start is None else [(start, 0, None)]):
        total = 0
        for array in saved_arrays(node):
            while isinstance(array.base, np.ndarray):
                array = array.base
            if id(array) not in counted:
                counted.add(id(array))
                total += array.nbytes
        rows.append((node, total))
    return rows if by_node else sum(count for _, count in rows)


def saved_arrays(node: Node) -> Iterator[np.ndarray]:
    """The arrays that a node has saved, except those of leaves."""
    for value in getattr(node, "_kept", None) or ():
        value = getattr(value, "tensor", value)  # what a custom Function keeps
        value = getattr(value, "packed", value)  # what a saved_tensors_hook has made of it
        for held in getattr(value, "keeps", [value]):  # a checkpoint's note: what it computes the value from
            if isinstance(held, np.ndarray):
                yield held
            elif isinstance(held, Tensor) and (held._grad_fn is not None or not held._requires_grad):
                yield held._array
