"""Linear algebra: products of vectors and matrices, inverse, solve, determinant, eigenvalues.

PyTorch composes all products from a few simple ones, each with its own node. They are chosen here as in PyTorch.
Formulas: M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation"
(2008). They hold for batches of matrices.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from .. import dtypes
from ..basics import check
from ..tensor import Tensor
from . import shape
from .indexing import eye_beside
from .pointwise import mul, where
from .shape import expand, reshape, squeeze, squeezed_in_place, t, transpose, unsafe_view, unsqueeze
from .table import LINALG, function, is_array, method, op, publish

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


def _mm(self: ndarray, mat2: ndarray, first: str = "self") -> ndarray:
    kind = self.dtype.kind
    if (
        self.ndim == 2 == mat2.ndim
        and self.dtype is mat2.dtype
        and self.shape[1] == len(mat2)
        and kind != "b"
    ):
        return self.dot(mat2)  # np.matmul has a larger overhead
    message = "mat1 and mat2 must have the same dtype, but got {.word} and {.word}"
    check(first == "self" or self.dtype == mat2.dtype, message, self.dtype, mat2.dtype)
    check(self.ndim == 2 == mat2.ndim, "{} must be a matrix", "mat2" if self.ndim == 2 else first)
    message = "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})"
    check(self.shape[1] == len(mat2), message, *self.shape, *mat2.shape)
    message = "expected m1 and m2 to have the same dtype, but got: {0.c_name} != {1.c_name}"
    check(self.dtype == mat2.dtype, message, self.dtype, mat2.dtype)
    dtypes.require("fiu", "addmm_impl_cpu_", self.dtype)
    return self.dot(mat2)


def _dot(self: ndarray, tensor: ndarray) -> ndarray:
    message = "1D tensors expected, but got {}D and {}D tensors"
    check(self.ndim == 1 == tensor.ndim, message, self.ndim, tensor.ndim)
    message = "dot : expected both vectors to have same dtype, but found {0.word} and {1.word}"
    check(self.dtype == tensor.dtype, message, self.dtype, tensor.dtype)
    message = "inconsistent tensor size, expected tensor [{0}] and src [{1}] to have the same number of elements, but got "
    check(self.size == tensor.size, message + "{0} and {1} elements respectively", self.size, tensor.size)
    dtypes.require("fiu", "dot", self.dtype)
    return self.dot(tensor)


def _mv(self: ndarray, vec: ndarray) -> ndarray:
    ndims = self.ndim, vec.ndim
    check(ndims == (2, 1), "vector + matrix @ vector expected, got 1, {0[0]}, {0[1]}", ndims)
    message = "size mismatch, got input ({0[0]}), mat ({0[0]}x{0[1]}), vec ({1})"
    check(self.shape[1] == vec.size, message, self.shape, vec.size)
    message = "addmv input tensors must have the same dtype, but got {1.word}, {0.word}, and {1.word}"
    check(self.dtype == vec.dtype, message, self.dtype, vec.dtype)
    dtypes.require("fiu", "addmv_impl_cpu", self.dtype)
    return self.dot(vec)


def _bmm(self: ndarray, mat2: ndarray, kernel: str = "bmm") -> ndarray:
    check(self.ndim == 3 == mat2.ndim, "batch{} must be a 3D tensor", 2 if self.ndim == 3 else 1)
    (b, _, n), results = self.shape, mat2.shape[:2]
    message = "Expected size for first two dimensions of batch2 tensor to be: {} but got: {}."
    check((b, n) == results, message, (b, n), results)
    dtypes.require("fiu", kernel, self.dtype)
    check(self.dtype == mat2.dtype, "expected scalar type {.word} but found {.word}", self.dtype, mat2.dtype)
    return np.einsum("bij,bjk->bik", self, mat2) if n == 1 else np.matmul(self, mat2)  # a quarter of the time


def plus(product: ndarray, self: ndarray) -> ndarray:
    """`product + self`, where `self` is expanded to the product."""
    product += self if self.shape == product.shape[-1:] else shape.expanded(self, product.shape)
    return product


def mm(a: ndarray | Tensor, b: ndarray | Tensor) -> ndarray | Tensor:
    """The product of two matrices; for arrays, with less overhead than `@`."""
    return a.dot(b) if type(a) is ndarray else mm_call(a, b)


def should_fold(self: Tensor, other: Tensor) -> bool:
    """Whether the batch of the larger operand can be folded into its rows, so that one matrix product is enough."""
    larger, smaller = (self, other) if self._array.ndim >= other._array.ndim else (other, self)
    if smaller._array.ndim > 2 or smaller._requires_grad:
        return smaller._array.ndim < 3  # the gradient of a broadcast matrix would be `batch` times as large
    if self._array.ndim == 2:
        return False
    array = larger._array if larger is self else larger._array.mT
    strides, lengths = array.strides, array.shape
    return not array.size or all(strides[i] == strides[i + 1] * lengths[i + 1] for i in range(array.ndim - 2))


def folded(self: Tensor, other: Tensor) -> Tensor:
    """`matmul` of a batch and one matrix or vector, as a product of two matrices: (A B)ᵀ = Bᵀ Aᵀ if the batch comes second."""
    turned = other._array.ndim > self._array.ndim
    if turned:
        self, other = transpose(other, -2, -1), t(self) if self._array.ndim == 2 else self
    *batch, length = self._array.shape
    rows = reshape(self, (math.prod(batch), length))
    if other._array.ndim == 1:
        return unsafe_view(mv(rows, other), batch)
    out = unsafe_view(mm_call(rows, other), (*batch, other._array.shape[1]))
    return transpose(out, -2, -1).contiguous() if turned else out


def batched(self: Tensor, other: Tensor) -> Tensor:
    """`matmul` of two batches: broadcast them, flatten the batch to one dimension, `bmm`, restore."""
    a, b = self._array.shape, other._array.shape
    if len(a) == len(b) == 3 and a[0] != b[0]:
        if a[0] == 1 and self._requires_grad:
            return times(squeeze(self, 0), other)
        if b[0] == 1 and other._requires_grad:
            return times(self, squeeze(other, 0))
    batch = a[:-2] if a[:-2] == b[:-2] else shape.common_shape(a[:-2], b[:-2])
    row, column = (1,) * (len(a) == 1), (1,) * (len(b) == 1)
    pairs = (self, row + a[-2:]), (unsqueeze(other, 1) if column else other, b[-2:] + column)
    out = bmm(*[reshape(expand(x, (*batch, *size)), (math.prod(batch), *size)) for x, size in pairs])
    out = squeeze(out, -1) if column else out
    return unsafe_view(out, (*batch, *a[-2:-1], *b[-1:] * (not column)))


class _LinAlgError(RuntimeError):
    """The matrix is singular: there is no result."""


def as_square(name: str, A: ndarray, floating: bool = True) -> ndarray:
    """The array. Raises PyTorch's error unless it is a batch of square matrices, in floating point if `floating`."""
    check(A.ndim >= 2, "linalg.{}: The input tensor A must have at least 2 dimensions.", name)
    message = "linalg.{}: A must be batches of square matrices, but they are {} by {} matrices"
    check(A.shape[-2] == A.shape[-1], message, name, *A.shape[-2:])
    message = "linalg.{}: Expected a floating point or complex tensor as input. Got {.word}"
    check(A.dtype.kind == "f" or not floating, message, name, A.dtype)
    return A


