"""Operations that reduce a tensor, or some of its dimensions, to fewer elements: sums, means, products, extrema.

What picks elements by rank (`max` over a dimension, `median`, `sort`) is in sorting.py.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
import warnings

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import special
from ..autograd.interpreter import Wrapper
from ..autograd.node import edge
from ..memory import in_rows
from ..size import check_dim
from ..tensor import Tensor, full_name, wrap
from .choice import where
from .comparison import isnan
from .sums import added, all_added, in_single, ones, rows_added
from .table import define, function, is_array

ndarray = np.ndarray


class _All:
    """The default of `dim`: over all elements. (`dim=None` says the same, but makes another node.)"""

    def __repr__(self) -> str:
        return "None"


ALL = _All()


class _EveryDimension:
    """Stands for the tuple of all dimensions, however many there are."""

    def __contains__(self, dim: int) -> bool:
        return True


ALL_DIMS = _EveryDimension()


def dims_of(dim: int | tuple | list | None, ndim: int) -> tuple:
    """The reduced dimensions, counted from the front. Raises for dimensions out of range or named twice."""
    if isinstance(dim, int):
        return (check_dim(dim, ndim),)[:ndim]
    if dim is None or dim is ALL:
        return tuple(range(ndim))
    if not isinstance(dim, (tuple, list)):
        if not np.ndim(dim) and hasattr(dim, "__index__"):  # NumPy's integers, 0-d tensors
            return (check_dim(operator.index(dim), ndim),)[:ndim]
        raise TypeError(f"argument 'dim' must be tuple of ints, not {full_name(type(dim))}")
    found = tuple(check_dim(d, ndim) for d in dim)
    for d in found:
        if found.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return found if found and ndim else tuple(range(ndim))


def no_dimension(name: str) -> TypeError:
    """PyTorch's error for `x.sum(keepdim=True)`."""
    return TypeError(
        f"{name}() received an invalid combination of arguments - got (keepdim=bool, ), but expected one of:\n"
        " * (*, torch.dtype dtype = None)\n * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)"
    )


LARGE = 1 << 12  # elements


def divided(grad, count: int):
    """`grad / count` for a single number, which NumPy divides in a tenth of the time if it is no array."""
    return (grad[()] if type(grad) is np.ndarray else grad) / count


@functools.lru_cache(maxsize=256)
def with_ones(sizes: tuple, dims: tuple) -> tuple:
    """The shape with length 1 for the dimensions that are reduced."""
    return tuple([1 if i in dims else n for i, n in enumerate(sizes)])


def restored(grad, sizes: tuple, dims: tuple, keepdim: builtins.bool):
    """A gradient of a reduction's result, or the result, in a shape that broadcasts with the input."""
    return grad if keepdim else grad.reshape(with_ones(sizes, dims))


def expand_reduced(grad, sizes: tuple, dims: tuple = ALL_DIMS, keepdim: bool = False):
    """A gradient of a reduction's result, stretched back over the dimensions that were reduced."""
    if dims is ALL_DIMS and is_array(grad):
        if math.prod(sizes) > LARGE:
            return np.ndarray(sizes, grad.dtype, np.asarray(grad), 0, (0,) * len(sizes))
        # quicker than to fill an array, or to work with a repeated value
        return grad * ones(sizes, grad.dtype.char)
    if isinstance(grad, Tensor):
        return restored(grad, tuple(sizes), dims, keepdim).expand(sizes)
    grad = np.ascontiguousarray(grad)
    # what np.broadcast_to does, ten times as fast
    return np.ndarray(sizes, grad.dtype, grad, 0, _stretched(tuple(sizes), dims, grad.itemsize))


@functools.lru_cache(maxsize=256)
def _stretched(sizes: tuple, dims: tuple, itemsize: int) -> tuple:
    """The strides of a contiguous array that has no `dims`, or length 1 there, when it is stretched to `sizes`."""
    strides, step = [], itemsize
    for d in reversed(range(len(sizes))):
        strides.append(0 if d in dims else step)
        step *= 1 if d in dims else sizes[d]
    return tuple(reversed(strides))


