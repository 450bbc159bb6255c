"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..tensor import Tensor

__all__ = ["functional_call", "stack_module_state"]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with these tensors in the place of its parameters and buffers of the same names.

    Raises ValueError for a name in two dictionaries, RuntimeError with `strict` for names that do not match.
    """
    dicts = (
        [parameter_and_buffer_dicts]
        if isinstance(parameter_and_buffer_dicts, dict)
        else parameter_and_buffer_dicts
    )
    given: dict[str, Tensor] = {}
    for one in dicts:
        repeated = given.keys() & one.keys()
        if repeated:
            raise ValueError(
                f"{sorted(repeated)[0]!r} appeared in multiple dictionaries; behavior of functional call is ambiguous"
            )
        given.update(one)
    if strict:
        own = {name for name, _ in module.named_parameters()} | {name for name, _ in module.named_buffers()}
        unexpected, missing = sorted(given.keys() - own), sorted(own - given.keys())
        if unexpected or missing:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(module).__name__}: "
                + "; ".join(
                    f"{what} key(s): {', '.join(map(repr, names))}"
                    for what, names in (("Unexpected", unexpected), ("Missing", missing))
                    if names
                )
            )
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, given, tie_weights):
        return module(*args, **(kwargs or {}))


@contextmanager
def replaced(module: Any, given: dict[str, Tensor], tie_weights: bool) -> Iterator[None]:
    """The module with other tensors under some names, until the block ends."""
    names = dict(given)
    if tie_weights:  # a tensor that is known by several names is replaced under all of them
        everywhere: dict[int, list[str]] = {}
        for name, t in [
            *module.named_parameters(remove_duplicate=False),
            *module.named_buffers(remove_duplicate=False),
        ]:
            everywhere.setdefault(id(t), []).append(name)
        for same in everywhere.values():
            chosen = [n for n in same if n in given]
            for n in same:
                if chosen and n not in names:
                    names[n] = given[chosen[0]]
    before = []
    try:
        for name, t in names.items():
            *path, last = name.split(".")
            owner = module
            for part in path:
                owner = getattr(owner, part)
            store = owner._parameters if last in owner._parameters else owner._buffers
            if last not in store:
                raise AttributeError(f"{type(owner).__name__} has no attribute `{last}`")
            before.append((store, last, store[last]))
            store[last] = t
        yield
    finally:
        for store, last, t in reversed(before):
            store[last] = t


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """(parameters, buffers) of several models of one class, each stacked along a new first dimension, for vmap."""
    from ..ops.joining import stack

    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    stacked = []
    for kind in ("named_parameters", "named_buffers"):
        columns = [dict(getattr(m, kind)()) for m in models]
        out = {}
        for name in columns[0]:
            t = stack([c[name].detach() for c in columns])
            out[name] = t.requires_grad_() if columns[0][name].requires_grad else t
        stacked.append(out)
    return stacked[0], stacked[1]
