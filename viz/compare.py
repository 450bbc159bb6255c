"""Two backward passes beside each other: a learner's engine and the reference, two branches, minigrad and PyTorch.

Works on traces (plain data) alone. Steps are matched in order by what they are steps of; numbers are compared as numbers.
"""

from __future__ import annotations

import difflib
import html
import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from .rules import base_name
from .trace import Step, Trace, trace
from .values import Value


@dataclass(slots=True, eq=False)
class Pair:
    """A step on the left and the one on the right that it was matched with; None where there is none."""

    left: Step | None
    right: Step | None
    difference: str | None  # None: the same


class Comparison:
    """Matched steps. ``first`` is the first pair that differs (None if none does); print it for a table."""

    def __init__(self, left: Trace, right: Trace, pairs: list[Pair], labels: tuple[str, str]):
        self.left, self.right, self.pairs, self.labels = left, right, pairs, labels
        self.first = next((p for p in pairs if p.difference), None)

    def __repr__(self) -> str:
        n = sum(p.difference is not None for p in self.pairs)
        said = "no difference" if not n else f"{n} of {len(self.pairs)} steps differ"
        return f"Comparison({self.labels[0]} and {self.labels[1]}: {said})"[:109]

    @property
    def sentence(self) -> str:
        """The first difference in words."""
        if self.first is None:
            return f"Both passes are the same: {len(self.pairs)} steps, every gradient equal."
        step = self.first.left or self.first.right
        side = f"step {step.number} ({step.name} of {step.tensor})"
        return f"The first difference is at {side}: {self.first.difference}."

    def __str__(self) -> str:
        rows = [("", *self.labels, "")]
        rows += [
            ("" if p.difference is None else "≠", _cell(p.left), _cell(p.right), p.difference or "")
            for p in self.pairs
        ]
        wide = [max(len(r[c]) for r in rows) for c in range(3)]
        lines = [
            "  ".join([*(t.ljust(w) for t, w in zip(r, wide, strict=False)), r[3]]).rstrip() for r in rows
        ]
        return "\n".join([*lines, self.sentence])

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        first = self.first
        rows = []
        for p in self.pairs:
            style = "outline:2px solid #d55e00;" if p is first else ""
            mark = "≠" if p.difference else "="
            cells = "".join(
                f"<td style='text-align:left'>{html.escape(_cell(s))}</td>" for s in (p.left, p.right)
            )
            said = f"<td style='text-align:left'>{html.escape(p.difference or '')}</td>"
            rows.append(f"<tr style='{style}'><td>{mark}</td>{cells}{said}</tr>")
        head = "".join(
            f"<th style='text-align:left'>{html.escape(x)}</th>" for x in ("", *self.labels, "difference")
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        return {"text/plain": repr(self), "text/html": f"{table}<p>{html.escape(self.sentence)}</p>"}


def compare(
    left: Any,
    right: Any,
    *,
    labels: tuple[str, str] = ("left", "right"),
    tolerance: float = 1e-5,
    frame: FrameType | None = None,
) -> Comparison:
    """Compare two backward passes: traces, or tensors (then their backward pass runs, as in ``viz.trace``).

    tolerance: how far apart two numbers may be, relative to the larger one. The two need not be of one framework.
    """
    frame = frame or sys._getframe(1)
    a, b = (t if isinstance(t, Trace) else trace(t, frame=frame) for t in (left, right))
    matcher = difflib.SequenceMatcher(None, [_key(s) for s in a], [_key(s) for s in b], autojunk=False)
    pairs: list[Pair] = []
    for what, i1, i2, j1, j2 in matcher.get_opcodes():
        if what == "equal":
            pairs += [
                Pair(x, y, _differs(x, y, tolerance))
                for x, y in zip(a.steps[i1:i2], b.steps[j1:j2], strict=True)
            ]
            continue
        pairs += [Pair(s, None, f"only {labels[0]} has this step here") for s in a.steps[i1:i2]]
        pairs += [Pair(None, s, f"only {labels[1]} has this step here") for s in b.steps[j1:j2]]
    return Comparison(a, b, pairs, labels)


def _key(s: Step) -> tuple[str, str]:
    """What a step is a step of: the operation, and the tensor where the programmer named it."""
    return base_name(s.name), s.tensor if s.function.outputs[0].named else ""


def _cell(s: Step | None) -> str:
    return "" if s is None else f"{s.name} of {s.tensor}: {'None' if s.total is None else s.total.short(30)}"


def _differs(x: Step, y: Step, tolerance: float) -> str | None:
    """What differs between two matched steps, or None."""
    said = _values(x.total, y.total, "receives", tolerance)
    if said:
        return said
    for a, b in zip(x.sent, y.sent, strict=False):
        said = _values(a.value, b.value, f"sends {a.input}", tolerance)
        if said:
            return said
    if len(x.sent) != len(y.sent):
        return f"sends {len(x.sent)} gradients and {len(y.sent)}"
    if x.accumulate and y.accumulate:
        return _values(x.accumulate.after, y.accumulate.after, "leaves in .grad", tolerance)
    return None


def _values(a: Value | None, b: Value | None, what: str, tolerance: float) -> str | None:
    if a is None or b is None:
        return (
            None
            if a is b
            else f"{what} {'nothing' if a is None else a.short(30)} and {'nothing' if b is None else b.short(30)}"
        )
    if a.shape != b.shape:
        return f"{what} shape {a.shape} and {b.shape}"
    if np.allclose(a.array, b.array, rtol=tolerance, atol=tolerance * 1e-2, equal_nan=True):
        return None
    return f"{what} {a.short(30)} and {b.short(30)}"
