"""How long the lessons take to run: each in a separate kernel, and how long until lesson 17's network reads digits.

For each lesson: the seconds on the clock and those of the processor, both with the start of its kernel, and its slowest
cell. The network of lesson 17 is trained by the lesson's own cells, with minigrad and with PyTorch in its place (one thread),
in turns, and must then read 97 % of the held-out digits. The limits are on processor time, on which other work of the machine
has little effect: 75 seconds for all lessons, 2 for the training, and 1.5 times PyTorch's time.
"""

from __future__ import annotations

import contextlib
import io
import resource
import sys
import time
from datetime import datetime
from pathlib import Path
from statistics import median

import matplotlib
import nbformat
import torch
from nbclient import NotebookClient

from benchmarks.measure import in_units

torch.set_num_threads(1)
matplotlib.use("agg")

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
WHOLE, TRAINING, RATIO = 75.0, 2.0, 1.5  # two limits, seconds of processor time; a fraction
ROUNDS = 3
PREPARED = ("setup", "show", "data", "split", "model")  # the cells of lesson 17 before the one that trains


def lesson(path: Path) -> tuple[float, float, str, float]:
    """Seconds on the clock and of the processor, the slowest cell and its seconds."""
    notebook = nbformat.read(path, 4)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS)}}
    ).execute()
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cells = {cell.id: _seconds(cell) for cell in notebook.cells if cell.cell_type == "code"}
    slowest = max(cells, key=lambda name: cells[name])
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, processor, slowest, cells[slowest]


def _seconds(cell: nbformat.NotebookNode) -> float:
    busy, idle = (
        datetime.fromisoformat(cell.metadata.execution[f"iopub.status.{state}"]) for state in ("busy", "idle")
    )
    return (idle - busy).total_seconds()


def trained(library: str) -> tuple[float, float]:
    """Seconds, on the clock and of the processor, that lesson 17's training takes with minigrad or with PyTorch."""
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOKS / "17_read_digits.ipynb", 4).cells}
    setup = cells["setup"].replace("import minigrad as torch", f"import {library} as torch")
    cells["setup"] = setup.replace("tqdm.notebook", "tqdm")
    space: dict = {"__name__": "lesson"}
    if str(NOTEBOOKS) not in sys.path:
        sys.path.append(str(NOTEBOOKS))  # the exercises, as a lesson imports them
    quiet = io.StringIO()
    with contextlib.chdir(NOTEBOOKS), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        for name in PREPARED:
            exec(cells[name], space)
        began = time.perf_counter(), time.process_time()
        exec(cells["train"], space)
        took = time.perf_counter() - began[0], time.process_time() - began[1]
        right = space["accuracy"](space["model"], space["test_x"], space["test_y"])
    if right < 0.97:
        raise AssertionError(f"{library}: only {right:.1%} of the held-out digits are read rightly")
    return took


def main() -> list[str]:
    print(f"{'lesson':38}{'clock':>9}{'processor':>11}   slowest cell")
    clocks, processors = [], []
    for path in sorted(NOTEBOOKS.glob("[0-9][0-9]*_*.ipynb")):
        clock, processor, cell, seconds = lesson(path)
        clocks.append(clock)
        processors.append(processor)
        print(
            f"  {path.stem:36}{in_units(clock):>9}{in_units(processor):>11}   {cell}, {in_units(seconds)}",
            flush=True,
        )
    whole = sum(processors)
    print(f"  {'all, one after the other':36}{sum(clocks):>7.0f} s{whole:>9.0f} s   limit {WHOLE:g} s\n")

    rounds = [(trained("minigrad"), trained("torch")) for _ in range(ROUNDS)]
    clock, processor = (median(ours[i] for ours, _ in rounds) for i in (0, 1))
    ratio = median(ours[1] / theirs[1] for ours, theirs in rounds)
    print("lesson 17, trained to 97 % and more of the held-out digits")
    print(f"  clock {in_units(clock)}, processor {in_units(processor)}   limit {TRAINING:g} s")
    print(f"  {ratio:.2f} × torch   limit {RATIO:g}\n")
    found = {
        f"all take {whole:.0f} s of the processor, more than {WHOLE:g}": whole > WHOLE,
        f"lesson 17 trains for {processor:.1f} s of the processor, more than {TRAINING:g}": processor
        > TRAINING,
        f"lesson 17 trains for {ratio:.2f} of PyTorch's time, more than {RATIO:g}": ratio > RATIO,
    }
    return [f"lessons: {sentence}" for sentence, broken in found.items() if broken]
