"""Where a program raised: the entries of a traceback, the expression at that place, and its operands.

Reads the source text and what variables hold; runs none of the program's code.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType, ModuleType
from typing import Any

from .graph import is_module, is_tensor
from .source import shown_name, syntax
from .text import one_line

OPERATORS = {
    ast.MatMult: "matmul", ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow",
    ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.USub: "neg",
}  # fmt: skip
ENDS = ("lineno", "end_lineno", "col_offset", "end_col_offset")  # of a syntax node, as in ``co_positions``


@dataclass(slots=True)
class Place:
    """A line of source."""

    file: str
    number: int

    @property
    def code(self) -> str:
        return one_line(linecache.getline(self.file, self.number).strip())[:200]

    def __str__(self) -> str:
        return f"line {self.number} of {shown_name(self.file)}"


@dataclass(slots=True)
class Entry:
    """One entry of a traceback."""

    frame: FrameType
    instruction: int
    line: int

    @property
    def module(self) -> Any:
        """The module whose method runs here."""
        held = self.frame.f_locals.get("self")
        return held if is_module(type(held)) else None

    @property
    def package(self) -> str:
        """The package whose code runs here."""
        return self.frame.f_globals.get("__name__", "").partition(".")[0]

    @property
    def place(self) -> Place:
        return Place(self.frame.f_code.co_filename, self.line)

    def written(self) -> tuple[ast.AST | None, str]:
        """The expression or statement that raised, and its text."""
        at = next(islice(self.frame.f_code.co_positions(), self.instruction // 2, None), (None,))
        if None in at:
            return None, ""
        text = "".join(linecache.getlines(self.frame.f_code.co_filename, self.frame.f_globals))
        for node in ast.walk(syntax(text)):
            if at == tuple(getattr(node, name, None) for name in ENDS) and not isinstance(node, ast.Expr):
                return node, one_line(" ".join((ast.get_source_segment(text, node) or "").split()))
        return None, ""


def traceback_of(error: BaseException, within: FrameType | None) -> list[Entry]:
    """The traceback from the frame ``within`` onwards; if one exception was raised from another, that of the first."""
    found: list[Entry] = []
    trace = error.__traceback__
    while trace is not None:
        found.append(Entry(trace.tb_frame, trace.tb_lasti, trace.tb_lineno))
        trace = trace.tb_next
    frames = [entry.frame for entry in found]
    found = found[frames.index(within) :] if within in frames else found
    deeper = traceback_of(error.__cause__, within) if error.__cause__ is not None else []
    return deeper if deeper and deeper[0].frame is found[0].frame else found


def resolved(node: ast.AST, frame: FrameType) -> Any:
    """The value of a name, an attribute or an item of a plain container, as long as none of the program's code has to run."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        held = resolved(node.value, frame)
        inside = [getattr(held, "__dict__", {})]
        inside += [inside[0].get(kind) or {} for kind in ("_parameters", "_buffers", "_modules")]
        return next((part[node.attr] for part in inside if node.attr in part), None)
    if isinstance(node, ast.Subscript):
        held, key = resolved(node.value, frame), resolved(node.slice, frame)
        if type(held) in (list, tuple, dict):
            with contextlib.suppress(LookupError, TypeError):
                return held[key]
    return None


def operands_of(node: ast.AST | None, frame: FrameType) -> Iterator[ast.AST]:
    """The operands of an expression, as they are written; for an assertion, everything that it names."""
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.AugAssign):
        yield from (node.target, node.value)
    elif isinstance(node, ast.Subscript):
        yield from (node.value, *(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]))
    elif isinstance(node, ast.Call):
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        if of is not None and not isinstance(resolved(of, frame), ModuleType) and _is_value(of, frame):
            yield of
        for given in [*node.args, *(k.value for k in node.keywords)]:
            yield from given.elts if isinstance(given, ast.List | ast.Tuple) else [given]
    elif isinstance(node, ast.Assert | ast.Raise):
        found = (n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute))
        yield from (n for n in found if is_tensor(resolved(n, frame)))


def _is_value(node: ast.AST, frame: FrameType) -> bool:
    """Whether the object of a method call may be a tensor: it is one, or the result of an expression."""
    held = resolved(node, frame)
    return is_tensor(held) or (held is None and not isinstance(node, ast.Name | ast.Attribute))


# calls that return numbers, not tensors; and calls that return a tensor if they are methods of one
NUMBERS = ["len", "int", "float", "size", "dim", "numel", "item", "stride", "range", "str", "tuple", "list"]
EITHER = ["abs", "min", "max", "round", "sum"]


def may_be_tensor(node: ast.AST, frame: FrameType) -> bool:
    """Whether an expression that no variable holds may have made a tensor: a call or an operation on one."""
    if isinstance(node, ast.BinOp):
        return may_be_tensor(node.left, frame) or may_be_tensor(node.right, frame)
    if isinstance(node, ast.Subscript | ast.UnaryOp):
        return may_be_tensor(node.value if isinstance(node, ast.Subscript) else node.operand, frame)
    if not isinstance(node, ast.Call):
        return is_tensor(resolved(node, frame))
    method = isinstance(node.func, ast.Attribute)
    name = node.func.attr if method else getattr(node.func, "id", "")
    if name in NUMBERS or (name in EITHER and not method):
        return False
    return any(may_be_tensor(part, frame) for part in [*([node.func.value] if method else []), *node.args])


def operation_of(node: ast.AST | None, frame: FrameType) -> str:
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return OPERATORS.get(type(node.op), "the operation")
    if isinstance(node, ast.AugAssign):
        return OPERATORS.get(type(node.op), "the operation") + "_"
    if isinstance(node, ast.Subscript):
        return "indexing" if isinstance(node.ctx, ast.Load) else "assigning to an index"
    if isinstance(node, ast.Call):
        called = resolved(node.func, frame)
        if is_module(type(called)):
            return type(called).__name__
        named = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return named or "the call"
    return {ast.Compare: "the comparison", ast.Assert: "the assertion"}.get(type(node), "the line")
