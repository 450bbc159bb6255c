"""A press counts for the element it began on: no click is lost if something moves or changes between pointer down and up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.pages import Pane, opened, page_of, recorded
from tests.browser.test_stepper_hands import net
from viz.show.page import page, sent
from viz.show.payload import payload

# events that may come between down and up: each moves or replaces the element under the pointer
PUSHED = """() => document.getElementById("pane")
    .before(Object.assign(document.createElement("div"), { style: "height: 170px" }))"""
BETWEEN = {
    "nothing": lambda pane: None,
    "the page above grows": lambda pane: pane.page.evaluate(PUSHED),
    "a narrow window": lambda pane: pane.page.set_viewport_size({"width": 620, "height": 700}),
    "a step from another pane": lambda pane: pane.page.evaluate("() => pane.set('step', 3)"),
    "another graph": lambda pane: pane.page.evaluate(
        "(data) => pane.set('data', data)", sent(recorded("mlp"))
    ),
}


@contextmanager
def shown(browser: Browser, tmp: Path, html: str, **more) -> Iterator[Pane]:
    """The page, whose model a test can reach: another pane or a kernel acts through it."""
    reached = html.replace("recorded.ready =", "globalThis.pane = pane; recorded.ready =")
    with opened(browser, reached, tmp, **more) as pane:
        yield pane


def press(pane: Pane, target: Locator, between) -> None:
    target.hover()
    pane.page.mouse.down()
    between(pane)
    pane.page.wait_for_timeout(60)  # a resize is reported in the next frame
    pane.page.mouse.up()


@pytest.mark.parametrize("between", BETWEEN)
def test_a_button_counts_wherever_it_stands_in_the_end(browser: Browser, tmp_path: Path, between: str):
    with shown(browser, tmp_path, page_of("diamond")) as pane:
        press(pane, pane.button("To the end"), BETWEEN[between])
        # if another graph arrives after the click, the click has counted for the old one; the pane stays at the last step
        pane.at(len(recorded("mlp")["steps"]) if between == "another graph" else 5)


@pytest.mark.parametrize("between", BETWEEN)
def test_a_node_counts_wherever_it_stands_in_the_end(browser: Browser, tmp_path: Path, between: str):
    data = recorded("diamond")
    with shown(browser, tmp_path, page(data)) as pane:
        press(pane, pane.node(data["steps"][1]["node"]), BETWEEN[between])
        if between == "another graph":  # the other graph has no such box
            pane.at(0)
        else:
            expect(pane.page.get_by_role("dialog", name="Details")).to_contain_text("fires in step 2")


def test_a_chip_counts_while_the_pass_plays(browser: Browser, tmp_path: Path):
    """Each step rewrites the panels, eight times in 1.2 s: less time than a click takes."""
    data = payload(net(40), check=False)
    with opened(browser, page(data), tmp_path) as pane:
        pane.more("Playback speed", "8×")
        pane.button("Play").click()
        chip = pane.page.locator(".mgv-ready-list .mgv-chip").first
        press(pane, chip, lambda pane: pane.page.wait_for_timeout(700))
        pane.button("Play").wait_for()  # playing has paused, so the click has counted
        at = pane.step
        pane.page.wait_for_timeout(400)
        assert 0 < pane.step == at < len(data["steps"])


def test_a_button_from_which_the_pointer_is_drawn_away_is_not_pressed(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        press(pane, pane.button("To the end"), lambda pane: pane.page.mouse.move(500, 700, steps=4))
        pane.page.wait_for_timeout(60)
        pane.at(0)
        pane.button("Forward one step").click()
        pane.at(1)


def test_what_waited_for_the_press_comes_after_it(browser: Browser, tmp_path: Path):
    with shown(browser, tmp_path, page_of("diamond")) as pane:
        view = pane.page.locator(".mgv-view").bounding_box()
        pane.page.mouse.move(view["x"] + 4, view["y"] + 4)
        pane.page.mouse.down()
        pane.page.evaluate("() => pane.set('step', 3)")
        pane.at(0)
        pane.page.mouse.up()
        pane.at(3)
