"""Operations that reduce a tensor, or some of its dimensions, to fewer elements."""

from __future__ import annotations

import builtins
import math

import numpy as np

from .. import dtypes
from ..tensor import Tensor, check_dim
from .table import define, function

ndarray = np.ndarray


def dims_of(dim: int | tuple | list | None, ndim: int) -> tuple:
    """The reduced dimensions, counted from the front. Raises for dimensions out of range or named twice."""
    if isinstance(dim, int):
        return (check_dim(dim, ndim),) if ndim else ()
    found = tuple(check_dim(d, ndim) for d in dim)
    for d in found:
        if found.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return found if found and ndim else tuple(range(ndim))


def expand_reduced(grad, sizes: tuple, dims: tuple, keepdim: bool):
    """A gradient of a reduction's result, stretched back over the dimensions that were reduced."""
    if not keepdim:
        grad = grad.reshape(tuple(1 if i in dims else n for i, n in enumerate(sizes)))
    return grad.expand(sizes) if isinstance(grad, Tensor) else np.broadcast_to(grad, sizes)


_sum = define(
    "sum", lambda self: np.add.reduce(self, axis=None), kind="linear",
    self=lambda grad, self_sym_sizes: expand_reduced(grad, self_sym_sizes, (), True),
)  # fmt: skip
_sum_dim = define(
    "sum", lambda self, dim, keepdim: np.add.reduce(self, axis=dim, keepdims=keepdim), kind="linear", node="SumBackward1",
    self=lambda grad, self_sym_sizes, dim, keepdim: expand_reduced(grad, self_sym_sizes, dim, keepdim),
)  # fmt: skip
_mean = define(
    "mean", lambda self: np.add.reduce(self, axis=None) / np.asarray(self.size, self.dtype), kind="linear",
    self=lambda grad, self_sym_sizes: expand_reduced(grad, self_sym_sizes, (), True) / math.prod(self_sym_sizes),
)  # fmt: skip


def _mean_dim_self(grad, self_sym_sizes, dim, keepdim):
    return expand_reduced(grad, self_sym_sizes, dim, keepdim) / math.prod(self_sym_sizes[d] for d in dim)


_mean_dim = define(
    "mean", lambda self, dim, keepdim: np.mean(self, axis=dim, keepdims=keepdim), kind="linear", node="MeanBackward1",
    self=_mean_dim_self,
)  # fmt: skip


def sum(
    input: Tensor,
    dim: int | tuple | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The sum of all elements, or over the dimensions `dim`. Integers and bools are summed as int64."""
    if dtype is not None:
        input = input.to(dtype)
    elif input._array.dtype.kind != "f" and input._array.dtype != np.int64:
        input = input.long()
    if dim is None and not keepdim:
        return _sum(input)
    return _sum_dim(input, dims_of(() if dim is None else dim, input._array.ndim), keepdim)


def mean(
    input: Tensor,
    dim: int | tuple | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: dtypes.dtype | None = None,
) -> Tensor:
    """The mean of all elements, or over the dimensions `dim`. Raises RuntimeError for integer tensors."""
    if dtype is not None:
        input = input.to(dtype)
    if input._array.dtype.kind != "f":
        name = {"int64": "Long", "int32": "Int", "bool": "Bool"}.get(input.dtype.name, input.dtype.name)
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            + name
        )
    if dim is None and not keepdim:
        return _mean(input)
    return _mean_dim(input, dims_of(() if dim is None else dim, input._array.ndim), keepdim)


for _fn in (sum, mean):
    function(_fn, _fn.__name__)

__all__ = ["mean", "sum"]
