"""Every lesson runs whole in Chromium, with nothing but a static host: all cells, a typed answer, progress after a reload.

Only where the site has its own Python (conftest.py).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.lesson_files import LESSONS
from tools.lite.__main__ import elsewhere

NAMES = [*(path.stem for path in LESSONS), "index", "glossary", "exam"]
WIDGET = "window.jupyterapp?.shell.currentWidget"
WAIT = 240_000  # milliseconds: Python starts in 10 seconds on an idle machine


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *values: Any) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from tools.jupyterlab import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser, address) -> Iterator[Any]:
    """A page in a window of its own; it fails the test if it asked a host for something that the site does not name."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    assert not [
        url for url in asked if not url.startswith(("http://localhost:", "data:", "blob:", elsewhere()))
    ]


@pytest.fixture
def opened(page, address) -> Callable[[str], Any]:
    """opened(name): the page with this notebook open and its kernel ready."""

    def open_it(name: str) -> Any:
        page.goto(f"{address}index.html?lesson={name}")
        page.wait_for_url("**/lab/**", timeout=WAIT)
        page.wait_for_function(f"{WIDGET}?.sessionContext?.session?.kernel?.status === 'idle'", timeout=WAIT)
        return page

    return open_it


DONE = """() => {
  const cells = CELLS.filter((cell) => cell.cell_type === "code" && [cell.source].flat().join("").trim());
  const failed = (cell) => cell.outputs.some((output) => output.output_type === "error");
  const meant = (cell) => (cell.metadata.tags || []).includes("raises-exception");
  return cells.every((cell) => cell.execution_count) || cells.some((cell) => failed(cell) && !meant(cell));
}"""
CELLS = f"{WIDGET}.content.model.sharedModel.toJSON().cells"


def run_all(page: Any) -> list[dict[str, Any]]:
    """Run all cells; the code cells as they are then. The command is over early where a cell raises on purpose."""
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


@pytest.mark.timeout(600)
def test_an_answer_is_kept_across_a_reload_an_endless_one_is_stopped_and_a_picture_is_saved_as_svg(opened):
    page = opened("03_one_node_at_a_time")
    begin = "from exercises import check, progress; import minigrad as torch, viz; x = torch.ones(3, requires_grad=True)"
    assert run_cell(page, begin) == ""
    solve = "from exercises.lessons import find_exercise\nfound = find_exercise('3.1'); check(found.id, found.solution)"
    assert "3.1 correct" in run_cell(page, solve)
    endless = "def f(*values):\n    while True: pass\nfound = find_exercise('3.3'); check(found.id, *[f for _ in found.names])"
    assert "topped after" in run_cell(page, endless)
    assert "cannot write a PNG file" in run_cell(page, "viz.draw(x.sum()).save('picture.png')")
    assert (
        run_cell(page, "viz.draw(x.sum()).save('picture.svg'); print(open('picture.svg').read()[:4])").strip()
        == "<svg"
    )
    page.reload()
    page.wait_for_function(f"{WIDGET}?.sessionContext?.session?.kernel?.status === 'idle'", timeout=WAIT)
    assert "1 of 5" in run_cell(page, "from exercises import progress\nprogress(3)")


@pytest.mark.timeout(600)
def test_a_lesson_page_becomes_live(page, site, tmp_path):
    """Without JupyterLab: a cell is changed by hand and run, after those above it."""
    from tools import site as pages

    pages.build(tmp_path, lite=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://localhost:{server.server_port}/03_one_node_at_a_time.html")
        page.get_by_role("button", name="Run this page").click()
        cell = page.locator(".code", has=page.get_by_role("button", name="Run cell 4", exact=True))
        cell.locator("pre").wait_for(timeout=WAIT)
        page.get_by_role("button", name="Run cell 4", exact=True).wait_for(timeout=WAIT)
        cell.locator("pre").evaluate("(pre) => { pre.textContent = 'print(6 * 7)'; pre.focus(); }")
        page.keyboard.press("Shift+Enter")
        shown = cell.locator("xpath=following-sibling::*[1]")
        shown.get_by_text("42").wait_for(timeout=WAIT)
        server.shutdown()
