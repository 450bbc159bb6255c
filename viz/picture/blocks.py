"""The modules of a graph as nested blocks: which functions can be drawn as one box.

The block of a module is the convex hull of the functions that are known to be its own: these and all on the way
from one to another. So a box around a hull is never on a cycle. Blocks nest; functions that belong to no known module stay
between them. Reads names, shapes and edges only.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import groupby, islice

from ..read.graph import Edge, Function, Graph
from ..read.modules import prefixes
from ..read.rules import base_name

CONTAINERS = ("", "ModuleList", "ModuleDict")  # the modules inside have more informative names
BACKWARD = "∂"  # prefix to the path of a module whose functions a backward pass differentiates
ACTIVATIONS = ("Relu", "Gelu", "Silu", "Tanh", "Sigmoid", "LeakyRelu", "Elu", "Hardtanh", "Hardswish")


@dataclass(slots=True, eq=False)
class Block:
    """Functions that can be drawn as one box, in forward order. ``path`` is the module's, empty if no module made them."""

    functions: list[Function]
    path: str = ""
    kind: str = ""  # the class of the module
    inside: list[Block] = field(default_factory=list)
    call: str = ""  # "call 2" of a module that is used several times
    times: int = 1  # how many equal neighbours it represents, each of which is in ``inside``
    title: str = ""  # the title of a block that is not a module
    backward: int = 0  # how many backward passes deep, if it differentiates the module
    stretch: bool = False  # its contents are shown as they are: it was cut out of something longer

    @property
    def is_module(self) -> bool:
        """Whether this is a module, or several equal ones; otherwise ``path`` is only the module around it."""
        return bool(self.path) and not self.title and (self.times == 1 or self.inside[0].is_module)


Item = Block | Function


def tree(graph: Graph) -> Block:
    """The modules of ``graph`` as nested blocks; the outermost is the whole graph."""
    order = [f for f in graph.functions if f.kind != "accumulate"]
    known = {}
    for f in (f for f in order if f.module):
        around = prefixes(f.module)  # without mere containers such as a list or a trainer
        if not graph.classes.keys().isdisjoint(around):
            around = [path for path in around if path in graph.classes or path == f.module]
        known[f] = [BACKWARD * f.second + path for path in around], f.call
    if not graph.recorded:
        _with_tails(order, known, graph.classes)
    return Block(order, inside=_blocks(order, known, 0, graph), kind="graph")


# -- the tree -------------------------------------------------------------------------------------------------------------

Known = dict[Function, tuple[list[str], int | None]]


def _blocks(within: list[Function], known: Known, depth: int, graph: Graph) -> list[Block]:
    """The blocks of the modules at one depth, and inside these, the deeper ones."""
    of: dict[str, list[Function]] = {}
    for f in within:
        if f in known and len(known[f][0]) > depth:
            of.setdefault(known[f][0][depth], []).append(f)
    made: list[Block] = []
    below: dict[Block, int] = {}
    differentiated = [f.index for f in within if f.second]
    deeper: set[str] = set()  # modules whose only part is shown in their place
    for path, functions in of.items():
        plain = path.lstrip(BACKWARD)
        passes, level = len(path) - len(plain), depth
        by_pass = [list(some) for _, some in groupby(functions, key=lambda f: known[f][1])]
        several = by_pass if passes else _calls(functions, known, differentiated)
        if depth == 0 and not graph.recorded and (plain in deeper if passes else len(several) > 1):
            # the model may have run once, and its parts several times
            inner = {"".join(known[f][0][1:2]) for f in functions}
            if len(inner) == 1 and "" not in inner:
                deeper.add(plain)
                path, level = inner.pop(), 1
                plain = path.lstrip(BACKWARD)
            elif not passes and len(inner) > 1 and graph.classes.get(path) != "Sequential":
                # the second call uses what the first made: the two may be one call with a loop in it
                linked = len(_hull([several[0][0], several[1][-1]], within)) > 2
                several = [functions] if linked else several
        for n, call in enumerate(several, 1):
            parts = _hulls(call, path, within, known, level)
            for k, part in enumerate(parts, 1):
                which = [f"{'pass' if passes else 'call'} {n}"] * (len(several) > 1)
                which += [f"part {k}"] * (len(parts) > 1)
                kind = graph.classes.get(plain, "")
                kind = f"backward of {kind}" if passes and kind not in CONTAINERS else kind
                made.append(Block(part, plain, kind, call=", ".join(which), backward=passes))
                below[made[-1]] = level + 1
    made.sort(key=lambda block: block.functions[0].index)
    taken: set[Function] = set()
    for block in made:
        block.functions = [f for f in block.functions if f not in taken]
        taken |= set(block.functions)
    if not graph.recorded:
        inside = set(within)

        def free(f: Function) -> bool:
            return f in inside and f not in taken and (f not in known or len(known[f][0]) <= depth)

        # for a norm written by hand, only the product of input and weight may be known
        norms = [b for b in made if b.functions[0].name.startswith("Mul") and "norm" in b.kind.lower()]
        holders = (b for b in made if any(p.startswith(f"{b.path}.") for p in graph.classes))
        for block in (b for b in [*norms, *holders] if not b.backward):
            block.functions += _join(block.functions, free)
            block.functions.sort(key=lambda f: f.index)
            taken |= set(block.functions)
    made = [b for b in made if len(b.functions) > 1 or leaves_of(b.functions)]  # no box for one function
    while stuck := ordered(within, made)[1]:  # boxes would be on a cycle: the smallest is dropped
        out = min((b for b in stuck if isinstance(b, Block)), key=lambda b: len(b.functions))
        made.remove(out)
    for block in made:
        block.inside = _blocks(block.functions, known, below[block], graph)
        for part in block.inside if block.call.startswith("call") else ():
            part.call = part.call or block.call  # so that the parts of each call have its name
    return made


