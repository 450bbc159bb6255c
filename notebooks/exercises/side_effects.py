"""What a learner's function does besides returning something: `with unchanged(x=x, model=model): ...`.

Tensors, modules and lists that were passed in are compared before and after. A change that the exercise does not ask
for becomes a Complaint: values written to, a gradient left in `.grad`, a flag switched, a hook or `eval()` left behind,
a changed item in a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import minigrad as torch
from minigrad.autograd import engine

from .model import Complaint
from .replies import say
from .values import describe

VALUES, GRAD, ASKS, HOOKS, MODE, ITEMS = "values", "grad", "asks", "hooks", "mode", "items"
ALL = frozenset({VALUES, GRAD, ASKS, HOOKS, MODE, ITEMS})
Kinds = frozenset[str] | set[str]


class Fact(NamedTuple):
    """One thing that a call can change: its kind, its name, its earlier value."""

    kind: str
    name: str
    value: Any


class Watch:
    """Records the state of `things` (by name) when it is made, and says later what a call has changed.

    may: for some of the names, the kinds of change that are part of the exercise, such as {"w": {VALUES, GRAD}}.
    """

    def __init__(self, may: Mapping[str, Kinds] | None = None, **things: Any):
        self._things, self._may = things, may or {}
        self._before = {name: list(_facts(name, thing)) for name, thing in things.items()}

    def first_change(self, kinds: Kinds = ALL) -> str:
        """The first change of these kinds that is not part of the exercise, in words; "" if there is none."""
        for name, before in self._before.items():
            now = {(fact.kind, fact.name): fact.value for fact in _facts(name, self._things[name])}
            for fact in sorted(before, key=lambda fact: fact.kind != ITEMS):
                allowed = fact.kind in self._may.get(name, ()) or fact.kind not in kinds
                if not allowed and not _same(fact.value, now.get((fact.kind, fact.name))):
                    return _said(fact, now.get((fact.kind, fact.name)))
        return ""

    def complain(self, kinds: Kinds = ALL) -> None:
        """Raise a Complaint if there is such a change."""
        if change := self.first_change(kinds):
            raise Complaint(change)


@contextmanager
def unchanged(may: Mapping[str, Kinds] | None = None, **things: Any) -> Iterator[None]:
    """Raise a Complaint if the block changes one of `things` in a way that `may` does not allow."""
    watch = Watch(may, **things)
    yield
    watch.complain()


def _facts(name: str, thing: Any, depth: int = 0) -> Iterator[Fact]:
    if isinstance(thing, torch.Tensor):
        yield Fact(VALUES, name, _numbers(thing))
        yield Fact(GRAD, name, _numbers(thing.grad) if thing.is_leaf or thing.retains_grad else None)
        yield Fact(ASKS, name, thing.requires_grad)
        yield Fact(HOOKS, name, _hooks(thing))
    elif isinstance(thing, torch.nn.Module):
        for path, module in thing.named_modules():
            called = f"{name}.{path}" if path else name
            yield Fact(MODE, called, module.training)
            yield Fact(HOOKS, called, _hooks(module))
        for path, parameter in thing.named_parameters():
            yield from _facts(f"{name}.{path}", parameter, depth + 1)
    elif isinstance(thing, np.ndarray):
        yield Fact(VALUES, name, thing.copy())
    elif isinstance(thing, list | tuple | dict) and depth < 3:
        items = list(thing.values()) if isinstance(thing, dict) else list(thing)
        yield Fact(ITEMS, name, items)
        for number, item in enumerate(items):
            yield from _facts(f"{name}[{number}]", item, depth + 1)


def _numbers(tensor: Any) -> Any:
    return None if tensor is None else np.array(tensor.detach().numpy())


def _hooks(thing: Any) -> int:
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    more = () if isinstance(thing, torch.nn.Module) else ("_post_accumulate_grad_hooks",)
    return sum(len(getattr(thing, kind, None) or ()) for kind in (*kinds, *more))


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, np.ndarray) and isinstance(now, np.ndarray):
        return before.shape == now.shape and bool(np.array_equal(before, now, equal_nan=True))
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(one is other for one, other in zip(before, now, strict=True))
    return type(before) is type(now) and before == now


def _said(fact: Fact, now: Any) -> str:
    name = fact.name
    if fact.kind == VALUES:
        return say("in place", name=name, before=describe(fact.value, 40), now=describe(now, 40))
    if fact.kind == GRAD:
        if now is None:
            return f"Your function clears `{name}.grad`. The caller still needs that gradient."
        return (
            f"Your function leaves a gradient in `{name}.grad`: call it twice, or train afterwards, and the two add up. "
            "`torch.autograd.grad(...)` returns a gradient and fills nothing."
        )
    if fact.kind == ASKS:
        does = "asks for a gradient" if now else "no longer asks for a gradient"
        return f"After the call `{name}` itself {does}: that was set in place, and the caller doesn't know. Work on a copy."
    if fact.kind == HOOKS:
        if (now or 0) < fact.value:
            return (
                f"Your function removes hooks from `{name}` that it did not put there. Remove only "
                "your own, by the handle that you got when you registered it."
            )
        return (
            f"Your function leaves a hook on `{name}`. It would be called in every later pass: remove it by its "
            "handle, `handle.remove()`."
        )
    if fact.kind == MODE:
        mode = "eval" if fact.value else "train"
        back = "train" if fact.value else "eval"
        return f"`{name}` is left in {mode} mode, and the caller doesn't know. Put it back at the end: `{back}()`."
    return f"Your function changes the list `{name}`: it now holds different items. Use the caller's list as it is."


@contextmanager
def counted_passes() -> Iterator[list[None]]:
    """Note each backward pass that runs in the block: the returned list gets one entry for each."""
    passes: list[None] = []
    walk = engine.walk

    def noted(*arguments: Any, **more: Any) -> None:
        passes.append(None)
        walk(*arguments, **more)

    engine.walk = noted
    try:
        yield passes
    finally:
        engine.walk = walk
