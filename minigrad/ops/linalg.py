"""Linear algebra: inverse, solve, determinant, eigenvalues, norms.

Formulas: M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008). They hold for batches of matrices.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..dtypes import word
from ..tensor import Tensor
from .arranging import eye_beside
from .comparison import where
from .products import adjoint
from .publish import LINALG, function, publish
from .reduction import vector_norm
from .table import is_array, op

ndarray = np.ndarray


class LinAlgError(RuntimeError):
    """The matrix is singular: there is no result."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"  # as PyTorch prints it


def as_square(name: str, A: ndarray) -> ndarray:
    """The array. Raises PyTorch's error for what is no batch of square matrices of floating point numbers."""
    if A.ndim < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-2] != A.shape[-1]:
        told = "A must be batches of square matrices, but they are {} by {} matrices".format(*A.shape[-2:])
        raise RuntimeError(f"linalg.{name}: {told}")
    if A.dtype.kind != "f":
        raise RuntimeError(f"linalg.{name}: Expected a floating point tensor as input. Got {word(A.dtype)}")
    return A


def _inverse(A: ndarray) -> ndarray:
    try:
        return adjoint(np.linalg.inv(adjoint(as_square("inv", A))))  # stored by columns, as LAPACK leaves it
    except np.linalg.LinAlgError:  # so many columns are dependent already
        k = next(k for k in itertools.count(1) if (np.linalg.matrix_rank(A[..., :k]) < k).any())
        told = "the inversion could not be completed because the input matrix is singular."
        raise LinAlgError(f"linalg.inv: The diagonal element {k} is zero, {told}") from None


def is_vector(A: ndarray | Tensor, B: ndarray | Tensor) -> bool:
    """PyTorch's rule: is B a (batch of) vectors rather than of matrices?"""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape)


def _solved(A: ndarray, B: ndarray) -> ndarray:
    as_square("solve", A)
    try:
        return np.linalg.solve(A, B[..., None])[..., 0] if is_vector(A, B) else np.linalg.solve(A, B)
    except np.linalg.LinAlgError:
        told = "The solver failed because the input matrix is singular."
        raise LinAlgError(f"torch.linalg.solve: {told}") from None


def solve_in_batch(A: Tensor, B: Tensor) -> Tensor:
    return (inv(A) @ B[..., None])[..., 0] if is_vector(A, B) else inv(A) @ B


def solve_backward(grad, grad_input_mask, A, result):
    """In A X = B the gradient of B is G = A⁻ᵀ grad, that of A is -G Xᵀ."""
    G = solve(adjoint(A), grad)
    if not grad_input_mask[0]:
        return None, G
    return -G[..., None] * result[..., None, :] if is_vector(A, result) else -(G @ adjoint(result)), G


def det_self(grad, A, result):
    """The gradient of det(A): grad times the cofactors, det(A) A⁻ᵀ; of a singular A each is det(A with eⱼ as row i)."""
    if is_array(A) and result.all():
        return (grad * result)[..., None, None] * adjoint(inv(A))
    e = eye_beside(A, A.shape[-1], A.shape[-1])
    return grad[..., None, None] * det(where(e[:, None, :, None] != 0, e[:, None], A[..., None, None, :, :]))


def eigh_backward(grad, eigenvalues, eigenvectors):
    """V (diag(gL) + (Vᵀ gV) / (λⱼ - λᵢ)) Vᵀ, made symmetric as A is."""
    (gL, gV), L, V = grad, eigenvalues, eigenvectors
    eye = eye_beside(V, *V.shape[-1:] * 2)
    inner = 0 if gL is None else gL[..., None] * eye
    if gV is not None:
        inner = inner + (adjoint(V) @ gV) / (L[..., None, :] - L[..., None] + eye) * (1 - eye)
    full = V @ inner @ adjoint(V)
    return (full + adjoint(full)) * 0.5


# fmt: off
inv = op("linalg_inv(A)", _inverse, at="linalg", outputs=("inverse",), batch="rows", node="LinalgInvExBackward0",
         doc="The inverse of a square matrix, or of each of a batch. Raises LinAlgError for singular matrices.",
         A=lambda grad, inverse: -(adjoint(inverse) @ (grad @ adjoint(inverse))))
solve = op("linalg_solve(A, B)", _solved, broadcasts=True, at="linalg", node="LinalgSolveExBackward0", batch=solve_in_batch,
           doc="The solution X of A X = B, for square A. B may be a vector. Raises LinAlgError if A is singular.",
           A=solve_backward, B=solve_backward)
det = op("linalg_det(A)", lambda A: np.asarray(np.linalg.det(as_square("det", A)), A.dtype), at="linalg", batch="rows",
         doc="The determinant of a square matrix, or of each of a batch.", A=det_self)
eigh = op("linalg_eigh(A)", lambda A: tuple(np.linalg.eigh(as_square("eigh", A))), at="linalg", batch="rows",
          outputs=("eigenvalues", "eigenvectors"), A=eigh_backward,
          doc="Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix, whose lower triangle is read.")
# fmt: on
publish(det, "det", "torch Tensor")
publish(inv, "inverse", "torch Tensor")
LINALG["LinAlgError"] = LinAlgError


@function(at="linalg")
def eigvalsh(A: Tensor) -> Tensor:
    """The eigenvalues of a symmetric matrix, ascending."""
    return eigh(A)[0]


@function(at="linalg")
def linalg_norm(
    A: Tensor, ord: object = None, dim: int | tuple | None = None, keepdim: bool = False
) -> Tensor:
    """A norm of all elements or over one dimension; of matrices the root of the sum of squares, "fro"."""
    if ord not in (None, "fro") and not isinstance(dim, int) and A._array.ndim != 1:
        raise NotImplementedError(f"linalg.norm: order {ord} of {list(A.shape)} is not offered here")
    return vector_norm(A, 2 if ord in (None, "fro") else ord, dim, keepdim)
