"""Random tensors. The stream is PyTorch's: the same seed gives the same numbers (see mersenne.py)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from . import dtypes
from .autograd.grad_mode import local
from .autograd.interpreter import Wrapper
from .creation import _dtype, _finish, _size, empty_like, lengths, only_size, placed
from .device import device as Device
from .memory import in_rows, laid_out_like
from .mersenne import STATE, Stream
from .ops.arguments import NUMBERS
from .ops.assigning import nothing
from .ops.choice import refuse
from .ops.conversion import check_device
from .ops.inplace import apply_inplace
from .ops.names import by_name
from .ops.shape import broadcast_shapes
from .ops.table import define, method
from .tensor import Tensor, full_name, wrap


class Generator:
    """A source of random numbers of its own."""

    def __init__(self, device: object = "cpu"):
        check_device(device)
        self.device = Device("cpu")
        self.manual_seed(67280421310721)  # PyTorch's default seed

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed`. Returns self."""
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError("Overflow when unpacking long long")
        self._stream = Stream(seed & 0xFFFF_FFFF_FFFF_FFFF)
        return self

    def seed(self) -> int:
        """Start from a seed that cannot be foretold, and return it."""
        return self.manual_seed(int(np.random.SeedSequence().entropy) & 0xFFFF_FFFF_FFFF_FFFF)._stream.seed

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self._stream.seed

    def get_state(self) -> Tensor:
        """The place in the stream, as a tensor of bytes for `set_state`."""
        return wrap(self._stream.get_state())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go back to a place in the stream that `get_state` told, here or in PyTorch. Returns self.

        Raises TypeError or RuntimeError for anything else.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {full_name(type(new_state))}")
        if new_state._array.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if new_state._array.size != STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE.itemsize} but found the input RNG state size to be "
                f"{new_state._array.size}"
            )
        self._stream.set_state(new_state._array)
        return self

    def clone_state(self) -> Generator:
        """Another generator at the same place in the same stream."""
        return Generator().set_state(self.get_state())

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"


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


@contextmanager
def fork_rng(devices: object = None, enabled: bool = True, **places: object) -> Iterator[None]:
    """`with fork_rng():` what is drawn inside leaves the default stream where it was."""
    before = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)


def rng(generator: Generator | None = None) -> Stream:
    return (generator or default_generator)._stream


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
    **names: tuple,
) -> Tensor:
    """Normally distributed numbers, mean 0, standard deviation 1."""
    shape, wanted = _size("randn", size, only_size("randn", names) if names else None), _dtype(dtype)
    if wanted.kind != "f":
        raise dtypes.not_implemented("normal_kernel_cpu", wanted)
    return _finish(rng(generator).standard_normal(shape, wanted), requires_grad)


@drawn_for_each_example
def rand(
    *size: int,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **names: tuple,
) -> Tensor:
    """Evenly distributed numbers from 0 up to but not including 1."""
    shape, wanted = _size("rand", size, only_size("rand", names) if names else None), _dtype(dtype)
    if wanted.kind != "f":
        raise dtypes.not_implemented("check_uniform_bounds", wanted)
    return _finish(rng(generator).random(shape, wanted), requires_grad)


