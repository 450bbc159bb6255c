"""define(): a forward function and one rule per input become an operation and its Node class.

    mul = define("mul", np.multiply, kind="elementwise",
                 self=lambda grad, other: grad * other,
                 other=lambda grad, self: grad * self)

A rule is the vector-Jacobian product of one input: from `grad`, the gradient with respect to the operation's result,
it gives the gradient with respect to that input. **Its parameter names are what the node saves**: another input, the
`result` (or an output's name, if there are several), a parameter of the forward function, or `self_sym_sizes`, the
shape of input `self`. They can be read from the node as `_saved_other`, `_saved_result`, ... as in PyTorch.

A rule is written once, in operators and operations that work on arrays and on Tensors alike: a plain backward pass
runs it on arrays, `create_graph`, forward mode and vmap run it on Tensors. So an operation that is called with arrays
simply computes, and returns an array.

`kind` says what the other transforms may assume:
    "elementwise"  inputs are broadcast, each element of the result depends on one of each input
    "linear"       linear in each differentiable input: its forward derivative is the operation itself
    None           neither
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence

import numpy as np

from .. import dtypes
from ..autograd import node as nodes
from ..autograd.grad_mode import anomaly, local, state
from ..autograd.node import Node, Packed, edge, next_sequence
from ..tensor import AutogradMeta, Counter, Tensor, new_object, wrap

ndarray = np.ndarray
OPS: list[Op] = []  # every operation: the calculus of the whole library


class Op:
    """All that is known of one operation. `apply` and the transforms in minigrad.func work from this."""

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
    ):
        self.name, self.forward, self.kind = name, forward, kind
        self.inputs = tuple(rules)  # names of the tensor inputs
        self.rules = {k: r for k, r in rules.items() if r is not None}  # of those that can be differentiated
        self.differentiable = tuple(i for i, k in enumerate(self.inputs) if k in self.rules)
        self.outputs, self.floating, self.view, self.variadic = outputs, floating, view, variadic
        self.jvp, self.batch, self.optional = jvp, batch, optional
        self.params = parameters_of(forward)[len(self.inputs) :]
        self.wanted = {k: parameters_of(r)[1:] for k, r in self.rules.items()}  # what each rule reads
        self.saves = tuple(dict.fromkeys(n for wanted in self.wanted.values() for n in wanted))
        self.users = {n: tuple(k for k in self.rules if n in self.wanted[k]) for n in self.saves}
        self.sources = [self.source_of(n) for n in self.saves]
        self.saved_inputs = tuple(i for i, (s, _) in enumerate(self.sources) if s == "input")
        self.saved_results = tuple(i for i, (s, _) in enumerate(self.sources) if s == "result")
        self.plan = tuple(
            (r, tuple(self.saves.index(n) for n in self.wanted[k])) for k, r in self.rules.items()
        )
        self.node_class = make_node_class(self, node or name.title().replace("_", "") + "Backward0")

    def source_of(self, name: str) -> tuple[str, int]:
        """Where a saved value comes from: ("input" | "result" | "param" | "sizes", position)."""
        if name in self.inputs:
            return "input", self.inputs.index(name)
        if name in self.outputs:
            return "result", self.outputs.index(name)
        if name in self.params:
            return "param", self.params.index(name)
        owner = name.removesuffix("_sym_sizes")
        if owner in self.inputs:
            return "sizes", self.inputs.index(owner)
        raise TypeError(
            f"define({self.name!r}): a rule reads {name!r}, which is no input, output or parameter"
        )

    @property
    def rule_sources(self) -> dict[str, str]:
        """The text of each rule, as the visualiser shows it."""
        return {name: source_text(rule) for name, rule in self.rules.items()}

    def __repr__(self) -> str:
        return f"<op {self.name}: {', '.join(f'{k}: {v}' for k, v in self.rule_sources.items())}>"


def parameters_of(function: Callable) -> tuple[str, ...]:
    """The names of a function's positional parameters (none for NumPy's compiled functions)."""
    code = getattr(function, "__code__", None)
    return () if code is None else code.co_varnames[: code.co_argcount]


def source_text(rule: Callable) -> str:
    """The body of a rule that is a lambda; for a longer function its call, such as `sum_backward(grad, dim)`."""
    code = rule.__code__
    if code.co_name != "<lambda>":
        return f"{rule.__name__}({', '.join(parameters_of(rule))})"
    spans = [((p[0], p[2]), (p[1], p[3])) for p in code.co_positions() if p[2] is not None]
    spans = [
        (start, end) for start, end in spans if start != end
    ]  # empty ones belong to the lambda as a whole
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first[0], last[0] + 1)]
    lines[-1] = lines[-1][: last[1]]
    lines[0] = lines[0][first[1] :]
    return " ".join(part.decode().strip() for part in lines)


def make_node_class(op: Op, name: str) -> type[Node]:
    """The Node subclass of one operation: PyTorch's name, what it frees, and its `_saved_*` attributes."""
    body = {"__slots__": (), "op": op, "outputs": max(len(op.outputs), 1), "vjp": make_vjp(op)}
    body["frees"] = bool(op.saved_inputs or op.saved_results)
    for position, saved_name in enumerate(op.saves):
        body["_saved_" + saved_name] = property(saved_reader(position))
    return type(name, (Node,), body)