def _inverse(A: ndarray) -> ndarray:
    try:
        return np.linalg.inv(as_square("inv", A).mT).mT  # in column order, as LAPACK returns it
    except np.linalg.LinAlgError:  # already this many columns are dependent
        k = next(k for k in itertools.count(1) if (np.linalg.matrix_rank(A[..., :k]) < k).any())
        message = "the inversion could not be completed because the input matrix is singular."
        raise _LinAlgError(f"linalg.inv: The diagonal element {k} is zero, {message}") from None


def is_vector(A: ndarray | Tensor, B: ndarray | Tensor) -> bool:
    """Whether B is a batch of vectors rather than of matrices, by PyTorch's rule."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape)


def _solved(A: ndarray, B: ndarray) -> ndarray:
    as_square("solve", A)
    message = "linalg.solve: Incompatible shapes of A and B for the equation AX = B ({}x{} and {}x{})"
    rows = B.shape[-1] if is_vector(A, B) else B.shape[-2] if B.ndim > 1 else 0
    check(B.ndim > 0, "linalg.solve: Expected B to be a vector or a matrix, but it has no dimensions")
    check(rows == A.shape[-1], message, *A.shape[-2:], *((*B.shape, 1) if is_vector(A, B) else B.shape)[-2:])
    message = "linalg.solve: Expected A and B to have the same dtype, but found A of type {.word} and B of type {.word} instead"
    check(A.dtype == B.dtype, message, A.dtype, B.dtype)
    try:
        return np.linalg.solve(A, B[..., None])[..., 0] if is_vector(A, B) else np.linalg.solve(A, B)
    except np.linalg.LinAlgError:
        message = "The solver failed because the input matrix is singular."
        raise _LinAlgError(f"torch.linalg.solve: {message}") from None


def solve_backward(grad, grad_input_mask, A, result):
    """In A X = B, the gradient of B is G = A⁻ᵀ grad, and that of A is -G Xᵀ."""
    G = solve(A.mT, grad)
    if not grad_input_mask[0]:
        return None, G
    return -G[..., None] * result[..., None, :] if is_vector(A, result) else -(G @ result.mT), G


def det_self(grad, A, result):
    """The gradient of det(A): grad times the cofactors, each det(A with eⱼ as row i). On arrays, det(A) A⁻ᵀ or, where an
    inverse would be inaccurate, with the singular values s: det(U) det(V) U diag(∏ⱼ≠ᵢ sⱼ) Vᵀ."""
    if not is_array(A):  # this can be differentiated again, also at a singular A
        e = eye_beside(A, A.shape[-1], A.shape[-1])
        return grad[..., None, None] * det(
            where(e[:, None, :, None] != 0, e[:, None], A[..., None, None, :, :])
        )
    inverse = regular_inverse(A)
    if inverse is not None:
        return (grad * result)[..., None, None] * inverse.mT
    U, s, Vh = np.linalg.svd(A)
    others = np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
    return (grad * np.linalg.det(U) * np.linalg.det(Vh))[..., None, None] * ((U * others[..., None, :]) @ Vh)


def regular_inverse(A: ndarray) -> ndarray | None:
    """A⁻¹, if half of its digits are right according to Skeel's condition number, the largest row sum of |A⁻¹| |A|, which
    does not change when A's rows are scaled."""
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return None
    condition = (abs(inverse) @ abs(A)).sum(-1).max(initial=0)
    return inverse if condition < np.finfo(A.dtype).eps ** -0.5 else None


