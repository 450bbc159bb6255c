"""Which functions of a large graph are drawn as one: repeats (the time steps of an RNN, equal layers), modules, stretches.

Every group is a run of consecutive functions in forward order. Runs of a topological order can be drawn as one box each
without making a cycle. Reads names and edges of a graph only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .graph import Function, Graph

REPEATS = 4  # fewer repetitions than this are drawn one by one
LONGEST_PERIOD = 400
MOST = 150  # a folded picture aims at no more items than this


@dataclass(slots=True, eq=False)
class Group:
    """Functions drawn as one box: ``title`` above, ``about`` below."""

    title: str
    about: str
    functions: list[Function]


def groups(graph: Graph, by: str) -> list[Group]:
    """Groups of ``graph``: ``by`` is "repeat", "module", or "size" (repeats first, then stretches until it is small)."""
    order = [f for f in graph.functions if f.kind != "accumulate"]
    if by == "module":
        return _modules(order)
    found = _repeats(order)
    if by == "size":
        inside = {f for g in found for f in g.functions}
        rest = [f for f in order if f not in inside]
        if len(rest) + len(found) > MOST:
            found += _stretches(order, inside)
    return found


def _signatures(order: list[Function]) -> list[tuple]:
    """What a function looks like from where it stands: its name, and how far back its inputs were made."""
    place = {f: i for i, f in enumerate(order)}
    out = []
    for i, f in enumerate(order):
        inputs = tuple(
            (i - place[e.target], e.nr) if e.target in place else "leaf" if e.target else None
            for e in f.edges
        )
        out.append((f.name, inputs))
    return out


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
        found.append(Group(f"the same {times} more times", f"{_plural(period, 'function')} each time", inner))
    return sorted(found, key=lambda g: g.functions[0].index)


def _modules(order: list[Function]) -> list[Group]:
    """Runs of functions of one module, told by the names of the parameters (``layer.weight`` belongs to ``layer``)."""
    module: dict[Function, str | None] = {}
    for f in order:
        owners = [
            e.target.outputs[0].name.rpartition(".")[0]
            for e in f.edges
            if e.target and e.target.kind == "accumulate"
        ]
        owners = [o for o in owners if o]
        inherited = [module[e.target] for e in f.edges if module.get(e.target)]
        module[f] = owners[0] if owners else inherited[-1] if inherited else None
    for f in (
        order
    ):  # a transposed weight belongs to the layer that uses it, not to the one before it in the order
        f.module = module[f]
    runs: list[list[Function]] = []
    for f in order:
        if runs and runs[-1][-1].module == f.module:
            runs[-1].append(f)
        else:
            runs.append([f])
    return [Group(run[0].module, _counted(run), run) for run in runs if run[0].module and len(run) > 1]


def module_of(graph: Graph) -> dict[Function, str]:
    """Which module a function or a leaf belongs to for certain: ``layer`` for ``layer.weight`` and for whatever reads it,
    directly or through what was made of parameters alone (a transposed weight)."""
    owner: dict[Function, str] = {}
    made_of_parameters: set[Function] = set()
    for f in graph.functions:
        if f.kind == "accumulate":
            module = (f.outputs[0].name or "").rpartition(".")[0]
            if module:
                owner[f] = module
                made_of_parameters.add(f)
            continue
        inputs = [e.target for e in f.edges if e.target is not None]
        read = [t for t in inputs if t in made_of_parameters]
        if read:
            owner[f] = owner[read[0]]
            if len(read) == len(inputs) and len({owner[t] for t in read}) == 1 and len(inputs) == 1:
                made_of_parameters.add(f)
    return owner


def _stretches(order: list[Function], inside: set[Function]) -> list[Group]:
    """Cut what is left into stretches of equal length."""
    runs: list[list[Function]] = [[]]
    for f in order:
        if f in inside:
            if runs[-1]:
                runs.append([])
        else:
            runs[-1].append(f)
    total = sum(map(len, runs))
    size = max(2, -(-total // (MOST // 2)))
    out = []
    for run in runs:
        for i in range(0, len(run), size):
            part = run[i : i + size]
            if len(part) > 1:
                out.append(Group(_plural(len(part), "function"), _counted(part), part))
    return out


def _counted(functions: list[Function]) -> str:
    """``3 Mm, 2 Tanh``: the commonest kinds first."""
    kinds = Counter(f.name.split("Backward")[0] for f in functions).most_common()
    text = ", ".join(f"{n} {name}" for name, n in kinds[:3])
    return text + (", …" if len(kinds) > 3 else "")


def _plural(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")
