"""What a framework knows about a tensor besides its graph: all of its examples inside vmap, its tangent in forward mode, the
node that accumulates into a leaf."""

from __future__ import annotations

import sys
from typing import Any

from .graph import framework, is_tensor
from .values import Value


def whole(tensor: Any) -> tuple[Any, tuple[int, int] | None]:
    """Inside vmap a tensor looks like one example and holds all of them: return the tensor of all examples, with their
    number and the axis that counts them. Any other tensor as it is."""
    batch = None
    while (inside := _all_examples(tensor)) is not None:
        tensor, axis = inside
        batch = int(tensor.shape[axis]), axis
    return tensor, batch


def _all_examples(tensor: Any) -> tuple[Any, int] | None:
    """Take one level off a batched tensor; None for any other tensor. minigrad's ``value`` and ``bdim`` are public;
    PyTorch has them only in the functions that functorch's tests use, so a version without those is taken as it is."""
    if getattr(tensor, "bdim", None) is not None and is_tensor(getattr(tensor, "value", None)):
        return tensor.value, int(tensor.bdim)
    if not is_tensor(tensor):
        return None
    functorch = getattr(getattr(sys.modules.get(framework(tensor)), "_C", None), "_functorch", None)
    names = ("is_batchedtensor", "get_unwrapped", "maybe_get_bdim")
    if not all(hasattr(functorch, name) for name in names) or not functorch.is_batchedtensor(tensor):
        return None
    return functorch.get_unwrapped(tensor), int(functorch.maybe_get_bdim(tensor))


def tangent_of(tensor: Any) -> Value | None:
    """The tangent of a dual tensor while forward mode runs; None if there is none, or no forward mode at all."""
    forward_ad = sys.modules.get(f"{framework(tensor)}.autograd.forward_ad")
    if not hasattr(forward_ad, "unpack_dual"):
        return None
    tangent = forward_ad.unpack_dual(tensor).tangent
    return None if tangent is None else Value.small(tangent)


def accumulator(leaf: Any) -> Any:
    """The node that accumulates into a leaf, if the framework gives access to it (``autograd.graph.get_gradient_edge``)."""
    graph = sys.modules.get(f"{framework(leaf)}.autograd.graph")
    return graph.get_gradient_edge(leaf).node if hasattr(graph, "get_gradient_edge") else None
