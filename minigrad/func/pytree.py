"""Nested tuples, lists and dictionaries of tensors: taken apart into their leaves and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor

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


def tensors_in(tree: Any) -> list[Tensor]:
    """The tensors among the leaves."""
    return [leaf for leaf in flatten(tree)[0] if isinstance(leaf, Tensor)]


def broadcast_prefix(prefix: Any, tree: Any) -> list | None:
    """One entry of `prefix` for each leaf of `tree`; `prefix` may stop early. None if the structures do not fit."""
    if not is_container(prefix):
        return [prefix] * len(flatten(tree)[0])
    if type(prefix) is not type(tree) or len(prefix) != len(tree):
        return None
    if isinstance(prefix, dict):
        if set(prefix) != set(tree):
            return None
        pairs = [(prefix[k], tree[k]) for k in tree]
    else:
        pairs = list(zip(prefix, tree, strict=True))
    out = []
    for p, t in pairs:
        found = broadcast_prefix(p, t)
        if found is None:
            return None
        out += found
    return out


def is_container(tree: Any) -> bool:
    return isinstance(tree, (tuple, list, dict))


def spec(tree: Any, indent: int = 0) -> str:
    """The structure of a tree as PyTorch's messages tell it: TreeSpec(tuple, None, [*])."""
    if not is_container(tree):
        return "*"
    children = list(tree.values()) if isinstance(tree, dict) else list(tree)
    context = list(tree) if isinstance(tree, dict) else type(tree) if hasattr(tree, "_fields") else None
    name = "namedtuple" if hasattr(tree, "_fields") else type(tree).__name__
    indent += 2
    between = ",\n" + " " * indent
    return f"TreeSpec({name}, {context}, [{between.join(spec(child, indent) for child in children)}])"


class Star:
    """A leaf in the picture of a structure."""

    def __repr__(self) -> str:
        return "*"


def picture(tree: Any) -> str:
    """The structure of a tree with a star for each leaf: (*, {'a': *})."""
    return repr(tree_map(lambda leaf: Star(), tree))
