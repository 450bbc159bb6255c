"""New shapes for the same elements: views of a tensor, several tensors joined into one, one split into several."""

from __future__ import annotations

import itertools
import math
import operator
import re
import warnings
from collections.abc import Iterable, Iterator

import numpy as np

from ..autograd.views import rebase
from ..basics import check, wrap_dim
from ..dtypes import promote, word
from ..tensor import Tensor
from .inplace import bump_version, check_writable
from .operands import sum_to, unlike_sizes
from .pointwise import clone, no_slope
from .signature import as_shape, as_size, is_int
from .table import Ints, function, is_array, method, op, zeros_beside

ndarray = np.ndarray
LINEAR, VIEW = {"kind": "linear"}, {"kind": "linear", "view": True}
RESHAPED = {"self": lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes)}
NO_VIEW = "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
NO_VIEW += "contiguous subspaces). Use .reshape(...) instead."
TOO_FEW = "expand({0.tensor_type}{{{1}}}, size={2}): the number of sizes provided ({3}) must be greater or equal to the "
TOO_FEW += "number of dimensions in the tensor ({4})"
NO_STRETCH = "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton "
NO_STRETCH += "dimension {}.  Target sizes: {}.  Tensor sizes: {}"
UNLIKE_DIMS = "movedim: Invalid source or destination dims: source ({} dims) should contain the same "
UNLIKE_DIMS += "number of dims as destination ({} dims)"
NOT_ALL = "split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at dimension {}), but got "
NEGATIVE_PART = "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={}"
NO_PARTS = "split_size can only be 0 if dimension size is 0, but got dimension size of {}"
NO_MATRIX = "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw "
NO_MATRIX += "an error in a future release. Consider `x.mT` to transpose batches of matrices or "
NO_MATRIX += "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."

# ---------------------------------------------------------------- on arrays, and parts of rules


def key_along(dim: int, entry: object) -> tuple:
    """A key that applies `entry` to one dimension."""
    return (slice(None),) * dim + (entry,)


def shares(array: ndarray, shape: tuple) -> bool:
    """Whether an array can be viewed in this shape without copying."""
    return array.flags.c_contiguous or not array.size or np.may_share_memory(array.reshape(shape), array)


