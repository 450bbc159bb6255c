"""minigrad against PyTorch (eager, one thread), HIPS autograd, micrograd and bare NumPy, on the sizes of the lessons.

minigrad and PyTorch run the same function with a different module passed in. NumPy is what the arithmetic alone costs:
forward and the derivatives written by hand, no graph. micrograd knows only scalars.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import ModuleType

import autograd
import autograd.numpy as anp
import numpy as np
import torch
from micrograd.engine import Value

import minigrad
from benchmarks.measure import compare, grid

torch.set_num_threads(1)
LONG = 1000


# ---------------------------------------------------------------- a long chain


def chain(T: ModuleType) -> Callable[[], object]:
    x = T.tensor(1.0, requires_grad=True)

    def run():
        y = x
        for _ in range(LONG):
            y = y + x
        y.backward()
        x.grad = None

    return run


def chain_autograd(x):
    y = x
    for _ in range(LONG):
        y = y + x
    return y


def chain_micrograd():
    """micrograd orders the graph by recursion, so a longer chain would need a deeper stack."""
    x = Value(1.0)
    y = x
    for _ in range(LONG):
        y = y + x
    y.backward()


def chain_numpy():
    x = np.array(1.0, dtype=np.float32)
    y = x
    for _ in range(LONG):
        y = np.add(y, x)
    grad = np.array(0.0, dtype=np.float32)
    for _ in range(LONG):
        grad = np.add(grad, x)


def bench_chain() -> None:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 5 * LONG))  # for micrograd
    gradient = autograd.grad(chain_autograd)
    contenders = {
        "minigrad": chain(minigrad),
        "torch": chain(torch),
        "autograd": lambda: gradient(1.0),
        "micrograd": chain_micrograd,
        "NumPy": chain_numpy,
    }
    print(compare(f"chain of {LONG:,} adds, forward and backward", contenders, peer="torch"), end="\n\n")


# ---------------------------------------------------------------- a training step

BATCH, WIDTHS = 32, (64, 64, 10)
RATE = 0.01


def data() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Inputs (32, 64), targets (32, 10) and the parameters w1, b1, w2, b2, all float32."""
    rng = np.random.default_rng(0)
    i, h, o = WIDTHS
    shapes = [(i, h), (h,), (h, o), (o,)]
    parameters = [(rng.standard_normal(shape) * 0.1).astype(np.float32) for shape in shapes]
    x, target = (rng.standard_normal((BATCH, n)).astype(np.float32) for n in (i, o))
    return x, target, parameters


def mlp(T: ModuleType) -> Callable[[], object]:
    x, target, parameters = data()
    x, target = T.tensor(x), T.tensor(target)
    parameters = [T.tensor(p, requires_grad=True) for p in parameters]
    w1, b1, w2, b2 = parameters

    def step():
        for p in parameters:
            p.grad = None
        hidden = T.relu(x @ w1 + b1)
        loss = ((hidden @ w2 + b2 - target) ** 2).mean()
        loss.backward()
        with T.no_grad():
            for p in parameters:
                p -= RATE * p.grad
        return loss.item()

    return step


def mlp_of_modules(T: ModuleType) -> Callable[[], object]:
    """The same network from modules, trained by SGD."""
    x, target, parameters = data()
    x, target = T.tensor(x), T.tensor(target)
    i, h, o = WIDTHS
    model = T.nn.Sequential(T.nn.Linear(i, h), T.nn.ReLU(), T.nn.Linear(h, o))
    with T.no_grad():
        for p, values in zip(model.parameters(), parameters, strict=True):
            p.copy_(T.tensor(values.T.copy()))
    optimizer, criterion = T.optim.SGD(model.parameters(), lr=RATE), T.nn.MSELoss()

    def step():
        optimizer.zero_grad()
        loss = criterion(model(x), target)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def mlp_autograd() -> Callable[[], object]:
    x, target, parameters = data()

    def loss(w1, b1, w2, b2):
        hidden = anp.maximum(anp.dot(x, w1) + b1, 0)
        return anp.mean((anp.dot(hidden, w2) + b2 - target) ** 2)

    gradients = autograd.value_and_grad(loss, argnum=(0, 1, 2, 3))

    def step():
        value, grads = gradients(*parameters)
        for p, grad in zip(parameters, grads, strict=True):
            p -= RATE * grad
        return value

    return step


def mlp_numpy() -> Callable[[], object]:
    x, target, (w1, b1, w2, b2) = data()

    def step():
        hidden = np.maximum(x @ w1 + b1, 0)
        difference = hidden @ w2 + b2 - target
        loss = np.mean(difference * difference)
        grad = difference * (2 / difference.size)
        grad_hidden = (grad @ w2.T) * (hidden > 0)
        grads = x.T @ grad_hidden, np.add.reduce(grad_hidden), hidden.T @ grad, np.add.reduce(grad)
        for p, g in zip((w1, b1, w2, b2), grads, strict=True):
            np.subtract(p, RATE * g, out=p)
        return loss

    return step


