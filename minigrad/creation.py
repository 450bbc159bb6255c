"""Functions that make tensors: from numbers, from arrays, filled, counted."""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import dtypes
from .autograd.grad_mode import local, special
from .autograd.interpreter import Wrapper
from .memory import laid_out_like
from .ops.arguments import NUMBERS, explain
from .ops.conversion import check_device
from .ops.dispatch import of_number
from .ops.storage import blank
from .ops.table import method
from .size import Size
from .tensor import InferenceTensor, Tensor, full_name, wrap

ndarray = np.ndarray
PLAIN = (int, float)
MISSING: Any = type(
    "Missing", (), {"__repr__": lambda self: "..."}
)()  # stands for an argument that was not given


def _finish(array: ndarray, requires_grad: bool, like: Tensor | None = None) -> Tensor:
    """A new leaf. Inside vmap there is one for each example if there is one of `like` for each."""
    if requires_grad is not False:
        if not isinstance(requires_grad, (bool, np.bool_)):
            raise TypeError(f"argument 'requires_grad' must be bool, not {full_name(type(requires_grad))}")
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
    """`make`, told where to put what it makes, which can only be in ordinary memory on the CPU.

    Wrong arguments are explained in PyTorch's words.
    """

    @functools.wraps(make)
    def anywhere(
        *args, device: object = None, layout: object = None, pin_memory: bool = False, **kwargs
    ) -> Tensor:  # fmt: skip
        check_device(device)
        if layout is not None and str(layout) != "torch.strided":
            raise RuntimeError(f"minigrad has no sparse tensors; layout {layout} cannot be made")
        try:
            return make(*args, **kwargs)
        except (TypeError, AttributeError, ValueError) as error:
            name, said = make.__name__, str(error)
            if said.startswith("argument '"):
                raise TypeError(f"{name}(): {said}") from None
            if "(): argument '" not in said and "() received" not in said:
                explain(make, name, args, kwargs, method=name.startswith("new_"))
            raise

    return anywhere


def _size(name: str, given: tuple, size: Sequence[int] | None = None) -> tuple:
    """The shape from `zeros(2, 3)`, `zeros((2, 3))` or `zeros(size=(2, 3))`. Raises TypeError or RuntimeError."""
    shape = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    if size is not None:
        shape = size
    elif given:
        for n in shape:
            if type(n) is not int or n < 0:
                break
        else:
            return tuple(shape)
    if size is None and not given:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    if len(given) > 1 and not _is_length(given[0]):
        raise TypeError(f"{name}() takes 1 positional argument but {len(given)} were given")
    return lengths(name, "size", shape, shape is given, "" if given else None)


def lengths(
    name: str, argument: str, values: object, loose: bool = False, place: str | None = " (position 1)"
) -> tuple:
    """Lengths or strides as a tuple of ints. Raises TypeError for what is not, RuntimeError for negative lengths.

    loose: they were given one by one. place: where the argument stands, None if it was given by name.
    """
    place = "" if place is None else place or " (position 1)"
    wrong = f"{name}(): argument '{argument}'{place} must be tuple of ints, "
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{wrong}not {full_name(type(values))}")
    for position, n in enumerate(values):
        if type(n) is int or (_is_length(n) and (position or not isinstance(n, bool))):
            continue
        kind = full_name(type(n))
        if not position:
            raise TypeError(
                f"{wrong}not {kind}" if loose else f"{wrong}but found element of type {kind} at pos 0"
            )
        raise TypeError(
            f"{name}(): argument '{argument}' failed to unpack the object at pos {position + 1} with error "
            f'"type must be tuple of ints,but got {kind}"'
        )
    found = tuple([int(n) for n in values])
    for n in found:
        if n < 0 and argument == "size":
            if name == "zeros":
                raise RuntimeError(f"{name}: Dimension size must be non-negative.")
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(found)}")
    return found


