"""The one template: it writes, for each operation, the function that users call, its `core`, and its node's `_vjp`.

`core(inputs, params)` computes on the arrays, wraps the result and hangs a node on it if an input requires grad. The
function that users call is a guard before the same lines: with plain tensors and nothing unusual going on (see
autograd/modes.py) it runs them at once; anything else goes to `run.general`, which puts the arguments in order, asks a
transform if one is active, and calls `core`. The rules of the table are called as they stand. Written out for each
operation, without loops over inputs and without tests whose answer is known, this is 1.7 times as fast as closures.

In the texts below a `$word` is a piece that depends on the operation. In what is written, x_self is the array of the input
`self`, e_self the node that its gradient goes to, s_self what is saved of it, r_self its gradient.
To read what was written: `print(minigrad.exp.op.text)`.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable
from types import FunctionType
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
from .run import as_dims, as_number, as_shape, as_size, finish, fit, fit_each, general, operand, promoted
from .signature import KINDS, compiled

if TYPE_CHECKING:
    from .table import Op

# What the written functions call, beside their own operation, its forward function, node class and rules.
FUNCTIONS = (
    as_dims, as_number, as_shape, as_size, edge, explained, finish, fit, fit_each, general, make_view, operand, promoted,
    unpack, versions, wrap_dim, Tensor, np.ndarray, dtypes.default_float, np.asarray, type(None),
)  # fmt: skip
SHARED = {f.__name__: f for f in FUNCTIONS} | dict(
    __builtins__=builtins, anomaly=anomaly, dtypes=dtypes, local=local, new_object=new_object, next_sequence=next_sequence,
    plain_types=plain_types, special=special, InferenceTensor=InferenceTensor,
)  # fmt: skip

# ---------------------------------------------------------------- the texts

CALL = """
def call($heads):
    recording = not special or (None if anomaly.on else local.recording)
    if recording is None or $unusual:
        if $in_rule:
            $ordered_alone
            return forward($everything)
        return $otherwise
    $numbers
    $checks
    $body
"""
CORE = """
def core(inputs, params, made):
    $unpacked
    recording = not special or local.records
    $arrays
    if made is None:
        $computed
    else:
        $taken
    $recorded
    $returned
"""
COMPUTED = """
try:
    $in_order
    $results = forward($values)
except Exception as error:
    raise explained(error, op, $arrays, $called, how) from None
$wrapped
"""
WRAPPED = """
$as_array
out = new_object(Tensor)
out._array, out._output_nr = y, 0
out._meta = out._counter = None
$no_history
$kind
"""
SEVERAL = """
outs = []
for y in ys:
    $wrapped
    outs.append(out)
"""
RECORDED = """
if recording and ($wanted):
    $edges
    node = Node()
    node._edges, node._input_nrs, node._sequence = $edge_tuple, $numbers, next_sequence()
    node._hooks = node._meta = node._counter = None
    $counter
    $saved
    node._kept = $kept
    node._version = $version
    $meta
    $hung
    $finished
"""
ORDER = """
def order(x, $params):
    $in_order
    return $tuple
"""
VJP = """
def vjp(node, grad, recorded):
    $read
    $edges = node._edges
    $rules
    $flat
    $fitted
    return $results
"""
READ = """
if recorded or node._kept is None or node._version < 0:
    $saved = unpack(node, recorded)
else:
    $saved = node._kept
    version = 0
    $versions
    if version != node._version:
        unpack(node, False)  # which says what was written to
