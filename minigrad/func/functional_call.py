"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..tensor import Tensor

__all__ = ["functional_call", "stack_module_state"]
NOTHING = object()


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
    if not isinstance(parameter_and_buffer_dicts, (dict, list, tuple)):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    one = isinstance(parameter_and_buffer_dicts, dict)
    dicts = [parameter_and_buffer_dicts] if one else parameter_and_buffer_dicts
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    every = [name for d in dicts for name in d]
    repeated = [name for name in dict.fromkeys(every) if every.count(name) > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    given: dict[str, Tensor] = {name: t for d in dicts for name, t in d.items()}
    for t in given.values():
        if not isinstance(t, Tensor):
            raise TypeError(f"{t} is not an instance of torch.Tensor")
    if strict:
        own = dict([*module.named_parameters(), *module.named_buffers()])
        lists = (
            ("Unexpected", [n for n in given if n not in own]),
            ("Missing", [n for n in own if n not in given]),
        )
        if any(names for _, names in lists):
            raise RuntimeError(
                f"Error(s) in reparametrizing for {type(module).__name__}:"
                + "".join(
                    f"\n\t{what} key(s): {', '.join(map(repr, names))}." for what, names in lists if names
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
            if len({id(given[n]) for n in chosen}) > 1:
                raise ValueError(
                    f"functional_call got multiple values for keys {chosen}, which are tied. Consider using tie_weights=False"
                )
            for n in same:
                if chosen and n not in names:
                    names[n] = given[chosen[0]]
    before = []
    try:
        for name, t in names.items():
            *path, last = name.split(".")
            owner = module
            for part in path:
                if not hasattr(owner, part):
                    raise AttributeError(f"{type(owner).__name__} has no attribute `{part}`")
                owner = getattr(owner, part)
            stores = (owner._parameters, owner._buffers)
            store = next(
                (s for s in stores if last in s), owner.__dict__
            )  # a new name is an attribute for the call
            before.append((store, last, store.get(last, NOTHING)))
            store[last] = t
        yield
    finally:
        for store, last, t in reversed(before):
            if t is NOTHING:
                del store[last]
            else:
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
            if len({c[name].requires_grad for c in columns}) > 1:
                raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
            t = stack([c[name].detach() for c in columns])
            out[name] = t.requires_grad_() if columns[0][name].requires_grad else t
        stacked.append(out)
    return stacked[0], stacked[1]
