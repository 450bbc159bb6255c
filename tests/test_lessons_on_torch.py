"""Lesson 00 promises that every line works in PyTorch too. Each lesson is run with torch in minigrad's place, pictures and
steppers included, and has to print what it prints with minigrad."""

from __future__ import annotations

import re

import nbformat
import pytest

from tests.lesson_files import BY_NUMBER, one_kernel, run_in, tagged

MINIGRAD_ONLY = {"7b": {"rules"}}
"""Cells that show something of minigrad's own."""


def text_of(cell: nbformat.NotebookNode) -> str:
    """What a cell prints and the text of what it shows."""
    parts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        else:
            parts.append(output.data.get("text/plain", ""))
    return re.sub(r"0x[0-9a-f]+", "0x", "".join(parts))


@pytest.fixture(scope="module")
def kernel():
    # one thread, as in the tests: they run two at a time, and more threads would wait for each other
    with one_kernel(OMP_NUM_THREADS="1") as manager:
        yield manager


@pytest.mark.parametrize("number", BY_NUMBER)
def test_a_lesson_prints_the_same_with_torch(number, torch, kernel):
    saved = nbformat.read(BY_NUMBER[number], 4)
    lesson = nbformat.from_dict(nbformat.read(BY_NUMBER[number], 4))
    lesson.cells = [cell for cell in lesson.cells if cell.id not in MINIGRAD_ONLY.get(number, ())]
    setup = next(cell for cell in lesson.cells if cell.id == "setup")
    assert "import minigrad as torch" in setup.source
    setup.source = setup.source.replace("import minigrad as torch", "import torch")
    ran = {cell.id: cell for cell in run_in(kernel, lesson).cells}
    # the checks use minigrad: on an unsolved exercise they may give another reply with torch
    for cell in saved.cells:
        if cell.cell_type == "code" and cell.id in ran and not tagged(cell, "exercise"):
            assert text_of(ran[cell.id]) == text_of(cell), cell.id
