"""What every saved lesson must have, so that someone who only reads it sees everything, and nbval compares everything."""

from __future__ import annotations

import re
from itertools import pairwise

import nbformat
import pytest

import build
import lesson_text
import minutes
from exercises import lessons
from tests.lesson_files import BOOKS, BY_NUMBER, LESSONS, NOTEBOOKS, number_of, printed, read, tagged
from viz.show.page import asset

each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
# the index, the glossary, the exam, too
each_book = pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def test_there_are_lessons():
    assert {"0", "3"} <= set(BY_NUMBER)


@each_book
def test_every_cell_was_run_once_from_top_to_bottom(path):
    """nbval does not compare a cell without an execution count: a stripped lesson would pass it."""
    assert [cell.execution_count for cell in code_cells(path)] == list(range(1, len(code_cells(path)) + 1))


@each_book
def test_no_line_of_code_is_longer_than_a_cell_is_wide(path):
    """At 900 pixels JupyterLab and the site show about 89 letters; longer lines have to be scrolled."""
    long = [line for cell in code_cells(path) for line in cell.source.splitlines() if len(line) > 89]
    assert long == []


@each_book
def test_cells_that_end_in_a_value_show_it(path):
    for cell in code_cells(path):
        last = cell.source.strip().splitlines()[-1]
        if last.startswith(
            ("check(", "hint(", "predict(", "progress(", "viz.", "exam.step(", "exam.report(", "print(")
        ):
            assert cell.outputs, f"{cell.id} shows nothing"


@each_book
def test_nothing_of_the_machine_or_the_moment_is_saved(path):
    text = path.read_text(encoding="utf-8")
    assert "widget-view" not in text and "widget-state" not in text
    assert set(read(path).metadata) == {"kernelspec", "language_info"}
    for cell in read(path).cells:
        assert set(cell.metadata) <= {"tags", "jupyter"}
    assert not re.search(r"ipykernel_\d|/home/|/root/|/tmp/|\d\d:\d\d:\d\d", text)


