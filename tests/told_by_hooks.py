"""What the hooks of a framework itself tell of a backward pass: against this all that viz shows is compared."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Fired:
    """What a hook of the framework itself saw at one node."""

    name: str
    receives: list[np.ndarray | None]
    sends: list[np.ndarray | None]
    grads: dict[str, np.ndarray | None] = field(default_factory=dict)


def told_by_hooks(result: Any, leaves: dict, given: list | None = None) -> list[Fired]:
    """The pass as it is, from one result or, with the gradients ``given``, from several: no code of viz runs here."""
    fired: list[Fired] = []

    def copies(values: Any) -> list:
        return [None if v is None else np.array(v.detach().numpy()) for v in values]

    def watch(node: Any) -> Callable:
        def hook(sent, received):
            grads = {
                name: None if leaf.grad is None else leaf.grad.detach().numpy().copy()
                for name, leaf in leaves.items()
            }
            fired.append(Fired(node.name(), copies(received), copies(sent), grads))

        return hook

    results = result if isinstance(result, list) else [result]
    seen, stack = set(), [r.grad_fn for r in results]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        node.register_hook(watch(node))
        stack += [target for target, _ in node.next_functions if target is not None]
    sys.modules[type(results[0]).__module__.split(".")[0]].autograd.backward(results, given)
    return fired
