"""What every test may ask for: `torch`, the oracle, where it is installed."""

from __future__ import annotations

import importlib
import os

import pytest


@pytest.fixture(scope="session")
def torch():
    """PyTorch, for comparison. Not installed: the test is skipped with a reason, but fails where CI is set."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        if os.environ.get("CI"):
            pytest.fail(
                "torch is not installed, and in CI the comparison with torch must run: pip install torch==2.13.0"
            )
        pytest.skip(
            "torch is not installed: the comparison with torch is skipped (pip install torch==2.13.0)"
        )
