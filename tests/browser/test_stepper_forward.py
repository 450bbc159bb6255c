"""Forward first, then backward; folded graphs; checked gradients: in the browser."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Browser

import minigrad as mg
import viz
from tests.browser.pages import opened
from viz.show.ask import questions
from viz.show.page import page
from viz.show.payload import payload


def recorded_program() -> dict:
    x = mg.tensor([[1.0, 2.0, 3.0]])
    w = mg.tensor([[1.0], [-2.0], [3.0]], requires_grad=True)
    with viz.record():
        y = x @ w
        h = y.tanh() * 2
        z = h.mean()
    return payload(z, names={"x": x, "w": w})


def visible(pane) -> set[str]:
    return set(
        pane.page.evaluate(
            "() => [...document.querySelectorAll('.mgv-svg .node')]"
            ".filter(g => getComputedStyle(g).visibility === 'visible').map(g => g.dataset.id)"
        )
    )


def test_the_graph_grows_operation_by_operation_and_then_runs_backward(browser: Browser, tmp_path: Path):
    data = recorded_program()
    names = [made["name"] for made in data["forward"]]
    assert names[0] == "y" and names[-1] == "z"
    with opened(browser, page(data, options={"forward": True}), tmp_path) as pane:
        start = visible(pane)
        assert start < set(data["nodes"])
        seen = start
        for number, made in enumerate(data["forward"], 1):
            pane.press("ArrowRight")
            pane.at(number)
            now = visible(pane)
            assert now == seen | set(made["nodes"])
            seen = now
            assert pane.column("Computes").locator("code").first.inner_text().startswith(made["name"])
            shown = json.loads(pane.column("Computes").locator(".mgv-array").get_attribute("data-values"))
            assert shown == [float(f"{v:.7g}") for v in made["value"]["values"]]
            lit = pane.page.locator(".mgv-line[aria-current=step]").inner_text()
            assert data["source"]["lines"][made["line"]].strip() in lit
        assert seen == set(data["nodes"])
        pane.press("ArrowRight")  # the forward pass is done
        pane.says("The forward pass is done")
        pane.press("ArrowRight")
        pane.says("Step 1 of ")
        pane.press("End")
        pane.at(len(data["forward"]) + 1 + len(data["steps"]))
        pane.press("Home")
        pane.at(0)
        assert visible(pane) == start


def test_forward_steps_are_not_asked_for_backward_steps_are(browser: Browser, tmp_path: Path):
    data = recorded_program()
    data["questions"] = questions(data, "gradients")
    with opened(browser, page(data, options={"forward": True, "ask": "gradients"}), tmp_path) as pane:
        pane.press("End")
        pane.at(len(data["forward"]) + 1)
        pane.asks()


def test_a_folded_box_steps_through_its_members(browser: Browser, tmp_path: Path):
    h0 = mg.tensor([[0.1, 0.2]], requires_grad=True)
    w = mg.tensor([[0.5, -0.2], [0.3, 0.4]], requires_grad=True)
    h = h0
    for _ in range(12):
        h = (h @ w).tanh()
    data = payload(h.sum(), names={"h0": h0, "w": w}, fold=True)
    with opened(browser, page(data), tmp_path) as pane:
        fold = pane.page.locator(".mgv-svg [data-toggle]").first.get_attribute("data-toggle")
        shown = next(one for one in (data, *data["pictures"]) if fold in one["folds"].values())
        members = [k for k, step in enumerate(data["steps"], 1) if shown["folds"].get(step["node"]) == fold]
        assert len(members) > 5
        for k in members[:3]:
            pane.go_to(pane.node(fold))
            pane.at(k)
        assert pane.node(fold).locator(".mgv-order").text_content().startswith(f"{members[0]}–{members[-1]}")
        pane.press("End")
        pane.at(len(data["steps"]))
        assert "mgv-done" in pane.node(fold).get_attribute("class")


def test_a_checked_gradient_carries_a_tick_and_its_difference(browser: Browser, tmp_path: Path):
    x = mg.tensor(2.0, requires_grad=True)
    z = (x * x).sin()
    data = payload(z, names={"x": x, "z": z})
    data["steps"][1]["check"] = {"ok": False, "difference": 0.5, "text": "off by 0.5"}
    with opened(browser, page(data), tmp_path) as pane:
        pane.press("ArrowRight")
        pane.at(1)
        assert pane.node(data["steps"][0]["node"]).locator(".mgv-order path").count() == 1
        assert "checked by nudging self: measured -0.6536" in pane.page.locator(".mgv-check.ok").inner_text()
        pane.press("ArrowRight")
        pane.at(2)
        badge = pane.node(data["steps"][1]["node"]).locator(".mgv-order")
        assert badge.text_content() == "2!" and "wrong" in badge.get_attribute("class")
        assert "check failed off by 0.5" in pane.page.locator(".mgv-check.wrong").inner_text()
