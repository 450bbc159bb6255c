"""The activations of nn.functional, with their options. With `inplace=True` a function overwrites its input and returns it."""

from __future__ import annotations

import warnings

from ..basics import check
from ..ops import activations, nn
from ..ops.inplace import write
from ..ops.shape import view
from ..ops.table import function
from ..tensor import Tensor

in_functional = function(at="F")  # where users find the functions of these files

# ---------------------------------------------------------------- activations


@in_functional
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(input, 0)`. Its derivative at 0 is 0."""
    return write(activations.relu.op, (input,)) if inplace else activations.relu(input)


@in_functional
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input` where positive, else `negative_slope * input`. Its derivative at 0 is `negative_slope`."""
    if inplace:
        return write(activations.leaky_relu_written.op, (input,), (negative_slope,))
    return activations.leaky_relu(input, negative_slope)


@in_functional
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where positive, else `alpha * (exp(input) - 1)`."""
    if inplace:
        return write(activations.elu_written.op, (input,), (alpha, 1.0, 1.0))
    return activations.elu_of(input, alpha, 1.0, 1.0)


SELU_NUMBERS = (
    1.6732632423543772848170429916717,
    1.0507009873554804934193349852946,
    1.0,
)  # Klambauer et al. 2017


@in_functional
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` with constants that keep mean 0 and variance 1 from layer to layer."""
    return (
        write(activations.elu_written.op, (input,), SELU_NUMBERS)
        if inplace
        else activations.elu_of(input, *SELU_NUMBERS)
    )


@in_functional
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where positive, else `alpha * (exp(input / alpha) - 1)`."""
    check(alpha != 0, "ZeroDivisionError: alpha cannot be 0 for CELU")
    return (
        write(activations.celu_written.op, (input,), (alpha,))
        if inplace
        else activations.celu_of(input, alpha)
    )


@in_functional
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """`input`, but at least `min_val` and at most `max_val`."""
    check(min_val <= max_val, "min_val cannot be greater than max_val", error=ValueError)
    if inplace:
        return write(activations.hardtanh_of.op, (input,), (min_val, max_val))
    return activations.hardtanh_of(input, min_val, max_val)


@in_functional
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`input`, but at least 0 and at most 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


@in_functional
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * sigmoid(input)`."""
    return write(activations.silu.op, (input,)) if inplace else activations.silu(input)


@in_functional
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * tanh(softplus(input))`."""
    return write(activations.mish_of.op, (input,)) if inplace else activations.mish_of(input)


@in_functional
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A sigmoid of three straight lines: `input / 6 + 1/2` between -3 and 3, 0 and 1 beyond."""
    return write(activations.hardsigmoid_of.op, (input,)) if inplace else activations.hardsigmoid_of(input)


@in_functional
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * hardsigmoid(input)`."""
    return write(activations.hardswish_of.op, (input,)) if inplace else activations.hardswish_of(input)


@in_functional
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`input` where it is above `threshold`, else `value`."""
    if inplace:
        return write(activations.threshold_of.op, (input,), (threshold, value))
    return activations.threshold_of(input, threshold, value)


@in_functional
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where positive, else `weight * input`: one weight, or one for each channel."""
    n = weight._array.size
    message = "Mismatch of parameter numbers and input channel size. Found parameter numbers = {} and channel size = {}."
    channels = input._array.shape[1] if input._array.ndim > 1 else 1
    check(n in (1, channels), message, n, channels)
    message = "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {}"
    check(weight._array.ndim < 2, message, weight._array.ndim)
    if input._array.ndim == weight._array.ndim:
        return activations.prelu_of(input, weight)
    return activations.prelu_of(input, view(weight, [n if d == 1 else 1 for d in range(input._array.ndim)]))


@in_functional
def softsign(input: Tensor) -> Tensor:
    """`input / (1 + |input|)`."""
    return input / (input.abs() + 1)


@in_functional
def tanhshrink(input: Tensor) -> Tensor:
    """`input - tanh(input)`."""
    return input - input.tanh()


@in_functional
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """`input` times the probability that a normal variable is below it; approximate="tanh" uses a formula with tanh."""
    return activations.gelu(input, approximate=approximate)


def implicit_dim(name: str, ndim: int) -> int:
    """The dimension of a softmax that is called without one. Warns, as PyTorch does."""
    message = f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument."
    warnings.warn(message, stacklevel=5)
    return 0 if ndim in (0, 1, 3) else 1


@in_functional
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: object = None) -> Tensor:
    """`exp(input)` divided by its sum over `dim`: positive numbers that add up to 1. dtype: used for the computation."""
    dim = implicit_dim("softmax", input._array.ndim) if dim is None else dim
    return nn.softmax(input if dtype is None else input.to(dtype), dim)


@in_functional
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: object = None) -> Tensor:
    """`log(softmax(input))`, computed without overflow. dtype: used for the computation."""
    dim = implicit_dim("log_softmax", input._array.ndim) if dim is None else dim
    return nn.log_softmax(input if dtype is None else input.to(dtype), dim)


@in_functional
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: object = None) -> Tensor:
    """`softmax(-input)`."""
    dim = implicit_dim("softmin", input._array.ndim) if dim is None else dim
    return softmax(-input, dim, dtype=dtype)
