"""The lessons as a whole: what each teaches, how long it takes, what it requires, and in what order to take them.

    lesson_map()      the map: arrows lead from each lesson to the lessons that need it
    table(lessons())  the same as a table in Markdown
    routes(lessons()) the routes, in Markdown

A lesson's title, objective, minutes and needs are written once, in its own header, and read from there. The start page,
README.md, TEACHING.md and the pages of `make site` are made from them.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from . import store
from .cards import markdown_table
from .lessons import short
from .model import padded

NOTEBOOKS = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Lesson:
    """A lesson, read from its header. `minutes` counts all exercises, `core` leaves out what can wait."""

    number: str  # "9", and "9b" for a half-lesson that follows it
    title: str
    file: str
    objective: str
    minutes: int
    core: int
    needs: tuple[str, ...]
    cells: tuple[str, ...]

    @cached_property
    def exercises(self) -> tuple[str, ...]:
        """The ids of its exercises."""
        return tuple(re.findall(r"^### Exercise (\d+[a-z]?\.\d+)", "\n".join(self.cells), re.M))

    @property
    def skip(self) -> str:
        """The header's note on who may skip the lesson."""
        return _field(self.cells[0], "Skip this if", strip=False)

    @property
    def recap(self) -> str:
        """The recap: its lines, and what the learner can do now; without the heading and the quick questions."""
        cell = next(cell for cell in self.cells if re.match(r"## Recap\b", cell))
        return cell.partition("\n")[2].partition("Three quick questions")[0].strip()


def lessons(folder: Path = NOTEBOOKS) -> tuple[Lesson, ...]:
    """All lessons of `folder`, in order. Raises ValueError for a header without its four lines."""
    return tuple(_read(path) for path in sorted(folder.glob("[0-9][0-9]*_*.ipynb")))


