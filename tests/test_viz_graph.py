"""Reading and naming a live graph: every kind of graph, on minigrad and on PyTorch by the same code."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import minigrad
import viz
import viz.show.payload
from viz.read.graph import as_tensors, read
from viz.read.names import give_names

from .viz_gallery import GALLERY


def names_of(tensor, frame=None, **names):
    graph = read(as_tensors(tensor, "draw"))
    give_names(graph, frame, names)
    return {f.name: f.outputs[0].name for f in graph.functions}


def test_inputs_come_before_the_functions_that_use_them(t):
    w = t.tensor([1.0, 2.0], requires_grad=True)
    graph = read([(w * 2).exp().sum()])
    assert [f.name for f in graph.functions] == [
        "AccumulateGrad",
        "MulBackward0",
        "ExpBackward0",
        "SumBackward0",
    ]
    assert all(e.target.index < e.source.index for e in graph.edges if e.target)


def test_a_shared_node_is_read_once_and_keeps_both_edges(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    graph = read([y + y])
    assert len(graph) == 3
    assert len(graph.by_fn[y.grad_fn].users) == 2
    assert [(e.index, e.target.index) for e in graph.edges] == [(0, 0), (1, 0), (2, 1), (3, 1)]


def test_names_come_from_the_callers_variables(t):
    weights = t.tensor([1.0, 2.0], requires_grad=True)
    loss = (weights * 3).sum()
    assert names_of(loss, sys._getframe()) == {
        "AccumulateGrad": "weights",
        "MulBackward0": "weights * 3",
        "SumBackward0": "loss",
    }


def test_a_local_name_wins_over_a_global_one(t):
    inner = t.tensor([1.0], requires_grad=True)
    scope = SimpleNamespace(f_locals={"inner": inner}, f_globals={"outer": inner})
    assert names_of(inner * 2, scope)["AccumulateGrad"] == "inner"


def test_members_of_lists_dicts_and_objects_are_named_by_their_path(t):
    a, b, c = (t.tensor([1.0], requires_grad=True) for _ in range(3))
    scope = SimpleNamespace(f_locals={"ws": [a], "d": {"k": b}, "o": SimpleNamespace(w=c)}, f_globals={})
    graph = read([a + b + c])
    give_names(graph, scope)
    assert [f.outputs[0].name for f in graph.leaves] == ["ws[0]", "d['k']", "o.w"]


def test_names_given_win(t):
    w = t.tensor([1.0], requires_grad=True)
    z = w * 2
    assert names_of(z, sys._getframe(), weight=w, output=z) == {
        "AccumulateGrad": "weight",
        "MulBackward0": "output",
    }


def test_names_that_are_not_tensors_are_refused(t):
    w = t.tensor([1.0], requires_grad=True)
    with pytest.raises(TypeError, match="must give names to tensors"):
        viz.draw(w * 2, names={"w": 3})


def test_a_long_expression_becomes_a_numbered_temporary(t):
    x = t.tensor([1.0], requires_grad=True)
    z = ((x * 2).exp() + (x * 3).exp()).sum()
    graph = read([z])
    give_names(graph, sys._getframe())
    names = [f.outputs[0].name for f in graph.functions if f.edges]
    assert names == ["x * 2", "exp(x * 2)", "x * 3", "exp(x * 3)", "t1", "z"]


def test_the_value_of_a_temporary_that_a_node_keeps_is_known(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    s = ((x + 1) * (x + 2)).sum()
    graph = read([s])
    give_names(graph, None)
    kept = [f.outputs[0].value for f in graph.functions if f.name == "AddBackward0"]
    assert [v.array.tolist() for v in kept] == [[2.0, 3.0], [3.0, 4.0]]


def test_no_shape_is_claimed_of_losses_that_are_not_reduced(t):
    x = t.ones(2, 3, requires_grad=True)
    each = t.nn.functional.mse_loss(x * 2, t.zeros(2, 3), reduction="none")
    graph = read([each / 3])
    give_names(graph, None)
    (loss,) = (f.outputs[0] for f in graph.functions if f.name == "MseLossBackward0")
    assert loss.shape == (None if t is minigrad else (2, 3))  # PyTorch's nodes record it


def test_an_input_without_grad_is_named_where_the_node_keeps_it(t):
    x = t.tensor([[1.0, 2.0]])
    w = t.tensor([[1.0], [2.0]], requires_grad=True)
    y = x @ w
    graph = read([y])
    give_names(graph, sys._getframe())
    edge = graph.by_fn[y.grad_fn].edges[0]
    assert edge.target is None
    assert edge.label == "x"


def test_reading_a_graph_leaves_it_as_it_was(t):
    w = t.tensor([1.0, 2.0], requires_grad=True)
    z = (w * w).sum()
    viz.draw(z)
    z.backward()
    assert w.grad.tolist() == [2.0, 4.0]


def test_large_tensors_are_named_and_counted_but_not_copied(t):
    x = t.ones(1100, 1000, requires_grad=True)
    w = t.ones(1100, 1000, requires_grad=True)
    y = (x * w).sum()
    graph = read([y])
    give_names(graph, sys._getframe())
    (mul,) = (f for f in graph.functions if f.name == "MulBackward0")
    assert [(s.label, s.value, s.bytes) for s in mul.saved] == [
        ("w", None, 4_400_000),
        ("x", None, 4_400_000),
    ]
    assert mul.outputs[0].shape == (1100, 1000)


def test_a_drawing_keeps_no_graph_alive():
    import gc
    import weakref

    import minigrad

    def build():
        w = minigrad.tensor([1.0, 2.0], requires_grad=True)
        z = (w * w).sum()
        return viz.draw(z), weakref.ref(z.grad_fn)

    drawing, ghost = build()
    gc.collect()
    assert ghost() is None, drawing


@pytest.mark.parametrize("name", GALLERY)
@pytest.mark.parametrize("view", ["graph", "cards", "functions"])
def test_every_kind_of_graph_can_be_drawn(t, name, view):
    tensors, names = GALLERY[name](t)
    drawing = viz.draw(tensors, view=view, names=names)
    assert drawing.svg.startswith("<svg")
    again, names = GALLERY[name](t)
    assert viz.draw(again, view=view, names=names).svg == drawing.svg, (
        "the same program must give the same picture"
    )


# -- what cannot be drawn -------------------------------------------------------------------------------------------------


def test_something_that_is_not_a_tensor_is_refused():
    with pytest.raises(
        TypeError, match=r"viz\.draw needs a tensor .*, but got float\. .*before \.numpy\(\), \.item\(\)"
    ):
        viz.draw(3.0)
    with pytest.raises(TypeError, match="but got ndarray"):
        viz.draw(np.ones(3))
    with pytest.raises(TypeError, match="pass its result"):
        viz.draw(lambda x: x)


def test_an_empty_list_is_refused():
    with pytest.raises(ValueError, match="got no tensor"):
        viz.draw([])


def test_a_leaf_is_refused_with_what_to_do(t):
    with pytest.raises(ValueError, match=r"it is a leaf that requires grad.*z = \(w \* 2\)\.sum\(\)"):
        viz.draw(t.tensor([1.0], requires_grad=True))


def test_a_tensor_without_grad_is_refused_with_what_to_do(t):
    with pytest.raises(
        ValueError, match="requires_grad=True, and check that the computation does not run under no_grad"
    ):
        viz.trace(t.tensor([1.0]) * 2)


def test_a_view_that_does_not_exist_is_refused(t):
    z = t.tensor([1.0], requires_grad=True) * 2
    with pytest.raises(ValueError, match=r"no view 'tree'\. Choose one of: lanes, graph, cards, functions"):
        viz.draw(z, view="tree")
    with pytest.raises(ValueError, match="direction must be 'LR'"):
        viz.draw(z, direction="up")


class Fn:
    """A node that speaks the protocol, as a learner's own engine would."""

    def __init__(self, name, *inputs):
        self._name, self.next_functions = name, tuple((i, 0) for i in inputs)

    def name(self):
        return self._name


