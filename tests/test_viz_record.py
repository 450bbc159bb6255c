"""viz.record and %%viz: names, values and source lines of everything that a block computes."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import viz
from viz.show.payload import payload


def layer(h, w):
    a = h @ w
    return a.tanh()


def unrolled(t, times):
    w = t.tensor([[0.5, 0.1], [0.2, 0.3]], requires_grad=True)
    h = t.tensor([[1.0, 2.0]])
    with viz.record() as recording:
        for _ in range(times):
            h = layer(h, w)
        loss = (h * h).mean()
    return loss, recording


def test_every_operation_knows_its_line(t):
    loss, recording = unrolled(t, 2)
    data = payload(loss)
    lines = data["source"]["lines"]
    line_of = [
        (step["name"], lines[step["line"]].strip()) for step in data["steps"] if step["line"] is not None
    ]
    assert line_of == [
        ("MeanBackward0", "loss = (h * h).mean()"),
        ("MulBackward0", "loss = (h * h).mean()"),
        ("TanhBackward0", "return a.tanh()"),
        ("MmBackward0", "a = h @ w"),
        ("TanhBackward0", "return a.tanh()"),
        ("MmBackward0", "a = h @ w"),
    ]
    assert repr(recording) == "Recording(6 operations on 3 lines)"


def test_a_name_that_is_used_again_is_numbered(t):
    loss, _ = unrolled(t, 3)
    names = [step.tensor for step in viz.trace(loss)]
    assert names == ["loss", "h₃ * h₃", "h₃", "a₃", "h₂", "a₂", "h", "a", "leaf 1"]


def test_values_of_temporaries_are_remembered(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with viz.record():
        y = ((x + 1 - 0.5)[[1, 0, 1]] * 2).sum()
    graph = viz.draw(y).graph
    made = {f.name: f.outputs[0].value.array.tolist() for f in graph.functions}
    assert made["AddBackward0"] == [2.0, 3.0]
    assert made["SubBackward0"] == [1.5, 2.5]
    assert made["IndexBackward0"] == [2.5, 1.5, 2.5]  # the result of indexing, which no variable holds


def test_a_remembered_value_is_that_of_the_moment(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    with viz.record():
        y = (x + 1).sum()
        with t.no_grad():
            x.mul_(100.0)
    (add,) = (f for f in viz.draw(y).graph.functions if f.name == "AddBackward0")
    assert add.outputs[0].value.array.tolist() == [2.0, 3.0]


def test_what_was_computed_before_the_block_is_not_of_it(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    before = x * 3
    with viz.record() as recording:
        after = before.sum()
    assert recording.operations == 1
    assert after.grad_fn is not None


def test_the_forward_pass_is_shown_op_by_op(t):
    loss, _ = unrolled(t, 1)
    forward = payload(loss)["forward"]
    assert [f["name"] for f in forward] == ["a", "h", "h * h", "loss"]
    assert np.allclose(forward[0]["value"]["values"], [0.9, 0.7])
    assert forward[1]["sentence"].startswith("Forward 2 of 4. h = [[0.7163, 0.6044]], made by tanh()")


@pytest.mark.filterwarnings(
    "ignore:`torch.jit.script`:DeprecationWarning"
)  # PyTorch warns when forward mode is first used
def test_tracing_ends_with_the_block_even_when_it_raises(t):
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError), viz.record():
        t.tensor([1.0], requires_grad=True) * (1 / 0)
    assert sys.gettrace() is before


def test_the_tensor_class_is_as_it_was_after_the_block(t):
    x = t.tensor([1.0], requires_grad=True)
    before = {name: getattr(type(x), name) for name in dir(type(x)) if callable(getattr(type(x), name, None))}
    with viz.record():
        y = x + 1
        assert type(x).__add__ is not before["__add__"]
    assert y.requires_grad
    for name, method in before.items():
        assert getattr(type(x), name) == method, name


def test_operands_that_the_graph_does_not_keep_are_known(t):
    x = t.tensor([[1.0], [2.0]])
    w = t.tensor([[0.5]], requires_grad=True)
    with viz.record():
        target = t.tensor([[1.0], [0.0]])
        err = x @ w - target
        loss = ((err + 3) ** 2).sum()
    items = viz.draw(loss, view="graph").picture.items
    assert {i.name: i.kind for i in items if i.kind in ("input", "none")} == {
        "x": "input",
        "target": "input",
        "3": "none",
    }
    assert "err + 3" in [i.name for i in items]


def test_what_was_detached_without_a_name_is_shown_as_detached(t):
    x = t.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    with viz.record():
        z = ((x * 2).detach() * x).sum()
    items = {i.name: i.kind for i in viz.draw(z, view="graph").picture.items if i.kind in ("input", "none")}
    assert items == {"(…).detach()": "input"}


def checked(given):
    assert given.shape
    return given


def test_a_tensor_without_a_graph_has_the_callers_name_though_a_function_had_it_first(t):
    def made():
        w = t.tensor(2.0, requires_grad=True)
        with viz.record():
            seen = checked(t.tensor([1.0, 2.0]))
            loss = (seen - w).sum()
        return loss

    items = viz.draw(made(), view="graph").picture.items
    assert "seen" in {i.name for i in items if i.kind == "input"}


def star(*args):
    return args[0] * 2


def stars(**kwargs):
    return kwargs["p"] * 2


def listed(ps):
    return ps[0] * 2


def inside(p):
    def inner():
        return p * 2

    return inner()


def comprehended(p):
    first, _ = [p * k for k in (2, 3)]
    return first


def later(p):
    yield p * 2


@pytest.mark.parametrize(
    "call",
    [
        star,
        lambda v: stars(p=v),
        lambda v: listed([v]),
        inside,
        comprehended,
        lambda p: p * 2,
        lambda v: next(later(v)),
    ],
    ids=["*args", "**kwargs", "list", "closure", "comprehension", "lambda", "generator"],
)
def test_a_parameter_never_gives_its_name_to_what_it_was_called_with(t, call):
    x, w = (t.tensor([[v]], requires_grad=True) for v in (2.0, 3.0))
    with viz.record():
        loss = call((x @ w).tanh()).sum()
    names = [f.outputs[0].name for f in viz.draw(loss).graph.functions if f.edges]
    assert names[:2] == ["x @ w", "tanh(x @ w)"] and names[-1] == "loss"


# -- modules: a recording sees them run, so it knows for certain what each of them made


class Shown:
    """Frames and folds of a recorded pass."""

    def __init__(self, loss):
        self.frames = {
            caption.partition(": ")[0]: [i.function.name for i in items if i.kind == "function"]
            for caption, items in viz.draw(loss, view="graph").picture.clusters
        }
        self.folds = [i.name for i in viz.draw(loss, fold=True).picture.items if i.kind == "fold"]


def test_functions_without_parameters_belong_to_the_module_that_ran_them(t):
    m = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 2))
    with viz.record():
        loss = (m(t.ones(5, 3)) ** 2).mean()
    shown = Shown(loss)
    assert shown.frames == {
        "m.0": ["TBackward0", "AddmmBackward0"],
        "m.1": ["TanhBackward0"],
        "m.2": ["TBackward0", "AddmmBackward0"],
    }
    assert shown.folds == ["m.0", "m.2"]  # a single function is not a fold
    assert all(not module._forward_hooks and not module._forward_pre_hooks for module in m.modules())


def test_each_call_of_a_module_is_told_apart(t):
    class Layer(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = t.nn.Parameter(t.ones(3, 3))

        def forward(self, x):
            return (x @ self.w + 1).tanh()

    layer = Layer()
    with viz.record():
        z = layer(layer(t.ones(2, 3)).exp()).sum()
    made = ["MmBackward0", "AddBackward0", "TanhBackward0"]
    assert Shown(z).frames == {"layer, call 1": made, "layer, call 2": made}


def test_what_a_module_does_around_its_parts_is_its_own_and_stays_open(t):
    class Block(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = t.nn.Linear(3, 3), t.nn.Linear(3, 3)

        def forward(self, x):
            return self.b(self.a(x).relu()) + x

    block = Block()
    with viz.record():
        x = t.ones(2, 3, requires_grad=True)
        y = (x * 2).exp()
        z = block(y).sum()
    drawing = viz.draw(z, fold=False)
    module = {f.name: f.module for f in drawing.graph.functions if f.edges}
    assert module["ReluBackward0"] == module["AddBackward0"] == "block"
    assert module["ExpBackward0"] is module["MulBackward0"] is module["SumBackward0"] is None
    assert [caption for caption, _ in drawing.picture.clusters] == ["block.a: Linear", "block.b: Linear"]
    assert "in block" in next(
        i.tooltip for i in drawing.picture.items if i.kind == "function" and "Relu" in i.function.name
    )


def test_a_module_that_raises_does_not_spoil_the_next(t):
    layer = t.nn.Linear(3, 3)
    with viz.record():
        with pytest.raises(RuntimeError):
            layer(t.ones(2, 5))
        z = layer(t.ones(2, 3)).sum()
    assert list(Shown(z).frames) == ["layer"]


def test_a_tensor_of_one_number_that_no_variable_holds_is_that_number(t):
    x = t.tensor(2.0, requires_grad=True)
    with viz.record():
        loss = (x + t.tensor(3.0)) * t.tensor([4.0, 5.0]).sum()
    assert [step.tensor for step in viz.trace(loss)] == ["loss", "x + 3", "x"]
