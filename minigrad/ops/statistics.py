"""Quantiles, histograms, counts, places in a sorted row, covariance: what one asks of data.

Only quantiles, covariances and `renorm` have a derivative; counting is piecewise constant.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from .. import dtypes, return_types
from ..memory import in_rows
from ..size import check_dim
from ..tensor import Tensor, full_name, wrap
from . import places
from .choice import where
from .comparison import isnan
from .elementary import sqrt
from .inplace import in_both_forms
from .linalg import mm
from .norms import _vector_norm as _norm
from .norms import check_norm_dtype, norm_backward
from .pointwise import div, mul_number, without_derivative
from .reduction import any, sum
from .selecting import masked_fill
from .shape import broadcast_tensors, flatten, squeeze, transpose, unsqueeze, view
from .sorting import dim_of_slices, sort
from .table import define, function

ndarray = np.ndarray


# ---------------------------------------------------------------- quantiles

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(
    name: str, input: Tensor, q: Tensor | float, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    dtype, shape = input._array.dtype, input._array.shape
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = wrap(np.asarray(q, dtype if dtype.kind == "f" else None))
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if not input._array.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q._array.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if dtype not in (np.float32, np.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q._array.dtype != dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if type(q) is Tensor and not ((q._array >= 0) & (q._array <= 1)).all():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")

    if dim is None:
        left, row = (1,) * (len(shape) if keepdim else 0), flatten(input)
    else:
        dim = check_dim(dim, len(shape))
        left = tuple(1 if i == dim else n for i, n in enumerate(shape) if keepdim or i != dim)
        row = input if dim == len(shape) - 1 else transpose(unsqueeze(input, -1), dim, -1)
    ordered = sort(row).values
    ordered = view(ordered, (*left, ordered._array.shape[-1] if ordered._array.ndim else 1))

    last = ordered._array.shape[-1] - 1
    missing = isnan(ordered)
    if name == "nanquantile":  # places among those that are there, which come first
        ranks = q * ((~missing).sum(-1, keepdim=True) - 1)
        ranks.masked_fill_(ranks < 0, 0)
    else:  # if one is missing the result is, too: it is the last
        ranks, missing = broadcast_tensors(mul_number(q, last), any(missing, -1, True))
        ranks = masked_fill(ranks, missing, last)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": ranks.floor, "higher": ranks.ceil, "nearest": ranks.round}[interpolation]()
    below = ranks.long()
    values = ordered.gather(-1, below)
    if interpolation in ("linear", "midpoint"):
        weight = ranks.detach() * 0 + 0.5 if interpolation == "midpoint" else ranks - below
        values.lerp_(ordered.gather(-1, ranks.ceil().long()), weight)
    if not q._array.ndim:
        return values.squeeze_(-1)
    return values.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)


def quantile(
    input: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The q-quantile (0 ≤ q ≤ 1) of all elements or along `dim`: what a share q of them is not larger than.

    q: a number, or a tensor of several, which then are the first dimension of the result. Between two elements the
    result is interpolated: "linear", "lower", "higher", "midpoint" or "nearest". A NaN makes the result NaN.
    Raises RuntimeError unless the elements are float32 or float64, and for q outside [0, 1].
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


def nanquantile(
    input: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """`quantile` of the elements that are not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


# ---------------------------------------------------------------- histograms and counts


def _checked_for_histogram(name: str, input: Tensor) -> None:
    if input._array.dtype.kind != "f":
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtypes.word(input._array.dtype)}'")


def _range_of(x: ndarray, low: float, high: float) -> tuple[float, float]:
    """[low, high], or where they are equal, the range of the elements; around a single value one to each side."""
    if low == high and x.size:
        low, high = x.min(), x.max()
    return (low - 1, high + 1) if low == high else (low, high)


