"""The graph: nodes, the edges between them, and the leaves' accumulators.

A node is the *backward* of one recorded operation. It knows the nodes of its inputs (`next_functions`) and
the values that its rules need, but not its output, so a graph is freed with its last tensor.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..tensor import Tensor, wrap
from .modes import local

next_sequence = itertools.count().__next__  # later operations have higher numbers: their nodes go first
ZEROS = itertools.repeat(0)
LAST = 2**64 - 1  # AccumulateGrad's number: it runs as soon as it is ready
RELEASED = "released"  # the versions of a node whose saved tensors are gone


class Hooks:
    """The hooks that users attach to one node. Most nodes have none; it is made with the first hook."""

    __slots__ = ("metadata", "post", "pre", "retain", "tensor")

    def __init__(self):
        self.tensor = {}  # output number -> hooks on that output's gradient
        self.retain = {}  # output number -> the tensor (weak) whose .grad is filled
        self.pre, self.post = OrderedDict(), OrderedDict()
        self.metadata = {}


class RemovableHandle:
    """The handle that `register_*hook` returns: `.remove()` removes the hook; also a context manager."""

    next_id = itertools.count().__next__

    def __init__(self, hooks: OrderedDict, hook: Callable):
        self.id, self.hooks = RemovableHandle.next_id(), weakref.ref(hooks)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Remove the hook. A second call does nothing."""
        (self.hooks() or {}).pop(self.id, None)  # they may have been freed with their node

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Node:
    """The backward of one recorded operation; `tensor.grad_fn` is one.

    Subclasses, one for each operation, are made in ops/apply.py. They provide `_vjp(grad, recorded)`: from
    the gradient with respect to the output, the gradients with respect to the inputs, one per edge, None
    where none is needed. `grad` is an array, or a Tensor if `recorded` (when the backward pass is itself to
    be differentiated); for a node with several outputs, a list.
    """

    __slots__ = (
        "__weakref__",
        "_context",  # what is saved: the values that the rules read besides the gradient
        "_grad_metadata",  # (shape, dtype) that each gradient gets, if inputs were broadcast or cast
        "_hooks",  # Hooks or None
        "_next_nodes",  # for each differentiable input the node that its gradient goes to, or None
        "_output_nrs",  # which output of its node each input is; None if all are 0
        "_result_counter",  # the result's version counter, if a rule reads it and another tensor shares it
        "_sequence",
        "_versions",  # the versions of the saved tensors, see saved.py; None if all are 0
    )

    _op = None  # the operation in the table
    _output_count = 1  # how many outputs the operation has
    _read_output = None  # the number of the output that a rule reads
    _frees = False  # whether it saves tensors, which are freed after use
    _runs_undefined = False  # whether _vjp is called even if no gradient arrived

    def name(self) -> str:
        """The node's name, such as 'MulBackward0'."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input: the node that its gradient goes to, or None, and the number of its output."""
        return tuple(zip(self._next_nodes, self._output_nrs or ZEROS))  # noqa: B905 - ZEROS never ends

    # for each input the source text of its rule, in the order of `next_functions`
    rules: ClassVar[dict[str, str]] = {}

    @property
    def metadata(self) -> dict:
        """A dictionary in which users can keep anything about this node."""
        return self._own_hooks().metadata

    def _sequence_nr(self) -> int:
        return self._sequence

    def _own_hooks(self) -> Hooks:
        """The node's hooks, made now if there are none."""
        if self._hooks is None:
            self._hooks = Hooks()
        return self._hooks

    def _release(self) -> None:
        """Free the saved tensors. Sizes and numbers stay readable."""
        if self._versions is not RELEASED:
            op, saved, kept = self._op, self._context, ()
            if op is not None:
                kept = op.all_freed or tuple([None if i in op.freed else v for i, v in enumerate(saved)])
            self._context = kept
        self._versions = RELEASED

    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after this node has run. It may return new grad_inputs."""
        return RemovableHandle(self._own_hooks().post, fn)

    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Call `fn(grad_outputs)` before this node runs. It may return new grad_outputs."""
        return RemovableHandle(self._own_hooks().pre, fn)

    def __call__(self, *grad_outputs: Tensor | None) -> Tensor | tuple[Tensor | None, ...] | None:
        """Run the node by hand: from the gradients of its outputs, those of its inputs."""
        if len(grad_outputs) != self._output_count:
            raise TypeError(f"expected {self._output_count} arguments, got {len(grad_outputs)} instead")
        if not self._runs_undefined and all(g is None for g in grad_outputs):
            return None if len(self._next_nodes) == 1 else (None,) * len(self._next_nodes)
        grad = list(grad_outputs) if self._output_count > 1 else grad_outputs[0]
        results = self._vjp(grad, True)
        return results[0] if len(results) == 1 else tuple(results)


