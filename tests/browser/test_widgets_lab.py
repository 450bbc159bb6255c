"""viz.explore and viz.beside in real JupyterLab, and what a saved notebook shows before anything runs."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbclient
import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, expect

from tests.browser.pages import WIDTH, Pane, window
from tools.jupyterlab import Lab, Lesson

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
EXPLORE = """\
import minigrad as torch
import viz

viz.explore(lambda x, w: x * w, x=2.0, w=3.0)"""
BESIDE = """\
import minigrad as torch
import viz

def branch(scale, again=False):
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    z = y * scale
    return z * 1 if again else z

viz.beside(branch(3.0), branch(5.0, again=True), labels=("mine", "reference"))"""
STEP = """\
import minigrad as torch
import viz

x = torch.tensor(2.0, requires_grad=True)
y = x * x
viz.step(y)"""


@contextmanager
def opened(browser: Browser, lab: Lab, notebook: nbformat.NotebookNode) -> Iterator[Lesson]:
    """The notebook in JupyterLab; complaints of the page fail the test."""
    with lab.open(browser, "book.ipynb", book=notebook) as lesson:
        yield lesson
        assert lesson.complaints == []


def run(lesson: Lesson) -> None:
    lesson.page.click(".jp-CodeCell >> nth=0")
    lesson.page.keyboard.press("Control+Enter")
    lesson.page.wait_for_selector(".mgv[data-ready]", timeout=60_000)


@functools.cache
def executed() -> nbformat.NotebookNode:
    """A notebook with a stepper, as it is saved. Shared: not to be changed."""
    book = new_notebook(cells=[new_code_cell(STEP)], metadata=KERNEL)
    return nbclient.NotebookClient(book, timeout=120).execute()


def test_a_slider_changes_the_gradients_on_the_page(browser: Browser, lab: Lab):
    book = new_notebook(cells=[new_code_cell(EXPLORE)], metadata=KERNEL)
    with opened(browser, lab, book) as lesson:
        run(lesson)
        pane = Pane(lesson.page)
        assert pane.grads() == {"x": [3.0], "w": [2.0]}
        readout = lesson.page.locator(".widget-readout").first
        readout.click()
        lesson.page.keyboard.press("Control+A")
        lesson.page.keyboard.type("5")
        lesson.page.keyboard.press("Enter")
        lesson.page.wait_for_function(
            """() => document.querySelector('[data-leaf="w"] .mgv-array')?.dataset.values === '[5]'"""
        )
        assert pane.grads() == {"x": [3.0], "w": [5.0]}
        box = lesson.page.locator(".widget-checkbox input").nth(1)  # requires_grad of w
        box.uncheck()
        lesson.page.wait_for_function("""() => !document.querySelector('[data-leaf="w"]')""")
        assert pane.grads() == {"x": [3.0]}


def test_two_passes_move_together_and_show_where_they_differ(browser: Browser, lab: Lab):
    book = new_notebook(cells=[new_code_cell(BESIDE)], metadata=KERNEL)
    with opened(browser, lab, book) as lesson:
        run(lesson)
        panes = lesson.page.locator(".mgv[data-ready]")
        expect(panes).to_have_count(2)
        expect(lesson.page.get_by_role("toolbar", name="Backward pass")).to_have_count(1)
        panes.nth(0).locator(".mgv-frame").focus()
        lesson.page.keyboard.press("ArrowRight")
        lesson.page.wait_for_function(
            "() => [...document.querySelectorAll('.mgv[data-ready]')].every(p => p.dataset.step === '1')"
        )
        panes.nth(1).locator(".mgv-frame").focus()
        lesson.page.keyboard.press("End")  # the second pass has one step more
        for pane, last in ((panes.nth(0), "3"), (panes.nth(1), "4")):
            expect(pane).to_have_attribute("data-step", last)
        expect(lesson.page.get_by_role("slider", name="Step of the backward pass")).to_have_value("4")
        for k, scale in enumerate((12.0, 20.0)):
            value = panes.nth(k).locator("[data-leaf] .mgv-array").get_attribute("data-values")
            assert value == f"[{scale:g}]"
            assert "Differs" in panes.nth(k).locator(".mgv-sentence").inner_text()


def test_just_show_me_is_remembered_by_the_next_stepper(browser: Browser, lab: Lab):
    code = STEP.replace("viz.step(y)", 'viz.step(y, ask="gradients")')
    book = new_notebook(cells=[new_code_cell(code), new_code_cell(code)], metadata=KERNEL)
    with opened(browser, lab, book) as lesson:
        run(lesson)
        lesson.page.locator("[data-action=next]").click()
        lesson.page.get_by_role("button", name="Just show me from now on").click()
        lesson.page.click(".jp-CodeCell >> nth=1")
        lesson.page.keyboard.press("Control+Enter")
        second = lesson.page.locator(".jp-CodeCell >> nth=1").locator(".mgv[data-ready]")
        second.wait_for()
        second.locator("[data-action=last]").click()
        expect(second).to_have_attribute("data-step", "2")
        second.get_by_role("checkbox", name="Ask me").check()
        second.locator("[data-action=first]").click()
        second.locator("[data-action=last]").click()
        expect(second).to_have_attribute("data-step", "2")  # what was seen is not asked again


def test_a_saved_notebook_that_is_not_trusted_still_shows_the_picture(browser: Browser, lab: Lab):
    """JupyterLab strips frames and scripts from it: what is left must be worth seeing."""
    book = copy.deepcopy(executed())
    book.metadata.pop("widgets", None)
    for output in book.cells[0].outputs:
        output.data.pop("application/vnd.jupyter.widget-view+json", None)
    with opened(browser, lab, book) as lesson:
        output = lesson.page.locator(".jp-OutputArea-output")
        assert output.locator("img").evaluate(WIDTH) > 100
        assert output.locator("iframe").count() == 0


def test_an_exported_notebook_steps_without_kernel_or_network(browser: Browser, tmp_path: Path):
    """In the page that nbconvert writes, the stepper's frame covers the picture, and it steps."""
    book = executed()
    (html,) = [o.data["text/html"] for o in book.cells[0].outputs if "text/html" in o.get("data", {})]
    file = tmp_path / "export.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{html}</body>", encoding="utf-8")
    with window(browser) as page:
        page.goto(file.as_uri())
        pane = Pane(page.frame_locator("iframe"))
        pane.page.locator(".mgv[data-ready]").wait_for()
        pane.page.locator("[data-action=last]").click()
        pane.at(2)
        assert pane.grads() == {"x": [4.0]}
        picture, cover = page.locator("img").bounding_box(), page.locator("iframe").bounding_box()
        assert abs(picture["y"] - cover["y"]) < 1 and cover["height"] > picture["height"]
