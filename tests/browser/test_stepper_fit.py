"""The pane as it opens: what is readable, visible or cut off, in the lessons; test_stepper_places.py asks the same of PyTorch
programs and the gallery."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import minigrad
from tests.browser.pages import opened, until
from tests.test_viz_page import unpacked
from viz.show.page import asset, page, program, text_of, whole
from viz.show.payload import payload


def transformer(t: Any) -> Any:
    return t.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)(t.randn(2, 3, 8)).pow(2).mean()


def attention(t: Any) -> Any:
    x = t.randn(2, 3, 8)
    return t.nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x)[0].pow(2).mean()


def lstm(t: Any) -> Any:
    cell = t.nn.LSTMCell(3, 4)
    h = c = t.zeros(2, 4)
    for x in t.randn(12, 2, 3):
        h, c = cell(x, (h, c))
    return h.pow(2).mean()


def cnn(t: Any) -> Any:
    n = t.nn
    net = n.Sequential(
        *(n.Conv2d(1, 4, 3), n.BatchNorm2d(4), n.ReLU(), n.MaxPool2d(2), n.Conv2d(4, 8, 3), n.ReLU()),
        *(n.AdaptiveAvgPool2d(1), n.Flatten(), n.Dropout(0.5), n.Linear(8, 3)),
    )
    return n.functional.cross_entropy(net(t.randn(2, 1, 12, 12)), t.tensor([0, 2]))


def residual(t: Any) -> Any:
    class Block(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.up, self.down = t.nn.LayerNorm(3), t.nn.Linear(3, 4), t.nn.Linear(4, 3)

        def forward(self, x):
            return x + self.down(t.nn.functional.gelu(self.up(self.norm(x))))

    net = t.nn.Sequential(*(Block() for _ in range(20)))
    return net(t.randn(2, 3)).pow(2).mean()


def mlp(t: Any) -> Any:
    net = t.nn.Sequential(*[m for _ in range(5) for m in (t.nn.Linear(4, 4), t.nn.Tanh())])
    return net(t.randn(2, 4)).pow(2).mean()


NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
PROGRAMS: dict[str, Callable] = {f.__name__: f for f in (transformer, attention, lstm, cnn, residual, mlp)}
TEXTS_UP_TO = 40  # nodes; a larger graph, or a window narrower than 900 px, may have to be scrolled
LOOK = """() => {
    const view = document.querySelector('.mgv-view').getBoundingClientRect(), svg = document.querySelector('.mgv-svg');
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const between = (low, a, b, high) => a >= low - 1 && b <= high + 1;
    const inside = (r) => between(view.left, r.left, r.right, view.right) && between(view.top, r.top, r.bottom, view.bottom);
    const texts = [...svg.querySelectorAll('.node text')].filter((text) => !text.closest('.mgv-badge'));
    const at = (name) => document.querySelector(name).getBoundingClientRect();
    const under = (name, other) => at(name).top >= at(other).bottom - 1;
    return {
        least: Math.min(...texts.map((text) => Number(text.getAttribute('font-size')) * scale)),
        outside: texts.filter((text) => !inside(text.getBoundingClientRect())).map((text) => text.textContent),
        beyond: svg.getBoundingClientRect().width - (view.width - 16),
        tall: document.querySelector('.mgv-frame').offsetHeight / innerHeight,
        sideways: document.documentElement.scrollWidth - innerWidth,
        bar: document.querySelector('.mgv-bar').offsetHeight,
        stacked: under('.mgv-panels', '.mgv-stage') && under('.mgv-side', '.mgv-flow'),
        cut: [...document.querySelectorAll('.mgv-bar button, .mgv-bar select, .mgv-bar input, .mgv-col')]
            .filter((el) => el.offsetWidth).map((el) => [el.className, el.getBoundingClientRect()])
            .filter(([, r]) => !between(0, r.left, r.right, innerWidth)).map(([name]) => name),
    };
}"""
# every step: the height of the pane, the largest array, what is wider than its panel
WALK = """() => {
    const slider = document.querySelector('.mgv-slider'), frame = document.querySelector('.mgv-frame');
    const heights = new Set(), wide = new Set();
    let cells = 0;
    for (let k = 0; k <= Number(slider.max); k++) {
        slider.value = k;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        heights.add(frame.offsetHeight);
        for (const array of document.querySelectorAll('.mgv-cells'))
            cells = Math.max(cells, array.querySelectorAll('rect').length);
        for (const array of document.querySelectorAll('.mgv-matrix'))
            cells = Math.max(cells, array.children.length);
        for (const el of document.querySelectorAll('.mgv-panels, .mgv-flow, .mgv-side, .mgv-col'))
            if (el.scrollWidth > el.clientWidth + 1) wide.add(`${el.className} in step ${k}`);
    }
    slider.value = 0;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    return { heights: [...heights], cells, wide: [...wide] };
}"""
SIZES = [(1366, 768), (1280, 800), (900, 768), (704, 768), (480, 800), (360, 740)]
BESIDE = 704  # px: the width of a cell's output in JupyterLab, in a window of 900
ONE_LINE = 46  # px of the toolbar; from nine nodes on it has a search field


def steppers(file: Path) -> Iterator[tuple[str, int]]:
    """The passes saved in a notebook, as pages of the present front end, and how many nodes fire in each."""
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            shown = "".join(output.get("data", {}).get("text/html", ""))
            for frame in re.findall(r'srcdoc="([^"]*)"', shown):
                content = unpacked(unescape(frame))
                if "steps" in content["data"]:  # a film has frames
                    front = {"js": program("lanes", "forward", "narrow_layout"), "css": asset("stepper.css")}
                    options = {
                        key: v
                        for key, v in content["options"].items()
                        if key not in ("framed", "ask", "insist")
                    }
                    yield (
                        whole(
                            file.stem,
                            content | front | {"options": options, "data": text_of(content["data"])},
                            False,
                        ),
                        len(content["data"]["steps"]),
                    )


def check(
    html: str, browser: Browser, tmp: Path, nodes: int, also: Callable[[Page, int], None] | None = None
) -> None:
    """The page as it opens in windows of all sizes: what is readable and what is visible, also at each step of the pass;
    then whatever else a test checks, given the page and the width of the window."""
    with opened(browser, html, tmp) as pane:
        for width, height in SIZES:
            pane.page.set_viewport_size({"width": width, "height": height})
            key = f"window.innerWidth === {width} && document.querySelector('.mgv').clientWidth < {width}"
            until(pane.page, key)
            pane.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            seen = pane.page.evaluate(LOOK)
            assert seen["least"] >= 8.99, width
            whole = nodes <= (TEXTS_UP_TO if width >= 900 else 0)
            assert seen["outside"] == [] or not whole, width
            # the picture scrolls in one direction only
            assert seen["beyond"] <= 1 or nodes > TEXTS_UP_TO or width >= 900, width
            assert seen["tall"] <= 0.85 and seen["sideways"] <= 0 and seen["cut"] == [], width
            assert not seen["stacked"] or width < BESIDE, width
            assert seen["bar"] <= ONE_LINE or width < BESIDE or nodes > 8, width
            if width in (1280, BESIDE, 360):
                walked = pane.page.evaluate(WALK)
                assert len(walked["heights"]) == 1 and walked["cells"] <= 64 and walked["wide"] == [], width
            if also:
                also(pane.page, width)


@pytest.mark.parametrize("file", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda file: file.stem)
def test_every_stepper_of_the_lessons_is_seen_whole_and_can_be_read(browser: Browser, tmp_path: Path, file):
    for html, nodes in steppers(file):
        check(html, browser, tmp_path, nodes)


# how much of the highlighted line is scrolled out of view, in pixels; None if no line is highlighted
HIDDEN = """() => {
  const line = document.querySelector(".mgv-line[aria-current=step]"), at = line?.getBoundingClientRect();
  let hidden = at ? 0 : null;
  for (let el = line?.parentNode; el && !el.matches(".mgv"); el = el.parentNode) {
    const { top, bottom } = el.getBoundingClientRect();
    if (getComputedStyle(el).overflowY !== "visible") hidden = Math.max(hidden, top - at.top, at.bottom - bottom);
  }
  return [hidden, line?.querySelector("code").textContent ?? null];
}"""


@pytest.mark.parametrize("framework", ["minigrad", "torch"])
def test_the_source_stands_beside_the_picture_and_scrolls_to_its_line(browser, tmp_path, request, framework):
    t = request.getfixturevalue("torch") if framework == "torch" else minigrad
    lines = [f"    h{i} = (h{i - 1} * w).tanh()" for i in range(1, 66)]
    program = tmp_path / "program.py"
    text = ["def run(t, payload):", "    h0, w = t.ones(2), t.tensor(0.9, requires_grad=True)", *lines]
    program.write_text(
        "\n".join([*text, "    loss = h65.sum()", "    return payload(loss)"]), encoding="utf-8"
    )
    names: dict[str, Any] = {}
    exec(compile(program.read_text(encoding="utf-8"), program, "exec"), names)
    data = names["run"](t, payload)
    source = data["source"]["lines"]
    assert len(source) >= 60
    with opened(browser, page(data), tmp_path, viewport={"width": 1280, "height": 800}) as pane:
        seen = set()
        for number, step in enumerate(data["steps"], 1):
            pane.press("ArrowRight")
            pane.at(number)
            hidden, lit = pane.page.evaluate(HIDDEN)
            if step["line"] is None:
                continue
            assert lit.strip() == source[step["line"]].strip()
            assert hidden <= 1, f"step {number}: {hidden} px of {lit!r} are hidden"
            seen.add(lit)
        assert len(seen) >= 60
