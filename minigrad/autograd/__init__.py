"""The autograd engine: graph, backward pass, grad modes. Nothing here knows a single derivative; those are in ops/.

**The core** is what `loss.backward()` needs. It is meant to be read in one sitting, in this order; each file needs only
those before it:

    ../tensor      what is recorded of a tensor          its array, grad_fn, version, gradient, base
    grad_mode      is anything recorded?                 no_grad, enable_grad, inference_mode
    node           the graph                             Node and its edges; AccumulateGrad, where paths end
    saved          what a node keeps for its rule        the version check, tensors that hooks pack
    hooks          users' functions in a pass            tensor.register_hook, retain_grad; how a pass calls them
    anomaly_mode   which operation made the NaN?         detect_anomaly
    dependencies   what waits for what                   count_dependencies, nodes_leading_to
    engine         the pass: which node runs when        run
    backward       what users call to start one          backward, grad, GradientEdge
    ../ops/table   where nodes and their rules come from define: the derivatives, one line each

It is kept small: these files have about 2,200 lines together, 1,500 of them code, and `engine` has under 200. What makes it
larger than a toy's is what PyTorch does beside the walk: views, hooks, versions, threads, and errors that say what to do.
**Further chapters** build on the core, which knows nothing of them; each can be read by itself after those that it imports,
in this order:

    captured       what a transform must not write to    how old a tensor is
    interpreter    operations inside a transform         what forward mode and func.vmap have in common
    function       operations with their own backward    Function and its ctx
    forward_ad     derivatives beside the values         dual_level, make_dual: dual numbers
    functional     Jacobians and products with them      jacobian, hessian, vjp, jvp, hvp, vhp
    gradcheck      is a derivative right?                gradcheck, gradgradcheck: against differences
    graph          more to do with a graph               get_gradient_edge, saved_tensors_hooks, multi-grad hooks
    variable       an old name of tensors                Variable

A file that belongs to neither list, or a core that grows, fails `tests/test_architecture.py`. The way from a call to a node
goes through ops/calls.py and ops/dispatch.py, from a node to its rule through ops/vjps.py; views and writes in place are in
ops/history.py and ops/strides.py, the function transforms in func/.
"""

from . import graph
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .backward import backward, grad
from .function import Function
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from .variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
__dir__ = __all__.copy  # what completion offers


def __getattr__(name: str) -> object:
    """Load the larger parts when they are first used."""
    import importlib

    if name in ("functional", "forward_ad"):
        return importlib.import_module("." + name, __name__)
    if name in ("gradcheck", "gradgradcheck"):  # the functions: importing them makes the module the attribute
        module = importlib.import_module(".gradcheck", __name__)
        globals().update(gradcheck=module.gradcheck, gradgradcheck=module.gradgradcheck)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
