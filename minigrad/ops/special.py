"""The error and gamma functions on arrays. NumPy does not have them; what is exact enough comes from Python's `math`.

Only numbers here: no tensors, no derivatives. float64 results are right to a few roundings.
"""

from __future__ import annotations

import functools
import math

import numpy as np

ndarray = np.ndarray

# Points per unit of the table of erf. Powers of two: the distance to the nearest point is then exact.
DENSITY = 1024
EDGE = 6  # erf(6) is 1 in double precision
FEW = 48  # elements that a loop over math.erf does faster


def each(function, x: ndarray) -> ndarray:
    """A function of Python numbers applied to every element."""
    return np.array([function(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)


@functools.cache
def erf_table(dtype: np.dtype) -> tuple[ndarray, ndarray]:
    """erf and its derivative at the multiples of 1 / DENSITY from -EDGE to EDGE."""
    points = np.arange(-EDGE * DENSITY, EDGE * DENSITY + 1) / DENSITY
    slopes = 2 / math.sqrt(math.pi) * np.exp(-points * points)
    return each(math.erf, points).astype(dtype), slopes.astype(dtype)


def erf(x: ndarray) -> ndarray:
    """The error function: the value at the nearest table point, and from there Taylor's series.

    With d at most 2^-11 the terms up to d^5 (float32: d^2) leave an error below a rounding. The derivatives of erf at c are
    its slope times Hermite's polynomials in c.
    """
    if x.dtype == np.float16:
        return erf(x.astype(np.float32)).astype(np.float16)
    if x.size <= FEW:
        return each(math.erf, x)
    values, slopes = erf_table(x.dtype)
    scaled = np.minimum(np.maximum(x, np.asarray(-EDGE, x.dtype)), np.asarray(EDGE, x.dtype))
    scaled *= DENSITY
    nearest = np.rint(scaled)
    index = (nearest + EDGE * DENSITY).astype(np.intp)
    d = scaled - nearest  # NaN stays NaN, so the row that `clip` gives it does not matter
    d *= 1 / DENSITY
    c = nearest
    c *= 1 / DENSITY
    series = -c
    if x.dtype == np.float64:
        square = c * c
        fourth = c * (3 - 2 * square) / 6 + d * (square * (4 * square - 12) + 3) / 30
        series += d * ((2 * square - 1) / 3 + d * fourth)
    series *= d
    series += 1
    series *= d
    series *= slopes.take(index, mode="clip")
    series += values.take(index, mode="clip")
    return series


def erfc(x: ndarray) -> ndarray:
    """1 - erf(x), without the cancellation for large x."""
    return each(math.erfc, x)


def erfinv(y: ndarray) -> ndarray:
    """The inverse of erf: Winitzki's formula, right to 0.002, then three steps of Halley's method."""
    a, size = 0.147, np.abs(y.astype(np.float64))
    rest = np.log1p(-size * size)
    t = 2 / (math.pi * a) + rest / 2
    x = np.sqrt(np.maximum(np.sqrt(t * t - rest / a) - t, 0.0))
    for _ in range(3):
        above = np.where(size < 0.5, erf(x) - size, (1 - size) - erfc(x))
        step = above / (2 / math.sqrt(math.pi) * np.exp(-x * x))
        x = x - step / (1 + x * step)
    x = np.where(size == 1, np.inf, x)
    return np.copysign(x, y).astype(y.dtype)


def lgamma(x: ndarray) -> ndarray:
    """The logarithm of the absolute value of the gamma function; infinite at its poles."""

    def one(v: float) -> float:
        return math.inf if (v <= 0 and v.is_integer()) or v > 1e305 else math.lgamma(v)

    return each(one, x)


def digamma(x: ndarray) -> ndarray:
    """The derivative of lgamma: reflection for negative numbers, recurrence up to 10, then the asymptotic series."""
    z = x.astype(np.float64)
    negative = z < 0
    reflected = np.where(negative, 1 - z, z)
    total = np.zeros_like(reflected)
    for _ in range(10):
        low = reflected < 10
        total -= np.where(low, 1 / reflected, 0.0)
        reflected = np.where(low, reflected + 1, reflected)
    inverse = 1 / (reflected * reflected)
    series = inverse * (
        1 / 12
        - inverse
        * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse * (1 / 132 - inverse * 691 / 32760))))
    )
    total += np.log(reflected) - 0.5 / reflected - series
    fraction = z - np.trunc(z)
    total = np.where(negative, total - math.pi / np.tan(math.pi * fraction), total)
    total = np.where(negative & (fraction == 0), np.nan, total)
    return np.where(z == 0, np.copysign(np.inf, -z), total).astype(x.dtype)


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


def polygamma(n: int, x: ndarray) -> ndarray:
    """The n-th derivative of digamma: Hurwitz's zeta function by Euler and Maclaurin's summation.

    Below 0 by reflection: (-1)ⁿ ψₙ(1 - z) - ψₙ(z) = π dⁿ/dzⁿ cot(πz), a polynomial in the cotangent.
    """
    if n == 0:
        return digamma(x)
    given, s = x.astype(np.float64), n + 1
    z = np.where(given < 0, 1 - given, given)
    total = np.zeros_like(z)
    for k in range(12):
        total += (z + k) ** -s
    far = z + 12
    total += far ** (1 - s) / (s - 1) + far**-s / 2
    factor = s
    for k, b in enumerate(BERNOULLI):
        total += b / math.factorial(2 * k + 2) * factor * far ** (-s - 2 * k - 1)
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2)
    total *= (-1) ** (n + 1) * math.factorial(n)
    derivative = np.polynomial.Polynomial([0, 1])
    for _ in range(n):
        derivative = derivative.deriv() * np.polynomial.Polynomial([-math.pi, 0, -math.pi])
    cotangent = 1 / np.tan(math.pi * (given - np.trunc(given)))
    turned = (-1) ** n * total - math.pi * functools.reduce(
        lambda y, c: y * cotangent + c, derivative.coef[::-1]
    )
    return np.where(given < 0, turned, total).astype(x.dtype)
