"""Exercises of lesson 12, Your own Function: a scaled ReLU, neighbours, four reports, a black box, softplus, a sign."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch

from .model import Complaint, Exercise, Question


class ScaledReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        return alpha * torch.relu(x)

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        positive = (x > 0).to(upstream.dtype)  # ones and zeros
        return positive * upstream * ctx.alpha, None


class Neighbours(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.roll(x, -1)

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return upstream * torch.roll(x, -1) + torch.roll(upstream * x, 1)


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


def _probe(inputs: list[list[float]], *settings: tuple) -> Callable[[Any], Iterator[tuple]]:
    """A probe that applies a Function to each input (with each of `settings`), and runs a pass with an uneven upstream."""

    def probe(kind: Any) -> Iterator[tuple]:
        for numbers in inputs:
            for more in settings or ((),):
                x = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
                called = ", ".join([f"{[f'{n:g}' for n in numbers]}".replace("'", ""), *map(str, more)])
                y = kind.apply(x, *more)
                if y is None or y is Ellipsis:
                    yield f"apply({called}) gives", y
                    return
                if not isinstance(y, torch.Tensor):
                    raise Complaint(
                        f"`forward` gives back {_a(y)}. Return a tensor: the engine hangs the node on it. "
                        "`torch.from_numpy` makes one."
                    )
                yield f"apply({called}) gives", y.detach()
                yield f"apply({called}) gives numbers of the kind", str(y.dtype)
                if y.grad_fn is None or type(y.grad_fn).__name__ != f"{kind.__name__}Backward":
                    raise Complaint(
                        "The result has no node of your Function. Leave `apply` as it is: write `forward` and `backward` only."
                    )
                v = torch.tensor([(-10.0) ** i for i in range(len(numbers))], dtype=torch.float64)
                before = v.clone()
                y.backward(v)
                if not torch.equal(v, before):
                    raise Complaint(
                        "Your `backward` writes into `upstream`. That array is not yours: others may still need it. Compute a "
                        "new one."
                    )
                yield f"{v.tolist()} arrives after apply({called}), and on to x goes", _felt(x.grad)

    return probe


def _felt(grad: Any) -> Any:
    """A gradient in which what is too small to move anything is 0: two right rules may differ there."""
    return torch.where(abs(grad) < 1e-12, 0.0, grad) if isinstance(grad, torch.Tensor) else grad


def _boxed(kind: Any) -> Iterator[tuple]:
    """The probe of exercise 12.4: as the others, and the forward must do without the framework's own sinh."""
    own = torch.sinh

    def refused(*whatever: Any) -> Any:
        raise Complaint(
            "`torch.sinh` is an operation that the machine knows already, so nothing is boxed in. Here the forward is NumPy's: "
            "`np.sinh(x.numpy())`."
        )

    torch.sinh = refused
    try:
        yield from _probe([[-1.0, 0.5, 2.0], [0.0, 3.0]])(kind)
    finally:
        torch.sinh = own


def _a(value: Any) -> str:
    return "a NumPy array" if isinstance(value, np.ndarray) else f"a `{type(value).__name__}`"


def _kind(name: str, forward: Callable, backward: Callable, keep: Callable | None = None) -> type:
    """A Function called `name`. `keep(ctx, x)` says what is kept; without it x is, and given to `backward`."""

    def run(ctx, x, *more):
        if keep is not None:
            keep(ctx, x, *more)
        else:
            ctx.save_for_backward(x)
            ctx.alpha = more[0] if more else None
        return forward(x, *more)

    def back(ctx, upstream):
        return backward(ctx, upstream) if keep is not None else backward(ctx, upstream, *ctx.saved_tensors)

    return type(
        name,
        (torch.autograd.Function,),
        {"forward": staticmethod(run), "backward": staticmethod(back)},
    )


def relu_with(backward: Callable, keep: Callable | None = None) -> type:
    return _kind("ScaledReLU", lambda x, alpha: alpha * torch.relu(x), backward, keep)


def ring_with(backward: Callable) -> type:
    return _kind("Neighbours", lambda x: x * torch.roll(x, -1), lambda ctx, g, x: backward(g, x))


