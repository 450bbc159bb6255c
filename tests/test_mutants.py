"""tools/mutants.py: each mutant is one small change that parses, and a mistake on a covered line is noticed."""

from __future__ import annotations

import ast

import pytest

from tools import mutants
from tools.lines_of_tests import Lines, cheapest, record, recorded
from tools.mutants import ROOT, Mutant


def changed_text(mutant: Mutant) -> str:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    return text[: mutant.start] + mutant.new + text[mutant.end :]


@pytest.mark.long
def test_each_mutant_is_one_change_that_parses():
    chosen = mutants.choose(60, seed=3, only="")
    assert len(chosen) == 60 and len({(m.file, m.line) for m in chosen}) == 60
    for package in mutants.PACKAGES:
        assert sum(m.file.startswith(package) for m in chosen) == 20
    for mutant in chosen:
        before = ast.dump(ast.parse((ROOT / mutant.file).read_text(encoding="utf-8")))
        assert ast.dump(ast.parse(changed_text(mutant))) != before, str(mutant)


def test_a_seed_names_its_mutants():
    assert mutants.choose(6, seed=5, only="viz") == mutants.choose(6, seed=5, only="viz")
    assert mutants.choose(6, seed=5, only="viz") != mutants.choose(6, seed=6, only="viz")


def test_cheap_tests_come_first_and_each_function_of_tests_in_turn():
    seconds = {"a.py::t[1]": 0.1, "a.py::t[2]": 0.2, "b.py::u": 3.0, "c.py::v": 20.0, "d.py::w": 0.05}
    assert cheapest(iter(seconds), seconds) == ["d.py::w", "a.py::t[1]", "b.py::u", "a.py::t[2]"]
    assert cheapest(iter(["c.py::v"]), seconds) == ["c.py::v"]  # at least one


def test_tests_in_a_file_named_after_the_changed_one_come_first():
    seconds = {"test_a.py::t": 0.1, "test_graph.py::u": 3.0, "test_graph.py::v": 2.0}
    assert cheapest(iter(seconds), seconds, "graph") == [
        "test_graph.py::v",
        "test_graph.py::u",
        "test_a.py::t",
    ]


def test_the_tests_of_a_line_inside_an_expression_are_those_of_its_first_line():
    seconds = {"one": 1.0, "two": 2.0}
    lines = Lines(seconds, {"viz/x.py": {"1": [], "3": ["two"], "7": ["one", "two"]}})
    assert lines.tests("viz/x.py", 8) == ["one", "two"] and lines.tests("viz/x.py", 4) == ["two"]
    # the header of a function
    assert lines.tests("viz/y.py", 3) == [] and lines.tests("viz/x.py", 1) == ["two"]


def test_a_record_that_was_ended_is_continued(tmp_path):
    for name in ("viz", "minigrad", "notebooks/exercises", "tests", "tools"):
        (tmp_path / name).mkdir(parents=True)
    code, first, second = (
        tmp_path / "viz" / "x.py",
        tmp_path / "tests" / "test_x.py",
        tmp_path / "tests" / "test_y.py",
    )
    code.write_text("def f(a):\n    if a:\n        return 1\n    return 2\n", encoding="utf-8")
    (tmp_path / "viz" / "__init__.py").touch()
    (tmp_path / "tests" / "__init__.py").touch()
    for name in ("tests/early.py", "tools/lines_of_tests.py", "tools/__init__.py"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    first.write_text("from viz.x import f\n\n\ndef test_one():\n    assert f(True) == 1\n", encoding="utf-8")
    second.write_text(
        first.read_text(encoding="utf-8").replace("True", "False").replace("== 1", "== 2"), encoding="utf-8"
    )
    to = tmp_path / "build" / "lines.jsonl"
    lines = record(tmp_path, to, ["viz/x.py"], ["tests"])
    assert lines.tests("viz/x.py", 3) == ["tests/test_x.py::test_one"]
    assert lines.tests("viz/x.py", 4) == ["tests/test_y.py::test_one"]
    assert sorted(lines.tests("viz/x.py", 2)) == ["tests/test_x.py::test_one", "tests/test_y.py::test_one"]
    whole = to.read_text(encoding="utf-8")
    to.write_text(whole[: len(whole) * 3 // 4], encoding="utf-8")  # ended while writing the second line
    assert [*recorded(to)] == ["tests/test_x.py"]
    record(tmp_path, to, ["viz/x.py"], ["tests"])
    code.write_text(code.read_text(encoding="utf-8").replace("2", "2 + 0"), encoding="utf-8")
    assert record(tmp_path, to, ["viz/x.py"], ["tests"]).tests("viz/x.py", 4)
