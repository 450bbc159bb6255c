"""Reading and writing parts of a tensor by position: `x[key]`, `x[key] = value`; elements in reverse order; running sums;
triangles and diagonals of matrices.

A key is processed from left to right, as in PyTorch: integers, slices, None and `...` give one view after the other; the rest,
tensors and lists, becomes one `index` (a copy) at the end.
"""

from __future__ import annotations

import math
import warnings
from functools import lru_cache, partial
from operator import index as as_int

import numpy as np

from .. import dtypes
from ..autograd.modes import is_plain, local, special
from ..autograd.node import gradient_node, new_node
from ..autograd.views import make_view
from ..basics import check, full_name, wrap_dim
from ..tensor import Tensor, plain_types, wrap
from .inplace import write
from .op import Op
from .pointwise import _where, copy, fill_tensor
from .reduction import OUT_OF_BOUNDS, add_at, leaves, rows
from .shape import VIEW, expand, key_along, unsqueeze, view, zeros_beside
from .table import function, is_array, method, op

ndarray = np.ndarray
END = 2**63 - 1  # what PyTorch saves for an open end
mask_of = lru_cache(maxsize=8)(np.tri)  # the mask of a triangle: most of np.tril's time is spent on it
ONLY_INDICES = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"
# A list with any of these is treated as the tuple of its elements, an old rule of NumPy that PyTorch keeps.
PARTS_OF_A_KEY = (Tensor, list, tuple, range, ndarray, slice, type(None), type(...))
LIST_AS_TUPLE = "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; "
LIST_AS_TUPLE += (
    "use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
)
LIST_AS_TUPLE += "x[torch.tensor(seq)], which will result either in an error or a different result"
NO_KEY = "a list used as an index must hold integers or booleans; for anything else use x[tuple(index)]"
NO_DIMENSION = "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
NO_DIMENSION += "0-dim tensor to a number"

# ---------------------------------------------------------------- on arrays, and parts of rules


def _selected(self: ndarray, dim: int, index: int) -> ndarray:
    try:
        return self[index, ...] if dim == 0 else self[(*key_along(dim, index), ...)]
    except IndexError:
        message = "select(): index {} out of range for tensor of size {} at dimension {}"
        raise IndexError(message.format(index, list(self.shape), dim)) from None


def _placed(grad: ndarray, sizes: tuple, key: tuple) -> ndarray:
    out = np.zeros(sizes, grad.dtype)
    out[key] = grad
    return out


def numpy_key(self: ndarray, indices: tuple) -> tuple:
    """Index tensors in the form that NumPy expects. Raises IndexError for masks of another shape."""
    key, dim = [], 0
    for i in indices:
        k = slice(None) if i is None else i._array
        mask = k.shape if i is not None and k.dtype.kind == "b" else ()
        for d, n in enumerate(mask):
            message = "The shape of the mask {} at index {} does not match the shape of the indexed tensor {} at index {}"
            check(self.shape[dim + d :][:1] == (n,), message, mask, d, self.shape, dim + d, error=IndexError)
        key.append(k)
        dim += len(mask) or 1
    return tuple(key)


def _read(self: ndarray, indices: tuple) -> ndarray:
    last = indices[-1]._array
    if last.dtype.kind == "i" and not [i for i in indices[:-1] if i is not None]:
        return self.take(last, len(indices) - 1)  # several times faster than by a key
    return np.asarray(self[numpy_key(self, indices)], order="C")


def _put(self: ndarray, values: ndarray, indices: tuple, accumulate: bool) -> ndarray:
    out, key = self.copy(), numpy_key(self, indices)
    one = values.size == len(key) == 1 and key[0].dtype.kind == "b"  # it is cast, like a number
    message = "Index put requires the source and destination dtypes match, got {0.word} for the destination and {1.word} for "
    check(one or self.dtype == values.dtype, message + "the source.", self.dtype, values.dtype)
    try:
        if accumulate:
            add_at(out, np.arange(self.size).reshape(self.shape)[key], values)
        else:
            out[key] = values
    except ValueError:
        message = (
            "shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}"
        )
        check(False, message, values.shape, self[key].shape)
    return out