def saved_reader(position: int) -> Callable:
    def read(node: Node):
        if node.saved is None:
            raise RuntimeError(nodes.FREED)
        value = node.saved[position]
        if value is None or node.op.sources[position][0] in ("param", "sizes"):
            return value
        return unpack(node, recorded=True)[position]

    return read


# ---------------------------------------------------------------- backward


def make_vjp(op: Op) -> Callable:
    """The node's `vjp(grad, recorded)`: read what was saved, run the rules of the inputs that need a gradient."""
    plan, elementwise, checked = op.plan, op.kind == "elementwise", bool(op.saved_inputs or op.saved_results)

    if op.variadic:

        def vjp(node, grad, recorded):
            values = unpack(node, recorded) if checked else node.saved
            rule, picks = plan[0]
            parts = rule(grad, *[values[p] for p in picks])
            return tuple(
                fit(r, *m) if e is not None else None
                for r, e, m in zip(parts, node.edges, node.meta, strict=True)
            )

        return vjp

    if len(plan) == 1:
        rule, picks = plan[0]
        first = picks[0] if picks else None

        def vjp(node, grad, recorded):
            if node.edges[0] is None:
                return (None,)
            if first is None:
                out = rule(grad)
            else:
                values = unpack(node, recorded) if checked else node.saved
                out = (
                    rule(grad, values[first]) if len(picks) == 1 else rule(grad, *[values[p] for p in picks])
                )
            return (out,) if node.meta is None else (fit(out, *node.meta[0]),)

        return vjp

    if len(plan) == 2:
        (rule0, picks0), (rule1, picks1) = plan
        single = len(picks0) == 1 and len(picks1) == 1
        none = not picks0 and not picks1

        def vjp(node, grad, recorded):
            e0, e1 = node.edges
            values = unpack(node, recorded) if checked else node.saved
            if none:
                r0 = rule0(grad) if e0 is not None else None
                r1 = rule1(grad) if e1 is not None else None
            elif single:
                r0 = rule0(grad, values[picks0[0]]) if e0 is not None else None
                r1 = rule1(grad, values[picks1[0]]) if e1 is not None else None
            else:
                r0 = rule0(grad, *[values[p] for p in picks0]) if e0 is not None else None
                r1 = rule1(grad, *[values[p] for p in picks1]) if e1 is not None else None
            meta = node.meta
            if meta is not None:
                r0 = fit(r0, *meta[0]) if e0 is not None else None
                r1 = fit(r1, *meta[1]) if e1 is not None else None
            return r0, r1

        return vjp

    def vjp(node, grad, recorded):
        values = unpack(node, recorded) if checked else node.saved
        out = [
            None if e is None else rule(grad, *[values[p] for p in picks])
            for (rule, picks), e in zip(plan, node.edges, strict=True)
        ]
        if node.meta is not None:
            out = [None if r is None else fit(r, *m) for r, m in zip(out, node.meta, strict=True)]
        return tuple(out)

    return vjp


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
                version += counter.version
            values[i] = t if recorded else t._array
    if op.saved_results:
        if node.counter is not None:
            version += node.counter.version
        if recorded:
            for i in op.saved_results:
                if type(saved[i]) is ndarray:
                    values[i] = nodes.saved_result(node, saved[i], op.sources[i][1])
    if version != node.version:
        if node.version != PACKED:
            explain_modified(node)
        for i in (*op.saved_inputs, *op.saved_results):
            if type(saved[i]) is Packed:
                t = saved[i].unpack()
                values[i] = t if recorded else t._array
    return values


