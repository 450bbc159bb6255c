"""The exam: what it asks, that its replies are true, that no answer is lost, and the key."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

import minigrad
from exercises import store
from exercises.__main__ import main
from exercises.exam import COLUMNS, SEE, Exam, Report, result_of, results_of
from exercises.exam_key import key
from exercises.exam_questions import ABOUT, QUESTIONS
from tests.lesson_files import BY_NUMBER, NOTEBOOKS, read

EXAM = read(NOTEBOOKS / "exam.ipynb")
TITLED = {
    int(found[1]): cell.source for cell in EXAM.cells if (found := re.match(r"## (\d+)\. ", cell.source))
}


@pytest.fixture(autouse=True)
def progress(tmp_path, monkeypatch) -> Path:
    """A separate progress file."""
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))
    return tmp_path / "progress.json"


def lines_of(cell):
    return [line.strip() for line in cell.source.splitlines() if line.strip()]


@cache
def run_all() -> tuple[dict, dict[str, set[str]]]:
    """The variables after all cells of the exam have run, for tests that only read; and the names that each cell adds."""
    space: dict = {}
    new: dict[str, set[str]] = {}
    for cell in EXAM.cells:
        if cell.cell_type == "code":
            before = set(space)
            exec(cell.source, space)
            new[cell.id] = set(space) - before
    return space, new


def taken() -> Exam:
    """The exam after all cells have run."""
    return run_all()[0]["exam"]


# ---------------------------------------------------------------- what it asks


def test_ten_graphs_and_each_asks_about_every_step():
    exam = taken()
    assert sorted(exam.steppers) == list(range(1, 11))
    assert all(2 <= len(stepper.data["questions"]) <= 8 for stepper in exam.steppers.values())
    assert {stepper.options["ask"] for stepper in exam.steppers.values()} == {"gradients", "order"}
    assert all(stepper.options["insist"] for stepper in exam.steppers.values()), "no box to untick"


def test_it_is_about_all_lessons_that_send_something_back():
    """The subject of each lesson from 3 to 17 is in one of the graphs: as a node, a hook, a cut, a kept copy, a number."""
    exam = taken()
    steps = {number: stepper.data["steps"] for number, stepper in exam.steppers.items()}
    seen = {step["name"] for each in steps.values() for step in each}
    assert {
        "MmBackward0",
        "CopySlices",
        "UnbindBackward0",
        "TiltBackward",
        "LogBackward0",
        "MvBackward0",
    } <= seen
    assert "a hook changed it" in str([step["wrong"] for step in steps[7]])
    answers = {
        n: str([q.get("answer") for q in s.data["questions"].values()]) for n, s in exam.steppers.items()
    }
    assert [number for number, answer in answers.items() if "nan" in answer] == [8]
    assert answers[5].endswith("[11.0]}]"), "the first turn is cut off: with it, 15"
    assert answers[9].endswith("[288.0]}]"), "2 · 12 · 12, the slope of the slope"


def test_each_names_its_lessons_and_together_they_are_all_from_3_on_but_the_two_of_building():
    named = {
        number: tuple(re.findall(r"\d+b?", text.splitlines()[1].partition("* ·")[0]))
        for number, text in TITLED.items()
    }
    assert named == ABOUT and list(named) == list(range(1, 14))
    covered = {lesson for lessons in named.values() for lesson in lessons}
    assert covered == set(BY_NUMBER) - {"0", "1", "2", "7", "7b", "9", "12b", "18"}
    assert {lesson for number in QUESTIONS for lesson in named[number]} == {"8", "9b", "10", "16"}


def test_no_graph_of_the_exam_is_in_a_lesson():
    def body(line):  # whatever the names are
        return re.sub(r"(?<=[a-z])\d+\b", "", line)

    lessons = {
        body(line)
        for path in BY_NUMBER.values()
        for cell in read(path).cells
        if cell.cell_type == "code"
        for line in lines_of(cell)
    }
    for cell in EXAM.cells:
        if cell.id.endswith("-graph"):
            own = {body(line) for line in lines_of(cell) if not line.startswith("viz.")}
            assert len(own - lessons) >= 2, cell.id


def test_what_it_asks_has_a_cell_and_no_graph_asks_beside_its_stepper():
    cells = EXAM.cells
    for cell, following in pairwise(cells):
        if cell.cell_type == "markdown" and "?" in cell.source:
            assert following.source.startswith("exam.answer("), cell.id


def test_each_graph_has_names_of_its_own():
    """After Run All, running the cell of graph 1 again steps graph 1."""
    space, new = run_all()
    owner: dict[str, str] = {}
    for cell in EXAM.cells:
        if cell.id.endswith("-graph"):
            assigned = set(re.findall(r"(?m)^\s*\(?([a-z]\w*)(?:,\s*([a-z]\w*))*\)? = ", cell.source))
            made = new[cell.id] | {name for pair in assigned for name in pair if name in space}
            again = made & set(owner)
            assert not again, f"{cell.id}: {again} are of {[owner[name] for name in again]}"
            owner |= dict.fromkeys(made, cell.id)
    exam, first = space["exam"], space["exam"].steppers[1]
    step_one = next(cell.source for cell in EXAM.cells if cell.id == "one-step")
    assert eval(step_one, space) is first
    assert exam.steppers[1].data["questions"]["1"]["text"].startswith("MeanBackward0")


# ---------------------------------------------------------------- the multiple-choice questions have the right answers


def encoder_learning(how: str) -> tuple[object, object, object]:
    """`.grad` of the prompt, the encoder and the head, for one option of question 11."""
    torch = minigrad
    torch.manual_seed(0)
    prompt = torch.ones(1, 3, requires_grad=True)
    encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    if how == "b":
        for parameter in encoder.parameters():
            parameter.requires_grad_(False)
    if how in "ae":
        with torch.no_grad() if how == "a" else torch.inference_mode():
            hidden = encoder(prompt)
    else:
        hidden = encoder(prompt)
    if how == "c":
        hidden = hidden.detach()
    head(hidden).sum().backward()
    return prompt.grad, encoder.weight.grad, head.weight.grad


def test_question_11_by_running_each_option():
    assert QUESTIONS[11].right == "b"
    for how in "abcd":
        prompt, encoder, head = encoder_learning(how)
        assert head is not None
        assert ((prompt is not None) and (encoder is None)) is (how == QUESTIONS[11].right), how
        assert ("stays `None`" in QUESTIONS[11].wrong.get(how, ("", ""))[1]) is (prompt is None)
        assert ("is computed" in QUESTIONS[11].wrong.get(how, ("", ""))[1]) is (encoder is not None)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        encoder_learning("e")


def loop(*, cut: bool, optimized: bool = True, clear: bool = True, dead: bool = False, rate: float = 0.1):
    """(gradient of first, of last, how far each moved) for three steps of a loop as in question 12."""
    torch = minigrad
    x = torch.tensor([[1.0]])
    first, last = torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        first.weight.fill_(-2.0 if dead else 1.0)
        last.weight.fill_(0.6)
    taught = [*(first.parameters() if optimized else ()), *last.parameters()]
    optimizer, rows = torch.optim.SGD(taught, lr=rate), []
    for _ in range(3):
        if clear:
            optimizer.zero_grad()
        hidden = torch.relu(first(x)) if dead else first(x) * 3**0.5
        if cut:
            hidden = hidden.detach()
        ((last(hidden)) ** 2 / 3).sum().backward()
        before = first.weight.item(), last.weight.item()
        optimizer.step()
        moved = abs(first.weight.item() - before[0]), abs(last.weight.item() - before[1])
        rows.append((first.weight.grad, last.weight.grad.item(), *moved))
    return rows


def test_question_12_prints_what_such_a_loop_prints():
    """Its table: with a learning rate of 0.1 the last layer's gradient shrinks by 0.4 per step."""
    rows = re.findall(r"^\| \d \| None \| ([\d.]+) \| 0 \| ([\d.]+) \|$", TITLED[12], re.M)
    shown = [(float(gradient), float(moved)) for gradient, moved in rows]
    assert len(shown) == 3
    for gradient, moved in shown:
        assert moved == pytest.approx(0.1 * gradient, rel=0.01)
    for (before, _), (after, _) in pairwise(shown):
        assert after == pytest.approx(0.4 * before, rel=0.02)


