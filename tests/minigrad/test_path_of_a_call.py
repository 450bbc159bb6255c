"""The path of one call, as `help(minigrad)` describes it, is the one that it takes; all code that runs can be read in place."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import minigrad

PACKAGE = Path(minigrad.__file__).parent
FOLLOW = """
import sys
import minigrad as torch

x, y = (torch.tensor(numbers, requires_grad=True) for numbers in ([1.0, 2.0], [3.0, 4.0]))
entered = []


def note(frame, event, argument):
    if event == "call":
        entered.append(frame.f_code.co_filename)


sys.setprofile(note)
z = (x * y).sum()
z.backward()
sys.setprofile(None)
print(*entered, sep=chr(10))
"""


def test_the_path_of_one_call_is_the_documented_one() -> None:
    """The first time, in a fresh interpreter: at most 60 Python calls in 8 files, those that are listed, in that order."""
    text = minigrad.__doc__.partition("**The path of one call.**")[2].partition("**What to read")[0]
    listed = re.findall(r"^    (\S+\.py)  ", text, flags=re.MULTILINE)
    run = [sys.executable, "-c", FOLLOW]
    entered = subprocess.check_output(run, text=True, cwd=PACKAGE.parent).split()
    ours = [
        Path(file).relative_to(PACKAGE).as_posix() for file in entered if Path(file).is_relative_to(PACKAGE)
    ]
    assert list(dict.fromkeys(ours)) == listed
    assert len(ours) <= 60 and len(listed) <= 8


def test_every_file_is_named_in_the_order_to_read() -> None:
    text = minigrad.__doc__
    folders = ("func", "nn", "optim", "utils")
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE)
        known = path.stem == "__init__" or name.parts[0] in folders or re.search(rf"\b{path.stem}\b", text)
        chapter = name.parts[0] == "autograd" and re.search(
            rf"^    {path.stem} ", minigrad.autograd.__doc__, re.MULTILINE
        )
        family = name.parts[0] == "ops" and path.stem in minigrad.ops.__doc__
        assert known or chapter or family, f"{name} is in no list of what there is to read"


def test_the_source_of_an_operation_is_what_runs() -> None:
    for function in (
        minigrad.mul,
        minigrad.exp,
        minigrad.Tensor.__mul__,
        minigrad.Tensor.relu,
        minigrad.Tensor.sum,
    ):
        source = inspect.getsource(function)
        assert function.__code__.co_filename == str(PACKAGE / "ops" / "apply.py")
        assert "forward(" in source or "form(" in source
    assert minigrad.Tensor.__mul__.op is minigrad.mul.op
    vjp = type((minigrad.ones(1, requires_grad=True) * 2).grad_fn)._vjp
    assert "rule_self(grad" in inspect.getsource(vjp)


def test_a_traceback_shows_real_lines() -> None:
    """Every frame of an error inside an operation, forward or backward, is a line of a file."""
    x, w = minigrad.ones(2, 3, requires_grad=True), minigrad.ones(2, 3)
    for fails in (lambda: x @ w, lambda: minigrad.cat([x, minigrad.ones(1)]), lambda: backward_twice(x)):
        try:
            fails()
        except RuntimeError as error:
            frames = inspect.getinnerframes(error.__traceback__)
            assert all(Path(frame.filename).is_file() and frame.code_context for frame in frames)
            assert any(Path(frame.filename).is_relative_to(PACKAGE) for frame in frames)
        else:
            raise AssertionError("it did not fail")


def backward_twice(x: minigrad.Tensor) -> None:
    z = (x * x).sum()
    z.backward()
    z.backward()
