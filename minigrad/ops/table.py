"""op(): one declaration makes an operation: its function, method, operators, in-place form, TypeErrors, help() and node.

    mul = op("mul(self, other)", np.multiply, kind="elementwise", operators="mul rmul imul", doc="`input * other`.",
             self=lambda grad, other: grad * other,
             other=lambda grad, self: grad * self)

The signature is the only place where names, defaults and kinds of arguments are written. A parameter without an annotation is a
Tensor; signature.py lists the kinds of the others. A rule is the vector-Jacobian product of one input: from `grad`, the
gradient with respect to the result, it gives the gradient with respect to that input. **Its parameter names are what the
node saves**: an input, the `result` (or an output's name), a parameter, or `self_sym_sizes`, the shape of input `self`.
They can be read from the node as `_saved_other`, `_saved_result`, ... as in PyTorch; a name with a leading underscore is
for the rule alone.

A rule is written once, in operators and operations that work on arrays and on Tensors alike: a plain backward pass calls
it with arrays; `create_graph`, forward mode and vmap call it with Tensors. Called with arrays, an operation only computes, and
returns an array. Where the gradients of several inputs share work, one rule gives them all: it is listed under each of their
names, has a parameter `grad_input_mask`, and returns a gradient for each, None where the mask says False.

`kind` says what transforms may assume:
    "elementwise"  inputs are broadcast; each element of the result depends on one element of each input
    "linear"       linear in each differentiable input: its forward derivative is the operation itself
    "jointly linear"  linear in all of them together, as joining tensors is and a product is not
    None           neither
"""

from __future__ import annotations

import functools
import inspect
import linecache
import operator
import re
from collections.abc import Callable, Sequence

import numpy as np

from .. import dtypes
from ..missing import names
from ..tensor import Tensor, wrap
from .apply import call_forms, function_of, node_class_of, vjp_of
from .general import dispatch, write_out
from .inplace import in_place_function_of, write
from .op import CallForm, Op, parameters_of
from .signature import Signature, declared

# Annotations in a plain function for `function`: see `kind_names` there.
Lengths = tuple[int, ...] | list[int]
Ints = int | Lengths
OPS: list[Op] = []  # every operation: all of the library's calculus
# Where users find the declared functions; `minigrad/__init__.py` attaches the methods to Tensor.
METHODS: dict[str, object] = {}
FUNCTIONS: dict[str, Callable] = {}  # torch.*
NN: dict[str, Callable] = {}  # torch.nn.functional.*
LINALG: dict[str, Callable] = {}  # torch.linalg.*
PLACES = {"torch": FUNCTIONS, "Tensor": METHODS, "F": NN, "linalg": LINALG}


