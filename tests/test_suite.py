"""The lessons as a whole: the map and the routes, the glossary, the exam, the cards for the wall."""

from __future__ import annotations

import re

import nbformat
import pytest

import minigrad
from exercises import suite
from exercises.exam import COLUMNS, SEE, Exam, Report, result_of
from tests.lesson_files import BY_NUMBER, NOTEBOOKS, PAGES, read
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
    assert [lesson.number for lesson in EVERY] == sorted(BY_NUMBER)
    for lesson in EVERY:
        assert lesson.objective.endswith(".") and lesson.skip and lesson.recap
        assert 10 <= lesson.core <= lesson.minutes <= 130
        assert set(lesson.needs) <= set(range(18)), "an arrow that begins nowhere"
        assert all(need < lesson.number for need in lesson.needs)


def test_only_the_first_lesson_needs_nothing():
    assert [lesson.number for lesson in EVERY if not lesson.needs] == [0]


def test_the_map_has_each_lesson_once_below_what_it_needs():
    rows = suite.levels(EVERY)
    assert sorted(number for row in rows for number in row) == sorted(BY_NUMBER)
    row_of = {number: i for i, row in enumerate(rows) for number in row}
    assert all(row_of.get(need, -1) < row_of[lesson.number] for lesson in EVERY for need in lesson.needs)


def test_arrows_that_follow_from_others_are_left_out():
    def lesson(number, *needs):
        return suite.Lesson(number, "", "", "", 10, 10, needs, ())

    four = (lesson(0), lesson(1, 0), lesson(2, 0, 1), lesson(3, 0, 2))
    assert suite.arrows(four) == [(0, 1), (1, 2), (2, 3)]


def test_the_map_of_the_readme_is_that_of_the_lessons():
    assert MAP.read_text(encoding="utf-8") == map_file(), "run `python -m tools.readme`"


def test_the_evenings_in_teaching_are_those_of_the_course():
    text = TEACHING.read_text(encoding="utf-8")
    assert with_evenings(text) == text, "run `python -m tools.readme`"


def test_teaching_has_a_question_for_each_lesson():
    asked = re.search(r"\| lesson \| ask the room .*?\n\n", TEACHING.read_text(encoding="utf-8"), re.S)[0]
    assert [int(number) for number in re.findall(r"^\| (\d+) \|", asked, re.M)] == list(range(18))


def test_boxes_of_the_map_do_not_overlap():
    places = list(suite._places(EVERY).values())
    for i, (x, y) in enumerate(places):
        for other_x, other_y in places[:i]:
            assert abs(x - other_x) >= suite.WIDTH or abs(y - other_y) >= suite.HEIGHT


def test_who_has_solved_something_sees_it_on_the_map():
    lesson = EVERY[0]
    assert " solved" not in suite.map_svg(EVERY)
    assert f"2 of {len(lesson.exercises)} solved" in suite.map_svg(EVERY, solved=lesson.exercises[:2])


def test_three_routes_and_one_of_them_takes_everything():
    afternoon, evenings, knows = suite.ROUTES
    assert len(evenings.sittings) == 8
    assert [number for _, numbers in evenings.sittings for number in numbers] == list(range(18))
    assert suite.minutes_of(afternoon.sittings[0][1], EVERY) <= 240
    for route in (afternoon, knows):
        numbers = [number for _, numbers in route.sittings for number in numbers]
        assert numbers == sorted(numbers)
    assert all(minutes <= 165 for *_, minutes in suite.route_rows(evenings, EVERY)), (
        "an evening is two hours or so"
    )


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


# ---------------------------------------------------------------- the exam


def graphs():
    """The exam's graphs, made by its own cells, with steppers that nobody has touched."""
    space: dict = {}
    for cell in read(NOTEBOOKS / "exam.ipynb").cells:
        if cell.cell_type == "code":
            exec(cell.source, space)
    return space["exam"]


