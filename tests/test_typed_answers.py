"""Typed answers mean the same in Python (`check`, `predict`) and in a browser (stepper, exam, site): one table, two readers."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import minigrad
from exercises import answers, check, lessons, options, typed
from exercises.judge import judge
from exercises.model import Wrong
from exercises.replies import say
from tools import options as copied
from viz.show.page import FRONT

TABLE = Path(__file__).with_name("typed_answers.txt")


def rows(part: str) -> list[list[str]]:
    """The rows of one part of the table, as lists of their columns."""
    text = TABLE.read_text(encoding="utf-8").split(f"== {part}:")[1].split("\n== ")[0]
    return [line.split(" :: ") for line in text.splitlines()[1:] if line.strip()]


READ, MEANS = rows("read"), rows("means")
COUNTS = [[text, "1", due] for text, due in rows("counts")]


def as_json(value):
    """Infinities and NaN as texts: JSON has no such numbers."""
    if isinstance(value, list):
        return list(map(as_json, value))
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def number(text: str) -> float:
    return float(text.replace("1/3", "0.3333333333333333"))


@pytest.mark.parametrize(("text", "size", "due"), READ, ids=lambda part: part)
def test_python_reads(text: str, size: str, due: str):
    if due.startswith("!"):
        with pytest.raises(typed.Unreadable) as error:
            typed.read(text, int(size))
        assert str(error.value) == due[1:]
    else:
        assert as_json(typed.read(text, int(size))) == json.loads(due)


@pytest.mark.parametrize(("text", "size", "due"), COUNTS, ids=lambda part: part)
def test_python_reads_what_is_counted(text: str, size: str, due: str):
    if due.startswith("!"):
        with pytest.raises(typed.Unreadable):
            typed.read(text, counts=True)
    else:
        assert typed.read(text, counts=True) == json.loads(due)


@pytest.mark.parametrize(("text", "right", "tolerance", "due"), MEANS)
def test_python_compares(text: str, right: str, tolerance: str, due: str):
    got = typed.read(text)
    meant = typed.means(got, number(right), float(tolerance))
    assert ("right" if meant else "close" if typed.close(got, number(right)) else "wrong") == due


SCRIPT = """
import { readTyped, means, close } from "FILE";
const { read, counted, compared } = JSON.parse(process.argv[1]);
const odd = (v) => typeof v === "number" && !Number.isFinite(v);
const plain = (v) => Array.isArray(v) ? v.map(plain) : odd(v) ? String(v).replace("Infinity", "inf").toLowerCase() : v;
const number = (text) => Number(text.replace("inf", "Infinity"));
const found = [...read, ...counted].map(([text, size], place) => {
  const value = readTyped(text, Number(size), place >= read.length);
  return value && value.unread !== undefined ? "!" + value.unread : JSON.stringify(plain(value));
});
const said = compared.map(([text, right, tolerance]) => {
  const got = readTyped(text), due = number(right);
  return means(got, due, Number(tolerance)) ? "right" : close(got, due) ? "close" : "wrong";
});
console.log(JSON.stringify({ found, said }));
"""


@pytest.fixture(scope="module")
def javascript() -> dict[str, list[str]]:
    """The table as read by the browser's reader, run by Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed: the browser's tests read typed answers as well")
    script = SCRIPT.replace("FILE", (FRONT / "typed.js").as_uri())
    cases = json.dumps({"read": READ, "counted": COUNTS, "compared": MEANS})
    run = [node, "--input-type=module", "-e", script, cases]
    return json.loads(subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout)


def test_javascript_reads_alike(javascript):
    every = [*READ, *COUNTS]
    due = [case[2] if case[2].startswith("!") else json.loads(case[2]) for case in every]
    found = [reading if reading.startswith("!") else json.loads(reading) for reading in javascript["found"]]
    differ = [
        (case[0], reading) for case, reading, meant in zip(every, found, due, strict=True) if reading != meant
    ]
    assert not differ


def test_javascript_compares_alike(javascript):
    differ = [
        (case, reading) for case, reading in zip(MEANS, javascript["said"], strict=True) if reading != case[3]
    ]
    assert not differ


def test_the_options_are_those_of_the_lessons():
    """`python -m tools.options` copies them again."""
    assert options.FILE.read_text(encoding="utf-8").splitlines() == list(copied.lines())


