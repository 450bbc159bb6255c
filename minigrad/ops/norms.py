"""Norms of vectors and matrices, distances, and what is measured by singular values."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..memory import in_rows
from ..size import check_dim
from ..tensor import Tensor, wrap
from .choice import maximum, where, zeros_like
from .decompositions import _inv, check_matrices, eigvalsh, svdvals, tolerances
from .reduction import amax_op, amin_op, dims_of, with_ones
from .shape import _permute, broadcast_pair, expand, inverse_order, permute, refuse_repeated, view
from .sums import in_single, rows_added
from .table import define, is_array, method

ndarray = np.ndarray


def sign_of(x):
    """-1, 0 or 1, of an array or a Tensor."""
    return np.sign(x) if is_array(x) else x.sign()


@functools.lru_cache(maxsize=256)
def _axes(dim: tuple | None, ndim: int) -> tuple:
    """The dimensions of a norm, counted from the front."""
    return dims_of(dim, ndim)


def _norm_forward(self: ndarray, ord: float, dim: tuple | None, keepdim: bool) -> ndarray:
    axis = None if dim is None or not self.ndim else _axes(dim, self.ndim)
    if self.dtype.char == "e":
        return in_single(_norm_forward, self, ord, dim, keepdim)
    if ord == 2:
        squares = self * self
        if axis == (self.ndim - 1,):
            sums = rows_added(squares)
            return np.sqrt(sums if keepdim else sums[..., 0])
        return np.sqrt(np.add.reduce(squares, axis=axis, keepdims=keepdim))
    size = np.abs(self)
    if ord == 1:
        return np.add.reduce(size, axis=axis, keepdims=keepdim)
    if ord == math.inf:
        return np.maximum.reduce(size, axis=axis, keepdims=keepdim)
    if ord == -math.inf:
        return np.minimum.reduce(size, axis=axis, keepdims=keepdim)
    if ord == 0:
        return np.add.reduce((self != 0).astype(self.dtype), axis=axis, keepdims=keepdim)
    p = np.asarray(ord, self.dtype)
    return np.add.reduce(size**p, axis=axis, keepdims=keepdim) ** (1 / p)


def norm_backward(grad, self, result, ord, dim, keepdim):
    """∂(Σ|x|ᵖ)^(1/p)/∂x = sign(x) |x|^(p-1) / norm^(p-1); 0 where the norm is 0, shared among ties for p = ∞."""
    if ord == 0:
        return None
    dims = _axes(dim, self.ndim)
    if not keepdim and self.ndim:
        reduced = with_ones(tuple(self.shape), dims)
        grad, result = grad.reshape(reduced), result.reshape(reduced)
    if ord == 1:
        return sign_of(self) * grad
    if ord == 2:
        if is_array(self):
            share = grad / result
            if np.count_nonzero(result) < result.size:
                share = where(result == 0, 0.0, share)
            return self * share
        return grad * where(result == 0, 0.0, self / result)
    if abs(ord) == math.inf:
        hit = (abs(self) == result) | is_nan(self)
        count = hit.sum(dims, keepdims=True) if is_array(hit) else hit.sum(dims, keepdim=True)
        share = grad / (count.astype(grad.dtype) if is_array(grad) else count.to(grad.dtype))
        return sign_of(self) * where(hit, share, 0.0)
    if ord < 1:
        scaled = where(self == 0, 0.0, sign_of(self) * abs(self) ** (ord - 1))
        return scaled * grad * result ** (1 - ord)
    scaled = sign_of(self) * abs(self) ** (ord - 1) if ord < 2 else self * abs(self) ** (ord - 2)
    return scaled * where(result == 0, 0.0, grad / result ** (ord - 1))


def norm_tangent(
    x: Tensor, dx: Tensor, result: Tensor, ord: float, dim: tuple | None, keepdim: bool
) -> Tensor:
    """Σ sign(x) |x|^(p-1) dx / norm^(p-1); 0 where the norm is 0."""
    if ord == 0:
        return zeros_like(result)
    dims = tuple(range(x.ndim)) if dim is None else dims_of(dim, x.ndim)
    if abs(ord) == math.inf:
        largest = result.reshape(with_ones(x.shape, dims))
        hit = ((x.abs() == largest) | (x.isnan() & largest.isnan())).to(x.dtype)
        parts = x.sign() * dx * hit / hit.sum(dims, keepdim=True)
    else:
        power = 1 if ord == 1 else x.abs() ** (ord - 1)
        parts = x * dx if ord == 2 else x.sign() * power * dx
    total = parts.sum(dims, keepdim) if dims else parts
    if ord == 1 or abs(ord) == math.inf:
        return total
    return where(result == 0, 0.0, total / result ** (ord - 1))


def is_nan(x):
    return np.isnan(x) if is_array(x) else x.isnan()


def tangent_of_norm(primals, tangents, results, params):
    return norm_tangent(primals[0], tangents[0], results[0], *params[:3])


_vector_norm = define(
    "linalg_vector_norm", _norm_forward, jvp=tangent_of_norm,
    self=lambda grad, self, result, ord, dim, keepdim: norm_backward(grad, self, result, ord, dim, keepdim),
)  # fmt: skip

_vector_norm_in = define(  # with a dtype
    "linalg_vector_norm",
    lambda self, ord, dim, keepdim, dtype: _norm_forward(self.astype(dtype), ord, dim, keepdim), broadcasts=True,
    jvp=tangent_of_norm,
    self=lambda grad, self, result, ord, dim, keepdim: norm_backward(grad, self, result, ord, dim, keepdim),
)  # fmt: skip

inner_norm = define(  # what PyTorch's own C++ code records, as in pairwise_distance
    "norm", _norm_forward, node="NormBackward1", jvp=tangent_of_norm,
    self=lambda grad, self, result, ord, dim, keepdim: norm_backward(grad, self, result, ord, dim, keepdim),
)  # fmt: skip


def check_norm_dtype(name: str, x: Tensor, dtype: dtypes.dtype | None) -> None:
    """Raise PyTorch's errors for a tensor, or a dtype to compute in, of which there is no norm."""
    if x._array.dtype.kind != "f":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {dtypes.word(x._array.dtype)}"
        )
    if dtype is None:
        return
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {dtypes.word(dtype.numpy)}"
        )
    if dtypes.promote_types(x.dtype, dtype) != dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({dtypes.word(x._array.dtype)}) should be convertible without narrowing to the "
            f"specified dtype ({dtypes.word(dtype.numpy)})"
        )


