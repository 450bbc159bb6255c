"""What one can do with the graph itself: edges to differentiate at, hooks on saved tensors and on several gradients."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..tensor import Tensor, wrap
from .backward import GradientEdge, edge_of, get_gradient_edge
from .grad_mode import local
from .node import Node, RemovableHandle, version_of

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


class saved_tensors_hooks:
    """While active, `pack_hook(t)` decides what is kept of each saved tensor, and `unpack_hook` gives it back.

    `unpack_hook(pack_hook(t))` must return a tensor with the content of t. Use it to store saved tensors elsewhere,
    compressed, or not at all (and recompute).
    """

    def __init__(self, pack_hook: Callable[[Tensor], object], unpack_hook: Callable[[object], Tensor]):
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        if hooks_disabled.message is not None:
            raise RuntimeError(hooks_disabled.message)
        local.update(saved_hooks=(*local.saved_hooks, self.hooks))

    def __exit__(self, *exc: object) -> None:
        local.update(saved_hooks=local.saved_hooks[:-1])


class HooksDisabled(threading.local):
    message: str | None = None


hooks_disabled = HooksDisabled()


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors as copies of their own, as PyTorch does to move them off the GPU."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cpu"):
        super().__init__(lambda t: t._array.copy(), wrap)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside, `saved_tensors_hooks` raises RuntimeError with this message."""
    before, hooks_disabled.message = hooks_disabled.message, error_message
    try:
        yield
    finally:
        hooks_disabled.message = before


class Kept:
    """A saved tensor that may be written to: it is copied just before the first write."""

    __slots__ = ("__weakref__", "copy", "original", "version")

    def __init__(self, t: Tensor):
        self.original, self.version, self.copy = t, version_of(t), None


class allow_mutation_on_saved_tensors:
    """Inside, saved tensors may be changed in place: what the backward pass needs is copied before each write.

    Used as `with allow_mutation_on_saved_tensors() as ctx:`; the backward pass must run inside, too.
    """

    def __init__(self):
        self.kept: weakref.WeakSet[Kept] = weakref.WeakSet()
        self.hooks = saved_tensors_hooks(self.pack, self.unpack)
        self.open = False

    def pack(self, t: Tensor) -> Kept:
        kept = Kept(t)
        self.kept.add(kept)
        return kept

    def unpack(self, kept: Kept) -> Tensor:
        if not self.open:
            raise RuntimeError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded."
            )
        return kept.original if kept.copy is None else kept.copy

    def before_write(self, t: Tensor) -> None:
        """Copy what is saved of the memory that is about to be written to."""
        for kept in list(self.kept):
            if kept.copy is None and np.may_share_memory(kept.original._array, t._array):
                node = kept.original._grad_fn
                kept.copy = wrap(kept.original._array.copy(), kept.original._requires_grad)
                kept.copy._grad_fn, kept.copy._output_nr = node, kept.original._output_nr

    def clear(self) -> None:
        """Forget all that was saved."""
        self.kept.clear()

    def __enter__(self) -> allow_mutation_on_saved_tensors:
        if local.before_write is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        self.open = True
        local.before_write = self.before_write
        self.hooks.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self.hooks.__exit__()
        local.before_write = None
        self.open = False


def increment_version(tensors: Tensor | Sequence[Tensor]) -> None:
    """Tell autograd that these tensors were written to behind its back."""
    for t in (tensors,) if isinstance(tensors, Tensor) else tensors:
        t.counter().version += 1


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
    state = threading.local()
    lock = threading.Lock()

    def pass_id() -> object:
        return local.backward_pass

    def collect(index: int, grad: Tensor) -> None:
        with lock:
            if getattr(state, "current", None) is not pass_id():
                state.current, state.grads, state.done = pass_id(), [None] * len(tensors), False
                state.missing = sum(1 for t in tensors if will_get_gradient(t))
            if mode == "any":
                first, state.done = not state.done, True
                call = (lambda: fn(grad)) if first else None
            else:
                state.grads[index] = grad
                state.missing -= 1
                call = (lambda: fn(state.grads)) if not state.missing else None
        if call is not None:
            call()

    return MultiHandle([t.register_hook(lambda g, i=i: collect(i, g)) for i, t in enumerate(tensors)])


def will_get_gradient(t: Tensor) -> bool:
    """Is this tensor's node part of the backward pass that is running?"""
    node, _ = edge_of(t, "register_multi_grad_hook")
    return local.backward_pass is not None and node in local.backward_pass
