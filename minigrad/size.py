"""The shape of a tensor: `Size`, and dimensions counted from either end. Imports nothing of minigrad."""

from __future__ import annotations

from operator import index


class Size(tuple):
    """The shape of a tensor: a tuple that prints as `torch.Size([2, 3])` and knows `numel()`."""

    __module__ = __package__  # as users know it
    __slots__ = ()

    def __new__(cls, lengths=()) -> Size:
        lengths = tuple(lengths)
        for position, n in enumerate(lengths):
            if not hasattr(n, "__index__"):
                raise TypeError(
                    f"torch.Size() takes an iterable of 'int' (item {position} is '{type(n).__name__}')"
                )
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
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple) -> Size:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: int) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__


def check_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front. Raises IndexError if a tensor of `ndim` dimensions has no such dimension."""
    bound = ndim or 1  # a 0-d tensor accepts dim 0 and -1
    if not -bound <= dim < bound:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})"
        )
    return dim + bound if dim < 0 else dim


def as_int(caller: str, dim: object) -> int:
    """`dim`. Raises PyTorch's TypeError if it is no integer."""
    if not hasattr(dim, "__index__"):
        raise TypeError(f"{caller}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}")
    return dim
