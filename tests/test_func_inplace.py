"""Writing in place inside transforms: what is written through a view reaches the value, the history and the tangent of its
base, at every level of every nesting, as in torch.func."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

import minigrad
from minigrad.func.pytree import flatten

V = np.array([1.5, -2.0, 3.0])
X = np.array([[1.0, 2, 3], [4, 5, 6]])


def steps(*lines: str, result: str) -> Callable:
    """The function of the module `t` and of a tensor x of shape (3,) that does these steps and returns `result`."""
    body = compile("\n".join(lines), "<program>", "exec")

    def program(t: ModuleType, x: object) -> object:
        scope = {"t": t, "x": x}
        exec(body, scope)
        return eval(result, scope)

    return program


PROGRAMS = {
    "an element times another": steps("y = x * 1", "y[0].mul_(x[1])", result="y"),
    "an element of a sum, whose tangent is the argument's": steps("y = x + 1", "y[0].add_(1)", result="y * x"),
    "a view of all": steps("y = x * x", "y.view(-1).mul_(2)", result="y * x"),
    "a slice, by an operation that saves its result": steps("y = x * x", "y[1:].exp_()", result="y * x"),
    "the base, seen by its view": steps("y = x * x", "v = y[1:]", "y.mul_(x)", result="v * v"),
    "a view, seen by another": steps("y = x.clone()", "a, b = y[:2], y[1:]", "a.mul_(b.sum())", result="b * x[1:]"),
    "a view, then the base, then another view": steps(
        "y = x * 1", "v = y[:2]", "y[0].mul_(3)", "v.mul_(x[:2])", "y[1].mul_(x[2])", result="y * v.sum()"
    ),
    "one element after the other": steps(
        "y = x * 1", "y[0].mul_(y[1])", "y[1].mul_(y[0])", "y[2].add_(y[:2].sum())", result="y"
    ),
    "assignment to elements": steps("y = x.clone()", "y[0] = x[1] * x[2]", "y[0] *= x[2]", result="y"),
    "augmented assignment to a slice": steps("y = x.clone()", "y[0:2] += x[1:]", result="y"),
    "augmented assignments": steps("y = x * 1", "y[0] -= x[1]", "y[1] /= x[2]", "y[2] **= 2", result="y"),
    "a number for all of a slice": steps("y = x.clone()", "y[:2].zero_()", "y[2:].fill_(3.0)", result="y * x"),
    "one value for all of a slice": steps("y = x * 1", "y[:2] = x[2]", result="y * x"),
    "a copy of other elements": steps("y = x.clone()", "y[1:].copy_(x[:2] ** 2)", result="y"),
    "a view of a view of a view": steps(
        "y = x.clone()", "v = y.view(3, 1)", "v.squeeze(1)[0:2].sin_()", result="y * x"
    ),
    "elements of elements": steps("y = (x * 1).unsqueeze(0)", "y[0][1:][0].mul_(x[0])", result="y"),
    "zeros_like, filled": steps("y = t.zeros_like(x)", "y[0] = x[1]", "y[1:] = x[:2] * x[2]", result="y"),
    "new_zeros, filled": steps("y = x.new_zeros(4)", "y[:3] = x", "y[1:].mul_(x)", result="y"),
    "zeros, filled: only vmap refuses": steps("y = t.zeros(3).to(x)", "y[0] = x[1]", result="y * x"),
    "a tensor of no example's": steps("y = t.zeros(3, dtype=t.float64)", "y += 1", result="y * x"),
    "lists and masks": steps(
        "y = (x * 2).expand(3).clone()", "y[[0, 2]] = x[:2]", "y[t.tensor([True, False, True])] *= 2", result="y"
    ),
    "index_add_ and index_fill_": steps(
        "y = x * 1", "y.index_add_(0, t.tensor([0, 0, 2]), x)", "y[:2].index_fill_(0, t.tensor([1]), 2.0)", result="y * x"
    ),
    "scatter_": steps("y = x * 1", "y.scatter_(0, t.tensor([0, 2]), x[:2] * x[1:])", result="y * x"),
    "masked_fill_ of a slice": steps("y = x * 1", "y[:2].masked_fill_(t.tensor([True, False]), 0.5)", result="y * x"),
    "clamp_ of a part": steps("y = x * 1", "y.narrow(0, 1, 2).clamp_(min=2.2)", result="y * x"),
    "three tensors": steps("y = x * 1", "y.addcmul_(x, x)", "y[1:].lerp_(x[:2], 0.3)", result="y"),
    "elements of a reshaped tensor": steps("y = x * 1", "y.reshape(3, 1)[1].mul_(x[0])", result="y"),
    "diagonal, transposed, strided": steps(
        "m = x[:, None] * x", "m.diagonal().mul_(x)", "m.t()[0].add_(x)", "m.view(-1)[::2].add_(x.sum())", result="m"
    ),
    "rows and blocks": steps("m = x[:, None] * x", "m.t()[0] = x", "m[1:, 1:].mul_(2)", result="m"),
    "a reshape that had to copy": steps("m = x[:, None] * x", "m.t().reshape(-1).mul_(2)", result="m"),
    "transposed in place": steps("y = x * 2", "z = y.view(1, 3)", "z.t_()", "z.mul_(3)", result="y * z[:, 0]"),
    "unsqueezed in place": steps("y = x * 2", "y.unsqueeze_(0)", "y[0, 1:].exp_()", result="y * x"),
    "a detached view": steps("y = x * 1", "y.detach()[0].mul_(0.5)", result="y * x"),
    "single precision": steps("y = x.float()", "y[0].mul_(x[1])", result="y.double() * x"),
    "truth values": steps("y = x > 2", "y[0] = True", "y[1:].logical_not_()", result="y * x"),
    "different functions of the elements": steps(
        "y = x * 1", "y[0].pow_(3)", "y[1].reciprocal_()", "y[2].sigmoid_()", result="y"
    ),
    "rectified": steps("y = x * 1", "y[0].relu_()", result="y"),
    "parts that are only read": steps("y = x * 1", "a, b = y.split([1, 2])", result="a * b + y[1:]"),
    # what is refused
    "a factor that is needed": steps("y = x * 2", "z = y * y", "y[0].mul_(2)", result="z"),
    "a result that is needed": steps("y = x.exp()", "y[0].mul_(2)", result="y"),
    "a result that is needed, by a second write": steps("y = x.exp()", "y[0].sqrt_()", result="y"),
    "the argument": steps("x.mul_(2)", result="x * x"),
    "a view of the argument": steps("x[0].mul_(2)", result="x * x"),
    "one of several views": steps("y = x * 1", "a, b, c = y.unbind()", "a.mul_(2)", result="y"),
    "an expanded tensor": steps("y = x.expand(2, 3)", "y.mul_(2)", result="y"),
}  # fmt: skip


def nestings(t: ModuleType) -> dict[str, Callable]:
    """Ways to run a program: each a function of the program alone."""
    f = importlib.import_module(f"{t.__name__}.func")
    forward_ad = importlib.import_module(f"{t.__name__}.autograd.forward_ad")

    def v():
        return t.tensor(V)

    def x():
        return t.tensor(X)

    def scalar(p):
        return lambda x: (p(t, x) ** 2).sum()

    def slope(p):
        return lambda x: f.jvp(lambda x: p(t, x), (x,), (x * x,))

    def twice(p):
        return f.grad(lambda x: (f.grad(scalar(p))(x) ** 2).sum())

    def dual(p):
        with forward_ad.dual_level():
            return tuple(forward_ad.unpack_dual(p(t, forward_ad.make_dual(v(), v() * v()))))

    return {
        "alone": lambda p: p(t, v()),
        "grad": lambda p: f.grad(scalar(p))(v()),
        "grad(grad)": lambda p: twice(p)(v()),
        "vmap": lambda p: f.vmap(lambda x: p(t, x))(x()),
        "vmap over columns": lambda p: f.vmap(lambda x: p(t, x), in_dims=1)(x().t().contiguous()),
        "vmap(grad)": lambda p: f.vmap(f.grad(scalar(p)))(x()),
        "grad(vmap)": lambda p: f.grad(lambda x: (f.vmap(lambda x: p(t, x))(x) ** 2).sum())(x()),
        "jvp": lambda p: slope(p)(v()),
        "jvp(grad)": lambda p: f.jvp(f.grad(scalar(p)), (v(),), (v() * v(),)),
        "grad(jvp)": lambda p: f.grad(lambda x: (slope(p)(x)[1] ** 2).sum())(v()),
        "jvp(jvp)": lambda p: f.jvp(lambda x: slope(p)(x)[1], (v(),), (v() * 2,)),
        "vmap(jvp)": lambda p: f.vmap(slope(p))(x()),
        "jvp(vmap)": lambda p: f.jvp(f.vmap(lambda x: p(t, x)), (x(),), (x() * 2,)),
        "vmap(vmap)": lambda p: f.vmap(f.vmap(lambda x: p(t, x)))(t.stack([x(), x() * 2])),
        "jacrev": lambda p: f.jacrev(lambda x: p(t, x))(v()),
        "jacfwd": lambda p: f.jacfwd(lambda x: p(t, x))(v()),
        "hessian": lambda p: f.hessian(scalar(p))(v()),
        "vmap(jvp(grad))": lambda p: f.vmap(lambda x: f.jvp(f.grad(scalar(p)), (x,), (x * x,)))(x()),
        "vmap(grad(grad))": lambda p: f.vmap(twice(p))(x()),
        "dual numbers": dual,
    }


# PyTorch's outer level saves the very value that its inner level then overwrites, and complains. minigrad gives the
# derivative.
PYTORCH_COMPLAINS = {
    ("different functions of the elements", "grad(vmap)"),
    ("different functions of the elements", "grad(jvp)"),
    ("augmented assignments", "grad(jvp)"),
}


def outcome(run: Callable) -> list[np.ndarray] | Exception:
    try:
        return [np.asarray(leaf.detach().numpy()) for leaf in flatten(run())[0] if leaf is not None]
    except RuntimeError as error:
        return error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_write_reaches_what_it_reaches_in_torch(torch, name):
    program = PROGRAMS[name]
    for nesting, theirs in nestings(torch).items():
        expected = outcome(lambda theirs=theirs: theirs(program))
        got = outcome(lambda nesting=nesting: nestings(minigrad)[nesting](program))
        if (name, nesting) in PYTORCH_COMPLAINS:
            assert isinstance(expected, Exception), nesting
            assert not isinstance(got, Exception), nesting
        elif isinstance(expected, Exception):
            assert isinstance(got, Exception), f"{nesting}: {expected}"
            assert words(got) == words(expected), nesting
        else:
            assert not isinstance(got, Exception), f"{nesting}: {got}"
            assert len(got) == len(expected), nesting
            for a, b in zip(got, expected, strict=True):
                assert a.shape == b.shape, nesting
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9, err_msg=nesting)


def words(error: Exception) -> str:
    """The first words of the message, without the "view of", which depends on how a level hands on its argument."""
    return str(error).replace("a view of a leaf", "a leaf").split("[")[0][:60]


@pytest.mark.parametrize("transform", ["jvp", "vmap"])
def test_a_tensor_from_outside_does_not_take_a_value_from_inside(torch, transform):
    def call(t):
        outside, f = t.zeros(3), importlib.import_module(f"{t.__name__}.func")

        def write(x):
            outside[0] = x[0]
            return x

        return f.jvp(write, (t.ones(3),), (t.ones(3),)) if transform == "jvp" else f.vmap(write)(t.ones(2, 3))

    with pytest.raises(RuntimeError) as theirs:
        call(torch)
    with pytest.raises(RuntimeError) as ours:
        call(minigrad)
    assert str(ours.value).split("(aten")[0] == str(theirs.value).split("(aten")[0]


# What is written to `z`, which is from before the level, with a view `v` of it. Then the duals of both are compared.
ADOPTED = {
    "all of it": "z.copy_(d)",
    "an element": "z[0] = d[1]",
    "a slice, twice": "z[1:].add_(d[:2]); z.mul_(2)",
    "through a view from before": "v.mul_(d[:2]); z[0].add_(1)",
    "a product of it": "z.add_(d); z.mul_(d)",
    "into another": "z[:2] = d[1:]; y = z * d; z.copy_(y)",
    "without a tangent again": "z.copy_(d); z[0] = 3.0; z[1:].zero_()",
}


@pytest.mark.parametrize("name", ADOPTED)
def test_at_a_dual_level_a_tensor_from_before_takes_a_tangent(torch, name):
    def run(t):
        forward_ad = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
        z = t.tensor(V) * 2
        v = z[:2]
        with forward_ad.dual_level():
            d = forward_ad.make_dual(t.tensor(V), t.tensor(X[0]))
            exec(ADOPTED[name], {"z": z, "v": v, "d": d})
            inside = [
                *forward_ad.unpack_dual(z),
                *forward_ad.unpack_dual(v),
                *forward_ad.unpack_dual(z[1:] * v),
            ]
        after = forward_ad.unpack_dual(z)
        assert after.tangent is None
        return [part.numpy() for part in (*inside, after.primal)]

    for a, b in zip(run(minigrad), run(torch), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_what_is_made_after_any_operation_belongs_to_the_level():
    """prod and std have no forward rule of their own: theirs comes from a backward pass, with modes of its own."""

    def f(x):
        size = x.prod() * x.std()
        y = minigrad.zeros(3, dtype=minigrad.float64)
        y[0] = x[1]
        y[1:] = x[:2] * size
        return y

    def without(x):
        return minigrad.cat([x[1:2], x[:2] * (x.prod() * x.std())])

    x = minigrad.tensor(V)
    np.testing.assert_allclose(
        minigrad.func.jacfwd(f)(x).numpy(), minigrad.func.jacrev(without)(x).numpy(), rtol=1e-12
    )


def test_neither_the_tangent_nor_the_argument_that_was_given_is_written_to():
    x, t = minigrad.tensor(V), minigrad.tensor(X[0])

    def f(x):
        y = x + 1  # its tangent is the very tensor that was given
        y[0].mul_(5)
        y.mul_(2)
        return y

    minigrad.func.jvp(f, (x,), (t,))
    minigrad.func.vmap(f)(x[None])
    np.testing.assert_array_equal(x.numpy(), V)
    np.testing.assert_array_equal(t.numpy(), X[0])


def test_vmap_writes_into_the_batch_that_it_was_given(torch):
    for t in (torch, minigrad):
        batch = t.tensor(X)
        importlib.import_module(f"{t.__name__}.func").vmap(lambda row: row[1:].mul_(2))(batch)
        np.testing.assert_array_equal(batch.numpy(), X * [1, 2, 2])
