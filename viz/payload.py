"""What the page gets: a picture, its places and a trace as plain JSON. Every string in it is untrusted text."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from . import rules
from . import svg as painter
from .dot import digraph
from .draw import check_options, picture_of
from .graph import Graph
from .layout import Places, places
from .names import operand_names
from .picture import Picture
from .source import mark_second, source_of
from .text import one_line, shape_text
from .trace import Step, Trace, _target_name, prepare, run
from .values import Value

VERSION = 1
MOST_STEPS = 3_000  # a page with more steps would take minutes to load, and nobody walks through it


def payload(
    *tensors: Any,
    view: str | None = None,
    gradient: Any = None,
    inputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    names: Mapping | None = None,
    direction: str = "LR",
    fold: bool | str | None = None,
    check: bool = True,
    forward: Any = None,
    values: bool | None = None,
    saved: bool = False,
    frame: FrameType | None = None,
    verb: str = "step",
) -> dict:
    """Run the backward pass of ``tensors`` once and return everything that the stepper needs, as JSON-ready data.

    Arguments and errors are those of ``viz.trace`` and ``viz.draw``; ``verb`` is the name used in messages.
    """
    check_options(view, direction, fold)
    frame = frame or sys._getframe(1)
    graph, plain = prepare(tensors[0] if len(tensors) == 1 else tensors, verb, names, frame)
    if len(graph) > MOST_STEPS:
        raise ValueError(
            f"This graph has {len(graph):,} nodes; viz.{verb} walks through at most {MOST_STEPS:,}. Take fewer time steps or "
            "layers, or look at the whole with viz.draw (it folds what repeats) or viz.trace (plain Python objects)."
        )
    mark_second(graph, frame, forward)
    source = graph.source or source_of(graph, frame)
    picture = picture_of(graph, view, direction, fold, values, saved)
    trace = run(graph, plain, gradient, inputs, retain_graph, create_graph, check, verb)
    return describe(trace, picture, source)


def describe(trace: Trace, picture: Picture, source: dict | None = None) -> dict:
    """The payload of a trace in a picture of the same graph."""
    at = places(picture, digraph(picture).source)
    graph = trace.graph
    step_of = {s.function: s.number - 1 for s in trace.steps}
    edge_ids = {
        e: link.id for link in picture.links if link.edge is not None for e in (link.edge, *link.more)
    }
    return {
        "version": VERSION,
        "title": one_line(trace.title),
        "view": picture.view,
        "of": trace.of_what,
        "svg": painter.paint(picture, at, standalone=False),
        "width": round(at.width, 1),
        "height": round(at.height, 1),
        "nodes": _nodes(picture, at, step_of),
        "edges": _edges(picture, at),
        "steps": [_step(s, picture, edge_ids) for s in trace.steps],
        "forward": _forward(graph, picture),
        "leaves": [_leaf(f, picture) for f in graph.leaves],
        "source": source,
        "notes": list(picture.notes),
        "start": _start(trace, picture),
        "nonfinite": _nonfinite(trace),
    }


def _json(value: Value | None) -> dict | None:
    return None if value is None else value.json()


def _nodes(p: Picture, at: Places, step_of: dict) -> dict:
    out = {}
    for item in p.items:
        f, o = item.function, item.output
        x, y = at.items[item.id]
        known = item.value if item.value is not None else None
        shape = o.shape if o is not None else (known.shape if known is not None else None)
        if item.members:
            step = min((step_of[m] for m in item.members if m in step_of), default=None)
        fires = f is not None and item.kind not in ("tensor", "alias") and p.of_function.get(f) is item
        entry = {
            "kind": item.kind,
            "label": f.name if f is not None and item.kind in ("function", "accumulate") else item.name,
            "name": item.name,
            "shape": list(shape) if shape is not None else None,
            "dtype": o.dtype if o is not None else (known.dtype if known is not None else None),
            "requires_grad": f is not None,
            "function": p.of_function[f].id if f is not None and f in p.of_function else None,
            "value": _json(item.value),
            "tangent": _json(o.tangent) if o is not None else None,
            "step": step if item.members else step_of.get(f) if fires else None,
            "members": len(item.members),
            "batch": o.batch if o is not None else None,
            "output": item.nr if item.kind == "tensor" else None,
            "line": f.line if f is not None else None,
            "classes": list(item.classes),
            "tooltip": item.tooltip,
            "bytes": sum(k.bytes for k in f._saved or ()) if fires and f.edges else 0,
            "module": f.module if f is not None else None,
            "at": [round(v, 1) for v in (x, y, item.width, item.height)],
        }
        if item.boxes:
            entry["box"] = {
                k: [round(x + b[0], 1), round(y + b[1], 1), b[2], b[3]] for k, b in item.boxes.items()
            }
        out[item.id] = entry
    return out


def _edges(p: Picture, at: Places) -> dict:
    out = {}
    for link in p.links:
        entry = {
            "from": link.tail.id,
            "to": link.head.id,
            "input_nr": link.edge.nr if link.edge is not None else link.tail.nr,
            "kind": link.kind,
            "tooltip": link.tooltip,
            "label": link.label,
            "hook": "hooked" in link.classes,
        }
        if link.id in at.labels:
            entry["label_box"] = list(painter.label_box(link, at))
        out[link.id] = entry
    return out


def _step(s: Step, p: Picture, edge_ids: dict) -> dict:
    def ident(f) -> str | None:
        item = p.of_function.get(f)
        return item.id if item is not None else None

    accumulate = None
    if s.accumulate is not None:
        a = s.accumulate
        accumulate = {
            "leaf": a.leaf,
            "node": ident(s.function),
            "before": _json(a.before),
            "contribution": _json(a.contribution),
            "after": _json(a.after),
            "wrong": None if a.wrong is None else one_line(a.wrong),
        }
    return {
        "node": ident(s.function),
        "name": s.name,
        "tensor": s.tensor,
        "rules": [
            {
                "input": x.input,
                "code": x.code,
                "math": x.math,
                "to": None if x.edge.target is None else _target_name(x.edge),
            }
            for x in s.sent
        ],
        "incoming": [
            {
                "edge": edge_ids.get(part.edge),
                "from": ident(part.edge.source) if part.edge is not None else None,
                "output": part.nr,
                "value": _json(part.value),
            }
            for part in s.parts
        ],
        "total": _json(s.total),
        "totals": [_json(v) for v in s.totals] if len(s.totals) > 1 else None,
        "wrong": None if s.wrong is None else one_line(s.wrong),
        "saved": [
            {"name": k.name, "state": k.state, "label": k.label, "value": _json(k.value) or {"text": k.text}}
            for k in s.saved
        ],
        "outgoing": [
            {
                "edge": edge_ids.get(x.edge),
                "to": ident(x.edge.target) if x.edge.target is not None else None,
                "name": None if x.edge.target is None else _target_name(x.edge),
                "input": x.input,
                "value": _json(x.value),
                "reason": x.reason,
                "reduced": x.reduced,
            }
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
        "check": s.check,
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
        out.append(
            {
                "nodes": made.get(f.index, []),
                "node": p.of_function[f].id,
                "name": names,
                "operation": one_line(rules.expression(f, operands)),
                "value": _json(first.value),
                "line": f.line,
                "sentence": one_line(
                    f"Forward {len(out) + 1} of {n}. {names}{value or ' ' + shape}, made by {symbol}; "
                    f"its backward node is {f.name}."
                ),
            }
        )
    return out


def _leaf(f, p: Picture) -> dict:
    return {
        "name": f.outputs[0].name,
        "node": p.of_function[f].id,
        "before": _json(f.leaf_grad),
        "shape": list(f.outputs[0].shape),
    }


def _nonfinite(trace: Trace) -> dict | None:
    """Where the first gradient that is not finite was made, and by what; None where all are finite."""
    for s in trace.steps:
        for x in s.sent:
            if (
                x.value is not None
                and x.value.nonfinite
                and not any(v is not None and v.nonfinite for v in s.totals)
            ):
                to = _target_name(x.edge)
                kept = [k.label or k.name for k in s.saved if k.value is not None and k.value.nonfinite]
                because = f" It read {', '.join(kept)}, which is not finite either." if kept else ""
                text = f"The gradient for {to} is the first that is not finite: {s.name} made it from a finite one."
                return {"step": s.number - 1, "text": one_line(text + because)}
    return None


def _start(trace: Trace, picture: Picture) -> dict:
    n, leaves = len(trace.steps), sum(not f.unreached for f in trace.graph.leaves)
    first = trace.steps[0].name if trace.steps else "nothing"
    title = one_line(trace.title)
    if trace.of_what != "L":
        start = f"starts with ∂{title}/∂{title} = 1"
    elif not trace.given:
        start = f"starts with 1 at each of {title}"
    else:
        start = "starts with the gradient" + (
            "s that were given" if len(trace.seeds) > 1 else " that was given"
        )
    roots = dict.fromkeys(r.function for r in trace.graph.roots)
    return {
        "sentence": f"The forward pass is done. The backward pass {start} and fires {n} node{'s' * (n != 1)}, "
        f"{first} first, to reach {leaves} lea{'f' if leaves == 1 else 'ves'}.",
        "seed": _json(trace.seeds[0]),
        "ready": [picture.of_function[f].id for f in roots if not f.users and f in picture.of_function],
    }
