"""The site of the browser lessons is complete, small and truthful; Graphviz in a browser gives the same positions."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

import minigrad
import viz
from tests.viz_gallery import GALLERY
from tools.lite import wheels
from tools.lite.__main__ import GRAPHVIZ, LAB, PYODIDE, elsewhere, npm, packed
from viz.picture import engine, layout

HERE = Path(__file__).parent


def sources(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The input of Graphviz for every graph of the gallery, in each view."""
    found: dict[str, None] = {}
    original = engine.layout

    def noted(source: str, form: str, prog: str = "dot") -> bytes:
        if form == "json0":
            found[source] = None
        return original(source, form, prog)

    monkeypatch.setattr(engine, "layout", noted)
    layout.laid_out.cache_clear()
    for build in GALLERY.values():
        roots, names = build(minigrad)
        for view in ("graph", "cards", "functions"):
            viz.draw(roots, names=names, view=view)
    layout.laid_out.cache_clear()
    return [*found]


def places(text: str) -> list[tuple]:
    """Everything that has a position, with that position."""
    data = json.loads(text)
    things = [data, *data.get("objects", ()), *data.get("edges", ())]
    return [(thing.get("name"), thing.get("pos"), thing.get("bb"), thing.get("lp")) for thing in things]


def test_graphviz_in_a_browser_gives_the_same_places(monkeypatch, tmp_path):
    dots = sources(monkeypatch)
    assert len(dots) >= len(GALLERY)
    (tmp_path / "sources.json").write_text(json.dumps(dots), encoding="utf-8")
    program = npm("@hpcc-js/wasm-graphviz", GRAPHVIZ) / "dist/index.js"
    command = ["node", HERE / "same_places.mjs", program, tmp_path / "sources.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    differ = [
        dot
        for dot, placed in zip(dots, json.loads(done.stdout), strict=True)
        if places(placed) != places(engine.layout(dot, "json0").decode())
    ]
    assert not differ, f"{len(differ)} of {len(dots)}, the first:\n{differ[0]}"


def test_every_wheel_is_there_whole_and_of_the_version_it_says(site, lock):
    for name, entry in lock.items():
        if entry["file_name"].startswith("https:"):
            assert entry["file_name"].startswith(elsewhere()) and len(entry["sha256"]) == 64
            continue
        path = site / "pyodide" / entry["file_name"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"], name
        with zipfile.ZipFile(path) as wheel:
            (metadata,) = (file for file in wheel.namelist() if file.endswith(".dist-info/METADATA"))
            assert re.search(
                rf"(?m)^Version: {re.escape(entry['version'])}\r?$", wheel.read(metadata).decode()
            ), name
            tops = {file.split("/")[0].removesuffix(".py") for file in wheel.namelist()}
        assert set(entry["imports"]) <= tops
        assert set(entry["depends"]) <= set(lock)


def test_the_versions_are_those_that_are_asked_for(lock):
    for pin in wheels.PINNED:
        name, _, version = pin.partition("==")
        assert lock[wheels.canonical(name)]["version"] == version


def test_python_starts_and_imports_what_is_left_of_it(site):
    """Comments, docstrings and what no lesson uses are taken out of Python's library and the packages."""
    packages = ["ipython", "piplite", "anywidget", "graphviz", "pyodide-kernel"]
    pyodide = npm("pyodide", PYODIDE) / "pyodide.mjs"
    command = ["node", HERE / "imports.mjs", pyodide, site / "pyodide", *packages]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    number, failed = json.loads(done.stdout.splitlines()[-1])
    assert number > 120 and failed == []


def test_our_own_package_has_what_the_project_has(site, lock):
    with zipfile.ZipFile(site / "pyodide" / lock["see-autograd-lessons"]["file_name"]) as wheel:
        names = set(wheel.namelist())
        assert wheel.read("viz/picture/engine.py") == Path(engine.__file__).read_bytes()
    assert {
        "minigrad/__init__.py",
        "viz/show/front/stepper.css",
        "exercises/lesson_03.py",
        "data/digits.npz",
    } <= names


def test_a_file_from_elsewhere_is_checked(serve, tmp_path):
    (tmp_path / "numpy.whl").write_bytes(b"NumPy")
    address, known = f"{serve(tmp_path)}numpy.whl", hashlib.sha256(b"NumPy").hexdigest()
    assert wheels.fetch(address, known, tmp_path / "here").read_bytes() == b"NumPy"
    with pytest.raises(ValueError, match="is not the file that Pyodide's list describes"):
        wheels.fetch(address, "0" * 64, tmp_path / "there")
    assert not (tmp_path / "there" / "numpy.whl").exists()


def test_a_program_without_its_comments_does_the_same():
    source = b'''"""About this."""
from __future__ import annotations

# a comment
def f(x):
    """Twice x."""
    text = """
# not a comment

"""
    return x * 2, text  # why


class Empty:
    """Only this."""
'''
    bare = wheels.bare(source)
    assert b"About" not in bare and b"Twice" not in bare and b"# a comment" not in bare
    whole, less = {}, {}
    exec(source, whole)
    exec(bare, less)
    assert less["f"](2) == whole["f"](2) == (4, "\n# not a comment\n\n") and less["f"].__doc__ is None
    assert wheels.bare(b"print 1") == b"print 1"


def test_lessons_are_the_learners_copies(site):
    copies = sorted((site / "files").glob("*.ipynb"))
    assert {path.name for path in copies} >= {
        "index.ipynb",
        "03_one_node_at_a_time.ipynb",
        "exam.ipynb",
        "glossary.ipynb",
    }
    for path in copies:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), path.name


def test_no_source_maps_and_no_dead_addresses(site):
    assert not [*site.rglob("*.map")]
    for file in json.loads((site / "start.json").read_text(encoding="utf-8")):
        assert file["address"].startswith(elsewhere()) or (site / file["address"]).is_file(), file


def test_a_first_visit_is_at_most_12_megabytes(site):
    """Compressed as hosts send it. The size of JupyterLab itself is measured in test_run.py."""
    files = json.loads((site / "start.json").read_text(encoding="utf-8"))
    here = [file for file in files if ":" not in file["address"]]
    assert packed(site, here) + LAB < (12e6 if here == files else 6e6)
    visit = packed(site, files) + LAB
    assert f"about {round(visit / 1e6)} MB" in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["index.html", "lab/index.html"])
def test_the_policy_of_a_page_names_no_host_but_pyodides(site, page):
    (policy,) = re.findall(
        r'Content-Security-Policy" content="([^"]+)"', (site / page).read_text(encoding="utf-8")
    )
    outside = set(re.findall(r"https?:[^\s;]+", policy))
    assert outside <= {"/".join(elsewhere().split("/")[:3])} and "*" not in policy and "default-src" in policy


def test_the_kernel_starts_graphviz_before_the_first_cell(site):
    programs = [path.read_text(encoding="utf-8") for path in (site / "extensions").rglob("*.js")]
    starting = [program for program in programs if '"import pyodide_kernel"' in program]
    assert starting and all('"await lesson_kernel.start()"' in program for program in starting)
    # a cell that raises on purpose stops no other
    assert all("stop_on_error&&(" in program for program in starting)
