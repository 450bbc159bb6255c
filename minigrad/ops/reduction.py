"""Operations that reduce a tensor, or some of its dimensions, to fewer elements, or choose along one
dimension: sorting, the largest elements, elements at given positions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from ..basics import check
from ..tensor import Tensor, plain_types, wrap
from .operands import constant
from .pointwise import BITS, abs, exp, isnan, sgn, where
from .table import is_array, op, zeros_beside

ndarray = np.ndarray
FEW = 1024  # up to this many elements, a product with ones is as exact as NumPy's sum, and faster
LARGE = 4096
all_ones = functools.lru_cache(maxsize=256)(np.ones)

# ---------------------------------------------------------------- on arrays


def added(self: ndarray, dim: tuple | None = None, keepdim: bool = False) -> ndarray:
    """The sum over dimensions, or of all elements."""
    kind, last = self.dtype.char, self.ndim - 1
    if kind in "fd":
        if dim is None and self.size <= FEW:
            return self.ravel().dot(all_ones(self.size, kind))
        if dim == (last,) and self.shape[last] <= FEW:
            return self.dot(all_ones((self.shape[last], 1) if keepdim else self.shape[last], kind))
    return np.add.reduce(self, axis=dim, keepdims=keepdim, dtype=None if self.dtype.kind == "f" else np.int64)


def average(self: ndarray, dim: tuple | None = None, keepdim: bool = False) -> ndarray:
    """The mean over dimensions, or of all elements."""
    if self.dtype.kind != "f":
        kinds = "Input dtype must be either a floating point or complex dtype"
        check(False, f"mean(): could not infer output dtype. {kinds}. Got: {{.word}}", self.dtype)
    return added(self, dim, keepdim) / (self.size if dim is None else count_of(self.shape, dim))


def count_of(sizes: tuple, dims: tuple) -> int:
    """How many elements are reduced to one."""
    return math.prod([sizes[d] for d in dims])


def _product(self: ndarray, dim: int | None = None, keepdim: bool = False) -> ndarray:
    target = None if self.dtype.kind == "f" else np.int64
    return np.multiply.reduce(self, axis=dim, keepdims=keepdim, dtype=target)


def _variance(
    self: ndarray, dim: tuple, correction: float, keepdim: bool, name: str = "std and var"
) -> ndarray:
    check(self.dtype.kind == "f", "{} only support floating point and complex dtypes", name)
    deviation = self - average(self, dim, True)
    deviation *= deviation
    return added(deviation, dim, keepdim) / np.maximum(count_of(self.shape, dim) - correction, 0).astype(
        self.dtype
    )


def _logsumexp(self: ndarray, dim: tuple, keepdim: bool) -> ndarray:
    largest = np.maximum.reduce(self, axis=dim, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, np.zeros((), self.dtype))  # inf - inf would be NaN
    y = np.log(added(np.exp(self - largest), dim, True)) + largest
    return y if keepdim else y.squeeze(dim)


def _norm(self: ndarray, ord: float, dim: tuple, keepdim: bool) -> ndarray:
    message = "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {.word}"
    check(self.dtype.kind == "f", message, self.dtype)
    if ord == 2:
        return np.sqrt(added(self * self, dim, keepdim))
    size = np.absolute(self)
    if math.isinf(ord):
        return (np.maximum if ord > 0 else np.minimum).reduce(size, axis=dim, keepdims=keepdim)
    if ord == 0:
        return added((size != 0).astype(self.dtype), dim, keepdim)
    return added(size, dim, keepdim) if ord == 1 else added(size**ord, dim, keepdim) ** (1 / ord)


OUT_OF_BOUNDS = "index {} is out of bounds for dimension {} with size {}"


@functools.lru_cache(maxsize=256)
def starts(shape: tuple, sizes: tuple, dim: int) -> ndarray:
    """Where the rows along `dim` covered by an index of this shape start in a flattened array of `sizes`."""
    rows = [slice(1 if d == dim else n) for d, n in enumerate(shape)]
    return np.arange(math.prod(sizes)).reshape(sizes)[tuple(rows)].copy()


@functools.lru_cache(maxsize=256)
def rows(sizes: tuple) -> ndarray:
    """Where the rows along the last dimension start in a flattened array of `sizes`."""
    return np.arange(0, math.prod(sizes), sizes[-1]).reshape(sizes[:-1])


def located(index: ndarray, sizes: tuple, dim: int, known: bool = False) -> ndarray:
    """The flat positions of the elements that an index names along a dimension. Raises if out of range."""
    sizes = sizes or (1,)
    if not known and leaves(index, sizes[dim]):  # negative indices do not count from the end here
        bad = next(i for i in index.flat if not 0 <= i < sizes[dim])
        raise RuntimeError(OUT_OF_BOUNDS.format(bad, dim, sizes[dim]))
    if not index.size or not index.ndim:
        return index
    step = math.prod(sizes[dim + 1 :])
    return (index if step == 1 else index * step) + starts(index.shape, sizes, dim)


def leaves(index: ndarray, length: int) -> bool:
    """Whether an array has an integer outside 0, ..., length - 1. Viewed as unsigned, negatives are large."""
    numbers = index.view(BITS[index.itemsize])
    return index.size > 0 and numbers.item(numbers.argmax()) >= length


def named(name: str, self: ndarray, index: ndarray, dim: int) -> ndarray:
    """The flat positions of the elements that an index names along a dimension. Raises PyTorch's errors."""
    message = "{}(): Expected dtype int32/int64 for index"
    check(index.dtype in (np.int64, np.int32) or not index.size, message, name)
    index = index if index.size else index.astype(np.int64)  # for no elements any dtype will do
    message = "Index tensor must have the same number of dimensions as {} tensor"
    alike = max(index.ndim, 1) == max(self.ndim, 1) or not index.size
    check(alike, message, "input" if name == "gather" else "self")
    return located(index, self.shape, dim)


