"""Inverses, determinants, solutions of linear equations, factorisations and norms: the functions of `minigrad.linalg`.

Formulas: M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008); I. Murray, "Differentiation of the Cholesky decomposition" (2016). They hold for batches of matrices.
"""

from __future__ import annotations

import math
import operator
from collections import namedtuple
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..tensor import Tensor, wrap
from .arranging import _tril, _triu, below, diagonal
from .choice import where, zeros_like
from .conversion import clone
from .joining import cat
from .linalg import matmul
from .shape import transpose
from .table import define, is_array, method

ndarray = np.ndarray


class LinAlgError(RuntimeError):
    """The matrix is singular, or not positive definite: there is no result."""


def results(name: str, *fields: str) -> type:
    """A named tuple that prints as PyTorch's return types do."""
    cls = namedtuple(name, fields)

    def show(self) -> str:
        return (
            f"torch.return_types.{name}(\n"
            + ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self, strict=True))
            + ")"
        )

    cls.__repr__ = show
    return cls


LOW_PRECISION = "low precision"


def check_matrices(
    name: str, A: Tensor, square: bool = True, floating: bool = True, kernel: str | None = None
) -> None:
    """Raise PyTorch's errors for vectors, integer tensors, and rectangular matrices where square ones are needed.

    kernel: what PyTorch says is not implemented for dtypes other than single and double precision; or LOW_PRECISION, of
    which it says that they are not supported.
    """
    array = A._array
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if square and array.shape[-1] != array.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {array.shape[-2]} by {array.shape[-1]} matrices"
        )
    if array.dtype.char in "fd":
        return
    if floating and array.dtype.kind != "f":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {dtypes.word(array.dtype)}"
        )
    if kernel == LOW_PRECISION:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {dtypes.word(array.dtype)}")
    if kernel is not None:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.word(array.dtype)}'")


def check_equation(name: str, A: Tensor, B: Tensor, left: bool, vectors: bool = False) -> None:
    """Raise PyTorch's errors for an equation A X = B (X A = B if not `left`) whose sides do not fit. B may be vectors."""
    a, b = A._array.shape, (*B._array.shape, 1) if vectors else B._array.shape
    if len(b) < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if a[-2] != b[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
        )


def by_columns(A: ndarray) -> ndarray:
    """The same matrices, stored column by column, as LAPACK leaves them."""
    return A.swapaxes(-1, -2).copy().swapaxes(-1, -2)


def adjoint(A):
    """Aᵀ of each matrix, of an array or a Tensor."""
    return A.swapaxes(-1, -2)


def eye_like(A):
    """The identity of the size and dtype of a square matrix; an array or a Tensor."""
    n = A.shape[-1]
    return np.eye(n, dtype=A.dtype) if is_array(A) else wrap(np.eye(n, dtype=A._array.dtype))


def first_failing(A: ndarray, fails) -> tuple[str, int]:
    """For an error message: which matrix of the batch is to blame, and at which place (counted from 1)."""
    for i, matrix in enumerate(A.reshape(-1, *A.shape[-2:])):
        place = fails(matrix)
        if place:
            return (f"(Batch element {i}): " if A.ndim > 2 else ""), place
    return "", 0


# ---------------------------------------------------------------- LU, inverse, solve, determinant


def eliminate(M: ndarray) -> list[int]:
    """Turn a matrix into its factors L and U, in one array, by elimination with partial pivoting.

    Returns the row exchanges, counted from 1.
    """
    columns, exchanges = M.T, []
    for i in range(min(M.shape)):
        p = i + int(abs(columns[i, i:]).argmax())
        exchanges.append(p + 1)
        if p != i:
            row = M[i].copy()
            M[i], M[p] = M[p], row
        if columns[i, i] != 0:
            multiples = columns[i, i + 1 :]
            multiples /= columns[i, i]
            columns[i + 1 :, i + 1 :] -= columns[i + 1 :, i, None] * multiples
    return exchanges


def zero_pivot(A: ndarray) -> int:
    """The place (from 1) of the first zero on the diagonal of U, 0 if there is none."""
    LU = by_columns(A)
    eliminate(LU)
    return first_zero(LU)


def first_zero(LU: ndarray) -> int:
    """The place (from 1) of the first zero on the diagonal, 0 if there is none."""
    zeros = np.flatnonzero(np.diagonal(LU) == 0)
    return int(zeros[0]) + 1 if zeros.size else 0


