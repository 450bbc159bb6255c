"""Functions of networks that draw random numbers: rrelu, gumbel_softmax."""

from __future__ import annotations

import warnings

import numpy as np

from ..autograd.interpreter import Wrapper
from ..ops.activation import softmax
from ..ops.inplace import apply_inplace
from ..ops.table import define
from ..random import drawn_for_each_example, rng
from ..tensor import Tensor, wrap
from .functional_images import tensor_argument

_rrelu = define(
    "rrelu", lambda self, noise: self * noise, kind="elementwise", node="RreluWithNoiseBackward0", flat=("self",),
    self=lambda grad, self, noise: grad * noise,
    noise=None,
)  # fmt: skip
_rrelu_in_place = define(
    "rrelu_", lambda self, noise: self * noise, kind="elementwise", node="RreluWithNoiseBackward1", flat=("result",),
    self=lambda grad, result, noise: grad * noise,
    noise=None,
)  # fmt: skip


@drawn_for_each_example
def _slopes(input: Tensor, lower: float, upper: float) -> Tensor:
    """1 where positive, elsewhere a slope between the bounds, drawn for each element in turn."""
    array = input._array
    slopes, low = np.ones_like(array), array <= 0
    slopes[low] = rng().random((int(low.sum()),)) * (upper - lower) + lower
    return wrap(slopes)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """`x` where positive, else `a·x`: a drawn for each element in training, else a constant (Xu et al. 2015).

    a lies between `lower` and `upper`; the constant is their mean. Raises RuntimeError for lower > upper.
    """
    tensor_argument(input, "rrelu")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    plain = input.detach()
    values = plain
    while isinstance(values, Wrapper) and not hasattr(values, "bdim"):  # of a derivative's level
        values = values.value
    if training and not isinstance(values, Wrapper):
        noise = _slopes(values, lower, upper)
    elif training:
        drawn = drawn_for_each_example(lambda: wrap(rng().random(tuple(input.shape), input._array.dtype)))()
        noise = (drawn * (upper - lower) + lower).where(plain <= 0, 1.0)
    else:
        middle = wrap(np.asarray((lower + upper) / 2, input._array.dtype))
        noise = middle.where(~(plain > 0), 1.0)
    return apply_inplace(_rrelu_in_place.op, (input, noise)) if inplace else _rrelu(input, noise)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A sample from the distribution that `softmax(logits)` describes, which gradients pass through.

    softmax((logits + g) / tau) with Gumbel noise g: the nearer tau is to 0, the nearer the result to one-hot. hard: the
    value is one-hot, the gradient that of the soft sample (Jang et al. 2017; Maddison et al. 2017).
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -_exponential(logits.detach()).log()
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = (soft.detach() * 0).scatter(dim, index, 1.0)
    return one_hot - soft.detach() + soft


def _exponential(like: Tensor) -> Tensor:
    shape, dtype = tuple(like.shape), like._array.dtype
    draw = drawn_for_each_example(lambda: wrap((-np.log1p(-rng().random(shape))).astype(dtype)))
    return draw()


__all__ = ["gumbel_softmax", "rrelu"]
