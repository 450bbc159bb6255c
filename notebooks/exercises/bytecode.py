"""What a learner's function does with a name, read off its bytecode: calls it, only names it, or sets it.

Used where a check has to know *how* a number was found. Runs nothing.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

CALLED, NAMED, SET = "called", "named", "set"


def uses(function: Any) -> dict[str, set[str]]:
    """For each attribute and global name in the code of `function`, and of functions that it names in turn: how."""
    found: dict[str, set[str]] = {}
    for code in _codes(function):
        for step in dis.get_instructions(code):
            name = step.argval
            if step.opname == "KW_NAMES":  # f(name=...), as 3.11 and 3.12 have it
                name = code.co_consts[step.arg] if not isinstance(name, tuple) else name
            if isinstance(name, tuple):
                for keyword in name:
                    if isinstance(keyword, str):
                        found.setdefault(keyword, set()).add(NAMED)
            elif isinstance(name, str) and step.opname.startswith(
                ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL")
            ):
                called = step.opname == "LOAD_METHOD" or "NULL" in step.argrepr
                found.setdefault(name, set()).add(CALLED if called else NAMED)
            elif isinstance(name, str) and step.opname == "STORE_ATTR":
                found.setdefault(name, set()).add(SET)
    return found


def _codes(function: Any, seen: set | None = None) -> Iterator[CodeType]:
    seen = set() if seen is None else seen
    if not isinstance(function, FunctionType) or function.__code__ in seen:
        return
    todo = [function.__code__]
    while todo:
        code = todo.pop()
        seen.add(code)
        yield code
        todo += [const for const in code.co_consts if isinstance(const, CodeType)]
        for name in code.co_names:  # helpers of the learner's own, defined in the same notebook
            helper = function.__globals__.get(name)
            if isinstance(helper, FunctionType) and helper.__module__ == function.__module__:
                yield from _codes(helper, seen)
