"""The lessons, and the pages about them, as the tests see them: files, cells, what a cell prints, a lesson solved."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import nbformat
from jupyter_client import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

import build
from exercises import lessons

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]*_*.ipynb"))
PAGES = [NOTEBOOKS / f"{name}.ipynb" for name in build.PAGES]
BOOKS = [*LESSONS, *PAGES]


def number_of(path: Path) -> str:
    """ "9" or "9b", by the name of its file."""
    return lessons.short(path.stem.partition("_")[0])


BY_NUMBER = {number_of(path): path for path in LESSONS}


@cache
def read(path: Path) -> nbformat.NotebookNode:
    """The notebook as saved. Shared between tests: not to be changed."""
    return nbformat.read(path, 4)


def printed(cell: nbformat.NotebookNode) -> str:
    """All text that a code cell shows: streams, plain and HTML representations, the first line of an error."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        else:
            parts += [str(output.data[kind]) for kind in ("text/plain", "text/html") if kind in output.data]
    return "\n".join(parts)


def tagged(cell: nbformat.NotebookNode, kind: str) -> str | None:
    """ "3.1" for a cell tagged exercise:3.1 when `kind` is "exercise"; None for any other cell."""
    for tag in cell.metadata.get("tags", []):
        if tag.startswith(f"{kind}:"):
            return tag.split(":", 1)[1]
    return None


def as_it_comes(path: Path) -> nbformat.NotebookNode:
    """The lesson unsolved, with no outputs."""
    notebook = nbformat.from_dict(nbformat.read(path, 4))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def solved(path: Path) -> nbformat.NotebookNode:
    """The lesson with the solution put into every exercise, the truth into every prediction, and no outputs."""
    notebook = as_it_comes(path)
    for cell in notebook.cells:
        if key := tagged(cell, "exercise"):
            call = cell.source[cell.source.rindex("check(") :]
            cell.source = f"{lessons.find_exercise(key).solution_source}\n\n{call}"
        if key := tagged(cell, "predict"):
            truth = lessons.find_question(key).truth()
            cell.source = cell.source.replace("...", repr(truth))
    return notebook


@contextmanager
def one_kernel(**environment: str) -> Iterator[KernelManager]:
    """A kernel for many lessons; other tests run each lesson, as saved, in its own kernel."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(NOTEBOOKS), env=os.environ | environment)
    yield manager
    manager.shutdown_kernel(now=True)


def run_in(kernel: KernelManager, notebook: nbformat.NotebookNode, before: str = "") -> nbformat.NotebookNode:
    """Run every cell in a used kernel, after clearing its variables; ``before``: code to run first."""
    begin = new_code_cell(f"%reset -f\n{before}")
    notebook.cells.insert(0, begin)
    client = NotebookClient(notebook, timeout=120, km=kernel, coalesce_streams=True)
    client.execute()
    client.kc.stop_channels()
    notebook.cells.remove(begin)
    return notebook
