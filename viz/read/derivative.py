"""Which functions a backward pass made (``create_graph=True``), and what each of them differentiates.

An engine goes back from the newest function to the oldest, and computes only gradients on the way. So everything made
between two functions that certainly belong to one pass belongs to it too. The next pass begins where an engine would have to go
from an older function to a newer one, or where nothing comes from the previous pass.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections import Counter
from collections.abc import Iterator
from types import FrameType
from typing import Any

from .graph import Function, Graph, behind, is_tensor
from .rules import TRANSPOSES, TURNS, base_name
from .source import scope_of

PRODUCTS = ("Mm", "Addmm", "Bmm", "Baddbmm")
RULE = re.compile(r"(\w+)Backward(?:Data)?")  # the name of a function that is the rule of another
OF = {"Threshold": "Relu", "EmbeddingDense": "Embedding"}  # functions whose rules have another name
# the functions that a pass made, and what each differentiates, if that is known
Pass = dict[Function, Function | None]


def rule_of(name: str) -> str:
    """The operation whose rule a function is: ``Relu`` for ``ThresholdBackwardBackward0``; "" for any other function."""
    found = RULE.fullmatch(base_name(name))
    return OF.get(found[1], found[1]) if found else ""


def passes(order: list[Function]) -> list[Pass]:
    """The backward passes among functions in the order in which the program ran; notes in ``second`` how many passes deep
    each function is."""
    found: list[Pass] = []
    products: dict[Function, list[Function]] = {}  # those that multiply by a weight that was transposed twice
    inside: set[Function] = set()  # the newest pass, and what comes from it
    depths: dict[Function, int] = {}  # at least how many passes deep the target of a function is
    last, before = -1, None  # the position of the function differentiated last; the previous function
    for f in order:
        options = _options(f, products)
        rule = rule_of(f.name)
        ends = [e for u in f.users if u.source in products for e in u.source.edges if e.target is not f]
        gradient = f.edges[:1] if rule else ends or f.edges  # in a product: the operand beside the weight
        connected = any(e.target in inside for e in [*f.edges, *ends])
        if options or f.second or rule:
            same = bool(found) and any(e.target in found[-1] for e in gradient)
            near = connected or (bool(found) and before in found[-1])
            older = [g for g in options if same or (g.index <= last and g not in found[-1])]
            if not (same or near) or (options and not older):
                found.append({})
                inside, older, last = set(), options, f.index
            g = max(older, key=lambda g: g.index, default=None)
            depths[f] = min((g.second for g in older), default=0)
            found[-1][f], last = g, g.index if g is not None else last
        if connected or f.second or rule or options:
            inside.add(f)
        before = f
    for made in found:
        first, end = order.index(next(iter(made))), order.index(next(reversed(made))) + 1
        made |= {f: None for f in order[first:end] if f not in made}
        oldest = next((g for g in reversed(made.values()) if g is not None), None)
        # what the pass made next: the gradients of weights, and what undoes a reshape
        came = [oldest, *(e.target for e in oldest.edges)] if oldest is not None else []
        weights = any(g is not None and base_name(g.name) in PRODUCTS for g in came)
        kinds = (*TURNS, *["Mm", "Bmm", "SumBackward1"] * weights)
        for f in order[end:]:
            follows = any(e.target in made for e in f.edges) and not any(f in one for one in found)
            if not follows or not {f.name, base_name(f.name)} & {*kinds}:
                break
            made[f] = None
        read = (e.target for f in made for e in f.edges if e.target is not None and e.target not in made)
        depth = 1 + max([*(depths.get(f, 0) for f in made), *(g.second for g in read)])
        for f in made:
            f.second = depth
    return found


def _options(f: Function, products: dict[Function, list[Function]]) -> list[Function]:
    """The functions whose rule ``f`` may be a part of: above all, those whose operands or result it reads."""
    base = base_name(f.name)
    targets = [e.target for e in f.edges if e.target is not None]
    if f in products:
        return products[f]
    if rule := rule_of(f.name):
        kinds = (rule, base)
        near = Counter(g for t in targets for g in {t, *(e.source for e in t.users)})
        # older than the gradient: in a formula that a pass works out, both may be made at once
        newest = f.edges[0].target.index if f.edges[0].target is not None else f.index
        near = {g: n for g, n in near.items() if g.index < newest and base_name(g.name) in kinds}
        return [g for g, n in near.items() if n == max(near.values())]
    if base in TRANSPOSES and len(targets) == 1 and base_name(targets[0].name) in TRANSPOSES:
        # a transposed weight, transposed again
        earlier = [e.source for e in targets[0].users if e.source.index < f.index]
        found = [g for g in earlier if base_name(g.name) in PRODUCTS]
        below = targets[0].edges[0].target
        if not found and below is not None and (not below.edges or base_name(below.name) in TRANSPOSES):
            # if the product is not in this graph, this operand does not come from a forward pass
            others = [e.target for u in f.users for e in u.source.edges if e.target not in (f, None)]
            found = targets if all(not g.edges or g in products for g in others) else []
        products |= {e.source: found for e in f.users if base_name(e.source.name) in PRODUCTS and found}
        return found
    return []


def mark(graph: Graph, frame: FrameType | None, forward: Any = None) -> None:
    """Set ``second`` on the functions that a backward pass made (``create_graph=True``).

    They are those that are not behind ``forward``, the tensors of the forward pass; without it, the calls with
    ``create_graph=True`` in the caller's cell or function show what was differentiated and what came out.
    """
    if forward is not None and not isinstance(forward, bool):
        tensors = forward if isinstance(forward, list | tuple) else [forward]
        for kind in (type(t).__name__ for t in tensors if not is_tensor(t)):
            raise TypeError(f"forward= takes True, or the tensors of the forward pass, not {kind}.")
        pairs = [(tensors, [r.tensor for r in graph.roots])]
    else:
        pairs = list(_differentiated(graph, frame)) if frame is not None else []
    for before, after in (pair for pair in pairs if pair[0]):
        tops = ([t.grad_fn for t in ts if t.grad_fn is not None] for ts in (before, after))
        first, last = (set(behind(fns, lambda fn: True)) for fns in tops)
        for f in (graph.by_fn[fn] for fn in (last - first) & graph.by_fn.keys()):
            f.second = bool(f.edges)


def _differentiated(graph: Graph, frame: FrameType) -> Iterator[tuple[list, list]]:
    """(tensors differentiated, gradients) for each call with ``create_graph=True`` in the caller's own lines."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    if not any("create_graph" in line for line in lines):
        return

    def tensors(*nodes: ast.AST) -> list:
        names = [n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)]
        held = [frame.f_locals.get(n, frame.f_globals.get(n)) for n in names]
        for one in held:  # also in lists of lists, such as the rows of a Jacobian
            held += one if isinstance(one, list | tuple) and len(held) < 1_000 else ()
        return [v for v in held if is_tensor(v) and v.grad_fn is not None]

    for statement in scope_of(lines, frame):
        is_statement = isinstance(statement, ast.Assign | ast.Expr) and statement.lineno <= frame.f_lineno
        if is_statement and "create_graph=True" in ast.unparse(statement):
            made = tensors(*getattr(statement, "targets", ()))
            yield tensors(statement.value), made or [r.tensor for r in graph.roots]
