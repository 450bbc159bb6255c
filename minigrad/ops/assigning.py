"""New values for a tensor whatever it held: `copy_`, `fill_`, `zero_`."""

from __future__ import annotations

import numpy as np

from .. import dtypes
from ..tensor import Tensor, wrap
from .arguments import NUMBERS
from .inplace import check_shape, define_inplace, writer
from .shape import broadcast_array, broadcast_pair
from .table import define, is_array, method

ndarray = np.ndarray


def nothing(grad):
    """Zeros: the gradient of a value that was overwritten."""
    return np.zeros(grad.shape, grad.dtype) if is_array(grad) else wrap(np.zeros_like(grad._array))


def _copy_forward(self: ndarray, src: ndarray) -> ndarray:
    if src.shape != self.shape:
        check_shape(_copy.op, broadcast_pair(self.shape, src.shape), self.shape)
        src = broadcast_array(src, self.shape)
    return src.astype(self.dtype)


def _filled(self: ndarray, value) -> ndarray:
    out = np.empty(self.shape, self.dtype)
    out[...] = value
    return out


_copy = define(
    "copy", _copy_forward, node="CopyBackwards", kind="jointly linear", broadcasts=True,
    self=lambda grad: nothing(grad),
    src=lambda grad: grad,
)  # fmt: skip
_copy.op.node_class.name = lambda self: "torch::autograd::CopyBackwards"
_fill = define(
    "fill", lambda self, value: np.full_like(self, dtypes.fitting(value, self.dtype)), kind="elementwise",
    node="FillBackward2",
    self=lambda grad: nothing(grad),
)  # fmt: skip
_fill_tensor = define(
    "fill", _filled, kind="jointly linear", node="FillBackward3",
    self=lambda grad: nothing(grad),
    value=lambda grad: grad.sum(),
)  # fmt: skip
_zero = define(
    "zero", lambda self: np.zeros(self.shape, self.dtype), kind="elementwise", doc="Every element 0.",
    self=lambda grad: nothing(grad),
)  # fmt: skip


def _copy_into(self: ndarray, src: ndarray) -> None:
    if src.ndim > self.ndim:
        raise ValueError("NumPy would drop leading dimensions of length 1")
    self[...] = src


def _fill_into(self: ndarray, value: float) -> None:
    fits = self.dtype.kind == "f" and -6e4 < value < 6e4  # what every dtype holds needs no closer look
    self.fill(value if fits else dtypes.fitting(value, self.dtype))


_copy.op.into = _fill_tensor.op.into = _copy_into
_fill.op.into = _fill_into
_zero.op.into = lambda self: self.fill(0)
overwrite, fill_with, _fill_ = writer(_copy.op), writer(_fill_tensor.op), writer(_fill.op)


@method()
def copy_(self: Tensor, other: Tensor, non_blocking: bool = False) -> Tensor:
    """Overwrite this tensor with `other`, broadcast and cast. Returns it."""
    if isinstance(other, NUMBERS):
        other = wrap(np.asarray(other))
    elif isinstance(other, ndarray):
        raise TypeError("copy_(): argument 'other' (position 1) must be Tensor, not numpy.ndarray")
    return overwrite(self, other)


@method()
def fill_(self: Tensor, value: float | Tensor) -> Tensor:
    """Overwrite every element with one number, or with a 0-d tensor. Returns this tensor."""
    if isinstance(value, NUMBERS):
        return _fill_(self, value)
    if isinstance(value, Tensor) and value._array.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} dimensions."
        )
    return fill_with(self, value)


define_inplace(_zero, "zero_")

__all__ = []
