"""Layers: modules with weights, with a behaviour of their own in training, and those that are one function."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable

import numpy as np

from ..creation import ones, zeros
from ..ops.publish import MODULES
from ..ops.shape import flatten
from ..tensor import Tensor, wrap
from ..words import expect
from . import functional as F
from . import init
from .module import Module
from .parameter import new_parameter


class Linear(Module):
    """`x Wᵀ + b`: (*, in_features) → (*, out_features). weight: (out, in), bias: (out,), uniform in ±1/√in."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True):
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
        own = self._parameters  # quicker than self.weight, which is looked for elsewhere first
        if "weight" in own and "bias" in own:
            return F.linear(input, own["weight"], own["bias"])
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class Conv2d(Module):
    """Convolution of (N, C, H, W); arguments as F.conv2d. weight: (O, C, KH, KW), uniform in ±1/√(C·KH·KW)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: F.Sides,
        stride: F.Sides = 1,
        padding: F.Sides = 0,
        *,
        bias: bool = True,
    ):
        super().__init__()
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, F.pair(kernel_size)
        self.stride, self.padding = F.pair(stride), F.pair(padding)
        self.weight = new_parameter(out_channels, in_channels, *self.kernel_size)
        self.register_parameter("bias", new_parameter(out_channels) if bias else None)
        self.reset_parameters()

    reset_parameters = Linear.reset_parameters

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of `input` with the weight, plus the bias."""
        return F.conv2d(input, self.weight, self.bias, self.stride, self.padding)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"
        text += f", stride={self.stride}" + f", padding={self.padding}" * (self.padding != (0, 0))
        return text if self.bias is not None else text + ", bias=False"


class Embedding(Module):
    """A table of num_embeddings vectors: int64 (*) → (*, embedding_dim). weight: normal."""

    def __init__(self, num_embeddings: int, embedding_dim: int):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = init.normal_(new_parameter(num_embeddings, embedding_dim))

    def forward(self, input: Tensor) -> Tensor:
        """The vectors with these numbers."""
        return F.embedding(input, self.weight)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"


class LayerNorm(Module):
    """Normalises over the last dimensions, `normalized_shape`, one length or several; then weight and bias of that shape."""

    def __init__(self, normalized_shape: int | tuple, eps: float = 1e-5):
        super().__init__()
        one = isinstance(normalized_shape, int)
        self.normalized_shape, self.eps = (normalized_shape,) if one else tuple(normalized_shape), eps
        affine(self, self.normalized_shape)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised."""
        own = self._parameters  # quicker than self.weight
        return F.layer_norm(input, self.normalized_shape, own["weight"], own["bias"], self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine=True, bias=True"


def affine(module: Module, shape: tuple) -> None:
    """Give a module a weight that starts as ones and a bias that starts as zeros."""
    module.weight, module.bias = init.ones_(new_parameter(*shape)), init.zeros_(new_parameter(*shape))


class _BatchNorm(Module):
    _dims: tuple[int, ...]
    _words: str

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1):
        super().__init__()
        expect(momentum is not None, "momentum=None is not offered: give a number", error=ValueError)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        affine(self, (num_features,))
        self.register_buffer("running_mean", zeros(num_features))
        self.register_buffer("running_var", ones(num_features))
        self.register_buffer("num_batches_tracked", wrap(np.zeros((), np.int64)))

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised: with the batch's statistics in training, else with the running ones."""
        if input.dim() not in self._dims:
            raise ValueError(f"expected {self._words} input (got {input.dim()}D input)")
        if self.training:
            self.num_batches_tracked.add_(1)
        mean, var, momentum = self.running_mean, self.running_var, self.momentum
        return F.batch_norm(input, mean, var, self.weight, self.bias, self.training, momentum, self.eps)

    def extra_repr(self) -> str:
        text = f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine=True, bias=True"
        return f"{text}, track_running_stats=True"


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of (N, C) or (N, C, L) over the batch; in evaluation by running statistics (see F.batch_norm)."""

    _dims, _words = (2, 3), "2D or 3D"


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of (N, C, H, W) over the batch; in evaluation by running statistics (see F.batch_norm)."""

    _dims, _words = (4,), "4D"


class Dropout(Module):
    """In training each element is set to 0 with probability p, the others divided by 1 - p."""

    def __init__(self, p: float = 0.5):
        super().__init__()
        expect(0 <= p <= 1, F.NO_PROBABILITY, p, error=ValueError)
        self.p = p

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly dropped."""
        return F.dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace=False"


class Layer(Module):
    """A function of one tensor or, a loss, of two, and the options that it is called with."""

    _function: Callable
    _options: list[str]

    def __init__(self, *args: object, **kwargs: object):
        super().__init__()
        given = inspect.signature(type(self)).bind(*args, **kwargs)
        given.apply_defaults()
        for name, value in given.arguments.items():
            setattr(self, name, self.kernel_size if name == "stride" and value is None else value)

    def forward(self, *input: Tensor) -> Tensor:
        """The function of `input`."""
        return self._function(*input, **{name: self.__dict__[name] for name in self._options})

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self._options)


def layer(name: str, function: Callable, inputs: int = 1, **defaults: object) -> type[Layer]:
    """The module of a function: it is made with what `function` takes beside its inputs. defaults: where PyTorch's differ."""
    rest = list(inspect.signature(function).parameters.values())[inputs:]
    options = [p.replace(kind=p.POSITIONAL_OR_KEYWORD, default=defaults.get(p.name, p.default)) for p in rest]
    body = {"_function": staticmethod(function), "_options": [p.name for p in options]}
    body |= {"__signature__": inspect.Signature(options), "__doc__": function.__doc__, "__module__": __name__}
    return type(name, (Layer,), body)


MaxPool2d = layer("MaxPool2d", F.max_pool2d)  # PyTorch prints two options more
MaxPool2d.extra_repr = lambda self: f"{Layer.extra_repr(self)}, dilation=1, ceil_mode=False"
AvgPool2d = layer("AvgPool2d", F.avg_pool2d)
Flatten = layer("Flatten", flatten, start_dim=1)
globals().update({name: layer(name, getattr(F, run.__name__)) for name, run in MODULES.items()})
__all__ = [name for name, made in globals().items() if isinstance(made, type) and made.__module__ == __name__]
__all__ = [name for name in __all__ if name[0] != "_" and name != "Layer"]
