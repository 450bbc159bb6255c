"""LU factors, eigenvalues of any matrix, equations solved with factors, and equations between tensors.

Formulas: M. B. Giles, "Collected matrix derivative results" (2008); for LU of matrices that are not square see
F. R. de Hoog, R. S. Anderssen, M. A. Lukas, "Differentiation of matrix functionals using triangular factorization" (2011).
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from ..tensor import Tensor, wrap
from .arranging import _tril, _triu, flip
from .choice import zeros_like
from .decompositions import (
    LinAlgError,
    _cholesky_forward,
    _solve_triangular,
    adjoint,
    by_columns,
    check_equation,
    check_matrices,
    cholesky_backward,
    cholesky_tangent,
    diag_matrix,
    eliminate,
    eye_like,
    first_failing,
    first_zero,
    given,
    inv,
    joined_columns,
    qr,
    results,
    solve,
    zero_pivot,
)
from .joining import cat, stack
from .scan import cumprod
from .selecting import masked_select
from .shape import broadcast_pair, expand, flatten, meshgrid, movedim, reshape, unsqueeze
from .table import define, is_array, method

ndarray = np.ndarray


# ---------------------------------------------------------------- LU


def factored(A: ndarray, check: bool = False) -> tuple[ndarray, ndarray]:
    """(L and U in one matrix, the row exchanges counted from 1) of each matrix.

    check: whether a zero on the diagonal of U is an error.
    """
    LU, pivots = by_columns(A), np.empty((*A.shape[:-2], min(A.shape[-2:])), np.int32)
    for at in np.ndindex(A.shape[:-2]):
        pivots[at] = eliminate(LU[at])
    if check and not np.diagonal(LU, axis1=-2, axis2=-1).all():
        place, i = first_failing(LU, first_zero)
        raise RuntimeError(
            f"torch.linalg.lu_factor: {place}U[{i},{i}] is zero and using it on lu_solve would result in a division by zero. "
            "If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
            "linalg.lu_factor_ex(A, pivot)"
        )
    return LU, pivots


def permutation(pivots: ndarray, n: int, dtype: np.dtype) -> ndarray:
    """The permutation matrices P that undo row exchanges: A = P L U."""
    P = np.zeros((*pivots.shape[:-1], n, n), dtype)
    for at in np.ndindex(pivots.shape[:-1]):
        order = list(range(n))
        for i, p in enumerate(pivots[at].tolist()):
            order[i], order[p - 1] = order[p - 1], order[i]
        P[at][order, range(n)] = 1
    return P


_permutation = define("lu_permutation", permutation, pivots=None)


def joined_rows(a, b):
    """a above b, for arrays or Tensors."""
    return np.concatenate([a, b], axis=-2) if is_array(a) else cat([a, b], -2)


def parts_of(LU):
    """(L with ones on its diagonal, U) of what `lu_factor` gives; arrays or Tensors."""
    m, n = LU.shape[-2:]
    k = min(m, n)
    L, U = _tril(LU[..., :, :k], -1), _triu(LU[..., :k, :], 0)
    ones = np.eye(m, k, dtype=LU.dtype if is_array(LU) else LU._array.dtype)
    return L + (ones if is_array(LU) else wrap(ones)), U


def lu_backward(gL, gU, P, L, U):
    """P L⁻ᵀ (tril(Lᵀ gL, -1) + triu(gU Uᵀ)) U⁻ᵀ for square A; what is wide or tall is reduced to its square part."""
    m, n = L.shape[-2], U.shape[-1]
    if m < n:  # the further columns are U₂ = L⁻¹ Pᵀ A₂
        rest = _solve_triangular(adjoint(L), gU[..., m:], True, True, True)
        gL = gL - rest @ adjoint(U[..., m:])
        square = lu_backward(gL, gU[..., :m], None, L, U[..., :m])
        full = joined_columns(square, rest)
    elif m > n:  # the further rows are L₂ = A₂ U⁻¹
        rest = _solve_triangular(adjoint(U), gL[..., n:, :], False, False, False)
        gU = gU - adjoint(L[..., n:, :]) @ rest
        square = lu_backward(gL[..., :n, :], gU, None, L[..., :n, :], U)
        full = joined_rows(square, rest)
    else:
        inner = _tril(adjoint(L) @ gL, -1) + _triu(gU @ adjoint(U), 0)
        inner = _solve_triangular(adjoint(U), inner, False, False, False)
        full = _solve_triangular(adjoint(L), inner, True, True, True)
    return full if P is None else P @ full


def lu_factor_backward(grad, LU, pivots):
    """The parts of the gradient that belong to L and to U, each through its factor."""
    k = min(LU.shape[-2:])
    L, U = parts_of(LU)
    P = _permutation(pivots, L.shape[-2], LU.dtype if is_array(LU) else LU._array.dtype)
    return lu_backward(grad[..., :, :k], grad[..., :k, :], P, L, U)


def _lu_forward(A: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    LU, pivots = factored(A)
    return (permutation(pivots, A.shape[-2], A.dtype), *parts_of(LU))


_lu_factor = define(
    "linalg_lu_factor_ex", factored, outputs=("LU", "pivots"), constants=("pivots",),
    A=lambda grad, LU, pivots: lu_factor_backward(grad, LU, pivots),
)  # fmt: skip
_lu = define(
    "linalg_lu", _lu_forward, outputs=("P", "L", "U"),
    A=lambda grad, P, L, U: lu_backward(*given(grad[1:], (L, U)), P, L, U),
)  # fmt: skip
LuResult, LuFactorResult = results("linalg_lu", "P", "L", "U"), results("linalg_lu_factor", "LU", "pivots")
LuUnpackResult = results("lu_unpack", "P", "L", "U")
LuWithInfo = results("_lu_with_info", "LU", "pivots", "info")


def _check_lu(name: str, A: Tensor, pivot: bool) -> None:
    if A._array.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )
    check_matrices(name, A, square=False, floating=False, kernel="lu_cpu")
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def lu(A: Tensor, *, pivot: bool = True) -> LuResult:
    """A = P L U: a permutation, a lower triangular matrix with ones on its diagonal, an upper triangular one."""
    _check_lu("linalg.lu", A, pivot)
    P, L, U = _lu(A)
    return LuResult(P.detach(), L, U)


def lu_factor(A: Tensor, *, pivot: bool = True) -> LuFactorResult:
    """(LU, pivots): both factors in one matrix, and the row exchanges, counted from 1, as `lu_solve` takes them."""
    _check_lu("torch.lu_factor", A, pivot)
    return LuFactorResult(*_lu_factor(A, True))


@method("lu")
def lu_method(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """The older form of `linalg.lu_factor`: a tuple; get_infos: with a zero for each matrix that was factored."""
    warn_of(
        "lu", "lu_factor / torch.linalg.lu_factor_ex ",
        "LU, pivots = torch.lu(A, compute_pivots)", "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)",
        "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)",
        "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)",
    )  # fmt: skip
    _check_lu("torch.lu_factor", A, pivot)
    LU, pivots = _lu_factor(A, False)
    infos = wrap(np.zeros(A._array.shape[:-2], np.int32))
    return (LU, pivots, infos) if get_infos else (LU, pivots)


def old_lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """The older form of `linalg.lu_factor`; get_infos: with a zero for each matrix that was factored."""
    found = lu_method(A, pivot, get_infos)
    return LuWithInfo(*found) if get_infos else found


def warn_of(name: str, newer: str, *forms: str, remark: str = "") -> None:
    """PyTorch's warning that `torch.<name>` will be gone, and what to write instead: old and new form by turns."""
    pairs = [
        f"{old}\nshould be replaced with\n{new}" for old, new in zip(forms[::2], forms[1::2], strict=True)
    ]
    warnings.warn(
        f"torch.{name} is deprecated in favor of torch.linalg.{newer}and will be removed in a future PyTorch release.\n"
        + remark
        + "\nand\n".join(pairs),
        UserWarning,
        stacklevel=4,
    )


