"""The lessons as a whole: the map and the routes, the glossary, the cards for the wall."""

from __future__ import annotations

import html
import re

import nbformat
import numpy as np
import pytest

import minutes
from exercises import suite
from tests.lesson_files import BY_NUMBER, NOTEBOOKS, PAGES, read
from tools import site
from tools.readme import MAP, TEACHING, map_file, with_evenings
from tools.site import build, cards_body

EVERY = suite.lessons()


def headings(name: str) -> list[str]:
    text = "\n".join(
        cell.source for cell in read(NOTEBOOKS / f"{name}.ipynb").cells if cell.cell_type == "markdown"
    )
    return re.findall(r"^### (.+)$", text, re.M)


# ---------------------------------------------------------------- the map and the routes


def test_each_lesson_is_known_by_its_header():
    assert [lesson.number for lesson in EVERY] == list(BY_NUMBER)
    for lesson in EVERY:
        assert lesson.objective.endswith(".") and lesson.skip and lesson.recap
        assert 10 <= lesson.core <= lesson.minutes <= 90
        before = list(BY_NUMBER)[: list(BY_NUMBER).index(lesson.number)]
        assert set(lesson.needs) <= set(before), "an arrow that begins nowhere, or later"


def test_a_lesson_leans_only_on_lessons_that_it_needs():
    """Every lesson mentioned without a link is among those that the header names, or that these need in turn."""
    behind: dict[str, set[str]] = {}
    for lesson in EVERY:
        behind[lesson.number] = set(lesson.needs).union(*(behind[need] for need in lesson.needs))
        spoken = set(re.findall(r"(?<!\[)\b[Ll]essons? (\d+b?)\b", "\n".join(lesson.cells)))
        earlier = {number for number in spoken if number in behind} - {lesson.number}
        assert earlier <= behind[lesson.number], (lesson.number, earlier - behind[lesson.number])


def test_only_the_first_lesson_needs_nothing():
    assert [lesson.number for lesson in EVERY if not lesson.needs] == ["0"]


def test_the_map_has_each_lesson_once_below_what_it_needs_or_to_its_right():
    rows = suite.levels(EVERY)
    assert sorted(number for row in rows for number in row) == sorted(BY_NUMBER)
    place_of = {number: (i, j) for i, row in enumerate(rows) for j, number in enumerate(row)}
    for lesson in EVERY:
        for need in lesson.needs:
            (above, left), (i, j) = place_of[need], place_of[lesson.number]
            assert above < i or (above == i and left < j)


def test_no_arrow_passes_behind_a_box():
    """An arrow that goes around leaves to the right, where nothing is, so that it is not taken for a neighbour's arrow."""
    places = suite._places(EVERY)
    for need, number in suite.arrows(EVERY):
        (x, y), (_, below) = places[need], places[number]
        if below - y > suite.AROUND * (suite.HEIGHT + suite.GAP_Y):
            assert not [n for n, place in places.items() if place[1] == y and place[0] > x], (need, number)
            assert not [
                n for n, place in places.items() if place[1] == below and place[0] > places[number][0]
            ]


def test_no_arrow_crosses_a_box():
    places, half = suite._places(EVERY), suite.WIDTH / 2
    wide, _ = suite._size(places)
    for need, number in suite.arrows(EVERY):
        drawn = suite._arrow(*places[need], *places[number], wide, places.values())
        path = re.search(r'class="need" d="([^"]*)"', drawn).group(1)
        if "H" in path:  # straight, or around all boxes
            continue
        others = [place for n, place in places.items() if n not in (need, number)]
        at = [float(n) for n in re.match(r"M([\d.]+) ([\d.]+)", path).groups()]
        for kind, numbers in re.findall(r"([CV])([^A-Z]*)", path):
            to = [float(n) for n in re.findall(r"[\d.]+", numbers)]
            points = np.reshape([*at, *(to if kind == "C" else [at[0], to[0]] * 3)], (4, 2))
            for t in np.linspace(0, 1, 40):
                weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                x, y = weights @ points
                crossed = [p for p in others if abs(x - p[0]) < half and p[1] < y < p[1] + suite.HEIGHT]
                assert not crossed, (need, number)
            at = points[-1].tolist()


def test_arrows_that_follow_from_others_are_left_out():
    def lesson(number, *needs):
        return suite.Lesson(str(number), "", "", "", 10, 10, tuple(map(str, needs)), ())

    four = (lesson(0), lesson(1, 0), lesson(2, 0, 1), lesson(3, 0, 2))
    assert suite.arrows(four) == [("0", "1"), ("1", "2"), ("2", "3")]


def test_the_map_of_the_readme_is_that_of_the_lessons():
    assert MAP.read_text(encoding="utf-8") == map_file(), "run `python -m tools.readme`"


def test_the_evenings_in_teaching_are_those_of_the_course():
    text = TEACHING.read_text(encoding="utf-8")
    assert with_evenings(text) == text, "run `python -m tools.readme`"


