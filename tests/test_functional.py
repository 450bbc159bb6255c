"""autograd.functional: values, structures and errors are PyTorch's, for each of a table of calls."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad
from minigrad.func.pytree import flatten

X = np.array([0.7, -0.4, 0.9])


def c(t):
    return t.tensor(X)


def two(x, y):
    return (x * y).sin()


# name: call of the module and of its autograd.functional
CALLS = {
    "jacobian": lambda t, f: f.jacobian(lambda x: x.sin() * x[0], c(t)),
    "jacobian two": lambda t, f: f.jacobian(two, (c(t), c(t) * 2)),
    "jacobian two out": lambda t, f: f.jacobian(lambda x, y: (x * y, y.sum()), (c(t), c(t) * 2)),
    "jacobian vec": lambda t, f: f.jacobian(lambda x, y: (x * y, y.sum()), (c(t), c(t) * 2), vectorize=True),
    "jacobian fwd": lambda t, f: f.jacobian(
        lambda x, y: (x * y, y.sum()), (c(t), c(t) * 2), vectorize=True, strategy="forward-mode"
    ),
    "jacobian fwd novec": lambda t, f: f.jacobian(lambda x: x * 2, c(t), strategy="forward-mode"),
    "jacobian fwd cg": lambda t, f: f.jacobian(
        lambda x: x * 2, c(t), strategy="forward-mode", vectorize=True, create_graph=True
    ),
    "jacobian fwd strict": lambda t, f: f.jacobian(
        lambda x: x * 2, c(t), strategy="forward-mode", vectorize=True, strict=True
    ),
    "jacobian bad strategy": lambda t, f: f.jacobian(lambda x: x * 2, c(t), strategy="foo"),
    "jacobian strict vec": lambda t, f: f.jacobian(lambda x: x * 2, c(t), strict=True, vectorize=True),
    "jacobian cg": lambda t, f: f.jacobian(lambda x: x**2, c(t).requires_grad_(), create_graph=True).sum(),
    "jacobian strict indep": lambda t, f: f.jacobian(lambda x: t.ones(3), c(t), strict=True),
    "jacobian strict indep2": lambda t, f: f.jacobian(lambda x, y: x, (c(t), c(t)), strict=True),
    "jacobian strict cg": lambda t, f: f.jacobian(lambda x: x * 2, c(t), strict=True, create_graph=True),
    "jacobian indep": lambda t, f: f.jacobian(lambda x: t.ones(3), c(t)),
    "jacobian int": lambda t, f: f.jacobian(lambda x: x, t.ones(3).long()),
    "jacobian num": lambda t, f: f.jacobian(lambda x: x, 3.0),
    "jacobian tuple num": lambda t, f: f.jacobian(lambda x, y: x, (c(t), 3.0)),
    "jacobian out num": lambda t, f: f.jacobian(lambda x: 3.0, c(t)),
    "jacobian out tuple num": lambda t, f: f.jacobian(lambda x: (x, 3.0), c(t)),
    "jacobian list in": lambda t, f: f.jacobian(two, [c(t), c(t)]),
    "jacobian list out": lambda t, f: f.jacobian(lambda x: [x, x], c(t)),
    "hessian": lambda t, f: f.hessian(lambda x: (x**3).sum() * x[0], c(t)),
    "hessian two": lambda t, f: f.hessian(lambda x, y: (x * y * y).sum(), (c(t), c(t) * 2)),
    "hessian vec": lambda t, f: f.hessian(lambda x, y: (x * y * y).sum(), (c(t), c(t) * 2), vectorize=True),
    "hessian fwd": lambda t, f: f.hessian(
        lambda x, y: (x * y * y).sum(),
        (c(t), c(t) * 2),
        vectorize=True,
        outer_jacobian_strategy="forward-mode",
    ),
    "hessian bad": lambda t, f: f.hessian(lambda x: x, c(t)),
    "hessian bad2": lambda t, f: f.hessian(lambda x: (x.sum(), x.sum()), c(t)),
    "hessian num": lambda t, f: f.hessian(lambda x: 2.0, c(t)),
    "hessian strat": lambda t, f: f.hessian(lambda x: x.sum(), c(t), outer_jacobian_strategy="z"),
    "hessian strict": lambda t, f: f.hessian(lambda x: x.sum(), c(t), strict=True),
    "hessian lin": lambda t, f: f.hessian(lambda x: x.sum(), c(t)),
    "vjp": lambda t, f: f.vjp(lambda x: x.sin(), c(t), c(t)),
    "vjp two": lambda t, f: f.vjp(two, (c(t), c(t) * 3), c(t)),
    "vjp no v": lambda t, f: f.vjp(lambda x: x.sum(), c(t)),
    "vjp no v vec": lambda t, f: f.vjp(lambda x: x * 2, c(t)),
    "vjp shape": lambda t, f: f.vjp(lambda x: x * 2, c(t), c(t)[:2]),
    "vjp count": lambda t, f: f.vjp(lambda x: x * 2, c(t), (c(t), c(t))),
    "vjp strict": lambda t, f: f.vjp(lambda x: t.ones(3), c(t), t.ones(3), strict=True),
    "vjp cg": lambda t, f: f.vjp(lambda x: x**2, c(t).requires_grad_(), c(t), create_graph=True)[1],
    "vjp v num": lambda t, f: f.vjp(lambda x: x * 2, c(t), 3.0),
    "jvp": lambda t, f: f.jvp(lambda x: x.sin(), c(t), c(t)),
    "jvp two": lambda t, f: f.jvp(two, (c(t), c(t) * 3), (c(t), c(t))),
    "jvp no v": lambda t, f: f.jvp(lambda x: x * 2, c(t)),
    "jvp no v 1": lambda t, f: f.jvp(lambda x: x * 2, c(t)[:1]),
    "jvp shape": lambda t, f: f.jvp(lambda x: x * 2, c(t), c(t)[:2]),
    "jvp strict": lambda t, f: f.jvp(lambda x: t.ones(3), c(t), c(t), strict=True),
    "jvp cg": lambda t, f: f.jvp(lambda x: x**2, c(t).requires_grad_(), c(t), create_graph=True)[1],
    "hvp": lambda t, f: f.hvp(lambda x: (x**3).sum(), c(t), c(t)),
    "hvp two": lambda t, f: f.hvp(lambda x, y: (x * y * y).sum(), (c(t), c(t)), (c(t), c(t) * 2)),
    "hvp nonscalar": lambda t, f: f.hvp(lambda x: x, c(t), c(t)),
    "hvp no v": lambda t, f: f.hvp(lambda x: (x**3).sum(), c(t)),
    "hvp tuple": lambda t, f: f.hvp(lambda x: (x.sum(), x.sum()), c(t), c(t)),
    "hvp strict": lambda t, f: f.hvp(lambda x: x.sum(), c(t), c(t), strict=True),
    "vhp": lambda t, f: f.vhp(lambda x: (x**3).sum() * x[1], c(t), c(t)),
    "vhp nonscalar": lambda t, f: f.vhp(lambda x: x, c(t), c(t)),
    "vhp no v": lambda t, f: f.vhp(lambda x: (x**3).sum(), c(t)),
    "vhp strict": lambda t, f: f.vhp(lambda x: x.sum(), c(t), c(t), strict=True),
    "vhp cg": lambda t, f: f.vhp(lambda x: (x**3).sum(), c(t).requires_grad_(), c(t), create_graph=True)[1],
}
RETURNS_LISTS = {
    "jacobian fwd",
    "hessian fwd",
}  # with history, too, although nobody asked: minigrad is consistent


def outcome(call, t):
    try:
        return call(t, t.autograd.functional)
    except Exception as error:
        return error


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_it_gives_in_torch(torch, name):
    theirs, ours = outcome(CALLS[name], torch), outcome(CALLS[name], minigrad)
    if isinstance(theirs, Exception):
        assert type(ours).__name__ == type(theirs).__name__, ours
        assert str(ours).split("\n")[0] == str(theirs).split("\n")[0]
        return
    assert not isinstance(ours, Exception), ours
    for a, b in zip(flatten(ours)[0], flatten(theirs)[0], strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)
        assert name in RETURNS_LISTS or a.requires_grad == b.requires_grad
    if name not in RETURNS_LISTS:
        assert isinstance(ours, tuple) == isinstance(theirs, tuple)
