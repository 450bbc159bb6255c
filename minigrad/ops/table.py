"""op(): one declaration makes an operation: its function, method, operators, in-place form, TypeErrors, help() and node.

    mul = op("mul(self, other)", np.multiply, kind="elementwise", operators="mul rmul imul", doc="`input * other`.",
             self=lambda grad, other: grad * other,
             other=lambda grad, self: grad * self)

The signature is the only place where names, defaults and kinds of arguments stand. A parameter without annotation is a
Tensor; signature.py lists the kinds of the others. A rule is the vector-Jacobian product of one input: from `grad`, the
gradient with respect to the result, it gives the gradient with respect to that input. **Its parameter names are what the
node saves**: an input, the `result` (or an output's name), a parameter, or `self_sym_sizes`, the shape of input `self`.
They can be read from the node as `_saved_other`, `_saved_result`, ... as in PyTorch; a name with a leading underscore is
for the rule alone.

A rule is written once, in operators and operations that work on arrays and on Tensors alike: a plain backward pass calls
it with arrays, `create_graph`, forward mode and vmap with Tensors. An operation that is called with arrays computes, and
returns an array. Where the gradients of several inputs share work, one rule gives them all: it stands under each of their
names, has a parameter `grad_input_mask`, and returns a gradient for each, None where the mask says False.

`kind` says what the transforms may assume:
    "elementwise"  inputs are broadcast, each element of the result depends on one of each input
    "linear"       linear in each differentiable input: its forward derivative is the operation itself
    "jointly linear"  linear in all of them together: joining tensors is, a product is not
    None           neither
"""

from __future__ import annotations

import functools
import linecache
from collections import namedtuple
from collections.abc import Callable

import numpy as np

from .. import dtypes
from ..autograd.node import Node
from ..autograd.saved import read
from ..autograd.views import write as write_in_place
from ..tensor import Tensor, full_name, wrap
from .publish import METHODS, add_form, described, publish
from .run import ORDERED, operand, ordering
from .signature import NUMBERS, REQUIRED, Signature
from .template import SHARED, TEXTS, write_later, written

ndarray = np.ndarray
MASK = "grad_input_mask"

# ---------------------------------------------------------------- rules


