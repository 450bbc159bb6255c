"""Answers as people give them, in addition to those that the lessons list, to test the replies.

In learner_answers.txt each answer is below the id of its exercise: one line, or several with ` :: ` on the last, as in the
lessons (exercises/answer_table.py). No reply is repeated here, so each can be improved where it is written:

    code ::                   a wrong answer that is not listed: it must be rejected
    code :: as other code     its reply is the one that the other answer gets
    code :: no return         it holds the sentence of exercises/replies.py with this key
    code :: told              it is a reply that the lesson lists for exactly this mistake
    code :: right             it must be accepted
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import minigrad as torch
from exercises import lessons
from exercises.judge import as_answers
from exercises.model import Exercise

HERE = Path(__file__).parent


class Answer(NamedTuple):
    """One answer: its exercise, the arguments for `check`, and the reply that it must get."""

    exercise: Exercise
    code: str
    answers: tuple
    said: str = ""

    @property
    def right(self) -> bool:
        return self.said == "right"


ANSWERS = (HERE / "learner_answers.txt").read_text(encoding="utf-8")
"""From trying the lessons."""

UNSEEN = (HERE / "unseen_answers.txt").read_text(encoding="utf-8")
"""Wrong code that no lesson lists, written without looking at what they list: how often is a cause found?"""

FORESEEN: list[tuple[str, Any]] = [
    ("0.a", torch.tensor([3.0])),
    ("2.b", "True"),
    ("2.b", 1),
    ("3.a", [1 / 3] * 3),
    ("3.a", "1/3"),
    ("3.b", "None"),
    ("3.c", [2.0]),
    ("4.a", torch.tensor([12.0])),
    ("4.a", [12]),
    ("5.a", [6.0, 6.0]),
    ("5.b", ["b"]),
    ("5.b", "(b)"),
    ("6.c", torch.tensor([[6.0, 60.0]])),
    ("8.a", [6]),
    ("8.b", "none"),
    ("11.a", "[3, 3]"),
    ("16.b", "(1, 3)"),
    ("12.a", torch.tensor(100.0)),
    ("12.b", "1"),
    ("12b.a", "(d)"),
    ("13.a", ["c"]),
    ("13.b", 5.0),
    ("14.b", torch.tensor(8)),
    ("14.d", "B"),
]
"""Predictions that came true, in other forms."""


def read(text: str) -> list[Answer]:
    """The answers of such a table. An error names the exercise and the line."""
    found: list[Answer] = []
    code: list[str] = []
    exercise = None
    for number, line in enumerate(text.split("\n"), 1):
        if not code and (heading := re.fullmatch(r"\[(.+)\]", line)):
            exercise = lessons.find_exercise(heading[1])
            continue
        if exercise is None or (not code and not line.strip()):
            continue
        before, separator, after = f"{line} ".partition(" :: ")
        code.append(before)
        if not separator:
            continue
        written, code = "\n".join(line.rstrip() for line in code), []
        try:
            given = as_answers(exercise, exercise.answer(written))
        except Exception as error:
            raise ValueError(f"line {number} of the answers, exercise {exercise.id}: {error}") from error
        found.append(Answer(exercise, written, given, after.strip()))
    assert not code, f"no ` :: ` follows: {code}"
    return found


def by_belief(exercise: Exercise) -> Iterator[tuple]:
    """Wrong answers, part by part: averaged, counted twice, forgotten, with the wrong sign, 0 for None, None for a number."""
    if not exercise.typed:
        return
    for name, right in zip(exercise.names, exercise.reference, strict=True):
        if isinstance(right, int | float) or right is None:
            number = float(right or 0)
            answers: list[Any] = [
                0.0,
                1.0,
                -number,
                number / 2,
                number / 3,
                2 * number,
                number + 1,
                number - 1,
                None,
            ]
        elif isinstance(right, str) and len(right) == 1:
            answers = list("abcde")
        else:
            continue
        for answer in answers:
            if answer == right:
                continue
            yield as_answers(exercise, {name: answer} if len(exercise.names) > 1 else answer)


def every_wrong_answer() -> Iterator[tuple[Exercise, tuple]]:
    """Every wrong answer from `by_belief` and from the lists of the exercises."""
    for number in lessons.numbers():
        for exercise in lessons.exercises(number).values():
            for wrong in exercise.wrong:
                yield exercise, as_answers(exercise, wrong.answer)
            for answers in by_belief(exercise):
                yield exercise, answers
    for answer in read(ANSWERS):
        if not answer.right:
            yield answer.exercise, answer.answers
