"""Reading and writing parts of a tensor by position: `x[key]`, `x[key] = value`, gather and scatter; elements in another
arrangement: repeated, turned, shifted; the triangles and diagonals of matrices.

A key is worked off from left to right as PyTorch does it: integers, slices, None and `...` give one view after the
other; what is left, tensors and lists, is one `index` (a copy) at the end.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from functools import partial

import numpy as np

from .. import dtypes
from ..autograd.views import write
from ..tensor import Tensor, full_name, plain_types, wrap
from .publish import function, method
from .run import as_size
from .shape import VIEW, expand, key_along, unsqueeze, view, zeros_beside
from .table import is_array, op

ndarray = np.ndarray
END = 2**63 - 1  # what PyTorch saves for an open end
ONLY_INDICES = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"

# ---------------------------------------------------------------- one dimension: select, slice


def _selected(self: ndarray, dim: int, index: int) -> ndarray:
    try:
        return self[index, ...] if dim == 0 else self[(*key_along(dim, index), ...)]
    except IndexError:
        if not self.ndim:
            raise IndexError("select() cannot be applied to a 0-dim tensor.") from None
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}"
        ) from None


def _placed(grad: ndarray, sizes: tuple, key: tuple) -> ndarray:
    out = np.zeros(sizes, grad.dtype)
    out[key] = grad
    return out


# fmt: off
select = op("select(self, dim: dim, index: int)", _selected, **VIEW,
            doc="The slice at one position of a dimension, which disappears: a view.",
            self=lambda grad, self_sym_sizes, dim, index: select_backward(grad, self_sym_sizes, dim, index))
select_backward = op("select_backward(self, sizes: size, dim: newdim, index: int)",
                     lambda self, sizes, dim, index: _placed(self, sizes, key_along(dim, index)), kind="linear", at="",
                     node="SelectBackwardBackward0", self=lambda grad, dim, index: select(grad, dim, index))
alias = op("alias(self)", ndarray.view, **VIEW, at="", batch="rows", self=lambda grad: grad)
cut = op("slice(self, dim: dim, start: int, end: int, step: int)",
         lambda self, dim, start, end, step: self[key_along(dim, slice(start, end, step)) if dim else slice(start, end, step)],
         **VIEW, at="",
         self=lambda grad, self_sym_sizes, dim, start, end, step: slice_backward(grad, self_sym_sizes, dim, start, end, step))
slice_backward = op("slice_backward(self, sizes: size, dim: dim, start: int, end: int, step: int)",
                    lambda self, sizes, dim, start, end, step: _placed(self, sizes, key_along(dim, slice(start, end, step))),
                    kind="linear", at="", node="SliceBackwardBackward0",
                    self=lambda grad, dim, start, end, step: cut(grad, dim, start, end, step))
# fmt: on


@function(at="torch Tensor")
def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` consecutive positions of one dimension, from `start`: a view."""
    size = self.size(dim)
    start = int(start) + size * (start < 0)
    if not 0 <= start <= start + length <= size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return cut(self, dim, start, start + length, 1)


# ---------------------------------------------------------------- index tensors: index, index_put


def numpy_key(indices: tuple) -> tuple:
    """Index tensors as NumPy wants them."""
    return tuple([slice(None) if i is None else i._array for i in indices])


def _read(self: ndarray, indices: tuple) -> ndarray:
    try:
        last = indices[-1]._array
        if last.dtype.kind == "i" and indices.count(None) == len(indices) - 1:
            return self.take(last, len(indices) - 1)  # several times faster than by a key
        return np.asarray(self[numpy_key(indices)], order="C")
    except IndexError:
        check_indices(self, indices)
        raise


def _put(self: ndarray, values: ndarray, indices: tuple, accumulate: bool) -> ndarray:
    out, key = self.copy(), numpy_key(indices)
    if self.dtype != values.dtype and not (values.size == len(key) == 1 and key[0].dtype.kind == "b"):
        # but one value for a mask is cast, like a number
        told = f"got {dtypes.word(self.dtype)} for the destination and {dtypes.word(values.dtype)} for the source."
        raise RuntimeError(f"Index put requires the source and destination dtypes match, {told}")
    try:
        if accumulate:
            np.add.at(out, key, values)
        else:
            out[key] = values
    except (IndexError, ValueError):
        check_indices(self, indices)
        told = f"{list(values.shape)} cannot be broadcast to indexing result of shape {list(self[key].shape)}"
        raise RuntimeError(f"shape mismatch: value tensor of shape {told}") from None
    return out


