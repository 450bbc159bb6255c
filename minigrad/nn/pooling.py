"""Pooling as layers: one number for each window of the input."""

from __future__ import annotations

from ..ops.nn import per_dim
from ..tensor import Tensor
from . import functional as F
from .module import Module


class _MaxPool(Module):
    """return_indices: also the position of each maximum in its plane."""

    _dims: int

    def __init__(
        self,
        kernel_size: int | tuple,
        stride: int | tuple | None = None,
        padding: int | tuple = 0,
        dilation: int | tuple = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """The maxima of the windows."""
        pool = getattr(F, f"max_pool{self._dims}d")
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The maximum of each window of (N, C, L)."""

    _dims = 1


class MaxPool2d(_MaxPool):
    """The maximum of each window of (N, C, H, W)."""

    _dims = 2


class MaxPool3d(_MaxPool):
    """The maximum of each window of (N, C, D, H, W)."""

    _dims = 3


class AvgPool1d(Module):
    """The mean of each window of (N, C, L)."""

    def __init__(
        self,
        kernel_size: int | tuple,
        stride: int | tuple | None = None,
        padding: int | tuple = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        super().__init__()
        self.kernel_size, self.stride, self.padding = (
            per_dim(v, 1, "kernel_size")
            for v in (kernel_size, kernel_size if stride is None else stride, padding)
        )
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """The means of the windows."""
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(Module):
    """divisor_override: divide by this instead of the number of elements."""

    _dims: int

    def __init__(
        self,
        kernel_size: int | tuple,
        stride: int | tuple | None = None,
        padding: int | tuple = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The means of the windows."""
        pool = getattr(F, f"avg_pool{self._dims}d")
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPool):
    """The mean of each window of (N, C, H, W)."""

    _dims = 2


class AvgPool3d(_AvgPool):
    """The mean of each window of (N, C, D, H, W)."""

    _dims = 3


class _LPPool(Module):
    """(Σ xᵖ)^(1/p) of each window, p = norm_type."""

    _dims: int

    def __init__(
        self,
        norm_type: float,
        kernel_size: int | tuple,
        stride: int | tuple | None = None,
        ceil_mode: bool = False,
    ):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = (
            norm_type,
            kernel_size,
            stride,
            ceil_mode,
        )

    def forward(self, input: Tensor) -> Tensor:
        """The norms of the windows."""
        pool = getattr(F, f"lp_pool{self._dims}d")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPool):
    """The p-norm of each window of (N, C, L)."""

    _dims = 1


class LPPool2d(_LPPool):
    """The p-norm of each window of (N, C, H, W)."""

    _dims = 2


class LPPool3d(_LPPool):
    """The p-norm of each window of (N, C, D, H, W)."""

    _dims = 3


class _AdaptiveAvgPool(Module):
    _dims: int

    def __init__(self, output_size: int | tuple):
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """The means of the windows that give an output of that size."""
        return getattr(F, f"adaptive_avg_pool{self._dims}d")(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(_AdaptiveAvgPool):
    def __init__(self, output_size: int | tuple, return_indices: bool = False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """The maxima of the windows that give an output of that size."""
        return getattr(F, f"adaptive_max_pool{self._dims}d")(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means of (N, C, L) over windows such that the output has the given length."""

    _dims = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means of (N, C, H, W) over windows such that the output has the given size."""

    _dims = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means of (N, C, D, H, W) over windows such that the output has the given size."""

    _dims = 3


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Maxima of (N, C, L) over windows such that the output has the given length."""

    _dims = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Maxima of (N, C, H, W) over windows such that the output has the given size."""

    _dims = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Maxima of (N, C, D, H, W) over windows such that the output has the given size."""

    _dims = 3


__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d",
    "MaxPool3d",
]  # fmt: skip