def _read(path: Path) -> Lesson:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = tuple("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    number, title = re.search(r"^# (\d+[a-z]?)\. (.+)$", texts[0], re.M).groups()
    minutes, core = re.search(
        r"\*\*Minutes\.\*\* (\d+)(?:; (\d+) without the (?:exercises|parts))?", texts[0]
    ).groups()
    needs = re.findall(r"\]\((\d\d[a-z]?)_\w+\.ipynb", _field(texts[0], "Needs.", plain=False))
    needs += re.findall(r"[Ll]esson (\d+[a-z]?)\b", _field(texts[0], "Needs."))
    return Lesson(
        number=number,
        title=title,
        file=path.name,
        objective=_field(texts[0], "Objective."),
        minutes=int(minutes),
        core=int(core or minutes),
        needs=tuple(sorted({short(need) for need in needs}, key=padded)),
        cells=texts,
    )


def _field(header: str, name: str, *, plain: bool = True, strip: bool = True) -> str:
    """The text after **name** in a header; `plain`: links become their text; without `strip`, a final full stop is removed."""
    found = re.search(rf"^\* \*\*{re.escape(name)}\*\*(.*)$", header, re.M)
    if found is None:
        raise ValueError(f"the header {header.splitlines()[0]!r} has no line **{name}**")
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", found[1]) if plain else found[1]
    return text.strip() if strip else text.strip().rstrip(".")


# ---------------------------------------------------------------- ways through


@dataclass(frozen=True)
class Route:
    """A way through the lessons: who it is for, and its sittings (the subject and the lessons of each). It assumes the lessons
    in `known`."""

    name: str
    whom: str
    sittings: tuple[tuple[str, tuple[str, ...]], ...]
    known: tuple[str, ...] = ()


ROUTES = (
    Route(
        "An afternoon",
        "You have a single afternoon, about four hours. At the end you can carry a gradient back through any graph by hand, "
        "and explain why a node has to wait.",
        (("in one go, with a break after lesson 2", ("0", "1", "2", "3", "4")),),
    ),
    Route(
        "A course of ten evenings",
        "Two hours each, or a little more. They cover everything except what can wait, which is for the days between.",
        (
            ("a slope, and where it is recorded", ("0", "1", "2")),
            ("the walk back, by hand", ("3", "4")),
            ("many passes, and many numbers at once", ("5", "6")),
            ("an engine of your own, and what it can do", ("7", "7b")),
            ("switches, and the training loop", ("8", "9")),
            ("broken training loops, and what a graph keeps", ("9b", "10")),
            ("loops in the graph, and functions of your own", ("11", "12", "12b")),
            ("hooks, and where NaN comes from", ("13", "14")),
            ("second order, and the other direction", ("15", "16")),
            ("a network that reads, and one that writes", ("17", "18")),
        ),
    ),
    Route(
        "I know PyTorch",
        "You have trained networks and want to know what happens inside. Take the last graph of a lesson first: if you can "
        "answer its questions, go on to the next lesson.",
        (
            ("how the stepper steps, and how it asks", ("0",)),
            ("why an engine finds 16, 4 or 2 instead of 12", ("4",)),
            ("None and zero, and what retain_graph really does", ("5",)),
            ("why no Jacobian is ever built", ("6",)),
            ("write the engine yourself, and compare its order", ("7", "7b")),
            ("why freezing with a flag and freezing with a block are not the same", ("8",)),
            ("loops that run but do not learn", ("9b",)),
            ("where the memory goes", ("10",)),
            ("a function and a hook of your own, and what gradcheck shows", ("12", "13")),
            ("NaN, second order, forward mode", ("14", "15", "16")),
        ),
        known=("1", "2", "3", "9"),
    ),
)


@dataclass(frozen=True)
class Stop:
    """A part of a lesson on the short route: its purpose, the lesson, its sections (headings), minutes."""

    about: str
    lesson: str
    sections: tuple[str, ...]
    minutes: int


NINETY_MINUTES = (
    Stop(
        "the order of the walk, and how 12 becomes 16, 4 or 2",
        "4",
        ("Which node has to wait?", "Three careless engines"),
        20,
    ),
    Stop("what keeps memory alive in a loop", "10", ("Leaks",), 15),
    Stop("a layer without gradients, found by hooks", "13", ("A layer that gets nothing",), 15),
    Stop("NaN from a branch that was not taken", "14", ("The trap in torch.where", "Anomaly mode"), 25),
    Stop("per-sample gradients with vmap", "16", ("One sample, and then all of them",), 15),
)
"""For engineers who train networks. Exercises in these sections can be left out."""


def short_route(every: tuple[Lesson, ...]) -> str:
    """The route of ninety minutes, as a table in Markdown with links to the sections."""
    files = {lesson.number: lesson.file for lesson in every}
    heading = f"minutes ({sum(stop.minutes for stop in NINETY_MINUTES)} in all)"
    rows = []
    for stop in NINETY_MINUTES:
        if file := files.get(stop.lesson):
            sections = [
                f"[{name}]({file}#{name.replace(' ', '-').replace('?', '%3F')})" for name in stop.sections
            ]
            lesson = f"[{stop.lesson}]({file})"
            rows.append(
                {
                    "about": stop.about,
                    "lesson": lesson,
                    "sections": ", ".join(sections),
                    heading: stop.minutes,
                }
            )
    return (
        "### Ninety minutes for engineers\n\nYou train networks and want the parts that you can use tomorrow. Run the setup "
        "cell of each lesson, and begin at the section named here.\n\n" + markdown_table(rows)
    )


def minutes_of(numbers: Iterable[str], every: Iterable[Lesson]) -> int:
    """The total minutes of these lessons, without what can wait."""
    known = {lesson.number: lesson.core for lesson in every}
    return sum(known.get(number, 0) for number in numbers)


def route_rows(route: Route, every: tuple[Lesson, ...]) -> list[tuple[str, tuple[Lesson, ...], int]]:
    """(what it is about, its lessons, minutes) for each sitting; lessons that do not exist are left out."""
    by_number = {lesson.number: lesson for lesson in every}
    rows = []
    for about, numbers in route.sittings:
        there = tuple(by_number[number] for number in numbers if number in by_number)
        if there:
            rows.append((about, there, minutes_of(numbers, every)))
    return rows


# ---------------------------------------------------------------- the map

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 206, 58, 22, 34, 16
AROUND = 2  # an arrow over more rows than this goes around all boxes

MAP_STYLE = """
.lesson rect { fill: var(--map-ground); stroke: var(--map-line); stroke-width: 1.4; }
.lesson text { fill: var(--map-ink); font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.lesson .n { font-size: 15px; font-weight: 700; fill: var(--map-line); } .lesson .m { font-size: 11px; fill: var(--map-mute); }
.lesson .done { fill: var(--map-done); }
.need { fill: none; stroke: var(--map-mute); stroke-width: 1.3; } .tip { fill: var(--map-mute); }
"""
LAB = (  # the colours of JupyterLab's theme, or those of a page of the site
    "--map-ink: var(--jp-content-font-color1, var(--ink, #1b1f24)); "
    "--map-mute: var(--jp-content-font-color2, var(--mute, #57606a)); "
    "--map-ground: var(--jp-layout-color1, var(--raised, #ffffff)); "
    "--map-line: var(--jp-content-link-color, var(--link, #0b62a4)); "
    "--map-done: var(--jp-success-color1, #2e7d32)"
)
FILE = (  # a standalone picture
    ":root { --map-ink: #1b1f24; --map-mute: #57606a; --map-ground: #ffffff; --map-line: #0b62a4; --map-done: #2e7d32 }\n"
    "@media (prefers-color-scheme: dark) { :root { --map-ink: #e6edf3; --map-mute: #a3adb8; --map-ground: #161b22; "
    "--map-line: #58b0ec; --map-done: #6fcf7c } }\n"
)


def levels(every: tuple[Lesson, ...]) -> list[list[str]]:
    """The numbers of the lessons, row by row: each is below all that it needs, or to their right. Lessons that follow each
    other, with nothing next to them, share a row, unless an arrow comes around to one of them."""
    row: dict[str, int] = {}
    for lesson in every:
        row[lesson.number] = 1 + max((row[need] for need in lesson.needs if need in row), default=-1)
    around = {number for need, number in arrows(every) if row[number] - row[need] > AROUND}
    rows: list[list[str]] = []
    alone = False
    for at in range(max(row.values(), default=-1) + 1):
        numbers = [number for number in row if row[number] == at]
        if alone and len(numbers) == 1 and not around & {*rows[-1], *numbers}:
            rows[-1] += numbers
        else:
            rows.append(numbers)
        alone = len(numbers) == 1
    return rows


def arrows(every: tuple[Lesson, ...]) -> list[tuple[str, str]]:
    """(needed, lesson) pairs without those that follow from others: a lesson that needs 4 also needs 3, because 4 does."""
    needs = {lesson.number: set(lesson.needs) for lesson in every}

    def behind(number: str) -> set[str]:
        return set().union(*({n} | behind(n) for n in needs.get(number, ())))

    return [
        (need, number)
        for number, direct in needs.items()
        for need in sorted(direct, key=padded)
        if need in needs and not any(need in behind(other) for other in direct - {need})
    ]


def _places(every: tuple[Lesson, ...]) -> dict[str, tuple[float, float]]:
    """The middle of the top of each box. In a row the boxes are in the order of the boxes that their arrows come from; one
    whose arrow goes around the others is last."""
    rows = levels(every)
    row_of = {number: at for at, row in enumerate(rows) for number in row}
    around = {need for need, number in arrows(every) if row_of[number] - row_of[need] > AROUND}
    widest = max(map(len, rows), default=1)
    middle = MARGIN + (widest * (WIDTH + GAP_X) - GAP_X) / 2
    needed: dict[str, list[str]] = {}
    for need, number in arrows(every):
        needed.setdefault(number, []).append(need)
    places: dict[str, tuple[float, float]] = {}
    for at, row in enumerate(rows):
        from_where = {n: [places[p][0] for p in needed.get(n, ()) if p in places] or [middle] for n in row}
        ordered = sorted(row, key=lambda n: (n in around, sum(from_where[n]) / len(from_where[n]), padded(n)))
        if any(need in row for n in row for need in needed.get(n, ())):
            ordered = row  # one after the other
        center = sum(from_where[row[0]]) / len(from_where[row[0]]) if len(row) == 1 else middle
        left = center - (len(row) - 1) * (WIDTH + GAP_X) / 2
        for i, number in enumerate(ordered):
            places[number] = (left + i * (WIDTH + GAP_X), MARGIN + at * (HEIGHT + GAP_Y))
    return places


def map_svg(every: tuple[Lesson, ...], *, style: str = "", solved: Iterable[str] = ()) -> str:
    """The map as SVG; with a `style` it is standalone, without one it takes the colours of its page."""
    solved, places = set(solved), _places(every)
    wide, high = _size(places)
    about = "Map of the lessons: an arrow leads from a lesson to those that need it."
    root = f' style="{LAB}; display: block; width: 100%; height: auto"' if not style else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" role="img" '
        f'aria-label="{about}"{root}><style>{style}{MAP_STYLE}</style>'
    ]
    for need, number in arrows(every):
        parts.append(_arrow(*places[need], *places[number], wide, places.values()))
    for lesson in every:
        parts.append(_box(lesson, *places[lesson.number], solved))
    return "".join(parts) + "</svg>"