def _inverse(A: ndarray, check: bool = True) -> ndarray:
    try:
        inverse = np.linalg.inv(A.swapaxes(-1, -2)).swapaxes(-1, -2)
    except np.linalg.LinAlgError:
        inverse = None
    if inverse is None and not check:  # PyTorch's inv_ex: what has no inverse is infinite
        inverse = np.full_like(A, np.inf)
        for at in np.ndindex(A.shape[:-2]):
            if not zero_pivot(A[at]):
                inverse[at] = np.linalg.inv(A[at])
    if inverse is None:
        where_, place = first_failing(A, zero_pivot)
        raise LinAlgError(
            f"linalg.inv: {where_}The diagonal element {place} is zero, the inversion could not be completed because the "
            "input matrix is singular."
        )
    return inverse


_inv = define(
    "linalg_inv_ex", _inverse, outputs=("inverse",),
    A=lambda grad, inverse: -(adjoint(inverse) @ (grad @ adjoint(inverse))),
)  # fmt: skip


@method("inverse")
def inv(A: Tensor) -> Tensor:
    """The inverse of a square matrix, or of each of a batch. Raises LinAlgError for singular matrices."""
    check_matrices("linalg.inv", A, kernel=LOW_PRECISION)
    return _inv(A)


inverse = inv


def solve_arrays(A: ndarray, B: ndarray) -> ndarray:
    """X with A X = B for matrices B."""
    try:
        return by_columns(np.linalg.solve(A, B))
    except np.linalg.LinAlgError:
        where_, _ = first_failing(A, zero_pivot)
        raise LinAlgError(
            f"torch.linalg.solve: {where_}The solver failed because the input matrix is singular."
        ) from None


def is_vector(A, B) -> bool:
    """PyTorch's rule: is B a (batch of) vectors rather than of matrices?"""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape)


def _solve_forward(A: ndarray, B: ndarray, left: bool) -> ndarray:
    if is_vector(A, B):
        return solve_arrays(A, B[..., None])[..., 0]
    if not left:
        return adjoint(solve_arrays(adjoint(A), adjoint(B)))
    return solve_arrays(A, B)


def solve_adjoint(A, grad, left: bool):
    """The gradient of B in A X = B: the solution of Aᵀ Y = grad."""
    return _solve(adjoint(A), grad, left)


def solve_backward(grad, grad_input_mask, A, result, left: bool):
    """In A X = B (or X A = B) the gradient of B is G = A⁻ᵀ grad, that of A is -G Xᵀ."""
    G = solve_adjoint(A, grad, left)
    if not grad_input_mask[0]:
        return None, G
    if is_vector(A, result):
        return (-G)[..., None] * result[..., None, :], G
    return -(G @ adjoint(result)) if left else -(adjoint(result) @ G), G


