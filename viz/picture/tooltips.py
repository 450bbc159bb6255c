"""Nodes of a graph in words, for the tooltips."""

from __future__ import annotations

from ..read import rules
from ..read.graph import Function, Output
from ..read.names import operand_names
from ..read.text import plural, shape_text


def describe(out: Output) -> str:
    batch = f"a batch of {out.batch} under vmap" if out.batch is not None else ""
    return ", ".join(t for t in (shape_text(out.shape), out.dtype, batch) if t)


def leaf_tooltip(f: Function, now: bool = True) -> str:
    """A leaf in words, with what its ``.grad`` is ``now``."""
    out = f.outputs[0]
    grad = f", .grad is {'None' if f.leaf_grad is None else f.leaf_grad.short()}" if now else ""
    return f"{out.name}: leaf, {describe(out)}, requires_grad=True{grad}{hooks_in_words(f)}"


def function_tooltip(f: Function) -> str:
    parts = [f"{f.name} goes back from {', '.join(o.name or '?' for o in f.outputs[:4])}"]
    for name, rule in zip(rules.input_names(f), rules.words_of(f, operand_names(f)), strict=True):
        parts.append(f"{name}: {rule}" if rule else name)
    kept = [f"{s.name} {'(' + s.state + ')' if s.state != 'kept' else ''}".strip() for s in f._saved or ()]
    if kept:
        parts.append("keeps " + ", ".join(kept))
    if f.module:
        parts.append(f"in {f.module}")
    return "; ".join(parts) + hooks_in_words(f)


def hooks_in_words(f: Function) -> str:
    """The hooks, for a tooltip."""
    places = ("on the gradient", "on the node", "after .grad is added to")
    counts = zip(places, (sum(o.hooks for o in f.outputs), f.hooks, f.after_hooks), strict=True)
    said = [f"{plural(n, 'hook')} {where}" for where, n in counts if n]
    return "; ".join(["", *said])
