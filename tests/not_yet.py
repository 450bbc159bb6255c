"""Keep tests/not_yet.txt, the list of what minigrad cannot do yet, in step with what it can.

    python -m tests.not_yet          take what passes now off the list
    python -m tests.not_yet --add    put what fails now on it (to be read before it is committed)

A test on the list is expected to fail; one that passes all the same is a failure until it is taken off.
"""

from __future__ import annotations

import re
import sys

import pytest
import torch  # noqa: F401  (without it the comparisons would be skipped, and dropped)

from tests.oracle import NOT_YET, not_yet

FILES = ["tests/test_corpus.py", "tests/test_ops.py"]


class Collector:
    """Notes by key what passed and what failed."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        key = re.search(r"\[(.*)\]$", report.nodeid, re.DOTALL)
        if report.when == "call" and key:
            # an expected failure counts as skipped, an unexpected pass as failed
            passes = report.passed or "[XPASS(strict)]" in str(report.longrepr)
            (self.passed if passes else self.failed).add(key[1])


if __name__ == "__main__":
    collector = Collector()
    pytest.main(
        ["-q", "--no-header", "--tb=no", "-rN", "-p", "no:cacheprovider", *FILES], plugins=[collector]
    )
    before = not_yet()
    keys = collector.failed if "--add" in sys.argv else before & collector.failed
    NOT_YET.write_text("".join(f"{key}\n" for key in sorted(keys)), encoding="utf-8")
    print(f"{len(before - keys)} taken off, {len(keys - before)} added, {len(keys)} left")
