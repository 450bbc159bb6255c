"""check, hint, solution, predict, progress: find what it is about, have it judged, hand back a card."""

from __future__ import annotations

from typing import Any

from . import lessons, store
from .cards import Card, code_block, fold, heading, paragraphs
from .judge import CORRECT, NOT_YET, judge
from .values import blank, describe, plain, same


def check(exercise: str = "", *answers: Any) -> Card:
    """Say whether the answers to an exercise are right, and if not, what may be the cause. Never raises."""
    try:
        found = lessons.find_exercise(exercise)
        state, message = judge(found, answers)
        if state == CORRECT:
            store.note(solved=found.id)
        elif state != NOT_YET:
            message += f'\n\nStuck? `hint("{found.id}")` helps a little at a time.'
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    except Exception as error:
        return _our_fault(exercise, error)
    line = f"{found.id} {state}" + ("" if state == CORRECT else f": {message}")
    body = heading(state, f"Exercise {found.id}: {found.title}") + paragraphs(message)
    return Card(state, " ".join(line.split()), f"{found.id} {state}\n{message}", body)


def hint(exercise: str = "") -> Card:
    """The hints of an exercise, folded: opening one uncovers the next. Never raises."""
    try:
        found = lessons.find_exercise(exercise)
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    last = f'That was the last hint. `solution("{found.id}")` shows one way, and why it works.'
    body = paragraphs(last)
    for number in range(len(found.hints), 0, -1):
        body = fold(f"Hint {number} of {len(found.hints)}", paragraphs(found.hints[number - 1]) + body)
    text = "\n".join(f"{number}. {' '.join(text.split())}" for number, text in enumerate(found.hints, 1))
    return Card(
        "noted",
        f"{found.id} hints: {len(found.hints)}, folded",
        f"Hints for {found.id}\n{text}\n{last}",
        body,
    )


def solution(exercise: str = "") -> Card:
    """One solution of an exercise, and why it works. Never raises."""
    try:
        found = lessons.find_exercise(exercise)
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    body = heading("One solution", f"Exercise {found.id}: {found.title}")
    body += code_block(found.solution_source) + paragraphs(found.why)
    return Card("noted", f"{found.id} solution", f"{found.solution_source}\n\n{found.why}", body)


def predict(question: str = "", guess: Any = ...) -> Card:
    """Note what you expect before you run the next cell; the reply to it is folded. Never raises."""
    try:
        found = lessons.find_question(question)
        value = plain(guess)
        if blank(value):
            text = "Put what you expect in the place of `...` and run this cell. Or go on: nothing needs it."
            body = heading(NOT_YET, f"Prediction {found.id}") + paragraphs(text)
            return Card(NOT_YET, f"{found.id} not yet predicted", text, body)
        reply, came_true = _reply(found, value)
        store.note(predicted=(found.id, came_true))
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    except Exception as error:
        return _our_fault(question, error)
    shown = describe(guess)
    body = heading("Noted", f"Prediction {found.id}") + paragraphs(
        f"You expect `{shown.replace('`', chr(39))}`. Now run on and look."
    )
    body += fold("I have looked. What does my prediction say?", paragraphs(reply))
    return Card("noted", f"{found.id} noted: {shown}", reply, body)


def progress(lesson: int | str = "") -> Card:
    """What you have predicted and solved in a lesson. Kept on this machine only. Never raises."""
    try:
        number = lessons.lesson_number(lesson)
        exercises, questions = lessons.exercises(number), lessons.questions(number)
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    done = store.load()
    solved = [key for key in exercises if key in done["solved"]]
    made = [key for key in questions if key in done["predicted"]]
    surprises = [key for key in made if not done["predicted"][key]]
    rows = [
        (
            "Predicted",
            f"{len(made)} of {len(questions)}",
            _open([key for key in questions if key not in made], "not made"),
        ),
        (
            "Surprised",
            f"{len(surprises)} of {len(made)}",
            _open(surprises, "worth a second look") if surprises else "",
        ),
        (
            "Solved",
            f"{len(solved)} of {len(exercises)}",
            _open([key for key in exercises if key not in solved], "open"),
        ),
    ]
    cells = "".join(
        f'<tr style="background:none"><th scope="row" style="text-align:left;padding:0.1em 1.2em 0.1em 0">{name}</th>'
        f'<td style="text-align:left;padding:0.1em 1.2em 0.1em 0">{count}</td>'
        f'<td style="text-align:left">{rest}</td></tr>'
        for name, count, rest in rows
    )
    table = f'<table style="border-collapse:collapse;margin:0.3em 0">{cells}</table>'
    line = f"Lesson {number}: predicted {rows[0][1]}, surprised {len(surprises)}, solved {rows[2][1]}"
    whole = bool(exercises) and len(solved) == len(exercises)
    return Card(
        CORRECT if whole else "noted",
        line,
        line,
        heading(f"Lesson {number}", "your progress, kept on this machine only") + table,
    )


def _reply(question: Any, value: Any) -> tuple[str, bool]:
    if same(value, plain(question.truth()), question.rtol):
        return question.found, True
    for wrong in question.wrong:
        if same(value, plain(wrong.answer), question.rtol):
            return wrong.advice, False
    return question.missed, False


def _open(keys: list[str], word: str) -> str:
    return f"{', '.join(keys)} {word}" if keys else "all of them"


def _unknown(unknown: lessons.Unknown) -> Card:
    return Card(NOT_YET, str(unknown), str(unknown), heading("Which one?", "") + paragraphs(str(unknown)))


def _our_fault(key: object, error: Exception) -> Card:
    """The machinery itself failed. The learner is told so plainly; the tests look for this state."""
    text = (
        f"The check of {describe(key, 20)} could not look at this answer ({type(error).__name__}: "
        f"{str(error)[:200]}). "
        "That is a fault of the lesson and not yours; please report it."
    )
    return Card(
        "fault", text, text, heading("A fault in the lesson", "") + paragraphs(text.replace("`", "'"))
    )
