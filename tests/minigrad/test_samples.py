"""minigrad does what PyTorch does on the inputs on which PyTorch tests its own operations, modules and optimizers.

Each test covers a group of operations, because there are many and the table is made anew in each process.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable

import pytest

import minigrad
from tests.conftest import on_a_short_stack
from tests.minigrad import modules, samples

PARTS = 4
KINDS = [  # what is done, with which inputs, with how many of an operation
    ("once", "float64", 24), ("once", "float32", 6), ("once", "int64", 12), ("once", "bool", 8), ("once", "errors", 40),
    ("twice", "float64", 10), ("forward", "float64", 10), ("vmap", "float64", 8),
]  # fmt: skip
MOST = 16  # inputs of one module or optimizer


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(
    ("what", "dtype", "most"), KINDS, ids=[f"{what}-{dtype}" for what, dtype, _ in KINDS]
)
@on_a_short_stack
def test_operations(what: str, dtype: str, most: int, part: int) -> None:
    counts: Counter[str] = Counter()
    infos = [i for i in samples.table() if zlib.crc32(samples.key(i).encode()) % PARTS == part]
    found = list(samples.checked(infos, what, dtype, most, counts))
    again = f"python -m tests.minigrad.samples {what} {dtype} NAME"
    assert not found, f"{len(found)} of {counts['compared']} calls differ, see {again}\n" + "\n".join(
        found[:12]
    )
    assert counts["compared"] > max(20, counts["unsuitable"])


def classes(where: object, kind: type) -> list[str]:
    """The names of the classes of a kind: found without PyTorch, which is slow to import."""
    return [
        n for n, c in vars(where).items() if isinstance(c, type) and issubclass(c, kind) and c is not kind
    ]


# Modules that PyTorch's table has no inputs for; sessions/nn.txt and lines/wide.txt have them.
UNLISTED = {
    "Dropout",
    "Flatten",
    "Identity",
    "ModuleDict",
    "ModuleList",
    "Sequential",
    "Unflatten",
    "CosineSimilarity",
    "Dropout1d",
}
UNLISTED |= {
    "Dropout2d",
    "Fold",
    "Hardsigmoid",
    "PairwiseDistance",
    "PixelShuffle",
    "PixelUnshuffle",
    "TripletMarginLoss",
}
UNLISTED |= {"Unfold", "Upsample"}
MODULES = [n for n in classes(minigrad.nn, minigrad.nn.Module) if n not in UNLISTED]
OPTIMIZERS = classes(minigrad.optim, minigrad.optim.Optimizer)


def differing(every: Iterable[tuple[object, bool]], compare) -> list[str]:
    """What differs for some of the samples, each with its number."""
    every, found = list(every), []
    for number in range(0, len(every), -(-len(every) // MOST)):
        try:
            found += [f"#{number} {text}" for text in compare(*every[number])]
        except samples.Unsuitable:
            continue
    return found


@pytest.mark.usefixtures("torch")
def test_there_are_inputs_for_every_module_and_optimizer() -> None:
    assert set(MODULES) == set(modules.modules()) and set(OPTIMIZERS) == set(modules.optimizers())


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("name", MODULES)
@on_a_short_stack
def test_a_module(name: str) -> None:
    info = modules.modules()[name]
    for training in (True, False) if info.train_and_eval_differ else (True,):
        every = modules.module_samples(info, training)
        found = differing(every, lambda s, bad: modules.compare_module(name, s, bad, training))  # noqa: B023
        assert not found, "\n".join(found[:8])


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("name", OPTIMIZERS)
@on_a_short_stack
def test_an_optimizer(name: str) -> None:
    every = modules.optimizer_samples(modules.optimizers()[name])
    found = differing(every, lambda s, bad: modules.compare_optimizer(name, s, bad))
    assert not found, "\n".join(found[:8])
