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

from ..autograd.node import Node
from ..autograd.saved import read
from ..tensor import Tensor, wrap
from . import run
from .publish import METHODS, add_form, described, publish
from .signature import Signature, declared
from .template import call_text, core_text, order_text, vjp_text, write_later

MASK = "grad_input_mask"

# ---------------------------------------------------------------- rules


def parameters_of(function: Callable) -> tuple[str, ...]:
    """The names of a function's positional parameters."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


@functools.lru_cache(maxsize=2048)
def source_text(rule: Callable) -> str:
    """The body of a rule that is a lambda; for a longer function its call, such as `sum_backward(grad, dim)`.

    What is kept under a name that begins with an underscore is left out.
    """
    code = rule.__code__
    if code.co_name != "<lambda>":
        return f"{rule.__name__}({', '.join(name for name in parameters_of(rule) if name[0] != '_')})"
    spans = [(p[::2], p[1::2]) for p in code.co_positions() if p[2] is not None]
    spans = [span for span in spans if span[0] != span[1]]  # empty ones belong to the lambda as a whole
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first[0], last[0] + 1)]
    lines[-1] = lines[-1][: last[1]]
    lines[0] = lines[0][first[1] :]
    return " ".join(part.decode().strip() for part in lines)


# ---------------------------------------------------------------- operations


class Op:
    """All that is known of one operation: what it was declared with, and what follows from that.

    `forward` computes on arrays. With several `outputs` it returns a tuple; with none, a sequence of any length.
    """

    kind: str | None = None  # see the head of this file
    node: str = ""  # PyTorch's name for the node, if it is not `<Name>Backward0`
    doc: str = ""
    outputs: tuple[str, ...] = ("result",)
    constants: tuple[str, ...] = ()  # the last of several outputs, if they have no derivative: an index
    floating: bool = False  # is the result floating point also for integer inputs?
    view: bool = False  # does the result share the memory of the first input?
    broadcasts: bool = False  # are inputs broadcast or cast, and gradients fitted? Several elementwise always
    numbers: bool | None = None  # may numbers stand for all inputs but the first? Elementwise usually
    flat: tuple = ()  # saved tensors that gradients depend on with slope 0: a second derivative finds zeros there
    jvp: Callable | None = None  # forward-mode rule, where `kind` does not imply one
    batch: object = None  # how vmap runs it, where the signature does not tell

    def __init__(self, signature: Signature, forward: Callable, rules: dict, options: dict[str, object]):
        for option, value in options.items():
            if option not in Op.__annotations__:
                raise TypeError(f"op({signature.name!r}): {option!r} is neither an option nor an input")
            setattr(self, option, value)
        self.signature, self.name, self.forward = signature, signature.name, forward
        elementwise = self.kind == "elementwise"
        self.inputs = tuple([n for n, k in signature.kinds.items() if k in ("", "tensors")])
        self.params = tuple([n for n in signature.kinds if n not in self.inputs])
        self.broadcasts = self.broadcasts or (elementwise and len(self.inputs) > 1)
        self.variadic = signature.kinds[self.inputs[0]] == "tensors"
        self.absent = {n for n in self.inputs if signature.defaults[n] is None}
        self.numbers = (elementwise if self.numbers is None else self.numbers) and len(self.inputs) > 1
        signature.numbers = self.numbers
        self.rules = {n: rules[n] for n in self.inputs if n in rules}
        self.differentiable = tuple([i for i, n in enumerate(self.inputs) if n in self.rules])
        shapes, sizes = ([n + end for n in self.inputs] for end in ("_sym_sizes", "_sym_numel"))
        values = {"size": sizes, "shape": shapes, "param": self.params}
        values |= {"result": self.outputs, "input": self.inputs}
        self.readable = {n: (source, i) for source, names in values.items() for i, n in enumerate(names)}
        # what each rule reads besides the gradient, which it gets first, and the mask, which it gets next if at all
        self.wanted = {n: [p for p in parameters_of(r)[1:] if p != MASK] for n, r in self.rules.items()}
        self.saves = tuple(sorted({n for wanted in self.wanted.values() for n in wanted}))
        self.sources = [self.source_of(n) for n in self.saves]
        self.guards = [self.guard_of(n) for n in self.saves]
        self.saved_inputs = tuple([i for i, (s, _) in enumerate(self.sources) if s == "input"])
        self.saved_results = tuple([i for i, (s, _) in enumerate(self.sources) if s == "result"])
        self.saved_tensors = self.saved_inputs + self.saved_results  # their places in `saves`
        self.frees = bool(self.saved_tensors) or "indices" in self.saves  # an index holds tensors, too
        self.single = len(self.outputs) == 1
        self.scope = vars(run) | {"forward": forward, "op": self, "how": (self.name, False, run.perform)}
        self.scope |= {"with_flat": with_flat} | {f"rule_{n}": rule for n, rule in self.rules.items()}
        self.node_class = None
        if self.rules:
            named = self.node or self.name.title().replace("_", "") + "Backward0"
            self.scope["Node"] = self.node_class = self.make_node_class(named)
        self.core, self.order = write_later(self, core_text), write_later(self, order_text)

    # ------------------------------------------------------------ what a rule reads

    def sharing(self, name: str) -> list[str]:
        """The inputs whose gradients the rule of this one gives, if it gives several."""
        rule = self.rules[name]
        return [n for n in self.rules if self.rules[n] is rule] if MASK in parameters_of(rule) else []

    def guard_of(self, name: str) -> str:
        """The input whose gradient must be wanted for a value to be saved; none if it is always saved, as a result is.

        That is an input which only one of several rules reads.
        """
        readers = [n for n, wanted in self.wanted.items() if name in wanted]
        guarded = name in self.inputs and len(self.rules) > 1 == len(self.outputs) == len(readers)
        return readers[0] if guarded and name not in self.flat else ""

    def source_of(self, name: str) -> tuple[str, int]:
        """Where a saved value comes from: ("input" | "result" | "param" | "shape" | "size", position)."""
        source = self.readable.get(name) or self.readable.get(name.removeprefix("_"))
        if source is None:
            raise TypeError(f"op({self.name!r}): a rule reads {name!r}: no input, output or parameter")
        return source

    def rule_of(self, position: int, inputs: tuple, results: tuple, params: tuple) -> Callable:
        """The rule of one input, by its position, as a function of the gradient alone: forward mode calls it so."""
        name, sources = self.inputs[position], {"input": inputs, "result": results, "param": params}
        rule, read = self.rules[name], {}
        for n in self.wanted[name]:
            source, i = self.source_of(n)
            read[n] = sources[source][i] if source in sources else getattr(inputs[i]._array, source)
        sharing, flat = self.sharing(name), tuple([read[n] for n in self.flat if n in read])
        if not sharing:
            return lambda grad: with_flat((rule(grad, *read.values()),), flat)[0]
        mask = tuple([n == name for n in sharing])
        return lambda grad: with_flat(rule(grad, mask, *read.values()), flat)[mask.index(True)]

    @property
    def rule_sources(self) -> dict[str, str]:
        """The text of each rule, as the visualiser shows it."""
        texts = {}
        for name, rule in self.rules.items():
            sharing = self.sharing(name)
            texts[name] = source_text(rule) + (f"[{sharing.index(name)}]" if sharing else "")
        return texts

    @property
    def text(self) -> str:
        """What the template writes for this operation, to be read."""
        texts = (call_text, core_text, vjp_text)[: 3 if self.rules else 2]
        return "\n\n".join("\n".join(text(self)) for text in texts)

    def make_node_class(self, name: str) -> type[Node]:
        """The Node subclass of one operation: PyTorch's name, what it frees, and its `_saved_*` attributes."""
        body = {"__slots__": (), "_op": self, "_frees": self.frees, "_vjp": write_later(self, vjp_text)}
        body["_counted"] = next((self.sources[i][1] for i in self.saved_results), None)
        if self.outputs:
            body["_output_count"] = len(self.outputs) - len(self.constants)
        else:  # as many as the forward function returns
            body["__slots__"] = ("_output_count",)
        for position, saved_name in enumerate(self.saves):
            if not saved_name.startswith("_"):
                body["_saved_" + saved_name] = property(functools.partial(read, i=position))
        return type(name, (Node,), body)

    # ------------------------------------------------------------ what users call

    @functools.cached_property
    def as_result(self) -> Callable:
        """What several results are returned in: a named tuple, as torch.return_types has it, if they have names."""
        if not self.outputs:
            return tuple
        return named_result(self.name.strip("_"), self.outputs)

    def public(self, name: str, method: bool = True, in_place: bool = False, **written: bool) -> Callable:
        """A function that users call, under this name; in_place: it writes the result into its tensor, as `add_` does."""
        how = name, method, run.write if in_place else run.perform
        call = write_later(self, functools.partial(call_text, in_place=in_place, **written), how=how)
        call.op, doc = self, self.doc
        if in_place:
            doc = f"In place: {doc}\n\nWritten into this tensor, which keeps its shape and dtype and is returned."
        return described(call, name, doc, self.signature, method)


