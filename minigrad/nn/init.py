"""Starting values of parameters, filled in place and not recorded: PyTorch's numbers for the same seed."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..autograd.grad_mode import no_grad
from ..missing import guard, module_attributes
from ..random import rng
from ..tensor import Tensor, wrap

__all__ = ["kaiming_uniform_", "normal_", "ones_", "uniform_", "xavier_uniform_", "zeros_"]
__dir__, __getattr__ = module_attributes(__name__, __all__)


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output of this weight has, and how many outputs each input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


@no_grad()
def redraw(tensor: Tensor, draw: Callable) -> Tensor:
    """Overwrite a tensor with `draw(shape, dtype)`. Returns it."""
    return tensor.copy_(wrap(draw(tensor._array.shape, tensor._array.dtype)))


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with uniform numbers between a and b."""
    return redraw(tensor, lambda shape, dtype: rng().uniform(a, b, shape, dtype))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with normal numbers of this mean and standard deviation."""
    return redraw(tensor, lambda shape, dtype: rng().normal(shape, dtype) * std + mean)


@no_grad()
def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return tensor.fill_(0.0)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with uniform numbers in ±gain·√(6 / (fan_in + fan_out)) (Glorot & Bengio 2010)."""
    bound = gain * math.sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def kaiming_uniform_(tensor: Tensor, a: float = 0) -> Tensor:
    """Fill with uniform numbers in ±√(6 / (1 + a²) / fan_in) (He et al. 2015); `a`: slope of the leaky_relu that follows."""
    bound = math.sqrt(3.0) * math.sqrt(2.0 / (1 + a**2)) / math.sqrt(fans(tensor)[0] or 1)
    return uniform_(tensor, -bound, bound)


guard(__name__, "nn.init")
