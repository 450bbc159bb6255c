"""The packages of viz: which may import which, how large a file may be, and that the front end's files form one module."""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import StringIO
from itertools import pairwise
from pathlib import Path
from tokenize import COMMENT, DEDENT, INDENT, NEWLINE, NL, STRING, generate_tokens

import pytest

import viz
from tests.test_architecture import imports_of, inside, shown
from viz.films import show as film
from viz.show.page import FRONT, PROGRAM, asset

VIZ = Path(__file__).resolve().parent.parent / "viz"
ROOMS = ["read", "run", "picture", "show", "films"]  # in order: each may import those before it
MODULES = sorted(VIZ.rglob("*.py"))
FILES = [*MODULES, *sorted(FRONT.iterdir()), *sorted(film.FRONT.iterdir())]


def test_imports_run_one_way():
    found = []
    for k, room in enumerate(ROOMS):  # viz/__init__.py and viz/__main__.py may import all
        later = {f"viz.{name}" for name in ROOMS[k + 1 :]} | {"viz.__main__"}
        if room == "picture":
            later.add("viz.run")  # a drawing runs nothing
        for path in (VIZ / room).rglob("*.py"):
            found += [f"{shown(path)}: {name}" for name in imports_of(path) if inside(name, *later)]
    assert not found, "\n".join(found)


def test_no_file_is_long_and_each_says_what_it_is_for():
    found = []
    for path in FILES:
        lines = path.read_text(encoding="utf-8").splitlines()
        widest = max(map(len, lines))
        if len(lines) > 500 or widest > (128 if path.suffix == ".py" else 400):
            found.append(f"{shown(path)}: {len(lines)} lines, the longest of {widest} letters")
        if not re.match(r'"""\S|// \w|/\* \w|<!-- \w', lines[0]):
            found.append(f"{shown(path)} begins {lines[0]!r}")
    assert not found, "\n".join(found)


def code(path: Path) -> int:
    """The lines of a file that hold code: without blank lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return sum(bool(re.match(r"\s*(?!//|/\*|\s)", line)) for line in text.splitlines() if line.strip())
    held: set[int] = set()
    begins = True  # a string that is a whole statement is a docstring
    tokens = [t for t in generate_tokens(StringIO(text).readline) if t.type not in (COMMENT, NL)]
    for token, after in pairwise(tokens):
        if token.type in (INDENT, DEDENT, NEWLINE):
            begins = True
            continue
        if not (begins and token.type == STRING and after.type == NEWLINE):
            held |= {*range(token.start[0], token.end[0] + 1)}
        begins = False
    return len(held)


def test_it_has_no_more_code_than_was_agreed():
    assert sum(map(code, MODULES)) <= 9_800
    assert sum(map(code, VIZ.rglob("*.js"))) <= 3_600


def test_code_is_counted_without_blank_lines_comments_and_docstrings(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        '"""A."""\n\n# b\ndef f(x):\n    """Two\n    lines."""\n    return """g\nh""" + x  # i\n',
        encoding="utf-8",
    )
    assert code(path) == 3
    path = tmp_path / "a.js"
    path.write_text("// a\n\nconst b = 1; // c\n  /* d */\n", encoding="utf-8")
    assert code(path) == 1


def test_it_stays_as_short_as_it_was():
    assert lines(path for path in MODULES if VIZ / "films" not in path.parents) <= 10_175
    # the mathematics of everything that PyTorch differentiates, one line per kind of node
    assert lines([VIZ / "read" / "rules.txt"]) <= 283
    assert lines(FRONT.iterdir()) <= 3_281
    assert lines((VIZ / "films").glob("*.py")) <= 2_970
    assert lines(film.FRONT.iterdir()) <= 1_011


def test_the_path_of_a_number_is_documented_correctly():
    references = re.findall(r"([\w/]+\.(?:py|js))[^`]*\(``(\w+)``\)", viz.__doc__)
    assert [Path(file).name for file, _ in references] == [
        "trace.py",
        "payload.py",
        "timeline.js",
        "painting.js",
    ]
    for file, name in references:
        assert re.search(
            rf"(class|def|const) {name}\b|^  {name}\(", (VIZ / file).read_text(encoding="utf-8"), re.M
        )


def lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def test_the_files_of_the_film_join_to_one_module():
    assert {f"{name}.js" for name in film.PROGRAM.split()} == {p.name for p in film.FRONT.glob("*.js")}
    joined = film.program()
    assert not re.search(r"^import ", joined, re.MULTILINE)
    assert joined.count("export default") == 1
    texts = [(film.FRONT / f"{name}.js").read_text(encoding="utf-8") for name in film.PROGRAM.split()]
    named = re.findall(r"^(?:export )?(?:const|function|class) (\w+)", "\n".join(texts), re.MULTILINE)
    assert len(named) == len(set(named))
    for k, text in enumerate(texts):  # each imports only from those before it, and only what they export
        for names, other in re.findall(r'^import \{ ([^}]*) \} from "\./(\w+)\.js";$', text, re.MULTILINE):
            offered = re.findall(
                r"^export (?:const|function|class) (\w+)", "\n".join(texts[:k]), re.MULTILINE
            )
            assert set(names.split(", ")) <= set(offered), other


def test_the_files_of_the_front_end_join_to_one_module():
    unpacks = "inflate.js"  # comes before the module
    parts = {p.name for p in FRONT.glob("*.js")} - {unpacks}
    assert {f"{name}.js" for name in PROGRAM.split()} == parts
    joined = asset("stepper.js")
    assert not re.search(r"^import ", joined, re.MULTILINE)
    assert joined.count("export default") == 1
    texts = [(FRONT / f"{name}.js").read_text(encoding="utf-8") for name in PROGRAM.split()]
    named = re.findall(r"^(?:export )?(?:const|function|class) (\w+)", "\n".join(texts), re.MULTILINE)
    assert len(named) == len(set(named))  # no two objects in a module have the same name


@pytest.mark.parametrize("name", PROGRAM.split())
def test_each_file_of_the_front_end_imports_what_it_uses_from_those_before_it(name):
    text = (FRONT / f"{name}.js").read_text(encoding="utf-8")
    before = PROGRAM.split()[: PROGRAM.split().index(name)]
    offered = {
        other: set(
            re.findall(
                r"^export (?:const|function|class) (\w+)",
                (FRONT / f"{other}.js").read_text(encoding="utf-8"),
                re.M,
            )
        )
        for other in before
    }
    for names, other in re.findall(r'^import \{ ([^}]*) \} from "\./(\w+)\.js";$', text, re.MULTILINE):
        assert set(names.split(", ")) <= offered[other]
    imported = set(re.findall(r"\w+", " ".join(re.findall(r"^import \{([^}]*)\}", text, re.MULTILINE))))
    code = re.sub(r"^import .*$|//.*$", "", text, flags=re.MULTILINE)
    for other in before:
        for thing in offered[other] - imported:
            assert not re.search(rf"(?<![\w.\"'-]){thing}\(", code), (
                f"{thing} of {other}.js is used, not imported"
            )