def public(op: Op, name: str, method: bool = True, in_place: bool = False) -> Callable:
    """A function that users call, under this name; in_place: it writes the result into its tensor, as `add_` does."""
    signature, doc = op.signature if method else op.signature.as_function(), op.doc
    make, run = (in_place_function_of, write) if in_place else (function_of, dispatch)
    call = make(op, CallForm(name, method, run, signature))
    if in_place:
        doc = f"In place: {doc}\n\nWritten into this tensor, which keeps its shape and dtype and is returned."
    call.op = op
    return described(call, name, doc, signature, method)


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
    """Declare an operation: see the top of this file, and `Op` for the options.

    at: where users find it: torch, Tensor, F, linalg; "" for nowhere. aliases: other names there. operators: the dunder methods
    that run it. inplace: whether there is an in-place method; elementwise ones with rules have one. Returns this declaration's
    function, whose `.op` is the Op. Several declarations of the same name become one public function.
    """
    parsed = declared(signature)
    rules = {n: r for n, r in options_and_rules.items() if n in parsed.kinds}
    operation = Op(parsed, forward, rules, {n: v for n, v in options_and_rules.items() if n not in rules})
    if operation.takes:
        operation.forward = only_for(operation.takes, operation.kernel, forward)
    OPS.append(operation)
    if rules:
        operation.node_class = node_class_of(operation)
        operation.node_class.rules = property(lambda node: rule_sources(operation))
        if operation.zero_slope:
            operation.node_class._vjp = with_zero_slopes(operation, operation.node_class._vjp)
    elementwise = operation.kind == "elementwise"
    message = "Shapes are broadcast, dtypes promoted. " * (elementwise and len(operation.inputs) > 1)
    message += "Integers become floating point. " * operation.floating
    message += f"Recorded as {operation.node_class.__name__}." if rules else "The result never requires grad."
    operation.doc = f"{operation.doc}\n\n{message}".strip()
    call = public(operation, operation.name, method=False)
    call.as_method = functools.partial(public, operation, operation.name)
    publish(call, operation.name, at, aliases)
    if not at:
        operation.as_result = tuple  # the names of several results are not public
    if inplace is None:
        inplace = elementwise and operation.single and bool(operation.rules)
    for name in (operation.name, *aliases.split()) if inplace and "Tensor" in at.split() else ():
        add_form(METHODS, name + "_", public(operation, name + "_", in_place=True))
    for name in operators.split():
        in_place = name[0] == "i" and name != "invert"
        add_form(METHODS, f"__{name}__", public(operation, f"__{name}__", in_place=in_place))
    return call


def only_for(kinds: str, kernel: str, forward: Callable) -> Callable:
    """A forward function that raises PyTorch's error if its first array is not of one of these kinds of dtypes."""

    def checked(first: np.ndarray, *args: object) -> object:
        dtypes.require(kinds, kernel, first.dtype)
        return forward(first, *args)

    return checked


def function(at: str = "torch", aliases: str = "", name: str = "", kernel: str = "") -> Callable:
    """Decorator: make a plain Python function of Tensor operations public. Its annotations determine the TypeErrors;
    `kernel` is the function's name in errors about a value of the wrong kind."""

    def decorate(run: Callable) -> Callable:
        public, parsed = name or run.__name__, inspect.signature(run)
        kind_names = {"Tensor": "", "float": "Scalar", "Type": "dtype", "Ints": "ints", "Lengths": "size"}

        @functools.cache
        def signature(method: bool) -> Signature:
            results = Signature(public, parsed.parameters, kind_names)
            results.arrays, results.kernel = (), kernel
            return results if method else results.as_function()

        def public_function(method: bool) -> Callable:
            own = functools.partial(signature, method)
            most, stars = run.__code__.co_argcount, run.__code__.co_flags & inspect.CO_VARARGS
            listed = most and stars and own().listed
            positional = enumerate(run.__code__.co_varnames[:most])
            flag = next((i for i, n in positional if run.__annotations__.get(n) == "bool"), most)

            @functools.wraps(run)
            def call(*args, **kwargs):
                given = args[most:] if listed else ()  # Python itself would accept any number of them
                alone = len(given) == 1 and isinstance(given[0], (tuple, list))
                if listed and not (given if method else alone):
                    return call_with(run, own(), own().bind(args, kwargs, method=method))
                # Python takes a bool for an int, and the reverse
                doubtful = bool in map(type, args) or int in map(type, args[flag:])
                if doubtful and not listed and "out" not in kwargs:
                    own().bind(args, kwargs, method=method)
                try:
                    return run(*args, **kwargs)
                except Exception as error:  # caused by the arguments, or by something inside
                    if "out" in kwargs and not method:
                        return write_out(public, call, args, kwargs)
                    in_python = at in ("F", "") and ":" not in names("nn.functional").get(public, ":")
                    if in_python and str(error).startswith(f"{public}() missing"):
                        raise  # PyTorch's function, which does not check kinds, has the same words
                    values = own().bind(args, kwargs, method=method)
                    if all(key in own().kinds and key != own().many for key in kwargs):
                        raise
                return call_with(run, own(), values)

            parameters, call.__signature__ = [*parsed.parameters.values()], parsed
            if parameters and parameters[0].name == ("input" if method else "self"):
                parameters[0] = parameters[0].replace(name="self" if method else "input")
                call.__signature__ = parsed.replace(parameters=parameters)
            call.__name__ = call.__qualname__ = public
            call.signature, call.__doc__ = own, about(inspect.cleandoc(run.__doc__ or ""), method)
            return call

        call = public_function(method=False)
        call.as_method = functools.partial(public_function, method=True)
        publish(call, public, at, aliases)
        return call

    return decorate


