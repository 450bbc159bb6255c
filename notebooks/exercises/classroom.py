"""What a class found hard: `python -m exercises --class FOLDER` reads the progress files that learners chose to hand in.

A learner is identified by the name of the file, or of its folder if the file is called progress.json or exam.json. Files with
the same name belong to one learner, who may hand in both progress and exam: ada/progress.json and ada/exam.json, ada.json and
ada_exam.json, progress/ada.json and exam/ada.json. In a folder with a progress.json, an exam under any name is the same
learner's if its answers are in that file, too.

Prints Markdown. First an overview: how far the class got in each lesson, the ten hardest exercises, the exam; then, for each
prediction, what learners expected, and for each exercise, the wrong tries and their causes, the most common first. Learners are
counted, not tries; in an answer with several parts each part is counted. Files that could be read are named only with
`--names`. `--csv` prints the same facts as rows for a spreadsheet.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from viz.read.text import plural

from . import answers, lessons, store
from .cards import markdown_table
from .exam import COLUMNS, HEADS, results_of
from .exam_questions import ABOUT
from .judge import CORRECT, NOT_YET, Verdict, as_answers, judge
from .model import Exercise, Question
from .values import describe, plain

SHOWN = 6  # at most this many answers to an exercise, the most common ones
HARDEST = 10
NO_CAUSE = "no known cause"
SHORT = 90  # characters of a cause in a table
GENERAL = re.compile(r"(?<![a-z])(?:progress|exam)s?(?![a-z])", re.IGNORECASE)  # not learners' names
OURS = {"names", "solved", "predicted", "guesses", "tries", "exam"}  # the keys of a progress file


@dataclass(frozen=True)
class Learner:
    """What one learner handed in, in one file or several: `name` is the name of the file or of its folder."""

    name: str
    data: dict[str, Any]

    def tries(self, exercise: str) -> list[tuple[str, str]]:
        """The wrong tries at an exercise: (what was written, its cause)."""
        return [(answer, cause) for answer, cause in self.data["tries"].get(exercise, ())]

    def solved(self, exercise: str) -> bool:
        """Whether the exercise is solved."""
        return exercise in self.data["solved"]

    def met(self, exercise: str) -> bool:
        """Whether the exercise was attempted."""
        return self.solved(exercise) or bool(self.tries(exercise))

    def began(self, lesson: str) -> bool:
        """Whether anything was answered in a lesson."""
        return any(map(self.met, lessons.exercises(lesson))) or any(
            question in self.data["predicted"] for question in lessons.questions(lesson)
        )


def read(folder: Path) -> tuple[list[Learner], dict[str, str]]:
    """The learners whose files are in `folder` and below it, and, for any other .json file, why it is not a learner's."""
    handed_in: dict[Path, dict[str, Any]] = {}
    others = {}
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder)
        if path.name == store.COPIED or ".ipynb_checkpoints" in name.parts:
            continue
        try:
            data = json.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            others[str(name)] = error.strerror or "cannot be opened"
            continue
        except (ValueError, RecursionError):
            others[str(name)] = "damaged, or not JSON"
            continue
        if not isinstance(data, dict) or not OURS & set(data):
            others[str(name)] = "not a progress file" if data else "empty"
        elif isinstance(data.get("names"), int) and data["names"] > store.NAMES:
            others[str(name)] = "from a newer version of the lessons"
        elif not any(data.get(key) for key in OURS - {"names"}):
            others[str(name)] = "nothing has been answered yet"
        else:
            handed_in[name] = store.tidy(data)
    return _learners(handed_in), others


def _learners(files: dict[Path, dict[str, Any]]) -> list[Learner]:
    """The files of each learner put together, in the order of their names."""
    learners: dict[Path, dict[str, Any]] = {}
    for own, path in sorted((_own(path), path) for path in files):  # a folder comes before its contents
        folders = [place for place in own.parents if place.parts and place in learners]
        if own not in learners and folders and _is_its_exam(files[path], learners[folders[0]]):
            own = folders[0]
        learners[own] = _together(learners[own], files[path]) if own in learners else files[path]
    return [Learner(own.as_posix(), data) for own, data in sorted(learners.items())]


def _own(path: Path) -> Path:
    """Whose file it is: `ada` for ada.json, ada/progress.json, ada_exam.json and exams/ada.json."""
    named = [GENERAL.sub("", part).strip("-_. ") for part in path.with_suffix("").parts]
    return Path(*filter(None, named)) if any(named) else Path("progress")


