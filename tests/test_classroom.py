"""The teacher's tools: the report on a class, closed solutions, a file that a learner hands in."""

from __future__ import annotations

import csv
import json
import random
import re
import stat
from pathlib import Path

import pytest

from exercises import check, classroom, hint, lessons, predict, progress, solution, store
from exercises.__main__ import main
from exercises.exam import Exam
from exercises.judge import as_answers


@pytest.fixture
def learner(tmp_path, monkeypatch):
    """learner("ada"): from here on the progress file is Ada's, in a folder of files handed in."""

    def become(name: str) -> Path:
        path = tmp_path / "class" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv("MINIGRAD_PROGRESS", str(path))
        return path

    become("nobody").unlink(missing_ok=True)
    return become


@pytest.fixture
def folder(tmp_path) -> Path:
    """The folder of files handed in."""
    return tmp_path / "class"


def page_of(folder: Path, capsys, *options: str) -> str:
    assert main(["--class", str(folder), *options]) == 0
    return capsys.readouterr().out


def test_a_class_sees_its_common_wrong_answers_and_no_names(learner, folder, capsys):
    for name, mixed in (("ada", 5.5), ("ben", 5.5), ("cy", 25)):
        learner(name)
        predict("4.a", {"ada": 6, "ben": "6.0", "cy": 12}[name])
        for _again in range(2):  # the same try made twice counts once
            check("4.2", 3, mixed, 20)
    check("4.2", 3, 11, 20)
    page = page_of(folder, capsys)
    assert page.startswith("# What a class found hard: 3 learners\n\n## How far they got")
    assert "**4.a** the gradient of x in the diamond: 1 of 3 expected it.\n\n* 2 × `6`: " in page
    assert "**4.2** used more than once: 1 of the 3 who tried it solved it; 3 had a wrong try." in page
    assert page.index("* 2 × `mixed` `5.5`: ") < page.index("* 1 × `mixed` `25`: ")
    assert not any(re.search(rf"\b{name}\b", page) for name in ("ada", "ben", "cy"))


def test_each_part_of_an_answer_is_counted(learner, folder, capsys):
    """This includes parts for which the file has no cause; the same misconception in two answers is one line."""
    exercise = lessons.find_exercise("4.2")
    double = next(wrong.answer["double"] for wrong in exercise.wrong if "double" in wrong.answer)
    for name, answer in (("ada", {"thrice": 1, "mixed": 5.5}), ("ben", {"mixed": 5.5, "double": double})):
        learner(name)
        check("4.2", *as_answers(exercise, answer))
    page = page_of(folder, capsys)
    assert (
        "* 2 × `mixed` `5.5`: " in page
        and "* 1 × `thrice` `1`: " in page
        and f"* 1 × `double` `{double:g}`: " in page
    )
    causes = {part: re.search(rf"× `{part}` `[^`]*`: (.+)", page)[1] for part in exercise.names}
    assert len(set(causes.values())) == 3 and classroom.NO_CAUSE not in causes.values()


@pytest.mark.long
def test_the_parts_are_those_that_are_wrong_for_every_listed_answer():
    """Each exercise typed in parts: its answers are written to the file and read again."""
    from exercises.api import _as_written
    from exercises.judge import CORRECT, judge

    tried = 0
    for number in lessons.numbers():
        for exercise in lessons.exercises(number).values():
            if not exercise.typed or len(exercise.names) == 1:
                continue
            for wrong in exercise.wrong[:8]:
                given = as_answers(exercise, wrong.answer)
                written = _as_written(exercise, given)
                if "…" in written:  # too long to be kept whole
                    continue
                found = {name for name, _, _ in classroom.parts(exercise, written, "the cause")}
                alone = {
                    name
                    for name, value in zip(exercise.names, given, strict=True)
                    if judge(exercise, as_answers(exercise, {name: value})).state != CORRECT
                }
                assert found == alone or not alone, (exercise.id, written)
                tried += 1
    assert tried > 100


