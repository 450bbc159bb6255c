"""What a learner gets in my_lessons/: lessons with no answer in sight, working imports and progress; nothing is ever lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from exercises import lessons, store
from exercises.values import describe
from tests.lesson_files import BOOKS, BY_NUMBER, number_of, tagged
from tools import learners_copy
from tools.learners_copy import clean, fingerprint, refresh

ROOT = Path(__file__).resolve().parent.parent
NAME = "03_one_node_at_a_time.ipynb"
NEW = "03_new_one_node_at_a_time.ipynb"


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Path:
    """The folder of a learner who has just begun."""
    folder = tmp_path_factory.mktemp("given")
    assert refresh(folder) == []
    return folder


def test_nothing_but_lessons_and_none_missing(given):
    assert sorted(path.name for path in given.iterdir() if not path.name.startswith(".")) == sorted(
        path.name for path in BOOKS
    )
    assert (given / learners_copy.FIRST).is_file()


@pytest.mark.parametrize("name", [path.name for path in BOOKS])
def test_a_copy_is_a_sound_notebook_that_shows_nothing_yet(given, name):
    notebook = nbformat.read(given / name, 4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags", "jupyter"}
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None
    before = nbformat.read(learners_copy.NOTEBOOKS / name, 4)
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in before.cells]


def in_sight(cell: nbformat.NotebookNode) -> str:
    """What a cell shows before anything is opened."""
    return re.sub(r"<details>.*?</details>", "", cell.source, flags=re.S)


QUESTIONS = [(path.name, key) for path in BY_NUMBER.values() for key in lessons.questions(number_of(path))]


@pytest.mark.parametrize(("name", "key"), QUESTIONS, ids=[key for _, key in QUESTIONS])
def test_the_truth_of_a_prediction_is_not_on_the_page(given, name, key):
    """Neither below the question, up to where its outcome is folded or a new section begins, nor in the question itself."""
    cells = nbformat.read(given / name, 4).cells
    asked = next(at for at, cell in enumerate(cells) if tagged(cell, "predict") == key)
    truth = describe(lessons.find_question(key).truth())
    number = re.compile(rf"(?<![\w.]){re.escape(truth)}(?![\w]|\.\d)")
    for cell in cells[asked + 1 :]:
        if cell.cell_type == "markdown" and cell.source.startswith(("#", "<details>")):
            break
        text = in_sight(cell)
        if cell.cell_type == "code":  # a single digit in the program is not an answer
            text = text if len(re.findall(r"\d", truth)) > 1 else ""
        assert not number.search(text), f"{cell.id}: {text}"


def test_what_says_how_a_prediction_came_out_is_folded(given):
    """For nearly all questions: two may share a text, and for a few, an exercise or the next section gives the outcome."""
    folded = 0
    for name in {name for name, _ in QUESTIONS}:
        folded += sum(
            cell.source.startswith("<details>\n<summary>I have run it")
            for cell in nbformat.read(given / name, 4).cells
        )
    assert folded >= 0.85 * len(QUESTIONS)


# ---------------------------------------------------------------- what a learner has written


@pytest.fixture
def project(tmp_path) -> Path:
    """A folder of lessons that can be changed."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for name in (NAME, "00_start_here.ipynb", "index.ipynb"):
        shutil.copy(learners_copy.NOTEBOOKS / name, folder)
    return folder


