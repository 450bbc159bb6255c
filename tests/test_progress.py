"""A learner's progress file: kept, damaged, locked, of another version, or not there at all."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time

import pytest

from exercises import (
    check,
    lessons,
    predict,
    progress,
    store,
)
from exercises.model import padded
from exercises.replies import say
from tests.exercise_helpers import EXERCISES, QUESTIONS
from tests.lesson_files import (
    NOTEBOOKS,
)

# progress


def test_progress_is_kept_in_one_file_beside_the_lessons(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_unwritten", [])
    file = tmp_path / "progress.json"
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(file))
    assert repr(progress(3)) == "Lesson 3: predicted 0 of 3, surprising 0, solved 0 of 5"
    predict("3.a", 1.0)
    predict("3.b", None)
    check("3.1", 7)
    check("3.5", "c")
    assert repr(progress("3")) == "Lesson 3: predicted 2 of 3, surprising 1, solved 1 of 5"
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "names": store.NAMES,
        "predicted": {"3.a": False, "3.b": True},
        "guesses": {"3.a": "1", "3.b": "None"},
        "solved": ["3.5"],
        "tries": {"3.1": [["7", check("3.1", 7).text.split("\n")[1]]]},
    }
    predict("3.a", 1 / 3)  # after the answer was seen: the first one counts
    assert "surprising 1" in repr(progress(3.0))
    check("0.1", 7.0)
    every = f"solved 2 of {len(EXERCISES)}"
    assert repr(progress()) == f"All lessons: predicted 2 of {len(QUESTIONS)}, surprising 1, {every}"
    assert progress()._repr_html_().count('<th scope="row"') == len(lessons.numbers())


def test_progress_of_the_time_before_lesson_9_was_cut_in_two_is_found_under_the_new_names(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(store, "_unwritten", [])
    file = tmp_path / "progress.json"
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(file))
    old = {
        "solved": ["3.1", "9.1", "9.3", "9.10"],
        "predicted": {"9.a": True, "9.c": False},
        "guesses": {"9.a": "0.4", "9.c": "0.5"},
        "tries": {"9.2": [["1", "a"]], "9.5": [["code", "b"]]},
    }
    file.write_text(json.dumps(old), encoding="utf-8")
    assert repr(progress("9b")) == "Lesson 9b: predicted 1 of 4, surprising 1, solved 2 of 9"
    assert repr(progress(9)) == "Lesson 9: predicted 1 of 4, surprising 0, solved 1 of 6"
    check("9.3", *lessons.find_exercise("9.3").reference)  # another exercise now, and written to the file
    for _twice in range(2):
        kept = store.load()
        assert kept["solved"] == ["3.1", "9.1", "9.3", "9b.1", "9b.8"]
        assert kept["guesses"] == {"9.a": "0.4", "9b.b": "0.5"} and set(kept["tries"]) == {"9.2", "9b.3"}
        check("3.1", *lessons.find_exercise("3.1").reference)


def test_so_is_progress_of_the_time_before_lesson_12_was_cut_in_two():
    old = {"names": 2, "solved": ["9.3", "12.3", "12.4", "12.6"], "guesses": {"12.c": "d", "9.c": "a"}}
    kept = store.tidy(old)
    assert kept["solved"] == ["9.3", "12.3", "12b.2", "12b.3"] and kept["guesses"] == {
        "12b.a": "d",
        "9.c": "a",
    }
    assert store.tidy(kept) == kept
    assert store.tidy({"solved": ["12.5", "9.10"]})["solved"] == ["12b.1", "9b.8"]


def test_so_is_progress_of_the_time_before_lesson_7_was_cut_in_two():
    old = {
        "names": 3,
        "solved": ["7.6", "7.7", "7.8", "7.9"],
        "guesses": {"7.a": "2", "7.b": "24", "7.c": "b"},
    }
    kept = store.tidy(old)
    assert kept["solved"] == ["7.6", "7b.1", "7b.3", "7b.2"]
    assert kept["guesses"] == {"7.a": "2", "7b.a": "24", "7b.b": "b"} and store.tidy(kept) == kept


def test_a_lesson_is_called_as_people_call_it():
    for key in (9, "9", "09", "9.1", " 9 "):
        assert lessons.lesson_number(key) == "9"
    for key in ("9b", "09b", "9b.1", "9b.a"):
        assert lessons.lesson_number(key) == "9b"
    assert lessons.lesson_number("9.b") == "9" and padded("9b") == "09b" and padded(17) == "17"


def test_wrong_tries_are_kept_with_their_cause_and_no_code(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_unwritten", [])
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "progress.json"))
    check("4.2", 3, 5.5, 20)
    check("3.1", lambda upstream, x: 2 * x)
    for number in range(20):
        check("0.1", number + 100)
    tries = store.load()["tries"]
    assert (
        tries["4.2"][0][0] == "thrice = 3, mixed = 5.5, double = 20" and "not averaged" in tries["4.2"][0][1]
    )
    assert tries["3.1"][0][0] == "code" and "local derivative alone" in tries["3.1"][0][1]
    assert [answer for answer, _ in tries["0.1"]] == [str(n) for n in range(108, 120)], "the last dozen"


@pytest.fixture
def progress_file(tmp_path, monkeypatch):
    """A new session that keeps its progress in an empty folder."""
    file = tmp_path / "progress.json"
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(file))
    for kept in ("_unwritten", "_news"):
        monkeypatch.setattr(store, kept, [])
    monkeypatch.setattr(store, "_said", set())
    return file


@pytest.mark.parametrize(
    "damage",
    [
        '{"tries": {"3.1": [1, ["a"], "x"]}, "guesses": [1], "solved": ["3.1"]}',
        "",
        "{",
        "[1]",
        '{"solved": 3, "predicted": []}',
        '"text"',
        "[" * 100_000,
        b"\xff\xfe\x00",
    ],
)
def test_a_damaged_progress_file_is_put_aside_and_reported_once(progress_file, damage):
    damage = damage if isinstance(damage, bytes) else damage.encode()
    progress_file.write_bytes(damage)
    readable = 1 if b'["3.1"]' in damage else 0
    card = progress(3)
    assert f"solved {readable} of 5" in repr(card)
    aside = progress_file.with_name("progress.damaged-1.json")
    assert say("damaged", file=progress_file.name, aside=aside.name) in card.text
    assert aside.read_bytes() == damage
    assert "damaged" not in check("3.5", "c").text and "damaged" not in progress(3).text
    assert f"solved {readable + 1} of 5" in repr(progress(3))
    progress_file.write_bytes(damage)  # and again
    assert "damaged-2" in check("3.5", "c").text
    assert aside.read_bytes() == progress_file.with_name("progress.damaged-2.json").read_bytes() == damage


def test_a_file_of_a_newer_version_is_left_as_it_is(progress_file):
    newer = json.dumps({"names": 99, "solved": ["3.1"], "badges": {"of": "tomorrow"}})
    progress_file.write_text(newer, encoding="utf-8")
    assert say("newer", file=progress_file.name) in check("3.5", "c").text
    assert "newer" not in check("3.5", "c").text
    assert "solved 2 of 5" in repr(progress(3)), "what it says is shown, and what came since"
    assert progress_file.read_text(encoding="utf-8") == newer
    assert [path.name for path in progress_file.parent.iterdir()] == [progress_file.name]


NOTING = """
import sys
from exercises import store
for number in range(150):
    store.note(solved=f"{sys.argv[1]}.{number}", tried=(f"{sys.argv[1]}.{number % 50}", str(number), "why"))
