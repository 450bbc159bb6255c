"""Forward values that nothing holds any more, computed again in NumPy, in float64, for operations that are known by
node name. Unknown ones are left out. A recording fills in temporaries with it, and run/check.py perturbs it.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from . import rules
from .graph import Edge, Function

LARGEST = 20_000  # elements; larger inputs are not computed with

Array = np.ndarray
_literal = lru_cache(maxsize=1024)(ast.literal_eval)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softmax(x: Array, dim: int) -> Array:
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def _indexed(x: Array, kept: dict) -> Array:
    """``x[indices]``, with a ``:`` for an axis before the last of them that has none."""
    last = max(i for i in range(x.ndim) if f"indices[{i}]" in kept)
    return x[tuple(kept.get(f"indices[{i}]", slice(None)) for i in range(last + 1))]


def axes(shape: tuple[int, ...], dim: Any) -> tuple[int, ...]:
    """Axes from 0 up; None and () mean all of them."""
    several = dim if isinstance(dim, tuple | list) else () if dim is None else (dim,)
    return tuple(int(d) % len(shape) for d in several) if several and shape else tuple(range(len(shape)))


# of the inputs alone
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
    """The forward values: those that were read, and those that follow from them by the operations that are known."""
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
    if base in NUMBERS and len(inputs) == 1 and f.other:  # the 4 of 4 - x, which is no input of the node
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
        with contextlib.suppress(ValueError, SyntaxError):  # nothing here needs what is no number
            kept[name] = _literal(text)
    return kept
