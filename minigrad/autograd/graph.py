"""What users attach to a graph or take from it: hooks on tensors and on saved tensors, edges to differentiate at.

hooks.py runs the hooks in a backward pass; saved.py those on saved tensors.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Sequence

from .. import messages
from ..basics import check
from ..missing import module_attributes
from ..tensor import Tensor, wrap
from .grad_mode import Context
from .hooks import Needed
from .modes import Modes, local
from .node import AccumulateGrad, Node, RemovableHandle, gradient_node

__all__ = ["GradientEdge", "Node", "get_gradient_edge", "register_multi_grad_hook"]
__all__ += ["save_on_cpu", "saved_tensors_hooks"]
__dir__, __getattr__ = module_attributes(__name__, __all__)
NO_GRADIENT = "cannot register a hook on a tensor that doesn't require gradient"
NO_NODE = "Expected gradient function to be set"  # for a tensor that was made in inference mode


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
    """Call `hook(grad)` in each backward pass with this tensor's whole gradient; what it returns replaces it."""
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


class Handles(RemovableHandle):
    """A handle that removes several hooks at once."""

    def __init__(self, handles: Sequence[RemovableHandle]):
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> Handles:
    """Call `fn` once per backward pass: with all gradients of `tensors` when they are there, or with the first.

    mode "all": `fn([grad or None, ...])` after the last of those gradients that this pass computes.
    mode "any": `fn(grad)` at the first one.
    """
    message = "Expects mode to be one of ('all', 'any') but got {}"
    check(mode in ("all", "any"), message, mode, error=ValueError)
    tensors = [t for t in tensors if mode == "all" or t.requires_grad]
    check(mode == "any" or None not in map(gradient_node, tensors), NO_NODE, error=AssertionError)
    # A result that is written to has a new node from then on; a leaf may have a new one in each pass.
    places = [weakref.ref(t if t.is_leaf else t.grad_fn) for t in tensors if mode == "all"]
    key = object()  # the key under which a pass keeps what belongs to this hook
    count = len(tensors)  # the hooks must not hold the tensors

    def collect(index: int, grad: Tensor | None) -> None:
        results = local.backward_pass.get(key)
        if results is None:  # the first: the pass remembers how many are still to come, and the gradients
            missing = 1 if mode == "any" else sum(map(will_get_gradient, places))
            results = local.backward_pass[key] = [missing, *[None] * count]
        results[0] -= 1
        results[1 + index] = grad
        if results[0] == 0:
            fn(grad if mode == "any" else results[1:])

    return Handles([t.register_hook(lambda g, i=i: collect(i, g)) for i, t in enumerate(tensors)])


def will_get_gradient(place: weakref.ref[Node | Tensor]) -> bool:
    """Whether this node, or this leaf's node, is part of the backward pass that is running."""
    node, running = place(), local.backward_pass
    if isinstance(node, Tensor):  # a leaf, which may have stopped requiring grad
        accumulator = node._own_meta().accumulator
        node = accumulator and accumulator()
    if node not in running:
        return False
    if isinstance(running, Needed):
        check(running[node] or type(node) is not AccumulateGrad, messages.NOT_ACCUMULATED)
        return True
    # The only root of a pass does not count; nothing waits for a root.
    return running[node] != 0 or sum(1 for n in running.values() if n == 0) > 1


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


class GradientEdge(namedtuple("GradientEdge", "node output_nr ownership_token", defaults=(None,))):
    """A place in the graph at which to differentiate: output `output_nr` of `node`, which it keeps."""

    metadata = None, None  # the shape and dtype of the tensor that it was taken from


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of the graph along which `tensor`'s gradient flows; `grad` takes it instead of the tensor."""
    check(tensor.requires_grad, messages.NO_EDGE)
    node = gradient_node(tensor)
    check(node is not None, NO_NODE, error=AssertionError)
    edge = GradientEdge(node, tensor._output_nr)
    edge.metadata = tensor._array.shape, tensor._array.dtype
    return edge