def _unpack_forward(LU_data: ndarray, LU_pivots: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    return (permutation(LU_pivots, LU_data.shape[-2], LU_data.dtype), *parts_of(LU_data))


def unpack_backward(grad, LU_data):
    """What is below the diagonal belongs to L, the rest to U."""
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    L, U = LU_data[..., :, :k], LU_data[..., :k, :]
    gL, gU = given(grad[1:], (L, U))
    gL, gU = _tril(gL, -1), _triu(gU, 0)
    if m < n:
        gL = joined_columns(gL, zeros_like(U[..., k:]))
    elif m > n:
        gU = joined_rows(gU, zeros_like(L[..., k:, :]))
    return gL + gU


_lu_unpack = define(
    "lu_unpack", _unpack_forward, outputs=("P", "L", "U"),
    LU_data=lambda grad, LU_data: unpack_backward(grad, LU_data),
    LU_pivots=None,
)  # fmt: skip


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> LuUnpackResult:
    """(P, L, U) of what `linalg.lu_factor` gave; what is not asked for is empty."""
    if LU_data._array.ndim < 2:
        raise RuntimeError(
            f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {list(LU_data.shape)} instead"
        )
    if LU_pivots._array.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype."
        )
    P, L, U = _lu_unpack(LU_data, LU_pivots)
    empty = wrap(np.empty(0, LU_data._array.dtype))
    return LuUnpackResult(
        P.detach() if unpack_pivots else empty, *((L, U) if unpack_data else (empty, empty))
    )