def tensor_of(fn):
    return SimpleNamespace(
        grad_fn=fn, requires_grad=True, shape=(), dtype="float64", output_nr=0, is_leaf=False
    )


def test_a_cycle_is_refused_with_its_node():
    a = Fn("LoopBackward")
    a.next_functions = ((a, 0),)
    with pytest.raises(ValueError, match="has a cycle: LoopBackward is reached from itself"):
        read([tensor_of(a)])


def test_a_node_without_next_functions_is_refused():
    class Bare:
        pass

    with pytest.raises(ValueError, match="Bare, has no next_functions"):
        read([tensor_of(Fn("AddBackward0", Bare()))])


def test_a_deep_chain_is_read_without_recursion(t):
    x = t.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(5_000):
        y = y + 1
    assert len(read([y])) == 5_001


def test_ids_are_positions_not_addresses(t):
    tensors, names = GALLERY["mlp"](t)
    source = viz.draw(tensors, names=names).dot.source
    assert not re.search(r"0x[0-9a-f]{6}", source)
    assert re.search(r"\bn0 \[", source)


def test_hooks_of_every_kind_are_found_and_marked():
    """PyTorch does not show the hooks of a node, so this part is minigrad's alone."""
    x = minigrad.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y.exp()
    before = viz.draw(z)
    assert not [i for i in before.picture.items if "hooked" in i.css] and 'class="hook"' not in before.svg
    x.register_post_accumulate_grad_hook(lambda leaf: None)
    y.register_hook(lambda grad: None)
    z.grad_fn.register_prehook(lambda grads: None)
    after = viz.draw(z, view="graph")
    exp = next(i for i in after.picture.items if i.kind == "function" and i.function.name == "ExpBackward0")
    assert "node-hooked" in exp.classes and "1 hook on the node" in exp.tooltip
    marked = {link.kind for link in after.picture.links if "hooked" in link.classes}
    assert marked == {"store", "backward"}
    assert after.svg.count('class="hook"') == 3
    for view in ("lanes", "cards"):
        assert viz.draw(z, view=view).svg.count('class="hook"') == 3


