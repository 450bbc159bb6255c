"""Reading and writing parts of a tensor by position: `x[key]` and `x[key] = value`, for every kind of key.

A key is worked off from left to right as PyTorch does it: integers, slices, None and `...` give one view after the
other; what is left, tensors and lists, is one `index` (a copy) at the end.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import local
from ..autograd.interpreter import Wrapper
from ..autograd.node import edge
from ..memory import copied, in_rows
from ..size import check_dim
from ..tensor import AutogradMeta, Tensor, full_name, new_object, plain_types, wrap
from .assigning import fill_with, overwrite
from .dispatch import operand
from .history import check_writable
from .inplace import refuse_stretched, writer
from .shape import _alias, _unsqueeze, expand, view
from .storage import is_stretched
from .table import define, function, is_array, method

ndarray = np.ndarray


def along(dim: int, entry: object) -> tuple:
    """A NumPy key that applies `entry` to one dimension."""
    return (slice(None),) * dim + (entry,)


def zeros_with(grad, sizes: tuple, key: tuple):
    """Zeros of shape `sizes` with `grad` at `key`: the transpose of reading there."""
    if not is_array(grad):
        return (_slice_backward if isinstance(key[-1], slice) else _select_backward)(grad, sizes, key)
    out = np.zeros(sizes, grad.dtype)
    out[key] = grad
    return out


_slice_backward = define(
    "slice_backward", zeros_with, kind="linear", node="SliceBackwardBackward0",
    self=lambda grad, key: grad[key],
)  # fmt: skip
_select_backward = define(
    "select_backward", zeros_with, kind="linear", node="SelectBackwardBackward0",
    self=lambda grad, key: grad[key],
)  # fmt: skip
_select = define(
    "select", lambda self, dim, index: self[(*along(dim, index), ...) if dim else (index, ...)], kind="linear", view=True,
    self=lambda grad, self_sym_sizes, dim, index: zeros_with(grad, self_sym_sizes, along(dim, index)),
)  # fmt: skip
_slice = define(
    "slice", lambda self, dim, start, end, step: self[along(dim, slice(start, end, step))], kind="linear", view=True,
    self=lambda grad, self_sym_sizes, dim, start, end, step:
        zeros_with(grad, self_sym_sizes, along(dim, slice(start, end, step))),
)  # fmt: skip

# ---------------------------------------------------------------- index, index_put


def numpy_key(indices: Sequence[Tensor | None]) -> tuple:
    return tuple(slice(None) if i is None else i._array for i in indices)


def _read(self: ndarray, indices: tuple) -> ndarray:
    try:
        index = indices[-1]._array
        if (len(indices) == 1 or indices.count(None) == len(indices) - 1) and index.dtype.kind == "i":
            return self.take(index, len(indices) - 1)  # in rows, and more quickly than by a key
        return in_rows(self[numpy_key(indices)])
    except IndexError:
        check_indices(self.shape, indices)
        if self.size:
            raise
        return self[
            tuple(k if type(k) is slice or k.dtype.kind == "b" else k * 0 for k in numpy_key(indices))
        ]


def zeros_adding(grad, self_sym_sizes: tuple, indices: tuple):
    """Zeros of the given shape to which `grad` is added at `indices`: the transpose of reading there."""
    if not is_array(grad):
        zeros = wrap(np.zeros(self_sym_sizes, grad._array.dtype))
        return _index_put(zeros, grad, tuple(indices), True)
    return add_at(np.zeros(self_sym_sizes, grad.dtype), indices, grad)


def add_at(out: ndarray, indices: Sequence[Tensor | None], values: ndarray) -> ndarray:
    """`out[indices] += values`, counting an element as often as it is named. Returns `out`."""
    key = numpy_key(indices)
    arrays = [i for i in key if type(i) is ndarray]
    if len(arrays) == 1 and no_repeats(arrays[0]):
        out[key] += values
        return out
    if values.size < 64:
        np.add.at(out, key, values)
        return out
    # `np.add.at` with one position for each element of the flattened array is many times faster than with a key
    lead = sum(i.ndim if type(i) is ndarray and i.dtype.kind == "b" else 1 for i in key)
    inner = math.prod(out.shape[lead:])
    places = np.arange(0, out.size, inner or 1).reshape(out.shape[:lead])[key]
    if inner != 1:
        values = np.broadcast_to(values, places.shape + out.shape[lead:])
        places = places[..., None] + np.arange(inner)
    elif values.shape != places.shape:
        values = np.broadcast_to(values, places.shape)
    np.add.at(out.reshape(-1), places.reshape(-1), values.reshape(-1))
    return out


def no_repeats(index: ndarray) -> bool:
    """Is every element named at most once? Plain assignment is then several times faster than `np.add.at`."""
    if index.dtype.kind == "b":
        return True
    if index.size > 64:
        return False
    named = index.ravel().tolist()
    return len(set(named)) == len(named) and min(named, default=0) >= 0


_index = define(
    "index", _read, kind="linear", frees=True,
    self=lambda grad, self_sym_sizes, indices: zeros_adding(grad, self_sym_sizes, indices),
)  # fmt: skip


def _put(self: ndarray, values: ndarray, indices: tuple, accumulate: bool) -> ndarray:
    out = copied(self)
    try:
        if accumulate:
            add_at(out, indices, values)
        else:
            out[numpy_key(indices)] = values
    except (IndexError, ValueError, TypeError):
        check_indices(self.shape, indices, values.shape)
        if self.size:
            raise
    return out


def zeros_at(grad, indices: tuple):
    """`grad` with zeros at `indices`."""
    if not is_array(grad):
        return _index_put(grad, wrap(np.zeros((), grad._array.dtype)), tuple(indices), False)
    out = np.array(grad)
    out[numpy_key(indices)] = 0
    return out


_index_put = define(
    "index_put", _put, kind="jointly linear", broadcasts=True, frees=True,
    self=lambda grad, indices, accumulate: grad if accumulate else zeros_at(grad, indices),
    values=lambda grad, indices: grad[indices_key(grad, indices)],
)  # fmt: skip


def _put_into(self: ndarray, values: ndarray, indices: tuple, accumulate: bool) -> None:
    if self.dtype.kind != "f":
        self[...] = _put(self, values, indices, accumulate)  # it may itself be among the indices
    elif self.size:
        if accumulate:
            add_at(self, indices, values)
        else:
            self[numpy_key(indices)] = values
    else:
        _put(self, values, indices, accumulate)  # nothing is written, but what does not fit is told


_index_put.op.into = _put_into
put_into = writer(_index_put.op)


def indices_key(grad, indices: tuple) -> tuple:
    """Saved indices as a key for an array, or for a Tensor."""
    return numpy_key(indices) if is_array(grad) else tuple(slice(None) if i is None else i for i in indices)


def check_indices(
    shape: tuple, indices: Sequence[Tensor | None], values: tuple = (), *, bounds: bool = True
) -> None:
    """Raise PyTorch's error for index tensors that do not fit a tensor of this shape, or of which `values`, the shape of
    what is to be written, do not fit what they name. bounds: is a position that does not exist an error, too?"""
    dim, shapes, numbers, key = 0, [], [], []
    if len(indices) > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})")
    for index in indices:
        array = None if index is None else index._array
        if array is None:
            dim += 1
            key.append(slice(None))
        elif array.dtype.kind == "b":
            for d, n in enumerate(array.shape):
                if dim + d >= len(shape) or shape[dim + d] != n:
                    raise IndexError(
                        f"The shape of the mask {list(array.shape)} at index {d} does not match the shape of the indexed "
                        f"tensor {list(shape)} at index {dim + d}"
                    )
            shapes.append((int(array.sum()),))
            dim += array.ndim
            key.append(array)
        else:
            if dim >= len(shape):
                raise IndexError(
                    f"too many indices for tensor of dimension {len(shape)} (got {len(indices)})"
                )
            numbers.append((len(shapes), shape[dim], array))
            shapes.append(array.shape)
            dim += 1
            key.append(np.zeros(array.shape, np.int64))
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(str(list(s)) for s in shapes)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
        ) from None
    if values and not any(array.size and not length for _, length, array in numbers):
        found = np.broadcast_to(np.zeros((), bool), shape)[tuple(key)].shape
        if not fits(values, found):
            raise RuntimeError(
                f"shape mismatch: value tensor of shape {list(values)} cannot be broadcast to indexing result of shape "
                f"{list(found)}"
            )
    if not bounds:
        return
    if 0 in shape:  # PyTorch looks no closer
        if any(array.size and not length for _, length, array in numbers):
            raise IndexError("index is out of bounds for dimension with size 0")
        return
    named = np.broadcast_arrays(*(array for *_, array in numbers))
    for positions in zip(
        *(array.ravel().tolist() for array in named), strict=True
    ):  # element by element, as PyTorch
        for (place, length, _), i in zip(numbers, positions, strict=True):
            if not -length <= i < length:
                raise IndexError(f"index {i} is out of bounds for dimension {place} with size {length}")


def fits(shape: tuple, wanted: tuple) -> bool:
    """Can a tensor of this shape be stretched to the wanted one?"""
    try:
        return np.broadcast_shapes(shape, wanted) == wanted
    except ValueError:
        return False


# ---------------------------------------------------------------- keys

KINDS = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"


def as_tuple(key: object) -> tuple:
    """A key as a tuple of entries. A list that holds more than numbers is an old way to write a tuple."""
    if isinstance(key, tuple):
        return key
    if isinstance(key, (list, str)) and len(key) < 32:
        nested = (Tensor, str, list, tuple, range, slice, ndarray, type(Ellipsis), type(None))
        if any(isinstance(k, nested) for k in key):
            warnings.warn(
                "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch "
                "2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
                "x[torch.tensor(seq)], which will result either in an error or a different result",
                UserWarning,
                stacklevel=4,
            )
            return tuple(key)
    return (key,)


def as_index(k: object) -> Tensor:
    """An entry of a key that selects by a tensor: integers or a mask. Raises IndexError or TypeError for anything else."""
    if not isinstance(k, Tensor):
        if not isinstance(k, (list, tuple, range, ndarray)):
            if isinstance(k, (str, bytes)):
                raise TypeError(f"new(): invalid data type '{type(k).__name__}'")
            raise IndexError(KINDS.format(full_name(type(k))))
        if isinstance(k, (list, tuple)):
            k = [x.item() if isinstance(x, Tensor) else x for x in k]
        array = np.asarray(k)
        if isinstance(k, ndarray):
            dtypes.of_numpy(array.dtype)
        elif array.dtype.kind not in "biuf":
            raise not_an_index(array.ravel()[0])
        masks = array.dtype.kind == "b" or array.dtype == np.uint8
        k = wrap(array if masks and array.size else array.astype(np.int64))
    array = k._array
    if array.dtype == np.uint8:
        warnings.warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
            UserWarning,
            stacklevel=4,
        )
        return wrap(array.astype(bool))
    if array.dtype not in (np.int64, np.int32, np.bool_):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return k


def not_an_index(found: object) -> Exception:
    """PyTorch's error for what stands in a list of positions and is none."""
    if isinstance(found, int):
        return ValueError("Overflow when unpacking long long")
    if isinstance(found, str):
        return TypeError("new(): invalid data type 'str'")
    return RuntimeError(f"Could not infer dtype of {full_name(type(found))}")