def call_with(run: Callable, signature: Signature, values: dict[str, object]) -> object:
    """Call a plain function of this signature with the values of its parameters."""
    many = values.get(signature.many, ())
    many = many if isinstance(many, (tuple, list)) else (many,)
    return run(*[values[n] for n in signature.named], *many, **{n: values[n] for n in signature.only})


def method(*names: str) -> Callable:
    """Decorator: the function becomes a method of Tensor, under its own name if none is given."""

    def attach(result: Callable) -> Callable:
        if names and not isinstance(result, property):
            result.__name__ = result.__qualname__ = names[0]
        METHODS.update(dict.fromkeys(names or [result.__name__], result))
        return result

    return attach


# ---------------------------------------------------------------- where users find them


def described(call: Callable, name: str, doc: str, signature: Signature, method: bool) -> Callable:
    """Give a function its name, docstring and signature for help()."""
    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__ = "minigrad", about(doc, method)
    call.__signature__ = signature.in_python(method)
    call.signature = lambda: signature
    return call


def about(doc: str, method: bool) -> str:
    """A docstring with the right name of the first argument: `input`, or `self` in a method."""
    if not method or "input" not in doc:
        return doc
    return re.sub(r"`[^`]*`", lambda quoted: re.sub(r"\binput\b", "self", quoted[0]), doc)


def publish(call: Callable, name: str, at: str, aliases: str = "") -> None:
    """Let users find a function in these places (see `table.op`), under its name and the aliases."""
    for place in at.split():
        for public in (name, *aliases.split()):
            result = call.as_method() if place == "Tensor" else call
            add_form(PLACES[place], public.removeprefix("linalg_"), result)


def add_form(place: dict[str, object], name: str, call: Callable) -> None:
    """Put a function into a place; if the name exists there already, they become the forms of one function."""
    known = place.get(name)
    if known is not None:
        forms, method = [*getattr(known, "forms", [known]), call], place is METHODS
        call = call_forms(name, forms, method)
        described(call, name, doc_of_forms(name, forms, method), forms[-1].signature(), method)
        call.__signature__ = common_signature([form.__signature__ for form in forms])
    place[name] = call


def doc_of_forms(name: str, forms: list[Callable], method: bool) -> str:
    """The docstring of a function of several forms: what the first one does, then each form with its own docstring."""
    parts = [forms[0].__doc__.partition("\n\n")[0], "Forms:"]
    for form in forms:
        text = form.__doc__.replace("\n", "\n        ").replace("        \n", "\n")
        parts.append(f"    {name}{form.signature().in_python(method)}\n        {text}")
    return "\n\n".join(parts)


def common_signature(signatures: list[inspect.Signature]) -> inspect.Signature:
    """The signature of the form with the most parameters. Those that another form lacks keep their default, or get None."""
    tables = [s.parameters for s in signatures]
    listing = [table for table in tables if any(p.kind == p.VAR_POSITIONAL for p in table.values())]
    everywhere = set.intersection(*map(set, tables))
    results, optional = [], False
    for name, p in max(listing or tables, key=len).items():
        positional = p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        optional = optional or (positional and (name not in everywhere or p.default is not p.empty))
        kinds = {table[name].annotation for table in tables if name in table}
        if len(kinds) > 1 and not any(isinstance(kind, str) for kind in kinds):
            p = p.replace(annotation=functools.reduce(operator.or_, sorted(kinds, key=str, reverse=True)))
        results.append(p.replace(default=None) if positional and optional and p.default is p.empty else p)
    returned = {s.return_annotation for s in signatures}
    only = returned.pop() if len(returned) == 1 else inspect.Signature.empty
    return inspect.Signature(results, return_annotation=only)


