"""Writing in place: every write goes through `write`.

An operation is run as usual, and its result is written into its first input, whose history becomes the node of the
operation. autograd/views.py explains what a write does to views and their base.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

import numpy as np

from .. import messages
from ..autograd.grad_mode import remember_traceback
from ..autograd.modes import anomaly, is_plain, local, special
from ..autograd.node import Node, gradient_node, new_node
from ..autograd.saved import written_views
from ..autograd.views import CopySlices, is_stretched, places, read_of, rebase, refusal_message
from ..basics import check
from ..tensor import Counter, InferenceTensor, Tensor, plain_types, wrap
from .general import apply, arrange, call_any
from .op import CallForm, Op
from .operands import check_result

ndarray = np.ndarray

# ---------------------------------------------------------------- what users call


def in_place_function_of(op: Op, form: CallForm) -> Callable:
    """The function that users call to write the result into the first tensor: `x.add_(y)`, `x[0] = 1`."""
    required = [i for i, n in enumerate(op.inputs) if op.signature.defaults[n] is not None]
    forward, direct = op.forward, type(op.forward) is np.ufunc and len(op.rules) == len(op.inputs) == 2

    def call(*args, **kwargs):
        if direct and len(args) == 2 and not kwargs and can_write_through(*args):  # `w -= lr * w.grad`
            target, other = args
            forward(target._array, other._array, out=target._array)
            target._own_counter().version += 1
            return target
        arranged = arrange(op, form, args, kwargs)
        unusual = arranged is None or any(arranged[0][i] is None for i in required)
        return call_any(op, form, args, kwargs) if unusual else write(op, *arranged)

    return call


def can_write_through(target: object, other: object) -> bool:
    """Whether NumPy may compute straight into the memory of `target`: nothing is recorded, cast or shared."""
    if type(target) not in plain_types or type(other) not in plain_types or (special and not is_plain()):
        return False
    x, y = target._array, other._array
    if (target._requires_grad or other._requires_grad) and (not special or local.modes.grad):
        return False
    alone = other._counter is None or other._counter is not target._counter
    fits = y.dtype is x.dtype and y.shape in (x.shape, ())
    return alone and fits and x.dtype.kind == "f" and 0 not in x.strides


# ---------------------------------------------------------------- write


def write(op: Op, inputs: Sequence[Tensor | None], params: Sequence = ()) -> Tensor:
    """Run an operation and write the result into its first input. Returns that input.

    Raises RuntimeError, before anything is written, if the input is a leaf that requires grad (or a view of one), if the
    result does not fit, or if the memory is shared in a way that leaves no clear meaning.
    """
    if special and local.interpreter is not None:
        return local.interpreter.write(op, tuple(inputs), tuple(params))
    inputs = tuple([t if t is None else t._outside() for t in inputs])  # its transform has ended

    def store(t: Tensor, new: Tensor) -> None:
        t._array[...] = new._array

    return overwrite(op, inputs, lambda given: apply(op, given, params), store, old_value)


def overwrite(op: Op, inputs: tuple, compute, store, old, needs_old: bool = False) -> Tensor:
    """The part of `write` that each level of transforms does: `compute` gives the result from the inputs; `store` writes it.
    Rules read the old value of the target, which `old` copies; needs_old: copy it even if nothing is recorded here."""
    target, recording = inputs[0], is_recorded(op, inputs)
    if recording or (not op.differentiable and target._requires_grad and local.records):
        check_writable(target)
    one_number = op.name in ("fill", "zero")
    itself = op.name == "copy" and same_memory_layout(target, inputs[1])
    new = compute((old(target), *inputs[1:]) if "self" in op.saves and (recording or needs_old) else inputs)
    if not itself and (len(inputs) > 1 or not one_number):
        check_memory(inputs)
    check_result(new._array, target._array)
    store(target, new)
    bump_version(target)
    if recording and new._grad_fn is not None:
        save_written(new._grad_fn, target)
        record_write(target, new._grad_fn)
    return target


def is_recorded(op: Op, inputs: tuple) -> bool:
    """Whether writing the operation's result into its first input becomes part of the graph: never for integers."""
    needing = [i for i in op.differentiable if inputs[i] is not None and inputs[i]._requires_grad]
    return bool(needing) and inputs[0]._array.dtype.kind == "f" and (not special or local.records)


