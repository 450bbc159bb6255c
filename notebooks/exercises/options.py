"""The texts of lettered options, by exercise and question: learners may answer with the text instead of the letter.

options.txt is a copy of what the lessons say, so that nothing has to read a notebook at run time. `python -m tools.options`
writes it; a test compares.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("options.txt")


@cache
def _all() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        key, letter, text = line.split(" ", 2)
        found.setdefault(key, {})[letter] = text
    return found


def of(key: str) -> dict[str, str]:
    """{letter: text} for the exercise or question `key`; empty where the lesson lists no options."""
    return _all().get(key, {})
