"""Lesson 03 as a learner goes through it: run it in JupyterLab, step the backward pass with button, key and slider,
and see at each step what minigrad's own backward computes. In the light and in the dark theme; `open_lesson` fails
on any console error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator

import minigrad
from tests.browser.test_lessons import assert_it_runs
from tests.lesson_files import BY_NUMBER, read

LESSON = BY_NUMBER["3"]
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


def source(ident: str) -> str:
    return next(cell.source for cell in read(LESSON).cells if cell.id == ident)


def by_hand() -> tuple[list[tuple[str, list[float]]], minigrad.Tensor]:
    """The lesson's forward pass, run here: each node that minigrad's backward fires with what arrives at it, in order,
    seen through public hooks; and the leaf `w` after it."""
    space = {"torch": minigrad}
    for ident in ("forward", "forward-y", "forward-z"):
        exec(source(ident), space)
    fired = []

    def nodes(node) -> Iterator:
        yield node
        for following, _ in node.next_functions:
            if following is not None:
                yield from nodes(following)

    def watch(node) -> None:
        node.register_prehook(lambda grads: fired.append((node.name(), grads[0].numpy().ravel().tolist())))

    for node in nodes(space["z"].grad_fn):
        watch(node)
    space["z"].backward()
    return fired, space["w"]


class Stepper:
    """The stepper under the cell `viz.step(z)`, as it is on the page."""

    def __init__(self, lesson):
        self.mouse, self.keyboard = lesson.page.mouse, lesson.page.keyboard
        number = [cell.id for cell in read(LESSON).cells].index("step")
        self.cell: Locator = lesson.page.locator(".jp-Notebook .jp-Cell").nth(number)
        self.cell.scroll_into_view_if_needed()

    def wait_for(self, step: int) -> None:
        self.cell.locator(f'.mgv[data-ready][data-step="{step}"]').wait_for()

    def press(self, key: str) -> None:
        self.cell.locator(".mgv-frame").focus()
        self.keyboard.press(key)

    def click_button(self, name: str) -> None:
        self.cell.get_by_role("button", name=name, exact=True).click()

    def drag_slider(self, share: float) -> None:
        """Drag the strip, which is a slider, from its middle to a fraction of its length; 0 is before its first part."""
        strip = self.cell.locator(".mgv-strip")
        strip.hover()  # it is not moving, and nothing covers it
        self.mouse.down()
        way = strip.bounding_box()
        self.mouse.move(way["x"] - 4 + share * (way["width"] + 2), way["y"] + way["height"] / 2, steps=5)
        self.mouse.up()
        at = self.cell.get_by_role("slider", name="Step of the backward pass").input_value()
        assert at == ("3" if share else "0"), "a screen reader is told the same"

    def numbers(self, where: Locator) -> list[float] | None:
        """The array shown there; None if it says None."""
        array = where.locator(".mgv-array").last
        return (
            array.evaluate("e => JSON.parse(e.dataset.values)")
            if where.locator(".mgv-array").count()
            else None
        )

    def node(self) -> str:
        """The name of the node; where a leaf takes its gradient, the line that does it."""
        return self.cell.locator(".mgv-name code").inner_text()

    def arrived(self) -> list[float]:
        return self.numbers(self.cell.locator('.mgv-term[data-role="arrives"]'))

    def grad(self, leaf: str) -> list[float] | None:
        return self.numbers(self.cell.locator(f'[data-leaf="{leaf}"]'))


def test_the_walk_of_the_lesson(open_lesson):
    fired, w = by_hand()
    assert [name for name, _ in fired] == ["MeanBackward0", "MmBackward0", "torch::autograd::AccumulateGrad"]

    lesson = open_lesson(LESSON.name)
    assert_it_runs(lesson, LESSON)
    number = [cell.id for cell in read(LESSON).cells].index("compare")
    printed = lesson.page.locator(".jp-Notebook .jp-Cell").nth(number).locator(".jp-OutputArea").inner_text()
    assert repr(w.grad) in printed, "what the cell after the stepper prints is what the walk is to show"
    assert "x.grad: None" in printed

    stepper = Stepper(lesson)
    stepper.wait_for(0)
    stepper.cell.get_by_label("Ask me").uncheck()  # the lesson asks before each step; this only walks
    assert stepper.grad("w") is None  # backward has run, but the pane has not shown any of it yet

    moves = [
        lambda: stepper.click_button("Forward one step"),
        lambda: stepper.press("ArrowRight"),
        lambda: stepper.drag_slider(1.0),
    ]
    for number, (move, (name, gradient)) in enumerate(zip(moves, fired, strict=True), start=1):
        move()
        stepper.wait_for(number)
        assert stepper.node() == ("w.grad = grad" if name.endswith("AccumulateGrad") else name)
        assert stepper.arrived() == pytest.approx(gradient)
        assert stepper.grad("w") == (None if number < 3 else pytest.approx(w.grad.numpy().ravel().tolist()))

    for theme in ("light", "dark"):
        lesson.wear(theme)
        assert lesson.page.evaluate(CONTRAST) == []  # every text has enough contrast

    stepper.drag_slider(0.0)
    stepper.wait_for(0)
    assert stepper.grad("w") is None
    stepper.press("End")
    stepper.wait_for(3)
    stepper.press("ArrowLeft")
    stepper.wait_for(2)
    assert stepper.arrived() == pytest.approx(fired[1][1])


def test_the_saved_lesson_shows_its_graph_before_it_is_run(open_lesson):
    """The picture of its graph is visible as soon as the lesson is opened: a notebook that is not yet trusted keeps images."""
    lesson = open_lesson(LESSON.name)
    number = [cell.id for cell in read(LESSON).cells].index("draw")
    pictures = (
        lesson.page.locator(".jp-Notebook .jp-Cell")
        .nth(number)
        .locator(".jp-OutputArea img, .jp-OutputArea svg")
    )
    pictures.first.wait_for()
    assert pictures.first.bounding_box()["width"] > 100
