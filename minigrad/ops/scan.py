"""Running sums, products and extrema along a dimension, and differences, which undo the sums."""

from __future__ import annotations

import numpy as np

from .. import dtypes, return_types
from ..tensor import Tensor, check_dim, wrap
from .choice import where
from .elementary import exp
from .joining import cat
from .reduction import any_zero, computed_in, widened
from .sorting import spread
from .table import define, function, is_array

ndarray = np.ndarray


def running(compute, x: ndarray, dim: int) -> ndarray:
    """A ufunc's running results along `dim`; a 0-d array is its own."""
    return compute.accumulate(x, axis=dim) if x.ndim else x.copy()


def running_back(compute, x: ndarray, dim: int) -> ndarray:
    """The same from the end."""
    if not x.ndim:
        return x.copy()
    backwards = (slice(None),) * dim + (slice(None, None, -1),)
    return compute.accumulate(x[backwards], axis=dim)[backwards]


# ---------------------------------------------------------------- sums

_cumsum = define(
    "cumsum", lambda self, dim: running(np.add, self, dim), kind="linear",
    self=lambda grad, dim: cumsum_back(grad, dim),
)  # fmt: skip
cumsum_back = define(
    "cumsum_back", lambda self, dim: running_back(np.add, self, dim), kind="linear",
    self=lambda grad, dim: _cumsum(grad, dim),
)  # fmt: skip


def cumsum(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The running sum along `dim`. Integers and bools are summed as int64."""
    if dtype is None:
        input = widened(input)
    return computed_in(dtype, input, _cumsum, check_dim(dim, input._array.ndim))


# ---------------------------------------------------------------- products


def cumprod_self(grad, self, result, dim):
    """result[j] has the factor self[k] if k <= j: self[k] gets the sum over j >= k of grad[j] * result[j] / self[k]."""
    if not any_zero(self):
        return cumsum_back(grad * result, dim) / self
    n, rest = self.shape[dim], (1,) * (len(self.shape) - dim - 1)
    own, later = (
        mask.reshape((n, n, *rest)) for mask in (np.eye(n, dtype=bool), np.triu(np.ones((n, n), bool)))
    )
    if is_array(grad) and is_array(self):
        others = np.multiply.accumulate(np.where(own, 1, np.expand_dims(self, dim)), axis=dim + 1)
        return np.add.reduce(
            np.where(later, np.expand_dims(grad, dim) * others, 0), axis=dim + 1, dtype=grad.dtype
        )
    if is_array(grad):
        grad = wrap(grad)
    others = cumprod(where(wrap(own), 1.0, self.unsqueeze(dim)), dim + 1)
    return where(wrap(later), grad.unsqueeze(dim) * others, 0.0).sum(dim + 1)


_cumprod = define("cumprod", lambda self, dim: running(np.multiply, self, dim), self=cumprod_self)


def cumprod(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The running product along `dim`. Integers and bools are multiplied as int64."""
    if dtype is None:
        input = widened(input)
    return computed_in(dtype, input, _cumprod, check_dim(dim, input._array.ndim))


# ---------------------------------------------------------------- extrema


def _running_extremum(compute: np.ufunc):
    def forward(self: ndarray, dim: int) -> tuple[ndarray, ndarray]:
        values = running(compute, self, dim)
        if not self.ndim:
            return values, np.zeros((), np.int64)
        place = np.arange(self.shape[dim]).reshape((-1,) + (1,) * (self.ndim - dim - 1))
        reached = self == values if self.dtype.kind != "f" else (self == values) | np.isnan(self)
        return values, np.maximum.accumulate(np.where(reached, place, 0), axis=dim)

    return forward


def cummaxmin_self(grad, self, indices, dim):
    sizes = self.shape
    return spread(grad[0], indices, dim, sizes[dim], False) if sizes else grad[0]


_cummax = define("cummax", _running_extremum(np.maximum), outputs=("values", "indices"), self=cummaxmin_self)
_cummin = define("cummin", _running_extremum(np.minimum), outputs=("values", "indices"), self=cummaxmin_self)


def cummax(input: Tensor, dim: int):
    """(values, indices) of the largest element so far along `dim`, of equal ones the last."""
    return return_types.cummax(*_cummax(input, check_dim(dim, input._array.ndim)))


def cummin(input: Tensor, dim: int):
    """(values, indices) of the smallest element so far along `dim`, of equal ones the last."""
    return return_types.cummin(*_cummin(input, check_dim(dim, input._array.ndim)))


# ---------------------------------------------------------------- logarithms of sums of exponentials


def logcumsumexp_self(grad, self, result, dim):
    """self[k] gets the sum over j >= k of grad[j] * exp(self[k] - result[j]): every factor is at most 1."""
    if not self.shape:
        return grad
    n, axis = self.shape[dim], len(self.shape) - dim - 1
    later = np.triu(np.ones((n, n), bool)).reshape((n, n) + (1,) * axis)
    mine, others = (
        (*self.shape[: dim + 1], 1, *self.shape[dim + 1 :]),
        (*self.shape[:dim], 1, *self.shape[dim:]),
    )
    difference = self.reshape(mine) - result.reshape(others)
    if is_array(difference):
        parts = grad.reshape(others) * np.exp(np.where(later, difference, -np.inf))
        return np.add.reduce(parts, axis=dim + 1)
    return (grad.reshape(others) * exp(where(wrap(later), difference, -np.inf))).sum(dim + 1)


_logcumsumexp = define(
    "logcumsumexp", lambda self, dim: running(np.logaddexp, self, dim), self=logcumsumexp_self
)


def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """`log(cumsum(exp(x)))` along `dim`, computed without overflow."""
    if input._array.dtype.kind != "f":
        word = dtypes.word(input._array.dtype)
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{word}'")
    return _logcumsumexp(input, check_dim(dim, input._array.ndim))


# ---------------------------------------------------------------- differences


def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences of neighbours along `dim`, taken `n` times. `prepend` and `append` are joined on first."""
    if input._array.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = check_dim(dim, input._array.ndim)
    parts = [t for t in (prepend, input, append) if t is not None]
    if len(parts) > 1:
        input = cat(parts, dim)
    for _ in range(min(n, input._array.shape[dim])):
        count = input._array.shape[dim] - 1
        later, earlier = input.narrow(dim, 1, count), input.narrow(dim, 0, count)
        input = later != earlier if input._array.dtype.kind == "b" else later - earlier
    return input


for _fn in (cumsum, cumprod, cummax, cummin, logcumsumexp, diff):
    function(_fn, _fn.__name__)

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "diff", "logcumsumexp"]
