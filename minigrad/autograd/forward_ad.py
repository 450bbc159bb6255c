"""Forward-mode differentiation: dual numbers. Each has a value and its derivative along one direction, its tangent.

An operation on duals computes its value, and its tangent from those of the inputs:

    elementwise    the rules of the backward pass with the tangent instead of `grad`: both multiply by the same
                   diagonal Jacobian
    linear         the operation itself, on the tangent (on all tangents at once, if it is jointly linear)
    otherwise      the operation's own `jvp`, or the transpose of its backward rules: uᵀJ is linear in u, and its
                   derivative with respect to u, applied to the tangent t, is J t
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

from .. import messages
from ..basics import check
from ..func.interpreter import Interpreter, Wrapper, at, each, results_of
from ..missing import guard, module_attributes
from ..ops.general import dispatch
from ..ops.op import Op
from ..ops.table import rule_of
from ..tensor import Tensor, plain_types
from .function import Function, refuse_old_form, run_forward
from .grad_mode import enable_grad, no_grad
from .modes import local
from .node import gradient_node
from .passes import grad_of_any, zeros_of
from .views import places

__all__ = ["UnpackedDualTensor", "dual_level", "make_dual", "unpack_dual"]
__dir__, __getattr__ = module_attributes(__name__, __all__)
Tangents = Sequence[Tensor | None]  # None for a constant

# ---------------------------------------------------------------- tangents


def tangents(op: Op, inputs: tuple, given: Tangents, results: tuple, params: tuple) -> Tangents:
    """J t of an operation that has just run: the tangents of its results, from those of its inputs (`given`)."""
    moving = [i for i, t in enumerate(given) if t is not None and (op.variadic or i in op.differentiable)]
    if op.jvp is not None:
        return results_of(op.jvp(inputs, given, results, params))
    if not moving:
        return (None,) * len(results)
    moved, constant = len(results) - len(op.constants), (None,) * len(op.constants)
    if op.variadic or op.kind == "jointly linear":
        full = list(inputs)
        for i in range(len(inputs)) if op.variadic else op.differentiable:
            full[i] = zeros_of(inputs[i]) if given[i] is None else given[i]
        return results_of(dispatch(op, full, params))
    if op.kind == "linear":
        parts = [results_of(dispatch(op, [*inputs[:i], given[i], *inputs[i + 1 :]], params)) for i in moving]
        return tuple([reduce(add, column) for column in zip(*parts, strict=True)][:moved]) + constant
    rules = [(rule_of(op, i, inputs, results, params), given[i]) for i in moving]
    if op.kind == "elementwise":
        total, like = reduce(add, [rule(t) for rule, t in rules]), results[0]._array
        if total is rules[0][1]:
            total = total.clone()  # a result must not share its input's tangent
        total = total if total._array.shape == like.shape else total.expand(like.shape)
        return (total if total._array.dtype == like.dtype else total.to(results[0].dtype),)
    return transposed(rules, results[:moved]) + constant


def transposed(rules: list[tuple], results: tuple) -> Tangents:
    """J t as the derivative of uᵀJ t with respect to u. rules: pairs (a rule as a function of u, its input's tangent)."""
    recording, level = local.grad, local.interpreter
    with enable_grad():
        # so that transforms see what happens to them
        us = [zeros_of(r) if level is None else level.lift(zeros_of(r)) for r in results]
        for u in us:
            u._requires_grad = True
        result = [(rule(us if len(us) > 1 else us[0]), t) for rule, t in rules]
        total = reduce(add, [(g * t).sum() for g, t in result if g is not None], zeros_of(us[0].sum()))
        moved = grad_of_any([total], us, [None], create_graph=recording)
    return tuple(zeros_of(u) if t is None else t for t, u in zip(moved, us, strict=True))


# ---------------------------------------------------------------- dual numbers


class Dual(Wrapper):
    """A value and its derivative, the `tangent`, at one level of forward mode."""

    __slots__ = ()

    @property
    def tangent(self) -> Tensor | None:
        """The derivative, None for a constant. A view's is looked up in its base if the base was written to."""
        base = self._base
        if base is not None and self.seen != self._counter.version:
            moved, below = base.tangent, self.level.below
            self.extra = None if moved is None else at(below, moved._take_places, places(self))
            self.seen = self._counter.version
        return self.extra

    def detach(self) -> Dual:
        out = super().detach()
        out.extra = None  # a constant, in forward mode too
        return out

    def detach_(self) -> Dual:
        super().detach_()
        self.extra = None
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        return Tensor.requires_grad_(self, requires_grad) if self.level.user else super().requires_grad_()

    def _outside(self) -> Tensor:
        return self.value._outside()

    def __repr__(self) -> str:
        if self.tangent is None or not self.level.active:
            return repr(self.value)
        if type(self.value) not in plain_types:
            return f"{repr(self.value)[:-1]}, tangent={self.tangent.detach()})"
        shown = self.tangent if type(self.tangent) in plain_types else repr(self.tangent)
        return (self if self._requires_grad else self.value)._text(f"tangent={shown}")


Dual.__name__ = Dual.__qualname__ = "Tensor"


class Forward(Interpreter):
    """The interpreter of forward mode. Tensors that are made inside can take a tangent; those from outside cannot."""

    wrapper = Dual

    def created(self, t: Tensor, like: Tensor | None) -> Tensor:
        out = super().created(t, like)
        return out if out._requires_grad else self.lift(out)

    def unwrap(self, t: object) -> tuple[object, Tensor | None]:
        return (t.value, t.tangent) if self.owns(t) else (t, None)

    def tangent_of(self, t: Tensor) -> Tensor:
        """The tangent, zeros for a constant."""
        value, tangent = self.unwrap(t)
        return zeros_of(value) if tangent is None else tangent

    def dual(self, primal: Tensor, tangent: Tensor | None) -> Dual:
        """A dual tensor of this level. Raises PyTorch's errors for a value and a tangent that do not match."""
        (value, known), (tangent, _) = self.unwrap(primal), self.unwrap(tangent)
        check(known is None, messages.DUAL_OF_DUAL)
        if tangent is None:
            return Dual.of(self, value)
        for name, t in (("primal", value), ("tangent", tangent)):
            check(t.is_floating_point(), messages.DUAL_DTYPE, name, t.dtype, error=ValueError)
        sizes = value._array.shape, tangent._array.shape
        check(sizes[0] == sizes[1], messages.DUAL_SIZE, *sizes)
        return Dual.of(self, value, tangent.to(value.dtype))

    def compute(self, op: Op, values: tuple, extras: tuple, params: tuple) -> tuple[object, Tangents | None]:
        params = params and self.lower(params)  # indices have no tangent, but they may be of this level
        result = dispatch(op, values, params)
        if all(t is None for t in extras):
            return result, None
        return result, tangents(op, values, extras, results_of(result), params)

    def admit(self, op: Op, target: Tensor, values: list) -> None:
        moving = any(self.unwrap(v)[1] is not None for v in values)
        check(self.owns(target) or not moving, messages.NO_TANGENT, op.name)

    def store(self, target: Dual, new: Tensor) -> None:
        (value, tangent), old, base = self.unwrap(new), target.tangent, target._base
        target.value.copy_(value)
        if tangent is not None:
            tangent = tangent.to(target.dtype).expand(target.shape)
        if base is None:
            target.extra = tangent
        elif tangent is not None or old is not None:
            whole = zeros_of(base) if base.tangent is None else base.tangent
            base.extra = whole._put_places(zeros_of(target) if tangent is None else tangent, places(target))

    def process_function(self, cls: type[Function], args: tuple) -> object:
        if not self.user:
            refuse_old_form(cls)
        result = at(self.below, self.function_value, cls, args)
        return each(result, self.tracked) if cls.old_form else run_forward(cls, args, (result,))[0]

    def function_value(self, cls: type[Function], args: tuple) -> object:
        """The value and the tangent of a Function's result, without history at this level, computed by the level below."""
        values, given = zip(*map(self.unwrap, args), strict=True)
        if cls.old_form:
            result, ctx = run_forward(cls, values)
        else:
            result, ctx = cls.apply(*values), cls.node_class(values)
            with no_grad():
                cls.setup_context(ctx, values, result)  # for `jvp`, which reads the saved values there
        results = (None,) * len(results_of(result))
        if any(t is not None for t in given):
            if ctx.materialize_grads:
                floating = [isinstance(v, Tensor) and v.is_floating_point() for v in values]
                given = [self.tangent_of(a) if f else None for a, f in zip(args, floating, strict=True)]
            ctx.reads_forward = True
            results = results_of(cls.jvp(ctx, *given))
            ctx.reads_forward = False
        pairs = zip(results_of(result), results, strict=True)
        outs = tuple(self.dual(r, t) if isinstance(r, Tensor) else r for r, t in pairs)
        return outs if isinstance(result, tuple) else outs[0]


# ---------------------------------------------------------------- what users call


class UnpackedDualTensor(NamedTuple):
    """The value and the tangent of a dual tensor; the tangent is None if there is none."""

    primal: Tensor
    tangent: Tensor | None


class dual_level(Forward):
    """Forward mode is on inside `with dual_level():`, where `make_dual` and `unpack_dual` work.

    One level at a time: nest `minigrad.func.jvp` for derivatives of derivatives.
    """

    user = True

    def __enter__(self) -> int:
        check(current_level() is None, messages.NO_NESTED_LEVELS)
        super().__enter__()
        return 0

    def tracked(self, t: Tensor | None) -> Tensor | None:
        """`t` with its history, if it has one, continued at this level, so that gradients have tangents too."""
        known = not isinstance(t, Tensor) or (t._requires_grad and self.owns(t))
        if known or not self.unwrap(t)[0]._requires_grad:
            return t
        t = self.lift(t)
        t._requires_grad, t._grad_fn, t._output_nr = True, gradient_node(t.value), t.value._output_nr
        return t

    def process(self, op: Op, inputs: Sequence[Tensor | None], params: tuple) -> Tensor | tuple[Tensor, ...]:
        if local.records and (not op.view or self.owns(inputs[0])):
            inputs = [self.tracked(t) for t in inputs]
        return super().process(op, inputs, params)


def current_level() -> dual_level | None:
    """The dual level that is active in this thread."""
    level = local.interpreter
    while level is not None and not level.user:
        level = level.below
    return level


def make_dual(tensor: Tensor, tangent: Tensor) -> Tensor:
    """A dual tensor with this value and this tangent, which must have the same shape.

    Raises RuntimeError outside of `dual_level`, for different shapes, and if the value is already a dual tensor; ValueError
    for integers.
    """
    level = current_level()
    check(level is not None, messages.NO_LEVEL)
    return level.tracked(level.dual(tensor.view_as(tensor), tangent))


def unpack_dual(tensor: Tensor) -> UnpackedDualTensor:
    """The value and the tangent of a dual tensor; (tensor, None) for any other."""
    level = current_level()
    return UnpackedDualTensor(*((tensor, None) if level is None else level.unwrap(tensor)))


guard(__name__, "autograd.forward_ad")
