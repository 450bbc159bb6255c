"""The wheel, installed in a separate environment, in programs other than Jupyter: marimo shows, and papermill writes, a frame
that steps. With minigrad and with PyTorch."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages import window
from tests.test_packaging import build_wheel, environment_with, run

pytestmark = [pytest.mark.usefixtures("torch"), pytest.mark.timeout(300)]
PROGRAM = """\
import {0} as t_{0}, viz as viz_{0}
x_{0} = t_{0}.tensor(2.0, requires_grad=True)
viz_{0}.step((x_{0} * x_{0} + 1) * x_{0})"""
PROGRAMS = [PROGRAM.format(framework) for framework in ("minigrad", "torch")]
START_SECONDS = 90
SIZE = {"width": 1200, "height": 1600}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheel = build_wheel(tmp_path_factory.mktemp("wheel"))
    return environment_with(wheel, tmp_path_factory.mktemp("environment"))


def app_of(cells: list[str]) -> str:
    """A marimo notebook with these cells, as marimo writes one."""
    functions = [
        "@app.cell\ndef _():\n    " + cell.replace("\n", "\n    ") + "\n    return" for cell in cells
    ]
    return "\n\n\n".join(["import marimo\n\napp = marimo.App()", *functions]) + "\n"


@contextmanager
def marimo(python: Path, app: Path) -> Iterator[str]:
    """Run a marimo notebook as a page; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--headless", "--no-token", "--host=127.0.0.1", f"--port={port}"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with (app.parent / "said").open("w", encoding="utf-8") as said:
        running = subprocess.Popen(
            [python, "-m", "marimo", "run", app, *options],
            cwd=app.parent,
            env=environment | {"HOME": str(app.parent), "MARIMO_SKIP_UPDATE_CHECK": "1"},
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    try:
        limit = time.monotonic() + START_SECONDS
        while True:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if running.poll() is not None or time.monotonic() > limit:
                pytest.fail((app.parent / "said").read_text(encoding="utf-8"))
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(20)


def walk_each(page: Page) -> None:
    """One step in the frame of each program, by its button."""
    for place in range(len(PROGRAMS)):
        pane = page.locator("iframe").nth(place).content_frame.locator(".mgv[data-ready]")
        expect(pane).to_have_attribute("data-step", "0", timeout=1000 * START_SECONDS)
        pane.get_by_role("button", name="Forward one step").click()
        expect(pane).to_have_attribute("data-step", "1")


def test_a_pass_steps_in_marimo(installed: Path, browser: Browser, tmp_path: Path):
    app = tmp_path / "app.py"
    app.write_text(app_of(PROGRAMS), encoding="utf-8")
    with marimo(installed, app) as address:
        page = browser.new_page(viewport=SIZE)  # console messages of marimo's own page are not ours
        page.goto(address)
        walk_each(page)
        page.close()


def test_what_papermill_has_run_steps_as_a_page(installed: Path, browser: Browser, tmp_path: Path):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = new_notebook(cells=[new_code_cell(p) for p in PROGRAMS], metadata={"kernelspec": kernel})
    nbformat.write(book, tmp_path / "book.ipynb")
    run(installed, *["-m", "papermill", "--no-progress-bar", "book.ipynb", "run.ipynb"], folder=tmp_path)
    outputs = [cell.outputs[-1].data["text/html"] for cell in nbformat.read(tmp_path / "run.ipynb", 4).cells]
    page_file = tmp_path / "run.html"
    page_file.write_text("<!doctype html><meta charset=utf-8><body>" + "".join(outputs), encoding="utf-8")
    with window(browser, viewport=SIZE) as page:
        page.goto(page_file.as_uri())
        walk_each(page)
