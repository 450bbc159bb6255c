"""Function: operations whose backward the user writes.

The node of such an operation is its own `ctx`: what `forward` puts there, `backward` finds there, and both can be seen
from outside through `grad_fn`. Both of PyTorch's forms work: `forward(ctx, *args)`, and `forward(*args)` together with
`setup_context(ctx, inputs, output)`.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..tensor import AutogradMeta, Counter, InferenceTensor, Tensor, full_name, wrap
from .anomaly_mode import remember_traceback
from .grad_mode import anomaly, local
from .hooks import as_tensor
from .interpreter import Wrapper
from .node import Node, edge, next_sequence, no_recording
from .saved import FREED, INFERENCE, Packed, SavedTensor, modified_error, version_of


def check_writable(t: Tensor) -> None:
    """Raise PyTorch's error if `t` must not be written to. Set by ops/history.py."""
    raise NotImplementedError


def counted(t: Tensor) -> Counter:
    """Note that `t` was written to in place. Set by ops/history.py."""
    raise NotImplementedError


def hang(t: Tensor, node: Node) -> None:
    """Make `node` the history of what was written into `t`. Set by ops/history.py."""
    raise NotImplementedError


def twin(t: Tensor) -> Tensor:
    """A tensor on the same memory without history (at its level, inside a transform)."""
    out = t.face() if isinstance(t, Wrapper) else wrap(t._array)
    out._counter = t._own_counter()
    return out


class Kept:
    """A tensor that a custom operation saves, and the version that it had. Of the operation's own output it keeps a twin: a
    node must not hold what holds the node."""

    __slots__ = ("output_nr", "tensor", "version")

    def __init__(self, t: Tensor, keeper: FunctionCtx):
        self.output_nr = t._output_nr if t._grad_fn is keeper else None
        self.tensor, self.version = t if self.output_nr is None else twin(t), version_of(t)

    def restored(self, keeper: FunctionCtx) -> Tensor:
        """The tensor, at its place in the graph."""
        if self.output_nr is None:
            return self.tensor
        out = twin(self.tensor)
        out._requires_grad, out._grad_fn, out._output_nr = True, keeper, self.output_nr
        return out

    def unpack(self, keeper: FunctionCtx) -> Tensor:
        """The tensor. Raises if it was written to since."""
        t, now = self.restored(keeper), version_of(self.tensor)
        if now != self.version:
            raise modified_error(t._array, t.grad_fn, self.output_nr or 0, now, self.version)
        return t


