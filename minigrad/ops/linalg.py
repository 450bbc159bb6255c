"""Products of vectors and matrices, and what is built on them."""

from __future__ import annotations

import numpy as np

from ..tensor import Tensor
from .shape import _unsafe_view
from .table import define, function

ndarray = np.ndarray


def _same_dtype(a: ndarray, b: ndarray) -> None:
    if a.dtype != b.dtype:
        words = {"float32": "float", "float64": "double", "int64": "long", "int32": "int"}
        names = (words.get(x.dtype.name, x.dtype.name) for x in (a, b))
        raise RuntimeError("expected m1 and m2 to have the same dtype, but got: {} != {}".format(*names))


def _mm_forward(self: ndarray, mat2: ndarray) -> ndarray:
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(f"{'self' if self.ndim != 2 else 'mat2'} must be a matrix")
    _same_dtype(self, mat2)
    if self.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})".format(*self.shape, *mat2.shape)
        )
    return np.matmul(self, mat2)


mm = define(
    "mm", _mm_forward,
    self=lambda grad, mat2: grad @ mat2.T,
    mat2=lambda grad, self: self.T @ grad,
)  # fmt: skip


def _dot_forward(self: ndarray, tensor: ndarray) -> ndarray:
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    if self.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{self.size}] and src [{tensor.size}] to have the same number of "
            f"elements, but got {self.size} and {tensor.size} elements respectively"
        )
    return np.dot(self, tensor)


dot = define(
    "dot", _dot_forward,
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)  # fmt: skip


def _mv_forward(self: ndarray, vec: ndarray) -> ndarray:
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec ({vec.size})"
        )
    return np.matmul(self, vec)


mv = define(
    "mv", _mv_forward,
    self=lambda grad, vec: outer_product(grad, vec),
    vec=lambda grad, self: self.T @ grad,
)  # fmt: skip


def outer_product(a, b):
    """aᵢ bⱼ, for arrays and Tensors alike."""
    return a.reshape((-1, 1)) * b.reshape((1, -1))


bmm = define(
    "bmm", np.matmul,
    self=lambda grad, mat2: grad @ mat2.swapaxes(-1, -2),
    mat2=lambda grad, self: self.swapaxes(-1, -2) @ grad,
)  # fmt: skip


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of vectors, matrices or batches of matrices, as PyTorch forms it from simpler products."""
    if not isinstance(other, Tensor):
        return NotImplemented
    if not isinstance(input, Tensor):
        raise TypeError(f"matmul(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    a, b = input._array.ndim, other._array.ndim
    if a == 2 and b == 2:
        return mm(input, other)
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 1 and b == 1:
        return dot(input, other)
    if a == 2 and b == 1:
        return mv(input, other)
    if a == 1 and b == 2:
        return mm(input.unsqueeze(0), other).squeeze(0)
    if a > 2 and b <= 2:  # a batch of rows times one matrix: fold the batch into the rows
        rows = input.reshape(-1, input.shape[-1])
        out = mv(rows, other) if b == 1 else mm(rows, other)
        return _unsafe_view(out, tuple(input.shape[:-1]) + tuple(other.shape[1:]))
    return batched_matmul(input, other)


def batched_matmul(input: Tensor, other: Tensor) -> Tensor:
    """`matmul` where both have, or other has, batch dimensions: broadcast, flatten the batch, bmm, restore."""
    vector = input._array.ndim == 1
    if vector:
        input = input.unsqueeze(0)
    batch = np.broadcast_shapes(input.shape[:-2], other.shape[:-2])
    left = input.expand(*batch, *input.shape[-2:]).reshape(-1, *input.shape[-2:])
    right = other.expand(*batch, *other.shape[-2:]).reshape(-1, *other.shape[-2:])
    out = _unsafe_view(bmm(left, right), (*batch, input.shape[-2], other.shape[-1]))
    return out.squeeze(-2) if vector else out


for _fn in (mm, dot, mv, bmm, matmul):
    function(_fn, _fn.__name__)
function(matmul, "__matmul__")

__all__ = ["bmm", "dot", "matmul", "mm", "mv"]