@each_book
def test_no_cell_raises_or_warns_unless_it_is_meant_to(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            assert output.output_type != "error" or "raises-exception" in cell.metadata.get("tags", []), (
                cell.id
            )
            assert output.get("name") != "stderr", f"{cell.id}: {output.text}"


@each_book
def test_ids_are_words_and_unique(path):
    """The coverage table and readers' links use the ids."""
    ids = [cell.id for cell in read(path).cells]
    assert len(ids) == len(set(ids))
    assert all(
        re.fullmatch(r"[a-z][a-z0-9-]{2,63}", name) and not re.fullmatch(r"[0-9a-f-]{8,}", name)
        for name in ids
    )


@each_lesson
def test_the_skeleton_of_a_lesson_is_there(path):
    number = number_of(path)
    cells = {cell.id: cell.source for cell in read(path).cells}
    header = cells["header"]
    assert header.startswith(f"# {number}. ")
    for word in ("**Objective.**", "**Minutes.**", "**Needs.**", "**Skip this if**"):
        assert word in header
    everything = "\n".join(cells.values())
    for heading in ("## Exercises", "## What people get wrong", "## Recap", "## PyTorch prints"):
        assert re.search(rf"^{heading}\b", everything, re.M), heading
    assert cells["recap"].count("<details>") == 3, "three quick questions"
    assert cells["progress"] in (f"progress({number})", f'progress("{number}")')
    assert "\nimport torch" not in everything


def minutes_of(path):
    """(minutes in the header, minutes in the header without what can wait)."""
    declared, _, short = re.search(
        r"\*\*Minutes\.\*\* (\d+)(; (\d+) without the (?:exercises|parts))?", read(path).cells[0].source
    ).groups()
    return int(declared), int(short or declared)


@each_lesson
def test_every_exercise_says_how_hard_it_is_and_its_minutes(path):
    texts = "\n".join(cell.source for cell in read(path).cells)
    assert len(minutes.EXERCISE.findall(texts)) == len(lessons.exercises(number_of(path)))


@each_lesson
def test_the_minutes_are_those_that_it_takes(path):
    (declared, short), (takes, core) = minutes_of(path), minutes.counted(path)
    assert abs(declared - takes) <= 3, f"it takes {takes:.0f} minutes"
    assert abs(short - core) <= 3, f"without what can wait {core:.0f}"
    assert core <= takes < 90.5, "no lesson takes more than 90 minutes"


def test_lessons_0_to_6_fill_three_afternoons():
    """Lesson 00 and TEACHING.md say so: six hours without what can wait, seven and a half with it."""
    times = [minutes_of(BY_NUMBER[str(number)]) for number in range(7)]
    assert abs(sum(short for _, short in times) - 365) <= 20
    assert abs(sum(declared for declared, _ in times) - 450) <= 20


@each_lesson
def test_the_first_exercise_comes_soon(path):
    words = 0
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            words += len(cell.source.split())
        elif tagged(cell, "exercise"):
            break
    assert words <= 700


@each_lesson
def test_no_text_gives_away_the_unseen_graph(path):
    """No text may use the same inputs, as a block of PyTorch's prints might."""
    book = read(path)
    (unseen,) = (cell.source for cell in book.cells if cell.id == "unseen")
    text = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    assert [
        inputs
        for inputs in re.findall(r"tensor\((\[[^()]*, [^()]*\])[,)]", unseen)
        if f"tensor({inputs}" in text
    ] == []


@each_lesson
def test_it_ends_with_an_unseen_graph(path):
    """The graph is built and stepped with questions, before the section on what people get wrong."""
    cells = {cell.id: cell.source for cell in read(path).cells}
    ids = list(cells)
    assert ids.index("unseen") + 1 == ids.index("unseen-step") < ids.index("wrong")
    assert "viz.step(" in cells["unseen-step"] and "ask=" in cells["unseen-step"]


@each_lesson
def test_something_is_predicted_before_the_first_picture_is_stepped(path):
    kinds = [
        "predict" if tagged(cell, "predict") else "step" if "viz.step(" in cell.source else ""
        for cell in code_cells(path)
    ]
    assert "predict" in kinds
    if "step" in kinds:
        assert kinds.index("predict") < kinds.index("step")


STEPPED = r"(?m)^(?:viz\.step\((?=\w)|exam\.step\(\d+, )(\w+)"


@each_book
def test_a_saved_stepper_shows_its_picture(path):
    """A lesson that has not been run, and a site that runs no JavaScript, show the graph at its first step."""
    for cell in code_cells(path):
        if re.search(STEPPED, cell.source):
            assert any("image/svg+xml" in output.get("data", {}) for output in cell.outputs), cell.id


# the text between the two discusses the drawing, which shows another view
READ_FROM_THE_DRAWING = {"2 neuron-draw", "7b loss", "15 draw-g"}


@each_book
def test_no_graph_is_drawn_directly_above_its_stepper(path):
    """The stepper opens with the same picture. Code between the two, such as a prediction, is a reason to draw."""
    directly = {
        f"{number_of(path)} {cell.id}"
        for cell, following in pairwise(code_cells(path))
        if (drawn := re.search(r"(?m)^viz\.draw\((\w+)", cell.source))
        and (stepped := re.search(STEPPED, following.source))
        and drawn[1] == stepped[1]
    }
    assert directly <= READ_FROM_THE_DRAWING


@each_book
def test_no_graph_turns_over(path):
    """A drawing and the stepper below it choose the same direction; only a wider view may be given one."""
    turned = [
        line
        for cell in code_cells(path)
        for line in cell.source.splitlines()
        if "viz." in line and "direction=" in line and not re.search(r"view=|saved=True", line)
    ]
    assert turned == []


@each_lesson
def test_every_exercise_has_its_cell_a_stub_and_a_hint(path):
    number = number_of(path)
    cells = {key: cell for cell in code_cells(path) if (key := tagged(cell, "exercise"))}
    assert list(cells) == list(lessons.exercises(number))
    assert 3 <= len(cells) <= 9
    texts = "\n".join(cell.source for cell in read(path).cells)
    for key, exercise in lessons.exercises(number).items():
        assert f"### Exercise {key}: {exercise.title}\n" in texts, key
        assert "..." in cells[key].source.replace(f'check("{key}"', ""), f"{key} is solved already"
        assert cells[key].source.rstrip().endswith(f'check("{key}", {", ".join(exercise.names)})'), key
        assert f"{key} not yet" in printed(cells[key]), key
        assert f'hint("{key}")' in texts


@each_lesson
def test_every_question_is_asked_once_and_left_open(path):
    number = number_of(path)
    cells = {key: cell for cell in code_cells(path) if (key := tagged(cell, "predict"))}
    assert list(cells) == list(lessons.questions(number))
    for key, cell in cells.items():
        assert cell.source.strip() == f'predict("{key}", ...)'
        assert "not yet" in printed(cell)


@each_book
def test_links_lead_to_lessons(path):
    for cell in read(path).cells:
        for target in re.findall(r"\]\((\d\d[a-z]?)_\w+\.ipynb\)", cell.source):
            assert BY_NUMBER[lessons.short(target)].name in cell.source


def test_what_is_to_be_chosen_in_a_toolbar_is_called_as_it_is_there():
    all_text = "".join(path.read_text(encoding="utf-8") for path in [*LESSONS, NOTEBOOKS / "TEACHING.md"])
    names = {
        name
        for pair in re.findall(r"choose \*([^*]+)\*(?: in place of \*([^*]+)\*)?", all_text)
        for name in pair
    }
    assert {"Tensors", "Saved memory"} <= names
    assert [name for name in names if name and f'"{name}"' not in asset("stepper.js")] == []


@each_book
def test_text_form_gives_the_lesson_back(path):
    saved = read(path)
    again = lesson_text.read(lesson_text.write(saved))
    assert [(c.cell_type, c.id, c.source, c.metadata) for c in again.cells] == [
        (c.cell_type, c.id, c.source, c.metadata) for c in saved.cells
    ]


@each_book
def test_saved_lessons_are_in_normal_form(path):
    """The form that `make notebooks` writes, so that a lesson saved by JupyterLab, with its timings and widget state, is
    noticed. With the comparison in notebooks/conftest.py at each run, this means that building it again changes nothing."""
    assert build.dump(build.normalise(nbformat.read(path, 4))) == path.read_text(encoding="utf-8")


def test_normal_form_keeps_what_is_reported_and_drops_what_is_of_the_moment():
    shown = nbformat.v4.new_output(
        "display_data",
        data={
            "text/plain": "Stepper",
            "text/html": "<p>",
            "application/vnd.jupyter.widget-view+json": {"model_id": 1},
        },
        metadata={"isolated": True},
    )
    warned = nbformat.v4.new_output(
        "stream", name="stderr", text="/tmp/ipykernel_77/12.py:3: UserWarning: once"
    )
    failed = nbformat.v4.new_output(
        "error", ename="RuntimeError", evalue="no", traceback=["File /home/me/x.py", "no"]
    )
    cell = nbformat.v4.new_code_cell("x  \ny\n\n", outputs=[shown, warned, failed], execution_count=9)
    cell.metadata = {"execution": {"iopub.status.busy": "10:00"}, "tags": ["exercise:3.1"], "scrolled": True}
    notebook = nbformat.v4.new_notebook(
        cells=[cell], metadata={"widgets": {"state": {}}, "language_info": {"name": "python", "version": "3"}}
    )
    once = build.normalise(notebook).cells[0]
    assert (once.source, once.execution_count, once.metadata) == ("x\ny", 1, {"tags": ["exercise:3.1"]})
    assert once.outputs[0].data == {"text/plain": "Stepper", "text/html": "<p>"}
    assert once.outputs[1].text == "<this cell>: UserWarning: once"
    assert once.outputs[2].traceback == ["RuntimeError: no"]
    assert build.dump(build.normalise(notebook)) == build.dump(notebook)


def test_text_form_says_which_line_it_cannot_read():
    with pytest.raises(ValueError, match="line 3"):
        lesson_text.read("%% md header\n# Title\n%% cod x\n")
    with pytest.raises(ValueError, match="must begin"):
        lesson_text.read("# Title\n")


def test_every_exercise_module_has_its_lesson():
    assert set(lessons.numbers()) == set(BY_NUMBER)
    assert NOTEBOOKS.joinpath("exercises").is_dir()
