"""Two tools of lesson 07: `go_on` (with the learner's own piece or the reference) and `where` (where an engine goes wrong).

`where` runs an engine and the reference on the diamond and draws the graph with the first difference marked.
May use viz and the exercises' own judge.
"""

from __future__ import annotations

import base64
import html
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

import viz

from . import tiny_engine as reference
from .blame import in_plain_words
from .cards import paragraphs, plain_text
from .judge import CORRECT, judge
from .lessons import find_exercise
from .limits import OutOfTime, time_limit
from .values import describe

MARK = "#d55e00"
SECONDS = 2.0


def go_on(key: str, *answers: Any) -> Any:
    """The learner's answers if they pass the check of exercise `key`, else the reference, built in the caller's notebook.

    Says which of the two it is. Returns a single answer as it is, several as a tuple.
    """
    exercise = find_exercise(key)
    names = " and ".join(exercise.names)
    state = judge(exercise, answers).state
    if state == CORRECT:
        print(f"{key} is solved: the lesson goes on with your {names}.")
        found = answers
    else:
        print(f"{key} is open: the lesson goes on with the reference for {names}.")
        made: dict[str, Any] = {}
        exec(exercise.solution_source, sys._getframe(1).f_globals, made)
        found = tuple(made[name] for name in exercise.names)
    return found[0] if len(found) == 1 else found


@dataclass
class Look:
    """Where an engine first differs from the reference: a sentence, and the graph with the place marked."""

    sentence: str
    svg: str = ""

    def __repr__(self) -> str:
        line = plain_text(self.sentence)
        return line if len(line) <= 109 else line[:108] + "…"

    def _repr_html_(self) -> str:
        image = ""
        if self.svg:
            data = base64.b64encode(self.svg.encode()).decode()
            alt = html.escape(plain_text(self.sentence), quote=True)
            image = f'<img alt="{alt}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
        return f"{paragraphs(self.sentence)}{image}"


def where(engine: Any) -> Look:
    """Run `engine` on the diamond; say and draw where it first differs from the reference. Never raises."""
    if not callable(engine):
        return Look(
            f"Pass the engine itself, a function, as in `where(run)`. This is {describe(engine, 40)}."
        )
    try:
        with time_limit(SECONDS):
            mine = _trace(engine)
    except OutOfTime:
        return Look(f"The engine was stopped after {SECONDS:g} seconds. Is its loop endless?")
    except BaseException as error:  # a learner's engine may do anything, and what it did is reported
        return Look(f"The engine did not finish. {in_plain_words(error)}")
    right = _trace(reference.run)
    due = {step.function.index: step for step in right}
    result = _number(mine.leaves["x"])
    head = f"x.grad is {result}" + ("" if result == "12" else ", and 12 is right") + ". "
    wrong = _first_wrong(mine, right)
    if wrong is None:
        same = [s.function.index for s in mine] == [s.function.index for s in right]
        order = "in the order of the reference" if same else "though not in the order of the reference"
        return Look(
            f"{head}Each node fires once, with everything that it should receive, {order}.", _draw(mine)
        )
    got, should = _received(mine, wrong), due[wrong]
    what = f"{should.name} of {should.tensor}"
    if not got:
        sentence = f"{what} never fires; it should, with {_number(should.total)}"
    else:
        times = "once" if len(got) == 1 else f"{len(got)} times"
        sentence = f"It goes wrong at {what}: it fires {times}, with {', then '.join(got)}"
        sentence += f". It should fire once, with {_number(should.total)}{_why(mine, wrong)}"
    return Look(f"{head}{sentence}.", _draw(mine, wrong))


def _first_wrong(mine: viz.Trace, right: viz.Trace) -> int | None:
    """The first node of `mine` that does not receive what it receives in `right`, or fires again, or never fires."""
    due = {step.function.index: _number(step.total) for step in right}
    seen: set[int] = set()
    for step in mine:
        index = step.function.index
        if index in seen or _number(step.total) != due[index]:
            return index
        seen.add(index)
    return next((index for index in due if index not in seen), None)


def _trace(engine: Any) -> viz.Trace:
    tensors = reference.diamond()
    c = tensors["c"]
    c.backward = lambda: engine(c.grad_fn, np.ones(()))
    return viz.trace(c, names=tensors)


def _why(trace: viz.Trace, index: int) -> str:
    """What the stepper says about what goes wrong at the node, if it knows."""
    steps = [step for step in trace if step.function.index == index]
    if steps[0].early:
        return ", once all its parts have arrived"
    cause = next((step.wrong for step in steps if step.wrong), "")
    return f". {cause}" if cause else ""


def _received(trace: viz.Trace, index: int) -> list[str]:
    return [_number(s.total) for s in trace if s.function.index == index]


def _number(value: Any) -> str:
    return "None" if value is None else value.short(20)


def _draw(trace: viz.Trace, marked: int | None = None) -> str:
    """The diamond's functions, each above what it received; the marked one is framed."""
    tensors = reference.diamond()
    drawing = viz.draw(tensors["c"], view="functions", direction="LR", names=tensors)
    more = []
    for function, item in drawing.picture.of_function.items():
        left, top = drawing.places.items[item.id]
        received = _received(trace, function.index)
        text = f"received {', '.join(received)}" if received else "never fired"
        above = top + item.height / 2 < drawing.places.height / 2 - 5
        y = top - 7 if above else top + item.height + 15
        style = (
            'font-weight="700" fill="#212529"' if function.index == marked else 'class="sub" fill="#495057"'
        )
        more.append(
            f'<text x="{left + item.width / 2:.1f}" y="{y:.1f}" font-size="11" text-anchor="middle" {style}>{text}</text>'
        )
        if function.index == marked:
            more.append(
                f'<rect x="{left - 6:.1f}" y="{top - (22 if above else 6):.1f}" width="{item.width + 12:.1f}" '
                f'height="{item.height + 28:.1f}" rx="8" fill="none" stroke="{MARK}" stroke-width="2.5" '
                'stroke-dasharray="6 4"/>'
            )
    return _with_room(drawing.svg, drawing.places.width, drawing.places.height).replace(
        "</svg>", "".join(more) + "</svg>"
    )


def _with_room(svg: str, width: float, height: float, room: int = 16) -> str:
    """The picture with an empty margin above and below."""
    w, h = f"{width:g}", f"{height:g}"
    tall = f"{height + 2 * room:g}"
    return (
        svg.replace(f'viewBox="0 0 {w} {h}"', f'viewBox="0 {-room} {w} {tall}"', 1)
        .replace(f'width="{w}" height="{h}" role', f'width="{w}" height="{tall}" role', 1)
        .replace(f'width="{w}" height="{h}" rx', f'y="{-room}" width="{w}" height="{tall}" rx', 1)
    )
