"""Operations that rearrange elements without computing: views where NumPy can make one, as in PyTorch."""

from __future__ import annotations

import math
import operator
import warnings

import numpy as np

from .. import dtypes
from ..size import Size, check_dim
from ..tensor import Tensor, full_name, wrap
from .rules import transposing
from .sums import sum_to
from .table import define, method

ndarray = np.ndarray


def wanted_shape(given: tuple) -> tuple:
    """A shape given as numbers, `x.view(2, 3)`, or as one sequence, `x.view((2, 3))`."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else tuple(given)


def refuse_lengths(name: str, given: tuple) -> None:
    """Raise PyTorch's error if these are no lengths; the first of them may be a sequence of lengths."""
    for n in given[:1] if given and not isinstance(given[0], (tuple, list)) else ():
        if not hasattr(n, "__index__"):
            raise TypeError(
                f"{name}(): argument 'shape' (position 1) must be tuple of ints, not {full_name(type(n))}"
            ) from None


def fill_in(shape: tuple, numel: int) -> tuple:
    """`shape` with its -1 replaced. Raises RuntimeError, as PyTorch does, if it does not fit `numel` elements."""
    if -1 not in shape and math.prod(shape) == numel and (not shape or min(shape) >= 0):
        return shape
    shape = tuple(int(n) for n in shape)
    unknown = [i for i, n in enumerate(shape) if n == -1]
    known = math.prod(n for n in shape if n != -1)
    if len(unknown) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if any(n < -1 for n in shape):
        place = next(i for i, n in enumerate(shape) if n < -1)
        raise RuntimeError(f"invalid shape dimension {shape[place]} at index {place} of shape {list(shape)}")
    if unknown and known and numel % known == 0:
        return shape[: unknown[0]] + (numel // known,) + shape[unknown[0] + 1 :]
    if unknown and not known and numel == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 can "
            "be any value and is ambiguous"
        )
    if unknown or known != numel:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return shape


# ---------------------------------------------------------------- view, reshape

