"""The exam: graphs to step through with questions, questions to answer with a letter, and the result.

    exam = Exam()
    exam.step(1, loss)           a stepper that asks about every step; `ask="order"` asks which node may fire
    exam.answer(11, "b")         the answer to a question in words
    exam.report()                the table; exam.save("exam.html") writes it as a page to print,
                                 exam.save("ada_exam.json") as a file to hand in

A step counts as right if its first answer was. Every answer is kept in the learner's progress file (store.py) as it is given:
running a cell again or restarting the kernel loses nothing. `exam.step(1, loss, again=True)` starts over. Nothing is sent
anywhere. Uses viz, knows nothing of minigrad: what is right is computed from the graph itself.
"""

from __future__ import annotations

import hashlib
import html
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import viz
from viz.read.text import plural, write_whole

from . import answers, options, store
from .cards import Card, heading, paragraphs
from .exam_questions import ABOUT, QUESTIONS
from .judge import CORRECT, NOT_YET
from .model import padded
from .replies import say
from .values import blank, describe, plain

SEE = {  # the cause of a mistake, as a stepper names it: the lesson about it
    cause: lesson
    for lesson, causes in {
        "0": ("the value",),
        "1": ("added", "sign"),
        "3": ("local derivative only", "passed on", "other input", "transposed", "wrong shape"),
        "4": ("averaged", "early", "fires twice", "nothing arrived", "overwrite"),
        "6": ("factor", "summed"),
        "13": ("before the hook",),
        "14": ("not finite",),
    }.items()
    for cause in causes
}
NO_CAUSE = ("right", "shown", "unknown")  # outcomes of an answer that are not mistakes


@dataclass(frozen=True)
class Result:
    """How one graph or question went: steps, right at once, wrong at first, shown; causes of mistakes; starts."""

    number: int
    asked: int
    first: int
    mistaken: int
    shown: int
    causes: tuple[str, ...]
    begun: int = 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """The causes of mistakes, and whether it was begun again."""
        return (*((f"started {self.begun} times",) if self.begun > 1 else ()), *self.causes)

    @property
    def open(self) -> int:
        """Steps that were not answered at all."""
        return self.asked - self.first - self.mistaken - self.shown

    @property
    def lessons(self) -> tuple[str, ...]:
        """The lessons to look at again: about the causes, and about the question itself if anything was wrong or shown."""
        own = ABOUT.get(self.number, ()) if self.causes or self.mistaken or self.shown else ()
        return tuple(sorted({*own, *(SEE[cause] for cause in self.causes if cause in SEE)}, key=padded))


def result_of(number: int, asked: int, answers: Sequence[Mapping[str, Any]], begun: int = 1) -> Result:
    """Counts the answers of a stepper: {"step", "given", "outcome"}, in the order in which they were given."""
    by_step: dict[int, list[str]] = {}
    for answer in answers:
        by_step.setdefault(int(answer["step"]), []).append(str(answer["outcome"]))
    first = sum(outcomes[0] == "right" for outcomes in by_step.values())
    shown = sum("right" not in outcomes and "shown" in outcomes for outcomes in by_step.values())
    mistaken = len(by_step) - first - shown
    causes = [o for outcomes in by_step.values() for o in outcomes if o not in NO_CAUSE]
    return Result(number, asked, first, mistaken, shown, tuple(dict.fromkeys(causes)), begun)


def results_of(kept: Mapping[str, Any]) -> list[Result]:
    """How each graph and question went, read from a progress file. Damaged entries are left out."""
    found = []
    for number, one in kept.items():
        try:
            given = [{"step": int(a["step"]), "outcome": str(a["outcome"])} for a in one["answers"]]
            found.append(result_of(int(number), int(one["asked"]), given, int(one.get("begun", 1))))
        except (KeyError, TypeError, ValueError):
            continue
    return sorted(found, key=lambda result: result.number)


