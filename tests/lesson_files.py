"""The lessons, and the pages about them, as the tests see them: files, cells, what a cell prints, a lesson solved."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import nbformat

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


def solved(path: Path) -> nbformat.NotebookNode:
    """The lesson with the solution put into every exercise, the truth into every prediction, and no outputs."""
    notebook = nbformat.from_dict(nbformat.read(path, 4))
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        if key := tagged(cell, "exercise"):
            call = cell.source[cell.source.rindex("check(") :]
            cell.source = f"{lessons.find_exercise(key).solution_source}\n\n{call}"
        if key := tagged(cell, "predict"):
            truth = lessons.find_question(key).truth()
            cell.source = cell.source.replace("...", repr(truth))
    return notebook
