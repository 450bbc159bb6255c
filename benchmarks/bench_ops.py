"""Every operation, forward and backward into the leaves, at 4 and at 32 x 64 elements: minigrad against PyTorch, worst first.

To measure an operation, add it to the list. `.venv/bin/python -m benchmarks.bench_ops gather scatter` measures those whose text
has one of these words.

The limit: not slower than PyTorch, or twice its time where NumPy alone takes longer than PyTorch. What is over the limit
is measured once more, longer, because the machine may have been busy with something else.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable
from types import ModuleType

import numpy as np
import torch

import minigrad
from benchmarks.measure import Table, compare

torch.set_num_threads(1)
LIMIT, LIMIT_IF_NUMPY_IS_SLOWER = 1.0, 2.0

# One operation per line, on the tensors that `arrays` makes. Statements before the result end in ";". After "|" comes
# what NumPy alone computes: the forward pass and, after a comma, the derivative, if it is measured. A line may
# go on after a backslash. `S(x)` is the sum of each row, kept as a column.
OPERATIONS = """
    # arithmetic
    x + y                           | x + y
    x - y                           | x - y
    x * y                           | x * y, g * y, g * x
    x / y                           | x / y, g / y, g * x / (y * y)
    x + row                         | x + row, np.add.reduce(g)
    x * row                         | x * row, g * row, np.add.reduce(g * x)
    x + 1                           | x + 1
    1 - x                           | 1 - x
    x * 2                           | x * 2
    x / 2                           | x / 2
    1 / x                           | 1 / x
    -x                              | -x
    x % 0.3                         | x % 0.3
    x > y                           | x > y
    x == y                          | x == y
    x >= 0.5                        | x >= 0.5
    x ** 2                          | x * x, g * (2 * x)
    x ** 3                          | x * x * x, g * (3 * x * x)
    x ** 0.5                        | np.sqrt(x)
    2 ** x                          | 2 ** x
    x ** y                          | x ** y, g * y * x ** (y - 1), g * x ** y * np.log(x)
    torch.add(x, y, alpha=2)        | x + 2 * y

    # elementwise functions
    torch.exp(x)                    | y := np.exp(x), g * y
    torch.log(x)                    | np.log(x), g / x
    torch.log1p(x)                  | np.log1p(x), g / (x + 1)
    torch.sqrt(x)                   | y := np.sqrt(x), g / (2 * y)
    torch.rsqrt(x)                  | 1 / np.sqrt(x)
    torch.square(x)                 | x * x
    torch.reciprocal(x)             | 1 / x
    torch.abs(x)                    | np.abs(x), g * np.sign(x)
    torch.sign(x)                   | np.sign(x)
    torch.sin(x)                    | np.sin(x), g * np.cos(x)
    torch.cos(x)                    | np.cos(x), g * -np.sin(x)
    torch.tan(x)                    | y := np.tan(x), g * (1 + y * y)
    torch.sinh(x)                   | np.sinh(x), g * np.cosh(x)
    torch.cosh(x)                   | np.cosh(x), g * np.sinh(x)
    torch.tanh(x)                   | y := np.tanh(x), g * (1 - y * y)
    torch.sigmoid(x)                | y := 1 / (1 + np.exp(-x)), g * (1 - y) * y
    torch.erf(x)                    | erf(x), g * np.exp(-x * x)
    torch.floor(x)                  | np.floor(x)
    torch.round(x)                  | np.round(x)
    x.clamp(0.3, 0.7)               | np.clip(x, 0.3, 0.7), g * ((x >= 0.3) & (x <= 0.7))
    x.clamp(min=0.5)                | np.maximum(x, 0.5), g * (x >= 0.5)
    torch.maximum(x, y)             | np.maximum(x, y), g * (x >= y), g * (x < y)
    torch.minimum(x, y)             | np.minimum(x, y), g * (x <= y), g * (x > y)
    torch.where(m, x, y)            | np.where(m, x, y), g * m, g * ~m
    torch.where(m, x, 0.0)          | np.where(m, x, 0.0), g * m

    # activations
    F.relu(x)                       | np.maximum(x, 0), g * (x > 0)
    F.leaky_relu(x)                 | np.where(x > 0, x, 0.01 * x)
    F.gelu(x)                       | x * (1 + erf(x)), g * (1 + erf(x)) + x * np.exp(-x * x)
    F.silu(x)                       | s := 1 / (1 + np.exp(-x)), x * s, g * s * (1 + x * (1 - s))
    F.softplus(x)                   | np.log1p(np.exp(x)), g / (1 + np.exp(-x))
    F.logsigmoid(x)                 | -np.log1p(np.exp(-x))
    F.softmax(x, -1)                | \
        y := np.exp(x - np.maximum.reduce(x, 1, keepdims=True)), y := y / S(y), d := g * y, d - y * S(d)
    F.log_softmax(x, -1)            | \
        y := x - np.maximum.reduce(x, 1, keepdims=True), y := y - np.log(S(np.exp(y))), g - np.exp(y) * S(g)
    torch.logsumexp(x, -1)          | np.log(np.add.reduce(np.exp(x), axis=-1))

    # reductions
    x.sum()                         | np.add.reduce(x, axis=None)
    x.sum(0)                        | np.add.reduce(x, axis=0)
    x.sum((0, 1), keepdim=True)     | np.add.reduce(x, axis=(0, 1), keepdims=True)
    x.mean()                        | np.mean(x)
    x.mean(-1)                      | np.mean(x, -1)
    x.prod()                        | np.multiply.reduce(x, axis=None)
    x.prod(1)                       | np.multiply.reduce(x, axis=1)
    x.var()                         | np.var(x)
    x.var(1)                        | np.var(x, axis=1)
    x.std()                         | np.std(x)
    x.std(1)                        | np.std(x, axis=1)
    x.norm()                        | np.sqrt(np.add.reduce(x * x, axis=None))
    x.norm(dim=1)                   | np.sqrt(np.add.reduce(x * x, axis=1))
    x.amax()                        | np.maximum.reduce(x, axis=None)
    x.amax(1)                       | np.maximum.reduce(x, axis=1)
    x.amin(0)                       | np.minimum.reduce(x, axis=0)
    x.max()                         | np.maximum.reduce(x, axis=None)
    x.min()                         | np.minimum.reduce(x, axis=None)
    x.max(1)[0]                     | np.maximum.reduce(x, axis=1), np.argmax(x, axis=1)
    x.min(0)[0]                     | np.minimum.reduce(x, axis=0), np.argmin(x, axis=0)
    x.max(1, keepdim=True)[0]       | np.maximum.reduce(x, axis=1), np.argmax(x, axis=1)
    x.argmax()                      | np.argmax(x)
    x.argmax(1)                     | np.argmax(x, axis=1)
    x.argmin(0)                     | np.argmin(x, axis=0)
    x.all(1)                        | np.all(x, axis=1)
    x.any()                         | np.any(x)
    x.cumsum(1)                     | np.add.accumulate(x, axis=1), np.add.accumulate(g[:, ::-1], axis=1)[:, ::-1]
    x.sort(1)[0]                    | np.argsort(x, axis=1, kind="stable")
    x.sort(0, descending=True)[0]   | np.argsort(-x, axis=0, kind="stable")
    x.argsort(1)                    | np.argsort(x, axis=1, kind="stable")
    x.topk(2)[0]                    | np.argpartition(x, -2)

    # products
    x.mm(w)                         | x @ w, g @ w.T, x.T @ g
    x @ w                           | x @ w, g @ w.T, x.T @ g
    x.mv(row)                       | x @ row, g[:, 0, None] * row, x.T @ g[:, 0]
    x @ row                         | x @ row, g[:, 0, None] * row, x.T @ g[:, 0]
    col @ x                         | col @ x, x @ g[0], col[:, None] * g[0]
    row.dot(row2)                   | row @ row2, g[0] * row, g[0] * row2
    row @ row2                      | row @ row2, g[0] * row, g[0] * row2
    torch.outer(col, row)           | np.multiply.outer(col, row), g @ row, col @ g
    torch.bmm(b, b2)                | b @ b2, b @ b2.swapaxes(1, 2), b.swapaxes(1, 2) @ b2
    b @ b2                          | b @ b2, b @ b2.swapaxes(1, 2), b.swapaxes(1, 2) @ b2
    b @ sq                          | b @ sq, b @ sq.T, b.reshape(-1, b.shape[2]).T @ b.reshape(-1, b.shape[2])
    sq @ b                          | sq @ b, sq @ b, b @ b
    b @ sq[0]                       | b @ sq[0]
    sq[0] @ b                       | sq[0] @ b
    torch.addmm(bias, x, w)         | bias + x @ w, g @ w.T, x.T @ g, np.add.reduce(g)
    F.linear(x, w, bias)            | x @ w.T + bias, g @ w, g.T @ x, np.add.reduce(g)
    F.linear(x, w)                  | x @ w.T, g @ w, g.T @ x
    F.linear(b, sq, sq[0])          | b @ sq.T + sq[0]
    torch.linalg.inv(sq)            | y := np.linalg.inv(sq), -y.T @ sq @ y.T
    torch.linalg.det(sq)            | np.linalg.det(sq), np.linalg.inv(sq)
    torch.linalg.solve(sq, sq[0])   | np.linalg.solve(sq, sq[0]), np.linalg.solve(sq.T, sq[0])
    torch.trace(sq)                 | np.trace(sq)

    # shapes
    x.reshape(-1)                   | x.reshape(-1)
    x.view(-1)                      | x.reshape(-1)
    x.t().reshape(-1)               | x.T.reshape(-1)
    x.flatten()                     | x.reshape(-1)
    x[None].squeeze()               | x[None].squeeze()
    x[None].squeeze(0)              | x[None].squeeze(0)
    x.unsqueeze(0)                  | x[None]
    x.transpose(0, 1)               | x.swapaxes(0, 1)
    x.t()                           | x.T
    x.T                             | x.T
    x.mT                            | x.T
    x.permute(1, 0)                 | x.transpose(1, 0)
    x.movedim(0, 1)                 | np.moveaxis(x, 0, 1)
    row.expand(x.shape)             | np.broadcast_to(row, x.shape), np.add.reduce(g)
    torch.cat([x, y])               | np.concatenate([x, y])
    torch.cat([x, y], 1)            | np.concatenate([x, y], 1)
    torch.stack([x, y])             | np.stack([x, y])
    torch.stack([x, y], -1)         | np.stack([x, y], -1)
    x.split(1)                      | np.split(x, len(x))
    x.split(1)[0]                   | x[:1]
    x.chunk(2)                      | np.split(x, 2)
    x.unbind()                      | list(x)
    x.unbind(1)[0]                  | x[:, 0]
    x.narrow(0, 0, 1)               | x[0:1]
    x.select(1, 0)                  | x[:, 0]
    x.flip(0)                       | x[::-1]
    x.flip(0, 1)                    | x[::-1, ::-1]
    x.roll(1)                       | np.roll(x, 1)
    x.roll(1, 0)                    | np.roll(x, 1, 0)
    x.tril()                        | np.tril(x), np.tril(g)
    x.triu(1)                       | np.triu(x, 1), np.triu(g, 1)
    row.diag()                      | np.diag(row)
    x.diag()                        | np.diag(x)
    x.diagonal()                    | x.diagonal()
    x.clone()                       | x.copy()
    x.contiguous()
    x.t().contiguous()              | x.T.copy()
    x.detach()
    x.double()                      | x.astype(np.float64), g.astype(np.float64).astype(np.float32)
    x.to(torch.float64)             | x.astype(np.float64), g.astype(np.float64).astype(np.float32)
    x.float()
    x.long()                        | x.astype(np.int64)

    # picking elements
    x[0]                            | x[0]
    x[0, 1]                         | x[0, 1]
    x[1:]                           | x[1:]
    x[:, ::2]                       | x[:, ::2]
    x[None]                         | x[None]
    x[..., 0]                       | x[..., 0]
    x[:, None, 1:]                  | x[:, None, 1:]
    x[[0, 1]]                       | x[[0, 1]]
    x[i]                            | x[i], np.add.at(np.zeros(x.shape, x.dtype), i, g)
    x[i, j]                         | x[i, j], np.add.at(np.zeros(x.shape, x.dtype), (i, j), g[:, 0])
    x[:, j]                         | x[:, j], np.add.at(np.zeros(x.shape, x.dtype), (slice(None), j), g[:, 0, None])
    x[m]                            | x[m]
    x[m[:, 0], 1:]                  | x[m[:, 0], 1:]
    y = x.clone(); y[0] = row; y    | y := x.copy(), y.__setitem__(0, row)
    y = x.clone(); y[0, 1] = 2.0; y | y := x.copy(), y.__setitem__((0, 1), 2.0)
    y = x.clone(); y[:, 1:] = 0; y  | y := x.copy(), y.__setitem__((slice(None), slice(1, None)), 0)
    y = x.clone(); y[i] = z; y      | y := x.copy(), y.__setitem__(i, z)
    y = x.clone(); y[m] = 0; y      | y := x.copy(), y.__setitem__(m, 0)
    y = x.clone(); y.add_(1); y     | y := x.copy(), np.add(y, 1, out=y)
    y = x.clone(); y.mul_(2); y     | y := x.copy(), np.multiply(y, 2, out=y)
    y = x.clone(); y.exp_(); y      | y := x.copy(), np.exp(y, out=y)
    y = x.clone(); y.zero_(); y     | y := x.copy(), y.fill(0)
    y = x.clone(); y[0].mul_(2); y  | y := x.copy(), np.multiply(y[0], 2, out=y[0])
    x.masked_fill(m, 0.0)           | np.where(m, 0, x), g * ~m
    x.gather(1, index)              | np.take_along_axis(x, index, 1)
    x.scatter(1, index, y)          | np.put_along_axis(x.copy(), index, y, 1)
    x.scatter_add(1, index, y)      | np.add.at(x.copy(), (np.arange(len(x))[:, None], index), y)

    # networks
    F.conv2d(img, kernel2)          | \
        w := windows(img, kernel2.shape[2:], (2, 3)), y := np.tensordot(w, kernel2, ((1, 4, 5), (1, 2, 3))), \
        np.tensordot(y, w, ((0, 1, 2), (0, 2, 3)))
    F.conv2d(img, kernel2, padding=1) | \
        w := windows(np.pad(img, ((0, 0), (0, 0), (1, 1), (1, 1))), kernel2.shape[2:], (2, 3)), \
        y := np.tensordot(w, kernel2, ((1, 4, 5), (1, 2, 3))), np.tensordot(y, w, ((0, 1, 2), (0, 2, 3)))
    F.max_pool2d(img, 2)            | \
        w := windows(img, (2, 2), (2, 3))[:, :, ::2, ::2], w := w.reshape(*w.shape[:4], 4), k := w.argmax(4), \
        y := np.take_along_axis(w, k[..., None], 4), d := np.zeros(img.size, img.dtype), \
        np.add.at(d, k.reshape(-1), y.reshape(-1))
    F.avg_pool2d(img, 2)            | \
        w := windows(img, (2, 2), (2, 3))[:, :, ::2, ::2], y := np.add.reduce(w, (4, 5)) / 4, \
        np.repeat(np.repeat(y / 4, 2, 2), 2, 3)
    F.embedding(i, x)               | x[i], np.add.at(np.zeros(x.shape, x.dtype), i, g)
    F.dropout(x, 0.5)               | d := 2 * (np.random.random(x.shape) < 0.5), x * d, g * d
    F.layer_norm(x, x.shape[1:])    | \
        n := x.shape[1], c := x - S(x) / n, r := 1 / np.sqrt(S(c * c) / n + 1e-5), h := c * r, \
        r * (g - S(g) / n - h * (S(g * h) / n))
    F.layer_norm(x, x.shape[1:], row, bias) | \
        n := x.shape[1], c := x - S(x) / n, r := 1 / np.sqrt(S(c * c) / n + 1e-5), h := c * r, h * row + bias, \
        np.add.reduce(g), np.add.reduce(g * h), d := g * row, r * (d - S(d) / n - h * (S(d * h) / n))
    F.batch_norm(x, None, None, training=True) | \
        n := len(x), c := x - np.add.reduce(x) / n, r := 1 / np.sqrt(np.add.reduce(c * c) / n + 1e-5), h := c * r, \
        r * (g - np.add.reduce(g) / n - h * (np.add.reduce(g * h) / n))
    F.batch_norm(x, None, None, row, bias, training=True) | \
        n := len(x), c := x - np.add.reduce(x) / n, r := 1 / np.sqrt(np.add.reduce(c * c) / n + 1e-5), h := c * r, \
        h * row + bias, b1 := np.add.reduce(g), w1 := np.add.reduce(g * h), row * r * (g - b1 / n - h * (w1 / n))
    F.batch_norm(x, mean, var, row, bias)
    F.one_hot(i)                    | y := np.zeros((i.size, i.max() + 1), int), y.__setitem__((np.arange(i.size), i), 1)

    # losses
    F.mse_loss(x, y)                | np.mean((x - y) ** 2), d := (x - y) * (2 / x.size), -d
    F.mse_loss(x, y, reduction="sum") | np.sum((x - y) ** 2), d := (x - y) * 2, -d
    F.mse_loss(x, y, reduction="none") | (x - y) ** 2, d := (x - y) * 2, -d
    F.l1_loss(x, y)                 | np.mean(np.abs(x - y)), d := np.sign(x - y) / x.size, -d
    F.smooth_l1_loss(x, y)
    F.nll_loss(x, t)                | -x[np.arange(len(t)), t].mean()
    F.cross_entropy(x, t)           | \
        y := x - np.maximum.reduce(x, 1, keepdims=True), y := y - np.log(S(np.exp(y))), r := np.arange(len(t)), \
        -np.add.reduce(y[r, t]) / len(t), d := np.exp(y), d.__setitem__((r, t), d[r, t] - 1), d / len(t)
    F.cross_entropy(x, t, reduction="sum") | \
        y := x - np.maximum.reduce(x, 1, keepdims=True), y := y - np.log(S(np.exp(y))), r := np.arange(len(t)), \
        -np.add.reduce(y[r, t]), d := np.exp(y), d.__setitem__((r, t), d[r, t] - 1)
    F.cross_entropy(x, t, reduction="none") | \
        y := x - np.maximum.reduce(x, 1, keepdims=True), y := y - np.log(S(np.exp(y))), r := np.arange(len(t)), \
        -y[r, t], d := np.exp(y), d.__setitem__((r, t), d[r, t] - 1)
    F.cross_entropy(x, t, label_smoothing=0.1) | \
        y := x - np.maximum.reduce(x, 1, keepdims=True), y := y - np.log(S(np.exp(y))), r := np.arange(len(t)), \
        -0.9 * np.add.reduce(y[r, t]) / len(t) - 0.1 * np.mean(y), d := np.exp(y) - 0.1 / x.shape[1], \
        d.__setitem__((r, t), d[r, t] - 0.9), d / len(t)
    F.binary_cross_entropy(x, p)    | -np.mean(p * np.log(x) + (1 - p) * np.log(1 - x)), g * (x - p) / (x * (1 - x))
    F.binary_cross_entropy_with_logits(x, p)
