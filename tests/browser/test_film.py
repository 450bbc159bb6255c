"""The film on a page: its numbers against the framework's own hooks, keys, clicks, narrow windows, the stepper inside."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

import viz
from tests.browser.pages import opened
from viz.film.findings import say
from viz.film.show import page

# every text that is painted, by canvas: the last frame's are those since the last clearRect
PAINTED = """
globalThis.painted = [];
const own = CanvasRenderingContext2D.prototype, { fillText, clearRect } = own;
own.fillText = function (text, ...more) { globalThis.painted.push(text); return fillText.call(this, text, ...more); };
own.clearRect = function (...more) { globalThis.painted.length = 0; return clearRect.call(this, ...more); };
"""


def two(tensor: Any) -> str:
    """The norm of a tensor as the page writes it."""
    return say(np.float32(np.log10(np.linalg.norm(np.asarray(tensor.detach().numpy(), np.float64)))))


def trained(t: Any, steps: int = 6, **options: Any) -> tuple[viz.Film, list[dict[str, str]]]:
    """A film, and for each step what hooks of our own saw: what each row receives, and the numbers of the leaves."""
    t.manual_seed(0)
    layers = [t.nn.Linear(3, 5), t.nn.Linear(5, 5), t.nn.Linear(5, 1)]
    named = {f"l{i}.{k}": p for i, layer in enumerate(layers) for k, p in layer.named_parameters()}
    x = t.randn(16, 3)
    film, seen = viz.film(names=named, title="three layers", **options), []
    for _ in range(steps):
        now: dict[str, str] = {}
        h = x
        for i, layer in enumerate(layers):
            h = layer(h)
            if i < 2:
                h = h.relu()
            h.register_hook(lambda g, i=i, now=now: now.__setitem__(f"l{i}", two(g)))
        for p in named.values():
            p.grad = None
        for name, p in named.items():
            now[f"{name} value"] = two(p)
        film.backward(((h - x.sum(dim=1, keepdim=True)) ** 2).mean())
        for name, p in named.items():
            now[f"{name} grad"] = two(p.grad)
        seen.append(now)
        with t.no_grad():
            for p in named.values():
                p -= 0.05 * p.grad
    return film, seen


@pytest.mark.parametrize("framework", ["minigrad", "torch"])
def test_every_number_is_the_frameworks_own(
    browser: Browser, tmp_path: Path, framework: str, request: pytest.FixtureRequest
):
    t = request.getfixturevalue("torch") if framework == "torch" else importlib.import_module(framework)
    film, seen = trained(t)
    text = page([film], None, title=None).replace("<script>", f"<script>{PAINTED}</script><script>", 1)
    with opened(browser, text, tmp_path, viewport={"width": 1280, "height": 900}) as pane:
        for step, now in enumerate(seen):
            told = pane.page.locator(f'.mgf[data-told="{step}"]')
            told.wait_for()
            rows = {
                row.locator("th").inner_text(): row.locator("td").all_inner_texts()
                for row in pane.page.locator(".mgf-sr tr").all()
            }
            painted = pane.page.evaluate("[...painted]")
            assert list(rows) == ["l2", "l1", "l0"]
            for name, parts in rows.items():
                assert parts[0].split("receives ")[1].split(",")[0].split(";")[0] == now[name]
                assert now[name] in painted
                for leaf in ("weight", "bias"):
                    [text] = [part for part in parts if part.startswith(f"{name}.{leaf} ")]
                    value, grad = now[f"{name}.{leaf} value"], now[f"{name}.{leaf} grad"]
                    assert f"‖value‖ {value}, ‖grad‖ {grad}, " in text
                    assert value in painted and grad in painted
            pane.press("ArrowRight")


@pytest.fixture
def film() -> viz.Film:
    return trained(importlib.import_module("minigrad"), 12, keep=[3])[0]


def test_keys_slider_and_clicks_move_through_the_training(browser: Browser, tmp_path: Path, film: viz.Film):
    with opened(browser, page([film], None, title=None), tmp_path) as pane:
        pane.at(0)
        pane.press("ArrowRight", "ArrowRight")
        pane.at(2)
        pane.press("End")
        pane.at(11)
        pane.press("PageUp")
        pane.at(1)
        pane.button("Back one frame").click()
        pane.at(0)
        pane.page.get_by_role("slider", name="Training step").fill("7")
        pane.at(7)
        pane.press("ArrowDown", "ArrowDown")
        expect(pane.page.locator(".mgf-row b")).to_have_text("l1")
        canvas = pane.page.locator(".mgf-view canvas").last
        box = canvas.bounding_box()
        canvas.click(position={"x": box["width"] - 16, "y": box["height"] - 40})  # the ribbon's last cell
        pane.at(11)
        expect(pane.page.locator(".mgf-row b")).to_have_text("l0")
        pane.press("Home")
        pane.page.get_by_label("Speed of play").select_option("30/s")
        pane.press("Space")
        pane.at(11)
        expect(pane.button("Play")).to_be_visible()


def test_a_frame_that_was_kept_opens_in_the_stepper(browser: Browser, tmp_path: Path, film: viz.Film):
    with opened(browser, page([film], None, title=None), tmp_path) as pane:
        inside = pane.button("Step inside ◆")
        expect(inside).to_be_disabled()
        pane.press("ArrowRight", "ArrowRight", "ArrowRight")
        pane.at(3)
        inside.click()
        stepper = pane.page.locator(".mgf-inner .mgv")
        expect(stepper).to_have_attribute("data-step", "0")
        pane.page.keyboard.press("ArrowRight")
        expect(stepper).to_have_attribute("data-step", "1")
        expect(pane.page.locator(".mgf")).to_have_attribute("data-step", "3")  # the film stands still
        pane.button("Close").click()
        expect(stepper).to_have_count(0)


def test_a_finding_is_a_button_to_its_step(browser: Browser, tmp_path: Path):
    t = importlib.import_module("minigrad")
    w, made = t.tensor([4.0, 1.0], requires_grad=True), viz.film()
    for step in range(6):
        w.grad = None
        made.backward(((w * (0.0 if step == 3 else 1.0)).sqrt() * 2).tanh().sum())
    with opened(browser, page([made], None, title=None), tmp_path) as pane:
        pane.press("End")
        word = pane.page.locator(".mgf-word", has_text="SqrtBackward0")
        word.click()
        pane.at(3)
        expect(word).to_contain_text("begins here")


@pytest.mark.parametrize("width", [1280, 900, 480])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_window_in_both_themes(
    browser: Browser, tmp_path: Path, film: viz.Film, width: int, scheme: str
):
    window = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    with opened(browser, page([film, film], ["a", "b"], title=None), tmp_path, **window) as pane:
        assert pane.page.evaluate("document.documentElement.scrollWidth") <= width
        pane.press("End", "r")
        pane.at(11)
        for canvas in pane.page.locator(".mgf-view canvas").all():
            assert canvas.bounding_box()["width"] <= width


def test_a_frame_changes_within_a_sixtieth_of_a_second(browser: Browser, tmp_path: Path, film: viz.Film):
    from benchmarks.bench_film import WALK

    with opened(browser, page([film], None, title=None), tmp_path) as pane:
        took = sorted(pane.page.evaluate(WALK))
        assert took[len(took) // 2] <= 16
