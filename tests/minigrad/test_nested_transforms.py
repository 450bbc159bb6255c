"""Random nested transforms with `argnums`: values, and whether the result still belongs to a graph.

Some inner transforms are taken at a value independent of the outer variable: a constant, a detached copy, the other argument,
an unrelated leaf. Their remains must not keep a graph alive.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from types import ModuleType

import pytest

import minigrad
from tests.minigrad.differences import WRONG_IN_PYTORCH

# Functions of two vectors of three; w is a leaf from outside.
BODIES = [
    "x * y * y", "(x * y).sin()", "x * x + y", "(x @ y).tanh() * x", "y * 2", "x.exp() * 0.1", "w * x * y", "y.sum() * x",
    "x.clamp(-1, 1) * y", "torch.cat([x[1:], y[:1]])", "x.detach() * y", "x * 0 + 1", "(w * w).sum() * y",
]  # fmt: skip
# A transform of such a function, again a function. {k}, {j}: which argument (PyTorch's
# forward mode takes no negative numbers and gives zeros); {f}: the function.
TRANSFORMS = [
    "lambda x, y: func.grad(lambda a, b: {f}(a, b).sum(), argnums={k})(x, y)",
    "lambda x, y: func.grad(lambda a, b: {f}(a, b).sum(), argnums={k})({x}, {y})",
    "lambda x, y: torch.stack(func.grad(lambda a, b: {f}(a, b).sum(), argnums=(1, 0))(x, y)).prod(0)",
    "lambda x, y: torch.stack(func.grad_and_value(lambda a, b: ({f}(a, b) * b).sum(), argnums={k})(x, y)[:1])[0]",
    "lambda x, y: func.grad_and_value(lambda a, b: {f}(a, b).sum(), argnums={k})({x}, {y})[1] * x",
    "lambda x, y: func.vjp({f}, x, y)[1]({x})[{k}]",
    "lambda x, y: func.vjp(lambda a: {f}(a, {y}), x)[1](y)[0]",
    "lambda x, y: func.vjp({f}, {x}, {y})[0]",
    "lambda x, y: func.jvp({f}, (x, y), (y, x))[1]",
    "lambda x, y: func.jvp(lambda a: {f}(a, {y}), ({x},), (y,))[1]",
    "lambda x, y: func.jacrev({f}, argnums={k})({x}, {y}) @ x",
    "lambda x, y: func.jacfwd({f}, argnums={j})(x, y) @ y",
    "lambda x, y: func.hessian(lambda a, b: {f}(a, b).sum(), argnums={j})(x, y) @ y",
    "lambda x, y: func.vmap({f}, in_dims=(0, None))(torch.stack([x, x * 2]), {y}).sum(0)",
    "lambda x, y: func.vmap({f}, in_dims=(None, 0))({x}, torch.stack([y, w])).sum(0)",
    "lambda x, y: {f}(x, y) * y",
    "lambda x, y: {f}({x}, {y}) + x",
]
POINTS = ["x", "y", "x", "y", "w", "x.detach()", "c"]


def write(seed: int) -> str:
    """A program that puts its result into `out`."""
    chance = random.Random(seed)
    flags = [chance.random() < 0.3 for _ in "xyw"]
    lines = [
        f"x = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64, requires_grad={flags[0]})",
        f"y = torch.tensor([1.5, 0.25, -0.75], dtype=torch.float64, requires_grad={flags[1]})",
        f"w = torch.tensor([-0.5, 1.0, 0.75], dtype=torch.float64, requires_grad={flags[2]})",
        "c = torch.tensor([1.0, 2.0, -1.0], dtype=torch.float64)",
        f"f0 = lambda x, y: {chance.choice(BODIES)}",
    ]
    depth = chance.randint(1, 3)
    for k in range(depth):
        text = chance.choice(TRANSFORMS).format(
            f=f"f{k}",
            k=chance.choice([0, 1, -1]),
            j=chance.choice([0, 1]),
            x=chance.choice(POINTS),
            y=chance.choice(POINTS),
        )
        lines.append(f"f{k + 1} = {text}")
    return "\n".join([*lines, f"out = f{depth}(x, y)", "leaves = [t for t in (x, y, w) if t.requires_grad]"])


def outcome(engine: ModuleType, text: str) -> tuple:
    """The value, whether it requires grad and has a history, and the gradients of the leaves."""
    space = {"torch": engine, "func": engine.func}
    exec(text, space)
    out, leaves = space["out"], space["leaves"]
    found = [out.detach().tolist(), out.requires_grad, out.grad_fn is not None]
    if out.requires_grad:
        grads = engine.autograd.grad(out.sum(), leaves, allow_unused=True, retain_graph=True)
        found.append([None if g is None else g.detach().tolist() for g in grads])
    return tuple(found)


def nearly(a: object, b: object) -> bool:
    """Equal but for roundings; a gradient that is missing counts as zeros."""
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-9, abs=1e-9, nan_ok=True)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(nearly, a, b))
    zeros = [0.0, 0.0, 0.0]
    return a == b or (a is None and b == zeros) or (b is None and a == zeros)


def compare(torch: ModuleType, seed: int) -> str:
    """What differs, "" if nothing does."""
    text = write(seed)
    try:
        expected = outcome(torch, text)
    except RuntimeError as error:
        expected = error
    try:
        got = outcome(minigrad, text)
    except RuntimeError as error:
        got = error
    if isinstance(expected, RuntimeError):
        return ""  # minigrad may do what PyTorch cannot
    if (
        not isinstance(got, RuntimeError)
        and expected[1]
        and not got[1]
        and all(nearly(g, None) for g in expected[-1])
    ):
        expected, got = (
            expected[:1],
            got[:1],
        )  # PyTorch multiplies by tangents that are zero, and keeps a graph of zeros
    alike = not isinstance(got, RuntimeError) and nearly(expected, got)
    return "" if alike else f"program {seed}:\n{text}\nPyTorch  {expected}\nminigrad {got}"


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_they_leave_what_pytorchs_leave(torch, first: int) -> None:
    for seed in range(first, first + 50):
        difference = compare(torch, seed)
        if difference:
            pytest.fail(difference, pytrace=False)


def nested(outer: Callable, inner: Callable) -> minigrad.Tensor:
    return outer(lambda x, y: inner(lambda a, b: a * b * b, argnums=1)(x, y), argnums=0)(
        minigrad.tensor(2.0), minigrad.tensor(3.0)
    )


@pytest.mark.parametrize("outer", ["grad", "jacrev", "jacfwd"])
@pytest.mark.parametrize("inner", ["grad", "jacrev", "jacfwd"])
def test_a_mixed_derivative_is_a_plain_number(outer: str, inner: str) -> None:
    found = nested(getattr(minigrad.func, outer), getattr(minigrad.func, inner))
    assert found.numpy() == 6.0 and found.grad_fn is None and not found.requires_grad


# ---------------------------------------------------------------- where PyTorch is wrong

CASES = [(what, loss) for what, losses in WRONG_IN_PYTORCH.items() for loss in losses]


def derivative(engine: ModuleType, what: str, loss: str) -> tuple[list, list]:
    """The gradient of something that may itself be made of derivatives, and the same by finite differences."""
    func, functional = engine.func, importlib.import_module(f"{engine.__name__}.nn.functional")
    w = engine.tensor([1.0, 2.0, 3.0], dtype=engine.float64)
    v = engine.arange(9.0, dtype=engine.float64) / 5

    def f(x: object) -> object:
        return eval(loss, {"torch": engine, "F": functional, "m": x.view(3, 3), "w": w})

    number = {
        "the value, at a singular matrix, by forward mode": f,
        "the product of the Hessian with a vector": lambda x: func.grad(lambda y: func.grad(f)(y) @ v)(x) @ v,
        "the Hessian": lambda x: (func.hessian(f)(x) @ v).sum(),
    }[what]
    regular = [2.0, 0.5, 0.1, 0.3, 1.5, 0.2, 0.1, 0.4, 1.2]
    # the last row is the difference of the others, in numbers that no processor rounds
    singular = [4.0, 1.0, 2.0, 2.0, 1.5, 0.5, 2.0, -0.5, 1.5]
    x = engine.tensor(singular if "singular" in what else regular, dtype=engine.float64)
    steps = engine.eye(9, dtype=engine.float64) * 1e-5
    differences = [(number(x + h) - number(x - h)).item() / 2e-5 for h in steps]
    found = (func.jacfwd if "forward" in what else func.grad)(number)(x)
    return found.tolist(), differences


@pytest.mark.parametrize(("what", "loss"), CASES)
def test_it_is_right_where_pytorch_is_not(torch, what: str, loss: str) -> None:
    found, differences = derivative(minigrad, what, loss)
    scale = max(map(abs, differences))
    assert found == pytest.approx(differences, rel=1e-3, abs=1e-4 * scale)
    theirs, _ = derivative(torch, what, loss)
    assert theirs != pytest.approx(differences, rel=1e-3, abs=1e-4 * scale), (
        "PyTorch has mended this: strike it from the list"
    )
