"""The graph: nodes, the edges between them, and the leaves' accumulators.

A node is the *backward* of one recorded operation. It knows the nodes of its inputs (`next_functions`) and the values
that its formula needs, never its own output, so that graphs die with their last tensor, without the garbage collector.
"""

from __future__ import annotations

import itertools
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from sys import getrefcount

import numpy as np

from ..tensor import Tensor, wrap
from .modes import local

ndarray = np.ndarray
next_sequence = itertools.count().__next__  # later operations have higher numbers: these go first
ZEROS = itertools.repeat(0)  # the outputs that inputs are, where all are the first
LAST = 2**64 - 1  # AccumulateGrad's number: it runs as soon as it is ready


class Hooks:
    """What users attach to one node. Most nodes have none, so it is made when the first hook comes."""

    __slots__ = ("metadata", "post", "pre", "retain", "tensor")

    def __init__(self):
        self.tensor = {}  # output number -> hooks on that output's gradient
        self.retain = {}  # output number -> the tensor (weak) whose .grad is to be filled
        self.pre, self.post = OrderedDict(), OrderedDict()
        self.metadata = {}


class RemovableHandle:
    """What `register_*hook` returns: `.remove()` takes the hook away again; also a context manager."""

    next_id = itertools.count().__next__

    def __init__(self, hooks: OrderedDict, hook: Callable):
        self.id, self.hooks = RemovableHandle.next_id(), weakref.ref(hooks)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook away. Doing it twice is harmless."""
        (self.hooks() or {}).pop(self.id, None)  # they may have gone with their node

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Node:
    """The backward of one recorded operation; `tensor.grad_fn` is one.

    Subclasses, one per operation, are made by `minigrad.ops.table`. They provide `_vjp(grad, recorded)`: from the
    gradient with respect to the output, the gradients with respect to the inputs, one per edge, None where none is
    needed. `grad` is an array, or a Tensor if `recorded` (when the backward pass is itself to be differentiated). A node
    with several outputs gets a list.
    """

    __slots__ = (
        "__weakref__",
        "_counter",  # the version counter of the result, if a rule reads that; None until somebody asks for it
        "_edges",  # for each differentiable input the node that its gradient goes to, or None
        "_hooks",  # Hooks or None
        "_input_nrs",  # which output of its node each input is; None if all are 0
        "_kept",  # the saved values; None when they are freed
        "_meta",  # what broadcasting and promotion did: (shape, dtype) of each input, or None
        "_sequence",
        "_version",  # the versions that the saved tensors had, in one number; inverted, so negative, if hooks hold some
    )

    _op = None  # the operation in the rule table
    _output_count = 1  # how many outputs the operation has
    _counted = None  # the number of the output that a rule reads, whose version is to be the same as it was
    _frees = False  # does it save tensors, which are then freed after use?
    _runs_undefined = False  # is _vjp to be called even if no gradient arrived?

    def name(self) -> str:
        """The node's name, such as 'MulBackward0'."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input: the node that its gradient goes to (None if it needs none), and which output of it."""
        numbers = self._input_nrs
        return tuple([(e, 0) for e in self._edges] if numbers is None else zip(self._edges, numbers))  # noqa: B905

    @property
    def rules(self) -> dict[str, str]:
        """For each input the source text of its derivative rule, in the order of `next_functions`."""
        return {} if self._op is None else self._op.rule_sources

    @property
    def metadata(self) -> dict:
        """A dictionary for whatever one wants to remember of this node."""
        return self._all_hooks().metadata

    def _sequence_nr(self) -> int:
        return self._sequence

    def _all_hooks(self) -> Hooks:
        """The node's hooks, made now if there are none."""
        if self._hooks is None:
            self._hooks = Hooks()
        return self._hooks

    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after this node has run. It may return new grad_inputs."""
        return RemovableHandle(self._all_hooks().post, fn)

    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Call `fn(grad_outputs)` before this node runs. It may return new grad_outputs."""
        return RemovableHandle(self._all_hooks().pre, fn)

    def __call__(self, *grad_outputs: Tensor | None) -> Tensor | tuple[Tensor | None, ...] | None:
        """Run the node by hand: from the gradients of its outputs, those of its inputs."""
        if len(grad_outputs) != self._output_count:
            raise TypeError(f"expected {self._output_count} arguments, got {len(grad_outputs)} instead")
        if not self._runs_undefined and all(g is None for g in grad_outputs):
            return None if len(self._edges) == 1 else (None,) * len(self._edges)
        grad = list(grad_outputs) if self._output_count > 1 else grad_outputs[0]
        results = self._vjp(grad, True)
        return results[0] if len(results) == 1 else results


def new_node(kind: type[Node], edges: tuple, input_nrs: tuple | None, kept: tuple = ()) -> Node:
    """A node that is not made by an operation of the table: of a write into a view, of a custom Function."""
    node = kind()
    node._edges, node._kept, node._sequence = edges, kept, next_sequence()
    node._input_nrs = input_nrs if input_nrs and any(input_nrs) else None
    node._hooks, node._meta, node._counter, node._version = None, None, None, 0
    return node


class AccumulateGrad(Node):
    """The end of every path: adds the arriving gradient to `.grad` of one leaf, its `variable`."""

    __slots__ = ("variable",)
    _edges = ()
    _input_nrs = None
    _kept = ()
    _sequence = LAST

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        variable = self.variable
        meta = variable._meta
        if grad is None or not variable._requires_grad:  # it was switched off after the graph was built
            return ()
        with accumulate_lock:
            old = meta.grad
            if recorded:
                grad = grad if local.grad else grad.detach()  # a tangent is not accumulated
                meta.grad = grad if old is None else old + grad
            elif old is None:
                # The leaf may keep the array itself if nobody else has it: not another leaf, not the caller. The engine's
                # own references are three: its variable, the argument of this function, and that of getrefcount.
                ours = COUNTS_ARGUMENTS and getrefcount(grad) == 3
                ours = ours and type(grad) is ndarray and grad.base is None and grad.flags.c_contiguous
                meta.grad = wrap(grad if ours else np.array(grad, order="C"))
            else:
                array = old._array
                if array.ndim:
                    np.add(array, grad, array)
                else:  # a single number: NumPy takes three times as long to add to it in place
                    array.fill(array + grad)
                old._own_counter().version += 1
        return ()


accumulate_lock = threading.RLock()  # several threads may reach one leaf at once

# CPython 3.14 and the builds without a global lock pass arguments without counting a reference for each: there nothing
# is taken for ours, and leaves get copies.
COUNTS_ARGUMENTS = (
    sys.implementation.name == "cpython"
    and sys.version_info < (3, 14)
    and getattr(sys, "_is_gil_enabled", lambda: True)()
)


def edge(t: Tensor) -> Node | None:
    """The node that a gradient for `t` goes to: its grad_fn, a leaf's AccumulateGrad, or None if it needs none."""
    if not t._requires_grad:
        return None
    meta = t._meta
    if meta is not None and meta.base is not None:
        if meta.seen_version != t._counter.version:
            meta.refresh(t)
        if meta.borrows and t._grad_fn is None:
            return None
    node = t._grad_fn
    if node is not None:
        return node
    if meta is None:
        meta = t._own_meta()
    ref = meta.accumulator
    node = None if ref is None else ref()
    if node is None:
        node = AccumulateGrad()
        node.variable, node._hooks = t, None
        if meta.hooks:
            node._all_hooks().tensor[0] = meta.hooks
        meta.accumulator = weakref.ref(node)
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
