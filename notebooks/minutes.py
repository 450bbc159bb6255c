"""How long a lesson takes, counted from its cells (`python notebooks/build.py --minutes` prints it for every lesson).

    words read at 200 a minute + lines of code at 15 a minute (folded code is not read)
    + 2.5 minutes for each stepper, explorer, slider or film + 1 for each prediction
    + the minutes of the exercises, times 1.4: one wrong try each

What can wait: exercises with *can wait* in the line under their heading, and whole sections that have it there.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

WORDS, LINES, LIVE, PREDICTION, TRIES = 200, 15, 2.5, 1.0, 1.4
LIVE_CALL = re.compile(r"viz\.(?:step|beside|explore)\(|secant\(|^film$", re.M)
EXERCISE = re.compile(r"^### Exercise .*\n\*(easy|medium|hard) · (\d+) min(.*)\*$", re.M)
HEADING = re.compile(r"^(#+) .*\n\*can wait\*$", re.M)


def of_cell(cell: nbformat.NotebookNode) -> tuple[float, float]:
    """(minutes that a cell takes, minutes of the exercises in it that can wait)."""
    if cell.cell_type == "markdown":
        exercises = [
            (int(minutes) * TRIES, "can wait" in more) for _, minutes, more in EXERCISE.findall(cell.source)
        ]
        takes = len(cell.source.split()) / WORDS + sum(minutes for minutes, _ in exercises)
        return takes, sum(minutes for minutes, waits in exercises if waits)
    takes = LIVE * len(LIVE_CALL.findall(cell.source)) + PREDICTION * cell.source.startswith("predict(")
    if not cell.metadata.get("jupyter", {}).get("source_hidden"):
        takes += sum(bool(line.strip()) for line in cell.source.splitlines()) / LINES
    return takes, 0.0


def counted(path: Path) -> tuple[float, float]:
    """(minutes for everything, minutes without what can wait) of the lesson in `path`."""
    total = waiting = 0.0
    waiting_level = 0  # the level of the heading whose section can wait, or 0
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "markdown" and (heading := re.match(r"#+(?= )", cell.source)):
            if waiting_level and len(heading[0]) <= waiting_level:
                waiting_level = 0
            if optional := HEADING.match(cell.source):
                waiting_level = waiting_level or len(optional[1])
        takes, later = of_cell(cell)
        total += takes
        waiting += takes if waiting_level else later
    return total, total - waiting


def sections(path: Path) -> dict[str, float]:
    """The minutes that each section (`## ...`) of the lesson takes, without exercises that can wait."""
    found: dict[str, float] = {}
    name = ""
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "markdown" and (heading := re.match(r"## (.+)", cell.source)):
            name = heading[1]
        takes, later = of_cell(cell)
        found[name] = found.get(name, 0.0) + takes - later
    return found
