"""Messages of failed operations: PyTorch's words for common mistakes, NumPy's words after the operation and the shapes for
everything else. They are found only after a call has failed, so successful calls cost nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np

from .. import dtypes
from .op import CallForm, Op

NO_BOOL = "{}, the `-` operator, {} is not supported. {} operator instead."
INVERT = "If you are trying to invert a mask, use the `~` or `logical_not()`"
XOR = "Use the `^` or `logical_xor()`"
ONE_BOOL = NO_BOOL.format("Subtraction", "with a bool tensor", INVERT)
NEGATIVE_POWER = "Integers to negative integer powers are not allowed."
MESSAGES = {  # words in NumPy's message: PyTorch's message
    "boolean subtract": NO_BOOL.format("Subtraction", "with two bool tensors", XOR),
    "boolean negative": NO_BOOL.format("Negation", "on a bool tensor", INVERT),
    "Integers to negative": NEGATIVE_POWER,
}
Call = tuple[CallForm, tuple, dict]  # how an operation was called, and its arguments
OF_NUMPY = ("array", "axis", "axes", "broadcast", "dimension", "operand", "shape")  # its messages' names


def translated(error: Exception, op: Op, arrays: Sequence, call: Call | None = None) -> Exception:
    """The exception to raise instead of `error`, which NumPy raised in an operation. call: how it was called, if the
    arguments have not been checked yet. Raises TypeError if one of them does not fit."""
    values = {}
    if call is not None:
        form, args, kwargs = call
        values = form.signature.bind(args, kwargs, form.name, form.method)
    arrays, text = [a for a in arrays if a is not None], str(error)
    for pattern, message in MESSAGES.items():
        if isinstance(error, (TypeError, ValueError)) and pattern in text:
            return RuntimeError(message)
    if "no identity" in text or "of an empty" in text:  # the largest of zero elements
        dim, message = values.get("dim"), f"{op.name}(): Expected reduction dim "
        if type(dim) is int:
            return IndexError(f"{message}{dim % arrays[0].ndim} to have non-zero size.")
        message += "to be specified for input.numel() == 0."
        message += " Specify the reduction dim with the 'dim' argument." * ("arg" not in op.name)
        return (IndexError if "arg" in op.name else RuntimeError)(message)
    if isinstance(error, TypeError) and "ufunc" in text and arrays:
        dtypes.require("", op.kernel, np.result_type(*arrays))
    if isinstance(error, ValueError) and (op.kind == "elementwise" or "broadcast" in text):
        result = unlike_sizes(arrays)
        if result is not None:
            return result
    if isinstance(error, IndexError) and "arrays" in text:
        shapes = ", ".join([f"[{s.replace(',', ', ')}]" for s in re.findall(r"\(([\d,]*?),?\)", text)])
        return IndexError(text.partition("(")[0].replace("arrays", "tensors") + shapes)
    if isinstance(error, IndexError):
        return IndexError(text.replace("axis", "dimension"))
    if "cannot reshape array of size" in text:
        numel, shape = re.fullmatch(r"cannot reshape .* size (\d+) into shape \((.*?),?\)", text).groups()
        return RuntimeError(f"shape '[{shape.replace(',', ', ')}]' is invalid for input of size {numel}")
    if isinstance(error, ValueError) and arrays and any(word in text for word in OF_NUMPY):
        shapes = ", ".join(str(list(a.shape)) for a in arrays)
        return RuntimeError(f"{op.name} of {shapes}: {text}")
    return error


def unlike_sizes(arrays: Sequence[np.ndarray]) -> RuntimeError | None:
    """PyTorch's error for shapes that do not broadcast; None if they do."""
    ndim = max((a.ndim for a in arrays), default=0)
    for a, b in itertools.pairwise([(1,) * (ndim - a.ndim) + a.shape for a in arrays]):
        for dim in reversed(range(ndim)):
            if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
                message = f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]})"
                return RuntimeError(f"{message} at non-singleton dimension {dim}")
    return None
