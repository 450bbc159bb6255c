"""Helpers for every file: `check` raises errors; names of classes, dtypes and nodes in messages; dimensions counted
from the front; return types with several fields. messages.py has the long texts."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from operator import index

import numpy as np

from . import dtypes, messages
from .autograd.modes import anomaly


def check(holds: bool, message: str, *values: object, error: type[Exception] = RuntimeError) -> None:
    """Raise an error unless a condition holds. message: the text, with the values filled in: dtypes and classes by their names,
    tuples as lists."""
    if not holds:
        shown = [list(v) if type(v) is tuple else full_name(v) if isinstance(v, type) else v for v in values]
        raise error(message.format(*[dtypes.of_numpy(v) if isinstance(v, np.dtype) else v for v in shown]))


def full_name(kind: type) -> str:
    """The name of a class in PyTorch's messages: 'list', 'Tensor', but 'numpy.ndarray', which is compiled."""
    if kind.__module__.split(".")[0] == __package__ and kind.__name__ in ("Size", "device", "dtype"):
        return f"torch.{kind.__name__}"  # compiled in PyTorch
    compiled = not kind.__flags__ & 1 << 9  # Python's own flag for classes made by a class statement
    return f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.") if compiled else kind.__name__


def short_name(node: object) -> str:
    """A node's name in error messages: MulBackward0 is Mul, MaxBackward1 is Max1."""
    # at the last "Backward": the name of a custom Function may contain another
    name, _, number = node.name().rpartition("Backward")
    if not name or not (number.isdigit() or not number):
        return node.name()
    return name + (number if number != "0" else "")


def modified_error(array: np.ndarray, maker: object, output_nr: int, now: int, then: int) -> RuntimeError:
    """PyTorch's error for a saved tensor that was written to."""
    kind = dtypes.of_numpy(array.dtype).tensor_type
    made_by = "" if maker is None else f", which is output {output_nr} of {short_name(maker)},"
    hint = messages.MODIFIED_THERE if anomaly.on else messages.MODIFIED_HINT
    return RuntimeError(messages.MODIFIED.format(kind, list(array.shape), made_by, now, then, hint))


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front. Raises IndexError if a tensor of `ndim` dimensions has no such dimension."""
    dim, bound = index(dim), ndim or 1  # a 0-d tensor accepts dim 0 and -1
    if not -bound <= dim < bound:
        raise IndexError(messages.DIM_RANGE.format(-bound, bound - 1, dim))
    return dim + bound if dim < 0 else dim


def return_type(name: str, fields: Sequence[str]) -> type[tuple]:
    """A type for several results, such as torch.return_types.max: a named tuple that prints each on a separate line."""

    def text(results: tuple) -> str:
        lines = [f"{n}={value!r}" for n, value in zip(fields, results, strict=True)]
        return f"torch.return_types.{name}(\n" + ",\n".join(lines) + ")"

    kind = namedtuple(name, fields, module="torch.return_types")
    kind.__repr__ = text
    return kind
