"""The mathematics beside each node: names of inputs, rules as code and as formula, the forward operation written out."""

from __future__ import annotations

import importlib
import re

import pytest

import minigrad
import viz
from viz.read import rules
from viz.read.rules import RULES
from viz.show.payload import payload


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
        if f.edges:
            assert any(rules.math_of(f, {})), f.name


SAME = {  # a program of x and y (both between 0.1 and 0.9) -> a rule whose code is run as it stands
    "asinh(x)": "Asinh", "atanh(x)": "Atanh", "atan2(x, y)": "Atan2", "exp2(x)": "Exp2", "erfc(x)": "Erfc",
    "erfinv(x)": "Erfinv", "lgamma(x)": "Lgamma", "sinc(x)": "Sinc", "logit(x)": "Logit", "deg2rad(x)": "Deg2Rad",
    "floor(x)": "Floor", "frac(x)": "Frac", "hypot(x, y)": "Hypot", "xlogy(x, y)": "Xlogy", "logaddexp(x, y)": "Logaddexp",
    "copysign(x, y)": "Copysign", "fmax(x, y)": "Fmax", "fmin(x, y)": "Fmin", "nan_to_num(x)": "NanToNum",
    "nn.functional.logsigmoid(x)": "LogSigmoid", "nn.functional.hardsigmoid(x)": "Hardsigmoid", "dist(x, y)": "Dist",
    "sin(x)": "Sin", "tan(x)": "Tan", "acos(x)": "Acos", "log2(x)": "Log2", "rsqrt(x)": "Rsqrt", "erf(x)": "Erf",
    "x / y": "Div", "x @ y": "Mm", "cross(x, y)": "LinalgCross", "tanh(x)": "Tanh", "sigmoid(x)": "Sigmoid",
}  # fmt: skip


@pytest.mark.parametrize("program", SAME)
def test_the_code_beside_a_node_of_pytorch_computes_pytorchs_gradient(torch, program):
    torch.manual_seed(0)
    x, y = (torch.rand(3, 3, dtype=torch.float64) * 0.8 + 0.1 for _ in "xy")
    words = {"pi": torch.tensor(torch.pi), "log": lambda v: torch.as_tensor(v).log(), "x": x, "y": y}
    words = {name: getattr(torch, name) for name in dir(torch) if name[0] != "_"} | words
    for tensor in (x, y):
        tensor.requires_grad_()
    result = eval(program, words)
    node, grad = result.grad_fn, torch.rand_like(result)
    assert node.name() == f"{SAME[program]}Backward0"
    asked = [t for t in (x, y) if re.search(rf"\b{'x' if t is x else 'y'}\b", program)]
    right = torch.autograd.grad(result, asked, grad)
    rule = rules.rule_for(node.name())
    given = dict(zip(rule.inputs, [t.detach() for t in asked], strict=True)) | {
        "grad": grad,
        "result": result,
    }
    for (code, _), expected in zip(rule.cases.get("p=2", rule.inputs).values(), right, strict=True):
        assert torch.allclose(eval(code, words, given).double(), expected), code


