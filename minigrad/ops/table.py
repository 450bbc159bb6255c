"""op(): one declaration makes an operation: its function, method, operators, in-place form, TypeErrors, help() and node.

    mul = op("mul(self, other)", np.multiply, kind="elementwise", operators="mul rmul imul", doc="`input * other`.",
             self=lambda grad, other: grad * other,
             other=lambda grad, self: grad * self)

The signature is the only place where names, defaults and kinds of arguments are written. A parameter without an annotation is a
Tensor; signature.py lists the kinds of the others. A rule is the vector-Jacobian product of one input: from `grad`, the
gradient with respect to the result, it gives the gradient with respect to that input. **Its parameter names are what the
node saves**: an input, the `result` (or an output's name), a parameter, or `self_sym_sizes`, the shape of input `self`.
They can be read from the node as `_saved_other`, `_saved_result`, ... as in PyTorch; a name with a leading underscore is
for the rule alone.

A rule is written once, in operators and operations that work on arrays and on Tensors alike: a plain backward pass calls
it with arrays, `create_graph`, forward mode and vmap with Tensors. An operation that is called with arrays computes, and
returns an array. Where the gradients of several inputs share work, one rule gives them all: it is listed under each of their
names, has a parameter `grad_input_mask`, and returns a gradient for each, None where the mask says False.

`kind` says what transforms may assume:
    "elementwise"  inputs are broadcast; each element of the result depends on one element of each input
    "linear"       linear in each differentiable input: its forward derivative is the operation itself
    "jointly linear"  linear in all of them together: joining tensors is, a product is not
    None           neither
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from .. import dtypes
from ..tensor import Tensor, wrap
from .apply import function_of, node_class_of, vjp_of
from .general import dispatch
from .inplace import in_place_function_of, write
from .op import CallForm, Op
from .publish import METHODS, add_form, described, publish
from .signature import declared

OPS: list[Op] = []  # every operation: all of the library's calculus


def public(op: Op, name: str, method: bool = True, in_place: bool = False) -> Callable:
    """A function that users call, under this name; in_place: it writes the result into its tensor, as `add_` does."""
    signature, doc = op.signature if method else op.signature.as_function(), op.doc
    make, run = (in_place_function_of, write) if in_place else (function_of, dispatch)
    call = make(op, CallForm(name, method, run, signature))
    if in_place:
        doc = f"In place: {doc}\n\nWritten into this tensor, which keeps its shape and dtype and is returned."
    call.op = op
    return described(call, name, doc, signature, method)


def op(
    signature: str,
    forward: Callable,
    /,  # `self` may be an input's name
    *,
    at: str = "torch Tensor",
    aliases: str = "",
    operators: str = "",
    inplace: bool | None = None,
    **options_and_rules: object,
) -> Callable:
    """Declare an operation: see the head of this file, and `Op` for the options.

    at: where users find it: torch, Tensor, F, linalg; "" for nowhere. aliases: other names there. operators: the dunder methods
    that it is. inplace: whether there is an in-place method; elementwise ones with rules have one. Returns this declaration's
    function, whose `.op` is the Op. Several declarations of the same name become one public function.
    """
    parsed = declared(signature)
    rules = {n: r for n, r in options_and_rules.items() if n in parsed.kinds}
    operation = Op(parsed, forward, rules, {n: v for n, v in options_and_rules.items() if n not in rules})
    if operation.takes:
        operation.forward = only_for(operation.takes, operation.kernel, forward)
    OPS.append(operation)
    if rules:
        operation.node_class = node_class_of(operation)
        if operation.zero_slope:
            operation.node_class._vjp = with_zero_slopes(operation, operation.node_class._vjp)
    elementwise = operation.kind == "elementwise"
    message = "Shapes are broadcast, dtypes promoted. " * (elementwise and len(operation.inputs) > 1)
    message += "Integers become floating point. " * operation.floating
    message += f"Recorded as {operation.node_class.__name__}." if rules else "The result never requires grad."
    operation.doc = f"{operation.doc}\n\n{message}".strip()
    call = public(operation, operation.name, method=False)
    call.as_method = functools.partial(public, operation, operation.name)
    publish(call, operation.name, at, aliases)
    if not at:
        operation.as_result = tuple  # the names of several results are not public
    if inplace is None:
        inplace = elementwise and operation.single and bool(operation.rules)
    for name in (operation.name, *aliases.split()) if inplace and "Tensor" in at.split() else ():
        add_form(METHODS, name + "_", public(operation, name + "_", in_place=True))
    for name in operators.split():
        in_place = name[0] == "i" and name != "invert"
        add_form(METHODS, f"__{name}__", public(operation, f"__{name}__", in_place=in_place))
    return call


def only_for(kinds: str, kernel: str, forward: Callable) -> Callable:
    """A forward function that raises PyTorch's error if its first array is not of one of these kinds of dtypes."""

    def checked(first: np.ndarray, *args: object) -> object:
        dtypes.require(kinds, kernel, first.dtype)
        return forward(first, *args)

    return checked


