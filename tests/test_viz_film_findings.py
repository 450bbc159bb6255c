"""What a film says about a training run in words, and when it says nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest

import viz
from tests.test_viz_film import mlp, train
from tests.test_viz_film_shown import kinds
from viz.films.findings import norm_text
from viz.films.norms import numbers

# ---- findings


def test_it_says_that_the_gradient_vanishes(t):
    film = viz.film()
    train(t, film, 4, act="Sigmoid", depth=14)
    found = kinds(film)["vanish"]
    assert (found.step, found.until, found.row) == (0, 3, "model.0")
    assert re.fullmatch(
        r"The gradient vanishes: model\.0\.weight gets \S+e-\d+, \S+e-\d+ times what model\.26\.weight gets\.",
        found.text,
    )


def test_it_says_nothing_of_a_net_that_learns(t):
    film = viz.film()
    train(t, film, 8, act="Tanh", depth=2, lr=0.001)
    assert film.findings == []


def test_it_says_that_the_gradient_explodes_and_grew(t):
    film = viz.film()
    w = (3.0 * t.eye(2)).requires_grad_(True)
    for k in range(6):
        w.grad = None
        with t.no_grad():
            w *= 10.0 if k == 4 else 1.0
        h = t.ones(1, 2)
        for _ in range(8):
            h = h @ w
        film.backward(h.sum() * 1e-6)
    assert (kinds(film)["explode"].step, kinds(film)["explode"].row) == (0, "t = 1")
    assert kinds(film)["grew"].step == 4


@pytest.mark.parametrize("place", ["forward", "backward"])
def test_it_says_which_operation_made_the_first_nan(t, place):
    film = viz.film()
    w = t.tensor([4.0, 1.0], requires_grad=True)
    for step in range(5):
        w.grad = None
        x = w * 0.0 if step == 3 else w * 1.0
        loss = (x.sqrt() * 2).sum() if place == "backward" else (x.log() * x).sum()
        film.backward(loss)
    found = kinds(film)["nan"]
    assert found.step == 3
    if place == "backward":
        assert found.node == "SqrtBackward0"
        assert re.fullmatch(r"First Inf: SqrtBackward0 in \S.* made it from a finite gradient\.", found.text)
    else:
        assert found.text.startswith("First NaN: the loss itself is nan, so it comes from the forward pass; ")
        assert list(film._kept_passes()) == ["3", "4"]


def test_it_says_since_when_a_unit_is_dead(t):
    film = viz.film(every=2)
    w = t.tensor([[1.0, 1.0, -1.0]], requires_grad=True)
    b = t.zeros(3, requires_grad=True)
    x = t.tensor([[1.0], [2.0]])
    for step in range(60):
        w.grad = b.grad = None
        with t.no_grad():
            b[1] = -9.0 if 20 <= step < 50 else 0.0
        film.backward((x @ w + b).relu().sum())
    assert {f.text for f in film.findings if f.kind == "dead"} == {
        "Unit 2 of 3 in ReluBackward0 of b, w has been dead since step 0.",
        "Unit 1 of 3 in ReluBackward0 of b, w was dead from step 20 to 48.",
    }
    assert film._tables[0].dead() == [
        (film._tables[0].scene.gates[0], 2, 0, 29),
        (film._tables[0].scene.gates[0], 1, 10, 24),
    ]


def test_it_says_which_update_is_lost(t):
    film = viz.film()
    w, v = t.tensor([1.0, 1.0], requires_grad=True), t.tensor([1.0], requires_grad=True)
    for _ in range(3):
        w.grad = v.grad = None
        film.backward((w * w).sum() + 1e-12 * v.sum())
        with t.no_grad():
            w -= 0.1 * w.grad
            v -= 0.1 * v.grad
    [found] = film.findings
    assert (found.kind, found.alarm) == ("still", False)
    assert found.text == "v does not change: the update is lost to rounding."


def test_it_says_which_parameter_gets_no_gradient(t):
    film, model = viz.film(), mlp(t)
    film.backward(model[0](t.ones(2, 3)).sum())
    found = kinds(film)["missing"]
    assert found.text.startswith("model.2.weight, model.2.bias, model.4.weight and 3 more get no gradient")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.031, "0.031"),
        (0.1, "0.10"),
        (9.96, "10"),
        (123, "123"),
        (1e-9, "1.0e-9"),
        (2.44e5, "2.4e5"),
        (0, "0"),
    ],
)
def test_norms_have_two_digits(value, text):
    with np.errstate(divide="ignore"):
        assert norm_text(np.float32(np.log10(value))) == text


def test_what_holds_for_the_whole_run_is_reported_of_the_whole_run(t):
    film, model = viz.film(every=2), mlp(t, "Tanh", depth=2)
    with t.no_grad():
        model[0].weight.fill_(0.1)
        model[0].bias.zero_()
        model[2].weight.fill_(0.1)
    optimizer, x = t.optim.SGD(model.parameters(), lr=0.01), t.randn(16, 3)
    for _ in range(9):
        optimizer.zero_grad()
        film.backward((model(x) - x.sum(dim=1, keepdim=True)).pow(2).mean())
        optimizer.step()
    found = kinds(film)["alike"]
    assert (found.step, found.until, found.place[:2]) == (0, 8, (0, 4))


def test_the_norm_of_a_leaf_is_taken_where_its_numbers_are(t):
    leaf = t.ones(3, requires_grad=True)
    assert np.shares_memory(numbers(leaf, tracked=True), leaf.detach().numpy())


def test_a_parameter_with_two_names_is_missed_once(t):
    """The optimizer's list gives it one name, a list of modules another."""
    first, last, film = t.nn.Linear(3, 2), t.nn.Linear(2, 1), viz.film()
    model = t.nn.ModuleList([first, last])
    optimizer = t.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        film.backward(last(first(t.ones(4, 3)).detach()).sum())
        optimizer.step()
    [found] = [f.text for f in film.findings if f.kind == "missing"]
    assert found == "first.weight and first.bias get no gradient: no path from the loss reaches them."
