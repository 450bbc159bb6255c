"""The classes with which a lesson states its exercises: Exercise, Question, Wrong, Complaint. Data only, no judging.

An exercise is a reference answer and a *probe* that turns an answer into observations. The same probe is run on the learner's
answer, the reference and every listed wrong answer; equal observations mean an equal
answer. So a wrong answer is recognised by what it does, and the list of wrong answers is at the same time
the test data of the check.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

from .answer_table import RIGHT, Reader, Row
from .replies import say
from .values import describe

Probe = Callable[..., Iterable[tuple[str, Any]]]
"""A function of the answer (or answers) that yields (label, value) pairs: what was tried, what came out."""


class Complaint(Exception):
    """Raised by a probe that sees for itself what is wrong. Its message is the advice to the learner."""


def returned(value: Any) -> Any:
    """What a learner's function returned; a Complaint if that is None."""
    if value is None:
        raise Complaint(say("no return"))
    return value


@dataclass(frozen=True)
class Wrong:
    """An answer that learners give, and the reply to it.

    If the exercise has several parts: a tuple of all, or a dict of the wrong ones (the others are right).
    `code` is the answer as a learner writes it.
    """

    answer: Any
    advice: str
    code: str = ""


def padded(number: object) -> str:
    """ "03" from 3 or "3", "09b" from "9b": as a lesson is numbered in the names of its files."""
    return re.sub(r"^(?=\d(?:\D|$))", "0", str(number))


def module_of(key: str) -> ModuleType:
    """The module of the lesson that the exercise or question `key` belongs to: "3.2" -> lesson_03."""
    return importlib.import_module(f".lesson_{padded(key.split('.')[0])}", __package__)


class _Answered:
    """What an Exercise and a Question have in common: a table of answers that people give (see answer_table.py)."""

    id: str
    answers: str
    patterns: tuple[Wrong, ...]

    @cached_property
    def _reader(self) -> Reader:
        names = getattr(self, "names", ())
        if not isinstance(self, Exercise):
            return Reader(self.id, module_of(self.id), names, ())
        wanted: Any = self.reference[0] if len(names) == 1 else None
        function = callable(wanted) and not isinstance(wanted, type)
        parameters = tuple(inspect.signature(wanted).parameters) if function else ()
        scope = {} if isinstance(self.solution, str) else vars(sys.modules[self.reference[0].__module__])
        solution = lambda: self.solution_source  # noqa: E731 (read only where a row changes it)
        return Reader(self.id, module_of(self.id), names, parameters, solution, self.setup, scope)

    @cached_property
    def _table(self) -> list[tuple[Row, Any]]:
        if not self.answers.strip():
            return []  # there may be no lesson module: a question of the exam has none
        return [(row, self._reader.answer(row)) for row in self._reader.rows(self.answers)]

    def answer(self, code: str) -> Any:
        """The answer of a learner who writes `code`, which is read like a row of this exercise's table."""
        piece = next((row.piece for row, _ in self._table if row.piece), "")
        return self._reader.evaluate(Row(0, code, "", piece))

    @cached_property
    def wrong(self) -> tuple[Wrong, ...]:
        """The wrong answers that are known, each with its reply."""
        read = (Wrong(answer, row.reply, row.code) for row, answer in self._table if row.reply != RIGHT)
        return (*read, *self.patterns)

    def pairs(self) -> Iterator[tuple[Any, str]]:
        """Two listed mistakes made at once, each pair with both replies; only for mistakes that are changes to the solution."""
        changes = [(self._reader.as_change(row), row.reply) for row, _ in self._table if row.reply != RIGHT]
        for (one, first), (other, more) in itertools.combinations([c for c in changes if c[0]], 2):
            with contextlib.suppress(ValueError, SyntaxError):  # they overlap, or make no sense together
                yield self.answer(f"{one}\n{other}"), f"{first} {more}"


