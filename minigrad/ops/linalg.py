"""Linear algebra: inverse, solve, determinant, Cholesky, eigenvalues, powers of a matrix.

Formulas: M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008); I. Murray, "Differentiation of the Cholesky decomposition" (2016). They hold for batches of matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..basics import wrap_dim
from ..dtypes import word
from ..tensor import Tensor, plain_types, wrap
from .arranging import diagonal, eye_beside, tril
from .comparison import where
from .pointwise import clone
from .products import adjoint, matmul
from .publish import LINALG, publish
from .reduction import vector_norm
from .table import function, is_array, op

ndarray = np.ndarray


class LinAlgError(RuntimeError):
    """The matrix is singular, or not positive definite: there is no result."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"  # as PyTorch prints it


def check_square(name: str, A: ndarray) -> None:
    """Raise PyTorch's error for what is no batch of square matrices of floating point numbers."""
    if A.ndim < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    n, m = A.shape[-2:]
    if n != m:
        told = f"A must be batches of square matrices, but they are {n} by {m} matrices"
        raise RuntimeError(f"linalg.{name}: {told}")
    if A.dtype.kind != "f":
        told = f"Expected a floating point or complex tensor as input. Got {word(A.dtype)}"
        raise RuntimeError(f"linalg.{name}: {told}")


def failing(
    A: ndarray, fails: Callable = lambda M, k: np.linalg.matrix_rank(M[:, :k]) < k
) -> tuple[str, int]:
    """For a message: which matrix of a batch is to blame, and how many of its columns already make it fail."""
    places = (
        (i, k)
        for i, M in enumerate(A.reshape(-1, *A.shape[-2:]))
        for k in range(1, len(M) + 1)
        if fails(M, k)
    )
    i, k = next(places, (0, A.shape[-1]))
    return f"(Batch element {i}): " * (A.ndim > 2), k


def _inverse(A: ndarray) -> ndarray:
    check_square("inv", A)
    try:
        return adjoint(np.linalg.inv(adjoint(A)))  # stored by columns, as LAPACK leaves it
    except np.linalg.LinAlgError:
        batch, place = failing(A)
        raise LinAlgError(
            f"linalg.inv: {batch}The diagonal element {place} is zero, the inversion could not be completed because the "
            "input matrix is singular."
        ) from None


def is_vector(A: ndarray | Tensor, B: ndarray | Tensor) -> bool:
    """PyTorch's rule: is B a (batch of) vectors rather than of matrices?"""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape)


def _solved(A: ndarray, B: ndarray, left: bool) -> ndarray:
    check_square("solve", A)
    if is_vector(A, B):
        return _solved(A, B[..., None], True)[..., 0]
    if A.shape[-2] != B.shape[-2 if left else -1]:
        shapes = "({}x{} and {}x{})".format(*A.shape[-2:], *B.shape[-2:])
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {equation} {shapes}"
        )
    try:
        return np.linalg.solve(A, B) if left else adjoint(np.linalg.solve(adjoint(A), adjoint(B)))
    except np.linalg.LinAlgError:
        batch, _ = failing(A)
        raise LinAlgError(
            f"torch.linalg.solve: {batch}The solver failed because the input matrix is singular."
        ) from None


def multiplied(inverse: Tensor, B: Tensor, left: bool) -> Tensor:
    """Solving inside vmap: the inverse times B, which may hold vectors."""
    if is_vector(inverse, B):
        return (inverse @ B[..., None])[..., 0]
    return inverse @ B if left else B @ inverse


def solve_backward(grad, grad_input_mask, A, result, left):
    """In A X = B (or X A = B) the gradient of B is G = A⁻ᵀ grad, that of A is -G Xᵀ."""
    G = solve_ex(adjoint(A), grad, left)
    if not grad_input_mask[0]:
        return None, G
    if is_vector(A, result):
        return -G[..., None] * result[..., None, :], G
    return -(G @ adjoint(result)) if left else -(adjoint(result) @ G), G


