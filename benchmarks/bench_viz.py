"""How long `viz.draw` and `viz.step` take in Python: trace, layout and all that is sent to the page. The cache of
layouts is emptied before each call."""

from __future__ import annotations

import sys
from collections.abc import Callable

import minigrad
import viz
from benchmarks.measure import compare
from viz.picture.layout import laid_out

LIMIT = 0.1  # seconds for viz.step on a graph of 30 nodes


def chain(nodes: int) -> minigrad.Tensor:
    """A graph of `nodes` nodes, the leaf's included."""
    x = minigrad.tensor([[0.5, -0.25, 1.0]], requires_grad=True)
    y = x
    for _ in range(nodes - 2):
        y = y.tanh()
    return y.sum()


def drawing(nodes: int) -> Callable[[], object]:
    z = chain(nodes)
    return anew(lambda: viz.draw(z).svg)


def stepping(nodes: int) -> Callable[[], object]:
    """A new graph each time: stepping frees it."""
    return anew(lambda: viz.step(chain(nodes)))


def anew(run: Callable[[], object]) -> Callable[[], object]:
    def first() -> object:
        laid_out.cache_clear()
        return run()

    return first


def main() -> list[str]:
    runs = {f"draw, {n} nodes": drawing(n) for n in (30, 300)} | {
        f"step, {n} nodes": stepping(n) for n in (30, 300)
    }
    table = compare("viz in Python", runs, rounds=5)
    print(table, end="\n\n")
    took = table["step, 30 nodes"].seconds
    return [f"viz.step on 30 nodes takes {took:.3f} s, more than {LIMIT} s"] if took > LIMIT else []


if __name__ == "__main__":
    sys.exit("\n".join(main()) or 0)
