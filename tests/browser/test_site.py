"""The static site: every lesson is a page, every stepper on it steps, nothing is loaded from anywhere."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import axe_playwright_python
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
EVERY = ["index", *PAGES, "gallery", "cards"]
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
IMAGES = "main img:not([width][height]):not([style*='height'])"  # without a size of their own

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


def test_a_search_finds_lessons_terms_and_pictures_by_key_alone(page: Page, site: Path):
    page.goto((site / "03_one_node_at_a_time.html").as_uri())
    assert page.evaluate("typeof SEARCH") == "undefined", "the index is read when somebody comes to the field"
    page.keyboard.press("/")
    page.keyboard.type("retain_graph")
    found = page.get_by_role("search").get_by_role("listitem")
    expect(found.first).to_contain_text("Glossary")
    expect(page.get_by_role("search").get_by_role("status")).to_contain_text("found")
    assert "5. .grad adds up" in " ".join(found.all_inner_texts())
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary.html#retain_graph")
    assert page.evaluate("document.querySelector(':target').tagName") == "H2"
    field = page.get_by_role("searchbox", name="Search lessons, glossary and gallery")
    for words, where in (
        ("copyslices", "Gallery"),
        ("vmap per-sample", "16. Forward mode"),
        ("bug clinic", "9. Training loop"),
    ):
        field.fill(words)
        expect(found.first).to_contain_text(where)
    field.fill("<img src=x> qqq")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("Nothing found")
    page.keyboard.press("Escape")
    expect(page.get_by_role("search").get_by_role("status")).to_be_hidden()


def test_the_search_leads_to_places_that_are_there(page: Page, site: Path):
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("/")
    page.wait_for_function("globalThis.SEARCH")
    assert {name for name, *_ in page.evaluate("SEARCH")} == {*EVERY} - {"cards"}
    for name in EVERY:
        there = set(
            map(html.unescape, re.findall(r'id="([^"]+)"', (site / f"{name}.html").read_text("utf-8")))
        )
        anchors = page.evaluate(
            "(name) => SEARCH.filter(([page]) => page === name).map((entry) => entry[2])", name
        )
        assert set(anchors) - {""} <= there


SHIFTS = """globalThis.shifts = [];
new PerformanceObserver((list) => list.getEntries().forEach((e) => e.hadRecentInput || shifts.push(e.value)))
    .observe({ type: "layout-shift", buffered: true });"""


@pytest.mark.parametrize("name", EVERY)
def test_a_page_is_for_everybody_and_stands_still(page: Page, site: Path, name: str):
    """What axe knows of the rules for accessible pages holds (names, landmarks, headings, contrast, language, what can be
    reached by key), wide and light, and on a dark telephone, which slides nothing sideways. Every picture has a size, and
    nothing moves while the page loads."""
    page.add_init_script(SHIFTS)
    page.goto((site / f"{name}.html").as_uri())
    page.wait_for_function("[...document.images].every((image) => image.complete)")
    page.wait_for_timeout(300)
    assert page.evaluate("shifts.reduce((sum, shift) => sum + shift, 0)") < 0.1
    assert (
        page.evaluate(
            f"[...document.querySelectorAll({IMAGES!r})].map((image) => image.outerHTML.slice(0, 90))"
        )
        == []
    )
    page.evaluate(f"{AXE}; null")
    assert broken(page) == []
    page.set_viewport_size({"width": 360, "height": 800})
    page.emulate_media(color_scheme="dark")
    assert broken(page, "color-contrast", "scrollable-region-focusable", "target-size") == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360, "slides sideways"


def broken(page: Page, *rules: str) -> list[str]:
    """The rules of axe that are broken, each with the element; the steppers' frames have tests of their own."""
    some = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    told = page.evaluate("(some) => axe.run(document, { iframes: false, ...some })", some)
    return [f"{rule['id']}: {node['html'][:120]}" for rule in told["violations"] for node in rule["nodes"]]


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
