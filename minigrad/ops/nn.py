"""Operations of neural networks: convolution, pooling, padding, embedding, normalisation.

Users reach them through `minigrad.nn.functional`. Convolution, its two derivatives and their derivatives are three
operations that are each other's transposes, so gradients of any order need nothing more.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import warnings
from collections.abc import Callable
from typing import SupportsIndex

import numpy as np

from .. import dtypes
from ..memory import in_rows
from ..tensor import Tensor, full_name
from . import places
from .choice import refuse
from .indexing import no_repeats
from .sums import added, columns_added, even, in_single, is_half, ones, rows_added
from .table import define, first_of, is_array
from .windows import pooled_size

ndarray = np.ndarray
remembered = functools.lru_cache(maxsize=128)  # what depends on sizes alone is worked out once


def total(x, dims: tuple):
    """The sum over `dims`, kept as dimensions of length 1; of an array or a Tensor."""
    if not is_array(x):
        return x.sum(dims, keepdim=True)
    if dims == (x.ndim - 1,):
        return rows_added(x)
    return columns_added(x)[None] if dims == (0,) and x.ndim == 2 else added(x, dims, True)


def size_text(lengths: tuple) -> str:
    return " x ".join(map(str, lengths))


# ---------------------------------------------------------------- convolution
#
# ⟨y, conv(x, w)⟩ is linear in each of x, w, y. Its derivative by y is the convolution itself, by x
# `convolution_input(y, w)` (the transposed convolution), by w `convolution_weight(y, x)`.


@remembered
def _frame(size: tuple, padding: tuple) -> tuple[tuple, tuple]:
    """(lengths with `padding` = ((before, after), ...) more elements, the key of the elements that were there before)."""
    ends = list(zip(size, padding, strict=True))
    return tuple(n + a + b for n, (a, b) in ends), (..., *(slice(a, a + n) for n, (a, _) in ends))


def _padded(x: ndarray, padding: tuple, value: float = 0) -> ndarray:
    """`x` with `padding` = ((before, after), ...) more elements at the ends of its last dimensions."""
    if not any(map(any, padding)):
        return x
    lead = x.ndim - len(padding)
    size, inside = _frame(x.shape[lead:], padding)
    shape = x.shape[:lead] + size
    out = np.full(shape, value, x.dtype) if value else np.zeros(shape, x.dtype)
    out[inside] = x
    return out


def _windows(
    x: ndarray, out: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple
) -> ndarray:
    """What the kernel's elements meet at each output position: (C, *kernel, N, *out), a view of the padded input."""
    if any(padding):
        x = _padded(x, tuple([(p, p) for p in padding]))
    elif not x.flags.c_contiguous:
        x = x.copy()
    shape = (x.shape[1], *kernel, x.shape[0], *out)
    return ndarray(shape, x.dtype, x, 0, _window_strides(x.strides, stride, dilation))


@remembered
def _window_strides(strides: tuple, stride: tuple, dilation: tuple) -> tuple:
    inner = (d * b for d, b in zip(dilation, strides[2:], strict=True))
    outer = (s * b for s, b in zip(stride, strides[2:], strict=True))
    return (strides[1], *inner, strides[0], *outer)


@remembered
def _output_size(size: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple) -> tuple:
    ends = zip(size, kernel, stride, padding, dilation, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in ends)


