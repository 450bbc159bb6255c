"""The site with the lessons for browsers, as `make lite` wrote it; written first where it is not there.

Lessons are run only where the site has its own Python (NUMPY_WASM or PYODIDE, see tools/lite): without it, a browser would
fetch Python from Pyodide's server, which FROM_ELSEWHERE=1 allows.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tools.lite.__main__ import ROOT, build

HAS_PYTHON = bool(os.environ.get("NUMPY_WASM") or os.environ.get("PYODIDE"))
FROM_ELSEWHERE = bool(os.environ.get("FROM_ELSEWHERE"))  # on a hosted runner, before the site is deployed
collect_ignore = [] if HAS_PYTHON or FROM_ELSEWHERE else ["test_run.py"]


@pytest.fixture(scope="session")
def site() -> Path:
    folder = ROOT / "lite"
    own = (folder / "pyodide" / "pyodide.asm.wasm").is_file()
    if not (folder / "live.json").is_file() or own != HAS_PYTHON:
        build(folder)
    return folder


@pytest.fixture(scope="session")
def lock(site: Path) -> dict[str, Any]:
    """The packages of the lock file."""
    return json.loads((site / "pyodide/pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
