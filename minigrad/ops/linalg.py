"""Products of vectors and matrices, and what is built on them."""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import dtypes
from ..autograd.captured import refuse_captured
from ..size import check_dim
from ..tensor import Tensor, full_name, wrap
from .arranging import _roll
from .calls import make_call
from .described import described
from .history import check_writable, counted, rebase
from .inplace import in_both_forms
from .joining import stack
from .pointwise import add, mul
from .reshaping import _squeeze_dim_
from .shape import (
    _expand,
    _permute,
    _t,
    _unsafe_view,
    _view,
    broadcast_pair,
    expand,
    meshgrid,
    refuse_repeated,
    reshape_to,
    squeeze,
    t,
    transpose,
    unsqueeze,
    view,
)  # fmt: skip
from .table import define, function, is_array, method

ndarray = np.ndarray
WORDS = {
    "float16": "c10::Half",
    "float32": "float",
    "float64": "double",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
}


# ---------------------------------------------------------------- two operands


def _mm_forward(self: ndarray, mat2: ndarray) -> ndarray:
    if self.ndim == 2 == mat2.ndim and self.dtype == mat2.dtype and self.shape[1] == mat2.shape[0]:
        if self.dtype.kind == "b":
            raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
        return self.dot(mat2)  # np.matmul takes 0.4 µs longer to start
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(f"{'self' if self.ndim != 2 else 'mat2'} must be a matrix")
    if self.dtype != mat2.dtype:
        names = (WORDS.get(x.dtype.name, x.dtype.name) for x in (self, mat2))
        raise RuntimeError("expected m1 and m2 to have the same dtype, but got: {} != {}".format(*names))
    raise RuntimeError(
        "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})".format(*self.shape, *mat2.shape)
    )


mm = define(
    "mm", _mm_forward, kind="linear", numbers=False, matrices=True,
    doc="The product of two matrices: `input` (n, m) @ `mat2` (m, p) is (n, p).\n\n"
    "Both of the same dtype; nothing is broadcast. Raises RuntimeError if the shapes do not fit.",
    self=lambda grad, mat2: grad @ mat2.T,
    mat2=lambda grad, self: self.T @ grad,
)  # fmt: skip


def _dot_forward(self: ndarray, tensor: ndarray) -> ndarray:
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    if self.dtype != tensor.dtype:
        names = (dtypes.word(x.dtype) for x in (self, tensor))
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found {} and {}".format(*names)
        )
    if self.dtype.kind == "b":
        raise NotImplementedError("\"dot\" not implemented for 'Bool'")
    if self.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{self.size}] and src [{tensor.size}] to have the same number of "
            f"elements, but got {self.size} and {tensor.size} elements respectively"
        )
    return np.dot(self, tensor)


dot = define(
    "dot", _dot_forward, kind="linear", numbers=False,
    doc="The product of two vectors of equal length, `(input * tensor).sum()`: a tensor without dimensions.\n\n"
    "Raises RuntimeError if they are not 1-D, of equal length and of the same dtype.",
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)  # fmt: skip
vdot = define(
    "vdot", _dot_forward, kind="linear", numbers=False,
    doc="The product of two vectors of equal length, `(input * other).sum()`: `dot`, as there are no complex numbers here.\n\n"
    "Raises RuntimeError if they are not 1-D, of equal length and of the same dtype.",
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)  # fmt: skip


def _check_mv(self: ndarray, vec: ndarray) -> None:
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec ({vec.size})"
        )
    if self.dtype != vec.dtype:
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {dtypes.word(vec.dtype)}, "
            f"{dtypes.word(self.dtype)}, and {dtypes.word(vec.dtype)}"
        )


def _mv_forward(self: ndarray, vec: ndarray) -> ndarray:
    _check_mv(self, vec)
    refuse_bool(self, "addmv_impl_cpu")
    return np.matmul(self, vec)


