"""Links from lesson to lesson lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_lesson_that_is_linked_to_exists(path):
    cells = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown"]
    linked = {name for source in cells for name in re.findall(r"\]\(([^)#]+\.ipynb)[^)]*\)", source)}
    assert [name for name in sorted(linked) if not (NOTEBOOKS / name).exists()] == []