def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: int | Sequence | None = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """(Σ |xᵢ|^ord)^(1/ord) over `dim`, or over all elements; the largest or smallest |xᵢ| for ord ±inf.

    The derivative where all elements are 0 is 0. With ord=±inf equal extremes share the gradient.
    """
    if dtype is not None or x._array.dtype.kind != "f":
        check_norm_dtype("linalg.vector_norm", x, dtype)
    given = ()
    if dim is not None:
        given = (dim,) if isinstance(dim, int) else tuple(dim)
        dim = _given_dims(given, x._array.ndim) or None
    if not x._array.size and (ord < 0 or ord == math.inf):
        refuse_empty(x._array.shape, ord, given)
    if dtype is not None and dtype != x.dtype:
        return _vector_norm_in(x, ord, dim, bool(keepdim), dtype.numpy)
    return _vector_norm(x, ord, dim, bool(keepdim))


@functools.lru_cache(maxsize=64)
def _given_dims(given: tuple, ndim: int) -> tuple:
    dims = tuple(check_dim(d, ndim) for d in given)
    refuse_repeated(dims)
    return dims


def refuse_empty(shape: tuple, ord: float, dims: tuple) -> None:
    """Raise PyTorch's error for a norm of no numbers that is none: there is no smallest, and no largest."""
    for d in dims or (None,):
        if d is None or not shape[d]:
            what = "an empty tensor " if d is None else f"the dimension {d}"
            why = "the operation" if d is None else "this dimension is empty and the operation"
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {ord} norm on {what}because {why} does not have an identity"
            )


@functools.lru_cache(maxsize=64)
def _matrix_dims(dim: tuple, n: int) -> tuple[int, int, tuple]:
    """(the dimension of the rows, that of the columns, all dimensions with these two at the end)."""
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, columns = (check_dim(d, n) for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    return rows, columns, (*(d for d in range(n) if d not in (rows, columns)), rows, columns)


def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """A norm of matrices: "fro", "nuc" (sum of singular values), ±2 (largest, smallest), ±1 (columns), ±inf (rows)."""
    check_matrices("linalg.matrix_norm", A, square=False)
    if isinstance(ord, str) and ord not in ("fro", "nuc"):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if not isinstance(ord, str) and abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord:g} not supported.")
    rows, columns, order = _matrix_dims((dim,) if isinstance(dim, int) else tuple(dim), A._array.ndim)
    check_norm_dtype("linalg.matrix_norm", A, dtype)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    if ord in ("nuc", 2, -2):
        moved = _permute(A if dtype is None else A.to(dtype), order)
        if ord == 2 and not A._array.size:
            return vector_norm(A.detach(), 2, (rows, columns), keepdim, dtype=dtype)
        S = svdvals(moved)
        if ord == -2 and not S._array.shape[-1]:
            raise IndexError("amin(): Expected reduction dim -1 to have non-zero size.")
        last = (S._array.ndim - 1,)
        out = (
            S.sum(last, keepdim)
            if ord == "nuc"
            else (amax_op if ord == 2 else amin_op)(S, last, bool(keepdim))
        )
        return permute(out.unsqueeze(-1), inverse_order(order)) if keepdim else out
    along, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
    if ord > 0 and not A._array.shape[over]:
        return vector_norm(A.detach(), 1, (rows, columns), keepdim, dtype=dtype)
    sums = vector_norm(A, 1, along, keepdim, dtype=dtype)
    over -= int(not keepdim and over > along)
    return sums.amax(over, keepdim) if ord > 0 else sums.amin(over, keepdim)


