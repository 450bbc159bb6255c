"""Predict before reveal in the browser: the gate, wrong answers and their causes, "just show me", overlays and search."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import minigrad as mg
from tests.browser.pages import Pane, opened, recorded
from viz.ask import questions
from viz.page import page
from viz.payload import payload


def asking(name: str = "diamond", mode: str = "gradients", **more) -> tuple[dict, str]:
    data = recorded(name, **more)
    data["questions"] = questions(data, mode)
    return data, page(data, options={"ask": mode})


def answer(pane: Pane, text: str) -> str:
    pane.page.locator(".mgv-answer").fill(text)
    pane.page.keyboard.press("Enter")
    feedback = pane.page.locator(".mgv-feedback")
    return feedback.inner_text() if feedback.count() else ""


def test_a_step_shows_only_after_its_prediction(browser: Browser, tmp_path: Path):
    _, html = asking()
    with opened(browser, html, tmp_path) as pane:
        for number, right in enumerate(["1", "2", "1", "3", "12"], 1):
            pane.press("ArrowRight")
            assert pane.step == number - 1
            assert pane.page.locator(".mgv-ask").is_visible()
            answer(pane, right)
            assert pane.step == number
            assert pane.sentence.startswith("Correct.")
        assert pane.grads() == {"x": [12.0]}


def test_no_way_leads_around_the_question(browser: Browser, tmp_path: Path):
    data, html = asking()
    with opened(browser, html, tmp_path) as pane:
        pane.press("End")
        assert pane.step == 0
        pane.page.get_by_role("slider", name="Step of the backward pass").fill("4")
        assert pane.step == 0
        pane.node(data["steps"][3]["node"]).click()
        assert pane.step == 0
        pane.press("Space")
        assert pane.step == 0


def test_what_is_asked_is_shown_nowhere(browser: Browser, tmp_path: Path):
    data, html = asking(view="cards")
    with opened(browser, html, tmp_path) as pane:
        for right in ("1", "2", "1"):
            pane.press("ArrowRight")
            answer(pane, right)
        pane.press("ArrowRight")  # the total of y is asked: 2 + 1
        node = data["steps"][3]["node"]
        assert pane.node(node).locator(".mgv-cells").count() == 1  # its value, not its gradient
        pane.node(node).hover()
        assert "grad\n" not in pane.page.get_by_role("tooltip").inner_text()
        assert "?" in pane.column("Receives").inner_text()
        assert "checked" not in pane.column("Rule").inner_text()  # it says what was measured


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("4", "fires too early, with the part from a"),
        ("8", "fires too early, with the part from b"),
        ("16", "fires twice"),
        ("2", "overwrites a gradient where it should add"),
        ("6", "the part from y alone"),
        ("-12", "the sign is not"),
        ("[1, 2]", "2 numbers"),
        ("13", "That is not it"),
        ("twelve", "Write a number"),
    ],
)
def test_a_wrong_answer_is_answered_with_its_cause(browser: Browser, tmp_path: Path, given: str, says: str):
    _, html = asking()
    with opened(browser, html, tmp_path) as pane:
        for right in ("1", "2", "1", "3"):
            pane.press("ArrowRight")
            answer(pane, right)
        pane.press("ArrowRight")
        assert says in answer(pane, given)
        assert pane.step == 4
        answer(pane, "12")
        assert pane.step == 5


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ("[[1], [2], [3]]", None),
        ("1 2 3", None),
        ("[[3/3], [4/2], [3.0]]", None),
        ("tensor([[1.], [2.], [3.]])", None),
        ("[1, 2, 3]", "the shape is not: (3,)"),
        ("[[1, 2, 3]]", "transposed"),
        ("6", "sum of all entries"),
        ("[[2], [4], [6]]", "2 times what it should be"),
        ("[[1, 2], [3]]", "Write a number"),
    ],
)
def test_arrays_can_be_written_in_several_ways(
    browser: Browser, tmp_path: Path, given: str, outcome: str | None
):
    x = mg.tensor([[1.0, 2.0, 3.0]])
    w = mg.tensor([[1.0], [-2.0], [3.0]], requires_grad=True)
    z = (x @ w).mean()
    data = payload(z, names={"x": x, "w": w, "z": z})
    data["questions"] = questions(data, "gradients", given=2)
    with opened(browser, page(data, options={"ask": "gradients"}), tmp_path) as pane:
        pane.press("ArrowRight", "ArrowRight")
        assert pane.step == 2  # the worked example
        pane.press("ArrowRight")
        feedback = answer(pane, given)
        assert (pane.step == 3) if outcome is None else (outcome in feedback)


def test_just_show_me_is_one_click_and_stays(browser: Browser, tmp_path: Path):
    _, html = asking()
    with opened(browser, html, tmp_path) as pane:
        pane.press("ArrowRight")
        pane.button("Show this step").click()
        assert pane.step == 1
        pane.press("ArrowRight")
        assert pane.step == 1  # that was for one step
        pane.button("Just show me from now on").click()
        assert pane.step == 2
        pane.press("ArrowRight", "ArrowRight")
        assert pane.step == 4
        box = pane.page.get_by_role("checkbox", name="Ask me")
        assert not box.is_checked()
        box.check()
        pane.press("ArrowRight")
        assert pane.step == 4 and pane.page.locator(".mgv-ask").is_visible()


def test_which_node_may_fire_next_is_answered_by_a_click(browser: Browser, tmp_path: Path):
    data, html = asking(mode="order")
    by_tensor = {step["tensor"]: step["node"] for step in data["steps"]}
    with opened(browser, html, tmp_path) as pane:
        pane.press("ArrowRight")
        assert "after your answer" in pane.column("Queue").inner_text()
        feedback = pane.page.locator(".mgv-feedback")
        pane.node(by_tensor["y"]).click()
        assert "No gradient has reached y yet" in feedback.inner_text()
        pane.node(by_tensor["c"]).click()
        assert pane.step == 1
        pane.press("ArrowRight")
        pane.node(by_tensor["a"]).click()  # ready too, though the engine takes b
        assert pane.step == 2 and "newest first: b" in pane.sentence
        pane.press("ArrowRight")
        pane.node(by_tensor["y"]).click()
        assert "1 of 2 parts and must wait for a" in feedback.inner_text()
        assert "x.grad = 8 in the place of 12" in feedback.inner_text()
        pane.node(by_tensor["c"]).click()
        assert "fired already" in feedback.inner_text()
        pane.page.locator(".mgv-choices").get_by_role("button", name="a AddBackward0").click()
        assert pane.step == 3


def test_ready_nodes_do_not_give_the_order_away(browser: Browser, tmp_path: Path):
    _, html = asking(mode="order")
    with opened(browser, html, tmp_path) as pane:
        assert pane.page.locator(".mgv-ready, .mgv-waiting").count() == 0


def test_arrows_can_be_as_wide_as_their_gradients_are_large(browser: Browser, tmp_path: Path):
    data = recorded("diamond")
    with opened(browser, page(data), tmp_path) as pane:
        pane.press("End")
        pane.page.get_by_label("Show").select_option("Gradient size")
        widths = {}
        for step in data["steps"]:
            for out in step["outgoing"]:
                if out["edge"]:
                    line = pane.node(out["edge"]).locator(".line")
                    width = float(line.evaluate("e => parseFloat(getComputedStyle(e).strokeWidth)"))
                    widths[out["value"]["values"][0]] = width
        assert widths[1.0] < widths[2.0] < widths[6.0]
        assert "from 1 to 6" in pane.page.locator(".mgv-notes").inner_text()


def test_memory_says_what_saved_tensors_keep(browser: Browser, tmp_path: Path):
    x = mg.ones(10, 10, requires_grad=True)
    z = x.exp().sum()
    with opened(browser, page(payload(z, names={"x": x, "z": z})), tmp_path) as pane:
        pane.page.get_by_label("Show").select_option("Memory kept")
        assert pane.page.locator(".mgv-bytes").all_text_contents() == ["400 B"]
        assert "keep 400 B" in pane.page.locator(".mgv-notes").inner_text()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_first_number_that_is_not_finite_is_pointed_out(browser: Browser, tmp_path: Path):
    x = mg.tensor([1.0, 0.0], requires_grad=True)
    y = x.log()
    z = (y * 2).sum()
    with opened(browser, page(payload(z, names={"x": x, "y": y, "z": z})), tmp_path) as pane:
        note = pane.page.locator(".mgv-notes .mgv-alarm")
        assert "the first gradient that is not finite comes out of" in note.inner_text()
        note.get_by_role("button").click()
        assert "LogBackward0" in pane.sentence
        assert pane.page.locator(".mgv-col .bad").count() > 0


def test_nodes_are_found_by_name(browser: Browser, tmp_path: Path):
    data = recorded("mlp")
    with opened(browser, page(data), tmp_path) as pane:
        find = pane.page.get_by_role("searchbox", name="Find")
        find.fill("tanh")
        assert pane.page.locator(".mgv-found").count() >= 1
        find.press("Enter")
        assert "TanhBackward0" in pane.sentence or pane.step > 0
        find.fill("no such node")
        assert pane.page.locator(".mgv-found").count() == 0
        assert "0 found" in pane.page.locator(".mgv-tools").inner_text()
