"""How long `import minigrad` and `import viz` take beyond NumPy, in fresh interpreters that take turns; a first step."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median

LIMITS = {"minigrad": 0.05, "viz": None}  # seconds beyond NumPy
ROUNDS = 11
FIRST_STEP = 0.003  # seconds by which the first training step may exceed the second

TRAINING = """
import time, minigrad as torch
from minigrad import nn
x, t = torch.randn(32, 8), torch.randint(0, 3, (32,))
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer, criterion, times = torch.optim.Adam(model.parameters()), nn.CrossEntropyLoss(), []
for _ in range(2):
    start = time.process_time()
    optimizer.zero_grad()
    criterion(model(x), t).backward()
    optimizer.step()
    times.append(time.process_time() - start)
print(times[0] - times[1])
"""


def first_step() -> float:
    """Seconds by which the first training step of a process is slower than the second."""
    return float(subprocess.check_output([sys.executable, "-c", TRAINING], text=True))


def import_time(package: str, bytecode: str) -> float:
    """Seconds that `import package` takes in a fresh interpreter that has NumPy loaded.

    bytecode: the folder for .pyc files, which are written there even if the environment forbids it.
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
    more = median(first_step() for _ in range(ROUNDS))
    print(
        f"  a first training step: {more * 1e3:.1f} ms more than the second   limit {FIRST_STEP * 1e3:.0f} ms\n"
    )
    if more > FIRST_STEP:
        broken.append(
            f"the first training step takes {more:.4f} s more than the second, more than {FIRST_STEP} s"
        )
    return broken


if __name__ == "__main__":
    sys.exit("\n".join(main()) or 0)
