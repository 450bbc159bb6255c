"""The exam in JupyterLab: what is answered in its steppers on the page stands in the report that the kernel writes."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.lesson_files import NOTEBOOKS, read

EXAM = NOTEBOOKS / "exam.ipynb"
IDS = [cell.id for cell in read(EXAM).cells]


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
    report = cell(lesson, "report")
    report.locator(".jp-InputArea-editor").click()
    before = report.locator(".jp-InputPrompt").inner_text()
    lesson.page.keyboard.press("Control+Enter")
    expect(report.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]"))
    expect(report.locator(".jp-InputPrompt")).not_to_have_text(before)
    rows = report.locator(".jp-OutputArea table tr")
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

    chain = cell(lesson, "one-step").locator(".mgv[data-ready]")
    for number, right in enumerate(("4", "24", "-24"), 1):
        forward(chain)
        if right == "24":  # a mistake first
            answer(chain, "-24")
            expect(chain.locator(".mgv-feedback")).to_contain_text("sign")
        answer(chain, right)
        expect(chain).to_have_attribute("data-step", str(number))

    order = cell(lesson, "four-step").locator(".mgv[data-ready]")
    forward(order)
    order.get_by_role("button", name="Show this step").click()
    expect(order).to_have_attribute("data-step", "1")

    rows = {row[0]: row[1:] for row in reported(lesson)}
    assert rows["1"] == ["4", "2", "1", "0", "1", "sign (lesson 1)"]
    asked = rows["4"][0]
    assert rows["4"] == [asked, "0", "0", "1", str(int(asked) - 1), ""]
    assert [row for row in rows.values() if row[1:4] != ["0", "0", "0"]] == [rows["1"], rows["4"]]