def consumed(k: object) -> int:
    """How many dimensions of the tensor an entry of a key speaks of."""
    if k is None or k is Ellipsis or isinstance(k, bool):
        return 0
    if isinstance(k, Tensor) and k._array.dtype.kind in "bu" and k._array.dtype.itemsize == 1:
        return k._array.ndim
    return 1


def work_off(self: Tensor, key: object, writing: bool = False) -> tuple[Tensor, list[Tensor | None]]:
    """The view that the simple entries of a key give, and the index tensors that remain, one per dimension."""
    entries = as_tuple(key)
    used = sum(map(consumed, entries))
    if used > self._array.ndim:
        if not self._array.ndim and len(entries) == 1:
            if isinstance(key, slice):
                raise IndexError("slice() cannot be applied to a 0-dim tensor.")
            if isinstance(key, (int, np.integer)) and key != 0:
                raise IndexError(f"index {key} is out of bounds for dimension 0 with size 0")
            if isinstance(key, (int, np.integer)):
                raise IndexError(
                    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                    "convert a 0-dim tensor to a number"
                )
        raise IndexError(f"too many indices for tensor of dimension {self._array.ndim}")
    out, dim, indices = self, 0, []

    def by_tensor(index: Tensor) -> None:
        indices.extend([None] * (dim - len(indices)))
        indices.append(index)

    for place, k in enumerate(entries):
        if isinstance(k, ndarray) and not k.ndim and k.dtype.kind in "biuf":
            k = wrap(k) if k.dtype.kind == "b" else int(k)
        kind = type(k)
        if k is None:
            out, dim = _unsqueeze(out, dim), dim + 1
        elif k is Ellipsis:
            dim += self._array.ndim - used
        elif kind is slice:
            out = sliced(out, dim, k, keep=type(key) is slice and not writing)
            dim += 1
        elif kind is bool:
            out = _unsqueeze(out, dim)
            if not (writing and k and len(entries) == 1):
                by_tensor(wrap(np.zeros(1 if k else 0, np.int64)))
            dim += 1
        elif kind is int or isinstance(k, (int, np.integer)) or is_position(k):
            length, number = out._array.shape[dim] if dim < out._array.ndim else 0, int(k)
            if not -length <= number < length:
                if not -END <= number + 1 <= END + 1:
                    raise ValueError("Overflow when unpacking long long")
                raise IndexError(f"index {number} is out of bounds for dimension {place} with size {length}")
            out = _select(out, dim, number % length)
        elif isinstance(k, Tensor) and k._array.ndim == 0 and k._array.dtype in (np.bool_, np.uint8):
            out = _unsqueeze(out, dim)
            by_tensor(wrap(np.zeros(1 if k.item() else 0, np.int64)))
            dim += 1
        else:
            index = as_index(k)
            by_tensor(index)
            dim += index._array.ndim if index._array.dtype.kind == "b" else 1
            if not index._array.size and index._array.dtype.kind == "b":  # NumPy takes one of any length
                check_indices(out._array.shape, indices)
    return out, indices


