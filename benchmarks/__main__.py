"""`python -m benchmarks` runs every benchmarks/bench_*.py and writes what they print, with the machine, into README.md here;
`python -m benchmarks core import` runs some and writes nothing.

A bench_*.py prints its tables in main(). It may return sentences, one for each limit that was not kept: they are
printed at the end, and the exit code is 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import report


def main(asked: list[str]) -> str:
    """Run the benchmarks that are asked for, or all; a line for each limit that was not kept."""
    names = {path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")}
    # torchlens leaves PyTorch's functions wrapped: who is measured beside them afterwards looks a third quicker than it is
    names = [*sorted(names - {"peers"}), "peers"]
    for name in asked:
        if name not in names:
            return f"there is no benchmark {name!r}; there are: {', '.join(names)}"
    found = {name: report.measured(name) for name in names if not asked or name in asked}
    broken = [line for _, lines in found.values() for line in lines]
    if not asked:
        report.write({name: printed for name, (printed, _) in found.items()}, broken)
    return "\n".join(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or 0)
