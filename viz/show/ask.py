"""Predict before reveal: a question for each step of a recorded pass, and the answer to which each common mistake leads.

Reads plain data (payload.py) and returns plain data; runs no framework. The numbers of the mistakes are computed
from the recorded values. A backward pass is linear in the gradients, so the effect that a wrong total at one node has on a leaf
follows from the recorded local derivatives, wherever these act entry by entry; elsewhere nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..read.values import nested

MODES = ("gradients", "order")
HOOK = "a hook changed it"  # how explain.py ends its sentence about a total that is not the sum of its parts
NAN = "0 · ∞, 0/0, ∞/∞ and ∞ − ∞ are nan; 1/0, and ∞ times a number other than 0, are not."
SMALL = 12  # if an answer has more entries, the question asks for its shape only


@dataclass(frozen=True)
class Mistake:
    """A wrong answer, the ``cause`` that produces it, and what to say about it."""

    value: np.ndarray
    cause: str
    says: str


def array_of(value: Mapping | None, *, finite: bool = True) -> np.ndarray | None:
    """The numbers of a payload array, or None unless all are there and (with ``finite``) all are finite."""
    if not value or value.get("values") is None or (finite and value.get("nonfinite")):
        return None
    return np.array([float(v) for v in value["values"]]).reshape(value["shape"])


def _plain(a: np.ndarray) -> dict:
    """As data: a value that is not finite becomes the text "nan", "inf" or "-inf", as in the payload."""
    return {"shape": list(a.shape), "values": [v if np.isfinite(v) else str(v) for v in a.ravel().tolist()]}


class Pass:
    """The recorded steps as arrays: totals, parts and the local derivative along each edge."""

    def __init__(self, data: Mapping[str, Any]):
        self.data = data
        self.steps = data["steps"]
        self.at = {step["node"]: i for i, step in enumerate(self.steps)}
        self.parts = [[array_of(p["value"]) for p in s["incoming"]] for s in self.steps]
        self.hooked = [str(s.get("wrong")).endswith(HOOK) for s in self.steps]  # the total is not the sum
        self.total = [
            None if s.get("totals") or (s.get("wrong") and not hooked) else array_of(s["total"])
            for s, hooked in zip(self.steps, self.hooked, strict=True)
        ]

    def name(self, node: str | None) -> str:
        entry = self.data["nodes"].get(node) or self.data["hidden"].get(node)
        return "the start" if entry is None else entry["name"] or entry["label"]

    def local(self, i: int, out: Mapping) -> np.ndarray | None:
        """∂input/∂output of step ``i`` along one edge, if it acts entry by entry (or on a scalar)."""
        total, sent = self.total[i], array_of(out["value"])
        if total is None or sent is None or out.get("reduced") or np.any(total == 0):
            return None
        by_entry = self.steps[i]["pointwise"] and total.shape == sent.shape
        return sent / total if by_entry or total.size == 1 else None

    def leaves_after(self, start: int, delta: np.ndarray) -> dict[int, np.ndarray] | None:
        """By step, how each leaf's ``.grad`` changes when the total of step ``start`` changes by ``delta``; None if unknown."""
        change: dict[int, np.ndarray] = {start: delta}
        for i in range(start, len(self.steps)):
            if i not in change or self.steps[i]["accumulate"]:
                continue
            for out in self.steps[i]["outgoing"]:
                if out["to"] not in self.at or out["value"] is None:
                    continue
                local, to = self.local(i, out), self.at[out["to"]]
                if local is None or self.hooked[to]:  # what a hook would do to another number is not known
                    return None
                change[to] = change.get(to, 0.0) + local * change[i]
        return {i: d for i, d in change.items() if self.steps[i]["accumulate"]}

    def unhooked(self, i: int) -> np.ndarray | None:
        """The sum of the parts of step ``i`` before a hook changed it; None if none did."""
        known = self.total[i] is not None and all(part is not None for part in self.parts[i])
        return sum(self.parts[i]) if self.hooked[i] and known else None

    def overwritten(self) -> dict[int, np.ndarray]:
        """The known totals, step by step, of an engine that writes ``grad = part`` where it should add."""
        last: dict[int, np.ndarray | None] = {}
        for i, step in enumerate(self.steps):
            if i not in last:
                last[i] = self.total[i]  # a root: the seed
            for out in step["outgoing"] if last[i] is not None else []:
                if out["to"] in self.at and out["value"] is not None:
                    local, to = self.local(i, out), self.at[out["to"]]
                    last[to] = None if local is None or self.hooked[to] else local * last[i]
        return {i: value for i, value in last.items() if value is not None}


