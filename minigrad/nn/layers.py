"""Layers: modules with weights, modules that behave differently in training, and those that are one function."""

from __future__ import annotations

import math

import numpy as np

from ..basics import check
from ..creation import ones, zeros
from ..dtypes import default_float
from ..tensor import Tensor, wrap
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter, new_parameter, placed


class Linear(Module):
    """`x Wᵀ + b`: (*, in_features) → (*, out_features). weight: (out, in), bias: (out,), uniform in ±1/√in."""

    @placed
    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: object = None,
        dtype: object = None,
    ):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = new_parameter(out_features, in_features)
        self.register_parameter("bias", new_parameter(out_features) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = init.fans(self.weight)[0]
            bound = 1 / math.sqrt(fan_in) if fan_in else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """`x Wᵀ + b`."""
        own = self._parameters  # quicker than self.weight, which is looked up elsewhere first
        if "weight" in own and "bias" in own:
            return F.linear(input, own["weight"], own["bias"])
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class Embedding(Module):
    """A table of num_embeddings vectors: int64 (*) → (*, embedding_dim). weight: normal. Options as for F.embedding."""

    @placed
    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        *,
        device: object = None,
        dtype: object = None,
    ):
        super().__init__()
        message = "Padding_idx must be within num_embeddings"
        fits = padding_idx is None or -num_embeddings <= padding_idx < num_embeddings
        check(fits, message, error=AssertionError)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx if padding_idx is None else padding_idx % num_embeddings
        self.max_norm, self.norm_type = max_norm, norm_type
        self.weight = init.normal_(new_parameter(num_embeddings, embedding_dim))
        if padding_idx is not None:
            self.weight.data[padding_idx] = 0.0

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None
    ) -> Embedding:
        """An Embedding with these vectors, (num_embeddings, embedding_dim), which are not trained if `freeze`."""
        check(
            embeddings.dim() == 2,
            "Embeddings parameter is expected to be 2-dimensional",
            error=AssertionError,
        )
        value = cls(*embeddings.shape, padding_idx)
        value.weight = Parameter(embeddings, not freeze)
        return value

    def forward(self, input: Tensor) -> Tensor:
        """The vectors at these indices."""
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        text += f", padding_idx={self.padding_idx}" * (self.padding_idx is not None)
        return text + f", max_norm={self.max_norm}" * (self.max_norm is not None)


