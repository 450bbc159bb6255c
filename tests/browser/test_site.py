"""The static site: every lesson is a page, every stepper on it steps, nothing is loaded from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from exercises import lessons
from exercises.judge import as_answers
from exercises.values import plain
from tests.browser.pages import recorded
from tools.answers import said
from tools.site import FIT, NOTEBOOKS, build
from viz.show.page import frame

LESSONS = sorted(path.stem for path in NOTEBOOKS.glob("[0-9]*.ipynb"))
PAGES = [*LESSONS, "glossary", "exam"]

# a person does not click on what still moves: a frame above or below may be taking its height
STILL = """(frame) => new Promise((done) => {
    let last = "", since = 0;
    const look = (now) => {
        const { y, height } = frame.getBoundingClientRect();
        if (`${y} ${height}` !== last) [last, since] = [`${y} ${height}`, now];
        now - since > 200 ? done() : requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})"""


# first, then next, in a frame; throws if it stays where it is
STEP = """async (body) => {
    const until = async (selector) => {
        for (let k = 0; !body.querySelector(selector); k++) {
            if (k === 200) throw new Error(`no ${selector}`);
            await new Promise((done) => setTimeout(done, 10));
        }
    };
    body.querySelector("[data-action=first]").click();
    await until(".mgv[data-step='0']");
    body.querySelector("[data-action=next]").click();
    await until(".mgv[data-step='1'], .mgv-ask");
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    window = browser.new_page(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    complaints: list[str] = []
    window.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    window.on("pageerror", lambda error: complaints.append(str(error)))
    local = ("file:", "data:", "about:", "blob:")
    window.on("request", lambda r: complaints.append(r.url) if not r.url.startswith(local) else None)
    yield window
    window.close()
    assert complaints == []


def test_the_index_leads_to_every_lesson(page: Page, site: Path):
    page.goto((site / "index.html").as_uri())
    links = [a.get_attribute("href") for a in page.locator("td:first-child a").all()]
    assert links == [f"{name}.html" for name in LESSONS]
    assert page.locator(".map a").count() == len(LESSONS), "the map"
    every = [a.get_attribute("href") for a in page.locator("a").all()]
    assert {"glossary.html", "exam.html", "cards.html"} <= set(every)
    elsewhere = [link.partition("#")[0] or "index.html" for link in every]
    assert [link for link in elsewhere if not (site / link).is_file()] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_stepper_of_a_lesson_steps(page: Page, site: Path, name: str):
    page.goto((site / f"{name}.html").as_uri())
    assert page.locator("h1").count() >= 1
    frames = page.locator("iframe").all()
    for holder in frames:
        holder.scroll_into_view_if_needed()
        pane = holder.content_frame
        pane.locator(".mgv[data-ready]").wait_for()
        if pane.locator(".mgf").count():  # a film
            pane.get_by_role("button", name="To the first frame").click()
            pane.get_by_role("button", name="Forward one frame").click()
            expect(pane.get_by_role("slider", name="Training step")).to_have_value("1")
        elif holder in (frames[0], frames[-1]):  # the pointer, of which each click costs what ten steps cost
            holder.evaluate(STILL)
            pane.locator("[data-action=first]").click()  # a page of viz.explore starts at the end
            pane.locator(".mgv[data-step='0']").wait_for()
            pane.locator("[data-action=next]").click()
            pane.locator(".mgv[data-step='1'], .mgv-ask").first.wait_for()
        else:
            pane.locator("body").evaluate(STEP)


def test_a_stepper_has_its_height_before_it_is_scrolled_to(page: Page, tmp_path: Path):
    """Else the page jumps under the pointer of whoever scrolls to it and clicks."""
    apart = '<p style="height: 1200px">text</p>'
    book = "".join(apart + frame(recorded(name), options={"step": 2}) for name in ("diamond", "mlp", "hooks"))
    file = tmp_path / "book.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{book}{FIT}", encoding="utf-8")
    heights = "() => [...document.querySelectorAll('iframe')].map((frame) => frame.style.height)"
    page.goto(file.as_uri())
    page.wait_for_timeout(1500)
    before = page.evaluate(heights)
    for at in page.locator("iframe").all():
        at.scroll_into_view_if_needed()
        at.content_frame.locator(".mgv[data-ready]").wait_for()
        at.evaluate(STILL)
    assert page.evaluate(heights) == before


def test_a_telephone_shows_every_lesson_without_sliding_sideways(page: Page, site: Path):
    page.set_viewport_size({"width": 380, "height": 800})
    for name in [*PAGES, "index", "cards"]:
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 380, name


def test_formulas_are_drawn_without_a_network(page: Page, site: Path):
    name = next(n for n in LESSONS if n.startswith("03"))
    page.goto((site / f"{name}.html").as_uri())
    assert page.locator("math").count() > 10
    assert "$" not in page.locator(".text").first.inner_text()


TRY = """(tries) => tries.flatMap(({ form, texts, html, state }) => {
    const place = document.querySelector(`form.answer[aria-label="${form}"]`);
    if (!place) return [`${form} is not there`];
    [...place.querySelectorAll("input")].forEach((field, i) => { field.value = texts[i]; });
    place.requestSubmit();
    const output = place.querySelector("output"), due = document.createElement("div");
    due.innerHTML = html;
    const said = output.textContent.includes(due.textContent);
    return said && output.dataset.state === state ? [] : [`${form} ${texts}: ${output.dataset.state}: ${output.textContent}`];
})"""


def written(answer: object) -> str:
    """An answer as it is typed into a form."""
    if isinstance(answer, str):
        return answer
    value = plain(answer)
    return repr(
        value.tolist()
        if isinstance(value, np.ndarray)
        else list(answer)
        if isinstance(answer, tuple)
        else answer
    )


def tries_of(lesson: int) -> Iterator[dict]:
    """Each prediction and each typed exercise: the right answer, other forms of it, and every listed wrong one."""
    for question in lessons.questions(lesson).values():
        expected = [
            (question.truth(), question.found),
            *((other, question.found) for other in question.right),
        ]
        for answer, says in [*expected, *((wrong.answer, wrong.advice) for wrong in question.wrong)]:
            yield {
                "form": f"Prediction {question.id}",
                "texts": [written(answer)],
                "html": said(says),
                "state": "Noted",
            }
        yield {"form": f"Prediction {question.id}", "texts": ["no idea"], "html": "", "state": "Not yet"}
    for exercise in lessons.exercises(lesson).values():
        if not exercise.typed:
            continue
        form = f"Exercise {exercise.id}"
        yield {
            "form": form,
            "texts": list(map(written, exercise.reference)),
            "html": said(exercise.shows),
            "state": "Correct",
        }
        for wrong in exercise.wrong:
            answers = as_answers(exercise, wrong.answer)
            if exercise.id == "2.5" and (len(wrong.answer), len(set(wrong.answer))) != (
                5,
                5,
            ):  # the page knows orders of five lines
                continue
            yield {
                "form": form,
                "texts": list(map(written, answers)),
                "html": said(wrong.advice),
                "state": "Try again",
            }


@pytest.mark.parametrize("name", LESSONS)
def test_predictions_and_typed_answers_get_the_replies_of_the_notebook(page: Page, site: Path, name: str):
    page.goto((site / f"{name}.html").as_uri())
    tries = list(tries_of(int(name[:2])))
    assert page.evaluate(TRY, tries) == []


def test_a_form_can_be_used_by_hand_and_by_key(page: Page, site: Path):
    page.goto((site / "04_where_paths_meet.html").as_uri())
    form = page.get_by_role("form", name="Prediction 4.a")
    form.get_by_label("I expect").fill("tensor([12.])")
    form.get_by_label("I expect").press("Enter")
    form.get_by_text("What does my prediction say?").click()
    assert "and its slope is" in form.locator("output").inner_text()


@pytest.mark.parametrize("name", LESSONS)
def test_a_page_prints_whole(page: Page, site: Path, name: str):
    """On paper nothing can be scrolled: no text and no code is wider than the page."""
    page.goto((site / f"{name}.html").as_uri())
    page.set_viewport_size({"width": 720, "height": 1000})
    page.emulate_media(media="print")
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".code, .code pre, .output > pre, .text pre")]
            .filter((e) => e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).overflowX !== "visible")
            .map((e) => e.textContent.slice(0, 60))"""
    )
    assert cut == []
