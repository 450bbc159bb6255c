"""Running sums, products and extrema along a dimension, and differences, which undo the sums."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np

from .. import dtypes, return_types
from ..memory import in_rows
from ..size import check_dim
from ..tensor import Tensor, wrap
from .choice import where, zeros_like
from .elementary import exp
from .indexing import slice_along
from .joining import cat
from .pointwise import div_number, mul_number
from .reduction import any_zero, computed_in, widened
from .shape import refuse_repeated
from .sorting import spread
from .sums import in_single, is_half
from .table import define, function, is_array

ndarray = np.ndarray


def running(compute, x: ndarray, dim: int) -> ndarray:
    """A ufunc's running results along `dim`; a 0-d array is its own."""
    return in_rows(compute.accumulate(x, axis=dim)) if x.ndim else x.copy()


def running_back(compute, x: ndarray, dim: int) -> ndarray:
    """The same from the end."""
    if not x.ndim:
        return x.copy()
    backwards = (slice(None),) * dim + (slice(None, None, -1),)
    return compute.accumulate(x[backwards], axis=dim)[backwards]


def turned_back(rows: ndarray, dim: int) -> ndarray:
    """What was computed along the last dimension, `dim` swapped with it before, in the order of the input."""
    return rows if dim == rows.ndim - 1 else rows.swapaxes(dim, -1).copy()


# ---------------------------------------------------------------- sums
#
# ufunc.accumulate waits for each sum before it begins the next. A product with a triangle of ones does not.

BLOCK = 32
FEW = 512  # elements


@functools.lru_cache(maxsize=64)
def _triangle(n: int, char: str, backwards: bool) -> ndarray:
    return np.tri(n, dtype=char) if backwards else np.ascontiguousarray(np.tri(n, dtype=char).T)


def _sums_of_rows(rows: ndarray, backwards: bool) -> ndarray:
    """The running sums of the rows of a matrix: within blocks, then over the blocks before."""
    count, n = rows.shape
    char = rows.dtype.char
    if n <= (2 * BLOCK if char == "f" else BLOCK):
        return np.matmul(rows, _triangle(n, char, backwards))
    more = -n % BLOCK
    if more:
        rows = np.concatenate([rows, np.zeros((count, more), char)], axis=1)
    blocks = np.matmul(rows.reshape(-1, BLOCK), _triangle(BLOCK, char, backwards)).reshape(count, -1, BLOCK)
    before = _sums_of_rows(np.ascontiguousarray(blocks[:, :, 0 if backwards else -1]), backwards)[:, :, None]
    if backwards:
        blocks[:, :-1] += before[:, 1:]
    else:
        blocks[:, 1:] += before[:, :-1]
    sums = blocks.reshape(count, n + more)
    return np.ascontiguousarray(sums[:, :n]) if more else sums


def running_sum(x: ndarray, dim: int, backwards: bool = False) -> ndarray:
    """The sums of the elements up to each one along `dim`; `backwards`: of those from it on."""
    if x.dtype.char == "e":
        return in_single(running_sum, x, dim, backwards)
    if x.dtype.char in "fd" and x.size >= FEW:
        across = x.swapaxes(dim, -1)
        sums = _sums_of_rows(across.reshape(-1, across.shape[-1]), backwards)
        # an infinite element times 0 spoils the others
        if np.count_nonzero(np.isfinite(sums[:, 0 if backwards else -1])) == len(sums):
            return turned_back(sums.reshape(across.shape), dim)
    return (running_back if backwards else running)(np.add, x, dim)


