"""Saved tensors: the values a node keeps for its rules, the check that they are unchanged, packing hooks.

A node saves its inputs as tensors, and its own result as an array: the tensor would keep the node alive.
It also saves their versions: no rule ever computes with values that were changed in place.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np

from .. import dtypes, messages
from ..basics import check, modified_error
from ..tensor import Counter, Tensor, plain_types, wrap
from .grad_mode import no_grad
from .node import RELEASED, AccumulateGrad, Node, grad_fn, gradient_node

ndarray = np.ndarray
HELD = "held"  # the last version in a node whose saved tensors were packed by hooks


def versions_of(node: Node) -> tuple[int, ...] | None:
    """The current versions of what a node saved: its inputs, then its result. None if all are 0, as usual."""
    saved, versions, counter = node._context, [], node._result_counter
    for i in node._op.saved_inputs:
        own = None if saved[i] is None else saved[i]._counter
        versions.append(0 if own is None else own.version + own.detached)
    versions.append(0 if counter is None else counter.version + counter.detached)
    return tuple(versions) if any(versions) else None


def open_saved(node: Node, recorded: bool) -> list:
    """The saved values of a node: arrays, or Tensors if `recorded`. Raises if they were freed or changed."""
    op, saved, versions = node._op, [*node._context], node._versions
    unchanged = versions is None or (versions is not RELEASED and versions[-1] is not HELD)
    for place, i in enumerate(op.saved_inputs):
        t = saved[i]
        if t is not None:
            counter, saved[i] = t._counter, t if recorded else t._array
            then = versions[place] if versions else 0
            if counter is not None and counter.version + counter.detached != then:
                unchanged = False
    counter = node._result_counter
    if counter is not None and counter.version != (versions[-1] if versions else 0):
        unchanged = False
    if not unchanged:
        return unpack(node, recorded)  # this raises, unless hooks have packed the values
    if recorded:
        for i in op.saved_results:
            saved[i] = saved_result(node, saved[i], op.sources[i][1])
    return saved


def unpack(node: Node, recorded: bool) -> list:
    """The slow path of `open_saved`: each value is checked, or unpacked, on its own."""
    if node._versions is RELEASED:
        check(not any(node._next_nodes) and None not in node._op.guards, messages.FREED)
        return [None] * len(node._op.saves)  # nothing was saved: no gradient is needed
    values = [*node._context]
    for i, value in enumerate(values):
        if type(value) is tuple:  # of an index
            values[i] = tuple([v.unpack(node) if type(v) is SavedTensor else v for v in value])
    for i in node._op.saved_tensors:
        if values[i] is not None:
            values[i] = unpack_one(node, i, recorded)
    return values


def unpack_one(node: Node, i: int, recorded: bool) -> Tensor | ndarray:
    """The saved input or result at position `i`."""
    saved, (source, number) = node._context[i], node._op.sources[i]
    if type(saved) is SavedTensor:
        t = saved.unpack(node)
        if t._array.dtype != saved.dtype:  # the hooks changed it; the gradient must not change with it
            t = t.to(dtypes.of_numpy(saved.dtype))
        saved = t if source == "input" else t._array
    else:
        check_version(node, i)
    if not recorded:
        return saved._array if isinstance(saved, Tensor) else saved
    return saved if source == "input" else saved_result(node, saved, number)


def check_version(node: Node, i: int) -> None:
    """Raise PyTorch's error if the saved tensor at position `i` has been written to since it was saved."""
    op, saved, (source, number) = node._op, node._context[i], node._op.sources[i]
    place = op.saved_inputs.index(i) if source == "input" else len(op.saved_inputs)
    then = node._versions[place] if node._versions else 0
    if source == "input":
        places = () if op.variadic else op.differentiable
        before = node._next_nodes[places.index(number)] if number in places else None
        detached = not (before is None or type(before) is AccumulateGrad or saved._grad_fn is not None)
        check(not detached, messages.DETACHED)
        now = saved._version
        if then != now and then != now + saved._counter.detached:
            raise modified_error(saved._array, grad_fn(saved), 0, now, then)
    elif i == op.saved_results[0] and node._result_counter is not None:
        now = node._result_counter.version
        if then != now:
            raise modified_error(getattr(saved, "_array", saved), maker_of_result(node), number, now, then)


