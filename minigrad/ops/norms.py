"""Norms of vectors in the older form, of matrices and of differences."""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes, messages
from ..basics import check, wrap_dim
from ..tensor import Tensor
from .decompositions import svdvals
from .reduction import _norm, amax, amin, norm_self, sum_dim, vector_norm
from .shape import permute, sum_to_size, undone, unsqueeze
from .signature import are_ints
from .table import function, op

ndarray = np.ndarray


def dist_self(grad, self, other, p, result):
    difference = self - other
    results = norm_self(grad, difference, p, result, tuple(range(len(difference.shape))), False)
    return results if results is None else sum_to_size(results, tuple(self.shape))


def _distance(self: ndarray, other: ndarray, p: float) -> ndarray:
    check((self.dtype.kind == "b") == (other.dtype.kind == "b"), messages.ONE_BOOL)
    common = dtypes.promote([(self.dtype, 2), (other.dtype, 2)])
    difference = self.astype(common) - other.astype(common)
    message = "norm(): input dtype should be either floating point or complex. Got {.word} instead."
    check(common.kind == "f", message, common)
    return _norm(difference, p, None, False)


# fmt: off
old_norm = op("norm(self, p: Scalar=2, dim: dims=None, keepdim: bool=False)", lambda *given: _norm(*given), at="",
    node="NormBackward1", self=lambda grad, self, p, result, dim, keepdim: norm_self(grad, self, p, result, dim, keepdim))
dist = op("dist(self, other, p: Scalar=2)", _distance, broadcasts=True, doc="The p-norm of `input - other`.",
          self=lambda grad, self, other, p, result: dist_self(grad, self, other, p, result),
          other=lambda grad, self, other, p, result: dist_self(grad, other, self, p, result))
# fmt: on


@function("torch Tensor")
def norm(
    self: Tensor, p: object = "fro", dim: object = None, keepdim: bool = False, dtype: object = None
) -> Tensor:
    """The p-norm of all elements, or over `dim`; "fro" is p = 2, "nuc" the sum of a matrix's singular values."""
    if p == "nuc":
        return matrix_norm(self, p, (-2, -1) if dim is None else dim, keepdim)
    return vector_norm(
        self if dtype is None else self.to(dtype), 2 if p is None or p == "fro" else p, dim, keepdim
    )


@function("linalg")
def matrix_norm(
    A: Tensor, ord: object = "fro", dim: tuple = (-2, -1), keepdim: bool = False, *, dtype: object = None
) -> Tensor:
    """A norm of matrices: "fro", the root of the sum of squares, "nuc", the sum of the singular values, or ±1, ±2, ±inf.

    1 is the largest sum of a column, inf of a row, 2 the largest singular value; -1, -inf and -2 are the smallest.
    """
    check(A._array.ndim >= 2, "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    message = "linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {.word}"
    check(A.is_floating_point() or dtype is not None, message, A._array.dtype)
    message = "linalg.matrix_norm: dim must be a 2-tuple. Got {}"
    check(isinstance(dim, (tuple, list)) and are_ints(dim) and len(dim) == 2, message, dim)
    A, (row, column) = A if dtype is None else A.to(dtype), [wrap_dim(d, A._array.ndim) for d in dim]
    check(row != column, "linalg.matrix_norm: dims must be different. Got ({}, {})", *dim)
    if ord == "fro":
        return vector_norm(A, 2, (row, column), keepdim)
    message = "linalg.matrix_norm: Order {} not supported."
    check(isinstance(ord, (str, int, float)), message, ord)
    check(ord == "nuc" or ord in (1, 2, math.inf, -1, -2, -math.inf), message, ord)
    if ord == "nuc" or ord in (2, -2):
        order = [*[d for d in range(A._array.ndim) if d not in (row, column)], row, column]
        values = svdvals(permute(A, order))
        result = (
            sum_dim(values, -1, keepdim) if ord == "nuc" else (amax if ord > 0 else amin)(values, -1, keepdim)
        )
        return permute(unsqueeze(result, -1), undone(order)) if keepdim else result
    over, other = (row, column) if ord in (1, -1) else (column, row)
    sums = vector_norm(A, 1, over, keepdim)
    other -= not keepdim and over < other
    return (amax if ord > 0 else amin)(sums, other, keepdim)


@function("linalg", name="linalg_norm")
def linalg_norm(
    A: Tensor, ord: object = None, dim: object = None, keepdim: bool = False, *, dtype: object = None
) -> Tensor:
    """The norm of all elements, of vectors (`dim` an int) or of matrices (`dim` a pair): see vector_norm and matrix_norm."""
    A, both = A if dtype is None else A.to(dtype), isinstance(dim, (tuple, list)) and len(dim) == 2
    if ord is None:
        return vector_norm(A, 2, dim, keepdim)
    if both or (dim is None and A._array.ndim == 2) or isinstance(ord, str):
        check(both or A._array.ndim == 2, "linalg.norm: If ord is specified but dim is not, the input must be 1D or 2D. "
               "Got a {}D tensor.", A._array.ndim)  # fmt: skip
        return matrix_norm(A, ord, dim if both else (0, 1), keepdim)
    return vector_norm(A, ord, dim, keepdim)