PACKED = -1  # in the place of a version: saved_tensors_hooks hold the values


def explain_modified(node: Node) -> None:
    """Raise PyTorch's error for the saved tensor whose version has changed."""
    op, then = node.op, node.version
    for i in op.saved_inputs:
        t = node.saved[i]
        if t is not None and nodes.version_of(t):
            now = nodes.version_of(t)
            others = sum(
                nodes.version_of(node.saved[j])
                for j in op.saved_inputs
                if j != i and node.saved[j] is not None
            )
            raise nodes.modified_error(t._array, t._grad_fn, t._output_nr, now, max(then - others, 0))
    for i in op.saved_results:
        raise nodes.modified_error(node.saved[i], node, op.sources[i][1], node.counter.version, then)


def fit(grad, shape: tuple, dtype: np.dtype):
    """Undo broadcasting and promotion: sum `grad` to `shape` and cast it to `dtype`."""
    if grad is None:
        return None
    if isinstance(grad, Tensor):
        if grad._array.shape != shape:
            grad = grad.sum_to_size(shape)
        return grad if grad._array.dtype == dtype else grad.to(dtypes.of_numpy(dtype))
    if grad.shape != shape:
        grad = sum_to(grad, shape)
    return grad if grad.dtype == dtype else grad.astype(dtype)


def sum_to(array: ndarray, shape: tuple) -> ndarray:
    """Sum an array over the axes that broadcasting has added or stretched."""
    lead = array.ndim - len(shape)
    if lead > 0:
        array = np.add.reduce(array, axis=tuple(range(lead)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and array.shape[i] != 1)
    if stretched:
        array = np.add.reduce(array, axis=stretched, keepdims=True)
    if array.shape != shape:  # a gradient that is smaller than its input: stretch it
        array = np.broadcast_to(array, shape)
    return array


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
    **rules: Callable | None,
) -> Callable:
    """Make an operation. It is called with its tensors first, then the other parameters of `forward`, by position.

    forward: computes on arrays. With several `outputs` it returns a tuple.
    node: PyTorch's name for the node, if it is not `<Name>Backward0`.
    floating: the result is floating point also for integer inputs.
    view: the result shares the memory of the first input.
    variadic: the first argument is a sequence of tensors; its only rule returns a gradient for each.
    jvp: forward-mode rule, where `kind` does not imply one. batch: how vmap runs it (see minigrad.func).
    optional: inputs that may be None (a bias, a weight); forward and rules then get None.
    rules: one per tensor input, in order; None for an input that is never differentiated.
    """
    op = Op(
        name, forward, rules, kind=kind, node=node, outputs=outputs, floating=floating, view=view, variadic=variadic,
        jvp=jvp, batch=batch, optional=optional,
    )  # fmt: skip
    call = make_call(op)
    call.__name__ = call.__qualname__ = name
    call.op, op.call = op, call
    OPS.append(op)
    return call


