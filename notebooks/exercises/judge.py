"""Judge an answer, whatever it is. A learner's code runs only here, and in `where` of lesson 07 (workbench.py)."""

from __future__ import annotations

import dis
import inspect
import io
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

import minigrad

from . import answers as reading
from . import options, relations, repair
from .afterwards import LARGE, SMALL, as_it_was
from .blame import in_plain_words, meaning, message_of
from .bytecode import has_blank, unread, uses, values_of_the_notebook
from .limits import OutOfTime, time_limit
from .model import Complaint, Exercise, Wrong
from .replies import say
from .side_effects import ITEMS, VALUES, Watch
from .symptoms import advise
from .values import blank, describe, plain, same

SEARCH = 2.5, 0.5  # seconds to search for one change that would repair the answer, and for two
NOT_YET, TRY_AGAIN, RAISED, CORRECT = "not yet", "try again", "your code raised", "correct"


class Verdict(NamedTuple):
    """What `check` says. `cause` is the recognised mistake, in the words of the reply; "" if none was recognised."""

    state: str
    message: str
    cause: str = ""


@dataclass
class Observed:
    """What a probe saw, as far as it got: (label, plain value, the value as the learner would see it). `whole` if it got
    to its end, or to an error that would occur again."""

    seen: list[tuple[str, Any, str]] = field(default_factory=list)
    error: BaseException | None = None
    whole: bool = False


def judge(exercise: Exercise, answers: tuple) -> Verdict:
    """The verdict on the answers to one exercise. Changes that they make to the process are undone."""
    if all(map(_inert, answers)) and (_only_read(exercise) or any(map(callable, exercise.reference))):
        return _judge(exercise, answers)
    with as_it_was(LARGE + SMALL):
        return _judge(exercise, answers)


def _only_read(exercise: Exercise) -> bool:
    """Whether an answer to this exercise is read and compared, and nothing is run."""
    return exercise.probe is None and exercise.cases is None


def _inert(value: Any) -> bool:
    """Whether a value can be read without running the learner's code: numbers and words, in lists or not."""
    if type(value) in (list, tuple):
        return all(map(_inert, value))
    return value is None or value is ... or type(value) in (bool, int, float, complex, str)


def _judge(exercise: Exercise, answers: tuple) -> Verdict:
    missing = _missing(exercise, answers)
    if missing:
        return Verdict(NOT_YET, missing)
    if strange := _not_callable(exercise, answers):
        return Verdict(TRY_AGAIN, strange, strange)
    half_filled = any(map(has_blank, answers))
    got = observe(exercise, answers, seconds=0.5 if half_filled else 0.0)
    want = own(exercise, -1)
    if want.error is not None:  # a mistake of ours: the lesson's own tests must see it
        raise want.error
    first = _first_difference(got, want, exercise)
    if exercise.typed:
        first = _first_known_mistake(exercise, got, want, first)
    if first is None and got.error is None:
        if forbidden := _forbidden(exercise, answers):
            return Verdict(TRY_AGAIN, forbidden, forbidden)
        return Verdict(CORRECT, f"{exercise.shows}{_remarks(exercise, answers)}")
    if half_filled or any(blank(value) for _, value, _ in got.seen) or _of_a_blank(got.error, answers):
        return Verdict(NOT_YET, say("blank left"))
    before = first is not None and first < len(got.seen)  # something was wrong already when it stopped
    not_handed = _of_the_notebook(exercise, answers)
    if isinstance(got.error, Complaint) and not before:
        text = not_handed or str(got.error)
        return Verdict(TRY_AGAIN, text, text)
    known = Wrong(None, not_handed) if not_handed else recognise(exercise, got, want)
    if got.error is not None and not before:
        known = known or resembled(exercise, got, want)
        state, text = _told(got.error, exercise)
        cause = known.advice if known else ""
        if not cause and not exercise.typed and isinstance(got.error, Exception):
            cause = _one_change(exercise, answers, want) or _two_changes(exercise, answers, want)
        if cause:
            return Verdict(state, f"{text}\n\n{cause}", cause)
        return Verdict(state, text, meaning(got.error) or type(got.error).__name__)
    assert first is not None
    if first == len(got.seen):
        # the probe could go no further: these are the right values, as a plain number or an array
        label, _value, shown = got.seen[-1]
        text = known.advice if known else say("not a tensor")
        return Verdict(TRY_AGAIN, f"{_what(exercise, label, shown)} {text}".strip(), text)
    label, value, shown = got.seen[first]
    text = known.advice if known else _found(exercise, answers, got, want, first)
    if text:
        return Verdict(TRY_AGAIN, f"{_what(exercise, label, shown)} {text}".strip(), text)
    due = want.seen[first][1]
    if isinstance(value, str) and not isinstance(due, str):
        shown = repr(value)  # 'None' is not None
    if exercise.typed and isinstance(due, str) and isinstance(value, str) and len(due) == len(value) == 1:
        advice, cause = _letter(exercise, value)
    else:
        look = exercise.look_again(label)
        nothing = any(part is None for part in exercise.reference)
        advice, cause = advise(value, due, exercise.rtol, typed=exercise.typed, label=label, nothing=nothing)
        if exercise.typed and (never := impossible(exercise, value)):
            advice, cause = f"{say('no')} {never}", never
        if exercise.typed and isinstance(value, str) and not isinstance(due, str):
            advice = f"{advice} {possible(exercise)}".strip()
        if not cause and look:
            advice = f"{advice} {look}"
        if not cause and first and not exercise.typed:
            label_before = got.seen[first - 1][0]
            advice += f" {say('right so far', label=label_before + '.' * (not label_before.endswith('?')))}"
    return Verdict(TRY_AGAIN, f"{_what(exercise, label, shown)} {advice}".strip(), cause)


