"""Functions that make tensors: from numbers or arrays, filled with one value, or as a range."""

from __future__ import annotations

import inspect
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .autograd.modes import local, special
from .basics import check
from .devices import Device
from .dtypes import dtype
from .ops.signature import check_ints, is_int
from .ops.table import FUNCTIONS, add_form, function, method
from .tensor import InferenceTensor, Tensor, wrap

ndarray = np.ndarray
PYTHON = {int: np.dtype(np.int64), bool: np.dtype(np.bool_)}
SEQUENCES = (list, tuple, range, ndarray)


def new_leaf(array: ndarray, requires_grad: bool = False, device=None, like: Tensor | None = None) -> Tensor:
    """A new leaf. Inside vmap, if `like` holds one tensor for each example, so does the leaf."""
    if device is not None:
        Device(device)  # raises for any but the CPU
    check(isinstance(requires_grad, bool), "requires_grad must be bool", error=TypeError)
    message = "Only Tensors of floating point and complex dtype can require gradients"
    check(not requires_grad or array.dtype.kind == "f", message)
    out = wrap(array, requires_grad)
    if special:
        if local.inference:
            out.__class__ = InferenceTensor
        if local.interpreter is not None:
            return local.interpreter.created(out, like)
    return out


# ---------------------------------------------------------------- from values


@function(at="")
def tensor(
    data: Any, *, dtype: dtype | None = None, device: object = None, requires_grad: bool = False
) -> Tensor:
    """A new leaf tensor with a copy of `data`: a number, nested sequences of numbers, an array or a tensor.

    Without `dtype`: float32 for Python floats, int64 for ints, bool for bools, an array's own type for arrays.
    Raises RuntimeError if `requires_grad` is set for integers, ValueError for ragged sequences.
    """
    if not isinstance(data, Tensor):
        return new_leaf(array_of(data, dtype), requires_grad, device)
    message = "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or"
    more = "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
    warnings.warn(f"{message} {more}", stacklevel=3)  # of the caller's caller
    out = data.detach().clone() if dtype is None else data.detach().clone().to(dtype)
    return out.requires_grad_() if requires_grad else out


def array_of(data: Any, dtype: dtype | None) -> ndarray:
    """A new array with the values of `data`, in the given dtype, or else the one that PyTorch would choose."""
    if isinstance(data, (ndarray, np.generic)):
        array = checked_array(np.asarray(data))
        return np.array(array, array.dtype if dtype is None else dtypes.to_numpy(dtype), order="C")
    result: set[np.dtype] = set()
    numbers = bare(data, result)
    target = dtypes.to_numpy(dtype or dtypes.get_default_dtype())
    if dtype is None and result:
        target = result.pop() if len(result) == 1 else dtypes.promote([(d, 2) for d in result])
    try:
        array = np.array(numbers)
    except ValueError:
        refuse_ragged(data)
    if target.kind in "iu" and array.size:
        check(array.dtype not in (object, np.uint64), "Overflow when unpacking long long", error=ValueError)
        most = np.iinfo(target).max  # unsigned integers accept negative numbers, which wrap around
        fits = array.max() <= most and array.min() >= (-most if target.kind == "u" else -most - 1)
        check(fits, "value cannot be converted to type {} without overflow", target.name)
    return array.astype(target)


def bare(data: Any, result: set[np.dtype]) -> Any:
    """`data` with arrays instead of tensors; `result` collects the dtypes of all numbers. Raises PyTorch's errors."""
    if isinstance(data, SEQUENCES[:3]):
        check(not (data and isinstance(data[0], str)), "too many dimensions 'str'", error=ValueError)
        return [bare(v, result) for v in data]
    if isinstance(data, Tensor):
        plain = float(data) if data.is_floating_point() else operator.index(data)
        data = np.asarray(plain, data._array.dtype)
    check(not isinstance(data, str), "new(): invalid data type 'str'", error=TypeError)
    known = isinstance(data, (int, float, np.number, np.bool_, ndarray))
    check(known, "Could not infer dtype of {}", type(data))
    kind = dtypes.default_float() if type(data) is float else PYTHON.get(type(data))
    result.add(kind or dtypes.of_numpy(np.asarray(data).dtype).numpy)
    return data


