"""Windows on memory: `as_strided`, and how a view whose base was written to finds its place in the graph again.

Sizes, strides and offsets count elements, as in PyTorch; an offset counts from the first element of the base.
"""

from __future__ import annotations

import math

import numpy as np

from ..autograd import node as nodes
from ..autograd.grad_mode import local
from ..autograd.interpreter import Wrapper
from ..autograd.node import Node, edge, next_sequence
from ..autograd.saved import short_name
from ..tensor import Tensor, new_object, wrap
from .storage import address, blank, may_overlap, span, strided
from .table import define, is_array, method

ndarray = np.ndarray


def as_strided_backward(grad, self_sym_sizes, size, stride, _start, _layout):
    """Zeros laid out as the base, with `grad` added where the window looks."""
    if local.interpreter is not None:
        return add_places(
            grad, self_sym_sizes, window_places(self_sym_sizes, _layout, (size, stride, _start))
        )
    if not is_array(grad):
        return as_strided_scatter(grad, self_sym_sizes, size, stride, _start, _layout)
    memory = np.zeros(max(span(self_sym_sizes, _layout), _start + span(size, stride)), grad.dtype)
    if may_overlap(size, stride):
        np.add.at(memory, strided(np.arange(memory.size), size, stride, _start), grad)
    else:
        strided(memory, size, stride, _start)[...] = grad
    return strided(memory, self_sym_sizes, _layout, 0)


_as_strided = define(
    "as_strided",
    lambda self, size, stride, storage_offset, _start, _layout: strided(self, size, stride, _start),
    kind="linear", view=True,
    self=lambda grad, _self_sym_sizes, size, stride, storage_offset, _start, _layout:
        as_strided_backward(grad, _self_sym_sizes, size, stride, _start, _layout),
)  # fmt: skip
as_strided_scatter = define(
    "as_strided_scatter",
    lambda self, sizes, size, stride, _start, _layout: as_strided_backward(self, sizes, size, stride, _start, _layout),
    kind="linear",
    self=lambda grad, size, stride, _start, _layout: read_window(grad, size, stride, _start, _layout),
)  # fmt: skip


def read_window(grad, size: tuple, stride: tuple, start: int, base_layout: tuple):
    """What a window shows of `grad`, if `grad` is laid out like the base."""
    if is_array(grad):
        laid_out = blank(grad.shape, base_layout, grad.dtype)
        laid_out[...] = grad
        return strided(laid_out, size, stride, start)
    if local.interpreter is not None:
        return read_places(grad, window_places(grad._array.shape, base_layout, (size, stride, start)))
    return as_strided(laid_out_as(grad, base_layout), size, stride, start)


def laid_out_as(t: Tensor, strides: tuple) -> Tensor:
    """A copy of `t`, part of the graph, laid out in memory with these strides."""
    return wrap(blank(t._array.shape, strides, t._array.dtype)).copy_(t)


# ---------------------------------------------------------------- places


def window_places(shape: tuple, base_layout: tuple, window: tuple) -> ndarray:
    """Which elements of a tensor, counted in row-major order, a window (size, strides, offset) shows."""
    return read_window(np.arange(math.prod(shape)).reshape(shape), *window, base_layout)


def adding(self: ndarray, shape: tuple, places: ndarray) -> ndarray:
    out = np.zeros(math.prod(shape), self.dtype)
    np.add.at(out, places, self)
    return out.reshape(shape)


def writing(self: ndarray, src: ndarray, places: ndarray) -> ndarray:
    out = np.array(self, order="C")
    out.reshape(-1)[places] = src
    return out


# What transforms do in the place of a window on memory: `places` is an array that counts elements in row-major order.
read_places = define(
    "read_places", lambda self, places: self.reshape(-1)[places], kind="linear",
    self=lambda grad, self_sym_sizes, places: add_places(grad, self_sym_sizes, places),
)  # fmt: skip
add_places = define(
    "add_places", adding, kind="linear",
    self=lambda grad, places: read_places(grad, places),
)  # fmt: skip
write_places = define(
    "write_places", writing, kind="jointly linear", broadcasts=True,
    self=lambda grad, places: write_places(grad, np.zeros((), grad.dtype) if is_array(grad) else
        wrap(np.zeros((), grad._array.dtype)), places),
    src=lambda grad, places: read_places(grad, places),
)  # fmt: skip


@method()
def as_strided(input: Tensor, size: tuple, stride: tuple, storage_offset: int | None = None) -> Tensor:
    """A view of any size, strides and offset (in elements) on the memory that `input` is part of.

    Raises RuntimeError if that would reach beyond the memory.
    """
    size, stride = tuple(size), tuple(stride)
    if not isinstance(input, Tensor):
        return strided(input, size, stride, storage_offset or 0)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    own = input.storage_offset()
    offset = own if storage_offset is None else storage_offset
    base = input if input._base is None else input._base
    length = span(base._array.shape, base.stride())
    if offset < 0:
        raise RuntimeError("Tensor: invalid storage offset " + str(offset))
    if offset + span(size, stride) > length:
        itemsize = input._array.itemsize
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {itemsize} "
            f"requiring a storage size of {(offset + span(size, stride)) * itemsize} are out of bounds for storage of size "
            f"{length * itemsize}"
        )
    if offset < own:
        raise NotImplementedError(
            "as_strided: a window that starts before its tensor; take it from the base instead"
        )
    return _as_strided(input, size, stride, storage_offset, offset - own, input.stride())