def parameters_of(function: Callable) -> tuple[str, ...]:
    """The names of a function's positional parameters."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


def gives_several(rule: Callable) -> bool:
    """Is this a rule for several inputs, which is told whose gradients are needed?"""
    return MASK in parameters_of(rule)


def names_read(rule: Callable) -> tuple[str, ...]:
    """What a rule reads besides the gradient, which it gets first, and the mask, which it gets next if at all."""
    return parameters_of(rule)[2 if gives_several(rule) else 1 :]


def one_of_several(rule: Callable, place: int, count: int) -> Callable:
    """The rule of one input alone, from one that gives the gradients of `count` inputs: forward mode needs it."""
    mask = tuple(i == place for i in range(count))
    return lambda grad, *values: rule(grad, mask, *values)[place]


@functools.lru_cache(maxsize=2048)
def source_text(rule: Callable) -> str:
    """The body of a rule that is a lambda; for a longer function its call, such as `sum_backward(grad, dim)`.

    What is kept under a name that begins with an underscore is left out.
    """
    code = rule.__code__
    if code.co_name != "<lambda>":
        return f"{rule.__name__}({', '.join(name for name in parameters_of(rule) if name[0] != '_')})"
    spans = [((p[0], p[2]), (p[1], p[3])) for p in code.co_positions() if p[2] is not None]
    # empty ones belong to the lambda as a whole
    spans = [(start, end) for start, end in spans if start != end]
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first[0], last[0] + 1)]
    lines[-1] = lines[-1][: last[1]]
    lines[0] = lines[0][first[1] :]
    return " ".join(part.decode().strip() for part in lines)


# ---------------------------------------------------------------- operations


class OpNode(Node):
    """The node of an operation of the table."""

    __slots__ = ()

    def _vjp(self, grad: object, recorded: bool) -> tuple:
        kind = type(self)
        kind._vjp = written(self._op, "vjp")  # it takes the place of this method
        return kind._vjp(self, grad, recorded)


class Op:
    """All that is known of one operation: what it was declared with, and what follows from that.

    forward: computes on arrays. With several `outputs` it returns a tuple; with none, a sequence of any length.
    node: PyTorch's name for the node, if it is not `<Name>Backward0`.
    floating: the result is floating point also for integer inputs.
    view: the result shares the memory of the first input.
    jvp: forward-mode rule, where `kind` does not imply one. batch: how vmap runs it, where the signature does not tell.
    frees: what is saved is freed after use although no input or result is among it (a parameter holds tensors).
    no_bool: refuses truth values beside numbers, as subtraction does.
    flat: saved tensors on which every gradient depends, if only with slope 0: a second derivative finds zeros there.
    broadcasts: inputs may be broadcast or cast although the kind is not elementwise; gradients are fitted to them.
    constants: the last of several outputs, if they have no derivative: an index, a count. The node has the others only.
    numbers: may a Python number stand for a tensor? In elementwise operations for all but the first; "all": for it, too.
    """

    def __init__(
        self,
        signature: Signature,
        forward: Callable,
        rules: dict[str, Callable],
        *,
        kind: str | None = None,
        node: str | None = None,
        outputs: tuple[str, ...] = ("result",),
        constants: tuple[str, ...] = (),
        floating: bool = False,
        view: bool = False,
        broadcasts: bool = False,
        numbers: bool | str | None = None,
        flat: tuple[str, ...] = (),
        frees: bool = False,
        no_bool: bool = False,
        jvp: Callable | None = None,
        batch: object = None,
    ):
        self.signature, self.name, self.forward, self.kind = signature, signature.name, forward, kind
        self.outputs, self.constants, self.view, self.floating = outputs, constants, view, floating
        self.jvp, self.batch, self.broadcasts = jvp, batch, broadcasts or kind == "elementwise"
        self.inputs = tuple(p.name for p in signature.parameters if p.kind in ("", "tensors"))
        self.params = tuple(p.name for p in signature.parameters if p.kind not in ("", "tensors"))
        self.variadic = signature.kinds[self.inputs[0]] == "tensors"
        self.absent = {n for n in self.inputs if signature.defaults[n] is None}
        numbers = kind == "elementwise" if numbers is None else numbers
        self.numbers = bool(numbers) and len(self.inputs) > 1
        signature.numbers, signature.first_number = self.numbers, numbers == "all"
        self.rules = {n: rules[n] for n in self.inputs if n in rules}
        self.differentiable = tuple(i for i, n in enumerate(self.inputs) if n in self.rules)
        self.wanted = {n: names_read(r) for n, r in self.rules.items()}  # what each rule reads
        self.saves = tuple(sorted({n for wanted in self.wanted.values() for n in wanted}))
        self.sources = [self.source_of(n) for n in self.saves]
        self.guards = [None if n in flat else self.guard_of(n) for n in self.saves]
        self.saved_inputs = tuple(i for i, (s, _) in enumerate(self.sources) if s == "input")
        self.saved_results = tuple(i for i, (s, _) in enumerate(self.sources) if s == "result")
        self.saved_tensors = self.saved_inputs + self.saved_results  # their places in `saves`
        self.frees, self.no_bool = frees or bool(self.saved_tensors), no_bool
        self.flat = tuple(self.saves.index(n) for n in flat)
        self.plan = self.planned()
        self.node_class = None
        self.scope = SHARED | {"forward": forward, "op": self, "known": self.known, "with_flat": with_flat}
        self.scope |= {f"rule{i}": rule for i, (rule, _, _) in enumerate(self.plan)}
        self.scope["as_result"] = tuple if len(outputs) < 2 else result_type(self.name, outputs)
        if self.rules:
            self.node_class = self.make_node_class(node or self.name.title().replace("_", "") + "Backward0")
            self.scope["Node"] = self.node_class
        self.call = write_later(self, "call")

    # what transforms and in-place writing call, written when it is first needed
    core = functools.cached_property(lambda self: written(self, "core"))
    hang = functools.cached_property(lambda self: written(self, "record"))

    # ------------------------------------------------------------ what a rule reads

    def planned(self) -> list[tuple[Callable, list[int], list[int]]]:
        """For each rule: itself, the numbers of the gradients that it gives, the places in `saves` of what it reads."""
        owners: dict[object, list[int]] = {}
        for number, rule in enumerate(self.rules.values()):
            owners.setdefault(rule if gives_several(rule) else number, []).append(number)
        names, plan = list(self.rules), []
        for numbers in owners.values():
            first = names[numbers[0]]
            plan.append((self.rules[first], numbers, [self.saves.index(n) for n in self.wanted[first]]))
        return plan

    gives_several = staticmethod(gives_several)

    def guard_of(self, name: str) -> int | None:
        """An input that only one of several rules reads is saved only if the gradient of this rule is to be computed.

        Gives the number of the rule; None if the value is always saved, as a result is.
        """
        readers = [number for number, wanted in enumerate(self.wanted.values()) if name in wanted]
        guarded = name in self.inputs and len(self.rules) > 1 == len(self.outputs) == len(readers)
        return readers[0] if guarded else None

    def source_of(self, name: str) -> tuple[str, int]:
        """Where a saved value comes from: ("input" | "result" | "param" | "sizes" | "numel", position)."""
        bare = name.removeprefix("_")
        for names, source in ((self.inputs, "input"), (self.outputs, "result"), (self.params, "param")):
            for candidate in (name, bare):
                if candidate in names:
                    return source, names.index(candidate)
        owner = bare.removesuffix("_sym_sizes").removesuffix("_sizes")
        if owner in self.inputs:
            return "sizes", self.inputs.index(owner)
        owner = bare.removesuffix("_sym_numel")
        if owner in self.inputs:
            return "numel", self.inputs.index(owner)
        raise TypeError(f"op({self.name!r}): a rule reads {name!r}, which is no input, output or parameter")

    def value_from(self, source: tuple[str, int], inputs: tuple, results: tuple, params: tuple) -> object:
        """What a rule reads (see `source_of`), taken from the operation's inputs, results and parameters."""
        kind, position = source
        if kind == "param":
            return params[position]
        if kind == "result":
            return results[position]
        if kind == "numel":
            return inputs[position]._array.size
        if kind == "sizes":
            return [t._array.shape for t in inputs] if self.variadic else inputs[position]._array.shape
        return inputs[position]

    def rule_of(self, position: int) -> Callable:
        """The rule of one input, by its position among `inputs`, as forward mode calls it."""
        for rule, numbers, _ in self.plan:
            for place, number in enumerate(numbers):
                if self.differentiable[number] == position:
                    return one_of_several(rule, place, len(numbers)) if gives_several(rule) else rule
        raise LookupError(self.inputs[position])

    @property
    def rule_sources(self) -> dict[str, str]:
        """The text of each rule, as the visualiser shows it."""
        texts = {}
        for rule, numbers, _ in self.plan:
            for place, number in enumerate(numbers):
                texts[number] = source_text(rule) + f"[{place}]" * gives_several(rule)
        return {name: texts[number] for number, name in enumerate(self.rules)}

    @property
    def text(self) -> str:
        """What the template has written for this operation, to be read."""
        return "\n\n".join(TEXTS[kind](self) for kind in ("call", "core", "vjp")[: 3 if self.rules else 2])

    def __repr__(self) -> str:
        return f"<op {self.name}: {', '.join(f'{k}: {v}' for k, v in self.rule_sources.items())}>"

    def make_node_class(self, name: str) -> type[Node]:
        """The Node subclass of one operation: PyTorch's name, what it frees, and its `_saved_*` attributes."""
        count = max(len(self.outputs) - len(self.constants), 1)
        body = {
            "__slots__": (),
            "_op": self,
            "_output_count": count,
            "_frees": self.frees,
        }
        if not self.outputs:
            body["__slots__"] = ("_output_count",)  # as many as the forward function returned
            del body["_output_count"]
        for position, saved_name in enumerate(self.saves):
            if not saved_name.startswith("_"):
                body["_saved_" + saved_name] = property(functools.partial(read, i=position))
        return type(name, (OpNode,), body)

    # ------------------------------------------------------------ arguments

    def split(self, values: list) -> tuple[tuple, tuple]:
        """(tensors, parameters) from the values of all parameters of the signature."""
        named = dict(zip(self.signature.names, values, strict=True))
        return tuple(named[n] for n in self.inputs), tuple(named[n] for n in self.params)

    def order(self, first: ndarray, params: tuple) -> tuple:
        """The parameters as `forward` and the rules get them: dimensions counted from the front, shapes complete."""
        found = []
        for name, value in zip(self.params, params, strict=True):
            kind = self.signature.kinds[name]
            if kind in ORDERED and not (
                value is None and self.signature.defaults[name] is None and kind != "dims"
            ):
                value = ordering(kind)(value, first)
            found.append(value)
        return tuple(found)

    def as_tensors(self, inputs: tuple) -> tuple:
        """The inputs, Python numbers beside a tensor made tensors."""
        if self.variadic:
            found = tuple(inputs[0])
            for place, t in enumerate(found):
                if not isinstance(t, Tensor):
                    raise TypeError(
                        f"expected Tensor as element {place} in argument 0, but got {full_name(type(t))}"
                    )
            return (found,)
        like = next((t for t in inputs if isinstance(t, Tensor) and t._array.dtype.kind != "b"), None)
        like = like if like is not None else next((t for t in inputs if isinstance(t, Tensor)), None)
        if like is None:  # numbers alone, where the first may be one
            return tuple(wrap(np.asarray(t, dtypes.default_float())) for t in inputs)
        return tuple(
            t if t is None or isinstance(t, Tensor) else operand(t, like, self.floating) for t in inputs
        )

    def known(self, other: object) -> bool:
        """May this stand beside a tensor in an operator?"""
        takes_number = self.numbers or len(self.inputs) == 1  # then a parameter stands there
        return isinstance(other, (Tensor, ndarray, *NUMBERS) if takes_number else (Tensor, ndarray))

    def in_place(self, name: str) -> Callable:
        """The method that writes the result into its tensor: `add_`."""
        signature, defaults = self.signature, tuple(self.signature.defaults[n] for n in self.params)
        usual = REQUIRED not in defaults and not any(k in ORDERED for k in signature.kinds.values())
        count = len(self.inputs)

        def call(*args, **kwargs):
            if usual and not kwargs and len(args) == count:
                last = args[-1]
                if self.numbers and count == 2 and type(last) in (float, int):
                    args = args[0], operand(last, args[0], self.floating)
                elif not isinstance(last, Tensor):
                    return bound(args, kwargs)
                return write_in_place(self, args, defaults)
            return bound(args, kwargs)

        def bound(args: tuple, kwargs: dict) -> Tensor:
            inputs, params = self.split(signature.bind(args, kwargs, name, method=True))
            inputs = self.as_tensors(inputs)
            return write_in_place(self, inputs, self.order(inputs[0]._array, params))

        call.op = self
        doc = f"In place: {self.call.__doc__}\n\nWritten into this tensor, which keeps its shape and dtype and is returned."
        return described(call, name, doc, signature, method=True)

    def record(self, inputs: tuple, params: tuple, outs: tuple) -> Node | None:
        """Hang this operation's node on results that a transform has computed. None if no input requires grad."""
        if not self.rules:
            return None
        return self.hang(inputs, *params, outs) if self.variadic else self.hang(*inputs, *params, outs)


