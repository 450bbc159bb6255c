"""Function transforms: grad, vjp, jvp, Jacobians, Hessians, vmap; they nest in any order (PyTorch's `torch.func`)."""

from . import batching  # noqa: F401  (what vmap does with each operation)
from .functional_call import functional_call, stack_module_state
from .transforms import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from .vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
__dir__ = __all__.copy  # what completion offers
