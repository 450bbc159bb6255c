"""Random tests, by number, under PyTorch and minigrad: programs, nested transforms, bad calls.

    python -m tests.minigrad.at_random --count 5000 [--seed 0]

compares that many programs, starting at number `--seed`, with one transform and one bad call for every five. It prints the
differences, with the number that reproduces each, and a table of how many agree. Known differences are in differences.py.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import ModuleType

import minigrad
from tests.minigrad import bad_calls, oracle
from tests.minigrad.differences import DETACHED, LIMITS, NESTED, NORM_AT_ZERO, PROGRAMS, SHARED, VERSIONS
from tests.minigrad.oracle import Program, run
from tests.minigrad.random_programs import write, write_transforms

CRASH = "PyTorch crashes"
Difference = tuple[str, str]  # what differs, "" if nothing does; why it may, "" if unknown


def feature(number: int) -> Program:
    return Program(f"random program {number}", write(number))


def transforms(number: int) -> Program:
    return Program(f"transforms {number}", write_transforms(number))


def compare_features(torch: ModuleType, number: int) -> Difference:
    """Values, gradients, graphs, the order of nodes and hooks, what is printed, the first line of errors."""
    if number in PROGRAMS:
        return "not run", PROGRAMS[number]
    program, places = feature(number), []
    leaves = re.findall(r"^(v\d+) = torch.tensor\(", program.source, re.M)
    passed = "print(log); log.clear()"  # a line that follows each pass
    look = (
        f"{passed}; _places.append([t.grad.data_ptr() for t in [{', '.join(leaves)}] if t.grad is not None])"
    )
    program = Program(program.name, program.source.replace(passed, look))
    expected, got = run(torch, program, _places=places), run(minigrad, program, _places=[])
    if any(len(set(after)) < len(after) for after in places):
        return "not compared", SHARED
    if any("INTERNAL ASSERT FAILED" in s.get("error", "") for s in expected["statements"]):
        return "not compared", "PyTorch itself says that it has gone wrong"
    found = oracle.differences(expected, got, noise=True)
    return report(program, found), known_kind(program.source, found) if found else ""


def known_kind(source: str, found: list[str]) -> str:
    """Why a program may differ in this way, "" if unknown."""
    if "inference_mode" in source and all(map(is_version, found)):
        return VERSIONS
    refused = "expected: None\n      got:      RuntimeError: Inplace update to inference tensor"
    if ".detach()" in source and any(refused in text for text in found):
        return DETACHED
    first = found[0].partition("got: ")
    return NORM_AT_ZERO if ".norm()" in source and "nan" in first[0] and "nan" not in first[2] else ""


def is_version(difference: str) -> bool:
    """Whether nothing differs but the version of a tensor, or an error that mentions it."""
    where, _, values = re.sub(r"version \d+", "version", difference).partition("\n      expected: ")
    expected, _, got = values.partition("\n      got:      ")
    return where.endswith(": version") or expected == got


def compare_transforms(torch: ModuleType, number: int) -> Difference:
    """Compare only values: each engine may compute a transform in its own way."""
    if number in NESTED:
        return "not compared", NESTED[number]
    program = transforms(number)
    expected, got = run(torch, program), run(minigrad, program)
    if any(LIMITS.search(s.get("error", "")) for s in expected["statements"]):
        return "not compared", "PyTorch cannot do it inside of its transforms"
    for transcript in (expected, got):
        for statement in transcript["statements"]:
            for part in ("warnings", "order", "nodes"):
                statement.pop(part, None)
    return report(program, oracle.differences(expected, got, noise=True)), ""


def report(program: Program, found: list[str]) -> str:
    return oracle.report(program, found) if found else ""


KINDS: dict[str, Callable[[ModuleType, int], Difference]] = {
    "programs": compare_features,
    "transforms in transforms": compare_transforms,
    "bad calls": bad_calls.compare,
}


def compare(kind: str, number: int) -> Difference:
    return KINDS[kind](importlib.import_module("torch"), number)


def compared(kind: str, numbers: Iterable[int]) -> Iterator[tuple[int, Difference]]:
    """Each number with its difference, found in a separate process, which is replaced if PyTorch crashes it."""
    fork = multiprocessing.get_context("fork")  # the child has PyTorch loaded already
    process = ProcessPoolExecutor(1, fork)
    for number in numbers:
        try:
            yield number, process.submit(compare, kind, number).result()
        except BrokenProcessPool:
            process = ProcessPoolExecutor(1, fork)
            yield number, (f"random {kind} {number}: the process has died", CRASH)
    process.shutdown()


def main() -> int:
    reader = argparse.ArgumentParser(prog="python -m tests.minigrad.at_random")
    reader.add_argument(
        "--count", type=int, default=5000, help="how many programs; of the others a fifth as many"
    )
    reader.add_argument("--seed", type=int, default=0, help="the number of the first")
    given = reader.parse_args()
    importlib.import_module("torch")
    rows, new = [], 0
    for kind in KINDS:
        count = given.count if kind == "programs" else given.count // 5
        alike, known = 0, 0
        for number, (message, why) in compared(kind, range(given.seed, given.seed + count)):
            print(f"\r{kind} {number} ", end="", file=sys.stderr, flush=True)
            alike, known = alike + (not message), known + bool(message and why)
            if message and (not why or why == CRASH):
                print(f"\n{kind}, --seed {number} --count 5:\n{message}", flush=True)
        rows.append(f"{kind:28}{count:8}{alike:8}{known:8}{count - alike - known:8}")
        new += count - alike - known
    print(f"\n{'':28}{'compared':>8}{'alike':>8}{'known':>8}{'new':>8}", *rows, sep="\n")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
