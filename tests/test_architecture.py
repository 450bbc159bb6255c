"""The boundaries between the parts of the project, and what must not be in any of its files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml

from tools.architecture import imported

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = ("minigrad", "viz", "notebooks", "tools", "benchmarks", "tests")
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def modules(*under: str) -> list[Path]:
    return [path for path in MODULES if shown(path).startswith(under)]


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def source_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(source_of(path))


@cache
def imports_of(path: Path) -> frozenset[str]:
    return frozenset(imported(tree_of(path), ".".join(path.relative_to(ROOT).parent.parts)))


def inside(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def loaded_by(statement: str) -> set[str]:
    """The packages outside the standard library that are in memory after `statement` in a fresh interpreter."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    names = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT).split()
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names


# ---------------------------------------------------------------- who may import whom


def test_importing_viz_loads_no_engine():
    assert not loaded_by("import viz") & {"minigrad", "torch"}


def test_viz_knows_only_the_graph_protocol():
    drawing = {"graphviz", "pygraphviz", "PIL"}
    notebook = {"anywidget", "ipywidgets", "traitlets", "IPython"}
    known = {"viz", "numpy"} | drawing | notebook | sys.stdlib_module_names
    found = [
        f"{shown(path)}: {name}"
        for path in modules("viz")
        for name in imports_of(path)
        if name.split(".")[0] not in known
    ]
    assert not found, "\n".join(found)


def of_a_lesson(path: Path) -> set[str]:
    """The modules that a lesson imports."""
    cells = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    lines = [line for cell in cells for line in cell.splitlines() if not line.lstrip().startswith(("%", "!"))]
    return set(imported(ast.parse("\n".join(lines))))


def test_neither_lessons_nor_exercises_import_torch():
    imports = {path: of_a_lesson(path) for path in LESSONS}
    imports |= {path: imports_of(path) for path in modules("notebooks")}
    found = [shown(path) for path, names in imports.items() if any(inside(name, "torch") for name in names)]
    assert not found, "\n".join(found)


def test_no_imports_go_in_a_circle():
    """Imports inside functions and for annotations count, too. A package's own `__init__` counts if it is used."""
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in MODULES
    }
    names = {name.removeprefix("notebooks."): path for name, path in names.items()}
    needs = {}
    for name, path in names.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        dependencies = set(imported(tree_of(path), package, typing=True))
        dependencies -= {
            other.rpartition(".")[0] for other in dependencies
        }  # `from package import module` needs the module alone
        needs[name] = {longest for other in dependencies if (longest := known_part(other, names)) != name} - {
            ""
        }
    while needs:
        free = [name for name, others in needs.items() if not others & set(needs)]
        assert free, f"a circle among {sorted(needs)}"
        needs = {name: others for name, others in needs.items() if name not in free}


def known_part(name: str, names: Container[str]) -> str:
    """The module that a dotted name belongs to: "viz.read.text" of "viz.read.text.width"."""
    while name and name not in names:
        name = name.rpartition(".")[0]
    return name


def test_no_file_of_tests_is_long():
    found = [(shown(path), n) for path in modules("tests") if (n := source_of(path).count("\n")) > 500]
    assert not found


# ---------------------------------------------------------------- dependencies are described once


def test_environment_yml_has_the_names_and_bounds_of_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    (packages,) = (entry["pip"] for entry in environment if isinstance(entry, dict))
    lessons = PYPROJECT["project"]["optional-dependencies"]["lessons"]
    assert sorted(packages) == sorted([*PYPROJECT["project"]["dependencies"], *lessons, "-e ."])
    assert f"python{PYPROJECT['project']['requires-python']}" in environment


def names_of(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}


def test_to_install_it_brings_what_the_two_packages_import_and_no_more():
    """What a notebook runs in (IPython, traitlets) comes with the widgets."""
    found = {name.split(".")[0] for path in modules("minigrad", "viz") for name in imports_of(path)}
    found -= sys.stdlib_module_names | {"minigrad", "viz", "IPython", "traitlets"}
    assert {name.replace("PIL", "pillow") for name in found} == names_of(PYPROJECT["project"]["dependencies"])


def test_each_extra_is_for_one_thing_and_make_test_needs_no_browser():
    extras = {name: names_of(what) for name, what in PYPROJECT["project"]["optional-dependencies"].items()}
    assert set(extras) == {"lessons", "tests", "browser", "torch", "benchmarks", "zoo"}
    assert {"playwright", "notebook"} <= extras["browser"]
    for name in ("lessons", "tests", "browser"):
        others = set().union(*(extras[other] for other in extras if other != name))
        assert not extras[name] & (others | names_of(PYPROJECT["project"]["dependencies"])), name
    driving = [
        shown(path)
        for path in MODULES
        if any(
            isinstance(node, ast.Import | ast.ImportFrom) and "playwright" in ast.unparse(node)
            for node in tree_of(path).body  # only top-level imports run at import
        )
    ]
    assert driving and all(name.startswith(("tests/browser/", "tools/")) for name in driving)
    makefile = source_of(ROOT / "Makefile")
    (lines,) = re.findall(r"^test:.*\n\t(.*)\n", makefile, re.M)
    assert lines == "@$(SETUP) lessons tests"