def sinh_with(
    backward: Callable, forward: Callable = lambda x: torch.from_numpy(np.sinh(x.numpy())), **more: Any
) -> type:
    return _kind("Sinh", forward, backward, **more)


def _careful(x):
    return torch.clamp(x, min=0) + torch.log1p(torch.exp(-abs(x)))


def softplus_with(backward: Callable, forward: Callable = _careful) -> type:
    return _kind("Softplus", forward, lambda ctx, g, x: backward(g, x))


def sign_with(backward: Callable, forward: Callable = torch.sign) -> type:
    return _kind("Sign", forward, lambda ctx, g, x: backward(g, x))


def _on(condition, like):
    return condition.to(like.dtype)


def _box(x) -> Any:
    return torch.from_numpy(np.cosh(x.numpy()))


def _keeps_result(ctx, x) -> None:
    ctx.result = torch.from_numpy(np.sinh(x.numpy()))


def _keeps_the_array(ctx, x) -> None:
    ctx.save_for_backward(x.numpy())


def _saves_both(ctx, x, alpha) -> None:
    ctx.save_for_backward(x, alpha)


def _saves_x_only(ctx, x, alpha) -> None:
    ctx.save_for_backward(x)


def _liar() -> float:
    x = torch.tensor(3.0, requires_grad=True)
    kind = _kind("Liar", lambda x: x * x, lambda ctx, upstream, x: upstream * 100)
    kind.apply(x).backward()
    return x.grad.item()


def _kink() -> float:
    eps = 1e-6
    ends = [ScaledReLU.apply(torch.tensor(at, dtype=torch.float64), 2.0).item() for at in (eps, -eps)]
    return (ends[0] - ends[1]) / (2 * eps)


def _naive_slope() -> str:
    x = torch.tensor(100.0, requires_grad=True)
    torch.log(1 + torch.exp(x)).backward()
    slope = x.grad.item()
    return "d" if math.isnan(slope) else "c" if math.isinf(slope) else "a" if slope == 1 else "b"


QUESTIONS: list[Question] = [
    Question(
        "12.a",
        asks="x.grad after a backward that always says 100",
        truth=_liar,
        found="Yes. What arrives is 1, the rule says *times 100*, and the engine believes it.",
        answers=r"""
            6.0   :: 6 is the slope. But nobody computes it: the engine asks your `backward`, and that says 100.
            600.0 :: Nobody multiplies by the true slope as well. The rule is *what arrives times 100*, and 1 arrives.
            300.0 :: The rule does not use `x`: it is *what arrives times 100*, and 1 arrives.
            900.0 :: The value 9 plays no part in the way back. 1 arrives, and the rule makes 100 of it.
            None  :: `x` asks, and a way leads to it: something arrives. What the rule says: 100.
            9.0   :: 9 is the value of the result. On the way back the rule counts: 1 times 100.
        """,
        missed="1 arrives at the node, its rule says *times 100*, and nobody checks it: 100.",
    ),
    Question(
        "12.b",
        asks="what a nudge to both sides finds at the kink of 2 * relu",
        truth=_kink,
        found="Yes: from 0 to $2\\varepsilon$, over a way of $2\\varepsilon$. Half-way between the slopes 0 and 2.",
        answers=r"""
            0.0  :: 0 is the slope on the left, and what `backward` says. The nudge goes to both sides, and gets the mean.
            2.0  :: 2 is the slope on the right. The nudge goes to both sides: from 0 to $2\varepsilon$, over $2\varepsilon$.
            0.5  :: That would be for alpha 1. Here the slopes are 0 and 2.
            None :: The nudge always finds a number: two values, a difference, a division.
        """,
        missed="On the right the result is $2\\varepsilon$, on the left 0. Divided by $2\\varepsilon$: 1, between the slopes 0 and 2.",
    ),
    Question(
        "12.c",
        asks="the slope of log(1 + exp(x)) at 100 in float32",
        truth=_naive_slope,
        found="Yes: $e^{100}$ does not fit, and zero times infinity is `nan`.",
        answers=r"""
            "a" :: 1 is the true slope. But the chain goes through $e^{100}$, which does not fit into `float32`.
            "b" :: The logarithm's rule gives $1/\infty = 0$. Then the exponential's rule multiplies it by infinity: `nan`.
            "c" :: The *value* is `inf`. For the slope a zero, $1/\infty$, is multiplied by that infinity: `nan`.
        """,
        missed="It is **d**: $1/\\infty = 0$ from the logarithm, times $\\infty$ from the exponential.",
    ),
]