_solve = define("linalg_solve_ex", _solve_forward, broadcasts=True, A=solve_backward, B=solve_backward)


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution X of A X = B (X A = B if not `left`), for square A. B may be a vector. Raises LinAlgError if singular."""
    check_matrices("linalg.solve", A, kernel=LOW_PRECISION)
    check_equation("linalg.solve", A, B, left, is_vector(A._array, B._array))
    if A._array.dtype != B._array.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{dtypes.word(A._array.dtype)} and B of type {dtypes.word(B._array.dtype)} instead"
        )
    return _solve(A, B, left)


def cofactors(grad, A, result):
    """The gradient of det(A): grad · det(A) A⁻ᵀ, which is the matrix of cofactors and exists for singular A too."""
    if A.shape[-1] < 2 or 0 in A.shape:
        return zeros_like(A) + grad[..., None, None]
    if not is_array(A):
        if np.all(result._array != 0):
            return (grad * result)[..., None, None] * adjoint(_inv(A))
        U, S, Vh = linalg_svd(A)  # cofactors of U S Vᵀ: det(U) det(V) U (Π_{j≠i} s_j) Vᵀ
        others = products_of_others(S) * (det(U) * det(Vh) * grad)[..., None]
        return (U * others[..., None, :]) @ Vh
    scale = grad * result
    try:
        inverse = np.linalg.inv(A)
        if np.all(result != 0):
            return scale[..., None, None] * adjoint(inverse)
    except np.linalg.LinAlgError:
        pass
    U, S, Vh = np.linalg.svd(A)
    sign = np.linalg.det(U) * np.linalg.det(Vh) * grad
    return (U * (products_of_others(S) * sign[..., None])[..., None, :]) @ Vh


def products_of_others(S):
    """Π_{j≠i} s_j for each i."""
    n = S.shape[-1]
    keep = 1 - eye_like(S)
    square = S[..., None, :] * keep + (1 - keep)
    return square.prod(-1) if n else S


_det = define(
    "linalg_det", lambda A: np.asarray(np.linalg.det(A), A.dtype),
    A=lambda grad, A, result: cofactors(grad, A, result),
)  # fmt: skip


@method()
def det(A: Tensor) -> Tensor:
    """The determinant of a square matrix, or of each of a batch."""
    check_matrices("linalg.det", A, kernel="lu_cpu")
    return _det(A)


def _slogdet_A(grad, A):
    """Only log|det| has a gradient: A⁻ᵀ."""
    grad = grad[1]
    if grad is None:
        return None
    return grad[..., None, None] * adjoint(_inv(A))


_slogdet = define(
    "linalg_slogdet", lambda A: tuple(np.asarray(part, A.dtype) for part in np.linalg.slogdet(A)),
    outputs=("sign", "logabsdet"),
    A=lambda grad, A: _slogdet_A(grad, A),
)  # fmt: skip
SlogdetResult = results("linalg_slogdet", "sign", "logabsdet")
OldSlogdetResult = results("slogdet", "sign", "logabsdet")


def linalg_slogdet(A: Tensor) -> SlogdetResult:
    """The sign and the logarithm of the absolute value of the determinant."""
    check_matrices("linalg.slogdet", A, kernel=LOW_PRECISION)
    return SlogdetResult(*_slogdet(A))


@method()
def slogdet(input: Tensor) -> OldSlogdetResult:
    """The sign and the logarithm of the absolute value of the determinant."""
    return OldSlogdetResult(*linalg_slogdet(input))


@method()
def logdet(A: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where that is negative."""
    check_matrices("logdet", A, kernel=LOW_PRECISION)
    sign, logabsdet = _slogdet(A)
    return where(sign == -1, float("nan"), logabsdet)


# ---------------------------------------------------------------- triangular systems, Cholesky


def triangle(A, upper: bool, unitriangular: bool = False):
    """One triangle of A, with ones on the diagonal if `unitriangular`; of an array or a Tensor."""
    if unitriangular:
        return (_triu(A, 1) if upper else _tril(A, -1)) + eye_like(A)
    return _triu(A, 0) if upper else _tril(A, 0)


def _solve_triangular_forward(
    self: ndarray, B: ndarray, upper: bool, left: bool, unitriangular: bool
) -> ndarray:
    A = triangle(self, upper, unitriangular)
    try:
        X = _solve_forward(A, B, left)
    except LinAlgError:  # a zero on the diagonal, which PyTorch divides by all the same
        X = substituted(A, B, upper) if left else adjoint(substituted(adjoint(A), adjoint(B), not upper))
    return X if left else by_columns(X)


def substituted(A: ndarray, B: ndarray, upper: bool) -> ndarray:
    """X with A X = B for triangular A, row by row."""
    n, shape = A.shape[-1], np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    X = np.zeros((*shape, *B.shape[-2:]), B.dtype)
    with np.errstate(all="ignore"):
        for i in reversed(range(n)) if upper else range(n):
            known = slice(i + 1, n) if upper else slice(0, i)
            rest = B[..., i, :] - np.add.reduce(A[..., i, known, None] * X[..., known, :], axis=-2)
            X[..., i, :] = rest / A[..., i, i, None]
    return X


def _triangular_self(grad, self, result, upper: bool, left: bool, unitriangular: bool):
    G = _solve_triangular(adjoint(self), grad, not upper, left, unitriangular)
    full = -(G @ adjoint(result)) if left else -(adjoint(result) @ G)
    k = int(unitriangular)
    return _triu(full, k) if upper else _tril(full, -k)