def test_the_comparison_and_the_benchmarks_use_the_same_torch():
    extras = PYPROJECT["project"]["optional-dependencies"]
    (pin,) = (package for package in extras["torch"] if package.startswith("torch"))
    assert pin in extras["benchmarks"]


def test_every_package_is_in_the_wheel():
    assert PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["minigrad", "viz"]
    for file in ("viz/show/front/pane.js", "viz/show/front/stepper.css"):
        assert (ROOT / file).stat().st_size > 0


# ---------------------------------------------------------------- in every file


@cache
def tracked() -> list[Path]:
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode != 0:
        pytest.skip("not a git checkout, so there is no list of the project's files")
    return [ROOT / name for name in git.stdout.split("\0") if name and (ROOT / name).is_file()]


def found_in_tracked_files(pattern: str) -> list[str]:
    found = []
    for path in tracked():
        try:
            text = source_of(path)
        except UnicodeDecodeError:  # a picture
            continue
        for match in re.finditer(pattern, text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{shown(path)}:{line}: {match.group()}")
    return found


def test_no_file_names_a_package_registry():
    """Where packages come from is the reader's choice: a mirror, a proxy, a folder."""
    hosts = [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("anaconda", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
    ]
    hosts += [("jsdelivr", "net"), ("unpkg", "com"), ("download.pytorch", "org"), ("ghcr", "io")]
    assert not found_in_tracked_files("|".join(rf"\b{re.escape('.'.join(host))}\b" for host in hosts))


def test_no_file_holds_a_path_of_somebodys_machine():
    somebody = r"(?!me\b)\w[\w.-]*"  # an example may say /home/me
    assert not found_in_tracked_files(
        rf"(?<![\w.])/(?:home|root|work|Users)/{somebody}|\b[A-Z]:\\+Users\\+{somebody}"
    )


def test_there_are_no_emoji():
    assert not found_in_tracked_files("[\U0001f000-\U0001faff\u2705\u274c\u2728\u26a0\u2757]")


def test_a_file_says_at_its_door_what_it_is():
    silent = [shown(path) for path in MODULES if not ast.get_docstring(tree_of(path))]
    assert not silent, "\n".join(silent)


def test_the_first_paragraph_of_a_docstring_is_whole():
    """`help()` and editors show it alone: a blank line in the middle of a sentence cuts it in two."""
    broken = []
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                first, _, rest = (ast.get_docstring(node) or "").partition("\n\n")
                if rest and not rest[0].isspace() and first[-1] not in ".:?!)`'\"":
                    broken.append(f"{shown(path)}: {first[-60:]!r}")
    assert not broken


def opened_as_text(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that read or write a file as text without saying in which encoding."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or any(word.arg == "encoding" for word in call.keywords):
            continue
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        mode = ast.unparse(call.args[1]) if len(call.args) > 1 else ""
        if (
            (name == "read_text" and not call.args)
            or (name == "write_text" and len(call.args) < 2)
            or (isinstance(call.func, ast.Name) and name == "open" and "b" not in mode)
        ):
            yield call


def test_text_is_read_and_written_in_utf_8_on_every_system():
    """Windows has its own encoding, in which half of the mathematics here cannot be written."""
    found = [
        f"{shown(path)}:{call.lineno}: {ast.unparse(call)}"
        for path in MODULES
        if re.search(r"\b(open|read_text|write_text)\b", source_of(path))
        for call in opened_as_text(tree_of(path))
    ]
    assert not found, "\n".join(found)


def test_what_a_learner_runs_needs_no_unix():
    """Features that Windows lacks are checked with hasattr first, or not used at all."""
    lacking = r"\b(os)\.(?:fork|gete?uid|getpgid|killpg|setsid)\b|\b(signal)\.(?:SIGKILL|SIGALRM|SIGHUP|setitimer)\b"
    found = []
    for path in modules("minigrad", "viz", "notebooks"):
        unix = imports_of(path) & {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
        source = source_of(path)
        asked = {match[1] or match[2] for match in re.finditer(lacking, source)}
        not_asked_for = {module for module in asked if f"hasattr({module}, " not in source}
        found += [f"{shown(path)}: {module}" for module in unix | not_asked_for]
    assert not found, "\n".join(found)


def test_no_name_of_a_file_is_forbidden_on_windows():
    names = [shown(path) for path in tracked()]
    assert [name for name in names if re.search(r'[<>:"|?*\\]|[. ](/|$)', name)] == []
    assert len({name.lower() for name in names}) == len(names)


def test_the_exercises_stay_within_their_lines():
    """Answers, replies and the judge together: this number only falls."""
    files = sorted((ROOT / "notebooks" / "exercises").glob("*.py"))
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= 16_488
