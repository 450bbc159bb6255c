"""Two lanes: each value above its own gradient, values to the right, gradients back, for each kind of graph."""

from __future__ import annotations

import pytest

import minigrad
import viz

from .viz_gallery import GALLERY

WAYS = {"LR": (0, 1), "TB": (1, 0)}  # the axis along a lane, and the one across


def drawn(name: str, direction: str = "LR", **options):
    tensors, names = GALLERY[name](minigrad)
    return viz.draw(tensors, view="lanes", direction=direction, names=names, **options)


def corner(drawing, item) -> tuple[float, float]:
    return drawing.places.items[item.id]


@pytest.mark.parametrize("direction", WAYS)
@pytest.mark.parametrize("name", GALLERY)
def test_each_gradient_has_the_place_and_the_size_of_its_value(name, direction):
    drawing = drawn(name, direction)
    along, across = WAYS[direction]
    shifts = set()
    for below, above in drawing.picture.below.items():
        if below.outline == "card":
            assert (below.width, below.height) == (above.width, above.height)
            assert below.boxes["grad"][2:] == above.boxes["value"][2:]
            assert below.output is above.output
        a, b = corner(drawing, above), corner(drawing, below)
        middle = [q[along] + (i.width, i.height)[along] / 2 for q, i in ((a, above), (b, below))]
        assert middle[0] == pytest.approx(middle[1])
        shifts.add(
            round(
                b[across]
                + (below.width, below.height)[across] / 2
                - a[across]
                - (above.width, above.height)[across] / 2
            )
        )
    assert len(shifts) == 1
    lowest = max(corner(drawing, i)[across] for i in drawing.picture.items if i not in drawing.picture.below)
    assert min(corner(drawing, i)[across] for i in drawing.picture.below) > lowest


@pytest.mark.parametrize("direction", WAYS)
@pytest.mark.parametrize("name", GALLERY)
def test_values_flow_one_way_and_gradients_the_other(name, direction):
    drawing = drawn(name, direction)
    along = WAYS[direction][0]
    for link in drawing.picture.links:
        tail, head = (
            corner(drawing, i)[along] + (i.width, i.height)[along] / 2 for i in (link.tail, link.head)
        )
        assert (tail < head) == (link.kind == "flow"), link.tooltip
        _, tip = drawing.places.lines[link.id]
        assert (tip is None) == link.headless


AROUND = {  # programs that use a value again after computing others from it
    "once": lambda x: (x * 3).sqrt() ** 2 + x * 3,
    "beside two": lambda x: ((u := x * 3).exp().sin() * 2 + u).mean(),
    "from the start": lambda x: (x.exp().sin().tanh() * x + x.cos()).sum(),
    "twice": lambda x: ((u := x * 3).exp().sin() + u).tanh() * u,
}


@pytest.mark.parametrize("direction", WAYS)
@pytest.mark.parametrize("name", [*GALLERY, *AROUND])
def test_an_arrow_passes_no_card_and_stays_in_its_own_lane_and_in_the_picture(name, direction):
    """This also holds for an arrow that goes around an obstacle."""
    if name in GALLERY:
        drawing = drawn(name, direction)
    else:
        x = minigrad.tensor([0.5, 2.0], requires_grad=True)
        drawing = viz.draw(AROUND[name](x), view="lanes", direction=direction)
    at, across = drawing.places, WAYS[direction][1]
    cards = [i for i in drawing.picture.items if i.outline == "card"]
    for link in drawing.picture.links:
        way = at.ways[link.id]
        for card in cards:
            if card not in (link.tail, link.head):
                (x, y), (w, h) = at.items[card.id], (card.width, card.height)
                inside = (way.real > x) & (way.real < x + w) & (way.imag > y) & (way.imag < y + h)
                assert not inside.any(), (link.tooltip, card.name)
        apart, reach = at.apart[across], (way.real, way.imag)[across]
        assert (reach > apart).all() if link in drawing.picture.mirrors else (reach < apart).all()
        assert reach.min() >= 0 and reach.max() <= (at.width, at.height)[across]


@pytest.mark.parametrize("name", GALLERY)
def test_no_diamond_no_cylinder_and_no_word_of_the_debugger(name):
    svg = drawn(name).svg.partition("</style>")[2]
    assert not [i for i in drawn(name).picture.items if i.outline not in ("card", "pill")]
    for word in ("grad_fn", ">requires_grad", ">AccumulateGrad"):
        assert word not in svg


def test_it_is_the_default_for_small_graphs_only_and_where_nothing_is_wider_than_a_page():
    x = minigrad.tensor(1.0, requires_grad=True)
    y = x
    for n in range(1, 15):
        y = y.sin()
        drawing = viz.draw(y)
        assert drawing.picture.view == "lanes" or n > 6
        assert drawing.picture.view != "lanes" or n <= 12
        assert drawing.places.width <= 1_100 and drawing.places.height <= 1_200
    wide = minigrad.ones(3, 40, requires_grad=True)
    assert viz.draw(wide.sum()).picture.view == "lanes"


def words(drawing, kind: str) -> list[str]:
    return [line.text for item in drawing.picture.items if item.kind == kind for line in item.lines]


def test_what_a_tensor_is_stands_on_its_card():
    drawing = drawn("source_example")
    assert words(drawing, "leaf") == ["w", "(3, 1) · learns", "w.grad", "(3, 1)"]
    assert words(drawing, "input") == ["x", "(1, 3) · data"]
    assert words(drawing, "op") == ["@", "mean"]
    assert words(drawing, "function") == ["MmBackward0", "MeanBackward0"]
    assert words(drawing, "gradient") == ["grad of y", "(1, 1)", "grad of z", "scalar"]


def test_where_paths_meet_the_gradient_is_a_sum():
    assert "scalar · sum of 2" in words(drawn("diamond"), "gradient")


def test_a_hook_and_a_gradient_that_is_there_already_are_described_in_words():
    assert "scalar · hook" in words(drawn("hooks"), "gradient")
    assert "scalar · hook" in words(drawn("hooks"), "leaf")
    drawing = drawn("freed")
    assert "scalar · adds to it · sum of 2" in words(drawing, "leaf")
    assert f">{drawing.graph.leaves[0].leaf_grad.array.item():.4g}<" in drawing.svg


def test_a_detached_value_flows_on_and_nothing_comes_back():
    x = minigrad.tensor(3.0, requires_grad=True)
    y = x * 2
    d = y.detach()
    z = y * d
    drawing = viz.draw(z)
    assert words(drawing, "op").count("detach") == 1
    assert words(drawing, "cut") == ["nothing comes back"]
    (link,) = (a for a in drawing.picture.links if a.tail.name == "detach")
    assert link.head.name == "d"


def test_an_operation_says_its_numbers():
    x = minigrad.tensor([[1.0, 2.0]], requires_grad=True)
    with viz.record():
        z = ((4 - x) * 2).sum(1)[0] ** 3
    assert words(viz.draw(z), "op") == ["4 -", "* 2", "sum(1)", "[0]", "** 3"]
