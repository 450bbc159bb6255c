"""In-place operations that write no value: they give the tensor another shape (`t_`, `squeeze_`), or other memory (`set_`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..autograd.captured import refuse_captured
from ..autograd.grad_mode import local
from ..size import check_dim
from ..tensor import Tensor, wrap
from .dispatch import record
from .history import check_writable, counted, rebase
from .shape import refuse_repeated, squeezed
from .table import define, method


def _reshaping(name: str, node: str, forward: Callable, **rules: Callable) -> Callable:
    """The in-place form of a view operation: the tensor itself gets another shape."""
    op = define(name, forward, node=node, **rules).op

    def run(self: Tensor, *params: object) -> Tensor:
        refuse_captured(name, self)
        if local.interpreter is not None:
            return local.interpreter.reshape_in_place(op, self, params)
        if local.records and self._requires_grad:
            check_writable(self)
        node = record(op, (self,), params, [wrap(self._array)]) if local.records else None
        self._array = forward(self._array, *params)
        counted(self)
        if node is not None:
            rebase(self, node)
        if self._meta is not None:
            self._meta.seen_version = self._counter.version
        return self

    return run


_t_ = _reshaping("t_", "TBackward1", lambda self: self.T, self=lambda grad: grad.T)
_t_vector_ = _reshaping("t_", "TBackward1", lambda self: self.view(), self=lambda grad: grad)
_transpose_ = _reshaping(
    "transpose_", "TransposeBackward1", lambda self, dim0, dim1: self.swapaxes(dim0, dim1),
    self=lambda grad, dim0, dim1: grad.swapaxes(dim0, dim1),
)  # fmt: skip
_transpose_scalar_ = _reshaping(
    "transpose_",
    "TransposeBackward1",
    lambda self, dim0, dim1: self.view(),
    self=lambda grad, dim0, dim1: grad,
)
_squeeze_ = _reshaping(
    "squeeze_", "SqueezeBackward3", lambda self: self.squeeze(),
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
_squeeze_dim_ = _reshaping(
    "squeeze_", "SqueezeBackward4", lambda self, dim: squeezed(self, (dim,)),
    self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes),
)  # fmt: skip
_squeeze_dims_ = _reshaping(
    "squeeze_", "SqueezeBackward5", squeezed,
    self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes),
)  # fmt: skip
_unsqueeze_ = _reshaping(
    "unsqueeze_", "UnsqueezeBackward1", lambda self, dim: np.expand_dims(self, dim),
    self=lambda grad, dim: grad.squeeze(dim),
)  # fmt: skip


@method()
def t_(self: Tensor) -> Tensor:
    """Transpose this matrix in place. Returns it."""
    if self._array.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self._array.ndim}D")
    return _t_(self) if self._array.ndim == 2 else _t_vector_(self)


@method("transpose_", "swapaxes_", "swapdims_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchange two dimensions of this tensor in place. Returns it."""
    n = self._array.ndim
    dim0, dim1 = check_dim(dim0, n), check_dim(dim1, n)
    return _transpose_(self, dim0, dim1) if n else _transpose_scalar_(self, dim0, dim1)


@method()
def squeeze_(self: Tensor, dim: int | tuple | None = None, *more: int) -> Tensor:
    """Take away dimensions of length 1 in place, all or those of `dim` (one or several). Returns this tensor."""
    if dim is None:
        return _squeeze_(self)
    if isinstance(dim, int) and not more:
        return _squeeze_dim_(self, check_dim(dim, self._array.ndim))
    dims = tuple(check_dim(d, self._array.ndim) for d in ((dim, *more) if more else dim))
    refuse_repeated(dims)
    return _squeeze_dims_(self, dims)


@method()
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """Insert a dimension of length 1 in place. Returns this tensor."""
    return _unsqueeze_(self, check_dim(dim, self._array.ndim + 1))


@method()
def set_(self: Tensor, source: Tensor) -> Tensor:
    """Show the memory of `source` from now on, with its shape."""
    refuse_captured("set", self)
    old, new = dtypes.word(self._array.dtype), dtypes.word(source._array.dtype)
    if old != new:
        raise RuntimeError(f"Could not set tensor of type {new} to a tensor of type {old}")
    if local.records:
        check_writable(self)
    self._array = source._array
    counted(self)
    return self


__all__ = []
