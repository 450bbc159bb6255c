"""The stepper on a page opened from disk: keys, buttons, slider, clicks, what each step shows, and for everyone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

import minigrad as mg
from tests.browser.pages import Pane, opened, page_of, recorded, window
from tests.viz_gallery import GALLERY
from viz.show.page import page
from viz.show.payload import payload


def test_keys_buttons_and_slider_move_through_the_pass(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        pane.at(0)
        pane.press("ArrowRight", "ArrowRight")
        pane.at(2)
        pane.press("ArrowLeft")
        pane.at(1)
        pane.press("End")
        pane.at(5)
        pane.press("ArrowRight")  # nothing after the end
        pane.at(5)
        pane.press("Home")
        pane.at(0)
        for name, step in [
            ("Forward one step", 1),
            ("To the end", 5),
            ("Back one step", 4),
            ("To the start", 0),
        ]:
            pane.button(name).click()
            pane.at(step)
        pane.page.get_by_role("slider", name="Step of the backward pass").fill("3")
        pane.at(3)


def test_a_page_takes_the_keys_as_soon_as_it_is_open(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        pane.page.keyboard.press("ArrowRight")  # nothing was clicked
        pane.page.keyboard.press("ArrowRight")
        pane.at(2)
        pane.page.keyboard.press("Home")
        pane.at(0)
        pane.page.get_by_role("slider", name="Step of the backward pass").focus()
        pane.page.keyboard.press("ArrowRight")  # one step only, even if something in the pane has the focus
        pane.at(1)


def test_play_walks_to_the_end_and_stops(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond", options={"interval": 400}), tmp_path) as pane:
        pane.press("Space")
        pane.button("Pause").wait_for()
        pane.at(5)
        pane.button("Play").wait_for()
        pane.at(5)


def test_a_click_selects_a_node_and_its_details_lead_to_its_step(browser: Browser, tmp_path: Path):
    data = recorded("diamond", view="graph")
    with opened(browser, page(data), tmp_path) as pane:
        for number, step in reversed(list(enumerate(data["steps"], 1))):
            pane.go_to(pane.node(step["node"]))
            pane.at(number)
        tensor = next(i for i, n in data["nodes"].items() if n["kind"] == "tensor" and n["name"] == "y")
        pane.go_to(pane.node(tensor))
        pane.at(next(number for number, step in enumerate(data["steps"], 1) if step["tensor"] == "y"))


@pytest.mark.parametrize("name", sorted(set(GALLERY) - {"freed"}))  # a freed graph has no pass to record
@pytest.mark.parametrize("view", ["graph", "cards"])
def test_every_graph_of_the_gallery_steps_to_the_true_gradients(
    browser: Browser, tmp_path: Path, name: str, view: str
):
    data = recorded(name, view=view)
    result, names = GALLERY[name](mg)
    roots = result if isinstance(result, list) else [result]
    mg.autograd.backward(roots)
    leaves = {n: t for n, t in names.items() if t.is_leaf and t.requires_grad}
    with opened(browser, page(data), tmp_path) as pane:
        assert set(pane.grads().values()) == {None}
        for number in range(1, len(data["steps"]) + 1):
            pane.press("ArrowRight")
            pane.at(number)
            assert pane.sentence.startswith(f"Step {number} of ")
            assert pane.page.locator(".mgv-svg .mgv-firing").count() == 1
        shown = pane.grads()
        assert set(shown) == set(leaves)
        for leaf, tensor in leaves.items():
            np.testing.assert_allclose(shown[leaf], tensor.grad.numpy().ravel(), rtol=1e-6)


def test_a_step_shows_parts_and_sum_rule_saved_tensors_and_what_it_sends(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        pane.press("ArrowRight", "ArrowRight", "ArrowRight")
        pane.at(3)
        queue = pane.column("Queue").inner_text()
        assert "next" in queue
        pane.press("ArrowRight")  # y = x * x, used by a and by b
        pane.at(4)
        parts = pane.column("Receives").locator(".mgv-array").all()
        assert [json.loads(a.get_attribute("data-values")) for a in parts] == [[2.0], [1.0]]
        rule = " ".join(pane.column("Rule").inner_text().split())
        assert "MulBackward0" in rule and "grad * other" in rule and "other = x" in rule
        # without space for it, it is the title of the code
        assert "∂c/∂x" in pane.column("Rule").inner_html()
        # what it sends = what arrives × the local derivative
        terms = pane.column("Rule").locator(".mgv-equation .mgv-array").all()
        shown = [json.loads(a.get_attribute("data-values")) for a in terms]
        assert shown[:3] == [[6.0], [3.0], [2.0]] and [6.0] in shown[3:]
        assert pane.grads() == {"x": None}
        pane.press("ArrowRight")
        pane.at(5)
        assert pane.grads() == {"x": [12.0]}
        assert "x.grad = grad" in pane.column("Adds to .grad").inner_text()


def test_who_waits_for_whom_is_said(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        waits = []
        for _ in range(5):
            pane.press("ArrowRight")
            pane.at(len(waits) + 1)
            waits.append(pane.page.locator(".mgv-waits").all_inner_texts())
        assert any("has 1 of 2" in text for texts in waits for text in texts)
        assert waits[-1] == []


def test_a_gradient_that_is_not_computed_is_said_to_be_so(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("source_example"), tmp_path) as pane:
        pane.press("ArrowRight", "ArrowRight")
        pane.at(2)
        assert "not computed" in pane.column("Rule").inner_text()


def test_large_arrays_are_heat_maps_with_shape_range_and_scale(browser: Browser, tmp_path: Path):
    x = mg.arange(200.0).reshape(10, 20).sub(50.0).detach().requires_grad_(True)
    y = (x * x).sum()
    with opened(browser, page(payload(y, names={"x": x, "y": y})), tmp_path) as pane:
        pane.press("End")
        pane.at(3)
        heat = pane.page.locator('[data-leaf="x"] .mgv-array')
        assert "(10, 20)" in heat.inner_text() and "from -100 to 298" in heat.get_attribute("title")
        assert heat.locator("rect").count() == 64
        assert heat.locator(".sign").count() == 1  # negative cells carry a minus mark


def test_a_step_moves_nothing_in_the_picture(browser: Browser, tmp_path: Path):
    places = """() => {
        const at = document.querySelector(".mgv-svg").getBoundingClientRect();
        return [...document.querySelectorAll(".mgv-svg .node > .shape")].map((shape) => {
            const r = shape.getBoundingClientRect();
            return [r.x - at.x, r.y - at.y, r.width, r.height].map(Math.round).join();
        });
    }"""
    with opened(browser, page_of("mlp", view="cards"), tmp_path) as pane:
        before = pane.page.evaluate(places)
        for number in range(1, 5):
            pane.press("ArrowRight")
            pane.at(number)
        pane.press("Home")
        pane.at(0)
        assert pane.page.evaluate(places) == before


def test_the_active_node_is_in_sight_in_a_picture_that_does_not_fit(browser: Browser, tmp_path: Path):
    data = recorded("mlp")
    inside = """(id) => {
        const node = document.querySelector(`[data-id="${id}"] .shape`).getBoundingClientRect();
        const view = document.querySelector(".mgv-view").getBoundingClientRect();
        return node.left >= view.left - 1 && node.right <= view.right + 1;
    }"""
    with opened(browser, page(data), tmp_path, viewport={"width": 500, "height": 800}) as pane:
        assert pane.page.evaluate(inside, data["steps"][0]["node"])  # before the first step: the first node
        for number, step in enumerate(data["steps"], 1):
            pane.press("ArrowRight")
            pane.at(number)
            assert pane.page.evaluate(inside, step["node"])


def test_walking_to_and_fro_leaves_nothing_behind(browser: Browser, tmp_path: Path):
    walk = """() => {
        const slider = document.querySelector(".mgv-slider"), last = Number(slider.max);
        for (let i = 0; i <= 2 * last; i++) {
            slider.value = i <= last ? i : 2 * last - i;
            slider.dispatchEvent(new Event("input"));
        }
    }"""
    x = mg.tensor([0.5, -0.25], requires_grad=True)
    for _ in range(60):
        x = x.sin()
    with opened(browser, page(payload(x.sum(), check=False, fold=False)), tmp_path) as pane:
        session = pane.page.context.new_cdp_session(pane.page)
        session.send("Performance.enable")

        def elements() -> float:
            session.send("HeapProfiler.collectGarbage")
            metrics = session.send("Performance.getMetrics")["metrics"]
            return next(m["value"] for m in metrics if m["name"] == "Nodes")

        pane.page.evaluate(walk)
        before = elements()
        pane.page.evaluate(walk)
        pane.page.evaluate(walk)
        assert elements() <= before + 20


def test_hovering_shows_what_is_known_of_a_node(browser: Browser, tmp_path: Path):
    data = recorded("diamond", view="graph")
    y = next(i for i, n in data["nodes"].items() if n["kind"] == "tensor" and n["name"] == "y")
    with opened(browser, page(data), tmp_path) as pane:
        pane.node(y).hover()
        tip = pane.page.get_by_role("tooltip")
        expect(tip).to_contain_text("value")
        assert "grad\n" not in tip.inner_text()
        pane.press("End")
        pane.at(5)
        pane.page.mouse.move(0, 0)
        pane.node(y).hover()
        expect(tip).to_contain_text("grad")


# ---- safe


HOSTILE = [
    '"><script>alert(1)</script>',
    "<img src=x onerror=alert(2)>",
    "]]></svg><script>alert(3)</script>",
    "'; alert(4); //",
    "</script><script>alert(5)</script>",
    "javascript:alert(6)",
    "a\nb\tc\x00",
    "&lt;b&gt;&#x3c;",
    "\\N\\G\\l{x|y}",
    "x" * 10_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_and_texts_stay_text(browser: Browser, tmp_path: Path, text: str):
    x = mg.tensor([1.0, -2.0], requires_grad=True)
    y = (x * x).sum()
    data = payload(y, names={text: x, text + "!": y})
    data |= {"title": text, "notes": [text], "source": {"lines": [text, "y"], "first": 1, "file": text}}
    for node in data["nodes"].values():
        node |= {"label": text, "name": text, "tooltip": text, "dtype": text}
    for step in data["steps"]:
        step |= {"name": text, "tensor": text, "sentence": text, "line": 0}
        for rule in step["rules"]:
            rule |= {"input": text, "code": text, "math": text}
        for saved in step["saved"]:
            saved |= {"name": text, "label": text, "value": {"text": text}}
        for out in step["outgoing"]:
            out |= {"reason": text, "reduced": text, "input": text}
        if step["accumulate"]:
            step["accumulate"]["leaf"] = text
    with opened(browser, page(data, title=text), tmp_path) as pane:
        for number in range(1, len(data["steps"]) + 1):
            pane.press("ArrowRight")
            pane.at(number)
            pane.page.locator(".mgv-svg .node").first.hover()
        assert pane.page.locator(".mgv script, .mgv img, .mgv b b, .mgv [onerror]").count() == 0
        assert pane.sentence.split() == text.replace("\x00", "\ufffd").split() or text[0] == "a"


def test_an_svg_that_was_tampered_with_is_stripped(browser: Browser, tmp_path: Path):
    data = recorded("diamond")
    evil = (
        '<script>alert(1)</script><image href="http://127.0.0.1:1/x.png"/><foreignObject><b>hi</b></foreignObject>'
        '<a xlink:href="javascript:alert(2)" xmlns:xlink="http://www.w3.org/1999/xlink"><text>link</text></a>'
        '<rect width="9" height="9" onclick="alert(3)" onload="alert(4)" style="fill:url(http://127.0.0.1:1/y)" '
        'fill="url(http://127.0.0.1:1/z)"/><style>@import "http://127.0.0.1:1/c.css";</style>'
        '<set attributeName="onmouseover" to="alert(5)"/><use href="http://127.0.0.1:1/u.svg#a"/>'
    )
    data["svg"] = data["svg"].replace("</svg>", evil + "</svg>")
    with opened(browser, page(data), tmp_path) as pane:
        forbidden = (
            "script, image, foreignObject, a, style, set, use, [onclick], [onload], [href], [fill*=url]"
        )
        assert pane.page.locator(".mgv-svg").locator(forbidden).count() == 0
        pane.press("End")
        pane.at(5)


def test_a_damaged_page_says_so(browser: Browser, tmp_path: Path):
    """A file that was cut off, or of which a letter was lost, shows a sentence where the pane would be."""
    whole, file = page_of("diamond"), tmp_path / "page.html"
    middle = len(whole) // 2
    sentence = "() => getComputedStyle(document.querySelector('main:empty'), '::after').content"
    with browser.new_context() as context:
        tab = context.new_page()
        for damaged in (whole[:middle], whole[:middle] + whole[middle + 1 :]):
            file.write_text(damaged, encoding="utf-8")
            tab.goto(file.as_uri())
            assert "The file is damaged" in tab.evaluate(sentence)
            tab.evaluate("document.getAnimations().forEach((waiting) => waiting.finish())")
            assert tab.evaluate(sentence.replace("content", "opacity")) == "1"


def test_two_panes_on_one_page_do_not_disturb_each_other(browser: Browser, tmp_path: Path):
    from viz.show.page import frame

    html = "<!doctype html><meta charset=utf-8>" + frame(recorded("diamond")) + frame(recorded("mlp"))
    file = tmp_path / "two.html"
    file.write_text(html, encoding="utf-8")
    with window(browser, viewport={"width": 1280, "height": 720}) as both:
        both.goto(file.as_uri())
        first, second = (Pane(both.frame_locator("iframe").nth(i)) for i in (0, 1))
        second.frame.wait_for()
        first.page.locator(".mgv-button[data-action=next]").click()
        first.at(1)
        second.at(0)
        second.page.locator(".mgv-button[data-action=last]").click()
        second.at(len(recorded("mlp")["steps"]))
        first.at(1)


def test_a_page_prints_on_white_with_the_whole_picture_and_no_toolbar(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("mlp"), tmp_path, color_scheme="dark") as pane:
        pane.press("ArrowRight", "ArrowRight")
        pane.page.set_viewport_size({"width": 720, "height": 1000})
        pane.page.emulate_media(media="print", color_scheme="dark")
        look = pane.page.evaluate(
            """() => {
            const one = (name) => document.querySelector(name), style = (name) => getComputedStyle(one(name));
            const svg = one(".mgv-svg").getBoundingClientRect(), view = one(".mgv-view").getBoundingClientRect();
            return { ink: style(".mgv").color, raised: style(".mgv-panels").backgroundColor, scheme: style(".mgv").colorScheme,
                bar: style(".mgv-bar").display, wide: svg.right - 720, cut: svg.bottom - view.bottom, high: svg.height };
        }"""
        )
        assert look["bar"] == "none" and look["scheme"] == "light" and look["ink"] == "rgb(27, 31, 36)", look
        assert look["wide"] <= 1 and look["cut"] <= 1 and look["high"] > 100, look
        assert pane.page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("name", ["mlp", "no_grad_island", "hooks"])
def test_what_is_sent_in_short_is_painted_as_it_was_laid_out(browser: Browser, tmp_path: Path, name: str):
    """Points of lines, heads, plates and positions of labels, nodes and their text: as in the picture that Python painted, to a
    tenth of a unit."""
    data = recorded(name, view="graph", direction="LR")
    take = """svg => Array.from(svg.querySelectorAll('g.edge *, g.node > .shape, g.node > text'), el => [
        el.getAttribute('class'), ...['d', 'x', 'y', 'cx', 'cy', 'width', 'height'].map(a => (el.getAttribute(a) || '')
            .match(/-?[\\d.]+/g) || []).flat()])"""
    with opened(browser, page(data), tmp_path) as pane:
        there = [row for row in pane.page.locator(".mgv-svg").evaluate(take) if row[0] != "mgv-label"]
        pane.page.set_content(data["svg"])
        told = pane.page.locator("svg").evaluate(take)
    assert len(told) == len(there) > 10
    for row, other in zip(told, there, strict=True):
        assert row[0] == other[0] and np.allclose(
            [*map(float, row[1:])], [*map(float, other[1:])], atol=0.11
        ), (row, other)


def test_complex_numbers_are_shown_as_real_and_imaginary_part(browser: Browser, tmp_path: Path, torch):
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * torch.tensor([0.5 - 1j, 2j])
    loss = torch.view_as_real(y * y.conj())[:, 0].sum()
    with opened(browser, page(payload(loss, names={"z": z})), tmp_path) as pane:
        pane.press("End")
        text = pane.page.locator(".mgv-side").inner_text()
        shown = pane.page.locator(".mgv-now-side .mgv-complex, .mgv-side .mgv-complex").first.locator(
            "[data-values]"
        )
        real, imaginary = (json.loads(one.get_attribute("data-values")) for one in shown.all())
    assert "real" in text and "imaginary" in text
    assert np.allclose(np.array(real) + 1j * np.array(imaginary), z.grad.numpy())


@pytest.mark.parametrize("width", [920, 1100, 1400])
def test_the_equation_of_a_product_stays_on_one_line(browser: Browser, tmp_path: Path, width: int):
    x = mg.tensor([[1.0, 2.0, 0.0, -1.0, 3.0]])
    w = mg.arange(15.0).reshape(5, 3).requires_grad_()
    with opened(
        browser, page(payload((x @ w).mean())), tmp_path, viewport={"width": width, "height": 700}
    ) as pane:
        pane.press("ArrowRight", "ArrowRight")
        pane.at(2)
        first, *_, last = pane.page.locator(".mgv-flow .mgv-equation > *").all()
        assert last.inner_text() == ")"
        assert last.bounding_box()["y"] < first.bounding_box()["y"] + first.bounding_box()["height"]
