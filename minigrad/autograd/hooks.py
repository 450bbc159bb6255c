"""Hooks in a backward pass.

For each node, the hooks on the tensors that it made are called, then its own prehooks, the node itself and
its own hooks. They see Tensors, whatever the engine computes with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from .. import messages
from ..basics import check
from ..tensor import Tensor, wrap
from .grad_mode import set_grad_enabled
from .node import AccumulateGrad, Node

# The nodes of a pass that visits only some: whether each is fired, or only its gradient is taken.
Needed = dict[Node, bool]


def as_tensors(grads: Iterable) -> list[Tensor | None]:
    """Gradients as hooks see them, whatever the engine computes with."""
    return [g if g is None or isinstance(g, Tensor) else wrap(g) for g in grads]


def as_computed(grads: Iterable[Tensor | None], recorded: bool) -> tuple:
    """Gradients as the engine computes with them: Tensors if the pass is recorded, else arrays."""
    return tuple([g if g is None or recorded else g._array for g in grads])


def of_outputs(node: Node, grad: object) -> list[Tensor | None]:
    """The gradient that has arrived at a node, as a sequence with one for each of its outputs."""
    return as_tensors(grad if type(grad) is list else [grad] * node._output_count)


def run_with_hooks(node: Node, grad: object, recorded: bool, needed: Needed | None) -> Sequence:
    """Run a node that has hooks, or one that no gradient has reached."""
    hooks = node._hooks
    if hooks is not None:
        grad = run_before(node, grad, recorded, fires=True)
    runs = grad is not None or node._runs_undefined
    grads = node._vjp(grad, recorded) if runs else (None,) * len(node._next_nodes)
    if type(node) is AccumulateGrad and node.variable._meta.post_hooks:
        run_post_accumulate_hooks(node.variable, recorded)
    if hooks is not None and hooks.post:
        gives_all = node._runs_undefined or (node._op and node._op.variadic)  # whatever was requested
        if needed is not None and not gives_all:
            grads = [g if n in needed else None for n, g in zip(node._next_nodes, grads, strict=True)]
        received = tuple(of_outputs(node, grad))
        with set_grad_enabled(recorded):
            grads = as_computed(run_node_hooks(hooks.post, as_tensors(grads), received), recorded)
    return grads


def take_captured(node: Node, grad: object, recorded: bool, captures: dict, needed: Needed) -> object:
    """Put the gradient of a node into `captures`, if it was requested. As in PyTorch, this happens before all
    hooks if the node is fired too, else after those on its tensors. Returns the gradient."""
    if node._hooks is not None and not needed[node]:
        grad = run_before(node, grad, recorded, fires=False)
    for output_nr in range(node._output_count):
        if (node, output_nr) in captures:
            captures[node, output_nr] = grad[output_nr] if type(grad) is list else grad
    return grad


def run_before(node: Node, grad: object, recorded: bool, fires: bool) -> object:
    """The hooks on the tensors that the node made, then retain_grad, which sees the gradient that they
    return; then, if the node fires, its prehooks. Returns the gradient after all of them."""
    hooks = node._hooks
    if not (hooks.tensor or hooks.retain or (fires and hooks.pre)):
        return grad
    grads = of_outputs(node, grad)
    with set_grad_enabled(recorded):
        for output_nr, fns in tuple(hooks.tensor.items()):
            for fn in tuple(fns.values()):
                grads[output_nr] = replaced(grads[output_nr], fn(grads[output_nr]), fn)
        for output_nr, ref in hooks.retain.items():
            t, new = ref(), grads[output_nr]
            if t is not None and new is not None:
                meta, own = t._own_meta(), new if recorded else wrap(np.array(new._array, order="C"))
                meta.grad = own if meta.grad is None else meta.grad + own
        if fires:
            grads = run_node_hooks(hooks.pre, grads)
    result = as_computed(grads, recorded)
    return list(result) if len(result) > 1 and any(g is not None for g in result) else result[0]


def run_node_hooks(hooks: Mapping[int, Callable], grads: Iterable[Tensor | None], *more: tuple) -> tuple:
    """Call each hook with `grads` and `more`; what it returns replaces `grads`."""
    grads = tuple(grads)
    for fn in tuple(hooks.values()):
        new = fn(grads, *more)
        if new is None:
            continue
        check(isinstance(new, tuple), "expected tuple, but hook returned '{}'", type(new), error=TypeError)
        check(len(new) == len(grads), messages.HOOK_COUNT, name_of(fn), len(new), len(grads))
        grads = tuple([g if g is None else replaced(old, g, fn) for old, g in zip(grads, new, strict=True)])
    return grads


def run_post_accumulate_hooks(variable: Tensor, recorded: bool) -> None:
    """Call the hooks of a leaf to which a gradient has been added. They must return nothing."""
    with set_grad_enabled(recorded):
        for fn in tuple(variable._meta.post_hooks.values()):
            same = replaced(variable, fn(variable), fn) is variable
            check(same, "Tensor post accumulate grad hooks should return None.")


def replaced(before: Tensor | None, after: object, hook: Callable) -> Tensor | None:
    """The gradient after a hook: what it returned, which must fit, or the old one if it returned None."""
    if after is None:
        return before
    check(isinstance(after, Tensor), messages.HOOK_RESULT, type(after), error=TypeError)
    check(before is not None, "can't replace a None gradient with a non-None value")
    old, new = before._array, after._array
    check(new.shape == old.shape, "hook '{}' has changed the size of value", name_of(hook))
    check(new.dtype == old.dtype, messages.HOOK_TYPE, name_of(hook), before.dtype, after.dtype)
    return after


def name_of(hook: Callable) -> str:
    return getattr(hook, "__name__", "<unknown>")
