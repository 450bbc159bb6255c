"""A curve and the straight line through two of its points, which a slider draws closer together. The drawing is in tangent.js.

    secant(f, x=2.0)

All numbers are computed here, once, so that the sliders need no kernel. Uses anywidget, knows nothing of minigrad.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anywidget
import traitlets

SIZES = [0.5 * 0.8**k for k in range(29)]  # h from 0.5 down to 0.001


class Secant(anywidget.AnyWidget):
    """The result of :func:`secant`: the picture with its two sliders."""

    _esm = Path(__file__).with_suffix(".js")
    data = traitlets.Dict().tag(sync=True)

    def __repr__(self) -> str:
        at = self.data["places"][self.data["place"]]
        return f"Secant({self.data['name']} at x = {at:g}: h from {SIZES[0]:g} to {SIZES[-1]:.3f})"


def secant(f: Callable[[float], float], x: float, low: float = -1.5, high: float = 2.0) -> Secant:
    """The curve of ``f`` and a line through its points at ``x - h`` and ``x + h``; sliders for ``h`` and ``x``.

    ``f`` takes and returns a number. ``low`` and ``high`` are the ends of the slider for ``x``. Raises ValueError if ``x`` is
    not between them.
    """
    if not low <= x <= high:
        raise ValueError(f"x = {x} is not between low = {low} and high = {high}, the ends of its slider")
    places = sorted({low + (high - low) * k / 35 for k in range(36)} | {x})
    first, last = low - SIZES[0], high + SIZES[0]
    curve = [first + (last - first) * k / 180 for k in range(181)]
    data = {
        "name": getattr(f, "__name__", "f"),
        "place": places.index(x),
        "places": places,
        "sizes": SIZES,
        "curve": [[at, float(f(at))] for at in curve],
        "left": [[float(f(at - h)) for h in SIZES] for at in places],
        "right": [[float(f(at + h)) for h in SIZES] for at in places],
    }
    return Secant(data=data)
