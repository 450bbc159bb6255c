"""Datasets, and loaders that split them into batches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from .. import messages
from ..basics import check
from ..creation import tensor
from ..dtypes import float64
from ..mersenne import Generator
from ..missing import SaysWhatIsMissing, guard, module_attributes
from ..ops.shape import stack
from ..random import rng
from ..tensor import Tensor, wrap

__all__ = ["DataLoader", "Dataset", "Subset", "TensorDataset", "default_collate", "random_split"]
__dir__, __getattr__ = module_attributes(__name__, __all__)


class Dataset(SaysWhatIsMissing):
    """Base class: a subclass defines `__getitem__(index)`, which returns one example, and `__len__`, their number."""

    def __getitem__(self, index: int) -> object:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")


class TensorDataset(Dataset):
    """Example i is (t[i] for each tensor); all tensors have the same length along dimension 0."""

    def __init__(self, *tensors: Tensor):
        check(len({t.shape[0] for t in tensors}) < 2, "Size mismatch between tensors", error=AssertionError)
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class Subset(Dataset):
    """The examples of another dataset at the positions in `indices`."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> object:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset, lengths: Sequence[float], generator: Generator | None = None) -> list:
    """Disjoint random subsets of these lengths, or of these fractions of the whole."""
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = [math.floor(total * part) for part in lengths]
        for i in range(total - sum(lengths)):
            lengths[i % len(lengths)] += 1
    check(sum(lengths) == total, messages.SPLIT_LENGTHS, error=ValueError)
    order, ends = rng(generator).permutation(total).tolist(), itertools.accumulate(lengths)
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, lengths, strict=True)]


def random_seed(generator: Generator | None) -> int:
    """A seed drawn from a stream, as PyTorch does before each walk through a dataset."""
    return int(rng(generator).words(1, double=True)[0] & np.uint64(2**63 - 1))


def default_collate(batch: Sequence) -> object:
    """A list of examples as one batch: tensors and arrays stacked, numbers made into tensors, strings kept in a list; tuples,
    lists and dictionaries part by part. Raises TypeError for unknown kinds of examples, RuntimeError for parts of different
    sizes.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if isinstance(first, (np.ndarray, np.generic)) and first.dtype.kind in "biuf":
        return wrap(np.stack(batch))
    if isinstance(first, (int, float)):
        return tensor(list(batch), dtype=float64) if isinstance(first, float) else tensor(list(batch))
    if isinstance(first, Mapping):
        return {key: default_collate([example[key] for example in batch]) for key in first}
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, (tuple, list)):
        alike = all(len(example) == len(first) for example in batch)
        check(alike, "each element in list of batch should be of equal size")
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise TypeError(messages.COLLATE.format(type(first)))


def shuffled(count: int, generator: Generator | None) -> Iterator[int]:
    """The numbers below `count`, in an order drawn at random."""
    stream = rng(generator)
    if generator is None:  # a seed from the default stream, and a stream with that seed
        stream = Generator().manual_seed(random_seed(None))
    yield from stream.permutation(count).tolist()
    stream.permutation(count)  # drawn without being used, as in PyTorch


class DataLoader(SaysWhatIsMissing):
    """Iterates over a dataset in batches. Each `for` starts again, in a new order if `shuffle`.

    sampler: gives the indices of the examples, instead of `shuffle`. collate_fn: makes a batch from a list of examples
    (default_collate). drop_last: no smaller batch at the end. generator: the source of the random order.
    Everything happens in this process, regardless of the options for workers and pinned memory.
    """

    def __init__(
        self, dataset: Dataset, batch_size: int = 1, shuffle: bool | None = None, sampler: Iterable[int] | None = None, *,
        num_workers: int = 0, collate_fn: Callable[[list], object] | None = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: Callable[[int], None] | None = None,
        generator: Generator | None = None, prefetch_factor: int | None = None, persistent_workers: bool = False,
    ):  # fmt: skip
        positive = isinstance(batch_size, int) and batch_size > 0
        check(positive, messages.BATCH_SIZE, batch_size, error=ValueError)
        check(sampler is None or not shuffle, messages.SAMPLER, error=ValueError)
        self.dataset, self.batch_size, self.sampler, self._shuffle = dataset, batch_size, sampler, shuffle
        self.num_workers, self.drop_last, self.generator = num_workers, drop_last, generator
        self.collate_fn = collate_fn or default_collate

    def __iter__(self) -> Iterator:
        random_seed(self.generator)  # PyTorch draws a seed for its workers, which changes the order
        indices = range(len(self.dataset)) if self.sampler is None else self.sampler
        order = iter(shuffled(len(indices), self.generator) if self._shuffle else indices)
        batches = iter(lambda: list(itertools.islice(order, self.batch_size)), [])
        full = (batch for batch in batches if len(batch) == self.batch_size or not self.drop_last)
        return (self.collate_fn([self.dataset[i] for i in batch]) for batch in full)

    def __len__(self) -> int:
        count = len(self.dataset if self.sampler is None else self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


guard(__name__, "utils.data")
