"""The shape of one step's graph: its nodes and edges in a fixed order, what is folded, and what a frame has to measure.

A scene is read from names and edges alone and holds no live node, so that it outlives the graph that it was read from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ..read.graph import MOST_OF_TORCH

# relays, which only re-index: such a node does not change a gradient's norm, so its arrow passes through it
RELAYS = {
    "T", "Transpose", "Permute", "View", "UnsafeView", "Reshape", "ReshapeAlias", "Squeeze", "Unsqueeze", "Clone", "Alias",
}  # fmt: skip
GATES = re.compile(r"(Leaky)?Relu|Threshold|Hardtanh|Clamp|Maximum|Minimum|Where|\w*Dropout|Max")
SHORTER = {"BinaryCrossEntropy": "BCE", "ScaledDotProductAttention": "Attention", "Convolution": "Conv"}
# for each node its name, then the source of each input: a node, or -1; with its output number unless that is 0
Shape = tuple[str | int | tuple[int, int], ...]


def short(name: str) -> str:
    """``AddmmBackward0`` as it is written in a small box: ``Addmm``."""
    plain = operation(name).removeprefix("Native").removesuffix("WithLogits")
    return SHORTER.get(plain, plain)


def walk(root: Any) -> tuple[list[Any], Shape]:
    """The nodes behind ``root``, breadth first, and the graph's shape."""
    nodes, at, shape = [root], {root: 0, None: -1}, []
    for node in islice(nodes, MOST_OF_TORCH):  # grows as it goes
        shape.append(node.name())
        for target, nr in node.next_functions:
            if target not in at:
                at[target] = len(nodes)
                nodes.append(target)
            shape.append((at[target], nr) if nr else at[target])
    if len(nodes) > MOST_OF_TORCH:
        raise ValueError(f"this graph has more than {MOST_OF_TORCH:,} nodes")
    return nodes, tuple(shape)


@dataclass(slots=True, eq=False)
class Arrow:
    """What ``source`` sends for its input ``slot``, past ``hops`` relays, to function ``target`` or to leaf ``leaf``."""

    index: int
    source: int
    slot: int
    target: int
    nr: int
    hops: int
    leaf: int | None = None
    edges: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Scene:
    """One graph shape. Positions in ``names`` are those of :func:`walk`; ``functions`` are the nodes that are drawn."""

    names: tuple[str, ...]
    edges: list[tuple[int, int, int, int]]  # source, slot, target, nr
    leaves: list[int] = field(default_factory=list)  # positions of the accumulators
    functions: list[int] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    gates: list[int] = field(default_factory=list)  # functions that may stop gradients: zeros are counted
    out: dict[int, list[Arrow]] = field(default_factory=dict)
    into: dict[int, list[Arrow]] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)  # functions as they fired in the first pass that was seen
    folded: int = 0  # relays that are not drawn
    joins: list[int] = field(default_factory=list)  # functions where several arrows end: the sum is measured
    only: list[int] = field(default_factory=list)  # for each leaf, the one arrow that reaches it, or -1
    # what frames need not look at twice: ``covered`` functions need no hook, since the one that they send to receives the same;
    # for ``plain`` leaves, .grad is what their only arrow brings. Valid while there are ``others`` hooks that are not ours
    others: int | None = None
    covered: set[int] = field(default_factory=set)
    plain: list[bool] = field(default_factory=list)
    plans: dict[tuple, list] = field(default_factory=dict)  # what to hook, see pass_hooks.py
    calm: bool = False  # no gradient changes after it has been sent: measure all when the pass is over


def read(shape: Shape) -> Scene:
    """The scene of a graph of this shape."""
    names = tuple([part for part in shape if isinstance(part, str)])
    out: dict[int, list[tuple[int, int, int, int]]] = {}
    users, edges, source, slot = [0] * len(names), [], -1, 0
    for part in shape:
        if isinstance(part, str):
            source, slot = source + 1, 0
            continue
        (target, nr), slot = part if isinstance(part, tuple) else (part, 0), slot + 1
        if target >= 0:
            out.setdefault(source, []).append((len(edges), slot - 1, target, nr))
            edges.append((source, slot - 1, target, nr))
            users[target] += 1
    scene = Scene(names, edges)
    scene.leaves = [i for i, name in enumerate(names) if i not in out and name.endswith("AccumulateGrad")]
    leaf_of, scene.plain = {node: k for k, node in enumerate(scene.leaves)}, [False] * len(scene.leaves)
    one = {i for i in range(1, len(names)) if len(out.get(i, ())) == users[i] == 1}
    relay = {i for i in one if operation(names[i]) in RELAYS}
    scene.functions = [i for i in range(len(names)) if i not in relay and i not in leaf_of]
    scene.folded = len(relay)
    for source in scene.functions:
        for number, slot, target, nr in out.get(source, ()):
            passed = [number]
            while target in relay:
                number, _, target, nr = out[target][0]
                passed.append(number)
            ends = source, slot, target, nr, len(passed) - 1, leaf_of.get(target)
            arrow = Arrow(len(scene.arrows), *ends, tuple(passed))
            scene.arrows.append(arrow)
            scene.out.setdefault(source, []).append(arrow)
            scene.into.setdefault(target, []).append(arrow)
    scene.joins = [f for f in scene.functions if len(scene.into.get(f, ())) > 1]
    ends = [scene.into.get(i, ()) for i in scene.leaves]
    scene.only = [arrows[0].index if len(arrows) == 1 else -1 for arrows in ends]
    scene.gates = [i for i in scene.functions if GATES.match(operation(names[i])) and i in scene.out]
    return scene


def operation(name: str) -> str:
    return re.sub(r"Backward\d*$", "", name)
