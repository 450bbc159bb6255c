"""Running an operation, whatever is going on: `apply` is the one door.

Arrays inside a rule, transforms, inference mode, hooks on saved tensors: all come here. The ordinary case, plain
tensors and nothing unusual, does not: see calls.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..autograd import anomaly_mode
from ..autograd.grad_mode import anomaly, local, special
from ..autograd.interpreter import Wrapper
from ..autograd.node import Node, edge, next_sequence
from ..autograd.saved import INFERENCE, Packed, versions
from ..tensor import AutogradMeta, InferenceTensor, Tensor, full_name, new_object, wrap
from .arguments import explain_operands, takes_number

if TYPE_CHECKING:
    from .table import Op

ndarray = np.ndarray


class Promoted(tuple):
    """A node's `meta` where the inputs of an elementwise operation had several dtypes."""

    __slots__ = ()


# ---------------------------------------------------------------- operands

# Python numbers as tensors, by number, type and dtype beside them: making the array each time would double the cost of
# `x * 2`. Of the zeros only the integers are kept, as 0.0 == -0.0.
scalars: dict[tuple, Tensor] = {}
dtypes.BY_DEFAULT.append(scalars.clear)


def operand(value, like: Tensor, floating: bool = False) -> Tensor:
    """A Python number as a 0-d tensor of the dtype that it takes beside `like`; anything else as it is.

    floating: in an operation whose result is floating point in any case, so that an integer need not fit a small dtype.
    """
    kind = type(value)
    if floating and kind is int and like._array.dtype.kind != "f":
        value, kind = float(value), float
    if kind is not float and kind is not int and kind is not bool:
        return value
    dtype = like._array.dtype
    key = (value, kind, dtype.num)
    found = scalars.get(key)
    if found is None:
        if kind is int and not -(1 << 63) <= value < 1 << 63:
            raise OverflowError("int too big to convert")
        found = wrap(dtypes.wrapped(value, dtypes.promote([(dtype, 2), (of_number(value), 0)])))
        found._number = value  # what `_saved_other` shows: an integer stays one beside floats
        if len(scalars) > 4096:
            scalars.clear()
        if value or kind is not float:
            scalars[key] = found
    return found


def of_number(value: float | int | bool) -> np.dtype:
    """The category of a Python number as a dtype."""
    return np.dtype(
        np.bool_
        if isinstance(value, bool)
        else np.int64
        if isinstance(value, int)
        else dtypes.default_float()
    )


def promoted(op: Op, inputs: Sequence[Tensor]) -> list[ndarray]:
    """The inputs' arrays in the common dtype in which an elementwise operation is done, None for one that is not given."""
    arrays = [None if t is None else t._array for t in inputs]
    parts = [(a.dtype, 2 if a.ndim else 1) for a in arrays if a is not None]
    wanted = parts[0][0] if all(d == parts[0][0] for d, _ in parts) else dtypes.promote(parts)
    if op.floating and wanted.kind != "f":
        wanted = dtypes.default_float()
    return [a if a is None or a.dtype == wanted else a.astype(wanted) for a in arrays]


# ---------------------------------------------------------------- the general path


def apply(op: Op, inputs: tuple, params: tuple):
    """Run an operation, whatever the mode: on arrays (inside a rule), under a transform, with or without recording."""
    arrays = 0
    for t in inputs:
        if isinstance(t, (ndarray, np.generic)):
            arrays += 1
        elif isinstance(t, Tensor):
            break
    else:
        if arrays:  # inside a rule
            return op.forward(inputs, *params) if op.variadic else op.forward(*inputs, *params)
    inputs = as_tensors(op, inputs)
    if local.interpreter is not None:
        return local.interpreter.process(op, inputs, params)
    inputs = tuple([t._outside() for t in inputs])  # of a transform that has ended
    result = forward(op, inputs, params)
    several = len(op.outputs) != 1
    outs = tuple(map(wrap, result)) if several else (wrap(result),)
    if op.view:
        for out in outs:
            make_view(out, inputs[0], several)
    elif local.inference:
        for out in outs:
            out.__class__ = InferenceTensor
    if local.records and not all(type(t) is InferenceTensor for t in inputs):
        record(op, inputs, params, outs)
    return outs if several else outs[0]


