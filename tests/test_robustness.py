"""What must not happen: recursion errors, leaks, modes left behind, threads in each other's way."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd.node import COUNTS_ARGUMENTS
from minigrad.memory import copied_in_rows


def test_a_chain_of_a_million_nodes_is_built_walked_and_forgotten():
    # in a process of its own, with little stack: recursion anywhere would end it
    program = """
import threading
import minigrad as torch

def chain():
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = y + 1.0
    y.backward()
    del y
    assert x.grad.item() == 1.0
    print("done")

threading.stack_size(256 * 1024)
thread = threading.Thread(target=chain)
thread.start()
thread.join()
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert (run.returncode, run.stdout.strip()) == (0, "done"), run.stderr[-2000:]


def step(x, w):
    """A forward and backward pass with fan-out, views, an in-place write and several outputs."""
    h = x @ w
    a, b = h[:2], h[2:]
    c = torch.relu(a) * b + a.exp().sum() / (b * b + 1)
    d = c * 1
    d[0] = 2.0
    d.mul_(0.5)
    loss = (d.reshape(-1) * h.reshape(-1)[:6]).mean()
    loss.backward()
    return loss.detach()


def leaves():
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.standard_normal((4, 3)))
    return x, torch.tensor(rng.standard_normal((3, 3)), requires_grad=True)


