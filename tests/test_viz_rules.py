"""The mathematics beside each node: names of inputs, rules as code and as formula, the forward operation written out."""

from __future__ import annotations

import importlib
import re

import pytest

import minigrad
import viz
from viz.read import rules
from viz.read.rules import RULES


@pytest.fixture(params=["minigrad", "torch"])
def t(request):
    return (
        request.getfixturevalue("torch") if request.param == "torch" else importlib.import_module("minigrad")
    )


def sent(t, build, name="z"):
    a = t.tensor([[0.5, 1.5], [2.0, 0.25]], requires_grad=True)
    b = t.tensor([[1.5, 0.5], [0.75, 3.0]], requires_grad=True)
    out = build(a, b)
    trace = viz.trace(out, gradient=t.ones(2, 2), names={"a": a, "b": b, name: out})
    return trace.of(name).sent


@pytest.mark.parametrize(
    ("build", "formulas"),
    [
        (lambda a, b: a * b, ["∂L/∂a = ∂L/∂z · b", "∂L/∂b = ∂L/∂z · a"]),
        (lambda a, b: a + b, ["∂L/∂a = ∂L/∂z", "∂L/∂b = ∂L/∂z"]),
        (lambda a, b: a - b, ["∂L/∂a = ∂L/∂z", "∂L/∂b = −∂L/∂z"]),
        (lambda a, b: a / b, ["∂L/∂a = ∂L/∂z / b", "∂L/∂b = −∂L/∂z · a / b²"]),
        (lambda a, b: a @ b, ["∂L/∂a = ∂L/∂z · bᵀ", "∂L/∂b = aᵀ · ∂L/∂z"]),
        (lambda a, b: a.tanh(), ["∂L/∂a = ∂L/∂z · (1 − z²)"]),
        (lambda a, b: a.exp(), ["∂L/∂a = ∂L/∂z · z"]),
        (lambda a, b: a**3, ["∂L/∂a = ∂L/∂z · 3 · a^(3 − 1)"]),
        (lambda a, b: a * a, ["∂L/∂a += ∂L/∂z · a", "∂L/∂a += ∂L/∂z · a"]),
    ],
)
def test_the_formula_is_written_with_the_names_of_the_program(t, build, formulas):
    assert [s.math for s in sent(t, build)] == formulas


def test_a_complex_rule_multiplies_by_the_conjugate(torch):
    a, b = (torch.tensor([1 + 2j, v], requires_grad=True) for v in (3j, 1 - 1j))
    z = a * b
    sent = viz.trace(z, gradient=torch.ones_like(z), names={"a": a, "b": b, "z": z}).of("z").sent
    assert [s.math for s in sent] == ["∂L/∂a = ∂L/∂z · conj(b)", "∂L/∂b = ∂L/∂z · conj(a)"]
    assert torch.equal(a.grad, b.detach().conj()) and torch.equal(b.grad, a.detach().conj())


def test_every_node_of_common_layers_has_its_mathematics(torch):
    nn, x = torch.nn, torch.randn(2, 5, 8, requires_grad=True)
    cnn = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4, 3)
    )
    cell, like = nn.LSTMCell(8, 6), {"batch_first": True}
    outs = [
        nn.TransformerEncoderLayer(8, 2, 16, **like)(x),
        nn.MultiheadAttention(8, 2, **like)(x, x, x, need_weights=False)[0],
        cnn(x[:, :4, :4].unsqueeze(1)),
        cell(x[0], cell(x[1]))[0],
    ]
    for f in viz.draw([out.sum() for out in outs]).graph.functions:
        if f.edges and f.name != "CatBackward0":
            assert any(rules.math_of(f, {})), f.name


def test_a_card_says_the_mathematics_where_the_rule_is_the_call_of_a_helper():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    z = (x**2).sum()
    items = viz.draw(z, view="cards").picture.items
    said = [line.text for item in items for line in item.lines if line.css == "rule"]
    assert said == ["x: grad · 2 · x^(2 − 1)", "x ** 2: grad for every element"]
    assert "power_self" in z.grad_fn.next_functions[0][0].rules["self"]  # what runs is still what rules says


