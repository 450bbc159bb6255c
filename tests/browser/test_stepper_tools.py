"""The tools of the pane: search, saved memory, boxes that open, the strip, saved files and the legend, on closed boxes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

import minigrad as mg
import viz
from tests.browser.pages import Pane, opened, page_of, until
from viz.show.page import page
from viz.show.payload import payload

SIZE = {"viewport": {"width": 1280, "height": 800}}
LEAST = """() => {
    const svg = document.querySelector('.mgv-svg'), scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll('.node text')].filter((text) => !text.closest('.mgv-badge'));
    return Math.min(...texts.map((text) => Number(text.getAttribute('font-size')) * scale));
}"""


def model(t: Any) -> Any:
    class Block(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.qkv = t.nn.LayerNorm(8), t.nn.Linear(8, 24)
            self.up, self.down = t.nn.Linear(8, 16), t.nn.Linear(16, 8)

        def forward(self, x):
            q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
            x = x + t.softmax(q @ k.mT, -1) @ v
            return x + self.down(t.nn.functional.gelu(self.up(x)))

    t.manual_seed(0)
    return t.nn.Sequential(Block(), Block(), t.nn.Linear(8, 3))


@pytest.fixture
def data(torch: Any) -> dict:
    net = model(torch)
    return payload(torch.nn.functional.cross_entropy(net(torch.randn(4, 5, 8)).mean(1), torch.arange(4) % 3))


@pytest.mark.parametrize("word", ["softmax", "qkv", "gelu", "weight", "addmm", "0.norm"])
def test_what_is_in_closed_boxes_is_found_counted_and_gone_to(
    browser: Browser, tmp_path: Path, data: dict, word: str
):
    matches = {
        s["node"]
        for s in data["steps"]
        if not s["accumulate"] and word in f"{s['name']} {s['tensor']}".lower()
    }
    matches |= {leaf["node"] for leaf in data["leaves"] if word in leaf["name"].lower()}
    with opened(browser, page(data), tmp_path, **SIZE) as pane:
        find, told = pane.page.get_by_role("searchbox"), pane.page.locator(".mgv-tools [role=status]")
        find.fill(word)
        expect(told).to_have_text(re.compile(r"^\d+ found$"))
        count = int(told.inner_text().split()[0])
        assert count >= len(matches) > 0
        seen = set()
        for k in range(count):
            find.press("Enter")
            expect(told).to_have_text(f"{k + 1} of {count}")
            step = data["steps"][pane.step - 1]
            seen.add(step["node"])
            if step["node"] in matches:  # its box is open, and it is drawn
                expect(pane.node(step["node"]).first).to_be_visible()
        assert matches <= seen


def test_saved_memory_adds_up_to_the_total_whatever_is_open(browser: Browser, tmp_path: Path, torch: Any):
    net, x = model(torch), torch.randn(4, 5, 8)
    loss = torch.nn.functional.cross_entropy(net(x).mean(1), torch.arange(4) % 3)
    total = viz.costs(loss).total.kept
    with opened(browser, page(payload(loss)), tmp_path, **SIZE) as pane:
        bars = pane.page.locator(".mgv-bars > :nth-child(3n)").all_inner_texts()  # before the first step
        pane.more("Overlay", "Saved memory")
        largest = """() => [...document.querySelectorAll('[data-bytes]')]
            .sort((a, b) => b.dataset.bytes - a.dataset.bytes).map((el) => el.textContent)"""
        assert len(bars) > 1 and bars == pane.page.evaluate(largest)[:5]
        sums = "() => [...document.querySelectorAll('[data-bytes]')].reduce((n, el) => n + Number(el.dataset.bytes), 0)"
        assert pane.page.evaluate(sums) == total
        for _ in range(2):
            pane.page.locator('[data-toggle][aria-expanded="false"]').first.press("Enter")
            assert pane.page.evaluate(sums) == total
        pane.page.get_by_role("group", name="View").get_by_role("button", name="Functions").click()
        assert pane.page.evaluate(sums) == total


def test_a_double_click_opens_a_box_large_and_escape_closes_it(browser: Browser, tmp_path: Path, data: dict):
    with opened(browser, page(data), tmp_path, **SIZE) as pane:
        box = pane.page.locator(".mgv-svg .node.fold", has_text="Block").first
        crumbs = pane.page.get_by_role("navigation", name="Open boxes")
        box.click()  # selects
        details = pane.page.get_by_role("dialog", name="Details")
        expect(details).to_contain_text("for backward")
        pane.at(0)
        box.dblclick()
        expect(crumbs).to_contain_text("Block")
        expect(details).to_be_hidden()
        assert pane.page.evaluate(LEAST) >= 10.99
        frame = pane.page.locator(".mgv-svg .cluster rect").first.bounding_box()
        view = pane.page.locator(".mgv-view").bounding_box()
        shown = min(frame["x"] + frame["width"], view["x"] + view["width"]) - max(frame["x"], view["x"])
        assert shown > 0.5 * min(frame["width"], view["width"])
        pane.press("Escape")
        expect(crumbs).to_be_hidden()
        expect(box).to_be_visible()


def test_the_strip_goes_part_by_part(browser: Browser, tmp_path: Path, data: dict):
    with opened(browser, page(data), tmp_path, **SIZE) as pane:
        names = pane.page.locator(".mgv-part-of b").all_text_contents()
        assert any("Block" in name for name in names) and len(names) < len(data["steps"]) / 3
        stops = [0]
        while pane.step < len(data["steps"]):
            pane.press("Shift+ArrowRight")
            until(pane.page, f"document.querySelector('.mgv').dataset.step > {stops[-1]}")
            stops.append(pane.step)
        assert len(names) <= len(stops) <= len(names) + 2
        pane.press("Shift+ArrowLeft")
        pane.at(stops[-2])


def test_a_small_pass_has_a_part_for_each_step(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        assert pane.page.locator(".mgv-part-of b").all_text_contents() == [
            "Add",
            "Mul",
            "Add",
            "Mul",
            "x.grad",
        ]
        pane.page.locator(".mgv-part-of").nth(2).click()
        pane.at(3)


def product(x: mg.Tensor) -> mg.Tensor:
    return (x**3).sum()


def test_the_rule_is_an_equation_of_the_arrays(browser: Browser, tmp_path: Path):
    """What it sends = what arrives × the local derivative; for a matrix product, its code with the arrays in place."""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    terms = """() => [...document.querySelectorAll('.mgv-equation > *')].map((el) => el.matches('.mgv-sign') ? el.innerText
        : JSON.parse(el.querySelector('.mgv-array').dataset.values))"""
    with opened(browser, page(payload(product(x), names={"x": x})), tmp_path, **SIZE) as pane:
        pane.press("ArrowRight", "ArrowRight")
        pane.at(2)
        assert pane.page.evaluate(terms) == [[3, 12], "=", [1, 1], "×", [3, 12]]
    w = mg.tensor([[1.0], [2.0]], requires_grad=True)
    z = (mg.tensor([[3.0, 4.0], [5.0, 6.0]]) @ w).sum()
    with opened(browser, page(payload(z, names={"w": w})), tmp_path, **SIZE) as pane:
        pane.press("ArrowRight", "ArrowRight")
        pane.at(2)
        assert pane.page.evaluate(terms) == [[8, 10], "=", "mm(", [3, 4, 5, 6], ".T,", [1, 1], ")"]


def test_an_array_stands_once_in_an_equation_and_code_breaks_beside_it(browser: Browser, tmp_path: Path):
    """The rule of log_softmax uses the upstream gradient twice: the second time by name. Its three arrays are side by side."""
    x = mg.tensor([[1.0, 2.0, 4.0], [0.5, -1.0, 3.0]], requires_grad=True)
    z = (mg.nn.functional.log_softmax(x, dim=1) * mg.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])).sum()
    tops = "(el) => [...el.querySelectorAll('.mgv-term')].map((term) => Math.round(term.getBoundingClientRect().top))"
    with opened(browser, page(payload(z, names={"x": x})), tmp_path, **SIZE) as pane:
        pane.press("ArrowRight", "ArrowRight", "ArrowRight")
        pane.at(3)
        equation = pane.page.locator(".mgv-equation")
        assert equation.locator('[data-role="arrives"]').count() == 1
        expect(equation).to_contain_text("sums(arrives")
        assert len(set(equation.evaluate(tops))) == 1


def test_the_legend_lists_the_looks_of_the_picture_and_no_others(browser: Browser, tmp_path: Path):
    def said(pane: Pane) -> str:
        pane.press("?")
        text = pane.page.get_by_role("dialog", name="Keys and legend").inner_text()
        pane.press("Escape")
        return text

    with opened(browser, page_of("diamond", view="functions"), tmp_path, **SIZE) as pane:
        assert "backward function" in said(pane) and "Function of your own" not in said(pane)
        assert "create_graph" not in said(pane) and "module" not in said(pane)
    with opened(browser, page_of("custom_function"), tmp_path, **SIZE) as pane:
        assert "a Function of your own" in said(pane)


@pytest.mark.parametrize("form", ["SVG", "PNG", "Page"])
def test_the_menu_saves_what_is_shown(browser: Browser, tmp_path: Path, form: str):
    with opened(browser, page_of("diamond"), tmp_path, **SIZE) as pane:
        pane.press("ArrowRight", "ArrowRight")
        pane.at(2)
        pane.button("More").click()
        with pane.page.expect_download() as waited:
            pane.button(form).click()
        file = tmp_path / waited.value.suggested_filename
        waited.value.save_as(file)
        content = file.read_bytes()
        if form == "SVG":
            assert content.startswith(b"<svg") and b"var(" not in content and b"AddBackward0" in content
        elif form == "PNG":
            assert content.startswith(b"\x89PNG") and len(content) > 3_000
        else:
            with opened(browser, content.decode(), tmp_path) as again:
                again.press("End")
                again.at(5)