def _first_known_mistake(exercise: Exercise, got: Observed, want: Observed, first: int | None) -> int | None:
    """The first place that is wrong. A right answer, rounded, that is also exactly a known mistake counts as wrong."""
    for place, ((_, value, _), (_, due, _)) in enumerate(zip(got.seen[:first], want.seen, strict=False)):
        if not same(value, due, 0.0):
            for number in range(len(exercise.wrong)):
                listed = own(exercise, number).seen
                if len(listed) > place and same(listed[place][1], value, 0.0):
                    return place
    return first


def _remarks(exercise: Exercise, answers: tuple) -> str:
    """Remarks added to the praise when typed lists have a bracket too few or too many."""
    if not exercise.typed or exercise.probe is not None:
        return ""
    pairs = zip(answers, exercise.reference, strict=True)
    return "".join(f"\n\n{text}" for answer, due in pairs if (text := reading.remark(answer, plain(due))))


def _of_the_notebook(exercise: Exercise, answers: tuple) -> str:
    """The reply to a function that reads a value of the notebook instead of an argument, which it never reads."""
    for answer, due in zip(answers, exercise.reference, strict=True):
        if not (isinstance(answer, FunctionType) and isinstance(due, FunctionType)):
            continue
        names = values_of_the_notebook(answer)
        kinds = minigrad.Tensor | np.ndarray
        tensors = [name for name in names if isinstance(answer.__globals__[name], kinds)]
        left = _left_unread(answer, due)
        if found := names if left else tensors:
            key = "not yours" if left else "not handed over"
            return say(key, name=found[0], unread="`, `".join(left))
    return ""


def _left_unread(answer: Any, due: Any) -> list[str]:
    """The parameters that a function never reads, though the solution reads them."""
    if not (isinstance(answer, FunctionType) and isinstance(due, FunctionType)):
        return []
    yours, ours = (list(inspect.signature(function).parameters) for function in (answer, due))
    not_needed = {ours.index(name) for name in unread(due)}
    return [name for name in unread(answer) if yours.index(name) not in not_needed]


