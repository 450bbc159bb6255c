"""The distribution: the wheel's contents and metadata, and that it works in an environment with only its dependencies."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from email.parser import Parser
from importlib.metadata import distribution, requires
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import minigrad

pytest.importorskip("hatchling", reason="make test installs it")
import hatch_build

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STEP = "import minigrad as t, viz; x = t.ones(2, requires_grad=True); s = viz.step((x * x).sum()); print(repr(s), x.grad)"
SAID = "Stepper("


def build_wheel(folder: Path) -> Path:
    """The wheel, built by hatchling without a network."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*pip, "--wheel-dir", folder, ROOT], capture_output=True, text=True)
    if "hatchling" in done.stderr and done.returncode:
        pytest.skip("hatchling is not installed here") if not os.environ.get("CI") else pytest.fail(
            done.stderr
        )
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.mark.long
def test_the_wheel_holds_both_packages_typed_with_the_front_end_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {"minigrad/py.typed", "viz/py.typed", "viz/show/front/pane.js", "viz/read/rules.txt"} <= names
    assert {name.split("/")[0] for name in names} == {
        "minigrad",
        "viz",
        f"see_autograd-{PROJECT['version']}.dist-info",
    }


@pytest.mark.long
def test_what_the_wheel_says_of_itself(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        wheel_metadata = Parser().parsestr(archive.read(name).decode())
    assert (wheel_metadata["Name"], wheel_metadata["Version"]) == ("see-autograd", minigrad.__version__)
    assert (
        "Typing :: Typed" in wheel_metadata.get_all("Classifier") and "autograd" in wheel_metadata["Keywords"]
    )
    assert set(wheel_metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"(?m)^version: (.+)$", citation)[1] == PROJECT["version"] == minigrad.__version__
    assert re.search(r"(?m)^## (\S+)", changelog)[1] == PROJECT["version"]


@pytest.mark.parametrize(
    "address, home",
    [
        ("https://github.com/someone/see-autograd.git", "https://github.com/someone/see-autograd"),
        ("git@github.com:someone/fork.git", "https://github.com/someone/fork"),
        ("ssh://git@gitlab.example.org/group/fork", "https://gitlab.example.org/group/fork"),
        ("https://token@github.com/someone/fork/", "https://github.com/someone/fork"),
    ],
)
def test_links_lead_to_the_repository_that_it_was_built_from(address, home):
    links = hatch_build.urls(address)
    assert links["Source"] == home and links["Issues"] == f"{home}/issues"


@pytest.mark.parametrize("address", ["", "/home/me/clone", "../clone", "C:\\clone"])
def test_a_clone_of_a_folder_has_no_links(address):
    assert hatch_build.urls(address) == {}


def needed(name: str, found: set[str] | None = None) -> set[str]:
    """A distribution and all its dependencies, without extras, as installed here."""
    found = set() if found is None else found
    if name not in found:
        found.add(name)
        for requirement in map(Requirement, requires(name) or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needed(canonicalize_name(requirement.name), found)
    return found


def test_it_brings_at_most_40_packages_of_300_megabytes():
    packages = needed("see-autograd")
    assert {"numpy", "anywidget", "pygraphviz"} <= packages and len(packages) <= 41, sorted(packages)
    size = 0
    for name in packages - {"see-autograd"}:
        files = [file.locate() for file in distribution(name).files or ()]
        size += sum(Path(file).stat().st_size for file in files if Path(file).is_file())
    assert size < 300e6, size


def environment_with(wheel: Path, place: Path) -> Path:
    """The Python of an environment with the wheel in it; its dependencies are those of this environment, seen through a path
    file, so that nothing is downloaded."""
    venv.create(place, with_pip=False, symlinks=os.name != "nt")
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (library,) = place.glob("[lL]ib/**/site-packages")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel],
        check=True,
    )
    beside = next(path for path in sys.path if path.endswith("site-packages"))
    (library / "beside.pth").write_text(beside + "\n", encoding="utf-8")
    return python


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory) -> Path:
    return environment_with(wheel, tmp_path_factory.mktemp("environment"))


def run(python: Path, *words: str, folder: Path, **more: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | more
    done = subprocess.run(
        [python, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def step_in(t: ModuleType) -> str:
    return STEP.replace("minigrad", t.__name__)


@pytest.mark.long
def test_it_steps_from_a_script_of_the_installed_wheel(installed, tmp_path, t):
    (tmp_path / "script.py").write_text(f"{step_in(t)}\nprint(viz.__file__)\n", encoding="utf-8")
    wheel_metadata = run(installed, "script.py", folder=tmp_path)
    assert (
        SAID in wheel_metadata
        and "tensor([2., 2.])" in wheel_metadata
        and str(installed.parent.parent) in wheel_metadata
    )


@pytest.mark.long
def test_it_steps_in_ipython(installed, tmp_path, t):
    words = ["-m", "IPython", "--no-banner", "--colors=NoColor", "-c", step_in(t)]
    assert SAID in run(installed, *words, folder=tmp_path, IPYTHONDIR=str(tmp_path))


@pytest.mark.long
def test_it_steps_in_a_notebook_that_a_program_runs(installed, tmp_path, t):
    import nbformat

    sources = [step_in(t), "s", "viz.__file__"]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "book.ipynb")
    run(
        installed,
        *["-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "book.ipynb"],
        folder=tmp_path,
    )
    _, *shown = nbformat.read(tmp_path / "book.ipynb", 4).cells
    stepper, place = (cell.outputs[0].data for cell in shown)
    assert "<iframe" in stepper["text/html"] and SAID in stepper["text/plain"]
    assert str(installed.parent.parent) in place["text/plain"]
