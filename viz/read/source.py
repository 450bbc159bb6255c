"""Which line of the caller's source made which node, read from the text of the caller's cell or function.

An assignment ``y = x @ w`` before the call, in the same scope, made the tensor that ``y`` now names, and the unnamed
temporaries on the way to it. Where that is not certain (``x = f(x)``: a temporary may be an earlier ``x``) no line is
claimed; ``viz.record`` knows all of them. Reads source text only; runs nothing.
"""

from __future__ import annotations

import ast
import linecache
import os
from functools import lru_cache
from types import FrameType

from .graph import Graph

LONGEST = 200  # lines of source shown next to the picture, where they scroll
LARGEST = 20_000  # a file with more lines than this is not searched


def source_of(graph: Graph, frame: FrameType) -> dict | None:
    """Set ``line`` (an index into the lines returned) on every function whose line is certain.

    Returns {"lines", "first" (line number in the file), "file"}, or None where the source cannot be read.
    """
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    made = _assignments(scope_of(lines, frame), frame.f_lineno)
    named = [(f, o.name) for f in graph.functions for o in reversed(f.outputs) if o.named]
    own = {f: made[name] for f, name in named if name in made}
    if not own:
        return None
    numbers: dict = {f: line for f, (line, _, _) in own.items()}
    for f in reversed(graph.functions):
        if f in numbers or f.kind == "accumulate":
            continue
        users = {numbers.get(e.source) for e in f.users}
        again = any(e.source in own and own[e.source][2] for e in f.users)
        if len(users) == 1 and None not in users and not again:
            numbers[f] = users.pop()
    last = max(max(numbers.values()), *(end for line, end, _ in own.values() if line in numbers.values()))
    first = max(min(numbers.values()), last - LONGEST + 1)
    for f, line in numbers.items():
        f.line = line - first if line >= first else None
    return excerpt(lines[first - 1 : last], first, frame.f_code.co_filename)


def scope_of(lines: list[str], frame: FrameType) -> list[ast.stmt]:
    """The statements of the function or module that ``frame`` runs; none where its file is too long."""
    scopes, code = _scopes("".join(lines) if len(lines) <= LARGEST else ""), frame.f_code
    return scopes.get((code.co_name, 0 if code.co_name == "<module>" else code.co_firstlineno), [])


@lru_cache(maxsize=1)
def _scopes(text: str) -> dict[tuple[str, int], list[ast.stmt]]:
    """{(name, first line): statements} of a file's functions, kept until another file is read."""
    tree = syntax(text)
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    made = {(f.name, min([f.lineno, *(d.lineno for d in f.decorator_list)])): f.body for f in functions}
    return made | {("<module>", 0): tree.body}


def syntax(text: str) -> ast.Module:
    """The syntax tree of a source; an empty one for a cell with a magic, or a source that is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _assignments(body: list[ast.stmt], before: int) -> dict[str, tuple[int, int, bool]]:
    """{name: (line, last line, whether the right side uses the name itself)} of the last assignment up to ``before``."""
    made: dict[str, tuple[int, int, bool]] = {}
    todo = list(reversed(body))
    while todo:
        node = todo.pop()
        scope = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
        if scope or node.lineno > before:
            continue
        one = isinstance(node, ast.AugAssign | ast.AnnAssign)
        targets = [node.target] if one else node.targets if isinstance(node, ast.Assign) else []
        value = node if isinstance(node, ast.AugAssign) else getattr(node, "value", None)
        parts = ast.walk(value) if isinstance(value, ast.AST) else ()
        used = {n.id for n in parts if isinstance(n, ast.Name)}
        for name in (part for target in targets for part in ast.walk(target)):
            if isinstance(name, ast.Name):
                made[name.id] = (node.lineno, node.end_lineno, name.id in used)
        for block in ("body", "orelse", "finalbody", "handlers"):
            todo.extend(reversed(getattr(node, block, [])))
    return made


def excerpt(lines: list[str], first: int, file: str) -> dict:
    """Lines of source as they are shown: without their common indentation, with the number of the first line and the file."""
    margin = min((len(t) - len(t.lstrip()) for t in lines if t.strip()), default=0)
    return {"lines": [t.rstrip("\n")[margin:][:300] for t in lines], "first": first, "file": shown_name(file)}


def shown_name(file: str) -> str:
    """The name of a source file; a cell has no file."""
    return "this cell" if file.startswith("<") or "ipykernel" in file else os.path.basename(file)
