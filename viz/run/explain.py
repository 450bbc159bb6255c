"""Explain a pass once its order is known: parts, the queue, rules in words, a sentence for each step."""

from __future__ import annotations

from heapq import nsmallest
from itertools import islice

import numpy as np

from ..read import names as naming
from ..read import rules
from ..read.graph import Function
from ..read.names import target_name
from ..read.replay import BINARY
from ..read.text import clipped, plural, shape_text
from ..read.values import Value, same, short
from .steps import Accumulated, Part, Sent, Step, Trace, Waiting

LISTED = 40  # at most this many nodes of the queue are listed at each step
LISTED_NUMBERS = 6  # if several gradients are sent, one with more numbers is shown by its shape
MISSING = 5  # at most this many of the senders that a node waits for are named


def finish(out: Trace, plain: dict[int, str], keep: bool) -> None:
    """Fill in everything that follows from the order: parts, queue, rules in words, sentences."""
    graph, steps = out.graph, out.steps
    fired = {s.function: s for s in steps}
    incoming: dict[Function, list[Part]] = {}
    for root, value in zip(graph.roots, out.seeds, strict=True):
        incoming.setdefault(root.function, []).append(Part(None, root.nr, value))
    # the parts of earlier firings of a node: a correct engine fires each node once
    counted: dict[Function, list[Part]] = {}
    needs = {f: sum(e.source in fired and not e.cut for e in f.users) for f in fired}
    got = dict.fromkeys(fired, 0)
    done: set[Function] = set()
    ready = {f for f in incoming if f in fired and needs[f] == 0}
    waiting: dict[Function, None] = {}
    for s in steps:
        f = s.function
        done.add(f)
        ready.discard(f)
        for nr, total in enumerate(s.totals):
            if total is not None and f.output(nr).shape is None:  # a gradient has the shape of its tensor
                f.output(nr).shape = total.shape
        s.saved = [k for k in f.saved if (k.name, k.text) != ("alpha", "1")] if f.edges else []
        s.freed = bool(s.saved) and not keep
        s.parts = incoming.pop(f, [])
        s.again = sum(t.function is f for t in steps[: s.number - 1]) if f in counted else 0
        if _one_by_one(s, steps):  # the engine passes on each part separately: this firing is for the first
            incoming[f] = s.parts[1:]
            s.parts = s.parts[:1]
        _share(s)
        s.wrong = _wrong_total(s, counted.get(f, []))
        s.early = _missing(f, fired, done) if got[f] < needs[f] else []
        counted.setdefault(f, []).extend(s.parts)
        _explain(s, out.of_what)
        for sent in s.sent:
            target = sent.edge.target
            if target is not None and target not in fired and (target, sent.edge.nr) in out.wanted:
                continue  # it arrives where inputs= asked for it; the function need not fire for that
            if target is None or target not in fired or sent.edge.cut:
                sent.value, sent.reason = None, _reason(sent, target)
                continue
            if sent.value is None:
                sent.reason = f"no gradient: the rule of {f.name} returned None for {sent.input}"
            else:
                incoming.setdefault(target, []).append(Part(sent.edge, sent.edge.nr, sent.value))
                sent.lost = fired[target].number < s.number
            got[target] += 1
            if got[target] < needs[target]:
                waiting[target] = None
                continue
            waiting.pop(target, None)
            if fired[target].number > s.number:
                ready.add(target)
        s.ready = nsmallest(LISTED, ready, key=lambda f: fired[f].number)
        s.waiting = [Waiting(w, got[w], needs[w], _missing(w, fired, done)) for w in islice(waiting, LISTED)]
        s.sentence = _sentence(s, len(steps), out)


def _share(s: Step) -> None:
    """If a single part arrived unchanged, keep it once, as what was sent and what was received."""
    if len(s.parts) == len(s.totals) == 1 and same(s.parts[0].value, s.total):
        s.totals[0] = s.parts[0].value
        if s.accumulate is not None:
            s.accumulate.contribution = s.total


def _one_by_one(s: Step, steps: list[Step]) -> bool:
    """Whether the engine fires a node for its first part alone, and again for the next one before any more is sent."""
    same = {(p.nr, p.value and p.value.shape) for p in s.parts}
    if len(s.parts) < 2 or s.total is None or same != {(s.parts[0].nr, s.total.shape)}:
        return False
    if not _equal(s.total, s.parts[0].value.array) or _equal(s.total, _sum([p.value for p in s.parts])):
        return False
    senders = {e.source for e in s.function.users}
    following = (t.function for t in steps[s.number :])
    return next((f for f in following if f is s.function or f in senders), None) is s.function


def _missing(f: Function, fired: dict, done: set) -> list[Function]:
    """The first few functions that will still send something to ``f``."""
    still = (e.source for e in f.users if e.source in fired and e.source not in done and not e.cut)
    return list(dict.fromkeys(islice(still, MISSING)))