EXERCISES: list[Exercise] = [
    Exercise(
        "12.1",
        title="a scaled ReLU",
        names=("ScaledReLU",),
        solution=ScaledReLU,
        probe=_probe([[1.5, -0.3, 0.0, 0.5], [-2.0, 3.0]], (2.0,), (0.5,), (-1.5,)),
        why=(
            "Upstream, times the slope: `ctx.alpha` where `x` is positive, 0 elsewhere. `alpha` is no tensor, so there is nothing to "
            "say about it: `None`."
        ),
        shows="Your rule passes what arrives on, scaled, where `x` was positive. One value for each argument of `forward`.",
        look={"": "Three factors for `x`: what arrives, alpha, and 1 or 0. And a second value, for `alpha`."},
        hints=(
            "Two values are returned: one for `x`, one for `alpha`. What should be said about a plain number?",
            "For `x`: what arrives, times alpha, times 1 where `x` is positive and 0 elsewhere.",
            "`positive * upstream * ctx.alpha, None`",
        ),
        answers=r"""
            relu_with(ctx, g, x):
            g * _on(x > 0, g), None                     :: That is the rule of the plain ReLU. Where `x` is positive the slope is alpha.
            ctx.alpha * _on(x > 0, g), None             :: That is the local derivative alone. What arrives, `upstream`, has to be multiplied by it.
            g * ctx.alpha, None                         :: It is passed on everywhere. Where `x` is not positive the result does not move: 0.
            g * ctx.alpha * x * _on(x > 0, g), None     :: That has the *value* of `x` in it. The slope is alpha, however large `x` is.
            g * ctx.alpha * _on(x < 0, g), None         :: The other way round: it is passed on where `x` is *positive*.
            g * ctx.alpha * _on(x >= 0, g), None        :: Nearly. At exactly 0 the slope should be 0: `x > 0`, not `x >= 0`.
            g * ctx.alpha * _on(x != 0, g), None        :: `x != 0` is true for negative `x` as well. Only the positive ones pass on.
            g * torch.relu(x), None                     :: That is upstream times the *value* of the ReLU. You need the slope: alpha or 0.
            g * ctx.alpha**2 * _on(x > 0, g), None      :: Alpha has come in twice.
            ctx.alpha * _on(x > 0, g) * g.sum(), None   :: Each entry meets its own part of `upstream`, not the sum of all.
            ctx.alpha * _on(x > 0, g) * g.mean(), None  :: Nothing is averaged: each entry meets its own part of `upstream`.
            (g * ctx.alpha * _on(x > 0, g)).sum(), None :: One number cannot be the gradient of four: each entry of `x` has its own. Leave out the sum.
            g * ctx.alpha * _on(x > 0, g)               :: `forward` has two arguments, so two values go back: the second, for `alpha`, is `None`.
            g * ctx.alpha * _on(x > 0, g), g.sum()      :: The second value is for `alpha`, a plain number: nobody waits for its gradient. Return `None` there; the gradient of `x` comes first.
            return None, None                           :: Two times `None` says that nothing goes back. `x` waits for its gradient.
            relu_with(lambda ctx, g: (g, None), _saves_both) :: Leave the forward as it was: a plain number does not go into `save_for_backward`, but into `ctx.alpha`.
            relu_with(lambda ctx, g: (g * ctx.alpha, None), _saves_x_only) :: `forward` has to note it first: `ctx.alpha = alpha`.
            g * ctx.alpha * (x > 0).to(g.dtype) * (ctx.alpha > 0), None :: A negative `alpha` is a factor like any other: nothing in the rule asks for its sign.
            g * abs(ctx.alpha) * (x > 0).to(g.dtype), None :: `abs` is one too many: with a negative `alpha` the curve falls, and the slope is negative.
            abs(g) * ctx.alpha * (x > 0).to(g.dtype), None :: `abs` is one too many: what arrives may be negative, and is handed on with its sign.
            g * ctx.alpha * torch.sigmoid(x), None      :: The sigmoid is a soft step. The ReLU has a hard one: its slope is 1 where `x` is positive, and 0 elsewhere.
            g + ctx.alpha * (x > 0).to(g.dtype), None   :: Added. What arrives is *multiplied* by the slope.
            g * (ctx.alpha * x > 0).to(g.dtype), None   :: `alpha` only decides the sign there. It is a factor of the slope: times `ctx.alpha`.
            torch.where(x > 0, g * ctx.alpha, torch.zeros_like(g)), None :: right
            ctx.alpha * g * _on(torch.relu(x) != 0, g), None :: right
            g * ctx.alpha * (x > 0), None               :: right
        """,
    ),
    Exercise(
        "12.2",
        title="neighbours",
        names=("Neighbours",),
        solution=Neighbours,
        probe=_probe([[2.0, 3.0, 5.0], [1.0, -2.0, 0.5, 4.0]]),
        why=(
            "$x_i$ is also the right factor of its left neighbour's product, $y_{i-1} = x_{i-1} x_i$. So its second part is what arrives at "
            "$y_{i-1}$ times $x_{i-1}$: the product `upstream * x`, moved one place to the right."
        ),
        shows="The table has told where to look: one roll went to the wrong side.",
        look={
            "": "The second part of $x_i$ comes from $y_{i-1} = x_{i-1} x_i$: what arrives there, times the other factor."
        },
        hints=(
            "In which two products does $x_0$ have part? $y_0 = x_0 x_1$, and $y_2 = x_2 x_0$. The first part is there already.",
            "The second part of $x_0$ is what arrives at $y_2$, times $x_2$. From which side does place 0 get both?",
            "`torch.roll(upstream * x, 1)`",
        ),
        answers=r"""
            ring_with(g, x):
            torch.roll(x, -1) + torch.roll(x, 1)         :: Both parts are local derivatives alone: nothing of what arrives, `upstream`, is in them.
            g * torch.roll(x, -1) + torch.roll(g * x, -1) :: That is the rule of the table above: it takes the part from the *right* neighbour. $x_i$ is a factor of its *left* neighbour's product.
            g * torch.roll(x, -1)                        :: That is one part only. Each number has part in two products.
            g * torch.roll(x, -1) + g * torch.roll(x, 1) :: The factor comes from the left neighbour, and that is right. But what arrives at *its* product counts: `upstream` has to move as well.
            g * torch.roll(x, -1) + torch.roll(g, 1) * x :: `upstream` has moved, and `x` has not. The other factor in the left neighbour's product is the left neighbour.
            g * torch.roll(x, -1) + g * x                :: Nothing has moved to the other side: that takes what arrives at its own product twice, and `x` itself as the other factor.
            g * torch.roll(x, -1) + torch.roll(x, 1)     :: The second part is the local derivative alone. What arrives there has to be multiplied by it.
            g * torch.roll(x, -1) + torch.roll(g, 1)     :: The second part is what arrives, without the other factor.
            2 * g * torch.roll(x, -1)                    :: That counts the first part twice. The second comes from another product.
            (g * torch.roll(x, -1) + torch.roll(g * x, 1)) / 2 :: The two parts are averaged. They should be added.
            g * torch.roll(x, -1) - torch.roll(g * x, 1) :: The second part is right, its sign is not: parts are added.
            torch.roll(g * x, 1)                         :: The second part is right. The first one has gone.
            g * torch.roll(x, -1) + torch.roll(g * x, 2) :: Moved two places. With three numbers that is the same as one place to the left.
            g * torch.roll(x, -1) + torch.roll(g, -1) * torch.roll(x, 1) :: What arrives is rolled the wrong way in the second part: the left neighbour's product comes from `torch.roll(g * x, 1)`.
            g * torch.roll(x, 1) + torch.roll(g * x, 1)  :: The first part meets the wrong neighbour: in its own product `x` was multiplied by the one to the *right*, `torch.roll(x, -1)`.
            g * torch.roll(x, -1) + x                    :: Each entry is in two products, and each brings what *arrived* at it times the other factor. Your second part has nothing that arrived in it.
            g * torch.roll(x, -1) + torch.roll(g, 1) * torch.roll(x, 1) :: right
            torch.roll(x, 1) * torch.roll(g, 1) + torch.roll(x, -1) * g :: right
        """,
    ),
    Exercise(
        "12.3",
        title="read the report",
        names=("first", "second", "third", "fourth"),
        solution='first, second, third, fourth = "b", "c", "e", "d"',
        why=(
            "Without upstream every output claims every input: whole rows are filled. Between two slopes: a kink. The right numbers in the wrong "
            "places: exchanged. Both a little off: rounding."
        ),
        shows="A report is a picture of the mistake. In two of the four there is none.",
        look={
            "first": "What has happened to the two zeros?",
            "second": "One entry is right. What lies half-way, and between what?",
            "third": "The diagonal is empty. Where are its numbers?",
            "fourth": "How far are the numbers off, and in which direction?",
        },
        hints=(
            "A factor changes the size of entries and leaves zeros alone. What fills a zero?",
            "A kink is seen at one entry, and the nudge is half-way between two slopes there.",
            "Rounding is wrong by a few in a hundred, and not always in the same direction.",
        ),
        answers=r"""
            first = 'a'           :: One factor would leave the zeros at zero. Here entries beside the diagonal are filled: each output claims both inputs.
            first = 'c'           :: A kink spoils single entries, and the nudge is between the two slopes there. Here whole rows are filled.
            first = 'd'           :: Rounding makes entries a little wrong. Here zeros have become 6 and 10.
            first = 'e'           :: Exchanged entries would leave the diagonal empty. Here it is right, and the rest is filled as well.
            second = 'a'          :: The entry 1 is right, so no factor is missing in the whole rule. What is special about the other entry?
            second = 'b'          :: A forgotten `upstream` fills the entries beside the diagonal. They are 0, as they should be.
            second = 'd'          :: Rounding is wrong by little. 0.5 for 0 is half a slope.
            second = 'e'          :: Exchanged, the 1 would have moved. It is in its place.
            third = 'a'           :: One factor cannot fill a zero. Look where the 4 and the 2 have gone.
            third = 'b'           :: If `upstream` were forgotten, the diagonal would be right and the rest filled. Here the diagonal is empty.
            third = 'c'           :: A kink leaves the nudge between two slopes, at one entry. Here both numbers are there, in other places.
            third = 'd'           :: Rounding moves no number into another place.
            fourth = 'a'          :: Divide: 1.967 by 2 is 0.98, and 5.722 by 6 is 0.95. That is no one factor.
            fourth = 'b'          :: If `upstream` were forgotten, the entries beside the diagonal would be filled. They are 0.
            fourth = 'c'          :: At a kink the nudge is half-way between two slopes. Here it is off by a few in a hundred, in both entries.
            fourth = 'e'          :: Both entries are in their places, only a little off.
            "B", "C", "E", "D"    :: right
            ["b"], "c)", "e", "d" :: right
        """,
    ),
    Exercise(
        "12.4",
        title="a black box",
        names=("Sinh",),
        solution=Sinh,
        probe=_boxed,
        why=(
            "Inside `forward` nothing is recorded, so `x.numpy()` is allowed. The rule is upstream times $\\cosh x$, by NumPy or not. If by NumPy, "
            "the line `once_differentiable` above it is honest."
        ),
        shows="The machine has never seen inside the box, and the gradient flows through it.",
        look={
            "": "Forward: `np.sinh` of the numbers, as a tensor. Backward: what arrives, times $\\cosh x$."
        },
        hints=(
            "Forward, three things: save `x`, call `np.sinh(x.numpy())`, and make a tensor of what comes back.",
            "Backward: fetch `x` as in `Square`. The slope of sinh is cosh.",
            "`return upstream * torch.from_numpy(np.cosh(x.detach().numpy()))`, or `upstream * torch.cosh(x)`",
        ),
        answers=r"""
            sinh_with(ctx, g, x):
            sinh_with(lambda ctx, g, x: g * torch.cosh(x), forward=lambda x: torch.from_numpy(np.sinh(x.numpy()).astype("float32"))) :: What comes out is `float32`, whatever went in, and `gradcheck` works in double. Let NumPy keep the kind of number: `torch.from_numpy(np.sinh(...))`.
            g * torch.cosh(g)                        :: The slope is that at `x`, where the forward was. `upstream` only multiplies it.
            g + torch.cosh(x)                        :: Added. What arrives is *multiplied* by the slope.
            g * torch.from_numpy(np.sinh(x.numpy())) :: That multiplies by sinh, the value. Its slope is cosh.
            _box(x)                                  :: That is the local derivative alone. What arrives has to be multiplied by it.
            g                                        :: What arrives is passed on as it is. The slope of sinh is missing, cosh.
            torch.from_numpy(np.cosh(g.numpy()))     :: That is the cosh of what *arrives*. The slope is taken at `x`, and then multiplied.
            g * x * _box(x)                          :: `x` itself has come in as a factor. The slope is cosh alone.
            g / _box(x)                              :: Divided by the slope. It should be multiplied.
            g * torch.from_numpy(np.cos(x.numpy()))  :: That is cos. The slope of sinh is cosh, the hyperbolic one: `np.cosh`.
            sinh_with(lambda ctx, g, x: g * _box(x), forward=lambda x: torch.from_numpy(np.sin(x.numpy()))) :: The forward computes sin. you need `np.sinh`.
            sinh_with(lambda ctx, g, x: g * _box(x), forward=lambda x: torch.from_numpy(np.cosh(x.numpy()))) :: The forward computes cosh. That is the slope; the value is `np.sinh`.
            (g * _box(x)).numpy()                    :: `backward` gives back a NumPy array. The engine wants a tensor: `torch.from_numpy(...)`.
            sinh_with(lambda ctx, g: g * ctx.saved_tensors[0], keep=lambda ctx, x: None) :: The bag is empty. What the backward needs, the forward has to pack: `ctx.save_for_backward(x)`.
            sinh_with(lambda ctx, g: g * ctx.saved_tensors[0], keep=_keeps_the_array) :: A NumPy array does not go into the bag. Save the tensor `x`, and take its numbers in the backward.
            sinh_with(lambda ctx, g, x: g * torch.cosh(x), forward=lambda x: torch.sinh(x)) :: `torch.sinh` is an operation that the machine knows already
            sinh_with(lambda ctx, g: g * torch.cosh((lambda x: x)(*ctx.saved_tensors)), keep=lambda ctx, x: None) :: Nothing was saved, so there is nothing to unpack. The forward has to pack what the backward needs: `ctx.save_for_backward(x)`.
            abs(g) * torch.cosh(x)                   :: `abs` is one too many: what arrives may be negative, and is handed on with its sign.
            g * x                                    :: That is the rule of $x^2/2$. The slope of sinh is cosh, taken at `x`.
            g * torch.exp(x)                         :: $e^x$ is half of the story: the slope of sinh is cosh, $(e^x + e^{-x})/2$.
            g * torch.sqrt(1 + x**2)                 :: $\sqrt{1 + \sinh^2}$ is cosh, but the root needs the *result* of the forward, sinh, and not `x`.
            g * torch.cosh(x)                        :: right
            sinh_with(lambda ctx, g: g * torch.sqrt(1 + ctx.result**2), keep=_keeps_result) :: right
            g * (torch.exp(x) + torch.exp(-x)) / 2   :: right
            torch.from_numpy(g.numpy() * np.cosh(x.numpy())) :: right
            g * np.cosh(x.numpy())                   :: right
            g * _box(x), None                        :: right
        """,
    ),
    Exercise(
        "12.5",
        title="a softplus that holds",
        names=("Softplus",),
        solution=Softplus,
        probe=_probe([[0.0, 1.0, -3.0], [89.0, 1000.0, 0.5], [-89.0, -1000.0], [-0.5, -2.0]]),
        why=(
            "In the forward the exponential is taken of $-|x|$, so it is never above 1. The backward does not go through it at all: the slope is the "
            "sigmoid, and `torch.sigmoid` is careful by itself."
        ),
        shows="The cliff is gone, in the value and in the slope: a better rule than the chain of right ones.",
        look={
            "": "Forward: the formula with $\\max(x, 0)$. Backward: what arrives, times the sigmoid of `x`."
        },
        hints=(
            "The forward is the formula above, word for word: `torch.clamp`, `torch.log1p`, `torch.exp`, `abs`.",
            "The slope of softplus is the sigmoid. The backward has to save `x` for it, and no more.",
            "Backward: `return upstream * torch.sigmoid(x)`",
        ),
        answers=r"""
            softplus_with(g, x):
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.clamp(x, min=0) + torch.exp(-abs(x))) :: The logarithm is missing: $\log(1 + t)$, with $t = e^{-|x|}$, is `torch.log1p(t)`.
            g * torch.tanh(x)                        :: The tanh goes from $-1$ to 1. Softplus never falls: its slope is the *sigmoid*, from 0 to 1.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.log(1 + torch.exp(x))) :: The backward is careful, the forward is not: $e^{89}$ does not fit into `float32`, nor $e^{1000}$ into double. Use the formula with $-|x|$.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.clamp(x, min=0) + torch.log(1 + torch.exp(-abs(x)))) :: Nearly: `1 + t` loses a `t` as small as $e^{-89}$, so the logarithm is 0. `torch.log1p(t)` keeps it.
            g * torch.exp(x) / (1 + torch.exp(x))    :: The value holds, the slope does not: $e^x / (1 + e^x)$ is $\infty / \infty$ for large `x`. `torch.sigmoid` is careful.
            torch.sigmoid(x)                         :: That is the local derivative alone. What arrives has to be multiplied by it.
            g * torch.sigmoid(x) * (1 - torch.sigmoid(x)) :: That is the slope *of the sigmoid*. The slope of softplus is the sigmoid itself.
            g * (1 - torch.sigmoid(x))               :: The other way round: that tends to 0 for large `x`, where softplus rises like `x`.
            g * _careful(x)                          :: That multiplies by the value. The slope is the sigmoid.
            g                                        :: What arrives is passed on as it is. The slope is the sigmoid, 1 only far to the right.
            g * _on(x > 0, g)                        :: That is the rule of the ReLU. Softplus has a round corner: the sigmoid.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.log1p(torch.exp(-abs(x)))) :: $\max(x, 0)$ is missing: that is right for negative `x` only.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.clamp(x, min=0) + torch.log1p(torch.exp(abs(x)))) :: $e^{|x|}$ is as large as before. The minus in front of $|x|$ is what keeps it below 1.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.clamp(x, min=0) + torch.log1p(torch.exp(-x))) :: For positive `x` that is right. For negative ones $e^{-x}$ is large: $|x|$ is needed.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.clamp(x, min=0)) :: That is the ReLU. The second part of the formula rounds the corner.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.log(1 + torch.exp(torch.clamp(x, max=88)))) :: Held at 88, it no longer overflows, and is wrong: softplus of 1000 is 1000.
            g * torch.sigmoid(torch.clamp(x, min=0)) :: The slope is the sigmoid of `x` itself, on the negative side too.
            softplus_with(lambda g, x: g * torch.sigmoid(x), torch.sigmoid) :: The forward gives the sigmoid. That is the slope; the value is softplus.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.max(x, 0) + torch.log1p(torch.exp(-abs(x)))) :: In `torch.max(x, 0)` the 0 is a *dimension*, and two tensors come back. The larger of `x` and 0 is `torch.clamp(x, min=0)`.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: max(x, 0) + torch.log1p(torch.exp(-abs(x)))) :: Python's `max` wants one truth value, and `x` has several entries. Entry by entry: `torch.clamp(x, min=0)`.
            g * torch.sigmoid(g)                     :: The sigmoid is taken of what *arrives*. The slope is that at `x`.
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: x) :: The forward hands `x` on as it is. Softplus is $\max(x, 0) + \log(1 + e^{-|x|})$.
            g * 0.5 * (1 + torch.tanh(x / 2))        :: right
            softplus_with(lambda g, x: g * torch.sigmoid(x), torch.nn.functional.softplus) :: right
            g / (1 + torch.exp(-x))                  :: right
            softplus_with(lambda g, x: g * torch.sigmoid(x), lambda x: torch.from_numpy(np.logaddexp(0.0, x.numpy()))) :: right
        """,
    ),
    Exercise(
        "12.6",
        title="a lie with a limit",
        names=("Sign",),
        solution=Sign,
        probe=_probe([[0.3, -1.7, -0.6, 1.4], [1.0, -1.0, 0.0, -3.0]]),
        why="Forward the sign, backward a gate: what arrives where $|x| \\le 1$, 0 elsewhere. It is not the slope of anything, and it trains.",
        shows="The truth would be 0 everywhere. Yours is a chosen gradient: useful near the edge, silent far from it.",
        look={"": "What arrives, times 1 where $|x| \\le 1$ and 0 elsewhere."},
        hints=(
            "Forward: `torch.sign`, and save `x`.",
            "Backward: the same trick as in `ScaledReLU`, with another question about `x`.",
            "`upstream * (abs(x) <= 1).to(upstream.dtype)`",
        ),
        answers=r"""
            sign_with(g, x):
            sign_with(lambda ctx_g, x: ctx_g * x * (abs(x) <= 1)) :: What arrives is multiplied by `x` there. Inside the gate it should pass unchanged.
            g * torch.sign(x)                       :: That turns round what arrives where `x` is negative. The lie is that the forward had done *nothing*: it passes as it is.
            g                                       :: It is passed on everywhere. Outside $|x| \le 1$ it should be 0.
            torch.zeros_like(g)                     :: That is the truth: the slope of the sign is 0. Here you need a lie, near the edge.
            _on(abs(x) <= 1, g)                     :: That is the gate alone. What arrives has to go through it.
            g * _on(abs(x) > 1, g)                  :: The other way round: inside $|x| \le 1$ it passes, outside it is 0.
            g * _on(abs(x) < 1, g)                  :: Nearly. At exactly 1 and $-1$ it passes: `<=`.
            g * _on(x <= 1, g)                      :: `x <= 1` lets all negative numbers through. It is about $|x|$.
            g * _on(abs(g) <= 1, g)                 :: The gate looks at what *arrives*. It is to look at `x`.
            g.clamp(-1, 1)                          :: That clips what arrives. The gate asks about `x`, and passes on what arrives whole.
            g * torch.clamp(x, -1, 1)               :: That multiplies by `x`. The gate is 1 or 0.
            g * torch.sign(x) * _on(abs(x) <= 1, g) :: The sign has come into the backward: what passes should pass unchanged.
            sign_with(lambda g, x: g * _on(abs(x) <= 1, g), torch.tanh) :: The forward gives something between. It should be the sign, $\pm 1$.
            g * _on(abs(x) <= 0.5, g)               :: The gate is half as wide as it should be: it is open wherever $|x| \le 1$.
            g * _on(abs(x) <= 2, g)                 :: The gate is twice as wide as it should be: it is open wherever $|x| \le 1$.
            g.clamp(-1, 1) * _on(abs(x) <= 1, g)    :: The gate is right, but what arrives is clipped as well. Inside the gate it passes whole.
            g * (-1 <= x <= 1)                      :: Python asks for *one* truth value there (as `a <= x <= b` and `if` do), and `x` has several entries. Entry by entry: multiply by `(abs(x) <= 1)`, or use `torch.where`.
            abs(g) * _on(abs(x) <= 1, g)            :: `abs` is one too many: what arrives may be negative, and passes with its sign.
            g * torch.relu(1 - abs(x))              :: The gate closes slowly there, like a tent. It is open or shut: 1 where $|x| \le 1$, 0 elsewhere.
            g * (1 - torch.tanh(x) ** 2)            :: That is the slope of the tanh, a soft gate. Here it is open or shut: 1 where $|x| \le 1$, 0 elsewhere.
            sign_with(lambda g, x: g * _on(abs(x) <= 1, g), torch.round) :: The forward rounds. It should give the sign, $\pm 1$.
            g * _on(x > 0, g)                       :: That is the gate of a ReLU. Here the gate is open wherever $|x| \le 1$, on both sides of 0.
            g / abs(x)                              :: $x/|x|$ is the sign, but that is the forward. Backward, the gradient passes unchanged where $|x| \le 1$, and is 0 elsewhere.
            torch.where(abs(x) <= 1, g, torch.zeros_like(g)) :: right
            g * _on(x <= 1, g) * _on(x >= -1, g)    :: right
        """,
    ),
]
