"""How an operation is run that is not as usual: `general` puts the arguments of a call in order, whatever they are; `perform`
asks a transform if one is active, and calls the operation's `core`. All that template.py writes lives in this namespace."""
# ruff: noqa: F401

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from operator import index, is_not
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..autograd.anomaly import remember_traceback
from ..autograd.modes import anomaly, local, special
from ..autograd.node import Node, edge, next_sequence
from ..autograd.saved import Packed, saved_result, unpack
from ..autograd.views import make_view, write
from ..basics import wrap_dim
from ..tensor import InferenceTensor, Tensor, new_object, plain_types, wrap
from ..words import INFERENCE_SAVED, ORDER, expect, full_name
from .errors import ONE_BOOL, explained

if TYPE_CHECKING:
    from .table import Op

ndarray, asarray, NoneType = np.ndarray, np.asarray, type(None)
arrays = frozenset({ndarray, np.float32, np.float64, np.bool_})  # NumPy makes numbers of 0-d arrays

# ---------------------------------------------------------------- arguments

# Python numbers as tensors, by number, type and dtype beside them: making the array each time would double the cost of
# `x * 2`. Of the zeros only the integers are kept, as 0.0 == -0.0.
numbers: dict[tuple, Tensor] = {}


def operand(value: object, like: Tensor, floating: bool = False) -> object:
    """A Python number as a 0-d tensor of the dtype that it takes beside `like`; anything else as it is.

    floating: in an operation whose result is floating point in any case, so that an integer need not fit a small dtype.
    """
    kind, dtype = type(value), like._array.dtype
    key = value, kind, floating, dtype.char if dtype.kind == "f" else dtype.char + dtypes.default_float().char
    try:
        found = numbers.get(key)
    except TypeError:  # it cannot be hashed, so it is no number
        return value
    if found is not None:
        return found
    if isinstance(value, np.generic):
        return operand(value.item(), like, floating)
    if kind not in (float, int, bool):
        return value
    expect(kind is not int or -(1 << 63) <= value < 1 << 63, "int too big to convert", error=OverflowError)
    given = float(value) if floating and kind is int and dtype.kind != "f" else value
    own = np.dtype(np.bool_ if kind is bool else np.int64 if type(given) is int else dtypes.default_float())
    found = wrap(dtypes.wrapped(given, dtypes.promote([(dtype, 2), (own, 0)])))
    found._number = value  # what `_saved_other` shows: an integer stays one beside floats
    if len(numbers) > 4096:
        numbers.clear()
    if value or kind is not float:
        numbers[key] = found
    return found


def promoted(arrays: Sequence[ndarray | None], op: Op) -> list[ndarray | None]:
    """The arrays in the common dtype in which the operation is done, None for one that is not given."""
    expect(op.name != "sub" or all(a is None or a.dtype.kind != "b" for a in arrays), ONE_BOOL)
    parts = [(a.dtype, 2 if a.ndim else 1) for a in arrays if a is not None]
    wanted = parts[0][0] if all(d == parts[0][0] for d, _ in parts) else dtypes.promote(parts)
    if op.floating and wanted.kind != "f":
        wanted = dtypes.default_float()
    return [a if a is None or a.dtype == wanted else a.astype(wanted) for a in arrays]


def as_dims(dims: object, ndim: int, order: bool = False) -> tuple[int, ...]:
    """An int or several, counted from the front; all dimensions for None and for (). order: it must be all of them."""
    size = () if dims is None else as_size(dims)
    expect(not order or len(size) == ndim, ORDER, ndim, len(size))
    found = tuple([wrap_dim(d, ndim) for d in size])
    expect(not order or len({*found}) == ndim, "permute(): duplicate dims are not allowed.")
    for i, d in enumerate(found):
        expect(d not in found[:i], "dim {} appears multiple times in the list of dims", d)
    return found[:ndim] or tuple(range(ndim) if size or not dims else ())  # a 0-d tensor takes dim 0


def as_size(size: object) -> tuple[int, ...]:
    """Lengths that were given one by one, or as one sequence."""
    if type(size) is not tuple and not isinstance(size, (tuple, list)):
        return (size,)
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    return tuple(map(index, size))


