"""Views: tensors that show part of another one's memory, their base, and the nodes that follow from a write into it.

The positions of a view's elements are one array of integers, its *places*: they number the base's elements row by row. After an
in-place operation on a view (ops/inplace.py) the base's grad_fn is a `CopySlices`, which sends the gradient of the written
places to the operation and the rest to the old history. The view's own grad_fn becomes a read of its places in the base
(`AsStridedBackward0`), and so does that of every other view on its next use.
"""

from __future__ import annotations

import numpy as np

from .. import messages
from ..basics import check, short_name
from ..tensor import AutogradMeta, InferenceTensor, Tensor, wrap
from .modes import local, special
from .node import RELEASED, Node, gradient_node, new_node

ndarray = np.ndarray

# ---------------------------------------------------------------- views


class ViewMeta(AutogradMeta):
    """The AutogradMeta of a view."""

    def refresh(self, view: Tensor) -> None:
        """Make the grad_fn of a view whose base was written to: a read of its part of the base as it is now."""
        base = self.base
        if base._requires_grad or view._grad_fn is not None:
            if self.creation_meta is not None:
                raise RuntimeError(refusal_message(view, "its base or another view of its base has been"))
            rebase(view, read_of(gradient_node(base), base._output_nr, places(view), base._array.shape))
        self.seen_version = view._counter.version


def make_view(out: Tensor, source: Tensor, several: bool = False) -> None:
    """Make `out` a view of `source`, or one of `several`: it shares the version counter and knows its base."""
    counter = out._counter = source._counter or source._own_counter()
    if source.__class__ is InferenceTensor:
        out.__class__ = InferenceTensor  # outside of all graphs, so its base does not matter
        return
    known, meta = source._meta, ViewMeta()
    base = source if known is None or known.base is None else known.base
    meta.base, meta.seen_version = base, counter.version
    if special and not local.records:
        meta.creation_meta = "inference" if local.inference else "no_grad"
        out._requires_grad = meta.borrows = base._requires_grad
    elif several:
        meta.creation_meta = "multi_output"
    elif known is not None and known.creation_meta is not None:
        meta.creation_meta = known.creation_meta
    out._meta = meta
    if not base._requires_grad or meta.borrows:
        counter.add_view(out)


def places(view: Tensor) -> ndarray:
    """The positions of a view's elements in its base, counted row by row; in the view's shape, stretched where the view is."""
    array, base = view._array, view._meta.base._array
    if not array.size:
        return np.empty(array.shape, np.int64)
    first = base.__array_interface__["data"][0]
    if base.flags.c_contiguous:
        numbers = np.arange(base.size)
    else:  # memory laid out like that of the base, in which each element is its own number
        end = sum([(n - 1) * s for n, s in zip(base.shape, base.strides, strict=True)]) // base.itemsize
        numbers = np.empty(end + 1, np.int64)
        own = ndarray(base.shape, numbers.dtype, numbers, 0, [s * 8 // base.itemsize for s in base.strides])
        own[...] = np.arange(base.size).reshape(base.shape)
    longer = numbers.itemsize // base.itemsize
    start, steps = (view.data_ptr() - first) * longer, [s * longer for s in array.strides]
    result = ndarray(array.shape, numbers.dtype, numbers, start, steps)
    return result if is_stretched(array) else result.copy()


def read_of(base: Node, output_nr: int, where: ndarray, shape: tuple) -> Node:
    """The node that reads the places `where` of a tensor of this shape, which the node `base` made."""
    return new_node(AsStridedBackward0, (base,), (output_nr,), (where, shape))


class AsStridedBackward0(Node):
    """The node of a view whose base was written to: a read of its places in the base as it is now."""

    __slots__ = ()

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        where, shape = self._context
        if recorded:
            return (grad._spread_places(shape, where),)
        out = np.zeros(shape, grad.dtype)
        np.add.at(out.reshape(-1), where.reshape(-1), grad.reshape(-1))
        return (out,)


class CopySlices(Node):
    """The node of a base after a write to one of its views: the gradient of the written places goes to the node of what was
    written, the rest to the history that the base had before."""

    __slots__ = ()
    _frees = True

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        check(self._versions is not RELEASED, messages.FREED)
        inner, where = self._context
        part = grad._take_places(where) if recorded else np.asarray(grad.reshape(-1).take(where))
        first, *others = inner._vjp(part, recorded)
        check(first is None or self._next_nodes[0] is None or 0 not in where.strides, messages.STRETCHED)
        first = np.zeros(where.shape, (part._array if recorded else part).dtype) if first is None else first
        if recorded:
            rest = grad._put_places(first if isinstance(first, Tensor) else wrap(first), where)
        else:
            rest = grad.copy()
            rest.reshape(-1)[where] = first
        return (None if self._next_nodes[0] is None else rest, *others)


def is_stretched(array: ndarray) -> bool:
    """Whether an array shows an element several times, as the result of `expand` does."""
    pairs = zip(array.strides, array.shape, strict=True)
    return 0 in array.strides and array.size > 0 and any(s == 0 < n - 1 for s, n in pairs)


# ---------------------------------------------------------------- methods of Tensor


def detach_(self: Tensor) -> Tensor:
    """Detach this tensor from its history, in place. Refused for views."""
    check(not self._is_view(), messages.DETACH_VIEW)
    if self._backward_hooks:
        self._own_meta().hooks = self._backward_hooks  # they stay with it, and with its old history
    self._own_counter().detached = 1
    self._requires_grad, self._grad_fn, self._output_nr = False, None, 0
    if self._counter.views:
        self._notify_views()
    return self


def notify_views(self: Tensor) -> None:
    """Make the living views of a base follow it when it starts or stops requiring grad."""
    for ref in self._counter.views:
        view = ref()
        if view is None or view._meta.base is not self:
            continue
        if self._requires_grad:
            view._meta.borrows = view._meta.borrows or not view._requires_grad
            view._requires_grad = True
        elif view._meta.borrows and view._grad_fn is None:
            view._requires_grad = False


# ---------------------------------------------------------------- after a write


def rebase(t: Tensor, node: Node) -> None:
    """Make `node` the history of a tensor that has been written to; a retained gradient moves with it."""
    known, old = t._requires_grad, t._grad_fn
    if t._meta is not None and t._meta.retains_grad and old is not None and old._hooks is not None:
        ref = old._hooks.retain.pop(t._output_nr, None)
        if ref is not None:
            node._own_hooks().retain[0] = ref
    t._requires_grad, t._grad_fn, t._output_nr = True, node, 0
    if not known and t._counter.views:
        t._notify_views()


def refusal_message(view: Tensor, modified: str) -> str:
    """Why a view must not be written to, or have its base written to (`modified` says which)."""
    creation_meta, node, maker = view._meta.creation_meta, view._grad_fn, "A view was created"
    why = {"custom": messages.CUSTOM_VIEW, "multi_output": messages.ONE_OF_SEVERAL_VIEWS}.get(creation_meta)
    if node is not None:
        output = f"Output {view._output_nr} of {short_name(node)} is a view"
        if why:
            return f"{output} and {modified} modified inplace.{why}"
        maker = f"{output} of a view which was created"
    block, now = "no_grad", "with grad mode enabled"
    if creation_meta == "inference":
        block, now = "inference_mode", "in normal mode"
    start = f"{maker} in {block.removesuffix('_mode')} mode and {modified} modified inplace {now}."
    return start + (why or messages.MODE_VIEW.format(block))
