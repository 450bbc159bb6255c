"""Shapes of temporaries that nobody holds any more, worked out from what the nodes keep and from the operations' own rules.

A framework whose nodes carry ``_input_metadata`` has told us already; then there is nothing to do here. Where a shape
cannot be known for certain it stays None.
"""

from __future__ import annotations

from . import rules
from .graph import Function, Graph

Shape = tuple[int, ...]

UNARY = frozenset(
    [
        "Neg",
        "Reciprocal",
        "Square",
        "Abs",
        "Exp",
        "Expm1",
        "Log",
        "Log2",
        "Log10",
        "Log1P",
        "Sqrt",
        "Rsqrt",
        "Sin",
        "Cos",
        "Tan",
        "Asin",
        "Acos",
        "Atan",
        "Sinh",
        "Cosh",
        "Erf",
        "Tanh",
        "Sigmoid",
        "Relu",
        "LeakyRelu",
        "Softplus",
        "Silu",
        "Gelu",
        "Elu",
        "Softmax",
        "LogSoftmax",
        "Clone",
        "Cumsum",
        "Cumprod",
        "Flip",
        "Roll",
        "Tril",
        "Triu",
        "ClampMin",
        "ClampMax",
        "Clamp",
        "ToCopy",
        "MaskedFill",
        "CopyBackwards",
        "CopySlices",
    ]
)
BINARY = frozenset(["Add", "Sub", "Rsub", "Mul", "Div", "Pow", "Maximum", "Minimum"])
SCALAR = frozenset(
    [
        "SumBackward0",
        "MeanBackward0",
        "MseLoss",
        "NllLoss",
        "Dot",
        "MaxBackward1",
        "MinBackward1",
        "ProdBackward0",
    ]
)


def infer_shapes(graph: Graph) -> None:
    """Fill in ``Output.shape`` where it follows from its neighbours."""
    if all(o.shape is not None for f in graph.functions for o in f.outputs):
        return
    for f in graph.functions:
        _inputs_from_sizes(f)
    for f in graph.functions:
        if f.kind != "accumulate" and len(f.outputs) == 1 and f.outputs[0].shape is None:
            f.outputs[0].shape = _forward(f)
    for f in reversed(graph.functions):  # an elementwise operation tells the shape of its input, too
        if rules.base_name(f.name) in UNARY and len(f.outputs) == len(f.edges) == 1 and f.edges[0].target:
            made = f.edges[0].target.output(f.edges[0].nr)
            made.shape = f.outputs[0].shape if made.shape is None else made.shape


def _inputs_from_sizes(f: Function) -> None:
    """A node that keeps the sizes of an input (``_saved_self_sym_sizes``) tells the shape of that input."""
    for name, e in zip(rules.input_names(f), f.edges, strict=True):
        if e.target is None:
            continue
        out = e.target.output(e.nr)
        if out.shape is None:
            sizes = getattr(f.fn, f"_saved_{name}_sym_sizes", None)
            if isinstance(sizes, tuple | list) and all(isinstance(n, int) for n in sizes):
                out.shape = tuple(sizes)


def _forward(f: Function) -> Shape | None:
    base = rules.base_name(f.name)
    if base in SCALAR or f.name in SCALAR:
        return ()
    for s in f._saved or ():
        if s.name == "result" and s.value is not None:
            return s.value.shape
    shapes = [_of(e) for e in f.edges]
    if base in UNARY:
        return shapes[0] if shapes else None
    if base in BINARY:
        return _broadcast(shapes) if None not in shapes else None
    if base == "Mm" and None not in shapes and all(len(s) == 2 for s in shapes):
        return (shapes[0][0], shapes[1][1])
    if base == "Addmm" and None not in shapes[1:] and all(len(s) == 2 for s in shapes[1:]):
        return (shapes[1][0], shapes[2][1])
    if base == "T" and shapes[0] is not None:
        return shapes[0][::-1]
    return None


def _of(e) -> Shape | None:
    if e.target is not None:
        return e.target.output(e.nr).shape
    return e.value.shape if e.value is not None else None


def _broadcast(shapes: list[Shape]) -> Shape | None:
    rank = max(map(len, shapes), default=0)
    out = []
    for sizes in zip(*[(1,) * (rank - len(s)) + s for s in shapes], strict=True):
        large = {n for n in sizes if n != 1}
        if len(large) > 1:
            return None
        out.append(large.pop() if large else 1)
    return tuple(out)
