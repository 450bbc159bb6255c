"""The autograd engine: graph, backward pass, grad modes. Nothing here knows a single derivative; those are in ops/.

`help(minigrad)` gives an order for reading what `loss.backward()` needs: node, engine, passes, saved, hooks, modes, views.
Besides these:

    grad_mode      modes that users switch               no_grad, enable_grad, inference_mode, detect_anomaly
    graph          hooks that users attach to a graph    register_hook, retain_grad, saved_tensors_hooks

**Further modules** build on these; the modules above do not know them. They are loaded when they are first used:

    function       operations with their own backward    Function and its ctx
    forward_ad     derivatives along with the values     dual_level, make_dual: dual numbers
    functional     Jacobians and products with them      jacobian, hessian, vjp, jvp, hvp, vhp
    numerical      checks of derivatives                 gradcheck, gradgradcheck: against finite differences
"""

import sys
import types
from importlib import import_module

from ..missing import module_attributes

# Where the public names are defined. They are looked up on first use, so that a lower file can be imported before those
# above it (the tensor needs the modes).
HOMES = {name: f".{name}" for name in ("forward_ad", "functional", "graph")}
HOMES |= dict.fromkeys(["backward", "grad"], ".passes")
HOMES |= dict.fromkeys(["Function", "function"], ".function")
HOMES |= dict.fromkeys(["gradcheck", "gradgradcheck"], ".numerical")
HOMES |= dict.fromkeys(["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"], ".grad_mode")
HOMES |= dict.fromkeys(["detect_anomaly", "set_detect_anomaly"], ".grad_mode")
__all__ = list(HOMES)
__dir__, __getattr__ = module_attributes(__name__, __all__, HOMES)

# PyTorch has `autograd.gradcheck` as a module and as a function of the same name. Here the module has the names of the module
# `numerical`; the attribute of this package stays the function, whichever is used first.
_path = sys.modules[f"{__name__}.gradcheck"] = types.ModuleType(f"{__name__}.gradcheck")
_path.__getattr__ = lambda name: getattr(
    sys.modules[__name__] if name in HOMES else import_module(".numerical", __name__), name
)