class FunctionCtx(Node):
    """The node of a custom operation, and the `ctx` that its forward and backward are given.

    Users give it attributes of any name, so what it keeps for itself has names with an underscore, or those that PyTorch
    uses, or that every node has.
    """

    _forward_cls: type[Function]
    _runs_undefined = True
    _frees = True
    rules: ClassVar[dict[str, str]] = {}
    reads_forward = False  # is `jvp` running, which finds what was saved for it?
    to_save: tuple[Tensor | None, ...] = ()
    saved_for_forward: tuple[Tensor | None, ...] | None = None
    dirty_tensors: tuple[Tensor, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()
    materialize_grads = True
    __slots__ = ("__dict__",)

    def __init__(self, args: tuple, recording: bool = False):
        tensors = [a for a in args if isinstance(a, Tensor)]
        self._edges = tuple(edge(t) for t in tensors) if recording else ()
        self._input_nrs = tuple(t._output_nr for t in tensors)
        self.needs_input_grad = tuple(isinstance(a, Tensor) and a._requires_grad for a in args)
        self._hooks = self._counter = None
        self._kept = ()  # of each saved tensor what Kept or saved_tensors_hooks made of it
        self._inputs, self._outputs = looks(args), ()

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    @property
    def _output_count(self) -> int:
        """How many results the operation had."""
        return len(self._outputs)

    # ------------------------------------------------------------ for forward and setup_context

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for `backward`, which finds them in `ctx.saved_tensors`. Only tensors or None."""
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {full_name(type(t))}"
                )
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`."""
        if not all(t is None or isinstance(t, Tensor) for t in tensors):
            raise AssertionError(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
            )
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs `forward` has changed in place."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no gradient, such as indices."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """With False, `backward` gets None, not zeros, for outputs to which no gradient came."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got "
                f"({full_name(type(value))}), but expected (bool)"
            )
        self.materialize_grads = value

    def _keep(self) -> None:
        """Keep what is to be saved, or what the innermost saved_tensors_hooks makes of it."""
        kept = []
        for t in self.to_save:
            if t is not None and t.is_inference():
                raise RuntimeError(INFERENCE)
            if t is not None:
                t = Packed(t, local.saved_hooks[-1], self) if local.saved_hooks else Kept(t, self)
            kept.append(t)
        self._kept, self.to_save = tuple(kept), ()

    # ------------------------------------------------------------ for backward

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What was saved. Raises if it was freed, or written to in place since."""
        if self.reads_forward and (self.saved_for_forward or self.to_save):
            return self.saved_for_forward or self.to_save
        if self._kept is None:
            raise RuntimeError(FREED)
        return tuple([kept if kept is None else kept.unpack(self) for kept in self._kept])

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """What was saved, each as something on which hooks can be put."""
        if self._kept is None:
            raise RuntimeError(FREED)
        return tuple([SavedTensor(self, i) for i in range(len(self._kept))])

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The old name of `saved_tensors`."""
        return self.saved_tensors

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        """Call the user's `backward`, and check what it returns."""
        cls = self._forward_cls
        rules = [rule for rule in (cls.backward, cls.vjp) if rule is not Function.backward]
        if len(rules) == 2:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one "
                "of them."
            )
        grads = [as_tensor(g) for g in (grad if type(grad) is list else [grad] * self._output_count)]
        if self.materialize_grads:
            pairs = zip(grads, self._outputs, strict=True)
            grads = [wrap(np.zeros(*look)) if g is None and look is not None else g for g, look in pairs]
        with no_recording(recorded):
            results = (*rules, Function.backward)[0](self, *grads)
        results = self._checked(results if isinstance(results, tuple) else (results,))
        return results if recorded else tuple(g if g is None else g._array for g in results)

    def _checked(self, results: tuple) -> tuple[Tensor | None, ...]:
        """The gradients of the tensors among the arguments of `apply`, which must be of shapes that fit them."""
        name, expected = self.name(), len(self._inputs)
        while len(results) > expected and results[-1] is None:
            results = results[:-1]  # more Nones than arguments are forgiven
        if len(results) != expected:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {expected}, got {len(results)})"
            )
        out = []
        for position, (g, look) in enumerate(zip(results, self._inputs, strict=True)):
            if look is None:
                if g is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position {position + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            if g is not None and not isinstance(g, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
            out.append(g if g is None or self._edges[len(out)] is None else self._fitted(g, len(out), *look))
        return tuple(out)

    def _fitted(self, g: Tensor, index: int, shape: tuple, dtype: np.dtype) -> Tensor:
        """A gradient in its input's shape and dtype: a larger one is summed, a wrong one refused."""
        if g._array.shape != shape:
            try:
                g = g.sum_to_size(shape)
            except RuntimeError:
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {index} - got "
                    f"{list(g._array.shape)} but expected shape compatible with {list(shape)}"
                ) from None
        return g if g._array.dtype == dtype else g.type_as(wrap(np.empty(0, dtype)))


def looks(values: tuple) -> tuple[tuple | None, ...]:
    """The shape and dtype of each tensor, None for anything else."""
    return tuple((v._array.shape, v._array.dtype) if isinstance(v, Tensor) else None for v in values)


class Function:
    """Base class of custom operations: override the static methods `forward` and `backward`, call with `.apply(...)`.

    forward(ctx, *args) computes the result; with `setup_context(ctx, inputs, output)` it is forward(*args).
    backward(ctx, *grad_outputs) returns one gradient for each argument of forward, None for those that need none.
    jvp(ctx, *tangents) is the forward-mode derivative; vmap(info, in_dims, *args) the batched form.
    """

    generate_vmap_rule = False
    node_class: type[FunctionCtx]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.node_class = type(cls.__name__ + "Backward", (FunctionCtx,), {"_forward_cls": cls})

    def __call__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
            "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: object, **kwargs: object) -> object:
        """Compute the result. Recording is off inside."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple, output: object) -> None:
        """Save in `ctx` what backward needs; `forward` then gets no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Tensor) -> object:
        """From the gradients with respect to the outputs, those with respect to the inputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward "
            "mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: FunctionCtx, *grad_inputs: Tensor | None) -> object:
        """From the tangents of the inputs, those of the outputs."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: object, in_dims: tuple, *args: object) -> tuple:
        """Compute on batched arguments; returns (output, out_dims)."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> object:
        """Run the operation and record it. Arguments by name are put into the order of `forward`."""
        new_form = cls.setup_context is not Function.setup_context
        if kwargs or (new_form and len(args) != len(signature(cls.forward).parameters)):
            args = in_order(cls, args, kwargs, new_form)
        if local.interpreter is not None:
            return local.interpreter.process_function(cls, args)
        if local.transform_depth:
            refuse_old_form(cls)
        return run_forward(cls, args)[0]


signature = functools.lru_cache(maxsize=256)(inspect.signature)


def in_order(cls: type[Function], args: tuple, kwargs: dict[str, object], new_form: bool) -> tuple:
    """The arguments of `forward` by position; its defaults, too, in the new form and before the last one given."""
    ctx = () if new_form else (None,)
    try:
        bound = signature(cls.forward).bind(*ctx, *args, **kwargs)
    except TypeError as error:
        raise TypeError(str(error) if new_form else f"forward() {error}") from None
    if bound.kwargs and not new_form:  # arguments that can only be given by name have no gradient's place
        raise TypeError(f"forward() got an unexpected keyword argument '{next(iter(bound.kwargs))}'")
    if new_form:
        bound.apply_defaults()
    return bound.args[len(ctx) :]


def refuse_old_form(cls: type[Function]) -> None:
    """Raise PyTorch's error for a Function without `setup_context`, which transforms cannot use."""
    if cls.setup_context is Function.setup_context:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
            "the setup_context staticmethod. For more details, please see "
            "https://pytorch.org/docs/main/notes/extending.func.html"
        )


