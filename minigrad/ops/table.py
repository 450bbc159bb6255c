"""define(): a forward function and one rule per input become an operation and its Node class.

    mul = define("mul", np.multiply, kind="elementwise",
                 self=lambda grad, other: grad * other,
                 other=lambda grad, self: grad * self)

A rule is the vector-Jacobian product of one input: from `grad`, the gradient with respect to the operation's result,
it gives the gradient with respect to that input. **Its parameter names are what the node saves**: another input, the
`result` (or an output's name, if there are several), a parameter of the forward function, or `self_sym_sizes`, the
shape of input `self`. They can be read from the node as `_saved_other`, `_saved_result`, ... as in PyTorch; a name with
a leading underscore is kept for the rule alone.

Where the gradients of several inputs share work, one rule gives them all. It is named for each of these inputs, has a
parameter `grad_input_mask`, and returns a gradient for each in their order, None where the mask says False:

    layer_norm = define("layer_norm", forward, input=layer_norm_backward, weight=layer_norm_backward, ...)

A rule is written once, in operators and operations that work on arrays and on Tensors alike: a plain backward pass
runs it on arrays, `create_graph`, forward mode and vmap run it on Tensors. So an operation that is called with arrays
simply computes, and returns an array.

`kind` says what the other transforms may assume:
    "elementwise"  inputs are broadcast, each element of the result depends on one of each input
    "linear"       linear in each differentiable input: its forward derivative is the operation itself
    "jointly linear"  linear in all of them together: writing a value into some places of a tensor is, a product is not
    None           neither
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from .. import dtypes
from ..autograd import node as nodes
from ..autograd.node import FIELD, PACKED, Node, Packed, SavedTensor
from ..tensor import Tensor, wrap
from .calls import make_call, written_later
from .dispatch import Promoted, apply, operand, record, versions
from .rules import parameters_of, source_text, written_in

ndarray = np.ndarray
OPS: list[Op] = []  # every operation: the calculus of the whole library


class Op:
    """All that is known of one operation. `apply` and the transforms in minigrad.func work from this."""

    into = (
        None  # as `forward`, but it writes into its first array, and may raise before it has written anything
    )

    def __init__(
        self,
        name: str,
        forward: Callable,
        rules: dict[str, Callable | None],
        *,
        kind: str | None,
        node: str | None,
        outputs: tuple[str, ...],
        floating: bool,
        view: bool,
        variadic: bool,
        jvp: Callable | None,
        batch: object,
        optional: tuple[str, ...] = (),
        numbers: bool | str = True,
        broadcasts: bool = False,
        frees: bool = False,
        constants: tuple[str, ...] = (),
        flat: tuple[str, ...] = (),
        matrices: bool = False,
    ):
        self.name, self.forward, self.kind = name, forward, kind
        self.inputs = tuple(rules)  # names of the tensor inputs
        self.rules = {k: r for k, r in rules.items() if r is not None}  # of those that can be differentiated
        self.differentiable = tuple(i for i, k in enumerate(self.inputs) if k in self.rules)
        self.outputs, self.constants, self.view = outputs, constants, view
        self.floating, self.variadic = floating, variadic
        self.jvp, self.batch, self.optional, self.numbers = jvp, batch, optional, numbers
        self.broadcasts, self.matrices = broadcasts or kind == "elementwise", matrices
        self.params = parameters_of(forward)[len(self.inputs) :]
        self.wanted = {k: names_read(r) for k, r in self.rules.items()}  # what each rule reads
        self.saves = tuple(sorted({n for wanted in self.wanted.values() for n in wanted}))
        self.sources = [self.source_of(n) for n in self.saves]
        self.guards = [None if n in flat else self.guard_of(n) for n in self.saves]
        self.saved_inputs = tuple(i for i, (s, _) in enumerate(self.sources) if s == "input")
        self.saved_results = tuple(i for i, (s, _) in enumerate(self.sources) if s == "result")
        self.plan = self.planned()
        for rule, numbers, _ in self.plan:
            for place, number in enumerate(numbers if gives_several(rule) else ()):
                self.rules[list(self.rules)[number]] = one_of_several(rule, place, len(numbers))
        self.frees = frees or bool(self.saved_inputs or self.saved_results)
        self.flat = tuple(self.saves.index(n) for n in flat)
        self.node_class = make_node_class(self, node or name.title().replace("_", "") + "Backward0")

    def planned(self) -> list[tuple[Callable, list[int], list[int]]]:
        """For each rule: itself, the numbers of the gradients that it gives, the places in `saves` of what it reads."""
        owners: dict[object, list[int]] = {}
        for number, rule in enumerate(self.rules.values()):
            owners.setdefault(rule if gives_several(rule) else number, []).append(number)
        names = list(self.rules)
        firsts = [names[numbers[0]] for numbers in owners.values()]
        return [
            (self.rules[first], numbers, [self.saves.index(n) for n in self.wanted[first]])
            for first, numbers in zip(firsts, owners.values(), strict=True)
        ]

    def guard_of(self, name: str) -> int | None:
        """An input that only one of several rules reads is saved only if the gradient of this rule is to be computed.

        Gives the number of the rule; None if the value is always saved, as a result is.
        """
        readers = [number for number, wanted in enumerate(self.wanted.values()) if name in wanted]
        guarded = name in self.inputs and len(self.rules) > 1 == len(self.outputs) == len(readers)
        return readers[0] if guarded else None

    def source_of(self, name: str) -> tuple[str, int]:
        """Where a saved value comes from: ("input" | "result" | "param" | "sizes", position)."""
        if name in self.inputs:
            return "input", self.inputs.index(name)
        if name in self.outputs:
            return "result", self.outputs.index(name)
        for parameter in (name, name.removeprefix("_")):
            if parameter in self.params:
                return "param", self.params.index(parameter)
        owner = name.removesuffix("_sym_sizes").lstrip("_")
        if owner in self.inputs:
            return "sizes", self.inputs.index(owner)
        raise TypeError(
            f"define({self.name!r}): a rule reads {name!r}, which is no input, output or parameter"
        )

    def rule_arguments(self, name: str, inputs: tuple, results: tuple, params: tuple) -> list:
        """What the rule of input `name` reads, taken from the operation's inputs, results and parameters."""
        values = []
        for wanted in self.wanted[name]:
            source, position = self.source_of(wanted)
            if source == "param":
                values.append(params[position] if len(params) > position else None)
            elif source == "sizes":
                values.append(
                    [t._array.shape for t in inputs] if self.variadic else inputs[position]._array.shape
                )
            elif source == "input":
                values.append(None if inputs[position]._array is None else inputs[position])
            else:
                values.append(results[position])
        return values

    def record(self, inputs: tuple, params: tuple, outs: tuple) -> Node | None:
        """Make this operation's node and hang it on its results, which the caller has computed."""
        return record(self, inputs, params, outs)

    @property
    def rule_sources(self) -> dict[str, str]:
        """The text of each rule, as the visualiser shows it."""
        texts = {}
        for rule, numbers, _ in self.plan:
            for place, number in enumerate(numbers):
                texts[number] = source_text(rule) + f"[{place}]" * gives_several(rule)
        return {name: texts[number] for number, name in enumerate(self.rules)}

    def __repr__(self) -> str:
        return f"<op {self.name}: {', '.join(f'{k}: {v}' for k, v in self.rule_sources.items())}>"


