"""Write what README.md, TEACHING.md and the start page say about the lessons, from the lessons' own headers: the tables, the
map (docs/map.svg), the evenings of the course, the routes; and the line counts in docs/by_hand.md. `make notebooks` runs it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "notebooks"))  # the exercises are a package there

from exercises import suite  # noqa: E402

EVENINGS = re.compile(r"(?<=\| --- \| --- \| --- \| --- \|\n)(?:\|.*\n)*")
TEACHING = ROOT / "notebooks" / "TEACHING.md"
INDEX = ROOT / "notebooks" / "index.ipynb"
MAP = ROOT / "docs" / "map.svg"
BY_HAND = ROOT / "docs" / "by_hand.md"
COUNT = re.compile(r"(?m)^\| (.*?) \| ([\d,]+) \|")
TABLE = re.compile(r"(?<=\| --- \| --- \| --- \|\n)(?:\|.*\n)*")


def row(lesson: suite.Lesson) -> str:
    """| [3. One node at a time](notebooks/03_one_node_at_a_time.ipynb) | Carry a gradient back by hand ... | 60 |"""
    return f"| [{lesson.number}. {lesson.title}](notebooks/{lesson.file}) | {lesson.objective} | {lesson.minutes} |\n"


def with_lessons(readme: str) -> str:
    """The text of the README with the table as it should be."""
    rows = "".join(map(row, suite.lessons()))
    return TABLE.sub(lambda _: rows, readme, count=1)


def with_evenings(teaching: str) -> str:
    """The text of TEACHING.md with the evenings of the course as they should be."""
    every = suite.lessons()
    course = next(route for route in suite.ROUTES if route.name.startswith("A course"))
    rows = "".join(
        f"| {number} | {about} | {', '.join(str(lesson.number) for lesson in there)} | {minutes} |\n"
        for number, (about, there, minutes) in enumerate(suite.route_rows(course, every), 1)
    )
    return EVENINGS.sub(lambda _: rows, teaching, count=1)


def with_tables(index: str) -> str:
    """The text of the start page with its table of lessons and its routes as they should be. They are text, not outputs: a
    learner's copy has no outputs, and the page must be useful before anything is run."""
    notebook, every = nbformat.reads(index, 4), suite.lessons()
    made = {"table": suite.table(every), "routes": suite.routes(every)}
    for cell in notebook.cells:
        cell.source = made.get(cell.id, cell.source)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def lines_by_hand(row: str) -> int:
    """The number of lines for a row of docs/by_hand.md: those of the files and folders that it names."""
    named = [(BY_HAND.parent / link).resolve() for link in re.findall(r"\]\(([^)]+)\)", row)]
    named += [ROOT / name for name in re.findall(r"`([\w./-]+/[\w./-]+)`", row)]
    files = [file for place in named for file in (sorted(place.rglob("*")) if place.is_dir() else [place])]
    texts = [file for file in files if file.suffix in (".py", ".js", ".css", ".html")]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in texts)


def with_counts(by_hand: str) -> str:
    """The text of docs/by_hand.md with its counts of lines as they should be, rounded to tens."""
    return COUNT.sub(lambda m: f"| {m[1]} | {round(lines_by_hand(m[1]), -1):,} |", by_hand)


def map_file() -> str:
    """The map as it should be: a standalone picture, in light and dark."""
    return suite.map_svg(suite.lessons(), style=suite.FILE) + "\n"


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(with_lessons(readme.read_text(encoding="utf-8")), encoding="utf-8")
    TEACHING.write_text(with_evenings(TEACHING.read_text(encoding="utf-8")), encoding="utf-8")
    INDEX.write_text(with_tables(INDEX.read_text(encoding="utf-8")), encoding="utf-8")
    BY_HAND.write_text(with_counts(BY_HAND.read_text(encoding="utf-8")), encoding="utf-8")
    MAP.write_text(map_file(), encoding="utf-8")