Place = tuple[tuple, tuple, tuple, tuple, int, np.dtype]


def place_of(view: Tensor) -> Place:
    """Which part of its base's memory a view shows, as NumPy has it: the base's shape and strides, those of the view, where
    the view starts, in bytes, and the dtype."""
    array, base = view._array, view._meta.base._array
    return base.shape, base.strides, array.shape, array.strides, address(array) - address(base), array.dtype


def in_elements(place: Place) -> tuple[tuple, tuple, tuple]:
    """A place as PyTorch has it, in elements: the base's shape and layout, the window (size, strides, offset)."""
    shape, strides, size, stride, offset, dtype = place
    n = dtype.itemsize
    return shape, tuple(s // n for s in strides), (size, tuple(s // n for s in stride), offset // n)


def window_node(base: Node, output_nr: int, place: Place) -> Node:
    """The node of a read of a view at its place in what `base` made."""
    node = new_object(ReadWindow)
    node._edges, node._input_nrs = (base,), (output_nr,) if output_nr else None
    node._sequence, node._hooks, node._meta, node.place = next_sequence(), None, None, place
    return node


class ReadWindow(_as_strided.op.node_class):
    """The node of a view whose base was written to. What it saves is worked out from its place when somebody asks."""

    __slots__ = ("place",)

    def _vjp(self, grad, recorded: bool) -> tuple:
        shape, strides, size, stride, offset, dtype = self.place
        if recorded or grad.dtype is not dtype or may_overlap(size, stride, dtype.itemsize):
            return super()._vjp(grad, recorded)
        out = np.zeros(shape, dtype)
        if out.strides != strides or not out.size:
            return super()._vjp(grad, recorded)
        ndarray(size, dtype, out, offset, stride)[...] = grad
        return (out,)

    @property
    def _kept(self) -> tuple:
        shape, base_layout, (size, stride, offset) = in_elements(self.place)
        values = (shape, size, stride, offset, offset, base_layout)
        return tuple([values[i] for i in window_order])


ReadWindow.__name__ = "AsStridedBackward0"
window_names = ("_self_sym_sizes", "size", "stride", "storage_offset", "_start", "_layout")
window_order = [window_names.index(name) for name in _as_strided.op.saves]


def refresh_view(t: Tensor) -> None:
    """Make the grad_fn of a view whose base was written to: a read of its part of the base as it is now."""
    meta, base = t._meta, t._meta.base
    if base._requires_grad or t._grad_fn is not None:
        if meta.made_in is not None:
            raise RuntimeError(refusal(t, "its base or another view of its base has been"))
        of_a_transform = isinstance(t, Wrapper)
        node = t.read_again() if of_a_transform else window_node(edge(base), base._output_nr, place_of(t))
        rebase(t, node)
    meta.seen_version = t._counter.version


nodes.refresh_view = refresh_view


def rebase(t: Tensor, node: Node) -> None:
    """Make `node` the history of a tensor that has been written to; a retained gradient moves with it."""
    old = t._grad_fn
    if t._meta is not None and t._meta.retains_grad and old is not None and old._hooks is not None:
        ref = old._hooks.retain.pop(t._output_nr, None)
        if ref is not None:
            node._all_hooks().retain[0] = ref
    t._requires_grad, t._grad_fn, t._output_nr = True, node, 0


def refusal(view: Tensor, modified: str) -> str:
    """Why a view must not be written to, or have its base written to (`modified` says which)."""
    made_in, node = view._meta.made_in, view._grad_fn
    if made_in == "custom":
        start = (
            f"A view was created in no_grad mode and {modified} modified inplace with grad mode enabled."
            if node is None
            else f"Output {view._output_nr} of {short_name(node)} is a view and {modified} modified inplace."
        )
        return (
            f"{start} This view was created inside a custom Function (or because an "
            "input was returned as-is) and the autograd logic to handle view+inplace would override the custom backward "
            "associated with the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this "
            "by cloning the output of the custom Function."
        )
    mode = "inference" if made_in == "inference" else "no_grad"
    maker = "" if node is None else short_name(node)
    if made_in == "multi_output" and node is not None:
        start = f"Output {view._output_nr} of {maker} is a view and {modified} modified inplace."
    else:
        now = "in normal mode" if made_in == "inference" else "with grad mode enabled"
        view_of = (
            "A view was created"
            if node is None
            else f"Output {view._output_nr} of {maker} is a view of a view which was created"
        )
        start = f"{view_of} in {mode} mode and {modified} modified inplace {now}."
    if made_in == "multi_output":
        return (
            f"{start} This view is the output of a function that returns multiple views. Such functions do not allow the "
            "output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    block = "inference_mode" if made_in == "inference" else "no_grad"
    return (
        f"{start} Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
        f"both the view and the inplace either both inside the {block} block (if you don't want the inplace to be tracked) or "
        "both outside (if you want the inplace to be tracked)."
    )


__all__ = ["as_strided"]
