"""The film wherever a stepper can be: JupyterLab dark, Notebook 7, a VS Code webview, a saved notebook; and for everyone:
contrast, names, keys, screen readers, reduced motion."""

from __future__ import annotations

import importlib
import json
from importlib.util import find_spec
from pathlib import Path

import nbclient
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Locator, Page, expect

import viz
from tests.browser.pages import opened, window
from tests.browser.test_vscode import webview
from tests.browser.test_widgets_lab import KERNEL
from tools.jupyterlab import Lab, Notebook7
from viz.films.payload import payload
from viz.films.show import page, program, style

PROGRAM = """\
import minigrad as torch
import viz

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 1))
x = torch.randn(16, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
film = viz.film(keep=[2])
for _ in range(8):
    loss = ((model(x) - x.sum(dim=1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    film.backward(loss)
    optimizer.step()
film"""
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
NAMELESS = """() => [...document.querySelectorAll(
    ".mgf button, .mgf input, .mgf select, .mgf [role=img], .mgf canvas:not([aria-hidden]), .mgf [role=group]"
)].filter(e => e.getClientRects().length && !e.closest("[aria-hidden=true]") &&
    !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim()))
  .map(e => e.outerHTML.slice(0, 90))"""
GROUND = "getComputedStyle(document.querySelector('.mgf-frame')).backgroundColor"


def made() -> viz.Film:
    space: dict = {}
    exec(PROGRAM, space)
    return space["film"]


def is_dark(page: Page) -> bool:
    return sum(json.loads(page.evaluate(GROUND).replace("rgb(", "[").replace(")", "]"))) < 380


def walk_through(page: Page, film: Locator) -> None:
    """A click on the ribbon goes to that layer and step; the frames kept whole, and only those, open in the stepper."""
    inside = film.get_by_role("button", name="Step inside ◆")
    film.locator(".mgf-frame").focus()
    film.locator(".mgf-frame").press("Home")
    expect(inside).to_be_disabled()
    canvas = film.locator(".mgf-view canvas").last
    canvas.hover()  # waits until it has its size
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] - 18, "y": 100})  # last column, first row
    expect(film).to_have_attribute("data-step", "7")
    expect(film.locator(".mgf-row b")).to_have_text("model.0")
    expect(inside).to_be_enabled()
    for step, close in (("7", True), ("2", False)):
        while film.get_attribute("data-step") != step:
            before = film.get_attribute("data-step")
            film.locator(".mgf-frame").press("ArrowLeft")
            expect(film).not_to_have_attribute("data-step", before)
        film.locator(".mgf-frame").press("Enter")
        expect(film.locator(".mgf-innerbar b")).to_have_text(f"Inside step {step}")
        stepper = film.locator(".mgf-inner .mgv")
        stepper.locator(".mgv-frame").press("ArrowRight")
        expect(stepper).to_have_attribute("data-step", "1")
        expect(stepper.locator(".mgv-sentence")).to_contain_text("MeanBackward0 starts with")
        stepper.locator(".mgv-frame").press("End")
        expect(stepper.locator(".mgv-sentence")).to_contain_text("AccumulateGrad stores")
        expect(film).to_have_attribute("data-step", step)  # the film stands still
        if close:
            film.get_by_role("button", name="Close").click()
            expect(stepper).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_page_everything_has_a_name_and_can_be_read(browser: Browser, tmp_path: Path, scheme: str):
    with opened(browser, page([made()], None, title=None), tmp_path, color_scheme=scheme) as pane:
        film = pane.page.locator(".mgf")
        assert is_dark(pane.page) is (scheme == "dark")
        walk_through(pane.page, film)
        assert pane.page.evaluate(CONTRAST) == []
        assert pane.page.evaluate(NAMELESS) == []


