"""What is folded, framed and cut: modules, time steps, detached tensors."""

from __future__ import annotations

import contextlib
import re

import pytest

import viz
import viz.show.payload
from viz.picture.blocks import tree
from viz.picture.choose import BOXES


def test_the_parts_of_a_module_stand_in_a_frame(t):
    m = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 2))
    loss = (m(t.ones(5, 3)) ** 2).mean()
    for view in ("graph", "cards", "functions"):
        drawing = viz.draw(loss, view=view)
        frames = dict(drawing.picture.clusters)
        # in a Sequential, the module between two layers is known, too; in the functions view it is one box, without a frame
        assert [f for f in frames if f != "m.1: Tanh"] == ["m.0: Linear", "m.2: Linear"]
        assert ("m.1: Tanh" in frames) == (view == "graph")
        functions = {i.function.name for i in frames["m.2: Linear"] if i.kind == "function"}
        assert functions == {
            "TBackward0",
            "AddmmBackward0",
        }  # without the functions of the loss
        assert [i.name for i in frames["m.0: Linear"] if i.kind == "leaf"] == ["m.0.weight", "m.0.bias"]
        for (_, items), (x, y, w, h, base) in zip(
            drawing.picture.clusters, drawing.places.frames, strict=True
        ):
            assert y < base < y + h
            for item in items:
                left, top = drawing.places.items[item.id]
                assert x <= left and left + item.width <= x + w and y <= top and top + item.height <= y + h
        assert drawing.svg.count('class="cluster"') == len(frames)


def test_a_module_that_is_used_twice_has_a_frame_for_each_call(t):
    layer = t.nn.Linear(3, 3)
    z = layer(layer(t.ones(5, 3)).tanh()).sum()
    frames = dict(viz.draw(z).picture.clusters)
    assert list(frames) == ["layer, call 1: Linear", "layer, call 2: Linear"]
    for items in frames.values():
        # the leaves are shared, so they are outside; tanh has no parameters
        assert {i.function.name for i in items} == {"TBackward0", "AddmmBackward0"}


def test_folding_by_module_takes_what_is_the_modules_and_no_more(t):
    m = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 2))
    loss = (m(t.ones(5, 3)) ** 2).mean()
    items = viz.draw(loss, fold=True).picture.items
    assert [(i.kind, i.name if i.kind == "fold" else i.function.name) for i in items] == [
        ("fold", "m.0"),
        ("function", "TanhBackward0"),
        ("fold", "m.2"),
        ("function", "PowBackward0"),
        ("function", "MeanBackward0"),
    ]


def test_a_module_of_one_function_is_folded_with_its_parameters(t):
    m = t.nn.Sequential(t.nn.Conv2d(1, 2, 3), t.nn.ReLU())
    items = viz.draw(m(t.ones(1, 1, 5, 5)).sum(), fold=True).picture.items
    assert [(i.kind, i.lines[1].text) for i in items if i.kind == "fold"] == [
        ("fold", "Conv2d, 20 parameters, 80 B")
    ]
    assert len(items) == 3


