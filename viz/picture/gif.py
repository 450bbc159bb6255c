"""Pictures that Graphviz painted, joined to one small animation: one palette, and of each frame only what it changes.

The pixels of a GIF are written as codes for runs that came before (LZW). What stays as it was is one transparent colour, so
most of a frame is a few long runs.
"""

from __future__ import annotations

import struct

import numpy as np

COLOURS = 255  # and one for what stays
NEAR = 8.5  # colours that are no further apart (as _palette counts) are one: Graphviz chooses some anew for each picture


def animation(frames: list[bytes], seconds: list[float], always: list[str]) -> bytes:
    """One GIF89a, repeated for ever, of pictures of one size (see `layout.painted`).

    Some of them give the palette; the colours ``always`` (#rrggbb) are in it however rare they are.
    """
    samples = {len(frames) * k // 4 for k in range(4)} | {len(frames) - 1}
    palette, nearest, far = _palette([_pixels(frames[k]) for k in samples], always)
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
    rgb = np.stack([every >> 10, every >> 5 & 31, every & 31], axis=1)
    table = np.round(rgb[chosen] * (255 / 31)).astype(np.uint8)
    seen = (rgb * np.sqrt([3, 6, 1])).astype(np.float32)  # an eye sees green best
    long = (seen**2).sum(axis=1)
    apart = long[:, None] + long[chosen] - 2 * seen @ seen[chosen].T
    return table.tobytes() + b"\0\0\0", apart.argmin(axis=1).astype(np.uint8), apart[chosen] > NEAR


def _pixels(gd: bytes) -> np.ndarray:
    """(height, width) colours of five bits a channel, of a picture as `layout.painted` gives it."""
    width, height = struct.unpack(">HH", gd[2:6])
    colours = np.frombuffer(gd, np.uint8, offset=11).reshape(height, width, 4)[..., 1:] >> 3
    return colours @ np.array([1 << 10, 1 << 5, 1], np.uint16)


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