def test_teaching_has_a_question_for_each_lesson():
    asked = re.search(r"\| lesson \| ask the class .*?\n\n", TEACHING.read_text(encoding="utf-8"), re.S)[0]
    assert re.findall(r"^\| (\d+[a-z]?) \|", asked, re.M) == list(BY_NUMBER)


def test_boxes_of_the_map_do_not_overlap():
    places = list(suite._places(EVERY).values())
    for i, (x, y) in enumerate(places):
        for other_x, other_y in places[:i]:
            assert abs(x - other_x) >= suite.WIDTH or abs(y - other_y) >= suite.HEIGHT


def test_all_boxes_of_the_map_are_inside_with_the_same_margin():
    places = suite._places(EVERY)
    width, height = suite._size(places)
    left, right = (f(x for x, _ in places.values()) for f in (min, max))
    top, bottom = (f(y for _, y in places.values()) for f in (min, max))
    assert left - suite.WIDTH / 2 == width - right - suite.WIDTH / 2 == suite.MARGIN
    assert top == height - bottom - suite.HEIGHT == suite.MARGIN


def test_the_map_shows_what_has_been_solved():
    lesson = EVERY[0]
    assert " solved" not in suite.map_svg(EVERY)
    assert f"2 of {len(lesson.exercises)} solved" in suite.map_svg(EVERY, solved=lesson.exercises[:2])


def test_three_routes_and_one_of_them_takes_everything():
    afternoon, evenings, knows = suite.ROUTES
    assert len(evenings.sittings) == 10
    assert [number for _, numbers in evenings.sittings for number in numbers] == list(BY_NUMBER)
    assert suite.minutes_of(afternoon.sittings[0][1], EVERY) <= 240
    for route in (afternoon, knows):
        numbers = [number for _, numbers in route.sittings for number in numbers]
        assert numbers == [number for number in BY_NUMBER if number in numbers]
    assert all(minutes <= 165 for *_, minutes in suite.route_rows(evenings, EVERY)), (
        "an evening is two hours or so"
    )


@pytest.mark.parametrize("route", suite.ROUTES, ids=lambda route: route.name)
def test_a_route_brings_what_each_of_its_lessons_needs_before_it(route):
    needs = {lesson.number: set(lesson.needs) for lesson in EVERY}
    met = set(route.known)
    for _, numbers in route.sittings:
        for number in numbers:
            assert needs[number] <= met, f"lesson {number} comes before what it needs: {needs[number] - met}"
            assert number not in met
            met.add(number)
    assert needs.keys() >= met and all(needs[number] <= met for number in route.known)


def test_the_minutes_of_the_routes_are_those_of_their_lessons():
    core = {
        lesson.number: int(re.search(r"\*\*Minutes\.\*\* (?:\d+; )?(\d+)", lesson.cells[0])[1])
        for lesson in EVERY
    }
    shown = suite.routes(EVERY)
    for route in suite.ROUTES:
        part = shown.partition(f"### {route.name}\n")[2].partition("###")[0]
        rows = [line for line in part.splitlines() if re.search(r"\| \d+ \|$", line)]
        minutes = [int(re.search(r"(\d+) \|$", row)[1]) for row in rows]
        assert minutes == [sum(core[n] for n in re.findall(r"\[(\d+b?)\]", row)) for row in rows]
        assert f"minutes ({sum(minutes)} in all)" in part and len(rows) == len(route.sittings)


def test_the_short_route_takes_ninety_minutes_and_leads_to_sections_that_are_there():
    shown = suite.short_route(EVERY)
    assert sum(stop.minutes for stop in suite.NINETY_MINUTES) == 90 and "(90 in all)" in shown
    for stop in suite.NINETY_MINUTES:
        lesson = BY_NUMBER[stop.lesson]
        sections = minutes.sections(lesson)
        assert set(stop.sections) <= set(sections), f"lesson {stop.lesson} has {', '.join(sections)}"
        assert f"({lesson.name}#{stop.sections[-1].replace(' ', '-')})" in shown
        assert abs(sum(sections[name] for name in stop.sections) - stop.minutes) <= 6, stop


def test_what_a_route_takes_for_known_can_be_looked_up():
    afternoon, evenings, knows = suite.ROUTES
    assert not afternoon.known and not evenings.known
    introduction = suite.routes(EVERY).partition("You should know lessons")[2].partition("\n")[0]
    links = [lesson.file for lesson in EVERY if lesson.number in knows.known]
    assert re.findall(r"\]\(([^)]+)\)", introduction) == links


# ---------------------------------------------------------------- the glossary


def test_terms_are_in_order_and_each_names_a_lesson():
    terms = headings("glossary")
    assert len(terms) >= 40
    assert terms == sorted(terms, key=lambda term: term.casefold().replace("_", " "))
    text = "\n".join(c.source for c in read(NOTEBOOKS / "glossary.ipynb").cells if c.cell_type == "markdown")
    for entry in text.split("\n### ")[1:]:
        assert "*Lesson" in entry or "See *" in entry, entry.splitlines()[0]