_solve_triangular = define(
    "linalg_solve_triangular", _solve_triangular_forward, broadcasts=True,
    self=lambda grad, self, result, upper, left, unitriangular:
        _triangular_self(grad, self, result, upper, left, unitriangular),
    B=lambda grad, self, upper, left, unitriangular:
        _solve_triangular(adjoint(self), grad, not upper, left, unitriangular),
)  # fmt: skip


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """The solution X of A X = B (X A = B if not `left`), where only one triangle of A is read."""
    name = "linalg.solve_triangular"
    check_matrices(name, A, floating=False, kernel="triangular_solve_cpu")
    check_equation(name, A, B, left)
    return _solve_triangular(A, B, bool(upper), bool(left), bool(unitriangular))


def _cholesky_forward(self: ndarray, upper: bool, name: str = "linalg.cholesky") -> ndarray:
    try:
        L = np.linalg.cholesky(adjoint(self) if upper else self)
    except np.linalg.LinAlgError:
        L = None
    if L is None or _has_nan(L):
        where_, order = first_failing(self, failing_minor)
        raise LinAlgError(
            f"{name}: {where_}The factorization could not be completed because the input is not positive-definite "
            f"(the leading minor of order {order} is not positive-definite)."
        )
    return adjoint(L) if upper else by_columns(L)


def _has_nan(L: ndarray) -> bool:
    """Is there a NaN in a Cholesky factor? There is one on the diagonal then, and argmax finds it."""
    diagonal = L.diagonal(0, -2, -1)
    return bool(L.size) and math.isnan(diagonal.item(diagonal.argmax()))


def failing_minor(A: ndarray) -> int:
    """The order of the first leading minor that is not positive definite, 0 if there is none."""
    for k in range(1, A.shape[0] + 1):
        try:
            L = np.linalg.cholesky(A[:k, :k])
        except np.linalg.LinAlgError:
            return k
        if _has_nan(L):
            return k
    return 0


def cholesky_backward(grad, L, upper: bool):
    """½ L⁻ᵀ (Φ + Φᵀ) L⁻¹ with Φ = tril(Lᵀ grad), its diagonal halved (Murray 2016, section 4)."""
    if upper:
        grad, L = adjoint(grad), adjoint(L)
    plain, n = is_array(grad), L.shape[-1]
    product = ndarray.dot if plain and L.ndim == 2 else operator.matmul
    phi = product(adjoint(L), grad)
    phi = where(below(n, n, 0), phi, adjoint(phi))
    if plain:
        inverse = np.linalg.inv(L)
        return product(adjoint(inverse), product(phi, inverse)) * 0.5
    right = _solve_triangular(L, phi, False, False, False)
    return _solve_triangular(adjoint(L), right, True, True, False) * 0.5


def cholesky_tangent(primals, tangents, results, params):
    """L Φ(L⁻¹ dA L⁻ᵀ), where Φ takes the lower triangle with half of the diagonal. Of dA, that triangle is what counts."""
    (dA,), (L,), (upper,) = tangents, results, params
    L = adjoint(L) if upper else L
    inner = _solve_triangular(L, dA, False, True, False)
    inner = _solve_triangular(adjoint(L), inner, True, False, False)
    dL = L @ (_tril(inner, 0) + _tril(inner, -1)) * 0.5
    return adjoint(dL) if upper else dL


_cholesky = define(
    "linalg_cholesky_ex", _cholesky_forward, outputs=("L",), jvp=cholesky_tangent,
    self=lambda grad, L, upper: cholesky_backward(grad, L, upper),
)  # fmt: skip


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with A = L Lᵀ (or Lᵀ, if `upper`). Raises LinAlgError unless A is positive definite."""
    check_matrices("linalg.cholesky", A, kernel="cholesky_cpu")
    return _cholesky(A, bool(upper))


# ---------------------------------------------------------------- QR, eigenvalues, singular values


def given(grads, like: Sequence):
    """The gradients of several results, zeros for those that have none."""
    return [
        g if g is not None else (np.zeros_like(x) if is_array(x) else wrap(np.zeros_like(x._array)))
        for g, x in zip(grads, like, strict=True)
    ]


def qr_backward(grad, Q, R, mode: str):
    """Of the square or tall case: [gQ + Q copyltu(R gRᵀ - gQᵀ Q)] R⁻ᵀ. A wide A is its square part and QᵀA's rest."""
    gQ, gR = given(grad, (Q, R))
    m, n = Q.shape[-2], R.shape[-1]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to require gradients."
        )
    if mode == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    if m >= n:
        return _qr_square(gQ, gR, Q, R)
    U, rest = R[..., :m], R[..., m:]
    Y = Q @ rest
    gX = _qr_square(gQ + Y @ adjoint(gR[..., m:]), gR[..., :m], Q, U)
    return joined_columns(gX, Q @ gR[..., m:])


