"""The forms of the static pages reply as `check` and `predict` do, to whatever is typed. Run by Node, without a browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from exercises import lessons, predict
from exercises.exam import Exam
from exercises.exam_questions import QUESTIONS
from exercises.judge import as_answers, judge
from exercises.model import Exercise
from exercises.values import plain
from tools import answers

ODD = (
    "77.7", "-1", "1/3", "2*3", "0.33", "10,000", "40%", "inf", "None", "nothing.", "zero", "true", "[1, 2]", "1 2", "1 -> 2",
    "[[1, 2, 3]]", "[1; 2]", "x.grad = 6", "tensor(6.)", "6.", "a", "b)", "option c", "(d)", "z", "ab", "a and b", "a/b",
    "B, C", "<b>", "seven", "7.2.", "it is b",
    "7x", "12 or 16", "it raises an error", "8", "both", "jvp", "nan", "with torch.no_grad():", "t.detach()",
)  # fmt: skip
SCRIPT = """
const addEventListener = () => {};
PROGRAM
const { forms, tries } = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(tries.map(({ key, texts }) => answered(forms[key], texts))));
"""


def text_of(page: str) -> str:
    """What a reply says, letters and digits only."""
    return re.sub(r"\W+", "", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def written(answer: object) -> str:
    """A listed answer as it is typed into a form."""
    value = plain(answer)
    if isinstance(answer, str):
        return answer
    return repr(
        value.tolist()
        if isinstance(value, np.ndarray)
        else list(answer)
        if isinstance(answer, tuple)
        else answer
    )


def tries_of(exercise: Exercise) -> list[list[str]]:
    """The right answer, each wrong one that is listed, and odd ones, part by part."""
    right = list(map(written, exercise.reference))
    listed = [list(map(written, as_answers(exercise, wrong.answer))) for wrong in exercise.wrong]
    odd = [[*right[:place], text, *right[place + 1 :]] for place in range(len(right)) for text in ODD]
    return [right, *listed, *odd]


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node is not installed: tests/browser/test_site.py tries the pages themselves")
    return found


def run(node: str, forms: dict[str, dict], tries: list[dict]) -> list[list[str]]:
    """The states and replies of the page's program, for each of the tries: which form, and what is typed into it."""
    script = SCRIPT.replace("PROGRAM", answers.PROGRAM)
    done = subprocess.run(
        [node, "-e", script],
        input=json.dumps({"forms": forms, "tries": tries}),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not done.stderr, done.stderr[:2000]
    return json.loads(done.stdout)


def differences(node: str, cases: list[tuple[str, dict, list[str], str, str]]) -> list[str]:
    """Where the page and the notebook reply differently. A case is (form, its data, what is typed, state, message)."""
    found = []
    forms = {key: data for key, data, *_ in cases}
    tries = [{"key": key, "texts": texts} for key, _, texts, *_ in cases]
    for (key, _, texts, state, message), (answer_text, page) in zip(
        cases, run(node, forms, tries), strict=True
    ):
        due = text_of(answers.said(message))
        page = re.sub(r"^<p><code>\w+</code>:</p>|<details><summary>.*?</summary>", "", page)
        if state != answer_text.casefold() or text_of(page) != due:
            found.append(f"{key} {texts}: {answer_text}: {text_of(page)}\n   in the notebook: {state}: {due}")
    return found


@pytest.mark.long
@pytest.mark.parametrize("lesson", lessons.numbers())
def test_typed_exercises_get_the_replies_of_check(node: str, lesson: str):
    cases = []
    for exercise in lessons.exercises(lesson).values():
        data = answers._exercise(exercise)
        if data is None or data["kind"] == "table":
            continue
        for texts in tries_of(exercise):
            state, message, _ = judge(exercise, tuple(texts))
            answer_text = re.sub(r"^`\w+` = `[^`]*`\. ", "", message)  # the page shows the answer anyway
            cases.append((exercise.id, data, texts, state, answer_text))
    assert not (found := differences(node, cases)), "\n".join(found[:20])


@pytest.mark.long
@pytest.mark.parametrize("lesson", lessons.numbers())
def test_predictions_get_the_replies_of_predict(node: str, lesson: str):
    cases = []
    for question in lessons.questions(lesson).values():
        data = answers._prediction(question)
        guesses = [question.truth(), *question.right, *(wrong.answer for wrong in question.wrong)]
        for text in [*map(written, guesses), *ODD]:
            card = predict(question.id, text)
            cases.append((question.id, data, [text], card.state, card.text))
    assert not (found := differences(node, cases)), "\n".join(found[:20])


@pytest.mark.parametrize("number", QUESTIONS)
def test_questions_of_the_exam_get_the_replies_of_the_exam(node: str, number: int, monkeypatch):
    monkeypatch.setenv("MINIGRAD_PROGRESS", "off")
    data, cases = answers._exam(number), []
    for text in (*QUESTIONS[number].letters, *ODD):
        card = Exam().answer(number, text)
        cases.append((str(number), data, [text], card.state, card.text))
    assert not (found := differences(node, cases)), "\n".join(found[:20])
    assert f'aria-label="Question {number}"' in answers.exam_form(number)
