"""The functions of nn.functional that look at neighbours: convolution and pooling.

Images are (N, C, H, W), rows are (N, C, L); N may be omitted. A window's options are one number, or one per dimension.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from .. import dtypes
from ..basics import check
from ..ops import images, pooling
from ..ops.arrange import constant_pad_nd
from ..ops.reduction import mean_dim
from ..ops.shape import squeeze, unsqueeze
from ..ops.signature import check_ints, is_int
from ..tensor import Tensor
from .functional_activations import in_functional

Sides = int | tuple  # one number for each spatial dimension, or one for all
Weight = Tensor | None
ODD_PADDING = "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be "
ODD_PADDING += "created"


def sides(value: int | Sequence[int], count: int = 2, name: str = "") -> tuple[int, ...]:
    """One number for each spatial dimension; a single number is used for all. Raises RuntimeError for another count."""
    check_ints(value, f"argument '{name or 'size'}'")
    value = [value] if is_int(value) else list(value)
    value = tuple(value * count if len(value) == 1 else value)
    text = "expected {} to be a single integer value or a list of {} values to match the convolution dimensions, but got {}={}"
    check(len(value) == count, text, name, count, name, list(value))
    return value


# ---------------------------------------------------------------- convolution


def _same(x: Tensor, window: tuple, stride: tuple, dilation: tuple) -> tuple[Tensor, tuple]:
    """`padding="same"`: dimensions that need uneven padding are padded here, the others by the convolution."""
    check(set(stride) == {1}, "padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, window, strict=True)]
    odd = [n % 2 for n in totals]
    if any(odd):
        warnings.warn(ODD_PADDING, stacklevel=5)
        x = constant_pad_nd(x, tuple([n for k in reversed(odd) for n in (0, k)]))
    return x, tuple([n // 2 for n in totals])


def convolved(
    name: str,
    input: Tensor,
    weight: Tensor,
    bias: Weight,
    stride: Sides,
    padding: Sides | str,
    dilation: Sides,
    groups: int,
) -> Tensor:
    count, x, window = int(name[4]), input._array, weight._array.shape
    text = f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {name}, but got input of size: {{}}"
    check(x.ndim in (count + 1, count + 2), text, x.shape)
    text = "Expected {0}-dimensional input for {0}-dimensional weight {1}, but got {2}-dimensional input of size {3} instead"
    check(len(window) == count + 2, text, len(window), window, x.ndim, x.shape)
    stride, dilation = sides(stride, count, "stride"), sides(dilation, count, "dilation")
    for word, numbers in (("stride", stride), ("dilation", dilation)):
        check(min(numbers) > 0, f"non-positive {word} is not supported")
    if x.ndim == count + 1:
        return squeeze(
            convolved(name, unsqueeze(input, 0), weight, bias, stride, padding, dilation, groups), 0
        )
    check(groups > 0, "expected groups to be greater than 0, but got groups={}", groups)
    if isinstance(padding, str):
        text = "Invalid padding string: '{}', should be one of 'valid' or 'same'"
        check(padding in ("same", "valid"), text, padding)
    channels = window[1] * groups
    text = "Given groups={}, weight of size {}, expected input{} to have {} channels, but got {} channels instead"
    check(x.shape[1] == channels, text, groups, window, x.shape, channels, x.shape[1])
    text = "Given groups={0}, expected weight to be divisible by {0} at dimension 0, but got weight of size {1} instead"
    check(window[0] % groups == 0, text, groups, window)
    if padding == "same":
        input, padding = _same(input, window[2:], stride, dilation)
        x = input._array
    padding = sides(0 if padding == "valid" else padding, count, "padding")
    check(min(padding) >= 0, "negative padding is not supported")
    size = [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]
    spans = [d * (k - 1) + 1 for d, k in zip(dilation, window[2:], strict=True)]
    text = "Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel size can't be greater than actual input "
    fits = all(n >= k for n, k in zip(size, spans, strict=True))
    check(fits, text + "size", *[" x ".join(map(str, numbers)) for numbers in (size, spans)])
    text = "kernel size should be greater than zero, but got kernel_height: {} kernel_width: {}"
    check(min(window[2:]) > 0, text, *(1, *window[2:])[-2:])
    text = "Input type ({.c_name}) and bias type ({.c_name}) should be the same"
    check(bias is None or bias.dtype is input.dtype, text, input.dtype, bias is not None and bias.dtype)
    text = "Given weight of size {}, expected bias to be 1-dimensional with {} elements, but got bias of size {} instead"
    check(
        bias is None or bias._array.shape == window[:1],
        text,
        window,
        window[0],
        bias is not None and bias._array.shape,
    )
    others = [t._array.dtype for t in (weight, bias) if t is not None and t._array.dtype != x.dtype]
    check(not others, "expected scalar type {.word} but found {.word}", x.dtype, *others[:1])
    return images.convolution(input, weight, bias, stride, padding, dilation, groups)


@in_functional
def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sides = 1, padding: Sides = 0, dilation: Sides = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, L) with a weight (O, C/groups, K). Options as for conv2d."""
    return convolved("conv1d", input, weight, bias, stride, padding, dilation, groups)


