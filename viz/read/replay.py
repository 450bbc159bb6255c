"""Forward values that are no longer held anywhere, recomputed in NumPy, in float64, for operations that are known by
node name; and shapes, worked out from what the nodes keep. Unknown values are left out. A recording fills in temporaries with
this, and run/check.py calls it with perturbed inputs.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from . import rules
from .graph import Edge, Function, Graph
from .values import Value

LARGEST = 20_000  # elements; nothing is computed from larger inputs

Array = np.ndarray
_literal = lru_cache(maxsize=1024)(ast.literal_eval)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softmax(x: Array, dim: int) -> Array:
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def _indexed(x: Array, kept: dict) -> Array:
    """``x[indices]``; an axis without an index, before the last that has one, gets a ``:``."""
    last = max(i for i in range(x.ndim) if f"indices[{i}]" in kept)
    return x[tuple(kept.get(f"indices[{i}]", slice(None)) for i in range(last + 1))]


def axes(shape: tuple[int, ...], dim: Any) -> tuple[int, ...]:
    """Axes from 0 up; None and () mean all of them."""
    several = dim if isinstance(dim, tuple | list) else () if dim is None else (dim,)
    return tuple(int(d) % len(shape) for d in several) if several and shape else tuple(range(len(shape)))


# these need only the inputs
PLAIN: dict[str, Callable[..., Array]] = {
    "Mul": np.multiply, "Div": np.divide, "PowBackward1": np.power, "Neg": np.negative, "Abs": np.abs, "Exp": np.exp,
    "Reciprocal": np.reciprocal, "Log": np.log, "Sqrt": np.sqrt, "Rsqrt": lambda x: x**-0.5, "Sin": np.sin, "Cos": np.cos,
    "Tan": np.tan, "Tanh": np.tanh, "Sigmoid": _sigmoid, "Relu": lambda x: np.maximum(x, 0), "T": np.transpose,
    "Silu": lambda x: x * _sigmoid(x), "Maximum": np.maximum, "Minimum": np.minimum, "Clone": np.positive,
    "SumBackward0": np.sum, "MeanBackward0": np.mean,
} | dict.fromkeys(["Mm", "Bmm", "Mv", "Dot"], np.matmul)  # fmt: skip
# name -> f(inputs, what the node keeps, shape of the result)
FORWARD: dict[str, Callable[[list[Array], dict, tuple], Array]] = {
    "Add": lambda x, k, s: x[0] + k.get("alpha", 1) * x[1],
    "Sub": lambda x, k, s: x[0] - k.get("alpha", 1) * x[1],
    "Rsub": lambda x, k, s: x[1] - k.get("alpha", 1) * x[0],
    "PowBackward0": lambda x, k, s: x[0] ** k["exponent"],
    "LeakyRelu": lambda x, k, s: np.where(x[0] > 0, x[0], k["negative_slope"] * x[0]),
    "Addmm": lambda x, k, s: k.get("beta", 1) * x[0] + k.get("alpha", 1) * (x[1] @ x[2]),
    "SumBackward1": lambda x, k, s: x[0].sum(axis=axes(x[0].shape, k.get("dim"))).reshape(s),
    "MeanBackward1": lambda x, k, s: x[0].mean(axis=axes(x[0].shape, k.get("dim"))).reshape(s),
    "Select": lambda x, k, s: np.take(x[0], k["index"], k["dim"]),
    "Slice": lambda x, k, s: np.moveaxis(
        np.moveaxis(x[0], k["dim"], 0)[k["start"] : k["end"] : k["step"]], 0, k["dim"]
    ),
    "Index": lambda x, k, s: _indexed(x[0], k),
    "Expand": lambda x, k, s: np.broadcast_to(x[0], s),
    "Softmax": lambda x, k, s: _softmax(x[0], k["dim"]),
    "LogSoftmax": lambda x, k, s: np.log(_softmax(x[0], k["dim"])),
    "MseLoss": lambda x, k, s: ((x[0] - x[1]) ** 2).mean() if s == () else (x[0] - x[1]) ** 2,
    **dict.fromkeys(["View", "UnsafeView", "Squeeze", "Unsqueeze"], lambda x, k, s: x[0].reshape(s)),
    **{name: lambda x, k, s, plain=plain: plain(*x) for name, plain in PLAIN.items()},
}


NUMBERS = ("Add", "Sub", "Rsub", "Mul", "Div")


def known(e: Edge, values: dict) -> Array | None:
    if e.target is not None:
        return values.get((e.target, e.nr))
    if e.value is not None:
        return e.value.array.astype(np.float64) if e.value.array.dtype.kind != "c" else None
    try:
        return np.float64(e.label) if e.label else None
    except ValueError:
        return None


def replay(functions: list[Function]) -> dict[tuple[Function, int], Array]:
    """The forward values: those that were read, and those that known operations give from them."""
    values: dict[tuple[Function, int], Array] = {}
    for f in functions:
        for nr, out in enumerate(f.outputs):
            if out.value is not None and out.value.array.dtype.kind == "f":
                values[f, nr] = out.value.array.astype(np.float64)
        if (f, 0) not in values and f.edges:
            result = run_forward(f, [known(e, values) for e in f.edges])
            if result is not None:
                values[f, 0] = result
    return values


@np.errstate(all="ignore")
def run_forward(f: Function, inputs: list[Array | None]) -> Array | None:
    """The forward operation on ``inputs``, or None where it is not known or cannot run."""
    base = rules.base_name(f.name)
    forward = FORWARD.get(f.name) or FORWARD.get(base)
    shape = f.outputs[0].shape
    if base in NUMBERS and len(inputs) == 1 and f.other:  # the 4 in 4 - x, which is not an input of the node
        with contextlib.suppress(ValueError):
            inputs = [*inputs, np.float64(f.other)]
    if forward is None or shape is None or any(x is None or not 0 < x.size <= LARGEST for x in inputs):
        return None
    try:
        result = np.asarray(forward(inputs, kept_numbers(f), shape))
    except (KeyError, IndexError, TypeError, ValueError):  # an overload that the table does not know
        return None
    return result if result.shape == shape else None


def kept_numbers(f: Function) -> dict[str, Any]:
    kept: dict[str, Any] = {s.name: s.value.array for s in f._saved or () if s.value is not None}
    for name, text in rules.numbers_of(f).items():
        with contextlib.suppress(ValueError, SyntaxError):  # everything here needs only numbers
            kept[name] = _literal(text)
    return kept


def worked_out(graph: Graph) -> dict[Function, Value]:
    """Values that no node keeps (of functions with one output), if what follows from them agrees with what was read: the square
    in ``((x @ w) ** 2).mean()`` is shown if its mean is the loss. If anything differs (a leaf has changed since), none are."""
    values = replay(graph.functions)
    found: dict[Function, Value] = {}
    vouched: set[Function] = set()  # something measured follows from them
    for f in reversed(graph.functions):
        out = f.outputs[0]
        if f.kind != "function" or len(f.outputs) > 1 or (f, 0) not in values:
            continue
        again = run_forward(f, [known(e, values) for e in f.edges])
        if out.value is None:
            found[f] = Value(values[f, 0], out.dtype or "float64")
        elif again is not None and not np.allclose(again, out.value.array, 1e-3, 1e-5, equal_nan=True):
            return {}
        if f in vouched or (out.value is not None and again is not None):
            inputs = [e.target for e in f.edges if e.target is not None]
            vouched |= {g for g in inputs if g.outputs[0].value is None}
    return {f: value for f, value in found.items() if f in vouched}


Shape = tuple[int, ...]

_ENTRY_BY_ENTRY = (
    "Neg Reciprocal Abs Exp Expm1 Log Log2 Log10 Log1P Sqrt Rsqrt Sin Cos Tan Asin Acos Atan Sinh Cosh Erf Tanh Sigmoid Relu "
    "LeakyRelu Softplus Silu Gelu Elu Clone ClampMin ClampMax Clamp"
)
_SAME = "Softmax LogSoftmax Cumsum Cumprod Flip Roll Tril Triu ToCopy MaskedFill CopyBackwards CopySlices"
UNARY = frozenset(f"{_ENTRY_BY_ENTRY} {_SAME}".split())
BINARY = frozenset({"Add", "Sub", "Rsub", "Mul", "Div", "Pow", "Maximum", "Minimum"})
POINTWISE = BINARY | {*_ENTRY_BY_ENTRY.split(), "Square", "Where"}  # functions whose rule acts entry by entry
SCALAR = ["SumBackward0", "MeanBackward0", "Dot", "MaxBackward1", "MinBackward1", "ProdBackward0"]
_REDUCED = "SumBackward1 MeanBackward1 ProdBackward1 MaxBackward0 MinBackward0 Amax Amin Var Std"


def infer_shapes(graph: Graph) -> None:
    """Fill in ``Output.shape`` where it follows from its neighbours."""
    if all(o.shape is not None for f in graph.functions for o in f.outputs):
        return
    for f in graph.functions:
        _inputs_from_sizes(f)
    for f in graph.functions:
        _from_inputs(f)
    for f in reversed(graph.functions):  # an elementwise result gives its input's shape, too
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
    came = [e.value if e.target is None else e.target.output(e.nr) for e in f.edges]
    shapes = [x and x.shape for x in came]
    try:
        f.outputs[0].shape = kept[0] if kept else made and made(shapes, kept_numbers(f))
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError):
        return  # a shape or an axis is not known, or the operation is not what its name says


def _reduced(s: list[Shape], k: dict) -> Shape:
    gone = axes(s[0], k.get("dim"))
    return tuple(1 if i in gone else n for i, n in enumerate(s[0]) if i not in gone or k.get("keepdim"))


def _stacked(s: list[Shape | None], k: dict) -> Shape:
    one = next((shape for shape in s if shape is not None), None)
    at = k["dim"] % (len(one) + 1)
    return (*one[:at], len(s), *one[at:])


def _joined(s: list[Shape], k: dict) -> Shape:
    at = k["dim"] % len(s[0])
    return tuple(sum(shape[i] for shape in s) if i == at else n for i, n in enumerate(s[0]))


# the shape of an operation's result, from those of its inputs and the numbers that its node keeps
MADE: dict[str, Callable[[list, dict], Shape | None]] = {
    **dict.fromkeys(UNARY, lambda s, k: s[0]),
    **dict.fromkeys(BINARY, lambda s, k: None if None in s else np.broadcast_shapes(*s)),
    **dict.fromkeys(SCALAR, lambda s, k: ()),
    **dict.fromkeys(["MseLoss", "NllLoss"], lambda s, k: () if k.get("reduction", 1) else None),
    **dict.fromkeys([*_REDUCED.split(), "Logsumexp", "LinalgVectorNorm"], _reduced),
    "Squeeze": lambda s, k: tuple(
        n for i, n in enumerate(s[0]) if n != 1 or i not in axes(s[0], k.get("dim"))
    ),
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
