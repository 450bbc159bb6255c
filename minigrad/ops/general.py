"""Every call of an operation that has no special function in apply.py: on any number of tensors, with any arguments and in any
modes.

`call_any` checks the arguments one by one, `dispatch` calls the active transform, `apply` computes, wraps and records.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from operator import is_not

import numpy as np

from .. import messages
from ..autograd.grad_mode import remember_traceback
from ..autograd.modes import anomaly, is_plain, local, special
from ..autograd.node import Node, gradient_node, new_node
from ..autograd.saved import HELD, SavedTensor, versions_of
from ..autograd.views import make_view
from ..basics import check, full_name
from ..missing import functions_at
from ..tensor import InferenceTensor, Tensor, plain_types, wrap
from .op import CallForm, Op
from .operands import Call, check_result, operand, promoted, translated
from .signature import REQUIRED

ndarray = np.ndarray
Inputs = Sequence[Tensor | None]  # None for one that is not given
array_types = frozenset({ndarray, np.float32, np.float64, np.bool_})  # NumPy turns 0-d arrays into numbers
arrays_or_none = array_types | {type(None)}
arrays_or_numbers = arrays_or_none | {float, int}

# ---------------------------------------------------------------- arguments


def call_many(op: Op, form: CallForm) -> Callable:
    """An operation on any number of tensors: `torch.cat([x, y])`, `torch.where(mask, x, y)`."""

    def call(*args, **kwargs):
        if args and type(args[0]) is ndarray:  # inside a rule
            return call_any(op, form, args, kwargs)
        arranged = arrange(op, form, args, kwargs)
        if arranged is None:
            return call_any(op, form, args, kwargs)
        return apply(op, *arranged, call=(form, args, kwargs))

    return call


def arrange(op: Op, form: CallForm, args: tuple, kwargs: dict) -> tuple[Sequence, Sequence] | None:
    """The tensors of a call, and its parameters as `forward` gets them. None if something is unusual about the call."""
    if not args or (type(args[0]) not in plain_types and not op.variadic) or (special and not is_plain()):
        return None
    try:
        values = form.signature.placed(args, kwargs) if kwargs or len(args) != op.count else args
        inputs, params = op.split(values)
        tensors = plain_inputs(op, inputs)
        if tensors is None:
            return None
        return tensors, op.prepare(params, tensors[0]._array)
    except TypeError:
        return None  # an argument that does not fit
    except Exception as error:
        raise translated(error, op, [], (form, args, kwargs)) from None


def plain_inputs(op: Op, inputs: Sequence) -> list[Tensor | None] | None:
    """The inputs, with numbers as 0-d tensors; None if any other input is not a plain tensor."""
    if not isinstance(inputs, (tuple, list)) or not inputs or type(inputs[0]) not in plain_types:
        return None
    if plain_types.issuperset(map(type, inputs)):
        return inputs
    results = [*inputs]
    for i, t in enumerate(inputs):
        if type(t) in plain_types:
            continue
        if op.numbers and type(t) in (int, float):
            results[i] = operand(t, inputs[0], op.floating)
        elif t is not None or op.variadic:
            return None
    return results


def call_any(op: Op, form: CallForm, args: tuple, kwargs: dict) -> object:
    """Run an operation, with any arguments and in any modes. On arrays, as inside a rule, it only computes.
    An operator leaves unknown types to Python, which tries the other operand."""
    if args and type(args[0]) in array_types and not kwargs and len(args) == op.count:
        inputs, params = op.split(args) if op.params else (args, ())
        if (arrays_or_numbers if op.numbers else arrays_or_none).issuperset(map(type, inputs)):
            return op.forward(*inputs, *op.prepare(params, inputs[0]))
    name, method, run, signature = form
    if "out" in kwargs and not method:
        return write_out(name, call_many(op, form), args, kwargs)
    args = tuple([a for a in args if a is not REQUIRED])  # it was given by name, or not at all
    try:
        values = signature.bind(args, kwargs, name, method)
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
        return op.forward(*([arrays] if op.variadic else arrays), *op.prepare(params, arrays[0]))
    if op.variadic:
        for position, t in enumerate(inputs):
            check(isinstance(t, Tensor), messages.ELEMENT, position, type(t), error=TypeError)
    elif len(tensors) < len(inputs):
        like = next((t for t in tensors if t._array.dtype.kind != "b"), tensors[0])
        inputs = [t if t is None or isinstance(t, Tensor) else operand(t, like, op.floating) for t in inputs]
    return run(op, inputs, op.prepare(params, inputs[0]._array) if inputs else params)


def write_out(name: str, call: Callable, args: tuple, kwargs: dict) -> Tensor:
    """A call with `out=`: the result is written into that tensor, which is resized to fit; nothing is recorded."""
    out, rest = kwargs["out"], {key: value for key, value in kwargs.items() if key != "out"}
    if out is None:
        return call(*args, **rest)
    known = functions_at(name, method=False) or functions_at(name, method=True)
    offered = not known or any("out" in form.kinds for form in known)
    check(offered, "{}() got an unexpected keyword argument 'out'", name, error=TypeError)
    check(isinstance(out, Tensor), messages.OUT_TYPE, name, type(out), error=TypeError)
    result = call(*args, **rest)  # the call checks the other arguments
    needing = [t for t in (out, *args, *rest.values()) if isinstance(t, Tensor) and t._requires_grad]
    check(not needing or not local.modes.records, messages.OUT_NEEDS_GRAD, name)
    check(isinstance(result, Tensor), messages.OUT_OF_SEVERAL, name, error=TypeError)
    result = result._array
    if out._array.shape != result.shape:
        out._array = np.empty(result.shape, out._array.dtype)
    check_result(result, out._array)
    out._array[...] = result
    out._own_counter().version += 1
    return out


def refusal(form: Callable, name: str, method: bool, args: tuple, kwargs: dict) -> TypeError | None:
    """The error that a form of a function raises for these arguments; None if they fit."""
    try:
        form.signature().bind(args, kwargs, name, method)
    except TypeError as error:
        return error
    return None


def form_of_types(name: str, forms: Sequence[Callable], method: bool, args: tuple, kwargs: dict) -> Callable:
    """The function for all calls with arguments of these types: one form, or a function that chooses among several by the
    values of its arguments."""
    possible = []
    for form in forms:
        depends = form.signature().depends_on_values(args, kwargs)
        if depends or refusal(form, name, method, args, kwargs) is None:
            possible.append(form)
            if not depends:
                break
    if len(possible) == 1 and not depends:
        return possible[0]

    def choose(*args, **kwargs):
        return fitting_form(name, forms, method, args, kwargs)(*args, **kwargs)

    def attempt(*args, **kwargs):
        with contextlib.suppress(TypeError):
            return possible[0](*args, **kwargs)  # an operation checks the values itself
        return choose(*args, **kwargs)  # outside, so that its error is shown alone

    return attempt if len(possible) == 1 and hasattr(possible[0], "op") else choose


def fitting_form(name: str, forms: Sequence[Callable], method: bool, args: tuple, kwargs: dict) -> Callable:
    """The first of the forms of a function that takes these arguments. Raises TypeError if none does."""
    errors = []
    for form in forms:
        errors.append(refusal(form, name, method, args, kwargs))
        if errors[-1] is None:
            return form
    if name.startswith("__"):
        return forms[-1]  # for an operator, which leaves unknown types to Python
    for error in errors:
        if "failed to unpack" in str(error):  # PyTorch has chosen the form by then
            raise error
    signatures = [form.signature() for form in forms]
    count, most = len(args) + len(kwargs), max(len(own.names) for own in signatures)
    # by the number of the arguments alone, as in PyTorch, whose forms may have `out` and `dtype`, too
    more = {"out", "dtype"} & {key for known in functions_at(name, method) for key in known.kinds}
    more = len(more.difference(*[own.kinds for own in signatures]))
    pairs = zip(errors, signatures, strict=True)
    plausible = [e for e, own in pairs if own.least <= count <= len(own.names) + more]
    missing = [e for e in plausible or errors if "does not implement" in str(e)]
    nearest = (missing or plausible or errors)[-1]
    alone = len({*map(str, plausible)}) == 1 or (missing and len(missing) >= len(plausible))
    if alone and ("positional arguments;" not in str(nearest) or len(args) > most):  # from missing.argument
        raise nearest
    given = [full_name(type(a)) for a in args[method:]]
    given += [f"{key}={full_name(type(value))}" for key, value in kwargs.items()]
    shown = ", ".join(given) + ", " * (len(args) == method < len(args) + len(kwargs))  # PyTorch's own comma
    lines = "".join([f"\n * {form.signature().in_python(method)}" for form in forms])
    raise TypeError(messages.COMBINATION.format(name, shown, lines))


# ---------------------------------------------------------------- compute and record


def dispatch(op: Op, inputs: Inputs, params: Sequence) -> object:
    """Run an operation on tensors, in the active transform if there is one, else here. The parameters are prepared."""
    if special and local.interpreter is not None:
        return local.interpreter.process(op, tuple(inputs), tuple(params))
    return apply(op, [t if t is None else t._outside() for t in inputs], params)


def apply(op: Op, inputs: Inputs, params: Sequence, call: Call | None = None) -> object:
    """Run an operation on tensors here: compute, wrap, record. The parameters are prepared. call: how it was called, for an
    ordinary call, whose errors may be about an argument."""
    arrays = [None if t is None else t._array for t in inputs]
    try:
        if op.variadic or op.promotes or op.floating:
            arrays = promoted(op, arrays)
        result = op.forward(*([arrays] if op.variadic else arrays), *params)
    except Exception as error:
        raise translated(error, op, arrays, call) from None
    outs = [wrap(result)] if op.single else [wrap(y) for y in result]
    if op.view or special:
        for out in outs:
            if op.view:
                make_view(out, inputs[0], not op.single)
            elif local.inference:
                out.__class__ = InferenceTensor
    if op.rules and (not special or local.modes.records):
        record(op, inputs, params, outs, call is not None)
    return outs[0] if op.single else op.as_result(outs)


def record(op: Op, inputs: Inputs, params: Sequence, outs: Sequence[Tensor], usual: bool = False) -> None:
    """Attach a node to the results of an operation on any number of tensors, if one of these requires grad."""
    sources = inputs if op.variadic else [inputs[i] for i in op.differentiable]
    for t in sources:
        if t is not None and t._requires_grad:
            break
    else:
        return
    if op.casts and outs[0]._array.dtype.kind != "f":
        return
    next_nodes, output_nrs = [], []
    for t in sources:
        next_nodes.append(None if t is None else gradient_node(t))
        output_nrs.append(0 if t is None else t._output_nr)
    values = [None, inputs] if op.variadic else [None, *inputs]
    values += [out._array if type(out) is Tensor else out.rewrapped() for out in outs[: len(op.outputs)]]
    if op.saves_sizes:
        values += sizes_of(op, inputs)
    all_needed = not op.guarded or None not in next_nodes
    select = op.select_saved if all_needed else op.select_saved_for(tuple(map(bool, next_nodes)))
    node = new_node(op.node_class, tuple(next_nodes), tuple(output_nrs), select((*values, *params)))
    if op.saved_inputs:
        node._versions = versions_of(node)
    if op.broadcasts or op.variadic:
        node._grad_metadata = metadata(op, sources, outs[0])
    count = len(outs) - len(op.constants)
    if not op.outputs:
        node._output_count = count
    for number, out in enumerate(outs[:count] if op.constants else outs):
        out._requires_grad, out._grad_fn, out._output_nr = True, node, number
    if op.saved_results and op.sources[op.saved_results[0]][1] >= count:  # an index has no node
        node._result_counter = outs[op.sources[op.saved_results[0]][1]]._own_counter()
    if not usual:
        finish(op, node, outs)


def sizes_of(op: Op, inputs: Inputs) -> list:
    """The shapes of the inputs and their numbers of elements; for a list of inputs, two lists."""
    shapes = [None if t is None else t._array.shape for t in inputs]
    sizes = [None if t is None else t._array.size for t in inputs]
    return [shapes, sizes] if op.variadic else shapes + sizes


def metadata(op: Op, sources: Inputs, out: Tensor) -> tuple | None:
    """The shape and dtype of each input, for its gradient, if one of the inputs was broadcast or cast; else None."""
    y, result = out._array, [None if t is None else (t._array.shape, t._array.dtype) for t in sources]
    changed = [m for m in result if m and (m[1] is not y.dtype or (m[0] != y.shape and not op.variadic))]
    return tuple(result) if changed else None


def finish(op: Op, node: Node, outs: Sequence[Tensor]) -> None:
    """The unusual part of recording: hooks on saved tensors, anomaly mode, tensors of inference mode."""
    saved, hooks = list(node._context), op.node_class._frees and local.saved_hooks[-1:]
    for i in op.saved_tensors:  # one by one, as in PyTorch: those before a refused one have been packed
        check(saved[i].__class__ is not InferenceTensor, messages.INFERENCE_SAVED)
        if hooks and saved[i] is not None and not hasattr(saved[i], "_number") and op.saves[i][0] != "_":
            source, position = op.sources[i]
            saved[i] = SavedTensor(outs[position] if source == "result" else saved[i], hooks[0], node)
    if hooks:
        for i, value in enumerate(saved):
            if type(value) is tuple and any(isinstance(v, Tensor) for v in value):  # the tensors of an index
                packed = [SavedTensor(v, hooks[0], node) if isinstance(v, Tensor) else v for v in value]
                saved[i] = tuple(packed)
        if any(map(is_not, saved, node._context)):  # values packed by hooks have no version
            versions = node._versions or (0,) * (len(op.saved_inputs) + 1)
            node._versions = (*versions, HELD)
        node._context = tuple(saved)
    if anomaly.on:
        remember_traceback(node)
