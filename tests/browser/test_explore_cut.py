"""Cutting an edge in viz.explore, in real JupyterLab: by a click in the picture, by keys alone, and back again."""

from __future__ import annotations

from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages import Pane, pointed, until
from tests.browser.test_widgets_lab import KERNEL, opened, run
from tools.jupyterlab import Lab

EXPLORE = """\
import minigrad as torch
import viz

def f(x, w, b):
    y = x * w
    a = y + b
    return y * a

viz.explore(f, x=2.0, w=3.0, b=1.0)"""

HALFWAY = """(line) => {
    const { x, y } = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
    return [x, y];
}"""
IN_SIGHT = """(() => {
    const at = (e) => e.getBoundingClientRect(), view = at(document.querySelector(".mgv-view"));
    const nodes = [...document.querySelectorAll(".mgv-svg .node")].map(at);
    const out = (b) => b.left < view.left || b.right > view.right || b.top < view.top || b.bottom > view.bottom;
    return nodes.length === 6 && !nodes.some(out) && view.right <= innerWidth;
})()"""


def cut(page: Page, edge: str) -> None:
    """Click on an edge, where its line runs."""
    line = page.locator(".mgv-hit", has=page.locator("title", has_text=f"Cut {edge}"))
    line.scroll_into_view_if_needed()
    pointed(line, lambda: page.mouse.move(*line.evaluate(HALFWAY)))
    page.mouse.down()
    page.mouse.up()


def test_an_edge_is_cut_by_a_click_and_joined_by_keys(browser: Browser, lab: Lab):
    book = new_notebook(cells=[new_code_cell(EXPLORE)], metadata=KERNEL)
    with opened(browser, lab, book) as lesson:
        run(lesson)
        page, pane = lesson.page, Pane(lesson.page)
        assert pane.grads() == {"x": [39.0], "w": [26.0], "b": [6.0]}
        cut(page, "f → a")
        page.wait_for_selector(".mgv-svg .edge.cut")
        assert pane.grads() == {"x": [21.0], "w": [14.0], "b": None}
        said = page.locator("p[role=status]", has_text="f → a is cut")
        assert "as if a were detached there. .grad of x was 39 and is now 21." in said.inner_text()
        assert "No gradient reaches b and a any more." in said.inner_text()
        assert page.locator(".mgv-svg .node.unreached").count() == 2

        assert page.locator(".jp-OutputArea select").count() == 0
        pane.button("More").focus()
        page.keyboard.press("Enter")
        edge = page.get_by_role("button", name="f → a", exact=True)
        expect(edge).to_have_attribute("aria-pressed", "true")
        while not edge.evaluate("(it) => it === document.activeElement"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector(".mgv-svg .edge.cut", state="detached")
        assert pane.grads() == {"x": [39.0], "w": [26.0], "b": [6.0]}
        page.get_by_role("button", name="Undo").focus()
        expect(page.locator(":focus")).to_have_text("Undo")
        page.keyboard.press("Enter")
        page.wait_for_selector(".mgv-svg .edge.cut")


def test_in_a_narrow_window_everything_is_in_sight_and_can_be_cut(browser: Browser, lab: Lab):
    book = new_notebook(cells=[new_code_cell(EXPLORE)], metadata=KERNEL)
    with lab.open(browser, "book.ipynb", book=book, width=900, height=900) as lesson:
        run(lesson)
        page = lesson.page
        until(page, IN_SIGHT)
        cut(page, "f → a")
        page.wait_for_selector(".mgv-svg .edge.cut")
        assert Pane(page).grads() == {"x": [21.0], "w": [14.0], "b": None}
        until(page, IN_SIGHT)
        assert lesson.complaints == []
