"""Which part of memory an array shows: addresses, strides, windows, overlaps; and what a tensor tells of it.

How new results are laid out is another matter, see `minigrad.memory`.
Sizes, strides and offsets count elements, as in PyTorch, unless they are said to count bytes.
"""

from __future__ import annotations

from ctypes import addressof, c_char

import numpy as np

from ..dtypes import of_numpy
from ..size import check_dim
from ..tensor import Tensor
from .table import method

ndarray = np.ndarray
window_of = np.lib.stride_tricks.as_strided


def address(array: ndarray) -> int:
    """The address of the first element."""
    try:  # NumPy's own answer, which tells more than the address, takes three times as long
        part = array if array.flags.c_contiguous else array[(*(0,) * array.ndim, ...)]
        return addressof(c_char.from_buffer(part))
    except (TypeError, ValueError, IndexError):  # it is read-only or empty
        return array.__array_interface__["data"][0]


def span(size: tuple, stride: tuple) -> int:
    """How many elements lie between the first and the last that a window shows, both counted."""
    return 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def reach(size: tuple, stride: tuple, itemsize: int) -> int:
    """How many bytes a window with these strides in bytes spans."""
    return 0 if 0 in size else itemsize + sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def may_overlap(size: tuple, stride: tuple, itemsize: int = 1) -> bool:
    """May a window show an element several times? Not if each dimension steps over all that the finer ones reach."""
    reached = itemsize
    for s, n in sorted(zip(stride, size, strict=True)):
        if n > 1:
            if s < reached:
                return True
            reached += (n - 1) * s
    return False


def strided(array: ndarray, size: tuple, stride: tuple, start: int) -> ndarray:
    """A window on the memory of `array`, `start` elements after its first one."""
    if array.flags.c_contiguous and array.size:
        return on_memory(array, size, stride, start)
    flat = window_of(array, (start + span(size, stride),), (array.itemsize,))
    return window_of(flat[start:], size, tuple(s * array.itemsize for s in stride))


def on_memory(memory: ndarray, size: tuple, stride: tuple, start: int) -> ndarray:
    """As `strided` for row-major memory: ten times faster than NumPy's own function."""
    itemsize = memory.itemsize
    return ndarray(size, memory.dtype, memory, start * itemsize, tuple(s * itemsize for s in stride))


def layout(array: ndarray) -> tuple:
    """The strides of an array, in elements."""
    size = array.itemsize
    return tuple(s // size for s in array.strides)


def is_stretched(array: ndarray) -> bool:
    """Does it show one element several times, as an expanded tensor does?"""
    return 0 in array.strides and array.size > 0 and 0 in steps(array)


def stretched_error() -> RuntimeError:
    """PyTorch's error for a write to such a tensor."""
    return RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation."
    )


def overlap(target: ndarray, source: ndarray) -> bool:
    """Do both fill stretches of memory that overlap, and are not one and the same?"""
    alike = target.strides == source.strides or steps(target) == steps(source)
    if alike and target.shape == source.shape and address(target) == address(source):
        return False
    return np.may_share_memory(target, source) and is_dense(target) and is_dense(source)


def steps(array: ndarray) -> list[int]:
    """The strides of the dimensions in which there is more than one place to go to."""
    return [s for s, n in zip(array.strides, array.shape, strict=True) if n > 1]


def is_dense(array: ndarray) -> bool:
    """Do the elements fill a stretch of memory without gaps?"""
    return span(array.shape, layout(array)) == array.size


def blank(size: tuple, stride: tuple, dtype: np.dtype) -> ndarray:
    """Zeros of a given size, laid out with given strides."""
    return on_memory(np.zeros(max(span(size, stride), 1), dtype), size, stride, 0)


# ---------------------------------------------------------------- what a tensor tells


Tensor.itemsize = property(lambda self: self._array.itemsize, doc="Bytes of one element.")
Tensor.nbytes = property(lambda self: self._array.nbytes, doc="Bytes of all elements.")


@method()
def element_size(self: Tensor) -> int:
    """Bytes of one element."""
    return self._array.itemsize


@method()
def stride(self: Tensor, dim: int | None = None) -> int | tuple[int, ...]:
    """Steps between neighbouring elements of each dimension, counted in elements."""
    strides = layout(self._array)
    return strides if dim is None else strides[check_dim(dim, len(strides))]


@method()
def storage_offset(self: Tensor) -> int:
    """Where this view starts in its base's memory, counted in elements."""
    base = self._base
    return 0 if base is None else (address(self._array) - address(base._array)) // self._array.itemsize


@method()
def data_ptr(self: Tensor) -> int:
    """The address of the first element: equal for tensors that share memory from the start."""
    return address(self._array)


@method()
def is_contiguous(self: Tensor, memory_format: object = None) -> bool:
    """True if the elements lie in memory in row-major order without gaps."""
    return self._array.flags.c_contiguous


@method()
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """True if both show the very same memory in the same way."""
    a, b = self._array, tensor._array
    return address(a) == address(b) and a.shape == b.shape and a.strides == b.strides


class UntypedStorage:
    """The memory that tensors share, as bytes: `x.untyped_storage().data_ptr()` is the same for a tensor and its views."""

    _name = "torch.storage.UntypedStorage(device=cpu)"

    def __init__(self, memory: ndarray):
        self._memory = memory

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return address(self._memory)

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._memory.nbytes

    def size(self) -> int:
        """How many elements there are; of untyped memory, bytes."""
        return self._memory.size

    __len__ = size

    def __getitem__(self, place: int | slice):
        return self._memory[place].tolist()

    def tolist(self) -> list:
        """The elements as Python numbers."""
        return self._memory.tolist()

    def __repr__(self) -> str:
        return "".join(f" {v}\n" for v in self.tolist()) + f"[{self._name} of size {self.size()}]"


class TypedStorage(UntypedStorage):
    """The same as numbers of a tensor's dtype. PyTorch has deprecated it."""

    def __init__(self, memory: ndarray):
        super().__init__(memory)
        self.dtype = of_numpy(memory.dtype)
        self._name = f"torch.storage.TypedStorage(dtype={self.dtype}, device=cpu)"

    def untyped(self) -> UntypedStorage:
        """The bytes."""
        return UntypedStorage(self._memory.view(np.uint8))


def whole_memory(array: ndarray) -> ndarray:
    """The elements of the array that owns the memory, in the order of memory."""
    while isinstance(array.base, ndarray):
        array = array.base
    return on_memory(array, (array.size,), (1,), 0) if array.flags.c_contiguous else array.ravel("K")


@method()
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory that this tensor and its views share."""
    return UntypedStorage(whole_memory(self._array).view(np.uint8))


@method()
def storage(self: Tensor) -> TypedStorage:
    """The memory that this tensor and its views share, as numbers. PyTorch has deprecated it."""
    return TypedStorage(whole_memory(self._array).view(self._array.dtype))