MASK = "grad_input_mask"


def gives_several(rule: Callable) -> bool:
    """Is this a rule for several inputs, which is told whose gradients are needed?"""
    return MASK in parameters_of(rule)


def names_read(rule: Callable) -> tuple[str, ...]:
    """What a rule reads besides the gradient, which it gets first, and the mask, which it gets next if at all."""
    return parameters_of(rule)[2 if gives_several(rule) else 1 :]


def one_of_several(rule: Callable, place: int, count: int) -> Callable:
    """The rule of one input alone, from one that gives the gradients of `count` inputs.

    Forward mode needs it: there `grad` is another one for each input.
    """
    mask = tuple(i == place for i in range(count))
    return lambda grad, *values: rule(grad, mask, *values)[place]


def make_node_class(op: Op, name: str) -> type[Node]:
    """The Node subclass of one operation: PyTorch's name, what it frees, and its `_saved_*` attributes."""
    outputs = max(len(op.outputs) - len(op.constants), 1)
    body = {"__slots__": (), "op": op, "outputs": outputs, "frees": op.frees, "vjp": make_vjp(op)}
    if not op.outputs:
        body["__slots__"] = ("outputs",)  # as many as the forward function returned
        del body["outputs"]
    for position, saved_name in enumerate(op.saves):
        if not saved_name.startswith("_"):
            body["_saved_" + saved_name] = property(saved_reader(position))
            if op.sources[position][0] in ("input", "result"):
                body["_raw_saved_" + saved_name] = property(functools.partial(SavedTensor, position=position))
    return type(name, (Node,), body)