def make_call(op: Op) -> Callable:
    """The function that runs the operation: a fast one for the common shapes, else the general `apply`."""
    if op.variadic:
        return lambda tensors, *params: apply(op, tuple(tensors), params)
    count = len(op.inputs)
    simple = len(op.outputs) == 1 and not op.view and op.differentiable == tuple(range(count))
    if simple and count == 1 and not op.params:
        return make_unary(op)
    if simple and count == 2 and not op.params:
        return make_binary(op)
    return lambda *args: apply(op, args[:count], args[count:])


def make_unary(op: Op) -> Callable:
    forward, cls, floating = op.forward, op.node_class, op.floating
    saves_self, saves_result = op.saves == ("self",), op.saves == ("result",)
    plain = not op.saves or saves_self or saves_result  # else: both, or the shape

    def call(self):
        if type(self) is not Tensor or state.special or not plain:
            return apply(op, (self,), ())
        x = self._array
        if floating and x.dtype.kind != "f":
            x = x.astype(dtypes.default_float())
        y = forward(x)
        out = new_object(Tensor)
        out._array = y if type(y) is ndarray else np.asarray(y)
        out._output_nr, out._meta, out._counter = 0, None, None
        if self._requires_grad:
            node = new_object(cls)
            node.edges = (edge(self),)
            node.input_nrs = (self._output_nr,) if self._output_nr else None
            node.sequence = next_sequence()
            node.hooks = node.meta = None
            if saves_self:
                node.saved = (self,)
                node.version = 0 if self._counter is None else self._counter.version
            elif saves_result:
                node.saved = (out._array,)
                node.counter = out._counter = Counter()
                node.version = 0
            else:
                node.saved = ()
            out._requires_grad, out._grad_fn = True, node
        else:
            out._requires_grad, out._grad_fn = False, None
        return out

    return call


def make_binary(op: Op) -> Callable:
    forward, cls, floating = op.forward, op.node_class, op.floating
    elementwise = op.kind == "elementwise"
    plain = all(s == "input" for s, _ in op.sources) and all(len(u) == 1 for u in op.users.values())
    # which input's gradient needs the saved value: it is saved only if that gradient will be computed
    entries = tuple(
        (position, op.inputs.index(op.users[n][0]))
        for n, (_, position) in zip(op.saves, op.sources, strict=True)
    )
    swapped = entries == ((1, 0), (0, 1))  # the rule of `self` reads `other` and the other way round

    def call(self, other):
        if type(other) is not Tensor and type(self) is Tensor and elementwise:
            other = operand(other, self)
        if state.special or type(self) is not Tensor or type(other) is not Tensor or not plain:
            return apply(op, (self, other), ())
        x, z = self._array, other._array
        same = x.dtype is z.dtype or x.dtype == z.dtype
        if (not same and elementwise) or (floating and x.dtype.kind != "f"):
            x, z = promoted(op, (self, other))
        y = forward(x, z)
        out = new_object(Tensor)
        out._array = y if type(y) is ndarray else np.asarray(y)
        out._output_nr, out._meta, out._counter = 0, None, None
        if self._requires_grad or other._requires_grad:
            node = new_object(cls)
            node.edges = e0, e1 = edge(self), edge(other)
            node.input_nrs = (
                (self._output_nr, other._output_nr) if self._output_nr or other._output_nr else None
            )
            node.sequence = next_sequence()
            node.hooks = None
            if elementwise and (x.shape != z.shape or not same):
                node.meta = ((self._array.shape, self._array.dtype), (other._array.shape, other._array.dtype))
            else:
                node.meta = None
            if not entries:
                node.saved = ()
            elif swapped:
                a = other if e0 is not None else None
                b = self if e1 is not None else None
                node.saved = (a, b)
                version = 0
                if a is not None and a._counter is not None:
                    version = a._counter.version
                if b is not None and b._counter is not None:
                    version += b._counter.version
                node.version = version
            else:
                pair, version, saved = (self, other), 0, []
                for position, user in entries:
                    t = pair[position] if node.edges[user] is not None else None
                    saved.append(t)
                    if t is not None and t._counter is not None:
                        version += t._counter.version
                node.saved, node.version = tuple(saved), version
            out._requires_grad, out._grad_fn = True, node
        else:
            out._requires_grad, out._grad_fn = False, None
        return out

    return call


