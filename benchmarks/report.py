"""Runs a benchmark, and writes benchmarks/README.md: what a whole run printed, on which machine, and how to repeat it."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import platform
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import TextIO

FOLDER = Path(__file__).parent
PEERS = ("numpy", "torch", "autograd", "micrograd", "torchviz", "torchlens")
FIRST = (
    "training",
    "ops",
    "core",
    "func",
    "size",
    "import",
)  # what people ask first; the rest follows by name


class Both:
    """A stream that writes to two: the terminal, and what is kept."""

    def __init__(self, *streams: TextIO):
        self.streams = streams

    def write(self, text: str) -> int:
        for stream in self.streams:
            stream.write(text)
        return len(text)

    def flush(self) -> None:
        for stream in self.streams:
            stream.flush()


def measured(name: str) -> tuple[str, list[str]]:
    """Run a benchmark: what it printed, and the limits that it did not keep."""
    kept = io.StringIO()
    with contextlib.redirect_stdout(Both(sys.stdout, kept)):
        broken = import_module(f"benchmarks.bench_{name}").main() or []
    return kept.getvalue(), broken


def processor() -> str:
    """What the machine calls its processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # no Linux
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def machine() -> str:
    """The machine and the versions, in two lines."""
    installed = {d.metadata["Name"].lower(): d.version for d in metadata.distributions()}
    versions = ", ".join(f"{name} {installed[name]}" for name in PEERS if name in installed)
    return f"{processor()}, {os.cpu_count()} processors, {platform.system()}, Python {platform.python_version()};\n{versions}."


def section(name: str, text: str) -> str:
    """One benchmark: what it is, in its own words, and what it printed."""
    says = inspect.getdoc(import_module(f"benchmarks.bench_{name}")) or ""
    picture = f"![{name}]({name}.svg)\n\n" if (FOLDER / f"{name}.svg").exists() else ""
    return f"## {name}\n\n{says}\n\n{picture}```\n{text.rstrip()}\n```\n"


def write(printed: dict[str, str], broken: list[str]) -> None:
    """README.md, from what each benchmark printed and the limits that were not kept."""
    order = [*(n for n in FIRST if n in printed), *(n for n in printed if n not in FIRST)]
    kept = (
        "All limits were kept."
        if not broken
        else "Limits that were not kept stand [at the end](#limits-that-were-not-kept)."
    )
    end = "\n## Limits that were not kept\n\n" + "".join(f"* {b}\n" for b in broken) if broken else ""
    (FOLDER / "README.md").write_text(
        "# What is measured\n\n"
        "`make bench` measures all of this again and writes this page. Contenders take turns in one process, on one\n"
        "thread; times are medians, a ratio is the median of the quotients within a round, so that what else the machine\n"
        "does hits all alike.\n\n"
        f"{machine()} {kept}\n\n" + "\n".join(section(name, printed[name]) for name in order) + end,
        encoding="utf-8",
    )
