"""Nothing in the source texts is lost: each item is taught by an existing cell that contains it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from exercises.model import padded
from tests.lesson_files import BY_NUMBER, printed, read

TABLES = Path(__file__).parent / "coverage"
ITEMS = tomllib.loads((TABLES / "items.toml").read_text(encoding="utf-8"))
with_items = [n for n in BY_NUMBER if any(n in map(str, item["lessons"]) for item in ITEMS.values())]


def table(number: str) -> dict[str, list[dict]]:
    entries = tomllib.loads((TABLES / f"lesson_{padded(number)}.toml").read_text(encoding="utf-8"))
    return {item: places if isinstance(places, list) else [places] for item, places in entries.items()}


def test_the_sources_say_180_things():
    assert len(ITEMS) == 180
    assert all(
        set(item) - {"mentioned"} == {"kind", "lessons", "says"} and item["lessons"]
        for item in ITEMS.values()
    )


def test_every_item_of_a_lesson_has_its_cells():
    due = {(n, item) for item, entry in ITEMS.items() for n in with_items if n in map(str, entry["lessons"])}
    assert {(number, item) for number in with_items for item in table(number)} == due


def says(cell: str, place: dict) -> bool:
    """Whether a cell contains a reference: in code and printed output its exact text; in prose its words, in any order and form
    (`computes` for `computed`), so that a sentence can be improved."""
    if "text" in place:
        return place["text"] in cell
    return all(re.sub(r"^([a-z]{5}).*", r"\1", word.casefold()) in cell.casefold() for word in place["words"])


def test_the_cells_say_it():
    gone = []
    for number in with_items:
        cells = {cell.id: f"{cell.source}\n{printed(cell)}" for cell in read(BY_NUMBER[number]).cells}
        gone += [
            f"{number}, {item}: {place['cell']} does not say {place.get('text') or place['words']!r}"
            for item, places in table(number).items()
            for place in places
            if not says(cells.get(place["cell"], ""), place)
        ]
    assert not gone, "\n".join(gone)


def test_a_sentence_is_not_teaching():
    """Except for the motivations, each item is shown in each of its lessons by a cell that computes or draws, or is asked for
    by an exercise or a prediction."""
    only_said = []
    for number in with_items:
        cells = {cell.id: cell for cell in read(BY_NUMBER[number]).cells}
        for item, places in table(number).items():
            teaching = [cells[place["cell"]] for place in places]
            if ITEMS[item]["kind"] != "CTX" and not any(
                cell.cell_type == "code" or cell.id.startswith(("exercise-", "predict-")) for cell in teaching
            ):
                only_said.append(f"{number}, {item}")
    assert not only_said, "\n".join(only_said)


def test_a_lesson_does_not_show_the_ids():
    """They are only for the tests."""
    cells = [(number, cell) for number in with_items for cell in read(BY_NUMBER[number]).cells]
    ids = rf"\b(?:{'|'.join(ITEMS)})\b"
    shown = [f"{n}, {cell.id}: {name}" for n, cell in cells for name in re.findall(ids, cell.source)]
    assert not shown, "\n".join(shown)
