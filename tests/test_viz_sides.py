"""Two passes side by side: what differs is marked in both, and the two move together."""

from __future__ import annotations

import json

import minigrad as mg
import viz


def branch(scale: float) -> mg.Tensor:
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x
    z = y * scale
    return z.sin()


def test_equal_passes_carry_no_mark():
    both = viz.beside(branch(3.0), branch(3.0))
    assert both.comparison.first is None
    assert [d["differs"] for d in both.data] == [{}, {}]
    assert "no difference" in repr(both) and repr(both).startswith("Beside(")


def test_each_step_that_differs_is_marked_on_both_sides():
    both = viz.beside(branch(3.0), branch(5.0), labels=("three", "five"))
    left, right = (d["differs"] for d in both.data)
    assert set(left) == set(right) and min(map(int, left)) == both.comparison.first.left.number
    assert {d["first"] for d in both.data} == {both.comparison.first.left.number}
    assert "three" in repr(both)


def test_both_passes_are_in_one_pane_which_needs_no_kernel():
    both = viz.beside(branch(3.0), branch(5.0), labels=("three", "five"))
    sent = json.loads(both.pane.data)["beside"]
    assert [one["title"] for one in sent] == [data["title"] for data in both.data]
    assert both.pane.options == {"labels": ["three", "five"], "said": both.comparison.sentence}


def test_it_can_be_shown_in_three_ways():
    bundle = viz.beside(branch(3.0), branch(5.0))._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert bundle["text/html"].count("<iframe") == 1


def test_minigrad_and_pytorch_beside_each_other(torch):
    def program(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        return (x * x).exp().sum()

    both = viz.beside(program(mg), program(torch), labels=("minigrad", "PyTorch"))
    assert both.comparison.first is None
