"""How an operation runs: compute, wrap, attach a node; and how that node runs backward.

`x * y` runs `call` in `call_two`: it takes the arrays, computes, wraps the result and, if an input requires
grad, makes a node that saves what the operation's rules read. When the backward pass reaches the node, `vjp`
in `vjp_of_two` reads what was saved and calls the rules. Operations on one and on two tensors, which are the
most frequent, are written out by hand; general.py has the rest, and everything unusual.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from .. import dtypes
from ..autograd.modes import is_plain, local, special
from ..autograd.node import Node, gradient_node, new_node
from ..autograd.saved import open_saved, read, versions_of
from ..autograd.views import make_view
from ..tensor import Tensor, plain_types, wrap
from .general import call_any, call_many, form_of_types, metadata, write_out
from .op import CallForm, Op, chooser
from .operands import fit, operand, promoted, translated
from .signature import REQUIRED

ndarray = np.ndarray

# ---------------------------------------------------------------- forward


def function_of(op: Op, form: CallForm) -> Callable:
    """The function that users call."""
    if op.variadic or op.casts or not op.single:
        return call_many(op, form)
    if len(op.inputs) == 1 and op.inputs_first:
        return call_one(op, form)
    both = len(op.inputs) == 2 and len(op.rules) != 1 and op.signature.rest == (REQUIRED, REQUIRED)
    return call_two(op, form) if both and bool(op.promotes) == op.broadcasts else call_many(op, form)


def call_one(op: Op, form: CallForm) -> Callable:
    """An operation on one tensor: `x.exp()`, `x.sum(1)`."""
    forward, node_class, select_saved = op.forward, op.node_class, op.select_saved
    floating, is_view, broadcasts = op.floating, op.view, op.broadcasts
    saves_sizes, saves_input = op.saves_sizes, bool(op.saved_inputs)
    placed, prepare, needs_preparing = form.signature.placed, op.prepare, op.needs_preparing
    most = form.signature.most - 1  # how many parameters may be given by position
    listed = form.signature.many and not most  # `x.view(2, 3)`: all of them are one parameter

    def call(self=REQUIRED, /, *args, **kwargs):
        if type(self) not in plain_types or (special and not is_plain()):
            if type(self) is ndarray and len(args) <= most and not kwargs:  # inside a rule
                return forward(self, *prepare(args, self))
            return call_any(op, form, (self, *args), kwargs)
        x = self._array
        try:
            if floating and x.dtype.kind != "f":
                x = x.astype(dtypes.default_float())
            if listed and args and not kwargs:
                values = (args,)
            else:
                values = placed((self, *args), kwargs)[1:] if kwargs or len(args) > most else args
            params = prepare(values, x) if needs_preparing else values
            y = forward(x, *params)  # compute
        except TypeError:  # perhaps an argument does not fit
            return call_any(op, form, (self, *args), kwargs)
        except Exception as error:
            raise translated(error, op, (x,), (form, (self, *args), kwargs)) from None
        out = wrap(y)  # wrap
        if is_view:
            make_view(out, self)
        if node_class is not None and self._requires_grad and (not special or local.modes.grad):
            next_nodes, output_nrs = (gradient_node(self),), (self._output_nr,) if self._output_nr else None
            # the values that rules may read; None for those left out
            readable = (None, self, out._array, x.shape, x.size) if saves_sizes else (None, self, out._array)
            saved = select_saved((*readable, *params) if params else readable)
            node = new_node(node_class, next_nodes, output_nrs, saved)  # attach a node
            if saves_input and self._counter is not None:
                node._versions = versions_of(node)
            if broadcasts:
                node._grad_metadata = metadata(op, (self,), out)
            out._requires_grad, out._grad_fn = True, node
        return out

    return call


def call_two(op: Op, form: CallForm) -> Callable:
    """An operation on two tensors, or on a tensor and a number: `x * y`, `x * 2`, `x @ y`."""
    forward, node_class, select_all = op.forward, op.node_class, op.select_saved
    promotes, floating, numbers, broadcasts = op.promotes, op.floating, op.numbers, op.broadcasts
    saves, saves_sizes, saves_inputs = bool(op.saves), op.saves_sizes, bool(op.saved_inputs)
    select_for_self, select_for_other = op.select_saved_for((True, False)), op.select_saved_for((False, True))

    def call(self=REQUIRED, other=REQUIRED, /, *args, **kwargs):
        if type(self) not in plain_types or args or kwargs or (special and not is_plain()):
            return call_any(op, form, (self, other, *args), kwargs)
        if type(other) not in plain_types:
            if not numbers or (type(other) is not float and type(other) is not int):
                return call_any(op, form, (self, other), kwargs)
            other = operand(other, self, floating)
        x, y = self._array, other._array
        mixed = (promotes and x.dtype is not y.dtype) or (floating and x.dtype.kind != "f")
        try:
            if mixed:
                x, y = promoted(op, (x, y))
            z = forward(x, y)  # compute
        except Exception as error:
            raise translated(error, op, (x, y), (form, (self, other), {})) from None
        out = wrap(z)  # wrap
        if (self._requires_grad or other._requires_grad) and node_class and (not special or local.modes.grad):
            node_self, node_other = gradient_node(self), gradient_node(other)
            output_nrs = (self._output_nr, other._output_nr) if self._output_nr or other._output_nr else None
            saved = ()
            if saves:
                select = select_for_self if not node_other else select_all if node_self else select_for_other
                readable = (None, self, other, out._array)
                saved = select((*readable, x.shape, y.shape, x.size, y.size) if saves_sizes else readable)
            node = new_node(node_class, (node_self, node_other), output_nrs, saved)  # attach a node
            if saves_inputs and (self._counter is not None or other._counter is not None):
                node._versions = versions_of(node)
            if broadcasts and (mixed or x.shape != y.shape):
                x, y = self._array, other._array  # the inputs before promotion
                node._grad_metadata = (x.shape, x.dtype), (y.shape, y.dtype)
            out._requires_grad, out._grad_fn = True, node
        return out

    return call


def call_forms(name: str, forms: Sequence[Callable], method: bool) -> Callable:
    """Several declarations of one name: the first that takes the arguments runs, as in `sum(x)`, `sum(x, 1)`.
    The choice is cached by the types of the arguments, where the types determine it."""
    chosen: dict[object, Callable] = {}
    for form in forms:
        if len(form.signature().names) == 1:  # a tensor alone
            chosen.setdefault(Tensor, form)

    def call(*args, **kwargs):
        if "out" in kwargs and not method:
            return write_out(name, call, args, kwargs)
        if kwargs or not 0 < len(args) < 3:
            types = (*map(type, args), *kwargs, *map(type, kwargs.values()))
        else:  # `x.sum()`, `x.sum(1)`
            types = type(args[0]) if len(args) == 1 else (type(args[0]), type(args[1]))
        form = chosen.get(types)
        if form is None:
            form = chosen[types] = form_of_types(name, forms, method, args, kwargs)
        return form(*args, **kwargs)

    call.forms = forms
    return call


# ---------------------------------------------------------------- backward


def node_class_of(op: Op) -> type[Node]:
    """The Node subclass of one operation: PyTorch's name, what it frees, and its `_saved_*` attributes."""
    name = op.node or op.name.title().replace("_", "") + "Backward0"
    body = {"__slots__": (), "_op": op, "_frees": bool(op.freed), "_vjp": vjp_of(op)}
    body["_read_output"] = next((op.sources[i][1] for i in op.saved_results), None)
    if op.outputs:
        body["_output_count"] = len(op.outputs) - len(op.constants)
    else:  # as many as the forward function returns
        body["__slots__"] = ("_output_count",)
    for position, saved_name in enumerate(op.saves):
        if not saved_name.startswith("_"):
            body["_saved_" + saved_name] = property(functools.partial(read, i=position))
    return type(name, (Node,), body)