def _qr_square(gQ, gR, Q, R):
    M, n = R @ adjoint(gR) - adjoint(gQ) @ Q, R.shape[-1]
    right = gQ + Q @ where(below(n, n, 0), M, adjoint(M))
    return _solve_triangular(adjoint(R), right, False, False, False)


def joined_columns(a, b):
    """[a b] for arrays or Tensors."""
    if is_array(a):
        return np.concatenate([a, b], axis=-1)
    return cat([a, b], -1)


def _qr_forward(A: ndarray, mode: str) -> tuple[ndarray, ndarray]:
    if mode == "r":
        return np.empty((0,), A.dtype), by_columns(np.linalg.qr(A, "r"))
    Q, R = np.linalg.qr(A, mode)
    return by_columns(Q), by_columns(R)


_qr = define(
    "linalg_qr", _qr_forward, outputs=("Q", "R"),
    A=lambda grad, Q, R, mode: qr_backward(grad, Q, R, mode),
)  # fmt: skip
QrResult = results("linalg_qr", "Q", "R")


def qr(A: Tensor, mode: str = "reduced") -> QrResult:
    """A = Q R with orthonormal columns in Q and an upper triangular R. mode: "reduced", "complete" or "r" (no Q)."""
    check_matrices("linalg.qr", A, square=False, kernel="geqrf_cpu")
    if not isinstance(mode, str):
        raise TypeError("the mode of a QR factorisation is a word")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return QrResult(*_qr(A, mode))


def eigh_backward(grad, eigenvalues, eigenvectors):
    """V (diag(gL) + (Vᵀ gV) / (λⱼ - λᵢ)) Vᵀ, made symmetric as A is."""
    gL, gV = grad
    L, V = eigenvalues, eigenvectors
    if gV is None:
        full = V @ (gL[..., None] * adjoint(V))
        return full if is_array(full) else (full + adjoint(full)) * 0.5
    eye = eye_like(V)
    inner = (adjoint(V) @ gV) / (L[..., None, :] - L[..., None] + eye) * (1 - eye)
    full = V @ (inner if gL is None else inner + gL[..., None] * eye) @ adjoint(V)
    return (full + adjoint(full)) * 0.5


def diag_matrix(v):
    """The diagonal matrix of a vector, an array or a Tensor."""
    return v[..., None] * eye_like(v)


def _eigh_forward(A: ndarray, UPLO: str) -> tuple[ndarray, ndarray]:
    values, vectors = np.linalg.eigh(A, UPLO)
    return values, by_columns(vectors)


def eigh_tangent(primals, tangents, results, params):
    """dλ = diag(Vᵀ dA V), dV = V (Vᵀ dA V / (λⱼ - λᵢ)), off the diagonal."""
    (dA,), (L, V) = tangents, results
    inner, eye = adjoint(V) @ dA @ V, eye_like(V)
    gaps = L[..., None, :] - L[..., None] + eye
    return diagonal(inner, 0, -2, -1), V @ (inner / gaps * (1 - eye))


_eigh = define(
    "linalg_eigh", _eigh_forward, outputs=("eigenvalues", "eigenvectors"), jvp=eigh_tangent,
    A=lambda grad, eigenvalues, eigenvectors: eigh_backward(grad, eigenvalues, eigenvectors),
)  # fmt: skip
EighResult = results("linalg_eigh", "eigenvalues", "eigenvectors")


