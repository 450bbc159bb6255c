"""Calls that make no sense, made up at random: minigrad refuses what PyTorch refuses, with the same kind of error.

python -m tests.minigrad.test_bad_calls 0 6000       shows what differs among the calls of these numbers
"""

from __future__ import annotations

import importlib
import random
import re
import sys
import warnings
from types import ModuleType

import pytest

import minigrad
from minigrad.ops.publish import FUNCTIONS, METHODS

CALLS, AT_ONCE = 3000, 500  # how many calls; how many in one test
ARGUMENTS = [
    *(
        "x",
        "y",
        "v",
        "i",
        "b",
        "s",
        "e",
        "2",
        "-1",
        "7",
        "0",
        "1.5",
        "True",
        "None",
        "'two'",
        "(0,1)",
        "[3,2]",
        "(-1,)",
    ),
    *(
        "(0,0)",
        "torch.float64",
        "[x,y]",
        "slice(1)",
        "dim=0",
        "dim=5",
        "dim='a'",
        "keepdim=True",
        "alpha=2",
        "other=y",
    ),
    *("input=x", "size=(2,3)", "p=2", "foo=1", "dtype=torch.int64", "min=0", "max=1"),
]
RANDOM = re.compile(r"rand|normal|uniform|bernoulli|multinomial|empty|dropout|seed|numpy|save|load|data_ptr")
# What PyTorch does on purpose or by its age, and minigrad does not: a pattern of the call, and the reason.
APART = {
    r"\.mT\b|\.T\b|\.H\b|\.mH\b": "attributes, which are read before they are called",
    r"dtype=torch.int64": "reductions have no `dtype=` here",
    r"unique\(": "its flag `sorted` is not looked at, as the result is always in order",
    r"(roll|split|split_with_sizes|moveaxis|movedim|permute|flip|unsqueeze)_?\(": "places may be whatever counts as whole",
    r"(sum_to_size|new_zeros|new_ones|reshape|repeat|expand|copy_)\(": "sizes may be whatever counts as whole numbers",
    r"norm\(": "PyTorch's is written in Python, and its errors speak of its inside",
    r"(floor|ceil|round|trunc|fix|abs|argmax|argmin|bincount|clamp|clamp_max|clamp_min)_?\(": "truth values are numbers",
    r"(add|sub|subtract|multiply|divide|split|log_softmax|squeeze)_?\(": "forms of old are not offered: a factor in the middle",
    r"bitwise_\w+_\(|std\(": "of two errors the other one comes first",
    r"cosh\(": "the last digit",
    r"nan_to_num|allclose": "what these numbers do not need is not looked at",
}


def names(engine: ModuleType) -> tuple[list[str], list[str]]:
    """The functions and the methods that both have, without those that draw random numbers."""
    functions = [n for n in FUNCTIONS if hasattr(engine, n) and not RANDOM.search(n)]
    methods = [n for n in METHODS if hasattr(engine.Tensor, n) and n[:2] != "__" and not RANDOM.search(n)]
    return sorted(functions), sorted(methods)


def call(number: int, functions: list[str], methods: list[str]) -> str:
    """A call of one of them, with arguments of which most do not belong there."""
    chance = random.Random(number)
    given = {
        a.split("=")[0]: a for a in chance.choices(ARGUMENTS, k=chance.choice([0, 1, 1, 2, 2, 3]))
    }.values()
    words = sorted(given, key=lambda a: "=" in a)
    if chance.random() < 0.5:
        first = [chance.choice(["x", "v", "y", "i"])] if chance.random() < 0.8 else []
        return f"torch.{chance.choice(functions)}({', '.join([*first, *words])})"
    return f"{chance.choice(['x', 'v', 'i', 's', 'b'])}.{chance.choice(methods)}({', '.join(words)})"


def outcome(engine: ModuleType, text: str) -> tuple[str, str]:
    """("" or the error's type, the result or the error's first line)"""
    tensor = engine.tensor
    space = {
        "torch": engine,
        "x": tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True),
        "y": tensor([[0.5, -1.0, 2.0], [3.0, 0.25, 1.0]]),
        "v": tensor([1.0, 2.0, 3.0]),
        "i": tensor([0, 1, 2]),
        "b": tensor([True, False, True]),
        "s": tensor(2.0),
        "e": engine.zeros(0, 3),
    }
    try:
        return "", str(eval(text, space))
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]


def difference(engine: ModuleType, text: str) -> str | None:
    """What minigrad does otherwise than PyTorch; None if it is right, or says that it has no such thing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = outcome(minigrad, text), outcome(engine, text)
    if ours[0] == theirs[0] and (ours[0] or ours[1] == theirs[1]):
        return None
    if any(re.search(pattern, text) for pattern in APART):
        return None
    return f"{text}\n    minigrad {ours}\n    PyTorch  {theirs}"


@pytest.mark.parametrize("first", range(0, CALLS, AT_ONCE))
def test_what_pytorch_refuses_is_refused(torch, first: int):
    known = names(torch)
    found = [difference(torch, call(n, *known)) for n in range(first, first + AT_ONCE)]
    assert not any(found), "\n".join(filter(None, found))


def test_most_calls_are_bad(torch):
    """Else the test would compare results, as others do."""
    known = names(torch)
    assert sum(bool(outcome(minigrad, call(n, *known))[0]) for n in range(500)) > 400


if __name__ == "__main__":
    engine = importlib.import_module("torch")
    known = names(engine)
    for number in range(*map(int, sys.argv[1:])):
        if found := difference(engine, call(number, *known)):
            print(found)
