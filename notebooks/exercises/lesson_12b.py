"""Exercises of lesson 12b, When you need a Function: softplus, a black box, a sign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad as torch

from .lesson_12 import _a, _kind, _on, _probe  # noqa: F401 (the tables of answers use them)
from .model import Complaint, Exercise, Question
from .sheet import exercise, question


class Sinh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(np.sinh(x.numpy()))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return upstream * torch.from_numpy(np.cosh(x.numpy()))


class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x)))

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return upstream * torch.sigmoid(x)


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return upstream * (abs(x) <= 1).to(upstream.dtype)


def _boxed(kind: Any) -> Iterator[tuple]:
    """The probe of exercise 12b.2: like the others, but the forward must not use the framework's own sinh."""
    function, method = torch.sinh, torch.Tensor.sinh

    def refused(*whatever: Any) -> Any:
        raise Complaint(
            "`torch.sinh` is an operation that the engine knows already, so there is no black box. Here the forward is NumPy's: "
            "`np.sinh(x.numpy())`."
        )

    def forward(*arguments: Any) -> Any:
        torch.sinh = torch.Tensor.sinh = refused
        try:
            return kind.forward(*arguments)
        finally:
            torch.sinh, torch.Tensor.sinh = function, method

    watched = type(kind.__name__, (kind,), {"forward": staticmethod(forward)})
    yield from _probe([[-1.0, 0.5, 2.0], [0.0, 3.0]])(watched)


def _careful(x):
    return torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x)))


def _box(x) -> Any:
    return torch.from_numpy(np.cosh(x.numpy()))


