"""Parameter: a leaf tensor that a Module knows as its own."""

from __future__ import annotations

import copy

import numpy as np

from .. import dtypes
from ..tensor import Tensor, full_name, plain_types, rebuilt, wrap


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
                f"Parameter() takes a Tensor, but got {full_name(type(data))}. Make one first: torch.tensor(...)"
            )
        if requires_grad and data.is_inference():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        if requires_grad and data._array.dtype.kind != "f":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return rebuilt(cls, data._array, bool(requires_grad), {})

    def __deepcopy__(self, memo: dict) -> Parameter:  # the gradient stays behind
        return rebuilt(type(self), copy.deepcopy(self._array, memo), self._requires_grad, self.__dict__)


plain_types.add(Parameter)  # operations treat it as they treat a Tensor


def new_parameter(*shape: int) -> Parameter:
    """An uninitialised parameter."""
    return Parameter(wrap(np.empty(shape, dtypes.default_float())))
