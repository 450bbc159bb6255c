"""How long one step takes in the browser: classes, painted cells and panels, with style and layout of the whole page; how long
the pane takes to appear; and whether walking leaves anything behind in memory.

    .venv/bin/python -m benchmarks.bench_stepper

A step must fit into a frame, 16 ms, on a graph of 1,000 nodes; the pane must appear within a second. Needs playwright and
Chromium.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import minigrad as mg
from tools.jupyterlab import chromium
from viz.show.page import page
from viz.show.payload import payload

FRAME = 16.0  # ms

# steps first to last, forwards through the slider's own handler; then style and layout are forced, as before a paint
WALK = """([first, last]) => {
    const slider = document.querySelector(".mgv-slider"), view = document.querySelector(".mgv-view");
    const script = [], whole = [];
    for (let k = first; k <= Math.min(last, Number(slider.max)); k++) {
        const start = performance.now();
        slider.value = k;
        slider.dispatchEvent(new Event("input"));
        script.push(performance.now() - start);
        document.body.offsetHeight; view.querySelector("svg").getBoundingClientRect();
        whole.push(performance.now() - start);
    }
    return [script, whole];
}"""

# one step per frame, as in play: what the browser needs from one frame to the next, painting included
FRAMES = """() => new Promise((done) => {
    const slider = document.querySelector(".mgv-slider"), times = [];
    let k = 0, last = 0;
    const next = (now) => {
        if (last) times.push(now - last);
        last = now;
        if (k === Number(slider.max)) return done(times);
        slider.value = ++k;
        slider.dispatchEvent(new Event("input"));
        requestAnimationFrame(next);
    };
    slider.value = 0;
    slider.dispatchEvent(new Event("input"));
    requestAnimationFrame(next);
})"""


def heap(session) -> float:
    """MB of live objects and the DOM nodes in them."""
    session.send("HeapProfiler.collectGarbage")
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    return metrics["JSHeapUsedSize"] / 1e6


def chain(nodes: int) -> mg.Tensor:
    x = mg.tensor([[0.5, -0.25, 1.0]], requires_grad=True)
    for _ in range(nodes - 1):
        x = x.tanh()
    return x.sum()


def ladder(nodes: int) -> mg.Tensor:
    """Every value used twice: sums of parts, waiting nodes."""
    x = mg.tensor([[0.5, -0.25, 1.0]], requires_grad=True)
    for _ in range(nodes // 3):
        x = x.sin() + x.cos()
    return x.sum()


def quantile(times: list[float], q: float) -> float:
    return sorted(times)[min(len(times) - 1, int(q * len(times)))]


def main() -> None:
    print(
        f"{'graph':<18}{'steps':>6}{'ready after':>13}{'script, median':>16}{'with layout':>13}{'95 %':>9}"
        f"{'from frame to frame':>21}{'heap grows':>13}   (ms; a frame is {FRAME:g})"
    )
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for build, nodes in [(chain, 30), (chain, 300), (ladder, 300), (chain, 1000)]:
            file = Path(folder) / "page.html"
            file.write_text(page(payload(build(nodes), view="functions", check=False)), encoding="utf-8")
            window = browser.new_page(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
            window.goto(file.as_uri())
            window.wait_for_selector(".mgv[data-ready]")
            ready = window.evaluate("recorded.ready")
            session = window.context.new_cdp_session(window)
            session.send("Performance.enable")
            script, whole = window.evaluate(WALK, [1, 10 * nodes])
            before = heap(session)
            frames = window.evaluate(FRAMES)
            grown = heap(session) - before
            window.close()
            label = f"{build.__name__} of {nodes}"
            row = (quantile(script, 0.5), quantile(whole, 0.5), quantile(whole, 0.95))
            print(
                f"{label:<18}{len(whole):>6}{ready:>13.0f}{row[0]:>16.2f}{row[1]:>13.2f}{row[2]:>9.2f}"
                f"{quantile(frames, 0.5):>21.1f}{grown:>10.2f} MB"
            )


if __name__ == "__main__":
    main()
