"""The autograd engine: graph, backward pass, grad modes. Nothing here knows a single derivative; those are in ops/."""

from . import graph
from .anomaly_mode import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from .backward import GradientEdge, backward, get_gradient_edge, grad
from .function import Function, FunctionCtx
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .node import AccumulateGrad, Node
from .variable import Variable

__all__ = [
    "AccumulateGrad",
    "Function",
    "FunctionCtx",
    "GradientEdge",
    "Node",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "get_gradient_edge",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


def __getattr__(name: str) -> object:
    """Load the larger parts when they are first used."""
    import importlib

    if name in ("functional", "forward_ad"):
        return importlib.import_module("." + name, __name__)
    if name in ("gradcheck", "gradgradcheck"):
        module = importlib.import_module(".gradcheck", __name__)
        globals().update(
            gradcheck=module.gradcheck, gradgradcheck=module.gradgradcheck
        )  # not the module of that name
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
