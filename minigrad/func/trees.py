"""Nested tuples, lists and dictionaries of tensors, and modules as functions of a dictionary of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..basics import check
from ..ops.shape import stack
from ..tensor import Tensor

Named = dict[str, Tensor]


def tree_map(fn: Callable, tree: Any) -> Any:
    """The same structure with `fn` applied to each leaf."""
    if isinstance(tree, dict):
        return type(tree)((k, tree_map(fn, part)) for k, part in tree.items())
    if not isinstance(tree, (tuple, list)):
        return fn(tree)
    parts = [tree_map(fn, part) for part in tree]
    return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)


def flattened(tree: Any) -> tuple[list, Callable[[Iterable], Any]]:
    """(leaves, rebuild): `rebuild(new_leaves)` gives the same structure around other leaves."""
    leaves: list = []
    marks = tree_map(leaves.append, tree)

    def rebuild(new: Iterable) -> Any:
        new = iter(new)
        return tree_map(lambda _: next(new), marks)

    return leaves, rebuild


def spread(given: Any, tree: Any) -> list | None:
    """One value per leaf of `tree`: `given` has the same structure, or one value for a whole branch. None if neither."""
    if not isinstance(given, (tuple, list, dict)):
        return [given] * len(flattened(tree)[0])
    given, tree = (dict(enumerate(x)) if isinstance(x, (tuple, list)) else x for x in (given, tree))
    if not isinstance(tree, dict) or given.keys() != tree.keys():
        return None
    parts = [spread(given[key], tree[key]) for key in tree]
    return None if None in parts else [leaf for part in parts for leaf in part]


def structure(tree: Any) -> str:
    """How tuples, lists and dictionaries are nested, as text: `(*, [*, *])`."""
    return repr(tree_map(lambda _: "*", tree)).replace("'*'", "*")


# ---------------------------------------------------------------- modules


def functional_call(
    module: Any, parameter_and_buffer_dicts: Named | Sequence[Named], args: Any = None, kwargs: Any = None
) -> Any:
    """`module(*args, **kwargs)` with these tensors instead of its parameters and buffers of the same names.

    A tensor that the module knows by several names is replaced under all of them. As in PyTorch, names that the module
    lacks are ignored.
    """
    given = parameter_and_buffer_dicts
    given = given if isinstance(given, dict) else {name: t for part in given for name, t in part.items()}
    named = module.named_parameters, module.named_buffers
    own = {name: t for of in named for name, t in of(remove_duplicate=False)}
    new = {id(own[name]): t for name, t in given.items() if name in own}
    stores = [store for owner in module.modules() for store in (owner._parameters, owner._buffers)]
    before = [(store, name, t) for store in stores for name, t in store.items() if id(t) in new]
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        for store, name, t in before:
            store[name] = new[id(t)]
        return module(*args, **(kwargs or {}))
    finally:
        for store, name, t in before:
            store[name] = t


def stack_module_state(models: Sequence[Any]) -> tuple[Named, Named]:
    """(parameters, buffers) of several models of one class, each stacked along a new first dimension, for vmap."""
    message, parts = "stack_module_state: Expected all models to have the same training/eval mode.", []
    check(len({m.training for m in models}) < 2, message)
    for kind in ("named_parameters", "named_buffers"):
        columns = [dict(getattr(m, kind)()) for m in models]
        alike = len({(type(m), *column) for m, column in zip(models, columns, strict=True)}) == 1
        check(alike, "stack_module_state(models): Expected all models to be of the same class.")
        parts.append({name: stack([c[name].detach() for c in columns]) for name in columns[0]})
        for name, t in columns[0].items():
            parts[-1][name].requires_grad_(t.requires_grad)
    return parts[0], parts[1]
