"""The site of the browser lessons is whole, small, and says what is so; Graphviz in a browser gives the same places."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import minigrad
import viz
from tests.viz_gallery import GALLERY
from tools.lite import wheels
from tools.lite.__main__ import GRAPHVIZ, elsewhere, npm
from viz.picture import engine, layout

HERE = Path(__file__).parent
OF_THE_KERNEL = {
    "micropip",
    "piplite",
    "pyodide-kernel",
    "ipykernel",
    "widgetsnbextension",
}  # these need a browser


def sources(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Graphviz is given for every graph of the gallery, in each view."""
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
    """Everything that has a place, with it."""
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


def test_the_packages_import_with_nothing_else_beside_them(site, lock):
    files = [
        str(site / "pyodide" / entry["file_name"])
        for name, entry in lock.items()
        if entry["file_name"].endswith("py3-none-any.whl") and not entry["file_name"].startswith("https:")
        if name not in {*OF_THE_KERNEL, "matplotlib", "matplotlib-inline", "see-autograd-lessons"}
    ]
    names = sorted(
        {name for package, entry in lock.items() if package not in OF_THE_KERNEL for name in entry["imports"]}
    )
    names = [name for name in names if any(name in zipfile_tops(file) for file in files)]
    program = (
        "import sys, importlib; sys.path[:] = "
        f"{files!r} + [path for path in sys.path if 'site-packages' not in path]\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "assert InteractiveShell.instance().run_cell('1 / 0').error_in_exec and sys.modules['IPython'].__version__"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True)
    assert len(names) > 12 and done.returncode == 0, done.stderr[-1500:]


def zipfile_tops(file: str) -> set[str]:
    with zipfile.ZipFile(file) as wheel:
        return {name.split("/")[0].removesuffix(".py") for name in wheel.namelist()}


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


def test_what_a_live_page_loads_is_at_most_12_megabytes(site):
    """Packed as hosts pack it; what comes from Pyodide's server is not counted here."""
    files = [
        site / file["address"]
        for file in json.loads((site / "start.json").read_text(encoding="utf-8"))
        if ":" not in file["address"]
    ]
    packed = [
        len(gzip.compress(file.read_bytes(), 6)) if file.suffix in (".js", ".wasm") else file.stat().st_size
        for file in files
    ]
    assert sum(packed) < 12e6


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
