"""The stepper object: its repr, its three forms, and that it moves without the kernel."""

from __future__ import annotations

import json
import re

import pytest

import minigrad as mg
import viz
from viz.show.stepper import Stepper


def diamond() -> mg.Tensor:
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x
    a = y + 1
    b = y * 2
    c = a + b
    return c


def test_its_repr_is_one_short_line_that_says_where_it_stands():
    z = diamond()
    stepper = viz.step(z)
    assert repr(stepper) == "Stepper(z: 5 nodes, step 0 of 5; .show() opens it)"
    stepper.step = 3
    assert repr(stepper) == "Stepper(z: 5 nodes, step 3 of 5; .show() opens it)"


@pytest.mark.parametrize("view", ["graph", "cards", "functions"])
def test_the_views_count_the_same_nodes(view: str):
    z = diamond()
    assert repr(viz.step(z, view=view)) == "Stepper(z: 5 nodes, step 0 of 5; .show() opens it)"


def test_a_long_or_broken_name_does_not_break_the_repr():
    z = diamond()
    line = repr(viz.step(z, names={"a\n" + "b" * 10_000: z}))
    assert "\n" not in line and len(line) < 110


def test_stepping_runs_the_real_backward_pass_once():
    x = mg.tensor(3.0, requires_grad=True)
    z = x * x
    viz.step(z)
    assert x.grad.item() == 6.0


def test_a_step_out_of_range_is_refused_with_the_range():
    stepper = viz.step(diamond())
    with pytest.raises(ValueError, match="between 0 and 5"):
        stepper.step = 6
    assert stepper.step == 0


def test_the_pane_has_all_of_its_controls_and_needs_no_other_widget():
    stepper = viz.step(diamond())
    assert stepper.children == (stepper.pane,)
    stepper.step = 2
    assert stepper.pane.step == 2


def test_it_can_be_shown_in_three_ways():
    stepper = viz.step(diamond())
    bundle = stepper._repr_mimebundle_()
    assert set(bundle) == {
        "application/vnd.jupyter.widget-view+json",
        "text/html",
        "text/plain",
        "image/svg+xml",
    }
    assert bundle["text/plain"] == repr(stepper)
    html = bundle["text/html"]
    assert re.match(
        r'<style>@media print[^<]*</style><img class="viz-still" src="data:image/svg\+xml;base64,', html
    )
    assert html.index("<img") < html.index("<iframe")
    assert 'sandbox="allow-scripts"' in html  # no origin, no way out


def test_the_same_program_gives_the_same_html():
    def build():
        z = diamond()
        return viz.step(z)._repr_mimebundle_()["text/html"]

    assert build() == build()


def test_the_payload_is_strict_json():
    x = mg.tensor([0.0, 1.0], requires_grad=True)
    z = (x.log() * 0).sum()  # -inf, nan
    text = viz.step(z).pane.data

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    json.loads(text, parse_constant=refuse)
    assert '"nan"' in text or '"-inf"' in text


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: 3.0, TypeError, "needs a tensor"),
        (lambda: mg.tensor([1.0, 2.0]), Exception, "requires_grad"),
        (lambda: mg.tensor([1.0, 2.0], requires_grad=True) * 2, RuntimeError, "gradient="),
    ],
    ids=["not a tensor", "no graph", "not a scalar"],
)
def test_what_cannot_be_stepped_says_what_to_do(make, error, says):
    with pytest.raises(error, match=says):
        viz.step(make())


def test_real_pytorch_graphs_step_by_the_same_code(torch):
    x = torch.tensor([[1.0, 2.0, 3.0]])
    w = torch.tensor([[1.0], [-2.0], [3.0]], requires_grad=True)
    z = (x @ w).mean()
    stepper = viz.step(z)
    assert isinstance(stepper, Stepper)
    assert (
        stepper.data["steps"][-1]["accumulate"]["after"]["values"]
        == w.grad.ravel().tolist()
        == [1.0, 2.0, 3.0]
    )


def test_forward_steps_come_first_and_are_counted():
    x = mg.tensor(2.0, requires_grad=True)
    with viz.record():
        y = x * x
        z = y.sin()
    stepper = viz.step(z, forward=True)
    assert (
        repr(stepper) == "Stepper(z: 3 nodes, step 0 of 6; .show() opens it)"
    )  # 2 operations, the turn, 3 nodes
    stepper.step = 6


def test_a_closed_box_sends_its_contents_on_request(monkeypatch):
    h = mg.ones(2, 3)
    for _ in range(140):  # with fewer nodes, everything would be sent at once
        h = (h @ mg.ones(3, 3, requires_grad=True)).tanh()
    stepper = viz.step(h.sum(), check=False)
    assert stepper.pane.options == {"opens": True}
    output = []
    monkeypatch.setattr(stepper.pane, "send", output.append)
    closed = list(stepper.closed)
    assert len(closed) >= 2
    stepper._answer({"open": closed[0]})
    stepper._answer({"open": closed[0]})  # a second request sends nothing new
    stepper._answer({"open": "of another pane"})
    assert [functions["open"] for functions in output] == closed[:1]
    inside = json.loads(output[0]["inside"])
    assert [n["name"] for n in inside["nodes"].values() if n["kind"] == "fold"][:2] == [
        "1 of 138",
        "2 of 138",
    ]
    assert set(inside["folds"].values()) <= set(stepper.closed) and closed[0] not in stepper.closed
    assert viz.step((mg.ones(2, requires_grad=True) * 2).sum()).pane.options == {}
