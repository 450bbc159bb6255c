"""Random tensors. The stream is PyTorch's: the same seed gives the same numbers (see mersenne.py)."""

from __future__ import annotations

import operator

import numpy as np
from numpy import ndarray

from . import dtypes
from .autograd.modes import local
from .basics import check
from .creation import factory, new_leaf, shape_of
from .mersenne import Generator
from .missing import module_attributes
from .ops.shape import common_shape
from .ops.table import function, method
from .tensor import Tensor

# seeded, unlike PyTorch's, so that a lesson prints the same numbers each time it is run
default_generator = Generator().manual_seed(0)
manual_seed = default_generator.manual_seed
get_rng_state, set_rng_state = default_generator.get_state, default_generator.set_state
Source = Generator | None  # None means the default one


def rng(generator: Source = None) -> Generator:
    """The source to draw from. Inside a transform, the transform chooses it."""
    source = generator or default_generator
    return source if local.interpreter is None else local.interpreter.source(source)


# ---------------------------------------------------------------- new tensors


def floating(wanted: np.dtype, kernel: str) -> np.dtype:
    """`wanted` itself. Raises PyTorch's error unless it is a floating point dtype."""
    dtypes.require("f", kernel, wanted)
    return wanted


@factory
def randn(*lengths: object, size: tuple | None = None, generator: Source = None, dtype: np.dtype) -> ndarray:
    """Normally distributed numbers, mean 0, standard deviation 1."""
    return rng(generator).normal(shape_of("randn", lengths, size), floating(dtype, "normal_kernel_cpu"))


@factory
def rand(*lengths: object, size: tuple | None = None, generator: Source = None, dtype: np.dtype) -> ndarray:
    """Uniformly distributed numbers from 0 up to but not including 1."""
    return rng(generator).random(shape_of("rand", lengths, size), floating(dtype, "check_uniform_bounds"))


