"""Which functions are drawn as one box: the tree of modules, and how much of it is open.

The block of a module is the convex hull of the functions that are known to be its own: all that can be reached from one of
them and leads to one. One box around a hull is on no cycle. Blocks nest; what no module is known to have made stays between
them; equal neighbours are one block that says how many. Which boxes a picture opens with is chosen here (``first_sight``), for
``draw`` and ``step`` alike. Reads names, shapes and edges only.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from ..read.graph import Function, Graph
from ..read.modules import prefixes
from ..read.rules import base_name
from ..read.text import fit, plural, width
from ..read.values import size_of

CONTAINERS = ("", "ModuleList", "ModuleDict")  # they only hold modules: what they hold says more than they do
ACTIVATIONS = ("Relu", "Gelu", "Silu", "Tanh", "Sigmoid", "LeakyRelu", "Elu", "Hardtanh", "Hardswish")
# of functions that one call of the framework always makes in a row: what that is called
COMPOSED = {("LogSoftmax", "NllLoss"): "cross_entropy", ("LogSoftmax", "NllLoss2D"): "cross_entropy"}
RESHAPES = ("View", "UnsafeView", "ReshapeAlias", "Transpose", "Permute")
SUB, WIDEST = 11.0, 190.0  # size and width of a line on a box
REPEATS = 4  # so often at least come functions in a row that are folded because they repeat; equal blocks of modules twice
LONGEST_PERIOD = 400
SHOWN = 8  # of so many functions, or fewer, that come again and again the first and the last time stay open


@dataclass(slots=True, eq=False)
class Block:
    """Functions that can be drawn as one box, in forward order. ``path`` is the module's, empty where it is none of one."""

    functions: list[Function]
    path: str = ""
    kind: str = ""  # the class of the module
    inside: list[Block] = field(default_factory=list)
    call: str = ""  # "call 2" of a module that is used several times
    times: int = 1  # of equal neighbours, each of which is in ``inside``
    title: str = ""  # of a block that is no module
    stretch: bool = False  # what is in it is shown as it is: it was cut out of something longer

    @property
    def is_module(self) -> bool:
        """Whether this is a module, or several equal ones; else ``path`` only says in which one it lies."""
        return bool(self.path) and not self.title and (self.times == 1 or self.inside[0].is_module)


Item = Block | Function


def tree(graph: Graph) -> Block:
    """The modules of ``graph`` as nested blocks; the outermost is the whole graph."""
    order = [f for f in graph.functions if f.kind != "accumulate"]
    known = {f: (_around(f.module, graph.classes), f.call) for f in order if f.module}
    return Block(order, inside=_blocks(order, known, 0, graph), kind="graph")


def _around(path: str, classes: dict[str, str]) -> list[str]:
    """The modules that one is in, outermost first, and itself: without what only holds them, a list or a trainer."""
    all_ = prefixes(path)
    return [p for p in all_ if p in classes or p == path] if any(p in classes for p in all_) else all_


# -- the tree -------------------------------------------------------------------------------------------------------------

Known = dict[Function, tuple[list[str], int | None]]


def _blocks(within: list[Function], known: Known, depth: int, graph: Graph) -> list[Block]:
    """The blocks of the modules at one depth, and in them those that are deeper."""
    of: dict[str, list[Function]] = {}
    for f in within:
        if f in known and len(known[f][0]) > depth:
            of.setdefault(known[f][0][depth], []).append(f)
    made: list[Block] = []
    for path, functions in of.items():
        several = _calls(functions, known)
        for n, call in enumerate(several, 1):
            parts = _hulls(call, path, within, known, depth)
            for k, part in enumerate(parts, 1):
                which = [f"call {n}"] * (len(several) > 1) + [f"part {k}"] * (len(parts) > 1)
                made.append(Block(part, path, graph.classes.get(path, ""), call=", ".join(which)))
    made.sort(key=lambda block: block.functions[0].index)
    taken: set[Function] = set()
    for block in made:
        block.functions = [f for f in block.functions if f not in taken]
        taken |= set(block.functions)
    if not graph.recorded:
        for block in made:
            if any(len(known[f][0]) > depth + 1 for f in block.functions if f in known):
                block.functions += _join(block.functions, within, known, taken)
                block.functions.sort(key=lambda f: f.index)
                taken |= set(block.functions)
    made = [
        b for b in made if len(b.functions) > 1 or any(_leaves(f) for f in b.functions)
    ]  # one function is no box
    made = _without_cycles(within, made)
    for block in made:
        block.inside = _blocks(block.functions, known, depth + 1, graph)
    return made


