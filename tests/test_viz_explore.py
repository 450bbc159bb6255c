"""Change a leaf and see what follows: values and gradients after each change, and the message when that fails."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

import minigrad as torch
import viz
from tests.conftest import requires_torch
from tests.test_viz_page import unpacked
from viz.show.explorer import Explore, explore


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
            for leaf in e.data["steps"]
            if leaf["accumulate"]
        }
        assert shown["x"]["values"][0] == pytest.approx(float(e.grads["x"]), rel=1e-5)


def test_arrays_have_a_field_for_each_entry():
    e = explore(lambda w: (w * w).sum(), w=[[1.0, 2.0], [3.0, 4.0]])
    fields = e.leaves["w"].fields
    assert [f.tooltip for f in fields] == ["w[0, 0]", "w[0, 1]", "w[1, 0]", "w[1, 1]"]
    fields[2].value = -5.0
    assert e.grads["w"].tolist() == [[2.0, 4.0], [-10.0, 8.0]]


def test_a_leaf_can_be_set_not_to_require_grad():
    e = explore(product, x=2.0, w=0.25)
    e.leaves["w"].grad.value = False
    assert e.grads["w"] is None and e.grads["x"] is not None
    assert [leaf["name"] for leaf in e.data["leaves"]] == ["x"]


def test_an_error_of_the_function_is_shown_and_the_picture_stands():
    e = explore(product, x=2.0, w=0.25)
    before = e.data
    for leaf in e.leaves.values():
        leaf.grad.value = False
    assert "requires_grad" in e.message.value and "role='alert'" in e.message.value
    e.leaves["x"].grad.value = True
    assert "alert" not in e.message.value and "x now requires grad." in e.message.value
    assert e.data != before


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
    with pytest.raises(KeyError, match="the leaves are x, w"):
        e.set(q=1.0)
    with pytest.raises(ValueError, match=r"has shape \(\)"):
        e.set(x=[1.0, 2.0])


# -- cutting an edge has the same effect on gradients as detach() at that place


def chain(x, w, b):
    y = x * w
    a = y + b
    c = y * a
    return c.sin()


def detached(where):
    """The program of ``chain`` with ``detach()`` at one edge."""

    def program(x, w, b):
        y = (x.detach() if where == "y → x" else x) * (w.detach() if where == "y → w" else w)
        a = (y.detach() if where == "a → y" else y) + (b.detach() if where == "a → b" else b)
        c = (y.detach() if where == "c → y" else y) * (a.detach() if where == "c → a" else a)
        return (c.detach() if where == "chain → c" else c).sin()

    return program


EDGES = ["y → x", "y → w", "a → y", "a → b", "c → y", "c → a"]


def explored(t, f=chain):
    return explore(f, x=t.tensor(2.0), w=t.tensor(3.0), b=t.tensor(1.0))


@pytest.mark.parametrize("edge", EDGES)
def test_an_edge_that_is_cut_does_what_detach_does(t, edge):
    e = explored(t)
    assert e.edges == [*EDGES, "chain → c"]
    e.cut(edge)
    leaves = {
        name: t.tensor(value, requires_grad=True) for name, value in {"x": 2.0, "w": 3.0, "b": 1.0}.items()
    }
    detached(edge)(**leaves).backward()
    for name, leaf in leaves.items():
        assert e.grads[name] == (None if leaf.grad is None else pytest.approx(leaf.grad.item(), rel=1e-6)), (
            name
        )


def test_where_everything_is_cut_nothing_arrives_and_the_picture_says_so(t):
    e = explored(t)
    e.cut("chain → c")
    assert e.grads == {"x": None, "w": None, "b": None}
    assert len(e.data["steps"]) == 1
    (sent,) = e.data["steps"][0]["outgoing"]
    assert sent["value"] is None
    assert sent["reason"] == "nothing, the edge is cut: as if c were detached here"
    kinds = {edge["kind"] for edge in e.data["edges"].values()}
    assert kinds == {"cut", "not_computed"}
    assert {n["name"] for n in e.data["nodes"].values() if "unreached" in n["classes"]} == set("xwbyac")
    assert "to reach 0 leaves" in e.data["start"]["sentence"]


def test_a_function_of_ones_own_behind_a_cut_makes_no_zeros(t):
    """PyTorch gives a custom Function zeros for a gradient that did not come; detach() would not even call it."""

    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    e = explore(lambda x, w: Twice.apply(x).exp() + w, x=t.tensor(1.0), w=t.tensor(1.0))
    e.cut("f → exp(Twice(x))")
    assert e.grads["x"] is None and e.grads["w"] == 1.0


def test_what_a_cut_changed_is_reported_and_can_be_undone(t):
    e = explored(t, lambda x, w, b: x * w + (x * b))
    before = e.grads
    assert before == {"x": 4.0, "w": 2.0, "b": 2.0}
    e.cut("f → x * b")
    assert "f → x * b is cut: nothing is sent along it, as if x * b were detached there." in sentence(e)
    assert (
        "f → x * (b + 1) is cut: nothing is sent along it, as if x * (b + 1) were detached there."
        in sentence(cut_of(t, lambda x, w, b: x * w + (x * (b + 1)), "f → x * (b + 1)"))
    )
    assert (
        ".grad of x was 4 and is now 3. .grad of b was 2 and is now None. No gradient reaches b and x * b any more."
        in sentence(e)
    )
    e.set(x=5.0)
    assert (
        sentence(e) == "x was 2 and is now 5. The result was 8 and is now 20. .grad of w was 2 and is now 5."
    )
    e.undo()
    e.undo()
    assert e.grads == before and e.back.disabled
    assert "A gradient reaches b and x * b again." in sentence(e)
    e.undo()  # nothing is left to be undone
    assert e.grads == before


def cut_of(t, f, edge):
    e = explored(t, f)
    e.cut(edge)
    return e


def sentence(e):
    return re.sub("<[^>]*>", "", html.unescape(e.message.value))


def test_a_click_in_the_picture_cuts_and_joins_and_nothing_else_gets_through():
    e = explored(torch)
    assert set(e.data["edge names"].values()) == set(e.edges)
    e._clicked({"edge": "c → a"})
    assert e.grads["b"] is None
    e._clicked({"edge": "c → a"})
    assert e.grads["b"] is not None
    e.back.click()
    assert e.grads["b"] is None
    e.back.click()
    assert e.grads["b"] is not None
    for nonsense in ({"edge": "no such edge"}, {}, "edge", None):
        e._clicked(nonsense)
    assert e.grads["b"] is not None


def test_a_slider_that_is_dragged_is_one_change_to_undo():
    e = explored(torch)
    for x in (2.1, 2.2, 2.3):
        e.leaves["x"].fields[0].value = x
    e.leaves["w"].grad.value = False
    e.undo()
    assert e.leaves["w"].grad.value and e.leaves["x"].values == pytest.approx(2.3)
    e.undo()
    assert e.leaves["x"].fields[0].value == 2.0


def test_two_edges_between_the_same_tensors_are_told_apart():
    e = explore(lambda x: x * x, x=torch.tensor(3.0))
    assert e.edges == ["f → x (self)", "f → x (other)"]
    e.cut("f → x (other)")
    assert e.grads["x"] == 3.0
    e.join()
    assert e.grads["x"] == 6.0


def test_a_cut_edge_that_is_not_there_any_more_is_reported():
    e = explored(torch)
    e.cut("a → b")
    e.leaves["b"].grad.value = False
    assert "The edge a → b that was cut is not in this graph." in sentence(e)
    e.leaves["b"].grad.value = True
    assert e.grads["b"] is None  # the edge came back, still cut


def test_edges_that_do_not_exist_are_refused_with_those_that_do():
    e = explored(torch)
    with pytest.raises(KeyError, match="no edge is called 'x → y'; the edges are y → x, y → w"):
        e.cut("x → y")
    with pytest.raises(KeyError, match="is not cut; cut edges: none"):
        e.join("y → x")


def test_a_saved_page_shows_the_cut_and_offers_none(tmp_path):
    e = explored(torch)
    e.cut("c → a")
    text = e.save(tmp_path / "cut.html").read_text(encoding="utf-8")
    content = unpacked(text)
    assert "cut" in {edge["kind"] for edge in content["data"]["edges"].values()}
    assert "cut" not in content["options"]


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
    with pytest.raises(
        RuntimeError, match=r"needs a single number to start from, but f has shape \(2,\).* such as f\.sum"
    ):
        explore(lambda x: x * 2, x=torch.tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match="cannot tell which framework"):
        explore(len, x=2.0)


@requires_torch
def test_pytorch_by_the_same_code(request):
    oracle = request.getfixturevalue("torch")
    e = explore(lambda x: x.sin(), x=oracle.tensor(1.0))
    assert isinstance(e, Explore) and isinstance(e.result, oracle.Tensor)
    e.set(x=0.0)
    assert e.grads["x"] == pytest.approx(1.0)


def test_where_no_widgets_run_it_is_shown_as_its_frame():
    """For example when a tool runs a notebook: no widget is opened, so none is asked for its address."""
    viz.widgets(False)
    try:
        shown = viz.explore(lambda x: x * x, x=2.0)._repr_mimebundle_()
    finally:
        viz.widgets("auto")
    assert set(shown) == {"text/html", "text/plain"} and "Explore" in shown["text/plain"]