# ---------------------------------------------------------------- slopes of 0

constant_in = op("constant_in(grad, other)", lambda grad, other: grad, at="", batch="apart", grad=lambda grad: grad,
    other=lambda grad, other_sym_sizes: zeros_beside(grad, other_sym_sizes),
    jvp=lambda inputs, moves, results, params: moves[0])  # fmt: skip


def with_zero_slopes(op: Op, vjp: Callable) -> Callable:
    """A `_vjp` whose gradients, in a recorded pass, are also (constant) functions of the `zero_slope` tensors."""
    zero_slope = [op.saves.index(n) for n in op.zero_slope]
    count = [len(p) + op.shared for _, p in op.readers]
    rules = [
        lambda grad, *values, rule=rule, n=n: as_constant(rule(grad, *values[:n]), values[n:])
        for (rule, _), n in zip(op.readers, count, strict=True)
    ]
    op.readers = [(rule, [*p, *zero_slope]) for rule, (_, p) in zip(rules, op.readers, strict=True)]
    recorded_vjp = vjp_of(op)
    return lambda node, grad, recorded: (recorded_vjp if recorded else vjp)(node, grad, recorded)


def as_constant(grads: object, others: Sequence) -> object:
    """A gradient, or several, as a function of other tensors, on which it does not depend."""
    for other in others:
        if isinstance(other, Tensor) and other.requires_grad:
            if isinstance(grads, tuple):
                grads = tuple([None if grad is None else constant_in(grad, other) for grad in grads])
            else:
                grads = constant_in(grads, other)
    return grads


# ---------------------------------------------------------------- what rules are made of


def is_array(x: object) -> bool:
    """Whether a rule was called in a plain backward pass, on arrays."""
    return not isinstance(x, Tensor)


def zeros_beside(x: object, shape: tuple) -> object:
    """Zeros of a shape: an array, or a Tensor if `x` is one."""
    return np.zeros(shape, x.dtype) if is_array(x) else wrap(np.zeros(shape, x._array.dtype))


def rule_of(op: Op, position: int, inputs: tuple, results: tuple, params: tuple) -> Callable:
    """The rule of one input, by its position, as a function of the gradient alone, as forward mode calls it."""
    name, sources = op.inputs[position], {"input": inputs, "result": results, "param": params}
    sharing, read = op.sharing(name), {}
    for n in {*op.reads[name], *op.zero_slope}:
        source, i = op.sources[op.saves.index(n)]
        read[n] = sources[source][i] if source in sources else getattr(inputs[i]._array, source)
    values, zero_slope = [read[n] for n in op.reads[name]], [read[n] for n in op.zero_slope]
    if not sharing:
        return lambda grad: as_constant(op.rules[name](grad, *values), zero_slope)
    mask = tuple([n == name for n in sharing])
    return lambda grad: as_constant(op.rules[name](grad, mask, *values)[mask.index(True)], zero_slope)
