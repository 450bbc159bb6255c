"""What can be said of a wrong value by comparing it with the right one. Texts only, no judging."""

from __future__ import annotations

from typing import Any

import numpy as np

from .values import Opaque, describe, same


def advise(got: Any, want: Any, rtol: float, *, called: bool, label: str) -> str:
    """The likely cause of `got` where `want` was due, both plain (see values.py). `got` has been shown already.

    `called` tells whether the value came from a function of the learner (then the right one may be shown) or was
    typed in (then it stays the learner's to find), `label` what was looked at.
    """
    if isinstance(got, np.ndarray) and isinstance(want, np.ndarray):
        if got.shape != want.shape:
            return _shapes(got, want)
        advice = _factor(got, want, rtol)
        if called:
            return f"{advice} `{describe(want)}` is right.".strip()
        return advice or "Not that number. Write down each step, then compare."
    if got is None and called:
        return (
            f"Nothing has arrived there; `{describe(want)}` is right."
            if ".grad" in label
            else "Is there a `return`?"
        )
    if isinstance(want, np.ndarray):
        return f"That is {_kind(got)}. A number or a tensor is wanted."
    if isinstance(want, str) and not called:
        if not isinstance(got, str):
            return f"That is {_kind(got)}. A letter in quotes is wanted."
        return (
            "Not that one." if len(got.strip()) == len(want) else "One of the letters is wanted, in quotes."
        )
    if isinstance(want, tuple | dict) and not isinstance(got, tuple | dict):
        return f"{len(want)} values are wanted here."
    if want is None and not called:
        return "Not that. Is there anything to give at all?"
    if called:
        return f"`{want if isinstance(want, str) else describe(want)}` is right."
    return "Not that."


def _kind(got: Any) -> str:
    if isinstance(got, Opaque):
        return f"an object of type `{got.kind}`"
    if isinstance(got, np.ndarray):
        return "a number" if got.ndim == 0 else "a tensor"
    names = {tuple: "several values", dict: "a dictionary", str: "a text", bool: "True or False"}
    return names.get(type(got), f"`{got}`")


def _shapes(got: np.ndarray, want: np.ndarray) -> str:
    text = f"It has the shape {got.shape}, and {want.shape} is wanted."
    if got.T.shape == want.shape and got.ndim > 1:
        return text + " Is a transpose missing, or one too many?"
    if got.ndim == 0:
        return text + " One number came out where each entry needs its own."
    if want.ndim == 0 or got.size > want.size:
        return text + " Is a sum or a mean missing?"
    return text


def _factor(got: np.ndarray, want: np.ndarray, rtol: float) -> str:
    """Named if one number is all that stands between the two."""
    if same(got, np.asarray(-want), rtol):
        return "The size is right, the sign is not."
    if not np.all(np.isfinite(got)) and np.all(np.isfinite(want)):
        return "Something overflowed or was divided by zero: there is an inf or a nan in it."
    usable = np.abs(want) > 1e-12
    if not usable.any() or not got.any():
        return "It is zero everywhere." if want.any() and not got.any() else ""
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
