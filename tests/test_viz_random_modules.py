"""Random programs of layers and operations: each number of the recorded pass is the one that the framework's own hooks saw."""

from __future__ import annotations

import importlib
import random
from typing import Any

import pytest

import viz
from tests.hook_oracle import assert_shown, seen_by_hooks
from viz.show.payload import payload


def program(t: Any, seed: int) -> tuple[Any, dict]:
    """A few leaves and layers, then operations on one or two of the tensors so far; a scalar made of the last ones."""
    chance = random.Random(seed)
    t.manual_seed(seed)
    f, size = t.nn.functional, chance.choice([2, 3, 4])
    leaves = {"x": t.randn(3, size).requires_grad_(True), "w": t.randn(size, size).requires_grad_(True)}
    layers = {
        "linear": t.nn.Linear(size, size),
        "norm": t.nn.LayerNorm(size),
        "words": t.nn.Embedding(4, size),
    }
    leaves |= {f"{name}.{key}": p for name, layer in layers.items() for key, p in layer.named_parameters()}

    def written_over(a: Any, b: Any) -> Any:
        y = a.clone()
        y[0] = b[1]
        return y

    operations = [
        lambda a, b: a + b,
        lambda a, b: a * b,
        lambda a, b: a - b * 2,
        lambda a, b: a.tanh(),
        lambda a, b: f.relu(a),
        lambda a, b: f.gelu(a),
        lambda a, b: a.softmax(1),
        lambda a, b: a @ leaves["w"],
        lambda a, b: layers["linear"](a),
        lambda a, b: layers["norm"](a),
        lambda a, b: layers["words"](t.tensor([1, 3, 1])) + a,
        lambda a, b: a.detach() * b,
        lambda a, b: t.cat([a[:1], b[1:]]),
        lambda a, b: t.stack([a.unbind(0)[i] for i in (0, 2, 0)]),
        lambda a, b: t.cat(a.split([1, 2])[::-1]),
        lambda a, b: a.sum(0) + b,
        lambda a, b: a * a.mean(),
        lambda a, b: t.where(a > 0, a, b),
        lambda a, b: f.dropout(a, 0.5),
        lambda a, b: a.max(1, keepdim=True)[0] * b,
        lambda a, b: (a**2 + 1).sqrt(),
        written_over,
    ]
    made = [leaves["x"], t.randn(3, size), leaves["x"] * 1]
    for _ in range(chance.randint(3, 14)):
        made.append(chance.choice(operations)(chance.choice(made), chance.choice(made)))
    return (made[-1] * made[-2]).sum() + chance.choice(made).mean() * 1.5 + made[2].mean(), leaves


@pytest.mark.long
@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("framework", ["minigrad", "torch"])
def test_each_number_is_what_the_hooks_saw(request, framework, seed):
    t = request.getfixturevalue("torch") if framework == "torch" else importlib.import_module("minigrad")
    true = seen_by_hooks(*program(t, seed))
    if seed % 2:
        result, leaves = program(t, seed)
    else:
        with viz.record():
            result, leaves = program(t, seed)
    data = payload(result, names=leaves, fold=[None, True, False][seed % 3])
    assert_shown(data, true)
    for step in data["steps"]:
        assert not step["wrong"] and (step["check"] or {"ok": True})["ok"], step["sentence"]
