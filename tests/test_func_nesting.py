"""Transforms inside transforms inside transforms: every nesting to depth 3 against torch.func, random programs under random
nestings, and what must hold of all of them."""

from __future__ import annotations

import importlib
import itertools
import zlib
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad
from minigrad import func
from minigrad.func.pytree import flatten, tree_map

V = np.array([0.7, -0.4, 0.9])


def written(t, x):
    y = x * x
    y[0].mul_(x[1])
    y[1:] += x[:2].exp()
    return y


# Functions of the module and of a vector of three elements.
BASES = {
    "elementwise": lambda t, x: x.sin() * x[0],
    "products": lambda t, x: (x[:, None] * x).tanh().sum(0),
    "several reductions": lambda t, x: t.stack([x.prod(), x.softmax(0)[1]]),
    "joined": lambda t, x: t.cat([x[1:] ** 3, x.logsumexp(0)[None]]),
    "chosen": lambda t, x: t.where(x > 0.5, x * x, x.exp()).cumsum(0),
    "a matrix": lambda t, x: (t.tensor(np.arange(6.0).reshape(2, 3) / 5) @ x).sigmoid(),
    "written in place": written,
}
# PyTorch cannot take the in-place one through every nesting, so it gets the same function without.
THEIRS = BASES | {
    "written in place": lambda t, x: t.cat([(x[0] * x[0] * x[1])[None], x[1:] ** 2 + x[:2].exp()])
}


def transforms(t: ModuleType) -> dict[str, Callable]:
    """Each takes a function of a vector and gives another one."""
    f = importlib.import_module(f"{t.__name__}.func")

    def scalar(g):
        return lambda x: g(x).sin().sum()

    def pulled(g):
        def run(x):
            out, pull = f.vjp(g, x)
            return pull(t.tensor(np.cos(np.arange(out.numel()) + 1.0)).reshape(out.shape))[0]

        return run

    def pushed(g):
        return lambda x: f.jvp(g, (x,), (x * x + 1,))[1]

    return {
        "grad": lambda g: f.grad(scalar(g)),
        "vjp": pulled,
        "jvp": pushed,
        "vmap": lambda g: lambda x: f.vmap(g)(t.stack([x, x * 2])),
        "jacrev": f.jacrev,
        "jacfwd": f.jacfwd,
        "hessian": lambda g: f.hessian(scalar(g)),
        # the same derivative, and PyTorch's own linearize cannot stand inside another transform
        "linearize": pushed if t is not minigrad else lambda g: lambda x: f.linearize(g, x)[1](x * x + 1),
    }


NAMES = tuple(transforms(minigrad))
SHALLOW = [names for depth in (1, 2) for names in itertools.product(NAMES, repeat=depth)]
DEEP = [names for names in itertools.product(NAMES, repeat=3) if names.count("hessian") < 2]


def nested(t: ModuleType, names: tuple[str, ...], base: Callable) -> np.ndarray:
    run, known = lambda x: base(t, x), transforms(t)
    for name in reversed(names):
        run = known[name](run)
    return run(t.tensor(V)).detach().numpy(force=True)


def spelled(names: tuple[str, ...]) -> str:
    return "(".join(names) + ")" * (len(names) - 1)


@pytest.mark.parametrize("names", SHALLOW, ids=spelled)
def test_every_nesting_of_two_gives_what_torch_gives(torch, names):
    for base, f in BASES.items():
        np.testing.assert_allclose(
            nested(minigrad, names, f), nested(torch, names, THEIRS[base]), rtol=1e-7, atol=1e-9, err_msg=base
        )


@pytest.mark.parametrize("names", DEEP, ids=spelled)
def test_every_nesting_of_three_gives_what_torch_gives(torch, names):
    base = list(BASES)[zlib.crc32(repr(names).encode()) % len(BASES)]
    np.testing.assert_allclose(
        nested(minigrad, names, BASES[base]),
        nested(torch, names, THEIRS[base]),
        rtol=1e-6,
        atol=1e-8,
        err_msg=base,
    )


