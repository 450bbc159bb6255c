"""What every test may ask for: `torch`, the oracle. In CI nothing that is meant to run may be skipped.

    def test_with_the_fixture(torch): ...

    @requires_torch                      # from tests.conftest import requires_torch
    def test_that_imports_torch_itself(): ...

Tests that ask for torch, or have it as a parameter, carry the marker `torch`, those that ask for a browser the
marker `browser`, by themselves: `pytest -m "not torch and not browser"` leaves both out.
"""

from __future__ import annotations

import importlib
import os
from collections import Counter
from types import ModuleType

import pytest
from hypothesis import settings

IN_CI = bool(os.environ.get("CI"))
TORCH = "torch==2.13.0"

requires_torch = pytest.mark.usefixtures("torch")

# no deadline: on a machine that is shared it only tells the load
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)  # a run in CI can be repeated
settings.load_profile("ci" if IN_CI else "here")


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """PyTorch on one thread. Where it is not installed the test is skipped; with CI set it fails."""
    try:
        oracle = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":  # installed but broken: that is a failure anywhere
            raise
        pytest.skip(f"torch is not installed, nothing to compare with: .venv/bin/pip install {TORCH}")
    oracle.set_num_threads(1)
    return oracle


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        asked_for = {*getattr(item, "fixturenames", ())}
        if hasattr(item, "callspec"):  # a fixture that gives minigrad or torch, and asks for the latter late
            asked_for.update(value for value in item.callspec.params.values() if isinstance(value, str))
        for name in asked_for & {"torch", "browser"}:
            item.add_marker(name)


def _fail_a_skip_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        _, _, reason = report.longrepr  # of a skip: file, line, reason
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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once for each reason how many tests were skipped (pytest would say it for each test)."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, count in Counter(report.longrepr[2] for report in skipped).items():
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")