def _calls(functions: list[Function], known: Known) -> list[list[Function]]:
    """The known functions of a module call by call: the next one begins where a part of it runs again after all have run."""
    parts = {known[f][0][-1] for f in functions}
    found: list[list[Function]] = [[]]
    ran: dict[str, int | None] = {}
    for f in functions:
        path, call = known[f][0][-1], known[f][1]
        if path in ran and ran[path] != call and len(ran) == len(parts):
            found.append([])
            ran = {}
        found[-1].append(f)
        ran[path] = call
    return found


def _hulls(
    call: list[Function], path: str, within: list[Function], known: Known, depth: int
) -> list[list[Function]]:
    """The convex hull of a call; several of what lies between where another module runs in the midst of it."""

    def others(f: Function) -> bool:
        return f in known and len(known[f][0]) > depth and known[f][0][depth] != path

    hull = _hull(call, within)
    if not any(map(others, hull)):
        return [_with_sides(hull, within, known)]
    runs: list[list[Function]] = [[]]
    mine, first, last = set(call), call[0].index, call[-1].index
    for f in _between(within, first, last):
        if f in mine:
            runs[-1].append(f)
        elif runs[-1] and others(f):
            runs.append([])
    return [_hull(run, within) for run in runs if run]


def _between(within: list[Function], first: int, last: int) -> list[Function]:
    low = bisect_left(within, first, key=lambda f: f.index)
    return within[low : bisect_right(within, last, key=lambda f: f.index)]


def _hull(some: list[Function], within: list[Function]) -> list[Function]:
    first, inside = some[0].index, set(_between(within, some[0].index, some[-1].index))
    above, stack = set(some), list(some)  # what leads to one of them
    while stack:
        for e in stack.pop().edges:
            t = e.target
            if t is not None and t not in above and t.index >= first and t in inside:
                above.add(t)
                stack.append(t)
    reached = set(some)
    for f in sorted(above, key=lambda f: f.index):
        if any(e.target in reached for e in f.edges):
            reached.add(f)
    return sorted(above & reached, key=lambda f: f.index)


def _with_sides(hull: list[Function], within: list[Function], known: Known) -> list[Function]:
    """With what ran meanwhile and is used in there alone, such as a mask that is made of what came in."""
    block = set(hull)
    for f in reversed(_between(within, hull[0].index, hull[-1].index)):
        if f not in block and f not in known and f.users and all(e.source in block for e in f.users):
            block.add(f)
    return sorted(block, key=lambda f: f.index)


def _join(
    functions: list[Function], within: list[Function], known: Known, taken: set[Function]
) -> list[Function]:
    """What no recording saw of a residual block: where ways that began in front of it or in it come together again, and an
    activation of that; what it makes of its input beside the way around it."""
    block, inside = set(functions), set(within)

    def free(f: Function) -> bool:
        return f in inside and f not in known and f not in taken

    entering = {
        (e.target, e.nr) for f in functions for e in f.edges if e.target is not None and e.target not in block
    }
    # what is made of an input of the block for the block alone, such as a transposed one
    starts = {
        t for t, _ in entering if free(t) and len(t.edges) == 1 and all(e.source in block for e in t.users)
    }
    found = [t for t in starts if (t.edges[0].target, t.edges[0].nr) in entering]
    ends = sorted({e.source for f in functions for e in f.users} - block, key=lambda f: f.index)
    for f in ends:
        ways = [e for e in f.edges if e.target is not None]
        mine = [e.target in block for e in ways]
        joins = free(f) and any(mine) and len({(e.target, e.nr) for e in ways}) > 1
        if joins and all(m or (e.target, e.nr) in entering for m, e in zip(mine, ways, strict=True)):
            found.append(f)
            after = f.users[0].source if len(f.users) == 1 else None
            if after is not None and free(after) and base_name(after.name) in ACTIVATIONS:
                found.append(after)
            break
    return found


def _without_cycles(within: list[Function], blocks: list[Block]) -> list[Block]:
    """Blocks that can be drawn together: of those whose boxes would be on a cycle the smallest are left out."""
    while stuck := _ordered(within, blocks)[1]:
        out = min((b for b in stuck if isinstance(b, Block)), key=lambda b: len(b.functions))
        blocks = [b for b in blocks if b is not out]
    return blocks


def _ordered(within: Sequence[Function], blocks: Sequence[Block]) -> tuple[list[Item], list[Item]]:
    """Blocks and the functions between them, inputs first, as the program ran; and what is on a cycle or behind one."""
    item: dict[Function, Item] = {f: f for f in within} | {f: b for b in blocks for f in b.functions}
    users: dict[Item, set[Item]] = {i: set() for i in item.values()}
    waits: Counter[Item] = Counter()
    for f in within:
        for e in f.edges:
            before = item.get(e.target) if e.target is not None else None
            if before is not None and before is not item[f] and item[f] not in users[before]:
                users[before].add(item[f])
                waits[item[f]] += 1
    ready = [(_first(i), i) for i in users if not waits[i]]
    heapq.heapify(ready)
    found: list[Item] = []
    while ready:
        found.append(heapq.heappop(ready)[1])
        for i in users[found[-1]]:
            waits[i] -= 1
            if not waits[i]:
                heapq.heappush(ready, (_first(i), i))
    done = set(found)
    return found, [i for i in users if i not in done] if len(done) < len(users) else []