def _histc_forward(self: ndarray, bins: int, low: float, high: float) -> ndarray:
    low, high = (self.dtype.type(v) for v in _range_of(self, low, high))
    if not np.isfinite([low, high]).all():
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    inside = self[(self >= low) & (self <= high)]
    place = np.minimum(((inside - low) * self.dtype.type(bins) / (high - low)).astype(np.int64), bins - 1)
    return np.bincount(place, minlength=bins).astype(self.dtype)


_histc = define("histc", _histc_forward, self=None)


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of `bins` intervals of equal width between `min` and `max`.

    In the dtype of `input`. Equal bounds stand for the smallest and the largest element. What lies outside is not counted.
    """
    if not isinstance(bins, int):
        raise TypeError(f"histc(): argument 'bins' (position 2) must be int, not {full_name(type(bins))}")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    _checked_for_histogram("histogram_cpu", input)
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    return _histc(input, bins, float(min), float(max))


def _histogram_forward(self: ndarray, weight: ndarray | None, edges: ndarray | int, range_, density: bool):
    x = self.reshape(-1)
    if isinstance(edges, int):
        low, high = range_ or ((x.min(), x.max()) if x.size else (0, 1))
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension 0"
            )
        if low == high:
            low, high = low - 0.5, high + 0.5
        if not np.isfinite([low, high]).all():
            raise RuntimeError(f"torch.histogramdd: dimension 0's range [{low:g}, {high:g}] is not finite")
        edges = np.linspace(low, high, edges + 1).astype(x.dtype)
    place = np.searchsorted(edges, x, side="right") - 1
    place[x == edges[-1]] = len(edges) - 2  # the last interval is closed
    inside = (place >= 0) & (place < len(edges) - 1)
    weights = None if weight is None else weight.reshape(-1)[inside]
    counts = np.bincount(place[inside], weights, len(edges) - 1).astype(x.dtype)
    if density:
        counts = counts / (counts.sum() * np.diff(edges))
    return counts.astype(x.dtype), edges.copy()


_histogram = without_derivative(
    "histogram", _histogram_forward, "self", "weight", kind=None, outputs=("hist", "bin_edges"), optional=("weight",)
)  # fmt: skip


def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> return_types.histogram:
    """(hist, bin_edges): how many elements fall into each interval, and the intervals' bounds.

    bins: how many intervals of equal width, over `range` or from the smallest element to the largest, or their bounds in
    order. weight: what each element counts for, in the shape of `input`. density: scaled to an area of 1.
    It has no derivative in PyTorch: backward through the result is an error.
    """
    if isinstance(bins, Tensor):
        if bins._array.dtype != input._array.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{dtypes.c_name(input._array.dtype)} and bins for dimension 0 with dtype {dtypes.c_name(bins._array.dtype)}"
            )
        if bins._array.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {bins._array.ndim} dimensions in the bins "
                "tensor for dimension 0"
            )
    edges = bins.detach().numpy() if isinstance(bins, Tensor) else bins
    count = edges if isinstance(edges, int) else edges.size - 1
    if count <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension 0")
    if weight is not None:
        if weight._array.dtype != input._array.dtype:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, "
                f"but got input({dtypes.c_name(input._array.dtype)}), and weight({dtypes.c_name(weight._array.dtype)})"
            )
        if weight._array.size != input._array.size:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
                f"its innermost dimension, but got input with shape {[input._array.size, 1]} and weight with shape "
                f"{[weight._array.size]}"
            )
    _checked_for_histogram("histogramdd", input)
    return return_types.histogram(*_histogram(input, weight, edges, range, density))


def _bincount_forward(self: ndarray, weights: ndarray | None, minlength: int) -> ndarray:
    counts = np.bincount(self, weights, minlength)
    return counts.astype(weights.dtype) if weights is not None and weights.dtype == np.float32 else counts


_bincount = without_derivative(
    "bincount", _bincount_forward, "self", "weights", kind=None, index="self", optional=("weights",)
)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of the numbers 0, 1, ... occurs in a vector of integers; with `weights` the sum of the weights."""
    values = input.numpy(force=True)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if values.dtype.kind in "fb":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{dtypes.word(values.dtype)}'")
    if values.ndim != 1 or (values.size and values.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights._array.shape != values.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    return _bincount(input, weights, minlength)


# ---------------------------------------------------------------- places in a sorted row


def _search(sorted_sequence: ndarray, self: ndarray, right: bool) -> ndarray:
    side = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return np.asarray(np.searchsorted(sorted_sequence, self, side))
    out = np.empty(self.shape, np.int64)
    for row in np.ndindex(self.shape[:-1]):
        out[row] = np.searchsorted(sorted_sequence[row], self[row], side)
    return out


_searchsorted = define("searchsorted", _search, sorted_sequence=None, self=None)


def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where each element of `input` would have to be inserted into `sorted_sequence` to keep it sorted.

    Along the last dimension; before equal ones, or with `right` (side="right") after them. Shape of `input`, int64 (or
    int32).
    sorter: the order in which `sorted_sequence` is sorted, as from `argsort`, if it is not.
    """
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    if not isinstance(input, Tensor):
        input = wrap(np.asarray(input, sorted_sequence._array.dtype))
    a, b = sorted_sequence._array.shape, input._array.shape
    if not a:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if not b and len(a) != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({len(a)}) and input value's dim(0) numel(1)"
        )
    if len(a) != 1 and a[:-1] != b[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
            f"and input value tensor must match, but we got boundaries tensor {list(a)} and input value tensor {list(b)}"
        )
    if sorter is not None:
        order = sorter._array
        if order.shape != a:
            raise RuntimeError(
                f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {list(a)}and got "
                f"sorter tensor {list(order.shape)}"
            )
        if order.dtype != np.int64:
            raise RuntimeError(
                f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {dtypes.word(order.dtype)}"
            )
        if places.leaves(order, a[-1]):
            raise RuntimeError("torch.searchsorted(): sorter index out of range")
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    found = _searchsorted(sorted_sequence, input, right or side == "right")
    return found.int() if out_int32 else found


def bucketize(
    input: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """The number of the interval between the sorted `boundaries` in which each element lies.

    A boundary belongs to the interval below it, or with `right` to the one above it.
    """
    if boundaries._array.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._array.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


# ---------------------------------------------------------------- runs of equal elements


def _runs(self: ndarray, dim: int | None) -> tuple[ndarray, ndarray, ndarray]:
    if dim is None:
        rows = self.reshape(-1, 1)
    else:
        rows = np.moveaxis(self, dim, 0)
        rows = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    starts = np.ones(len(rows), bool)
    starts[1:] = (rows[1:] != rows[:-1]).any(1)
    first = np.flatnonzero(starts)
    values = self.reshape(-1)[first] if dim is None else np.take(self, first, dim)
    inverse = np.cumsum(starts) - 1
    counts = np.diff(np.append(first, len(rows)))
    return values, inverse.reshape(self.shape) if dim is None else inverse, counts


def _unknown(grad):
    raise NotImplementedError("the derivative for 'unique_consecutive' is not implemented.")


_unique_consecutive = define(
    "unique_consecutive", _runs, outputs=("values", "inverse", "counts"), constants=("inverse", "counts"), self=_unknown
)  # fmt: skip


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Tensor, ...]:
    """One of each run of equal elements (or slices along `dim`); on request the run of each, and how long each run is."""
    values, inverse, counts = _unique_consecutive(input, None if dim is None else dim_of_slices(input, dim))
    found = (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
    return found if len(found) > 1 else values


# ---------------------------------------------------------------- covariance


def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariance matrix of the rows (each a variable), from the columns (each an observation of all).

    fweights: how often each observation counts; aweights: how much. The sum of squares is divided by the (weighted)
    count less `correction`. Raises RuntimeError for more than two dimensions.
    """
    if input._array.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input._array.ndim} dimensions"
        )
    if input._array.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = view(input, (1, -1)) if input._array.ndim < 2 else input
    count = rows._array.shape[1]
    weight = None
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            _check_weights(name, weights, count)
            weight = weights if weight is None else weight * weights
    total = wrap(np.asarray(count)) if weight is None else weight.sum()
    if weight is not None and type(total) is Tensor and not total._array:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    average = div(sum(rows if weight is None else rows * weight, 1), total)
    if weight is None or aweights is None:
        freedom = wrap(total._array - correction) if weight is None else total - correction
    elif correction:
        freedom = total - div(mul_number((weight * aweights).sum(), correction), total)
    else:
        freedom = total
    if type(freedom) is Tensor and freedom._array <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            stacklevel=3,
        )
        freedom.zero_()
    rows = rows - unsqueeze(average, 1)
    return squeeze(div(mm(rows, (rows if weight is None else rows * weight).t()), freedom))


