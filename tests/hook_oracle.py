"""What a framework's own hooks see of a backward pass: everything that viz shows is compared with this."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Fired:
    """What hooks of the framework itself saw at one node."""

    name: str
    receives: list[np.ndarray | None]
    sends: list[np.ndarray | None]
    grads: dict[str, np.ndarray | None] = field(default_factory=dict)


def numbers(tensor: Any) -> np.ndarray | None:
    """A copy of the numbers: a sparse tensor as a dense one, a nested one as rows padded with zeros."""
    if tensor is None:
        return None
    tensor = tensor.detach()
    if getattr(tensor, "is_nested", False):
        rows = [row.numpy() for row in tensor.unbind()]
        padded = np.zeros((len(rows), *np.max([row.shape for row in rows], axis=0)), rows[0].dtype)
        for into, row in zip(padded, rows, strict=True):
            into[tuple(map(slice, row.shape))] = row
        return padded
    if getattr(tensor, "is_sparse", False):
        tensor = tensor.to_dense()
    if "bfloat16" in str(tensor.dtype):
        tensor = tensor.float()
    torch = hasattr(tensor, "resolve_conj")
    return np.array(tensor.numpy(force=True) if torch else tensor.numpy())  # works for a lazy tensor, too


def seen_by_hooks(result: Any, leaves: dict, given: list | None = None) -> list[Fired]:
    """What hooks see of a pass from one result, or from several with the gradients ``given``; no code of viz runs here."""
    fired: list[Fired] = []
    receives: dict[Any, list] = {}

    def watch(node: Any) -> Callable:
        def before(received):
            receives[node] = [*map(numbers, received)]

        def after(sent, received):
            grads = {name: numbers(leaf.grad) for name, leaf in leaves.items()}
            fired.append(Fired(node.name(), receives.pop(node), [*map(numbers, sent)], grads))

        node.register_prehook(before)
        return after

    results = result if isinstance(result, list) else [result]
    seen, stack = set(), [r.grad_fn for r in results]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        node.register_hook(watch(node))
        stack += [target for target, _ in node.next_functions if target is not None]
    framework = next(
        c for c in reversed(type(results[0]).__mro__) if hasattr(c, "backward")
    ).__module__.split(".")[0]
    sys.modules[framework].autograd.backward(results, given)
    return fired


def assert_shown(data: Mapping, true: list[Fired]) -> None:
    """Each number of a payload is the one that the hooks saw, in their order."""
    assert [step["name"] for step in data["steps"]] == [one.name.rsplit("::")[-1] for one in true]
    for step, one in zip(data["steps"], true, strict=True):
        where = f"step {step['name']} of {step['tensor']}"
        for shown, array in zip(step["totals"] or [step["total"]], one.receives, strict=True):
            same(shown, array, where)
        for sent, array in zip(step["outgoing"], one.sends, strict=False):
            if sent["reason"] is None:
                same(sent["value"], array, f"{where}, to {sent['input']}")
        if step["accumulate"]:
            same(step["accumulate"]["after"], one.grads[step["accumulate"]["leaf"]], where)


def same(shown: Mapping | None, true: np.ndarray | None, where: str) -> None:
    assert (shown is None) is (true is None), where
    if shown is None:
        return
    assert shown["shape"] == list(true.shape), where
    if true.dtype.kind == "c":
        for part, of_it in zip(shown["parts"], (true.real, true.imag), strict=True):
            same(part, of_it, where)
    elif "values" in shown:
        np.testing.assert_allclose(np.array(shown["values"], float), true.ravel(), 1e-5, 1e-7, err_msg=where)
    else:  # too many to be sent one by one
        extremes = [true.min(), true.max()]
        np.testing.assert_allclose([shown["min"], shown["max"]], extremes, 1e-5, 1e-7, err_msg=where)
