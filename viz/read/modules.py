"""Which module made which function: from a recording, which saw the modules run, or from the parameters that functions read.

``know(graph)`` notes it once, when the graph is read: ``f.module`` and ``f.call`` of every function that one module is
known to have made. It needs the names of parameters and the modules that hold them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

from .derivative import passes
from .graph import Function, Graph, memory_of, own_dict
from .rules import TURNS, base_name
from .values import size_of


@lru_cache(maxsize=10_000)
def prefixes(path: str) -> list[str]:
    """A path and all paths that contain it, outermost first: ``net``, ``net.layers``, ``net.layers[0]``. A name of more than
    a hundred parts is not a place in a model: it counts as a single name."""
    ends = [part.end() for part in re.finditer(r"[^.\[\]]+|\[[^\]]*\]", path)]
    return [path[:end] for end in ends] if len(ends) <= 100 else [path]


def shared_path(paths: Iterable[str]) -> str:
    """The longest module path that all of these share."""
    same = [level for level in zip(*map(prefixes, paths), strict=False) if len(set(level)) == 1]
    return same[-1][0] if same else ""


def owner(f: Function) -> str:
    """The owner of a parameter: ``layer`` of ``layer.weight``, ``params[0]`` of ``params[0]['w']``; empty for a tensor
    that is a variable itself, or an entry of one."""
    name = f.outputs[0].name or ""
    if f.kind != "accumulate" or not f.outputs[0].named:
        return ""
    path = name.rpartition("[" if name.endswith("]") else ".")[0].partition(".parametrizations.")[0]
    return path if path != name and (not name.endswith("]") or len(prefixes(path)) > 1) else ""


def know(graph: Graph) -> None:
    """Note for each function which module made it, and in which of its calls, where that is certain. A recording has
    already done so. Without one, a function that reads ``layer.weight``, directly or through its transpose, belongs to
    ``layer``; the next call begins where the parameter that was read first is read again. An activation in a Sequential is the
    function next to that of the neighbouring layer. What a backward pass made belongs to the module whose function it
    differentiates, and functions in between to the module around all of those; calls are numbered by passes.
    """
    order = [f for f in graph.functions if f.kind != "accumulate"]
    graph.recorded = any(f.call is not None for f in order)
    found = passes(order)
    if not graph.recorded:
        for f, (module, call) in _by_parameters([f for f in order if not f.second], graph).items():
            f.module, f.call = module, call
    for number, made in enumerate(found, 1):
        # for a transposed weight that nothing uses, the owner of the weight
        targets = {f: [e.target for e in g.edges if e.target] if g else [] for f, g in made.items()}
        of = {f: (g and g.module) or "".join(map(owner, targets[f][:1])) for f, g in made.items()}
        common = shared_path(filter(None, of.values()))
        for f in made:
            if f.module is None and (of[f] or common):
                f.module, f.call = of[f] or common, number


def _by_parameters(order: list[Function], graph: Graph) -> dict[Function, tuple[str, int]]:
    classes = graph.classes
    owners: dict[Function, list[str]] = {}  # the owners of a parameter: several if it is tied
    frozen: dict[tuple[int, int] | None, str] = {}  # by address: a function that keeps one has read it
    for path, module in graph.modules.items():
        for name, parameter in (own_dict(module).get("_parameters") or {}).items():
            if (leaf := graph.by_leaf.get(id(parameter))) is not None:
                owners.setdefault(leaf, []).append(path)
            elif parameter is not None and not parameter.requires_grad:
                frozen[memory_of(parameter)] = f"{path}.{name}"
    frozen.pop(None, None)

    def owning(leaf: Function | str) -> str:
        path = leaf.rpartition(".")[0] if isinstance(leaf, str) else owner(leaf)
        return path.rpartition(".")[0] if classes.get(path) in ("ParameterList", "ParameterDict") else path

    # the parameters behind a function that is made of parameters alone
    reads: dict[Function, set[Function | str]] = {}
    # module -> number of its call, the parameters that it read first in this call
    now: dict[str, tuple[int, set[Function | str]]] = {}
    made: dict[Function, tuple[str, int]] = {}
    gradients: set[Function] = set()  # functions computed from the results of a backward pass
    for f in order:
        inputs = [e.target for e in f.edges if e.target is not None]
        gradients |= {f} if any(t.second or t in gradients for t in inputs) else set()
        leaves = [{t} if owner(t) else reads.get(t, set()) for t in inputs]
        read = set().union(*leaves, *({frozen[s.memory]} for s in f._saved or () if s.memory in frozen))
        modules = {owning(leaf) for leaf in read}
        if len(modules) > 1:  # a module with all of them, if some are tied; else one that contains the others
            tied = set.intersection(*(set(owners.get(leaf, ())) for leaf in read))
            if not tied and base_name(inputs[-1].name) == "T" and len(leaves[-1]) == 1:
                tied, leaves = {owning(*leaves[-1])}, [set()]  # a layer whose input is a parameter, too
            modules = tied or {m for m in modules if all(m in prefixes(other) for other in modules)}
        if len(modules) != 1:
            continue
        shapes = {None if isinstance(o, str) else o.outputs[0].shape for o in [f, *read]}
        if f in gradients and base_name(f.name) in ("Add", "Sub") and len(shapes) == 1:
            # a differentiated training step: the next call reads its result
            scaled = (
                t for t in inputs if len(_users(t)) == 1 and sum(e.target is not None for e in t.edges) == 1
            )
            reads |= dict.fromkeys([f, *(t for t in scaled if not t.second)], read)
            continue
        module, looks_up = modules.pop(), base_name(f.name) in ("Embedding", "EmbeddingBag")
        if all(leaves) and len(inputs) == len(f.edges) and not looks_up:  # its use will show its owner
            shape = f.outputs[0].shape
            # a single number made of parameters is a penalty, such as their norm
            if base_name(f.name) in TURNS or (shape is not None and size_of(shape) > 1):
                reads[f] = read
                continue
            # but not if the module makes it in its own call, as a flow does for its log-determinant
            own = [f, *_prepared(f, reads)]
            beside = made.get(order[order.index(min(own, key=lambda g: g.index)) - 1])
            made |= dict.fromkeys(own, beside) if beside is not None and beside[0] == module else {}
            continue
        if classes.get(module, "").startswith("Embedding") and not looks_up:
            # another module has the same weight
            paths = (path for leaf in read for path in owners.get(leaf, ()))
            tied = {path for path in paths if not classes[path].startswith("Embedding")}
            if len(tied) != 1:
                continue
            module = tied.pop()
        call, first = now.get(module, (0, read))
        if not call or first & read:
            now[module] = call, _ = call + 1, read
        for g in [f, *_prepared(f, reads), *_reshaped(f, inputs)]:
            made.setdefault(g, (module, call))
    before = None
    for f in order:  # a weight that only a backward pass reads
        of = {*map(owning, reads.get(f, ()))}
        if f not in made and before is not None and len(of) == 1 and not _users(f):
            made[f] = of.pop(), made[before][1]
        before = f if f in made else before
    parts = Counter(path.rpartition(".")[0] for path in classes)
    for f, known in list(made.items()):
        for step in (1, -1):
            made |= _beside(f, *known, step, graph, parts)
    for f, known in list(made.items()):
        before = _statistics(f, made)
        roots = any(base_name(g.name) in ("Sqrt", "Rsqrt") for g in before)
        if roots or "norm" in classes.get(known[0], "").lower():
            made |= dict.fromkeys(before, known)
    for path in [path for path, module in graph.modules.items() if is_sequential(module)]:
        _between_layers(path, order, made, classes)
    return made


def is_sequential(module: Any) -> bool:
    """Whether a module runs its parts one after another: a Sequential, or an instance of a subclass."""
    forward = (kind for kind in type(module).__mro__ if "forward" in vars(kind))
    return next(forward, object).__name__ == "Sequential"


def _prepared(f: Function, reads: dict) -> list[Function]:
    """Results computed from parameters alone for this function: a transposed weight, the exponential of a scale."""
    found: dict[Function, None] = {}
    stack = [f]
    while stack:
        new = [e.target for e in stack.pop().edges if e.target in reads and e.target not in found]
        found |= dict.fromkeys(new)
        stack += new
    return list(found)


def _statistics(f: Function, made: dict) -> list[Function]:
    """The functions that a hand-written norm applies to its input before it reads its weight: all that feed only ``f`` and come
    from one tensor."""
    region, entering, stack = {f: None}, set(), [f]
    while stack:
        for e in stack.pop().edges:
            t = e.target
            if t is None or not t.edges or t in region or (t, e.nr) in entering or made.get(t) == made[f]:
                continue
            if t not in made and all(user in region for user in _users(t)) and len(region) < 16:
                region[t] = None
                stack.append(t)
            else:
                entering.add((t, e.nr))
    before = [g for g in region if g is not f]
    joins = any(sum(bool(e.target and e.target.edges) for e in g.edges) > 1 for g in before)
    return before if joins and len(entering) == 1 else []


def _beside(
    f: Function, module: str, call: int, step: int, graph: Graph, parts: Counter[str]
) -> Iterator[tuple[Function, tuple[str, int]]]:
    """The functions of modules without parameters after a layer in a Sequential (before it, if ``step`` is -1); past its end,
    those of the Sequential around it. ``parts``: how many submodules each module has."""
    while True:
        parent, _, number = module.rpartition(".")
        listed = number.isdigit() and is_sequential(graph.modules.get(parent))
        beside = f"{parent}.{int(number) + step}" if listed else ""
        if beside not in graph.modules:
            if parent not in graph.modules or not (listed or parts[parent] == 1):
                return
            module = parent
            continue
        module = beside
        near = _users(f)
        if step < 0:
            near = [e.target for e in f.edges if e.target is not None and e.target.edges]
        near = {g for g in near if _of_class(g, graph.classes[module])}
        if len(near) == 1 and len(_users(f if step > 0 else next(iter(near)))) == 1:
            f = near.pop()
            yield f, (module, call)
        elif not graph.classes[module].startswith(MAY_DO_NOTHING):
            return


def _users(f: Function) -> list[Function]:
    """The functions of the forward pass that use a result, one for each use."""
    return [e.source for e in f.users if not e.source.second]


def _between_layers(path: str, order: list[Function], made: dict, classes: dict) -> None:
    """The other functions of the layers of a Sequential: a single tensor goes from each layer to the next, so the
    functions before it belong to the one layer, those after it to the other."""
    weights: set[Function] = set()  # results of parameters alone
    layers: list[tuple[int, int]] = []  # the position of each known function, and its layer
    for k, f in enumerate(order):
        if all(e.target is not None and (not e.target.edges or e.target in weights) for e in f.edges):
            weights.add(f)
        inside = made[f][0].removeprefix(f"{path}.") if f in made else ""
        if (number := inside.partition(".")[0]).isdigit() and inside != made[f][0]:
            layers.append((k, int(number)))

    def only_way(k: int, first: Function, gap: list[Function], last: Function) -> bool:
        """Whether only one result of ``gap[k]`` is used after it, and none of those before it."""
        then = [*gap[k + 1 :], last]
        came = {(e.target, e.nr) for f in then for e in f.edges if e.target is not None and e.target.edges}
        came = {at for at in came if at[0] not in then and at[0] not in weights}
        inside = all(user in gap[: k + 1] for f in (first, *gap[:k]) for user in _users(f))
        return inside and len(came) == 1 and next(iter(came))[0] is gap[k]

    for (a, before), (b, here) in pairwise(layers):
        gap, last = [f for f in order[a + 1 : b] if f not in made and f not in weights], order[b]
        ways = [k for k in range(len(gap)) if here > before and only_way(k, order[a], gap, last)]
        kinds = (classes.get(f"{path}.{n}", "") for n in range(before + 1, here))  # without parameters
        marks = [[k for k in ways if _of_class(gap[k], kind)] for kind in kinds]
        if here <= before or any(len(found) != 1 for found in marks):
            continue
        between = [k for (k,) in marks]
        end, start = (between[0], between[-1] + 1) if between else (ways[-1] + 1 if ways else 0,) * 2
        parts = [([gap[k]], before + 1 + i) for i, k in enumerate(between)]
        for functions, n in [(gap[:end], before), (gap[start:], here), *parts]:
            known = [made[f] for f in (order[a], last) if made[f][0] == f"{path}.{n}"]
            made |= dict.fromkeys(functions, known[0] if known else (f"{path}.{n}", None))


# the class of a module without parameters, and the functions that it calls, if their name is different
CALLS = {
    "adaptiveavgpool2d": ("mean",),
    "dropout": ("mul", "nativedropout"),
    "flatten": ("view", "unsafeview", "reshapealias"),
    "maxpool2d": ("maxpool2dwithindices",),
    "relu6": ("hardtanh",),
    "unflatten": ("view",),
}
MAY_DO_NOTHING = ("Dropout", "Identity")


def _of_class(f: Function, kind: str) -> bool:
    """Whether a module of this class makes such a function."""
    kind, name = kind.lower(), base_name(f.name).lower()
    return name == kind or name in CALLS.get(kind, ())


def _reshaped(f: Function, inputs: list[Function]) -> Iterator[Function]:
    """The views that a linear layer makes for an input of three dimensions or more: of the input, and of the result."""
    if base_name(f.name) not in ("Mm", "Addmm") or len(_users(f)) != 1:
        return
    after = _users(f)[0]
    before = [t for t in inputs if base_name(t.name) in ("View", "UnsafeView") and len(_users(t)) == 1]
    # if it is not contiguous
    copied = [e.target for t in before for e in t.edges if e.target is not None]
    before += [t for t in copied if base_name(t.name) == "Clone" and len(_users(t)) == 1]
    data_is_plain = all(t.kind == "accumulate" or base_name(t.name) in TURNS for t in inputs)
    name = base_name(after.name)
    if name == "UnsafeView" or (name == "View" and (before or data_is_plain)):
        yield from (*before, after)
