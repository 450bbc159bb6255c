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
    if unknown := [w for w in words if w not in (*VIEWS, "draw", "step")]:
        raise ValueError(f"%%viz does not know {unknown[0]!r}. It takes: draw, step, {', '.join(VIEWS)}.")
    code = shell.transform_cell(cell)
    # so that tracebacks and recorded lines refer to the cell
    name = shell.compile.cache(code, shell.execution_count, raw_code=cell)
    tree, scope = ast.parse(code, name), shell.user_ns
    if isinstance(last := tree.body[-1] if tree.body else None, ast.Expr):  # its value has a name, too
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("__viz__", ast.Store())], last.value), last)
    with Recording(name):
        exec(compile(ast.fix_missing_locations(tree), name, "exec"), scope)
    result = scope.pop("__viz__", None)
    found = result if is_tensor(result) else _last_assigned(tree, scope)
    if found is None or found.grad_fn is None:
        raise TypeError(
            "%%viz shows the tensor that the cell ends with, but this cell does not end with a tensor that has a graph. "
            "Put the result, for example loss, on the last line."
        )
    from .stepper import step  # not before it is needed: the import takes a while

    # called from a frame with the cell's variables, so that tensors get their names; names like these are nobody's
    shown, view = draw if "draw" in words else step, next((w for w in words if w in VIEWS), None)
    given = {"__show__": shown, "__view__": view, "__viz__": found}
    return eval("__show__(__viz__, view=__view__)", scope, given)


def _last_assigned(tree: ast.Module, scope: dict[str, Any]) -> Any:
    nodes = (n for node in reversed(tree.body) for n in reversed(list(ast.walk(node))))
    held: Any = (scope.get(n.id) for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return next((value for value in held if is_tensor(value) and value.grad_fn is not None), None)