def check_indices(self: ndarray, indices: tuple) -> None:
    """Raise PyTorch's error for index tensors that do not fit."""
    dim, shapes = 0, []
    for i in [None if i is None else i._array for i in indices]:
        masked, sizes = i is not None and i.dtype.kind == "b", self.shape[dim:]
        if masked and i.shape != sizes[: i.ndim]:
            d = next(d for d, n in enumerate(i.shape) if sizes[d : d + 1] != (n,))
            told = f"does not match the shape of the indexed tensor {list(self.shape)} at index {dim + d}"
            raise IndexError(f"The shape of the mask {list(i.shape)} at index {d} {told}")
        for k in [] if i is None or masked else i[(i < -sizes[0]) | (i >= sizes[0])].tolist():
            raise IndexError(f"index {k} is out of bounds for dimension {dim} with size {sizes[0]}")
        shapes += [] if i is None else [i.nonzero()[0].shape if masked else i.shape]
        dim += i.ndim if masked else 1
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        told = f"could not be broadcast together with shapes {', '.join(str(list(s)) for s in shapes)}"
        raise IndexError(f"shape mismatch: indexing tensors {told}") from None


# fmt: off
index = op("index(self, indices: object)", _read, kind="linear", at="", batch="index",
           self=lambda grad, self_sym_sizes, indices: index_put(zeros_beside(grad, self_sym_sizes), grad, indices, True))
index_put = op("index_put(self, values, indices: object, accumulate: bool)", _put, kind="jointly linear", broadcasts=True,
               at="", batch="index_put",
               self=lambda grad, indices, accumulate:
                   grad if accumulate else index_put(grad, zeros_beside(grad, ()), indices, False),
               values=lambda grad, indices: index(grad, indices))
# fmt: on


# ---------------------------------------------------------------- keys


def as_index(k: object) -> Tensor | None:
    """An entry of a key that selects by a tensor: integers or a mask. Raises IndexError for anything else."""
    if k is not None and not isinstance(k, Tensor):
        if not isinstance(k, (bool, list, tuple, range, ndarray)):
            raise IndexError(ONLY_INDICES.format(full_name(type(k))))
        if isinstance(k, list) and any(isinstance(e, (Tensor, slice, type(None), type(...))) for e in k):
            raise IndexError(
                "a list in brackets holds numbers or truth values: use x[tuple(list)] for anything else"
            )
        array = np.asarray(k)
        k = wrap(array if array.dtype.kind == "b" and array.size else array.astype(np.int64))
    if k is not None and k._array.dtype not in (np.int64, np.int32, np.bool_):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return k


def is_position(k: object) -> bool:
    """Is this one integer? A 0-d tensor is, but not inside vmap: there it is one for each example."""
    if type(k) in plain_types or type(k) is ndarray:
        return k.ndim == 0 and np.asarray(k).dtype.kind in "iu"
    return isinstance(k, np.integer) or (isinstance(k, int) and k is not True and k is not False)


def consumed(k: object) -> int:
    """How many dimensions of the tensor an entry of a key speaks of."""
    if k is None or k is ... or isinstance(k, bool):
        return 0
    return k._array.ndim if isinstance(k, Tensor) and k._array.dtype.kind == "b" else 1


def worked_off(self: Tensor, key: object, writing: bool = False) -> tuple[Tensor, list[Tensor | None]]:
    """The view that the simple entries of a key give, and the index tensors that remain, one for each dimension."""
    entries, ndim = key if isinstance(key, tuple) else (key,), self._array.ndim
    used = sum(map(consumed, entries))
    if used > ndim:
        if not ndim and isinstance(key, int):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
                "0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    out, dim, indices = self, 0, []
    for place, k in enumerate(entries):
        if type(k) is int or is_position(k):
            out = at_position(out, dim, int(k), place)
        elif isinstance(k, slice):
            out, dim = sliced(out, dim, k, keep=type(key) is slice and not writing), dim + 1
        elif k is None:
            out, dim = unsqueeze(out, dim), dim + 1
        elif k is ...:
            dim += ndim - used
        else:
            k = as_index(k)
            if not k._array.ndim and k._array.dtype.kind == "b":
                out, k = unsqueeze(out, dim), wrap(np.zeros(int(k.item()), np.int64))
            indices += [None] * (dim - len(indices)) + [k]
            dim += k._array.ndim if k._array.dtype.kind == "b" else 1
            if not k._array.size:  # NumPy takes an empty mask of any length
                check_indices(out._array, indices)
    return out, indices


