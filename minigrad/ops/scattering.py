"""`scatter_reduce`: several values that go to one place are added, multiplied, averaged, or compete for it."""

from __future__ import annotations

import warnings

import numpy as np

from ..tensor import Tensor
from . import places
from .choice import where
from .inplace import in_both_forms
from .pointwise import without_derivative
from .selecting import (
    _check_index,
    _gather,
    _scatter,
    _scatter_add,
    _scatter_value,
    _source,
    part_for,
    zeros_as,
)
from .table import define, is_array

ndarray = np.ndarray

COMPUTE = {
    "sum": np.add, "prod": np.multiply, "mean": np.add, "amax": np.maximum, "amin": np.minimum,
    "add": np.add, "multiply": np.multiply,
}  # fmt: skip


def neutral(dtype: np.dtype, reduce: str) -> object:
    """What changes nothing: 0 in a sum, 1 in a product, the smallest number where the largest is sought."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind == "f":
        return -np.inf if reduce == "amax" else np.inf
    limits = np.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def _reduced(
    self: ndarray, index: ndarray, src: ndarray, dim: int, reduce: str, include_self: bool
) -> ndarray:
    if not index.size:
        return np.array(self)
    out = np.atleast_1d(np.array(self, order="C"))
    index, src = np.atleast_1d(index), np.atleast_1d(src)
    flat, key = out.reshape(-1), places.places(index, dim, out.shape).reshape(-1)
    if not include_self:
        flat[key] = neutral(out.dtype, reduce)
    COMPUTE[reduce].at(flat, key, part_for(src, index).reshape(-1))
    if reduce == "mean":
        count = np.full(flat.shape, int(include_self))
        np.add.at(count, key, 1)
        count = np.maximum(count, 1).reshape(out.shape)
        out = out / count.astype(out.dtype) if out.dtype.kind == "f" else out // count
    return out.astype(self.dtype).reshape(self.shape)


def ones_as(grad, shape: tuple):
    """Ones of a shape in the dtype of a gradient, an array or a Tensor."""
    return zeros_as(grad, shape) + 1


def cast_as(mask, like):
    """A mask as numbers of the dtype of `like`."""
    return mask.astype(like.dtype) if is_array(mask) else mask.to(like.dtype)


def self_reduced(grad, self, index, src, result, dim, reduce, include_self):
    """What a place held before takes part like the values that go there, unless it was left out."""
    if reduce == "sum":
        out = grad
    elif reduce == "mean":
        out = grad / shares(grad, index, src, dim, include_self)
    elif reduce == "prod":
        filled = where(self == 0, 1.0, self)
        out = grad * _scatter_reduce(filled, index, src, dim, reduce, include_self) / filled
    else:
        winners, each = competition(grad, self, index, src, result, dim)
        out = winners * each
    return out if include_self else _scatter_value(out, index, dim, 0)


def src_reduced(grad, self, index, src, result, dim, reduce, include_self):
    if reduce == "sum":
        return _gather(grad, index, dim)
    if reduce == "mean":
        return _gather(grad, index, dim) / _gather(shares(grad, index, src, dim, include_self), index, dim)
    if reduce == "prod":
        zero = src == 0
        zeros = _gather(_scatter_add(zeros_as(grad, self.shape), index, cast_as(zero, grad), dim), index, dim)
        alone = zero & (zeros == 1)  # with one zero, its derivative is the product of the others
        others = _scatter_reduce(self, index, where(alone, 1.0, src), dim, reduce, include_self)
        usual = _gather(grad * result, index, dim) / where(zero, 1.0, src)
        return where(alone, _gather(grad * others, index, dim), usual)
    _, each = competition(grad, self, index, src, result, dim)
    return cast_as(src == _gather(result, index, dim), grad) * _gather(each, index, dim)


def shares(grad, index, src, dim, include_self):
    """How many values each place is the mean of."""
    count = ones_as(grad, grad.shape) if include_self else zeros_as(grad, grad.shape)
    count = _scatter_add(count, index, ones_as(grad, src.shape), dim)
    return where(count == 0, 1.0, count)


def competition(grad, self, index, src, result, dim):
    """Who holds the extremum before, and the equal share of each that holds it."""
    winners = cast_as(self == result, grad)
    hits = cast_as(src == _gather(result, index, dim), grad)
    return winners, grad / _scatter_add(winners, index, hits, dim)


_scatter_reduce = define(
    "scatter_reduce", _reduced,
    self=lambda grad, self, index, src, result, dim, reduce, include_self:
        self_reduced(grad, self, index, src, result, dim, reduce, include_self),
    index=None,
    src=lambda grad, self, index, src, result, dim, reduce, include_self:
        src_reduced(grad, self, index, src, result, dim, reduce, include_self),
)  # fmt: skip


@in_both_forms()
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`input` with the elements of `src` taken in where `index` says: reduced by "sum", "prod", "mean", "amax", "amin".

    include_self: whether the element that was there takes part. Equal extrema share the gradient.
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    src, dim = _source("scatter", input, dim, index, src)
    return _scatter_reduce, input, index, src, dim, reduce, bool(include_self)


_scatter_with = without_derivative(
    "scatter", lambda self, index, src, dim, reduce: _reduced(self, index, src, dim, reduce, True),
    "self", "index", "src", kind=None, index="index",
)  # fmt: skip
_scatter_value_with = without_derivative(
    "scatter",
    lambda self, index, dim, value, reduce: _reduced(
        self, index, np.full(index.shape, value, self.dtype), dim, reduce, True
    ),
    "self", "index", kind=None, index="index",
)  # fmt: skip


@in_both_forms()
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | float | None = None,
    *,
    value: float | None = None,
    reduce: str | None = None,
) -> Tensor:
    """The reverse of `gather`: `src` (a tensor, or a number, `value`) written where `index` says, else `input`.

    If a position is named twice, one of the values is taken. With reduce="add" or "multiply" they are taken in; PyTorch
    has no derivative for that: use `scatter_add` or `scatter_reduce`.
    """
    src = value if src is None else src
    if src is None:
        raise TypeError("scatter() missing a source: give src, a tensor, or value, a number")
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if not isinstance(src, Tensor):
        dim = _check_index("scatter", input, dim, index)
        if reduce is not None:
            return _scatter_value_with, input, index, dim, src, reduce
        return _scatter_value, input, index, dim, src
    src, dim = _source("scatter", input, dim, index, src)
    if reduce is None:
        return _scatter, input, index, src, dim
    warnings.warn(
        "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. "
        "Use torch.scatter_reduce instead for more reduction options.",
        stacklevel=3,
    )
    return _scatter_with, input, index, src, dim, reduce


__all__ = ["scatter", "scatter_reduce"]
