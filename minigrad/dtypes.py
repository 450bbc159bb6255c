"""Element types: PyTorch's names and promotion rules on NumPy's dtypes. Imports NumPy only."""

from __future__ import annotations

import builtins
from collections.abc import Callable

import numpy as np


class dtype:
    """An element type, such as `float32`. Prints as PyTorch prints it; `.numpy` is NumPy's dtype."""

    __module__ = __package__  # as users know it
    __slots__ = ("category", "is_complex", "is_floating_point", "name", "numpy", "tensor_type")

    def __init__(self, name: str, numpy: type, tensor_type: str):
        self.name = name
        self.numpy = np.dtype(numpy)
        self.is_floating_point = self.numpy.kind == "f"
        self.is_complex = False
        self.tensor_type = tensor_type  # how error messages call it
        self.category = "bool" if self.numpy.kind == "b" else "int" if self.numpy.kind in "iu" else "float"

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.numpy.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # pickled by name, so that `is` keeps working


float16 = half = dtype("float16", np.float16, "torch.HalfTensor")
float32 = dtype("float32", np.float32, "torch.FloatTensor")
float64 = double = dtype("float64", np.float64, "torch.DoubleTensor")
uint8 = dtype("uint8", np.uint8, "torch.ByteTensor")
int8 = dtype("int8", np.int8, "torch.CharTensor")
int16 = short = dtype("int16", np.int16, "torch.ShortTensor")
int32 = dtype("int32", np.int32, "torch.IntTensor")
int64 = long = dtype("int64", np.int64, "torch.LongTensor")
bool = dtype("bool", np.bool_, "torch.BoolTensor")
# `float` and `int` are torch.float and torch.int; inside this module they hide the builtins, so they come last.
float = float32
int = int32

_of_numpy = {d.numpy: d for d in (float16, float32, float64, uint8, int8, int16, int32, int64, bool)}
_category_rank = {"bool": 0, "int": 1, "float": 2}
_words = {
    "float16": "Half", "float32": "Float", "float64": "Double", "uint8": "Byte", "int8": "Char", "int16": "Short",
    "int32": "Int", "int64": "Long", "bool": "Bool",
}  # fmt: skip
# What a number may be to be written into a tensor. Unsigned integers take negative ones too, which wrap round.
_limits = {d: (-np.inf, np.inf) for d in _of_numpy if d.kind == "b"}
_limits |= {d: (np.finfo(d).min.item(), np.finfo(d).max.item()) for d in _of_numpy if d.kind == "f"}
_limits |= {d: (np.iinfo(d).min, np.iinfo(d).max) for d in _of_numpy if d.kind == "i"}
_limits |= {d: (-np.iinfo(d).max, np.iinfo(d).max) for d in _of_numpy if d.kind == "u"}
_c_names = {
    "float16": "c10::Half", "float32": "float", "float64": "double", "uint8": "unsigned char", "int8": "signed char",
    "int16": "short int", "int32": "int", "int64": "long int",
}  # fmt: skip
_default = float32


def no_complex() -> TypeError:
    """The error for complex numbers, arrays and dtypes."""
    return TypeError(
        "minigrad has no complex tensors. Keep the real and the imaginary part in two tensors of real numbers; "
        "(a + ib)(c + id) is (ac - bd) + i(ad + bc)."
    )


def is_complex(value: object) -> bool:
    """Is it a complex number, an array of such, or a dtype of either?"""
    if isinstance(value, type):
        return issubclass(value, (complex, np.complexfloating))
    return isinstance(value, complex) or getattr(getattr(value, "dtype", value), "kind", "") == "c"


def of_numpy(numpy_dtype: np.dtype) -> dtype:
    """minigrad's dtype for NumPy's. Raises TypeError for types that minigrad does not have."""
    found = _of_numpy.get(numpy_dtype)
    if found is None:
        if numpy_dtype.kind == "c":
            raise no_complex()
        raise TypeError(
            f"can't convert np.ndarray of type {numpy_dtype.type.__module__}.{numpy_dtype.type.__name__}. The only "
            "supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
            "uint16, uint8, and bool."
        )
    return found


def word(numpy_dtype: np.dtype) -> str:
    """How PyTorch's messages call a dtype: 'Float', 'Long'."""
    return _words[numpy_dtype.name]


def c_name(numpy_dtype: np.dtype) -> str:
    """How other messages of PyTorch's call it: 'float', 'long int', as C++ does."""
    return _c_names.get(numpy_dtype.name, numpy_dtype.name)


