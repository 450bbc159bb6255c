"""The pane as it opens: what can be read, what is in sight, what is cut off, on real PyTorch programs and on the gallery."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import minigrad
import viz
from tests.browser.pages import opened
from tests.viz_gallery import GALLERY
from viz.show.page import page
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


PROGRAMS: dict[str, Callable] = {f.__name__: f for f in (transformer, attention, lstm, cnn, residual, mlp)}
TEXTS_UP_TO = 40  # nodes; in a larger graph one may have to walk
LOOK = """() => {
    const view = document.querySelector('.mgv-view').getBoundingClientRect(), svg = document.querySelector('.mgv-svg');
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const between = (low, a, b, high) => a >= low - 1 && b <= high + 1;
    const inside = (r) => between(view.left, r.left, r.right, view.right) && between(view.top, r.top, r.bottom, view.bottom);
    const texts = [...svg.querySelectorAll('.node > text')];
    return {
        least: Math.min(...texts.map((text) => Number(text.getAttribute('font-size')) * scale)),
        outside: texts.filter((text) => !inside(text.getBoundingClientRect())).map((text) => text.textContent),
        tall: document.querySelector('.mgv-frame').offsetHeight / innerHeight,
        sideways: document.documentElement.scrollWidth - innerWidth,
        cut: [...document.querySelectorAll('.mgv-bar button, .mgv-bar select, .mgv-bar input, .mgv-col')]
            .filter((el) => el.offsetWidth).map((el) => [el.className, el.getBoundingClientRect()])
            .filter(([, r]) => !between(0, r.left, r.right, innerWidth)).map(([name]) => name),
    };
}"""


def look(browser: Browser, html: str, tmp: Path, width: int, height: int) -> dict:
    with opened(browser, html, tmp, viewport={"width": width, "height": height}) as pane:
        return pane.page.evaluate(LOOK)


def check(data: dict, browser: Browser, tmp: Path) -> None:
    html = page(data)
    for size in ((1280, 800), (1366, 768)):
        seen = look(browser, html, tmp, *size)
        assert seen["least"] >= 8.99, size
        assert seen["outside"] == [] or len(data["steps"]) > TEXTS_UP_TO, size
        assert seen["tall"] <= 0.85 and seen["sideways"] <= 0 and seen["cut"] == [], size


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_pytorch_program_is_seen_whole_and_can_be_read(browser: Browser, tmp_path: Path, torch, name):
    torch.manual_seed(0)
    loss = PROGRAMS[name](torch)
    drawing = viz.draw(loss)
    assert drawing.places.width <= 2_600
    check(payload(loss), browser, tmp_path)


@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_is_seen_whole_and_can_be_read(browser: Browser, tmp_path: Path, name):
    result, names = GALLERY[name](minigrad)
    roots = result if isinstance(result, list) else [result]
    try:
        data = payload(*roots, names=names)
    except RuntimeError as error:
        assert "a second time" in str(
            error
        )  # a graph that was freed is in the gallery, too: it can only be drawn
        return
    check(data, browser, tmp_path)


@pytest.mark.parametrize("width", [900, 480, 360])
@pytest.mark.parametrize("name", ["transformer", "mlp"])
def test_nothing_is_cut_off_on_a_narrow_screen(browser: Browser, tmp_path: Path, torch, name, width):
    torch.manual_seed(0)
    seen = look(browser, page(payload(PROGRAMS[name](torch))), tmp_path, width, 800)
    assert seen["sideways"] <= 0 and seen["cut"] == []
    assert seen["tall"] <= 0.85 and seen["least"] >= 8.99
