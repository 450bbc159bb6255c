"""Sums of arrays, formed as quickly and as exactly as PyTorch's: by products with ones, halves in single precision."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..tensor import Tensor

ndarray = np.ndarray


def sum_to(array: ndarray, shape: tuple) -> ndarray:
    """Sum an array over the axes that broadcasting has added or stretched."""
    if array.dtype.char == "e":
        return in_single(sum_to, array, shape)
    axes, last = broadcast_axes(array.shape, shape)
    if last:
        array = rows_added(array)
    elif axes:
        array = np.add.reduce(array, axis=axes, keepdims=True)
    lead = array.ndim - len(shape)
    if lead > 0:
        array = array.reshape(array.shape[lead:])
    if array.shape != shape:  # a gradient that is smaller than its input: stretch it
        array = np.broadcast_to(array, shape)
    return array


@functools.lru_cache(maxsize=256)
def broadcast_axes(wide: tuple, shape: tuple) -> tuple[tuple, bool]:
    """(the axes of `wide` that broadcasting of `shape` would have added or stretched, whether it is the last alone)."""
    lead = len(wide) - len(shape)
    axes = tuple(
        i for i, n in enumerate(wide) if i < lead or (n != 1 and i - lead >= 0 and shape[i - lead] == 1)
    )
    return axes, axes == (len(wide) - 1,)


def is_half(x: object) -> bool:
    """Is it an array or a Tensor of half precision?"""
    if type(x) is ndarray:
        return x.dtype.char == "e"
    array = x._array if isinstance(x, Tensor) else x
    return isinstance(array, (ndarray, np.generic)) and array.dtype.char == "e"


def in_single(compute: Callable, *args: object) -> ndarray | Tensor | tuple:
    """What `compute` makes of halves, worked out in single precision and rounded once, as in PyTorch.

    Half precision is no place to add in: 2048 + 1 is 2048. Of several results each is rounded, if there is one.
    """
    found = compute(*(cast(a, np.float32, dtypes.float32) if is_half(a) else a for a in args))
    if isinstance(found, tuple):
        return tuple(None if x is None else cast(x, np.float16, dtypes.float16) for x in found)
    return cast(found, np.float16, dtypes.float16)


def cast(x: ndarray | Tensor, of_arrays: type, of_tensors: dtypes.dtype) -> ndarray | Tensor:
    return x.to(of_tensors) if isinstance(x, Tensor) else x.astype(of_arrays)


def added(array: ndarray, axis: int | tuple | None, keepdims: bool = False) -> ndarray:
    """The sum over axes."""
    if array.dtype.char == "e":
        return in_single(added, array, axis, keepdims)
    return np.add.reduce(array, axis=axis, keepdims=keepdims)


def all_added(array: ndarray):
    """The sum of all elements, a number. Of a few it is their product with ones; of many NumPy's own is more exact."""
    kind = array.dtype.char
    if kind in "fd" and array.size <= 1024:
        return array.ravel().dot(ones(array.size, kind))
    return added(array, None)


def columns_added(matrix: ndarray) -> ndarray:
    """The sums of a matrix over axis 0: ones @ matrix, which takes half the time of np.add.reduce or less."""
    kind = matrix.dtype.char
    return ones(len(matrix), kind).dot(matrix) if kind in "fd" else added(matrix, 0)


def rows_added(array: ndarray) -> ndarray:
    """The sums over the last axis, which is kept: array @ ones."""
    kind = array.dtype.char
    if kind not in "fd":
        return added(array, -1, True)
    return array.dot(ones((array.shape[-1], 1), kind))


@functools.lru_cache(maxsize=64)
def ones(shape: int | tuple, dtype: str) -> ndarray:
    return np.ones(shape, dtype)


@functools.lru_cache(maxsize=64)
def even(shape: int | tuple, dtype: str) -> ndarray:
    """As many times 1/n as there are elements, n: a product with it gives the mean, at the price of a sum."""
    out = np.ones(shape, dtype)
    out /= max(out.size, 1)
    return out
