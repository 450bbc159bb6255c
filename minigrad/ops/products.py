"""Products of vectors and matrices, and what is built on them: matmul, linear, outer.

PyTorch forms them all from a few simple ones, each with a node of its own; which ones, is decided here as it does.
"""

from __future__ import annotations

import math

import numpy as np

from ..dtypes import of_numpy
from ..tensor import Tensor
from . import shape
from .pointwise import mul
from .publish import function, method
from .shape import expand, reshape, squeeze, squeezed_in_place, t, transpose, unsafe_view, unsqueeze, view
from .table import op

ndarray = np.ndarray

# ---------------------------------------------------------------- products of two, and added to something


def alike(self: ndarray, other: ndarray, told: str) -> ndarray:
    """`self`. Raises RuntimeError if the other one has another dtype: `told`, with both filled in."""
    if self.dtype != other.dtype:
        raise RuntimeError(told.format(of_numpy(self.dtype), of_numpy(other.dtype)))
    return self


def _mm(self: ndarray, mat2: ndarray, first: str = "self") -> ndarray:
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(f"{first if self.ndim != 2 else 'mat2'} must be a matrix")
    if self.shape[1] != mat2.shape[0]:
        shapes = "{}x{} and {}x{}".format(*self.shape, *mat2.shape)
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({shapes})")
    told = "expected m1 and m2 to have the same dtype, but got: {0.c_name} != {1.c_name}"
    return alike(self, mat2, told).dot(mat2)  # np.matmul takes longer to start


def _dot(self: ndarray, tensor: ndarray) -> ndarray:
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    told = "dot : expected both vectors to have same dtype, but found {0.word} and {1.word}"
    self, n, m = alike(self, tensor, told), self.size, tensor.size
    if n != m:
        told = "to have the same number of elements, but got"
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] {told} {n} and {m} elements respectively"
        )
    return self.dot(tensor)


def _mv(self: ndarray, vec: ndarray) -> ndarray:
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    n, m = self.shape
    if m != vec.size:
        raise RuntimeError(f"size mismatch, got input ({n}), mat ({n}x{m}), vec ({vec.size})")
    told = "addmv input tensors must have the same dtype, but got {1.word}, {0.word}, and {1.word}"
    return alike(self, vec, told).dot(vec)


def _bmm(self: ndarray, mat2: ndarray) -> ndarray:
    if self.ndim != 3 or mat2.ndim != 3:
        raise RuntimeError(f"batch{1 if self.ndim != 3 else 2} must be a 3D tensor")
    (b, _, n), found = self.shape, list(mat2.shape[:2])
    if [b, n] != found:
        told = "Expected size for first two dimensions of batch2 tensor to be"
        raise RuntimeError(f"{told}: [{b}, {n}] but got: {found}.")
    return np.matmul(alike(self, mat2, "expected scalar type {0.word} but found {1.word}"), mat2)


def mixed(self: ndarray, product: ndarray, beta: float, alpha: float) -> ndarray:
    """beta · self + alpha · product, where `self` is expanded to the product; with beta 0 its NaNs do not count."""
    if self.shape != product.shape[-1:]:
        self = shape.expanded(self, product.shape)
    if alpha != 1:
        product *= product.dtype.type(alpha)
    if beta != 0:
        product += self if beta == 1 else self * self.dtype.type(beta)
    return product


def scaled(x: ndarray | Tensor, factor: float) -> ndarray | Tensor:
    """`x` times a number, `x` itself for 1."""
    return x if factor == 1 else x * factor


def adjoint(A: ndarray | Tensor) -> ndarray | Tensor:
    """Aᵀ of each matrix."""
    return A.swapaxes(-1, -2)


# fmt: off
mm = op("mm(self, mat2)", _mm, kind="linear", batch="matmul", doc="The product of two matrices: (n, m) @ (m, p) is (n, p).",
        self=lambda grad, mat2: grad @ mat2.T, mat2=lambda grad, self: self.T @ grad)
dot = op("dot(self, tensor)", _dot, kind="linear", batch="matmul", doc="The product of two vectors of equal length.",
         self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self)
mv = op("mv(self, vec)", _mv, kind="linear", batch="matmul", doc="The product of a matrix and a vector: (n, m) @ (m) is (n).",
        self=lambda grad, vec: grad[:, None] * vec, vec=lambda grad, self: self.T @ grad)
bmm = op("bmm(self, mat2)", _bmm, kind="linear", batch="matmul", doc="Products of pairs: (b, n, m) @ (b, m, p) is (b, n, p).",
         self=lambda grad, mat2: grad @ adjoint(mat2), mat2=lambda grad, self: adjoint(self) @ grad)
