"""How wrong numbers are related to the right ones, over all tries: the cause of a mistake that is not listed.

A relation counts only if it holds each time, for numbers that differ: always three times too large, a factor `x` too many,
right where `x` is positive, one of the arguments unchanged.
For code only: a ratio would give away the right typed answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

Arrays = Mapping[str, np.ndarray]


class Tried(NamedTuple):
    """One thing that was tried: what came out, what should have, and the numbers that went in, by parameter name."""

    got: np.ndarray
    due: np.ndarray
    given: Arrays = {}  # noqa: RUF012  (it is never written to)


def relation_in(tried: Sequence[Tried]) -> str:
    """The relation that holds in everything that was tried, as a sentence or two; "" if none does."""
    if all(_near(one.got, one.due) for one in tried):
        return ""
    with np.errstate(all="ignore"):
        return next((sentence for look in LOOKS for sentence in look(tried)), "")


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    one, other = np.asarray(one, float), np.asarray(other, float)
    if one.shape != other.shape or not (np.isfinite(one).all() and np.isfinite(other).all()):
        return False
    return bool(np.allclose(one, other, rtol=1e-3, atol=1e-6 * max(1.0, np.abs(other).max(initial=0.0))))


def _always(tried: Sequence[Tried], made: Callable[[Tried], np.ndarray]) -> bool:
    """Whether `made` gives the result of each try: for at least two numbers, not all of them equal."""
    try:
        wanted = [np.asarray(made(one), float) for one in tried]
    except (TypeError, ValueError, IndexError, KeyError):
        return False
    numbers = np.concatenate([number.ravel() for number in wanted]) if wanted else np.zeros(0)
    varied = numbers.size > 1 and np.ptp(numbers) > 1e-6
    return bool(varied) and all(_near(one.got, number) for one, number in zip(tried, wanted, strict=True))


def _names(tried: Sequence[Tried]) -> list[str]:
    return [name for name in tried[0].given if all(name in one.given for one in tried)] if tried else []


def _sign_or_size(tried: Sequence[Tried]) -> Iterator[str]:
    if _always(tried, lambda one: -one.due):
        yield "The size is right each time, the sign is not."
    if _always(tried, lambda one: abs(one.due)):
        yield (
            "The sizes are right, but negative results have lost their sign. Is there an `abs`, a square or a root too many?"
        )
    if _always(tried, lambda one: -abs(one.due)):
        yield "The sizes are right, but every result is negative. Is there an `abs` too many?"
    if len(tried) > 1 and all(not one.got.any() for one in tried) and any(one.due.any() for one in tried):
        yield "It is 0 each time. Is something multiplied by 0, or is what you computed never used?"
    if _always(tried, lambda one: np.maximum(one.due, 0)):
        yield "What should be negative is 0. Something cuts it off: a `relu`, a `clamp` or a `max`."


def _unmoved(tried: Sequence[Tried]) -> Iterator[str]:
    first = tried[0].got if tried else np.zeros(0)
    alike = all(one.got.shape == first.shape and _near(one.got, first) for one in tried)
    if (
        len(tried) > 2
        and first.size == 1
        and alike
        and not all(_near(one.due, tried[0].due) for one in tried)
    ):
        yield (
            f"The same number comes out each time, {float(first.ravel()[0]):g}, whatever goes in. The input is not used."
        )


def _argument(tried: Sequence[Tried]) -> Iterator[str]:
    """The result is an argument, or a well-known function of one."""
    functions: list[tuple[str, Callable[[np.ndarray], np.ndarray]]] = [
        ("`{}` as it came in", lambda x: x),
        ("`{}` with its sign flipped", lambda x: -x),
        ("`{}` squared", lambda x: x * x),
        ("`{}` doubled", lambda x: 2 * x),
        ("the sum of `{}`", np.sum),
        ("the mean of `{}`", np.mean),
        ("the tanh of `{}`", np.tanh),
        ("the sigmoid of `{}`", lambda x: 1 / (1 + np.exp(-x))),
        ("the exponential of `{}`", np.exp),
        ("the sine of `{}`", np.sin),
        ("the cosine of `{}`", np.cos),
    ]
    for name in _names(tried):
        for words, function in functions:
            if _always(tried, lambda one, f=function, name=name: f(one.given[name])):
                yield f"That is {words.format(name)}. What still has to be done with it?"


def _factor(tried: Sequence[Tried]) -> Iterator[str]:
    """An argument, or the number of entries, occurs as a factor or a term once too often, or is missing."""
    for name in _names(tried):
        if _always(tried, lambda one, name=name: one.due * one.given[name]):
            yield f"Each result is multiplied by `{name}` once too often."
        if _always(tried, lambda one, name=name: one.due / one.given[name]):
            yield f"The factor `{name}` is missing, or you divide by it once too often."
        if _always(tried, lambda one, name=name: one.due + one.given[name]):
            yield f"Each result has `{name}` added to it. That is one term too many."
        if _always(tried, lambda one, name=name: one.due - one.given[name]):
            yield f"The term `{name}` is missing, or you subtract it once too often."
    if _always(tried, lambda one: one.due**2):
        yield "Each result is the square of what it should be."
    if _always(tried, lambda one: np.sqrt(one.due)):
        yield "Each result is the square root of what it should be."
    counted = [(one.due.size, one.due.shape) for one in tried]
    if len({size for size, _ in counted}) > 1:
        if _always(tried, lambda one: one.due * one.due.size):
            yield "Each result is too large by a factor of the number of entries. Is a division missing, or a `mean`?"
        if _always(tried, lambda one: one.due / one.due.size):
            yield (
                "Each result is too small by a factor of the number of entries. Is it divided by their number once too often?"
            )


def nearly(tried: Sequence[Tried]) -> Iterator[str]:
    """Right to within three hundredths of the largest entry."""
    alike = all(one.got.shape == one.due.shape and np.isfinite(one.got).all() for one in tried)
    counts = all(np.array_equal(number, np.round(number)) for one in tried for number in (one.got, one.due))
    if not alike or counts or not tried:
        return
    off = [
        abs(one.got - one.due).max(initial=0.0) / max(abs(one.due).max(initial=0.0), 1e-12) for one in tried
    ]
    if max(off) < 0.03:
        yield (
            "Close, but not exact. Was something rounded, is a small number such as `1e-6` added where it changes "
            "the result, or does it use a finite difference?"
        )


def _amount(tried: Sequence[Tried]) -> Iterator[str]:
    """Always wrong by the same factor or by the same amount."""
    usable = [
        (one.got[abs(one.due) > 1e-9], one.due[abs(one.due) > 1e-9])
        for one in tried
        if one.got.shape == one.due.shape
    ]
    numbers = [got / due for got, due in usable if due.size]
    ratios = np.concatenate(numbers) if numbers else np.zeros(0)
    if (
        len(usable) == len(tried)
        and ratios.size > 1
        and np.ptp(ratios) < 2e-3 * abs(ratios[0])
        and abs(ratios[0]) > 1e-9
        and abs(ratios[0] - 1) > 0.02
    ):
        ratio = float(ratios[0])
        how = (
            f"{ratio:g} times what it should be"
            if abs(ratio) > 1
            else f"1/{1 / ratio:g} of what it should be"
        )
        yield (
            f"Each result is {how}. There is a factor too many, or one is missing: look at the plain numbers in your code, "
            "and at what is done twice."
        )
    apart = [(one.got - one.due).ravel() for one in tried if one.got.shape == one.due.shape]
    gaps = np.concatenate(apart) if apart else np.zeros(0)
    if (
        len(apart) == len(tried)
        and gaps.size > 1
        and np.ptp(gaps) < 1e-4 * max(1.0, abs(gaps[0]))
        and abs(gaps[0]) > 1e-6
    ):
        more = "large" if gaps[0] > 0 else "small"
        yield (
            f"Each result is too {more} by the same number, {abs(gaps[0]):g}. Something is added or subtracted "
            "once too often, or a sum does not begin at 0."
        )


def _shape(tried: Sequence[Tried]) -> Iterator[str]:
    reduced: list[tuple[str, Callable[..., np.ndarray]]] = [
        ("sum", np.sum),
        ("mean", np.mean),
        ("largest entry", np.max),
    ]
    for words, function in reduced:
        if _always(tried, lambda one, f=function: f(one.due)):
            yield f"That is the {words} of what it should be: one step too many. Each entry is needed on its own."
        for axis in (0, 1):
            if _always(tried, lambda one, f=function, axis=axis: f(one.due, axis=axis)):
                yield f"That is the {words} of what it should be, over axis {axis}: one step too many."
    if _always(tried, lambda one: one.due.ravel()):
        yield "The right numbers, but in one row. They should have the shape of the tensor they belong to."
    if _always(tried, lambda one: one.due[..., ::-1]):
        yield "The right numbers, in the opposite order."
    same = all(one.got.shape == one.due.shape and one.due.size > 1 for one in tried)
    if same and tried and all(_near(np.sort(one.got.ravel()), np.sort(one.due.ravel())) for one in tried):
        yield "The right numbers, in another order."


def _limits(tried: Sequence[Tried]) -> Iterator[str]:
    """Rounded to whole numbers, or cut off at a limit."""
    if _always(tried, lambda one: np.round(one.due)) or _always(tried, lambda one: np.trunc(one.due)):
        yield "The results are rounded to whole numbers. Return them as they are: no `round`, `int` or `//`."
    together = [(one.got.ravel(), one.due.ravel()) for one in tried if one.got.shape == one.due.shape]
    if len(together) != len(tried) or not together:
        return
    got, due = (np.concatenate(parts) for parts in zip(*together, strict=True))
    wrong = ~np.isclose(got, due, rtol=1e-3, atol=1e-9)
    if (
        wrong.sum() > 1
        and got[wrong].any()
        and np.ptp(got[wrong]) < 1e-6 < np.ptp(due[wrong])
        and not wrong.all()
    ):
        limit, below = got[wrong][0], (due[~wrong] <= got[wrong][0]).all()
        if ((due[wrong] > limit).all() and below) or (
            (due[wrong] < limit).all() and (due[~wrong] >= limit).all()
        ):
            yield (
                f"Whatever should be {'larger' if due[wrong][0] > limit else 'smaller'} comes out as {limit:g}. "
                "Something cuts it off: a `clamp`, a `min` or a `max`."
            )


def _where(tried: Sequence[Tried]) -> Iterator[str]:
    """Right for one kind of number only."""
    for name in _names(tried):
        right: list[np.ndarray] = []
        given: list[np.ndarray] = []
        for one in tried:
            if one.got.shape != one.due.shape or one.given[name].shape not in ((), one.due.shape):
                break
            right.append(np.isclose(one.got, one.due, rtol=1e-3, atol=1e-9).ravel())
            given.append(np.broadcast_to(one.given[name], one.due.shape).ravel())
        else:
            good, number = np.concatenate(right), np.concatenate(given)
            if good.all() or good.sum() < 2 or (~good).sum() < 2:
                continue
            if (good[number > 0]).all() and not good[number < 0].any():
                yield (
                    f"It is right where `{name}` is positive, and wrong where it is negative. Is there an `abs`, or a rule "
                    "for positive numbers only?"
                )
            if (good[number == 1]).all() and (number == 1).any() and not good[number != 1].any():
                yield f"It is right where `{name}` is 1, and only there. How does `{name}` come into what you compute?"


def _as_long_as(tried: Sequence[Tried]) -> Iterator[str]:
    """Right in those calls in which one of the arguments is 0, or 1, and in no other."""
    right = [_near(one.got, one.due) for one in tried]
    if all(right) or not any(right):
        return
    for name in _names(tried):
        for number in (0.0, 1.0):
            if [bool((one.given[name] == number).all()) for one in tried] == right:
                yield (
                    f"It is right as long as `{name}` is {number:g}, and wrong as soon as it is not. "
                    f"What should `{name}` do, and what does it do in your code?"
                )


LOOKS = (_sign_or_size, _unmoved, _argument, _factor, _shape, _limits, nearly, _amount, _where, _as_long_as)