_cumsum = define(
    "cumsum", lambda self, dim: running_sum(self, dim), kind="linear",
    self=lambda grad, dim: cumsum_back(grad, dim),
)  # fmt: skip
cumsum_back = define(
    "cumsum_back", lambda self, dim: running_sum(self, dim, backwards=True), kind="linear",
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
    if math.prod(self.shape) <= 1:
        return grad
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
        if not self.size or not self.ndim:
            return values, np.zeros(self.shape, np.int64)
        reached = self == values
        if np.count_nonzero(values != values):
            reached |= self != self
        return values, _last_so_far(reached, dim)

    return forward


def _last_so_far(mask: ndarray, dim: int) -> ndarray:
    """For each element along `dim` the last place up to it where the mask holds; it does at the first."""
    rows = mask.swapaxes(dim, -1)
    places = rows.reshape(-1).nonzero()[0]
    lengths = np.empty_like(places)
    np.subtract(places[1:], places[:-1], out=lengths[:-1])
    lengths[-1] = rows.size - places[-1]
    index = (places % rows.shape[-1]).repeat(lengths).reshape(rows.shape)
    return turned_back(index, dim)


def cummaxmin_self(grad, self, indices, dim):
    """An element gets the gradients of the whole stretch over which it was the largest."""
    if not self.shape or 0 in self.shape:
        return grad
    if not is_array(grad) or not is_array(indices):
        return spread(grad, indices, dim, self.shape[dim], False)
    rows = grad.swapaxes(dim, -1)
    first = (indices.swapaxes(dim, -1) == np.arange(rows.shape[-1])).reshape(-1).nonzero()[0]
    out = np.zeros(rows.size, rows.dtype)
    out[first] = np.add.reduceat(rows.reshape(-1), first)
    return turned_back(out.reshape(rows.shape), dim)


_cummax, _cummin = (
    define(
        name, _running_extremum(compute), outputs=("values", "indices"), constants=("indices",), self=cummaxmin_self
    )
    for name, compute in (("cummax", np.maximum), ("cummin", np.minimum))
)  # fmt: skip


def cummax(input: Tensor, dim: int) -> return_types.cummax:
    """(values, indices) of the largest element so far along `dim`, of equal ones the last."""
    return return_types.cummax(*_cummax(input, _dim_of("cummax", input, dim)))


def cummin(input: Tensor, dim: int) -> return_types.cummin:
    """(values, indices) of the smallest element so far along `dim`, of equal ones the last."""
    return return_types.cummin(*_cummin(input, _dim_of("cummin", input, dim)))


def _dim_of(name: str, input: Tensor, dim: int) -> int:
    n = input._array.ndim
    if not n and dim not in (0, -1) and isinstance(dim, int):
        raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    return check_dim(dim, n)


# ---------------------------------------------------------------- logarithms of sums of exponentials


def logcumsumexp_self(grad, self, result, dim):
    """self[k] gets the sum over j >= k of grad[j] * exp(self[k] - result[j]): every factor is at most 1."""
    if is_half(grad):  # in which 10000 + log(2) is 10000
        return in_single(lambda g, x: logcumsumexp_self(g, x, _logcumsumexp(x, dim), dim), grad, self)
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
    dim = check_dim(dim, input._array.ndim)
    if input._array.dtype.kind != "f":
        word = dtypes.word(input._array.dtype)
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{word}'")
    return _logcumsumexp(input, dim)


# ---------------------------------------------------------------- differences


def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The differences of neighbours along `dim`, taken `n` times. `prepend` and `append` are joined on first.

    Without any difference to take (n=0) the result is a copy of `input` alone.
    """
    if input._array.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = check_dim(dim, input._array.ndim)
    for t in (prepend, append):
        if t is not None:
            _check_joined(input._array.shape, t._array.shape, dim)
    if not n:
        return zeros_like(input).copy_(input)
    parts = [t for t in (prepend, input, append) if t is not None]
    if len(parts) > 1:
        input = cat(parts, dim)
    for _ in range(min(n, input._array.shape[dim])):
        count = input._array.shape[dim] - 1
        earlier, later = input.narrow(dim, 0, count), input.narrow(dim, 1, count)
        input = later != earlier if input._array.dtype.kind == "b" else later - earlier
    return input


def _check_joined(shape: tuple, other: tuple, dim: int) -> None:
    """Raise PyTorch's error if a tensor cannot be joined to another along `dim`."""
    if len(shape) != len(other):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (n, m) in enumerate(zip(shape, other, strict=True)):
        if n != m and d != dim:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the differencing "
                f"dimension; input.size({d}) = {n}, but got tensor.size({d}) = {m}"
            )


# ---------------------------------------------------------------- integrals and derivatives of sampled functions


