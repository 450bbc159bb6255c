"""How much of the tree of modules is open: the boxes of a picture.

``first_sight`` is what a picture opens with, for ``draw`` and ``step`` alike; ``chosen`` what ``fold=`` asks for;
``boxes`` what is seen when a box is opened. Equal neighbours are one box that says how many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..read.graph import Function, Graph
from ..read.modules import prefixes, shared_path
from ..read.rules import base_name
from .blocks import CONTAINERS, Block, Item, leaves_of, ordered
from .captions import derivative, last_name, listed, parameter_name, result_of

# calls of the framework, by the last function that each makes: its other functions (reshapes may lie between), its name
COMPOSED = dict.fromkeys(("NllLoss", "NllLoss2D"), (("LogSoftmax",), "cross_entropy"))
COMPOSED["Div"] = ("LinalgVectorNorm", "ClampMin", "Expand"), "normalize"
RESHAPES = ("View", "UnsafeView", "ReshapeAlias", "Transpose", "Permute")
REPEATS = 4  # at least this many equal functions fold into a repetition; of blocks of modules, at least two
LONGEST_PERIOD = 400
OPENED_FROM = 8  # with fewer functions a module stays closed until the reader opens it
SHOWN = 8  # a repetition of at most this many functions keeps its first and last occurrence open


def first_sight(root: Block, most: int) -> list[Block]:
    """The most informative picture with at most ``most`` boxes: the model is open, and inside it the containers and the
    largest parts, as far as there is room; equal neighbours are one box."""
    open_blocks: set[Block] = {root}
    whole = len(root.functions)
    while True:
        items = _level(root, open_blocks, most)
        shown = [i for i in items if isinstance(i, Block)]
        # where some of a list are closed, the others of their class stay closed
        alike = {_place(b.inside[0]) for b in shown if b.times > 1}
        # a module that is differentiated is one box, and its backward pass another
        closed = {p for part in shown for b in [part, *part.inside] if b.backward for p in prefixes(b.path)}
        tries = [b for b in shown if b.times == 1 and b.inside and not b.stretch and _place(b) not in alike]
        tries = [b for b in tries if b.path not in closed]
        outermost = set(root.inside)
        tries.sort(key=lambda b: (b not in outermost, b.kind not in CONTAINERS, -len(b.functions)))
        for block in tries:
            if len(block.inside) == 1 and block in outermost and len(outermost) > 1:
                continue  # one box would replace another, under a name that says less
            plain = block in outermost or _is_list(block)
            most_of_it = len(block.functions) > 0.8 * whole  # a box that holds nearly everything says nothing
            known = sum(len(b.functions) for b in block.inside)
            # it says more than the functions in it would: an attention, for example
            says_more = not most_of_it and 2 * known < len(block.functions)
            if not plain and (says_more or len(block.functions) < max(whole / 4, OPENED_FROM)):
                continue
            more = _level(root, open_blocks | {block}, most)
            parts = [i.path for i in more if isinstance(i, Block) and i.is_module]
            if len(more) > most and len(parts) > 2 * len(set(parts)):
                continue  # a recursion: the same few modules again and again, in no fixed order
            new = (i for i in more if isinstance(i, Block) and not {*i.functions}.isdisjoint(block.functions))
            vague = [i for i in new if i.title == listed([base_name(f.name) for f in i.functions])]
            if not plain and 4 * sum(len(i.functions) for i in vague) > len(block.functions):
                continue  # a large part of it would be boxes named after their functions
            if most_of_it or len(more) <= (most if plain or 2 * len(block.functions) > whole else most // 2):
                open_blocks.add(block)
                break
        else:
            return _cut(items, most)


def _place(block: Block) -> tuple[str, str]:
    return block.kind, block.path.rpartition(".")[0]


def _is_list(block: Block) -> bool:
    """Whether a block only holds others: a ModuleList, a ModuleDict, a plain list of modules."""
    numbered = all(re.search(r"[.\[]?\d+\]?$", b.path) for b in block.inside)
    return bool(block.inside) and block.kind in CONTAINERS and (numbered or bool(block.kind))


def chosen(root: Block, fold: Any, graph: Graph) -> tuple[list[Block], str]:
    """The boxes that ``fold`` asks for: a depth below the model (1: its own layers), the name of a class or the class, or a
    function of the module that says whether it is one box. Equal neighbours are one. If no module matches, a text that lists
    what there is; ValueError for a class that no module has."""
    seen: list[tuple[bool, int, str]] = []  # for each module: whether it is selected, its depth, its class

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
            listed, it = _is_list(inner), one_box(inner, depth)
            seen.append((it, depth, inner.kind))
            if not it or (isinstance(fold, int) and listed):
                if inner.inside or not isinstance(fold, int):
                    open_blocks.add(inner)
                opened(inner, depth + (not listed))

    opened(root, 0)
    closed = _closed(root, open_blocks)
    found = [i for i in _equal(ordered(root.functions, closed)[0], 2, True, 1) if isinstance(i, Block)]
    if any(it for it, _, _ in seen):
        return found, ""
    if isinstance(fold, int):
        deepest = max((depth for _, depth, _ in seen), default=0)
        text = (
            f"fold={fold} is more than the depth of the modules here, {deepest}: the innermost are the boxes."
        )
        return found, text
    kinds = Counter(kind for _, _, kind in seen if kind)
    there = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()) or "no module whose class is known"
    message = f"fold={getattr(fold, '__name__', fold)!r} matches none of the modules here: {there}."
    if kinds and isinstance(fold, str | type):
        raise ValueError(message)
    return found, message


def repeats(root: Block) -> list[Block]:
    """The repeated parts, with modules or without."""
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
    """The parts of ``root`` that are drawn when these blocks are open, inputs first, equal neighbours as one block."""
    closed = _closed(root, open_blocks)
    items = _equal(ordered(root.functions, closed)[0], 2, whole_modules=True, longest=1)
    items = _equal(items, 2 if len(items) > most else 3, whole_modules=True)
    items = items if len(items) <= most else _equal(items, REPEATS)
    if len(items) <= most or not closed:
        return items
    return _between_modules(items, most)


def _between_modules(items: list[Item], most: int) -> list[Item]:
    """The items, with each row of functions between two modules as one box: those that lead to a result that the caller
    has named, and as many of the longest other rows as it takes to leave at most ``most`` items."""

    def is_named(item: Item | None) -> bool:
        return isinstance(item, Function) and any(o.named for o in item.outputs)

    rows: list[list[Item]] = []
    for before, item in zip([None, *items], items, strict=False):
        if before is None or isinstance(item, Block) or isinstance(before, Block) or is_named(before):
            rows.append([])
        rows[-1].append(item)
    left = len(items)
    for k in sorted(range(len(rows)), key=lambda k: (not is_named(rows[k][-1]), -len(rows[k]))):
        if len(rows[k]) > 1 and (left > most or is_named(rows[k][-1])):
            left -= len(rows[k]) - 1
            rows[k] = [_joined(rows[k])]
    return [item for row in rows for item in row]


def _joined(part: Sequence[Item], title: str = "") -> Block:
    """Neighbours as one box, named after the modules in it, or after the result that the caller has named."""
    functions = sorted((f for i in part for f in _functions(i)), key=lambda f: f.index)
    blocks = [i for i in part if isinstance(i, Block)]
    several = {b: f"{b.kind} ×{b.times}" for b in blocks if b.times > 1 and b.kind}
    names = [several.get(b, derivative(b) + last_name(b.path)) for b in blocks if b.is_module]
    names = names or [b.title for b in blocks if b.title]
    made, name = next(((f, o.name) for f in reversed(functions) for o in f.outputs if o.named), (None, ""))
    leads = {made}  # the functions that lead to this result: if all do, the box is named after it
    for f in reversed(functions):
        leads |= {e.target for e in f.edges if f in leads}
    own = ", ".join(dict.fromkeys(names)) or (name if leads.issuperset(functions) else "")
    own = own or ", ".join(dict.fromkeys(filter(None, map(parameter_name, leaves_of(functions)))))
    title = title or own or listed([base_name(f.name) for f in functions])
    return Block(functions, shared_path([b.path for b in blocks]), inside=blocks, title=title, stretch=True)


def _functions(item: Item) -> list[Function]:
    return item.functions if isinstance(item, Block) else [item]


def _composed(free: list[Function]) -> list[Block]:
    """Functions that one call of the framework made, under its name, with the functions that reshape their input."""
    there, found = set(free), []
    for f in free:
        others, title = COMPOSED.get(base_name(f.name), ((), ""))
        made = [f]
        for t in (e.target for g in made for e in g.edges if title):  # grows as it goes
            fits = t in there and t not in made and base_name(t.name) in (*others, *RESHAPES)
            made += [t] if fits and all(e.source in made for e in t.users) else []
        if title and {base_name(g.name) for g in made}.issuperset(others):
            found.append(Block(sorted(made, key=lambda g: g.index), title=title, stretch=True))
    return found


def _sign(item: Item) -> tuple:
    """A key that equal items share. For two modules of one class it compares the parameters and the result, not each
    function: the first of several layers may have an input that needs no gradient."""
    if isinstance(item, Function):
        return item.name, item.outputs[0].shape
    made = item.functions[-1].outputs[0].shape
    if item.kind and item.times == 1:
        leaves = leaves_of(item.functions)
        names = [(f.outputs[0].name or "").removeprefix(item.path) for f in leaves]
        parameters = tuple(zip(names, (f.outputs[0].shape for f in leaves), strict=True))
        return item.kind, item.backward, result_of(item), made, parameters
    return item.title, item.times, tuple((f.name, f.outputs[0].shape) for f in item.functions)


def _equal(
    items: list[Item], least: int, whole_modules: bool = False, longest: int = LONGEST_PERIOD
) -> list[Item]:
    """The items with each run of at least ``least`` equal neighbours as one block (blocks, or a few blocks and
    functions that repeat). ``whole_modules``: only if they hold modules that hold others."""
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
        often = len(modules) == 1 or covered > 2 * period
        if whole_modules and not (often and any(m.inside for m in modules)):
            continue
        title = ""
        if not any(isinstance(i, Block) for i in run) and period <= SHOWN:
            # the first and the last stay open, to show what repeats and how it is connected
            start, covered, run = start + period, covered - 2 * period, run[period:-period]
            title = f"the same {covered // period:,} more times"
        taken[start : start + covered] = True
        count = covered // period
        parts = [_one(run[k * period : (k + 1) * period], f"{k + 1:,} of {count:,}") for k in range(count)]
        functions = sorted((f for part in parts for f in part.functions), key=lambda f: f.index)
        kinds = {part.kind for part in parts}
        path = shared_path([part.path for part in parts if part.path])
        kind = kinds.pop() if len(kinds) == 1 else ""
        out[start] = Block(functions, path, kind, parts, times=count, title=title)
    return [out.get(i, item) for i, item in enumerate(items) if i in out or not taken[i]]


def _one(items: list[Item], number: str) -> Block:
    """One of several equal parts: a block as it is, or a block made of the parts that repeat."""
    if len(items) == 1 and isinstance(items[0], Block):
        return items[0]
    joined = _joined(items, number)
    if len(joined.inside) == 1:  # a module and what is done to its result
        one, joined.title = joined.inside[0], ""
        joined.path, joined.kind, joined.call = one.path, one.kind, one.call
    return joined


def _cut(items: list[Item], most: int, counted: bool = False) -> list[Block]:
    """The blocks among ``items``. If there are more than ``most``, neighbours are joined, the smallest first; if there
    are very many, or with ``counted``, each block has the same number of them. Functions behind all modules stay apart
    from these."""
    parts = [[i] for i in items]
    if counted or len(items) > 8 * most:
        size = -(-len(items) // most)
        parts = [items[a : a + size] for a in range(0, len(items), size)]
    elif len(items) > most > 1:
        end = 1 + max((k for k, i in enumerate(items) if isinstance(i, Block) and i.path), default=len(items))
        parts = parts[:end] + [items[end:]] * (end < len(items))
        while len(parts) > most:
            sizes = [sum(len(_functions(i)) for i in part) for part in parts[: end or None]]
            k = min(range(len(sizes) - 1), key=lambda k: sizes[k] + sizes[k + 1])
            parts[k : k + 2], end = [parts[k] + parts[k + 1]], end - 1
    found, at = [], 0
    for part in parts:
        at += len(part)
        title = f"{at - len(part) + 1}–{at} of {len(items):,}" if counted else ""
        found += [_joined(part, title)] if len(part) > 1 else [i for i in part if isinstance(i, Block)]
    return found
