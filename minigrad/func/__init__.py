"""Function transforms: grad, vjp, jvp, Jacobians, Hessians, vmap; they nest in any order (PyTorch's `torch.func`).

    interpreter   what all transforms have in common: how an operation passes through the levels
    batching      vmap: a function, and every operation in it, on a whole batch
    transforms    the derivatives
    trees         nested arguments, and modules as functions

The operations import the interpreter, and the transforms the operations, so the public functions are loaded on first use.
"""

from ..missing import module_attributes

HOMES = {"vmap": ".batching", "functional_call": ".trees", "stack_module_state": ".trees"}
HOMES |= dict.fromkeys(["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"], ".transforms")
__all__ = sorted(HOMES)
__dir__, __getattr__ = module_attributes(__name__, __all__, HOMES)
