"""python -m viz program.py:loss -o loss.html"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import viz
from tests.test_viz_page import unpacked
from viz.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """\
import minigrad as torch

w = torch.tensor([1.0, 2.0], requires_grad=True)


def loss():
    h = w * 3
    return (h * h).sum()


total = loss()
number = 3
model = torch.nn.Linear(2, 1)


def of(x):
    return (x * w).sum()
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", ["total", "loss"])
def test_a_tensor_or_a_function_of_a_script_becomes_a_page(program: Path, name: str, capsys):
    page = program.with_name("page.html")
    assert main([f"{program}:{name}", "-o", str(page)]) == 0
    assert capsys.readouterr().out.startswith(str(page))
    data = unpacked(page.read_text(encoding="utf-8"))["data"]
    assert data["title"] == name
    after = data["arrays"][data["steps"][-1]["accumulate"]["after"]["$"]]
    assert after["values"] == [18.0, 36.0]
    assert any("h = w * 3" in line for line in data["source"]["lines"])


@pytest.mark.parametrize(("file", "made"), [("steps.gif", "steps.gif"), ("steps.png", "steps-00.png")])
def test_one_command_makes_slides(program: Path, file: str, made: str, capsys):
    assert main([f"{program}:total", "-o", str(program.with_name(file))]) == 0
    written = capsys.readouterr().out.splitlines()
    assert written[0].startswith(f"{program.with_name(made)}: ")
    with Image.open(program.with_name(made)) as picture:
        assert picture.width <= 1_080 or file.endswith(".png")
    assert len(written) == (
        1 if file.endswith(".gif") else len(viz.trace(runpy.run_path(str(program))["total"])) + 1
    )


def test_it_runs_from_the_command_line_and_can_ask(program: Path):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "viz", "program.py:total", "--ask", "gradients", "--view", "functions"]
    done = subprocess.run(command, cwd=program.parent, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    content = unpacked((program.parent / "total.html").read_text(encoding="utf-8"))
    assert content["options"]["ask"] == "gradients" and content["data"]["questions"]
    assert content["data"]["view"] == "functions"


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("program.py", "must be FILE.py:NAME"),
        ("nowhere.py:loss", "there is no file nowhere.py"),
        ("{program}:missing", "no 'missing' that is a tensor or makes one. Its tensors: w, total"),
        ("{program}:number", "needs a tensor"),
        ("{folder}:loss", "is a folder, not a script"),
        ("{program}:model", "takes arguments. Name a tensor such as the loss"),
        ("{program}:of", "takes arguments. Name a tensor such as the loss"),
    ],
)
def test_what_is_impossible_is_reported_in_one_sentence(program: Path, target: str, says: str, capsys):
    assert (
        main([target.format(program=program, folder=program.parent), "-o", str(program.with_name("x.html"))])
        == 2
    )
    error = capsys.readouterr().err
    assert error.startswith("viz: ") and says in error
    assert not program.with_name("x.html").exists()


ARGUMENTS = """\
import argparse
import sys

import minigrad as torch

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
rate = parser.parse_args().lr
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * rate).sum()
started_as = sys.argv
"""


@pytest.mark.parametrize("order", ["last", "first"])
def test_what_follows_the_two_dashes_is_the_scripts_own(program: Path, capsys, order: str):
    program.write_text(ARGUMENTS, encoding="utf-8")
    page, before = program.with_name("page.html"), sys.argv
    options = ["-o", str(page), "--view", "functions"]
    target = [f"{program}:loss"]
    assert main([*(target + options if order == "last" else options + target), "--", "--lr", "0.5"]) == 0
    assert sys.argv is before
    data = unpacked(page.read_text(encoding="utf-8"))["data"]
    assert data["arrays"][data["steps"][-1]["accumulate"]["after"]["$"]]["values"] == [0.5, 0.5]


def test_a_script_that_misses_its_arguments_says_so_itself(program: Path, capsys):
    program.write_text(ARGUMENTS, encoding="utf-8")
    with pytest.raises(SystemExit):
        main([f"{program}:loss"])
    assert "the following arguments are required: --lr" in capsys.readouterr().err


def test_a_script_that_raises_shows_its_traceback_and_what_failed(program: Path, capsys):
    program.write_text(PROGRAM.replace("h = w * 3", "h = (w * 3).reshape(3, 2)"), encoding="utf-8")
    assert main([f"{program}:total", "-o", str(program.with_name("x.html"))]) == 1
    error = capsys.readouterr().err
    assert error.startswith("Traceback") and 'program.py", line 11, in <module>' in error
    assert "__main__.py" not in error and "runpy" not in error
    message = error.partition("\nviz: ")[2].splitlines()
    assert message[0] == "reshape failed on line 7 of program.py:"
    assert message[1].strip() == "h = (w * 3).reshape(3, 2)"
    assert message[2].strip() == "called on line 11 of program.py: total = loss()"


def test_the_page_opens_in_the_browser_when_asked(program: Path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main([f"{program}:total", "-o", str(program.with_name("x.html")), "--show"]) == 0
    assert opened == [program.with_name("x.html").as_uri()]