"""
NO_HISTORY = "out._requires_grad, out._grad_fn = False, None"
EDGE_OF = "({t}._grad_fn or (edge({t}) if {t}._requires_grad else None)) if {t}._meta is None else edge({t})"


def lines_of(text: str, **pieces: str | list[str]) -> list[str]:
    """The lines of a text with its pieces; one that has a line for itself is a list of any number of lines."""
    lines = []
    for line in text.strip().splitlines():
        indent, _, word = line.partition("$")
        if word in pieces and not indent.strip():
            lines += [indent + part for part in pieces[word]]
        else:
            lines.append(re.sub(r"\$(\w+)", lambda found: pieces[found[1]], line))
    return lines


def joined(parts: Iterable[str]) -> str:
    """A tuple of them."""
    return f"({''.join([part + ', ' for part in parts]).strip()})"


def if_given(op: Op, name: str, question: str) -> str:
    """A question about an input, answered with False if that may be absent and is."""
    return f"({name} is not None and {question})" if name in op.absent else question


def unless_absent(op: Op, name: str, value: str, absent: str = "None") -> str:
    """An expression about an input, None if that may be absent and is."""
    return f"{absent} if {name} is None else ({value})" if name in op.absent else value


def any_of(op: Op, names: Iterable[str], question: str) -> str:
    """Is the answer to a question about a tensor, `{t}`, yes for one of these inputs?"""
    if op.variadic:
        return f"any([{question.format(t='t')} for t in {op.inputs[0]}])"
    return " or ".join([if_given(op, n, question.format(t=n)) for n in names])


def of_each(op: Op, value: str, absent: str = "None") -> str:
    """A tuple of the values of an expression about a tensor, `{t}`, for all inputs that have rules."""
    if op.variadic:
        return f"tuple([{value.format(t='t')} for t in {op.inputs[0]}])"
    return joined([unless_absent(op, n, value.format(t=n), absent) for n in op.rules])


def put_in_order(op: Op, array: str) -> list[str]:
    """What makes the parameters those that `forward` gets; `array` is the expression for the array of the first input."""
    lines = []
    for name in op.params:
        value = KINDS[op.signature.kinds[name]].ordered.format(name, array)
        may_be_none = op.signature.defaults[name] is None and op.signature.kinds[name] != "dims"
        lines += [f"{name} = " + f"None if {name} is None else " * may_be_none + f"({value})"] * bool(value)
    return lines


def order_text(op: Op) -> list[str]:
    """The parameters in order, where that is all one needs; x is the array of the first input."""
    return lines_of(
        ORDER, params=", ".join(op.params), in_order=put_in_order(op, "x"), tuple=joined(op.params)
    )


# ---------------------------------------------------------------- what users call


def call_text(op: Op, operator: bool = False, in_place: bool = False) -> list[str]:
    """The function, or the operator, which leaves what is neither a tensor nor a number to Python; in_place: they write.

    Anything that is not plain goes to `general`, arrays inside a rule to `forward`.
    """
    signature, (first, *others) = op.signature, op.inputs
    heads, named = signature.heads, "".join([f"{n!r}: {n}, " for n in signature.only])
    called = f"{joined([*signature.named, '*' + (signature.many or 'more')])}, {{{named}**others}}"
    odd = [f"others or not {signature.many}" if signature.many else "more or others"]
    if operator:
        heads, called, odd = ", ".join(signature.named), f"{joined(signature.named)}, {{}}", []
    otherwise = f"general(op, {called}, how)"
    otherwise += f" if known({signature.named[-1]}) else NotImplemented" * operator
    foreign = "type({t}) is not Tensor and type({t}) not in plain_types"
    if op.variadic:
        array = f"{first}[0]"
        unlike = f"type({first}) not in (list, tuple) or not {first} or not plain_types.issuperset(map(type, {first}))"
        arrays = f"type({first}) is list and {first} and type({array}) is ndarray"
    else:
        array, kinds = first, "(ndarray, float, int)" if op.numbers else "(ndarray,)"
        unlike = any_of(op, [first] if op.numbers else op.inputs, f"({foreign})")
        alone = [f"(type({n}) in {kinds}{f' or {n} is None' * (n in op.absent)})" for n in others]
        arrays = " and ".join([f"type({first}) is ndarray", *alone])
    numbers = []
    for n in others if op.numbers else ():
        numbers += [
            f"if {if_given(op, n, foreign.format(t=n))}:",
            f"    if type({n}) is not float and type({n}) is not int:",
            f"        return {otherwise}",
            f"    {n} = operand({n}, {first}, {op.floating})",
        ]
    checks = []
    for n, kind in signature.kinds.items():
        if KINDS[kind].unusual and (signature.defaults[n] is not None or kind == "dims"):
            checks += [f"if {KINDS[kind].unusual.format(n)}:", f"    return {otherwise}"]
    in_order = put_in_order(op, f"{array}._array")
    if in_place:
        body = [*in_order, f"return write(op, {joined(op.inputs)}, {joined(op.params)})"]
    else:
        body = [*array_lines(op), *compute_lines(op, called, in_order), *record_lines(op), returned(op)]
    return lines_of(
        CALL,
        heads=heads,
        unusual=" or ".join([*odd, unlike]),
        in_rule=" and ".join([arrays, *[f"not ({o})" for o in odd]]),
        ordered_alone=put_in_order(op, array),
        everything=", ".join([*op.inputs, *op.params]),
        otherwise=otherwise,
        numbers=numbers,
        checks=checks,
        body=body,
    )


# ---------------------------------------------------------------- the core


def core_text(op: Op) -> list[str]:
    """The operation on tensors, whatever is going on; the parameters are in order.

    made: results that a transform has computed in its own way, of which only the node is missing.
    """
    inputs = op.inputs[0] if op.variadic else joined(op.inputs)
    one = len(op.outputs) == 1
    return lines_of(
        CORE,
        unpacked=[f"{inputs} = inputs", *[f"{joined(op.params)} = params"] * bool(op.params)],
        arrays=array_lines(op),
        computed=compute_lines(op, "(), {}", (), core=True),
        taken=["(out,) = made", "y = out._array"] if one else ["outs = made"],
        recorded=record_lines(op, core=True),
        returned=[returned(op)],
    )


def arrays_of(op: Op) -> list[str]:
    """What the arrays of the inputs are called."""
    return ["x"] if op.variadic else [f"x_{n}" for n in op.inputs]


def array_lines(op: Op) -> list[str]:
    """The arrays of the inputs, brought into the dtype in which the operation is done."""
    if op.variadic:
        lines = [f"x = [t._array for t in {op.inputs[0]}]"]
        return [*lines, "if any([a.dtype is not x[0].dtype for a in x]):", "    x = promoted(x, op)"]
    lines = [f"x_{n} = {unless_absent(op, n, f'{n}._array')}" for n in op.inputs]
    first, *others = alike = list(op.rules or op.inputs)
    if op.kind == "elementwise" and others:
        unlike = [if_given(op, n, f"x_{n}.dtype is not dtype") for n in others] + [
            "dtype.kind != 'f'"
        ] * op.floating
        names = joined([f"x_{n}" for n in alike])
        lines += [f"dtype = x_{first}.dtype", f"mixed = {' or '.join(unlike)}"]
        lines += ["if mixed:", f"    {names} = promoted({names}, op)"]
    elif op.floating:
        for n in alike:
            lines += [f"if x_{n}.dtype.kind != 'f':", f"    x_{n} = x_{n}.astype(default_float())"]
    return lines


def compute_lines(op: Op, called: str, in_order: Iterable[str], core: bool = False) -> list[str]:
    """Compute and wrap. called: the arguments, to blame them; in_order: what puts the parameters in order first."""
    arrays, one = arrays_of(op), len(op.outputs) == 1
    ufunc = type(op.forward) is np.ufunc  # it makes a number of a 0-d result, unless it is told not to
    kind = [f"make_view(out, {op.inputs[0]}, {not one})"] if op.view else []
    if core and not op.view:
        kind = ["if special and local.inference:", "    out.__class__ = InferenceTensor"]
    wrapped = lines_of(
        WRAPPED,
        as_array=[] if ufunc else ["if type(y) is not ndarray:", "    y = asarray(y)"],
        no_history=[] if tells_once(op) else [NO_HISTORY],
        kind=kind,
    )
    return lines_of(
        COMPUTED,
        in_order=in_order,
        results="y" if one else "ys",
        values=", ".join([*arrays, *op.params, *["out=..."] * ufunc]),
        arrays="x" if op.variadic else joined(arrays),
        called=called,
        wrapped=wrapped if one else lines_of(SEVERAL, wrapped=wrapped),
    )


def tells_once(op: Op) -> bool:
    """Is there one result, of which the node is all there is to tell? A view may require grad because its base does."""
    return len(op.outputs) == 1 and not op.view


def returned(op: Op) -> str:
    return "return out" if len(op.outputs) == 1 else "return op.as_result(outs)"


# ---------------------------------------------------------------- recording


def record_lines(op: Op, core: bool = False) -> list[str]:
    """Make the node and hang it on the results. core: also what is unusual about it."""
    otherwise = [NO_HISTORY] if tells_once(op) else []  # told once, as to tell it costs time
    if not op.rules:
        return otherwise
    saved, kept, counted = saved_lines(op, core)
    wanted = any_of(op, op.rules, "{t}._requires_grad")
    cast = "dtype" in op.signature.kinds.values()  # into integers it has no gradient
    numbers = of_each(op, "{t}._output_nr", "0"), any_of(op, op.rules, "{t}._output_nr")
    one, outs = len(op.outputs) == 1, "(out,)" if len(op.outputs) == 1 else "outs"
    result = op.sources[op.saved_results[0]][1] if op.saved_results else 0
    lines = lines_of(
        RECORDED,
        wanted=f"({wanted}) and y.dtype.kind == 'f'" if cast else wanted,
        edges=[]
        if op.variadic
        else [f"e_{n} = {unless_absent(op, n, EDGE_OF.format(t=n))}" for n in op.rules],
        edge_tuple=of_each(op, EDGE_OF) if op.variadic else joined([f"e_{n}" for n in op.rules]),
        numbers="{} if {} else None".format(*numbers),
        counter=[f"node._counter = {'out' if one else f'outs[{result}]'}._own_counter()"]
        * bool(op.saved_results),
        saved=saved,
        kept=joined(kept),
        version=f"versions(node) if {' or '.join(counted)} else 0" if counted else "0",
        meta=meta_lines(op, core),
        hung=hang_lines(op),
        finished=[f"finish(op, node, {outs})"] * core,
    )
    return [*lines, "else:", *["    " + line for line in otherwise]] if otherwise else lines


def hang_lines(op: Op) -> list[str]:
    """The node is the history of the result, or of those results that are floating point and have a derivative."""
    if len(op.outputs) == 1:
        return ["out._requires_grad, out._grad_fn = True, node"]
    return [
        *["node._output_count = len(outs)"] * (not op.outputs),
        f"for number, out in enumerate(outs{f'[:{op.node_class._output_count}]' * bool(op.constants)}):",
        "    if out._array.dtype.kind == 'f':",
        "        out._requires_grad, out._grad_fn, out._output_nr = True, node, number",
    ]


def saved_lines(op: Op, core: bool) -> tuple[list[str], list[str], list[str]]:
    """What the node saves: lines before, the values, and questions whether an input's memory was ever written to.

    An input is saved only if the gradient whose rule reads it will be computed. Of a result the node keeps the array, in a
    transform another face.
    """
    lines, kept, counted, one = [], [], [], len(op.outputs) == 1
    for name, (source, number), guard in zip(op.saves, op.sources, op.guards, strict=True):
        owner = {"param": op.params, "result": op.outputs}.get(source, op.inputs)[number]
        out, y = ("out", "y") if one else (f"outs[{number}]", f"outs[{number}]._array")
        value = {
            "input": f"s_{name}",
            "param": owner,
            "result": f"{y} if made is None else {out}.face()" if core else y,
            "shape": "[a.shape for a in x]" if op.variadic else unless_absent(op, owner, f"x_{owner}.shape"),
            "size": f"x_{owner}.size",
        }[source]
        if source == "input":
            lines += [f"s_{name} = {owner}" + f" if e_{guard} is not None else None" * bool(guard)]
            there = f"s_{name} is not None and " * (bool(guard) or owner in op.absent)
            counted += [f"({there}s_{name}._counter is not None)"]
        kept.append(value)
    return lines, kept, counted


def meta_lines(op: Op, core: bool) -> list[str]:
    """What broadcasting and promotion did, to be undone for the gradient."""
    if not (op.broadcasts or op.variadic):
        return []
    question = (
        "{t}._array.dtype is not y.dtype"
        if op.variadic
        else "(x_{t}.shape != y.shape or {t}._array.dtype is not y.dtype)"
    )
    unlike, (first, *others) = any_of(op, op.rules, question), op.rules
    if (
        op.kind == "elementwise" and len(op.rules) == len(op.inputs) > 1 and not core
    ):  # the same in fewer steps
        unlike = f"mixed or {any_of(op, others, f'x_{{t}}.shape != x_{first}.shape')}"
    return [f"if {unlike}:", f"    node._meta = {of_each(op, '({t}._array.shape, {t}._array.dtype)')}"]


# ---------------------------------------------------------------- the backward pass


def vjp_text(op: Op) -> list[str]:
    """`_vjp(grad, recorded)` of the node: read what was saved, call the rules of the inputs that need a gradient."""
    saved, rules = joined([f"s_{n}" for n in op.saves]), []
    for name in op.rules:
        names, read = op.sharing(name), "".join([f", s_{n}" for n in op.wanted[name]])
        if op.gives_several(op.rules[name]) and name == names[0]:
            mask = joined([f"e_{n} is not None" for n in names])
            rules += [f"{joined([f'r_{n}' for n in names])} = rule_{name}(grad, {mask}{read})"]
        elif not op.gives_several(op.rules[name]):
            needless = f"None if e_{name} is None else " * (len(op.rules) > 1)
            rules += [f"r_{name} = {needless}rule_{name}(grad{read})"]
    results, meta = joined([f"r_{n}" for n in op.rules]), []
    if op.broadcasts:
        meta = ["if node._meta is not None:"]
        meta += [
            f"    r_{n} = r_{n} if r_{n} is None else fit(r_{n}, *node._meta[{i}])"
            for i, n in enumerate(op.rules)
        ]
    flat = joined([f"s_{n}" for n in op.flat])
    reading = (
        lines_of(READ, saved=saved, versions=version_lines(op)) if op.frees else [f"{saved} = node._kept"]
    )
    return lines_of(
        VJP,
        read=reading if op.saves else [],
        edges="edges" if op.variadic else joined([f"e_{n}" for n in op.rules]),
        rules=rules,
        flat=["if recorded:", f"    {results} = with_flat({results}, {flat})"] if op.flat else [],
        fitted=meta,
        results=f"fit_each(r_{op.inputs[0]}, node)" if op.variadic else results,
    )


def version_lines(op: Op) -> list[str]:
    """In a plain pass: take the arrays, and find out how often each was written to."""
    lines = []
    for i in op.saved_inputs:
        s = f"s_{op.saves[i]}"
        lines += [
            f"if {s} is not None:",
            f"    if {s}._counter is not None:",
            f"        version += {s}._counter.version + {s}._counter.detached << {FIELD * i}",
            f"    {s} = {s}._array",
        ]
    return lines + [f"version += node._counter.version << {FIELD * i}" for i in op.saved_results[:1]]


# ---------------------------------------------------------------- writing

FIRST = compiled("def first(*args, rewritten, **kwargs): return rewritten()(*args, **kwargs)")


def write_later(op: Op, text: Callable[[Op], list[str]], **names: object) -> FunctionType:
    """A function of an operation. It is written when it is first called: to write all of them would make `import minigrad`
    ten times slower. names: of what users call, what it knows beside what all functions of the operation know."""
    function = FunctionType(FIRST, op.scope | names, op.name)

    def rewritten() -> FunctionType:
        if names:
            op.signature.with_defaults(function)
        function.__code__ = compiled(
            "\n".join(text(op))
        )  # the last step, as another thread may be calling it
        return function

    function.__kwdefaults__ = {"rewritten": rewritten}
    return function
