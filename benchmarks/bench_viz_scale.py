"""Large graphs: how long `viz.draw` takes to show 1,000, 10,000 and 100,000 nodes, beside torchviz on the same graphs.

torchviz writes DOT and leaves the layout to a Graphviz on the machine; here both are laid out by the Graphviz in
pygraphviz's wheel, in a child process that is stopped after LIMIT seconds. Needs torch; torchviz is left out where it is
not installed (pip install torchviz).
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time

import torch

import minigrad
import viz

LIMIT = 20.0
WANTED = {"MLP, 1,000 nodes": 0.5, "RNN, 1,000 nodes, folded": 0.5, "RNN, 10,000 nodes": 2.0}
CHILD = (
    "import sys, pygraphviz; "
    "sys.stdout.buffer.write(pygraphviz.AGraph(string=sys.stdin.read()).draw(format='svg', prog='dot'))"
)


def mlp(layers: int) -> torch.Tensor:
    h = torch.ones(2, 4)
    for _ in range(layers):
        h = (h @ torch.ones(4, 4, requires_grad=True) + torch.ones(4, requires_grad=True)).tanh()
    return h.sum()


def rnn(steps: int) -> torch.Tensor:
    w, u, b = (torch.ones(n, 4, requires_grad=True) for n in (4, 4, 1))
    h, x = torch.zeros(2, 4), torch.ones(2, 4)
    for _ in range(steps):
        h = (x @ u + h @ w + b).tanh()
    return h.sum()


def chain(nodes: int, t=torch):
    y = t.tensor(1.0, requires_grad=True)
    for i in range(nodes):
        y = y.sin() if i % 3 else y * 0.5
    return y


def seconds(run) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def by_torchviz(z: torch.Tensor) -> str:
    from torchviz import make_dot

    started = time.perf_counter()
    try:
        source = make_dot(z).source
        subprocess.run(
            [sys.executable, "-c", CHILD],
            input=source.encode(),
            capture_output=True,
            timeout=LIMIT,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return f"more than {LIMIT:g} s"
    except RecursionError:
        return "RecursionError"
    return f"{time.perf_counter() - started:.2f} s"


def main() -> list[str]:
    peer = importlib.util.find_spec("torchviz") is not None
    graphs = {
        "MLP, 1,000 nodes": (mlp(200), {"fold": False}),
        "MLP, 1,000 nodes, folded": (mlp(200), {"fold": True}),
        "RNN, 1,000 nodes": (rnn(200), {"fold": False}),
        "RNN, 1,000 nodes, folded": (rnn(200), {"fold": True}),
        "RNN, 10,000 nodes": (rnn(2_000), {}),
        "chain, 10,000 nodes": (chain(10_000), {}),
        "minigrad chain, 100,000 nodes": (chain(100_000, minigrad), {}),
    }
    print(f"{'draw to SVG':30}  {'viz':>8}  {'items':>6}  {'torchviz, same Graphviz' if peer else ''}")
    broken = []
    for name, (z, options) in graphs.items():
        items = []

        def draw(z=z, options=options, items=items) -> None:
            drawing = viz.draw(z, **options)
            assert drawing.svg
            items.append(len(drawing.picture.items))

        took = min(seconds(draw) for _ in range(3))
        other = by_torchviz(z) if peer and "folded" not in name and "100,000" not in name else ""
        print(f"{name:30}  {took:6.2f} s  {items[0]:>6,}  {other}", flush=True)
        if took > WANTED.get(name, 1e9):
            broken.append(f"viz.draw takes {took:.2f} s for {name}, more than {WANTED[name]} s")
    return broken


if __name__ == "__main__":
    sys.exit("\n".join(main()) or 0)
