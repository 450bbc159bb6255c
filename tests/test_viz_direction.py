"""One direction everywhere: values flow to the right or down, gradients back; and a default drawing can be read on a page."""

from __future__ import annotations

import re

import pytest

import minigrad
import viz
from tools.gallery import OWN
from viz.picture.choose import DETAIL, PAGE, pictures_of
from viz.picture.layout import places
from viz.picture.views import VIEWS

from .viz_gallery import GALLERY

PROGRAMS = GALLERY | OWN
FORWARD = {"flow", "forward"}  # all other arrows go back, or connect an item to what is next to it


def against(picture) -> list[str]:
    """The arrows of a picture that go the wrong way."""
    at, axis = places(picture), 0 if picture.direction == "LR" else 1
    middle = {i: at.items[i.id][axis] + (i.width, i.height)[axis] / 2 for i in picture.items}
    found = []
    for link in picture.links:
        before, after = (link.tail, link.head) if link.kind in FORWARD else (link.head, link.tail)
        if middle[before] > middle[after] + 1 and link.kind not in ("saved", "store", "cut"):
            found.append(f"{link.kind}: {link.tooltip}")
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_flow_to_the_right_or_down_in_every_picture(name):
    tensors, names = PROGRAMS[name](minigrad)
    graph = viz.draw(tensors, names=names).graph
    pictures = [*pictures_of(graph), *pictures_of(graph, page=True)]
    for view in VIEWS if len(graph) <= DETAIL else ():
        pictures += pictures_of(graph, view)
    assert {p.direction for p in pictures} <= {"LR", "TB"}
    assert not any(p.saved for p in pictures)  # saved tensors are drawn only on request
    for picture in pictures:
        assert not against(picture), (picture.view, picture.direction)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_root_is_at_the_end_of_what_flows(name):
    tensors, names = PROGRAMS[name](minigrad)
    drawing = viz.draw(tensors, names=names)
    axis = 0 if drawing.picture.direction == "LR" else 1
    last = max(
        drawing.picture.items, key=lambda i: drawing.places.items[i.id][axis] + (i.width, i.height)[axis]
    )
    assert "root" in last.classes or last.members


def test_bottom_to_top_is_refused_in_words():
    x = minigrad.tensor(1.0, requires_grad=True)
    with pytest.raises(
        ValueError, match=r"direction must be 'LR' \(left to right\) or 'TB' \(top to bottom\), not 'BT'"
    ):
        viz.draw(x * 2, direction="BT")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_default_drawing_fits_a_page_and_no_word_in_it_is_smaller_than_nine_points(name):
    tensors, names = PROGRAMS[name](minigrad)
    drawing = viz.draw(tensors, names=names)
    assert drawing.places.width <= PAGE[0] and drawing.places.height <= PAGE[1]
    assert min(float(size) for size in re.findall(r'font-size="([\d.]+)"', drawing.svg)) >= 9
