"""Join pictures into one small animation, with Pillow."""

from __future__ import annotations

import io

import numpy as np


def animation(frames: list[bytes], seconds: list[float], always: list[str]) -> bytes:
    """One GIF, repeated forever, made from PNG pictures of one size; Pillow writes only what changes.

    The palette is taken from some of them; white and ``always`` (#rrggbb) are added unchanged. A picture that equals
    the one before it adds no frame: the earlier one is shown for longer.
    """
    from PIL import Image, ImageColor  # for GIFs only: a browser has no Pillow

    pictures = [Image.open(io.BytesIO(frame)).convert("RGB") for frame in frames]
    samples = [np.asarray(pictures[(len(pictures) - 1) * k // 4]) for k in range(5)]
    palette = Image.fromarray(np.concatenate(samples)).quantize(255, Image.Quantize.MEDIANCUT)
    table = np.array(palette.getpalette()).reshape(-1, 3)
    table[(table >= 247).all(axis=1)] = 255  # Graphviz makes several whites
    for colour in map(ImageColor.getrgb, always):
        table[abs(table - colour).sum(axis=1).argmin()] = colour
    palette.putpalette(table.ravel().tolist())
    images = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    out = io.BytesIO()
    how = {"duration": [round(1000 * pause) for pause in seconds], "loop": 0, "optimize": True}
    images[0].save(out, "GIF", save_all=True, append_images=images[1:], **how)
    return out.getvalue()