def linalg_norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: int | Sequence | None = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """A vector norm, or a matrix norm if two dimensions are named or `ord` is given for a matrix."""
    n = A._array.ndim
    if dim is None:
        if ord is not None and n not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {n}D."
            )
        dims = (0, 1) if isinstance(ord, str) or n == 2 else (0,)
    else:
        dims = (dim,) if isinstance(dim, int) else tuple(dim)
        if len(dims) not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}"
            )
    if isinstance(ord, str) or (ord is not None and len(dims) == 2):
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    return vector_norm(A, 2.0 if ord is None else ord, dim, keepdim, dtype=dtype)


@method()
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: int | Sequence | None = None,
    keepdim: bool = False,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The p-norm of all elements, or over `dim`; "fro" is p = 2, "nuc" the sum of the singular values of a matrix.

    The derivative where all elements are 0 is 0. With p=inf the largest elements, if there are several, share it.
    """
    if p == "nuc":
        return matrix_norm(input, "nuc", dim or (-2, -1), keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    return vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)


def matrix_rank(
    A: Tensor,
    tol: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """How many singular values are larger than both `atol` (or `tol`) and `rtol` times the largest."""
    name = "torch.linalg.matrix_rank"
    if A._array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor input must have at least 2 dimensions.")
    if A._array.dtype.kind != "f":
        raise RuntimeError("This function doesn't handle types other than float and double")
    atol, rtol = tolerances(A, tol if atol is None else atol, rtol)
    A = A.detach()
    if not A._array.size:
        return A.new_zeros(A._array.shape[:-2], dtype=dtypes.int64)
    S = eigvalsh(A).abs() if hermitian else svdvals(A)
    return (maximum(atol.unsqueeze(-1), rtol.unsqueeze(-1) * S.amax(-1, keepdim=True)) < S).sum(-1)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """The condition number: the norm of A times that of its inverse, for p None the ratio of singular values."""
    if A._array.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if isinstance(p, str):
        check_matrices(f"linalg.cond(ord={p})", A)
    if not A._array.size:
        return A.new_zeros(A._array.shape[:-2])
    if p not in (None, 1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p in (None, 2, -2):
        S = svdvals(A)
        high, low = S.narrow(-1, 0, 1), S.narrow(-1, -1, 1)
        return (low / high if p == -2 else high / low).squeeze(-1)
    check_matrices(f"linalg.cond(ord={p})", A)
    if p == "nuc":
        S = svdvals(A)
        return S.sum(-1) * S.reciprocal().sum(-1)
    size = matrix_norm(A, p)
    inverse = _inv(A, False)
    inverse.masked_fill_(inverse.isinf(), math.inf)
    return (size * matrix_norm(inverse, p)).nan_to_num_(math.inf, math.inf, -math.inf)


# ---------------------------------------------------------------- distances


def dist_backward(grad, difference, result, p: float):
    """The gradient of the norm of a difference."""
    return norm_backward(grad, difference, result, p, None, False)


_dist = define(
    "dist", lambda self, other, p: _norm_forward(self - other, p, None, False), broadcasts=True,
    self=lambda grad, self, other, p, result: dist_backward(grad, self - other, result, p),
    other=lambda grad, self, other, p, result: -dist_backward(grad, self - other, result, p),
)  # fmt: skip


@method()
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other, broadcast."""
    if input._array.dtype.kind != "f" and other._array.dtype.kind != "f":
        dtype = dtypes.promote([(t._array.dtype, 2) for t in (input, other)])
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {dtypes.word(dtype)} instead."
        )
    return _dist(input, other, p)


def _pairs(x1, x2):
    return x1[..., :, None, :] - x2[..., None, :, :]


def cdist_backward(grad, x1, x2, result, p: float):
    """For each row of x1 the sum over the rows of x2."""
    if p == 0:
        return zeros_like(x1)
    d = _pairs(x1, x2)
    return norm_backward(grad, d, result, p, (d.ndim - 1,), False).sum(d.ndim - 2)


_cdist = define(
    "cdist", lambda x1, x2, p: in_rows(_norm_forward(_pairs(x1, x2), p, (-1,), False)), broadcasts=True,
    x1=lambda grad, x1, x2, p, result: cdist_backward(grad, x1, x2, result, p),
    x2=lambda grad, x1, x2, p, result: cdist_backward(grad.swapaxes(-1, -2), x2, x1, result.swapaxes(-1, -2), p),
)  # fmt: skip