def count_of(sizes: tuple, dims: tuple) -> int:
    return math.prod([sizes[d] for d in dims])


def computed_in(dtype: dtypes.dtype | None, input: Tensor, call, *params) -> Tensor:
    """Run a reduction in another dtype. As in PyTorch the cast is part of the operation and has no node of its own."""
    wanted = None if dtype is None else dtypes.to_numpy(dtype)
    if wanted is not None and wanted.kind != "f":  # NumPy adds bools and small integers up as large ones
        return call(input.to(dtype), *params).to(dtype)
    if wanted is None or wanted == input._array.dtype:
        return call(input, *params)
    if special or not input._requires_grad:
        return call(input.to(dtype), *params)
    cast = wrap(input._array.astype(wanted), True)
    cast._grad_fn, cast._output_nr = edge(input), input._output_nr
    out = call(cast, *params)
    out._grad_fn._meta = ((input._array.shape, input._array.dtype),)  # the gradient is cast back
    return out


def widened(input: Tensor) -> Tensor:
    """Integers and bools are added up as int64."""
    return input if input._array.dtype.kind == "f" or input._array.dtype == np.int64 else input.long()


# ---------------------------------------------------------------- sum and mean

_sum = define(
    "sum", all_added, kind="linear", self=lambda grad, self_sym_sizes: expand_reduced(grad, self_sym_sizes)
)
_sum_dim = define(
    "sum", lambda self, dim, keepdim: added(self, dim, keepdim), kind="linear", node="SumBackward1",
    self=lambda grad, self_sym_sizes, dim, keepdim: expand_reduced(grad, self_sym_sizes, dim, keepdim),
)  # fmt: skip
_mean = define(
    "mean", lambda self, self_sym_numel: all_added(self) / self_sym_numel
        if self.dtype.char != "e" else in_single(_mean.op.forward, self, self_sym_numel), kind="linear",
    self=lambda grad, self_sym_sizes, self_sym_numel: expand_reduced(divided(grad, self_sym_numel), self_sym_sizes),
)  # fmt: skip


def _mean_dim_forward(self: ndarray, dim: tuple, keepdim: bool, self_sym_numel: int) -> ndarray:
    if self.dtype.char == "e":
        return in_single(_mean_dim_forward, self, dim, keepdim, self_sym_numel)
    return np.add.reduce(self, axis=dim, keepdims=keepdim) / np.asarray(count_of(self.shape, dim), self.dtype)


def mean_self(grad, self_sym_sizes, dim, keepdim):
    return expand_reduced(grad / count_of(self_sym_sizes, dim), self_sym_sizes, dim, keepdim)


_mean_dim = define(
    "mean", _mean_dim_forward, kind="linear", node="MeanBackward1",
    self=lambda grad, self_sym_sizes, self_sym_numel, dim, keepdim: mean_self(grad, self_sym_sizes, dim, keepdim),
)  # fmt: skip


def refuse_keepdim(name: str, keepdim: object) -> None:
    """Raise PyTorch's error: `x.sum(0, 1)` is not a sum over two dimensions, which is `x.sum((0, 1))`."""
    if not isinstance(keepdim, np.bool_):
        raise TypeError(
            f"{name}(): argument 'keepdim' (position 2) must be bool, not {full_name(type(keepdim))}"
        )