VIEW_AMONG_SEVERAL = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one "
    "Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using "
    ".clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one "
    "doing the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the "
    "forum https://discuss.pytorch.org/ if you need help to do this change."
)


def context(cls: type[Function], args: tuple, output: object) -> FunctionCtx:
    """A `ctx` for `jvp`, which finds in it what was saved for forward mode, or else for backward."""
    ctx = cls.node_class(args)
    with no_recording():
        cls.setup_context(ctx, args, output)
    return ctx


def run_forward(
    cls: type[Function], args: tuple, compute: Callable | None = None
) -> tuple[object, FunctionCtx | None]:
    """Call `forward` without recording, then hang the node on its outputs. Returns the result and the node.

    compute: what gives the result in the place of `forward`, inside a transform; it records at the levels below.
    """
    tensors = [a for a in args if isinstance(a, Tensor)]
    recording = local.grad and any(t._requires_grad for t in tensors)
    result = None if compute is None else compute()
    if compute is not None and not recording:
        return result, None
    ctx = cls.node_class(args, recording)
    with no_recording():
        if cls.setup_context is Function.setup_context:
            result = cls.forward(ctx, *args)
        else:
            if compute is None:
                result = cls.forward(*args)
            cls.setup_context(ctx, args, result)
    outputs = result if isinstance(result, tuple) else (result,)
    check_marks(ctx, tensors, outputs)
    ctx._sequence = next_sequence()
    recorded = [recording and is_differentiable(ctx, out) for out in outputs]
    outputs = tuple(finish_output(ctx, out, i, tensors, recorded) for i, out in enumerate(outputs))
    ctx._outputs = looks(outputs)
    ctx.dirty_tensors = ctx.non_differentiable = ()  # they may be outputs, which hold the node
    if recording:
        ctx._keep()
        if anomaly.on:
            remember_traceback(ctx)
    return outputs if isinstance(result, tuple) else outputs[0], ctx


