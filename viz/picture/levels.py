"""How much of the tree of modules is open: the boxes of a picture.

``first_sight`` is what a picture opens with, for ``draw`` and ``step`` alike; ``chosen`` what ``fold=`` asks for; ``boxes``
what is seen when a box is opened. Equal neighbours are one box that says how many.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

import numpy as np

from ..read.graph import Function, Graph
from ..read.modules import prefixes
from ..read.rules import base_name
from .blocks import CONTAINERS, Block, Item, leaves_of, ordered
from .captions import last_name, listed

# of functions that one call of the framework always makes in a row: what that is called
COMPOSED = {("LogSoftmax", "NllLoss"): "cross_entropy", ("LogSoftmax", "NllLoss2D"): "cross_entropy"}
RESHAPES = ("View", "UnsafeView", "ReshapeAlias", "Transpose", "Permute")
REPEATS = 4  # so often at least come functions in a row that are folded because they repeat; equal blocks of modules twice
LONGEST_PERIOD = 400
SHOWN = 8  # of so many functions, or fewer, that come again and again the first and the last time stay open


def first_sight(root: Block, most: int) -> list[Block]:
    """The boxes of the picture that says most with ``most`` of them at the most: the model is open, and of what is in it the
    containers, and what is most of the whole, where there is room; equal neighbours are one."""
    open_blocks: set[Block] = {root}
    whole = len(root.functions)
    while True:
        items = _level(root, open_blocks, most)
        tries = [b for b in items if isinstance(b, Block) and b.times == 1 and b.inside and not b.stretch]
        outermost = set(root.inside)
        tries.sort(key=lambda b: (b not in outermost, b.kind not in CONTAINERS, -len(b.functions)))
        for block in tries:
            plain = block in outermost or (block.kind in CONTAINERS and _numbered(block))
            most_of_it = len(block.functions) > 0.8 * whole  # a box of nearly all says nothing
            if not plain and len(block.functions) < whole / 4:
                continue
            more = _level(root, open_blocks | {block}, most)
            if most_of_it or len(more) <= (most if plain or 2 * len(block.functions) > whole else most // 2):
                open_blocks.add(block)
                break
        else:
            return _cut(items, most)


def _numbered(block: Block) -> bool:
    return bool(block.inside) and all(re.search(r"[.\[]?\d+\]?$", b.path) for b in block.inside)


def chosen(root: Block, fold: Any, graph: Graph) -> list[Block]:
    """The boxes that ``fold`` asks for: a depth below the model (1: its own layers), the name of a class or the class, or a
    function of the module that says whether it is one box. Equal neighbours are one."""

    def one_box(block: Block, depth: int) -> bool:
        if isinstance(fold, int):
            return depth >= fold
        if isinstance(fold, str):
            return block.kind == fold
        module = graph.modules.get(block.path)
        if isinstance(fold, type):
            return isinstance(module, fold) or block.kind == fold.__name__
        return module is not None and bool(fold(module))

    open_blocks: set[Block] = {root}

    def opened(block: Block, depth: int) -> None:
        for inner in block.inside:
            listed = inner.kind in CONTAINERS and _numbered(inner)
            if not one_box(inner, depth) or (isinstance(fold, int) and listed):
                if inner.inside or not isinstance(fold, int):
                    open_blocks.add(inner)
                opened(inner, depth + (not listed))

    opened(root, 0)
    closed = _closed(root, open_blocks)
    return [i for i in _equal(ordered(root.functions, closed)[0], 2, True, 1) if isinstance(i, Block)]


def repeats(root: Block) -> list[Block]:
    """What comes again and again, whatever modules there are."""
    return [i for i in _equal(list(root.functions), REPEATS) if isinstance(i, Block)]


def boxes(block: Block, most: int) -> list[Block]:
    """The boxes that are seen when ``block`` is opened; the functions between them are drawn one by one."""
    if block.times > 1 or block.stretch:
        parts: list[Item] = list(block.inside) if block.inside else list(block.functions)
        if block.stretch and block.inside:
            parts = ordered(block.functions, block.inside)[0]
        return _cut(parts, most, block.times > 1)
    return _cut(_level(block, {block}, most), most)


def _closed(root: Block, open_blocks: set[Block]) -> list[Block]:
    """The outermost blocks that are not open."""

    def shut(block: Block) -> list[Block]:
        return [b for inner in block.inside for b in (shut(inner) if inner in open_blocks else [inner])]

    closed = shut(root)
    taken = {f for b in closed for f in b.functions}
    return closed + _composed([f for f in root.functions if f not in taken])


def _level(root: Block, open_blocks: set[Block], most: int) -> list[Item]:
    """What is drawn of ``root`` where these blocks are open, inputs first, equal neighbours as one block."""

    closed = _closed(root, open_blocks)
    items = _equal(ordered(root.functions, closed)[0], 2, whole_modules=True)
    items = items if len(items) <= most else _equal(items, REPEATS)
    return items if len(items) <= most or len(closed) < 2 else _between_modules(items)


def _between_modules(items: list[Item]) -> list[Item]:
    """With the functions in a row, between two modules, as one box each."""
    found: list[Item] = []
    for single, run in groupby(items, lambda i: isinstance(i, Function)):
        part = list(run)
        found += (
            [Block(part, title=listed([base_name(f.name) for f in part]), stretch=True)]
            if single and len(part) > 1
            else part
        )
    return found


def _composed(free: list[Function]) -> list[Block]:
    """Functions that one call of the framework made, under its name, with what reshapes their input."""
    there, found = set(free), []
    for f in free:
        for names, title in COMPOSED.items():
            before = [e.target for e in f.edges[:1] if e.target in there]
            if base_name(f.name) == names[-1] and before and base_name(before[0].name) == names[0]:
                run = [before[0], f]
                while run[0].edges and (t := run[0].edges[0].target) in there and len(t.users) == 1:
                    if base_name(t.name) not in RESHAPES or len(run) > 4:
                        break
                    run.insert(0, t)
                found.append(Block(run, title=title, stretch=True))
    return found


def _sign(item: Item) -> tuple:
    """What an item looks like: equal items have equal signs. Of two modules of one class the parameters count, and what they
    make, not each function: the first of several layers may have an input that needs no gradient."""
    if isinstance(item, Function):
        return item.name, item.outputs[0].shape
    made = item.functions[-1].outputs[0].shape
    if item.kind and item.times == 1:
        leaves = dict.fromkeys(leaf for f in item.functions for leaf in leaves_of(f))
        names = [(f.outputs[0].name or "").removeprefix(item.path) for f in leaves]
        return item.kind, made, tuple(zip(names, (f.outputs[0].shape for f in leaves), strict=True))
    return item.title, item.times, tuple((f.name, f.outputs[0].shape) for f in item.functions)


def _equal(
    items: list[Item], least: int, whole_modules: bool = False, longest: int = LONGEST_PERIOD
) -> list[Item]:
    """With each run of equal neighbours (of blocks, or of a few blocks and functions that come again) as one block. At least
    ``least`` of them; ``whole_modules``: only where they hold modules that hold others."""
    numbers: dict[tuple, int] = {}
    signs = np.array([numbers.setdefault(_sign(i), len(numbers)) for i in items])
    n = len(items)
    best: list[tuple[int, int, int]] = []  # covered, start, period
    for period in range(1, min(longest, n // least) + 1):
        same = np.concatenate([[0], signs[:-period] == signs[period:], [0]]).astype(np.int8)
        steps = np.diff(same)
        for start, end in zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True):
            if end - start >= period * (least - 1):
                best.append((int((end - start) // period + 1) * period, int(start), period))
        if best and max(b[0] for b in best) > 0.9 * n:
            break  # a longer period can only be a multiple of this one
    out: dict[int, Block] = {}
    taken = np.zeros(n, dtype=bool)
    for covered, start, period in sorted(best, key=lambda b: (-b[0], b[2], b[1])):
        run = items[start : start + covered]
        if taken[start : start + covered].any():
            continue
        modules = [i for i in run[:period] if isinstance(i, Block) and i.is_module and i.times == 1]
        if whole_modules and not (
            any(m.inside for m in modules) and (len(modules) == 1 or covered > 2 * period)
        ):
            continue
        title = ""
        if not any(isinstance(i, Block) for i in run) and period <= SHOWN:
            # the first and the last stay open, so that one sees what repeats and how it is joined on
            start, covered, run = start + period, covered - 2 * period, run[period:-period]
            title = f"the same {covered // period:,} more times"
        taken[start : start + covered] = True
        count = covered // period
        parts = [_one(run[k * period : (k + 1) * period], f"{k + 1:,} of {count:,}") for k in range(count)]
        functions = sorted((f for part in parts for f in part.functions), key=lambda f: f.index)
        kinds = {part.kind for part in parts}
        kind, path = (
            kinds.pop() if len(kinds) == 1 else "",
            _common([part.path for part in parts if part.path]),
        )
        out[start] = Block(functions, path, kind, parts, times=count, title=title)
    return [out.get(i, item) for i, item in enumerate(items) if i in out or not taken[i]]


def _one(items: list[Item], number: str) -> Block:
    """One of several equal ones: a block as it is, or a block of what comes again."""
    if len(items) == 1 and isinstance(items[0], Block):
        return items[0]
    blocks = [i for i in items if isinstance(i, Block)]
    functions = sorted(
        (f for i in items for f in (i.functions if isinstance(i, Block) else [i])), key=lambda f: f.index
    )
    if len(blocks) == 1:  # a module and what is done to its result
        return Block(functions, blocks[0].path, blocks[0].kind, blocks, blocks[0].call, stretch=True)
    path = _common([b.path for b in blocks])
    return Block(functions, path, inside=blocks, title=number, stretch=True)


def _common(paths: list[str]) -> str:
    """The longest path that all of these are in, or are."""
    if not paths:
        return ""
    same = [level for level in zip(*map(prefixes, paths), strict=False) if len(set(level)) == 1]
    return same[-1][0] if same else ""


def _cut(items: list[Item], most: int, counted: bool = False) -> list[Block]:
    """The blocks among ``items``; where there are more than ``most``, neighbours are joined to stretches of equal length."""
    if len(items) <= most:
        return [i for i in items if isinstance(i, Block)]
    size = -(-len(items) // most)
    found = []
    for a in range(0, len(items), size):
        part = items[a : a + size]
        if len(part) == 1:
            found += [i for i in part if isinstance(i, Block)]
            continue
        functions = [f for i in part for f in (i.functions if isinstance(i, Block) else [i])]
        blocks = [i for i in part if isinstance(i, Block)]
        names = [last_name(b.path) for b in blocks if b.is_module]
        title = f"{a + 1}–{a + len(part)} of {len(items):,}"
        if not counted:
            title = ", ".join(names) if names else f"part {len(found) + 1} of {-(-len(items) // size)}"
        functions.sort(key=lambda f: f.index)
        found.append(
            Block(functions, _common([b.path for b in blocks]), inside=blocks, title=title, stretch=True)
        )
    return found