def _is_length(value: object) -> bool:
    """Is it an integer, or a tensor that holds one?"""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _number(value: object, name: str = "fill_value", position: int = 2) -> float:
    """A Python number, also from a 0-d tensor. Raises TypeError for anything else."""
    if isinstance(value, Tensor) and not value._array.ndim and not value._requires_grad:
        return value.item()
    if not isinstance(value, NUMBERS):
        raise TypeError(
            f"argument '{name}' (position {position}) must be Number, not {full_name(type(value))}"
        )
    return value


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
    if device is not None:
        check_device(device)
    if isinstance(data, Tensor):
        warn_of_copy("torch.tensor")
        if isinstance(data, Wrapper):
            copy = data.detach().clone() if dtype is None else data.detach().clone().to(dtype)
            return copy.requires_grad_() if requires_grad else copy
        array = np.array(data._array, dtype=None if dtype is None else dtypes.to_numpy(dtype))
    else:
        try:
            array = array_of(data, dtype)
        except TypeError as error:
            if str(error).startswith("argument '"):
                raise TypeError(f"tensor(): {error}") from None
            raise
    if requires_grad is not False and type(requires_grad) is not bool:
        kind = full_name(type(requires_grad))
        raise TypeError(f"tensor(): argument 'requires_grad' must be bool, not {kind}")
    return _finish(array, requires_grad)


def warn_of_copy(caller: str) -> None:
    """What PyTorch says of a tensor that is made from a tensor."""
    warnings.warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {caller}(sourceTensor).",
        UserWarning,
        stacklevel=3,
    )


def array_of(data: object, dtype: dtypes.dtype | None) -> ndarray:
    """A new array with the values of `data`, of PyTorch's dtype for them."""
    typed = isinstance(data, (ndarray, np.generic))
    if typed:
        check_array(np.asarray(data))
    if isinstance(data, (list, tuple)):
        data = _plain(data)
        has_typed = _has_typed(data)
        if has_typed and _has_arrays(data):
            warnings.warn(
                "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a "
                "single numpy.ndarray with numpy.array() before converting to a tensor.",
                UserWarning,
                stacklevel=3,
            )
        typed = dtype is None and has_typed
        dtype = dtypes.of_numpy(dtypes.promote([(d, 2) for d in _dtypes_in(data)])) if typed else dtype
    try:
        array = np.array(data)
    except ValueError:
        raise _ragged(data) or TypeError("not a sequence") from None
    wanted = None if dtype is None else dtypes.to_numpy(dtype)
    if array.dtype.kind not in "biuf" or (array.dtype == np.uint64 and not typed):
        wrong = _not_numbers(data, array.astype(object))
        if not isinstance(wrong, OverflowError) or wanted is None or wanted.kind != "f":
            raise ValueError(str(wrong)) if isinstance(wrong, OverflowError) else wrong
    if wanted is not None:
        if not typed and wanted.kind in "iu" and array.size and array.dtype.kind in "if":
            check_range(array, wanted)
        return array.astype(wanted)
    if not typed and (array.dtype.kind == "f" or not array.size):
        return array.astype(dtypes.default_float())
    dtypes.of_numpy(array.dtype)
    return array


def check_range(array: ndarray, wanted: np.dtype) -> None:
    """Raise PyTorch's error for numbers that a dtype of integers does not hold. Unsigned ones take negative numbers."""
    most = np.iinfo(wanted).max
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise RuntimeError(f"value cannot be converted to type {wanted.name} without overflow")
    if array.max() > most or array.min() < (-most if wanted.kind == "u" else -most - 1):
        raise RuntimeError(f"value cannot be converted to type {wanted.name} without overflow")


def _has_typed(data: object) -> bool:
    """Is there a NumPy number or array among nested sequences of numbers?"""
    if isinstance(data, (list, tuple)):
        return any(map(_has_typed, data))
    return isinstance(data, (ndarray, np.generic))


def _has_arrays(data: object) -> bool:
    """Is there an array among nested sequences?"""
    return isinstance(data, ndarray) or (isinstance(data, (list, tuple)) and any(map(_has_arrays, data)))


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
            if data._array.dtype.kind != "f":
                raise TypeError("only integer tensors of a single element can be converted to an index")
            raise ValueError("only one element tensors can be converted to Python scalars")
        if isinstance(data, Wrapper):
            data.item()  # raises inside vmap
        if data._requires_grad:
            float(data)  # warns
        return data._array.reshape(())[()]
    return data


