"""The tools of lesson 07: `where` says and draws where an engine goes wrong, `go_on` continues with a correct piece."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

import pytest

from exercises import lessons, tiny_engine
from exercises.workbench import go_on, where
from tests.geometry import SVG
from tests.test_hostile_answers import HOSTILE
from viz.read.text import width

CLASSIC = {
    "fires_again": ("x.grad is 16", "it fires 2 times, with 1, then 3"),
    "fires_too_early": ("x.grad is 4", "it fires once, with 1"),
    "overwrites": ("x.grad is 2", "it fires once, with 1"),
    "follows_paths": ("x.grad is 12", "it fires 2 times, with 1, then 2"),
}


@pytest.mark.parametrize("name", CLASSIC)
def test_a_broken_engine_is_reported_by_its_number_and_its_place(name):
    look = where(getattr(tiny_engine, name))
    for words in (*CLASSIC[name], "goes wrong at MulBackward0 of y", "It should fire once, with 3"):
        assert words in look.sentence
    assert look.svg.count("stroke-dasharray") >= 1 and 'alt="x.grad is' in look._repr_html_()


def test_the_cause_is_reported_for_an_engine_that_overwrites():
    assert "the last part overwrote the others" in where(tiny_engine.overwrites).sentence


def test_a_right_engine_is_called_right():
    look = where(tiny_engine.run)
    assert (
        look.sentence
        == "x.grad is 12. Each node fires once, with everything that it should receive, in the order of the reference."
    )


@pytest.mark.parametrize("engine", HOSTILE.values(), ids=HOSTILE)
def test_it_never_raises(engine):
    look = where(engine)
    assert (
        "12 is right" in look.sentence or "did not finish" in look.sentence or "`where(run)`" in look.sentence
    )
    assert "\n" not in repr(look) and len(repr(look)) <= 110 and "<script" not in look._repr_html_()


def test_an_engine_that_never_ends_is_cut_off():
    def endless(root, grad):
        while True:
            pass

    assert "stopped after" in where(endless).sentence


def test_the_lesson_goes_on_with_ones_own_piece_if_it_is_right(capsys):
    def own(ready):
        return ready.pop(ready.index(max(ready, key=lambda node: node.sequence)))

    assert go_on("7b.1", own) is own
    assert capsys.readouterr().out == "7b.1 is solved: the lesson goes on with your choose.\n"


@pytest.mark.parametrize(
    "answer", [..., None, 3, lambda ready: ready[0]], ids=["stub", "None", "number", "wrong"]
)
def test_and_with_the_reference_if_not(answer, capsys):
    choose = go_on("7b.1", answer)
    assert choose is not answer and choose.__name__ == "choose"
    assert capsys.readouterr().out == "7b.1 is open: the lesson goes on with the reference for choose.\n"


def test_a_piece_of_two_parts_comes_back_as_two(capsys):
    exercise = lessons.find_exercise("7.3")
    assert go_on("7.3", *exercise.reference) == exercise.reference
    assert "TanhBackward0 and tanh" in capsys.readouterr().out


@pytest.mark.parametrize("name", [*CLASSIC, "run"])
def test_no_text_of_its_drawing_is_cut_off_or_covers_another(name):
    root = ET.fromstring(where(getattr(tiny_engine, name)).svg)
    left, top, wide, high = map(float, root.get("viewBox").split())
    boxes = []
    for text in root.iter(f"{SVG}text"):
        size = float(text.get("font-size", 12))
        half = width("".join(text.itertext()), size) / 2
        x, y = float(text.get("x")), float(text.get("y"))
        boxes.append((x - half, y - 0.75 * size, x + half, y))
        assert left <= x - half and x + half <= left + wide and top <= y - size and y <= top + high
    assert len(boxes) > 12
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
        assert a >= g or e >= c or b >= h or f >= d
