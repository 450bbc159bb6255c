"""Layers: modules with weights, with a behaviour of their own in training, and those that are one function."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable

import numpy as np

from ..creation import ones, zeros
from ..dtypes import default_float
from ..ops.shape import flatten
from ..tensor import Tensor, wrap
from ..words import expect
from . import functional as F
from . import init
from .functional_images import Sides, sides
from .module import Module
from .parameter import Parameter, new_parameter, placed


class Linear(Module):
    """`x Wᵀ + b`: (*, in_features) → (*, out_features). weight: (out, in), bias: (out,), uniform in ±1/√in."""

    @placed
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
        output_padding: Sides = 0,
    ):
        super().__init__()
        expect(groups > 0, "groups must be a positive integer", error=ValueError)
        for name, n in (("in_channels", in_channels), ("out_channels", out_channels)):
            expect(n % groups == 0, f"{name} must be divisible by groups", error=ValueError)
        told = "Invalid padding string {!r}, should be one of {{'same', 'valid'}}"
        expect(not isinstance(padding, str) or padding in ("same", "valid"), told, padding, error=ValueError)
        n = self._dims
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = (sides(v, n) for v in (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else sides(padding, n)
        self.output_padding = sides(output_padding, n)
        told = "padding='same' is not supported for strided convolutions"
        expect(padding != "same" or set(self.stride) == {1}, told, error=ValueError)
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
        n, text = self._dims, f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        text += f", padding={self.padding}" * (self.padding != (0,) * n)
        text += f", dilation={self.dilation}" * (self.dilation != (1,) * n)
        text += f", output_padding={self.output_padding}" * (self.output_padding != (0,) * n)
        text += f", groups={self.groups}" * (self.groups != 1)
        return text if self.bias is not None else text + ", bias=False"


class Conv1d(_Conv):
    """Convolution of (N, C, L); arguments as F.conv1d. weight: (O, C/groups, K), uniform in ±1/√(C/groups·K)."""

    _dims = 1


class Conv2d(_Conv):
    """Convolution of (N, C, H, W); arguments as F.conv2d. weight: (O, C/groups, KH, KW), uniform in ±1/√(C/groups·KH·KW)."""

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
    ):
        given = stride, padding, dilation, groups, bias, output_padding
        super().__init__(in_channels, out_channels, kernel_size, *given)

    def forward(self, input: Tensor) -> Tensor:
        """The transposed convolution of `input` with the weight, plus the bias."""
        run = (F.conv_transpose1d, F.conv_transpose2d)[self._dims - 1]
        options = self.stride, self.padding, self.output_padding, self.groups, self.dilation
        return run(input, self.weight, self.bias, *options)


class ConvTranspose1d(_ConvTranspose):
    """The transpose of Conv1d in its input; arguments as F.conv_transpose1d. weight: (C, O/groups, K)."""

    _dims = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of Conv2d in its input; arguments as F.conv_transpose2d. weight: (C, O/groups, KH, KW)."""

    _dims = 2


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
    ):
        super().__init__()
        told = "Padding_idx must be within num_embeddings"
        fits = padding_idx is None or -num_embeddings <= padding_idx < num_embeddings
        expect(fits, told, error=AssertionError)
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
        expect(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional", error=AssertionError)
        made = cls(*embeddings.shape, padding_idx)
        made.weight = Parameter(embeddings, not freeze)
        return made

    def forward(self, input: Tensor) -> Tensor:
        """The vectors with these numbers."""
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        text += f", padding_idx={self.padding_idx}" * (self.padding_idx is not None)
        return text + f", max_norm={self.max_norm}" * (self.max_norm is not None)


class LayerNorm(Module):
    """Normalises over the last dimensions, `normalized_shape`, one length or several; then weight and bias of that shape."""

    @placed
    def __init__(
        self,
        normalized_shape: int | tuple,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
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
    """Divides by the root of the mean of the squares over the last dimensions, `normalized_shape`; then a weight."""

    @placed
    def __init__(self, normalized_shape: int | tuple, eps: float | None = None, elementwise_affine: bool = True):
        super().__init__()
        one = isinstance(normalized_shape, int)
        self.normalized_shape, self.eps = (normalized_shape,) if one else tuple(normalized_shape), eps
        self.elementwise_affine = elementwise_affine
        weight = init.ones_(new_parameter(*self.normalized_shape)) if elementwise_affine else None
        self.register_parameter("weight", weight)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalises groups of channels of (N, C, *), so many; then a weight and a bias for each channel."""

    @placed
    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, bias: bool = True):
        super().__init__()
        expect(num_channels % num_groups == 0, "num_channels must be divisible by num_groups", error=ValueError)
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        _affine(self, (num_channels,), affine, affine and bias)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


def affine(module: Module, shape: tuple, weight: bool = True, bias: bool = True) -> None:
    """Give a module a weight that starts as ones and a bias that starts as zeros, or None for what it is to be without."""
    module.register_parameter("weight", init.ones_(new_parameter(*shape)) if weight else None)
    module.register_parameter("bias", init.zeros_(new_parameter(*shape)) if bias else None)


_affine = affine  # where a parameter has that name


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
        bias: bool = True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _affine(self, (num_features,), affine, affine and bias)
        kept = zeros(num_features), ones(num_features), wrap(np.zeros((), np.int64))
        for name, value in zip(("running_mean", "running_var", "num_batches_tracked"), kept, strict=True):
            self.register_buffer(name, value if track_running_stats else None)

    def reset_running_stats(self) -> None:
        """Start the running statistics again."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def forward(self, input: Tensor) -> Tensor:
        """`input`, normalised: with the batch's statistics in training, or if there are no others, else with the running ones."""
        if input.dim() not in self._dims:
            raise ValueError(f"expected {self._words} input (got {input.dim()}D input)")
        momentum = self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if momentum is None:  # the plain average of all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        mean, var = self.running_mean, self.running_var
        own = self.training or mean is None
        kept = (mean, var) if not self.training or self.track_running_stats else (None, None)
        return F.batch_norm(input, *kept, self.weight, self.bias, own, momentum or 0.0, self.eps)

    def extra_repr(self) -> str:
        text = f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"
        text += f", bias={self.bias is not None}"
        return f"{text}, track_running_stats={self.track_running_stats}"


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of (N, C) or (N, C, L) over the batch; in evaluation by running statistics (see F.batch_norm)."""

    _dims, _words = (2, 3), "2D or 3D"


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of (N, C, H, W) over the batch; in evaluation by running statistics (see F.batch_norm)."""

    _dims, _words = (4,), "4D"


class Dropout(Module):
    """In training each element is set to 0 with probability p, the others divided by 1 - p."""

    _function = staticmethod(F.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        expect(0 <= p <= 1, F.NO_PROBABILITY, p, error=ValueError)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`input`, partly dropped."""
        return self._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout1d(Dropout):
    """In training whole channels of (N, C, L) are set to 0 with probability p, the others divided by 1 - p."""

    _function = staticmethod(F.dropout1d)


class Dropout2d(Dropout):
    """In training whole channels of (N, C, H, W) are set to 0 with probability p, the others divided by 1 - p."""

    _function = staticmethod(F.dropout2d)


class PReLU(Module):
    """`x` where positive, else `weight * x`: one weight, or one for each channel, which are learned."""

    @placed
    def __init__(self, num_parameters: int = 1, init: float = 0.25):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(wrap(np.full(num_parameters, init, default_float())))

    def forward(self, input: Tensor) -> Tensor:
        """`prelu` of `input`."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Identity(Module):
    """Returns its input. Arguments are accepted and ignored, so that it may take the place of any layer."""

    def __init__(self, *args: object, **kwargs: object):
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """`input` itself."""
        return input


class Unflatten(Module):
    """Dimension `dim` taken apart into several, whose lengths are `unflattened_size`."""

    def __init__(self, dim: int, unflattened_size: tuple):
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        """`input`, with one dimension taken apart."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


# ---------------------------------------------------------------- layers that are one function


class Layer(Module):
    """A function of one tensor or, a loss, of two, and the options that it is called with."""

    _function: Callable
    _options: list[str]
    _shown: list[str]
    _tuples: list[str]

    def __init__(self, *args: object, **kwargs: object):
        super().__init__()
        given = inspect.signature(type(self)).bind(*args, **kwargs)
        given.apply_defaults()
        for name, value in given.arguments.items():
            value = self.kernel_size if name == "stride" and value is None else value
            setattr(self, name, sides(value, 1) if name in self._tuples else value)

    def forward(self, *input: Tensor) -> Tensor:
        """The function of `input`."""
        own = self.__dict__
        return self._function(*input, **{n: own[n] for n in self._options if n != "inplace" or own[n]})

    def extra_repr(self) -> str:
        shown = [name for name in self._shown if name != "inplace" or self.inplace]
        values = {name: getattr(self, name.lstrip("=")) for name in shown}  # those with = are shown without their name
        return ", ".join(repr(v) if name[0] == "=" else f"{name}={v!r}" for name, v in values.items())


def layer(name: str, function: Callable, inputs: int = 1, shown: str | None = None, one: str = "", **defaults: object) -> type[Layer]:
    """The module of a function: it is made with what `function` takes beside its inputs.

    shown: the options that PyTorch prints, all if not given, "=name" without the name; one: those that are kept as a tuple
    of one number; defaults: where PyTorch's differ.
    """
    rest = list(inspect.signature(function).parameters.values())[inputs:]
    rest = [p for p in rest if p.name not in ("_stacklevel", "dtype")]
    options = [p.replace(kind=p.POSITIONAL_OR_KEYWORD, default=defaults.get(p.name, p.default)) for p in rest]
    names = [p.name for p in options]
    body = {"_function": staticmethod(function), "_options": names, "_shown": names if shown is None else shown.split()}
    body["_tuples"] = one.split()
    body |= {"__signature__": inspect.Signature(options), "__doc__": function.__doc__, "__module__": __name__}
    return type(name, (Layer,), body)


ReLU = layer("ReLU", F.relu)
ReLU6 = layer("ReLU6", F.relu6)
LeakyReLU = layer("LeakyReLU", F.leaky_relu)
ELU = layer("ELU", F.elu)
SELU = layer("SELU", F.selu)
CELU = layer("CELU", F.celu)
GELU = layer("GELU", F.gelu)
SiLU = layer("SiLU", F.silu)
Mish = layer("Mish", F.mish)
Hardtanh = layer("Hardtanh", F.hardtanh)
Hardsigmoid = layer("Hardsigmoid", F.hardsigmoid, shown="")
Hardswish = layer("Hardswish", F.hardswish, shown="")
Hardshrink = layer("Hardshrink", F.hardshrink, shown="=lambd")
Softshrink = layer("Softshrink", F.softshrink, shown="=lambd")
Threshold = layer("Threshold", F.threshold)
Tanh = layer("Tanh", F.tanh)
Tanhshrink = layer("Tanhshrink", F.tanhshrink)
Sigmoid = layer("Sigmoid", F.sigmoid)
LogSigmoid = layer("LogSigmoid", F.logsigmoid)
Softplus = layer("Softplus", F.softplus)
Softsign = layer("Softsign", F.softsign)
Softmax = layer("Softmax", F.softmax)
LogSoftmax = layer("LogSoftmax", F.log_softmax)
Softmin = layer("Softmin", F.softmin)
GLU = layer("GLU", F.glu)
Flatten = layer("Flatten", flatten, start_dim=1)
MaxPool1d = layer("MaxPool1d", F.max_pool1d, shown="kernel_size stride padding dilation ceil_mode")
MaxPool2d = layer("MaxPool2d", F.max_pool2d, shown="kernel_size stride padding dilation ceil_mode")
AvgPool1d = layer("AvgPool1d", F.avg_pool1d, shown="kernel_size stride padding", one="kernel_size stride padding")
AvgPool2d = layer("AvgPool2d", F.avg_pool2d, shown="kernel_size stride padding")
AdaptiveAvgPool1d = layer("AdaptiveAvgPool1d", F.adaptive_avg_pool1d)
AdaptiveAvgPool2d = layer("AdaptiveAvgPool2d", F.adaptive_avg_pool2d)
Upsample = layer("Upsample", F.interpolate, shown="scale_factor mode")
PixelShuffle = layer("PixelShuffle", F.pixel_shuffle)
PixelUnshuffle = layer("PixelUnshuffle", F.pixel_unshuffle)
Unfold = layer("Unfold", F.unfold)
Fold = layer("Fold", F.fold)
ZeroPad2d = layer("ZeroPad2d", lambda input, padding: F.pad(input, padding), shown="=padding")
ZeroPad2d.__init__ = lambda self, padding: Layer.__init__(self, sides(padding, 4))
ZeroPad2d.__doc__ = "Zeros around images: `padding` at all sides, or (left, right, top, bottom)."
CosineSimilarity = layer("CosineSimilarity", F.cosine_similarity, inputs=2)
PairwiseDistance = layer("PairwiseDistance", F.pairwise_distance, inputs=2)

__all__ = [name for name, made in globals().items() if isinstance(made, type) and made.__module__ == __name__]
__all__ = [name for name in __all__ if name[0] != "_" and name != "Layer"]
