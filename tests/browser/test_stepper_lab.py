"""The stepper in real JupyterLab: button, keys, slider and play move one pass, in both themes, without the kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, expect

from tests.browser.pages import Pane
from tools.jupyterlab import Lab, Lesson

PROGRAM = """\
import minigrad as torch
import viz

x = torch.tensor(2.0, requires_grad=True)
y = x * x
a = y + 1
b = y * 2
c = a + b
viz.step(c)"""

# a cell that keeps the kernel busy until the test has seen enough
BUSY = """\
import pathlib, time
until = time.time() + 60
while not pathlib.Path({!r}).exists() and time.time() < until:
    time.sleep(0.05)"""


@pytest.fixture(scope="module")
def stepper(browser: Browser, lab: Lab, tmp_path_factory) -> Iterator[Lesson]:
    folder: Path = tmp_path_factory.mktemp("stepper")
    cells = [new_code_cell(PROGRAM), new_code_cell(BUSY.format(str(folder / "go_on")))]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    with lab.open(browser, "step.ipynb", book=book) as lesson:
        lesson.page.click(".jp-CodeCell >> nth=0")
        lesson.page.keyboard.press("Control+Enter")
        lesson.page.wait_for_selector(".mgv[data-ready]", timeout=60_000)
        lesson.go_on = folder / "go_on"
        yield lesson


def pane_of(lesson: Lesson) -> Pane:
    pane = Pane(lesson.page)
    pane.press("Home")
    pane.at(0)
    return pane


def test_keys_step_and_jupyterlab_keeps_out_of_the_way(stepper: Lesson):
    pane = pane_of(stepper)
    cells = stepper.page.locator(".jp-Cell").count()
    pane.press("ArrowRight", "ArrowRight", "End", "ArrowLeft")
    pane.at(4)
    pane.press("d", "d", "a", "b")  # JupyterLab's own: delete a cell, insert cells
    assert stepper.page.locator(".jp-Cell").count() == cells
    pane.press("ArrowRight")
    pane.at(5)
    assert pane.grads() == {"x": [12.0]}


def test_the_slider_moves_and_is_moved(stepper: Lesson):
    pane = pane_of(stepper)
    pane.button("Forward one step").click()
    pane.button("Forward one step").click()
    slider = stepper.page.get_by_role("slider", name="Step of the backward pass")
    expect(slider).to_have_value("2")
    slider.focus()
    stepper.page.keyboard.press("ArrowRight")
    pane.at(3)
    stepper.page.keyboard.press("End")
    pane.at(5)
    assert pane.grads() == {"x": [12.0]}


def test_play_reaches_the_end(stepper: Lesson):
    pane = pane_of(stepper)
    pane.more("Playback speed", "8×")
    pane.button("Play").click()
    pane.at(5)
    assert pane.grads() == {"x": [12.0]}
    # playing is over: going back does not start it again
    pane.button("Play").wait_for()
    pane.more("Playback speed", "1×")
    pane.press("Home", "ArrowRight")
    stepper.page.wait_for_timeout(1500)
    pane.at(1)
    pane.button("Play").click()  # it plays on from there
    moved = stepper.page.locator(".mgv")
    expect(moved).not_to_have_attribute("data-step", "1")
    pane.press("ArrowLeft")  # until somebody steps
    pane.button("Play").wait_for()
    at = pane.step
    stepper.page.wait_for_timeout(1500)
    pane.at(at)
    pane.press("Home")
    pane.at(0)
    pane.press("Space")  # space plays too
    expect(moved).not_to_have_attribute("data-step", "0")
    pane.press("Space")
    pane.button("Play").wait_for()


def test_typing_in_another_cell_while_it_plays_loses_nothing(stepper: Lesson):
    """Text goes into that cell, undo works there, and the pass meanwhile continues to its end."""
    pane, keys = pane_of(stepper), stepper.page.keyboard
    other = stepper.page.locator(".jp-CodeCell >> nth=1").locator(".cm-content")
    before = other.inner_text()
    pane.button("Play").click()
    other.click(position={"x": 2, "y": 2})
    keys.press("Control+Home")
    keys.type("left = 1 ", delay=60)
    expect(stepper.page.locator(".mgv")).not_to_have_attribute("data-step", "0")
    expect(other).to_be_focused()
    assert other.inner_text() == f"left = 1 {before}"
    while other.inner_text() != before:
        length = len(other.inner_text())
        keys.press("Control+z")
        assert len(other.inner_text()) < length
    pane.at(5)
    expect(other).to_be_focused()
    assert other.inner_text() == before and pane.grads() == {"x": [12.0]}


def test_there_is_one_toolbar(stepper: Lesson):
    assert stepper.page.get_by_role("button", name="Play", exact=True).count() == 1
    assert stepper.page.locator(".jp-OutputArea input[type=range]").count() == 1
    assert stepper.page.locator(".widget-play, .widget-slider").count() == 0


def test_it_steps_while_the_kernel_is_busy(stepper: Lesson):
    pane = pane_of(stepper)
    stepper.page.locator(".jp-CodeCell >> nth=1").locator(".jp-InputArea-editor").click()
    stepper.page.keyboard.press("Control+Enter")
    stepper.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=busy]")
    pane.press("ArrowRight", "ArrowRight", "ArrowRight")
    pane.at(3)
    pane.button("To the end").click()
    pane.at(5)
    assert stepper.page.locator(".jp-Notebook-ExecutionIndicator[data-status=busy]").count() == 1
    stepper.go_on.touch()
    stepper.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")


def test_a_click_on_a_node_goes_to_its_step(stepper: Lesson):
    pane = pane_of(stepper)
    pane.go_to(stepper.page.locator(".mgv-svg .node.leaf, .mgv-svg .node.accumulate").last)
    pane.at(5)


def test_it_wears_the_theme(stepper: Lesson):
    pane = pane_of(stepper)
    pane.press("ArrowRight", "ArrowRight")
    pane.at(2)
    ground = "getComputedStyle(document.querySelector('.mgv-frame')).backgroundColor"
    for scheme in ("dark", "light"):
        stepper.wear(scheme)
        colour = json.loads(stepper.page.evaluate(ground).replace("rgb(", "[").replace(")", "]"))
        assert (sum(colour) > 380) is (scheme == "light")
        weak = stepper.page.evaluate(Path(__file__).with_name("contrast.js").read_text(encoding="utf-8"))
        assert weak == []


def test_nothing_complained(stepper: Lesson):
    assert stepper.complaints == []
