"""check, hint, solution, predict, progress: find the exercise, have the answer judged, return a card."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from viz.read.text import write_whole

from . import answers, lessons, options, store
from .cards import Card, code_block, fold, heading, inline, paragraphs
from .judge import CORRECT, NOT_YET, judge
from .model import Exercise, Question
from .replies import say
from .values import blank, describe, plain, same


def check(exercise: str = "", *given: Any) -> Card:
    """Say whether the answers to an exercise are right, and if not, what may be the cause. Never raises."""
    try:
        found = lessons.find_exercise(exercise)
        state, message, cause = judge(found, given)
        if state == NOT_YET:
            message += _so_far(found.id)
        elif state == CORRECT:
            store.note(solved=found.id)
        else:
            store.note(tried=(found.id, _as_written(found, given), cause or message.partition("\n")[0]))
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    except Exception as error:
        return _our_fault(exercise, error)
    message = _with_news(message)
    body = heading(state, f"Exercise {found.id}: {found.title}") + paragraphs(message)
    if state == CORRECT:
        return Card(state, f"{found.id} {state}", f"{found.id} {state}\n{message}", body)
    line, stuck = " ".join(f"{found.id} {state}: {message}".split()), say("stuck", id=found.id)
    text = f"{found.id} {state}\n{message}\n\n{stuck}"
    widget = lambda: _with_hints(found, Card(state, line, text, body))  # noqa: E731
    return Card(state, line, text, body + paragraphs(stuck), widget)


_uncovered: dict[str, int] = {}
"""How many hints of each exercise this session has shown."""


def _with_hints(found: Exercise, card: Card) -> Any:
    from .field import with_hints  # not before it is needed: the import takes a while

    def uncovered(more: int) -> int:
        _uncovered[found.id] = _uncovered.get(found.id, 0) + more
        return _uncovered[found.id]

    return with_hints(card, _hints(found), uncovered)


def _hints(found: Exercise) -> list[str]:
    """Each hint as HTML; below the last one, the hints for individual parts, and where to find the solution."""
    hints = [paragraphs(text) for text in found.hints]
    hints[-1] += "".join(fold(f"About `{name}`", paragraphs(advice)) for name, advice in found.about.items())
    if not _closed():
        hints[-1] += paragraphs(say("last hint", id=found.id))
    return hints


def _so_far(key: str) -> str:
    """The learner's earlier tries at an exercise, perhaps in another session."""
    done = store.load()
    if key in done["solved"]:
        return f"\n\n{say('solved before')}"
    tries = len(done["tries"].get(key, ()))
    return f"\n\n{say('tried before', count=tries, tries='tries' if tries > 1 else 'try')}" if tries else ""


def _with_news(text: str) -> str:
    """The text, followed once by what the learner should know about the progress file."""
    news = store.news()
    return f"{text}\n\n{news}" if news else text


def _as_written(exercise: Exercise, answers: tuple[Any, ...]) -> str:
    """A wrong try in a few words: what was typed, part by part; for code, only that it was code."""
    if any(map(callable, answers)):
        return "code"
    if len(answers) == 1:
        return describe(answers[0], 60)
    given = zip(exercise.names, answers, strict=False)
    return ", ".join(f"{name} = {describe(answer, 60)}" for name, answer in given)


def hint(exercise: str = "") -> Card:
    """The hints of an exercise, folded: opening one uncovers the next. Never raises."""
    try:
        found = lessons.find_exercise(exercise)
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    last, body = "" if _closed() else say("last hint", id=found.id), ""
    for number, text in reversed([*enumerate(_hints(found), 1)]):
        body = fold(f"Hint {number} of {len(found.hints)}", text + body)
    lines = [f"{number}. {' '.join(text.split())}" for number, text in enumerate(found.hints, 1)]
    lines += [f"{name}: {' '.join(advice.split())}" for name, advice in found.about.items()]
    text = "\n".join([f"Hints for {found.id}", *lines, last])
    return Card("noted", f"{found.id} hints: {len(found.hints)}, folded", text, body)


def solution(exercise: str = "") -> Card:
    """One solution of an exercise, and why it works. Never raises."""
    try:
        found = lessons.find_exercise(exercise)
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    if _closed():
        text = say("closed", id=found.id)
        return Card("noted", f"{found.id} solution: closed", text, heading("Closed", "") + paragraphs(text))
    body = heading("One solution", f"Exercise {found.id}: {found.title}")
    body += code_block(found.solution_source) + paragraphs(found.why)
    return Card("noted", f"{found.id} solution", f"{found.solution_source}\n\n{found.why}", body)


