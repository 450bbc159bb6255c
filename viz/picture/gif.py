"""Pictures painted by Graphviz, joined by Pillow into one small animation with one palette.

For each frame Pillow writes only the changes. Graphviz chooses some colours anew for each picture: a difference no
larger than that is not drawn again.
"""

from __future__ import annotations

import io
import struct

import numpy as np

COLOURS = 255  # and one for what stays
NEAR = 8.5  # colours that are no further apart (as _palette counts) are one


def animation(frames: list[bytes], seconds: list[float], always: list[str]) -> bytes:
    """One GIF, repeated for ever, of pictures of one size (see `layout.painted`).

    Some of them give the palette; the colours ``always`` (#rrggbb) are in it however rare they are. A picture that
    equals the one before it makes no frame: that one is shown for longer.
    """
    from PIL import Image  # for GIFs only: a browser has no Pillow

    samples = {len(frames) * k // 4 for k in range(4)} | {len(frames) - 1}
    palette, nearest, far = _palette([_pixels(frames[k]) for k in samples], always)
    now, images = None, []
    for frame in frames:
        before, now = now, nearest[_pixels(frame)]
        if before is not None:
            now = np.where(far[before, now], now, before)
        images.append(Image.fromarray(now))
        images[-1].putpalette(palette)
    out = io.BytesIO()
    how = {"duration": [round(1000 * pause) for pause in seconds], "loop": 0, "palette": palette}
    how |= {"transparency": COLOURS, "optimize": True}  # what stays as it was is transparent
    images[0].save(out, "GIF", save_all=True, append_images=images[1:], **how)
    return out.getvalue()


def _palette(samples: list[np.ndarray], always: list[str]) -> tuple[bytes, np.ndarray, np.ndarray]:
    """The most frequent colours (five bits per channel), the nearest of them for each, and which are far apart."""
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
    return table.tobytes(), apart.argmin(axis=1).astype(np.uint8), apart[chosen] > NEAR


def _pixels(gd: bytes) -> np.ndarray:
    """(height, width) colours with five bits per channel, from a picture that `layout.painted` returned."""
    width, height = struct.unpack(">HH", gd[2:6])
    colours = np.frombuffer(gd, np.uint8, offset=11).reshape(height, width, 4)[..., 1:] >> 3
    return colours @ np.array([1 << 10, 1 << 5, 1], np.uint16)
