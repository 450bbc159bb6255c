"""A lesson in JupyterLab as a learner sees it: width of the text, cards, the field of a prediction, folded code."""

from __future__ import annotations

import json
from collections.abc import Iterator

import nbformat
import pytest
from playwright.sync_api import Browser, expect

from tools import learners_copy
from tools.jupyterlab import NOTEBOOKS, Lab, Lesson

NAME = "06_vectors_in_vectors_out.ipynb"
WIDTHS = """() => [...document.querySelectorAll(".jp-RenderedMarkdown > p, .jp-RenderedMarkdown > ul")]
    .map((part) => part.getBoundingClientRect().width / parseFloat(getComputedStyle(document.documentElement).fontSize))"""
BAR = "(part) => getComputedStyle(part).borderLeftColor"


@pytest.fixture(scope="module")
def lesson(lab: Lab, browser: Browser) -> Iterator[Lesson]:
    text = learners_copy.clean(json.loads((NOTEBOOKS / NAME).read_text(encoding="utf-8")))
    with lab.open(browser, NAME, book=nbformat.reads(text, 4)) as lesson:
        lesson.run_all()
        yield lesson
        assert lesson.complaints == []


def test_text_is_at_most_46_rem_wide_and_code_is_not(lesson: Lesson):
    assert 30 < max(lesson.page.evaluate(WIDTHS)) <= 46
    code = lesson.page.locator(".jp-CodeCell .jp-InputArea-editor").first.bounding_box()
    assert code["width"] > 46 * 16


def test_an_exercise_is_a_card_that_names_the_lines_to_fill_in(lesson: Lesson):
    card = lesson.page.locator(".jp-RenderedMarkdown", has_text="Exercise 6.2").first
    expect(card).to_contain_text("line 6 is yours")
    plain = lesson.page.locator(".jp-RenderedMarkdown", has_text="Three choices").first
    assert card.evaluate(BAR) != plain.evaluate(BAR)
    expect(lesson.page.locator(".jp-CodeCell", has_text="def rows_of_jacobian").first).to_contain_text(
        "# your line"
    )


def test_a_prediction_is_typed_answered_and_there_again_when_its_cell_runs_again(lesson: Lesson):
    page, cell = lesson.page, lesson.page.locator(".jp-CodeCell", has_text='predict("6.b"').first
    field = cell.get_by_role("textbox", name="the gradient of")
    assert "30" not in cell.inner_text()
    field.fill("30")
    field.press("Enter")
    expect(cell.get_by_text("You expect 30")).to_be_visible()
    cell.get_by_text("I have looked").click()
    expect(cell.get_by_text("the other")).to_be_visible()
    field.fill("no idea")
    cell.get_by_role("button", name="Change it").click()
    expect(cell.get_by_text("That is not an answer")).to_be_visible()
    cell.get_by_role("button", name="skip").click()
    expect(cell.get_by_text("Skipped")).to_be_visible()
    cell.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")
    expect(cell.get_by_text("You expect 30")).to_be_visible()


def test_folded_code_says_what_it_is_for(lesson: Lesson):
    folded = lesson.page.locator(".jp-PlaceholderText").all_inner_texts()
    assert folded and all(text.startswith("# ") for text in folded)
