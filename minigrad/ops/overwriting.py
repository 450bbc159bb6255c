"""In-place forms of operations that are made elsewhere, and all in-place forms that torch has as functions, too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..size import check_dim
from ..tensor import Tensor
from .arguments import NUMBERS, explain
from .choice import refuse, zeros_like
from .elementary import _polygamma, polygamma
from .inplace import writer
from .pointwise import pow
from .scan import _cumprod, _cumsum
from .table import define, function, method

ndarray = np.ndarray

# ---------------------------------------------------------------- comparisons: true and false as 1 and 0


def _comparison(name: str, compare: np.ufunc, *aliases: str) -> None:
    node = name.title() + "Backward"
    by_tensor = define(
        name + "_", compare, kind="elementwise", node=node + "1", self=zeros_like, other=zeros_like
    )
    by_number = define(
        name + "_",
        lambda self, other: compare(self, other),
        kind="elementwise",
        node=node + "0",
        self=zeros_like,
    )

    def overwrite(self: Tensor, other: Tensor | float) -> Tensor:
        if isinstance(other, Tensor):
            return writer(by_tensor.op)(self, other)
        if not isinstance(other, NUMBERS):
            explain(overwrite, name + "_", (self, other), {}, method=True)
        return writer(by_number.op)(self, other)

    overwrite.__name__ = overwrite.__qualname__ = name + "_"
    overwrite.__doc__ = f"`{name}`, written into this tensor as ones and zeros. Returns it."
    function(overwrite, *(n + "_" for n in (name, *aliases)))


for _name, _compare, *_aliases in (
    ("eq", np.equal), ("ne", np.not_equal, "not_equal"), ("lt", np.less, "less"), ("le", np.less_equal, "less_equal"),
    ("gt", np.greater, "greater"), ("ge", np.greater_equal, "greater_equal"),
):  # fmt: skip
    _comparison(_name, _compare, *_aliases)


# ---------------------------------------------------------------- with parameters


def _accumulated(self: Tensor, dim: int, dtype: dtypes.dtype | None, call: Callable) -> Tensor:
    if dtype is not None and dtype is not self.dtype:
        raise RuntimeError(
            f"Bad in-place call: input tensor dtype {dtypes.c_name(self._array.dtype)} and output tensor dtype "
            f"{dtypes.c_name(self.to(dtype)._array.dtype)} should match"
        )
    refuse(self._array, "b", f"{call.op.name}_out_cpu")
    return writer(call.op)(self, check_dim(dim, self._array.ndim))


@method()
def cumsum_(self: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The running sum along `dim`, written into this tensor. Returns it."""
    return _accumulated(self, dim, dtype, _cumsum)


@method()
def cumprod_(self: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The running product along `dim`, written into this tensor. Returns it."""
    return _accumulated(self, dim, dtype, _cumprod)


_polygamma_in_place = define(
    "polygamma_", lambda self, n: _polygamma.op.forward(self, n), kind="elementwise", floating=True,
    node="PolygammaBackward1",
    self=lambda grad, self, n: grad * _polygamma(self, n + 1),
)  # fmt: skip


@method("polygamma")
def _polygamma_of(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma."""
    return polygamma(n, self)


@method()
def polygamma_(self: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma, written into this tensor. Returns it."""
    if not isinstance(n, int):
        raise TypeError(f"polygamma_() takes an integer n, not {n}")
    return writer(_polygamma_in_place.op)(self, n)


@method()
def float_power_(self: Tensor, exponent: Tensor | float) -> Tensor:
    """`self ** exponent` in double precision, written into this tensor, which must be double. Returns it."""
    if self._array.dtype != np.float64:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {dtypes.word(self._array.dtype)} but the operation's result requires "
            "dtype Double"
        )
    return pow.in_place(self, exponent)


@method()
def apply_(self: Tensor, callable: Callable[[float], float]) -> Tensor:
    """Each element replaced by what a Python function makes of it; not recorded. Returns this tensor."""
    return _mapped(self, "apply_", callable)


@method()
def map_(self: Tensor, tensor: Tensor, callable: Callable[[float, float], float]) -> Tensor:
    """Each element replaced by what a Python function makes of it and that of `tensor`; not recorded. Returns it."""
    return _mapped(self, "map_", callable, tensor.expand(self.shape))


@method()
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[float, float, float], float]) -> Tensor:
    """Each element replaced by what a Python function makes of it and those of two tensors; not recorded. Returns it."""
    return _mapped(self, "map2_", callable, x.expand(self.shape), y.expand(self.shape))


def _as_number(value: object, whole: bool) -> float | int:
    """What a function gave for an element, as it is written there."""
    if not isinstance(value, (int, float)):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return int(value) if whole else value


def _mapped(self: Tensor, name: str, callable: Callable, *others: Tensor) -> Tensor:
    if any(t.requires_grad for t in (self, *others)):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
        )
    for t in others:
        if t.dtype is not self.dtype:
            wanted, found = self.dtype.tensor_type, t.dtype.tensor_type
            raise TypeError(f"{name}: expected {wanted} for 'other' (got {found})")
    columns = (t.numpy().ravel().tolist() for t in (self, *others))
    whole = self._array.dtype.kind != "f"
    new = np.array([_as_number(callable(*values), whole) for values in zip(*columns, strict=True)])
    self._array[...] = new.reshape(self.shape)
    self._own_counter().version += 1
    return self


function(Tensor.atan2_, "arctan2_")
function(Tensor.neg_, "negative_")

# ---------------------------------------------------------------- as functions: torch.exp_(x) is x.exp_()

IN_TORCH = (
    "abs", "acos", "acosh", "addmv", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh",
    "atan", "atanh", "ceil", "clamp", "clamp_max", "clamp_min", "clip", "cos", "cosh", "deg2rad", "detach", "erf",
    "erfc", "exp", "exp2", "expm1", "fill", "fix", "floor", "frac", "gcd", "index_put", "lcm", "ldexp", "log",
    "log10", "log1p", "log2", "logit", "nan_to_num", "neg", "negative", "rad2deg", "reciprocal", "relu",
    "round", "rsqrt", "sigmoid", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "xlogy", "zero",
)  # fmt: skip
globals().update({name + "_": getattr(Tensor, name + "_") for name in IN_TORCH})
__all__ = [name + "_" for name in IN_TORCH]
