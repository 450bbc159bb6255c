"""The static site: every lesson is a page, every stepper on it steps, nothing is loaded from anywhere."""

from __future__ import annotations

import functools
import html
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import axe_playwright_python
import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from exercises import lessons, suite
from exercises.judge import TRY_AGAIN, as_answers, judge
from exercises.model import Exercise
from exercises.values import plain
from tests.browser.pages import pointed, recorded, until, window
from tools.answers import said
from tools.site import FIT, NOTEBOOKS, build
from viz.show.page import frame

LESSONS = sorted(path.stem for path in NOTEBOOKS.glob("[0-9]*.ipynb"))
PAGES = [*LESSONS, "glossary", "exam"]
EVERY = ["index", *PAGES, "gallery", "cards", "reference"]
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
IMAGES = "main img:not([width][height]):not([style*='height'])"  # without a size of their own

# nobody clicks on something that is still moving: a frame above or below may still be changing its height
STILL = """(frame) => new Promise((done) => {
    let last = "", since = 0;
    const look = (now) => {
        const { y, height } = frame.getBoundingClientRect();
        if (`${y} ${height}` !== last) [last, since] = [`${y} ${height}`, now];
        now - since > 200 ? done() : requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})"""


# presses first, then next, in a frame; throws if the stepper stays where it is
STEP = """async (body) => {
    const until = async (selector) => {
        for (let k = 0; !body.querySelector(selector); k++) {
            if (k === 3000) throw new Error(`no ${selector}`);
            await new Promise((done) => setTimeout(done, 10));
        }
    };
    body.querySelector("[data-action=first]").click();
    await until(".mgv[data-step='0']");
    body.querySelector("[data-action=next]").click();
    await until(".mgv[data-step='1'], .mgv-ask");
}"""

# the targets of clicked links; the page does not change
CLICKED = """() => {
    globalThis.clicked = [];
    addEventListener("click", (event) => {
        event.preventDefault();
        clicked.push(event.target.closest("a").getAttribute("href"));
    });
}"""


@pytest.fixture(
    scope="session"
)  # with module scope it would be built again whenever a worker comes back to these tests
def site(tmp_path_factory, worker_id: str) -> Path:
    """The site, which one worker builds for all."""
    alone = worker_id == "master"
    folder = tmp_path_factory.mktemp("site") if alone else tmp_path_factory.getbasetemp().parent / "site"
    try:
        folder.mkdir(exist_ok=alone)
    except FileExistsError:  # another worker is building it
        until_there(folder / "built")
        return folder / "pages"
    build(folder / "pages")
    (folder / "built").touch()
    return folder / "pages"


def until_there(file: Path) -> None:
    limit = time.monotonic() + 240
    while not file.exists():
        assert time.monotonic() < limit, f"{file} was not written: see the worker that builds the site"
        time.sleep(0.2)


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    with window(browser, viewport={"width": 1200, "height": 900}, reduced_motion="reduce") as page:
        yield page


def test_the_index_leads_to_every_lesson(page: Page, site: Path):
    page.goto((site / "index.html").as_uri())
    links = [a.get_attribute("href") for a in page.locator("td:first-child a").all()]
    assert links == [f"{name}.html" for name in LESSONS]
    assert page.locator(".map a").count() == len(LESSONS), "the map"
    for width in (
        480,
        360,
    ):  # where a map could not be read, its lessons are in a list, all of them visible
        page.set_viewport_size({"width": width, "height": 800})
        assert not page.locator(".map svg").is_visible()
        beyond = (
            "(links) => Math.max(...links.map((link) => link.getBoundingClientRect().right)) - innerWidth"
        )
        assert page.locator(".map a").evaluate_all(beyond) <= 0
        small = "(links) => links.filter((link) => link.offsetHeight < 32 || link.offsetWidth < 100).length"
        assert page.locator(".map a").evaluate_all(small) == 0
    every = [a.get_attribute("href") for a in page.locator("a").all()]
    assert {"glossary.html", "exam.html", "cards.html"} <= set(every)
    elsewhere = [re.split("[?#]", link)[0] or "index.html" for link in every]
    assert [link for link in elsewhere if not (site / link).is_file()] == []


