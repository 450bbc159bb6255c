"""Parameter: a leaf tensor that a Module knows as its own."""

from __future__ import annotations

import copy

from ..creation import empty
from ..missing import offers
from ..tensor import Tensor, plain_types, rebuilt
from ..words import INFERENCE_FLAG, expect


class Parameter(Tensor):
    """A tensor that is to be trained: assigned to a Module, it appears in `parameters()` and in the state dict.

    data: a tensor, whose memory is shared; history is left behind. requires_grad: True unless said otherwise, also
    inside `no_grad`. Raises RuntimeError for integers that are to require grad.
    """

    __slots__ = ()
    _repr_prefix = "Parameter containing:\n"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = empty(0)
        told = "Parameter() takes a Tensor, but got {}: make one first"
        expect(isinstance(data, Tensor), told, type(data), error=TypeError)
        expect(not (requires_grad and data.is_inference()), INFERENCE_FLAG)
        told = "Only Tensors of floating point and complex dtype can require gradients"
        expect(not requires_grad or data._array.dtype.kind == "f", told)
        return rebuilt(cls, data._array, bool(requires_grad), {})

    def __deepcopy__(self, memo: dict) -> Parameter:  # the gradient stays behind
        return rebuilt(type(self), copy.deepcopy(self._array, memo), self._requires_grad, self.__dict__)


plain_types.add(Parameter)  # operations treat it as they treat a Tensor


def new_parameter(*shape: int) -> Parameter:
    """An uninitialised parameter."""
    return Parameter(empty(shape))


__dir__, __getattr__ = offers(__name__, ["Parameter"])
