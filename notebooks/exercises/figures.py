"""How a matplotlib figure is shown in a notebook: as an SVG that follows the page into a dark theme, as viz's pictures do.

Black is ink and white is paper: in a dark theme they are swapped, and the lessons' other colours get lighter. Lines without a
colour take blue, orange, black and grey in turn. A colour image lets the page through where it is white; a grey one
stays as it is, with the text over it, and so do all other colours. Imports matplotlib only where a lesson does.
"""

from __future__ import annotations

import base64
import html
import io
import re
import sys
from typing import Any

import numpy as np

COLOURS = {  # in a light theme: (its name, in a dark theme)
    "#000000": ("ink", "#e6edf3"),
    "#ffffff": ("paper", "#161b22"),
    "#0072b2": ("blue", "#4aa3df"),
    "#d55e00": ("orange", "#f0833a"),
    "#808080": ("grey", "#8b949e"),
}
CYCLE = ["#0072b2", "#d55e00", "#000000", "#808080"]  # for lines and bars without a colour
LIGHT = "".join(f"--{name}:{light};" for light, (name, _) in COLOURS.items())
DARK = "".join(f"--{name}:{dark};" for name, dark in COLOURS.values())
STYLE = f"<style>svg{{{LIGHT}fill:var(--ink)}}@media (prefers-color-scheme:dark){{svg{{{DARK}}}}}</style>"


def install() -> None:
    """From now on, show this notebook's figures this way, if matplotlib has been imported. Outside IPython nothing happens."""
    if "matplotlib.pyplot" not in sys.modules or "IPython" not in sys.modules:
        return
    import matplotlib
    from IPython import get_ipython
    from matplotlib.figure import Figure
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    if (shell := get_ipython()) is not None:
        set_matplotlib_formats()  # without IPython's own output, or a figure would be drawn twice
        shell.display_formatter.formatters["text/html"].for_type(Figure, as_html)
        matplotlib.rcParams["axes.prop_cycle"] = matplotlib.cycler(color=CYCLE)


def as_html(figure: Any) -> str:
    """The figure, a `matplotlib.figure.Figure`, as an image; screen readers read its words aloud."""
    drawn = as_svg(figure)
    wide, tall = (
        round(float(points) * 4 / 3) for points in re.findall(r' (?:width|height)="([\d.]+)pt"', drawn)
    )
    size = f'width="{wide}" height="{tall}" style="max-width:100%;height:auto"'
    packed = base64.b64encode(drawn.encode()).decode()
    return f'<img class="plot" alt="{html.escape(_words(figure))}" {size} src="data:image/svg+xml;base64,{packed}">'


def as_svg(figure: Any) -> str:
    """The figure as the text of an SVG, the same for the same figure."""
    import matplotlib

    for axes in (axes for axes in figure.axes if axes.images):
        grey = [image for image in axes.images if not _show_through(image)]
        kept = {"white": "#fefefe"} | ({"black": "#010101"} if grey else {})  # text over an image that stays
        for text in axes.texts:
            text.set_color(kept.get(text.get_color(), text.get_color()))
    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "plot"}):
        figure.savefig(file, format="svg", bbox_inches="tight", dpi=144, metadata={"Date": None})
    drawn = file.getvalue()
    for light, (name, _) in COLOURS.items():
        drawn = re.sub(rf"""(?<=[ "]){light}\b""", f"var(--{name})", drawn)
    return re.sub(r"^.*?(<svg[^>]*>)", rf"\1{STYLE}", drawn, count=1, flags=re.S)


def _show_through(image: Any) -> bool:
    """Take the white out of the colours of a map, so that it looks the same on white paper; False if the map is grey, and for a
    photograph or an image that is not made by `imshow`."""
    values = image.get_array()
    if type(image).__name__ != "AxesImage" or values.ndim == 3:
        return values.shape[2:] == (4,)  # it was taken out before
    if (np.ptp(image.cmap(range(image.cmap.N))[:, :3], axis=1) < 0.02).all():
        return False
    colours = image.to_rgba(values)
    white = 1 - colours[..., 3:] * (1 - colours[..., :3])  # as it is seen on white
    opaque = 1 - white.min(-1, keepdims=True)
    image.set_data(np.concatenate([1 - (1 - white) / np.where(opaque == 0, 1, opaque), opaque], -1))
    return True


def _words(figure: Any) -> str:
    """The text in the figure, each piece once: its title; for each of its axes the title, the labels, the legend, the rest."""
    pieces = [figure.get_suptitle()]
    for axes in figure.axes:
        legend = axes.get_legend()
        pieces += [axes.get_title(place) for place in ("left", "center", "right")]
        pieces += [axes.get_xlabel(), axes.get_ylabel()]
        pieces += [text.get_text() for text in (*(legend.get_texts() if legend else ()), *axes.texts)]
    text = "; ".join(dict.fromkeys(" ".join(words.split()) for words in pieces if words.strip()))
    return f"Plot: {text if len(text) < 400 else text[: text.rfind(';', 0, 400)] + ' …'}"
