"""Functions that make tensors: from numbers, from arrays, filled, counted."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from . import dtypes
from .autograd.grad_mode import local, special
from .autograd.interpreter import Wrapper
from .ops.conversion import check_device
from .ops.dispatch import of_number
from .ops.shape import wanted_shape
from .ops.table import method
from .tensor import InferenceTensor, Tensor, wrap

ndarray = np.ndarray


def _finish(array: ndarray, requires_grad: bool, like: Tensor | None = None) -> Tensor:
    """A new leaf. Inside vmap there is one for each example if there is one of `like` for each."""
    if requires_grad and array.dtype.kind != "f":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    out = wrap(array, bool(requires_grad))
    if special:
        if local.inference:
            out.__class__ = InferenceTensor
        if local.interpreter is not None:
            return local.interpreter.created(out, like)
    return out


def _dtype(dtype: dtypes.dtype | None) -> np.dtype:
    return dtypes.default_float() if dtype is None else dtypes.to_numpy(dtype)


def only_size(caller: str, names: dict[str, object]) -> tuple | None:
    """The `size` among keyword arguments, None if there are none. Raises TypeError for any other."""
    for name in names:
        if name != "size":
            raise TypeError(f"{caller}() got an unexpected keyword argument '{name}'")
    return names.get("size")


def placed(make):
    """`make`, told where to put what it makes, which can only be in ordinary memory on the CPU."""

    @functools.wraps(make)
    def anywhere(
        *args, device: object = None, layout: object = None, pin_memory: bool = False, memory_format: object = None, **kwargs
    ) -> Tensor:  # fmt: skip
        check_device(device)
        if layout is not None and str(layout) != "torch.strided":
            raise RuntimeError(f"minigrad has no sparse tensors; layout {layout} cannot be made")
        return make(*args, **kwargs)

    return anywhere


def _size(name: str, given: tuple, size: Sequence[int] | None) -> tuple:
    """The shape from `zeros(2, 3)`, `zeros((2, 3))` or `zeros(size=(2, 3))`. Raises TypeError or RuntimeError."""
    shape = tuple(size) if size is not None else wanted_shape(given)
    for position, n in enumerate(shape):
        if not hasattr(n, "__index__"):
            if len(shape) == 1 and size is None:
                raise TypeError(
                    f"{name}(): argument 'size' (position 1) must be tuple of ints, not {type(n).__name__}"
                )
            raise TypeError(
                f"{name}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
                f'"type must be tuple of ints,but got {type(n).__name__}"'
            )
    shape = tuple(int(n) for n in shape)
    if any(n < 0 for n in shape):
        raise RuntimeError(f"{name}: Dimension size must be non-negative.")
    return shape


# ---------------------------------------------------------------- from values


def tensor(
    data: object,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new leaf tensor with a copy of `data`: a number, nested sequences of numbers, an array or a tensor.

    Without `dtype`: float32 for Python floats, int64 for ints, bool for bools, an array's own type for arrays.
    Raises RuntimeError if integers are to require grad, ValueError for ragged sequences.
    """
    check_device(device)
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        if isinstance(data, Wrapper):
            copy = data.detach().clone() if dtype is None else data.detach().clone().to(dtype)
            return copy.requires_grad_() if requires_grad else copy
        array = np.array(data._array, dtype=None if dtype is None else dtypes.to_numpy(dtype))
    else:
        array = array_of(data, dtype)
    return _finish(array, requires_grad)


def array_of(data: object, dtype: dtypes.dtype | None) -> ndarray:
    """A new array with the values of `data`, of PyTorch's dtype for them."""
    typed = isinstance(data, (ndarray, np.generic))
    if isinstance(data, (list, tuple)):
        data = _plain(data)
        typed = dtype is None and _has_typed(data)
        dtype = dtypes.of_numpy(dtypes.promote([(d, 2) for d in _dtypes_in(data)])) if typed else dtype
    try:
        array = np.array(data)
    except ValueError:
        raise _ragged(data) from None
    if array.dtype.kind not in "biuf":
        raise _not_numbers(data, array)
    if dtype is not None:
        return array.astype(dtypes.to_numpy(dtype))
    if not typed and (array.dtype.kind == "f" or not array.size):
        return array.astype(dtypes.default_float())
    dtypes.of_numpy(array.dtype)
    return array


