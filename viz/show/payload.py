"""The data of a page: a picture, its positions and a trace as plain JSON. Every string in it is untrusted text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from types import FrameType
from typing import Any

from ..picture import svg as painter
from ..picture.choose import BOXES, DETAIL, PAGE, WHOLE, check_options, fewer, pictures_of, screens, too_slow
from ..picture.layout import SECONDS, LayoutTooSlow, Places, places
from ..picture.parts import Item, Picture
from ..picture.view import leaf_tooltip
from ..picture.views import inside
from ..read import rules
from ..read.arguments import check_flags
from ..read.graph import Edge, Function, Graph
from ..read.names import operand_names, target_name
from ..read.recall import prepare
from ..read.replay import POINTWISE
from ..read.source import source_of
from ..read.text import one_line, plural, shape_text
from ..read.values import Value
from ..run.steps import Step, Trace
from ..run.trace import first_freed, remember, remembered, run
from .costs import kept_once

MOST_OPENED = 60  # this many boxes of a picture are sent with their contents; in a graph of at most WHOLE nodes, all of them
ROOM = 390_000  # square points: what a window of 900 px shows at a readable size
Drawn = list[tuple[Picture, dict]]
MOST_STEPS = 3_000  # a page with more steps would take minutes to load, and readers would not finish it


def payload(
    *tensors: Any,
    view: str | None = None,
    direction: str | None = None,
    fold: Any = None,
    names: Any = None,
    saved: bool = False,
    forward: Any = None,
    seconds: float = SECONDS,
    gradient: Any = None,
    check: bool = True,
    _frame: FrameType | None = None,
    **how: Any,
) -> Payload:
    """Run the backward pass of ``tensors`` once and return everything that the stepper needs, as JSON-ready data.

    Arguments and errors are those of ``viz.trace`` and ``viz.draw``; ``how`` takes the options of ``backward``.
    """
    check_options(view, direction, fold, seconds)
    flags = {name: value for name, value in how.items() if name != "inputs"}
    check_flags(saved=saved, check=check, **flags)
    frame = _frame or sys._getframe(1)
    graph, plain = prepare(tensors, "step", names, frame, forward)
    if len(graph) > MOST_STEPS:
        raise ValueError(
            f"This graph has {len(graph):,} nodes; viz.step walks through at most {MOST_STEPS:,}. Take fewer time steps or "
            "layers, or view the whole graph with viz.draw, which folds repeated parts, or viz.trace (plain Python objects)."
        )
    known = remembered(graph) if first_freed(graph) is not None else None
    if known is None:
        source, root = graph.source or source_of(graph, frame), graph.roots[0].function.fn
        trace = run(graph, plain, gradient, check, "step", **how)
        remember(root, trace, source)
    else:
        trace, source = known  # the cell is run again: its graph was freed, but its pass was kept
    pictures = pictures_of(trace.graph, view, direction, fold, saved=saved)
    data = describe(trace, *pictures, source=source, seconds=seconds, asked=view is not None)
    if known is None:
        return data
    again = "This pass has already run and freed its graph. The recorded pass is shown."
    for drawn in (data, *data["pictures"]):
        drawn["notes"].insert(0, again)
    data["start"]["sentence"] = f"{again} {data['start']['sentence']}"
    return data


def describe(
    trace: Trace, *pictures: Picture, source: Any = None, seconds: float = SECONDS, asked: bool = False
) -> Payload:
    """The payload of a trace and of pictures of its graph; the pane takes the picture that fits. ``asked``: the view was
    asked for, so it is sent even if it is far too wide.

    In the steps a node's id is ``f`` plus its position in the graph, an edge's ``e`` plus its position, whatever is drawn:
    a number belongs to its node or its edge, and to a step, never to the box in which a picture hides it. A picture
    lists those that it draws under another id: ``folds`` (node -> box), ``lines`` (edge -> arrow).
    """
    graph = trace.graph
    step_of = {s.function: s.number - 1 for s in trace.steps}
    fits = _laid_out(graph, pictures, step_of, seconds, asked)
    pictures, drawn = zip(*fits, strict=True)
    data = Payload(trace, step_of)
    for picture, one in fits:
        one["insides"] = data.insides(picture, MOST_OPENED)
    while len(graph) <= WHOLE and data.closed:
        data.open(next(iter(data.closed)))
    kept = kept_once(graph)
    hidden = {f: 0 for picture in pictures for f, item in picture.of_function.items() if item.members}
    data |= drawn[0] | {
        "title": one_line(trace.title),
        "of": trace.of_what,
        "pictures": list(drawn[1:]),
        "hidden": {ident(f): {"kind": f.kind, "label": f.name, "name": f.outputs[0].name} for f in hidden},
        "steps": [_step(s) | {"kept": kept[s.function] or None} for s in trace.steps],
        "forward": _forward(graph, pictures[0]),
        "leaves": [
            {"name": out.name, "node": ident(f), "before": _json(f.leaf_grad), "shape": list(out.shape)}
            for f in graph.leaves
            for out in f.outputs
        ],
        "source": source,
        "start": _start(trace),
    }
    data.shown, of = pictures, {s.function: s for s in trace.steps}
    for item in (item for picture in pictures for item in picture.items if "grad" in item.boxes):
        if s := of.get(item.function):
            item.grad = s.accumulate.after if s.accumulate else s.totals[item.nr] if item.nr else s.total
    return data


def _laid_out(graph: Graph, pictures: Sequence[Picture], step_of: dict, seconds: float, asked: bool) -> Drawn:
    """The pictures that can be laid out in time and are not far too wide; if there is none, the graph in fewer boxes. If the
    view was ``asked`` for, those that fit a page; if none does, the one that takes the fewest screens, as in ``viz.draw``.
    ``rank``: how far down the list its kind of picture first occurs."""
    found, late, most = Drawn(), None, PAGE[0] * (2 - asked)
    ranks = {kind: n for n, kind in enumerate(dict.fromkeys(_kind(picture) for picture in pictures))}
    for picture in chain(pictures, fewer(graph)):
        if picture not in pictures and (found if asked else any(one["width"] <= most for _, one in found)):
            break
        modules = [one["width"] * one["height"] for other, one in found if other.fold == "module"]
        if isinstance(picture.fold, int) and modules and (len(graph) > DETAIL or min(modules) < ROOM):
            continue  # a picture folded into a given number of boxes says less than one of modules
        try:  # further pictures are sent if they cost little
            one = _drawn(picture, step_of, str(len(found)), seconds / 4 if found else seconds)
        except LayoutTooSlow:
            late = late or picture
            continue
        found.append((picture, one | {"rank": ranks.get(_kind(picture), len(ranks))}))
    if late is not None and found[0][0] is not pictures[0]:
        found[0][1]["notes"].insert(0, too_slow(late, seconds))
    near = [
        both for both in found if both[1]["width"] <= most and not (asked and both[1]["height"] > PAGE[1])
    ]
    return near or [min(found, key=lambda both: screens(both[1]["width"], both[1]["height"]))]


def _kind(picture: Picture) -> tuple:
    return picture.view, picture.fold, picture.gap


def ident(thing: Function | Edge | None) -> str | None:
    """The name of a node or an edge in every picture and every step."""
    return None if thing is None else f"{'e' if isinstance(thing, Edge) else 'f'}{thing.index}"


def _drawn(picture: Picture, step_of: dict, within: str, seconds: float = SECONDS) -> dict:
    """One picture: its SVG and all positions. ``within``: its number, or the box of another picture whose inside it is."""
    for f, item in picture.of_function.items():
        if not item.members:
            item.id = ident(f)
        elif not item.id.startswith("b"):
            item.id = f"b{within}{item.id}"
    for link in picture.links:
        link.id = ident(link.edge) or link.id.replace("e", f"l{within}")
    at = picture.at = places(picture, seconds=seconds)
    edges = {x.id: {"from": x.tail.id, "to": x.head.id, "kind": x.kind} for x in picture.links}
    for link in (link for link in picture.links if link.id in at.labels):
        edges[link.id]["label_box"] = list(painter.label_box(link, at))
    return {
        "view": picture.view,
        "direction": picture.direction,
        "fold": picture.fold,
        **({"terse": picture.terse} if picture.terse else {}),
        "notes": list(picture.notes),
        "svg": painter.paint(picture, at, standalone=False),
        "width": round(at.width, 1),
        "height": round(at.height, 1),
        "nodes": _nodes(picture, at, step_of),
        "edges": edges,
        "folds": {ident(f): item.id for f, item in picture.of_function.items() if item.members},
        "lines": {ident(e): link.id for link in picture.links for e in link.more},
    }


class Payload(dict):
    """A payload, the trace and the pictures that it was made from, and the boxes that are still closed, to be opened later."""

    def __init__(self, trace: Trace, step_of: dict):
        self.trace, self.step_of = trace, step_of
        self.shown: Sequence[Picture] = ()
        self.closed: dict[str, tuple[Item, str, dict]] = {}  # id -> box, direction, where its inside goes

    def still(self, k: int, grads: bool) -> str:
        """The SVG of picture ``k`` on its own, with the numbers in its boxes: values, and with ``grads`` the gradients."""
        return painter.paint(self.shown[k], self.shown[k].at, grads=grads)

    def insides(self, picture: Picture, most: int = 0) -> dict:
        """The insides of the first ``most`` boxes of a picture; the others stay closed."""
        found: dict[str, dict] = {}
        boxes = {item.id: (item, picture.direction, found) for item in picture.items if item.members}
        self.closed |= boxes
        for ident in list(boxes)[:most]:
            self.open(ident)
        return found

    def open(self, ident: str) -> dict:
        """Put the inside of a closed box into the payload; the boxes in it are closed."""
        item, direction, found = self.closed.pop(ident)
        within = inside(self.trace.graph, item, direction, 2 * BOXES)
        found[ident] = _drawn(within, self.step_of, ident) | {"insides": self.insides(within)}
        return found[ident]


def _json(value: Value | None) -> dict | None:
    return None if value is None else value.json


def _nodes(p: Picture, at: Places, step_of: dict) -> dict:
    out = {}
    for item in p.items:
        f, o = item.function, item.output
        x, y = at.items[item.id]
        of = o or item.value
        own = [f] if item.kind not in ("tensor", "value", "alias") and p.of_function.get(f) is item else []
        entry = {
            "kind": item.kind,
            "label": f.name if f is not None and item.kind in ("function", "accumulate") else item.name,
            "name": item.name,
            "shape": list(of.shape) if of is not None and of.shape is not None else None,
            "function": ident(f) if f in p.of_function else None,
            "value": _json(item.value),
            "step": min((step_of[m] for m in item.members or own if m in step_of), default=None),
            "members": len(item.members),
            "output": item.nr if item.kind in ("tensor", "value", "gradient") else None,
            "classes": list(item.classes),
            # for a leaf, without its .grad, which the steps show
            "tooltip": leaf_tooltip(f, False) if item.kind == "leaf" else item.tooltip,
            "at": [round(v, 1) for v in (x, y, item.width, item.height)],
        }
        if item.boxes:
            boxes = item.boxes.items()
            entry["box"] = {k: [round(x + b[0], 1), round(y + b[1], 1), *b[2:]] for k, b in boxes}
        out[item.id] = entry
    return out


def _step(s: Step) -> dict:
    a = s.accumulate
    accumulate = a and {key: _json(getattr(a, key)) for key in ("before", "contribution", "after")}
    if a is not None:
        accumulate |= {"leaf": a.leaf, "wrong": a.wrong and one_line(a.wrong)}
    # a rule that only names a helper of the framework says less than the mathematics, and nothing about an edge with no target
    less = [rules.is_helper(x.code) and (x.math or x.edge.target is None) for x in s.sent]
    kept = [{"name": k.name, "label": k.label, "value": _json(k.value) or {"text": k.text}} for k in s.saved]
    sent = [(x.input, None if is_less else x.code, x.math) for x, is_less in zip(s.sent, less, strict=True)]
    return {
        "node": ident(s.function),
        "name": s.name,
        "tensor": s.tensor,
        "pointwise": rules.base_name(s.name) in POINTWISE or None,
        "rules": [{"input": name, "code": code, "math": math} for name, code, math in sent],
        "incoming": [{"from": ident(p.edge and p.edge.source), "value": _json(p.value)} for p in s.parts],
        "total": _json(s.total),
        "totals": [_json(v) for v in s.totals] if len(s.totals) > 1 else None,
        "wrong": None if s.wrong is None else one_line(s.wrong),
        "saved": kept,
        "outgoing": [
            {"edge": x.edge.target and ident(x.edge), "to": ident(x.edge.target)}
            | {"name": x.edge.target and target_name(x.edge)}
            | {"input": x.input, "value": _json(x.value), "reason": x.reason, "reduced": x.reduced}
            for x in s.sent
        ],
        "accumulate": accumulate,
        "ready": [ident(f) for f in s.ready],
        "waiting": [
            {"node": ident(w.function), "got": w.got, "needs": w.needs, "for": [ident(m) for m in w.missing]}
            for w in s.waiting
        ],
        "freed": [ident(s.function)] if s.freed else [],
        "line": s.function.line,
        "check": s.check and {key: s.check[key] for key in ("ok", "text")},
        "sentence": one_line(s.sentence),
    }


def _forward(graph: Graph, p: Picture) -> list[dict]:
    """The forward pass op by op: which items appear, the value that is made, the source line."""
    made: dict[int, list[str]] = {}
    for item in p.items:
        if item.function is not None and item.kind not in ("alias", "leaf", "accumulate"):
            made.setdefault(item.function.index, []).append(item.id)
    out, n = [], sum(bool(f.edges) for f in graph.functions)
    for f in graph.functions:
        if not f.edges or p.of_function[f].kind == "fold":
            continue
        first = f.outputs[0]
        names = ", ".join(o.name or "?" for o in f.outputs)
        operands = operand_names(f)
        symbol = rules.symbol(f.name, rules.form_of(f, operands))
        value = f" = {first.value.short()}" if first.value is not None else ""
        shape = shape_text(first.shape)
        opening = f"Forward {len(out) + 1} of {n}. {names}{value or ' ' + shape}, made by {symbol}; "
        entry = {
            "nodes": made.get(f.index, []),
            "node": ident(f),
            "name": names,
            "operation": one_line(rules.expression(f, operands)),
            "value": _json(first.value),
            "line": f.line,
            "sentence": one_line(f"{opening}its backward node is {f.name}."),
        }
        out.append(entry)
    return out


def _start(trace: Trace) -> dict:
    n, leaves = len(trace.steps), sum(not f.unreached for f in trace.graph.leaves)
    first = trace.steps[0].name if trace.steps else "nothing"
    title = one_line(trace.title)
    given = f"the gradient{'s that were' if len(trace.seeds) > 1 else ' that was'} given"
    own = f"∂{title}/∂{title} = 1" if trace.of_what != "L" else f"a gradient of 1 for each of {title}"
    start = given if trace.given and trace.of_what == "L" else own
    return {
        "sentence": f"The forward pass is done. The backward pass starts with {start} and fires {plural(n, 'node')}, "
        f"{first} first, to reach {plural(leaves, 'leaf')}.",
        "seed": _json(trace.seeds[0]),
    }
