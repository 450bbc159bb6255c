"""More rearrangements: repeating, padding, rotating, windows, splitting."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..basics import check, wrap_dim
from ..tensor import Tensor, wrap
from .indexing import cut, diag_embed, flip, spread_places
from .selection import index_select
from .shape import (
    VIEW,
    contiguous,
    expand,
    flatten,
    key_along,
    reshape,
    shown_otherwise,
    squeezed_in_place,
    t,
    transpose,
    unsqueeze,
    view,
)  # fmt: skip
from .signature import are_ints, as_dims, as_size, check_ints, is_int
from .table import Ints, Lengths, function, method, op

ndarray = np.ndarray

# ---------------------------------------------------------------- on arrays, and parts of rules


def checked_repeats(self: ndarray, repeats: tuple) -> tuple:
    message = "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
    check(len(repeats) >= self.ndim, message)
    message = "Trying to create tensor with negative dimension {}: {}"
    for n in repeats:
        check(n >= 0, message, n, repeats)
    return repeats


def repeat_self(grad, self_sym_sizes, repeats):
    """The sum over all the repetitions."""
    sizes = (1,) * (len(repeats) - len(self_sym_sizes)) + tuple(self_sym_sizes)
    parted = grad.reshape([n for pair in zip(repeats, sizes, strict=True) for n in pair])
    summed = parted.sum(tuple(range(0, 2 * len(sizes), 2))) if sizes else parted
    return summed.reshape(tuple(self_sym_sizes))


def _rolled(self: ndarray, shifts: tuple, dims: tuple) -> ndarray:
    if len(shifts) == 1 and not dims:
        return np.roll(self, shifts)
    check(shifts, "`shifts` required")
    message = "shifts and dimensions must align. shifts: {}, dims:{}"
    check(len(shifts) == len(dims or ()), message, len(shifts), len(dims or ()))
    check(self.ndim, "Dimension specified as 0 but tensor has no dimensions", error=IndexError)
    return np.roll(self, shifts, tuple([wrap_dim(d, self.ndim) for d in dims]))


def rolled(self: Tensor, shifts: tuple, dims: tuple) -> Tensor:
    """`roll` in terms of other operations, as vmap runs it."""
    if not dims:
        return rolled(self.reshape(-1), shifts, (0,)).reshape(tuple(self.shape))
    for shift, dim in zip(shifts, dims, strict=True):
        numbers = np.roll(np.arange(self.shape[dim]), shift)
        self = index_select(self, dim, wrap(numbers))
    return self


def repeated(self: Tensor, repeats: tuple) -> Tensor:
    """`repeat` in terms of other operations, as vmap runs it."""
    sizes = (1,) * (len(repeats) - self.dim()) + tuple(self.shape)
    pairs = [pair for n, m in zip(repeats, sizes, strict=True) for pair in ((n, m),)]
    alone = self.reshape([k for _, m in pairs for k in (1, m)]).expand([k for pair in pairs for k in pair])
    return alone.reshape([n * m for n, m in pairs])


def _pad(self: ndarray, pad: tuple, value: float) -> ndarray:
    check_ints(pad, "constant_pad_nd(): argument 'pad' (position 2)")
    message = "Length of pad must be even but instead it equals {}"
    check(len(pad) % 2 == 0, message, len(pad))
    message = "Length of pad should be no more than twice the number of dimensions of the input. Pad length is {} while the "
    check(len(pad) <= 2 * self.ndim, message + "input has {} dimensions.", len(pad), self.ndim)
    sides = [(0, 0)] * (self.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    shape = [n + a + b for n, (a, b) in zip(self.shape, sides, strict=True)]
    for d, n in enumerate(shape):
        message = "The input size {}, plus negative padding {} and {} resulted in a negative output size, which is invalid. "
        check(n >= 0, message + "Check dimension {} of your input.", self.shape[d], *sides[d], d)
    out = np.full(shape, dtypes.fitting(value, self.dtype), self.dtype)
    inner = [slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(self.shape, sides, strict=True)]
    out[tuple([slice(max(a, 0), m - max(b, 0)) for m, (a, b) in zip(shape, sides, strict=True)])] = self[
        tuple(inner)
    ]
    return out


def padded_places(sizes: tuple, pad: tuple, mode: str) -> ndarray:
    """For each element of the padded array, the position of its value in the flattened array."""
    places = np.arange(math.prod(sizes)).reshape(sizes)
    for d, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True), 1):
        n = sizes[-d]
        at = np.arange(-before, n + after)
        at = np.clip(at, 0, n - 1) if mode == "edge" else np.minimum(abs(at), 2 * (n - 1) - abs(at))
        places = places.take(at, -d)
    return places


def _pad_from_inside(mode: str, self: ndarray, padding: tuple) -> ndarray:
    for d, (before, after) in enumerate(zip(padding[::2], padding[1::2], strict=True), 1):
        text = "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({}, {}) at "
        fits = mode == "edge" or max(before, after) < self.shape[-d]
        check(fits, text + "dimension {} of input {}", before, after, self.ndim - d, self.shape)
    return self.take(padded_places(self.shape, padding, mode))


def padding_of(mode: str, name: str, dims: int) -> Callable:
    """Padding of the last 1, 2 or 3 dimensions with the tensor's own elements."""
    return op(f"{name}{dims}d(self, padding: object)", lambda self, padding: _pad_from_inside(mode, self, padding),
              kind="linear", at="", batch="rows", zero_slope=("self",), takes="fiu", kernel=f"{name}{dims}d",
              node=f"{name.title().replace('_', '')}{dims}DBackward0",
              self=lambda grad, self, padding:
                  spread_places(grad, tuple(self.shape), padded_places(tuple(self.shape), padding, mode)))  # fmt: skip


