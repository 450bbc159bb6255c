"""What people wait for: training steps, a second backward pass, the operations of a lesson; minigrad against PyTorch (eager,
one thread).

A chain of 1,000 additions, a perceptron updated by hand, one with Adam, a recurrent net of 50 steps; a derivative of a
derivative; then single operations on small tensors, recorded. Both libraries take turns in one process and run the same
function with a different module passed in. `main` returns a sentence for each limit that was not kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import ModuleType

import torch

import minigrad
from benchmarks.measure import compare

torch.set_num_threads(1)
MEAN, STEP, TWICE, SMALL = 0.75, 1.0, 0.8, 1.3  # limits, as fractions of PyTorch's time


def chain(T: ModuleType) -> Callable[[], object]:
    x = T.randn(4, requires_grad=True)

    def run():
        y = x
        for _ in range(1000):
            y = y + x
        y.sum().backward()
        x.grad = None

    return run


def perceptron(T: ModuleType) -> Callable[[], object]:
    T.manual_seed(0)
    x, target = T.randn(32, 64), T.randint(0, 10, (32,))
    weights = [T.randn(64, 32, requires_grad=True), T.randn(32, 10, requires_grad=True)]

    def run():
        loss = T.nn.functional.cross_entropy((x @ weights[0]).relu() @ weights[1], target)
        loss.backward()
        with T.no_grad():
            for w in weights:
                w -= 0.001 * w.grad
                w.grad = None

    return run


def adam(T: ModuleType) -> Callable[[], object]:
    T.manual_seed(0)
    x, target = T.randn(32, 64), T.randint(0, 10, (32,))
    model = T.nn.Sequential(T.nn.Linear(64, 32), T.nn.ReLU(), T.nn.Linear(32, 10))
    optimizer = T.optim.Adam(model.parameters())

    def run():
        loss = T.nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return run


def recurrent(T: ModuleType) -> Callable[[], object]:
    T.manual_seed(0)
    steps, state = T.randn(50, 4, 8), T.zeros(4, 16)
    w, u = (T.randn(8, 16) * 0.1).requires_grad_(), (T.randn(16, 16) * 0.1).requires_grad_()

    def run():
        h = state
        for x in steps:
            h = (x @ w + h @ u).tanh()
        h.sum().backward()
        w.grad = u.grad = None

    return run


def twice(T: ModuleType) -> Callable[[], object]:
    x = T.randn(4, requires_grad=True)

    def run():
        (g,) = T.autograd.grad((x * x * x).sum(), x, create_graph=True)
        (g * g).sum().backward()
        x.grad = None

    return run


def ratio(name: str, case: Callable[[ModuleType], Callable]) -> float:
    """minigrad's time as a fraction of PyTorch's, the median over rounds in which both ran in turn."""
    table = compare(
        name, {"minigrad": case(minigrad), "torch": case(torch)}, peer="torch", rounds=25, seconds=0.02,
        clock=time.process_time,
    )  # fmt: skip
    print(
        f"  {name:34}{table['minigrad'].seconds * 1e6:10.1f}{table['torch'].seconds * 1e6:10.1f}{table['minigrad'].ratio:10.2f}"
    )
    return table["minigrad"].ratio


def attention(T: ModuleType) -> Callable[[], object]:
    q = T.randn(2, 6, 8, requires_grad=True)

    def run():
        scores = (q @ q.transpose(-2, -1)) / 8**0.5
        (scores.softmax(-1) @ q).sum().backward()
        q.grad = None

    return run


def small(expression: str) -> Callable[[ModuleType], Callable[[], object]]:
    """A case of one operation on x (8, 5) and b (5,), both requiring grad."""

    def case(T: ModuleType) -> Callable[[], object]:
        names = {"x": T.randn(8, 5, requires_grad=True), "b": T.randn(5, requires_grad=True)}
        return eval(f"lambda: {expression}", names)

    return case


def main() -> list[str]:
    print(f"training steps (µs){'':17}{'minigrad':>10}{'torch':>10}{'ratio':>10}")
    steps = {
        "1,000 additions": chain, "perceptron, updated by hand": perceptron, "perceptron, Adam": adam,
        "recurrent net, 50 steps": recurrent,
    }  # fmt: skip
    found = {name: (ratio(name, case), STEP) for name, case in steps.items()}
    mean = math.exp(sum(math.log(value) for value, _ in found.values()) / len(found))
    found["training steps, geometric mean"] = mean, MEAN
    print(f"  geometric mean of the steps: {mean:.2f}")
    found["double backward"] = ratio("double backward", twice), TWICE
    found["attention, forward and backward"] = ratio("attention, forward and backward", attention), SMALL
    for expression in ("x + b", "x * 2", "x.sum(1)", "x[3:7]", "x.relu()", "x.exp()"):
        found[expression] = ratio(expression, small(expression)), SMALL
    print()
    return [
        f"training: {name} takes {value:.2f} of PyTorch's time, more than {limit:g}"
        for name, (value, limit) in found.items()
        if value > limit
    ]
