"""A tensor among Python's and NumPy's own: its sizes, its values as numbers, lists, arrays and text, and how it is pickled.

Nothing here is recorded: what is taken out of a tensor has no history.
"""

from __future__ import annotations

import warnings

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import local
from ..device import cpu
from ..memory import deeply_copied
from ..printing import tensor_repr
from ..size import Size, as_int, check_dim
from ..tensor import Tensor, wrap
from .table import function, method

ndarray = np.ndarray


@method()
def size(self: Tensor, dim: int | None = None) -> Size | int:
    """The shape, or the length of one dimension."""
    if dim is None:
        return self.shape
    try:
        return self._array.shape[check_dim(dim, self._array.ndim)]
    except TypeError:
        as_int("size", dim)  # says what it is
        raise


@method("dim", "ndimension")
def dim(self: Tensor) -> int:
    """The number of dimensions."""
    return self._array.ndim


@method()
def is_complex(self: Tensor) -> bool:
    """False: there are no complex numbers here."""
    return False


function(Tensor.numel, "nelement")
Tensor.device = property(lambda self: cpu, doc='Where the elements are: `device("cpu")`, always.')
Tensor.is_cuda = property(lambda self: False, doc="False: everything is on the CPU.")


@method()
def item(self: Tensor) -> bool | int | float:
    """The value of a tensor with one element, as a Python number. Raises RuntimeError for any other size."""
    if self._array.size != 1:
        raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
    return self._array.item()


@method()
def tolist(self: Tensor) -> list | bool | int | float:
    """The values as (nested) lists of Python numbers."""
    return self._array.tolist()


@method()
def numpy(self: Tensor, *, force: bool = False) -> ndarray:
    """The values as a NumPy array that shares memory.

    Refused for a tensor that requires grad where operations are recorded, as NumPy's would not be, unless `force`.
    """
    if self.requires_grad and local.grad and not force:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return self._array


@method()
def __array__(self: Tensor, dtype=None, copy=None) -> ndarray:
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


@method()
def __array_wrap__(self: Tensor, array: ndarray, context=None, return_scalar: bool = False) -> Tensor:
    """What NumPy's functions make of a tensor is a tensor again: `np.sin(x)`."""
    return wrap(array)


@method()
def __reversed__(self: Tensor) -> Tensor:
    return self.flip(0) if self._array.ndim else self


@method()
def __len__(self: Tensor) -> int:
    if self._array.ndim == 0:
        raise TypeError("len() of a 0-d tensor")
    return self._array.shape[0]


@method()
def __bool__(self: Tensor) -> bool:
    if self._array.size != 1:
        values = "more than one value" if self._array.size else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {values} is ambiguous")
    return bool(self.item())


@method()
def __float__(self: Tensor) -> float:
    if self.requires_grad and local.grad:
        warnings.warn(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
            "Consider using tensor.detach() first.",
            UserWarning,
            stacklevel=2,
        )
    return float(only_value(self))


@method()
def __int__(self: Tensor) -> int:
    return int(only_value(self))


def only_value(t: Tensor) -> float | int | bool:
    if t._array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return t.item()


@method()
def __index__(self: Tensor) -> int:
    if self._array.size != 1 or self._array.dtype.kind == "f":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self._array.item())


@method()
def __format__(self: Tensor, spec: str) -> str:
    if self._array.ndim == 0 and not self._repr_prefix:  # a Parameter is no number
        return format(self.item(), spec)
    return object.__format__(self, spec)


@method()
def __contains__(self: Tensor, element) -> bool:
    if not isinstance(element, (Tensor, bool, int, float)):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
        )
    return bool((self == element).any().item())


@method()
def __repr__(self: Tensor, *, tensor_contents: str | None = None) -> str:
    try:
        node = self.grad_fn
        name = None if node is None else node.name().split("::")[-1]
    except RuntimeError:  # its base was written to where that is refused
        name = "Invalid"
    text = tensor_repr(
        self._array,
        default_dtype=dtypes.default_float(),
        requires_grad=self._requires_grad,
        grad_fn_name=name,
    )
    return self._repr_prefix + text


@method()
def __reduce_ex__(self: Tensor, protocol: int):
    for hook in (self._backward_hooks or {}).values():
        warnings.warn(
            f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function "
            "with @torch.utils.hooks.unserializable_hook to suppress this warning",
            UserWarning,
            stacklevel=2,
        )
    kind = Tensor if self.is_inference() else type(self)
    return rebuild, (kind, self._array, self._requires_grad, self.__dict__)


@method()
def __deepcopy__(self: Tensor, memo: dict) -> Tensor:
    if id(self) in memo:
        return memo[id(self)]
    if self._grad_fn is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
            "see https://github.com/pytorch/pytorch/pull/103001"
        )
    kind, array = Tensor if self.is_inference() else type(self), deeply_copied(self._array, memo)
    copied = memo[id(self)] = rebuild(kind, array, self._requires_grad, dict(self.__dict__))
    if self._meta is not None and self._meta.grad is not None:
        copied.grad = self._meta.grad.__deepcopy__(memo)
    return copied


def rebuild(cls: type, array: ndarray, requires_grad: bool, attributes: dict) -> Tensor:
    """What pickle and deepcopy call to make a leaf again."""
    out = wrap(array, requires_grad)
    out.__class__ = cls
    out.__dict__.update(attributes)
    return out
