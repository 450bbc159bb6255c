"""What a lesson says that PyTorch prints is what PyTorch prints, and minigrad prints the same.

Each ``>>>`` block under a lesson's heading "PyTorch prints" is run as it stands, once with torch and once with
minigrad in its place. All addresses count as equal.
"""

from __future__ import annotations

import doctest
import re

import pytest

import minigrad
from tests.lesson_files import LESSONS, read


def blocks(path):
    """The fenced >>> blocks of the lesson, from the heading on."""
    text = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    return [
        block
        for block in re.findall(r"^```\w*\n(.*?)^```", text.split("## PyTorch prints")[-1], re.M | re.S)
        if ">>>" in block
    ]


class AddressesAlike(doctest.OutputChecker):
    def check_output(self, want, got, flags):
        want, got = (re.sub(r"0x[0-9a-f]+", "0x", text) for text in (want, got))
        return super().check_output(want, got, flags)


def run(block, framework, name):
    example = doctest.DocTestParser().get_doctest(
        block.replace(">>> import torch\n", ""), {"torch": framework}, name, None, 0
    )
    report = []
    runner = doctest.DocTestRunner(AddressesAlike(), verbose=False)
    runner.run(example, out=report.append)
    assert not report, "".join(report)


each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@each_lesson
def test_every_lesson_shows_a_block_that_stands_alone(path):
    assert blocks(path) and all(block.startswith(">>> import torch\n") for block in blocks(path))


@each_lesson
def test_pytorch_prints_it(torch, path):
    for block in blocks(path):
        run(block, torch, path.stem)


@each_lesson
def test_minigrad_prints_it_too(path):
    for block in blocks(path):
        run(block, minigrad, path.stem)
