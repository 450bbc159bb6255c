"""viz.costs: the bytes that a graph keeps are those that PyTorch's own hooks saw; viz.to_networkx."""

from __future__ import annotations

import builtins
import contextlib
import json
import time
import weakref
from collections.abc import Callable
from typing import Any

import networkx
import pytest

import minigrad
import viz
from tests.test_viz_random_modules import program
from viz.show.costs import seconds_text


def mlp(t: Any) -> tuple[Any, Any]:
    net = t.nn.Sequential(
        t.nn.Linear(6, 16), t.nn.Tanh(), t.nn.Sequential(t.nn.Linear(16, 16), t.nn.ReLU()), t.nn.Linear(16, 3)
    )
    return net, t.nn.functional.cross_entropy(net(t.randn(20, 6)), t.randint(0, 3, (20,)))


# -- memory ---------------------------------------------------------------------------------------------------------------


class Packed:
    """A saved tensor, alive for as long as a node keeps it."""

    def __init__(self, tensor: Any):
        self.tensor = tensor.detach()  # a node that kept its own result with its graph would never be freed


def seen_by_hooks(torch: Any, make: Callable[[], Any], leaves: Callable[[Any], Any]) -> tuple[Any, int]:
    """What ``make`` returns, and how many bytes its saved tensors keep alive besides its leaves. No code of viz runs here."""
    packed: weakref.WeakSet[Packed] = weakref.WeakSet()

    def pack(tensor: Any) -> Packed:
        one = Packed(tensor)
        packed.add(one)
        return one

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one.tensor):
        made = make()
    storages = [one.tensor.untyped_storage() for one in packed]
    held = {storage.data_ptr(): storage.nbytes() for storage in storages}
    for leaf in leaves(made):
        held.pop(leaf.untyped_storage().data_ptr(), None)
    return made, sum(held.values())