def test_the_code_is_the_nodes_own_where_it_has_rules():
    import minigrad

    a = minigrad.tensor([2.0], requires_grad=True)
    z = a.exp()
    (own,) = z.grad_fn.rules.values()
    assert viz.trace(z, gradient=minigrad.ones(1), names={"z": z}).of("z").sent[0].code == own


def test_a_temporary_is_called_by_its_expression(t):
    a = t.tensor([2.0], requires_grad=True)
    b = t.tensor([3.0], requires_grad=True)
    names = [
        f.outputs[0].name
        for f in viz.draw(((a + b) * a).sum(), names={"a": a, "b": b}).graph.functions
        if f.edges
    ]
    assert names == ["a + b", "(a + b) * a", "t1"]


SYMBOLS = {
    "MmBackward0": "@",
    "MulBackward0": "*",
    "MeanBackward0": "mean()",
    "TanhBackward0": "tanh()",
    "AddmmBackward0": "addmm()",
    "NegBackward0": "-·",
    "CopySlices": "in place",
    "SomeNewBackward0": "some_new()",
}


@pytest.mark.parametrize(("name", "symbol"), SYMBOLS.items())
def test_the_operation_on_a_forward_edge(name, symbol):
    assert rules.symbol(name) == symbol


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_well_formed(name):
    rule = RULES[name]
    known = {
        "g",
        "result",
        "exponent",
        "min",
        "max",
        "self",
        "target",
        *rule.inputs,
    }  # inputs, and what is kept
    for code, math in rule.inputs.values():
        assert code and math
        assert set(re.findall(r"\{(\w+)\}", math)) <= known, math
        assert "{g}" in math or "gradients" in math, f"{name}: the formula does not use the gradient"


def test_an_unknown_operation_is_named_and_nothing_is_claimed(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = torch.special.i0(x)
    (s,) = viz.trace(z, gradient=torch.ones(2), names={"x": x, "z": z}).of("z").sent
    assert (s.input, s.code, s.math) == ("self", None, None)


SHAPED = {
    "x.squeeze(1)": "x.squeeze()",
    "x.unsqueeze(-1)": None,
    "x.sum(1)": "x.sum(1)",
    "x.sum(-1, keepdim=True)": None,
    "x.mean((0, 2))": "x.mean((0, 2))",
    "x.amax(0)": "x.amax()",
    "x.permute(2, 0, 1)": "x.permute(2, 0, 1)",
    "x.transpose(0, 1)": "x.transpose(0, 1)",
    "x.mT": "x.mT",
    "x[0]": "x[0]",
    "x[:, 0]": "x[:, 0]",
    "x[:, :, 1]": "x[:, :, 1]",
    "x[0].T": None,
    "t.cat([x, x], 2)": "cat(x, x)",
    "t.stack([x, x], 1)": "stack(x, x)",
    "x.std(2)": None,
    "x.max(2)[0]": None,
}


@pytest.mark.parametrize("program", SHAPED)
@pytest.mark.parametrize("framework", ["minigrad", "torch"])
def test_the_shape_and_the_name_of_what_nobody_holds_are_right(request, framework, program):
    """An axis matters: ``x[:, 0]`` is not ``x[0]``, and a permutation is a transpose only if it turns all axes round."""
    t = request.getfixturevalue("torch") if framework == "torch" else importlib.import_module("minigrad")
    x = t.arange(6.0).reshape(3, 1, 2).requires_grad_()
    made = eval(program)
    shape, node, z = tuple(made.shape), made.grad_fn, (made + 1).sum()
    del made
    functions = viz.draw(z, names={"x": x}).graph.functions
    output = next(f.outputs[0] for f in reversed(functions) if f.name == node.name() and f.users)
    assert output.shape == shape
    if SHAPED[program]:
        assert output.name == SHAPED[program]