def eigh(A: Tensor, UPLO: str = "L") -> EighResult:
    """Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix, of which one triangle is read."""
    check_matrices("linalg.eigh", A, floating=False, kernel="linalg_eigh_cpu")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return EighResult(*_eigh(A, UPLO.upper()))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of a symmetric matrix, ascending."""
    return eigh(A, UPLO).eigenvalues


def svd_backward(grad, U, S, Vh, full_matrices: bool):
    """The gradient of A = U diag(S) Vᵀ; where the singular vectors have none, simply U diag(gS) Vᵀ."""
    gU, gS, gVh = grad
    k = S.shape[-1]
    m, n = U.shape[-2], Vh.shape[-1]
    if full_matrices:
        if (gU is not None and m > k) or (gVh is not None and n > k):
            U, Vh = U[..., :k], Vh[..., :k, :]
            gU = None if gU is None else gU[..., :k]
            gVh = None if gVh is None else gVh[..., :k, :]
        U, Vh = U[..., :k], Vh[..., :k, :]
    if gU is None and gVh is None:
        return (U * gS[..., None, :]) @ Vh
    gaps = S[..., None, :] * S[..., None, :] - S[..., None] * S[..., None]
    gaps = gaps + eye_like(gaps)
    inner = None
    if gU is not None:
        skew = adjoint(U) @ gU
        inner = ((skew - adjoint(skew)) / gaps) * S[..., None, :]
    if gVh is not None:
        skew = Vh @ adjoint(gVh)
        part = S[..., None] * ((skew - adjoint(skew)) / gaps)
        inner = part if inner is None else inner + part
    if gS is not None:
        inner = inner + diag_matrix(gS)
    if m > k and gU is not None:
        gA = U @ inner + (gU - U @ (adjoint(U) @ gU)) / S[..., None, :]
        gA = gA @ Vh
    else:
        gA = (U @ inner) @ Vh
    if n > k and gVh is not None:
        rest = (gVh - (gVh @ adjoint(Vh)) @ Vh) / S[..., None]
        gA = gA + U @ rest
    return gA


def _svd_forward(A: ndarray, full_matrices: bool, vectors: bool = True) -> tuple[ndarray, ndarray, ndarray]:
    """vectors: whether U and Vᵀ are to be seen, or are for the derivative alone."""
    U, S, Vh = singular(A, full_matrices)
    return (by_columns(U), S, by_columns(Vh)) if vectors else (U, S, Vh)


def singular(A: ndarray, full_matrices: bool = False) -> tuple[ndarray, ndarray, ndarray]:
    """(U, S, Vᵀ). Raises PyTorch's error for numbers that are not finite."""
    try:
        return tuple(np.linalg.svd(A, full_matrices))
    except np.linalg.LinAlgError:
        place, _ = first_failing(A, lambda matrix: not np.isfinite(matrix).all())
    raise LinAlgError(
        f"linalg.svd: {place}The algorithm failed to converge because the input matrix contained non-finite values."
    )


_svd = define(
    "linalg_svd", _svd_forward, outputs=("U", "S", "Vh"),
    A=lambda grad, U, S, Vh, full_matrices: svd_backward(grad, U, S, Vh, full_matrices),
)  # fmt: skip
SvdResult, OldSvdResult = results("linalg_svd", "U", "S", "Vh"), results("svd", "U", "S", "V")


def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: None = None) -> SvdResult:
    """A = U diag(S) Vᵀ with orthonormal U and V and singular values S ≥ 0, descending. `driver` is for CUDA."""
    refuse_driver("svd", driver)
    check_matrices("linalg.svd", A, square=False, kernel="linalg_svd_cpu")
    return SvdResult(*_svd(A, bool(full_matrices)))


def refuse_driver(name: str, driver: object) -> None:
    if driver is not None:
        raise RuntimeError(
            f"torch.linalg.{name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


def svdvals(A: Tensor, *, driver: None = None) -> Tensor:
    """The singular values of a matrix, descending. `driver` is for CUDA."""
    refuse_driver("svd", driver)
    check_matrices("linalg.svd", A, square=False, kernel="linalg_svd_cpu")
    return _svd(A, False, False)[1]


@method()
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> OldSvdResult:
    """The older form of `linalg.svd`: gives V, not its transpose."""
    if input._array.ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {input._array.ndim} dimensions instead"
        )
    check_matrices("linalg.svd", input, square=False, kernel="linalg_svd_cpu")
    if not compute_uv:
        *batch, m, n = input._array.shape
        U, Vh = (input.new_zeros((*batch, k, k)) for k in (m, n))
        return OldSvdResult(U, svdvals(input), transpose(Vh, -2, -1))
    U, S, Vh = _svd(input, not some)
    return OldSvdResult(U, S, transpose(Vh, -2, -1))


# ---------------------------------------------------------------- pseudo-inverse, least squares, powers