def _det(A: ndarray) -> ndarray:
    check_square("det", A)
    return np.asarray(np.linalg.det(A), A.dtype)


def cofactors(grad, A, result):
    """The gradient of det(A): grad times the matrix of cofactors, det(A) A⁻ᵀ, which exists for singular A, too."""
    known = (
        result if is_array(result) else result._array if type(result) in plain_types else 0
    )  # not inside vmap
    if np.all(known):
        return (grad * result)[..., None, None] * adjoint(inv_ex(A))
    n = A.shape[-1]
    others = np.array([[k for k in range(n) if k != i] for i in range(n)], int).reshape(n, n - 1)
    minors = det(A[..., others[:, None, :, None], others[None, :, None, :]])
    signs = (-1.0) ** np.add.outer(np.arange(n), np.arange(n)).astype(
        minors.dtype if is_array(A) else A._array.dtype
    )
    return grad[..., None, None] * minors * (signs if is_array(A) else wrap(signs))


def _cholesky(self: ndarray, upper: bool) -> ndarray:
    check_square("cholesky", self)
    try:
        return adjoint(np.linalg.cholesky(adjoint(self))) if upper else np.linalg.cholesky(self)
    except np.linalg.LinAlgError:
        batch, order = failing(self, lambda M, k: np.linalg.eigvalsh(M[:k, :k])[0] <= 0)
        raise LinAlgError(
            f"linalg.cholesky: {batch}The factorization could not be completed because the input is not positive-definite "
            f"(the leading minor of order {order} is not positive-definite)."
        ) from None


def cholesky_backward(grad, L, upper):
    """½ L⁻ᵀ (Φ + Φᵀ) L⁻¹ with Φ = tril(Lᵀ grad), its diagonal halved (Murray 2016, section 4)."""
    grad, L = (adjoint(grad), adjoint(L)) if upper else (grad, L)
    phi, inverse, lower = adjoint(L) @ grad, inv_ex(L), np.tri(L.shape[-1], dtype=bool)
    return (
        adjoint(inverse) @ (where(lower if is_array(L) else wrap(lower), phi, adjoint(phi)) @ inverse) * 0.5
    )


def cholesky_tangent(inputs, moves, results, params):
    """L Φ(L⁻¹ dA L⁻ᵀ), where Φ takes the lower triangle with half of the diagonal."""
    (dA,), (L,), (upper,) = moves, results, params
    L = adjoint(L) if upper else L
    inverse = inv_ex(L)
    inner = inverse @ dA @ adjoint(inverse)
    dL = L @ (tril(inner, 0) + tril(inner, -1)) * 0.5
    return adjoint(dL) if upper else dL


def _eigh(A: ndarray, UPLO: str) -> tuple[ndarray, ndarray]:
    check_square("eigh", A)
    return np.linalg.eigh(A, UPLO)


def eigh_backward(grad, eigenvalues, eigenvectors):
    """V (diag(gL) + (Vᵀ gV) / (λⱼ - λᵢ)) Vᵀ, made symmetric as A is."""
    (gL, gV), L, V = grad, eigenvalues, eigenvectors
    eye = eye_beside(V, *V.shape[-1:] * 2)
    inner = 0 if gL is None else gL[..., None] * eye
    if gV is not None:
        inner = inner + (adjoint(V) @ gV) / (L[..., None, :] - L[..., None] + eye) * (1 - eye)
    full = V @ inner @ adjoint(V)
    return (full + adjoint(full)) * 0.5


def eigh_tangent(inputs, moves, results, params):
    """dλ = diag(Vᵀ dA V), dV = V (Vᵀ dA V / (λⱼ - λᵢ)), off the diagonal."""
    (dA,), (L, V) = moves, results
    inner, eye = adjoint(V) @ dA @ V, eye_beside(V, *V.shape[-1:] * 2)
    gaps = L[..., None, :] - L[..., None] + eye
    return diagonal(inner, 0, -2, -1), V @ (inner / gaps * (1 - eye))


