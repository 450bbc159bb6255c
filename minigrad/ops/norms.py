"""Norms of vectors and matrices, distances, and what is measured by singular values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..tensor import Tensor, check_dim, wrap
from .choice import where
from .decompositions import check_matrices, eigvalsh, inv, svdvals
from .reduction import dims_of
from .shape import permute, refuse_repeated
from .table import define, is_array, method

ndarray = np.ndarray


def sign_of(x):
    """-1, 0 or 1, of an array or a Tensor."""
    return np.sign(x) if is_array(x) else x.sign()


def _powers(x: ndarray, ord: float, axis: tuple | None) -> ndarray:
    size = np.abs(x)
    if ord == 2:
        return np.sqrt(np.add.reduce(x * x, axis=axis, keepdims=True))
    if ord == 1:
        return np.add.reduce(size, axis=axis, keepdims=True)
    if ord == math.inf:
        return np.maximum.reduce(size, axis=axis, keepdims=True)
    if ord == -math.inf:
        return np.minimum.reduce(size, axis=axis, keepdims=True)
    if ord == 0:
        return np.add.reduce((x != 0).astype(x.dtype), axis=axis, keepdims=True)
    p = np.asarray(ord, x.dtype)
    return np.add.reduce(size**p, axis=axis, keepdims=True) ** (1 / p)


def _norm_forward(self: ndarray, ord: float, dim: tuple | None, keepdim: bool) -> ndarray:
    axis = None if dim is None or not self.ndim else dims_of(dim, self.ndim)
    out = _powers(self, ord, axis)
    return (
        out
        if keepdim
        else out.reshape(
            out.shape
            if not self.ndim
            else tuple(n for d, n in enumerate(out.shape) if axis is not None and d not in axis)
        )
    )


def norm_backward(grad, self, result, ord, dim, keepdim):
    """∂(Σ|x|ᵖ)^(1/p)/∂x = sign(x) |x|^(p-1) / norm^(p-1); 0 where the norm is 0, shared among ties for p = ∞."""
    if ord == 0:
        return grad_like(self)
    dims = tuple(range(self.ndim)) if dim is None else dims_of(dim, self.ndim)
    if not keepdim and self.ndim:
        ones = tuple(1 if d in dims else n for d, n in enumerate(self.shape))
        grad, result = grad.reshape(ones), result.reshape(ones)
    if ord == 1:
        return sign_of(self) * grad
    if ord == 2:
        return self * where(result == 0, 0.0, grad / result)
    if abs(ord) == math.inf:
        hit = abs(self) == result
        count = hit.sum(dims, keepdims=True) if is_array(hit) else hit.sum(dims, keepdim=True)
        share = grad / (count.astype(grad.dtype) if is_array(grad) else count.to(grad.dtype))
        return sign_of(self) * where(hit, share, 0.0)
    if ord < 1:
        scaled = where(self == 0, 0.0, sign_of(self) * abs(self) ** (ord - 1))
        return scaled * grad * result ** (1 - ord)
    scaled = sign_of(self) * abs(self) ** (ord - 1) if ord < 2 else self * abs(self) ** (ord - 2)
    return scaled * where(result == 0, 0.0, grad / result ** (ord - 1))


def grad_like(x):
    """Zeros in the shape of an array or a Tensor."""
    return np.zeros_like(x) if is_array(x) else wrap(np.zeros_like(x._array))


_vector_norm = define(
    "linalg_vector_norm", _norm_forward,
    self=lambda grad, self, result, ord, dim, keepdim: norm_backward(grad, self, result, ord, dim, keepdim),
)  # fmt: skip

inner_norm = define(  # what PyTorch's own C++ code records, as in pairwise_distance
    "norm", _norm_forward, node="NormBackward1",
    self=lambda grad, self, result, ord, dim, keepdim: norm_backward(grad, self, result, ord, dim, keepdim),
)  # fmt: skip


def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: int | Sequence | None = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """(Σ |xᵢ|^ord)^(1/ord) over `dim`, or over all elements; the largest or smallest |xᵢ| for ord ±inf."""
    if dtype is not None:
        x = x.to(dtype)
    if x._array.dtype.kind != "f":
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {dtypes.word(x._array.dtype)}"
        )
    if dim is not None:
        dim = (dim,) if isinstance(dim, int) else tuple(dim)
        dims = tuple(check_dim(d, x._array.ndim) for d in dim)
        refuse_repeated(dims)
        dim = dims or None
    if not x._array.size and (ord < 0 or ord == math.inf):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not have an "
            "identity"
        )
    return _vector_norm(x, ord, dim, bool(keepdim))


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
    if dtype is not None:
        A = A.to(dtype)
    n = A._array.ndim
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {list(dim)}")
    rows, columns = (check_dim(d, n) for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if ord in ("nuc", 2, -2):
        order = (*(d for d in range(n) if d not in (rows, columns)), rows, columns)
        S = svdvals(permute(A, order))
        out = S.sum(-1) if ord == "nuc" else S.amax(-1) if ord == 2 else S.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                out = out.unsqueeze(d)
        return out
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if abs(ord) not in (1, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord:g} not supported.")
    along, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, along, keepdim)
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
    if ord is not None and (dim is None or (not isinstance(dim, int) and len(dim) == 2)):
        if dim is None and A._array.ndim not in (1, 2) and not isinstance(ord, str):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                f"{A._array.ndim}D."
            )
        if isinstance(ord, str) or dim is not None or A._array.ndim == 2:
            return matrix_norm(
                A,
                ord,
                (0, 1) if dim is None and A._array.ndim == 2 else dim or (-2, -1),
                keepdim,
                dtype=dtype,
            )
    return vector_norm(A, 2.0 if ord is None else ord, dim, keepdim, dtype=dtype)


@method()
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: int | Sequence | None = None,
    keepdim: bool = False,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The p-norm of all elements, or over `dim`; "fro" is p = 2, "nuc" the sum of the singular values of a matrix."""
    if p == "nuc":
        return matrix_norm(input, "nuc", dim or (-2, -1), keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    return vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)


