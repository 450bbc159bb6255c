"""Parameter: a leaf tensor that a Module knows as its own."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable

from ..basics import check
from ..creation import empty
from ..devices import Device
from ..dtypes import get_default_dtype, set_default_dtype
from ..messages import INFERENCE_FLAG
from ..missing import module_attributes
from ..tensor import Tensor, plain_types, rebuilt
from . import messages


class Parameter(Tensor):
    """A tensor to be trained: assigned to a Module, it appears in `parameters()` and in the state dict.

    data: a tensor, whose memory is shared; its history is dropped. requires_grad: True by default, also inside `no_grad`.
    Raises RuntimeError for integers, unless requires_grad=False.
    """

    __slots__ = ()
    _repr_prefix = "Parameter containing:\n"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = empty(0)
        check(isinstance(data, Tensor), messages.NEW_PARAMETER, type(data), error=TypeError)
        check(not (requires_grad and data.is_inference()), INFERENCE_FLAG)
        check(not requires_grad or data._array.dtype.kind == "f", messages.PARAMETER_DTYPE)
        return rebuilt(cls, data._array, bool(requires_grad), {})

    def __deepcopy__(self, memo: dict) -> Parameter:  # the gradient is not copied
        return rebuilt(type(self), copy.deepcopy(self._array, memo), self._requires_grad, self.__dict__)


plain_types.add(Parameter)  # operations treat it like a Tensor


def new_parameter(*shape: int) -> Parameter:
    """An uninitialised parameter."""
    return Parameter(empty(shape))


def placed(init: Callable) -> Callable:
    """Decorator for a layer's `__init__`: its parameters get the given `dtype`; `device` may only be the CPU."""
    code = init.__code__
    names = code.co_varnames[: code.co_argcount]

    @functools.wraps(init)
    def __init__(*args, **named):
        fits = len(args) <= len(names)  # if not, Python says so below
        given = {**dict(zip(names, args, strict=False)), **named} if fits else {}
        if given.get("device") is not None:
            Device(given["device"])  # raises for all devices but the CPU
        before = get_default_dtype()
        set_default_dtype(before if given.get("dtype") is None else given["dtype"])
        try:
            init(*args, **named)
        finally:
            set_default_dtype(before)

    return __init__


__dir__, __getattr__ = module_attributes(__name__, ["Parameter"])
