"""Operations that rearrange elements without computing: views where NumPy can make one, as in PyTorch."""

from __future__ import annotations

import math

import numpy as np

from .. import dtypes
from ..tensor import InferenceTensor, Tensor, check_dim, wrap
from .table import define, function, method, sum_to

ndarray = np.ndarray


def wanted_shape(given: tuple) -> tuple:
    """A shape given as numbers, `x.view(2, 3)`, or as one sequence, `x.view((2, 3))`."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else tuple(given)


def fill_in(shape: tuple, numel: int) -> tuple:
    """`shape` with its -1 replaced. Raises RuntimeError, as PyTorch does, if it does not fit `numel` elements."""
    shape = tuple(int(n) for n in shape)
    unknown = [i for i, n in enumerate(shape) if n == -1]
    known = math.prod(n for n in shape if n != -1)
    if len(unknown) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if any(n < -1 for n in shape):
        raise RuntimeError(f"invalid shape dimension {next(n for n in shape if n < -1)}")
    if unknown and known and numel % known == 0:
        return shape[: unknown[0]] + (numel // known,) + shape[unknown[0] + 1 :]
    if unknown and not known and numel == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size -1 can "
            "be any value and is ambiguous"
        )
    if unknown or known != numel:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return shape


_view = define(
    "view", lambda self, shape: self.reshape(shape), kind="linear", view=True,
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
_unsafe_view = define(
    "unsafe_view", lambda self, shape: self.reshape(shape), kind="linear",
    self=lambda grad, self_sym_sizes: grad.reshape(self_sym_sizes),
)  # fmt: skip
clone = define("clone", lambda x: x.copy(), kind="linear", self=lambda grad: grad)


def _shares(array: ndarray, shape: tuple) -> bool:
    """Can `array` be seen in this shape without copying?"""
    if array.flags.c_contiguous or array.size == 0:
        return True
    return np.shares_memory(array.reshape(shape), array)


@method()
def view(self: Tensor, *shape) -> Tensor:
    """The same memory in another shape; one length may be -1. Raises RuntimeError if that needs a copy."""
    if len(shape) == 1 and isinstance(shape[0], dtypes.dtype):
        return wrap(self._array.view(shape[0].numpy))
    shape = fill_in(wanted_shape(shape), self._array.size)
    if not _shares(self._array, shape):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return _view(self, shape)


@method()
def reshape(input: Tensor, *shape) -> Tensor:
    """The elements in another shape: a view where possible, else a copy; one length may be -1."""
    if isinstance(input, (ndarray, np.generic)):
        return input.reshape(*shape)
    shape = fill_in(wanted_shape(shape), input._array.size)
    return _view(input, shape) if _shares(input._array, shape) else _unsafe_view(clone(input), shape)


_t = define("t", lambda x: x.T, kind="linear", view=True, self=lambda grad: grad.T)
_transpose = define(
    "transpose", lambda self, dim0, dim1: self.swapaxes(dim0, dim1), kind="linear", view=True,
    self=lambda grad, dim0, dim1: grad.swapaxes(dim0, dim1),
)  # fmt: skip
_permute = define(
    "permute", lambda self, dims: self.transpose(dims), kind="linear", view=True,
    self=lambda grad, dims: permute(grad, tuple(np.argsort(dims).tolist())),
)  # fmt: skip


@method()
def t(input: Tensor) -> Tensor:
    """A matrix transposed. Raises RuntimeError for more than two dimensions."""
    if input._array.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input._array.ndim}D")
    return _t(input)


@method("transpose", "swapaxes", "swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged: a view."""
    n = input._array.ndim
    return _transpose(input, check_dim(dim0, n), check_dim(dim1, n)) if n else _transpose_scalar(input)


def _transpose_scalar(input: Tensor) -> Tensor:
    return _view(input, ())


@method("permute")
def _permute_method(self: Tensor, *dims) -> Tensor:
    """The dimensions in another order: a view."""
    return permute(self, wanted_shape(dims))