def _merges(p: Pass, before: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """Steps before ``before`` where several parts met: (step, which part, that part)."""
    for i in range(before):
        known = p.total[i] is not None and not p.hooked[i] and not p.steps[i]["accumulate"]
        for k, part in enumerate(p.parts[i] if known and len(p.parts[i]) > 1 else ()):
            if part is not None:
                yield i, k, part


def _about_parts(p: Pass, i: int) -> list[Mistake]:
    """Wrong totals of one node where several gradients meet."""
    step, found = p.steps[i], []
    for k, part in enumerate(p.parts[i]):
        if part is None:
            continue
        sender = p.name(step["incoming"][k]["from"])
        says = f"That is the part from {sender} alone. The node must wait until all {len(p.parts[i])} parts have arrived."
        if last := k == len(p.parts[i]) - 1:
            says = f"That is the part from {sender} alone, the last to arrive: it has overwritten the others. Parts are added."
        found.append(Mistake(part, "overwrite" if last else "early", says))
    if (before := p.unhooked(i)) is not None:
        says = "That is the sum of the parts. A hook is called with it, and the node receives what the hook returns instead."
        found.append(Mistake(before, "before the hook", says))
    elif len(p.parts[i]) > 1 and p.total[i] is not None:
        says = f"That is the mean of the {len(p.parts[i])} parts. Nothing is averaged where gradients meet: parts are added."
        found.append(Mistake(p.total[i] / len(p.parts[i]), "averaged", says))
    return found


def _about_sending(p: Pass, i: int, out: Mapping) -> list[Mistake]:
    """Wrong gradients that a node might send to one of its inputs."""
    step, total, right = p.steps[i], p.total[i], array_of(out["value"], finite=False)
    found: list[Mistake] = []
    local = p.local(i, out)
    if local is not None:
        arrives = nested(total.tolist())
        says = f"That is the local derivative alone. The chain rule multiplies it by the gradient that arrives, {arrives}."
        found.append(Mistake(local, "local derivative only", says))
        says = f"That is the local derivative plus the gradient that arrives, {arrives}. The chain rule multiplies them."
        found.append(Mistake(local + total, "added", says))
    if total is not None:
        if total.shape == right.shape:
            first = "Multiply it by the local derivative" if step["pointwise"] else "Put it into the rule"
            says = f"That is the gradient that arrives, passed on unchanged. {first} first."
            found.append(Mistake(total, "passed on", says))
        elif out.get("reduced"):
            says = f"That still has the shape of the output. A gradient has the shape of its tensor: {out['reduced']}."
            found.append(Mistake(total, "wrong shape", says))
    for other in step["outgoing"]:
        value = array_of(other["value"])
        if other is not out and value is not None:
            says = f"That is the gradient for the other input, {other.get('name') or other['input']}."
            found.append(Mistake(value, "other input", says))
    return found + _about_form(right)


def _about_form(right: np.ndarray) -> list[Mistake]:
    found = list(_about_not_finite(right))
    found.append(Mistake(-right, "sign", "The size is right, the sign is not."))
    if right.ndim == 2:
        says = f"That is transposed. The gradient has the shape of its tensor, {right.shape}."
        found.append(Mistake(right.T, "transposed", says))
    if right.size > 1:
        says = f"That is the sum of all entries. There is one derivative for each entry: shape {right.shape}."
        found.append(Mistake(right.sum(), "summed", says))
    return found


def _about_not_finite(right: np.ndarray) -> Iterator[Mistake]:
    nan, inf = np.isnan(right), np.isinf(right)
    for where, value, says in (
        (nan, 0, "You took 0 · ∞ or 0/0 to be 0. Both are nan, and a sum with a nan in it is nan."),
        (nan, np.inf, "You took an undefined value to be inf: 0 · ∞, 0/0 and ∞ − ∞ are nan."),
        (inf, 0, "You took something infinite to be 0: a number divided by 0, or a number times infinity."),
        (inf, np.nan, f"You took inf to be nan. {NAN}"),
    ):
        if where.any():
            yield Mistake(np.where(where, value, right), "not finite", says)


def _about_storing(p: Pass, i: int) -> list[Mistake]:
    """Wrong values of ``.grad`` of a leaf: overwriting here, or a wrong engine on the way here."""
    accumulate, found = p.steps[i]["accumulate"], []
    before, given = (array_of(accumulate[k]) for k in ("before", "contribution"))
    after = array_of(accumulate["after"], finite=False)
    leaf = accumulate["leaf"]
    if before is not None and given is not None:
        says = f"That is only what this pass contributes. {leaf}.grad held {nested(before.tolist())}, and backward adds to it."
        found.append(Mistake(given, "overwrite", says))
    if len(p.parts[i]) > 1 and before is None:
        found += _about_parts(p, i)

    def elsewhere(m: int, delta: np.ndarray, cause: str, says: str) -> None:
        """What would be stored here if the total of step ``m`` were different."""
        if i in (change := p.leaves_after(m, delta) or {}):
            found.append(Mistake(after + change[i], cause, f"That is what comes out {says}"))

    for m, k, part in _merges(p, i):
        name, sender = p.name(p.steps[m]["node"]), p.name(p.steps[m]["incoming"][k]["from"])
        says = f"when {name} fires too early, with the part from {sender} alone."
        elsewhere(m, part - p.total[m], "early", says)
        says = f"when {name} fires twice, once with the part from {sender} and once with the sum."
        elsewhere(m, part, "fires twice", says)
        says = f"when the parts that meet at {name} are averaged. They are added."
        elsewhere(m, p.total[m] / len(p.parts[m]) - p.total[m], "averaged", says)
    for m in range(i):
        if (bare := p.unhooked(m)) is not None:
            says = f"without the hook at {p.name(p.steps[m]['node'])}."
            elsewhere(m, bare - p.total[m], "before the hook", says)
    wrong = p.overwritten()
    if i in wrong and before is None:
        says = "That is the result of an engine that overwrites a gradient (=) instead of adding (+=)."
        found.append(Mistake(wrong[i], "overwrite", says))
    for m in range(i):
        here = [out for out in p.steps[m]["outgoing"] if p.at.get(out["to"]) == i]
        for mistake in _about_chain(p, m, here):
            elsewhere(i, mistake.value, mistake.cause, f"when {mistake.says}")
    found += [*_about_form(after), *_about_values(p, after, leaf)]
    for other in (earlier["accumulate"] for earlier in p.steps[:i] if earlier["accumulate"]):
        if (value := array_of(other["after"])) is not None:  # later steps are still to be asked about
            found.append(Mistake(value, "other input", f"That is {other['leaf']}.grad, of another leaf."))
    return found


def _about_chain(p: Pass, m: int, outs: list[Mapping]) -> Iterator[Mistake]:
    """How much more would arrive along these edges if step ``m`` forgot the chain rule, or added instead of multiplying."""
    locals_, name, total = [p.local(m, out) for out in outs], p.name(p.steps[m]["node"]), p.total[m]
    if not outs or any(local is None for local in locals_):
        return
    sent = sum(array_of(out["value"]) for out in outs)
    yield Mistake(sum(locals_) - sent, "local derivative only", f"{name} sends its local derivative alone.")
    yield Mistake(total * len(outs) - sent, "passed on", f"{name} passes on what it receives, unchanged.")
    says = f"{name} adds its local derivative to what it receives. The chain rule multiplies them."
    yield Mistake(sum(locals_) + total * len(outs) - sent, "added", says)


def _about_values(p: Pass, right: np.ndarray, asked: str | None) -> Iterator[Mistake]:
    """The values of the forward pass, beginning with that of the tensor in question."""
    known = [n for n in p.data["nodes"].values() if n["kind"] in ("leaf", "tensor", "value") and n["name"]]
    for node in sorted(known, key=lambda node: node["name"] != asked):
        value = array_of(node["value"])
        if value is not None and value.shape == right.shape:
            says = f"That is the value of {node['name']}, not a gradient. A gradient says how fast the result changes with it."
            yield Mistake(value, "the value", says)


def _distinct(mistakes: list[Mistake], right: np.ndarray) -> list[dict]:
    """The mistakes as data: without those that give the right answer, and one cause for each value."""
    kept: list[Mistake] = []
    for m in mistakes:
        value = np.asarray(m.value, dtype=float)
        others = [o for o in (right, *(k.value for k in kept)) if np.shape(o) == value.shape]
        if not any(np.allclose(o, value, 1e-6, 1e-12, equal_nan=True) for o in others):
            kept.append(Mistake(value, m.cause, m.says))
    return [_plain(m.value) | {"cause": m.cause, "says": m.says} for m in kept]


def _question(p: Pass, i: int) -> dict | None:
    """The question before step ``i`` (counted from 0), or None if there is nothing to ask."""
    step = p.steps[i]
    name = p.name(step["node"])
    fires = f"{step['name']} of {step['tensor']}" if step["tensor"] else step["name"]
    if step["accumulate"]:
        asked = step["accumulate"]["leaf"]
        kind, value, of = "stores", step["accumulate"]["after"], f"{asked}.grad"
        text = f"{fires} fires next. What is {of} afterwards?"
    elif len(step["incoming"]) > 1 and not step.get("totals"):
        asked, kind, value, of = name, "total", step["total"], f"the gradient of {name}"
        text = f"{len(step['incoming'])} gradients meet at {name}. What does {step['name']} receive in total?"
    else:
        out = next((o for o in step["outgoing"] if o["value"] is not None), None)
        if out is None:
            return None
        kind, value = "sends", out["value"]
        asked = out.get("name") or p.name(out["to"])
        twice = sum(o["to"] == out["to"] for o in step["outgoing"]) > 1  # as in x * x
        to = f"{asked} (input {out['input']})" if twice else asked
        of, text = f"the gradient for {to}", f"{fires} fires next. What gradient does it send to {to}?"
    right = array_of(value, finite=False)
    if value is None:
        return None
    if right is None or right.size > SMALL:
        return _shape_question(p, step, fires, value, of)
    if kind == "stores":
        found = _about_storing(p, i)
    else:
        found = _about_parts(p, i) + _about_form(right) if kind == "total" else _about_sending(p, i, out)
    found += _about_values(p, right, asked)
    question = {"kind": kind, "text": text, "of": of, "answer": _plain(right)}
    return question | {"mistakes": _distinct(found, right)}


def _shape_question(p: Pass, step: Mapping, fires: str, value: Mapping, of: str) -> dict | None:
    right = list(value["shape"])
    wrong = {tuple(reversed(right)): "That is transposed."}
    if step["total"]:
        wrong[tuple(step["total"]["shape"])] = "That is the shape of the gradient that arrives."
    wrong[()] = "A scalar would be the sum of all entries. There is one derivative for each entry."
    if right:
        wrong[tuple(right[:-1])] = "The last axis is missing."
        wrong[(1, *right)] = "There is one axis too many."
    wrong.pop(tuple(right), None)
    rule = " A gradient has the shape of the tensor that it belongs to."
    three, more = list(wrong.items())[:3], {"cause": "wrong shape"}
    choices = [{"shape": list(s), "says": says + rule} | more for s, says in three]
    text = f"{fires} fires next. What shape does {of} have?"
    answer = {"shape": right}
    shapes = sorted([*choices, answer], key=lambda c: (len(c["shape"]), c["shape"]))
    return {"kind": "shape", "text": text, "of": of, "answer": answer, "choices": shapes, "mistakes": []}


def _order_question(p: Pass, i: int) -> dict:
    """Which nodes may fire after ``i`` steps, and what would happen if each node that must wait fired."""
    before = p.steps[i - 1] if i else None
    ready = list(before["ready"]) if before else [p.steps[0]["node"]]
    early = {}
    for waiting in before["waiting"] if before else []:
        w = p.at.get(waiting["node"])
        if w is None:
            continue
        missing = ", ".join(p.name(m) for m in waiting["for"])
        says = f"{p.name(waiting['node'])} has {waiting['got']} of {waiting['needs']} parts and must wait for {missing}."
        here = p.parts[w][: waiting["got"]]
        if p.total[w] is not None and all(part is not None for part in here):
            change = p.leaves_after(w, sum(here) - p.total[w])
            for leaf, delta in (change or {}).items():
                after = array_of(p.steps[leaf]["accumulate"]["after"])
                if after is not None and after.size <= SMALL and not np.allclose(delta, 0):
                    stored = p.steps[leaf]["accumulate"]["leaf"]
                    wrong, right = (nested(x.tolist()) for x in (after + delta, after))
                    says += f" If it fired now, {stored}.grad would be {wrong} instead of {right}."
        early[waiting["node"]] = says
    order = {"kind": "order", "text": "Which node may fire next?", "next": p.steps[i]["node"]}
    return order | {"ready": ready, "early": early}


def questions(data: Mapping[str, Any], mode: str, given: int = 0) -> dict[str, dict]:
    """The questions of a pass, by the number of the step that follows each ("1" is the first).

    ``mode``: "gradients" or "order". The first ``given`` steps are shown as a worked example. Raises ValueError.
    """
    if mode not in MODES:
        raise ValueError(f"ask must be one of {', '.join(map(repr, MODES))} or None, got {mode!r}")
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        about = "the number of steps that are shown first"
        raise ValueError(f"given, {about}, must be a whole number, 0 or more, got {given!r}")
    p = Pass(data)
    make = _question if mode == "gradients" else _order_question
    return {str(i + 1): found for i in range(given, len(p.steps)) if (found := make(p, i)) is not None}
