"""Check that the tests notice a mistake: `python -m tools.mutants` changes lines at random and runs the tests of each line.

Each mutant is one small change of one line of minigrad, viz or exercises: a sign, an off-by-one, a dropped call, two
swapped arguments, `and` for `or`, a reversed comparison. It is *killed* if a test fails (or a time limit is hit) and
*survives* if the tests that run this line pass. A survivor is either a line that no test covers, which needs a test, or a
change that makes no difference, which needs a reason in `EQUIVALENT`.

    python -m tools.mutants                            # 60 mutants, seed 1
    python -m tools.mutants --count 20 --seed 7 --only viz/picture
    python -m tools.mutants --tests tests/minigrad     # only these test files and folders
    python -m tools.mutants --list                     # show the changes, run nothing

It first records which tests run which lines (tools/lines_of_tests.py; about fifteen minutes for all). That record and the
outcome of each mutant are kept in build/: an interrupted run continues where it stopped, and a second one tries again only
the survivors and what has changed. `--anew` forgets both. The tests run in a copy of the tracked files, so the checkout is
never changed. Not part of `make test`, and not for Windows.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.lines_of_tests import PACKAGES, environment, mark, record, whole_lines

ROOT = Path(__file__).resolve().parent.parent
DATA = re.compile(r"pytorch_names|exercises/lesson_")  # tables and texts: their tests compare each row
LIMIT = 60  # seconds of processor time for the tests of one mutant; without a change they take at most a quarter of that
RECORD = ROOT / "build" / "lines_of_tests.jsonl"
OUTCOMES = ROOT / "build" / "mutants.jsonl"
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div}
# changes that make no difference, as "file: old" or "file: old => new", each with the reason
EQUIVALENT = {
    "notebooks/exercises/symptoms.py: same(got, np.asarray(ratio * want), rtol)": (
        "swapped: closeness is measured against the other of two numbers that are close"
    ),
    "minigrad/utils/data.py: math.isclose(sum(lengths), 1)": "swapped: isclose is symmetric",
}


@dataclass(frozen=True)
class Mutant:
    """One change: the text from `start` to `end` (offsets in the file, in characters) becomes `new`."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.old} => {self.new}"

    @property
    def key(self) -> str:
        return f"{self.file}: {self.old} => {self.new}"


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that a small mistake could put in place of `node`."""
    match node:
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(op)](), node.right)
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield node.operand
        case ast.BoolOp(op=op):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), node.values)
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield ast.Compare(node.left, [COMPARISONS[type(op)]()], node.comparators)
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield ast.Constant(node.value + 1)
        case ast.Call(func=ast.Name(id="min" | "max")):
            return  # the order makes no difference
        case ast.Call(args=[first, second, *rest]) if not (
            isinstance(second, ast.Starred) or ast.dump(first) == ast.dump(second)
        ):
            yield ast.Call(node.func, [second, first, *rest], node.keywords)
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()


def watched(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes inside functions, except annotations: the code that runs when something is called."""

    def below(node: ast.AST) -> Iterator[ast.AST]:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield child
                    if not isinstance(child, ast.JoinedStr):  # positions inside an f-string are not reliable
                        yield from below(child)

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            yield from below(node)