def _lu_solve_forward(LU: ndarray, pivots: ndarray, B: ndarray, left: bool, adjoint: bool) -> ndarray:
    L, U = parts_of(LU)
    P = permutation(pivots, LU.shape[-1], LU.dtype)
    A = P @ L @ U
    A = A.swapaxes(-1, -2) if adjoint else A
    if left:
        return by_columns(np.linalg.solve(A, B))
    return np.linalg.solve(A.swapaxes(-1, -2), B.swapaxes(-1, -2)).swapaxes(-1, -2)


def lu_solve_LU(grad, LU, pivots, result, left, flag):
    """The gradient of both factors, through R = -A⁻ᵀ grad Xᵀ (turned, if Aᵀ or X A was asked for)."""
    L, U = parts_of(LU)
    P = _permutation(pivots, LU.shape[-1], LU.dtype if is_array(LU) else LU._array.dtype)
    X, G = (result, grad) if left else (adjoint(result), adjoint(grad))  # now op(A) X = B
    if left != flag:
        Y = _lu_solve(LU, pivots, G, True, True)  # A X = B: the gradient of A is -A⁻ᵀ G Xᵀ
        gA = -(Y @ adjoint(X))
    else:
        Y = _lu_solve(LU, pivots, G, True, False)  # Aᵀ X = B
        gA = -(X @ adjoint(Y))
    R = adjoint(P) @ gA
    return _tril(R @ adjoint(U), -1) + _triu(adjoint(L) @ R, 0)


_lu_solve = define(
    "linalg_lu_solve", _lu_solve_forward, broadcasts=True,
    LU=lambda grad, LU, pivots, result, left, adjoint: lu_solve_LU(grad, LU, pivots, result, left, adjoint),
    pivots=None,
    B=lambda grad, LU, pivots, left, adjoint: _lu_solve(LU, pivots, grad, left, not adjoint),
)  # fmt: skip


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The solution X of A X = B, for the factors of A from `lu_factor`; of X A = B if not `left`, with Aᵀ if `adjoint`."""
    name = "linalg.lu_solve"
    check_matrices(f"torch.{name}", LU)
    if LU._array.dtype != B._array.dtype:
        raise RuntimeError(
            f"{name}: Expected LU and B to have the same dtype, but found LU of type {dtypes.word(LU._array.dtype)} and B of "
            f"type {dtypes.word(B._array.dtype)} instead"
        )
    if pivots._array.dtype != np.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_equation(name, LU, B, left)
    if pivots._array.shape[-1:] != LU._array.shape[-1:]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    return _lu_solve(LU, pivots, B, bool(left), bool(adjoint))


@method("lu_solve")
def old_lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The older form of `linalg.lu_solve`."""
    warn_of(
        "lu_solve", "lu_solve", "X = torch.lu_solve(B, LU, pivots)", "X = torch.linalg.lu_solve(LU, pivots, B)",
        remark="Note that torch.linalg.lu_solve has its arguments reversed.\n",
    )  # fmt: skip
    return lu_solve(LU_data, LU_pivots, b)


# ---------------------------------------------------------------- eigenvalues of any matrix


def _eig_forward(A: ndarray) -> tuple[ndarray, ndarray]:
    if not np.isfinite(A).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = np.linalg.eig(A)
    if np.iscomplexobj(values):
        raise RuntimeError(
            "linalg.eig: the matrix has eigenvalues that are not real, and minigrad has no complex numbers. Symmetric "
            "matrices have real ones: see linalg.eigh"
        )
    return values.astype(A.dtype, copy=False), vectors.astype(A.dtype, copy=False)


