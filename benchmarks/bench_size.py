"""Cost against the size of the graph, 100 to 1,000,000 nodes: is it linear? The time of one operation, drawn in size.svg.

A chain of additions is built, run backward and destroyed. micrograd and autograd walk the graph by recursion or keep lists
of their own; each is taken as far as it goes in a reasonable time.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from types import ModuleType

import autograd
import matplotlib
import torch
from micrograd.engine import Value

import minigrad

matplotlib.use("svg")
from matplotlib import pyplot

torch.set_num_threads(1)
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
PICTURE = Path(__file__).with_name("size.svg")
LIMIT = 2.0  # time per operation in a chain of a million over that in one of a thousand: caches are small


def chain(T: ModuleType) -> Callable[[int], None]:
    x = T.tensor(1.0, requires_grad=True)

    def run(size: int) -> None:
        y = x
        for _ in range(size):
            y = y + x
        y.backward()
        x.grad = None

    return run


def chain_autograd(size: int) -> None:
    def f(x):
        y = x
        for _ in range(size):
            y = y + x
        return y

    autograd.grad(f)(1.0)


def chain_micrograd(size: int) -> None:
    x = Value(1.0)
    y = x
    for _ in range(size):
        y = y + x
    y.backward()


CONTENDERS: dict[str, tuple[Callable[[int], None], int]] = {  # what to run, and the largest size
    "minigrad": (chain(minigrad), 1_000_000),
    "torch": (chain(torch), 1_000_000),
    "autograd": (chain_autograd, 100_000),
    "micrograd": (chain_micrograd, 1_000),  # a longer chain ends in a RecursionError
}


def measure() -> dict[str, dict[int, float]]:
    """Microseconds for one operation: contender -> size -> median of rounds in which all took turns."""
    found: dict[str, dict[int, float]] = {name: {} for name in CONTENDERS}
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))  # for micrograd
    for size in SIZES:
        takes_part = [name for name, (_, most) in CONTENDERS.items() if size <= most]
        samples: dict[str, list[float]] = {name: [] for name in takes_part}
        for _ in range(3 if size == SIZES[-1] else 5):
            for name in takes_part:
                run, repeat = CONTENDERS[name][0], max(1, 10_000 // size)
                gc.collect()
                gc.disable()
                started = time.process_time()
                for _ in range(repeat):
                    run(size)
                samples[name].append((time.process_time() - started) / repeat)
                gc.enable()
        for name in takes_part:
            found[name][size] = median(samples[name]) / size * 1e6
    return found


def draw(found: dict[str, dict[int, float]]) -> None:
    """The table as a picture."""
    with pyplot.rc_context({"svg.hashsalt": "size", "svg.fonttype": "none"}):
        figure, axes = pyplot.subplots(figsize=(6.4, 3.2), layout="constrained")
        for (name, row), mark in zip(found.items(), "os^D", strict=True):
            axes.plot(list(row), list(row.values()), marker=mark, label=name)
        axes.set(
            xscale="log",
            xlabel="operations in the graph",
            ylabel="µs for one, there and back",
            ylim=(0, None),
        )
        axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
        axes.legend(frameon=False, ncols=2)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(PICTURE, metadata={"Date": None})
        pyplot.close(figure)


def main() -> list[str]:
    found = measure()
    print(
        f"µs for one operation, forward and backward, in a chain of{'':4}"
        + "".join(f"{size:>12,}" for size in SIZES)
    )
    for name, row in found.items():
        print(
            f"  {name:56}" + "".join(f"{row[size]:12.2f}" if size in row else f"{'–':>12}" for size in SIZES)
        )
    print()
    draw(found)
    grows = found["minigrad"][SIZES[-1]] / found["minigrad"][1_000]
    return (
        [f"size: an operation among {SIZES[-1]:,} takes {grows:.1f} times what it takes among 1,000"]
        if grows > LIMIT
        else []
    )
