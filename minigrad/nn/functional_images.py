"""Images as functions: other sizes, windows as columns, padding, pooling; `minigrad.nn.functional` offers them.

Signatures and errors are PyTorch's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from operator import index
from typing import SupportsIndex

import numpy as np

from ..autograd.grad_mode import local
from ..ops import images
from ..ops import nn as ops
from ..ops.indexing import slice_along
from ..ops.maxima import adaptive_max_pool, max_pool, max_pool_alone
from ..ops.nn import conv_transpose_nd, per_dim
from ..ops.windows import check_max_pool1d, pool_window
from ..tensor import Tensor, wrap


def tensor_argument(input: object, caller: str) -> None:
    """Raise TypeError unless `input` is a tensor."""
    if not isinstance(input, Tensor):
        kind = type(input)
        name = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
        raise TypeError(f"{caller}(): argument 'input' (position 1) must be Tensor, not {name}")


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | tuple = 1,
    padding: int | tuple = 0,
    output_padding: int | tuple = 0,
    groups: int = 1,
    dilation: int | tuple = 1,
) -> Tensor:
    """The transpose of conv3d: (N, C, D, H, W) with a weight (C, O/groups, KD, KH, KW)."""
    return conv_transpose_nd(input, weight, bias, stride, padding, output_padding, groups, dilation, 3)


# ---------------------------------------------------------------- other sizes

MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
KINDS = {"nearest": "nearest", "nearest-exact": "nearest-exact", "linear": "linear", "bilinear": "linear",
         "trilinear": "linear", "bicubic": "cubic"}  # fmt: skip
DIMS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """(N, C, L), (N, C, H, W) or (N, C, D, H, W) in another size, or larger by scale_factor.

    mode: "nearest", "nearest-exact", "linear"/"bilinear"/"trilinear" for one, two, three dimensions, "bicubic", "area"
    (means). align_corners: the first and last elements keep their places. Raises ValueError or NotImplementedError.
    """
    dims = input.dim() - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    else:
        align_corners = bool(align_corners)
    spatial = list(input.shape[2:])
    out, scales = _target(spatial, dims, size, scale_factor)
    if recompute_scale_factor:
        if size is not None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        scales = None
    if antialias:
        if mode not in ("bilinear", "bicubic") or dims != 2:
            raise ValueError(
                "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
            )
        raise NotImplementedError("interpolate(antialias=True) is not there; antialias=False is")
    if not 1 <= dims <= 3 or mode not in (*KINDS, "area"):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims + 2}D) for the modes: {MODES} (got {mode})"
        )
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[dims - 1](input, out)
    if mode in DIMS and dims != DIMS[mode]:
        raise NotImplementedError(f"Got {dims + 2}D input, but {mode} mode needs {DIMS[mode] + 2}D input")
    if 0 in out or 0 in spatial:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input (H: {spatial[0]}) output (H: {out[0]})"
        )
    kind = KINDS[mode]
    steps = [None] * dims if scales is None else [1 / s for s in scales]
    hows = tuple(
        ("resample", kind, n, o, step, bool(align_corners))
        for n, o, step in zip(spatial, out, steps, strict=True)
    )
    return images.resampling[kind, dims](input, hows)


def _target(spatial: list, dims: int, size, scale_factor) -> tuple[list[int], list[float] | None]:
    """(the lengths of the output, the factors if these were given)."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    given = size if size is not None else scale_factor
    if isinstance(given, (list, tuple)):
        if len(given) != dims:
            kind, what, letter = ("output", "output size of", "o")
            if size is None:
                kind, what, letter = ("scale_factor", "scale_factor of shape", "s")
            raise ValueError(
                f"Input and {kind} must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{spatial} and {what} {given}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                f"{what.split(' of')[0]} in ({letter}1, {letter}2, ...,{letter}K) format."
            )
        given = list(given)
    else:
        given = [given] * dims
    if size is not None:
        return [int(n) for n in given], None
    factors = [float(f) for f in given]
    return [math.floor(n * f) for n, f in zip(spatial, factors, strict=True)], factors


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Groups of r² channels as r × r pixels: (*, C·r², H, W) → (*, C, H·r, W·r)."""
    if input.dim() < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)"
        )
    if upscale_factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    if input.shape[-3] % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={input.shape[-3]} is not divisible by {upscale_factor**2}"
        )
    return images.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Squares of r × r pixels as r² channels: (*, C, H·r, W·r) → (*, C·r², H, W)."""
    if input.dim() < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)"
        )
    if downscale_factor <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
    for dim, name in ((-2, "height"), (-1, "width")):
        if input.shape[dim] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({dim})="
                f"{input.shape[dim]} is not divisible by {downscale_factor}"
            )
    return images.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels of (N, C, *) in another order: the first of each group, then the second of each, ..."""
    if input.dim() < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if input.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and {groups} groups."
        )
    return images.channel_shuffle(input, groups)


# ---------------------------------------------------------------- windows as columns


def unfold(
    input: Tensor,
    kernel_size: int | tuple,
    dilation: int | tuple = 1,
    padding: int | tuple = 0,
    stride: int | tuple = 1,
) -> Tensor:
    """The windows of (N, C, H, W) as columns: (N, C·KH·KW, number of windows); without N both have one dimension less."""
    tensor_argument(input, "im2col")
    options = [per_dim(v, 2, name) for v, name in ((kernel_size, "kernel_size"), (dilation, "dilation"),
                                                   (padding, "padding"), (stride, "stride"))]  # fmt: skip
    if input.dim() not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but "
            f"got: {list(input.shape)}"
        )
    blocks = _blocks(tuple(input.shape[-2:]), *options)
    if min(blocks) < 1:
        kernel, dilation, padding, stride = map(_text, options)
        raise RuntimeError(
            f"Given input with spatial size {_text(input.shape[-2:])}, kernel_size={kernel}, dilation={dilation}, "
            f"padding={padding}, stride={stride}, calculated shape of the array of sliding blocks as {_text(blocks)}, but its "
            "components must be at least one."
        )
    kernel, dilation, padding, stride = options
    return images.im2col(input, kernel, dilation, padding, stride)


def _text(sizes: Sequence[int]) -> str:
    return f"({', '.join(map(str, sizes))})"


def _blocks(size: tuple, kernel: tuple, dilation: tuple, padding: tuple, stride: tuple) -> list[int]:
    ends = zip(size, kernel, dilation, padding, stride, strict=True)
    return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in ends]


def fold(
    input: Tensor,
    output_size: int | tuple,
    kernel_size: int | tuple,
    dilation: int | tuple = 1,
    padding: int | tuple = 0,
    stride: int | tuple = 1,
) -> Tensor:
    """Columns (N, C·KH·KW, windows) put back as an image (N, C, *output_size); what overlaps is added up."""
    tensor_argument(input, "col2im")
    size, kernel, dilation, padding, stride = (
        per_dim(v, 2, name)
        for v, name in ((output_size, "output_size"), (kernel_size, "kernel_size"), (dilation, "dilation"),
                        (padding, "padding"), (stride, "stride"))
    )  # fmt: skip
    if input.dim() not in (2, 3):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, "
            f"but got: {list(input.shape)}"
        )
    if input.shape[-2] % math.prod(kernel):
        raise RuntimeError(
            f"Expected size of input's dimension {input.dim() - 2} to be divisible by the product of kernel_size, but got "
            f"input.size({input.dim() - 2})={input.shape[-2]} and kernel_size={_text(kernel)}."
        )
    rows, columns = _blocks(size, kernel, dilation, padding, stride)
    if input.shape[-1] != rows * columns:
        given = (
            ("output_size", size),
            ("kernel_size", kernel),
            ("dilation", dilation),
            ("padding", padding),
            ("stride", stride),
        )
        listed = ", ".join(f"{name}={_text(value)}" for name, value in given)
        last = input.dim() - 1
        raise RuntimeError(
            f"Given {listed}, expected size of input's dimension {last} to match the calculated number of sliding blocks "
            f"{rows} * {columns} = {rows * columns}, but got input.size({last})={input.shape[-1]}."
        )
    return images.col2im(input, size, kernel, dilation, padding, stride)


# ---------------------------------------------------------------- padding


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """`input` with more elements at the ends of its last dimensions.

    pad: (before, after) of the last dimension, then of the one before it, ...; negative numbers cut off.
    mode: "constant" (filled with `value`, default 0), "reflect", "replicate" or "circular".
    """
    pad = tuple(int(p) for p in pad)
    dims, size = len(pad) // 2, input._array.shape
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if dims > len(size):
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {len(size)}"
        )
    if mode == "constant":
        return ops.constant_pad_nd(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if dims not in (1, 2, 3) or len(size) not in (dims + 1, dims + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {len(size)}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "circular":
        return _wrapped_around(input, pad)
    if 0 in size[len(size) - dims - 1 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
            f"for input, but got: {list(size)}"
        )
    if mode == "reflect":
        _check_reflection(input, pad)
    return ops.index_pads[mode, dims](input, pad)


def _wrapped_around(input: Tensor, pad: tuple) -> Tensor:
    """Circular padding in PyTorch's steps: the middle is copied to its place, then each end from the other end."""
    size, last = input._array.shape, input._array.ndim - 1
    pairs = {last - i: pad[2 * i : 2 * i + 2] for i in range(len(pad) // 2)}
    shape = list(size)
    for dim, (before, after) in reversed(pairs.items()):
        shape[dim] += before + after
        if max(before, after) > size[dim]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if shape[dim] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    if local.interpreter is not None:  # a transform sees one operation
        return ops.index_pads["circular", len(pairs)](input, pad)
    out = wrap(np.empty(shape, input._array.dtype))
    inner, kept = out, input
    for dim, (before, after) in pairs.items():
        inner = slice_along(inner, dim, max(before, 0), shape[dim] - max(after, 0))
        kept = slice_along(kept, dim, max(-before, 0), size[dim] - max(-after, 0))
    inner.copy_(kept)
    for dim, (before, after) in pairs.items():
        end = shape[dim] - max(after, 0)
        if before > 0:
            slice_along(out, dim, 0, before).copy_(slice_along(out, dim, end - before, end))
        if after > 0:
            start = max(before, 0)
            slice_along(out, dim, end, shape[dim]).copy_(slice_along(out, dim, start, start + after))
    return out


def _check_reflection(input: Tensor, pad: tuple) -> None:
    for i in range(len(pad) // 2):
        dim = input.dim() - 1 - i
        if max(pad[2 * i : 2 * i + 2]) >= input.shape[dim]:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({pad[2 * i]}, {pad[2 * i + 1]}) at dimension {dim} of input {list(input.shape)}"
            )


# ---------------------------------------------------------------- pooling


def _window(
    input: Tensor,
    caller: str,
    kernel_size,
    stride,
    padding,
    dilation=1,
    ceil_mode=False,
    divisor=None,
    binding="",
) -> tuple[tuple, tuple, tuple, tuple, tuple]:
    """The window of a pooling, see `pool_window`. binding: what PyTorch calls the function that it ends in."""
    tensor_argument(input, binding or caller)
    shape = input._array.shape
    try:
        return pool_window(caller, shape, kernel_size, stride, padding, dilation, ceil_mode, divisor)
    except TypeError:
        options = tuple(map(ops.hashable, (kernel_size, stride, padding, dilation)))
        _refuse_numbers(binding or caller, options)
        return pool_window(caller, shape, *options, ceil_mode, divisor)  # there were lists among them


def _refuse_numbers(caller: str, options: tuple) -> None:
    """Raise the error of a window's first option that is neither an integer nor several."""
    for position, (name, value) in enumerate(zip(WINDOW, options, strict=True), 2):
        place = f" (position {position})" if caller.startswith("max") else ""
        if value is not None and not isinstance(value, tuple | SupportsIndex):
            raise TypeError(
                f"{caller}(): argument '{name}'{place} must be tuple of ints, not {type(value).__name__}"
            ) from None
        for at, part in enumerate(value if isinstance(value, tuple) else ()):
            if not isinstance(part, SupportsIndex):
                raise TypeError(
                    f"{caller}(): argument '{name}'{place} must be tuple of ints, but found element of type "
                    f"{type(part).__name__} at pos {at}"
                ) from None


WINDOW = ("kernel_size", "stride", "padding", "dilation")


def max_pool2d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    dilation: int | tuple = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The maximum of each window of (N, C, H, W) or (C, H, W); the gradient goes to the first of equal maxima.

    return_indices: also the position of each maximum in its plane, counted row by row.
    """
    binding = "max_pool2d_with_indices" if return_indices else ""
    kernel, step, padding, dilation, _ = _window(
        input, "max_pool2d", kernel_size, stride, padding, dilation, ceil_mode, binding=binding
    )
    pool = max_pool[2] if return_indices else max_pool_alone[2]
    return pool(input, kernel, () if stride is None else step, padding, dilation, ceil_mode)


def _one_dim(caller: str, input: Tensor, options: tuple, names: tuple = WINDOW) -> tuple[Tensor, list]:
    """The input and the options of a one-dimensional pooling for the two-dimensional one with height 1."""
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.dim()}-dimensional tensor for argument #1 'self' (while checking "
            f"arguments for {caller})"
        )
    found = []
    for name, other, value in zip(names, (1, 1, 0, 1), options, strict=False):
        if value is not None and type(value) is not int and not isinstance(value, SupportsIndex):
            if len(value) != 1 and not (name == "stride" and len(value) == 0):
                raise RuntimeError(f"{caller}() argument '{name}' should contain one int (got {len(value)})")
            value = value[0] if len(value) else None
        found.append(None if value is None else (other, value))
    return input.unsqueeze(-2), found


def max_pool1d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    dilation: int | tuple = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The maximum of each window of (N, C, L) or (C, L)."""
    caller = "max_pool1d_with_indices" if return_indices else "max_pool1d"
    tensor_argument(input, caller)
    options = tuple(map(ops.hashable, (kernel_size, stride, padding, dilation)))
    try:
        if not return_indices:
            check_max_pool1d(input._array.shape, *options, ceil_mode)
        rows, window = _one_dim("max_pool1d", input, options)
    except TypeError:
        _refuse_numbers(caller, options)
        raise
    if window[1] is None:
        window[1] = window[0]
    found = max_pool2d(rows, *window, ceil_mode, return_indices)
    return (found[0].squeeze(-2), found[1].squeeze(-2)) if return_indices else found.squeeze(-2)


def avg_pool2d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of (N, C, H, W) or (C, H, W); with count_include_pad padding counts as zeros."""
    kernel, step, padding, _, _ = _window(
        input, "avg_pool2d", kernel_size, stride, padding, 1, ceil_mode, divisor_override
    )
    step = () if stride is None else step
    return ops.avg_pool2d(input, kernel, step, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool1d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of (N, C, L) or (C, L)."""
    tensor_argument(input, "avg_pool1d")
    try:
        rows, window = _one_dim("avg_pool1d", input, (kernel_size, stride, padding))
    except TypeError:
        _refuse_numbers("avg_pool1d", (kernel_size, stride, padding, 1))
        raise
    return avg_pool2d(rows, *window, ceil_mode, count_include_pad).squeeze(-2)


def _adaptive_size(input: Tensor, output_size, dims: int, caller: str) -> tuple[int, ...]:
    """The output lengths of an adaptive pooling in two or three dimensions; None keeps a length."""
    tensor_argument(input, caller)
    return _adaptive_lengths(input._array.shape, ops.hashable(output_size), dims, caller)


@functools.lru_cache(maxsize=128, typed=True)
def _adaptive_lengths(shape: tuple, output_size, dims: int, caller: str) -> tuple[int, ...]:
    if isinstance(output_size, SupportsIndex):
        size = (index(output_size),) * dims
    else:
        if len(shape) <= len(output_size):
            raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
        lengths = shape[len(shape) - len(output_size) :]
        size = tuple(n if want is None else want for want, n in zip(output_size, lengths, strict=True))
    for at, length in enumerate(size):
        if not isinstance(length, SupportsIndex):
            raise TypeError(
                f"{caller}(): argument 'output_size' (position 2) must be tuple of ints, but found element of type "
                f"{type(length).__name__} at pos {at}"
            )
    (_check_adaptive_max if "max" in caller else _check_adaptive_avg)(shape, size, dims, caller)
    return size


def _check_adaptive_max(shape: tuple, size: tuple, dims: int, caller: str) -> None:
    _check_not_empty(shape, dims, caller, range(1, len(shape)), ":")
    if len(size) != dims:
        raise RuntimeError(f"{caller}(): internal error: output_size.size() must be {dims}")
    if min(size) < 0:
        whole = [*shape[:-dims], *size]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {whole}")


def _check_adaptive_avg(shape: tuple, size: tuple, dims: int, caller: str) -> None:
    if len(size) != dims:
        raise RuntimeError(f"{caller}: output_size must be {dims}")
    if min(size) < 0:
        raise RuntimeError(
            f"{caller}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{', '.join(map(str, size[:2]))}{''.join(f',{n}' for n in size[2:])}}}"
        )
    if size != (1,) * dims:  # that is a mean, of anything
        _check_not_empty(shape, dims, caller, range(len(shape) - dims, len(shape)), "")


def _check_not_empty(shape: tuple, dims: int, caller: str, looked_at: range, colon: str) -> None:
    if len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{caller}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(shape)}"
        )
    for dim in looked_at:
        if shape[dim] == 0:
            raise RuntimeError(
                f"{caller}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(shape)} with dimension {dim} being empty"
            )