def _arrow(
    x0: float, y0: float, x1: float, y1: float, wide: float, boxes: Iterable[tuple[float, float]]
) -> str:
    """The arrow from the box at (x0, y0) to the one at (x1, y1): to the right in a row; down, through the nearest gap between
    them; around all boxes where more rows lie between, so that it does not seem to come from one of their boxes."""
    half = WIDTH / 2
    if y0 == y1:
        x0, x1, y = x0 + half, x1 - half, y0 + HEIGHT / 2
        line, tip = f"M{x0:g} {y:g}H{x1 - 6:g}", f"M{x1 - 7:g} {y - 4:g}v8l7-4z"
    elif y1 - y0 > AROUND * (HEIGHT + GAP_Y):
        x0, y0, x1, y1, edge = x0 + half, y0 + HEIGHT / 2, x1 + half, y1 + HEIGHT / 2, wide - MARGIN / 2
        line = f"M{x0:g} {y0:g}H{edge - 12:g}q12 0 12 12V{y1 - 12:g}q0 12-12 12H{x1 + 6:g}"
        tip = f"M{x1 + 7:g} {y1 - 4:g}v8l-7-4z"
    else:
        between = sorted((y, x) for x, y in boxes if y0 < y < y1)
        line, x, y = f"M{x0:g} {y0 + HEIGHT:g}", x0, y0 + HEIGHT
        for row, all_of_row in groupby(between, key=lambda box: box[0]):
            taken = [box[1] for box in all_of_row]
            aim, beside = x + (x1 - x) * (row - y0) / (y1 - y0), half + GAP_X / 2
            gaps = [aim, *(box + side for box in taken for side in (-beside, beside))]
            to = min(
                (g for g in gaps if all(abs(g - box) > half for box in taken)), key=lambda g: abs(g - aim)
            )
            line += f"C{x:g} {(y + row) / 2:g} {to:g} {(y + row) / 2:g} {to:g} {row:g}V{row + HEIGHT:g}"
            x, y = to, row + HEIGHT
        line += f"C{x:g} {y1 - GAP_Y / 2:g} {x1:g} {y1 - GAP_Y:g} {x1:g} {y1 - 6:g}"
        tip = f"M{x1 - 4:g} {y1 - 7:g}h8l-4 7z"
    return f'<path class="need" d="{line}"/><path class="tip" d="{tip}"/>'