def as_index(k: object) -> Tensor:
    """An entry of a key that selects by a tensor: integers or a mask. Raises IndexError for anything else."""
    if not isinstance(k, Tensor):
        check(not isinstance(k, str), "new(): invalid data type 'str'", error=TypeError)
        check(isinstance(k, (bool, list, tuple, range, ndarray)), ONLY_INDICES, type(k), error=IndexError)
        array = index_array(k)
        k = wrap(array if array.dtype.kind == "b" and array.size else array.astype(np.int64))
    message = "tensors used as indices must be long, int, byte or bool tensors"
    check(k._array.dtype.char in "ilq?", message, error=IndexError)
    return k


def index_array(k: object) -> ndarray:
    """A list of numbers or truth values, which may be nested, as an array. Raises IndexError for anything else."""
    try:
        array = np.asarray(k)
    except (TypeError, ValueError):  # ragged, or not of numbers
        raise IndexError(NO_KEY) from None
    check(array.dtype.kind in "biuf" or not array.size, NO_KEY, error=IndexError)
    return array


def is_position(k: object) -> bool:
    """Whether this is one integer. A 0-d tensor is one, but not inside vmap, where it has a value for each example."""
    if type(k) in plain_types or type(k) is ndarray:
        return k.ndim == 0 and np.asarray(k).dtype.kind in "iu"
    return isinstance(k, np.integer) or (isinstance(k, int) and k is not True and k is not False)


def consumed(k: object) -> int:
    """How many dimensions of the tensor an entry of a key uses up."""
    if k is None or k is ... or isinstance(k, bool):
        return 0
    return k._array.ndim if isinstance(k, Tensor) and k._array.dtype.kind == "b" else 1


def worked_off(self: Tensor, key: object, writing: bool = False) -> tuple[Tensor, list[Tensor | None]]:
    """The view given by the simple entries of a key, and the index tensors that remain, one for each dimension."""
    if isinstance(key, list) and any(isinstance(k, PARTS_OF_A_KEY) for k in key[:31]) and len(key) < 32:
        warnings.warn(LIST_AS_TUPLE, stacklevel=3)
        key = tuple(key)
    entries, ndim = key if isinstance(key, tuple) else (key,), self._array.ndim
    used = sum(map(consumed, entries))
    message = (
        "too many indices for tensor of dimension {}" if ndim or not isinstance(key, int) else NO_DIMENSION
    )
    message = "slice() cannot be applied to a 0-dim tensor." if type(key) is slice else message
    check(used <= ndim, message, ndim, error=IndexError)
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
    return out, indices


def at_position(t: Tensor, dim: int, k: int, place: int = 0) -> Tensor:
    """The slice at one position, which must exist. place: its position in the key."""
    length = t._array.shape[dim]
    if not -length <= k < length:
        raise IndexError(OUT_OF_BOUNDS.format(k, place, length))
    return select_at(t, dim, k)


def sliced(t: Tensor, dim: int, key: slice, keep: bool) -> Tensor:
    """A slice of one dimension; a slice of everything gives `t` itself unless `keep`."""
    start, end, step = key.start, key.stop, key.step
    usable = all(n is None or hasattr(n, "__index__") for n in (start, end, step))
    check(usable, "slice indices must be integers or None or have an __index__ method", error=TypeError)
    start = 0 if start is None else as_int(start)
    end = END if end is None else as_int(end)
    step = 1 if step is None else as_int(step)
    if step <= 0:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    if not keep and start == 0 and step == 1 and end >= t._array.shape[dim]:
        return t
    return cut(t, dim, start, end, step)


