"""Writes, for each operation, the Python function that runs it in the ordinary case.

The ordinary case is a handful of plain Tensors and nothing unusual going on (see autograd/grad_mode.py): compute on the
arrays, wrap the result, hang a node on it if an input requires grad. It is what programs do nearly always, so it is
written out for each operation as a person would write it for that one alone, without loops over inputs and without
tests whose answer is known. For everything else the function hands over to `dispatch.apply`. To read what was written
for an operation: `print(minigrad.ops.calls.source_of(minigrad.exp.op))`.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import anomaly, local, special
from ..autograd.node import edge, next_sequence
from ..autograd.saved import FIELD
from ..clock import clock
from ..tensor import Counter, Tensor, new_object, plain_types
from .dispatch import Promoted, apply, explained, make_view, operand, promoted

if TYPE_CHECKING:
    from .table import Op

ndarray = np.ndarray


def number_lines(otherwise: str) -> list[str]:
    """Make the second operand a tensor if it is a Python number. The number that came last is known again at once.

    Measured: 0.05 of the 0.85 µs of `x * 2`. `last` is one tuple, so that threads do not see a part of it.
    """
    return [
        "    kind = type(t1)",
        "    if kind is not Tensor:",
        "        if kind is float or kind is int:",
        "            number, dtype, known = last",
        "            if number is t1 and dtype is t0._array.dtype:",
        "                t1 = known",
        "            else:",
        "                t1 = remember(t1, t0)",
        "        elif kind not in plain_types:",
        f"            {otherwise}",
    ]


def number_may_be_second(op: Op) -> bool:
    """May a Python number stand for the second of the two tensors that the operation takes?"""
    return len(op.inputs) == 2 and op.kind == "elementwise" and bool(op.numbers)


def remembering(scope: dict, op: Op) -> dict:
    """`scope` as the globals of the function of an operation, with what `number_lines` need if they are in it."""
    if not number_may_be_second(op):
        return scope
    floating = op.floating

    def remember(number: float, like: Tensor) -> Tensor:
        found = operand(number, like, floating)
        if like._array.dtype.kind == "f":  # beside integers the default dtype counts, which may change
            scope["last"] = number, like._array.dtype, found
        return found

    scope |= {"last": (None, None, None), "remember": remember}
    return scope


def make_call(
    op: Op,
    *,
    operator: bool = False,
    first: bool = False,
    compute: Callable | None = None,
    suits: str = "",
    otherwise: Callable | None = None,
) -> Callable:
    """The function that runs the operation: its tensors first, then the parameters of its forward function.

    operator: it leaves foreign operands to Python: `x + other` asks `other`, or raises Python's TypeError.
    first: of several results it hands out the first; no tensors are made for the others, which at most are saved.
    compute: what does the work in place of the forward function, for arrays that it suits.
    suits: a further condition of the ordinary case, on the arrays x0, x1, ... and on params.
    otherwise: what is called in every other case, in place of `dispatch.apply`.
    """
    count = len(op.inputs)
    if op.variadic:
        return make_variadic(op)
    scope = remembering({
        "__name__": __name__, "anomaly": anomaly, "asarray": np.asarray, "clock": clock, "Counter": Counter,
        "default_float": dtypes.default_float, "edge": edge, "explained": explained, "forward": compute or op.forward,
        "local": local,
        "make_view": make_view, "ndarray": ndarray, "new_object": new_object, "next_sequence": next_sequence,
        "Node": op.node_class, "op": op, "plain_types": plain_types, "Promoted": Promoted,
        "promoted": promoted, "special": special, "Tensor": Tensor,
        "unusual": make_unusual(op, operator, first, otherwise),
    }, op)  # fmt: skip
    signature = ", ".join([f"t{i}" for i in range(count)] + ["*params"] * bool(op.params))
    return written_later(
        "call",
        signature,
        scope,
        lambda: source_of(op, first, compute or op.forward, suits),
        argument_names(op),
    )


def argument_names(op: Op) -> tuple[str, ...]:
    """What PyTorch calls the arguments of an operation."""
    return ("input" if op.inputs[0] == "self" else op.inputs[0], *op.inputs[1:], *op.params)


def written_later(
    name: str, signature: str, scope: dict, source: Callable[[], str], names: tuple[str, ...] = ()
) -> Callable:
    """The function that `source()` is the text of, written out when it is first called: start-up time counts.

    scope: the globals of the function. names: what its arguments are called, if not as in the signature.
    """

    def write() -> None:
        function.__code__ = renamed(source())

    def renamed(text: str) -> CodeType:
        code = compiled(text)
        own = names[: code.co_argcount]
        return code.replace(co_varnames=own + code.co_varnames[len(own) :])

    function = FunctionType(
        renamed(f"def {name}({signature}): write(); return {name}({signature})"), scope, name
    )
    scope["write"], scope[name] = write, function
    scope["__builtins__"] = builtins  # NumPy's methods that are written in Python ask their caller for it
    return function


@functools.cache  # many operations are alike
def compiled(text: str) -> CodeType:
    """The code of the function that `text` defines."""
    module = compile(text, "<minigrad.ops.calls>", "exec")
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType))


def make_unusual(op: Op, operator: bool, first: bool, otherwise: Callable | None) -> Callable:
    """What is called when the ordinary case does not apply: `unusual(inputs, params)`."""
    if otherwise is not None:
        return lambda inputs, params: otherwise(*inputs, *params)
    known = (Tensor, np.generic, ndarray, int, float) if op.numbers else (Tensor, np.generic, ndarray)

    def unusual(inputs: tuple, params: tuple):
        if operator and not isinstance(inputs[-1], known):
            if isinstance(inputs[-1], complex):
                raise dtypes.no_complex()
            return NotImplemented
        return apply(op, inputs, params)[0] if first else apply(op, inputs, params)

    return unusual


def source_of(op: Op, first: bool = False, compute: Callable | None = None, suits: str = "") -> str:
    """The text of the function that runs `op` in the ordinary case (see `make_call`)."""
    compute = compute or op.forward
    count, elementwise = len(op.inputs), op.kind == "elementwise"
    tensors = [f"t{i}" for i in range(count)]
    arrays = [f"x{i}" for i in range(count)]
    differentiable = op.differentiable
    outs, results = result_names(op, first)
    params, star = ("params", ", *params") if op.params else ("()", "")
    inputs, values = f"({', '.join(tensors)},)", f"({', '.join(arrays)},)"

    # are we recording? None: something else is unusual, too
    lines = [
        f"def call({', '.join(tensors)}{star}):",
        "    recording = not special or (None if anomaly.on else local.recording)",
    ]
    given = [perhaps(op, i, "{} is not None and ") for i in range(count)]
    plain = [
        f"({there}type({t}) is not Tensor and type({t}) not in plain_types)"
        for t, there in zip(tensors, given, strict=True)
    ]
    in_a_rule = [
        f"({t} is None or type({t}) is ndarray)" if there else f"type({t}) is ndarray"
        for t, there in zip(tensors, given, strict=True)
    ]
    instead = [f"        return unusual({inputs}, {params})"]
    if compute is op.forward:
        instead = [
            f"        if {' and '.join(in_a_rule)}:  # in a rule",
            f"            return forward({', '.join(tensors)}{star}){'[0]' if first else ''}",
            *instead,
        ]
    if number_may_be_second(op):
        lines += [
            f"    if recording is None or {plain[0]}:",
            *instead,
            *number_lines(f"return unusual({inputs}, {params})"),
        ]
    else:
        lines += [
            f"    if recording is None or {' or '.join(plain)}:",
            *instead,
        ]

    # the arrays, of an elementwise operation in their common dtype
    lines += [f"    x{i} = {perhaps(op, i, 'None if {} is None else ')}t{i}._array" for i in range(count)]
    alike = differentiable or range(count)  # the inputs that are brought into one dtype
    if elementwise and len(alike) > 1:
        chosen = "".join(f"t{i}, " for i in alike)
        same = " and ".join(
            f"({perhaps(op, i, '{} is None or ')}dtype is x{i}.dtype or dtype == x{i}.dtype)"
            for i in alike[1:]
        )
        lines += [f"    dtype = x{alike[0]}.dtype", f"    same = {same}"]
        not_float = " or dtype.kind != 'f'" if op.floating else ""
        lines += [f"    if not same{not_float}:"]
        lines += [f"        {''.join(f'x{i}, ' for i in alike)} = promoted(op, ({chosen}))"]
    elif op.floating:
        for i in alike:
            lines += [f"    if {given[i]}x{i}.dtype.kind != 'f':"]
            lines += [f"        x{i} = x{i}.astype(default_float())"]
    if suits:
        lines += [f"    if not ({suits}):", f"        return unusual({inputs}, {params})"]
    always_array = type(compute) is np.ufunc  # it makes a number of a 0-d result, unless it is told not to
    arguments = f"{', '.join(arrays)}{star}{', out=...' if always_array else ''}"
    lines += [
        "    try:",
        f"        {', '.join(results) if op.outputs else 'ys'} = forward({arguments})",
        "    except (ValueError, TypeError) as error:",
        f"        raise explained(error, op, {values}) from None",
    ]
    lines += indented(wrapping_lines(op, first, always_array))
    wanted = " or ".join(
        f"({given[i]}t{i}._requires_grad)" if given[i] else f"t{i}._requires_grad" for i in differentiable
    )
    if wanted:
        lines += [f"    if recording and {f'({wanted})' if len(differentiable) > 1 else wanted}:"]
        lines += indented(indented(recording_lines(op, first)))
    if has_one_history(op, first):
        otherwise = ["    out._grad_fn = None", "    out._born = clock.now", "    out._requires_grad = False"]
        lines += ["    else:", *indented(otherwise)] if wanted else otherwise
    return "\n".join([*lines, f"    return {', '.join(outs) if op.outputs else 'tuple(outs)'}"])


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def result_names(op: Op, first: bool) -> tuple[list[str], list[str]]:
    """What the function calls the tensors that it hands out, and the arrays of all its results.

    Where only `forward` knows how many there are, they are in `outs` and `ys`, and these are the names of one of them.
    """
    if len(op.outputs) < 2:
        return ["out"], ["y"]
    numbers = range(len(op.outputs))
    return ["out"] if first else [f"out{i}" for i in numbers], [f"y{i}" for i in numbers]


def has_one_history(op: Op, first: bool) -> bool:
    """Is there one result whose history is all that it is told? A view may require grad only because its base does."""
    return (first or len(op.outputs) == 1) and not op.view


def wrapping_lines(op: Op, first: bool, always_array: bool) -> list[str]:
    """The part of the function that makes tensors of the results."""
    outs, results = result_names(op, first)
    lines = []
    for y in () if always_array else results:
        lines += [f"if type({y}) is not ndarray:", f"    {y} = asarray({y})"]
    for out, y in zip(outs, results, strict=not first):
        lines += [
            f"{out} = new_object(Tensor)",
            f"{out}._array = {y}",
            f"{out}._output_nr = 0",
            f"{out}._meta = {out}._counter = None",
        ]
        if not has_one_history(op, first):
            lines += [f"{out}._requires_grad = False", f"{out}._grad_fn = None"]
            if not op.view:  # which is as old as its base
                lines += [f"{out}._born = clock.now"]
        if op.view:
            lines += [f"make_view({out}, t0, {len(op.outputs) != 1})"]
    return lines if op.outputs else ["outs = []", "for y in ys:", *indented([*lines, "outs.append(out)"])]


def recording_lines(op: Op, first: bool) -> list[str]:
    """The part of the function that makes the node."""
    outs, _ = result_names(op, first)
    lines = [*edge_lines(op), "node = Node()"]
    if first or len(op.outputs) == 1:
        lines += ["out._requires_grad, out._grad_fn = True, node"]
    else:
        told = []
        numbered = [("number", "out")]  # the names in the loop over them
        if op.outputs:
            numbered = enumerate(outs[: op.node_class._output_count])
        for number, out in numbered:
            told += [
                f"if {out}._array.dtype.kind == 'f':  # an index is not differentiable",
                f"    {out}._requires_grad = True",
                f"    {out}._grad_fn, {out}._output_nr = node, {number}",
            ]
        if not op.outputs:
            told = ["node._output_count = len(outs)", "for number, out in enumerate(outs):", *indented(told)]
        lines += told
    lines += node_lines(op)
    if op.saved_results:
        number = op.sources[op.saved_results[0]][1]
        lines += [f"node._counter = {f'{outs[number]}._counter = Counter()' if number < len(outs) else None}"]
    return lines


def perhaps(op: Op, i: int, words: str) -> str:
    """What is to be said of an input if it may be None, such as "{} is None or "; nothing if it is always there."""
    return words.format(f"t{i}") if op.inputs[i] in op.optional else ""


def edge_lines(op: Op) -> list[str]:
    """The nodes of the inputs: `edge()`, inlined for results of operations."""
    lines = []
    for i in op.differentiable:
        plain = f"t{i}._grad_fn or (edge(t{i}) if t{i}._requires_grad else None)"
        target = f"({plain}) if t{i}._meta is None else edge(t{i})"
        lines += [f"e{i} = {perhaps(op, i, 'None if {} is None else ')}{target}"]
    return lines


def node_lines(op: Op) -> list[str]:
    """What the node is told: its edges, what it saves, and what broadcasting and promotion did."""
    differentiable = op.differentiable
    edges = "".join(f"e{i}, " for i in differentiable)
    numbers = [
        f"(0 if t{i} is None else t{i}._output_nr)" if op.inputs[i] in op.optional else f"t{i}._output_nr"
        for i in differentiable
    ]
    lines = [
        f"node._edges = ({edges})",
        f"node._input_nrs = ({', '.join(numbers)},) if {' or '.join(numbers)} else None",
        "node._sequence = next_sequence()",
        "node._hooks = node._meta = None",
    ]

    # A tensor is saved only if the gradient whose rule reads it will be computed; None takes its place otherwise.
    saved = [saved_value(op, i) for i in range(len(op.saves))]
    inputs = [(i, f"s{i}") for i in op.saved_inputs]
    for i, s in inputs:
        lines += [f"{s} = {saved[i]}"]
        saved[i] = s
    lines += [f"node._kept = ({''.join(f'{value}, ' for value in saved)})"]
    if op.frees:
        lines += ["version = 0"]
        for i, s in inputs:
            present = "" if is_always_there(op, i) else f"{s} is not None and "
            field = f" << {FIELD * i}" if i else ""
            lines += [f"if {present}{s}._counter is not None:", f"    version += {s}._counter.version{field}"]
        lines += ["node._version = version"]

    # what broadcasting and promotion did is undone for the gradient
    metas = "".join(
        f"{perhaps(op, i, 'None if {} is None else ')}(t{i}._array.shape, t{i}._array.dtype), "
        for i in differentiable
    )
    if op.kind == "elementwise" and len(differentiable) > 1:
        one, *others = differentiable
        unlike = "".join(
            f" or {perhaps(op, i, '{} is not None and ')}x{one}.shape != x{i}.shape" for i in others
        )
        if len(op.inputs) > len(differentiable):
            unlike += f" or x{one}.shape != y.shape"
        lines += [f"if not same{unlike}:", f"    node._meta = ({metas}) if same else Promoted(({metas}))"]
    elif op.kind == "elementwise" and len(op.inputs) == 1:
        lines += [
            "if y.dtype is not t0._array.dtype and y.dtype != t0._array.dtype:",
            f"    node._meta = ({metas})",
        ]
    elif op.broadcasts:
        unlike = " or ".join(f"x{i}.shape != y.shape or t{i}._array.dtype != y.dtype" for i in differentiable)
        lines += [f"if {unlike}:", f"    node._meta = ({metas})"]
    return lines


def saved_value(op: Op, position: int) -> str:
    """The expression of what a node saves in this place."""
    source, number = op.sources[position]
    value = {
        "param": f"(params[{number}] if len(params) > {number} else None)",
        "sizes": f"t{number}._array.shape",
        "input": f"t{number}",
        "result": result_names(op, False)[1][number] if source == "result" else "",
    }[source]
    guard = op.guards[position]
    return value if guard is None else f"({value} if e{op.differentiable[guard]} is not None else None)"


def is_always_there(op: Op, position: int) -> bool:
    """Is the saved input in this place never None?"""
    return op.guards[position] is None and op.inputs[op.sources[position][1]] not in op.optional


def make_variadic(op: Op) -> Callable:
    """The function that runs an operation on a sequence of tensors, none of which it saves."""
    forward, node_class, sources = op.forward, op.node_class, op.sources

    def call(tensors, *params):
        recording = not special or (None if anomaly.on else local.recording)
        wanted = False
        for t in tensors:
            if type(t) is not Tensor and type(t) not in plain_types:
                recording = None
                break
            wanted = wanted or t._requires_grad
        if recording is None:
            return apply(op, tuple(tensors), params)
        arrays = [t._array for t in tensors]
        try:
            y = forward(arrays, *params)
        except (ValueError, TypeError) as error:
            raise explained(error, op, arrays) from None
        out = new_object(Tensor)
        out._array = y
        out._output_nr = 0
        out._meta = out._counter = None
        if not (recording and wanted):
            out._requires_grad, out._grad_fn, out._born = False, None, clock.now
            return out
        out._requires_grad, out._grad_fn = True, node_class()
        node = out._grad_fn
        node._edges = tuple([(t._grad_fn or edge(t)) if t._meta is None else edge(t) for t in tensors])
        numbers = tuple([t._output_nr for t in tensors])
        node._input_nrs = numbers if any(numbers) else None
        node._sequence = next_sequence()
        node._hooks = node._meta = None
        for a in arrays:
            if a.dtype != y.dtype:
                node._meta = tuple([(a.shape, a.dtype) for a in arrays])
                break
        node._kept = tuple([
            [a.shape for a in arrays] if source == "sizes" else params[position] if len(params) > position else None
            for source, position in sources
        ])  # fmt: skip
        return out

    return call


__all__ = ["argument_names", "make_call", "number_may_be_second", "remembering", "source_of", "written_later"]
