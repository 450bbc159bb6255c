"""Whatever a lesson's text suggests typing is understood, by the stepper or by `check` and `predict` under it.

The examples are taken out of the notebooks: texts in code after "such as", "as in", "write" and the like.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import matplotlib
import nbformat
import pytest

from exercises import check, lessons, predict
from exercises.replies import REPLIES
from tests.lesson_files import BOOKS, read, tagged
from viz.show.page import FRONT

TOLD_TO_TYPE = re.compile(
    r"(?:such as|as in|like|[Ww]rite|[Aa]nswer(?: with)?|[Tt]ype|[Ee]nter)(?: [^.`]{0,60})? "
    r"(`[^`]+`(?:(?:, or | or |, | and )`[^`]+`)*)"
)
# the beginning of every reply to an answer that is not understood
FORMS = [REPLIES[key].split("{")[0] for key in ("unread", "one letter", "one number", "list", "table")]
FORMS += ["should be letters", "That is a", "Write a list", "is not an answer"]


def examples() -> Iterator[tuple[Path, int, nbformat.NotebookNode, str]]:
    """Each example, with the cell of code that follows it."""
    for path in BOOKS:
        above = ""
        for place, cell in enumerate(read(path).cells):
            if cell.cell_type == "markdown":
                above += "\n" + cell.source
                continue
            for found in TOLD_TO_TYPE.findall(above):
                yield from ((path, place, cell, text) for text in re.findall("`([^`]+)`", found))
            above = ""


def is_data(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return "..." not in text


TYPED = [(path, place, cell, text) for path, place, cell, text in examples() if is_data(text)]


def test_the_examples_are_found():
    texts = {text for *_, text in TYPED}
    assert {"[0.33, 0.33, 0.33]", '["a", "b"]', '"abc"', "[0.5, 0.5]"} <= texts


def named(examples):
    return [f"{path.stem}-{place}-{text[:20]}" for path, place, _, text in examples]


@pytest.mark.parametrize(("path", "place", "cell", "text"), TYPED, ids=named(TYPED))
def test_check_and_predict_understand_the_example(path, place, cell, text):
    value = ast.literal_eval(text)
    if key := tagged(cell, "predict"):
        assert predict(key, value).state == "noted" and predict(key, text).state == "noted"
    if key := tagged(cell, "exercise"):
        exercise = lessons.find_exercise(key)
        if exercise.typed:
            right = list(exercise.reference)
            replies = []
            for number in range(len(right)):  # in the part that it is meant for, whichever that is
                for given in (value, text):
                    replies.append(check(key, *right[:number], given, *right[number + 1 :]).text)
            assert any(not any(form in reply for form in FORMS) for reply in replies), replies


SCRIPT = """
import { judge, parseAnswer } from "FILE";
const { questions, text } = JSON.parse(process.argv[1]);
console.log(JSON.stringify(questions.map((question) => {
  const answer = parseAnswer(text, question.answer.values.length);
  return answer.unread !== undefined ? { unread: answer.unread } : judge(answer, question);
})));
"""


@cache
def questions_of(path: Path, place: int) -> list[dict]:
    """The questions of a cell's stepper, from running the lesson up to that cell. (Nothing is drawn.)"""
    matplotlib.use("Agg")
    scope: dict = {"__name__": "__main__"}
    cells = [cell.source for cell in read(path).cells[: place + 1] if cell.cell_type == "code"]
    for source in cells[:-1]:
        exec("\n".join(line for line in source.splitlines() if not line.startswith("%")), scope)
    *before, last = ast.parse(cells[-1]).body
    exec(compile(ast.Module(before, []), "cell", "exec"), scope)
    stepper = eval(compile(ast.Expression(last.value), "cell", "eval"), scope)
    return [question for question in stepper.data["questions"].values() if "values" in question["answer"]]


def replies_to(text: str, questions: list[dict]) -> list[dict]:
    """The stepper's replies to a text, question by question."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    script = SCRIPT.replace("FILE", (FRONT / "answers.js").as_uri())
    run = [node, "--input-type=module", "-e", script, json.dumps({"questions": questions, "text": text})]
    return json.loads(subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout)


ASKED = [case for case in TYPED if "ask=" in case[2].source]


@pytest.mark.parametrize(("path", "place", "cell", "text"), ASKED, ids=named(ASKED))
def test_the_stepper_takes_the_example(path, place, cell, text):
    questions = questions_of(path, place)
    replies = replies_to(text, questions)
    assert replies and not any("unread" in reply for reply in replies)
    size = len(ast.literal_eval(text)) if text.startswith("[") else 1
    of_its_size = [r for q, r in zip(questions, replies, strict=True) if len(q["answer"]["values"]) == size]
    assert of_its_size == [] or any(reply.get("right") for reply in of_its_size), replies


THIRD = [(path, place) for path, place, _, text in ASKED if text == "[0.33, 0.33, 0.33]"]


@pytest.mark.parametrize(
    "text",
    [
        "[0.33, 0.33, 0.33]",
        "0.33 0.33 0.33",
        ".333, .333, .333",
        "[1/3, 1/3, 1/3]",
        "[[1/3, 1/3, 1/3]]",
        "1/3; 1/3; 1/3",
        "[1, 1, 1]/3",
        "tensor([[0.3333, 0.3333, 0.3333]])",
    ],
)
def test_lesson_3_takes_a_third_however_it_is_written(text):
    (reply,) = [r for r in replies_to(text, questions_of(*THIRD[0])) if r.get("right")]
    bracket_too_few = text.startswith("[") and not text.startswith("[[")
    assert bool(reply["remark"]) == bracket_too_few