def _calls(functions: list[Function], known: Known, passes: list[int]) -> list[list[Function]]:
    """The known functions of a module, by call: the next call begins where a part of it runs again after all have run, or
    after a backward pass (``passes``: the positions of its functions)."""
    parts = {known[f][0][-1] for f in functions if known[f][1] is not None}
    found: list[list[Function]] = [[]]
    ran: dict[str, int | None] = {}
    before = 0
    for f in functions:
        path, call = known[f][0][-1], known[f][1]
        if call is None:  # a function of a module that contains other modules
            found[-1].append(f)
            continue
        differentiated = bisect_left(passes, f.index) > before
        if path in ran and ran[path] != call and (len(ran) == len(parts) or differentiated):
            found.append([])
            ran, before = {}, bisect_left(passes, f.index)
        found[-1].append(f)
        ran[path] = call
    # a loop inside one call runs some of the parts again, not all
    return found if len(ran) == len(parts) or passes else [functions]


def _hulls(
    call: list[Function], path: str, within: list[Function], known: Known, depth: int
) -> list[list[Function]]:
    """The convex hull of a call; several where another module runs in the middle of it."""

    def others(f: Function) -> bool:
        return f in known and len(known[f][0]) > depth and known[f][0][depth] != path

    hull = _hull(call, within)
    if not any(map(others, hull)):
        return [hull]
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


def _onward(block: set[Function], free: Callable[[Function], bool]) -> Iterator[Function]:
    """Functions that need nothing but a block and what enters it, in the order in which the program ran; each becomes a part of
    the block."""
    used = (e for f in block for e in f.edges if e.target is not None)
    entering = {(e.target, e.nr) for e in used if e.target not in block}

    def known(e: Edge) -> bool:
        return e.target is None or e.target in block or (e.target, e.nr) in entering

    while True:
        users = {e.source for f in block for e in f.users}
        users |= {e.source for t, nr in entering for e in t.users if e.nr == nr}
        ready = (f for f in users - block if free(f) and all(map(known, f.edges)))
        if (first := min(ready, key=lambda f: f.index, default=None)) is None:
            return
        block.add(first)
        yield first


def _join(functions: list[Function], free: Callable[[Function], bool]) -> list[Function]:
    """The parts of a residual block that no recording saw: the sum where paths from before the block or from inside it meet, an
    activation of that sum, and what the block computes from its input outside the shortcut."""
    made, block, found = set(functions), set(functions), []
    constant = any(e.target is None for f in functions for e in f.edges)
    one = len(_leaving(block)) == 1  # what is computed from this result alone is not part of the block
    for f in islice(_onward(block, free), MOST_BESIDE):
        found.append(f)
        ways = {(e.target, e.nr) for e in f.edges if e.target is not None}
        made |= {f} if any(t in made for t, _ in ways) else set()
        # the sum with an input that has no gradient; not the ``+ eps`` of a norm
        around = len(ways) < len(f.edges) == 2 and base_name(f.name) == "Add" and constant
        around = around and f.outputs[0].shape == functions[-1].outputs[0].shape
        after = one and not around and all(t in made for t, _ in ways)
        if f not in made or len(ways) + around < 2 or after:
            continue
        kept = [f]
        for g in reversed(found[:-1]):
            used = [e.source in kept for e in g.users]
            # functions between the block and the join would be on a cycle outside it
            if all(used) or (any(used) and g in made):
                kept.append(g)
        if any(t in found and t not in kept for t, _ in ways):
            continue
        return kept + _activation(f, free)
    return []


