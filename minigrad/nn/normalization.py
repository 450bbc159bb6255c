"""Layers that keep activations in range: normalisation and dropout."""

from __future__ import annotations

import warnings

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
        """Set the weight to ones, the bias to zeros."""
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
        """Set the weight to ones."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """`x`, normalised."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

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
    _dims: tuple[int, ...]
    _words: str

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
        """Set the weight to ones, the bias to zeros, and forget the statistics."""
        self.reset_running_stats()
        super().reset_parameters()

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest) -> None:
        """Before version 2 there was no count of batches: keep this module's."""
        if local_metadata.get("version", 1) < 2 and self.track_running_stats:
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked.clone())
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _check_input(self, input: Tensor) -> None:
        if input.dim() not in self._dims:
            raise ValueError(f"expected {self._words} input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised: with the batch's statistics in training, else with the running ones."""
        self._check_input(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
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
    """Normalises each channel of (N, C) or (N, C, L) over the batch; in evaluation by running statistics (see F.batch_norm)."""

    _dims, _words = (2, 3), "2D or 3D"


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of (N, C, H, W) over the batch; in evaluation by running statistics (see F.batch_norm)."""

    _dims, _words = (4,), "4D"


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of (N, C, D, H, W) over the batch; in evaluation by running statistics (see F.batch_norm)."""

    _dims, _words = (5,), "5D"


class _InstanceNorm(_BatchNorm):
    """Batch normalisation of each example by itself; without weights and running statistics unless asked for."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: object = None,
        dtype: dtypes.dtype | None = None,
        *,
        bias: bool = True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype=dtype, bias=bias)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing, unexpected, errors):
        """Says what to do with statistics that old versions kept unasked."""
        names = [prefix + name for name in ("running_mean", "running_var")]
        found = [name for name in names if name in state_dict]
        if local_metadata.get("version") is None and not self.track_running_stats and found:
            quoted = " and ".join(f'"{name}"' for name in found)
            errors.append(
                f"Unexpected running stats buffer(s) {quoted} for {type(self).__name__} with track_running_stats=False. If "
                "state_dict is a checkpoint saved before 0.4.0, this may be expected because "
                f"{type(self).__name__} does not track running stats by default since 0.4.0. Please remove these keys from "
                "state_dict. If the running stats are actually needed, instead set track_running_stats=True in "
                f"{type(self).__name__} to enable them. See the documentation of {type(self).__name__} for details."
            )
            for name in found:
                state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing, unexpected, errors)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised; (C, *) is one example."""
        single = self._dims[0]
        if input.dim() not in (single, single + 1):
            raise ValueError(f"expected {self._words} input (got {input.dim()}D input)")
        channels = input.shape[input.dim() - single]
        if channels != self.num_features:
            place = input.dim() - single
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={place} to match num_features ({self.num_features}), but got: {channels}."
                )
            warnings.warn(
                f"input's size at dim={place} does not match num_features. You can silence this warning by not passing in "
                "num_features, which is not used because affine=False",
                UserWarning,
                stacklevel=2,
            )
        batch = input.unsqueeze(0) if input.dim() == single else input
        use_batch = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        out = F.instance_norm(
            batch, self.running_mean, self.running_var, self.weight, self.bias, use_batch, momentum, self.eps
        )
        return out.squeeze(0) if input.dim() == single else out


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each example of (N, C, L) or (C, L)."""

    _dims, _words = (2, 3), "2D or 3D"


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each example of (N, C, H, W) or (C, H, W)."""

    _dims, _words = (3, 4), "3D or 4D"


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each example of (N, C, D, H, W) or (C, D, H, W)."""

    _dims, _words = (4, 5), "4D or 5D"


class LocalResponseNorm(Module):
    """Divides by what the `size` channels around have (Krizhevsky et al. 2012)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


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
    """In training whole channels of (N, C, L) or (C, L) are dropped."""

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly dropped."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """In training whole channels of (N, C, H, W) are dropped."""

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly dropped."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """In training whole channels of (N, C, D, H, W) or (C, D, H, W) are dropped."""

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly dropped."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Dropout for SELUs: keeps mean and variance (Klambauer et al. 2017)."""

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly at the floor of a SELU."""
        return F.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels of (N, C, *)."""

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly at the floor of a SELU."""
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)


__all__ = [
    "AlphaDropout", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d",
    "FeatureAlphaDropout", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
    "LocalResponseNorm", "RMSNorm",
]  # fmt: skip