def as_shape(size: object, numel: int) -> tuple[int, ...]:
    """A shape for `numel` elements, in which one length may be -1. RuntimeError in PyTorch's words if that does not fit."""
    size = as_size(size)
    if not size or min(size) >= 0:
        return size
    for place, n in enumerate(size):
        expect(n >= -1, "invalid shape dimension {} at index {} of shape {}", n, place, size)
    expect(size.count(-1) == 1, "only one dimension can be inferred")
    known, free = -math.prod(size), size.index(-1)
    told = "because the unspecified dimension size -1 can be any value and is ambiguous"
    expect(known != 0, "cannot reshape tensor of {} elements into shape {} " + told, numel, size)
    expect(numel % known == 0, "shape '{}' is invalid for input of size {}", size, numel)
    return (*size[:free], numel // known, *size[free + 1 :])


# ---------------------------------------------------------------- the general way


def general(op: Op, args: tuple, kwargs: dict, how: tuple[str, bool, Callable]) -> object:
    """Run an operation, whatever its arguments are and whatever is going on.

    how: what it was called, whether it was called as a method, and what runs it: `perform`, or `write` in place.
    An operator leaves what it does not know to Python, which asks the other operand.
    """
    name, method, run = how
    try:
        values = op.signature.bind(args, kwargs, name, method)
    except TypeError:
        if name == "__eq__" and isinstance(args[1], ndarray):  # PyTorch's only operator that takes an array
            return general(op, (args[0], wrap(args[1])), kwargs, how)
        if name.startswith("__"):
            return NotImplemented
        raise
    inputs, params = [values[n] for n in op.inputs], [values[n] for n in op.params]
    inputs = list(inputs[0]) if op.variadic else inputs
    tensors = [t for t in inputs if isinstance(t, Tensor)]
    if not tensors and any(isinstance(t, (ndarray, np.generic)) for t in inputs):  # inside a rule
        arrays = [t if t is None or isinstance(t, (int, float)) else np.asarray(t) for t in inputs]
        return op.forward(*([arrays] if op.variadic else arrays), *op.order(arrays[0], *params))
    if len(tensors) < len(inputs) and not op.variadic:
        like = next((t for t in tensors if t._array.dtype.kind != "b"), tensors[0])
        inputs = [t if t is None or isinstance(t, Tensor) else operand(t, like, op.floating) for t in inputs]
    for place, t in enumerate(inputs if op.variadic else ()):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {full_name(type(t))}")
    return run(op, inputs, op.order(inputs[0]._array, *params) if inputs else params)


def perform(op: Op, inputs: Sequence[Tensor | None], params: Sequence) -> object:
    """Run an operation on tensors, where it goes now; the parameters are in order."""
    if special and local.interpreter is not None:
        return local.interpreter.process(op, tuple(inputs), tuple(params))
    return op.core([t if t is None else t._outside() for t in inputs], params, None)


def finish(op: Op, node: Node, outs: Sequence[Tensor]) -> None:
    """What is unusual about recording: hooks on saved tensors, anomaly mode, tensors of inference mode."""
    saved, hooks = list(node._kept), op.node_class._frees and local.saved_hooks[-1:]
    for i in op.saved_tensors:  # in turn, as PyTorch does: what stands before the refused one has been packed
        expect(saved[i].__class__ is not InferenceTensor, INFERENCE_SAVED)
        if hooks and saved[i] is not None and not hasattr(saved[i], "_number") and op.saves[i][0] != "_":
            source, position = op.sources[i]
            saved[i] = Packed(outs[position] if source == "result" else saved[i], hooks[0], node)
    if hooks:
        for i, kept in enumerate(saved):
            if type(kept) is tuple and any(isinstance(v, Tensor) for v in kept):  # of an index
                saved[i] = tuple([Packed(v, hooks[0], node) if isinstance(v, Tensor) else v for v in kept])
        if any(map(is_not, saved, node._kept)):  # packed: these have no version, rules cannot read them
            node._version = ~node._version
        node._kept = tuple(saved)
    if anomaly.on:
        remember_traceback(node)


def fit(grad: object, shape: tuple, dtype: np.dtype) -> object:
    """Undo broadcasting and promotion: sum `grad` to `shape` and cast it to `dtype`."""
    if grad is None or (type(grad) is ndarray and grad.shape == shape and grad.dtype is dtype):
        return grad
    if isinstance(grad, Tensor):
        if grad._array.shape != shape:
            grad = grad.sum_to_size(shape)
        return grad if grad._array.dtype == dtype else grad.to(dtypes.of_numpy(dtype))
    grad = np.asarray(grad)
    if grad.shape != shape:
        bias = grad.ndim == 2 and shape == grad.shape[1:] and grad.dtype.char in "fd"
        grad = constant(len(grad), grad.dtype.char).dot(grad) if bias else sum_to(grad, shape)
    return grad if grad.dtype is dtype or grad.dtype == dtype else grad.astype(dtype)


def fit_each(grads: Sequence, node: Node) -> tuple:
    """The gradients of tensors that were joined, promotion undone: as in PyTorch all, even those nobody needs."""
    if node._meta is not None:
        grads = [fit(g, *look) for g, look in zip(grads, node._meta, strict=True)]
    return tuple(grads)


@functools.lru_cache(maxsize=256)
def constant(shape: int | tuple, dtype: str | np.dtype, number: float = 1) -> ndarray:
    """A product with ones sums in half the time of NumPy's own; a 0-d array is ready, as a Python number is not."""
    return np.full(shape, number, dtype) if shape != () else np.array(number, dtype)  # in a third of the time


def sum_to(array: ndarray, shape: tuple) -> ndarray:
    """Sum an array over the axes that broadcasting has added or stretched."""
    lead = array.ndim - len(shape)
    axes = tuple([i for i, n in enumerate(array.shape) if i < lead or (n != 1 and shape[i - lead] == 1)])
    array = np.add.reduce(array, axis=axes, keepdims=True) if axes else array
    array = array.reshape(array.shape[max(lead, 0) :])
    # a gradient that is smaller than its input is stretched
    return array if array.shape == shape else np.broadcast_to(array, shape)