def _found(exercise: Exercise, answers: tuple, got: Observed, want: Observed, first: int) -> str:
    """The cause of a wrong answer that is not listed; the most reliable ways to find it come first. "" if there is none."""
    seen = {label: value for label, value, _shown in got.seen}
    if text := exercise.diagnose(seen):
        return text
    if exercise.typed:
        return ""
    one, due = got.seen[first][1], want.seen[first][1]
    numbers = isinstance(one, np.ndarray) and isinstance(due, np.ndarray)
    tried = _tried(exercise, got, want) if numbers else []
    if text := next(relations.nearly(tried), ""):
        return text
    left = [name for pair in zip(answers, exercise.reference, strict=True) for name in _left_unread(*pair)]
    if left and numbers and one.shape == due.shape and np.isfinite(one).all():  # else other causes say more
        return say("never read", unread="`, `".join(left))
    if text := _one_change(exercise, answers, want) or _two_listed(exercise, got):
        return text
    if text := _two_changes(exercise, answers, want) or _in_one_method(exercise, answers, want):
        return text
    if near := resembled(exercise, got, want):
        return near.advice
    return (relations.relation_in(tried) or exercise.otherwise(seen)) if numbers else ""


@contextmanager
def _quietly() -> Iterator[None]:
    """For further tries: hide output and warnings, which were shown when the answer first ran."""
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@_quietly()
def _in_one_method(exercise: Exercise, answers: tuple, want: Observed) -> str:
    """The reply to a class with one wrong method. With the solution's method instead, it is right or makes a listed mistake."""
    for answer, due in zip(answers, exercise.reference, strict=True):
        names = [name for name in vars(due) if name in vars(answer)] if isinstance(due, type) else []
        methods = [name for name in names if callable(getattr(due, name))]
        for name in methods if len(methods) > 1 else ():  # if there is only one, this says nothing
            written = vars(answer)[name]
            setattr(answer, name, vars(due)[name])
            try:
                got = observe(exercise, answers, seconds=0.5)
            finally:
                setattr(answer, name, written)
            if got.error is None and _first_difference(got, want, exercise) is None:
                return f"The mistake is in `{name}`. Everything else is right."
            if got.error is None and (rest := recognise(exercise, got, want)):
                return f"Two things are wrong. One is in `{name}`. The other: {rest.advice}"
    return ""


@_quietly()
def _two_listed(exercise: Exercise, got: Observed) -> str:
    """The replies to two listed mistakes that together do what this answer does; "" if no two are found in time."""
    ends = time.process_time() + SEARCH[1]
    for answer, text in exercise.pairs() if len(got.seen) > 1 else ():
        if time.process_time() > ends:
            break
        tried = observe(exercise, as_answers(exercise, answer), like=got, seconds=0.5)
        if _first_difference(tried, got, exercise) is None and _same_error(tried.error, got.error):
            return f"Two things are wrong. {text}"
    return ""


def _one_change(exercise: Exercise, answers: tuple, want: Observed) -> str:
    """Where the answer goes wrong, if one small change would make it right."""
    text = _mended(exercise, answers, want, repair.changes, SEARCH[0])
    return text and f"One small change would make it right. {text}"


def _two_changes(exercise: Exercise, answers: tuple, want: Observed) -> str:
    """The first of two small changes that would make a very short answer right."""
    text = _mended(exercise, answers, want, repair.pairs, SEARCH[1])
    return text and f"Two small changes would make it right; here is the first. {text}"


@_quietly()
def _mended(exercise: Exercise, answers: tuple, want: Observed, search: Callable, seconds: float) -> str:
    """The reply about the first change that makes the answer right, if a search finds one in this many seconds."""
    ends = time.process_time() + seconds
    for place, answer in enumerate(answers):
        for text, changed in search(answer):
            if time.process_time() > ends:
                return ""
            others = (*answers[:place], changed, *answers[place + 1 :])
            tried = observe(exercise, others, like=want, seconds=0.5)
            if tried.error is None and tried.whole and _first_difference(tried, want, exercise) is None:
                return text
    return ""


def _tried(exercise: Exercise, got: Observed, want: Observed) -> list[relations.Tried]:
    """Every try that returned numbers, with the numbers that went in where they are known."""
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
    if exercise.returns:  # each value separately, for the first that is wrong
        count = len(exercise.returns)
        parts = [found[start::count] for start in range(count)]
        found = next((p for p in parts if not all(same(t.got, t.due, exercise.rtol) for t in p)), found)
    return found


def possible(exercise: Exercise) -> str:
    """The only numbers that can be an answer, in a sentence; "" where they are not restricted."""
    *others, last = (f"`{number:g}`" for number in exercise.allowed or (0,))
    return say("allowed", numbers=f"{', '.join(others)} or {last}") if others else ""