def new_node(kind: type[Node], next_nodes: tuple, output_nrs: tuple | None, saved: tuple = ()) -> Node:
    """A node of this class. It is numbered after the accumulators among `next_nodes`, as in PyTorch."""
    node = kind()
    node._next_nodes, node._output_nrs, node._sequence = next_nodes, output_nrs, next_sequence()
    node._context, node._versions = saved, None
    node._hooks = node._grad_metadata = node._result_counter = None
    return node


class AccumulateGrad(Node):
    """The end of every path: adds the arriving gradient to `.grad` of one leaf, its `variable`."""

    __slots__ = ("variable",)
    _next_nodes = ()
    _output_nrs = None
    _context = ()
    _sequence = LAST

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        meta = self.variable._meta
        if grad is None or not self.variable._requires_grad:  # switched off after the graph was built
            return ()
        with accumulate_lock:
            old = meta.grad
            if recorded:
                grad = grad if local.grad else grad.detach()  # a tangent is not accumulated
                meta.grad = grad if old is None else old + grad
            elif old is None:
                meta.grad = wrap(grad.copy())  # as another leaf may get the same array
            else:
                np.add(old._array, grad, old._array)
                old._own_counter().version += 1
        return ()


accumulate_lock = threading.RLock()  # several threads may reach one leaf at once


def gradient_node(t: Tensor) -> Node | None:
    """The node that a gradient for `t` goes to: its grad_fn, a leaf's AccumulateGrad, or None if it needs
    no gradient. Together with `t._output_nr` it is the tensor's gradient edge."""
    meta = t._meta
    if meta is not None and meta.base is not None:
        if t._requires_grad and meta.seen_version != t._counter.version:
            meta.refresh(t)
        if meta.borrows and t._grad_fn is None:
            return None
    if t._grad_fn is not None or not t._requires_grad:
        return t._grad_fn
    node = None if meta is None or meta.accumulator is None else meta.accumulator()
    return accumulator(t) if node is None else node


def accumulator(leaf: Tensor) -> AccumulateGrad:
    """A new AccumulateGrad of a leaf. It holds the leaf; the leaf has a weak reference to it."""
    meta, node = leaf._meta or leaf._own_meta(), AccumulateGrad()
    node.variable, node._hooks, meta.accumulator = leaf, None, weakref.ref(node)
    if meta.hooks is not None:
        node._own_hooks().tensor[0] = meta.hooks
    if meta.post_hooks is not None:
        node._own_hooks()  # so that the engine checks them
    return node


def grad_fn(t: Tensor) -> Node | None:
    """The node that made this tensor, or None for a leaf."""
    meta = t._meta
    seen = meta is None or meta.base is None or meta.seen_version == t._counter.version
    if t._requires_grad and not seen:
        meta.refresh(t)
    return t._grad_fn


def is_leaf(t: Tensor) -> bool:
    """True if no recorded operation made this tensor. All tensors that do not require grad are leaves."""
    return grad_fn(t) is None
