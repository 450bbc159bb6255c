"""The one template: it writes, for each operation, the function that users call, its `core`, and its node's `_vjp`.

`core(inputs, params)` computes on the arrays, wraps the result and hangs a node on it if an input requires grad. The
function that users call is a guard before the same lines: with plain tensors and nothing unusual going on (see
autograd/modes.py) it runs them at once; anything else goes to `run.general`, which puts the arguments in order, asks a
transform if one is active, and calls `core`. The rules of the table are called as they stand. Written out for each
operation, without loops over inputs and without tests whose answer is known, this is 1.7 times as fast as closures.

In `print(minigrad.exp.op.text)`, what was written, x_self is the array of the input `self`, e_self the node that its gradient
goes to, s_self what is saved of it, r_self its gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING

import numpy as np

from ..autograd.saved import FIELD
from .signature import KINDS, compiled

if TYPE_CHECKING:
    from .table import Op

NO_HISTORY = "out._requires_grad, out._grad_fn = False, None"
EDGE_OF = "({t}._grad_fn or (edge({t}) if {t}._requires_grad else None)) if {t}._meta is None else edge({t})"

# ---------------------------------------------------------------- pieces of text


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]


def joined(parts: Iterable[str]) -> str:
    """A tuple of them."""
    parts = [*parts]
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def unless_absent(op: Op, name: str, value: str, absent: str = "None") -> str:
    """An expression about an input, `{t}`; another one if it may be absent and is."""
    value = value.format(t=name)
    return f"({absent} if {name} is None else {value})" if name in op.absent else value


def any_of(op: Op, names: Iterable[str], question: str) -> str:
    """Is the answer to a question about a tensor yes for one of these inputs?"""
    if op.variadic:
        return f"any([{question.format(t='t')} for t in {op.inputs[0]}])"
    return " or ".join([unless_absent(op, n, question, "False") for n in names])


def of_each(op: Op, value: str, absent: str = "None") -> str:
    """A tuple of the values of an expression about a tensor, for all inputs that have rules."""
    if op.variadic:
        return f"tuple([{value.format(t='t')} for t in {op.inputs[0]}])"
    return joined([unless_absent(op, n, value, absent) for n in op.rules])


def put_in_order(op: Op, array: str) -> Iterator[str]:
    """What makes the parameters those that `forward` gets; `array` is the expression for the array of the first input."""
    for name in op.params:
        kind, default = op.signature.kinds[name], op.signature.defaults[name]
        value = KINDS[kind].ordered.format(name, array)
        if value:
            may_be_none = default is None and kind != "dims"
            yield f"{name} = None if {name} is None else ({value})" if may_be_none else f"{name} = {value}"


# ---------------------------------------------------------------- what users call


def call_text(op: Op, operator: bool = False, in_place: bool = False) -> Iterator[str]:
    """The function, or an operator, which has no options; in_place: it writes.

    Anything that is not plain goes to `general`, arrays inside a rule to `forward`.
    """
    signature, (first, *others) = op.signature, op.inputs
    heads, many, array = signature.heads, signature.many, f"{first}[0]" if op.variadic else first
    named = "".join([f"{n!r}: {n}, " for n in signature.only])
    called = f"{joined([*signature.named, '*' + (many or 'more')])}, {{{named}**others}}"
    too_many = [f"others or not {many}"] if many else ["more", "others"]
    if operator:
        heads, called, too_many = ", ".join(signature.named), f"{joined(signature.named)}, {{}}", []
    otherwise = f"return general(op, {called}, how)"
    foreign = "(type({t}) is not Tensor and type({t}) not in plain_types)"
    unlike = any_of(op, [first] if op.numbers else op.inputs, foreign)
    alone, number = [f"type({first}) in arrays"], " or type({t}) in (float, int)" * op.numbers
    alone += [f"({unless_absent(op, n, 'type({t}) in arrays' + number, 'True')})" for n in others]
    if op.variadic:
        unlike = f"type({first}) not in (list, tuple) or not {first} or not plain_types.issuperset(map(type, {first}))"
        alone = [f"type({first}) is list and {first} and type({array}) is ndarray"]
    unusual = {n: KINDS[k].unusual.format(n) for n, k in signature.kinds.items()}
    optional = [n for n, k in signature.kinds.items() if signature.defaults[n] is None and k != "dims"]
    unusual = [f"{n} is not None and ({u})" if u and n in optional else u for n, u in unusual.items()]
    yield f"def call({heads}):"
    yield "    recording = not special or (None if anomaly.on else local.recording)"
    yield f"    if {' or '.join(['recording is None', *too_many, unlike, *filter(None, unusual)])}:"
    yield f"        if {' and '.join([*alone, *[f'not ({t})' for t in too_many]])}:"
    yield from indented(put_in_order(op, array), 3)
    yield f"            return forward({', '.join([*op.inputs, *op.params])})"
    yield f"        {otherwise}"
    for n in others if op.numbers else ():
        yield f"    if {unless_absent(op, n, foreign, 'False')}:"
        yield f"        if type({n}) is not float and type({n}) is not int:"
        yield f"            {otherwise}"
        yield f"        {n} = operand({n}, {first}, {op.floating})"
    in_order = put_in_order(op, f"{array}._array")
    if in_place:
        if type(op.forward) is np.ufunc and op.rules:  # `w -= w.grad` in a third of the time of `write`
            fits = [f"not (recording and ({any_of(op, op.inputs, '{t}._requires_grad')}))"]
            fits += [f"x.dtype is {n}._array.dtype and {n}._array.shape in (x.shape, ())" for n in others]
            fits += [f"({n}._counter is None or {n}._counter is not {first}._counter)" for n in others]
            yield f"    x = {first}._array"
            yield f"    if {' and '.join(fits)} and x.dtype.kind == 'f' and 0 not in x.strides:"
            yield f"        forward({', '.join(['x', *[f'{n}._array' for n in others], 'x'])})"
            yield from [f"        {first}._own_counter().version += 1", f"        return {first}"]
        yield from indented([*in_order, f"return write(op, {joined(op.inputs)}, {joined(op.params)})"])
    else:
        yield from indented([*array_lines(op), *compute_lines(op, called, in_order), *record_lines(op)])


def order_text(op: Op) -> Iterator[str]:
    """The parameters in order, where that is all one needs; x is the array of the first input."""
    yield f"def order({', '.join(['x', *op.params])}):"
    yield from indented([*put_in_order(op, "x"), f"return {joined(op.params)}"])


# ---------------------------------------------------------------- the core


def core_text(op: Op) -> Iterator[str]:
    """The operation on tensors, whatever is going on; the parameters are in order.

    made: results that a transform has computed in its own way, of which only the node is missing.
    """
    yield "def core(inputs, params, made):"
    yield f"    {op.inputs[0] if op.variadic else joined(op.inputs)} = inputs"
    if op.params:
        yield f"    {joined(op.params)} = params"
    yield "    recording = not special or local.records"
    yield from indented(array_lines(op))
    yield "    if made is None:"
    yield from indented(compute_lines(op, "(), {}", core=True), 2)
    yield "    else:"
    yield "        out, y = made[0], made[0]._array" if op.single else "        outs = made"
    yield from indented(record_lines(op, core=True))


def array_lines(op: Op) -> Iterator[str]:
    """The arrays of the inputs, brought into the dtype in which the operation is done."""
    if op.variadic:
        yield f"x = [t._array for t in {op.inputs[0]}]"
        yield "if any([a.dtype is not x[0].dtype for a in x]):"
        yield "    x = promoted(x, op)"
        return
    for n in op.inputs:
        yield f"x_{n} = {unless_absent(op, n, '{t}._array')}"
    first, *others = alike = list(op.rules or op.inputs)
    if op.kind == "elementwise" and others:
        names, not_floating = joined([f"x_{n}" for n in alike]), " or dtype.kind != 'f'" * op.floating
        yield f"dtype = x_{first}.dtype"
        yield f"mixed = {any_of(op, others, 'x_{t}.dtype is not dtype')}{not_floating}"
        yield "if mixed:"
        yield f"    {names} = promoted({names}, op)"
    elif op.floating:
        for n in alike:
            yield f"if x_{n}.dtype.kind != 'f':"
            yield f"    x_{n} = x_{n}.astype(dtypes.default_float())"


def compute_lines(op: Op, called: str, in_order: Iterable[str] = (), core: bool = False) -> Iterator[str]:
    """Compute and wrap. called: the arguments, to blame them; in_order: what puts the parameters in order first."""
    xs = ["x"] if op.variadic else [f"x_{n}" for n in op.inputs]
    ufunc = type(op.forward) is np.ufunc  # it makes a number of a 0-d result, unless it is told not to
    yield "try:"
    yield from indented(in_order)
    yield f"    {'y' if op.single else 'ys'} = forward({', '.join([*xs, *op.params, *['out=...'] * ufunc])})"
    yield "except Exception as error:"
    yield f"    raise explained(error, op, {'x' if op.variadic else joined(xs)}, {called}, how) from None"
    wrap = [] if ufunc else ["if type(y) is not ndarray:", "    y = asarray(y)"]
    wrap += ["out = new_object(Tensor)", "out._array, out._output_nr = y, 0"]
    wrap += ["out._meta = out._counter = None"]
    wrap += [] if op.single and not op.view else [NO_HISTORY]
    if op.view:
        wrap += [f"make_view(out, {op.inputs[0]}, {not op.single})"]
    elif core:
        wrap += ["if special and local.inference:", "    out.__class__ = InferenceTensor"]
    yield from wrap if op.single else ["outs = []", "for y in ys:", *indented([*wrap, "outs.append(out)"])]


# ---------------------------------------------------------------- recording


def record_lines(op: Op, core: bool = False) -> Iterator[str]:
    """Make the node, hang it on the results and return them. core: also what is unusual about it."""
    if op.rules:
        cast = "dtype" in op.signature.kinds.values()  # into integers it has no gradient
        wanted = any_of(op, op.rules, "{t}._requires_grad") + ") and (y.dtype.kind == 'f'" * cast
        yield f"if recording and ({wanted}):"
        yield from indented(node_lines(op, core))
    if op.single and not op.view:  # a view may require grad as its base does; several are told before
        yield from ["else:", "    " + NO_HISTORY] if op.rules else [NO_HISTORY]
    yield "return out" if op.single else "return op.as_result(outs)"


def node_lines(op: Op, core: bool) -> Iterator[str]:
    """The node, and what it saves: an input only if the gradient whose rule reads it will be computed, None otherwise."""
    edges, number = [f"e_{n}" for n in op.rules], "{t}._output_nr"
    if not op.variadic:
        yield from [f"{e} = {unless_absent(op, n, EDGE_OF)}" for e, n in zip(edges, op.rules, strict=True)]
    edges, numbers = of_each(op, EDGE_OF) if op.variadic else joined(edges), of_each(op, number, "0")
    numbers = f"{numbers} if {any_of(op, op.rules, number)} else None"
    yield "node = Node()"
    yield f"node._edges, node._input_nrs, node._sequence = {edges}, {numbers}, next_sequence()"
    yield "node._hooks = node._meta = node._counter = None"
    results = [(f"outs[{i}]", f"outs[{i}]._array") for i in range(len(op.outputs))]
    results = [("out", "y")] if op.single else results
    kept, count = [], len(op.outputs) - len(op.constants)
    for name, (source, i), guard in zip(op.saves, op.sources, op.guards, strict=True):
        if source == "input":
            yield f"s_{name} = {op.inputs[i]}" + f" if e_{guard} is not None else None" * bool(guard)
            kept.append(f"s_{name}")
        elif source == "result":  # the array; in a transform another face
            kept.append(results[i][1] + f" if made is None else {results[i][0]}.face()" * core)
        elif source == "param":
            kept.append(op.params[i])
        else:
            value = unless_absent(op, op.inputs[i], f"x_{{t}}.{source}")
            kept.append(f"[a.{source} for a in x]" if op.variadic else value)
    yield f"node._kept, node._version = {joined(kept)}, {' + '.join(input_versions(op)) or '0'}"
    for i in op.saved_results[:1]:
        if op.sources[i][1] >= count:  # an index does not know its node
            yield f"node._counter = outs[{op.sources[i][1]}]._own_counter()"
    if op.broadcasts or op.variadic:  # what broadcasting and promotion did, to be undone for the gradient
        yield f"if {looks_unlike(op, core)}:"
        mixing = op.kind == "elementwise" and len(op.rules) > 1
        only = " if mixed or x_{t}.shape != y.shape else None" * mixing
        yield f"    node._meta = {of_each(op, '(({t}._array.shape, {t}._array.dtype)' + only + ')')}"
    if count == 1:
        yield "{0}._requires_grad, {0}._grad_fn = True, node".format(results[0][0])
    else:
        yield from ["node._output_count = len(outs)"] * (not op.outputs)
        yield f"for number, out in enumerate(outs{f'[:{count}]' * bool(op.constants)}):"
        yield "    out._requires_grad, out._grad_fn, out._output_nr = True, node, number"
    if core:
        yield f"finish(op, node, {'(out,)' if op.single else 'outs'})"


def may_be_none(op: Op, place: int) -> bool:
    """Is the input that a node saves at this place sometimes not given, or not wanted?"""
    return bool(op.guards[place]) or op.inputs[op.sources[place][1]] in op.absent


def input_versions(op: Op) -> Iterator[str]:
    """The versions of the inputs that a node saves, each in its own bits of one number. Few tensors have a counter."""
    for i in op.saved_inputs:
        s = f"s_{op.saves[i]}"
        none = f"{s} is None or " * may_be_none(op, i)
        now = f"{s}._counter.version + {s}._counter.detached << {FIELD * i}"
        yield f"(0 if {none}{s}._counter is None else {now})"


def looks_unlike(op: Op, core: bool) -> str:
    """Has the result another shape or dtype than one of the inputs?"""
    first, *others = op.rules
    if op.variadic:
        return any_of(op, op.rules, "{t}._array.dtype is not y.dtype")
    if op.kind == "elementwise" and len(op.rules) == len(op.inputs) > 1 and not core:  # in fewer steps
        return f"mixed or {any_of(op, others, f'x_{{t}}.shape != x_{first}.shape')}"
    return any_of(op, op.rules, "(x_{t}.shape != y.shape or {t}._array.dtype is not y.dtype)")


# ---------------------------------------------------------------- the backward pass


def vjp_text(op: Op) -> Iterator[str]:
    """`_vjp(grad, recorded)` of the node: read what was saved, call the rules of the inputs that need a gradient."""
    saved, edges = joined([f"s_{n}" for n in op.saves]), joined([f"e_{n}" for n in op.rules])
    yield "def vjp(node, grad, recorded):"
    if op.frees:
        yield f"    {saved} = unpack(node, recorded) if node._kept is None else node._kept"
        yield from indented(open_saved_lines(op, saved))
    elif op.saves:
        yield f"    {saved} = node._kept"
    if not op.variadic:
        yield f"    {edges} = node._edges"
    for name in op.rules:
        names, read = op.sharing(name), "".join([f", s_{n}" for n in op.wanted[name]])
        if not names:
            needed = f"None if e_{name} is None else " * (len(op.rules) > 1)
            yield f"    r_{name} = {needed}rule_{name}(grad{read})"
        elif name == names[0]:
            mask = joined([f"e_{n} is not None" for n in names])
            yield f"    {joined([f'r_{n}' for n in names])} = rule_{name}(grad, {mask}{read})"
    results = joined([f"r_{n}" for n in op.rules])
    if op.flat:
        yield "    if recorded:"
        yield f"        {results} = with_flat({results}, {joined([f's_{n}' for n in op.flat])})"
    if op.broadcasts:
        yield "    if node._meta is not None:"
        for i, n in enumerate(op.rules):
            yield f"        r_{n} = r_{n} if node._meta[{i}] is None else fit(r_{n}, *node._meta[{i}])"
    yield f"    return fit_each(r_{op.inputs[0]}, node)" if op.variadic else f"    return {results}"


def open_saved_lines(op: Op, saved: str) -> Iterator[str]:
    """See that nobody has written to what was saved since; take the arrays, or in a recorded pass Tensors."""
    result = "(0 if node._counter is None else node._counter.version << {})"
    now = [*input_versions(op), *[result.format(FIELD * i) for i in op.saved_results[:1]]]
    yield f"if {' + '.join(now) or '0'} != node._version:"
    yield f"    {saved} = unpack(node, recorded)  # which says what was written to"
    yield from ["elif recorded:"] * bool(op.saved_results)
    for i in op.saved_results:
        yield f"    s_{op.saves[i]} = saved_result(node, s_{op.saves[i]}, {op.sources[i][1]})"
    yield from ["elif not recorded:"] * bool(op.saved_inputs)
    for i in op.saved_inputs:
        s = f"s_{op.saves[i]}"
        yield f"    {s} = " + f"None if {s} is None else " * may_be_none(op, i) + f"{s}._array"


# ---------------------------------------------------------------- writing

FIRST = compiled("def first(*args, rewritten, **kwargs): return rewritten()(*args, **kwargs)")


def write_later(op: Op, text: Callable[[Op], Iterable[str]], **names: object) -> FunctionType:
    """A function of an operation, written when it is first called: all of them would make `import minigrad` ten times slower.
    names: of what users call, what it knows beside what all functions of the operation know."""
    function = FunctionType(FIRST, op.scope | names if names else op.scope, op.name)

    def rewritten() -> FunctionType:
        if names:
            op.signature.with_defaults(function)
        function.__code__ = compiled("\n".join(text(op)))  # at last, as other threads may be calling it
        return function

    function.__kwdefaults__ = {"rewritten": rewritten}
    return function