def eigh_backward(grad, eigenvalues, eigenvectors):
    """V (diag(gL) + (Vᵀ gV) / (λⱼ - λᵢ)) Vᵀ, made symmetric as A is."""
    (gL, gV), L, V = grad, eigenvalues, eigenvectors
    eye = eye_beside(V, *V.shape[-1:] * 2)
    inner = 0 if gL is None else gL[..., None] * eye
    if gV is not None:
        inner = inner + (V.mT @ gV) / (L[..., None, :] - L[..., None] + eye) * (1 - eye)
    full = V @ inner @ V.mT
    return (full + full.mT) * 0.5


# fmt: off
# ---------------------------------------------------------------- products of two, also added to a third

mm_call = op("mm(self, mat2)", _mm, kind="linear", batch="matmul", doc="The product of matrices: (n, m) @ (m, p) is (n, p).",
             self=lambda grad, mat2: mm(grad, mat2.T), mat2=lambda grad, self: mm(self.T, grad))
dot = op("dot(self, tensor)", _dot, kind="linear", batch="matmul", doc="The product of two vectors of equal length.",
         self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self)
mv = op("mv(self, vec)", _mv, kind="linear", batch="matmul", doc="The product of a matrix and a vector: (n, m) @ (m) is (n).",
        self=lambda grad, vec: grad[:, None] * vec, vec=lambda grad, self: self.T @ grad)
bmm = op("bmm(self, mat2)", _bmm, kind="linear", batch="matmul", doc="Products of pairs: (b, n, m) @ (b, m, p) is (b, n, p).",
         self=lambda grad, mat2: grad @ mat2.mT, mat2=lambda grad, self: self.mT @ grad)