def test_question_12_by_running_each_option():
    assert QUESTIONS[12].right == "d"
    cut = loop(cut=True)
    assert all(gradient is None and last and not moved for gradient, last, moved, _ in cut)
    for other in (loop(cut=False, rate=1e-3), loop(cut=False, clear=False), loop(cut=False, optimized=False)):
        assert all(gradient is not None and float(gradient.abs().sum()) > 0 for gradient, *_ in other)
    assert all(moved > 0 for *_, moved, _ in loop(cut=False, rate=1e-3))
    assert all(moved == 0 for *_, moved, _ in loop(cut=False, optimized=False))
    assert all(
        gradient is not None and float(gradient.abs().sum()) == 0
        for gradient, *_ in loop(cut=False, dead=True)
    )


def test_question_13_by_counting_passes():
    """On a smaller simulation: 3 settings, 5 results."""
    torch = minigrad
    torch.manual_seed(1)
    matrix = torch.randn(5, 3)

    def simulate(settings):
        state = matrix @ settings
        for _ in range(4):
            state = torch.tanh(state)
        return state

    settings = torch.tensor([0.1, 0.2, 0.3])
    jacobian = torch.func.jacrev(simulate)(settings)
    assert tuple(jacobian.shape) == (5, 3)
    for column in range(3):  # a forward pass gives the slopes of all results with respect to one setting
        _, slopes = torch.func.jvp(simulate, (settings,), (torch.eye(3)[column],))
        assert torch.allclose(slopes, jacobian[:, column])
    _, back = torch.func.vjp(simulate, settings)
    (row,) = back(torch.eye(5)[2])  # a backward pass gives those of one result
    assert torch.allclose(row, jacobian[2])
    (summed,) = back(torch.ones(5))
    assert torch.allclose(summed, jacobian.sum(0)) and summed.numel() == 3
    assert QUESTIONS[13].right == "a" and round(10_000 / 3) == 3_333


