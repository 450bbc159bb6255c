"""Random programs: a recorded pass leaves what backward() leaves, adds up, and is the same on minigrad and on PyTorch."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad
import viz
from viz.show.payload import payload

UNARY = ("exp", "sin", "cos", "tanh", "sigmoid", "relu", "neg")
BINARY = ("__add__", "__sub__", "__mul__", "__matmul__")

programs = st.lists(
    st.tuples(st.sampled_from(UNARY + BINARY), st.integers(0, 50), st.integers(0, 50)),
    min_size=1,
    max_size=14,
)


def run(t, program):
    """Two leaves and a constant, then each operation on two of the tensors so far; the mean of the last one and the leaves."""
    rng = np.random.default_rng(7)
    a, b, c = (rng.uniform(-0.4, 0.4, (2, 2)).tolist() for _ in range(3))
    made = [t.tensor(a, requires_grad=True), t.tensor(b, requires_grad=True), t.tensor(c)]
    for operation, i, j in program:
        x, y = made[i % len(made)], made[j % len(made)]
        made.append(getattr(x, operation)(y) if operation in BINARY else getattr(x, operation)())
    loss = (made[-1] * 0.5 + made[0] + made[1]).mean()
    return loss, {"a": made[0], "b": made[1], "c": made[2]}


@settings(max_examples=60)
@given(programs)
def test_a_recorded_pass_leaves_what_backward_leaves(program):
    loss, names = run(minigrad, program)
    trace = viz.trace(loss, names=names)
    plain, others = run(minigrad, program)
    plain.backward()
    for name in ("a", "b"):
        assert np.array_equal(names[name].grad.numpy(), others[name].grad.numpy())
        assert np.array_equal(trace.leaves[name].array, others[name].grad.numpy())


@settings(max_examples=60)
@given(programs)
def test_what_is_sent_adds_up_to_what_is_received_and_the_queue_is_right(program):
    loss, names = run(minigrad, program)
    trace = viz.trace(loss, names=names)
    for i, step in enumerate(trace):
        total = sum(p.value.array.astype(np.float64) for p in step.parts if p.value is not None)
        assert np.allclose(total, step.total.array, rtol=1e-4, atol=1e-6)
        assert step.wrong is None and not step.early and not step.again
        after = {s.function for s in trace.steps[i + 1 :]}
        assert set(step.ready) | {w.function for w in step.waiting} <= after
        if i + 1 < len(trace):
            assert trace[i + 1].function in step.ready, "only a node that was ready may fire next"
        for w in step.waiting:
            assert 0 < w.got < w.needs
            assert set(w.missing) <= after


@settings(max_examples=40)
@given(programs)
def test_every_gradient_agrees_with_its_finite_difference(program):
    loss, names = run(minigrad, program)
    wrong = [
        s.check["text"] for s in viz.trace(loss, names=names, check=True) if s.check and not s.check["ok"]
    ]
    assert not wrong


@settings(max_examples=40)
@given(programs)
def test_the_payload_is_whole_in_every_view(program):
    for view in ("graph", "cards", "functions"):
        loss, names = run(minigrad, program)
        data = json.loads(json.dumps(payload(loss, names=names, view=view), allow_nan=False))
        ids = {e.get("id") for e in ET.fromstring(data["svg"]).iter() if e.get("id")}
        assert ids == set(data["nodes"]) | set(data["edges"])
        assert all(data["nodes"][s["node"]]["step"] == i for i, s in enumerate(data["steps"]))


@pytest.mark.parametrize("seed", range(40))
def test_minigrad_and_torch_take_the_same_pass(torch, seed):
    rng = np.random.default_rng(seed)
    operations = UNARY + BINARY
    program = [
        (operations[rng.integers(len(operations))], *map(int, rng.integers(0, 50, 2))) for _ in range(12)
    ]
    passes = []
    for t in (minigrad, torch):
        loss, names = run(t, program)
        passes.append(viz.trace(loss, names=names | {"loss": loss}))
    comparison = viz.compare(*passes, labels=("minigrad", "torch"), tolerance=1e-3)
    assert comparison.first is None, comparison.sentence
