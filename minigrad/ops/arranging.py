"""Elements in another order, and the diagonals and triangles of matrices."""

from __future__ import annotations

import functools

import numpy as np

from ..memory import in_rows
from ..size import check_dim
from ..tensor import Tensor, full_name
from .inplace import in_both_forms
from .shape import refuse_repeated, reshape, wanted_shape
from .table import define, is_array, method

ndarray = np.ndarray

# ---------------------------------------------------------------- turned and shifted

_flip = define(
    "flip", lambda self, dims: np.flip(self, dims if self.ndim else ()).copy(), kind="linear",
    self=lambda grad, dims: flip(grad, dims),
)  # fmt: skip


def flip(input: Tensor, dims: tuple) -> Tensor:
    """The elements in reverse order along the given dimensions: a copy."""
    if isinstance(dims, int):
        raise TypeError(
            f"flip(): argument 'dims' (position 2) must be tuple of ints, not {full_name(type(dims))}"
        )
    if is_array(input):
        return np.flip(input, dims if input.ndim else ())
    dims = tuple(check_dim(d, input._array.ndim) for d in dims)
    refuse_repeated(dims)
    return _flip(input, dims)


@method("flip")
def _flip_method(self: Tensor, *along: int, dims: int | tuple | None = None) -> Tensor:
    """The elements in reverse order along the given dimensions, `x.flip(0, 1)` or `x.flip((0, 1))`: a copy."""
    return flip(self, wanted_shape(along) if dims is None else wanted_shape((dims,)))


@method()
def fliplr(input: Tensor) -> Tensor:
    """The columns in reverse order."""
    if input._array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return _flip(input, (1,))


@method()
def flipud(input: Tensor) -> Tensor:
    """The rows in reverse order."""
    if input._array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return _flip(input, (0,))


def _rolled(self: ndarray, shifts: tuple, dims: tuple) -> ndarray:
    if not self.size:
        return self.copy()
    if not dims:
        return _rolled(self.reshape(-1), shifts, (0,)).reshape(self.shape)
    out = self
    for shift, dim in zip(shifts, dims, strict=True):
        cut = -shift % (out.shape[dim] or 1)
        if cut:
            before = (slice(None),) * dim
            out = np.concatenate((out[(*before, slice(cut, None))], out[(*before, slice(cut))]), axis=dim)
    return self.copy() if out is self else in_rows(out)


_roll = define(
    "roll", _rolled, kind="linear",
    self=lambda grad, shifts, dims: _roll(grad, tuple(-s for s in shifts), dims),
)  # fmt: skip


