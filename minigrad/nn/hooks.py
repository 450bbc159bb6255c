"""Hooks of modules: around forward, and where the gradients of a module's inputs and outputs come by.

For the backward hooks an identity operation is put before and behind the module's forward. Its nodes in the graph are
where all gradients of the outputs, or of the inputs, are together.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence

from ..autograd.function import Function
from ..autograd.modes import local
from ..autograd.node import RemovableHandle
from ..tensor import Tensor


class BackwardHookFunction(Function):
    """The identity, with one node for all its arguments."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return grads


def through_node(values: tuple, hook: Callable) -> tuple[tuple, list[int] | None]:
    """The values, the tensors among them behind one node with `hook`, and the places of these; None if there is no node."""
    at = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
    if not (local.grad and any(values[i].requires_grad for i in at)):
        return values, None
    tensors, replaced = BackwardHookFunction.apply(*(values[i] for i in at)), list(values)
    next(t.grad_fn for t in tensors if t.grad_fn is not None).register_hook(hook)
    for i, t in zip(at, tensors, strict=True):
        replaced[i] = t
    return type(values)(*replaced) if hasattr(values, "_fields") else tuple(replaced), at


def at_places(grads: Sequence, at: list[int], count: int) -> tuple:
    """The gradients at the places of their tensors, None for everything else."""
    found = dict(zip(at, grads, strict=True))
    return tuple(found.get(i) for i in range(count))


class ModuleBackwardHooks:
    """Runs a module's backward hooks. It keeps no tensor: it belongs to nodes, and the graph must not hold itself."""

    def __init__(self, module: Hooked, hooks: Sequence[Callable]):
        self.module, self.hooks = module, tuple(hooks)
        self.pre_hooks = tuple(module._backward_pre_hooks.values())
        self.grad_outputs = None

    def wrap_inputs(self, args: tuple) -> tuple:
        """The arguments as the module's forward is to get them."""
        self.input_count = len(args)
        args, self.inputs_at = through_node(args, self.at_inputs)
        return args

    def wrap_outputs(self, result: object) -> object:
        """The results as the caller is to get them."""
        if not isinstance(result, (tuple, Tensor)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}",
                stacklevel=4,
            )
        values = result if isinstance(result, tuple) else (result,)
        self.output_count = len(values)
        values, self.outputs_at = through_node(values, self.at_outputs)
        return values if isinstance(result, tuple) else values[0]

    def at_outputs(self, grad_inputs: tuple, grad_outputs: tuple) -> tuple:
        grads = at_places(grad_outputs, self.outputs_at, self.output_count)
        for hook in self.pre_hooks:
            grads = replacement(hook(self.module, grads), grads, "pre hook", "grad_output")
        if self.inputs_at is not None:
            self.grad_outputs = grads
        else:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
                "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
                "#torch.nn.Module.register_full_backward_hook for more details.",
                stacklevel=2,
            )
            for hook in self.hooks:
                given = hook(self.module, (None,) * self.input_count, grads)
                if given is not None and not (isinstance(given, tuple) and all(g is None for g in given)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for "
                        "all gradients."
                    )
        return tuple(grads[i] for i in self.outputs_at)

    def at_inputs(self, grad_inputs: tuple, grad_outputs: tuple) -> tuple | None:
        if self.grad_outputs is None:
            return None  # a gradient came to the input on another way than through the module
        result = at_places(grad_inputs, self.inputs_at, self.input_count)
        for hook in self.hooks:
            result = replacement(hook(self.module, result, self.grad_outputs), result, "hook", "grad_input")
        self.grad_outputs = None
        return tuple(result[i] for i in self.inputs_at)


def replacement(given: object, current: tuple, kind: str, what: str) -> tuple:
    """What a hook returned in the place of the current gradients; these if it returned None."""
    if given is not None and len(given) != len(current):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, got {len(given)}, but expected {len(current)}"
        )
    return current if given is None else given