def impossible(exercise: Exercise, value: Any) -> str:
    """The reply to a typed number that cannot be an answer at all."""
    if not isinstance(value, np.ndarray) or value.ndim:
        return ""
    if exercise.allowed and float(value) not in exercise.allowed:
        return possible(exercise)
    if exercise.counts and value < 0:
        return say("negative count")
    if exercise.counts and value % 1:
        return say("whole count")
    if exercise.counts and value % exercise.counts:
        return say("multiple", unit=exercise.counts)
    return ""


def _letter(exercise: Exercise, value: str) -> tuple[str, str]:
    """The reply to a letter that nothing is known about."""
    if value in exercise.letters:
        return say("no"), ""
    text = no_such_letter(exercise, value)
    return text, text


def no_such_letter(exercise: Exercise, value: str) -> str:
    """The reply to a letter that is not among the options."""
    first, last = exercise.letters[0], exercise.letters[-1]
    return say("no such letter", letter=value.replace("`", "'"), first=first, last=last)


def observe(
    exercise: Exercise,
    answers: tuple,
    *,
    limited: bool = True,
    like: Observed | None = None,
    seconds: float = 0.0,
) -> Observed:
    """Run the exercise's probe on the answers, within its time limit; with `like`, only while it sees the same as `like`."""
    observed = Observed()
    recording = True
    try:
        with _apart(exercise, answers, (seconds or exercise.seconds) * limited):
            try:
                for label, value in _probe(exercise, answers):
                    shown = "" if like else _shown(exercise, value)  # only for the learner's own
                    observed.seen.append((label, plain(value), shown))
                    if like is not None and not _begins(observed, like, exercise):
                        break
                else:
                    observed.whole = True
            finally:
                recording = minigrad.is_grad_enabled() and not minigrad.is_inference_mode_enabled()
    except BaseException as error:  # any exception is kept and reported: exit(), an interruption, ...
        observed.error, observed.whole = error, isinstance(error, Exception)
    return observed if recording else Observed(error=Complaint(say("switched off")), whole=True)


@contextmanager
def _apart(exercise: Exercise, answers: tuple, seconds: float) -> Iterator[None]:
    """Run the block for at most this many seconds (0 is no limit), with operations recorded, and undo what it changes."""
    if _only_read(exercise) and all(map(_inert, answers)):
        yield
        return
    limit = time_limit(seconds) if seconds else nullcontext()
    with as_it_was(SMALL), limit, minigrad.inference_mode(False), minigrad.enable_grad():
        yield


def own(exercise: Exercise, place: int, like: Observed | None = None) -> Observed:
    """What the exercise's listed wrong answer number `place` does, or its reference (-1). The result is always the same, so it
    is observed only once, and only as far as needed."""
    kept = exercise.observed.get(place)
    if kept is None or not (
        kept.whole or (like and _first_difference(like, kept, exercise) not in (None, len(kept.seen)))
    ):
        reference = place < 0
        answers = exercise.reference if reference else as_answers(exercise, exercise.wrong[place].answer)
        kept = observe(exercise, answers, limited=not reference, like=like)
        if kept.error is not None:
            kept.error = kept.error.with_traceback(None)  # it would keep alive all that the probe made
            kept.error.__context__ = None
        exercise.observed[place] = kept
    return kept


def recognise(exercise: Exercise, got: Observed, want: Observed) -> Wrong | None:
    """The listed wrong answer that behaves like this one; for typed answers, failing that, the first with the same mistake."""
    first = _first_difference(got, want, exercise)
    telling = exercise.typed and first is not None and first < len(got.seen)
    best, least = None, 9
    for place, wrong in enumerate(exercise.wrong):
        seen = own(exercise, place, like=got)
        differs = _first_difference(got, seen, exercise)
        if differs is None and _same_error(seen.error, got.error):
            rank = 0
        elif telling and (differs is None or differs > first):
            rank = 2
        else:
            continue
        if exercise.typed and not _exactly(got, seen):  # the number itself before one that is rounded to it
            rank += 1
        if rank < least:
            best, least = wrong, rank
        if rank == 0:
            break
    return best