def _adaptive_rows(input: Tensor, output_size, caller: str) -> tuple[Tensor, tuple[int, int]]:
    """Input and output size of an adaptive pooling in one dimension, for that in two dimensions with height 1."""
    tensor_argument(input, caller)
    if not isinstance(output_size, SupportsIndex):
        place = "" if "avg" in caller else " (position 2)"
        if not isinstance(output_size, Sequence):
            kind = type(output_size).__name__
            raise TypeError(f"{caller}(): argument 'output_size'{place} must be tuple of ints, not {kind}")
        for at, length in enumerate(output_size):
            if not isinstance(length, SupportsIndex):
                raise TypeError(
                    f"{caller}(): argument 'output_size'{place} must be tuple of ints, but found element of type "
                    f"{type(length).__name__} at pos {at}"
                )
    rows, ((_, length),) = _one_dim(caller, input, (output_size,), ("output_size",))
    return rows, (1, length)


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """The mean over as many windows as make an output of `output_size`; None keeps a length."""
    size = _adaptive_size(input, output_size, 2, "adaptive_avg_pool2d")
    if size == (1, 1):
        return input.mean((-1, -2), keepdim=True)
    return ops.adaptive_avg_pool2d(input, size)


def adaptive_avg_pool1d(input: Tensor, output_size: int | Sequence[int]) -> Tensor:
    """The mean over as many windows of (N, C, L) as make an output of that length."""
    rows, size = _adaptive_rows(input, output_size, "adaptive_avg_pool1d")
    return adaptive_avg_pool2d(rows, size).squeeze(-2)


