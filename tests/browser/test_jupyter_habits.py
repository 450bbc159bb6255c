"""What people do with a notebook: answer with Enter, run a cell again, save it and open it without a kernel, export it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, expect

from tests.browser.pages import Pane
from tools.jupyterlab import Lab, Lesson

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
FORWARD = """\
import minigrad as torch
import viz

x = torch.tensor(2.0, requires_grad=True)
y = x * x
c = (y + 1) + y * 2"""
SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"


@contextmanager
def opened(browser: Browser, lab: Lab, *cells: str) -> Iterator[Lesson]:
    """A notebook of these cells in JupyterLab; complaints of the page fail the test."""
    book = new_notebook(cells=[new_code_cell(cell) for cell in cells], metadata=KERNEL)
    with lab.open(browser, "book.ipynb", book=book) as lesson:
        lesson.folder, lesson.url = lab.folder, lab.url
        yield lesson
        assert lesson.complaints == []


def run(lesson: Lesson, cell: int) -> None:
    lesson.page.locator(".jp-CodeCell").nth(cell).locator(".jp-InputArea-editor").click()
    lesson.page.keyboard.press("Control+Enter")
    prompt = lesson.page.locator(f".jp-CodeCell >> nth={cell}").locator(".jp-InputArea-prompt")
    expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=60_000)


def test_enter_answers_and_the_focus_stays(browser: Browser, lab: Lab):
    with opened(browser, lab, FORWARD, 'viz.step(c, ask="gradients")') as lesson:
        run(lesson, 0)
        run(lesson, 1)
        lesson.page.locator(".mgv[data-ready]").wait_for()
        pane = Pane(lesson.page)
        pane.press("ArrowRight")
        pane.asks()
        answer = lesson.page.locator(".mgv-answer")
        answer.click()
        lesson.page.keyboard.type("7")
        lesson.page.keyboard.press("Enter")
        expect(lesson.page.locator(".mgv-feedback")).to_contain_text("Not yet.")
        expect(answer).to_be_focused()
        lesson.page.get_by_role("button", name="Check", exact=True).click()
        expect(answer).to_be_focused()  # the mouse does not take it away
        lesson.page.keyboard.press("Control+A")
        lesson.page.keyboard.type("1")
        lesson.page.keyboard.press("Enter")
        pane.at(1)
        pane.says("Correct.")
        assert lesson.page.locator(".jp-CodeCell").count() == 2  # and Enter did nothing to the notebook


def test_a_steppers_cell_can_be_run_again(browser: Browser, lab: Lab):
    with opened(browser, lab, FORWARD, "viz.step(c)") as lesson:
        run(lesson, 0)
        run(lesson, 1)
        lesson.page.locator(".mgv[data-ready]").wait_for()
        first = lesson.page.locator(".jp-CodeCell >> nth=1").locator(".jp-InputArea-prompt").inner_text()
        lesson.page.locator(".jp-CodeCell").nth(1).locator(".jp-InputArea-editor").click()
        lesson.page.keyboard.press("Control+Enter")
        prompt = lesson.page.locator(".jp-CodeCell >> nth=1").locator(".jp-InputArea-prompt")
        expect(prompt).not_to_have_text(first)
        lesson.page.locator(".mgv[data-ready]").wait_for()
        pane = Pane(lesson.page)
        pane.says("recorded pass is shown")
        pane.press("End")
        pane.at(5)
        assert pane.grads() == {"x": [12.0]}
        assert lesson.page.locator(".jp-OutputArea-output[data-mime-type*='error']").count() == 0


def test_a_notebook_saved_and_opened_without_a_kernel_still_steps_and_so_does_its_export(
    browser: Browser, lab: Lab, tmp_path: Path
):
    with opened(browser, lab, FORWARD, "viz.step(c)") as lesson:
        run(lesson, 0)
        run(lesson, 1)
        lesson.page.locator(".mgv[data-ready]").wait_for()
        lesson.page.locator(".jp-CodeCell").nth(0).locator(".jp-InputArea-editor").click()
        lesson.page.keyboard.press("Control+s")
        saved = lesson.folder / "book.ipynb"
        lesson.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
        assert "widgets" in nbformat.read(saved, 4).metadata
        url = lesson.url
        lesson.page.evaluate(SHUT_DOWN)
        # the next day: a new window, whose kernel has run nothing, and then no kernel
        context = browser.new_context(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
        try:
            page = context.new_page()
            page.goto(f"{url}/lab/tree/book.ipynb?reset", wait_until="domcontentloaded")
            page.locator(".mgv[data-ready]").wait_for(timeout=120_000)
            pane = Pane(page)
            pane.press("ArrowRight")
            pane.at(1)
            page.evaluate(SHUT_DOWN)
            pane.press("End")
            pane.at(5)
            assert pane.grads() == {"x": [12.0]}
            # Lab's own menu asks the server for this
            text = page.evaluate(
                """async () => {
                    const token = /_xsrf=([^;]+)/.exec(document.cookie)[1];
                    return (await fetch(`/nbconvert/html/book.ipynb?download=false&_xsrf=${token}`)).text();
                }"""
            )
        finally:
            context.close()
        html = tmp_path / "export.html"
        html.write_text(text, encoding="utf-8")
        assert_it_steps_offline(browser, html)


def assert_it_steps_offline(browser: Browser, file: Path) -> None:
    context = browser.new_context(offline=True, viewport={"width": 1366, "height": 768})
    try:
        page = context.new_page()
        page.goto(file.as_uri(), wait_until="domcontentloaded")
        frame = page.frame_locator("iframe").first
        frame.locator(".mgv[data-ready]").wait_for()
        pane = Pane(frame)
        frame.locator("[data-action=last]").click()
        pane.at(5)
        assert pane.grads() == {"x": [12.0]}
    finally:
        context.close()
