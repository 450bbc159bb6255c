"""Decompositions of matrices: singular values, Cholesky, QR, the pseudo-inverse, the logarithm of a determinant; powers.

Formulas: M. B. Giles, "Collected matrix derivative results" (2008), and J. Townsend, "Differentiating the singular value
decomposition" (2016). They hold for batches of matrices.
"""

from __future__ import annotations

import math

import numpy as np

from ..basics import check, return_type
from ..tensor import Tensor, wrap
from .indexing import eye_beside, tril, triu
from .linalg import _LinAlgError, as_square, eigh, inv, times
from .pointwise import abs, where
from .shape import cat, transpose
from .table import function, is_array, op, publish

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


def _svd(A: ndarray, full_matrices: bool) -> tuple[ndarray, ndarray, ndarray]:
    check(A.ndim >= 2, "linalg.svd: The input tensor A must have at least 2 dimensions.")
    check(
        A.dtype.kind == "f",
        "linalg.svd: Expected a floating point or complex tensor as input. Got {.word}",
        A.dtype,
    )
    return tuple(np.linalg.svd(A, full_matrices))


def svd_backward(grad, U, S, Vh, full_matrices):
    """U (((UᵀgU - gUᵀU) / E) S + S ((VᵀgV - gVᵀV) / E) + diag(gS)) Vᵀ, where E is sⱼ² - sᵢ²; more terms if A is not square."""
    gU, gS, gVh = grad
    k = S.shape[-1]
    U, Vh = (
        U[..., :k],
        Vh[..., :k, :],
    )  # the additional vectors of full_matrices do not depend smoothly on A
    gU, gVh = None if gU is None else gU[..., :k], None if gVh is None else gVh[..., :k, :]
    if gU is None and gVh is None:
        return (U * gS[..., None, :]) @ Vh
    eye, squares = eye_beside(U, k, k), S * S
    E = squares[..., None, :] - squares[..., :, None] + eye
    inner = 0 if gS is None else gS[..., None] * eye
    if gU is not None:
        turn = U.mT @ gU
        inner = inner + ((turn - turn.mT) / E) * S[..., None, :]
    if gVh is not None:
        turn = Vh @ gVh.mT
        inner = inner + S[..., :, None] * ((turn - turn.mT) / E)
    result = U @ inner @ Vh
    if gU is not None and U.shape[-2] > k:
        result = result + ((gU - U @ (U.mT @ gU)) / S[..., None, :]) @ Vh
    if gVh is not None and Vh.shape[-1] > k:
        result = result + U @ ((gVh - (gVh @ Vh.mT) @ Vh) / S[..., :, None])
    return result


def _cholesky(name: str, A: ndarray, upper: bool) -> ndarray:
    try:
        L = np.linalg.cholesky(as_square(name.removeprefix("linalg."), A))
    except np.linalg.LinAlgError:
        full, n = np.tril(A) + np.tril(A, -1).mT, A.shape[-1]
        k = next((k for k in range(1, n + 1) if np.linalg.eigvalsh(full[..., :k, :k]).min() <= 0), n)
        text = "The factorization could not be completed because the input is not positive-definite (the leading minor of order"
        raise _LinAlgError(f"{name}: {text} {k} is not positive-definite).") from None
    return L.mT if upper else L


def cholesky_backward(grad, L, upper):
    """L⁻ᵀ Φ(Lᵀ gL) L⁻¹, made symmetric; Φ takes the lower triangle and half of the diagonal."""
    grad, L = (grad.mT, L.mT) if upper else (grad, L)
    eye = eye_beside(L, *L.shape[-1:] * 2)
    lower = tril(L.mT @ grad, 0)
    inner, back = lower - lower * eye * 0.5, inv(L)
    full = back.mT @ inner @ back
    return (full + full.mT) * 0.5


def _qr(A: ndarray, mode: str) -> tuple[ndarray, ndarray]:
    message = "qr received unrecognized mode '{}' but expected one of 'reduced' (default), 'r', or 'complete'"
    check(mode in ("reduced", "complete", "r"), message, mode)
    check(A.ndim >= 2, "linalg.qr: The input tensor A must have at least 2 dimensions.")
    if mode == "r":
        return np.zeros((0,), A.dtype), np.linalg.qr(A, "r")
    return tuple(np.linalg.qr(A, mode))


def qr_backward(grad, Q, R, mode):
    """(gQ + Q (M + Mᵀ - diag(M))) R⁻ᵀ, where M is the upper triangle of gR Rᵀ - Qᵀ gQ; a wide A is split in two."""
    gQ, gR = grad
    m, n = Q.shape[-2], R.shape[-1]
    check(mode == "reduced" or (mode == "complete" and m <= n), "The QR decomposition is not differentiable when mode='{}'"
           + (" and nrows > ncols" if mode == "complete" else ""), mode)  # fmt: skip
    gQ = Q * 0 if gQ is None else gQ
    gR = R * 0 if gR is None else gR
    if m < n:
        rest, g_rest = R[..., m:], gR[..., m:]
        square = qr_backward((gQ + (Q @ rest) @ g_rest.mT, gR[..., :m]), Q, R[..., :m], mode)
        wide = Q @ g_rest
        return np.concatenate([square, wide], -1) if is_array(Q) else cat([square, wide], -1)
    M = triu(gR @ R.mT - Q.mT @ gQ, 0)
    inner = M + M.mT - M * eye_beside(Q, *M.shape[-1:] * 2)
    return (gQ + Q @ inner) @ inv(R).mT