# ---------------------------------------------------------------- random programs


def write_to(part: Callable) -> Callable:
    def step(t, a, b):
        y = a * 1
        part(y, b)
        return y

    return step


# Steps from two vectors to the next; what they compute stays small.
STEPS = [
    lambda t, a, b: a * b,
    lambda t, a, b: a + b.sin(),
    lambda t, a, b: a - b.tanh() * 0.5,
    lambda t, a, b: t.where(a > b, a, b * b),
    lambda t, a, b: a.softmax(0) * b.sum(),
    lambda t, a, b: (a[:, None] * b).tanh().sum(1),
    lambda t, a, b: t.cat([b[1:], a[:1]]),
    lambda t, a, b: t.stack([a, b]).logsumexp(0),
    lambda t, a, b: a.flip(0) * (b @ a).sigmoid(),
    lambda t, a, b: a.cumsum(0) / (b * b + 1),
    lambda t, a, b: a[[2, 0, 1]].exp().clamp(max=4.0) * b[0],
    lambda t, a, b: (a * b).reshape(1, 3).expand(2, 3).t().mean(1),
    write_to(lambda y, b: y[1:].mul_(b[:2])),
    write_to(lambda y, b: y[0].add_(b.sum())),
    write_to(lambda y, b: y.__setitem__(slice(0, 2), b[1:] * b[0])),
    write_to(lambda y, b: y.view(3, 1)[1:].sigmoid_()),
]
programs = st.lists(
    st.tuples(st.integers(0, len(STEPS) - 1), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6
)
nestings = (
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)
    .map(tuple)
    .filter(lambda n: n.count("hessian") < 2)
)


def as_function(program: list) -> Callable:
    def run(t, x):
        values = [x]
        for step, i, j in program:
            values.append(STEPS[step](t, values[i % len(values)], values[j % len(values)]))
        return values[-1]

    return run


LIMITS = (
    "ZeroTensors are immutable",
    "vmap: inplace arithmetic",
    "vmap: copy_",
    "modified by an inplace operation",
)
FEW = settings(max_examples=60, deadline=None, derandomize=True)


@FEW
@given(program=programs, names=nestings)
def test_a_random_program_under_a_random_nesting(torch, program, names):
    f = as_function(program)
    try:
        expected = nested(torch, names, f)
    except RuntimeError as error:  # what PyTorch cannot do with writes in place, minigrad may
        assert str(error).startswith(LIMITS) or any(limit in str(error) for limit in LIMITS), error
        return
    np.testing.assert_allclose(nested(minigrad, names, f), expected, rtol=1e-6, atol=1e-8)


def vectors(seed: int, *shape: int) -> minigrad.Tensor:
    return minigrad.tensor(np.random.default_rng(seed).standard_normal(shape))