_alias = define("alias", lambda self: self.view(), kind="linear", view=True, self=lambda grad: grad)
_view = define(
    "view", lambda self, shape: self.reshape(shape), kind="linear", view=True,
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
_reshape_alias = define(
    "reshape_alias", lambda self, shape: self.reshape(shape), kind="linear", view=True,
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
_unsafe_view = define(
    "unsafe_view", lambda self, shape: self.reshape(shape), kind="linear",
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
_contiguous = define(
    "contiguous", lambda x: x.copy(), kind="linear", node="CloneBackward0", self=lambda grad: grad
)


def _shares(array: ndarray, shape: tuple) -> bool:
    """Can `array` be seen in this shape without copying?"""
    if array.flags.c_contiguous or array.shape == shape or array.size == 0:
        return True
    return np.shares_memory(array.reshape(shape), array)


@method()
def view(self: Tensor, *shape: int, size: tuple | None = None, dtype: dtypes.dtype | None = None) -> Tensor:
    """The same memory in another shape; one length may be -1. Raises RuntimeError if that needs a copy.

    `x.view(dtype)` shows the same bytes as another type, without history.
    """
    if len(shape) == 1:
        if isinstance(shape[0], dtypes.dtype):
            dtype = shape[0]
    elif not shape and size is None and dtype is None:
        raise TypeError(
            "view() received an invalid combination of arguments - got (), but expected one of:\n * (torch.dtype dtype)\n"
            " * (tuple of ints size)"
        )
    if dtype is not None:
        return wrap(self._array.view(dtype.numpy))
    shape = fill_in(wanted_shape(shape) if size is None else tuple(size), self._array.size)
    if not _shares(self._array, shape):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return _view(self, shape)


@method()
def reshape(input: Tensor, *size: int, shape: tuple | None = None) -> Tensor:
    """The elements in another shape: a view where possible, else a copy; one length may be -1."""
    if not isinstance(input, Tensor):
        return input.reshape(*size)
    try:
        shape = fill_in(wanted_shape(size) if shape is None else tuple(shape), input._array.size)
    except (TypeError, ValueError):
        refuse_lengths("reshape", size)
        raise
    return reshape_to(input, shape)


def reshape_to(input: Tensor, shape: tuple) -> Tensor:
    """`reshape` for a shape that is known to fit."""
    if input._array.flags.c_contiguous:
        return _view(input, shape)
    return (
        _reshape_alias(input, shape)
        if _shares(input._array, shape)
        else _unsafe_view(_contiguous(input), shape)
    )


@method()
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of `other`."""
    return view(self, other._array.shape)


@method()
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of `other`."""
    return reshape(self, other._array.shape)


@method()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions `start_dim` to `end_dim` made one. A 0-d tensor gets one dimension."""
    shape = input._array.shape
    start, end = check_dim(start_dim, len(shape)), check_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, 1)
    if start == end:
        return input
    return reshape(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


@method()
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    return reshape(input, -1)


@method()
def unflatten(input: Tensor, dim: int, sizes: tuple) -> Tensor:
    """Dimension `dim` split into several of lengths `sizes`, one of which may be -1."""
    shape, dim, sizes = input._array.shape, check_dim(dim, input._array.ndim), tuple(sizes)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not shape:
        unexpected = f"Dimension specified as {dim} but tensor has no dimensions"
        raise RuntimeError(f"unflatten got an unexpected error:\n{unexpected}")
    if sizes.count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    known = math.prod(n for n in sizes if n != -1)
    if sizes.count(-1) == 1 and known and shape[dim] % known == 0:
        sizes = tuple(shape[dim] // known if n == -1 else n for n in sizes)
    if math.prod(sizes) != shape[dim]:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the "
            "input tensor"
        )
    return view(input, (*shape[:dim], *sizes, *shape[dim + 1 :]))


# ---------------------------------------------------------------- dimensions of length 1

_unsqueeze = define(
    "unsqueeze", lambda self, dim: self.reshape((*self.shape[:dim], 1, *self.shape[dim:])) if self.flags.c_contiguous
        else np.expand_dims(self, dim),
    kind="linear", view=True,
    self=lambda grad, dim: grad.squeeze(dim),
)  # fmt: skip


def squeezed(array: ndarray, dim: tuple) -> ndarray:
    """A view of `array` without those of `dim` that have length 1."""
    return array.squeeze(tuple(d for d in dim if array.shape[d] == 1) if array.ndim else ())


_squeeze = define(
    "squeeze", lambda self: self.squeeze(), kind="linear", view=True,
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
_squeeze_dim = define(
    "squeeze", lambda self, dim: squeezed(self, (dim,)), kind="linear", view=True, node="SqueezeBackward1",
    self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes),
)  # fmt: skip
_squeeze_dims = define(
    "squeeze", squeezed, kind="linear", view=True, node="SqueezeBackward2",
    self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes),
)  # fmt: skip


@method()
def unsqueeze(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """A view with a new dimension of length 1 at `dim`."""
    if dim is None:
        if axis is None:
            raise TypeError('unsqueeze() missing 1 required positional arguments: "dim"')
        dim = axis
    return _unsqueeze(input, check_dim(dim, input._array.ndim + 1))


@method()
def squeeze(
    input: Tensor, dim: int | tuple | None = None, *more: int, axis: int | tuple | None = None
) -> Tensor:
    """A view without the dimensions of length 1, or without those of `dim` (one or several) that have length 1."""
    if dim is None:
        if axis is None:
            return _squeeze(input)
        dim = axis
    if more:
        dim = (dim, *more)
    if not isinstance(dim, (tuple, list)):
        return _squeeze_dim(input, check_dim(operator.index(dim), input._array.ndim))
    dims = tuple(check_dim(d, input._array.ndim) for d in dim)
    refuse_repeated(dims)
    return _squeeze_dims(input, dims)


def refuse_repeated(dims: tuple) -> None:
    """Raise PyTorch's error if a dimension is named twice."""
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")


def atleast_1d(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """The tensors with at least one dimension."""
    return _each(lambda t: t if t._array.ndim else reshape(t, 1), tensors)


def atleast_2d(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """The tensors with at least two dimensions: a vector becomes a row."""

    def widened(t: Tensor) -> Tensor:
        return t if t._array.ndim > 1 else unsqueeze(t, 0) if t._array.ndim else reshape(t, 1, 1)

    return _each(widened, tensors)


def atleast_3d(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """The tensors with at least three dimensions."""

    def widened(t: Tensor) -> Tensor:
        n = t._array.ndim
        if n > 2:
            return t
        return reshape(t, 1, 1, 1) if n == 0 else unsqueeze(unsqueeze(t, 0) if n == 1 else t, -1)

    return _each(widened, tensors)


def _each(change, tensors: tuple):
    """One result for one tensor, a tuple for several or for a sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return change(tensors[0])
    return tuple(change(t) for t in (tensors[0] if len(tensors) == 1 else tensors))


# ---------------------------------------------------------------- order of dimensions

_t = define("t", lambda x: x.T, kind="linear", view=True, self=lambda grad: grad.T)
_t_vector = define("t", lambda x: x.view(), kind="linear", view=True, self=lambda grad: grad)
_transpose = define(
    "transpose", lambda self, dim0, dim1: self.swapaxes(dim0, dim1), kind="linear", view=True,
    self=lambda grad, dim0, dim1: grad.swapaxes(dim0, dim1),
)  # fmt: skip
_permute = define(
    "permute", lambda self, dims: self.transpose(dims), kind="linear", view=True,
    self=lambda grad, dims: permute(grad, inverse_order(dims)),
)  # fmt: skip
transposing.update(call.op.node_class for call in (_t, _transpose, _permute))


def inverse_order(dims: tuple) -> tuple:
    """The permutation that undoes `dims`."""
    places = [0] * len(dims)
    for place, d in enumerate(dims):
        places[d] = place
    return tuple(places)


@method()
def t(input: Tensor) -> Tensor:
    """A matrix transposed. Raises RuntimeError for more than two dimensions."""
    if input._array.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input._array.ndim}D")
    return _t(input) if input._array.ndim == 2 else _t_vector(input)


@method("transpose", "swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged: a view."""
    n = input._array.ndim
    dim0, dim1 = check_dim(dim0, n), check_dim(dim1, n)
    return _transpose(input, dim0, dim1) if n else _transpose_scalar(input, dim0, dim1)


_transpose_scalar = define(
    "transpose", lambda self, dim0, dim1: self.view(), kind="linear", view=True, node="TransposeBackward0",
    self=lambda grad, dim0, dim1: grad,
)  # fmt: skip
swapdims = transpose


@method()
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged: a view."""
    return transpose(input, axis0, axis1)


@method("permute")
def _permute_method(self: Tensor, *order: int, dims: tuple | None = None) -> Tensor:
    """The dimensions in another order: a view."""
    return permute(self, wanted_shape(order) if dims is None else dims)


def permute(input: Tensor, dims: tuple) -> Tensor:
    """The dimensions in the order `dims`: a view."""
    if not isinstance(input, Tensor):
        return input.transpose(dims)
    n = input._array.ndim
    if len(dims) != n:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    dims = tuple(check_dim(d, n) for d in dims)
    if len(set(dims)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permute(input, dims)


@method("movedim", "moveaxis")
def movedim(input: Tensor, source: int | tuple, destination: int | tuple) -> Tensor:
    """Dimensions `source` moved to the places `destination`, the others kept in order: a view."""
    n = input._array.ndim
    given = [(d,) if isinstance(d, int) else tuple(d) for d in (source, destination)]
    if len(given[0]) != len(given[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(given[0])} dims) should contain the same number "
            f"of dims as destination ({list(given[1])} dims)"
        )
    places = [tuple(check_dim(d, n) for d in dims) for dims in given]
    for name, dims, words in zip(("source", "destination"), places, given, strict=True):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(words)})")
    target = dict(zip(places[1], places[0], strict=True))
    rest = iter(d for d in range(n) if d not in places[0])
    order = tuple(target[i] if i in target else next(rest) for i in range(n))
    return _permute(input, order) if n else _alias(input)


moveaxis = movedim


@property
def T(self: Tensor) -> Tensor:
    """All dimensions reversed. Meant for matrices; PyTorch warns for other numbers of dimensions, and so does this."""
    if not self._array.ndim:
        warn_of_scalar("T")
    elif self._array.ndim != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw "
            "an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return _permute(self, tuple(reversed(range(self._array.ndim))))


def warn_of_scalar(name: str, instead: str = "This function is the identity in these cases.") -> None:
    warnings.warn(f"Tensor.{name} is deprecated on 0-D tensors. {instead}", UserWarning, stacklevel=3)


@property
def mT(self: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    if not self._array.ndim:
        warn_of_scalar("mT")
        return self
    if self._array.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {self._array.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


@property
def H(self: Tensor) -> Tensor:
    """A matrix transposed (and conjugated, which changes nothing here)."""
    if not self._array.ndim:
        warn_of_scalar("H", "Consider using x.conj().")
        return self
    if self._array.ndim != 2:
        batches = " For batches of matrices, consider using tensor.mH" * (self._array.ndim > 2)
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self._array.ndim}-D tensor.{batches}"
        )
    return transpose(self, 0, -1)


@method()
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    n = input._array.ndim
    if not n:
        warnings.warn(
            "adjoint() is deprecated on 0-D tensors. Consider using x.conj().", UserWarning, stacklevel=3
        )
        return input
    if n < 2:
        raise RuntimeError(
            f"tensor.adjoint() is only supported on matrices or batches of matrices. Got {n}-D tensor."
        )
    return transpose(input, -2, -1)


Tensor.T, Tensor.mT, Tensor.H = T, mT, H


# ---------------------------------------------------------------- stretching


def broadcast_array(array: ndarray, shape: tuple) -> ndarray:
    """`np.broadcast_to` for a shape that is known to fit, several times faster."""
    if array.shape == shape:
        return array.view()
    lead = len(shape) - array.ndim
    strides = (0,) * lead + tuple(
        s if n == w else 0 for s, n, w in zip(array.strides, array.shape, shape[lead:], strict=True)
    )
    if array.flags.c_contiguous and array.size:
        return ndarray(shape, array.dtype, array, 0, strides)
    return np.lib.stride_tricks.as_strided(array, shape, strides)


_expand = define(
    "expand", broadcast_array, kind="linear", view=True,
    self=lambda grad, self_sym_sizes: sum_to_size(grad, self_sym_sizes),
)  # fmt: skip


@method()
def expand(self: Tensor, *sizes: int, size: tuple | None = None) -> Tensor:
    """The tensor stretched along dimensions of length 1, without copying; -1 keeps a length."""
    sizes = wanted_shape(sizes) if size is None else tuple(size)
    shape = self._array.shape
    if sizes == shape:
        return _expand(self, shape)
    lead = len(sizes) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({self.dtype.tensor_type}{{{list(shape)}}}, size={list(sizes)}): the number of sizes provided "
            f"({len(sizes)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    full = list(sizes)
    for i in reversed(range(len(sizes))):
        n = sizes[i]
        own = shape[i - lead] if i >= lead else None
        if n == -1 and own is None:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}"
            )
        if n != -1 and own is not None and own != n and own != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({own}) at non-singleton dimension "
                f"{i}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}"
            )
        if n == -1:
            full[i] = own
    return _expand(self, tuple(full))


@method()
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor stretched to the shape of `other`."""
    return expand(self, other._array.shape)


@method()
def broadcast_to(input: Tensor, size: tuple) -> Tensor:
    """The tensor stretched to `size`, without copying."""
    return expand(input, tuple(size))


def broadcast_shapes(*shapes: tuple) -> Size:
    """The shape that tensors of these shapes are broadcast to. Raises RuntimeError if they do not fit."""
    result: list[int] = []
    for index, shape in enumerate(shapes):
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        result = [1] * (len(shape) - len(result)) + result
        for i in range(-1, -1 - len(shape), -1):
            if result[i] == 1:
                result[i] = shape[i]
            elif shape[i] not in (1, result[i]):
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching argument at index "
                    f"{index} had {shape}; but expected shape should be broadcastable to {result}"
                )
    return Size(result)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, each stretched to the shape that all of them broadcast to."""
    tensors = tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    shape: tuple = ()
    for t in tensors:
        shape = broadcast_pair(shape, t._array.shape)
    return tuple(t if t._array.shape == shape else expand(t, shape) for t in tensors)


def broadcast_pair(a: tuple, b: tuple) -> tuple:
    """The common shape of two. Raises PyTorch's RuntimeError if there is none."""
    if a == b:
        return a
    width = max(len(a), len(b))
    left, right = (1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b
    for i in range(width - 1, -1, -1):
        if left[i] != right[i] and 1 not in (left[i], right[i]):
            raise RuntimeError(
                f"The size of tensor a ({left[i]}) must match the size of tensor b ({right[i]}) at non-singleton "
                f"dimension {i}"
            )
    return tuple(m if n == 1 else n for n, m in zip(left, right, strict=True))


@method()
def sum_to_size(self: Tensor, *size: int) -> Tensor:
    """Summed over what broadcasting `size` to this shape would have added or stretched."""
    size = wanted_shape(size)
    if not isinstance(self, Tensor):
        return self if self.shape == size else sum_to(np.asarray(self), size)
    if not size:
        return self.sum()
    lead = self._array.ndim - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, self._array.shape[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}.")
    dims = tuple(i for i, n in enumerate(self._array.shape) if i < lead or (size[i - lead] == 1 and n != 1))
    if dims:
        self = self.sum(dims, keepdim=True)
    return self.view(size) if lead > 0 else self


def meshgrid(*tensors: Tensor, indexing: str | None = None) -> tuple[Tensor, ...]:
    """For vectors of lengths n, m, ... as many grids of shape (n, m, ...), the k-th varying along dimension k.

    indexing="xy" exchanges the first two dimensions, as plotting programs want it.
    """
    tensors = tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            UserWarning,
            stacklevel=3,
        )
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for t in tensors:
        if t._array.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {t.ndim}D"
            )
    if len({t._array.dtype for t in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    n = len(tensors)
    places = list(range(n))
    if indexing == "xy" and n >= 2:
        places[:2] = 1, 0
    shape = [1] * n
    for place, t in zip(places, tensors, strict=True):
        shape[place] = t._array.size
    grids: list[Tensor | None] = [None] * n
    for place, k in sorted(zip(places, range(n), strict=True)):  # PyTorch exchanges vectors and then grids
        column = view(tensors[k], tuple(-1 if i == place else 1 for i in range(n)))
        grids[k] = expand(column, tuple(shape))
    return tuple(grids)


_unfold = define(
    "unfold", lambda self, dimension, size, step: windows(self, dimension, size, step),
    kind="linear", view=True,
    self=lambda grad, self_sym_sizes, dimension, size, step: fold(grad, self_sym_sizes, dimension, size, step),
)  # fmt: skip


def windows(array: ndarray, dimension: int, size: int, step: int) -> ndarray:
    """A view of the windows of an array; a 0-d array is one element long."""
    if not array.ndim:
        return array.reshape(1)[:size]
    found = np.lib.stride_tricks.sliding_window_view(array, size, dimension, writeable=True)
    return found[(slice(None),) * dimension + (slice(None, None, step),)]


def fold(grad, sizes: tuple, dimension: int, size: int, step: int):
    """The transpose of `unfold`: windows added up where they overlap."""
    if isinstance(grad, Tensor):
        return _fold(grad, sizes, dimension, size, step)
    out = np.zeros(sizes, grad.dtype)
    if not sizes:
        return out + grad.sum()
    count = grad.shape[dimension]
    for k in range(size):  # the k-th element of every window
        out[(slice(None),) * dimension + (slice(k, k + step * (count - 1) + 1, step),)] += grad[..., k]
    return out


_fold = define(
    "unfold_backward", fold, kind="linear",
    self=lambda grad, dimension, size, step: unfold(grad, dimension, size, step),
)  # fmt: skip


@method()
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of all windows of length `size` along one dimension, `step` apart; the window is the new last dimension."""
    if not isinstance(self, Tensor):
        return _unfold.op.forward(self, dimension, size, step)
    dimension = check_dim(dimension, self._array.ndim)
    length = self._array.shape[dimension] if self._array.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dimension} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return _unfold(self, dimension, size, step)


__all__ = [
    "adjoint", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "broadcast_tensors", "broadcast_to", "flatten",
    "meshgrid", "moveaxis", "movedim", "permute", "ravel", "reshape", "squeeze", "swapaxes", "swapdims", "t", "transpose",
    "unflatten", "unsqueeze",
]  # fmt: skip