@in_functional
def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sides = 1, padding: Sides = 0, dilation: Sides = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, H, W) with a weight (O, C/groups, KH, KW).

    padding: the number of zeros around the image; "same" keeps its size, "valid" means none. dilation: the distance
    between the kernel's elements. groups: the number of separate convolutions, each over part of the channels.
    """
    return convolved("conv2d", input, weight, bias, stride, padding, dilation, groups)


def convolved_transposed(
    name: str, input: Tensor, weight: Tensor, bias: Weight, stride: Sides, padding: Sides, more: Sides, groups: int,
    dilation: Sides,
) -> Tensor:  # fmt: skip
    count, x, window = int(name[14]), input._array, weight._array.shape
    text = f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to {name}, but got input of size: {{}}"
    check(x.ndim in (count + 1, count + 2), text, x.shape)
    stride, padding, more, dilation = (sides(v, count, n) for v, n in (
        (stride, "stride"), (padding, "padding"), (more, "output_padding"), (dilation, "dilation")))  # fmt: skip
    if x.ndim == count + 1:
        result = convolved_transposed(
            name, unsqueeze(input, 0), weight, bias, stride, padding, more, groups, dilation
        )
        return squeeze(result, 0)
    text = "Given transposed=1, weight of size {}, expected input{} to have {} channels, but got {} channels instead"
    check(x.shape[1] == window[0], text, window, x.shape, window[0], x.shape[1])
    text = "output padding must be smaller than either stride or dilation, but got output_padding: {}, stride: {}, dilation: {}"
    fits = all(m < max(s, d) for m, s, d in zip(more, stride, dilation, strict=True))
    check(fits, text, list(more), list(stride), list(dilation))
    numbers = zip(x.shape[2:], stride, padding, dilation, window[2:], more, strict=True)
    size = tuple([(n - 1) * s - 2 * p + d * (k - 1) + m + 1 for n, s, p, d, k, m in numbers])
    others = [t._array.dtype for t in (weight, bias) if t is not None and t._array.dtype != x.dtype]
    check(not others, "expected scalar type {.word} but found {.word}", x.dtype, *others[:1])
    return images.convolution_transposed(input, weight, bias, size, stride, padding, dilation, groups)


@in_functional
def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sides = 1, padding: Sides = 0, output_padding: Sides = 0,
    groups: int = 1, dilation: Sides = 1,
) -> Tensor:  # fmt: skip
    """The transpose of conv1d as a linear map of its input: (N, C, L) with a weight (C, O/groups, K)."""
    return convolved_transposed(
        "conv_transpose1d", input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@in_functional
def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sides = 1, padding: Sides = 0, output_padding: Sides = 0,
    groups: int = 1, dilation: Sides = 1,
) -> Tensor:  # fmt: skip
    """The transpose of conv2d as a linear map of its input: (N, C, H, W) with a weight (C, O/groups, KH, KW)."""
    return convolved_transposed(
        "conv_transpose2d", input, weight, bias, stride, padding, output_padding, groups, dilation
    )


# ---------------------------------------------------------------- pooling


def _pool_options(
    name: str,
    input: Tensor,
    kernel: Sides,
    stride: Sides | None,
    padding: Sides,
    dilation: Sides,
    ceil_mode: bool,
) -> tuple[tuple, ...]:
    """Two numbers for each option; the stride is the kernel's size if it was left out. Raises PyTorch's errors."""
    size, given = (
        input._array.shape,
        {"kernel_size": kernel, "stride": stride, "padding": padding, "dilation": dilation},
    )
    for word, value in given.items():
        if word != "stride" or value is not None:
            check_ints(value, f"{name}(): argument '{word}'")
        count = len(value) if isinstance(value, (tuple, list)) else 1
        message = f"{name}: {word} must either be a single int, or a tuple of two ints"
        check(count in (1, 2) or (word == "stride" and value in (None, [], ())), message)
    kernel, padding, dilation = sides(kernel), sides(padding), sides(dilation)
    stride = kernel if stride in (None, [], ()) else sides(stride)
    check(min(stride) > 0, "stride should not be zero")
    check(len(size) in (3, 4), "non-empty 3D or 4D (batch mode) tensor expected for input")
    check(min(kernel) > 0, "kernel size should be greater than zero, but got kH: {} kW: {}", *kernel)
    for p, k, d in zip(padding, kernel, dilation, strict=True):
        check(p >= 0, "pad must be non-negative, but got pad: {}", p)
        message = "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and dilation={}"
        check(p <= ((k - 1) * d + 1) // 2, message, p, k, d)
    more = pooling.excess(size[-2:], kernel, stride, padding, dilation, ceil_mode)
    numbers = zip(size[-2:], kernel, stride, padding, dilation, more, strict=True)
    out = [(n + 2 * p + m - (k - 1) * d - 1) // s + 1 for n, k, s, p, d, m in numbers]
    message = (
        "Given input size: ({0}x{1}x{2}). Calculated output size: ({0}x{3}x{4}). Output size is too small"
    )
    check(min(out) > 0, message, *size[-3:], *out)
    return kernel, stride, padding, dilation


def _along_rows(input: Tensor, run: Callable) -> Tensor:
    """Apply a function of images to rows (N, C, L) or (C, L), taken as images one pixel high, as in PyTorch."""
    return squeeze(run(unsqueeze(input, -2)), -2)


def _high(value: Sides | None, one: int) -> tuple | None:
    """An option for rows as one for images: `one` is the value that leaves the height unchanged."""
    return None if value is None else (one, *sides(value, 1))


@in_functional
def max_pool2d(
    input: Tensor, kernel_size: Sides, stride: Sides | None = None, padding: Sides = 0, dilation: Sides = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """The largest element of each window of (N, C, H, W) or (C, H, W); with `return_indices` also its index in the plane.

    ceil_mode: include windows that reach beyond the padded image, if they begin before the padding at its end.
    """
    options = _pool_options("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode)
    result = pooling.max_pool(input, *options, ceil_mode)
    return tuple(result) if return_indices else result[0]


@in_functional
def max_pool1d(
    input: Tensor, kernel_size: Sides, stride: Sides | None = None, padding: Sides = 0, dilation: Sides = 1,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """The largest element of each window of (N, C, L) or (C, L)."""
    for word, value in (("dilation", dilation), ("kernel_size", kernel_size), ("stride", stride)):
        least = min(sides(1 if value is None else value, 1))
        check(least > 0, f"max_pool1d() {word} must be greater than zero, but got {{}}", least)
    dtypes.require("f", "max_pool1d_impl", input._array.dtype)
    given = _high(kernel_size, 1), _high(stride, 1), _high(padding, 0), _high(dilation, 1), ceil_mode
    return _along_rows(input, lambda rows: max_pool2d(rows, *given))


@in_functional
def avg_pool2d(
    input: Tensor, kernel_size: Sides, stride: Sides | None = None, padding: Sides = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window of (N, C, H, W) or (C, H, W); the padding counts as zeros if `count_include_pad`.

    divisor_override: the number to divide each window's sum by, instead of the count.
    """
    kernel, stride, padding, _ = _pool_options(
        "avg_pool2d", input, kernel_size, stride, padding, 1, ceil_mode
    )
    check(divisor_override != 0, "divisor must be not zero")
    return pooling.avg_pool(input, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)


