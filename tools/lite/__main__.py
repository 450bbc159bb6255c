"""Write the lessons as a static site on which they run, with nothing installed: `python -m tools.lite [FOLDER]`.

    PYODIDE=folder     take Python and NumPy from this folder (a Pyodide distribution), for a site without any other host;
                       by default a visitor's browser fetches them from Pyodide's own server
    NUMPY_WASM=file    take Python from the npm package `pyodide`, and NumPy from this wheel, to try the site without a network

JupyterLite is built in a separate environment (build/lite), because it brings an extension that JupyterLab itself cannot load.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from tools import learners_copy
from tools.icon import ICON
from tools.lite import wheels
from tools.lite.wheels import Package

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
WORK = ROOT / "build" / "lite"  # files fetched and built on the way; kept, so that a second build is quick
JUPYTERLITE = [
    "jupyterlite-core==0.7.6",
    "jupyterlite-pyodide-kernel==0.7.2",
    "jupyter-server>=2",
    "jupyterlab_server>=2",
]
WIDGETS = ["jupyterlab_widgets==3.0.15", "anywidget==0.9.21"]  # needed for their JupyterLab extensions
PYODIDE = "0.29.3"  # what this kernel is made for
GRAPHVIZ = "1.29.2"
LAB = 2_100_000  # bytes of JupyterLab with a lesson open, packed
NUMPY = 3_644_060  # bytes of NumPy's wheel on Pyodide's server
# Pyodide itself: its files, and their size there
CORE = {"pyodide.js": 18_597, "pyodide.asm.js": 1_074_322, "pyodide.asm.wasm": 8_647_684}
LIBRARY = "python_stdlib.zip"  # Python's own library; always served from here, without the parts that no lesson uses
# JupyterLab compiles templates and Python with eval; all else comes from this site, and from Pyodide's server where it is used
LAB_POLICY = (
    "default-src 'self'{host}; script-src 'self'{host} 'unsafe-inline' 'unsafe-eval' blob:; worker-src 'self' blob:; "
    "connect-src 'self'{host} blob: data:; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
    "font-src 'self' data:; frame-src 'self' blob: data:"
)
KERNEL = "@jupyterlite/pyodide-kernel-extension"
STARTS = '"import pyodide_kernel"'  # in the kernel's program: the last statement before it is ready
# in the same program: what a failed cell returns; one that raises on purpose must not stop those after it
FAILED = r"(\((\w)\.ename,\2\.evalue,\2\.traceback\))(,\2\}async complete)"
# what a kernel has from its beginning; matplotlib is fetched when a lesson imports it
AT_ONCE = [
    "ipykernel",
    "comm",
    "pyodide-kernel",
    "jedi",
    "sqlite3",
    "ipython",
    "micropip",
    "piplite",
    "see-autograd-lessons",
]


def npm(name: str, version: str) -> Path:
    """The folder of an npm package, fetched once."""
    folder = WORK / "npm" / f"{name.rpartition('/')[2]}-{version}"
    if not (folder / "package.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        if shutil.which("npm") is None:
            sys.exit(
                "minigrad: make lite needs npm, which brings Graphviz and Pyodide. Install Node.js (nodejs.org)."
            )
        packed = subprocess.run(
            ["npm", "pack", "--silent", f"{name}@{version}"],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        archive = folder / packed.stdout.split()[-1]
        subprocess.run(["tar", "xzf", archive.name, "--strip-components=1"], cwd=folder, check=True)
        archive.unlink()
    return folder


def elsewhere() -> str:
    """The address of this version on Pyodide's own server, taken from Pyodide's own program."""
    program = (npm("pyodide", PYODIDE) / "pyodide.js").read_text(encoding="utf-8")
    (address,) = set(re.findall(r"https://[^`\"' ]*/v\$\{\w+\}/full/", program))
    return re.sub(r"\$\{\w+\}", PYODIDE, address)


def environment() -> Path:
    """The Python of an environment with JupyterLite, made once."""
    place, wanted = WORK / "venv", "\n".join([*JUPYTERLITE, *WIDGETS])
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    record = place / "installed.txt"
    if not record.exists() or record.read_text(encoding="utf-8") != wanted:
        venv.create(place, clear=True, with_pip=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *JUPYTERLITE], check=True)
        subprocess.run([*pip, "--no-deps", *WIDGETS], check=True)
        record.write_text(wanted, encoding="utf-8")
    return python


def of_this_project(folder: Path) -> Package:
    """minigrad, viz, the exercises with their data, and Graphviz, as one package."""
    files: dict[str, bytes] = {}
    for name, base in (
        ("minigrad", ROOT),
        ("viz", ROOT),
        ("exercises", ROOT / "notebooks"),
        ("data", ROOT / "notebooks"),
    ):
        for path in sorted((base / name).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pyi", ".md"):
                files[path.relative_to(base).as_posix()] = path.read_bytes()
    files.pop("data/make_digits.py", None)
    files |= {path.name: headers(path) for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))}
    for name in ("wasm_graphviz.py", "lesson_kernel.py"):
        files[name] = (HERE / name).read_bytes()
    files["graphviz.js"] = re.sub(
        rb"\n//# sourceMappingURL=.*",
        b"",
        (npm("@hpcc-js/wasm-graphviz", GRAPHVIZ) / "dist/index.js").read_bytes(),
    )
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)[1]
    package = Package(
        "see-autograd-lessons",
        version,
        None,
        ["minigrad", "viz", "exercises", "wasm_graphviz", "lesson_kernel"],
        ["numpy", "graphviz", "ipywidgets", "anywidget", "ipython"],
    )
    package.file = wheels.write_wheel(folder, package.name, version, files)
    return package


def headers(notebook: Path) -> bytes:
    """The part of a lesson that the start page's map and routes need: its texts with a heading."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = [
        cell for cell in cells if cell["cell_type"] == "markdown" and "".join(cell["source"]).startswith("#")
    ]
    return json.dumps(
        {"cells": [{"cell_type": "markdown", "source": cell["source"]} for cell in texts]}
    ).encode()


