"""tools/mutants.py: each mutant is one small change that parses, and a mistake on a watched line is noticed."""

from __future__ import annotations

import ast

from tools import mutants
from tools.mutants import ROOT, Mutant


def changed_text(mutant: Mutant) -> str:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    return text[: mutant.start] + mutant.new + text[mutant.end :]


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


def test_the_nearest_tests_of_the_walk_are_those_of_minigrad():
    files = mutants.nearest("minigrad/autograd/engine.py")
    assert len(files) == mutants.NEAREST and files[0].startswith("tests/minigrad/")
