"""What one can do with the graph itself: edges to differentiate at, hooks on saved tensors and on several gradients."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ..dtypes import dtype
from ..size import Size
from ..tensor import Tensor, wrap
from .backward import GradientEdge, edge_of
from .engine import PartialPass
from .grad_mode import local
from .node import AccumulateGrad, Node, RemovableHandle, edge

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
__dir__ = __all__.copy  # what completion offers


class EdgeOfTensor(GradientEdge):
    """The edge of a tensor that was at hand, so that its shape and dtype are known."""

    shape: Size
    dtype: dtype
    requires_grad = True


EdgeOfTensor.__name__ = EdgeOfTensor.__qualname__ = "GradientEdge"


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of the graph along which `tensor`'s gradient flows; it can stand for the tensor in `grad`."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    node = edge(tensor)
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    found = EdgeOfTensor(node, tensor._output_nr)
    found.shape, found.dtype = tensor.shape, tensor.dtype
    return found


class saved_tensors_hooks:
    """While active, `pack_hook(t)` decides what is kept of each saved tensor, and `unpack_hook` gives it back.

    `unpack_hook(pack_hook(t))` must return a tensor with the content of t. Use it to store saved tensors elsewhere,
    compressed, or not at all (and recompute).
    """

    def __init__(self, pack_hook: Callable[[Tensor], object], unpack_hook: Callable[[object], Tensor]):
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        message = getattr(disabled, "message", None)
        if message is not None:
            raise RuntimeError(message)
        if not all(map(callable, self.hooks)):
            raise TypeError("saved_tensors_hooks() takes two functions, pack_hook and unpack_hook")
        local.update(saved_hooks=(*local.saved_hooks, self.hooks))

    def __exit__(self, *exc: object) -> None:
        local.update(saved_hooks=local.saved_hooks[:-1])


disabled = threading.local()  # its `message` says why there may be no hooks in this thread now


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors as copies of their own, as PyTorch does to move them off the GPU."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cpu"):
        super().__init__(lambda t: t._array.copy(), wrap)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, `saved_tensors_hooks` raises RuntimeError with this message. So does this itself if there are any now."""
    if local.saved_hooks:
        raise RuntimeError(error_message)
    before, disabled.message = getattr(disabled, "message", None), error_message
    try:
        yield
    finally:
        disabled.message = before


class Kept:
    """A saved tensor that may be written to: a copy takes its place just before the first write."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, t: Tensor):
        self.tensor = t


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """Inside, saved tensors may be changed in place: what the backward pass needs is copied before each write.

    Used as `with allow_mutation_on_saved_tensors() as ctx:`; the backward pass must run inside, too.
    """

    def __init__(self):
        self.kept: weakref.WeakSet[Kept] = weakref.WeakSet()

    @property
    def hooks(self) -> tuple[Callable, Callable]:
        """(pack, unpack). They are not stored: they would hold what holds them."""
        return self.pack, self.unpack

    def pack(self, t: Tensor) -> Kept:
        """What is kept of a saved tensor: the tensor itself, until it is written to."""
        kept = Kept(t.detach())  # its place in the graph is known, and it may be the node's own result
        self.kept.add(kept)
        return kept

    def unpack(self, kept: Kept) -> Tensor:
        """The tensor as it was saved."""
        if kept not in self.kept:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally "
                "recorded."
            )
        return kept.tensor

    def before_write(self, t: Tensor) -> None:
        """Copy what is saved of the memory that is about to be written to."""
        for kept in list(self.kept):
            old = kept.tensor
            if np.may_share_memory(old._array, t._array):
                kept.tensor = wrap(old._array.copy())

    def clear(self) -> None:
        """Forget all that was saved: no backward pass can use it any more."""
        self.kept.clear()

    def __enter__(self) -> allow_mutation_on_saved_tensors:
        if local.before_write is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        super().__enter__()
        local.before_write = self.before_write
        return self

    def __exit__(self, *exc: object) -> None:
        super().__exit__()
        local.before_write = None
        self.clear()


def increment_version(tensors: Tensor | Sequence[Tensor]) -> None:
    """Tell autograd that these tensors were written to behind its back."""
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in (tensors,) if isinstance(tensors, Tensor) else tensors:
        t._own_counter().version += 1


class MultiHandle(RemovableHandle):
    """Removes several hooks at once."""

    def __init__(self, handles: Sequence[RemovableHandle]):
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` once per backward pass: with all gradients of `tensors` when they are there, or with the first.

    mode "all": `fn([grad or None, ...])` after the last of those gradients that this pass computes.
    mode "any": `fn(grad)` at the first one.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        tensors = [t for t in tensors if t.requires_grad]
    elif any(edge(t) is None for t in tensors):
        raise AssertionError("Expected gradient function to be set")
    # A result that is written to has another node from then on; a leaf's may be another one in each pass.
    places = [weakref.ref(t if t.is_leaf else t.grad_fn) for t in tensors]

    key = object()  # of what a pass remembers for us

    def collect(index: int, grad: Tensor | None) -> None:
        found = local.backward_pass.get(key)
        if found is None:  # the first: the pass remembers how many are still to come, and the gradients
            missing = 1 if mode == "any" else sum(map(will_get_gradient, places))
            found = local.backward_pass[key] = [missing, *[None] * len(places)]
        found[0] -= 1
        found[1 + index] = grad
        if found[0] == 0:
            fn(grad if mode == "any" else found[1:])

    return MultiHandle([t.register_hook(lambda g, i=i: collect(i, g)) for i, t in enumerate(tensors)])


def will_get_gradient(place: weakref.ref[Node | Tensor]) -> bool:
    """Is this node, or that of this leaf, part of the backward pass that is running?"""
    node, running = place(), local.backward_pass
    if isinstance(node, Tensor):
        node, _ = edge_of(node)
    if node not in running:
        return False
    if isinstance(running, PartialPass):
        if not running[node] and type(node) is AccumulateGrad:
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
                "currently not supported."
            )
        return True
    # The only root of a pass does not count; nothing waits for a root.
    return running[node] != 0 or sum(1 for n in running.values() if n == 0) > 1
