"""Find exercises and questions: "3.2" is the second exercise of `lesson_03.py`, "3.a" its first question.

A lesson is named by a string, "3" or "9b" (the half-lesson that follows lesson 9, in `lesson_09b.py`); a plain 3 will do too.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from typing import TypeVar

from .model import Exercise, Question, module_of

Asked = TypeVar("Asked", Exercise, Question)


class Unknown(LookupError):
    """There is no such id. The message lists those that exist."""


@cache
def numbers() -> tuple[str, ...]:
    """The lessons that have a module, in the order of the course: "0", ..., "9", "9b", "10", ..."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path_of_package()))
    return tuple(short(name[7:]) for name in names if re.fullmatch(r"lesson_\d\d[a-z]?", name))


def short(number: str) -> str:
    """ "3" from "03": as the lesson is usually called, not as its files are sorted."""
    return re.sub(r"^0(?=\d)", "", number)


def __path_of_package() -> list[str]:
    return list(importlib.import_module(__package__).__path__)


@cache
def exercises(lesson: int | str) -> dict[str, Exercise]:
    """The exercises of one lesson by id, in order."""
    return {exercise.id: exercise for exercise in module_of(str(lesson)).EXERCISES}


@cache
def questions(lesson: int | str) -> dict[str, Question]:
    """The predictions of one lesson by id, in order."""
    return {question.id: question for question in module_of(str(lesson)).QUESTIONS}


def find_exercise(key: object) -> Exercise:
    """The exercise called `key`, or Unknown."""
    return _find("exercise", exercises(lesson_number(key)), key)


def find_question(key: object) -> Question:
    """The question called `key`, or Unknown."""
    return _find("question", questions(lesson_number(key)), key)


def _find(kind: str, known: dict[str, Asked], key: object) -> Asked:
    if (name := str(key).strip()) not in known:
        raise Unknown(f"There is no {kind} {name[:20]}. This lesson has {', '.join(known)}.")
    return known[name]


def lesson_number(key: object) -> str:
    """ "3" from 3, "3", "03" or "3.2", or Unknown."""
    match = re.match(r"\s*(\d{1,2}[a-z]?)(\.|\s*$)", str(key)) if isinstance(key, str | int | float) else None
    if match is None:
        raise Unknown('Name an exercise by a string such as "3.1": the lesson, a dot, the number in it.')
    lesson = short(match.group(1))
    if lesson not in numbers():
        known = ", ".join(numbers())
        raise Unknown(f"There are no exercises for a lesson {lesson}. Lessons that have some: {known}.")
    return lesson