@FEW
@given(program=programs, seed=st.integers(0, 1000))
def test_forward_mode_is_the_transpose_of_reverse_mode(program, seed):
    x, t, v = (vectors(seed + k, 3) for k in range(3))

    def f(x):
        return as_function(program)(minigrad, x)

    pushed, (pulled,) = func.jvp(f, (x,), (t,))[1], func.vjp(f, x)[1](v)
    linear = func.linearize(f, x)[1](t)
    np.testing.assert_allclose((pushed * v).sum().item(), (pulled * t).sum().item(), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(linear.numpy(), pushed.numpy(), rtol=1e-9, atol=1e-12)


@FEW
@given(program=programs, seed=st.integers(0, 1000))
def test_both_modes_give_one_jacobian_and_a_symmetric_hessian(program, seed):
    x = vectors(seed, 3)

    def f(x):
        return as_function(program)(minigrad, x)

    def energy(x):
        return f(x).sin().sum()

    np.testing.assert_allclose(func.jacrev(f)(x).numpy(), func.jacfwd(f)(x).numpy(), rtol=1e-9, atol=1e-12)
    in_each_mode = [
        outer(inner(energy))(x).numpy()
        for outer in (func.jacfwd, func.jacrev)
        for inner in (func.jacfwd, func.jacrev, func.grad)
    ]
    for hessian in in_each_mode:
        np.testing.assert_allclose(hessian, in_each_mode[0], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(hessian, hessian.T, rtol=1e-7, atol=1e-9)


@FEW
@given(program=programs, seed=st.integers(0, 1000))
def test_vmap_is_the_loop_and_commutes_with_the_derivatives(program, seed):
    x, t = vectors(seed, 4, 3), vectors(seed + 1, 4, 3)

    def f(x):
        return as_function(program)(minigrad, x)

    def energy(x):
        return f(x).sin().sum()

    def same(a, b):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-8, atol=1e-10)

    batch = func.vmap(f)
    same(batch(x), minigrad.stack([f(row) for row in x]))
    same(func.vmap(func.grad(energy))(x), minigrad.stack([func.grad(energy)(row) for row in x]))
    same(func.vmap(func.grad(energy))(x), func.grad(lambda x: func.vmap(energy)(x).sum())(x))
    same(func.vmap(lambda x, t: func.jvp(f, (x,), (t,))[1])(x, t), func.jvp(batch, (x,), (t,))[1])
    same(func.vmap(func.jacrev(f))(x), func.vmap(func.jacfwd(f))(x))
    same(func.vmap(f, chunk_size=3)(x), batch(x))
    same(func.vmap(f, in_dims=1, out_dims=1)(x.t()), batch(x).t())
    same(func.vmap(f, in_dims=-1, out_dims=-1)(x.t()), batch(x).t())
    pairs = func.vmap(func.vmap(lambda a, b: f(a * b), in_dims=(None, 0)), in_dims=(0, None))(x, t)
    turned = func.vmap(func.vmap(lambda a, b: f(a * b), in_dims=(0, None)), in_dims=(None, 0), out_dims=1)(
        x, t
    )
    same(pairs, turned)


# ---------------------------------------------------------------- no perturbation confusion

TWO, ONE = np.float64(2), np.float64(1)
CONFUSIONS = {
    "grad in grad, of a constant": (
        lambda t, f, x: f.grad(lambda x: x * f.grad(lambda y: x)(t.ones_like(x)))(x),
        0.0,
    ),
    "grad in grad": (lambda t, f, x: f.grad(lambda x: x * f.grad(lambda y: x * y * y)(x))(x), 3 * 2 * 4.0),
    "jvp in jvp": (
        lambda t, f, x: f.jvp(
            lambda x: x * f.jvp(lambda y: x + y, (x,), (t.ones_like(x),))[1], (x,), (t.ones_like(x),)
        )[1],
        1.0,
    ),
    "grad in jvp": (
        lambda t, f, x: f.jvp(lambda x: x * f.grad(lambda y: x * y)(x), (x,), (t.ones_like(x),))[1],
        4.0,
    ),
    "jvp in grad": (
        lambda t, f, x: f.grad(lambda x: x * f.jvp(lambda y: x * y, (x,), (t.ones_like(x),))[1])(x),
        4.0,
    ),
    "three deep": (
        lambda t, f, x: f.grad(lambda x: f.jvp(lambda y: x * f.grad(lambda z: x * y * z)(y), (x,), (x,))[1])(
            x
        ),
        12.0,  # x·(xy) along t = x is x²·x, and its derivative 3x²
    ),
    "jacfwd of jacrev with a captured variable": (
        lambda t, f, x: f.grad(lambda x: f.jacfwd(f.jacrev(lambda y: x * y**3))(x))(x),
        24.0,  # 6x²
    ),
    "a batch of levels": (
        lambda t, f, x: f.vmap(lambda b: f.grad(lambda x: x * f.grad(lambda y: b * x * y)(x))(x))(
            t.stack([x, x])
        )[0],
        8.0,  # b·2x
    ),
}


@pytest.mark.parametrize("name", CONFUSIONS)
def test_no_level_takes_the_variable_of_another_for_its_own(torch, name):
    program, expected = CONFUSIONS[name]
    for t in (torch, minigrad):
        f = importlib.import_module(f"{t.__name__}.func")
        assert program(t, f, t.tensor(TWO)).item() == pytest.approx(expected), t.__name__


# ---------------------------------------------------------------- structures of arguments and results

X, Y = np.arange(12.0).reshape(3, 4) / 10, np.arange(12.0).reshape(4, 3) / 7 - 0.5
STRUCTURES = {
    "a dictionary in a list in a tuple": lambda t, f, x, y: f.vmap(
        lambda p, q: p[0]["a"] * p[1] + q, in_dims=([{"a": 0}, 1], None)
    )([{"a": x}, y], t.tensor(2.0)),
    "one number for all": lambda t, f, x, y: f.vmap(lambda p: p["a"] + p["b"][0])({"a": x, "b": (x * 2,)}),
    "a prefix": lambda t, f, x, y: f.vmap(lambda p, q: p["a"].sum() * p["b"] + q, in_dims=(None, 0))({"a": x, "b": y[0, 0]}, x),
    "None inside": lambda t, f, x, y: f.vmap(lambda p: p["a"] @ p["b"], in_dims=({"a": 0, "b": None},))({"a": x, "b": y}),
    "negative dimensions": lambda t, f, x, y: f.vmap(lambda a, b: a * b, in_dims=(-2, -1), out_dims=-1)(x, y),
    "results in a dictionary": lambda t, f, x, y: f.vmap(
        lambda a: {"s": a.sum(), "r": [a, a[:, None] * a]}, out_dims={"s": 0, "r": [1, 2]}
    )(x),
    "one out_dim for all results": lambda t, f, x, y: f.vmap(lambda a: (a, (a * 2, {"c": a * 3})), out_dims=1)(x),
    "a result that all share": lambda t, f, x, y: f.vmap(lambda a: (a, y), out_dims=(0, None))(x),
    "a result that no example decides": lambda t, f, x, y: f.vmap(lambda a: y)(x),
    "arguments by keyword": lambda t, f, x, y: f.vmap(lambda a, *, b: a + b)(x, b=y[:, 0]),
    "one example": lambda t, f, x, y: f.vmap(lambda a: a.sum())(x[:1]),
    "pieces over dictionaries": lambda t, f, x, y: f.vmap(
        lambda p, q: {"r": p["a"] * q}, in_dims=({"a": 0}, 1), out_dims={"r": 1}, chunk_size=2
    )({"a": x}, y),
    "vmap over two dimensions": lambda t, f, x, y: f.vmap(f.vmap(lambda a, b: a * b, (0, None)), (None, 1))(x[0], y),
    "grad of some arguments": lambda t, f, x, y: f.grad(lambda a, b, c: (a @ b).sum() * c["z"], (0, 2))(x, y, {"z": y[0, 0]}),
    "grad from behind": lambda t, f, x, y: f.grad(lambda a, b: (a @ b).sin().sum(), -1)(x, y),
    "grad of arguments out of order": lambda t, f, x, y: f.grad(lambda a, b: (a @ b).sin().sum(), (1, 0))(x, y),
    "grad with aux": lambda t, f, x, y: f.grad(lambda a: ((a**2).sum(), {"a": a * 2, "l": [a]}), has_aux=True)(x),
    "grad_and_value with aux": lambda t, f, x, y: f.grad_and_value(lambda a: ((a**2).sum(), (a,)), has_aux=True)(x),
    "vjp with aux": lambda t, f, x, y: (lambda out, pull, aux: (out, pull({"o": y[:3, :2]}), aux))(
        *f.vjp(lambda a: ({"o": a[:, :2].sin()}, [a.sum()]), x, has_aux=True)
    ),
    "vjp of structures": lambda t, f, x, y: f.vjp(lambda p: [p["a"] @ p["b"], p["a"].sum()], {"a": x, "b": y})[1](
        [t.ones_like(x @ y), y[0, 0]]
    ),
    "jvp with aux": lambda t, f, x, y: f.jvp(lambda a: ((a.sin(), a.sum()), {"q": a * 2}), (x,), (x * x,), has_aux=True),
    "jvp of structures": lambda t, f, x, y: f.jvp(
        lambda p, q: {"r": p["a"] * q[0]}, ({"a": x}, [x * 2]), ({"a": x * x}, [x - 1])
    ),
    "jacrev of structures": lambda t, f, x, y: f.jacrev(lambda p: {"s": (p["a"] @ p["b"]).sum(0), "m": p["a"].mean()})(
        {"a": x, "b": y}
    ),
    "jacrev of two arguments, with aux": lambda t, f, x, y: f.jacrev(
        lambda a, b: ((a @ b).sum(1), a.sum()), argnums=(0, 1), has_aux=True
    )(x, y),
    "jacrev in pieces": lambda t, f, x, y: f.jacrev(lambda a, b: (a @ b, a.sum()), argnums=(1, 0), chunk_size=4)(x, y),
    "jacfwd of structures": lambda t, f, x, y: f.jacfwd(lambda p: [p["a"].sin(), p["b"][0] * p["a"].sum()])(
        {"a": x[0], "b": (y[0],)}
    ),
    "jacfwd of two arguments, with aux": lambda t, f, x, y: f.jacfwd(
        lambda a, b: ((a * b).sum(1), {"k": a}), argnums=(0, 1), has_aux=True
    )(x, x * 2),
    "hessian of two arguments": lambda t, f, x, y: f.hessian(lambda a, b: (a * b).sin().sum(), argnums=(0, 1))(x[0], x[1]),
    "hessian of a structure": lambda t, f, x, y: f.hessian(lambda p: (p["a"] ** 2 * p["b"]).sum())({"a": x[0], "b": x[1]}),
    "linearize of structures": lambda t, f, x, y: (lambda out, push: (out, push({"a": x * x}, x)))(
        *f.linearize(lambda p, q: [p["a"] * q, q.sum()], {"a": x}, x * 2)
    ),
    "per-sample gradients of a structure": lambda t, f, x, y: f.vmap(
        f.grad(lambda p, a: ((a @ p["w"] + p["b"]) ** 2).sum()), in_dims=(None, 0)
    )({"w": y, "b": y[0]}, x),
    "per-sample Jacobians with aux": lambda t, f, x, y: f.vmap(
        f.jacrev(lambda a: (a.sin() * a[0], a.sum()), has_aux=True), out_dims=(2, 0)
    )(x),
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_go_in_and_come_out_as_in_torch(torch, name):
    def run(t):
        return STRUCTURES[name](t, importlib.import_module(f"{t.__name__}.func"), t.tensor(X), t.tensor(Y))

    ours, theirs = run(minigrad), run(torch)
    assert repr(tree_map(lambda leaf: tuple(leaf.shape), ours)) == repr(
        tree_map(lambda leaf: tuple(leaf.shape), theirs)
    )
    for a, b in zip(flatten(ours)[0], flatten(theirs)[0], strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6, atol=1e-9)


def test_randomness_at_every_level():
    """Different at both levels: four draws; the same outside: two, one after the other inside; and so on."""

    def draws(outer, inner):
        run = func.vmap(func.vmap(lambda x: x + minigrad.rand(()), randomness=inner), randomness=outer)
        return run(minigrad.zeros(2, 2)).tolist()

    def distinct(rows):
        return len({value for row in rows for value in row})

    assert distinct(draws("different", "different")) == 4
    assert distinct(draws("same", "same")) == 1
    (a, b), (c, d) = draws("same", "different")
    assert (a, b) == (c, d) and a != b
    (a, b), (c, d) = draws("different", "same")
    assert a == b and c == d and a != c


def test_random_numbers_are_those_of_the_stream_outside():
    minigrad.manual_seed(0)
    expected = minigrad.randn(4, 3)
    minigrad.manual_seed(0)
    same = func.vmap(lambda x: x + minigrad.randn(4, 3), randomness="same")(minigrad.zeros(2))
    np.testing.assert_array_equal(same[1].numpy(), expected.numpy())
    value, tangent = func.jvp(lambda x: x * minigrad.rand(3), (minigrad.ones(3),), (minigrad.ones(3),))
    np.testing.assert_array_equal(value.numpy(), tangent.numpy())


# ---------------------------------------------------------------- modules


class Tied:
    """A network with tied weights and a buffer, in the module `t`."""

    def __new__(cls, t: ModuleType) -> object:
        class Net(t.nn.Module):
            def __init__(self):
                super().__init__()
                self.encode = t.nn.Linear(3, 4)
                self.decode = t.nn.Linear(4, 3, bias=False)
                self.decode.weight = t.nn.Parameter(self.encode.weight.detach().t().clone())
                self.again = t.nn.Linear(3, 4, bias=False)
                self.again.weight = self.encode.weight
                self.register_buffer("shift", t.tensor([0.5, -0.5, 0.25]))

            def forward(self, x, scale=1.0):
                return self.again(self.decode(self.encode(x).tanh()) + self.shift) * scale

        return Net()


def same_state(ours, theirs):
    ours.load_state_dict({k: minigrad.tensor(v.numpy()) for k, v in theirs.state_dict().items()})


def numbers(t, tree):
    return [leaf.detach().numpy() for leaf in flatten(tree)[0]]


def test_functional_call_with_tied_weights_and_buffers(torch):
    theirs, ours = Tied(torch), Tied(minigrad)
    same_state(ours, theirs)

    def run(t, net):
        f = importlib.import_module(f"{t.__name__}.func")
        x = t.tensor(np.float32([[0.1, 0.2, 0.3], [1.0, -1.0, 0.5]]))
        state = {k: v.detach() for k, v in net.named_parameters()}
        buffers = {"shift": t.tensor([1.0, 2.0, 3.0])}

        def loss(state, x):
            return (f.functional_call(net, (state, buffers), (x,), {"scale": 2.0}) ** 2).sum()

        return numbers(t, [
            f.grad(loss)(state, x),
            f.vmap(f.grad(loss), in_dims=(None, 0))(state, x),
            f.jvp(lambda s: loss(s, x), (state,), ({k: v * 0 + 1 for k, v in state.items()},)),
            f.functional_call(net, {"encode.weight": state["encode.weight"] * 2}, (x,)),
            f.functional_call(net, {"encode.weight": state["encode.weight"] * 2}, (x,), tie_weights=False),
            net(x),
        ])  # fmt: skip

    for a, b in zip(run(minigrad, ours), run(torch, theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_an_ensemble_with_buffers_is_torchs(torch):
    def models(t):
        return [
            t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4), t.nn.Tanh(), t.nn.Linear(4, 2))
            for _ in range(3)
        ]

    theirs, ours = models(torch), models(minigrad)
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        b[1].running_mean += 0.1 * k
        same_state(a, b)

    def run(t, nets):
        f = importlib.import_module(f"{t.__name__}.func")
        parameters, buffers = f.stack_module_state([net.eval() for net in nets])
        x = t.tensor(np.float32(np.arange(15).reshape(5, 3) / 10))

        def one(p, b, x):
            return f.functional_call(nets[0], (p, b), (x,))

        def loss(p, b):
            return (one(p, b, x) ** 2).sum()

        shared = f.vmap(one, in_dims=(0, 0, None))(parameters, buffers, x)
        each = f.vmap(one)(parameters, buffers, t.stack([x, x * 2, x * 3]))
        detached = {k: v.detach() for k, v in parameters.items()}
        assert all(p.requires_grad for p in parameters.values())
        return numbers(t, [shared, each, f.vmap(f.grad(loss))(detached, buffers), parameters, buffers])

    for a, b in zip(run(minigrad, ours), run(torch, theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_running_averages_of_each_example_move(torch):
    def run(t):
        f = importlib.import_module(f"{t.__name__}.func")

        def normalise(x, mean, var):
            return t.nn.functional.batch_norm(x, mean, var, training=True), mean, var

        x = t.tensor(np.arange(24.0, dtype=np.float32).reshape(3, 4, 2) ** 1.5)
        return numbers(t, f.vmap(normalise)(x, t.zeros(3, 2), t.ones(3, 2)))

    for a, b in zip(run(minigrad), run(torch), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------- custom functions


def custom(t: ModuleType) -> dict[str, Callable]:
    """x**3 and its like as custom Functions, with all that transforms ask for."""

    class Generated(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, k):
            return x**k, x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.k = inputs
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)

        @staticmethod
        def backward(ctx, a, b):
            (x,) = ctx.saved_tensors
            return a * ctx.k * x ** (ctx.k - 1) + b * 2, None

        @staticmethod
        def jvp(ctx, tangent, _):
            (x,) = ctx.saved_tensors
            return tangent * ctx.k * x ** (ctx.k - 1), tangent * 2

    class Own(t.autograd.Function):
        @staticmethod
        def forward(x, y):
            return x * y.sin()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            return Own.apply(grad, y), grad * x * y.cos()

        @staticmethod
        def jvp(ctx, a, b):
            x, y = ctx.saved_tensors
            return a * y.sin() + x * b * y.cos()

        @staticmethod
        def vmap(info, in_dims, x, y):
            x, y = (
                v.expand(info.batch_size, *v.shape) if d is None else v.movedim(d, 0)
                for v, d in zip((x, y), in_dims, strict=True)
            )
            return Own.apply(x, y), 0

    return {
        "generated rule": lambda t, x: (lambda a, b: a * b + x)(*Generated.apply(x, 3)),
        "own vmap": lambda t, x: Own.apply(x * x, x.flip(0)),
        "own vmap, one argument shared": lambda t, x: Own.apply(x, t.tensor(V)),
    }


# The same as functions without a rule of their own. PyTorch is asked for these: its jvp of jvp of a custom Function whose
# rule uses a saved tensor is wrong, it lacks the derivative of what was saved.
PLAIN = {
    "generated rule": lambda t, x: 2 * x**4 + x,
    "own vmap": lambda t, x: x * x * x.flip(0).sin(),
    "own vmap, one argument shared": lambda t, x: x * t.tensor(V).sin(),
}


@pytest.mark.parametrize("names", SHALLOW, ids=spelled)
def test_a_custom_function_under_every_nesting_of_two(torch, names):
    for name, f in custom(minigrad).items():
        np.testing.assert_allclose(
            nested(minigrad, names, f), nested(torch, names, PLAIN[name]), rtol=1e-7, atol=1e-9, err_msg=name
        )


@pytest.mark.parametrize("names", DEEP[::7], ids=spelled)
def test_a_custom_function_under_nestings_of_three(torch, names):
    name = list(PLAIN)[zlib.crc32(repr(names).encode()) % len(PLAIN)]
    np.testing.assert_allclose(
        nested(minigrad, names, custom(minigrad)[name]),
        nested(torch, names, PLAIN[name]),
        rtol=1e-6,
        atol=1e-8,
    )
