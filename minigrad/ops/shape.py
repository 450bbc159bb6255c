"""Other shapes for the same elements: views of one tensor, several tensors joined to one, one taken apart."""

from __future__ import annotations

import itertools
import math
import operator
import re
import warnings
from collections.abc import Iterable, Iterator

import numpy as np

from ..basics import wrap_dim
from ..dtypes import of_numpy, promote
from ..tensor import Tensor
from .errors import unlike_sizes
from .pointwise import clone
from .publish import function, method
from .run import as_shape, as_size, sum_to
from .table import is_array, op, zeros_beside

ndarray = np.ndarray
VIEW = {"kind": "linear", "view": True}


def key_along(dim: int, entry: object) -> tuple:
    """A key that applies `entry` to one dimension."""
    return (slice(None),) * dim + (entry,)


def along(dim: int, length: int, shape: tuple) -> tuple:
    """A shape with another length of one dimension."""
    return (*shape[:dim], length, *shape[dim + 1 :])


# ---------------------------------------------------------------- view, reshape


def shares(array: ndarray, shape: tuple) -> bool:
    """Can an array be seen in this shape without copying?"""
    return array.flags.c_contiguous or not array.size or np.may_share_memory(array.reshape(shape), array)


def _viewed(self: ndarray, size: tuple) -> ndarray:
    if not shares(self, size):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return self.reshape(size)


