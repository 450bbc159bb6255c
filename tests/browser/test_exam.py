"""The exam in JupyterLab: what is answered in its steppers on the page stands in the report, which is one sheet."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Locator, expect

from exercises.exam import SEE, Report, Result
from tests.lesson_files import NOTEBOOKS, read

EXAM = NOTEBOOKS / "exam.ipynb"
IDS = [cell.id for cell in read(EXAM).cells]
ASKED = "async () => void await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestKernelInfo()"


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


def reported(lesson) -> list[list[str]]:
    """The report, run again: a row for each graph, without the row of the sums."""
    lesson.page.evaluate(ASKED)  # what was answered last has reached the kernel, too
    report = cell(lesson, "report")
    report.locator(".jp-InputArea-editor").click()
    before = report.locator(".jp-InputPrompt").inner_text()
    lesson.page.keyboard.press("Control+Enter")
    expect(report.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]"))
    expect(report.locator(".jp-InputPrompt")).not_to_have_text(before)
    rows = report.locator(".jp-OutputArea table tr")
    expect(rows).to_have_count(12)
    return [row.locator("td").all_inner_texts() for row in rows.all()[1:-1]]


def test_what_is_answered_on_the_page_stands_in_the_report(open_lesson):
    lesson = open_lesson("exam.ipynb")
    lesson.run_all()
    untouched = reported(lesson)
    assert len(untouched) == 10
    assert all(
        first == later == shown == "0" and asked == left
        for _, asked, first, later, shown, left, _ in untouched
    )

    table = cell(lesson, "one-step").locator(".mgv[data-ready]")
    for number, right in enumerate(("[[1/2, 1/2]]", "[[1, 2]]", "[[1, 2]]"), 1):
        forward(table)
        if number == 2:  # a mistake first
            answer(table, "[[-1, -2]]")
            expect(table.locator(".mgv-feedback")).to_contain_text("sign")
        answer(table, right)
        expect(table).to_have_attribute("data-step", str(number))

    order = cell(lesson, "two-step").locator(".mgv[data-ready]")
    forward(order)
    order.get_by_role("button", name="Show this step").click()
    expect(order).to_have_attribute("data-step", "1")

    masked = cell(lesson, "eight-step").locator(".mgv[data-ready]")
    for number, right in enumerate(("[1, 1]", "[0, 1]", "[nan, 0]"), 1):
        forward(masked)
        if number == 3:
            answer(masked, "[0, 0]")
            expect(masked.locator(".mgv-feedback")).to_contain_text("nan")
        answer(masked, right)
        expect(masked).to_have_attribute("data-step", str(number))

    rows = {row[0]: row[1:] for row in reported(lesson)}
    assert rows["1"] == ["4", "2", "1", "0", "1", "sign (lesson 1)"]
    asked = rows["2"][0]
    assert rows["2"] == [asked, "0", "0", "1", str(int(asked) - 1), ""]
    assert rows["8"] == ["5", "2", "1", "0", "2", "not finite (lesson 14)"]
    assert [row for row in rows.values() if row[1:4] != ["0", "0", "0"]] == [rows["1"], rows["2"], rows["8"]]


def test_the_report_is_one_sheet_of_paper(browser: Browser, tmp_path: Path):
    """Even if every graph went wrong in every way, with all causes in the last column."""
    full = [Result(number, 9, 0, 9, 0, tuple(SEE)[:6]) for number in range(1, 11)]
    page = browser.new_page()
    try:
        page.goto(Report(full).save(tmp_path / "exam.html").as_uri())
        expect(page.locator("tr")).to_have_count(12)
        sheet = page.pdf(format="A4", path=tmp_path / "exam.pdf")
        assert len(re.findall(rb"/Type\s*/Page\b", sheet)) == 1
    finally:
        page.close()
