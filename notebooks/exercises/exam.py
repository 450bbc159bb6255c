"""The exam: graphs to be stepped with questions, and a page that says what was stepped right.

    exam = Exam()
    exam.step(1, loss)           a stepper that asks; `ask="order"` asks which node may fire
    exam.report()                the table; exam.save("exam.html") writes it as a page to print

A step counts as right if its first answer was. Nothing is sent anywhere; a report is written only where it is asked for.
Uses viz, knows nothing of minigrad: what is right is computed from the graph that was stepped.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import viz
from viz.read.text import write_whole

SEE = {  # the cause of a mistake, as a stepper names it, and the lesson that is about it
    "the value": 0,
    "sign": 1,
    "added": 1,
    "local derivative only": 3,
    "passed on": 3,
    "other input": 3,
    "transposed": 3,
    "wrong shape": 3,
    "averaged": 4,
    "early": 4,
    "fires twice": 4,
    "nothing arrived": 4,
    "overwrite": 4,
    "factor": 6,
    "summed": 6,
    "before the hook": 13,
    "not finite": 14,
}


@dataclass(frozen=True)
class Result:
    """How one graph went: steps that were asked for, right at once, right after a mistake, shown; causes of mistakes."""

    number: int
    asked: int
    first: int
    later: int
    shown: int
    causes: tuple[str, ...]

    @property
    def open(self) -> int:
        """Steps that were not answered at all."""
        return self.asked - self.first - self.later - self.shown


def result_of(number: int, asked: int, answers: list[Mapping[str, Any]]) -> Result:
    """Counts the answers of a stepper: {"step", "given", "outcome"}, in the order in which they were given."""
    by_step: dict[int, list[str]] = {}
    for answer in answers:
        by_step.setdefault(int(answer["step"]), []).append(str(answer["outcome"]))
    first = sum(outcomes[0] == "right" for outcomes in by_step.values())
    later = sum(outcomes[0] != "right" and "right" in outcomes for outcomes in by_step.values())
    shown = sum("right" not in outcomes and "shown" in outcomes for outcomes in by_step.values())
    causes = [o for outcomes in by_step.values() for o in outcomes if o not in ("right", "shown")]
    return Result(number, asked, first, later, shown, tuple(dict.fromkeys(causes)))


class Exam:
    """Keeps the steppers of an exam, by number, and tells what was answered in them."""

    def __init__(self) -> None:
        self.steppers: dict[int, Any] = {}

    def step(self, number: int, *results: Any, ask: str = "gradients", **more: Any) -> Any:
        """The stepper of graph `number`, with questions; `more` as of `viz.step`. Names are those of the caller."""
        stepper = viz.step(*results, ask=ask, frame=sys._getframe(1), **more)
        self.steppers[number] = stepper
        return stepper

    def results(self) -> list[Result]:
        """How each graph went, in order."""
        return [
            result_of(number, len(stepper.data["questions"]), stepper.answers)
            for number, stepper in sorted(self.steppers.items())
        ]

    def report(self) -> Report:
        """The table, as it stands now."""
        return Report(self.results())

    def save(self, path: str | Path) -> Path:
        """Write the table as a page to print. Returns where it is."""
        return self.report().save(path)


class Report:
    """What was stepped right, graph by graph."""

    def __init__(self, results: list[Result]):
        self.results = results

    def __repr__(self) -> str:
        right, asked = (sum(getattr(r, what) for r in self.results) for what in ("first", "asked"))
        return f"{right} of {asked} steps right at once, in {len(self.results)} graphs"

    def _repr_html_(self) -> str:
        cell = "text-align:left;padding:0.3em 1em 0.3em 0;border-bottom:1px solid rgba(128,128,128,0.35)"
        head = ("graph", "steps", "right at once", "after a mistake", "shown", "not answered", "look at")
        rows = [self._row(result) for result in self.results]
        total = ["all", *(str(sum(getattr(r, n) for r in self.results)) for n in COLUMNS), ""]
        top = "".join(f'<th scope="col" style="{cell}">{name}</th>' for name in head)
        body = "".join(
            f'<tr style="background:none">{"".join(f"<td style={chr(34)}{cell}{chr(34)}>{part}</td>" for part in row)}</tr>'
            for row in [*rows, total]
        )
        return (
            f'<p style="margin:0.3em 0"><strong>{html.escape(repr(self))}</strong></p>'
            f'<table style="border-collapse:collapse">'
            f'<tr style="background:none">{top}</tr>{body}</table>'
        )

    def _row(self, result: Result) -> list[str]:
        lessons = sorted({SEE[cause] for cause in result.causes if cause in SEE})
        look = ", ".join(result.causes) + (f" (lesson {', '.join(map(str, lessons))})" if lessons else "")
        return [str(result.number), *(str(getattr(result, name)) for name in COLUMNS), html.escape(look)]

    def save(self, path: str | Path) -> Path:
        """Write a page that prints on one sheet, with lines for a name and a date. Raises ValueError if it is no .html."""
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(
                f"a report is saved as .html, not as {path.suffix or 'a file without an ending'!r}"
            )
        lines = "<p>Name: ______________________________ &nbsp; Date: ________________</p>"
        style = (
            "body { font: 12pt/1.5 system-ui, sans-serif; margin: 2.5cm; color: #000; background: #fff }\n"
            "@page { margin: 1.5cm } @media print { body { font-size: 10pt; margin: 0 } tr { break-inside: avoid } }"
        )
        return write_whole(
            path,
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Exam</title><style>{style}</style>'
            f"<h1>Exam: ten graphs</h1>{lines}{self._repr_html_()}</html>\n",
        )


COLUMNS = ("asked", "first", "later", "shown", "open")
