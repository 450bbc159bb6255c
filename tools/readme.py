"""Write the table of lessons in README.md from the lessons' own headers. `make notebooks` does it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
TABLE = re.compile(r"(?<=\| --- \| --- \|\n)(?:\|.*\n)*")


def row(path: Path) -> str:
    """| [3. One node at a time](notebooks/03_one_node_at_a_time.ipynb) | 35 |"""
    header = nbformat.read(path, 4).cells[0].source
    title = re.search(r"^# (.+)$", header, re.M)[1]
    minutes = re.search(r"\*\*Minutes\.\*\* (\d+)", header)[1]
    return f"| [{title}](notebooks/{path.name}) | {minutes} |\n"


def with_lessons(readme: str) -> str:
    """The text of the README with the table as it should be."""
    rows = "".join(map(row, sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))))
    return TABLE.sub(lambda _: rows, readme, count=1)


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(with_lessons(readme.read_text()))