mv = define(
    "mv", _mv_forward, kind="linear", numbers=False, matrices=True,
    doc="The product of a matrix and a vector: `input` (n, m) @ `vec` (m) is (n).\n\n"
    "Both of the same dtype; nothing is broadcast. Raises RuntimeError if the shapes do not fit.",
    self=lambda grad, vec: outer_product(grad, vec),
    vec=lambda grad, self: self.T @ grad,
)  # fmt: skip


def outer_product(a, b):
    """aᵢ bⱼ, for arrays and Tensors alike."""
    return a.reshape((-1, 1)) * b.reshape((1, -1))


def _check_batches(batch1: ndarray, batch2: ndarray) -> None:
    """Raise PyTorch's error for what `bmm` does not multiply."""
    for name, a in (("batch1", batch1), ("batch2", batch2)):
        if a.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch1.shape[0]}, {batch1.shape[2]}] but "
            f"got: [{batch2.shape[0]}, {batch2.shape[1]}]."
        )
    if batch1.dtype != batch2.dtype:
        names = (dtypes.word(x.dtype) for x in (batch1, batch2))
        raise RuntimeError("expected scalar type {} but found {}".format(*names))


def refuse_bool(a: ndarray, kernel: str) -> None:
    if a.dtype.kind == "b":
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def _bmm_forward(self: ndarray, mat2: ndarray) -> ndarray:
    a, b, dtype = self.shape, mat2.shape, self.dtype
    if not (
        len(a) == 3 == len(b) and a[0] == b[0] and a[2] == b[1] and dtype is mat2.dtype and dtype.kind == "f"
    ):
        _check_batches(self, mat2)
        refuse_bool(self, "bmm")
    # outer products, as in the gradients for each example: np.matmul is ten times as slow
    if a[2] == 1:
        return np.einsum("nij,njk->nik", self, mat2, order="C")
    return np.matmul(self, mat2)


bmm = define(
    "bmm", _bmm_forward, kind="linear", numbers=False,
    doc="The products of pairs of matrices: `input` (b, n, m) @ `mat2` (b, m, p) is (b, n, p).\n\n"
    "Both of the same dtype; nothing is broadcast. Raises RuntimeError if the shapes do not fit.",
    self=lambda grad, mat2: grad @ mat2.mT,
    mat2=lambda grad, self: self.mT @ grad,
)  # fmt: skip


# ---------------------------------------------------------------- matmul


def product_of_any(input: Tensor, other: Tensor) -> Tensor:
    """The product, whatever the operands; as an operator it leaves what is no tensor to Python."""
    if not isinstance(other, Tensor):
        return NotImplemented
    if not isinstance(input, Tensor):
        raise TypeError(
            f"matmul(): argument 'input' (position 1) must be Tensor, not {full_name(type(input))}"
        )
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
        return _squeeze_dim_(mm(unsqueeze(input, 0), other), 0)
    return folded_matmul(input, other) if should_fold(input, other) else batched_matmul(input, other)


