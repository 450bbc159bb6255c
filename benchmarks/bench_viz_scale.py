"""Large graphs: how long `viz.draw` takes to show 1,000, 10,000 and 100,000 nodes, against torchviz on the same graphs;
and the pane of `viz.step` on PyTorch nets of 30, 300 and 3,000 nodes: the size of its page, a step through it in the
browser (folded, with every leaf on show, and unfolded), and the first picture in JupyterLab.

A step is measured with style and layout of the whole page, each the best of three runs, so that other load on the machine does
not count. In a pass of thousands of steps, six stretches of 60 are measured. The first picture is measured from the
key that runs the cell, the best of five.

torchviz writes DOT and leaves the layout to a Graphviz on the machine; here both are laid out by the Graphviz in
pygraphviz's wheel, in a child process that is stopped after LIMIT seconds. Needs torch; torchviz is left out where it is
not installed (pip install torchviz).
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import torch
from nbformat.v4 import new_code_cell, new_notebook

import minigrad
import viz
from benchmarks.bench_stepper import WALK, quantile
from tools.jupyterlab import Lab, chromium
from viz.picture.layout import laid_out
from viz.show.page import page
from viz.show.payload import payload

LIMIT = 20.0
WANTED = {"MLP, 1,000 nodes": 0.5, "RNN, 1,000 nodes, folded": 0.5, "RNN, 10,000 nodes": 2.0}
CHILD = (
    "import sys, pygraphviz; "
    "sys.stdout.buffer.write(pygraphviz.AGraph(string=sys.stdin.read()).draw(format='svg', prog='dot'))"
)


NET = """import torch, viz
def net(layers):
    many = [m for _ in range(layers) for m in (torch.nn.Linear(4, 4), torch.nn.Tanh())]
    return torch.nn.Sequential(*many)(torch.randn(2, 4)).pow(2).mean()
viz.step(net(2))"""
LAYERS = {5: 70, 60: None, 590: 800}  # for 27, 302 and 2,952 nodes; the values limit the page, in kB
FIRST = {60: 0.5, 590: 2.0}  # seconds until the first picture appears in JupyterLab
MEDIAN, WORST = 16.0, 50.0  # ms, limits of a step
STRETCHES, STRETCH = 6, 60  # how many stretches of a long pass are walked, and the steps of each


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


def walked(browser, html: str, leaves: bool = False) -> tuple[float, float]:
    """Median and worst step of a page in ms: for each step the best of three runs. A long pass is sampled in STRETCHES
    stretches, spread evenly from the first step to the last, with a paint between them."""
    window = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(html, encoding="utf-8")
        window.goto(file.as_uri())
        window.wait_for_selector(".mgv[data-ready]", timeout=120_000)
    if leaves:
        window.click(".mgv-col-grad summary")
    steps = int(window.locator(".mgv-slider").get_attribute("max") or 0)
    whole = steps <= STRETCHES * STRETCH
    starts = [1] if whole else [1 + i * (steps - STRETCH) // (STRETCHES - 1) for i in range(STRETCHES)]
    best: list[float] = []
    for first in starts:
        window.evaluate("first => { document.querySelector('.mgv-slider').value = first - 1; }", first)
        window.evaluate("() => new Promise(requestAnimationFrame)")
        last = steps if whole else first + STRETCH - 1
        walks = [window.evaluate(WALK, [first, last])[1] for _ in range(3)]
        best += [min(times) for times in zip(*walks, strict=True)]
    window.close()
    return quantile(best, 0.5), max(best)


def first_pictures(browser) -> dict[int, float]:
    """Seconds from running a cell with viz.step in JupyterLab until its picture appears."""
    cells = [NET, *(f"z{n} = [net({n}) for _ in range(5)]" for n in LAYERS)]
    forget = "from viz.picture.layout import laid_out; laid_out.cache_clear()"  # each is a first picture
    steps = [(n, f"{forget}; viz.step(z{n}.pop())") for n in LAYERS for _ in range(5)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    took: dict[int, float] = {}
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[1])
    with tempfile.TemporaryDirectory() as folder:
        book = new_notebook(
            cells=[new_code_cell(x) for x in [*cells, *(code for _, code in steps)]], metadata=kernel
        )
        nbformat.write(book, Path(folder) / "book.ipynb")
        with Lab(Path(folder)) as lab, lab.open(browser, "book.ipynb") as lesson:
            for i, n in enumerate([*[0] * len(cells), *(n for n, _ in steps)]):
                cell = lesson.page.locator(".jp-CodeCell").nth(i)
                cell.locator(".jp-InputArea-editor").click()
                started = time.perf_counter()
                lesson.page.keyboard.press("Control+Enter")
                if n:
                    cell.locator(".mgv[data-ready]").wait_for(timeout=60_000)
                    took[n] = min(took.get(n, 1e9), time.perf_counter() - started)
                idle = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
                lesson.page.wait_for_timeout(300)
                lesson.page.wait_for_function(idle, timeout=60_000)
                if n:  # one picture at a time, as for somebody who works on this cell
                    lesson.page.evaluate("jupyterapp.commands.execute('notebook:clear-cell-output')")
    return took


def panes() -> list[str]:
    broken = []
    scope: dict = {}
    exec(NET.replace("viz.step(net(2))", ""), scope)
    print(f"\n{'pane, PyTorch MLP':30}  {'page':>8}  {'step, median / worst':>22}")
    with chromium() as browser:
        for n, most in LAYERS.items():
            for how, options in [
                ("", {}),
                ("leaves on show", {}),
                ("unfolded", {"view": "functions", "fold": False}),
            ]:
                if how and n == 5:
                    continue
                data = payload(scope["net"](n), **options)
                html = page(data)
                median, worst = walked(browser, html, how == "leaves on show")
                name = f"{len(data['steps']):,} nodes {how}"
                print(f"{name:30}  {len(html) / 1000:5.0f} kB  {median:10.1f} / {worst:.1f} ms", flush=True)
                if not how and most and len(html) > 1000 * most:
                    broken.append(f"the page of {name} has {len(html) / 1000:.0f} kB, more than {most}")
                if median > MEDIAN or worst > WORST:
                    broken.append(f"a step of {name} takes {median:.1f} ms, at worst {worst:.1f}")
        for n, took in first_pictures(browser).items():
            print(f"first picture in JupyterLab, {n} layers: {took:.2f} s")
            if took > FIRST.get(n, 1e9):
                broken.append(f"the first picture of {n} layers takes {took:.2f} s, more than {FIRST[n]}")
    return broken


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
            laid_out.cache_clear()
            drawing = viz.draw(z, **options)
            assert drawing.svg
            items.append(len(drawing.picture.items))

        took = min(seconds(draw) for _ in range(3))
        other = by_torchviz(z) if peer and "folded" not in name and "100,000" not in name else ""
        print(f"{name:30}  {took:6.2f} s  {items[0]:>6,}  {other}", flush=True)
        if took > WANTED.get(name, 1e9):
            broken.append(f"viz.draw takes {took:.2f} s for {name}, more than {WANTED[name]} s")
    return broken + panes()


if __name__ == "__main__":
    sys.exit("\n".join(main()) or 0)