def test_every_link_of_every_route_leads_to_its_lesson_by_a_click(page: Page, site: Path):
    """Nothing covers it; a link that is a single number is large enough for a finger: 24 pixels each way."""
    page.goto((site / "index.html").as_uri())
    number = {name: re.match(r"0?(\d+b?)_", name)[1] for name in LESSONS}
    pages = {number[name]: f"{name}.html" for name in LESSONS}
    due = [pages[key] for route in suite.ROUTES for _, keys in route.sittings for key in keys]
    for stop in suite.NINETY_MINUTES:
        sections = (name.replace(" ", "-").replace("?", "%3F") for name in stop.sections)
        due += [pages[stop.lesson], *(f"{pages[stop.lesson]}#{name}" for name in sections)]
    links = page.locator(".text:has(h3) td a")
    assert [a.get_attribute("href") for a in links.all()] == due
    boxes = [a.bounding_box() for a in links.all()]
    assert [box for box in boxes if min(box["width"], box["height"]) < 24] == []
    page.evaluate(CLICKED)  # following each and going back would take half a minute; `use` does
    for link in links.all():
        pointed(link, link.hover).click()
    assert page.evaluate("clicked") == due


@pytest.mark.parametrize("name", PAGES)
def test_every_stepper_of_a_lesson_steps_and_answers_get_the_replies_of_the_notebook(
    page: Page, site: Path, name: str
):
    """The answers are predictions and typed exercises."""
    page.goto((site / f"{name}.html").as_uri())
    assert page.locator("h1").count() >= 1
    tries = list(tries_of(name.partition("_")[0])) if name in LESSONS else []
    assert page.evaluate(TRY, tries) == []
    frames = page.locator("iframe").all()
    for holder in frames:
        holder.scroll_into_view_if_needed()
        pane = holder.content_frame
        pane.locator(".mgv[data-ready]").first.wait_for()  # there are two in viz.beside
        if pane.locator(".mgf").count():  # a film
            pane.get_by_role("button", name="To the start").click()
            pane.get_by_role("button", name="Forward one frame").click()
            expect(pane.get_by_role("slider", name="Training step")).to_have_value("1")
        elif holder in (frames[0], frames[-1]):  # by the pointer; one click takes as long as ten steps
            holder.evaluate(STILL)
            pane.locator("[data-action=first]").click()  # a page of viz.explore starts at the end
            pane.locator(".mgv[data-step='0']").first.wait_for()
            pane.locator("[data-action=next]").click()
            pane.locator(".mgv[data-step='1'], .mgv-ask").first.wait_for()
        else:
            pane.locator("body").evaluate(STEP)


def test_a_stepper_has_its_height_before_it_is_scrolled_to(page: Page, tmp_path: Path):
    """Otherwise the page would jump under the pointer when a reader scrolls to it and clicks."""
    apart = '<p style="height: 1200px">text</p>'
    book = "".join(apart + frame(recorded(name), options={"step": 2}) for name in ("diamond", "mlp", "hooks"))
    file = tmp_path / "book.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{book}{FIT}", encoding="utf-8")
    heights = "() => [...document.querySelectorAll('iframe')].map((frame) => frame.style.height)"
    page.goto(file.as_uri())
    frames = page.locator("iframe").all()
    for at in frames:
        at.content_frame.locator(".mgv[data-ready]").wait_for(state="attached")
        at.evaluate(STILL)
    before = page.evaluate(heights)
    for at in frames:
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
        ("bug clinic", "9b. Bug clinic"),
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
    until(page, "globalThis.SEARCH")
    assert {name for name, *_ in page.evaluate("SEARCH")} == {*EVERY} - {"cards"}
    for name in EVERY:
        there = set(
            map(html.unescape, re.findall(r'id="([^"]+)"', (site / f"{name}.html").read_text("utf-8")))
        )
        anchors = page.evaluate(
            "(name) => SEARCH.filter(([page]) => page === name).map((entry) => entry[2])", name
        )
        assert set(anchors) - {""} <= there


# the page learns the new window size a moment later, and then rebuilds the list of what can be reached by key
HEARD = """() => {
    globalThis.heard = new Promise((done) => addEventListener("resize", () => done(null), { once: true }));
}"""

# on paper: elements wider than the page, and for each stepper its height and whether a picture replaces it
CUT = """() => [...document.querySelectorAll(".code, .code pre, .output > pre, .text pre")]
    .filter((e) => e.scrollWidth > e.clientWidth + 2 && getComputedStyle(e).overflowX !== "visible")
    .map((e) => e.textContent.slice(0, 60))"""
