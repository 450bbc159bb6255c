"""Elements that an index or a mask names: read, written, added to, along one dimension or in the flattened tensor."""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes
from ..basics import check
from ..tensor import Tensor, wrap
from .indexing import as_index, index_put, nonzero, spread_places
from .inplace import write
from .pointwise import where
from .reduction import add_at, gather, leaves, scatter, scatter_add
from .shape import key_along, unbind
from .table import function, op, zeros_beside

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


def row_places(name: str, self: ndarray, index: ndarray, dim: int) -> ndarray:
    """The index of slices along `dim`, checked. Raises PyTorch's errors."""
    check(index.ndim < 2 or name != "index_fill_", "Index has to be a vector/scalar")
    check(index.ndim < 2, "{}(): Index is supposed to be a vector", name, error=IndexError)
    message = "{}(): Expected dtype int32 or int64 for index"
    check(index.dtype.char in "ilq", message, name)
    if leaves(index, self.shape[dim] if self.ndim else 1):
        raise IndexError("index out of range in self")
    return index.reshape(-1)


def _rows(self: ndarray, index: ndarray, dim: int) -> ndarray:
    places = row_places("index_select", self, index, dim)
    return self.take(places, dim) if self.ndim else self.reshape(1).take(places).reshape(())


def _rows_written(
    name: str, self: ndarray, index: ndarray, source: ndarray, dim: int, add: bool, alpha: float = 1
) -> ndarray:
    places = row_places(name, self, index, dim)
    message = (
        "{}_(): self and source expected to have the same dtype, but got (self) {.word} and (source) {.word}"
    )
    if add:
        message = "{}_(): self ({.word}) and source ({.word}) must have the same scalar type"
    check(self.dtype == source.dtype, message, name, self.dtype, source.dtype)
    out = self.copy() if self.ndim else self.reshape(1).copy()
    source = source.reshape(source.shape or (1,))
    message = "{}(): Number of indices ({}) should be equal to source.size(dim) ({}), for dim: {}"
    check(source.shape[dim] == places.size, message, name, places.size, source.shape[dim], dim)
    others = [shape[:dim] + shape[dim + 1 :] for shape in (out.shape, source.shape)]
    message = "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {} "
    check(others[0] == others[1], message + "source.shape = {}", self.shape, source.shape)
    key = key_along(dim, places)
    if add:
        np.add.at(out, key, source * dtypes.fitting(alpha, self.dtype) if alpha != 1 else source)
    else:
        out[key] = source
    return out.reshape(self.shape)


def _rows_filled(self: ndarray, index: ndarray, dim: int, value: object) -> ndarray:
    places, out = row_places("index_fill_", self, index, dim), self.copy()
    message = "index_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s)."
    check(not isinstance(value, ndarray) or not value.ndim, message, getattr(value, "ndim", 0))
    out.reshape(out.shape or (1,))[key_along(dim, places)] = value
    return out


def along(self, index, dim: int):
    """The index of slices in the form that `gather` takes, with one entry per element; also for one example inside vmap."""
    sizes = [index.numel() if d == dim else n for d, n in enumerate(self.shape)]
    return index.reshape([-1 if d == dim else 1 for d in range(len(sizes))]).expand(sizes) if sizes else index


def raised(x):
    """A number as a vector of length 1."""
    return x if len(x.shape) else x.reshape(1)


def flat_places(name: str, self: ndarray, index: ndarray) -> ndarray:
    """Positions in the flattened tensor, possibly counted from the end. Raises PyTorch's errors."""
    check(
        index.dtype == np.int64, "{}(): Expected a long tensor for index, but got {.word}", name, index.dtype
    )
    n = self.size
    check(n > 0 or not index.size, "{}(): tried to take from an empty tensor", name, error=IndexError)
    bad = index[(index < -n) | (index >= n)]
    check(
        not bad.size,
        "out of range: tried to access index {} on a tensor of {} elements.",
        *bad[:1],
        n,
        error=IndexError,
    )
    return index % max(n, 1)


def chosen(self, mask) -> ndarray:
    """The flat positions at which a mask, broadcast with the tensor, is True."""
    mask = mask if isinstance(mask, ndarray) else mask._array
    return np.flatnonzero(np.broadcast_to(mask, np.broadcast_shapes(mask.shape, tuple(self.shape))))


