"""The likely cause of a wrong value, from a comparison with the right one. Does not judge."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import typed as reading
from .replies import say
from .values import Opaque, describe, same, whole

Advice = tuple[str, str]
"""What to say, and the cause that was recognised: "" where nothing but the difference is known."""


def advise(got: Any, want: Any, rtol: float, *, typed: bool, label: str, nothing: bool = False) -> Advice:
    """The likely cause of `got` where `want` was expected, both plain (see values.py). `got` has been shown already.

    `typed` says whether the value was typed in: then the learner should find the right one, so nothing is said from which it
    could be computed, neither a ratio nor a size. If it came from code, it may be shown. `nothing` says
    whether None is the answer to some part of the exercise, but not to which one.
    """
    return _of_typed(got, want, rtol, nothing) if typed else _of_code(got, want, rtol, label)


def _of_typed(got: Any, want: Any, rtol: float, nothing: bool) -> Advice:
    if isinstance(want, str):
        if not isinstance(got, str):
            return _specific(say("letter", kind=_kind(got)))
        return _specific(say("one letter")) if len(want) == 1 and len(got.strip()) != 1 else (say("no"), "")
    if want is not None and not isinstance(want, np.ndarray):
        return say("no"), ""
    if got is None:
        return _specific(say("not None"))
    enter = say("a number or None" if nothing else "a number")
    if want is not None and want.size > 1:
        enter = say("numbers")
    if isinstance(got, str):
        return _specific(say("unread", part=_not_understood(got), enter=enter))
    if not isinstance(got, np.ndarray):
        return _specific(say("enter", kind=_kind(got), enter=enter))
    due = np.zeros(()) if want is None else want
    if got.shape != due.shape:
        return _specific(_how_many(got, due))
    if want is not None and same(got, np.asarray(-want), rtol) and want.any():
        return _specific(say("sign"))
    if due.size > 1:
        return _specific(f"{_place(got, due, rtol)} {say('go through')}")
    if want is not None and reading.close(got.item(), want.item()):
        return _specific(say("near" if whole(want) or not _one_digit(got) else "rounded"))
    return say("no"), ""


def _one_digit(got: np.ndarray) -> bool:
    return len(f"{got.item():g}".strip("-0.")) == 1


def _not_understood(text: str) -> str:
    try:
        reading.read(text)
    except reading.Unreadable as error:
        return str(error).replace("`", "'")
    return text[:20].replace("`", "'")


def _how_many(got: np.ndarray, want: np.ndarray) -> str:
    """The reply to too many typed numbers, too few, or numbers in another layout."""
    if want.size == 1:
        return say("one number")
    if want.ndim == 1:
        return say("list", count=want.size)
    rows, columns = want.shape
    lies = f" {say('lies')}" if got.T.shape == want.shape else ""
    return say("table", rows=rows, columns=columns) + lies


def _of_code(got: Any, want: Any, rtol: float, label: str) -> Advice:
    right = say("right", right=want if isinstance(want, str) else describe(want))
    if isinstance(got, np.ndarray) and isinstance(want, np.ndarray):
        if got.shape != want.shape:
            return _specific(_shapes(got, want))
        cause = _factor(got, want, rtol)
        if describe(want) in (describe(got), f"a tensor of shape {want.shape}"):  # too many numbers to
            # be written out, or different only in the last digits
            right = say("shape right", place=_place(got, want, rtol)) if want.ndim else right
        return f"{cause} {right}".strip(), cause
    if got is None:
        if ".grad" in label:
            return _specific(say("grad is None", right=right))
        return _specific(say("no return") if label.startswith("`") else say("None there", right=right))
    if isinstance(want, np.ndarray):
        return _specific(say("not a number", kind=_kind(got)))
    if want is None and isinstance(got, str):
        return _specific(say("None in quotes"))
    if isinstance(want, tuple | dict) and not isinstance(got, tuple | dict):
        return _specific(say("count of values", count=len(want)))
    if isinstance(want, str) and isinstance(got, str) and len(want) > 20:
        return _specific(right)  # the probe has already described what happened and where
    return right, ""


def _specific(text: str) -> Advice:
    return text, text


def _kind(got: Any) -> str:
    if isinstance(got, Opaque):
        return f"an object of type `{got.kind}`"
    if isinstance(got, np.ndarray):
        return "a number" if got.ndim == 0 else "a tensor"
    if isinstance(got, tuple | dict) and not got:
        return "empty"
    names = {tuple: "several values", dict: "a dictionary", str: "a string", bool: "True or False"}
    return names.get(type(got), f"`{got}`")


def _shapes(got: np.ndarray, want: np.ndarray) -> str:
    text = say("shape", got=got.shape, want=want.shape)
    if got.ndim > 1 and got.T.shape == want.shape:
        return f"{text} {say('transpose')}"
    if want.ndim == 0:
        return f"{text} {say('sum or mean')}"
    if got.ndim == 0:
        return f"{text} {say('one for all')}"
    if got.size > want.size:
        return f"{text} {say('sum')}"
    if got.size < want.size and got.ndim == want.ndim:
        return f"{text} {say('wrong axis')}"
    return text


def _place(got: np.ndarray, want: np.ndarray, rtol: float) -> str:
    """Where the first wrong entry is, in words."""
    wrong = ~np.isclose(got, want, rtol=rtol, atol=1e-6)
    where = np.argwhere(wrong)[0] if wrong.any() else np.zeros(want.ndim, int)
    index, value = "".join(f"[{place}]" for place in where), f"{float(got[tuple(where)]):g}"
    if wrong.sum() > 1:
        return say("entries", count=int(wrong.sum()), index=index, value=value)
    return say("entry", index=index, value=value)


def _factor(got: np.ndarray, want: np.ndarray, rtol: float) -> str:
    """The reply if the two differ by a constant factor only."""
    if same(got, np.asarray(-want), rtol):
        return say("sign")
    if not np.all(np.isfinite(got)) and np.all(np.isfinite(want)):
        return say("not finite")
    usable = np.abs(want) > 1e-12
    if not usable.any() or not got.any():
        return say("zero" if got.ndim == 0 else "zeros") if want.any() and not got.any() else ""
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = float((got[usable] / want[usable]).flat[0])
        if not same(got, np.asarray(ratio * want), rtol):
            return ""
    for number in range(2, 65):
        if abs(ratio - number) < 1e-3 * number:
            return say("too large", count=number)
        if abs(ratio * number - 1) < 1e-3:
            return say("too small", count=number)
    return ""
