"""What is written on a box: the name of a module, its class, its parameters."""

from __future__ import annotations

import re
from collections import Counter

from ..read.graph import Function, Graph
from ..read.modules import owner, prefixes
from ..read.names import LAYERS
from ..read.rules import TURNS, base_name
from ..read.text import bytes_text, fit, plural, width
from ..read.values import item_size, size_of
from .blocks import BACKWARD, CONTAINERS, Block

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
SUB, WIDEST, TITLE = 11.0, 190.0, 240.0  # the size of a line on a box, and how wide it and its title may be


def common_start(groups: list[Block]) -> str:
    """The common beginning of the paths of all boxes: the model, which need not be written on each."""
    each = [part for g in groups for part in (g.inside if g.times > 1 else [g])]
    paths = [prefixes(g.path) for g in each if g.path]
    start = ""
    for level in zip(*paths, strict=False):
        if len(set(level)) > 1 or any(g.is_module and g.path == level[0] for g in each):
            break
        start = level[0]
    return start


def about(path: str, graph: Graph) -> str:
    """A module in a few words: ``model: GPT, 13,632 parameters, 54.5 kB``, counting the parameters that this graph reaches."""
    leaves = [f for f in graph.leaves if path in prefixes(f.outputs[0].name or "")]
    kind = graph.classes[path]
    return ", ".join([f"{path}: {kind}" if path else kind, *_parameters(leaves, Block([], path))])


def texts(block: Block, start: str, leaves: list[Function]) -> tuple[str, list[str]]:
    """The title of a box and the lines below it: its name without ``start``, its class, its parameters."""
    call, parameters = f", {block.call}" if block.call else "", _parameters(leaves, block)
    passes = block.times > 1 and block.inside[0].backward
    kind = "" if block.kind in CONTAINERS or passes else block.kind
    if block.times > 1:
        names = [_behind(part.path, start) for part in block.inside if part.is_module]
        own = _behind(block.path, start) if block.is_module else block.path.removeprefix(start).lstrip(".")
        inner = (_behind(b.path, start) for b in block.inside[0].inside if b.is_module)
        own = derivative(block.inside[0]) + own if own else ", ".join(dict.fromkeys(inner))
        times = f" ×{block.times}"
        title = fit(kind or own, TITLE - width(times, 13, bold=True), 13, bold=True) + times
        title, several = block.title or title.strip(), len(set(names))
        if len(names) < block.times:
            return title, [f"{_counted(block.inside[0])} each time", *parameters]
        if passes:
            return title, [block.kind, plural(block.times, "pass"), *parameters]
        if several == 1:
            return title, [names[0], f"used {block.times} times", *parameters]
        last = names[-1].removeprefix(_behind(block.path, start)).strip(".[]")
        return title, [f"{names[0].rstrip(']')}–{last}{']' * names[0].endswith(']')}", *parameters]
    if block.title:
        if (counted := _counted(block)) == block.title:
            counted = plural(len(block.functions), "function")
        return block.title, [counted, *parameters]
    if block.backward and (name := result_of(block)):
        return name, [derivative(block) + _behind(block.path, start), *parameters]
    kinds = {base_name(f.name) for f in block.functions} - {"T"}
    shown = " " in block.path and kinds <= LAYERS.keys()  # a name such as "conv 1" already says it
    about = [*([] if shown else [block.kind or _counted(block)]), *parameters]
    name, fits = _behind(block.path, start) + call, width(", ".join(about), SUB) <= WIDEST
    return derivative(block) + name, [", ".join(about)] if fits and about else about


def derivative(block: Block) -> str:
    """What is written before the name of a module if the box is the backward pass through it: ``∂ net``, ``∂² net``."""
    again = str(block.backward).translate(SUPERSCRIPTS) if block.backward > 1 else ""
    return f"{BACKWARD}{again} " if block.backward else ""


def result_of(block: Block) -> str:
    """The caller's name for a result of a backward pass, if only one of them has a name: ``u_x``."""
    names = [o.name for f in block.functions if block.backward for o in f.outputs if o.named]
    return names[0] if len(names) == 1 else ""


def last_name(path: str) -> str:
    """A module's name within its parent: ``attn`` for ``blocks.0.attn``, but ``blocks.0`` for ``net.blocks.0``."""
    named = re.search(r"[^.\[\]]+((\.\d+)|(\[[^\]]*\]))*$", path)
    return named[0] if named else path


def parameter_name(f: Function) -> str:
    """The name of a parameter within its module; for a weight or a bias, the name of the module."""
    name, module = f.outputs[0].name or "", owner(f)
    plain = name.rpartition(".")[2] in ("weight", "bias")
    return last_name(module if plain else name) if module and f.outputs[0].named else ""


def _behind(path: str, start: str) -> str:
    """A path without its beginning; an index keeps the name of its list: ``layers.0``."""
    own = path.removeprefix(start).lstrip(".") if start else path
    if start and re.match(r"\[|\d|$", own):
        return path.removeprefix(start.rpartition(".")[0]).lstrip(".")
    return own


def _counted(block: Block) -> str:
    """``Linear, 3 Mm, 2 Tanh``: modules by their class, then functions, the commonest kinds first."""
    inner = {f for b in block.inside for f in b.functions}
    names = [b.kind or b.title or derivative(b) + last_name(b.path) or f"×{b.times}" for b in block.inside]
    return listed(names, [base_name(f.name) for f in block.functions if f not in inner])


def _parameters(leaves: list[Function], block: Block) -> list[str]:
    sizes = [(size_of(o.shape), item_size(o.dtype or "float32")) for o in (f.outputs[0] for f in leaves)]
    count, size = sum(n for n, _ in sizes), sum(n * each for n, each in sizes)
    if not count:
        return []
    apart = len({part.path for part in block.inside}) == block.times > 1 and count % block.times == 0
    share = block.times if apart else 1
    return [f"{plural(count // share, 'parameter')}{' each' * apart}, {bytes_text(size // share)}"]


def listed(*names: list[str]) -> str:
    """``2 Mul, Add, Tanh``: one list after the other, the commonest first in each; what only reshapes comes last."""
    kinds = [kind for each in names for kind in Counter(each).most_common()]
    kinds.sort(key=lambda kind: kind[0] in TURNS)
    shown = [name if n == 1 else f"{n} {name}" for name, n in kinds[:3]]
    return ", ".join(shown) + (", …" if len(kinds) > 3 else "")