# fmt: off
inv_ex = op("linalg_inv_ex(A)", _inverse, outputs=("inverse",), at="", batch="rows",
            A=lambda grad, inverse: -(adjoint(inverse) @ (grad @ adjoint(inverse))))
solve_ex = op("linalg_solve_ex(A, B, left: bool)", _solved, broadcasts=True, at="",
              batch=lambda A, B, left: multiplied(inv_ex(A), B, left), A=solve_backward, B=solve_backward)
det = op("linalg_det(A)", _det, at="linalg", batch="rows", doc="The determinant of a square matrix, or of each of a batch.",
         A=lambda grad, A, result: cofactors(grad, A, result))
cholesky_ex = op("linalg_cholesky_ex(self, upper: bool)", _cholesky, outputs=("L",), at="", batch="rows",
                 jvp=cholesky_tangent,
                 self=lambda grad, L, upper: cholesky_backward(grad, L, upper))
eigh = op("linalg_eigh(A, UPLO: str='L')", _eigh, outputs=("eigenvalues", "eigenvectors"), at="linalg", batch="rows",
          jvp=eigh_tangent,
          doc="Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix, of which one triangle is read.",
          A=lambda grad, eigenvalues, eigenvectors: eigh_backward(grad, eigenvalues, eigenvectors))
# fmt: on
publish(det, "det", "torch Tensor")
LINALG["LinAlgError"] = LinAlgError


@function(at="linalg")
def inv(A: Tensor) -> Tensor:
    """The inverse of a square matrix, or of each of a batch. Raises LinAlgError for singular matrices."""
    return inv_ex(A)


publish(inv, "inverse", "torch Tensor")


@function(at="linalg")
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution X of A X = B (X A = B if not `left`), for square A. B may be a vector. Raises LinAlgError if singular."""
    return solve_ex(A, B, left)


@function(at="linalg")
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with A = L Lᵀ (or Lᵀ, if `upper`). Raises LinAlgError unless A is positive definite."""
    return cholesky_ex(A, upper)


@function(at="linalg")
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of a symmetric matrix, ascending."""
    return eigh(A, UPLO)[0]


@function(at="linalg")
def linalg_norm(
    A: Tensor, ord: object = None, dim: int | tuple | None = None, keepdim: bool = False
) -> Tensor:
    """A norm of all elements or over one dimension; of matrices "fro", ±1 (sums of columns) and ±inf (of rows)."""
    dims = range(A._array.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    if ord in (None, "fro") or len(dims) == 1:
        return vector_norm(A, 2 if ord in (None, "fro") else ord, dim, keepdim)
    if len(dims) != 2 or ord not in (1, -1, math.inf, -math.inf):
        raise NotImplementedError(f"linalg.norm: order {ord} of {list(A.shape)} is not offered here")
    along, over = [wrap_dim(d, A._array.ndim) for d in (dims if abs(ord) == 1 else dims[::-1])]
    sums = vector_norm(A, 1, along, keepdim)
    over -= over > along and not keepdim
    return sums.amax(over, keepdim) if ord > 0 else sums.amin(over, keepdim)


@function(at="torch Tensor linalg")
def matrix_power(A: Tensor, n: int) -> Tensor:
    """A multiplied with itself n times; the inverse of that for negative n."""
    if n == 0:
        return clone(A).copy_(eye_beside(A, *A.shape[-2:]))
    if n < 0:
        return inv_ex(A) if n == -1 else matrix_power(inv_ex(A), -n)
    if n < 4:
        return clone(A) if n == 1 else matmul(A, A) if n == 2 else matmul(matmul(A, A), A)
    result = power = None
    while n:  # square and multiply
        power = A if power is None else matmul(power, power)
        n, bit = divmod(n, 2)
        if bit:
            result = power if result is None else matmul(result, power)
    return result
