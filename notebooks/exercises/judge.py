"""Answer in, verdict out, whatever the answer is. The one place where a learner's code runs."""

from __future__ import annotations

import dis
import inspect
import io
import time
import warnings
from collections.abc import Iterable
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad.random import rng

from . import answers as typed
from . import relations, repair
from .blame import in_plain_words, said
from .bytecode import uses
from .limits import OutOfTime, time_limit
from .model import Complaint, Exercise, Wrong
from .side_effects import ITEMS, VALUES, Watch
from .symptoms import advise
from .values import blank, describe, plain, same, whole

SEARCH = 1.0  # seconds for the search of what one change would mend
NOT_YET, TRY_AGAIN, RAISED, CORRECT = "not yet", "try again", "your code raised", "correct"

SWITCHED_OFF = (
    "Your code has switched recording off and left it off. Use the switch as a block, `with torch.no_grad():`, "
    "and it is switched back at the end of the block."
)


class Verdict(NamedTuple):
    """What `check` says. `cause` is the mistake that was recognised, as it is told; "" where none was."""

    state: str
    message: str
    cause: str = ""


@dataclass
class Observed:
    """What a probe saw, as far as it came: (label, plain value, the value as the learner would see it). `whole` if it came
    to its end, or to an error that it would come to again."""

    seen: list[tuple[str, Any, str]] = field(default_factory=list)
    error: BaseException | None = None
    whole: bool = False


def judge(exercise: Exercise, answers: tuple) -> Verdict:
    """The verdict on the answers to one exercise. The learner's next random numbers are what they would have been."""
    stream = rng().get_state()
    try:
        return _judge(exercise, answers)
    finally:
        rng().set_state(stream)


def _judge(exercise: Exercise, answers: tuple) -> Verdict:
    missing = _missing(exercise, answers)
    if missing:
        return Verdict(NOT_YET, missing)
    if strange := _not_callable(exercise, answers):
        return Verdict(TRY_AGAIN, strange, strange)
    got = observe(exercise, answers)
    want = own(exercise, -1)
    if want.error is not None:  # a mistake of ours: the lesson's own tests must see it
        raise want.error
    if _unfinished(got, answers):
        return Verdict(
            NOT_YET, "There is still a `...` in it. Put your own code in its place and run the cell again."
        )
    first = _first_difference(got, want, exercise)
    if first is None and got.error is None:
        if forbidden := _forbidden(exercise, answers):
            return Verdict(TRY_AGAIN, forbidden, forbidden)
        return Verdict(CORRECT, exercise.shows)
    before = first is not None and first < len(got.seen)  # something was wrong already when it stopped
    if isinstance(got.error, Complaint) and not before:
        return Verdict(TRY_AGAIN, str(got.error), str(got.error))
    known = recognise(exercise, got)
    if got.error is not None and not before:
        known = known or resembled(exercise, got, want)
        state, told = _told(got.error, exercise)
        if known:
            return Verdict(state, f"{told}\n\n{known.advice}", known.advice)
        return Verdict(state, told, type(got.error).__name__)
    assert first is not None
    if first == len(
        got.seen
    ):  # the probe could do no more with it: the right values, as a plain number or an array
        label, _value, shown = got.seen[-1]
        told = (
            known.advice
            if known
            else "The values are right. But it is no tensor, and a tensor is wanted here."
        )
        return Verdict(TRY_AGAIN, f"{_what(exercise, label, shown)} {told}".strip(), told)
    label, value, shown = got.seen[first]
    told = known.advice if known else _found(exercise, answers, got, want, first)
    if told:
        return Verdict(TRY_AGAIN, f"{_what(exercise, label, shown)} {told}".strip(), told)
    due = want.seen[first][1]
    if isinstance(value, str) and not isinstance(due, str):
        shown = repr(value)  # 'None' is not None
    if exercise.typed and isinstance(due, str) and isinstance(value, str) and len(due) == len(value) == 1:
        advice, cause = _letter(exercise, value)
    else:
        look = exercise.look.get(label if exercise.typed else "", "")
        nothing = any(part is None for part in exercise.reference)
        rtol = _room(exercise, value, due)
        advice, cause = advise(value, due, rtol, typed=exercise.typed, label=label, nothing=nothing)
        if exercise.typed and (never := impossible(exercise, value)):
            advice, cause = f"Not that number. {never}", never
        if not cause and exercise.cases is not None:
            cause = _handed_back(exercise, answers[0], value)
            advice = f"{cause} {advice}".strip()
        if not cause and look:
            advice = f"{advice} {look}"
        if not cause and first and not exercise.typed:
            label_before = got.seen[first - 1][0]
            advice += (
                f" (Before that it was right: {label_before}{'' if label_before.endswith('?') else '.'})"
            )
    return Verdict(TRY_AGAIN, f"{_what(exercise, label, shown)} {advice}".strip(), cause)