def _reason(sent: Sent, target: Function | None) -> str:
    if target is None:
        label = sent.edge.label
        if sent.edge.detached is not None:
            made_by, nr = sent.edge.detached
            return f"cut: {clipped(label or sent.input, 60)} was detached from {made_by.output(nr).name}"
        if label and not sent.edge.tensor:
            return f"not computed: {clipped(label, 30)} is a constant"
        if not label:
            return "not computed: a number, or a tensor that does not require grad"
        return f"not computed: {clipped(label, 60)} does not require grad"
    if sent.edge.cut:
        return f"nothing, the edge is cut: as if {target.output(sent.edge.nr).name} were detached here"
    return f"not computed: {target.outputs[0].name} is not needed for inputs="


@np.errstate(invalid="ignore")
def _sum(values: list[Value]) -> np.ndarray:
    arrays = [value.array for value in values]
    return np.sum(arrays, axis=0, dtype=np.result_type(arrays[0], np.float64))


def _equal(value: Value, array: np.ndarray) -> bool:
    a, close = value.array, {"rtol": 1e-3, "atol": 1e-5, "equal_nan": True}
    return a.shape == array.shape and bool((a == array).all() or np.allclose(array, a, **close))


def _wrong_total(s: Step, before: list[Part]) -> str | None:
    """If the parts do not add up to what the rule received: what was sent, what arrived, and the likely reason.

    ``before``: the parts with which the node has fired already. PyTorch's engine adds; a learner's may not.
    """
    f = s.function
    for nr, total in enumerate(s.totals):
        parts = [p.value for p in s.parts if p.nr == nr and p.value is not None]
        if total is None or not parts or any(p.shape != total.shape for p in parts):
            continue
        if (len(parts) == 1 and parts[0] is total) or _equal(total, _sum(parts)):
            continue
        earlier = [p.value for p in before if p.nr == nr and p.value and p.value.shape == total.shape]
        shown = [short(p, 24) for p in parts[:4]] + ["…"] * (len(parts) > 4)
        sent = " and ".join(shown) if len(shown) < 3 else ", ".join(shown)
        if f.hooks or f.output(nr).hooks:
            why = "a hook changed it"
        elif len(parts) > 1 and _equal(total, parts[-1].array):
            why = "the last part overwrote the others instead of being added"
        elif earlier and _equal(total, _sum(earlier + parts)):
            why = "what it passed on earlier is counted again"
        elif len(parts) > 1 and _equal(total, parts[0].array):
            why = "only the first part was kept; all of them should be added"
        else:
            why = "something on the way changed it, a hook for example"
        what = f"{sent} was" if len(parts) == 1 else f"{plural(len(parts), 'contribution')}, {sent}, were"
        return f"{what} sent, but {short(total)} arrived: {why}"
    return None


def wrong_store(a: Accumulated, f: Function) -> str | None:
    """If ``.grad`` is not its previous value plus the contribution: what happened instead."""
    if a.contribution is None or a.after is None:
        who = "a hook that ran afterwards" if f.after_hooks else "a hook or another thread"
        return f"{who} removed {a.leaf}.grad" if a.contribution is not None else None
    terms = [a.contribution] if a.before is None else [a.before, a.contribution]
    if any(t.shape != a.after.shape for t in terms) or _equal(a.after, _sum(terms)):
        return None
    if f.after_hooks:
        return f"a hook that ran afterwards changed {a.leaf}.grad to {short(a.after)}"
    if a.before is not None and _equal(a.after, a.contribution.array):
        return f"{short(a.contribution)} overwrote {short(a.before)} in {a.leaf}.grad instead of being added"
    return f"{a.leaf}.grad is then {short(a.after)}, not {' + '.join(short(t) for t in terms)}"


def _explain(s: Step, title: str) -> None:
    """Name the inputs, fill in code and mathematics, and say how a broadcast was undone."""
    f = s.function
    if f.kind == "accumulate":
        return
    words = naming.operand_names(f)
    words["result"] = f.outputs[0].name
    words = {k: rules.operand(v) for k, v in words.items()}
    words["g"] = f"∂{_of(title)}/∂{_of(f.outputs[0].name)}"
    sent_rules = zip(rules.input_names(f), rules.code_of(f), strict=True)
    for sent, (sent.input, sent.code), math in zip(s.sent, sent_rules, rules.math_of(f, words), strict=True):
        target = sent.edge.target
        if math and target is not None:
            several = len(target.users) > 1
            sent.math = f"∂{_of(title)}/∂{_of(target_name(sent.edge))} {'+=' if several else '='} {math}"
        if f.kind == "function" and s.total is not None and sent.value is not None:
            sent.reduced = _reduced(f, s.total.shape, sent.value.shape)
            if sent.reduced and sent.math:  # the sum is part of the rule
                sent.math += f", {sent.reduced.partition(':')[0]}"


def _of(name: str) -> str:
    """The name of a differentiated value, in parentheses if it is an expression."""
    return f"({name})" if " " in name or "(" in name else name


_BROADCASTS = BINARY | {"Where", "MseLoss", "Addmm"}


