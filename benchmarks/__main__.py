"""`python -m benchmarks` runs every benchmarks/bench_*.py and writes what they print, with the machine, into README.md here;
`python -m benchmarks core import` runs some and writes nothing.

A bench_*.py prints its tables in main(). It may return sentences, one for each limit that was not kept: they are
printed at the end, and the exit code is 1.
"""

from __future__ import annotations

import contextlib
import io
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import report

names = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
chosen = sys.argv[1:] or names
for name in chosen:
    if name not in names:
        sys.exit(f"there is no benchmark {name!r}; there are: {', '.join(names)}")

broken: list[str] = []
printed: dict[str, str] = {}
for name in chosen:
    kept = io.StringIO()
    with contextlib.redirect_stdout(report.Both(sys.stdout, kept)):
        broken += import_module(f"benchmarks.bench_{name}").main() or []
    printed[name] = kept.getvalue()
if not sys.argv[1:]:
    report.write(printed, broken)
sys.exit("\n".join(broken) or 0)
