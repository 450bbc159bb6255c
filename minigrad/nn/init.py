"""Starting values of parameters, filled in place and not recorded: PyTorch's numbers for the same seed."""

from __future__ import annotations

import math

import numpy as np

from ..autograd.grad_mode import no_grad
from ..basics import check
from ..creation import eye
from ..missing import guard, module_attributes
from ..random import rng
from ..tensor import Tensor, wrap

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
    "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip
__dir__, __getattr__ = module_attributes(__name__, __all__)


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output of this weight has, and how many outputs each input has."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with uniform numbers between a and b."""
    with no_grad():
        return tensor.uniform_(a, b)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with normal numbers of this mean and standard deviation."""
    with no_grad():
        return tensor.normal_(mean, std)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity; it need not be square."""
    check(tensor.dim() == 2, "Only tensors with 2 dimensions are supported", error=ValueError)
    return tensor.copy_(eye(*tensor.shape))


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1) -> Tensor:
    """Fill with gain times a random matrix whose rows, or columns, are orthonormal (Saxe et al. 2013)."""
    check(tensor.dim() > 1, "Only tensors with 2 or more dimensions are supported", error=ValueError)
    rows = tensor.shape[0]
    drawn = rng().normal((rows, tensor.numel() // max(rows, 1)), tensor._array.dtype)
    Q, R = np.linalg.qr(drawn.T if len(drawn) < len(drawn.T) else drawn)
    Q = Q * np.sign(np.diag(R))  # otherwise the decomposition would determine the signs
    return tensor.copy_(
        wrap(np.ascontiguousarray(Q if Q.shape == drawn.shape else Q.T)).view_as(tensor)
    ).mul_(gain)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with uniform numbers in ±gain·√(6 / (fan_in + fan_out)) (Glorot & Bengio 2010)."""
    bound = gain * math.sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with normal numbers of standard deviation gain·√(2 / (fan_in + fan_out)) (Glorot & Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor))))


GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor for starting values that keeps the signal's size through the nonlinearity. param: slope of leaky_relu."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    linear = "linear", "sigmoid", *[f"conv{kind}{n}d" for n in (1, 2, 3) for kind in ("", "_transpose")]
    if nonlinearity not in {*GAINS, *linear}:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS.get(nonlinearity, 1)


def kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    """The standard deviation gain / √fan of He et al. 2015."""
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[mode == "fan_out"] or 1)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill with uniform numbers in ±gain·√(3 / fan) (He et al. 2015); `a`: slope of the leaky_relu that follows."""
    bound = math.sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill with normal numbers of standard deviation gain / √fan (He et al. 2015)."""
    return normal_(tensor, 0.0, kaiming_std(tensor, a, mode, nonlinearity))


guard(__name__, "nn.init")