def plain_view(op: Op, t: Tensor, array: ndarray, *params: int) -> Tensor:
    """A view whose array is known, with its node: what `call_one` does after computing, without the rest of a call. This is for
    the most frequent keys, on ordinary tensors."""
    out = wrap(array)
    make_view(out, t)
    if t._requires_grad and (not special or local.modes.grad):
        saved = op.select_saved((None, t, array, t._array.shape, t._array.size, *params))
        output_nrs = (t._output_nr,) if t._output_nr else None
        out._requires_grad = True
        out._grad_fn = new_node(op.node_class, (gradient_node(t),), output_nrs, saved)
    return out


def _one_hot(self: ndarray, num_classes: int) -> ndarray:
    check(self.dtype == np.int64, "one_hot is only applicable to index tensor of type LongTensor.")
    classes = self.item(self.argmax()) + 1 if num_classes == -1 else num_classes
    if leaves(self, classes):
        message = "non-negative" if self.min() < 0 else "smaller than num_classes"
        raise RuntimeError(f"Class values must be {message}.")
    out = np.zeros((*self.shape, classes), np.int64)
    out.reshape(-1)[rows(out.shape) + self] = 1
    return out


def eye_beside(x: ndarray | Tensor, rows: int, columns: int) -> ndarray | Tensor:
    """An identity matrix: an array, or a Tensor if `x` is one."""
    eye = np.eye(rows, columns, dtype=(x if is_array(x) else x._array).dtype)
    return eye if is_array(x) else wrap(eye)


def _diagonal(self: ndarray, offset: int, dim1: int, dim2: int) -> ndarray:
    result = self.diagonal(offset, dim1, dim2)
    result.flags.writeable = self.flags.writeable
    return result


def diagonal_self(grad, self_sym_sizes, offset, dim1, dim2):
    numbered = np.arange(math.prod(self_sym_sizes)).reshape(self_sym_sizes)
    return spread_places(grad, self_sym_sizes, numbered.diagonal(offset, dim1, dim2))


def _embedded(self: ndarray, offset: int, dim1: int, dim2: int) -> ndarray:
    check(self.ndim > 0, "diag_embed: the input must have at least one dimension")
    dims = wrap_dim(dim1, self.ndim + 1), wrap_dim(dim2, self.ndim + 1)
    check(dims[0] != dims[1], "diagonal dimensions cannot be identical {}, {}", dim1, dim2)
    n = self.shape[-1] + abs(offset)
    out, places = np.zeros((*self.shape[:-1], n, n), self.dtype), np.arange(self.shape[-1])
    out[..., places + max(-offset, 0), places + max(offset, 0)] = self
    return np.moveaxis(out, (-2, -1), dims)


def _traced(self: ndarray) -> ndarray:
    check(self.ndim == 2, "trace: expected a matrix, but got tensor with dim {}", self.ndim)
    return np.trace(self, dtype=None if self.dtype.kind == "f" else np.int64)


def _triangle(name: str, self: ndarray, diagonal: int) -> ndarray:
    check(self.ndim >= 2, "{}: input tensor must have at least 2 dimensions", name)
    upper = name == "triu"
    return _where(mask_of(*self.shape[-2:], diagonal - upper, np.bool_) ^ upper, self, 0.0)


# fmt: off
# ---------------------------------------------------------------- one dimension: select, slice

select = op("select(self, dim: dim, index: int)", _selected, **VIEW,
            doc="The slice at one position of a dimension, which disappears: a view.",
            self=lambda grad, self_sym_sizes, dim, index: select_backward(grad, self_sym_sizes, dim, index))
select_at = op("select(self, dim: front, index: object)", _selected, **VIEW, at="", **select.op.rules)
select_backward = op("select_backward(self, sizes: size, dim: newdim, index: int)",
                     lambda self, sizes, dim, index: _placed(self, sizes, key_along(dim, index)), kind="linear", at="",
                     node="SelectBackwardBackward0", self=lambda grad, dim, index: select(grad, dim, index))