# `input @ other`: of two matrices, as nearly always, it is `mm` without a detour
matrix_product = make_call(
    mm.op, compute=ndarray.dot, otherwise=product_of_any,
    suits="x0.ndim == 2 == x1.ndim and x0.dtype is x1.dtype and x0.dtype.num",
)  # fmt: skip


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of vectors, matrices or batches of matrices, as PyTorch forms it from simpler products.

    1-D @ 1-D is a dot product; 2-D @ 2-D the matrix product; with a 1-D operand on either side that dimension is summed
    away; with more dimensions the leading ones are batches and broadcast. Raises RuntimeError if the lengths differ.
    """
    found = matrix_product(input, other)
    if found is NotImplemented:
        raise TypeError(
            f"matmul(): argument 'other' (position 2) must be Tensor, not {full_name(type(other))}"
        )
    return found


def should_fold(input: Tensor, other: Tensor) -> bool:
    """May the batch of the larger operand be folded into its rows, so that one matrix product does it all?"""
    larger, smaller = (input, other) if input._array.ndim >= other._array.ndim else (other, input)
    if larger._array.ndim < 3 or smaller._array.ndim > 2:
        return False
    if smaller._requires_grad:
        return True  # the gradient of a broadcast matrix would be batch times as large
    if input._array.ndim == 2:
        return False
    if not larger._array.size:
        return True
    strides, shape = larger._array.strides, larger._array.shape
    if larger is other:  # it is used transposed
        strides, shape = (*strides[:-2], strides[-1], strides[-2]), (*shape[:-2], shape[-1], shape[-2])
    return all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2))


def folded_matmul(input: Tensor, other: Tensor) -> Tensor:
    """`matmul` of a batch and one matrix or vector, as a product of two matrices: (A B)ᵀ = Bᵀ Aᵀ if the batch is right."""
    turned = other._array.ndim > input._array.ndim
    large = transpose(other, -2, -1) if turned else input
    small = other if not turned else _t(input) if input._array.ndim == 2 else input
    *batch, length = large._array.shape
    rows = reshape_to(large, (math.prod(batch), length))
    if small._array.ndim == 1:
        return _unsafe_view(mv(rows, small), tuple(batch))
    out = _unsafe_view(mm(rows, small), (*batch, small._array.shape[1]))
    return transpose(out, -2, -1).contiguous() if turned else out


def batched_matmul(input: Tensor, other: Tensor) -> Tensor:
    """`matmul` of two batches: broadcast them, make the batch one dimension, `bmm`, restore."""
    a, b = input._array.shape, other._array.shape
    if len(a) == len(b) == 3 and a[0] != b[0]:
        if a[0] == 1 and input._requires_grad:
            return matmul(squeeze(input, 0), other)
        if b[0] == 1 and other._requires_grad:
            return matmul(input, squeeze(other, 0))
    wide, left, wide_other, right, result = _batch_shapes(a, b)
    column = unsqueeze(other, 1) if len(b) == 1 else other
    out = bmm(reshape_to(_expand(input, wide), left), reshape_to(_expand(column, wide_other), right))
    if len(b) == 1:
        out = squeeze(out, -1)
    return _unsafe_view(out, result)


@functools.lru_cache(maxsize=256)
def _batch_shapes(a: tuple, b: tuple) -> tuple[tuple, tuple, tuple, tuple, tuple]:
    """(the left operand expanded, with its batch as one dimension, the same of the right operand, the result)."""
    batch = broadcast_pair(a[:-2], b[:-2])
    rows, columns = a[-2:-1] or (1,), b[-1:] if len(b) > 1 else (1,)
    left, right = (*rows, a[-1]), (b[-2] if len(b) > 1 else b[-1], *columns)
    count = math.prod(batch)
    result = *batch, *rows[: len(a) - 1], *columns[: len(b) - 1]
    return (*batch, *left), (count, *left), (*batch, *right), (count, *right), result


# ---------------------------------------------------------------- a product added to something


def scaled(x, factor: float):
    """`x` times a number, `x` itself for 1."""
    return x if factor == 1 else x * factor


def _mixed(self: ndarray, product: ndarray, beta: float, alpha: float) -> ndarray:
    """beta · self + alpha · product, where `self` can be expanded to the product; with beta 0 its NaNs do not count."""
    if alpha != 1:
        product = product * np.asarray(alpha, product.dtype)
    if beta != 0:
        product += self if beta == 1 else self * np.asarray(beta, self.dtype)
    return product


def broadcastable(shape: tuple, target: tuple) -> bool:
    """Does `shape` stretch to `target`?"""
    lead = len(target) - len(shape)
    if lead < 0:
        return False
    return shape == target[lead:] or all(n == 1 or n == m for n, m in zip(shape, target[lead:], strict=True))


def _check_added(self: ndarray, target: tuple) -> None:
    """Raise PyTorch's error unless `self` can be expanded to `target`."""
    if not broadcastable(self.shape, target):
        expand(wrap(self), target)