def _has_typed(data: object) -> bool:
    """Is there a NumPy number or array among nested sequences of numbers?"""
    if isinstance(data, (list, tuple)):
        return any(map(_has_typed, data))
    return isinstance(data, (ndarray, np.generic))


def _dtypes_in(data: object) -> Iterator[np.dtype]:
    """The dtype of each number in nested sequences."""
    if isinstance(data, (list, tuple)):
        for x in data:
            yield from _dtypes_in(x)
    elif isinstance(data, (ndarray, np.generic)):
        yield data.dtype
    elif isinstance(data, (bool, int, float)):
        yield of_number(data)


def _plain(data: object):
    """`data` with the tensors in it as numbers."""
    if isinstance(data, (list, tuple)):
        return [_plain(x) for x in data]
    if isinstance(data, Tensor):
        if data._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if isinstance(data, Wrapper):
            data.item()  # raises inside vmap
        return data._array.reshape(())[()]
    return data


def _ragged(data: Sequence, depth: int = 0) -> Exception:
    """PyTorch's error for sequences of unequal lengths."""
    lengths = [len(x) if isinstance(x, (list, tuple)) else None for x in data]
    for n in lengths:
        if n != lengths[0]:
            if n is None or lengths[0] is None:
                return TypeError("not a sequence")
            return ValueError(f"expected sequence of length {lengths[0]} at dim {depth + 1} (got {n})")
    for x in data:
        if isinstance(x, (list, tuple)):
            found = _ragged(x, depth + 1)
            if found is not None:
                return found
    return None


def _not_numbers(data: object, array: ndarray) -> Exception:
    """PyTorch's error for data that is not numbers."""
    items = [data]
    while items:
        item = items.pop(0)
        if isinstance(item, (list, tuple)):
            items.extend(item)
        elif isinstance(item, str):
            return TypeError("new(): invalid data type 'str'")
        elif isinstance(item, complex):
            return TypeError("minigrad has no complex tensors")
        elif not isinstance(item, (bool, int, float, np.generic, ndarray)):
            return RuntimeError(f"Could not infer dtype of {type(item).__name__}")
    return TypeError(
        f"can't convert np.ndarray of type {array.dtype.type.__module__}.{array.dtype.type.__name__}."
    )


def as_tensor(data: object, dtype: dtypes.dtype | None = None, device: object = None) -> Tensor:
    """`data` as a tensor, without copying where it already is a tensor or an array of the right type."""
    check_device(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, ndarray) and (dtype is None or dtypes.to_numpy(dtype) == data.dtype):
        return from_numpy(data)
    return wrap(array_of(data, dtype))