# fmt: off
view = op("view(self, *size: shape)", _viewed, **VIEW, at="Tensor",
          doc="The same memory in another shape; one length may be -1. Raises RuntimeError if that needs a copy.",
          self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
reshape_alias = op("reshape_alias(self, size: shape)", ndarray.reshape, **VIEW, at="",
                   self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
unsafe_view = op("unsafe_view(self, size: shape)", ndarray.reshape, kind="linear", at="",
                 self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
# fmt: on


@function(at="torch Tensor")
def reshape(self: Tensor, *size: int, shape: tuple | None = None) -> Tensor:
    """The elements in another shape: a view where possible, else a copy; one length may be -1."""
    array, size = self._array, size if shape is None else shape
    if array.flags.c_contiguous:
        return view(self, *size)
    shape = as_shape(size, array.size)
    return reshape_alias(self, shape) if shares(array, shape) else unsafe_view(clone(self), shape)


@method("contiguous")
def contiguous(self: Tensor) -> Tensor:
    """The tensor itself if its elements lie in memory in row-major order, else a copy of which that is true."""
    return self if self._array.flags.c_contiguous else clone(self)


@function(at="torch Tensor")
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions `start_dim` to `end_dim` made one. A 0-d tensor gets one dimension."""
    shape = self._array.shape
    start, end = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if shape and start == end:
        return self
    return reshape(self, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


# ---------------------------------------------------------------- dimensions of length 1, order of dimensions


def _squeezed(self: ndarray, dim: tuple) -> ndarray:
    return self.squeeze(tuple([d for d in dim if self.shape[d] == 1])) if self.ndim else self.view()


def _transposed(self: ndarray) -> ndarray:
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


def undone(dims: tuple) -> tuple:
    """The permutation that undoes `dims`."""
    return tuple(sorted(range(len(dims)), key=dims.__getitem__))


# fmt: off
unsqueeze = op("unsqueeze(self, dim: newdim)", lambda self, dim: self[key_along(dim, None)], **VIEW,
               doc="A view with a new dimension of length 1 at `dim`.", self=lambda grad, dim: grad.squeeze(dim))
squeeze_all = op("squeeze(self)", ndarray.squeeze, **VIEW, doc="A view without the dimensions of length 1.",
                 batch=lambda self: self.reshape([n for n in self.shape if n != 1]),
                 self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))
squeeze = op("squeeze(self, dim: dim)", lambda self, dim: _squeezed(self, (dim,)), **VIEW, node="SqueezeBackward1",
             doc="A view without dimension `dim`, if that has length 1.",
             self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes))
squeeze_dims = op("squeeze(self, *dim: dims)", _squeezed, **VIEW, node="SqueezeBackward2",
                  doc="A view without those of the dimensions `dim` that have length 1.",
                  self=lambda grad, self_sym_sizes, dim: grad.reshape(self_sym_sizes))
squeezed_in_place = op("squeeze(self, dim: dim)", squeeze.op.forward, kind="linear", at="", node="SqueezeBackward4",
                       self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes))  # as matmul does it
t = op("t(self)", _transposed, **VIEW, batch=lambda self: self.transpose(0, -1),
       doc="A matrix transposed; a vector as it is.", self=lambda grad: t(grad))
transpose = op("transpose(self, dim0: dim, dim1: dim)",
               lambda self, dim0, dim1: self.swapaxes(dim0, dim1) if self.ndim else self.view(), **VIEW,
               aliases="swapaxes swapdims", doc="Two dimensions exchanged: a view.",
               self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1))
permute = op("permute(self, *dims: dims)", ndarray.transpose, **VIEW, batch="order",
             doc="The dimensions in another order: a view.", self=lambda grad, dims: permute(grad, undone(dims)))
# fmt: on


@function(at="torch Tensor", aliases="moveaxis")
def movedim(self: Tensor, source: int | tuple, destination: int | tuple) -> Tensor:
    """Dimensions `source` moved to the places `destination`, the others kept in order: a view."""
    n = self._array.ndim
    given = ((d,) if isinstance(d, int) else d for d in (source, destination))
    places = [[wrap_dim(d, n) for d in dims] for dims in given]
    return permute(self, np.moveaxis(np.empty(range(n)), *places).shape)  # the shape counts the dimensions


@method("T")
@property
def T(self: Tensor) -> Tensor:
    """All dimensions reversed. Meant for matrices; PyTorch warns for other numbers of dimensions, and so does this."""
    if self._array.ndim != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an "
            "error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            stacklevel=2,
        )
    return permute(self, tuple(range(self._array.ndim))[::-1])


method("mT")(property(lambda self: transpose(self, -2, -1), doc="The last two dimensions exchanged."))


# ---------------------------------------------------------------- stretched


def expanded(self: ndarray, size: tuple) -> ndarray:
    """What `expand` shows, as an array that can be written to."""
    if size == self.shape:
        return self.view()
    lead, shape = len(size) - self.ndim, list(self.shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({of_numpy(self.dtype).tensor_type}{{{shape}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor ({self.ndim})"
        )
    own, strides = [1] * lead + shape, [0] * lead + list(self.strides)
    full = [own[i] if size[i] == -1 and i >= lead else size[i] for i in range(len(size))]
    for i in reversed(range(len(size))):
        if own[i] not in (1, full[i]):
            raise RuntimeError(
                f"The expanded size of the tensor ({size[i]}) must match the existing size ({own[i]}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {shape}"
            )
        strides[i] *= own[i] == full[i]
    if self.flags.c_contiguous and self.size:  # several times faster than NumPy's own function
        return ndarray(full, self.dtype, self, 0, strides)
    return np.lib.stride_tricks.as_strided(self, full, strides)


# fmt: off
expand = op("expand(self, *size: size)", expanded, **VIEW, at="Tensor", batch="expand",
            doc="The tensor stretched along dimensions of length 1, without copying; -1 keeps a length.",
            self=lambda grad, self_sym_sizes: sum_to_size(grad, self_sym_sizes))
# fmt: on
for _run in (view, reshape, expand):

    def _like(self: Tensor, other: Tensor, run=_run) -> Tensor:
        return run(self, other._array.shape)

    _like.__name__, _like.__doc__ = f"{_run.__name__}_as", f"`{_run.__name__}` to the shape of `other`."
    function("Tensor")(_like)


def common_shape(*shapes: tuple) -> tuple:
    """The shape that these broadcast to. Raises PyTorch's RuntimeError if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise unlike_sizes([np.broadcast_to(0, shape) for shape in shapes]) from None


@method("sum_to_size")
def sum_to_size(self: Tensor | ndarray, *size: int) -> Tensor | ndarray:
    """Summed over what broadcasting `size` to this shape would have added or stretched."""
    size, shape = as_size(size), self.shape
    if is_array(self):
        return sum_to(self, size)
    lead = len(shape) - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, shape[lead:], strict=True)):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    dims = [i for i, n in enumerate(shape) if i < lead or size[i - lead] != n]
    total = self.sum() if not size else self.sum(dims, keepdim=True) if dims else self
    return view(total, size) if lead and size else total


# ---------------------------------------------------------------- joined


def _joined(tensors: list[ndarray], dim: int) -> ndarray:
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    try:
        result = np.ascontiguousarray(np.concatenate(tensors, dim))
    except ValueError as error:  # NumPy tells of the first array that is unlike the first of all
        *_, first, place, other = re.findall(r"\d+", str(error))
        if "same number of dimensions" in str(error):
            told = f"Tensors must have same number of dimensions: got {first} and {other}"
            raise RuntimeError(told) from None
        told = f"Expected size {first} but got size {other} for tensor number {place} in the list."
        raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}. {told}") from None
    wanted = promote([(a.dtype, 2) for a in tensors])
    return result if result.dtype == wanted else result.astype(wanted)


