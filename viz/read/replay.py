"""Forward values that nobody holds any more, computed again: the operations that are known by node name, in NumPy, float64.

What is not known is left out. A recording fills in temporaries with it, and run/check.py perturbs it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from . import rules
from .graph import Edge, Function

LARGEST = 20_000  # elements; larger inputs are not computed with

Array = np.ndarray


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softmax(x: Array, dim: int) -> Array:
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def _axes(k: dict) -> tuple[int, ...] | None:
    dim = k.get("dim")
    dims = (dim,) if isinstance(dim, int) else tuple(dim or ())
    return tuple(d - 2**64 if d > 2**62 else d for d in dims) or None


# name -> f(inputs, what the node keeps, shape of the result)
FORWARD: dict[str, Callable[[list[Array], dict, tuple], Array]] = {
    "Add": lambda x, k, s: x[0] + k.get("alpha", 1) * x[1],
    "Sub": lambda x, k, s: x[0] - k.get("alpha", 1) * x[1],
    "Rsub": lambda x, k, s: x[1] - k.get("alpha", 1) * x[0],
    "Mul": lambda x, k, s: x[0] * x[1],
    "Div": lambda x, k, s: x[0] / x[1],
    "PowBackward0": lambda x, k, s: x[0] ** k["exponent"],
    "PowBackward1": lambda x, k, s: x[0] ** x[1],
    "Neg": lambda x, k, s: -x[0],
    "Abs": lambda x, k, s: np.abs(x[0]),
    "Reciprocal": lambda x, k, s: 1 / x[0],
    "Exp": lambda x, k, s: np.exp(x[0]),
    "Log": lambda x, k, s: np.log(x[0]),
    "Sqrt": lambda x, k, s: np.sqrt(x[0]),
    "Rsqrt": lambda x, k, s: x[0] ** -0.5,
    "Sin": lambda x, k, s: np.sin(x[0]),
    "Cos": lambda x, k, s: np.cos(x[0]),
    "Tan": lambda x, k, s: np.tan(x[0]),
    "Tanh": lambda x, k, s: np.tanh(x[0]),
    "Sigmoid": lambda x, k, s: _sigmoid(x[0]),
    "Relu": lambda x, k, s: np.maximum(x[0], 0),
    "LeakyRelu": lambda x, k, s: np.where(x[0] > 0, x[0], k["negative_slope"] * x[0]),
    "Silu": lambda x, k, s: x[0] * _sigmoid(x[0]),
    "Maximum": lambda x, k, s: np.maximum(x[0], x[1]),
    "Minimum": lambda x, k, s: np.minimum(x[0], x[1]),
    "Mm": lambda x, k, s: x[0] @ x[1],
    "Bmm": lambda x, k, s: x[0] @ x[1],
    "Mv": lambda x, k, s: x[0] @ x[1],
    "Dot": lambda x, k, s: x[0] @ x[1],
    "Addmm": lambda x, k, s: k.get("beta", 1) * x[0] + k.get("alpha", 1) * (x[1] @ x[2]),
    "T": lambda x, k, s: x[0].T,
    "SumBackward0": lambda x, k, s: x[0].sum(),
    "SumBackward1": lambda x, k, s: x[0].sum(axis=_axes(k)).reshape(s),
    "MeanBackward0": lambda x, k, s: x[0].mean(),
    "MeanBackward1": lambda x, k, s: x[0].mean(axis=_axes(k)).reshape(s),
    "View": lambda x, k, s: x[0].reshape(s),
    "UnsafeView": lambda x, k, s: x[0].reshape(s),
    "Squeeze": lambda x, k, s: x[0].reshape(s),
    "Unsqueeze": lambda x, k, s: x[0].reshape(s),
    "Expand": lambda x, k, s: np.broadcast_to(x[0], s),
    "Clone": lambda x, k, s: x[0],
    "Softmax": lambda x, k, s: _softmax(x[0], k["dim"]),
    "LogSoftmax": lambda x, k, s: np.log(_softmax(x[0], k["dim"])),
    "MseLoss": lambda x, k, s: ((x[0] - x[1]) ** 2).mean() if s == () else (x[0] - x[1]) ** 2,
}  # fmt: skip


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


def run_forward(f: Function, inputs: list[Array | None]) -> Array | None:
    """The forward operation on ``inputs``, or None where it is not known or cannot run."""
    base = rules.base_name(f.name)
    forward = FORWARD.get(f.name) or FORWARD.get(base)
    shape = f.outputs[0].shape
    if forward is None or shape is None or any(x is None or x.size > LARGEST for x in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(forward(inputs, kept_numbers(f), shape))
    except (KeyError, IndexError, TypeError, ValueError):  # an overload that the table does not know
        return None
    return result if result.shape == shape else None


def kept_numbers(f: Function) -> dict[str, Any]:
    kept = {}
    for s in f._saved or ():
        if s.value is None and s.state == "kept":
            try:
                kept[s.name] = ast.literal_eval(s.text)
            except (ValueError, SyntaxError):
                continue  # not a number or a tuple of numbers: no operation in the table needs it
    return kept
