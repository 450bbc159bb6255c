"""Starting values of parameters, filled in place and not recorded: PyTorch's numbers for the same seed."""

from __future__ import annotations

import math

from ..autograd.modes import no_grad
from ..basics import not_offered
from ..tensor import Tensor

__all__ = [
    "calculate_gain", "constant_", "kaiming_uniform_", "normal_", "ones_", "uniform_", "xavier_uniform_", "zeros_",
]  # fmt: skip
__dir__ = __all__.copy  # what completion offers
__getattr__ = not_offered("nn.init.")


GAINS = {
    "linear": 1,
    "sigmoid": 1,
    "conv1d": 1,
    "conv2d": 1,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before this nonlinearity are enlarged, to keep the variance."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


def fans(tensor: Tensor) -> dict[str, int]:
    """How many inputs each output of this weight has, and how many outputs each input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return {"fan_in": tensor.shape[1] * field, "fan_out": tensor.shape[0] * field}


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with uniform numbers between a and b."""
    return tensor.uniform_(a, b)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with normal numbers of this mean and standard deviation."""
    return tensor.normal_(mean, std)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with uniform numbers in ±gain·√(6 / (fan_in + fan_out)) (Glorot & Bengio 2010)."""
    bound = gain * math.sqrt(6.0 / sum(fans(tensor).values()))
    return uniform_(tensor, -bound, bound)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill with uniform numbers in ±gain·√(3 / fan) (He et al. 2015); `a`: slope of a leaky_relu."""
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[mode] or 1)
    return uniform_(tensor, -bound, bound)
