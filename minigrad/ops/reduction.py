"""Operations that reduce a tensor, or some of its dimensions, to fewer elements, run along one, or put it into order."""

from __future__ import annotations

import functools
import math

import numpy as np

from .. import dtypes
from ..tensor import Tensor, plain_types, wrap
from .pointwise import abs, exp, isnan, sign, where
from .publish import function
from .run import ones
from .table import is_array, op

ndarray = np.ndarray
FEW = 1024  # elements that a product with ones adds up more quickly than NumPy does, and as exactly
LARGE = 4096

# ---------------------------------------------------------------- on arrays


def added(self: ndarray, dim: tuple | None = None, keepdim: bool = False) -> ndarray:
    """The sum over dimensions, or of all elements."""
    kind, last = self.dtype.char, self.ndim - 1
    if kind in "fd":
        if dim is None and self.size <= FEW:
            return self.ravel().dot(ones(self.size, kind))
        if dim == (last,) and self.shape[last] <= FEW:
            return self.dot(ones((self.shape[last], 1) if keepdim else self.shape[last], kind))
    return np.add.reduce(self, axis=dim, keepdims=keepdim, dtype=None if self.dtype.kind == "f" else np.int64)


def average(self: ndarray, dim: tuple | None = None, keepdim: bool = False) -> ndarray:
    """The mean over dimensions, or of all elements."""
    if self.dtype.kind != "f":
        told = "Input dtype must be either a floating point or complex dtype. Got"
        raise RuntimeError(f"mean(): could not infer output dtype. {told}: {dtypes.word(self.dtype)}")
    return added(self, dim, keepdim) / (self.size if dim is None else count_of(self.shape, dim))


def count_of(sizes: tuple, dims: tuple) -> int:
    """How many elements are reduced to one."""
    return math.prod([sizes[d] for d in dims])


def _product(self: ndarray, dim: int | None = None, keepdim: bool = False) -> ndarray:
    wanted = None if self.dtype.kind == "f" else np.int64
    return np.multiply.reduce(self, axis=dim, keepdims=keepdim, dtype=wanted)


def _variance(self: ndarray, dim: tuple, unbiased: bool, keepdim: bool) -> ndarray:
    if self.dtype.kind != "f":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    deviation = self - average(self, dim, True)
    deviation *= deviation
    return added(deviation, dim, keepdim) / max(count_of(self.shape, dim) - unbiased, 0)


def _logsumexp(self: ndarray, dim: tuple, keepdim: bool) -> ndarray:
    largest = np.maximum.reduce(self, axis=dim, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, np.zeros((), self.dtype))  # inf - inf would be NaN
    y = np.log(added(np.exp(self - largest), dim, True)) + largest
    return y if keepdim else y.squeeze(dim)


def _norm(self: ndarray, ord: float, dim: tuple, keepdim: bool) -> ndarray:
    if self.dtype.kind != "f":
        told = f"Expected a floating point or complex tensor as input. Got {dtypes.word(self.dtype)}"
        raise RuntimeError(f"linalg.vector_norm: {told}")
    if ord == 2:
        return np.sqrt(added(self * self, dim, keepdim))
    size = np.abs(self)
    if math.isinf(ord):
        return (np.maximum if ord > 0 else np.minimum).reduce(size, axis=dim, keepdims=keepdim)
    if ord == 0:
        return added((size != 0).astype(self.dtype), dim, keepdim)
    return added(size**ord, dim, keepdim) ** (1 / ord)


def _sort(self: ndarray, dim: int, descending: bool) -> tuple[ndarray, ndarray]:
    """(values, indices) in order along `dim`, equal elements in their order, NaN as the largest."""
    if not self.ndim:
        return self.copy(), np.zeros((), np.int64)
    index = (np.flip(self, dim) if descending else self).argsort(dim, kind="stable")
    index = self.shape[dim] - 1 - np.flip(index, dim) if descending else index
    return np.take_along_axis(self, index, dim), index