def bench_mlp() -> None:
    steps = {
        "minigrad": mlp(minigrad),
        "torch": mlp(torch),
        "autograd": mlp_autograd(),
        "NumPy": mlp_numpy(),
    }
    losses = {name: [float(step()) for _ in range(5)] for name, step in steps.items()}
    for name, values in losses.items():  # all do the same work; otherwise the times would mean nothing
        np.testing.assert_allclose(values, losses["torch"], rtol=1e-4, err_msg=name)
    title = f"training step of an MLP {'-'.join(map(str, WIDTHS))}, batch {BATCH}"
    print(compare(title, steps, peer="torch"), end="\n\n")
    steps = {"minigrad": mlp_of_modules(minigrad), "torch": mlp_of_modules(torch)}
    for _ in range(5):
        np.testing.assert_allclose(steps["minigrad"](), steps["torch"](), rtol=1e-4)
    print(compare("the same from nn modules, with SGD", steps, peer="torch"), end="\n\n")


# ---------------------------------------------------------------- one operation

# name: (on a module that speaks torch, on NumPy through autograd, by hand: output and derivative · grad)
ONE_INPUT = {
    "x + 1": (lambda T, x: x + 1, lambda x: x + 1, lambda x, g: (x + 1, g)),
    "x * x": (lambda T, x: x * x, lambda x: x * x, lambda x, g: (x * x, 2 * x * g)),
    "x ** 3": (lambda T, x: x**3, lambda x: x**3, lambda x, g: (x * x * x, 3 * x * x * g)),
    "exp": (lambda T, x: T.exp(x), anp.exp, lambda x, g: (y := np.exp(x), y * g)),
    "log": (lambda T, x: T.log(x), anp.log, lambda x, g: (np.log(x), g / x)),
    "tanh": (lambda T, x: T.tanh(x), anp.tanh, lambda x, g: (y := np.tanh(x), (1 - y * y) * g)),
    "sigmoid": (
        lambda T, x: T.sigmoid(x),
        lambda x: 1 / (1 + anp.exp(-x)),
        lambda x, g: (y := 1 / (1 + np.exp(-x)), y * (1 - y) * g),
    ),
    "relu": (
        lambda T, x: T.relu(x),
        lambda x: anp.maximum(x, 0),
        lambda x, g: (np.maximum(x, 0), (x > 0) * g),
    ),
    "sum": (
        lambda T, x: x.sum(),
        anp.sum,
        lambda x, g: (np.add.reduce(x, axis=None), np.broadcast_to(g, x.shape)),
    ),
    "mean(-1)": (
        lambda T, x: x.mean(-1),
        lambda x: anp.mean(x, -1),
        lambda x, g: (
            np.add.reduce(x, axis=-1) / x.shape[-1],
            np.broadcast_to((g / x.shape[-1])[..., None], x.shape),
        ),
    ),
    "x @ x.T": (
        lambda T, x: x @ x.t(),
        lambda x: anp.dot(x, x.T),
        lambda x, g: (x @ x.T, g @ x + g.T @ x),
    ),
}
SHAPES = [(2, 2), (32, 64)]


def forward_and_backward(T: ModuleType, f: Callable, array: np.ndarray) -> Callable[[], object]:
    x = T.tensor(array, requires_grad=True)
    grad = T.ones_like(f(T, x).detach())

    def run():
        f(T, x).backward(grad)
        x.grad = None

    return run


def bench_operations() -> None:
    for shape in SHAPES:
        array = np.random.default_rng(0).uniform(0.5, 1.5, shape).astype(np.float32)
        tables = {}
        for name, (on_tensors, on_boxes, by_hand) in ONE_INPUT.items():
            grad = np.ones_like(on_boxes(array))
            contenders = {
                "minigrad": forward_and_backward(minigrad, on_tensors, array),
                "torch": forward_and_backward(torch, on_tensors, array),
                "autograd": lambda f=on_boxes, x=array, g=grad: autograd.make_vjp(f)(x)[0](g),
                "NumPy": lambda f=by_hand, x=array, g=grad: f(x, g),
            }
            tables[name] = compare(name, contenders, peer="torch", rounds=9)
        title = f"one operation at {' × '.join(map(str, shape))}, forward and backward into a leaf"
        print(grid(title, tables, ["minigrad", "torch", "autograd", "NumPy"]), end="\n\n")


# ---------------------------------------------------------------- memory

# Each in a fresh interpreter; PyTorch's memory is invisible to Python, so the process is asked for its size.
CHAINS = {
    "minigrad": "import minigrad as T; x = T.tensor(1.0, requires_grad=True)",
    "torch": "import torch as T; x = T.tensor(1.0, requires_grad=True)",
    "autograd": "from autograd.tracer import new_box; from autograd.core import VJPNode; "
    "x = new_box(1.0, 0, VJPNode.new_root())",
    "micrograd": "from micrograd.engine import Value; x = Value(1.0)",
}
KEPT = 100_000


def bytes_per_operation(set_up: str) -> float:
    code = f"""
import os, psutil
{set_up}
y = x + x
size = psutil.Process().memory_info
before = size().rss
for _ in range({KEPT}): y = y + x
print((size().rss - before) / {KEPT}, flush=True)
os._exit(0)  # taking the chain apart is not measured, and some engines do it by recursion
"""
    return float(subprocess.check_output([sys.executable, "-c", code], text=True))


def bench_memory() -> None:
    print(f"memory of an add in a chain of {KEPT:,}")
    for name, set_up in CHAINS.items():
        print(f"  {name:9}  {bytes_per_operation(set_up):6.0f} bytes")
    print()


def main() -> list[str]:
    bench_chain()
    bench_mlp()
    bench_operations()
    bench_memory()
    return []


if __name__ == "__main__":
    main()
