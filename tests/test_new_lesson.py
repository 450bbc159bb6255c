"""`build.py --new` writes a lesson that passes the tests that every lesson has to pass."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import build
from tools import learners_copy

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A separate project with one lesson, the new one. Unchanged files are links."""
    root = tmp_path_factory.mktemp("project")
    for name in ("minigrad", "viz", "tools", "docs", "pyproject.toml", "README.md"):
        (root / name).symlink_to(ROOT / name)
    no_books = shutil.ignore_patterns("*.ipynb", "__pycache__", ".ipynb_checkpoints", "browser", "golden")
    for name in ("notebooks", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=no_books)
    for name in ("00_start_here.ipynb", "03_one_node_at_a_time.ipynb"):
        shutil.copy(ROOT / "notebooks" / name, root / "notebooks" / name)
    return root


def run(project, *command):
    return subprocess.run(
        [sys.executable, *command], cwd=project, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def lesson(project):
    made = run(project, "notebooks/build.py", "--new", "19", "Through a solver")
    assert made.returncode == 0, made.stderr
    assert (project / "notebooks/19_through_a_solver.ipynb").exists()
    return project


def passes(project, *tests, chosen, marks):
    forms = run(project, "-m", "pytest", "-q", "-p", "tests.early", *tests, "-k", chosen, "-m", marks)
    assert forms.returncode == 0, forms.stdout[-3000:]
    assert " passed" in forms.stdout


@pytest.mark.long
def test_a_new_lesson_passes(lesson):
    tests = ["tests/test_notebooks.py", "tests/test_exercises.py", "tests/test_pytorch_prints.py"]
    of_it = "(19_through and not solved and not run_all) or 19.1 or 19.2 or 19.3"
    passes(lesson, *tests, chosen=of_it, marks="not torch and not browser")


def test_a_new_lesson_shows_what_pytorch_prints(lesson, torch):
    passes(lesson, "tests/test_pytorch_prints.py", chosen="19_through", marks="torch")


def test_nothing_that_exists_is_overwritten():
    with pytest.raises(SystemExit, match="There is a lesson 03 already"):
        build.begin("03", "Another")


@pytest.mark.parametrize(
    "number, title, expected",
    [("3", "A", "two digits"), ("19", "  ", "needs a title"), ("x", "A", "two digits")],
)
def test_a_wrong_number_or_title_is_refused(number, title, expected):
    with pytest.raises(SystemExit, match=expected):
        build.begin(number, title)


def test_its_learner_does_not_see_how_the_prediction_came_out(lesson):
    cells = json.loads((lesson / "notebooks/19_through_a_solver.ipynb").read_text(encoding="utf-8"))["cells"]
    explained = {cells[at]["id"] for at in learners_copy.explanations(cells)}
    assert explained == {"first-explain"}