FRAMES = "[...document.querySelectorAll('iframe')].map((f) => [f.offsetHeight, f.previousElementSibling.height > 40])"

# how far things have moved since the page was opened, until it is idle
SHIFTS = """() => new Promise((done) => {
    let sum = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((e) => { sum += e.hadRecentInput ? 0 : e.value; }))
        .observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestIdleCallback(() => setTimeout(() => done(sum), 100)));
})"""


# among texts that look the same, with everything around them, axe measures the contrast of only one, which takes a quarter of
# the time for four thousand words of code
ALIKE = """() => {
    const around = new Map(), seen = new Set();
    const ground = (el) => {
        if (!el) return "";
        if (!around.has(el)) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(el);
            around.set(el, [ground(el.parentElement), backgroundColor, backgroundImage, opacity].join(" "));
        }
        return around.get(el);
    };
    for (const el of document.querySelectorAll("body, body *")) {
        const { color, fontSize, fontWeight, textShadow, position } = getComputedStyle(el);
        const kind = [color, fontSize, fontWeight, textShadow, position, ground(el)].join(" ");
        const own = [...el.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
        const text = own && el.checkVisibility({ visibilityProperty: true });
        el.toggleAttribute("data-judged", !text ? el.matches("input, select, textarea") : !seen.has(kind));
        if (text) seen.add(kind);
    }
    axe.configure({ rules: [{ id: "color-contrast", selector: "[data-judged]" }] });
}"""


