"""Values that no node keeps, computed again from those that are known, and checked against what was measured. No node
keeps the square in ``((x @ w) ** 2).mean()``. It follows from ``x @ w``, and its mean must be the loss: if the values
that follow were measured and agree, the value is shown; if anything differs (a leaf has been changed since), none is.
"""

from __future__ import annotations

import numpy as np

from .graph import Function, Graph
from .replay import Array, known, run_forward
from .values import KEPT, Value, size_of


def worked_out(graph: Graph) -> dict[Function, Value]:
    """The values of functions with one output that were not kept, if those that follow from them are as measured."""
    found: dict[Function, Value] = {}
    checked: set[Function] = set()
    values: dict[tuple[Function, int], Array] = {}
    for f in graph.functions:
        values |= {(f, nr): o.value.array for nr, o in enumerate(f.outputs) if o.value is not None}
        out = f.outputs[0]
        if f.kind != "function" or len(f.outputs) > 1 or out.shape is None or size_of(out.shape) > KEPT:
            continue
        again = run_forward(f, [known(e, values) for e in f.edges])
        if again is None:
            continue
        if out.value is None:
            values[f, 0] = again
            found[f] = Value(again, out.dtype or str(again.dtype))
            continue
        if not np.allclose(again, out.value.array, rtol=1e-3, atol=1e-5, equal_nan=True):
            return {}
        checked.add(f)
    vouched: set[Function] = set()  # something measured follows from them
    for f in reversed(graph.functions):
        if f in checked or f in vouched:
            vouched |= {e.target for e in f.edges if e.target in found}
    return {f: value for f, value in found.items() if f in vouched}
