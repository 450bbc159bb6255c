"""gradcheck and gradgradcheck: what they pass and refuse is what PyTorch's do, for each check that one can ask for."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad

X = np.array([[0.7, -0.4, 0.9], [0.3, 1.2, -0.8]])


def x_of(t):
    return t.tensor(X, requires_grad=True)


def two(a, b):
    return a * b.exp(), (a - b).sum()


def with_index(a):
    return a.sort(1)  # the second result is not differentiable


def with_constant(a):
    return a.detach() * 2, a.sin()


def zero_slope(a):
    return a.sin().detach() + a * 0


def function(t, backward, jvp=None):
    """x² as a custom Function with these derivatives, of `x` and what comes in."""

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return backward(ctx.saved_tensors[0], grad)

    if jvp is not None:
        Square.jvp = staticmethod(lambda ctx, tangent: jvp(ctx.saved_tensors[0], tangent))
    return Square.apply


def for_none(t, found):
    """x² whose backward gives `found(x)` where no gradient comes."""

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.set_materialize_grads(False)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return found(x) if grad is None else 2 * x * grad

    return Square.apply


def refuse(x):
    raise RuntimeError("there is no gradient")


def batched(t, slope):
    """x², whose derivative for a batch of vectors is `slope(x)`."""

    class Slope(t.autograd.Function):
        @staticmethod
        def forward(x, grad):
            return 2 * x * grad

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, grad):
            return slope(x) * grad, 0

    return function(t, Slope.apply)


def unsteady(t):
    """A backward that gives another gradient each time."""
    count = iter(range(1000))
    return function(t, lambda x, g: 2 * x * g * (1 + 1e-7 * next(count)))


def right(x, g):
    return 2 * x * g


CHECKS = {
    "right": lambda t: (lambda a: a.sin() * a, (x_of(t),), {}),
    "two inputs, two outputs": lambda t: (two, (x_of(t), x_of(t)), {}),
    "one tensor twice": lambda t: (lambda a, b: a * b, (x := x_of(t), x), {}),
    "a constant among the inputs": lambda t: (two, (x_of(t), t.tensor(X)), {}),
    "a number among the inputs": lambda t: (lambda a, n: a * n, (x_of(t), 3.0), {}),
    "an index among the outputs": lambda t: (with_index, (x_of(t),), {}),
    "a constant among the outputs": lambda t: (with_constant, (x_of(t),), {}),
    "a result": lambda t: (lambda a: a * a, (x_of(t) * 2,), {}),
    "detached": lambda t: (lambda a: a.detach() * 2, (x_of(t),), {}),
    "constant": lambda t: (lambda a: t.ones(3), (x_of(t),), {}),
    "an index": lambda t: (lambda a: a.argmax(), (x_of(t),), {}),
    "not a number": lambda t: (lambda a: (a * 0).log() - (a * 0).log(), (x_of(t),), {}),
    "empty": lambda t: (lambda a: a * a, (t.zeros(0, dtype=t.float64, requires_grad=True),), {}),
    "wrong": lambda t: (function(t, lambda x, g: 3 * x * g), (x_of(t),), {}),
    "wrong, not raised": lambda t: (zero_slope, (x_of(t),), {"raise_exception": False}),
    "wrong in one entry": lambda t: (lambda a: a.clone().index_fill(1, t.tensor([1]), 0) + a.detach(), (x_of(t),), {}),
    "wrong for the second input": lambda t: (lambda a, b: a * b.detach(), (x_of(t), x_of(t)), {}),
    "a wide tolerance": lambda t: (function(t, lambda x, g: 2.001 * x * g), (x_of(t),), {"rtol": 0.1}),
    "fast": lambda t: (two, (x_of(t), x_of(t)), {"fast_mode": True}),
    "fast and wrong": lambda t: (function(t, lambda x, g: 3 * x * g), (x_of(t),), {"fast_mode": True}),
    "forward": lambda t: (two, (x_of(t), x_of(t)), {"check_forward_ad": True}),
    "forward alone": lambda t: (
        function(t, right, right),
        (x_of(t),),
        {"check_forward_ad": True, "check_backward_ad": False, "check_undefined_grad": False},
    ),
    "forward of one tensor twice": lambda t: (
        lambda a, b: a * b,
        (x := x_of(t), x),
        {"check_forward_ad": True},
    ),
    "forward is wrong": lambda t: (
        function(t, right, lambda x, tangent: 3 * x * tangent),
        (x_of(t),),
        {"check_forward_ad": True},
    ),
    "batched": lambda t: (two, (x_of(t), x_of(t)), {"check_batched_grad": True}),
    "batched by a rule": lambda t: (batched(t, lambda x: 2 * x), (x_of(t),), {"check_batched_grad": True}),
    "no gradient, refused": lambda t: (for_none(t, refuse), (x_of(t),), {}),
    "no gradient, but one given back": lambda t: (for_none(t, lambda x: x.detach()), (x_of(t),), {}),
    "no gradient, zeros given back": lambda t: (for_none(t, lambda x: x.detach() * 0), (x_of(t),), {}),
    "no gradient, not checked": lambda t: (for_none(t, refuse), (x_of(t),), {"check_undefined_grad": False}),
    "gradients in another type": lambda t: (
        function(t, lambda x, g: (2 * x * g).float()), (x_of(t),), {"check_grad_dtypes": True, "rtol": 1e-2}
    ),
    "dtypes": lambda t: (two, (x_of(t), x_of(t)), {"check_grad_dtypes": True}),
    "not the same twice": lambda t: (unsteady(t), (x_of(t),), {}),
    "not the same twice, but nearly": lambda t: (unsteady(t), (x_of(t),), {"nondet_tol": 1e-3}),
    "nothing to check": lambda t: (lambda a: a * 2, (t.tensor(X),), {}),
    "not a tensor": lambda t: (lambda a: a * 2, (2.0,), {}),
    "expanded": lambda t: (lambda a: a * 2, (t.ones(1, dtype=t.float64).expand(3).requires_grad_(),), {}),
    "gradients of zeros that are not zeros": lambda t: (
        function(t, lambda x, g: 2 * x * g + 1e-9),
        (x_of(t),),
        {},
    ),
}  # fmt: skip
SECOND = {
    "right": lambda t: (lambda a: a.sin() * a, (x_of(t),), {}),
    "two inputs, two outputs": lambda t: (two, (x_of(t), x_of(t)), {}),
    "given vectors": lambda t: (lambda a: a.exp(), (x_of(t), t.ones(2, 3, dtype=t.float64, requires_grad=True)), {}),
    "fast": lambda t: (lambda a: a.sin() * a, (x_of(t),), {"fast_mode": True}),
    "wrong": lambda t: (function(t, lambda x, g: 2 * x.detach() * g), (x_of(t),), {}),
    "forward over reverse": lambda t: (lambda a: a.sin() * a, (x_of(t),), {"check_fwd_over_rev": True}),
}  # fmt: skip


def outcome(check, case, t):
    """What a check returns, or the first line of its complaint, without its numbers."""
    func, inputs, options = case(t)
    try:
        if check == "gradgradcheck" and len(inputs) == 2 and func is not two:
            return t.autograd.gradgradcheck(func, inputs[0], inputs[1], **options)
        return getattr(t.autograd, check)(func, inputs, **options)
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]


@pytest.mark.parametrize("name", CHECKS)
def test_a_derivative_passes_or_is_refused_as_in_torch(torch, name):
    ours, theirs = (outcome("gradcheck", CHECKS[name], t) for t in (minigrad, torch))
    assert ours == theirs


@pytest.mark.parametrize("name", SECOND)
def test_a_second_derivative_passes_or_is_refused_as_in_torch(torch, name):
    ours, theirs = (outcome("gradgradcheck", SECOND[name], t) for t in (minigrad, torch))
    assert ours == theirs


def test_the_inputs_are_left_as_they_were():
    x = x_of(minigrad)
    minigrad.autograd.gradcheck(lambda a: a.sin() * a, x)
    assert np.array_equal(x.detach().numpy(), X)


def test_a_wrong_rule_for_batches_is_found():
    """PyTorch's check does not come to a Function's `vmap`; here gradients are batched as everything else is."""
    wrong = batched(minigrad, lambda x: 3 * x)
    assert minigrad.autograd.gradcheck(wrong, x_of(minigrad))
    with pytest.raises(RuntimeError, match="the batched and the single gradients differ"):
        minigrad.autograd.gradcheck(wrong, x_of(minigrad), check_batched_grad=True)


def test_the_complaint_shows_both_jacobians():
    wrong = function(minigrad, lambda x, g: 3 * x * g)
    with pytest.raises(RuntimeError) as caught:
        minigrad.autograd.gradcheck(
            wrong, minigrad.tensor([1.0, 2.0], dtype=minigrad.float64, requires_grad=True)
        )
    first, numerical, _, analytical, _ = str(caught.value).split("\n", 4)
    assert first == "Jacobian mismatch for output 0 with respect to input 0,"
    assert numerical.startswith("numerical:tensor([[2.0000, 0.0000],")
    assert analytical.startswith("analytical:tensor([[3., 0.],")