def _closed() -> bool:
    """Whether a teacher has closed the solutions."""
    return os.environ.get("EXERCISES_SOLUTIONS") == "0"


def predict(question: str = "", guess: Any = ...) -> Card:
    """Note what you expect before you run the next cell; the reply is folded. Never raises.

    Without a guess, shows a field to type it in, if the notebook can.
    """
    try:
        found = lessons.find_question(question)
        return _to_predict(found) if blank(plain(guess)) else _predicted(found, guess)
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    except Exception as error:
        return _our_fault(question, error)


def _predicted(found: Question, guess: Any, *, note: bool = True) -> Card:
    """Note a prediction and return the reply to it."""
    truth = plain(found.truth())
    value = _read(found, guess, truth)
    if not answers.fits(value, truth):  # this is not a guess at all, so nothing is noted
        text = say("not an answer", wanted=answers.wanted(truth)[0])
        return _not_predicted(found.id, "not yet: that is not an answer", text)
    if strange := _no_such_letter(found, value, truth):
        return _not_predicted(found.id, "not yet: there is no such letter", strange)
    reply, came_true = _reply(found, guess, truth)
    if note:
        store.note(predicted=(found.id, came_true, describe(value, 40)))
    shown = describe(value if isinstance(guess, str) else guess)
    body = heading("Noted", f"Prediction {found.id}")
    body += paragraphs(_with_news(say("noted", guess=shown.replace("`", "'"))))
    body += fold("I have looked. Was I right?", paragraphs(reply))
    return Card("noted", f"{found.id} noted: {shown}", reply, body)


def _to_predict(found: Question) -> Card:
    """The card of a prediction that has not been made yet; in a notebook it shows a field, with any earlier prediction."""

    def widget() -> Any:
        from .field import field  # not before it is needed: the import takes a while

        kept = store.load()["guesses"].get(found.id)
        earlier = None if kept is None else _predicted(found, kept, note=False)
        _asked, example = answers.wanted(plain(found.truth()))
        return field(found.id, inline(found.asks), example, earlier, lambda text: _heard(found, text))

    text = say("predict")
    body = heading(NOT_YET, f"Prediction {found.id}") + paragraphs(text)
    return Card(NOT_YET, f"{found.id} not yet predicted", text, body, widget)


def _heard(found: Question, text: str) -> Card:
    """The reply to what was typed into a field. Never raises, since an error would be lost in the kernel's log."""
    try:
        return _predicted(found, text)
    except Exception as error:
        return _our_fault(found.id, error)


def progress(lesson: int | str | None = None, *, save: str | Path | None = None) -> Card:
    """What you have predicted and solved in a lesson, or in all of them. It stays on this machine. Never raises.

    ``save``: also write it all to this .json file, to hand in.
    """
    if save is not None:
        return _save(save)
    try:
        number = None if lesson is None else lessons.lesson_number(lesson)
    except lessons.Unknown as unknown:
        return _unknown(unknown)
    counts = {n: _Count(n) for n in (lessons.numbers() if number is None else [number])}
    if number is None:
        name, head = "All lessons", ["lesson", "predicted", "surprising", "solved"]
        rows: Sequence[tuple[str, ...]] = [
            (n, count.predicted, str(len(count.surprises)), count.solved) for n, count in counts.items()
        ]
    else:
        name, head, rows = f"Lesson {number}", [], counts[number].rows()
    solved, exercises = (sum(len(getattr(c, of)) for c in counts.values()) for of in ("right", "exercises"))
    made, questions = (sum(len(getattr(c, of)) for c in counts.values()) for of in ("made", "questions"))
    surprised = sum(len(count.surprises) for count in counts.values())
    line = f"{name}: predicted {made} of {questions}, surprising {surprised}, solved {solved} of {exercises}"
    news = store.news()
    return Card(
        CORRECT if 0 < exercises == solved else "noted",
        line,
        f"{line}\n{news}" if news else line,
        heading(name, "your progress, which stays on this machine") + _table(head, rows) + paragraphs(news),
    )


def _save(place: str | Path) -> Card:
    """Write a copy of the progress file."""
    try:
        path = Path(place)
        if path.suffix.lower() != ".json":
            text = say("save as json", name=str(place)[:60])
            return Card(NOT_YET, text, text, heading(NOT_YET, "") + paragraphs(text))
        write_whole(path, json.dumps(store.load(), indent=1, sort_keys=True) + "\n")
        text = say("saved", name=str(place))
    except (OSError, TypeError, ValueError) as error:
        text = say("not saved", name=str(place)[:60], error=getattr(error, "strerror", None) or str(error))
        return Card(NOT_YET, text, text, heading(NOT_YET, "") + paragraphs(text))
    return Card("noted", text, text, heading("Saved", "") + paragraphs(text))