def vjp_of(op: Op) -> Callable:
    """The `_vjp` of an operation's node."""
    if op.variadic or op.shared or len(op.rules) > 2:
        return vjp_of_many(op)
    return vjp_of_one(op) if len(op.rules) == 1 else vjp_of_two(op)


def vjp_of_one(op: Op) -> Callable:
    """The backward of an operation with one differentiable input."""
    ((rule, positions),), frees = op.readers, bool(op.freed)
    read_by = chooser(positions)

    def vjp(node: Node, grad: object, recorded: bool) -> tuple:
        saved = open_saved(node, recorded) if frees else node._context
        grad_self = rule(grad, *read_by(saved))
        if node._grad_metadata is not None:
            grad_self = fit(grad_self, node._grad_metadata[0])
        return (grad_self,)

    return vjp


def vjp_of_two(op: Op) -> Callable:
    """The backward of an operation with two differentiable inputs."""
    (rule_self, positions_self), (rule_other, positions_other) = op.readers
    read_by_self, read_by_other, frees = chooser(positions_self), chooser(positions_other), bool(op.freed)

    def vjp(node: Node, grad: object, recorded: bool) -> tuple:
        saved = open_saved(node, recorded) if frees else node._context
        node_self, node_other = node._next_nodes
        grad_self = None if node_self is None else rule_self(grad, *read_by_self(saved))
        grad_other = None if node_other is None else rule_other(grad, *read_by_other(saved))
        if node._grad_metadata is not None:
            of_self, of_other = node._grad_metadata
            grad_self, grad_other = fit(grad_self, of_self), fit(grad_other, of_other)
        return grad_self, grad_other

    return vjp


def vjp_of_many(op: Op) -> Callable:
    """The backward of any other operation."""
    readers = [(rule, chooser(positions)) for rule, positions in op.readers]
    (first_rule, read_by_first), frees = readers[0], bool(op.freed)

    def vjp(node: Node, grad: object, recorded: bool) -> Sequence:
        saved, grads = open_saved(node, recorded) if frees else node._context, []
        if op.variadic:
            grads = first_rule(grad, *read_by_first(saved))  # all of them, even if not needed, as in PyTorch
        elif op.shared:
            needed = tuple([n is not None for n in node._next_nodes])
            grads = first_rule(grad, needed, *read_by_first(saved))
        else:
            for next_node, (rule, read_by) in zip(node._next_nodes, readers):  # noqa: B905 - as many
                grads.append(None if next_node is None else rule(grad, *read_by(saved)))
        if node._grad_metadata is not None:
            pairs = zip(grads, node._grad_metadata)  # noqa: B905 - as many
            grads = [g if known is None else fit(g, known) for g, known in pairs]
        return grads

    return vjp
