"""Models that no variable of the caller holds, and parameters that are held in unusual ways: still boxes with names."""

from __future__ import annotations

import types

import pytest

import viz
from tests.test_viz_modules import titles


def parts(t):
    return t.nn.Sequential(t.nn.Linear(3, 8), t.nn.Tanh(), t.nn.Linear(8, 8), t.nn.Tanh(), t.nn.Linear(8, 2))


def waiting(t):
    def steps():
        net = parts(t)
        while True:
            yield net(t.ones(4, 3)).sum()

    return steps()


def test_a_model_in_a_generator_that_waits_is_named_by_its_class(t):
    steps = waiting(t)
    seen = titles(viz.draw(next(steps)).picture)
    assert [name for name in seen if name[0] == "S"][:3] == ["Sequential.0", "Sequential.2", "Sequential.4"]


def test_a_model_in_an_attribute_of_a_class_or_of_a_module_is_named_by_its_class(t):
    class Settings:
        net = parts(t)

    elsewhere = types.ModuleType("elsewhere")
    elsewhere.head = t.nn.Linear(2, 1)
    names = {
        f.outputs[0].name for f in viz.draw(elsewhere.head(Settings.net(t.ones(4, 3))).sum()).graph.leaves
    }
    assert {"Sequential.0.weight", "Sequential.4.bias", "Linear.weight"} <= names


def test_layers_of_a_model_that_is_gone_are_boxes_named_by_what_they_do(t):
    picture = viz.draw(t.nn.Sequential(parts(t), t.nn.LayerNorm(2))(t.ones(4, 3)).sum()).picture
    assert titles(picture) == [
        "linear 1",
        "TanhBackward0",
        "linear 2",
        "TanhBackward0",
        "linear 3",
        "layer_norm 1",
        "SumBackward0",
    ]


def test_parameters_of_a_layer_that_is_gone_have_the_names_that_they_had_in_it(t):
    graph = viz.draw(t.nn.Sequential(parts(t), t.nn.LayerNorm(2))(t.ones(4, 3)).sum()).graph
    layers = ("linear 1", "linear 2", "linear 3", "layer_norm 1")
    shapes = {f.outputs[0].name: f.outputs[0].shape for f in graph.leaves}
    assert shapes == {
        f"{layer}.{role}": shape if role == "weight" else shape[:1]
        for layer, shape in zip(layers, [(8, 3), (8, 8), (2, 8), (2,)], strict=True)
        for role in ("weight", "bias")
    }


def test_a_name_of_the_caller_is_never_replaced(t):
    layer = t.nn.Linear(3, 2)
    graph = viz.draw(layer(t.ones(1, 3)).sum(), names={"w": layer.weight}).graph
    assert {f.outputs[0].name for f in graph.leaves} == {"w", "layer.bias"}
    w = t.ones(3, 2, requires_grad=True)
    assert [f.outputs[0].name for f in viz.draw((w.clone() * 1).sum()).graph.leaves] == ["w"]


@pytest.mark.parametrize("kind", ["list", "dict"])
def test_a_list_of_parameters_belongs_to_its_module(torch, kind):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            sizes = [(3, 6), (6, 6), (6, 2)]
            weights = [nn.Parameter(torch.ones(*size)) for size in sizes]
            named = {f"w{k}": w for k, w in enumerate(weights)}
            self.weights = nn.ParameterList(weights) if kind == "list" else nn.ParameterDict(named)

        def forward(self, x):
            for w in self.weights if kind == "list" else self.weights.values():
                x = (x @ w).tanh()
            return x

    net = Net()
    assert titles(viz.draw(net(torch.ones(4, 3)).sum(), fold=1).picture)[0] == "net"


def test_a_parametrized_layer_keeps_its_name(torch):
    class Skew(torch.nn.Module):
        def forward(self, w):
            return w.triu(1) - w.triu(1).mT

    cell = torch.nn.Linear(4, 4, bias=False)
    torch.nn.utils.parametrize.register_parametrization(cell, "weight", Skew())
    assert "cell" in titles(viz.draw(cell(torch.ones(2, 4)).tanh().sum(), fold=1).picture)


