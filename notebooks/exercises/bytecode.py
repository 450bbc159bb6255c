"""What a learner's function does, according to its bytecode: which names it uses and how, what it never reads, what is blank.

Used where a check has to know *how* a number was found. Runs nothing.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

CALLED, NAMED, SET = "called", "named", "set"


def uses(function: Any) -> dict[str, set[str]]:
    """How each attribute and global name is used in the code of `function`, and of functions that it names in turn."""
    found: dict[str, set[str]] = {}
    for code in _codes(function):
        for step in dis.get_instructions(code):
            name = step.argval
            if step.opname == "KW_NAMES":  # f(name=...) in Python 3.11 and 3.12
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
        for name in code.co_names:  # the learner's own helpers, defined in the same notebook
            helper = function.__globals__.get(name)
            if isinstance(helper, FunctionType) and helper.__module__ == function.__module__:
                yield from _codes(helper, seen)


def _nested(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of all functions that are written inside it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _nested(const)


def unread(function: FunctionType) -> list[str]:
    """The parameters that the function never reads, in their order."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    read = {
        name
        for step in dis.get_instructions(code)
        if step.opname.startswith("LOAD_FAST")
        for name in (step.argval if isinstance(step.argval, tuple) else (step.argval,))
    }
    read |= {name for inner in _nested(code) if inner is not code for name in inner.co_freevars}
    if any(name in ("locals", "vars", "eval", "exec") for inner in _nested(code) for name in inner.co_names):
        return []
    read |= {
        step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF")
    }
    return [name for name in code.co_varnames[:count] if name not in read]


def given_anew(function: FunctionType) -> list[str]:
    """The parameters whose names the function assigns to something else."""
    stored = {
        step.argval
        for step in dis.get_instructions(function.__code__)
        if step.opname in ("STORE_FAST", "STORE_DEREF")
    }
    return [name for name in inspect.signature(function).parameters if name in stored]


def values_of_the_notebook(function: FunctionType) -> list[str]:
    """The global names that the function reads and whose values are not functions, classes or modules."""
    found = []
    for code in _nested(function.__code__):
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval in function.__globals__:
                value = function.__globals__[step.argval]
                if not callable(value) and not isinstance(value, ModuleType) and step.argval not in found:
                    found.append(step.argval)
    return found


def has_blank(function: Any) -> bool:
    """Whether there is a `...` in the code that is not an index: `x[...] = 0` is code, `return ...` is a blank."""
    if isinstance(function, type):
        parts = [getattr(part, "__func__", part) for part in vars(function).values()]
        return any(has_blank(part) for part in parts if isinstance(part, FunctionType))
    if not isinstance(function, FunctionType):
        return False
    for code in _nested(function.__code__):
        steps = list(dis.get_instructions(code))
        for place, step in enumerate(steps):
            loads = step.opname in ("LOAD_CONST", "RETURN_CONST") and step.argval is Ellipsis
            if loads and not _becomes_an_index(steps[place:]):
                return True
    return False


def _becomes_an_index(steps: list[dis.Instruction]) -> bool:
    """Whether the constant that the first step loads, or a tuple with it, is on top of the stack where something is indexed."""
    stack = [False] * 8  # the stack, as far as known: whether each entry is the constant
    for step in steps:
        name, count = step.opname, step.arg or 0
        if name.endswith("_SUBSCR") or step.argrepr == "[]":
            return stack[-1]
        if name in ("BUILD_TUPLE", "BUILD_SLICE") and count:
            stack[-count:] = [any(stack[-count:])]
        elif name == "COPY":
            stack.append(stack[-count])
        elif name == "SWAP":
            stack[-1], stack[-count] = stack[-count], stack[-1]
        elif name == "LOAD_ATTR":
            stack[-1] = False
        elif name.startswith("LOAD_"):
            two = "NULL" in step.argrepr or (isinstance(step.argval, tuple) and name.startswith("LOAD_FAST"))
            stack += [step.argval is Ellipsis] * (1 + two)
        else:
            return False
    return False
