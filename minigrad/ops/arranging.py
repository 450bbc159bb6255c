"""Elements in another arrangement: repeated, turned, shifted; the triangles and diagonals of matrices; places.

Places are integers that count the elements of a tensor row by row. They say where the elements of a view are in its base.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ..tensor import Tensor, wrap
from .indexing import index, index_put
from .publish import function, method
from .run import as_size
from .shape import VIEW, expand, zeros_beside
from .table import is_array, op

ndarray = np.ndarray


def eye_beside(x: ndarray | Tensor, rows: int, columns: int) -> ndarray | Tensor:
    """An identity matrix: an array, or a Tensor if `x` is one."""
    return (
        np.eye(rows, columns, dtype=x.dtype)
        if is_array(x)
        else wrap(np.eye(rows, columns, dtype=x._array.dtype))
    )


# ---------------------------------------------------------------- places: what a recorded backward pass does to views


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
