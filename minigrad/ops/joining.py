"""Tensors joined to one, taken apart, and repeated. Taking apart gives several views that share one node."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..memory import in_rows
from ..size import check_dim
from ..tensor import Tensor, full_name, wrap
from .shape import (
    _contiguous,
    _expand,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    expand,
    flatten,
    reshape,
    unsqueeze,
    view,
    wanted_shape,
)
from .table import define, function, is_array, method

ndarray = np.ndarray


# ---------------------------------------------------------------- joined


def pieces(grad, sizes: list[tuple], dim: int) -> list:
    """The gradient of a concatenation cut into those of its parts."""
    parts, start = [], 0
    for shape in sizes:
        if len(shape) != grad.ndim:  # an empty vector is passed over
            parts.append(
                np.zeros(shape, grad.dtype) if is_array(grad) else wrap(np.zeros(shape, grad._array.dtype))
            )
            continue
        end = start + shape[dim]
        parts.append(grad[(slice(None),) * dim + (slice(start, end),)])
        start = end
    return parts


def _cat_forward(tensors: Sequence[ndarray], dim: int) -> ndarray:
    full = [a for a in tensors if a.ndim != 1 or a.size] or tensors
    result = in_rows(np.concatenate(full, axis=dim))
    if any(a.dtype != tensors[0].dtype for a in tensors):
        result = result.astype(dtypes.promote([(a.dtype, 2) for a in tensors]))
    return result


_cat = define(
    "cat", _cat_forward, kind="linear", variadic=True,
    tensors=lambda grad, _tensors_sym_sizes, dim: pieces(grad, _tensors_sym_sizes, dim),
)  # fmt: skip
_stack = define(
    "stack", lambda tensors, dim: _cat_forward([with_dimension(a, dim) for a in tensors], dim), kind="linear", variadic=True,
    tensors=lambda grad, dim: slices(grad, dim),
)  # fmt: skip


def with_dimension(array: ndarray, dim: int) -> ndarray:
    """The array with a new dimension of length 1 at `dim`."""
    return array.reshape((*array.shape[:dim], 1, *array.shape[dim:]))


def slices(grad, dim: int) -> list:
    """The gradient of a stack taken apart."""
    return list(_unbind(grad, dim))


def _checked(name: str, tensors: object) -> tuple[Tensor, ...]:
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {full_name(type(tensors))}"
        )
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {full_name(type(t))}")
    if not tensors and name != "cat":
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tuple(tensors)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors one after the other along an existing dimension. Their other lengths must agree; dtypes are promoted.

    Raises ValueError for an empty list, RuntimeError for shapes that do not fit.
    """
    tensors = _checked("cat", tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    shapes = [t._array.shape for t in tensors]
    for i, shape in enumerate(shapes):
        if not shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    like = next((shape for shape in shapes if shape != (0,)), (0,))
    dim = check_dim(dim, len(like))
    for i, shape in enumerate(shapes):
        if shape == (0,) or shape == like:
            continue
        if len(shape) != len(like):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(like)} and {len(shape)}"
            )
        for d, (n, m) in enumerate(zip(like, shape, strict=True)):
            if d != dim and n != m:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} for tensor "
                    f"number {i} in the list."
                )
    return _cat(tensors, dim)


concat = concatenate = cat


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension. Raises RuntimeError if their shapes differ."""
    tensors = _checked("stack", tensors)
    shape = tensors[0]._array.shape
    for i, t in enumerate(tensors):
        if t._array.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and {list(t.shape)} at "
                f"entry {i}"
            )
    dim = check_dim(dim, len(shape) + 1)
    return _stack(tensors, dim)


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side: vectors end to end, others along dimension 1."""
    tensors = atleast_1d(_checked("hstack", tensors))
    return cat(tensors, 0 if tensors[0]._array.ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors below each other; vectors are rows."""
    return cat(atleast_2d(_checked("vstack", tensors)), 0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors along dimension 2."""
    return cat(atleast_3d(_checked("dstack", tensors)), 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Vectors as the columns of a matrix; matrices side by side."""
    tensors = _checked("column_stack", tensors)
    return hstack([t if t._array.ndim > 1 else reshape(t, t._array.size, 1) for t in tensors])


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given ones (numbers, vectors as rows, matrices) along its diagonal and zeros elsewhere."""
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {full_name(type(t))}")
        if t._array.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t._array.ndim} dimensions"
            )
    return _block_diag(tensors) if tensors else wrap(np.zeros((1, 0), dtypes.default_float()))


