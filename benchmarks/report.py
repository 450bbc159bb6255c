"""Runs a benchmark, and writes benchmarks/README.md: what a whole run printed, on which machine, and how to repeat it."""

from __future__ import annotations

import contextlib
import html
import inspect
import io
import os
import platform
import re
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
# a pattern for what bench_peers prints; a peer that gave up is listed below those that were measured
PICTURE = (
    r"picture, {} nodes(?=.*?viz\.draw +(\S+ \S+))(?=.*?torchviz +(more than \S+ s|\S+ \S+))"
    r"(?=.*?torchlens, without its picture +(\S+ \S+))"
)
# The summary: a question, the benchmark that answers it, the pattern to find in its output, the answer
SUMMARY = (
    (
        "a training step: perceptron, Adam",
        "training",
        r"perceptron, Adam +\S+ +\S+ +(\S+)",
        "{} of PyTorch's time",
    ),
    ("four training steps, geometric mean", "training", r"mean of the steps: (\S+)", "{} of PyTorch's time"),
    ("a second derivative", "training", r"double backward +\S+ +\S+ +(\S+)", "{} of PyTorch's time"),
    (
        "a training step of a perceptron",
        "core",
        r"MLP 64-64-10.*?minigrad +(\S+ \S+) .*?torch +(\S+ \S+) .*?autograd +(\S+ \S+) ",
        "{}; PyTorch {}, HIPS autograd {}",
    ),
    (
        "1,000 additions of single numbers",
        "core",
        r"minigrad +(\S+ \S+) .*?torch +(\S+ \S+) .*?autograd +(\S+ \S+) .*?micrograd +(\S+ \S+) ",
        "{}; PyTorch {}, HIPS autograd {}, micrograd {}",
    ),
    ("operations not slower than in PyTorch", "ops", r"(\d+ of \d+) are within the limit", "{}"),
    *(
        (
            f"the first picture, {nodes} nodes",
            "peers",
            PICTURE.format(nodes),
            "{}; torchviz {}, torchlens {} without a picture",
        )
        for nodes in ("30", "300", "3,000")
    ),
    ("one step in the browser, 1,000 nodes", "stepper", r"chain of 1000 +\S+ +\S+ +\S+ +(\S+)", "{} ms"),
    (
        "a pass with a frame of `viz.film`, small net",
        "film",
        r"torch +Sigmoid +width +24: .*? × (\S+)",
        "{} times a pass without",
    ),
    ("`import viz`, beyond NumPy", "import", r"viz +(\S+ ms)", "{}"),
    (
        "all lessons, run one after the other",
        "lessons",
        r"one after the other +\d+ s +(\d+ s)",
        "{} of one processor",
    ),
)
# Why a limit is not met: what its sentence says, and the reason
REASONS = (
    (
        r"ops: y = ",
        "A write into a view: the gradient is copied once, then taken apart by element positions.",
    ),
    (
        r"ops: .*(norm|cross_entropy|nll|binary|smooth|gelu|softmax)",
        "One node made of several NumPy calls; PyTorch has one compiled loop.",
    ),
    (
        r"ops: .*(conv|pool|unfold|interpolate)",
        "Windows are gathered with NumPy and multiplied as one matrix; PyTorch has a compiled kernel.",
    ),
    (
        r"ops: .*(sort|topk|cumsum|gather|scatter|one_hot|x\[|chunk|split|movedim|any\(|%|erf)",
        "Most of the time is NumPy's own.",
    ),
    (r"ops: .*(@|outer|linear|solve)", "NumPy multiplies stacks of small matrices one by one."),
    (r"vmap|jvp|hessian|jacrev|jacfwd", "A transform runs each operation in Python; PyTorch's runs in C++."),
    (
        r"ops: .*(mean|std|var|argmax|max|min|long|roll|where|stack|to\()",
        "A call costs some microseconds in Python, whatever its size.",
    ),
    (
        r"a frame takes",
        "A hook is called in Python for each function: in a small net that is as much work as the pass.",
    ),
    (
        r"training: |under no_grad",
        "An operation costs some 0.8 µs in Python, whatever its size; a quarter of it is NumPy's call.",
    ),
    (r"", "Not explained yet."),
)


class Both:
    """A stream that writes to two others: the terminal, and the text that is kept."""

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
    """One benchmark, folded: its docstring, and what it printed."""
    says = inspect.getdoc(import_module(f"benchmarks.bench_{name}")) or ""
    first, _, more = says.partition("\n\n")
    picture = f"![{name}]({name}.svg)\n\n" if (FOLDER / f"{name}.svg").exists() else ""
    more = f"{more}\n\n" if more else ""
    title = f"<summary><b>{name}</b>: {html.escape(' '.join(first.split()))}</summary>"
    return f"<details>\n{title}\n\n{more}{picture}```\n{text.rstrip()}\n```\n\n</details>\n"


def summary(printed: dict[str, str]) -> str:
    """The table at the top: an answer to each question of SUMMARY. Raises ValueError if a benchmark does not print it."""
    rows = ["| what people wait for | measured |", "| --- | --- |"]
    for question, name, pattern, answer in SUMMARY:
        found = re.search(pattern, printed[name], re.S)
        if found is None:
            raise ValueError(f"benchmark {name} does not print {pattern!r}, which the page needs")
        rows.append(f"| {question} | {answer.format(*(' '.join(part.split()) for part in found.groups()))} |")
    return "\n".join(rows)


def unmet(broken: list[str]) -> str:
    """The limits that are not met, those with one reason together."""
    together: dict[str, list[str]] = {}
    for line in broken:
        together.setdefault(next(why for pattern, why in REASONS if re.search(pattern, line)), []).append(
            line
        )
    parts = []
    for why, lines in together.items():
        listed = "".join(f"* {line}\n" for line in lines)
        title = f"<summary>{why} ({len(lines)})</summary>"
        parts.append(f"<details>\n{title}\n\n{listed}\n</details>\n")
    return f"## Limits that are not met\n\n{len(broken)}, by reason.\n\n" + "\n".join(parts) if broken else ""


def page(printed: dict[str, str], broken: list[str]) -> str:
    """README.md, from what each benchmark printed and the limits that are not met."""
    order = [*(n for n in FIRST if n in printed), *(n for n in printed if n not in FIRST)]
    where = "they are listed [below](#limits-that-are-not-met) with the reason"
    kept = f"{len(broken)} limits are not met; {where}." if broken else "All limits are met."
    return (
        "# What is measured\n\n"
        f"{summary(printed)}\n\n"
        f"{machine()}\n{kept}\n\n"
        "`make bench` measures all of this again and writes this page (ten minutes, on a quiet machine). The libraries take\n"
        "turns in one process, on one thread. Times are medians; a ratio is the median of the quotients within a round, so\n"
        "that other work on the machine affects all of them alike.\n\n"
        + "\n".join([unmet(broken), "## Everything\n", *(section(name, printed[name]) for name in order)])
    )


def write(printed: dict[str, str], broken: list[str]) -> None:
    """Write README.md."""
    (FOLDER / "README.md").write_text(page(printed, broken), encoding="utf-8")