@functools.cache
def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of one file, in the order of its lines."""
    found, text = [], path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(line: int, column: int) -> int:
        """`column` counts the bytes of UTF-8, as ast does."""
        source = text[starts[line - 1] : starts[line]]
        return starts[line - 1] + len(source.encode()[:column].decode())

    seen = set()
    for node in watched(ast.parse(text)):
        for new in changed(node):
            start, end = (
                offset(node.lineno, node.col_offset),
                offset(node.end_lineno, node.end_col_offset),
            )
            put = ast.unparse(ast.fix_missing_locations(new))
            # parentheses keep the code around it unchanged
            put = f"({put})" if isinstance(new, ast.expr) and not isinstance(new, ast.Constant) else put
            if (start, end, put) not in seen:
                seen.add((start, end, put))
                name = path.relative_to(ROOT).as_posix()
                found.append(Mutant(name, node.lineno, start, end, " ".join(text[start:end].split()), put))
    return found


def choose(count: int, seed: int, only: str) -> list[Mutant]:
    """`count` mutants, equally many from each package if possible; each on a different line."""
    chance = random.Random(seed)
    packages = [only] if only else PACKAGES
    chosen: dict[tuple[str, int], Mutant] = {}
    for i, package in enumerate(packages):
        files = [
            path for path in sorted((ROOT / package).rglob("*.py")) if not DATA.search(path.as_posix())
        ] or [ROOT / package]
        every = [
            mutant
            for path in files
            for mutant in mutants_of(path)
            if not EQUIVALENT.keys() & {mutant.key, mutant.key.partition(" => ")[0]}
        ]
        share = count // len(packages) + (i < count % len(packages))
        chance.shuffle(every)
        mine: dict[tuple[str, int], Mutant] = {}
        for mutant in every:
            if len(mine) < share:
                mine.setdefault((mutant.file, mutant.line), mutant)
        chosen |= mine
    return list(chosen.values())


def run(mutant: Mutant, copy: Path, tests: list[str]) -> str:
    """ "killed", "killed (time)", "SURVIVED" or "NO TEST" after the tests have run on the changed copy."""
    import resource  # missing on Windows

    if not tests:
        return "NO TEST"
    path = copy / mutant.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: mutant.start] + mutant.new + text[mutant.end :], encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "tests.early", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *tests],
            cwd=copy,
            env=environment(copy),
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
            timeout=10 * LIMIT,
        )
    except subprocess.TimeoutExpired:
        return "killed (time)"
    finally:
        path.write_text(text, encoding="utf-8")
    if done.returncode == -signal.SIGXCPU or done.returncode == -signal.SIGKILL:
        return "killed (time)"
    if done.returncode == 4 and "ERROR collecting" not in done.stdout:
        raise SystemExit(f"pytest did not run the tests of {mutant}:\n{done.stdout}{done.stderr}")
    return "SURVIVED" if done.returncode == 0 else "killed"


def copy_of_the_project(to: Path) -> None:
    """The tracked files, as they are now."""
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in filter(None, names):
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=60, help="how many mutants (60)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--only", default="", help="a folder or file, such as viz/picture")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="files and folders of tests (all)")
    parser.add_argument("--list", action="store_true", help="show the changes and run nothing")
    parser.add_argument("--anew", action="store_true", help="forget what earlier runs have found")
    options = parser.parse_args()
    chosen = choose(options.count, options.seed, options.only)
    if options.list:
        print(*chosen, sep="\n")
        return
    if options.anew:
        RECORD.unlink(missing_ok=True)
        OUTCOMES.unlink(missing_ok=True)
    killed = killed_before()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_of_the_project(copy)
        left = [mutant for mutant in chosen if outcome_key(mutant) not in killed]
        lines = (
            record(copy, RECORD, sorted({mutant.file for mutant in left}), options.tests) if left else None
        )
        alive = []
        for i, mutant in enumerate(chosen, 1):
            known = killed.get(outcome_key(mutant))
            outcome = known or run(mutant, copy, lines.tests(mutant.file, mutant.line))
            print(f"{i:3} of {len(chosen)}  {outcome:13} {mutant}", flush=True)
            alive += [] if "killed" in outcome else [mutant]
            if not known:
                with OUTCOMES.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([outcome_key(mutant), outcome]) + "\n")
    print(f"{len(chosen) - len(alive)} of {len(chosen)} killed")
    for mutant in alive:
        print("survived:", mutant, *lines.tests(mutant.file, mutant.line), sep="\n          ")


def outcome_key(mutant: Mutant) -> str:
    """The change and the text that it changes."""
    return f"{mark(ROOT / mutant.file)} {mutant}"


def killed_before() -> dict[str, str]:
    """What earlier runs have killed; a survivor is tried again, as there may be a test for it now."""
    found = dict(whole_lines(OUTCOMES))
    return {key: outcome for key, outcome in found.items() if "killed" in outcome}


if __name__ == "__main__":
    main()
