"""The learner's copy of the lessons: `my_lessons/`, made from `notebooks/` so that no answer is in sight: without outputs, and
with the explanation of a prediction's outcome folded until the learner opens it.

    refresh(folder)     make it, or bring it up to date; returns the messages for the learner

A learner works there and nowhere else. What a learner has written is never overwritten: a lesson that has changed in the
project is put beside theirs, as 03_new_NAME.ipynb, and one line says so. A copy whose cells are unchanged is replaced
without a word. A file is written whole or not at all. To get the original lesson back, delete the copy: the next call makes it
again. The progress file is there too (progress.json, written by exercises/store.py). `.copied.json` records, for each copy,
which text was given. Standard library only, and quick: it runs each time the lessons are opened.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
FOLDER = ROOT / "my_lessons"
FIRST = "index.ipynb"  # the page that a learner sees first
RECORD = ".copied.json"
FOLD = "<details>\n<summary>I have run it. What does it show?</summary>\n\n{}\n\n</details>"
BLANK = re.compile(r"^(?!.*\b(?:check|predict)\().*(?<![\w.\[])\.\.\.(?![\w.\]])")
LEVEL = re.compile(r"(?m)(^### Exercise .*\n\*[^*\n]+)\*$")  # "*medium · 6 min*" below an exercise's heading
NUMBER = r"^(\d\d[a-z]?_|)"  # how a lesson's name begins; a narrow list shows little more than that
THEIRS = "written by the learner"  # instead of a fingerprint: never replace this copy
QUIET: dict[str, Any] = {"capture_output": True, "text": True, "encoding": "utf-8"}
PROGRESS, OLD_PROGRESS = "progress.json", ".progress.json"


def clean(notebook: dict[str, Any]) -> str:
    """The text of a notebook as a learner gets it: no outputs, no execution counts, no widget state, and the text after a
    prediction folded."""
    cells = []
    for cell in notebook["cells"]:
        kept = {key: cell["metadata"][key] for key in ("tags", "jupyter") if cell["metadata"].get(key)}
        if kept.get("jupyter", {}).get("source_hidden"):
            cell = cell | {"source": headed(cell)}
        cell = cell | {"metadata": kept}
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
        cells.append(cell)
    mark_blanks(cells)
    for at in explanations(cells):
        explained, leads_on = parted("".join(cells[at]["source"]))
        text = FOLD.format(explained) + (f"\n\n{leads_on}" if leads_on else "")
        cells[at]["source"] = text.splitlines(keepends=True)
    metadata = {key: value for key, value in notebook["metadata"].items() if key != "widgets"}
    whole = notebook | {"cells": cells, "metadata": metadata}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def headed(cell: dict[str, Any]) -> list[str]:
    """The code of a folded cell, with a first line that says what it does: JupyterLab shows only that line."""
    source = "".join(cell["source"])
    if source.lstrip().startswith("#"):
        return cell["source"]
    count = sum(bool(line.strip()) for line in source.split("\n"))
    drawn = re.search(
        r'alt="Plot: ([^"]*)"', json.dumps(cell.get("outputs", []), ensure_ascii=False).replace('\\"', '"')
    )
    words = [html.unescape(word) for word in drawn[1].split("; ")] if drawn else []
    titles = [
        word.replace("\\\\", "\\") for word in words if re.search(r"[^\W\d_]{3}", word) and len(word) < 40
    ][:3]
    what = f"draw: {', '.join(titles)}" if titles else "draw the picture" if drawn else "need not be read"
    return [f"# {count} lines that {what}\n", *source.splitlines(keepends=True)]


def mark_blanks(cells: list[dict[str, Any]]) -> None:
    """Say in the cell of each exercise, and on the line below its heading, which lines are the learner's to fill in."""
    heading: dict[str, Any] | None = None
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and LEVEL.search(source):
            heading = cell
        if not any(tag.startswith("exercise:") for tag in cell["metadata"].get("tags", ())):
            continue
        lines = source.split("\n")
        yours = [at for at, line in enumerate(lines, 1) if BLANK.search(line)]
        for at in yours if any(line.startswith(("def ", "class ")) for line in lines) else ():
            if "#" not in lines[at - 1]:
                lines[at - 1] += "  # your line"
        cell["source"] = "\n".join(lines).splitlines(keepends=True)
        if heading and yours:
            words = LEVEL.sub(rf"\1 · {_yours(yours)}*", "".join(heading["source"]), count=1)
            heading["source"], heading = words.splitlines(keepends=True), None


