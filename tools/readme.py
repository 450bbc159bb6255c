"""Write what README.md says of the lessons, from the lessons' own headers: the table, and the map beside it (docs/map.svg).
`make notebooks` does it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "notebooks"))  # the exercises are a package there

from exercises import suite  # noqa: E402

MAP = ROOT / "docs" / "map.svg"
TABLE = re.compile(r"(?<=\| --- \| --- \| --- \|\n)(?:\|.*\n)*")


def row(lesson: suite.Lesson) -> str:
    """| [3. One node at a time](notebooks/03_one_node_at_a_time.ipynb) | Carry a gradient back by hand ... | 60 |"""
    return f"| [{lesson.number}. {lesson.title}](notebooks/{lesson.file}) | {lesson.objective} | {lesson.minutes} |\n"


def with_lessons(readme: str) -> str:
    """The text of the README with the table as it should be."""
    rows = "".join(map(row, suite.lessons()))
    return TABLE.sub(lambda _: rows, readme, count=1)


def map_file() -> str:
    """The map as it should be: a picture that stands by itself, in light and dark."""
    return suite.map_svg(suite.lessons(), link="", style=suite.FILE) + "\n"


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(with_lessons(readme.read_text()))
    MAP.write_text(map_file(), encoding="utf-8")
