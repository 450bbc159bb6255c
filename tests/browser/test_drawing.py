"""A drawing in a page: its words can be selected and found, it can be zoomed, and where no script runs the image stays."""

from __future__ import annotations

import pytest

import minigrad
import viz
from tests.browser.pages import opened, until
from tests.browser.test_stepper_fit import attention, cnn, mlp, transformer
from tests.browser.test_stepper_places import cells, gan, siamese, triplet, unet, vae
from viz.picture.views import VIEWS
from viz.show.page import page as page_with
from viz.show.payload import payload

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
    for _ in range(9):
        page.locator(".viz-drawing >> nth=0").get_by_role("button", name="Larger").click()
    until(page, "document.querySelector('.viz-drawing > div').tabIndex === 0")  # the arrow keys scroll it
    page.locator(".viz-drawing >> nth=0").get_by_role("button", name="Fit").click()
    assert page.evaluate(width) == pytest.approx(before, rel=0.01)
    until(page, "document.querySelector('.viz-drawing > div').tabIndex === -1")


def test_it_has_the_theme_of_the_notebook_even_after_a_change(page, html):
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


def residual(t):
    class Block(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1 = t.nn.Conv2d(4, 4, 3, padding=1), t.nn.BatchNorm2d(4)
            self.conv2, self.bn2 = t.nn.Conv2d(4, 4, 3, padding=1), t.nn.BatchNorm2d(4)

        def forward(self, x):
            f = t.nn.functional
            return f.relu(x + self.bn2(self.conv2(f.relu(self.bn1(self.conv1(x))))))

    n = t.nn
    net = n.Sequential(
        n.Conv2d(3, 4, 3), Block(), Block(), n.AdaptiveAvgPool2d(1), n.Flatten(), n.Linear(4, 3)
    )
    return net, n.functional.cross_entropy(net(t.randn(2, 3, 8, 8)), t.tensor([0, 2]))


def snippet(t):
    w = t.randn(3, 1, requires_grad=True)
    return None, ((t.randn(4, 3) @ w) ** 2).mean()


MODELS = {f.__name__: lambda t, f=f: (None, f(t)) for f in (cnn, mlp, transformer, attention)}
MODELS |= {f.__name__: f for f in (cells, unet, gan, vae, triplet, siamese, residual, snippet)}
# the direction of each picture of a page, and the smallest text in it, in pixels
SEEN = """() => {
    const at = (el) => el.getBoundingClientRect(), svg = document.querySelector('svg.mgv-svg, .viz-drawing svg');
    const scale = at(svg).width / svg.viewBox.baseVal.width, sizes = [...svg.querySelectorAll('text')]
        .filter((text) => !text.closest('.mgv-badge')).map((text) => parseFloat(getComputedStyle(text).fontSize) * scale);
    return [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height, Math.min(...sizes)];
}"""


@pytest.mark.parametrize("name", MODELS)
def test_a_drawing_and_the_pane_below_it_have_one_direction_and_text_that_can_be_read(
    browser, tmp_path, torch, name
):
    """Each view of each model, as a person asks for it: `viz.draw(loss, view=...)` in one cell, `viz.step` in the next."""
    drawn = browser.new_page(viewport={"width": 1100, "height": 800})
    for view in (None, *VIEWS):
        torch.manual_seed(0)
        net, loss = MODELS[name](torch)
        drawing = viz.draw(loss, view=view, names=net)
        data = payload(loss, view=view, names=net)
        shown(drawn, drawing._repr_mimebundle_()["text/html"])
        drawn.wait_for_selector(".viz-drawing svg")
        assert drawn.evaluate(SEEN)[2] >= 8.99, view
        assert drawn.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            view
        )  # the drawing scrolls, not the page
        with opened(browser, page_with(data), tmp_path, viewport={"width": 1366, "height": 768}) as pane:
            width, height, least = pane.page.evaluate(SEEN)
        assert least >= 8.99, view
        pictures = (data, *data["pictures"])
        sizes = {(round(p["width"]), round(p["height"])): p for p in pictures}
        # only pictures that flow down are set in columns
        picture = sizes.get((round(width), round(height)), {"view": "functions", "direction": "TB"})
        found = picture["view"], picture["direction"]
        assert found == (drawing.picture.view, drawing.picture.direction), view
    drawn.close()