def sum(
    input: Tensor,
    dim: int | tuple | None = ALL,
    keepdim: builtins.bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    axis: int | tuple | None = ALL,
    keepdims: builtins.bool = False,
) -> Tensor:
    """The sum of all elements, or over the dimensions `dim`. Integers and bools are summed as int64."""
    if not isinstance(input, Tensor):
        raise TypeError(f"sum(): argument 'input' (position 1) must be Tensor, not {full_name(type(input))}")
    if dtype is None:
        input = widened(input)
    if axis is not ALL or keepdims:
        dim, keepdim = axis if dim is ALL else dim, keepdims or keepdim
    if keepdim is not False and keepdim is not True:
        refuse_keepdim("sum", keepdim)
    if dim is ALL:
        if keepdim:
            raise no_dimension("sum")
        return _sum(input) if dtype is None else computed_in(dtype, input, _sum)
    dim = dims_of(dim, input._array.ndim)
    return (
        _sum_dim(input, dim, keepdim) if dtype is None else computed_in(dtype, input, _sum_dim, dim, keepdim)
    )


def _float_dtype(name: str, dtype: dtypes.dtype) -> dtypes.dtype:
    """`dtype`. Raises PyTorch's error if an average cannot be computed in it."""
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"{name}(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: "
            + dtypes.word(dtype.numpy)
        )
    return dtype


def mean(
    input: Tensor,
    dim: int | tuple | None = ALL,
    keepdim: builtins.bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    axis: int | tuple | None = ALL,
    keepdims: builtins.bool = False,
) -> Tensor:
    """The mean of all elements, or over the dimensions `dim`. Raises RuntimeError for integer tensors."""
    if dtype is None and input._array.dtype.kind != "f":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            + dtypes.word(input._array.dtype)
        )
    if dtype is not None:
        _float_dtype("mean", dtype)
    if axis is not ALL or keepdims:
        dim, keepdim = axis if dim is ALL else dim, keepdims or keepdim
    if keepdim is not False and keepdim is not True:
        refuse_keepdim("mean", keepdim)
    if dim is ALL:
        if keepdim:
            raise no_dimension("mean")
        size = input._array.size
        return _mean(input, size) if dtype is None else computed_in(dtype, input, _mean, size)
    array = input._array
    return computed_in(dtype, input, _mean_dim, dims_of(dim, array.ndim), keepdim, array.size)


_nansum = define(
    "nansum", lambda self, dim, keepdim: added(np.where(np.isnan(self), np.zeros((), self.dtype), self), dim, keepdim),
    self=lambda grad, self, dim, keepdim: where(
        isnan(self), 0.0, expand_reduced(grad, self.shape, dims_of(dim, self.ndim), keepdim)
    ),
)  # fmt: skip


def nansum(
    input: Tensor,
    dim: int | tuple | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The sum over `dim`, with NaN counted as zero."""
    if dtype is None:
        input = widened(input)
    return computed_in(
        dtype, input, _nansum, None if dim is None else dims_of(dim, input._array.ndim), keepdim
    )


def nanmean(
    input: Tensor,
    dim: int | tuple | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The mean over `dim` of the elements that are not NaN. Raises RuntimeError for integer tensors."""
    if input._array.dtype.kind != "f":
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            + dtypes.word(input._array.dtype)
        )
    if dtype is not None:
        _float_dtype("nanmean", dtype)
    return nansum(input, dim, keepdim, dtype=dtype) / (~isnan(input.detach())).sum(dim, keepdim)


# ---------------------------------------------------------------- product


def products_of_others(x, dim: int):
    """For each element along `dim` the product of all others: what a quotient cannot say where there are zeros."""
    n = x.shape[dim]
    if isinstance(x, Tensor):
        own = np.eye(n, dtype=bool).reshape((n, n) + (1,) * (x.dim() - dim - 1))
        return where(wrap(own), 1.0, x.unsqueeze(dim)).prod(dim + 1)
    before, after = np.ones(x.shape, x.dtype), np.ones(x.shape, x.dtype)
    part = (slice(None),) * dim
    before[(*part, slice(1, None))] = np.multiply.accumulate(x[(*part, slice(None, -1))], axis=dim)
    after[(*part, slice(None, -1))] = np.multiply.accumulate(x[(*part, slice(None, 0, -1))], axis=dim)[
        (*part, slice(None, None, -1))
    ]
    return before * after


