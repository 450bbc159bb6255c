"""viz.film in a notebook that is not trusted, and exported without a kernel. (Live: test_film_everywhere.py.)"""

from __future__ import annotations

import functools
from pathlib import Path

import nbclient
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, expect

from tests.browser.pages import WIDTH, Pane, window
from tests.browser.test_widgets_lab import KERNEL, opened
from tools.jupyterlab import Lab

FILM = """\
import minigrad as torch
import viz

w = torch.tensor([1.0, -2.0], requires_grad=True)
film = viz.film()
for _ in range(5):
    w.grad = None
    film.backward((w.tanh() ** 2).sum())
    with torch.no_grad():
        w -= 0.1 * w.grad
film"""


@functools.cache
def executed() -> tuple[object, str]:
    book = new_notebook(cells=[new_code_cell(FILM)], metadata=KERNEL)
    nbclient.NotebookClient(book, timeout=120).execute()
    book.metadata.pop("widgets", None)
    [output] = book.cells[0].outputs
    output.data.pop("application/vnd.jupyter.widget-view+json", None)
    assert output.data["text/plain"].startswith("Film(5 frames of 5 steps, loss ")
    return book, output.data["text/html"]


def test_a_saved_notebook_that_is_not_trusted_still_shows_the_picture(browser: Browser, lab: Lab):
    book, _ = executed()
    with opened(browser, lab, book) as lesson:
        output = lesson.page.locator(".jp-OutputArea-output")
        assert output.locator("img").evaluate(WIDTH) > 100
        assert output.locator("iframe").count() == 0


def test_an_exported_film_plays_without_kernel_or_network(browser: Browser, tmp_path: Path):
    file = tmp_path / "export.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{executed()[1]}</body>", encoding="utf-8")
    with window(browser) as page:
        page.goto(file.as_uri())
        pane = Pane(page.frame_locator("iframe"))
        pane.page.locator(".mgf[data-ready]").wait_for()
        pane.page.get_by_label("To the end").click()
        expect(pane.page.locator(".mgf")).to_have_attribute("data-step", "4")