@drawn_for_each_example
def randint(
    low: int | None = None,
    high: int | tuple | None = None,
    size: tuple | None = None,
    *,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers from `low` (0 if omitted) up to but not including `high`."""
    given = (low, high, size)
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    low = 0 if low is None else low
    if not (
        _is_whole(low) and _is_whole(high) and isinstance(size, (tuple, list)) and all(map(_is_whole, size))
    ):
        raise _no_form("randint", *(v for v in given if v is not None))
    wanted = np.dtype(np.int64) if dtype is None else _dtype(dtype)
    low, high = within_dtype(int(low), int(high), wanted)
    values = rng(generator).integers(low, high, _size("randint", (size,)))
    return _finish(values.astype(wanted), requires_grad)


def _is_whole(value: object) -> bool:
    """Is it an integer, or a tensor that holds one?"""
    return type(value) is int or (
        hasattr(value, "__index__")
        and not (isinstance(value, Tensor) and value._array.dtype.kind not in "iu")
    )


def _no_form(name: str, *given: object) -> TypeError:
    """The arguments fit no form of the function."""
    kinds = ", ".join(full_name(type(v)) for v in given)
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:"
    )


@functools.cache
def limits_of(wanted: np.dtype) -> tuple[int, int]:
    """The least and the largest integer of a dtype."""
    return (0, 1) if wanted.kind == "b" else (int(np.iinfo(wanted).min), int(np.iinfo(wanted).max))


def within_dtype(low: int, high: int, wanted: np.dtype) -> tuple[int, int]:
    """The bounds of random integers of a dtype: narrower where it has no number beside them.

    Raises PyTorch's error if there are no integers from `low` to below `high`, or the dtype cannot hold them.
    """
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if wanted.kind == "f":
        first, last, digits = (
            int(wanted.type(low + 1)),
            int(wanted.type(high - 1)),
            np.finfo(wanted).nmant + 1,
        )
        if first < low:
            low = first + (1 << (abs(low + 1).bit_length() - digits))
        if last >= high:
            high = last - (1 << (abs(high - 1).bit_length() - digits))
        return low, high
    least, most = limits_of(wanted)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            kind = dtypes.c_name(wanted)
            raise RuntimeError(f"{name} is out of bounds for {kind}")
    return low, high


@drawn_for_each_example
def randperm(n: int, *, generator: Generator | None = None, dtype: dtypes.dtype | None = None) -> Tensor:
    """The numbers 0 ... n-1 in random order."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype is not None:
        refuse(np.empty(0, _dtype(dtype)), "b", "randperm")
    if dtype is not None and n > 1:
        dtypes.fitting(n - 1, _dtype(dtype))
    values = rng(generator).permutation(n)
    return wrap(values if dtype is None else values.astype(_dtype(dtype)))


def _drawn_around(name: str, node: str):
    """The node of numbers that were drawn with a tensor for parameter: nothing is known of how they would change."""
    return define(
        name, lambda self, values: values.copy(), kind="elementwise", node=node, self=lambda grad: nothing(grad), values=None
    )  # fmt: skip


_around_mean, _around_number = (_drawn_around("normal", f"NormalBackward{k}") for k in (1, 2))
_around_both = define(
    "normal", lambda mean, std, values: values.copy(), kind="elementwise", node="NormalBackward3",
    mean=lambda grad: nothing(grad), std=lambda grad: nothing(grad), values=None,
)  # fmt: skip
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
    known = all(isinstance(v, (Tensor, *NUMBERS)) for v in (mean, std))
    if not known or (size is None) == (not tensors):
        raise _no_form("normal", *((mean, std) if size is None else (mean, std, size)))
    if not tensors:
        shape = lengths("normal", "size", size)
        return _normal_numbers(mean, std, shape, generator, dtype, requires_grad)
    if isinstance(std, Tensor):
        if not isinstance(std, Wrapper) and (std._array < 0).any():
            raise RuntimeError("normal expects all elements of std >= 0.0")
    elif std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    shape = broadcast_shapes(*(tuple(t.shape) for t in tensors))
    noise = randn(tuple(shape), generator=generator, dtype=tensors[0].dtype)
    values = (noise * std + mean).detach().to(tensors[0].dtype)
    if len(tensors) == 2:
        return _around_both(mean, std, values)
    return (_around_mean if isinstance(mean, Tensor) else _around_number)(tensors[0], values)


@drawn_for_each_example
def _normal_numbers(mean, std, size, generator, dtype, requires_grad) -> Tensor:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    wanted = _dtype(dtype)
    if wanted.kind != "f":
        raise dtypes.not_implemented("normal_kernel_cpu", wanted)
    return _finish(rng(generator).normal(mean, std, size, wanted), requires_grad)


@method()
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """0 or 1 for each probability in `input` (or for the probability `p`), in its dtype; no gradient comes through."""
    if p is not None:
        p = p.item() if isinstance(p, Tensor) and not p._array.ndim else p
        return empty_like(input.detach()).bernoulli_(p, generator=generator)
    probability = input.detach()
    check_probabilities(probability)
    values = (rand(input.shape, generator=generator, dtype=input.dtype) < probability).to(input.dtype)
    return _tossed(input, values)


def check_probabilities(probabilities: Tensor) -> None:
    """Raise PyTorch's error unless all are probabilities. (Inside a transform nobody knows.)"""
    if isinstance(probabilities, Wrapper):
        return
    p = probabilities._array
    refuse(p, "biu", "bernoulli_tensor_cpu_p_")
    if not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, "
            "please report an enhancement request to PyTorch.)"
        )


