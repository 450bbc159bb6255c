"""The exam in JupyterLab: answers given in its steppers on the page are in the report, which is one sheet."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, expect

from exercises.exam import SEE, Report, Result
from tests.lesson_files import NOTEBOOKS, read

EXAM = NOTEBOOKS / "exam.ipynb"
IDS = ["progress-file", *(cell.id for cell in read(EXAM).cells)]
ASKED = "async () => void await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestKernelInfo()"


@pytest.fixture
def open_exam(open_lesson, tmp_path: Path):
    """The exam open in JupyterLab, with a separate progress file, named by an extra first cell."""
    book = nbformat.from_dict(read(EXAM))
    place = f"import os\n\nos.environ['MINIGRAD_PROGRESS'] = {str(tmp_path / 'progress.json')!r}"
    book.cells.insert(0, nbformat.v4.new_code_cell(place, id=IDS[0]))
    return lambda: open_lesson("exam.ipynb", book=book)


def cell(lesson, ident: str) -> Locator:
    found = lesson.page.locator(".jp-Notebook .jp-Cell").nth(IDS.index(ident))
    found.scroll_into_view_if_needed()
    return found


def forward(stepper: Locator) -> None:
    """Ask for the next step, as the key does."""
    stepper.locator(".mgv-frame").focus()
    stepper.page.keyboard.press("ArrowRight")
    expect(stepper.locator(".mgv-ask")).to_be_visible()


def answer(stepper: Locator, text: str) -> None:
    stepper.locator(".mgv-answer").fill(text)
    stepper.page.keyboard.press("Enter")


def run(lesson, ident: str) -> Locator:
    """Run a cell again; returns it when it has ended."""
    found = cell(lesson, ident)
    found.locator(".jp-InputArea-editor").click()
    before = found.locator(".jp-InputPrompt").inner_text()
    lesson.page.keyboard.press("Control+Enter")
    expect(found.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]"))
    expect(found.locator(".jp-InputPrompt")).not_to_have_text(before)
    return found


def reported(lesson) -> list[list[str]]:
    """The report, run again: a row for each graph and question, without the row of totals."""
    lesson.page.evaluate(ASKED)  # the last answer has reached the kernel, too
    rows = run(lesson, "report").locator(".jp-OutputArea table tr")
    expect(rows).to_have_count(15)
    return [row.locator("td").all_inner_texts() for row in rows.all()[1:-1]]


def stepper_of(lesson, ident: str) -> Locator:
    return cell(lesson, ident).locator(".mgv[data-ready]")


def test_what_is_answered_on_the_page_stands_in_the_report_and_is_never_lost(open_exam):
    lesson = open_exam()
    lesson.run_all()
    expect(run(lesson, "report").locator(".jp-OutputArea")).to_contain_text(
        "Nothing has been answered yet: 13 questions"
    )

    table = stepper_of(lesson, "one-step")
    assert table.get_by_role("checkbox", name="Ask me").count() == 0
    for number, right in enumerate(("[[1/2, 1/2]]", "[[1, 2]]", "[[1, 2]]"), 1):
        forward(table)
        assert table.get_by_role("button", name="Just show me").count() == 0
        if number == 2:  # a mistake first
            answer(table, "[[-1, -2]]")
            expect(table.locator(".mgv-feedback")).to_contain_text("sign")
        answer(table, right)
        expect(table).to_have_attribute("data-step", str(number))

    order = stepper_of(lesson, "two-step")
    forward(order)
    order.get_by_role("button", name="Show this step").click()
    expect(order).to_have_attribute("data-step", "1")

    masked = stepper_of(lesson, "eight-step")
    for number, right in enumerate(("[1, 1]", "[0, 1]", "[nan, 0]"), 1):
        forward(masked)
        if number == 3:
            answer(masked, "[0, 0]")
            expect(masked.locator(".mgv-feedback")).to_contain_text("nan")
        answer(masked, right)
        expect(masked).to_have_attribute("data-step", str(number))

    rows = {row[0]: row[1:] for row in reported(lesson)}
    assert rows["1"] == ["4", "2", "1", "0", "1", "sign", "1, 3"]
    asked = rows["2"][0]
    assert rows["2"] == [asked, "0", "0", "1", str(int(asked) - 1), "", "4"]
    assert rows["8"] == ["5", "2", "1", "0", "2", "not finite", "14"]
    assert [row for row in rows.values() if row[1:4] != ["0", "0", "0"]] == [rows["1"], rows["2"], rows["8"]]

    # a cell that is run again steps its own graph, with the old answers: it asks only from there on
    again = run(lesson, "one-step").locator(".mgv[data-ready]")
    again.locator(".mgv-frame").focus()
    lesson.page.keyboard.press("End")
    expect(again).to_have_attribute("data-step", "3")
    expect(again.locator(".mgv-ask")).to_contain_text("w1.grad")
    assert {row[0]: row[1:] for row in reported(lesson)} == rows

    # so does all of it after a restart of the kernel
    lesson.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    lesson.run_all()
    assert {row[0]: row[1:] for row in reported(lesson)} == rows


def test_a_step_cannot_be_looked_at_unasked(open_exam):
    """No button, slider or click on a node shows it, even after "just show me" in another stepper."""
    lesson = open_exam()
    lesson.page.evaluate("() => localStorage.setItem('mgv-just-show-me', 'yes')")
    lesson.run_all()
    stepper = stepper_of(lesson, "five-step")
    stepper.scroll_into_view_if_needed()
    slider = stepper.locator(".mgv-slider")
    for act in (
        lambda: slider.evaluate("(s) => { s.value = s.max; s.dispatchEvent(new Event('input')); }"),
        lambda: stepper.get_by_role("button", name="To the end").click(),
        lambda: stepper.get_by_role("button", name="Forward one step").click(),
        lambda: stepper.locator("g.node").last.click(),
    ):
        act()
        expect(stepper).to_have_attribute("data-step", "0")
    expect(stepper.locator(".mgv-ask")).to_be_visible()
    assert "11" not in stepper.inner_text(), "the end is not in sight"


def test_a_question_does_not_say_how_a_hook_changed_the_sum(open_exam):
    lesson = open_exam()
    lesson.run_all()
    stepper = stepper_of(lesson, "seven-step")
    for number, right in enumerate(("1", "5"), 1):
        forward(stepper)
        answer(stepper, right)
        expect(stepper).to_have_attribute("data-step", str(number))
    forward(stepper)
    expect(stepper.locator(".mgv-ask")).to_contain_text("in total")
    expect(stepper).not_to_contain_text("a hook changed it")
    answer(stepper, "2")
    expect(stepper).to_contain_text("but 2 arrived: a hook changed it")


def test_the_report_is_one_sheet_of_paper(browser: Browser, tmp_path: Path):
    """This holds even if every graph went wrong, with six causes in the last column."""
    full = [Result(number, 9, 0, 9, 0, tuple(SEE)[:6]) for number in range(1, 14)]
    page = browser.new_page()
    try:
        page.goto(Report(full).save(tmp_path / "exam.html").as_uri())
        expect(page.locator("tr")).to_have_count(15)
        sheet = page.pdf(format="A4", path=tmp_path / "exam.pdf")
        assert len(re.findall(rb"/Type\s*/Page\b", sheet)) == 1
    finally:
        page.close()
