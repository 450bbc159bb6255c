"""The forward derivative of an operation, from what the rule table knows of it.

    elementwise    the rules of the backward pass with the tangent in the place of `grad`: both multiply by the same
                   diagonal Jacobian
    linear         the operation itself, on the tangent (on all tangents at once, if it is jointly linear, as one on a
                   sequence of tensors is)
    otherwise      the operation's own `jvp`, or the transpose of its backward rules: vᵀJ is linear in v, and its
                   derivative with respect to v, applied to the tangent t, is J t

`op.tangents` is to forward mode what a node's `vjp` is to the backward pass. Imports `minigrad.autograd` and the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add

from ..autograd.backward import grad, zeros_like
from ..autograd.grad_mode import enable_grad, local
from ..tensor import Tensor
from .table import Op

Tangents = Sequence[Tensor | None]


def tangents(
    op: Op, inputs: Sequence[Tensor], moves: Tangents, results: tuple[Tensor, ...], params: tuple
) -> Tangents:
    """J t of an operation that has just been done: for each result its tangent, None for one that has none.

    moves: the tangents of the inputs, None for constants.
    """
    if op.jvp is not None:
        found = op.jvp(tuple(inputs), tuple(moves), results, params)
    elif op.variadic:
        found = op.call(
            [zeros_like(x) if t is None else t for x, t in zip(inputs, moves, strict=True)], *params
        )
    elif all(moves[i] is None for i in op.differentiable):
        return (None,) * len(results)
    elif op.kind == "elementwise" and len(results) == 1:
        found = elementwise(op, inputs, moves, results[0], params)
    elif op.kind == "jointly linear":
        fixed = set(range(len(inputs))) - set(op.differentiable)
        pairs = enumerate(zip(inputs, moves, strict=True))
        found = op.call(
            *[x if i in fixed else zeros_like(x) if t is None else t for i, (x, t) in pairs], *params
        )
    elif op.kind == "linear":
        found = linear(op, inputs, moves, params)
    else:
        found = transposed(op, inputs, moves, results, params)
    return found if isinstance(found, tuple) else (found,)


def backward_rules(
    op: Op, inputs: Sequence[Tensor], moves: Tangents, results: Sequence[Tensor], params: tuple
) -> Iterator[tuple[Callable, Tensor]]:
    """For each input that moves: its rule, as a function of `grad` alone, and its tangent."""
    for i, rule in zip(op.differentiable, op.rules.values(), strict=True):
        if moves[i] is not None:
            sources = map(op.source_of, op.wanted[op.inputs[i]])
            read = [op.value_from(source, inputs, results, params) for source in sources]
            yield (lambda grad, rule=rule, read=read: rule(grad, *read)), moves[i]


def elementwise(
    op: Op, inputs: Sequence[Tensor], moves: Tangents, result: Tensor, params: tuple
) -> Tensor | None:
    total = reduce(add, [rule(t) for rule, t in backward_rules(op, inputs, moves, (result,), params)])
    if total._array.shape != result._array.shape:
        total = total.expand(result._array.shape)
    return total if total._array.dtype == result._array.dtype else total.to(result.dtype)


def linear(op: Op, inputs: Sequence[Tensor], moves: Tangents, params: tuple) -> Tangents:
    parts = [
        op.call(*inputs[:i], moves[i], *inputs[i + 1 :], *params)
        for i in op.differentiable
        if moves[i] is not None
    ]
    parts = [part if isinstance(part, tuple) else (part,) for part in parts]
    return tuple(reduce(add, column) for column in zip(*parts, strict=True))


def transposed(
    op: Op, inputs: Sequence[Tensor], moves: Tangents, results: Sequence[Tensor], params: tuple
) -> Tangents:
    """J t as the derivative of uᵀJ t with respect to u."""
    recording = local.grad
    with enable_grad():
        count = len(results) - len(op.constants)
        us = [variable(r) if r._array.dtype.kind == "f" else None for r in results[:count]]
        cotangent = us if count > 1 else us[0]
        found = [(rule(cotangent), t) for rule, t in backward_rules(op, inputs, moves, results, params)]
        parts = [(g * t).sum() for g, t in found if g is not None]
        total = reduce(add, parts) if parts else None
        wanted = [u for u in us if u is not None]
        if total is None or not total._requires_grad:
            found = iter([None] * len(wanted))
        else:
            found = iter(grad(total, wanted, create_graph=recording, allow_unused=True))
    moved = [None if u is None else next(found) for u in us]
    moved = [
        zeros_like(u.detach()) if t is None and u is not None else t for t, u in zip(moved, us, strict=True)
    ]
    return (*moved, *(None for _ in op.constants))


def variable(like: Tensor) -> Tensor:
    """Zeros that require grad, at the level that is active: an outer transform must see what becomes of them."""
    level = local.interpreter
    out = zeros_like(like) if level is None else level.lift(zeros_like(like))
    out._requires_grad = True
    return out


Op.tangents = tangents
