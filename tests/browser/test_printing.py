"""Printing: there is a picture of every stepper and film, wherever they are and whether their frames run or not."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Frame, Page

from tests.browser.pages import recorded, until, window
from tests.browser.test_jupyter_habits import opened, run
from tools.jupyterlab import Lab
from viz.show.page import frame

STEPPERS = """\
import minigrad as torch
import viz

for n in (1, 2, 3):
    w = torch.ones(n, requires_grad=True)
    loss = ((w * 2).tanh() ** 2).sum()
    display(viz.step(loss))"""
FILM = """\
film = viz.film()
for _ in range(3):
    loss = (w ** 2).sum()
    film.backward(loss)
film"""
# on paper: which pictures are visible with nothing over them, and which frames are
LOOK = """() => ({
    stills: [...document.querySelectorAll("img")].map((img) => [img.getBoundingClientRect(), img.naturalWidth])
        .map(([r, n]) => [r.width, r.height, n]),
    live: [...document.querySelectorAll("iframe")].filter((el) => el.getBoundingClientRect().height).length,
})"""

# the contents of the frame that JupyterLab prints; it exists only for a moment
PRINTED = """() => {
    globalThis.printed = new Promise((done) => new MutationObserver(() => {
        const frame = document.querySelector("body > iframe[sandbox='allow-modals allow-same-origin']");
        if (frame) done(frame.srcdoc);
    }).observe(document.body, { childList: true }));
}"""
# a frame with this text, read to its end, pictures and all
FRAME = """(text) => new Promise((whole) => {
    const el = document.createElement("iframe");
    Object.assign(el, { width: 780, height: 580, srcdoc: text, onload: whole });
    el.setAttribute("sandbox", "allow-modals allow-same-origin");
    document.body.append(el);
})"""


def assert_pictures_are_printed(page: Page, place: Page | Frame, count: int) -> None:
    page.emulate_media(media="print")
    look = place.evaluate(LOOK)
    assert len(look["stills"]) == count and look["live"] == 0
    for wide, high, natural in look["stills"]:
        assert wide > 100 and high > 60 and natural > 100
    assert page.pdf().startswith(b"%PDF")
    page.emulate_media(media="screen")
    assert place.evaluate(LOOK)["live"] == count


def test_frames_that_were_never_in_sight_print_their_picture(browser: Browser, tmp_path: Path):
    shown = "<p style='height:3000px'>text</p>".join(
        frame(recorded(n)) for n in ("diamond", "mlp", "several_outputs")
    )
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{shown}", encoding="utf-8")
    with window(browser, viewport={"width": 800, "height": 600}) as page:
        page.goto(file.as_uri(), wait_until="domcontentloaded")
        until(page, "[...document.images].every((image) => image.complete)")
        assert_pictures_are_printed(page, page, 3)


def test_jupyterlab_prints_a_picture_of_every_stepper(browser: Browser, lab: Lab, tmp_path: Path):
    """File > Print puts the export into a frame in which no script runs."""
    with opened(browser, lab, STEPPERS, FILM) as lesson:
        run(lesson, 0)
        run(lesson, 1)
        page = lesson.page
        page.locator(".mgv[data-ready]").nth(2).wait_for()
        assert lesson.complaints == []
        page.evaluate(PRINTED)
        lesson.menu("File")
        page.get_by_role("menuitem", name="Print…").click()
        text = page.evaluate("printed")
        # nbconvert's own page asks for MathJax, and Lab keeps its scripts from running: neither is a complaint of ours
        page.goto("about:blank")
        lesson.complaints.clear()
    paper = browser.new_page(viewport={"width": 800, "height": 600})
    try:
        paper.evaluate(FRAME, text)
        place = paper.locator("iframe").element_handle().content_frame()
        assert_pictures_are_printed(paper, place, 4)
    finally:
        paper.close()
