"""A saved page for everyone: screen readers, the keyboard, contrast, stillness, fingers, narrow windows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import minigrad as mg
from tests.browser.pages import Pane, opened, page_of, recorded
from viz.show.ask import questions
from viz.show.page import page
from viz.show.payload import payload

CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


# ---- for everyone


def test_a_screen_reader_hears_a_sentence_per_step_and_finds_named_controls(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        pane.press("ArrowRight")
        pane.at(1)
        tree = pane.page.locator("main").aria_snapshot()
        assert "status: Step 1 of 5." in tree
        for control in ("To the start", "Back one step", "Play", "Forward one step", "To the end"):
            assert f'button "{control}"' in tree
        assert 'slider "Step of the backward pass"' in tree and 'button "More"' in tree
        assert 'img "Graph of c' in tree
        for heading in ("Rule", ".grad", "Queue"):
            assert f'heading "{heading}"' in tree
        assert tree.count("status") == 1  # a step is announced once


def test_a_question_is_read_before_the_rule_that_answers_it(browser: Browser, tmp_path: Path):
    with opened(browser, asked("gradients"), tmp_path) as pane:
        pane.press("ArrowRight")
        pane.asks()
        tree = pane.page.locator("main").aria_snapshot()
        assert tree.index('heading "Predict"') < tree.index('button "Check"') < tree.index('heading "Rule"')


def test_the_keyboard_alone_is_enough(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path) as pane:
        reached = []
        while True:
            pane.page.keyboard.press("Tab")
            if pane.page.evaluate("document.activeElement === document.body"):
                break  # past the last
            reached.append(
                pane.page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent")
            )
            outline = pane.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"the focus does not show on {reached[-1]}"
        assert reached[0].startswith("Backward pass of c")
        assert "Forward one step" in reached
        pane.button("Forward one step").focus()
        pane.page.keyboard.press("Enter")
        pane.at(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(browser: Browser, tmp_path: Path, scheme: str):
    data = recorded("mlp")
    last = len(data["steps"])
    with opened(browser, page(data), tmp_path, color_scheme=scheme) as pane:
        for key, step in (("ArrowRight", 1), ("End", last)):
            pane.press(key)
            pane.at(step)
            weak = pane.page.evaluate(CONTRAST)
            assert weak == [], f"{scheme}, step {step}"


def asked(mode: str) -> str:
    data = recorded("diamond")
    data["questions"] = questions(data, mode)
    return page(data, options={"ask": mode})


def wrong_answer(pane: Pane) -> None:
    pane.press("ArrowRight")
    pane.page.locator(".mgv-answer").fill("7")
    pane.page.keyboard.press("Enter")
    expect(pane.page.locator(".mgv-feedback")).to_contain_text("Not yet.")


def not_finite() -> str:
    x = mg.tensor([1.0, 0.0], requires_grad=True)
    return page(payload((x.log() * 2).sum(), names={"x": x}))


def overlay(name: str) -> Callable[[Pane], None]:
    return lambda pane: (pane.press("End"), pane.more("Overlay", name))


# a system that forces its own colours paints each word on the colour of the page, whatever is around it
UNSEEN = """() => [...document.querySelectorAll(".mgv *")].filter((el) => !el.closest("svg") && el.offsetParent &&
    [...el.childNodes].some((node) => node.nodeType === 3 && node.nodeValue.trim()) &&
    getComputedStyle(el).color === "rgb(0, 0, 0)").map((el) => el.outerHTML.slice(0, 90))"""

STATES: dict[str, tuple[Callable[[], str], Callable[[Pane], object]]] = {
    "a question": (lambda: asked("gradients"), lambda pane: (pane.press("ArrowRight"), pane.asks())),
    "a wrong answer": (lambda: asked("gradients"), wrong_answer),
    "which fires next": (lambda: asked("order"), lambda pane: (pane.press("ArrowRight"), pane.asks())),
    "the forward pass": (
        lambda: page(recorded("custom_function"), options={"forward": True}),
        lambda pane: (pane.press("ArrowRight"), pane.at(1)),
    ),
    "memory": (lambda: page_of("mlp"), overlay("Saved memory")),
    "gradient size": (lambda: page_of("mlp"), overlay("Gradient size")),
    "search": (lambda: page_of("mlp"), lambda pane: pane.page.get_by_role("searchbox").fill("tanh")),
    "not finite": (not_finite, lambda pane: pane.press("End")),
    "cards": (lambda: page_of("hooks", view="cards"), lambda pane: pane.press("ArrowRight", "ArrowRight")),
    "backward of backward": (lambda: page_of("double_backward"), lambda pane: pane.press("End")),
    "a tip": (lambda: page_of("diamond"), lambda pane: pane.page.locator(".node.leaf").first.hover()),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("state", STATES)
def test_every_state_has_enough_contrast(browser: Browser, tmp_path: Path, state: str):
    html, reach = STATES[state]
    with opened(browser, html(), tmp_path) as pane:
        reach(pane)
        for scheme in ("light", "dark"):
            pane.page.emulate_media(color_scheme=scheme)
            assert pane.page.evaluate(CONTRAST) == [], scheme
        pane.page.emulate_media(color_scheme="dark", forced_colors="active")
        assert pane.page.evaluate(UNSEEN) == []


def test_a_system_with_its_own_colours_gets_them(browser: Browser, tmp_path: Path):
    with opened(browser, page_of("diamond"), tmp_path, forced_colors="active", color_scheme="dark") as pane:
        pane.press("ArrowRight")
        pane.at(1)
        black = "rgb(0, 0, 0)"
        for part, where in (
            ("backgroundColor", ".mgv-frame"),
            ("backgroundColor", ".mgv-flow"),
            ("fill", ".mgv-ready .shape"),
        ):
            colour = pane.page.locator(where).first.evaluate(f"e => getComputedStyle(e).{part}")
            assert colour == black, where
        assert pane.page.evaluate(CONTRAST) == []


def test_a_picture_is_never_cut_off_without_a_way_to_see_the_rest(browser: Browser, tmp_path: Path):
    """It fits in height too; where it would get too small, there are scrollbars and the buttons that zoom."""
    over = "v => [v.scrollWidth > v.clientWidth, v.scrollHeight > v.clientHeight]"
    for name in ("in_place_slice", "diamond", "mlp", "several_roots"):
        with opened(browser, page_of(name), tmp_path) as pane:
            wide, tall = pane.page.locator(".mgv-view").evaluate(over)
            assert not tall or pane.button("Smaller").is_visible(), name
            assert not wide or pane.button("Smaller").is_visible(), name
            if name == "in_place_slice":
                assert not tall


def test_at_200_percent_there_is_a_picture_to_look_at(browser: Browser, tmp_path: Path):
    """A window of 1366 x 768 has room for 683 x 384 then: the page scrolls, and the picture keeps some height."""
    with opened(browser, page_of("mlp"), tmp_path, viewport={"width": 683, "height": 384}) as pane:
        pane.press("ArrowRight")
        pane.at(1)
        assert pane.page.locator(".mgv-stage").bounding_box()["height"] >= 200
        assert pane.page.locator(".mgv-panels").bounding_box()["height"] >= 100


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_things_move_only_for_those_who_did_not_ask_for_stillness(
    browser: Browser, tmp_path: Path, motion: str
):
    with opened(browser, page_of("diamond"), tmp_path, reduced_motion=motion) as pane:
        # checked at the moment of the step, since movements end soon
        running = pane.frame.evaluate(
            """(frame) => {
                frame.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
                return document.getAnimations().length;
            }"""
        )
        pane.at(1)
        assert (running > 0) is (motion == "no-preference")


@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_nothing_is_cut_off_in_a_narrow_window(browser: Browser, tmp_path: Path, width: int):
    with opened(
        browser, page_of("mlp", view="cards"), tmp_path, viewport={"width": width, "height": 800}
    ) as pane:
        for number in range(1, 4):
            pane.press("ArrowRight")
            pane.at(number)
            wider = pane.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wider <= 0
            wide = "[...document.querySelectorAll('.mgv-col')].filter(e => e.scrollWidth > e.clientWidth + 1)"
            cut = pane.page.evaluate(f"{wide}.map(e => e.innerText)")
            assert cut == []


def test_a_finger_is_enough(browser: Browser, tmp_path: Path):
    data = recorded("diamond")
    touch = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 800}}
    with opened(browser, page(data), tmp_path, **touch) as pane:
        box = pane.button("Forward one step").bounding_box()
        assert box["width"] >= 40 and box["height"] >= 40
        pane.button("Forward one step").tap()
        pane.at(1)
        pane.node(data["steps"][3]["node"]).tap()
        pane.button("Go to its step").tap()
        pane.at(4)