def test_files_in_folders_and_what_cannot_be_read(learner, folder, capsys):
    """One folder per learner, as a learning platform unpacks them; an old hidden file; a byte order mark at the beginning."""
    learner("ada")
    check("3.5", "c")
    text = (folder / "ada.json").read_text(encoding="utf-8")
    for name in ("ben 1234/progress.json", "group/deep/cy.json", "dan/.progress.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\ufeff" + text, encoding="utf-8")
    odd = {
        "broken.json": "{",
        "group/list.json": "[1]",
        "other.json": '{"cells": []}',
        "empty.json": "{}",
        "begun.json": json.dumps(store.tidy({})),
        "newer.json": '{"names": 99, "solved": ["3.5"]}',
        "picture.json": "\udcff".encode("utf-8", "surrogateescape"),
    }
    for name, content in odd.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / ".copied.json").write_text("{}", encoding="utf-8")  # somebody handed in all of my_lessons
    page = page_of(folder, capsys)
    assert "# What a class found hard: 4 learners\n\n7 other files could not be counted:" in page
    reasons = dict(re.findall(r"^\* `([^`]+)`: (.+)$", page.partition("## ")[0], re.M))
    assert set(reasons) == set(odd)
    assert reasons["broken.json"] == reasons["picture.json"] == "damaged, or not JSON"
    assert reasons["newer.json"] == "from a newer version of the lessons"
    assert reasons["other.json"] == reasons["group/list.json"] == "not a progress file"
    assert reasons["begun.json"] == "nothing has been answered yet" and reasons["empty.json"] == "empty"
    named = page_of(folder, capsys, "--names")
    who = named.partition("## How far each learner got")[2].partition("##")[0]
    assert re.findall(r"^\| ([^|]+) \| 3 \| 1 \|", who, re.M) == ["ada", "ben 1234", "dan", "group/deep/cy"]


def test_nothing_to_read_says_what_to_do(folder, capsys):
    folder.mkdir()
    (folder / "broken.json").write_text("{", encoding="utf-8")
    for place in (folder, folder / "none"):
        assert main(["--class", str(place)]) == 2
        message = capsys.readouterr().err
        assert f"There is no progress file in {place}" in message and 'progress(save="name.json")' in message
        assert ("broken.json: damaged" in message) is (place == folder)
    for wrong in (["--class"], ["--help-me"], ["--class", "a", "b"], ["--csv"], ["--names", "03"]):
        assert main(wrong) == 2 and "FOLDER" in capsys.readouterr().err
    assert main(["--help"]) == 0 and "LESSON" in capsys.readouterr().out


def class_of(learner, count: int) -> None:
    """Learners who answer at random, some of whom give up."""
    chance = random.Random(0)
    for number in range(count):
        learner(f"s{number}/progress")
        for lesson in list(lessons.numbers())[: chance.randint(1, 6)]:
            for question in lessons.questions(lesson).values():
                predict(
                    question.id,
                    chance.choice([question.truth(), *(wrong.answer for wrong in question.wrong)]),
                )
            for exercise in lessons.exercises(lesson).values():
                if exercise.typed and exercise.wrong:
                    for _ in range(chance.randint(0, 2)):
                        check(exercise.id, *as_answers(exercise, chance.choice(exercise.wrong).answer))
                    if chance.random() < 0.6:
                        check(exercise.id, *exercise.reference)
        exam = Exam()
        for letter in chance.sample("abcde", chance.randint(0, 2)):
            exam.answer(11, letter)