scalars: dict[
    tuple, Tensor
] = {}  # Python numbers as tensors: making the array each time would double an `x * 2`


def operand(value, like: Tensor) -> Tensor:
    """A Python number as a 0-d tensor of the dtype that it takes beside `like`; anything else as it is."""
    kind = type(value)
    if kind is not float and kind is not int and kind is not bool:
        return value
    dtype = like._array.dtype
    key = (value, kind, dtype)
    found = scalars.get(key)
    if found is None or not value:  # 0.0 == -0.0, so zeros are not looked up
        found = wrap(np.asarray(value, dtypes.promote([(dtype, 2), (of_number(value), 0)])))
        if len(scalars) > 4096:
            scalars.clear()
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
    """The inputs' arrays in the common dtype in which an elementwise operation is done."""
    arrays = [t._array for t in inputs]
    parts = [(a.dtype, 2 if a.ndim else 1) for a in arrays]
    wanted = parts[0][0] if all(d == parts[0][0] for d, _ in parts) else dtypes.promote(parts)
    if op.floating and wanted.kind != "f":
        wanted = dtypes.default_float()
    return [a if a.dtype == wanted else a.astype(wanted) for a in arrays]


def apply(op: Op, inputs: tuple, params: tuple):
    """Run an operation, whatever the mode: on arrays (inside a rule), under a transform, with or without recording."""
    if not any(isinstance(t, Tensor) for t in inputs):
        if any(isinstance(t, (ndarray, np.generic)) for t in inputs):
            return op.forward(inputs, *params) if op.variadic else op.forward(*inputs, *params)
    inputs = as_tensors(op, inputs)
    if local.interpreter is not None:
        return local.interpreter.process(op, inputs, params)
    arrays = [t._array for t in inputs]
    if op.kind == "elementwise" or op.floating:
        differentiable = [inputs[i] for i in op.differentiable] if not op.variadic else inputs
        if op.floating or any(t._array.dtype != differentiable[0]._array.dtype for t in differentiable):
            for i, a in zip(
                op.differentiable if not op.variadic else range(len(inputs)),
                promoted(op, differentiable),
                strict=True,
            ):
                arrays[i] = a
    result = op.forward(arrays, *params) if op.variadic else op.forward(*arrays, *params)
    several = len(op.outputs) != 1
    outs = tuple(map(wrap, result)) if several else (wrap(result),)
    if op.view:
        for out in outs:
            make_view(out, inputs[0], several)
    elif local.inference:
        for out in outs:
            out.meta().inference = True
    if local.grad and any(t._requires_grad for t in inputs):
        record(op, inputs, params, outs)
    return outs if several else outs[0]


ABSENT = wrap(np.empty(0))  # in the place of an optional input that was not given
ABSENT._array = None


def as_tensors(op: Op, inputs: tuple) -> tuple[Tensor, ...]:
    """The inputs, Python numbers made tensors. Raises PyTorch's TypeError for anything else."""
    if all(isinstance(t, Tensor) for t in inputs):
        return inputs
    like = next((t for t in inputs if isinstance(t, Tensor)), None)
    out = []
    for position, t in enumerate(inputs):
        if not isinstance(t, Tensor):
            if t is None and not op.variadic and op.inputs[position] in op.optional:
                t = ABSENT
            elif isinstance(t, np.generic) or (type(t) is ndarray and like is not None):
                t = (
                    wrap(np.asarray(t))
                    if type(t) is ndarray
                    else operand(t.item(), like)
                    if like is not None
                    else wrap(t)
                )
            elif like is not None and isinstance(t, (bool, int, float)):
                t = operand(t, like)
            else:
                name = "tensors" if op.variadic else op.inputs[position]
                name = "input" if name == "self" else name
                raise TypeError(
                    f"{op.name}(): argument '{name}' (position {position + 1}) must be Tensor, not {type(t).__name__}"
                )
        out.append(t)
    return tuple(out)


