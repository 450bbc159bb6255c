"""Compare every step of a trace with a finite difference of its own operation, to see whether each gradient is right.

For a node that computed y = f(x, ...), received g and sent s, and a fixed direction v, the chain rule says
s · v = d/dh [g · f(x + h v, ...)] at h = 0. The right side is measured in float64 with NumPy. Forward operations are known
by node name; a node whose operation or inputs are not known is not checked, and nothing is claimed about it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..read import rules
from ..read.replay import known, replay, run_forward
from ..read.values import number

STEP = 1e-6
TOLERANCE = 2e-3  # relative; float32 gradients are good to about 1e-6, a wrong rule is off by far more
NOISE = 1e-6  # relative to the incoming gradient: the error of float32 and of the difference itself where everything cancels
KINKED = frozenset({"Abs", "Relu", "LeakyRelu", "Maximum", "Minimum"})
BLIND = frozenset({"Add", "Sub", "Rsub"})  # the other input does not affect the derivative


@np.errstate(all="ignore")
def check_steps(trace: Any) -> None:
    """Give every step of ``trace`` that can be checked its ``check``: {"ok", "difference", "text"}."""
    values = replay(trace.graph.functions)
    for step in trace.steps:
        if step.function.edges:
            step.check = _check(step, values)


def _check(step: Any, values: dict) -> dict | None:
    f = step.function
    if step.total is None or len(f.outputs) > 1 or step.total.array.dtype.kind == "c":
        return None
    inputs = [known(e, values) for e in f.edges]
    if rules.base_name(f.name) in BLIND:
        pairs = zip(inputs, f.edges, strict=True)
        inputs = [np.float64(0.0) if x is None and e.target is None else x for x, e in pairs]
        inputs += [np.float64(0.0)] * (len(inputs) == 1)  # 4 - x: the number is not an input
    if run_forward(f, inputs) is None:
        return None
    g = step.total.array.astype(np.float64)
    near = any(x is not None and np.any(np.abs(x) < 2 * STEP) for x in inputs)
    if near and rules.base_name(f.name) in KINKED:
        return None  # exactly at a kink, both slopes are right
    rng = np.random.default_rng(0)
    worst, found = 0.0, ""
    for slot, sent in enumerate(step.sent):
        if sent.value is None or inputs[slot] is None:
            continue
        one = inputs[slot].size == 1  # then the number measured is the gradient itself
        v = np.ones(inputs[slot].shape) if one else rng.normal(size=inputs[slot].shape)
        ahead = run_forward(f, [x + STEP * v if i == slot else x for i, x in enumerate(inputs)])
        behind = run_forward(f, [x - STEP * v if i == slot else x for i, x in enumerate(inputs)])
        measured = float((g * (ahead - behind)).sum() / (2 * STEP))
        terms = sent.value.array.astype(np.float64) * v
        claimed = float(terms.sum())
        difference = abs(measured - claimed)
        noise = NOISE * float(np.abs(g).sum()) * float(np.abs(v).max(initial=0.0))
        relative = difference / (float(np.abs(terms).sum()) + abs(measured) + noise / TOLERANCE + 1e-12)
        if not np.isfinite(relative):
            return None
        if relative >= worst:
            nudged = sent.input if one else f"the entries of {sent.input} together"
            worst, found = relative, f"nudging {nudged}: measured {number(measured)}, rule {number(claimed)}"
    if not found:
        return None
    doubt = "" if f.hooks else "the rule is wrong, or "
    wrong = f"does NOT agree with {found}: {doubt}a hook on the node changed it"
    ok = worst < TOLERANCE
    return {"ok": ok, "difference": worst, "text": f"by {found}" if ok else wrong}
