"""How long `import minigrad` and `import viz` take beyond NumPy, in fresh interpreters that take turns."""

from __future__ import annotations

import subprocess
import sys
from statistics import median

LIMITS = {"minigrad": 0.15, "viz": None}  # seconds beyond NumPy
ROUNDS = 11


def import_time(package: str) -> float:
    """Seconds that `import package` takes in a fresh interpreter that has NumPy loaded."""
    code = f"import numpy, time; t = time.perf_counter(); import {package}; print(time.perf_counter() - t)"
    return float(subprocess.check_output([sys.executable, "-c", code], text=True))


def main() -> list[str]:
    times: dict[str, list[float]] = {package: [] for package in LIMITS}
    for number in range(ROUNDS + 1):
        for package in LIMITS:
            took = import_time(package)
            if number:  # the first round writes and loads .pyc files
                times[package].append(took)
    print("import, beyond NumPy")
    broken = []
    for package, limit in LIMITS.items():
        took = median(times[package])
        print(f"  {package:9} {took * 1e3:6.1f} ms" + (f"   limit {limit * 1e3:.0f} ms" if limit else ""))
        if limit and took > limit:
            broken.append(f"import {package} takes {took:.3f} s beyond NumPy, more than {limit} s")
    print()
    return broken


if __name__ == "__main__":
    sys.exit("\n".join(main()) or 0)
