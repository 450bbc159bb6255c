"""Two passes side by side: what differs is marked in both, and the two move together."""

from __future__ import annotations

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


def test_the_two_panes_are_joined_without_the_kernel():
    both = viz.beside(branch(3.0), branch(5.0))
    link = both._link
    assert {link.source, link.target} == {(pane, "step") for pane in both.panes}
    assert {link.get_state()["_model_name"] for link in [both._link]} == {"LinkModel"}


def test_it_can_be_shown_in_three_ways():
    bundle = viz.beside(branch(3.0), branch(5.0))._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert bundle["text/html"].count("<iframe") == 2


def test_minigrad_and_pytorch_beside_each_other(torch):
    def program(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        return (x * x).exp().sum()

    both = viz.beside(program(mg), program(torch), labels=("minigrad", "PyTorch"))
    assert both.comparison.first is None