def named_result(name: str, outputs: tuple[str, ...]) -> Callable:
    """What makes a named tuple of several results, as torch.return_types has it."""
    made = namedtuple(name, outputs, module="torch.return_types")

    def text(found: tuple) -> str:
        lines = ",\n".join([f"{n}={v!r}" for n, v in found._asdict().items()])
        return f"torch.return_types.{made.__name__}(\n{lines})"

    made.__repr__ = text
    return functools.partial(tuple.__new__, made)  # in half the time of `made._make`


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
    **options_and_rules: object,
) -> Callable:
    """Declare an operation: see the head of this file, and `Op` for the options.

    at: where it is found: torch, Tensor, F, linalg; "" for nowhere. aliases: other names
    there. operators: the dunder methods that it is. inplace: is there an in-place method? Elementwise ones with rules have one.
    Returns the function of this one declaration, whose `.op` is the Op. Several of one name are one public function.
    """
    parsed = declared(signature)
    rules = {n: r for n, r in options_and_rules.items() if n in parsed.kinds}
    made = Op(parsed, forward, rules, {n: v for n, v in options_and_rules.items() if n not in rules})
    OPS.append(made)
    told = "Shapes are broadcast, dtypes promoted. " * (made.kind == "elementwise" and len(made.inputs) > 1)
    told += "Integers become floating point. " * made.floating
    told += f"Recorded as {made.node_class.__name__}." if rules else "The result never requires grad."
    made.doc = f"{made.doc}\n\n{told}".strip()
    call = made.public(made.name, method=False)
    call.as_method = functools.partial(made.public, made.name)
    publish(call, made.name, at, aliases)
    if not at:
        made.as_result = tuple  # nobody reads the names of several results
    inplace = made.kind == "elementwise" and made.single and bool(made.rules) if inplace is None else inplace
    for name in (made.name, *aliases.split()) if inplace and "Tensor" in at.split() else ():
        add_form(METHODS, name + "_", made.public(name + "_", in_place=True))
    for name in operators.split():
        in_place = name[0] == "i" and name != "invert"
        add_form(METHODS, f"__{name}__", made.public(f"__{name}__", operator=True, in_place=in_place))
    return call


constant_in = op("constant_in(grad, other)", lambda grad, other: grad, at="", batch="rows", grad=lambda grad: grad,
    other=lambda grad, other_sym_sizes: zeros_beside(grad, other_sym_sizes),
    jvp=lambda inputs, moves, results, params: moves[0])  # fmt: skip


def zeros_beside(x: object, shape: tuple) -> object:
    """Zeros of a shape: an array, or a Tensor if `x` is one."""
    return np.zeros(shape, x.dtype) if is_array(x) else wrap(np.zeros(shape, x._array.dtype))