def add_at(out: ndarray, places: ndarray, values: ndarray) -> ndarray:
    """Add values into an array at flat positions; a position that occurs twice gets both values."""
    if places.shape == values.shape:  # for vectors this is several times as fast
        places, values = places.reshape(-1), values.reshape(-1)
    np.add.at(out.reshape(-1), places, values)
    return out


def _scattered(self: ndarray, index: ndarray, src: ndarray, dim: int, add: bool = False) -> ndarray:
    check(src.dtype == self.dtype, "scatter(): Expected self.dtype to be equal to src.dtype")
    out, places, src = self.copy(), named("scatter", self, index, dim), src[tuple(map(slice, index.shape))]
    if add:
        return add_at(out, places, src)
    out.reshape(-1)[places] = src
    return out


def order(self: ndarray, dim: int, descending: bool, kind: str = "stable") -> ndarray:
    """The indices that sort along `dim`, equal elements in their original order, NaN as the largest."""
    if not self.ndim:
        return np.zeros((), np.int64)
    turned = (*(slice(None),) * dim, slice(None, None, -1 if descending else 1))
    result = self[turned].argsort(dim, kind)[turned]
    return constant((), result.dtype, self.shape[dim] - 1) - result if descending else result


def taken(self: ndarray, index: ndarray, dim: int) -> tuple[ndarray, ndarray]:
    """(values, indices)"""
    return self.take(located(index, self.shape, dim, known=True)), index


def _topk(self: ndarray, k: int, dim: int, largest: bool, sorted: bool) -> tuple[ndarray, ndarray]:
    check(0 <= k <= (self.shape[dim] if self.ndim else 1), "selected index k out of range")
    check(self.dtype.kind != "b", "topk does not support bool dtypes on CPU")
    first = (*(slice(None),) * dim, slice(k)) if self.ndim else ()
    return taken(self, order(self, dim, largest, "quicksort")[first].copy(), dim)


def _counted(self: ndarray, weights: ndarray | None, minlength: int) -> ndarray:
    message = "bincount only supports 1-d non-negative integral inputs."
    check(self.ndim == 1 and (not self.size or self.min() >= 0), message)
    message = "weights should be 1-d and have the same length as input"
    check(weights is None or weights.shape == self.shape, message)
    check(minlength >= 0, "minlength should be >= 0")
    counts = np.bincount(self, weights, minlength)
    return counts if weights is None or weights.dtype != np.float32 else counts.astype(weights.dtype)


def truth(self: ndarray, reduce: np.ufunc, dim: tuple, keepdim: bool) -> ndarray:
    """Whether all, or any, of the elements are nonzero."""
    result = reduce.reduce(self, axis=dim, keepdims=keepdim)
    return result.astype(np.uint8) if self.dtype == np.uint8 else result


# ---------------------------------------------------------------- parts of rules