def _stacked(tensors: list[ndarray], dim: int) -> ndarray:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    shapes = [list(a.shape) for a in tensors]
    for place, shape in enumerate(shapes):
        if shape != shapes[0]:
            told = f"but got {shapes[0]} at entry 0 and {shape} at entry {place}"
            raise RuntimeError(f"stack expects each tensor to be equal size, {told}")
    return _joined([a[key_along(dim, None)] for a in tensors], dim)


def cuts(x: ndarray | Tensor, lengths: Iterable[int], dim: int) -> list:
    """Consecutive parts of these lengths."""
    ends = itertools.accumulate(lengths, initial=0)
    return [x[key_along(dim, slice(start, end))] for start, end in itertools.pairwise(ends)]


# fmt: off
cat = op("cat(tensors: tensors, dim: dim=0)", _joined, kind="linear", at="torch", aliases="concat concatenate",
         doc="Tensors one after the other along an existing dimension. Their other lengths must agree.",
         tensors=lambda grad, _tensors_sym_sizes, dim: cuts(grad, [s[dim] for s in _tensors_sym_sizes], dim))
stack = op("stack(tensors: tensors, dim: newdim=0)", _stacked, kind="linear", at="torch",
           doc="Tensors of one shape along a new dimension.", tensors=lambda grad, dim: list(unbind(grad, dim)))
# fmt: on


# ---------------------------------------------------------------- taken apart: several views that share one node


def given(grads: list | ndarray | Tensor, shapes: list | None = None) -> list:
    """The gradients of several results, zeros (of these shapes, or of the shape of the others) for those that have none."""
    grads = grads if type(grads) is list else [grads]
    like = next(g for g in grads if g is not None)
    shapes = shapes or [like.shape] * len(grads)
    return [zeros_beside(like, s) if g is None else g for g, s in zip(grads, shapes, strict=True)]


def widths(length: int, size: int | tuple, dim: int) -> list[int]:
    """The lengths of consecutive parts: those given, or `size` each, the last one perhaps shorter."""
    if isinstance(size, int):
        found = [min(size, length - start) for start in range(0, length, size)] if length else [0]
    else:
        found = list(size)
    if sum(found) != length or min(found) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={found}"
        )
    return found


def rejoined(grads: list | ndarray | Tensor, sizes: tuple, size: int | tuple, dim: int) -> ndarray | Tensor:
    """The gradients of consecutive parts put together."""
    shapes = [along(dim, n, sizes) for n in widths(sizes[dim], size, dim)]
    return cat(given(grads, shapes), dim)


def _parts(self: ndarray, size: int | tuple, dim: int) -> list[ndarray]:
    return cuts(self, widths(self.shape[dim], size, dim), dim)


# fmt: off
unbind = op("unbind(self, dim: dim=0)", lambda self, dim: [self[(*key_along(dim, i), ...)] for i in range(self.shape[dim])],
            **VIEW, outputs=(), doc="The slices along one dimension: views, which cannot be written to in place.",
            self=lambda grad, dim: stack(given(grad), dim))
split_equally = op("split(self, split_size: int, dim: dim)", _parts, **VIEW, outputs=(), at="",
                   self=lambda grad, self_sym_sizes, split_size, dim: rejoined(grad, self_sym_sizes, split_size, dim))
split_with_sizes = op("split_with_sizes(self, split_sizes: object, dim: dim=0)", _parts, **VIEW, outputs=(),
                      doc="Consecutive parts of the given sizes along `dim`: views.",
                      self=lambda grad, self_sym_sizes, split_sizes, dim: rejoined(grad, self_sym_sizes, split_sizes, dim))
# fmt: on


@function(at="torch Tensor")
def split(self: Tensor, split_size_or_sections: int | tuple, dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive parts along `dim`: of one size (the last may be shorter), or of the sizes given. Views."""
    if not self._array.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    size = split_size_or_sections
    if isinstance(size, (tuple, list)):
        return split_with_sizes(self, tuple(size), dim)
    return split_equally(self, operator.index(size), dim)


@function(at="torch Tensor")
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` consecutive parts of equal length, the last one perhaps shorter. Views."""
    size, chunks = self.size(dim), operator.index(chunks)
    return split(self, -(-size // chunks) if size else (0,) * chunks, dim)


@method("__iter__")
def iterate(self: Tensor) -> Iterator[Tensor]:
    """The slices along the first dimension, by one `unbind`."""
    if not self._array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self))