@pytest.mark.parametrize("number", QUESTIONS)
def test_each_letter_of_a_question_is_in_the_text_and_has_its_own_reply(number, progress):
    listed = re.findall(r"^\* \*\*([a-z])\*\* (.+)$", TITLED[number], re.M)
    question = QUESTIONS[number]
    assert "".join(letter for letter, _ in listed) == question.letters
    replies = set()
    for letter, option in listed:
        card = Exam().answer(number, letter)
        assert card.state == ("correct" if letter == question.right else "try again")
        replies.add(card.text)
        by_text = Exam().answer(number, option.replace("`", ""))  # the text counts as its letter
        assert by_text.text == card.text
    assert len(replies) == len(listed)


@pytest.mark.parametrize("given", [..., 7, "z", "", None, object(), [1, 2], "ab"])
def test_an_answer_that_is_not_a_letter_is_not_counted(given, progress):
    exam = Exam()
    card = exam.answer(11, given)
    assert card.state == "not yet" and "letter" in card.text
    assert [result.open for result in exam.results()] == [1]
    for number in (1, 99, "x", None):
        assert "The questions are 11, 12, 13." in exam.answer(number, "a").text


# ---------------------------------------------------------------- how it counts, and what is kept


def test_a_step_is_right_if_the_first_answer_was():
    answers = [
        {"step": 1, "given": "2", "outcome": "right"},
        {"step": 2, "given": "9", "outcome": "averaged"},
        {"step": 2, "given": "6", "outcome": "right"},
        {"step": 3, "given": None, "outcome": "shown"},
        {"step": 4, "given": "77", "outcome": "unknown"},
    ]
    result = result_of(7, 6, answers)
    assert [getattr(result, name) for name in COLUMNS] == [6, 1, 2, 1, 2]
    assert result.causes == ("averaged",), "what is not known is no cause"
    assert result.lessons == ("4", "13"), "of the cause, and of the graph"
    assert repr(Report([result])) == "1 of 6 right at once"
    assert result_of(7, 2, answers[:1]).lessons == (), "all that was answered was right"


def graph():
    x = minigrad.tensor(3.0, requires_grad=True)
    return x * 2


def test_what_is_answered_comes_into_the_report_and_into_the_file(tmp_path, progress):
    exam = Exam()
    stepper = exam.step(1, graph())
    assert repr(exam.report()) == "0 of 2 right at once"
    stepper.pane.answers = [{"step": 1, "given": "2", "outcome": "right"}]
    exam.answer(11, "a")
    exam.answer(11, "b")
    assert repr(exam.report()) == "1 of 3 right at once"
    assert [result.mistaken for result in exam.results()] == [0, 1]
    page = exam.save(tmp_path / "exam.html").read_text(encoding="utf-8")
    assert "1 of 3 right at once" in page and "Name:" in page
    with pytest.raises(ValueError, match="pdf"):
        exam.save("exam.pdf")
    handed_in = json.loads(exam.save(tmp_path / "ada.json").read_text(encoding="utf-8"))
    assert handed_in["exam"] == json.loads(progress.read_text(encoding="utf-8"))["exam"]
    assert [result.first for result in results_of(handed_in["exam"])] == [1, 0]


