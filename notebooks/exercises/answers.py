"""How a given answer is read, for `check` and `predict` alike: what counts is the meaning, not the notation.

`1/3`, `Fraction(1, 3)`, `tensor([0.333])`, `"1/3"` and `"0.33"` are one number; `"[1, 2]"` is a list, `"None"` is None,
`["b"]` is "b", and so is the text of option b. What is *expected* decides: where a letter is expected, "3" is a string. Texts
with numbers in them are read by typed.py, as in a browser.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import typed
from .model import Complaint
from .values import describe, plain, same

Words = Mapping[str, str]
NOTHING: Words = {}
SMALL = {"a", "an", "the", "of", "it", "is", "are", "them", "that", "only", "just", "alone"}
"""Words that make no difference to which option is meant."""


def read(
    value: Any, want: Any, words: Words = NOTHING, options: Words = NOTHING, counts: bool = False
) -> Any:
    """The plain value that is meant by `value`, where the plain value `want` is expected.

    `words` are other names of letters, {"detach": "b"}; `options` the texts of the letters, as the lesson has them; `counts`
    says that something is counted. A value that cannot be read is returned as plain() gives it.
    """
    return _read(plain(value), want, words, options, counts)


def _read(got: Any, want: Any, words: Words, options: Words, counts: bool) -> Any:
    if isinstance(want, str):
        return _letter(got, words, options)
    if isinstance(got, str):
        got = _from_text(got, want, counts)
    if isinstance(got, tuple) and isinstance(want, np.ndarray):
        got = plain(_numbers(got))  # texts among them may be numbers
    if isinstance(got, np.ndarray):
        return _in_shape(got, want)
    if isinstance(got, tuple) and isinstance(want, tuple) and len(got) == len(want):
        return tuple(_read(one, due, words, options, counts) for one, due in zip(got, want, strict=True))
    return _read(got[0], want, words, options, counts) if isinstance(got, tuple) and len(got) == 1 else got


def _numbers(got: Any) -> Any:
    if isinstance(got, tuple):
        return tuple(map(_numbers, got))
    return _from_text(got, np.zeros(())) if isinstance(got, str) else got


def _from_text(text: str, want: Any, counts: bool = False) -> Any:
    due = want if isinstance(want, np.ndarray) else np.zeros(())
    try:
        found = typed.read(text, due.size, counts)
    except typed.Unreadable:
        return text
    if found == [] or found is None or isinstance(found, bool):
        return found if found != [] else text
    found = plain(found)
    bare = isinstance(found, np.ndarray) and found.ndim == 1 and not re.search(r"[\[({]", text)
    if bare and found.size == due.size:  # no bracket and no semicolon to give the shape
        return found.reshape(due.shape)
    return found


def _in_shape(got: np.ndarray, want: Any) -> Any:
    """The value with the nesting of `want`, if the only difference is brackets around a number or around the whole list."""
    if isinstance(want, np.ndarray) and got.squeeze().shape == want.squeeze().shape:
        return got.reshape(want.shape)
    if got.size == 1:
        got = got.reshape(())
        if isinstance(want, bool) and float(got) in (0.0, 1.0):
            return bool(got)
    return got


def remark(value: Any, want: Any) -> str:
    """What to add to the praise for a correct list with too few or too many brackets around it; "" if nothing."""
    got = plain(value)
    if isinstance(got, str):
        try:
            got = plain(typed.read(got, np.size(want)))
        except typed.Unreadable:
            return ""
        if not re.search(r"[\[({]", str(value)):
            return ""
    if not (isinstance(got, np.ndarray) and isinstance(want, np.ndarray)) or want.size == 1 or got.ndim < 1:
        return ""
    if got.shape == want.shape:
        return ""
    return f"With all its brackets, in the shape {want.shape}, it is `{describe(want)}`."


def alike(got: Any, due: Any, rtol: float) -> bool:
    """Whether the plain value that was read is equivalent to the plain value `due`: see `typed.means` for numbers."""
    if isinstance(got, np.ndarray) and isinstance(due, np.ndarray):
        if got.shape != due.shape:
            return False
        scale = float(np.abs(due[np.isfinite(due)]).max(initial=0.0)) if due.ndim else 0.0
        pairs = zip(got.ravel().tolist(), due.ravel().tolist(), strict=True)
        return all(typed.means(one, other, rtol, scale) for one, other in pairs)
    if isinstance(got, tuple) and isinstance(due, tuple):
        return len(got) == len(due) and all(alike(g, d, rtol) for g, d in zip(got, due, strict=True))
    return same(got, due, 0.0)


def near(got: Any, due: Any) -> bool:
    """Whether what was read is close enough to `due` to be a rounding or the result of a nudge: see `typed.close`."""
    numbers = isinstance(got, np.ndarray) and isinstance(due, np.ndarray) and got.shape == due.shape
    return numbers and all(map(typed.close, got.ravel().tolist(), due.ravel().tolist()))


def _letter(got: Any, words: Words, options: Words) -> Any:
    if isinstance(got, tuple) and len(got) == 1:
        got = got[0]
    if not isinstance(got, str):
        return _letter_of_value(got, words, options) or got
    bare = re.sub(r"^(?:(?:it is|it's|i think|i guess) +)+(?=\W*[a-z]\W*$)", "", typed.tidy(got))
    word = re.sub(r"^(?:option|answer|letter|choice|curve)\b *", "", bare)
    marked = re.match(r"\(?([a-z])(?:[.:)] |,? because |, (?=[a-z]{2}))", word)
    if marked and options:  # "d) it was cut off"
        return marked[1]
    word = word.strip(" \t\n.,:;()[]{}*`'\"")
    if len(word) <= 1 and not word.isdigit():
        return words.get(word, word)
    call = word.removeprefix("with ").removeprefix("torch.")
    for name in (word, call, re.split(r"[(=]", call)[0].rpartition(".")[2]):
        if name in words:
            return words[name]
    if found := option(word, options) or _with_these_numbers(got, options):
        return found
    if len(named := {words[name] for name in words if re.search(rf"\b{re.escape(name)}(?![\w])", word)}) == 1:
        return named.pop()  # "freeze with requires_grad_(False)"
    try:
        value = typed.read(word)
    except typed.Unreadable:
        return word
    return _letter_of_value(plain(value), words, options) or word


def _letter_of_value(got: Any, words: Words, options: Words) -> str | None:
    """The letter whose text or other name is this value: `float("inf")`, 3000, None."""
    if not (got is None or isinstance(got, np.ndarray | bool)):
        return None
    text = describe(got).casefold()
    finite = isinstance(got, np.ndarray) and got.size == 1 and bool(np.isfinite(got).all())
    return words.get(text) or option(text, options) or (words.get("finite") if finite else None)


def option(text: str, options: Words) -> str | None:
    """The letter of the option that this text means: its text, or a part that no other option has; words may be left out."""
    given = _tokens(text)
    plainly = {letter: " ".join(_content(_tokens(label))) for letter, label in options.items()}
    return _option(given, options) or _option(_content(given), plainly)


def _content(words: list[str]) -> list[str]:
    return [word for word in words if word not in SMALL]


def _with_these_numbers(text: str, options: Words) -> str | None:
    """The letter of the option with the same numbers, written differently: "4 x 4" for "(4, 4)"."""

    def numbers(label: str) -> Any:
        try:
            return typed.read(label, max(len(re.findall(r"\d+", label)), 2))
        except typed.Unreadable:
            return None

    given = numbers(text)
    found = [key for key, label in options.items() if isinstance(given, list) and numbers(label) == given]
    return found[0] if len(found) == 1 else None


def _option(got: list[str], options: Words) -> str | None:
    if not got:
        return None
    if got[0] in options and len(got) > 1 and _within(got[1:], _tokens(options[got[0]])):
        return got[0]  # "b it raises an error"
    whole = [letter for letter, label in options.items() if got in list(_other_names(label))]
    if len(whole) == 1 or (len(got) == 1 and got[0] in map(str, range(1, len(options) + 1))):  # the third?
        return whole[0] if len(whole) == 1 else None
    for found in (
        [letter for letter, label in options.items() if _tokens(label)[: len(got)] == got],
        [letter for letter, label in options.items() if _within(got, _tokens(label))],
        [letter for letter, label in options.items() if len(got) > 2 and _in_order(got, _tokens(label))],
    ):
        if len(found) == 1:
            return found[0]
    return None


@functools.lru_cache(1000)
def _tokens(text: str) -> list[str]:
    text = typed.counted(re.sub(r"(?<=\d),(?=\d{3}\b)", "", typed.tidy(text)))
    text = re.sub(r"(?<=\d) ?x\b", " times", re.sub(r"[a-z]+error\b", "error", text))
    words = re.findall(r"-?\d+(?:\.\d+)?|-?inf\b|[a-z][a-z0-9]*", text)
    return [re.sub(r"(?<=\w\w[^s])s$", "", word) for word in words]  # raise and raises are the same


def _other_names(label: str) -> Iterator[list[str]]:
    """All names of an option: its whole text, and the parts before and after its colon, inside and outside its brackets."""
    yield _tokens(label)
    inside = re.findall(r"\(([^()]*)\)", label)
    for part in (*label.split(":", 1), re.sub(r"\([^()]*\)", "", label), *", ".join(inside).split(", ")):
        yield _tokens(part)


def _in_order(few: list[str], many: list[str]) -> bool:
    left = iter(many)
    return all(word in left for word in few)


def _within(few: list[str], many: list[str]) -> bool:
    return any(many[k : k + len(few)] == few for k in range(len(many) - len(few) + 1))


def fits(got: Any, want: Any) -> bool:
    """Whether what was read can be an answer at all, right or wrong, where `want` is expected."""
    if isinstance(want, str):
        return isinstance(got, str) and len(got) == len(want)
    if isinstance(want, bool):
        return isinstance(got, bool)
    return got is None or isinstance(got, np.ndarray | bool)


# what is expected: how to ask for it, and an example for the empty field in which it is typed
LETTER = 'Enter one of the letters in quotes, such as `"a"`.', "a letter, such as a"
TRUTH = "Enter `True` or `False`.", "True or False"
LIST = "Enter a list of numbers, such as `[0.5, 2]`.", "a list, such as [0.5, 2]"
NUMBER = (
    "Enter a number such as `0.5` or `1/3`, or `None` if you expect nothing.",
    "a number, such as 0.5 or 1/3, or None",
)


def wanted(want: Any) -> tuple[str, str]:
    """The kind of answer that is expected: how to ask for it, and an example."""
    if isinstance(want, str | bool):
        return LETTER if isinstance(want, str) else TRUTH
    return LIST if isinstance(want, np.ndarray) and want.ndim else NUMBER


SEPARATED = r"(?:[\s,;.+&|/\\()\[\]{}\"'`>]|->|=>|-|\b(?:and|then|first|next|only|just)\b)+"
"""What may separate names or letters."""
NONE = r"(?:(?:none|neither|nothing)(?: of them)?)?"


def names(answer: Any) -> list[str] | None:
    """The names in a text or a list, in their order and in lower case: "k -> b, then a". None if it is neither."""
    got = plain(answer)
    parts = [got] if isinstance(got, str) else list(got) if isinstance(got, tuple) else [None]
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        return None
    return [name for text in texts for name in re.split(SEPARATED, typed.tidy(text)) if name]


def letters(answer: Any, allowed: str, name: str) -> str:
    """The letters that are meant by "abd", "a, b, d", ["a", "b", "d"] or None, in their order. Raises a Complaint."""
    example = (
        f'`{name}` should be letters from `{allowed}`, such as `"{allowed[:2]}"`, or `""` for none of them.'
    )
    got = sorted(answer) if isinstance(answer, set | frozenset) else answer
    if got is None or (isinstance(plain(got), np.ndarray) and plain(got).size == 0):
        return ""
    if isinstance(got, str) and re.fullmatch(NONE, typed.tidy(got)):
        return ""
    if isinstance(got, str) and re.fullmatch(r"all(?: of them)?", typed.tidy(got)):
        return allowed
    parts = names(got)
    if parts is None:
        raise Complaint(f"{example} This is `{describe(answer, 40).replace('`', chr(39))}`.")
    text = "".join(parts)
    strange = next((letter for letter in text if letter not in allowed), "")
    if len(text) > 40 or strange:
        raise Complaint(f"{example} `{strange or text[:10]}` is not one of them.".replace("``", "`"))
    twice = next((letter for letter in text if text.count(letter) > 1), None)
    if twice is not None:
        raise Complaint(f"`{twice}` is in `{name}` twice. Once is enough.")
    return text