@pytest.mark.parametrize("view", ["graph", "cards", "functions"])
def test_a_hook_behind_a_sum_is_one_mark_on_the_node_where_the_parts_meet(t, view):
    x = t.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda grad: None)
    drawing = viz.draw(y.exp() + y.sin() + y * y, view=view)
    at = next(i for i in drawing.picture.items if "node-hooked" in i.classes)
    assert (
        at.function.name == "MulBackward0"
        and at.function.outputs[0].name == "y"
        and at.classes.count("node-hooked") == 1
    )
    assert drawing.svg.count('class="hook"') == 1 and "1 hook on the gradient" in at.tooltip


def test_a_custom_function_is_never_taken_for_a_built_in_one(t):
    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            return g

    x = t.tensor(2.0, requires_grad=True)
    y = Square.apply(x)
    drawing = viz.draw(y, view="graph")
    assert (
        "** 2" not in drawing.svg
        and "** 2" not in viz.draw(y).svg
        and "Square()" in drawing.svg
        and "Square(x)" in drawing.svg
    )
    assert "2 · x" not in drawing.svg and "grad * 2" not in drawing.svg


def test_a_hook_on_a_tensor_that_no_variable_holds_is_drawn_where_the_node_records_it():
    x = minigrad.ones(2, requires_grad=True)
    h = x * 2
    h.register_hook(lambda g: g)
    z = h.sum()
    del h
    drawing = viz.draw(z)
    made = drawing.graph.functions[1].outputs[0]
    assert made.hooks == 1
    assert "1 hook on the gradient" in drawing.svg


def test_a_hook_of_pytorch_is_drawn_while_its_tensor_is_held(torch):
    x = torch.ones(2, requires_grad=True)
    h = x * 2
    h.register_hook(lambda g: g)
    assert "1 hook on the gradient" in viz.draw(h.sum()).svg


@pytest.mark.parametrize("bias", [False, True])
def test_tied_weights_belong_to_the_module_that_uses_them(t, bias):
    class Words(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.emb, self.out = t.nn.Embedding(5, 3), t.nn.Linear(3, 5, bias=bias)
            self.out.weight = self.emb.weight

        def forward(self, i):
            return self.out(self.emb(i).tanh())

    net, product = Words(), "AddmmBackward0" if bias else "MmBackward0"
    scores = net(t.tensor([1, 2]))
    module = {f.name: f.module for f in viz.draw(scores.sum()).graph.functions if f.edges}
    assert module["EmbeddingBackward0"] == "net.emb"
    assert module["TBackward0"] == module[product] == "net.out"
    with viz.record():
        scores = net(t.tensor([1, 2]))
    module = {f.name: f.module for f in viz.draw(scores.sum()).graph.functions if f.edges}
    assert (module["EmbeddingBackward0"], module[product]) == ("net.emb", "net.out")


def test_constants_are_called_by_their_numbers_or_by_what_they_are(t):
    x = t.ones(4, 6, requires_grad=True)
    t.manual_seed(0)
    z = (t.nn.Dropout(0.5)(x) * t.arange(24.0).reshape(4, 6) * 0.25 * t.tensor([3.0])).sum()
    drawing = viz.draw(z, view="graph", names={"x": x})
    stub_lines = [[line.text for line in i.lines] for i in drawing.picture.items if i.outline == "stub"]
    assert stub_lines == [["mask", "(4, 6)"], ["constant", "(4, 6)"], ["0.25"], ["[3]", "(1,)"]]
    assert "mask: a constant" in drawing.svg


def test_an_end_that_was_not_given_is_none(torch):
    x = torch.ones(4, requires_grad=True)
    (f,) = (f for f in viz.draw(x[1:].sum()).graph.functions if f.name == "SliceBackward0")
    assert {s.name: s.text for s in f.saved} == {"dim": "0", "start": "1", "end": "None", "step": "1"}
    (f,) = (f for f in viz.draw(x.sum(-1) * 1).graph.functions if f.name == "SumBackward1")
    assert {s.name: s.text for s in f.saved}["dim"] == "(-1,)"
