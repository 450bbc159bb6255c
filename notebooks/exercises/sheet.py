"""A single text states a question or an exercise, line by line: everything that people read, and the code that belongs to it.

    5.4 nothing, or zero
    solution:
        with_none = 4.0  # no gradient: the weight is skipped
    why: An optimizer skips a weight whose gradient is `None`.
    shows: `None` and zero differ as soon as the optimizer has a memory.
    look with_none: What does the optimizer do with a weight that *has* no gradient?
    hint: `None` means that the weight *has* no gradient.

    with_none = 0.0 :: It is the *gradient* that is missing. A weight that is skipped stays where it is.

The id and the title come first. model.py says what the words mean; each `hint` is one of the `hints`, `look` and
`about` may name the part that they are about, and `without` names what the learner's code must not use. After an empty line
comes the table of answers (see answer_table.py).

The other words come before Python code, which may use the names of the lesson's module: `probe: _middle`, `truth: _twice()`,
`truth: slope(lambda x: 3 * x, 2.0)`.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import minigrad

from .answer_table import COMMON
from .model import Exercise, Question, module_of

TEXTS = {"why", "shows", "hint", "look", "about", "without", "found", "missed"}
CODE = (
    {field.name for kind in (Exercise, Question) for field in fields(kind)}
    - TEXTS
    - {"id", "title", "hints", "answers"}
)
LINE = re.compile(rf"({'|'.join(TEXTS | CODE)})((?: \w+)*):(?: (.*))?")


class Sheet:
    """The text of a question or an exercise, taken apart. Raises ValueError for a line that is none of these."""

    def __init__(self, text: str):
        text = text.lstrip("\n")
        margin = " " * (len(text) - len(text.lstrip()))
        head, *table = re.split(rf"\n\n(?={margin}\S)", text, maxsplit=1)
        self.table = "".join(table)
        first, *lines = textwrap.dedent(head).rstrip().split("\n")
        self.id, _, self.title = first.partition(" ")
        self.stated: dict[str, list[tuple[str, str]]] = {}  # for each word: the names after it, and its text
        self.solution = "\n".join(line for line in lines if line.startswith(" ") or not line)
        for line in lines:
            if found := LINE.fullmatch(line):
                self.stated.setdefault(found[1], []).append((found[2].strip(), found[3] or ""))
            elif line.strip() and not line.startswith(" "):
                raise ValueError(f"{self.id}: `{line}` does not begin with a word that a sheet can use.")

    def text(self, word: str) -> str:
        """The text given under this word; "" if nothing is."""
        return self.stated.get(word, [("", "")])[0][1]

    def code(self, word: str) -> Any:
        """The value of the Python expression given under this word."""
        return eval(self.text(word), COMMON | {"slope": slope} | vars(module_of(self.id)))


def slope(f: Callable[[Any], Any], at: Any) -> Any:
    """The gradient of the sum of f(x) at this place: a number, or a list of numbers. A `truth` may call it."""
    x = minigrad.tensor(at, requires_grad=True)
    f(x).sum().backward()
    return x.grad.tolist()


def exercise(text: str, **code: Any) -> Exercise:
    """The Exercise of a text; `code` has what takes more than a line. Its names are those that the solution defines."""
    sheet = Sheet(text)
    code = {word: sheet.code(word) for word in sheet.stated if word in CODE and sheet.text(word)} | code
    code.setdefault("solution", textwrap.dedent(sheet.solution))
    code.setdefault("names", _names(code["solution"]))
    if look := dict(sheet.stated.get("look", ())):
        code.setdefault("look", look.get("", look))
    if without := sheet.stated.get("without"):
        code["without"] = tuple(without[0][0].split()), without[0][1]
    return Exercise(
        sheet.id,
        title=sheet.title,
        why=sheet.text("why"),
        shows=sheet.text("shows"),
        hints=tuple(text for _, text in sheet.stated["hint"]),
        about=dict(sheet.stated.get("about", ())),
        answers=sheet.table,
        **code,
    )


def _names(solution: Any) -> tuple[str, ...]:
    if isinstance(solution, str):
        made = [statement for statement in ast.parse(solution).body if isinstance(statement, ast.Assign)]
        return tuple(
            name.id for statement in made for name in statement.targets if isinstance(name, ast.Name)
        )
    return tuple(part.__name__ for part in ([solution] if callable(solution) else solution))


def question(text: str) -> Question:
    """The Question of a text; its truth is computed when it is asked for."""
    sheet = Sheet(text)
    return Question(
        sheet.id,
        asks=sheet.title,
        truth=lambda: sheet.code("truth"),
        found=sheet.text("found"),
        missed=sheet.text("missed"),
        answers=sheet.table,
        **{word: sheet.code(word) for word in ("counts", "rtol") if sheet.text(word)},
    )
