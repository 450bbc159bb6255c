"""What `define` offers beside one rule for one input: results without a derivative, any number of them, one
rule for several inputs."""

import itertools

import numpy as np
import pytest

import minigrad as mg
import minigrad.nn.functional as F
from minigrad.ops.rules import gives_several
from minigrad.ops.table import OPS, define, first_of

# ---------------------------------------------------------------- results without a derivative

SELECTIONS = {
    "max": lambda t, x: t.max(x, 1),
    "topk": lambda t, x: t.topk(x, 2),
    "sort": lambda t, x: t.sort(x),
    "median": lambda t, x: t.median(x, 1),
    "mode": lambda t, x: t.mode(x),
    "cummax": lambda t, x: t.cummax(x, 1),
    "var_mean": lambda t, x: t.var_mean(x, 1),
    "max_pool2d": lambda t, x: t.nn.functional.max_pool2d(x[None], 2, return_indices=True),
    "nll_loss": lambda t, x: (t.nn.functional.nll_loss(x, t.arange(4)),),
    "layer_norm": lambda t, x: (t.nn.functional.layer_norm(x, (6,)),),
    "batch_norm": lambda t, x: (t.nn.functional.batch_norm(x, None, None, training=True),),
    "group_norm": lambda t, x: (t.nn.functional.group_norm(x, 2),),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_node_has_the_outputs_that_have_a_derivative(torch, name):
    """A hook on the node of `max` gets one gradient: that of the values. The index has none, and is no output of it."""

    def seen(t):
        x = t.arange(24.0).reshape(4, 6).requires_grad_()
        outs = SELECTIONS[name](t, x)
        found = []
        outs[0].grad_fn.register_prehook(lambda grads: found.append([g is None for g in grads]))
        outs[0].sum().backward()
        return found, [(o.requires_grad, o.output_nr) for o in outs]

    assert seen(mg) == seen(torch)


def test_a_saved_result_without_a_derivative_has_no_history(torch):
    for t in (mg, torch):
        node = t.max(t.ones(2, 3, requires_grad=True), 1).values.grad_fn
        assert node._saved_indices.grad_fn is None and not node._saved_indices.requires_grad


# ---------------------------------------------------------------- one rule for several inputs


def both_backward(grad, grad_input_mask, self, other):
    """The gradients of self * other + self: the two have no work in common, but they are counted."""
    both_backward.masks.append(grad_input_mask)
    wants_self, wants_other = grad_input_mask
    return grad * (other + 1) if wants_self else None, grad * self if wants_other else None


@pytest.fixture
def both():
    """An operation with one rule for its two inputs."""
    both_backward.masks = []
    before = len(OPS)
    op = define(
        "both", lambda self, other: self * other + self, kind="elementwise", self=both_backward, other=both_backward
    )  # fmt: skip
    yield op
    del OPS[before:]


def tensors(*wanted):
    return [mg.rand(2, 3, dtype=mg.float64, requires_grad=w) for w in wanted]


def test_it_runs_once_and_is_told_which_gradients_are_needed(both):
    for wanted in ((True, True), (True, False), (False, True)):
        a, b = tensors(*wanted)
        both(a, b).sum().backward()
        assert both_backward.masks.pop() == wanted and not both_backward.masks
        assert [t.grad is not None for t in (a, b)] == list(wanted)


def test_its_gradients_are_right_at_every_order_and_in_both_directions(both):
    a, b = tensors(True, True)
    assert mg.autograd.gradcheck(both, (a, b), check_forward_ad=True)
    assert mg.autograd.gradgradcheck(both, (a, b))
    row = mg.rand(3, dtype=mg.float64, requires_grad=True)  # broadcast
    assert mg.autograd.gradcheck(both, (a, row), check_forward_ad=True)


def test_it_can_be_batched(both):
    a, b = tensors(False, False)
    slopes = mg.func.vmap(mg.func.grad(lambda x, y: both(x, y).sum(), argnums=(0, 1)))(a, b)
    for slope, exact in zip(slopes, (b + 1, a), strict=True):
        np.testing.assert_allclose(slope.numpy(), exact.numpy())


def test_a_node_shows_which_of_its_gradients_belongs_to_which_input(both):
    call = "both_backward(grad, grad_input_mask, self, other)"
    assert both(*tensors(True, True)).grad_fn.rules == {"self": f"{call}[0]", "other": f"{call}[1]"}


def test_such_rules_give_nothing_for_inputs_that_need_nothing():
    """What the mask says no to is None: a hook on the node sees it."""
    x, y, w, b = (mg.rand(*s, dtype=mg.float64) for s in ((4, 6), (4, 6), (6,), (6,)))
    uses = {
        "native_layer_norm": ((x, w, b), lambda: F.layer_norm(x, (6,), w, b)),
        "native_batch_norm": ((x, w, b), lambda: F.batch_norm(x, None, None, w, b, True)),
        "native_group_norm": ((x, w, b), lambda: F.group_norm(x, 2, w, b)),
        "smooth_l1_loss": ((x, y), lambda: F.smooth_l1_loss(x, y)),
        "huber_loss": ((x, y), lambda: F.huber_loss(x, y)),
    }
    assert set(uses) <= {op.name for op in OPS if any(gives_several(rule) for rule, _, _ in op.plan)}
    for inputs, use in uses.values():
        for wanted in itertools.product((True, False), repeat=len(inputs)):
            if any(wanted):
                for t, needed in zip(inputs, wanted, strict=True):
                    t.requires_grad_(needed)
                out, found = use(), []
                out.grad_fn.register_hook(lambda grads, _: found.append(tuple(g is not None for g in grads)))  # noqa: B023
                out.sum().backward()
                assert found == [wanted]


# ---------------------------------------------------------------- the first of several results alone


def test_the_first_result_alone_is_the_first_of_all():
    op = next(op for op in OPS if op.name == "var_mean")
    x = mg.rand(3, 4, requires_grad=True)
    alone, all_of_them = first_of(op.call)(x, (1,), 1, False), op.call(x, (1,), 1, False)
    assert isinstance(all_of_them, tuple) and isinstance(alone, mg.Tensor)
    np.testing.assert_array_equal(alone.detach().numpy(), all_of_them[0].detach().numpy())
    assert type(alone.grad_fn) is type(all_of_them[0].grad_fn)
    for values in (alone, all_of_them[0]):
        values.sum().backward()
    half = x.grad.numpy() / 2
    x.grad = None
    alone = mg.func.vmap(lambda row: first_of(op.call)(row, (0,), 1, False))(
        x
    )  # a transform is not the ordinary case
    alone.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), half, rtol=1e-6)