def _found(exercise: Exercise, answers: tuple, got: Observed, want: Observed, first: int) -> str:
    """The cause of a wrong answer that is not listed, the surest way to find one first; "" if there is none."""
    if told := exercise.diagnose({label: value for label, value, _shown in got.seen}):
        return told
    if not exercise.typed and (told := _one_change(exercise, answers, want)):
        return told
    if near := resembled(exercise, got, want):
        return near.advice
    numbers = isinstance(got.seen[first][1], np.ndarray) and isinstance(want.seen[first][1], np.ndarray)
    return relations.told(_tried(exercise, got, want)) if numbers and not exercise.typed else ""


def _one_change(exercise: Exercise, answers: tuple, want: Observed) -> str:
    """Where the answer goes wrong, if there is one small change after which it would be right; found within SEARCH seconds."""
    ends = time.process_time() + SEARCH
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place, answer in enumerate(answers):
            for told, changed in repair.changes(answer):
                if time.process_time() > ends:
                    return ""
                tried = observe(
                    exercise, (*answers[:place], changed, *answers[place + 1 :]), like=want, seconds=0.5
                )
                if tried.error is None and tried.whole and _first_difference(tried, want, exercise) is None:
                    return f"One small change would make it right. {told}"
    return ""


def _tried(exercise: Exercise, got: Observed, want: Observed) -> list[relations.Tried]:
    """Everything that was tried of which numbers came out, with the numbers that went in where they are known."""
    names: list[str] = []
    inputs: list[tuple] = []
    if exercise.cases is not None:
        names = list(inspect.signature(exercise.reference[0]).parameters)
        inputs = [case for case in exercise.cases() for _ in exercise.returns or (0,)]
    found = []
    for place, ((_, value, _), (_, due, _)) in enumerate(zip(got.seen, want.seen, strict=False)):
        if isinstance(value, np.ndarray) and isinstance(due, np.ndarray):
            numbers = zip(names, map(plain, inputs[place] if place < len(inputs) else ()), strict=False)
            given = {name: number for name, number in numbers if isinstance(number, np.ndarray)}
            found.append(relations.Tried(value, due, given))
    if exercise.returns:  # each of the values by itself: the first that is wrong
        count = len(exercise.returns)
        parts = [found[start::count] for start in range(count)]
        found = next((p for p in parts if not all(same(t.got, t.due, exercise.rtol) for t in p)), found)
    return found


def _handed_back(exercise: Exercise, function: Any, value: Any) -> str:
    """Told if what came out is one of the arguments, as it went in."""
    names = list(inspect.signature(exercise.reference[0]).parameters)
    for arguments in exercise.cases():
        for name, argument in zip(names, arguments, strict=True):
            if (
                isinstance(value, np.ndarray)
                and value.size > 1
                and same(value, plain(argument), exercise.rtol)
            ):
                return f"That is `{name}`, as it came in."
    return ""


def impossible(exercise: Exercise, value: Any) -> str:
    """Told if a typed number is none that can be an answer at all."""
    if not isinstance(value, np.ndarray) or value.ndim:
        return ""
    if exercise.allowed and float(value) not in exercise.allowed:
        *others, last = (f"`{number:g}`" for number in exercise.allowed)
        return f"Only {', '.join(others)} or {last} can be an answer here."
    if exercise.counts and value < 0:
        return "A count cannot be negative."
    if exercise.counts and value % 1:
        return "A count is a whole number: nothing is shared out, and nothing is averaged."
    if exercise.counts and value % exercise.counts:
        return f"Each of the things that are counted takes {exercise.counts}: only multiples of that can be an answer."
    return ""