def saved_reader(position: int) -> Callable:
    def read(node: Node):
        if node.saved is None:
            raise RuntimeError(nodes.FREED)
        value, (source, number) = node.saved[position], node.op.sources[position]
        if value is None or source in ("param", "sizes"):
            return value
        if type(value) is Packed:
            return value.unpack(node)
        if node.version == PACKED:  # another one has hooks of its own, which are not to run
            found = value if source == "input" else nodes.saved_result(node, value, number)
        else:
            found = unpack(node, recorded=True)[position]
        return wrap(np.asarray(found._number)) if hasattr(found, "_number") else found

    return read


# ---------------------------------------------------------------- backward


def make_vjp(op: Op) -> Callable:
    """The node's `vjp(grad, recorded)`: read what was saved, run the rules of the inputs that need a gradient."""
    checked = op.frees
    if op.variadic:
        rule, _, picks = op.plan[0]

        def vjp(node, grad, recorded):
            values = unpack(node, recorded) if checked else node.saved
            parts = rule(grad, *[values[p] for p in picks])
            if node.meta is None:
                return tuple([None if e is None else r for r, e in zip(parts, node.edges, strict=True)])
            return tuple(
                None if e is None else fit(r, *m)
                for r, e, m in zip(parts, node.edges, node.meta, strict=True)
            )

        return vjp

    if not op.plan:
        return Node.vjp  # it is never recorded

    def general(node, grad, recorded):
        meta = node.meta
        values = unpack(node, recorded) if checked else node.saved
        if type(meta) is Promoted and not recorded:
            values = integers_as(grad.dtype, op, values)
            if values is None:
                return on_tensors(node, grad, general)
        out = [None] * len(node.edges)
        for rule, numbers, picks in op.plan:
            mask = tuple([node.edges[n] is not None for n in numbers])
            if not any(mask):
                continue
            read = [values[p] for p in picks]
            gradients = rule(grad, mask, *read) if gives_several(rule) else (rule(grad, *read),)
            for n, gradient in zip(numbers, gradients, strict=True):
                out[n] = gradient
        if recorded and op.flat:
            out = with_flat(out, [values[p] for p in op.flat])
        if meta is not None:
            out = [None if r is None else fit(r, *m) for r, m in zip(out, meta, strict=True)]
        return tuple(out)

    scope = {"__name__": __name__, "fit": fit, "general": general, "Promoted": Promoted}
    return written_later("vjp", "node, grad, recorded", scope, lambda: source_of_vjp(op, scope))


def source_of_vjp(op: Op, scope: dict) -> str:
    """The text of `vjp` for the usual case, a plain backward: unpack arrays and run the rules in one function.

    What the rules need is put into `scope`, the globals of that function.
    """
    count = len(op.rules)
    lines = ["def vjp(node, grad, recorded):", "    meta = node.meta"]
    if op.saves:
        lines += ["    saved = node.saved"]
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
                "    if node.counter is not None:",
                f"        version += node.counter.version << {field}",
            ]
        lines += ["    if version != node.version:", "        return general(node, grad, recorded)"]
    lines += [f"    {''.join(f'e{i}, ' for i in range(count))}= node.edges"]
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
        if op.frees and op.node_class.outputs == 1:
            alike = {next(iter(values)), *op.outputs[:1], *(op.rules if op.kind == "elementwise" else ())}
        result = written_in(rule, values, alike, op.matrices, scope)
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


