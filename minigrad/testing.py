"""`assert_close`, as `torch.testing.assert_close`: are two tensors the same up to rounding?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .creation import as_tensor
from .tensor import Tensor

# relative and absolute tolerance by dtype; integers and bools have to be equal
TOLERANCES = {"float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


def assert_close(
    actual: object,
    expected: object,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    msg: str | None = None,
) -> None:
    """Raise AssertionError unless |actual - expected| <= atol + rtol |expected| for every element.

    Tensors, numbers, arrays, and sequences or mappings of these. The tolerances depend on the dtype unless both are given
    (the larger ones count where the dtypes differ). check_dtype: the dtypes are to be the same, too. msg: said instead.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified")
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if set(actual) != set(expected):
            raise AssertionError(
                f"The keys of the mappings do not match: {sorted(actual)} != {sorted(expected)}"
            )
        pairs = [(actual[key], expected[key]) for key in actual]
    elif all(isinstance(x, Sequence) and not isinstance(x, str) for x in (actual, expected)):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        pairs = list(zip(actual, expected, strict=True))
    else:
        compare(as_tensor(actual), as_tensor(expected), rtol, atol, equal_nan, check_dtype, msg)
        return
    for a, b in pairs:
        assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype, msg=msg)


def compare(
    actual: Tensor,
    expected: Tensor,
    rtol: float | None,
    atol: float | None,
    equal_nan: bool,
    check_dtype: bool,
    msg: str | None,
) -> None:
    """`assert_close` for two tensors."""
    if actual.shape != expected.shape:
        raise AssertionError(
            msg or f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}."
        )
    if check_dtype and actual.dtype is not expected.dtype:
        raise AssertionError(
            msg or f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}."
        )
    if rtol is None:
        known = [TOLERANCES.get(t.dtype.name, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = (max(values) for values in zip(*known, strict=True))
    a, b = (t.detach().numpy().astype(np.float64) for t in (actual, expected))
    difference = np.abs(a - b)
    close = (a == b) | (difference <= atol + rtol * np.abs(b))
    if equal_nan:
        close |= np.isnan(a) & np.isnan(b)
    if close.all():
        return
    raise AssertionError(msg or mismatch(a, b, difference, close, rtol, atol))


def mismatch(
    a: np.ndarray, b: np.ndarray, difference: np.ndarray, close: np.ndarray, rtol: float, atol: float
) -> str:
    """What differs, how much, and where it is worst."""
    if not a.shape:
        return f"Scalars are not close!\n\nExpected {b.item()} but got {a.item()}."
    relative = np.where(close, 0, difference / np.abs(b))
    difference = np.where(close, 0, difference)
    lines = [f"Mismatched elements: {(~close).sum()} / {close.size} ({(~close).mean():.1%})"]
    for word, values, allowed in (("absolute", difference, atol), ("relative", relative, rtol)):
        at = tuple(int(i) for i in np.unravel_index(np.argmax(values), values.shape))
        lines.append(f"Greatest {word} difference: {values[at]} at index {at} (up to {allowed:g} allowed)")
    return "Tensor-likes are not close!\n\n" + "\n".join(lines)


__all__ = ["assert_close"]
__dir__ = __all__.copy  # what completion offers
