"""Every lesson runs completely in Chromium, with nothing but a static host: all cells, a typed answer, progress after a reload.

Run only where Python is available (conftest.py).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lesson_files import LESSONS
from tools.lite.__main__ import LAB

NAMES = [*(path.stem for path in LESSONS), "index", "glossary", "exam"]
WIDGET = "window.jupyterapp?.shell.currentWidget"
WAIT = 240_000  # milliseconds: Python starts in 10 seconds on an idle machine


@pytest.fixture
def opened(page, address) -> Callable[[str], Any]:
    """opened(name): the page with this notebook open and its kernel ready."""

    def open_it(name: str) -> Any:
        page.goto(f"{address}index.html?lesson={name}")
        page.wait_for_url("**/lab/**", timeout=WAIT)
        ready(page)
        return page

    return open_it


def ready(page: Any) -> None:
    """Wait until the notebook's kernel has started."""
    page.wait_for_function(f"{WIDGET}?.sessionContext?.session?.kernel?.status === 'idle'", timeout=WAIT)


DONE = """() => {
  const cells = CELLS.filter((cell) => cell.cell_type === "code" && [cell.source].flat().join("").trim());
  const failed = (cell) => cell.outputs.some((output) => output.output_type === "error");
  const meant = (cell) => (cell.metadata.tags || []).includes("raises-exception");
  return cells.every((cell) => cell.execution_count) || cells.some((cell) => failed(cell) && !meant(cell));
}"""
CELLS = f"{WIDGET}.content.model.sharedModel.toJSON().cells"


def run_all(page: Any) -> list[dict[str, Any]]:
    """Run all cells and return the code cells afterwards. The command ends early where a cell raises on purpose."""
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(DONE.replace("CELLS", CELLS), timeout=WAIT)
    return [cell for cell in page.evaluate(CELLS) if cell["cell_type"] == "code"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_runs_whole(opened, name):
    cells = run_all(opened(name))
    errors = [
        f"{output['ename']}: {output['evalue']}\n{''.join(cell['source'])}"
        for cell in cells
        for output in cell["outputs"]
        if output["output_type"] == "error" and "raises-exception" not in cell["metadata"].get("tags", [])
    ]
    assert not errors, errors[0]
    assert all(cell["execution_count"] for cell in cells if "".join(cell["source"]).strip())


@pytest.mark.timeout(600)
def test_jupyterlab_is_as_large_as_the_first_page_says(page, opened, site):
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url.partition("?")[0]))
    opened("03_one_node_at_a_time")
    root = page.url.partition("lab/")[0]
    own = {url.removeprefix(root) for url in asked if url.startswith(root) and "/pyodide/" not in url}
    assert 1e6 < sum(weight(site / path) for path in own) < LAB


def weight(file: Path) -> int:
    """The size of a file in bytes, compressed as hosts send it."""
    return len(gzip.compress(file.read_bytes(), 6)) if file.is_file() else 0


def run_cell(page: Any, source: str) -> str:
    """What a new cell with this source prints or shows as text."""
    page.evaluate("window.jupyterapp.commands.execute('notebook:insert-cell-below')")
    page.evaluate(
        f"(source) => {{ {WIDGET.replace('?', '')}.content.activeCell.model.sharedModel.source = source; }}",
        source,
    )
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
    outputs = page.evaluate(f"{WIDGET}.content.activeCell.model.sharedModel.toJSON().outputs")
    return "".join(
        "".join(o.get("text") or o.get("data", {}).get("text/plain") or o.get("evalue", "")) for o in outputs
    )


@pytest.fixture
def lesson_3(opened) -> Any:
    """The page with lesson 3, its first cell run."""
    page = opened("03_one_node_at_a_time")
    begin = "from exercises import check, progress; import minigrad as torch, viz; x = torch.ones(3, requires_grad=True)"
    assert run_cell(page, begin) == ""
    return page


SOLVE = "from exercises.lessons import find_exercise\nfound = find_exercise('3.1'); check(found.id, found.solution)"