def _reduced(f: Function, big: tuple[int, ...], small: tuple[int, ...]) -> str | None:
    """How the gradient of a broadcast input was reduced to the input's shape, or None if nothing was broadcast."""
    if rules.base_name(f.name) not in _BROADCASTS or big == small or len(small) > len(big):
        return None
    padded = (1,) * (len(big) - len(small)) + small
    pairs = list(zip(big, padded, strict=True))
    axes = [i for i, (b, p) in enumerate(pairs) if p == 1 and (b != 1 or i < len(big) - len(small))]
    if not axes or any(p not in (1, b) for b, p in pairs):
        return None
    which = f"axis {axes[0]}" if len(axes) == 1 else "axes " + ", ".join(map(str, axes))
    return f"summed over {which}: {big} → {small or 'scalar'}"


def _sentence(s: Step, n: int, out: Trace) -> str:
    """The step in words, for a screen reader and the caption."""
    head = f"Step {s.number} of {n}. "
    name = clipped(s.tensor, 60)
    odd = f" {s.wrong}." if s.wrong else ""
    if s.again:
        odd += f" It has fired {'once' if s.again == 1 else f'{s.again} times'} before."
    if s.early:
        missing = ", ".join(clipped(f.outputs[0].name, 30) for f in s.early[:3])
        odd += f" It fires too early: {missing} {'has' if len(s.early) == 1 else 'have'} not sent {name} a part yet."
    if s.accumulate is not None:
        return head + _stored(s.accumulate, name) + odd
    receives = _received(s, name, out) + "." + odd
    given = [x for x in s.sent if x.reason is None]
    sends = [_sends(x, len(given) > 1) for x in given]
    tail = f" It sends {', and '.join(sends)}." if sends else " It sends nothing."
    for x in s.sent:
        target = clipped(target_name(x.edge), 60)
        if x.reason and x.edge.target is not None:
            tail += f" {target}: {x.reason}."
        if x.lost:
            tail += f" {target} has fired already: this part is lost."
    return f"{head}{s.name} {receives}{tail}"


def _sends(x: Sent, several: bool) -> str:
    """What is sent along one edge: its numbers, or only the shape if it is one of several large arrays."""
    value = _brief(x.value) if several else short(x.value)
    comma = "," if value.startswith("(") and not value.endswith(")") else ""  # after a shape and a range
    sending = f"{value}{comma} to {clipped(target_name(x.edge), 60)}"
    return f"{sending} ({x.reduced.partition(':')[0]})" if x.reduced else sending


def _brief(value: Value | None) -> str:
    """The numbers of a value if there are few, else its shape."""
    return shape_text(value.shape) if value and value.array.size > LISTED_NUMBERS else short(value)


def _stored(a: Accumulated, name: str) -> str:
    """What AccumulateGrad did, in words."""
    if a.wrong:
        return f"AccumulateGrad receives {short(a.contribution)} for {name}, but {a.wrong}."
    if a.contribution is None:
        return f"AccumulateGrad receives nothing for {name}: {name}.grad stays {short(a.after)}."
    if a.before is None:
        what = "what arrives, {}," if a.after.array.size > LISTED_NUMBERS else "{}"
        return f"AccumulateGrad stores {what.format(short(a.after))} in {name}.grad, which was None."
    if a.after.array.size > LISTED_NUMBERS:
        return f"AccumulateGrad adds what arrives to {name}.grad, which is now {short(a.after)}."
    change = f"{short(a.before)} becomes {short(a.after)}"
    return f"AccumulateGrad adds {short(a.contribution)} to {name}.grad: {change}."


def _received(s: Step, name: str, out: Trace) -> str:
    got = [p for p in s.parts if p.value is not None]
    if any(total is not None for total in s.totals[1:]):
        return _received_by_each(s)
    if len(got) > 1 and not s.wrong:
        parts = " + ".join([*(short(p.value, 24) for p in got[:4]), *["…"][: len(got) > 4]])
        return f"adds {plural(len(got), 'contribution')} for {name}: {parts} = {short(s.total)}"
    if got and got[0].edge is None and not s.wrong:
        seed = f"the gradient of {name} with respect to itself"
        if out.of_what == "L":  # not one number that starts with 1: L follows it
            seed = f"the gradient {'that was given ' if out.given else ''}for {name}"
        return f"starts with {seed}, {short(s.total)}"
    return f"receives {short(s.total)}, the gradient for {name}"


def _received_by_each(s: Step) -> str:
    """What a node with several outputs receives: a gradient, or nothing, for each of the first few."""
    received = []
    for nr, total in enumerate(s.totals[:6]):
        name = clipped(s.function.output(nr).name or f"output {nr}", 30)
        parts = [short(p.value, 24) for p in s.parts if p.nr == nr and p.value is not None]
        sums = f"{' + '.join(parts[:4])}{' + …' if len(parts) > 4 else ''} = "
        added = sums if len(parts) > 1 and not s.wrong else ""
        received.append(f"nothing for {name}" if total is None else f"{added}{_brief(total)} for {name}")
    return f"receives {', '.join(received)}{', …' if len(s.totals) > 6 else ''}"
