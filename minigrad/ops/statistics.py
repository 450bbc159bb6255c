"""More reductions: medians, variances with means, running products and extremes; searches; differences and integrals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..basics import check, wrap_dim
from ..tensor import Tensor, wrap
from .indexing import END, cumsum, cut, flip, select
from .pointwise import copy, exp, isnan, where
from .reduction import (
    SELECTION,
    _variance,
    add_at,
    added,
    amax,
    average,
    count_of,
    expand_reduced,
    gather,
    located,
    or_inf,
    order,
    restored,
    selected_self,
    shared,
    std,
    sum_dim,
    var,
    var_self,
    whole_extremum_self,
)  # fmt: skip
from .shape import cat
from .special import div_number, mul_number
from .table import function, is_array, op, zeros_beside

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


def _running(self: ndarray, dim: int, reduce: np.ufunc) -> ndarray:
    if not self.ndim:
        return self.copy()
    return reduce.accumulate(self, axis=dim, dtype=None if self.dtype.kind == "f" else np.int64)


def backwards(x, dim: int):
    """The running sums from the end."""
    return flip(cumsum(flip(x, (dim,)), dim), (dim,))


def cumprod_self(grad, self, result, dim):
    """∂xₖ = Σ gradᵢ · the product of x₀ ... xᵢ without xₖ, over i ≥ k: a quotient, unless there may be zeros."""
    if math.prod(self.shape) < 2:
        return grad
    if is_array(self) and self.all():
        return backwards(grad * result, dim) / self
    n, sizes = self.shape[dim], tuple(self.shape)
    rest = (1,) * (len(sizes) - dim - 1)
    own, later = (m.reshape(m.shape + rest) for m in (np.eye(n, dtype=bool), np.tri(n, dtype=bool).T))
    own, later = (own, later) if is_array(self) else (wrap(own), wrap(later))
    x = self.reshape((*sizes[:dim], 1, *sizes[dim:]))  # row k is without xₖ
    products = cumprod(where(own, 1.0, x), dim + 1)
    return sum_dim(where(later, products * grad.reshape(x.shape), 0.0), (dim + 1,))


def logcumsumexp_self(grad, self, result, dim):
    """∂xₖ = exp(xₖ) Σ gradᵢ / exp(resultᵢ), over i ≥ k; the largest x is taken out."""
    if not len(self.shape):
        return grad
    most = amax(self, (dim,), True)
    return exp(self - most) * backwards(grad * exp(most - result), dim)


def _extremes_so_far(self: ndarray, dim: int, reduce: np.ufunc) -> tuple[ndarray, ndarray]:
    """(the largest, or smallest, element so far; the position of the last such element)"""
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    values = reduce.accumulate(self, axis=dim)
    places = np.arange(self.shape[dim]).reshape((-1,) + (1,) * (self.ndim - dim - 1))
    result = np.where((self == values) | (self != self), places, 0)
    return values, np.maximum.accumulate(result, axis=dim)


def so_far_self(grad, indices, self, dim):
    """Each gradient goes to the element that was the largest, or smallest, so far."""
    return self * 0 if not math.prod(self.shape) else gathered_back(grad, indices, tuple(self.shape), dim)


def _middle(self: ndarray) -> ndarray:
    """The lower of the two middle elements; NaN if there is a NaN."""
    if not self.size:
        return np.array(math.nan, self.dtype)
    x = np.sort(self, axis=None)
    return x[-1] if x[-1] != x[-1] else x[(x.size - 1) // 2]


def _middle_of_numbers(self: ndarray) -> ndarray:
    numbers = self[self == self]
    return _middle(numbers if numbers.size else self)


def _kth(self: ndarray, place: int | ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(values, indices) of the element at this position of each sorted row."""
    indices = order(self, dim, False)
    if self.ndim:
        place = np.broadcast_to(place, [1 if d == dim else n for d, n in enumerate(self.shape)])
        indices = indices.take(located(np.ascontiguousarray(place), indices.shape, dim, known=True))
    values = self.take(located(indices, self.shape, dim, known=True))
    return (values, indices) if keepdim or not self.ndim else (values.squeeze(dim), indices.squeeze(dim))


