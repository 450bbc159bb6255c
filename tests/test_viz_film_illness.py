"""What viz.film says about real training runs: it names each fault in a run that has it, not in one that nearly has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viz
from tests.test_viz_film import mlp, norm, train


def deep(t: Any, ill: bool) -> viz.Film:
    """A deep sigmoid net: over ten layers the gradient falls by more than a million, over five by less."""
    film = viz.film()
    train(t, film, 12, act="Sigmoid", depth=10 if ill else 5)
    into = film._analyses()[0].into
    assert bool(into[:, 1:].min() - into[:, 1].max() < -6) is ill
    return film


def diverging(t: Any, ill: bool) -> viz.Film:
    """Least squares with too large a learning rate: each step makes the gradient 1.7 times as large, or 1.5 times."""
    film, x = viz.film(), t.tensor([[1.0], [-1.0]])
    layer = t.nn.Linear(1, 1, bias=False)
    optimizer = t.optim.SGD(layer.parameters(), lr=(2.7 if ill else 2.5) / 2)
    with t.no_grad():
        layer.weight.fill_(100.0)
    for _ in range(6):
        optimizer.zero_grad()
        film.backward((layer(x) ** 2).mean())
        optimizer.step()
    return film


def dying(t: Any, ill: bool) -> viz.Film:
    """A unit reached only by every eleventh batch, or every tenth: it gets nothing for ten steps in a row, or for nine."""
    t.manual_seed(0)
    film, model = viz.film(), t.nn.Sequential(t.nn.Linear(2, 3), t.nn.ReLU(), t.nn.Linear(3, 1))
    with t.no_grad():
        model[0].weight.copy_(t.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        model[0].bias.fill_(0.0)
        model[2].weight.fill_(1.0)
    optimizer = t.optim.SGD(model.parameters(), lr=1e-4)
    for step in range(40):
        seen = 1.0 if step % (11 if ill else 10) == 0 else -1.0
        optimizer.zero_grad()
        film.backward(((model(t.tensor([[1.0, seen], [2.0, seen]])) - 9) ** 2).mean())
        optimizer.step()
    return film


def overflowing(t: Any, ill: bool) -> viz.Film:
    """A weight that grows until its exponential overflows float32, or that stops one step earlier."""
    film, w = viz.film(), t.tensor([80.0], requires_grad=True)
    optimizer = t.optim.SGD([w], lr=1.0)
    for _ in range(5 if ill else 4):
        optimizer.zero_grad()
        film.backward((w.exp().log() * -2.5).sum())
        optimizer.step()
    return film


def cut(t: Any, ill: bool) -> viz.Film:
    """A layer behind a forgotten detach, or one that is frozen."""
    film, model = viz.film(), mlp(t)
    for p in model[0].parameters():
        p.requires_grad_(ill)
    hidden = model[0](t.ones(4, 3))
    film.backward((model[1:](hidden.detach()) ** 2).mean())
    return film


def leaping(t: Any, ill: bool) -> viz.Film:
    """Steps uphill, each by about 11 % of the weight's norm, or by 9 %."""
    film, moved = viz.film(), []
    t.manual_seed(1)
    layer, x = t.nn.Linear(4, 1, bias=False), t.eye(4)
    for _ in range(4):
        before = norm(layer.weight)
        layer.zero_grad()
        film.backward((layer(x) ** 2).sum() / 2)
        with t.no_grad():
            layer.weight += (0.11 if ill else 0.09) * layer.weight.grad
        moved.append(norm(layer.weight.grad) * (0.11 if ill else 0.09) / before)
    assert (max(moved) > 0.1) is ill and min(moved) > 0.08
    return film


CASES: dict[str, Callable[[Any, bool], viz.Film]] = {
    "vanish": deep, "grew": diverging, "dead": dying, "nan": overflowing, "missing": cut, "large": leaping,
}  # fmt: skip
SAID = {
    "vanish": "The gradient vanishes: model.0.weight gets ",
    "grew": "The gradient that MmBackward0 in layer receives grew from ",
    "dead": "Unit 1 of 3 in ReluBackward0 of model.0 was dead from step 1 to 10.",
    "nan": "First Inf: the loss itself is -inf, so it comes from the forward pass; ",
    "missing": "model.0.weight and model.0.bias get no gradient: no path from the loss reaches them.",
    "large": "Large update: layer.weight moves by 11 % of its norm in one step, and the loss rises.",
}


