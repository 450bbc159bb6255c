"""Tools for the gradients and parameters of a model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..missing import guard, module_attributes
from ..tensor import Tensor, wrap

__all__ = ["clip_grad_norm_", "clip_grad_value_"]
__dir__, __getattr__ = module_attributes(__name__, __all__)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in parameters if p.grad is not None]


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scale all gradients so that their combined norm is at most max_norm. Returns the norm before scaling."""
    grads, norm_type = _gradients(parameters), float(norm_type)
    dtype = grads[0]._array.dtype if grads else np.dtype(np.float32)
    norms = np.asarray([np.linalg.norm(g._array.ravel(), norm_type) for g in grads] or [0.0], dtype)
    total = np.asarray(np.linalg.norm(norms, norm_type), dtype)
    factor = np.minimum(np.asarray(max_norm, dtype) / (total + dtype.type(1e-6)), 1)
    for grad in grads:
        grad._array *= factor.astype(grad._array.dtype)
        grad._own_counter().version += 1
    return wrap(total)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clip every element of every gradient to ±clip_value."""
    for grad in _gradients(parameters):
        np.clip(grad._array, -float(clip_value), float(clip_value), out=grad._array)
        grad._own_counter().version += 1


guard(__name__, "nn.utils")
