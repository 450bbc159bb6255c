"""Writes, for each operation, its node's `vjp`: from the gradient of the result those of the inputs.

In a plain backward pass gradients are arrays. For that case the function is written out for each operation, with the
text of its rules in it (see rules.py). For everything else it hands over to a general one: a recorded pass, where the
rules work on Tensors; saved values that were freed; inputs of several dtypes. To read what was written for an operation:
`print(minigrad.ops.vjps.source_of_vjp(minigrad.exp.op, {}))`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..autograd import node as nodes
from ..autograd.node import Node
from ..autograd.saved import FIELD, unpack
from ..tensor import Tensor, wrap
from .calls import written_later
from .dispatch import Promoted
from .rules import gives_several, parameters_of, written_in
from .sums import columns_added, sum_to

if TYPE_CHECKING:
    from .table import Op

ndarray = np.ndarray


def make_vjp(op: Op) -> Callable:
    """The node's `vjp(grad, recorded)`: read what was saved, run the rules of the inputs that need a gradient."""
    checked = op.frees
    if op.variadic:
        rule, _, picks = op.plan[0]

        def vjp(node, grad, recorded):
            values = unpack(node, recorded) if checked else node._kept
            parts = rule(grad, *[values[p] for p in picks])
            if node._meta is None:
                return tuple([None if e is None else r for r, e in zip(parts, node._edges, strict=True)])
            return tuple(
                None if e is None else fit(r, *m)
                for r, e, m in zip(parts, node._edges, node._meta, strict=True)
            )

        return vjp

    if not op.plan:
        return Node._vjp  # it is never recorded

    def general(node, grad, recorded):
        meta = node._meta
        values = unpack(node, recorded) if checked else node._kept
        if type(meta) is Promoted and not recorded:
            values = integers_as(grad.dtype, op, values)
            if values is None:
                return on_tensors(node, grad, general)
        out = [None] * len(node._edges)
        for rule, numbers, picks in op.plan:
            mask = tuple([node._edges[n] is not None for n in numbers])
            if not any(mask):
                continue
            read = [values[p] for p in picks]
            gradients = rule(grad, mask, *read) if gives_several(rule) else (rule(grad, *read),)
            for n, gradient in zip(numbers, gradients, strict=True):
                out[n] = gradient
        if recorded and op.flat:
            out = op.with_flat(out, values)
        if meta is not None:
            out = [None if r is None else fit(r, *m) for r, m in zip(out, meta, strict=True)]
        return tuple(out)

    scope = {"__name__": __name__, "fit": fit, "general": general, "Promoted": Promoted, "unpack": unpack}
    return written_later("vjp", "node, grad, recorded", scope, lambda: source_of_vjp(op, scope))


def source_of_vjp(op: Op, scope: dict) -> str:
    """The text of `vjp` for the usual case, a plain backward: unpack arrays and run the rules in one function.

    What the rules need is put into `scope`, the globals of that function.
    """
    count = len(op.rules)
    lines = ["def vjp(node, grad, recorded):", "    meta = node._meta"]
    if op.saves:
        lines += ["    saved = node._kept"]
    unusual = ["recorded or saved is None"] if op.frees else []
    if op.kind == "elementwise" and count > 1:
        unusual += ["type(meta) is Promoted"]
    if unusual:
        lines += [f"    if {' or '.join(unusual)}:", "        return general(node, grad, recorded)"]
    if op.saves:
        lines += [f"    {''.join(f's{i}, ' for i in range(len(op.saves)))}= saved"]
    if op.saved_inputs or op.saved_results:
        lines += ["    version = 0"]
        for i in op.saved_inputs:
            lines += [f"    if s{i} is not None:", f"        if s{i}._counter is not None:"]
            lines += [
                f"            version += s{i}._counter.version << {FIELD * i}",
                f"        s{i} = s{i}._array",
            ]
        if op.saved_results:
            field = FIELD * op.saved_results[0]
            lines += [
                "    if node._counter is not None:",
                f"        version += node._counter.version << {field}",
            ]
        values = "".join(f"s{i}, " for i in range(len(op.saves)))
        lines += ["    if version != node._version:", f"        {values}= unpack(node, False)"]
    lines += [f"    {''.join(f'e{i}, ' for i in range(count))}= node._edges"]
    for i, (rule, numbers, picks) in enumerate(op.plan):
        read = [f"s{p}" for p in picks]
        if gives_several(rule):
            scope[f"rules{i}"] = rule
            several = "".join(f"r{n}, " for n in numbers)
            mask = "".join(f"e{n} is not None, " for n in numbers)
            lines += [f"    {several} = rules{i}({', '.join(['grad', f'({mask})', *read])})"]
            continue
        (n,) = numbers
        values = dict(zip(parameters_of(rule), ["grad", *read], strict=True))
        alike = set()  # what is certainly an array of the gradient's dtype: not where Tensors come here, too
        if op.frees and op.node_class._output_count == 1:
            alike = {next(iter(values)), *op.outputs[:1], *(op.rules if op.kind == "elementwise" else ())}
        result = written_in(rule, values, alike, f"e{n}" if op.matrices else "", scope)
        lines += [f"    r{n} = None if e{n} is None else {result}"]
    lines += ["    if meta is not None:"]
    for i in range(count):
        lines += [f"        m = meta[{i}]"]
        lines += [f"        if r{i} is not None and (r{i}.shape != m[0] or r{i}.dtype is not m[1]):"]
        lines += [f"            r{i} = fit(r{i}, *m)"]
    return "\n".join([*lines, f"    return ({''.join(f'r{i}, ' for i in range(count))})"])


def integers_as(dtype: np.dtype, op: Op, values: Sequence) -> list | None:
    """The saved values, int64 inputs cast to `dtype`; None if there are inputs of a third dtype.

    Smaller integers overflow in PyTorch's rules, so they are not cast.
    """
    values = list(values)
    for i in op.saved_inputs:
        array = values[i]
        if array is not None and array.dtype != dtype and op.sources[i][1] in op.differentiable:
            if array.dtype != np.int64:
                return None
            values[i] = array.astype(dtype)
    return values


def on_tensors(node: Node, grad: ndarray, vjp: Callable) -> tuple:
    """Run the rules of a plain backward on tensors: mixed dtypes are promoted as PyTorch does, NumPy does it otherwise."""
    with nodes.no_recording():
        return tuple(None if t is None else t._array for t in vjp(node, wrap(grad), True))


def fit(grad, shape: tuple, dtype: np.dtype):
    """Undo broadcasting and promotion: sum `grad` to `shape` and cast it to `dtype`."""
    if type(grad) is ndarray:
        given = grad.shape
        if given != shape:
            bias = len(given) == 2 and shape == given[1:]
            grad = columns_added(grad) if bias else sum_to(grad, shape)
        return grad if grad.dtype is dtype or grad.dtype == dtype else grad.astype(dtype)
    if not isinstance(grad, Tensor):  # a single number, or nothing
        return None if grad is None else fit(np.asarray(grad), shape, dtype)
    if grad._array.shape != shape:
        grad = grad.sum_to_size(shape)
    return grad if grad._array.dtype == dtype else grad.to(dtypes.of_numpy(dtype))