def test_a_screen_reader_hears_each_frame_and_what_is_found(browser: Browser, tmp_path: Path):
    film = made()
    with opened(browser, page([film], None, title=None), tmp_path) as pane:
        pane.press("End")
        pane.page.locator('.mgf[data-told="7"]').wait_for()
        slider = pane.page.get_by_role("slider", name="Training step")
        expect(slider).to_have_attribute("aria-valuetext", "step 7 of 7")
        picture = pane.page.locator(".mgf-view canvas[role=img]")
        said = picture.get_attribute("aria-label")
        assert "step 7, loss " in said
        assert all(f.text in said for f in film.findings if f.until == 7)
        assert pane.page.locator(".mgf-sr caption").inner_text().startswith("Step 7, loss ")
        assert pane.page.locator(".mgf-sr th[scope=row]").all_inner_texts() == ["model.2", "model.0"]
        expect(pane.page.locator(".mgf-findings")).to_have_attribute("role", "status")
        order = []  # the order of the tab key
        name = pane.frame.get_attribute("aria-label")
        assert name.startswith("Film of a training run, 8 frames. Arrow keys change the frame")
        pane.press("Tab")
        for _ in range(7):
            order.append(pane.page.evaluate("document.activeElement.getAttribute('aria-label')"))
            pane.page.keyboard.press("Tab")
        assert order[:3] == ["To the start", "Back one frame", "Play"]


def test_a_system_with_its_own_colours_still_sees_what_grows_and_what_shrinks(
    browser: Browser, tmp_path: Path
):
    html = page([made()], None, title=None)
    with opened(browser, html, tmp_path, forced_colors="active", color_scheme="dark") as pane:
        legend = pane.page.get_by_role("img", name="arrow colour")
        assert (
            len(set(legend.locator("rect").evaluate_all("(all) => all.map((r) => r.getAttribute('fill'))")))
            == 5
        )


def test_nothing_moves_by_itself_and_play_can_be_stopped(browser: Browser, tmp_path: Path):
    for motion in ("reduce", "no-preference"):
        with opened(browser, page([made()], None, title=None), tmp_path, reduced_motion=motion) as pane:
            pane.press("Home")
            pane.at(0)
            moving = "document.getAnimations().filter(a => a.playState === 'running').length"
            assert pane.page.evaluate(moving) == 0
            pane.button("More").click()
            pane.page.get_by_role("group", name="Frames per second").get_by_role(
                "button", name="2", exact=True
            ).click()
            pane.press("Space")
            pane.button("Pause").wait_for()
            expect(pane.page.locator(".mgf")).not_to_have_attribute("data-step", "0")
            pane.press("Space")
            pane.button("Play").wait_for()
            assert pane.page.evaluate(moving) == 0


@pytest.mark.parametrize(
    ("kind", "ground", "scheme", "dark"),
    [
        ("vscode-dark", "#1e1e1e", "light", True),
        ("vscode-light", "#ffffff", "dark", False),
        ("vscode-high-contrast", "#000000", "light", True),
    ],
)
def test_in_vs_code_it_wears_the_editors_theme(
    browser: Browser, kind: str, ground: str, scheme: str, dark: bool
):
    state = {"data": payload([made()]), "options": {}}
    with webview(browser, kind, ground, scheme, state, program(), style(), ".mgf") as view:
        walk_through(view, view.locator(".mgf"))
        assert is_dark(view) is dark
        assert view.evaluate(CONTRAST) == []


def book() -> nbformat.NotebookNode:
    return new_notebook(cells=[new_code_cell(PROGRAM)], metadata=KERNEL)


def test_in_jupyterlab(browser: Browser, lab: Lab):
    with lab.open(browser, "film.ipynb", book=book()) as lesson:
        lesson.page.click(".jp-CodeCell >> nth=0")
        lesson.page.keyboard.press("Control+Enter")
        lesson.page.wait_for_selector(".mgf[data-ready]", timeout=60_000)
        walk_through(lesson.page, lesson.page.locator(".mgf"))
        for scheme in ("light", "dark"):
            lesson.wear(scheme)
            assert is_dark(lesson.page) is (scheme == "dark")
            assert lesson.page.evaluate(CONTRAST) == []
        assert lesson.page.evaluate(NAMELESS) == []
        assert lesson.page.locator(".jp-Cell").count() == 1
        assert lesson.complaints == []


