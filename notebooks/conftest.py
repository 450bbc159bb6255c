"""A cell that nbval runs must show exactly what is saved, in the same order: `build.py` would change nothing."""

from __future__ import annotations

from collections.abc import Generator

import pytest

import build


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    result = yield
    count = item.cell.execution_count
    assert build.shown(item.test_outputs, count) == build.shown(item.cell.outputs, count)
    return result