def _masked(self: ndarray, mask: ndarray) -> ndarray:
    check(mask.dtype.kind == "b", "masked_select: expected BoolTensor for mask")
    return np.broadcast_to(self, np.broadcast_shapes(self.shape, mask.shape))[np.broadcast_to(
        mask, np.broadcast_shapes(self.shape, mask.shape))]  # fmt: skip


def masked_self(grad, self, mask):
    shape = np.broadcast_shapes(tuple(self.shape), tuple(mask.shape))
    return spread_places(grad, shape, chosen(self, mask))


def _put_flat(self: ndarray, index: ndarray, source: ndarray, accumulate: bool) -> ndarray:
    message = (
        "put_(): Expected source and index to have the same number of elements, but got source.numel() = {}, "
    )
    check(source.size == index.size, message + "index.numel() = {}", source.size, index.size)
    check(self.dtype == source.dtype, "put_(): self and source expected to have the same dtype")
    out, places = self.copy(), flat_places("put_", self, index)
    if accumulate:
        return add_at(out, places, source.reshape(index.shape))
    out.reshape(-1)[places] = source.reshape(index.shape)
    return out


# fmt: off
# ---------------------------------------------------------------- slices along a dimension

index_select = op("index_select(self, dim: dim, index)", _rows, kind="linear", numbers=False,
    batch=lambda self, index, dim: gather(raised(self), dim, along(raised(self), index, dim)).reshape(
        [index.numel() if d == dim else n for d, n in enumerate(self.shape)]),
    doc="The slices along `dim` that a vector of integers names: a copy.",
    self=lambda grad, self_sym_sizes, dim, index: index_add(zeros_beside(grad, self_sym_sizes), dim, index, grad))
index_add = op("index_add(self, dim: dim, index, source, *, alpha: Scalar=1)",
    lambda self, index, source, dim, alpha: _rows_written("index_add", self, index, source, dim, True, alpha),
    kind="jointly linear", inplace=True,
    batch=lambda self, index, source, dim, alpha: scatter_add(
        raised(self), dim, along(raised(source), index, dim), raised(source) * alpha).reshape(self.shape),
    doc="`input` with `alpha * source` added to the slices that `index` names, once for each occurrence.",
    self=lambda grad: grad, source=lambda grad, dim, index, alpha: index_select(grad, dim, index) * alpha)
index_copy = op("index_copy(self, dim: dim, index, source)",
    lambda self, index, source, dim: _rows_written("index_copy", self, index, source, dim, False), kind="jointly linear",
    inplace=True, batch=lambda self, index, source, dim: scatter(
        raised(self), dim, along(raised(source), index, dim), raised(source)).reshape(self.shape),
    doc="`input` with the slices that `index` names taken from `source`.",
    self=lambda grad, dim, index: index_fill(grad, dim, index, 0.0),
    source=lambda grad, dim, index: index_select(grad, dim, index))
index_fill_tensor = op("index_fill(self, dim: dim, index, value)",
    lambda self, index, value, dim: _rows_filled(self, index, dim, value), kind="jointly linear", inplace=True,
    node="IndexFillBackward1", batch=lambda self, index, value, dim: scatter(raised(self), dim, names := along(
        raised(self), index, dim), value.expand(names.shape)).reshape(self.shape),
    doc="`input` with the slices that `index` names filled with a 0-d tensor.",
    self=lambda grad, dim, index: index_fill(grad, dim, index, 0.0),
    value=lambda grad, dim, index: (grad - index_fill(grad, dim, index, 0.0)).sum())
index_fill = op("index_fill(self, dim: dim, index, value: Scalar)", _rows_filled, inplace=True,
    batch=lambda self, index, dim, value:
        scatter_number(raised(self), dim, along(raised(self), index, dim), value).reshape(self.shape),
    jvp=lambda inputs, tangents, results, params: index_fill(tangents[0], params[0], inputs[1], 0.0),
    doc="`input` with the slices that `index` names filled with a number.",
    self=lambda grad, dim, index: index_fill(grad, dim, index, 0.0))
scatter_number = op("scatter(self, dim: dim, index, value: Scalar)", lambda self, index, dim, value: scatter.op.forward(
        self, index, np.full(index.shape, dtypes.fitting(value, self.dtype), self.dtype), dim), inplace=True,
    node="ScatterBackward1", jvp=lambda inputs, tangents, results, params:
        scatter_number(tangents[0], params[0], inputs[1], 0.0), doc="A number written where `index` says, else `input`.",
    self=lambda grad, dim, index: scatter_number(grad, dim, index, 0.0))