@functools.lru_cache(maxsize=256)
def with_ones(sizes: tuple, dims: tuple) -> tuple:
    """The shape with length 1 for the dimensions that are reduced."""
    return tuple([1 if i in dims else n for i, n in enumerate(sizes)])


@functools.lru_cache(maxsize=256)
def stretched(sizes: tuple, dims: tuple, itemsize: int) -> tuple:
    """The strides of a contiguous array that lacks `dims`, or has length 1 there, stretched to `sizes`."""
    return np.broadcast_to(np.empty(with_ones(sizes, dims), f"V{itemsize}"), sizes).strides


def restored(x, sizes: tuple, dims: tuple, keepdim: bool):
    """A reduction's result, or its gradient, in a shape that broadcasts with the input."""
    return x if keepdim else x.reshape(with_ones(tuple(sizes), dims))


def expand_reduced(grad, sizes: tuple, dims: tuple | None = None, keepdim: bool = False):
    """A gradient of a reduction's result, stretched back over the reduced dimensions (None: all)."""
    if isinstance(grad, Tensor):
        return (grad if dims is None else restored(grad, sizes, dims, keepdim)).expand(sizes)
    if dims is None and math.prod(sizes) <= LARGE:  # one value repeated would be slower to work with
        return grad * all_ones(sizes, grad.dtype.char)
    reduced = tuple(range(len(sizes))) if dims is None else dims  # np.broadcast_to takes ten times as long
    return ndarray(sizes, grad.dtype, np.ascontiguousarray(grad), 0, stretched(sizes, reduced, grad.itemsize))


def prod_self(grad, self, result, dim=None, keepdim=False):
    """∂self = grad · the product of all other elements, or of those along `dim`: a quotient if none is 0."""
    if not len(self.shape):
        return grad
    if dim is not None:
        grad, result = (restored(x, self.shape, (dim,), keepdim) for x in (grad, result))
    if np.all(self if is_array(self) else type(self) in plain_types and self._array):  # no values inside vmap
        return grad * (result / self)
    if dim is None:
        return prod_self(grad, self.reshape((-1,)), result, 0).reshape(self.shape)
    sizes, own = tuple(self.shape), np.eye(self.shape[dim], dtype=bool)
    own = own.reshape(own.shape + (1,) * (len(sizes) - dim - 1))  # one more dimension before `dim`
    x = self.reshape((*sizes[:dim], 1, *sizes[dim:]))
    return grad * prod_dim(where(own if is_array(x) else wrap(own), 1.0, x), dim + 1)


def logsumexp_tangent(inputs, tangents, results, params):
    """The mean of the tangents, weighted by the exponentials: exact where only the largest one matters."""
    dim, keepdim = params
    weights = exp(inputs[0] - amax(inputs[0], dim, True) if inputs[0].numel() else inputs[0])
    return sum_dim(weights * tangents[0], dim, keepdim) / sum_dim(weights, dim, keepdim)


def or_inf(x):
    """`x`, and inf where it is 0: dividing by it gives 0 there, with derivatives of 0."""
    return where(x == 0, math.inf, x)


def var_self(grad, self, dim, correction, keepdim):
    sizes = tuple(self.shape)
    freedom = count_of(sizes, dim) - correction
    factor = 2 / freedom if freedom > 0 else math.inf if freedom == 0 else math.nan
    return restored(grad * factor, sizes, dim, keepdim) * (self - mean_dim(self, dim, True))


def norm_self(grad, self, ord, result, dim, keepdim):
    """∂x = grad · sgn(x) |x/result|^(ord-1), 0 where all elements are 0. For order inf, the largest share."""
    grad, result = (restored(x, self.shape, dim, keepdim) for x in (grad, result))
    if ord == 2:
        return self * (grad / or_inf(result))
    if ord == 0:
        return None
    sign = sgn(self)
    if math.isinf(ord):
        largest = abs(self) == result
        return sign * largest * shared(grad, largest, dim)
    if ord == 1:
        return sign * grad
    size, scale = where(self == 0, 1.0, abs(self)), where(result == 0, 1.0, result)
    slope = sign * size ** (ord - 1) * (grad * scale ** (1 - ord))
    return where(self == 0, 0.0, slope)


def shared(grad, chosen, dims: tuple | None):
    """A gradient, divided equally among the chosen elements."""
    count = sum_dim(chosen, dims, True)
    return grad / (count.astype(grad.dtype) if is_array(grad) else count)


