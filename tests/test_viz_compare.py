"""Two passes beside each other: the first difference is found, and equal passes are called equal."""

from __future__ import annotations

import minigrad
import viz
from viz.compare import compare


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


def test_a_branch_that_only_one_pass_took_is_shown_as_such():
    comparison = compare(traced(minigrad), traced(minigrad, branch=True), labels=("if", "else"))
    assert [p.difference for p in comparison.pairs if p.left is None or p.right is None] == [
        "only if has this step here",
        "only else has this step here",
    ]


def test_temporaries_without_a_name_are_matched_by_what_they_compute():
    w = minigrad.tensor([1.0, -2.0], requires_grad=True)
    comparison = compare(viz.trace((w * w).sum()), viz.trace((w * 3).sum()))
    assert all(p.left and p.right for p in comparison.pairs)
    assert comparison.first.left.name == "MulBackward0"
    assert comparison.first.difference == "sends self [1, -2] and [3, 3]"


def test_the_page_escapes_names():
    x = minigrad.tensor(2.0, requires_grad=True)
    comparison = compare(*(viz.trace(x * 3, names={"<script>alert(1)</script>": x}) for _ in range(2)))
    page = comparison._repr_mimebundle_()["text/html"]
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
