"""Read a table of answers: each line has the code of an answer, ` :: ` and the reply to it.

    2 * x                    :: That is the local derivative alone. Multiply by the upstream gradient.

The reply `right` marks another form of the right answer to a prediction. An answer may take several lines; the last one has
the ` :: `. Empty lines, and lines that begin with `#` between two answers, are skipped. The code is one of

    an expression that uses the parameters of the exercise's function    what that function returns
    any other expression                                                 the answer itself (all parts, if there are several)
    statements that define names of the exercise, as in `dy_dx = 79`     these parts; the others are right
    other statements                                                     the body of the exercise's function
    `old text => new text`                                               the solution with this change

A change need not repeat the solution: `upstream => 1`, `p.grad = None =>` (the line is left out), `loss.backward() => <<` (it
moves one level out), several separated by ` ;; ` (see solution_changes.py).

A line such as `instead of h.detach():` says that the expressions below it replace that piece of the solution (unless they name
a whole function, or parameters that the piece does not). `instead of all:` ends that.

The code may use every name of its lesson's module, and those of COMMON. The name of the exercise's function means the
reference; a function that calls itself is written with its `def`.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
import re
import symtable
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import minigrad

from .solution_changes import changed, is_change

RIGHT = "right"
PIECE = re.compile(r"instead of (.+):")
COMMON = {
    "torch": minigrad,
    "np": np,
    "math": math,
    "warnings": warnings,
    "Fraction": Fraction,
    "Decimal": Decimal,
}
"""What any answer may name without an import in its lesson's module."""


class Row(NamedTuple):
    """One answer of a table: where it begins in its file, its code as written, the reply, and the piece of the solution that
    it replaces."""

    line: int
    code: str
    reply: str
    piece: str = ""


class TableError(ValueError):
    """A row cannot be read. The message names the exercise, the file and the line."""


