"""Where a wrong function goes wrong, found by trying: the one small change after which it would be right.

`changes(answer)` makes copies of a learner's function, or of a class's methods, each with a single thing changed: an operand
left out, another operator, name or number, a call removed, a line moved out of its loop. The judge runs the exercise's probe on
them. The sentence for a change says where to look, never what to write there.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CellType, FunctionType
from typing import Any, NamedTuple

OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult, ast.Div),
    ast.Sub: (ast.Add, ast.Mult, ast.Div),
    ast.Mult: (ast.Div, ast.Add, ast.Sub, ast.MatMult, ast.Pow),
    ast.Div: (ast.Mult, ast.Sub, ast.Add),
    ast.FloorDiv: (ast.Div,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitXor: (ast.Pow,),
}
COMPARISONS: tuple[tuple[type, ...], ...] = (
    (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
)
TWINS = (
    ("sum", "mean", "max", "min", "norm"),
    ("sin", "cos"),
    ("sinh", "cosh"),
    ("sigmoid", "tanh", "relu", "exp", "sin"),
    ("log", "log1p"),
    ("numel", "dim"),
    ("mse_loss", "l1_loss", "cross_entropy", "nll_loss"),
)
LIBRARIES = ("torch", "np", "math")
BUILT_IN = ("sum", "max", "min", "len", "prod", "abs")
PARENTHESES = "which parts belong together? Check the parentheses."
SIGN = "is its sign right?"
OTHER_OPERATION = "that is not the operation that belongs there."
LARGEST = 120  # nodes of a function; a longer one is left alone


Found = Iterator[tuple[str, ast.expr]]
"""What is wrong with an expression, and one that can replace it."""


class Change(NamedTuple):
    """A copy of an answer with one thing changed, and where that is."""

    hint: str
    answer: Any


def changes(answer: Any) -> Iterator[Change]:
    """All changed copies of a function or class with known source, the likeliest kinds first."""
    if isinstance(answer, type):
        for name, part in list(vars(answer).items()):
            function = getattr(part, "__func__", part)
            if isinstance(function, FunctionType):
                wrap = type(part) if isinstance(part, staticmethod | classmethod) else (lambda made: made)
                for hint, made in _of_function(function):
                    setattr(answer, name, wrap(made))  # in the class itself: other code may refer to it
                    try:
                        yield Change(hint, answer)
                    finally:
                        setattr(answer, name, part)
    elif isinstance(answer, FunctionType):
        yield from _of_function(answer)


def _inside(function: FunctionType) -> Iterator[Change]:
    """Changes to the functions in a function's closure."""
    for place, cell in enumerate(function.__closure__ or ()):
        if isinstance(cell.cell_contents, FunctionType) and cell.cell_contents is not function:
            for hint, inner in _of_function(cell.cell_contents):
                cells = list(function.__closure__ or ())
                cells[place] = CellType(inner)
                made = FunctionType(function.__code__, function.__globals__, closure=tuple(cells))
                yield Change(hint, _called_as(function, made))


def _of_function(function: FunctionType) -> Iterator[Change]:
    yield from _inside(function)
    tree = _parsed(function)
    if tree is None or _size(tree) > 6 * LARGEST:
        return
    for edits in (_in_statements, _in_expressions):  # naming a superfluous line says the most
        for hint, changed in edits(tree):
            if (made := _compiled(changed, function)) is not None:
                yield Change(hint, made)


def pairs(answer: Any) -> Iterator[Change]:
    """Copies of a very short function with two things changed. The reply points to the first of the two."""
    tree = _parsed(answer) if isinstance(answer, FunctionType) else None
    if tree is None or _size(tree) > LARGEST // 2:
        return
    for hint, once in _in_expressions(tree):
        for also, twice in _in_expressions(_copied(once)):
            cancel = SIGN in hint and SIGN in also
            if not cancel and (made := _compiled(twice, answer)) is not None:
                yield Change(hint, made)


def _size(tree: ast.AST) -> int:
    return sum(1 for _ in ast.walk(tree))


