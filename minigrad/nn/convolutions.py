"""Convolutions of rows and of images as modules, and their transposes."""

from __future__ import annotations

from ..basics import check
from ..missing import SENTENCE
from ..tensor import Tensor
from . import functional as F
from .functional_images import Sides, sides
from .layers import Linear
from .module import Module
from .parameter import new_parameter, placed


class _Conv(Module):
    _dims: int  # how many spatial dimensions
    _transposed = False

    @placed
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sides,
        stride: Sides = 1,
        padding: Sides | str = 0,
        dilation: Sides = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: object = None,
    ):
        super().__init__()
        what = f"padding_mode={padding_mode!r} of torch.nn.{type(self).__name__}()"
        check(padding_mode == "zeros", SENTENCE.format(what), error=TypeError)
        check(groups > 0, "groups must be a positive integer", error=ValueError)
        for name, n in (("in_channels", in_channels), ("out_channels", out_channels)):
            check(n % groups == 0, f"{name} must be divisible by groups", error=ValueError)
        message = "Invalid padding string {!r}, should be one of {{'same', 'valid'}}"
        check(
            not isinstance(padding, str) or padding in ("same", "valid"), message, padding, error=ValueError
        )
        n = self._dims
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = (sides(v, n) for v in (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else sides(padding, n)
        self.output_padding, self.padding_mode = (0,) * n, padding_mode
        message = "padding='same' is not supported for strided convolutions"
        check(padding != "same" or set(self.stride) == {1}, message, error=ValueError)
        rows, columns = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        self.weight = new_parameter(rows, columns // groups, *self.kernel_size)
        self.register_parameter("bias", new_parameter(out_channels) if bias else None)
        self.reset_parameters()

    reset_parameters = Linear.reset_parameters

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of `input` with the weight, plus the bias."""
        run = (F.conv1d, F.conv2d)[self._dims - 1]
        return run(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        n, text = (
            self._dims,
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}",
        )
        text += f", padding={self.padding}" * (self.padding != (0,) * n)
        text += f", dilation={self.dilation}" * (self.dilation != (1,) * n)
        text += f", output_padding={self.output_padding}" * (self.output_padding != (0,) * n)
        text += f", groups={self.groups}" * (self.groups != 1)
        return text if self.bias is not None else text + ", bias=False"


class Conv1d(_Conv):
    """Convolution of (N, C, L): see F.conv1d. weight: (O, C/groups, K), uniform in ±1/√(C/groups·K)."""

    _dims = 1


class Conv2d(_Conv):
    """Convolution of (N, C, H, W): see F.conv2d. weight: (O, C/groups, KH, KW), uniform in ±1/√(C/groups·KH·KW)."""

    _dims = 2


class _ConvTranspose(_Conv):
    _transposed = True

    @placed
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sides,
        stride: Sides = 1,
        padding: Sides = 0,
        output_padding: Sides = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sides = 1,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: object = None,
    ):
        given = stride, padding, dilation, groups, bias, padding_mode
        super().__init__(in_channels, out_channels, kernel_size, *given)
        self.output_padding = sides(output_padding, self._dims)

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        """The transposed convolution of `input` with the weight, plus the bias."""
        if output_size is not None:
            what = f"the argument `output_size` of torch.nn.{type(self).__name__}.forward()"
            raise TypeError(SENTENCE.format(what))
        run = (F.conv_transpose1d, F.conv_transpose2d)[self._dims - 1]
        options = self.stride, self.padding, self.output_padding, self.groups, self.dilation
        return run(input, self.weight, self.bias, *options)


class ConvTranspose1d(_ConvTranspose):
    """The transpose of Conv1d as a linear map of its input: see F.conv_transpose1d. weight: (C, O/groups, K)."""

    _dims = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of Conv2d as a linear map of its input: see F.conv_transpose2d. weight: (C, O/groups, KH, KW)."""

    _dims = 2


__all__ = ["Conv1d", "Conv2d", "ConvTranspose1d", "ConvTranspose2d"]
