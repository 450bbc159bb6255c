"""The browser, the JupyterLab server, and the rule for every lesson opened in them: no console error, no request to another
machine, whatever else a test checks.

    def test_something(open_lesson):
        lesson = open_lesson("03_one_node_at_a_time.ipynb", theme="dark")
        lesson.run_all()

A test that fails leaves a picture in tests/browser/pictures/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tools.jupyterlab import Lab, Lesson

PICTURES = Path(__file__).with_name("pictures")
failed = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium. If it or playwright is missing, the test is skipped, or fails if CI is set."""
    try:
        from tools.jupyterlab import chromium, find_chromium
    except ModuleNotFoundError as error:
        if error.name != "playwright":
            raise
        pytest.skip("playwright is not installed: make browser installs it into .venv")
    if find_chromium() is None:
        pytest.skip("no chromium on this machine; on Debian and Ubuntu: sudo apt install chromium")
    from playwright.sync_api import expect

    expect.set_options(timeout=30_000)  # the machine may be busy
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session", autouse=True)
def importable() -> Iterator[None]:
    """Kernels that tests start, in whatever folder, import minigrad and viz from here."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
        yield


@pytest.fixture(scope="session")
def lab(browser: Browser) -> Iterator[Lab]:
    """The JupyterLab server that all tests share; each window chooses the light or dark theme."""
    from tools.jupyterlab import Lab

    with Lab() as server:
        yield server


@pytest.fixture
def open_lesson(
    browser: Browser, lab: Lab, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Lesson]]:
    """open_lesson(name, theme="light"): the lesson open in JupyterLab. Console errors on the page fail the test."""
    lessons: list[Lesson] = []
    with ExitStack() as stack:

        def open_it(name: str, theme: str = "light", **window: int) -> Lesson:
            lessons.append(stack.enter_context(lab.open(browser, name, theme, **window)))
            return lessons[-1]

        yield open_it

        complaints = [complaint for lesson in lessons for complaint in lesson.complaints]
        if complaints or request.node.stash.get(failed, False):
            PICTURES.mkdir(exist_ok=True)
            for number, lesson in enumerate(lessons):
                lesson.page.screenshot(path=PICTURES / f"{request.node.name}-{number}.png")
        assert not complaints, "the page complained:\n" + "\n".join(dict.fromkeys(complaints))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if report.when == "call" and report.failed:
        item.stash[failed] = True
    return report
