"""Layers that slide a window over their input: convolution, pooling, padding."""

from __future__ import annotations

import math

from .. import dtypes
from ..ops.nn import per_dim
from ..tensor import Tensor
from . import functional as F
from . import init
from .linear import new_parameter
from .module import Module


class _Conv(Module):
    dims: int
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple,
        stride: int | tuple = 1,
        padding: int | tuple | str = 0,
        dilation: int | tuple = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if padding == "same" and any(s != 1 for s in per_dim(stride, self.dims, "stride")):
            raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                "padding_mode must be one of {'zeros', 'reflect', 'replicate', 'circular'}, but got "
                f"padding_mode={padding_mode!r}"
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = per_dim(kernel_size, self.dims, "kernel_size")
        self.stride, self.dilation = (
            per_dim(stride, self.dims, "stride"),
            per_dim(dilation, self.dims, "dilation"),
        )
        self.padding = padding if isinstance(padding, str) else per_dim(padding, self.dims, "padding")
        self.padding_mode = padding_mode
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = new_parameter((first, second // groups, *self.kernel_size), dtype)
        if bias:
            self.bias = new_parameter((out_channels,), dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values, uniform in ±1/√fan_in."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init.fans(self.weight)
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def _padding_amounts(self) -> tuple:
        """What F.pad needs for a padding that is not zeros."""
        if self.padding == "valid":
            return (0, 0) * self.dims
        if self.padding == "same":
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return tuple(v for n in reversed(total) for v in (n // 2, n - n // 2))
        return tuple(p for p in reversed(self.padding) for _ in range(2))

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of `input` with the weight, plus the bias."""
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self.dims - 1]
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._padding_amounts(), mode=self.padding_mode), 0
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if self.padding != (0,) * self.dims:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.dims:
            text += f", dilation={self.dilation}"
        if self.transposed and self.output_padding != (0,) * self.dims:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class Conv1d(_Conv):
    """Convolution of (N, C, L); arguments as F.conv1d. weight: (O, C/groups, K)."""

    dims = 1


class Conv2d(_Conv):
    """Convolution of (N, C, H, W); arguments as F.conv2d. weight: (O, C/groups, KH, KW)."""

    dims = 2


class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W); arguments as F.conv3d."""

    dims = 3


class _ConvTranspose(_Conv):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple,
        stride: int | tuple = 1,
        padding: int | tuple = 0,
        output_padding: int | tuple = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple = 1,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, dtype=dtype
        )
        self.output_padding = per_dim(output_padding, self.dims, "output_padding")

    def forward(self, input: Tensor) -> Tensor:
        """The transposed convolution of `input` with the weight, plus the bias."""
        convolve = (F.conv_transpose1d, F.conv_transpose2d)[self.dims - 1]
        return convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution of (N, C, L); weight: (C, O/groups, K)."""

    dims = 1


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution of (N, C, H, W); weight: (C, O/groups, KH, KW)."""

    dims = 2


class _MaxPool(Module):
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

    def forward(self, input: Tensor) -> Tensor:
        """The maxima of the windows."""
        pool = F.max_pool1d if isinstance(self, MaxPool1d) else F.max_pool2d
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


class MaxPool2d(_MaxPool):
    """The maximum of each window of (N, C, H, W)."""


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


class AvgPool2d(Module):
    """The mean of each window of (N, C, H, W)."""

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
        self.kernel_size, self.stride, self.padding = (
            kernel_size,
            kernel_size if stride is None else stride,
            padding,
        )
        self.ceil_mode, self.count_include_pad, self.divisor_override = (
            ceil_mode,
            count_include_pad,
            divisor_override,
        )

    def forward(self, input: Tensor) -> Tensor:
        """The means of the windows."""
        return F.avg_pool2d(
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


class _AdaptivePool(Module):
    def __init__(self, output_size: int | tuple):
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """The means of the windows that give an output of that size."""
        pool = F.adaptive_avg_pool1d if isinstance(self, AdaptiveAvgPool1d) else F.adaptive_avg_pool2d
        return pool(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePool):
    """Means of (N, C, L) over windows such that the output has the given length."""


class AdaptiveAvgPool2d(_AdaptivePool):
    """Means of (N, C, H, W) over windows such that the output has the given size."""


class _Pad(Module):
    mode: str
    dims: int

    def __init__(self, padding: int | tuple, value: float = 0):
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """`input`, padded."""
        return F.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        if self.mode == "constant" and not isinstance(self, ZeroPad2d):
            return f"padding={self.padding}, value={self.value}"
        return f"{self.padding}"


class ConstantPad1d(_Pad):
    """The last dimension padded with a value."""

    mode, dims = "constant", 1


class ConstantPad2d(_Pad):
    """The last two dimensions padded with a value."""

    mode, dims = "constant", 2


class ZeroPad2d(ConstantPad2d):
    """The last two dimensions padded with zeros."""


class ReflectionPad1d(_Pad):
    """The last dimension continued by its mirror image."""

    mode, dims = "reflect", 1


class ReflectionPad2d(_Pad):
    """The last two dimensions continued by their mirror images."""

    mode, dims = "reflect", 2


class ReplicationPad1d(_Pad):
    """The last dimension continued by its end values."""

    mode, dims = "replicate", 1


class ReplicationPad2d(_Pad):
    """The last two dimensions continued by their end values."""

    mode, dims = "replicate", 2


__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AvgPool1d", "AvgPool2d", "ConstantPad1d", "ConstantPad2d", "Conv1d", "Conv2d",
    "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "MaxPool1d", "MaxPool2d", "ReflectionPad1d", "ReflectionPad2d",
    "ReplicationPad1d", "ReplicationPad2d", "ZeroPad2d",
]  # fmt: skip
