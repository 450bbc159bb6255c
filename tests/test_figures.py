"""How figures are shown (notebooks/exercises/figures.py): they follow the page into a dark theme, and lose nothing there."""

from __future__ import annotations

import base64
import re

import matplotlib
import nbformat
import numpy as np
import pytest
from matplotlib.figure import Figure

from exercises import figures
from tests.lesson_files import LESSONS


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def drawn(cmap: str = "gray") -> Figure:
    figure = Figure(figsize=(3, 2))
    left, right = figure.subplots(1, 2)
    left.plot([0, 1], [1, 0], color="#0072B2", label="falls")
    figure.suptitle("two")
    left.set(xlabel="h", title="a line & a bar")
    right.set_title("cells", loc="left")
    left.legend()
    left.bar([0], [1], color="#D55E00", hatch="//", edgecolor="white")
    right.imshow([[0, 1]], cmap=cmap)
    right.text(0, 0, "41", color="white")
    right.text(1, 0, "42")
    return figure


def colours(svg: str) -> set[str]:
    return set(re.findall(r"#[0-9a-f]{6}\b", svg.partition("</style>")[2].replace("xlink", "")))


def test_a_figure_has_the_colours_of_the_page_and_numbers_on_cells_keep_theirs():
    svg = figures.as_svg(drawn())
    assert {"#010101", "#fefefe"} <= colours(svg)
    assert not colours(svg) & figures.COLOURS.keys()
    for name, dark in figures.COLOURS.values():
        assert f"--{name}:{dark};" in svg
        assert name == "grey" or f"var(--{name})" in svg


def test_an_image_in_colours_lets_the_page_through_and_its_numbers_follow():
    svg = figures.as_svg(drawn("Blues"))
    assert "#010101" not in colours(svg) and "#fefefe" in colours(svg)

    values = np.array([[-1.0, 0.0, 0.5, 1.0]])
    for cmap in ("RdBu", "Blues", "Oranges", "Pastel1"):
        image = Figure().subplots().imshow(values, cmap=cmap)
        before = image.to_rgba(values)[..., :3]
        assert figures._show_through(image)
        after = image.get_array()
        on_white = 1 - after[..., 3:] * (1 - after[..., :3])
        assert np.allclose(on_white, before, atol=1e-6)
        assert after[..., 3].min() < 0.4, "the palest colour hardly covers the page"
    shown_twice = drawn("Blues")
    assert figures.as_svg(shown_twice) == figures.as_svg(shown_twice)
    photograph = Figure().subplots().imshow(np.random.default_rng(0).random((2, 3, 3)))
    assert not figures._show_through(photograph) and photograph.get_array().shape == (2, 3, 3)
    zeros = Figure().subplots().imshow(values * 0, cmap="RdBu", vmin=-1, vmax=1)
    assert figures._show_through(zeros) and zeros.get_array()[..., 3].max() < 0.05


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_what_is_drawn_stands_out_from_the_paper(theme):
    of = {name: (light, dark)[theme] for light, (name, dark) in figures.COLOURS.items()}
    assert contrast(of["ink"], of["paper"]) > 7
    assert all(contrast(colour, of["paper"]) >= 3.8 for name, colour in of.items() if name != "paper")


def test_the_same_figure_is_the_same_text_and_its_words_are_read_aloud():
    assert figures.as_html(drawn()) == figures.as_html(drawn())
    assert 'alt="Plot: two; a line &amp; a bar; h; falls; cells; 41; 42"' in figures.as_html(drawn())


def test_outside_of_a_notebook_nothing_is_changed():
    before = dict(matplotlib.rcParams)
    figures.install()
    assert dict(matplotlib.rcParams) == before and drawn()._repr_html_() is None


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_figure_of_a_lesson_is_shown_so(path):
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    shown = [output.data for cell in cells for output in cell.outputs if "data" in output]
    stills = [data for data in shown if "viz-graph" in data.get("image/svg+xml", "")]  # those that viz shows
    assert not [d for d in shown if "image/png" in d or ("image/svg+xml" in d and d not in stills)]
    plots = [data["text/html"] for data in shown if 'class="plot"' in data.get("text/html", "")]
    assert len(plots) >= sum("plt.show()" in c.source and "def " not in c.source for c in cells)
    for plot in plots:
        size, packed = re.search(r'alt="Plot: [^"]+" width="(\d+)".*base64,([^"]*)"', plot).groups()
        svg = base64.b64decode(packed).decode()
        assert 200 < int(size) < 900 and figures.STYLE in svg
        default = {"#1f77b4", "#ff7f0e", "#2ca02c"}  # matplotlib's, which do not follow a theme
        assert not default & colours(svg)