class LayerNorm(Module):
    """Normalises over the last dimensions, of size `normalized_shape`; then applies a weight and a bias of that shape."""

    @placed
    def __init__(
        self,
        normalized_shape: int | tuple,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: object = None,
        dtype: object = None,
    ):
        super().__init__()
        one = isinstance(normalized_shape, int)
        self.normalized_shape, self.eps = (normalized_shape,) if one else tuple(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        affine(self, self.normalized_shape, elementwise_affine, elementwise_affine and bias)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised."""
        own = self._parameters  # quicker than self.weight
        return F.layer_norm(input, self.normalized_shape, own["weight"], own["bias"], self.eps)

    def extra_repr(self) -> str:
        text = f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        return f"{text}, bias={self.bias is not None}"


class RMSNorm(Module):
    """Divides by the root of the mean of the squares over the last dimensions (`normalized_shape`), then scales."""

    @placed
    def __init__(
        self,
        normalized_shape: int | tuple,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: object = None,
        dtype: object = None,
    ):
        super().__init__()
        one = isinstance(normalized_shape, int)
        self.normalized_shape, self.eps = (normalized_shape,) if one else tuple(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        weight = init.ones_(new_parameter(*self.normalized_shape)) if elementwise_affine else None
        self.register_parameter("weight", weight)

    def forward(self, x: Tensor) -> Tensor:
        """`x`, normalised."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalises num_groups groups of channels of (N, C, *); then applies a weight and a bias per channel."""

    @placed
    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: object = None,
        dtype: object = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        message = "num_channels ({}) must be divisible by num_groups ({})"
        check(num_channels % num_groups == 0, message, num_channels, num_groups, error=ValueError)
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        _affine(self, (num_channels,), affine, affine and bias)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


def affine(module: Module, shape: tuple, weight: bool = True, bias: bool = True) -> None:
    """Give a module a weight that starts as ones and a bias that starts as zeros, or None for one that it should not have."""
    module.register_parameter("weight", init.ones_(new_parameter(*shape)) if weight else None)
    module.register_parameter("bias", init.zeros_(new_parameter(*shape)) if bias else None)


_affine = affine  # for functions with a parameter called `affine`


class _BatchNorm(Module):
    _dims: tuple[int, ...]
    _words: str

    @placed
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: object = None,
        dtype: object = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _affine(self, (num_features,), affine, affine and bias)
        buffers = zeros(num_features), ones(num_features), wrap(np.zeros((), np.int64))
        for name, value in zip(("running_mean", "running_var", "num_batches_tracked"), buffers, strict=True):
            self.register_buffer(name, value if track_running_stats else None)

    def reset_running_stats(self) -> None:
        """Reset the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised: with the batch's statistics in training, or if no running ones are kept."""
        if input.dim() not in self._dims:
            raise ValueError(f"expected {self._words} input (got {input.dim()}D input)")
        momentum = self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if momentum is None:  # the plain average of all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        mean, var = self.running_mean, self.running_var
        own = self.training or mean is None
        buffers = (mean, var) if not self.training or self.track_running_stats else (None, None)
        return F.batch_norm(input, *buffers, self.weight, self.bias, own, momentum or 0.0, self.eps)

    def extra_repr(self) -> str:
        text = f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"
        text += f", bias={self.bias is not None}"
        return f"{text}, track_running_stats={self.track_running_stats}"


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of (N, C) or (N, C, L) over the batch; evaluation uses running statistics (see F.batch_norm)."""

    _dims, _words = (2, 3), "2D or 3D"


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of (N, C, H, W) over the batch; evaluation uses running statistics (see F.batch_norm)."""

    _dims, _words = (4,), "4D"


class _InstanceNorm(_BatchNorm):
    @placed
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: object = None,
        dtype: object = None,
        *,
        bias: bool = True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised: with its own statistics, or in evaluation with the running ones, if there are any."""
        if input.dim() not in self._dims:
            raise ValueError(f"expected {self._words} input (got {input.dim()}D input)")
        alone = input.dim() == min(self._dims)  # without a batch
        message = f"expected input's size at dim={1 - alone} to match num_features ({self.num_features}), but got: {{}}."
        size = input.shape[1 - alone]
        check(not self.affine or size == self.num_features, message, size, error=ValueError)
        own = self.training or not self.track_running_stats
        buffers, batch = (self.running_mean, self.running_var), input.unsqueeze(0) if alone else input
        out = F.instance_norm(batch, *buffers, self.weight, self.bias, own, self.momentum, self.eps)
        return out.squeeze(0) if alone else out


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each example of (N, C, L) or (C, L) (see F.instance_norm)."""

    _dims, _words = (2, 3), "2D or 3D"


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each example of (N, C, H, W) or (C, H, W) (see F.instance_norm)."""

    _dims, _words = (3, 4), "3D or 4D"


class Dropout(Module):
    """In training, sets each element to 0 with probability p and divides the others by 1 - p."""

    _function = staticmethod(F.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        check(0 <= p <= 1, F.NO_PROBABILITY, p, error=ValueError)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`input` with elements dropped."""
        return self._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout1d(Dropout):
    """In training, sets whole channels of (N, C, L) to 0 with probability p and divides the others by 1 - p."""

    _function = staticmethod(F.dropout1d)


class Dropout2d(Dropout):
    """In training, sets whole channels of (N, C, H, W) to 0 with probability p and divides the others by 1 - p."""

    _function = staticmethod(F.dropout2d)


class PReLU(Module):
    """`x` where positive, else `weight * x`, with one learned weight, or one for each channel."""

    @placed
    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: object = None, dtype: object = None
    ):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(wrap(np.full(num_parameters, init, default_float())))

    def forward(self, input: Tensor) -> Tensor:
        """`prelu` of `input`."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Identity(Module):
    """Returns its input. Arguments are accepted and ignored, so that it can replace any layer."""

    def __init__(self, *args: object, **kwargs: object):
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """`input` itself."""
        return input


class Unflatten(Module):
    """Splits dimension `dim` into several, whose lengths are `unflattened_size`."""

    def __init__(self, dim: int, unflattened_size: tuple):
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, with one dimension split into several."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


__all__ = [
    name for name, value in globals().items() if isinstance(value, type) and value.__module__ == __name__
]
__all__ = [name for name in __all__ if name[0] != "_"]
