"""Custom Functions and hooks at the edges: gradients that never arrive, names in `ctx`, forward mode in the old form."""

from __future__ import annotations

import importlib

import pytest

import minigrad


def dropping(t):
    """The identity, through which no gradient goes back."""

    class Dropping(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return None

    return Dropping.apply


def pair(t, seen, materialize=True):
    """(x, 2 x); `seen` gets what its backward is given."""

    class Pair(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x.clone(), x * 2

        @staticmethod
        def backward(ctx, first, second):
            seen.append((as_list(first), as_list(second)))
            return first

    return Pair.apply


def as_list(x):
    return x if x is None else tuple(map(as_list, x)) if isinstance(x, tuple) else x.tolist()


def leaf(t):
    return t.tensor([1.0, 3.0, 2.0], requires_grad=True)


# ---------------------------------------------------------------- what each engine is asked


def no_gradient_for_several_outputs(t):
    """A node with several outputs, to none of which a gradient comes, is passed over."""
    for op in (lambda x: x.sort(), lambda x: x.unbind(), lambda x: x.max(0)):
        x = leaf(t)
        dropping(t)(op(x * 1)[0]).sum().backward()
        yield as_list(x.grad)


def no_gradient_for_one_of_two_uses(t):
    x = leaf(t)
    values, _ = (x * 1).sort()
    (dropping(t)(values).sum() + values.sum()).backward()
    yield as_list(x.grad)


def no_gradient_for_a_function(t):
    for materialize in (True, False):
        seen = []
        dropping(t)(pair(t, seen, materialize)(leaf(t))[0]).sum().backward()
        yield seen


def hooks_see_that_there_is_no_gradient(t):
    seen = []
    x = leaf(t)
    y, _ = pair(t, seen)(x)
    y.register_hook(lambda g: seen.append(("tensor", as_list(g))))
    y.grad_fn.register_prehook(lambda grads: seen.append(("before", as_list(grads))))
    y.grad_fn.register_hook(lambda into, out: seen.append(("after", as_list(into), as_list(out))))
    dropping(t)(y).sum().backward()
    yield seen


def hooks_cannot_make_a_gradient_from_nothing(t):
    y = leaf(t) * 2
    y.register_hook(lambda g: t.ones(3))
    yield lambda: dropping(t)(y).sum().backward()


def ordinary_names_in_ctx_are_the_users(t):
    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, by):
            ctx.saved, ctx.meta, ctx.op, ctx.version, ctx.dirty, ctx.function = by, "m", "*", 3, True, abs
            return x * by

        @staticmethod
        def backward(ctx, grad):
            assert (ctx.meta, ctx.op, ctx.version, ctx.dirty, ctx.function) == ("m", "*", 3, True, abs)
            return grad * ctx.saved, None

    x = leaf(t)
    Scaled.apply(x, 4.0).sum().backward()
    yield as_list(x.grad)


def jvp_finds_what_was_saved_for_it(t):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x, x * x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * grad

        @staticmethod
        def jvp(ctx, tangent):
            _, square = ctx.saved_tensors
            return 3 * square * tangent

    forward_ad = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
    for tracked in (False, True):
        x = t.tensor(2.0, requires_grad=tracked)
        with forward_ad.dual_level():
            y = Cube.apply(forward_ad.make_dual(x, t.tensor(1.0)))
            yield [as_list(v) for v in forward_ad.unpack_dual(y)]
        if tracked:
            y.backward()
            yield as_list(x.grad)


def forward_over_reverse(t):
    """A gradient that is computed at a dual level has a tangent: H t."""
    forward_ad = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
    along = t.tensor([1.0, 0.0, -1.0])
    with forward_ad.dual_level():
        x = forward_ad.make_dual(leaf(t).detach(), along).requires_grad_()
        (slope,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
        yield [as_list(v) for v in forward_ad.unpack_dual(slope)]


def forward_over_reverse_of_leaves(t):
    """The history of a value goes on in its dual number: gradients of leaves have tangents if the pass is recorded."""
    forward_ad = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
    x, w = (t.tensor(v, dtype=t.float64, requires_grad=True) for v in ([1.0, 3.0, 2.0], [0.5, 1.0, 2.0]))
    along = t.tensor([1.0, 0.0, -1.0], dtype=t.float64)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, along)
        y = (w * (dual * w) ** 2 + w.exp()).sum()
        yield y.grad_fn.name(), dual.is_leaf, dual.grad_fn.name()
        for slope in t.autograd.grad(y, (x, w, dual), create_graph=True):
            yield [as_list(v) for v in forward_ad.unpack_dual(slope)]
            yield [
                as_list(second.detach()) for second in t.autograd.grad(slope.sum(), (x, w), retain_graph=True)
            ]
        y.backward(retain_graph=True)
        for p in (x, w):
            yield [as_list(v) for v in forward_ad.unpack_dual(p.grad)]
        tangent = forward_ad.unpack_dual(y).tangent
        yield [as_list(g.detach()) for g in t.autograd.grad(tangent, (x, w))]
    yield as_list(x.grad), as_list(w.grad + 1)
    (x * x).sum().backward()
    yield as_list(x.grad)


def differentiated_twice(t):
    once = importlib.import_module(f"{t.__name__}.autograd.function").once_differentiable

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    v = t.ones(3, requires_grad=True)
    x = leaf(t)
    (slope,) = t.autograd.grad(Square.apply(x), x, v, create_graph=True)
    yield repr(slope)
    yield lambda: slope.sum().backward()


def any_of_several_gradients(t):
    """Each pass counts for itself, and tensors that need no gradient are left out."""
    register = importlib.import_module(f"{t.__name__}.autograd.graph").register_multi_grad_hook
    a, b, seen = leaf(t), leaf(t), []
    register((a, b), lambda grads: seen.append(("all", [as_list(g) for g in grads])))
    register((a, t.ones(1), b), lambda g: seen.append(("any", as_list(g))), mode="any")
    for loss in (a * b, a * 2, b * a):
        loss.sum().backward()
    yield seen


PROGRAMS = [
    no_gradient_for_several_outputs, no_gradient_for_one_of_two_uses, no_gradient_for_a_function,
    hooks_see_that_there_is_no_gradient, hooks_cannot_make_a_gradient_from_nothing, ordinary_names_in_ctx_are_the_users,
    jvp_finds_what_was_saved_for_it, forward_over_reverse, forward_over_reverse_of_leaves, differentiated_twice,
    any_of_several_gradients,
]  # fmt: skip


def outcome(found):
    """What was found; of something to call, its error."""
    if not callable(found):
        return found
    with pytest.raises(Exception) as caught:
        found()
    return type(caught.value).__name__, str(caught.value).split("\n")[0]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_it_is_as_in_torch(torch, program):
    ours, theirs = (rounded([outcome(found) for found in program(t)]) for t in (minigrad, torch))
    assert ours == theirs


def rounded(found):
    """Numbers to twelve digits, wherever they are."""
    if isinstance(found, (list, tuple)):
        return [rounded(f) for f in found]
    return float(f"{found:.12g}") if isinstance(found, float) else found


def test_a_hook_on_several_gradients_does_not_keep_the_graph():
    import gc
    import weakref

    a = leaf(minigrad)
    minigrad.autograd.graph.register_multi_grad_hook((a,), lambda grads: None)
    gc.disable()
    try:
        loss = (a * 2).sum()
        node = weakref.ref(loss.grad_fn)
        loss.backward()
        del loss
        assert node() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["keep", "checked", "fitted", "saved", "meta", "op", "rules", "version"])
def test_a_ctx_takes_attributes_of_these_names(name):
    """People call them as they like; what the node keeps for itself is not in the way."""

    class Scale(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            setattr(ctx, name, 3.0)
            return x * 3.0

        @staticmethod
        def backward(ctx, grad):
            return grad * getattr(ctx, name)

    x = leaf(minigrad)
    Scale.apply(x).sum().backward()
    assert x.grad.equal(minigrad.full_like(x, 3.0))


@pytest.mark.parametrize(
    "name",
    ["edges", "hooks", "inputs", "meta", "outputs", "op", "release", "saved", "sequence", "version", "vjp"],
)
def test_what_a_function_keeps_on_its_ctx_may_have_any_name(torch, name):
    """PyTorch's own names apart, all attributes of `ctx` are the user's; `y.grad_fn` shows them."""
    for t in (torch, minigrad):

        class Double(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                setattr(ctx, name, [1, 2])
                ctx.save_for_backward(x)
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                assert getattr(ctx, name) == [1, 2] and len(ctx.saved_tensors) == 1
                return grad * 2

        x = t.ones(2, requires_grad=True)
        y = Double.apply(x)
        assert getattr(y.grad_fn, name) == [1, 2]
        y.sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]
