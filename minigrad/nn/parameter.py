"""Parameter: a leaf tensor that a Module knows as its own. Buffer: one that it keeps but does not train."""

from __future__ import annotations

import numpy as np

from .. import dtypes
from ..tensor import Tensor, new_object, plain_types, wrap


class Parameter(Tensor):
    """A tensor that is to be trained: assigned to a Module, it appears in `parameters()` and in the state dict.

    data: a tensor, whose memory is shared; history is left behind. requires_grad: True unless said otherwise, also
    inside `no_grad`. Raises RuntimeError for integers that are to require grad.
    """

    __slots__ = ()
    _repr_prefix = "Parameter containing:\n"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = wrap(np.empty(0, dtypes.default_float()))
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Parameter() takes a Tensor, but got {type(data).__name__}. Make one first: torch.tensor(...)"
            )
        if requires_grad and data._array.dtype.kind != "f":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        out = new_object(cls)
        out._array, out._requires_grad, out._grad_fn, out._output_nr = (
            data._array,
            bool(requires_grad),
            None,
            0,
        )
        out._counter = out._meta = None
        return out

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True):
        pass  # __new__ has done everything

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:  # the gradient stays behind
            copied = type(self)(wrap(self._array.copy()), self._requires_grad)
            copied.__dict__.update(self.__dict__)
            memo[id(self)] = copied
        return memo[id(self)]


plain_types.add(Parameter)  # operations treat it as they treat a Tensor


class _BufferType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferType):
    """A tensor that a Module keeps, moves and saves with itself, but does not train. It is a plain Tensor, marked."""

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:
        if not (data is None or isinstance(data, Tensor)):
            raise TypeError(
                f"Buffer() takes a Tensor, but got {type(data).__name__}. Make one first: torch.tensor(...)"
            )
        out = wrap(np.empty(0, dtypes.default_float()) if data is None else data._array)
        out._requires_grad = False if data is None else data._requires_grad
        out.persistent, out._is_buffer = persistent, True
        return out


__all__ = ["Buffer", "Parameter"]