def is_position(k: object) -> bool:
    """Is this a 0-d integer tensor, which counts as an integer? Not inside vmap: there it is one for each example."""
    if not isinstance(k, Tensor) or k._array.ndim or k._array.dtype.kind != "i":
        return False
    while isinstance(k, Wrapper):
        if getattr(k, "bdim", None) is not None:
            return False
        k = k.value
    return True


END = 2**63 - 1  # what PyTorch saves for an open end


def sliced(t: Tensor, dim: int, key: slice, keep: bool) -> Tensor:
    """`key` applied to one dimension; a slice of everything gives `t` itself unless `keep`."""
    if key.step is not None and key.step <= 0:
        raise ValueError("slice step cannot be zero" if key.step == 0 else "step must be greater than zero")
    start = 0 if key.start is None else position(key.start)
    end = END if key.stop is None else position(key.stop)
    step = 1 if key.step is None else position(key.step)
    if not keep and start == 0 and step == 1 and end >= t._array.shape[dim]:
        return t
    return _slice(t, dim, start, end, step)


def position(k: object) -> int:
    """The start, end or step of a slice. Raises TypeError if it is not an integer."""
    if not hasattr(k, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return operator.index(k)


def slice_along(t: Tensor, dim: int, start: int, end: int, step: int = 1) -> Tensor:
    """Elements `start` to `end` of one dimension: a view."""
    return _slice(t, dim, start, end, step)


def getitem(self: Tensor, key: object) -> Tensor:
    """`x[key]`: a view for integers, slices, None and `...`; a copy as soon as a list, tensor or mask takes part.

    Raises IndexError for positions and masks that do not fit, ValueError for negative steps.
    """
    if type(key) is int and self._array.ndim:  # the most frequent of all keys
        length = self._array.shape[0]
        if -length <= key < length:
            return _select(self, 0, key % length)
    if type(key) is slice and self._array.ndim:
        return sliced(self, 0, key, keep=True)
    out, indices = work_off(self, key)
    if indices:
        return _index(out, tuple(indices))
    return _alias(out) if out is self else out


def setitem(self: Tensor, key: object, value: Tensor | float) -> None:
    """`x[key] = value`: write into the view that `key` selects, or with `index_put_` where lists or tensors take part.

    `value` is broadcast. Raises RuntimeError for shapes that do not fit and wherever an in-place operation is refused.
    """
    if not isinstance(value, Tensor):
        dtype = self._array.dtype
        if isinstance(value, complex):
            raise dtypes.overflow(dtype)
        if not isinstance(value, (bool, int, float, np.integer)):
            raise TypeError(f"can't assign a {full_name(type(value))} to a {self.dtype.tensor_type}")
        if type(value) is int and not -END - 1 <= value <= END:
            raise ValueError("Overflow when unpacking long long")
        if dtype.kind == "f":
            if not -3e38 < value < 3e38 and dtype.itemsize == 4:  # in half precision it becomes infinite
                dtypes.fitting(value, dtype)
            value = operand(value, self)
        value = value if type(value) is Tensor else wrap(dtypes.fitting(value, dtype))
    if key is False:
        return
    out, indices = shown(self, key), ()
    if out is None:
        out, indices = work_off(self, key, writing=True)
    shape = value._array.shape
    if indices:
        if value._array.size == 1 and indices[-1]._array.dtype.kind == "b":
            refuse_bytes(key)
        check_write(out, value, indices)
        if shape and shape[0] == 1:
            value = view(value, without_leading_ones(shape))
        put_into(out, value, tuple(indices), False)
    elif shape == out._array.shape:
        overwrite(out, value)
    elif not shape:
        fill_with(out, value)
    else:
        value = view(value, without_leading_ones(shape))
        overwrite(out, value if value._array.shape == out._array.shape else expand(value, out._array.shape))


def refuse_bytes(key: object) -> None:
    """Raise PyTorch's error for a mask of bytes, alone in a key, by which one number is to be written."""
    masks = [k for k in (key if isinstance(key, tuple) else (key,)) if isinstance(k, (Tensor, ndarray, list))]
    if len(masks) == 1 and isinstance(masks[0], (Tensor, ndarray)) and str(masks[0].dtype).endswith("uint8"):
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")


def shown(t: Tensor, key: object) -> Tensor | None:
    """`t[key]` to write into: a view that nobody else will see, so it need not be recorded how it came about.

    None for all but the usual keys, which are integers in range, slices forwards, None and `...`, and unless `t` is a
    plain tensor.
    """
    meta = t._meta
    if (
        type(t) not in plain_types
        or local.interpreter is not None
        or (meta is not None and meta.made_in is not None)
    ):
        return None
    entries = key if type(key) is tuple else (key,)
    for k in entries:
        if type(k) not in SIMPLE or (type(k) is slice and k.step is not None and not is_forward(k.step)):
            return None
    try:
        array = t._array[entries if Ellipsis in entries else (*entries, ...)]
    except (IndexError, TypeError):
        return None
    if array.shape == t._array.shape:  # slices of everything: `t` itself, perhaps
        return None
    out = new_object(Tensor)
    out._array, out._requires_grad, out._grad_fn, out._output_nr = (
        array,
        t._requires_grad,
        edge(t),
        t._output_nr,
    )
    out._counter = counter = t._own_counter()
    out._meta = new_object(AutogradMeta)
    out._meta.base = t if meta is None or meta.base is None else meta.base
    out._meta.seen_version = counter.version
    return out


SIMPLE = {int, slice, type(None), type(Ellipsis)}


def is_forward(step: object) -> bool:
    return type(step) is int and step > 0


def without_leading_ones(shape: tuple) -> tuple:
    """As PyTorch prepares a value for assignment: `x[0] = v` takes a v of shape (1, 1, n) too."""
    lead = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return shape[lead:]


def check_source(out: Tensor, values: Tensor, indices: Sequence[Tensor | None], *, cast: bool = True) -> None:
    """Raise PyTorch's error if `values` are of another dtype. With `cast` a single one for a mask is cast, like a number."""
    if out._array.dtype != values._array.dtype:
        given = [i for i in indices if i is not None]
        if cast and values._array.size == len(given) == 1 and given[0]._array.dtype.kind == "b":
            return
        check_indices(out._array.shape, indices, values._array.shape, bounds=False)
        names = (dtypes.word(t._array.dtype) for t in (out, values))
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got {} for the destination and {} for the "
            "source.".format(*names)
        )


