"""Reading parts of a tensor by position."""

from __future__ import annotations

import numpy as np

from ..tensor import Tensor, check_dim
from .table import define, function, method

ndarray = np.ndarray


def _scatter_back(grad, sizes: tuple, key: tuple):
    """Zeros of shape `sizes` with `grad` at `key`: the transpose of reading there."""
    if isinstance(grad, Tensor):
        return _slice_backward(grad, sizes, key)
    out = np.zeros(sizes, grad.dtype)
    out[key] = grad
    return out


_slice_backward = define(
    "slice_backward", _scatter_back, kind="linear", node="SliceBackward0",
    self=lambda grad, key: grad[key],
)  # fmt: skip


def _at(dim: int, entry: object) -> tuple:
    return (slice(None),) * dim + (entry,)


_select = define(
    "select", lambda self, dim, index: self[(*_at(dim, index), ...)], kind="linear", view=True,
    self=lambda grad, self_sym_sizes, dim, index: _scatter_back(grad, self_sym_sizes, _at(dim, index)),
)  # fmt: skip
_slice = define(
    "slice", lambda self, dim, start, end, step: self[_at(dim, slice(start, end, step))], kind="linear", view=True,
    self=lambda grad, self_sym_sizes, dim, start, end, step:
        _scatter_back(grad, self_sym_sizes, _at(dim, slice(start, end, step))),
)  # fmt: skip
_unsqueeze = define(
    "unsqueeze", lambda self, dim: np.expand_dims(self, dim), kind="linear", view=True,
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
_squeeze = define(
    "squeeze", lambda self: self.reshape(tuple(n for n in self.shape if n != 1)), kind="linear", view=True,
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
_squeeze_dim = define(
    "squeeze", lambda self, dim: self.reshape(self.shape[:dim] + self.shape[dim + 1 :] if self.shape[dim] == 1 else self.shape),
    kind="linear", view=True, node="SqueezeBackward1",
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip


@method()
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a new dimension of length 1 at `dim`."""
    return _unsqueeze(input, check_dim(dim, input._array.ndim + 1))


@method()
def squeeze(input: Tensor, dim: int | None = None) -> Tensor:
    """A view without the dimensions of length 1, or without `dim` if its length is 1."""
    if dim is None:
        return _squeeze(input)
    return _squeeze_dim(input, check_dim(dim, input._array.ndim))


def getitem(self: Tensor, key: object) -> Tensor:
    """`x[key]` for integers, slices, None and ..., one view after the other as PyTorch makes them."""
    key = key if isinstance(key, tuple) else (key,)
    used = builtin_sum(1 for k in key if k is not None and k is not Ellipsis)
    if used > self._array.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._array.ndim}")
    out, dim = self, 0
    for k in key:
        if k is None:
            out, dim = _unsqueeze(out, dim), dim + 1
        elif k is Ellipsis:
            dim += self._array.ndim - used
        elif isinstance(k, slice):
            if k.step is not None and k.step <= 0:
                raise ValueError("step must be greater than zero")
            length = out._array.shape[dim]
            start, end, step = k.indices(length)
            if (start, end, step) != (0, length, 1):
                out = _slice(out, dim, start, max(end, start), step)
            dim += 1
        elif isinstance(k, (int, np.integer)):
            length = out._array.shape[dim]
            if not -length <= k < length:
                raise IndexError(f"index {k} is out of bounds for dimension {dim} with size {length}")
            out = _select(out, dim, int(k) % length)
        else:
            raise IndexError(
                f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
                f"{type(k).__name__})"
            )
    if out is self:
        from .shape import _view

        out = _view(self, self._array.shape)
    return out


builtin_sum = sum
function(getitem, "__getitem__")


def iterate(self: Tensor):
    if self._array.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter([self[i] for i in range(len(self))])


function(iterate, "__iter__")

__all__ = ["squeeze", "unsqueeze"]
