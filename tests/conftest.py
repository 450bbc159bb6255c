"""Fixtures for all tests: `torch`, the oracle, and `t`, first minigrad and then torch. In CI no test may be skipped.

    def test_with_the_fixture(torch): ...
    def test_on_both(t): ...

    @requires_torch                      # from tests.conftest import requires_torch
    def test_that_imports_torch_itself(): ...

Tests that ask for torch, or have it as a parameter, get the marker `torch` automatically, and tests that ask for a browser
the marker `browser`; one that takes more than two seconds of processor time is marked `long` by hand. `make test`
leaves out all three with `-m "not long and not torch and not browser"`, and says so in one line; PyTorch cannot be imported
then, so the run is the same on a machine that has it. Where PyTorch is not installed its tests are left out of every
run, but not in CI: there they fail.
"""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import os
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

IN_CI = bool(os.environ.get("CI"))
HAS_TORCH = importlib.util.find_spec("torch") is not None
BROWSER = Path(__file__).parent / "browser"  # each test there needs one
LITE = Path(__file__).parent / "lite"  # checks of what `make lite` writes
LEFT_OUT = {  # marker -> what the tests do, how to run them
    "long": ("take long", "make long"),
    "torch": ("compare with PyTorch", "make torch"),
    "browser": ("drive a browser", "make browser"),
}

requires_torch = pytest.mark.usefixtures("torch")


def on_a_short_stack(test: Callable) -> Callable:
    """Decorator: run in a thread. PyTorch's own tables of inputs read the source of every calling frame again for each input;
    under pytest that takes ten times as long as everything else."""

    @functools.wraps(test)
    def alone(*args: object, **kwargs: object) -> None:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(test, *args, **kwargs).result()

    return alone


# no deadline: on a shared machine it would only measure the load
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)  # a run in CI can be repeated
settings.load_profile("ci" if IN_CI else "here")


def pytest_configure(config: pytest.Config) -> None:
    if "not torch" in config.option.markexpr:
        sys.modules["torch"] = None  # so that a test that requests it late is found on every machine


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even read files that are left out completely."""
    return True if collection_path in (BROWSER, LITE) and "not browser" in config.option.markexpr else None


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """PyTorch on one thread."""
    oracle = importlib.import_module("torch")
    oracle.set_num_threads(1)
    return oracle


@pytest.fixture(params=["minigrad", "torch"])
def t(request: pytest.FixtureRequest) -> ModuleType:
    """The framework: a test that asks for it runs on both."""
    return (
        request.getfixturevalue("torch") if request.param == "torch" else importlib.import_module("minigrad")
    )


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        asked_for = {*getattr(item, "fixturenames", ())}
        if hasattr(item, "callspec"):  # a fixture that gives minigrad or torch, and asks for the latter late
            asked_for.update(value for value in item.callspec.params.values() if isinstance(value, str))
        for name in asked_for & set(LEFT_OUT):
            item.add_marker(name)
    if not HAS_TORCH and not IN_CI:
        without = [item for item in items if item.get_closest_marker("torch") is None]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(without)])
        items[:] = without


@pytest.fixture(scope="module", autouse=True)
def _what_was_there_before_is_no_garbage() -> None:
    """A test that collects garbage should only look through its own objects, not through thousands of tests and what earlier
    modules left."""
    gc.collect()
    gc.freeze()


def _fail_a_skip_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        _, _, reason = report.longrepr  # for a skip: file, line, reason
        report.outcome = "failed"
        report.longrepr = f"CI is set, so nothing may be skipped, but this was: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    _fail_a_skip_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = yield
    _fail_a_skip_in_ci(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out by selection, and once for each reason how many tests were skipped."""
    chosen = config.option.markexpr
    absent = [m for m in LEFT_OUT if f"not {m}" in chosen or (m == "torch" and not (HAS_TORCH or IN_CI))]
    if absent:
        parts = [f"those that {doing} ({command})" for doing, command in map(LEFT_OUT.get, absent)]
        terminalreporter.write_line(f"Left out: {', '.join(parts)}")
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, count in Counter(report.longrepr[2] for report in skipped).items():
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")