# ---------------------------------------------------------------- any number of results


@pytest.fixture
def strips():
    """The rows of a matrix, however many there are; the last is given as whole numbers."""
    op = define(
        "strips", lambda self: (*self[:-1], self[-1].astype(np.int64)), outputs=(),
        self=lambda grad, self_sym_sizes: np.stack([np.zeros(self_sym_sizes[1]) if g is None else g for g in grad]),
    )  # fmt: skip
    yield op
    OPS.remove(op.op)


def test_as_many_results_as_the_forward_function_gives_share_one_node(strips):
    for rows in (2, 3):
        x = mg.rand(rows, 4, dtype=mg.float64, requires_grad=True)
        *outs, whole = strips(x)
        node, places = outs[0].grad_fn, [(out.grad_fn, out.output_nr) for out in outs]
        assert node._output_count == rows and places == [(node, i) for i in range(rows - 1)]
        assert whole.grad_fn is None and not whole.requires_grad
        outs[0].sum().backward()
        assert x.grad.tolist() == [[1.0] * 4] + [[0.0] * 4] * (rows - 1)


ORDINARY = {
    "chunk": lambda x, y: x.chunk(2),
    "split": lambda x, y: x.split([1, 2]),
    "unbind": lambda x, y: x.unbind(1),
    "max": lambda x, y: x.max(1),
    "clamp to one tensor": lambda x, y: [mg.clamp(x, max=y)],
    "clamp to one of another dtype": lambda x, y: [mg.clamp(x, min=y.double())],
}


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.parametrize("mode", [mg.enable_grad, mg.no_grad])
def test_the_ordinary_case_needs_no_general_function(monkeypatch, name, mode):
    """Several results and absent inputs are ordinary: the function that is written for the operation does it all."""
    x, y = mg.rand(3, 4, requires_grad=True), mg.rand(4, requires_grad=True)
    with mg.inference_mode():  # by the general function
        expected = [(out.numpy(force=True), out._is_view()) for out in ORDINARY[name](x, y)]
    monkeypatch.setattr("minigrad.ops.calls.apply", None)
    with mode():
        found = ORDINARY[name](x, y)
    for out, (values, is_view) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(out.numpy(force=True), values, strict=True)
        assert out._is_view() == is_view


# ---------------------------------------------------------------- a rule stands in its node's vjp as text


@pytest.mark.parametrize("text", ["", "define('cut', lambda self: 3 * self, self=lambda grad: grad - 1)"])
def test_a_rule_whose_source_is_missing_or_was_edited_is_called(monkeypatch, text):
    """What is written into the vjp is the rule itself, or a call of it: never another text in its place."""
    line = "define('cut', lambda self: 3 * self, self=lambda grad: grad * 3)"
    scope = {"define": define}
    cut = eval(compile(line, "<a file that changed>", "eval"), scope)
    try:
        monkeypatch.setattr("linecache.getline", lambda file, number: text)
        x = mg.ones(2, requires_grad=True)
        cut(x).sum().backward()
        assert x.grad.tolist() == [3.0, 3.0]
    finally:
        OPS.remove(cut.op)
