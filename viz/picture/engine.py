"""Graphviz itself: it takes DOT and returns positions or a picture; and pictures joined by Pillow into one small animation.

On a computer it runs inside ``pygraphviz``, whose wheel carries it; in a browser it is Graphviz compiled to WebAssembly, in the
module ``wasm_graphviz`` of the browser lessons. Both give the same positions: sizes and labels are ours.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType

import numpy as np

IN_BROWSER = sys.platform == "emscripten"
NOT_LOADED = (
    "Graphviz cannot be loaded: {}. On a Linux without a desktop three libraries may be missing; on Debian and Ubuntu: "
    "apt-get install libglib2.0-0 libxrender1 libxext6"
)
NOT_HERE = "A browser cannot write a {} file. Save a drawing as .svg, a stepper or a film as .html, or run this on a computer."


def layout(source: str, form: str, prog: str = "dot") -> bytes:
    """The output of Graphviz for ``source`` in the format ``form``. RuntimeError for a format that a browser cannot write."""
    if IN_BROWSER:
        return wasm(form).layout(source, form, prog).encode()
    # fonts and label sizes: the geometry does not depend on them
    with warnings.catch_warnings(), quiet_c_level():
        warnings.simplefilter("ignore", RuntimeWarning)
        return load().AGraph(string=source).draw(format="png" if form == "gif" else form, prog=prog)


def wasm(form: str) -> ModuleType:
    """Graphviz in WebAssembly, if it can write this format; its ``layout_within`` raises TimeoutError after some seconds."""
    if form in ("png", "pdf", "gif"):  # what this build cannot write
        raise RuntimeError(NOT_HERE.format(form.upper()))
    return importlib.import_module("wasm_graphviz")


def load() -> ModuleType:
    """The module pygraphviz. ImportError, with what to do, where the system lacks what it needs."""
    try:
        import pygraphviz
    except ImportError as error:
        raise ImportError(NOT_LOADED.format(error)) from error
    return pygraphviz


@contextlib.contextmanager
def quiet_c_level() -> Iterator[None]:
    """Discard what C libraries write on stderr: fontconfig comments there on the machine's own font settings."""
    before = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


def animation(frames: list[bytes], seconds: list[float], always: list[str]) -> bytes:
    """One GIF, repeated for ever, of PNG pictures of one size; Pillow writes only what changes.

    Some of them give the palette; white and the colours ``always`` (#rrggbb) are in it as they are. A picture that equals
    the one before it makes no frame: that one is shown for longer.
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