LONG = """\
w, u = torch.tensor(0.5, requires_grad=True), torch.tensor(0.5, requires_grad=True)
optimizer, film = torch.optim.Adam([w, u], lr=0.02), viz.film(every=5)
for _ in range(60):
    optimizer.zero_grad()
    h = torch.zeros(16)
    for x in sequences:
        h = w * h + u * x
    film.backward(((h - sequences.sum(0)) ** 2).mean())
    optimizer.step()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_jupyterlab_a_film_of_twenty_rows_is_in_sight_with_its_controls(
    browser: Browser, lab: Lab, scheme: str
):
    """The recurrent net of lesson 11, in a window of 1366 x 768, with the cell that made it at the top of the notebook."""
    start = "import minigrad as torch, viz\ntorch.manual_seed(0)\nsequences = torch.randn(20, 16)"
    cells = [new_code_cell(start), new_code_cell(LONG), new_code_cell("print(1)\nprint(2)\nfilm")]
    lesson = lab.open(browser, "long.ipynb", scheme, new_notebook(cells=cells, metadata=KERNEL), 1366, 768)
    with lesson as lesson:
        lesson.run_all()
        lesson.page.wait_for_selector(".mgf[data-ready]")
        cell = lesson.page.locator(".jp-CodeCell", has=lesson.page.locator(".mgf"))
        cell.evaluate("e => e.scrollIntoView({ block: 'start' })")
        scroller = lesson.page.locator(".jp-WindowedPanel-outer").first.bounding_box()
        bottom = scroller["y"] + scroller["height"]
        for part in (".mgv-bar", ".mgf-findings", ".mgf-view", ".mgf-key"):
            box = lesson.page.locator(f".mgf {part}").bounding_box()
            assert scroller["y"] <= box["y"] and box["y"] + box["height"] <= bottom, part
        expect(lesson.page.locator(".mgf-sr tr")).to_have_count(20)  # soon after the film stands still


@pytest.mark.skipif(find_spec("notebook") is None, reason="Jupyter Notebook is not installed")
def test_in_notebook_7(browser: Browser, tmp_path: Path):
    nbformat.write(book(), tmp_path / "film.ipynb")
    with Notebook7(tmp_path, theme="dark") as server, server.open(browser, "film.ipynb") as lesson:
        lesson.run_all()
        assert lesson.errors() == []
        lesson.page.wait_for_selector(".mgf[data-ready]")
        walk_through(lesson.page, lesson.page.locator(".mgf"))
        assert is_dark(lesson.page)
        assert lesson.page.evaluate(CONTRAST) == []
        assert lesson.page.locator(".jp-Cell").count() == 1
        own = "reading 'schema'"  # Notebook 7.6 says this of every notebook, also of one without widgets
        assert [complaint for complaint in lesson.complaints if own not in complaint] == []


def test_in_a_saved_notebook_without_a_kernel(browser: Browser, tmp_path: Path):
    importlib.import_module("minigrad")
    saved = book()
    nbclient.NotebookClient(saved, timeout=120).execute()
    [output] = saved.cells[0].outputs
    file = tmp_path / "saved.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{output.data['text/html']}</body>", "utf-8")
    with window(browser) as tab:
        tab.goto(file.as_uri())
        inside = tab.frame_locator("iframe").locator(".mgf")
        inside.and_(tab.frame_locator("iframe").locator("[data-ready]")).wait_for()
        walk_through(tab, inside)
        frame = tab.frame_locator("iframe").locator(".mgf-frame")
        spare = frame.evaluate("(frame) => innerHeight - frame.offsetHeight")
        assert 0 <= spare <= 100  # it is as high as the film, with room for a line or two