def pinv_backward(grad, result, self):
    """Golub and Pereyra (1973), "The differentiation of pseudo-inverses", formula 4.12."""
    A, P = self, result
    Pt, Gt = adjoint(P), adjoint(grad)
    if A.shape[-2] <= A.shape[-1]:
        K = Gt @ P
        KPt = K @ Pt
        return -adjoint(P @ K) + KPt - (A @ P) @ KPt + (Pt @ P) @ (Gt - K @ A)
    K = P @ Gt
    PtK = Pt @ K
    return -adjoint(K @ P) + (Gt - A @ K) @ P @ Pt + PtK - (PtK @ P) @ A


def _pinv_forward(self: ndarray, rtol: ndarray, hermitian: bool, atol: ndarray | None = None) -> ndarray:
    if rtol is None:
        rtol = max(self.shape[-2:]) * np.finfo(self.dtype).eps
    if not np.isfinite(self).all():
        singular(self)
    # a share of the largest singular value, as NumPy wants it
    if atol is not None and self.size and np.any(atol != 0):
        rtol = np.maximum(rtol, atol / np.linalg.svd(self, compute_uv=False).max(axis=-1))
    return np.linalg.pinv(self, rcond=rtol, hermitian=hermitian).astype(self.dtype, copy=False)


def tolerances(A: Tensor, atol: float | Tensor | None, rtol: float | Tensor | None) -> tuple[Tensor, Tensor]:
    """Below what a singular value counts as zero, absolutely and as a share of the largest, in double precision.

    By default the share is epsilon times the longer side of the matrices, or 0 where `atol` is positive.
    """
    given = (
        None if t is None else t if isinstance(t, Tensor) else wrap(np.asarray(t, np.float64))
        for t in (atol, rtol)
    )
    atol, rtol = given
    if rtol is None:
        usual = wrap(np.asarray(np.finfo(A._array.dtype).eps * max(A._array.shape[-2:]), np.float64))
        rtol = usual if atol is None else where(atol > 0, wrap(np.zeros(())), usual)
    return wrap(np.zeros(())) if atol is None else atol, rtol


_pinv = define(
    "linalg_pinv", _pinv_forward,
    self=lambda grad, result, self: pinv_backward(grad, result, self),
)  # fmt: skip


