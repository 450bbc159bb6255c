"""Two passes side by side: the first difference is found, and equal passes are called equal."""

from __future__ import annotations

import re

import minigrad
import viz
from notebooks.exercises import tiny_engine
from viz.run.compare import compare


def program(t, wrong=False, branch=False):
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    if wrong:
        y.register_hook(lambda grad: grad * 2)
    a = y.exp() if branch else y + 1
    z = a * 3
    return z, {"x": x, "y": y, "a": a, "z": z}


def traced(t, **kinds):
    z, names = program(t, **kinds)
    return viz.trace(z, names=names)


def test_minigrad_and_torch_take_the_same_steps_with_the_same_numbers(torch):
    comparison = compare(traced(minigrad), traced(torch), labels=("minigrad", "torch"))
    assert comparison.first is None
    assert repr(comparison) == "Comparison(minigrad and torch: no difference)"
    assert comparison.sentence == "Both passes are the same: 4 steps, every gradient equal."


def test_the_first_difference_is_named_with_both_numbers():
    comparison = compare(traced(minigrad), traced(minigrad, wrong=True))
    assert comparison.first.left.tensor == "y"
    assert comparison.sentence == "The first difference is at step 3 (MulBackward0 of y): receives 3 and 6."
    assert "≠  MulBackward0 of y: 3" in str(comparison)


def test_an_operation_in_the_place_of_another_is_one_pair():
    comparison = compare(traced(minigrad), traced(minigrad, branch=True), labels=("if", "else"))
    assert all(p.left and p.right for p in comparison.pairs)
    assert comparison.first.difference == "is AddBackward0 here and ExpBackward0 there"
    assert comparison.sentence.endswith("The forward passes already differ: a is 5 and 54.6.")


def test_a_step_that_only_one_pass_has_is_shown_as_such():
    def branch(longer):
        x = minigrad.tensor(2.0, requires_grad=True)
        y = x * x
        return (y.sin().exp() if longer else y.exp()) * 3

    comparison = compare(branch(True), branch(False), labels=("if", "else"))
    alone = [p for p in comparison.pairs if p.right is None]
    assert [(p.left.name, p.difference) for p in alone] == [("SinBackward0", "only “if” has this step")]
    assert [p.left.name for p in comparison.pairs] == [
        "MulBackward0",
        "ExpBackward0",
        "SinBackward0",
        "MulBackward0",
        "AccumulateGrad",
    ]


def constants(t, k, layers=3):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    w = t.tensor([0.5, -0.5], requires_grad=True)
    for _ in range(layers):
        x = (x * w + k).sin()
    return (x * x).sum()


def test_programs_that_differ_in_a_constant_match_step_for_step(t):
    with viz.record():
        left = constants(t, 1.0)
    with viz.record():
        right = constants(t, 1.5)
    comparison = compare(left, right)
    assert all(p.left and p.right and p.left.name == p.right.name for p in comparison.pairs)
    assert comparison.first.left.number == 2  # the sum sends ones in both
    assert "The forward passes already differ: t1 + 1 (t1 + 1.5 on the other side) is " in comparison.sentence


def test_a_pass_with_one_layer_more_has_only_that_layer_more():
    comparison = compare(constants(minigrad, 1.0, 2), constants(minigrad, 1.0, 3))
    alone = [p.right.name for p in comparison.pairs if p.left is None]
    assert sorted(alone[:3]) == ["AddBackward0", "MulBackward0", "SinBackward0"]


def test_tensors_of_other_names_match_by_where_they_stand():
    x, w = (minigrad.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    p, q = (minigrad.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    left = viz.trace((x * w).sin(), names={"x": x, "w": w})
    right = viz.trace((p * q).sin(), names={"p": p, "q": q})
    assert compare(left, right).first is None


def test_names_that_both_know_win_over_places():
    x, w = (minigrad.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    names = {"x": x, "w": w}
    left = viz.trace(x * w, names=names)
    x.grad = w.grad = None
    pairs = compare(left, viz.trace(w * x, names=names)).pairs
    assert {p.left.tensor for p in pairs if p.left} == {"x * w", "w", "x"}
    assert all(p.left.tensor == p.right.tensor for p in pairs[1:] if p.left and p.right)


def test_another_order_with_the_same_numbers_is_reported_as_an_order(monkeypatch):
    def diamond(t, turned):
        x = t.Tensor(2.0, requires_grad=True) if t is tiny_engine else t.tensor(2.0, requires_grad=True)
        y = x * x
        a = y + t.Tensor(1.0) if t is tiny_engine else y + 1
        b = y * t.Tensor(2.0) if t is tiny_engine else y * 2
        return viz.trace(b + a if turned else a + b, names={"x": x, "y": y, "a": a, "b": b})

    monkeypatch.setattr(tiny_engine, "choose", lambda ready: ready.pop())
    comparison = compare(diamond(tiny_engine, True), diamond(minigrad, True), labels=("mine", "minigrad"))
    assert [p.difference for p in comparison.pairs if p.difference] == [
        "mine fires it at step 3",
        "minigrad fires it at step 2",
    ]
    assert comparison.sentence == (
        "Every number is the same, but the order is not: at step 2 (MulBackward0 of b), mine fires it at step 3."
    )


def test_temporaries_without_a_name_are_matched_by_what_they_compute():
    w = minigrad.tensor([1.0, -2.0], requires_grad=True)
    comparison = compare(viz.trace((w * w).sum()), viz.trace((w * 3).sum()))
    assert all(p.left and p.right for p in comparison.pairs)
    assert comparison.first.left.name == "MulBackward0"
    assert comparison.first.difference == "sends to w [1, -2] and [3, 3]"


def test_the_page_escapes_names():
    x = minigrad.tensor(2.0, requires_grad=True)
    comparison = compare(*(viz.trace(x * 3, names={"<script>alert(1)</script>": x}) for _ in range(2)))
    page = comparison._repr_mimebundle_()["text/html"]
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert re.findall("<th [^>]*>([^<]*)</th>", page) == ["", "left", "right", "difference"]


def test_a_gradient_that_only_one_side_computes_is_reported_with_its_tensor():
    x, w = (minigrad.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    left = viz.trace((x * w).sin(), names={"x": x, "w": w})
    right = viz.trace((x.detach() * w).sin(), names={"x": x, "w": w})
    assert "sends to x " in compare(left, right).first.difference
    assert compare(left, right).first.difference.endswith(" and nothing")
