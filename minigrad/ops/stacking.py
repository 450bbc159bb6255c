"""Several tensors brought together: stretched to one shape, stacked in rows and columns, grids, combinations; positions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..basics import check
from ..tensor import Tensor, wrap
from ..tensor_methods import Size
from .selection import masked_select
from .shape import cat, common_shape, expand, flatten, reshape, stack, unsqueeze, view
from .signature import are_ints, as_size
from .table import function, op

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


def _block_diagonal(tensors: list[ndarray]) -> ndarray:
    message = "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {} has {} dimensions"
    for place, array in enumerate(tensors):
        check(array.ndim < 3, message, place, array.ndim)
    blocks = [np.atleast_2d(a) for a in tensors]
    out, row, column = np.zeros(np.sum([b.shape for b in blocks], 0), np.result_type(*blocks)), 0, 0
    for b in blocks:
        out[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return out


def blocks_of(grad, sizes):
    """The blocks on the diagonal."""
    results, row, column = [], 0, 0
    for size in sizes:
        h, w = (1, 1, *size)[-2:]
        results.append(grad[row : row + h, column : column + w].reshape(tuple(size)))
        row, column = row + h, column + w
    return results


# fmt: off
block_diag = op("block_diag_of(tensors: tensors)", _block_diagonal, kind="linear", at="", node="BlockDiagBackward0",
                tensors=lambda grad, _tensors_sym_sizes: blocks_of(grad, _tensors_sym_sizes))
# fmt: on

# ---------------------------------------------------------------- broadcast together, grids


@function("torch Tensor")
def broadcast_to(self: Tensor, *size: int) -> Tensor:
    """The tensor stretched to this size without copying: `expand`."""
    return expand(self, as_size(size))


@function("torch")
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, each stretched to the shape to which they broadcast together."""
    tensors = all_given(tensors)
    shape = common_shape(*[x._array.shape for x in tensors])
    return tuple([x if x._array.shape == shape else expand(x, shape) for x in tensors])


@function("torch")
def broadcast_shapes(*shapes: tuple) -> tuple:
    """The shape to which these shapes broadcast. Raises RuntimeError if there is none."""
    message = "broadcast_shapes(): argument 'shapes' must be ints or tuples of ints, not {}"
    for shape in shapes:
        check(are_ints(shape), message, type(shape), error=TypeError)
    return Size(common_shape(*[as_size(s) for s in shapes]))