@pytest.mark.timeout(600)
def test_an_answer_is_kept_across_a_reload_and_can_be_downloaded(lesson_3):
    page = lesson_3
    assert "3.1 correct" in run_cell(page, SOLVE)
    page.reload()
    ready(page)
    assert "1 of " in run_cell(page, "from exercises import progress\nprogress(3)")
    page.locator(".jp-DirListing-item", has_text="progress.json").click(button="right")
    with page.expect_download() as coming:
        page.locator(".lm-Menu-item", has_text="Download").first.click()
    assert "3.1" in Path(coming.value.path()).read_text(encoding="utf-8")


@pytest.mark.timeout(600)
def test_a_stepper_steps(lesson_3):
    """A widget with a running kernel."""
    run_cell(lesson_3, "viz.step((x * x).sum())")
    pane = lesson_3.locator(".jp-OutputArea-output .mgv[data-ready]").last
    pane.get_by_role("button", name="Forward one step").click()
    lesson_3.locator('.mgv[data-ready][data-step="1"]').wait_for()
    pane.locator(".mgv-frame").press("ArrowRight")
    lesson_3.locator('.mgv[data-ready][data-step="2"]').wait_for()


@pytest.mark.timeout(600)
def test_a_slider_changes_the_graph_and_a_film_says_what_it_cannot_be_saved_as(lesson_3):
    run_cell(lesson_3, "viz.explore(lambda x: x * x, x=2.0)")
    lesson_3.locator(".jp-OutputArea-output [role=slider]").last.press("ArrowRight")
    lesson_3.get_by_text("x was 2, is 2.").first.wait_for()
    filmed = "film = viz.film(every=1)\nfilm.backward((x * x).sum())\nfilm.save('film.gif')"
    assert "cannot write a GIF file" in run_cell(lesson_3, filmed)
    assert run_cell(lesson_3, "film.save('film.html')") == "PosixPath('film.html')"


@pytest.mark.timeout(600)
def test_an_endless_answer_is_stopped_and_a_picture_is_saved_as_svg(lesson_3):
    page = lesson_3
    endless = "def f(*values):\n    while True: pass\nfrom exercises.lessons import find_exercise\n"
    endless += "found = find_exercise('3.3'); check(found.id, *[f for _ in found.names])"
    assert "topped after" in run_cell(page, endless)
    assert "cannot write a PNG file" in run_cell(page, "viz.draw(x.sum()).save('picture.png')")
    saved = "viz.draw(x.sum()).save('picture.svg'); print(open('picture.svg').read()[:4])"
    assert run_cell(page, saved).strip() == "<svg"


@pytest.mark.timeout(600)
def test_a_lesson_page_becomes_live(page, site, serve, tmp_path):
    """Without JupyterLab: a cell is changed by hand and run after the cells above it."""
    from tools import site as pages

    pages.build(tmp_path, lite=site)
    page.goto(f"{serve(tmp_path)}03_one_node_at_a_time.html")
    page.get_by_role("button", name="Run this page").click()
    cell = page.locator(".code", has=page.get_by_role("button", name="Run cell 4", exact=True))
    cell.locator("pre").wait_for(timeout=WAIT)
    page.get_by_role("button", name="Run cell 4", exact=True).wait_for(timeout=WAIT)
    cell.locator("pre").evaluate("(pre) => { pre.textContent = 'print(6 * 7)'; pre.focus(); }")
    page.keyboard.press("Shift+Enter")
    shown = cell.locator("xpath=following-sibling::*[1]")
    shown.get_by_text("42").wait_for(timeout=WAIT)
    cell.locator("pre").evaluate(
        "(pre, code) => { pre.textContent = code; pre.dispatchEvent(new Event('input')); }", SOLVE
    )
    page.get_by_role("button", name="Run cell 4", exact=True).click()
    shown.get_by_text("Exercise 3.1").wait_for(timeout=WAIT)
    with page.expect_download() as coming:
        page.get_by_role("button", name="Save my progress").click()
    assert "3.1" in Path(coming.value.path()).read_text(encoding="utf-8")

    page.reload()  # typed predictions are still there, and so are solved exercises
    page.get_by_role("button", name="Run this page").click()
    page.get_by_role("button", name="Run cell 4", exact=True).wait_for(timeout=WAIT)
    assert cell.locator("pre").inner_text() == SOLVE
    with page.expect_download() as coming:
        page.get_by_role("button", name="Save my progress").click()
    assert "3.1" in Path(coming.value.path()).read_text(encoding="utf-8")