def _median(self: ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    n = self.shape[dim] if self.ndim else 1
    check(n > 0, "median(): Expected reduction dim {} to have non-zero size.", dim, error=IndexError)
    broken = np.any(self != self, axis=dim if self.ndim else None, keepdims=True)
    first = np.argmax(self != self, axis=dim if self.ndim else None, keepdims=True)
    values, indices = _kth(self, (n - 1) // 2, dim, True)
    values, indices = np.where(broken, math.nan, values).astype(self.dtype), np.where(broken, first, indices)
    if not self.ndim:
        return values.reshape(()), indices.reshape(())
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _nanmedian(self: ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    count = np.sum(self == self, axis=dim if self.ndim else None, keepdims=True)
    return _kth(self, np.maximum(count - 1, 0) // 2, dim, keepdim)


def _kthvalue(self: ndarray, k: int, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    n = self.shape[dim] if self.ndim else 1
    check(0 < k <= n, "kthvalue(): selected number k out of range for dimension {}", dim)
    return _kth(self, k - 1, dim, keepdim)


def _smallest_and_largest(self: ndarray, dim: int | None, keepdim: bool) -> tuple[ndarray, ndarray]:
    message = "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
    check(self.size > 0 or (dim is not None and self.shape[dim] > 0), message)
    dim = dim if self.ndim else None
    return tuple(reduce.reduce(self, axis=dim, keepdims=keepdim) for reduce in (np.minimum, np.maximum))


def aminmax_self(grad, self, min, max, dim, keepdim):
    """The smallest and the largest element get their gradients; equal ones share them."""
    dims = tuple(range(len(self.shape))) if dim is None or not len(self.shape) else (dim,)
    total = None
    for g, value in zip(grad, (min, max), strict=True):
        if g is not None:
            g, value = (restored(x, self.shape, dims, keepdim) for x in (g, value))
            part = where(self == value, shared(g, self == value, dims), 0.0)
            total = part if total is None else total + part
    return total


def var_mean_self(grad, self, dim, correction, keepdim):
    of_var, of_mean = grad
    moved = None if of_var is None else var_self(of_var, self, dim, correction, keepdim)
    if of_mean is None:
        return moved
    sizes = tuple(self.shape)
    by_mean = expand_reduced(of_mean / count_of(sizes, dim), sizes, dim, keepdim)
    return by_mean if moved is None else moved + by_mean


def std_mean_self(grad, self, result0, dim, correction, keepdim):
    of_std, of_mean = grad
    of_var = None if of_std is None else of_std / (2 * or_inf(result0))
    return var_mean_self((of_var, of_mean), self, dim, correction, keepdim)


def _bucket(self: ndarray, boundaries: ndarray, right: bool) -> ndarray:
    check(boundaries.ndim == 1, "boundaries tensor must be 1 dimension, but got dim({})", boundaries.ndim)
    return np.asarray(boundaries.searchsorted(self, "right" if right else "left"))


def _searched(rows: ndarray, self: ndarray, right: bool) -> ndarray:
    text = "torch.searchsorted(): {} should have at least 1 dimension"
    check(rows.ndim > 0, text, "boundaries tensor")
    side = "right" if right else "left"
    if rows.ndim == 1:
        return np.asarray(rows.searchsorted(self, side))
    text = "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and "
    text += "input value tensor must match, but we got boundaries tensor {} and input value tensor {}"
    check(rows.shape[:-1] == self.shape[:-1], text, rows.shape, self.shape)
    pairs = zip(rows.reshape(-1, rows.shape[-1]), self.reshape(-1, self.shape[-1]), strict=True)
    return np.array([row.searchsorted(values, side) for row, values in pairs], np.int64).reshape(self.shape)


def _occur(
    elements: ndarray | float, test_elements: ndarray | float, assume_unique: bool, invert: bool
) -> ndarray:
    for x in (elements, test_elements):
        check(np.asarray(x).dtype.kind != "b", "Unsupported input type encountered for isin(): Bool")
    return np.isin(elements, test_elements, invert=invert)


# fmt: off
# ---------------------------------------------------------------- declarations

cumprod = op("cumprod(self, dim: dim)", lambda self, dim: _running(self, dim, np.multiply), self=cumprod_self, inplace=True,
             doc="The running product along `dim`. Integers and bools are multiplied as int64.")
logcumsumexp = op("logcumsumexp(self, dim: dim)", lambda self, dim: _running(self, dim, np.logaddexp), self=logcumsumexp_self,
                  takes="f", kernel="logcumsumexp_out_cpu",
                  doc="The logarithm of the running sum of `exp(input)` along `dim`.")
SO_FAR = SELECTION | {"self": so_far_self}
cummax = op("cummax(self, dim: dim)", lambda self, dim: _extremes_so_far(self, dim, np.maximum), **SO_FAR,
            doc="(values, indices) of the largest element so far along `dim`.")
cummin = op("cummin(self, dim: dim)", lambda self, dim: _extremes_so_far(self, dim, np.minimum), **SO_FAR,
            doc="(values, indices) of the smallest element so far along `dim`.")
gathered_back = op("gathered_back(self, indices, sizes: size, dim: dim)", lambda self, indices, sizes, dim:
                       add_at(np.zeros(sizes, self.dtype), located(indices, sizes, dim, known=True), self),
                   kind="linear", at="", self=lambda grad, indices, dim: gather(grad, dim, indices))
median_whole = op("median(self)", _middle, takes="fiu", self=whole_extremum_self,
    batch=lambda self: median(self.reshape(-1), 0)[0],
    doc="The element in the middle, the lower one of two; NaN if any element is NaN. Equal ones share the gradient.")
median = op("median(self, dim: dim, keepdim: bool=False)", _median, **SELECTION, takes="fiu", kernel="median_out",
            node="MedianBackward1", self=selected_self,
            doc="(values, indices) of the element in the middle of each row along `dim`, the lower one of two.")
nanmedian_whole = op("nanmedian(self)", _middle_of_numbers, takes="fiu", kernel="median_cpu", self=whole_extremum_self,
    batch=lambda self: nanmedian(self.reshape(-1), 0)[0], doc="The element in the middle of those that are not NaN.")
nanmedian = op("nanmedian(self, dim: dim, keepdim: bool=False)", _nanmedian, **SELECTION, takes="fiu", kernel="median_out",
    node="NanmedianBackward1", self=selected_self,
    doc="(values, indices) of the element in the middle of those that are not NaN, along `dim`.")
kthvalue = op("kthvalue(self, k: int, dim: dim=-1, keepdim: bool=False)", _kthvalue, **SELECTION, takes="fiu",
              self=selected_self,
              doc="(values, indices) of the `k`-th smallest element of each row along `dim`.")
aminmax = op("aminmax(self, *, dim: dim=None, keepdim: bool=False)", _smallest_and_largest, outputs=("min", "max"),
             self=aminmax_self, batch=lambda self, dim, keepdim:
                 aminmax(self.reshape(-1), dim=0) if dim is None and not keepdim else NotImplemented,
             doc="(min, max) of all elements, or over `dim`. Equal ones share the gradient.")
var_mean_of = op("var_mean(self, dim: dims=None, *, correction: Scalar=1, keepdim: bool=False)",
    lambda self, dim, correction, keepdim: (_variance(
        self, dim, correction, keepdim, "var_mean"), average(self, dim, keepdim)), at="",
    outputs=("result0", "result1"), self=var_mean_self)
std_mean_of = op("std_mean(self, dim: dims=None, *, correction: Scalar=1, keepdim: bool=False)",
    lambda self, dim, correction, keepdim: (np.sqrt(_variance(
        self, dim, correction, keepdim, "std_mean")), average(self, dim, keepdim)),
    at="", outputs=("result0", "result1"), self=std_mean_self)
nansum = op("nansum(self, dim: dims=None, keepdim: bool=False)", lambda self, dim, keepdim:
                added(np.where(np.isnan(self), 0, self).astype(self.dtype), dim, keepdim), doc="The sum, NaN counted as 0.",
            self=lambda grad, self, dim, keepdim: where(isnan(self), 0.0, expand_reduced(grad, self.shape, dim, keepdim)))
count_nonzero = op("count_nonzero(self, dim: dims=None)", lambda self, dim: np.asarray(np.count_nonzero(self, dim)),
                   doc="How many elements are not 0, in all or along `dim`: int64.")
HOW = "*, assume_unique: bool=False, invert: bool=False"
IN_TENSOR = "Which elements occur in `test_elements`, or with `invert` which do not."
op(f"isin(elements, test_elements, {HOW})", _occur, at="torch", numbers=False, doc=IN_TENSOR)
op(f"isin(elements, test_element: Scalar, {HOW})", _occur, at="torch", doc="The same with a number.")
op(f"isin(element: Scalar, test_elements, {HOW})", lambda tests, element, *how: _occur(element, tests, *how), at="torch",
   doc="The same with a number.")  # fmt: skip
bucketize = op("bucketize(input, boundaries, *, right: bool=False)", _bucket, at="torch", batch="rows",
               doc="For each element, how many of the sorted boundaries are below it.")
searchsorted = op("searchsorted(sorted_sequence, self, *, right: bool=False)", _searched, at="torch", numbers=True,
                  doc="Where in a sorted sequence each element would be inserted; the last dimension is the sequence.")
# fmt: on

# ---------------------------------------------------------------- composed of other operations


def unbiased_forms(name: str, of: Callable, doc: str) -> None:
    """The older forms of `var` and its relatives: with `unbiased` instead of `correction`, with or without `dim`."""

    def over_dims(self: Tensor, dim: dims, unbiased: bool, keepdim: bool = False) -> Tensor:  # noqa: F821
        return of(self, dim, correction=int(unbiased), keepdim=keepdim)

    def of_all(self: Tensor, unbiased: bool) -> Tensor:
        return of(self, None, correction=int(unbiased))

    def uncorrected(self: Tensor, dim: dims = None, *, correction: object = None, keepdim: bool = False):  # noqa: F821
        return of(self, dim, correction=1 if correction is None else correction, keepdim=keepdim)

    for form in (over_dims, of_all, uncorrected):
        form.__doc__ = f"{doc} unbiased: divided by the count less 1, else by the count."
        function("torch Tensor" if hasattr(of, "op") else "torch", name=name)(form)


@function("torch")
def var_mean(self: Tensor, dim: dims = None, *, correction: float = 1, keepdim: bool = False):  # noqa: F821
    """(variance, mean) of all elements, or over `dim`."""
    return var_mean_of(self, dim, correction=correction, keepdim=keepdim)


@function("torch")
def std_mean(self: Tensor, dim: dims = None, *, correction: float = 1, keepdim: bool = False):  # noqa: F821
    """(standard deviation, mean) of all elements, or over `dim`."""
    return std_mean_of(self, dim, correction=correction, keepdim=keepdim)


unbiased_forms("var", var, "The variance.")
unbiased_forms("std", std, "The standard deviation.")
unbiased_forms("var_mean", var_mean, "(variance, mean)")
unbiased_forms("std_mean", std_mean, "(standard deviation, mean)")


@function("torch Tensor")
def nanmean(self: Tensor, dim: dims = None, keepdim: bool = False) -> Tensor:  # noqa: F821
    """The mean of the elements that are not NaN."""
    message = "nanmean(): expected input to have floating point or complex dtype but got {.word}"
    check(self._array.dtype.kind == "f", message, self._array.dtype)
    return nansum(self, dim, keepdim) / sum_dim(~isnan(self.detach()), dim, keepdim)


@function("torch Tensor")
def diff(
    self: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences of neighbours along `dim`, taken `n` times; `prepend` and `append` are attached first."""
    check(self._array.ndim > 0, "diff expects input to be at least one-dimensional")
    check(n >= 0, "order must be non-negative but got {}", n)
    if n == 0:
        return copy(zeros_beside(self, self._array.shape), self)
    if prepend is not None or append is not None:
        self = cat([t for t in (prepend, self, append) if t is not None], dim)
    dim = wrap_dim(dim, self._array.ndim)
    for _ in range(min(n, self.size(dim))):
        earlier, later = (cut(self, dim, start, self.size(dim) - 1 + start, 1) for start in (0, 1))
        self = later ^ earlier if self._array.dtype.kind == "b" else later - earlier
    return self


def _steps(y: Tensor, x: Tensor, dim: int) -> Tensor:
    """The distances between the points `x`, shaped to be multiplied with `y`."""
    if x._array.ndim == 1:
        message = "trapezoid: There must be one `x` value for each sample point"
        check(x._array.size == y.size(dim), message)
        x = x.reshape((-1,) + (1,) * (y._array.ndim - 1 - dim))
    at = x._array.ndim - y._array.ndim + dim
    check(
        at >= 0,
        "trapezoid: `x` must have the dimension that is integrated, but it has {} dimensions",
        x._array.ndim,
    )
    earlier = cut(x, at, 0, -1, 1)
    return cut(x, at, 1, END, 1) - earlier


def _integrated(name: str, dim: int, y: Tensor, *x: Tensor) -> int:
    """The dimension, counted from the front. Raises PyTorch's errors for tensors that cannot be integrated."""
    check(y._array.ndim > 0, "{}() y must have at least one dimension", name)
    message = "{}: received a bool input for {}, but bool is not supported"
    given = "`x` or `y`" if x else "`y`"
    check(all(t._array.dtype.kind != "b" for t in (y, *x)), message, name, given)
    return wrap_dim(dim, y._array.ndim)


def _without(y: Tensor, dim: int) -> Tensor:
    """The integral over no points: zeros."""
    return y.new_zeros([n for d, n in enumerate(y.shape) if d != dim])


@function("torch", aliases="trapz")
def trapezoid(y: Tensor, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The integral along `dim` by the trapezoidal rule, over points `dx` apart."""
    dim = _integrated("trapezoid", dim, y)
    if y.size(dim) == 0:
        return _without(y, dim)
    last, first = select(y, dim, -1), select(y, dim, 0)
    ends = mul_number(first + last, 0.5)
    return mul_number(sum_dim(y, dim) - ends, float(dx))


@function("torch", aliases="trapz", name="trapezoid")
def trapezoid_at(y: Tensor, x: Tensor, *, dim: int = -1) -> Tensor:
    """The integral along `dim` by the trapezoidal rule, over the points `x`."""
    dim = _integrated("trapezoid", dim, y, x)
    if y.size(dim) == 0:
        return _without(y, dim)
    steps = _steps(y, x, dim)
    return div_number(sum_dim((cut(y, dim, 0, -1, 1) + cut(y, dim, 1, END, 1)) * steps, dim), 2.0)


@function("torch")
def cumulative_trapezoid(y: Tensor, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The running integral along `dim` by the trapezoidal rule, over points `dx` apart: one element fewer than `y`."""
    dim = _integrated("cumulative_trapezoid", dim, y)
    return cumsum(mul_number(cut(y, dim, 0, -1, 1) + cut(y, dim, 1, END, 1), dx / 2.0), dim)


@function("torch", name="cumulative_trapezoid")
def cumulative_trapezoid_at(y: Tensor, x: Tensor, *, dim: int = -1) -> Tensor:
    """The running integral along `dim` by the trapezoidal rule, over the points `x`: one element fewer than `y`."""
    dim = _integrated("cumulative_trapezoid", dim, y, x)
    steps = _steps(y, x, dim)
    return div_number(cumsum((cut(y, dim, 0, -1, 1) + cut(y, dim, 1, END, 1)) * steps, dim), 2.0)