def check_write(out: Tensor, values: Tensor, indices: Sequence[Tensor | None], *, cast: bool = True) -> None:
    """The checks of `check_source` for a write in place, after those that PyTorch makes before them."""
    if out._requires_grad and local.grad and type(out) in plain_types:
        check_writable(out)
    if out._array.dtype != values._array.dtype and is_stretched(out._array):
        refuse_stretched("index_put")
    check_source(out, values, indices, cast=cast)


def delitem(self: Tensor, key: object) -> None:
    """Elements of a tensor cannot be deleted."""
    raise TypeError("Tensor does not support deleting items")


for _name, _function in {"get": getitem, "set": setitem, "del": delitem}.items():
    function(_function, f"__{_name}item__")


# ---------------------------------------------------------------- named forms


def as_indices(name: str, indices: Sequence[Tensor | None]) -> tuple:
    """Checked index tensors."""
    if isinstance(indices, Tensor):
        place = 1 if name.endswith("_") else 2
        raise TypeError(
            f"{name}(): argument 'indices' (position {place}) must be tuple of Tensors, not Tensor"
        )
    for number, index in enumerate(indices):
        if not isinstance(index, Tensor):
            found = full_name(type(index))
            raise TypeError(f"expected Tensor as element {number} in argument 0, but got {found}")
    return tuple(map(as_index, indices))


