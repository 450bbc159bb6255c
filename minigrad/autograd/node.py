"""The graph: nodes, the edges between them, and the leaves' accumulators.

A node is the *backward* of one recorded operation. It knows the nodes of its inputs (`next_functions`) and the values
that its formula needs (`saved`), never its own output, so that graphs die with their last tensor, without the garbage
collector. Imports `minigrad.tensor` only.
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

from ..tensor import Counter, Tensor, new_object, plain_types, read_only, wrap
from .grad_mode import local

ndarray = np.ndarray
next_sequence = (
    itertools.count().__next__
)  # later operations have higher numbers; the engine goes from high to low
LAST = 2**64 - 1  # AccumulateGrad's number: it runs as soon as it is ready

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


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

    def __init__(self, hooks: OrderedDict, *extra: OrderedDict):
        self.id = RemovableHandle.next_id()
        self.hooks, self.extra = weakref.ref(hooks), tuple(weakref.ref(d) for d in extra)

    def remove(self) -> None:
        """Take the hook away. Doing it twice is harmless."""
        for ref in (self.hooks, *self.extra):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def add_hook(hooks: OrderedDict, hook: Callable) -> RemovableHandle:
    """Put `hook` into `hooks` and return the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


class Node:
    """The backward of one recorded operation; `tensor.grad_fn` is one.

    Subclasses, one per operation, are made by `minigrad.ops.table.define`. They provide `vjp(grad, recorded)`: from
    the gradient with respect to the output, the gradients with respect to the inputs, one per edge, None where none
    is needed. `grad` is an array, or a Tensor if `recorded` (when the backward pass is itself to be differentiated).
    A node with several outputs gets a list.
    """

    __slots__ = (
        "__weakref__",
        "counter",
        "edges",
        "hooks",
        "input_nrs",
        "meta",
        "saved",
        "sequence",
        "version",
    )

    op = None  # the operation in the rule table
    outputs = 1  # how many outputs the operation has
    frees = False  # does it save tensors, which are then freed after use?
    runs_undefined = False  # is vjp to be called even if no gradient arrived?

    def name(self) -> str:
        """The node's name, such as 'MulBackward0'."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input: the node that its gradient goes to (None if it needs none), and which output of it."""
        return tuple(zip(self.edges, self.input_nrs or (0,) * len(self.edges), strict=True))

    @property
    def rules(self) -> dict[str, str]:
        """For each input the source text of its derivative rule, in the order of `next_functions`."""
        return {} if self.op is None else self.op.rule_sources

    @property
    def metadata(self) -> dict:
        """A dictionary for whatever one wants to remember of this node."""
        return self.all_hooks().metadata

    @property
    def requires_grad(self) -> bool:
        return True

    def _sequence_nr(self) -> int:
        return self.sequence

    def all_hooks(self) -> Hooks:
        """The node's hooks, made now if there are none."""
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after this node has run. It may return new grad_inputs."""
        return add_hook(self.all_hooks().post, fn)

    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Call `fn(grad_outputs)` before this node runs. It may return new grad_outputs."""
        return add_hook(self.all_hooks().pre, fn)

    def vjp(self, grad, recorded: bool) -> tuple:
        raise NotImplementedError(f"{self.name()} has no backward formula")

    def __call__(self, *grad_outputs: Tensor | None) -> Tensor | tuple[Tensor | None, ...] | None:
        """Run the node by hand: from the gradients of its outputs, those of its inputs."""
        grad = list(grad_outputs) if self.outputs > 1 else grad_outputs[0]
        results = self.vjp(grad, True)
        return results[0] if len(results) == 1 else results

    def release(self) -> None:
        """Free the saved tensors (after a node that `frees` has run, unless the graph is retained)."""
        self.saved = None