def test_links_to_a_term_lead_to_one():
    anchors = {heading.replace(" ", "-") for heading in headings("glossary")}
    linked = {
        (path.stem, anchor)
        for path in NOTEBOOKS.glob("*.ipynb")
        for cell in read(path).cells
        for anchor in re.findall(r"\]\(glossary\.ipynb#([^)]+)\)", cell.source)
    }
    assert [link for link in sorted(linked) if link[1] not in anchors] == []


def test_a_third_of_the_glossary_is_pictures():
    cells = [cell for cell in read(NOTEBOOKS / "glossary.ipynb").cells if cell.cell_type == "code"]
    assert sum("viz.draw(" in cell.source for cell in cells) >= 7


# ---------------------------------------------------------------- the cards, the site


def test_each_lesson_has_a_card_with_its_recap_and_a_picture():
    books = {path.stem: nbformat.read(path, 4) for path in BY_NUMBER.values()}
    cards = re.findall(r'<article class="card">.*?</article>', cards_body(books, EVERY), re.S)
    assert len(cards) == len(EVERY)
    for card, lesson in zip(cards, EVERY, strict=True):
        assert lesson.title.split()[0] in card and card.count("<li>") >= 3
        assert "<img" in card and "quick questions" not in card


@pytest.mark.long
def test_the_site_has_a_page_for_each_and_links_that_lead_somewhere(tmp_path):
    pages = build(tmp_path)
    assert {page.stem for page in pages} == {path.stem for path in [*BY_NUMBER.values(), *PAGES]} | {
        "cards",
        "gallery",
        "reference",
    }
    for page in pages:
        text = re.sub(r'srcdoc="[^"]*"', "", page.read_text(encoding="utf-8"))
        links = re.findall(r'href="([\w.-]+)(?:#[^"]*)?"', text)
        assert [link for link in links if not (tmp_path / link).is_file()] == [], page.name


@pytest.mark.long
@pytest.mark.parametrize("path", BY_NUMBER.values(), ids=lambda path: path.stem)
def test_on_the_site_a_folded_cell_is_folded_too(path):
    """No other cell is folded, and the code of a folded one is there, behind its first line."""
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    folded = [cell for cell in cells if cell.metadata.get("jupyter", {}).get("source_hidden")]
    parts = re.findall(r'<div class="code"><details><summary><code>(.*?)</code>', site.lesson_body(cells))
    assert parts == [html.escape(cell.source.splitlines()[0]) for cell in folded]


def test_the_site_shows_no_progress_bar_that_has_not_moved():
    """A saved notebook keeps a bar as it was before the first step; on a page it would look as if nothing had run."""
    cells = read(BY_NUMBER["17"]).cells
    bars = [o for cell in cells if cell.cell_type == "code" for o in cell.outputs if "| 0/12 [" in str(o)]
    assert bars and "0/12" not in site.lesson_body(cells)


def test_a_link_to_the_site_shows_a_picture_with_its_size(monkeypatch):
    """This needs the site's address: the picture of a preview must have an absolute one."""
    assert "og:image" not in site.page_of("index", "Lessons", "")
    monkeypatch.setattr(site, "ADDRESS", "https://someone.example/lessons/")
    page = site.page_of("index", "Lessons", "")
    meta = dict(re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)">', page))
    assert meta["og:image"] == "https://someone.example/lessons/stepper.png" and meta["og:image:alt"]
    assert (int(meta["og:image:width"]), int(meta["og:image:height"])) == site.size_of(
        site.STEPPER.read_bytes()
    )
    assert meta["description"] == meta["og:description"] != ""


def test_each_lesson_has_as_many_predictions_as_teaching_says():
    books = [read(path) for path in BY_NUMBER.values()]
    counts = [sum(cell.source.startswith("predict(") for cell in book.cells) for book in books]
    words = ["zero", "one", "two", "three", "four", "five", "six"]
    assert f"has {words[min(counts)]} to {words[max(counts)]} predictions" in TEACHING.read_text(
        encoding="utf-8"
    )


ROUTE = {  # the cells that the plan of two hours in TEACHING.md comes to
    "0": "setup predict-a forward draw before step grad nudge exercise-0-1",
    "3": "setup worked exercise-3-1 forward forward-y forward-z before predict-a predict-b predict-c draw start-one "
    "mean-hand exercise-3-2 mm-one mm-hand step compare",
    "4": "setup diamond diamond-draw predict-a nudge nudge-x order-step ladder exercise-4-1 arrows at-once "
    "predict-b at-once-run once-each overwriting right machine-step unseen unseen-step",
    "5": "setup first-pass second-forward second-draw predict-a second-step second-grad full-batch predict-b micro-plain "
    "train predict-c train-run twice-forward twice-draw predict-d twice-first twice-second",
}


@pytest.mark.parametrize("number", ROUTE)
def test_the_two_hours_run_without_what_they_leave_out(number, capsys):
    cells = {cell.id: cell.source for cell in read(BY_NUMBER[number]).cells}
    names: dict = {"__name__": "__main__"}
    for name in ROUTE[number].split():
        exec(cells[name], names)
    capsys.readouterr()


def test_the_site_s_help_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["site.py", "--help"])
    with pytest.raises(SystemExit) as end:
        site.main()
    assert end.value.code == 0 and "usage: python -m tools.site" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