@factory
def randint(
    low: int | None = None, high: int | tuple | None = None, size: tuple | None = None, *, generator: Source = None,
    dtype: np.dtype | None = None,
) -> ndarray:  # fmt: skip
    """Integers from `low` (0 if omitted) up to but not including `high`."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    low, high, dtype = operator.index(low or 0), operator.index(high), dtype or np.dtype(np.int64)
    check(low < high, "random_ expects 'from' to be less than 'to', but got from={} >= to={}", low, high)
    for name, bound in (("from", low), ("to - 1", high - 1)) if dtype.kind in "iu" else ():
        fits = np.iinfo(dtype).min <= bound <= np.iinfo(dtype).max
        check(fits, "{} is out of bounds for {.c_name}", name, dtype)
    return rng(generator).integers(low, high, shape_of("randint", (), size)).astype(dtype)


@factory
def randperm(n: int, *, generator: Source = None, dtype: np.dtype | None = None) -> ndarray:
    """The numbers 0 ... n-1 in random order."""
    (n,) = shape_of("randperm", (n,))
    return rng(generator).permutation(n).astype(np.int64 if dtype is None else dtype)


@factory
def randn_like(input: Tensor, *, dtype: np.dtype) -> ndarray:
    """Normally distributed numbers in the shape and dtype of `input`."""
    return rng().normal(input._array.shape, floating(dtype, "normal_kernel_cpu"))


@factory
def rand_like(input: Tensor, *, dtype: np.dtype) -> ndarray:
    """Uniformly distributed numbers from 0 up to but not including 1, in the shape and dtype of `input`."""
    return rng().random(input._array.shape, floating(dtype, "check_uniform_bounds"))


@factory
def randint_like(input: Tensor, low: int, high: int | None = None, *, dtype: np.dtype) -> ndarray:
    """Integers from `low` (0 if omitted) up to but not including `high`, in the shape and dtype of `input`."""
    low, high = (0, low) if high is None else (low, high)
    return rng().integers(operator.index(low), operator.index(high), input._array.shape).astype(dtype)


# ---------------------------------------------------------------- into an existing tensor


def written(self: Tensor, values: ndarray) -> Tensor:
    """`self`, with these values written into it."""
    return self.copy_(new_leaf(values.astype(self._array.dtype), like=self))


@function("Tensor")
def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Source = None) -> Tensor:
    """Normally distributed numbers with this mean and standard deviation, in place. Returns self."""
    check(std >= 0, "normal expects std >= 0.0, but found std {:g}", std)
    dtype = floating(self._array.dtype, "normal_kernel_cpu")
    return written(self, rng(generator).normal(self._array.shape, dtype) * float(std) + float(mean))


@function("Tensor")
def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Source = None) -> Tensor:
    """Uniformly distributed numbers between two bounds, in place. Returns self."""
    check(
        from_ <= to, "uniform_ expects to return a [from, to) range, but found from={:g} > to={:g}", from_, to
    )
    dtype = floating(self._array.dtype, "check_uniform_bounds")
    return written(self, rng(generator).uniform(from_, to, self._array.shape, dtype))


@function("Tensor")
def bernoulli_(self: Tensor, p: float = 0.5, *, generator: Source = None) -> Tensor:
    """Ones with probability p, else zeros, in place. Returns self."""
    check(0 <= p <= 1, "bernoulli_ expects p to be in [0, 1], but got p={:g}", p)
    return written(self, rng(generator).random(self._array.shape) < p)


@function("Tensor")
def random_(self: Tensor, from_: int = 0, to: int | None = None, *, generator: Source = None) -> Tensor:
    """Integers from one bound up to but not including another, or below a single bound, in place. Returns self."""
    low, high = (from_, to) if to is not None else (0, from_ or 2**24)
    check(low < high, "random_ expects 'from' to be less than 'to', but got from={} >= to={}", low, high)
    return written(
        self, rng(generator).integers(operator.index(low), operator.index(high), self._array.shape)
    )


@function("torch")
def normal(mean: object, std: object = 1.0, size: tuple | None = None, *, generator: Source = None) -> Tensor:
    """Normally distributed numbers: with a mean, a standard deviation and a `size`, or with means or deviations in tensors."""
    for name, value in (("mean", mean), ("std", std)):
        message = "normal(): argument '{}' must be Tensor or Number, not {}"
        check(isinstance(value, (Tensor, int, float)), message, name, type(value), error=TypeError)
    if not isinstance(std, Tensor):
        check(std >= 0, "normal expects std >= 0.0, but found std {:g}", std)
    if size is not None:
        return new_leaf(
            rng(generator).normal(shape_of("normal", (), size), dtypes.default_float()) * std + mean
        )
    message = 'normal() missing 1 required positional arguments: "size"'
    check(isinstance(mean, Tensor) or isinstance(std, Tensor), message, error=TypeError)
    arrays = [v.detach()._array if isinstance(v, Tensor) else v for v in (mean, std)]
    shape = common_shape(*map(np.shape, arrays))
    dtype = floating(next(a.dtype for a in arrays if isinstance(a, ndarray)), "normal_kernel_cpu")
    return new_leaf(rng(generator).normal(shape, dtype) * arrays[1] + arrays[0])


@function("torch Tensor")
def bernoulli(input: Tensor, p: float | None = None, *, generator: Source = None) -> Tensor:
    """Ones with the probabilities in `input` (or with probability p in its shape), else zeros; no gradient flows."""
    chances = input.detach()._array if p is None else p
    possible = np.all((np.asarray(chances) >= 0) & (np.asarray(chances) <= 1))
    check(possible, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    exactness = np.float64 if p is not None else input._array.dtype
    return new_leaf(
        (rng(generator).random(input._array.shape, exactness) < chances).astype(input._array.dtype)
    )


# ---------------------------------------------------------------- draws with given probabilities


@method("multinomial")
@function(at="")
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Source = None
) -> Tensor:
    """`num_samples` int64 indices for each row of weights, drawn with probabilities proportional to the weights.

    `replacement` is supported only for a single sample. Raises RuntimeError for weights that are negative or not finite, and
    for more samples than weights.
    """
    weights = input.detach().numpy()
    message = "multinomial only supports floating-point dtypes for input, got: {.word}"
    check(weights.dtype.kind == "f", message, weights.dtype)
    check(weights.ndim in (1, 2), "prob_dist must be 1 or 2 dim")
    message, count = (
        "minigrad does not implement multinomial() for several samples with replacement",
        weights.shape[-1],
    )
    check(not replacement or num_samples == 1, message, error=NotImplementedError)
    check(0 < num_samples <= count, "cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    possible = ((weights >= 0) & (weights < np.inf)).all()
    check(possible, "probability tensor contains either `inf`, `nan` or element < 0")
    check(weights.sum(-1).all(), "invalid multinomial distribution (sum of probabilities <= 0)")
    # take the largest after dividing each weight by exponential noise
    noise = -np.log1p(-rng(generator).random(weights.shape)).astype(weights.dtype)
    order = np.argsort(-(weights / noise), axis=-1, kind="stable")
    return new_leaf(np.ascontiguousarray(order[..., :num_samples]))


__all__ = [
    "Generator",
    "bernoulli",
    "default_generator",
    "get_rng_state",
    "manual_seed",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "set_rng_state",
]  # fmt: skip

__dir__, __getattr__ = module_attributes(__name__, __all__)
