"""Questions about a tensor: its shape, its memory, its values. Nothing here is recorded, and none of it is needed to
understand autograd."""

from __future__ import annotations

import warnings
from math import prod
from operator import index

import numpy as np

from . import dtypes, messages
from .autograd.modes import local
from .basics import check, wrap_dim
from .devices import cpu
from .printing import tensor_repr

ndarray = np.ndarray


class Size(tuple):
    """The shape of a tensor: a tuple that prints as `torch.Size([2, 3])` and knows `numel()`."""

    __module__ = __package__  # as users know it
    __slots__ = ()

    def __new__(cls, lengths=()) -> Size:
        return tuple.__new__(cls, map(index, lengths))

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def numel(self) -> int:
        """The number of elements: the product of the lengths."""
        return prod(self)

    def __getitem__(self, key):
        result = tuple.__getitem__(self, key)
        return tuple.__new__(Size, result) if isinstance(key, slice) else result

    def __add__(self, other: tuple) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple) -> Size:
        return Size(tuple(other) + tuple(self))


class TensorBase:
    """The part of `Tensor` that only looks at its array."""

    __slots__ = ()

    # ------------------------------------------------------------------ what it is

    shape = property(lambda self: tuple.__new__(Size, self._array.shape), doc="The length of each dimension.")
    dtype = property(lambda self: dtypes.of_numpy(self._array.dtype), doc="The type of the elements.")
    device = property(lambda self: cpu, doc='Where the elements are: `device("cpu")`, always.')
    is_cuda = property(lambda self: False, doc="False: it is on the CPU.")
    is_cpu = property(lambda self: True, doc="True.")
    ndim = property(lambda self: self._array.ndim, doc="The number of dimensions.")
    output_nr = property(lambda self: self._output_nr, doc="Which output of its `grad_fn` this tensor is.")
    itemsize = property(lambda self: self._array.itemsize, doc="Bytes of one element.")
    nbytes = property(lambda self: self._array.nbytes, doc="Bytes of all elements.")

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size

    nelement = numel  # its older name

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    def size(self, dim: int | None = None) -> Size | int:
        """The shape, or the length of one dimension. IndexError if there is no such dimension."""
        return self.shape if dim is None else self._array.shape[wrap_dim(dim, self._array.ndim)]

    def is_floating_point(self) -> bool:
        """True if the elements are floating point numbers."""
        return self._array.dtype.kind == "f"

    def stride(self, dim: int | None = None) -> int | tuple[int, ...]:
        """The distance between neighbours along each dimension, counted in elements."""
        strides = tuple(s // self._array.itemsize for s in self._array.strides)
        return strides if dim is None else strides[wrap_dim(dim, len(strides))]

    def is_contiguous(self) -> bool:
        """True if the elements lie in memory in row-major order without gaps."""
        return self._array.flags.c_contiguous

    def _is_view(self) -> bool:
        return self._base is not None

    def data_ptr(self) -> int:
        """The address of the first element: equal for tensors that begin at the same place in memory."""
        return self._array.__array_interface__["data"][0]

    # ------------------------------------------------------------------ its values: nothing here is recorded

    def item(self) -> bool | int | float:
        """The value of a tensor with one element, as a Python number. Raises RuntimeError for any other size."""
        size = self._array.size
        check(size == 1, "a Tensor with {} elements cannot be converted to Scalar", size)
        return self._array.item()

    def tolist(self) -> list | bool | int | float:
        """The values as (nested) lists of Python numbers."""
        return self._array.tolist()

    def numpy(self, *, force: bool = False) -> ndarray:
        """The values as a NumPy array that shares memory. Refused in grad mode if the tensor requires grad, unless `force`."""
        check(force or not (self._requires_grad and local.grad), messages.NUMPY)
        return self._array

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> ndarray:
        return np.array(self.numpy(), dtype, copy=copy)

    def __len__(self) -> int:
        check(self._array.ndim > 0, "len() of a 0-d tensor", error=TypeError)
        return self._array.shape[0]

    def __bool__(self) -> bool:
        values = "more than one value" if self._array.size else "no values"
        check(self._array.size == 1, "Boolean value of Tensor with {} is ambiguous", values)
        return bool(self.item())

    def __float__(self) -> float:
        if self._requires_grad and local.grad:
            warnings.warn(messages.TO_NUMBER, UserWarning, stacklevel=2)
        return float(self._only_value())

    def __int__(self) -> int:
        return int(self._only_value())

    def _only_value(self) -> bool | int | float:
        message = "only one element tensors can be converted to Python scalars"
        check(self._array.size == 1, message, error=ValueError)
        return self.item()

    def __index__(self) -> int:
        if self._array.size != 1 or self._array.dtype.kind == "f":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __format__(self, spec: str) -> str:
        if self._array.ndim == 0 and not self._repr_prefix:  # a Parameter is not formatted as a number
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if hasattr(type(self), name) or name in self.__dict__]

    def __contains__(self, element: object) -> bool:
        return bool((self == element).any().item())

    def __repr__(self) -> str:
        return self._repr_prefix + self._text()

    def _text(self, *marks: str) -> str:
        """The printed form with further marks, such as a dual number's tangent, at the end."""
        history = ("requires_grad=True",) * self._requires_grad
        try:
            if self.grad_fn is not None:
                history = (f"grad_fn=<{self.grad_fn.name().split('::')[-1]}>",)
        except RuntimeError:  # its base was written to where writing is refused
            history = ("grad_fn=<Invalid>",)
        return tensor_repr(self._array, dtypes.default_float(), *history, *marks)