class Exam:
    """Keeps what was answered, by the number of the graph or question."""

    def __init__(self) -> None:
        self.steppers: dict[int, Any] = {}
        self._stepped: dict[int, tuple[Any, ...]] = {}
        self._asked: dict[int, int] = {}  # how many answers there are to give

    def step(
        self, number: int, *results: Any, ask: str = "gradients", again: bool = False, **more: Any
    ) -> Any:
        """The stepper of graph `number`, with questions that cannot be switched off; `more` are options of `viz.step`. Names
        are those of the caller's variables.

        A graph that has a stepper keeps it. If the same graph is made again, perhaps after a restart, it gets a new stepper
        with the old answers (without them if `again`). The report says how many times a graph was started.
        """
        if not again and number in self.steppers and _same(self._stepped[number], results):
            return self.steppers[number]
        stepper = viz.step(*results, ask=ask, insist=True, _frame=sys._getframe(1), **more)
        questions = stepper.data["questions"]
        fingerprint = _fingerprint(questions)
        begun = _begun(number) + again
        if again:
            _keep(number, fingerprint, len(questions), [], begun)
        stepper.pane.answers = _kept(number, fingerprint)

        def keep(change: Mapping[str, Any]) -> None:
            _keep(number, fingerprint, len(questions), change["new"], begun)

        stepper.pane.observe(keep, "answers")
        self.steppers[number], self._stepped[number], self._asked[number] = stepper, results, len(questions)
        return stepper

    def answer(self, number: int, letter: Any = ...) -> Card:
        """Answer a written question with a letter; the first answer counts. Never raises."""
        question = QUESTIONS.get(number) if isinstance(number, int) else None
        if question is None:
            text = f"There is no question {describe(number, 20)}. The questions are {', '.join(map(str, QUESTIONS))}."
            return Card(NOT_YET, text, text, heading("Which one?", "") + paragraphs(text))
        self._asked[number] = 1
        title = f"Question {number}: {question.asks}"
        if blank(plain(letter)):
            text = "Replace `...` with the letter of your answer in quotes, and run the cell again."
            return Card(NOT_YET, f"{number} {NOT_YET}", text, heading(NOT_YET, title) + paragraphs(text))
        got = answers.read(letter, question.right, options=options.of(f"exam.{number}"))
        if not answers.fits(got, question.right) or got not in question.letters:
            text = say("not an answer", wanted=answers.wanted(question.right)[0])
            if answers.fits(got, question.right):
                first, last = question.letters[0], question.letters[-1]
                text = say("no such letter", letter=got.replace("`", "'"), first=first, last=last)
            shown = heading(NOT_YET, title) + paragraphs(text)
            return Card(NOT_YET, f"{number} {NOT_YET}: {text}", text, shown)
        cause, text = ("right", question.shows) if got == question.right else question.wrong[got]
        fingerprint = _fingerprint(question.right + question.letters)
        before = _kept(number, fingerprint)
        if not before or before[-1]["given"] != got:  # running a cell again does not give a new answer
            _keep(number, fingerprint, 1, [*before, {"step": 1, "given": got, "outcome": cause}])
        state = CORRECT if cause == "right" else "try again"
        return Card(state, f"{number} {state}: {text}", text, heading(state, title) + paragraphs(text))

    def results(self) -> list[Result]:
        """How each graph and question that was begun went, in order."""
        kept = {result.number: result for result in results_of(_all())}
        every = {number: result_of(number, asked, []) for number, asked in self._asked.items()}
        live = {
            number: result_of(number, len(stepper.data["questions"]), stepper.answers, _begun(number))
            for number, stepper in self.steppers.items()
        }
        asked_here = {number: kept.get(number, empty) for number, empty in every.items()}
        return [result for _, result in sorted((asked_here | live).items())]

    def report(self) -> Report:
        """The table in its present state."""
        return Report(self.results())

    def save(self, path: str | Path) -> Path:
        """Write the result: .html, a page to print; .json, a file to hand in. Returns the path."""
        path = Path(path)
        if path.suffix.lower() == ".json":
            data = {"names": store.NAMES, "exam": _all()}
            return write_whole(path, json.dumps(data, indent=1, sort_keys=True) + "\n")
        return self.report().save(path)


def _all() -> dict[str, Any]:
    return dict(store.load().get("exam", {}))


