"""Function transforms: grad, vjp, jvp, Jacobians, Hessians, vmap; they nest in any order (PyTorch's `torch.func`).

    interpreter   what all transforms have in common: how an operation passes through the levels
    batching      vmap
    transforms    the derivatives
    trees         nested arguments, and modules as functions

The interpreter stands below the operations, the transforms above them: what users call is loaded when it is asked for.
"""

from importlib import import_module

from ..basics import not_offered

HOMES = {"vmap": "batching", "functional_call": "trees", "stack_module_state": "trees"} | dict.fromkeys(
    ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"], "transforms"
)
__all__ = sorted(HOMES)
__dir__ = __all__.copy  # what completion offers


def __getattr__(name: str) -> object:
    if name not in HOMES:
        return not_offered("func.")(name)
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