def forward(op: Op, inputs: Sequence[Tensor], params: tuple):
    """Compute on the inputs' arrays, with PyTorch's error if they do not suit the operation."""
    arrays = operands(op, inputs)
    try:
        return op.forward(arrays, *params) if op.variadic else op.forward(*arrays, *params)
    except (ValueError, TypeError) as error:
        raise explained(error, op, arrays) from None


def explained(error: Exception, op: Op, arrays: Sequence[ndarray]) -> Exception:
    """PyTorch's words for what NumPy did not accept: shapes that do not broadcast, a dtype without this operation."""
    arrays = [a for a in arrays if a is not None]
    if isinstance(error, TypeError) and "boolean subtract" in str(error):
        return RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead."
        )
    if isinstance(error, TypeError) and "ufunc" in str(error):
        word = dtypes.word(np.result_type(*arrays))
        return NotImplementedError(f"\"{op.name}_cpu\" not implemented for '{word}'")
    if isinstance(error, ValueError) and (op.kind == "elementwise" or "broadcast" in str(error)):
        ndim = max(a.ndim for a in arrays)
        shapes = [(1,) * (ndim - a.ndim) + a.shape for a in arrays]
        for a, b in itertools.pairwise(shapes):
            for dim in reversed(range(ndim)):
                if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
                    return RuntimeError(
                        f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]}) at non-singleton "
                        f"dimension {dim}"
                    )
    if not op.params:
        try:
            op.forward(*arrays)  # it may have been computed by something else, which has no words for it
        except Exception as known:
            return known
    return error


def operands(op: Op, inputs: Sequence[Tensor]) -> list[ndarray]:
    """The inputs' arrays, those of an elementwise operation in their common dtype."""
    arrays = [t._array for t in inputs]
    if op.kind == "elementwise" or op.floating:
        which = op.differentiable if op.differentiable and not op.variadic else range(len(inputs))
        kinds = {arrays[i].dtype for i in which if arrays[i] is not None}
        if op.floating or len(kinds) > 1:
            for i, a in zip(which, promoted(op, [inputs[i] for i in which]), strict=True):
                arrays[i] = a
    return arrays


class Absent(Tensor):
    """In the place of an optional input that was not given."""

    __slots__ = ()


ABSENT = wrap(np.empty(0))
ABSENT.__class__, ABSENT._array = Absent, None


def as_tensors(op: Op, inputs: tuple) -> tuple[Tensor, ...]:
    """The inputs, Python numbers beside a tensor made tensors. Raises PyTorch's TypeError for anything else."""
    if op.optional:
        names = op.inputs
        inputs = tuple(
            [ABSENT if t is None and n in op.optional else t for t, n in zip(inputs, names, strict=True)]
        )
    known = [isinstance(t, Tensor) for t in inputs]
    if all(known):
        return inputs
    like = inputs[known.index(True)] if True in known else None
    out = []
    for position, t in enumerate(inputs):
        if isinstance(t, Tensor):
            out.append(t)
        elif dtypes.is_complex(t):
            raise dtypes.no_complex()
        elif like is not None and isinstance(t, ndarray):
            out.append(wrap(np.asarray(t)))
        elif isinstance(t, np.generic):
            out.append(wrap(t) if like is None else operand(t.item(), like, op.floating))
        elif like is not None and takes_number(op, position) and isinstance(t, (bool, int, float)):
            out.append(operand(t, like, op.floating))
        elif op.variadic:
            raise TypeError(
                f"{op.name}(): argument 'tensors' (position {position + 1}) must be Tensor, not {full_name(type(t))}"
            )
        else:
            explain_operands(op, op.name, inputs)
            raise TypeError(f"{op.name}() takes tensors, got {full_name(type(t))}")
    return tuple(out)