@pytest.mark.parametrize("kind", CASES)
def test_what_a_training_has_is_reported_and_what_it_nearly_has_is_not(t: Any, kind: str):
    ill, well = ([f for f in CASES[kind](t, has).findings if f.kind == kind] for has in (True, False))
    assert well == []
    assert (
        ill
        and ill[0].text.startswith(SAID[kind])
        and ill[0].node
        and str(ill[0]).removeprefix("  so, ").startswith(("step", "fact, step"))
    )


def test_a_loss_without_a_graph_is_reported_where_there_is_no_frame(t: Any, tmp_path: Path):
    film, w = viz.film(), t.tensor([2.0], requires_grad=True)
    for _ in range(3):
        film.backward(t.tensor((w * w).sum().item(), requires_grad=True))
    assert film and len(film) == 0  # ``film or viz.film()`` is this film
    [found] = film.findings
    assert found.alarm and found.text.startswith("The loss of step 0 has no graph")
    assert found.text in film._repr_mimebundle_()["text/plain"]
    with pytest.raises(ValueError, match="no frame yet: The loss of step 0 has no graph"):
        film.save(tmp_path / "film.html")


def test_what_is_not_finite_in_the_data_is_reported_of_the_data(t: Any):
    model, film, x = mlp(t), viz.film(), t.ones(4, 3)
    for bad in (1.0, float("inf")):
        x[0, 0] = bad
        film.backward((model(x) ** 2).mean())
    first, *_ = film.findings
    assert first.kind == "nan" and first.step == 1
    assert "and x, which AddmmBackward0 was given, holds Inf" in first.text


def test_units_that_die_at_different_times_are_counted(t: Any):
    """One of three units is dead from the start, another from the third step."""
    film, w, x = viz.film(), t.tensor([[1.0, 1.0, 1.0]], requires_grad=True), t.tensor([[1.0], [2.0]])
    for step in range(14):
        bias = t.tensor([0.0, -9.0, 0.0 if step < 2 else -9.0])
        film.backward(((x @ w + bias).relu() ** 2).sum())
    [found] = [f for f in film.findings if f.kind == "dead"]
    assert found.text == "2 of 3 units (1, 2) in ReluBackward0 of w are dead; the first died at step 0."


def test_a_loss_that_is_no_number_is_not_called_nan(t: Any):
    w, film = t.tensor([1.0, 2.0], requires_grad=True), viz.film()
    film.backward(w * w, t.ones(2))
    assert film.findings == [] and film.losses == [None]
    assert np.isfinite(film._tables[0].part("grad")).all()


def ascending(t: Any, target: float | None) -> viz.Film:
    """The loss is minus a mean of squares, which training enlarges: of errors if there is a ``target``, else of projections."""
    t.manual_seed(0)
    film, x, w = viz.film(), t.randn(32, 3), t.randn(3, 1).requires_grad_(True)
    for _ in range(12):
        w.grad = None
        seen = x @ w if target is not None else x @ w / (w**2).sum().sqrt()
        film.backward(-((seen - target) ** 2).mean() if target is not None else -(seen**2).mean())
        with t.no_grad():
            w -= 0.1 * w.grad
    return film


def test_minus_an_error_is_a_wrong_sign_and_a_variance_that_grows_is_not(t: Any):
    first, *_ = ascending(t, 1.0).findings
    assert first.kind == "sign" and first.text.startswith(
        "The loss is minus the squared error, and training takes it"
    )
    assert [f for f in ascending(t, None).findings if f.alarm] == []


def test_the_gradient_of_a_second_term_of_the_loss_does_not_explode(t: Any):
    """One term is fitted and sends almost no gradient; the other still sends as much as before."""
    t.manual_seed(0)
    film, a, b = viz.film(), t.nn.Linear(2, 1), t.nn.Linear(2, 1)
    x = t.randn(16, 2)
    with t.no_grad():
        near = a(x) + 1e-6
    for _ in range(4):
        film.backward((b(x) - 3).pow(2).mean() + ((a(x) - near) ** 2).mean())
    assert "explode" not in {f.kind for f in film.findings}