addmm = op("addmm(self, mat1, mat2)", lambda self, mat1, mat2: plus(_mm(mat1, mat2, "mat1"), self), broadcasts=True,
           batch=lambda self, mat1, mat2: mat1 @ mat2 + self, doc="`input + mat1 @ mat2`; `input` is broadcast.",
           self=lambda grad: grad, mat1=lambda grad, mat2: mm(grad, mat2.T), mat2=lambda grad, mat1: mm(mat1.T, grad))
baddbmm = op("baddbmm(self, batch1, batch2)", lambda self, batch1, batch2:
                 plus(_bmm(batch1, batch2, "baddbmm"), self), broadcasts=True,
             batch=lambda self, batch1, batch2: batch1 @ batch2 + self, doc="`input + batch1 @ batch2`; `input` is broadcast.",
             self=lambda grad: grad, batch1=lambda grad, batch2: grad @ batch2.mT, batch2=lambda grad, batch1: batch1.mT @ grad)
for _call in (addmm, baddbmm):
    _call.op.node_class._saved_alpha = _call.op.node_class._saved_beta = 1

# ---------------------------------------------------------------- inverse, solve, determinant, eigenvalues

inv = op("linalg_inv(A)", _inverse, at="linalg", outputs=("inverse",), batch="rows", node="LinalgInvExBackward0",
         doc="The inverse of a square matrix, or of each of a batch. Raises LinAlgError for singular matrices.",
         A=lambda grad, inverse: -(inverse.mT @ (grad @ inverse.mT)))
solve = op("linalg_solve(A, B)", _solved, broadcasts=True, at="linalg", node="LinalgSolveExBackward0",
           batch=lambda A, B: (inv(A) @ B[..., None])[..., 0] if is_vector(A, B) else inv(A) @ B,
           doc="The solution X of A X = B, for square A. B may be a vector. Raises LinAlgError if A is singular.",
           A=solve_backward, B=solve_backward)
det = op("linalg_det(A)", lambda A: np.asarray(np.linalg.det(as_square("det", A)), A.dtype), at="linalg", batch="rows",
         doc="The determinant of a square matrix, or of each of a batch.", A=det_self)
eigh = op("linalg_eigh(A)", lambda A: tuple(np.linalg.eigh(as_square("eigh", A, False))), at="linalg", batch="rows",
          takes="f",
          outputs=("eigenvalues", "eigenvectors"), A=eigh_backward,
          doc="Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix, whose lower triangle is read.")
# fmt: on

# ---------------------------------------------------------------- composed of other operations


@function(at="torch Tensor linalg")
def matmul(self: Tensor, other: Tensor) -> Tensor:
    """The product of vectors, matrices, or batches of matrices, which broadcast. The dimension of a vector is summed over.

    Raises RuntimeError if the lengths do not fit.
    """
    check(isinstance(other, Tensor), "", error=TypeError)
    return times(self, other)


@method("__matmul__")
def times(self: Tensor, other: Tensor) -> Tensor:
    """`self @ other`: see `matmul`."""
    if not isinstance(other, Tensor):
        return NotImplemented
    a, b = self._array.ndim, other._array.ndim
    if a == 2 == b:
        return mm_call(self, other)
    check(a * b > 0, "both arguments to matmul need to be at least 1D, but they are {}D and {}D", a, b)
    if a < 3 and b == 1:
        return dot(self, other) if a == 1 else mv(self, other)
    if a == 1 and b == 2:
        out = squeezed_in_place(mm_call(unsqueeze(self, 0), other), 0)
        out._own_counter().version = 1
        return out
    return folded(self, other) if should_fold(self, other) else batched(self, other)


@function(at="torch Tensor", aliases="ger")
def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """The matrix of all products inputᵢ vec2ⱼ of two vectors."""
    for name, v in (("self", self), ("vec2", vec2)):
        check(v._array.ndim == 1, "outer: Expected 1-D argument {}, but got {}-D", name, v._array.ndim)
    return mul(reshape(self, (-1, 1)), vec2)


LINALG["LinAlgError"] = _LinAlgError  # as PyTorch prints it
publish(det, "det", "torch Tensor")
publish(inv, "inverse", "torch Tensor")


@function(at="linalg")
def eigvalsh(A: Tensor) -> Tensor:
    """The eigenvalues of a symmetric matrix, ascending."""
    return eigh(A)[0]
