"""Random tensors. The stream is PyTorch's: the same seed gives the same numbers (see mersenne.py)."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

import numpy as np

from . import dtypes
from .autograd.modes import local
from .creation import factory, new_leaf, shape_of
from .mersenne import Stream
from .ops.publish import function, method
from .tensor import Tensor

ndarray = np.ndarray


class Generator:
    """A source of random numbers of its own."""

    def __init__(self):
        self.manual_seed(67280421310721)  # PyTorch's default seed

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed`. Returns self."""
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError("Overflow when unpacking long long")
        self._stream = Stream(seed & 0xFFFF_FFFF_FFFF_FFFF)
        return self


# unlike PyTorch's, so that a lesson prints the same numbers each time it is run
default_generator = Generator().manual_seed(0)
manual_seed = default_generator.manual_seed


def rng(generator: Generator | None = None) -> Stream:
    return (generator or default_generator)._stream


# ---------------------------------------------------------------- new tensors


def drawn(draw: Callable) -> Callable:
    """Inside a transform its level decides: vmap refuses, the others draw."""

    @functools.wraps(draw)
    def call(*args, **kwargs):
        level = local.interpreter
        return draw(*args, **kwargs) if level is None else level.random(call, args, kwargs)

    return call


def floating(wanted: np.dtype, kernel: str) -> np.dtype:
    """The dtype. Raises PyTorch's error unless it is a floating point one."""
    if wanted.kind != "f":
        raise dtypes.not_implemented(kernel, wanted)
    return wanted


@drawn
@factory
def randn(
    *lengths: int, size: tuple | None = None, generator: Generator | None = None, dtype: np.dtype
) -> ndarray:
    """Normally distributed numbers, mean 0, standard deviation 1."""
    return rng(generator).normal(shape_of("randn", lengths, size), floating(dtype, "normal_kernel_cpu"))


@drawn
@factory
def rand(
    *lengths: int, size: tuple | None = None, generator: Generator | None = None, dtype: np.dtype
) -> ndarray:
    """Evenly distributed numbers from 0 up to but not including 1."""
    return rng(generator).random(shape_of("rand", lengths, size), floating(dtype, "check_uniform_bounds"))


@drawn
@factory
def randint(
    low: int | None = None, high: int | tuple | None = None, size: tuple | None = None, *, generator: Generator | None = None,
    dtype: np.dtype | None = None,
) -> ndarray:  # fmt: skip
    """Integers from `low` (0 if omitted) up to but not including `high`."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    low, high, dtype = operator.index(low or 0), operator.index(high), dtype or np.dtype(np.int64)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    for name, bound in (("from", low), ("to - 1", high - 1)) if dtype.kind in "iu" else ():
        if not np.iinfo(dtype).min <= bound <= np.iinfo(dtype).max:
            raise RuntimeError(f"{name} is out of bounds for {dtypes.of_numpy(dtype).c_name}")
    return rng(generator).integers(low, high, shape_of("randint", (), size)).astype(dtype)


@drawn
@factory
def randperm(n: int, *, generator: Generator | None = None, dtype: np.dtype | None = None) -> ndarray:
    """The numbers 0 ... n-1 in random order."""
    (n,) = shape_of("randperm", (n,))
    return rng(generator).permutation(n).astype(np.int64 if dtype is None else dtype)


@drawn
@factory
def randn_like(input: Tensor, *, dtype: np.dtype) -> ndarray:
    """Normally distributed numbers in the shape and dtype of `input`."""
    return rng().normal(input._array.shape, floating(dtype, "normal_kernel_cpu"))


# ---------------------------------------------------------------- draws with given probabilities


@method("multinomial")
@drawn
@function(at="")
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """`num_samples` indices for each row of weights, drawn with the probability that the weights give them: int64.

    Raises RuntimeError for weights that are negative or not finite, and without replacement for more samples than weights.
    """
    weights = input.detach().numpy()
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if weights.dtype.kind != "f":
        got = input.dtype.word
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {got}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not ((weights >= 0) & (weights < np.inf)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not weights.sum(-1).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement or num_samples == 1:  # the largest weights, each divided by exponential noise
        noise = -np.log1p(-rng(generator).random(weights.shape)).astype(weights.dtype)
        order = np.argsort(-(weights / noise), axis=-1, kind="stable")
        return new_leaf(np.ascontiguousarray(order[..., :num_samples]))
    ends = np.cumsum(np.atleast_2d(weights), axis=-1, dtype=weights.dtype)
    ends /= ends[:, -1:]
    ends[:, -1] = 1
    found = [np.searchsorted(row, rng(generator).random((num_samples,))) for row in ends]
    return new_leaf(np.array(found, np.int64).reshape(*weights.shape[:-1], num_samples))


__all__ = [
    "Generator", "default_generator", "manual_seed", "multinomial", "rand", "randint", "randn", "randn_like",
    "randperm",
]  # fmt: skip
