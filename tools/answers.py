"""The predictions and typed answers of a static lesson page: a form for each, with the replies of `check` and `predict`.

No Python runs on such a page, so all possible replies are collected here, as data, when the page is made; the script
(answers.js) reads an answer as exercises/answers.py does and looks the reply up. Code cannot be checked this way:
such an exercise says so. A "?" in a reply is where the script puts what was typed.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from exercises import lessons, options
from exercises.answers import wanted
from exercises.api import letters_of
from exercises.cards import paragraphs
from exercises.exam_questions import QUESTIONS
from exercises.judge import CORRECT, as_answers, impossible, judge, no_such_letter, possible
from exercises.lesson_02 import known_names, name_of
from exercises.lesson_04 import RIGHT_PATHS
from exercises.model import Exercise, Question, Wrong
from exercises.replies import say
from exercises.symptoms import advise
from exercises.values import describe, plain
from tools.mathml import FORMULA, mathml
from viz.show.page import FRONT, minified

PROGRAM = minified([FRONT / "typed.js", Path(__file__).with_name("answers.js")])
SCRIPT = f"<script>(() => {{{PROGRAM}}})();</script>"

STYLE = """
form.answer { margin: 10px 0 0; padding: 10px 14px; border: 1px solid color-mix(in srgb, var(--kind) 40%, transparent);
  border-left: 4px solid var(--kind); border-radius: 7px; max-width: 46rem; box-sizing: border-box; --kind: #8a6100;
  background: color-mix(in srgb, var(--kind) 6%, var(--ground)); }
form.answer.prediction { --kind: var(--link); } form.answer > b { display: block; color: var(--kind); font-size: 13px;
  letter-spacing: 0.06em; text-transform: uppercase; }
.text:has(> h3[id^="Exercise-"]) { --kind: #8a6100; padding: 4px 16px 6px; margin-top: 20px; border-left: 4px solid var(--kind);
  border-radius: 7px; max-width: 46rem; box-sizing: border-box; background: color-mix(in srgb, var(--kind) 6%, var(--ground)); }
.text > h3[id^="Exercise-"] { color: var(--kind); }
.text > h3[id^="Exercise-"] + p > em:first-child { padding: 2px 12px; border-radius: 14px; font-size: 14px; font-style: normal;
  background: color-mix(in srgb, var(--kind) 13%, var(--ground)); }
