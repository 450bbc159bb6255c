"""PyTorch's stream of random numbers: the same seed gives the same numbers. Imports NumPy only.

The source is the 32-bit Mersenne twister, which NumPy has too. PyTorch's numbers follow from how it turns 32-bit words into
uniform and normal numbers, integers and permutations; each method says how.
"""

from __future__ import annotations

import functools
import math

import numpy as np

BLOCK = 16  # normal numbers are made in blocks of sixteen, or one by one if there are fewer


class Generator:
    """A source of random arrays: bit for bit PyTorch's on a CPU, except for the last bits of normal float32 numbers
    drawn 16 or more at a time: there PyTorch uses its own sine and logarithm."""

    def __init__(self):
        self.manual_seed(67280421310721)  # PyTorch's default seed

    def manual_seed(self, seed: int) -> Generator:
        """Start again from the lowest 32 bits of `seed`. Returns self."""
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError("Overflow when unpacking long long")
        self._seed = seed & 0xFFFF_FFFF
        self.__dict__.pop("_twister", None)
        self.spare: float | None = None  # the second of a pair of normal numbers, if only one was asked for
        return self

    @functools.cached_property
    def _twister(self) -> np.random.MT19937:
        """The source of 32-bit words, made for the first draw: other programs need not load numpy.random."""
        words = np.random.MT19937()
        words._legacy_seeding(self._seed)
        return words

    def get_state(self) -> tuple:
        """The position in the stream, for `set_state`."""
        return self._twister.state, self.spare

    def set_state(self, state: tuple) -> None:
        """Go back to a state that `get_state` returned."""
        self._twister.state, self.spare = state

    def words(self, count: int, double: bool = False) -> np.ndarray:
        """`count` words of 32 bits or, if `double`, of 64 bits, each made of two, the high one first; as uint64."""
        if not double:
            return self._twister.random_raw(count)
        high, low = self._twister.random_raw(2 * count).reshape(count, 2).T
        return high << np.uint64(32) | low

    def random(self, shape: tuple[int, ...], dtype: np.dtype | type = np.float64) -> np.ndarray:
        """Uniform numbers from 0 up to but not including 1: 24 bits of a word for a float32, 53 of two for a float64."""
        bits = 53 if np.dtype(dtype) == np.float64 else 24
        masked = self.words(math.prod(shape), double=bits == 53) & np.uint64((1 << bits) - 1)
        return (masked * 2.0**-bits).astype(dtype).reshape(shape)

    def uniform(self, low: float, high: float, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Uniform numbers from `low` up to but not including `high`."""
        low, high = np.array([low, high], dtype)
        exact = np.longdouble if dtype == np.float64 else np.float64  # the result is rounded once
        return (self.random(shape, dtype).astype(exact) * (high - low) + low).astype(dtype)

    def normal(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Normal numbers, mean 0 and standard deviation 1, by Box and Muller's method."""
        count = math.prod(shape)
        if count < BLOCK:
            return np.array([self._one_normal() for _ in range(count)], dtype).reshape(shape)
        whole = count - count % BLOCK
        uniform, numbers = self.random((count,), dtype), np.empty(count, dtype)
        numbers[:whole] = _box_muller(uniform[:whole])
        if whole < count:  # the last block is filled again, overwriting part of the one before
            numbers[-BLOCK:] = _box_muller(self.random((BLOCK,), dtype))
        return numbers.reshape(shape)

    def _one_normal(self) -> float:
        if self.spare is not None:
            number, self.spare = self.spare, None
            return number
        angle, distance = self.random((2,)).tolist()
        radius = math.sqrt(-2.0 * math.log1p(-distance))
        self.spare = radius * math.sin(2.0 * math.pi * angle)
        return radius * math.cos(2.0 * math.pi * angle)

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> np.ndarray:
        """Integers from `low` up to but not including `high`, as int64: the remainder of a word."""
        span = high - low
        words = self.words(math.prod(shape), double=span >= 1 << 28)
        return (words % np.uint64(span)).astype(np.int64).reshape(shape) + low

    def permutation(self, count: int) -> np.ndarray:
        """The numbers 0 ... count-1 in random order: each position is swapped with one that is not yet fixed."""
        order = list(range(count))
        steps = (self.words(max(count - 1, 0)) % np.arange(count, 1, -1, dtype=np.uint64)).tolist()
        for i, step in enumerate(steps):
            order[i], order[i + step] = order[i + step], order[i]
        return np.array(order, np.int64)


def _box_muller(uniform: np.ndarray) -> np.ndarray:
    """Turn blocks of 16 uniform numbers into normal ones: eight give radii, eight angles; first cosines, then sines."""
    radius, angle = uniform.reshape(-1, 2, BLOCK // 2).transpose(1, 0, 2)
    radius = np.sqrt(-2 * np.log(1 - radius))
    angle = uniform.dtype.type(2.0 * math.pi) * angle
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).ravel()
