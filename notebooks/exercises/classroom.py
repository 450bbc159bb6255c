"""What a class found hard: `python -m exercises --class FOLDER` reads the progress files that learners chose to hand in.

Prints Markdown: for each prediction what was expected, for each exercise the wrong tries and the causes that were told,
the most common first. Counted in learners, not in tries, and without names: which file says what is not shown.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import answers, lessons, store
from .model import Exercise, Question
from .values import describe, plain

SHOWN = 6  # of the answers to an exercise, the most common ones
NO_CAUSE = "no known cause"


def read(folder: Path) -> tuple[list[dict[str, Any]], int]:
    """The progress files in `folder` (all `*.json`, hidden ones too), and how many of them cannot be read."""
    handed_in, unreadable = [], 0
    for path in sorted(folder.glob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            data = None
        if isinstance(data, dict):
            handed_in.append(store.tidy(data))
        else:
            unreadable += 1
    return handed_in, unreadable


def report(folder: Path) -> str:
    """The Markdown page. Raises FileNotFoundError, with what to do, where there is nothing to read."""
    handed_in, unreadable = read(folder)
    if not handed_in:
        raise FileNotFoundError(
            f"There is no progress file in {folder}. Learners who want to hand in a copy of notebooks/.progress.json, "
            "under any name that ends in .json."
        )
    learners = f"{len(handed_in)} learner{'s' * (len(handed_in) != 1)}"
    parts = [f"# What a class found hard: {learners}"]
    if unreadable:
        parts.append(f"{unreadable} more file{'s' * (unreadable != 1)} could not be read.")
    for number in lessons.numbers():
        told = [
            *(
                line
                for question in lessons.questions(number).values()
                for line in _prediction(question, handed_in)
            ),
            *(
                line
                for exercise in lessons.exercises(number).values()
                for line in _exercise(exercise, handed_in)
            ),
        ]
        if told:
            parts += [f"## Lesson {number}", *told]
    return "\n\n".join(parts) + "\n"


def _prediction(question: Question, handed_in: list[dict[str, Any]]) -> Iterator[str]:
    made = [data for data in handed_in if question.id in data["predicted"]]
    if not made:
        return
    true = sum(data["predicted"][question.id] for data in made)
    yield f"**{question.id}** {question.asks}: {true} of {len(made)} expected it."
    guesses = Counter(
        data["guesses"].get(question.id, "?") for data in made if not data["predicted"][question.id]
    )
    if guesses:
        yield "\n".join(
            f"* {count} × `{guess}`{_thought(question, guess)}" for guess, count in guesses.most_common(SHOWN)
        )


def _thought(question: Question, guess: str) -> str:
    """What is told of a guess that is known, as the end of its line."""
    truth = plain(question.truth())
    for wrong in question.wrong:
        if describe(answers.read(wrong.answer, truth), 40) == guess:
            return f": {wrong.advice}"
    return ""


def _exercise(exercise: Exercise, handed_in: list[dict[str, Any]]) -> Iterator[str]:
    tried = [data for data in handed_in if data["tries"].get(exercise.id)]
    solved = sum(exercise.id in data["solved"] for data in handed_in)
    if not tried and not solved:
        return
    yield f"**{exercise.id}** {exercise.title}: {solved} solved it, {len(tried)} after wrong tries or not yet."
    tries: Counter[tuple[str, str]] = Counter()
    for data in tried:  # once for each learner, however often the same was tried
        tries.update({(answer, cause) for answer, cause in data["tries"][exercise.id]})
    lines = [
        f"* {count} × {'' if answer == 'code' else f'`{answer}`: '}{cause or NO_CAUSE}"
        for (answer, cause), count in tries.most_common(SHOWN)
    ]
    left = len(tries) - len(lines)
    if left:
        lines.append(f"* and {left} other{'s' * (left != 1)}")
    if lines:
        yield "\n".join(lines)
