"""The graph of a backward pass (``create_graph=True``) as first shown: a box beside the module that it differentiates."""

from __future__ import annotations

from itertools import pairwise

import pytest

import viz
from viz.picture.blocks import tree


def net(t, *sizes):
    layers = [part for pair in pairwise(sizes) for part in (t.nn.Linear(*pair), t.nn.Tanh())]
    return t.nn.Sequential(*layers[:-1])


def slope(t, y, x):
    """The derivative, in a separate function so that no line of the caller shows the differentiation."""
    return t.autograd.grad(y.sum(), x, create_graph=True)[0]


def gradient_penalty(t, model):
    x = t.ones(3, 4, requires_grad=True)
    return (slope(t, model(x), x).pow(2).sum(1).sqrt() - 1).pow(2).mean() + model(t.zeros(3, 4)).mean()


def physics(t, model):
    x = t.ones(3, 4, requires_grad=True)
    u = model(x)
    u_x = slope(t, u, x)
    return (u * u_x - slope(t, u_x, x)).pow(2).mean()


def hessian_vector(t, model):
    loss = model(t.ones(3, 4)).pow(2).mean()
    gradients = t.autograd.grad(loss, list(model.parameters()), create_graph=True)
    return sum((g * g).sum() for g in gradients)


def one_step_of_training(t, model):
    """As in MAML: the second call runs with the weights of the step."""
    x = t.ones(3, 4)
    weights = list(model.parameters())
    gradients = t.autograd.grad(model(x).pow(2).mean(), weights, create_graph=True)
    a, b, c, d, e, f = (w - 0.1 * g for w, g in zip(weights, gradients, strict=True))
    linear = t.nn.functional.linear
    return linear(linear(linear(x, a, b).tanh(), c, d).tanh(), e, f).pow(2).mean()


@pytest.mark.parametrize(
    ("program", "boxes"),
    [
        (gradient_penalty, ["model, call 1", "∂ model", "model, call 2"]),
        (physics, ["model", "∂ model", "∂² model"]),
        (hessian_vector, ["model", "∂ model"]),
        (one_step_of_training, ["model, call 1", "∂ model", "model, call 2"]),
    ],
)
def test_a_backward_pass_is_a_box_beside_its_module(t, program, boxes):
    t.manual_seed(0)
    model = net(t, 4, 8, 8, 1)
    picture = viz.draw(program(t, model)).picture
    assert [item.name for item in picture.items if item.kind == "fold" and "model" in item.name] == boxes
    weights = [item.name for item in picture.items if item.kind in ("leaf", "alias") and "model" in item.name]
    assert not weights  # the weights are in the boxes


def test_it_opens_by_the_layers_that_it_differentiates(t):
    t.manual_seed(0)
    model = net(t, 4, 8, 8, 1)
    graph = viz.draw(gradient_penalty(t, model)).graph
    (block,) = (b for b in tree(graph).inside if b.backward)
    assert [b.path for b in block.inside] == ["model.4", "model.2", "model.0"]
    assert all(f.second == 1 for f in block.functions)
    assert not any(f.second for b in tree(graph).inside if not b.backward for f in b.functions)


def test_a_number_that_no_node_keeps_is_the_difference_that_was_measured(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3 + 1
    z = 4 - y
    u = z - 0.1
    words = {item.name for item in viz.draw(u.sum()).picture.items if item.kind == "op"}
    assert {"+ 1", "4 -", "- 0.1"} <= words
    v = x + t.tensor([[0.3, 0.2]])  # not a single number
    assert "+ constant" in {item.name for item in viz.draw(v.sum()).picture.items}


def test_each_layer_says_its_shape(torch):
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1352, 10))
    loss = nn.functional.cross_entropy(model(torch.randn(2, 1, 28, 28)), torch.tensor([3, 7]))
    shapes = {"model.0": "(2, 8, 26, 26)", "model.4": "(2, 10)", "cross_entropy": "scalar"}
    pictures = [viz.draw(loss).picture, *viz.step(loss).data.shown]
    # except in the tersest picture, for a window with no space for shapes
    for picture in (p for p in pictures if any(i.kind == "fold" for i in p.items) and p.terse < 2):
        for item in (i for i in picture.items if i.kind == "fold"):
            labels = [link.label for link in picture.links if link.head is item] + [
                line.text for line in item.lines
            ]
            assert shapes[item.name] in labels


def test_the_rule_of_an_activation_is_called_by_its_name(torch):
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    x = torch.randn(4, 2, requires_grad=True)
    (g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    drawing = viz.draw(g.norm(), view="lanes")
    labels = {line.text for item in drawing.picture.items for line in item.lines}
    assert "∂ relu" in labels and not any("( >" in text for text in labels)
