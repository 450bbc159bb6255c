"""Random tensors. The stream is PyTorch's: the same seed gives the same numbers (see mersenne.py)."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from . import dtypes
from .autograd.grad_mode import local
from .creation import _dtype, _finish, empty_like, placed
from .mersenne import Stream
from .ops.inplace import apply_inplace, nothing
from .ops.shape import broadcast_shapes, wanted_shape
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


def _drawn_around(name: str, node: str):
    """The node of numbers that were drawn with a tensor for parameter: nothing is known of how they would change."""
    return define(
        name, lambda self, values: values.copy(), kind="elementwise", node=node, self=lambda grad: nothing(grad), values=None
    )  # fmt: skip


_around_mean, _around_number, _around_both = (
    _drawn_around("normal", f"NormalBackward{k}") for k in (1, 2, 3)
)
_tossed = _drawn_around("bernoulli", "BernoulliBackward0")


def normal(
    mean: float | Tensor = 0.0,
    std: float | Tensor = 1.0,
    size: tuple | None = None,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normally distributed numbers with the given means and standard deviations: tensors, or numbers with a `size`."""
    tensors = [t for t in (mean, std) if isinstance(t, Tensor)]
    if not tensors:
        if size is None:
            raise TypeError("normal() needs a size, or a tensor of means or standard deviations")
        return _normal_numbers(mean, std, tuple(size), generator, dtype, requires_grad)
    shape = broadcast_shapes(*(tuple(t.shape) for t in tensors))
    noise = randn(tuple(shape), generator=generator, dtype=tensors[0].dtype)
    values = noise * std + mean
    if isinstance(std, Tensor) and not std.requires_grad and (std < 0).any():
        raise RuntimeError("normal expects all elements of std >= 0.0")
    call = _around_both if len(tensors) == 2 else _around_mean if isinstance(mean, Tensor) else _around_number
    return call(tensors[0], values.detach())


@drawn_for_each_example
def _normal_numbers(mean, std, size, generator, dtype, requires_grad) -> Tensor:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    return _finish(rng(generator).normal(mean, std, size, _dtype(dtype)), requires_grad)


@method()
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """0 or 1 for each probability in `input` (or for the probability `p`), in its dtype; no gradient comes through."""
    if p is not None:
        return empty_like(input.detach()).bernoulli_(p, generator=generator)
    probability = input.detach()
    values = (rand(input.shape, generator=generator, dtype=input.dtype) < probability).to(input.dtype)
    return _tossed(input, values)


@method()
@drawn_for_each_example
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
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {dtypes.word(weights.dtype)}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not ((weights >= 0) & (weights < np.inf)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not weights.sum(-1).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement or num_samples == 1:  # the largest weights, each divided by exponential noise
        noise = -np.log1p(-rng(generator).random(weights.shape))
        return wrap(
            np.argsort(-(weights / noise.astype(weights.dtype)), axis=-1, kind="stable")[..., :num_samples]
        )
    bounds = np.cumsum(np.atleast_2d(weights), axis=-1, dtype=weights.dtype)
    bounds /= bounds[:, -1:]
    bounds[:, -1] = 1
    drawn = [np.searchsorted(row, rng(generator).random((num_samples,))) for row in bounds]
    return wrap(np.array(drawn, np.int64).reshape(*weights.shape[:-1], num_samples))


def _overwriting(name: str, node: str):
    """The node of writing random numbers, which leaves nothing of what was there."""
    return define(name, lambda self, values: values, node=node, self=lambda grad: nothing(grad))


_normal, _uniform = _overwriting("normal_", "NormalBackward0"), _overwriting("uniform_", "UniformBackward0")
_bernoulli = _overwriting("bernoulli_", "BernoulliBackward2")
_random = [_overwriting("random_", f"RandomBackward{k}") for k in range(3)]  # by how many bounds are left out
_exponential = _overwriting("exponential_", "ExponentialBackward0")
_geometric = _overwriting("geometric_", "GeometricBackward0")
_log_normal = _overwriting("log_normal_", "LogNormalBackward0")
_cauchy = _overwriting("cauchy_", "CauchyBackward0")


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
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(_normal.op, self, lambda: rng(generator).normal(mean, std, shape, dtype))


@method()
def uniform_(self: Tensor, a: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Write evenly distributed numbers from `a` up to but not including `to` into the tensor. Returns it."""
    if a > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={to:g}")
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(_uniform.op, self, lambda: rng(generator).uniform(a, to, shape, dtype))


@method()
def bernoulli_(self: Tensor, p: float | Tensor = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Write ones with probability `p` (one for all, or a tensor of them), else zeros, into the tensor. Returns it."""
    shape, dtype = tuple(self.shape), self._array.dtype
    if isinstance(p, Tensor):
        chances = p.detach().expand(shape).numpy()
        kind = chances.dtype if chances.dtype == np.float32 else np.float64
        return overwrite(
            _bernoulli.op, self, lambda: (rng(generator).random(shape, kind) < chances).astype(dtype)
        )
    return overwrite(_bernoulli.op, self, lambda: rng(generator).tosses(p, shape).astype(dtype))


@method()
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Write how many tosses it took until the first success, each of probability `p`, into the tensor. Returns it."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(
        _geometric.op, self,
        lambda: np.ceil(np.log(rng(generator).random(shape)) / np.log1p(-p)).astype(dtype),
    )  # fmt: skip


@method()
def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None
) -> Tensor:
    """Write e to the power of normally distributed numbers into the tensor. Returns it."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(
        _log_normal.op, self,
        lambda: np.exp(np.array([rng(generator).normal(mean, std, 1)[0] for _ in range(self.numel())])).reshape(shape)
            .astype(dtype),
    )  # fmt: skip


@method()
def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Write numbers of the Cauchy distribution into the tensor. Returns it."""
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    shape, dtype = tuple(self.shape), self._array.dtype
    return overwrite(
        _cauchy.op, self,
        lambda: (median + sigma * np.tan(np.pi * (rng(generator).random(shape) - 0.5))).astype(dtype),
    )  # fmt: skip


@drawn_for_each_example
def randint_like(
    input: Tensor,
    low: int,
    high: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers from `low` (0 if there is one bound) up to but not including `high`, in the shape and dtype of `input`."""
    low, high = (0, low) if high is None else (low, high)
    dtype = input.dtype if dtype is None else dtype
    return randint(low, high, tuple(input.shape), dtype=dtype, requires_grad=requires_grad)


def randn_like(input: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Normally distributed numbers in the shape and dtype of `input`."""
    return randn(input.shape, dtype=input.dtype if dtype is None else dtype, requires_grad=requires_grad)


def rand_like(input: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Evenly distributed numbers in the shape and dtype of `input`."""
    return rand(input.shape, dtype=input.dtype if dtype is None else dtype, requires_grad=requires_grad)


(
    rand, randn, randint, randperm, normal, rand_like, randn_like, randint_like
) = map(placed, (rand, randn, randint, randperm, normal, rand_like, randn_like, randint_like))  # fmt: skip

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
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "seed",
    "set_rng_state",
]
