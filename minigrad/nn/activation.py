"""Activation functions as modules."""

from __future__ import annotations

import warnings

from ..tensor import Tensor
from . import functional as F
from .linear import new_parameter
from .module import Module


class _InPlace(Module):
    """An activation that may write over its input; a subclass names the function."""

    _function: str

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The function of each element."""
        return getattr(F, self._function)(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_InPlace):
    """Rectified linear unit, `max(x, 0)`; its derivative at 0 is 0."""

    def forward(self, input: Tensor) -> Tensor:
        """`max(x, 0)`."""
        return F.relu(input, self.inplace)


class ReLU6(_InPlace):
    """`min(max(x, 0), 6)`."""

    _function = "relu6"

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class SELU(_InPlace):
    """A scaled ELU (Klambauer et al. 2017)."""

    _function = "selu"


class SiLU(_InPlace):
    """`x·sigmoid(x)`, also called swish."""

    _function = "silu"


class Mish(_InPlace):
    """`x·tanh(softplus(x))`."""

    _function = "mish"


class Hardsigmoid(_InPlace):
    """A straight line from 0 at -3 to 1 at 3, constant outside: a sigmoid of three pieces."""

    _function = "hardsigmoid"

    def extra_repr(self) -> str:
        return ""


class Hardswish(_InPlace):
    """`x·hardsigmoid(x)`."""

    _function = "hardswish"

    def extra_repr(self) -> str:
        return ""


class Sigmoid(Module):
    """The logistic function `1/(1 + e⁻ˣ)`, between 0 and 1."""

    def forward(self, input: Tensor) -> Tensor:
        """`1/(1 + e⁻ˣ)`."""
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent `tanh(x)`, between -1 and 1."""

    def forward(self, input: Tensor) -> Tensor:
        """`tanh(x)`."""
        return F.tanh(input)


class LogSigmoid(Module):
    """`log(sigmoid(x))`, computed without overflow."""

    def forward(self, input: Tensor) -> Tensor:
        """`log(sigmoid(x))`."""
        return F.logsigmoid(input)


class Softsign(Module):
    """`x/(1 + |x|)`."""

    def forward(self, input: Tensor) -> Tensor:
        """`x/(1 + |x|)`."""
        return F.softsign(input)


class Tanhshrink(Module):
    """`x - tanh(x)`."""

    def forward(self, input: Tensor) -> Tensor:
        """`x - tanh(x)`."""
        return F.tanhshrink(input)


class GELU(Module):
    """`x·Φ(x)`, Φ the normal distribution; approximate="tanh" for a cheaper formula."""

    def __init__(self, approximate: str = "none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """`x·Φ(x)`."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class LeakyReLU(Module):
    """`x` where positive, else `negative_slope·x`."""

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`x` where positive, else `negative_slope·x`."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class ELU(Module):
    """`x` where positive, else `alpha·(eˣ - 1)`."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`x` where positive, else `alpha·(eˣ - 1)`."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class CELU(ELU):
    """`x` where positive, else `alpha·(e^(x/alpha) - 1)`."""

    def forward(self, input: Tensor) -> Tensor:
        """`x` where positive, else `alpha·(e^(x/alpha) - 1)`."""
        return F.celu(input, self.alpha, self.inplace)


class Softplus(Module):
    """`log(1 + e^(beta·x))/beta`; x itself where beta·x > threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """`log(1 + e^(beta·x))/beta`."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Hardtanh(Module):
    """`x`, at least min_val and at most max_val."""

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ):
        super().__init__()
        for old, value in (("min_value", min_value), ("max_value", max_value)):
            if value is not None:
                warnings.warn(
                    f"keyword argument `{old}` is deprecated and renamed to `{old[:7]}`",
                    FutureWarning,
                    stacklevel=2,
                )
        min_val, max_val = (
            old if old is not None else new for old, new in ((min_value, min_val), (max_value, max_val))
        )
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`x`, at least min_val and at most max_val."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5):
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(_Shrink):
    """`x` moved towards 0 by lambd; 0 where it is nearer than that."""

    def forward(self, input: Tensor) -> Tensor:
        """`x` moved towards 0 by lambd; 0 where it is nearer than that."""
        return F.softshrink(input, self.lambd)


class Hardshrink(_Shrink):
    """`x` where `|x| > lambd`, else 0."""

    def forward(self, input: Tensor) -> Tensor:
        """`x` where `|x| > lambd`, else 0."""
        return F.hardshrink(input, self.lambd)


class Threshold(Module):
    """`x` where `x > threshold`, else `value`."""

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`x` where `x > threshold`, else `value`."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class PReLU(Module):
    """`x` where positive, else `weight·x`; the weight is trained: one number, or one per channel (num_parameters)."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: object = None, dtype: object = None
    ):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = new_parameter((num_parameters,), dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to its starting value everywhere."""
        self.weight._array[...] = self.init

    def forward(self, input: Tensor) -> Tensor:
        """`x` where positive, else `weight·x`."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """`x` where positive, else `a·x`; a drawn for each element between lower and upper, their middle in evaluation."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`x` where positive, else `a·x`."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class GLU(Module):
    """`a·sigmoid(b)`, where a and b are the halves of the input along `dim`."""

    def __init__(self, dim: int = -1):
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """`a·sigmoid(b)`."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class _AlongDim(Module):
    def __init__(self, dim: int | None = None):
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """`eˣ/Σ eˣ` along `dim`: positive numbers that add up to 1."""

    def forward(self, input: Tensor) -> Tensor:
        """`eˣ/Σ eˣ` along `dim`."""
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """`eˣ/Σ eˣ` over the channels."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)


class LogSoftmax(_AlongDim):
    """`log(softmax(x))` along `dim`."""

    def forward(self, input: Tensor) -> Tensor:
        """`log(softmax(x))` along `dim`."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmin(_AlongDim):
    """`softmax(-x)` along `dim`."""

    def forward(self, input: Tensor) -> Tensor:
        """`softmax(-x)` along `dim`."""
        return F.softmin(input, self.dim, _stacklevel=5)


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]  # fmt: skip
