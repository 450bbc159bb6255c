"""The modules of a graph as nested blocks: which functions can be drawn as one box.

The block of a module is the convex hull of the functions that are known to be its own: all that can be reached from one of
them and leads to one. One box around a hull is on no cycle. Blocks nest; what no module is known to have made stays between
them. Reads names, shapes and edges only.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..read.graph import Function, Graph
from ..read.modules import prefixes
from ..read.rules import base_name

CONTAINERS = ("", "ModuleList", "ModuleDict")  # they only hold modules: what they hold says more than they do
ACTIVATIONS = ("Relu", "Gelu", "Silu", "Tanh", "Sigmoid", "LeakyRelu", "Elu", "Hardtanh", "Hardswish")


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
        b for b in made if len(b.functions) > 1 or any(leaves_of(f) for f in b.functions)
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
    # a loop inside of one call runs some of the parts again, not all
    return found if all({known[f][0][-1] for f in run} == parts for run in found) else [functions]


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

    def way_out(f: Function) -> list[Function] | None:
        """The functions in a row, each of one input and one user, by which something of the block comes to ``f``, this too."""
        row: list[Function] = []
        while f not in block:
            if (
                not free(f)
                or len(f.users) != 1
                or len(f.edges) != 1
                or f.edges[0].target is None
                or len(row) > 2
            ):
                return None
            row.append(f)
            f = f.edges[0].target
        return row

    constant = any(e.target is None for f in functions for e in f.edges)
    after = {e.source for f in functions for e in f.users} - block
    after |= {e.source for f in after if way_out(f) for e in f.users}
    for f in sorted(after, key=lambda f: f.index):
        ways = [e for e in f.edges if e.target is not None]
        around = (
            len(ways) < len(f.edges) == 2 and base_name(f.name) == "Add" and constant
        )  # of an input without a gradient
        if not free(f) or len({(e.target, e.nr) for e in ways}) + around < 2:
            continue
        rows = [[] if (e.target, e.nr) in entering else way_out(e.target) for e in ways]
        if None in rows or all((e.target, e.nr) in entering for e in ways):
            continue
        found += [*(g for row in rows for g in row), f]
        last = f.users[0].source if len(f.users) == 1 else None
        if last is not None and free(last) and base_name(last.name) in ACTIVATIONS:
            found.append(last)
        break
    return found


def _without_cycles(within: list[Function], blocks: list[Block]) -> list[Block]:
    """Blocks that can be drawn together: of those whose boxes would be on a cycle the smallest are left out."""
    while stuck := ordered(within, blocks)[1]:
        out = min((b for b in stuck if isinstance(b, Block)), key=lambda b: len(b.functions))
        blocks = [b for b in blocks if b is not out]
    return blocks


def ordered(within: Sequence[Function], blocks: Sequence[Block]) -> tuple[list[Item], list[Item]]:
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


def leaves_of(f: Function) -> list[Function]:
    return [e.target for e in f.edges if e.target is not None and e.target.kind == "accumulate"]


def _first(item: Item) -> int:
    return item.functions[0].index if isinstance(item, Block) else item.index