def _pinv(self: ndarray, rcond: float | None) -> ndarray:
    message = "expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
    floating = self.ndim >= 2 and self.dtype.kind == "f"
    check(floating, "linalg.pinv({.word}{{{}}}): " + message, self.dtype, self.shape)
    return np.linalg.pinv(self, rcond)


def pinv_backward(grad, self, result):
    """Golub & Pereyra 1973: as for an inverse, plus the parts outside the ranges of A and Aᵀ."""
    back, g = result, grad.mT
    if self.shape[-2] <= self.shape[-1]:
        K = g @ back
        shown = K @ back.mT
        return -(back @ K).mT + shown - (self @ back) @ shown + (back.mT @ back) @ (g - K @ self)
    K = back @ g
    shown = back.mT @ K
    return -(K @ back).mT + (g - self @ K) @ back @ back.mT + shown - (shown @ back) @ self


def _slogdet(A: ndarray) -> tuple[ndarray, ndarray]:
    sign, log = np.linalg.slogdet(as_square("slogdet", A))
    return np.asarray(sign), np.asarray(log)


def slogdet_backward(grad, A):
    of_log = grad[1]
    return A * 0 if of_log is None else of_log[..., None, None] * inv(A).mT


# fmt: off
# ---------------------------------------------------------------- declarations

ROWS = {"batch": "rows"}
svd = op("linalg_svd(A, full_matrices: bool=True)", _svd, at="linalg", outputs=("U", "S", "Vh"), **ROWS, A=svd_backward,
         doc="(U, S, Vh) with A = U diag(S) Vh: orthonormal columns, descending singular values, orthonormal rows.")
cholesky = op("linalg_cholesky(A, *, upper: bool=False)", lambda A, upper: _cholesky("linalg.cholesky", A, upper), at="linalg",
    outputs=("L",), node="LinalgCholeskyExBackward0", **ROWS, A=cholesky_backward,
    doc="The lower triangular L with A = L Lᵀ (`upper`: its transpose). Raises LinAlgError if A is not positive-definite.")
qr = op("linalg_qr(A, mode: str='reduced')", _qr, at="linalg", outputs=("Q", "R"), **ROWS, A=qr_backward,
        doc="(Q, R) with A = Q R: Q has orthonormal columns, R is upper triangular. mode: \"reduced\", \"complete\" or \"r\".")
pinv = op("linalg_pinv(self, rcond: Scalar | None=None)", _pinv, at="linalg", **ROWS, self=pinv_backward,
          doc="The pseudo-inverse. Singular values up to `rcond` times the largest count as 0; by default rounding decides.")
slogdet = op("linalg_slogdet(A)", _slogdet, at="linalg", outputs=("sign", "logabsdet"), **ROWS, A=slogdet_backward,
             doc="(sign, logabsdet): the sign of the determinant and the logarithm of its absolute value.")
# fmt: on

publish(slogdet, "slogdet", "torch Tensor")

# ---------------------------------------------------------------- composed of other operations


@function("torch Tensor")
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverse. Singular values up to `rcond` times the largest count as 0."""
    return pinv(input, rcond)


# What `svd` returns: the columns of V are the rows of `linalg.svd`'s Vh.
OldSvd = return_type("svd", ("U", "S", "V"))


@function("linalg")
def svdvals(A: Tensor) -> Tensor:
    """The singular values, in descending order."""
    return svd(A, False)[1]


@function("torch Tensor")
def logdet(A: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where the determinant is negative."""
    message = "logdet: Expected a floating point or complex tensor as input. Got {.word}"
    check(A.is_floating_point(), message, A._array.dtype)
    sign, logarithm = slogdet(A)
    return where(sign.detach() == -1, math.nan, logarithm)


@function("linalg")
def matrix_rank(A: Tensor, *, tol: float | None = None, hermitian: bool = False) -> Tensor:
    """How many singular values are larger than `tol` (chosen for the dtype by default): int64."""
    values = (abs(eigh(A.detach())[0]) if hermitian else svdvals(A.detach())).numpy()
    if tol is None:
        largest = values.max(-1, keepdims=True, initial=0)
        tol = np.finfo(values.dtype).eps * max(A._array.shape[-2:]) * largest
    return wrap((values > tol).sum(-1))


@function("linalg", name="matrix_power")
def matrix_power(A: Tensor, n: int) -> Tensor:
    """A to the power n: a product of n factors A, or of |n| factors A⁻¹ if n is negative."""
    as_square("matrix_power", A._array, floating=n < 0)
    if n == 0:
        return A.clone().copy_(wrap(np.eye(A.size(-1), dtype=A._array.dtype)))
    A, n = (inv(A), -n) if n < 0 else (A, n)
    if n <= 3:
        return A if n == 1 else times(A, A) if n == 2 else times(times(A, A), A)
    result, square = None, None
    while n:  # multiply the squares selected by the binary digits of n
        square = A if square is None else times(square, square)
        n, digit = divmod(n, 2)
        if digit:
            result = square if result is None else times(result, square)
    return result


publish(matrix_power, "matrix_power", "torch Tensor")


@function("torch Tensor", name="svd")
def thin_svd(input: Tensor, some: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) with input = U diag(S) Vᵀ. The newer form is `linalg.svd`, which gives Vᵀ."""
    U, S, Vh = svd(input, not some)
    return OldSvd(U, S, transpose(Vh, -2, -1))
