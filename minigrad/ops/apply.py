"""How every operation runs: compute, wrap, attach a node; and how that node runs backward.

`x * y` is `call` of `call_two`: it takes the arrays, computes, wraps the result and, if an input requires grad, attaches a
node that saves what the operation's rules read. When the backward pass comes to the node, `vjp` of `vjp_of_two` reads what
was saved and calls the rules.

Most operations have one or two tensors, so that these are written out by hand. `call_many` and `apply` are for all others;
`call_any` and `dispatch` for every call about which something is unusual.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import is_not

import numpy as np

from .. import dtypes
from ..autograd.anomaly import remember_traceback
from ..autograd.modes import anomaly, is_plain, local, special
from ..autograd.node import Node, gradient_node, new_node
from ..autograd.saved import SavedTensor, open_saved, read, versions_of
from ..autograd.views import make_view
from ..tensor import InferenceTensor, Tensor, plain_types, wrap
from ..words import INFERENCE_SAVED, expect, full_name
from .errors import Call, translated
from .op import CallForm, Op, chooser
from .operands import fit, operand, promoted
from .signature import REQUIRED

ndarray = np.ndarray
array_types = frozenset({ndarray, np.float32, np.float64, np.bool_})  # NumPy makes numbers of 0-d arrays

# ---------------------------------------------------------------- what users call


def function_of(op: Op, form: CallForm) -> Callable:
    """The function that users call."""
    if op.variadic or op.casts or not op.single:
        return call_many(op, form)
    if len(op.inputs) == 1:
        return call_one(op, form)
    both = len(op.inputs) == 2 and len(op.rules) != 1 and op.signature.rest == (REQUIRED, REQUIRED)
    return call_two(op, form) if both and bool(op.promotes) == op.broadcasts else call_many(op, form)


def call_one(op: Op, form: CallForm) -> Callable:
    """An operation on one tensor: `x.exp()`, `x.sum(1)`."""
    forward, place, order, has_params = op.forward, op.place, op.order, bool(op.params)
    node_class, choose, saves_sizes, saves_input = (
        op.node_class,
        op.choose,
        op.saves_sizes,
        bool(op.saved_inputs),
    )
    floating, is_view, broadcasts = op.floating, op.view, op.broadcasts

    def call(self=REQUIRED, /, *args, **kwargs):
        if type(self) not in plain_types or (special and not is_plain()):
            if type(self) is ndarray:  # inside a rule
                return forward(self, *order(place(args, kwargs), self))
            return call_any(op, form, (self, *args), kwargs)
        x, params = self._array, ()
        try:
            if floating and x.dtype.kind != "f":
                x = x.astype(dtypes.default_float())
            if has_params or args or kwargs:
                params = order(place(args, kwargs), x)
            y = forward(x, *params)
        except Exception as error:
            raise translated(error, op, (x,), (form, (self, *args), kwargs)) from None
        out = wrap(y)
        if is_view:
            make_view(out, self)
        if node_class is not None and self._requires_grad and (not special or local.modes.grad):
            next_nodes, output_nrs = (gradient_node(self),), (self._output_nr,) if self._output_nr else None
            saved = choose((None, self, out._array, *((x.shape, x.size) if saves_sizes else ()), *params))
            node = new_node(node_class, next_nodes, output_nrs, saved)
            if saves_input and self._counter is not None:
                node._versions = versions_of(node)
            if broadcasts and not fits(self, out):
                node._grad_metadata = (metadata(self),)
            out._requires_grad, out._grad_fn = True, node
        return out

    return call


def call_two(op: Op, form: CallForm) -> Callable:
    """An operation on two tensors, or on a tensor and a number: `x * y`, `x * 2`, `x @ y`."""
    forward, promotes, floating, numbers = op.forward, op.promotes, op.floating, op.numbers
    node_class, choose_all, saves_sizes, saves_inputs = (
        op.node_class,
        op.choose,
        op.saves_sizes,
        bool(op.saved_inputs),
    )
    broadcasts, guarded = op.broadcasts, op.guarded

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
            z = forward(x, y)
        except Exception as error:
            raise translated(error, op, (x, y), (form, (self, other), {})) from None
        out = wrap(z)
        if (self._requires_grad or other._requires_grad) and node_class and (not special or local.modes.grad):
            next_nodes = gradient_node(self), gradient_node(other)
            output_nrs = (self._output_nr, other._output_nr) if self._output_nr or other._output_nr else None
            sizes = (x.shape, y.shape, x.size, y.size) if saves_sizes else ()
            choose = op.needed(next_nodes) if guarded and None in next_nodes else choose_all
            saved = choose((None, self, other, out._array, *sizes))
            node = new_node(node_class, next_nodes, output_nrs, saved)
            if saves_inputs and (self._counter is not None or other._counter is not None):
                node._versions = versions_of(node)
            if broadcasts and (mixed or x.shape != y.shape):
                node._grad_metadata = metadata(self), metadata(other)
            out._requires_grad, out._grad_fn = True, node
        return out

    return call


def call_many(op: Op, form: CallForm) -> Callable:
    """An operation on any number of tensors: `torch.cat([x, y])`, `torch.where(mask, x, y)`."""

    def call(*args, **kwargs):
        arranged = arrange(op, form, args, kwargs)
        if arranged is None:
            return call_any(op, form, args, kwargs)
        return apply(op, *arranged, call=(form, args, kwargs))

    return call


def arrange(op: Op, form: CallForm, args: tuple, kwargs: dict) -> tuple[list[Tensor | None], list] | None:
    """The tensors of a call, and its parameters as `forward` gets them. None if something is unusual about the call."""
    if (special and not is_plain()) or not args or (type(args[0]) not in plain_types and not op.variadic):
        return None
    arrays = []
    try:
        inputs, params = op.split(op.signature.placed(args, kwargs))
        tensors = plain_inputs(op, inputs)
        if tensors is not None:
            arrays = [tensors[0]._array]
            return tensors, op.order(params, *arrays)
    except TypeError:
        return None  # an argument that does not fit
    except Exception as error:
        raise translated(error, op, arrays, (form, args, kwargs)) from None
    return None


def plain_inputs(op: Op, inputs: Sequence) -> list[Tensor | None] | None:
    """The inputs if they are plain tensors, numbers as 0-d tensors; None if they are not."""
    if not isinstance(inputs, (tuple, list)) or not inputs or type(inputs[0]) not in plain_types:
        return None
    found = [*inputs]
    for i, t in enumerate(inputs):
        if type(t) in plain_types:
            continue
        if op.numbers and type(t) in (int, float):
            found[i] = operand(t, inputs[0], op.floating)
        elif t is not None or op.variadic:
            return None
    return found


def call_any(op: Op, form: CallForm, args: tuple, kwargs: dict) -> object:
    """Run an operation, whatever its arguments are and whatever modes are on.

    On arrays, as inside a rule, it only computes. An operator leaves what it does not know to Python, which asks the other
    operand.
    """
    if args and type(args[0]) in array_types and not kwargs and len(args) == len(op.signature.names):
        inputs, params = op.split(args)
        if only_arrays(op, inputs):
            return op.forward(*inputs, *op.order(params, inputs[0]))
    name, method, run = form
    args = tuple([a for a in args if a is not REQUIRED])  # it was given by name, or not at all
    try:
        values = op.signature.bind(args, kwargs, name, method)
    except TypeError:
        if name == "__eq__" and isinstance(args[1], ndarray):  # PyTorch's only operator that takes an array
            return call_any(op, form, (args[0], wrap(args[1])), kwargs)
        if name.startswith("__"):
            return NotImplemented
        raise
    inputs, params = op.split([*values.values()])
    tensors = [t for t in inputs if isinstance(t, Tensor)]
    if not tensors and any(isinstance(t, (ndarray, np.generic)) for t in inputs):
        arrays = [t if t is None or isinstance(t, (int, float)) else np.asarray(t) for t in inputs]
        return op.forward(*([arrays] if op.variadic else arrays), *op.order(params, arrays[0]))
    if op.variadic:
        for position, t in enumerate(inputs):
            message = f"expected Tensor as element {position} in argument 0, but got {full_name(type(t))}"
            expect(isinstance(t, Tensor), message, error=TypeError)
    elif len(tensors) < len(inputs):
        like = next((t for t in tensors if t._array.dtype.kind != "b"), tensors[0])
        inputs = [t if t is None or isinstance(t, Tensor) else operand(t, like, op.floating) for t in inputs]
    return run(op, inputs, op.order(params, inputs[0]._array) if inputs else params)


def only_arrays(op: Op, inputs: Sequence) -> bool:
    """Whether there are only arrays among the inputs, and numbers where these may stand for tensors."""
    for t in inputs:
        if type(t) not in array_types and t is not None and not (op.numbers and type(t) in (int, float)):
            return False
    return True


# ---------------------------------------------------------------- compute


def dispatch(op: Op, inputs: Sequence[Tensor | None], params: Sequence) -> object:
    """Run an operation on tensors where it goes now: to the active transform, or here. The parameters are prepared."""
    if special and local.interpreter is not None:
        return local.interpreter.process(op, tuple(inputs), tuple(params))
    return apply(op, [t if t is None else t._outside() for t in inputs], params)


def apply(
    op: Op,
    inputs: Sequence[Tensor | None],
    params: Sequence,
    results: Sequence[Tensor] | None = None,
    call: Call | None = None,
) -> object:
    """Run an operation on tensors here: compute, wrap, record. The parameters are prepared.

    results: what a transform has computed in its own way, so that only the node is missing.
    call: how it was called, if nothing is unusual about the call; an error may be that of an argument.
    """
    arrays = [None if t is None else t._array for t in inputs]
    outs = results
    try:
        arrays = promoted(op, arrays)
        if outs is None:
            found = op.forward(*([arrays] if op.variadic else arrays), *params)
    except Exception as error:
        raise translated(error, op, arrays, call) from None
    if outs is None:
        outs = [wrap(y) for y in ((found,) if op.single else found)]
        for out in outs:
            if op.view:
                make_view(out, inputs[0], not op.single)
            elif special and local.inference:
                out.__class__ = InferenceTensor
    if op.rules and (not special or local.modes.records):
        record(op, inputs, arrays, params, outs, call is not None, results is not None)
    return outs[0] if op.single else op.as_result(outs)


# ---------------------------------------------------------------- record


def fits(t: Tensor, out: Tensor) -> bool:
    """Whether an input has the shape and dtype of the result."""
    return t._array.dtype is out._array.dtype and t._array.shape == out._array.shape


def metadata(t: Tensor) -> tuple[tuple, np.dtype]:
    """The shape and dtype of an input, which its gradient gets."""
    return t._array.shape, t._array.dtype


def record(
    op: Op,
    inputs: Sequence,
    arrays: Sequence,
    params: Sequence,
    outs: Sequence[Tensor],
    usual: bool,
    in_transform: bool,
) -> None:
    """Attach a node to the results of an operation on any number of tensors, if one of these requires grad."""
    sources = inputs if op.variadic else [inputs[i] for i in op.differentiable]
    for t in sources:
        if t is not None and t._requires_grad:
            break
    else:
        return
    if op.casts and outs[0]._array.dtype.kind != "f":
        return
    next_nodes, output_nrs, alike = [], [], True
    for t in sources:
        next_nodes.append(None if t is None else gradient_node(t))
        output_nrs.append(0 if t is None else t._output_nr)
        alike = alike and (t is None or fits(t, outs[0]))
    values = [None, inputs] if op.variadic else [None, *inputs]
    values += [out.face() if in_transform else out._array for out in outs[: len(op.outputs)]]
    if op.saves_sizes:
        values += sizes_of(op, arrays)
    choose = op.needed(next_nodes) if op.guarded and None in next_nodes else op.choose
    node = new_node(op.node_class, tuple(next_nodes), tuple(output_nrs), choose((*values, *params)))
    if op.saved_inputs:
        node._versions = versions_of(node)
    if not alike and (op.broadcasts or op.variadic):
        node._grad_metadata = tuple([None if t is None else metadata(t) for t in sources])
    count = len(outs) - len(op.constants)
    if not op.outputs:
        node._output_count = count
    for number, out in enumerate(outs[:count] if op.constants else outs):
        out._requires_grad, out._grad_fn, out._output_nr = True, node, number
    if op.saved_results and op.sources[op.saved_results[0]][1] >= count:  # an index does not know its node
        node._result_counter = outs[op.sources[op.saved_results[0]][1]]._own_counter()
    if not usual:
        finish(op, node, outs)


def sizes_of(op: Op, arrays: Sequence[ndarray | None]) -> list:
    """The shapes of the inputs and their numbers of elements; of a list of inputs as two lists."""
    shapes = [None if a is None else a.shape for a in arrays]
    sizes = [None if a is None else a.size for a in arrays]
    return [shapes, sizes] if op.variadic else shapes + sizes


def finish(op: Op, node: Node, outs: Sequence[Tensor]) -> None:
    """What is unusual about recording: hooks on saved tensors, anomaly mode, tensors of inference mode."""
    saved, hooks = list(node._saved), op.node_class._frees and local.saved_hooks[-1:]
    for i in op.saved_tensors:  # in turn, as PyTorch does: those before a refused one have been packed
        expect(saved[i].__class__ is not InferenceTensor, INFERENCE_SAVED)
        if hooks and saved[i] is not None and not hasattr(saved[i], "_number") and op.saves[i][0] != "_":
            source, position = op.sources[i]
            saved[i] = SavedTensor(outs[position] if source == "result" else saved[i], hooks[0], node)
    if hooks:
        for i, value in enumerate(saved):
            if type(value) is tuple and any(isinstance(v, Tensor) for v in value):  # of an index
                saved[i] = tuple(
                    [SavedTensor(v, hooks[0], node) if isinstance(v, Tensor) else v for v in value]
                )
        if any(map(is_not, saved, node._saved)):  # what hooks hold has no version
            versions = node._versions or (0,) * (len(op.saved_inputs) + 1)
            node._versions = (*versions, None)
        node._saved = tuple(saved)
    if anomaly.on:
        remember_traceback(node)


# ---------------------------------------------------------------- the backward pass


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
        saved = open_saved(node, recorded) if frees else node._saved
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
        saved = open_saved(node, recorded) if frees else node._saved
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
        saved, grads = open_saved(node, recorded) if frees else node._saved, []
        if op.variadic:
            grads = first_rule(grad, *read_by_first(saved))  # as in PyTorch all, even those nobody needs
        elif op.shared:
            needed = tuple([n is not None for n in node._next_nodes])
            grads = first_rule(grad, needed, *read_by_first(saved))
        else:
            for next_node, (rule, read_by) in zip(node._next_nodes, readers):  # noqa: B905 - as many
                grads.append(None if next_node is None else rule(grad, *read_by(saved)))
        if node._grad_metadata is not None:
            grads = [fit(*pair) for pair in zip(grads, node._grad_metadata, strict=True)]
        return grads

    return vjp