def unpack(node: Node, recorded: bool):
    """The saved values for the rules: arrays, or Tensors if `recorded`. Raises if freed or written to since."""
    saved = node.saved
    if saved is None:
        raise RuntimeError(nodes.FREED)
    op, version, values = node.op, 0, list(saved)
    for i in op.saved_inputs:
        t = saved[i]
        if t is not None:
            counter = t._counter
            if counter is not None:
                version += counter.version << FIELD * i
            values[i] = t if recorded else t._array
    if op.saved_results:
        if node.counter is not None:
            version += node.counter.version << FIELD * op.saved_results[0]
        if recorded:
            for i in op.saved_results:
                if saved[i] is not None and type(saved[i]) is not Packed:
                    values[i] = nodes.saved_result(node, saved[i], op.sources[i][1])
    if version != node.version:
        if node.version != PACKED:
            explain_modified(node)
        for i in (*op.saved_inputs, *op.saved_results):
            if type(saved[i]) is Packed:
                t = saved[i].unpack(node)
                source, number = op.sources[i]
                if recorded:
                    values[i] = nodes.saved_result(node, t._array, number) if source == "result" else t
                else:
                    values[i] = t._array
    return values


def explain_modified(node: Node) -> None:
    """Raise PyTorch's error for the saved tensor whose version has changed."""
    op, changed = node.op, versions(node) ^ node.version
    for i in (*op.saved_inputs, *op.saved_results):
        then, differs = (number >> FIELD * i & (1 << FIELD) - 1 for number in (node.version, changed))
        if not differs:
            continue
        if i in op.saved_inputs:
            t = node.saved[i]
            raise nodes.modified_error(t._array, nodes.grad_fn(t), t._output_nr, nodes.version_of(t), then)
        kept = node.saved[i]._array if isinstance(node.saved[i], Tensor) else node.saved[i]
        raise nodes.modified_error(kept, node, op.sources[i][1], node.counter.version, then)


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


def sum_to(array: ndarray, shape: tuple) -> ndarray:
    """Sum an array over the axes that broadcasting has added or stretched."""
    if array.dtype.char == "e":
        return in_single(sum_to, array, shape)
    axes, last = broadcast_axes(array.shape, shape)
    if last:
        array = rows_added(array)
    elif axes:
        array = np.add.reduce(array, axis=axes, keepdims=True)
    lead = array.ndim - len(shape)
    if lead > 0:
        array = array.reshape(array.shape[lead:])
    if array.shape != shape:  # a gradient that is smaller than its input: stretch it
        array = np.broadcast_to(array, shape)
    return array


@functools.lru_cache(maxsize=256)
def broadcast_axes(wide: tuple, shape: tuple) -> tuple[tuple, bool]:
    """(the axes of `wide` that broadcasting of `shape` would have added or stretched, whether it is the last alone)."""
    lead = len(wide) - len(shape)
    axes = tuple(
        i for i, n in enumerate(wide) if i < lead or (n != 1 and i - lead >= 0 and shape[i - lead] == 1)
    )
    return axes, axes == (len(wide) - 1,)


def in_single(compute: Callable, halves: ndarray, *params: object) -> ndarray:
    """What `compute` makes of halves, worked out in single precision and rounded once, as in PyTorch.

    Half precision is no place to add in: 2048 + 1 is 2048.
    """
    return compute(halves.astype(np.float32), *params).astype(np.float16)


def added(array: ndarray, axis: int | tuple | None, keepdims: bool = False) -> ndarray:
    """The sum over axes."""
    if array.dtype.char == "e":
        return in_single(added, array, axis, keepdims)
    return np.add.reduce(array, axis=axis, keepdims=keepdims)


def columns_added(matrix: ndarray) -> ndarray:
    """The sums of a matrix over axis 0: ones @ matrix, which takes half the time of np.add.reduce or less."""
    kind = matrix.dtype.char
    return ones(len(matrix), kind).dot(matrix) if kind in "fd" else added(matrix, 0)


def rows_added(array: ndarray) -> ndarray:
    """The sums over the last axis, which is kept: array @ ones."""
    kind = array.dtype.char
    if kind not in "fd":
        return added(array, -1, True)
    return array.dot(ones((array.shape[-1], 1), kind))


@functools.lru_cache(maxsize=64)
def ones(shape: int | tuple, dtype: str) -> ndarray:
    return np.ones(shape, dtype)


