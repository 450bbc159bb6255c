"""Starting values of parameters: PyTorch's numbers for the same seed.

The functions whose names end in an underscore fill a tensor in place, without recording, and return it.
Kaiming: He et al. 2015; Xavier: Glorot & Bengio 2010; orthogonal: Saxe et al. 2013.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable

import numpy as np

from ..autograd.captured import refuse_captured
from ..autograd.grad_mode import no_grad
from ..random import Generator, rng
from ..tensor import Tensor


def _fill(tensor: Tensor, values: np.ndarray | float, name: str = "fill") -> Tensor:
    """Write `values`. name: of the operation, for the error in a transform that `tensor` is captured by."""
    refuse_captured(name, tensor)
    tensor._array[...] = values
    tensor._own_counter().version += 1
    return tensor


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before this nonlinearity are enlarged, to keep the variance."""
    if nonlinearity in ("linear", "sigmoid", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
                        "conv_transpose2d", "conv_transpose3d"):  # fmt: skip
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def fans(tensor: Tensor) -> tuple[int, int]:
    """(fan in, fan out): how many inputs each output of this weight has, and how many outputs each input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return fans(tensor)[mode.lower() == "fan_out"]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with uniform numbers between a and b."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with normal numbers of this mean and standard deviation."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normal numbers, each drawn again until it lies between a and b."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            UserWarning,
            stacklevel=2,
        )
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={b:g}")
    source, shape, dtype = rng(generator), tensor._array.shape, tensor._array.dtype
    inside = normal_part(b, mean, std) - normal_part(a, mean, std)
    if inside > 0.3:  # most draws fit: draw all again, and take what is needed
        values = source.normal(mean, std, shape, dtype)
        while (outside := (values < dtype.type(a)) | (values > dtype.type(b))).any():
            values = np.where(outside, source.normal(mean, std, shape, dtype), values)
        return _fill(tensor, values)
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    values, pending = np.zeros(shape, dtype), np.ones(shape, bool)
    while pending.any():  # uniform draws, kept with a probability that follows the curve
        drawn = source.uniform(a, b, shape, dtype)
        values = np.where(pending, drawn, values)
        log_density = -0.5 * ((drawn - mean) / std) ** 2 - peak
        pending &= np.log(source.random(shape, dtype)) > log_density
    return _fill(tensor, values)


def normal_part(x: float, mean: float, std: float) -> float:
    """The part of a normal distribution below x."""
    return (1.0 + math.erf((x - mean) / (std * math.sqrt(2.0)))) / 2.0


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    return _fill(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return _fill(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return _fill(tensor, 0.0, "zero")


def eye_(tensor: Tensor) -> Tensor:
    """Fill with the identity matrix. Raises ValueError unless there are two dimensions."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _fill(tensor, np.eye(*tensor.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution weight so that it passes its inputs through. For 3, 4 or 5 dimensions."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    outputs, inputs, *kernel = tensor.shape
    if outputs % groups:
        raise ValueError("dim 0 must be divisible by groups")
    values = np.zeros(tensor.shape)
    per_group, centre = outputs // groups, tuple(k // 2 for k in kernel)
    for g in range(groups):
        for d in range(min(per_group, inputs)):
            values[(g * per_group + d, d, *centre)] = 1
    return _fill(tensor, values)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with uniform numbers in ±gain·√(6 / (fan_in + fan_out)) (Glorot & Bengio 2010)."""
    bound = gain * math.sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers of standard deviation gain·√(2 / (fan_in + fan_out)) (Glorot & Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor))), generator)


def _is_empty(tensor: Tensor) -> bool:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=3)
        return True
    return False


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with uniform numbers in ±gain·√(3 / fan) (He et al. 2015); `a`: slope of a leaky_relu."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill with normal numbers of standard deviation gain / √fan (He et al. 2015); `a`: slope of a leaky_relu."""
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill with a (semi-)orthogonal matrix, times gain (Saxe et al. 2013); further dimensions count as columns."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    flat = rng(generator).standard_normal((rows, columns), tensor._array.dtype)
    q, r = np.linalg.qr(flat.T if rows < columns else flat)
    q = q * np.sign(np.diag(r))  # makes the distribution uniform
    return _fill(tensor, gain * (q.T if rows < columns else q).reshape(tensor.shape))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fill a matrix with normal numbers, and a fraction `sparsity` of each column with zeros."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    source = rng(generator)
    values = source.normal(0, std, tensor._array.shape, tensor._array.dtype)
    zeros = math.ceil(sparsity * tensor.shape[0])
    for column in range(tensor.shape[1]):
        values[rng().permutation(tensor.shape[0])[:zeros], column] = 0  # not from `generator`, as in PyTorch
    return _fill(tensor, values)


def _old_name(function: Callable) -> Callable:
    """The function under its name in old PyTorch, without the underscore, with a warning."""
    name = function.__name__

    @functools.wraps(function)
    def old(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    old.__name__ = old.__qualname__ = name[:-1]
    old.__doc__ = f"The old name of `{name}`, with a FutureWarning."
    return old


uniform, normal, constant, eye, dirac, xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal, orthogonal, sparse = map(
    _old_name,
    (
        uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_,
        orthogonal_, sparse_,
    ),
)  # fmt: skip

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal", "kaiming_normal_",
    "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones_", "orthogonal", "orthogonal_", "sparse", "sparse_",
    "trunc_normal_", "uniform", "uniform_", "xavier_normal", "xavier_normal_", "xavier_uniform", "xavier_uniform_", "zeros_",
]  # fmt: skip
__dir__ = __all__.copy  # what completion offers
