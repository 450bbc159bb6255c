"""Function: operations whose backward the user writes.

The node of such an operation is its own `ctx`: what `forward` puts there, `backward` finds there, and both can be seen
from outside through `grad_fn`. Both of PyTorch's forms work: `forward(ctx, *args)`, and `forward(*args)` together with
`setup_context(ctx, inputs, output)`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from .. import messages
from ..basics import check
from ..func.interpreter import Wrapper, results_of
from ..missing import module_attributes
from ..ops.inplace import bump_version, check_writable, record_write
from ..ops.operands import fit
from ..tensor import Tensor, wrap
from .grad_mode import no_grad, remember_traceback, set_grad_enabled
from .hooks import of_outputs
from .modes import anomaly, local
from .node import RELEASED, Node, gradient_node, new_node, next_sequence
from .saved import SavedTensor, alias_without_history
from .views import make_view

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
__dir__, __getattr__ = module_attributes(__name__, __all__)


class FunctionCtx(Node):
    """The node of a custom operation, and the `ctx` that its forward and backward are given. Users may set any attribute on it,
    so its own names begin with an underscore, or are PyTorch's, or are those that every node has."""

    _forward_cls: type[Function]
    _runs_undefined = True
    _frees = True
    rules: ClassVar[dict[str, str]] = {}
    reads_forward = False  # whether `jvp` is running: it reads what was saved for it
    to_save: tuple[Tensor | None, ...] = ()
    saved_for_forward: tuple[Tensor | None, ...] | None = None
    dirty_tensors: tuple[Tensor, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()
    materialize_grads = True
    __slots__ = ("__dict__",)

    def __init__(self, args: tuple, recording: bool = False):
        tensors = [a for a in args if isinstance(a, Tensor)]
        self._next_nodes = tuple(gradient_node(t) for t in tensors) if recording else ()
        self._output_nrs = tuple(t._output_nr for t in tensors)
        self.needs_input_grad = tuple(isinstance(a, Tensor) and a._requires_grad for a in args)
        self._hooks = self._result_counter = self._versions = None
        self._context = ()  # the saved tensors
        self._inputs, self._outputs = metadata_of(args), ()

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for `backward`, which finds them in `ctx.saved_tensors`. Only tensors or None."""
        for i, t in enumerate(tensors):
            saveable = t is None or isinstance(t, Tensor)
            check(saveable, messages.NOT_SAVEABLE, i, type(t), error=TypeError)
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs `forward` has changed in place."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no gradient, such as indices."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """With False, `backward` gets None, not zeros, for outputs that no gradient reached."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The saved tensors. Raises if they were freed, or written to after they were saved."""
        if self.reads_forward and (self.saved_for_forward or self.to_save):
            return self.saved_for_forward or self.to_save
        check(self._versions is not RELEASED, messages.FREED)
        return tuple([kept and kept.unpack(self) for kept in self._context])

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        """Call the user's `backward`, and check what it returns."""
        grads = of_outputs(self, grad)
        if self.materialize_grads:
            pairs = zip(grads, self._outputs, strict=True)
            grads = [wrap(np.zeros(*like)) if g is None and like is not None else g for g, like in pairs]
        with set_grad_enabled(bool(recorded) and local.grad):
            results = self._forward_cls.gradients()(self, *grads)
        results = self._checked(results_of(results))
        return results if recorded else tuple(g if g is None else g._array for g in results)

    def _checked(self, results: tuple) -> tuple[Tensor | None, ...]:
        """The gradients of the tensors among the arguments of `apply`. Their shapes must fit the tensors."""
        name, expected, out = self.name(), len(self._inputs), []
        while len(results) > expected and results[-1] is None:
            results = results[:-1]  # extra Nones are accepted
        check(len(results) == expected, messages.GRADIENT_COUNT, name, expected, len(results))
        for place, (g, metadata) in enumerate(zip(results, self._inputs, strict=True), 1):
            check(metadata is not None or g is None, messages.GRADIENT_OF_NO_TENSOR, name, place)
            check(g is None or isinstance(g, Tensor), "expected Variable or None (got {})", type(g).__name__)
            if metadata is not None:
                try:
                    out.append(g if g is None or self._next_nodes[len(out)] is None else fit(g, metadata))
                except RuntimeError:
                    shapes = list(g._array.shape), list(metadata[0])
                    raise RuntimeError(messages.GRADIENT_SHAPE.format(name, len(out), *shapes)) from None
        return tuple(out)


def metadata_of(values: tuple) -> tuple[tuple | None, ...]:
    """The shape and dtype of each tensor, None for anything else."""
    return tuple((v._array.shape, v._array.dtype) if isinstance(v, Tensor) else None for v in values)


def missing(what: str) -> staticmethod:
    """Placeholder for a method that a Function must define only if it is called."""

    def method(*args: object, **kwargs: object) -> object:
        raise NotImplementedError(f"You must implement {what}")

    return staticmethod(method)


class Function:
    """Base class of custom operations: override the static methods `forward` and `backward`, call with `.apply(...)`.

    forward(ctx, *args) computes the result, with recording off. A Function may define setup_context(ctx, inputs, output)
    to save in `ctx` what backward needs; its forward is then forward(*args).
    backward(ctx, *grad_outputs) returns one gradient for each argument of forward, None for those that need none.
    vjp is another name for backward. jvp(ctx, *tangents) is the forward-mode derivative.
    vmap(info, in_dims, *args) returns (output, out_dims) for a whole batch, using operations and other Functions.
    """

    node_class: type[FunctionCtx]
    old_form: bool  # whether `forward` gets the `ctx`
    forward = missing("the forward function for custom autograd.Function.")
    setup_context = missing("the setup_context function to use it.")
    jvp = missing("the jvp function for custom autograd.Function to use it with forward mode AD.")
    backward = vjp = missing(
        "either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
    )
    vmap = missing("the vmap staticmethod to use it with torch.vmap.")
    generate_vmap_rule = False

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.node_class = type(cls.__name__ + "Backward", (FunctionCtx,), {"_forward_cls": cls})
        cls.old_form = cls.setup_context is Function.setup_context

    @classmethod
    def gradients(cls) -> Callable:
        """`backward` or `vjp`, whichever is defined."""
        both = cls.backward is not Function.backward and cls.vjp is not Function.vjp
        check(not both, messages.BOTH_BACKWARDS)
        return cls.backward if cls.vjp is Function.vjp else cls.vjp

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> object:
        """Run the operation and record it. Keyword arguments are put into the order of `forward`."""
        if kwargs or not cls.old_form:
            bound = signature(cls.forward).bind(*[None] * cls.old_form, *args, **kwargs)
            if not cls.old_form:
                bound.apply_defaults()
            args = bound.args[cls.old_form :]
        if local.interpreter is not None:
            return local.interpreter.process_function(cls, args)
        if local.transform_depth:
            refuse_old_form(cls)
        return run_forward(cls, args)[0]


signature = functools.lru_cache(maxsize=256)(inspect.signature)
Function.__init_subclass__.__func__(Function)  # so that Function.apply reports that there is no forward


def refuse_old_form(cls: type[Function]) -> None:
    """Raise PyTorch's error for a Function without `setup_context`, which transforms cannot use."""
    check(not cls.old_form, messages.OLD_FUNCTION)


def run_forward(cls: type[Function], args: tuple, known: tuple = ()) -> tuple[object, FunctionCtx | None]:
    """Call `forward` without recording, then attach the node to its outputs. Returns the result and the node. known: holds
    the result if a transform has computed it already, recorded at the levels below."""
    tensors = [a for a in args if isinstance(a, Tensor)]
    recording = local.records and any(t._requires_grad for t in tensors)
    if known and not recording:
        return known[0], None
    ctx = cls.node_class(args, recording)
    with no_grad():
        if cls.old_form:
            result = cls.forward(ctx, *args)
        else:
            (result,) = known or (cls.forward(*args),)
            cls.setup_context(ctx, args, result)
    outputs = results_of(result)
    for dirty in ctx.dirty_tensors:
        bump_version(dirty)
        check(id(dirty) in map(id, outputs), messages.DIRTY)
    ctx._sequence = next_sequence()
    floating = [isinstance(out, Tensor) and out.is_floating_point() for out in outputs]
    constant = [not recording or id(out) in map(id, ctx.non_differentiable) for out in outputs]
    recorded = [f and not c for f, c in zip(floating, constant, strict=True)]
    outputs = tuple(finish_output(ctx, out, i, tensors, recorded) for i, out in enumerate(outputs))
    ctx._outputs, ctx._output_count = metadata_of(outputs), len(outputs)
    ctx.dirty_tensors = ctx.non_differentiable = ()  # they may be outputs, which hold the node
    if recording:
        hooks = local.saved_hooks[-1] if local.saved_hooks else None
        ctx._context = tuple([t if t is None else SavedTensor(t, hooks, ctx) for t in ctx.to_save])
        ctx.to_save = ()
        if anomaly.on:
            remember_traceback(ctx)
    return outputs if isinstance(result, tuple) else outputs[0], ctx


def finish_output(ctx: FunctionCtx, out: object, number: int, inputs: list, recorded: list[bool]) -> object:
    """One output as the caller gets it, with its history. `recorded` says for each output whether it has one."""
    if not isinstance(out, Tensor):
        return out
    is_input, is_dirty = id(out) in map(id, inputs), id(out) in map(id, ctx.dirty_tensors)
    if recorded[number] and is_dirty:
        return written_output(ctx, out, number, len(recorded))
    if is_input and (recorded[number] or not (out._requires_grad or is_dirty)):
        # returned unchanged: make a new tensor that is known to be a view of it
        out, source = alias_without_history(out), out
        if not isinstance(source, Wrapper):  # transforms do that themselves
            make_view(out, source)
    elif is_input and out._requires_grad:
        out = out.detach()
    elif out._requires_grad and out._base is None and not isinstance(out, Wrapper):
        out.detach_()  # anything recorded inside is ignored
    unusual = isinstance(out, Wrapper) or out.is_inference()
    if out._base is not None and not (is_input and is_dirty) and not unusual:
        out._meta.creation_meta = "multi_output" if sum(recorded) > 1 else "custom"
    if recorded[number]:
        out._requires_grad, out._grad_fn, out._output_nr = True, ctx, number
        if out._base is not None:
            out._meta.seen_version = out._own_counter().version
    return out


def written_output(ctx: FunctionCtx, out: Tensor, number: int, count: int) -> Tensor:
    """An input that `forward` has written to: the node becomes its history."""
    check(not out._requires_grad or out._grad_fn is not None, messages.DIRTY_LEAF)
    if out._meta is not None:
        out._meta.grad = None  # it belonged to the old value
    if out._base is not None:
        check_writable(out)
        check(count == 1, messages.DIRTY_VIEW, ctx.name())
    record_write(out, ctx)
    out._output_nr = number if out._base is None else 0
    return out


class Error(Node):
    """A node that only raises an error; it is behind the results of functions that can be differentiated only once."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::Error"

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        raise RuntimeError(messages.ONLY_ONCE)


def once_differentiable(fn: Callable) -> Callable:
    """Decorator for a `backward` whose own operations must not be differentiated (because it uses NumPy, say)."""

    def refusing(t: Tensor) -> Tensor:
        out = wrap(t._array, requires_grad=True)
        out._grad_fn = new_node(Error, (gradient_node(wrap(t._array, requires_grad=True)),), None)
        return out

    @functools.wraps(fn)
    def wrapper(ctx: FunctionCtx, *grads: Tensor | None) -> object:
        with no_grad():
            results = fn(ctx, *grads)
        if local.grad and any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            results = tuple([t if t is None else refusing(t) for t in results_of(results)])
        return results

    return wrapper