class _Count:
    """How far a learner has come in one lesson: the ids of what was predicted, what came as a surprise, and what was solved."""

    def __init__(self, number: str):
        done = store.load()
        self.exercises, self.questions = list(lessons.exercises(number)), list(lessons.questions(number))
        self.right = [key for key in self.exercises if key in done["solved"]]
        self.made = [key for key in self.questions if key in done["predicted"]]
        self.surprises = [key for key in self.made if not done["predicted"][key]]
        self.predicted = f"{len(self.made)} of {len(self.questions)}"
        self.solved = f"{len(self.right)} of {len(self.exercises)}"

    def rows(self) -> list[tuple[str, str, str]]:
        """For each kind: its name, how many are done, and which are left."""
        surprises = f"{', '.join(self.surprises)} worth a second look" if self.surprises else ""
        return [
            ("Predicted", self.predicted, _left(self.questions, self.made, "not made")),
            *([("Surprising", f"{len(self.surprises)} of {len(self.made)}", surprises)] if self.made else []),
            ("Solved", self.solved, _left(self.exercises, self.right, "open")),
        ]


def _left(every: list[str], done: list[str], word: str) -> str:
    left = [key for key in every if key not in done]
    return f"{', '.join(left)} {word}" if left else "all of them"


def _table(head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    cell = "text-align:left;padding:0.1em 1.2em 0.1em 0"

    def line(first: str, *others: str) -> str:
        rest = "".join(f'<td style="{cell}">{text}</td>' for text in others)
        return f'<tr style="background:none"><th scope="row" style="{cell}">{first}</th>{rest}</tr>'

    columns = "".join(f'<th scope="col" style="{cell}">{text}</th>' for text in head)
    above = f'<tr style="background:none">{columns}</tr>' if head else ""
    return f'<table style="border-collapse:collapse;margin:0.3em 0">{above}{"".join(line(*row) for row in rows)}</table>'


def _not_predicted(key: str, line: str, text: str) -> Card:
    return Card(NOT_YET, f"{key} {line}", text, heading(NOT_YET, f"Prediction {key}") + paragraphs(text))


def _read(question: Question, guess: Any, due: Any) -> Any:
    return answers.read(guess, due, options=options.of(question.id), counts=question.counts)


def letters_of(question: Question) -> str:
    """The letters of the options of a question that is answered with a letter."""
    known = [question.truth(), *(wrong.answer for wrong in question.wrong), *options.of(question.id)]
    return "".join(sorted({letter for letter in known if isinstance(letter, str) and len(letter) == 1}))


def _no_such_letter(question: Question, value: Any, truth: Any) -> str:
    if not isinstance(truth, str) or value in (offered := letters_of(question)):
        return ""
    return say("no such letter", letter=value.replace("`", "'"), first=offered[0], last=offered[-1])


def _reply(question: Question, guess: Any, truth: Any) -> tuple[str, bool]:
    """What to say to a prediction, and whether it came true.

    A prediction is read as `check` reads answers, however it is written. A number that is the right one, rounded, but is
    also exactly a known mistake counts as that mistake.
    """

    def means(other: Any, exactly: bool) -> bool:
        due = answers.read(other, plain(other))
        got = _read(question, guess, due)
        return same(got, due, 0.0 if exactly else question.rtol) or (
            not exactly and (answers.alike(got, due, question.rtol) or answers.near(got, due))
        )

    for exactly in (True, False):
        if any(means(right, exactly) for right in (truth, *question.right)):
            return question.found, True
        if wrong := next((wrong for wrong in question.wrong if means(wrong.answer, exactly)), None):
            return wrong.advice, False
    return question.missed, False


def _unknown(unknown: lessons.Unknown) -> Card:
    return Card(NOT_YET, str(unknown), str(unknown), heading("Which one?", "") + paragraphs(str(unknown)))


def _our_fault(key: object, error: Exception) -> Card:
    """The machinery itself failed. The reply says so plainly; the tests look for this state."""
    text = say("our fault", id=describe(key, 20), error=f"{type(error).__name__}: {str(error)[:200]}")
    return Card(
        "fault", text, text, heading("A fault in the lesson", "") + paragraphs(text.replace("`", "'"))
    )