def _yours(lines: list[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]} is yours"
    if len(lines) > 2 and lines == [*range(lines[0], lines[-1] + 1)]:
        return f"lines {lines[0]} to {lines[-1]} are yours"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]} are yours"


def explanations(cells: list[dict[str, Any]]) -> Iterator[int]:
    """The position of the text that says how a prediction came out: the first after the code that decides it. A line that ends
    in a colon only leads to the next cell; a heading begins something new."""
    waits = ran = False
    for at, cell in enumerate(cells):
        tags = " ".join(cell["metadata"].get("tags", ()))
        text = "".join(cell["source"]).strip()
        if "predict:" in tags:
            waits, ran = True, False
        elif cell["cell_type"] == "code":
            ran = ran or "exercise:" not in tags
        elif waits and ran and text.startswith("#"):
            waits = False
        elif waits and ran and parted(text)[0]:
            waits = False
            yield at


def parted(text: str) -> tuple[str, str]:
    """The text and "". If it ends in a colon, its last paragraph, which leads to the cell below, is split off instead."""
    if not text.endswith(":"):
        return text, ""
    explained, _, leads_on = text.rpartition("\n\n")
    return explained, leads_on


def fingerprint(text: str) -> str:
    """A digest of the text of a notebook's cells, whatever was run. Empty cells do not count: JupyterLab adds one at
    the end. Raises ValueError for anything but a notebook."""
    try:
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a notebook: {error}") from error
    written = [cell for cell in cells if cell[1].strip()]
    return hashlib.sha256(json.dumps(written).encode()).hexdigest()


def refresh(folder: Path = FOLDER, source: Path = NOTEBOOKS) -> list[str]:
    """Make the copies that are missing or out of date. Returns the lines to show to the learner.

    Raises OSError where `folder` cannot be written; existing files are then unchanged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    copies, beside = _Copies(folder), []
    lessons, broken = _lessons(source)
    first_time = not all((folder / name).exists() for name in lessons)
    taken_over = answered_in(source) if first_time else set()
    for name, text in lessons.items():
        version = fingerprint(text)
        place = copies.place_for(name, version)
        if place is not None:
            copies.write(place, text, THEIRS if name in taken_over else version)
            beside += [place] if place != name else []
    copies.remove_left_over({*lessons, *broken})
    take_over_progress(source / OLD_PROGRESS, folder / PROGRESS)
    return [
        *_told(beside),
        *(f"{source / name} is a damaged notebook and was left out: {why}" for name, why in broken.items()),
    ]


def _lessons(source: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The lessons as learners get them, and those that cannot be read, with the reason: a merge may have failed."""
    lessons, broken = {}, {}
    for path in sorted(source.glob("*.ipynb")):
        try:
            text = clean(json.loads(path.read_text(encoding="utf-8")))
            fingerprint(text)
            text.encode()  # a lone surrogate cannot be written
            lessons[path.name] = text
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            broken[path.name] = str(error)
    return lessons, broken


def _told(beside: list[str]) -> list[str]:
    """The message about lessons that were put next to the learner's own."""
    if not beside:
        return []
    have, yours = (
        ("has", "Yours is as you left it") if len(beside) == 1 else ("have", "Yours are as you left them")
    )
    what = "A lesson" if len(beside) == 1 else f"{len(beside)} lessons"
    return [
        f"{what} that you have worked in {have} changed. {yours}; beside it is the new one: {', '.join(beside)}"
    ]


