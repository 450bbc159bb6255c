"""Which functions of a large graph are drawn as one: repeats (the time steps of an RNN, equal layers), modules, stretches.

Every group is a run of consecutive functions in forward order, or the functions of one call of a module. A run of a
topological order can be drawn as one box without making a cycle; for a call that is checked. Reads names and edges only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..read.graph import Edge, Function, Graph
from ..read.rules import base_name
from ..read.text import plural

REPEATS = 4  # fewer repetitions than this are drawn one by one
LONGEST_PERIOD = 400
MOST = 150  # a folded picture aims at no more items than this
FEW_MODULES = 30  # with more modules and functions, whole blocks of modules are folded, where there are any
PARTS = 60  # boxes in a box
# what only turns a parameter before it is used: its square root, or its sum, is no part of its module
TURNS = "T Transpose Permute View UnsafeView ReshapeAlias Expand Squeeze Unsqueeze Clone ToCopy"
MOST_MODULES = 60  # with more modules and functions than this, repeats are folded as well


@dataclass(slots=True, eq=False)
class Group:
    """Functions drawn as one box: ``title`` above, ``about`` below."""

    title: str
    about: str
    functions: list[Function]
    period: int = 1  # functions of one repetition


def groups(graph: Graph, by: str | int) -> list[Group]:
    """Groups of ``graph``: ``by`` is "repeat", "module", "size" (repeats first, then stretches until it is small), or how
    many boxes there may be."""
    order = [f for f in graph.functions if f.kind != "accumulate"]
    if by not in ("repeat", "module", "size"):
        found = groups(graph, "module")
        many = len(order) - sum(len(g.functions) - 1 for g in found) > MOST
        return _few(order, groups(graph, "size") if many else found, by)
    if by == "module":
        found = _modules(graph)
        hidden = sum(len(g.functions) for g in found)
        few = len(order) - hidden + len(found)
        outer = _outer_modules(order, graph.classes) if few > FEW_MODULES else None
        if outer or few <= MOST_MODULES:
            return outer or found
        repeats = _repeats(order)  # an RNN calls its modules at every time step
        inside = {f for g in repeats for f in g.functions}
        return repeats + [g for g in found if inside.isdisjoint(g.functions)]
    found = _repeats(order)
    if by == "size":
        inside = {f for g in found for f in g.functions}
        if len(order) - len(inside) + len(found) > MOST:
            found += _stretches(order, inside)
    return found


def _signatures(order: list[Function]) -> list[tuple]:
    """What a function looks like from where it stands: its name, its shape, and how far back its inputs were made."""
    place = {f: i for i, f in enumerate(order)}

    def made(i: int, e: Edge) -> tuple | None:
        return (i - place[e.target], e.nr) if e.target in place else e.target and e.target.outputs[0].shape

    return [(f.name, f.outputs[0].shape, *(made(i, e) for e in f.edges)) for i, f in enumerate(order)]


def _repeats(order: list[Function]) -> list[Group]:
    """Maximal runs of a block of functions that comes at least four times in a row, largest first."""
    numbers: dict[tuple, int] = {}
    signs = [numbers.setdefault(s, len(numbers)) for s in _signatures(order)]
    n = len(signs)
    best: list[tuple[int, int, int]] = []  # covered, start, period
    for period in range(1, min(LONGEST_PERIOD, n // REPEATS) + 1):
        run = 0
        for i in range(n - period):
            run = run + 1 if signs[i] == signs[i + period] else 0
            last = i + 1 == n - period or signs[i + 1] != signs[i + 1 + period]
            if last and run >= period * (REPEATS - 1):
                best.append(((run // period + 1) * period, i - run + 1, period))
        if best and max(b[0] for b in best) > 0.9 * n:
            break  # a longer period can only be a multiple of this one
    found, taken = [], [False] * n
    for covered, start, period in sorted(best, key=lambda b: (-b[0], b[2], b[1])):
        if any(taken[start : start + covered]):
            continue
        taken[start : start + covered] = [True] * covered
        # the first and the last block stay open, so that one sees what repeats and how it is joined on
        inner = order[start + period : start + covered - period]
        times = covered // period - 2
        each = f"{plural(period, 'function')} each time"
        found.append(Group(f"the same {times} more times", each, inner, period))
    return sorted(found, key=lambda g: g.functions[0].index)


def _modules(graph: Graph) -> list[Group]:
    """The functions of each call of a module; what no module is known to have made stays open."""
    found = []
    for title, functions in calls(graph).values():
        leaves = {e.target for f in functions for e in f.edges if e.target and e.target.kind == "accumulate"}
        own = any({e.source for e in leaf.users} <= set(functions) for leaf in leaves)
        if (len(functions) > 1 or own) and _can_be_one(functions):
            about = _counted(functions)
            kind = graph.classes.get(title.partition(", call")[0])
            found.append(Group(title, f"{kind}: {about}" if kind else about, functions))
    return found


def _outer_modules(order: list[Function], classes: dict[str, str]) -> list[Group] | None:
    """The functions of whole blocks of modules, ``layers.3`` with all that is in it: the innermost that are few enough.

    What stands between two functions of a block (an activation that is no module) belongs to it.
    """
    known = {f: f.module for f in order if f.module}
    for depth in range(max((m.count(".") for m in known.values()), default=-1) + 1, 0, -1):
        block = {f: ".".join(m.split(".")[:depth]) for f, m in known.items() if m.count(".") >= depth - 1}
        for f in order:
            before = {block.get(e.target) for e in f.edges if e.target and e.target.kind != "accumulate"}
            after = {block.get(e.source) for e in f.users if e.source in known}
            if f not in block and len(before) == 1 and None not in before and before & after:
                block[f] = before.pop()
        found: dict[str, list[Function]] = {}
        for f in sorted(block, key=lambda f: f.index):
            found.setdefault(block[f], []).append(f)
        groups = [
            Group(m, f"{classes.get(m, 'block')}: {plural(len(fs), 'function')}", fs)
            for m, fs in found.items()
            if len(fs) > 1 and _can_be_one(fs)
        ]
        if len(order) - sum(len(g.functions) for g in groups) + len(groups) <= FEW_MODULES:
            return groups
    return None


def _can_be_one(functions: list[Function]) -> bool:
    """Whether no way leads out of the group and back into it: one box would then be on a cycle with what is between."""
    inside, last = set(functions), functions[-1].index
    start = {e.source for f in functions for e in f.users} - inside
    return not _leads(start, inside, lambda f: {e.source for e in f.users} if f.index < last else set())


def _leads(start: set, goals: set, users: Callable) -> bool:
    seen, stack = set(start), list(start)
    while stack:
        new = users(stack.pop()) - seen
        if new & goals:
            return True
        seen |= new
        stack += new
    return False


def calls(graph: Graph) -> dict[tuple[str, int], tuple[str, list[Function]]]:
    """What each call of a module made, for certain: (module, number of the call) -> a caption and its functions.

    A recording has seen the modules run. Without one, what reads ``layer.weight``, directly or through its transpose,
    belongs to ``layer``; a parameter that is read again begins the next call. Calls are counted in this graph.
    """
    # what a backward pass made of a module's weights is no call of the module
    order = [f for f in graph.functions if f.kind != "accumulate" and not f.second]
    if any(f.call is not None for f in order):
        made = {f: (f.module, f.call) for f in order if f.call is not None}
    else:
        made = _calls_by_parameters(order, graph.classes)
    found: dict[tuple[str, int], list[Function]] = {}
    for f in order:
        if f in made:
            found.setdefault(made[f], []).append(f)
    of: dict[str, list] = {}
    for module, call in found:
        of.setdefault(module, []).append(call)
    captions = {(m, c): f"{m}, call {n}" if len(of[m]) > 1 else m for m in of for n, c in enumerate(of[m], 1)}
    return {key: (captions[key], functions) for key, functions in found.items()}


def _calls_by_parameters(order: list[Function], classes: dict) -> dict[Function, tuple[str, int]]:
    # the parameters behind a function that is made of parameters alone
    reads: dict[Function, set[Function]] = {}
    # module -> number of its call, parameters that it has read
    now: dict[str, tuple[int, set[Function]]] = {}
    made: dict[Function, tuple[str, int]] = {}
    for f in order:
        inputs = [e.target for e in f.edges if e.target is not None]
        leaves = [{t} if _module(t) else reads.get(t, set()) for t in inputs]
        read = set().union(*leaves)
        modules = {_module(leaf) for leaf in read}
        if len(modules) != 1:
            continue
        module, looks_up = modules.pop(), base_name(f.name) in ("Embedding", "EmbeddingBag")
        if len(inputs) == len(f.edges) == 1 and not looks_up:  # whose it is shows when it is used
            if base_name(f.name) in TURNS.split():
                reads[f] = read
            continue
        if classes.get(module, "").startswith("Embedding") and not looks_up:
            continue  # of a module that has the same weight, and whose name nobody knows
        call, before = now.get(module, (1, set()))
        if before & read:
            call, before = call + 1, set()
        now[module] = call, before | read
        for g in [f, *(t for t in inputs if t in reads)]:
            made.setdefault(g, (module, call))
    return made


def _module(f: Function) -> str:
    """The module of a parameter: ``layer`` of ``layer.weight``; empty where there is none."""
    return (f.outputs[0].name or "").rpartition(".")[0] if f.kind == "accumulate" else ""


def _few(order: list[Function], found: list[Group], most: int) -> list[Group]:
    """So many boxes at most: two that an arrow joins become one, those in a row and the smallest first, where no cycle comes
    of it; and the leaves of a module that the same boxes use are one."""
    title = {f: g.title for g in found for f in g.functions}
    same = {tuple(g.functions): g for g in found}
    boxes = [*same, *((f,) for f in order if f not in title)]
    while len(boxes) > most:
        at = {f: i for i, box in enumerate(boxes) for f in box}
        users = [
            {at[e.source] for f in box for e in f.users if e.source in at} - {i}
            for i, box in enumerate(boxes)
        ]
        uses = Counter(j for those in users for j in those)
        pairs = sorted(
            (len(boxes[i] + boxes[j]) + 2 * (len(users[i]) > 1) + 2 * (uses[j] > 1), i, j)
            for i in range(len(boxes))
            for j in users[i]
        )
        pair = next(((i, j) for _, i, j in pairs if not _leads(users[i] - {j}, {j}, users.__getitem__)), None)
        if pair is None:
            break
        i, j = pair
        boxes[i] = tuple(sorted(boxes[i] + boxes[j], key=lambda f: f.index))
        del boxes[j]
    folded = [Group(*_ends(box, title), list(box)) for box in boxes if len(box) > 1 and box not in same]
    return folded + [same[box] for box in boxes if box in same] + _shared(boxes)


def _shared(boxes: list[tuple[Function, ...]]) -> list[Group]:
    """The leaves of a module that the same boxes use."""
    at = {f: i for i, box in enumerate(boxes) for f in box}
    found: dict[tuple, dict[Function, str]] = {}
    for leaf in (e.target for f in at for e in f.edges if e.target and e.target.kind == "accumulate"):
        where = sorted({at[e.source] for e in leaf.users})
        found.setdefault((_module(leaf), *where), {})[leaf] = leaf.outputs[0].name or "?"
    several = {key: names for key, names in found.items() if len(key) > 2 and len(names) > 1}
    titles = {key: key[0] or _ends([*names], names)[0] for key, names in several.items()}
    return [Group(titles[key], plural(len(names), "leaf"), [*names]) for key, names in several.items()]


def _ends(functions: Sequence[Function], title: dict[Function, str]) -> tuple[str, str]:
    """What a box is called by what stands at its ends, and how much is in it."""
    last, first = (title.get(f) or f.name.split("Backward")[0] for f in (functions[-1], functions[0]))
    beside = first.removeprefix(f"{last.rpartition('.')[0]}.")  # of two in one module
    return f"{last} … {beside}", plural(len(functions), "function")


def _stretches(order: list[Function], inside: set[Function]) -> list[Group]:
    """Cut what is left into stretches of equal length."""
    runs = [[*run] for folded, run in groupby(order, inside.__contains__) if not folded]
    total = sum(map(len, runs))
    size = max(2, -(-total // (MOST // 2)))
    parts = [run[i : i + size] for run in runs for i in range(0, len(run), size)]
    return [Group(plural(len(p), "function"), _counted(p), p) for p in parts if len(p) > 1]


def parts(functions: list[Function], period: int, most: int) -> list[Group]:
    """What stands in a box of more than ``most`` nodes: boxes of whole repetitions, or of single functions, to be opened in
    turn. None where it is few enough to be looked at."""
    order = sorted((f for f in functions if f.kind != "accumulate"), key=lambda f: f.index)
    if len(functions) <= most:
        return []
    period = period if len(order) > period else 1
    times, what = len(order) // period, "" if period > 1 else "functions "
    size = -(-times // min(PARTS, -(-len(functions) // most)))
    found = []
    for a in range(0, times, size):
        b = min(a + size, times)
        run = order[a * period : b * period if b < times else None]
        found.append(Group(f"{what}{a + 1}–{b} of {times:,}", _counted(run), run, period))
    return [group for group in found if len(group.functions) > 1]


def _counted(functions: list[Function]) -> str:
    """``3 Mm, 2 Tanh``: the commonest kinds first."""
    kinds = Counter(f.name.split("Backward")[0] for f in functions).most_common()
    text = ", ".join(f"{n} {name}" for name, n in kinds[:3])
    return text + (", …" if len(kinds) > 3 else "")
