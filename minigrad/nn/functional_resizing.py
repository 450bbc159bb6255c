"""The functions of nn.functional that change the size or the form of images: padding, resizing, pixels as channels, windows."""

from __future__ import annotations

import math

from ..basics import check
from ..ops import images, pooling
from ..ops.arrange import constant_pad_nd, reflection, replication
from ..ops.shape import squeeze, unsqueeze
from ..ops.signature import check_ints
from ..tensor import Tensor
from .functional_activations import in_functional
from .functional_images import Sides, sides

# ---------------------------------------------------------------- padding, resizing, rearranging


@in_functional
def pad(input: Tensor, pad: tuple, mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad `input` with elements around it: `pad` is (before, after) of the last dimension, then of the one before it, ...

    mode: "constant" (`value`, 0 by default), "reflect" (mirrored) or "replicate" (the border repeated).
    """
    check_ints(pad, "pad(): argument 'pad' (position 2)", alone=False)
    pad = tuple(pad)
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    message = 'Padding mode "{}" doesn\'t take in value argument'
    check(value in (None, 0), message, mode, error=ValueError)
    modes, n = {"reflect": reflection, "replicate": replication}, len(pad) // 2
    check(
        mode in modes, "minigrad does not implement padding with mode={!r}.", mode, error=NotImplementedError
    )
    message = "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now"
    check(n in (1, 2, 3) and input._array.ndim in (n + 1, n + 2), message, error=NotImplementedError)
    return modes[mode][n](input, pad)


@in_functional
def interpolate(
    input: Tensor, size: Sides | None = None, scale_factor: float | tuple | None = None, mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """Resize (N, C, H, W) to `size`, or by `scale_factor`: copy the nearest elements, or blend them (mode="bilinear")."""
    check(mode in ("nearest", "bilinear") and input._array.ndim == 4, "minigrad does not implement interpolate(mode={!r}) of "
           "{} dimensions.", mode, input._array.ndim, error=NotImplementedError)  # fmt: skip
    message = "only one of size or scale_factor should be defined"
    check(size is None or scale_factor is None, message, error=ValueError)
    check(
        size is not None or scale_factor is not None,
        "either size or scale_factor should be defined",
        error=ValueError,
    )
    scales = (None, None)
    if size is None:
        scales = (
            tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor, scale_factor)
        )
        scales = tuple(map(float, scales))
        size = [math.floor(n * s) for n, s in zip(input._array.shape[2:], scales, strict=True)]
    run = pooling.upsample_nearest if mode == "nearest" else pooling.upsample_bilinear
    return run(input, sides(size), bool(align_corners), scales)


@in_functional
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(N, C·r², H, W) as (N, C, H·r, W·r): the channels become pixels."""
    message = "pixel_shuffle expects input to have at least 3 dimensions, but got input with {} dimension(s)"
    check(input._array.ndim >= 3, message, input._array.ndim)
    check(upscale_factor > 0, "pixel_shuffle expects a positive upscale_factor, but got {}", upscale_factor)
    channels, square = input.size(-3), upscale_factor * upscale_factor
    message = "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
    check(channels % square == 0, message + "input.size(-3)={} is not divisible by {}", channels, square)
    return pooling.pixel_shuffled(input, upscale_factor)


@in_functional
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(N, C, H·r, W·r) as (N, C·r², H, W): the pixels become channels."""
    message = (
        "pixel_unshuffle expects input to have at least 3 dimensions, but got input with {} dimension(s)"
    )
    check(input._array.ndim >= 3, message, input._array.ndim)
    check(
        downscale_factor > 0,
        "pixel_unshuffle expects a positive downscale_factor, but got {}",
        downscale_factor,
    )
    for name, dim in (("height", -2), ("width", -1)):
        message = f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({dim})={{}} is not "
        check(
            input.size(dim) % downscale_factor == 0,
            message + "divisible by {}",
            input.size(dim),
            downscale_factor,
        )
    return pooling.pixel_unshuffled(input, downscale_factor)


@in_functional
def unfold(
    input: Tensor, kernel_size: Sides, dilation: Sides = 1, padding: Sides = 0, stride: Sides = 1
) -> Tensor:
    """The windows of (N, C, H, W) as columns: (N, C·KH·KW, number of windows)."""
    kernel, dilation, padding, stride = (sides(v) for v in (kernel_size, dilation, padding, stride))
    message = "Expected 3D or 4D (batch mode) tensor for unfold, but got {}D"
    check(input._array.ndim in (3, 4), message, input._array.ndim)
    if input._array.ndim == 3:
        return squeeze(unfold(unsqueeze(input, 0), kernel, dilation, padding, stride), 0)
    return images.im2col(input, kernel, dilation, padding, stride)


@in_functional
def fold(
    input: Tensor,
    output_size: Sides,
    kernel_size: Sides,
    dilation: Sides = 1,
    padding: Sides = 0,
    stride: Sides = 1,
) -> Tensor:
    """The transpose of `unfold`: columns (N, C·KH·KW, number of windows) summed into an image (N, C, H, W)."""
    size, kernel, dilation, padding, stride = (
        sides(v) for v in (output_size, kernel_size, dilation, padding, stride)
    )
    message = "Expected 2D or 3D (batch mode) tensor for fold, but got {}D"
    check(input._array.ndim in (2, 3), message, input._array.ndim)
    windows = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, kernel, dilation, padding, stride, strict=True)
    ]
    sizes, count, place = tuple(input.shape[-2:]), math.prod(windows), input._array.ndim - 2
    message = (
        f"Expected size of input's dimension {place} to be divisible by the product of kernel_size, but got "
    )
    message += f"input.size({place})={sizes[0]} and kernel_size={kernel}."
    check(sizes[0] % math.prod(kernel) == 0, "{}", message)
    message = f"Given output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, "
    message += (
        f"expected size of input's dimension {place + 1} to match the calculated number of sliding blocks "
    )
    message += f"{' * '.join(map(str, windows))} = {count}, but got input.size({place + 1})={sizes[1]}."
    check(sizes[1] == count, "{}", message)
    if input._array.ndim == 2:
        return squeeze(fold(unsqueeze(input, 0), size, kernel, dilation, padding, stride), 0)
    return images.col2im(input, size, kernel, dilation, padding, stride)