def _corners(sizes: Sequence[tuple]) -> list[tuple[int, int, int, int]]:
    """Where each block begins and ends: (row, end of its rows, column, end of its columns)."""
    found, row, column = [], 0, 0
    for size in sizes:
        n, m = (1, 1, *size)[-2:]
        found.append((row, row + n, column, column + m))
        row, column = row + n, column + m
    return found


def _block_diag_forward(tensors: Sequence[ndarray]) -> ndarray:
    corners = _corners([a.shape for a in tensors])
    out = np.zeros((corners[-1][1], corners[-1][3]), dtypes.promote([(a.dtype, 2) for a in tensors]))
    for a, (top, bottom, left, right) in zip(tensors, corners, strict=True):
        out[top:bottom, left:right] = a
    return out


def blocks(grad, sizes: list[tuple]) -> list:
    """The blocks on the diagonal of a matrix, in the shapes that they had."""
    corners = zip(sizes, _corners(sizes), strict=True)
    return [grad[top:bottom, left:right].reshape(size) for size, (top, bottom, left, right) in corners]


_block_diag = define(
    "block_diag", _block_diag_forward, kind="linear", variadic=True,
    tensors=lambda grad, _tensors_sym_sizes: blocks(grad, _tensors_sym_sizes),
)  # fmt: skip


# ---------------------------------------------------------------- taken apart


def joined(grads, sizes: tuple, dim: int, widths: list[int]):
    """The gradients of consecutive parts, put together; a part that got none counts as zeros."""
    grads = grads if type(grads) is list else [grads]
    given = [g for g in grads if g is not None]
    like = given[0]
    if is_array(like):
        if len(given) == len(grads):
            return np.concatenate(given, dim)
        out, start = np.zeros(sizes, like.dtype), 0
        for g, width in zip(grads, widths, strict=True):
            if g is not None:
                out[(slice(None),) * dim + (slice(start, start + width),)] = g
            start += width
        return out
    shapes = [(*sizes[:dim], w, *sizes[dim + 1 :]) for w in widths]
    parts = [
        wrap(np.zeros(s, like._array.dtype)) if g is None else g for g, s in zip(grads, shapes, strict=True)
    ]
    return cat(parts, dim)


def stacked(grads, sizes: tuple, dim: int):
    """The gradients of the slices along `dim`, put together; a slice that got none counts as zeros."""
    grads = grads if type(grads) is list else [grads]
    like = next(g for g in grads if g is not None)
    if is_array(like):
        out, lead = np.zeros(sizes, like.dtype), (slice(None),) * dim
        for i, g in enumerate(grads):
            if g is not None:
                out[(*lead, i)] = g
        return out
    return stack(
        [wrap(np.zeros(like._array.shape, like._array.dtype)) if g is None else g for g in grads], dim
    )


def _parts(array: ndarray, dim: int, widths: Sequence[int]) -> tuple[ndarray, ...]:
    lead, parts, start = (slice(None),) * dim, [], 0
    for width in widths:
        parts.append(array[(*lead, slice(start, start + width))])
        start += width
    return tuple(parts)


def equal_widths(length: int, split_size: int) -> list[int]:
    """The lengths of consecutive parts of `split_size` elements each, the last one perhaps shorter."""
    if not length:
        return [0]
    return [min(split_size, length - start) for start in range(0, length, split_size)]


def _slices(array: ndarray, dim: int) -> tuple[ndarray, ...]:
    lead = (slice(None),) * dim
    return tuple([array[(*lead, i, ...)] for i in range(array.shape[dim])])