def result_type(name: str, outputs: tuple[str, ...]) -> Callable:
    """The named tuple in which an operation with several results returns them, as torch.return_types has it."""
    made = namedtuple(name.strip("_"), outputs, module="torch.return_types")
    made.__repr__ = lambda self: (
        f"torch.return_types.{name.strip('_')}(\n"
        + ",\n".join(f"{n}={v!r}" for n, v in zip(outputs, self, strict=True))
        + ")"
    )
    return made._make


def with_flat(grads: tuple, values: tuple) -> tuple:
    """Gradients of a recorded pass, as functions of the `flat` tensors, too, which they do not change with."""
    for other in values:
        if isinstance(other, Tensor) and other.requires_grad:
            grads = tuple(None if grad is None else constant_in(grad, other) for grad in grads)
    return grads


def is_array(x: object) -> bool:
    """Is this rule called in a plain backward pass, on arrays?"""
    return not isinstance(x, Tensor)


OPS: list[Op] = []  # every operation: the calculus of the whole library


def op(
    signature: str,
    forward: Callable,
    /,  # `self` may be an input's name
    *,
    at: str = "torch Tensor",
    aliases: str = "",
    operators: str = "",
    inplace: bool | None = None,
    doc: str = "",
    **options_and_rules: object,
) -> Callable:
    """Declare an operation: see the head of this file, and `Op` for the options.

    at: where it is found: torch, Tensor, F, linalg, nn.Name (a module of that name); "" for nowhere. F(inplace): with
    PyTorch's `inplace=` argument. aliases: other names there. operators: the dunder methods that it is.
    Returns the function of this one declaration, whose `.op` is the Op. Several of one name are one public function.
    """
    parsed = Signature.parse(signature)
    rules = {n: r for n, r in options_and_rules.items() if n in parsed.kinds}
    made = Op(parsed, forward, rules, **{n: v for n, v in options_and_rules.items() if n not in rules})
    call = described(made.call, parsed.name, documented(made, doc), parsed)
    call.op = made
    if "Tensor" in at.split():
        call.as_method = described(
            write_later(made, "method"), parsed.name, call.__doc__, parsed, method=True
        )
        call.as_method.op = made
    OPS.append(made)
    publish(call, parsed.name, at, aliases)
    if inplace is None:
        inplace = made.kind == "elementwise" and len(made.outputs) == 1 and not made.view
    for name in (parsed.name, *aliases.split()) if inplace and "Tensor" in at.split() else ():
        add_form(METHODS, name + "_", made.in_place(name + "_"))
    for name in operators.split():
        add_form(METHODS, f"__{name}__", operator_of(made, name))
    return call


