"""The wheels that a browser kernel loads, and the lock file that lists them.

Everything a kernel needs is in one lock file in Pyodide's own format, so Pyodide fetches it in parallel and checks each file
against its hash. Packages of the index are cut down to what a notebook uses, since every first visit downloads them.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Packages of the index, all pure Python. Versions are those of Pyodide's own lock file where it has the package.
PINNED = [
    "anywidget==0.9.21",
    "asttokens==3.0.0",
    "comm==0.2.3",
    "decorator==5.2.1",
    "executing==2.2.0",
    "graphviz==0.21",
    "ipython==9.0.2",
    "ipywidgets==8.1.8",
    "matplotlib-inline==0.1.7",
    "micropip==0.11.0",
    "packaging==24.2",
    "psygnal==0.14.0",
    "pure-eval==0.2.3",
    "pygments==2.19.1",
    "six==1.17.0",
    "stack-data==0.6.3",
    "traitlets==5.14.3",
    "typing-extensions==4.14.1",
    "tqdm==4.67.1",
]
# Files that a notebook in a browser never uses, by package: prefixes of paths in the wheel
UNUSED = {
    "ipython": [
        *(
            "IPython/testing/",
            "IPython/sphinxext/",
            "IPython/terminal/",
            "IPython/extensions/",
        ),
        *(
            f"IPython/lib/{name}.py"
            for name in ("backgroundjobs", "deepreload", "demo", "editorhooks", "lexers")
        ),
    ],
    "anywidget": ["anywidget/nbextension/", "anywidget/labextension/"],
    "pygments": [
        *("pygments/styles/", "pygments/lexers/", "pygments/formatters/", "pygments/filters/"),
        *("pygments/cmdline.py", "pygments/sphinxext.py"),
    ],
    "*": ["share/", "etc/"],
}
KEPT = (
    r"IPython/(testing/(__init__|skipdoctest)|extensions/(__init__|storemagic)|terminal/pt_inputhooks/__init__)\.py|"
    r"pygments/(styles/(__init__|_mapping|default|monokai|native|vim|\w*gray\w*|linux)|"
    r"lexers/(__init__|_mapping|python|special)|filters/__init__|"
    r"formatters/(__init__|_mapping|html|terminal|terminal256|other))\.py"
)
# IPython imports these two for its terminal, which a browser does not have; with them would come prompt_toolkit
STUBS = {
    "ipython": {
        "IPython/terminal/__init__.py": b"",
        "IPython/terminal/embed.py": b"embed = None\n",
    }
}
# Of Python's own library and of NumPy, if served from this site: prefixes and patterns of modules that no lesson imports
UNUSED_LIBRARY = (
    r"encodings/(big5|cp(?!437|1252)\d|euc_|gb|hz|iso2022|iso8859_(?!1\.|15)|johab|shift|mac_|koi|kz|palmos|ptcp|tis|hp_)|"
    r"asyncio/(windows|proactor)|concurrent/futures/process|ctypes/(macholib|wintypes|_aix)|http/(server|cookies)|"
    r"_pyrepl/(?!__init__|pager|types)|xml/(dom/expatbuilder|dom/pulldom)|"
    r"(wsgiref|xmlrpc|multiprocessing|ensurepip|venv|curses|dbm|idlelib|zoneinfo)/|"
    r"(_?(android|apple|ios)_support|antigravity|compileall|ftplib|imaplib|mailbox|modulefinder|nturl2path|optparse|pickletools|"
    r"plistlib|poplib|pty|pyclbr|smtplib|tabnanny|trace|tty|turtle|wave|zipapp)\.py"
)
UNUSED_NUMPY = r"numpy/f2py/|numpy/distutils/|.*/tests?/|.*\.(pyi|pxd|h|c|a)$|numpy/(conftest|core/include|_core/include)"
# The kernel asks for these; IPython works without them: names are completed at run time, and no history is kept
LEFT_OUT = ["jedi", "sqlite3"]
STAMP = (2020, 1, 1, 0, 0, 0)  # the date of each file in a wheel, so that equal contents give equal wheels


@dataclass
class Package:
    """A package of the lock file: in ``file``, or at its own address."""

    name: str
    version: str
    file: Path | None
    imports: list[str]
    depends: list[str] = field(default_factory=list)
    address: str = ""
    sha256: str = ""

    def entry(self) -> dict[str, Any]:
        """Its entry in Pyodide's lock file."""
        digest = self.sha256 or hashlib.sha256(self.file.read_bytes()).hexdigest()
        return {
            "name": self.name,
            "version": self.version,
            "file_name": self.address or self.file.name,
            "install_dir": "site",
            "sha256": digest,
            "package_type": "package",
            "imports": self.imports,
            "depends": self.depends,
            "unvendored_tests": False,
        }


def canonical(name: str) -> str:
    """The form of a distribution's name that indexes compare by."""
    return re.sub(r"[-_.]+", "-", name).lower()


def write_wheel(folder: Path, name: str, version: str, files: dict[str, bytes]) -> Path:
    """A pure wheel of these files, small and the same each time. A METADATA among them is kept."""
    stem = f"{re.sub(r'[-_.]+', '_', name)}-{version}"
    information = f"{stem}.dist-info"
    files = dict(files)
    files.setdefault(
        f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    )
    files.setdefault(
        f"{information}/WHEEL",
        b"Wheel-Version: 1.0\nGenerator: tools.lite\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    )
    files[f"{information}/RECORD"] = "".join(
        f"{path},,\n" for path in [*files, f"{information}/RECORD"]
    ).encode()
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file, content in files.items():
            archive.writestr(zipfile.ZipInfo(file, STAMP), content, zipfile.ZIP_DEFLATED, 9)
    return path


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel; files that it would install outside site-packages are named by their destination."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            re.sub(r"^[^/]+\.data/data/", "", name): archive.read(name)
            for name in archive.namelist()
            if not name.endswith("/")
        }