def at_position(t: Tensor, dim: int, k: int, place: int = 0) -> Tensor:
    """The slice at one position, which must exist. place: where it stands in the key."""
    length = t._array.shape[dim]
    if not -length <= k < length:
        raise IndexError(f"index {k} is out of bounds for dimension {place} with size {length}")
    return select(t, dim, k)


def sliced(t: Tensor, dim: int, key: slice, keep: bool) -> Tensor:
    """A slice of one dimension; a slice of everything gives `t` itself unless `keep`."""
    start, end, step = key.start, key.stop, key.step
    start = 0 if start is None else start if type(start) is int else operator.index(start)
    end = END if end is None else end if type(end) is int else operator.index(end)
    step = 1 if step is None else step if type(step) is int else operator.index(step)
    if step <= 0:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    if not keep and start == 0 and step == 1 and end >= t._array.shape[dim]:
        return t
    return cut(t, dim, start, end, step)


@method("__getitem__")
def getitem(self: Tensor, key: object) -> Tensor:
    """`x[key]`: a view for integers, slices, None and `...`; a copy as soon as a list, tensor or mask takes part.

    Raises IndexError for positions and masks that do not fit, ValueError for negative steps.
    """
    if self._array.ndim:  # the most frequent of all keys
        if type(key) is int:
            return at_position(self, 0, key)
        if type(key) is slice:
            return sliced(self, 0, key, keep=True)
    out, indices = worked_off(self, key)
    if indices:
        return index(out, tuple(indices))
    return alias(out) if out is self else out


@method("__setitem__")
def setitem(self: Tensor, key: object, value: Tensor | float) -> None:
    """`x[key] = value`: write into the view that `key` selects, or with `index_put_` where lists or tensors take part.

    `value` is broadcast. Raises RuntimeError for shapes that do not fit and wherever an in-place operation is refused.
    """
    if not isinstance(value, Tensor):
        if not isinstance(value, (bool, int, float, np.integer)):
            raise TypeError(f"can't assign a {full_name(type(value))} to a {self.dtype.tensor_type}")
        value = wrap(dtypes.fitting(value, self._array.dtype))
    out, indices = worked_off(self, key, writing=True)
    shape = value._array.shape
    ones = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    if shape == out._array.shape and not indices:
        out.copy_(value)
    elif not shape and not indices:
        out.fill_(value)
    else:
        value = view(value, shape[ones:]) if ones or not indices else value  # PyTorch takes leading ones away
        if indices:
            write(index_put.op, (out, value), (tuple(indices), False))
        else:
            out.copy_(value if value._array.shape == out._array.shape else expand(value, out._array.shape))


# ---------------------------------------------------------------- along one dimension: gather, scatter


def named(name: str, self: ndarray, index: ndarray, dim: int) -> tuple:
    """A key for the elements that an index of as many dimensions names along one of them. Raises PyTorch's errors."""
    if index.dtype not in (np.int64, np.int32) and index.size:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if (index.ndim or 1) != self.ndim and index.size:
        whose = "input" if name == "gather" else "self"
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {whose} tensor")
    length = self.shape[dim]
    for bad in index[
        (index < 0) | (index >= length)
    ].tolist():  # negative ones do not count from the end here
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {length}")
    key = np.indices(index.shape, sparse=True)
    return (*key[:dim], index.astype(np.int64, copy=False), *key[dim + 1 :])


def _gathered(self: ndarray, index: ndarray, dim: int) -> ndarray:
    found = np.atleast_1d(self)[named("gather", np.atleast_1d(self), np.atleast_1d(index), dim)]
    return found.reshape(index.shape)


def _scattered(self: ndarray, index: ndarray, src: ndarray, dim: int, add: bool = False) -> ndarray:
    if src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    out, index = self.copy(), np.atleast_1d(index)
    target, src = np.atleast_1d(out), np.atleast_1d(src)[tuple(map(slice, index.shape))]
    key = named("scatter", target, index, dim)
    if add:
        np.add.at(target, key, src)
    else:
        target[key] = src
    return out