QUESTIONS: list[Question] = [
    question(r"""
        12b.a the slope of log(1 + exp(x)) at 100 in float32
        truth: "d" if math.isnan(slope(lambda x: torch.log(1 + torch.exp(x)), 100.0)) else "c"
        found: Yes: $e^{100}$ does not fit, and zero times infinity is `nan`.
        missed: It is **d**: $1/\infty = 0$ from the logarithm, times $\infty$ from the exponential.

        "a" :: 1 is the true slope. But the chain goes through $e^{100}$, which does not fit into `float32`.
        "b" :: The logarithm's rule gives $1/\infty = 0$. Then the exponential's rule multiplies it by infinity: `nan`.
        "c" :: The *value* is `inf`. For the slope a zero, $1/\infty$, is multiplied by that infinity: `nan`.
        """)
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        12b.1 a softplus that does not overflow
        solution: Softplus
        probe: _probe([[0.0, 1.0, -3.0], [89.0, 1000.0, 0.5], [-89.0, -1000.0], [-0.5, -2.0]])
        why: The forward takes the exponential of $-|x|$, which is never above 1. The backward does not go through it at all: the slope is the sigmoid, and `torch.sigmoid` does not overflow.
        shows: The cliff is gone, in the value and in the slope: your rule is better than the chain of correct ones.
        look: Forward: the formula with $\max(x, 0)$. Backward: what arrives, times the sigmoid of `x`.
        hint: The forward is exactly the formula above: `torch.clamp`, `torch.log1p`, `torch.exp`, `abs`.
        hint: The slope of softplus is the sigmoid. Save `x` for it, and nothing else.
        hint: Backward: `return upstream * torch.sigmoid(x)`

        min=0 => max=0 :: `max=0` keeps what is *below* 0. $\max(x, 0)$ keeps what is above: `min=0`.
        torch.clamp(x, min=0) => abs(x) :: $|x|$ is $\max(x, 0)$ for positive `x` only.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.log1p(torch.exp(x)) :: The exponential of a large `x` is still infinite. The formula uses that of $-|x|$.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.clamp(x, min=0) + torch.exp(-abs(x)) :: The logarithm is missing: $\log(1 + t)$, with $t = e^{-|x|}$, is `torch.log1p(t)`.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.log(1 + torch.exp(x)) :: The backward is careful, the forward is not: $e^{89}$ does not fit into `float32`, nor $e^{1000}$ into double. Use the formula with $-|x|$.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.clamp(x, min=0) + torch.log(1 + torch.exp(-abs(x))) :: Nearly: `1 + t` loses a `t` as small as $e^{-89}$, so the logarithm is 0. `torch.log1p(t)` keeps it.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.relu(x) - torch.log1p(torch.exp(-abs(x))) :: The second part has the wrong sign: the two are added.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.log1p(torch.exp(-abs(x))) :: $\max(x, 0)$ is missing: that is right for negative `x` only.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.clamp(x, min=0) + torch.log1p(torch.exp(abs(x))) :: $e^{|x|}$ is as large as before. The minus in front of $|x|$ is what keeps it below 1.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.clamp(x, min=0) + torch.log1p(torch.exp(-x)) :: For positive `x` that is right. For negative ones $e^{-x}$ is large: use $|x|$.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.clamp(x, min=0) :: That is the ReLU. The second part of the formula rounds the corner.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.log(1 + torch.exp(torch.clamp(x, max=88))) :: Limited to 88 it no longer overflows, but it is wrong: softplus of 1000 is 1000.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.sigmoid(x) :: The forward returns the sigmoid. That is the slope; the value is softplus.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => torch.max(x, 0) + torch.log1p(torch.exp(-abs(x))) :: In `torch.max(x, 0)` the 0 is a *dimension*, and it returns two tensors. The larger of `x` and 0 is `torch.clamp(x, min=0)`.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => max(x, 0) + torch.log1p(torch.exp(-abs(x))) :: Python's `max` needs one truth value, and `x` has several entries. Entry by entry: `torch.clamp(x, min=0)`.
        torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x))) => x :: The forward returns `x` as it is. Softplus is $\max(x, 0) + \log(1 + e^{-|x|})$.
        instead of upstream * torch.sigmoid(x):
        torch.sigmoid(x) => torch.tanh(x) :: The tanh goes from $-1$ to 1. Softplus never falls: its slope is the *sigmoid*, from 0 to 1.
        upstream * torch.exp(x) / (1 + torch.exp(x)) :: The value is right, the slope is not: $e^x / (1 + e^x)$ is $\infty / \infty$ for large `x`. `torch.sigmoid` avoids that.
        upstream * => :: That is the local derivative alone. Multiply it by what arrives.
        upstream * torch.sigmoid(x) * (1 - torch.sigmoid(x)) :: That is the slope *of the sigmoid*. The slope of softplus is the sigmoid itself.
        upstream * (1 - torch.sigmoid(x))            :: It is the other way round: that tends to 0 for large `x`, where softplus rises like `x`.
        upstream * _careful(x)                       :: That multiplies by the value. The slope is the sigmoid.
        upstream * (1 - torch.exp(-x))               :: $1 - e^{-x}$ is not the sigmoid: it is negative for negative `x`, and has no lower bound. The sigmoid is $1/(1 + e^{-x})$.
        upstream / torch.sigmoid(x)                  :: That divides by the slope. Multiply.
        upstream                                     :: That passes on what arrives as it is. The slope is the sigmoid, which is 1 only far to the right.
        upstream * _on(x > 0, upstream)              :: That is the rule of the ReLU. Softplus has a rounded corner: its slope is the sigmoid.
        upstream * torch.sigmoid(torch.clamp(x, min=0)) :: The slope is the sigmoid of `x` itself, on the negative side too.
        upstream * torch.sigmoid(upstream)           :: That is the sigmoid of what *arrives*. Take the slope at `x`.
        """),
    exercise(r"""
        12b.2 a black box
        solution: Sinh
        probe: _boxed
        why: Inside `forward` nothing is recorded, so `x.numpy()` is allowed. The rule is upstream times $\cosh x$, and NumPy or the framework may compute it. If NumPy does, write `@once_differentiable` above the backward.
        shows: The engine has never seen inside the box, and the gradient flows through it.
        look: Forward: `np.sinh` of the numbers, as a tensor. Backward: what arrives, times $\cosh x$.
        hint: Forward, three things: save `x`, call `np.sinh(x.numpy())`, and turn the result into a tensor.
        hint: Backward: fetch `x` as in `Square`. The slope of sinh is cosh.
        hint: `return upstream * torch.from_numpy(np.cosh(x.detach().numpy()))`, or `upstream * torch.cosh(x)`

        np.cosh => np.tanh :: That is tanh. The slope of sinh is cosh.
        np.sinh(x.numpy()) => np.sinh(x.numpy()).astype("float32") :: The result is `float32` whatever goes in, and `gradcheck` works in double precision. Let NumPy keep the dtype: `torch.from_numpy(np.sinh(...))`.
        np.sinh => np.sin           :: The forward computes sin. You need `np.sinh`.
        np.sinh => np.cosh          :: The forward computes cosh. That is the slope; the value is `np.sinh`.
        ctx.save_for_backward(x) => :: The bag is empty. The forward must pack what the backward needs: `ctx.save_for_backward(x)`.
        ctx.save_for_backward(x) => ctx.save_for_backward(x.numpy()) :: A NumPy array does not go into the bag. Save the tensor `x`, and call `.numpy()` in the backward.
        torch.from_numpy(np.sinh(x.numpy())) => torch.sinh(x) :: `torch.sinh` is an operation that the engine knows already
        ctx.save_for_backward(x) => ;; (x,) = ctx.saved_tensors => x = (lambda x: x)(*ctx.saved_tensors) :: Nothing was saved, so there is nothing to unpack. The forward must pack what the backward needs: `ctx.save_for_backward(x)`.
        instead of upstream * torch.from_numpy(np.cosh(x.numpy())):
        upstream * torch.cosh(upstream)                :: The slope is taken at `x`, the input of the forward. `upstream` only multiplies it.
        upstream * => upstream + :: That adds. What arrives is *multiplied* by the slope.
        np.cosh => np.sinh :: That multiplies by sinh, the value. Its slope is cosh.
        upstream * => :: That is the local derivative alone. Multiply it by what arrives.
        upstream                                       :: That passes on what arrives as it is. The slope of sinh, cosh, is missing.
        torch.from_numpy(np.cosh(upstream.numpy()))    :: That is the cosh of what *arrives*. The slope is taken at `x`, and then multiplied.
        upstream * x * _box(x)                         :: There is one factor `x` too many. The slope is cosh alone.
        upstream / _box(x)                             :: That divides by the slope. Multiply.
        np.cosh => np.cos :: That is cos. The slope of sinh is cosh, the hyperbolic one: `np.cosh`.
        (upstream * _box(x)).numpy()                   :: `backward` returns a NumPy array. The engine needs a tensor: `torch.from_numpy(...)`.
        abs(upstream) * torch.cosh(x)                  :: `abs` does not belong there: what arrives may be negative, and keeps its sign.
        upstream * x                                   :: That is the rule of $x^2/2$. The slope of sinh is cosh, taken at `x`.
        upstream * torch.exp(x)                        :: $e^x$ is only half of it: the slope of sinh is cosh, $(e^x + e^{-x})/2$.
        upstream * torch.sqrt(1 + x**2)                :: $\sqrt{1 + \sinh^2}$ is cosh, but the root needs the *result* of the forward, sinh, and not `x`.
        """),
    exercise(r"""
        12b.3 a lie with a limit
        solution: Sign
        probe: _probe([[0.3, -1.7, -0.6, 1.4], [1.0, -1.0, 0.0, -3.0]])
        why: The forward returns the sign. The backward is a gate: where $|x| \le 1$ it passes on what arrives, elsewhere it passes on 0. It is not the slope of the sign, and yet networks train with it.
        shows: The true slope is 0 nearly everywhere. Yours is a chosen gradient: useful near the jump, zero far from it.
        look: What arrives, times 1 where $|x| \le 1$ and 0 elsewhere.
        hint: Forward: `torch.sign`, and save `x`.
        hint: Backward: the same trick as in `ScaledReLU`, with another condition on `x`.
        hint: `upstream * (abs(x) <= 1).to(upstream.dtype)`

        torch.sign(x) => (x > 0).to(x.dtype) :: The forward returns 1 and 0. It should return the sign, $\pm 1$.
        torch.sign(x) => abs(x) :: The forward returns the absolute value of `x`. It should return the sign, $\pm 1$.
        torch.sign(x) => torch.tanh(x)  :: The forward returns something in between. It should return the sign, $\pm 1$.
        torch.sign(x) => torch.round(x) :: The forward rounds. It should return the sign, $\pm 1$.
        upstream * (abs(x) <= 1).to(upstream.dtype) => upstream * _on(abs(x) <= 1, upstream) ;; torch.sign(x) => torch.clamp(x, -1, 1) :: The forward returns `x` itself near 0. It should return the sign, $\pm 1$.
        upstream * (abs(x) <= 1).to(upstream.dtype) => upstream * _on(abs(x) <= 1, upstream) ;; torch.sign(x) => torch.where(x > 0, 1.0, -1.0) :: That is `float32` whatever goes in, and $-1$ at 0. `torch.sign(x)` keeps the dtype, and is 0 at 0.
        instead of upstream * (abs(x) <= 1).to(upstream.dtype):
        upstream * x * (abs(x) <= 1)                 :: That multiplies what arrives by `x`. Inside the gate it should pass unchanged.
        upstream * torch.sign(x)                     :: That flips the sign of what arrives where `x` is negative. Inside the gate it should pass unchanged.
        upstream                                     :: That passes `upstream` on everywhere. Outside $|x| \le 1$ the gradient should be 0.
        torch.zeros_like(upstream)                   :: That is the true slope of the sign: 0. Here you need a false one, near the jump.
        upstream * => :: That is the gate alone. Multiply what arrives by it.
        abs(x) <= 1 => abs(x) > 1 :: It is the other way round: `upstream` passes where $|x| \le 1$; elsewhere the gradient is 0.
        abs(x) <= 1 => abs(x) < 1 :: Nearly. At exactly 1 and $-1$ the gate is open: `<=`.
        abs(x) => x :: `x <= 1` lets all negative numbers through. The condition is on $|x|$.
        abs(x) => abs(upstream) :: The gate looks at what *arrives*. It should look at `x`.
        upstream.clamp(-1, 1)                        :: That clips what arrives. The gate depends on `x`, and passes on what arrives unchanged.
        upstream * torch.clamp(x, -1, 1)             :: That multiplies by `x`. The gate is 1 or 0.
        upstream * torch.sign(x) * _on(abs(x) <= 1, upstream) :: There is one sign too many in the backward: what passes should pass unchanged.
        abs(x) <= 1 => abs(x) <= 0.5 :: The gate is half as wide as it should be: it is open wherever $|x| \le 1$.
        abs(x) <= 1 => abs(x) <= 2 :: The gate is twice as wide as it should be: it is open wherever $|x| \le 1$.
        upstream.clamp(-1, 1) * _on(abs(x) <= 1, upstream) :: The gate is right, but what arrives is clipped as well. Inside the gate it should pass unchanged.
        upstream * (-1 <= x <= 1)                    :: `a <= x <= b` needs *one* truth value (so does `if`), and `x` has several entries. Entry by entry: multiply by `(abs(x) <= 1)`, or use `torch.where`.
        abs(upstream) * _on(abs(x) <= 1, upstream)   :: `abs` does not belong there: what arrives may be negative, and keeps its sign.
        upstream * torch.relu(1 - abs(x))            :: That gate closes gradually: its shape is a tent. It should be open or shut: 1 where $|x| \le 1$, 0 elsewhere.
        upstream * (1 - torch.tanh(x) ** 2)          :: That is the slope of the tanh, a soft gate. It should be open or shut: 1 where $|x| \le 1$, 0 elsewhere.
        torch.where(abs(x) <= 1, upstream, x)        :: Outside the gate that passes on `x` itself. It should pass on 0.
        upstream * _on(x > 0, upstream)              :: That is the gate of a ReLU. Here the gate is open wherever $|x| \le 1$, on both sides of 0.
        upstream / abs(x)                            :: $x/|x|$ is the sign, but that is the forward. In the backward the gradient passes unchanged where $|x| \le 1$, and is 0 elsewhere.
        """),
]