def _size(places: dict[str, tuple[float, float]]) -> tuple[float, float]:
    return (
        max(x for x, _ in places.values()) + WIDTH / 2 + MARGIN,
        max(y for _, y in places.values()) + HEIGHT + MARGIN,
    )


def map_html(every: tuple[Lesson, ...], link: str = "{file}", solved: Iterable[str] = ()) -> str:
    """The clickable map: links over the boxes. (JupyterLab does not follow links inside an SVG.)"""
    places = _places(every)
    wide, high = _size(places)
    links = "".join(
        f'<a href="{_where(lesson, link)}" aria-label="{lesson.number}. {html.escape(lesson.title)}" '
        f'title="{html.escape(lesson.objective)}" '
        f'style="position:absolute;left:{(x - WIDTH / 2) / wide:.3%};top:{y / high:.3%};width:{WIDTH / wide:.3%};'
        f'height:{HEIGHT / high:.3%}"></a>'
        for lesson, (x, y) in ((lesson, places[lesson.number]) for lesson in every)
    )
    return f'<div class="map" style="position:relative;max-width:{wide:g}px">{map_svg(every, solved=solved)}{links}</div>'


def _where(lesson: Lesson, link: str) -> str:
    return link.format(file=lesson.file, stem=lesson.file.removesuffix(".ipynb"))


