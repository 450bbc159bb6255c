"""softmax, its logarithm, and logsumexp: exponentials along a dimension, each computed relative to the largest."""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes
from ..memory import in_rows
from ..size import check_dim
from ..tensor import Tensor, full_name
from . import places
from .elementary import exp
from .reduction import dims_of, expand_reduced
from .sums import added, in_single, is_half, ones, rows_added
from .table import define, first_of, function

ndarray = np.ndarray


def total(x, dim: int):
    """The sum over a dimension, which is kept, of an array or a Tensor."""
    if type(x) is ndarray and dim == x.ndim - 1:
        return rows_added(x)
    return x.sum(dim, keepdim=True) if isinstance(x, Tensor) else added(x, dim, True)


NEAR = 3  # as large as the largest element may be without being subtracted
ENOUGH = 1 / 64  # what the exponentials of each row have to add up to, for one shift to serve all rows


def shifted(x: ndarray, dim: int) -> tuple[ndarray, ndarray, ndarray]:
    """(y, exp(y), the sums of these along `dim`), where y is x less the largest of each row, or another large number.

    The largest of all elements is found and subtracted more quickly than that of each row, and if it is near 0 there is
    no need to subtract it. It will do unless a row lies so far below it that digits are lost; a NaN or infinity is no
    number that will do, either.
    """
    largest = x.item(x.argmax())
    y = x if -NEAR < largest < NEAR else x - largest
    e = np.exp(y)
    kind = e.dtype.char
    sums = e.dot(ones((e.shape[-1], 1), kind)) if dim == e.ndim - 1 and kind in "fd" else total(e, dim)
    if sums.item(sums.argmin()) >= ENOUGH:
        return y, e, sums
    y = x - places.largest(x, dim)
    e = np.exp(y)
    return y, e, total(e, dim)


def _softmax_forward(self: ndarray, dim: int) -> ndarray:
    if not self.size:
        return self.copy()
    if self.dtype.char == "e":
        return in_single(_softmax_forward, self, dim)
    _, e, sums = shifted(self, dim)
    e /= sums
    return in_rows(e)


def softmax_self(grad, result, dim):
    if is_half(grad):
        return in_single(softmax_self, grad, result, dim)
    weighted = grad * result
    return weighted - result * total(weighted, dim)


_softmax = define(
    "softmax", _softmax_forward,
    self=softmax_self,
    jvp=lambda primals, tangents, results, params: softmax_self(tangents[0], results[0], *params),
)  # fmt: skip


def _safe_softmax_forward(self: ndarray, dim: int) -> ndarray:
    """Softmax, but zeros where everything is -∞: a query that may look at nothing takes nothing."""
    out = _softmax_forward(self, dim)
    if out.size and math.isnan(out.item(out.argmax())):  # which is where a NaN is, if there is one
        out[np.broadcast_to(places.largest(self, dim) == -np.inf, out.shape)] = 0
    return out


safe_softmax = define(
    "_safe_softmax", _safe_softmax_forward, node="SafeSoftmaxBackward0",
    self=softmax_self,
    jvp=lambda primals, tangents, results, params: softmax_self(tangents[0], results[0], *params),
)  # fmt: skip


def _log_softmax_forward(self: ndarray, dim: int) -> tuple[ndarray, ndarray, ndarray]:
    """(log(softmax(x)), and for the derivative exponentials and their sums, the quotient of which is softmax(x))."""
    if not self.size:
        return self.copy(), self, self
    if self.dtype.char == "e":
        return in_single(_log_softmax_forward, self, dim)
    y, e, sums = shifted(self, dim)
    out = y - np.log(sums)
    if not out.flags.c_contiguous:
        out, e = in_rows(out), in_rows(e)
    return out, e, sums


def log_softmax_backward(grad, result, dim, _exponentials, _sums):
    """∂x = grad - softmax(x) Σ grad. What softmax(x) is is known; as a function of x it is exp(result)."""
    if type(grad) is ndarray and grad.dtype.char in "fd":
        return grad - _exponentials * (total(grad, dim) / _sums)
    return grad - exp(result) * total(grad, dim)


def log_softmax_tangent(primals, tangents, results, params):
    return tangents[0] - total(exp(results[0]) * tangents[0], *params), None, None


log_softmax_along = first_of(define(  # without a check of its arguments
    "log_softmax", _log_softmax_forward, outputs=("result", "_exponentials", "_sums"),
    constants=("_exponentials", "_sums"), self=log_softmax_backward, jvp=log_softmax_tangent,
))  # fmt: skip


def _prepared(name: str, input: Tensor, dim: int, dtype: dtypes.dtype | None) -> tuple[Tensor, int]:
    if dtype is not None:
        input = input.to(dtype)
    if not isinstance(dim, int):
        raise TypeError(f"{name}(): argument 'dim' (position 2) must be int, not {full_name(type(dim))}")
    dim = check_dim(dim, input._array.ndim)
    if input._array.dtype.kind != "f":
        kernel = f"{name}_lastdim_kernel_impl" if dim == input._array.ndim - 1 else f"{name}_kernel_impl"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtypes.word(input._array.dtype)}'")
    return input, dim


def softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """`exp(x)` divided by its sum over the dimension `dim`: positive numbers that add up to 1."""
    input, dim = _prepared("softmax", input, dim, dtype)
    return _softmax(input, dim)


def log_softmax(input: Tensor, dim: int, dtype: dtypes.dtype | None = None) -> Tensor:
    """`log(softmax(x))`, computed without overflow."""
    input, dim = _prepared("log_softmax", input, dim, dtype)
    return log_softmax_along(input, dim)


# ---------------------------------------------------------------- logsumexp


def _logsumexp_forward(self: ndarray, dim: tuple, keepdim: bool) -> ndarray:
    if not self.size:
        return np.log(np.add.reduce(self, axis=dim, keepdims=keepdim))
    if self.dtype.char == "e":
        return in_single(_logsumexp_forward, self, dim, keepdim)
    largest = np.maximum.reduce(self, axis=dim, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, np.zeros((), self.dtype))  # inf - inf would be NaN
    y = np.log(np.add.reduce(np.exp(self - largest), axis=dim, keepdims=True)) + largest
    return y if keepdim else y.reshape([n for i, n in enumerate(self.shape) if i not in dim])


def logsumexp_self(grad, self, result, dim, keepdim):
    sizes = self.shape
    return expand_reduced(grad, sizes, dim, keepdim) * exp(self - expand_reduced(result, sizes, dim, keepdim))


def logsumexp_tangent(primals, tangents, results, params):
    (self,), (tangent,), (result,), (dim, keepdim) = primals, tangents, results, params
    weights = exp(self - expand_reduced(result, tuple(self.shape), dim, keepdim))
    return (weights * tangent).sum(dim, keepdim=keepdim)


_logsumexp = define(
    "logsumexp", _logsumexp_forward, floating=True, self=logsumexp_self, jvp=logsumexp_tangent
)


def logsumexp(input: Tensor, dim: int | tuple, keepdim: bool = False) -> Tensor:
    """`log(sum(exp(x)))` over the dimensions `dim`, computed without overflow."""
    return _logsumexp(input, dims_of(dim, input._array.ndim), keepdim)


for _fn in (softmax, log_softmax, logsumexp):
    function(_fn, _fn.__name__)

__all__ = ["log_softmax", "logsumexp", "softmax"]
