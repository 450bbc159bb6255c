"""`python -m benchmarks` runs every benchmarks/bench_*.py and writes the output and the machine into README.md here;
`python -m benchmarks core import` runs some and writes nothing; `python -m benchmarks --rest` continues a full run that was
stopped: what each benchmark printed is kept in build/benchmarks.json as it ends.

A bench_*.py prints its tables in main(). It may return sentences, one for each limit that was not kept: they are
printed at the end, and the exit code is 1.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks import report

KEPT = Path(__file__).resolve().parents[1] / "build" / "benchmarks.json"


def main(asked: list[str]) -> str:
    """Run the benchmarks that are asked for, or all; a line for each limit that was not kept."""
    names = {path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")}
    # torchlens leaves PyTorch's functions wrapped: whatever is compared with them afterwards looks a third faster than it is
    names = [*sorted(names - {"peers"}), "peers"]
    rest = asked == ["--rest"]
    some = [] if rest else asked
    for name in some:
        if name not in names:
            return f"there is no benchmark {name!r}; there are: {', '.join(names)}"
    found = json.loads(KEPT.read_text(encoding="utf-8")) if rest and KEPT.exists() else {}
    for name in some or [name for name in names if name not in found]:
        found[name] = report.measured(name)
        if not some:
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(json.dumps(found), encoding="utf-8")
    broken = [line for _, lines in found.values() for line in lines]
    if not some:
        report.write({name: found[name][0] for name in names}, broken)
    return "\n".join(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or 0)
