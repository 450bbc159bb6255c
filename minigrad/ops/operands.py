"""Around a computation: before it, numbers become tensors and dtypes are promoted; after it, gradients are fitted to the
inputs; if it fails, the error gets PyTorch's words, which costs a successful call nothing.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence

import numpy as np

from .. import dtypes, messages
from ..basics import check
from ..tensor import Tensor, wrap
from .op import CallForm, Op

ndarray = np.ndarray

# ---------------------------------------------------------------- before

# Python numbers as tensors, by number, type and the other operand's dtype: making the array each time would double the cost of
# `x * 2`. Only integer zeros are kept, since 0.0 == -0.0.
numbers: dict[tuple, Tensor] = {}


def operand(value: object, like: Tensor, floating: bool = False) -> object:
    """A Python number as a 0-d tensor of the dtype that it takes with `like`; anything else unchanged. floating: the
    operation's result is always floating point, so that an integer need not fit a small dtype."""
    kind, dtype = type(value), like._array.dtype
    key = value, kind, floating, dtype.char if dtype.kind == "f" else dtype.char + dtypes.default_float().char
    try:
        result = numbers.get(key)
    except TypeError:  # it cannot be hashed, so it is not a number
        return value
    if result is not None:
        return result
    if isinstance(value, np.generic):
        return operand(value.item(), like, floating)
    if kind not in (float, int, bool):
        return value
    check(kind is not int or -(1 << 63) <= value < 1 << 63, "int too big to convert", error=OverflowError)
    given = float(value) if floating and kind is int and dtype.kind != "f" else value
    own = np.dtype(np.bool_ if kind is bool else np.int64 if type(given) is int else dtypes.default_float())
    result = wrap(dtypes.wrapped(given, dtypes.promote([(dtype, 2), (own, 0)])))
    result._number = value  # what `_saved_other` shows: an integer stays an integer, even with floats
    if len(numbers) > 4096:
        numbers.clear()
    if value or kind is not float:
        numbers[key] = result
    return result


def promoted(op: Op, arrays: Sequence[ndarray | None]) -> Sequence[ndarray | None]:
    """The arrays of the inputs, brought into the dtype in which the operation is done; None for an input that is not given."""
    if op.variadic:
        return in_common_dtype(op, arrays)
    if op.promotes:
        common = in_common_dtype(op, [arrays[i] for i in op.promotes])
        if len(op.promotes) == len(arrays):
            return common
        result = dict(zip(op.promotes, common, strict=True))
        return [result.get(i, a) for i, a in enumerate(arrays)]
    if op.floating:
        return [a if a is None or a.dtype.kind == "f" else a.astype(dtypes.default_float()) for a in arrays]
    return arrays


def in_common_dtype(op: Op, arrays: Sequence[ndarray | None]) -> Sequence[ndarray | None]:
    """The arrays in the dtype to which all of them are promoted: the same list if they already have it."""
    if not arrays:
        return arrays
    parts = [(a.dtype, 2 if a.ndim else 1) for a in arrays if a is not None]
    common = parts[0][0] if all(d == parts[0][0] for d, _ in parts) else dtypes.promote(parts)
    check(op.name != "sub" or common.kind == "b" or all(d.kind != "b" for d, _ in parts), messages.ONE_BOOL)
    if op.floating and common.kind != "f":
        common = dtypes.default_float()
    return [a if a is None or a.dtype == common else a.astype(common) for a in arrays]


# ---------------------------------------------------------------- after


def fit(grad: object, metadata: tuple[tuple, np.dtype] | None) -> object:
    """Undo broadcasting and promotion: sum a gradient to the shape, and cast it to the dtype, that its input had."""
    if grad is None or metadata is None:
        return grad
    shape, dtype = metadata
    if type(grad) is ndarray and grad.shape == shape and grad.dtype is dtype:
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


@functools.lru_cache(maxsize=256)
def constant(shape: int | tuple, dtype: str | np.dtype, number: float = 1) -> ndarray:
    """A constant array. A product with ones is NumPy's quickest sum; a 0-d array is quicker than a Python number."""
    return np.full(shape, number, dtype) if shape != () else np.array(number, dtype)  # in a third of the time