def test_no_count_contradicts_another(learner, folder, capsys):
    class_of(learner, 15)
    handed_in, others = classroom.read(folder)
    assert not others
    page = page_of(folder, capsys, "--names")
    total = int(re.search(r"hard: (\d+) learners", page)[1])
    assert total == len(handed_in)
    for key, solved, met, wrong in re.findall(
        r"^\*\*(\S+)\*\* .*: (\d+) of the (\d+) who tried it solved it; (\d+) had a wrong try\.$", page, re.M
    ):
        solved, met, wrong = int(solved), int(met), int(wrong)
        assert max(solved, wrong) <= met <= total and solved + wrong >= met
        assert solved == sum(learner.solved(key) for learner in handed_in)
        lines = re.findall(r"^\* (\d+) × ", page.partition(f"**{key}** ")[2].partition("\n**")[0], re.M)
        assert all(int(count) <= wrong for count in lines) and bool(lines) is bool(wrong)
    rows = re.findall(
        r"^\| (\d+\.\d+) [^|]*\| (\d+) \| (\d+) \| (\d+) \|", page.partition("hardest\n")[2], re.M
    )
    assert len(rows) == 10
    share = [((int(met) - int(solved)) + int(wrong)) / int(met) for _, met, solved, wrong in rows]
    assert share == sorted(share, reverse=True)
    by_lesson = re.findall(
        r"^\| (\d+b?) \| (\d+) \| (\d+) \| ([\d.]+) of (\d+) \| (\d+) of (\d+) \|$", page, re.M
    )
    for lesson, began, every, solved, exercises, true, made in by_lesson:
        assert int(every) <= int(began) <= total and int(true) <= int(made)
        assert int(exercises) == len(lessons.exercises(lesson)) and float(solved) <= int(exercises)
        assert int(began) == sum(learner.began(lesson) for learner in handed_in)
    solved_by_file = re.findall(r"^\| s\d+ \| [^|]+ \| (\d+) \|", page, re.M)
    assert sum(map(int, solved_by_file)) == sum(len(learner.data["solved"]) for learner in handed_in)
    (exam,) = re.findall(r"^\| 11 \| 8 \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", page, re.M)
    who, steps, *how = map(int, exam)
    assert sum(how) == steps == who


def test_the_rows_for_a_spreadsheet(learner, folder, capsys):
    class_of(learner, 4)
    rows = list(csv.DictReader(page_of(folder, capsys, "--csv").splitlines()))
    handed_in, _ = classroom.read(folder)
    assert {row["learner"] for row in rows} == {"1", "2", "3", "4"}, "no names unless asked for"
    assert {
        row["learner"] for row in csv.DictReader(page_of(folder, capsys, "--csv", "--names").splitlines())
    } == {learner.name for learner in handed_in}
    solved = [row for row in rows if row["result"] == "solved"]
    assert len(solved) == sum(len(learner.data["solved"]) for learner in handed_in)
    tries = sum(int(row["wrong tries"]) for row in rows if row["kind"] == "exercise")
    assert tries == sum(len(every) for learner in handed_in for every in learner.data["tries"].values())


def test_the_exam_is_read_with_the_rest(learner, folder, capsys, tmp_path):
    learner("ada")
    exam = Exam()
    exam.answer(12, "c")
    exam.answer(12, "d")
    exam.answer(13, "a")
    exam.save(folder / "ben.json")  # what a learner hands in for the exam alone
    page = page_of(folder, capsys)
    assert "| 12 | 9b | 2 | 2 | 0 | 2 | 0 | 0 | 2 × not in the optimizer |" in page
    assert "| 13 | 10, 16 | 2 | 2 | 2 | 0 | 0 | 0 |  |" in page


def handed_in_by(learner, name: str, letter: str, exercise: str, place: Path, progress_as: str, exam_as: str):
    """A learner with one exercise solved and one question of the exam answered hands in both, under these names."""
    learner(f"../home of {name}")
    check(exercise, *lessons.find_exercise(exercise).reference)
    exam = Exam()
    exam.answer(12, letter)
    for file in (progress_as, exam_as):
        (place / file).parent.mkdir(parents=True, exist_ok=True)
    progress(save=str(place / progress_as))
    exam.save(place / exam_as)


