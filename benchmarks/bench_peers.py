"""The first picture of a PyTorch model, against torchviz and torchlens, for 30 to 3,000 nodes.

viz: `viz.draw(loss).svg`, by default (large models folded), and `view="functions", fold=False`, every node. torchviz:
`make_dot`, laid out by the same Graphviz, since its own needs the program `dot`. torchlens: `trace(model, x)` alone, which
runs the model; its drawing needs `dot` and is not counted. Each picture is the first: no layout is remembered. Times are
on the clock, as Graphviz may run in a separate process; medians of rounds in which the tools take turns.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torchlens
import torchviz

import viz
from benchmarks.measure import compare
from viz.picture.layout import IN_PROCESS, LayoutTooSlow, laid_out, render

torch.set_num_threads(1)
LAYERS = {30: 5, 300: 50, 3_000: 500}  # nodes -> layers of a perceptron, six nodes each
PATIENCE = 20.0  # seconds that Graphviz may take


def model(layers: int) -> torch.nn.Module:
    torch.manual_seed(0)
    parts = (torch.nn.Linear(8, 8) if i % 2 == 0 else torch.nn.Tanh() for i in range(2 * layers))
    return torch.nn.Sequential(*parts)


def contenders(layers: int) -> dict[str, Callable[[], object]]:
    net, x = model(layers), torch.ones(4, 8)
    loss = net(x).sum()
    parameters = dict(net.named_parameters())

    def drawn_by_torchviz() -> bytes:
        source = torchviz.make_dot(loss, params=parameters).source
        return render(source, "svg", PATIENCE, here=6 * layers <= IN_PROCESS)  # as viz does it

    def drawn(**options: object) -> str:
        laid_out.cache_clear()
        return viz.draw(loss, **options).svg

    return {
        "viz.draw": drawn,
        "viz.draw, every node": lambda: drawn(view="functions", fold=False),
        "torchviz": drawn_by_torchviz,
        "torchlens, without its picture": lambda: torchlens.trace(net, x),
    }


def main() -> list[str]:
    for nodes, layers in LAYERS.items():
        runs, given_up = contenders(layers), {}
        for name in list(runs):
            try:
                runs[name]()
            except LayoutTooSlow:
                given_up[name] = f"more than {PATIENCE:g} s"
            except RecursionError:
                given_up[name] = "fails: RecursionError"
        runs = {name: run for name, run in runs.items() if name not in given_up}
        peer = "torchviz" if "torchviz" in runs else "viz.draw"
        print(compare(f"first picture, {nodes:,} nodes", runs, peer, rounds=5 if nodes < 3_000 else 3))
        print(*(f"  {name}  {why}" for name, why in given_up.items()), sep="\n")
    return []
