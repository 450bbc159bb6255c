"""Loaders give the batches that PyTorch's give, in the same order, regardless of the options for workers."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

import minigrad
import minigrad.utils.data

LOADERS: dict[str, Callable[[ModuleType, object], object]] = {
    "in order": lambda data, d: data.DataLoader(d, 4),
    "shuffled": lambda data, d: data.DataLoader(d, batch_size=4, shuffle=True, pin_memory=False),
    "drop_last": lambda data, d: data.DataLoader(d, 4, True, drop_last=True, timeout=0),
    "numbers as a sampler": lambda data, d: data.DataLoader(d, 2, sampler=[3, 1, 2, 2, 0]),
}


@pytest.mark.parametrize("name", LOADERS)
def test_batches_are_pytorchs(torch, name: str) -> None:
    walks = []
    for engine in (torch, minigrad):
        engine.manual_seed(5)
        dataset = engine.utils.data.TensorDataset(engine.arange(11), engine.arange(11.0))
        loader = LOADERS[name](engine.utils.data, dataset)
        walks.append([[part.tolist() for part in batch] for _ in range(2) for batch in loader])
        walks[-1].append(len(loader))
    assert walks[0] == walks[1]


def test_workers_change_nothing() -> None:
    walks = []
    for workers in (0, 2):
        minigrad.manual_seed(1)
        loader = minigrad.utils.data.DataLoader(
            list(range(9)), 2, True, num_workers=workers, persistent_workers=workers > 0
        )
        walks.append([batch.tolist() for batch in loader])
    assert walks[0] == walks[1]


def test_examples_may_be_dictionaries_and_texts_and_parts_of_the_whole_are_split(torch) -> None:
    shown = []
    for engine in (torch, minigrad):
        engine.manual_seed(2)
        examples = [{"x": engine.ones(2) * i, "word": f"no. {i}", "label": i} for i in range(11)]
        parts = engine.utils.data.random_split(examples, [0.5, 0.3, 0.2])
        shown.append(str([engine.utils.data.default_collate([*part]) for part in parts]))
    assert shown[0] == shown[1]


def test_a_sampler_and_shuffle_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="sampler option is mutually exclusive with shuffle"):
        minigrad.utils.data.DataLoader([1], shuffle=True, sampler=[0])