def resembled(exercise: Exercise, got: Observed, want: Observed) -> Wrong | None:
    """The listed wrong answer that goes wrong in the same way as this one for the longest.

    Code may behave like a listed answer at first by chance. So the two must agree in at least two observations that are
    wrong, and in half of them.
    """
    seen = enumerate(zip(got.seen, want.seen, strict=False))
    wrong_at = [place for place, (one, due) in seen if not _alike(one[1], due[1], exercise)]
    if exercise.typed or exercise.cases is not None or not wrong_at:
        return None
    if not isinstance(got.seen[wrong_at[0]][1], np.ndarray | str):  # None, True and the like have many causes
        return None
    enough = max(2, (len(wrong_at) + 1) // 2)
    near, longest = None, wrong_at[min(enough, len(wrong_at)) - 1]
    for place, wrong in enumerate(exercise.wrong):
        differs = _first_difference(got, own(exercise, place, like=got), exercise)
        agrees = len(got.seen) if differs is None else differs
        if agrees > longest:
            near, longest = wrong, agrees
    return near


def _exactly(got: Observed, listed: Observed) -> bool:
    """Whether everything observed of both has the same value, without rounding."""
    return all(same(one[1], other[1], 0.0) for one, other in zip(got.seen, listed.seen, strict=False))


def _begins(one: Observed, other: Observed, exercise: Exercise) -> bool:
    """Whether `other`, the learner's answer, begins with what has been observed of `one` so far."""
    last = len(one.seen) - 1
    return last < len(other.seen) and _alike(other.seen[last][1], one.seen[last][1], exercise)


def _alike(got: Any, due: Any, exercise: Exercise) -> bool:
    """Whether an observation of the learner's answer is as expected; brackets around a single number matter only where the
    exercise is about shapes, and what was typed in may be rounded."""
    numbers = isinstance(got, np.ndarray) and isinstance(due, np.ndarray)
    if numbers and got.size == due.size == 1 and not exercise.strict:
        got, due = got.reshape(()), due.reshape(())
    return reading.alike(got, due, exercise.rtol) if exercise.typed else same(got, due, exercise.rtol)


def _shown(exercise: Exercise, value: Any) -> str:
    """An observation as a message shows it; a probe's own words have no quotes."""
    if exercise.probe is not None and isinstance(value, str):
        return " ".join(value.replace("`", "'").split())[:200]
    return describe(value)


def _same_error(one: BaseException | None, other: BaseException | None) -> bool:
    return type(one) is type(other) and message_of(one) == message_of(other)


def as_answers(exercise: Exercise, answer: Any) -> tuple:
    """A listed answer as `check` receives it: one value per name. A dict names the parts that differ from the reference."""
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
        (
            name,
            reading.read(answer, plain(wanted), exercise.words, options.of(exercise.id), exercise.counts > 0),
        )
        for name, answer, wanted in zip(exercise.names, answers, exercise.reference, strict=True)
    )


def _calls(exercise: Exercise, function: Any) -> Iterable[tuple[str, Any]]:
    parameters = inspect.signature(exercise.reference[0]).parameters
    for arguments, (label, due) in zip(exercise.cases(), exercise.calls, strict=True):
        watch = Watch(**dict(zip(parameters, arguments, strict=False)))
        value = function(*arguments)
        watch.complain({VALUES, ITEMS})  # it may return that very input
        if exercise.returns and value is not None:
            _several(exercise, value, due)
            parts = zip(exercise.returns, value, strict=True)
            yield from ((f"{part} of {label}", item) for part, item in parts)
            watch.complain()
            continue
        wrong_type = exercise.gives and not isinstance(value, exercise.gives)
        if wrong_type and value is not None:
            kinds = exercise.gives if isinstance(exercise.gives, tuple) else (exercise.gives,)
            want = kinds[0].__name__
            article = "an" if want.startswith(("a", "e", "i", "o", "u", "nd")) else "a"
            got = type(value).__name__
            raise Complaint(say("type", what=describe(value, 40), got=got, article=article, want=want))
        yield label, value
        watch.complain()
    exercise.besides(function)