def matrix_rank(
    A: Tensor,
    tol: float | None = None,
    hermitian: bool = False,
    *,
    atol: float | None = None,
    rtol: float | None = None,
) -> Tensor:
    """How many singular values are larger than both `atol` (or `tol`) and `rtol` times the largest."""
    check_matrices("linalg.matrix_rank", A, square=False)
    atol = tol if atol is None else atol
    if rtol is None and not atol:
        rtol = max(A._array.shape[-2:]) * float(np.finfo(A._array.dtype).eps)
    S = eigvalsh(A.detach()).abs() if hermitian else svdvals(A.detach())
    if not S._array.shape[-1]:
        return S.sum(-1).long()
    return ((S.amax(-1, keepdim=True) * (rtol or 0.0)).clamp_min(atol or 0.0) < S).sum(-1)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """The condition number: the norm of A times that of its inverse, for p None the ratio of singular values."""
    if p is None or p in (2, -2):
        S = svdvals(A)
        high, low = S.narrow(-1, 0, 1), S.narrow(-1, S._array.shape[-1] - 1, 1)
        return (low / high if p == -2 else high / low).squeeze(-1)
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


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
    return _dist(input, other, p)


def _pairs(x1, x2):
    return x1[..., :, None, :] - x2[..., None, :, :]


def cdist_backward(grad, x1, x2, result, p: float):
    """For each row of x1 the sum over the rows of x2."""
    d = _pairs(x1, x2)
    return norm_backward(grad, d, result, p, (d.ndim - 1,), False).sum(d.ndim - 2)


_cdist = define(
    "cdist", lambda x1, x2, p: _norm_forward(_pairs(x1, x2), p, (-1,), False),
    x1=lambda grad, x1, x2, p, result: cdist_backward(grad, x1, x2, result, p),
    x2=lambda grad, x1, x2, p, result: cdist_backward(grad.swapaxes(-1, -2), x2, x1, result.swapaxes(-1, -2), p),
)  # fmt: skip


def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """The distances of all rows of x1 (n, d) to all rows of x2 (m, d): shape (n, m), or a batch of them."""
    if x1._array.ndim < 2 or x2._array.ndim < 2:
        raise RuntimeError(f"cdist only supports at least 2D tensors, X1 got: {x1._array.ndim}D")
    if x1._array.shape[-1] != x2._array.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1._array.shape[-1]} X2: {x2._array.shape[-1]}"
        )
    return _cdist(x1, x2, float(p))


__all__ = ["cdist", "dist", "norm"]
