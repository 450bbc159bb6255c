"""What viz.film finds in whole training runs: it is quiet about healthy ones, and names the fault of broken ones."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import pytest

import viz
from tests import film_trainings as trainings
from tests import film_trainings_ill as ill
from tests import film_trainings_more  # noqa: F401 (adds to MORE_HEALTHY)
from tests import film_trainings_usual as usual
from viz.films.findings import Finding

FRAMEWORKS = ["minigrad", "torch"]
FACTS = {
    "frozen",
    "eval",
    "dead",
}  # these name a fault even without an alarm, since it may be intended
SETS = {"set on": (trainings.HEALTHY, ill.ILL), "more": (trainings.MORE_HEALTHY, ill.MORE_ILL)}
SETS["usual"] = usual.HEALTHY, usual.ILL
EACH = [
    pytest.param(framework, which, id=f"{framework}-{which.replace(' ', '_')}")
    for framework in FRAMEWORKS
    for which in SETS
]


@functools.cache
def findings(framework: str, make: Any) -> tuple[Finding, ...]:
    film = make(importlib.import_module(framework))
    assert all("is not kept in full" in note for note in film.notes)
    return tuple(film.findings)


def possible(cases: dict[str, Any], framework: str) -> dict[str, Any]:
    return {k: v for k, v in cases.items() if framework == "torch" or k not in trainings.ONLY_TORCH}


@pytest.mark.parametrize(("framework", "which"), EACH)
def test_a_healthy_training_is_quiet(torch: Any, framework: str, which: str):
    cases = possible(SETS[which][0], framework)
    alarms = {k: [str(f) for f in findings(framework, make) if f.alarm] for k, make in cases.items()}
    assert not {k: found for k, found in alarms.items() if found}
    assert len(cases) >= {"set on": 18, "more": 10, "usual": 17}[which]


@pytest.mark.parametrize(("framework", "which"), EACH)
def test_an_ill_one_is_called_by_its_name(torch: Any, framework: str, which: str):
    cases = possible(SETS[which][1], framework)
    missed = {}
    for name, (make, kinds) in cases.items():
        found = findings(framework, make)
        if not kinds & {f.kind for f in found if f.alarm or f.kind in FACTS}:
            missed[name] = [str(f) for f in found]
    assert not missed
    assert len(cases) >= (25 if which == "set on" else 10)


def test_both_frameworks_find_the_same(torch: Any):
    for name, (make, _) in possible(ill.ILL, "minigrad").items():
        kinds = [{f.kind for f in findings(framework, make) if f.alarm} for framework in FRAMEWORKS]
        assert kinds[0] == kinds[1], name


def test_a_consequence_is_listed_under_its_cause(torch: Any):
    make, _ = ill.ILL["learning_rate_diverges"]
    first, *others = findings("torch", make)
    assert first.kind == "large" and first.cause is None and str(first).startswith("step")
    nan = next(f for f in others if f.kind == "nan")
    assert nan.cause == first and str(nan).startswith("  so, steps ")
    for make, _ in ill.ILL.values():
        found = findings("torch", make)
        for k, f in enumerate(found):
            assert f.cause is None or (f.cause in found[:k] and f.cause.step <= f.step)
            assert f.alarm or not any(other.alarm for other in found[k:])  # facts, not alarms, come last


def test_what_is_reported_of_a_leaf_is_its_own_gradient(torch: Any):
    """One leaf of a row may get nothing: here the bias gets a large gradient, and A exactly 0, because B begins at 0."""
    t = torch

    class Adapted(t.nn.Module):
        def __init__(self, a: int, b: int) -> None:
            super().__init__()
            self.weight = t.nn.Parameter(t.randn(b, a), requires_grad=False)
            self.bias = t.nn.Parameter(t.zeros(b))
            self.A, self.B = t.nn.Parameter(t.randn(2, a)), t.nn.Parameter(t.zeros(b, 2))

        def forward(self, x: Any) -> Any:
            return t.nn.functional.linear(x, self.weight, self.bias) + x @ self.A.T @ self.B.T

    t.manual_seed(0)
    net, film = t.nn.Sequential(Adapted(8, 16), t.nn.ReLU(), Adapted(16, 4)), viz.film()
    film.backward(t.nn.functional.cross_entropy(net(t.randn(128, 8)), t.randint(0, 4, (128,))))
    texts = {f.text for f in film.findings if f.kind in ("zero", "vanish")}
    assert texts == {"net.2.A and net.0.A get a gradient of exactly 0."}
    for name, p in net.named_parameters():
        if p.requires_grad:
            assert (float(p.grad.norm()) == 0.0) is (f"net.{name}" in ("net.0.A", "net.2.A"))
    assert not any(f.alarm for f in film.findings)


def test_batch_norm_in_eval_mode_is_seen_where_no_module_is_in_sight(torch: Any):
    def step(film: viz.Film, loss: Any) -> None:
        film.backward(loss)

    film, net = viz.film(), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).eval()
    step(film, net(torch.randn(5, 3)).sum())
    [found] = [f for f in film.findings if f.kind == "eval"]
    assert not found.alarm and found.text.startswith("NativeBatchNormBackward0 is in eval mode")
    step(film := viz.film(), net.train()(torch.randn(5, 3)).sum())
    assert "eval" not in {f.kind for f in film.findings}


@pytest.mark.filterwarnings("ignore:Using a target size", "error::RuntimeWarning")
@pytest.mark.parametrize("well, ill", [("torch", "torch"), ("people", "people_ill")])
def test_trainings_of_another_hand_are_quiet_or_named(torch: Any, well: str, ill: str):
    """Healthy and broken runs that were not used to set the thresholds."""
    healthy, wrong = (importlib.import_module(f"tests.film_trainings_{name}") for name in (well, ill))
    alarms, missed = {}, {}
    for name, make in healthy.HEALTHY.items():
        torch.manual_seed(7)
        alarms[name] = [str(f) for f in make().findings if f.alarm]
    for name, (make, kinds) in wrong.ILL.items():
        torch.manual_seed(7)
        found = make().findings
        if not kinds & {f.kind for f in found if f.alarm or f.kind in FACTS}:
            missed[name] = [str(f) for f in found]
    assert not {name: found for name, found in alarms.items() if found} and not missed
    assert len(healthy.HEALTHY) >= 15 and len(wrong.ILL) >= 17
