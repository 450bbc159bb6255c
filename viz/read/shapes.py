"""Shapes of temporaries that nothing holds any more, worked out from what the nodes keep and from the operations' own rules.

A framework whose nodes carry ``_input_metadata`` has given them already; then there is nothing to do here. A shape
that cannot be known for certain stays None.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np

from . import rules
from .graph import Edge, Function, Graph
from .replay import axes, kept_numbers

Shape = tuple[int, ...]

_UNARY = (
    "Neg Reciprocal Abs Exp Expm1 Log Log2 Log10 Log1P Sqrt Rsqrt Sin Cos Tan Asin Acos Atan Sinh "
    "Cosh Erf Tanh Sigmoid Relu LeakyRelu Softplus Silu Gelu Elu Softmax LogSoftmax Clone Cumsum Cumprod "
    "Flip Roll Tril Triu ClampMin ClampMax Clamp ToCopy MaskedFill CopyBackwards CopySlices"
)
UNARY = frozenset(_UNARY.split())
BINARY = ["Add", "Sub", "Rsub", "Mul", "Div", "Pow", "Maximum", "Minimum"]
SCALAR = ["SumBackward0", "MeanBackward0", "Dot", "MaxBackward1", "MinBackward1", "ProdBackward0"]
_REDUCED = "SumBackward1 MeanBackward1 ProdBackward1 MaxBackward0 MinBackward0 Amax Amin Var Std"
REDUCED = _REDUCED.split()


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


def _inputs_from_sizes(f: Function) -> None:
    """A node that keeps the sizes of an input (``_saved_self_sym_sizes``) gives the shape of that input."""
    for name, e in zip(rules.input_names(f), f.edges, strict=True):
        if e.target is not None and e.target.output(e.nr).shape is None:
            sizes = None
            with contextlib.suppress(Exception):  # an engine may have freed them with the tensors
                sizes = getattr(f.fn, f"_saved_{name}_sym_sizes")
            if isinstance(sizes, tuple | list) and all(isinstance(n, int) for n in sizes):
                e.target.output(e.nr).shape = tuple(sizes)


def _from_inputs(f: Function) -> None:
    """The shape of a function's only result, from the result that the node keeps or from the shapes of its inputs."""
    if f.kind == "accumulate" or len(f.outputs) > 1 or f.outputs[0].shape is not None:
        return
    kept = [s.value.shape for s in f._saved or () if s.name == "result" and s.value is not None]
    made = MADE.get(f.name) or MADE.get(rules.base_name(f.name))
    try:
        f.outputs[0].shape = kept[0] if kept else made and made([_of(e) for e in f.edges], kept_numbers(f))
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError):
        return  # a shape or an axis is not known, or the operation is not what its name says


def _of(e: Edge) -> Shape | None:
    if e.target is not None:
        return e.target.output(e.nr).shape
    return e.value.shape if e.value is not None else None


def _reduced(s: list[Shape], k: dict) -> Shape:
    gone = axes(s[0], k.get("dim"))
    return tuple(1 if i in gone else n for i, n in enumerate(s[0]) if i not in gone or k.get("keepdim"))


def _squeezed(s: list[Shape], k: dict) -> Shape:
    gone = axes(s[0], k.get("dim"))
    return tuple(n for i, n in enumerate(s[0]) if n != 1 or i not in gone)


def _stacked(s: list[Shape | None], k: dict) -> Shape:
    one = next((shape for shape in s if shape is not None), None)
    at = k["dim"] % (len(one) + 1)
    return (*one[:at], len(s), *one[at:])


def _joined(s: list[Shape], k: dict) -> Shape:
    at = k["dim"] % len(s[0])
    return tuple(sum(shape[i] for shape in s) if i == at else n for i, n in enumerate(s[0]))


# what these make of the shapes of their inputs and of the numbers that they keep
MADE: dict[str, Callable[[list, dict], Shape | None]] = {
    **dict.fromkeys(UNARY, lambda s, k: s[0]),
    **dict.fromkeys(BINARY, lambda s, k: None if None in s else np.broadcast_shapes(*s)),
    **dict.fromkeys(SCALAR, lambda s, k: ()),
    **dict.fromkeys(["MseLoss", "NllLoss"], lambda s, k: () if k.get("reduction", 1) else None),
    **dict.fromkeys([*REDUCED, "Logsumexp", "LinalgVectorNorm"], _reduced),
    "Squeeze": _squeezed,
    "Stack": _stacked,
    "Cat": _joined,
    "Mm": lambda s, k: (*s[0][:-1], s[1][-1]),
    "Addmm": lambda s, k: (*s[1][:-1], s[2][-1]),
    "Select": lambda s, k: tuple(n for i, n in enumerate(s[0]) if i != k["dim"] % len(s[0])),
    "Unsqueeze": lambda s, k: np.expand_dims(np.broadcast_to(0, s[0]), k["dim"]).shape,
    "Transpose": lambda s, k: np.broadcast_to(0, s[0]).swapaxes(k["dim0"], k["dim1"]).shape,
    "Permute": lambda s, k: np.broadcast_to(0, s[0]).transpose(k["dims"]).shape,
    "T": lambda s, k: s[0][::-1],
}