def _leaves(f: Function) -> list[Function]:
    return [e.target for e in f.edges if e.target is not None and e.target.kind == "accumulate"]


def _first(item: Item) -> int:
    return item.functions[0].index if isinstance(item, Block) else item.index


# -- what is open ---------------------------------------------------------------------------------------------------------


def first_sight(root: Block, most: int) -> list[Block]:
    """The boxes of the picture that says most with ``most`` of them at the most: the model is open, and of what is in it the
    containers, and what is most of the whole, where there is room; equal neighbours are one."""
    open_blocks: set[Block] = {root}
    whole = len(root.functions)
    for block in root.inside:  # a box of nearly all says nothing
        if block.inside and len(block.functions) > 0.8 * whole:
            open_blocks.add(block)
    while True:
        items = _level(root, open_blocks, most)
        tries = [b for b in items if isinstance(b, Block) and b.times == 1 and b.inside and not b.stretch]
        outermost = set(root.inside)
        tries.sort(key=lambda b: (b not in outermost, b.kind not in CONTAINERS, -len(b.functions)))
        for block in tries:
            plain = block in outermost or (block.kind in CONTAINERS and _numbered(block))
            if not plain and len(block.functions) < whole / 4:
                continue
            more = _level(root, open_blocks | {block}, most)
            if len(more) <= (most if plain else most // 2):
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
    return [i for i in _level(root, open_blocks, len(root.functions)) if isinstance(i, Block)]


def repeats(root: Block) -> list[Block]:
    """What comes again and again, whatever modules there are."""
    return [i for i in _equal(list(root.functions), REPEATS) if isinstance(i, Block)]


def boxes(block: Block, most: int) -> list[Block]:
    """The boxes that are seen when ``block`` is opened; the functions between them are drawn one by one."""
    if block.times > 1 or block.stretch:
        parts: list[Item] = list(block.inside) if block.inside else list(block.functions)
        if block.stretch and block.inside:
            parts = _ordered(block.functions, block.inside)[0]
        return _cut(parts, most, block.times > 1)
    return _cut(_level(block, {block}, most), most)


def _level(root: Block, open_blocks: set[Block], most: int) -> list[Item]:
    """What is drawn of ``root`` where these blocks are open, inputs first, equal neighbours as one block."""

    def shut(block: Block) -> list[Block]:
        return [b for inner in block.inside for b in (shut(inner) if inner in open_blocks else [inner])]

    closed = shut(root)
    taken = {f for b in closed for f in b.functions}
    closed += _composed([f for f in root.functions if f not in taken])
    items = _equal(_ordered(root.functions, closed)[0], 2, whole_modules=True)
    items = items if len(items) <= most else _equal(items, REPEATS)
    return items if len(items) <= most or len(closed) < 2 else _between_modules(items)


def _between_modules(items: list[Item]) -> list[Item]:
    """With the functions in a row, between two modules, as one box each."""
    found: list[Item] = []
    for single, run in groupby(items, lambda i: isinstance(i, Function)):
        part = list(run)
        found += (
            [Block(part, title=_listed([base_name(f.name) for f in part]), stretch=True)]
            if single and len(part) > 1
            else part
        )
    return found


def _listed(names: list[str]) -> str:
    """``2 Mul, Add, Tanh``: the commonest first."""
    kinds = Counter(names).most_common()
    shown = [name if n == 1 else f"{n} {name}" for name, n in kinds[:3]]
    return ", ".join(shown) + (", …" if len(kinds) > 3 else "")


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
        leaves = dict.fromkeys(leaf for f in item.functions for leaf in _leaves(f))
        names = [(f.outputs[0].name or "").removeprefix(item.path) for f in leaves]
        return item.kind, made, tuple(zip(names, (f.outputs[0].shape for f in leaves), strict=True))
    return item.title, item.times, tuple((f.name, f.outputs[0].shape) for f in item.functions)


def _equal(items: list[Item], least: int, whole_modules: bool = False) -> list[Item]:
    """With each run of equal neighbours (of blocks, or of a few blocks and functions that come again) as one block. At least
    ``least`` of them; ``whole_modules``: only where they hold modules that hold others."""
    numbers: dict[tuple, int] = {}
    signs = np.array([numbers.setdefault(_sign(i), len(numbers)) for i in items])
    n = len(items)
    best: list[tuple[int, int, int]] = []  # covered, start, period
    for period in range(1, min(LONGEST_PERIOD, n // least) + 1):
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
        if not any(isinstance(i, Block) for i in run) and period <= SHOWN:
            # the first and the last stay open, so that one sees what repeats and how it is joined on
            start, covered, run = start + period, covered - 2 * period, run[period:-period]
        taken[start : start + covered] = True
        parts = [
            _one(run[i : i + period], f"{i // period + 1:,} of {covered // period:,}")
            for i in range(0, covered, period)
        ]
        functions = sorted((f for part in parts for f in part.functions), key=lambda f: f.index)
        path = _common([part.path for part in parts if part.path])
        kinds = {part.kind for part in parts}
        kind, title = kinds.pop() if len(kinds) == 1 else "", f"the same {len(parts):,} more times"
        out[start] = Block(
            functions,
            path,
            kind,
            parts,
            times=len(parts),
            title=title * isinstance(run[0], Function) * (period <= SHOWN),
        )
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
        names = [_last(b.path) for b in blocks if b.is_module]
        title = f"{a + 1}–{a + len(part)} of {len(items):,}"
        if not counted:
            title = ", ".join(names) if names else f"part {len(found) + 1} of {-(-len(items) // size)}"
        functions.sort(key=lambda f: f.index)
        found.append(
            Block(functions, _common([b.path for b in blocks]), inside=blocks, title=title, stretch=True)
        )
    return found


# -- what is written on a box ---------------------------------------------------------------------------------------------


def texts(block: Block, start: str, leaves: list[Function]) -> tuple[str, list[str]]:
    """The title of a box and the lines below it: its name behind ``start``, its class, its parameters."""
    call, parameters = f", {block.call}" if block.call else "", _parameters(leaves, block)
    kind = "" if block.kind in CONTAINERS else block.kind
    if block.times > 1:
        names = [_behind(part.path, start) for part in block.inside if part.is_module]
        own = _behind(block.path, start) if block.is_module else block.path.removeprefix(start).lstrip(".")
        times = f" ×{block.times}"
        title = fit(kind or own, WIDEST - width(times, 13, bold=True), 13, bold=True) + times
        title, several = block.title or title.strip(), len(set(names))
        if len(names) < block.times:
            return title, [f"{_counted(block.inside[0])} each time", *parameters]
        if several == 1:
            return title, [names[0], f"used {block.times} times", *parameters]
        last = names[-1].removeprefix(_behind(block.path, start)).strip(".[]")
        return title, [f"{names[0].rstrip(']')}–{last}{']' * names[0].endswith(']')}", *parameters]
    if block.title:
        return block.title, [_counted(block), *parameters]
    about = ", ".join((block.kind or _counted(block), *parameters))
    fits = width(about, SUB) <= WIDEST
    return _behind(block.path, start) + call, [about] if fits else [
        block.kind or _counted(block),
        *parameters,
    ]


def _last(path: str) -> str:
    """What a module is called where it is: ``attn`` of ``blocks.0.attn``, ``blocks.0`` of itself."""
    named = re.search(r"[^.\[\]]+((\.\d+)|(\[[^\]]*\]))*$", path)
    return named[0] if named else path


def _behind(path: str, start: str) -> str:
    """A path without what it begins with; a number keeps the name of what it counts: ``layers.0``."""
    own = path.removeprefix(start).lstrip(".") if start else path
    if start and re.match(r"\[|\d|$", own):
        return path.removeprefix(start.rpartition(".")[0]).lstrip(".")
    return own


def _counted(block: Block) -> str:
    """``3 Mm, 2 Tanh``: the commonest kinds first, modules by their class."""
    inner = {f for b in block.inside for f in b.functions}
    names = [b.kind or b.title or _last(b.path) or f"×{b.times}" for b in block.inside]
    return _listed(names + [base_name(f.name) for f in block.functions if f not in inner])


def _parameters(leaves: list[Function], block: Block) -> list[str]:
    sizes = [
        (size_of(f.outputs[0].shape), int("".join(filter(str.isdigit, f.outputs[0].dtype or "")) or 32))
        for f in leaves
    ]
    count, size = sum(n for n, _ in sizes), sum(n * bits // 8 for n, bits in sizes)
    if not count:
        return []
    apart = len({part.path for part in block.inside}) == block.times > 1 and count % block.times == 0
    each = " each" if apart else ""
    if apart:
        count, size = count // block.times, size // block.times
    return [f"{plural(count, 'parameter')}{each}, {bytes_text(size)}"]


def bytes_text(n: int) -> str:
    """``640 B``, ``1.4 kB``, ``12 MB``."""
    for unit, by in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n >= by:
            return f"{n / by:.3g} {unit}"
    return f"{n} B"
