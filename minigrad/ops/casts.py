"""Casts to another dtype, moves to the only device (the CPU), and questions about types."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..basics import check, full_name
from ..devices import Device
from ..tensor import Tensor
from .pointwise import to_copy
from .table import FUNCTIONS, METHODS, function, method

FORMS_OF_TO = "\n * (device, dtype)\n * (dtype)\n * (Tensor other)"


@method()
def to(
    self: Tensor,
    *args: object,
    dtype: object = None,
    device: object = None,
    non_blocking: bool = False,
    copy: bool = False,
):
    """This tensor in another dtype; itself if nothing changes, unless `copy`: x.to(dtype), x.to(other), x.to("cpu", dtype)."""
    places, kinds = (str, int, Device), (dtypes.dtype, type, bool, type(None))
    usual = all(isinstance(given, kinds if i else (*places, *kinds, Tensor)) for i, given in enumerate(args))
    shown = ", ".join([full_name(type(given)) for given in args])
    check(usual, f"to() received an invalid combination of arguments - got ({shown}), but expected one of:{FORMS_OF_TO}",
           error=TypeError)  # fmt: skip
    # non_blocking and copy change nothing if given by position
    for given in [given for given in args if not isinstance(given, bool)]:
        if isinstance(given, places):
            device = given
        else:
            dtype = given.dtype if isinstance(given, Tensor) else given
    if device is not None:
        Device(device)  # raises for all devices but the CPU
    target = self.dtype if dtype is None else dtypes.of_numpy(dtypes.to_numpy(dtype))
    return self if target is self.dtype and not copy else to_copy(self, target)


def caster(name: str, target: dtypes.dtype) -> Callable:
    def convert(self: Tensor) -> Tensor:
        return self if self.dtype is target else to_copy(self, target)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"This tensor as {target!r}; itself if it already is."
    return convert


for _name in ("float", "double", "half", "long", "int", "short", "bool"):
    METHODS[_name] = caster(_name, getattr(dtypes, _name))
METHODS |= {"byte": caster("byte", dtypes.uint8), "char": caster("char", dtypes.int8)}


@method("cpu")
def on_cpu(self: Tensor) -> Tensor:
    """This tensor itself: it is on the CPU, like all tensors."""
    return self


@method("cuda")
def on_cuda(self: Tensor, device: object = "cuda") -> Tensor:
    """Raises RuntimeError: minigrad runs on the CPU."""
    return self.to("cuda" if device is None else device)


@function("Tensor")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor in the dtype of `other`; itself if nothing changes."""
    return self.to(other.dtype)


@method("type")
def type_of(self: Tensor, dtype: object = None) -> Tensor | str:
    """The name of this tensor's type, such as "torch.FloatTensor", or the tensor in the given dtype."""
    if dtype is None:
        return self.dtype.tensor_type
    named = {d.tensor_type: d for d in dtypes.known_dtypes.values()}
    return self.to(
        named.get(dtype, dtype) if isinstance(dtype, str) else dtypes.of_numpy(dtypes.to_numpy(dtype))
    )


@function("torch")
def is_floating_point(input: Tensor) -> bool:
    """True if the elements are floating point numbers."""
    return input.is_floating_point()


@function("torch")
def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


@function("torch")
def is_tensor(obj: object, /) -> bool:
    """True if `obj` is a Tensor."""
    return isinstance(obj, Tensor)


class finfo:
    """Machine limits of a floating point dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, type: dtypes.dtype | None = None):
        info = np.finfo(dtypes.to_numpy(dtypes.get_default_dtype() if type is None else type))
        for name in ("min", "max", "eps", "smallest_normal", "tiny"):
            setattr(self, name, getattr(info, name).item())
        self.dtype, self.bits, self.resolution = info.dtype.name, info.bits, 10.0**-info.precision


class iinfo:
    """Limits of an integer dtype: bits, max, min."""

    def __init__(self, type: dtypes.dtype):
        info = np.iinfo(dtypes.to_numpy(type))
        self.min, self.max, self.bits, self.dtype = info.min, info.max, info.bits, info.dtype.name


FUNCTIONS |= {"finfo": finfo, "iinfo": iinfo}