def _several(exercise: Exercise, value: Any, right: tuple) -> None:
    """A Complaint, unless `value` holds as many values as the function should return, and none of them is None."""
    count = len(exercise.returns)
    key = "return several" if all(map(str.isidentifier, exercise.returns)) else "return these"
    several = say(key, count=count, names=", ".join(exercise.returns))
    if not isinstance(value, tuple | list):
        for part, due in zip(exercise.returns, right, strict=True):
            if same(plain(value), plain(due), exercise.rtol):
                raise Complaint(say("one of several", name=part, several=several))
        what, shown = "a dictionary" if isinstance(value, dict) else "one value", describe(value, 40)
        raise Complaint(say("returns one", what=what, value=shown.replace("`", "'"), several=several))
    if len(value) != count:
        returned = f"{len(value)} value{'s' * (len(value) != 1)}"
        raise Complaint(say("returns some", count=returned, several=several))
    for part, item in zip(exercise.returns, value, strict=True):
        if item is None:
            raise Complaint(say("part is None", name=part))
    seen, due = [[plain(item) for item in items] for items in (value, right)]
    orders = [[same(one, other, exercise.rtol) for other in due] for one in seen]
    others = [order.index(True) for order in orders if sum(order) == 1]
    if sorted(others) == [*range(count)] and others != [*range(count)]:
        raise Complaint(say("order of several", several=several))


def _not_callable(exercise: Exercise, answers: tuple) -> str:
    """The reply to something that should be a function or class but is not, or that takes the wrong arguments."""
    for name, answer, wanted in zip(exercise.names, answers, exercise.reference, strict=True):
        if isinstance(wanted, type):
            if not isinstance(answer, type):
                return say("not a class", name=name, what=describe(answer, 40))
        elif callable(wanted):
            call = f"{name}{inspect.signature(wanted)}"
            if not callable(answer):
                return say("not a function", name=name, what=describe(answer, 40), call=call)
            try:
                signature = inspect.signature(answer)
            except Exception:  # some built-in functions do not say; calling them will show
                continue
            try:
                signature.bind(*inspect.signature(wanted).parameters)
            except TypeError:
                return say("signature", name=name, call=call, yours=f"{name}{signature}")
    return ""


def _forbidden(exercise: Exercise, answers: tuple) -> str:
    """The reply to a right answer that was found in a way that the exercise rules out."""
    if exercise.without is None:
        return ""
    names, text = exercise.without
    return text if any(uses(answer).keys() & set(names) for answer in answers) else ""


def _missing(exercise: Exercise, answers: tuple) -> str:
    names = ", ".join(exercise.names)
    if not answers:
        return say("no answer", id=exercise.id, names=names)
    if len(answers) != len(exercise.names):
        return say("answers", count=len(exercise.names), id=exercise.id, names=names)
    given = zip(exercise.names, answers, strict=True)
    empty = [name for name, answer in given if blank(plain(answer)) or _stub(answer)]
    if not empty:
        return ""
    if len(exercise.names) == 1:
        return say("blank", name=empty[0])
    return say("blanks", names=", ".join(f"`{name}`" for name in empty))


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


def _of_a_blank(error: BaseException | None, answers: tuple) -> bool:
    """Whether an error comes from a `...` among answers that are not code."""
    codes = any(isinstance(answer, FunctionType | type) for answer in answers)
    return error is not None and not codes and "ellipsis" in message_of(error).casefold()


def _first_difference(one: Observed, other: Observed, exercise: Exercise) -> int | None:
    """The position at which the two first differ: in a value, or where one of them stopped."""
    for index, (a, b) in enumerate(zip(one.seen, other.seen, strict=False)):
        if not _alike(a[1], b[1], exercise):
            return index
    return None if len(one.seen) == len(other.seen) else min(len(one.seen), len(other.seen))


def _told(error: BaseException, exercise: Exercise) -> tuple[str, str]:
    if isinstance(error, OutOfTime):
        return RAISED, say("out of time", seconds=f"{exercise.seconds:g}")
    if isinstance(error, KeyboardInterrupt):
        return NOT_YET, say("stopped by you")
    return RAISED, in_plain_words(error)


def _what(exercise: Exercise, label: str, shown: str) -> str:
    if exercise.cases is not None:
        return f"{label} is `{shown}`."
    if exercise.probe is not None:
        return f"{label} `{shown}`." if label[-1:] in "?,:" else f"{label}: `{shown}`."
    return f"`{label}` = `{shown}`." if len(exercise.names) > 1 else ""
