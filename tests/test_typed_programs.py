"""The programs that `make lint` checks the types of also run: what is typed there is what the functions return."""

from __future__ import annotations

from pathlib import Path

import pytest

import minigrad as mg
import viz
from tests import exercises_typed_program, viz_typed_program


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(viz.Drawing, "show", lambda drawing: None)  # it would open a browser


def test_viz(tmp_path):
    x = mg.ones(4, 2, requires_grad=True)
    saved = viz_typed_program.pictures(x, tmp_path)
    assert [path.name for path in saved] == ["loss.svg", "loss.png"] and all(path.is_file() for path in saved)
    assert "Both passes are the same" in viz_typed_program.passes(x)
    assert viz_typed_program.spent(x) > 0
    assert isinstance(viz_typed_program.train(x), list) and Path("film.html").is_file()
    try:
        assert viz_typed_program.sliders().leaves.keys() == {"x", "w"}
    finally:
        viz.widgets("auto")


def test_exercises():
    lines = exercises_typed_program.learn()
    assert lines[0].startswith("try again") and not any(line.startswith("fault") for line in lines)
    assert exercises_typed_program.sit().results and Path("exam.html").is_file()
    assert "0 " in exercises_typed_program.teach(Path())
