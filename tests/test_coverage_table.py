"""Nothing of what the source texts say is lost: each item is taught by a cell that is there and says so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from exercises.lessons import padded
from tests.lesson_files import BY_NUMBER, printed, read

TABLES = Path(__file__).parent / "coverage"
ITEMS = tomllib.loads((TABLES / "items.toml").read_text(encoding="utf-8"))
with_items = [n for n in BY_NUMBER if any(n in map(str, item["lessons"]) for item in ITEMS.values())]
each_lesson = pytest.mark.parametrize("number", with_items, ids=padded)


def table(number: str) -> dict[str, list[dict[str, str]]]:
    entries = tomllib.loads((TABLES / f"lesson_{padded(number)}.toml").read_text(encoding="utf-8"))
    return {item: places if isinstance(places, list) else [places] for item, places in entries.items()}


def test_the_sources_say_180_things():
    assert len(ITEMS) == 180
    assert all(set(item) == {"kind", "lessons", "says"} and item["lessons"] for item in ITEMS.values())


@each_lesson
def test_every_item_of_a_lesson_has_its_cells(number):
    due = {name for name, item in ITEMS.items() if number in map(str, item["lessons"])}
    assert set(table(number)) == due


@each_lesson
def test_the_cells_say_it(number):
    cells = {cell.id: f"{cell.source}\n{printed(cell)}" for cell in read(BY_NUMBER[number]).cells}
    gone = [
        f"{item}: {place['cell']} does not say {place['text']!r}"
        for item, places in table(number).items()
        for place in places
        if place["text"] not in cells.get(place["cell"], "")
    ]
    assert not gone, "\n".join(gone)


@each_lesson
def test_a_sentence_is_not_teaching(number):
    """Each item but the motivations is shown, in each of its lessons, by a cell that computes or draws, or asked for by an
    exercise or a prediction."""
    cells = {cell.id: cell for cell in read(BY_NUMBER[number]).cells}
    taught = {
        item
        for item, places in table(number).items()
        for place in (cells[place["cell"]] for place in places)
        if place.cell_type == "code" or place.id.startswith(("exercise-", "predict-"))
    }
    assert {item for item in table(number) if ITEMS[item]["kind"] != "CTX"} - taught == set()


@each_lesson
def test_a_lesson_does_not_show_the_ids(number):
    """They are book-keeping of the tests."""
    text = "\n".join(cell.source for cell in read(BY_NUMBER[number]).cells)
    assert not re.findall(rf"\b(?:{'|'.join(ITEMS)})\b", text)
