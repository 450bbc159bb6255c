"""Layers that are a single function of `nn.functional`, with its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from ..ops.shape import flatten
from ..tensor import Tensor
from . import functional as F
from .functional_images import sides
from .module import Module


class Layer(Module):
    """A function of one tensor (of two for a loss), and the options that it is called with."""

    _function: Callable
    _options: list[str]
    _shown: list[str]
    _tuples: list[str]

    def __init__(self, *args: object, **kwargs: object):
        super().__init__()
        signature = inspect.signature(type(self))
        by_position = [p for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        most, count = len(by_position), len(args) + 1
        if len(args) > most:
            takes = (
                f"takes from 1 to {most + 1} positional arguments" if most else "takes 1 positional argument"
            )
            raise TypeError(f"{type(self).__name__}.__init__() {takes} but {count} were given")
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        for name, value in given.arguments.items():
            value = self.kernel_size if name == "stride" and value is None else value
            setattr(self, name, sides(value, 1) if name in self._tuples else value)

    def _run(self, *inputs: Tensor) -> Tensor:
        used = [n for n in self._options if n != "inplace" or self.inplace]
        return self._function(*inputs, **{n: getattr(self, n) for n in used})

    def extra_repr(self) -> str:
        shown = [name for name in self._shown if name != "inplace" or self.inplace]
        # an option written with = is shown without its name
        values = {name: getattr(self, name.lstrip("=")) for name in shown}
        return ", ".join(repr(v) if name[0] == "=" else f"{name}={v!r}" for name, v in values.items())


def forward_of(layer_class: type[Layer], inputs: str) -> Callable:
    """The `forward` of a class, with inputs of these names, which may be given by position or by name."""
    forward = {
        "input": lambda self, input: self._run(input),
        "input target": lambda self, input, target: self._run(input, target),
        "log_input target": lambda self, log_input, target: self._run(log_input, target),
        "x1 x2": lambda self, x1, x2: self._run(x1, x2),
        "input target var": lambda self, input, target, var: self._run(input, target, var),
        "input1 input2 target": lambda self, input1, input2, target: self._run(input1, input2, target),
        "anchor positive negative": lambda self, anchor, positive, negative: self._run(
            anchor, positive, negative
        ),
    }[inputs]
    forward.__name__, forward.__qualname__ = "forward", f"{layer_class.__name__}.forward"
    forward.__module__, forward.__doc__ = layer_class.__module__, "The function of the inputs."
    forward.__annotations__ = dict.fromkeys((*inputs.split(), "return"), "Tensor")
    return forward


def layer(
    name: str,
    function: Callable,
    inputs: str = "input",
    shown: str | None = None,
    one: str = "",
    by_name: str = "",
    without: str = "_stacklevel dtype",
    **defaults: object,
) -> type[Layer]:
    """The module of a function: its constructor takes the arguments of `function` other than the inputs.

    inputs: the inputs' names. shown: the options that PyTorch prints, by default all; for "=name" only the value is printed.
    one: options kept as a tuple of one number; by_name: options given by name only; without: options that PyTorch's layer
    does not have; defaults: default values that differ from the function's.
    """
    rest = list(inspect.signature(function).parameters.values())[len(inputs.split()) :]
    rest = [p for p in rest if p.name not in without.split()]
    rest.sort(key=lambda p: p.name in by_name.split())
    options = [p.replace(kind=p.POSITIONAL_OR_KEYWORD, default=defaults.get(p.name, p.default)) for p in rest]
    options = [p.replace(kind=p.KEYWORD_ONLY) if p.name in by_name.split() else p for p in options]
    names = [p.name for p in options]
    body = {
        "_function": staticmethod(function),
        "_options": names,
        "_shown": names if shown is None else shown.split(),
    }
    body["_tuples"] = one.split()
    body |= {"__signature__": inspect.Signature(options), "__doc__": function.__doc__, "__module__": __name__}
    layer_class = type(name, (Layer,), body)
    layer_class.forward = forward_of(layer_class, inputs)
    return layer_class


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
MaxPool1d = layer(
    "MaxPool1d", F.max_pool1d, shown="kernel_size stride padding dilation ceil_mode", by_name="ceil_mode"
)
MaxPool2d = layer(
    "MaxPool2d", F.max_pool2d, shown="kernel_size stride padding dilation ceil_mode", by_name="ceil_mode"
)
AvgPool1d = layer(
    "AvgPool1d", F.avg_pool1d, shown="kernel_size stride padding", one="kernel_size stride padding"
)
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
ZeroPad2d.__doc__ = "Zeros around images: `padding` on all sides, or (left, right, top, bottom)."
CosineSimilarity = layer("CosineSimilarity", F.cosine_similarity, "x1 x2")
PairwiseDistance = layer("PairwiseDistance", F.pairwise_distance, "x1 x2")

__all__ = [
    name for name, value in globals().items() if isinstance(value, type) and value.__module__ == __name__
]
__all__ = [name for name in __all__ if name[0] != "_" and name != "Layer"]
