"""Parts of the exercises' judge that few answers reach: each test fails if its line is changed."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from exercises import check, hint, lessons, progress, tiny_engine
from exercises.exam import Exam
from exercises.relations import Tried, relation_in
from exercises.side_effects import unchanged
from tests.exercise_helpers import EXERCISES


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))


def test_a_nan_that_was_there_before_is_not_a_change():
    x = torch.tensor([float("nan"), 2.0], requires_grad=True)
    x.grad = torch.tensor([1.0, float("nan")])
    with unchanged(x=x):
        (x * 2).sum()


@pytest.mark.parametrize("answer", [..., "q", [1, 2]], ids=["blank", "no such letter", "no letter"])
def test_a_question_of_the_exam_that_is_not_answered_says_so_before_its_title(answer):
    card = Exam().answer(11, answer)._repr_html_()
    assert 0 < card.index("Not yet") < card.index("Question 11")


def test_the_right_numbers_in_one_row_are_recognised():
    due = np.arange(6.0).reshape(2, 3)
    assert "in one row" in relation_in([Tried(due.ravel(), due), Tried(2 * due.ravel(), 2 * due)])


def test_the_reference_of_the_engine_sums_what_was_stretched():
    grad = np.arange(12.0).reshape(2, 2, 3)
    np.testing.assert_array_equal(tiny_engine.unbroadcast(grad, (3,)), grad.sum((0, 1)))
    np.testing.assert_array_equal(tiny_engine.unbroadcast(grad, (2, 1)), grad.sum((0, 2))[:, None])


def test_one_blank_is_asked_for_in_its_place_several_as_a_list():
    for exercise in EXERCISES:
        names = exercise.names
        text = str(check(exercise.id, *[...] * len(names)))
        assert ("Still to do" in text) == (len(names) > 1), exercise.id
        assert all(name in text for name in names)


def test_the_hints_of_an_exercise_are_folded_into_each_other_in_order():
    for exercise in EXERCISES:
        page = hint(exercise.id)._repr_html_()
        places = [page.index(f"Hint {n} of {len(exercise.hints)}") for n in range(1, len(exercise.hints) + 1)]
        assert places == sorted(places) and page.count("<details") >= len(places)


def test_nothing_is_surprising_before_a_prediction_is_made():
    assert "Surprising" not in progress(lessons.numbers()[0])._repr_html_()