def _one_hot(self: ndarray, num_classes: int) -> ndarray:
    if self.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    classes = int(self.max()) + 1 if num_classes == -1 else num_classes
    if self.size and not 0 <= self.min() <= self.max() < classes:
        told = "non-negative" if self.min() < 0 else "smaller than num_classes"
        raise RuntimeError(f"Class values must be {told}.")
    return np.equal(self[..., None], np.arange(classes)).astype(np.int64)


# fmt: off
gather = op("gather(self, dim: dim, index)", _gathered, kind="linear",
            doc="Along `dim` the elements that `index` names: out[i][j] = input[index[i][j]][j] for dim 0. Shape of `index`.",
            self=lambda grad, self, dim, index: scatter_add(zeros_beside(grad, self.shape), dim, index, grad))
scatter = op("scatter(self, dim: dim, index, src)", _scattered, kind="jointly linear", numbers=False, inplace=True,
             doc="The reverse of `gather`: `src` written where `index` says, else `input`.",
             self=lambda grad, dim, index: scatter(grad, dim, index, zeros_beside(grad, index.shape)),
             src=lambda grad, dim, index: gather(grad, dim, index))
scatter_add = op("scatter_add(self, dim: dim, index, src)", lambda *given: _scattered(*given, add=True), kind="jointly linear",
                 inplace=True, doc="`input` with `src` added where `index` says, as often as it says.",
                 self=lambda grad: grad, src=lambda grad, dim, index: gather(grad, dim, index))
nonzero = op("nonzero(self)", np.argwhere, aliases="argwhere",
             doc="The positions of the elements that are not 0, one row each.")
one_hot = op("one_hot(self, num_classes: int=-1)", _one_hot, at="F", batch="rows",
             doc="A row of zeros for each element, with a one at the place that it names.")
# fmt: on


def eye_beside(x: ndarray | Tensor, rows: int, columns: int) -> ndarray | Tensor:
    """An identity matrix: an array, or a Tensor if `x` is one."""
    return (
        np.eye(rows, columns, dtype=x.dtype)
        if is_array(x)
        else wrap(np.eye(rows, columns, dtype=x._array.dtype))
    )


# ---------------------------------------------------------------- places: what a recorded backward pass does to views
#
# Places are integers that count the elements of a tensor row by row. They say where the elements of a view are in its base.


@method("_take_places")
def take_places(self: ndarray | Tensor, places: ndarray) -> ndarray | Tensor:
    """The elements there."""
    return index(self.reshape(-1), (wrap(places),))


@method("_put_places")
def put_places(self: Tensor, part: Tensor, places: ndarray) -> Tensor:
    """A copy in which the elements of `part` stand there."""
    return index_put(self.reshape(-1), part, (wrap(places),), False).reshape(self.shape)


@method("_spread_places")
def spread_places(self: ndarray | Tensor, shape: tuple, places: ndarray) -> ndarray | Tensor:
    """The transpose of `take_places`: zeros of this shape, with the elements added there."""
    return index_put(zeros_beside(self, (math.prod(shape),)), self, (wrap(places),), True).reshape(shape)


# ---------------------------------------------------------------- repeated, turned, triangles, diagonals


def repeated(self: ndarray | Tensor, repeats: tuple) -> ndarray | Tensor:
    """The elements side by side, of an array or a Tensor: each dimension stretched over a new one before it."""
    sizes = (1,) * (len(repeats) - self.ndim) + tuple(self.shape)
    if len(sizes) > len(repeats):
        told = "can not be smaller than number of dimensions of tensor"
        raise RuntimeError(f"Number of dimensions of repeat dims {told}")
    pairs = list(zip(repeats, sizes, strict=True))
    wide = expand(self.reshape([n for size in sizes for n in (1, size)]), tuple(itertools.chain(*pairs)))
    return wide.reshape([count * size for count, size in pairs])


def fold_repeats(grad: ndarray | Tensor, sizes: tuple, repeats: tuple) -> ndarray | Tensor:
    """The gradient of a repetition: the copies added up."""
    padded = (1,) * (len(repeats) - len(sizes)) + tuple(sizes)
    wide = list(itertools.chain(*zip(repeats, padded, strict=True)))
    return grad.reshape(wide).sum(tuple(range(0, len(wide), 2))).reshape(sizes)


