"""What the poolings accept: their arguments, checked in PyTorch's order and refused in its words.

Everything depends on sizes alone, so it is worked out once for each combination.
"""

from __future__ import annotations

import functools
from operator import index
from typing import SupportsIndex

AXES = {1: ("W",), 2: ("H", "W"), 3: ("T", "H", "W")}
NUMBER_WORDS = {2: "two", 3: "three"}


def pooled_size(
    size: tuple, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, ceil_mode: bool
) -> tuple:
    """The output lengths of a pooling; with ceil_mode a last window may reach over the end."""
    out = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        length = (n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        out.append(length - 1 if ceil_mode and (length - 1) * s >= n + p else length)
    return tuple(out)


@functools.lru_cache(maxsize=128, typed=True)
def pool_window(
    caller: str, shape: tuple, kernel, stride, padding, dilation, ceil_mode: bool, divisor: int | None = None
) -> tuple[tuple, tuple, tuple, tuple, tuple]:
    """(kernel, stride, padding, dilation, output lengths) of `max_pool2d`, `avg_pool3d`, ..., one for each dimension.

    shape: of the input, (N, C, *lengths) or (C, *lengths). Raises PyTorch's errors for windows that do not fit.
    """
    dims = int(caller[8])
    kernel, step, padding, dilation = _for_each_dim(caller, dims, kernel, stride, padding, dilation)
    if caller == "avg_pool2d" and len(shape) < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-len(shape)}, {len(shape) - 1}], but got -3)"
        )
    if caller != "avg_pool2d" and len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    for k, s, p, d in zip(kernel, step, padding, dilation, strict=True):
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > int(((k - 1) * d + 1) / 2):
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )
    names = AXES[dims]
    for what, values, prefix in (
        ("kernel size", kernel, "k"), ("stride", step, "d"), ("dilation", dilation, "dilation"),
    ):  # fmt: skip
        if min(values) <= 0:
            listed = " ".join(f"{prefix}{n}: {v}" for n, v in zip(names, values, strict=True))
            raise RuntimeError(f"{what} should be greater than zero, but got {listed}")
    _check_shape(caller, shape, dims)
    size = shape[-dims:]
    if caller == "avg_pool3d" and any(n + 2 * p < k for n, p, k in zip(size, padding, kernel, strict=True)):
        image, window = (
            " ".join(f"{prefix}{n}: {v}" for n, v in zip(names, values, strict=True))
            for prefix, values in (("", size), ("k", kernel))
        )
        raise RuntimeError(f"input image ({image}) smaller than kernel size ({window})")
    if any(p > k // 2 for p, k in zip(padding, kernel, strict=True)):
        if dims == 2:
            listed = f"padW = {padding[1]}, padH = {padding[0]}, kW = {kernel[1]}, kH = {kernel[0]}"
        else:
            listed = " ".join(
                f"{name}{n}: {values['THW'.index(n)]}"
                for name, values in (("k", kernel), ("pad", padding))
                for n in "TWH"
            )
        raise RuntimeError(f"pad should be smaller than or equal to half of kernel size, but got {listed}")
    out = pooled_size(size, kernel, step, padding, dilation, ceil_mode)
    if min(out) < 1:
        before, after = ("x".join(map(str, (shape[-dims - 1], *n))) for n in (size, out))
        raise RuntimeError(
            f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small"
        )
    return kernel, step, padding, dilation, out


def _for_each_dim(caller: str, dims: int, kernel, stride, padding, dilation) -> list[tuple]:
    """The four options, one number for each dimension; the stride is the kernel's size if it was left out."""
    either = "" if caller == "avg_pool3d" else "either "
    orders = {"kernel_size": f"must {either}be a single int", "stride": f"must {either}be omitted, a single int",
              "padding": f"must {either}be a single int", "dilation": "must be either a single int"}  # fmt: skip
    found = []
    for (name, must), value in zip(orders.items(), (kernel, stride, padding, dilation), strict=True):
        if name == "stride" and (value is None or value == ()):
            value = found[0]
        value = (value,) * dims if isinstance(value, SupportsIndex) else value
        if len(value) not in (1, dims):
            raise RuntimeError(f"{caller}: {name} {must}, or a tuple of {NUMBER_WORDS[dims]} ints")
        found.append(tuple(map(index, value * dims if len(value) == 1 else value)))
    return found


def _check_shape(caller: str, shape: tuple, dims: int) -> None:
    if dims == 2:
        if len(shape) not in (3, 4) or 0 in shape[len(shape) - 3 :]:
            raise RuntimeError(
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                f"{list(shape)}"
            )
    elif 0 in shape[len(shape) - 4 :]:
        own = "avg_pool3d()" if caller == "avg_pool3d" else "max_pool3d_with_indices_out_cpu_template()"
        raise RuntimeError(
            f"{own}: Expected input's non-batch dimensions to have positive length, but input has a shape of {list(shape)} "
            "and non-batch dimension 0 has length zero!"
        )


@functools.lru_cache(maxsize=128, typed=True)
def check_max_pool1d(shape: tuple, kernel, stride, padding, dilation, ceil_mode: bool) -> None:
    """Raise the errors of `max_pool1d`, which has words of its own where it returns no indices."""
    if len(shape) not in (2, 3) or 0 in shape[len(shape) - 2 :]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(shape)}"
        )
    given = {"kernel_size": ("an int, list of ints or tuple of ints", kernel),
             "stride": ("None, an int, list of ints, or tuple of ints", stride),
             "padding": ("an int, list of ints, or tuple of ints", padding),
             "dilation": ("an int, list of ints or tuple of ints", dilation)}  # fmt: skip
    found = {}
    for name, (kinds, value) in given.items():
        if name == "stride" and (value is None or value == ()):
            value = found["kernel_size"]
        if not isinstance(value, SupportsIndex):
            if len(value) != 1:
                raise RuntimeError(f"max_pool1d() {name} must be {kinds} of size 1 but got size {len(value)}")
            (value,) = value
        found[name] = index(value)
    kernel, stride, padding, dilation = found.values()
    for name in ("kernel_size", "stride"):
        if found[name] <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {found[name]}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={padding} and kernel_size={kernel}"
        )
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")
    (length,) = pooled_size(shape[-1:], (kernel,), (stride,), (padding,), (dilation,), ceil_mode)
    if length <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {length}")


__all__ = ["check_max_pool1d", "pool_window", "pooled_size"]
