"""What must not happen: recursion errors, leaks, modes left behind, half-written tensors, interference between threads."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc
from itertools import product

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd.graph import saved_tensors_hooks
from minigrad.autograd.modes import local, special
from minigrad.utils.checkpoint import checkpoint

# ---------------------------------------------------------------- depth, memory


@pytest.mark.long
def test_a_chain_of_a_million_nodes_is_built_walked_and_forgotten():
    # in a separate process with a small stack: recursion anywhere would end it
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

threading.stack_size(1024 * 1024)  # of which CPython 3.13 takes 600 bytes for each of 1,000 levels of a chain that it forgets
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


def a_graph_that_never_ran_backward(x):
    y = x
    for _ in range(100):
        y = (y * 2).sin()


def a_whole_step(x):
    step(*leaves())


def a_function_that_writes(x):
    y = x * 2
    Increase.apply(y[1:])
    Increase.apply(y).sum().backward()


def a_function_that_saves_its_result(x):
    Square.apply(x)
    Square.apply(x).sum().backward()


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


def hooks_on_saved_tensors(x):
    with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = x.exp()
    y.sum().backward()
    checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False).sum().backward()


def anomaly_mode(x):
    with torch.autograd.set_detect_anomaly(True):
        y = x * 2
        y[1:].mul_(2)
        y.sum().backward()


def transforms(x):
    torch.func.vmap(torch.func.grad(lambda t: (t * t).exp()))(x)
    torch.func.jvp(lambda t: t.sin(), (x,), (x,))


USES = [
    a_graph_that_never_ran_backward, a_whole_step, a_function_that_writes, a_function_that_saves_its_result,
    all_kinds_of_hooks, a_hook_that_raises, views_with_kept_gradients, hooks_on_saved_tensors,
    anomaly_mode, transforms,
]  # fmt: skip


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_it_leaves_no_cycles(use):
    use(torch.ones(3, requires_grad=True))  # a first run, for whatever is created only once
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


def test_no_leaf_shares_its_gradient_with_another_or_with_the_caller():
    given = torch.ones(3)
    a, b = (torch.ones(3, requires_grad=True) for _ in range(2))
    sums = (
        lambda: a + b,
        lambda: -(a + b),
        lambda: a * 1 + b * 1,
        lambda: a.exp() + b,
        lambda: a.view(3) + b,
    )
    for program in sums:
        a.grad = b.grad = None
        program().backward(given)
        arrays = [given.numpy(), a.grad.numpy(), b.grad.numpy(), a.detach().numpy(), b.detach().numpy()]
        for i, first in enumerate(arrays):
            assert not any(np.shares_memory(first, other) for other in arrays[i + 1 :])


# ---------------------------------------------------------------- threads


def in_threads(work, count):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


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

    in_threads(work, 8)
    assert failures == []


def test_threads_accumulate_into_one_leaf():
    w = torch.zeros(1, requires_grad=True)

    def work():
        for _ in range(200):
            (w * 1.0).backward()

    in_threads(work, 4)
    assert w.grad.item() == 800.0


def test_threads_bring_the_first_gradient_of_one_leaf():
    """No gradient is lost if several threads find that the leaf does not have one yet."""
    leaves = [torch.zeros(2, requires_grad=True) for _ in range(2000)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work():
        for w in leaves:
            w.backward(torch.ones(2))

    try:
        in_threads(work, 4)
    finally:
        sys.setswitchinterval(interval)
    assert {tuple(w.grad.tolist()) for w in leaves} == {(4.0, 4.0)}


def test_a_mode_is_its_threads_own():
    seen = []
    with torch.no_grad():
        in_threads(
            lambda: seen.append(
                ((torch.ones(1, requires_grad=True) * 2).requires_grad, torch.is_grad_enabled())
            ),
            2,
        )
    assert seen == [(True, True)] * 2


# ---------------------------------------------------------------- what an error, or a hook, leaves behind


class Oops(Exception):
    pass


def fail(*_):
    raise Oops


def everything_is_as_usual():
    """No mode, no hook, no transform is on in this thread, and operations take their ordinary path."""
    usual = local.grad and not (local.inference or local.saved_hooks or local.transform_depth)
    return usual and local.interpreter is None and not special


def test_what_a_hook_before_forward_returns_is_not_written_out():
    """Taking its repr at every call would take longer than most layers."""

    class Unwritten:
        def __repr__(self) -> str:
            raise AssertionError("it was written out")

    layer = torch.nn.Identity()
    layer.register_forward_pre_hook(lambda module, args, kwargs: (args, kwargs), with_kwargs=True)
    layer.register_forward_pre_hook(lambda module, args: args)
    given = Unwritten()
    assert layer(given) is given


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
        assert everything_is_as_usual()
        handle.remove()
        w.grad = None
        (w * w).sum().backward()
        assert w.grad.tolist() == [2.0, 4.0]


MODES = {
    "no_grad": torch.no_grad,
    "enable_grad": torch.enable_grad,
    "inference_mode": torch.inference_mode,
    "set_grad_enabled": lambda: torch.set_grad_enabled(False),
    "anomaly": lambda: torch.autograd.set_detect_anomaly(True),
    "hooks": lambda: saved_tensors_hooks(lambda t: t, lambda t: t),
    "dual_level": torch.autograd.forward_ad.dual_level,
}


@pytest.mark.parametrize("mode", MODES)
def test_an_error_inside_a_mode_restores_what_was_before(mode):
    with pytest.raises(Oops), MODES[mode]():
        fail()
    assert everything_is_as_usual()


def in_a_rule(w, enter):
    class Rule(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            enter()
            return grad

    return Rule.apply(w * w)


def in_a_hook(register):
    def result(w, enter):
        y = w * w
        register(w, y, lambda *given: enter())
        return y * 1

    return result


ENTERED = {
    "in a rule": in_a_rule,
    "in a tensor's hook": in_a_hook(lambda w, y, hook: y.register_hook(hook)),
    "in a node's hook": in_a_hook(lambda w, y, hook: y.grad_fn.register_hook(hook)),
    "in a node's prehook": in_a_hook(lambda w, y, hook: y.grad_fn.register_prehook(hook)),
    "in a leaf's hook": in_a_hook(lambda w, y, hook: w.register_hook(hook)),
    "after a leaf": in_a_hook(lambda w, y, hook: w.register_post_accumulate_grad_hook(hook)),
}


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_mode_that_is_entered_in_a_pass_and_not_left_does_not_outlive_it():
    outlived = []
    modes = set(MODES) - {"anomaly"}  # which is a setting, not a mode
    for mode, where, recorded in product(sorted(modes), ENTERED, [False, True]):
        kept = []

        def enter(mode=mode, kept=kept):
            kept.append(MODES[mode]())
            kept[-1].__enter__()

        losses = [ENTERED[where](torch.tensor([1.0, 2.0], requires_grad=True), enter).sum() for _ in range(2)]
        losses[0].backward(create_graph=recorded)
        usual = [len(kept) == 1, everything_is_as_usual()]
        with (
            torch.no_grad(),
            saved_tensors_hooks(lambda t: t, lambda t: t),
        ):  # it does not change what was on before
            before = dict(vars(local))
            losses[1].backward(create_graph=recorded)
            usual += [len(kept) == 2, vars(local) == before]
        if not all([*usual, everything_is_as_usual()]):
            outlived.append(f"{mode}, {where}{', create_graph' * recorded}")
    assert not outlived, "all after the first may be its fault:\n" + "\n".join(outlived)


def test_an_error_in_a_transform_leaves_nothing_behind():
    for transform in (torch.func.grad, torch.func.vmap, torch.func.jacrev, torch.func.jacfwd):
        with pytest.raises(Oops):
            transform(lambda x: fail(x * 2))(torch.ones(2))
        assert everything_is_as_usual()


REFUSED = {
    "a shape that does not fit": lambda y: y.add_(torch.ones(5)),
    "a dtype that does not fit": lambda y: y.long().add_(0.5),
    "an index out of range": lambda y: y.scatter_add_(0, torch.tensor([0, 9]), torch.ones(2)),
    "an index out of range in brackets": lambda y: y.__setitem__(torch.tensor([0, 9]), 5.0),
    "a value of another shape": lambda y: y.__setitem__(slice(0, 2), torch.ones(3)),
    "itself, moved": lambda y: y[1:].mul_(y[:-1]),
    "a leaf": lambda y: y.detach().requires_grad_().mul_(2),
    "one of several views": lambda y: y.unbind()[0].mul_(2),
}


@pytest.mark.parametrize("write", REFUSED)
def test_a_write_that_is_refused_changes_nothing(write):
    y = torch.arange(4.0).requires_grad_() * 2
    before, node = y.detach().clone(), y.grad_fn
    with pytest.raises((RuntimeError, IndexError)):
        REFUSED[write](y)
    assert y.tolist() == before.tolist() and y._version == 0 and y.grad_fn is node


def test_an_unpack_hook_that_fails_leaves_a_graph_that_can_be_used():
    x, broken = torch.ones(2, requires_grad=True), [True]

    def unpack(t):
        if broken:
            fail()
        return t

    with saved_tensors_hooks(lambda t: t, unpack):
        y = x.exp()
    with pytest.raises(Oops):
        y.sum().backward()
    assert x.grad is None and everything_is_as_usual()
    broken.clear()
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_backward_inside_a_hook():
    w, inner = torch.tensor([3.0], requires_grad=True), torch.tensor([2.0], requires_grad=True)
    y = w * w

    def differentiate(grad):
        with torch.enable_grad():  # hooks run without recording
            (inner * inner).backward()

    y.register_hook(differentiate)
    y.backward()
    assert (w.grad.item(), inner.grad.item()) == (6.0, 4.0)
