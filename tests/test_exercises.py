"""The exercise machinery: right answers pass, each listed wrong answer gets its own advice, and nothing makes it raise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from nbformat.v4 import new_code_cell

import minigrad
from exercises import __main__ as answers_in_full
from exercises import (
    api,
    check,
    lessons,
    predict,
    replies,
    store,
)
from exercises.judge import CORRECT, NOT_YET, RAISED, TRY_AGAIN, as_answers, judge
from exercises.replies import say
from exercises.values import plain
from tests import learner_answers
from tests.exercise_helpers import EXERCISES, QUESTIONS, each_exercise
from tests.lesson_files import (
    LESSONS,
    as_it_comes,
    number_of,
    one_kernel,
    printed,
    run_in,
    solved,
    tagged,
)

answers_of = answers_in_full.main
ANSWERS = learner_answers.read(learner_answers.ANSWERS)

# minigrad warns of what these answers do
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

JUDGED = {}


@pytest.fixture
def judged_once(monkeypatch):
    """The judge of `check` and of a teacher's page, except that an answer judged in an earlier test is not run again: the two
    thousand listed answers are judged three times."""

    def verdict(exercise, answers):
        key = exercise.id, *map(id, answers)
        if key not in JUDGED:  # keep the answers alive, so that their ids are not reused
            JUDGED[key] = answers, judge(exercise, answers)
        return JUDGED[key][1]

    monkeypatch.setattr(api, "judge", verdict)
    monkeypatch.setattr(answers_in_full, "judge", verdict)
    return verdict


# the exercises of the lessons


@each_exercise
def test_the_solution_is_correct(exercise):
    card = check(exercise.id, *exercise.reference)
    assert (card.state, repr(card)) == (CORRECT, f"{exercise.id} correct")


@each_exercise
def test_a_wrong_answer_is_rejected_with_its_own_advice(exercise, judged_once):
    failed = []
    for wrong in exercise.wrong:
        card = check(exercise.id, *as_answers(exercise, wrong.answer))
        expected_reply = {
            advice for advice in (other.advice for other in exercise.wrong) if advice in card.text
        }
        if card.state not in (TRY_AGAIN, RAISED) or expected_reply != {wrong.advice}:
            failed.append(f"{wrong.answer!r} is wrong since {wrong.advice!r}, and is told:\n{card}")
    assert not failed, "\n\n".join(failed)


def test_an_exercise_has_all_its_words():
    failed = []
    for exercise in EXERCISES:
        advice = [wrong.advice for wrong in exercise.wrong]
        texts = [exercise.why, exercise.shows, *exercise.hints, *exercise.about.values(), *advice]
        if not re.fullmatch(r"\d{1,2}[a-z]?\.\d{1,2}", exercise.id) or not (
            len(set(advice)) >= 3 and len(exercise.hints) >= 1
        ):
            failed.append(f"{exercise.id}: {len(exercise.hints)} hints, wrong answers {advice}")
        failed += [f"{exercise.id}: {text!r}" for text in texts if not text.strip()]
        failed += [f"{exercise.id}: {text!r}" for text in texts if text.count("`") % 2 or text.count("$") % 2]
    assert not failed, "\n".join(failed)


def test_a_prediction_is_noted_and_answered_by_its_thought():
    failed = []
    for question in QUESTIONS:
        truth = question.truth()
        due = [(answer, question.found) for answer in (truth, *question.right)]
        due += [(wrong.answer, wrong.advice) for wrong in question.wrong]
        if isinstance(truth, str):
            letters = api.letters_of(question)
            due.append(("z", say("no such letter", letter="z", first=letters[0], last=letters[-1])))
        elif not isinstance(truth, bool):
            due.append((-123.456, question.missed))
        said = [(answer, predict(question.id, answer).text, text) for answer, text in due]
        failed += [
            f"{question.id}: {answer!r} is told {is_told!r}"
            for answer, is_told, text in said
            if is_told != text
        ]
        beginnings = {
            repr(predict(question.id, truth)): f"{question.id} noted: ",
            repr(predict(question.id, "no idea")): f"{question.id} not yet",
        }
        failed += [shown for shown, begins in beginnings.items() if not shown.startswith(begins)]
        nothing = {repr(predict(question.id)), repr(predict(question.id, ...))}
        failed += nothing - {f"{question.id} not yet predicted"}
    assert not failed, "\n".join(failed)


# other tests run the lessons with their pictures
NO_PICTURES = """\
shown = get_ipython().display_formatter
shown.active_types = ["text/plain"]
shown.mimebundle_formatter.enabled = False
del shown
"""


@pytest.fixture(scope="module")
def kernel():
    with one_kernel(MINIGRAD_PROGRESS="off", VIZ_WIDGETS="1") as manager:
        yield manager


WITH_NAMES_OF_THE_LESSON = {"4.4": "paths = [[u, 1, 3], [u, 1], [v, 3]]"}
"""Other solutions, written with names that the cells above have bound, as some texts suggest."""


@pytest.mark.long
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_solved_lesson_shows_correct_everywhere_and_can_be_solved_once_more_after_run_all(path, kernel):
    """The tries below the last cell show that no cell rebinds a name that an exercise uses."""
    notebook, tries = solved(path), []
    for cell in as_it_comes(path).cells:
        if key := tagged(cell, "exercise"):
            call = cell.source[cell.source.rindex("check(") :]
            sources = lessons.find_exercise(key).solution_source, WITH_NAMES_OF_THE_LESSON.get(key)
            tries += [(key, new_code_cell(f"{source}\n\n{call}")) for source in sources if source]
    count = len(lessons.exercises(number_of(path)))
    assert len(tries) >= count
    notebook.cells += [cell for _, cell in tries]
    run_in(kernel, notebook, NO_PICTURES)
    for cell in notebook.cells:
        if key := tagged(cell, "exercise"):
            assert f"{key} correct" in printed(cell), printed(cell)
        if key := tagged(cell, "predict"):
            assert f"{key} noted" in printed(cell), printed(cell)
        if cell.id == "progress":
            assert f"surprising 0, solved {count} of {count}" in printed(cell)
    for key, cell in tries:
        assert f"{key} correct" in printed(cell), f"{cell.source}\n{printed(cell)}"


# answers as people give them


def words_of(key, answer):
    return check(key, *as_answers(lessons.find_exercise(key), answer)).text


def test_the_cause_is_reported():
    failed = []
    for answer in ANSWERS:
        if answer.said and not answer.right:
            verdict = judge(answer.exercise, answer.answers)
            like, _, other = answer.said.partition(" ")
            if like == "as":
                said = judge(
                    answer.exercise, as_answers(answer.exercise, answer.exercise.answer(other))
                ).cause
                right = said and said == verdict.cause
            elif answer.said == "told":
                right = verdict.cause and not keys_of(verdict.cause) and "small change" not in verdict.cause
            else:
                right = answer.said in keys_of(verdict.message)
            if not right:
                failed.append(f"{answer.exercise.id}: {answer.code} :: {answer.said}\n{verdict}")
    assert not failed, "\n\n".join(failed)


def keys_of(text):
    """The keys of the sentences in a reply that are longer than a few words."""
    pieces = {key: re.split(r"\{\w+\}", said) for key, said in replies.REPLIES.items() if len(said) > 10}
    return {key for key, parts in pieces.items() if re.search(".*".join(map(re.escape, parts)), text, re.S)}


def _changeable(value: object) -> Iterator[object]:
    """The parts of a value that a function could write into."""
    if isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _changeable(part)
    if isinstance(value, list | dict | np.ndarray | minigrad.Tensor):
        yield value


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if e.cases], ids=lambda exercise: exercise.id)
def test_what_a_function_is_called_with_is_made_afresh(exercise):
    """An answer that writes into its arguments spoils them only for itself."""
    one, other = exercise.cases(), exercise.cases()
    assert not {id(part) for part in _changeable(one)} & {id(part) for part in _changeable(other)}


def test_a_right_answer_is_right_however_it_is_written():
    cards = [check(answer.exercise.id, *answer.answers) for answer in ANSWERS if answer.right]
    failed = [str(card) for card in cards if card.state != CORRECT]
    assert not failed, "\n\n".join(failed)


def test_a_prediction_that_came_true_is_no_surprise_however_it_is_written(monkeypatch):
    noted, failed = [], []
    monkeypatch.setattr(store, "note", lambda **what: noted.append(what["predicted"][:2]))
    for key, guess in learner_answers.FORESEEN:
        said = predict(key, guess).text
        if said != lessons.find_question(key).found or noted != [(key, True)]:
            failed.append(f"{key}: {guess!r} is told {said!r}, noted {noted}")
        noted.clear()
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("guess", ["no idea", "12 or 16", {"a": 1}, ["b"], "maybe"])
def test_what_cannot_be_an_answer_is_not_noted_at_all(guess, monkeypatch):
    noted = []
    monkeypatch.setattr(store, "note", lambda **what: noted.append(what))
    assert predict("4.a", guess).state == NOT_YET and "Enter a number" in predict("4.a", guess).text
    assert not noted


def test_the_reply_to_a_typed_answer_gives_no_ratio():
    """A reply of "exactly 1/7 of what it should be" would give the answer away by arithmetic."""
    cards = [check(e.id, *answers) for e in EXERCISES for answers in learner_answers.by_belief(e)]
    failed = [str(card) for card in cards if re.search(r"is exactly|` is right|zero everywhere", card.text)]
    assert not failed, "\n\n".join(failed)


def test_a_reply_does_not_reveal_that_the_answer_is_none():
    """The reply to an unknown number is the same whether None or a number is expected: wrong, and where to look."""
    failed = []
    for exercise in EXERCISES:
        for name, due in zip(exercise.names, exercise.reference, strict=True):
            if (
                exercise.typed
                and exercise.probe is None
                and not isinstance(due, str)
                and np.size(plain(due)) == 1
            ):
                expected_reply = words_of(exercise.id, {name: 77.7} if len(exercise.names) > 1 else 77.7)
                if (
                    say("no") not in expected_reply
                    or "`None`" in expected_reply.replace("try again", "")
                    or (due is None and exercise.look_again(name) not in expected_reply)
                ):
                    failed.append(f"{exercise.id}, {name}:\n{expected_reply}")
    assert not failed, "\n\n".join(failed)


@pytest.mark.parametrize(
    "key, answer, expected_reply",
    [
        ("1.2", {"du_dx": [4, 4]}, say("one number")),
        ("1.2", {"du_dx": 1j}, "`a value of type complex`"),
        ("1.2", {"du_dx": []}, say("enter", kind="empty", enter=say("a number"))),
        ("6.4", {"v_sum": [1, 1, 1]}, say("list", count=4)),
        ("6.4", {"v_sum": None}, say("not None")),
        ("6.1", {"jacobian": [6, 0, 2, 3, 0, 5]}, say("table", rows=3, columns=2)),
        ("6.1", {"jacobian": [[1, 2, 3], [4, 5, 6]]}, say("lies")),
        ("8.2", {"detached": "maybe"}, say("unread", part="maybe", enter=say("a number or None"))),
        ("8.2", {"plain": "maybe"}, say("a number or None")),
        ("8.2", {"block": [1, 2]}, say("one number")),
    ],
)
def test_something_that_is_not_an_answer_gets_a_reply_without_naming_an_axis(key, answer, expected_reply):
    said = words_of(key, answer)
    assert expected_reply in said and "a sum" not in said and "Opaque" not in said


def test_no_wrong_answer_is_accepted(judged_once, monkeypatch):
    monkeypatch.setattr("exercises.judge.SEARCH", (0.0, 0.0))  # how causes are searched for is tested below
    verdicts = [(e, judged_once(e, answers)) for e, answers in learner_answers.every_wrong_answer()]
    assert len(verdicts) > 3000
    assert [exercise.id for exercise, verdict in verdicts if verdict.state == CORRECT] == []
    no_cause = [(e, v) for e, v in verdicts if v.state != NOT_YET and not v.cause]
    nothing = [
        v for e, v in no_cause if not any(look and look in v.message for look in map(e.look_again, e.names))
    ]
    assert len(nothing) / len(verdicts) <= 0.01, "nearly all say at least where to look"
    assert len(no_cause) / len(verdicts) <= 0.08, Counter(exercise.id for exercise, _ in no_cause)


def test_each_listed_wrong_answer_of_a_lesson_has_its_cause(judged_once):
    for number in lessons.numbers():
        known = [
            judged_once(exercise, as_answers(exercise, wrong.answer))
            for exercise in lessons.exercises(number).values()
            for wrong in exercise.wrong
        ]
        assert sum(not verdict.cause for verdict in known) <= 0.05 * len(known), number


@pytest.mark.long
def test_the_cause_of_unlisted_wrong_code_is_mostly_found():
    """A ratio alone, such as "exactly 8 times what it should be", does not count as a cause."""
    unseen = learner_answers.read(learner_answers.UNSEEN)
    verdicts = [(answer, judge(answer.exercise, answer.answers)) for answer in unseen]
    assert [answer.code for answer, verdict in verdicts if verdict.state == CORRECT] == []
    vague = [
        f"{answer.exercise.id}: {answer.code}"
        for answer, verdict in verdicts
        if not verdict.cause or re.search(r"exactly (?:1/)?\d+ ", verdict.message)
    ]
    assert len(unseen) >= 130 and len(vague) <= 0.1 * len(unseen), "\n".join(vague)


def test_a_teacher_can_print_the_answers(capsys, judged_once):
    assert answers_of(["3"]) == 0
    page = capsys.readouterr().out
    for exercise in lessons.exercises(3).values():
        assert f"## Exercise {exercise.id}: {exercise.title}" in page and exercise.solution_source in page
        assert all(wrong.advice in page for wrong in exercise.wrong)
    assert "```python\n  2 * x\n" in page and "`grad_a = 1.0`" in page, "each wrong answer, as it is written"
    for question in lessons.questions(3).values():
        assert question.asks in page and question.found in page
    assert answers_of([]) == 0 and capsys.readouterr().out.count("# Lesson ") == len(lessons.numbers())
    assert answers_of(["4"]) == 0 and "and 24 other orders" not in capsys.readouterr().out
    assert answers_of(["99"]) == 2 and "Lessons that have some" in capsys.readouterr().err
