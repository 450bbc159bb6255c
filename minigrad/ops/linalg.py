"""Linear algebra: inverse, solve, determinant, eigenvalues, norms.

Formulas: M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008). They hold for batches of matrices.
"""

from __future__ import annotations

import numpy as np

from ..dtypes import word
from ..tensor import Tensor, plain_types, wrap
from .arranging import diagonal, eye_beside
from .products import adjoint
from .publish import LINALG, function, publish
from .reduction import vector_norm
from .table import is_array, op

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


def failing(A: ndarray) -> tuple[str, int]:
    """For a message: which matrix of a batch is singular, and how many of its columns already are."""
    matrices = A.reshape(-1, *A.shape[-2:])
    i = next(i for i, M in enumerate(matrices) if np.linalg.matrix_rank(M) < len(M))
    k = next(k for k in range(1, A.shape[-1] + 1) if np.linalg.matrix_rank(matrices[i][:, :k]) < k)
    return f"(Batch element {i}): " * (A.ndim > 2), k


def _inverse(A: ndarray) -> ndarray:
    check_square("inv", A)
    try:
        return adjoint(np.linalg.inv(adjoint(A)))  # stored by columns, as LAPACK leaves it
    except np.linalg.LinAlgError:
        batch, place = failing(A)
        told = "the inversion could not be completed because the input matrix is singular."
        raise LinAlgError(f"linalg.inv: {batch}The diagonal element {place} is zero, {told}") from None


def is_vector(A: ndarray | Tensor, B: ndarray | Tensor) -> bool:
    """PyTorch's rule: is B a (batch of) vectors rather than of matrices?"""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape)


def _solved(A: ndarray, B: ndarray, left: bool) -> ndarray:
    check_square("solve", A)
    if is_vector(A, B):
        return _solved(A, B[..., None], True)[..., 0]
    if A.shape[-2] != B.shape[-2 if left else -1]:
        shapes = "({}x{} and {}x{})".format(*A.shape[-2:], *B.shape[-2:])
        told = f"Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} {shapes}"
        raise RuntimeError(f"linalg.solve: {told}")
    try:
        return np.linalg.solve(A, B) if left else adjoint(np.linalg.solve(adjoint(A), adjoint(B)))
    except np.linalg.LinAlgError:
        told = f"{failing(A)[0]}The solver failed because the input matrix is singular."
        raise LinAlgError(f"torch.linalg.solve: {told}") from None


def multiplied(inverse: Tensor, B: Tensor, left: bool) -> Tensor:
    """Solving inside vmap: the inverse times B, which may hold vectors."""
    if is_vector(inverse, B):
        return (inverse @ B[..., None])[..., 0]
    return inverse @ B if left else B @ inverse


def solve_backward(grad, grad_input_mask, A, result, left):
    """In A X = B (or X A = B) the gradient of B is G = A⁻ᵀ grad, that of A is -G Xᵀ."""
    G = solve(adjoint(A), grad, left=left)
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
        return (grad * result)[..., None, None] * adjoint(inv(A))
    n = A.shape[-1]
    others = np.array([[k for k in range(n) if k != i] for i in range(n)], int).reshape(n, n - 1)
    minors = det(A[..., others[:, None, :, None], others[None, :, None, :]])
    signs = (-1.0) ** np.add.outer(np.arange(n), np.arange(n)).astype(minors.dtype if is_array(A) else "f4")
    return grad[..., None, None] * minors * (signs if is_array(A) else wrap(signs))


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
inv = op("linalg_inv(A)", _inverse, at="linalg", outputs=("inverse",), batch="rows", node="LinalgInvExBackward0",
         doc="The inverse of a square matrix, or of each of a batch. Raises LinAlgError for singular matrices.",
         A=lambda grad, inverse: -(adjoint(inverse) @ (grad @ adjoint(inverse))))
solve = op("linalg_solve(A, B, *, left: bool=True)", _solved, broadcasts=True, at="linalg", node="LinalgSolveExBackward0",
           doc="The solution X of A X = B (X A = B if not `left`), for square A. B may be a vector. LinAlgError if singular.",
           batch=lambda A, B, left: multiplied(inv(A), B, left), A=solve_backward, B=solve_backward)
det = op("linalg_det(A)", _det, at="linalg", batch="rows", doc="The determinant of a square matrix, or of each of a batch.",
         A=lambda grad, A, result: cofactors(grad, A, result))
eigh = op("linalg_eigh(A, UPLO: str='L')", _eigh, outputs=("eigenvalues", "eigenvectors"), at="linalg", batch="rows",
          jvp=eigh_tangent,
          doc="Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix, of which one triangle is read.",
          A=lambda grad, eigenvalues, eigenvectors: eigh_backward(grad, eigenvalues, eigenvectors))
# fmt: on
publish(det, "det", "torch Tensor")
publish(inv, "inverse", "torch Tensor")
LINALG["LinAlgError"] = LinAlgError


@function(at="linalg")
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of a symmetric matrix, ascending."""
    return eigh(A, UPLO)[0]


@function(at="linalg")
def linalg_norm(
    A: Tensor, ord: object = None, dim: int | tuple | None = None, keepdim: bool = False
) -> Tensor:
    """A norm of all elements or over one dimension; of matrices the root of the sum of squares, "fro"."""
    if ord not in (None, "fro") and not isinstance(dim, int) and A._array.ndim != 1:
        raise NotImplementedError(f"linalg.norm: order {ord} of {list(A.shape)} is not offered here")
    return vector_norm(A, 2 if ord in (None, "fro") else ord, dim, keepdim)
