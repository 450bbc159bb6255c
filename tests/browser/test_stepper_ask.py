"""Predict before reveal in the browser: the gate, wrong answers and their causes, "just show me", overlays and search."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import minigrad as mg
from tests.browser.pages import Pane, opened, recorded
from viz.show.ask import questions
from viz.show.page import page
from viz.show.payload import payload


def asking(name: str = "diamond", mode: str = "gradients", **more) -> tuple[dict, str]:
    data = recorded(name, **more)
    data["questions"] = questions(data, mode)
    return data, page(data, options={"ask": mode})


def answer(pane: Pane, text: str) -> None:
    pane.page.locator(".mgv-answer").fill(text)
    pane.page.keyboard.press("Enter")


def wrong(pane: Pane, text: str, says: str) -> None:
    """Give a wrong answer; `says` is a part of the reply."""
    answer(pane, text)
    expect(pane.page.locator(".mgv-feedback")).to_contain_text(says)


def test_a_step_shows_only_after_its_prediction(browser: Browser, tmp_path: Path):
    _, html = asking()
    with opened(browser, html, tmp_path) as pane:
        for number, right in enumerate(["1", "2", "1", "3", "12"], 1):
            pane.press("ArrowRight")
            pane.asks()
            pane.at(number - 1)
            answer(pane, right)
            pane.at(number)
            pane.says("Correct.")
        assert pane.grads() == {"x": [12.0]}


@pytest.mark.parametrize("width", [320, 360])
def test_on_a_phone_the_toolbar_takes_three_lines_at_most(browser: Browser, tmp_path: Path, width: int):
    """With everything that a toolbar can hold; each control is visible, 24 px large, and reachable by Tab."""
    _, html = asking("mlp")
    with opened(browser, html, tmp_path, viewport={"width": width, "height": 740}) as pane:
        bar = pane.page.locator(".mgv-bar")
        controls = bar.locator(":is(button, input):visible")
        names = ["checkbox", "range", "search"]
        assert sorted({c.evaluate("el => el.type") for c in controls.all()} - {"button"}) == names
        lines: list[float] = []
        for control in controls.all():
            # a check box includes its label
            box = control.evaluate(
                "el => (/checkbox|range/.test(el.type) ? el.parentNode : el).getBoundingClientRect().toJSON()"
            )
            assert box["width"] >= 24 and box["height"] >= 24 and 0 <= box["left"] <= box["right"] <= width
            middle = (box["top"] + box["bottom"]) / 2
            lines += [middle] if all(abs(middle - line) > 8 for line in lines) else []
        assert len(lines) <= 3
        reached = 0
        controls.first.focus()
        while pane.page.evaluate("document.activeElement.closest('.mgv-bar') !== null"):
            reached += 1
            pane.page.keyboard.press("Tab")
        assert reached == controls.count()


def test_no_way_leads_around_the_question(browser: Browser, tmp_path: Path):
    data, html = asking()
    with opened(browser, html, tmp_path) as pane:
        pane.press("End")
        pane.asks()
        pane.at(0)
        pane.page.get_by_role("slider", name="Step of the backward pass").fill("4")
        pane.at(0)
        pane.go_to(pane.node(data["steps"][3]["node"]))
        pane.at(0)
        pane.press("Space")
        pane.at(0)


def test_what_is_asked_is_shown_nowhere(browser: Browser, tmp_path: Path):
    data, html = asking(view="cards")
    with opened(browser, html, tmp_path) as pane:
        for right in ("1", "2", "1"):
            pane.press("ArrowRight")
            answer(pane, right)
        pane.press("ArrowRight")  # the total of y is asked: 2 + 1
        pane.asks()
        node = data["steps"][3]["node"]
        assert pane.node(node).locator(".mgv-cells").count() == 1  # its value, not its gradient
        pane.node(node).hover()
        tip = pane.page.get_by_role("tooltip")
        expect(tip).to_contain_text("value")
        assert "grad\n" not in tip.inner_text()
        assert "?" in pane.column("Receives").inner_text()
        assert "checked" not in pane.column("Rule").inner_text()  # that text would say what was measured


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("4", "fires too early, with the part from a"),
        ("8", "fires too early, with the part from b"),
        ("16", "fires twice"),
        ("2", "overwrites a gradient (=) instead of adding"),
        ("6", "the part from y alone"),
        ("-12", "the sign is not"),
        ("[1, 2]", "2 numbers"),
        ("13", "the value of c, not a gradient"),
        ("14", "That is not it"),
        ("sesame", 'I cannot read "sesame"'),
    ],
)
def test_a_wrong_answer_is_answered_with_its_cause(browser: Browser, tmp_path: Path, given: str, says: str):
    _, html = asking()
    with opened(browser, html, tmp_path) as pane:
        for right in ("1", "2", "1", "3"):
            pane.press("ArrowRight")
            answer(pane, right)
        pane.press("ArrowRight")
        wrong(pane, given, says)
        pane.at(4)
        answer(pane, "12")
        pane.at(5)


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ("[[1], [2], [3]]", None),
        ("1 2 3", None),
        ("[[3/3], [4/2], [3.0]]", None),
        ("tensor([[1.], [2.], [3.]])", None),
        ("[1, 2, 3]", None),
        ("[[1, 2, 3]]", "transposed"),
        ("6", "sum of all entries"),
        ("[[2], [4], [6]]", "off by the same factor"),
        ("[[1, 2], [3]]", "Enter a number"),
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
        pane.at(2)  # the worked example
        pane.press("ArrowRight")
        if outcome is None:
            answer(pane, given)
            pane.at(3)
        else:
            wrong(pane, given, outcome)


def test_entries_rounded_to_whole_numbers_are_not_off_by_a_factor(browser: Browser, tmp_path: Path):
    w = mg.tensor([1.0, 1.0], requires_grad=True)
    z = (w * mg.tensor([31.0, 40.0]) / -3).sum()
    data = payload(z, names={"w": w, "z": z})
    data["questions"] = questions(data, "gradients", given=len(data["steps"]) - 1)
    with opened(browser, page(data, options={"ask": "gradients"}), tmp_path) as pane:
        pane.press("End")
        wrong(pane, "[-10, -13]", "more digits")
        wrong(pane, "[-20.6667, -26.6667]", "off by the same factor")
        answer(pane, "[-10.3, -13.3]")
        pane.at(len(data["steps"]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("[1/4, nan]", None),
        ("0.25 NaN", None),
        ("[0.25, 0/0]", None),
        ("[0.25, 0]", "a sum with a nan in it is nan"),
        ("[0.25, inf]", "undefined value to be inf"),
        ("[-1/4, -nan]", "the sign is not"),
        ("[0.25, 7]", "That is not it"),
        ("[0.25, nun]", "Enter a number"),
    ],
)
def test_what_is_not_finite_can_be_typed(browser: Browser, tmp_path: Path, given: str, says: str | None):
    x = mg.tensor([4.0, 0.0], requires_grad=True)
    z = mg.where(x > 0, x.sqrt(), 0.0).sum()
    data = payload(z, names={"x": x, "z": z})
    data["questions"] = questions(data, "gradients", given=3)
    with opened(browser, page(data, options={"ask": "gradients"}), tmp_path) as pane:
        pane.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
        if says is None:
            answer(pane, given)
            pane.at(4)
        else:
            wrong(pane, given, says)


def test_just_show_me_is_one_click_and_stays(browser: Browser, tmp_path: Path):
    _, html = asking()
    with opened(browser, html, tmp_path) as pane:
        pane.press("ArrowRight")
        pane.button("Show this step").click()
        pane.at(1)
        pane.press("ArrowRight")
        pane.asks()
        pane.at(1)  # "just show me" was for one step only
        pane.button("Just show me from now on").click()
        pane.at(2)
        pane.press("ArrowRight", "ArrowRight")
        pane.at(4)
        box = pane.page.get_by_role("checkbox", name="Ask me")
        expect(box).not_to_be_checked()
        box.check()
        pane.press("ArrowRight")
        pane.asks()
        pane.at(4)


def test_keys_alone_answer_and_the_focus_is_never_lost(browser: Browser, tmp_path: Path):
    _, html = asking()
    with opened(browser, html, tmp_path) as pane:
        focus = "document.activeElement.className"
        pane.press("ArrowRight")
        pane.asks()
        assert pane.page.evaluate(focus) == "mgv-answer"
        for key in "7", "Enter":
            pane.page.keyboard.press(key)
        expect(pane.page.locator(".mgv-feedback")).to_contain_text("Not yet.")
        assert pane.page.evaluate(focus) == "mgv-answer"  # to try again
        pane.page.keyboard.press("Control+A")
        for key in "1", "Enter":
            pane.page.keyboard.press(key)
        pane.at(1)
        assert pane.page.evaluate(focus) == "mgv-frame"  # the arrows step on
        pane.page.keyboard.press("ArrowRight")
        pane.asks()
        pane.button("Show this step").focus()
        pane.page.keyboard.press("Enter")
        pane.at(2)
        assert pane.page.evaluate(focus) == "mgv-frame"
        pane.page.keyboard.press("ArrowRight")
        pane.asks()
        pane.button("Just show me from now on").focus()
        pane.page.keyboard.press("Enter")
        pane.at(3)
        assert pane.page.evaluate(focus) == "mgv-frame"
        pane.page.locator(".mgv-col .mgv-chip").first.focus()  # the next node, in the queue
        pane.page.keyboard.press("Enter")
        pane.at(4)
        assert pane.page.evaluate(focus) == "mgv-frame"


def test_keys_alone_choose_the_node_that_fires_next(browser: Browser, tmp_path: Path):
    _, html = asking(mode="order")
    with opened(browser, html, tmp_path) as pane:
        pane.press("ArrowRight")
        pane.asks()
        names = pane.page.locator(".mgv-choices .mgv-chip").all_inner_texts()
        for _ in range([name.split()[0] for name in names].index("c")):
            pane.page.keyboard.press("Tab")  # the first has the focus already
        pane.page.keyboard.press("Enter")
        pane.at(1)
        assert pane.page.evaluate("document.activeElement.className") == "mgv-frame"


def test_which_node_may_fire_next_is_answered_by_a_click(browser: Browser, tmp_path: Path):
    data, html = asking(mode="order")
    by_tensor = {step["tensor"]: step["node"] for step in data["steps"]}
    with opened(browser, html, tmp_path) as pane:
        pane.press("ArrowRight")
        expect(pane.column("Queue")).to_contain_text("after your answer")
        feedback = pane.page.locator(".mgv-feedback")
        pane.node(by_tensor["y"]).click()
        expect(feedback).to_contain_text("No gradient has reached y yet")
        pane.node(by_tensor["c"]).click()
        pane.at(1)
        pane.press("ArrowRight")
        pane.node(by_tensor["a"]).click()  # ready too, though the engine takes b
        pane.at(2)
        pane.says("newest first: b")
        pane.press("ArrowRight")
        pane.node(by_tensor["y"]).click()
        expect(feedback).to_contain_text("1 of 2 parts and must wait for a")
        expect(feedback).to_contain_text("x.grad would be 8 instead of 12")
        pane.node(by_tensor["c"]).click()
        expect(feedback).to_contain_text("fired already")
        pane.page.locator(".mgv-choices").get_by_role("button", name="a AddBackward0").click()
        pane.at(3)


def test_ready_nodes_do_not_give_the_order_away(browser: Browser, tmp_path: Path):
    _, html = asking(mode="order")
    with opened(browser, html, tmp_path) as pane:
        assert pane.page.locator(".mgv-ready, .mgv-waiting").count() == 0


def test_arrows_can_be_as_wide_as_their_gradients_are_large(browser: Browser, tmp_path: Path):
    data = recorded("diamond")
    with opened(browser, page(data), tmp_path) as pane:
        pane.press("End")
        pane.at(len(data["steps"]))
        pane.more("Overlay", "Gradient size")
        expect(pane.page.locator(".mgv-notes")).to_contain_text("from 1 to 6")
        widths = {}
        for step in data["steps"]:
            for out in step["outgoing"]:
                if out["edge"]:
                    line = pane.node(out["edge"]).locator(".line")
                    width = float(line.evaluate("e => parseFloat(getComputedStyle(e).strokeWidth)"))
                    widths[out["value"]["values"][0]] = width
        assert widths[1.0] < widths[2.0] < widths[6.0]


def test_memory_says_what_saved_tensors_keep(browser: Browser, tmp_path: Path):
    x = mg.ones(10, 10, requires_grad=True)
    z = x.exp().sum()
    with opened(browser, page(payload(z, names={"x": x, "z": z})), tmp_path) as pane:
        pane.more("Overlay", "Saved memory")
        expect(pane.page.locator(".mgv-bytes")).to_have_text(["400 B"])
        expect(pane.page.locator(".mgv-notes")).to_contain_text("take 400 B")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_first_number_that_is_not_finite_is_pointed_out(browser: Browser, tmp_path: Path):
    x = mg.tensor([1.0, 0.0], requires_grad=True)
    y = x.log()
    z = (y * 2).sum()
    with opened(browser, page(payload(z, names={"x": x, "y": y, "z": z})), tmp_path) as pane:
        note = pane.page.locator(".mgv-notes .mgv-alarm")
        assert "the first gradient that is not finite comes out of" in note.inner_text()
        note.get_by_role("button").click()
        pane.says("LogBackward0")
        assert pane.page.locator(".mgv-col .bad").count() > 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_with_questions_the_first_nan_is_not_shown_before_its_step(browser: Browser, tmp_path: Path):
    x = mg.tensor([1.0, 0.0], requires_grad=True)
    y = x.log()
    z = (y * 2).sum()
    names = {"x": x, "y": y, "z": z}
    data = payload(z, names=names)
    data["questions"] = questions(data, "order")
    first = 1 + next(
        i
        for i, s in enumerate(data["steps"])
        if any(o["value"] and o["value"]["nonfinite"] for o in s["outgoing"])
    )
    with opened(browser, page(data, options={"ask": "order"}), tmp_path) as pane:
        note = pane.page.locator(".mgv-notes .mgv-alarm")
        for step in range(1, first):
            expect(note).to_be_hidden()
            pane.press("ArrowRight")
            pane.page.get_by_role("button", name="Show this step").click()
            pane.at(step)
        expect(note).to_be_hidden()
        pane.press("ArrowRight")
        expect(note).to_be_hidden()  # asked, not answered
        pane.page.get_by_role("button", name="Show this step").click()
        pane.at(first)
        expect(note).to_be_visible()


def test_nodes_are_found_by_name(browser: Browser, tmp_path: Path):
    data = recorded("mlp")
    with opened(browser, page(data), tmp_path) as pane:
        find = pane.page.get_by_role("searchbox")
        find.fill("tanh")
        expect(pane.page.locator(".mgv-found")).not_to_have_count(0)
        find.press("Enter")
        pane.says("TanhBackward0")
        find.fill("no such node")
        expect(pane.page.locator(".mgv-found")).to_have_count(0)
        expect(pane.page.locator(".mgv-tools")).to_contain_text("0 found")
