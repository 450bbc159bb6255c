"""Functions that make tensors: from numbers, from arrays, filled, counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import dtypes
from .ops.shape import wanted_shape
from .tensor import Tensor, wrap


def _finish(array: np.ndarray, requires_grad: bool) -> Tensor:
    if requires_grad and array.dtype.kind != "f":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return wrap(array, requires_grad)


def _dtype(dtype: dtypes.dtype | None) -> np.dtype:
    return dtypes.default_float() if dtype is None else dtypes.to_numpy(dtype)


def tensor(
    data: object, *, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False
) -> Tensor:
    """A new leaf tensor with a copy of `data`: a number, nested sequences of numbers, an array or a tensor.

    Without `dtype`: float32 for Python floats, int64 for ints, bool for bools, an array's own type for arrays.
    Raises RuntimeError if integers are to require grad, ValueError for ragged sequences.
    """
    if isinstance(data, Tensor):
        array = np.array(data._array, dtype=None if dtype is None else dtypes.to_numpy(dtype))
    else:
        array = _array_of(data, dtype)
    return _finish(array, requires_grad)


def _array_of(data: object, dtype: dtypes.dtype | None) -> np.ndarray:
    typed = isinstance(data, (np.ndarray, np.generic))
    try:
        array = np.array(_plain(data))
    except ValueError as error:
        raise ValueError(f"expected sequences of equal length at every level (got {data!r:.80})") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"tensor() takes numbers, but got {type(data).__name__} with elements of type {array.dtype}"
        )
    if dtype is not None:
        return array.astype(dtypes.to_numpy(dtype))
    if not typed and array.dtype.kind == "f":
        return array.astype(dtypes.default_float())
    if not typed and array.size == 0:
        return array.astype(dtypes.default_float())
    dtypes.of_numpy(array.dtype)
    return array


def _plain(data: object):
    if isinstance(data, Tensor):
        return data._array
    if isinstance(data, (list, tuple)):
        return [_plain(x) for x in data]
    return data


def as_tensor(data: object, dtype: dtypes.dtype | None = None) -> Tensor:
    """`data` as a tensor, without copying where it already is a tensor or an array of the right type."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.to_numpy(dtype) == data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=dtype)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares the memory of a NumPy array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of_numpy(array.dtype)
    return wrap(array)


def zeros(*size: int, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    return _finish(np.zeros(wanted_shape(size), _dtype(dtype)), requires_grad)


def ones(*size: int, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    return _finish(np.ones(wanted_shape(size), _dtype(dtype)), requires_grad)


def empty(*size: int, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """An uninitialised tensor: its values are whatever the memory held."""
    return _finish(np.empty(wanted_shape(size), _dtype(dtype)), requires_grad)


def full(
    size: Sequence[int], fill_value: float, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """A tensor filled with one value, which also decides the dtype if none is given."""
    wanted = tensor(fill_value)._array.dtype if dtype is None else dtypes.to_numpy(dtype)
    return _finish(np.full(tuple(size), fill_value, wanted), requires_grad)


def arange(
    start: float,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers start, start + step, ... below end; integers if all three are."""
    start, end = (0, start) if end is None else (start, end)
    whole = all(isinstance(v, int) for v in (start, end, step))
    wanted = np.dtype(np.int64) if dtype is None and whole else _dtype(dtype)
    return _finish(np.arange(start, end, step).astype(wanted), requires_grad)


def linspace(
    start: float, end: float, steps: int, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """`steps` evenly spaced numbers from start to end, both included."""
    return _finish(np.linspace(start, end, steps).astype(_dtype(dtype)), requires_grad)


def eye(
    n: int, m: int | None = None, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """An n × m matrix with ones on the diagonal."""
    return _finish(np.eye(n, m, dtype=_dtype(dtype)), requires_grad)


def zeros_like(input: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Zeros in the shape and dtype of `input`."""
    return _finish(
        np.zeros(input._array.shape, input._array.dtype if dtype is None else _dtype(dtype)), requires_grad
    )


def ones_like(input: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Ones in the shape and dtype of `input`."""
    return _finish(
        np.ones(input._array.shape, input._array.dtype if dtype is None else _dtype(dtype)), requires_grad
    )


def full_like(
    input: Tensor, fill_value: float, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """One value in the shape and dtype of `input`."""
    return _finish(
        np.full(input._array.shape, fill_value, input._array.dtype if dtype is None else _dtype(dtype)),
        requires_grad,
    )


def empty_like(input: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Uninitialised memory in the shape and dtype of `input`."""
    return zeros_like(input, dtype=dtype, requires_grad=requires_grad)


__all__ = [
    "arange", "as_tensor", "empty", "empty_like", "eye", "from_numpy", "full", "full_like", "linspace", "ones", "ones_like",
    "tensor", "zeros", "zeros_like",
]  # fmt: skip
