"""Values that are not kept anywhere: recomputed where measured values confirm them, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import viz
from viz.read.replay import worked_out


def graph_of(z):
    return viz.draw(z).graph


def test_the_square_of_a_product_is_known_from_the_product(t):
    x, w = t.tensor([[1.0, 2.0], [3.0, -1.0]]), t.tensor([[0.5], [2.0]], requires_grad=True)
    loss = ((x @ w) ** 2).mean()
    graph = graph_of(loss)
    found = {f.name: value for f, value in worked_out(graph).items()}
    assert found["PowBackward0"].array == pytest.approx(np.array([[20.25], [0.25]]))
    (card,) = (
        i for i in viz.draw(loss).picture.items if i.kind == "value" and i.function.name == "PowBackward0"
    )
    assert card.value.array == pytest.approx(np.array([[20.25], [0.25]])) and "recomputed" in card.tooltip


def test_a_leaf_that_was_changed_since_is_found_out(t):
    w = t.tensor([1.0, 2.0], requires_grad=True)
    loss = ((w * 3) + w).sum()
    assert worked_out(graph_of(loss))
    with t.no_grad():
        w += 1  # as an optimizer does
    assert not worked_out(graph_of(loss))


def test_what_nothing_measured_follows_from_is_not_shown(t):
    w = t.tensor([1.0, 2.0], requires_grad=True)
    # cumsum is not in the table: nothing confirms the sum before it
    z = t.cumsum(w * 3 + w, 0).sum()
    assert "AddBackward0" not in {f.name for f in worked_out(graph_of(z))}


def test_what_is_worked_out_is_what_the_framework_computes(t):
    x = t.tensor([[0.3, -0.7], [1.2, 0.4]], requires_grad=True)
    steps = {}
    steps["Mul"] = x * 2
    steps["Neg"] = -steps["Mul"]
    steps["Rsub"] = 4 - steps["Neg"]
    steps["Div"] = steps["Rsub"] / 3
    steps["Relu"] = steps["Div"].relu()
    steps["Add"] = steps["Relu"] + steps["Div"]
    loss = steps["Add"].mean()
    names = dict(steps)
    found = worked_out(viz.draw(loss, names={"x": x}).graph)
    shown = {f.name.partition("Backward")[0]: value.array for f, value in found.items()}
    for name, value in shown.items():
        assert value == pytest.approx(names[name].detach().numpy(), rel=1e-5), name


def test_a_leaky_relu_is_worked_out_on_both_sides_of_0(t):
    x = t.tensor([0.3, -0.7, 1.2, 0.04], requires_grad=True)
    found = worked_out(graph_of((t.nn.functional.leaky_relu(x * 2, 0.1) * 3).mean()))
    (shown,) = (value for f, value in found.items() if f.name.startswith("LeakyRelu"))
    assert shown.array == pytest.approx([0.6, -0.14, 2.4, 0.08], rel=1e-5)
