"""Change a leaf and see what follows: values and gradients after each change, and what is said when that fails."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from tests.conftest import requires_torch
from viz.explorer import Explore, explore


def product(x, w):
    y = x * w
    return torch.tanh(y)


def test_sliders_change_values_and_gradients():
    e = explore(product, x=2.0, w=0.25)
    slider = e.leaves["x"].fields[0]
    for x in (2.0, -1.0, 0.5):
        slider.value = x
        y = np.tanh(x * 0.25)
        assert e.result.item() == pytest.approx(y, rel=1e-5)
        assert e.grads["x"] == pytest.approx(0.25 * (1 - y * y), rel=1e-5)
        assert e.grads["w"] == pytest.approx(x * (1 - y * y), rel=1e-5)
        shown = {
            leaf["accumulate"]["leaf"]: leaf["accumulate"]["after"]
            for leaf in e.pane.data["steps"]
            if leaf["accumulate"]
        }
        assert shown["x"]["values"][0] == pytest.approx(float(e.grads["x"]), rel=1e-5)


def test_arrays_have_a_field_for_each_entry():
    e = explore(lambda w: (w * w).sum(), w=[[1.0, 2.0], [3.0, 4.0]])
    fields = e.leaves["w"].fields
    assert [f.tooltip for f in fields] == ["w[0, 0]", "w[0, 1]", "w[1, 0]", "w[1, 1]"]
    fields[2].value = -5.0
    assert e.grads["w"].tolist() == [[2.0, 4.0], [-10.0, 8.0]]


def test_a_leaf_can_be_told_not_to_require_grad():
    e = explore(product, x=2.0, w=0.25)
    e.leaves["w"].grad.value = False
    assert e.grads["w"] is None and e.grads["x"] is not None
    assert [leaf["name"] for leaf in e.pane.data["leaves"]] == ["x"]


def test_an_error_of_the_function_is_shown_and_the_picture_stands():
    e = explore(product, x=2.0, w=0.25)
    before = e.pane.data
    for leaf in e.leaves.values():
        leaf.grad.value = False
    assert "requires_grad" in e.message.value and "role='alert'" in e.message.value
    e.leaves["x"].grad.value = True
    assert e.message.value == ""
    assert e.pane.data != before


def test_what_the_function_raises_is_escaped():
    def broken(x):
        if x.item() > 1:
            raise ValueError("<script>alert(1)</script>")
        return x * 2

    e = explore(broken, x=1.0)
    e.set(x=3.0)
    assert "<script>" not in e.message.value and "&lt;script&gt;" in e.message.value


def test_set_changes_several_leaves_at_once_and_moves_the_sliders():
    e = explore(product, x=2.0, w=0.25)
    e.set(x=100.0, w=0.0)
    assert e.leaves["x"].fields[0].value == 100.0
    assert e.grads["w"] == pytest.approx(100.0)
    with pytest.raises(KeyError, match="there are x, w"):
        e.set(q=1.0)
    with pytest.raises(ValueError, match=r"has shape \(\)"):
        e.set(x=[1.0, 2.0])


def test_its_repr_shows_leaves_and_result():
    assert repr(explore(product, x=2.0, w=0.25)) == "Explore(product: x=2, w=0.25 → 0.4621)"
    assert repr(explore(lambda x: x * 2, x=1.5)) == "Explore(f: x=1.5 → 3)"


def test_bad_input_says_what_to_do():
    with pytest.raises(TypeError, match="at least one leaf"):
        explore(product)
    with pytest.raises(TypeError, match="needs a function"):
        explore(3, x=2.0)
    with pytest.raises(TypeError, match="'x' must be a number"):
        explore(product, x="two", w=1.0)
    with pytest.raises(TypeError, match="cannot tell which framework"):
        explore(len, x=2.0)


@requires_torch
def test_pytorch_by_the_same_code(request):
    oracle = request.getfixturevalue("torch")
    e = explore(lambda x: x.sin(), x=oracle.tensor(1.0))
    assert isinstance(e, Explore) and isinstance(e.result, oracle.Tensor)
    e.set(x=0.0)
    assert e.grads["x"] == pytest.approx(1.0)