@media (prefers-color-scheme: dark) {
  form.answer:not(.prediction), .text:has(> h3[id^="Exercise-"]) { --kind: #e3b341; }
}
form.answer label { display: block; margin: 4px 0; } form.answer input { font: inherit; font-family: ui-monospace, monospace;
  font-size: 15px; width: 22em; max-width: 100%; padding: 3px 8px; color: inherit; background: var(--raised);
  border: 1px solid var(--mute); border-radius: 5px; }
form.answer button { font: inherit; font-size: 15px; margin-top: 6px; padding: 3px 14px; color: inherit;
  background: var(--raised); border: 1px solid var(--mute); border-radius: 5px; cursor: pointer; }
.output th[scope="row"] + td { white-space: nowrap; }
form.answer output { display: block; margin-top: 6px; } form.answer p { margin: 0.3em 0; }
@media print {
  body { max-width: none; font-size: 11pt; color: #000; background: #fff; }
  nav, form.answer button { display: none; }
  .code, .output, .text pre, .text table, math[display="block"] { overflow: visible; }
  .code pre, .output > pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .code, .output, form.answer, h2, h3, img, iframe { break-inside: avoid; } h2, h3 { break-after: avoid; }
  form.answer input { border: 0; border-bottom: 1px solid #000; border-radius: 0; background: none; }
}
"""


def said(text: str) -> str:
    """A reply as HTML, formulas as MathML. (A formula is taken out before the text is escaped, and put back after it.)"""
    formulas: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if match[3] is None:
            return match[0]
        formulas.append(mathml(match[3]))
        return f"\x00{len(formulas) - 1}\x00"

    page = paragraphs(FORMULA.sub(keep, text)) if text else ""
    return re.sub("\x00(\\d+)\x00", lambda match: formulas[int(match[1])], page)


def _value(answer: Any) -> Any:
    """A listed answer as JSON: a number, nested lists, a text, a truth value or null."""
    value = plain(answer)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(map(_value, value)) if isinstance(value, tuple) else value


def form(key: str, *, prediction: bool) -> str:
    """The form under the cell of a prediction, or of an exercise."""
    if prediction:
        data = _prediction(lessons.find_question(key))
        return _form(f"Predict · {key}", ["I expect"], data)
    exercise = lessons.find_exercise(key)
    data = _exercise(exercise)
    if data is None:
        return '<p class="mute">This answer is checked in the notebook, where Python runs.</p>'
    return _form(f"Exercise {key}", list(exercise.names), data)


def exam_form(number: int) -> str:
    """The form under the cell of a question of the exam."""
    return _form(f"Question {number}", ["My answer"], _exam(number))


def _exam(number: int) -> dict:
    """The data for a question of the exam: it is read like a prediction, and answered as Exam.answer does."""
    asked = QUESTIONS[number]
    wrong = tuple(Wrong(letter, says) for letter, (_, says) in asked.wrong.items())
    question = Question(f"exam.{number}", asked.asks, lambda: asked.right, asked.shows, "", patterns=wrong)
    return _prediction(question) | {"kind": "question"}


def _form(title: str, names: list[str], data: dict) -> str:
    fields = "".join(
        f'<label><code>{html.escape(name)}</code> <input name="{place}" autocomplete="off" spellcheck="false"></label>'
        for place, name in enumerate(names)
    )
    packed = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    kind, button = (" prediction", "I think so") if data["kind"] == "prediction" else ("", "Check")
    return (
        f'<form class="answer{kind}" aria-label="{html.escape(title)}"><b>{html.escape(title)}</b>{fields}'
        f"<button>{button}</button>"
        f'<output role="status"></output><script type="application/json">{packed}</script></form>'
    )


def _prediction(question: Question) -> dict:
    truth = question.truth()
    return {
        "kind": "prediction",
        "want": _value(truth),
        "right": [_value(other) for other in question.right],
        "rtol": question.rtol,
        "counts": question.counts,
        "wrong": [{"value": _value(wrong.answer), "says": said(wrong.advice)} for wrong in question.wrong],
        "found": said(question.found),
        "missed": said(question.missed),
        "unread": said(say("not an answer", wanted=wanted(plain(truth))[0])),
    } | _letters(truth, letters_of(question), question.id)


def _letters(truth: Any, letters: str, key: str) -> dict:
    """If a letter is expected: the letters, and the texts of the options."""
    if not isinstance(truth, str):
        return {}
    absent = say("no such letter", letter="?", first=letters[0], last=letters[-1])
    return {"letters": letters, "options": options.of(key), "absent": said(absent)}


def _exercise(exercise: Exercise) -> dict | None:
    """The data for an exercise; None if the answer is code, or if judging it takes code."""
    if not exercise.typed:
        return None
    if exercise.probe is None:
        return _parts(exercise)
    makers: dict[str, Callable[[Exercise], dict]] = {
        "2.1": lambda e: _flips(e, dict.fromkeys(e.names, "abcdefgh")),
        "2.3": lambda e: _flips(e, {name: "abc" if name == "why" else "xwd" for name in e.names}),
        "2.4": _names,
        "2.5": lambda e: _table(
            e, "in order", map("".join, permutations("ABCDEF", 5)), "Write five lines, each once."
        ),
        "4.1": lambda e: _table(
            e,
            "in order",
            map(list, permutations(("loss", "k", "b", "a", "h"))),
            "Write all five names, each once, such as `loss, k, b, a, h`.",
        ),
        "4.4": lambda e: _table(
            e,
            "paths",
            [list(RIGHT_PATHS), *(wrong.answer for wrong in e.wrong)],
            "Write three lists of numbers, one for each path. Follow each path again, arrow by arrow.",
        ),
        "5.5": lambda e: _choice(e, "abcdef"),
        "10.3": lambda e: _choice(e, "abcdefg"),
        "15.6": lambda e: _choice(e, "abcdef"),
    }
    maker = makers.get(exercise.id)
    return maker(exercise) if maker else None


def _parts(exercise: Exercise) -> dict:
    """Numbers and letters, part by part: compared by the script, which knows the mistakes that the exercise lists."""
    parts = []
    nothing = any(part is None for part in exercise.reference)
    for name, reference in zip(exercise.names, exercise.reference, strict=True):
        want = plain(reference)

        def advice(got: Any, want: Any = want, name: str = name) -> str:
            return advise(got, want, exercise.rtol, typed=True, label=name, nothing=nothing)[0]

        other = advice(_other(want))
        told = {
            "unknown": f"{other} {exercise.look_again(name)}",
            "none": advice(None),
            "text": f"{advice('??' if isinstance(want, str) else '?')} {possible(exercise)}",
        }
        if isinstance(want, str):
            told["absent"] = no_such_letter(exercise, "?")
        else:
            told |= {"truth": advice(True), "many": advice(np.zeros(7))}
        if isinstance(want, np.ndarray) and want.ndim == 2:
            told["side"] = advice(np.zeros(want.T.shape))
        if isinstance(want, np.ndarray):
            cannot = {"negative": np.asarray(-1.0), "never": np.asarray(0.5), "multiple": np.asarray(1.0)}
            told |= {key: f"{other} {why}" for key, n in cannot.items() if (why := impossible(exercise, n))}
        if isinstance(want, np.ndarray) and want.any():
            told["sign"] = advice(np.asarray(-want))
        if isinstance(want, np.ndarray) and want.size > 1:
            told |= {
                "entry": f"{say('entry', index='[?]', value=8888)} {say('go through')}",
                "entries": f"{say('entries', count=7777, index='[?]', value=8888)} {say('go through')}",
                "brackets": say("brackets", shape=want.shape, right=describe(want)),
            }
        elif isinstance(want, np.ndarray):
            told |= {"near": say("near"), "rounded": say("rounded")}
        parts.append(
            {"name": name, "want": _value(reference), "says": {key: said(text) for key, text in told.items()}}
        )
    return {
        "kind": "parts",
        "parts": parts,
        "rtol": exercise.rtol,
        "letters": exercise.letters if any(isinstance(part, str) for part in exercise.reference) else "",
        "allowed": exercise.allowed,
        "counts": exercise.counts,
        "words": dict(exercise.words),
        "options": options.of(exercise.id),
        "wrong": [
            {"values": list(map(_value, as_answers(exercise, wrong.answer))), "says": said(wrong.advice)}
            for wrong in exercise.wrong
        ],
        "correct": said(exercise.shows),
    }


def _other(want: Any) -> Any:
    """A wrong answer of the right kind that is not recognised."""
    if isinstance(want, np.ndarray):
        return np.asarray(want + 123.456)
    return np.asarray(123.456) if want is None else "z"


def _flips(exercise: Exercise, letters: dict[str, str]) -> dict:
    """Sets of letters: the reply about the first wrong letter, as in `check`."""
    right = dict(zip(exercise.names, exercise.reference, strict=True))
    parts = []
    for name, every in letters.items():
        says = {}
        for letter in every:
            single = name == "why"
            answer = letter if single else "".join(sorted(set(right[name]) ^ {letter}))
            if answer != right[name]:
                says[letter] = said(judge(exercise, as_answers(exercise, {name: answer})).message)
        parts.append(
            {"name": name, "want": right[name], "letters": every, "single": name == "why", "says": says}
            | {"strange": said(judge(exercise, as_answers(exercise, {name: "?"})).message)}
        )
    return {
        "kind": "flips",
        "parts": parts,
        "options": options.of(exercise.id),
        "correct": said(exercise.shows),
    }


def _names(exercise: Exercise) -> dict:
    """Names of functions, part by part; `sub` and `SubBackward0` are the same."""
    right = dict(zip(exercise.names, map(name_of, exercise.reference), strict=True))
    parts = []
    for name in exercise.names:
        said_of = {
            known or "none": said(judge(exercise, as_answers(exercise, {name: known})).message)
            for known in sorted(known_names(), key=str)
            if known != right[name]
        }
        unknown = judge(exercise, as_answers(exercise, {name: "?"})).message
        parts.append({"name": name, "want": right[name] or "none", "says": said_of, "unknown": said(unknown)})
    return {"kind": "names", "parts": parts, "correct": said(exercise.shows)}


def _table(exercise: Exercise, order: str, every: Iterable[Any], otherwise: str) -> dict:
    """Every sensible answer, with its reply; equal replies are stored once."""
    replies: list[str] = []
    at: dict[str, int] = {}
    for answer in every:
        verdict = judge(exercise, (answer,))
        reply = said(exercise.shows if verdict.state == CORRECT else verdict.message)
        reply = ("+" if verdict.state == CORRECT else "-") + reply
        if reply not in replies:
            replies.append(reply)
        at[_key(answer, order)] = replies.index(reply)
    return {"kind": "table", "order": order, "replies": replies, "at": at, "otherwise": said(otherwise)}


def _choice(exercise: Exercise, letters: str) -> dict:
    """Some of these letters, in any order."""
    every = (
        "".join(c for bit, c in enumerate(letters) if number >> bit & 1)
        for number in range(1 << len(letters))
    )
    return _table(exercise, "any order", every, f"Write letters from {letters[0]} to {letters[-1]}.")


def _key(answer: Any, order: str) -> str:
    """An answer in the form in which the script looks it up."""
    if order == "paths":
        return ";".join(sorted(",".join(sorted(f"{float(n):g}" for n in path)) for path in answer))
    parts = [part.lower() for part in answer]
    return ",".join(sorted(parts) if order == "any order" else parts)
