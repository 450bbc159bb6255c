"""Parameter: a leaf tensor that a Module knows as its own."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable

from ..basics import device as Device
from ..checks import check
from ..creation import empty
from ..dtypes import get_default_dtype, set_default_dtype
from ..messages import INFERENCE_FLAG
from ..missing import module_attributes, names
from ..tensor import Tensor, plain_types, rebuilt


class Parameter(Tensor):
    """A tensor to be trained: assigned to a Module, it appears in `parameters()` and in the state dict.

    data: a tensor, whose memory is shared; history is left behind. requires_grad: True unless said otherwise, also
    inside `no_grad`. Raises RuntimeError for integers that are asked to require grad.
    """

    __slots__ = ()
    _repr_prefix = "Parameter containing:\n"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = empty(0)
        message = "Parameter() takes a Tensor, but got {}: make one first"
        check(isinstance(data, Tensor), message, type(data), error=TypeError)
        check(not (requires_grad and data.is_inference()), INFERENCE_FLAG)
        message = "Only Tensors of floating point and complex dtype can require gradients"
        check(not requires_grad or data._array.dtype.kind == "f", message)
        return rebuilt(cls, data._array, bool(requires_grad), {})

    def __deepcopy__(self, memo: dict) -> Parameter:  # the gradient stays behind
        return rebuilt(type(self), copy.deepcopy(self._array, memo), self._requires_grad, self.__dict__)


plain_types.add(Parameter)  # operations treat it as they treat a Tensor


def new_parameter(*shape: int) -> Parameter:
    """An uninitialised parameter."""
    return Parameter(empty(shape))


def placed(init: Callable) -> Callable:
    """Decorator of a layer's `__init__`: it also takes `device`, the CPU, and `dtype`, that of the layer's parameters; by
    position, too, if it has all that PyTorch's has before them."""
    signature, (layer, _, _) = inspect.signature(init), init.__qualname__.partition(".")
    own, theirs = [*signature.parameters][1:], names("nn").get(layer, "").rstrip(")").split(",")
    listed = [n.partition(":")[0] for n in theirs] == [*own, "device", "dtype"]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if listed else inspect.Parameter.KEYWORD_ONLY
    options = [inspect.Parameter(n, kind, default=None) for n in ("device", "dtype")]

    @functools.wraps(init)
    def __init__(self, *args, device=None, dtype=None, **named):
        if listed and len(own) < len(args) <= len(own) + 2:
            args, (device, dtype) = args[: len(own)], (*args[len(own) :], dtype)[:2]
        if device is not None:
            Device(device)  # which refuses all but the CPU
        before = get_default_dtype()
        set_default_dtype(before if dtype is None else dtype)
        try:
            init(self, *args, **named)
        finally:
            set_default_dtype(before)

    __init__.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *options])
    return __init__


__dir__, __getattr__ = module_attributes(__name__, ["Parameter"])
