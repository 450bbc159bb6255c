"""Backward hooks of modules: the gradients at a module's inputs and outputs, seen and changed as a whole.

An identity operation is put before and behind the module's forward. Its nodes in the graph are where all gradients of
the outputs, or of the inputs, are together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from ..autograd.function import Function
from ..autograd.grad_mode import local
from ..autograd.node import Node
from ..tensor import Tensor

NO_INPUT_GRADIENT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class BackwardHookFunction(Function):
    """The identity, with one node for all its arguments."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return grads


class Boundary:
    """One side of a module call: which of its values are tensors, and the node through which their gradients pass."""

    def __init__(self, values: tuple):
        self.count = len(values)
        self.positions = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        self.values, self.node = values, None
        tensors = [values[i] for i in self.positions]
        if local.grad and any(t.requires_grad for t in tensors):
            through = BackwardHookFunction.apply(*tensors)
            replaced = list(values)
            for i, t in zip(self.positions, through, strict=True):
                replaced[i] = t
            fields = getattr(values, "_fields", None)
            self.values = type(values)(*replaced) if fields else tuple(replaced)
            self.node: Node | None = next(t.grad_fn for t in through if t.grad_fn is not None)

    def spread(self, grads: Sequence) -> tuple:
        """The gradients at the places of their tensors, None for everything else."""
        out = [None] * self.count
        for i, g in zip(self.positions, grads, strict=True):
            out[i] = g
        return tuple(out)

    def gather(self, grads: Sequence) -> tuple:
        return tuple(grads[i] for i in self.positions)


class ModuleBackwardHooks:
    """Runs a module's backward hooks during the backward passes through one call of it."""

    def __init__(self, module: object, hooks: Sequence[Callable], pre_hooks: Sequence[Callable]):
        self.module, self.hooks, self.pre_hooks = module, tuple(hooks), tuple(pre_hooks)
        self.grad_outputs = None

    def wrap_inputs(self, args: tuple) -> tuple:
        """The arguments as the module's forward is to get them."""
        boundary = Boundary(args)
        self.inputs, count = boundary if boundary.node is not None else None, boundary.count
        self.no_inputs = (None,) * count
        node, values = boundary.node, boundary.values
        boundary.values = boundary.node = None  # the graph must not hold itself
        if node is not None:
            node.register_hook(self.at_inputs)
        return values

    def wrap_outputs(self, result: object) -> object:
        """The results as the caller is to get them."""
        if not isinstance(result, (tuple, Tensor)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}",
                UserWarning,
                stacklevel=4,
            )
        boundary = Boundary(result if isinstance(result, tuple) else (result,))
        self.outputs = boundary
        node, values = boundary.node, boundary.values
        boundary.values = boundary.node = None
        if node is not None:
            node.register_hook(self.at_outputs)
        return values if isinstance(result, tuple) else values[0]

    def at_outputs(self, grad_inputs: tuple, grad_outputs: tuple) -> tuple:
        self.grad_outputs = self.outputs.spread(grad_outputs)
        for hook in self.pre_hooks:
            self.grad_outputs = replacement(
                hook(self.module, self.grad_outputs), self.grad_outputs, "pre hook", "grad_output"
            )
        result = self.outputs.gather(self.grad_outputs)
        if self.inputs is None:
            warnings.warn(NO_INPUT_GRADIENT, UserWarning, stacklevel=2)
            for hook in self.hooks:
                given = hook(self.module, self.no_inputs, self.grad_outputs)
                if given is not None and not (isinstance(given, tuple) and all(g is None for g in given)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for "
                        "all gradients."
                    )
            self.grad_outputs = None
        return result

    def at_inputs(self, grad_inputs: tuple, grad_outputs: tuple) -> tuple | None:
        if self.grad_outputs is None:
            return None  # a gradient came to the input on another way than through the module
        result = self.inputs.spread(grad_inputs)
        for hook in self.hooks:
            result = replacement(hook(self.module, result, self.grad_outputs), result, "hook", "grad_input")
        self.grad_outputs = None
        return self.inputs.gather(result)


def replacement(given: object, current: tuple, kind: str, what: str) -> tuple:
    """What a hook returned in the place of the current gradients; these if it returned None."""
    if given is None:
        return current
    if len(given) != len(current):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, got {len(given)}, but expected {len(current)}"
        )
    return given


# ---------------------------------------------------------------- hooks of old PyTorch

MISSING_GRADIENTS = (
    "Using {what} is deprecated and will be removed in future versions. This hook will be missing some {gradient}."
    " Please use register_full_backward_hook to get the documented behavior."
)


def hook_last_node(module: object, hooks: Sequence[Callable], args: tuple, result: object) -> None:
    """Put hooks on the node of the first tensor in `result`: they see the gradients of that node's inputs and outputs."""
    first = result
    while not isinstance(first, Tensor):
        first = (
            next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
        )
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(
            lambda grad_inputs, grad_outputs, hook=hook: hook(module, grad_inputs, grad_outputs)
        )
    results = (result,) if isinstance(result, Tensor) else result
    missing = unseen_gradients(node, args, results)
    if missing is not None:
        what, gradient = missing
        warnings.warn(MISSING_GRADIENTS.format(what=what, gradient=gradient), FutureWarning, stacklevel=4)


def unseen_gradients(node: Node, args: tuple, results: object) -> tuple[str, str] | None:
    """Which gradients of the module a hook on `node` does not see, and why; None if it sees all of them."""
    modules = "non-full backward hooks on a Module that does not "
    if not (isinstance(results, tuple) and all(isinstance(r, Tensor) for r in results)):
        return modules + "return a single Tensor or a tuple of Tensors", "of the grad_output"
    if not all(isinstance(a, Tensor) for a in args):
        return modules + "take as input a single Tensor or a tuple of Tensors", "of the grad_input"
    if len({r.grad_fn for r in results if r.grad_fn is not None}) > 1:
        return (
            "a non-full backward hook when outputs are generated by different autograd Nodes",
            "grad_output",
        )
    if {a.grad_fn for a in args if a.grad_fn is not None} != {n for n, _ in node.next_functions}:
        return "a non-full backward hook when the forward contains multiple autograd Nodes", "grad_input"
    return None