def max_pool3d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    dilation: int | tuple = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The maximum of each window of (N, C, D, H, W) or (C, D, H, W)."""
    binding = "max_pool3d_with_indices" if return_indices else ""
    kernel, step, padding, dilation, _ = _window(
        input, "max_pool3d", kernel_size, stride, padding, dilation, ceil_mode, binding=binding
    )
    pool = max_pool[3] if return_indices else max_pool_alone[3]
    return pool(input, kernel, () if stride is None else step, padding, dilation, ceil_mode)


def avg_pool3d(
    input: Tensor,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    padding: int | tuple = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W)."""
    kernel, step, padding, _, _ = _window(
        input, "avg_pool3d", kernel_size, stride, padding, 1, ceil_mode, divisor_override
    )
    step = () if stride is None else step
    return ops.avg_pool3d(input, kernel, step, padding, ceil_mode, count_include_pad, divisor_override)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window of (N, C, L), p = norm_type."""
    return _norms(
        avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode), norm_type, kernel_size, 1
    )


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window of (N, C, H, W), p = norm_type."""
    return _norms(
        avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode), norm_type, kernel_size, 2
    )


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: int | tuple,
    stride: int | tuple | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """(Σ xᵖ)^(1/p) of each window of (N, C, D, H, W), p = norm_type."""
    return _norms(
        avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode), norm_type, kernel_size, 3
    )