@functools.lru_cache(maxsize=64)
def even(shape: int | tuple, dtype: str) -> ndarray:
    """As many times 1/n as there are elements, n: a product with it gives the mean, at the price of a sum."""
    out = np.ones(shape, dtype)
    out /= max(out.size, 1)
    return out


# ---------------------------------------------------------------- forward


def define(
    name: str,
    forward: Callable,
    *,
    kind: str | None = None,
    node: str | None = None,
    outputs: tuple[str, ...] = ("result",),
    floating: bool = False,
    view: bool = False,
    variadic: bool = False,
    jvp: Callable | None = None,
    batch: object = None,
    optional: tuple[str, ...] = (),
    numbers: bool | str = True,
    broadcasts: bool = False,
    frees: bool = False,
    constants: tuple[str, ...] = (),
    flat: tuple[str, ...] = (),
    matrices: bool = False,
    **rules: Callable | None,
) -> Callable:
    """Make an operation. It is called with its tensors first, then the other parameters of `forward`, by position.

    forward: computes on arrays. With several `outputs` it returns a tuple; with none, one of any length.
    node: PyTorch's name for the node, if it is not `<Name>Backward0`.
    floating: the result is floating point also for integer inputs.
    view: the result shares the memory of the first input.
    variadic: the first argument is a sequence of tensors; its only rule returns a gradient for each.
    jvp: forward-mode rule, where `kind` does not imply one. batch: how vmap runs it (see minigrad.func).
    frees: what is saved is freed after use although no input or result is among it (a parameter holds tensors).
    flat: saved tensors on which every gradient depends, if only with slope 0: PyTorch's backward function is one of them
        too. A second derivative finds zeros there, not nothing.
    optional: inputs that may be None (a bias, a weight); forward and rules then get None.
    numbers: a Python number may stand for a tensor; "others": for any but the first.
    matrices: the inputs are matrices and vectors, no batches of them.
    broadcasts: inputs may be broadcast or cast although the kind is not elementwise; gradients are fitted to them.
    constants: the last of several outputs, if they have no derivative: an index, a count. The node has the others only.
    rules: one per tensor input, in order; None for an input that is never differentiated.
    """
    op = Op(
        name, forward, rules, kind=kind, node=node, outputs=outputs, floating=floating, view=view, variadic=variadic,
        jvp=jvp, batch=batch, optional=optional, numbers=numbers, broadcasts=broadcasts, frees=frees, flat=flat,
        constants=constants, matrices=matrices,
    )  # fmt: skip
    call = make_call(op)
    call.__name__ = call.__qualname__ = name
    call.op, op.call = op, call
    OPS.append(op)
    return call


def first_of(call: Callable) -> Callable:
    """An operation with several results as a function that hands out the first alone: no tensors for the others."""
    return make_call(call.op, first=True)


def zeros_beside(x, shape: tuple):
    """Zeros of a shape: an array, or a Tensor if `x` is one."""
    return np.zeros(shape, x.dtype) if is_array(x) else wrap(np.zeros(shape, x._array.dtype))


constant_in = define(
    "constant_in", lambda grad, other: grad, jvp=lambda inputs, moves, results, params: moves[0],
    grad=lambda grad: grad,
    other=lambda grad, other_sym_sizes: zeros_beside(grad, other_sym_sizes),
)  # fmt: skip


def with_flat(grads: list, others: list) -> list:
    """Gradients of a recorded backward pass, as functions of some more tensors, which they do not change with."""
    for other in others:
        if isinstance(other, Tensor) and other.requires_grad:
            grads = [None if grad is None else constant_in(grad, other) for grad in grads]
    return grads


def function(op_or_function: Callable, *names: str) -> Callable:
    """Attach a function to Tensor as methods of these names. Returns it."""
    for name in names:
        setattr(Tensor, name, op_or_function)
    return op_or_function


def method(*names: str) -> Callable:
    """Decorator: the function becomes a method of Tensor, under its own name if none is given."""

    def attach(fn: Callable) -> Callable:
        return function(fn, *(names or (fn.__name__,)))

    return attach


def is_array(x: object) -> bool:
    return not isinstance(x, Tensor)


__all__ = [
    "OPS",
    "Op",
    "apply",
    "define",
    "first_of",
    "fit",
    "function",
    "is_array",
    "method",
    "operand",
    "sum_to",
]