"""

SIZES = {"4": ((2, 2), (1, 2, 2), 2), "32x64": ((32, 64), (2, 32, 32), 32)}


def arrays(size: str) -> dict[str, np.ndarray]:
    """The arrays that the operations use. Those that are not in CONSTANTS become leaves with a gradient."""
    rng = np.random.default_rng(0)
    shape, batch, n = SIZES[size]
    rows, columns = shape
    small = size == "4"
    shapes = {
        **dict.fromkeys("xyzp", shape), **dict.fromkeys(("row", "row2", "bias", "mean", "var", "classes"), (columns,)),
        "w": (columns, columns), "col": (rows,), "one": (1,), "b": batch, "b2": batch,
        "seq": (1, 1, 4) if small else (2, 16, 64), "kernel1": (1, 1, 2) if small else (16, 16, 3),
        "img": (1, 1, 2, 2) if small else (2, 4, 16, 16), "kernel2": (1, 1, 2, 2) if small else (4, 4, 3, 3),
    }  # fmt: skip
    found = {name: rng.uniform(0.1, 0.9, s).astype(np.float32) for name, s in shapes.items()}
    found["sq"] = (rng.uniform(0.1, 0.9, (n, n)) + 3 * np.eye(n)).astype(np.float32)
    found["p"] /= found["p"].sum(1, keepdims=True)
    found["m"] = rng.random(shape) < 0.5
    found["m"][:, 0], found["m"][0, 0] = True, False
    found["i"], found["j"] = rng.permutation(rows), rng.integers(0, columns, rows)
    found["t"], found["index"] = rng.integers(0, columns, rows), np.argsort(rng.random(shape), axis=1)
    found["t"][0] = 0  # at least one target is not the class that ignore_index leaves out
    return found


CONSTANTS = {"p", "m", "i", "j", "t", "index", "mean", "var", "classes"}
WORD = re.compile(r"\b[a-z]\w*\b")


def operations(words: list[str]) -> list[tuple[str, str]]:
    """(what both libraries do, what NumPy does or "")."""
    lines = [line.strip() for line in OPERATIONS.splitlines()]  # a backslash has joined what belongs together
    pairs = [line.partition("|") for line in lines if line and not line.startswith("#")]
    return [
        (text.strip(), alone.strip())
        for text, _, alone in pairs
        if not words or any(w in text for w in words)
    ]


def function(text: str, scope: dict[str, object]) -> Callable[[], object]:
    """The statements of `text`, separated by ";", as a function that returns the last."""
    *before, last = text.split("; ")
    body = "".join(f"    {line}\n" for line in (*before, f"return {last}"))
    written = {line.split(" = ")[0] for line in before if " = " in line}
    arguments = ", ".join(
        f"{n}={n}" for n in dict.fromkeys(WORD.findall(text)) if n in scope and n not in written
    )
    exec(f"def run({arguments}):\n{body}", scope)
    return scope["run"]


def forward_and_backward(T: ModuleType, text: str, values: dict[str, np.ndarray]) -> Callable[[], object]:
    """A function that runs the forward pass and, if the result requires grad, the backward pass into the leaves."""
    scope = {
        name: T.tensor(array, requires_grad=name not in CONSTANTS)
        for name, array in values.items()
        if re.search(rf"\b{name}\b", text)
    }
    leaves = [t for t in scope.values() if t.requires_grad]
    forward = function(text, {**scope, "torch": T, "F": T.nn.functional})
    out = forward()
    if isinstance(out, (tuple, list)):
        grads = [T.ones_like(o.detach()) for o in out]

        def run():
            T.autograd.backward(forward(), grads)
            for leaf in leaves:
                leaf.grad = None

        return run
    if not out.requires_grad:
        return forward
    grad = T.ones_like(out.detach())
    if len(leaves) == 1:
        (leaf,) = leaves

        def run():
            forward().backward(grad)
            leaf.grad = None

        return run

    def run():
        forward().backward(grad)
        for leaf in leaves:
            leaf.grad = None

    return run


def by_numpy(text: str, values: dict[str, np.ndarray]) -> Callable[[], object]:
    text = ", ".join(f"({part})" for part in split(text)) if ":=" in text else text
    tools = {
        "S": row_sums,
        "erf": np.vectorize(math.erf),
        "windows": np.lib.stride_tricks.sliding_window_view,
    }
    return function(text, {**values, **tools, "np": np, "g": np.ones_like(values["x"])})


def row_sums(x: np.ndarray) -> np.ndarray:
    return np.add.reduce(x, 1, keepdims=True)


def split(text: str) -> list[str]:
    """Split at the commas that are not in brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def measure(text: str, alone: str, size: str, rounds: int) -> Table:
    values = arrays(size)
    contenders = {"minigrad": forward_and_backward(minigrad, text, values)}
    contenders["torch"] = forward_and_backward(torch, text, values)
    if alone:
        contenders["NumPy"] = by_numpy(alone, values)
    return compare(text, contenders, peer="torch", rounds=rounds, seconds=0.003, clock=time.process_time)


