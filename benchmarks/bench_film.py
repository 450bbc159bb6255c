"""The cost of a frame of viz.film in a 12-layer MLP (60 edges): a backward pass with a frame, without one, and without a film.

    .venv/bin/python -m benchmarks.bench_film

The forward pass is not timed. A pass with a frame may take 2.6 times the plain one at width 24 and 1.6 times at width 128; a
pass between two frames costs nothing measurable. Then the time that the player takes to change a frame in Chromium, with 60
and with 1,000 edges: at most 16 ms. Needs torch, playwright and Chromium.
"""

from __future__ import annotations

import gc
import importlib
import tempfile
import time
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np

import viz

ROUNDS = 120
LIMITS = {24: 2.6, 128: 1.6}  # × plain
NO_FRAME = 1.1
CHANGE = 16.0  # ms for a frame change, with style, layout and painting on the canvas

# every frame through the slider's own handler
WALK = """() => {
    const slider = document.querySelector(".mgf .mgv-slider");
    const times = [];
    for (let k = 1; k <= Number(slider.max); k++) {
        const start = performance.now();
        slider.value = k;
        slider.dispatchEvent(new Event("input"));
        document.body.offsetHeight;
        times.push(performance.now() - start);
    }
    return times;
}"""


def net(t: ModuleType, width: int, act: str) -> Any:
    """Twelve layers; their backward graph has 60 edges in PyTorch."""
    layers, inputs = [], 2
    for i in range(12):
        layers.append(t.nn.Linear(inputs, 1 if i == 11 else width))
        inputs = width
        if i < 11:
            layers.append(getattr(t.nn, act)())
    return t.nn.Sequential(*layers)


def passes(t: ModuleType, width: int, act: str, rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds of one backward pass, by contender: medians of rounds in which all take their turn."""
    t.manual_seed(0)
    model, x = net(t, width, act), t.randn(256, 2)
    y = (x[:, 0] > 0).float()
    optimizer = t.optim.SGD(model.parameters(), lr=0.01)
    films = {
        "a frame": viz.film(names=dict(model.named_parameters())),
        "between frames": viz.film(every=10**9),
    }
    films["between frames"]._passes = 1
    runs = {"plain": lambda loss: loss.backward()} | {name: f.backward for name, f in films.items()}
    took: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds + 5):
            shift = number % len(names)
            for name in names[shift:] + names[:shift]:
                loss = t.nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
                optimizer.zero_grad()
                started = time.thread_time()
                runs[name](loss)
                took[name].append(time.thread_time() - started)
            optimizer.step()
            if number % 20 == 0:
                gc.collect()
    finally:
        gc.enable()
    assert not films["a frame"].notes
    least = {name: min(times[5:]) for name, times in took.items()}
    return (
        {name: float(np.quantile(times[5:], 0.5)) for name, times in took.items()}
        | {
            f"× {name}": median(a / b for a, b in zip(took[name][5:], took["plain"][5:], strict=True))
            for name in names
        }
        | {f"least {name}": least[name] / least["plain"] for name in names}
    )


def recurrent(steps: int) -> viz.Film:
    """A film of an unrolled net: eight edges per time step."""
    import minigrad as t

    t.manual_seed(0)
    w, u, b = (
        t.randn(4, 4).requires_grad_(True),
        t.randn(4, 4).requires_grad_(True),
        t.zeros(4, requires_grad=True),
    )
    film = viz.film()
    for _ in range(40):
        h, w.grad, u.grad, b.grad = t.zeros(2, 4), None, None, None
        for x in t.randn(steps, 2, 4):
            h = (x @ u + h @ w + b).tanh()
        film.backward(h.mean())
        with t.no_grad():
            w *= 0.97
    return film


def changes() -> list[str]:
    """Milliseconds of a frame change in the browser."""
    from tools.jupyterlab import chromium

    broken = []
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for steps in (8, 142):
            film = recurrent(steps)
            edges = len(film._tables[0].scene.edges)
            file = film.save(Path(folder) / "film.html")
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(file.as_uri())
            page.wait_for_selector(".mgf[data-ready]")
            page.evaluate(WALK)
            took = median(page.evaluate(WALK))
            page.close()
            print(f"a frame change, {edges:5} edges: {took:.1f} ms", flush=True)
            if took > CHANGE:
                broken.append(f"a frame change with {edges} edges takes {took:.1f} ms; limit {CHANGE}")
    return broken


def main() -> list[str]:
    broken = changes()
    for framework in ("torch", "minigrad"):
        t = importlib.import_module(framework)
        if framework == "torch":
            t.set_num_threads(1)
        for width, limit in LIMITS.items():
            for act in ("Sigmoid", "ReLU"):
                found = passes(t, width, act, ROUNDS if width == 24 else 40)
                frame, between = found["× a frame"], found["× between frames"]
                print(
                    f"{framework:9} {act:8} width {width:4}: plain {1e3 * found['plain']:.2f} ms, with a frame × {frame:.2f} "
                    f"(least by least {found['least a frame']:.2f}), between frames × {between:.2f}",
                    flush=True,
                )
                if frame > limit:
                    where = f"{framework}, {act}, width {width}"
                    broken.append(f"a frame takes {frame:.2f} times the pass ({where}); limit {limit}")
                if between > NO_FRAME:
                    broken.append(
                        f"a pass between frames takes {between:.2f} times the plain one; limit {NO_FRAME}"
                    )
    return broken


if __name__ == "__main__":
    print("\n".join(main()))