def test_the_box_of_a_module_holds_everything_between_its_functions(t):
    """tanh has no parameters, but is on the path between two functions that read parameters of the module."""

    class Tied(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b = t.nn.Parameter(t.ones(3, 3)), t.nn.Parameter(t.ones(3))

        def forward(self, x):
            return (x @ self.w).tanh() + self.b

    tied = Tied()
    z = tied(t.ones(2, 3)).sum()
    (box,) = (i for i in viz.draw(z, fold=True).picture.items if i.kind == "fold")
    assert [f.name for f in box.members if f.edges] == ["MmBackward0", "TanhBackward0", "AddBackward0"]
    assert dict(viz.draw(z).picture.clusters).keys() == {"tied: Tied"}


def test_no_box_is_on_a_cycle_with_another(t):
    """Two modules take turns: a single box for each would come both before and after the other."""

    class Two(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = t.nn.Linear(3, 3), t.nn.Linear(3, 3)

    a, b = Two(), Two()
    h = b.last(a.last(b.first(a.first(t.ones(2, 3)).exp()).exp()).exp())
    data = viz.show.payload.payload(h.sum(), fold=0)
    assert_no_cycle(data)
    names = [n["name"] for n in data["nodes"].values() if n["kind"] == "fold"]
    assert sorted(names) == ["a, part 1", "a, part 2", "b, part 1", "b, part 2"]


def assert_no_cycle(picture):
    users = {e["to"]: set() for e in picture["edges"].values()}
    for e in picture["edges"].values():
        users[e["to"]].add(e["from"])
    while users:
        done = [box for box, those in users.items() if those.isdisjoint(users)]
        assert done, f"a circle among {sorted(users)}"
        for box in done:
            del users[box]


def unrolled(t, times):
    cell, out = t.nn.Linear(4, 4), t.nn.Linear(4, 1)
    h = t.ones(1, 4)
    for _ in range(times):
        h = cell(h).tanh()
    return out(h).mean(), {"cell.weight": cell.weight, "cell.bias": cell.bias, "out.weight": out.weight}


def test_time_steps_are_folded_where_there_are_many(t):
    loss, names = unrolled(t, 100)
    drawing = viz.draw(loss, names=names)
    assert len(drawing.graph.functions) > 250
    folds = [(i.name, i.lines[1].text) for i in drawing.picture.items if i.kind == "fold"]
    assert folds == [("cell ×100", "cell"), ("out", "2 T, Addmm, View, …")] or folds[0] == (
        "cell ×100",
        "cell",
    )
    assert "nodes are folded into 2 boxes. fold=False draws each of them." in drawing.picture.notes[-1]
    assert not [i for i in viz.draw(loss, names=names, fold=False).picture.items if i.kind == "fold"]
    assert not [i for i in viz.draw(loss, view="functions", names=names).picture.items if i.kind == "fold"]


def test_modules_that_are_called_often_are_folded_with_their_repeats(t):
    loss, names = unrolled(t, 100)
    titles = [i.name for i in viz.draw(loss, names=names, fold=True).picture.items if i.kind == "fold"]
    assert titles == ["cell ×100", "out"]


def test_boxes_show_the_class_of_their_module(t):
    """Without a recording, the class comes from the modules that the caller can name."""
    net = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.Tanh(), t.nn.Linear(3, 1))
    items = viz.draw(net(t.ones(1, 2)).sum(), fold=True).picture.items
    second_lines = {i.name: i.lines[1].text.split(":")[0] for i in items if i.kind == "fold"}
    assert second_lines == {"net.0": "Linear, 9 parameters, 36 B", "net.2": "Linear, 4 parameters, 16 B"}


def lstm_by_hand(t, steps=3):
    w, b = [t.ones(3, 3, requires_grad=True) for _ in range(4)], t.zeros(3, requires_grad=True)
    h = c = t.ones(2, 3)
    for _ in range(steps):
        i, f, o, g = (h @ v + b for v in w)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    return h.sum()


def branches(t):
    h = t.ones(4, requires_grad=True)
    for _ in range(3):
        h = h.sin().cos().tanh() + h.exp().sin().cos()
    return h.sum()


@pytest.mark.parametrize("program", [lstm_by_hand, branches])
def test_for_a_small_window_a_graph_is_folded_into_few_boxes_none_on_a_cycle(t, program):
    data = viz.show.payload.payload(program(t))
    few = [p for p in [data, *data["pictures"]] if p["fold"]][-1]
    nodes = {ident for ident, node in few["nodes"].items() if node["kind"] in ("fold", "function")}
    assert len(nodes) <= (BOXES if few["fold"] == "module" else BOXES // 3)
    assert_no_cycle(few)
    assert set(few["insides"]) == set(few["folds"].values())
    for box, inside in few["insides"].items():
        inner = {f for f, where in inside["folds"].items()} | {
            n for n in inside["nodes"] if n.startswith("f")
        }
        assert inner == {f for f, where in few["folds"].items() if where == box}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("view", ["graph", "cards", "functions"])
def test_detach_is_a_cut_from_what_it_was_called_on(t, view, recorded):
    """This is known if a node saved both tensors, or a recording saw them: they share memory, and one has no graph."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with viz.record() if recorded else contextlib.nullcontext():
        h = (x * 2).tanh()
        z = ((h - x) - h.detach() if recorded else h * h.detach()).sum()
    drawing = viz.draw(z, view=view)
    (cut,) = [link for link in drawing.picture.links if link.kind == "cut"]
    assert cut.head.name == "h" and "detach" in cut.tooltip
    assert view == "functions" or cut.tail.name == "h.detach()"
    sent = [s for step in viz.trace(z) for s in step.sent if s.edge.detached]
    assert [s.reason for s in sent] == ["cut: h.detach() was detached from h"]


def test_what_only_looks_like_a_detached_tensor_is_not_taken_for_one(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    h = x * 2
    same = t.tensor([2.0, 4.0])  # the same numbers elsewhere
    part = h.detach()[:1]  # the same place, another shape: no output of the graph
    copied = h.detach().clone()
    with viz.record():
        z = (h * same + h * copied + x[:1] * part + (h - t.tensor([2.0, 4.0]))).sum()
    assert not [link for link in viz.draw(z).picture.links if link.kind == "cut"]
    assert [e.detached for e in viz.draw(z).graph.edges if e.label == "copied"] == [None]


def test_a_tensor_detached_from_another_graph_has_its_name(t):
    x, w = (t.tensor([v], requires_grad=True) for v in (1.0, 2.0))
    h1 = (x * 2).tanh()
    z = (h1.detach() * w).sum()
    assert [e.label for e in viz.draw(z).graph.edges if e.target is None] == ["h1.detach()"]
    assert not [link for link in viz.draw(z).picture.links if link.kind == "cut"]


def test_the_caption_of_a_frame_is_in_sight_whatever_the_direction(t):
    m = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 2))
    data = viz.show.payload.payload((m(t.ones(5, 3)) ** 2).mean())
    seen = set()
    for picture in (data, *data["pictures"]):
        captions = re.findall(r'<text class="caption" x="([\d.]+)" y="([\d.]+)"[^>]*>m\.', picture["svg"])
        seen |= {picture["direction"]} if captions else set()
        for x, y in captions:
            for node in picture["nodes"].values():
                left, top, wide, tall = node["at"]
                assert not (left < float(x) < left + wide and top < float(y) - 4 < top + tall), (
                    picture["direction"],
                    node,
                )
    assert "TB" in seen


@pytest.mark.parametrize("freed", [False, True])
def test_the_norm_of_a_parameter_stands_in_no_box_of_its_module(t, freed):
    layer = t.nn.Linear(3, 2)
    loss = layer(t.ones(4, 3)).sum() + (layer.weight**2).sum().sqrt()
    if freed:
        loss.backward()
    graph = viz.draw(loss).graph
    boxes = [[f.name for f in block.functions] for block in tree(graph).inside]
    assert boxes == [["TBackward0", "AddmmBackward0"]]


def test_what_a_backward_pass_made_of_the_weights_is_no_call_of_the_module(t):
    layer = t.nn.Linear(3, 2)
    x = t.ones(4, 3, requires_grad=True)
    out = layer(x).sum()
    (g,) = t.autograd.grad(out, x, create_graph=True)
    penalty = ((g * g).sum(1).sqrt() - 1).sum() + out
    blocks = tree(viz.draw(penalty, forward=out).graph).inside
    assert [(block.path, block.call, block.backward) for block in blocks] == [
        ("layer", "", 0),
        ("layer", "", 1),
    ]


def test_calls_in_two_recordings_are_two_calls(t):
    layer = t.nn.Linear(3, 3)
    with viz.record():
        h = layer(t.ones(4, 3))
    with viz.record():
        loss = layer(h).sum()
    blocks = tree(viz.draw(loss).graph).inside
    assert [(block.path, block.call) for block in blocks] == [("layer", "call 1"), ("layer", "call 2")]