def limit(table: Table) -> float:
    return LIMIT_IF_NUMPY_IS_SLOWER if "NumPy" in table and table["NumPy"].ratio > 1 else LIMIT


def main(words: list[str] | None = None) -> list[str]:
    tables = {}
    for size in SIZES:
        for text, alone in operations(words or []):
            table = measure(text, alone, size, rounds=7)
            if table["minigrad"].ratio > limit(table):
                table = measure(text, alone, size, rounds=15)
            tables[size, text] = table
    ordered = sorted(tables.items(), key=lambda item: -item[1]["minigrad"].ratio)
    print(f"every operation, forward and backward into the leaves: {len(ordered)} lines, worst first (µs)")
    head = f"{'elements':>9}{'minigrad':>10}{'torch':>10}{'NumPy':>10}   minigrad ÷ torch"
    print(f"  {'':50}{head}, NumPy's own share of it")
    broken = []
    for (size, text), table in ordered:
        cells = "".join(
            f"{table[name].seconds * 1e6:10.2f}" if name in table else f"{'–':>10}"
            for name in ("minigrad", "torch", "NumPy")
        )
        ratio, most = table["minigrad"].ratio, limit(table)
        share = f"{table['NumPy'].ratio:16.2f}" if "NumPy" in table else ""
        note = "" if most == LIMIT else "  (NumPy alone is slower)"
        print(f"  {text:50}{size:>9}{cells}   {ratio:6.2f}{share}{note}")
        if ratio > most:
            broken.append(
                f"ops: {text} at {size} elements takes {ratio:.2f} of PyTorch's time, more than {most:g}"
            )
    print(f"  {len(ordered) - len(broken)} of {len(ordered)} are within the limit\n")
    return broken


if __name__ == "__main__":
    sys.exit("\n".join(main(sys.argv[1:])) or 0)
