"""minigrad.func against torch.func: per-sample gradients, Jacobians, Hessians; an optimizer's step; a forward pass alone.

minigrad and PyTorch run the same function with a different module passed in, after both have given the same numbers.
`main` returns a sentence for each limit in LIMITS that was not kept.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

import numpy as np
import torch

import minigrad
from benchmarks.measure import Table, compare

torch.set_num_threads(1)
EXAMPLES, WIDTHS = 256, (64, 64, 10)
LOOP_LIMIT = 20  # per-sample gradients: the loop must take at least this many times as long
FORWARD_LIMIT = 1.5  # a forward pass without gradients: at most this many times NumPy's time


def arrays() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Inputs (256, 64), classes (256,) and the parameters w1, b1, w2, b2, all float32."""
    rng = np.random.default_rng(0)
    i, h, o = WIDTHS
    shapes = [(i, h), (h,), (h, o), (o,)]
    parameters = [(rng.standard_normal(shape) * 0.1).astype(np.float32) for shape in shapes]
    return rng.standard_normal((EXAMPLES, i)).astype(np.float32), rng.integers(0, o, EXAMPLES), parameters


def func_of(T: ModuleType) -> ModuleType:
    return importlib.import_module(f"{T.__name__}.func")


def agree(ours: Callable, theirs: Callable) -> None:
    """Raise AssertionError unless both do the same work: otherwise the times would mean nothing."""
    flatten = importlib.import_module("minigrad.func.trees").flattened
    for a, b in zip(flatten(ours())[0], flatten(theirs())[0], strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-3, atol=1e-4)


# ---------------------------------------------------------------- per-sample gradients


def loss_of_one(T: ModuleType) -> Callable:
    def loss(parameters, x, y):
        w1, b1, w2, b2 = parameters
        logits = T.tanh(x @ w1 + b1) @ w2 + b2
        return T.nn.functional.cross_entropy(logits, y)

    return loss


def per_sample(T: ModuleType) -> tuple[Callable, Callable]:
    """(with vmap, with a loop)."""
    xs, ys, parameters = arrays()
    xs, ys, parameters = T.tensor(xs), T.tensor(ys), [T.tensor(p) for p in parameters]
    one = func_of(T).grad(loss_of_one(T))
    each = func_of(T).vmap(one, in_dims=(None, 0, 0))
    return lambda: each(parameters, xs, ys), lambda: [
        one(parameters, x, y) for x, y in zip(xs, ys, strict=True)
    ]


def bench_per_sample() -> list[str]:
    (ours, our_loop), (theirs, _) = per_sample(minigrad), per_sample(torch)
    agree(ours, theirs)
    contenders = {"vmap": ours, "torch.func": theirs, "loop": our_loop}
    table = compare(
        f"gradients for each of {EXAMPLES} examples, MLP {WIDTHS}", contenders, peer="torch.func", rounds=7
    )
    print(table, end="\n\n")
    times = table["loop"].seconds / table["vmap"].seconds
    print(f"  the loop takes {times:.1f} times as long as vmap\n")
    broken = []
    if times < LOOP_LIMIT:
        broken.append(f"vmap(grad) is {times:.1f} times as fast as the loop; the limit is {LOOP_LIMIT}.")
    return broken + not_slower(table, "vmap", "torch.func")


def not_slower(table: Table, name: str, peer: str, limit: float = 1.0) -> list[str]:
    ratio = table[name].ratio
    return (
        [f"{table.title}: {name} takes {ratio:.2f} × {peer}; the limit is {limit}."] if ratio > limit else []
    )


# ---------------------------------------------------------------- derivatives of a function


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def derivatives(T: ModuleType) -> dict[str, Callable]:
    func = func_of(T)
    xs, ys, parameters = arrays()
    parameters = [T.tensor(p) for p in parameters]
    x, y = T.tensor(xs[:32]), T.tensor(ys[:32])
    loss = loss_of_one(T)
    point, direction = T.tensor(xs[0, :10]), T.tensor(xs[1, :10])

    def of_parameters(*ps):
        return loss(ps, x, y)

    gradient = func.grad(loss)
    hessian, jacrev, jacfwd = func.hessian(rosenbrock), func.jacrev(T.sin), func.jacfwd(T.sin)
    directions = tuple(T.tensor(p.numpy()) for p in parameters)
    small = func.grad(rosenbrock)
    return {
        "grad of the MLP's loss": lambda: gradient(parameters, x, y),
        "jvp of the MLP's loss": lambda: func.jvp(of_parameters, tuple(parameters), directions),
        "grad of Rosenbrock": lambda: small(point),
        "jvp of Rosenbrock": lambda: func.jvp(rosenbrock, (point,), (direction,)),
        "hessian of Rosenbrock": lambda: hessian(point),
        "jacrev of sin": lambda: jacrev(point),
        "jacfwd of sin": lambda: jacfwd(point),
    }


def bench_derivatives() -> list[str]:
    ours, theirs, broken = derivatives(minigrad), derivatives(torch), []
    for name, run in ours.items():
        agree(run, theirs[name])
        table = compare(name, {"minigrad": run, "torch.func": theirs[name]}, peer="torch.func")
        print(table, end="\n\n")
        broken += not_slower(table, "minigrad", "torch.func")
    return broken


# ---------------------------------------------------------------- an optimizer's step, a forward pass


def optimizer_step(T: ModuleType) -> Callable[[], object]:
    """A step of Adam alone: the parameters have their gradients already."""
    _, _, parameters = arrays()
    parameters = [T.tensor(p, requires_grad=True) for p in parameters]
    for p in parameters:
        p.grad = T.ones_like(p)
    optimizer = T.optim.Adam(parameters, lr=1e-3)

    def step():
        optimizer.step()
        return [p.detach() for p in parameters]

    return step


def bench_adam() -> list[str]:
    ours, theirs = optimizer_step(minigrad), optimizer_step(torch)
    agree(ours, theirs)
    table = compare(f"Adam step, MLP {WIDTHS}", {"minigrad": ours, "torch": theirs}, peer="torch")
    print(table, end="\n\n")
    return not_slower(table, "minigrad", "torch")


def forward_without_grad(T: ModuleType) -> Callable[[], object]:
    xs, _, parameters = arrays()
    x, (w1, b1, w2, b2) = T.tensor(xs[:32]), [T.tensor(p, requires_grad=True) for p in parameters]

    def run():
        with T.no_grad():
            return T.relu(x @ w1 + b1) @ w2 + b2

    return run


def bench_forward() -> list[str]:
    xs, _, (w1, b1, w2, b2) = arrays()
    x, zero = xs[:32], np.float32(0)
    contenders = {
        "minigrad": forward_without_grad(minigrad),
        "torch": forward_without_grad(torch),
        "NumPy": lambda: np.maximum(x @ w1 + b1, zero) @ w2 + b2,
    }
    agree(contenders["minigrad"], contenders["torch"])
    table = compare("forward pass of the MLP under no_grad, batch 32", contenders, peer="NumPy")
    print(table, end="\n\n")
    return not_slower(table, "minigrad", "NumPy", FORWARD_LIMIT)


def main() -> list[str]:
    return bench_per_sample() + bench_derivatives() + bench_adam() + bench_forward()


if __name__ == "__main__":
    print("\n".join(main()))
