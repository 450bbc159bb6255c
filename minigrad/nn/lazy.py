"""Layers that learn the size of their input from the first one that they get, and then are ordinary layers.

Until then their parameters have no shape. Give the model one batch before you look at them.
"""

from __future__ import annotations

import numpy as np

from .. import dtypes
from ..tensor import Tensor, wrap
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .module import Module
from .normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .parameter import UninitializedBuffer, UninitializedParameter


class _Lazy(Module):
    """What lazy layers share. A subclass says what it becomes and in which attribute the missing size stands."""

    cls_to_become: type[Module]
    _size: str

    def _delay(self, parameters: dict[str, bool], dtype: dtypes.dtype | None) -> None:
        """Make these parameters without a shape (or, where False, none), and wait for the first input."""
        for name, wanted in parameters.items():
            self._parameters.pop(name, None)
            self.register_parameter(name, UninitializedParameter(dtype=dtype) if wanted else None)
        self._waiting = self.register_forward_pre_hook(_Lazy._first_input, with_kwargs=True)

    def has_uninitialized_params(self) -> bool:
        """Is there a parameter or buffer that has no shape yet?"""
        unknown = UninitializedParameter, UninitializedBuffer
        return any(isinstance(t, unknown) for t in (*self._parameters.values(), *self._buffers.values()))

    def reset_parameters(self) -> None:
        """Draw new starting values, once the sizes are known."""
        if not self.has_uninitialized_params() and getattr(self, self._size):
            super().reset_parameters()

    def _first_input(self, args: tuple, kwargs: dict) -> None:
        self.initialize_parameters(*args, **kwargs)
        self._waiting.remove()
        del self._waiting
        self.__class__ = self.cls_to_become

    def initialize_parameters(self, input: Tensor) -> None:
        """Give the parameters the shapes that this input asks for, and starting values."""
        if self.has_uninitialized_params():
            setattr(self, self._size, self._size_of(input))
            self._take_shapes()
            self.reset_parameters()

    def _size_of(self, input: Tensor) -> int:
        raise NotImplementedError

    def _shapes(self) -> dict[str, tuple]:
        raise NotImplementedError

    def _take_shapes(self) -> None:
        for name, shape in self._shapes().items():
            t = getattr(self, name)
            if isinstance(t, (UninitializedParameter, UninitializedBuffer)):
                t.materialize(shape)

    def _load_from_state_dict(self, state_dict: dict, prefix: str, *rest: object) -> None:
        """Parameters without a shape take that of what is loaded."""
        for held in (self._parameters, self._buffers):
            for name, t in held.items():
                given = state_dict.get(prefix + name)
                unknown = isinstance(t, (UninitializedParameter, UninitializedBuffer))
                if unknown and isinstance(given, Tensor) and not isinstance(given, UninitializedParameter):
                    t.materialize(tuple(given.shape))
        super()._load_from_state_dict(state_dict, prefix, *rest)


class LazyLinear(_Lazy, Linear):
    """A Linear whose in_features is the last length of its first input."""

    cls_to_become, _size = Linear, "in_features"

    def __init__(
        self, out_features: int, bias: bool = True, device: object = None, dtype: dtypes.dtype | None = None
    ):
        super().__init__(0, 0, False)
        self._delay({"weight": True, "bias": bias}, dtype)
        self.out_features = out_features

    def _size_of(self, input: Tensor) -> int:
        return input.shape[-1]

    def _shapes(self) -> dict[str, tuple]:
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}


class _LazyConv(_Lazy):
    _size = "in_channels"

    def _size_of(self, input: Tensor) -> int:
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise RuntimeError(
                f"Expected {self._dims + 1}D (unbatched) or {self._dims + 2}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        return input.shape[-self._dims - 1]

    def _shapes(self) -> dict[str, tuple]:
        first, second = self.out_channels, self.in_channels
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if self.transposed:
            first, second = second, first
        return {"weight": (first, second // self.groups, *self.kernel_size), "bias": (self.out_channels,)}


class _LazyConvForward(_LazyConv):
    def __init__(
        self,
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
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._delay({"weight": True, "bias": bias}, dtype)
        self.out_channels = out_channels


class _LazyConvTranspose(_LazyConv):
    def __init__(
        self,
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
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode
        )
        self._delay({"weight": True, "bias": bias}, dtype)
        self.out_channels = out_channels


class LazyConv1d(_LazyConvForward, Conv1d):
    """A Conv1d whose in_channels are those of its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvForward, Conv2d):
    """A Conv2d whose in_channels are those of its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvForward, Conv3d):
    """A Conv3d whose in_channels are those of its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d whose in_channels are those of its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d whose in_channels are those of its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d whose in_channels are those of its first input."""

    cls_to_become = ConvTranspose3d


class _LazyBatchNorm(_Lazy):
    _size = "num_features"

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: object = None,
        dtype: dtypes.dtype | None = None,
        *,
        bias: bool = True,
    ):
        super().__init__(0, eps, momentum, False, False)
        self._delay({"weight": affine, "bias": affine and bias}, dtype)
        self.affine, self.track_running_stats = affine, track_running_stats
        if track_running_stats:
            for name in ("running_mean", "running_var"):
                self.register_buffer(name, UninitializedBuffer(dtype=dtype))
            self.register_buffer("num_batches_tracked", wrap(np.zeros((), np.int64)))

    def _size_of(self, input: Tensor) -> int:
        return input.shape[1]

    def _shapes(self) -> dict[str, tuple]:
        names = ["weight", "bias"] + (["running_mean", "running_var"] if self.track_running_stats else [])
        return dict.fromkeys(names, (self.num_features,))


class LazyBatchNorm1d(_LazyBatchNorm, BatchNorm1d):
    """A BatchNorm1d whose num_features are the channels of its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyBatchNorm, BatchNorm2d):
    """A BatchNorm2d whose num_features are the channels of its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyBatchNorm, BatchNorm3d):
    """A BatchNorm3d whose num_features are the channels of its first input."""

    cls_to_become = BatchNorm3d


__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyLinear",
]  # fmt: skip