def packages(folder: Path, python: Path) -> list[Package]:
    """All packages served with the site."""
    found = [of_this_project(folder)]
    found += [wheels.trimmed(wheel, folder) for wheel in wheels.download(WORK / "wheels")]
    kernel = python.parent.parent / "share/jupyter/labextensions" / KERNEL / "static/pypi"
    found += [
        wheels.trimmed(wheel, folder)
        for wheel in sorted(kernel.glob("*.whl"))
        if not wheel.name.startswith("widgetsnbextension-3")
    ]
    found += [wheels.left_out(name, folder) for name in wheels.LEFT_OUT]
    depends = {
        "ipython": [
            "asttokens",
            "decorator",
            "executing",
            "matplotlib-inline",
            "pure-eval",
            "pygments",
            "six",
            "stack-data",
            "traitlets",
            "typing-extensions",
        ],
        "ipywidgets": ["comm", "ipython", "widgetsnbextension"],
        "anywidget": ["ipywidgets", "psygnal", "typing-extensions"],
        "pyodide-kernel": ["ipython", "comm"],
        "piplite": ["micropip", "packaging"],
    }
    for package in found:
        package.depends = depends.get(package.name, package.depends)
    return found


def python_for_browsers(folder: Path) -> tuple[list[Package], dict[str, Any], str]:
    """NumPy and matplotlib from Pyodide, Pyodide's own description, and the location of Pyodide: an address, or a path from the
    site. Copies the files served from here into ``folder``."""
    core = npm("pyodide", PYODIDE)
    chosen, wheel = os.environ.get("PYODIDE"), os.environ.get("NUMPY_WASM")
    source = Path(chosen).expanduser() if chosen else core
    lock_file = source / "pyodide-lock.json"
    if not lock_file.is_file():
        sys.exit(f"minigrad: {source} is not a Pyodide distribution: it has no pyodide-lock.json.")
    lock = json.loads(lock_file.read_text(encoding="utf-8"))
    wheels.slimmed(source / LIBRARY, folder, wheels.UNUSED_LIBRARY, wheels.bare)
    if not chosen and not wheel:
        found = wheels.of_pyodide(lock, "matplotlib", elsewhere())
        if os.environ.get("FROM_ELSEWHERE"):
            numpy = next(package for package in found if package.name == "numpy")
            whole = wheels.fetch(numpy.address, numpy.sha256, WORK / "wheels-of-pyodide")
            numpy.file = wheels.slimmed(whole, folder, wheels.UNUSED_NUMPY)
            numpy.address, numpy.sha256 = "", ""
        return found, lock["info"], elsewhere() + "pyodide.js"
    for name in CORE:
        if not (source / name).is_file():
            sys.exit(f"minigrad: {source / name} is missing: PYODIDE must name a whole Pyodide distribution.")
        shutil.copyfile(source / name, folder / name)
    found = []
    for package in wheels.of_pyodide(lock, "matplotlib", ""):
        own = Path(wheel).expanduser() if wheel and package.name == "numpy" else source / package.address
        if own.is_file():
            package.file = wheels.slimmed(own, folder, wheels.UNUSED_NUMPY)
            package.address, package.sha256 = "", ""
            found.append(package)
        elif package.name == "numpy":
            sys.exit(f"minigrad: there is no {own}; without NumPy nothing runs.")
    if not any(package.name == "matplotlib" for package in found):
        print("minigrad: no matplotlib here: on this site figures are replaced by a sentence")
        files = {"matplotlib/__init__.py": (HERE / "no_matplotlib.py").read_bytes()}
        version = lock["packages"]["matplotlib"]["version"]
        file = wheels.write_wheel(folder, "matplotlib", version, files)
        found = [p for p in found if p.name == "numpy"] + [
            Package("matplotlib", version, file, ["matplotlib"], ["numpy"])
        ]
    return found, lock["info"], "./pyodide/pyodide.js"