def change(path: Path, text: str, cell: int = 0) -> None:
    """Write `text` into a cell of a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][cell]["source"] = text
    path.write_text(json.dumps(notebook), encoding="utf-8")


def source(path: Path) -> str:
    return "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_a_second_time_nothing_changes(project, tmp_path):
    mine = tmp_path / "mine"
    refresh(mine, project)
    before = files(mine)
    assert refresh(mine, project) == [] and files(mine) == before


def test_a_copy_nobody_has_written_in_is_updated_silently(project, tmp_path):
    """A copy that was only run counts as unwritten: JupyterLab adds outputs, counts, metadata, and an empty cell at the end."""
    mine = tmp_path / "mine"
    refresh(mine, project)
    ran = nbformat.read(mine / NAME, 4)
    ran.cells.append(nbformat.v4.new_code_cell(""))
    for count, cell in enumerate(ran.cells):
        if cell.cell_type == "code":
            cell.execution_count, cell.metadata["execution"] = count, {"iopub.status.busy": "now"}
            cell.outputs = [nbformat.v4.new_output("stream", text="3\n")]
    ran.metadata["widgets"] = {"state": {}}
    nbformat.write(ran, mine / NAME)
    change(project / NAME, "# 3. Better")
    assert refresh(mine, project) == []
    assert source(mine / NAME) == "# 3. Better" and NEW not in files(mine)


def test_what_a_learner_has_written_stays_and_the_new_lesson_comes_beside_it(project, tmp_path):
    mine = tmp_path / "mine"
    refresh(mine, project)
    change(mine / NAME, "# mine")
    assert refresh(mine, project) == [], "the lesson is as it was"

    change(project / NAME, "# 3. Better")
    (line,) = refresh(mine, project)
    assert line == (
        "A lesson that you have worked in has changed. Yours is as you left it; beside it is the new one: "
        + NEW
    )
    assert source(mine / NAME) == "# mine" and source(mine / NEW) == "# 3. Better"
    assert refresh(mine, project) == [], "said once"

    change(project / NAME, "# 3. Better still")  # the new lesson next to it was not touched
    (line,) = refresh(mine, project)
    assert NEW in line and source(mine / NEW) == "# 3. Better still"
    change(mine / NEW, "# mine too")
    change(project / NAME, "# 3. The best")
    (line,) = refresh(mine, project)
    assert "03_new2_one_node_at_a_time.ipynb" in line
    assert [source(mine / name) for name in (NAME, NEW)] == ["# mine", "# mine too"]


def test_what_a_learner_wrote_in_the_project_itself_is_taken_over_as_theirs(project, tmp_path):
    """The learner wrote before there was a copy; then git restores the original lesson, and later brings a newer one."""
    mine, git = tmp_path / "mine", ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(project)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "lessons"]):
        subprocess.run([*git, *words], check=True)
    change(project / NAME, "# my answers")
    other = json.loads((project / "index.ipynb").read_text(encoding="utf-8"))  # run, and nothing written
    other["cells"].append(
        {"cell_type": "code", "source": "", "metadata": {}, "outputs": [], "execution_count": 9}
    )
    (project / "index.ipynb").write_text(json.dumps(other), encoding="utf-8")
    assert learners_copy.answered_in(project) == {NAME}
    for _ in range(2):
        assert refresh(mine, project) == [] and source(mine / NAME) == "# my answers"
    subprocess.run([*git, "checkout", "-q", "."], check=True)
    (line,) = refresh(mine, project)
    assert (
        NEW in line
        and source(mine / NAME) == "# my answers"
        and source(mine / NEW).startswith("# 3. One node")
    )
    assert refresh(mine, project) == []


DEEP = '{"a":' * 100_000  # Python's JSON gives up at a depth of a thousand
CELL = '{"cells": [{"cell_type": "markdown", "metadata": %s, "source": "%s"}]}'


@pytest.mark.parametrize(
    "broken",
    ["<<<<<<< HEAD\n{}", "[]", '{"cells": [{}]}', "", DEEP, CELL % ("3", ""), CELL % ("{}", r"\ud800")],
)
def test_a_lesson_that_a_merge_has_broken_is_left_out(project, tmp_path, broken):
    mine = tmp_path / "mine"
    refresh(mine, project)
    before = files(mine)
    (project / NAME).write_text(broken, encoding="utf-8")
    (line,) = refresh(mine, project)
    assert f"{NAME} is a damaged notebook and was left out" in line and files(mine) == before
    refresh(tmp_path / "another", project)
    assert not (tmp_path / "another" / NAME).exists() and (tmp_path / "another" / "index.ipynb").exists()


def test_without_git_the_copies_are_made(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refresh(tmp_path / "mine", project) == [] and (tmp_path / "mine" / NAME).is_file()


def test_two_lessons_are_reported_in_one_line(project, tmp_path):
    mine = tmp_path / "mine"
    refresh(mine, project)
    for name in (NAME, "00_start_here.ipynb"):
        change(mine / name, "# mine")
        change(project / name, "# new")
    (line,) = refresh(mine, project)
    assert line.startswith("2 lessons that you have worked in have changed. Yours are as you left them")


def test_a_new_lesson_that_was_thrown_away_or_taken_does_not_come_back(project, tmp_path):
    mine = tmp_path / "mine"
    refresh(mine, project)
    change(mine / NAME, "# mine")
    change(project / NAME, "# 3. Better")
    refresh(mine, project)
    new = (mine / NEW).read_text(encoding="utf-8")
    (mine / NEW).unlink()
    assert refresh(mine, project) == [] and not (mine / NEW).exists()
    (mine / NAME).write_text(new, encoding="utf-8")  # the learner replaced their copy with it
    assert refresh(mine, project) == []
    change(project / NAME, "# 3. Better still")
    assert refresh(mine, project) == [] and source(mine / NAME) == "# 3. Better still"


def test_a_copy_that_was_deleted_is_made_afresh(project, tmp_path):
    mine = tmp_path / "mine"
    refresh(mine, project)
    change(mine / NAME, "# mine")
    (mine / NAME).unlink()
    assert refresh(mine, project) == [] and source(mine / NAME).startswith("# 3. One node")


def test_a_lesson_that_is_gone_is_removed_only_where_nothing_was_written(project, tmp_path):
    mine = tmp_path / "mine"
    refresh(mine, project)
    change(mine / NAME, "# mine")
    (project / NAME).unlink()
    (project / "00_start_here.ipynb").rename(project / "00_begin.ipynb")
    refresh(mine, project)
    assert {path.name for path in mine.glob("*.ipynb")} == {NAME, "00_begin.ipynb", "index.ipynb"}


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", "\x00", DEEP, '{"gone": null}'])
@pytest.mark.parametrize("what", [learners_copy.RECORD, NAME])
def test_whatever_is_damaged_nothing_is_lost(project, tmp_path, what, damage):
    mine = tmp_path / "mine"
    refresh(mine, project)
    change(mine / "index.ipynb", "# mine")
    (mine / what).write_text(damage, encoding="utf-8")
    change(project / "index.ipynb", "# new")
    change(project / NAME, "# new")
    refresh(mine, project)
    assert source(mine / "index.ipynb") == "# mine" and source(mine / "new_index.ipynb") == "# new"
    if what == NAME:  # perhaps half saved when the machine stopped: it must not be replaced
        assert (mine / NAME).read_text(encoding="utf-8") == damage and source(mine / NEW) == "# new"


def test_stopped_at_any_moment_every_file_is_whole(project, tmp_path, monkeypatch):
    """After each single step of writing: Ctrl+C, a full disk. The next time the rest is done."""
    whole = tmp_path / "whole"
    refresh(whole, project)
    replace = os.replace
    for stop_at in range(1, 7):
        mine, done = tmp_path / f"mine-{stop_at}", []

        def stop(part, path, done=done, stop_at=stop_at):
            done.append(path)
            if len(done) == stop_at:
                raise KeyboardInterrupt
            replace(part, path)

        monkeypatch.setattr(os, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            refresh(mine, project)
        monkeypatch.setattr(os, "replace", replace)
        assert all(
            text == files(whole)[name] for name, text in files(mine).items() if name.endswith(".ipynb")
        )
        assert refresh(mine, project) == [] and files(mine) == files(whole)


def test_a_text_in_another_form_is_the_same_text():
    """Editors save the same text as one string or as lines, and with other metadata."""
    notebook = nbformat.read(learners_copy.NOTEBOOKS / NAME, 4)
    text = clean(json.loads(nbformat.writes(notebook)))
    assert fingerprint(text) == fingerprint(nbformat.writes(nbformat.reads(text, 4)))
    assert fingerprint(text) == fingerprint(json.dumps(json.loads(text) | {"metadata": {}}))
    with pytest.raises(ValueError, match="not a notebook"):
        fingerprint('{"cells": 3}')


# ---------------------------------------------------------------- progress, and what a lesson imports


def test_progress_of_the_time_before_is_taken_over_once(project, tmp_path):
    mine = tmp_path / "mine"
    old = project / ".progress.json"
    old.write_text('{"solved": ["3.1"]}', encoding="utf-8")
    refresh(mine, project)
    assert not old.exists() and json.loads((mine / "progress.json").read_text(encoding="utf-8")) == {
        "solved": ["3.1"]
    }
    (mine / "progress.json").unlink()  # to begin afresh
    refresh(mine, project)
    assert not (mine / "progress.json").exists()
    (mine / "progress.json").write_text("{}", encoding="utf-8")
    old.write_text('{"solved": ["3.2"]}', encoding="utf-8")
    refresh(mine, project)
    assert (mine / "progress.json").read_text(encoding="utf-8") == "{}", "what is there now is newer"


def test_both_know_the_same_folder():
    assert learners_copy.FOLDER == store.LESSONS
    assert (learners_copy.RECORD, learners_copy.PROGRESS) == (store.COPIED, store.FILE)


def environment() -> dict[str, str]:
    """The environment of a learner's kernel: not under pytest, and with only installed packages on the path."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTEST", "MINIGRAD")) and key != "PYTHONPATH"
    }


