"""The width of text, from our own table, so that pictures are the same on every machine; tables; safe writing of files.

The widths are those of a wide sans-serif face, so that the narrower ones in common use fit as well.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

# hundredths of an em for the printable ASCII characters, from the space to the tilde
_WIDTHS = (
    "32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53 100 68 69 70 77 63 58 "
    "77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50 50 61 63 55 63 62 35 63 63 28 28 58 28 97 "
    "63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84"
)
_EM = {chr(32 + i): int(w) for i, w in enumerate(_WIDTHS.split())}  # integers: their sums are exact
_BOLD, _MONO, _OTHER, _WIDE = 1.1, 0.61, 70, 105
Texts = Sequence[str]  # a row of a table
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@lru_cache(maxsize=4096)
def width(text: str, size: float, *, bold: bool = False, mono: bool = False) -> float:
    """Width of one line of ``text`` at font size ``size``, in points."""
    if mono:
        return _MONO * size * len(text)
    rare = (_WIDE if c > "\u1100" and not "\u2000" <= c <= "\u2bff" else _OTHER for c in text if c not in _EM)
    return (sum(_EM[c] for c in text if c in _EM) + sum(rare)) * size / 100 * (_BOLD if bold else 1.0)


def one_line(text: object) -> str:
    """``text`` with every control character, line break or lone surrogate made harmless, on one line."""
    text = str(text)[:20_000]
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ("\ufffd" if "\ud800" <= c <= "\udfff" else " ") for c in text)


def fit(text: str, limit: float, size: float, *, bold: bool = False, mono: bool = False) -> str:
    """``text`` on one line, cut with an ellipsis so that it is at most ``limit`` points wide.

    Text loses its end; a dotted name, such as ``model.layers.3.weight``, its beginning.
    """
    text = one_line(text)
    if width(text[:400], size, bold=bold, mono=mono) <= limit and len(text) <= 400:
        return text
    first, *others = text.split(".")
    dotted = others and first.isidentifier() and all(part.isidentifier() or part.isdigit() for part in others)
    room, kept = limit - width("…", size, bold=bold, mono=mono), []
    for c in text[:-400:-1] if dotted else text[:400]:
        room -= width(c, size, bold=bold, mono=mono)
        if room < 0:
            break
        kept.append(c)
    return "…" + "".join(reversed(kept)) if dotted else "".join(kept).rstrip() + "…"


def shape_text(shape: tuple[int, ...] | None) -> str:
    """A shape as it is usually written: ``(5, 3)``, ``(4,)``, ``scalar``; empty if it is unknown."""
    if shape is None:
        return ""
    return "scalar" if not shape else str(tuple(int(n) for n in shape))


def clipped(text: str, limit: int) -> str:
    """``text``, at most ``limit`` characters of it."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def plural(n: int, what: str) -> str:
    """``1 step``, ``3 steps``, ``2 leaves``."""
    several = {"leaf": "leaves", "pass": "passes"}.get(what, f"{what}s")
    return f"{n:,} {what if n == 1 else several}"


def listed(names: Iterable[str], most: int = 3) -> str:
    """``a``, ``a and b``, ``a, b, c and 4 more``."""
    names = list(dict.fromkeys(names))
    if len(names) > most + 1:
        names = [*names[:most], f"{len(names) - most} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def bytes_text(n: int) -> str:
    """``640 B``, ``1.4 kB``, ``12 MB``."""
    for unit, by in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n >= by:
            return f"{n / by:.3g} {unit}"
    return f"{n} B"


def table(rows: Sequence[tuple[str, ...]], most: int, numbers: bool = False) -> list[str]:
    """Lines of a table for a terminal: columns are as wide as their contents, all but the last at most ``most``.
    ``numbers``: right-aligned numbers in all columns but the first."""
    widths = [min(max(map(len, column)), most) for column in zip(*rows, strict=True)]
    cut = ([clipped(t, w) for t, w in zip(row[:-1], widths, strict=False)] + [row[-1]] for row in rows)
    sides = [str.ljust, *[str.rjust if numbers else str.ljust] * (len(widths) - 1)]
    lines = ([side(*of) for side, *of in zip(sides, row, widths, strict=True)] for row in cut)
    return ["  ".join(line).rstrip() for line in lines]


def html_table(head: Texts, rows: Iterable[Texts], numbers: bool = False, marked: int = -1) -> str:
    """A table for a page: ``numbers`` in all columns but the first, the row ``marked`` outlined."""
    sides = ["left", *["right" if numbers else "left"] * (len(head) - 1)]

    def row(kind: str, texts: Texts, style: str = "") -> str:
        looks = (f"{kind} style='text-align:{side};white-space:pre-wrap'" for side in sides)
        cells = (f"<{look}>{html.escape(text)}</{kind}>" for look, text in zip(looks, texts, strict=True))
        return f"<tr{style}>{''.join(cells)}</tr>"

    outlined = " style='outline:2px solid #d55e00'"
    body = "".join(row("td", texts, outlined * (k == marked)) for k, texts in enumerate(rows))
    return f"<table><thead>{row('th', head)}</thead><tbody>{body}</tbody></table>"


def write_whole(path: Path, data: str | bytes) -> Path:
    """Write a whole file, or leave the old one as it was, for example if the disk is full."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data.encode() if isinstance(data, str) else data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
