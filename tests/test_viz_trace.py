"""One recorded backward pass: the steps are the engine's, the numbers are backward()'s, the hooks are gone afterwards."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import viz
from viz.read.hooks import Progress


def diamond(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    a = y + 1
    b = y * 2
    c = a + b
    return c, {"x": x, "y": y, "a": a, "b": b, "c": c}


def test_the_steps_are_the_nodes_in_the_order_of_the_engine(t):
    c, names = diamond(t)
    trace = viz.trace(c, names=names)
    assert [s.tensor for s in trace] == ["c", "b", "a", "y", "x"]
    assert [s.name for s in trace] == [
        "AddBackward0",
        "MulBackward0",
        "AddBackward0",
        "MulBackward0",
        "AccumulateGrad",
    ]
    assert repr(trace) == "Trace(c: 5 steps)"


def test_where_paths_meet_the_parts_add_up_to_the_total(t):
    c, names = diamond(t)
    step = viz.trace(c, names=names).of("y")
    assert [p.value.array.item() for p in step.parts] == [2.0, 1.0]
    assert step.total.array.item() == 3.0
    assert "adds 2 contributions for y: 2 + 1 = 3" in step.sentence


def test_who_waits_for_whom(t):
    c, names = diamond(t)
    trace = viz.trace(c, names=names)
    after_b = trace.of("b")
    assert [f.outputs[0].name for f in after_b.ready] == ["a"]
    (waiting,) = after_b.waiting
    assert (waiting.function.outputs[0].name, waiting.got, waiting.needs) == ("y", 1, 2)
    assert [f.outputs[0].name for f in waiting.missing] == ["a"]
    assert not trace.of("a").waiting


def test_grad_is_what_backward_leaves(t):
    c, names = diamond(t)
    viz.trace(c, names=names)
    d, others = diamond(t)
    d.backward()
    assert names["x"].grad.item() == others["x"].grad.item() == 12.0


def test_accumulation_is_before_plus_contribution(t):
    c, names = diamond(t)
    names["x"].grad = t.tensor(100.0)
    trace = viz.trace(c, names=names)
    step = trace.of("x")
    a = step.accumulate
    assert (a.before.array.item(), a.contribution.array.item(), a.after.array.item()) == (100.0, 12.0, 112.0)
    assert "100 becomes 112" in step.sentence
    assert trace.leaves["x"].array.item() == 112.0


def test_a_gradient_that_is_not_computed_says_why(t):
    x = t.tensor([[1.0, 2.0]])
    w = t.tensor([[1.0], [2.0]], requires_grad=True)
    y = x @ w
    sent = viz.trace(y, gradient=t.ones(1, 1)).of("y").sent
    assert [(s.value is None, s.reason) for s in sent] == [
        (True, "not computed: x does not require grad"),
        (False, None),
    ]


def test_the_saved_tensors_of_a_step_have_names_and_values(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    w = t.tensor([3.0, 4.0], requires_grad=True)
    y = x * w
    step = viz.trace(y.sum()).of("y")
    assert {s.name: (s.label, s.value.array.tolist()) for s in step.saved} == {
        "self": ("x", [1.0, 2.0]),
        "other": ("w", [3.0, 4.0]),
    }
    assert step.freed


def test_the_rule_is_shown_as_code_and_as_mathematics(t):
    x = t.tensor([[1.0, 2.0]])
    w = t.tensor([[1.0], [2.0]], requires_grad=True)
    y = x @ w
    z = y.sum()
    sent = viz.trace(z).of("y").sent[1]
    assert sent.input == "mat2"
    assert "grad" in sent.code
    assert sent.math == "∂z/∂w = xᵀ · ∂z/∂y"


def test_a_broadcast_is_undone_as_an_act(t):
    x = t.ones(3, 4, requires_grad=True)
    b = t.zeros(4, requires_grad=True)
    s = x + b
    step = viz.trace(s.sum()).of("s")
    assert [v.reduced for v in step.sent] == [None, "summed over axis 0: (3, 4) → (4,)"]
    assert "summed over axis 0" in step.sentence


def test_a_hook_that_changes_the_gradient_is_noticed(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x * 3
    y.register_hook(lambda grad: grad * 10)
    z = y + 1
    step = viz.trace(z).of("y")
    assert step.wrong == "1 was sent, but 10 arrived: a hook changed it"
    assert step.total.array.item() == 10.0
    assert x.grad.item() == 30.0


def test_gradient_weights_a_tensor_that_is_not_one_number(t):
    w = t.tensor([1.0, 2.0], requires_grad=True)
    y = w * w
    trace = viz.trace(y, gradient=t.tensor([1.0, 10.0]))
    assert trace.of("y").total.array.tolist() == [1.0, 10.0]
    assert w.grad.tolist() == [2.0, 40.0]
    assert trace.of_what == "L"


def test_inputs_limit_what_is_computed(t):
    a = t.tensor(2.0, requires_grad=True)
    b = t.tensor(3.0, requires_grad=True)
    p = a * b
    trace = viz.trace(p, inputs=[a])
    assert [s.tensor for s in trace] == ["p", "a"]
    assert trace.of("p").sent[1].reason == "not computed: b is not needed for inputs="
    assert b.grad is None
    assert a.grad.item() == 3.0


def test_several_roots_go_backward_together(t):
    x = t.tensor(3.0, requires_grad=True)
    y = x * 2
    p, q = y * y, y + 1
    trace = viz.trace([p, q])
    assert trace.of("y").total.array.item() == 13.0
    assert x.grad.item() == 26.0


def test_retain_graph_lets_the_pass_run_again(t):
    c, names = diamond(t)
    assert not any(step.freed for step in viz.trace(c, retain_graph=True))
    assert any(step.freed for step in viz.trace(c, names=names))
    assert names["x"].grad.item() == 24.0


@pytest.mark.filterwarnings("ignore:Using backward")
def test_create_graph_makes_a_gradient_with_a_graph(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x**3
    viz.trace(y, create_graph=True)
    assert x.grad.grad_fn is not None


def test_the_table_is_readable_in_a_terminal(t):
    c, names = diamond(t)
    lines = str(viz.trace(c, names=names)).splitlines()
    assert lines[0].split() == ["step", "node", "tensor", "receives", "sends"]
    assert lines[-1].split() == ["5", "AccumulateGrad", "x", "12", ".grad:", "None", "→", "12"]


def test_a_trace_agrees_with_finite_differences(t):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))

    def f(a):
        return np.tanh(a @ b).sum()

    x = t.tensor(a.tolist(), dtype=t.float64, requires_grad=True)
    z = (x @ t.tensor(b.tolist(), dtype=t.float64)).tanh().sum()
    got = viz.trace(z).leaves["x"].array
    for i in np.ndindex(a.shape):
        h = np.zeros_like(a)
        h[i] = 1e-6
        assert got[i] == pytest.approx((f(a + h) - f(a - h)) / 2e-6, abs=1e-6)


# -- what cannot be traced ------------------------------------------------------------------------------------------------


def test_a_freed_graph_is_refused_before_anything_runs(t):
    x = t.tensor(2.0, requires_grad=True)
    z = (x * x) + 1
    z.backward()
    with pytest.raises(
        RuntimeError, match=r"second time: MulBackward0 .* Run the forward pass again, or use retain_graph"
    ):
        viz.trace(z)
    assert x.grad.item() == 4.0


def test_a_tensor_that_is_not_one_number_needs_gradient(t):
    w = t.tensor([1.0, 2.0], requires_grad=True)
    y = w * w
    with pytest.raises(
        RuntimeError, match=r"needs a single number to start from, but y has shape \(2,\): pass gradient="
    ):
        viz.trace(y)
    with pytest.raises(RuntimeError, match=r"gradient= has shape \(3,\), but y has shape \(2,\)"):
        viz.trace(y, gradient=t.ones(3))
    with pytest.raises(TypeError, match=r"gradient= must be a tensor of shape \(2,\), but it is list"):
        viz.trace(y, gradient=[[1.0, 2.0]])
    with pytest.raises(ValueError, match="gradient= must be a list of 2"):
        viz.trace([y, y], gradient=t.ones(2))


def test_what_arrived_at_a_leaf_is_shown_even_if_a_hook_then_changes_its_grad_in_place(t):
    def double(p):
        p.grad.mul_(2)

    x = t.tensor([1.0, 2.0], requires_grad=True)
    x.register_post_accumulate_grad_hook(double)
    (_, _, stored) = viz.trace((x * 3).sum(), names={"x": x}).steps
    assert stored.total.array.tolist() == stored.accumulate.contribution.array.tolist() == [3, 3]
    assert stored.accumulate.after.array.tolist() == x.grad.tolist() == [6, 6]
    assert "receives [3, 3] for x, but a hook that ran afterwards changed x.grad to [6, 6]" in stored.sentence


def test_what_a_rule_receives_is_shown_even_if_it_writes_into_it(t):
    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad.mul_(2)

    x = t.tensor([1.0, 2.0], requires_grad=True)
    step = viz.trace((Twice.apply(x) * 3).sum()).steps[2]
    assert step.name == "TwiceBackward" and not step.wrong
    assert (step.total.array.tolist(), step.sent[0].value.array.tolist()) == ([3, 3], [6, 6])


def test_hooks_are_removed_after_a_pass(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x * x
    first = viz.trace(y, retain_graph=True)
    steps = len(first.steps)
    y.backward()
    assert len(first.steps) == steps, "a hook of the first trace still ran"


def test_hooks_are_removed_when_a_hook_raises(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y + 1

    def refuse(grad):
        raise ValueError("the user's own hook failed")

    handle = y.register_hook(refuse)
    module = sys.modules["viz.run.trace"]  # viz.trace itself is the function
    made = []
    original = module._Recorder

    class Watched(original):
        def __init__(self):
            super().__init__()
            made.append(self)

    module._Recorder = Watched
    try:
        with pytest.raises(ValueError, match="the user's own hook failed"):
            viz.trace(z, retain_graph=True)
    finally:
        module._Recorder = original
    handle.remove()
    recorded = len(made[0].steps)
    z.backward()
    assert len(made[0].steps) == recorded, "a hook of the failed trace still ran"
    assert x.grad.item() == 3.0


def test_each_output_of_a_node_receives_its_own_gradient(t):
    x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    a, b, c = x.unbind(0)
    s = b * c + c
    step = viz.trace(s, names={"x": x, "a": a, "b": b, "c": c, "s": s})[2]
    assert [None if v is None else v.array.item() for v in step.totals] == [None, 3.0, 3.0]
    assert step.sentence == (
        "Step 3 of 4. UnbindBackward0 receives nothing for a, 3 for b, 1 + 2 = 3 for c. It sends [0, 3, 3] to x."
    )
    assert step.total.array.item() == 3.0


def test_an_output_that_nobody_uses_is_not_talked_about(t):
    x = t.tensor([[1.0, 3.0, 2.0]], requires_grad=True)
    values, _ = x.max(1)
    step = viz.trace(values.sum(), names={"values": values})[1]
    assert step.name == "MaxBackward0"
    assert "MaxBackward0 receives [1], the gradient for values." in step.sentence


def test_inputs_may_be_results_of_functions(t):
    x = t.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y * y
    trace = viz.trace(z, inputs=[y])
    assert y.grad.item() == 12.0 and x.grad is None
    assert "It sends 6 to y, and 6 to y." in trace[0].sentence
    assert "not needed" not in trace[0].sentence


def test_a_leaf_that_receives_nothing_keeps_what_it_had(t):
    class First(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    a, b = t.tensor(2.0, requires_grad=True), t.tensor(3.0, requires_grad=True)
    trace = viz.trace(First.apply(a, b))
    assert "receives nothing for b: b.grad stays None." in trace.of("b").sentence
    assert "b: no gradient: the rule of FirstBackward returned None for input 1." in trace[0].sentence


def test_a_broadcast_add_shows_the_sum_and_no_empty_alpha(t):
    y, b = t.ones(2, 3).requires_grad_(), t.zeros(3, requires_grad=True)
    z = y + b
    step = viz.trace(z.sum(), names={"y": y, "b": b, "z": z}).of("z")
    of_y, of_b = (sent.math for sent in step.sent)
    assert "summed" not in of_y and of_b.endswith(", summed over axis 0")
    assert [s.name for s in step.saved] == []
    w = t.ones(2, requires_grad=True)
    scaled = viz.trace(t.add(w, w, alpha=3).sum()).steps[1]
    assert [(s.name, s.text) for s in scaled.saved] == [("alpha", "3")]  # alpha is listed if it has an effect


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda w: viz.step(w * 2), r"such as \(w \* 2\)\.sum\(\)\.$"),
        (lambda w: viz.trace(w.exp()), r"such as exp\(w\)\.sum\(\)\.$"),
        (lambda w: viz.step(w.exp().sin().cos().tan()), r"such as its sum\(\)\.$"),
        (lambda w: viz.trace({"logits": w * 1, "loss": w.sum()}), r"got dict\. Name the entry .*: output\['loss'\]\.$"),
        (lambda w: viz.draw({"ids": w.detach(), "logits": w * 1}), r"output\['logits'\], or a scalar computed from it\.$"),
        (lambda w: viz.step({"n": 3}), "None of its values is a tensor that has a graph"),
        (viz.draw, "A module has no graph until it is called"),
        (lambda w: viz.trace(w.sum(), gradient=[None, None]), "got 1 tensor, so gradient= must be one tensor"),
        (lambda w: viz.trace([w.sum(), w.sum()], gradient=[None]), "got 2 tensors, so gradient= must be a list of 2"),
    ],
)  # fmt: skip
def test_a_mistake_is_answered_with_what_to_do(t, call, says):
    w = t.nn.Linear(2, 2) if call is viz.draw else t.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises((TypeError, ValueError, RuntimeError), match=says):
        call(w)


def through_a_shared_leaf(t):
    """A graph whose pass waits half-way for the pass of another thread, which ends at the same leaf."""
    w = t.tensor([1.0, 2.0], requires_grad=True)
    y = w * w

    def elsewhere(grad):
        thread = threading.Thread(target=lambda: (w * 3).sum().backward())
        thread.start()
        thread.join()

    y.register_hook(elsewhere)
    return w, y.sum()


def test_the_pass_of_another_thread_through_a_shared_leaf_is_not_recorded(t):
    w, z = through_a_shared_leaf(t)
    trace = viz.trace(z)
    assert [s.name for s in trace] == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    assert trace.steps[-1].total.array.tolist() == [2.0, 4.0]
    assert w.grad.tolist() == [5.0, 7.0]


def test_the_pass_of_another_thread_through_a_shared_leaf_is_not_followed(t):
    w, z = through_a_shared_leaf(t)
    progress = Progress()
    progress.follow([z], z.backward)
    assert (len(progress.ran), progress.begun) == (3, [])
    assert w.grad.tolist() == [5.0, 7.0]


def test_another_thread_may_clear_a_gradient_during_the_pass(t):
    w = t.tensor([1.0, 2.0], requires_grad=True)

    def clears(leaf):
        leaf.grad = None

    w.register_post_accumulate_grad_hook(clears)
    step = viz.trace((w * w).sum()).steps[-1]
    assert step.accumulate.after is None
    assert "removed w.grad" in step.sentence
