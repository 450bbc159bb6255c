"""Function transforms against torch.func: values and Jacobians in any nesting, their laws, and what bad calls say."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest

import minigrad
from minigrad import func
from minigrad.autograd import forward_ad
from minigrad.func.pytree import flatten

RNG = np.random.default_rng(0)
X, W = RNG.standard_normal((5, 3)), RNG.standard_normal((3, 4))
P = np.array([1.0, 2.0, 3.0])


def arrays(t, *values):
    return tuple(t.tensor(v) for v in values)


def polynomial(x):
    return (x**3).sum() + x[0] * x[1]


# Each program takes the module `t` (torch or minigrad) and its `func`; what it returns must be the same in both.
PROGRAMS = {
    "grad": lambda t, f: f.grad(lambda x: (x**3).sum())(t.tensor(X)),
    "grad of grad": lambda t, f: f.grad(lambda x: f.grad(lambda y: (y**3).sum())(x).sum())(t.tensor(X)),
    "grad of two arguments": lambda t, f: f.grad(lambda x, w: (x @ w).sin().sum(), (0, 1))(*arrays(t, X, W)),
    "grad of a tree": lambda t, f: f.grad(lambda p: (p["a"] * p["b"][0]).sum())(
        {"a": t.tensor(X), "b": [t.tensor(X) * 2]}
    ),
    "grad_and_value with aux": lambda t, f: f.grad_and_value(lambda x: ((x**2).sum(), x * 2), has_aux=True)(
        t.tensor(X)
    ),
    "an unused argument has gradient zero": lambda t, f: f.grad(lambda x, y: (x**2).sum(), 1)(
        *arrays(t, X, W)
    ),
    "vjp": lambda t, f: f.vjp(lambda x: x.sin(), t.tensor(X))[1](t.tensor(X)),
    "vjp of two outputs": lambda t, f: f.vjp(lambda x: (x.sin(), x.sum()), t.tensor(X))[1](
        (t.tensor(X), t.tensor(np.float64(2)))
    ),
    "jvp": lambda t, f: f.jvp(lambda x: (x.exp() * x).sum(1), (t.tensor(X),), (t.tensor(X),)),
    "jvp of a product of matrices": lambda t, f: f.jvp(
        lambda x, w: (x @ w).tanh(), arrays(t, X, W), arrays(t, X, W)
    ),
    "jvp where forward mode has no rule": lambda t, f: f.jvp(
        lambda x: x.prod() + x.std(), (t.tensor(P),), (t.tensor(P),)
    ),
    "linearize": lambda t, f: f.linearize(lambda x: x.sin(), t.tensor(X))[1](t.tensor(X)),
    "jacrev": lambda t, f: f.jacrev(lambda w: (t.tensor(X) @ w).tanh().sum(0))(t.tensor(W)),
    "jacrev in pieces": lambda t, f: f.jacrev(lambda w: (t.tensor(X) @ w).tanh(), chunk_size=3)(t.tensor(W)),
    "jacrev of two outputs and arguments": lambda t, f: f.jacrev(
        lambda x, y: (x * y.sum(), y.exp()), argnums=(0, 1)
    )(*arrays(t, P, P)),
    "jacfwd": lambda t, f: f.jacfwd(lambda w: (t.tensor(X) @ w).tanh().sum(0))(t.tensor(W)),
    "hessian": lambda t, f: f.hessian(polynomial)(t.tensor(P)),
    "jacrev of jacrev": lambda t, f: f.jacrev(f.jacrev(polynomial))(t.tensor(P)),
    "jacfwd of jacfwd": lambda t, f: f.jacfwd(f.jacfwd(polynomial))(t.tensor(P)),
    "jacrev of jacfwd": lambda t, f: f.jacrev(f.jacfwd(polynomial))(t.tensor(P)),
    "jvp of grad": lambda t, f: f.jvp(f.grad(polynomial), (t.tensor(P),), (t.tensor(P),)),
    "grad of jvp": lambda t, f: f.grad(lambda x: f.jvp(polynomial, (x,), (t.tensor(P),))[1])(t.tensor(P)),
    "vmap": lambda t, f: f.vmap(lambda x: (x * x).sum())(t.tensor(X)),
    "vmap over other dimensions": lambda t, f: f.vmap(
        lambda x, y: (x + y, x * 2), in_dims=(1, None), out_dims=(1, 0)
    )(t.tensor(X), t.tensor(np.float64(2))),
    "vmap of a tree": lambda t, f: f.vmap(lambda p, s: {"r": p["a"] * s}, in_dims=({"a": 0}, None))(
        {"a": t.tensor(X)}, t.tensor(np.float64(3))
    ),
    "vmap in pieces": lambda t, f: f.vmap(lambda x: x.sum(), chunk_size=2)(t.tensor(X)),
    "vmap of vmap": lambda t, f: f.vmap(f.vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))(
        *arrays(t, P, P)
    ),
    "vmap of indexing": lambda t, f: f.vmap(lambda x: x[1:] * x[0] + x[[2, 0]])(t.tensor(X)),
    "vmap of shapes": lambda t, f: f.vmap(
        lambda x: t.cat([x.reshape(3, 1).expand(3, 2).t().flatten(), x[None].permute(1, 0).squeeze(1)])
    )(t.tensor(X)),
    "vmap of reductions": lambda t, f: f.vmap(
        lambda x: (x.mean(), x.sum(0, keepdim=True), x.max(), x.amin(0), x.prod(), x.var(), x.logsumexp(0))
    )(t.tensor(X)),
    "vmap of products": lambda t, f: f.vmap(
        lambda x: (x @ t.tensor(W), t.tensor(W).t() @ x, x @ x, t.outer(x, x) @ x)
    )(t.tensor(X)),
    "vmap of softmax": lambda t, f: f.vmap(lambda x: x.softmax(0) * x.log_softmax(0))(t.tensor(X)),
    "per-sample gradients": lambda t, f: f.vmap(
        f.grad(lambda w, x: ((x @ w).tanh() ** 2).sum()), in_dims=(None, 0)
    )(*arrays(t, W, X)),
    "per-sample gradients of a classifier": lambda t, f: f.vmap(
        f.grad(lambda w, x, y: t.nn.functional.cross_entropy((x @ w)[None], y[None])), in_dims=(None, 0, 0)
    )(*arrays(t, W, X), t.tensor([0, 1, 2, 3, 0])),
    "grad of vmap": lambda t, f: f.grad(lambda w: f.vmap(lambda x: (x @ w).tanh().sum())(t.tensor(X)).sum())(
        t.tensor(W)
    ),
    "vmap of hessian": lambda t, f: f.vmap(f.hessian(lambda x: (x**3).sum() * x[0]))(t.tensor(X)),
    "vmap of jvp": lambda t, f: f.vmap(lambda x: f.jvp(t.sin, (x,), (t.ones_like(x),))[1])(t.tensor(X)),
    "jvp of vmap": lambda t, f: f.jvp(f.vmap(lambda x: x.exp().sum()), (t.tensor(X),), (t.tensor(X),)),
    "no perturbation confusion": lambda t, f: f.grad(
        lambda x: x * f.grad(lambda y: x + y)(t.tensor(np.float64(1)))
    )(t.tensor(np.float64(1))),
    "the same variable at two levels": lambda t, f: f.grad(lambda x: x * f.grad(lambda y: x * y * y)(x))(
        t.tensor(np.float64(3))
    ),
    "no perturbation confusion in forward mode": lambda t, f: f.jvp(
        lambda x: x * f.jvp(lambda y: x + y, (t.tensor(np.float64(1)),), (t.tensor(np.float64(1)),))[1],
        (t.tensor(np.float64(2)),),
        (t.tensor(np.float64(1)),),
    ),
    "jvp of jvp where forward mode has no rule": lambda t, f: f.jvp(
        lambda x: f.jvp(
            lambda y: y.logsumexp(0) + t.nn.functional.mse_loss(y, t.ones_like(y)), (x,), (t.tensor(P),)
        )[1],
        (t.tensor(P),),
        (t.tensor(P),),
    ),
    "forward mode over and under reverse mode": lambda t, f: (
        f.jacfwd(f.jacrev(lambda x: x.std() * x.logsumexp(0)))(t.tensor(P)),
        f.jacrev(f.jacfwd(lambda x: x.std() * x.logsumexp(0)))(t.tensor(P)),
        f.jacfwd(f.jacfwd(lambda x: x.std() * x.logsumexp(0)))(t.tensor(P)),
    ),
    "in-place inside": lambda t, f: f.grad(lambda x: x.clone().mul_(x).sum())(t.tensor(P)),
    "no_grad inside": lambda t, f: f.grad(lambda x: (x * no_grad(t, x)).sum())(t.tensor(P)),
}


def no_grad(t, x):
    with t.no_grad():
        return x * x


@pytest.mark.parametrize("name", PROGRAMS)
def test_does_what_torch_func_does(torch, name):
    ours, _ = flatten(PROGRAMS[name](minigrad, func))
    theirs, _ = flatten(PROGRAMS[name](torch, importlib.import_module("torch.func")))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        assert a.requires_grad == b.requires_grad
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- laws


def net(x):
    return ((x @ minigrad.tensor(W)).tanh() ** 2).sum(-1).exp()


def test_jvp_and_vjp_are_transposes_of_each_other():
    x, t = minigrad.tensor(X), minigrad.tensor(RNG.standard_normal(X.shape))
    out, pushed = func.jvp(net, (x,), (t,))
    v = minigrad.tensor(RNG.standard_normal(tuple(out.shape)))
    (pulled,) = func.vjp(net, x)[1](v)
    assert (pushed * v).sum().item() == pytest.approx((pulled * t).sum().item(), rel=1e-10)


def test_jacrev_equals_jacfwd_equals_autograd_functional():
    x = minigrad.tensor(X)
    rev, fwd = func.jacrev(net)(x), func.jacfwd(net)(x)
    plain = minigrad.autograd.functional.jacobian(net, x)
    np.testing.assert_allclose(rev.numpy(), fwd.numpy(), rtol=1e-10)
    np.testing.assert_allclose(rev.numpy(), plain.numpy(), rtol=1e-10)


@pytest.mark.parametrize(
    "outer, inner", [(func.jacfwd, func.jacrev), (func.jacrev, func.jacfwd), (func.jacfwd, func.jacfwd)]
)
def test_a_hessian_is_the_same_in_every_mode(outer, inner):
    """Against finite differences: PyTorch 2.13's own `jacfwd(jacrev(...))` of layer_norm is not even symmetric."""
    x = minigrad.tensor(P**2)

    def f(x):
        return minigrad.nn.functional.layer_norm(x, (3,)).prod() * x[0]

    gradient, eps = func.grad(f), 1e-6
    steps = minigrad.eye(3, dtype=minigrad.float64) * eps
    numerical = [((gradient(x + e) - gradient(x - e)) / (2 * eps)).numpy() for e in steps]
    np.testing.assert_allclose(outer(inner(f))(x).numpy(), numerical, rtol=1e-5, atol=1e-7)