def _addmm_forward(self: ndarray, mat1: ndarray, mat2: ndarray, beta: float, alpha: float) -> ndarray:
    dtype = mat2.dtype
    if mat1.ndim == 2 == mat2.ndim and mat1.shape[1] == mat2.shape[0] and self.dtype == dtype == mat1.dtype:
        _check_added(self, (mat1.shape[0], mat2.shape[1]))
        return _mixed(self, mat1.dot(mat2), beta, alpha)
    if mat1.ndim != 2 or mat2.ndim != 2:
        name, a = ("mat1", mat1) if mat1.ndim != 2 else ("mat2", mat2)
        raise RuntimeError(f"{name} must be a matrix, got {a.ndim}-D tensor")
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})".format(*mat1.shape, *mat2.shape)
        )
    if self.dtype != dtype:
        names = (dtypes.word(x.dtype) for x in (self, mat2))
        raise RuntimeError("self and mat2 must have the same dtype, but got {} and {}".format(*names))
    names = (WORDS.get(x.dtype.name, x.dtype.name) for x in (mat1, mat2))
    raise RuntimeError("expected m1 and m2 to have the same dtype, but got: {} != {}".format(*names))


_addmm = define(
    "addmm", _addmm_forward, broadcasts=True, numbers=False, matrices=True,
    self=lambda grad, beta: scaled(grad, beta),
    mat1=lambda grad, mat2, alpha: scaled(grad @ mat2.T, alpha),
    mat2=lambda grad, mat1, alpha: scaled(mat1.T @ grad, alpha),
)  # fmt: skip


def _addmv_forward(self: ndarray, mat: ndarray, vec: ndarray, beta: float, alpha: float) -> ndarray:
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.size or self.shape not in ((), (1,), (mat.shape[0],)):
        raise RuntimeError(
            f"size mismatch, got input ({self.size}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.size})"
        )
    if not self.dtype == mat.dtype == vec.dtype:
        names = (dtypes.word(x.dtype) for x in (self, mat, vec))
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got {}, {}, and {}".format(*names)
        )
    refuse_bool(mat, "addmv_impl_cpu")
    return _mixed(self, np.matmul(mat, vec), beta, alpha)


_addmv = define(
    "addmv", _addmv_forward, broadcasts=True, numbers=False, matrices=True,
    self=lambda grad, beta: scaled(grad, beta),
    mat=lambda grad, vec, alpha: scaled(outer_product(grad, vec), alpha),
    vec=lambda grad, mat, alpha: scaled(mat.T @ grad, alpha),
)  # fmt: skip


def _addr_forward(self: ndarray, vec1: ndarray, vec2: ndarray, beta: float, alpha: float) -> ndarray:
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError(f"addr: Expected 1-D argument vec1, but got {vec1.ndim}-D")
    _check_added(self, (vec1.size, vec2.size))
    if not self.dtype == vec1.dtype == vec2.dtype:
        dtype = dtypes.promote([(x.dtype, 2) for x in (self, vec1, vec2)])
        self, vec1, vec2 = (x.astype(dtype, copy=False) for x in (self, vec1, vec2))
    return _mixed(self, np.multiply.outer(vec1, vec2), beta, alpha)


_addr = define(
    "addr", _addr_forward, broadcasts=True, numbers=False, matrices=True,
    self=lambda grad, beta: scaled(grad, beta),
    vec1=lambda grad, vec2, alpha: scaled(grad @ vec2, alpha),
    vec2=lambda grad, vec1, alpha: scaled(grad.T @ vec1, alpha),
)  # fmt: skip


def _addbmm_forward(self: ndarray, batch1: ndarray, batch2: ndarray, beta: float, alpha: float) -> ndarray:
    if not self.dtype == batch1.dtype == batch2.dtype:
        other = batch1 if self.dtype != batch1.dtype else batch2
        names = (dtypes.word(x.dtype) for x in (self, other))
        raise RuntimeError("self and mat2 must have the same dtype, but got {} and {}".format(*names))
    _check_batches(batch1, batch2)
    refuse_bool(self, "addmm_impl_cpu_")
    _check_added(self, (batch1.shape[1], batch2.shape[2]))
    return _mixed(self, np.add.reduce(np.matmul(batch1, batch2), axis=0), beta, alpha)


_addbmm = define(
    "addbmm", _addbmm_forward, broadcasts=True, numbers=False,
    self=lambda grad, beta: scaled(grad, beta),
    batch1=lambda grad, batch2, alpha: scaled(grad @ batch2.mT, alpha),
    batch2=lambda grad, batch1, alpha: scaled(batch1.mT @ grad, alpha),
)  # fmt: skip