def _check_weights(name: str, weights: Tensor, count: int) -> None:
    array, start = weights._array, f"cov(): expected {name} to have"
    if array.ndim > 1:
        raise RuntimeError(f"{start} one or fewer dimensions but got {name} with {array.ndim} dimensions")
    if array.dtype.kind not in ("iu" if name == "fweights" else "f"):
        kind = "integral" if name == "fweights" else "floating point"
        raise RuntimeError(f"{start} {kind} dtype but got {name} with {dtypes.word(array.dtype)} dtype")
    if array.size != count:
        raise RuntimeError(
            f"{start} the same numel as there are observations in the input but got {array.size} != {count}"
        )
    if type(weights) is Tensor and (array < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")


def corrcoef(input: Tensor) -> Tensor:
    """The correlations of the rows: their covariances divided by their standard deviations, between -1 and 1."""
    covariances = cov(input)
    if not covariances._array.ndim:
        return covariances / covariances
    deviations = sqrt(covariances.diagonal())
    return (covariances / view(deviations, (-1, 1)) / view(deviations, (1, -1))).clamp(-1, 1)


# ---------------------------------------------------------------- slices no longer than a bound


def _others(ndim: int, dim: int) -> tuple:
    return tuple(i for i in range(ndim) if i != dim)


def _renorm_forward(self: ndarray, p: float, dim: int, maxnorm: float) -> ndarray:
    norm = _norm(self, p, _others(self.ndim, dim), True)
    shorter = self.dtype.type(maxnorm) / (norm + self.dtype.type(1e-7))
    return in_rows(self * np.where(norm > maxnorm, shorter, 1).astype(self.dtype))


def renorm_self(grad, self, p, dim, maxnorm):
    """Where a slice was shortened: the gradient of maxnorm · x / |x|."""
    dims = _others(len(self.shape), dim)
    norm = _norm(self, p, dims, True)
    inverse = 1 / (norm + 1e-7)
    along = norm_backward((self * grad).sum(dims, keepdims=True), self, norm, p, dims, True)
    return where(norm > maxnorm, maxnorm * inverse * (grad - inverse * along), grad)


_renorm = define("renorm", _renorm_forward, self=renorm_self)


@in_both_forms()
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """The slices along `dim` whose p-norm is larger than `maxnorm`, shortened to that norm; the others as they are."""
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if input._array.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input._array.ndim} dimensions")
    check_norm_dtype("linalg.vector_norm", input, None)
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    return _renorm, input, float(p), check_dim(dim, input._array.ndim), float(maxnorm)


for _fn in (quantile, nanquantile, histc, histogram, bincount, unique_consecutive, cov, corrcoef):
    function(_fn, _fn.__name__)

__all__ = [
    "bincount", "bucketize", "corrcoef", "cov", "histc", "histogram", "nanquantile", "quantile", "renorm", "searchsorted",
    "unique_consecutive",
]  # fmt: skip