def test_nodes_of_many_pytorch_programs_have_their_mathematics(torch):
    """Every input that can get a gradient, in cat, stack, losses, a fused LSTM, complex numbers, derivatives of derivatives."""
    nn, f, x = torch.nn, torch.nn.functional, torch.rand(4, 3, requires_grad=True)
    t, image, z = (
        torch.rand(4, 3, requires_grad=True),
        torch.rand(1, 4, 4, 4, requires_grad=True),
        torch.complex(x, x),
    )
    activations = (
        "celu selu glu mish hardswish hardsigmoid logsigmoid softshrink hardshrink rrelu relu6 softsign"
    )
    losses = (
        "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div "
        "soft_margin_loss poisson_nll_loss"
    )
    outs = [getattr(f, name)(x[:, :2]) for name in activations.split()]
    outs += [getattr(f, name)(x, t.detach()) for name in losses.split()]
    outs += [
        f.binary_cross_entropy(x, t),
        f.binary_cross_entropy_with_logits(x, t),
        f.multi_margin_loss(x, torch.tensor([0, 1, 2, 0])),
    ]
    outs += [f.ctc_loss(x.log_softmax(1)[:, None], torch.tensor([[1]]), torch.tensor([4]), torch.tensor([1]))]
    outs += [
        torch.cat([x, t]),
        torch.stack([x, t]),
        torch.block_diag(x, t),
        x.median(),
        x.std(),
        torch.var_mean(x)[0],
        x.norm(),
    ]
    outs += [
        nn.LSTM(3, 4)(x[:, None])[0],
        nn.GRU(3, 4)(x[:, None])[0],
        nn.EmbeddingBag(5, 3)(torch.tensor([[1, 2]])),
    ]
    outs += [
        f.pixel_shuffle(image, 2),
        f.pad(image, (1, 1, 1, 1), mode="reflect"),
        f.adaptive_max_pool2d(image, 2),
        f.unfold(image, 2),
    ]
    outs += [f.interpolate(image, scale_factor=2, mode=mode) for mode in ("nearest", "bilinear", "bicubic")]
    outs += [
        z.abs(),
        z.angle(),
        (z * z.conj()).real,
        torch.polar(x, t).imag,
        torch.fft.fft(x).abs(),
        torch.view_as_complex(x[:, :2].contiguous()).abs(),
    ]
    for again in (
        "tanh",
        "sigmoid",
        "softmax",
        "log_softmax",
        "gelu",
        "silu",
        "elu",
        "softplus",
        "leaky_relu",
    ):
        once = getattr(f, again)(x, dim=1) if "softmax" in again else getattr(f, again)(x)
        outs.append(torch.autograd.grad((once**2).sum(), x, create_graph=True)[0])
    for out in outs:
        for fn in viz.draw(out.sum()).graph.functions:
            for edge, math in zip(fn.edges, rules.math_of(fn, {}), strict=True):
                assert edge.target is None or math, f"{fn.name}, input {edge.slot}"


def test_each_input_of_cat_is_shown_its_part(t):
    a, b = (t.tensor([v], requires_grad=True) for v in (1.0, 2.0))
    z = t.cat([a, b])
    sent = viz.trace(z, gradient=t.ones(2), names={"a": a, "b": b, "z": z}).of("z").sent
    assert [s.math for s in sent] == [
        "∂L/∂a = the part of ∂L/∂z where a stands",
        "∂L/∂b = the part of ∂L/∂z where b stands",
    ]


def test_a_card_says_the_mathematics_where_the_rule_is_the_call_of_a_helper():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    z = (x**2).sum()
    items = viz.draw(z, view="cards").picture.items
    shown_rules = [line.text for item in items for line in item.lines if line.css == "rule"]
    assert shown_rules == ["x: grad · 2 · x^(2 − 1)", "x ** 2: grad for every element"]
    assert "power_self" in z.grad_fn.next_functions[0][0].rules["self"]  # `rules` still gives what runs


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


def test_every_rule_is_well_formed():
    words = "g result this exponent min max value weight target self alpha beta scale correction p ord n index grad_output"
    words += " diagonal padding_idx pos_weight per_sample_weights"
    found = []
    for name, rule in RULES.items():
        known = {*words.split(), *rule.inputs}
        for code, math in (
            found_math for part in (rule.inputs, *rule.cases.values()) for found_math in part.values()
        ):
            if not (code and math) or not set(re.findall(r"\{(\w+)\}", math)) <= known:
                found.append(f"{name}: {code!r}, {math!r}")
            if "{g}" not in math and "gradients" not in math:
                found.append(f"{name}: the formula {math!r} does not use the gradient")
    assert not found, "\n".join(found)


