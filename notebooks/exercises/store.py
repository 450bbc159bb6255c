"""The learner's progress: one small JSON file next to the learner's lessons. It never leaves the machine.

Delete the file to start again. Under pytest, and while the lessons are built (MINIGRAD_PROGRESS=off),
nothing is read or written, so that a saved lesson looks the same no matter who ran it. Set MINIGRAD_PROGRESS to a
path to keep it elsewhere.

Besides what is solved, it keeps the wrong tries, with the cause that the reply named, so that a class can see what it found
hard: learners who want to may hand in the file (classroom.py reads it). It contains no names, no times and no code, only the
replies to code.

No note is lost: a note is added to what the file holds at that moment, by one kernel at a time; a note that cannot be written
is kept and written with a later one. A damaged file is set aside, and one of a newer version is left as it is. The learner is
told once about either (`news`).
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from viz.read.text import write_whole

from .replies import say

TRIES = 12  # how many wrong tries are kept for each exercise: the latest
MOVED = (
    {f"9.{number}": f"9b.{number - 2}" for number in range(3, 11)} | {"9.c": "9b.b"},
    {"12.4": "12b.2", "12.5": "12b.1", "12.6": "12b.3", "12.c": "12b.a"},
    {"7.7": "7b.1", "7.8": "7b.3", "7.9": "7b.2", "7.b": "7b.a", "7.c": "7b.b"},
)
"""How the names of exercises have changed, step by step: lesson 9 was split in two, then lesson 12, then lesson 7."""
NAMES = len(MOVED) + 1  # version of the names in a file; a file without one has the first
WAIT = 5.0  # seconds to wait for another kernel that is writing
STALE = 20.0  # seconds after which a lock counts as left behind by a dead kernel

LESSONS = Path(__file__).resolve().parents[2] / "my_lessons"  # the learner's copy (tools/learners_copy.py)
FILE, COPIED = "progress.json", ".copied.json"  # the second is in every folder that holds a learner's copy
BEGAN = Path(os.path.abspath(os.curdir))  # where the kernel was started: the folder of the notebook

_unwritten: list[tuple[Path, dict[str, Any]]] = []  # the notes that are not in their file yet
KINDS = {
    "solved": list,
    "predicted": dict,
    "guesses": dict,
    "tries": dict,
    "exam": dict,
}  # of the entries in a file
# the same while there is no file
_without_file: dict[str, Any] = {key: kind() for key, kind in KINDS.items() if key != "exam"}
_news: list[str] = []  # news not yet shown
_said: set[str] = set()  # news already shown


def path() -> Path | None:
    """Where progress is kept, or None when it is kept only in memory."""
    chosen = os.environ.get("MINIGRAD_PROGRESS", "")
    if chosen == "off" or (not chosen and "PYTEST_VERSION" in os.environ):
        return None
    return Path(chosen) if chosen else folder() / FILE


def folder() -> Path:
    """The learner's folder: the one that holds the notebook, at any depth; for a notebook elsewhere, my_lessons."""
    return next((place for place in (BEGAN, *BEGAN.parents) if (place / COPIED).is_file()), LESSONS)


def load() -> dict[str, Any]:
    """{"names": NAMES, "solved": [ids], "predicted": {id: whether it came true}, "guesses": {id: as it was written},
    "tries": {id: [[answer, cause], ...]}} and, once it was begun, "exam": {question: what exam.py keeps of it}: the file, and
    what this kernel could not write. Damaged parts count as empty."""
    place = path()
    if place is None:
        return tidy(_without_file | {"names": NAMES})
    found, whole = _parsed(place)
    if not whole:
        with suppress(OSError), _alone(place):  # another kernel may be repairing it at this moment
            found = _read(place)
    return _with_notes(place, found)


def _with_notes(place: Path, found: Any) -> dict[str, Any]:
    """What was found in a file, and the notes for it that it does not have yet; notes for another file are left out."""
    data = tidy(found)
    for meant_for, one in _unwritten:
        if meant_for == place:
            _add(data, **one)
    return data


def news() -> str:
    """What has happened to the file since the last call, for the learner; "" if nothing."""
    new = [news for news in dict.fromkeys(_news) if news not in _said]
    _said.update(new)
    _news.clear()
    return "\n\n".join(new)


def _read(place: Path) -> Any:
    """What is in the file, or None. A file that is not, or only partly, one of ours is set aside. Call with the lock held."""
    data, whole = _parsed(place)
    if not whole:
        _put_aside(place, data)
    return data


def _parsed(place: Path) -> tuple[Any, bool]:
    """What is in the file, or None if nothing could be read; and whether it is valid."""
    try:
        data = json.loads(place.read_text(encoding="utf-8"))
    except OSError:  # it does not exist, another program has it open, or it may not be read: leave it alone
        return None, True
    except (ValueError, RecursionError):  # not UTF-8, or not JSON
        return None, False
    return data, _whole(data)


def _whole(data: Any) -> bool:
    """Whether this is a dict in which everything that `tidy` looks for, if present, has the right type."""
    return isinstance(data, dict) and all(isinstance(data.get(key, of()), of) for key, of in KINDS.items())


