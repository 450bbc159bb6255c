"""What stands in the picture of a pane lies over nothing else, and no text is small: on the gallery and on PyTorch programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import minigrad
from tests.browser.pages import opened, until
from tests.browser.test_stepper_fit import PROGRAMS
from tests.viz_gallery import GALLERY
from tools.gallery import OWN
from viz.show.page import page
from viz.show.payload import payload

OVERLAPS = Path(__file__).with_name("overlaps.js").read_text(encoding="utf-8")
SIZES = [(1366, 768), (1280, 800), (900, 768), (480, 800), (360, 740)]
# what lies over the node that fires, or hides it
HIDDEN = """() => {
    const now = document.querySelector('.mgv-svg .mgv-now .shape')?.getBoundingClientRect();
    const rect = (name) => document.querySelector(name).getBoundingClientRect(), view = rect('.mgv-view');
    const over = (a) => Math.min(a.right, now.right) - Math.max(a.left, now.left) > 1
        && Math.min(a.bottom, now.bottom) - Math.max(a.top, now.top) > 1;
    if (!now) return [];
    const beside = now.left < view.left - 1 || now.right > view.right + 1;
    const away = beside || now.top < view.top - 1 || now.bottom > view.bottom + 1;
    return [...['.mgv-map', '.mgv-zoom'].filter((name) => over(rect(name))), ...(away ? ['the border'] : [])];
}"""
SMALLEST = 8.99  # pixels, of every text in the picture, whatever there is room for


def unet(t: Any) -> tuple[Any, Any]:
    class UNet(t.nn.Module):
        def __init__(self):
            super().__init__()
            conv, up = t.nn.Conv2d, t.nn.ConvTranspose2d
            self.d1, self.d2, self.mid = (
                conv(1, 4, 3, padding=1),
                conv(4, 8, 3, padding=1),
                conv(8, 8, 3, padding=1),
            )
            self.u2, self.u1, self.out = up(16, 4, 2, stride=2), up(8, 4, 2, stride=2), conv(4, 1, 1)

        def forward(self, x):
            a = self.d1(x).relu()
            p = t.nn.functional.max_pool2d(a, 2)
            q = t.nn.functional.max_pool2d(self.d2(p).relu(), 2)
            c = self.u2(t.cat([self.mid(q).relu(), q], 1)).relu()
            return self.out(self.u1(t.cat([c, p], 1)).relu() + a)

    net, x = UNet(), t.randn(1, 1, 8, 8)
    return net, (net(x) - x).pow(2).mean()


def gan(t: Any) -> tuple[Any, Any]:
    n, bce = t.nn, t.nn.functional.binary_cross_entropy_with_logits
    maker = n.Sequential(n.Linear(2, 4), n.LeakyReLU(0.2), n.Linear(4, 3), n.Tanh())
    judge = n.Sequential(n.Linear(3, 4), n.LeakyReLU(0.2), n.Linear(4, 1))
    real, made = judge(t.randn(4, 3)), judge(maker(t.randn(4, 2)))
    return n.ModuleDict({"G": maker, "D": judge}), bce(real, t.ones(4, 1)) + bce(made, t.zeros(4, 1))


def towers(t: Any) -> tuple[Any, Any]:
    f, emb, q, d = t.nn.functional, t.nn.Embedding(7, 3), t.nn.Linear(3, 4), t.nn.Linear(3, 4)
    a, b = q(emb(t.tensor([[1, 2], [3, 4]])).mean(1)), d(emb(t.tensor([[1, 0], [5, 6]])).mean(1))
    apart = f.cross_entropy(f.normalize(a, dim=1) @ f.normalize(b, dim=1).T * 10, t.arange(2))
    tied = (emb(t.tensor([2])) @ emb.weight.T).logsumexp(1).mean()
    return t.nn.ModuleDict({"emb": emb, "q": q, "d": d}), apart + 0.1 * tied


def deep(t: Any) -> tuple[Any, Any]:
    net = t.nn.Sequential(*[m for _ in range(7) for m in (t.nn.Linear(4, 4), t.nn.Tanh())])
    return net, net(t.randn(2, 4)).pow(2).mean() * 0.5


def gated(t: Any) -> tuple[Any, Any]:
    class Block(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.g = t.nn.Linear(4, 4), t.nn.Linear(4, 4), t.nn.Linear(4, 4)

        def forward(self, x):
            return x + self.b(self.a(x).relu()) * self.g(x).sigmoid()

    net = t.nn.Sequential(*[Block() for _ in range(4)])
    return net, net(t.randn(2, 4)).pow(2).mean()


def encoder(t: Any) -> tuple[Any, Any]:
    net = t.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return net, net(t.randn(2, 3, 8)).pow(2).mean()


NAMED: dict[str, Callable] = {f.__name__: f for f in (unet, gan, towers, deep, gated, encoder)}


def look(browser: Browser, data: dict, tmp: Path) -> None:
    """At the start, in the middle and at the end of the pass, in windows of all sizes."""
    with opened(browser, page(data), tmp) as pane:
        slide = """(k) => { const slider = document.querySelector('.mgv-slider'); slider.value = k;
            slider.dispatchEvent(new Event('input', { bubbles: true })); }"""
        for width, height in SIZES:
            pane.page.set_viewport_size({"width": width, "height": height})
            until(
                pane.page, f"innerWidth === {width} && document.querySelector('.mgv').clientWidth < {width}"
            )
            pane.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            steps = len(data["steps"])
            for step in (0, steps // 3, steps // 2, steps):
                pane.page.evaluate(slide, step)
                seen = pane.page.evaluate(OVERLAPS)
                assert seen["found"] == [], f"{width} px, step {step}"
                assert pane.page.evaluate(HIDDEN) == [], f"{width} px, step {step}"
                assert min(seen["sizes"].values()) >= SMALLEST, f"{width} px, step {step}: {seen['sizes']}"


@pytest.mark.parametrize("name", PROGRAMS | NAMED)
def test_in_the_picture_of_a_pytorch_program_nothing_lies_over_anything(browser, tmp_path, torch, name):
    torch.manual_seed(0)
    if name in PROGRAMS:
        loss = PROGRAMS[name](torch)
    else:
        net, loss = NAMED[name](torch)
        assert list(net.parameters())  # its parameters are named by the module that stands here
    look(browser, payload(loss), tmp_path)


@pytest.mark.parametrize("name", GALLERY | OWN)
def test_in_a_picture_of_the_gallery_nothing_lies_over_anything(browser, tmp_path, name):
    if name == "freed":
        return  # it can only be drawn
    result, names = (GALLERY | OWN)[name](minigrad)
    look(browser, payload(*(result if isinstance(result, list) else [result]), names=names), tmp_path)
