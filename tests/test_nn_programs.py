"""Modules, layers, optimizers, schedules and data: every program of tests/corpus/nn logs what it logs under PyTorch.

A behaviour is tested by being added to one of these files (see tests/nn_programs.py).
"""

from __future__ import annotations

import pytest

import minigrad
from tests.nn_programs import FOLDER, cells, difference, run

PROGRAMS = {
    f"{path.stem}: {title}": source
    for path in sorted(FOLDER.glob("*.txt"))
    for title, source in cells(path.stem).items()
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_logs_what_it_logs_under_pytorch(torch, name):
    """Values, dtypes, printed forms, errors and warnings, in the same order."""
    found = difference(run(torch, PROGRAMS[name]), run(minigrad, PROGRAMS[name]))
    assert found is None, found


def test_a_difference_is_found():
    """The comparison itself: another number, another type, something missing."""
    logged = [["Linear(2, 2)"], [{"tensor": [1.0, 2.0]}]]
    assert difference(logged, [["Linear(2, 2)"], [{"tensor": [1.000001, 2.0]}]]) is None
    for other in ([["Linear(2, 3)"], logged[1]], [logged[0], [{"tensor": [1.0, 2]}]], logged[:1]):
        assert difference(logged, other) is not None