# ---------------------------------------------------------------- slopes of 0

constant_in = op("constant_in(grad, other)", lambda grad, other: grad, at="", batch="apart", grad=lambda grad: grad,
    other=lambda grad, other_sym_sizes: zeros_beside(grad, other_sym_sizes),
    jvp=lambda inputs, tangents, results, params: tangents[0])  # fmt: skip


def with_zero_slopes(op: Op, vjp: Callable) -> Callable:
    """A `_vjp` whose gradients, in a recorded pass, are also (constant) functions of the `zero_slope` tensors."""
    zero_slope = [op.saves.index(n) for n in op.zero_slope]
    count = [len(p) + op.shared for _, p in op.readers]
    rules = [
        lambda grad, *values, rule=rule, n=n: as_constant(rule(grad, *values[:n]), values[n:])
        for (rule, _), n in zip(op.readers, count, strict=True)
    ]
    op.readers = [(rule, [*p, *zero_slope]) for rule, (_, p) in zip(rules, op.readers, strict=True)]
    recorded_vjp = vjp_of(op)
    return lambda node, grad, recorded: (recorded_vjp if recorded else vjp)(node, grad, recorded)


def as_constant(grads: object, others: Sequence) -> object:
    """A gradient, or several, as a constant function of other tensors."""
    for other in others:
        if isinstance(other, Tensor) and other.requires_grad:
            if isinstance(grads, tuple):
                grads = tuple([None if grad is None else constant_in(grad, other) for grad in grads])
            else:
                grads = constant_in(grads, other)
    return grads


# ---------------------------------------------------------------- parts of rules


def is_array(x: object) -> bool:
    """Whether a rule was called in a plain backward pass, on arrays."""
    return not isinstance(x, Tensor)


def zeros_beside(x: object, shape: tuple) -> object:
    """Zeros of a shape: an array, or a Tensor if `x` is one."""
    return np.zeros(shape, x.dtype) if is_array(x) else wrap(np.zeros(shape, x._array.dtype))


def rule_of(op: Op, position: int, inputs: tuple, results: tuple, params: tuple) -> Callable:
    """The rule of one input, by its position, as a function of the gradient alone, as forward mode calls it."""
    name, sources = op.inputs[position], {"input": inputs, "result": results, "param": params}
    sharing, read = op.sharing(name), {}
    for n in {*op.reads[name], *op.zero_slope}:
        source, i = op.sources[op.saves.index(n)]
        read[n] = sources[source][i] if source in sources else getattr(inputs[i]._array, source)
    values, zero_slope = [read[n] for n in op.reads[name]], [read[n] for n in op.zero_slope]
    if not sharing:
        return lambda grad: as_constant(op.rules[name](grad, *values), zero_slope)
    mask = tuple([n == name for n in sharing])
    return lambda grad: as_constant(op.rules[name](grad, mask, *values)[mask.index(True)], zero_slope)


def rule_sources(op: Op) -> dict[str, str]:
    """The text of the rule of each differentiable input, by the input's name."""
    texts = {}
    for name, rule in op.rules.items():
        sharing = op.sharing(name)
        texts[name] = source_text(rule) + (f"[{sharing.index(name)}]" if sharing else "")
    return texts


@functools.lru_cache(maxsize=2048)
def source_text(rule: Callable) -> str:
    """The body of a rule that is a lambda; for a longer function its call, such as `sum_backward(grad, dim)`. Values saved
    under a name that begins with an underscore are left out."""
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
