"""Every lesson, as shipped, runs from top to bottom in JupyterLab: no console error, no request to another machine (both
checked by `open_lesson`), nothing raised, nothing on stderr, every widget alive. Lesson 03 does so in test_lesson_03.py."""

from __future__ import annotations

import nbformat
import pytest

from tests.lesson_files import BY_NUMBER, LESSONS


@pytest.mark.parametrize("path", [p for p in LESSONS if p != BY_NUMBER["3"]], ids=lambda path: path.stem)
def test_a_lesson_runs_from_top_to_bottom(path, open_lesson):
    assert_it_runs(open_lesson(path.name), path)


def assert_it_runs(lesson, path) -> None:
    lesson.run_all()
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    meant = sum(output.output_type == "error" for cell in cells for output in cell.outputs)
    assert len(lesson.errors()) == meant, "\n".join(lesson.errors())

    live = lesson.page.locator(".jp-OutputArea-output .jupyter-widgets")
    assert live.count() >= sum("viz.step(" in cell.source for cell in cells)
    assert lesson.page.get_by_text("model not found").count() == 0
    assert lesson.page.get_by_text("Error displaying widget").count() == 0