alias = op("alias(self)", ndarray.view, **VIEW, at="", batch="rows", self=lambda grad: grad)
cut = op("slice(self, dim: front, start: object, end: object, step: object)",
         lambda self, dim, start, end, step: self[start:end:step] if not dim else self[key_along(dim, slice(start, end, step))],
         **VIEW, at="",
         self=lambda grad, self_sym_sizes, dim, start, end, step: slice_backward(grad, self_sym_sizes, dim, start, end, step))
slice_backward = op("slice_backward(self, sizes: size, dim: dim, start: int, end: int, step: int)",
                    lambda self, sizes, dim, start, end, step: _placed(self, sizes, key_along(dim, slice(start, end, step))),
                    kind="linear", at="", node="SliceBackwardBackward0",
                    self=lambda grad, dim, start, end, step: cut(grad, dim, start, end, step))

# ---------------------------------------------------------------- index tensors: index, index_put

index = op("index(self, indices: object)", _read, kind="linear", at="", batch="index",
           self=lambda grad, self_sym_sizes, indices: index_put(zeros_beside(grad, self_sym_sizes), grad, indices, True))
index_put = op("index_put(self, values, indices: object, accumulate: bool)", _put, kind="jointly linear", broadcasts=True,
               at="", batch="index", self=lambda grad, indices, accumulate:
                   grad if accumulate else index_put(grad, zeros_beside(grad, ()), indices, False),
               values=lambda grad, indices: index(grad, indices))

# ---------------------------------------------------------------- positions of nonzero elements, and rows with a one

nonzero = op("nonzero(self)", np.argwhere, aliases="argwhere", doc="The positions of the elements that are not 0, in rows.")
one_hot = op("one_hot(self, num_classes: int=-1)", _one_hot, at="F", batch="rows",
             doc="A row of zeros for each element, with a one at the place that it names.")

# ---------------------------------------------------------------- reversed, running sums, triangles, diagonals

flip = op("flip(self, *dims: dims)", lambda self, dims: self[
    tuple([slice(None, None, -1 if d in dims else 1) for d in range(self.ndim)])].copy(), kind="linear",
          doc="The elements in reverse order along the given dimensions: a copy.", self=lambda grad, dims: flip(grad, dims))
cumsum = op("cumsum(self, dim: dim)", lambda self, dim: self.cumsum(
    dim, None if self.dtype.kind == "f" else np.int64).reshape(self.shape), kind="linear",
            doc="The running sum along `dim`. Integers and bools are summed as int64.",
            self=lambda grad, dim: flip(cumsum(flip(grad, (dim,)), dim), (dim,)))
tril = op("tril(self, diagonal: int=0)", partial(_triangle, "tril"), kind="linear", batch="rows", inplace=True,
          doc="The elements on and below a diagonal (0 the main one, 1 the one above it), zeros elsewhere.",
          self=lambda grad, diagonal: tril(grad, diagonal))
triu = op("triu(self, diagonal: int=0)", partial(_triangle, "triu"), kind="linear", batch="rows", inplace=True,
          doc="The elements on and above a diagonal (0 the main one, 1 the one above it), zeros elsewhere.",
          self=lambda grad, diagonal: triu(grad, diagonal))
diagonal = op("diagonal(self, offset: int=0, dim1: dim=0, dim2: dim=1)", _diagonal, **VIEW, self=diagonal_self,
              doc="The diagonal over two dimensions, as the last dimension of a view.")
diagonal_copy = op("diagonal(self, offset: int, dim1: dim, dim2: dim)", lambda *given: _diagonal(*given).copy(),
                   kind="linear", at="", node="DiagonalBackward0_copy", self=diagonal_self)
diag_embed = op("diag_embed(self, offset: int=0, dim1: int=-2, dim2: int=-1)", _embedded, kind="linear", at="", batch="rows",
                self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2))
trace = op("trace(self)", _traced, kind="linear", takes="fiu", kernel="trace", batch=lambda self: self.diagonal().sum(),
           doc="The sum of the main diagonal of a matrix.",
           self=lambda grad, self_sym_sizes: grad * eye_beside(grad, *self_sym_sizes))
