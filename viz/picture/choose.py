"""Which picture of a graph is drawn: the same choice for ``viz.draw`` and for the pane of ``viz.step``.

A small graph shows each tensor and function. A larger one shows its modules first (blocks.py); where there are none,
or there is room, each function. ``pictures_of`` lists what there is to choose from, the best first; ``draw`` takes the first
that fits a page, the pane the first that fits its window. What cannot be laid out in time is folded further, with a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from ..read.graph import Graph
from ..read.text import one_line, plural
from .blocks import Block, tree
from .captions import about, common_start
from .lanes import CLOSER
from .layout import SECONDS, LayoutTooSlow, Places, least_length, places
from .levels import chosen, first_sight, repeats
from .parts import Picture
from .views import VIEWS, build

# The limits. Up to LANES functions are drawn in two lanes. Where no module is known, a graph of up to DETAIL nodes shows each
# tensor and function, one of up to WHOLE nodes each function. A picture of folded modules aims at BOXES boxes. PAGE is the
# largest size, in points, of a picture that was chosen by default.
LANES, DETAIL, WHOLE, BOXES = 12, 40, 400, 24
PAGE = (1_100, 1_200)

NOTHING = (
    "Nothing to fold was found: no parameter name contains a module, such as layer.weight, and nothing is repeated at "
    "least four times in a row."
)
FOLDS = "fold must be a depth (1, 2, ...), a class of modules or its name, a function of a module, True, False or None"


def check_options(view: Any = None, direction: Any = None, fold: Any = None, seconds: Any = SECONDS) -> None:
    """Refuse an unknown view, direction, fold or time limit, and say which exist."""
    if view is not None and view not in VIEWS:
        raise ValueError(f"There is no view {one_line(view)[:40]!r}. Choose one of: {', '.join(VIEWS)}.")
    if direction not in (None, "LR", "TB"):  # values flow one way in every picture
        what = one_line(direction)[:40]
        raise ValueError(f"direction must be 'LR' (left to right) or 'TB' (top to bottom), not {what!r}.")
    depth = isinstance(fold, int) and fold >= 0
    if not (fold is None or depth or callable(fold) or (isinstance(fold, str) and fold.isidentifier())):
        raise ValueError(f"{FOLDS}, not {one_line(fold)[:40]!r}.")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise ValueError(f"seconds must be a positive number, not {one_line(seconds)[:40]!r}.")


def pictures_of(
    graph: Graph,
    view: str | None = None,
    direction: str | None = None,
    fold: Any = None,
    *,
    saved: bool = False,
    page: bool = False,
) -> list[Picture]:
    """The pictures to choose from, the best first: the requested ones, in one direction or in both; by default the views for a
    graph of this size, and those of its modules. Nothing is laid out yet.

    ``page``: for a page, rather than for the pane, which sets a long picture in columns.
    """
    if view is not None or fold is not None:
        return _short(_asked(graph, view, direction, fold, page, saved))
    n, title, root = len(graph), graph.title, tree(graph)

    def drawn(what: str, *directions: str, **more: Any) -> list[Picture]:
        directions = (direction,) if direction else directions
        return [build(graph, what, d, title, **more, saved=saved) for d in directions]

    whole = _lanes(graph, direction, page) if not saved and n - len(graph.leaves) <= LANES else []
    whole += drawn("graph", *("LR", "TB")[: 2 if saved or 2 * n <= DETAIL else 1]) if n <= DETAIL else []
    if saved and whole:  # no other view draws what is saved
        return sorted(whole, key=lambda p: p.direction == "LR" and least_length(p) > PAGE[0])
    whole += drawn("functions", "TB") if n <= WHOLE else []
    folded: list[Picture] = []
    before = len(whole[-1].items) if whole and whole[-1].view == "functions" else 2 * n
    limits = () if n <= BOXES // 3 or saved else (BOXES,) if page else (BOXES, BOXES // 3)
    for most in limits:
        groups = first_sight(root, most)
        more = {"groups": groups, "terse": int(most < BOXES)}  # fewer boxes: for a narrow window
        found = drawn("functions", "TB", **more) if groups else []
        if not found or len(found[-1].items) > 0.8 * before:
            continue
        before = len(found[-1].items)
        # small enough to be seen whole even in a narrow window
        found += drawn("functions", "TB", groups=groups, terse=2) if n <= DETAIL and not page else []
        for picture in found:
            picture.fold = "module" if most == BOXES else most
            picture.notes += [_folded(graph, groups)] if n > DETAIL else []
        folded += found
    first = 0 if n > DETAIL else sum(p.view == "lanes" for p in whole)  # a graph with modules shows them next
    return _short(whole[:first] + folded + whole[first:] if root.inside else whole + folded)


def _short(pictures: list[Picture]) -> list[Picture]:
    """The pictures without those that flow to the right for more than two pages, unless there are no others."""
    return [p for p in pictures if p.direction != "LR" or least_length(p) <= 2 * PAGE[0]] or pictures


def _lanes(graph: Graph, direction: str | None, page: bool) -> list[Picture]:
    """Two lanes, as roomy as a page allows, the roomiest first; in the pane also as tight as possible, for a narrow window."""
    found, tightest = [], []
    for d in (direction,) if direction else ("LR", "TB"):
        levels = range(len(CLOSER) - (not page))  # the tightest has no room for the number of a step
        closer = [build(graph, "lanes", d, graph.title, close=k) for k in levels]
        roomy = [p for p in closer if not (page or d == "LR") or least_length(p) <= PAGE[d != "LR"]]
        found += roomy if page else roomy[: d == "LR"] + roomy[1:][-1:]
        tightest.append(closer[-1])
    return found or tightest


def _asked(
    graph: Graph, view: str | None, direction: str | None, fold: Any, page: bool, saved: bool
) -> list[Picture]:
    """The pictures of one view and fold, in one direction or in both."""
    groups, how, none = _groups(graph, fold)
    small = "lanes" if len(graph) - len(graph.leaves) <= LANES and not saved else "graph"
    what = view or (small if len(graph) <= DETAIL and not fold else "functions")
    what = "functions" if groups and what in ("graph", "lanes") else what
    notes = [*filter(None, [none]), *([_folded(graph, groups)] if groups else [])]
    notes = notes or [NOTHING] * (fold not in (None, False))
    directions = (direction,) if direction else ("TB",) if what == "functions" else ("LR", "TB")
    several = [build(graph, what, d, graph.title, groups, saved=saved) for d in directions if what != "lanes"]
    found = several or _lanes(graph, direction, page and small == "lanes")
    for picture in found:
        picture.fold, picture.notes = how, list(notes)
    return found


def _groups(graph: Graph, fold: Any) -> tuple[list[Block], str, str]:
    """The boxes that ``fold`` asks for, what they are folded by and, if it matches no module, a list of what there is."""
    if fold is None or fold is False:
        return [], "", ""
    root = tree(graph)
    if fold is True:
        groups = first_sight(root, BOXES)
        return (groups, "module", "") if groups else (repeats(root), "repeat", "")
    groups, none = chosen(root, fold, graph)
    return groups, "module", none if root.inside else ""


def fewer(graph: Graph) -> Iterator[Picture]:
    """The graph in fewer and fewer boxes, down to one: one of these is small enough for every page and every time limit."""
    root, most, before = tree(graph), BOXES, -1
    while most:
        groups = first_sight(root, most)
        if groups and len(groups) != before:
            before = len(groups)
            for terse in (False, True):  # a box with less text is better than two modules in one box
                picture = build(graph, "functions", "TB", graph.title, groups, terse=terse)
                picture.fold, picture.notes = most, [_folded(graph, groups)]
                yield picture
        most = most * 3 // 4


def fitting(graph: Graph, pictures: list[Picture], seconds: float, limited: bool) -> tuple[Picture, Places]:
    """The first of ``pictures`` that is laid out in time and fits a page; else the graph in fewer boxes or, if not ``limited``,
    the one that takes the fewest screens. A note says what could not be done."""
    late, found = None, None
    best = (p for p in pictures if not isinstance(p.fold, int))  # a window may be small, a page is not
    for picture in chain(best, fewer(graph)):
        if found and not limited and picture not in pictures:
            break
        if limited and least_length(picture) > PAGE[picture.direction != "LR"]:
            continue
        try:
            at = places(picture, seconds=seconds)
        except LayoutTooSlow:
            late = late or picture
            continue
        size = screens(at.width, at.height)
        if limited or found is None or size < screens(found[1].width, found[1].height):
            found = picture, at
        if size == 1:
            break
    if found is None:
        limit = f"within {seconds:g} seconds: allow more, such as seconds=20."
        raise LayoutTooSlow(f"No picture of this graph could be laid out {limit}")
    if late is not None and late.fold != found[0].fold:
        found[0].notes.insert(0, too_slow(late, seconds))
    return found


def screens(width: float, height: float) -> float:
    """How many pages a picture takes; scrolling in one direction is better than in both."""
    wide, high = max(1.0, width / PAGE[0]), max(1.0, height / PAGE[1])
    return wide * high * (2 if wide > 1 and high > 1 else 1)


def too_slow(picture: Picture, seconds: float) -> str:
    """The sentence shown in place of a picture that could not be laid out in time."""
    what = f"view={picture.view!r} with {plural(len(picture.items), 'item')}"
    return f"Graphviz could not place {what} within {seconds:g} seconds, so more is folded here. seconds=20 gives it more time."


def _folded(graph: Graph, groups: list[Block]) -> str:
    """What a picture says about its boxes, and about the module that they all belong to."""
    hidden = len({f for g in groups for f in g.functions})
    what = "one box" if len(groups) == 1 else f"{len(groups)} boxes"
    start = common_start(groups)
    model = f"{about(start, graph)}. " if start in graph.classes else ""
    return f"{model}{hidden:,} of {len(graph):,} nodes are folded into {what}. fold=False draws each of them."
