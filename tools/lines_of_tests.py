"""Which lines each test runs, and how long it takes: tools/mutants.py uses it to choose the tests of a changed line.

    lines = record(folder)      # runs the tests of a copy once, in a child process: some fifteen minutes
    lines.tests("viz/run/trace.py", 120)    # the tests that run this line: cheap ones first, each function of tests in turn

The child process runs pytest with this module as a plugin, which measures with coverage (it comes with nbval).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = ("minigrad", "viz", "notebooks/exercises")
MOST = 40  # tests of one line
SECONDS = 8.0  # that the tests of one line may take together
CASES = 12  # cases recorded per parametrised test; all of them for tests of operations
TO = "LINES_OF_TESTS"  # the environment variable that names the file to write
# they install, build, read or start programs of their own, and run few lines of the packages in this process
APART = """
    test_set_up test_packaging test_learners_copy test_mutants test_docs test_readme test_new_lesson test_notebooks test_figures
    test_links test_zoo test_architecture test_viz_gallery
"""


class Lines:
    """For each file and line, the numbers of the tests that run it."""

    def __init__(self, names: list[str], lines: dict[str, dict[str, list[int]]]):
        self.names, self.lines = names, lines

    @classmethod
    def read(cls, path: Path) -> Lines:
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def tests(self, file: str, line: int) -> list[str]:
        """The tests that run a line; for a continuation line of an expression, those of the line above it; for the head of a
        function, which runs at import, those of its body."""
        lines = self.lines.get(file, {})
        near = [*range(line, max(line - 8, 0), -1), *range(line + 1, line + 30)]
        found = next((tests for n in near if (tests := lines.get(str(n)))), [])
        return [self.names[k] for k in found]


def environment(folder: Path) -> dict[str, str]:
    """The environment of a child process: the packages of `folder` come first on the path, whatever is installed."""
    place = os.pathsep.join([str(folder), str(folder / "notebooks")])
    return os.environ | {"PYTHONPATH": place, "OPENBLAS_NUM_THREADS": "1", "CI": ""}


def record(folder: Path, to: Path) -> Lines:
    """Run the tests of a copy of the project once and write to `to` which lines each of them runs."""
    to.parent.mkdir(parents=True, exist_ok=True)
    left_out = [f"--ignore=tests/{name}.py" for name in APART.split()]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.early",
        "-p",
        "tools.lines_of_tests",
        *left_out,
    ]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-m", "not browser", "tests"],
        cwd=folder,
        env=environment(folder) | {TO: str(to.resolve())},
    )
    if done.returncode not in (0, 1):  # 1: a test has failed, the others are recorded
        to.unlink(missing_ok=True)
        raise SystemExit(
            f"The tests were not recorded: pytest ended with {done.returncode}. Its output says why."
        )
    return Lines.read(to)


def cheapest(tests: Iterator[str], seconds: dict[str, float]) -> list[str]:
    """Cheap ones first; a second case of a parametrised test comes after the first case of every other test."""
    cases = defaultdict(list)
    for name in sorted(tests, key=lambda name: (seconds[name], name)):
        cases[name.split("[")[0]].append(name)
    order = sorted(
        (turn, seconds[name], name) for of_one in cases.values() for turn, name in enumerate(of_one)
    )
    chosen, left = [], SECONDS
    for _, took, name in order[: 4 * MOST]:
        if len(chosen) < MOST and (took <= left or not chosen):
            chosen.append(name)
            left -= took
    return chosen


class Recorder:
    def __init__(self, to: Path):
        from coverage import Coverage

        self.to, self.seconds = to, {}
        self.coverage = Coverage(data_file=None, config_file=False, source=list(PACKAGES), messages=False)
        self.coverage.start()

    @pytest.hookimpl(trylast=True)  # after -m has selected
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        cases = defaultdict(list)
        for item in items:
            cases[item.nodeid.split("[")[0]].append(item)
        few = {
            item
            for name, of_one in cases.items()
            for item in (
                of_one if name.startswith("tests/minigrad/") else of_one[:: -(-len(of_one) // CASES)]
            )
        }
        items[:] = [item for item in items if item in few]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        self.coverage.switch_context(item.nodeid)
        yield
        self.coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The time of a test that passes, with its fixtures."""
        if report.when == "setup":
            self.started = time.perf_counter() - report.duration
        elif report.when == "call" and report.passed and str(Path.cwd()) not in report.nodeid:
            self.seconds[report.nodeid] = time.perf_counter() - self.started

    def pytest_unconfigure(self) -> None:
        self.coverage.stop()
        data, names = self.coverage.get_data(), list(self.seconds)
        number = {name: k for k, name in enumerate(names)}
        lines = {}
        for file in data.measured_files():
            lines[Path(file).relative_to(Path.cwd()).as_posix()] = {
                str(line): [
                    number[name] for name in cheapest((n for n in tests if n in number), self.seconds)
                ]
                for line, tests in data.contexts_by_lineno(file).items()
            }
        self.to.write_text(json.dumps({"names": names, "lines": lines}), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if to := os.environ.get(TO):
        config.pluginmanager.register(Recorder(Path(to)))
