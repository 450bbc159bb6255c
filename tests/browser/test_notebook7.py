"""The stepper in Jupyter Notebook 7, which loads widgets differently: button, keys, slider and play."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, expect

from tests.browser.pages import Pane
from tools.jupyterlab import Notebook7

PROGRAM = """\
import minigrad as torch
import viz

x = torch.tensor(2.0, requires_grad=True)
y = x * x
z = (y + 1) * y
viz.step(z)"""
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(
    find_spec("notebook") is None,
    reason="Jupyter Notebook is not installed: make test installs it into .venv",
)


def test_a_pass_steps_in_notebook_7(browser: Browser, tmp_path: Path):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = new_notebook(cells=[new_code_cell(PROGRAM)], metadata={"kernelspec": kernel})
    nbformat.write(book, tmp_path / "step.ipynb")
    with Notebook7(tmp_path, theme="dark") as server, server.open(browser, "step.ipynb") as lesson:
        lesson.run_all()
        assert lesson.errors() == []
        pane = Pane(lesson.page)
        pane.page.wait_for_selector(".mgv[data-ready]")
        pane.button("Forward one step").click()
        pane.at(1)
        pane.press("ArrowRight")
        pane.at(2)
        slider = lesson.page.get_by_role("slider", name="Step of the backward pass")
        expect(slider).to_have_value("2")
        slider.focus()
        lesson.page.keyboard.press("ArrowRight")
        pane.at(3)
        ground = lesson.page.evaluate(
            "getComputedStyle(document.querySelector('.mgv-frame')).backgroundColor"
        )
        assert sum(json.loads(ground.replace("rgb(", "[").replace(")", "]"))) < 380
        assert lesson.page.evaluate(CONTRAST) == []
        pane.press("d", "d", "a", "b")  # Notebook's own keys: delete a cell, insert cells
        assert lesson.page.locator(".jp-Cell").count() == 1
        pane.button("Play").click()
        pane.at(4)
        assert pane.grads() == {"x": [36.0]}
        own = "reading 'schema'"  # Notebook 7.6 says this of every notebook, even one without widgets
        assert [complaint for complaint in lesson.complaints if own not in complaint] == []