def _baddbmm_forward(self: ndarray, batch1: ndarray, batch2: ndarray, beta: float, alpha: float) -> ndarray:
    if self.dtype != batch1.dtype:
        names = (WORDS[x.dtype.name] for x in (self, batch1, batch2))
        raise RuntimeError(
            "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}".format(*names)
        )
    _check_batches(batch1, batch2)
    refuse_bool(self, "baddbmm")
    _check_added(self, (*batch1.shape[:2], batch2.shape[2]))
    return _mixed(self, np.matmul(batch1, batch2), beta, alpha)


_baddbmm = define(
    "baddbmm", _baddbmm_forward, broadcasts=True, numbers=False,
    self=lambda grad, beta: scaled(grad, beta),
    batch1=lambda grad, batch2, alpha: scaled(grad @ batch2.mT, alpha),
    batch2=lambda grad, batch1, alpha: scaled(batch1.mT @ grad, alpha),
)  # fmt: skip


@in_both_forms()
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)`: (n, m) @ (m, p) gives (n, p), to which `input` is broadcast."""
    return _addmm, input, mat1, mat2, beta, alpha


@in_both_forms()
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`beta * input + alpha * (mat @ vec)`: (n, m) @ (m) gives (n), to which `input` is broadcast."""
    return _addmv, input, mat, vec, beta, alpha


@in_both_forms()
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`beta * input + alpha * outer(vec1, vec2)`: of shape (n, m), to which `input` is broadcast."""
    if input._array.dtype.kind not in "fb":
        for name, value in (("beta", beta), ("alpha", alpha)):
            if isinstance(value, float):
                raise RuntimeError(
                    f"For integral input tensors, argument {name} must not be a floating point number."
                )
    return _addr, input, vec1, vec2, beta, alpha


@in_both_forms()
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`beta * input + alpha * (batch1 @ batch2).sum(0)`: (b, n, m) @ (b, m, p) gives (n, p), to which `input` broadcasts."""
    return _addbmm, input, batch1, batch2, beta, alpha


@method()
def addbmm_(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`addbmm`, written into this tensor; as in PyTorch, which does so here alone, it takes the shape of the result."""
    if (
        type(self) is not Tensor
        or self._is_view()
        or self._array.shape == (batch1.shape[-2], batch2.shape[-1])
    ):
        return addbmm.in_place(self, batch1, batch2, beta=beta, alpha=alpha)
    refuse_captured("addbmm", self)
    result = addbmm(self, batch1, batch2, beta=beta, alpha=alpha)
    if type(result) is not Tensor:  # inside a transform
        return addbmm.in_place(self, batch1, batch2, beta=beta, alpha=alpha)
    if result._requires_grad:
        check_writable(self)
        rebase(self, result._grad_fn)
    counted(self)
    self._array = result._array
    return self


@in_both_forms()
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`beta * input + alpha * (batch1 @ batch2)`: (b, n, m) @ (b, m, p) gives (b, n, p), to which `input` is broadcast."""
    return _baddbmm, input, batch1, batch2, beta, alpha


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weightᵀ + bias, for an input of shape (*, n), a weight (m, n) or (n,) and a bias (m,): shape (*, m).

    PyTorch does it in one `addmm` where the rows can be seen as one matrix.
    """
    if bias is None:
        return matmul(input, t(weight))
    n = input._array.ndim
    if n == 2:
        return _addmm(bias, input, t(weight), 1, 1)
    if (
        n != 2
        and weight._array.ndim == 2
        and bias._array.ndim == 1
        and n
        and input._array.flags.c_contiguous
        and bias._array.flags.c_contiguous
    ):
        *batch, length = input._array.shape
        rows = view(input, (math.prod(batch), length))
        return view(_addmm(bias, rows, t(weight), 1, 1), (*batch, weight._array.shape[0]))
    return matmul(input, t(weight)).add_(bias)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`out[..., k] = Σᵢⱼ input1[..., i] weight[k, i, j] input2[..., j] + bias[k]`."""
    if input1._array.ndim != input2._array.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1._array.ndim} and {input2._array.ndim}"
        )
    for dim, (a, b) in enumerate(zip(input1._array.shape[:-1], input2._array.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {a} and {b}"
            )
    for i, given in enumerate((input1, input2)):
        found, wanted = given._array.shape[-1], weight._array.shape[i + 1]
        if found != wanted:
            raise RuntimeError(
                f"bilinear(): input{i + 1} size does not match weight size: got {found} but expected {wanted}"
            )
    named = {"input1": input1, "input2": input2, "weight": weight}
    if len({t._array.dtype for t in named.values()}) > 1:
        found = ", ".join(f"{name}: {WORDS[t._array.dtype.name]}" for name, t in named.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {found}")
    *batch, n = input1._array.shape
    count = math.prod(batch)
    flat = view(input1, (count, n)), view(input2, (count, input2._array.shape[-1]))
    out = view(_trilinear(flat[0], weight, flat[1]), (*batch, weight._array.shape[0]))
    return out if bias is None else add(out, bias)


def _trilinear_forward(i1: ndarray, i2: ndarray, i3: ndarray) -> ndarray:
    return np.ascontiguousarray(np.add.reduce(np.matmul(i1, i2) * i3, axis=-1).T)


def left_trilinear(grad, i2, i3):
    """Σₖⱼ grad[b, k] i2[k, i, j] i3[b, j], for arrays or Tensors: by matrix products for each k, then a sum."""
    return total((i3 @ i2.mT) * columns_of(grad))


def middle_trilinear(grad, i1, i3):
    """Σᵦ grad[b, k] i1[b, i] i3[b, j]."""
    return (i1 * columns_of(grad)).mT @ i3


def right_trilinear(grad, i1, i2):
    """Σₖᵢ grad[b, k] i1[b, i] i2[k, i, j]."""
    return total((i1 @ i2) * columns_of(grad))


def columns_of(grad):
    """(b, k) as (k, b, 1): column k in matrix k."""
    return grad.T[..., None]


def total(x):
    """The sum over the first dimension, of an array or a Tensor."""
    return np.add.reduce(x) if is_array(x) else x.sum(0)


_trilinear = define(
    "trilinear", _trilinear_forward, kind="linear", node="TrilinearBackward0",
    i1=lambda grad, i2, i3: left_trilinear(grad, i2, i3),
    i2=lambda grad, i1, i3: middle_trilinear(grad, i1, i3),
    i3=lambda grad, i1, i2: right_trilinear(grad, i1, i2),
)  # fmt: skip


# ---------------------------------------------------------------- built from these


@method("outer", "ger")
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """The matrix of all products inputᵢ vec2ⱼ of two vectors."""
    for name, v in (("self", input), ("vec2", vec2)):
        if v._array.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {v._array.ndim}-D")
    return mul(reshape_to(input, (input._array.size, 1)), vec2)


ger = outer


@method()
def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sum of products over the last dimensions; a plain product if one is a number."""
    if not input._array.ndim or not other._array.ndim:
        return mul(input, other)
    if input._array.shape[-1] != other._array.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return tensordot(input, other, ((-1,), (-1,)))


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence = 2) -> Tensor:
    """The sum of products over several dimensions: the last `dims` of `a` with the first of `b`, or the lists given."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if not isinstance(dims, int):
        dims = tuple([(d,) if isinstance(d, int) else tuple(d) for d in dims])
    plan = _tensordot_plan(a._array.shape, b._array.shape, dims, a._array.dtype == b._array.dtype)
    for d in plan.sums[0]:
        a = a.sum(d, keepdim=True)
    for d in plan.sums[1]:
        b = b.sum(d, keepdim=True)
    height, length, width = plan.sizes
    if height == 1 == width:
        left, right = _permute(a, plan.orders[0]), _permute(b, plan.orders[1])
        if left._array.flags.c_contiguous and right._array.flags.c_contiguous:
            right = right if right._array.ndim == 1 else _view(right, (length,))
            left = left if left._array.ndim == 1 else _view(left, (length,))
            return _view(dot(left, right), plan.shape)
        right = squeeze(right)
        return view(mul(squeeze(left), right).sum(), plan.shape)
    left = reshape_to(_permute(a, plan.orders[0]), (height, length))
    right = reshape_to(_permute(b, plan.orders[1]), (length, width))
    return reshape_to(mm(left, right), plan.shape)


class TensordotPlan(NamedTuple):
    """What `tensordot` does with tensors of two shapes."""

    sums: tuple[list, list]  # dimensions that are summed right away, for the other tensor has length 1 there
    orders: tuple[tuple, tuple]  # of the dimensions: those that are summed come last in `a`, first in `b`
    sizes: tuple[int, int, int]  # (rows, summed) times (summed, columns)
    shape: tuple


@functools.lru_cache(maxsize=128, typed=True)
def _tensordot_plan(a: tuple, b: tuple, dims: int | tuple, in_one_dtype: bool) -> TensordotPlan:
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(len(a), len(b)):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = tuple(range(-dims, 0)), tuple(range(dims))
    given_a, given_b = dims
    if len(given_a) != len(given_b):
        raise RuntimeError("both dimension lists should have same length")
    if not in_one_dtype:
        raise RuntimeError("both inputs should have same dtype")
    dims_a, dims_b = [check_dim(d, len(a)) for d in given_a], [check_dim(d, len(b)) for d in given_b]
    sums, lengths = ([], []), []
    for i, j, da, db in zip(dims_a, dims_b, given_a, given_b, strict=True):
        if a[i] != b[j]:  # broadcast
            if b[j] != 1 != a[i]:
                raise RuntimeError(
                    f"contracted dimensions need to match, but first has size {a[i]} in dim {da} and second has size {b[j]} in "
                    f"dim {db}"
                )
            sums[b[j] != 1].append(i if b[j] == 1 else j)
        lengths.append(a[i] if a[i] == b[j] else 1)
    refuse_repeated(tuple(dims_a))
    refuse_repeated(tuple(dims_b))
    free_a, free_b = (
        [d for d in range(n) if d not in own] for n, own in ((len(a), dims_a), (len(b), dims_b))
    )
    rows, columns = tuple(a[d] for d in free_a), tuple(b[d] for d in free_b)
    return TensordotPlan(
        sums,
        ((*free_a, *dims_a), (*dims_b, *free_b)),
        (math.prod(rows), math.prod(lengths), math.prod(columns)),
        rows + columns,
    )


@method()
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: blocks inputᵢⱼ · other."""
    n = max(input._array.ndim, other._array.ndim)
    a, b = (((1,) * (n - x._array.ndim)) + x._array.shape for x in (input, other))
    left = _unsafe_view(input, tuple(k for size in a for k in (size, 1)))
    right = _unsafe_view(other, tuple(k for size in b for k in (1, size)))
    return _unsafe_view(mul(left, right), tuple(p * q for p, q in zip(a, b, strict=True)))


def crossed(a, b, dim: int):
    """a × b along `dim`, for arrays and Tensors: aᵢ bⱼ - aⱼ bᵢ by shifting the three components."""
    return _roll(a, (-1,), (dim,)) * _roll(b, (-2,), (dim,)) - _roll(a, (-2,), (dim,)) * _roll(
        b, (-1,), (dim,)
    )


_linalg_cross = define(
    "linalg_cross", lambda self, other, dim: crossed(self, other, dim), kind="linear", broadcasts=True,
    self=lambda grad, other, dim: crossed(other, grad, dim),
    other=lambda grad, self, dim: crossed(grad, self, dim),
)  # fmt: skip


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The vector product over a dimension of length 3; the others are broadcast."""
    if input._array.ndim != other._array.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    given, dim = dim, check_dim(dim, input._array.ndim)
    if input._array.shape[dim] != 3 or other._array.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {given} must have length 3. Got {input._array.shape[dim]} and "
            f"{other._array.shape[dim]}"
        )
    broadcast_pair(input._array.shape, other._array.shape)
    if input._array.dtype != other._array.dtype:
        names = (dtypes.word(t._array.dtype) for t in (input, other))
        raise RuntimeError("expected scalar type {} but found {}".format(*names))
    return _linalg_cross(input, other, dim)


@method()
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The vector product over `dim`, by default the first dimension of length 3."""
    if dim is None:
        warnings.warn(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or simply "
            "use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in a future "
            "release.",
            UserWarning,
            stacklevel=3,
        )
        found = [d for d, n in enumerate(input._array.shape) if n == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    return linalg_cross(input, other, dim=dim)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one element of each vector, one a row."""
    for vector in tensors:
        if vector._array.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(vector.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape_to(g, (g._array.size,)) for g in meshgrid(*tensors, indexing="ij")], 1)


def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices, in the order that needs the fewest multiplications."""
    warnings.warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters.",
        UserWarning,
        stacklevel=3,
    )
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of several matrices in the cheapest order; the first may be a row, the last a column vector."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    check_chain(tensors)
    row, column = tensors[0]._array.ndim == 1, tensors[-1]._array.ndim == 1
    if row:
        tensors[0] = unsqueeze(tensors[0], 0)
    if column:
        tensors[-1] = unsqueeze(tensors[-1], -1)
    shape = [
        *([] if row else [tensors[0]._array.shape[0]]),
        *([] if column else [tensors[-1]._array.shape[1]]),
    ]
    return view(product_in_order(tensors), tuple(shape))


def check_chain(tensors: list[Tensor]) -> None:
    """Raise PyTorch's errors for what `multi_dot` cannot multiply."""
    ndims, last = [m._array.ndim for m in tensors], len(tensors) - 1
    for which, i in (("first", 0), ("last", last)):
        if ndims[i] not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {ndims[i]}D")
    for i in range(1, last):
        if ndims[i] != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {ndims[i]}D")
    dtype = tensors[0]._array.dtype
    for i, m in enumerate(tensors):
        if m._array.dtype != dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {WORDS[dtype.name]} and tensor {i} "
                f"{WORDS[m._array.dtype.name]}"
            )
    for i, (a, b) in enumerate(itertools.pairwise(tensors)):
        if a._array.shape[-1] != b._array.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} and {list(b.shape)} cannot be multiplied"
            )


def product_in_order(matrices: list[Tensor]) -> Tensor:
    """Cormen et al., Introduction to Algorithms, section 15.2: the cheapest split of every stretch of the chain."""
    n = len(matrices)
    # where both ways cost the same, PyTorch starts at the left, but with more matrices at the right
    if n == 3:
        (a, b), (c, d) = matrices[0]._array.shape, matrices[2]._array.shape
        if a * c * (b + d) <= b * d * (a + c):
            return mm(mm(matrices[0], matrices[1]), matrices[2])
    sizes = [matrices[0]._array.shape[0], *(m._array.shape[1] for m in matrices)]
    cost = [[0] * n for _ in range(n)]
    at = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], at[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return matrices[i]
        right = product(at[i][j] + 1, j)
        return mm(product(i, at[i][j]), right)

    return product(0, n - 1)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sum of products over one dimension; the others are broadcast."""
    for vector in (x, y):
        if vector._array.dtype.kind != "f":
            raise RuntimeError(
                f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {dtypes.word(vector._array.dtype)}"
            )
    if x._array.dtype != y._array.dtype:
        names = (dtypes.word(vector._array.dtype) for vector in (x, y))
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type {} and y of type {} instead".format(
                *names
            )
        )
    return vdot(x, y) if x._array.ndim == 1 == y._array.ndim else mul(x, y).sum(dim)


for _fn in (mm, dot, vdot, mv, bmm, matmul):
    function(_fn, _fn.__name__)
function(described(matrix_product, mm.op), "__matmul__")
matrix_product.__doc__ = matmul.__doc__

__all__ = [
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "cartesian_prod", "chain_matmul", "cross", "dot", "ger", "inner",
    "kron", "matmul", "mm", "mv", "outer", "tensordot", "vdot",
]  # fmt: skip
