"""``%%viz``: run a notebook cell under ``viz.record`` and step through the pass of the tensor that it ends with.

    %%viz                 the stepper of the cell's last expression (or last assigned tensor)
    %%viz draw            only the picture
    %%viz cards           another view; words can be combined: %%viz draw functions

Registered when ``viz`` is imported in IPython. Importing this module needs no IPython.
"""

from __future__ import annotations

import ast
import sys
from typing import Any

from ..picture.draw import draw
from ..picture.views import VIEWS
from ..read.graph import is_tensor
from ..read.record import Recording


def register() -> None:
    """Register ``%%viz`` if IPython runs; otherwise do nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        shell.register_magic_function(lambda line, cell: run(shell, line, cell), "cell", "viz")


def run(shell: Any, line: str, cell: str) -> Any:
    """The magic itself: the picture or stepper of the tensor that ``cell`` ends with.

    Raises ValueError for an unknown word after ``%%viz`` and TypeError when the cell ends with no tensor that has a graph.
    """
    words = line.split()
    unknown = [w for w in words if w not in (*VIEWS, "draw", "step")]
    if unknown:
        raise ValueError(f"%%viz does not know {unknown[0]!r}. It takes: draw, step, {', '.join(VIEWS)}.")
    code = shell.transform_cell(cell)
    # tracebacks and lines know the cell
    name = shell.compile.cache(code, shell.execution_count, raw_code=cell)
    tree = ast.parse(code, name)
    last = tree.body[-1] if tree.body else None
    expression = None
    if isinstance(last, ast.Expr):
        expression = compile(ast.Expression(tree.body.pop().value), name, "eval")
    scope = shell.user_ns
    with Recording(name):
        exec(compile(tree, name, "exec"), scope)
        result: Any = None if expression is None else eval(expression, scope)
    found = result if is_tensor(result) else _last_assigned(tree, scope)
    if found is None or found.grad_fn is None:
        raise TypeError(
            "%%viz shows the tensor that the cell ends with, but this cell does not end with a tensor that has a graph. "
            "Put the result, for example loss, on the last line."
        )
    names = {k: v for k, v in scope.items() if not k.startswith("_") and is_tensor(v)}
    view = next((w for w in words if w in VIEWS), None)
    from .stepper import step  # not before it is needed: the import takes a while

    # called with the cell's variables around it: what they hold has its names
    show = draw if "draw" in words else step
    given = {"show": show, "found": found, "given": {"view": view, "names": names}}
    return eval("show(found, **given)", scope, given)


def _last_assigned(tree: ast.Module, scope: dict[str, Any]) -> Any:
    nodes = (n for node in reversed(tree.body) for n in reversed(list(ast.walk(node))))
    held = (scope.get(n.id) for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    tensors: Any = filter(is_tensor, held)
    return next((value for value in tensors if value.grad_fn is not None), None)
