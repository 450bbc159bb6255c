"""Random tensors. The stream is NumPy's: seeded runs repeat, but the numbers are not PyTorch's."""

from __future__ import annotations

import numpy as np

from . import dtypes
from .creation import _dtype, _finish
from .ops.shape import wanted_shape
from .tensor import Tensor


class Generator:
    """A source of random numbers of its own."""

    def __init__(self, device: object = None):
        self.seed()

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed`. Returns self."""
        self._seed = int(seed)
        self.numpy = np.random.default_rng(self._seed & 0xFFFF_FFFF_FFFF_FFFF)
        return self

    def seed(self) -> int:
        """Start from a seed that cannot be foretold, and return it."""
        self.manual_seed(int(np.random.SeedSequence().entropy) & 0xFFFF_FFFF_FFFF_FFFF)
        return self._seed

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self._seed


default_generator = Generator().manual_seed(0)


def manual_seed(seed: int) -> Generator:
    """Start the default stream again from `seed`."""
    return default_generator.manual_seed(seed)


def rng(generator: Generator | None = None) -> np.random.Generator:
    return (generator or default_generator).numpy


def randn(
    *size: int,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normally distributed numbers, mean 0, standard deviation 1."""
    return _finish(
        np.asarray(rng(generator).standard_normal(wanted_shape(size)), _dtype(dtype)), requires_grad
    )


def rand(
    *size: int,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Evenly distributed numbers from 0 to 1."""
    wanted = _dtype(dtype)
    values = rng(generator).random(wanted_shape(size), dtype=wanted if wanted != np.float16 else np.float32)
    return _finish(np.asarray(values, wanted), requires_grad)


def randint(
    low: int, high, size=None, *, generator: Generator | None = None, dtype: dtypes.dtype | None = None
) -> Tensor:
    """Integers from `low` (0 if omitted) up to but not including `high`."""
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    values = rng(generator).integers(low, high, tuple(size))
    return _finish(np.asarray(values, np.int64 if dtype is None else _dtype(dtype)), False)


def randperm(n: int, *, generator: Generator | None = None) -> Tensor:
    """The numbers 0 ... n-1 in random order."""
    return _finish(rng(generator).permutation(n).astype(np.int64), False)


def randn_like(input: Tensor, *, requires_grad: bool = False) -> Tensor:
    """Normally distributed numbers in the shape and dtype of `input`."""
    return randn(input.shape, dtype=input.dtype, requires_grad=requires_grad)


def rand_like(input: Tensor, *, requires_grad: bool = False) -> Tensor:
    """Evenly distributed numbers in the shape and dtype of `input`."""
    return rand(input.shape, dtype=input.dtype, requires_grad=requires_grad)


__all__ = ["Generator", "manual_seed", "rand", "rand_like", "randint", "randn", "randn_like", "randperm"]