def hook_last_node(module: Hooked, args: tuple, result: object) -> None:
    """What `register_backward_hook` does: hooks on the node of the first tensor in `result`, which see that node's gradients.

    Warns if the module has more nodes.
    """
    node = (result[0] if isinstance(result, tuple) else result).grad_fn
    if node is None:
        return
    for hook in module._backward_hooks.values():
        node.register_hook(lambda inputs, outputs, hook=hook: hook(module, inputs, outputs))
    if {a.grad_fn for a in args if isinstance(a, Tensor) and a.grad_fn is not None} != {
        n for n, _ in node.next_functions
    }:
        warnings.warn(
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated and will be "
            "removed in future versions. This hook will be missing some grad_input. Please use "
            "register_full_backward_hook to get the documented behavior.",
            FutureWarning,
            stacklevel=4,
        )


class Hooked:
    """The part of Module that is called: `forward`, and the hooks around it."""

    _hooked: bool  # has there ever been a hook?

    def __init__(self):
        state = self.__dict__
        state["_hooked"], state["_is_full_backward_hook"] = False, None
        state["_hooks_with_kwargs"] = OrderedDict()
        for when in ("forward_pre", "forward", "backward_pre", "backward"):
            state[f"_{when}_hooks"] = OrderedDict()

    def __call__(self, *args, **kwargs):
        if self._hooked:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> object:
        """forward pre-hooks, forward, forward hooks; around them what backward hooks need."""
        for key, hook in list(self._forward_pre_hooks.items()):
            whole = key in self._hooks_with_kwargs
            given = hook(self, args, kwargs) if whole else hook(self, args)
            if given is None:
                continue
            if not whole:
                given = given if isinstance(given, tuple) else (given,), kwargs
            elif not isinstance(given, tuple) or len(given) != 2:
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {given}."
                )
            args, kwargs = given
        backward, full = None, self._is_full_backward_hook is not False
        if self._backward_pre_hooks or (full and self._backward_hooks):
            backward = ModuleBackwardHooks(self, self._backward_hooks.values() if full else ())
            args = backward.wrap_inputs(args)
        result = self.forward(*args, **kwargs)
        for key, hook in list(self._forward_hooks.items()):
            whole = key in self._hooks_with_kwargs
            given = hook(self, args, kwargs, result) if whole else hook(self, args, result)
            result = result if given is None else given
        if backward is not None:
            result = backward.wrap_outputs(result)
        if not full and self._backward_hooks:
            hook_last_node(self, args, result)
        return result

    def register_forward_pre_hook(self, hook: Callable, *, with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns replaces the arguments.

        with_kwargs: call `hook(module, args, kwargs)`, which returns both or None.
        """
        return self._add_hook(self._forward_pre_hooks, hook, with_kwargs)

    def register_forward_hook(self, hook: Callable, *, with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns replaces the output.

        with_kwargs: call `hook(module, args, kwargs, output)`.
        """
        return self._add_hook(self._forward_hooks, hook, with_kwargs)

    def register_full_backward_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the gradients of the outputs are there; it may return new ones."""
        return self._add_hook(self._backward_pre_hooks, hook)

    def register_full_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs are there.

        Both are tuples with None for what is no tensor or has no gradient. What the hook returns replaces grad_input.
        If no input requires grad it is called with grad_input of None as soon as grad_output is there, with a warning.
        """
        return self._add_backward_hook(hook, True)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Old PyTorch's: `hook(module, grad_input, grad_output)` at the last node of forward, whose inputs it sees.

        Where forward makes several nodes these are not the module's inputs; use register_full_backward_hook.
        """
        return self._add_backward_hook(hook, False)

    def _add_backward_hook(self, hook: Callable, full: bool) -> RemovableHandle:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of "
                "them."
            )
        self.__dict__["_is_full_backward_hook"] = full
        return self._add_hook(self._backward_hooks, hook)

    def _add_hook(self, hooks: OrderedDict, hook: Callable, with_kwargs: bool = False) -> RemovableHandle:
        handle = RemovableHandle(hooks, self._hooks_with_kwargs)
        hooks[handle.id] = hook
        self.__dict__["_hooked"] = True
        if with_kwargs:
            self._hooks_with_kwargs[handle.id] = True
        return handle
