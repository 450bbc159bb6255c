"""A page of the site contains the program of its steppers only once, however many there are."""

from __future__ import annotations

import html

import nbformat

from exercises.suite import NOTEBOOKS
from tools import site
from tools.once import FRAME, PACKED, _read, once

EXAM = site.lesson_body(nbformat.read(NOTEBOOKS / "exam.ipynb", 4).cells)


def test_the_exam_carries_the_front_end_once_and_every_frame_its_own_data():
    page = once(EXAM)
    before, after = ([html.unescape(f[2]) for f in FRAME.finditer(text)] for text in (EXAM, page))
    assert len(before) == len(after) == 10
    assert page.count('id="program-') == 1 and len(page) < 0.6 * len(EXAM)
    for whole, parted in zip(before, after, strict=True):
        assert "parent.postMessage({ program: 0 }" in parted and "{ js, css, data" not in parted
        assert len(PACKED.search(parted)[2]) < 0.6 * len(PACKED.search(whole)[2])


def test_what_is_packed_is_read_as_it_was():
    frame = _read(html.unescape(FRAME.search(EXAM)[2]))
    assert "mount" in frame["js"] and ".mgv" in frame["css"] and frame["options"]["insist"] is True


def test_one_frame_alone_and_other_frames_stay_as_they_are():
    alone = FRAME.search(EXAM)[0]
    assert once(alone) == alone
    other = '<iframe class="viz-live" srcdoc="&lt;p&gt;"></iframe>'
    assert once(other * 2) == other * 2