def sum_to(array: ndarray, shape: tuple) -> ndarray:
    """Sum an array over the axes that broadcasting has added or stretched."""
    lead = array.ndim - len(shape)
    axes = tuple([i for i, n in enumerate(array.shape) if i < lead or (n != 1 and shape[i - lead] == 1)])
    array = np.add.reduce(array, axis=axes, keepdims=True) if axes else array
    array = array.reshape(array.shape[max(lead, 0) :])
    # a gradient that is smaller than its input is stretched
    return array if array.shape == shape else np.broadcast_to(array, shape)


def check_result(result: ndarray, target: ndarray) -> None:
    """Raise PyTorch's error if a result has the wrong shape, or the wrong kind of number, to be written into `target`."""
    if result.shape != target.shape:
        raise RuntimeError(messages.OUT_SHAPE.format([*target.shape], [*result.shape]))
    ranks = dtypes.category
    if result.dtype is not target.dtype and ranks[result.dtype.kind] > ranks[target.dtype.kind]:
        raise RuntimeError(messages.OUT_DTYPE.format(*map(dtypes.word, (result.dtype, target.dtype))))


# ---------------------------------------------------------------- if it fails

Call = tuple[CallForm, tuple, dict]  # how an operation was called, and its arguments
NOUNS = ("array", "axis", "axes", "broadcast", "dimension", "operand", "shape")  # of NumPy's messages


def translated(error: Exception, op: Op, arrays: Sequence, call: Call | None = None) -> Exception:
    """The exception to raise instead of `error`, which NumPy raised in an operation. call: how it was called, if the
    arguments have not been checked yet. Raises TypeError if one of them does not fit."""
    values = {}
    if call is not None:
        form, args, kwargs = call
        values = form.signature.bind(args, kwargs, form.name, form.method)
    arrays, text = [a for a in arrays if a is not None], str(error)
    for pattern, message in messages.OF_NUMPY.items():
        if isinstance(error, (TypeError, ValueError)) and pattern in text:
            return RuntimeError(message)
    if "no identity" in text or "of an empty" in text:  # the largest of zero elements
        dim, message = values.get("dim"), f"{op.name}(): Expected reduction dim "
        if type(dim) is int:
            return IndexError(f"{message}{dim % arrays[0].ndim} to have non-zero size.")
        message += "to be specified for input.numel() == 0."
        message += " Specify the reduction dim with the 'dim' argument." * ("arg" not in op.name)
        return (IndexError if "arg" in op.name else RuntimeError)(message)
    if isinstance(error, TypeError) and "ufunc" in text and arrays:
        dtypes.require("", op.kernel, np.result_type(*arrays))
    if isinstance(error, ValueError) and (op.kind == "elementwise" or "broadcast" in text):
        result = unlike_sizes(arrays)
        if result is not None:
            return result
    if isinstance(error, IndexError) and "arrays" in text:
        shapes = ", ".join([f"[{s.replace(',', ', ')}]" for s in re.findall(r"\(([\d,]*?),?\)", text)])
        return IndexError(text.partition("(")[0].replace("arrays", "tensors") + shapes)
    if isinstance(error, IndexError):
        return IndexError(text.replace("axis", "dimension"))
    if "cannot reshape array of size" in text:
        numel, shape = re.fullmatch(r"cannot reshape .* size (\d+) into shape \((.*?),?\)", text).groups()
        return RuntimeError(f"shape '[{shape.replace(',', ', ')}]' is invalid for input of size {numel}")
    if isinstance(error, ValueError) and arrays and any(word in text for word in NOUNS):
        shapes = ", ".join(str(list(a.shape)) for a in arrays)
        return RuntimeError(f"{op.name} of {shapes}: {text}")
    return error


def unlike_sizes(arrays: Sequence[np.ndarray]) -> RuntimeError | None:
    """PyTorch's error for shapes that do not broadcast; None if they do."""
    ndim = max((a.ndim for a in arrays), default=0)
    for a, b in itertools.pairwise([(1,) * (ndim - a.ndim) + a.shape for a in arrays]):
        for dim in reversed(range(ndim)):
            if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
                return RuntimeError(messages.UNLIKE_SIZES.format(a[dim], b[dim], dim))
    return None