def _norms(means: Tensor, norm_type: float, kernel_size: int | tuple, dims: int) -> Tensor:
    count = math.prod(per_dim(kernel_size, dims, "kernel_size"))
    return (means.sign() * means.abs().relu()).mul(count).pow(1.0 / norm_type)


def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """The mean over as many windows of (N, C, D, H, W) as make an output of `output_size`; None keeps a length."""
    size = _adaptive_size(input, output_size, 3, "adaptive_avg_pool3d")
    if size == (1, 1, 1):
        return input.mean((-1, -2, -3), keepdim=True)
    hows = zip(input.shape[-3:], size, strict=True)
    return images.adaptive_averages3d(input, tuple(("bins", n, o) for n, o in hows))


def adaptive_max_pool3d(
    input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """The maximum over as many windows of (N, C, D, H, W) as make an output of `output_size`; None keeps a length."""
    size = _adaptive_size(input, output_size, 3, "adaptive_max_pool3d")
    found = adaptive_max_pool[3](input, size)
    return tuple(found) if return_indices else found[0]


def adaptive_max_pool2d(
    input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """The maximum over as many windows of (N, C, H, W) as make an output of `output_size`; None keeps a length."""
    size = _adaptive_size(input, output_size, 2, "adaptive_max_pool2d")
    found = adaptive_max_pool[2](input, size)
    return tuple(found) if return_indices else found[0]


def adaptive_max_pool1d(
    input: Tensor, output_size: int | Sequence[int], return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """The maximum over as many windows of (N, C, L) as make an output of that length."""
    rows, size = _adaptive_rows(input, output_size, "adaptive_max_pool1d")
    out, indices = adaptive_max_pool2d(rows, size, True)
    return (out.squeeze(-2), indices.squeeze(-2)) if return_indices else out.squeeze(-2)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """`x/(k + alpha·m)^beta`, m the mean of x² over `size` neighbouring channels (Krizhevsky et al. 2012)."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares, ends = input * input, (size // 2, (size - 1) // 2)
    if input.dim() == 3:
        around = avg_pool2d(pad(squares.unsqueeze(1), (0, 0, *ends)), (size, 1), stride=1).squeeze(1)
    else:
        n, c, h = input.shape[:3]
        squares = pad(squares.view(n, 1, c, h, -1), (0, 0, 0, 0, *ends))
        around = avg_pool3d(squares, (size, 1, 1), stride=1).squeeze(1).view(*input.shape)
    return input / (around * alpha + k).pow(beta)


__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "channel_shuffle", "conv_transpose3d", "fold",
    "interpolate", "local_response_norm", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
    "pad", "pixel_shuffle", "pixel_unshuffle", "unfold",
]  # fmt: skip
