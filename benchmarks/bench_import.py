"""How long `import minigrad` and `import viz` take beyond NumPy, in fresh interpreters that take turns."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median

LIMITS = {"minigrad": 0.08, "viz": None}  # seconds beyond NumPy
ROUNDS = 11


def import_time(package: str, bytecode: str) -> float:
    """Seconds that `import package` takes in a fresh interpreter that has NumPy loaded.

    bytecode: the folder of the .pyc files, which are there when it is imported again; also where the environment forbids
    to write them.
    """
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = bytecode
    code = f"import numpy, time; t = time.perf_counter(); import {package}; print(time.perf_counter() - t)"
    return float(subprocess.check_output([sys.executable, "-c", code], text=True, env=env))


def main() -> list[str]:
    times: dict[str, list[float]] = {package: [] for package in LIMITS}
    with tempfile.TemporaryDirectory() as bytecode:
        for number in range(ROUNDS + 1):
            for package in LIMITS:
                took = import_time(package, bytecode)
                if number:  # the first round writes the .pyc files
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