def check_writable(t: Tensor) -> None:
    """Raise PyTorch's error if `t` must not be written to by an operation that is recorded."""
    base = t._meta and t._meta.base
    if base is not None and t._meta.creation_meta is not None:
        raise RuntimeError(refusal_message(t, "is being"))
    whole = t if base is None else base
    if t._requires_grad and (whole._grad_fn is None or (whole._meta is not None and whole._meta.argument)):
        raise RuntimeError(messages.LEAF if base is None else messages.VIEW_OF_LEAF)
    # The base became part of a graph after the view was made, and the view's grad_fn has not been read since.
    check(not t._requires_grad or t._grad_fn is not None, messages.LEAF)


def check_memory(inputs: tuple) -> None:
    """Raise PyTorch's error if the target shows an element twice, or overlaps another input that is not itself."""
    array = inputs[0]._array
    check(not is_stretched(array), messages.STRETCHED)
    for t in inputs[1:]:
        if t is not None and t._counter is inputs[0]._counter is not None:
            check(same_memory_layout(inputs[0], t) or not np.shares_memory(array, t._array), messages.OVERLAP)


def same_memory_layout(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors show the same elements of the same memory in the same order."""
    shared = one._counter is other._counter is not None
    return one is other or (shared and one._array.__array_interface__ == other._array.__array_interface__)


def bump_version(t: Tensor) -> None:
    """Count a write. Raises if an inference tensor is written to outside of inference_mode; as in PyTorch, after the write."""
    check(t.__class__ is not InferenceTensor or local.inference, messages.INFERENCE_WRITTEN)
    t._own_counter().version += 1


def old_value(t: Tensor, copy: Tensor | None = None) -> Tensor:
    """A copy of `t`, with its place in the graph, from before it is written to."""
    before = wrap(t._array.copy()) if copy is None else copy
    before._grad_fn, before._requires_grad = gradient_node(t), t._requires_grad
    before._output_nr, before._counter = t._output_nr, Counter()
    return before


def save_written(node: Node, t: Tensor) -> None:
    """Make the result that a node saved share the memory and version of the tensor that it was written into."""
    results = () if node._op is None else node._op.saved_results
    if not results:
        return
    saved = enumerate(node._context)
    node._context = tuple([t._array if i in results and type(s) is ndarray else s for i, s in saved])
    node._result_counter = t._own_counter()
    count = len(node._op.saved_inputs)
    versions = node._versions or (0,) * (count + 1)
    node._versions = (*versions[:count], t._counter.version, *versions[count + 1 :])


def record_write(t: Tensor, node: Node) -> None:
    """Make `node` the history of what was just written into `t`."""
    base = t._base
    if base is None:
        rebase(t, node)
        return
    where, shape = places(t), base._array.shape
    others, numbers = node._next_nodes[1:], (node._output_nrs or (0,) * len(node._next_nodes))[1:]
    slices = new_node(CopySlices, (gradient_node(base), *others), (base._output_nr, *numbers), (node, where))
    if anomaly.on:
        remember_traceback(slices)
    rebase(base, slices)
    # The view's new history is made now, not on first use: the node's number decides when it runs.
    rebase(t, read_of(slices, 0, where, shape))
    t._meta.seen_version = t._counter.version
    if node._op is not None and node._op.saved_results:
        whole, part = weakref.ref(slices), weakref.ref(t._grad_fn)
        written_views[node] = lambda: part() or (whole() and read_of(whole(), 0, where, shape))
