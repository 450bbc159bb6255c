"""Which lines each test runs, and how long it takes: tools/mutants.py uses it to choose the tests of a changed line.

    lines = record(folder, to, files, ["tests/minigrad"])   # runs these tests of a copy once, in a child process
    lines.tests("viz/run/trace.py", 120)                    # those that run this line, near and cheap ones first

The child process runs pytest with this module as a plugin, which measures with coverage (it comes with nbval) and writes one
line to `to` after each test file. An interrupted run continues where it stopped: test files that are in the record
are left out, unless they or the lines of `files` have changed since.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

PACKAGES = ("minigrad", "viz", "notebooks/exercises")
MOST = 40  # at most this many tests of one line
SECONDS = 8.0  # limit for all tests of one line together
CASES = 12  # cases recorded per parametrised test; all of them for tests of operations
# environment variables: the file to write, and the test files already in it
TO, KNOWN = "LINES_OF_TESTS", "LINES_OF_TESTS_KNOWN"
# these install, build or read files, or start programs, and run few lines of the packages in this process
APART = """
    test_set_up test_packaging test_learners_copy test_mutants test_docs test_readme test_new_lesson test_notebooks test_figures
    test_links test_zoo test_architecture test_viz_gallery
"""


class Lines:
    """A record: for each test its seconds, for each file and line the tests that run it."""

    def __init__(self, seconds: dict[str, float], lines: dict[str, dict[str, list[str]]]):
        self.seconds, self.lines = seconds, lines

    @classmethod
    def read(cls, path: Path) -> Lines:
        seconds: dict[str, float] = {}
        lines: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for part in recorded(path).values():
            seconds |= part["seconds"]
            names = list(part["seconds"])
            for file, of_file in part["lines"].items():
                for line, tests in of_file.items():
                    lines[file][line] += [names[k] for k in tests]
        return cls(seconds, lines)

    def tests(self, file: str, line: int) -> list[str]:
        """The tests that run a line; for a continuation line of an expression, those of the line above it; for the head of a
        function, which runs at import, those of its body."""
        lines = self.lines.get(file, {})
        near = [*range(line, max(line - 8, 0), -1), *range(line + 1, line + 30)]
        found = next((tests for n in near if (tests := lines.get(str(n)))), [])
        return cheapest(found, self.seconds, Path(file).stem)


def whole_lines(path: Path) -> list:
    """The JSON of each line of a file; an incomplete last line is left out."""
    *lines, rest = path.read_text(encoding="utf-8").split("\n") if path.exists() else [""]
    if rest:
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return [json.loads(line) for line in lines]


def recorded(path: Path) -> dict[str, dict]:
    """What `path` has for each test file; the last entry counts."""
    return {part["tests"]: part for part in whole_lines(path)}


def mark(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def environment(folder: Path) -> dict[str, str]:
    """The environment of a child process: the packages of `folder` come first on the path, whatever is installed."""
    place = os.pathsep.join([str(folder), str(folder / "notebooks")])
    return os.environ | {"PYTHONPATH": place, "OPENBLAS_NUM_THREADS": "1", "CI": ""}


def record(folder: Path, to: Path, files: Iterable[str], tests: list[str]) -> Lines:
    """Run `tests` of a copy of the project once and write to `to` which lines each of them runs; tests that are in `to`
    already are run again only if `files` or the tests have changed."""
    to.parent.mkdir(parents=True, exist_ok=True)
    now = {file: mark(folder / file) for file in files}
    known = [
        name
        for name, part in recorded(to).items()
        if (folder / name).exists()
        and part["mark"] == mark(folder / name)
        and all(part["marks"].get(file, marked) == marked for file, marked in now.items())
    ]
    left_out = [f"--ignore=tests/{name}.py" for name in APART.split()]
    # no time limit: measuring takes several times as long, and a limit would end the whole run
    plugins = ["-p", "tests.early", "-p", "tools.lines_of_tests", "-p", "no:cacheprovider", "--timeout=0"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, *left_out, "-m", "not browser", *tests],
        cwd=folder,
        env=environment(folder) | {TO: str(to.resolve()), KNOWN: os.pathsep.join(known)},
    )
    if done.returncode not in (0, 1, 5):  # 1: a test has failed, the others are recorded; 5: all were known
        raise SystemExit(
            f"The tests were not recorded: pytest ended with {done.returncode}. Its output says why."
        )
    return Lines.read(to)


def cheapest(tests: Iterable[str], seconds: dict[str, float], near: str = "") -> list[str]:
    """Cheap tests first: those in files named after `near`, then all the others; a second case of a parametrised
    test comes after the first case of every other test."""
    cases = defaultdict(list)
    for name in sorted(set(tests), key=lambda name: (seconds[name], name)):
        cases[name.split("[")[0]].append(name)
    order = [
        name
        for _, _, name in sorted(
            (turn, seconds[name], name) for of_one in cases.values() for turn, name in enumerate(of_one)
        )
    ]
    close = [name for name in order if near and near in name.split("::")[0]][: MOST // 2]
    chosen, left = [], SECONDS
    for name in dict.fromkeys([*close, *order[: 4 * MOST]]):
        if len(chosen) < MOST and (seconds[name] <= left or not chosen):
            chosen.append(name)
            left -= seconds[name]
    return chosen


class Recorder:
    """A plugin of pytest: measures which lines each test runs and appends a line to the record after each test file."""

    def __init__(self, to: Path, known: list[str]):
        from coverage import Coverage

        self.to, self.known, self.seconds = to, known, {}
        self.coverage = Coverage(data_file=None, config_file=False, source=list(PACKAGES), messages=False)
        self.coverage.start()

    @pytest.hookimpl
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return True if collection_path.relative_to(Path.cwd()).as_posix() in self.known else None

    @pytest.hookimpl(trylast=True)  # after -m has made its selection
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
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None):
        self.coverage.switch_context(item.nodeid)
        self.began = time.process_time()
        yield
        self.coverage.switch_context("")
        if nextitem is None or nextitem.path != item.path:
            self.write(item.path)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The processor time of a test that passes, with its fixtures: other work on the machine does not count."""
        if report.when == "call" and report.passed and str(Path.cwd()) not in report.nodeid:
            self.seconds[report.nodeid] = time.process_time() - self.began

    def write(self, tests: Path) -> None:
        """Write the part of the test file that has just ended."""
        self.coverage.stop()
        here, data = Path.cwd(), self.coverage.get_data()
        number = {name: k for k, name in enumerate(self.seconds)}
        lines, marks = {}, {}

        @functools.cache  # most lines are run by the same tests as the one above
        def chosen(names: frozenset[str]) -> list[int]:
            return [number[name] for name in cheapest(names, self.seconds)]

        for path in data.measured_files():
            file = Path(path).relative_to(here).as_posix()
            marks[file] = mark(Path(path))
            of_file = {
                str(line): chosen(frozenset(names))
                for line, contexts in data.contexts_by_lineno(path).items()
                if (names := number.keys() & set(contexts))
            }
            if of_file:
                lines[file] = of_file
        part = {"tests": tests.relative_to(here).as_posix(), "mark": mark(tests), "marks": marks}
        part |= {"seconds": self.seconds, "lines": lines}
        with self.to.open("a", encoding="utf-8") as file:
            file.write(json.dumps(part, separators=(",", ":")) + "\n")
        self.seconds = {}
        self.coverage.erase()
        self.coverage.start()

    def pytest_unconfigure(self) -> None:
        self.coverage.stop()


def pytest_configure(config: pytest.Config) -> None:
    if to := os.environ.get(TO):
        known = os.environ[KNOWN].split(os.pathsep)
        config.pluginmanager.register(Recorder(Path(to), known))