def test_progress_lies_beside_the_lessons_in_sight(given, tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(given, mine)
    deeper = mine / "done"  # a learner who sorts lessons into folders
    deeper.mkdir()
    code = "from exercises import check; check('3.5', 'c'); from exercises import store; print(store.path())"
    for folder in (mine, deeper):
        completed = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert Path(completed.stdout.strip()).resolve() == (mine / "progress.json").resolve()
    assert json.loads((mine / "progress.json").read_text(encoding="utf-8"))["solved"] == ["3.5"]


@pytest.mark.long
def test_a_lesson_runs_in_the_copy_with_the_data_it_needs(given, monkeypatch):
    """Run by nbclient in a learner's empty folder, as JupyterLab, VS Code and Binder do. Lesson 17 reads a file."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    notebook = nbformat.read(given / BY_NUMBER["17"].name, 4)
    last = next(at for at, cell in enumerate(notebook.cells) if cell.id == "data")
    del notebook.cells[last + 1 :]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(given)}}).execute()
    assert "torch.Size([1797, 1, 8, 8])" in str(notebook.cells[last].outputs)


# ---------------------------------------------------------------- the commands that open it


def test_binder_prepares_the_copy_and_opens_nothing(tmp_path):
    lines = (ROOT / "postBuild").read_text(encoding="utf-8").splitlines()
    assert os.name == "nt" or os.access(ROOT / "postBuild", os.X_OK)
    _, *command = lines[-1].split()  # after exec
    command = [sys.executable, *command[1:], "--folder", str(tmp_path / "mine")]
    assert command[1:3] == ["tools/lessons.py", "--prepare"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "mine" / learners_copy.FIRST).is_file()


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "mine").write_text("a file of this name", encoding="utf-8")
    command = [sys.executable, "tools/lessons.py", "--prepare", "--folder", str(tmp_path / "mine")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "cannot be written (" in done.stderr and "make lessons LESSONS=~/my_lessons" in done.stderr


def test_whatever_opens_the_lessons_opens_the_copy():
    """The README, conda, Binder and Windows: no line leads to the notebooks with their answers."""
    texts = [
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("README.md", "environment.yml", "notebooks/README.md")
    ]
    assert not re.findall(r"jupyter[ -]lab \S*notebooks\S*", "\n".join(texts))
    for way in ("tools\\lessons.py", "`python tools/lessons.py`", "`my_lessons/index.ipynb`", "make lessons"):
        assert way in texts[0]
    assert "python tools/lessons.py" in texts[1]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "my_lessons/" in ignored
