"""Reading and writing arrays where an index says, one position along a dimension for each element of the index.

`index` has as many dimensions as the array, and is not longer than it in the others. Everything is done on the flattened
array, with one position for each element: NumPy is several times quicker with that than with a tuple of index arrays.
Only arrays here: no tensors, no derivatives.
"""

from __future__ import annotations

import functools

import numpy as np

ndarray = np.ndarray
SMALL = 4096  # elements of what is remembered


def places(index: ndarray, dim: int, shape: tuple) -> ndarray:
    """The positions in a flattened array of this shape. Shape of `index`."""
    compute = small_offsets if index.size <= SMALL else offsets
    start, step = compute(index.shape, dim, shape)
    return index + start if step == 1 else index * step + start


def offsets(wanted: tuple, dim: int, shape: tuple) -> tuple[ndarray, int]:
    """(where the rows along `dim` begin in a flattened array, length 1 along `dim`; the step from element to element)."""
    start, step = np.zeros((1,) * len(shape), np.int64), 1
    for d in reversed(range(len(shape))):
        if d == dim:
            own = step
        else:
            start = start + (np.arange(wanted[d]) * step).reshape((-1,) + (1,) * (len(shape) - d - 1))
        step *= shape[d]
    return start, own


@functools.lru_cache(maxsize=256)
def small_offsets(wanted: tuple, dim: int, shape: tuple) -> tuple[ndarray, int]:
    """`offsets`, repeated along `dim`: arrays of one shape are added up more quickly."""
    start, step = offsets(wanted, dim, shape)
    return np.ascontiguousarray(np.broadcast_to(start, wanted)), step


UNSIGNED = {np.dtype(f"i{size}"): np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def leaves(index: ndarray, length: int) -> bool:
    """Is any element of an integer array not one of 0, ..., length - 1?"""
    if not index.size:
        return False
    numbers = index.view(
        UNSIGNED.get(index.dtype, index.dtype)
    )  # negative numbers are large ones without a sign
    return numbers.item(numbers.argmax()) >= length  # several times quicker than numbers.max()


def largest(array: ndarray, dim: int) -> ndarray:
    """The largest element of each row along `dim`, which is kept; NaN if there is one."""
    if dim != array.ndim - 1 or array.size < 256:
        return np.maximum.reduce(array, axis=dim, keepdims=True)
    return read(
        array, array.argmax(dim, keepdims=True), dim
    )  # NumPy finds it more quickly than it compares it


def read(array: ndarray, index: ndarray, dim: int) -> ndarray:
    """The elements that `index` names along `dim`. Shape of `index`."""
    return array.take(places(index, dim, array.shape))


def write(array: ndarray, index: ndarray, dim: int, values: ndarray) -> None:
    """Put `values`, of the shape of `index` or 0-d, into a contiguous array; where two meet, one of them stays."""
    if index.size:
        array.reshape(-1)[places(index, dim, array.shape)] = values


def add(array: ndarray, index: ndarray, dim: int, values: ndarray) -> None:
    """Add `values`, of the shape of `index`, to a contiguous array, as often as a position is named."""
    if index.size:
        np.add.at(array.reshape(-1), places(index, dim, array.shape).reshape(-1), values.reshape(-1))


def spread(values: ndarray, index: ndarray, dim: int, length: int, distinct: bool) -> ndarray:
    """Zeros, of `length` along `dim`, with `values` added where `index` says. distinct: no position is named twice."""
    out = np.zeros((*values.shape[:dim], length, *values.shape[dim + 1 :]), values.dtype)
    (write if distinct else add)(out, index, dim, values)
    return out