def test_running_a_cell_again_changes_nothing():
    exam = Exam()
    loss = graph()
    stepper = exam.step(1, loss)
    stepper.pane.answers = [{"step": 1, "given": "3", "outcome": "the value"}]
    assert exam.step(1, loss) is stepper
    again = exam.step(1, graph())  # the cell that draws it was run again, too
    assert again is not stepper and again.answers == stepper.answers
    exam.answer(11, "b")
    exam.answer(11, "b")
    assert len(store.load()["exam"]["11"]["answers"]) == 1


def test_a_restart_loses_nothing():
    Exam().step(1, graph()).pane.answers = [{"step": 1, "given": "2", "outcome": "right"}]
    Exam().answer(12, "a")
    exam = Exam()  # as in a new kernel
    assert exam.step(1, graph()).answers == [{"step": 1, "given": "2", "outcome": "right"}]
    exam.answer(12)
    assert repr(exam.report()) == "1 of 3 right at once"
    assert exam.results()[1].causes == ("learning rate",)


def test_a_graph_can_be_begun_anew_and_one_with_other_numbers_is_another():
    exam = Exam()
    exam.step(1, graph()).pane.answers = [{"step": 1, "given": "2", "outcome": "right"}]
    x = minigrad.tensor(3.0, requires_grad=True)
    assert exam.step(1, x * 5).answers == [], "the answers were to another question"
    assert exam.step(1, graph()).answers != [], "and are not lost"
    assert exam.step(1, graph(), again=True).answers == []
    anew = Exam().step(1, graph())
    assert anew.answers == []
    anew.pane.answers = [{"step": 1, "given": "2", "outcome": "right"}]
    (result,) = exam.results()
    assert (result.begun, result.remarks) == (2, ("started 2 times",)), "it shows"
    assert "started 2 times" in exam.report()._repr_html_()
    (handed_in,) = results_of(store.load()["exam"])
    assert (handed_in.first, handed_in.begun) == (1, 2)


@pytest.mark.parametrize(
    "damaged",
    [[], 3, {"1": 3}, {"1": {}}, {"x": {"asked": 1, "answers": []}}, {"1": {"asked": 1, "answers": [3]}}],
)
def test_a_damaged_file_counts_as_nothing(damaged, progress):
    progress.write_text(json.dumps({"names": 2, "exam": damaged}), encoding="utf-8")
    exam = Exam()
    assert exam.step(1, graph()).answers == []
    assert repr(exam.report()) == "0 of 2 right at once"


def test_a_cause_that_a_stepper_names_is_known_with_its_lesson():
    causes = {
        mistake["cause"]
        for stepper in taken().steppers.values()
        for question in stepper.data["questions"].values()
        for mistake in question.get("mistakes", ())
    }
    assert causes <= set(SEE)
    assert set(SEE.values()) <= set(BY_NUMBER)


# ---------------------------------------------------------------- the key


def test_the_key_has_every_question_and_its_answer(capsys, progress):
    assert main(["exam"]) == 0
    page = capsys.readouterr().out
    for number, text in TITLED.items():
        assert text.splitlines()[0] in page, number
    asked = sum(len(stepper.data["questions"]) for stepper in taken().steppers.values())
    assert len(re.findall(r"^\| \d+ \|", page, re.M)) == asked
    for row in (
        "What gradient does it send to y1? | `[[0.5, 0.5]]` |",
        "`[nan, 1]`",
        "`MulBackward0 of b2`",
        "`288`",
    ):
        assert row in page
    assert not progress.exists(), "nobody has answered anything"


def test_a_changed_exam_has_another_key(tmp_path, capsys):
    changed = nbformat.from_dict(EXAM)
    for cell in changed.cells:
        cell.source = cell.source.replace("[[1.0, -1.0]]", "[[3.0, -1.0]]")
    nbformat.write(changed, tmp_path / "mine.ipynb")
    assert main(["exam", str(tmp_path / "mine.ipynb")]) == 0
    assert "`[[1.5, 1.5], [-0.5, -0.5]]`" in capsys.readouterr().out


def test_a_file_that_is_not_an_exam_is_reported(tmp_path, capsys):
    (tmp_path / "a.ipynb").write_text("{", encoding="utf-8")
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), tmp_path / "b.ipynb")
    for name, covered in (
        ("a", "cannot be read as a notebook"),
        ("b", "raised ZeroDivisionError"),
        ("c", "cannot be read"),
    ):
        assert main(["exam", str(tmp_path / f"{name}.ipynb")]) == 2
        assert covered in capsys.readouterr().err
    with pytest.raises(ValueError, match="is not an exam"):
        key(BY_NUMBER["0"])