def lessons(folder: Path) -> None:
    """The learner's copies: no outputs, no answers in sight."""
    for path in sorted(learners_copy.NOTEBOOKS.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        notebook["metadata"]["kernelspec"] = {
            "name": "python",
            "display_name": "Python (in this browser)",
            "language": "python",
        }
        (folder / path.name).write_text(learners_copy.clean(notebook), encoding="utf-8")


def settings(where: str) -> dict[str, Any]:
    """JupyterLite's configuration: which Pyodide, and what it loads."""
    up = "../../../../"  # from the kernel's worker to the site
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "See automatic differentiation work",
            "exposeAppInBrowser": True,
            "litePluginSettings": {
                f"{KERNEL}:kernel": {
                    "pyodideUrl": where,
                    "disablePyPIFallback": True,
                    "loadPyodideOptions": {
                        "lockFileURL": f"{up}pyodide/pyodide-lock.json",
                        "stdLibURL": f"{up}pyodide/{LIBRARY}",
                        "packages": AT_ONCE,
                    },
                }
            },
        },
    }


def patch_kernel(site: Path) -> None:
    """Let the kernel start Graphviz before the first cell: there is no hook for it."""
    patched = 0
    for path in (site / "extensions" / KERNEL / "static").glob("*.js"):
        program = path.read_text(encoding="utf-8")
        if STARTS in program:
            more = f'{STARTS},"import lesson_kernel","await lesson_kernel.start()"'
            program = re.sub(
                FAILED, r"\1,!1===e.stop_on_error&&(\2.status='ok')\3", program.replace(STARTS, more)
            )
            path.write_text(program, encoding="utf-8")
            patched += 1
    if not patched:
        raise RuntimeError(f"the kernel's program has changed: {STARTS} is not in it")


def build(site: Path) -> Path:
    """Write the site into ``site``; returns its first page."""
    python = environment()
    contents, served, configuration = WORK / "contents", WORK / "pyodide", WORK / "configuration"
    for folder in (contents, served, configuration, site):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    lessons(contents)
    found, information, where = python_for_browsers(served)
    wheels.write_lock(served / "pyodide-lock.json", information, [*packages(served, python), *found])
    (configuration / "jupyter-lite.json").write_text(json.dumps(settings(where), indent=1), encoding="utf-8")
    options = [
        "--lite-dir",
        configuration,
        "--contents",
        contents,
        "--output-dir",
        site,
        "--apps",
        "lab",
        "--no-unused-shared-packages",
    ]
    done = subprocess.run(
        [python, "-m", "jupyter", "lite", "build", *map(str, options)],
        cwd=configuration,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"minigrad: JupyterLite could not be built:\n{(done.stdout + done.stderr)[-3000:]}")
    shutil.copytree(served, site / "pyodide")
    for path in [*site.rglob("*.map"), *site.rglob("*.d.ts")]:
        path.unlink()
    patch_kernel(site)
    shutil.rmtree(site / "doc", ignore_errors=True)
    start_page(site, where)
    return site / "index.html"