def any_zero(x) -> builtins.bool:
    """Is there a zero? Inside a transform the values cannot be asked, so there may be one."""
    return isinstance(x, Wrapper) or not (x if is_array(x) else x._array).all()


def prod_self(grad, self, result):
    if not self.shape:
        return grad
    if any_zero(self):
        return grad * products_of_others(self.reshape(-1), 0).reshape(self.shape)
    return grad * (result / self)


def prod_dim_self(grad, self, result, dim, keepdim):
    sizes, dims = self.shape, (dim,) if len(self.shape) else ()
    grad = restored(grad, sizes, dims, keepdim)
    if dims and any_zero(self):
        return grad * products_of_others(self, dim)
    return grad * (restored(result, sizes, dims, keepdim) / self) if dims else grad


_prod = define("prod", lambda self: np.multiply.reduce(self, axis=None), self=prod_self)
_prod_dim = define(
    "prod", lambda self, dim, keepdim: in_rows(np.multiply.reduce(self, axis=dim, keepdims=keepdim)),
    node="ProdBackward1",
    self=prod_dim_self,
)  # fmt: skip


def prod(
    input: Tensor,
    dim: int | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The product of all elements, or over one dimension. Integers and bools are multiplied as int64."""
    if dim is not None and not isinstance(dim, int):
        raise TypeError(
            f"prod() received an invalid combination of arguments - got ({full_name(type(dim))}), but expected one of:\n"
            " * (*, torch.dtype dtype = None)\n * (int dim, bool keepdim = False, *, torch.dtype dtype = None)"
        )
    if dtype is None:
        input = widened(input)
    if dim is None:
        return computed_in(dtype, input, _prod)
    return computed_in(dtype, input, _prod_dim, check_dim(dim, input._array.ndim), keepdim)


# ---------------------------------------------------------------- variance


def _all_or(dim: tuple | None, ndim: int) -> tuple:
    return tuple(range(ndim)) if dim is None else dim


def _moments(
    self: ndarray, dim: tuple | None, correction: float | None, keepdim: builtins.bool
) -> tuple[ndarray, ndarray]:
    """Variance and mean over dimensions."""
    if self.dtype.char == "e":
        single = _moments(self.astype(np.float32), dim, correction, keepdim)
        return tuple(np.asarray(x).astype(np.float16) for x in single)
    dims = _all_or(dim, self.ndim)
    count = count_of(self.shape, dims)
    average = np.add.reduce(self, axis=dims, keepdims=True) / np.asarray(count, self.dtype)
    deviation = self - average
    deviation *= deviation
    freedom = builtins.max(count - (1 if correction is None else correction), 0)
    variance = in_rows(
        np.add.reduce(deviation, axis=dims, keepdims=keepdim) / np.asarray(freedom, self.dtype)
    )
    return variance, in_rows(average) if keepdim else average.reshape(variance.shape)


def var_self(grad, self, dim, correction, keepdim):
    sizes = self.shape
    dims = _all_or(dim, len(sizes))
    count = count_of(sizes, dims)
    freedom = count - (1 if correction is None else correction)
    average = (
        _mean_dim_forward(self, dims, True, self.size) if is_array(self) else self.mean(dims, keepdim=True)
    )
    factor = 2 / freedom if freedom > 0 else math.inf if freedom == 0 else math.nan
    return restored(grad * factor, sizes, dims, keepdim) * (self - average)


def std_self(grad, self, result, dim, correction, keepdim):
    return var_self(where(result == 0, 0.0, grad / (2 * result)), self, dim, correction, keepdim)


def var_mean_self(grad, self, dim, correction, keepdim):
    of_var, of_mean = grad
    sizes = self.shape
    dims = _all_or(dim, len(sizes))
    if of_var is None:
        return mean_self(of_mean, sizes, dims, keepdim)
    out = var_self(of_var, self, dim, correction, keepdim)
    return out if of_mean is None else out + restored(of_mean / count_of(sizes, dims), sizes, dims, keepdim)


def std_mean_self(grad, self, result0, dim, correction, keepdim):
    of_std, of_mean = grad
    if of_std is not None:
        of_std = where(result0 == 0, 0.0, of_std / (2 * result0))
    return var_mean_self((of_std, of_mean), self, dim, correction, keepdim)


def _std_mean_forward(self, dim, correction, keepdim):
    variance, average = _moments(self, dim, correction, keepdim)
    return np.sqrt(variance), average


_var = define(
    "var", lambda self, dim, correction, keepdim: _moments(self, dim, correction, keepdim)[0], self=var_self
)
_std = define(
    "std",
    lambda self, dim, correction, keepdim: np.sqrt(_moments(self, dim, correction, keepdim)[0]),
    self=std_self,
)
_var_mean = define(
    "var_mean", lambda self, dim, correction, keepdim: _moments(self, dim, correction, keepdim), outputs=("result0", "result1"),
    self=var_mean_self,
)  # fmt: skip
_std_mean = define("std_mean", _std_mean_forward, outputs=("result0", "result1"), self=std_mean_self)


def _spread(name: str, call, doc: str):
    """var, std, var_mean, std_mean: they read their arguments in the same ways."""

    def measure(
        input: Tensor, dim: int | tuple | None = None, unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False, *, correction: float | None = None,
    ) -> Tensor | tuple[Tensor, ...]:  # fmt: skip
        if isinstance(dim, builtins.bool):  # x.var(False)
            dim, unbiased = None, dim
        if correction is not None and unbiased is not None:
            raise TypeError(
                f"{name}() received both 'unbiased' and 'correction': they say the same, give one of them"
            )
        if input._array.dtype.kind != "f":
            which = name if "_" in name else "std and var"
            raise RuntimeError(f"{which} only support floating point and complex dtypes")
        if unbiased is not None:
            correction = int(unbiased)
        elif correction is None and dim is not None:
            correction = 1
        dims = None if dim is None or dim == () or dim == [] else dims_of(dim, input._array.ndim)
        count = input._array.size if dims is None else count_of(input._array.shape, dims)
        if count - (1 if correction is None else correction) <= 0:
            warnings.warn(
                f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input "
                "numel divided by output numel).",
                stacklevel=3,
            )
        return call(input, dims, correction, keepdim)

    measure.__name__ = measure.__qualname__ = name
    measure.__doc__ = (
        f"{doc} of all elements, or over the dimensions `dim`. The sum of squares is divided by the count less `correction` "
        "(1; `unbiased=False` says 0)."
    )
    return measure


var, std = _spread("var", _var, "The variance"), _spread("std", _std, "The standard deviation")
var_mean = _spread("var_mean", _var_mean, "Variance and mean")
std_mean = _spread("std_mean", _std_mean, "Standard deviation and mean")


# ---------------------------------------------------------------- extrema: several equal ones share the gradient


def shared(grad, chosen, sizes: tuple, dims: tuple, keepdim: builtins.bool):
    """A gradient of a reduction's result, divided equally among the elements that were `chosen`."""
    if isinstance(chosen, Tensor):
        count = chosen.sum(dims, keepdim=True)
    else:
        count = np.add.reduce(chosen, axis=dims, keepdims=True, dtype=grad.dtype)
    return where(chosen, restored(grad, sizes, dims, keepdim) / count, 0.0)


def _is_result(self, result):
    """Where the extremum is taken; NaN counts as equal to itself."""
    return (self == result) | (isnan(self) & isnan(result))


def extremum_self(grad, self, result, dim, keepdim):
    """amax and amin: equal ones share the gradient. Of NaN nothing is equal to the result: 0 / 0, so the gradient is NaN."""
    sizes = self.shape
    dims = dims_of(dim, len(sizes))
    if len(dims) < len(sizes):  # a single number broadcasts as it is
        grad, result = restored(grad, sizes, dims, keepdim), restored(result, sizes, dims, keepdim)
    if is_array(self) and is_array(grad):
        chosen = (self == result).astype(grad.dtype)
        counts = rows_added(chosen) if dims == (len(sizes) - 1,) else added(chosen, dims, True)
        return chosen * (grad / counts)
    chosen = self == result
    return grad * chosen / chosen.sum(dims, keepdim=True)


def whole_extremum_self(grad, self, result):
    sizes = self.shape
    return shared(grad, _is_result(self, result), sizes, tuple(range(len(sizes))), False)


amax_op = define(
    "amax",
    lambda self, dim, keepdim: np.maximum.reduce(self, axis=dim or None, keepdims=keepdim),
    self=extremum_self,
)
amin_op = define(
    "amin",
    lambda self, dim, keepdim: np.minimum.reduce(self, axis=dim or None, keepdims=keepdim),
    self=extremum_self,
)
max_op = define(
    "max", lambda self: np.maximum.reduce(self, axis=None), node="MaxBackward1", self=whole_extremum_self
)
min_op = define(
    "min", lambda self: np.minimum.reduce(self, axis=None), node="MinBackward1", self=whole_extremum_self
)


def _extremum_over_dims(name: str, call):
    def extremum(input: Tensor, dim: int | tuple = (), keepdim: builtins.bool = False) -> Tensor:
        dims = () if dim == () else dims_of(dim, input._array.ndim)
        refuse_empty(name, input, dims or None)
        return call(input, dims, keepdim)

    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = "The {} element over the dimensions `dim`. Equal ones share the gradient.".format(
        "largest" if name == "amax" else "smallest"
    )
    return extremum


amax, amin = _extremum_over_dims("amax", amax_op), _extremum_over_dims("amin", amin_op)


def refuse_empty(name: str, input: Tensor, dims: tuple | None) -> None:
    """Raise PyTorch's error for the extremum of nothing."""
    if input._array.size:
        return
    if dims is None:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
            "'dim' argument."
        )
    for d in dims:
        if not input._array.shape[d]:
            name = name if name == "aminmax" else f"{name}()"
            raise IndexError(f"{name}: Expected reduction dim {d} to have non-zero size.")


