"""The learner's progress: one small JSON file beside the learner's lessons. It never leaves the machine.

Delete the file to begin afresh. Under pytest, and while the lessons are built (MINIGRAD_PROGRESS=off),
nothing is read or written, so that a saved lesson looks the same whoever ran it. Set MINIGRAD_PROGRESS to a
path to keep it elsewhere.

Beside what is solved it keeps the tries that were wrong, with the cause that was told, so that a class may look at what
it found hard: a learner who wants to hands the file in (classroom.py reads it). No name and no time is in it, and of
code only what was told about it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from viz.read.text import write_whole

TRIES = 12  # of an exercise are kept, the last ones
NAMES = 2  # the names of exercises that a file is written with; one that does not say has the first
MOVED = {f"9.{number}": f"9b.{number - 2}" for number in range(3, 11)} | {"9.c": "9b.b"}
"""What became of the first names: lesson 9 was cut in two, and its clinic became lesson 9b."""

LESSONS = Path(__file__).resolve().parents[2] / "my_lessons"  # the learner's copy (tools/learners_copy.py)
FILE, COPIED = "progress.json", ".copied.json"  # the second is in every folder that holds a learner's copy
BEGAN = Path(os.path.abspath(os.curdir))  # where the kernel was started: the folder of the notebook

_session: dict[str, Any] = {}  # all there is, while it cannot be written to the file


def path() -> Path | None:
    """Where progress is kept, or None when it is kept only in memory."""
    chosen = os.environ.get("MINIGRAD_PROGRESS", "")
    if chosen == "off" or (not chosen and "PYTEST_VERSION" in os.environ):
        return None
    return Path(chosen) if chosen else folder() / FILE


def folder() -> Path:
    """The learner's folder: the one that the notebook is in, or below; for a notebook elsewhere, my_lessons."""
    return next((place for place in (BEGAN, *BEGAN.parents) if (place / COPIED).is_file()), LESSONS)


def load() -> dict[str, Any]:
    """{"names": NAMES, "solved": [ids], "predicted": {id: whether it came true}, "guesses": {id: as it was written},
    "tries": {id: [[answer, cause], ...]}} and, once it was begun, "exam": {question: what exam.py keeps of it}. What is
    damaged counts as empty."""
    if _session:
        return _session
    place = path()
    try:
        return tidy(None if place is None else json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return tidy(None)


def tidy(data: Any) -> dict[str, Any]:
    """What `load` promises, out of whatever was read."""
    data = data if isinstance(data, dict) else {}
    solved = data.get("solved") if isinstance(data.get("solved"), list) else []
    of = {
        key: data[key] if isinstance(data.get(key), dict) else {} for key in ("predicted", "guesses", "tries")
    }
    if data and data.get("names") != NAMES:
        solved = [MOVED.get(str(key), key) for key in solved]
        of = {
            name: {MOVED.get(str(key), key): told for key, told in every.items()}
            for name, every in of.items()
        }
    tries = {
        str(key): [[str(part) for part in one] for one in every if isinstance(one, list) and len(one) == 2]
        for key, every in of["tries"].items()
        if isinstance(every, list)
    }
    exam = data.get("exam") if isinstance(data.get("exam"), dict) else {}
    return ({"exam": exam} if exam else {}) | {
        "names": NAMES,
        "solved": [str(item) for item in solved],
        "predicted": {str(key): bool(true) for key, true in of["predicted"].items()},
        "guesses": {str(key): str(guess) for key, guess in of["guesses"].items()},
        "tries": tries,
    }


def note(
    *,
    solved: str | None = None,
    predicted: tuple[str, bool, str] | None = None,
    tried: tuple[str, str, str] | None = None,
    exam: tuple[str, Any] | None = None,
) -> None:
    """Add a solved exercise, a prediction (the first counts: it was made before the answer was seen), a wrong try, or what
    was answered to a question of the exam (in place of what was noted for it before; None removes it)."""
    data = load()
    if exam is not None:
        question, kept = exam
        data["exam"] = {key: value for key, value in data.get("exam", {}).items() if key != question}
        if kept is not None:
            data["exam"][question] = kept
    if tried is not None:
        key, *said = tried
        data["tries"][key] = [*data["tries"].get(key, []), said][-TRIES:]
    if solved is not None and solved not in data["solved"]:
        data["solved"] = sorted([*data["solved"], solved])
    if predicted is not None:
        key, came_true, guess = predicted
        if key not in data["predicted"]:
            data["predicted"][key], data["guesses"][key] = came_true, guess
    place = path()
    try:
        if place is not None:
            if place.parent == LESSONS:
                LESSONS.mkdir(exist_ok=True)
            write_whole(place, json.dumps(data, indent=1, sort_keys=True) + "\n")
            _session.clear()
            return
    except OSError:
        pass  # a read-only folder: the session remembers
    _session.update(data)