def _ragged(data: Sequence, depth: int = 0) -> Exception:
    """PyTorch's error for sequences of unequal lengths."""
    if not isinstance(data, (list, tuple)):
        return None
    lengths = [len(x) if isinstance(x, (list, tuple)) else None for x in data]
    for n in lengths:
        if n != lengths[0]:
            if n is None or lengths[0] is None:
                deeper = isinstance(lengths[0], int)
                return TypeError(
                    "not a sequence" if deeper else "'list' object cannot be interpreted as an integer"
                )
            return ValueError(f"expected sequence of length {lengths[0]} at dim {depth + 1} (got {n})")
    for x in data:
        if isinstance(x, (list, tuple)):
            found = _ragged(x, depth + 1)
            if found is not None:
                return found
    return None


def _not_numbers(data: object, array: ndarray) -> Exception:
    """PyTorch's error for data that is not numbers."""
    first = data
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    items, deeper = [data], first is not data and isinstance(first, str)
    while items:
        item = items.pop(0)
        if isinstance(item, (list, tuple)):
            items.extend(item)
        elif isinstance(item, str):
            wrong = "too many dimensions 'str'" if deeper else "new(): invalid data type 'str'"
            return ValueError(wrong) if deeper else TypeError(wrong)
        elif isinstance(item, complex):
            return dtypes.no_complex()
        elif not isinstance(item, (bool, int, float, np.generic, ndarray)):
            return RuntimeError(f"Could not infer dtype of {full_name(type(item))}")
    if array.dtype.kind == "c":
        return dtypes.no_complex()
    if array.dtype.kind == "O":  # integers that have no room in an array
        return OverflowError("Overflow when unpacking long long")
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
    requires_grad: bool | None = None,
) -> Tensor:  # fmt: skip
    """`obj` as a tensor, which shares its memory where that is possible.

    copy: True copies in any case, False raises ValueError if that is needed. requires_grad: None leaves it as it is.
    """
    out = as_tensor(obj, dtype, device)
    if copy is False and out is not obj and not (isinstance(obj, ndarray) and out._array is obj):
        kind = "arbitrary sequence into a tensor" if not isinstance(obj, (Tensor, ndarray)) else None
        raise ValueError(f"can't alias {kind}." if kind else _no_alias(obj, out))
    if requires_grad is None and isinstance(obj, Tensor) and obj.requires_grad:
        warnings.warn(
            "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
            "requires_grad=False explicitly to get the old behavior and silence this warning.",
            UserWarning,
            stacklevel=3,
        )
    if requires_grad is False:
        out = out.detach()
    if copy and (out is obj or not isinstance(obj, Tensor)):
        out = out.clone()
    return out.requires_grad_() if requires_grad else out


def _no_alias(obj: object, out: Tensor) -> str:
    own = dtypes.word(obj.dtype if isinstance(obj, ndarray) else obj._array.dtype)
    return f"can't alias tensor with dtype '{own}' into dtype '{dtypes.word(out._array.dtype)}'."


def check_array(array: ndarray) -> None:
    """Raise PyTorch's error for an array that cannot be a tensor."""
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
            "supported. (You can probably work around this by making a copy of your array  with array.copy().) "
        )
    dtypes.of_numpy(array.dtype)


def from_numpy(array: ndarray) -> Tensor:
    """A tensor that shares the memory of a NumPy array. Raises TypeError for dtypes that there are no tensors of."""
    if not isinstance(array, ndarray):
        raise TypeError(f"expected np.ndarray (got {full_name(type(array))})")
    check_array(array)
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
    return _finish(dtypes.fitting(_number(s, "s", 1), _dtype(dtype)), requires_grad)


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
    *size: int, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False,
    memory_format: object = None, **names: tuple
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
    shape, value = lengths("full", "size", size), _number(fill_value)
    wanted = array_of(value, None).dtype if dtype is None else dtypes.to_numpy(dtype)
    return _finish(np.full(shape, dtypes.fitting(value, wanted), wanted), requires_grad)


def _like(fill):
    """The shape, dtype and layout of a tensor for a new one, which `fill(shape, dtype, *values)` makes."""

    def make(
        input: Tensor, values: tuple, dtype: dtypes.dtype | None, device: object, requires_grad: bool, memory_format: object
    ) -> Tensor:  # fmt: skip
        check_device(device)
        wanted = input._array.dtype if dtype is None else dtypes.to_numpy(dtype)
        make_array = (lambda shape, dtype: fill(shape, *values, dtype)) if values else fill
        rows = memory_format is not None and str(memory_format) == "torch.contiguous_format"
        array = (
            make_array(input._array.shape, wanted)
            if rows
            else laid_out_like(input._array, wanted, make_array)
        )
        return _finish(array, requires_grad, input)

    return make