def read(node: Node, i: int) -> object:
    """The value that a node saved at position `i`, as users see it in `_saved_self` and the like."""
    saved, op = node._context, type(node)._op
    check(node._versions is not RELEASED or i not in op.freed, messages.FREED)
    if saved[i] is None or i not in op.saved_tensors:
        return saved[i]
    result = unpack_one(node, i, recorded=True)
    return wrap(np.asarray(result._number)) if hasattr(result, "_number") else result


def alias_without_history(t: Tensor) -> Tensor:
    """A tensor on the same memory without history (in a transform it keeps its history below that level)."""
    out = getattr(type(t), "rewrapped", Tensor.detach)(t)
    out._counter = t._own_counter()
    return out


def saved_result(node: Node, value: ndarray | Tensor, output_nr: int = 0) -> Tensor:
    """A node's own result as a tensor again: made by `node`, with the version counter of the original."""
    out = wrap(value) if isinstance(value, ndarray) else alias_without_history(value)
    if output_nr >= node._output_count or out._array.dtype.kind != "f":
        return out  # an index is not differentiable
    out._grad_fn = maker_of_result(node)
    if node._read_output == output_nr:
        node._result_counter = node._result_counter or Counter()
    out._requires_grad, out._output_nr, out._counter = True, output_nr, node._result_counter or out._counter
    return out


# The node of a write into a view -> a function: the node that reads the view's new value from the base.
written_views: weakref.WeakKeyDictionary[Node, Callable[[], Node | None]] = weakref.WeakKeyDictionary()


def maker_of_result(node: Node) -> Node:
    """The grad_fn of a node's result: the node, unless the result was written into a view that is alive."""
    reader = written_views.get(node)
    return (reader and reader()) or node


class SavedTensor:
    """A saved tensor: what a pair of saved_tensors_hooks made of it or, without hooks, the tensor itself and
    its version at that time. `unpack()` returns the tensor, at its place in the graph.

    `keeper` is the node that saves it. What is kept of the node's own result must not lead back to the node.
    """

    __slots__ = ("dtype", "hook", "is_result", "is_unchanged", "node", "output_nr", "packed", "version")
    _counter = _array = None  # for code that looks at a saved tensor before it checks whether that is packed

    def __init__(self, t: Tensor, hooks: tuple[Callable, Callable] | None, keeper: Node):
        check(not t.is_inference(), messages.INFERENCE_SAVED)
        node = gradient_node(t)
        self.is_result, self.output_nr = node is keeper, t._output_nr
        self.node = None if self.is_result else node
        self.dtype, self.version, self.hook = t._array.dtype, t._version, None
        packed = t
        if hooks is not None:
            with no_grad():
                packed, self.hook = hooks[0](t), hooks[1]
            check(t._version == self.version, messages.PACK_WRITES)
        self.is_unchanged = self.is_result and packed is t
        self.packed = alias_without_history(t) if self.is_unchanged else packed

    def unpack(self, keeper: Node) -> Tensor:
        t = saved_result(keeper, self.packed, self.output_nr) if self.is_unchanged else self.packed
        if self.hook is None:
            if t._version != self.version:
                number = self.is_unchanged * t._output_nr
                raise modified_error(t._array, grad_fn(t), number, t._version, self.version)
            return t
        t = self.hook(t)
        check(isinstance(t, Tensor), messages.UNPACK_TYPE, type(t).__name__, error=TypeError)
        node = keeper if self.is_result else self.node
        if node is None or type(t) not in plain_types or t._grad_fn is node:
            return t
        out = wrap(t._array, requires_grad=True)
        out._counter = Counter()  # what hooks return may be a copy
        if type(node) is AccumulateGrad:
            out._own_meta().accumulator = weakref.ref(node)
        else:
            out._grad_fn, out._output_nr = node, self.output_nr
        return out
