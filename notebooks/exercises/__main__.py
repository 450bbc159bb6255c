"""For teachers: `python -m exercises 03` prints the answers of a lesson as Markdown, `python -m exercises exam` the key of the
exam (exam_key.py), `python -m exercises --class FOLDER` what a class found hard (classroom.py).

The answers: each prediction with its answer and common wrong predictions, each exercise with a solution, why it works,
and each known mistake, as the learner writes it, with the reply. Without a number, all lessons.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import classroom, exam_key, lessons
from .judge import as_answers, judge
from .model import Exercise, Question, Wrong, module_of
from .values import describe

USAGE = """python -m exercises [LESSON ...]      the answers of these lessons, or of all, with the replies to wrong ones
python -m exercises exam [COPY.ipynb]    the key of the exam, or of a copy with other numbers
python -m exercises --class FOLDER [--names] [--csv]
                                      what a class found hard, from the progress files in FOLDER and the folders in it
                                      (ada/progress.json and ada/exam.json, ada.json and ada_exam.json: one learner);
                                      --names: and how far each learner got, by file name; --csv: as rows for a spreadsheet"""
ORDERS = 6  # a longer list of answers of one kind is shown in part


def answers(lesson: str) -> str:
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
    yield "What learners write, and what they are told:"
    alike = [wrong for wrong in exercise.wrong if _made_up(wrong.advice)]
    shown = [wrong for wrong in exercise.wrong if wrong not in alike[ORDERS:]]
    lines = [f"* {_written(exercise, wrong)}\n  {_reply(exercise, wrong)}" for wrong in shown]
    if len(alike) > ORDERS:
        lines.append(f"* and {len(alike) - ORDERS} other orders; each reply says what fired too early.")
    yield "\n".join(lines)


def _reply(exercise: Exercise, wrong: Wrong) -> str:
    """The full reply about the cause: a piece of advice may be the beginning of what a check says."""
    cause = judge(exercise, as_answers(exercise, wrong.answer)).cause
    return cause if wrong.advice in cause else wrong.advice


def _made_up(advice: str) -> bool:
    """Whether a reply is one of many that follow the same pattern (exercise 4.1)."""
    return advice.startswith("Fired too early:")


def _written(exercise: Exercise, wrong: Wrong) -> str:
    """A wrong answer as a learner writes it, in a line or in a block of code with the functions that it names."""
    if exercise.typed:
        return f"`{wrong.code or _parts(exercise, wrong.answer)}`"
    module = module_of(exercise.id)
    named = [getattr(module, name, None) for name in re.findall(r"\w+", wrong.code)]
    helpers = [part for part in dict.fromkeys(named) if getattr(part, "__module__", "") == module.__name__]
    code = [*(inspect.getsource(part).rstrip() for part in helpers), wrong.code]
    return "\n" + textwrap.indent("```python\n" + "\n\n".join(code) + "\n```\n", "  ")


def _parts(exercise: Exercise, answer: Any) -> str:
    """A typed answer that a pattern generates, as a learner would write it."""
    parts = as_answers(exercise, answer)
    return ", ".join(f"{name} = {part!r}" for name, part in zip(exercise.names, parts, strict=True))


def main(names: list[str]) -> int:
    """Print the answers of the lessons that `names` mean, the key of the exam or the report on a class. Return 0,
    or 2 if that is impossible."""
    if names[:1] in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    options, rest = [[name for name in names if name.startswith("-") is dashed] for dashed in (True, False)]
    about_class = "--class" in options
    known = {"--class", "--names", "--csv"} if about_class else set()
    if set(options) - known or (about_class and len(rest) != 1):
        print(USAGE, file=sys.stderr)
        return 2
    try:
        if about_class:
            written = classroom.table if "--csv" in options else classroom.report
            page = written(Path(rest[0]), names="--names" in options)
        elif rest[:1] == ["exam"]:
            page = exam_key.key(*map(Path, rest[1:2]))
        else:
            page = "\n".join(map(answers, [*map(lessons.lesson_number, rest)] or lessons.numbers()))
    except (FileNotFoundError, ValueError, lessons.Unknown) as error:
        print(error, file=sys.stderr)
        return 2
    print(page, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