@method()
def roll(input: Tensor, shifts: int | tuple, dims: int | tuple | None = None) -> Tensor:
    """The elements shifted along `dims`, what falls off coming in at the other end; without `dims` as one vector."""
    shifts = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    dims = () if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(dims) != len(shifts) and (dims or len(shifts) != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not input._array.size:  # where nothing is moved, PyTorch does not look at the dimensions
        return _roll(input, shifts, dims)
    if dims and not input._array.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    return _roll(input, shifts, tuple(check_dim(d, input._array.ndim) for d in dims))


_rot90 = define(
    "rot90", lambda self, k, dims: np.rot90(self, k, dims).copy(), kind="linear",
    self=lambda grad, k, dims: _rot90(grad, -k, dims),
)  # fmt: skip


@method()
def rot90(input: Tensor, k: int = 1, dims: tuple = (0, 1)) -> Tensor:
    """Turned by k times 90 degrees in the plane of two dimensions, from the first towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input._array.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input._array.ndim}")
    dims = tuple(check_dim(d, input._array.ndim) for d in dims)
    if dims[0] == dims[1]:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return _rot90(input, k, dims)


# ---------------------------------------------------------------- triangles


@functools.lru_cache(maxsize=64)
def below(rows: int, columns: int, diagonal: int) -> ndarray:
    """Which elements of a matrix lie on or below a diagonal."""
    return np.tri(rows, columns, diagonal, dtype=bool)


def _triangle(self: ndarray, diagonal: int, lower: bool) -> ndarray:
    inside = below(*self.shape[-2:], diagonal if lower else diagonal - 1)
    out = self.copy()
    np.copyto(out, out.dtype.type(0), where=~inside if lower else inside)  # a mask stays one
    return out


_tril = define(
    "tril", lambda self, diagonal: _triangle(self, diagonal, True), kind="linear",
    self=lambda grad, diagonal: _tril(grad, diagonal),
)  # fmt: skip
_triu = define(
    "triu", lambda self, diagonal: _triangle(self, diagonal, False), kind="linear",
    self=lambda grad, diagonal: _triu(grad, diagonal),
)  # fmt: skip


def _matrices(name: str, input: Tensor) -> None:
    if input._array.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@in_both_forms()
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The elements on and below a diagonal (0 the main one, 1 the one above it), zeros elsewhere."""
    _matrices("tril", input)
    return _tril, input, diagonal


@in_both_forms()
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The elements on and above a diagonal (0 the main one, 1 the one above it), zeros elsewhere."""
    _matrices("triu", input)
    return _triu, input, diagonal


# ---------------------------------------------------------------- diagonals


def read_diagonal(array: ndarray, offset: int, dim1: int, dim2: int) -> ndarray:
    """A diagonal as a view that can be written to."""
    found = array.diagonal(offset, dim1, dim2)
    if array.flags.writeable:
        found.flags.writeable = True
    return found


def on_diagonal(grad, sizes: tuple, offset: int, dim1: int, dim2: int):
    """Zeros of a shape with `grad` on one diagonal."""
    if not is_array(grad):
        return _on_diagonal(grad, sizes, offset, dim1, dim2)
    out = np.zeros(sizes, grad.dtype)
    read_diagonal(out, offset, dim1, dim2)[...] = grad
    return out


_on_diagonal = define(
    "diagonal_backward", on_diagonal, kind="linear", node="DiagonalBackwardBackward0",
    self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)  # fmt: skip
_diagonal = define(
    "diagonal", read_diagonal, kind="linear", view=True,
    self=lambda grad, self_sym_sizes, offset, dim1, dim2: on_diagonal(grad, self_sym_sizes, offset, dim1, dim2),
)  # fmt: skip
_diagonal_copy = define(
    "diagonal_copy", lambda self, offset, dim1, dim2: self.diagonal(offset, dim1, dim2).copy(), kind="linear",
    node="DiagonalBackward0_copy",
    self=lambda grad, self_sym_sizes, offset, dim1, dim2: on_diagonal(grad, self_sym_sizes, offset, dim1, dim2),
)  # fmt: skip
_diag_embed = define(
    "diag_embed", lambda self, offset, dim1, dim2: _embedded(self, offset, dim1, dim2), kind="linear",
    self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)  # fmt: skip


def _embedded(self: ndarray, offset: int, dim1: int, dim2: int) -> ndarray:
    n = self.shape[-1] + abs(offset)
    sizes = list(self.shape[:-1])
    for d in sorted((dim1, dim2)):
        sizes.insert(d, n)
    return on_diagonal(self, tuple(sizes), offset, dim1, dim2)


@method()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal over two dimensions, as the last dimension of a view."""
    if is_array(input):
        return input.diagonal(offset, dim1, dim2)
    n = input._array.ndim
    first, second = check_dim(dim1, n), check_dim(dim2, n)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return _diagonal(input, offset, first, second)


@method()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the vectors of the last dimension on a diagonal and zeros elsewhere."""
    n = input._array.ndim + 1
    first, second = check_dim(dim1, n), check_dim(dim2, n)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return _diag_embed(input, offset, first, second)


@method()
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Of a vector the matrix with it on a diagonal, of a matrix a copy of that diagonal."""
    n = input._array.ndim
    if n not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {n}D")
    return _diag_embed(input, diagonal, 0, 1) if n == 1 else _diagonal_copy(input, diagonal, 0, 1)


@method()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of `input` on a diagonal."""
    return _diag_embed(reshape(input, -1), offset, 0, 1)


_diagonal_scatter = define(
    "diagonal_scatter", lambda self, src, offset, dim1, dim2: _overwritten(self, src, offset, dim1, dim2),
    kind="jointly linear",
    self=lambda grad, offset, dim1, dim2: clear_diagonal(grad, offset, dim1, dim2),
    src=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)  # fmt: skip


def _overwritten(self: ndarray, src, offset: int, dim1: int, dim2: int) -> ndarray:
    out = self.copy()
    read_diagonal(out, offset, dim1, dim2)[...] = src
    return out


def clear_diagonal(grad, offset: int, dim1: int, dim2: int):
    """`grad` with zeros on one diagonal."""
    if is_array(grad):
        return _overwritten(grad, 0, offset, dim1, dim2)
    return grad - on_diagonal(diagonal(grad, offset, dim1, dim2), grad._array.shape, offset, dim1, dim2)


@method()
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of `input` with `src` on one diagonal."""
    n = input._array.ndim
    first, second = dim1, dim2
    dim1, dim2 = check_dim(dim1, n), check_dim(dim2, n)
    if dim1 == dim2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {first}, {second}")
    target = input._array.diagonal(offset, dim1, dim2).shape
    if src._array.shape != target:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(target)}"
        )
    return _diagonal_scatter(input, src, offset, dim1, dim2)


@method()
def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """One number written onto the main diagonal. Returns this tensor.

    wrap: onto those below it, too, each one row below the end of the one before, if the matrix is that tall.
    """
    if self._array.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self._array.ndim > 2 and len(set(self._array.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    n, step, start = min(self._array.shape), sum(self.stride()), self.storage_offset()
    self.as_strided((n,), (step,), start).fill_(fill_value)
    rows, columns = self._array.shape[:2]
    if wrap and self._array.ndim == 2 and rows > columns + 1:
        below = self.stride(0) * (columns + 1)
        count = -(-self._array.size // (columns + 1)) - n
        self.as_strided((count,), (step,), start + below).fill_(fill_value)
    return self


_trace = define(
    "trace", lambda self: np.trace(self, dtype=None if self.dtype.kind == "f" else np.int64), kind="linear",
    self=lambda grad, self_sym_sizes: grad * np.eye(*self_sym_sizes, dtype=dtype_of(grad)),
)  # fmt: skip


def dtype_of(grad) -> np.dtype:
    return grad.dtype if is_array(grad) else grad._array.dtype


@method()
def trace(input: Tensor) -> Tensor:
    """The sum of the main diagonal of a matrix."""
    if input._array.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._array.ndim}")
    if input._array.dtype.kind == "b":
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return _trace(input)


__all__ = [
    "diag", "diag_embed", "diagflat", "diagonal", "diagonal_scatter", "flip", "fliplr", "flipud", "roll", "rot90", "trace",
    "tril", "triu",
]  # fmt: skip
