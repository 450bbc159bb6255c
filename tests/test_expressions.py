"""Thousands of one-line programs of everyday PyTorch: what each gives, warns and raises is what PyTorch gives.

They stand in tests/expressions/, one a line, `;` between the statements of one program and `;;` before the lines of a
block; lines that begin with # are titles. Compared is all that tests/oracle.py compares (values, dtypes, printed forms,
graphs, gradients, warnings, errors), and of each tensor how it lies in memory and whether it is a view. To see what differs:

    python -m tests.test_expressions FILE...        files like those of tests/expressions, `-` is the standard input
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import minigrad
from tests import oracle
from tests.oracle import Program, assert_same, differences, report, run

HERE = Path(__file__).with_name("expressions")


def scope(module: ModuleType) -> dict[str, Any]:
    """What a program finds: x (3 x 4, requires grad), the same shape as y, double d, half h, integer i and boolean b2; sq
    (3 x 3, requires grad); z (2 x 3 x 4); v (4 numbers); nf (with infinities and NaN); positions j and a mask b for three
    rows; 0-d s, si, sb, sd, sh, su; short integers i32, i16, i8, u8; e and e2 without elements; NumPy arrays a and ai."""
    random = np.random.default_rng(3)
    normal, tensor = random.standard_normal, module.tensor
    names = {"x": tensor(normal((3, 4)), dtype=module.float32, requires_grad=True)}
    names |= {n: tensor(normal(s), dtype=module.float32) for n, s in {"y": (3, 4), "v": 4}.items()}
    names |= {
        "s": tensor(1.5),
        "z": tensor(normal((2, 3, 4)), dtype=module.float32),
        "d": tensor(normal((3, 4))),
    }
    names |= {"h": tensor(normal((3, 4)), dtype=module.float16), "i": tensor(random.integers(-5, 9, (3, 4)))}
    names |= {
        "b2": tensor(random.random((3, 4)) > 0.5),
        "j": tensor([0, 2, 1]),
        "b": tensor([True, False, True]),
    }
    names |= {"sq": tensor(normal((3, 3)), dtype=module.float32, requires_grad=True)}
    whole = {"i32": [[1, 2], [3, -4]], "u8": [1, 250, 3], "i8": [1, -128, 127], "i16": [1, -3, 300]}
    kinds = {"i32": "int32", "u8": "uint8", "i8": "int8", "i16": "int16"}
    names |= {n: tensor(numbers, dtype=getattr(module, kinds[n])) for n, numbers in whole.items()}
    single = {"sd": (2.5, "float64"), "sh": (2.5, "float16"), "su": (7, "uint8")}
    names |= {n: tensor(number, dtype=getattr(module, kind)) for n, (number, kind) in single.items()}
    names |= {"si": tensor(3), "sb": tensor(True), "e": module.empty(0), "e2": module.empty(2, 0, 3)}
    names |= {"nf": tensor([1.0, float("inf"), float("nan"), -float("inf")])}
    return names | {"a": np.arange(6.0).reshape(2, 3), "ai": np.arange(4)}


def program(line: str) -> Program:
    source = re.sub(r"\bF\.", "torch.nn.functional.", line)
    return Program(line, source.replace(" ;; ", "\n    ").replace("; ", "\n") + "\n")


def lies(tensor: Any) -> str:
    """How a tensor lies in memory: its strides where they matter, where it starts, whether it is a view."""
    if not tensor.numel():
        return ""
    steps = [s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1]
    return f" strides {steps} from {tensor.storage_offset()}" + " view" * tensor._is_view()


class Told:
    """While it is in force the transcripts of tests/oracle.py tell of memory, and of objects of every kind."""

    def __enter__(self) -> None:
        self.before = oracle._describe, oracle._describe_tensor
        oracle._describe, oracle._describe_tensor = self.describe, self.describe_tensor

    def __exit__(self, *raised: object) -> None:
        oracle._describe, oracle._describe_tensor = self.before

    def describe_tensor(self, torch: ModuleType, tensor: Any, graph: Any) -> dict[str, Any]:
        kept = self.before[1](torch, tensor, graph)
        return {**kept, "is": kept["is"] + lies(tensor)}

    def describe(self, torch: ModuleType, value: object, graph: Any) -> Any:
        kept = self.before[0](torch, value, graph)
        if kept is not None or value is None or callable(value) or isinstance(value, ModuleType):
            return kept
        return {"is": f"{type(value).__name__} {oracle._clean(repr(value))}"}


def transcripts(torch: ModuleType, line: str) -> tuple[Program, dict[str, Any], dict[str, Any]]:
    """The program of a line, and what it does under PyTorch and under minigrad."""
    one = program(line)
    with Told():
        expected, got = (run(module, one, **scope(module)) for module in (torch, minigrad))
    return one, expected, got


def lines(path: Path) -> Iterator[str]:
    found = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return (line for line in found if line and line[0] != "#")


CASES = [
    pytest.param(line, id=f"{path.stem}: {line}")
    for path in sorted(HERE.glob("*.txt"))
    for line in lines(path)
]


@pytest.mark.parametrize("line", CASES)
def test_a_line_does_what_it_does_in_pytorch(torch, line):
    assert_same(*transcripts(torch, line))


if __name__ == "__main__":
    import torch

    count = different = 0
    for path in map(Path, sys.argv[1:]):
        for line in lines(Path("/dev/stdin") if str(path) == "-" else path):
            one, expected, got = transcripts(torch, line)
            found = differences(expected, got)
            count, different = count + 1, different + bool(found)
            if found:
                print(report(one, found, limit=3))
    print(f"{count} programs, {different} differ")