def _letter(exercise: Exercise, value: str) -> tuple[str, str]:
    """What to say to a letter of which nothing is known."""
    if value in exercise.letters:
        return "Not that one.", ""
    told = no_such_letter(exercise, value)
    return told, told


def no_such_letter(exercise: Exercise, value: str) -> str:
    """Told of a letter that is not offered at all."""
    first, last = exercise.letters[0], exercise.letters[-1]
    return f"There is no `{value.replace('`', chr(39))}`: the letters are {first} to {last}."


def observe(
    exercise: Exercise,
    answers: tuple,
    *,
    limited: bool = True,
    like: Observed | None = None,
    seconds: float = 0.0,
) -> Observed:
    """Put the exercise's probe to the answers, within its time; with `like`, only while it sees the same as `like`."""
    observed = Observed()
    recording = True
    try:
        with time_limit(seconds or exercise.seconds) if limited else nullcontext(), minigrad.enable_grad():
            try:
                for label, value in _probe(exercise, answers):
                    observed.seen.append((label, plain(value), _shown(exercise, value)))
                    if like is not None and not _begins(observed, like, exercise):
                        break
                else:
                    observed.whole = True
            finally:
                recording = minigrad.is_grad_enabled()
    except BaseException as error:  # it is kept and told, whatever it is: exit(), an interruption, ...
        observed.error, observed.whole = error, isinstance(error, Exception)
    return observed if recording else Observed(error=Complaint(SWITCHED_OFF), whole=True)


def own(exercise: Exercise, place: int, like: Observed | None = None) -> Observed:
    """What the exercise's listed wrong answer number `place` does, or its reference (-1). It does the same each time, so it
    is looked at once, as far as it was needed."""
    kept = exercise.observed.get(place)
    if kept is None or not (
        kept.whole or _first_difference(kept, like, exercise) not in (None, len(kept.seen))
    ):
        reference = place < 0
        answers = exercise.reference if reference else as_answers(exercise, exercise.wrong[place].answer)
        kept = observe(exercise, answers, limited=not reference, like=like)
        if kept.error is not None:
            kept.error = kept.error.with_traceback(None)  # it would keep all that the probe has made
            kept.error.__context__ = None
        exercise.observed[place] = kept
    return kept


def recognise(exercise: Exercise, got: Observed) -> Wrong | None:
    """The listed wrong answer that behaves as this one."""
    for place, wrong in enumerate(exercise.wrong):
        seen = own(exercise, place, like=got)
        if _first_difference(seen, got, exercise) is None and _same_error(seen.error, got.error):
            return wrong
    return None


