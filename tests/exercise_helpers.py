"""Shared by the tests of the exercises: all exercises and questions, and the reply to an answer."""

from __future__ import annotations

import pytest

from exercises import check, lessons

EXERCISES = [exercise for number in lessons.numbers() for exercise in lessons.exercises(number).values()]
QUESTIONS = [question for number in lessons.numbers() for question in lessons.questions(number).values()]
each_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)


def advice(exercise, *answers):
    card = check(exercise, *answers)
    return f"{card.state}: {card}"


def raising(error):
    def function(*arguments):
        raise error

    return function


def recursing(*arguments):
    return recursing(*arguments)


def emptying(*arguments):
    for argument in arguments:
        if hasattr(argument, "zero_"):
            argument.zero_()
    return arguments[0]
