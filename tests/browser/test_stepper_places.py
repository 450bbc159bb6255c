"""Nothing in the picture of a pane covers anything else, and no text is too small: for the gallery and PyTorch programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import minigrad
import viz
from tests.browser.pages import opened
from tests.browser.test_stepper_fit import PROGRAMS, TEXTS_UP_TO, check
from tests.viz_gallery import GALLERY
from tools.gallery import OWN
from viz.show.page import page
from viz.show.payload import payload

OVERLAPS = Path(__file__).with_name("overlaps.js").read_text(encoding="utf-8")
# elements that cover or hide the firing node
HIDDEN = """() => {
    const now = document.querySelector('.mgv-svg .mgv-firing .shape')?.getBoundingClientRect();
    const rect = (name) => document.querySelector(name).getBoundingClientRect(), view = rect('.mgv-view');
    const over = (a) => Math.min(a.right, now.right) - Math.max(a.left, now.left) > 1
        && Math.min(a.bottom, now.bottom) - Math.max(a.top, now.top) > 1;
    if (!now) return [];
    const beside = now.left < view.left - 1 || now.right > view.right + 1;
    const away = beside || now.top < view.top - 1 || now.bottom > view.bottom + 1;
    return [...['.mgv-zoom'].filter((name) => over(rect(name))), ...(away ? ['the border'] : [])];
}"""
# how much wider the picture is than its view
BEYOND = """() => document.querySelector('.mgv-svg').getBoundingClientRect().width
    - document.querySelector('.mgv-view').clientWidth + 16"""
SMALLEST = 8.99  # pixels: no text in the picture may be smaller, however little space there is


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


def skips(t: Any) -> tuple[Any, Any]:
    conv, f = t.nn.Conv2d, t.nn.functional

    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = t.nn.ModuleList([conv(1, 4, 3, padding=1), conv(4, 8, 3, padding=1)])
            self.middle, self.out = conv(8, 8, 3, padding=1), conv(4, 1, 1)
            self.decoder = t.nn.ModuleList([conv(16, 4, 3, padding=1), conv(8, 4, 3, padding=1)])

        def forward(self, x):
            kept = []
            for layer in self.encoder:
                kept.append(layer(x).relu())
                x = f.max_pool2d(kept[-1], 2)
            x = self.middle(x).relu()
            for layer in self.decoder:
                x = layer(t.cat([f.interpolate(x, scale_factor=2), kept.pop()], 1)).relu()
            return self.out(x)

    net = Net()
    return net, net(t.randn(1, 1, 8, 8)).pow(2).mean()


def judged(t: Any) -> tuple[Any, Any]:
    n, loss = t.nn, t.nn.BCELoss()
    maker = n.Sequential(n.Linear(2, 8), n.ReLU(), n.Linear(8, 4))
    judge = n.Sequential(n.Linear(4, 8), n.LeakyReLU(0.2), n.Linear(8, 1), n.Sigmoid())
    real, made = judge(t.randn(3, 4)), judge(maker(t.randn(3, 2)))
    return n.ModuleDict({"G": maker, "D": judge}), loss(real, t.ones(3, 1)) + loss(made, t.zeros(3, 1))


def dense(t: Any) -> tuple[Any, Any]:
    class Layer(t.nn.Module):
        def __init__(self, wide):
            super().__init__()
            self.norm, self.conv = t.nn.BatchNorm2d(wide), t.nn.Conv2d(wide, 3, 3, padding=1)

        def forward(self, x):
            return self.conv(self.norm(x).relu())

    net, made = t.nn.ModuleList([Layer(2 + 3 * i) for i in range(4)]), [t.randn(2, 2, 5, 5)]
    for layer in net:
        made.append(layer(t.cat(made, 1)))
    return net, t.cat(made, 1).mean()


def cells(t: Any) -> tuple[Any, Any]:
    cell, h = t.nn.LSTMCell(3, 4), t.zeros(2, 4)
    c = h
    for x in t.randn(2, 2, 3):
        h, c = cell(x, (h, c))
    return cell, t.nn.functional.mse_loss(h, t.ones(2, 4))


def triplet(t: Any) -> tuple[Any, Any]:
    net = t.nn.Sequential(t.nn.Linear(4, 6), t.nn.Tanh(), t.nn.Linear(6, 3))
    a, b, c = (net(t.randn(3, 4)) for _ in range(3))
    return net, ((a - b).pow(2).sum(1) - (a - c).pow(2).sum(1) + 1).relu().mean()


def vae(t: Any) -> tuple[Any, Any]:
    sizes = {"enc": (6, 5), "mu": (5, 2), "logvar": (5, 2), "dec": (2, 5), "out": (5, 6)}
    net, x = t.nn.ModuleDict({name: t.nn.Linear(*size) for name, size in sizes.items()}), t.rand(3, 6)
    h = net["enc"](x).relu()
    mu, logvar = net["mu"](h), net["logvar"](h)
    z = mu + (0.5 * logvar).exp() * t.randn(3, 2)
    again = net["out"](net["dec"](z).relu()).sigmoid()
    apart = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum()
    return net, t.nn.functional.binary_cross_entropy(again, x, reduction="sum") + apart


def siamese(t: Any) -> tuple[Any, Any]:
    """One network used twice, and a loss with an arrow that goes past a whole column."""

    class Siamese(t.nn.Module):
        def __init__(self):
            super().__init__()
            conv = lambda i, o: (t.nn.Conv2d(i, o, 5), t.nn.ReLU())  # noqa: E731
            self.cnn = t.nn.Sequential(
                *conv(1, 8), t.nn.MaxPool2d(2), *conv(8, 16), t.nn.AdaptiveAvgPool2d(2)
            )
            self.fc = t.nn.Sequential(t.nn.Linear(64, 32), t.nn.ReLU(), t.nn.Linear(32, 8))

        def forward(self, x):
            return self.fc(self.cnn(x).flatten(1))

    net, label = Siamese(), t.tensor([0.0, 1.0, 1.0, 0.0])
    d = t.nn.functional.pairwise_distance(net(t.randn(4, 1, 28, 28)), net(t.randn(4, 1, 28, 28)))
    return net, ((1 - label) * d**2 + label * t.clamp(2 - d, min=0) ** 2).mean()


FEW: dict[str, Callable] = {f.__name__: f for f in (unet, gan, skips, judged, dense, cells, triplet, vae)}
NAMED: dict[str, Callable] = {f.__name__: f for f in (towers, deep, gated, encoder, siamese)} | FEW


SLIDE = """(k) => { const slider = document.querySelector('.mgv-slider'); slider.value = k;
    slider.dispatchEvent(new Event('input', { bubbles: true })); }"""


def looker(data: dict, arrows: bool = False) -> Callable[[Page, int], None]:
    """A check that nothing lies over anything at the start, in the middle and at the end of the pass."""
    steps = len(data["steps"])

    def look(page: Page, width: int) -> None:
        for step in (0, steps // 3, steps // 2, steps):
            page.evaluate(SLIDE, step)
            seen = page.evaluate(OVERLAPS)
            assert seen["found"] == [], f"{width} px, step {step}"
            assert not arrows or seen["adrift"] == [], f"{width} px, step {step}"
            assert page.evaluate(HIDDEN) == [], f"{width} px, step {step}"
            assert min(seen["sizes"].values()) >= SMALLEST, f"{width} px, step {step}: {seen['sizes']}"
        page.evaluate(SLIDE, 0)

    return look


@pytest.mark.parametrize("name", PROGRAMS | NAMED)
def test_a_pytorch_program_is_seen_whole_and_nothing_lies_over_anything(browser, tmp_path, torch, name):
    torch.manual_seed(0)
    if name in PROGRAMS:
        loss = PROGRAMS[name](torch)
        assert viz.draw(loss).places.width <= 2_600
    else:
        net, loss = NAMED[name](torch)
        assert list(net.parameters())  # its parameters are named after this module
    data = payload(loss)
    assert name not in FEW or 20 < len(data["steps"]) <= TEXTS_UP_TO
    arrows = name in ("siamese", "cells", "judged", "vae")
    check(page(data), browser, tmp_path, len(data["steps"]), looker(data, arrows))


@pytest.mark.parametrize("name", GALLERY | OWN)
def test_the_gallery_is_seen_whole_and_nothing_lies_over_anything(browser, tmp_path, name):
    result, names = (GALLERY | OWN)[name](minigrad)
    roots = result if isinstance(result, list) else [result]
    if name == "freed":  # it can only be drawn
        with pytest.raises(RuntimeError, match="a second time"):
            payload(*roots, names=names)
        return
    data = payload(*roots, names=names)
    check(page(data), browser, tmp_path, len(data["steps"]), looker(data))


@pytest.mark.parametrize("name", FEW)
def test_what_is_small_enough_is_seen_whole_without_the_names_of_a_net_too(browser, tmp_path, torch, name):
    torch.manual_seed(0)
    data = payload(FEW[name](torch)[1])
    assert 20 < len(data["steps"]) <= TEXTS_UP_TO
    check(page(data), browser, tmp_path, len(data["steps"]))


@pytest.mark.parametrize("width", [900, 480, 360])
@pytest.mark.parametrize("name", ["transformer", *FEW])
def test_what_stands_in_boxes_that_were_opened_lies_over_nothing(browser, tmp_path, torch, name, width):
    torch.manual_seed(0)
    loss = PROGRAMS[name](torch) if name in PROGRAMS else FEW[name](torch)[1]
    with opened(browser, page(payload(loss)), tmp_path, viewport={"width": width, "height": 768}) as pane:
        boxes = pane.page.locator('[data-toggle][aria-expanded="false"]')
        opened_boxes = pane.page.locator('[data-toggle][aria-expanded="true"]')
        assert boxes.count() > 1 or width < 900
        for _ in range(min(6, boxes.count())):
            before = opened_boxes.count()
            boxes.first.press("Enter")  # there may be closed ones in it
            expect(opened_boxes).to_have_count(before + 1)
            seen = pane.page.evaluate(OVERLAPS)
            assert seen["found"] == []
            assert min(seen["sizes"].values()) >= SMALLEST
            # an opened box makes the picture taller
            assert width == 900 or pane.page.evaluate(BEYOND) <= 1