def pinv(
    A: Tensor,
    rcond: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """The Moore-Penrose inverse: singular values below `atol`, or `rtol` (`rcond`) times the largest, count as zero."""
    if A._array.ndim < 2 or A._array.dtype.char not in "fd":
        raise RuntimeError(
            f"linalg.pinv({dtypes.word(A._array.dtype)}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of "
            "float, double, cfloat or cdouble types"
        )
    if hermitian:
        check_matrices("linalg.eigh", A)
    atol, rtol = tolerances(A, atol, rcond if rtol is None else rtol)
    return _pinv(A, rtol._array, bool(hermitian), atol._array)


@method()
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The Moore-Penrose inverse."""
    return pinv(input, rtol=rcond)


def lstsq_backward(grad, self, b, solution, wants_A: bool):
    """Through X = A⁺ B and through the residuals Σ (A X - B)², which do not change with X: it is the best already."""
    gX, gL = grad
    if b.ndim == self.ndim - 1:  # vectors
        given = None if gX is None else gX[..., None]
        total = lstsq_backward((given, gL), self, b[..., None], solution[..., None], wants_A)
        return total if wants_A or total is None else total[..., 0]
    total = None
    if gX is not None:
        P = _pinv(self, None, False)
        total = pinv_backward(gX @ adjoint(b), P, self) if wants_A else adjoint(P) @ gX
    if gL is not None and gL.shape != (0,):
        step = (self @ solution - b) * (2 * gL[..., None, :])
        part = step @ adjoint(solution) if wants_A else -step
        total = part if total is None else total + part
    return total


def _lstsq_forward(self: ndarray, b: ndarray, driver: str, rcond: float | None) -> tuple[ndarray, ...]:
    """Solution, residuals, rank and singular values, the last three where the driver gives them."""
    if b.ndim == self.ndim - 1:
        X, *rest = _lstsq_forward(self, b[..., None], driver, rcond)
        return X[..., 0], *rest
    (m, n), none = self.shape[-2:], np.empty((0,), self.dtype)
    X = by_columns(_pinv_forward(self, rcond, False) @ b)
    S = np.linalg.svd(self, compute_uv=False)
    cut = max(m, n) * np.finfo(self.dtype).eps if rcond is None else rcond
    rank = np.asarray((cut * S.max(axis=-1, keepdims=True, initial=0) < S).sum(axis=-1), np.int64)
    residuals = none
    if driver != "gelsy" and m > n and (driver == "gels" or np.all(rank == n)):
        difference = b - self @ X
        residuals = np.add.reduce(difference * difference, axis=-2)
    rank = np.empty((0,), np.int64) if driver == "gels" else rank
    return X, residuals, rank, S if driver in ("gelsd", "gelss") else none


_lstsq = define(
    "linalg_lstsq", _lstsq_forward, outputs=("solution", "residuals", "rank", "singular_values"),
    constants=("rank", "singular_values"),
    self=lambda grad, self, b, solution: lstsq_backward(grad, self, b, solution, True),
    b=lambda grad, self, b, solution: lstsq_backward(grad, self, b, solution, False),
)  # fmt: skip
LstsqResult = results("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> LstsqResult:
    """X that makes |A X - B| smallest, and the rank of A. All of PyTorch's drivers give the same X.

    With the drivers "gels", "gelsd" and "gelss" also the squared residuals, if A is tall and of full rank.
    """
    a, b, name = A._array, B._array, "torch.linalg.lstsq"
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {dtypes.word(a.dtype)} and "
            f"other's dtype {dtypes.word(b.dtype)}"
        )
    if not 0 <= a.ndim - b.ndim <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
        )
    rows = -1 if a.ndim > b.ndim else -2
    if a.shape[-2] != b.shape[rows]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({rows})")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if a.dtype.char not in "fd":
        raise RuntimeError("This function doesn't handle types other than float and double")
    return LstsqResult(*_lstsq(A, B, driver or "gelsy", rcond))


@method()
def matrix_power(A: Tensor, n: int) -> Tensor:
    """A multiplied with itself n times; the inverse of that for negative n."""
    check_matrices("linalg.matrix_power", A, floating=False)
    if not isinstance(n, int):
        raise TypeError("the power of a matrix is a whole number")
    if n == 0:
        return clone(A).copy_(wrap(np.eye(A._array.shape[-1], dtype=A._array.dtype)))
    if n == -1:
        return inv(A)
    if n < 0:
        A, n = inv(A), -n
    if n == 1:
        return clone(A)
    if n == 2:
        return matmul(A, A)
    if n == 3:
        return matmul(matmul(A, A), A)
    result = power = None
    while n:  # square and multiply
        power = A if power is None else matmul(power, power)
        n, bit = divmod(n, 2)
        if bit:
            result = power if result is None else matmul(result, power)
    return result


def exponential(A: ndarray) -> ndarray:
    """e^A by scaling and squaring: a Taylor polynomial of A / 2^s, squared s times."""
    norm = np.max(np.add.reduce(np.abs(A), axis=-2), initial=0.0)
    s = max(0, int(np.ceil(np.log2(norm / 0.25)))) if norm > 0.25 else 0
    X = A / np.asarray(2.0**s, A.dtype)
    term = result = np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape)
    for k in range(1, 15):
        term = term @ X / np.asarray(k, A.dtype)
        result = result + term
    for _ in range(s):
        result = result @ result
    return result


def exponential_backward(grad, self):
    """The upper right block of exp [[Aᵀ, grad], [0, Aᵀ]] (Al-Mohy and Higham 2009)."""
    n, At = self.shape[-1], adjoint(self)
    zero = At * 0
    top, bottom = joined_columns(At, grad), joined_columns(zero, At)
    big = adjoint(joined_columns(adjoint(top), adjoint(bottom)))
    return _matrix_exp(big)[..., :n, n:]


_matrix_exp = define(
    "linalg_matrix_exp", exponential,
    jvp=lambda primals, tangents, results, params: exponential_backward(tangents[0], adjoint(primals[0])),
    self=lambda grad, self: exponential_backward(grad, self),
)  # fmt: skip


@method()
def matrix_exp(A: Tensor) -> Tensor:
    """The matrix exponential, Σ Aᵏ / k!."""
    check_matrices("linalg.matrix_exp", A)
    return _matrix_exp(A)


__all__ = ["det", "inverse", "logdet", "matrix_exp", "matrix_power", "pinverse", "slogdet", "svd"]