def resembled(exercise: Exercise, got: Observed, want: Observed) -> Wrong | None:
    """The listed wrong answer that goes wrong as this one does, for the longest.

    Code that begins as a listed answer does may do so by chance. So the two must agree in at least two observations
    that are wrong, and in half of them.
    """
    wrong_at = [
        i
        for i, seen in enumerate(got.seen[: len(want.seen)])
        if not _alike(seen[1], want.seen[i][1], exercise)
    ]
    telling = exercise.cases is None and bool(wrong_at)
    if exercise.probe is not None and not exercise.typed:  # of code, None, True and the like have many causes
        telling = telling and isinstance(got.seen[wrong_at[0]][1], np.ndarray | str)
    if not telling:
        return None
    enough = 1 if exercise.typed else max(2, (len(wrong_at) + 1) // 2)
    near, longest = None, wrong_at[min(enough, len(wrong_at)) - 1]
    for place, wrong in enumerate(exercise.wrong):
        differs = _first_difference(own(exercise, place, like=got), got, exercise)
        agrees = len(got.seen) if differs is None else differs
        if agrees > longest:
            near, longest = wrong, agrees
    return near


def _begins(one: Observed, other: Observed, exercise: Exercise) -> bool:
    """Whether what was seen of `one` so far is how `other` begins."""
    return len(one.seen) <= len(other.seen) and _alike(
        one.seen[-1][1], other.seen[len(one.seen) - 1][1], exercise
    )


def _alike(one: Any, other: Any, exercise: Exercise) -> bool:
    """Whether two observations are the same; brackets around a single number count only where shapes are the subject."""
    numbers = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    if numbers and one.size == other.size == 1 and not exercise.strict:
        one, other = one.reshape(()), other.reshape(())
    return same(one, other, _room(exercise, one, other))


def _room(exercise: Exercise, one: Any, other: Any) -> float:
    """How far apart the two may be, relative to each other. A whole number that is typed in is meant as it stands."""
    return 0.0 if exercise.typed and (whole(one) or whole(other)) else exercise.rtol


def _shown(exercise: Exercise, value: Any) -> str:
    """How an observation is written in a message; a probe's own words without quotes."""
    if exercise.probe is not None and isinstance(value, str):
        return " ".join(value.replace("`", "'").split())[:200]
    return describe(value)


def _same_error(one: BaseException | None, other: BaseException | None) -> bool:
    return type(one) is type(other) and said(one) == said(other)


def as_answers(exercise: Exercise, answer: Any) -> tuple:
    """A listed answer as `check` receives it: one value a name. A dict names the parts that differ from the reference."""
    if isinstance(answer, dict) and len(exercise.names) > 1:
        known = dict(zip(exercise.names, exercise.reference, strict=True))
        assert answer.keys() <= known.keys(), answer.keys() - known.keys()
        return tuple((known | answer).values())
    return tuple(answer) if len(exercise.names) > 1 else (answer,)


def _probe(exercise: Exercise, answers: tuple) -> Iterable[tuple[str, Any]]:
    if exercise.probe is not None:
        return exercise.probe(*answers)
    if exercise.cases is not None:
        return _calls(exercise, answers[0])
    return (
        (name, typed.read(answer, plain(wanted), exercise.words))
        for name, answer, wanted in zip(exercise.names, answers, exercise.reference, strict=True)
    )


def _calls(exercise: Exercise, function: Any) -> Iterable[tuple[str, Any]]:
    name, reference = exercise.names[0], exercise.reference[0]
    parameters = inspect.signature(reference).parameters
    for arguments, untouched in zip(exercise.cases(), exercise.cases(), strict=True):
        label = f"`{name}({', '.join(describe(argument, 40) for argument in arguments)})`"
        watch = Watch(**dict(zip(parameters, arguments, strict=False)))
        value = function(*arguments)
        if told := watch.told({VALUES, ITEMS}):  # what it gives back may be that very input
            raise Complaint(told)
        if exercise.returns and value is not None and value is not Ellipsis:
            _several(exercise, value, reference(*untouched))
            yield from (
                (f"{part} of {label}", item) for part, item in zip(exercise.returns, value, strict=True)
            )
            _leaves_alone(watch)
            continue
        wrong_type = exercise.gives and not isinstance(value, exercise.gives)
        if wrong_type and value is not None and value is not Ellipsis:
            kinds = exercise.gives if isinstance(exercise.gives, tuple) else (exercise.gives,)
            raise Complaint(
                f"It gives back {describe(value, 40)}, a `{type(value).__name__}`. An `{kinds[0].__name__}` is wanted: "
                "whoever calls it goes on computing with what comes back."
            )
        yield label, value
        _leaves_alone(watch)
    exercise.besides(function)


def _leaves_alone(watch: Watch) -> None:
    if told := watch.told():
        raise Complaint(told)


def _several(exercise: Exercise, value: Any, right: tuple) -> None:
    """A Complaint, unless `value` holds as many values as the function is to give back, and none of them is None."""
    count = len(exercise.returns)
    giving = f"{count} are wanted: `return {', '.join(exercise.returns)}`."
    if not isinstance(value, tuple | list):
        for part, due in zip(exercise.returns, right, strict=True):
            if same(plain(value), plain(due), exercise.rtol):
                raise Complaint(f"That is `{part}`, and right. But {giving}")
        what = "a dictionary" if isinstance(value, dict) else "one value"
        raise Complaint(f"It gives back {what}, `{describe(value, 40).replace('`', chr(39))}`. {giving}")
    if len(value) != count:
        raise Complaint(f"It gives back {len(value)} value{'s' * (len(value) != 1)}. {giving}")
    for part, item in zip(exercise.returns, value, strict=True):
        if item is None:
            raise Complaint(
                f"`{part}` is `None`. That would say that nobody asked for it. Here both inputs ask, so each gets its gradient."
            )


def _not_callable(exercise: Exercise, answers: tuple) -> str:
    """What is wrong if a function or class is wanted and something else came, or one that takes other arguments."""
    for name, answer, wanted in zip(exercise.names, answers, exercise.reference, strict=True):
        if isinstance(wanted, type):
            if not isinstance(answer, type):
                return f"`{name}` is {describe(answer, 40)}, not a class. Hand over `{name}` itself: no brackets behind it."
        elif callable(wanted):
            call = f"{name}{inspect.signature(wanted)}"
            if not callable(answer):
                return (
                    f"`{name}` is {describe(answer, 40)}, not a function. Begin with `def {call}:`, and hand over "
                    f"`{name}` itself, without calling it."
                )
            try:
                signature = inspect.signature(answer)
            except Exception:  # some built-in functions do not tell; calling them will
                continue
            try:
                signature.bind(*inspect.signature(wanted).parameters)
            except TypeError:
                return f"It is to be called as `{call}`, and yours is `{name}{signature}`."
    return ""


def _forbidden(exercise: Exercise, answers: tuple) -> str:
    """What to say of a right answer that was found in a way that the exercise rules out."""
    if exercise.without is None:
        return ""
    names, told = exercise.without
    return told if any(uses(answer).keys() & set(names) for answer in answers) else ""


def _missing(exercise: Exercise, answers: tuple) -> str:
    wanted = ", ".join(exercise.names)
    if not answers:
        return f'Hand over what you made: `check("{exercise.id}", {wanted})`.'
    if len(answers) != len(exercise.names):
        return f'{len(exercise.names)} answers are wanted: `check("{exercise.id}", {wanted})`.'
    empty = [
        name
        for name, answer in zip(exercise.names, answers, strict=True)
        if blank(plain(answer)) or _stub(answer)
    ]
    if not empty:
        return ""
    if len(exercise.names) == 1:
        return f"Write your answer in the place of the `...` in `{empty[0]}` and run the cell again."
    return f"Still to do: {', '.join(f'`{name}`' for name in empty)}."


def _stub(answer: Any) -> bool:
    """Whether a function, or a method of a class, has nothing in its body but `...`, `pass` or a docstring."""
    if isinstance(answer, type):
        methods = [inspect.unwrap(getattr(part, "__func__", part)) for part in vars(answer).values()]
        return any(_stub(method) for method in methods if isinstance(method, FunctionType))
    if not isinstance(answer, FunctionType):
        return False
    quiet = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
    return all(
        step.opname in quiet
        and (step.opname not in {"LOAD_CONST", "RETURN_CONST"} or step.argval in (None, Ellipsis))
        for step in dis.get_instructions(answer.__code__)
    )


def _unfinished(got: Observed, answers: tuple) -> bool:
    """Whether a half-filled function met one of its `...`."""
    if got.error is not None:
        codes = [answer.__code__ for answer in answers if isinstance(answer, FunctionType)]
        return "ellipsis" in said(got.error).casefold() and (
            not codes or any(Ellipsis in code.co_consts for code in codes)
        )
    return any(blank(value) for _, value, _ in got.seen)


def _first_difference(one: Observed, other: Observed, exercise: Exercise) -> int | None:
    """The position at which the two first differ: in a value, or in one of them having stopped."""
    for index, (a, b) in enumerate(zip(one.seen, other.seen, strict=False)):
        if not _alike(a[1], b[1], exercise):
            return index
    return None if len(one.seen) == len(other.seen) else min(len(one.seen), len(other.seen))


def _told(error: BaseException, exercise: Exercise) -> tuple[str, str]:
    if isinstance(error, OutOfTime):
        return RAISED, (
            f"It was stopped after {exercise.seconds:g} seconds. Does a loop never end? Look at the condition of each "
            "`while`: what in the loop changes it? And does a function call itself?"
        )
    if isinstance(error, KeyboardInterrupt):
        return NOT_YET, "You stopped it. Run the cell again when you like."
    return RAISED, in_plain_words(error)


def _what(exercise: Exercise, label: str, shown: str) -> str:
    if exercise.cases is not None:
        return f"{label} is `{shown}`."
    if exercise.probe is not None:
        return f"{label} `{shown}`." if label[-1:] in "?,:" else f"{label}: `{shown}`."
    return f"`{label}` = `{shown}`." if len(exercise.names) > 1 else ""