# fmt: on

# ---------------------------------------------------------------- composed of other operations


@function(at="torch Tensor")
def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` consecutive positions of one dimension, from `start`: a view."""
    check(self._array.ndim > 0, "narrow() cannot be applied to a 0-dim tensor.")
    size, dim = self.size(dim), wrap_dim(dim, self._array.ndim)
    start = int(start) + size * (start < 0)
    message = "start ({}) + length ({}) exceeds dimension size ({})."
    check(0 <= start <= start + length <= size, message, start, length, size)
    return cut(self, dim, start, start + length, 1)


@method("__getitem__")
def getitem(self: Tensor, key: object) -> Tensor:
    """`x[key]`: a view for integers, slices, None and `...`; a copy as soon as the key contains a list, tensor or mask.

    Raises IndexError for positions and masks that do not fit, ValueError for negative steps.
    """
    x, kind = self._array, type(key)
    plain = x.ndim and type(self) in plain_types and (not special or is_plain())
    if plain and kind is int and -len(x) <= key < len(x):
        return plain_view(select.op, self, x[key, ...], 0, key)
    if plain and kind is slice and key.step is None:
        start, end = 0 if key.start is None else key.start, END if key.stop is None else key.stop
        if type(start) is int and type(end) is int:
            return plain_view(cut.op, self, x[key], 0, start, end, 1)
    out, indices = worked_off(self, key)
    if indices:
        return index(out, tuple(indices))
    return alias(out) if out is self else out


@method("__setitem__")
def setitem(self: Tensor, key: object, value: Tensor | float) -> None:
    """`x[key] = value`: write into the view that `key` selects, or with `index_put_` if it contains lists or tensors.

    `value` is broadcast. Raises RuntimeError for shapes that do not fit and wherever an in-place operation is refused.
    """
    if not isinstance(value, Tensor):
        if not isinstance(value, (bool, int, float, np.integer)):
            raise TypeError(f"can't assign a {full_name(type(value))} to a {self.dtype.tensor_type}")
        value = wrap(dtypes.fitting(value, self._array.dtype))
    out, indices = worked_off(self, key, writing=True)
    shape, size = value._array.shape, out._array.shape
    ones = next((i for i, n in enumerate(shape) if n != 1), len(shape))  # PyTorch removes leading 1s
    if indices:
        value = view(value, shape[ones:]) if ones else value
        write(index_put.op, (out, value), (tuple(indices), False))
    elif size and not shape:
        write(fill_tensor.op, (out, value))
    else:
        value = value if shape == size else view(value, shape[ones:])
        write(copy.op, (out, value if value._array.shape == size else expand(value, size)))


@method("_take_places")
def take_places(self: ndarray | Tensor, places: ndarray) -> ndarray | Tensor:
    """The elements at these positions of the flattened tensor."""
    return index(self.reshape(-1), (wrap(places),))


@method("_put_places")
def put_places(self: Tensor, part: Tensor, places: ndarray) -> Tensor:
    """A copy with the elements of `part` at these places."""
    return index_put(self.reshape(-1), part, (wrap(places),), False).reshape(self.shape)


@method("_spread_places")
def spread_places(self: ndarray | Tensor, shape: tuple, places: ndarray) -> ndarray | Tensor:
    """The transpose of `take_places`: zeros of this shape, with the elements added there."""
    if is_array(self):
        return add_at(np.zeros(shape, self.dtype), places, self)
    places = places if isinstance(places, Tensor) else wrap(places)
    return index_put(zeros_beside(self, (math.prod(shape),)), self, (places,), True).reshape(shape)


@function(at="torch Tensor")
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with a vector on a diagonal, or a copy of that diagonal of a matrix."""
    ndim = self._array.ndim
    check(ndim in (1, 2), "diag(): Supports 1D or 2D tensors. Got {}D", ndim)
    return diag_embed(self, diagonal, -2, -1) if ndim == 1 else diagonal_copy(self, diagonal, 0, 1)