@method()
def index_put(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """A copy in which `values` stand at `indices`, or are added there if `accumulate`."""
    indices = as_indices("index_put", indices)
    check_source(input, values, indices, cast=not accumulate)
    return _index_put(input, values, indices, bool(accumulate))


@method()
def index_put_(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """`values` written at `indices`, or added there if `accumulate`. Returns this tensor."""
    indices = as_indices("index_put_", indices)
    check_write(self, values, indices, cast=not accumulate)
    return put_into(self, values, indices, bool(accumulate))


@method()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at one position of a dimension, which disappears: a view."""
    if not input._array.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = check_dim(dim, input._array.ndim)
    length = input._array.shape[dim]
    if not -length <= index < length:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        )
    return _select(input, dim, int(index) % length)


@method()
def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """`length` consecutive positions of one dimension, from `start`: a view."""
    if not input._array.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start._array.ndim or start._array.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    dim, start = check_dim(dim, input._array.ndim), int(start)
    size = input._array.shape[dim]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start += size * (start < 0)
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return _slice(input, dim, start, start + length, 1)


def with_part(x: ndarray, key: tuple, part) -> ndarray:
    """A copy of an array with `part` at `key`."""
    out = x.copy()
    out[key] = part
    return out


def cleared(grad, key: tuple):
    """`grad` with zeros at `key`."""
    if is_array(grad):
        return with_part(grad, key, 0)
    out = grad.clone()
    out[key] = 0.0
    return out


_select_scatter = define(
    "select_scatter", lambda self, src, dim, index: with_part(self, along(dim, index), src), kind="jointly linear",
    self=lambda grad, dim, index: cleared(grad, along(dim, index)),
    src=lambda grad, dim, index: grad[along(dim, index)],
)  # fmt: skip
_slice_scatter = define(
    "slice_scatter", lambda self, src, dim, start, end, step: with_part(self, along(dim, slice(start, end, step)), src),
    kind="jointly linear",
    self=lambda grad, dim, start, end, step: cleared(grad, along(dim, slice(start, end, step))),
    src=lambda grad, dim, start, end, step: grad[along(dim, slice(start, end, step))],
)  # fmt: skip


@method()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of `input` with `src` in the place of `input.select(dim, index)`."""
    _same_shape(select(input, dim, index), src)
    return _select_scatter(input, src, check_dim(dim, input._array.ndim), int(index))


@method()
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy of `input` with `src` in the place of the slice `start:end:step` of one dimension."""
    dim = check_dim(dim, input._array.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    _same_shape(wrap(input._array[along(dim, slice(start, end, step))]), src)
    return _slice_scatter(input, src, dim, start, end, step)


def _same_shape(target: Tensor, src: Tensor) -> None:
    if target._array.shape != src._array.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(target.shape)}"
        )


def iterate(self: Tensor):
    """Iteration: the slices along the first dimension, by one `unbind`."""
    if self._array.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


function(iterate, "__iter__")

__all__ = ["index_put", "narrow", "select", "select_scatter", "slice_scatter"]
