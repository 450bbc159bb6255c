"""The walls between the parts of the project, and what may not be in any of its files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = ("minigrad", "viz", "notebooks", "tools", "benchmarks", "tests")
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))

each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))


def modules(*under: str) -> list[Path]:
    return [path for path in MODULES if path.relative_to(ROOT).as_posix().startswith(under)]


def imported(source: str, package: str = "") -> Iterator[str]:
    """The full dotted name of every module, and of every name in a module, that `source` imports when it runs,
    wherever in the file. `package` is where a relative import starts."""

    def running(node: ast.AST) -> Iterator[ast.AST]:
        yield node
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
                yield from running(child)

    for node in running(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imports_of(path: Path) -> set[str]:
    return set(imported(path.read_text(), ".".join(path.relative_to(ROOT).parent.parts)))


def inside(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def loaded_by(statement: str) -> set[str]:
    """The packages outside the standard library that are in memory after `statement` in a fresh interpreter."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    names = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT).split()
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names


# ---------------------------------------------------------------- who may import whom


def test_importing_minigrad_loads_numpy_and_nothing_else():
    assert loaded_by("import minigrad") - loaded_by("import numpy.random") == {"minigrad"}


@pytest.mark.parametrize("path", modules("minigrad"), ids=lambda path: str(path.relative_to(ROOT)))
def test_minigrad_imports_only_numpy_and_the_standard_library(path):
    outside = {name.split(".")[0] for name in imports_of(path)} - sys.stdlib_module_names
    assert outside <= {"minigrad", "numpy"}


def test_importing_viz_loads_no_engine():
    assert not loaded_by("import viz") & {"minigrad", "torch"}


@pytest.mark.parametrize("path", modules("viz"), ids=lambda path: str(path.relative_to(ROOT)))
def test_viz_knows_only_the_graph_protocol(path):
    outside = {name.split(".")[0] for name in imports_of(path)} - sys.stdlib_module_names
    drawing = {"graphviz", "pygraphviz"}
    notebook = {"anywidget", "ipywidgets", "traitlets", "IPython"}
    assert outside <= {"viz", "numpy"} | drawing | notebook


# From the ground up. A file may import its own floor and those below it, wherever in the file the import stands; what
# is not named here stands on the roof: it may import all of them, and none of them may import it.
FLOORS = [
    [
        "minigrad.absent",
        "minigrad.clock",
        "minigrad.device",
        "minigrad.dtypes",
        "minigrad.memory",
        "minigrad.mersenne",
        "minigrad.printing",
        "minigrad.return_types",
        "minigrad.size",
    ],
    ["minigrad.tensor"],
    ["minigrad.autograd"],
    ["minigrad.ops"],
    ["minigrad.creation", "minigrad.random"],
]
ON_FLOORS = [path for path in modules("minigrad") if path != ROOT / "minigrad/__init__.py"]


@pytest.mark.parametrize("path", ON_FLOORS, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path):
    """ops build on autograd, autograd builds on the tensor, and neither knows what is built on it."""
    here = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for number, floor in enumerate(FLOORS):
        if inside(here, *floor):
            below = [name for names in FLOORS[: number + 1] for name in names]
            ours = {name for name in imports_of(path) if name.startswith("minigrad.")}
            assert not {name for name in ours if not inside(name, *below)}


def chapters() -> tuple[list[Path], list[Path]]:
    """The files of autograd's core, and those of the chapters beside it, as the first page of the package lists them."""
    package = ROOT / "minigrad/autograd"
    page = ast.get_docstring(ast.parse((package / "__init__.py").read_text()))
    parts = page.split("**Further chapters**")
    core, further = (re.findall(r"^    ([./\w]+) {2,}", part, re.MULTILINE) for part in parts)
    return [(package / f"{name}.py").resolve() for name in core], [package / f"{name}.py" for name in further]


def test_autograd_can_be_read_in_the_order_that_its_first_page_tells():
    """A file imports only those that are told before it, and no file is left out."""
    told = [path.stem for part in chapters() for path in part if path.parent.name == "autograd"]
    assert sorted(told) == sorted(path.stem for path in (ROOT / "minigrad/autograd").glob("[a-z]*.py"))
    for number, name in enumerate(told):
        read = {f"minigrad.autograd.{earlier}" for earlier in told[:number]}
        ahead = {f"minigrad.autograd.{later}" for later in told} - read
        assert not imports_of(ROOT / f"minigrad/autograd/{name}.py") & ahead, name


def test_the_core_of_autograd_can_be_read_in_one_sitting():
    """Who adds to it takes something out, or finds that it belongs in a chapter of its own."""
    core, _ = chapters()
    lines = {path.stem: len(path.read_text().splitlines()) for path in core}
    assert lines["engine"] < 200
    assert sum(lines.values()) < 2300, lines


def test_the_core_of_autograd_knows_nothing_of_the_chapters_that_build_on_it():
    core, further = chapters()
    beside = {f"minigrad.autograd.{path.stem}" for path in further}
    assert not {path.stem: names for path in core if (names := imports_of(path) & beside)}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lessons_import_no_torch(path):
    cells = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    lines = [line for cell in cells for line in cell.splitlines() if not line.lstrip().startswith(("%", "!"))]
    assert not {name for name in imported("\n".join(lines)) if inside(name, "torch")}


@pytest.mark.parametrize("path", modules("notebooks"), ids=lambda path: str(path.relative_to(ROOT)))
def test_exercises_import_no_torch(path):
    assert not {name for name in imports_of(path) if inside(name, "torch")}


# ---------------------------------------------------------------- one description of what is needed


def test_environment_yml_has_the_names_and_bounds_of_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (packages,) = (entry["pip"] for entry in environment if isinstance(entry, dict))
    assert sorted(packages) == sorted([*PYPROJECT["project"]["dependencies"], "-e ."])
    assert f"python{PYPROJECT['project']['requires-python']}" in environment


def test_the_comparison_and_the_benchmarks_use_the_same_torch():
    extras = PYPROJECT["project"]["optional-dependencies"]
    (pin,) = (package for package in extras["torch"] if package.startswith("torch"))
    assert pin in extras["benchmarks"]


def test_every_package_is_in_the_wheel():
    assert PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["minigrad", "viz"]
    for file in ("viz/stepper.js", "viz/stepper.css"):
        assert (ROOT / file).stat().st_size > 0


# ---------------------------------------------------------------- in every file


def tracked() -> list[Path]:
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode != 0:
        pytest.skip("not a git checkout, so there is no list of the project's files")
    return [ROOT / name for name in git.stdout.split("\0") if name and (ROOT / name).is_file()]


def found_in_tracked_files(pattern: str) -> list[str]:
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture
            continue
        for match in re.finditer(pattern, text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: {match.group()}")
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


@each_module
def test_a_file_says_at_its_door_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text()))
