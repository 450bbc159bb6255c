"""The table in which a lesson lists answers (exercises/answer_table.py): what each form of code means, and its errors."""

from __future__ import annotations

import inspect
import types
from dataclasses import replace

import pytest

from exercises import lessons, model
from exercises.answer_table import Reader, Row, TableError

TABLE = r"""
    # a comment, then an answer in each form
    2 * x :: the local derivative alone
    lambda upstream, x: -x :: turned, $\frac{1}{2}$
    print :: a function
    return 5 :: a constant

    doubled = upstream * 2
    return doubled * x :: right
    x[::2] :: every second one
"""


def a_lesson() -> types.ModuleType:
    module = types.ModuleType("a_lesson")
    module.__file__ = "/lessons/a_lesson.py"
    module.rule = lambda upstream, x: upstream * 2 * x
    return module


def reader(monkeypatch, text=TABLE, **how):
    monkeypatch.setattr("exercises.answer_table._source", lambda module: f"first\nanswers={text}")
    return Reader("3.1", a_lesson(), **how)


def test_a_row_is_a_line_and_its_code_is_what_a_learner_would_hand_over(monkeypatch):
    table = reader(monkeypatch, names=("square_backward",), parameters=("upstream", "x"))
    rows = list(table.rows(TABLE))
    replies = ["the local derivative alone", "turned, $\\frac{1}{2}$", "a function", "a constant", "right"]
    assert [row.reply for row in rows] == [*replies, "every second one"]
    assert [row.line for row in rows] == [4, 5, 6, 7, 9, 11]
    alone, turned, built_in, constant, right, second = (table.answer(row) for row in rows)
    assert (alone(1, 3), turned(1, 3), constant(1, 3), right(5, 3)) == (6, -3, 5, 30)
    assert built_in is print and second(1, [1, 2, 3]) == [1, 3]


def test_an_answer_of_several_parts_is_read_by_name_or_in_order(monkeypatch):
    table = reader(monkeypatch, names=("dy_du", "dy_dx"))
    assert table.answer(Row(1, "dy_du = 75; dy_dx = None", "")) == {"dy_du": 75, "dy_dx": None}
    assert table.answer(Row(1, "4.0, 75.0", "")) == (4.0, 75.0)


def test_below_a_heading_an_expression_replaces_a_piece_of_the_solution(monkeypatch):
    text = "instead of 2 * x:\nx + 1 :: piece\nupstream + x :: whole\nrule :: named\ninstead of all:\nx + 1 :: whole"
    table = reader(monkeypatch, text, names=("rule",), parameters=("upstream", "x"))
    table = replace(table, solution=lambda: "def rule(upstream, x):\n    return upstream * 2 * x")
    piece, *whole = (table.answer(row) for row in table.rows(text) if row.code != "rule")
    assert piece(3, 4) == 3 * (4 + 1)
    assert [function(3, 4) for function in whole] == [7, 5]


@pytest.mark.parametrize(
    "text, line, message",
    [
        ("2 * x :: ", 2, "and a reply here"),
        (" :: a reply", 2, "code, ` :: ` and a reply"),
        ("\n\n2 * x", 4, "no ` :: ` follows"),
        ("x :: a\n2 ** :: b", 3, "SyntaxError"),
        ("x :: a\n\nmissing :: b", 4, "name 'missing' is not defined"),
    ],
)
def test_a_mistake_in_a_table_is_reported_with_exercise_and_line(monkeypatch, text, line, message):
    table = reader(monkeypatch, text, names=("square_backward",), parameters=("upstream", "x"))
    with pytest.raises(TableError) as error:
        [table.answer(row) for row in table.rows(text)]
    assert f"a_lesson.py, line {line}, exercise 3.1" in str(error.value) and message in str(error.value)


SOLUTION = """
def total(parts):
    found = 0  # where the sum begins
    for part in parts:
        found += part
        log(part)
    return found
"""


@pytest.mark.parametrize(
    "change, result, logged",
    [
        ("found = 0 => found = 1", 11, 3),
        ("log(part) =>", 10, 0),
        ("found += part =>", 0, 3),
        ("log(part) => <<", 10, 1),
        ("log(part) => << log(-1)", 10, 1),
        ("return found => >>", 2, 1),
        ("found = 0 => found = 1; found = 2 ;; part in parts => part in parts[1:]", 10, 2),
        ("found = 0 => found = 5\nfound += part => found -= part", -5, 3),
    ],
)
def test_a_row_may_state_how_a_wrong_program_differs_from_the_solution(monkeypatch, change, result, logged):
    calls = []
    table = reader(
        monkeypatch,
        names=("total",),
        parameters=("parts",),
        solution=lambda: SOLUTION,
        scope={"log": calls.append},
    )
    text = f"{change} :: a reply"
    (row,) = table.rows(text)
    assert table.answer(row)([2, 3, 5]) == result and len(calls) == logged


@pytest.mark.parametrize(
    "change, message",
    [
        ("found = 7 => found = 1", "`found = 7` is not in the solution"),
        ("part => x", "`part` occurs 3 times in the solution"),
        ("=> x", "is not of the form `old text => new text`"),
        ("found = 0 => a => b", "is not of the form"),
        ("found = 0 => b ;; = 0 => = 1", "two of the changes overlap"),
        ("def total => <<", "cannot move to the left"),
        ("found = 0 => found = (", "SyntaxError"),
        ("found => >>", "`found` occurs 3 times"),
    ],
)
def test_a_change_that_cannot_be_made_is_reported_with_exercise_and_line(monkeypatch, change, message):
    table = reader(monkeypatch, names=("total",), parameters=("parts",), solution=lambda: SOLUTION)
    (row,) = table.rows(f"{change} :: a reply")
    with pytest.raises(TableError) as error:
        table.answer(row)
    assert "a_lesson.py, line 1, exercise 3.1" in str(error.value) and message in str(error.value)


def test_an_arrow_in_a_text_is_not_a_change(monkeypatch):
    table = reader(monkeypatch, names=("order",))
    assert table.answer(Row(1, '"D => E"', "")) == "D => E"


def test_each_answer_of_the_lessons_is_on_the_line_that_its_row_names():
    for number in lessons.numbers():
        source = inspect.getsource(model.module_of(f"{number}.1")).split("\n")
        for stated in (*lessons.exercises(number).values(), *lessons.questions(number).values()):
            for row, _answer in stated._table:
                assert source[row.line - 1].strip().startswith(row.code.split("\n")[0].strip()), (
                    stated.id,
                    row,
                )


def test_a_wrong_answer_shows_its_code():
    wrong = lessons.find_exercise("3.1").wrong[0]
    assert isinstance(wrong, model.Wrong) and wrong.code and callable(wrong.answer)
