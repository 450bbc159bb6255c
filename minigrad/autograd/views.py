"""Views, and writing in place: `write` is the one door for all of it.

A view shows part of its base's memory. Where its elements lie is one array of integers, its *places*: they count the
elements of the base row by row. An in-place operation on a result re-bases it: its grad_fn becomes the node of the
operation. On a view the base's grad_fn becomes a `CopySlices`, which hands the gradient of the written places to the
operation and the rest on to the old history; the view's own grad_fn becomes a read of its places in the base
(`AsStridedBackward0`), as that of every other view does when somebody asks.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes, words
from ..tensor import AutogradMeta, Counter, InferenceTensor, Tensor, wrap
from ..words import expect
from .anomaly import remember_traceback
from .modes import anomaly, local, special
from .node import Node, edge, new_node
from .saved import FIELD, short_name, written_views

if TYPE_CHECKING:
    from ..ops.table import Op

ndarray = np.ndarray

# ---------------------------------------------------------------- views


class ViewMeta(AutogradMeta):
    """The AutogradMeta of a view."""

    def refresh(self, view: Tensor) -> None:
        """Make the grad_fn of a view whose base was written to: a read of its part of the base as it is now."""
        base = self.base
        if base._requires_grad or view._grad_fn is not None:
            if self.made_in is not None:
                raise RuntimeError(refusal(view, "its base or another view of its base has been"))
            rebase(view, read_of(edge(base), base._output_nr, places(view), base._array.shape))
        self.seen_version = view._counter.version


def make_view(out: Tensor, source: Tensor, several: bool = False) -> None:
    """Tell `out`, on the memory of `source`, that it is a view, maybe one of `several`: same version counter, known base."""
    counter = out._counter = source._own_counter()
    if source.__class__ is InferenceTensor:
        out.__class__ = InferenceTensor  # outside of all graphs, so nobody asks for its base
        return
    known, meta = source._meta, ViewMeta()
    base = source if known is None or known.base is None else known.base
    meta.base, meta.seen_version = base, counter.version
    if special and not local.records:
        meta.made_in = "inference" if local.inference else "no_grad"
        out._requires_grad = meta.borrows = base._requires_grad
    elif several:
        meta.made_in = "multi_output"
    elif known is not None and known.made_in is not None:
        meta.made_in = known.made_in
    out._meta = meta
    if not base._requires_grad or meta.borrows:
        counter.add_view(out)


def places(view: Tensor) -> ndarray:
    """Where the elements of a view are in its base, counted row by row; in the view's shape, and stretched where it is."""
    array, base = view._array, view._meta.base._array
    if not array.size:
        return np.empty(array.shape, np.int64)
    first = base.__array_interface__["data"][0]
    if base.flags.c_contiguous:
        numbers = np.arange(base.size)
    else:  # memory that is laid out as that of the base, with the number of each element in its place
        end = sum([(n - 1) * s for n, s in zip(base.shape, base.strides, strict=True)]) // base.itemsize
        numbers = np.empty(end + 1, np.int64)
        own = ndarray(base.shape, numbers.dtype, numbers, 0, [s * 8 // base.itemsize for s in base.strides])
        own[...] = np.arange(base.size).reshape(base.shape)
    longer = numbers.itemsize // base.itemsize
    start, steps = (view.data_ptr() - first) * longer, [s * longer for s in array.strides]
    found = ndarray(array.shape, numbers.dtype, numbers, start, steps)
    return found if is_stretched(array) else found.copy()


def read_of(base: Node, output_nr: int, where: ndarray, shape: tuple) -> Node:
    """The node of a read of the places `where` in what `base` made, which is of this shape."""
    return new_node(AsStridedBackward0, (base,), (output_nr,), (where, shape))


class AsStridedBackward0(Node):
    """The node of a view whose base was written to: a read of its places in the base as it is now."""

    __slots__ = ()

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        where, shape = self._kept
        if recorded:
            return (grad._spread_places(shape, where),)
        out = np.zeros(shape, grad.dtype)
        np.add.at(out.reshape(-1), where.reshape(-1), grad.reshape(-1))
        return (out,)


class CopySlices(Node):
    """The node of a base of which a view was written to: the gradient of the written places goes to the node of what was
    written, the rest to the history that the base had before."""

    __slots__ = ()
    _frees = True

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        expect(self._kept is not None, words.FREED)
        inner, where = self._kept
        part = grad._take_places(where) if recorded else np.asarray(grad.reshape(-1).take(where))
        first, *others = inner._vjp(part, recorded)
        expect(first is None or self._edges[0] is None or 0 not in where.strides, words.STRETCHED)
        first = np.zeros(where.shape, (part._array if recorded else part).dtype) if first is None else first
        if recorded:
            rest = grad._put_places(first if isinstance(first, Tensor) else wrap(first), where)
        else:
            rest = grad.copy()
            rest.reshape(-1)[where] = first
        return (None if self._edges[0] is None else rest, *others)


# ---------------------------------------------------------------- writing


def write(op: Op, inputs: tuple, params: tuple = ()) -> Tensor:
    """Run an operation and write the result into its first input. Returns that input.

    Raises RuntimeError, before anything is written, if the input is a leaf that requires grad (or a view of one), if the
    result does not fit, or if the memory is shared in a way that leaves no clear meaning.
    """
    if special and local.interpreter is not None:
        return local.interpreter.write(op, inputs, params)
    inputs = tuple([t if t is None else t._outside() for t in inputs])  # of a transform that has ended

    def store(t: Tensor, new: Tensor) -> None:
        t._array[...] = new._array

    return overwrite(op, inputs, lambda given: op.core(given, params, None), store, old_value)


def overwrite(op: Op, inputs: tuple, compute, store, old, keeps: bool = False) -> Tensor:
    """What `write` does at each level of transforms: `compute` gives the result from the inputs, `store` writes it. The rules
    read the target as it was, which `old` copies; keeps: also if nothing is recorded here, for a level below."""
    target, recording = inputs[0], is_recorded(op, inputs)
    if recording or (not op.differentiable and target._requires_grad and local.records):
        check_writable(target)
    one_number, itself = op.name in ("fill", "zero"), op.name == "copy" and show_the_same(target, inputs[1])
    new = compute((old(target), *inputs[1:]) if "self" in op.saves and (recording or keeps) else inputs)
    if not itself and (len(inputs) > 1 or not one_number):
        check_memory(inputs)
    check_result(new._array, target._array)
    store(target, new)
    count_write(target)
    if recording and new._grad_fn is not None:
        save_again(new._grad_fn, target)
        hang(target, new._grad_fn)
    return target


def is_recorded(op: Op, inputs: tuple) -> bool:
    """Does writing the result of the operation into its first input become part of the graph? Not into integers."""
    wanted = [i for i in op.differentiable if inputs[i] is not None and inputs[i]._requires_grad]
    return bool(wanted) and inputs[0]._array.dtype.kind == "f" and (not special or local.records)


def check_writable(t: Tensor) -> None:
    """Raise PyTorch's error if `t` must not be written to by an operation that is recorded."""
    base = t._meta and t._meta.base
    if base is not None and t._meta.made_in is not None:
        raise RuntimeError(refusal(t, "is being"))
    whole = t if base is None else base
    if t._requires_grad and (whole._grad_fn is None or (whole._meta is not None and whole._meta.argument)):
        raise RuntimeError(words.LEAF if base is None else words.VIEW_OF_LEAF)
    # Its base became part of a graph after it was made, and nobody has asked since.
    expect(not t._requires_grad or t._grad_fn is not None, words.LEAF)


def is_stretched(array: ndarray) -> bool:
    """Does an array show an element several times, as what `expand` returns?"""
    pairs = zip(array.strides, array.shape, strict=True)
    return 0 in array.strides and array.size > 0 and any(s == 0 < n - 1 for s, n in pairs)


def check_memory(inputs: tuple) -> None:
    """Raise PyTorch's error if the target shows an element twice, or overlaps another input without being it."""
    array = inputs[0]._array
    expect(not is_stretched(array), words.STRETCHED)
    for t in inputs[1:]:
        if t is not None and t._counter is inputs[0]._counter is not None:
            expect(show_the_same(inputs[0], t) or not np.shares_memory(array, t._array), words.OVERLAP)


def show_the_same(one: Tensor, other: Tensor) -> bool:
    """Do two tensors show the same elements of one memory in the same order?"""
    shared = one._counter is other._counter is not None
    return one is other or (shared and one._array.__array_interface__ == other._array.__array_interface__)


def check_result(result: ndarray, target: ndarray) -> None:
    """Raise PyTorch's error if a result is not of the shape, or not of a kind of number, to be written into `target`."""
    if result.shape != target.shape:
        told = f"{list(target.shape)} doesn't match the broadcast shape {list(result.shape)}"
        raise RuntimeError(f"output with shape {told}")
    ranks = dtypes.category
    if result.dtype is not target.dtype and ranks[result.dtype.kind] > ranks[target.dtype.kind]:
        told = f"{dtypes.word(result.dtype)} can't be cast to the desired output type {dtypes.word(target.dtype)}"
        raise RuntimeError(f"result type {told}")


def count_write(t: Tensor) -> None:
    """Count a write. Outside of inference_mode a tensor made in it cannot: an error, as in PyTorch after the write."""
    if t.__class__ is InferenceTensor and not local.inference:
        raise RuntimeError(words.INFERENCE_WRITTEN)
    t._own_counter().version += 1


def old_value(t: Tensor, copy: Tensor | None = None) -> Tensor:
    """A copy of `t`, with its place in the graph, from before it is written to."""
    before = wrap(t._array.copy()) if copy is None else copy
    before._grad_fn, before._requires_grad = edge(t), t._requires_grad
    before._output_nr, before._counter = t._output_nr, Counter()
    return before


def save_again(node: Node, t: Tensor) -> None:
    """The result that a node saved is now the tensor that was written to: share its memory and version."""
    results = () if node._op is None else node._op.saved_results
    if not results:
        return
    saved = enumerate(node._kept)
    node._kept = tuple([t._array if i in results and type(s) is ndarray else s for i, s in saved])
    node._counter, now = t._own_counter(), t._counter.version << FIELD * results[0]
    node._version += -now if node._version < 0 else now


def hang(t: Tensor, node: Node) -> None:
    """`node` is the history of what was just written into `t`."""
    base = t._base
    if base is None:
        rebase(t, node)
        return
    where, shape = places(t), base._array.shape
    edges, numbers = node._edges[1:], (node._input_nrs or (0,) * len(node._edges))[1:]
    slices = new_node(CopySlices, (edge(base), *edges), (base._output_nr, *numbers), (node, where))
    if anomaly.on:
        remember_traceback(slices)
    rebase(base, slices)
    # The view's new history is made now, not when somebody asks: the node's number decides when it runs.
    rebase(t, read_of(slices, 0, where, shape))
    t._meta.seen_version = t._counter.version
    if node._op is not None and node._op.saved_results:
        whole, part = weakref.ref(slices), weakref.ref(t._grad_fn)
        written_views[node] = lambda: part() or (whole() and read_of(whole(), 0, where, shape))


def rebase(t: Tensor, node: Node) -> None:
    """Make `node` the history of a tensor that has been written to; a retained gradient moves with it."""
    known, old = t._requires_grad, t._grad_fn
    if t._meta is not None and t._meta.retains_grad and old is not None and old._hooks is not None:
        ref = old._hooks.retain.pop(t._output_nr, None)
        if ref is not None:
            node._all_hooks().retain[0] = ref
    t._requires_grad, t._grad_fn, t._output_nr = True, node, 0
    if not known and t._counter.views:
        t._tell_views()


def refusal(view: Tensor, modified: str) -> str:
    """Why a view must not be written to, or have its base written to (`modified` says which)."""
    made_in, node, maker = view._meta.made_in, view._grad_fn, "A view was created"
    why = {"custom": words.CUSTOM_VIEW, "multi_output": words.ONE_OF_SEVERAL_VIEWS}.get(made_in)
    if node is not None:
        output = f"Output {view._output_nr} of {short_name(node)} is a view"
        if why:
            return f"{output} and {modified} modified inplace.{why}"
        maker = f"{output} of a view which was created"
    block, now = "no_grad", "with grad mode enabled"
    if made_in == "inference":
        block, now = "inference_mode", "in normal mode"
    start = f"{maker} in {block.removesuffix('_mode')} mode and {modified} modified inplace {now}."
    return start + (why or words.MODE_VIEW.format(block))