def _is_its_exam(one: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether a file holds an exam alone, and another one holds the very same answers."""
    kept = whole.get("exam", {})
    alone = not any(one[kind] for kind in ("solved", "predicted", "tries"))
    return alone and all(kept.get(number) == given for number, given in one.get("exam", {}).items())


def _together(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What two files of one learner say: all that is solved and predicted, and the longer records of tries and exam answers."""
    longer = {
        kind: {
            key: max((data[kind][key] for data in (one, other) if key in data.get(kind, ())), key=len_of)
            for key in {**one.get(kind, {}), **other.get(kind, {})}
        }
        for kind, len_of in (("tries", len), ("exam", lambda kept: len(str(kept))))
    }
    predicted = {kind: other[kind] | one[kind] for kind in ("predicted", "guesses")}
    return store.tidy(one | predicted | longer | {"solved": sorted({*one["solved"], *other["solved"]})})


def report(folder: Path, *, names: bool = False) -> str:
    """The Markdown page. Raises FileNotFoundError, saying what to do, if there is nothing to read."""
    handed_in, others = _read_some(folder)
    parts = [f"# What a class found hard: {plural(len(handed_in), 'learner')}"]
    if others:
        message = "\n".join(f"* `{name}`: {why}" for name, why in others.items())
        parts.append(f"{plural(len(others), 'other file')} could not be counted:\n\n{message}")
    parts += [
        *_how_far(handed_in),
        *(_who(handed_in) if names else ()),
        *_hardest(handed_in),
        *_exam(handed_in),
    ]
    for number in lessons.numbers():
        questions = (_prediction(one, handed_in) for one in lessons.questions(number).values())
        exercises = (_exercise(one, handed_in) for one in lessons.exercises(number).values())
        if sections := [*chain(*questions, *exercises)]:
            parts += [f"## Lesson {number}", *sections]
    return "\n\n".join(parts) + "\n"


def table(folder: Path, *, names: bool = False) -> str:
    """The same as CSV: a row for each learner and each prediction, exercise or part of the exam that was answered."""
    handed_in, _ = _read_some(folder)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("learner", "lesson", "kind", "id", "result", "wrong tries"))
    for place, learner in enumerate(handed_in, 1):
        who = learner.name if names else place
        for number in lessons.numbers():
            for question in lessons.questions(number):
                if question in learner.data["predicted"]:
                    result = "came true" if learner.data["predicted"][question] else "surprised"
                    rows.writerow((who, number, "prediction", question, result, ""))
            for exercise in lessons.exercises(number):
                if learner.met(exercise):
                    result = "solved" if learner.solved(exercise) else "open"
                    rows.writerow((who, number, "exercise", exercise, result, len(learner.tries(exercise))))
        for one in results_of(learner.data.get("exam", {})):
            about, result = " ".join(ABOUT.get(one.number, ())), f"{one.first} of {one.asked} at once"
            rows.writerow((who, about, "exam", one.number, result, one.mistaken + one.shown))
    return out.getvalue()


def _read_some(folder: Path) -> tuple[list[Learner], dict[str, str]]:
    handed_in, others = read(folder)
    if handed_in:
        return handed_in, others
    why = "".join(f"\n  {name}: {reason}" for name, reason in others.items())
    raise FileNotFoundError(
        f"There is no progress file in {folder}. Learners who wish to may hand in a copy of their progress.json, which "
        f'`progress(save="name.json")` writes under any name; put the copies there, all together or in folders.{why}'
    )


# ---------------------------------------------------------------- the overview


def _how_far(handed_in: list[Learner]) -> Iterator[str]:
    rows = []
    for number in lessons.numbers():
        exercises, questions = list(lessons.exercises(number)), list(lessons.questions(number))
        began = [learner for learner in handed_in if learner.began(number)]
        if not began:
            continue
        every = sum(all(map(learner.solved, exercises)) for learner in began)
        solved = sum(learner.solved(key) for learner in began for key in exercises) / len(began)
        noted = [learner.data["predicted"] for learner in began]
        made = [predicted[key] for predicted in noted for key in questions if key in predicted]
        true = f"{sum(made)} of {len(made)}" if made else "–"
        rows.append(
            {
                "lesson": number,
                "began it": len(began),
                "solved every exercise": every,
                "exercises solved, on average": f"{solved:.1f} of {len(exercises)}",
                "predictions that came true": true,
            }
        )
    if rows:
        yield "## How far they got"
        yield markdown_table(rows)


def _who(handed_in: list[Learner]) -> Iterator[str]:
    yield "## How far each learner got"
    rows = []
    for learner in handed_in:
        began = [number for number in lessons.numbers() if learner.began(number)]
        exam = results_of(learner.data.get("exam", {}))
        right = f"{sum(r.first for r in exam)} of {sum(r.asked for r in exam)}" if exam else "–"
        rows.append(
            {
                "file": learner.name,
                "lessons begun": ", ".join(began) or "–",
                "exercises solved": len(learner.data["solved"]),
                "with a wrong try": sum(map(bool, learner.data["tries"].values())),
                "predictions": len(learner.data["predicted"]),
                "exam, right at once": right,
            }
        )
    yield markdown_table(rows)


def _hardest(handed_in: list[Learner]) -> Iterator[str]:
    """The exercises with the largest share of learners who left them unsolved or gave a wrong answer."""
    ranked = []
    for number in lessons.numbers():
        for exercise in lessons.exercises(number).values():
            met = [learner for learner in handed_in if learner.met(exercise.id)]
            wrong = [learner for learner in met if learner.tries(exercise.id)]
            if not wrong:
                continue
            solved = sum(learner.solved(exercise.id) for learner in met)
            share = ((len(met) - solved) + len(wrong)) / len(met)
            row = {
                "exercise": f"{exercise.id} {exercise.title}",
                "tried it": len(met),
                "solved it": solved,
                "had a wrong try": len(wrong),
                "most often": _most_often(exercise, wrong),
            }
            ranked.append((share, len(met), row))
    ranked.sort(key=lambda one: one[:2], reverse=True)
    if ranked:
        yield f"## The {'ten ' if len(ranked) >= HARDEST else ''}hardest"
        yield markdown_table(row for *_, row in ranked[:HARDEST])


