"""Convert a lesson to plain text and back, for those who prefer a text editor. Sources only, no outputs.

    %% md header
    # 3. One node at a time

    %% code exercise-3-1 [exercise:3.1]
    def square_backward(upstream, x):
        return upstream * ...

A line `%% kind id [tags]` begins a cell; what follows, up to the next such line, is its source. The kind `folded` is
a code cell whose source JupyterLab hides until it is asked for, such as code that only draws.
"""

from __future__ import annotations

import re

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HEAD = re.compile(r"^%% (md|code|folded) ([A-Za-z0-9_-]{1,64})(?: \[([^\]]*)\])?$")


def write(notebook: nbformat.NotebookNode) -> str:
    """Notebook -> text."""
    parts = []
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        kind = "md"
        if cell.cell_type == "code":
            kind = "folded" if cell.metadata.get("jupyter", {}).get("source_hidden") else "code"
        parts.append(
            f"%% {kind} {cell.id}"
            + (f" [{', '.join(tags)}]" if tags else "")
            + "\n"
            + cell.source.rstrip()
            + "\n"
        )
    return "\n".join(parts)


def read(text: str) -> nbformat.NotebookNode:
    """Text -> notebook without outputs. Raises ValueError with the line that cannot be understood."""
    cells, lines = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("%% "):
            head = HEAD.match(line.rstrip())
            if head is None:
                raise ValueError(
                    f"line {number}: {line!r}. A cell begins with: %% md|code|folded the-id [tag, tag]"
                )
            cells.append((*head.groups(), lines := []))
        elif cells:
            lines.append(line)
        elif line.strip():
            raise ValueError(f"line {number}: the text must begin with a line such as: %% md header")
    notebook = new_notebook()
    for kind, name, tags, source in cells:
        cell = (new_markdown_cell if kind == "md" else new_code_cell)("\n".join(source).strip("\n"))
        cell.id = name
        if kind == "folded":
            cell.metadata["jupyter"] = {"source_hidden": True}
        if tags:
            cell.metadata["tags"] = [tag.strip() for tag in tags.split(",")]
        notebook.cells.append(cell)
    return notebook
