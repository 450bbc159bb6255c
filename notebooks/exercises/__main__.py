"""The answers of a lesson, for who teaches it: `python -m exercises 03`, in the folder of the lessons.

Prints Markdown: each prediction with its answer and what people predict instead, each exercise with a solution, why it
works, and what to say to each known mistake. Without a number, all lessons.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from . import lessons
from .model import Exercise, Question
from .values import describe


def answers(lesson: int) -> str:
    """The answers of one lesson as Markdown."""
    parts: list[str] = [f"# Lesson {lesson}: answers"]
    for question in lessons.questions(lesson).values():
        parts += _prediction(question)
    for exercise in lessons.exercises(lesson).values():
        parts += _exercise(exercise)
    return "\n\n".join(parts) + "\n"


def _prediction(question: Question) -> Iterator[str]:
    yield f"## Prediction {question.id}: {question.asks}"
    yield f"Answer: `{describe(question.truth())}`. {question.found}"
    if question.wrong:
        yield "\n".join(f"* `{describe(wrong.answer)}`: {wrong.advice}" for wrong in question.wrong)


def _exercise(exercise: Exercise) -> Iterator[str]:
    yield f"## Exercise {exercise.id}: {exercise.title}"
    yield f"```python\n{exercise.solution_source}\n```"
    yield exercise.why
    yield "What learners do, and what they are told:"
    yield "\n".join(f"* {wrong.advice}" for wrong in exercise.wrong)


def main(names: list[str]) -> int:
    """Print the answers of the lessons that `names` mean; 2 if there is no such lesson."""
    try:
        chosen = [lessons.lesson_number(name) for name in names] or list(lessons.numbers())
    except lessons.Unknown as unknown:
        print(unknown, file=sys.stderr)
        return 2
    print("\n".join(map(answers, chosen)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