def record(op: Op, inputs: Sequence[Tensor], params: tuple, outs: Sequence[Tensor]) -> Node | None:
    """Make the node of an operation that has just been done, and hang it on the results. None if it has none."""
    chosen = inputs if op.variadic else [inputs[i] for i in op.differentiable]
    if not any(t._requires_grad for t in chosen):
        return None
    node = new_object(op.node_class)
    node.edges = edges = tuple(edge(t) for t in chosen)
    node.input_nrs = tuple(t._output_nr for t in chosen) if any(t._output_nr for t in chosen) else None
    node.sequence = next_sequence()
    node.hooks = node.counter = None
    if op.variadic or (
        op.kind == "elementwise"
        and not all(
            t._array.shape == outs[0]._array.shape and t._array.dtype == outs[0]._array.dtype for t in chosen
        )
    ):
        node.meta = tuple((t._array.shape, t._array.dtype) for t in chosen)
    else:
        node.meta = None
    save(op, node, inputs, params, outs, edges)
    for number, out in enumerate(outs):
        if out._array.dtype.kind != "f":
            continue  # an integer result, such as argmax's index, is not differentiable
        out._requires_grad, out._grad_fn, out._output_nr = True, node, number
    if anomaly.on:
        from ..autograd.anomaly_mode import remember_traceback

        remember_traceback(node)
    return node


def save(
    op: Op, node: Node, inputs: Sequence[Tensor], params: tuple, outs: Sequence[Tensor], edges: tuple
) -> None:
    """Put into `node.saved` what the rules of the inputs with an edge will read, None for the rest."""
    saved, version = [], 0
    needed = (
        {k for k, e in zip(op.rules, edges, strict=False) if e is not None}
        if not op.variadic
        else set(op.rules)
    )
    for name, (source, position) in zip(op.saves, op.sources, strict=True):
        if source == "param":
            value = params[position] if position < len(params) else None
        elif source == "sizes":
            value = [t._array.shape for t in inputs] if op.variadic else inputs[position]._array.shape
        elif needed.isdisjoint(op.users[name]):
            value = None
        elif source == "input":
            value = inputs[position]
            if value is ABSENT:
                saved.append(None)
                continue
            if value.is_inference():
                raise RuntimeError(
                    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                    "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
                    "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
                )
            if value._counter is not None:
                version += value._counter.version
        else:
            value = outs[position]._array
            if node.counter is None:
                node.counter = outs[position].counter()
                version += node.counter.version
        saved.append(value)
    node.saved, node.version = tuple(saved), version
    if local.saved_hooks and op.node_class.frees:
        pack(op, node, outs)


def pack(op: Op, node: Node, outs: Sequence[Tensor]) -> None:
    """Let the innermost saved_tensors_hooks pack what the node saves."""
    saved, hooks = list(node.saved), local.saved_hooks[-1]
    for i in (*op.saved_inputs, *op.saved_results):
        if saved[i] is not None:
            t = saved[i] if isinstance(saved[i], Tensor) else wrap(saved[i])
            saved[i] = Packed(t, hooks)
    node.saved, node.version = tuple(saved), PACKED


def make_view(out: Tensor, source: Tensor, several: bool = False) -> None:
    """Tell `out`, which shares the memory of `source`, that it is a view: same version counter, known base."""
    counter = source.counter()
    base = source if source._meta is None or source._meta.base is None else source._meta.base
    meta = AutogradMeta()
    meta.base, meta.seen_version = base, counter.version
    above = source._meta.made_in if source._meta is not None else None
    meta.made_in = "multi_output" if several else "no_grad" if not local.grad else above
    meta.inference = source.is_inference()
    out._meta, out._counter = meta, counter
    if not base._requires_grad:
        counter.add_view(out)


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


__all__ = ["OPS", "Op", "apply", "define", "fit", "method", "sum_to"]
