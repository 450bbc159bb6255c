"""How arrays lie in memory, by PyTorch's rules: row by row, or as the array that they are made from. Imports NumPy only.

It shows in `stride()` and `is_contiguous()`, and it decides whether `view` can give a tensor another shape.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ndarray = np.ndarray


def in_rows(array: ndarray) -> ndarray:
    """The array, its elements in row-major order without gaps: itself or a copy."""
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


SLAB = (
    64  # columns that are copied at a time: as many floats as stay in the cache until their row is complete
)


def copied_in_rows(array: ndarray) -> ndarray:
    """A copy in row-major order. Of a large transposed matrix it is made by slabs of columns, in half the time."""
    if array.ndim != 2 or array.size < 2**15 or array.strides[0] >= array.strides[1]:
        return np.array(array, order="C")
    out = np.empty(array.shape, array.dtype)
    for start in range(0, array.shape[1], SLAB):
        out[:, start : start + SLAB] = array[:, start : start + SLAB]
    return out


def dimensions_outwards(array: ndarray) -> list[int]:
    """The dimensions from the one with the smallest steps in memory to the one with the largest.

    Where there are no steps at all, in an expanded dimension, they stand in their order, as in PyTorch.
    """
    strides, dims = array.strides, list(range(array.ndim))[::-1]
    for place in range(1, len(dims)):
        mine = place
        for other in range(place - 1, -1, -1):
            inner, outer = strides[dims[other]], strides[dims[mine]]
            if (
                not inner
                or not outer
                or (inner == outer and array.shape[dims[other]] <= array.shape[dims[mine]])
            ):
                continue
            if inner < outer:
                break
            dims[other], dims[mine] = dims[mine], dims[other]
            mine = other
    return dims


def laid_out_like(
    array: ndarray, dtype: np.dtype | None = None, make: Callable[..., ndarray] = np.empty
) -> ndarray:
    """What `make(shape, dtype)` gives for the shape of `array`, laid out as that is, without gaps and repetitions."""
    dtype = array.dtype if dtype is None else dtype
    if array.flags.c_contiguous:
        return make(array.shape, dtype)
    order = dimensions_outwards(array)[::-1]
    return make(tuple([array.shape[d] for d in order]), dtype).transpose(np.argsort(order))


def copied(array: ndarray) -> ndarray:
    """A copy that is laid out like the array, without its gaps and repetitions."""
    if 0 not in array.strides:
        return array.copy("K")
    out = laid_out_like(array)
    out[...] = array
    return out


def owner_of(array: ndarray) -> ndarray:
    """The array whose memory this one shows."""
    while isinstance(array.base, ndarray):
        array = array.base
    return array


def deeply_copied(array: ndarray, memo: dict) -> ndarray:
    """A copy for `copy.deepcopy`: arrays that share memory have copies that share memory."""
    owner = owner_of(array)
    if not owner.flags.c_contiguous or owner.dtype != array.dtype:
        owner = array
    if id(owner) not in memo:
        memo[id(owner)] = owner.copy("K")
    if owner is array:
        return memo[id(owner)]
    offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return ndarray(array.shape, array.dtype, memo[id(owner)], offset, array.strides)