def _topk(self: ndarray, k: int, dim: int, largest: bool, sorted: bool) -> tuple[ndarray, ndarray]:
    if not 0 <= k <= (self.shape[dim] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    first = (*(slice(None),) * dim, slice(k)) if self.ndim else ()
    return tuple(x[first].copy() for x in _sort(self, dim, largest))


def truth(self: ndarray, reduce: np.ufunc, dim: tuple, keepdim: bool) -> ndarray:
    """Are all, is any of the elements nonzero?"""
    found = reduce.reduce(self, axis=dim, keepdims=keepdim)
    return found.astype(np.uint8) if self.dtype == np.uint8 else found


# ---------------------------------------------------------------- what rules are made of: for arrays and for Tensors


@functools.lru_cache(maxsize=256)
def with_ones(sizes: tuple, dims: tuple) -> tuple:
    """The shape with length 1 for the dimensions that are reduced."""
    return tuple([1 if i in dims else n for i, n in enumerate(sizes)])


@functools.lru_cache(maxsize=256)
def stretched(sizes: tuple, dims: tuple, itemsize: int) -> tuple:
    """The strides of a contiguous array that has no `dims`, or length 1 there, when it is stretched to `sizes`."""
    return np.broadcast_to(np.empty(with_ones(sizes, dims), f"V{itemsize}"), sizes).strides


def restored(x, sizes: tuple, dims: tuple, keepdim: bool):
    """A reduction's result, or its gradient, in a shape that broadcasts with the input."""
    return x if keepdim else x.reshape(with_ones(tuple(sizes), dims))


def expand_reduced(grad, sizes: tuple, dims: tuple | None = None, keepdim: bool = False):
    """A gradient of a reduction's result, stretched back over the dimensions (None: all) that were reduced."""
    if isinstance(grad, Tensor):
        return (grad if dims is None else restored(grad, sizes, dims, keepdim)).expand(sizes)
    if dims is None and math.prod(sizes) <= LARGE:  # one value repeated would be slower to work with
        return grad * ones(sizes, grad.dtype.char)
    # what np.broadcast_to does, ten times as fast
    reduced = tuple(range(len(sizes))) if dims is None else dims
    return ndarray(sizes, grad.dtype, np.ascontiguousarray(grad), 0, stretched(sizes, reduced, grad.itemsize))


def prod_dim_self(grad, self, result, dim, keepdim):
    """∂self = grad · the product of all other elements along `dim`: a quotient, unless there may be zeros."""
    if not len(self.shape):
        return grad
    grad, result = (restored(x, self.shape, (dim,), keepdim) for x in (grad, result))
    if np.all(self if is_array(self) else type(self) in plain_types and self._array):  # vmap sees no values
        return grad * result / self
    sizes, own = tuple(self.shape), np.eye(self.shape[dim], dtype=bool)
    own = own.reshape(own.shape + (1,) * (len(sizes) - dim - 1))  # one more dimension before `dim`
    x = self.reshape((*sizes[:dim], 1, *sizes[dim:]))
    return grad * prod_dim(where(own if is_array(x) else wrap(own), 1.0, x), dim + 1)


def prod_self(grad, self, result):
    """∂self = grad · the product of all other elements."""
    flat = self.reshape((-1,)) if len(self.shape) else self
    return prod_dim_self(grad, flat, result, 0, False).reshape(self.shape)


def var_self(grad, self, dim, unbiased, keepdim):
    sizes = tuple(self.shape)
    freedom = count_of(sizes, dim) - unbiased
    factor = 2 / freedom if freedom > 0 else math.inf if freedom == 0 else math.nan
    return restored(grad * factor, sizes, dim, keepdim) * (self - mean_dim(self, dim, True))


def shared(grad, chosen, dims: tuple | None):
    """A gradient, divided equally among the chosen elements."""
    count = sum_dim(chosen, dims, True)
    return grad / (count.astype(grad.dtype) if is_array(grad) else count)


def extremum_self(grad, self, result, dim, keepdim):
    """Equal ones share the gradient. Of NaN none is equal to the result: 0 / 0, so the gradient is NaN."""
    grad, result = (restored(x, self.shape, dim, keepdim) for x in (grad, result))
    chosen = self == result
    return chosen * shared(grad, chosen, dim)


def whole_extremum_self(grad, self, result):
    """Equal ones share the gradient; NaN counts as equal to itself."""
    chosen = (self == result) | (isnan(self) & isnan(result))
    return where(chosen, shared(grad, chosen, None), 0.0)


def norm_self(grad, self, result, ord, dim, keepdim):
    """∂(Σ|x|ᵖ)^(1/p)/∂x = sign(x) |x|^(p-1) / norm^(p-1); 0 where the norm is 0, shared among ties for p = ∞."""
    grad, result = (restored(x, self.shape, dim, keepdim) for x in (grad, result))
    if ord == 0:
        return None
    if ord == 2:
        return self * where(result == 0, 0.0, grad / result)
    if math.isinf(ord):
        chosen = (abs(self) == result) | isnan(self)
        return sign(self) * where(chosen, shared(grad, chosen, dim), 0.0)
    slope = sign(self) * where(self == 0, 0.0, abs(self) ** (ord - 1))
    return slope * where(result == 0, 0.0, grad / result ** (ord - 1))


def logsumexp_self(grad, self, result, dim, keepdim):
    """∂self = grad · softmax(self)."""
    grad, result = (restored(x, self.shape, dim, keepdim) for x in (grad, result))
    return grad * exp(self - result)


def selected_self(grad, indices, self_sym_sizes, dim, keepdim):
    """Each gradient goes to the element that was taken. No element was taken twice."""
    sizes = tuple(self_sym_sizes)
    if not sizes:
        return grad
    grad, indices = (restored(x, sizes, (dim,), keepdim) for x in (grad, indices))
    if isinstance(grad, Tensor):
        return grad.new_zeros(sizes).scatter(dim, indices, grad)
    out = np.zeros(sizes, grad.dtype)
    np.put_along_axis(out, indices, grad, dim)
    return out


# ---------------------------------------------------------------- declarations


def unique_backward(grad):
    """PyTorch has no derivative for it."""
    raise NotImplementedError("the derivative for '_unique2' is not implemented.")


# fmt: off
SELECTION = {"outputs": ("values", "indices"), "constants": ("indices",)}
SORTED = SELECTION | {
    "self": lambda grad, indices, self_sym_sizes, dim: selected_self(grad, indices, self_sym_sizes, dim, True)}

sum = op("sum(self)", added, kind="linear", batch=lambda self: sum_dim(self, None), doc="The sum of all elements.",
                 self=lambda grad, self_sym_sizes: expand_reduced(grad, self_sym_sizes))
sum_dim = op(
    "sum(self, dim: dims, keepdim: bool=False)", added, kind="linear", node="SumBackward1",
    doc="The sum of all elements, or over the dimensions `dim`. Integers and bools are summed as int64.",
    self=lambda grad, self_sym_sizes, dim, keepdim: expand_reduced(grad, self_sym_sizes, dim, keepdim))
mean = op(
    "mean(self)", average, kind="linear", batch=lambda self: mean_dim(self, None), doc="The mean of all elements.",
    self=lambda grad, self_sym_sizes, self_sym_numel: expand_reduced(grad / self_sym_numel, self_sym_sizes))
mean_dim = op(
    "mean(self, dim: dims, keepdim: bool=False)", average, kind="linear", node="MeanBackward1",
    doc="The mean of all elements, or over the dimensions `dim`.",
    self=lambda grad, self_sym_sizes, self_sym_numel, dim, keepdim:
        expand_reduced(grad / count_of(self_sym_sizes, dim), self_sym_sizes, dim, keepdim))
prod = op("prod(self)", _product, self=prod_self, batch=lambda self: prod_dim(self.reshape(-1), 0),
                  doc="The product of all elements. Integers and bools are multiplied as int64.")
prod_dim = op("prod(self, dim: dim, keepdim: bool=False)", _product, node="ProdBackward1", self=prod_dim_self,
                      doc="The product of all elements, or over the dimension `dim`.")
amax = op("amax(self, dim: dims=(), keepdim: bool=False)", lambda self, dim, keepdim: np.maximum.reduce(
    self, axis=dim, keepdims=keepdim), self=extremum_self, doc="The largest over `dim`. Equal ones share the gradient.")
amin = op("amin(self, dim: dims=(), keepdim: bool=False)", lambda self, dim, keepdim: np.minimum.reduce(
    self, axis=dim, keepdims=keepdim), self=extremum_self, doc="The smallest over `dim`. Equal ones share the gradient.")
max_whole = op("max(self)", lambda self: np.maximum.reduce(self, axis=None), node="MaxBackward1", self=whole_extremum_self,
               batch=lambda self: amax(self), doc="The largest element. Equal ones share the gradient.")
max_dim = op("max(self, dim: dim, keepdim: bool=False)", lambda self, dim, keepdim: (
    np.maximum.reduce(self, axis=dim, keepdims=keepdim), self.argmax(dim, keepdims=keepdim)), **SELECTION, self=selected_self,
    doc="The largest element, with `dim` (values, indices) of the largest of each row, with a tensor of each pair.")
min_whole = op("min(self)", lambda self: np.minimum.reduce(self, axis=None), node="MinBackward1", self=whole_extremum_self,
               batch=lambda self: amin(self), doc="The smallest element. Equal ones share the gradient.")
min_dim = op("min(self, dim: dim, keepdim: bool=False)", lambda self, dim, keepdim: (
    np.minimum.reduce(self, axis=dim, keepdims=keepdim), self.argmin(dim, keepdims=keepdim)), **SELECTION, self=selected_self,
    doc="The smallest element, with `dim` (values, indices) of the smallest of each row, with a tensor of each pair.")
argmax = op("argmax(self, dim: dim=None, keepdim: bool=False)", lambda self, dim, keepdim: self.argmax(dim, keepdims=keepdim),
            batch=lambda self, dim, keepdim: argmax(self.reshape(-1), 0) if (dim, keepdim) == (None, False) else NotImplemented,
            doc="The index of the largest element, the first of equal ones; without `dim` in the flattened tensor.")
argmin = op("argmin(self, dim: dim=None, keepdim: bool=False)", lambda self, dim, keepdim: self.argmin(dim, keepdims=keepdim),
            batch=lambda self, dim, keepdim: argmin(self.reshape(-1), 0) if (dim, keepdim) == (None, False) else NotImplemented,
            doc="The index of the smallest element, the first of equal ones; without `dim` in the flattened tensor.")
all = op("all(self, dim: dims=None, keepdim: bool=False)", lambda x, *given: truth(x, np.logical_and, *given),
         doc="Are all elements (over `dim`) nonzero?")
any = op("any(self, dim: dims=None, keepdim: bool=False)", lambda x, *given: truth(x, np.logical_or, *given),
         doc="Is any element (over `dim`) nonzero?")
var = op("var(self, dim: dims=None, unbiased: bool=True, keepdim: bool=False)", _variance, self=var_self,
         doc="The variance: the sum of squares divided by the count, which is one less if `unbiased`.")
std = op("std(self, dim: dims=None, unbiased: bool=True, keepdim: bool=False)", lambda *given: np.sqrt(_variance(*given)),
         self=lambda grad, self, result, dim, unbiased, keepdim:
             var_self(where(result == 0, 0.0, grad / (2 * result)), self, dim, unbiased, keepdim),
         doc="The standard deviation: the root of the variance.")
vector_norm = op(
    "linalg_vector_norm(self, ord: Scalar=2, dim: dims=None, keepdim: bool=False)", _norm, at="linalg", self=norm_self,
    doc="(Σ |x|^ord)^(1/ord) over `dim`, for ord ±inf the largest or smallest |x|. Its derivative where all is 0 is 0.")
logsumexp = op("logsumexp(self, dim: dims, keepdim: bool=False)", _logsumexp, floating=True, self=logsumexp_self,
               doc="`log(sum(exp(self)))` over the dimensions `dim`, without overflow.")
sort = op("sort(self, dim: dim=-1, descending: bool=False)", _sort, **SORTED,
          doc="(values, indices) in order along `dim`. NaN counts as the largest; equal elements keep their order.")
argsort = op("argsort(self, dim: dim=-1, descending: bool=False)", lambda *given: _sort(*given)[1],
             doc="The indices that sort along `dim`.")
topk = op("topk(self, k: int, dim: dim=-1, largest: bool=True, sorted: bool=True)", _topk, **SORTED,
          doc="(values, indices) of the `k` largest, or smallest, elements along `dim`, the first one first.")
bincount = op("bincount(self, weights=None, minlength: int=0)", np.bincount,
              doc="How often each of the numbers 0, 1, ... occurs in a vector of integers, or the sum of the weights there.")
unique = op("unique(self)", lambda self: np.unique(self, equal_nan=False), node="Unique2Backward0", self=unique_backward,
            doc="The distinct elements, in order.")
# fmt: on


@function("torch Tensor")
def norm(self: Tensor, p: object = "fro", dim: object = None, keepdim: bool = False) -> Tensor:
    """The p-norm of all elements, or over `dim`; "fro" is p = 2."""
    return vector_norm(self, 2 if p is None or p == "fro" else p, dim, keepdim)
