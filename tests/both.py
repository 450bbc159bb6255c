"""Small programs run under PyTorch and under minigrad side by side, for the tests of the families of operations.

Every program finds the tensors of `TENSORS` under their names, in double precision and requiring grad, some index
tensors, and `L(2, 3)`, which makes a further leaf.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np

import minigrad
from tests import oracle
from tests.oracle import Program, run

rng = np.random.default_rng(7)


def definite(*batch: int) -> np.ndarray:
    """Random symmetric positive definite 3 x 3 matrices."""
    a = rng.standard_normal((*batch, 3, 3))
    return a @ np.swapaxes(a, -1, -2) + 3 * np.eye(3)


TENSORS = {
    "x": rng.standard_normal((3, 4)),
    "y": rng.standard_normal((3, 4)),
    "w": rng.standard_normal((4, 5)),
    "v": rng.standard_normal(4),
    "u": rng.standard_normal(3),
    "s": rng.standard_normal(()),
    "b3": rng.standard_normal((2, 3, 4)),
    "b4": rng.standard_normal((2, 4, 3)),
    "one": rng.standard_normal((1, 3, 1)),
    "sq": definite(),
    "bsq": definite(2),
}
INDICES = {
    "idx": np.array([0, 2]),
    "twice": np.array([1, 1, 0]),
    "mask": np.array([True, False, True]),
    "m2": np.array([[True, False, True, False]] * 2 + [[False, False, True, True]]),
    "g": np.array([[0, 1, 2, 0], [1, 1, 0, 2]]),
}


def scope(module: ModuleType) -> dict[str, Any]:
    """What a program finds under either engine."""

    def leaf(*shape: int):
        values = np.random.default_rng([*shape, len(shape)]).standard_normal(shape)
        return module.tensor(values, requires_grad=True)

    tensors = {name: module.tensor(a, requires_grad=True) for name, a in TENSORS.items()}
    return {**tensors, **{name: module.tensor(a) for name, a in INDICES.items()}, "L": leaf}


def lines(text: str) -> list[str]:
    """The non-empty lines of a block of text, each a program; `;` separates statements."""
    return [line.strip() for line in text.strip().splitlines() if line.strip()]


def check(torch: ModuleType, source: str) -> None:
    """Run a program under both engines: values, errors, warnings, graphs, versions, gradients are the same."""
    program = Program(source, source.replace("; ", "\n") + "\n")
    expected, got = (run(module, program, **scope(module)) for module in (torch, minigrad))
    oracle.assert_same(program, expected, got)


def check_error(torch: ModuleType, source: str) -> None:
    """As `check`, for a program that must raise."""
    program = Program(source, source.replace("; ", "\n") + "\n")
    expected = run(torch, program, **scope(torch))
    assert any("error" in statement for statement in expected["statements"]), "raises nothing under PyTorch"
    oracle.assert_same(program, expected, run(minigrad, program, **scope(minigrad)))


def differentiable(module: ModuleType, out: object) -> list:
    """The outputs that require grad."""
    outputs = out if isinstance(out, (tuple, list)) else [out]
    return [o for o in outputs if isinstance(o, module.Tensor) and o.requires_grad]


def evaluate(module: ModuleType, expression: str) -> tuple[object, list]:
    """The value of the last statement of a program, and the leaves that it could use."""
    names = scope(module)
    leaves = [t for t in names.values() if isinstance(t, module.Tensor) and t.requires_grad]
    names["torch"], names["np"] = module, np
    made = names["L"]

    def leaf(*shape: int):
        leaves.append(made(*shape))
        return leaves[-1]

    names["L"] = leaf
    *statements, last = expression.split("; ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for statement in statements:
            exec(statement, names)
        return eval(last, names), leaves


def derivatives(module: ModuleType, expression: str, order: int) -> list[np.ndarray | None]:
    """The gradients of order 1 or 2 of a weighted sum of squares of the outputs."""
    out, leaves = evaluate(module, expression)
    total = None
    for output in differentiable(module, out):
        weights = module.tensor(np.cos(np.arange(output.numel()) + 1.0).reshape(output.shape)).to(
            output.dtype
        )
        part = (output * output * weights + output).sum().to(module.float64)
        total = part if total is None else total + part
    assert total is not None, "nothing to differentiate"
    gradients = module.autograd.grad(total, leaves, create_graph=order > 1, allow_unused=True)
    if order > 1:
        again = None
        for k, g in enumerate(gradients):
            if g is not None and g.requires_grad:
                weights = module.tensor(np.sin(np.arange(g.numel()) + k).reshape(g.shape))
                part = (g * weights).sum()
                again = part if again is None else again + part
        if again is None:
            return []
        gradients = module.autograd.grad(again, leaves, allow_unused=True)
    return [None if g is None else np.asarray(g.detach().numpy()) for g in gradients]


def check_derivatives(torch: ModuleType, expression: str, order: int) -> None:
    """Gradients of order 1 or 2 are PyTorch's. A missing gradient is as good as zeros."""
    expected, got = (derivatives(module, expression, order) for module in (torch, minigrad))
    for k in range(max(len(expected), len(got))):
        a, b = ((r[k] if k < len(r) else None) for r in (expected, got))
        if a is None or b is None:
            assert not np.any(a if b is None else b) or (a is None and b is None), f"leaf {k}: {a} and {b}"
        else:
            np.testing.assert_allclose(b, a, rtol=1e-7, atol=1e-8, err_msg=f"leaf {k}")


# What PyTorch's C++ keeps besides the values that the formulas need.
BOOKKEEPING = (
    "_sym_strides",
    "_sym_argsize",
    "source_dim",
    "LU",
    "pivots",
    "sparse_grad",
    "source",
    "sign",
    "solution",
    "sumdim",
    "expand",
)


def saved_names(node: Any) -> set[str]:
    """What a node says it has saved, without bookkeeping."""
    names = {name.removeprefix("_saved_") for name in dir(node) if name.startswith("_saved_")}
    return {name for name in names if not any(part in name for part in BOOKKEEPING)}


def graph_nodes(module: ModuleType, out: object) -> list:
    """The nodes behind some outputs, in the order in which a walk finds them."""
    found: list = []
    stack = [t.grad_fn for t in reversed(differentiable(module, out)) if t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node not in found:
            found.append(node)
            stack.extend(n for n, _ in reversed(node.next_functions) if n is not None)
    return found


def check_saved_names(torch: ModuleType, expression: str) -> None:
    """Node by node the `_saved_*` attributes have PyTorch's names (for `mm` without the sizes that it also keeps)."""
    outs = [evaluate(module, expression)[0] for module in (torch, minigrad)]
    expected, got = (graph_nodes(m, o) for m, o in zip((torch, minigrad), outs, strict=True))
    assert [n.name() for n in expected] == [n.name() for n in got]
    for a, b in zip(expected, got, strict=True):
        wanted, have = saved_names(a), saved_names(b)
        if a.name() in ("MmBackward0", "AddmmBackward0"):
            wanted = {name for name in wanted if not name.endswith("sym_sizes")}
        assert have == wanted, a.name()