_zeros_like, _ones_like, _empty_like, _full_like = map(_like, (np.zeros, np.ones, np.empty, np.full))


def zeros_like(
    input: Tensor, *, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False,
    memory_format: object = None,
) -> Tensor:  # fmt: skip
    """Zeros in the shape and dtype of `input`."""
    return _zeros_like(input, (), dtype, device, requires_grad, memory_format)


def ones_like(
    input: Tensor, *, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False,
    memory_format: object = None,
) -> Tensor:  # fmt: skip
    """Ones in the shape and dtype of `input`."""
    return _ones_like(input, (), dtype, device, requires_grad, memory_format)


def empty_like(
    input: Tensor, *, dtype: dtypes.dtype | None = None, device: object = None, requires_grad: bool = False,
    memory_format: object = None,
) -> Tensor:  # fmt: skip
    """Uninitialised memory in the shape and dtype of `input`."""
    return _empty_like(input, (), dtype, device, requires_grad, memory_format)


def full_like(
    input: Tensor, fill_value: float, *, dtype: dtypes.dtype | None = None, device: object = None,
    requires_grad: bool = False, memory_format: object = None,
) -> Tensor:  # fmt: skip
    """One value in the shape and dtype of `input`."""
    value = dtypes.fitting(
        _number(fill_value), input._array.dtype if dtype is None else dtypes.to_numpy(dtype)
    )
    return _full_like(input, (value,), dtype, device, requires_grad, memory_format)


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
    return method(name)(placed(new))


for _name, _fill in (("new_zeros", np.zeros), ("new_ones", np.ones), ("new_empty", np.empty)):
    _new(_name, _fill)