def extremum_self(grad, self, result, dim, keepdim):
    """Equal elements share the gradient. NaN is not equal to the result: 0 / 0, so the gradient is NaN."""
    grad, result = (restored(x, self.shape, dim, keepdim) for x in (grad, result))
    chosen = self == result
    return chosen * shared(grad, chosen, dim)


def whole_extremum_self(grad, self, result):
    """Equal elements share the gradient; NaN counts as equal to itself."""
    chosen = (self == result) | (isnan(self) & isnan(result))
    return where(chosen, shared(grad, chosen, None), 0.0)


def selected_self(grad, indices, self_sym_sizes, dim, keepdim):
    """Each gradient goes to the element that was taken. No element was taken more than once."""
    sizes = tuple(self_sym_sizes)
    if not sizes:
        return grad
    grad, indices = restored(grad, sizes, (dim,), keepdim), restored(indices, sizes, (dim,), keepdim)
    spread = zeros_beside(grad, sizes)
    if not is_array(grad):
        return scatter(spread, dim, indices, grad)
    spread.put(located(indices, sizes, dim, known=True), grad)
    return spread


# ---------------------------------------------------------------- declarations

NO_SLOPE = "the derivative for '_unique2' is not implemented."
# fmt: off
SELECTION = {"outputs": ("values", "indices"), "constants": ("indices",)}
SORTED = SELECTION | {
    "self": lambda grad, indices, self_sym_sizes, dim: selected_self(grad, indices, self_sym_sizes, dim, True)}


def extremes(name: str, word: str, reduce: Callable, place: Callable) -> tuple[Callable, ...]:
    """Four operations: the extreme over dimensions, of all elements, over one dimension with its index, and the index alone."""
    over = op(f"a{name}(self, dim: dims=(), keepdim: bool=False)",
        lambda self, dim, keepdim: reduce(self, axis=dim, keepdims=keepdim), self=extremum_self,
        doc=f"The {word} over `dim`. Equal ones share the gradient.")
    whole = op(f"{name}(self)", lambda self: reduce(self, axis=None), node=f"{name.title()}Backward1", self=whole_extremum_self,
        batch=lambda self: over(self), doc=f"The {word} element. Equal ones share the gradient.")
    along = op(f"{name}(self, dim: dim, keepdim: bool=False)",
        lambda self, dim, keepdim: (reduce(self, axis=dim, keepdims=keepdim), place(self, dim, keepdims=keepdim)),
        **SELECTION, self=selected_self,
        doc=f"The {word} element; with `dim`, (values, indices) of the {word} of each row; with a tensor, of each pair.")

    def placed(self: ndarray, dim: int | None, keepdim: bool) -> ndarray:
        check(self.dtype.kind != "b", f"arg{name}(): does not support bool input")
        return place(self, dim, keepdims=keepdim)

    where_it_is = op(f"arg{name}(self, dim: dim=None, keepdim: bool=False)", placed, batch=lambda self, dim, keepdim:
            where_it_is(self.reshape(-1), 0) if (dim, keepdim) == (None, False) else NotImplemented,
        doc=f"The index of the {word} element, the first of equal ones; without `dim`, in the flattened tensor.")
    return over, whole, along, where_it_is


sum = op("sum(self)", added, kind="linear", batch=lambda self: sum_dim(self, None), doc="The sum of all elements.",
                 self=lambda grad, self_sym_sizes: expand_reduced(grad, self_sym_sizes))
sum_dim = op("sum(self, dim: dims, keepdim: bool=False)", added, kind="linear", node="SumBackward1",
    doc="The sum of all elements, or over the dimensions `dim`. Integers and bools are summed as int64.",
    self=lambda grad, self_sym_sizes, dim, keepdim: expand_reduced(grad, self_sym_sizes, dim, keepdim))
mean = op("mean(self)", average, kind="linear", batch=lambda self: mean_dim(self, None), doc="The mean of all elements.",
    self=lambda grad, self_sym_sizes, self_sym_numel: expand_reduced(grad / self_sym_numel, self_sym_sizes))
mean_dim = op("mean(self, dim: dims, keepdim: bool=False)", average, kind="linear", node="MeanBackward1",
    doc="The mean of all elements, or over the dimensions `dim`.",
    self=lambda grad, self_sym_sizes, self_sym_numel, dim, keepdim:
        expand_reduced(grad / count_of(self_sym_sizes, dim), self_sym_sizes, dim, keepdim))
