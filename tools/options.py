"""Write notebooks/exercises/options.txt: the options (**a**, **b**, ...) above each cell of an exercise or prediction.

python -m tools.options
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
OPTION = re.compile(r"\*\*([a-z])\*\* (.+?)(?=(?: ·|,)? \*\*[a-z]\*\* |\?|$)", re.M)


def lines() -> Iterator[str]:
    """For each option, "3.5 a its text"."""
    for path in sorted([*NOTEBOOKS.glob("[0-9]*.ipynb"), NOTEBOOKS / "exam.ipynb"]):
        above = ""
        for cell in nbformat.read(path, 4).cells:
            if cell.cell_type == "markdown":
                above += "\n" + cell.source
                continue
            for tag in cell.metadata.get("tags", []):
                kind, _, key = tag.partition(":")
                key = f"exam.{key}" if kind == "exam" else key
                found = OPTION.findall(above) if kind in ("predict", "exercise", "exam") else []
                if [letter for letter, _ in found] == sorted({letter for letter, _ in found}):
                    yield from (
                        f"{key} {letter} {text.replace('`', '').replace('$', '')}" for letter, text in found
                    )
            above = ""


if __name__ == "__main__":
    file = NOTEBOOKS / "exercises" / "options.txt"
    file.write_text("\n".join(lines()) + "\n", encoding="utf-8")