def not_implemented(kernel: str, numpy_dtype: np.dtype) -> NotImplementedError:
    """PyTorch's error for a dtype that an operation does not take."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{word(numpy_dtype)}'")


def wrapped(number: object, numpy_dtype: np.dtype) -> np.ndarray:
    """A Python number as a 0-d array. An integer that the dtype does not hold is taken modulo its range, as in C."""
    try:
        return np.asarray(number, numpy_dtype)
    except OverflowError:
        return np.asarray(number, np.int64).astype(numpy_dtype)


def overflow(numpy_dtype: np.dtype) -> RuntimeError:
    """PyTorch's error for a number that a dtype does not hold."""
    name = numpy_dtype.name
    told = c_name(numpy_dtype) if numpy_dtype.kind == "f" or name == "int32" else name + "_t"
    return RuntimeError(f"value cannot be converted to type {told} without overflow")


def fitting(number: object, numpy_dtype: np.dtype) -> np.ndarray:
    """A Python number as a 0-d array. Raises RuntimeError if the dtype does not hold it, or what is negative wrapped."""
    least, most = _limits[numpy_dtype]
    if (number < least or number > most) and not (numpy_dtype.kind == "f" and abs(number) == np.inf):
        raise overflow(numpy_dtype)
    if number != number and numpy_dtype.kind in "iu":
        raise overflow(numpy_dtype)
    return wrapped(number, numpy_dtype)


def to_numpy(wanted) -> np.dtype:
    """NumPy's dtype for a minigrad dtype or for Python's `float`, `int`, `bool`."""
    if isinstance(wanted, dtype):
        return wanted.numpy
    builtin = {"float": float64, "int": int64, "bool": bool}.get(getattr(wanted, "__name__", ""))
    if builtin is None or not isinstance(wanted, type):
        if is_complex(wanted):
            raise no_complex()
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(wanted).__name__}")
    return builtin.numpy


# How to make others forget what they would have found differently with another default.
BY_DEFAULT: list[Callable[[], None]] = []


def get_default_dtype() -> dtype:
    """The dtype of new floating point tensors."""
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Set the dtype that new floating point tensors get: float16, float32 or float64."""
    global _default
    if not isinstance(d, dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d
    for forget in BY_DEFAULT:
        forget()


def default_float() -> np.dtype:
    return _default.numpy


def promote(parts: list[tuple[np.dtype, object]]) -> np.dtype:
    """The dtype in which an operation on several operands is done, by PyTorch's rules.

    `parts` lists each operand's (dtype, rank), where rank is 2 for a tensor with dimensions, 1 for a 0-d tensor and
    0 for a Python number. An operand of lower rank changes the result only if its category (bool < int < float) is
    higher than that of all operands of higher rank; then it gives the result its dtype.
    """
    result = None
    for rank in (2, 1, 0):
        mine = [d for d, r in parts if r == rank]
        if not mine:
            continue
        joined = mine[0]
        for d in mine[1:]:
            joined = _join(joined, d)
        if result is None:
            result = joined
        elif _category_rank[_of_numpy[joined].category] > _category_rank[_of_numpy[result].category]:
            result = _default.numpy if rank == 0 and joined.kind == "f" else joined
    if result is None:
        raise ValueError("promote() needs at least one operand")
    return result


def _join(a: np.dtype, b: np.dtype) -> np.dtype:
    """The smallest type of PyTorch's lattice above both: NumPy's, but an int never makes a float wider."""
    if a == b:
        return a
    if a.kind == "f" and b.kind != "f":
        return a
    if b.kind == "f" and a.kind != "f":
        return b
    return np.promote_types(a, b)


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The dtype that holds both, by PyTorch's lattice."""
    for place, (name, given) in enumerate((("type1", type1), ("type2", type2)), 1):
        if not isinstance(given, dtype):
            found = type(given).__name__
            raise TypeError(
                f"promote_types(): argument '{name}' (position {place}) must be torch.dtype, not {found}"
            )
    return _of_numpy[_join(type1.numpy, type2.numpy)]


def _limited(caller: str, type_: object) -> np.dtype:
    try:
        return to_numpy(type_)
    except TypeError:
        found = type(type_).__name__
        raise TypeError(
            f"{caller}(): argument 'type' (position 1) must be torch.dtype, not {found}"
        ) from None


class finfo:
    """Machine limits of a floating point dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, type: dtype | None = None):
        kind = _limited("finfo", type or _default)
        if kind.kind != "f":
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        info = np.finfo(kind)
        self.dtype, self.bits = kind.name, info.bits
        self.eps, self.max, self.min = info.eps.item(), info.max.item(), info.min.item()
        self.tiny = self.smallest_normal = info.tiny.item()
        self.resolution = info.resolution.item()

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> builtins.int:
        return hash(self.dtype)


class iinfo:
    """Limits of an integer dtype: bits, max, min."""

    def __init__(self, type: dtype):
        kind = _limited("iinfo", type)
        if kind.kind == "f":
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            )
        if kind.kind == "b":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        info = np.iinfo(kind)
        self.dtype, self.bits, self.max, self.min = kind.name, info.bits, info.max, info.min

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> builtins.int:
        return hash(self.dtype)
