"""define(): a forward function and one rule per input become an operation and its Node class.

    mul = define("mul", np.multiply, kind="elementwise", doc="`input * other`.",
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
from collections.abc import Callable

import numpy as np

from ..autograd.node import Node
from ..autograd.saved import SavedTensor, read
from ..tensor import Tensor, wrap
from .calls import make_call
from .described import described
from .dispatch import apply, operand, record
from .rules import gives_several, names_read, one_of_several, parameters_of, source_text
from .vjps import make_vjp

ndarray = np.ndarray
OPS: list[Op] = []  # every operation: the calculus of the whole library


class Op:
    """All that is known of one operation: what it was defined with, and what follows from that.

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
    doc: what it computes, in a sentence or two, if people call it as it is: what help() shows of its forms begins so.
    rules: one per tensor input, in order; None for an input that is never differentiated.
    """

    # as `forward`, but it writes into its first array, and may raise before it has written anything
    into = None

    def __init__(
        self,
        name: str,
        forward: Callable,
        /,  # `self` may be an input's name
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
        doc: str | None = None,
        **rules: Callable | None,
    ):
        self.name, self.forward, self.kind, self.doc = name, forward, kind, doc
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
        self.saved_tensors = self.saved_inputs + self.saved_results  # their places in `saves`
        self.plan = self.planned()
        for rule, numbers, _ in self.plan:
            for place, number in enumerate(numbers if gives_several(rule) else ()):
                self.rules[list(self.rules)[number]] = one_of_several(rule, place, len(numbers))
        self.frees = frees or bool(self.saved_tensors)
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

    def value_from(self, source: tuple[str, int], inputs: tuple, results: tuple, params: tuple) -> object:
        """What a rule reads (see `source_of`), taken from the operation's inputs, results and parameters."""
        kind, position = source
        if kind == "param":
            return params[position] if len(params) > position else None
        if kind == "result":
            return results[position]
        if kind == "sizes":
            return [t._array.shape for t in inputs] if self.variadic else inputs[position]._array.shape
        return None if inputs[position]._array is None else inputs[position]

    def record(self, inputs: tuple, params: tuple, outs: tuple) -> Node | None:
        """Make this operation's node and hang it on its results, which the caller has computed."""
        return record(self, inputs, params, outs)

    def with_flat(self, grads: list, values: list) -> list:
        """Gradients of a recorded backward pass, as functions of the `flat` tensors, too, which they do not change with."""
        for other in (values[p] for p in self.flat):
            if isinstance(other, Tensor) and other.requires_grad:
                grads = [None if grad is None else constant_in(grad, other) for grad in grads]
        return grads

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


def make_node_class(op: Op, name: str) -> type[Node]:
    """The Node subclass of one operation: PyTorch's name, what it frees, and its `_saved_*` attributes."""
    outputs = max(len(op.outputs) - len(op.constants), 1)
    body = {"__slots__": (), "_op": op, "_output_count": outputs, "_frees": op.frees, "_vjp": make_vjp(op)}
    if not op.outputs:
        body["__slots__"] = ("_output_count",)  # as many as the forward function returned
        del body["_output_count"]
    for position, saved_name in enumerate(op.saves):
        if not saved_name.startswith("_"):
            body["_saved_" + saved_name] = property(functools.partial(read, i=position))
            if op.sources[position][0] in ("input", "result"):
                body["_raw_saved_" + saved_name] = property(functools.partial(SavedTensor, position=position))
    return type(name, (Node,), body)


def define(name: str, forward: Callable, /, **options_and_rules: object) -> Callable:
    """Make an operation of what `Op` takes; `apply` and the transforms in minigrad.func then work from that.

    It is called with its tensors first, then the other parameters of `forward`, by position.
    """
    op = Op(name, forward, **options_and_rules)
    op.call = described(make_call(op), op)
    OPS.append(op)
    return op.call


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


__all__ = ["OPS", "Op", "apply", "define", "first_of", "function", "is_array", "method", "operand"]