def check_marks(ctx: FunctionCtx, inputs: list[Tensor], outputs: tuple) -> None:
    """What was changed in place must be among the inputs (else a warning) and the outputs (else an error)."""
    for t in ctx.dirty_tensors:
        if not isinstance(t, Tensor):
            raise RuntimeError(
                f"mark_dirty can only accept variables, but argument is of type {full_name(type(t))}"
            )
    for t in ctx.non_differentiable:
        if not isinstance(t, Tensor):
            raise RuntimeError(
                f"mark_non_differentiable only accepts variable arguments, but got {full_name(type(t))}"
            )
    for d in ctx.dirty_tensors:
        counted(d)
        if not any(d is t for t in inputs):
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should "
                "be passed to ctx.mark_dirty().",
                UserWarning,
                stacklevel=4,
            )
    for d in ctx.dirty_tensors:
        if not any(d is o for o in outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
                "modified inplace must all be outputs of the Function."
            )


def is_differentiable(ctx: FunctionCtx, out: object) -> bool:
    """Is this output one that a gradient comes from?"""
    return (
        isinstance(out, Tensor)
        and out._array.dtype.kind == "f"
        and not any(out is t for t in ctx.non_differentiable)
    )


def finish_output(
    ctx: FunctionCtx, out: object, number: int, inputs: list[Tensor], recorded: list[bool]
) -> object:
    """One output as the caller gets it, with its history. `recorded` tells of each output whether it has one."""
    if not isinstance(out, Tensor):
        return out
    is_input, is_dirty = any(out is t for t in inputs), any(out is t for t in ctx.dirty_tensors)
    if recorded[number] and is_dirty:
        if out._requires_grad and out._grad_fn is None:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if out._meta is not None:
            out._meta.grad = None  # it was that of the old value
        if out._base is not None:
            check_writable(out)
        if out._base is not None and len(recorded) > 1:
            raise RuntimeError(VIEW_AMONG_SEVERAL)
        hang(out, ctx)
        out._output_nr = number if out._base is None else 0
        return out
    if is_input and (recorded[number] or not (out._requires_grad or is_dirty)):
        out = view_of_itself(out)  # returned as it came
    elif is_input and out._requires_grad:
        out = out.detach()
    elif out._requires_grad and out._base is None and not isinstance(out, Wrapper):
        out.detach_()  # what was recorded inside does not count
    unusual = isinstance(out, Wrapper) or out.is_inference()
    if out._base is not None and not (is_input and is_dirty) and not unusual:
        out._meta.made_in = "multi_output" if sum(recorded) > 1 else "custom"
    if recorded[number]:
        out._requires_grad, out._grad_fn, out._output_nr = True, ctx, number
        if out._base is not None:
            out._meta.seen_version = out._own_counter().version
    return out


def view_of_itself(t: Tensor) -> Tensor:
    """A new tensor that shows the same memory, known to be a view (not inside transforms, which see to that themselves)."""
    out = twin(t)
    if t.is_inference():
        out.__class__ = InferenceTensor
    if not isinstance(t, Wrapper):
        out._meta = meta = AutogradMeta()
        meta.base, meta.seen_version = t if t._base is None else t._base, out._counter.version
        if not meta.base._requires_grad:
            out._counter.add_view(out)
    return out


Function.__init_subclass__.__func__(Function)  # so that Function.apply says that there is no forward


class Error(Node):
    """A node that only complains: behind the results of functions that can be differentiated once."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::Error"

    def _vjp(self, grad, recorded: bool) -> tuple:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


def once_differentiable(fn: Callable) -> Callable:
    """Decorator for a `backward` whose own operations must not be differentiated (because it uses NumPy, say)."""

    @functools.wraps(fn)
    def wrapper(ctx: FunctionCtx, *grads: Tensor | None) -> object:
        with no_recording():
            results = fn(ctx, *grads)
        if not local.grad or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return results
        return tuple(map(refusing, results)) if isinstance(results, tuple) else refusing(results)

    return wrapper


def refusing(t: Tensor | None) -> Tensor | None:
    """`t` with a history that refuses to be differentiated."""
    if t is None:
        return None
    node, out = Error(), wrap(t._array, requires_grad=True)
    node._edges, node._input_nrs, node._kept = (edge(wrap(t._array, requires_grad=True)),), None, ()
    node._sequence, node._hooks = next_sequence(), None
    out._grad_fn = node
    return out


__all__ = ["Function", "FunctionCtx", "once_differentiable"]
__dir__ = __all__.copy  # what completion offers