@dataclass(frozen=True)
class Reader:
    """Reads the tables of one exercise.

    owner:      the exercise's id.
    module:     the module of its lesson, which contains the table and the names that its code may use.
    names:      what the exercise asks for.
    parameters: those of the function that it asks for, if that is what it asks for and nothing else.
    solution:   returns the source of its solution, which a row may change.
    setup:      lines that this source needs before it.
    scope:      the names that it may use beyond those of the lesson's module.
    """

    owner: str
    module: ModuleType
    names: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    solution: Callable[[], str] = lambda: ""
    setup: str = ""
    scope: Mapping[str, Any] = field(default_factory=dict)

    def rows(self, text: str) -> Iterator[Row]:
        """The rows of the table `text`, which is in the source of the lesson."""
        code: list[str] = []
        piece = ""
        begin = _first_line(text, self.module)
        for line, written in enumerate(textwrap.dedent(text).split("\n"), begin):
            before, found, reply = f" {written} ".partition(" :: ")
            if not code and not found and (not written.strip() or written.startswith("#")):
                continue
            if not code and (heading := PIECE.fullmatch(written)):
                piece = "" if heading[1] == "all" else heading[1]
                continue
            code.append(before[1:].rstrip())
            if found:
                row = Row(line - len(code) + 1, "\n".join(code), reply.strip(), piece)
                if not row.reply or not row.code.strip():
                    raise self._error(row, "expected code, ` :: ` and a reply here")
                yield row
                code = []
        if code:
            raise self._error(
                Row(line - len(code) + 1, code[0], ""), "no ` :: ` follows, so there is no reply"
            )

    def answer(self, row: Row) -> Any:
        """The answer that a row gives: a value, a function, or a dict of the parts that it defines."""
        try:
            return self.evaluate(row)
        except Exception as error:
            raise self._error(row, f"{type(error).__name__}: {error}") from error

    def evaluate(self, row: Row) -> Any:
        """The same, but errors of the code are raised unchanged."""
        if is_change(row.code):
            return self._changed(row.code)
        tree = ast.parse(row.code)
        if change := self._in_place(row, tree):
            return self._changed(change)
        scope = COMMON | vars(self.module)
        if len(tree.body) == 1 and isinstance(expression := tree.body[0], ast.Expr):
            if not _free_names(row.code) & set(self.parameters):
                return eval(self._compiled(ast.Expression(expression.value), row), scope)
            tree.body = [ast.copy_location(ast.Return(expression.value), expression)]
        if defined := [name for name in self.names if name in _defined(tree)]:
            exec(self._compiled(tree, row) if row.line else self._kept(row.code), scope)
            return {name: scope[name] for name in defined} if len(self.names) > 1 else scope[defined[0]]
        if not self.parameters:
            raise SyntaxError(f"nothing here is called {' or '.join(self.names)}")
        function = ast.parse(f"def {self.names[0]}({', '.join(self.parameters)}): ...")
        function.body[0].body = tree.body  # type: ignore[attr-defined]
        if not row.line:  # not from a table: Python's own tools treat it like a cell's code
            exec(self._kept(ast.unparse(function)), scope)
            return scope[self.names[0]]
        made: dict[str, Any] = {}  # separate from `scope`, where the exercise's function is the reference
        exec(self._compiled(function, row), scope, made)
        return made[self.names[0]]

    def as_change(self, row: Row) -> str:
        """The row as a change to the solution; "" if it is something else."""
        return row.code if is_change(row.code) else self._in_place(row, ast.parse(row.code))

    def _in_place(self, row: Row, tree: ast.Module) -> str:
        """The change that replaces a piece of the solution by an expression, parsed as `tree`; "" for other code."""
        if not (row.piece and self._replaces(tree, row.piece, COMMON | vars(self.module))):
            return ""
        code = " ".join(row.code.split())
        simple = isinstance(tree.body[0].value, ast.Name | ast.Call | ast.Attribute | ast.Constant)  # type: ignore[attr-defined]
        return f"{row.piece} => {code if simple else f'({code})'}"

    def _replaces(self, tree: ast.Module, piece: str, scope: Mapping[str, Any]) -> bool:
        """Whether the code is an expression that can replace a piece of the solution."""
        if len(tree.body) != 1 or not isinstance(expression := tree.body[0], ast.Expr):
            return False
        named = isinstance(expression.value, ast.Name | ast.Attribute)
        whole = (
            named
            and ast.unparse(tree).split(".")[0] in scope
            and callable(eval(ast.unparse(tree), {**scope}))
        )
        strange = {*self.names, *self.parameters} - set(re.findall(r"\w+", piece))
        return not whole and not {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & strange

    def _changed(self, code: str) -> Any:
        """The names that the solution defines after a change."""
        source = changed(self.solution(), code)
        scope = {**COMMON, **self.scope, **vars(self.module)}
        exec(textwrap.dedent(self.setup), scope)
        exec(self._kept(source), scope)
        parts = {name: scope[name] for name in self.names}
        return parts if len(parts) > 1 else parts[self.names[0]]

    def _kept(self, source: str) -> Any:
        """Compile the code, and keep the source where Python's own tools look for it."""
        file = f"<answer to {self.owner}: {hash(source)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        return compile(source, file, "exec")

    def _compiled(self, tree: Any, row: Row) -> Any:
        """Compile the code with the line numbers of the file, so that a traceback leads to the row."""
        ast.increment_lineno(tree, max(row.line, 1) - 1)
        mode = "eval" if isinstance(tree, ast.Expression) else "exec"
        return compile(ast.fix_missing_locations(tree), self.module.__file__ or "", mode)

    def _error(self, row: Row, message: str) -> TableError:
        file = (self.module.__file__ or self.module.__name__).rpartition("/")[2]
        return TableError(f"{file}, line {row.line}, exercise {self.owner}: `{row.code.strip()}`: {message}")


def _first_line(text: str, module: ModuleType) -> int:
    """The line of the module's file where `text` begins; a table is a raw string, so it is there unchanged. 1 if it is not."""
    source = _source(module)
    return source.count("\n", 0, max(source.find(text), 0)) + 1


def _source(module: ModuleType) -> str:
    return inspect.getsource(module)


def _free_names(code: str) -> set[str]:
    """The names that a piece of code reads and does not bind itself. It may be the body of a function, with `return`."""

    def read(table: symtable.SymbolTable) -> Iterator[str]:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and symbol.is_global():
                yield symbol.get_name()
        for child in table.get_children():
            yield from read(child)

    inside = "def answer():\n" + textwrap.indent(code, " ")
    return set(read(symtable.symtable(inside, "answer", "exec").get_children()[0]))


def _defined(tree: ast.Module) -> set[str]:
    """The names that the statements define: by `def`, `class` or `=`."""
    found: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found.add(statement.name)
        elif isinstance(statement, ast.Assign):
            found |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return found
