"""Random calls that make no sense, by number: minigrad must refuse what PyTorch refuses, with the same kind of error."""

from __future__ import annotations

import functools
import random
import re
import warnings
from types import ModuleType

import minigrad
from minigrad.ops.table import FUNCTIONS, METHODS
from tests.minigrad.differences import APART

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


@functools.cache
def names(engine: ModuleType) -> tuple[list[str], list[str]]:
    """The functions and methods that both engines have, without those that draw random numbers."""
    functions = [n for n in FUNCTIONS if hasattr(engine, n) and not RANDOM.search(n)]
    methods = [n for n in METHODS if hasattr(engine.Tensor, n) and n[:2] != "__" and not RANDOM.search(n)]
    return sorted(functions), sorted(methods)


def call(number: int, functions: list[str], methods: list[str]) -> str:
    """A call of one of them, with mostly unsuitable arguments."""
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


def compare(engine: ModuleType, number: int) -> tuple[str, str]:
    """What minigrad does differently from PyTorch ("" if nothing), and why it may."""
    text = call(number, *names(engine))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = outcome(minigrad, text), outcome(engine, text)
    if ours[0] == theirs[0] and (ours[0] or ours[1] == theirs[1]):
        return "", ""
    why = next((reason for pattern, reason in APART.items() if re.search(pattern, text)), "")
    return f"{text}\n    minigrad {ours}\n    PyTorch  {theirs}", why