@method()
@placed
def new_full(
    self: Tensor, size: Sequence[int], fill_value: float, *, dtype: dtypes.dtype | None = None, device: object = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """One value in the given size and the dtype of this tensor."""
    check_device(device)
    wanted = self._array.dtype if dtype is None else dtypes.to_numpy(dtype)
    return _finish(
        np.full(lengths("new_full", "size", size), dtypes.fitting(_number(fill_value), wanted), wanted),
        requires_grad,
        self,
    )


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
    dtype = self.dtype if dtype is None else dtype
    if type(data) is Tensor:
        warn_of_copy("tensor.new_tensor")
        data = data._array
    return tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


# ---------------------------------------------------------------- counted


def arange(
    start: float = MISSING,
    end: float = MISSING,
    step: float = MISSING,
    *,
    dtype: dtypes.dtype | None = None,
    device: object = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers start, start + step, ... below end; integers if all three are."""
    check_device(device)
    if end is MISSING and step is MISSING and type(start) is int:
        start, end, step = 0, start, 1
    elif type(start) in PLAIN and type(end) in PLAIN and (step is MISSING or type(step) in PLAIN):
        step = 1 if step is MISSING else step
    else:
        start, end, step = _bounds(start, end, step)
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    wanted = np.dtype(np.int64) if dtype is None and whole else _dtype(dtype)
    if wanted.kind == "b":
        raise dtypes.not_implemented("arange_cpu", wanted)
    if whole:
        if step == 0:
            raise RuntimeError("step must be nonzero")
        count = -((start - end) // step)
    else:
        if not (math.isfinite(start) and math.isfinite(end)):
            raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
        # PyTorch cuts the fractions off first; for shorter integers, once it has counted
        if wanted == np.int64:
            start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise RuntimeError("step must be nonzero")
        count = math.ceil((end - start) / step)
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if wanted.kind != "f":
        start, step = int(start), int(step)
    return _finish((start + step * np.arange(count)).astype(wanted), requires_grad)


def _bounds(start: object, end: object, step: object) -> tuple[float, float, float]:
    """What `arange` counts from, up to and by. Raises TypeError unless they are numbers."""
    given = [v for v in (start, end, step) if v is not MISSING]
    numbers = [v.item() if isinstance(v, (Tensor, np.generic)) and not v.ndim else v for v in given]
    alone = end is step is MISSING and start is not MISSING
    whole = end is not MISSING and (step is MISSING or start is not MISSING)
    if not all(isinstance(v, (int, float)) for v in numbers) or not (alone or whole):
        if alone:
            raise TypeError(f"argument 'end' (position 1) must be Number, not {full_name(type(start))}")
        kinds = [full_name(type(v)) for v in given]
        if step is not MISSING and (start is MISSING or end is MISSING):
            kinds[-1] = "step=" + kinds[-1]
        raise TypeError(
            f"arange() received an invalid combination of arguments - got ({', '.join(kinds)}), but expected one of:\n"
            " * (Number end)\n * (Number start, Number end, Number step = 1)"
        )
    if alone or start is MISSING:
        numbers = [0, *numbers]
    return (*numbers, 1)[:3]


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
    start, end, steps = _ends("linspace", start, end, steps)
    return _finish(_spaced(start, end, steps, _dtype(dtype), "linspace").astype(_dtype(dtype)), requires_grad)


def _ends(name: str, *given: object) -> tuple[float, float, int]:
    """Start and end as numbers, and the number of steps. Raises RuntimeError or TypeError for what these cannot be."""
    *ends, steps = given
    long = [
        (which, t)
        for which, t in zip(("start", "end"), ends, strict=True)
        if isinstance(t, Tensor) and t.ndim
    ]
    if long:
        found = " and ".join(f"{which} with {t.ndim} dimension(s)" for which, t in long)
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {found}.")
    if not _is_length(steps) or isinstance(steps, bool):
        kinds = ", ".join(full_name(type(v)) for v in given)
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:\n"
            " * (Number start, Number end, int steps)"
        )
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if any(map(dtypes.is_complex, ends)):
        raise dtypes.no_complex()
    return (*(v.item() if isinstance(v, Tensor) else v for v in ends), operator.index(steps))


def _spaced(start: float, end: float, steps: int, wanted: np.dtype, name: str) -> ndarray:
    """Evenly spaced numbers, for a result of integers between integers, in double precision."""
    if wanted.kind == "b":
        raise dtypes.not_implemented(f"{name}_cpu", wanted)
    if wanted.kind == "f":
        if steps < 2:
            return np.full(steps, float(start))
        numbers = np.arange(steps) * ((end - start) / (steps - 1)) + start
        numbers[-1] = end
        return numbers
    start, end = int(start), int(end)
    if steps < 2:
        return np.full(steps, float(start))
    step, number = (end - start) / (steps - 1), np.arange(steps)
    if name == "logspace":
        return start + step * number
    return np.where(number < steps // 2, start + step * number, end - step * (steps - 1 - number))


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
    start, end, steps = _ends("logspace", start, end, steps)
    base = base.item() if isinstance(base, Tensor) and not base.ndim else base
    powers = np.power(float(base), _spaced(start, end, steps, _dtype(dtype), "logspace"))
    return _finish(powers.astype(_dtype(dtype)), requires_grad)


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
    return wrap(_corner("tril_indices", np.tril_indices, row, col, offset, dtype))


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The positions on and above a diagonal of a row × col matrix: a 2 × N tensor, rows first."""
    return wrap(_corner("triu_indices", np.triu_indices, row, col, offset, dtype))


def _corner(
    name: str, find: Callable, row: int, col: int, offset: int, dtype: dtypes.dtype | None
) -> ndarray:
    """Positions that `find` tells, rows first. Raises RuntimeError for negative lengths, TypeError for what are none."""
    for which, n in (("row", row), ("col", col)):
        if operator.index(n) < 0:
            raise RuntimeError(f"{which} must be non-negative, got{n}")  # sic
    wanted = np.dtype(np.int64) if dtype is None else dtypes.to_numpy(dtype)
    if wanted.kind == "f":
        raise dtypes.not_implemented(name, wanted)
    return np.stack(find(row, offset, col)).astype(wanted)


# ---------------------------------------------------------------- old constructors


def sizes_in(data: tuple) -> tuple | None:
    """The lengths in `Tensor(2, 3)`, `Tensor(size)` or `Tensor()`; None for data. Raises PyTorch's error if it is neither."""
    if len(data) == 1 and isinstance(data[0], Size):
        return data[0]
    if len(data) != 1 or isinstance(data[0], int):
        negative = next((n for n in data if n < 0), None)
        if negative is not None:
            raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {list(data)}")
        return data or (0,)
    if isinstance(data[0], str):
        raise TypeError("new(): invalid data type 'str'")
    if not hasattr(data[0], "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(data[0]).__name__})")
    return None


def given(data: tuple, dtype: dtypes.dtype) -> ndarray:
    """The array of `Tensor([1, 2])`, with these values, or of `Tensor(2, 3)`, of this shape and uninitialised."""
    size = sizes_in(data)
    return array_of(data[0], dtype) if size is None else np.empty(size, dtype.numpy)


def construct(cls: type[Tensor], *data: object) -> Tensor:
    """`Tensor([1, 2])`: a tensor of the default dtype with these values; `Tensor(2, 3)`: uninitialised, that shape.

    `Tensor(t)`: the tensor `t` without its history.
    """
    alone = data[0] if len(data) == 1 else None
    out = alone.detach() if isinstance(alone, Tensor) else wrap(given(data, dtypes.get_default_dtype()))
    out.__class__ = cls
    return out


Tensor.__new__ = construct


class TensorType:
    """`FloatTensor` and its like: an old constructor, and what `isinstance` and `Tensor.type` ask for a dtype by."""

    def __init__(self, dtype: dtypes.dtype):
        self.dtype, self.tensor_type = dtype, dtype.tensor_type
        self.__name__ = self.__qualname__ = dtype.tensor_type.removeprefix("torch.")
        self.__doc__ = f"A tensor of {dtype!r} with the given values, or of the given size."

    def __call__(self, *data: object) -> Tensor:
        return wrap(given(data, self.dtype))

    def __instancecheck__(self, found: object) -> bool:
        return isinstance(found, Tensor) and found.dtype is self.dtype

    def __repr__(self) -> str:
        return f"<class '{self.tensor_type}'>"

    def __reduce__(self) -> str:
        return self.__name__


FloatTensor, DoubleTensor, HalfTensor = map(TensorType, (dtypes.float32, dtypes.float64, dtypes.float16))
LongTensor, IntTensor, ShortTensor = map(TensorType, (dtypes.int64, dtypes.int32, dtypes.int16))
CharTensor, ByteTensor, BoolTensor = map(TensorType, (dtypes.int8, dtypes.uint8, dtypes.bool))


def set_default_tensor_type(t: TensorType | str, /) -> None:
    """`set_default_dtype` by the old name of a tensor type. PyTorch has deprecated it."""
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
        UserWarning,
        stacklevel=2,
    )
    name = getattr(t, "tensor_type", t)
    found = [d for d in vars(dtypes).values() if isinstance(d, dtypes.dtype) and d.tensor_type == name]
    if not found:
        raise TypeError(f"invalid type object: {name}")
    dtypes.set_default_dtype(found[0])


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
    return _finish(_laid_out("empty_strided", size, stride, _dtype(dtype)), requires_grad)


@method()
@placed
def new_empty_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], *, dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`empty_strided` in the dtype of this tensor."""
    wanted = self._array.dtype if dtype is None else dtypes.to_numpy(dtype)
    return _finish(_laid_out("new_empty_strided", size, stride, wanted), requires_grad)


def _laid_out(name: str, size: Sequence[int], stride: Sequence[int], wanted: np.dtype) -> ndarray:
    """Memory that is shown with these strides (counted in elements)."""
    size, stride = lengths(name, "size", size), lengths(name, "stride", stride, place=" (position 2)")
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    if any(s < 0 for s in stride):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    return blank(size, stride, wanted)


(
    zeros, ones, empty, full, zeros_like, ones_like, empty_like, full_like, arange, range, linspace, logspace, eye,
    tril_indices, triu_indices, empty_strided, scalar_tensor,
) = map(placed, (
    zeros, ones, empty, full, zeros_like, ones_like, empty_like, full_like, arange, range, linspace, logspace, eye,
    tril_indices, triu_indices, empty_strided, scalar_tensor,
))  # fmt: skip


__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor",
    "ShortTensor", "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_strided", "eye", "from_numpy",
    "frombuffer", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "range", "scalar_tensor",
    "set_default_tensor_type", "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like",
]  # fmt: skip
