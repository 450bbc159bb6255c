"""The graph as a table: which functions and leaves are in one row, what the rows are called, where everything is.

A row is a layer, a time step of a recurrent net, or a block without parameters. It is found from the order in which the
functions fired and from the leaves that they reach; names of modules decide where they are known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from ..read.text import clipped
from .scene import Arrow, Scene, operation, short

AFFINE = {
    "Add", "Sub", "Rsub", "Mm", "Addmm", "Mv", "Addmv", "Bmm", "Baddbmm", "Dot", "Convolution", "Mul", "Sum", "Expand",
    "Linear", "Matmul", "Neg", *("T", "View", "Transpose", "Permute", "Unsqueeze", "Squeeze", "Reshape", "UnsafeView"),
}  # fmt: skip
WIDEST = 6  # functions in a row; more of them continue in a row below


@dataclass(slots=True, eq=False)
class Row:
    """Functions from left to right as they fire, and the leaves that they send to, each with its arrow."""

    functions: list[int]
    leaves: list[Arrow] = field(default_factory=list)
    name: str = ""


def arrange(scene: Scene, names: list[str]) -> list[Row]:
    """The rows of a scene, from the loss back; the first holds the loss's own functions. ``names`` are those of the leaves."""
    order = _order(scene)
    groups = _groups(scene, names, order)
    if len(groups[0]) > 1:  # the loss has a row to itself
        first = next((i for i, f in enumerate(groups[0]) if _leaves(scene, f) or f in scene.gates), 1)
        first = first or int(len(groups) == 1)
        groups[0:1] = [groups[0][:first], groups[0][first:]] if first else groups[:1]
    rows = [Row(g[i : i + WIDEST]) for g in groups for i in range(0, len(g), WIDEST)]
    for row in rows:
        row.leaves = [a for f in row.functions for a in _leaves(scene, f)]
    _name(scene, names, rows)
    return rows


def lanes(scene: Scene, row_of: dict[int, int]) -> dict[int, int]:
    """A lane next to the table for each arrow that skips rows: the first one that is free, from 1; long arrows lie outside."""
    ends = [(a.index, row_of[a.source], row_of[a.target]) for a in scene.arrows if a.leaf is None]
    spans = {index: (min(a, b), max(a, b)) for index, a, b in ends if b - a not in (0, 1)}
    out: dict[int, int] = {}
    for index, (low, high) in sorted(spans.items(), key=lambda span: span[1][1] - span[1][0]):
        taken = {lane for k, lane in out.items() if spans[k][0] < high and low < spans[k][1]}
        out[index] = next(lane for lane in count(1) if lane not in taken)
    return out


def _order(scene: Scene) -> list[int]:
    """The functions as they fired; those that no gradient reached (``inputs=``) after the function that would have sent one."""
    order = list(dict.fromkeys(scene.order))
    place = {f: float(i) for i, f in enumerate(order)}
    for f in scene.functions:  # breadth first: a source comes before its targets
        if f not in place:
            place[f] = max((place[a.source] for a in scene.into.get(f, ())), default=0.0) + 1e-6 * (f + 1)
    return sorted(scene.functions, key=place.__getitem__)


def _leaves(scene: Scene, f: int) -> list[Arrow]:
    return [a for a in scene.out.get(f, ()) if a.leaf is not None]


def _module(name: str) -> str:
    return name.rpartition(".")[0]


def _groups(scene: Scene, names: list[str], order: list[int]) -> list[list[int]]:
    """A group ends with a function that reaches a leaf; what is added to its result (a bias, a second product) joins it."""
    groups: list[list[int]] = []
    waiting: list[int] = []  # functions since the last one that reached a leaf
    for f in order:
        mine = _leaves(scene, f)
        waiting.append(f)
        if not mine:
            continue
        if groups and _joins(scene, names, groups[-1], waiting):
            groups[-1] += waiting
        else:
            groups.append(waiting)
        waiting = []
    if waiting:
        groups.append(waiting)
    return groups


def _joins(scene: Scene, names: list[str], group: list[int], more: list[int]) -> bool:
    """Whether ``more``, whose last function reaches leaves, belongs to the layer that ``group`` is so far."""
    if not all(operation(scene.names[f]) in AFFINE for f in more):
        return False
    mine = _leaves(scene, more[-1])
    old = [a for f in group for a in _leaves(scene, f)]
    if {a.leaf for a in mine} & {a.leaf for a in old}:
        return False  # the same weights again, so another time step
    if {_module(names[a.leaf]) for a in mine} != {_module(names[a.leaf]) for a in old}:
        return False
    # two products in sequence are two layers; two in parallel (x @ w + h @ u) are one
    inside, reached = {*group, *more}, set()
    todo = [f for f in group if _leaves(scene, f) and scene.names[f] == scene.names[more[-1]]]
    while todo:
        for a in scene.out.get(todo.pop(), ()):
            if a.target in inside and a.target not in reached:
                reached.add(a.target)
                todo.append(a.target)
    return more[-1] not in reached


def _name(scene: Scene, names: list[str], rows: list[Row]) -> None:
    """The module if the leaves have one, otherwise the leaves themselves; time steps and calls are counted from the input."""
    first = 1 if len(rows) > 1 and not rows[0].leaves else 0
    if first:
        rows[0].name = "loss"
    called: dict[str, list[Row]] = {}
    for row in rows[first:]:
        leaves = list(dict.fromkeys(names[a.leaf] for a in row.leaves))
        modules = {_module(n) for n in leaves} - {""}
        if not leaves:
            row.name = " ".join(short(scene.names[f]) for f in row.functions[:2]).lower()
        else:  # a single module may have several layers
            module = modules.pop() if len(modules) == 1 else ""
            whole = sum(_module(n) == module for n in dict.fromkeys(names)) <= len(leaves)
            row.name = module if module and whole else ", ".join(leaves)
        called.setdefault(row.name, []).append(row)
    many = [same for same in called.values() if len(same) > 1]
    for same in many:
        steps = len(same) > 2 and all(r.leaves for r in same)
        for k, row in enumerate(reversed(same), 1):
            row.name = f"t = {k}" if steps and len(many) == 1 else f"{row.name} ({k})"
    for row in rows:
        long = len(row.name) > 22
        row.name = "…" + row.name[-21:] if long and "." in row.name else clipped(row.name, 22)
