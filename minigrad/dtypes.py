"""Element types: PyTorch's names and promotion rules on NumPy's dtypes. Imports NumPy only."""

from __future__ import annotations

import builtins
import functools

import numpy as np


class dtype:
    """An element type, such as `float32`. Prints as PyTorch prints it; `.numpy` is NumPy's dtype."""

    __module__ = __package__  # as users know it

    def __init__(self, name: str, word: str, c_name: str):
        self.name, self.word, self.c_name = name, word, c_name  # the last two: its names in messages
        self.numpy = np.dtype(name)
        self.is_floating_point = self.numpy.kind == "f"
        self.tensor_type, self.itemsize = f"torch.{word}Tensor", self.numpy.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # pickled by name, so that `is` keeps working


float16 = half = dtype("float16", "Half", "c10::Half")
float32 = dtype("float32", "Float", "float")
float64 = double = dtype("float64", "Double", "double")
uint8 = dtype("uint8", "Byte", "unsigned char")
int8 = dtype("int8", "Char", "signed char")
int16 = short = dtype("int16", "Short", "short int")
int32 = dtype("int32", "Int", "int")
int64 = long = dtype("int64", "Long", "long int")
bool = dtype("bool", "Bool", "bool")
# `float` and `int` are torch.float and torch.int; inside this module they hide the builtins, so they come last.
float = float32
int = int32

known_dtypes = {d.numpy: d for d in (float16, float32, float64, uint8, int8, int16, int32, int64, bool)}
_of_builtin = {builtins.float: float64, builtins.int: int64, builtins.bool: bool}
category = {"b": 0, "i": 1, "u": 1, "f": 2}
_default = float32


def of_numpy(numpy_dtype: np.dtype) -> dtype:
    """minigrad's dtype for NumPy's. Raises TypeError for types that minigrad does not have."""
    if numpy_dtype not in known_dtypes:
        kind = numpy_dtype.type
        message = f"can't convert np.ndarray of type {kind.__module__}.{kind.__name__}."
        known = "float64, float32, float16, int64, int32, int16, int8, uint8, and bool."
        raise TypeError(f"{message} The only supported types are: {known}")
    return known_dtypes[numpy_dtype]


def word(numpy_dtype: np.dtype) -> str:
    """The name of a dtype in PyTorch's messages: 'Float', 'Long'."""
    return of_numpy(numpy_dtype).word


def to_numpy(given: object) -> np.dtype:
    """NumPy's dtype for a minigrad dtype or for Python's `float`, `int`, `bool`."""
    if isinstance(given, dtype):
        return given.numpy
    if not isinstance(given, type) or given not in _of_builtin:
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(given).__name__}")
    return _of_builtin[given].numpy


def require(kinds: str, kernel: str, numpy_dtype: np.dtype) -> None:
    """Raise PyTorch's error for a dtype that an operation does not take. kinds: NumPy's letters for those it takes."""
    if numpy_dtype.kind not in kinds:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{word(numpy_dtype)}'")


def wrapped(number: object, numpy_dtype: np.dtype) -> np.ndarray:
    """A Python number as a 0-d array. An integer outside the dtype's range is taken modulo the range, as in C."""
    try:
        return np.asarray(number, numpy_dtype)
    except OverflowError:
        return np.asarray(number, np.int64).astype(numpy_dtype)


def fitting(number: object, numpy_dtype: np.dtype) -> np.ndarray:
    """A Python number as a 0-d array. Raises RuntimeError if the dtype cannot hold it."""
    kind = numpy_dtype.kind
    if kind in "iu" or (kind == "f" and 65504 < abs(number) < np.inf):
        most = np.finfo(numpy_dtype).max.item() if kind == "f" else np.iinfo(numpy_dtype).max
        least = -most - (kind == "i")  # negative numbers wrap around in unsigned integers
        if not least <= number <= most:
            own = kind == "f" or numpy_dtype == np.int32
            message = of_numpy(numpy_dtype).c_name if own else f"{numpy_dtype.name}_t"
            raise RuntimeError(f"value cannot be converted to type {message} without overflow")
    return wrapped(number, numpy_dtype)


def get_default_dtype() -> dtype:
    """The dtype of new floating point tensors."""
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Set the dtype that new floating point tensors get: float16, float32 or float64."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d


def default_float() -> np.dtype:
    """NumPy's dtype of new floating point tensors."""
    return _default.numpy


def promote(parts: list[tuple[np.dtype, builtins.int]]) -> np.dtype:
    """The dtype in which an operation on several operands is done, by PyTorch's rules.

    `parts` lists each operand's (dtype, rank), where rank is 2 for a tensor with dimensions, 1 for a 0-d tensor and
    0 for a Python number. An operand of lower rank changes the result only if its category (bool < int < float) is
    higher than that of all operands of higher rank; then it gives the result its dtype.
    """
    result = None
    for rank in (2, 1, 0):
        joined = functools.reduce(_join, [d for d, r in parts if r == rank], None)
        if result is None:
            result = joined
        elif joined is not None and category[joined.kind] > category[result.kind]:
            result = _default.numpy if rank == 0 and joined.kind == "f" else joined
    return result


def _join(a: np.dtype | None, b: np.dtype) -> np.dtype:
    """The smallest type of PyTorch's lattice above both: NumPy's, but an int never makes a float wider."""
    if a is None or a == b:
        return b
    if a.kind != b.kind and "f" in (a.kind, b.kind):
        return a if a.kind == "f" else b
    return np.promote_types(a, b)


__all__ = ["dtype", "get_default_dtype", "set_default_dtype"]
__all__ += [name for name, value in globals().items() if isinstance(value, dtype) and name[0] != "_"]
