"""The key of the exam, for teachers: `python -m exercises exam [COPY.ipynb]` prints the right answers, step by step.

The cells of the exam are run, so a copy with different numbers gets its own key. Nothing is written to a progress file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

from .exam import Exam
from .exam_questions import QUESTIONS

NOTEBOOK = Path(__file__).resolve().parents[1] / "exam.ipynb"


def key(notebook: Path = NOTEBOOK) -> str:
    """The key as Markdown. Raises ValueError, saying what to do, for a file that is not an exam, or whose cells raise."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{notebook} cannot be read as a notebook: {error}") from error
    exam, titles = _run([source for kind, source in texts if kind == "code"], notebook), {}
    for kind, source in texts:
        if kind == "markdown" and (found := re.match(r"## (\d+)\. (.+)", source)):
            titles[int(found[1])] = found[2]
    parts = ["# Exam: key"]
    for number in sorted({*exam.steppers, *(number for number in QUESTIONS if number in titles)}):
        parts.append(f"## {number}. {titles.get(number, '')}".rstrip())
        stepper = exam.steppers.get(number)
        parts.append("\n".join(_table(stepper.data) if stepper else _letter(number)))
    return "\n\n".join(parts) + "\n"


def _run(sources: list[str], notebook: Path) -> Exam:
    """Run these cells and return the Exam that they made."""
    space: dict[str, Any] = {"__name__": "__main__"}
    with mock.patch.dict(os.environ, {"MINIGRAD_PROGRESS": "off"}), redirect_stdout(StringIO()):
        for source in sources:
            try:
                exec(compile(source, str(notebook), "exec"), space)
            except Exception as error:  # a changed cell may raise anything
                raise ValueError(
                    f"a cell of {notebook} raised {type(error).__name__}: {error}\n\n{source}"
                ) from error
    exam = space.get("exam")
    if not isinstance(exam, Exam) or not exam.steppers:
        raise ValueError(f"{notebook} is not an exam: no cell makes an `Exam()` and calls `exam.step(...)`.")
    return exam


def _table(data: Mapping[str, Any]) -> Iterator[str]:
    yield from ("| step | question | answer |", "| --- | --- | --- |")
    for number, question in data["questions"].items():
        yield f"| {number} | {question['text']} | {_answer(data, question)} |"


def _answer(data: Mapping[str, Any], question: Mapping[str, Any]) -> str:
    if question["kind"] == "order":
        names = [_name(data, node) for node in question["ready"]]
        return " or ".join(f"`{name}`" for name in names)
    if question["kind"] == "shape":
        return f"`{tuple(question['answer']['shape'])}`"
    values = iter(question["answer"]["values"])

    def nested(shape: list[int]) -> str:
        if not shape:
            value = next(values)
            return value if isinstance(value, str) else f"{value:.6g}"
        return f"[{', '.join(nested(shape[1:]) for _ in range(shape[0]))}]"

    return f"`{nested(list(question['answer']['shape']))}`"


def _name(data: Mapping[str, Any], node: str) -> str:
    """The name of a node in the picture."""
    entry = data["nodes"].get(node) or data["hidden"][node]
    return (
        f"{entry['label']} of {entry['name']}"
        if entry.get("name") and entry["name"] != entry["label"]
        else entry["label"]
    )


def _letter(number: int) -> Iterator[str]:
    question = QUESTIONS[number]
    yield f"`{question.right}`. {question.shows}"
    yield ""
    for letter, (_, says) in question.wrong.items():
        yield f"* `{letter}`: {says}"
