"""Datasets, and loaders that cut them into batches."""

from __future__ import annotations

import itertools
import math
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..creation import tensor
from ..dtypes import float64
from ..mersenne import Stream
from ..ops.joining import stack
from ..random import Generator, multinomial, rng
from ..tensor import Tensor, wrap

# ---------------------------------------------------------------- datasets


class Dataset:
    """Base class: a subclass gives example number `index` in `__getitem__` and their number in `__len__`."""

    def __getitem__(self, index: int) -> object:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Base class of datasets that can only be walked through: a subclass defines `__iter__`."""

    def __iter__(self) -> Iterator:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: IterableDataset) -> ChainDataset:
        return ChainDataset([self, other])


class ChainDataset(IterableDataset):
    """Several iterable datasets one behind the other."""

    def __init__(self, datasets: Iterable[IterableDataset]):
        self.datasets = datasets

    def __iter__(self) -> Iterator:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class TensorDataset(Dataset):
    """Example i is (t[i] for each tensor); all tensors have the same first length."""

    def __init__(self, *tensors: Tensor):
        if any(t.shape[0] != tensors[0].shape[0] for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class Subset(Dataset):
    """The examples of another dataset whose numbers are in `indices`."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int | list[int]) -> object:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list:
        """Several examples at once."""
        return fetch(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    """Several datasets one behind the other."""

    def __init__(self, datasets: Iterable[Dataset]):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> object:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class StackDataset(Dataset):
    """Several datasets side by side: an example is a tuple of theirs, or a dictionary for datasets given by name."""

    def __init__(self, *args: Dataset, **kwargs: Dataset):
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both types are "
                "given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: tuple | dict = args or kwargs
        parts = list(args or kwargs.values())
        if len({len(part) for part in parts}) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = len(parts[0])

    def __getitem__(self, index: int) -> tuple | dict:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __len__(self) -> int:
        return self._length


def fetch(dataset: Dataset, indices: list[int]) -> list:
    """The examples with these numbers; all at once if the dataset has a way to do that, `__getitems__`."""
    at_once = getattr(dataset, "__getitems__", None)
    if at_once is None:
        return [dataset[i] for i in indices]
    found = at_once(indices)
    if len(found) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(found)}")
    return found


def random_split(
    dataset: Dataset, lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset]:
    """Subsets of these lengths, without overlap, drawn at random; fractions that add up to 1 do as well."""
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1 + 1e-9:
        for i, part in enumerate(lengths):
            if part < 0 or part > 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        counts = [math.floor(total * part) for part in lengths]
        for i in range(total - sum(counts)):
            counts[i % len(counts)] += 1
        lengths = counts
        for i, count in enumerate(counts):
            if count == 0:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.",
                    UserWarning,
                    stacklevel=2,
                )
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = rng(generator).permutation(total).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, lengths, strict=True)]


# ---------------------------------------------------------------- samplers


def random_seed(stream: Stream) -> int:
    """A seed drawn from a stream, as PyTorch does it before each walk through a dataset."""
    return int(stream.double_words(1)[0] & np.uint64(2**63 - 1))


class Sampler:
    """Base class: an order in which to visit a dataset."""

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError(f"{type(self).__name__} should implement __iter__.")


def check_flag(name: str, value: object, error: type[Exception] = ValueError) -> None:
    if not isinstance(value, bool):
        raise error(f"{name} should be a boolean value, but got {name}={value}")