def start_page(site: Path, where: str) -> None:
    """The first page, which loads everything and shows its progress, and the list of what it loads."""
    files = downloads(site, where)
    (site / "start.json").write_text(json.dumps(files), encoding="utf-8")
    live = {
        "pyodide": where,
        "lock": "pyodide/pyodide-lock.json",
        "library": f"pyodide/{LIBRARY}",
        "packages": AT_ONCE,
    }
    (site / "live.json").write_text(json.dumps(live), encoding="utf-8")
    for name in ("download.js", "watch.js"):
        shutil.copyfile(HERE / name, site / name)
    host = f" {'/'.join(where.split('/')[:3])}" if where.startswith("https:") else ""
    policy = (
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    )
    policy += f"connect-src 'self'{host}"
    page = (HERE / "start.html").read_text(encoding="utf-8").replace("POLICY", policy).replace("ICON", ICON)
    megabytes = round((packed(site, files) + LAB) / 1e6)
    page = page.replace("MEGABYTES", str(megabytes))
    script = (HERE / "start.js").read_text(encoding="utf-8")
    (site / "index.html").write_text(page.replace("SCRIPT", script), encoding="utf-8")
    for icon in (site / "lab").glob("favicon.ico"):  # 300 kB
        icon.unlink()
    lab = site / "lab/index.html"
    text = lab.read_text(encoding="utf-8")
    text = re.sub(r'<link[^>]*rel="[^"]*icon"[^>]*>', f'<link rel="icon" href="{ICON}">', text)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{LAB_POLICY.format(host=host)}">'
    scripts = "".join(f'<script defer src="../{name}"></script>' for name in ("download.js", "watch.js"))
    lab.write_text(text.replace("<head>", f"<head>\n    {meta}{scripts}", 1), encoding="utf-8")


def downloads(site: Path, where: str) -> list[dict[str, Any]]:
    """What a kernel loads: for each file its address, its share of the whole, its unpacked size and, if it is served from here,
    its hash."""
    lock = json.loads((site / "pyodide/pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    base = where.rpartition("/")[0].removeprefix("./") + "/"
    parts = {"see-autograd-lessons": "the lessons", "numpy": "NumPy"}
    files = [
        {"address": base + name, "part": "Python", "bytes": size, "sha256": ""} for name, size in CORE.items()
    ]
    files.append({"address": f"pyodide/{LIBRARY}", "part": "Python", "bytes": 0, "sha256": ""})
    for name in sorted(needed(lock)):
        file, part = lock[name]["file_name"], parts.get(name, "notebooks and widgets")
        address = file if file.startswith("https:") else f"pyodide/{file}"
        files.append({"address": address, "part": part, "bytes": NUMPY, "sha256": lock[name]["sha256"]})
    for file in files:
        own = site / file["address"]
        if own.is_file():
            file |= {"bytes": own.stat().st_size, "sha256": hashlib.sha256(own.read_bytes()).hexdigest()}
    return files


def packed(site: Path, files: list[dict[str, Any]]) -> int:
    """The size of these files as sent over the network: hosts compress programs, and packages are already compressed."""
    total = 0
    for file in files:
        name = file["address"].rpartition("/")[2]
        own = site / file["address"] if ":" not in file["address"] else npm("pyodide", PYODIDE) / name
        if own.is_file() and own.suffix in (".js", ".wasm"):
            total += len(gzip.compress(own.read_bytes(), 6))
        else:
            total += file["bytes"]
    return total


def needed(lock: dict[str, Any]) -> set[str]:
    """The packages that a kernel loads at its start."""
    found, waiting = set(), [*AT_ONCE]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += lock[name]["depends"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.lite", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=ROOT / "lite")
    page = build(parser.parse_args().folder.absolute())
    print(f"minigrad: the lessons for browsers are in {page.parent}. To try them:")
    print(f"  {sys.executable} -m http.server -d {page.parent}")


if __name__ == "__main__":
    main()
