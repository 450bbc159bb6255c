"""Running users' hooks during a backward pass: they see Tensors, whatever the engine computes with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..tensor import Tensor, wrap
from . import anomaly_mode
from .node import AccumulateGrad, Node, no_recording


def as_tensor(grad) -> Tensor | None:
    return grad if grad is None or isinstance(grad, Tensor) else wrap(grad)


def as_inner(grad: Tensor | None, recorded: bool):
    return grad if grad is None or recorded else grad._array


def run_tensor_hooks(node: Node, grad, recorded: bool):
    """Hooks on tensors, then retain_grad, which sees what they made of the gradient."""
    hooks = node.hooks
    if not hooks.tensor and not hooks.retain:
        return grad
    grads = grad if type(grad) is list else [grad]
    with no_recording(recorded):
        for output_nr, fns in sorted(hooks.tensor.items()):
            for fn in tuple(fns.values()):
                if grads[output_nr] is None:
                    break
                before = as_tensor(grads[output_nr])
                after = fn(before)
                if after is not None:
                    check_hook_result(before, after, fn)
                    grads[output_nr] = as_inner(after, recorded)
        for output_nr, ref in hooks.retain.items():
            t = ref()
            if t is None or grads[output_nr] is None:
                continue
            meta, new = t.meta(), as_tensor(grads[output_nr])
            if meta.grad is None:
                meta.grad = new if recorded else wrap(np.array(new._array))
            else:
                meta.grad = meta.grad + new
    return grads if type(grad) is list else grads[0]


def check_hook_result(before: Tensor, after: object, hook: Callable) -> None:
    """What a hook returns must fit where the gradient it replaces fitted."""
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(after, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(after).__name__}'")
    if after._array.shape != before._array.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")
    if after._array.dtype != before._array.dtype:
        was, got = before.dtype.tensor_type, after.dtype.tensor_type
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {was} got {got})")


def run_pre_hooks(node: Node, grad, recorded: bool):
    """Node.register_prehook: sees all output gradients and may replace them."""
    if not node.hooks.pre:
        return grad
    several = type(grad) is list
    grads = tuple(as_tensor(g) for g in (grad if several else [grad]))
    with no_recording(recorded):
        for fn in tuple(node.hooks.pre.values()):
            grads = replaced(fn(grads), grads, fn)
    inner = [as_inner(g, recorded) for g in grads]
    return inner if several else inner[0]


def run_post_hooks(node: Node, grad_inputs: tuple, grad, recorded: bool) -> tuple:
    """Node.register_hook: sees what went in and what came out, and may replace the latter."""
    grad_outputs = tuple(as_tensor(g) for g in (grad if type(grad) is list else [grad]))
    results = tuple(as_tensor(g) for g in grad_inputs)
    with no_recording(recorded):
        for fn in tuple(node.hooks.post.values()):
            results = replaced(fn(results, grad_outputs), results, fn)
    return tuple(as_inner(g, recorded) for g in results)


def replaced(new, old: tuple, hook: Callable) -> tuple:
    """What a node hook returned in the place of `old`; None leaves it."""
    if new is None:
        return old
    new = new if isinstance(new, tuple) else (new,)
    if len(new) != len(old):
        raise RuntimeError(
            f"hook 'hook' has returned an incorrect number of values (got {len(new)}, but expected {len(old)})"
        )
    for before, after in zip(old, new, strict=True):
        if before is not None and after is not None:
            check_hook_result(before, after, hook)
    return new


def refuse_nan(node: Node, grad_inputs: tuple) -> None:
    """Anomaly mode: the first node that makes a NaN is named, with the line that recorded it."""
    if type(node) is not AccumulateGrad:
        anomaly_mode.report_nan(node, [as_tensor(g) for g in grad_inputs])
