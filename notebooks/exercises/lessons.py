"""Finds exercises and questions: "3.2" is the second exercise of `lesson_03.py`, "3.a" its first question."""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache

from .model import Exercise, Question


class Unknown(LookupError):
    """There is no such id. The message says which there are."""


@cache
def numbers() -> tuple[int, ...]:
    """The lessons that have a module."""
    names = (module.name for module in pkgutil.iter_modules(__path_of_package()))
    return tuple(sorted(int(name[7:]) for name in names if re.fullmatch(r"lesson_\d\d", name)))


def __path_of_package() -> list[str]:
    return list(importlib.import_module(__package__).__path__)


@cache
def exercises(lesson: int) -> dict[str, Exercise]:
    """The exercises of one lesson by id, in order."""
    return {exercise.id: exercise for exercise in _module(lesson).EXERCISES}


@cache
def questions(lesson: int) -> dict[str, Question]:
    """The predictions of one lesson by id, in order."""
    return {question.id: question for question in _module(lesson).QUESTIONS}


def find_exercise(key: object) -> Exercise:
    """The exercise called `key`, or Unknown."""
    found = exercises(_lesson_of(key)).get(str(key).strip())
    if found is None:
        raise Unknown(_there_is_no("exercise", key, exercises(_lesson_of(key))))
    return found


def find_question(key: object) -> Question:
    """The question called `key`, or Unknown."""
    found = questions(_lesson_of(key)).get(str(key).strip())
    if found is None:
        raise Unknown(_there_is_no("question", key, questions(_lesson_of(key))))
    return found


def lesson_number(key: object) -> int:
    """3 from 3, "3", "03" or "3.2", or Unknown."""
    return _lesson_of(key)


def _module(lesson: int):
    return importlib.import_module(f".lesson_{lesson:02d}", __package__)


def _lesson_of(key: object) -> int:
    match = re.match(r"\s*(\d{1,2})(\.|\s*$)", str(key)) if isinstance(key, str | int | float) else None
    if match is None:
        raise Unknown('Exercises are called by a text such as "3.1": the lesson, a point, the number in it.')
    lesson = int(match.group(1))
    if lesson not in numbers():
        known = ", ".join(str(number) for number in numbers())
        raise Unknown(f"There are no exercises for a lesson {lesson}. Lessons that have some: {known}.")
    return lesson


def _there_is_no(kind: str, key: object, known: dict) -> str:
    return f"There is no {kind} {str(key).strip()[:20]}. This lesson has {', '.join(known)}."