@method()
@drawn_for_each_example
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """`num_samples` indices for each row of weights, drawn with the probability that the weights give them: int64.

    Raises RuntimeError for weights that are negative or not finite, and without replacement for more samples than weights.
    """
    if not isinstance(replacement, bool):
        raise TypeError(f"multinomial() takes a bool for 'replacement', not {full_name(type(replacement))}")
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
    if weights.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if not ((weights >= 0) & (weights < np.inf)).all():
        if not replacement or num_samples == 1:
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        first = weights[~((weights >= 0) & (weights < np.inf))][0]
        found = "= infinity or NaN" if first > 0 else "< 0"
        raise RuntimeError(f"invalid multinomial distribution (encountering probability entry {found})")
    if not weights.sum(-1).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement or num_samples == 1:  # the largest weights, each divided by exponential noise
        noise = -np.log1p(-rng(generator).random(weights.shape))
        return wrap(
            in_rows(
                np.argsort(-(weights / noise.astype(weights.dtype)), axis=-1, kind="stable")[
                    ..., :num_samples
                ]
            )
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


def overwrite(op, self: Tensor, draw: Callable[[tuple], np.ndarray], rows: bool = False) -> Tensor:
    """Write what `draw` gives for a shape into the tensor, in the order of the elements in memory, or in `rows`.

    Inside vmap as its `randomness` says.
    """
    if local.interpreter is None:
        numbers = (
            draw(tuple(self.shape)) if rows else laid_out_like(self._array, make=lambda shape, _: draw(shape))
        )
        return apply_inplace(op, (self,), (numbers,))
    local.interpreter.refuse_random_write(self)
    return self.copy_(drawn_for_each_example(lambda: wrap(draw(tuple(self.shape))))())


@method()
def random_(
    self: Tensor, low: int = 0, high: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Write integers from `low` up to but not including `high` into the tensor; with one argument from 0. Returns it.

    Without arguments as many as the dtype can hold exactly.
    """
    if not _is_whole(low) or not (high is None or _is_whole(high)):
        raise _no_form("random_", *((low,) if high is None else (low, high)))
    left_out = 2 if high is None and low == 0 else int(high is None)
    if high is None:
        limits = {"float16": 2**11 + 1, "float32": 2**24 + 1, "float64": 2**53 + 1, "bool": 2}
        widest = limits.get(self.dtype.name) or int(np.iinfo(self._array.dtype).max) + 1
        low, high = 0, low or widest
    dtype = self._array.dtype
    low, high = within_dtype(int(low), int(high), dtype)
    return overwrite(
        _random[left_out].op, self, lambda shape: rng(generator).integers(low, high, shape).astype(dtype)
    )


def check_continuous(self: Tensor, distribution: str, word: str) -> None:
    """Raise PyTorch's error unless the tensor is of floating point numbers."""
    if self._array.dtype.kind != "f":
        raise RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {word}"
        )


@method()
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Write exponentially distributed numbers of rate `lambd` into the tensor. Returns it."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    check_continuous(self, "Exponential", dtypes.word(self._array.dtype))
    dtype = self._array.dtype
    return overwrite(
        _exponential.op, self, lambda shape: (-np.log1p(-rng(generator).random(shape)) / lambd).astype(dtype)
    )


@method()
def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Write normally distributed numbers into the tensor. Returns it."""
    mean, std = (v.item() if isinstance(v, Tensor) and not v.ndim else v for v in (mean, std))
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    refuse(self._array, "biu", "normal_kernel_cpu")
    dtype = self._array.dtype
    if self._array.flags.c_contiguous:
        return overwrite(_normal.op, self, lambda shape: rng(generator).normal(mean, std, shape, dtype))
    return overwrite(
        _normal.op, self, lambda shape: one_by_one(rng(generator), mean, std, shape).astype(dtype)
    )


def one_by_one(stream: Stream, mean: float, std: float, shape: tuple) -> np.ndarray:
    """Normally distributed numbers as PyTorch draws few of them, or those of a tensor that is not contiguous."""
    return np.array([stream.normal(mean, std, 1)[0] for _ in range(math.prod(shape))]).reshape(shape)


@method()
def uniform_(self: Tensor, a: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Write evenly distributed numbers from `a` up to but not including `to` into the tensor. Returns it."""
    refuse(self._array, "biu", "check_uniform_bounds")
    most = np.finfo(self._array.dtype).max
    for name, bound in (("from", a), ("to", to)):
        if not -most <= bound <= most:
            raise RuntimeError(f"{name} is out of bounds for {dtypes.c_name(self._array.dtype)}")
    if a > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={to:g}")
    if float(to) - float(a) > most:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{dtypes.word(self._array.dtype)}>::max(), but found to={to:g} "
            f"and from={a:g} which result in to-from to exceed the limit"
        )
    dtype = self._array.dtype
    return overwrite(_uniform.op, self, lambda shape: rng(generator).uniform(a, to, shape, dtype))


