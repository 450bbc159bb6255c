"""Nested tuples, lists and dictionaries of tensors: taken apart into their leaves and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rebuild = Callable[[list], Any]


def flatten(tree: Any) -> tuple[list, Rebuild]:
    """(leaves, rebuild): `rebuild(new_leaves)` gives the same structure around other leaves."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return flatten_children(list(tree), lambda parts: type(tree)(*parts))
    if isinstance(tree, (tuple, list)):
        return flatten_children(list(tree), type(tree))
    if isinstance(tree, dict):
        keys = list(tree)
        return flatten_children(
            [tree[k] for k in keys], lambda parts: type(tree)(zip(keys, parts, strict=True))
        )
    return [tree], lambda leaves: leaves[0]


def flatten_children(children: list, build: Callable[[list], Any]) -> tuple[list, Rebuild]:
    parts = [flatten(child) for child in children]
    leaves = [leaf for own, _ in parts for leaf in own]

    def rebuild(new: list) -> Any:
        out, start = [], 0
        for own, rebuild_child in parts:
            out.append(rebuild_child(new[start : start + len(own)]))
            start += len(own)
        return build(out)

    return leaves, rebuild


def tree_map(fn: Callable, tree: Any) -> Any:
    """The same structure with `fn` applied to each leaf."""
    leaves, rebuild = flatten(tree)
    return rebuild([fn(leaf) for leaf in leaves])


def broadcast_prefix(prefix: Any, tree: Any) -> list | None:
    """One entry of `prefix` for each leaf of `tree`; `prefix` may stop early. None if the structures do not fit."""
    if prefix is None or isinstance(prefix, int):
        return [prefix] * len(flatten(tree)[0])
    if isinstance(prefix, dict):
        if not isinstance(tree, dict) or set(prefix) != set(tree):
            return None
        keys = list(tree)
        pairs = [(prefix[k], tree[k]) for k in keys]
    elif isinstance(prefix, (tuple, list)):
        if not isinstance(tree, (tuple, list)) or len(prefix) != len(tree):
            return None
        pairs = list(zip(prefix, tree, strict=True))
    else:
        return None
    out = []
    for p, t in pairs:
        found = broadcast_prefix(p, t)
        if found is None:
            return None
        out += found
    return out
