"""The one template: it writes, for each operation, the function that users call, its `core`, and its node's `_vjp`.

`core(tensors..., params...)` computes on the arrays, wraps the result and hangs a node on it if an input requires grad.
The function that users call is a guard before the same lines: with plain tensors and nothing unusual going on (see
autograd/modes.py) it runs them at once; anything else goes to `run.general`, which puts the arguments in order, asks a
transform if one is active, and calls `core`. The rules of the table are called as they stand. Written out for each
operation, without loops over inputs and without tests whose answer is known, this is 1.7 times as fast as closures.

To read what was written: `print(minigrad.exp.op.text)`.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes
from ..autograd.modes import anomaly, local, special
from ..autograd.node import edge, next_sequence
from ..autograd.saved import FIELD, unpack, versions
from ..autograd.views import make_view
from ..basics import wrap_dim
from ..tensor import InferenceTensor, Tensor, new_object, plain_types
from .errors import explained
from .run import ORDERED, as_dims, as_number, as_shape, as_size, finish, fit, general, operand, promoted

if TYPE_CHECKING:
    from .table import Op

# What the written functions call, beside their own operation, its forward function, node class and rules.
FUNCTIONS = (
    as_dims, as_number, as_shape, as_size, edge, explained, finish, fit, general, make_view, operand, promoted, unpack,
    versions, wrap_dim, Tensor, np.ndarray, dtypes.default_float, np.asarray, type(None),
)  # fmt: skip
NAMED = dict(
    __builtins__=builtins, anomaly=anomaly, dtypes=dtypes, local=local, new_object=new_object, next_sequence=next_sequence,
    plain_types=plain_types, special=special, InferenceTensor=InferenceTensor,
)  # fmt: skip
SHARED = {f.__name__: f for f in FUNCTIONS} | NAMED


@functools.cache  # many operations are alike
def compiled(text: str) -> CodeType:
    """The code of the function that `text` defines."""
    module = compile(text, "<minigrad.ops.template>", "exec")
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType))


def written(op: Op, kind: str) -> Callable:
    """The function of an operation that its transforms and its node call: "core", "record" or "vjp"."""
    return FunctionType(compiled(TEXTS[kind](op)), op.scope, op.name)


def write_later(op: Op, kind: str) -> Callable:
    """The function of an operation that users call, "call", "method" or "operator". It is written when it is first called:
    to write all of them would make `import minigrad` ten times slower."""

    def first_call(*args, **kwargs):
        function.__code__ = compiled(TEXTS[kind](op))
        if kind != "operator":
            function.__defaults__ = tuple([p.default for p in op.signature.positional if not p.many])
            function.__kwdefaults__ = {p.name: p.default for p in op.signature.parameters if p.keyword_only}
        return function(*args, **kwargs)

    function = FunctionType(FIRST, op.scope | {"first_call": first_call}, op.name)
    return function


FIRST = compiled("def call(*args, **kwargs):\n    return first_call(*args, **kwargs)")


def indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


def joined(parts: Sequence[str]) -> str:
    """A tuple of them."""
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def if_given(op: Op, name: str, question: str) -> str:
    """A question about an input, answered with False if that may be absent and is."""
    return f"({name} is not None and {question})" if name in op.absent else question


def unless_absent(op: Op, name: str, value: str) -> str:
    """An expression about an input, None if that may be absent and is."""
    return f"None if {name} is None else ({value})" if name in op.absent else value


# ---------------------------------------------------------------- the guard


def call_text(op: Op, method: bool = False) -> str:
    """What users call. Anything that is not plain goes to `general`, arrays inside a rule to `forward`."""
    positional, named = op.signature.positional, [p.name for p in op.signature.parameters if p.keyword_only]
    many = positional[-1].many
    heads = [("*" if p.many else "") + p.name for p in positional] + ["*more"] * (not many)
    everything = f"{joined(heads)}, {{{''.join(f'{n!r}: {n}, ' for n in named)}**others}}, {method}"
    lines = [f"def call({', '.join([*heads, *named, '**others'])}):"]
    strange = f"others or not {positional[-1].name}" if many else "more or others"
    return "\n".join(
        [
            *lines,
            *indented(guard_lines(op, strange, everything, f"return general(op, {everything})")),
        ]
    )


def operator_text(op: Op) -> str:
    """`x + other`: what is neither a tensor nor a number is left to Python, which asks `other`."""
    otherwise = f"return general(op, {joined(op.inputs)}, {{}}) if known({op.inputs[-1]}) else NotImplemented"
    defaults = [f"{n} = {op.signature.defaults[n]!r}" for n in op.params]
    return "\n".join(
        [
            f"def operator({', '.join(op.inputs)}):",
            *indented([*defaults, *guard_lines(op, "", f"{joined(op.inputs)}, {{}}, True", otherwise)]),
        ]
    )


def guard_lines(op: Op, strange: str, called: str, otherwise: str) -> list[str]:
    """Is all as usual? Then the lines of the core; `otherwise` if not, or if the condition `strange` holds."""
    first, *rest = op.inputs
    if op.variadic:
        unlike = [
            f"type({first}) not in (list, tuple) or not {first} or not plain_types.issuperset(map(type, {first}))"
        ]
        in_rule, array = f"type({first}) is list and {first} and type({first}[0]) is ndarray", f"{first}[0]"
    else:
        foreign = "type({0}) is not Tensor and type({0}) not in plain_types"
        unlike = [f"({if_given(op, n, foreign.format(n))})" for n in ([first] if op.numbers else op.inputs)]
        kinds = "(ndarray, float, int)" if op.numbers else "(ndarray,)"
        others = [f"(type({n}) in {kinds}{f' or {n} is None' * (n in op.absent)})" for n in rest]
        in_rule, array = " and ".join([f"type({first}) is ndarray", *others]), first
    lines = [
        "recording = not special or (None if anomaly.on else local.recording)",
        f"if {' or '.join(['recording is None', *filter(None, [strange]), *unlike])}:",
        f"    if {in_rule}{f' and not ({strange})' if strange else ''}:",
        *indented(indented(ordered_lines(op, array))),
        f"        return forward({', '.join([*op.inputs, *op.params])})",
        f"    {otherwise}",
    ]
    for n in rest if op.numbers else ():
        lines += [
            f"if {if_given(op, n, f'type({n}) is not Tensor and type({n}) not in plain_types')}:",
            f"    if type({n}) is not float and type({n}) is not int:",
            f"        {otherwise}",
            f"    {n} = operand({n}, {first}, {op.floating})",
        ]
    for p in op.signature.parameters:
        if p.kind in SEEN and (p.default is not None or p.kind == "dims"):
            lines += [f"if {SEEN[p.kind].format(p.name)}:", f"    {otherwise}"]
    return [*lines, *core_lines(op, called=called, ordered=ordered_lines(op, f"{array}._array"))]


def ordered_lines(op: Op, array: str) -> list[str]:
    """Put the parameters in order; `array` is the expression for the array of the first input."""
    lines = []
    for p in op.signature.parameters:
        if p.kind in ORDERED:
            value = ORDERED[p.kind].replace("{x}", array).replace("{}", p.name)
            optional = p.default is None and p.kind != "dims"
            lines.append(f"{p.name} = " + (f"None if {p.name} is None else ({value})" if optional else value))
    return lines


# ---------------------------------------------------------------- the core


def core_text(op: Op) -> str:
    """The operation on tensors, whatever is going on; the parameters are in order."""
    heads = ", ".join([*op.inputs, *op.params])
    lines = ["recording = not special or local.records", *core_lines(op, unusual=True)]
    return "\n".join([f"def core({heads}):", *indented(lines)])


def core_lines(
    op: Op, unusual: bool = False, called: str = "(), {}, False", ordered: Sequence[str] = ()
) -> list[str]:
    """Compute, wrap, record. unusual: also what only `general` can meet. called: the arguments, to blame them.
    ordered: what puts the parameters in order first."""
    ufunc = type(op.forward) is np.ufunc  # it makes a number of a 0-d result, unless it is told not to
    outs, results = names_of_results(op)
    values = ["x"] if op.variadic else [f"x{i}" for i in range(len(op.inputs))]
    lines = [
        *array_lines(op),
        "try:",
        *indented(ordered),
        f"    {', '.join(results) if op.outputs else 'ys'} = "
        f"forward({', '.join([*values, *op.params])}{', out=...' * ufunc})",
        "except Exception as error:",
        f"    raise explained(error, op, {values[0] if op.variadic else joined(values)}, {called}) from None",
    ]
    made = []
    for out, y in zip(outs, results, strict=True):
        if not ufunc:
            made += [f"if type({y}) is not ndarray:", f"    {y} = asarray({y})"]
        made += [f"{out} = new_object(Tensor)", f"{out}._array, {out}._output_nr = {y}, 0"]
        made += [f"{out}._meta = {out}._counter = None"]
        if not has_one_history(op):
            made += [f"{out}._requires_grad, {out}._grad_fn = False, None"]
        if op.view:
            made += [f"make_view({out}, {op.inputs[0]}, {len(op.outputs) != 1})"]
        elif unusual:
            made += ["if special and local.inference:", f"    {out}.__class__ = InferenceTensor"]
    lines += made if op.outputs else ["outs = []", "for y in ys:", *indented([*made, "outs.append(out)"])]
    if op.rules:
        lines += record_lines(op, unusual)
    if has_one_history(op):  # told once, as to tell it costs time
        history = "out._requires_grad, out._grad_fn = False, None"
        lines += ["else:", f"    {history}"] if op.rules else [history]
    found = "out" if len(op.outputs) == 1 else f"as_result({joined(outs)})" if op.outputs else "tuple(outs)"
    return [*lines, f"return {found}"]


def has_one_history(op: Op) -> bool:
    """Is there one result, of which the node is all there is to tell? A view may require grad because its base does."""
    return len(op.outputs) == 1 and not op.view


def names_of_results(op: Op) -> tuple[list[str], list[str]]:
    """What the tensors and the arrays of the results are called; where there may be any number, one of them."""
    if len(op.outputs) < 2:
        return ["out"], ["y"]
    return [f"out{i}" for i in range(len(op.outputs))], [f"y{i}" for i in range(len(op.outputs))]


def array_lines(op: Op) -> list[str]:
    """The arrays of the inputs, brought into the dtype in which the operation is done."""
    if op.variadic:
        lines = [f"x = [t._array for t in {op.inputs[0]}]"]
        return [*lines, "if any([a.dtype is not x[0].dtype for a in x]):", "    x = promoted(x, op)"]
    lines = [f"x{i} = {unless_absent(op, n, f'{n}._array')}" for i, n in enumerate(op.inputs)]
    alike = list(op.differentiable or range(len(op.inputs)))
    if op.kind == "elementwise" and len(alike) > 1:
        others = [if_given(op, op.inputs[i], f"dtype is not x{i}.dtype") for i in alike[1:]]
        unlike = " or ".join([*others, *["dtype.kind != 'f'"] * op.floating])
        names = joined([f"x{i}" for i in alike])
        lines += [
            f"dtype = x{alike[0]}.dtype",
            f"mixed = {unlike}",
            "if mixed:",
            f"    {names} = promoted({names}, op)",
        ]
    elif op.floating:
        for i in alike:
            lines += [f"if x{i}.dtype.kind != 'f':", f"    x{i} = x{i}.astype(default_float())"]
    return lines


# ---------------------------------------------------------------- recording


def record_text(op: Op) -> str:
    """Only the last part of the core, for a transform, which has computed the results `outs` in its own way."""
    outs, results = names_of_results(op)
    lines = [f"x{i} = {unless_absent(op, n, f'{n}._array')}" for i, n in enumerate(op.inputs)]
    if op.variadic:
        lines = [f"x = [t._array for t in {op.inputs[0]}]"]
    if op.outputs:
        lines += [
            f"{joined(outs)} = outs",
            *[f"{y} = {out}._array" for out, y in zip(outs, results, strict=True)],
        ]
    lines += ["recording, node = True, None", *record_lines(op, True, "outs[{}].face()"), "return node"]
    return "\n".join([f"def record({', '.join([*op.inputs, *op.params, 'outs'])}):", *indented(lines)])


def record_lines(op: Op, unusual: bool, result: str = "") -> list[str]:
    """Make the node and hang it on the results. result: what is kept of a result, if not its array."""
    outs, _ = names_of_results(op)
    chosen = [op.inputs[i] for i in op.differentiable]
    edge_of = (
        "({0}._grad_fn or (edge({0}) if {0}._requires_grad else None)) if {0}._meta is None else edge({0})"
    )
    if op.variadic:
        wanted = f"any([t._requires_grad for t in {op.inputs[0]}])"
        lines = [f"numbers = [t._output_nr for t in {op.inputs[0]}]"]
        edges, numbers = (
            f"tuple([{edge_of.format('t')} for t in {op.inputs[0]}])",
            "tuple(numbers) if any(numbers) else None",
        )
    else:
        wanted = " or ".join(if_given(op, n, f"{n}._requires_grad") for n in chosen)
        lines = [
            f"e{i} = {unless_absent(op, n, edge_of.format(n))}"
            for i, n in zip(op.differentiable, chosen, strict=True)
        ]
        nrs = [
            f"(0 if {n} is None else {n}._output_nr)" if n in op.absent else f"{n}._output_nr" for n in chosen
        ]
        edges, numbers = (
            joined([f"e{i}" for i in op.differentiable]),
            f"{joined(nrs)} if {' or '.join(nrs)} else None",
        )
    lines += [
        "node = Node()",
        f"node._edges, node._input_nrs, node._sequence = {edges}, {numbers}, next_sequence()",
    ]
    lines += ["node._hooks = node._meta = node._counter = None"]
    if op.saved_results:
        lines += [f"node._counter = {outs[op.sources[op.saved_results[0]][1]]}._own_counter()"]
    lines += [*kept_lines(op, result), *meta_lines(op, unusual)]
    for number, out in enumerate(outs[: op.node_class._output_count] if op.outputs else ()):
        told = f"{out}._requires_grad, {out}._grad_fn" + (
            f", {out}._output_nr = True, node, {number}" if number else " = True, node"
        )
        lines += [told] if len(outs) == 1 else [f"if {out}._array.dtype.kind == 'f':", f"    {told}"]
    if not op.outputs:
        lines += ["node._output_count = len(outs)", "for number, out in enumerate(outs):"]
        lines += ["    out._requires_grad, out._grad_fn, out._output_nr = True, node, number"]
    if unusual:
        lines += [f"finish(op, node, {joined(outs) if op.outputs else 'outs'})"]
    floating = f" and {outs[0]}._array.dtype.kind == 'f'" * ("dtype" in op.signature.kinds.values())
    return [f"if recording and ({wanted}){floating}:", *indented(lines)]


def kept_lines(op: Op, result: str) -> list[str]:
    """What the node saves. A tensor only if the gradient whose rule reads it will be computed, None otherwise."""
    lines, kept, counted, (_, results) = [], [], [], names_of_results(op)
    for place, ((source, number), guard) in enumerate(zip(op.sources, op.guards, strict=True)):
        name = op.inputs[number] if source in ("input", "sizes") else ""
        value = {
            "param": lambda number: op.params[number],
            "sizes": lambda number: "[a.shape for a in x]" if op.variadic else f"x{number}.shape",
            "numel": lambda number: f"x{number}.size",
            "result": lambda number: result.format(number) or results[number],
            "input": lambda number: op.inputs[number],
        }[source](number)
        if source == "sizes":
            value = unless_absent(op, name, value)
        if guard is not None:
            value = f"{value} if e{op.differentiable[guard]} is not None else None"
        if source == "input":
            lines.append(f"s{place} = {value}")
            there = f"s{place} is not None and " if guard is not None or name in op.absent else ""
            counted.append(f"({there}s{place}._counter is not None)")
            value = f"s{place}"
        kept.append(value)
    version = f"versions(node) if {' or '.join(counted)} else 0" if counted else "0"
    return [*lines, f"node._kept = {joined(kept)}", f"node._version = {version}"]


def meta_lines(op: Op, unusual: bool) -> list[str]:
    """What broadcasting and promotion did, to be undone for the gradient."""
    if op.variadic:
        unlike = f"any([t._array.dtype is not y.dtype for t in {op.inputs[0]}])"
        metas = f"tuple([(t._array.shape, t._array.dtype) for t in {op.inputs[0]}])"
        return [f"if {unlike}:", f"    node._meta = {metas}"] if op.outputs else []
    if not op.broadcasts:
        return []
    names = [(i, op.inputs[i]) for i in op.differentiable]
    unlike = [
        if_given(op, n, f"(x{i}.shape != y.shape or {n}._array.dtype is not y.dtype)") for i, n in names
    ]
    if (
        op.kind == "elementwise" and len(names) == len(op.inputs) > 1 and not unusual
    ):  # the same in fewer steps
        unlike = ["mixed", *[if_given(op, n, f"x{i}.shape != x0.shape") for i, n in names[1:]]]
    metas = [unless_absent(op, n, f"({n}._array.shape, {n}._array.dtype)") for _, n in names]
    return [f"if {' or '.join(unlike)}:", f"    node._meta = {joined(metas)}"]


# ---------------------------------------------------------------- the backward pass


def vjp_text(op: Op) -> str:
    """`_vjp(grad, recorded)` of the node: read what was saved, call the rules of the inputs that need a gradient."""
    lines, count = [], len(op.differentiable)
    if op.saves:
        saved = joined([f"s{i}" for i in range(len(op.saves))])
        lines = [f"{saved} = node._kept"]
        if op.frees:
            lines = [
                "if recorded or node._kept is None or node._version < 0:",
                f"    {saved} = unpack(node, recorded)",
                "else:",
            ]
            lines += indented([f"{saved} = node._kept", *version_lines(op)])
    if op.variadic:
        lines += [
            f"parts = rule0({', '.join(['grad', *[f's{p}' for p in op.plan[0][2]]])})",
            "if node._meta is not None:",
            "    parts = [fit(r, *m) for r, m in zip(parts, node._meta)]",
            "return tuple([None if e is None else r for r, e in zip(parts, node._edges)])",
        ]
        return "\n".join(["def vjp(node, grad, recorded):", *indented(lines)])
    results = joined([f"r{i}" for i in range(count)])
    lines += [f"{joined([f'e{i}' for i in range(count)])} = node._edges"]
    for place, (rule, numbers, picks) in enumerate(op.plan):
        read = "".join(f", s{p}" for p in picks)
        if op.gives_several(rule):
            mask = joined([f"e{n} is not None" for n in numbers])
            lines += [f"{joined([f'r{n}' for n in numbers])} = rule{place}(grad, {mask}{read})"]
        else:
            needless = f"None if e{numbers[0]} is None else " if count > 1 else ""
            lines += [f"r{numbers[0]} = {needless}rule{place}(grad{read})"]
    if op.flat:
        flat = joined([f"s{p}" for p in op.flat])
        lines += ["if recorded:", f"    {results} = with_flat({results}, {flat})"]
    if op.broadcasts:
        lines += ["if node._meta is not None:"]
        lines += [f"    r{i} = r{i} if r{i} is None else fit(r{i}, *node._meta[{i}])" for i in range(count)]
    return "\n".join(["def vjp(node, grad, recorded):", *indented([*lines, f"return {results}"])])


def version_lines(op: Op) -> list[str]:
    """In a plain pass: take the arrays, and see that nobody has written to them since."""
    lines = ["version = 0"]
    for i in op.saved_inputs:
        count = [
            f"if s{i}._counter is not None:",
            f"    version += s{i}._counter.version + s{i}._counter.detached << {FIELD * i}",
        ]
        lines += [f"if s{i} is not None:", *indented([*count, f"s{i} = s{i}._array"])]
    if op.saved_results:
        lines += [f"version += node._counter.version << {FIELD * op.saved_results[0]}"]
    return [
        *lines,
        "if version != node._version:",
        "    unpack(node, False)  # which says what was written to",
    ]


# What shows, for a parameter of this kind, that there is something wrong with it, or unusual.
SEEN = {
    "bool": "{0} is not False and {0} is not True",
    "dim": "type({0}) is not int",
    "int": "type({0}) is not int",
    "float": "type({0}) is not int and type({0}) is not float",
    "Scalar": "type({0}) is not int and type({0}) is not float",
    "dims": "type({0}) not in (int, tuple, list, NoneType)",
}
TEXTS = {
    "call": call_text,
    "method": functools.partial(call_text, method=True),
    "core": core_text,
    "operator": operator_text,
    "record": record_text,
    "vjp": vjp_text,
}