def _most_often(exercise: Exercise, wrong: list[Learner]) -> str:
    (((part, answer, cause), _),) = _tries(exercise, wrong).most_common(1)
    what = filter(None, (part and f"`{part}`", f"`{answer}`" if answer != "code" else ""))
    message = " ".join((cause or " ".join(what) or NO_CAUSE).split())
    return message if len(message) <= SHORT else message[: SHORT - 1].rstrip() + "…"


def _exam(handed_in: list[Learner]) -> Iterator[str]:
    by_number: dict[int, list[Any]] = {}
    for learner in handed_in:
        for result in results_of(learner.data.get("exam", {})):
            by_number.setdefault(result.number, []).append(result)
    if not by_number:
        return
    rows = []
    for number, results in sorted(by_number.items()):
        causes = Counter(cause for result in results for cause in result.causes)
        causes["begun anew"] = sum(result.begun > 1 for result in results)
        common = ", ".join(f"{count} × {cause}" for cause, count in causes.most_common(4) if count)
        steps = {
            head: sum(getattr(r, name) for r in results) for head, name in zip(HEADS, COLUMNS, strict=True)
        }
        row = {"question": number, "lessons": ", ".join(ABOUT.get(number, ())), "learners": len(results)}
        rows.append(row | steps | {"mistakes": common})
    yield "## The exam"
    yield markdown_table(rows)


# ---------------------------------------------------------------- each prediction and exercise


def _prediction(question: Question, handed_in: list[Learner]) -> Iterator[str]:
    made = [learner.data for learner in handed_in if question.id in learner.data["predicted"]]
    if not made:
        return
    true = sum(data["predicted"][question.id] for data in made)
    yield f"**{question.id}** {question.asks}: {true} of {len(made)} expected it."
    guesses = Counter(
        data["guesses"].get(question.id, "?") for data in made if not data["predicted"][question.id]
    )
    if guesses:
        yield "\n".join(
            f"* {count} × `{guess.strip(chr(39))}`{_thought(question, guess)}"
            for guess, count in guesses.most_common(SHOWN)
        )


def _thought(question: Question, guess: str) -> str:
    """The remark on a known guess, to be put at the end of its line."""
    truth = plain(question.truth())
    for wrong in question.wrong:
        if describe(answers.read(wrong.answer, truth), 40) == guess:
            return f": {wrong.advice}"
    return ""


def _exercise(exercise: Exercise, handed_in: list[Learner]) -> Iterator[str]:
    met = [learner for learner in handed_in if learner.met(exercise.id)]
    if not met:
        return
    solved = sum(learner.solved(exercise.id) for learner in met)
    wrong = [learner for learner in met if learner.tries(exercise.id)]
    yield (
        f"**{exercise.id}** {exercise.title}: {solved} of the {len(met)} who tried it solved it; {len(wrong)} had a wrong try."
    )
    tries = _tries(exercise, wrong)
    lines = [
        f"* {count} × {f'`{part}` ' if part else ''}{'' if answer == 'code' else f'`{answer}`: '}{cause or NO_CAUSE}"
        for (part, answer, cause), count in tries.most_common(SHOWN)
    ]
    left = len(tries) - len(lines)
    if left:
        lines.append(f"* and {plural(left, 'other')}")
    if lines:
        yield "\n".join(lines)


def _tries(exercise: Exercise, wrong: list[Learner]) -> Counter[tuple[str, str, str]]:
    """How many learners wrote each (part, answer, cause); a learner counts once, however often they tried it."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for learner in wrong:
        counted.update(
            {one for written, cause in learner.tries(exercise.id) for one in parts(exercise, written, cause)}
        )
    return counted


def parts(exercise: Exercise, written: str, cause: str) -> list[tuple[str, str, str]]:
    """The wrong parts of a try: (name of the part, what was written there, its cause). The file has the cause of the first
    only, so each part is judged again, with the others right."""
    if not exercise.typed or len(exercise.names) == 1:
        return [("", written.strip("'"), cause)]
    found = re.split(rf"(?:^|, )({'|'.join(map(re.escape, exercise.names))}) = ", written)
    given = [(name, text.strip("'")) for name, text in zip(found[1::2], found[2::2], strict=True)]
    judged = [(name, text, _judged(exercise.id, name, text)) for name, text in given]
    wrong = [
        (name, text, verdict.cause)
        for name, text, verdict in judged
        if verdict.state not in (CORRECT, NOT_YET)
    ]
    return wrong or [("", written, cause)]


@cache
def _judged(exercise: str, part: str, text: str) -> Verdict:
    """What `check` says if only this part is written like that."""
    found = lessons.find_exercise(exercise)
    return judge(found, as_answers(found, {part: text}))
