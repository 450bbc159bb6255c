"""A drawing in a page: its words can be selected and found, it can be zoomed, and where no script runs the image stays."""

from __future__ import annotations

import pytest

import minigrad
import viz

ATTACK = "<img src=x onerror=alert(1)>"


@pytest.fixture
def html() -> str:
    w = minigrad.tensor([1.0, 2.0], requires_grad=True)
    return viz.draw((w * 2).sum(), names={ATTACK: w})._repr_mimebundle_()["text/html"]


@pytest.fixture
def page(browser):
    page = browser.new_page()
    yield page
    page.close()


def shown(page, html: str, theme: str = "") -> None:
    page.set_content(f"<meta charset=utf-8><body {theme}>{html}{html}</body>")


def test_its_words_are_part_of_the_page(page, html):
    page.on("dialog", lambda dialog: pytest.fail("a name was run"))
    shown(page, html)
    page.wait_for_selector(".viz-drawing svg")
    assert page.locator(".viz-drawing svg text", has_text="grad of").count()
    assert "MulBackward0" in page.locator(".viz-drawing").first.inner_text()
    assert page.locator(".viz-drawing img").count() == 0
    assert page.evaluate("[...document.querySelectorAll('[id]')].length") == 0


def test_it_is_zoomed_by_its_buttons(page, html):
    shown(page, html)
    page.wait_for_selector(".viz-drawing svg")
    width = "document.querySelector('.viz-drawing svg').getBoundingClientRect().width"
    before = page.evaluate(width)
    page.hover(".viz-drawing >> nth=0")
    page.locator(".viz-drawing >> nth=0").get_by_role("button", name="Larger").click()
    assert page.evaluate(width) == pytest.approx(1.25 * before, rel=0.01)
    page.locator(".viz-drawing >> nth=0").get_by_role("button", name="Fit").click()
    assert page.evaluate(width) == pytest.approx(before, rel=0.01)


def test_it_has_the_theme_of_the_notebook_also_when_that_changes(page, html):
    page.emulate_media(color_scheme="dark")
    shown(page, html)
    page.wait_for_selector(".viz-drawing svg")
    look = """() => ['.viz-drawing .panel', '.viz-drawing div + div'].map((part) => document.querySelector(part))
        .map((el) => [getComputedStyle(el).fill, getComputedStyle(el).backgroundColor])"""
    light, dark = "rgb(255, 255, 255)", "rgb(22, 27, 34)"
    [panel, _], [_, bar] = page.evaluate(look)
    assert panel == dark and bar != light
    for theme, colour in (("true", light), ("false", dark), ("true", light)):
        page.evaluate("(theme) => { document.body.dataset.jpThemeLight = theme; }", theme)
        [panel, _], [_, bar] = page.evaluate(look)
        assert panel == colour and (bar == light) == (theme == "true")


def test_where_no_script_runs_the_image_stays(browser, html):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    shown(page, html)
    assert page.locator("img").count() == 2 and page.locator("svg").count() == 0
    context.close()
