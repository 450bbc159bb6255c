"""What tensors are described with beside their dtype: `Size`, dimensions, `device`. Imports nothing of minigrad."""

from __future__ import annotations

from collections.abc import Callable
from operator import index


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
        count = 1
        for n in self:
            count *= n
        return count

    def __getitem__(self, key):
        found = tuple.__getitem__(self, key)
        return tuple.__new__(Size, found) if isinstance(key, slice) else found

    def __add__(self, other: tuple) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple) -> Size:
        return Size(tuple(other) + tuple(self))


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front. Raises IndexError if a tensor of `ndim` dimensions has no such dimension."""
    dim, bound = index(dim), ndim or 1  # a 0-d tensor accepts dim 0 and -1
    if not -bound <= dim < bound:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})"
        )
    return dim + bound if dim < 0 else dim


class device:
    """`device("cpu")`: where tensors live, always. Raises RuntimeError for any other place."""

    __module__ = __package__  # as users know it
    type, index = "cpu", None

    def __init__(self, type: str | device):
        if str(type).partition(":")[0] != "cpu":
            raise RuntimeError(f"minigrad runs on the CPU only; there is no device '{type}'")

    def __str__(self) -> str:
        return "cpu"

    def __repr__(self) -> str:
        return "device(type='cpu')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device)

    def __hash__(self) -> int:
        return hash("cpu")


cpu = device("cpu")


def not_offered(prefix: str) -> Callable[[str], object]:
    """A module's `__getattr__`: what PyTorch has there and minigrad has not says so."""

    def __getattr__(name: str) -> object:
        raise AttributeError(
            f"minigrad has no torch.{prefix}{name}; it keeps to what the lessons use. viz works on PyTorch itself."
        )

    return __getattr__
