"""Record in recorded.json what PyTorch 2.13 does, so that `make test` can compare with it without PyTorch.

python -m tests.minigrad.record        after a program or an operation was added or changed
"""

from __future__ import annotations

import functools
import json
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.minigrad.operations import CONSTANTS, OPERATIONS, Operation

RECORDED = Path(__file__).with_name("recorded.json")


def digest(torch: ModuleType, op: Operation) -> list[Any]:
    """A digest of an operation's results: for each tensor dtype, shape, node, and three sums of its numbers."""
    torch.manual_seed(0)
    inputs = {n: torch.tensor(a, requires_grad=True) for n, a in op.inputs(0).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = op.on(torch, inputs)
    kinds, sums = [], []
    for t in parts(torch, result):
        values = np.asarray(t.detach().numpy(), np.float64)
        node = "" if t.grad_fn is None else t.grad_fn.name()
        kinds.append(f"{str(t.dtype).split('.')[-1]} {tuple(t.shape)} {node}".strip())
        weights = np.cos(np.arange(values.size)).reshape(values.shape)
        sums += [float(f"{s:.12g}") for s in (values.sum(), (values * weights).sum())]
    return [type(result).__name__.lstrip("_"), kinds, sums]


def parts(torch: ModuleType, result: object) -> list[Any]:
    if isinstance(result, torch.Tensor):
        return [result]
    return [t for r in result for t in parts(torch, r)] if isinstance(result, (tuple, list)) else []


@functools.cache
def recorded(what: str) -> dict[str, Any]:
    """The transcripts of this kind, by name."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))[what]


def main() -> None:
    import torch

    from tests.minigrad.oracle import run, without_printed_tensors
    from tests.minigrad.programs import SESSIONS, tools

    torch.set_num_threads(1)
    kinds = {
        "operations": {op.name: digest(torch, op) for op in OPERATIONS + CONSTANTS},
        "sessions": {one.name: without_printed_tensors(run(torch, one, **tools(torch))) for one in SESSIONS},
    }
    text = ",\n".join(f"{json.dumps(kind)}: {json.dumps(found)}" for kind, found in kinds.items())
    RECORDED.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
    print(
        *(f"{len(found)} {kind}" for kind, found in kinds.items()), f"{RECORDED.stat().st_size / 1e3:.0f} kB"
    )


if __name__ == "__main__":
    main()
