"""Copies, casts, and cutting a tensor off from its history."""

from __future__ import annotations

import numpy as np

from .. import dtypes
from ..autograd.captured import age, refuse_captured
from ..clock import clock
from ..device import device as Device
from ..memory import copied
from ..tensor import InferenceTensor, Tensor, full_name, wrap
from .shape import _contiguous
from .table import define, function, method

_clone = define("clone", copied, kind="linear", self=lambda grad: grad)
_to_copy = define("to_copy", lambda self, dtype: self.astype(dtype), kind="linear", self=lambda grad: grad)
_to_integers = define("to_copy", lambda self, dtype: self.astype(dtype), self=None)


class memory_format:
    """How elements lie in memory: `contiguous_format` (row-major) or `preserve_format` (as in the input)."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")


@method()
def clone(input: Tensor, *, memory_format: memory_format = preserve_format) -> Tensor:
    """A copy that is part of the graph: gradients flow through it to `input`."""
    if not isinstance(input, Tensor):
        return input.copy()
    return _contiguous(input) if memory_format is contiguous_format else _clone(input)


@method()
def contiguous(self: Tensor, memory_format: memory_format = contiguous_format) -> Tensor:
    """Itself if the elements lie in row-major order, else a copy in which they do."""
    return self if self._array.flags.c_contiguous else _contiguous(self)


def check_device(device: object) -> None:
    """Raise RuntimeError unless `device` is the CPU (or None)."""
    if device is None or device == "cpu":
        return
    if isinstance(device, str):
        device = Device(device)  # which knows what is the name of none
    if str(device).split(":")[0] != "cpu":
        raise RuntimeError(f"minigrad runs on the CPU only; there is no device '{device}'")


@method()
def to(self: Tensor, *args: object, **kwargs: object) -> Tensor:
    """This tensor in another dtype; itself if nothing changes.

    x.to(dtype), x.to(device), x.to(device, dtype), x.to(other): each with non_blocking=, copy= (make a copy in any case)
    and memory_format=. Raises RuntimeError for devices other than the CPU.
    """
    unknown = set(kwargs) - {"dtype", "device", "non_blocking", "copy", "memory_format"}
    first = args[0] if args else None
    known = (
        first is None
        or isinstance(first, (Tensor, dtypes.dtype, Device, str, int))
        or first in (float, int, bool)
    )
    if unknown or not known:
        kinds = [full_name(type(a)) for a in args] + [
            f"{k}={full_name(type(v))}, " for k, v in kwargs.items()
        ]
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(kinds)}), but expected one of:\n"
            " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False)\n"
            " * (torch.dtype dtype, bool non_blocking = False, bool copy = False)\n"
            " * (Tensor tensor, bool non_blocking = False, bool copy = False)"
        )
    if args and isinstance(args[0], Tensor):
        kwargs = {"other": args[0], **dict(zip(("non_blocking", "copy"), args[1:], strict=False)), **kwargs}
    elif args and isinstance(args[0], (dtypes.dtype, type)):
        kwargs = {"dtype": args[0], **dict(zip(("non_blocking", "copy"), args[1:], strict=False)), **kwargs}
    elif args:
        kwargs = {**dict(zip(("device", "dtype", "non_blocking", "copy"), args, strict=False)), **kwargs}
    check_device(kwargs.get("device"))
    dtype = kwargs["other"].dtype if "other" in kwargs else kwargs.get("dtype")
    wanted = self._array.dtype if dtype is None else dtypes.to_numpy(dtype)
    if wanted == self._array.dtype and not kwargs.get("copy", False):
        return self
    out = cast(self, wanted)
    return contiguous(out) if kwargs.get("memory_format") is contiguous_format else out


def cast(self: Tensor, wanted: np.dtype) -> Tensor:
    """A copy in another dtype; the gradient is cast back."""
    if not isinstance(self, Tensor):
        return self.astype(wanted)
    if wanted.kind != "f":
        return _to_integers(self, wanted)
    out = _to_copy(self, wanted)
    if out._grad_fn is not None:
        out._grad_fn._meta = ((self._array.shape, self._array.dtype),)
    return out


def _caster(name: str, wanted: dtypes.dtype):
    def convert(self: Tensor) -> Tensor:
        return self if self._array.dtype == wanted.numpy else cast(self, wanted.numpy)

    convert.__name__, convert.__doc__ = name, f"This tensor as {wanted!r}."
    function(convert, name)


for _name, _wanted in {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
    "char": "int8", "byte": "uint8", "bool": "bool",
}.items():  # fmt: skip
    _caster(_name, getattr(dtypes, _wanted))


@method("type")
def type_(self: Tensor, dtype: dtypes.dtype | str | None = None, non_blocking: bool = False) -> Tensor | str:
    """Without argument the type's name, such as 'torch.FloatTensor'; else this tensor in that dtype."""
    if dtype is None:
        return self.dtype.tensor_type
    if isinstance(dtype, dtypes.dtype):
        return to(self, dtype)
    if isinstance(dtype, type):
        dtype = dtype.__name__
    name = getattr(dtype, "tensor_type", dtype)  # FloatTensor and its like
    if not isinstance(name, str):
        raise TypeError("dtype must be a type, str, or dtype object")
    found = [d for d in vars(dtypes).values() if isinstance(d, dtypes.dtype) and d.tensor_type == name]
    if not found:
        raise ValueError(f"invalid type: '{name}'")
    return to(self, found[0])


@method()
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the dtype of `other`."""
    return to(self, other.dtype)


@method()
def cpu(self: Tensor) -> Tensor:
    """Itself: minigrad runs on the CPU."""
    return self


@method()
def cuda(self: Tensor, *args: object, **kwargs: object) -> Tensor:
    """Refused: minigrad runs on the CPU only."""
    check_device("cuda")


@method()
def detach(self: Tensor) -> Tensor:
    """The same memory without history: gradients do not flow through it, writes to it are seen by both."""
    out = wrap(self._array)
    out._counter = self._own_counter()
    if clock.running:
        out._born = age(self)
    if self.is_inference():
        out.__class__ = InferenceTensor
    return out


@method()
def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off from its history, in place. Refused for views."""
    refuse_captured("detach", self)
    if self._is_view():
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() "
            "cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
            "torch/optim/optimizer.py as the solution."
        )
    hooks = self._backward_hooks
    if hooks:
        self._own_meta().hooks = hooks  # they stay with the tensor, and with its old history
    self._requires_grad, self._grad_fn, self._output_nr = False, None, 0
    if self._counter is not None and self._counter.views:
        self._tell_views()
    return self


__all__ = ["clone", "contiguous_format", "detach", "memory_format", "preserve_format"]