def _euclidean_forward(x1: ndarray, x2: ndarray) -> ndarray:
    """√(|a|² - 2ab + |b|²) of all rows a and b, by one matrix product."""
    squares = [np.add.reduce(x * x, axis=-1, keepdims=True) for x in (x1, x2)]
    ones = [np.ones_like(s) for s in squares]
    left = np.concatenate([-2 * x1, squares[0], ones[0]], axis=-1)
    right = np.concatenate([x2, ones[1], squares[1]], axis=-1)
    return np.sqrt(np.maximum(left @ right.swapaxes(-1, -2), 0))


def euclidean_backward(grad, x1, x2, result):
    """Σⱼ grad[i, j] (x1[i] - x2[j]) / result[i, j], where that is not 0."""
    ratio = where(result == 0, 0.0, grad / result)
    return x1 * ratio.sum(-1)[..., None] - ratio @ x2


_euclidean_dist = define(
    "euclidean_dist", _euclidean_forward,
    x1=lambda grad, x1, x2, result: euclidean_backward(grad, x1, x2, result),
    x2=lambda grad, x1, x2, result: euclidean_backward(grad.swapaxes(-1, -2), x2, x1, result.swapaxes(-1, -2)),
)  # fmt: skip
MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = MODES[0]) -> Tensor:
    """The distances of all rows of x1 (n, d) to all rows of x2 (m, d): shape (n, m), or a batch of them.

    compute_mode: whether Euclidean distances are found by a matrix product, which is quick and less exact: "if_necessary" is
    for more than 25 rows.
    """
    if compute_mode is not None and compute_mode not in MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if x._array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x._array.ndim}D")
    a, b = x1._array.shape, x2._array.shape
    if a[-1] != b[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {a[-1]} X2: {b[-1]}")
    check_distances("cdist", (("X1", x1), ("X2", x2)), p)
    if x1._array.dtype != x2._array.dtype:
        names = (dtypes.word(x._array.dtype) for x in (x1, x2))
        raise RuntimeError("expected scalar type {} but found {}".format(*names))
    batch = broadcast_pair(a[:-2], b[:-2])
    rows = a[-2], b[-2]
    by_product = compute_mode == MODES[1] or (compute_mode != MODES[2] and max(rows) > 25)
    if p != 2 or not by_product or not x1._array.size or not x2._array.size:
        return _cdist(x1, x2, float(p))
    count = math.prod(batch)
    if count != 1:
        x1, x2 = (
            view(expand(x, (*batch, *x._array.shape[-2:])).contiguous(), (count, *x._array.shape[-2:]))
            for x in (x1, x2)
        )
    return view(_euclidean_dist(x1, x2), (*batch, *rows))


def check_distances(name: str, inputs: tuple, p: float) -> None:
    """Raise PyTorch's errors for what distances are not computed of."""
    for label, x in inputs:
        if x._array.dtype.kind != "f":
            found = f", {label} got: {dtypes.word(x._array.dtype)}" if label else ""
            raise RuntimeError(f"{name} only supports floating-point dtypes{found}")
    if p < 0:
        raise RuntimeError(f"{name} only supports non-negative p values")
    if inputs[0][1]._array.dtype == np.float16:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Half'")


def pdist_backward(grad, self, result, p: float):
    """The gradient of `cdist(self, self)`, where each distance stands twice."""
    n = self.shape[-2]
    if n < 2:
        return zeros_like(self)
    numbers = np.zeros((n, n), np.int64)
    numbers[np.triu_indices(n, 1)] = np.arange(n * (n - 1) // 2)
    numbers, others = numbers + numbers.T, ~np.eye(n, dtype=bool)
    if not is_array(self):
        numbers, others = wrap(numbers), wrap(others)
    return cdist_backward(grad[..., numbers] * others, self, self, result[..., numbers] * others, p)


_pdist = define(
    "pdist", lambda self, p: _norm_forward(differences_of_rows(self), p, (-1,), False),
    self=lambda grad, self, result, p: pdist_backward(grad, self, result, p),
)  # fmt: skip


def differences_of_rows(x: ndarray) -> ndarray:
    """Row i - row j, for i < j."""
    first, second = np.triu_indices(x.shape[-2], 1)
    return x[..., first, :] - x[..., second, :]


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The distances between all pairs of the rows of `input`, (N, D), as a vector of N (N - 1) / 2 numbers."""
    if input._array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input._array.ndim}D")
    check_distances("pdist", ((None, input),), p)
    return _pdist(input, float(p))


__all__ = ["cdist", "dist", "norm"]