def _windows(self: ndarray, dimension: int, size: int, step: int) -> ndarray:
    n = self.shape[dimension] if self.ndim else 1
    message = "maximum size for tensor at dimension {} is {} but size is {}"
    check(0 <= size <= n, message, dimension, n, size)
    check(step > 0, "step is {} but must be > 0", step)
    whole = self if self.ndim else self.reshape(1)
    result = np.lib.stride_tricks.sliding_window_view(whole, size, dimension, writeable=self.flags.writeable)
    result = result[key_along(dimension, slice(None, None, step))]
    return result if self.ndim else result[0]


def windows_self(grad, self_sym_sizes, dimension, size, step):
    numbered = np.arange(math.prod(self_sym_sizes)).reshape(self_sym_sizes)
    return spread_places(
        grad, tuple(self_sym_sizes), np.ascontiguousarray(_windows(numbered, dimension, size, step))
    )


def _turned_round(self: ndarray, k: int, dims: tuple) -> ndarray:
    check(len(dims) == 2, "expected total rotation dims == 2, but got dims = {}", len(dims))
    check(self.ndim >= 2, "expected total dims >= 2, but got total dims = {}", self.ndim)
    a, b = (wrap_dim(d, self.ndim) for d in dims)
    check(a != b, "expected rotation dims to be different, but got dim0 = {} and dim1 = {}", *dims)
    return np.rot90(self, k, (a, b)).copy()


# fmt: off
# ---------------------------------------------------------------- declarations

repeat = op("repeat(self, *repeats: size)", lambda self, repeats: np.tile(self, checked_repeats(self, repeats)), kind="linear",
            at="Tensor", batch=repeated, self=repeat_self,
            doc="The tensor repeated `repeats` times along each dimension: a copy. Extra numbers add dimensions.")
constant_pad_nd = op("constant_pad_nd(self, pad: object, value: Scalar=0)", _pad, at="torch", batch="rows",
    jvp=lambda inputs, tangents, results, params: constant_pad_nd(tangents[0], params[0], 0),
    doc="Pad with `value`: `pad` is (before, after) for the last dimension, then for the one before it, ...",
    self=lambda grad, pad: constant_pad_nd(grad, tuple([-n for n in pad]), 0))
roll = op("roll(self, shifts: ints, dims: ints=None)", _rolled, kind="linear", batch=rolled,
          self=lambda grad, shifts, dims: roll(grad, tuple([-n for n in shifts]), dims),
          doc="Elements shifted along dimensions, or as one vector; those that fall off one end return at the other.")
rot90 = op("rot90(self, k: int=1, dims: ints=(0, 1))", _turned_round, kind="linear",
           batch=lambda self, k, dims: turned_round(self, k, dims), self=lambda grad, k, dims: rot90(grad, -k, dims),
           doc="Rotated by 90 degrees, `k` times, in the plane of two dimensions: a copy.")