prod = op("prod(self)", _product, batch=lambda self: prod_dim(self.reshape(-1), 0),
          doc="The product of all elements. Integers and bools are multiplied as int64.",
          self=lambda grad, self, result: prod_self(grad, self, result))
prod_dim = op("prod(self, dim: dim, keepdim: bool=False)", _product, node="ProdBackward1", self=prod_self,
              doc="The product over the dimension `dim`.")
amax, max_whole, max_dim, argmax = extremes("max", "largest", np.maximum.reduce, ndarray.argmax)
amin, min_whole, min_dim, argmin = extremes("min", "smallest", np.minimum.reduce, ndarray.argmin)
all = op("all(self, dim: dims=None, keepdim: bool=False)", lambda x, *given: truth(x, np.logical_and, *given),
         doc="Whether all elements (over `dim`) are nonzero.")
any = op("any(self, dim: dims=None, keepdim: bool=False)", lambda x, *given: truth(x, np.logical_or, *given),
         doc="Whether any element (over `dim`) is nonzero.")
var = op("var(self, dim: dims=None, *, correction: Scalar=1, keepdim: bool=False)", _variance, self=var_self,
         doc="The variance: the squared deviations, summed and divided by the count less `correction`.")
std = op("std(self, dim: dims=None, *, correction: Scalar=1, keepdim: bool=False)", lambda *given: np.sqrt(_variance(*given)),
         self=lambda grad, self, result, dim, correction, keepdim:
             var_self(grad / (2 * or_inf(result)), self, dim, correction, keepdim),
         doc="The standard deviation: the root of the variance.")
vector_norm = op("linalg_vector_norm(self, ord: Scalar=2, dim: dims=None, keepdim: bool=False)", _norm, at="linalg",
    doc="The norm over `dim`: the sum of `|x| ** ord`, to the power of `1 / ord`; inf: the largest; 0: how many are nonzero.",
    self=norm_self)
logsumexp = op("logsumexp(self, dim: dims, keepdim: bool=False)", _logsumexp, floating=True, jvp=logsumexp_tangent,
               doc="`log(sum(exp(input)))` over the dimensions `dim`, without overflow.",
               self=lambda grad, self, result, dim, keepdim: restored(grad, self.shape, dim, keepdim) * exp(
                   self - restored(result, self.shape, dim, keepdim)))
gather = op("gather(self, dim: dim, index)", lambda self, index, dim:
                self.reshape(-1).take(named("gather", self, index, dim)), kind="linear",
            doc="The elements that `index` names along `dim`, in its shape: for dim 0, out[i][j] = input[index[i][j]][j].",
            self=lambda grad, self, dim, index: scatter_add(zeros_beside(grad, self.shape), dim, index, grad))
scatter = op("scatter(self, dim: dim, index, src)", _scattered, kind="jointly linear", numbers=False, inplace=True,
             doc="The reverse of `gather`: `src` written where `index` says, else `input`.",
             self=lambda grad, dim, index: scatter(grad, dim, index, zeros_beside(grad, index.shape)),
             src=lambda grad, dim, index: gather(grad, dim, index))
scatter_add = op("scatter_add(self, dim: dim, index, src)", lambda *given: _scattered(*given, add=True), kind="jointly linear",
                 inplace=True, doc="`input` with `src` added at the positions in `index`, once for each occurrence.",
                 self=lambda grad: grad, src=lambda grad, dim, index: gather(grad, dim, index))
sort = op("sort(self, dim: dim=-1, descending: bool=False)", lambda self, dim, descending:
          taken(self, order(self, dim, descending), dim), **SORTED,
          doc="(values, indices) sorted along `dim`. NaN counts as the largest; equal elements keep their order.")
argsort = op("argsort(self, dim: dim=-1, descending: bool=False)", order, doc="The indices that sort along `dim`.")
topk = op("topk(self, k: int, dim: dim=-1, largest: bool=True, sorted: bool=True)", _topk, **SORTED,
          doc="(values, indices) of the `k` largest, or smallest, elements along `dim`, in order.")
bincount = op("bincount(self, weights=None, minlength: int=0)", _counted, takes="iu",
              doc="How many times each of the numbers 0, 1, ... occurs in a vector of integers, or the sum of its weights.")
unique = op("unique(self)", lambda self: np.unique(self, equal_nan=False), node="Unique2Backward0",
            self=lambda grad: check(False, NO_SLOPE, error=NotImplementedError), doc="The distinct elements, in order.")
# fmt: on
