"""A wrong program, written as a change to the solution: `old text => new text`.

    upstream => 1                      the piece `upstream` of the solution is replaced by `1`
    p.grad = None =>                   the line is left out
    total = 0 => total = 1 ;; += => -= two changes; each may also be on a separate line
    loss.backward() => <<              the line moves out of its loop, one level to the left (`>>`: to the right)
    return out => << return out[0]     it is moved and changed

The old text must occur exactly once, as whole words. Several statements in place of one are separated by `; `.
"""

from __future__ import annotations

import ast
import itertools
import re

INDENT = " " * 4
ARROW = re.compile(r"(?:^|(?<=\s))=>(?=\s|$)")


class ChangeError(ValueError):
    """A change cannot be made. The message says why."""


def is_change(code: str) -> bool:
    """Whether a row of a table describes a change; a `=>` inside a string does not make it one."""
    if not ARROW.search(code):
        return False
    try:
        ast.parse(code)
    except SyntaxError:
        return True
    return False


def changed(source: str, code: str) -> str:
    """The source of a solution after the changes that `code` lists. All of them refer to the solution as it is written."""
    edits: list[tuple[int, int, str]] = []
    for change in filter(str.strip, re.split(r"\s;;\s|\n", code)):
        parts = ARROW.split(change)
        if len(parts) != 2 or not parts[0].strip():
            raise ChangeError(f"`{change.strip()}` is not of the form `old text => new text`")
        edits += _edits(source, *(part.strip() for part in parts))
    edits.sort()
    for (_, end, _), (begin, _, _) in itertools.pairwise(edits):
        if begin < end:
            raise ChangeError("two of the changes overlap")
    for begin, end, new in reversed(edits):
        source = source[:begin] + new + source[end:]
    return source


def _edits(source: str, old: str, new: str) -> list[tuple[int, int, str]]:
    """The pieces of the source that are replaced: (begin, end, new text)."""
    begin, end = _place(source, old)
    line = source.rfind("\n", 0, begin) + 1
    move, _, rest = new.partition(" ")
    if move == ">>":
        return [(line, line, INDENT), (begin, end, rest.strip() or old)]
    if move == "<<":
        if not source.startswith(INDENT, line):
            raise ChangeError(f"`{old}` cannot move to the left: it is not indented")
        return [(line, line + len(INDENT), ""), (begin, end, rest.strip() or old)]
    behind = re.compile(r"[ \t]*(#.*)?(\n|$)").match(source, end)
    if not new and behind and not source[line:begin].strip():  # the whole line is removed
        return [(line, behind.end(), "")]
    return [(begin, end, new)]


def _place(source: str, old: str) -> tuple[int, int]:
    """The position of the text, as whole words."""
    before, after = (r"(?<!\w)" if old[0].isidentifier() else ""), (r"(?!\w)" if old[-1].isalnum() else "")
    found = list(re.finditer(before + re.escape(old) + after, source))
    if not found:
        raise ChangeError(f"`{old}` is not in the solution")
    if len(found) > 1:
        raise ChangeError(f"`{old}` occurs {len(found)} times in the solution: add some code around it")
    return found[0].span()