def record(op: Op, inputs: Sequence[Tensor], params: tuple, outs: Sequence[Tensor]) -> Node | None:
    """Make the node of an operation that has just been done, and hang it on the results. None if it has none."""
    chosen = inputs if op.variadic else [inputs[i] for i in op.differentiable]
    for t in chosen:
        if t._requires_grad:
            break
    else:
        return None
    node = op.node_class()
    node._edges = edges = tuple([edge(t) for t in chosen])
    numbers = tuple([t._output_nr for t in chosen])
    node._input_nrs = numbers if any(numbers) else None
    node._sequence = next_sequence()
    node._hooks = node._meta = node._counter = None
    if not op.outputs:
        node._output_count = len(outs)
    if op.variadic or op.broadcasts:
        own = (outs[0]._array.shape, outs[0]._array.dtype)
        metas = tuple([None if t is ABSENT else (t._array.shape, t._array.dtype) for t in chosen])
        if op.variadic or any(m != own and m is not None for m in metas):
            mixed = op.kind == "elementwise" and len({m[1] for m in metas if m is not None}) > 1
            node._meta = Promoted(metas) if mixed else metas
    node._kept = saved_values(op, inputs, params, outs, edges)
    for i in op.saved_inputs:
        t = node._kept[i]
        if t is not None:
            refuse_inference(t)
    if op.saved_results:
        node._counter = outs[op.sources[op.saved_results[0]][1]]._own_counter()
    for number, out in enumerate(outs[: node._output_count]):
        if out._array.dtype.kind == "f":  # an integer result, such as argmax's index, is not differentiable
            out._requires_grad, out._grad_fn, out._output_nr = True, node, number
    if local.saved_hooks and op.node_class._frees:
        pack(op, node, outs)
    node._version = versions(node)
    if anomaly.on:
        anomaly_mode.remember_traceback(node)
    return node


def saved_values(
    op: Op, inputs: Sequence[Tensor], params: tuple, outs: Sequence[Tensor], edges: tuple
) -> tuple:
    """What the node saves, in the order of `op.saves`."""
    values = []
    for source, guard in zip(op.sources, op.guards, strict=True):
        value = op.value_from(source, inputs, outs, params)
        if source[0] == "result":
            value = kept_result(value)
        values.append(None if guard is not None and edges[guard] is None else value)
    return tuple(values)


def kept_result(out: Tensor) -> ndarray | Tensor:
    """What a node saves of its own result: not the tensor itself, which refers to the node."""
    return out.face() if isinstance(out, Wrapper) else out._array


def refuse_inference(t: Tensor) -> None:
    if t.is_inference() and not local.transform_depth:
        raise RuntimeError(INFERENCE)


def pack(op: Op, node: Node, outs: Sequence[Tensor]) -> None:
    """Let the innermost saved_tensors_hooks pack what the node saves."""
    saved, hooks = list(node._kept), local.saved_hooks[-1]
    for i in op.saved_tensors:
        if saved[i] is not None and not hasattr(saved[i], "_number") and not op.saves[i].startswith("_"):
            source, position = op.sources[i]
            saved[i] = Packed(outs[position] if source == "result" else saved[i], hooks, node)
    node._kept = tuple(saved)


def make_view(out: Tensor, source: Tensor, several: bool = False) -> None:
    """Tell `out`, which shares the memory of `source`, that it is a view: same version counter, known base."""
    counter = source._own_counter()
    known, meta = source._meta, new_object(AutogradMeta)
    base = source if known is None or known.base is None else known.base
    meta.base, meta.seen_version = base, counter.version
    if source.is_inference():
        out.__class__ = InferenceTensor
    elif special and not local.records:
        meta.made_in = "inference" if local.inference else "no_grad"
        out._requires_grad = meta.borrows = base._requires_grad
    elif several:
        meta.made_in = "multi_output"
    elif known is not None and known.made_in is not None:
        meta.made_in = known.made_in
    out._meta, out._counter = meta, counter
    if not base._requires_grad or meta.borrows:
        counter.add_view(out)
