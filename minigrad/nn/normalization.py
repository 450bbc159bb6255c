"""Layers that keep activations in range: normalisation and dropout."""

from __future__ import annotations

import numpy as np

from .. import dtypes
from ..tensor import Tensor, wrap
from . import functional as F
from . import init
from .linear import new_parameter
from .module import Module


class _Affine(Module):
    """What all normalisation layers share: a weight that starts as ones and a bias that starts as zeros, or neither."""

    def _make_affine(self, shape: tuple, weight: bool, bias: bool, dtype: dtypes.dtype | None) -> None:
        for name, wanted in (("weight", weight), ("bias", bias)):
            self.register_parameter(name, new_parameter(shape, dtype) if wanted else None)

    def reset_parameters(self) -> None:
        """Ones and zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """Normalises over the last dimensions, `normalized_shape`; then weight and bias of that shape."""

    def __init__(
        self,
        normalized_shape: int | tuple,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._make_affine(self.normalized_shape, elementwise_affine, elementwise_affine and bias, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """Divides by the root mean square over the last dimensions, `normalized_shape`; then a weight of that shape."""

    def __init__(
        self,
        normalized_shape: int | tuple,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: object = None,
        dtype: dtypes.dtype | None = None,
    ):
        super().__init__()
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.register_parameter(
            "weight", new_parameter(self.normalized_shape, dtype) if elementwise_affine else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Ones."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """Normalises over each of num_groups groups of channels of (N, C, *); then weight and bias (C,)."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: object = None,
        dtype: dtypes.dtype | None = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._make_affine((num_channels,), affine, affine and bias, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class _BatchNorm(_Affine):
    _version = 2
    dims: tuple[int, ...]
    words: str

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: object = None,
        dtype: dtypes.dtype | None = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._make_affine((num_features,), affine, affine and bias, dtype)
        wanted = dtypes.default_float() if dtype is None else dtypes.to_numpy(dtype)
        tracked = track_running_stats
        self.register_buffer("running_mean", wrap(np.zeros(num_features, wanted)) if tracked else None)
        self.register_buffer("running_var", wrap(np.ones(num_features, wanted)) if tracked else None)
        self.register_buffer("num_batches_tracked", wrap(np.zeros((), np.int64)) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the statistics of earlier batches."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Ones and zeros, no statistics."""
        self.reset_running_stats()
        super().reset_parameters()

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest) -> None:
        """Before version 2 there was no count of batches: keep this module's."""
        if local_metadata.get("version", 1) < 2 and self.track_running_stats:
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked.clone())
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _check_input(self, input: Tensor) -> None:
        if input.dim() not in self.dims:
            raise ValueError(f"expected {self.words} input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised: with the batch's statistics in training, else with the running ones."""
        self._check_input(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the plain mean of all batches
                momentum = 1.0 / self.num_batches_tracked.item()
        use_batch = self.training or (self.running_mean is None and self.running_var is None)
        keep = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if keep else (None, None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, use_batch, momentum, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of (N, C) or (N, C, L) over the batch."""

    dims, words = (2, 3), "2D or 3D"


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of (N, C, H, W) over the batch."""

    dims, words = (4,), "4D"


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training each element is set to 0 with probability p, the others divided by 1 - p."""

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly dropped."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """In training whole channels of (N, C, L) are dropped."""

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly dropped."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """In training whole channels of (N, C, H, W) are dropped."""

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly dropped."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "GroupNorm",
    "LayerNorm",
    "RMSNorm",
]
