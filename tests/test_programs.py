"""Whole programs, as courses have them, print under minigrad what they print under PyTorch.

The programs are in tests/programs, written for PyTorch and run as they are: `torch` is minigrad there. The words have to
be the same, the numbers equal but for rounding.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
RUN = """
import importlib, runpy, sys
path, library = sys.argv[1:]
if library == "minigrad":
    sys.modules["torch"] = importlib.import_module("minigrad")
    for part in ("func", "nn", "optim", "utils", "utils.data"):
        sys.modules["torch." + part] = importlib.import_module("minigrad." + part)
runpy.run_path(path, run_name="__main__")
"""
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def printed(program: Path, library: str) -> str:
    """What a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, str(program), library],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_runs_without_pytorch(program: Path):
    assert printed(program, "minigrad")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_prints_what_pytorch_prints(program: Path, torch):
    here, there = printed(program, "minigrad"), printed(program, "torch")
    assert NUMBER.sub("#", here) == NUMBER.sub("#", there)
    for a, b in zip(NUMBER.findall(here), NUMBER.findall(there), strict=True):
        assert math.isclose(float(a), float(b), rel_tol=1e-3, abs_tol=2e-4), f"{a} in place of {b}"