def test_graphs_die_by_reference_count_alone():
    x, w = leaves()
    step(x, w)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            step(x, w)
        y = (w * w).sum()
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_graph_that_never_ran_backward_dies_too():
    w = torch.ones(3, requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        y = w
        for _ in range(100):
            y = (y * 2).sin()
        del y
        assert gc.collect() == 0
    finally:
        gc.enable()


class Increase(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * ctx.saved_tensors[0]


def a_function_that_writes(x):
    y = x * 2
    Increase.apply(y[1:])
    Increase.apply(y).sum().backward()


def a_function_that_saves_its_result(x):
    Square.apply(x)
    y = Square.apply(x)
    y.grad_fn._raw_saved_tensors[1].register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()


def hooks_on_several_tensors(x):
    y, register = x * 2, torch.autograd.graph.register_multi_grad_hook
    register((x, y), lambda grads: None)
    register((x, y), lambda grad: None, mode="any")
    register((y * 2, y), lambda grads: None)
    y.sum().backward()


def all_kinds_of_hooks(x):
    y = x.exp()
    y.register_hook(lambda grad: grad)
    y.grad_fn.register_hook(lambda grads, outputs: None)
    y.grad_fn.register_prehook(lambda grads: None)
    x.register_post_accumulate_grad_hook(lambda t: None)
    y.sum().backward()


def a_hook_that_raises(x):
    y = x.exp()
    y.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()


def views_with_kept_gradients(x):
    y = x * 2
    v = y[1:]
    v.retain_grad()
    v.exp_()
    (grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (grad.sum() + v.sum()).backward()


def saved_tensors_that_may_be_written(x):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.exp()
        y.add_(1).sum().backward()


def anomaly_mode(x):
    with torch.autograd.set_detect_anomaly(True):
        y = x * 2
        y[1:].mul_(2)
        y.sum().backward()


def many_vectors_at_once(x):
    torch.autograd.grad(x.exp(), x, torch.eye(3), is_grads_batched=True)


@pytest.mark.parametrize(
    "use",
    [
        a_function_that_writes, a_function_that_saves_its_result, hooks_on_several_tensors, all_kinds_of_hooks,
        a_hook_that_raises, views_with_kept_gradients, saved_tensors_that_may_be_written, anomaly_mode, many_vectors_at_once,
    ],
    ids=lambda use: use.__name__,
)  # fmt: skip
def test_features_leave_no_cycles(use):
    use(torch.ones(3, requires_grad=True))  # once before, for what is made once
    gc.collect()
    gc.disable()
    try:
        use(torch.ones(3, requires_grad=True))
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_ten_thousand_steps_do_not_grow():
    w = torch.ones(4, requires_grad=True)

    def steps(count):
        for _ in range(count):
            w.grad = None
            ((w * 2 - 1) ** 2).mean().backward()
            with torch.no_grad():
                w.sub_(w.grad * 0.1)

    steps(1000)
    tracemalloc.start()
    steps(1000)
    early = tracemalloc.get_traced_memory()[0]
    steps(8000)
    late = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert late - early < 20_000, f"{late - early} bytes more after 8,000 steps"
    assert np.allclose(w.detach().numpy(), 0.5)


def test_threads_run_backward_at_once():
    x, w = leaves()
    expected = step(x, w).item(), w.grad.numpy().copy()
    failures = []

    def work():
        for _ in range(50):
            own = w.detach().clone().requires_grad_()
            loss = step(x, own).item()
            if loss != expected[0] or not np.array_equal(own.grad.numpy(), expected[1]):
                failures.append((loss, own.grad))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_threads_accumulate_into_one_leaf():
    w = torch.zeros(1, requires_grad=True)

    def work():
        for _ in range(200):
            (w * 1.0).backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert w.grad.item() == 800.0


def test_threads_bring_the_first_gradient_of_one_leaf():
    """None of the gradients is lost if several threads find that the leaf has none yet."""
    leaves = [torch.zeros(2, requires_grad=True) for _ in range(2000)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work():
        for w in leaves:
            w.backward(torch.ones(2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert {tuple(w.grad.tolist()) for w in leaves} == {(4.0, 4.0)}


class Oops(Exception):
    pass


def fail(*_):
    raise Oops


def test_a_hook_that_fails_leaves_nothing_behind():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    for attach in (
        lambda y: w.register_hook(fail),
        lambda y: y.register_hook(fail),
        lambda y: y.grad_fn.register_prehook(fail),
        lambda y: y.grad_fn.register_hook(fail),
        lambda y: w.register_post_accumulate_grad_hook(fail),
    ):
        y = w * w
        handle, loss = attach(y), y.sum()
        with pytest.raises(Oops):
            loss.backward()
        assert torch.is_grad_enabled()
        handle.remove()
        w.grad = None
        (w * w).sum().backward()
        assert w.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("mode", ["no_grad", "enable_grad", "inference_mode"])
def test_an_error_inside_a_mode_restores_it(mode):
    before = torch.is_grad_enabled()
    with pytest.raises(Oops), getattr(torch, mode)():
        fail()
    assert torch.is_grad_enabled() is before
    assert not torch.is_inference_mode_enabled()


def test_backward_inside_a_hook():
    w = torch.tensor([3.0], requires_grad=True)
    inner = torch.tensor([2.0], requires_grad=True)
    y = w * w

    def differentiate(grad):
        with torch.enable_grad():  # hooks run without recording
            (inner * inner).backward()

    y.register_hook(differentiate)
    y.backward()
    assert (w.grad.item(), inner.grad.item()) == (6.0, 4.0)


@pytest.mark.parametrize("counted", [True, False], ids=["references counted", "references not counted"])
def test_no_leaf_shares_its_gradient_with_another_or_with_the_caller(counted, monkeypatch):
    """An array that nobody else has may become a leaf's gradient; any other is copied."""
    monkeypatch.setattr("minigrad.autograd.node.COUNTS_ARGUMENTS", counted and COUNTS_ARGUMENTS)
    given = torch.ones(3)
    a, b = (torch.ones(3, requires_grad=True) for _ in range(2))
    for program in (
        lambda: a + b,
        lambda: -(a + b),
        lambda: a * 1 + b * 1,
        lambda: a.exp() + b,
        lambda: a.view(3) + b,
    ):
        a.grad = b.grad = None
        program().backward(given)
        arrays = [given.numpy(), a.grad.numpy(), b.grad.numpy(), a.detach().numpy(), b.detach().numpy()]
        for i, first in enumerate(arrays):
            assert not any(np.shares_memory(first, other) for other in arrays[i + 1 :])


def test_the_gradient_of_a_transposed_weight_lies_in_rows_and_is_shared_with_nobody():
    """It is formed transposed, as in PyTorch, so that the leaf may keep it, unless somebody else has it, too."""
    x = torch.ones(5, 3)
    for program in (
        lambda w: x @ w.t(),
        lambda w: x @ w.T,
        lambda w: x @ w.transpose(0, 1),
        lambda w: torch.nn.functional.linear(x, w, torch.ones(4)),
    ):
        w = torch.ones(4, 3, requires_grad=True)
        program(w).sum().backward()
        assert w.grad.stride() == (3, 1) and w.grad.tolist() == [[5.0] * 3] * 4
    w = torch.ones(4, 3, requires_grad=True)
    turned = w.t()
    turned.retain_grad()
    (x @ turned).sum().backward()
    assert turned.grad.stride() == (4, 1) and not np.shares_memory(w.grad.numpy(), turned.grad.numpy())


def test_a_large_transposed_gradient_is_copied_in_rows_as_it_is():
    """Slab by slab: each element in its place, and nothing that shares memory with the gradient."""
    for shape in ((300, 200), (200, 300), (1, 40_000), (64, 64), (257, 129)):
        given = np.random.default_rng(0).random(shape).T
        found = copied_in_rows(given)
        assert found.flags.c_contiguous
        assert not np.shares_memory(found, given)
        np.testing.assert_array_equal(found, given)
