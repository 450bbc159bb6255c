"""Is each gradient right? Every step of a trace compared with a finite difference of its own operation.

For a node that computed y = f(x, ...), received g and sent s, and a fixed direction v, the chain rule says
s · v = d/dh [g · f(x + h v, ...)] at h = 0. The right side is measured in float64 with NumPy. Forward operations are known
by node name; a node whose operation or inputs are not known is not checked, and nothing is claimed of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from . import rules
from .graph import Edge, Function
from .values import number

STEP = 1e-6
TOLERANCE = 2e-3  # relative; float32 gradients are good to about 1e-6, a wrong rule is off by far more
NOISE = 1e-6  # of the size of what comes in: what float32 and the difference itself may be off by where all cancels
LARGEST = 20_000  # elements; larger inputs are not perturbed

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
    "Rsub": lambda x, k, s: (x[1] if len(x) > 1 else 0) - k.get("alpha", 1) * x[0],
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
KINKED = frozenset({"Abs", "Relu", "LeakyRelu", "Maximum", "Minimum"})
BLIND = frozenset(
    {"Add", "Sub", "Rsub"}
)  # the value of the other input makes no difference to the derivative


def check_steps(trace: Any) -> None:
    """Give every step of ``trace`` that can be checked its ``check``: {"ok", "difference", "text"}."""
    values = replay(trace.graph.functions)
    for step in trace.steps:
        if step.function.edges:
            step.check = _check(step, values)


def _known(e: Edge, values: dict) -> Array | None:
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
            result = _run(f, [_known(e, values) for e in f.edges])
            if result is not None:
                values[f, 0] = result
    return values


def _run(f: Function, inputs: list[Array | None]) -> Array | None:
    """The forward operation on ``inputs``, or None where it is not known or cannot run."""
    base = rules.base_name(f.name)
    forward = FORWARD.get(f.name) or FORWARD.get(base)
    shape = f.outputs[0].shape
    if forward is None or shape is None or any(x is None or x.size > LARGEST for x in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(forward(inputs, _kept(f), shape))
    except (
        KeyError,
        IndexError,
        TypeError,
        ValueError,
    ):  # an overload of the operation that the table does not know
        return None
    return result if result.shape == shape else None


def _kept(f: Function) -> dict[str, Any]:
    kept = {}
    for s in f.saved:
        if s.value is None and s.state == "kept":
            try:
                kept[s.name] = ast.literal_eval(s.text)
            except (ValueError, SyntaxError):
                continue  # not a number or a tuple of numbers: no operation in the table needs it
    return kept


def _check(step: Any, values: dict) -> dict | None:
    f = step.function
    if step.total is None or len(f.outputs) > 1 or step.total.array.dtype.kind == "c":
        return None
    inputs = [_known(e, values) for e in f.edges]
    if rules.base_name(f.name) in BLIND:
        inputs = [
            np.float64(0.0) if x is None and e.target is None else x
            for x, e in zip(inputs, f.edges, strict=True)
        ]
    if _run(f, inputs) is None:
        return None
    g = step.total.array.astype(np.float64)
    if rules.base_name(f.name) in KINKED and any(
        x is not None and np.any(np.abs(x) < 2 * STEP) for x in inputs
    ):
        return None  # exactly at a kink both slopes are right
    rng = np.random.default_rng(0)
    worst, told, compared = 0.0, "", False
    for slot, sent in enumerate(step.sent):
        if sent.value is None or inputs[slot] is None:
            continue
        one = inputs[slot].size == 1  # then the number measured is the gradient itself
        v = np.ones(inputs[slot].shape) if one else rng.normal(size=inputs[slot].shape)
        ahead = _run(f, [x + STEP * v if i == slot else x for i, x in enumerate(inputs)])
        behind = _run(f, [x - STEP * v if i == slot else x for i, x in enumerate(inputs)])
        measured = float((g * (ahead - behind)).sum() / (2 * STEP))
        terms = sent.value.array.astype(np.float64) * v
        claimed = float(terms.sum())
        difference = abs(measured - claimed)
        noise = NOISE * float(np.abs(g).sum()) * float(np.abs(v).max(initial=0.0))
        relative = difference / (float(np.abs(terms).sum()) + abs(measured) + noise / TOLERANCE + 1e-12)
        if not np.isfinite(relative):
            return None
        compared = True
        if relative >= worst:
            where = "" if one else ", along a random direction"
            worst, told = (
                relative,
                f"for {sent.input}{where}: measured {number(measured)}, rule {number(claimed)}",
            )
    if not compared:
        return None
    ok = worst < TOLERANCE
    verdict = "agrees with a finite difference" if ok else "does NOT agree with a finite difference"
    return {"ok": ok, "difference": worst, "text": f"{verdict} {told} (relative difference {worst:.0e})"}
