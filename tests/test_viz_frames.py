"""A pass as pictures for slides: one frame per step, all of one size, the caption in it, no layout moved."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import minigrad as mg
import viz
from tests.viz_gallery import GALLERY
from viz.picture.layout import painted
from viz.show.frames import DPI, for_slides, frame_dot
from viz.show.payload import Payload


def diamond() -> viz.stepper.Stepper:
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x
    a = y + 1
    b = y * 2
    c = a + b
    return viz.step(c)


def dot_of(data: Payload, k: int) -> str:
    """The first picture of a pass after ``k`` steps."""
    return frame_dot(data, data.shown[0], k)


def test_the_gif_has_a_frame_for_each_step_and_one_before(tmp_path: Path):
    stepper = diamond()
    path = stepper.save(tmp_path / "steps.gif")
    with Image.open(path) as gif:
        assert gif.n_frames == 6
        assert gif.info["loop"] == 0
        seen = set()
        for k in range(gif.n_frames):
            gif.seek(k)
            assert gif.info["duration"] == (3000 if k == 5 else 1500)
            seen.add(gif.convert("RGB").tobytes())
        assert len(seen) == 6


def test_each_frame_is_the_picture_that_was_painted(tmp_path: Path):
    stepper = diamond()
    path = stepper.save(tmp_path / "steps.gif")
    assert path.stat().st_size < 90_000
    data, picture = stepper.data, for_slides(stepper.data)
    pictures = [painted(frame_dot(data, picture, k), "png", DPI) for k in range(6)]
    with Image.open(path) as gif:
        for k, single in enumerate(pictures):
            gif.seek(k)
            with Image.open(io.BytesIO(single)) as alone:
                shown, true = (np.asarray(one.convert("RGB"), int) for one in (gif, alone))
            apart = np.abs(shown - true).max(axis=2)
            white = (true > 238).all(axis=2) & (shown == 255).all(axis=2)  # Graphviz has several whites
            assert apart.max() <= 96 and (apart[~white] > 32).mean() < 0.01  # one palette for all frames


def test_the_png_series_is_numbered_and_of_one_size(tmp_path: Path):
    paths = diamond().save(tmp_path / "steps.png")
    assert [p.name for p in paths] == [f"steps-0{k}.png" for k in range(6)]
    assert len({Image.open(p).size for p in paths}) == 1


def test_a_frame_says_what_the_stepper_says():
    data = diamond().data
    dot = dot_of(data, 4)
    caption = re.search(r'caption \[.*label="((?:[^"\\]|\\.)*)"', dot).group(1).replace("\\l", " ")
    assert caption.split() == data["steps"][3]["sentence"].split()
    badges = dict(re.findall(r'^(f\d+)_n \[.*label="(\d+)"', dot, flags=re.M))
    assert badges == {step["node"]: str(number) for number, step in enumerate(data["steps"][:4], 1)}


def test_nothing_moves_from_frame_to_frame():
    data = diamond().data
    places = [
        dict(re.findall(r'^\s*(\w+) \[.*?pos="([^"]*)!"', dot_of(data, k), flags=re.M)) for k in range(6)
    ]
    for later in places[1:]:
        assert set(places[0]) <= set(later)
        assert all(later[ident] == place for ident, place in places[0].items())


def deep() -> viz.stepper.Stepper:
    layers = [part for _ in range(6) for part in (mg.nn.Linear(6, 6), mg.nn.Tanh())]
    net = mg.nn.Sequential(*layers, mg.nn.Linear(6, 1))
    return viz.step((net(mg.ones(4, 6)) ** 2).mean(), view="functions")


def test_slides_show_a_picture_that_is_narrow_enough_and_all_of_it(tmp_path: Path):
    layers = [part for _ in range(6) for part in (mg.nn.Linear(6, 6), mg.nn.Tanh())]
    stepper = viz.step((mg.nn.Sequential(*layers)(mg.ones(4, 6)) ** 2).mean())
    places = for_slides(stepper.data).at
    with Image.open(stepper.save(tmp_path / "deep.gif")) as gif:
        assert (
            gif.width <= 1100
            and gif.width >= places.width * DPI / 72
            and gif.height > places.height * DPI / 72
        )


def test_an_arrow_shows_the_numbers_or_a_heat_map():
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    few = viz.step((x * x).sum(), view="graph").data
    assert "label=<[1, 1, 1]>" in re.sub(
        r"<TABLE[^>]*><TR><TD>(\[.*?)</TD></TR></TABLE>", r"\1", dot_of(few, 1)
    )
    dot = dot_of(deep().data, 3)
    hot = next(t for t in dot.splitlines() if " -> " in t and "<TD FIXEDSIZE" in t)
    assert hot.count("<TD FIXEDSIZE") in (6, 24) and "(4, 6)" not in hot  # a bias, or 4 examples


def test_a_frame_of_cards_holds_the_numbers_that_are_known_by_then():
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x
    z = y * 3
    data = viz.step(z, view="cards").data
    box = next(i for i, n in data["nodes"].items() if n["name"] == "y") + "_grad"
    before, after = (next(t for t in dot_of(data, k).splitlines() if t.startswith(box)) for k in (1, 2))
    assert ">3</FONT>" not in before and ">3</FONT>" in after


def test_a_frame_shows_the_frames_of_modules():
    layer = mg.nn.Linear(2, 2)
    data = viz.step(layer(mg.ones(1, 2)).sum(), view="graph").data
    assert "<B>layer: Linear</B>" in dot_of(data, 0)


@pytest.mark.parametrize("name", sorted(set(GALLERY) - {"freed"}))
@pytest.mark.parametrize("view", ["graph", "cards", "functions"])
def test_every_graph_of_the_gallery_can_be_painted(name: str, view: str):
    result, names = GALLERY[name](mg)
    roots = result if isinstance(result, list) else [result]
    data = viz.step(*roots, names=names, view=view).data
    for k in (0, len(data["steps"])):
        assert painted(dot_of(data, k), "png", 40).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "name", ['a"; b [label="x', "\\N\\G\\E", "<b>bold</b>", "{x|y}", "x\ny\tz\x00", "ü→∂" * 50]
)
def test_hostile_names_stay_text(name: str):
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    z = (x * x).sum()
    data = viz.step(z, names={name: x}).data
    picture = Image.open(io.BytesIO(painted(dot_of(data, len(data["steps"])), "png", 60)))
    small = viz.step((x * x).sum(), names={"x": x}).data
    plain = Image.open(io.BytesIO(painted(dot_of(small, 0), "png", 60)))
    assert abs(picture.height - plain.height) < 30


def test_other_endings_are_refused(tmp_path: Path):
    with pytest.raises(ValueError, match=r"\.html, \.gif or \.png"):
        diamond().save(tmp_path / "steps.mp4")