# a function in a rule's code -> how the mathematics writes it
WRITTEN = {
    "exp": r"exp|e\^", "log": "ln(?! σ)", "log1p": "ln(?! σ)", "logsigmoid": "ln σ", "sqrt": "√", "sign": "sign",
    "sigmoid": "(?<!ln )σ", "mean": r"(?<!a )mean", "tanh": "tanh", "cos": r"cos\b", "sin": r"sin\b", "cosh": "cosh",
    "sinh": "sinh", "abs": r"\|", "floor": "⌊", "trunc": "trunc", "digamma": "ψ(?![′⁽])", "polygamma": "ψ[′⁽]",
    "lgamma": "Γ", "cdf": "Φ", "pdf": "φ", "softplus": "softplus", "diag": r"diag\(", "conj": r"conj\b", "i0": "I₀",
    "i1": "I₁", "zeta": "ζ",
}  # fmt: skip
# formulas that write the same thing in two ways: a power by its logarithm, a scaled Bessel function, the normal density
OTHERWISE = "SpecialI0E SpecialI1E SpecialLogNdtr Igamma Igammac LinalgCholeskyEx Cholesky"


def test_the_mathematics_names_the_functions_that_the_code_calls():
    """``mean(grad)`` is not ``mean``, which would be the mean of the input; no function is in only one of the two."""
    found = []
    for name, rule in RULES.items():
        for code, math in (
            found_math for part in (rule.inputs, *rule.cases.values()) for found_math in part.values()
        ):
            in_words = not re.search(r"[\w.]*\(|[-+*/@]", code)
            for written in set(WRITTEN.values()) if name not in OTHERWISE.split() else ():
                calls = "|".join(function for function, how in WRITTEN.items() if how == written)
                called, found_math = (
                    re.search(rf"\b({calls})\(", code),
                    re.search(written, re.sub(r"\{\w+\}", "", math)),
                )
                if bool(called) != bool(found_math) and not (in_words and found_math):
                    found.append(f"{name}: {calls} is only on one side of {code!r} => {math!r}")
            for bare in re.finditer(
                r"(?<!a )\b(mean|ln|sign|tanh|cos|sin|exp|conj|diag)\b(?! ?[\w{(√½⌊σ])", math
            ):
                found.append(f"{name}: {bare[0]} of what, in {math!r}?")
            for letter in re.findall(r"(?<=, )(\w+) = ", code):
                if re.search(rf"\b{letter}\b(?! =)", math) and f"{letter} =" not in math:
                    found.append(f"{name}: {letter} is not explained in {math!r}")
    assert not found, "\n".join(found)


def test_an_unknown_operation_is_named_and_nothing_is_claimed(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = torch._foreach_exp([x])[0]
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
    "x.sub(x, alpha=-3)": "x - (-3) * x",
    "x.sub(x, alpha=2)": "x - 2 * x",
    "x.triu(1)": "triu(x, 1)",
    "x.max(2)[0]": None,
}


@pytest.mark.parametrize("program", SHAPED)
@pytest.mark.parametrize("framework", ["minigrad", "torch"])
def test_the_shape_and_the_name_of_an_unnamed_tensor_are_right(request, framework, program):
    """An axis matters: ``x[:, 0]`` is not ``x[0]``, and a permutation is a transpose only if it reverses all axes."""
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


def test_two_equal_temporaries_are_told_apart_by_a_number(t):
    x = t.tensor(3.0, requires_grad=True)
    y = x * x
    (g,) = t.autograd.grad(y, x, create_graph=True)
    names = [f.outputs[0].name for f in viz.draw(g, names={"x": x, "g": g}).graph.functions if f.edges]
    assert names == ["1 * x", "(1 * x)₂", "g"]
    both = ((x * 2) + (x * 2)).exp()
    names = [f.outputs[0].name for f in viz.draw(both * both, names={"x": x}).graph.functions if f.edges]
    assert names[:3] == ["x * 2", "(x * 2)₂", "(x * 2) + (x * 2)₂"]