@in_functional
def avg_pool1d(
    input: Tensor, kernel_size: Sides, stride: Sides | None = None, padding: Sides = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window of (N, C, L) or (C, L)."""
    given = _high(kernel_size, 1), _high(stride, 1), _high(padding, 0), ceil_mode, count_include_pad
    return _along_rows(input, lambda rows: avg_pool2d(rows, *given))


@in_functional
def adaptive_avg_pool2d(input: Tensor, output_size: Sides) -> Tensor:
    """The means of the bins into which (N, C, H, W) or (C, H, W) is divided, output_size per plane; None keeps a length."""
    size = input._array.shape[-2:]
    pair = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size, output_size)
    message = "adaptive_avg_pool2d(): argument 'output_size' must be tuple of ints, not {}"
    check(all(k is None or is_int(k) for k in pair), message, type(output_size), error=TypeError)
    check(len(pair) == 2, "adaptive_avg_pool2d: output_size must be 2")
    check(
        input._array.ndim in (3, 4),
        "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got {}",
        input._array.shape,
    )
    out = tuple([n if k is None else k for n, k in zip(size, pair, strict=True)])
    check(
        min(out) >= 0,
        "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received {}",
        out,
    )
    return mean_dim(input, (-1, -2), True) if out == (1, 1) else pooling.adaptive_avg_pool(input, out)


@in_functional
def adaptive_avg_pool1d(input: Tensor, output_size: Sides) -> Tensor:
    """The means of the bins into which each row of (N, C, L) or (C, L) is divided."""
    return _along_rows(input, lambda rows: adaptive_avg_pool2d(rows, (1, *sides(output_size, 1))))
