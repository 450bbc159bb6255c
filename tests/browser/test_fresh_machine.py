"""A machine that has nothing: a fresh clone, an empty home, and README's first command exactly as written, until the first
stepper answers. The setup is interrupted once, as impatient people would do."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

ROOT = Path(__file__).resolve().parents[2]
NEWER = ("python3.14", "python3.13", "python3.12")


def newest_python() -> str:
    """The newest Python of this machine, if there is one newer than the one that runs the tests."""
    for name in filter(shutil.which, NEWER):
        if subprocess.run([name, "-c", ""], capture_output=True).returncode == 0:  # a shim may be dead
            return name
    return sys.executable


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What `git clone` would bring: the files that the project keeps, as they are now."""
    kept = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(kept, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "clone" / name)
    return tmp_path / "clone"


@contextmanager
def make_lessons(clone: Path, port: int) -> Iterator[subprocess.Popen]:
    """`make lessons`, with an empty home and nothing of this shell but PATH and how to reach the network."""
    home = clone.parent / "home"
    home.mkdir(exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if k == "PATH" or re.search("(?i)pip_|proxy|ssl|cert", k)}
    running = subprocess.Popen(
        ["make", "lessons", f"PYTHON={newest_python()}", f"PORT={port}"],
        cwd=clone,
        env=kept | {"HOME": str(home), "BROWSER": "true"},  # the command `true`, as there is no screen
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # as in a terminal: if the tests run in the background, Ctrl+C is ignored, and child processes inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        yield running
    finally:
        stop(running, signal.SIGTERM)


def stop(running: subprocess.Popen, how: signal.Signals) -> None:
    """Interrupt everything that make has started, as Ctrl+C does, and wait until it has ended."""
    if running.poll() is None:
        os.killpg(running.pid, how)
    try:
        running.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def until(running: subprocess.Popen, text: str) -> str:
    """The first line that contains this; fails with the whole output if there is none."""
    said = []
    for line in running.stdout:
        said.append(line)
        if text in line:
            return line
    return pytest.fail("".join(said))


@pytest.mark.timeout(600)
def test_from_a_clone_to_the_first_answer(clone: Path, browser: Browser):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    with make_lessons(clone, port) as running:
        until(running, "installing")
        time.sleep(2)
        stop(running, signal.SIGINT)
    assert not (clone / ".venv/installed.json").exists()

    with make_lessons(clone, port) as running:
        address = until(running, "http://localhost").strip()
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(address)
        page.get_by_role("link", name="0. Start here").first.click(timeout=60_000)  # on the start page
        first = page.get_by_role("heading", name="0. Start here")
        lesson = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)").filter(has=first)
        lesson.locator(".jp-Cell").first.click(timeout=60_000)
        expect(lesson.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute(
            "data-status", "idle", timeout=60_000
        )
        pane = lesson.locator(".jp-OutputArea-output .mgv").first
        for _ in range(30):  # reading on, cell by cell
            if pane.count():
                break
            page.keyboard.press("Shift+Enter")
            page.wait_for_timeout(300)
            # scrolling on before the cell has run goes past its pane, which is then no longer on the page
            expect(lesson.get_by_text("[*]:", exact=True)).to_have_count(0, timeout=60_000)
        expect(pane).to_have_attribute("data-step", "0", timeout=60_000)
        pane.scroll_into_view_if_needed()
        pane.get_by_role("button", name=re.compile("next|forward", re.I)).first.click()
        expect(pane).to_have_attribute("data-step", "1")
        page.close()
    assert (clone / "my_lessons" / "00_start_here.ipynb").is_file()
    with socket.socket() as client:  # what ends the command has ended JupyterLab
        assert client.connect_ex(("127.0.0.1", port)) != 0