class AccumulateGrad(Node):
    """The end of every path: adds the arriving gradient to `.grad` of one leaf, its `variable`."""

    __slots__ = ("variable",)
    edges = ()
    input_nrs = None
    saved = ()
    sequence = LAST

    def __init__(self, variable: Tensor):
        self.variable, self.hooks = variable, None

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def vjp(self, grad, recorded: bool) -> tuple:
        variable = self.variable
        if not variable._requires_grad:
            return ()  # it was switched off after the graph was built
        meta = variable._meta
        with accumulate_lock:  # several threads may reach one leaf at once
            old = meta.grad
            if recorded:
                if not local.grad:
                    grad = grad.detach()  # a tangent is not accumulated
                meta.grad = grad if old is None else old + grad
            elif old is None:
                # The leaf may keep the array itself if nobody else has it: not another leaf, not the caller. The engine's
                # own references are three: its variable, the argument of this function, and that of getrefcount.
                ours = (
                    getrefcount(grad) == 3
                    and COUNTS_ARGUMENTS
                    and type(grad) is ndarray
                    and grad.base is None
                )
                meta.grad = wrap(grad if ours and grad.flags.c_contiguous else np.array(grad, order="C"))
            elif old._requires_grad:
                meta.grad = wrap(old._array + grad)  # out of place: `old` is part of a graph
            else:
                add_to(old._array, grad)
                if old._counter is not None:
                    old._counter.version += 1
        if meta.post_hooks:
            with no_recording():
                for hook in tuple(meta.post_hooks.values()):
                    hook(variable)
        return ()


def add_to(array: ndarray, other: ndarray) -> None:
    """`array += other`, which NumPy takes three times as long for if there is one number only."""
    if array.ndim:
        np.add(array, other, array)
    else:
        array.fill(array + other)


accumulate_lock = threading.RLock()

# CPython 3.14 and the builds without a global lock pass arguments without counting a reference for each: there nothing
# is taken for ours, and leaves get copies.
COUNTS_ARGUMENTS = (
    sys.implementation.name == "cpython"
    and sys.version_info < (3, 14)
    and getattr(sys, "_is_gil_enabled", lambda: True)()
)


class no_recording:
    """Run users' hooks without recording, unless the backward pass itself is recorded."""

    __slots__ = ("before", "recorded")

    def __init__(self, recorded: bool = False):
        self.recorded = recorded

    def __enter__(self) -> None:
        self.before = local.set_grad(self.recorded)

    def __exit__(self, *exc: object) -> None:
        local.set_grad(self.before)


def edge(t: Tensor) -> Node | None:
    """The node that a gradient for `t` goes to: its grad_fn, a leaf's AccumulateGrad, or None if it needs none."""
    meta = t._meta
    if meta is not None and meta.base is not None:
        if meta.seen_version != t._counter.version:
            refresh_view(t)
        if meta.borrows and t._grad_fn is None:
            return None
    node = t._grad_fn
    if node is not None or not t._requires_grad:
        return node
    if meta is None:
        meta = t.meta()
    ref = meta.accumulator
    node = None if ref is None else ref()
    if node is None:
        node = new_object(AccumulateGrad)
        node.variable, node.hooks = t, None
        if meta.hooks:
            node.all_hooks().tensor[0] = meta.hooks
        meta.accumulator = weakref.ref(node)
    return node


def refresh_view(t: Tensor) -> None:
    """Give a view whose base was written to in place a new grad_fn. Set by ops/strides.py."""
    raise NotImplementedError


def written(t: Tensor, node: Node | None) -> None:
    """Note that `t` was written to in place, by the operation of `node`. Set by ops/history.py."""
    raise NotImplementedError


def grad_fn(t: Tensor) -> Node | None:
    """The node that made this tensor, or None for a leaf."""
    meta = t._meta
    if (
        meta is not None
        and meta.base is not None
        and t._requires_grad
        and meta.seen_version != t._counter.version
    ):
        refresh_view(t)
    return t._grad_fn


def is_leaf(t: Tensor) -> bool:
    """True if no recorded operation made this tensor. All tensors that do not require grad are leaves."""
    return grad_fn(t) is None


Tensor.grad_fn = property(grad_fn, read_only("grad_fn"))
Tensor.is_leaf = property(is_leaf, read_only("is_leaf"))


# ---------------------------------------------------------------- saved tensors


PACKED = -1  # in the place of a node's version: hooks hold its values
FIELD = 20  # a node's version is one number, with this many bits for each value that it saves