def used(name: str, path: str) -> bool:
    """Whether a notebook in a browser uses this file of a package."""
    if ".dist-info/" in path:
        return path.endswith(("METADATA", "WHEEL", "entry_points.txt")) or "licen" in path.lower()
    if re.search(r"(^|/)tests?/|\.(pyi|typed|map)$", path):
        return False
    unwanted = [*UNUSED.get(name, ()), *UNUSED["*"]]
    return bool(re.fullmatch(KEPT, path)) or not path.startswith(tuple(unwanted))


def bare(source: bytes) -> bytes:
    """A program without comments and docstrings, as `python -OO` runs it, but otherwise line by line the same: a third of the
    download. Unchanged if this Python cannot read it."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    texts, unwanted = set(), set()  # numbers of lines
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno > node.lineno:
            texts.update(range(node.lineno, node.end_lineno + 1))
        body = getattr(node, "body", None)
        if isinstance(body, list) and len(body) > 1 and is_text(body[0]):
            lines = range(body[0].lineno, body[0].end_lineno + 1)
            if getattr(node, "lineno", 0) < lines[0] and lines[-1] < body[1].lineno:
                unwanted.update(lines)
    kept = [
        line
        for number, line in enumerate(source.decode().split("\n"), 1)
        if number not in unwanted and (number in texts or line.strip()[:1] not in ("", "#"))
    ]
    return "\n".join([*kept, ""]).encode()


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is only a string, such as a docstring."""
    value = getattr(statement, "value", None)
    return (
        isinstance(statement, ast.Expr) and isinstance(value, ast.Constant) and isinstance(value.value, str)
    )


def trimmed(wheel: Path, folder: Path) -> Package:
    """A package for a browser, cut down to what is used there."""
    parts = wheel.name.split("-")
    name, version = canonical(parts[0]), parts[1]
    files = {
        path: bare(data) if path.endswith(".py") else data
        for path, data in contents(wheel).items()
        if used(name, path)
    }
    files |= STUBS.get(name, {})
    return Package(name, version, write_wheel(folder, parts[0], version, files), imports_of(files))


def slimmed(archive: Path, into: Path, unused: str, change: Callable[[bytes], bytes] = bytes) -> Path:
    """A copy of a wheel or zip archive without the files that match ``unused``, each of its programs changed by ``change``."""
    into = into / archive.name
    with (
        zipfile.ZipFile(archive) as source,
        zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as copy,
    ):
        for file in source.infolist():
            if not re.match(unused, file.filename):
                data = source.read(file)
                data = change(data) if file.filename.endswith(".py") else data
                copy.writestr(zipfile.ZipInfo(file.filename, STAMP), data, zipfile.ZIP_DEFLATED, 9)
    return into


def imports_of(files: Iterable[str]) -> list[str]:
    """The names that can be imported from these files."""
    tops = {path.split("/")[0].removesuffix(".py") for path in files if path.endswith(".py")}
    return sorted(top for top in tops if top.isidentifier())


def left_out(name: str, folder: Path) -> Package:
    """An empty package in place of one that the kernel asks for and does not need."""
    return Package(name, "0", write_wheel(folder, name, "0", {}), [])


def download(into: Path, requirements: list[str] = PINNED) -> list[Path]:
    """Fetch pure wheels with pip; those that are there are not fetched again."""
    into.mkdir(parents=True, exist_ok=True)
    record = into / "fetched.txt"
    if record.is_file() and record.read_text(encoding="utf-8").split() == requirements:
        return sorted(into.glob("*.whl"))
    for old in into.glob("*.whl"):
        old.unlink()
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--dest",
        str(into),
    ]
    pure = [
        "--only-binary=:all:",
        "--python-version=3.13",
        "--implementation=py",
        "--abi=none",
        "--platform=any",
    ]
    subprocess.run([*pip, *pure, *requirements], check=True)
    record.write_text("\n".join(requirements), encoding="utf-8")
    return sorted(into.glob("*.whl"))


def fetch(address: str, sha256: str, into: Path) -> Path:
    """A file from an address, checked against its hash. Raises ValueError if that differs."""
    file = into / address.rpartition("/")[2]
    if not file.is_file():
        into.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(address) as answer:
            data = answer.read()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ValueError(f"{address} is not the file that Pyodide's list describes")
        file.write_bytes(data)
    return file


def of_pyodide(lock: dict[str, Any], name: str, base: str) -> list[Package]:
    """A package of Pyodide's own distribution with all that it depends on, to be fetched from ``base``."""
    found, waiting = {}, [name]
    while waiting:
        entry = lock["packages"][canonical(waiting.pop())]
        if entry["name"] not in found:
            found[entry["name"]] = Package(
                canonical(entry["name"]),
                entry["version"],
                None,
                entry["imports"],
                entry["depends"],
                base + entry["file_name"],
                entry["sha256"],
            )
            waiting += entry["depends"]
    return [*found.values()]


def write_lock(path: Path, information: dict[str, Any], packages: Iterable[Package]) -> None:
    """Write the lock file: Pyodide's ``information`` on itself, and these packages."""
    entries = {package.name: package.entry() for package in packages}
    lock = {"info": information, "packages": dict(sorted(entries.items()))}
    path.write_text(json.dumps(lock, indent=1) + "\n", encoding="utf-8")
