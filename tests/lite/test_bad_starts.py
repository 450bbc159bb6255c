"""What the first page and a lesson's page say if Python cannot start: one sentence, with what to do. Nothing is lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lite.conftest import FROM_ELSEWHERE, HAS_PYTHON

WITHOUT = {
    "WebAssembly": "delete globalThis.WebAssembly",
    "storage": "Object.defineProperty(globalThis, 'indexedDB', { value: undefined })",
    "storage that works": "IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError') }",
    "service workers": "Object.defineProperty(Navigator.prototype, 'serviceWorker', { value: undefined })",
}
LARGE = "**/pyodide.asm.wasm"
OURS = "**/see_autograd_lessons*.whl"


@pytest.fixture
def message(page, address) -> Callable[..., str]:
    """said(): open the first page; the sentence of its problem."""

    def open_it(name: str = "03_one_node_at_a_time") -> str:
        page.goto(f"{address}index.html?lesson={name}")
        page.locator("#problem").wait_for(timeout=120_000)
        return page.locator("#what").inner_text()

    return open_it


def test_without_webassembly(page, message):
    page.add_init_script(WITHOUT["WebAssembly"])
    sentence = message()
    assert "does not run WebAssembly" in sentence and "current Firefox, Chrome, Edge or Safari" in sentence
    assert page.locator("#bar").is_hidden() and not page.locator("#now").inner_text()


@pytest.mark.parametrize("what", ["storage", "storage that works", "service workers"])
def test_a_window_that_keeps_nothing_opens_all_the_same(page, message, what):
    page.add_init_script(WITHOUT[what])
    assert "keeps nothing" in message()
    page.get_by_role("button", name="Open the lesson").click()
    page.wait_for_url("**/lab/**")


def test_a_blocked_host_is_named_and_trying_again_goes_on(page, message):
    page.route(LARGE, lambda route: route.abort())
    sentence = message()
    assert sentence.startswith("pyodide.asm.wasm could not be loaded from ") and "block" in sentence
    page.unroute(LARGE)
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url("**/lab/**", timeout=120_000)


@pytest.mark.parametrize("pattern", ["**/start.json", "**/download.js"])
def test_a_first_page_without_its_own_files(page, message, pattern):
    page.route(pattern, lambda route: route.abort())
    assert f"{pattern[3:]} could not be loaded from localhost" in message()


def test_a_server_without_a_file_says_its_answer(page, message):
    page.route(OURS, lambda route: route.fulfill(status=404))
    assert "the server answered 404" in message()


def test_a_half_downloaded_wheel_is_fetched_again(page, site, address):
    (wheel,) = (site / "pyodide").glob(Path(OURS).name)
    asked = []

    def half(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(body=wheel.read_bytes()[:1000]) if len(asked) == 1 else route.continue_()

    page.route(OURS, half)
    page.goto(f"{address}index.html")
    page.wait_for_url("**/lab/**", timeout=120_000)
    assert len(asked) >= 2


def test_a_wheel_that_always_arrives_damaged_is_reported(page, message):
    page.route(OURS, lambda route: route.fulfill(body=b"half"))
    assert "it arrived damaged" in message()


def test_a_slow_network_is_reported_with_what_is_still_to_come(page, address):
    page.route(LARGE, lambda route: None)  # never answered
    page.goto(f"{address}index.html")
    now = page.locator("#now")
    now.get_by_text("still to come: Python.").wait_for(timeout=60_000)
    assert 0.1 < float(page.locator("#bar").get_attribute("value")) < 0.9
    now.get_by_text("Nothing has arrived for").wait_for(timeout=60_000)


def test_a_browser_without_modules_or_scripts_is_reported(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "<script nomodule>" in page and "<noscript>" in page


def test_jupyterlab_says_so_where_python_does_not_come(page, site, serve, tmp_path):
    """Opened by a bookmark, bypassing the first page. The fake host serves pages but no workers, so Python is missing, too."""
    missing = "see_autograd_lessons" if HAS_PYTHON or FROM_ELSEWHERE else "pyodide.js could not be loaded"
    half = shutil.copytree(site, tmp_path / "half", copy_function=os.symlink)
    (wheel,) = (half / "pyodide").glob(Path(OURS).name)
    wheel.unlink()
    page.goto(f"{serve(half)}lab/index.html?path=03_one_node_at_a_time.ipynb")
    page.get_by_text(f"Python cannot start: {missing}").wait_for(timeout=120_000)