def _diagonal(self: ndarray, offset: int, dim1: int, dim2: int) -> ndarray:
    found = self.diagonal(offset, dim1, dim2)
    found.flags.writeable = self.flags.writeable
    return found


def diagonal_self(grad, self_sym_sizes, offset, dim1, dim2):
    numbered = np.arange(math.prod(self_sym_sizes)).reshape(self_sym_sizes)
    return spread_places(grad, self_sym_sizes, numbered.diagonal(offset, dim1, dim2))


def _traced(self: ndarray) -> ndarray:
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return np.trace(self)


def _triangle(side: Callable, self: ndarray, diagonal: int) -> ndarray:
    if self.ndim < 2:
        raise RuntimeError(f"{side.__name__}: input tensor must have at least 2 dimensions")
    return side(self, diagonal)


def _rolled(self: ndarray, shifts: int | tuple, dims: int | tuple | None) -> ndarray:
    count, places = len(as_size(shifts)), len(as_size(() if dims is None else dims))
    if count != places and (places or count != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {count}, dims:{places}")
    return np.roll(self, shifts, dims)


# fmt: off
repeat = op("repeat(self, *repeats: size)", repeated, kind="linear", at="Tensor", batch=repeated,
            doc="The tensor laid side by side `repeats[d]` times along each dimension d; more repeats add dimensions.",
            self=lambda grad, self_sym_sizes, repeats: fold_repeats(grad, self_sym_sizes, repeats))
flip = op("flip(self, *dims: dims)", lambda self, dims: np.flip(self, dims if self.ndim else ()).copy(), kind="linear",
          doc="The elements in reverse order along the given dimensions: a copy.", self=lambda grad, dims: flip(grad, dims))
cumsum = op("cumsum(self, dim: dim)", lambda self, dim: np.cumsum(
    self, dim, None if self.dtype.kind == "f" else np.int64).reshape(self.shape), kind="linear",
            doc="The running sum along `dim`. Integers and bools are summed as int64.",
            self=lambda grad, dim: flip(cumsum(flip(grad, (dim,)), dim), (dim,)))
roll = op("roll(self, shifts: object, dims: object=None)", _rolled, kind="linear",
          doc="The elements shifted along `dims`, or as one vector; what falls off comes in at the other end.",
          self=lambda grad, shifts, dims: roll(grad, tuple([-n for n in as_size(shifts)]), dims))
tril = op("tril(self, diagonal: int=0)", partial(_triangle, np.tril), kind="linear", batch="rows", inplace=True,
          doc="The elements on and below a diagonal (0 the main one, 1 the one above it), zeros elsewhere.",
          self=lambda grad, diagonal: tril(grad, diagonal))
triu = op("triu(self, diagonal: int=0)", partial(_triangle, np.triu), kind="linear", batch="rows", inplace=True,
          doc="The elements on and above a diagonal (0 the main one, 1 the one above it), zeros elsewhere.",
          self=lambda grad, diagonal: triu(grad, diagonal))
diagonal = op("diagonal(self, offset: int=0, dim1: dim=0, dim2: dim=1)", _diagonal, **VIEW, self=diagonal_self,
              doc="The diagonal over two dimensions, as the last dimension of a view.")
diagonal_copy = op("diagonal(self, offset: int, dim1: dim, dim2: dim)", lambda *given: _diagonal(*given).copy(),
                   kind="linear", at="", node="DiagonalBackward0_copy", self=diagonal_self)
diag_embed = op("diag_embed(self, offset: int, dim1: int, dim2: int)", lambda self, offset, dim1, dim2: np.diag(self, offset),
                kind="linear", at="", self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2))
trace = op("trace(self)", _traced, kind="linear", batch=lambda self: self.diagonal().sum(),
           doc="The sum of the main diagonal of a matrix.",
           self=lambda grad, self_sym_sizes: grad * eye_beside(grad, *self_sym_sizes))
# fmt: on


@function(at="torch Tensor")
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """Of a vector the matrix with it on a diagonal, of a matrix a copy of that diagonal."""
    if self._array.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self._array.ndim}D")
    return (diag_embed if self._array.ndim == 1 else diagonal_copy)(self, diagonal, 0, 1)
