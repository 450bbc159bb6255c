"""`python -m benchmarks` runs every benchmarks/bench_*.py; `python -m benchmarks core import` runs some.

A bench_*.py prints its tables in main(). It may return sentences, one for each limit that was not kept: they are
printed at the end, and the exit code is 1.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

names = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
chosen = sys.argv[1:] or names
for name in chosen:
    if name not in names:
        sys.exit(f"there is no benchmark {name!r}; there are: {', '.join(names)}")

broken: list[str] = []
for name in chosen:
    broken += import_module(f"benchmarks.bench_{name}").main() or []
sys.exit("\n".join(broken) or 0)
