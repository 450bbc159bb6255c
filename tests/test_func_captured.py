"""What a transformed function may write to in place: what it made or was given, not what it finds already there.

Each program is run under PyTorch and under minigrad, which must agree on result or error, and on what is left of the
tensor `c` from outside.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Callable

import pytest

import minigrad
from minigrad.func.pytree import flatten


def summed(t, f, write: Callable) -> object:
    """The gradient of a sum, by a function that also does `write(x)`."""
    return f.grad(lambda x: (write(x), x.sum())[1])(t.ones(3))


def filled(b, x):
    """`b` after writing parts of `x` into it, as a number."""
    b[0] = x[0]
    b[1:2].mul_(x[1] * 2)
    b.add_(1)
    return (b * b).sum()


def without_grad(t, write: Callable) -> object:
    with t.no_grad():
        return write()


# ---------------------------------------------------------------- refused: `c` is from outside

WRITES = {
    "a number added": lambda t, c, x: c.add_(1),
    "an argument added": lambda t, c, x: c.add_(x),
    "an element": lambda t, c, x: c.__setitem__(0, 1.0),
    "an element of the argument": lambda t, c, x: c.__setitem__(0, x[0]),
    "a mask": lambda t, c, x: c.__setitem__(c > 0, x[0]),
    "a list of places": lambda t, c, x: c.__setitem__([0, 1], x[:2]),
    "a view": lambda t, c, x: c[1:].mul_(2),
    "a view of a view": lambda t, c, x: c.view(3, 1)[1:].t().mul_(2),
    "detached": lambda t, c, x: c.detach().mul_(2),
    "data": lambda t, c, x: c.data.mul_(2),
    "without recording": lambda t, c, x: without_grad(t, lambda: c.mul_(2)),
    "a copy": lambda t, c, x: c.copy_(x),
    "zeros": lambda t, c, x: c.zero_(),
    "one number": lambda t, c, x: c.fill_(2),
    "its own function": lambda t, c, x: c.exp_(),
    "limits": lambda t, c, x: c.clamp_(0, 1),
    "limits, as a function": lambda t, c, x: t.clamp_(c, 0.0, 0.5),
    "a truth value": lambda t, c, x: c.eq_(x),
    "three tensors": lambda t, c, x: c.addcmul_(x, x),
    "where a mask is true": lambda t, c, x: c.masked_fill_(c > 0, 3.0),
    "sums": lambda t, c, x: c.index_add_(0, t.tensor([0]), x[:1]),
    "rectified": lambda t, c, x: t.nn.functional.relu(c, inplace=True),
    "normal numbers": lambda t, c, x: c.normal_(),
    "even numbers": lambda t, c, x: c.uniform_(),
    "tosses": lambda t, c, x: c.bernoulli_(),
    "init.constant_": lambda t, c, x: t.nn.init.constant_(c, 2.0),
    "init.normal_": lambda t, c, x: t.nn.init.normal_(c),
    "another shape": lambda t, c, x: c.unsqueeze_(0),
    "transposed": lambda t, c, x: c.t_(),
    "another size": lambda t, c, x: c.resize_(2),
    "without history": lambda t, c, x: c.detach_(),
    "other memory": lambda t, c, x: c.set_(t.ones(3)),
    "backward": lambda t, c, x: t.ones(3, requires_grad=True).sum().backward(),
}
OTHERS = {
    "integers": lambda t: t.arange(3),
    "truth values": lambda t: t.arange(3) > 1,
    "a leaf": lambda t: t.ones(3, requires_grad=True),
    "a result": lambda t: t.ones(3, requires_grad=True) * 2,
    "a view of a result": lambda t: (t.ones(4, requires_grad=True) * 2)[1:],
}
NESTED = {
    "vjp": lambda t, f, c: f.vjp(lambda x: (c.add_(1), x.sum())[1], t.ones(3)),
    "jacrev": lambda t, f, c: f.jacrev(lambda x: (c.add_(1), x.sum())[1])(t.ones(3)),
    "jvp": lambda t, f, c: f.jvp(lambda x: (c.add_(1), x.sum())[1], (t.ones(3),), (t.ones(3),)),
    "hessian": lambda t, f, c: f.hessian(lambda x: (c.add_(1), x.sum())[1])(t.ones(3)),
    "vmap(grad)": lambda t, f, c: f.vmap(f.grad(lambda x: (c.add_(1), x.sum())[1]))(t.ones(2, 3)),
    "vmap(grad), its argument": lambda t, f, c: f.vmap(f.grad(lambda x: (c.add_(x), x.sum())[1]))(
        t.ones(2, 3)
    ),
    "grad(vmap)": lambda t, f, c: f.grad(lambda x: f.vmap(lambda x: (c.add_(1), x.sum())[1])(x).sum())(
        t.ones(2, 3)
    ),
    "grad(vmap), its argument": lambda t, f, c: f.grad(
        lambda x: f.vmap(lambda x: (c.add_(x), x.sum())[1])(x).sum()
    )(t.ones(2, 3)),
    "a batch from outside": lambda t, f, c: summed(t, f, lambda x: f.vmap(lambda row: row.add_(1))(c[None])),
    "an argument of vmap": lambda t, f, c: f.vmap(
        lambda y: f.grad(lambda x: (y.add_(1), x.sum())[1])(y * 2)
    )(t.ones(2, 3)),
    "made inside vmap": lambda t, f, c: f.vmap(
        lambda y: (lambda b: f.grad(lambda x: (b.add_(1), x.sum())[1])(y))(y * 3)
    )(t.ones(2, 3)),
    "an argument of the outer": lambda t, f, c: f.grad(
        lambda y: f.grad(lambda x: (y.add_(1), (x * y).sum())[1])(y).sum()
    )(t.ones(3)),
    "made by the outer": lambda t, f, c: f.grad(
        lambda y: (lambda b: f.grad(lambda x: (b.add_(1), (x * y).sum())[1])(y).sum())(t.zeros(3))
    )(t.ones(3)),
    "made by an outer jvp": lambda t, f, c: f.jvp(
        lambda y: (lambda b: f.grad(lambda x: (b.add_(1), (x * y).sum())[1])(y))(y * 2),
        (t.ones(3),),
        (t.ones(3),),
    ),
    "made in an earlier call": lambda t, f, c: earlier(t, f),
    "statistics": lambda t, f, c: with_module(t, f, t.nn.BatchNorm1d(2)),
    "rows that are too long": lambda t, f, c: (
        lambda e: summed(t, f, lambda x: e(t.tensor([0, 1])))
    )(t.nn.Embedding(3, 2, max_norm=0.1)),
    "a training step": lambda t, f, c: training_step(t, f),
}  # fmt: skip


def earlier(t, f):
    kept = []

    def remember(x):
        for old in kept:
            old.add_(1)
        kept.append(t.zeros(3))
        return x.sum()

    f.grad(remember)(t.ones(3))
    return f.grad(remember)(t.ones(3))


def with_module(t, f, module):
    return f.grad(lambda x: module(x).sum())(t.ones(4, 2))


def training_step(t, f):
    w = t.ones(3, requires_grad=True)
    optimizer = t.optim.SGD([w], lr=0.1)
    w.sum().backward()
    return summed(t, f, lambda x: optimizer.step())


# ---------------------------------------------------------------- allowed: made inside, or an argument

MADE = {
    "zeros": lambda t, c, x: t.zeros(3),
    "zeros_like": lambda t, c, x: t.zeros_like(c),
    "empty": lambda t, c, x: t.empty(3).zero_(),
    "new_zeros": lambda t, c, x: c.new_zeros(3),
    "tensor": lambda t, c, x: t.tensor([1.0, 2.0, 3.0]),
    "randn": lambda t, c, x: t.randn(3),
    "a copy": lambda t, c, x: c.clone(),
    "a product": lambda t, c, x: c * 2,
    "a view of a product": lambda t, c, x: (c * 2).view(3),
    "joined": lambda t, c, x: t.cat([c, c]),
    "stacked": lambda t, c, x: t.stack([c, c])[0],
    "chosen": lambda t, c, x: t.where(c > 0, c, 0.0),
    "elements": lambda t, c, x: c[[0, 1, 2]],
    "the largest": lambda t, c, x: c[None].max(0)[0],
    "sorted": lambda t, c, x: c.sort()[0],
    "part of a factorization": lambda t, c, x: t.linalg.qr(t.eye(3))[1][0],
    "another dtype": lambda t, c, x: c.double(),
    "of a leaf": lambda t, c, x: t.ones(3, requires_grad=True) * 2,
    "of the argument": lambda t, c, x: x * 2,
    "of the argument, detached": lambda t, c, x: (x * 2).detach(),
}
GIVEN = {
    "another argument": lambda t, f, c: f.grad(lambda x, y: (y.add_(1), (x * y).sum())[1])(t.ones(3), c),
    "another argument, a view": lambda t, f, c: f.grad(lambda x, y: (y[1:].add_(1), (x * y).sum())[1])(
        t.ones(3), c
    ),
    "another argument, in a list": lambda t, f, c: f.grad(
        lambda x, y: (y[0].add_(1), (x * y[0]).sum())[1]
    )(t.ones(3), [c]),
    "by name": lambda t, f, c: f.grad(lambda x, y: (y.add_(1), (x * y).sum())[1])(t.ones(3), y=c),
    "of jacrev": lambda t, f, c: f.jacrev(lambda x, y: (y.add_(1), x * y)[1])(t.ones(3), c),
    "of vmap(grad)": lambda t, f, c: f.vmap(f.grad(lambda x, y: (y.add_(1), (x * y).sum())[1]))(
        t.ones(2, 3), t.ones(2, 3)
    ),
    "vmap(grad)": lambda t, f, c: f.vmap(f.grad(lambda x: filled(t.zeros_like(x), x)))(t.ones(2, 3)),
    "vmap(grad), of a constant": lambda t, f, c: f.vmap(f.grad(lambda x: filled(c * 1, x)))(t.ones(2, 3)),
    "grad(vmap)": lambda t, f, c: f.grad(
        lambda x: f.vmap(lambda x: filled(t.zeros_like(x), x))(x).sum()
    )(t.ones(2, 3)),
    "grad(grad)": lambda t, f, c: f.grad(
        lambda y: f.grad(lambda x: filled(t.zeros(3), x * x))(y).sum()
    )(t.ones(3)),
    "grad(grad), of the outer after the inner": lambda t, f, c: f.grad(
        lambda y: (lambda b: (f.grad(lambda x: (x * y * b).sum())(y), (b.add_(1) * y).sum())[1])(t.zeros(3))
    )(t.ones(3)),
    "hessian": lambda t, f, c: f.hessian(lambda x: filled(t.zeros(3), x * x))(t.ones(3)),
    "jvp(grad)": lambda t, f, c: f.jvp(
        f.grad(lambda x: filled(t.zeros(3), x * x)), (t.ones(3),), (t.ones(3),)
    ),
    "parameters": lambda t, f, c: summed(
        t, f, lambda x: without_grad(t, lambda: t.nn.Parameter(t.ones(3)).add_(1))
    ),
    "statistics of a module that does not train": lambda t, f, c: with_module(
        t, f, t.nn.BatchNorm1d(2).eval()
    ),
    "statistics as an argument": lambda t, f, c: (
        lambda m: f.grad(lambda p, b: f.functional_call(m, (p, b), (t.ones(4, 2),)).sum())(
            dict(m.named_parameters()), dict(m.named_buffers())
        )
    )(t.nn.BatchNorm1d(2)),
    "vmap alone": lambda t, f, c: f.vmap(lambda x: (c.add_(1), x.sum())[1])(t.ones(2, 3)),
}  # fmt: skip

CASES = (
    {f"write: {k}": lambda t, f, c, w=w: summed(t, f, lambda x: w(t, c, x)) for k, w in WRITES.items()}
    | {
        f"into: {k}": lambda t, f, c, make=make: (
            lambda o: summed(t, f, lambda x: (o.logical_not_ if o.dtype is t.bool else o.neg_)())
        )(make(t))
        for k, make in OTHERS.items()
    }
    | {f"nested: {k}": run for k, run in NESTED.items()}
    | {
        f"made: {k}": lambda t, f, c, make=make: f.grad(lambda x: filled(make(t, c, x), x))(t.ones(3))
        for k, make in MADE.items()
    }
    | {f"given: {k}": run for k, run in GIVEN.items()}
)


def outcome(t, run: Callable) -> tuple:
    """The result, or the first line of the error without the overload; and what `c` is afterwards."""
    c = t.ones(3) * 0.5
    t.manual_seed(0)
    try:
        result = [leaf.tolist() for leaf in flatten(run(t, importlib.import_module(f"{t.__name__}.func"), c))[0]
                  if hasattr(leaf, "tolist")]  # fmt: skip
    except RuntimeError as error:
        result = re.sub(r"(aten::\w+)\.\w+", r"\1", str(error).split("\n")[0])
    return result, c.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_a_write_is_refused_where_torch_refuses_it(torch, name):
    assert outcome(minigrad, CASES[name]) == outcome(torch, CASES[name])


# Operations in place, of a tensor that all examples share with one for each.
PAIRS = (
    "add", "atan2", "bitwise_and", "copy", "copysign", "div", "eq", "fmod", "gcd", "ge", "hypot", "lcm", "logical_or",
    "lt", "mul", "ne", "pow", "remainder", "sub",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("operation", PAIRS)
def test_one_tensor_does_not_take_a_value_for_each_example(torch, operation):
    def call(t):
        c = t.ones(3) if operation not in ("bitwise_and", "gcd", "lcm") else t.arange(3)
        with pytest.raises(RuntimeError) as caught:
            t.func.vmap(lambda x: getattr(c, f"{operation}_")(x))(t.stack([c, c]))
        message = re.sub(r"(aten::\w+)\.\w+", r"\1", str(caught.value))
        return message.split(" over at level ")[0].split(" over in a vmap")[0]

    assert call(minigrad) == call(torch)


def test_a_transform_that_fails_leaves_no_other_one_refusing():
    def fails(x):
        raise ZeroDivisionError

    c = minigrad.ones(3)
    with pytest.raises(ZeroDivisionError):
        minigrad.func.grad(fails)(c)
    assert c.add_(1).tolist() == [2.0, 2.0, 2.0]


def test_a_transform_in_another_thread_refuses_nothing_here():
    inside, written = threading.Event(), threading.Event()

    def waits(x):
        inside.set()
        assert written.wait(10)
        return x.sum()

    other = threading.Thread(target=lambda: minigrad.func.grad(waits)(minigrad.ones(3)))
    c = minigrad.ones(3)
    other.start()
    assert inside.wait(10)
    c.add_(1)
    c[0] = 5.0
    written.set()
    other.join()
    assert c.tolist() == [5.0, 2.0, 2.0]
