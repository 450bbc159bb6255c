"""Convolutions, and their transposes, as layers."""

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
    _dims: int
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
        if padding == "same" and any(s != 1 for s in per_dim(stride, self._dims, "stride")):
            raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                "padding_mode must be one of {'zeros', 'reflect', 'replicate', 'circular'}, but got "
                f"padding_mode={padding_mode!r}"
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = per_dim(kernel_size, self._dims, "kernel_size")
        self.stride, self.dilation = (
            per_dim(stride, self._dims, "stride"),
            per_dim(dilation, self._dims, "dilation"),
        )
        self.padding = padding if isinstance(padding, str) else per_dim(padding, self._dims, "padding")
        self.padding_mode, self.output_padding = padding_mode, (0,) * self._dims
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
            return (0, 0) * self._dims
        if self.padding == "same":
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return tuple(v for n in reversed(total) for v in (n // 2, n - n // 2))
        return tuple(p for p in reversed(self.padding) for _ in range(2))

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of `input` with the weight, plus the bias."""
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self._dims - 1]
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._padding_amounts(), mode=self.padding_mode), 0
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        )
        if self.padding != (0,) * self._dims:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self._dims:
            text += f", dilation={self.dilation}"
        if self.transposed and self.output_padding != (0,) * self._dims:
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

    _dims = 1


class Conv2d(_Conv):
    """Convolution of (N, C, H, W); arguments as F.conv2d. weight: (O, C/groups, KH, KW)."""

    _dims = 2


class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W); arguments as F.conv3d."""

    _dims = 3


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
        self.output_padding = per_dim(output_padding, self._dims, "output_padding")
        if isinstance(self.padding, str):
            raise ValueError(f"{type(self).__name__} takes padding as numbers, not {padding!r}")

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        """The transposed convolution of `input` with the weight, plus the bias.

        output_size: of the several sizes that a convolution with these strides would shrink to the input's; the last
        dimensions, or all. Raises ValueError for others.
        """
        convolve = getattr(F, f"conv_transpose{self._dims}d")
        padding = self.output_padding if output_size is None else self._output_padding(input, output_size)
        return convolve(
            input, self.weight, self.bias, self.stride, self.padding, padding, self.groups, self.dilation
        )

    def _output_padding(self, input: Tensor, output_size: list[int]) -> tuple[int, ...]:
        """How much has to be added at the end for this output size."""
        dims, found = self._dims, input.dim()
        lead = found - dims  # batch and channels
        output_size = tuple(output_size)
        if len(output_size) == lead + dims:
            output_size = output_size[lead:]
        if len(output_size) != dims:
            raise ValueError(
                f"ConvTranspose{dims}D: for {found}D input, output_size must have {dims} or {lead + dims} elements (got "
                f"{len(output_size)})"
            )
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(
                input.shape[lead:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if not all(a <= n <= b for a, n, b in zip(least, output_size, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an input of "
                f"{input.size()[lead:]})"
            )
        return tuple(n - a for n, a in zip(output_size, least, strict=True))


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution of (N, C, L); weight: (C, O/groups, K)."""

    _dims = 1


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution of (N, C, H, W); weight: (C, O/groups, KH, KW)."""

    _dims = 2


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution of (N, C, D, H, W); weight: (C, O/groups, KD, KH, KW)."""

    _dims = 3


__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]