@function("torch")
def meshgrid(*tensors: Tensor, indexing: str = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid: each vector stretched over the others. indexing: "ij", or "xy" as in plots."""
    tensors = all_given(tensors)
    message = 'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {}'
    check(indexing in ("ij", "xy"), message, indexing)
    check(len(tensors) > 0, "meshgrid expects a non-empty TensorList")
    for x in tensors:
        check(x._array.ndim < 2, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {}", x)
    swapped = indexing == "xy" and len(tensors) > 1
    order = [1, 0, *range(2, len(tensors))] if swapped else list(range(len(tensors)))
    tensors = [tensors[i] for i in order]
    sizes = [x.numel() for x in tensors]
    shapes = [[n if d == i else 1 for d, n in enumerate(sizes)] for i in range(len(sizes))]
    grids = [expand(view(x, shape), sizes) for x, shape in zip(tensors, shapes, strict=True)]
    return tuple([grids[i] for i in order])


@function("torch")
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of vectors, in rows."""
    tensors = all_given(tensors)
    for x in tensors:
        check(x._array.ndim == 1, "Expect a 1D vector, but got shape {}", tuple(x.shape))
    return tensors[0] if len(tensors) == 1 else stack([flatten(x) for x in meshgrid(*tensors)], 1)


# ---------------------------------------------------------------- stacked


@function("torch")
def atleast_1d(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """The tensors, each with at least one dimension: a number becomes a vector of length 1."""
    return _each(tensors, lambda x: reshape(x, (1,)) if x._array.ndim == 0 else x)


@function("torch")
def atleast_2d(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """The tensors, each with at least two dimensions: a number or a vector becomes a matrix with one row."""
    return _each(
        tensors,
        lambda x: reshape(x, (1, 1)) if x._array.ndim == 0 else unsqueeze(x, 0) if x._array.ndim == 1 else x,
    )


@function("torch")
def atleast_3d(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """The tensors with at least three dimensions; a matrix gets a third one at the end."""

    def raised(x: Tensor) -> Tensor:
        if x._array.ndim == 0:
            return reshape(x, (1, 1, 1))
        return (
            unsqueeze(unsqueeze(x, 0), -1)
            if x._array.ndim == 1
            else unsqueeze(x, -1)
            if x._array.ndim == 2
            else x
        )

    return _each(tensors, raised)


def all_given(tensors: tuple) -> tuple[Tensor, ...]:
    """Tensors that were given one by one, or as one sequence. Raises TypeError if one of them is not a tensor."""
    tensors = tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    for place, x in enumerate(tensors):
        message = "expected Tensor as element {} in argument 0, but got {}"
        check(isinstance(x, Tensor), message, place, type(x), error=TypeError)
    return tensors


def _each(tensors: tuple, f: Callable) -> Tensor | tuple[Tensor, ...]:
    alone = len(tensors) == 1 and not isinstance(tensors[0], (tuple, list))
    result = tuple([f(x) for x in all_given(tensors)])
    return result[0] if alone else result


def listed(name: str, tensors: object) -> list[Tensor]:
    """A sequence of tensors, as a list. Raises PyTorch's errors for anything else."""
    message = "{}(): argument 'tensors' (position 1) must be tuple of Tensors, not {}"
    check(isinstance(tensors, (tuple, list)), message, name, type(tensors), error=TypeError)
    check(len(tensors) > 0, "{} expects a non-empty TensorList", name)
    return list(all_given((tensors,)))


@function("torch")
def hstack(tensors: tensors) -> Tensor:  # noqa: F821
    """Tensors side by side: along dimension 1, or vectors along their only dimension."""
    tensors = listed("hstack", tensors)
    parts = atleast_1d(list(tensors))
    return cat(list(parts), 0 if parts[0]._array.ndim == 1 else 1)


@function("torch", aliases="row_stack")
def vstack(tensors: tensors) -> Tensor:  # noqa: F821
    """Tensors one below the other, vectors as rows: along dimension 0."""
    tensors = listed("vstack", tensors)
    return cat(list(atleast_2d(list(tensors))), 0)


@function("torch")
def dstack(tensors: tensors) -> Tensor:  # noqa: F821
    """Tensors one behind the other: along dimension 2."""
    tensors = listed("dstack", tensors)
    return cat(list(atleast_3d(list(tensors))), 2)


@function("torch")
def column_stack(tensors: tensors) -> Tensor:  # noqa: F821
    """Tensors side by side, vectors as columns."""
    tensors = listed("column_stack", tensors)
    return hstack([reshape(x, (x.numel(), 1)) if x._array.ndim < 2 else x for x in tensors])


@function("torch", name="block_diag")
def block_diagonal(*tensors: Tensor) -> Tensor:
    """A matrix with these matrices on its diagonal, zeros elsewhere. A vector is a row."""
    return block_diag(list(all_given(tensors))) if tensors else wrap(np.zeros((1, 0), dtypes.default_float()))


# ---------------------------------------------------------------- positions


def _triangle_indices(name: str, indices: Callable) -> None:
    def run(row: int, col: int, offset: int = 0, *, dtype: object = None, device: object = None) -> Tensor:
        result = np.stack(indices(row, offset, col))
        return wrap(result.astype(np.int64 if dtype is None else dtypes.to_numpy(dtype)))

    run.__name__, run.__doc__ = (
        name,
        "The positions (2, n) of a triangle of a `row` × `col` matrix: row numbers, column numbers.",
    )
    function("torch")(run)


_triangle_indices("tril_indices", np.tril_indices)
_triangle_indices("triu_indices", np.triu_indices)


@function("torch")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of `r` elements of a vector, in rows."""
    check(input._array.ndim == 1, "Expect a 1D vector, but got shape {}", tuple(input.shape))
    check(r >= 0, "Expect a non-negative number, but got {}", r)
    if r == 0:
        return wrap(np.zeros(0, input._array.dtype))
    before, places = np.less_equal if with_replacement else np.less, np.indices((input.numel(),) * r)
    rising = wrap(np.all(before(places[:-1], places[1:]), 0))
    return stack([masked_select(grid, rising) for grid in meshgrid(*[input] * r)], 1)