def _convolve(
    x: ndarray, weight: ndarray, stride: tuple, padding: tuple, dilation: tuple, groups: int
) -> ndarray:
    kernel, channels, count = weight.shape[2:], weight.shape[0], x.shape[0]
    out = _output_size(x.shape[2:], kernel, stride, padding, dilation)
    patches = _windows(x, out, kernel, stride, padding, dilation)
    if groups == 1 == count:
        length = weight.shape[1] * math.prod(kernel)
        columns = patches.reshape(length, math.prod(out))
        return weight.reshape(channels, length).dot(columns).reshape(count, channels, *out)
    rows = weight.reshape(groups, channels // groups, -1)
    if count == 1:
        columns = patches.reshape(groups, rows.shape[2], math.prod(out))
    else:  # examples first
        columns = np.moveaxis(patches, len(kernel) + 1, 0).reshape(
            count, groups, rows.shape[2], math.prod(out)
        )
    return np.matmul(rows, columns).reshape(count, channels, *out)


def _convolve_input(y, weight, size, stride, padding, dilation, groups) -> ndarray:
    """The transpose of `_convolve` in x: each output value is spread over the `size` inputs that it was made from."""
    kernel, count, out = weight.shape[2:], y.shape[0], y.shape[2:]
    if groups == 1 == count:
        channels, length = weight.shape[0], weight.shape[1] * math.prod(kernel)
        columns = weight.reshape(channels, length).T.dot(y.reshape(channels, math.prod(out)))
    else:
        rows = weight.reshape(groups, weight.shape[0] // groups, -1)
        grads = y.reshape(count, groups, weight.shape[0] // groups, math.prod(out))
        columns = np.matmul(rows.swapaxes(-1, -2), grads)
    columns = columns.reshape(count, weight.shape[1] * groups, *kernel, *out)
    inside = None
    if any(padding):
        size, inside = _frame(size, tuple([(p, p) for p in padding]))
    full = np.zeros((*columns.shape[:2], *size), y.dtype)
    for at, window in _every_place(kernel, out, stride, dilation):
        part = full[window]
        part += columns[at]
    return full if inside is None else full[inside]


@remembered
def _every_place(kernel: tuple, out: tuple, stride: tuple, dilation: tuple) -> list[tuple[tuple, tuple]]:
    """For each position in the kernel: the key of it in (N, C, *kernel, *out), the key of the inputs that it meets."""
    positions = itertools.product(*map(range, kernel))
    return [((slice(None), slice(None), *at), _every(at, out, stride, dilation)) for at in positions]


def _every(at: tuple, out: tuple, stride: tuple, dilation: tuple) -> tuple:
    """The index of the elements that lie under position `at` of the kernel, one for each output."""
    places = zip(at, out, stride, dilation, strict=True)
    return (..., *(slice(k * d, k * d + s * (n - 1) + 1, s) for k, n, s, d in places))


def _convolve_weight(y, x, kernel, stride, padding, dilation, groups) -> ndarray:
    """The transpose of `_convolve` in the weight: how each kernel element met the inputs, weighted by y."""
    count, channels, out = x.shape[0], y.shape[1], y.shape[2:]
    patches = _windows(x, out, kernel, stride, padding, dilation)
    length = count * math.prod(out)
    if groups == 1:
        grads = (y if count == 1 else y.swapaxes(0, 1)).reshape(channels, length)
        columns = patches.reshape(x.shape[1] * math.prod(kernel), length)
        return grads.dot(columns.T).reshape(channels, x.shape[1], *kernel)
    columns = patches.reshape(groups, x.shape[1] // groups * math.prod(kernel), length)
    grads = (y if count == 1 else y.swapaxes(0, 1)).reshape(groups, channels // groups, length)
    return np.matmul(grads, columns.swapaxes(-1, -2)).reshape(channels, x.shape[1] // groups, *kernel)


def _spatial(t) -> tuple:
    return tuple(t.shape[2:])


convolution_input = define(
    "convolution_input", _convolve_input, kind="linear", node="ConvolutionBackwardBackward0",
    y=lambda grad, y_sym_sizes, weight, stride, padding, dilation, groups:
        _convolve_to(y_sym_sizes[2:], grad, weight, stride, padding, dilation, groups),
    weight=lambda grad, y, weight_sym_sizes, stride, padding, dilation, groups:
        convolution_weight(y, grad, weight_sym_sizes[2:], stride, padding, dilation, groups),
)  # fmt: skip
convolution_weight = define(
    "convolution_weight", _convolve_weight, kind="linear", node="ConvolutionBackwardBackward0",
    y=lambda grad, y_sym_sizes, x, stride, padding, dilation, groups:
        _convolve_to(y_sym_sizes[2:], x, grad, stride, padding, dilation, groups),
    x=lambda grad, y, x_sym_sizes, stride, padding, dilation, groups:
        convolution_input(y, grad, x_sym_sizes[2:], stride, padding, dilation, groups),
)  # fmt: skip


def _convolve_to(size, x, weight, stride, padding, dilation, groups):
    """A convolution of which the first `size` outputs count: an output padding can make room for more of them."""
    out = _convolution(x, weight, None, stride, padding, dilation, groups)
    return out if out.shape[2:] == size else out[(..., *map(slice, size))]


def _with_bias(out: ndarray, bias: ndarray | None) -> ndarray:
    if bias is not None:
        out += bias.reshape((-1,) + (1,) * (out.ndim - 2))
    return out


def _bias_gradient(grad):
    dims = (0, *range(2, len(grad.shape)))
    return total(grad, dims).reshape((grad.shape[1],))


def _conv_forward(input, weight, bias, stride, padding, dilation, groups):
    return _with_bias(_convolve(input, weight, stride, padding, dilation, groups), bias)


_convolution = define(
    "convolution", _conv_forward, node="ConvolutionBackward0", optional=("bias",), flat=("input", "weight"),
    jvp=lambda inputs, moves, results, params: conv_tangent(_convolution, inputs, moves, results[0], params),
    input=lambda grad, input_sym_sizes, weight, stride, padding, dilation, groups:
        convolution_input(grad, weight, input_sym_sizes[2:], stride, padding, dilation, groups),
    weight=lambda grad, input, weight_sym_sizes, stride, padding, dilation, groups:
        convolution_weight(grad, input, weight_sym_sizes[2:], stride, padding, dilation, groups),
    bias=lambda grad: _bias_gradient(grad),
)  # fmt: skip


def conv_tangent(op: Callable, primals: tuple, moves: tuple, result: Tensor, params: tuple) -> Tensor:
    """The tangent of a convolution, which is linear in the input and the weight, each by itself, and in the bias."""
    (input, weight, _), (dx, dw, db) = primals, moves
    parts = [] if dx is None else [op(dx, weight, None, *params)]
    if dw is not None:
        parts += [op(input, dw, None, *params)]
    if db is not None:
        parts += [db.reshape((-1,) + (1,) * (result.dim() - 2)).expand(result.shape)]
    return functools.reduce(operator.add, parts)


def _conv_transposed_forward(input, weight, bias, size, stride, padding, dilation, groups):
    out = _with_bias(_convolve_input(input, weight, size, stride, padding, dilation, groups), bias)
    return in_rows(out)


_convolution_transposed = define(
    "convolution", _conv_transposed_forward, node="ConvolutionBackward0", optional=("bias",), flat=("input", "weight"),
    jvp=lambda inputs, moves, results, params: conv_tangent(_convolution_transposed, inputs, moves, results[0], params),
    input=lambda grad, input_sym_sizes, weight, stride, padding, dilation, groups:
        _convolve_to(input_sym_sizes[2:], grad, weight, stride, padding, dilation, groups),
    weight=lambda grad, input, weight_sym_sizes, stride, padding, dilation, groups:
        convolution_weight(input, grad, weight_sym_sizes[2:], stride, padding, dilation, groups),
    bias=lambda grad: _bias_gradient(grad),
)  # fmt: skip


def per_dim(value: int | tuple | list, dims: int, name: str) -> tuple:
    """One number for each spatial dimension; a single number stands for all."""
    if isinstance(value, int):
        return (value,) * dims
    value = tuple(int(v) for v in value)
    if len(value) == 1:
        return value * dims
    if len(value) != dims:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dims} values to match the convolution dimensions, "
            f"but got {name}={list(value)}"
        )
    return value


def _check_input(caller: str, input, bias, dims: int) -> None:
    """Refuse a bias of another dtype, and inputs that are neither an example nor a batch of them."""
    (size, dtype) = input
    if bias is not None and bias[1] != dtype:
        words = {"float32": "float", "float64": "double", "int64": "long int", "float16": "c10::Half"}
        names = (words.get(d.name, d.name) for d in (dtype, bias[1]))
        raise RuntimeError("Input type ({}) and bias type ({}) should be the same".format(*names))
    if len(size) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {caller}, but got input of size: "
            f"{list(size)}"
        )


def _described(caller: str, input, weight, bias) -> tuple:
    """(shape, dtype) of each. Raises TypeError for what is no tensor."""
    for given, name, position in ((input, "input", 1), (weight, "weight", 2)):
        if not isinstance(given, Tensor):
            kind = full_name(type(given))
            raise TypeError(f"{caller}() received an invalid combination of arguments - got {kind} for '{name}' "
                            f"(position {position}), expected a Tensor")  # fmt: skip
    known = None if bias is None else (bias._array.shape, bias._array.dtype)
    return (input._array.shape, input._array.dtype), (weight._array.shape, weight._array.dtype), known


def hashable(value):
    return tuple(value) if type(value) is list else value


def conv_nd(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: int | tuple,
    padding: int | tuple | str,
    dilation: int | tuple,
    groups: int,
    dims: int,
) -> Tensor:
    """Convolution over `dims` spatial dimensions: (N, C, *in) or (C, *in) with a weight (O, C/groups, *kernel)."""
    caller = f"conv{dims}d"
    described = _described(caller, input, weight, bias)
    if isinstance(padding, str):
        _check_input(caller, described[0], described[2], dims)
        if input._array.ndim == dims + 1:
            batch = input.unsqueeze(0)
            return conv_nd(batch, weight, bias, stride, padding, dilation, groups, dims).squeeze(0)
        input, padding = _named_padding(input, weight, stride, padding, dilation, groups)
        described = _described(caller, input, weight, bias)
    try:
        options = _conv_options(caller, *described, stride, padding, 0, dilation, groups)
    except TypeError:  # there may be lists among them
        options = _conv_options(caller, *described, *map(hashable, (stride, padding, 0, dilation)), groups)
    stride, padding, _, dilation = options
    if input._array.ndim == dims + 1:
        return _convolution(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups).squeeze(0)
    return _convolution(input, weight, bias, stride, padding, dilation, groups)


@functools.lru_cache(maxsize=128, typed=True)
def _conv_options(
    caller: str, input, weight, bias, stride, padding, output_padding, dilation, groups: int
) -> tuple[tuple, tuple, tuple, tuple]:
    """(stride, padding, output_padding, dilation), one for each dimension.

    input, weight, bias: shape and dtype of each, the bias perhaps None. Raises PyTorch's errors, in its order.
    """
    dims, transposed = int(caller[-2]), "transpose" in caller
    _check_input(caller, input, bias, dims)
    (size, dtype), (weight_size, weight_dtype) = input, weight
    if len(size) == dims + 1:
        size = (1, *size)
    options = {"stride": stride, "padding": padding, "output_padding": output_padding, "dilation": dilation}
    spatial = len(weight_size) - 2
    if spatial < 1:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    for name, value in options.items():
        if isinstance(value, SupportsIndex):
            value = (value,) * dims
        elif not isinstance(value, tuple):
            raise TypeError(
                f"{caller}(): argument '{name}' must be tuple of ints, not {full_name(type(value))}"
            )
        options[name] = per_dim(value, spatial, name)
    stride, padding, output_padding, dilation = options.values()
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(output_padding) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) < 0:
        raise RuntimeError("dilation should be greater than zero")
    if spatial != dims:
        raise RuntimeError(
            f"Expected {len(weight_size)}-dimensional input for {len(weight_size)}-dimensional weight {list(weight_size)}, "
            f"but got {len(size)}-dimensional input of size {list(size)} instead"
        )
    given = f"Given groups={groups}, expected weight to be"
    if weight_size[0] < groups:
        raise RuntimeError(
            f"{given} at least {groups} at dimension 0, but got weight of size {list(weight_size)} instead"
        )
    if weight_size[0] % groups:
        raise RuntimeError(
            f"{given} divisible by {groups} at dimension 0, but got weight of size [{list(weight_size)}] instead"
        )
    channels = weight_size[0] if transposed else weight_size[1] * groups
    out_channels = weight_size[1] * groups if transposed else weight_size[0]
    if size[1] != channels:
        raise RuntimeError(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {list(weight_size)}, expected "
            f"input{list(size)} to have {channels} channels, but got {size[1]} channels instead"
        )
    if bias is not None and bias[0] != (out_channels,):
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {list(weight_size)}, expected bias to be "
            f"1-dimensional with {out_channels} elements, but got bias of size {list(bias[0])} instead"
        )
    padded = tuple(n + 2 * p for n, p in zip(size[2:], padding, strict=True))
    reach = tuple(d * (k - 1) + 1 for k, d in zip(weight_size[2:], dilation, strict=True))
    if not transposed and any(r > n for r, n in zip(reach, padded, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({size_text(padded)}). Kernel size: ({size_text(reach)}). Kernel "
            "size can't be greater than actual input size"
        )
    if 0 in dilation or 0 in weight_size[2:]:
        _refuse_zeros(transposed, weight_size[2:], dilation)
    if weight_dtype != dtype:
        kinds = (dtypes.of_numpy(d).tensor_type for d in (dtype, weight_dtype))
        names = (kind.removeprefix("torch.").removesuffix("Tensor") for kind in kinds)
        raise RuntimeError("expected scalar type {} but found {}".format(*names))
    return stride, padding, output_padding, dilation


def _refuse_zeros(transposed: bool, kernel: tuple, dilation: tuple) -> None:
    """Raise the error of a kernel or a dilation of length 0; PyTorch speaks of two dimensions where there is one."""
    names = ("depth", "height", "width")[-max(2, len(kernel)) :]
    kernel, dilation = ((1,) * (len(names) - len(v)) + v for v in (kernel, dilation))
    if 0 in kernel and len(names) == 3:
        raise RuntimeError(f"kernel size should be greater than zero, but got: {size_text(kernel)} (TxHxW)")
    if 0 in kernel:
        listed = " ".join(f"kernel_{name}: {n}" for name, n in zip(names, kernel, strict=True))
        raise RuntimeError(f"kernel size should be greater than zero, but got {listed}")
    listed = ", ".join(f"dilation_{name}: {n}" for name, n in zip(names, dilation, strict=True))
    raise RuntimeError(
        f"dilation should be greater than zero, but got {listed if transposed else list(dilation)}"
    )


def _named_padding(input: Tensor, weight: Tensor, stride, padding: str, dilation, groups: int):
    """`padding="same"` or "valid" as numbers; where "same" needs more at one end, the input is padded first."""
    if padding == "valid":
        return input, 0
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if weight._array.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    kernel, k = _spatial(weight), weight._array.ndim
    if input._array.ndim != k:
        raise RuntimeError(
            f"Expected {k}-dimensional input for {k}-dimensional weight{list(weight.shape)}, but got "
            f"{input._array.ndim}-dimensional input of size {list(input.shape)} instead"
        )
    stride, dilation = per_dim(stride, len(kernel), "stride"), per_dim(dilation, len(kernel), "dilation")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    whole = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    if any(n % 2 for n in whole):
        warnings.warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be "
            "created",
            UserWarning,
            stacklevel=4,
        )
        input = constant_pad_nd(input, tuple(v for n in reversed(whole) for v in (0, n % 2)), 0.0)
    return input, tuple(n // 2 for n in whole)


def conv_transpose_nd(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: int | tuple,
    padding: int | tuple,
    output_padding: int | tuple,
    groups: int,
    dilation: int | tuple,
    dims: int,
) -> Tensor:
    """The transpose of a convolution: (N, C, *in) with a weight (C, O/groups, *kernel)."""
    caller = f"conv_transpose{dims}d"
    described = _described(caller, input, weight, bias)
    options = map(hashable, (stride, padding, output_padding, dilation))
    stride, padding, extra, dilation = _conv_options(caller, *described, *options, groups)
    lengths = described[0][0][-dims:]
    size = _transposed_size(lengths, described[1][0][2:], stride, padding, extra, dilation)
    if input._array.ndim == dims + 1:
        batch = input.unsqueeze(0)
        return _convolution_transposed(batch, weight, bias, size, stride, padding, dilation, groups).squeeze(
            0
        )
    return _convolution_transposed(input, weight, bias, size, stride, padding, dilation, groups)


@remembered
def _transposed_size(lengths: tuple, kernel: tuple, stride, padding, extra, dilation) -> tuple:
    """The output lengths of a transposed convolution."""
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        _refuse_extra({"output_padding": extra, "stride": stride, "dilation": dilation})
    ends = zip(lengths, kernel, stride, padding, extra, dilation, strict=True)
    size = tuple((n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, e, d in ends)
    if min(size) < 1:
        before, after = (size_text((1,) * (2 - len(size)) + v) for v in (lengths, size))
        raise RuntimeError(
            f"Given input size per channel: ({before}). Calculated output size per channel: ({after}). Output size is too small"
        )
    return size


def _refuse_extra(given: dict[str, tuple]) -> None:
    """Raise the error of an output padding that is too large; PyTorch speaks of two dimensions where there is one."""
    dims = ("depth", "height", "width")[-max(2, len(given["stride"])) :]
    numbers = (
        f"{name}_{dim}: {n}"
        for name, values in given.items()
        for dim, n in zip(
            dims, (values if len(values) > 1 else (int(name != "output_padding"), *values)), strict=True
        )
    )
    raise RuntimeError(
        f"output padding must be smaller than either stride or dilation, but got {' '.join(numbers)}"
    )


# ---------------------------------------------------------------- pooling


@remembered
def _summed_windows(size, kernel, stride, padding, ceil_mode, count_include_pad, divisor, dtype):
    """(padding, a key for each position in the window, by how much its sum is divided)."""
    dense = (1,) * len(size)
    out = pooled_size(size, kernel, stride, padding, dense, ceil_mode)
    ends = zip(size, out, kernel, stride, padding, strict=True)
    reach = tuple(
        (p, max(0, (o - 1) * s + k - n - p)) for n, o, k, s, p in ends
    )  # so that every window lies inside
    keys = [_every(at, out, stride, dense) for at in itertools.product(*map(range, kernel))]
    if divisor is None:
        counts = []
        for n, o, k, s, p in zip(size, out, kernel, stride, padding, strict=True):
            start = np.arange(o) * s - p
            end = np.minimum(start + k, n + p)
            counts.append(end - start if count_include_pad else np.minimum(end, n) - np.maximum(start, 0))
        divisor = functools.reduce(np.multiply.outer, counts)
        if (divisor == divisor.flat[0]).all():
            divisor = divisor.flat[0]
    return reach, keys, np.asarray(divisor, dtype)


def _avg_pool_forward(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    reach, keys, divisor = _summed_windows(
        self.shape[-len(kernel_size) :], kernel_size, stride or kernel_size, padding, ceil_mode, count_include_pad,
        divisor_override, self.dtype,
    )  # fmt: skip
    values = _padded(self, reach)
    result = values[keys[0]]
    for key in keys[1:]:
        result = result + values[key]
    if self.dtype.kind != "f":  # towards zero
        refuse(self, "b" if self.dtype == np.int64 else "biu", f"avg_pool{len(kernel_size)}d_out_frame")
        return np.sign(result) * np.sign(divisor) * (np.abs(result) // np.abs(divisor))
    return in_rows(np.asarray(result / divisor))


def _avg_unpool_forward(
    self, sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    lead, size, step = sizes[: -len(kernel_size)], sizes[-len(kernel_size) :], stride or kernel_size
    reach, keys, divisor = _summed_windows(
        size, kernel_size, step, padding, ceil_mode, count_include_pad, divisor_override, self.dtype
    )
    framed, inside = _frame(size, reach)
    full = np.zeros(lead + framed, self.dtype)
    part = self / divisor
    if all(s >= k for s, k in zip(step, kernel_size, strict=True)):  # every place in one window at most
        for key in keys:
            full[key] = part
    else:
        for key in keys:
            full[key] += part
    return full[inside]


def _define_avg_pool(dims: int):
    pool = define(
        f"avg_pool{dims}d", _avg_pool_forward, kind="linear", node=f"AvgPool{dims}DBackward0", flat=("self",),
        self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: unpool(
            grad, tuple(self.shape), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),
    )  # fmt: skip
    unpool = define(
        f"avg_pool{dims}d_backward", _avg_unpool_forward, kind="linear", node=f"AvgPool{dims}DBackwardBackward0",
        self=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override:
            pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),
    )  # fmt: skip
    return pool


avg_pool2d, avg_pool3d = map(_define_avg_pool, (2, 3))


def _bins(size: tuple, out: tuple):
    """The windows of an adaptive pooling: pairs of (output position, slice of the input)."""
    edges = [
        [slice(i * n // o, -(-(i + 1) * n // o)) for i in range(o)] for n, o in zip(size, out, strict=True)
    ]
    return [
        ((..., i, j), (..., rows, columns))
        for i, rows in enumerate(edges[0])
        for j, columns in enumerate(edges[1])
    ]


def _adaptive_forward(self, output_size):
    refuse(self, "biu", "adaptive_avg_pool2d")
    result = np.empty(self.shape[:-2] + output_size, self.dtype)
    for at, window in _bins(self.shape[-2:], output_size):
        result[at] = np.mean(self[window], axis=(-2, -1))
    return result


def _adaptive_spread(self, sizes):
    result = np.zeros(sizes, self.dtype)
    for at, window in _bins(sizes[-2:], self.shape[-2:]):
        part = result[window]
        part += (self[at] / np.asarray(part.shape[-1] * part.shape[-2], self.dtype))[..., None, None]
    return result


adaptive_avg_pool2d = define(
    "adaptive_avg_pool2d", _adaptive_forward, kind="linear", node="AdaptiveAvgPool2DBackward0", flat=("self",),
    self=lambda grad, self: _adaptive_unpool(grad, tuple(self.shape)),
)  # fmt: skip
_adaptive_unpool = define(
    "adaptive_avg_pool2d_backward", _adaptive_spread, kind="linear", node="AdaptiveAvgPool2DBackwardBackward0",
    self=lambda grad, self_sym_sizes: adaptive_avg_pool2d(grad, tuple(self_sym_sizes[-2:])),
)  # fmt: skip


# ---------------------------------------------------------------- padding


@remembered
def _pad_layout(shape: tuple, pad: tuple) -> tuple[tuple, tuple, tuple]:
    """(the key of what is kept, the shape after padding, the key of what is kept there)."""
    pairs = [(0, 0)] * (len(shape) - len(pad) // 2) + list(zip(pad[-2::-2], pad[-1::-2], strict=True))
    if any(n + min(a, 0) + min(b, 0) < 0 for (a, b), n in zip(pairs, shape, strict=True)):
        raise RuntimeError("narrow(): length must be non-negative.")  # more is cut off than there is
    kept = tuple(slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(pairs, shape, strict=True))
    full = tuple(n + a + b for (a, b), n in zip(pairs, shape, strict=True))
    return kept, full, tuple(slice(max(0, a), n - max(0, b)) for (a, b), n in zip(pairs, full, strict=True))


def _constant_pad_forward(self, pad, value):
    kept, shape, place = _pad_layout(self.shape, pad)
    if value:
        out = np.empty(shape, self.dtype)
        out.fill(value)
    else:
        out = np.zeros(shape, self.dtype)
    out[place] = self[kept]
    return out


constant_pad_nd = define(
    "constant_pad_nd", _constant_pad_forward, node="ConstantPadNdBackward0",
    self=lambda grad, pad: constant_pad_nd(grad, tuple(-p for p in pad), 0.0),
)  # fmt: skip


def pad_index(mode: str, n: int, before: int, after: int) -> ndarray:
    """For each position along a padded dimension, the position in the unpadded one that it repeats."""
    at = np.arange(-before, n + after)
    if mode == "replicate":
        return at.clip(0, n - 1)
    if mode == "circular":
        first, end = max(-before, 0), n - max(-after, 0)  # of what is kept
        return first + (at - first) % (end - first)
    at = np.abs(at)  # reflect at the first element, then at the last
    return np.where(at >= n, 2 * (n - 1) - at, at)


def _index_pad_forward(self, padding, mode):
    dim = self.ndim - 1
    for before, after in zip(padding[0::2], padding[1::2], strict=True):
        self = np.take(self, pad_index(mode, self.shape[dim], before, after), axis=dim)
        dim -= 1
    return self


def _index_pad_fold(self, sizes, padding, mode):
    """The transpose: what was repeated is added up at the place that it was taken from."""
    dim = self.ndim - len(padding) // 2
    for before, after in zip(padding[-2::-2], padding[-1::-2], strict=True):
        n = sizes[dim]
        folded = np.zeros((n, *self.shape[:dim], *self.shape[dim + 1 :]), self.dtype)
        np.add.at(folded, pad_index(mode, n, before, after), np.moveaxis(self, dim, 0))
        self, dim = np.moveaxis(folded, 0, dim), dim + 1
    return np.ascontiguousarray(self)


def _define_index_pad(mode: str, node: str):
    pad = define(
        f"{mode}_pad", lambda self, padding: _index_pad_forward(self, padding, mode), kind="linear", node=node, flat=("self",),
        self=lambda grad, self, padding: fold(grad, tuple(self.shape), padding),
    )  # fmt: skip
    fold = define(
        f"{mode}_pad_backward", lambda self, sizes, padding: _index_pad_fold(self, sizes, padding, mode), kind="linear",
        node=node.replace("Backward0", "BackwardBackward0"),
        self=lambda grad, padding: pad(grad, padding),
    )  # fmt: skip
    return pad


index_pads = {
    (mode, dims): _define_index_pad(mode, f"{word}Pad{dims}DBackward0")
    for mode, word in (("reflect", "Reflection"), ("replicate", "Replication"), ("circular", "Circular"))
    for dims in (1, 2, 3)
}


# ---------------------------------------------------------------- embedding


def _embedding_forward(weight, indices, padding_idx, scale_grad_by_freq):
    if places.leaves(indices, weight.shape[0]):
        raise IndexError("index out of range in self")
    return weight.take(indices, 0)


def _embedding_spread(self, indices, rows, padding_idx, scale_grad_by_freq):
    """The transpose of looking up: the gradients of the same row are added up."""
    width, flat = self.shape[-1], indices.reshape(-1)
    if scale_grad_by_freq:
        self = self / np.bincount(flat)[indices][..., None].astype(self.dtype)
    out = np.zeros((rows, width), self.dtype)
    if no_repeats(flat):
        out[flat] = self.reshape(-1, width)
    else:
        at = flat[:, None] * width + np.arange(width)
        np.add.at(out.reshape(-1), at.reshape(-1), self.reshape(-1))
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


def _embedding_gather(self, indices, padding_idx, scale_grad_by_freq):
    """The transpose of `_embedding_spread`: looking up, zero for the padding."""
    out = self[indices]
    if padding_idx >= 0:
        out[indices == padding_idx] = 0
    if scale_grad_by_freq:
        out /= np.bincount(indices.reshape(-1))[indices][..., None].astype(self.dtype)
    return out


embedding = define(
    "embedding", _embedding_forward, kind="linear",
    weight=lambda grad, weight_sym_sizes, indices, padding_idx, scale_grad_by_freq:
        _embedding_backward(grad, indices, weight_sym_sizes[0], padding_idx, scale_grad_by_freq),
    indices=None,
)  # fmt: skip
_embedding_backward = define(
    "embedding_backward", _embedding_spread, kind="linear", node="EmbeddingDenseBackwardBackward0",
    self=lambda grad, indices, padding_idx, scale_grad_by_freq:
        _embedding_transposed(grad, indices, padding_idx, scale_grad_by_freq),
    indices=None,
)  # fmt: skip
_embedding_transposed = define(
    "embedding_transposed", _embedding_gather, kind="linear", node="EmbeddingBackward0",
    self=lambda grad, self_sym_sizes, indices, padding_idx, scale_grad_by_freq:
        _embedding_backward(grad, indices, self_sym_sizes[0], padding_idx, scale_grad_by_freq),
    indices=None,
)  # fmt: skip


# ---------------------------------------------------------------- normalisation
#
# x̂ = (x - m)·r with m the mean and r = 1/√(var + ε) over n elements, y = x̂·w + b. With g the gradient of y,
#
#     ∂b = Σ g    ∂w = Σ g·x̂    ∂x = r·(g·w - mean(g·w) - x̂·mean(g·w·x̂))          (Ioffe & Szegedy 2015, section 3)
#
# m and r are saved. Where a gradient is itself to be differentiated they are computed again, as functions of x. The
# sums are products with ones, and means with the like of 1/n, which are quicker than NumPy's reductions.


def _inverse_root(var: ndarray, eps: float) -> ndarray:
    out = var + np.asarray(eps, var.dtype)
    np.sqrt(out, out)
    return np.reciprocal(out, out)


@remembered
def _as_rows(shape: tuple, normalized_shape: tuple) -> tuple[tuple, tuple]:
    """(the shape of a matrix whose rows are what is normalised, the shape of the statistics)."""
    split = len(shape) - len(normalized_shape)
    rows = math.prod(shape[:split]), math.prod(normalized_shape)
    return rows, shape[:split] + (1,) * len(normalized_shape)


def _layer_norm_forward(input, weight, bias, normalized_shape, eps):
    kind = input.dtype.char
    if kind == "e":
        return in_single(_layer_norm_forward, input, weight, bias, normalized_shape, eps)
    if input.ndim != 2 or len(normalized_shape) != 1:
        rows, kept = _as_rows(input.shape, normalized_shape)
        weight, bias = (t if t is None else t.reshape(rows[1]) for t in (weight, bias))
        out, mean, rstd = _layer_norm_forward(input.reshape(rows), weight, bias, rows[1:], eps)
        return out.reshape(input.shape), mean.reshape(kept), rstd.reshape(kept)
    n = normalized_shape[0]
    share = even((n, 1), kind)
    mean = input.dot(share)
    out = input - mean
    rstd = _inverse_root((out * out).dot(share), eps)
    out *= rstd if weight is None else rstd.dot(weight.reshape((1, n)))
    if bias is not None:
        out += bias
    return out, mean, rstd


def layer_norm_backward(grad, grad_input_mask, input, weight, result1, result2, normalized_shape, _eps):
    """The gradients of x, w and b."""
    if is_half(grad):
        others = input, weight, result1, result2, normalized_shape, _eps
        return in_single(layer_norm_backward, grad, grad_input_mask, *others)
    sizes = input.shape
    if len(sizes) != 2 or len(normalized_shape) != 1:
        sizes = tuple(sizes)
        rows, _ = _as_rows(sizes, tuple(normalized_shape))
        found = layer_norm_backward(
            grad.reshape(rows), grad_input_mask, input.reshape(rows), weight if weight is None else weight.reshape(rows[1:]),
            result1.reshape((rows[0], 1)), result2.reshape((rows[0], 1)), rows[1:], _eps,
        )  # fmt: skip
        shapes = sizes, normalized_shape, normalized_shape
        return tuple(t if t is None else t.reshape(shape) for t, shape in zip(found, shapes, strict=True))
    for_input, for_weight, for_bias = grad_input_mask
    plain, n = type(grad) is ndarray, sizes[1]
    centred, rstd = input - (result1 if plain else input.mean(1, keepdim=True)), result2
    if not plain:
        rstd = ((centred * centred).mean(1, keepdim=True) + _eps).rsqrt()
    product = ndarray.dot if plain else operator.matmul
    grad_input = grad_weight = grad_bias = None
    if for_weight:
        grad_weight = product(rstd.reshape((-1,)), grad * centred)
    if for_bias:
        grad_bias = columns_added(grad) if plain else grad.sum(0)
    if for_input:
        share = even((n, 1), input.dtype.char) if plain else input.new_full((n, 1), 1 / n)
        scaled = grad * (rstd if weight is None else product(rstd, weight.reshape((1, n))))
        slope = product(scaled * centred, share) * (rstd * rstd)
        grad_input = scaled - centred * slope - product(scaled, share)
    return grad_input, grad_weight, grad_bias


native_layer_norm = define(
    "native_layer_norm", _layer_norm_forward, outputs=("result0", "result1", "result2"), constants=("result1", "result2"),
    optional=("weight", "bias"), flat=("input", "weight"),
    input=layer_norm_backward, weight=layer_norm_backward, bias=layer_norm_backward,
)  # fmt: skip
layer_norm = first_of(native_layer_norm)


def per_channel(values, x):
    """Values of the channels, shaped to be broadcast along dimension 1 of `x`."""
    ndim = len(x.shape)
    return values if ndim == 2 else values.reshape((-1,) + (1,) * (ndim - 2))


def _other_dims(x) -> tuple:
    return (0, *range(2, len(x.shape)))


def _channels(x: ndarray, weights: Callable) -> ndarray:
    """Each channel weighted and added up: by ones, or evenly for the mean."""
    char = x.dtype.char
    if x.ndim > 2:
        inner = math.prod(x.shape[2:])
        x = x.reshape((*x.shape[:2], inner)).dot(weights(inner, char))
    return weights(x.shape[0], char).dot(x)


def channel_sums(x):
    return _channels(x, ones) if is_array(x) else x.sum(_other_dims(x))


def channel_means(x):
    return _channels(x, even) if is_array(x) else x.mean(_other_dims(x))


def _batch_norm_forward(input, weight, bias, running_mean, running_var, training, eps):
    if is_half(input):
        return in_single(_batch_norm_forward, input, weight, bias, running_mean, running_var, training, eps)
    if training:
        mean = channel_means(input)
        out = in_rows(input - per_channel(mean, input))
        var = channel_means(out * out)
        rstd = _inverse_root(var, eps)
        out *= per_channel(rstd if weight is None else rstd * weight, input)
        if bias is not None:
            out += per_channel(bias, input)
        return out, mean, rstd, var
    scale = _inverse_root(running_var, eps)
    if weight is not None:
        scale *= weight
    shift = running_mean * scale
    out = in_rows(input * per_channel(scale, input))
    out += per_channel(np.negative(shift) if bias is None else bias - shift, input)
    return out, *(np.empty(0, input.dtype),) * 3


def batch_norm_backward(
    grad, grad_input_mask, input, weight, running_mean, running_var, result1, result2, training, eps
):
    """The gradients of x, w and b."""
    if is_half(grad):
        means, roots = (running_mean, running_var), (result1, result2)
        return in_single(
            batch_norm_backward, grad, grad_input_mask, input, weight, *means, *roots, training, eps
        )
    for_input, for_weight, for_bias = grad_input_mask
    mean, rstd = (result1, result2) if training else (running_mean, (running_var + eps) ** -0.5)
    anew = training and not is_array(grad)
    if anew:
        mean = channel_means(input)
    if for_weight or training:
        centred = input - per_channel(mean, input)
        if anew:
            rstd = (channel_means(centred * centred) + eps).rsqrt()
        along = channel_sums(grad * centred)
    total = channel_sums(grad) if for_bias or training else None
    grad_input = None
    if for_input:
        grad_input, scale = grad, rstd if weight is None else rstd * weight
        if training:
            n = math.prod(input.shape) // input.shape[1]
            slope = per_channel(along * (rstd * rstd) / n, input)
            grad_input = grad - per_channel(total / n, input) - centred * slope
        grad_input = grad_input * per_channel(scale, input)
    return grad_input, along * rstd if for_weight else None, total if for_bias else None


native_batch_norm = define(
    "native_batch_norm", _batch_norm_forward, outputs=("result0", "result1", "result2", "batch_var"),
    constants=("result1", "result2", "batch_var"),
    optional=("weight", "bias", "running_mean", "running_var"), flat=("input", "weight"),
    input=batch_norm_backward, weight=batch_norm_backward, bias=batch_norm_backward, running_mean=None, running_var=None,
)  # fmt: skip
batch_norm = first_of(native_batch_norm)


# The statistics of group_norm are results with a gradient, in PyTorch too: ∂m/∂x = 1/n, ∂r/∂x = -r²x̂/n.


def _group_norm_forward(input, weight, bias, group, eps):
    if is_half(input):
        return in_single(_group_norm_forward, input, weight, bias, group, eps)
    rows = (input.shape[0] * group, math.prod(input.shape[1:]) // group)
    out, mean, rstd = _layer_norm_forward(input.reshape(rows), None, None, rows[1:], eps)
    out = out.reshape(input.shape)
    if weight is not None:
        out *= per_channel(weight, input)
    if bias is not None:
        out += per_channel(bias, input)
    return out, mean.reshape(-1, group), rstd.reshape(-1, group)


def group_norm_backward(grads, grad_input_mask, input, weight, result1, result2, group):
    """The gradients of x, w and b."""
    if is_half(input):
        return in_single(
            lambda *of: group_norm_backward(of[:3], grad_input_mask, *of[3:]),
            *grads, input, weight, result1, result2, group,
        )  # fmt: skip
    for_input, for_weight, for_bias = grad_input_mask
    grad, grad_mean, grad_rstd = grads
    sizes = tuple(input.shape)
    n = math.prod(sizes[1:]) // group
    rows, column = (sizes[0], group, n), (sizes[0], group, 1)
    rstd = result2.reshape(column)
    centred = input.reshape(rows) - result1.reshape(column)
    parts, grad_weight, grad_bias = [], None, None
    if grad is not None:
        if for_weight:
            grad_weight = channel_sums(grad * (centred * rstd).reshape(sizes))
        if for_bias:
            grad_bias = channel_sums(grad)
        if for_input:
            d = (grad if weight is None else grad * per_channel(weight, input)).reshape(rows)
            slope = total(d * centred, (2,)) * (rstd * rstd) / n
            parts += [rstd * (d - total(d, (2,)) / n - centred * slope)]
    if for_input and grad_mean is not None:
        parts += [grad_mean.reshape(column) / n + centred * 0.0]
    if for_input and grad_rstd is not None:
        parts += [grad_rstd.reshape(column) * (rstd * rstd * rstd * centred) / -n]
    grad_input = functools.reduce(operator.add, parts).reshape(sizes) if parts else None
    return grad_input, grad_weight, grad_bias


native_group_norm = define(
    "native_group_norm", _group_norm_forward, outputs=("result0", "result1", "result2"), optional=("weight", "bias"),
    input=group_norm_backward, weight=group_norm_backward, bias=group_norm_backward,
)  # fmt: skip
group_norm = first_of(native_group_norm)

__all__ = []
