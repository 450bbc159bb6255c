"""Operations that pick elements by rank: sort, topk, median, and the extrema over one dimension with their indices.

They hand the gradient of each result to the one element that it was taken from.
"""

from __future__ import annotations

import builtins
import functools

import numpy as np

from .. import return_types
from ..memory import in_rows
from ..size import check_dim
from ..tensor import Tensor, full_name, wrap
from . import places
from .choice import maximum, minimum, refuse
from .comparison import isnan
from .reduction import ALL, max_op, min_op, refuse_empty, restored, shared
from .table import define, function, is_array

ndarray = np.ndarray
bool = builtins.bool

# ---------------------------------------------------------------- elements along a dimension, by index


spread = define(
    "scatter_add", places.spread, kind="linear",
    values=lambda grad, index, dim: picked(grad, index, dim),
    index=None,
)  # fmt: skip
picked = define(
    "gather", places.read, kind="linear",
    array=lambda grad, array_sym_sizes, index, dim: spread(grad, index, dim, array_sym_sizes[dim], False),
    index=None,
)  # fmt: skip


SELECTION = {"outputs": ("values", "indices"), "constants": ("indices",)}


def selected_self(grad, indices, self_sym_sizes, dim, keepdim):
    """The gradient of a selection that took one element of each row along `dim`."""
    sizes = self_sym_sizes
    if not sizes:
        return grad
    if not keepdim:
        kept = (*sizes[:dim], 1, *sizes[dim + 1 :])
        grad, indices = grad.reshape(kept), indices.reshape(kept)
    return (places.spread if is_array(grad) else spread)(grad, indices, dim, sizes[dim], True)


def sorted_self(grad, indices, self_sym_sizes, dim):
    if not self_sym_sizes:
        return grad
    return (places.spread if is_array(grad) else spread)(grad, indices, dim, self_sym_sizes[dim], True)


def _selection(name: str, choose, node: str | None = None):
    """An operation that takes one element of each row: `choose(rows, *params)` gives its index in the last dimension."""

    def forward(self, dim, keepdim, k=None):
        if not self.ndim:
            return self.copy(), np.zeros((), np.int64)
        rows = self if dim == self.ndim - 1 else self.swapaxes(dim, -1)
        index = in_rows(choose(rows, k)[..., None].swapaxes(dim, -1))
        values = places.read(self, index, dim)
        return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))

    op = define(name, forward, node=node, **SELECTION, self=selected_self)
    result = getattr(return_types, name)
    return lambda input, *params: result(*op(input, *params))


# ---------------------------------------------------------------- the largest and the smallest


def _extremum_forward(find):
    def forward(self, dim, keepdim):
        if not self.ndim:
            return self.copy(), np.zeros((), np.int64)
        index = find(self, axis=dim, keepdims=True)
        values = places.read(self, index, dim)
        return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))

    return forward


_max_dim = define("max", _extremum_forward(np.ndarray.argmax), **SELECTION, self=selected_self)
_min_dim = define("min", _extremum_forward(np.ndarray.argmin), **SELECTION, self=selected_self)


def _extremum(name: str, over_all, over_dim, elementwise):
    result = getattr(return_types, name)

    def extremum(
        input: Tensor, dim: int | Tensor = ALL, keepdim: bool = False, *, other: Tensor | None = None
    ) -> Tensor | tuple:
        if isinstance(dim, Tensor) or other is not None:
            return elementwise(input, dim if other is None else other)
        if dim is ALL:
            refuse_empty(name, input, None)
            return over_all(input)
        if not isinstance(dim, (int, np.integer)) or isinstance(dim, bool):
            kinds = f"Tensor, {full_name(type(dim))}"
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:"
                "\n * (Tensor input)\n * (Tensor input, Tensor other)\n * (Tensor input, int dim, bool keepdim = False)"
            )
        dim = check_dim(int(dim), input._array.ndim)
        if input._array.ndim:
            refuse_empty(name, input, (dim,))
        return result(*over_dim(input, dim, keepdim))

    word = "largest" if name == "max" else "smallest"
    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = (
        f"The {word} element; with `dim` (values, indices) of the {word} of each row; with a tensor, element by element.\n\n"
        "Over all elements equal ones share the gradient; over a dimension the one that was picked gets it all."
    )
    return extremum