OPTIONS = [
    # (exercise or question, what is typed, the letter that is meant, or what it is taken for)
    ("5.d", "it raises an error", "c"),
    ("5.d", "error", "c"),
    ("5.d", "RuntimeError", "c"),
    ("6.a", "raises an error", "c"),
    ("1.5", "b, because the square is steeper", "b"),
    ("9.c", "only Adam", "c"),
    ("9b.c", "4 x 4", "c"),
    ("9b.c", "torch.Size([4, 4])", "c"),
    ("10.c", "all of them", "d"),
    ("5.b", "4x", "b"),
    ("5.d", 8, "a"),
    ("5.d", "8", "a"),
    ("5.d", "c", "c"),
    ("5.d", "(C)", "c"),
    ("5.d", "c.", "c"),
    ("5.d", "option c", "c"),
    ("5.d", "I think it is c.", "c"),
    ("5.d", "c: it raises", "c"),
    ("exam.12", "d) it was cut off", "d"),
    ("exam.13", 1, 1),  # part of an option's text, but it may also mean the first option
    ("5.d", "it leaves", "it leaves"),  # part of two options' texts
    ("12b.a", float("nan"), "d"),
    ("12b.a", "NaN", "d"),
    ("12b.a", float("inf"), "c"),
    ("13.a", [5], "c"),
    ("13.a", "[5]", "c"),
    ("13.a", [1, 4], "a"),
    ("11.c", 3000, "c"),
    ("11.c", "3,000", "c"),
    ("8.c", None, "b"),
    ("8.c", "nothing", "b"),
    ("16.6", "jvp", "a"),
    ("16.6", "vjp", "b"),
    ("16.6", "vmap", "c"),
    ("0.3", "the value of y", "a"),
    ("0.3", "value but not gradient", "a"),
    ("0.3", "gradient but not value of y", "b"),
    ("5.b", "4 times", "b"),
]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (float("inf"), "b"),
        ("infinity", "b"),
        ("\u221e", "b"),
        ("-inf", "b"),
        (0.0, "a"),
        ("0", "a"),
        ("a finite number", "a"),
        (minigrad.log(minigrad.tensor(0.0)), "b"),
        (float("nan"), "c"),
        ("b", "b"),
        ("e", "e"),
        ("pi", "a"),
    ],
)
def test_a_value_is_the_letter_of_its_kind(given, meant):
    exercise = lessons.find_exercise("14.1")
    assert answers.read(given, "a", exercise.words, options.of("14.1")) == meant


@pytest.mark.parametrize(("key", "given", "meant"), OPTIONS)
def test_the_text_of_an_option_is_its_letter(key, given, meant):
    assert answers.read(given, "a", options=options.of(key)) == meant


@pytest.mark.parametrize(
    ("given", "want", "meant"),
    [
        ("1/3 1/3", [[0.0, 0.0]], [[1 / 3, 1 / 3]]),  # no bracket says in which shape
        ([1, 2], [[0.0, 0.0]], [[1, 2]]),
        (["1/3", 2], [0.0, 0.0], [1 / 3, 2]),
        ("1 2; 3 4", [[0.0, 0.0], [0.0, 0.0]], [[1, 2], [3, 4]]),
        ([[6.0]], 0.0, 6.0),
        ("8,000", 0.0, 8000),
        (("8", "000"), 0.0, [8, 0]),
    ],
)
def test_numbers_take_the_shape_that_is_due(given, want, meant):
    assert answers.read(given, np.asarray(want)).tolist() == meant


def test_a_bracket_too_few_is_remarked():
    assert "it is `[[1, 2]]`" in answers.remark([1, 2], np.array([[1.0, 2.0]]))
    assert answers.remark([[1, 2]], np.array([[1.0, 2.0]])) == ""
    assert answers.remark("1, 2", np.array([[1.0, 2.0]])) == ""
    assert "6.1" in str(check("6.1", [[6, 0], [2, 3], [0, 5]], [[26, 25]]))
    assert "it is `[26, 25]`" in answers.remark([[26, 25]], np.array([26.0, 25.0]))


def test_a_rounded_number_that_is_exactly_a_known_mistake_is_that_mistake():
    """The right number has more digits (0.1966); 0.2 shows which mistake was made."""
    mistake = (Wrong(0.197, "a known mistake"),)
    exercise = dataclasses.replace(
        lessons.find_exercise("0.1"), solution="slope = 0.1966", answers="", patterns=mistake
    )
    assert judge(exercise, (0.197,)).message == "a known mistake"
    assert judge(exercise, (0.1966,)).state == judge(exercise, (0.19661,)).state == "correct"
    assert judge(exercise, (0.2,)).cause == say("rounded")


def test_what_an_option_says_in_brackets_may_be_left_out():
    reading = {"a": "it (the leaf) stays", "b": "it moves"}
    assert answers.option("it stays", reading) == "a" and answers.option("the leaf", reading) == "a"
