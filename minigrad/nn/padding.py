"""Layers that put more elements around their input."""

from __future__ import annotations

from ..tensor import Tensor
from . import functional as F
from .module import Module


class _Pad(Module):
    """padding: one number for all sides, or (before, after) of the last dimension, then of the one before it, ..."""

    _mode: str
    _dims: int

    def __init__(self, padding: int | tuple[int, ...]):
        super().__init__()
        sides = 2 * self._dims
        self.padding = (padding,) * sides if isinstance(padding, int) else tuple(padding)
        if len(self.padding) != sides:
            raise ValueError(
                f"{type(self).__name__} takes one number or {sides}, (before, after) of each dimension, but got {padding}"
            )

    def forward(self, input: Tensor) -> Tensor:
        """`input`, padded."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding: int | tuple[int, ...], value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """`input`, padded with the value."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: int | tuple[int, ...]):
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


class ConstantPad1d(_ConstantPad):
    """The last dimension padded with a value."""

    _dims = 1


class ConstantPad2d(_ConstantPad):
    """The last two dimensions padded with a value."""

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """The last three dimensions padded with a value."""

    _dims = 3


class ZeroPad1d(_ZeroPad):
    """The last dimension padded with zeros."""

    _dims = 1


class ZeroPad2d(_ZeroPad):
    """The last two dimensions padded with zeros."""

    _dims = 2


class ZeroPad3d(_ZeroPad):
    """The last three dimensions padded with zeros."""

    _dims = 3


class ReflectionPad1d(_Pad):
    """The last dimension continued by mirror images."""

    _mode, _dims = "reflect", 1


class ReflectionPad2d(_Pad):
    """The last two dimensions continued by mirror images."""

    _mode, _dims = "reflect", 2


class ReflectionPad3d(_Pad):
    """The last three dimensions continued by mirror images."""

    _mode, _dims = "reflect", 3


class ReplicationPad1d(_Pad):
    """The last dimension continued by the values at the ends."""

    _mode, _dims = "replicate", 1


class ReplicationPad2d(_Pad):
    """The last two dimensions continued by the values at the ends."""

    _mode, _dims = "replicate", 2


class ReplicationPad3d(_Pad):
    """The last three dimensions continued by the values at the ends."""

    _mode, _dims = "replicate", 3


class _CircularPad(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """`input`, padded."""
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise ValueError(
                f"expected {self._dims + 1}D or {self._dims + 2}D input (got {input.dim()}D input)"
            )
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """The last dimension continued from the other end."""

    _dims = 1


class CircularPad2d(_CircularPad):
    """The last two dimensions continued from the other end."""

    _dims = 2


class CircularPad3d(_CircularPad):
    """The last three dimensions continued from the other end."""

    _dims = 3


__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d",
    "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip
