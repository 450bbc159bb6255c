"""A lesson page of the site whose cells run, over plain http; a reader types and opens things. The worker echoes the code."""

from __future__ import annotations

from pathlib import Path

from nbformat.v4 import new_code_cell
from playwright.sync_api import Browser, expect

from tools.site import lesson_body, page_of

ECHO = """onmessage = ({ data }) => {
    if (data.start) return postMessage({ ready: true, kept: true });
    postMessage({ id: data.id, text: data.run });
    postMessage({ id: data.id, done: true });
};"""
LIVE = Path(__file__).parents[2] / "tools" / "live.js"
FOLDED = "def draw():\n    return 'a curve'\n\n\ndraw()"


def test_a_folded_cell_runs_and_opens_and_keeps_what_is_typed(browser: Browser):
    cells = [new_code_cell("x = 1"), new_code_cell(FOLDED), new_code_cell("x + 1")]
    cells[1].metadata["jupyter"] = {"source_hidden": True}
    text = page_of("lesson", "Lesson", lesson_body(cells), live=True)
    script = {"content_type": "text/javascript"}
    with browser.new_context() as context:
        context.route("**/lesson.html", lambda route: route.fulfill(body=text, content_type="text/html"))
        context.route("**/live.js", lambda route: route.fulfill(path=LIVE, **script))
        context.route("**/live-worker.js", lambda route: route.fulfill(body=ECHO, **script))
        page = context.new_page()
        page.goto("http://lessons.test/lesson.html")
        cell = page.locator("main .code").nth(1)
        shown = cell.locator("xpath=following-sibling::*[1]")
        expect(cell.locator("pre")).to_be_hidden()
        expect(cell.get_by_text("def draw():").first).to_be_visible()

        page.get_by_role("button", name="Run this page").click()
        page.get_by_role("button", name="Run cell 2").click()
        expect(shown).to_have_text(FOLDED)
        cell.locator("summary").click()
        cell.locator("pre").click()
        page.keyboard.press("Control+A")
        page.keyboard.type("draw = 2")
        page.keyboard.press("Shift+Enter")
        expect(shown).to_have_text("draw = 2")

        page.reload()  # the typed code is still there, and runs although the cell is folded
        page.get_by_role("button", name="Run this page").click()
        page.get_by_role("button", name="Run cell 2").click()
        expect(shown).to_have_text("draw = 2")