def refuse_ragged(data: Any) -> None:
    """Raise PyTorch's error for nested sequences of unequal lengths."""
    parts, dim = [data], 0
    while all(isinstance(part, SEQUENCES) for part in parts):
        message, n = "expected sequence of length {} at dim {} (got {})", len(parts[0])
        for part in parts:
            check(len(part) == n, message, n, dim, len(part), error=ValueError)
        parts, dim = [v for part in parts for v in part], dim + 1
    check(not isinstance(parts[0], SEQUENCES), "not a sequence", error=TypeError)
    kind = next(type(part).__name__ for part in parts if isinstance(part, SEQUENCES))
    raise TypeError(f"'{kind}' object cannot be interpreted as an integer")


def from_numpy(array: ndarray) -> Tensor:
    """A tensor that shares the memory of a NumPy array. Raises TypeError for dtypes that tensors cannot have."""
    check(isinstance(array, ndarray), "expected np.ndarray (got {})", type(array), error=TypeError)
    return new_leaf(checked_array(array))


def checked_array(array: ndarray) -> ndarray:
    """The array, with the one dtype object of its kind. Raises PyTorch's error for one that cannot be a tensor."""
    known = dtypes.of_numpy(array.dtype).numpy
    array = array if array.dtype is known else array.view(known)  # a pickled dtype is a separate object
    message = "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently"
    message += " supported. (You can probably work around this by making a copy of your array  with "
    check(min(array.strides, default=0) >= 0, message + "array.copy().) ", error=ValueError)
    return array


# ---------------------------------------------------------------- filled

OPTIONS = list(inspect.signature(tensor).parameters.values())[1:]  # dtype, device, requires_grad


def factory(make: Callable[..., ndarray], name: str | None = None) -> Callable[..., Tensor]:
    """Turn `make(..., dtype)`, which returns an array, into a public function that returns a leaf and has PyTorch's options.

    `make` gets a NumPy dtype: the requested one, else that of the tensor given as first argument, else the default; None if
    `make` infers it.
    """
    parameters = dict(inspect.signature(make).parameters)
    infers, first = parameters.pop("dtype").default is None, next(iter(parameters.values()))

    def build(*args, dtype=None, device=None, requires_grad=False, **named):
        like = None if first.annotation != "Tensor" else args[0] if args else named.get(first.name)
        check(first.annotation != "Tensor" or isinstance(like, Tensor), "not a tensor", error=TypeError)
        if dtype is not None:
            named["dtype"] = dtypes.to_numpy(dtype)
        elif not infers:
            named["dtype"] = dtypes.default_float() if like is None else like._array.dtype
        if device is not None:
            Device(device)  # raises for any but the CPU, before anything is made
        return new_leaf(make(*args, **named), requires_grad, like=like)

    build.__name__ = build.__qualname__ = name or make.__name__
    build.__doc__, build.__module__ = make.__doc__, make.__module__
    build.__signature__ = inspect.Signature([*parameters.values(), *OPTIONS], return_annotation="Tensor")
    return function(at="")(build)


def shape_of(name: str, lengths: tuple, size: object = None) -> tuple[int, ...]:
    """The shape from `zeros(2, 3)`, `zeros((2, 3))` or `zeros(size=(2, 3))`. Raises TypeError or RuntimeError."""
    message, several = '{}() missing 1 required positional arguments: "size"', len(lengths) != 1
    check(lengths or size is not None, message, name, error=TypeError)
    check(not lengths or size is None, "{}() got multiple values for argument 'size'", name, error=TypeError)
    if size is None:
        size = lengths if several or is_int(lengths[0]) else lengths[0]
    check_ints(size, f"{name}(): argument 'size' (position 1)", alone=False)
    for n in size:
        check(n >= 0 or name != "zeros", "zeros: Dimension size must be non-negative.")
        check(n >= 0, "Trying to create tensor with negative dimension {}: {}", n, list(size))
    return tuple(map(operator.index, size))