@dataclass(frozen=True)
class Exercise(_Answered):
    """One exercise. Texts may use `code`, **bold**, *stress*, $mathematics$; a blank line starts a paragraph.

    id:       "3.2": the lesson and the number in it.
    title:    the same as in the heading above the exercise.
    about:    for an exercise of many parts, a hint for each part, by its name: each unfolds separately.
    names:    the names that the learner's cell defines, in the order in which they are passed to `check`.
    solution: functions or classes (their own source is shown), or the text of a cell.
    why:      why the solution works, shown under it.
    shows:    what a correct answer demonstrates, added to the verdict *correct*.
    hints:    from a nudge to nearly everything.
    look:     where to look again if a wrong answer is not recognised (less than a hint); for typed numbers, by name.
    answers:  a table of answers that learners give, each with its reply: see answer_table.py.
    patterns: more wrong answers, which follow a pattern and are generated.
    cases:    for an exercise on one function: returns the argument tuples to call it with, newly made each time.
    besides:  for such an exercise: examines how a function found its right values; raises a Complaint.
    returns:  what that function returns, if several values: they are then checked one by one.
    gives:    the type that such a function must return, where a list of the right numbers is not enough.
    strict:   whether the shape of a single number matters, (1,) or (): only if the exercise is about shapes.
    without:  (names that the learner's code must not use, the reply if it does).
    words:    other ways to write a letter: {"detach": "b"}.
    probe:    for any other exercise: see `Probe`. Without cases and probe, the answers are compared.
    diagnose: for code that behaves like no listed answer: the cause, from everything that the probe saw, by label (or "").
    otherwise: the same, asked only if no other cause is found.
    setup:    lines that a solution given as text needs before it (names that the lesson has defined by then).
    allowed:  for typed numbers: the only possible answers, such as (1, -1, 0).
    counts:   for typed numbers: what they are multiples of: 1 if they count something, 4 if they are the bytes of numbers.
    rtol:     how close a number must be, relative to the reference. Numbers typed in by hand need more tolerance.
    seconds:  how long the learner's code may run before it is stopped.
    """

    id: str
    title: str
    names: tuple[str, ...]
    solution: Callable[..., Any] | str | Sequence[Callable[..., Any]]
    why: str
    shows: str
    hints: tuple[str, ...]
    answers: str = ""
    patterns: tuple[Wrong, ...] = ()
    cases: Callable[[], list[tuple[Any, ...]]] | None = None
    besides: Callable[[Any], None] = lambda function: None
    returns: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    look: str | Mapping[str, str] = ""
    gives: type | tuple[type, ...] | None = None
    strict: bool = False
    without: tuple[tuple[str, ...], str] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    probe: Probe | None = None
    diagnose: Callable[[dict[str, Any]], str] = lambda seen: ""
    otherwise: Callable[[dict[str, Any]], str] = lambda seen: ""
    allowed: tuple[float, ...] = ()
    counts: int = 0
    setup: str = ""
    rtol: float = 1e-3
    seconds: float = 5.0

    def look_again(self, name: str) -> str:
        """Where to look again if nothing is known about the wrong part `name`."""
        return self.look if isinstance(self.look, str) else self.look.get(name, "")

    @cached_property
    def solution_source(self) -> str:
        """The text of a cell that solves the exercise, without the call of `check`."""
        if isinstance(self.solution, str):
            return textwrap.dedent(self.solution).strip()
        parts = [self.solution] if callable(self.solution) else self.solution
        return "\n\n".join(textwrap.dedent(inspect.getsource(part)).strip() for part in parts)

    @cached_property
    def letters(self) -> str:
        """For an exercise that is answered by single letters: the letters of all its options, as far as they are known."""
        known = [
            self.reference,
            *(tuple(w.answer.values()) if isinstance(w.answer, dict) else w.answer for w in self.wrong),
        ]
        found = {
            letter for answer in known for letter in answer if isinstance(letter, str) and len(letter) == 1
        }
        return "".join(sorted(found))

    @cached_property
    def typed(self) -> bool:
        """Whether the answers are typed in. If not, they are code, and a reply may compare results with the right ones."""
        return not any(callable(answer) for answer in self.reference)

    @cached_property
    def observed(self) -> dict[int, Any]:
        """What the judge has observed of the reference (-1) and of the wrong answers, by position."""
        return {}

    @cached_property
    def calls(self) -> list[tuple[str, Any]]:
        """For each of the cases: the call, as a message shows it, and what the reference returns, if several values."""
        cases = self.cases or list
        shown = [", ".join(describe(argument, 40) for argument in case) for case in cases()]
        due = [self.reference[0](*case) if self.returns else None for case in cases()]
        return [(f"`{self.names[0]}({call})`", values) for call, values in zip(shown, due, strict=True)]

    @cached_property
    def reference(self) -> tuple[Any, ...]:
        """The right answers, one per name, computed by running the solution."""
        if callable(self.solution):
            return (self.solution,)
        if isinstance(self.solution, str):
            import minigrad

            scope: dict[str, Any] = {"torch": minigrad}
            exec(textwrap.dedent(self.setup), scope)
            exec(self.solution_source, scope)
            return tuple(scope[name] for name in self.names)
        made = {part.__name__: part for part in self.solution}
        return tuple(made[name] for name in self.names)


@dataclass(frozen=True)
class Question(_Answered):
    """A prediction that the lesson asks for before it runs anything. It is noted, not marked.

    id:     "3.a": the lesson and a letter.
    asks:   the question in a few words, for the summary at the end of the lesson.
    truth:  returns the answer, by computing it wherever possible.
    found:  the reply to a prediction that came true.
    answers: a table of common predictions, each with the thought behind it; ` :: right` marks other forms
            of the answer, such as the same number for each entry.
    missed: the reply to any other prediction.
    counts: whether it asks how many: then "none" is 0, and "2x" is 2.
    rtol:   how close a predicted number must be to count as right.
    """

    id: str
    asks: str
    truth: Callable[[], Any]
    found: str
    missed: str
    answers: str = ""
    patterns: tuple[Wrong, ...] = ()
    counts: bool = False
    rtol: float = 0.02

    @cached_property
    def right(self) -> tuple[Any, ...]:
        """Other forms of the answer."""
        return tuple(answer for row, answer in self._table if row.reply == RIGHT)