class Packed:
    """A saved tensor that a pair of saved_tensors_hooks has packed; `unpack()` gives it back, at its place in the graph.

    `keeper` is the node that saves it. Of its own result it must keep nothing that leads back to it.
    """

    __slots__ = ("hook", "is_result", "is_unchanged", "node", "output_nr", "packed")
    _counter = _array = None  # where a saved tensor is looked at before anyone knows that it is packed

    def __init__(
        self, t: Tensor, hooks: tuple[Callable, Callable], keeper: Node, values: Tensor | None = None
    ):
        """`values`: what the hook gets, if not `t` itself."""
        node = edge(t)
        self.is_result, self.output_nr = node is keeper, t._output_nr
        self.node = None if self.is_result else node
        values = t if values is None else values
        before = version_of(values)
        with no_recording():
            packed, self.hook = hooks[0](values), hooks[1]
        if version_of(values) != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
                "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you "
                "need to perform in-place operations on the input to a pack hook."
            )
        self.is_unchanged = self.is_result and packed is t
        self.packed = t._array if self.is_unchanged else packed

    def unpack(self, keeper: Node) -> Tensor:
        t = self.hook(saved_result(keeper, self.packed, self.output_nr) if self.is_unchanged else self.packed)
        if not isinstance(t, Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(t).__name__}"
            )
        node = keeper if self.is_result else self.node
        if node is None or type(t) not in plain_types or t._grad_fn is node:
            return t
        if type(node) is not AccumulateGrad:
            out = wrap(t._array, requires_grad=True)
            out._grad_fn, out._output_nr = node, self.output_nr
            return out
        if t._requires_grad and t._grad_fn is None and edge(t) is node:
            return t  # the leaf itself
        out = wrap(t._array, requires_grad=True)
        out.meta().accumulator = weakref.ref(node)
        return out


class SavedTensor:
    """One of the tensors that a node saves, as `node._raw_saved_self` gives it: hooks can be put on this one alone."""

    __slots__ = ("node", "position")

    def __init__(self, node: Node, position: int):
        self.node, self.position = node, position

    def __repr__(self) -> str:
        return f"<SavedTensor object at {id(self):#x}>"

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Keep what `pack_hook(tensor)` returns in the place of the tensor; `unpack_hook` makes a tensor of it again."""
        node, position = self.node, self.position
        if node.saved is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
                "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
                "through the graph a second time or if you need to access saved variables after calling backward."
            )
        value = node.saved[position]
        if value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if type(value) is Packed:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
                "allowed at a time."
            )
        source, number = node.op.sources[position]
        t = saved_result(node, value, number) if source == "result" else value
        saved = list(node.saved)
        values = wrap(np.asarray(t._number) if hasattr(t, "_number") else t._array)
        saved[position] = Packed(t, (pack_hook, unpack_hook), node, values)
        node.saved, node.version = tuple(saved), PACKED

    @property
    def data(self) -> object:
        """What is kept: what the hook made of the tensor, else the tensor."""
        value = self.node.saved[self.position]
        return value.packed if type(value) is Packed else self.unpack()

    def unpack(self) -> Tensor | None:
        """The tensor, as `_saved_...` of the node gives it."""
        return getattr(self.node, f"_saved_{self.node.op.saves[self.position]}")


# The node of a write into a view -> a function that makes the node which reads the view's new value from the base.
written_views: weakref.WeakKeyDictionary[Node, Callable[[], Node | None]] = weakref.WeakKeyDictionary()


def saved_result(node: Node, kept: np.ndarray | Tensor, output_nr: int = 0) -> Tensor:
    """A node's own result as the tensor it was: made by `node`, with the version counter that the real one has."""
    out = wrap(kept) if isinstance(kept, np.ndarray) else kept.face()
    if output_nr >= node.outputs or out._array.dtype.kind != "f":
        return out  # an index is not differentiable
    reader = written_views.get(node)
    out._grad_fn = node if reader is None else reader()
    out._requires_grad, out._output_nr, out._counter = True, output_nr, node.counter
    return out


def version_of(t: Tensor) -> int:
    counter = t._counter
    return 0 if counter is None else counter.version


def short_name(node: Node) -> str:
    """A node's name as error messages have it: MulBackward0 is Mul, MaxBackward1 is Max1."""
    # the last word: the name of a custom Function may contain it too
    name, _, number = node.name().rpartition("Backward")
    return name + (number if number != "0" else "")


def modified_error(
    array: np.ndarray, maker: Node | None, output_nr: int, now: int, then: int
) -> RuntimeError:
    """PyTorch's complaint about a saved tensor that was written to."""
    from ..dtypes import of_numpy

    made_by = "" if maker is None else f", which is output {output_nr} of {short_name(maker)},"
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{of_numpy(array.dtype).tensor_type} {list(array.shape)}]{made_by} is at version {now}; expected version {then} "
        "instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )


__all__ = ["AccumulateGrad", "Counter", "Hooks", "Node", "Packed", "RemovableHandle", "add_hook", "edge"]