def filled(name: str, fill: Callable[[tuple, np.dtype], ndarray], what: str) -> tuple[Callable, Callable]:
    """`zeros` and `zeros_like`, with the array that `fill(shape, dtype)` makes; also adds `new_zeros`."""

    def sized(*lengths: object, size: tuple | None = None, dtype: np.dtype) -> ndarray:
        return fill(shape_of(name, lengths, size), dtype)

    def like(input: Tensor, *, dtype: np.dtype) -> ndarray:
        return fill(input._array.shape, dtype)

    def new(self: Tensor, *lengths: object, size: tuple | None = None, dtype: np.dtype) -> ndarray:
        return fill(shape_of("new_" + name, lengths, size), dtype)

    sized.__doc__ = f"A tensor of the given size, {what}."
    like.__doc__ = f"A tensor in the shape and dtype of `input`, {what}."
    new.__doc__ = f"A tensor of the given size in this tensor's dtype, {what}."
    method("new_" + name)(factory(new, "new_" + name))
    return factory(sized, name), factory(like, name + "_like")


zeros, zeros_like = filled("zeros", np.zeros, "filled with zeros")
ones, ones_like = filled("ones", np.ones, "filled with ones")
empty, empty_like = filled("empty", np.empty, "with whatever the memory held")


@factory
def full(size: tuple, fill_value: float, *, dtype: np.dtype | None = None) -> ndarray:
    """A tensor filled with one value, which also decides the dtype if none is given."""
    shape = shape_of("full", (), size)
    value = fill_value.item() if isinstance(fill_value, (Tensor, np.generic)) else fill_value
    dtype = array_of(value, None).dtype if dtype is None else dtype
    return np.full(shape, dtypes.fitting(value, dtype), dtype)


@factory
def full_like(input: Tensor, fill_value: float, *, dtype: np.dtype) -> ndarray:
    """A tensor in the shape and dtype of `input`, filled with one value."""
    value = fill_value.item() if isinstance(fill_value, (Tensor, np.generic)) else fill_value
    return np.full(input._array.shape, dtypes.fitting(value, dtype), dtype)


@method("new_full")
@factory
def new_full(self: Tensor, size: tuple, fill_value: float, *, dtype: np.dtype) -> ndarray:
    """A tensor of the given size in this tensor's dtype, filled with one value."""
    return np.full(shape_of("new_full", (), size), dtypes.fitting(fill_value, dtype), dtype)


@function("Tensor")
def new_tensor(
    self: Tensor, data: Any, *, dtype: dtype | None = None, device: object = None, requires_grad: bool = False
) -> Tensor:
    """A new leaf with a copy of `data`, by default in this tensor's dtype."""
    values = data.detach()._array if isinstance(data, Tensor) else data
    return new_leaf(array_of(values, self.dtype if dtype is None else dtype), requires_grad, device)


@function(at="torch")
def scalar_tensor(s: float, *, dtype: dtype | None = None) -> Tensor:
    """A 0-d tensor of a number, floating point unless `dtype` says otherwise."""
    message = "scalar_tensor(): argument 's' (position 1) must be Number, not {}"
    check(isinstance(s, (int, float, np.number, np.bool_)), message, type(s), error=TypeError)
    return new_leaf(np.asarray(s, dtypes.default_float() if dtype is None else dtypes.to_numpy(dtype)))