def test_vmap_equals_the_loop():
    x = minigrad.tensor(X)
    loop = minigrad.stack([func.grad(lambda r: net(r[None]).sum())(row) for row in x])
    np.testing.assert_allclose(
        func.vmap(func.grad(lambda r: net(r[None]).sum()))(x).numpy(), loop.numpy(), rtol=1e-12
    )


def test_per_sample_gradients_sum_to_the_gradient_of_the_batch():
    w, x = minigrad.tensor(W), minigrad.tensor(X)

    def loss(w, row):
        return (row @ w).tanh().sum()

    each = func.vmap(func.grad(loss), in_dims=(None, 0))(w, x)
    assert tuple(each.shape) == (5, 3, 4)
    np.testing.assert_allclose(each.sum(0).numpy(), func.grad(loss)(w, x).numpy(), rtol=1e-12)


def test_the_result_of_a_transform_stays_connected_to_what_it_was_made_from():
    w = minigrad.tensor(W, requires_grad=True)
    out = func.vmap(lambda x: (x @ w).sum())(minigrad.tensor(X))
    out.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), np.repeat(X.sum(0)[:, None], 4, 1))


# ---------------------------------------------------------------- custom functions


class Cube(minigrad.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_for_forward
        return tangent * 3 * x * x


class NumpySquare(minigrad.autograd.Function):
    """A black box with a vmap of its own."""

    @staticmethod
    def forward(x):
        return minigrad.from_numpy(x.numpy() ** 2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * ctx.saved_tensors[0]

    @staticmethod
    def vmap(info, in_dims, x):
        return NumpySquare.apply(x), in_dims[0]


def test_a_custom_function_under_every_transform():
    x = minigrad.tensor(P)
    np.testing.assert_allclose(func.grad(lambda x: Cube.apply(x).sum())(x).numpy(), 3 * P**2)
    np.testing.assert_allclose(func.jvp(Cube.apply, (x,), (minigrad.ones_like(x),))[1].numpy(), 3 * P**2)
    np.testing.assert_allclose(func.vmap(Cube.apply)(x).numpy(), P**3)
    np.testing.assert_allclose(func.vmap(func.grad(Cube.apply))(x).numpy(), 3 * P**2)


def test_a_custom_function_with_its_own_vmap():
    x = minigrad.tensor(P)
    np.testing.assert_allclose(func.vmap(NumpySquare.apply)(x).numpy(), P**2)
    np.testing.assert_allclose(func.vmap(func.grad(NumpySquare.apply))(x).numpy(), 2 * P)


# ---------------------------------------------------------------- forward_ad


def test_dual_numbers_carry_value_and_derivative():
    with forward_ad.dual_level():
        y = forward_ad.make_dual(minigrad.tensor(2.0), minigrad.tensor(1.0)) ** 3
        primal, tangent = forward_ad.unpack_dual(y)
    assert (primal.item(), tangent.item()) == (8.0, 12.0)


def test_a_dual_of_a_tensor_that_requires_grad_goes_both_ways():
    x = minigrad.tensor(2.0, requires_grad=True)
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x, minigrad.tensor(1.0)) ** 3
        tangent = forward_ad.unpack_dual(y).tangent
        (second,) = minigrad.autograd.grad(tangent, x, retain_graph=True)
        y.backward()
    assert (tangent.item(), second.item(), x.grad.item()) == (12.0, 12.0, 12.0)


def test_a_write_through_a_view_reaches_the_base():
    x, v = minigrad.tensor(P), minigrad.ones(3, dtype=minigrad.float64)

    def write(x):
        y = x * 1
        y[:2].mul_(x[:2])
        return y

    _, tangent = func.jvp(write, (x,), (v,))
    np.testing.assert_allclose(tangent.numpy(), [2.0, 4.0, 1.0])
    np.testing.assert_allclose(func.vmap(write)(minigrad.stack([x, 2 * x])).numpy()[1], [4.0, 16.0, 6.0])


def test_randomness_under_vmap():
    x = minigrad.zeros(4)
    same = func.vmap(lambda x: x + minigrad.rand(()), randomness="same")(x)
    different = func.vmap(lambda x: x + minigrad.rand(()), randomness="different")(x)
    assert len(set(same.tolist())) == 1
    assert len(set(different.tolist())) == 4


# ---------------------------------------------------------------- bad calls: (name, call on the module and its func)

BAD_CALLS = {
    "grad of a non-scalar": lambda t, f: f.grad(lambda x: x * 2)(t.ones(3)),
    "grad of no tensor": lambda t, f: f.grad(lambda x: 2.0)(t.ones(3)),
    "argnums out of range": lambda t, f: f.grad(lambda x: x.sum(), 3)(t.ones(3)),
    "has_aux without aux": lambda t, f: f.grad(lambda x: x.sum(), has_aux=True)(t.ones(3)),
    "in_dims of another structure": lambda t, f: f.vmap(lambda x, y: x, in_dims=(0,))(t.ones(3), t.ones(3)),
    "in_dims out of range": lambda t, f: f.vmap(lambda x: x, in_dims=3)(t.ones(3)),
    "in_dims for a number": lambda t, f: f.vmap(lambda x: x)(3.0),
    "nothing is batched": lambda t, f: f.vmap(lambda x: x, in_dims=None)(t.ones(3)),
    "batches of two sizes": lambda t, f: f.vmap(lambda x, y: x + y)(t.ones(3), t.ones(4)),
    "no arguments": lambda t, f: f.vmap(lambda: 1)(),
    "item under vmap": lambda t, f: f.vmap(lambda x: x * x.item())(t.ones(3)),
    "if under vmap": lambda t, f: f.vmap(lambda x: x if x > 0 else -x)(t.ones(3)),
    "vmap returns no tensor": lambda t, f: f.vmap(lambda x: 3)(t.ones(3)),
    "randomness misspelt": lambda t, f: f.vmap(lambda x: x, randomness="all")(t.ones(3)),
    "random numbers under vmap": lambda t, f: f.vmap(lambda x: x + t.randn(()))(t.ones(3)),
    "jvp without a tuple": lambda t, f: f.jvp(t.sin, t.ones(3), t.ones(3)),
    "chunk_size of nothing": lambda t, f: f.vmap(lambda x: x, chunk_size=0)(t.ones(3)),
    "make_dual outside": lambda t, f: t.autograd.forward_ad.make_dual(t.ones(3), t.ones(3)),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_gets_torchs_error(torch, name):
    with pytest.raises(Exception) as theirs:
        BAD_CALLS[name](torch, importlib.import_module("torch.func"))
    with pytest.raises(theirs.type) as ours:
        BAD_CALLS[name](minigrad, func)
    assert first_words(ours.value) == first_words(theirs.value)


def first_words(error: Exception) -> str:
    """The first line of the message, up to where it names functions and structures."""
    return str(error).split("\n")[0].split("(<inputs>)")[0].split("<function")[0][:60]


# ---------------------------------------------------------------- what lessons use, in one call for the batch


def weights(t, *shape):
    """The same numbers in both libraries."""
    return t.tensor(np.random.default_rng(sum(shape)).standard_normal(shape))


def recurrent(t, x):
    """A recurrent network by hand, over the rows of x (7, 6)."""
    h = t.zeros(3, dtype=t.float64)
    for row in x:
        h = t.tanh(row @ weights(t, 6, 3) + h @ weights(t, 3, 3))
    return h


def long_short_term(t, x):
    h = c = t.zeros(3, dtype=t.float64)
    for row in x:
        i, f, g, o = (row @ weights(t, 6, 12) + h @ weights(t, 3, 12)).chunk(4)
        c = t.sigmoid(f) * c + t.sigmoid(i) * t.tanh(g)
        h = t.sigmoid(o) * t.tanh(c)
    return h


def assigned(t, x):
    y = x.clone()
    y[1] = x[0] * 2
    y[2:4] += x[:2] ** 2
    return y


def nnf(t):
    return t.nn.functional


ROW, ROWS, IMAGE = (5, 6), (5, 7, 6), (5, 2, 8, 8)  # batches of 5
LABELS = [0, 1, 2, 3, 4, 5, 0]
# name: (shape of the batch, function of the module and of one example)
BATCHED = {
    "linear": (ROWS, lambda t, x: nnf(t).linear(x, weights(t, 4, 6), weights(t, 4))),
    "an MLP": (ROW, lambda t, x: (t.relu(x @ weights(t, 6, 8)) @ weights(t, 8, 3)).softmax(-1)),
    "conv2d of a batch": (IMAGE, lambda t, x: nnf(t).conv2d(x[None], weights(t, 3, 2, 3, 3), padding=1)),
    "conv2d of one image": (IMAGE, lambda t, x: nnf(t).conv2d(x, weights(t, 3, 2, 3, 3), stride=2)),
    "conv1d": (IMAGE, lambda t, x: nnf(t).conv1d(x[0], weights(t, 3, 8, 3))),
    "conv2d with the example as kernel": (IMAGE, lambda t, x: nnf(t).conv2d(x[None], x[None, :, :3, :3])),
    "max_pool2d": (IMAGE, lambda t, x: nnf(t).max_pool2d(x, 2)),
    "avg_pool2d": (IMAGE, lambda t, x: nnf(t).avg_pool2d(x[None], 2)),
    "pad": (IMAGE, lambda t, x: nnf(t).pad(x, (1, 1, 2, 0))),
    "a recurrent network": (ROWS, recurrent),
    "an LSTM": (ROWS, long_short_term),
    "cross_entropy": (ROWS, lambda t, x: nnf(t).cross_entropy(x, t.tensor(LABELS))),
    "cross_entropy, smoothed": (
        ROWS,
        lambda t, x: nnf(t).cross_entropy(x, t.tensor(LABELS), label_smoothing=0.1),
    ),
    "nll_loss": (ROWS, lambda t, x: nnf(t).nll_loss(x.log_softmax(1), t.tensor(LABELS))),
    "mse_loss": (ROW, lambda t, x: nnf(t).mse_loss(x, weights(t, 6))),
    "huber_loss": (ROW, lambda t, x: nnf(t).huber_loss(x, weights(t, 6))),
    "bce_with_logits": (ROW, lambda t, x: nnf(t).binary_cross_entropy_with_logits(x, weights(t, 6))),
    "kl_div": (ROW, lambda t, x: nnf(t).kl_div(x.log_softmax(0), weights(t, 6) ** 2, reduction="sum")),
    "log_softmax": (ROWS, lambda t, x: x.log_softmax(0)),
    "logsumexp": (ROWS, lambda t, x: x.logsumexp(-1)),
    "layer_norm": (ROWS, lambda t, x: nnf(t).layer_norm(x, (6,), weights(t, 6), weights(t, 6))),
    "layer_norm, scaled by the example": (ROWS, lambda t, x: nnf(t).layer_norm(x, (6,), x[0], x[1])),
    "batch_norm": (ROWS, lambda t, x: nnf(t).batch_norm(x, None, None, weights(t, 6), training=True)),
    "batch_norm with given statistics": (
        ROWS,
        lambda t, x: nnf(t).batch_norm(x, weights(t, 6), weights(t, 6) ** 2),
    ),
    "positions and slices": (ROWS, lambda t, x: x[2] * x[1:4, ::2].sum() + x[..., 0].sum() + x[None, -1]),
    "lists of positions": (ROWS, lambda t, x: x[[0, 2]] + x[:, t.tensor([1, 3])].sum()),
    "gather": (ROW, lambda t, x: x.gather(0, t.tensor([0, 2]))),
    "assignment": (ROWS, assigned),
    "where": (ROW, lambda t, x: t.where(x > 0, x * x, 0.0)),
    "sort, topk, max, argmax": (
        ROW,
        lambda t, x: x.sort()[0] * x.max() + x.topk(2)[0].sum() * x.argmax() + x.max(0)[0],
    ),
    "statistics": (ROWS, lambda t, x: x.std() + x.var(0) * x.mean(0) + x.norm() + x.prod(1).sum()),
    "cumulative": (ROWS, lambda t, x: x.cumsum(0) * x.cumprod(1)),
    "einsum": (ROWS, lambda t, x: t.einsum("ij,kj->ik", x, weights(t, 4, 6))),
    "scatter and index_add": (
        ROW,
        lambda t, x: x.scatter(0, t.tensor([1, 3]), x[:2] ** 2).index_add(0, t.tensor([0, 1]), x[2:4]),
    ),
    "inverse and determinant": (ROWS, lambda t, x: t.linalg.inv(x[:6] + 6 * t.eye(6)) * t.linalg.det(x[:6])),
}
WAYS = {
    "value": lambda f, g: f.vmap(g),
    "gradient": lambda f, g: f.vmap(f.grad(lambda x: (g(x) ** 2).sum())),
    "tangent": lambda f, g: f.vmap(lambda x: f.jvp(g, (x,), (x * 0 + 1,))[1]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BATCHED)
def test_a_batch_is_one_call_and_equals_torchs(torch, name, way):
    from minigrad.func import batching

    shape, program = BATCHED[name]
    x = np.random.default_rng(7).standard_normal(shape)
    batching.warned.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = WAYS[way](func, lambda x: program(minigrad, x))(minigrad.tensor(x))
    assert not [str(w.message) for w in caught if "performance drop" in str(w.message)]
    theirs = WAYS[way](importlib.import_module("torch.func"), lambda x: program(torch, x))(torch.tensor(x))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", BATCHED)
def test_vmap_equals_the_loop_and_jvp_the_transpose_of_vjp(name):
    shape, program = BATCHED[name]
    rng = np.random.default_rng(7)
    x, t = (minigrad.tensor(rng.standard_normal(shape)) for _ in range(2))

    def f(x):
        return program(minigrad, x)

    loop = minigrad.stack([f(example) for example in x])
    np.testing.assert_allclose(func.vmap(f)(x).numpy(), loop.numpy(), rtol=1e-9, atol=1e-12)
    out, pushed = func.jvp(f, (x[0],), (t[0],))
    v = minigrad.tensor(rng.standard_normal(tuple(out.shape)))
    (pulled,) = func.vjp(f, x[0])[1](v)
    np.testing.assert_allclose((pushed * v).sum().item(), (pulled * t[0]).sum().item(), rtol=1e-8, atol=1e-10)


# name: (function of the module, an example and its own indices; shape of the indices; how many there are)
BY_EXAMPLE = {
    "the target of cross_entropy": (lambda t, x, i: nnf(t).cross_entropy(x, i), (5, 7), 6),
    "a row": (lambda t, x, i: x[i], (5,), 7),
    "rows": (lambda t, x, i: x[i], (5, 2), 7),
    "columns": (lambda t, x, i: x[:, i], (5, 2), 6),
    "pairs": (lambda t, x, i: x[t.arange(7), i], (5, 7), 6),
    "index_select": (lambda t, x, i: x.index_select(0, i), (5, 2), 7),
    "gather": (lambda t, x, i: x.gather(1, i[:, None]), (5, 7), 6),
    "embedding": (lambda t, x, i: nnf(t).embedding(i, weights(t, 9, 2)) * x.sum(), (5, 3), 9),
}


@pytest.mark.parametrize("name", BY_EXAMPLE)
def test_indices_may_differ_between_the_examples(name):
    program, shape, count = BY_EXAMPLE[name]
    rng = np.random.default_rng(7)
    x, i = minigrad.tensor(rng.standard_normal(ROWS)), minigrad.tensor(rng.integers(0, count, shape))

    def value(x, i):
        return program(minigrad, x, i)

    gradient = func.grad(lambda x, i: (value(x, i) ** 2).sum())
    for f in (value, gradient):
        loop = minigrad.stack([f(a, b) for a, b in zip(x, i, strict=True)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            batch = func.vmap(f)(x, i)
        np.testing.assert_allclose(batch.numpy(), loop.numpy(), rtol=1e-12)


# ---------------------------------------------------------------- modules, randomness


def test_an_ensemble_of_models_is_one_batched_call():
    def model():
        return minigrad.nn.Sequential(
            minigrad.nn.Linear(6, 8),
            minigrad.nn.ReLU(),
            minigrad.nn.BatchNorm1d(8).eval(),
            minigrad.nn.Linear(8, 3),
        )

    models, x = [model() for _ in range(4)], minigrad.randn(5, 6)
    parameters, buffers = func.stack_module_state(models)
    base = model()

    def call(p, b):
        return func.functional_call(base, (p, b), (x,))

    batch = func.vmap(call)(parameters, buffers)
    loop = minigrad.stack([m(x) for m in models])
    np.testing.assert_allclose(batch.detach().numpy(), loop.detach().numpy(), rtol=1e-5, atol=1e-6)


RANDOM = {
    "dropout": lambda x: minigrad.nn.functional.dropout(x),
    "dropout2d": lambda x: minigrad.nn.functional.dropout2d(x[None, :, None, None]),
    "the module Dropout": lambda x: minigrad.nn.Dropout(0.5)(x),
    "bernoulli": lambda x: minigrad.bernoulli(x * 0.5),
    "randn_like": lambda x: minigrad.randn_like(x),
    "normal_": lambda x: x.clone().normal_(),
    "uniform_": lambda x: x.clone().uniform_(),
    "randperm": lambda x: minigrad.randperm(20),
}


@pytest.mark.parametrize("name", RANDOM)
def test_every_random_function_obeys_the_randomness_of_vmap(name):
    x = minigrad.ones(4, 20)
    for randomness, distinct in (("same", 1), ("different", 4)):
        rows = func.vmap(RANDOM[name], randomness=randomness)(x).reshape(4, -1)
        assert len({tuple(row) for row in rows.tolist()}) == distinct
    with pytest.raises(RuntimeError, match="randomness error mode"):
        func.vmap(RANDOM[name])(x)