addmm = op("addmm(self, mat1, mat2, *, beta: Scalar=1, alpha: Scalar=1)",
           lambda self, mat1, mat2, beta, alpha: mixed(self, _mm(mat1, mat2, "mat1"), beta, alpha), broadcasts=True,
           batch=lambda self, mat1, mat2, beta, alpha: scaled(mat1 @ mat2, alpha) + scaled(self, beta),
           doc="`beta * input + alpha * (mat1 @ mat2)`; `input` is broadcast.",
           self=lambda grad, beta: scaled(grad, beta), mat1=lambda grad, mat2, alpha: scaled(grad @ mat2.T, alpha),
           mat2=lambda grad, mat1, alpha: scaled(mat1.T @ grad, alpha))
baddbmm = op("baddbmm(self, batch1, batch2, *, beta: Scalar=1, alpha: Scalar=1)",
             lambda self, batch1, batch2, beta, alpha: mixed(self, _bmm(batch1, batch2), beta, alpha), broadcasts=True,
             batch=lambda self, batch1, batch2, beta, alpha: scaled(batch1 @ batch2, alpha) + scaled(self, beta),
             doc="`beta * input + alpha * (batch1 @ batch2)`; `input` is broadcast.",
             self=lambda grad, beta: scaled(grad, beta),
             batch1=lambda grad, batch2, alpha: scaled(grad @ adjoint(batch2), alpha),
             batch2=lambda grad, batch1, alpha: scaled(adjoint(batch1) @ grad, alpha))
# fmt: on

# ---------------------------------------------------------------- matmul, linear: PyTorch's choice of simpler products


@function(at="torch Tensor")
def matmul(self: Tensor, other: Tensor) -> Tensor:
    """The product of vectors, matrices, or batches of matrices, which broadcast. A vector's dimension is summed away.

    Raises RuntimeError if the lengths do not fit.
    """
    if not isinstance(other, Tensor):
        raise TypeError
    return times(self, other)


@method("__matmul__")
def times(self: Tensor, other: Tensor) -> Tensor:
    """`self @ other`: see `matmul`."""
    if not isinstance(other, Tensor):
        return NotImplemented
    a, b = self._array.ndim, other._array.ndim
    if a == 2 == b:
        return mm(self, other)
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a < 3 and b == 1:
        return dot(self, other) if a == 1 else mv(self, other)
    if a == 1 and b == 2:
        out = squeezed_in_place(mm(unsqueeze(self, 0), other), 0)
        out._own_counter().version = 1
        return out
    return folded(self, other) if should_fold(self, other) else batched(self, other)


def should_fold(self: Tensor, other: Tensor) -> bool:
    """May the batch of the larger operand be folded into its rows, so that one matrix product does it all?"""
    larger, smaller = (self, other) if self._array.ndim >= other._array.ndim else (other, self)
    if smaller._array.ndim > 2 or smaller._requires_grad:
        return smaller._array.ndim < 3  # the gradient of a broadcast matrix would be batch times as large
    if self._array.ndim == 2:
        return False
    array = larger._array if larger is self else adjoint(larger._array)
    strides, lengths = array.strides, array.shape
    return not array.size or all(strides[i] == strides[i + 1] * lengths[i + 1] for i in range(array.ndim - 2))


def folded(self: Tensor, other: Tensor) -> Tensor:
    """`matmul` of a batch and one matrix or vector, as a product of two matrices: (A B)ᵀ = Bᵀ Aᵀ if the batch is right."""
    turned = other._array.ndim > self._array.ndim
    if turned:
        self, other = transpose(other, -2, -1), t(self) if self._array.ndim == 2 else self
    *batch, length = self._array.shape
    rows = reshape(self, (math.prod(batch), length))
    if other._array.ndim == 1:
        return unsafe_view(mv(rows, other), batch)
    out = unsafe_view(mm(rows, other), (*batch, other._array.shape[1]))
    return transpose(out, -2, -1).contiguous() if turned else out


def batched(self: Tensor, other: Tensor) -> Tensor:
    """`matmul` of two batches: broadcast them, make the batch one dimension, `bmm`, restore."""
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


@function(at="F")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weightᵀ + bias, for an input of shape (*, n), a weight (m, n) or (n,) and a bias (m,): shape (*, m)."""
    if bias is None:
        return times(input, t(weight))
    n = input._array.ndim
    if n == 2:
        return addmm(bias, input, t(weight))
    whole = input._array.flags.c_contiguous and bias._array.flags.c_contiguous
    if n and weight._array.ndim == 2 and bias._array.ndim == 1 and whole:
        *batch, length = input._array.shape
        out = addmm(bias, view(input, (math.prod(batch), length)), t(weight))
        return view(out, (*batch, weight._array.shape[0]))
    return times(input, t(weight)).add_(bias)


@function(at="torch Tensor", aliases="ger")
def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """The matrix of all products selfᵢ vec2ⱼ of two vectors."""
    for name, v in (("self", self), ("vec2", vec2)):
        if v._array.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {v._array.ndim}-D")
    return mul(reshape(self, (-1, 1)), vec2)