# ---------------------------------------------------------------- elements of the flattened tensor, masks

take = op("take(self, index)", lambda self, index: self.reshape(-1).take(flat_places("take", self, index)), kind="linear",
    numbers=False, batch=lambda self, index: self.reshape(-1)[index],
    doc="The elements of the flattened tensor that `index` names, in the shape of `index`.",
    self=lambda grad, self, index: spread_places(grad, tuple(self.shape), index % max(math.prod(self.shape), 1)))
put = op("put(self, index, source, accumulate: bool=False)", _put_flat, kind="jointly linear", at="Tensor torch", inplace=True,
    doc="`input` with the elements of `source` written to, or added to, the places of the flattened tensor that `index` names.",
    self=lambda grad, index, accumulate: grad if accumulate else put(grad, index, zeros_beside(grad, tuple(index.shape))),
    source=lambda grad, source, index: take(grad, index).reshape(tuple(source.shape)))
masked_select = op("masked_select(self, mask)", _masked, kind="linear", broadcasts=True, self=masked_self,
    batch=lambda self, mask: NotImplemented if mask.bdim == 0 else self.expand(
        np.broadcast_shapes(self.shape, mask.shape)).reshape(-1)[wrap(chosen(self, mask))],
    doc="A vector of the elements where `mask`, which is broadcast, is True.")
# fmt: on

# ---------------------------------------------------------------- composed of other operations


@function("torch Tensor")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` with an index that is broadcast: the elements that it names along `dim`, or in the flattened tensor."""
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    message = "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {} dimensions for "
    message += "input, and {} dimensions for indices"
    check(input.dim() == indices.dim(), message, input.dim(), indices.dim())
    message = "torch.take_along_dim(): dtype of indices should be Long but got {.word}"
    check(indices._array.dtype == np.int64, message, indices._array.dtype)
    at = dim % max(input.dim(), 1)
    sizes = np.broadcast_shapes(
        *[[1 if d == at else n for d, n in enumerate(t.shape)] for t in (input, indices)]
    )
    own, names = ([t.shape[d] if d == at else n for d, n in enumerate(sizes)] for t in (input, indices))
    # it may count from the end
    indices = indices % n if (n := input.shape[at] if input.dim() else 1) else indices
    return gather(input.expand(own), dim, indices.expand(names))


@function("torch", name="where")
def where_true(condition: Tensor) -> tuple[Tensor, ...]:
    """Where the elements are not 0: one index tensor for each dimension, as `x[where(x > 0)]` takes them."""
    return unbind(nonzero(condition), 1) if condition.dim() else unbind(nonzero(condition.unsqueeze(0)), 1)


@function("torch Tensor", name="nonzero")
def nonzero_of(input: Tensor, *, as_tuple: bool) -> Tensor | tuple[Tensor, ...]:
    """The positions of the elements that are not 0, in rows, or (as_tuple) one index tensor for each dimension."""
    return where_true(input) if as_tuple else nonzero(input)


@function("Tensor", name="where")
def where_method(self: Tensor, condition: Tensor, other: Tensor | float) -> Tensor:
    """`self` where `condition` holds, else `other`: see minigrad.where."""
    return where(condition, self, other)


def _indices(self: Tensor, indices: tuple) -> tuple:
    message = "index_put(): argument 'indices' must be a tuple of tensors, not {}"
    check(isinstance(indices, (tuple, list)), message, type(indices), error=TypeError)
    message = "too many indices for tensor of dimension {} (got {})"
    check(len(indices) <= self._array.ndim, message, self._array.ndim, len(indices), error=IndexError)
    return tuple([None if k is None else as_index(k) for k in indices])


@function("torch Tensor", name="index_put")
def index_put_copy(input: Tensor, indices: tuple, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with `values` written, or added, at the positions that the index tensors name: see `x[indices] = values`."""
    return index_put(input, values, _indices(input, indices), accumulate)


@function("Tensor", name="index_put_")
def index_put_in_place(self: Tensor, indices: tuple, values: Tensor, accumulate: bool = False) -> Tensor:
    """`index_put` in place. Returns self."""
    return write(index_put.op, (self, values), (_indices(self, indices), accumulate))