def _pairs(y: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """All but the last, and all but the first, along `dim`."""
    n = y._array.shape[dim]
    return slice_along(y, dim, 0, n - 1), slice_along(y, dim, 1, n)


def _widths(name: str, y: Tensor, x: Tensor, dim: int) -> Tensor:
    """The distances of the sample points, in a shape that can be multiplied with pairs of `y`."""
    if x._array.dtype.kind == "b" or y._array.dtype.kind == "b":
        raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    ndim = y._array.ndim
    if x._array.ndim == 1:
        if x._array.shape[0] != y._array.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = x.view(tuple(-1 if i == dim else 1 for i in range(ndim)))
    elif x._array.ndim < ndim:
        x = x.view((1,) * (ndim - x._array.ndim) + x._array.shape)
    left, right = _pairs(x, dim)
    return right - left


def _strips(name: str, y: Tensor, x: Tensor | None, dx: float | None, dim: int) -> tuple[int, Tensor | None]:
    """(the dimension, twice the area of each strip between two samples if the points `x` are given)."""
    if x is not None and dx is not None:
        raise TypeError(f"{name}() takes the points x or their distance dx, not both")
    dim = check_dim(dim, y._array.ndim)
    if x is None:
        if y._array.dtype.kind == "b":
            raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
        return dim, None
    widths = _widths(name, y, x, dim)
    left, right = _pairs(y, dim)
    return dim, (left + right) * widths


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """The integral along `dim` of a function with the values `y`, by straight lines between the samples.

    The samples are at the points `x`, or `dx` (1) apart.
    """
    shape = y._array.shape
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not y._array.size and not shape[check_dim(dim, len(shape))]:
        dim = check_dim(dim, len(shape))
        return wrap(np.zeros((*shape[:dim], *shape[dim + 1 :]), y._array.dtype))
    dim, strips = _strips("trapezoid", y, x, dx, dim)
    if strips is not None:
        return div_number(strips.sum(dim), 2.0)
    last, first = y.select(dim, -1), y.select(dim, 0)  # in the order in which PyTorch's C++ evaluates them
    ends = mul_number(first + last, 0.5)
    return mul_number(y.sum(dim) - ends, 1.0 if dx is None else float(dx))


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """The integrals from the first sample to each of the others: `trapezoid` as a running sum, one element shorter."""
    dim, strips = _strips("cumulative_trapezoid", y, x, dx, dim)
    if strips is not None:
        return div_number(cumsum(strips, dim), 2.0)
    left, right = _pairs(y, dim)
    return cumsum(mul_number(left + right, (1.0 if dx is None else float(dx)) / 2), dim)


def _slope(y: Tensor, dim: int, points: Tensor | float, edge_order: int) -> Tensor:
    """The derivative along one dimension: differences of both neighbours inside, of one side at the ends."""
    n = y._array.shape[dim]

    def at(start: int, stop: int | None = None) -> Tensor:
        start, stop = (n if i is None else i % n if i < 0 else i for i in (start, stop))
        return slice_along(y, dim, start, stop)

    def difference(later: tuple, earlier: tuple) -> Tensor:  # as in PyTorch the right operand is made first
        b = at(*earlier)
        return at(*later) - b

    def weighted(weights: tuple, parts: tuple) -> Tensor:
        c, b, a = [w * at(*p) for w, p in zip(reversed(weights), reversed(parts), strict=True)]
        return a + b + c

    front, back = ((0, 1), (1, 2), (2, 3)), ((-3, -2), (-2, -1), (-1, None))
    if not isinstance(points, Tensor):
        inside = div_number(difference((2,), (0, -2)), points)
        if edge_order == 1:
            first, last = (div_number(difference(b, a), points) for a, b in (front[:2], back[1:]))
        else:
            ends = []
            for parts, (a, b, c) in ((front, (-1.5, 2, -0.5)), (back, (0.5, -2, 1.5))):
                third = mul_number(at(*parts[2]), abs(c))
                second = mul_number(at(*parts[1]), abs(b))
                both = mul_number(at(*parts[0]), a)
                both = both + second if b > 0 else both - second
                ends.append(div_number(both + third if c > 0 else both - third, points))
            first, last = ends
        return cat([first, div_number(inside, 2), last], dim)
    if points._array.ndim != 1:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an element with "
            f"{points._array.ndim} dimensions! "
        )
    shape = tuple(-1 if i == dim else 1 for i in range(y._array.ndim))
    widths = diff(points, 1, 0)
    before, after = widths[:-1], widths[1:]
    weights = (
        -after / (before * (before + after)),
        (after - before) / (before * after),
        before / (after * (before + after)),
    )
    inside = weighted(tuple(w.reshape(shape) for w in weights), ((0, -2), (1, -1), (2,)))
    if edge_order == 1:
        first = difference((1, 2), (0, 1)) / widths[0]
        last = difference((-1,), (-2, -1)) / widths[-1]
        return cat([first, inside, last], dim)
    a, b = widths[0], widths[1]
    first = weighted((-(2.0 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))), front)
    a, b = widths[-2], widths[-1]
    last = weighted((b / (a * (a + b)), -(a + b) / (a * b), (2.0 * b + a) / (b * (a + b))), back)
    return cat([first, inside, last], dim)


def gradient(
    input: Tensor,
    *,
    spacing: float | Sequence[float] | Sequence[Tensor] | None = None,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """The numerical derivative of a sampled function along each of the dimensions `dim` (default: all of them).

    spacing: the distance of the samples (1), one for each dimension, or for each a vector of the points they are at.
    Inside central differences are used (their error falls with the square of the distance), at the ends one-sided ones,
    with `edge_order=2` of the second order. (This is not the gradient of autograd.)
    """
    ndim, shape = input._array.ndim, input._array.shape
    given = tuple(range(ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if input._array.dtype == np.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if spacing is None or isinstance(spacing, (int, float)):
        spacing = (1 if spacing is None else spacing,) * len(given)
    elif dim is None and len(spacing) != ndim:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{ndim}', since dim argument was not given, but got a list of length {len(spacing)}"
        )
    elif len(spacing) != len(given):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same "
            f"length, but got a spacing argument of length {len(spacing)} and a dim argument of length {len(given)}."
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = tuple(check_dim(d, ndim) for d in given)
    refuse_repeated(dims)
    if any(shape[d] < edge_order + 1 for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(_slope(input, d, s, edge_order) for d, s in zip(dims, spacing, strict=True))


for _fn in (cumsum, cumprod, cummax, cummin, logcumsumexp, diff):
    function(_fn, _fn.__name__)

trapz = trapezoid

__all__ = [
    "cummax", "cummin", "cumprod", "cumsum", "cumulative_trapezoid", "diff", "gradient", "logcumsumexp", "trapezoid",
    "trapz",
]  # fmt: skip
