"""The comparison itself: two programs that differ in one respect are told apart, and by that respect."""

from __future__ import annotations

import json

import pytest

import minigrad
from tests.oracle import Program, differences, read_cells, report, run

START = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"

A, B, LAST = "a = x * 2", "b = x.exp()", "(a * b).sum().backward()"

# what differs, one program, the other
PAIRS = [
    ("y: values", "y = x * 2", "y = x * 3"),
    ("graph", "y = x * 2", "y = x + x"),
    ("y: grad_fn", "y = x * 2\nz = x * 2", "z = x * 2\ny = x * 2"),
    ("y\n", "y = x.detach()", "y = x.detach().double()"),
    ("y\n", "y = x * 2", "y = (x * 2).detach()"),
    ("y\n", "y = x.sum()", "y = x.sum().reshape(1)"),
    ("y: version", "y = (x * 2).sub_(1).add_(1)", "y = (x * 2 - 1).add_(1)"),
    ("x: grad: values", "x.sum().backward()", "(x * 2).sum().backward()"),
    ("x: grad", "x.sum().backward()", "pass"),
    ("line 2: error", "x.reshape(3)", "x.reshape(4)"),
    ("line 2: error", "x.reshape(3)", "x.reshape(2)"),
    ("line 2: printed", "print(x)", "print(x + 1)"),
    ("line 2: value", "x.shape", "x.dim()"),
    ("line 3: warnings", "y = x * 2\ny.grad", "y = x * 2\nNone"),
    ("line 5: order", f"a = b = 0\n{A}\n{B}\n{LAST}", f"a = b = 0\n{B}\n{A}\n{LAST}"),
    ("is_grad_enabled", "pass", "torch.set_grad_enabled(False)"),
    ("z", "z = 1", "z = 2"),
    ("z", "z = 1", "z = 1.0"),
    ("z: items[1]", "z = [1, torch.ones(1)]", "z = [1, torch.zeros(1)]"),
]


@pytest.mark.parametrize(("what", "one", "other"), PAIRS)
def test_a_difference_is_found_and_named(what, one, other):
    transcripts = [run(minigrad, Program("pair", START + source + "\n")) for source in (one, other)]
    found = differences(*transcripts)
    assert any(text.startswith(what) for text in found), found


@pytest.mark.parametrize("source", dict.fromkeys([source for _, *pair in PAIRS for source in pair]))
def test_a_program_equals_itself_also_through_json(source):
    program = Program("same", START + source + "\n")
    once, again = run(minigrad, program), run(minigrad, program)
    assert differences(json.loads(json.dumps(once)), again) == []


def test_a_rounding_is_no_difference_but_more_is():
    def transcript(value):
        return run(minigrad, Program("rounding", f"x = torch.tensor([1.0, {value}])\nprint(x * 1000)\n"))

    assert differences(transcript("0.3333333"), transcript("0.3333334")) == []
    assert differences(transcript("0.3333"), transcript("0.3334")) != []


def test_what_is_left_where_numbers_cancel_may_be_nothing_beside_these_numbers():
    def transcript(left, size, dtype="float32"):
        source = (
            f"x = torch.tensor({size}, dtype=torch.{dtype})\ny = torch.tensor({left}, dtype=torch.{dtype})\n"
        )
        return run(minigrad, Program("cancelling", source))

    rounding = 1.2e-7
    assert differences(transcript(rounding, 2.0), transcript(0.0, 2.0), noise=True) == []
    assert differences(transcript(0.0, 2.0), transcript(rounding, 2.0), noise=True) == []
    # without being told so, beside small numbers only, in double precision, and if it is more than a rounding
    assert differences(transcript(rounding, 2.0), transcript(0.0, 2.0)) != []
    assert differences(transcript(rounding, 0.01), transcript(0.0, 0.01), noise=True) != []
    assert (
        differences(transcript(rounding, 2.0, "float64"), transcript(0.0, 2.0, "float64"), noise=True) != []
    )
    assert differences(transcript(1e-5, 2.0), transcript(0.0, 2.0), noise=True) != []


def test_a_statement_that_raises_does_not_end_the_program():
    transcript = run(minigrad, Program("raises", "x = torch.ones(2)\nx.reshape(3)\ny = x + 1\n"))
    assert transcript["variables"]["y"]["values"] == [2.0, 2.0]
    assert [s["line"] for s in transcript["statements"] if "error" in s] == [2]


def test_the_report_shows_the_program_and_marks_the_line():
    program = Program("shown", START + "print(x)\n")
    transcript = run(minigrad, program)
    other = run(minigrad, Program("other", START + "print(x * 2)\n"))
    lines = report(program, differences(transcript, other)).splitlines()
    assert "  >    2 | print(x)" in lines
    assert "       1 | " + START.rstrip() in lines


def test_nothing_is_left_of_a_program(tmp_path):
    run(
        minigrad, Program("untidy", "torch.set_grad_enabled(False)\ntorch.set_default_dtype(torch.float64)\n")
    )
    assert minigrad.is_grad_enabled()
    assert minigrad.tensor(1.0).dtype is minigrad.float32


def test_cells_know_their_place(tmp_path):
    path = tmp_path / "themes.py"
    path.write_text(
        '"""Head."""\n\n# %% one [A01]\nx = 1\n\n# %% two\ny = [\n    2 + "",  # raises\n]\nz = 3\n'
    )
    one, two = read_cells(path)
    assert (one.name, one.source, one.line) == ("themes/one [A01]", "x = 1\n", 4)
    assert (two.name, two.line, two.raising) == ("themes/two", 7, {1})