def _put_aside(place: Path, data: Any) -> None:
    """Copy a damaged file to one next to it, and replace it by what can be read of it."""
    try:
        damaged, number = place.read_bytes(), 1
        while (aside := place.with_name(f"{place.stem}.damaged-{number}{place.suffix}")).exists():
            number += 1
        write_whole(aside, damaged)
        if isinstance(data, dict):
            write_whole(place, _as_text(tidy(data)))
        else:
            place.unlink(missing_ok=True)
    except OSError:
        return
    _news.append(say("damaged", file=place.name, aside=aside.name))


def _as_text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def newer(data: Any) -> bool:
    """Whether the file was written by a newer version, with names that are unknown here."""
    names = data.get("names") if isinstance(data, dict) else None
    return isinstance(names, int) and names > NAMES


def tidy(data: Any) -> dict[str, Any]:
    """Turn whatever was read into what `load` promises."""
    data = data if isinstance(data, dict) else {}
    of: dict[str, Any] = {
        key: data[key] if isinstance(data.get(key), kind) else kind() for key, kind in KINDS.items()
    }
    names = data.get("names", 1)
    for moved in MOVED[names - 1 :] if isinstance(names, int) and names > 0 else MOVED:
        of["solved"] = [moved.get(str(key), key) for key in of["solved"]]
        for kind in ("predicted", "guesses", "tries"):
            of[kind] = {moved.get(str(key), key): kept for key, kept in of[kind].items()}
    tries = {
        str(key): [[str(part) for part in one] for one in every if isinstance(one, list) and len(one) == 2]
        for key, every in of["tries"].items()
        if isinstance(every, list)
    }
    return ({"exam": of["exam"]} if of["exam"] else {}) | {
        "names": NAMES,
        "solved": [str(item) for item in of["solved"]],
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
    """Add a solved exercise, a prediction (the first counts: it was made before the answer was seen), a wrong try, or the
    answer to a question of the exam (which replaces an earlier one)."""
    place, one = path(), {"solved": solved, "predicted": predicted, "tried": tried, "exam": exam}
    if place is None:
        return _add(_without_file, **one)
    _unwritten.append((place, one))
    _write(place)


@atexit.register
def _last_try() -> None:
    """When this kernel ends, write any note that had to wait for another kernel."""
    for place in {place for place, _ in _unwritten}:
        _write(place)


def _write(place: Path) -> None:
    """Bring the file up to date. If that is impossible, keep the notes for the next time."""
    try:
        if place.parent == LESSONS:
            LESSONS.mkdir(exist_ok=True)
        with suppress(FileExistsError), _alone(place):  # another kernel is at work: the next note tries again
            found = _read(place)
            if newer(found):
                _news.append(say("newer", file=place.name))
            else:
                write_whole(place, _as_text(_with_notes(place, found)))
                _unwritten[:] = [(meant_for, one) for meant_for, one in _unwritten if meant_for != place]
    except OSError as error:  # the disk is full, say; the next note tries again
        _news.append(say("unsaved", file=place.name, why=error.strerror))


def _add(data: dict[str, Any], *, solved: Any, predicted: Any, tried: Any, exam: Any) -> None:
    if exam is not None:
        question, kept = exam
        data["exam"] = data.get("exam", {}) | {question: kept}
    if tried is not None:
        key, *attempt = tried
        data["tries"][key] = [*data["tries"].get(key, []), attempt][-TRIES:]
    if solved is not None and solved not in data["solved"]:
        data["solved"] = sorted([*data["solved"], solved])
    if predicted is not None:
        key, came_true, guess = predicted
        if key not in data["predicted"]:
            data["predicted"][key], data["guesses"][key] = came_true, guess


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """No other kernel writes the file while the block runs. Raises OSError if that is impossible.

    A lock is a file that only one kernel can create, on every system, and that names its owner. A lock left behind by a dead
    kernel or an interrupted note is removed.
    """
    mine = f"{os.getpid()} {threading.get_ident()}".encode()
    lock = place.with_name(f"{place.name}.lock")
    until = time.monotonic() + WAIT
    while True:
        try:
            handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            with suppress(OSError):  # the disk is full: the lock has no name, and is removed below
                os.write(handle, mine)
            os.close(handle)
            break
        except FileExistsError:
            if time.monotonic() > until:
                raise
            _remove_if_left(lock, mine)
            time.sleep(0.005)
        except PermissionError:  # on Windows: it is being removed at this moment
            if time.monotonic() > until or not lock.exists():
                raise
            time.sleep(0.005)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _remove_if_left(lock: Path, mine: bytes) -> None:
    """Remove a lock that this thread left behind because of Ctrl+C, or that is too old (half a second, if it names no owner).
    It is renamed first, which only one kernel can do."""
    try:
        owner, age = lock.read_bytes(), time.time() - lock.stat().st_mtime
        if owner == mine or age > (STALE if owner else 0.5):
            taken = lock.with_name(f"{lock.name}.{os.getpid()}")
            lock.rename(taken)
            taken.unlink()
    except OSError:
        pass  # gone, or taken by another