@method()
def bernoulli_(self: Tensor, p: float | Tensor = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Write ones with probability `p` (one for all, or a tensor of them), else zeros, into the tensor. Returns it."""
    dtype = self._array.dtype
    if isinstance(p, Tensor):
        check_probabilities(p)
        chances = p.detach().expand(self.shape).numpy()
        kind = chances.dtype if chances.dtype == np.float32 else np.float64
        # they are drawn in row-major order
        return overwrite(
            _bernoulli.op,
            self,
            lambda _: (rng(generator).random(chances.shape, kind) < chances).astype(dtype),
            rows=True,
        )
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return overwrite(_bernoulli.op, self, lambda shape: rng(generator).tosses(p, shape).astype(dtype))


@method()
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Write how many tosses it took until the first success, each of probability `p`, into the tensor. Returns it."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    refuse(self._array, "b", "geometric_cpu")
    dtype = self._array.dtype
    return overwrite(
        _geometric.op, self,
        lambda shape: np.ceil(np.log(rng(generator).random(shape)) / np.log1p(-p)).astype(dtype),
    )  # fmt: skip


@method()
def log_normal_(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None
) -> Tensor:
    """Write e to the power of normally distributed numbers into the tensor. Returns it."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    refuse(self._array, "biu", "log_normal_cpu")
    dtype = self._array.dtype
    return overwrite(
        _log_normal.op, self,
        lambda shape: np.exp(one_by_one(rng(generator), mean, std, shape)).astype(dtype),
    )  # fmt: skip


@method()
def cauchy_(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Write numbers of the Cauchy distribution into the tensor. Returns it."""
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    check_continuous(self, "Cauchy", dtypes.c_name(self._array.dtype))
    dtype = self._array.dtype
    return overwrite(
        _cauchy.op, self,
        lambda shape: (median + sigma * np.tan(np.pi * (rng(generator).random(shape) - 0.5))).astype(dtype),
    )  # fmt: skip


def randn_one_by_one(size: tuple, dtype: dtypes.dtype) -> Tensor:
    """`randn` as PyTorch draws for a tensor that is not contiguous."""
    return wrap(one_by_one(rng(), 0.0, 1.0, size).astype(dtype.numpy))


@drawn_for_each_example
def randint_like(
    input: Tensor,
    low: int | None = None,
    high: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    memory_format: object = None,
) -> Tensor:
    """Integers from `low` (0 if there is one bound) up to but not including `high`, in the shape and dtype of `input`."""
    given = [v for v in (low, high) if v is not None]
    if not given or not all(map(_is_whole, given)):
        raise _no_form("randint_like", input, *given)
    low, high = (0, given[0]) if len(given) == 1 else (low, high)
    return _drawn_like(input, functools.partial(randint, low, high), dtype, memory_format, requires_grad)


def randn_like(
    input: Tensor,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    memory_format: object = None,
) -> Tensor:
    """Normally distributed numbers in the shape and dtype of `input`."""
    rows = input._array.flags.c_contiguous
    return _drawn_like(input, randn if rows else randn_one_by_one, dtype, memory_format, requires_grad)


def rand_like(
    input: Tensor,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    memory_format: object = None,
) -> Tensor:
    """Evenly distributed numbers in the shape and dtype of `input`."""
    return _drawn_like(input, rand, dtype, memory_format, requires_grad)


def _drawn_like(
    input: Tensor, draw: Callable, dtype: dtypes.dtype | None, memory_format: object, requires_grad: bool
) -> Tensor:
    """Numbers for a tensor of the shape of `input`, in the order in which its elements lie in memory, as PyTorch draws."""
    dtype = input.dtype if dtype is None else dtype
    if local.interpreter is not None or str(memory_format) == "torch.contiguous_format":
        draw = randn if draw is randn_one_by_one else draw
        return draw(input.shape, dtype=dtype, requires_grad=requires_grad)
    numbers = laid_out_like(input._array, make=lambda shape, _: draw(shape, dtype=dtype)._array)
    return _finish(numbers, requires_grad)


# Names that Python lets nobody give to a parameter.
NAMES = {"uniform_": {"from": "a"}, "random_": {"from": "low", "to": "high"}}
# Methods whose wrong arguments are explained.
for _name in (
    "bernoulli", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "multinomial", "normal_", "random_",
    "uniform_",
):  # fmt: skip
    setattr(Tensor, _name, by_name(getattr(Tensor, _name), NAMES.get(_name, {}), _name, method=True))
bernoulli, multinomial = (by_name(f, {}, f.__name__, method=False) for f in (bernoulli, multinomial))
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