_unbind = define(
    "unbind", _slices, kind="linear", view=True, outputs=(),
    self=lambda grad, _self_sym_sizes, dim: stacked(grad, _self_sym_sizes, dim),
)  # fmt: skip
_split = define(
    "split", lambda self, split_size, dim: _parts(self, dim, equal_widths(self.shape[dim], split_size)),
    kind="linear", view=True, outputs=(),
    self=lambda grad, self_sym_sizes, split_size, dim:
        joined(grad, self_sym_sizes, dim, equal_widths(self_sym_sizes[dim], split_size)),
)  # fmt: skip
unsafe_split = define(  # not views: whoever writes to a part must not use the whole again
    "unsafe_split", lambda self, split_size, dim: _parts(self, dim, equal_widths(self.shape[dim], split_size)),
    kind="linear", outputs=(),
    self=lambda grad, self_sym_sizes, split_size, dim:
        joined(grad, self_sym_sizes, dim, equal_widths(self_sym_sizes[dim], split_size)),
)  # fmt: skip
_split_with_sizes = define(
    "split_with_sizes", lambda self, split_sizes, dim: _parts(self, dim, split_sizes), kind="linear", view=True, outputs=(),
    self=lambda grad, self_sym_sizes, split_sizes, dim: joined(grad, self_sym_sizes, dim, split_sizes),
)  # fmt: skip


@method()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along one dimension: views, which cannot be written to in place."""
    along = check_dim(dim, input._array.ndim)
    if not input._array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return _unbind(input, along)


@method()
def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive parts along `dim`: of one size (the last may be shorter), or of the sizes given. Views."""
    if not tensor._array.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if not isinstance(split_size_or_sections, int):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    size, dim = split_size_or_sections, check_dim(dim, tensor._array.ndim)
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if not size and tensor._array.shape[dim]:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {tensor._array.shape[dim]}"
        )
    return _split(tensor, size, dim)


@method()
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive parts of the given sizes along `dim`. Views."""
    dim, sizes = check_dim(dim, input._array.ndim), [int(n) for n in split_sizes]
    if any(n < 0 for n in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes}"
        )
    if sum(sizes) != input._array.shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {input._array.shape[dim]} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={sizes}"
        )
    return _split_with_sizes(input, tuple(sizes), dim)


@method()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` consecutive parts of equal length, the last one perhaps shorter. Views."""
    if not input._array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = check_dim(dim, input._array.ndim)
    length = input._array.shape[dim]
    if not length:
        return _split_with_sizes(input, (0,) * chunks, dim)
    return _split(input, math.ceil(length / chunks), dim)


@method()
def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """That many parts, as equal as can be, or the parts between the given indices along `dim`. Each is a slice."""
    if not input._array.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    dim = check_dim(dim, input._array.ndim)
    length = input._array.shape[dim]
    if isinstance(indices_or_sections, Tensor):
        if indices_or_sections._array.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got "
                f"a tensor with {indices_or_sections._array.ndim} dims"
            )
        if indices_or_sections._array.dtype != np.int64:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                + dtypes.word(indices_or_sections._array.dtype)
            )
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        if n <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {n}")
        whole, rest = divmod(length, n)
        ends = np.cumsum([whole + 1] * rest + [whole] * (n - rest)).tolist()
    else:
        ends = [*indices_or_sections, length]
    from .indexing import slice_along

    starts = [0, *ends[:-1]]
    return tuple(slice_along(input, dim, a, b) for a, b in zip(starts, ends, strict=True))


def _splitter(name: str, dim: int, least: int):
    def fn(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        n = input._array.ndim
        if isinstance(indices_or_sections, Tensor):
            raise TypeError(
                f"{name}(): argument 'indices_or_sections' must be int or tuple of ints, not Tensor"
            )
        if n < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {n} dimensions!"
            )
        along = 0 if name == "hsplit" and n == 1 else dim
        length = input._array.shape[along]
        if isinstance(indices_or_sections, int) and (not indices_or_sections or length % indices_or_sections):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {along}, but the size of the dimension {length} is not "
                f"divisible by the split_size {indices_or_sections}!"
            )
        return tensor_split(input, indices_or_sections, along)

    fn.__name__, fn.__doc__ = (
        name,
        f"`tensor_split` along dimension {dim}; a number of parts must divide its length.",
    )
    return function(fn, name)


hsplit, vsplit, dsplit = _splitter("hsplit", 1, 1), _splitter("vsplit", 0, 2), _splitter("dsplit", 2, 3)