def check_count(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


class SequentialSampler(Sampler):
    """The numbers 0, 1, 2, ... of all examples in their order."""

    def __init__(self, data_source: Sequence):
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """A new random order each time; with replacement, num_samples independent draws."""

    def __init__(
        self,
        data_source: Sequence,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ):
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        check_flag("replacement", replacement, TypeError)
        check_count("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many numbers it gives: as many as there are examples, unless said otherwise."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, wanted = len(self.data_source), self.num_samples
        source = rng(self.generator)
        if self.generator is None:  # a seed of the default stream, and a stream of that
            source = Generator().manual_seed(random_seed(source))._stream
        if self.replacement:
            yield from source.integers(0, n, (wanted,)).tolist()
            return
        for _ in range(wanted // n):
            yield from source.permutation(n).tolist()
        yield from source.permutation(n)[: wanted % n].tolist()  # drawn also for nothing, as in PyTorch

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """These numbers, in a new random order each time."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None):
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        return iter([self.indices[i] for i in rng(self.generator).permutation(len(self.indices))])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """As many numbers as num_samples says, drawn with these weights."""

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ):
        check_count("num_samples", num_samples)
        check_flag("replacement", replacement)
        self.weights = np.asarray(weights, np.float64)
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {self.weights.shape}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        shares = self.weights / self.weights.sum()
        drawn = multinomial(wrap(shares), self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """The numbers of another sampler in lists of batch_size; drop_last leaves out a last list that is shorter."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool):
        check_count("batch_size", batch_size)
        check_flag("drop_last", drop_last)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


# ---------------------------------------------------------------- loading


def default_convert(data: object) -> object:
    """Arrays as tensors, also inside tuples, lists and dictionaries; everything else as it is."""
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind in "biuf":
        return wrap(np.asarray(data))
    if isinstance(data, Mapping):
        return {k: default_convert(v) for k, v in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    return [default_convert(v) for v in data] if isinstance(data, (list, tuple)) else data


COLLATE_ERROR = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_collate(batch: Sequence) -> object:
    """A list of examples as one batch: tensors and arrays stacked, numbers made tensors, tuples and dicts by parts.

    Raises TypeError for examples that it does not know, RuntimeError for parts of different sizes.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if isinstance(first, (np.ndarray, np.generic)):
        if first.dtype.kind not in "biuf":
            raise TypeError(COLLATE_ERROR.format(first.dtype))
        return (
            wrap(np.stack(batch)) if isinstance(first, np.ndarray) and first.ndim else wrap(np.asarray(batch))
        )
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        return like_first(first, {key: default_collate([example[key] for example in batch]) for key in first})
    if isinstance(first, (tuple, Sequence)):
        if any(len(example) != len(first) for example in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        if hasattr(first, "_fields"):
            return type(first)(*parts)
        return parts
    raise TypeError(COLLATE_ERROR.format(type(first)))


def like_first(first: Mapping, parts: dict) -> Mapping:
    """A mapping of the type of `first`, if that can be made, else a dict."""
    try:
        return type(first)(parts)
    except TypeError:
        return parts


FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset")


class DataLoader:
    """Walks through a dataset in batches. Each `for` starts anew, in a new order if `shuffle`.

    batch_size: None gives single examples. collate_fn: makes a batch of a list of examples (default_collate).
    sampler: an order of one's own; batch_sampler: lists of numbers. drop_last: no smaller batch at the end.
    generator: the source of the random order. Everything happens in this process: num_workers must be 0.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list], object] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable | None = None,
        multiprocessing_context: object = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ):
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
            )
        if num_workers:
            raise ValueError(
                f"minigrad loads data in its own process, so num_workers={num_workers} would do nothing: leave it at 0. The "
                "batches are the same"
            )
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
                "multiprocessing, otherwise set prefetch_factor to None."
            )
        if persistent_workers:
            raise ValueError("persistent_workers option needs num_workers > 0")
        walks = isinstance(dataset, IterableDataset)
        if walks:
            if shuffle:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
                )
            for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
                if given is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None and not walks:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and not walks:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        elif batch_size is not None:
            BatchSampler((), batch_size, drop_last)  # checks the arguments
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        batched = batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self._made = True

    def __setattr__(self, name: str, value: object) -> None:
        if "_made" in self.__dict__ and name in FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator:
        return Walk(self)

    def _batches(self) -> Iterator:
        dataset, collate = self.dataset, self.collate_fn
        random_seed(rng(self.generator))  # PyTorch draws one for its workers, so the order depends on it
        if isinstance(dataset, IterableDataset):
            yield from self._walk()
        elif self.batch_sampler is None:
            for index in self.sampler:
                yield collate(dataset[index])
        else:
            for indices in self.batch_sampler:
                yield collate(fetch(dataset, list(indices)))

    def _walk(self) -> Iterator:
        examples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, examples)
            return
        while batch := list(itertools.islice(examples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            n = len(self.dataset)
            if self.batch_size is None:
                return n
            return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


class Walk:
    """One walk of a DataLoader through its dataset: gives batches, and knows how many there are in all."""

    def __init__(self, loader: DataLoader):
        self._loader, self._batches = loader, loader._batches()

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> object:
        return next(self._batches)

    def __len__(self) -> int:
        return len(self._loader)


def get_worker_info() -> None:
    """None: everything happens in the main process."""


__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler", "Sampler",
    "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    "default_collate", "default_convert", "get_worker_info", "random_split",
]  # fmt: skip
__dir__ = __all__.copy  # what completion offers
