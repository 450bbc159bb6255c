"""Whatever the text of a lesson says about the picture above or below it is in the picture, on minigrad and on PyTorch.

The cells are run as the lesson has them; the picture is that of the last one.
"""

from __future__ import annotations

import ast
import re

import pytest

from tests.lesson_files import BY_NUMBER, read

SETUP = "import minigrad as torch"

# lesson; cells to run, of which the last one draws; the text about it; a part of the picture, and how often it occurs
DESCRIBED = [
    ("2", "setup grow-y grow-z", "Three in all: two ellipses and a diamond.", r'class="node function', 2),
    ("2", "setup grow-y grow-z", "Three in all: two ellipses and a diamond.", r'class="node accumulate', 1),
    (
        "5",
        "setup twice-forward twice-first freed-draw",
        "is drawn with a dashed outline",
        r'class="node function freed"',
        1,
    ),
    (
        "9b",
        "setup healthy patient-6 patient-6-draw",
        "look for the box that says *modified*",
        r">modified<",
        1,
    ),
    (
        "9b",
        "setup healthy patient-6 patient-6-draw",
        "look for the box that says *modified*",
        r'class="node saved modified"',
        1,
    ),
    (
        "10",
        "setup neuron kept-draw",
        "`alpha` and `exponent` are plain numbers",
        r">(?:alpha = 1|exponent = 2)<",
        3,
    ),
    ("13", "setup tap", "The small red diamond is the tap.", r'class="node function hooked', 1),
    (
        "15",
        "setup grad-call create draw-g",
        "Two multiplications and one addition",
        r'class="node function second"',
        3,
    ),
]


@pytest.mark.parametrize(("number", "cells", "sentence", "part", "times"), DESCRIBED)
def test_the_picture_is_as_the_text_says(number, cells, sentence, part, times, t):
    lesson = read(BY_NUMBER[number])
    assert any(sentence in cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    code = {cell.id: cell.source.replace(SETUP, f"import {t.__name__} as torch") for cell in lesson.cells}
    *before, last = cells.split()
    names: dict[str, object] = {}
    for cell in before:
        exec(code[cell], names)
    *lines, shown = ast.parse(code[last]).body
    exec(compile(ast.Module(lines, []), last, "exec"), names)
    drawing = eval(compile(ast.Expression(shown.value), last, "eval"), names)
    assert len(re.findall(part, drawing.svg)) == times