def of_numbers(result: Any) -> int:
    """The bytes of Python numbers, which PyTorch turns into tensors for its nodes without showing them to the hooks."""
    saved = [s for f in viz.draw(result).graph.functions for s in f.saved]
    return sum(
        {
            s.memory: s.bytes for s in saved if s.value is not None and not s.value.shape and s.bytes == 8
        }.values()
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_bytes_are_those_that_pytorchs_hooks_saw(torch, seed):
    (result, leaves), expected = seen_by_hooks(
        torch, lambda: program(torch, seed), lambda made: made[1].values()
    )
    assert viz.costs(result, names=leaves).total.kept == expected + of_numbers(result)


MODELS = {
    "mlp": mlp,
    "cnn": lambda t: t.nn.Sequential(
        t.nn.Conv2d(1, 4, 3), t.nn.BatchNorm2d(4), t.nn.ReLU(), t.nn.MaxPool2d(2),
        t.nn.Dropout(0.2), t.nn.Flatten(), t.nn.Linear(36, 5),
    ),
    "attention": lambda t: t.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
    "lstm": lambda t: t.nn.LSTM(5, 4),
}  # fmt: skip
INPUTS = {"cnn": (3, 1, 8, 8), "attention": (2, 6, 8), "lstm": (7, 2, 5)}


@pytest.mark.parametrize("name", MODELS)
def test_the_same_holds_for_layers_that_people_use(torch, name):
    def make() -> tuple[Any, Any]:
        if name == "mlp":
            return mlp(torch)
        net = MODELS[name](torch)
        out = net(torch.randn(INPUTS[name]))
        return net, (out[0] if isinstance(out, tuple) else out).sum()

    (_, loss), expected = seen_by_hooks(torch, make, lambda made: made[0].parameters())
    assert viz.costs(loss).total.kept == expected > 0
    assert viz.costs(viz.trace(loss)).total.kept == expected  # from a recorded trace


def test_what_two_nodes_keep_together_is_counted_once(t):
    x = t.ones(10, requires_grad=True)
    y = x.exp()  # exp keeps its result, which the product saves as well
    found = viz.costs((y * y).sum())
    kept = {cost.kind: cost.kept for cost in found.nodes.values()}
    assert kept == {"ExpBackward0": 40, "MulBackward0": 40, "SumBackward0": 0}
    assert found.total.kept == 40


def test_a_view_keeps_all_of_its_base_alive(t):
    x = t.ones(100, requires_grad=True)
    part = (x * 1).detach()[:3]
    z = (part * t.ones(3, requires_grad=True)).sum()
    assert viz.costs(z).total.kept == 400


def test_leaves_are_counted_apart(t):
    w, x = t.ones(8, 8, requires_grad=True), t.ones(4, 8)
    found = viz.costs((x @ w).sum())
    assert found.total.parameters == 256
    assert found.total.kept == 128  # x; w is a parameter


@pytest.mark.parametrize("recorded", [False, True])
def test_modules_have_sums_of_what_is_in_them(t, recorded):
    with viz.record() if recorded else contextlib.nullcontext():
        net, loss = mlp(t)
    assert next(net.modules()) is net
    found = viz.costs(loss)
    by_name = {cost.name: cost for cost in found.modules}
    assert [by_name[f"net.{k}"].parameters for k in (0, 3)] == [4 * (6 * 16 + 16), 4 * (16 * 3 + 3)]
    assert by_name["net.0"].kept == 20 * 6 * 4  # its input
    assert by_name["net.2"].kept >= by_name["net.2.0"].kept == 20 * 16 * 4
    assert by_name["net"].kept <= found.total.kept
    names = [cost.name for cost in found.modules]
    assert (
        names.index("net")
        < names.index("net.0")
        < names.index("net.2")
        < names.index("net.2.0")
        < names.index("net.3")
    )


def test_after_a_pass_it_is_known_only_where_viz_ran_it(t):
    _, loss = mlp(t)
    kept = viz.costs(loss).total.kept
    viz.step(loss)
    after = viz.costs(loss)
    assert after.total.kept == kept and after.total.backward > 0
    _, loss = mlp(t)
    loss.backward()
    with pytest.raises(ValueError, match="so the cost of this graph is no longer known"):
        viz.costs(loss)


# -- time -----------------------------------------------------------------------------------------------------------------


def test_times_are_those_of_the_recorded_calls_and_of_the_rules(t):
    class Slow(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            time.sleep(0.02)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            time.sleep(0.03)
            return grad * 2

    class Layer(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = t.nn.Linear(3, 3)

        def forward(self, x):
            return Slow.apply(self.inner(x))

    net = t.nn.Sequential(Layer(), t.nn.Linear(3, 3))
    with viz.record():
        loss = net(t.ones(2, 3)).sum()
    found = viz.costs(viz.trace(loss))
    by_name = {cost.name: cost for cost in found.modules}
    assert by_name["net.0"].forward > by_name["net.0.inner"].forward + 0.015 >= 0.015
    assert found.total.forward >= by_name["net.0"].forward
    assert by_name["net.0"].backward > 0.03 and by_name["net.0.inner"].backward is not None
    slow = next(cost for cost in found.nodes.values() if cost.kind == "SlowBackward")
    assert slow.backward > 0.03
    assert viz.costs(mlp(t)[1]).total.forward is None  # not measured


# -- in words -------------------------------------------------------------------------------------------------------------


def test_it_prints_a_table_and_shows_one(t):
    with viz.record():
        net, loss = mlp(t)
    assert next(net.modules()) is net  # the variable identifies the classes
    found = viz.costs(loss)
    lines = str(found).splitlines()
    assert lines[0].split() == ["module", "functions", "parameters", "kept", "for", "backward", "forward"]
    assert any(line.split()[:2] == ["net.0", "(Linear)"] for line in lines), lines
    assert lines[-1].startswith(("total", "Memory that several"))
    assert repr(found).startswith("Costs(loss: ") and len(repr(found)) < 110
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"] == repr(found) and bundle["text/html"].count("<tr>") == len(found.rows()) + 2


def test_without_modules_the_nodes_that_keep_most_are_listed(t):
    x = t.ones(10, requires_grad=True)
    text = str(viz.costs((x.exp() * x).sum()))
    assert text.startswith("node") and "ExpBackward0" in text and "SumBackward0" not in text


@pytest.mark.parametrize("by", ["kept", "forward", "backward"])
@pytest.mark.parametrize("fold", [None, False, 1])
def test_a_picture_says_on_each_box_what_it_costs_and_is_darkest_where_it_is_most(t, by, fold):
    with viz.record():
        net, loss = mlp(t)
    assert next(net.modules()) is net
    found = viz.costs(viz.trace(loss))
    drawing = found.draw(by, fold=fold)
    heat = {}
    for item in drawing.picture.items:
        (cost_line,) = [line.text for line in item.lines if line.css == "cost"] or [None]
        levels = [css for css in item.classes if css.startswith("heat")]
        assert (cost_line is None) == (not levels)
        if cost_line is not None:
            heat[item.name] = int(levels[0].removeprefix("heat"))
            assert cost_line.startswith("keeps ") == (by == "kept") and item.width > 8 * len(cost_line) * 0.5
            assert max(line.y for line in item.lines) < item.height
    assert max(heat.values()) == 5 and drawing.svg
    if by == "kept" and fold is False:
        kept = {cost.name: cost.kept for cost in found.nodes.values()}
        most = max(kept.values())
        assert heat == {name: -(-5 * n // most) for name, n in kept.items() if n}


def test_a_picture_of_what_nobody_has_measured_is_refused(t):
    _, loss = mlp(t)
    found = viz.costs(loss)
    with pytest.raises(ValueError, match="must be 'kept', 'forward' or 'backward', not 'time'"):
        found.draw("time")
    with pytest.raises(
        ValueError, match=r"No forward times are known: run the forward pass inside viz.record\(\)"
    ):
        found.draw("forward")
    with pytest.raises(ValueError, match=r"No backward times are known: call viz.costs\(viz.trace\(loss\)\)"):
        found.draw("backward")


def test_seconds_in_words():
    assert [seconds_text(s) for s in (None, 35e-6, 0.0012, 2.1)] == ["–", "35 µs", "1.20 ms", "2.10 s"]


# -- networkx -------------------------------------------------------------------------------------------------------------


def test_the_graph_goes_to_networkx_from_the_leaves_to_the_result(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    z = (y * x).sum()
    made = viz.to_networkx(z)
    (root,) = [n for n, about in made.nodes(data=True) if about["root"]]
    (leaf,) = [n for n, about in made.nodes(data=True) if about["kind"] == "accumulate"]
    assert made.nodes[root] | {"dtype": None} == {
        "name": "SumBackward0", "kind": "function", "tensor": "z", "shape": [], "dtype": None, "module": None,
        "kept": 0, "root": True,
    }  # fmt: skip
    assert made.nodes[leaf]["tensor"] == "x" and made.nodes[leaf]["shape"] == [2]
    assert networkx.ancestors(made, root) == set(made) - {root}
    assert list(networkx.topological_sort(made))[-1] == root
    names = [made.nodes[n]["name"] for n in networkx.shortest_path(made, leaf, root)]
    assert names == ["AccumulateGrad", "MulBackward0", "SumBackward0"]
    assert sum(about["kept"] for _, about in made.nodes(data=True)) == 16  # exp(x), which two nodes keep
    inputs = {about["input"] for _, _, about in made.in_edges(2, data=True)}
    assert inputs == {"self", "other"}
    again = networkx.node_link_graph(json.loads(json.dumps(networkx.node_link_data(made))))
    assert networkx.utils.graphs_equal(again, made)


def test_without_networkx_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def none(name, *rest, **more):
        if name == "networkx":
            raise ImportError("No module named 'networkx'")
        return real(name, *rest, **more)

    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    monkeypatch.setattr(builtins, "__import__", none)
    with pytest.raises(ImportError, match="pip install networkx"):
        viz.to_networkx(minigrad.ones(2, requires_grad=True).sum())