def _box(lesson: Lesson, x: float, y: float, solved: set[str]) -> str:
    left, right = x - WIDTH / 2, x + WIDTH / 2
    lines = _broken(lesson.title, 23)
    text = "".join(
        f'<tspan x="{left + 40:g}" y="{y + 22 + 16 * i:g}">{html.escape(line)}</tspan>'
        for i, line in enumerate(lines)
    )
    done = sum(key in solved for key in lesson.exercises)
    count = (
        f'<text class="m done" x="{left + 40:g}" y="{y + HEIGHT - 6:g}">{done} of {len(lesson.exercises)} solved</text>'
        if done
        else ""
    )
    box = (
        f'<g class="lesson"><title>{html.escape(lesson.objective)}</title>'
        f'<rect x="{left:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="7"/>'
        f'<text class="n" x="{left + 6:g}" y="{y + 25:g}">{lesson.number}</text><text>{text}</text>'
        f'<text class="m" x="{right - 8:g}" y="{y + HEIGHT - 6:g}" text-anchor="end">{lesson.minutes} min</text>{count}</g>'
    )
    return box


def _broken(text: str, width: int) -> list[str]:
    """The text in at most two lines of about `width` letters."""
    if len(text) <= width:
        return [text]
    words = text.split()
    fits = next(n for n in range(len(words), 0, -1) if len(" ".join(words[:n])) <= width)
    return [" ".join(words[:fits]), " ".join(words[fits:])]


# ---------------------------------------------------------------- what a notebook shows


class Shown:
    """HTML with a plain-text alternative, for a notebook."""

    def __init__(self, text: str, body: str):
        self.text, self.body = text, body

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.body


def lesson_map() -> Shown:
    """The map of the lessons, with the number of solved exercises."""
    every = lessons()
    lines = [
        f"{lesson.number:>2} {lesson.title}" + (f" (needs {', '.join(lesson.needs)})" if lesson.needs else "")
        for lesson in every
    ]
    return Shown("\n".join(lines), map_html(every, solved=store.load()["solved"]))


def _linked(lesson: Lesson, *, title: bool = True) -> str:
    return f"[{lesson.number}{f'. {lesson.title}' * title}]({lesson.file})"


def table(every: tuple[Lesson, ...]) -> str:
    """Title, objective, minutes (in brackets: without what can wait) and needs of each lesson, as a table in Markdown."""
    return markdown_table(
        {
            "lesson": _linked(lesson),
            "objective": lesson.objective,
            "minutes": f"{lesson.minutes}" + f" ({lesson.core})" * (lesson.core != lesson.minutes),
            "needs": ", ".join(lesson.needs) or "–",
        }
        for lesson in every
    )


def routes(every: tuple[Lesson, ...]) -> str:
    """The routes, as tables in Markdown."""
    parts = []
    for route in ROUTES:
        sittings = route_rows(route, every)
        heading = f"minutes ({sum(minutes for *_, minutes in sittings)} in all)"
        rows = [
            {
                "about": about,
                "lessons": ", ".join(_linked(lesson, title=False) for lesson in there),
                heading: minutes,
            }
            for about, there, minutes in sittings
        ]
        taken = [_linked(lesson, title=False) for lesson in every if lesson.number in route.known]
        for_known = f" You should know lessons {', '.join(taken[:-1])} and {taken[-1]}." if taken else ""
        parts.append(f"### {route.name}\n\n{route.whom}{for_known}\n\n{markdown_table(rows)}")
    return "\n\n".join([*parts, short_route(every)])