def permute(input: Tensor, dims: tuple) -> Tensor:
    """The dimensions in the order `dims`: a view."""
    if isinstance(input, (ndarray, np.generic)):
        return input.transpose(dims)
    n = input._array.ndim
    if len(dims) != n:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    dims = tuple(check_dim(d, n) for d in dims)
    if len(set(dims)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permute(input, dims)


_expand = define(
    "expand", lambda self, shape: np.lib.stride_tricks.as_strided(self, shape, _expanded_strides(self, shape)), kind="linear",
    view=True, self=lambda grad, self_sym_sizes: sum_to_size(grad, self_sym_sizes),
)  # fmt: skip


def _expanded_strides(array: ndarray, shape: tuple) -> tuple:
    lead = len(shape) - array.ndim
    own = tuple(s if n == w else 0 for s, n, w in zip(array.strides, array.shape, shape[lead:], strict=True))
    return (0,) * lead + own


@method()
def expand(self: Tensor, *sizes) -> Tensor:
    """The tensor stretched along dimensions of length 1, without copying; -1 keeps a length."""
    sizes = wanted_shape(sizes)
    shape = self.shape
    lead = len(sizes) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({self.dtype.tensor_type}{{{list(shape)}}}, size={list(sizes)}): the number of sizes provided "
            f"({len(sizes)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    full = []
    for i, n in enumerate(sizes):
        own = shape[i - lead] if i >= lead else None
        if n == -1 and own is None:
            raise RuntimeError(
                f"expand({self.dtype.tensor_type}{{{list(shape)}}}, size={list(sizes)}): The expanded size of the tensor "
                f"({n}) isn't allowed in a leading, non-existing dimension {i}"
            )
        if n != -1 and own is not None and own != n and own != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({own}) at non-singleton dimension "
                f"{i}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}"
            )
        full.append(own if n == -1 else n)
    return _expand(self, tuple(full))


@method()
def sum_to_size(self: Tensor, *size) -> Tensor:
    """Summed over what broadcasting `size` to this shape would have added or stretched."""
    size = wanted_shape(size)
    if isinstance(self, (ndarray, np.generic)):
        return sum_to(np.asarray(self), size)
    lead = self._array.ndim - len(size)
    if lead < 0:
        return self.expand(size)
    dims = tuple(i for i, n in enumerate(self._array.shape) if i < lead or (size[i - lead] == 1 and n != 1))
    if dims:
        self = self.sum(dims, keepdim=True)
    if lead > 0:
        self = self.view(self._array.shape[lead:])
    return self if self._array.shape == size else self.expand(size)


_to_copy = define("to_copy", lambda self, dtype: self.astype(dtype), kind="linear", self=lambda grad: grad)


@method()
def to(self: Tensor, dtype: dtypes.dtype | Tensor | str, copy: bool = False, **unused: object) -> Tensor:
    """This tensor in another dtype; itself if nothing changes. Devices other than "cpu" are refused."""
    if isinstance(dtype, Tensor):
        dtype = dtype.dtype
    if isinstance(dtype, str):
        if dtype != "cpu":
            raise RuntimeError(f"minigrad runs on the CPU only; there is no device {dtype!r}")
        return self
    wanted = dtypes.to_numpy(dtype)
    return self if wanted == self._array.dtype and not copy else _cast(self, wanted)


def _cast(self: Tensor, wanted: np.dtype) -> Tensor:
    out = _to_copy(self, wanted)
    if out._grad_fn is not None:
        out._grad_fn.meta = ((self._array.shape, self._array.dtype),)  # the gradient is cast back
    return out


def _caster(name: str, wanted: dtypes.dtype):
    def cast(self: Tensor) -> Tensor:
        return to(self, wanted)

    cast.__name__, cast.__doc__ = name, f"This tensor as {wanted!r}."
    function(cast, name)


for _name in ("float", "double", "half", "long", "int", "short", "bool"):
    _caster(_name, getattr(dtypes, _name))


@method()
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the dtype of `other`."""
    return to(self, other.dtype)


@method()
def contiguous(self: Tensor) -> Tensor:
    """Itself if the elements lie in row-major order, else a copy in which they do."""
    return self if self._array.flags.c_contiguous else clone(self)


@method()
def detach(self: Tensor) -> Tensor:
    """The same memory without history: gradients do not flow through it, writes to it are seen by both."""
    out = wrap(self._array)
    out._counter = self.counter()
    if self.is_inference():
        out.__class__ = InferenceTensor
    return out


@method()
def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off from its history, in place. Refused for views."""
    if self._is_view():
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() "
            "cannot be called on these gradients."
        )
    self._requires_grad, self._grad_fn, self._output_nr = False, None, 0
    return self


@property
def T(self: Tensor) -> Tensor:
    """All dimensions reversed."""
    return _permute(self, tuple(reversed(range(self._array.ndim))))


@property
def mT(self: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    if self._array.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {self._array.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


Tensor.T, Tensor.mT = T, mT
function(clone, "clone")

__all__ = ["clone", "detach", "permute", "reshape", "t", "transpose"]