def test_a_weight_that_is_transposed_twice_is_not_taken_for_a_backward_pass(torch):
    f = torch.nn.functional

    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.middle = torch.nn.Linear(6, 3), torch.nn.Linear(3, 3)

        def forward(self, x):
            return f.linear(self.middle(self.down(x).sigmoid()).sigmoid(), self.down.weight.t())

    tied = Tied()
    graph = viz.draw(tied(torch.ones(2, 6)).sum()).graph
    assert not [function for function in graph.functions if function.second]


def test_a_class_made_from_sequential_holds_its_activation(torch):
    nn = torch.nn

    class Unit(nn.Sequential):
        def __init__(self, i, o):
            super().__init__(nn.Conv2d(i, o, 3), nn.BatchNorm2d(o), nn.SiLU())

    net = nn.Sequential(Unit(1, 2), Unit(2, 4), nn.Flatten(), nn.Linear(64, 2))
    picture = viz.draw(net(torch.ones(2, 1, 8, 8)).sum(), fold="Unit").picture
    assert titles(picture)[:3] == ["net.0", "net.1", "ViewBackward0"]


def test_frozen_layers_belong_to_their_block(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.adapter, self.frozen = nn.Linear(4, 4), nn.Linear(4, 4).requires_grad_(False)

        def forward(self, x):
            return x + self.frozen(self.adapter(x).tanh())

    net = nn.Sequential(Block(), Block(), Block())
    assert titles(viz.draw(net(torch.ones(2, 4)).sum(), fold="Block").picture) == ["Block ×3", "SumBackward0"]


def test_a_recursion_is_one_box(torch):
    nn = torch.nn

    class Tree(nn.Module):
        def __init__(self):
            super().__init__()
            self.word, self.up, self.gate = nn.Embedding(9, 4), nn.Linear(8, 4), nn.Linear(8, 4)

        def node(self, tree):
            if isinstance(tree, int):
                return self.word(torch.tensor(tree))
            both = torch.cat([self.node(part) for part in tree])
            return self.gate(both).sigmoid() * self.up(both).tanh()

        def forward(self, tree):
            return self.node(tree)

    model = Tree()
    loss = model((((0, 1), (2, (3, 4))), ((5, 6), ((7, 8), 1)))).sum()
    assert titles(viz.draw(loss).picture) == ["model", "SumBackward0"]


def test_entries_of_a_module_dict_are_boxes(torch):
    nn = torch.nn
    make = {name: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4)) for name in ("text", "code")}

    class Routed(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.experts, self.head = nn.Linear(4, 4), nn.ModuleDict(make), nn.Linear(4, 2)

        def forward(self, x):
            x = self.stem(x).relu()
            return self.head(x + sum(expert(x) for expert in self.experts.values()))

    routed = Routed()
    loss = routed(torch.ones(3, 4)).pow(2).mean()
    assert {"stem", "experts.text", "experts.code", "head"} <= set(titles(viz.draw(loss).picture))


def test_a_fold_that_means_no_module_says_what_there_is(t):
    net = parts(t)
    loss = net(t.ones(4, 3)).sum()
    assert (
        viz.draw(loss, fold=9)
        .picture.notes[0]
        .startswith("fold=9 is more than the depth of the modules here, 1")
    )
    texts = "fold='nothing' matches none of the modules here: 3 Linear, 1 Sequential."

    def nothing(module):
        return False

    assert viz.draw(loss, fold=nothing).picture.notes == [texts]


def test_two_panes_are_read_in_one_direction(t):
    w = t.ones(2, 2, requires_grad=True)
    small, large = (w * 2).sum(), ((w @ w).exp() * w - (w + w).tanh()).sum()
    directions = [
        {one["direction"] for one in (data, *data["pictures"])} for data in viz.beside(small, large).data
    ]
    assert directions == [{"TB"}, {"TB"}]
