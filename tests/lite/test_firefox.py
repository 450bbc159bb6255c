"""Firefox: a whole lesson runs, a stepper steps, progress is found after a reload; a private window says what it forgets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.lite.firefox import Firefox, find_firefox
from tests.lite.test_run import CELLS as OURS
from tests.lite.test_run import DONE, SOLVE, WIDGET

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(find_firefox() is None, reason="no Firefox here; on Debian: apt install firefox-esr"),
]
PANES = "[...document.querySelectorAll('.mgv[data-ready]')]"
# click on the notebook: without a screen the window has no focus, which JupyterLab needs to know its current widget
OPENED = "[...(window.jupyterapp?.shell.widgets('main') ?? [])].find((widget) => widget.sessionContext)"
CELLS = OURS.replace(WIDGET, OPENED)
LESSON = "03_one_node_at_a_time"


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Callable[..., Firefox]]:
    """window(preferences): a new Firefox."""
    with ExitStack() as stack:

        def open_it(**preferences: Any) -> Firefox:
            named = {name.replace("_", "."): value for name, value in preferences.items()}
            return stack.enter_context(Firefox(tmp_path / f"profile{len(preferences)}", named))

        yield open_it


def ready(firefox: Firefox) -> None:
    """Wait until the notebook's kernel has started."""
    firefox.wait("location.pathname.endsWith('/lab/index.html')")
    firefox.wait(f"{OPENED}?.sessionContext.session?.kernel?.status === 'idle'")


def run_cell(firefox: Firefox, source: str) -> str:
    """What a new cell with this source prints or shows as text."""
    program = """(async (source) => {
      const { commands } = window.jupyterapp;
      await commands.execute("notebook:insert-cell-below");
      const model = OPENED.content.activeCell.model.sharedModel;
      model.source = source;
      await commands.execute("notebook:run-cell");
      return model.toJSON().outputs.map((o) => [o.text ?? o.data?.["text/plain"] ?? o.evalue ?? ""].flat().join("")).join("");
    })"""
    return firefox.evaluate(f"{program.replace('OPENED', OPENED)}({json.dumps(source)})")


def test_a_lesson_runs_whole_steps_and_keeps_progress(window, address):
    firefox = window()
    firefox.open(f"{address}index.html?lesson={LESSON}")
    ready(firefox)
    firefox.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => null)")
    firefox.wait(f"({DONE.replace('CELLS', CELLS)})()", 400)
    cells = [cell for cell in firefox.evaluate(CELLS) if cell["cell_type"] == "code"]
    errors = [o for cell in cells for o in cell["outputs"] if o["output_type"] == "error"]
    assert len(cells) > 30 and errors == []
    shown = firefox.evaluate(f"{PANES}.length")
    run_cell(firefox, "x = torch.ones(3, requires_grad=True)\nviz.step((x * x).sum())")
    firefox.wait(f"{PANES}.length > {shown}")
    firefox.evaluate(f"{PANES}.at(-1).querySelector('[data-action=next]').click()")
    firefox.wait(f"{PANES}.at(-1).dataset.step === '1'")
    assert "3.1 correct" in run_cell(firefox, f"from exercises import check\n{SOLVE}")
    firefox.open(f"{address}lab/index.html?path={LESSON}.ipynb")
    ready(firefox)
    assert "1 of " in run_cell(firefox, "from exercises import progress\nprogress(3)")


def test_a_private_window_runs_a_lesson(window, address):
    firefox = window(browser_privatebrowsing_autostart=True)
    firefox.open(f"{address}index.html?lesson={LESSON}")
    firefox.wait(
        "location.pathname.endsWith('/lab/index.html') || !document.getElementById('problem').hidden"
    )
    if not firefox.evaluate("location.pathname").endswith("/lab/index.html"):
        assert "keeps nothing" in firefox.evaluate("document.getElementById('what').textContent")
        firefox.evaluate("document.getElementById('again').click()")
    ready(firefox)
    assert run_cell(firefox, "import viz, minigrad; print(6 * 7)").strip() == "42"
