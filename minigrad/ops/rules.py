"""The derivative rules as text: as the visualiser shows them, and as they stand in a node's `vjp`.

In a plain backward pass a rule works on arrays. If it is a single expression its text is put where its value is needed,
which saves a call, with three changes that make it quicker and leave the numbers as they are: a Python number beside an
array becomes an array of the gradient's dtype, and the products of matrices are formed by `ndarray.dot`, for NumPy
takes its time over either; an elementwise operation on arrays becomes its forward function. The product for a matrix
that is the transpose of another, as a layer's weight is, is formed as (Bᵀ Aᵀ)ᵀ: what arrives there lies in memory as it
should, which PyTorch sees to, too (mm_mat2_backward), and need not be copied.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
from collections.abc import Callable, Collection, Mapping
from types import CodeType, ModuleType

import numpy as np


def parameters_of(function: Callable) -> tuple[str, ...]:
    """The names of a function's positional parameters (none for NumPy's compiled functions)."""
    code = getattr(function, "__code__", None)
    return () if code is None else code.co_varnames[: code.co_argcount]


MASK = "grad_input_mask"


def gives_several(rule: Callable) -> bool:
    """Is this a rule for several inputs, which is told whose gradients are needed?"""
    return MASK in parameters_of(rule)


def names_read(rule: Callable) -> tuple[str, ...]:
    """What a rule reads besides the gradient, which it gets first, and the mask, which it gets next if at all."""
    return parameters_of(rule)[2 if gives_several(rule) else 1 :]


def one_of_several(rule: Callable, place: int, count: int) -> Callable:
    """The rule of one input alone, from one that gives the gradients of `count` inputs.

    Forward mode needs it: there `grad` is another one for each input.
    """
    mask = tuple(i == place for i in range(count))
    return lambda grad, *values: rule(grad, mask, *values)[place]


@functools.lru_cache(maxsize=2048)
def source_text(rule: Callable) -> str:
    """The body of a rule that is a lambda; for a longer function its call, such as `sum_backward(grad, dim)`.

    What only saves time, and so is kept under a name that begins with an underscore, is left out.
    """
    code = rule.__code__
    if code.co_name != "<lambda>":
        return f"{rule.__name__}({', '.join(name for name in parameters_of(rule) if name[0] != '_')})"
    spans = [((p[0], p[2]), (p[1], p[3])) for p in code.co_positions() if p[2] is not None]
    # empty ones belong to the lambda as a whole
    spans = [(start, end) for start, end in spans if start != end]
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first[0], last[0] + 1)]
    lines[-1] = lines[-1][: last[1]]
    lines[0] = lines[0][first[1] :]
    return " ".join(part.decode().strip() for part in lines)


class Number(dict):
    """A Python number as an array without dimensions, for each dtype that is asked for."""

    def __init__(self, value: float):
        self.value = value

    def __missing__(self, dtype: np.dtype) -> np.ndarray:
        found = self[dtype] = np.asarray(self.value, dtype)
        return found


transposing: set[type] = set()  # the classes of nodes that transpose a matrix, see shape.py


def written_in(
    rule: Callable, values: Mapping[str, str], arrays: Collection[str], matrices: str, scope: dict
) -> str:
    """The expression for what a rule returns, to stand in a function that has `scope` for its globals.

    values: what the rule's parameters, in their order, are called there. arrays: those of the gradient's dtype.
    matrices: if the arrays have one or two dimensions, what the node that gets the result is called, else "".
    Where its text cannot be had the rule is called.
    """
    body = expression_of(rule)
    if body is not None:
        names = {n.id for n in ast.walk(body) if isinstance(n, ast.Name)} - set(values)
        found = {name: rule.__globals__.get(name, vars(builtins).get(name)) for name in names}
        if all(scope.get(name, thing) is thing is not None for name, thing in found.items()):
            scope |= found
            return ast.unparse(ForArrays(values, arrays, matrices, scope).visit(body))
    name = f"rule{sum(key.startswith('rule') for key in scope)}"
    scope[name] = rule
    return f"{name}({', '.join(values.values())})"


def expression_of(rule: Callable) -> ast.expr | None:
    """The body of a lambda; None if that is not all there is to know of it, or if its text is not to be trusted.

    Without the source file, or with one that was edited since it was imported, the text is that of something else.
    """
    code = rule.__code__
    if code.co_name != "<lambda>" or code.co_freevars or code.co_cellvars:
        return None
    text = f"lambda {', '.join(parameters_of(rule))}: ({source_text(rule)})"
    try:
        whole = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    inner = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.NamedExpr)
    if any(isinstance(part, inner) for part in ast.walk(whole.body)):
        return None
    # a call of a function of an imported module is compiled in its own way
    modules = [n for n in code.co_names if isinstance(rule.__globals__.get(n), ModuleType)]
    module = compile("".join(f"import {n}\n" for n in modules) + text, code.co_filename, "exec")
    again = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    same = (again.co_code, again.co_consts, again.co_names) == (code.co_code, code.co_consts, code.co_names)
    return whole.body if same else None


class ForArrays(ast.NodeTransformer):
    """Rewrites the body of a rule for arrays."""

    def __init__(self, values: Mapping[str, str], arrays: Collection[str], matrices: str, scope: dict):
        self.values, self.arrays, self.matrices, self.scope = values, arrays, matrices, scope

    def is_array(self, part: ast.expr) -> bool:
        """Is this certainly an array of the gradient's dtype (or a number of NumPy's)?"""
        match part:
            case ast.Name(id):
                return id in self.arrays
            case ast.UnaryOp(ast.USub(), operand):
                return self.is_array(operand)
            case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right):
                sides = (left, right)
                return any(map(self.is_array, sides)) and all(self.is_array(s) or is_number(s) for s in sides)
            case ast.Call(ast.Name(id), arguments, []):
                op = getattr(self.scope.get(id), "op", None)
                return op is not None and op.kind == "elementwise" and all(map(self.is_array, arguments))
        return False

    def visit_Name(self, part: ast.Name) -> ast.expr:
        return ast.Name(self.values.get(part.id, part.id), part.ctx)

    def visit_BinOp(self, part: ast.BinOp) -> ast.expr:
        if isinstance(part.op, ast.MatMult) and self.matrices:
            return self.product(self.visit(part.left), self.visit(part.right))
        if isinstance(part.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            left, right = self.beside(part.left, part.right)
            return ast.BinOp(left, part.op, right)
        return self.generic_visit(part)

    def product(self, left: ast.expr, right: ast.expr) -> ast.expr:
        """A product of matrices, formed as the transpose of the transposed product where it is transposed again."""
        self.scope["transposing"] = transposing
        turned = ast.parse(f"type({self.matrices}) in transposing", mode="eval").body
        return ast.IfExp(turned, transposed(dot(transposed(right), transposed(left))), dot(left, right))

    def visit_Call(self, part: ast.Call) -> ast.expr:
        """An operation on arrays is what its forward function computes."""
        if not self.is_array(part):
            return self.generic_visit(part)
        name = f"{part.func.id}_forward"
        self.scope[name] = self.scope[part.func.id].op.forward
        return ast.Call(ast.Name(name, ast.Load()), list(map(self.visit, part.args)), [])

    def visit_Compare(self, part: ast.Compare) -> ast.expr:
        if len(part.ops) == 1:
            left, right = self.beside(part.left, part.comparators[0])
            return ast.Compare(left, part.ops, [right])
        return self.generic_visit(part)

    def beside(self, *sides: ast.expr) -> list[ast.expr]:
        """Two operands, of which one is made an array if it is a number and the other an array."""
        some = any(map(self.is_array, sides))
        return [self.number(s) if some and is_number(s) else self.visit(s) for s in sides]

    def number(self, part: ast.expr) -> ast.expr:
        value = ast.literal_eval(part)
        name = f"number_{value}".replace("-", "minus_").replace(".", "_")
        self.scope.setdefault(name, Number(value))
        return ast.parse(f"{name}[grad.dtype]", mode="eval").body


def dot(left: ast.expr, right: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(left, "dot", ast.Load()), [right], [])


def transposed(part: ast.expr) -> ast.expr:
    match part:
        case ast.Attribute(inner, "T"):
            return inner
    return ast.Attribute(part, "T", ast.Load())


def is_number(part: ast.expr) -> bool:
    if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
        part = part.operand
    return isinstance(part, ast.Constant) and type(part.value) in (int, float)
