"""Descriptions of tensors other than the dtype: `Size`, dimensions, `device`, and types of several results. Imports nothing of
minigrad."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from math import prod
from operator import index
from typing import NamedTuple


class Size(tuple):
    """The shape of a tensor: a tuple that prints as `torch.Size([2, 3])` and knows `numel()`."""

    __module__ = __package__  # as users know it
    __slots__ = ()

    def __new__(cls, lengths=()) -> Size:
        return tuple.__new__(cls, map(index, lengths))

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def numel(self) -> int:
        """The number of elements: the product of the lengths."""
        return prod(self)

    def __getitem__(self, key):
        result = tuple.__getitem__(self, key)
        return tuple.__new__(Size, result) if isinstance(key, slice) else result

    def __add__(self, other: tuple) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple) -> Size:
        return Size(tuple(other) + tuple(self))


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front. Raises IndexError if a tensor of `ndim` dimensions has no such dimension."""
    dim, bound = index(dim), ndim or 1  # a 0-d tensor accepts dim 0 and -1
    if not -bound <= dim < bound:
        expected = f"expected to be in range of [{-bound}, {bound - 1}]"
        raise IndexError(f"Dimension out of range ({expected}, but got {dim})")
    return dim + bound if dim < 0 else dim


class device(NamedTuple("device", [("type", str)])):
    """`device("cpu")`: where all tensors are. Raises RuntimeError for any other device."""

    __module__ = __package__  # as users know it
    __slots__ = ()
    index = None

    def __new__(cls, type: str | device) -> device:
        if str(type).partition(":")[0] != "cpu":
            raise RuntimeError(f"minigrad runs on the CPU only; there is no device '{type}'")
        return super().__new__(cls, "cpu")

    def __str__(self) -> str:
        return "cpu"

    def __enter__(self) -> device:
        return self

    def __exit__(self, *exc: object) -> None:
        """Everything is on the CPU, inside the block and after it."""


cpu = device("cpu")


def return_type(name: str, fields: Sequence[str]) -> type[tuple]:
    """A type of several results, such as torch.return_types.max: a named tuple that prints each on a separate line."""

    def text(results: tuple) -> str:
        lines = [f"{n}={value!r}" for n, value in zip(fields, results, strict=True)]
        return f"torch.return_types.{name}(\n" + ",\n".join(lines) + ")"

    kind = namedtuple(name, fields, module="torch.return_types")
    kind.__repr__ = text
    return kind
