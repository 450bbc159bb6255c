"""What writing into a tensor does to the graph.

An in-place operation on a result re-bases it: its grad_fn becomes the node of the operation. On a view the base's
grad_fn becomes a `CopySlices`, which hands the gradient of the written part to the operation and the rest on to the
old history; the view's own grad_fn becomes a read of its part of the base (`AsStridedBackward0`), as that of every
other view does when somebody asks.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np

from ..autograd import function as functions
from ..autograd.anomaly_mode import remember_traceback
from ..autograd.grad_mode import anomaly, local
from ..autograd.interpreter import Wrapper
from ..autograd.node import Node, edge, next_sequence
from ..autograd.saved import FREED, versions, written_views
from ..tensor import Counter, Tensor, new_object, wrap
from .storage import is_stretched, reach, stretched_error
from .strides import (
    in_elements,
    laid_out_as,
    place_of,
    read_places,
    rebase,
    refresh_view,
    refusal,
    window_node,
    window_places,
    write_places,
)

ndarray = np.ndarray

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
VIEW_OF_LEAF = "a view of a leaf Variable that requires grad is being used in an in-place operation."


class CopySlices(Node):
    """The node of a base of which a view was written to: `inner` is the node of what was written, `place` says where."""

    __slots__ = ("place",)
    _frees = True

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    @property
    def inner(self) -> Node:
        if self._kept is None:
            raise RuntimeError(FREED)
        return self._kept[0]

    def _vjp(self, grad, recorded: bool) -> tuple:
        inner = self.inner
        if recorded:
            rest, others = self.on_tensors(grad)
            return (None if self._edges[0] is None else rest, *others)
        shape, strides, size, stride, offset, dtype = self.place
        if grad.dtype is not dtype:
            grad = grad.astype(dtype)
        if grad.strides == strides and grad.size and grad.flags.c_contiguous:
            memory = rest = grad.copy()
        else:
            memory = np.empty(max(reach(shape, strides, dtype.itemsize), dtype.itemsize), np.uint8)
            rest = ndarray(shape, dtype, memory, 0, strides)
            rest[...] = grad
        part = ndarray(size, dtype, memory, offset, stride)
        first, *others = inner._vjp(part.copy(), False)
        if first is None:
            part[...] = 0
        elif is_stretched(part):
            raise stretched_error()
        else:
            part[...] = first
        return (None if self._edges[0] is None else rest, *others)

    def on_tensors(self, grad: Tensor) -> tuple[Tensor, list[Tensor | None]]:
        """The gradient of the base from before the write, and those of what was written."""
        if local.interpreter is not None:  # nothing is written in place, see wrapped.py
            where = self.where()
            first, *others = self.inner._vjp(read_places(grad, where), True)
            first = wrap(np.zeros((), grad._array.dtype)) if first is None else first
            return write_places(grad, first, where), others
        _, base_layout, window = in_elements(self.place)
        rest = laid_out_as(grad, base_layout)
        part = rest.as_strided(*window)
        first, *others = self.inner._vjp(part.clone(), True)
        part.zero_() if first is None else part.copy_(first)
        return rest, others

    def where(self) -> ndarray:
        """The places in the base that were written to."""
        return window_places(*in_elements(self.place))


def check_writable(t: Tensor) -> None:
    """Raise PyTorch's error if `t` must not be written to by an operation that is recorded."""
    meta = t._meta
    base = None if meta is None else meta.base
    if base is None:
        if t._requires_grad and (t._grad_fn is None or (meta is not None and meta.argument)):
            raise RuntimeError(LEAF)
        return
    if meta.made_in is not None:
        raise RuntimeError(refusal(t, "is being"))
    if t._requires_grad and (base._grad_fn is None or (base._meta is not None and base._meta.argument)):
        raise RuntimeError(VIEW_OF_LEAF)
    # Its base became part of a graph after it was made, and nobody has asked since.
    if t._requires_grad and t._grad_fn is None:
        raise RuntimeError(LEAF)


def old_value(t: Tensor) -> Tensor:
    """A copy of `t`, with its place in the graph, from before it is written to."""
    node = edge(t)
    before = wrap(t._array.copy(), t._requires_grad)
    before._grad_fn, before._output_nr = node, t._output_nr
    return before


def resave_result(node: Node, t: Tensor) -> None:
    """The result that a node saved is now the tensor that was written to: share its memory and version."""
    saved = list(node._kept)
    for i in node._op.saved_results:
        if type(saved[i]) is ndarray:
            saved[i] = t._array
    node._kept, node._counter = tuple(saved), t._own_counter()
    node._version = versions(node)


def written(t: Tensor, node: Node | None) -> None:
    """Count the write; if it was recorded, `node` is now the history of what was written."""
    counted(t)
    if node is not None:
        hang(t, node)


def hang(t: Tensor, node: Node) -> None:
    """`node` is the history of what was just written into `t`."""
    base, counter = t._base, t._counter
    if base is None:
        known = t._requires_grad
        rebase(t, node)
        if counter.views and not known:
            t._tell_views()
        return
    if isinstance(t, Wrapper):
        slices = t.written_places()
    else:
        slices = new_object(CopySlices)
        slices.place = place_of(t)
    slices._kept = (node,)
    slices._edges = (edge(base), *node._edges[1:])
    slices._input_nrs = None
    if base._output_nr or node._input_nrs is not None:
        slices._input_nrs = (base._output_nr, *(node._input_nrs or (0,) * len(node._edges))[1:])
    slices._sequence, slices._hooks = next_sequence(), None
    if anomaly.on:
        remember_traceback(slices)
    known = base._requires_grad
    rebase(base, slices)
    if counter.views and not known:
        base._tell_views()
    # The view's new history is made now, not when somebody asks: the node's number decides when it runs.
    if isinstance(t, Wrapper):
        refresh_view(t)
    else:
        window = window_node(slices, 0, slices.place)
        rebase(t, window)
        if node._op is not None and node._op.saved_results:
            written_views[node] = reader_of(weakref.ref(slices), weakref.ref(window))
        t._meta.seen_version = counter.version


def counted(t: Tensor) -> Counter:
    """The counter of `t`, raised by one. A tensor made in inference_mode cannot count, which is an error outside of it:
    as in PyTorch, after the write."""
    if t.is_inference() and not local.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
            "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    counter = t._own_counter()
    counter.version += 1
    return counter


functions.check_writable, functions.counted, functions.hang = check_writable, counted, hang


def reader_of(slices: weakref.ref[CopySlices], window: weakref.ref[Node]) -> Callable[[], Node | None]:
    """A function that gives the node which reads the window of a CopySlices, the view's or a new one, as long as that lives."""

    def read() -> Node | None:
        if window() is not None:
            return window()
        found = slices()
        return None if found is None else window_node(found, 0, found.place)

    return read