# ---------------------------------------------------------------- repeated


def fold_repeats(grad, sizes: tuple, repeats: tuple):
    """The gradient of a repetition: the copies added up."""
    lead = len(repeats) - len(sizes)
    shape, dims = [], []
    for i, r in enumerate(repeats):
        dims.append(len(shape))
        shape.append(r)
        if i >= lead:
            shape.append(sizes[i - lead])
    return grad.reshape(tuple(shape)).sum(tuple(dims))


_repeat = define(
    "repeat", lambda self, repeats: in_rows(np.tile(self, repeats)), kind="linear",
    self=lambda grad, self_sym_sizes, repeats: fold_repeats(grad, self_sym_sizes, repeats),
)  # fmt: skip


@method()
def repeat(self: Tensor, *times: int, repeats: tuple | None = None) -> Tensor:
    """The tensor laid side by side `repeats[d]` times along each dimension d; more repeats than dimensions add some."""
    if not times and repeats is None:
        raise TypeError('repeat() missing 1 required positional arguments: "repeats"')
    repeats = wanted_shape(times) if repeats is None else tuple(repeats)
    if len(repeats) < self._array.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    if any(r < 0 for r in repeats):
        padded = (1,) * (len(repeats) - self._array.ndim) + self._array.shape
        sizes = [n * r for n, r in zip(padded, repeats, strict=True)]
        negative = next((n for n in sizes if n < 0), None)
        if negative is not None:
            raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {sizes}")
        repeats = tuple(max(r, 0) for r in repeats)
    return _repeat(self, repeats)


@method("tile")
def _tile_method(self: Tensor, *times: int, dims: tuple | None = None) -> Tensor:
    """The tensor laid side by side; missing repeats, in front, are 1."""
    if not times and dims is None:
        raise TypeError('tile() missing 1 required positional arguments: "dims"')
    dims = wanted_shape(times) if dims is None else tuple(dims)
    return repeat(self, (1,) * (self._array.ndim - len(dims)) + tuple(dims))


def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """The tensor laid side by side `dims[d]` times along each dimension; missing repeats, in front, are 1."""
    return _tile_method(input, tuple(dims))


@method()
def repeat_interleave(
    input: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Each element, or each slice along `dim`, repeated: by one number or by one number for each.

    With one argument: the index of each element as often as the element says.
    """
    if repeats is None:
        return wrap(np.repeat(np.arange(input._array.size), _times(input, output_size)))
    if dim is None:
        input, dim = flatten(input), 0
    if isinstance(repeats, int):
        dim = check_dim(dim, input._array.ndim)
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        shape = input._array.shape
        wide = _expand(unsqueeze(input, dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
        return view(_contiguous(wide), (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))
    repeats = repeats if isinstance(repeats, Tensor) else wrap(np.asarray(repeats))
    counts = repeats._array
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if not input._array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    length = input._array.shape[check_dim(dim, input._array.ndim)]
    if counts.size == 1:
        repeats = expand(reshape(repeats, 1), (length,))
    elif counts.size != length:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and "
            f"input.size({dim}) = {length}"
        )
    from .selecting import index_select

    return index_select(input, dim, wrap(np.repeat(np.arange(length), _times(repeats, output_size))))


def _times(repeats: Tensor, output_size: int | None) -> ndarray:
    """How often each element is to be repeated, checked."""
    counts = repeats.numpy(force=True)
    if counts.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if counts.dtype not in (np.int64, np.int32):
        raise NotImplementedError(
            f"\"repeat_interleave_cpu\" not implemented for '{dtypes.word(counts.dtype)}'"
        )
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and counts.sum() != output_size:
        raise RuntimeError("allocated size does not match required size")
    return counts


Tensor._stack_all = staticmethod(stack)  # for minigrad.autograd, which knows no operation

__all__ = [
    "block_diag", "cat", "chunk", "column_stack", "concat", "concatenate", "dsplit", "dstack", "hsplit", "hstack",
    "repeat_interleave", "row_stack", "split", "split_with_sizes", "stack", "tensor_split", "tile", "unbind", "vsplit",
    "vstack",
]  # fmt: skip