assert not store._unwritten
"""


def test_what_was_done_without_a_file_gets_into_none(progress_file, monkeypatch):
    monkeypatch.setenv("MINIGRAD_PROGRESS", "off")
    check("0.1", 3)
    assert store.load()["tries"]
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(progress_file))
    predict("4.a", 12)
    assert store.load()["predicted"] and not store.load()["tries"]
    assert "tries" not in progress_file.read_text(encoding="utf-8").replace('"tries": {}', "")


def test_a_note_that_found_the_file_locked_is_written_when_the_kernel_ends(progress_file, monkeypatch):
    monkeypatch.setattr(store, "WAIT", 0.0)
    lock = progress_file.with_name(f"{progress_file.name}.lock")
    lock.touch()
    predict("4.a", 12)
    assert not progress_file.exists() and store.load()["predicted"]
    lock.unlink()
    store._last_try()
    assert "4.a" in progress_file.read_text(encoding="utf-8")


@pytest.mark.long
def test_two_kernels_never_lose_a_note(progress_file):
    kernels = [
        subprocess.Popen([sys.executable, "-c", NOTING, name], cwd=NOTEBOOKS, env=dict(os.environ))
        for name in ("20", "21", "22")
    ]
    assert [kernel.wait(120) for kernel in kernels] == [0, 0, 0]
    kept = store.load()
    assert sorted(kept["solved"]) == sorted(f"{name}.{n}" for name in (20, 21, 22) for n in range(150))
    assert all(len(kept["tries"][f"{name}.{n}"]) == 3 for name in (20, 21, 22) for n in range(50))
    assert [path.name for path in progress_file.parent.iterdir()] == [progress_file.name]


def test_a_lock_that_a_dead_kernel_has_left_is_removed(progress_file, monkeypatch):
    lock = progress_file.with_name("progress.json.lock")
    lock.write_text("another kernel", encoding="utf-8")
    monkeypatch.setattr(store, "WAIT", 0.05)
    store.note(solved="3.1")  # the other kernel may still be writing, so the note is kept
    assert lock.exists() and not progress_file.exists() and store.load()["solved"] == ["3.1"]
    os.utime(lock, (time.time() - 60, time.time() - 60))
    monkeypatch.setattr(store, "WAIT", 5)
    store.note(solved="3.2")
    assert not lock.exists() and json.loads(progress_file.read_text(encoding="utf-8"))["solved"] == [
        "3.1",
        "3.2",
    ]


@pytest.mark.parametrize(
    "before", ["write", "close"]
)  # after the lock was made, before anything that removes it
def test_a_lock_that_an_interrupted_note_has_left_hinders_no_later_one(progress_file, monkeypatch, before):
    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, before, stopped)
        store.note(solved="3.1")
    assert progress_file.with_name("progress.json.lock").exists()
    monkeypatch.setattr(store, "WAIT", 1)
    store.note(solved="3.2")
    assert json.loads(progress_file.read_text(encoding="utf-8"))["solved"] == ["3.1", "3.2"]


def test_without_a_place_to_write_the_session_remembers_and_the_learner_is_told_once(
    progress_file, tmp_path, monkeypatch
):
    monkeypatch.setenv("MINIGRAD_PROGRESS", str(tmp_path / "no such folder" / "progress.json"))
    said = say("unsaved", file="progress.json", why=os.strerror(errno.ENOENT))
    assert said in check("3.5", "c").text and said not in check("3.5", "c").text
    assert "solved 1 of 5" in repr(progress(3))


def test_tests_and_builds_neither_read_nor_write_a_learners_file(monkeypatch):
    monkeypatch.delenv("MINIGRAD_PROGRESS", raising=False)
    assert store.path() is None  # under pytest
    monkeypatch.delenv("PYTEST_VERSION")
    assert store.path() == NOTEBOOKS.parent / "my_lessons" / "progress.json"
    monkeypatch.setenv("MINIGRAD_PROGRESS", "off")
    assert store.path() is None
