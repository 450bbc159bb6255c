"""Raising errors: `check`, and the names that messages have for classes, dtypes and nodes. messages.py has the long texts."""

from __future__ import annotations

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
        return f"torch.{kind.__name__}"  # compiled there
    compiled = not kind.__flags__ & 1 << 9  # Python's own flag for classes made by a class statement
    return f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.") if compiled else kind.__name__


def short_name(node: object) -> str:
    """A node's name in error messages: MulBackward0 is Mul, MaxBackward1 is Max1."""
    # the last word: the name of a custom Function may contain it too
    name, _, number = node.name().rpartition("Backward")
    if not name or not (number.isdigit() or not number):
        return node.name()
    return name + (number if number != "0" else "")


def modified_error(array: np.ndarray, maker: object, output_nr: int, now: int, then: int) -> RuntimeError:
    """PyTorch's complaint about a saved tensor that was written to."""
    kind = dtypes.of_numpy(array.dtype).tensor_type
    made_by = "" if maker is None else f", which is output {output_nr} of {short_name(maker)},"
    hint = messages.MODIFIED_THERE if anomaly.on else messages.MODIFIED_HINT
    return RuntimeError(messages.MODIFIED.format(kind, list(array.shape), made_by, now, then, hint))