@pytest.mark.parametrize("name", EVERY)
def test_a_page_is_for_everybody_stands_still_and_prints_whole(page: Page, site: Path, name: str):
    """axe's rules for accessible pages hold (names, landmarks, headings, contrast, language, keyboard access), in a wide light
    window and on a phone in dark mode, without sideways scrolling. Every picture has a size, and nothing moves while the page
    loads. Paper cannot be scrolled: no text and no code is wider than the page, and a picture replaces each stepper."""
    page.goto((site / f"{name}.html").as_uri())
    until(page, "[...document.images].every((image) => image.complete)")
    assert page.evaluate(SHIFTS) < 0.1
    assert (
        page.evaluate(
            f"[...document.querySelectorAll({IMAGES!r})].map((image) => image.outerHTML.slice(0, 90))"
        )
        == []
    )
    # while a pane starts, it is for a moment shorter than the picture under it: nothing may need scrolling then
    rolls = "[...document.querySelectorAll('.output')].map((output) => getComputedStyle(output).overflowY)"
    assert set(page.evaluate(rolls)) <= {"hidden"}
    page.evaluate(f"{AXE}; null")
    assert broken(page) == []
    page.evaluate(HEARD)
    page.set_viewport_size({"width": 360, "height": 800})
    page.evaluate("heard")
    page.emulate_media(color_scheme="dark")
    # every element has the new theme
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert broken(page, "color-contrast", "scrollable-region-focusable", "target-size") == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360, "slides sideways"
    page.set_viewport_size({"width": 720, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == []
    assert {tuple(seen) for seen in page.evaluate(FRAMES)} <= {(0, True)}


def broken(page: Page, *rules: str) -> list[str]:
    """The rules of axe that are broken, each with the element; the steppers' frames have tests of their own."""
    page.evaluate(ALIKE)
    some = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    told = page.evaluate(
        "(some) => axe.run(document, { iframes: false, resultTypes: ['violations'], ...some })", some
    )
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


def tries_of(lesson: str) -> Iterator[dict]:
    """Each prediction and each typed exercise: the right answer, other forms of it, and every listed wrong one."""
    for question in lessons.questions(lesson).values():
        expected = [
            (question.truth(), question.found),
            *((other, question.found) for other in question.right),
        ]
        for answer, says in [*expected, *((wrong.answer, wrong.advice) for wrong in question.wrong)]:
            yield {
                "form": f"Predict · {question.id}",
                "texts": [written(answer)],
                "html": said(says),
                "state": "Noted",
            }
        yield {"form": f"Predict · {question.id}", "texts": ["no idea"], "html": "", "state": "Not yet"}
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
            ):  # the page has replies only to orders of all five lines
                continue
            yield {
                "form": form,
                "texts": list(map(written, answers)),
                "html": said(wrong.advice),
                "state": "Try again",
            }
        if exercise.probe is None:
            yield from unlisted(exercise, form)


def unlisted(exercise: Exercise, form: str) -> Iterator[dict]:
    """Wrong answers of all sorts that no exercise lists, part by part."""
    for name, due in zip(exercise.names, exercise.reference, strict=True):
        texts = ("e", "z", "ab")
        if not isinstance(due, str):
            near = f"{due * 1.001:.9g}" if isinstance(due, int | float) else "0.1"
            texts = ("77.7", "-1", near, "None", "zero", "true", "[1, 2]", "[[1, 2, 3]]")
        for text in texts:
            answer = json.loads(text) if text[0] == "[" else None if text == "None" else text
            state, message, _ = judge(
                exercise, as_answers(exercise, {name: answer} if exercise.names[1:] else answer)
            )
            if state == TRY_AGAIN:
                told = re.sub(r"^(`\w+` = )?(`[^`]*`\. )?", "", message)
                typed = [
                    text if name == other else written(due)
                    for other, due in zip(exercise.names, exercise.reference, strict=True)
                ]
                yield {"form": form, "texts": typed, "html": said(told), "state": "Try again"}


def test_it_works_from_a_folder_of_a_static_host(browser: Browser, site: Path):
    """In normal use: lesson, stepper, prediction, search, gallery, exam. Nothing is missing, and no other host is contacted."""
    handler = functools.partial(Quiet, directory=str(site.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as host:
        threading.Thread(target=host.serve_forever, daemon=True).start()
        folder = f"http://127.0.0.1:{host.server_port}/{site.name}/"
        with window(browser, (folder, "data:", "about:", "blob:"), base_url=folder) as page:
            missing: list[str] = []
            page.on("response", lambda r: missing.append(f"{r.status} {r.url}") if r.status >= 400 else None)
            use(page, folder)
            assert missing == []
        host.shutdown()


def use(page: Page, folder: str) -> None:
    page.goto(folder)
    page.locator("table").get_by_role("link", name="Where paths meet").press("Enter")  # the page still moves
    page.wait_for_url(f"{folder}04_where_paths_meet.html")
    pane = page.locator("iframe").first
    pane.scroll_into_view_if_needed()
    pane.content_frame.locator(".mgv[data-ready]").wait_for()
    pane.content_frame.locator("body").evaluate(STEP)
    form = page.get_by_role("form", name="Predict · 4.a")
    form.get_by_label("I expect").fill("12")
    form.get_by_label("I expect").press("Enter")
    expect(form.locator("output")).to_contain_text("Noted")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("retain_graph")
    expect(page.get_by_role("search").get_by_role("listitem").first).to_contain_text("Glossary")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{folder}glossary.html#retain_graph")
    for name in ("Gallery", "Exam", "Cards"):
        page.get_by_role("navigation").get_by_role("link", name=name).first.press("Enter")
        page.wait_for_url(f"{folder}{name.lower()}.html")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *whatever: object) -> None:
        pass


def test_the_exam_is_taken_on_its_page(page: Page, site: Path):
    """A frame of the site is sandboxed: typed answers get their reply inside it, by key and by button."""
    page.goto((site / "exam.html").as_uri())
    chain = page.locator("iframe").first
    chain.scroll_into_view_if_needed()
    pane = chain.content_frame
    pane.locator(".mgv[data-ready]").wait_for()
    chain.evaluate(STILL)
    pane.locator("[data-action=next]").click()
    pane.locator(".mgv-answer").fill("1/4")
    pane.locator(".mgv-answer").press("Enter")
    expect(pane.locator(".mgv-feedback")).not_to_be_empty()
    pane.locator(".mgv-answer").fill("1/2 1/2")
    chain.evaluate(STILL)  # the reply has made the frame taller
    pane.get_by_role("button", name="Check").click()
    pane.locator(".mgv[data-step='1']").wait_for()


def test_a_form_can_be_used_by_hand_and_by_key(page: Page, site: Path):
    page.goto((site / "04_where_paths_meet.html").as_uri())
    form = page.get_by_role("form", name="Predict · 4.a")
    form.get_by_label("I expect").fill("tensor([12.])")
    form.get_by_label("I expect").press("Enter")
    form.get_by_text("Was I right?").click()
    assert "and its slope is" in form.locator("output").inner_text()


def test_the_cards_are_four_to_a_page(page: Page, site: Path):
    page.goto((site / "cards.html").as_uri())
    sheets = len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(prefer_css_page_size=True)))
    assert sheets == -(-len(LESSONS) // 4)
