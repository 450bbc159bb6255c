"""Graphs of every kind that viz must draw, each built by a small program that runs on minigrad and on PyTorch.

Each function takes the framework and returns the tensors to draw and the names that a caller would have given.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

Built = tuple[Any, dict[str, Any]]
GALLERY: dict[str, Callable[[ModuleType], Built]] = {}


def gallery(build: Callable[[ModuleType], Built]) -> Callable[[ModuleType], Built]:
    GALLERY[build.__name__] = build
    return build


@gallery
def source_example(t: ModuleType) -> Built:
    x = t.tensor([[1.0, 2.0, 3.0]])
    w = t.tensor([[1.0], [-2.0], [3.0]], requires_grad=True)
    y = x @ w
    z = y.mean()
    return z, {"x": x, "w": w, "y": y, "z": z}


@gallery
def diamond(t: ModuleType) -> Built:
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    a = y + 1
    b = y * 2
    c = a + b
    return c, {"x": x, "y": y, "a": a, "b": b, "c": c}


@gallery
def same_leaf_twice(t: ModuleType) -> Built:
    w = t.tensor([1.0, 2.0], requires_grad=True)
    s = (w * w).sum()
    return s, {"w": w, "s": s}


@gallery
def mlp(t: ModuleType) -> Built:
    x = t.tensor([[0.5, -1.0], [1.5, 2.0], [-0.5, 0.25]])
    w1 = t.tensor([[0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, 0.8]], requires_grad=True)
    b1 = t.tensor([0.1, 0.2, 0.3, 0.4], requires_grad=True)
    w2 = t.tensor([[1.0], [-1.0], [0.5], [2.0]], requires_grad=True)
    h = (x @ w1 + b1).tanh()
    out = h @ w2
    loss = (out**2).mean()
    return loss, {"x": x, "w1": w1, "b1": b1, "w2": w2, "h": h, "out": out, "loss": loss}


@gallery
def several_outputs(t: ModuleType) -> Built:
    x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b, c = x.unbind(0)
    s = a * c
    return s, {"x": x, "a": a, "b": b, "c": c, "s": s}


@gallery
def several_roots(t: ModuleType) -> Built:
    x = t.tensor(3.0, requires_grad=True)
    y = x * 2
    p = y.exp()
    q = y.sin()
    return [p, q], {"x": x, "y": y, "p": p, "q": q}


@gallery
def in_place_slice(t: ModuleType) -> Built:
    v = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    u = t.tensor(5.0, requires_grad=True)
    a = v * 2
    a[0] = u * 3
    s = a.sum()
    return s, {"v": v, "u": u, "a": a, "s": s}


@gallery
def custom_function(t: ModuleType) -> Built:
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x * x

    x = t.tensor(2.0, requires_grad=True)
    y = Cube.apply(x)
    return y, {"x": x, "y": y}


@gallery
def hooks(t: ModuleType) -> Built:
    x = t.tensor(2.0, requires_grad=True)
    y = x * 3
    x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
    y.register_hook(lambda grad: grad * 10)
    z = y.exp()
    return z, {"x": x, "y": y, "z": z}


@gallery
def freed(t: ModuleType) -> Built:
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    z = y.exp()
    z.backward()
    return z, {"x": x, "y": y, "z": z}


@gallery
def no_grad_island(t: ModuleType) -> Built:
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with t.no_grad():
        scale = x.sum()
    y = (x * scale).sum()
    return y, {"x": x, "scale": scale, "y": y}


@gallery
def double_backward(t: ModuleType) -> Built:
    x = t.tensor(2.0, requires_grad=True)
    y = x**3
    (g,) = t.autograd.grad(y, x, create_graph=True)
    return [y, g], {"x": x, "y": y, "g": g}
