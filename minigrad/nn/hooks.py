"""Hooks of modules: around forward, and on the gradients of a module's inputs and outputs.

For the backward hooks, an identity operation is put before and after the module's forward. All gradients of the outputs, or of
the inputs, meet at one of its nodes.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence

from ..autograd.function import Function
from ..autograd.modes import local
from ..autograd.node import RemovableHandle
from ..basics import check
from ..tensor import Tensor
from . import messages


class BackwardHookFunction(Function):
    """The identity, with one node for all its arguments."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return grads


def through_node(values: tuple, hook: Callable, which: int) -> tuple[tuple, bool]:
    """Pass the tensors among `values` through one node. Returns them, and whether there is a node: only if a gradient flows.

    hook: receives a gradient for each of the values, None for anything but tensors, and returns as many, or None. It sees the
    gradients that leave the node (which=0) or arrive at it (1).
    """
    at, count = [i for i, v in enumerate(values) if isinstance(v, Tensor)], len(values)
    if not (local.grad and any(values[i].requires_grad for i in at)):
        return values, False
    tensors, replaced = BackwardHookFunction.apply(*(values[i] for i in at)), list(values)

    def at_node(*grads: tuple) -> tuple | None:
        given = dict(zip(at, grads[which], strict=True))
        result = hook(tuple(map(given.get, range(count))))
        return result if result is None else tuple(result[i] for i in at)

    next(t.grad_fn for t in tensors if t.grad_fn is not None).register_hook(at_node)
    for i, t in zip(at, tensors, strict=True):
        replaced[i] = t
    return type(values)(*replaced) if hasattr(values, "_fields") else tuple(replaced), True


class ModuleBackwardHooks:
    """Runs a module's backward hooks. It holds no tensor of the graph: nodes refer to it, so that would make a cycle."""

    def __init__(self, module: Hooked, hooks: Sequence[Callable]):
        self.module, self.hooks = module, tuple(hooks)
        self.pre_hooks = tuple(module._backward_pre_hooks.values())
        self.grad_outputs = None

    def wrap_inputs(self, args: tuple) -> tuple:
        """The arguments as the module's forward should get them."""
        self.no_grads = (None,) * len(args)
        args, self.inputs_too = through_node(args, self.at_inputs, 0)
        return args

    def wrap_outputs(self, result: object) -> object:
        """The results as the caller should get them."""
        if not isinstance(result, (tuple, Tensor)):
            warnings.warn(messages.NOT_TUPLE.format(type(result)), stacklevel=4)
        values, _ = through_node(result if isinstance(result, tuple) else (result,), self.at_outputs, 1)
        return values if isinstance(result, tuple) else values[0]

    def at_outputs(self, grads: tuple) -> tuple:
        for hook in self.pre_hooks:
            grads = replacement(hook(self.module, grads), grads, "pre hook", "grad_output")
        if self.inputs_too:
            self.grad_outputs = grads
            return grads
        warnings.warn(messages.NO_INPUT_GRADS, stacklevel=2)
        for hook in self.hooks:
            given = hook(self.module, self.no_grads, grads)
            silent = given is None or (isinstance(given, tuple) and all(g is None for g in given))
            check(silent, messages.MUST_BE_SILENT)
        return grads

    def at_inputs(self, grads: tuple) -> tuple | None:
        if self.grad_outputs is None:
            return None  # a gradient reached the input by a path that bypasses the module
        for hook in self.hooks:
            grads = replacement(hook(self.module, grads, self.grad_outputs), grads, "hook", "grad_input")
        self.grad_outputs = None
        return grads


def replacement(given: object, current: tuple, kind: str, what: str) -> tuple:
    """The gradients that a hook returned; the current ones if it returned None."""
    given = current if given is None else given
    check(len(given) == len(current), messages.MODULE_HOOK_COUNT, kind, what, len(given), len(current))
    return given


class Hooked:
    """The part of Module that is called: `forward`, and the hooks around it."""

    _hooked: bool  # whether there has ever been a hook

    def __init__(self):
        state = self.__dict__
        state["_hooked"] = False
        for when in ("forward_pre", "forward", "backward_pre", "backward"):
            state[f"_{when}_hooks"] = OrderedDict()

    def __call__(self, *args, **kwargs):
        if self._hooked:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple, kwargs: dict) -> object:
        """forward pre-hooks, forward, forward hooks; around them, the nodes for backward hooks."""
        for hook, whole in tuple(self._forward_pre_hooks.values()):
            given = hook(self, args, kwargs) if whole else hook(self, args)
            if given is None:
                continue
            if not whole:
                given = given if isinstance(given, tuple) else (given,), kwargs
            if not isinstance(given, tuple) or len(given) != 2:
                raise RuntimeError(messages.PRE_HOOK.format(given))
            args, kwargs = given
        backward = None
        if self._backward_pre_hooks or self._backward_hooks:
            backward = ModuleBackwardHooks(self, self._backward_hooks.values())
            args = backward.wrap_inputs(args)
        result = self.forward(*args, **kwargs)
        for hook, whole in tuple(self._forward_hooks.values()):
            given = hook(self, args, kwargs, result) if whole else hook(self, args, result)
            result = result if given is None else given
        if backward is not None:
            result = backward.wrap_outputs(result)
        return result

    def register_forward_pre_hook(self, hook: Callable, *, with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns replaces the arguments.

        with_kwargs: call `hook(module, args, kwargs)`, which returns both or None.
        """
        return self._add_hook(self._forward_pre_hooks, (hook, with_kwargs))

    def register_forward_hook(self, hook: Callable, *, with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns replaces the output.

        with_kwargs: call `hook(module, args, kwargs, output)`.
        """
        return self._add_hook(self._forward_hooks, (hook, with_kwargs))

    def register_full_backward_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the gradients of the outputs have arrived; it may return new ones."""
        return self._add_hook(self._backward_pre_hooks, hook)

    def register_full_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs have been computed.

        Both are tuples, with None for a value without a gradient. What the hook returns replaces grad_input.
        If no input requires grad, the hook runs, with a warning, when grad_output arrives; grad_input then holds only None.
        """
        return self._add_hook(self._backward_hooks, hook)

    def _add_hook(self, hooks: OrderedDict, entry: Callable | tuple[Callable, bool]) -> RemovableHandle:
        """entry: the hook; for forward hooks, a pair of the hook and whether it also gets keyword arguments."""
        self.__dict__["_hooked"] = True
        return RemovableHandle(hooks, entry)
