"""Random tensors. The stream is PyTorch's: the same seed gives the same numbers (see mersenne.py)."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from . import dtypes
from .autograd.grad_mode import local
from .creation import _dtype, _finish
from .mersenne import Stream
from .ops.inplace import apply_inplace, nothing
from .ops.shape import wanted_shape
from .ops.table import define, method
from .tensor import Tensor, wrap


class Generator:
    """A source of random numbers of its own."""

    def __init__(self, device: object = None):
        self.manual_seed(67280421310721)  # PyTorch's default seed

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed`. Returns self."""
        self._seed = int(seed) & 0xFFFF_FFFF_FFFF_FFFF
        self.stream = Stream(self._seed)
        return self

    def seed(self) -> int:
        """Start from a seed that cannot be foretold, and return it."""
        self.manual_seed(int(np.random.SeedSequence().entropy))
        return self._seed

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """The place in the stream, as a tensor of bytes for `set_state`."""
        return wrap(self.stream.get_state())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go back to a place in the stream that `get_state` told. Returns self."""
        self.stream.set_state(new_state.numpy())
        return self


# unlike PyTorch's, so that a lesson prints the same numbers each time it is run
default_generator = Generator().manual_seed(0)


def manual_seed(seed: int) -> Generator:
    """Start the default stream again from `seed`."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the default stream from a seed that cannot be foretold, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default stream started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default stream's place, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the default stream to a place that `get_rng_state` told."""
    default_generator.set_state(new_state)


def rng(generator: Generator | None = None) -> Stream:
    return (generator or default_generator).stream


def drawn_for_each_example(draw: Callable) -> Callable:
    """Inside vmap `randomness` decides: refuse, draw once for all examples, or draw for each."""

    @functools.wraps(draw)
    def wrapper(*args, **kwargs):
        level = local.interpreter
        return draw(*args, **kwargs) if level is None else level.random(wrapper, args, kwargs)

    return wrapper


@drawn_for_each_example
def randn(
    *size: int,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normally distributed numbers, mean 0, standard deviation 1."""
    values = rng(generator).standard_normal(wanted_shape(size), _dtype(dtype))
    return _finish(values, requires_grad)


@drawn_for_each_example
def rand(
    *size: int,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Evenly distributed numbers from 0 up to but not including 1."""
    return _finish(rng(generator).random(wanted_shape(size), _dtype(dtype)), requires_grad)


@drawn_for_each_example
def randint(
    low: int,
    high=None,
    size=None,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers from `low` (0 if omitted) up to but not including `high`."""
    if size is None or high is None:
        low, high, size = 0, low, high if size is None else size
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    values = rng(generator).integers(low, high, tuple(size))
    return _finish(values.astype(np.int64 if dtype is None else _dtype(dtype)), requires_grad)


@drawn_for_each_example
def randperm(n: int, *, generator: Generator | None = None, dtype: dtypes.dtype | None = None) -> Tensor:
    """The numbers 0 ... n-1 in random order."""
    values = rng(generator).permutation(n)
    return wrap(values if dtype is None else values.astype(_dtype(dtype)))


@drawn_for_each_example
def normal(mean: float, std: float, size: tuple, *, generator: Generator | None = None) -> Tensor:
    """Normally distributed numbers with the given mean and standard deviation."""
    return wrap(rng(generator).normal(mean, std, tuple(size), _dtype(None)))


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """0 or 1 for each probability in `input`, in its dtype; no gradient comes through."""
    probability = input.detach()
    return (rand(input.shape, generator=generator, dtype=input.dtype) < probability).to(input.dtype)


@drawn_for_each_example
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """`num_samples` indices, each drawn with the probability that its weight in `input`, one row, gives it.

    Without replacement the numbers are not PyTorch's.
    """
    weights = np.array(input.detach().numpy(), np.float64)
    if weights.ndim != 1:
        raise RuntimeError(
            f"multinomial takes one row of weights here, but got a tensor of shape {input.shape!r}"
        )
    if (weights < 0).any() or not np.isfinite(weights).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not replacement and num_samples > (weights > 0).sum():
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    drawn = []
    for _ in range(num_samples):
        bounds = np.cumsum(weights)
        drawn.append(int(np.searchsorted(bounds / bounds[-1], rng(generator).random((1,))[0])))
        if not replacement:
            weights[drawn[-1]] = 0.0
    return wrap(np.array(drawn, np.int64))


def _overwriting(name: str, node: str):
    """The node of writing random numbers, which leaves nothing of what was there."""
    return define(name, lambda self, values: values, node=node, self=lambda grad: nothing(grad))


_normal, _uniform = _overwriting("normal_", "NormalBackward0"), _overwriting("uniform_", "UniformBackward0")
_bernoulli = _overwriting("bernoulli_", "BernoulliBackward2")
_random = [_overwriting("random_", f"RandomBackward{k}") for k in range(3)]  # by how many bounds are left out
_exponential = _overwriting("exponential_", "ExponentialBackward0")


def overwrite(op, self: Tensor, draw: Callable[[], np.ndarray]) -> Tensor:
    """Write what `draw` gives into the tensor; inside vmap as its `randomness` says."""
    if local.interpreter is None:
        return apply_inplace(op, (self,), (draw(),))
    local.interpreter.refuse_random_write(self)
    return self.copy_(drawn_for_each_example(lambda: wrap(draw()))())


@method()
def random_(
    self: Tensor, low: int = 0, high: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Write integers from `low` up to but not including `high` into the tensor; with one argument from 0. Returns it.

    Without arguments as many as the dtype can hold exactly.
    """
    left_out = 2 if high is None and low == 0 else int(high is None)
    if high is None:
        limits = {"float16": 2**11 + 1, "float32": 2**24 + 1, "float64": 2**53 + 1, "bool": 2}
        widest = limits.get(self.dtype.name) or 2 ** (8 * self.itemsize - 1)
        low, high = 0, low or widest
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(
        _random[left_out].op, self, lambda: rng(generator).integers(low, high, shape).astype(dtype)
    )


@method()
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Write exponentially distributed numbers of rate `lambd` into the tensor. Returns it."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(
        _exponential.op, self, lambda: (-np.log1p(-rng(generator).random(shape)) / lambd).astype(dtype)
    )


@method()
def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Write normally distributed numbers into the tensor. Returns it."""
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(_normal.op, self, lambda: rng(generator).normal(mean, std, shape, dtype))


@method()
def uniform_(self: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Write evenly distributed numbers from `a` up to but not including `b` into the tensor. Returns it."""
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(_uniform.op, self, lambda: rng(generator).uniform(a, b, shape, dtype))


@method()
def bernoulli_(self: Tensor, p: float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Write ones with probability `p`, else zeros, into the tensor. Returns it."""
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(_bernoulli.op, self, lambda: rng(generator).tosses(p, shape).astype(dtype))


def randn_like(input: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Normally distributed numbers in the shape and dtype of `input`."""
    return randn(input.shape, dtype=input.dtype if dtype is None else dtype, requires_grad=requires_grad)


def rand_like(input: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Evenly distributed numbers in the shape and dtype of `input`."""
    return rand(input.shape, dtype=input.dtype if dtype is None else dtype, requires_grad=requires_grad)


__all__ = [
    "Generator",
    "bernoulli",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "seed",
    "set_rng_state",
]