def test_a_number_that_is_no_input_of_the_node_is_written_out_where_a_recording_saw_it(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with viz.record():
        z = ((4 - x) * 2).sum()
    temporary = viz.draw(z).graph.functions[1]
    assert temporary.outputs[0].name == "4 - x"
    assert temporary.outputs[0].value.array.tolist() == [3.0, 2.0]
    not_recorded = ((4 - x) * 2).sum()
    trace = viz.trace(not_recorded, names={"x": x}, check=True)
    assert [f.outputs[0].name for f in trace.graph.functions][1] == "constant - x"
    assert trace.of("constant - x").check["ok"]


def test_the_value_of_a_number_minus_a_tensor_is_not_made_up(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with viz.record():
        z = (t.rsub(x, 4) * 2).sum() if hasattr(t, "rsub") else (x.__rsub__(4) * 2).sum()
    value = viz.draw(z).graph.functions[1].outputs[0].value
    assert value is None or value.array.tolist() == [3.0, 2.0]


def test_a_formula_cannot_be_misread(t):
    """Transposed, conjugated or indexed operands are in parentheses once; a real operand takes the real part."""
    w, q = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), t.tensor([3.0], requires_grad=True)
    z = (w.t() @ w).sum()
    found_math = [s.math for step in viz.trace(z, names={"w": w, "z": z}) for s in step.sent]
    assert found_math[1:] == ["∂z/∂(w.t()) = ∂z/∂(w.t() @ w) · wᵀ", "∂z/∂w += w.t()ᵀ · ∂z/∂(w.t() @ w)"] + [
        "∂z/∂w += (∂z/∂(w.t()))ᵀ"
    ]
    found_math = [s.math for step in viz.trace(abs(q - 1).sum(), names={"q": q}) for s in step.sent]
    assert any(m and m.endswith("· sign(q - 1)") for m in found_math)
    links = viz.draw(abs(q - 1).sum(), view="graph", names={"q": q}).picture.links
    assert [x.tooltip for x in links if x.kind == "forward"][1:3] == ["q - 1", "abs(q - 1)"]


def test_a_real_operand_of_a_complex_operation_gets_the_real_part(torch):
    c, r = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True), torch.tensor([2.0, 3.0], requires_grad=True)
    z = c * r
    step = viz.trace(z, gradient=torch.ones_like(z) * 1j, names={"c": c, "r": r, "z": z}).of("z")
    assert [s.math for s in step.sent] == ["∂L/∂c = ∂L/∂z · conj(r)", "∂L/∂r = Re(∂L/∂z · conj(c))"]
    assert torch.equal(r.grad, (1j * c.detach().conj()).real)
    assert step.sent[1].value.array.tolist() == r.grad.tolist()
    turned = (r * 1j).abs().sum()
    (sent,) = (s for s in viz.trace(turned, names={"r": r}).of("r * (0+1j)").sent if s.math)
    assert (sent.math.rpartition(" = ")[2], sent.code) == (
        "Re(∂turned/∂(r * (0+1j)) · conj(0+1j))",
        "(grad * conj(other)).real",
    )


def test_no_rule_in_the_pane_is_the_call_of_a_helper(t):
    """Helpers are shown as the mathematics they stand for, and nothing is shown for an absent input."""
    x, c = t.ones(3, 4, requires_grad=True), t.ones(2, 2, 4, 4, requires_grad=True)
    f = t.nn.functional
    z = (
        f.layer_norm(x, (4,)).pow(2).sum()
        + f.gelu(x).mean()
        + x.expand(2, 3, 4).std()
        + x[0].prod()
        + (x + x[0]).max()
    )
    z = (
        z
        + f.max_pool2d(c, 2).sum()
        + f.batch_norm(c, None, None, training=True).sum()
        + t.cat([x, x]).softmax(1).var()
    )
    shown_rules = [rule for step in payload(z)["steps"] for rule in step["rules"]]
    assert len(shown_rules) > 20
    assert not [rule for rule in shown_rules if rules.is_helper(rule["code"])]
