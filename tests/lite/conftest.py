"""The site that `make lite` wrote, served and opened in Chromium.

The environment says where Python is, as for `make lite`: NUMPY_WASM or PYODIDE mean that Python is in the site,
and FROM_ELSEWHERE=1 that Pyodide's own server can be reached. Otherwise no lesson runs (test_run.py, test_firefox.py), and the
messages of a page that is loading are tested with a fake of that server.
"""

from __future__ import annotations

import functools
import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tools.lite.__main__ import PYODIDE, ROOT, build, elsewhere, npm

HAS_PYTHON = bool(os.environ.get("NUMPY_WASM") or os.environ.get("PYODIDE"))
FROM_ELSEWHERE = bool(os.environ.get("FROM_ELSEWHERE"))  # on a hosted runner, before the site is deployed
collect_ignore = [] if HAS_PYTHON or FROM_ELSEWHERE else ["test_run.py", "test_firefox.py"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import fcntl  # missing on Windows

    folder = ROOT / "lite"
    with (tmp_path_factory.getbasetemp().parent / "lite.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one worker builds it for all
        own = (folder / "pyodide" / "pyodide.asm.wasm").is_file()
        if not (folder / "live.json").is_file() or own != HAS_PYTHON:
            build(folder)
    return folder


@pytest.fixture(scope="session")
def lock(site: Path) -> dict[str, Any]:
    """The packages of the lock file."""
    return json.loads((site / "pyodide/pyodide-lock.json").read_text(encoding="utf-8"))["packages"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *values: Any) -> None:
        pass


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """serve(folder): the address at which this folder is now served."""
    servers = []

    def serve_it(folder: Path) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://localhost:{server.server_port}/"

    yield serve_it
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def address(site: Path, serve: Callable[[Path], str]) -> str:
    """Where the site is served."""
    return serve(site)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from tools.jupyterlab import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page in a window of its own; it fails the test if it asked a host for something that the site does not name."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    if not HAS_PYTHON and not FROM_ELSEWHERE:
        stand_in(page)
    yield page
    context.close()
    assert not [
        url for url in asked if not url.startswith(("http://localhost:", "data:", "blob:", elsewhere()))
    ]


def stand_in(page: Any) -> None:
    """A fake of Pyodide's server: its program from npm, and meaningless bytes for the packages."""
    core = npm("pyodide", PYODIDE)

    def answer(route: Any) -> None:
        file = core / route.request.url.rpartition("/")[2]
        body = file.read_bytes() if file.is_file() else b"a package"
        route.fulfill(body=body, headers={"Access-Control-Allow-Origin": "*"})

    def unchecked(route: Any) -> None:
        files = route.fetch().json()
        route.fulfill(json=[file | ({"sha256": ""} if ":" in file["address"] else {}) for file in files])

    page.route(f"{elsewhere()}**", answer)
    page.route("**/start.json", unchecked)