@pytest.mark.parametrize(
    "files",
    [
        ("NAME/progress.json", "NAME/exam.json"),
        ("NAME 123/progress.json", "NAME 123/NAME.json"),
        ("NAME.json", "NAME_exam.json"),
        ("NAME.json", "NAME - Exam.json"),
        ("progress NAME.json", "exam NAME.json"),
        ("progress/NAME.json", "exams/NAME.json"),
        ("group 1/NAME-progress.json", "group 1/NAME-exam.json"),
    ],
)
def test_progress_and_exam_of_one_learner_are_one_and_two_learners_are_two(learner, folder, capsys, files):
    for name, letter, exercise in (("ada", "c", "3.5"), ("ben", "d", "1.2")):
        handed_in_by(learner, name, letter, exercise, folder, *(file.replace("NAME", name) for file in files))
    page = page_of(folder, capsys, "--names")
    assert "# What a class found hard: 2 learners" in page
    assert "| 12 | 9b | 2 | 2 | 1 | 1 | 0 | 0 | 1 × not in the optimizer |" in page
    who = re.findall(r"^\| ([^|]*) \| (\w+) \| 1 \| 0 \| 0 \| (\d) of 1 \|$", page, re.M)
    assert [(name.split("/")[-1].split()[0], *more) for name, *more in who] == [
        ("ada", "3", "0"),
        ("ben", "1", "1"),
    ]


def test_an_exam_beside_the_progress_of_somebody_else_is_another_learner(learner, folder, capsys):
    handed_in_by(learner, "ada", "c", "3.5", folder, "group/progress.json", "spare.json")
    (folder / "spare.json").unlink()
    handed_in_by(learner, "ben", "d", "1.2", folder, "spare.json", "group/ben.json")
    (folder / "spare.json").unlink()
    assert [one.name for one in classroom.read(folder)[0]] == ["group", "group/ben"]


def test_each_fact_in_two_files_of_one_learner_counts_once(learner, folder):
    learner("../home")
    check("3.1", 7)
    predict("4.a", 5)
    progress(save=str(folder / "ada-progress.json"))
    check("3.1", 8)
    check("3.5", "c")
    Exam().answer(12, "d")
    progress(save=str(folder / "ada.json"))
    (one,) = classroom.read(folder)[0]
    assert one.data == store.load() and len(one.tries("3.1")) == 2


# ---------------------------------------------------------------- handing in, and closing


def test_a_learner_saves_a_file_to_hand_in(learner, folder, tmp_path):
    own = learner("ada")
    check("3.5", "c")
    check("3.1", 7)
    card = progress(save=tmp_path / "in.json")
    assert card.state == "noted" and "in.json" in card.text
    assert json.loads((tmp_path / "in.json").read_text(encoding="utf-8")) == json.loads(
        own.read_text(encoding="utf-8")
    )
    (tmp_path / "handed").mkdir()
    progress(save=str(tmp_path / "handed/ada.json"))
    assert [one.name for one in classroom.read(tmp_path / "handed")[0]] == ["ada"]


@pytest.mark.parametrize("place", ["no such folder/a.json", "a.txt", "a", "", 3, None.__class__, "\0.json"])
def test_what_cannot_be_saved_is_reported(learner, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    learner("ada")
    card = progress(save=place)
    assert card.state == "not yet" and ("ends in `.json`" in card.text or "could not be written" in card.text)
    assert not stat.S_ISREG((tmp_path / "a").stat().st_mode) if (tmp_path / "a").exists() else True


def test_solutions_can_be_closed(monkeypatch):
    assert "30" not in repr(solution("3.1")) and solution("3.1").state == "noted"
    opened = solution("3.1").text
    assert "solution(" in hint("3.1").text
    monkeypatch.setenv("EXERCISES_SOLUTIONS", "0")
    closed = solution("3.1")
    assert (
        closed.text != opened
        and "closed the solutions" in closed.text
        and "square" not in closed._repr_html_()
    )
    assert "solution(" not in hint("3.1").text + hint("3.1")._repr_html_()
    assert "There is no exercise" in solution("3.99").text
    monkeypatch.setenv("EXERCISES_SOLUTIONS", "1")
    assert solution("3.1").text == opened


def test_for_code_the_report_says_what_was_seen(learner, folder, capsys):
    learner("ada")
    check("3.1", lambda upstream, x: upstream * x * 17.5)  # no known mistake
    page = page_of(folder, capsys)
    assert classroom.NO_CAUSE not in page and re.search(r"^\* 1 × \S.{20,}", page, re.M)