def asarray(
    obj: object, *, dtype: dtypes.dtype | None = None, device: object = None, copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`obj` as a tensor; `copy` True copies in any case."""
    out = as_tensor(obj, dtype, device)
    if copy:
        out = wrap(out._array.copy())
    return out.requires_grad_() if requires_grad else out


def from_numpy(array: ndarray) -> Tensor:
    """A tensor that shares the memory of a NumPy array. Raises TypeError for dtypes that there are no tensors of."""
    if not isinstance(array, ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of_numpy(array.dtype)
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
            "supported. (You can probably work around this by making a copy of your array  with array.copy().) "
        )
    if not array.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing "
            "to this tensor will result in undefined behavior. You may want to copy the array to protect its data or make "
            "it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this "
            "program.",
            UserWarning,
            stacklevel=2,
        )
    return wrap(array)


def scalar_tensor(
    s: float, *, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False
) -> Tensor:
    """A 0-d tensor, of the default dtype if none is given."""
    check_device(device)
    return _finish(np.asarray(s, _dtype(dtype)), requires_grad)


# ---------------------------------------------------------------- filled


def zeros(
    *size: int, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False, **names: tuple
) -> Tensor:  # fmt: skip
    """A tensor of zeros of the given size."""
    check_device(device)
    return _finish(np.zeros(_size("zeros", size, only_size("zeros", names)), _dtype(dtype)), requires_grad)


def ones(
    *size: int, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False, **names: tuple
) -> Tensor:  # fmt: skip
    """A tensor of ones of the given size."""
    check_device(device)
    return _finish(np.ones(_size("ones", size, only_size("ones", names)), _dtype(dtype)), requires_grad)


def empty(
    *size: int, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False, **names: tuple
) -> Tensor:  # fmt: skip
    """An uninitialised tensor: its values are whatever the memory held."""
    check_device(device)
    return _finish(np.empty(_size("empty", size, only_size("empty", names)), _dtype(dtype)), requires_grad)


def full(
    size: Sequence[int],
    fill_value: float,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor filled with one value, which also decides the dtype if none is given."""
    check_device(device)
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int")
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    wanted = array_of(value, None).dtype if dtype is None else dtypes.to_numpy(dtype)
    return _finish(np.full(_size("full", (tuple(size),), None), value, wanted), requires_grad)


def _like(fill):
    """The shape, dtype and layout of a tensor for a new one, which `fill(shape, dtype, *values)` makes."""

    def make(
        input: Tensor, values: tuple, dtype: dtypes.dtype | None, device: object, requires_grad: bool
    ) -> Tensor:
        check_device(device)
        wanted = input._array.dtype if dtype is None else dtypes.to_numpy(dtype)
        return _finish(fill(input._array.shape, *values, wanted), requires_grad, input)

    return make


_zeros_like, _ones_like, _empty_like, _full_like = map(_like, (np.zeros, np.ones, np.empty, np.full))


def zeros_like(
    input: Tensor, *, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False,
    memory_format: object = None,
) -> Tensor:  # fmt: skip
    """Zeros in the shape and dtype of `input`."""
    return _zeros_like(input, (), dtype, device, requires_grad)


def ones_like(
    input: Tensor, *, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False,
    memory_format: object = None,
) -> Tensor:  # fmt: skip
    """Ones in the shape and dtype of `input`."""
    return _ones_like(input, (), dtype, device, requires_grad)


def empty_like(
    input: Tensor, *, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False,
    memory_format: object = None,
) -> Tensor:  # fmt: skip
    """Uninitialised memory in the shape and dtype of `input`."""
    return _empty_like(input, (), dtype, device, requires_grad)


def full_like(
    input: Tensor, fill_value: float, *, dtype: dtypes.dtype | None = None, device: object = None,
    requires_grad: bool = False, memory_format: object = None,
) -> Tensor:  # fmt: skip
    """One value in the shape and dtype of `input`."""
    return _full_like(input, (fill_value,), dtype, device, requires_grad)


def _new(name: str, fill):
    def new(
        self: Tensor,
        *size: int,
        dtype: dtypes.dtype | None = None,
        device: object = None,
        requires_grad: bool = False,
        **names: tuple,
    ) -> Tensor:
        check_device(device)
        shape = _size(name, size, only_size(name, names))
        wanted = self._array.dtype if dtype is None else dtypes.to_numpy(dtype)
        return _finish(fill(shape, wanted), requires_grad, self)

    new.__name__, new.__doc__ = name, f"`{name[4:]}` of the given size, in the dtype of this tensor."
    return method(name)(new)


for _name, _fill in (("new_zeros", np.zeros), ("new_ones", np.ones), ("new_empty", np.empty)):
    _new(_name, _fill)


@method()
def new_full(
    self: Tensor, size: Sequence[int], fill_value: float, *, dtype: dtypes.dtype | None = None, device: object = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """One value in the given size and the dtype of this tensor."""
    check_device(device)
    wanted = self._array.dtype if dtype is None else dtypes.to_numpy(dtype)
    return _finish(np.full(_size("new_full", (tuple(size),), None), fill_value, wanted), requires_grad, self)


@method()
def new_tensor(
    self: Tensor,
    data: object,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """A leaf with a copy of `data`, in the dtype of this tensor."""
    return tensor(
        data, dtype=self.dtype if dtype is None else dtype, device=device, requires_grad=requires_grad
    )


# ---------------------------------------------------------------- counted


def arange(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers start, start + step, ... below end; integers if all three are."""
    check_device(device)
    start, end = (0, start) if end is None else (start, end)
    start, end, step = (v.item() if isinstance(v, (Tensor, np.generic)) else v for v in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(v, int) for v in (start, end, step))
    wanted = np.dtype(np.int64) if dtype is None and whole else _dtype(dtype)
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    return _finish((start + step * np.arange(count)).astype(wanted), requires_grad)


def range(
    start: float,
    end: float,
    step: float = 1,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers from `start` up to and including `end`. PyTorch has deprecated it: use `arange`."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        stacklevel=2,
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = math.floor((end - start) / step) + 1
    steps = np.arange(count, dtype=np.float64) * step + start
    return _finish(steps.astype(_dtype(dtype)), requires_grad)


def linspace(
    start: float,
    end: float,
    steps: int,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` evenly spaced numbers from start to end, both included."""
    check_device(device)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = (v.item() if isinstance(v, Tensor) else v for v in (start, end))
    return _finish(np.linspace(start, end, steps).astype(_dtype(dtype)), requires_grad)


def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from base**start to base**end, evenly spaced in their logarithm."""
    check_device(device)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return _finish(np.logspace(start, end, steps, base=base).astype(_dtype(dtype)), requires_grad)


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """An n × m matrix with ones on the diagonal."""
    check_device(device)
    for name, k in (("n", n), ("m", m)):
        if k is not None and k < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {k}")
    return _finish(np.eye(n, m, dtype=_dtype(dtype)), requires_grad)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The positions on and below a diagonal of a row × col matrix: a 2 × N tensor, rows first."""
    found = np.stack(np.tril_indices(row, offset, col))
    return wrap(found.astype(np.int64 if dtype is None else dtypes.to_numpy(dtype)))


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The positions on and above a diagonal of a row × col matrix: a 2 × N tensor, rows first."""
    found = np.stack(np.triu_indices(row, offset, col))
    return wrap(found.astype(np.int64 if dtype is None else dtypes.to_numpy(dtype)))


def _typed(name: str, wanted: dtypes.dtype):
    """`FloatTensor` and its like: the old constructors by type."""

    def make(*data: object) -> Tensor:
        if len(data) == 1 and not isinstance(data[0], int):
            return wrap(array_of(data[0], wanted))
        return wrap(np.empty(data or (0,), wanted.numpy))

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"A tensor of {wanted!r} with the given values, or of the given size."
    return make


FloatTensor, DoubleTensor = _typed("FloatTensor", dtypes.float32), _typed("DoubleTensor", dtypes.float64)
LongTensor, IntTensor = _typed("LongTensor", dtypes.int64), _typed("IntTensor", dtypes.int32)
BoolTensor, HalfTensor = _typed("BoolTensor", dtypes.bool), _typed("HalfTensor", dtypes.float16)
ShortTensor, CharTensor = _typed("ShortTensor", dtypes.int16), _typed("CharTensor", dtypes.int8)
ByteTensor = _typed("ByteTensor", dtypes.uint8)


def frombuffer(
    buffer: object, *, dtype: dtypes.dtype, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A vector on the memory of an object with a buffer, such as a bytearray."""
    return _finish(np.frombuffer(buffer, dtypes.to_numpy(dtype), count, offset), requires_grad)


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """An uninitialised tensor whose elements lie in memory as the strides (counted in elements) say."""
    wanted = _dtype(dtype)
    span = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if all(size) else 0
    memory = np.empty(span, wanted)
    strides = tuple(s * wanted.itemsize for s in stride)
    return _finish(np.lib.stride_tricks.as_strided(memory, tuple(size), strides), requires_grad)


@method()
def new_empty_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], *, dtype: dtypes.dtype | None = None
) -> Tensor:
    """`empty_strided` in the dtype of this tensor."""
    return empty_strided(size, stride, dtype=self.dtype if dtype is None else dtype)


(
    zeros, ones, empty, full, zeros_like, ones_like, empty_like, full_like, arange, range, linspace, logspace, eye,
    tril_indices, triu_indices, empty_strided,
) = map(placed, (
    zeros, ones, empty, full, zeros_like, ones_like, empty_like, full_like, arange, range, linspace, logspace, eye,
    tril_indices, triu_indices, empty_strided,
))  # fmt: skip


__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor",
    "ShortTensor", "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_strided", "eye", "from_numpy",
    "frombuffer", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "range", "scalar_tensor", "tensor",
    "tril_indices", "triu_indices", "zeros", "zeros_like",
]  # fmt: skip
