"""Pictures that Graphviz painted, joined to one small animation: one palette, and of each frame only what it changes.

The pixels of a GIF are written as codes for runs that came before (LZW). What stays as it was is one transparent colour, so
most of a frame is a few long runs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

import numpy as np

from ..show.frames import parts

COLOURS = 63  # and one for what stays
NEAR = 8  # colours that are no further apart (as _palette counts) are one: Graphviz chooses some anew for each picture


def animation(
    frames: Iterable[bytes], seconds: list[float], samples: Iterable[bytes], always: list[str]
) -> bytes:
    """One GIF89a, repeated for ever, of GIFs of one size with one picture each.

    ``samples`` of them give the palette; the colours ``always`` (#rrggbb) are in it however rare they are.
    """
    palette, nearest, far = _palette([_pixels(one) for one in samples], always)
    out: list[bytes] = []
    before = None
    for frame, pause in zip(frames, seconds, strict=True):
        now = nearest[_pixels(frame)]
        height, width = now.shape
        if before is None:
            bits = (COLOURS + 1).bit_length() - 2
            out += [b"GIF89a", struct.pack("<HHBBB", width, height, 0x80 | bits, 0, 0), palette]
            out.append(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")
            box, what = (0, 0, width, height), now
        else:
            other = far[before, now]
            now = np.where(other, now, before)
            box, what = _changed(other, now)
        out.append(struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 5, round(pause * 100), COLOURS, 0))
        out.append(struct.pack("<BHHHHB", 0x2C, *box, 0) + _packed(what.tobytes()))
        before = now
    return b"".join([*out, b";"])


def _changed(other: np.ndarray, now: np.ndarray) -> tuple[tuple[int, int, int, int], np.ndarray]:
    """The box in which pixels are others, and these; what is the same in it is transparent."""
    rows, columns = np.flatnonzero(other.any(axis=1)), np.flatnonzero(other.any(axis=0))
    if not rows.size:
        return (0, 0, 1, 1), np.full((1, 1), COLOURS, np.uint8)
    y, x = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    what = np.where(other[y, x], now[y, x], COLOURS).astype(np.uint8)
    return (int(x.start), int(y.start), what.shape[1], what.shape[0]), what


def _palette(samples: list[np.ndarray], always: list[str]) -> tuple[bytes, np.ndarray, np.ndarray]:
    """The most frequent colours (of five bits a channel), for each such colour the nearest of them, and which are far apart."""
    counts = sum(np.bincount(one.ravel(), minlength=1 << 15) for one in samples)
    for colour in always:
        r, g, b = (int(colour[i : i + 2], 16) >> 3 for i in (1, 3, 5))
        counts[r << 10 | g << 5 | b] = counts.sum()
    chosen = np.argsort(-counts, kind="stable")[:COLOURS]
    every = np.arange(1 << 15)
    rgb = np.stack([every >> 10, every >> 5 & 31, every & 31], axis=1).astype(np.int32)
    apart = (rgb[:, None] - rgb[chosen][None]) ** 2 @ np.array([3, 6, 1])
    table = np.round(rgb[chosen] * (255 / 31)).astype(np.uint8)
    return table.tobytes() + b"\0\0\0", apart.argmin(axis=1).astype(np.uint8), apart[chosen] > NEAR


def _pixels(gif: bytes) -> np.ndarray:
    """(height, width) colours of five bits a channel."""
    (width, height), table, image = parts(gif)
    colours = np.frombuffer(table, np.uint8).reshape(-1, 3).astype(np.int32) >> 3
    colours[(colours >= 30).all(axis=1)] = 31  # white, of which Graphviz makes several
    numbers = np.frombuffer(b"".join(_runs(image)), np.uint8)[: width * height]
    return (colours @ np.array([1 << 10, 1 << 5, 1])).astype(np.uint16)[numbers].reshape(height, width)


def _runs(image: bytes) -> Iterator[bytes]:
    """The colour numbers of a GIF's image data, run by run."""
    least, data, at = image[0], bytearray(), 1
    while size := image[at]:
        data += image[at + 1 : at + 1 + size]
        at += 1 + size
    clear, end = 1 << least, (1 << least) + 1
    first = [bytes([i]) for i in range(clear)] + [b"", b""]
    known, wide, old, bits, held = list(first), least + 1, b"", 0, 0
    for byte in data:
        bits |= byte << held
        held += 8
        while held >= wide:
            code = bits & (1 << wide) - 1
            bits >>= wide
            held -= wide
            if code == clear:
                known, wide, old = list(first), least + 1, b""
                continue
            if code == end:
                return
            run = known[code] if code < len(known) else old + old[:1]
            yield run
            if old and len(known) < 4096:
                known.append(old + run[:1])
                if len(known) == 1 << wide and wide < 12:
                    wide += 1
            old = run


def _packed(numbers: bytes) -> bytes:
    """Colour numbers as a GIF's image data."""
    least = COLOURS.bit_length()
    clear = 1 << least
    codes: dict[int, int] = {}
    bits, held, wide, following = clear, least + 1, least + 1, clear + 2
    out = bytearray()
    prefix = numbers[0]
    for number in numbers[1:]:
        key = prefix << 8 | number
        code = codes.get(key)
        if code is not None:
            prefix = code
            continue
        bits |= prefix << held
        held += wide
        if following < 4096:
            codes[key] = following
            if following == 1 << wide:
                wide += 1
            following += 1
        else:
            bits |= clear << held
            held += wide
            codes, wide, following = {}, least + 1, clear + 2
        while held >= 8:
            out.append(bits & 255)
            bits >>= 8
            held -= 8
        prefix = number
    bits |= prefix << held | (clear + 1) << (held + wide)
    held += 2 * wide
    out += bits.to_bytes(-(-held // 8), "little")
    blocks = (out[i : i + 255] for i in range(0, len(out), 255))
    return bytes([least]) + b"".join(bytes([len(b)]) + b for b in blocks) + b"\0"
