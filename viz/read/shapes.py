"""Shapes of temporaries that nobody holds any more, worked out from what the nodes keep and from the operations' own rules.

A framework whose nodes carry ``_input_metadata`` has told us already; then there is nothing to do here. Where a shape
cannot be known for certain it stays None.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import rules
from .graph import Function, Graph
from .replay import kept_numbers

Shape = tuple[int, ...]

_UNARY = (
    "Neg Reciprocal Abs Exp Expm1 Log Log2 Log10 Log1P Sqrt Rsqrt Sin Cos Tan Asin Acos Atan Sinh "
    "Cosh Erf Tanh Sigmoid Relu LeakyRelu Softplus Silu Gelu Elu Softmax LogSoftmax Clone Cumsum Cumprod "
    "Flip Roll Tril Triu ClampMin ClampMax Clamp ToCopy MaskedFill CopyBackwards CopySlices"
)
UNARY = frozenset(_UNARY.split())
BINARY = frozenset(["Add", "Sub", "Rsub", "Mul", "Div", "Pow", "Maximum", "Minimum"])
_SCALAR = "SumBackward0 MeanBackward0 MseLoss NllLoss Dot MaxBackward1 MinBackward1 ProdBackward0"
SCALAR = frozenset(_SCALAR.split())


def infer_shapes(graph: Graph) -> None:
    """Fill in ``Output.shape`` where it follows from its neighbours."""
    if all(o.shape is not None for f in graph.functions for o in f.outputs):
        return
    for f in graph.functions:
        _inputs_from_sizes(f)
    for f in graph.functions:
        _from_inputs(f)
    for f in reversed(graph.functions):  # an elementwise operation tells the shape of its input, too
        if rules.base_name(f.name) in UNARY and len(f.outputs) == len(f.edges) == 1 and f.edges[0].target:
            made = f.edges[0].target.output(f.edges[0].nr)
            made.shape = f.outputs[0].shape if made.shape is None else made.shape
    for f in graph.functions:
        _from_inputs(f)


def _from_inputs(f: Function) -> None:
    if f.kind != "accumulate" and len(f.outputs) == 1 and f.outputs[0].shape is None:
        f.outputs[0].shape = _forward(f)


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
        known, from_right = None not in shapes, (s[::-1] for s in shapes)
        fits = known and all(len(set(n) - {1}) < 2 for n in zip(*from_right, strict=False))
        return np.broadcast_shapes(*shapes) if fits else None
    if base == "Mm" and None not in shapes and all(len(s) == 2 for s in shapes):
        return (shapes[0][0], shapes[1][1])
    if base == "Addmm" and None not in shapes[1:] and all(len(s) == 2 for s in shapes[1:]):
        return (shapes[1][0], shapes[2][1])
    if not shapes or shapes[0] is None:
        return None
    if base in ("Cat", "Stack"):
        return _joined(base, [s for s in shapes if s is not None], len(shapes), kept_numbers(f))
    axes = AXES.get(base) or AXES.get(f.name)
    try:
        return axes(shapes[0], kept_numbers(f)) if axes is not None else None
    except (KeyError, ValueError, ZeroDivisionError):  # it tells no axes, or is not what its name says
        return None


def _dims(s: Shape, dim: Any) -> set[int]:
    """Axes from 0 up; None and () stand for all of them."""
    several = dim if isinstance(dim, tuple | list) else () if dim is None else (dim,)
    return {int(d) % len(s) for d in several} if several and s else set(range(len(s)))


def _reduced(s: Shape, k: dict) -> Shape:
    gone = _dims(s, k.get("dim"))
    if k.get("keepdim"):
        return tuple(1 if i in gone else n for i, n in enumerate(s))
    return tuple(n for i, n in enumerate(s) if i not in gone)


def _squeezed(s: Shape, k: dict) -> Shape:
    gone = _dims(s, k.get("dim"))
    return tuple(n for i, n in enumerate(s) if n != 1 or i not in gone)


# what these make of the shape of their input and of the axes that they keep
AXES = {
    "Squeeze": _squeezed,
    "Select": lambda s, k: tuple(n for i, n in enumerate(s) if i != k["dim"] % len(s)),
    "Unsqueeze": lambda s, k: np.expand_dims(np.broadcast_to(0, s), k["dim"]).shape,
    "Transpose": lambda s, k: np.broadcast_to(0, s).swapaxes(k["dim0"], k["dim1"]).shape,
    "Permute": lambda s, k: np.broadcast_to(0, s).transpose(k["dims"]).shape,
    "T": lambda s, k: s[::-1],
} | dict.fromkeys(
    ["SumBackward1", "MeanBackward1", "ProdBackward1", "MaxBackward0", "MinBackward0", "Amax", "Amin"]
    + ["Var", "Std", "Logsumexp", "LinalgVectorNorm"],
    _reduced,
)


def _joined(base: str, known: list[Shape], count: int, k: dict) -> Shape | None:
    first = known[0]
    if "dim" not in k:
        return None
    if base == "Stack":
        at = k["dim"] % (len(first) + 1)
        return (*first[:at], count, *first[at:])
    if len(known) < count or not first:
        return None
    at = k["dim"] % len(first)
    return tuple(sum(s[i] for s in known) if i == at else n for i, n in enumerate(first))


def _of(e) -> Shape | None:
    if e.target is not None:
        return e.target.output(e.nr).shape
    return e.value.shape if e.value is not None else None
