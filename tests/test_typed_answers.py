"""Typed answers mean the same in Python (`check`, `predict`) and in a browser (stepper, exam, site): one table, two readers."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path

import pytest

from exercises import typed
from viz.show.page import FRONT

TABLE = Path(__file__).with_name("typed_answers.txt")


def rows(part: str) -> list[list[str]]:
    """The rows of one part of the table, as lists of their columns."""
    text = TABLE.read_text(encoding="utf-8").split(f"== {part}:")[1].split("\n== ")[0]
    return [line.split(" :: ") for line in text.splitlines()[1:] if line.strip()]


READ, MEANS = rows("read"), rows("means")


def as_json(value):
    """What is not finite as a text: JSON has no such number."""
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


@pytest.mark.parametrize(("text", "right", "tolerance", "due"), MEANS)
def test_python_compares(text: str, right: str, tolerance: str, due: str):
    got = typed.read(text)
    meant = typed.means(got, number(right), float(tolerance))
    assert ("right" if meant else "close" if typed.close(got, number(right)) else "wrong") == due


SCRIPT = """
import { readTyped, means, close } from "FILE";
const { read, compared } = JSON.parse(process.argv[1]);
const odd = (v) => typeof v === "number" && !Number.isFinite(v);
const plain = (v) => Array.isArray(v) ? v.map(plain) : odd(v) ? String(v).replace("Infinity", "inf").toLowerCase() : v;
const number = (text) => Number(text.replace("inf", "Infinity"));
const found = read.map(([text, size]) => {
  const value = readTyped(text, Number(size));
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
    """What the browser's reader makes of the table, run by Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed: the browser's tests read typed answers as well")
    script = SCRIPT.replace("FILE", (FRONT / "typed.js").as_uri())
    cases = json.dumps({"read": READ, "compared": MEANS})
    run = [node, "--input-type=module", "-e", script, cases]
    return json.loads(subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout)


def test_javascript_reads_alike(javascript):
    due = [case[2] if case[2].startswith("!") else json.loads(case[2]) for case in READ]
    found = [told if told.startswith("!") else json.loads(told) for told in javascript["found"]]
    differ = [(case[0], told) for case, told, meant in zip(READ, found, due, strict=True) if told != meant]
    assert not differ


def test_javascript_compares_alike(javascript):
    differ = [(case, told) for case, told in zip(MEANS, javascript["said"], strict=True) if told != case[3]]
    assert not differ
