"""Windows of an image as columns, and back."""

from __future__ import annotations

from ..tensor import Tensor
from . import functional as F
from .module import Module


class _Windows(Module):
    def _text(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Unfold(_Windows):
    """The windows of (N, C, H, W) as columns: (N, C·KH·KW, number of windows)."""

    def __init__(
        self,
        kernel_size: int | tuple,
        dilation: int | tuple = 1,
        padding: int | tuple = 0,
        stride: int | tuple = 1,
    ):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The columns."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return self._text()


class Fold(_Windows):
    """Columns put back as windows of an image of size output_size; where windows overlap their values add up."""

    def __init__(
        self,
        output_size: int | tuple,
        kernel_size: int | tuple,
        dilation: int | tuple = 1,
        padding: int | tuple = 0,
        stride: int | tuple = 1,
    ):
        super().__init__()
        self.output_size = output_size
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The image."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, {self._text()}"


__all__ = ["Fold", "Unfold"]