def _parsed(function: FunctionType) -> ast.FunctionDef | None:
    """The definition of a function, or None where its source is not known (or is one of several lambdas on a line)."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    found = tree.body[0] if tree.body else None
    if not isinstance(found, ast.FunctionDef) or found.name != function.__name__:
        return None
    found.decorator_list = []
    return found


def _compiled(tree: ast.FunctionDef, function: FunctionType) -> FunctionType | None:
    made: dict[str, Any] = {}
    try:
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        scope = function.__globals__ | {name: cell.cell_contents for name, cell in cells}
        exec(compile(ast.Module([tree], []), "<changed>", "exec"), scope, made)
    except Exception:  # a change that makes no sense
        return None
    return _called_as(function, made[tree.name])


def _called_as(function: FunctionType, made: FunctionType) -> FunctionType:
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made


# changes inside an expression: each replaces one node by another


def _in_expressions(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    places = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and not _stored(node)]
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    given = [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    targets = [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)]
    stored = [ast.unparse(node) for node in targets if _stored(node)]
    known: list[ast.expr] = [ast.parse(name, mode="eval").body for name in (*given, *stored)]
    known += [node for node in places if isinstance(node, ast.Name | ast.Subscript | ast.Attribute)]
    distinct = {ast.unparse(node): node for node in known}
    names = [name for name in distinct if name.split(".")[0] not in LIBRARIES and len(name) < 25]
    pieces = [distinct[name] for name in names]
    shown = functools.cache(lambda node: _shown(node, parents))
    alike: dict[tuple[str, str], list[tuple[ast.expr, ast.expr]]] = {}
    for kind in (
        _less,
        _reordered,
        _twin,
        _other_operator,
        _other_comparison,
        _other_name,
        _other_number,
        _arguments,
        _sliced,
        _turned,
        _more,
    ):
        for node in places:
            if _in_a_call_of_a_function(node, parents):
                continue
            if kind is _less and isinstance(parents.get(id(node)), ast.Expr):
                continue  # the whole line is left out below
            for hint, new in kind(node, pieces):
                alike.setdefault((hint, _same_change(kind, new)), []).append((node, new))
                yield f"Look at {shown(node)}: {hint}", _with(tree, {id(node): new}, parents)
        for (hint, _), places_alike in alike.items():
            if len(places_alike) > 1:
                look = f"Look at {shown(places_alike[0][0])}: {hint}"
                every = _with(tree, {id(node): new for node, new in places_alike}, parents)
                yield f"{look} It appears {len(places_alike)} times.", every
        alike.clear()


def _same_change(kind: Callable, new: ast.expr) -> str:
    """What two changes with the same words must have in common, so that both are made at once."""
    if kind in SAME:
        return ast.dump(new)
    return type(new.op).__name__ if isinstance(new, ast.BinOp) else ""


def _stored(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)


def _in_a_call_of_a_function(node: ast.expr, parents: dict[int, ast.AST]) -> bool:
    """Whether the node is the function being called, such as `torch.exp`: that is changed by `_twin` as a whole."""
    parent = parents.get(id(node))
    if isinstance(parent, ast.Attribute):
        return (
            _in_a_call_of_a_function(parent, parents) and isinstance(node, ast.Name) and node.id in LIBRARIES
        )
    return isinstance(parent, ast.Call) and parent.func is node


def _shown(node: ast.AST, parents: dict[int, ast.AST]) -> str:
    """The piece of code to look at, with a little around it, between backticks."""
    around = parents.get(id(node))
    if isinstance(around, ast.keyword):
        around = parents.get(id(around))
    apart = isinstance(around, ast.Tuple | ast.List | ast.Dict) or (
        isinstance(node, ast.BinOp) and isinstance(around, ast.stmt)
    )
    short = isinstance(around, ast.expr | ast.AugAssign) and len(ast.unparse(around)) < 40
    shown = ast.unparse(around if short and not apart else node)  # type: ignore[arg-type]
    return f"`{shown.replace('`', chr(39))[:60]}`"


def _code(node: ast.AST) -> str:
    return ast.unparse(node).replace("`", "'")[:50]


def _less(node: ast.expr, pieces: list[ast.expr]) -> Found:
    """Something left out."""
    too_much = "`{}` does not belong there.".format
    match node:
        case ast.BinOp(left, _, right):
            yield too_much(_code(right)), left
            yield too_much(_code(left)), right
        case ast.UnaryOp(ast.USub(), operand):
            yield "the minus sign does not belong there.", operand
        case ast.Call(ast.Attribute(value, name), []) if not _library(value):
            yield too_much(f".{name}()"), value
        case ast.Call(function, [only, *_]) if len(ast.unparse(function)) < 30:
            yield too_much(f"{_code(function)}(...)"), only
        case ast.Subscript(value, _):
            yield too_much(f"[{_code(node.slice)}]"), value
        case ast.Attribute(value, "T" | "data"):
            yield too_much(f".{node.attr}"), value
        case ast.IfExp(_, body, orelse):
            yield "is a choice needed there?", body
            yield "is a choice needed there?", orelse
    if isinstance(node, ast.Call):
        for place, argument in enumerate(node.args):
            rest = [*node.args[:place], *node.args[place + 1 :]]
            yield too_much(_code(argument)), ast.Call(node.func, rest, node.keywords)


def _library(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in LIBRARIES


def _other_operator(node: ast.expr, pieces: list[ast.expr]) -> Found:
    if not isinstance(node, ast.BinOp):
        return
    for other in OPERATORS.get(type(node.op), ()):
        yield OTHER_OPERATION, ast.BinOp(node.left, other(), node.right)
    if isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow):
        yield "the two sides are in the wrong order.", ast.BinOp(node.right, node.op, node.left)
    if isinstance(node.op, ast.MatMult):
        left, right = map(_transposed, (node.left, node.right))
        yield "the transpose is on the wrong factor.", ast.BinOp(left, node.op, right)
    # brackets: a op (b op2 c) for (a op b) op2 c
    if isinstance(one := node.left, ast.BinOp):
        inner = ast.BinOp(one.right, node.op, node.right)
        yield PARENTHESES, ast.BinOp(one.left, one.op, inner)
    if isinstance(one := node.right, ast.BinOp):
        inner = ast.BinOp(node.left, node.op, one.left)
        yield PARENTHESES, ast.BinOp(inner, one.op, one.right)


def _transposed(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return node.value
    return ast.Attribute(node, "T", ast.Load())


def _other_comparison(node: ast.expr, pieces: list[ast.expr]) -> Found:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in next(kinds for kinds in COMPARISONS if type(node.ops[0]) in kinds):
            if not isinstance(node.ops[0], other):
                yield "that is not the right comparison.", ast.Compare(node.left, [other()], node.comparators)


def _other_name(node: ast.expr, pieces: list[ast.expr]) -> Found:
    named = isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
    if named or (isinstance(node, ast.Call) and len(ast.unparse(node)) < 12):  # len(x)
        numbers = map(ast.Constant, (0, 1, 2)) if isinstance(node, ast.Name | ast.Attribute) else ()
        name, hint = ast.unparse(node), f"`{_code(node)}` is not what belongs there."
        for piece in (*pieces, *numbers) if name not in LIBRARIES else ():
            if ast.unparse(piece) != name:
                yield hint, piece


def _other_number(node: ast.expr, pieces: list[ast.expr]) -> Found:
    match node:
        case ast.Constant(bool(value)):
            yield "should it be the opposite?", ast.Constant(not value)
        case ast.Constant(int(number) | float(number)):
            for other in (0, 1, 2, 3, 0.5, number + 1, number - 1, -number, number / 2, number * 2):
                if other != number:
                    yield f"is {number:g} the right number?", ast.Constant(other)
            for piece in pieces:
                yield f"is {number:g} right in every call?", piece


def _more(node: ast.expr, pieces: list[ast.expr]) -> Found:
    """A factor, a term or a division added."""
    if isinstance(node, ast.BinOp | ast.Name | ast.Subscript | ast.Call | ast.Attribute):
        yield "a square is missing there.", ast.BinOp(node, ast.Pow(), ast.Constant(2))
        for piece in (*pieces, *map(ast.Constant, (2, 3, 5, 10))):
            yield "a factor is missing there.", ast.BinOp(node, ast.Mult(), piece)
        for piece in pieces:
            yield "a term is missing there.", ast.BinOp(node, ast.Add(), piece)
            yield "a division is missing there.", ast.BinOp(node, ast.Div(), piece)


def _twin(node: ast.expr, pieces: list[ast.expr]) -> Found:
    """Another function of the same kind: the mean for the sum."""
    match node:
        case ast.Call(ast.Name(name), arguments, keywords) if name in BUILT_IN:
            others = {other: ast.Name(other, ast.Load()) for other in BUILT_IN}
        case ast.Call(ast.Attribute(value, name), arguments, keywords):
            alike = [other for family in TWINS if name in family for other in family]
            others = {other: ast.Attribute(value, other, ast.Load()) for other in alike}
        case _:
            return
    for other, called in others.items():
        if other != name:
            yield f"`{name}` is not the function that belongs there.", ast.Call(called, arguments, keywords)


def _arguments(node: ast.expr, pieces: list[ast.expr]) -> Found:
    if isinstance(node, ast.Call):
        for place in range(len(node.args) - 1):
            one, other = node.args[place : place + 2]
            swapped = [*node.args[:place], other, one, *node.args[place + 2 :]]
            yield "two of the arguments are in the wrong order.", ast.Call(node.func, swapped, node.keywords)


def _sliced(node: ast.expr, pieces: list[ast.expr]) -> Found:
    """A different part of a list: one item, everything from it on, everything up to it."""
    if isinstance(node, ast.Slice):
        for piece in (*pieces, ast.Constant(0)):
            after = ast.BinOp(piece, ast.Add(), ast.Constant(1))
            for new in (ast.Slice(piece, after), ast.Slice(piece, None), ast.Slice(None, piece)):
                yield "that is not the part that belongs there.", new


def _reordered(node: ast.expr, pieces: list[ast.expr]) -> Found:
    """Two operations in the opposite order: the mean of the squares for the square of the mean; also a square for an `abs`."""
    outer = _single(node)
    inner = _single(outer[1]) if outer else None
    if outer and inner:
        yield "two operations are in the wrong order there.", inner[0](outer[0](inner[1]))
    match node:  # f(a) + b and f(a + b)
        case ast.BinOp(ast.Call(function, [inside], []), operation, other):
            yield PARENTHESES, ast.Call(function, [ast.BinOp(inside, operation, other)], [])
        case ast.Call(function, [ast.BinOp(inside, operation, other)], []):
            yield PARENTHESES, ast.BinOp(ast.Call(function, [inside], []), operation, other)
    match node:
        case ast.Call(ast.Attribute(value, "abs"), []) | ast.Call(ast.Name("abs"), [value]):
            yield "`abs` is not what belongs there.", ast.BinOp(value, ast.Pow(), ast.Constant(2))
        case ast.BinOp(value, ast.Pow(), ast.Constant(2)):
            made = ast.Call(ast.Name("abs", ast.Load()), [value], [])
            yield "the square is not what belongs there.", made


def _single(node: ast.expr) -> tuple[Callable[[ast.expr], ast.expr], ast.expr] | None:
    """For an operation on one operand (x**2, -x, x.mean(), torch.exp(x)): how to apply it to another, and its operand."""
    match node:
        case ast.BinOp(value, ast.Pow(), power):
            return lambda new: ast.BinOp(new, ast.Pow(), power), value
        case ast.UnaryOp(ast.USub(), value):
            return lambda new: ast.UnaryOp(ast.USub(), new), value
        case ast.Call(ast.Attribute(ast.Name(library), _) as function, [value]) if library in LIBRARIES:
            return lambda new: ast.Call(function, [new], node.keywords), value
        case ast.Call((ast.Name() | ast.Subscript()) as function, [value]):
            return lambda new: ast.Call(function, [new], node.keywords), value
        case ast.Call(ast.Attribute(value, name), []) if not _library(value):
            return lambda new: ast.Call(ast.Attribute(new, name, ast.Load()), [], node.keywords), value
    return None


def _turned(node: ast.expr, pieces: list[ast.expr]) -> Found:
    """Something added: a minus, a transpose."""
    if isinstance(node, ast.BinOp | ast.Name | ast.Call):
        yield SIGN, ast.UnaryOp(ast.USub(), node)
    if isinstance(node, ast.Name | ast.Attribute):
        yield "does it need a transpose?", ast.Attribute(node, "T", ast.Load())


SAME = (_more, _other_name, _other_number, _other_comparison, _sliced)
"""Kinds of changes that are made in several places at once only if it is the very same change."""


def _with(tree: ast.FunctionDef, instead: dict[int, ast.expr], parents: dict[int, ast.AST]) -> Any:
    """The tree with some nodes, given by their `id`, replaced. Nodes not on the way to these are shared by both trees,
    since one function has a thousand changed copies."""
    around = {id(tree)}
    for ident in instead:
        while (parent := parents.get(ident)) is not None and id(parent) not in around:
            around.add(ident := id(parent))

    def put(node: Any) -> Any:
        if id(node) in instead:
            return ast.fix_missing_locations(ast.copy_location(instead[id(node)], node))
        if isinstance(node, list):
            return [put(item) for item in node]
        return _like(node, put) if id(node) in around else node

    return put(tree)


def _copied(node: Any) -> Any:
    """A tree in which no node is in two places."""
    if isinstance(node, list):
        return [_copied(item) for item in node]
    return _like(node, _copied) if isinstance(node, ast.AST) else node


def _like(node: ast.AST, part: Callable[[Any], Any]) -> ast.AST:
    """A node of the same kind in the same place, with different children."""
    parts = {name: part(value) for name, value in ast.iter_fields(node)}
    return ast.copy_location(type(node)(**parts), node)


# changes of whole lines


def _in_statements(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in _blocks(tree):
        for place in range(len(_at(tree, path))):
            for hint, edit in _edits(_at(tree, path), place):
                changed = copy.deepcopy(tree)
                edit(_at(changed, path))
                yield f"Look at {hint}", ast.fix_missing_locations(changed)


def _edits(block: list[ast.stmt], place: int) -> Iterator[tuple[str, Callable[[list], object]]]:
    """What can be done to the statement at this place of a block: each edit changes a copy of the block."""
    statement, *after = block[place:]
    line, following = _line(statement), _line(after[0]) if after else ""
    if len(block) > 1:
        yield f"{line}: without that line it would be right.", lambda b: b.pop(place)
    if after:
        yield (
            f"{line} and {following}: they are in the wrong order.",
            lambda b: b.insert(place, b.pop(place + 1)),
        )
    if isinstance(statement, ast.AugAssign):
        for other in OPERATORS.get(type(statement.op), ()):
            made = ast.AugAssign(statement.target, other(), statement.value)
            yield f"{line}: {OTHER_OPERATION}", lambda b, made=made: b.__setitem__(place, made)
        made = ast.Assign([statement.target], statement.value)
        yield f"{line}: should it really build on the old value?", lambda b: b.__setitem__(place, made)
    if isinstance(statement, ast.For | ast.While | ast.With | ast.If):
        if len(statement.body) > 1:
            last = _line(statement.body[-1])
            hint = f"{last}: it is inside a block. Should it come after it?"
            yield hint, lambda b: b.insert(place + 1, b[place].body.pop())
        if after:
            hint = f"{following}: should it be inside the block above it?"
            yield hint, lambda b: b[place].body.append(b.pop(place + 1))


def _line(statement: ast.stmt) -> str:
    """The first line of a statement, between backticks."""
    return f"`{_code(statement).splitlines()[0]}`"


def _blocks(tree: ast.AST, path: tuple = ()) -> Iterator[tuple]:
    """The path to each list of statements in the tree: (field, place, field, ...)."""
    for field in ("body", "orelse"):
        block = getattr(tree, field, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield (*path, field)
            for place, statement in enumerate(block):
                yield from _blocks(statement, (*path, field, place))


def _at(tree: ast.AST, path: tuple) -> list[ast.stmt]:
    found: Any = tree
    for step in path:
        found = found[step] if isinstance(step, int) else getattr(found, step)
    return found