def _kept(number: int, fingerprint: str) -> list[dict[str, Any]]:
    """The answers that were given to this question; none if the question has changed since, or the file is damaged."""
    one = _all().get(str(number))
    given: Any = one.get("answers") if isinstance(one, dict) and one.get("question") == fingerprint else []
    whole = isinstance(given, list) and all(
        isinstance(a, dict) and {"step", "given", "outcome"} <= set(a) for a in given
    )
    return given if whole else []


def _begun(number: int) -> int:
    """How many times a graph was started, at least once."""
    one = _all().get(str(number))
    begun = one.get("begun", 1) if isinstance(one, dict) else 1
    return begun if isinstance(begun, int) else 1


def _keep(number: int, fingerprint: str, asked: int, given: list[dict[str, Any]], begun: int = 1) -> None:
    times = {"begun": begun} if begun > 1 else {}
    store.note(exam=(str(number), {"question": fingerprint, "asked": asked, "answers": given} | times))


def _fingerprint(questions: Any) -> str:
    """What distinguishes one question from another: an exam with other numbers has other questions. Names do not count."""
    if isinstance(questions, Mapping):
        what = ("kind", "answer", "ready")
        questions = {number: [q.get(key) for key in what] for number, q in questions.items()}
    return hashlib.sha256(json.dumps(questions, sort_keys=True, default=str).encode()).hexdigest()[:12]


def _same(before: tuple[Any, ...], results: tuple[Any, ...]) -> bool:
    return len(before) == len(results) and all(a is b for a, b in zip(before, results, strict=True))


class Report:
    """What was answered right, graph by graph, question by question."""

    def __init__(self, results: list[Result]):
        self.results = results

    def __repr__(self) -> str:
        right, asked = (sum(getattr(r, what) for r in self.results) for what in ("first", "asked"))
        return f"{right} of {asked} right at once"

    def _repr_html_(self) -> str:
        if any(r.asked > r.open or r.begun > 1 for r in self.results):
            return self.table()
        asked = plural(len(self.results), "question")
        return f"<p>Nothing has been answered yet: {asked}. The table appears with the first answer.</p>"

    def table(self) -> str:
        """All questions, one by one, as HTML."""
        style = "text-align:left;padding:0.3em 1em 0.3em 0;border-bottom:1px solid rgba(128,128,128,0.35)"

        def row(parts: Iterable[str], tag: str = "td") -> str:
            cells = "".join(f'<{tag} style="{style}">{part}</{tag[:2]}>' for part in parts)
            return f'<tr style="background:none">{cells}</tr>'

        sums = (str(sum(getattr(r, n) for r in self.results)) for n in COLUMNS)
        rows = row(("question", *HEADS, "mistakes", "lessons"), 'th scope="col"')
        rows += "".join(row(parts) for parts in [*map(self._row, self.results), ["all", *sums, "", ""]])
        return f'<p><strong>{html.escape(repr(self))}</strong></p><table style="border-collapse:collapse">{rows}</table>'

    def _row(self, result: Result) -> list[str]:
        numbers = [str(result.number), *(str(getattr(result, name)) for name in COLUMNS)]
        return [*numbers, html.escape(", ".join(result.remarks)), ", ".join(result.lessons)]

    def save(self, path: str | Path) -> Path:
        """Write a page that prints on one sheet, with lines for a name and a date. Raises ValueError unless it is .html."""
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            form = path.suffix or "a file without an ending"
            raise ValueError(f"save a report as .html, or as .json to hand it in, not as {form!r}")
        lines = "<p>Name: ______________________________ &nbsp; Date: ________________</p>"
        style = (
            "body { font: 12pt/1.5 system-ui, sans-serif; margin: 2.5cm; color: #000; background: #fff }\n"
            "@page { margin: 1.5cm } @media print { body { font-size: 9pt; line-height: 1.35; margin: 0 } "
            "tr { break-inside: avoid } td, th { padding: 0.15em 0.8em 0.15em 0 !important } }"
        )
        return write_whole(
            path,
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Exam</title><style>{style}</style>'
            f"<h1>Exam</h1>{lines}{self.table()}</html>\n",
        )


COLUMNS = ("asked", "first", "mistaken", "shown", "open")
HEADS = ("steps", "right at once", "with a mistake", "shown", "not answered")