def _reinterpreted(self: ndarray, dtype: np.dtype) -> ndarray:
    own, ratio = self.itemsize, dtype.itemsize // self.itemsize
    asked = f" to view {word(self.dtype)} as {word(dtype)} (different element sizes)"
    if dtype.itemsize != own:
        check(self.ndim, "self.dim() cannot be 0" + asked)
        stride = self.strides[-1] // own
        check(stride == 1, "self.stride(-1) must be 1{}, but got {}", asked, stride)
    for i, n in enumerate((*self.strides[:-1], self.shape[-1] * own) if ratio > 1 else ()):
        what, n = ("size(-1)", n) if i == self.ndim - 1 else (f"stride({i})", n)
        message = "self.{} must be divisible by {}{}, but got {}"
        check(n // own % ratio == 0, message, what, ratio, asked, n // own)
    return self.view(dtype)


def _viewed(self: ndarray, size: tuple) -> ndarray:
    check(shares(self, size), NO_VIEW)
    return self.reshape(size)


def _transposed(self: ndarray) -> ndarray:
    check(self.ndim <= 2, "t() expects a tensor with <= 2 dimensions, but self is {}D", self.ndim)
    return self.T


def undone(dims: tuple) -> tuple:
    """The permutation that undoes `dims`."""
    return tuple(sorted(range(len(dims)), key=dims.__getitem__))


def expanded(self: ndarray, size: tuple) -> ndarray:
    """The result of `expand`, as an array that can be written to."""
    if size == self.shape:
        return self.view()
    if not self.ndim and min(size) >= 0:
        return ndarray(size, self.dtype, self, 0, (0,) * len(size))
    lead, strides = len(size) - self.ndim, [0] * (len(size) - self.ndim) + list(self.strides)
    check(lead >= 0, TOO_FEW, self.dtype, self.shape, size, len(size), self.ndim)
    own = (1,) * lead + self.shape
    full = [own[i] if n == -1 and i >= lead else n for i, n in enumerate(size)]
    for i in reversed(range(len(size))):
        check(own[i] in (1, full[i]), NO_STRETCH, size[i], own[i], i, size, self.shape)
        strides[i] *= own[i] == full[i]
    if self.flags.c_contiguous and self.size:  # several times faster than NumPy's own function
        return ndarray(full, self.dtype, self, 0, strides)
    return np.lib.stride_tricks.as_strided(self, full, strides)


def common_shape(*shapes: tuple) -> tuple:
    """The shape that these broadcast to. Raises PyTorch's RuntimeError if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise unlike_sizes([np.broadcast_to(0, shape) for shape in shapes]) from None


def _joined(tensors: list[ndarray], dim: int) -> ndarray:
    check(len(tensors) > 0, "torch.cat(): expected a non-empty list of Tensors", error=ValueError)
    common = promote([(a.dtype, 2) for a in tensors])
    message = "zero-dimensional tensor (at position {}) cannot be concatenated"
    for place, array in enumerate(tensors):
        check(array.ndim > 0, message, place)
    # a vector without elements may be joined with tensors of any shape
    if any(a.shape == (0,) for a in tensors):
        tensors = [a for a in tensors if a.shape != (0,)] or tensors[:1]
    try:
        result = np.ascontiguousarray(np.concatenate(tensors, dim))
    except ValueError as error:  # NumPy names the first array that does not match the first one
        *_, first, place, other = re.findall(r"\d+", str(error))
        if "same number of dimensions" in str(error):
            message = f"Tensors must have same number of dimensions: got {first} and {other}"
            raise RuntimeError(message) from None
        message = f"Expected size {first} but got size {other} for tensor number {place} in the list."
        raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}. {message}") from None
    return result if result.dtype == common else result.astype(common)


def _stacked(tensors: list[ndarray], dim: int) -> ndarray:
    check(len(tensors) > 0, "stack expects a non-empty TensorList")
    message = "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}"
    size = tensors[0].shape
    for place, other in enumerate(tensors):
        check(other.shape == size, message, size, other.shape, place)
    return _joined([a[key_along(dim, None)] for a in tensors], dim)


def _unbound(self: ndarray, dim: int) -> list[ndarray]:
    check(self.ndim > 0, "Dimension specified as {} but tensor has no dimensions", dim, error=IndexError)
    return [self[(*key_along(dim, i), ...)] for i in range(self.shape[dim])]


def parts_of(grad: ndarray | Tensor, shapes: list[tuple], dim: int) -> list:
    """Split the gradient of joined tensors into those of the tensors, given their shapes; a vector may be empty."""
    result = cuts(grad, [0 if tuple(s) == (0,) else s[dim] for s in shapes], dim)
    return [g.reshape((0,)) if tuple(s) == (0,) else g for g, s in zip(result, shapes, strict=True)]


def cuts(x: ndarray | Tensor, lengths: Iterable[int], dim: int) -> list:
    """Consecutive parts of these lengths."""
    ends = itertools.accumulate(lengths, initial=0)
    return [x[key_along(dim, slice(start, end))] for start, end in itertools.pairwise(ends)]


def given(grads: list | ndarray | Tensor) -> list:
    """The gradients of several results of one shape, zeros for those that have none."""
    grads = grads if type(grads) is list else [grads]
    none = no_slope(next(g for g in grads if g is not None))
    return [none if g is None else g for g in grads]


def widths(length: int, size: int | tuple, dim: int) -> list[int]:
    """The lengths of consecutive parts: those given, or `size` each, the last one perhaps shorter."""
    if isinstance(size, int):
        check(size >= 0, "split expects split_size be non-negative, but got split_size={}", size)
        check(size or not length, NO_PARTS, length)
        return [min(size, length - start) for start in range(0, length, size)] if length else [0]
    result = list(size)
    check(min(result, default=0) >= 0, NEGATIVE_PART, result)
    check(sum(result) == length, NOT_ALL + "split_sizes={}", length, dim, result)
    return result


def _split(self: ndarray, size: int | tuple, dim: int) -> list[ndarray]:
    check(self.ndim > 0, "split expects at least a 1-dimensional tensor")
    return cuts(self, widths(self.shape[dim], size, dim), dim)


def rejoined(grads: list | ndarray | Tensor, sizes: tuple, size: int | tuple, dim: int) -> ndarray | Tensor:
    """The gradients of consecutive parts put together, zeros for those that have none."""
    grads, lengths = grads if type(grads) is list else [grads], widths(sizes[dim], size, dim)
    like = next(g for g in grads if g is not None)
    if not is_array(like):
        shapes = [(*sizes[:dim], n, *sizes[dim + 1 :]) for n in lengths]
        parts = zip(grads, shapes, strict=True)
        return cat([zeros_beside(like, shape) if g is None else g for g, shape in parts], dim)
    out = np.zeros(sizes, like.dtype)
    for g, end, n in zip(grads, itertools.accumulate(lengths), lengths, strict=True):
        if g is not None:
            out[key_along(dim, slice(end - n, end))] = g
    return out


# fmt: off
# ---------------------------------------------------------------- view, reshape

view_as_dtype = op("view(self, dtype: dtype)", _reinterpreted, view=True, at="Tensor", batch="rows",
                   doc="The same memory read as numbers of another dtype. RuntimeError if the last dimension does not fit.")
view = op("view(self, *size: shape)", _viewed, **VIEW, **RESHAPED, at="Tensor",
          doc="The same memory in another shape; one length may be -1. Raises RuntimeError if that needs a copy.")
reshape_alias = op("reshape_alias(self, size: shape)", ndarray.reshape, **VIEW, **RESHAPED, at="")
unsafe_view = op("unsafe_view(self, size: shape)", ndarray.reshape, **LINEAR, **RESHAPED, at="")

# ---------------------------------------------------------------- dimensions of length 1, order of dimensions

unsqueeze = op("unsqueeze(self, dim: newdim)", lambda self, dim: self.reshape(*self.shape[:dim], 1, *self.shape[dim:]), **VIEW,
               doc="A view with a new dimension of length 1 at `dim`.", self=lambda grad, dim: grad.squeeze(dim))
squeeze_all = op("squeeze(self)", ndarray.squeeze, **VIEW, **RESHAPED, doc="A view without the dimensions of length 1.",
                 batch=lambda self: self.reshape([n for n in self.shape if n != 1]))
squeeze = op("squeeze(self, dim: dim)", lambda self, dim: self.squeeze(dim) if self.shape[dim:][:1] == (1,) else self.view(),
             **VIEW, node="SqueezeBackward1", doc="A view without dimension `dim`, if that has length 1.",
             self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes))
squeezed_in_place = op("squeeze(self, dim: dim)", squeeze.op.forward, **LINEAR, **RESHAPED, at="",
                       node="SqueezeBackward4")  # as matmul does it
t = op("t(self)", _transposed, **VIEW, batch=lambda self: self.transpose(0, -1),
       doc="A matrix transposed; a vector is returned unchanged.", self=lambda grad: t(grad))
transpose = op("transpose(self, dim0: dim, dim1: dim)",
               lambda self, dim0, dim1: self.swapaxes(dim0, dim1) if self.ndim else self.view(), **VIEW,
               aliases="swapaxes swapdims", doc="Two dimensions exchanged: a view.",
               self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1))
turned = op("turned(self, dim0: dim, dim1: dim)", transpose.op.forward, **LINEAR, at="", node="TransposeBackward1",
            **transpose.op.rules)
permute = op("permute(self, *dims: order)", ndarray.transpose, **VIEW,
             doc="The dimensions in another order: a view.", self=lambda grad, dims: permute(grad, undone(dims)))

# ---------------------------------------------------------------- stretched

expand = op("expand(self, *size: size)", expanded, **VIEW, at="Tensor", batch="expand",
            doc="The tensor stretched along dimensions of length 1, without copying; -1 keeps a length.",
            self=lambda grad, self_sym_sizes: sum_to_size(grad, self_sym_sizes))

# ---------------------------------------------------------------- joined

cat = op("cat(tensors: tensors, dim: dim=0)", _joined, **LINEAR, at="torch", aliases="concat concatenate",
         doc="Tensors one after the other along an existing dimension. Their other lengths must agree.",
         tensors=lambda grad, _tensors_sym_sizes, dim: parts_of(grad, _tensors_sym_sizes, dim))
stack = op("stack(tensors: tensors, dim: newdim=0)", _stacked, **LINEAR, at="torch",
           doc="Tensors of one shape along a new dimension.", tensors=lambda grad, dim: list(unbind(grad, dim)))

# ---------------------------------------------------------------- taken apart: several views that share one node

unbind = op("unbind(self, dim: dim=0)", _unbound,
            **VIEW, outputs=(), doc="The slices along one dimension: views, which cannot be written to in place.",
            self=lambda grad, dim: stack(given(grad), dim))
split_equally = op("split(self, split_size: int, dim: dim)", _split, **VIEW, outputs=(), at="",
                   self=lambda grad, self_sym_sizes, split_size, dim: rejoined(grad, self_sym_sizes, split_size, dim))
split_with_sizes = op("split_with_sizes(self, split_sizes: parts, dim: dim=0)", _split, **VIEW, outputs=(),
                      doc="Consecutive parts of the given sizes along `dim`: views.",
                      self=lambda grad, self_sym_sizes, split_sizes, dim: rejoined(grad, self_sym_sizes, split_sizes, dim))
# fmt: on

# ---------------------------------------------------------------- composed of other operations


@function(at="torch Tensor")
def reshape(self: Tensor, *shape: int) -> Tensor:
    """The elements in another shape: a view where possible, else a copy; one length may be -1."""
    array = self._array
    if array.flags.c_contiguous:
        return view(self, as_size(shape))
    shape = as_shape(shape, array.size)
    return reshape_alias(self, shape) if shares(array, shape) else unsafe_view(clone(self), shape)


@method("contiguous")
def contiguous(self: Tensor) -> Tensor:
    """The tensor itself if its elements lie in memory in row-major order, else a copy that does."""
    return self if self._array.flags.c_contiguous else clone(self)


@function(at="torch Tensor")
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions `start_dim` to `end_dim` merged into one. A 0-d tensor gets one dimension."""
    shape = self._array.shape
    start, end = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    check(start <= end, "flatten() has invalid args: start_dim cannot come after end_dim")
    if shape and start == end:
        return self
    return reshape(self, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


@function(at="torch Tensor", aliases="moveaxis")
def movedim(self: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Dimensions `source` moved to the places `destination`, the others kept in order: a view."""
    n, alone = self._array.ndim, {isinstance(d, (tuple, list)) for d in (source, destination)}
    message = "movedim(): `source` and `destination` must both be ints, or both be tuples of ints"
    check(len(alone) == 1, message, error=TypeError)
    dims = [as_size(d) for d in (source, destination)]
    moved, places = result = [[wrap_dim(d, n) for d in each] for each in dims]
    for name, given, at in zip(("source", "destination"), dims, result, strict=True):
        check(len({*at}) == len(at), "movedim: repeated dim in `{}` ({})", name, [*given])
    check(len(moved) == len(places), UNLIKE_DIMS, *map(list, dims))
    at, rest = dict(zip(places, moved, strict=True)), iter([d for d in range(n) if d not in moved])
    return permute(self, [at[i] if i in at else next(rest) for i in range(n)])


@function("Tensor")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """`transpose` in place: no element is moved; this tensor views its memory differently. Returns self."""
    return shown_otherwise(self, turned(self, dim0, dim1))


def shown_otherwise(self: Tensor, new: Tensor) -> Tensor:
    """Give a tensor the shape, strides and history of `new`, a view of the same memory. Returns self."""
    if new._requires_grad:
        check_writable(self)
    self._array, self.__dict__ = new._array, {**self.__dict__, **new.__dict__}  # and any transform's value
    bump_version(self)
    if new._grad_fn is not None:
        rebase(self, new._grad_fn)
        self._own_meta().seen_version = self._counter.version
    return self


@method("T")
@property
def T(self: Tensor) -> Tensor:
    """All dimensions reversed. Meant for matrices; warns for other numbers of dimensions, as in PyTorch."""
    if self._array.ndim != 2:
        warnings.warn(NO_MATRIX, stacklevel=2)
    return permute(self, tuple(range(self._array.ndim))[::-1])


@method("mT")
@property
def mT(self: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    message = "tensor.mT is only supported on matrices or batches of matrices. Got {}-D tensor."
    check(self._array.ndim > 1, message, self._array.ndim)
    return transpose(self, -2, -1)


@function("Tensor")
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`view` in the shape of `other`."""
    return view(self, other._array.shape)


@function("Tensor")
def sum_to_size(self: Tensor | ndarray, *size: int) -> Tensor | ndarray:
    """The sum over all dimensions that broadcasting `size` to this shape would add or stretch."""
    size, shape = as_size(size), self.shape
    if is_array(self):
        return sum_to(self, size)
    lead = len(shape) - len(size)
    fits = lead >= 0 and all(n in (1, m) for n, m in zip(size, shape[lead:], strict=True))
    check(fits, "size {{{}}} is not expandable to size {{{}}}.", size, tuple(shape))
    dims = [i for i, n in enumerate(shape) if i < lead or size[i - lead] != n]
    total = self.sum() if not size else self.sum(dims, keepdim=True) if dims else self
    return view(total, size) if lead and size else total


@function(at="torch Tensor")
def split(self: Tensor, split_size_or_sections: int | tuple, dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive parts along `dim`: of one size (the last may be shorter), or of the sizes given. Views."""
    check(self._array.ndim > 0, "split expects at least a 1-dimensional tensor")
    size = split_size_or_sections
    if is_int(size):
        return split_equally(self, operator.index(size), dim)
    return split_with_sizes(self, size, dim)


@function(at="torch Tensor")
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` consecutive parts of equal length, the last one perhaps shorter. Views."""
    check(self._array.ndim > 0, "chunk expects at least a 1-dimensional tensor")
    check(chunks > 0, "chunk expects `chunks` to be greater than 0, got: {}", chunks)
    size, chunks = self.size(dim), operator.index(chunks)
    return split(self, -(-size // chunks) if size else (0,) * chunks, dim)


@method("__iter__")
def iterate(self: Tensor) -> Iterator[Tensor]:
    """The slices along the first dimension, by one `unbind`."""
    check(self._array.ndim > 0, "iteration over a 0-d tensor", error=TypeError)
    return iter(unbind(self))