max = _extremum("max", max_op, _max_dim, maximum)
min = _extremum("min", min_op, _min_dim, minimum)


def _argument(name: str, find):
    op = define(
        name, lambda self, dim, keepdim: np.asarray(find(self, axis=dim, keepdims=keepdim)), self=None
    )

    def position(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        array = input._array
        if array.dtype.kind == "b":
            raise RuntimeError(f"{name}(): does not support bool input")
        if dim is None:
            if not array.size:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            return op(input, None, keepdim)
        dim = check_dim(dim, array.ndim)
        if not array.ndim:
            return wrap(np.zeros((), np.int64))
        refuse_empty(name, input, (dim,))
        return op(input, dim, keepdim)

    position.__name__ = position.__qualname__ = name
    position.__doc__ = (
        "The index of the {} element: the first of equal ones; without `dim` in the flattened tensor.".format(
            "largest" if name == "argmax" else "smallest"
        )
    )
    return position


argmax, argmin = _argument("argmax", ndarray.argmax), _argument("argmin", ndarray.argmin)


def _aminmax_forward(self, dim, keepdim):
    return tuple(
        in_rows(bound.reduce(self, axis=dim, keepdims=keepdim)) for bound in (np.minimum, np.maximum)
    )


def aminmax_self(grad, self, min, max, dim, keepdim):
    sizes = self.shape
    dims = tuple(range(len(sizes))) if dim is None else (dim,)[: len(sizes)]
    parts = [
        shared(g, self == restored(bound, sizes, dims, keepdim), sizes, dims, keepdim)
        for g, bound in zip(grad, (min, max), strict=True)
        if g is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


_aminmax = define("aminmax", _aminmax_forward, outputs=("min", "max"), self=aminmax_self)


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> return_types.aminmax:
    """(min, max) of all elements, or along one dimension. Equal ones share the gradient."""
    if dim is not None:
        if not isinstance(dim, int):
            raise TypeError(f"aminmax(): argument 'dim' must be int, not {full_name(type(dim))}")
        dim = check_dim(dim, input._array.ndim)
        refuse_empty("aminmax", input, (dim,))
    elif not input._array.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    return return_types.aminmax(*_aminmax(input, dim, keepdim))


# ---------------------------------------------------------------- order


def order(x: ndarray, dim: int, descending: bool) -> tuple[ndarray, ndarray]:
    """(values, indices) in order along `dim`, equal elements in their order, NaN as the largest.

    NumPy's quick argsort does not keep equal elements in order, so it is used only where there turn out to be none.
    """
    backwards, earlier, later = _neighbours(dim)
    if x.shape[dim] > 16:
        index = x.argsort(dim)
        values = places.read(x, index, dim)
        rising = values[later] > values[earlier]
        if np.count_nonzero(rising) == rising.size:
            return (in_rows(values[backwards]), in_rows(index[backwards])) if descending else (values, index)
    if descending:
        index = in_rows((x.shape[dim] - 1 - x[backwards].argsort(dim, kind="stable"))[backwards])
    else:
        index = x.argsort(dim, kind="stable")
    return places.read(x, index, dim), index


@functools.lru_cache(maxsize=16)
def _neighbours(dim: int) -> tuple[tuple, tuple, tuple]:
    """Keys of an array: backwards along `dim`, all but the last, all but the first."""
    before = (slice(None),) * dim
    return (*before, slice(None, None, -1)), (*before, slice(-1)), (*before, slice(1, None))


def _sort_forward(self: ndarray, dim: int, descending: bool) -> tuple[ndarray, ndarray]:
    return order(self, dim, descending) if self.ndim else (self.copy(), np.zeros((), np.int64))


_sort = define("sort", _sort_forward, **SELECTION, self=sorted_self)
_sort_stable = define("sort", _sort_forward, node="SortBackward1", **SELECTION, self=sorted_self)


def sort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None
) -> return_types.sort:
    """(values, indices) in order along `dim`. NaN counts as the largest; equal elements keep their order."""
    call = _sort if stable is None else _sort_stable
    return return_types.sort(*call(input, check_dim(dim, input._array.ndim), descending))


_argsort = define("argsort", lambda self, dim, descending: _sort_forward(self, dim, descending)[1], self=None)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The indices that sort along `dim`."""
    return _argsort(input, check_dim(dim, input._array.ndim), descending)


def msort(input: Tensor) -> Tensor:
    """The rows sorted: `sort` along the first dimension, values only."""
    return sort(input, 0).values


def _topk_forward(self: ndarray, k: int, dim: int, largest: bool) -> tuple[ndarray, ndarray]:
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    before = (slice(None),) * dim
    if self.shape[dim] < 16:  # here PyTorch, too, keeps equal elements in their order
        values, index = order(self, dim, largest)
        first = (*before, slice(k))
        return in_rows(values[first]), in_rows(index[first])
    index = in_rows(self.argsort(dim)[(*before, slice(None, -k - 1, -1) if largest else slice(k))])
    return places.read(self, index, dim), index


_topk = define("topk", _topk_forward, **SELECTION, self=sorted_self)


def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> return_types.topk:
    """(values, indices) of the `k` largest, or smallest, elements along `dim`, the first one first."""
    dim = check_dim(dim, input._array.ndim)
    if not 0 <= k <= (input._array.shape[dim] if input._array.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if input._array.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    return return_types.topk(*_topk(input, k, dim, largest))


# ---------------------------------------------------------------- median, k-th value, mode


def _kth_index(rows: ndarray, k: int) -> ndarray:
    """The place of the k-th smallest element of each row, counted from 0; of equal ones the one that a sort puts there."""
    ordered = rows.copy()
    ordered.partition(k)
    values = ordered[..., k : k + 1]
    hit = rows == values
    index = hit.argmax(-1)
    if np.count_nonzero(hit) == index.size == np.count_nonzero(values == values):  # one in each row
        return index
    return rows.argsort(-1, kind="stable")[..., k]


def _median_index(rows: ndarray, k: object = None) -> ndarray:
    index, missing = _kth_index(rows, (rows.shape[-1] - 1) // 2), rows != rows
    return np.where(missing.any(-1), missing.argmax(-1), index) if np.count_nonzero(missing) else index


def _nanmedian_index(rows: ndarray, k: object = None) -> ndarray:
    missing = rows != rows
    if not np.count_nonzero(missing):
        return _median_index(rows)
    middle = np.maximum(rows.shape[-1] - missing.sum(-1) - 1, 0) // 2
    return np.take_along_axis(rows.argsort(-1, kind="stable"), middle[..., None], -1)[..., 0]


def _mode_index(rows: ndarray, k: object = None) -> ndarray:
    """The last place of the most frequent element, the smallest of several."""
    indices = np.empty(rows.shape[:-1], np.int64)
    for place in np.ndindex(indices.shape):
        values, counts = np.unique(rows[place], return_counts=True)
        indices[place] = np.flatnonzero(rows[place] == values[counts.argmax()])[-1]
    return indices


_kthvalue = _selection("kthvalue", lambda rows, k: _kth_index(rows, k - 1))
_mode = _selection("mode", _mode_index)
_median_dim = _selection("median", _median_index, "MedianBackward1")
_nanmedian_dim = _selection("nanmedian", _nanmedian_index, "NanmedianBackward1")


def median_self(grad, self, result):
    sizes = self.shape
    return shared(
        grad, (self == result) | (isnan(self) & isnan(result)), sizes, tuple(range(len(sizes))), False
    )


def row_median_self(grad, self, result):
    result = result[:, None]
    return shared(grad, (self == result) | (isnan(self) & isnan(result)), self.shape, (1,), False)


def picked_by(index):
    """A function that picks one element of each row."""
    return lambda self: np.take_along_axis(self, index(self)[:, None], 1)[:, 0]


# As without `dim`, equal elements share the gradient; for vmap.
row_medians = define("median", picked_by(_median_index), self=row_median_self)
row_nanmedians = define("nanmedian", picked_by(_nanmedian_index), self=row_median_self)


def _median_forward(x: ndarray) -> ndarray:
    flat = x.reshape(-1)
    if not flat.size or (x.dtype.kind == "f" and np.isnan(flat).any()):
        return np.asarray(np.nan, x.dtype)
    middle = (flat.size - 1) // 2
    return np.partition(flat, middle)[middle]


def _nanmedian_forward(x: ndarray) -> ndarray:
    return _median_forward(x[~np.isnan(x)] if x.dtype.kind == "f" else x)


_median = define("median", _median_forward, self=median_self)
_nanmedian = define("nanmedian", _nanmedian_forward, self=median_self)


def median(input: Tensor, dim: int = ALL, keepdim: bool = False) -> Tensor | return_types.median:
    """The middle element, of two middle ones the lower; NaN if there is any. With `dim` (values, indices).

    Over all elements equal ones share the gradient; over a dimension the one that was picked gets it all.
    """
    return _middle(input, dim, keepdim, _median, _median_dim)


def nanmedian(input: Tensor, dim: int = ALL, keepdim: bool = False) -> Tensor | return_types.nanmedian:
    """The median of the elements that are not NaN."""
    return _middle(input, dim, keepdim, _nanmedian, _nanmedian_dim)


def _middle(input: Tensor, dim: int | None, keepdim: bool, of_all, over_dim):
    if dim is ALL:
        refuse(input._array, "b", "median_cpu")
        return of_all(input)
    if not isinstance(dim, (int, np.integer)):
        raise TypeError(f"median(): argument 'dim' must be int, not {full_name(type(dim))}")
    dim = check_dim(dim, input._array.ndim)
    refuse_empty("median", input, (dim,))
    refuse(input._array, "b", "median_out")
    return over_dim(input, dim, keepdim)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> return_types.kthvalue:
    """(values, indices) of the k-th smallest element along `dim`, counted from 1."""
    dim = check_dim(dim, input._array.ndim)
    refuse_empty("kthvalue", input, (dim,))
    if not 1 <= k <= (input._array.shape[dim] if input._array.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    refuse(input._array, "b", "kthvalue_cpu")
    return _kthvalue(input, dim, keepdim, k)


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> return_types.mode:
    """(values, indices) of the most frequent element along `dim`, of several the smallest."""
    dim = check_dim(dim, input._array.ndim)
    refuse_empty("mode", input, (dim,))
    return _mode(input, dim, keepdim)


# ---------------------------------------------------------------- sets


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The distinct elements (or slices along `dim`) in order; on request where each went, and how often each occurs.

    PyTorch has no derivative for it, so backward through the result raises its error.
    """
    call = _unique if dim is None else _unique_dim
    values, inverse, counts = call(input, None if dim is None else dim_of_slices(input, dim))
    found = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return found if len(found) > 1 else values


def dim_of_slices(input: Tensor, dim: int) -> int:
    """A dimension from the front. Raises PyTorch's error if along it there are no slices to compare."""
    shape = input._array.shape
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = check_dim(dim, len(shape))
    if shape[dim] and 0 in shape:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return dim


def _unique_forward(self: ndarray, dim: int | None):
    values, inverse, counts = np.unique(
        self, return_inverse=True, return_counts=True, axis=dim, equal_nan=False
    )
    return values, inverse.reshape(self.shape if dim is None else -1), counts


def _no_derivative(name: str):
    def derivative(grad):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return derivative


_unique = define(
    "unique", _unique_forward, node="Unique2Backward0", outputs=("values", "inverse", "counts"),
    constants=("inverse", "counts"), self=_no_derivative("_unique2"),
)  # fmt: skip
_unique_dim = define(
    "unique", _unique_forward, node="UniqueDimBackward0", outputs=("values", "inverse", "counts"),
    constants=("inverse", "counts"), self=_no_derivative("unique_dim"),
)  # fmt: skip

for _fn in (
    max,
    min,
    argmax,
    argmin,
    aminmax,
    sort,
    argsort,
    msort,
    topk,
    median,
    nanmedian,
    kthvalue,
    mode,
    unique,
):
    function(_fn, _fn.__name__)

__all__ = [
    "aminmax", "argmax", "argmin", "argsort", "kthvalue", "max", "median", "min", "mode", "msort", "nanmedian", "sort", "topk",
    "unique",
]  # fmt: skip
