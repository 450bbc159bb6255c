"""Tools for the gradients and parameters of a model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...tensor import Tensor, wrap
from . import rnn as rnn


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in parameters if p.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: object = None,
) -> Tensor:
    """The norm of all elements of all tensors together."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not tensors:
        return wrap(np.zeros((), np.float32))
    norm_type = float(norm_type)
    norms = [np.linalg.norm(t._array.ravel(), norm_type) for t in tensors]
    total = np.asarray(
        np.linalg.norm(np.asarray(norms, tensors[0]._array.dtype), norm_type), tensors[0]._array.dtype
    )
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return wrap(total)


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: object = None
) -> None:
    """Scale all gradients by max_norm/total_norm if that is below 1."""
    factor = np.asarray(max_norm, total_norm._array.dtype) / (
        total_norm._array + total_norm._array.dtype.type(1e-6)
    )
    factor = np.minimum(factor, 1)
    for grad in _gradients(parameters):
        grad._array *= factor.astype(grad._array.dtype)
        grad._own_counter().version += 1


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: object = None,
) -> Tensor:
    """Scale all gradients so that their norm together is at most max_norm. Returns the norm that they had."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: object = None
) -> None:
    """Bring every element of every gradient into ±clip_value."""
    clip_value = float(clip_value)
    for grad in _gradients(parameters):
        np.clip(grad._array, -clip_value, clip_value, out=grad._array)
        grad._own_counter().version += 1


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters one behind the other, as one vector; gradients flow through it."""
    from ...ops.joining import cat

    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let the parameters show consecutive parts of a vector."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for p in parameters:
        p.data = vec[start : start + p.numel()].view(*p.shape).data
        start += p.numel()


__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector",
    "rnn", "vector_to_parameters",
]  # fmt: skip
__dir__ = __all__.copy  # what completion offers
