"""The one way in which a typed answer is read, for `check` and `predict` alike: what is meant counts, not how it is
written. `1/3`, `Fraction(1, 3)`, `tensor([0.333])` and `"1/3"` are one number; `"[1, 2]"` is a list, `"None"` is
None, `["b"]` is "b".

May use values.py only. What is *wanted* decides how a text is read: where a letter is due, "3" stays a text.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .model import Complaint
from .values import describe, plain

WORDS = {"none": None, "true": True, "false": False}


def read(value: Any, want: Any, words: Mapping[str, str] | None = None) -> Any:
    """The plain value that somebody means who types `value` where the plain value `want` is due.

    `words` are other names of letters: {"detach": "b"}. What cannot be read comes back as plain() has it.
    """
    return _read(plain(value), want, words or {})


def _read(got: Any, want: Any, words: Mapping[str, str]) -> Any:
    if isinstance(want, str):
        return _letter(got, words)
    if isinstance(got, str):
        got = _from_text(got)
    if isinstance(got, tuple) and isinstance(want, np.ndarray):
        got = plain(_numbers(got))  # texts among them may be numbers
    if isinstance(got, np.ndarray):
        return _in_shape(got, want)
    if isinstance(got, tuple) and isinstance(want, tuple) and len(got) == len(want):
        return tuple(_read(one, due, words) for one, due in zip(got, want, strict=True))
    return _read(got[0], want, words) if isinstance(got, tuple) and len(got) == 1 else got


def _numbers(got: Any) -> Any:
    if isinstance(got, tuple):
        return tuple(map(_numbers, got))
    return _from_text(got) if isinstance(got, str) else got


def _from_text(text: str) -> Any:
    word = text.strip().casefold()
    if word in WORDS:
        return WORDS[word]
    if word.startswith(("[", "(")) and len(word) < 100:
        try:
            return plain(ast.literal_eval(word))
        except (ValueError, SyntaxError):
            return text
    try:
        number = float(Fraction(word)) if len(word) < 40 else math.nan
    except (ValueError, ZeroDivisionError, OverflowError):
        return text
    return np.asarray(number) if math.isfinite(number) else text


def _in_shape(got: np.ndarray, want: Any) -> Any:
    """Brackets around a single number, or around a whole list, change nothing about what is meant."""
    if isinstance(want, np.ndarray) and got.squeeze().shape == want.squeeze().shape:
        return got.reshape(want.shape)
    if got.size == 1:
        got = got.reshape(())
        if isinstance(want, bool) and float(got) in (0.0, 1.0):
            return bool(got)
    return got


def _letter(got: Any, words: Mapping[str, str]) -> Any:
    if isinstance(got, tuple) and len(got) == 1:
        got = got[0]
    if not isinstance(got, str):
        return got
    word = got.strip(" \t\n.,:;()[]`'\"").casefold().removeprefix("torch.").removesuffix("(")
    return words.get(word, word)


def fits(got: Any, want: Any) -> bool:
    """Whether what was read can be an answer at all where `want` is due, be it right or wrong."""
    if isinstance(want, str):
        return isinstance(got, str) and len(got) == len(want)
    if isinstance(want, bool):
        return isinstance(got, bool)
    return got is None or isinstance(got, np.ndarray | bool)


def wanted(want: Any) -> str:
    """What kind of answer is due, in words."""
    if isinstance(want, str):
        return 'A letter in quotes is wanted, such as `"a"`.'
    if isinstance(want, bool):
        return "`True` or `False` is wanted."
    if isinstance(want, np.ndarray) and want.ndim:
        return "Numbers in a list are wanted, such as `[0.5, 2]`."
    return "A number is wanted, such as `0.5`, or `None` if you expect nothing."


def letters(answer: Any, allowed: str, name: str) -> str:
    """The letters that somebody means by "abd", "a, b, d", ["a", "b", "d"] or None, in their order. Or a Complaint."""
    example = (
        f'`{name}` should be letters from `{allowed}`, such as `"{allowed[:2]}"`; `""` for none of them.'
    )
    got = sorted(answer) if isinstance(answer, set | frozenset) else plain(answer)
    if got is None or (isinstance(got, str) and got.strip().casefold() in ("none", "")):
        return ""
    if isinstance(got, np.ndarray) and got.size == 0:
        return ""
    parts = [got] if isinstance(got, str) else list(got) if isinstance(got, tuple | list) else [None]
    if not all(isinstance(part, str) for part in parts):
        raise Complaint(f"{example} This is `{describe(answer, 40).replace('`', chr(39))}`.")
    text = "".join(parts).casefold()
    for separator in (" and ", *" ,;.+\n()[]\"'`", "->", "→"):
        text = text.replace(separator, "")
    if len(text) > 40 or set(text) - set(allowed):
        raise Complaint(example)
    twice = next((letter for letter in text if text.count(letter) > 1), None)
    if twice is not None:
        raise Complaint(f"`{twice}` is in `{name}` twice. Once is enough.")
    return text