def eig_backward(grad, eigenvalues, eigenvectors):
    """V⁻ᵀ (diag(gL) + (Vᵀ gV - VᵀV diag(Vᵀ gV)) / (λⱼ - λᵢ)) Vᵀ."""
    gL, gV = given(grad, (eigenvalues, eigenvectors))
    L, V = eigenvalues, eigenvectors
    inner = diag_matrix(gL)
    if grad[1] is not None:
        W = adjoint(V) @ gV
        own = (W * eye_like(V)).sum(-2)
        W = W - adjoint(V) @ (V * own[..., None, :])
        inner = inner + W / (L[..., None, :] - L[..., None] + eye_like(V)) * (1 - eye_like(V))
    return solve_both(adjoint(V), inner @ adjoint(V))


def solve_both(A, B):
    """A⁻¹ B of arrays or Tensors."""
    return np.linalg.solve(A, B) if is_array(A) and is_array(B) else solve(A, B)


_eig = define(
    "linalg_eig", _eig_forward, outputs=("eigenvalues", "eigenvectors"),
    A=lambda grad, eigenvalues, eigenvectors: eig_backward(grad, eigenvalues, eigenvectors),
)  # fmt: skip
EigResult = results("linalg_eig", "eigenvalues", "eigenvectors")


def eig(A: Tensor) -> EigResult:
    """Eigenvalues and eigenvectors (columns of length 1) of a square matrix, in no particular order.

    PyTorch gives complex numbers; here they are real, and a matrix with others raises RuntimeError.
    """
    return eig_of("linalg.eig", A)


def eig_of(name: str, A: Tensor) -> EigResult:
    check_matrices(name, A, floating=False)
    if A._array.dtype.kind != "f":
        raise RuntimeError(f"Unknown Complex ScalarType for {dtypes.word(A._array.dtype)}")
    check_matrices(name, A, kernel="linalg_eig_out_cpu")
    return EigResult(*_eig(A))


def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of a square matrix; see `eig`."""
    return eig_of("linalg.eigvals", A).eigenvalues


# ---------------------------------------------------------------- with a Cholesky factor

_old_cholesky = define(
    "cholesky", lambda self, upper: _cholesky_forward(self, upper, "cholesky"), jvp=cholesky_tangent,
    self=lambda grad, result, upper: cholesky_backward(grad, result, upper),
)  # fmt: skip


@method("cholesky")
def old_cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The older form of `linalg.cholesky`."""
    warn_of(
        "cholesky", "cholesky ", "L = torch.cholesky(A)", "L = torch.linalg.cholesky(A)",
        "U = torch.cholesky(A, upper=True)",
        "U = torch.linalg.cholesky(A).mH\nThis transform will produce equivalent results for all valid (symmetric positive "
        "definite) inputs.",
    )  # fmt: skip
    check_matrices("cholesky", input, kernel="cholesky_cpu")
    return _old_cholesky(input, bool(upper))


def _factor(self: ndarray, upper: bool) -> ndarray:
    """The lower triangular factor; the other triangle is not read."""
    return np.tril(self.swapaxes(-1, -2) if upper else self)


def _inverse_of_factor(self: ndarray, upper: bool) -> ndarray:
    try:
        half = np.linalg.inv(_factor(self, upper))
    except np.linalg.LinAlgError:
        half = None
    if half is None:
        place, element = first_failing(self, zero_pivot)
        raise LinAlgError(
            f"cholesky_inverse: {place}The diagonal element {element} is zero, the inversion could not be completed because "
            "the input matrix is singular."
        )
    return by_columns(half.swapaxes(-1, -2) @ half)


def inverse_of_factor_self(grad, self, result, upper: bool):
    """-(A⁻¹ (grad + gradᵀ) A⁻¹) L."""
    common = result @ (grad + adjoint(grad)) @ result
    return -(self @ common) if upper else -(common @ self)


_cholesky_inverse = define(
    "cholesky_inverse", _inverse_of_factor,
    self=lambda grad, self, result, upper: inverse_of_factor_self(grad, self, result, upper),
)  # fmt: skip


