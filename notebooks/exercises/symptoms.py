"""What can be said of a wrong value by comparing it with the right one. Texts only, no judging."""

from __future__ import annotations

from typing import Any

import numpy as np

from .values import Opaque, describe, same, whole

Advice = tuple[str, str]
"""What to say, and the cause that was recognised: "" where nothing but the difference is known."""


def advise(got: Any, want: Any, rtol: float, *, typed: bool, label: str, nothing: bool = False) -> Advice:
    """The likely cause of `got` where `want` was due, both plain (see values.py). `got` has been shown already.

    `typed` tells whether the value was typed in: then the right one stays the learner's to find, and nothing is
    said by which it could be computed, no ratio and no size. If it came from code, it may be shown. `nothing` tells
    whether None is the answer to some part of the exercise: not to which.
    """
    return _of_typed(got, want, rtol, nothing) if typed else _of_code(got, want, rtol, label)


def _of_typed(got: Any, want: Any, rtol: float, nothing: bool) -> Advice:
    if isinstance(want, str):
        if not isinstance(got, str):
            return _specific(f"That is {_kind(got)}. A letter in quotes is wanted.")
        if len(want) == 1 and len(got.strip()) != 1:
            return _specific("One of the letters is wanted, in quotes.")
        return "Not that one.", ""
    if want is not None and not isinstance(want, np.ndarray):
        return "Not that.", ""
    if got is None:
        return _specific("`None` would say that nothing is computed. Here something is.")
    number = "A number, or `None`, is wanted" if nothing else "A number is wanted"
    if want is not None and want.size > 1:
        number = "Numbers in a list are wanted"
    if isinstance(got, str):
        return _specific(f"That is a text. {number}: put in the values, and write what comes out.")
    if not isinstance(got, np.ndarray):
        return _specific(f"That is {_kind(got)}. {number}.")
    due = np.zeros(()) if want is None else want
    if got.shape != due.shape:
        return _specific(_how_many(got, due))
    if want is not None and same(got, np.asarray(-want), rtol) and want.any():
        return _specific("The size is right, the sign is not.")
    if due.size > 1:
        return _specific(f"{_place(got, due, rtol)} Go through that one once more.")
    if whole(want) and not whole(got) and same(got, want, 0.01):
        return _specific("Very near. Was it nudged, or rounded? The exact number is wanted.")
    return "Not that number.", ""


def _how_many(got: np.ndarray, want: np.ndarray) -> str:
    """What is said of typed numbers that are too many, too few, or laid out in another way."""
    if want.size == 1:
        return "One number is wanted here, not a list of them. (Python makes two of `8,000`: write 8000.)"
    if want.ndim == 1:
        return f"A list of {want.size} numbers is wanted: one for each entry."
    rows, columns = want.shape
    lies = " Yours lies on its side." if got.T.shape == want.shape else ""
    return f"A table of {rows} rows with {columns} numbers each is wanted.{lies}"


def _of_code(got: Any, want: Any, rtol: float, label: str) -> Advice:
    right = f"`{want if isinstance(want, str) else describe(want)}` is right."
    if isinstance(got, np.ndarray) and isinstance(want, np.ndarray):
        if got.shape != want.shape:
            return _specific(_shapes(got, want))
        cause = _factor(got, want, rtol)
        if describe(want) in (describe(got), f"a tensor of shape {want.shape}"):  # too many numbers to
            # be written out, or different only in the last digits
            right = f"The shape is right. {_place(got, want, rtol)}" if want.ndim else right
        return f"{cause} {right}".strip(), cause
    if got is None:
        if ".grad" in label:
            return _specific(f"Nothing has arrived there; {right}")
        return _specific("Is there a `return`?")
    if isinstance(want, np.ndarray):
        return _specific(f"That is {_kind(got)}. A number or a tensor is wanted.")
    if want is None and isinstance(got, str):
        return _specific("That is a text. `None` itself is wanted, without quotes.")
    if isinstance(want, tuple | dict) and not isinstance(got, tuple | dict):
        return _specific(f"{len(want)} values are wanted here.")
    if isinstance(want, str) and isinstance(got, str) and len(want) > 20:
        return _specific(right)  # the probe has put into words what happened, and where it goes wrong
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
    names = {tuple: "several values", dict: "a dictionary", str: "a text", bool: "True or False"}
    return names.get(type(got), f"`{got}`")


def _shapes(got: np.ndarray, want: np.ndarray) -> str:
    text = f"It has the shape {got.shape}, and {want.shape} is wanted."
    if got.ndim > 1 and got.T.shape == want.shape:
        return text + " Is a transpose missing, or one too many?"
    if want.ndim == 0:
        return text + " Is a sum or a mean missing?"
    if got.ndim == 0:
        return text + " One number came out where each entry needs its own."
    if got.size > want.size:
        return text + " Is a sum missing? And over which axis?"
    if got.size < want.size and got.ndim == want.ndim:
        return text + " Was it summed over the wrong axis?"
    return text


def _place(got: np.ndarray, want: np.ndarray, rtol: float) -> str:
    """Where the first wrong entry stands, in words."""
    wrong = ~np.isclose(got, want, rtol=rtol, atol=1e-6)
    where = np.argwhere(wrong)[0] if wrong.any() else np.zeros(want.ndim, int)
    index = "".join(f"[{place}]" for place in where)
    several = (
        f"{int(wrong.sum())} entries are not right yet, the first"
        if wrong.sum() > 1
        else "One entry is not right yet,"
    )
    return f"{several} at `{index}`: {float(got[tuple(where)]):g}."


def _factor(got: np.ndarray, want: np.ndarray, rtol: float) -> str:
    """Named if one number is all that stands between the two."""
    if same(got, np.asarray(-want), rtol):
        return "The size is right, the sign is not."
    if not np.all(np.isfinite(got)) and np.all(np.isfinite(want)):
        return "Something overflowed or was divided by zero: there is an inf or a nan in it."
    usable = np.abs(want) > 1e-12
    if not usable.any() or not got.any():
        zero = "It is 0." if got.ndim == 0 else "It is zero everywhere."
        return zero if want.any() and not got.any() else ""
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = float((got[usable] / want[usable]).flat[0])
        if not same(got, np.asarray(ratio * want), rtol):
            return ""
    for number in range(2, 65):
        if abs(ratio - number) < 1e-3 * number:
            return f"It is exactly {number} times too large."
        if abs(ratio * number - 1) < 1e-3:
            return f"It is exactly {number} times too small."
    return ""