def answered_in(source: Path) -> set[str]:
    """The lessons of the project edited since the last commit, by a learner who worked there before there were copies. Their
    copies belong to the learner from the beginning. Empty if git cannot say."""
    git = ["git", "-C", str(source)]
    found = set()
    try:
        changed = subprocess.run(
            [*git, "diff", "--name-only", "--relative", "HEAD", "--", "*.ipynb"], **QUIET
        )
        for name in changed.stdout.splitlines():
            before = subprocess.run([*git, "show", f"HEAD:./{name}"], **QUIET)
            if before.returncode == 0 and _written(source / name) not in (None, fingerprint(before.stdout)):
                found.add(name)
    except OSError:  # git is not installed
        pass
    return found


def take_over_progress(old: Path, new: Path) -> None:
    """Move a progress file out of notebooks/, where learners used to work, to its present folder."""
    if old.is_file() and not new.exists():
        _write(new, old.read_text(encoding="utf-8", errors="replace"))
        with suppress(OSError):  # a project that cannot be written
            old.unlink()


class _Copies:
    """The copies in a folder, and which text each was given."""

    def __init__(self, folder: Path):
        self.folder = folder
        try:
            found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        except (
            OSError,
            ValueError,
            RecursionError,
        ):  # none yet, or damaged: then every copy counts as edited
            found = {}
        found = found.items() if isinstance(found, dict) else ()
        self.given: dict[str, str] = {name: version for name, version in found if isinstance(version, str)}

    def place_for(self, name: str, version: str) -> str | None:
        """The name under which this version of lesson `name` should be written; None if the learner has it already."""
        there = [known for known in self._family(name) if (self.folder / known).exists()]
        if name not in there:
            return name
        texts = {known: _written(self.folder / known) for known in there}
        same = next((known for known, text in texts.items() if text == version), None)
        if same is not None:
            if self.given.get(same) != THEIRS:
                self._note(same, version)
            return None
        untouched = [
            known for known, text in texts.items() if text is not None and text == self.given.get(known)
        ]
        if name in untouched:
            return name
        if version in (self.given.get(known) for known in self._family(name)):
            return None  # given before: the learner has edited or deleted it
        return untouched[-1] if untouched else self._next_name(name)

    def write(self, name: str, text: str, version: str) -> None:
        """Write a copy, and record that it was given."""
        _write(self.folder / name, text)
        self._note(name, version)

    def remove_left_over(self, lessons: set[str]) -> None:
        """Remove copies of lessons that are no longer in the project, if nothing was written in them."""
        for name in [*self.given]:
            if _lesson_of(name) not in lessons and _written(self.folder / name) == self.given[name]:
                (self.folder / name).unlink()
                del self.given[name]
                self._save()

    def _note(self, name: str, version: str) -> None:
        if self.given.get(name) != version:
            self.given[name] = version
            self._save()

    def _save(self) -> None:
        _write(self.folder / RECORD, json.dumps(self.given, indent=1, sort_keys=True) + "\n")

    def _family(self, name: str) -> Iterator[str]:
        """A lesson's copy and those put next to it that exist or were once given."""
        known = {*self.given, *(path.name for path in self.folder.glob("*.ipynb"))}
        yield from (
            name,
            *sorted((other for other in known if other != name and _lesson_of(other) == name), key=_age),
        )

    def _next_name(self, name: str) -> str:
        used = set(self._family(name))
        names = (re.sub(NUMBER, rf"\1new{n if n > 1 else ''}_", name) for n in range(1, len(used) + 2))
        return next(other for other in names if other not in used)


def _written(path: Path) -> str | None:
    """The fingerprint of a notebook as it is now; None if it is missing or cannot be read."""
    try:
        return fingerprint(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _lesson_of(name: str) -> str:
    """ "03_x.ipynb" from "03_new_x.ipynb" and "03_new2_x.ipynb"."""
    return re.sub(rf"{NUMBER}new\d*_", r"\1", name)


def _age(name: str) -> int:
    """The number of a copy that was put next to another."""
    return int(re.search(rf"{NUMBER}new(\d*)_", name)[2] or 1)


def _write(path: Path, text: str) -> None:
    """Write a file whole, or leave what was there."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