def documented(made: Op, doc: str) -> str:
    """The docstring of an operation, with what is true of it by the way it is declared."""
    told = []
    if made.kind == "elementwise" and len(made.inputs) > 1:
        told += ["Shapes are broadcast, dtypes promoted."]
    if made.floating:
        told += ["Integers become floating point."]
    told += [f"Recorded as {made.node_class.__name__}." if made.rules else "The result never requires grad."]
    return f"{doc}\n\n{' '.join(told)}" if doc else " ".join(told)


def operator_of(made: Op, name: str) -> Callable:
    """The dunder method of an operation. Addition and multiplication do not mind the order: `2 * x` is `x * 2`."""
    if name[0] == "i" and name != "invert":
        in_place = made.in_place(made.name + "_")

        def found(self, other):
            return in_place(self, other) if type(other) is Tensor or made.known(other) else NotImplemented
    elif len(made.inputs) == 2 and not any(made.signature.defaults[p] is REQUIRED for p in made.params):
        found = write_later(made, "operator")
    else:
        found = made.call
    found = described(found, f"__{name}__", made.call.__doc__, made.signature, method=True)
    found.op = made
    return found


constant_in = op(
    "constant_in(grad, other)", lambda grad, other: grad, at="", jvp=lambda inputs, moves, results, params: moves[0],
    batch="whole",
    grad=lambda grad: grad,
    other=lambda grad, other_sym_sizes: zeros_beside(grad, other_sym_sizes),
)  # fmt: skip


def zeros_beside(x: object, shape: tuple) -> object:
    """Zeros of a shape: an array, or a Tensor if `x` is one."""
    return np.zeros(shape, x.dtype) if is_array(x) else wrap(np.zeros(shape, x._array.dtype))