def test_ten_graphs_and_each_asks_about_every_step():
    exam = graphs()
    assert sorted(exam.steppers) == list(range(1, 11))
    assert all(2 <= len(stepper.data["questions"]) <= 8 for stepper in exam.steppers.values())
    assert {stepper.options["ask"] for stepper in exam.steppers.values()} == {"gradients", "order"}


def test_no_graph_of_the_exam_is_in_a_lesson():
    def lines(path):
        return {
            line.strip()
            for cell in read(path).cells
            if cell.cell_type == "code"
            for line in cell.source.splitlines()
        }

    common = {"x", "import", "exam", "viz", "h", "r = y.sum()", "y = x + b", "y = x @ w"}
    seen = set().union(*map(lines, BY_NUMBER.values()))
    for cell in read(NOTEBOOKS / "exam.ipynb").cells:
        if cell.id.endswith("-draw"):
            body = {line for line in lines_of(cell) if not line.startswith("viz.")}
            assert len(body - seen - common) >= 2, cell.id


def lines_of(cell):
    return [line.strip() for line in cell.source.splitlines() if line.strip()]


def test_a_step_is_right_if_the_first_answer_was():
    answers = [
        {"step": 1, "given": "2", "outcome": "right"},
        {"step": 2, "given": "9", "outcome": "averaged"},
        {"step": 2, "given": "6", "outcome": "right"},
        {"step": 3, "given": None, "outcome": "shown"},
    ]
    result = result_of(7, 5, answers)
    assert [getattr(result, name) for name in COLUMNS] == [5, 1, 1, 1, 2]
    assert result.causes == ("averaged",)
    shown = Report([result])
    assert repr(shown) == "1 of 5 steps right at once, in 1 graphs"
    assert "averaged (lesson 4)" in shown._repr_html_()


def test_what_is_answered_in_a_stepper_comes_into_the_report(tmp_path):
    exam = Exam()
    x = minigrad.tensor(3.0, requires_grad=True)
    stepper = exam.step(1, x * 2)
    assert repr(exam.report()) == "0 of 2 steps right at once, in 1 graphs"
    stepper.pane.answers = [{"step": 1, "given": "2", "outcome": "right"}]
    assert repr(exam.report()) == "1 of 2 steps right at once, in 1 graphs"
    page = exam.save(tmp_path / "exam.html").read_text(encoding="utf-8")
    assert "1 of 2 steps right" in page and "Name:" in page
    with pytest.raises(ValueError, match="pdf"):
        exam.save("exam.pdf")


def test_a_cause_that_a_stepper_names_is_known_with_its_lesson():
    causes = {
        mistake["cause"]
        for stepper in graphs().steppers.values()
        for question in stepper.data["questions"].values()
        for mistake in question.get("mistakes", ())
    }
    assert causes <= set(SEE)


# ---------------------------------------------------------------- the cards, the site


def test_each_lesson_has_a_card_with_its_recap_and_a_picture():
    books = {path.stem: nbformat.read(path, 4) for path in BY_NUMBER.values()}
    cards = re.findall(r'<article class="card">.*?</article>', cards_body(books, EVERY), re.S)
    assert len(cards) == len(EVERY)
    for card, lesson in zip(cards, EVERY, strict=True):
        assert lesson.title.split()[0] in card and card.count("<li>") >= 3
        assert "<img" in card and "quick questions" not in card


def test_the_site_has_a_page_for_each_and_links_that_lead_somewhere(tmp_path):
    pages = build(tmp_path)
    assert {page.stem for page in pages} == {path.stem for path in [*BY_NUMBER.values(), *PAGES]} | {
        "cards",
        "gallery",
    }
    for page in pages:
        text = re.sub(r'srcdoc="[^"]*"', "", page.read_text(encoding="utf-8"))
        links = re.findall(r'href="([\w.-]+)(?:#[^"]*)?"', text)
        assert [link for link in links if not (tmp_path / link).is_file()] == [], page.name