def as_tensor(data: Any, dtype: dtype | None = None, device: object = None) -> Tensor:
    """`data` as a tensor: unchanged if it is a tensor of this dtype; shares an array's memory if possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, ndarray) and (dtype is None or dtypes.to_numpy(dtype) == data.dtype):
        return from_numpy(data)
    return new_leaf(array_of(data, dtype), False, device)


asarray = as_tensor  # its NumPy name

# ---------------------------------------------------------------- ranges


def arange_to(end: float, *, dtype: np.dtype | None = None) -> ndarray:
    """The numbers 0, 1, ... below `end`: integers if `end` is one."""
    return arange_between(0, end, dtype=dtype)


def arange_between(start: float, end: float, step: float = 1, *, dtype: np.dtype | None = None) -> ndarray:
    """The numbers start, start + step, ... below end: integers if all three are."""
    start, end, step = (v.item() if isinstance(v, (Tensor, np.generic)) else v for v in (start, end, step))
    whole = all(isinstance(v, int) for v in (start, end, step))
    target = dtype or (np.dtype(np.int64) if whole else dtypes.default_float())
    if target == np.int64:  # PyTorch truncates fractions first; for narrower integers, after counting
        start, end, step = int(start), int(end), int(step)
    check(step != 0, "step must be nonzero")
    check((end - start) * step >= 0, "upper bound and lower bound inconsistent with step sign")
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    if target.kind != "f":
        start, step = int(start), int(step)
    return (start + step * np.arange(count)).astype(target)


for _form in (arange_to, arange_between):
    add_form(FUNCTIONS, "arange", factory(_form, "arange"))
arange = FUNCTIONS["arange"]


@factory
def linspace(start: float, end: float, steps: int, *, dtype: np.dtype) -> ndarray:
    """`steps` evenly spaced numbers from start to end, both included."""
    check(steps >= 0, "number of steps must be non-negative")
    start, end = (float(v) if dtype.kind == "f" else int(v) for v in (start, end))
    number, step = np.arange(operator.index(steps)), (end - start) / max(steps - 1, 1)
    # counted from both ends, as PyTorch does
    numbers = np.where(number < steps // 2, start + step * number, end - step * (steps - 1 - number))
    return (numbers if steps > 1 else np.full(steps, start)).astype(dtype)


@factory
def logspace(start: float, end: float, steps: int, base: float = 10.0, *, dtype: np.dtype) -> ndarray:
    """`base` to the power of `steps` evenly spaced numbers from start to end."""
    check(steps >= 0, "number of steps must be non-negative")
    start, end = (float(v) if dtype.kind == "f" else float(int(v)) for v in (start, end))
    exponents = np.linspace(start, end, operator.index(steps))  # between integers they need not be integers
    return (float(base) ** (exponents.astype(dtype) if dtype.kind == "f" else exponents)).astype(dtype)


@factory
def eye(n: int, m: int | None = None, *, dtype: np.dtype) -> ndarray:
    """An n × m matrix with ones on the diagonal."""
    for name, value in (("n", n), ("m", n if m is None else m)):
        check(value >= 0, "{} must be greater or equal to 0, got {}", name, value)
    return np.eye(n, m, dtype=dtype)


def of_type(name: str, dtype: dtypes.dtype) -> Callable:
    """The old constructor of one dtype: a sequence is read as by `tensor`, sizes as by `empty`."""

    def make(*data: object) -> Tensor:
        """A tensor of this dtype: from a sequence of numbers, or uninitialised if given a size."""
        return (
            Tensor(*data).to(dtype) if all(isinstance(n, int) for n in data) else tensor(*data, dtype=dtype)
        )

    make.__name__ = make.__qualname__ = name
    return make


TYPED = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
}
TYPED |= {"Char": "int8", "Byte": "uint8", "Bool": "bool"}
for _name, _dtype in TYPED.items():
    globals()[f"{_name}Tensor"] = of_type(f"{_name}Tensor", getattr(dtypes, _dtype))

__all__ = [f"{_name}Tensor" for _name in TYPED]
__all__ += [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "eye", "from_numpy", "full", "full_like", "linspace", "logspace",
    "ones", "ones_like", "tensor", "zeros", "zeros_like",
]  # fmt: skip
