"""The badge: a step's gradient compared with a finite difference of its own operation; a wrong rule must fail."""

from __future__ import annotations

import pytest

import viz

OPERATIONS = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**3,
    "from one": lambda x, y: 1 - x,
    "negative": lambda x, y: -x,
    "exp": lambda x, y: x.exp(),
    "log": lambda x, y: x.log(),
    "sqrt": lambda x, y: x.sqrt(),
    "sin": lambda x, y: x.sin(),
    "cos": lambda x, y: x.cos(),
    "tanh": lambda x, y: x.tanh(),
    "sigmoid": lambda x, y: x.sigmoid(),
    "relu": lambda x, y: x.relu(),
    "matrix product": lambda x, y: x @ y.t(),
    "sum": lambda x, y: x.sum(0),
    "mean": lambda x, y: x.mean(),
    "reshape": lambda x, y: x.reshape(6),
    "rows": lambda x, y: x[[1, 0, 1]],
    "columns": lambda x, y: x[:, [2, 0]],
    "places": lambda x, y: x[[1, 0], [2, 2]],
    "mask": lambda x, y: x[y > 0.8],
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_rule_of_this_list_agrees_with_its_finite_difference(t, name):
    x = t.tensor([[0.3, 1.2, 2.1], [0.7, 1.9, 0.4]], requires_grad=True)
    y = t.tensor([[1.3, 0.2, 1.1], [0.9, 2.2, 1.4]], requires_grad=True)
    out = OPERATIONS[name](x, y)
    step = viz.trace((out * out).sum(), names={"out": out}, check=True).of("out")
    assert step.check is not None, f"{step.name} was not checked"
    assert step.check["ok"], step.check["text"]


def test_a_wrong_gradient_is_found(torch):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x.sin()  # this should be the cosine

    x = torch.tensor([0.5, 1.0], requires_grad=True)
    y = Wrong.apply(x)
    trace = viz.trace(y.sum(), names={"y": y})
    step = trace.of("y")
    step.function.name = "SinBackward0"  # as if the framework's own sine had this rule
    from viz.run.check import check_steps

    check_steps(trace)
    assert step.check["ok"] is False
    assert "does NOT agree" in step.check["text"]


def test_what_a_hook_on_the_node_made_of_a_gradient_is_not_blamed_on_the_rule(t):
    x = t.tensor([0.5, 1.0], requires_grad=True)
    y = x.sin()
    y.grad_fn.register_hook(lambda sent, received: tuple(2 * g for g in sent))
    check = viz.trace(y.sum(), names={"y": y}, check=True).of("y").check
    assert check["ok"] is False
    assert check["text"].endswith("a hook on the node changed it")
    sure = t.__name__ == "minigrad"  # PyTorch does not show which hooks a node has
    assert ("the rule is wrong, or" in check["text"]) is not sure


def test_nothing_is_claimed_at_a_kink(t):
    x = t.tensor([0.0, 1.0], requires_grad=True)
    y = x.relu()
    assert viz.trace(y.sum(), names={"y": y}, check=True).of("y").check is None


def test_nothing_is_claimed_of_an_operation_that_is_not_known(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.special.i0(x)
    assert viz.trace(y.sum(), names={"y": y}, check=True).of("y").check is None


def test_a_gradient_that_cancels_to_nothing_is_no_false_alarm(t):
    """Softmax of equal scores, summed: the true gradient is 0, and the difference is only numerical noise."""
    x = t.ones(4, 6, requires_grad=True)
    z = (x / 3.0).softmax(-1).sum()
    checks = {s.name: s.check for s in viz.trace(z, check=True) if s.check}
    assert checks["SoftmaxBackward0"]["ok"], checks["SoftmaxBackward0"]["text"]
