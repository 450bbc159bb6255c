"""Turn what people type into numbers: `1/3`, `2*3`, `[1, 2]`, `1 -> 2`, `tensor(6.)`, `x.grad = 6`, `8,000`, `inf`.

`viz/show/front/typed.js` does the same in a browser, function by function; `tests/typed_answers.txt` lists the cases that both
must read alike. Runs nothing that was typed: it knows numbers, lists, `+ - * / ^` and a few functions.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

LONGEST = 400  # characters of an answer
DEPTH = 12  # how deeply lists and brackets may be nested
NOTHING = (
    "none", "nothing", "nothing at all", "no gradient", "no grad", "nil", "null", "nonetype", "empty", "does not exist",
    "doesn't exist", "there is none", "not computed", "doesn't have one",
)  # fmt: skip
WORDS = {
    **dict.fromkeys(NOTHING),
    **dict.fromkeys(("never", "not at all"), 0.0),
    "once": 1.0,
    "twice": 2.0,
    "not a number": math.nan,
    **dict.fromkeys(("true", "yes", "yep", "yeah", "y"), True),
    **dict.fromkeys(("false", "no", "nope", "n"), False),
}
NUMBERS = {"inf": math.inf, "infinity": math.inf, "nan": math.nan, "pi": math.pi, "e": math.e}
FUNCTIONS: dict[str, Callable] = {
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "ln": np.log, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "abs": np.abs,
}  # fmt: skip
UNITS = {"b": 1, "kb": 1e3, "mb": 1e6, "kib": 1024, "mib": 1024**2, "kilobyte": 1e3, "megabyte": 1e6, "k": 1e3,
         "percent": 0.01, "hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9}  # fmt: skip
LOOKS_LIKE = (  # typographic signs, and their plain forms
    ("(\\d+) ?\u00bd", r"(\1+1/2)"), ("\u221a *", "sqrt "), ("\u2026", "..."),
    ("[\u2010-\u2015\u2212]", "-"), ("[\u00b7\u00d7\u2219\u22c5]", "*"), ("[\u00f7\u2044\u2215]", "/"), ("\u221e", "inf"),
    ("\u03c0", "pi"), ("[\u2192\u21d2\u279c]", "->"), ("\u00b2", "^2"), ("\u00b3", "^3"), ("\u00bd", "(1/2)"),
    ("\u00bc", "(1/4)"), ("\u2153", "(1/3)"), ("\u2154", "(2/3)"), ("\u215b", "(1/8)"),
    ("\u27e8", "["), ("\u27e9", "]"), ("\u1d40", "^t"),
    ("[\u2018\u2019\u201a\u2032`]", "'"), ("[\u201c-\u201f]", '"'), (r"\s", " "),
)  # fmt: skip
COUNTED = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10,
}  # fmt: skip
PLAIN = (  # notations, and the plain form of each; applied in this order
    (r"^\$+(.*?)\$+$", r"\1"), (r"^\*\*(.*)\*\*$", r"\1"), (r"\\d?frac *\{([^{}]*)\} *\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\\sqrt *\{([^{}]*)\}", r"sqrt(\1)"), (r"\\(?:cdot|times)\b", "*"), (r"\\infty\b", "inf"),
    (r"(?<=[\d)]) +times +", "*"), (r"(?<=[\d)]) +(?:over|divided by) +", "/"), (r"\b(?:minus|negative) +", "-"),
    (r"\blog_?(2|10) *\(([^()]*)\)", r"(log(\2)/log(\1))"), (r"\bfraction *\(([^(),]*),([^(),]*)\)", r"((\1)/(\2))"),
    (r"(\d*\.\d*)\((\d)\)", r"\1\2\2\2\2\2\2\2\2"), (r"(?<=\d)\.{2,3}$", ""), (r"\?+$", ""),
    (r"(?<=[\d)]),? +(?:because|since|as|which)\b.*$", ""),
    (r"^((?:yes|no|true|false)\b)[,.]? +(?:it|they|that|a)\b[^\d]*$", r"\1"),
    (r"^(?:(?:it|its|it's|that|the \w+|[a-z_]\w*\.grad|i think|i guess|i'd say|i expect|probably|maybe|is|are|stays|remains|"
     r"still|will be|would be|only|just|exactly|a single|shape) +)+", ""),
    (r"^(none|nothing)\b(?! at all)[^\d]+$", r"\1"), (r"^twice +(?=[\d(])", "2*"), (r"(?<=\d) +by +(?=\d)", "*"),
    (r"(?<=[\d)]) +(?:for|in) +(?:both|all|each|every)\b[^\d]*$", " each"),
    (r"^(?:\w+ )?(?:rises|grows|increases|goes up|moves) by +", ""),
    (r"(?<=[\w)]) +\((?=[^()]*(?:[a-z]{4}|[a-z] [a-z]|[a-z]{3} ))[^()]*\)$", ""),
    (r"(?<=[\d)])( +[a-z]{4,})? +(?:per|of) [^\d]*$", r"\1"),
    (r"^(?:[a-z_\u2202][\w.\u2202]*(?:/[a-z_\u2202][\w.\u2202]*)?(?:\[[\d, ]*\])? *(?:[=:]| is\b)|=)(?![=>]) *", ""),
    (r"^(?:about|around|approximately|approx\.?|roughly|nearly|circa|ca\.?|~|\u2248) *", ""),
    (r"\b(?:torch|math|numpy|np)\.", ""),
    (r", *(?:dtype|requires_grad|grad_fn|device) *= *(?:<[^>]*>|[\w.']+)", ""),
    (r"\b(?:tensor|array|size|decimal|fraction|float\d*|int\d*) *\( *['\"]?([^'\"]*?)['\"]? *\)", r"(\1)"),
    (r"\b[a-z_]\w*(?:\.\w+|\[[\d, ]*\])* *[=:] *(?=[-+\d.(\[])", ""),
    (r"(^|[,;] *)[^=,;\[\]<>!]*[a-z)][^=,;\[\]<>!]*=(?![=>]) *(?=\S)", r"\1"), (r"^(?:[-+*/^() \d.]+= *)+(?=[-+(\d.])", ""),
    (r"^<(.*)>$", r"[\1]"), (r"(?<=[\])])(?:\.t|\^ *t)$", ""), (r"^\[([^\[\]]*)$", r"[\1]"), (r"^([^\[\]]*)\]$", r"\1"),
    (r"(?<!\b0)(?<=\d) *x *(?=[\d(])", "*"), (r"\b(one|zero)s *\(? *(\d+) *,? *\)?", r"[\1]*\2"),
    (r"^(?:all )?(one|zero)s$", r"all \1"), (r"\bfull *\( *\(? *(\d+) *,? *\)? *, *([^()]+)\)", r"[\2]*\1"),
)  # fmt: skip
COUNTS = (  # the same, where something is counted
    (r"^(?:no|none|nothing|never|neither|not (?:one|any))\b(?! (?:idea|clue))[^\d]*$", "0"), (r"^(\d+) *x$", r"\1"),
    (r"^(\w+) +(?:out +)?of +(?:the +)?\w+$", r"\1"),
)  # fmt: skip
TOKEN = re.compile(
    r" *(\d+(?:_\d+)*\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|[a-z]+|\*\*|[-=]?>|[-+*/^%()\[\]{},;|&])( *)"
)
SEPARATORS = {",", ";", ">", "->", "=>", "|", "&", "and", "then"}


class Unreadable(ValueError):
    """The text is not a number or a list of numbers. Its message is the part that was not understood."""


@functools.lru_cache(1000)
def tidy(text: str) -> str:
    """The text in plain characters and lower case, without surrounding quotes or a final full stop."""
    for sign, meant in LOOKS_LIKE:
        text = re.sub(sign, meant, text)
    text = text.strip(" '\"").rstrip("!;, ").lower()
    return re.sub(r"(?:(?<!\d)|(\.\d+))\.$", r"\1", text).strip(" '\"")


@functools.lru_cache(1000)  # cached: an answer is compared with each listed one
def read(text: str, size: int = 1, counts: bool = False) -> Any:
    """None, True, False, a float or nested lists of floats; `size` numbers are expected. Raises Unreadable.

    If a single number is expected, commas may mark its thousands or its decimals. `counts`: the number says how many, so that
    "none" is 0, "2x" is 2 and "6 of 16" is 6.
    """
    if len(text) > LONGEST:
        raise Unreadable(text[:20])
    text, ways = tidy(text), COUNTS if counts and text.strip() != "None" else ()  # None is not a number
    for way, plain in (*ways, *PLAIN):
        text = re.sub(way, plain, text)
    if text in WORDS:
        return WORDS[text]
    if size == 1:
        text = re.sub(r"(?<=\d), +[a-z][^\d]*$", "", text)  # "64, one for each pixel"
    text = counted(text)
    text = re.sub(rf"\b(?:(\d+|an?) +)?({'|'.join(PARTS)})s?\b", _part, text)
    if size != 1:
        if re.fullmatch(r"\(?\d+(?: *\* *\d+)+\)?", text) and text.count("*") == size - 1:  # a shape, "2 x 3"
            text = text.replace("*", ",")
        each = r"^(?:(?:all|both)(?: are| equal)? (\S+)|(\S+) (?:each|everywhere))$"
        text = re.sub(each, rf"[\1\2]*{size}", text)
        # 1,5; 2,5 and 1,000; 2,000
        if len(re.findall(r"\d,\d", text)) == size == len(re.split(r";|\band\b", text)):
            text = re.sub(r"(?<=\d),(?=\d)", ".", re.sub(r"(?<=\d),(?=\d{3}\b)", "", text))
        return _Reader(text, True, size).all()
    text = re.sub(r"^all (?=\S+$)", "", text)  # "all 6"
    unit = re.fullmatch(r"([^a-z]*[\d)]) *([a-z]+)", text)
    if unit and (unit[2] in UNITS or len(unit[2]) > 3):  # "8 kB", "4 functions"
        return _each(
            np.multiply, UNITS.get(unit[2], UNITS.get(unit[2].removesuffix("s"), 1.0)), read(unit[1])
        )
    if beside := re.fullmatch(r"(.*\d) +\(([^()]*)\)", text):  # "12 (4 + 8)", and 2 (3 + 4)
        one, other = read(beside[1]), read(beside[2])
        return one if one == other else _each(np.multiply, one, other)
    if re.fullmatch(r"[-+]? *\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}", text):  # 6.000,5
        text = text.replace(".", "").replace(",", ".")
    text = re.sub(r"^([-+]?)(\d+) (\d+/\d+)$", r"\1(\2+\3)", text)
    grouped = re.sub(
        r"(?<![\d.,])[1-9]\d{0,2}(?:[, ']\d{3})+(?![\d,])", lambda m: re.sub("[, ']", "", m[0]), text
    )
    grouped = re.sub(r"^([+-]? *\d+),(\d+)$", r"\1.\2", grouped)
    try:
        return _Reader(grouped, False).all()
    except Unreadable:
        return _Reader(text, True).all()


def counted(text: str) -> str:
    """The text with number words replaced by digits: "twelve", "forty-two", "a hundred"."""
    ones, tens = "|".join(COUNTED), "|".join(TENS)
    worth = {word: n for n, word in enumerate(COUNTED)} | {word: 20 + 10 * n for n, word in enumerate(TENS)}
    whole = rf"\b(?:({tens})(?:[- ]({ones}))?|({ones}))\b"
    text = re.sub(whole, lambda found: str(sum(worth[word] for word in found.groups() if word)), text)
    return re.sub(r"^an? (?=hundred|thousand|million|billion)", "1 ", re.sub(r"^an? (?=\d)", "", text))


def _part(found: re.Match[str]) -> str:
    """ "a third", "two thirds", "half" as numbers."""
    count = found[1] if (found[1] or "a")[0] != "a" else "1"
    return f"({count}/{PARTS[found[2]]})"


class _Reader:
    """Reads one text. With `spaces`, a space separates numbers: `1 -2` is two of them, `1 - 2` is one."""

    def __init__(self, text: str, spaces: bool, size: int = 1):
        self.spaces, self.size = spaces, size
        self.tokens: list[tuple[str, bool]] = []  # and whether a space comes after it
        self.at = place = 0
        while place < len(text.rstrip()):
            found = TOKEN.match(text, place)
            if not found:
                raise Unreadable(text[place:].split()[0][:20])
            self.tokens.append((found[1], bool(found[2])))
            place = found.end()

    def all(self) -> Any:
        """The one value that the whole text is; several are a list."""
        found = self.sequence("", 0)
        return found[0] if len(found) == 1 else found

    def sees(self, *tokens: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at][0] in tokens

    def take(self) -> str:
        if self.at == len(self.tokens):
            raise Unreadable("the end")
        self.at += 1
        return self.tokens[self.at - 1][0]

    def gap(self) -> bool:
        """Whether a space has just been passed."""
        return self.at > 0 and self.tokens[self.at - 1][1]

    def sequence(self, closing: str, depth: int) -> list:
        """Values up to a closing bracket, or to the end. Where rows are separated by `;` there is a list for each."""
        rows: list[list] = [[]]
        while self.at < len(self.tokens) and not self.sees(closing):
            rows[-1].append(self.sum(depth))
            separated = self.sees(*SEPARATORS)
            if self.sees(";"):
                rows.append([])
            while self.sees(*SEPARATORS):  # "1, and 2"
                self.take()
            if not (separated or self.sees(closing) or (self.spaces and self.gap())):
                break
        if closing:
            if not self.sees(closing):
                raise Unreadable(self.tokens[self.at][0] if self.at < len(self.tokens) else "the end")
            self.take()
        elif self.at < len(self.tokens):
            raise Unreadable(self.tokens[self.at][0])
        rows = [row for row in rows if row] or [[]]
        return (
            rows
            if len(rows) > 1 and any(len(row) > 1 for row in rows)
            else [value for row in rows for value in row]
        )

    def sum(self, depth: int) -> Any:
        value = self.product(depth)
        while self.sees("+", "-"):
            if self.spaces and self.gap() and not self.tokens[self.at][1]:
                break  # a sign, not a sum: the next number begins here
            sign = self.take()
            value = _each(np.add if sign == "+" else np.subtract, value, self.product(depth))
        return value

    def product(self, depth: int) -> Any:
        value = self.signed(depth)
        while True:
            if self.sees("*", "/"):
                times, other = self.take() == "*", self.signed(depth)
                repeated = times and self._repeated(value, other)
                value = repeated or _each(np.multiply if times else np.divide, value, other)
            elif (not self.gap() and self.sees("(")) or (  # 2(3 + 4), 2 pi
                not (self.spaces and self.gap()) and self.sees(*NUMBERS, *FUNCTIONS)
            ):
                value = _each(np.multiply, value, self.signed(depth))
            else:
                return value

    def _repeated(self, one: Any, other: Any) -> list | None:
        """`[1/3] * 3` where three numbers are expected."""
        few, count = (one, other) if isinstance(one, list) else (other, one)
        return few * self.size if isinstance(few, list) and len(few) == 1 and count == self.size > 1 else None

    def signed(self, depth: int) -> Any:
        if self.sees("+", "-"):
            return _each(np.multiply, -1.0 if self.take() == "-" else 1.0, self.signed(depth))
        value = self.single(depth)
        if self.sees("^", "**"):
            self.take()
            value = _each(np.power, value, self.signed(depth))
        return value

    def single(self, depth: int) -> Any:
        token = self.take()
        if depth > DEPTH:
            raise Unreadable(token)
        if token in ("[", "{"):
            return self.sequence("]" if token == "[" else "}", depth + 1)
        if token == "(":
            found = self.sequence(")", depth + 1)
            return found[0] if len(found) == 1 else found
        if token in FUNCTIONS:
            return _each(lambda x, _: FUNCTIONS[token](x), self.single(depth + 1), 0.0)
        if token in NUMBERS:
            return NUMBERS[token]
        if not (token[0].isdigit() or token[0] == "."):
            raise Unreadable(token)
        value = float(token)
        if self.sees("%"):
            self.take()
            value *= 0.01
        return value


def _each(operation: Callable, one: Any, other: Any) -> Any:
    """The operation on two numbers, or on each number of a list and one number. Infinity and NaN follow IEEE 754."""
    if isinstance(one, list) and isinstance(other, list):
        raise Unreadable("a list")
    if isinstance(one, list):
        return [_each(operation, item, other) for item in one]
    if isinstance(other, list):
        return [_each(operation, one, item) for item in other]
    with np.errstate(all="ignore"):
        return float(operation(np.float64(one), np.float64(other)))


def means(got: float, due: float, rtol: float, scale: float = 0.0) -> bool:
    """Whether a person who types the number `got` means the number `due`. `scale`: the largest number in the list with `due`.

    Whole numbers must match exactly. Others may be off by `rtol`, or be rounded or cut off after at least two digits.
    A number with three digits or fewer, such as 0.125, must not be rounded.
    """
    got, due = float(got), float(due)
    if not (math.isfinite(got) and math.isfinite(due)):
        return got == due or (math.isnan(got) and math.isnan(due))
    if got.is_integer() and due.is_integer():
        return got == due
    off = abs(got - due)
    if off <= 2e-6 * max(abs(due), scale) + 1e-12:
        return True
    if abs(due - round(due)) <= 2e-6 * abs(due) or (got.is_integer() and abs(got) < 100):
        return False
    if not got.is_integer() and off <= rtol * abs(due):
        return True
    if len(_digits(got)) < (3 if got.is_integer() else 2) or len(_digits(due)) <= 3:
        return False
    unit = 10.0 ** _last_place(got)
    cut_off = (
        not got.is_integer() and got * due > 0 and abs(got) < abs(due) and off < min(unit, 0.0101 * abs(due))
    )
    return off <= 0.5 * unit * (1 + 1e-6) or cut_off


def close(got: float, due: float) -> bool:
    """Whether a number that does not mean `due` is so close that it must have been rounded too far, or found with a nudge."""
    got, due = float(got), float(due)
    if not (math.isfinite(got) and math.isfinite(due)) or got == 0 or got == due:
        return False
    off = abs(got - due)
    rounded = not got.is_integer() and off <= 0.5 * 10.0 ** _last_place(got) * (1 + 1e-6)
    return off <= 0.01 * abs(due) or rounded


def _shortest(value: float) -> str:
    """The fewest digits that identify this number, as float32 if it is one: "3.3e-01"."""
    single = np.float32(value if abs(value) < 3e38 else 0.0)
    return np.format_float_scientific(single if float(single) == value else np.float64(value), trim="-")


def _digits(value: float) -> str:
    return _shortest(value).split("e")[0].strip("-").replace(".", "")


def _last_place(value: float) -> int:
    """The power of ten of the last digit."""
    return int(_shortest(value).split("e")[1]) - len(_digits(value)) + 1
