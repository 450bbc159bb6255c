"""A finding: one thing that a film shows, in words; how norms are written; which finding may cause which."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .norms import NONE

# kind -> the kinds that may follow from it, causes before consequences; nan may cause every alarm that begins after it
FOLLOWS: dict[str, tuple[str, ...]] = {
    "sign": ("runaway", "rising", "flat", "grew", "large", "nan", "explode", "dead", "start", "saturated"),
    "accumulate": ("rising", "flat", "grew", "large", "nan", "dead", "explode", "runaway", "saturated"),
    "nll": ("runaway", "grew", "large", "nan", "rising", "dead"),
    "broadcast": ("flat",),
    "double": ("flat", "vanish", "saturated", "start"),
    "classes": ("flat", "zero", "start"),
    "axis": ("flat", "vanish", "saturated", "start"),
    "unstepped": ("flat", "still", "rising", "zero"),
    "missing": ("flat",),
    "alike": ("flat", "zero", "vanish", "dead"),
    "explode": ("large", "grew", "nan", "rising", "dead", "saturated", "start", "zero", "flat"),
    "start": ("large", "grew", "nan", "rising", "dead", "saturated", "zero", "flat"),
    "large": ("dead", "grew", "explode", "nan", "rising", "saturated", "zero", "vanish", "runaway", "flat"),
    "saturated": ("vanish", "zero", "dead", "flat", "still"),
    "vanish": ("zero", "flat", "still", "small"),
    "dead": ("zero", "flat", "still"),
    "zero": ("flat", "still"),
    "small": ("still", "flat"),
    "shrinks": ("vanish", "zero", "dead", "rising", "flat", "still", "small"),
    "grew": ("nan", "rising", "flat", "runaway", "explode", "dead"),
    "runaway": ("nan", "explode", "grew", "large", "saturated", "zero", "dead"),
    "rising": ("nan",),
}
FOLLOWS |= dict.fromkeys(("nan", "flat", "still", "frozen", "eval"), ())
CAUSAL = [*FOLLOWS]
FIRST = ["nan", "frozen", "eval"]  # these come first among the alarms and facts without a cause


@dataclass(frozen=True, slots=True)
class Finding:
    """``text`` says what was measured, with the numbers of the first step; it holds from ``step`` to ``until``.

    ``alarm`` is True if the numbers say that this training does not do what its author wants; a finding that is
    not an alarm is a fact, which may be intended. ``cause`` is the finding that this one follows from, or None. ``row`` and
    ``node`` say where it was seen. ``kind`` is one of: sign (minus a loss, uphill), accumulate (no zero_grad), nll, broadcast,
    double, classes (a loss is given the wrong thing), axis (a softmax over the wrong dimension), unstepped (never moves),
    missing (no path), alike (equal units), explode, start (a large first loss), large (an update), saturated, vanish, dead,
    zero, small (all updates), shrinks (all weights), grew, rising, runaway, nan, flat, still (lost to rounding), frozen, eval.
    """

    kind: str
    step: int
    until: int
    row: str
    node: str
    text: str
    alarm: bool = True
    cause: Finding | None = None
    scene: int = 0
    place: tuple[int, int, int] = (0, 0, 0)  # first frame, last frame and row, numbered as on the page

    def __str__(self) -> str:
        since = f"step {self.step}" if self.step == self.until else f"steps {self.step} to {self.until}"
        kind = "" if self.alarm else "fact, "
        return f"{'  so, ' if self.cause else ''}{kind}{since}: {self.text}"


def norm_text(decade: float) -> str:
    """A norm to two digits: ``0.031``, ``1.3e-9``, ``0``, ``NaN``; ``–`` where it was not computed."""
    if decade == NONE:
        return "–"
    if decade == -np.inf:
        return "0"
    if not np.isfinite(decade):
        return "NaN" if np.isnan(decade) else "Inf"
    if decade < -300 or decade > 300:
        return f"1e{decade:.0f}"
    value = 10.0 ** float(decade)
    two = float(f"{value:.1e}")
    if 0.01 <= two < 1e4:
        return f"{value:.0f}" if two >= 100 else f"{value:#.2g}".removesuffix(".")
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}e{int(power)}"


def agree(things: Sized, one: str, several: str) -> str:
    """The singular or plural form of a word."""
    return one if len(things) == 1 else several


def broken(decade: Any) -> Any:
    """Whether a norm is NaN or Inf."""
    return np.isnan(decade) | (decade == np.inf)


def intervals(holds: np.ndarray, gap: int = 0) -> list[tuple[int, int]]:
    """(first, last) of each run of True; runs at most ``gap`` apart are joined."""
    out: list[tuple[int, int]] = []
    for i in np.flatnonzero(holds).tolist():
        if out and i - out[-1][1] <= gap + 1:
            out[-1] = (out[-1][0], i)
        else:
            out.append((i, i))
    return out


def longest(holds: np.ndarray) -> tuple[int, int] | None:
    """(first, last) of the longest run of True, the first of several."""
    return max(intervals(holds), key=lambda run: run[1] - run[0], default=None)


def ordered(findings: list[Finding]) -> list[Finding]:
    """Alarms before facts, the most important first; each consequence after its cause."""

    def order(f: Finding) -> tuple[Any, ...]:
        return f.step, CAUSAL.index(f.kind), f.row

    linked: list[Finding] = []  # each with its cause, which began earlier
    for f in sorted(findings, key=order):
        causes = [c for c in linked if f.alarm and c.alarm and _follows(f, c)]
        linked.append(replace(f, cause=causes[0]) if causes else f)

    def with_consequences(cause: Finding) -> list[Finding]:
        return [cause, *(x for f in linked if f.cause is cause for x in with_consequences(f))]

    roots = [f for f in linked if f.cause is None]
    roots.sort(key=lambda f: (not f.alarm, f.kind not in FIRST, CAUSAL.index(f.kind)))
    return [f for root in roots for f in with_consequences(root)]


def _follows(f: Finding, cause: Finding) -> bool:
    return f.kind in FOLLOWS[cause.kind] or (cause.kind == "nan" and f.step > cause.step)


def times(decade: float) -> str:
    """A ratio: ``31 % of``, ``4.0 times``."""
    share = 10.0 ** float(decade)
    return f"{100 * share:.0f} % of" if share < 2 else f"{norm_text(decade)} times"
