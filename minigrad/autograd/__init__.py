"""The autograd engine: graph, backward pass, grad modes. Nothing here knows a single derivative; those are in ops/."""

from .backward import GradientEdge, backward, get_gradient_edge, grad
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .node import AccumulateGrad, Node

__all__ = [
    "AccumulateGrad",
    "GradientEdge",
    "Node",
    "backward",
    "enable_grad",
    "get_gradient_edge",
    "grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]