@method()
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of L Lᵀ (of Lᵀ L, if `upper`), for a triangular L."""
    check_matrices("cholesky_inverse", L, floating=False, kernel="cholesky_inverse_out_cpu")
    return _cholesky_inverse(L, bool(upper))


def _solve_with_factor(self: ndarray, input2: ndarray, upper: bool) -> ndarray:
    L = _factor(input2, upper)
    return by_columns(np.linalg.solve(L.swapaxes(-1, -2), np.linalg.solve(L, self)))


def solve_with_factor_input2(grad, input2, result, upper: bool):
    """-(Y Xᵀ + X Yᵀ) L with Y = A⁻¹ grad."""
    Y = _cholesky_solve(grad, input2, upper)
    common = Y @ adjoint(result)
    common = common + adjoint(common)
    return -(input2 @ common) if upper else -(common @ input2)


_cholesky_solve = define(
    "cholesky_solve", _solve_with_factor, broadcasts=True,
    self=lambda grad, input2, upper: _cholesky_solve(grad, input2, upper),
    input2=lambda grad, input2, result, upper: solve_with_factor_input2(grad, input2, result, upper),
)  # fmt: skip


@method()
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution X of A X = B for A = L Lᵀ (Lᵀ L, if `upper`), where L is a Cholesky factor."""
    b, a = B._array, L._array
    for name, array in (("b", b), ("u", a)):
        if array.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {array.ndim} dimensions instead"
            )
    broadcast_pair(b.shape[:-2], a.shape[:-2])
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {dtypes.word(b.dtype)} and A of type "
            f"{dtypes.word(a.dtype)} instead."
        )
    (n, m), (p, q) = a.shape[-2:], b.shape[-2:]
    if n != m:
        raise RuntimeError(f"A must be batches of square matrices, but they are {n} by {m} matrices")
    if n != p:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {n} by {m} but each b matrix is {p} by {q}"
        )
    return _cholesky_solve(B, L, bool(upper))


OldQrResult = results("qr", "Q", "R")


@method("qr")
def old_qr(input: Tensor, some: bool = True) -> OldQrResult:
    """The older form of `linalg.qr`."""
    warn_of(
        "qr", "qr ", "Q, R = torch.qr(A, some)", "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')",
        remark="The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n",
    )  # fmt: skip
    return OldQrResult(*qr(input, "reduced" if some else "complete"))


# ---------------------------------------------------------------- equations between tensors


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of `tensordot(A, ·, A.ndim - ind)`: A as a matrix, its first `ind` dimensions the rows, inverted."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    rows, columns = tuple(A._array.shape[:ind]), tuple(A._array.shape[ind:])
    if math.prod(rows) != math.prod(columns):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{math.prod(columns)} != {math.prod(rows)}"
        )
    return reshape(inv(reshape(A, (math.prod(columns),) * 2)), (*columns, *rows))


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """The solution X of `tensordot(A, X, X.ndim) = B`; `dims`: dimensions of A to be moved to its end first."""
    if dims is not None:
        n = A._array.ndim
        A = movedim(A, tuple(dims), tuple(range(n - len(dims), n)))
    rest = tuple(A._array.shape[B._array.ndim :])
    if math.prod(rest) != B._array.size:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got "
            f"{math.prod(rest)} != {B._array.size}"
        )
    return reshape(solve(reshape(A, (math.prod(rest),) * 2), flatten(B)), rest)


# ---------------------------------------------------------------- powers and choices


def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The matrices with the powers 0, 1, ..., N - 1 of each element of the last dimension as rows."""
    if x._array.dtype.kind == "b":
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got Bool"
        )
    x = unsqueeze(x, -1) if not x._array.ndim else x
    n = x._array.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    shape = tuple(x._array.shape)
    powers = cumprod(expand(unsqueeze(x, -1), (*shape, n - 1)), -1)
    return cat([powers.new_ones((*shape, 1)), powers], -1)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of each element of a vector as rows, the highest first unless `increasing`."""
    if x._array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x._array.size if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    out = x.new_empty((x._array.size, n))
    if n > 0:
        out.select(1, 0).fill_(1)
    if n > 1:
        out[:, 1:].copy_(unsqueeze(x, 1))
        out[:, 1:].copy_(cumprod(out[:, 1:], 1))
    return out if increasing else flip(out, (1,))


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements of a vector, in their order, as rows; `with_replacement` an element may come again."""
    if input._array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty((0,))
    n = input._array.size
    mask = np.zeros((n,) * r, bool)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    for places in choose(range(n), r):
        mask[places] = True
    grids = meshgrid(*(input,) * r, indexing="ij")
    return stack([masked_select(grid, wrap(mask)) for grid in grids], 1)


# torch.lu, torch.qr, ... are the older forms; minigrad.linalg takes the newer ones from here by their names
OLDER = {"cholesky": old_cholesky, "lu": old_lu, "lu_solve": old_lu_solve, "qr": old_qr}

__all__ = ["cholesky_inverse", "cholesky_solve", "combinations", "lu_unpack", "vander"]