# ---------------------------------------------------------------- truth


def _quantifier(name: str, reduce: np.ufunc):
    def forward(self: ndarray, dim: tuple, keepdim: builtins.bool) -> ndarray:
        found = np.asarray(reduce.reduce(self, axis=dim, keepdims=keepdim, dtype=bool))
        return found.astype(np.uint8) if self.dtype == np.uint8 else found

    call = define(name, forward, self=None)

    def quantify(input: Tensor, dim: int | tuple | None = None, keepdim: builtins.bool = False) -> Tensor:
        return call(input, () if dim == () else dims_of(dim, input._array.ndim), keepdim)

    quantify.__name__ = quantify.__qualname__ = name
    quantify.__doc__ = (
        f"Whether {name} of the elements (over `dim`) are not zero: a tensor of bools. Over no dimension, `dim=()`, that is "
        "asked of each element."
    )
    return quantify


all, any = _quantifier("all", np.logical_and), _quantifier("any", np.logical_or)


_count_nonzero = define(
    "count_nonzero", lambda self, dim: np.add.reduce(self != 0, axis=dim, dtype=np.int64), self=None
)


def count_nonzero(input: Tensor, dim: int | tuple | None = None) -> Tensor:
    """How many elements (over `dim`) are not zero."""
    return _count_nonzero(input, dims_of(dim, input._array.ndim))


for _fn in (sum, mean, nansum, nanmean, prod, var, std, amax, amin, all, any, count_nonzero):
    function(_fn, _fn.__name__)

__all__ = [
    "all", "amax", "amin", "any", "count_nonzero", "mean", "nanmean", "nansum", "prod", "std", "std_mean",
    "sum", "var", "var_mean",
]  # fmt: skip