squeeze_several = op("squeeze(self, dim: object)", lambda self, dim: self.reshape(
    [n for d, n in enumerate(self.shape) if n != 1 or d not in dim]), **VIEW, at="", node="SqueezeBackward2", batch=lambda self,
        dim: self.reshape([n for d, n in enumerate(self.shape) if n != 1 or d not in dim]),
                     self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes))
unfold = op("unfold(self, dimension: dim, size: int, step: int)", _windows, **VIEW, at="Tensor", self=windows_self,
            doc="Windows of `size` elements along a dimension, `step` apart, as a view with one more dimension.")
reflection = {n: padding_of("reflect", "reflection_pad", n) for n in (1, 2, 3)}
replication = {n: padding_of("edge", "replication_pad", n) for n in (1, 2, 3)}
unsqueezed = op("unsqueeze(self, dim: newdim)", unsqueeze.op.forward, kind="linear", at="", node="UnsqueezeBackward1",
                **unsqueeze.op.rules)
t_turned = op("t(self)", t.op.forward, kind="linear", at="", node="TBackward1", **t.op.rules)
squeezed_all = op("squeeze(self)", ndarray.squeeze, kind="linear", at="", node="SqueezeBackward3",
                  self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
# fmt: on


def turned_round(self: Tensor, k: int, dims: tuple) -> Tensor:
    """`rot90` in terms of other operations, as vmap runs it."""
    a, b = dims
    if k % 4 == 2:
        return flip(self, (a, b))
    return self if k % 4 == 0 else flip(transpose(self, a, b), (a,) if k % 4 == 1 else (b,))


# ---------------------------------------------------------------- repeated and stretched


@function("torch Tensor")
def tile(self: Tensor, *dims: int) -> Tensor:
    """`repeat`, but if there are fewer numbers than dimensions, the first dimensions are not repeated."""
    dims = as_size(dims)
    return repeat(self, (1,) * (self._array.ndim - len(dims)) + dims)


@function("Tensor")
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`expand` to the shape of `other`."""
    return expand(self, other._array.shape)


@function("Tensor")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`reshape` to the shape of `other`."""
    return reshape(self, other._array.shape)


@function("torch Tensor")
def repeat_interleave(self: Tensor, repeats: object, dim: int | None = None) -> Tensor:
    """Each element, or each slice along `dim`, repeated `repeats` times: one number for all, or a tensor with one for each."""
    if dim is None:
        self, dim = flatten(self), 0
    dim, n = wrap_dim(dim, self._array.ndim), self.size(dim)
    if isinstance(repeats, Tensor) and repeats.numel() != 1:
        check(repeats.numel() == n, "repeats must have the same size as input along dim, but got repeats.size(0) = {} and "
               "input.size({}) = {}", repeats.numel(), dim, n)  # fmt: skip
        return index_select(self, dim, wrap(np.repeat(np.arange(n), repeats._array)))
    check(isinstance(repeats, Tensor) or is_int(repeats), "repeat_interleave(): argument 'repeats' must be int or Tensor, not "
           "{}", type(repeats), error=TypeError)  # fmt: skip
    count = int(repeats)
    check(count >= 0, "Repeats must be non-negative")
    shape = tuple(self.shape)
    wide = expand(unsqueeze(self, dim + 1), (*shape[: dim + 1], count, *shape[dim + 1 :]))
    return flatten(wide.clone(), dim, dim + 1)


# ---------------------------------------------------------------- taken apart, turned


@function("torch Tensor")
def ravel(self: Tensor) -> Tensor:
    """The elements as a vector: a view where possible."""
    return view(contiguous(self), (-1,))


@function("torch Tensor")
def unflatten(self: Tensor, dim: int, sizes: Lengths) -> Tensor:
    """Dimension `dim` split into several, whose lengths are `sizes`; one may be -1. A view."""
    dim, shape, sizes = wrap_dim(dim, self._array.ndim), tuple(self.shape), as_size(sizes, False)
    check(len(sizes) > 0, "unflatten: sizes must be non-empty")
    known = -math.prod(sizes) if -1 in sizes else math.prod(sizes)
    fits = known == shape[dim] or (-1 in sizes and known and shape[dim] % known == 0)
    message = "unflatten: Provided sizes {} don't multiply up to the size of dim {} ({}) in the input tensor"
    check(fits, message, sizes, dim, shape[dim])
    free = shape[dim] // (known or 1)
    return view(self, (*shape[:dim], *[free if n == -1 else n for n in sizes], *shape[dim + 1 :]))


@function("torch Tensor")
def tensor_split(self: Tensor, indices_or_sections: int | tuple, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts along `dim`, as views: a given number, the first ones longer by one if necessary, or cut before each index."""
    check(
        self._array.ndim > 0,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
    )
    dim, given = wrap_dim(dim, self._array.ndim), indices_or_sections
    given = given.tolist() if isinstance(given, Tensor) and given.dim() < 2 else given
    message = "tensor_split(): argument 'indices_or_sections' must be int, tuple of ints or a tensor of them, not {}"
    check(are_ints(given), message, type(given), error=TypeError)
    n = self.size(dim)
    if isinstance(given, int):
        check(given > 0, "number of sections must be larger than 0, got {}", given)
        given = [i * (n // given) + min(i, n % given) for i in range(1, given)]
    return tuple([cut(self, dim, a, b, 1) for a, b in itertools.pairwise([0, *given, n])])


def _split_along(name: str, least: int, dim: int) -> None:
    def run(self: Tensor, indices_or_sections: int | tuple) -> tuple[Tensor, ...]:
        n, at = self._array.ndim, 0 if self._array.ndim == 1 and name == "hsplit" else dim
        text = "torch.{} requires a tensor with at least {} dimension, but got a tensor with {} dimensions!"
        check(n >= least, text, name, least, n)
        given = indices_or_sections
        if isinstance(given, int):
            text = "torch.{} attempted to split along dimension {}, but the size of the dimension {} is not divisible by the "
            check(
                given > 0 and self.size(at) % given == 0,
                text + "split_size {}!",
                name,
                at,
                self.size(at),
                given,
            )
        return tensor_split(self, given, at)

    run.__name__, run.__doc__ = name, f"`tensor_split` along dimension {dim}, into parts of equal length."
    function("torch Tensor")(run)


for _name, _least, _dim in (("hsplit", 1, 1), ("vsplit", 2, 0), ("dsplit", 3, 2)):
    _split_along(_name, _least, _dim)


@function("torch Tensor", name="squeeze")
def squeeze_dims(self: Tensor, dim: Ints) -> Tensor:
    """A view without those dimensions `dim` that have length 1.

    Recorded as SqueezeBackward2.
    """
    return squeeze_several(self, as_dims(dim, self._array.ndim) if dim != () else ())


@function("torch Tensor")
def fliplr(self: Tensor) -> Tensor:
    """The columns in reverse order: a copy."""
    check(self._array.ndim >= 2, "Input must be >= 2-d.")
    return flip(self, (1,))


@function("torch Tensor")
def flipud(self: Tensor) -> Tensor:
    """The rows in reverse order: a copy."""
    check(self._array.ndim >= 1, "Input must be >= 1-d.")
    return flip(self, (0,))


@function("torch Tensor")
def adjoint(self: Tensor) -> Tensor:
    """The last two dimensions exchanged: for real numbers, the conjugate transpose."""
    check(
        self._array.ndim != 1,
        "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.",
    )
    return transpose(self, -2, -1) if self._array.ndim else self


method("mH")(property(adjoint, doc="The last two dimensions exchanged."))
method("H")(property(lambda self: transpose(self, 0, 1), doc="A matrix transposed."))


@function("torch Tensor")
def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all the elements, flattened, on a diagonal."""
    return diag_embed(view(contiguous(self), (-1,)), offset, -2, -1)


@function("torch Tensor", name="diag_embed")
def diag_embedded(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last dimension of `input` on a diagonal; the matrices span `dim1` and `dim2` of the result."""
    n = self._array.ndim + 1
    return diag_embed(self, offset, wrap_dim(dim1, n) - n, wrap_dim(dim2, n) - n)


# ---------------------------------------------------------------- in place, without moving an element


@function("Tensor")
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """`unsqueeze` in place. Returns self."""
    return shown_otherwise(self, unsqueezed(self, dim))


@function("Tensor")
def squeeze_(self: Tensor) -> Tensor:
    """`squeeze` in place. Returns self."""
    return shown_otherwise(self, squeezed_all(self))


@function("Tensor", name="squeeze_")
def squeeze_dims_(self: Tensor, dim: Ints) -> Tensor:
    """`squeeze` of these dimensions in place. Returns self."""
    return shown_otherwise(self, squeezed_in_place(self, dim))


@function("Tensor")
def t_(self: Tensor) -> Tensor:
    """`t` in place. Returns self."""
    return shown_otherwise(self, t_turned(self))
