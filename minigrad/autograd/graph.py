"""Hooks that users attach to a graph: on tensors and on saved tensors.

hooks.py runs those on tensors in a backward pass; saved.py runs those on saved tensors.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable

from ..basics import check
from ..missing import module_attributes
from ..tensor import Tensor, wrap
from .grad_mode import Context
from .modes import Modes, local
from .node import Node, RemovableHandle, gradient_node

__all__ = ["Node", "save_on_cpu", "saved_tensors_hooks"]
__dir__, __getattr__ = module_attributes(__name__, __all__)
NO_GRADIENT = "cannot register a hook on a tensor that doesn't require gradient"


def retain_grad(self: Tensor) -> None:
    """Keep this result's gradient in `.grad` in later backward passes, as is done for leaves."""
    check(self.requires_grad, "can't retain_grad on Tensor that has requires_grad=False")
    meta = self._own_meta()
    if self._grad_fn is None and meta.creation_meta is not None:
        return  # a view made under no_grad counts as a leaf, whatever its base has become
    node = self.grad_fn
    if node is not None and not meta.retains_grad:
        meta.retains_grad = True
        node._own_hooks().retain[self._output_nr] = weakref.ref(self)


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Call `hook(grad)` in each backward pass with this tensor's whole gradient; a returned tensor replaces it."""
    check(self.requires_grad, NO_GRADIENT)
    node = self.grad_fn
    if node is not None:
        return RemovableHandle(node._own_hooks().tensor.setdefault(self._output_nr, OrderedDict()), hook)
    meta = self._own_meta()
    meta.hooks = OrderedDict() if meta.hooks is None else meta.hooks
    node = gradient_node(self)
    if node is not None:
        node._own_hooks().tensor[0] = meta.hooks
    return RemovableHandle(meta.hooks, hook)


def backward_hooks(self: Tensor) -> OrderedDict | None:
    """The hooks on this tensor's gradient, by id; None if it never had one."""
    node = self.grad_fn
    if node is None:
        return None if self._meta is None else self._meta.hooks
    return None if node._hooks is None else node._hooks.tensor.get(self._output_nr)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call `hook(leaf)` whenever a gradient has been added to this leaf's `.grad`."""
    check(self.requires_grad, NO_GRADIENT)
    check(self.grad_fn is None, "post accumulate grad hooks cannot be registered on non-leaf tensors")
    meta = self._own_meta()
    meta.post_hooks = OrderedDict() if meta.post_hooks is None else meta.post_hooks
    node = gradient_node(self)
    if node is not None:
        node._own_hooks()  # so that the engine checks them
    return RemovableHandle(meta.post_hooks, hook)


class saved_tensors_hooks(Context):
    """While active, `pack_hook(t)` decides what is kept of each saved tensor, and `unpack_hook` restores it.

    `unpack_hook(pack_hook(t))` must return a tensor with the content of t. Use it to store saved tensors elsewhere,
    compressed, or not at all (and recompute).
    """

    def __init__(self, pack_hook: Callable[[Tensor], object], unpack_hook: Callable[[object], Tensor]):
        self.hooks = (pack_hook, unpack_hook)

    def inside(self) -> Modes:
        message = "saved_tensors_hooks() takes two functions, pack_hook and unpack_hook"
        check(all(map(callable, self.hooks)), message, error=TypeError)
        return local.modes._replace(saved_hooks=(*local.saved_hooks, self.hooks))


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors as separate copies, as PyTorch does to move them off the GPU."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cpu"):
        super().__init__(lambda t: t._array.copy(), wrap)