def _activation(f: Function, free: Callable[[Function], bool]) -> list[Function]:
    """The activation that is the only user of a result."""
    users = [e.source for e in f.users]
    return users if len(users) == 1 and free(users[0]) and base_name(users[0].name) in ACTIVATIONS else []


MOST_BESIDE, MOST_BEHIND = 12, 40  # functions
SEVERAL = ("MultiheadAttention", "Bilinear")  # modules of the framework that take several inputs


def _with_tails(order: list[Function], known: Known, classes: dict[str, str]) -> None:
    """Add to each block what its module computes from its own results and from its input (``_tail``, ``_head``), the
    innermost first."""
    calls: dict[tuple[str, int | None], list[Function]] = {}
    paths: dict[str, list[str]] = {}
    for f, (path, call) in known.items():
        for k in range(len(path)):
            calls.setdefault((path[k], call), []).append(f)
            paths[path[k]] = path[: k + 1]
    holders = {holder for path in paths.values() for holder in path[:-1]}
    for (path, call), functions in sorted(calls.items(), key=lambda one: -len(paths[one[0][0]])):
        if path.startswith(BACKWARD) or (path in holders and len(paths[path]) == 1):
            continue  # not for the model itself, or its loss would become a part of it
        ends = ("Stack", "Transpose") if classes.get(path) in ("RNN", "GRU", "LSTM") else ()
        tail = _tail(functions, order, known, ends, path in holders)
        known |= dict.fromkeys(tail, (paths[path], None if path in holders else call))
        head = _head(functions, path, order, known) if classes.get(path) not in SEVERAL else ()
        known |= dict.fromkeys(head, (paths[path], None if path in holders else call))


def _tail(
    some: list[Function], order: list[Function], known: Known, ends: tuple[str, ...], holds: bool
) -> set[Function]:
    """The functions that make one result out of several results of a block, such as the gates of a recurrent cell, and
    the next functions if their names are in ``ends``. Empty for a block that ``holds`` others and has several results."""
    block: set[Function] = set(_hull(some, order))
    found: list[Function] = []
    onward = _onward(block, lambda f: f not in known)
    while len(found) < MOST_BEHIND and len(_leaving(block)) > 1 and (next_ := next(onward, None)):
        found.append(next_)
    if holds and len(_leaving(block)) != 1:
        return set()
    kept: set[Function] = set()  # what leads to a place where several come together
    for f in reversed(found):
        joins = len({(e.target, e.nr) for e in f.edges if e.target in block}) > 1
        if joins or any(e.source in kept for e in f.users):
            kept.add(f)
    block -= set(found) - kept
    for f in found[-1:] if holds else ():
        kept.update(_activation(f, lambda f: f not in known))
    return kept | {*_onward(block, lambda f: f not in known and base_name(f.name) in ends)}


def _head(some: list[Function], path: str, order: list[Function], known: Known) -> list[Function]:
    """The functions that turn one tensor into the several that a block reads: a module takes one input."""
    block, found = set(_hull(some, order)), list[Function]()
    while (
        len(entering := {t for f in block for e in f.edges if (t := e.target) not in block and t and t.edges})
        > 1
    ):
        own = (t for t in entering if t not in known or (known[t][0][-1], known[t][1]) == (path, None))
        free = [t for t in own if all(e.source in block for e in t.users)]
        if not free or len(found) == MOST_BEHIND:
            return []
        found.append(max(free, key=lambda f: f.index))
        block.add(found[-1])
    return found


def _leaving(block: set[Function]) -> set[tuple[Function, int]]:
    """The tensors that functions outside of a block use."""
    return {(e.target, e.nr) for f in block for e in f.users if e.source not in block}


def ordered(within: Sequence[Function], blocks: Sequence[Block]) -> tuple[list[Item], list[Item]]:
    """Blocks and the functions between them, inputs first, as the program ran; or, if they form a cycle, those on it."""
    item: dict[Function, Item] = {f: f for f in within} | {f: b for b in blocks for f in b.functions}
    needs: dict[Item, set[Item]] = {i: set() for i in item.values()}
    for f in within:
        needs[item[f]] |= {item[e.target] for e in f.edges if e.target in item} - {item[f]}
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError as error:
        return [], error.args[1]
    ready: list[tuple[int, Item]] = []
    found: list[Item] = []
    while sorter.is_active():
        for i in sorter.get_ready():
            heapq.heappush(ready, ((i.functions[0] if isinstance(i, Block) else i).index, i))
        found.append(heapq.heappop(ready)[1])
        sorter.done(found[-1])
    return found, []


def leaves_of(functions: Sequence[Function]) -> dict[Function, None]:
    """The leaves that some functions use, each once, in their order."""
    targets = (e.target for f in functions for e in f.edges if e.target is not None)
    return {t: None for t in targets if t.kind == "accumulate"}
