"""Exercises of lesson 12, Your own Function: a scaled ReLU, neighbours, four reports, polar coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch

from .model import Complaint, Exercise, Question, returned
from .sheet import exercise, question


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


class Polar(torch.autograd.Function):
    @staticmethod
    def forward(ctx, r, angle):
        ctx.save_for_backward(r, angle)
        return r * torch.cos(angle), r * torch.sin(angle)

    @staticmethod
    def backward(ctx, to_x, to_y):
        r, angle = ctx.saved_tensors
        grad_r = grad_angle = None
        if ctx.needs_input_grad[0]:
            grad_r = to_x * torch.cos(angle) + to_y * torch.sin(angle)
        if ctx.needs_input_grad[1]:
            grad_angle = to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle)
        return grad_r, grad_angle


def _probe(inputs: list[list[float]], *settings: tuple) -> Callable[[Any], Iterator[tuple]]:
    """A probe that applies a Function to each input (with each of `settings`), and runs a pass with an uneven upstream gradient."""

    def probe(kind: Any) -> Iterator[tuple]:
        for numbers in inputs:
            for more in settings or ((),):
                x = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
                called = ", ".join([f"{[f'{n:g}' for n in numbers]}".replace("'", ""), *map(str, more)])
                y = returned(kind.apply(x, *more))
                if not isinstance(y, torch.Tensor):
                    raise Complaint(
                        f"`forward` returns {_a(y)}. Return a tensor: the engine attaches the node to it. "
                        "`torch.from_numpy` makes one."
                    )
                yield f"apply({called}) gives", y.detach()
                yield f"The dtype that apply({called}) returns", str(y.dtype)
                if y.grad_fn is None or type(y.grad_fn).__name__ != f"{kind.__name__}Backward":
                    raise Complaint(
                        "The `grad_fn` of the result is not your Function's node. Leave `apply` as it is: write `forward` and `backward` only."
                    )
                v = torch.tensor([(-10.0) ** i for i in range(len(numbers))], dtype=torch.float64)
                before = v.clone()
                y.backward(v)
                if not torch.equal(v, before):
                    raise Complaint(
                        "Your `backward` writes into `upstream`. Other nodes may still need that tensor. Compute a new one."
                    )
                yield f"The gradient of x when {v.tolist()} arrives at apply({called})", _felt(x.grad)

    return probe


def _felt(grad: Any) -> Any:
    """A gradient with negligible entries set to 0: two correct rules may differ there."""
    return torch.where(abs(grad) < 1e-12, 0.0, grad) if isinstance(grad, torch.Tensor) else grad


def _a(value: Any) -> str:
    return "a NumPy array" if isinstance(value, np.ndarray) else f"a `{type(value).__name__}`"


def _kind(name: str, forward: Callable, backward: Callable, keep: Callable | None = None) -> type:
    """A Function called `name`. `keep(ctx, x)` says what is kept; by default that is x, which `backward` is given."""

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
        name, (torch.autograd.Function,), {"forward": staticmethod(run), "backward": staticmethod(back)}
    )


def _on(condition, like):
    return condition.to(like.dtype)


def _polar_probe(kind: Any) -> Iterator[tuple]:
    """Both outputs, one of them, and one input that needs no gradient; what `backward` returns is checked as well."""
    returned: list[Any] = []

    def noted(ctx, *upstream):
        returned.append(kind.backward(ctx, *upstream))
        return returned[-1]

    watched = type(kind.__name__, (kind,), {"backward": staticmethod(noted)})
    for r_asks, angle_asks in ((True, True), (True, False), (False, True)):
        for to_x, to_y in (
            ([2.0, -1.0, 0.5], [-3.0, 0.5, 4.0]),
            ([1.0, -2.0, 3.0], None),
            (None, [1.0, 2.0, -1.0]),
        ):
            r = torch.tensor([1.5, 2.0, 0.7], dtype=torch.float64, requires_grad=r_asks)
            angle = torch.tensor([0.4, -1.1, 2.5], dtype=torch.float64, requires_grad=angle_asks)
            both = watched.apply(r, angle)
            if not isinstance(both, tuple) or len(both) != 2:
                raise Complaint("`forward` should return two tensors, $x$ and $y$. Leave it as it was.")
            yield "The point", [part.detach() for part in both]
            parts = [
                (part * torch.tensor(up, dtype=torch.float64)).sum()
                for part, up in zip(both, (to_x, to_y), strict=True)
                if up is not None
            ]
            sum(parts).backward()
            what = "both outputs are used" if len(parts) == 2 else f"{'x' if to_x else 'y'} alone is used"
            yield f"The gradient of r, when {what}", r.grad
            yield f"The gradient of the angle, when {what}", angle.grad
            gave = returned[-1] if isinstance(returned[-1], tuple) else (returned[-1],)
            for name, asks, value in zip(("r", "the angle"), (r_asks, angle_asks), gave, strict=False):
                if not asks and value is not None:
                    raise Complaint(
                        f"The numbers are right. But {name} asks for no gradient here, and your `backward` computes one all the "
                        "same. Ask `ctx.needs_input_grad` first, and return `None` where it is False."
                    )


def _unused() -> str:
    arrived: list[Any] = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a + 1, a * 2

        @staticmethod
        def backward(ctx, first, second):
            arrived.append(first)
            return first + 2 * second

    Two.apply(torch.tensor(1.0, requires_grad=True))[1].backward()
    return "a" if arrived[0] is None else {0.0: "b", 1.0: "c"}[arrived[0].item()]


def _kink() -> float:
    eps = 1e-6
    ends = [ScaledReLU.apply(torch.tensor(at, dtype=torch.float64), 2.0).item() for at in (eps, -eps)]
    return (ends[0] - ends[1]) / (2 * eps)


QUESTIONS: list[Question] = [
    question(r"""
        12.a x.grad after a backward that always says 100
        truth: slope(_kind("Liar", lambda x: x * x, lambda ctx, upstream, x: upstream * 100).apply, 3.0)
        found: Yes. What arrives is 1, the rule says *times 100*, and the engine believes it.
        missed: 1 arrives at the node, its rule says *times 100*, and nothing checks it: 100.

        6.0   :: 6 is the slope. But nothing computes it: the engine asks your `backward`, and that says 100.
        600.0 :: The true slope is not multiplied in as well. The rule is *what arrives times 100*, and 1 arrives.
        300.0 :: The rule does not use `x`: it is *what arrives times 100*, and 1 arrives.
        900.0 :: The value 9 plays no part on the way back. 1 arrives, and the rule turns it into 100.
        None  :: `x` requires a gradient, and a path leads to it, so something arrives: what the rule says, 100.
        9.0   :: 9 is the value of the result. On the way back only the rule counts: 1 times 100.
        """),
    question(r"""
        12.b what a central finite difference finds at the kink of 2 * relu
        truth: _kink()
        found: Yes: from 0 to $2\varepsilon$, over a distance of $2\varepsilon$. Half-way between the slopes 0 and 2.
        missed: On the right the result is $2\varepsilon$, on the left 0. Divided by $2\varepsilon$: 1, between the slopes 0 and 2.

        0.0  :: 0 is the slope on the left, and what `backward` says. A central difference looks at both sides, and gives the mean of the two slopes.
        2.0  :: 2 is the slope on the right. A central difference looks at both sides: from 0 to $2\varepsilon$, over $2\varepsilon$.
        0.5  :: That would be for alpha 1. Here the slopes are 0 and 2.
        None :: A finite difference always gives a number: two values, a difference, a division.
        """),
    question(r"""
        12.c what arrives for an output that is not used
        truth: _unused()
        found: Yes: the missing gradient is filled in with zeros, so that the rule can add it like any other.
        missed: **b**: zeros are filled in for an output that is not used.

        "a" :: It is right that no gradient arrives. But a rule would fail on `None`, so zeros are filled in: **b**.
        "c" :: The pass begins with a 1 at `product` alone. For `total` zeros are filled in: **b**.
        "d" :: `backward` always gets one gradient per output. For one that is not used, zeros are filled in: **b**.
        """),
]


EXERCISES: list[Exercise] = [
    exercise(r"""
        12.1 a scaled ReLU
        solution: ScaledReLU
        probe: _probe([[1.5, -0.3, 0.0, 0.5], [-2.0, 3.0]], (2.0,), (0.5,), (-1.5,))
        why: Upstream, times the slope: `ctx.alpha` where `x` is positive, 0 elsewhere. `alpha` is not a tensor, so there is no gradient to give: `None`.
        shows: Where `x` was positive, your rule passes on what arrives, scaled. One value for each argument of `forward`.
        look: Three factors for `x`: what arrives, alpha, and 1 or 0. And a second value, for `alpha`.
        hint: Return two values: one for `x`, one for `alpha`. What gradient does a plain number have?
        hint: For `x`: what arrives, times alpha, times 1 where `x` is positive and 0 elsewhere.
        hint: `positive * upstream * ctx.alpha, None`

        return alpha * torch.relu(x) => return torch.relu(alpha * x) :: With a negative alpha the two are not the same: first the ReLU of `x`, then times alpha.
        return alpha * torch.relu(x) => return torch.relu(x) :: The forward does not multiply by alpha. Leave it as it was.
        ctx.save_for_backward(x) => ctx.save_for_backward(x, alpha) :: Leave the forward as it was: a plain number does not go into `save_for_backward`, but into `ctx.alpha`.
        ctx.alpha = alpha => :: `forward` has to store it first: `ctx.alpha = alpha`.
        instead of positive * upstream * ctx.alpha, None:
        * ctx.alpha => :: That is the rule of the plain ReLU. Where `x` is positive the slope is alpha.
        upstream * => :: That is the local derivative alone. Multiply it by what arrives, `upstream`.
        upstream * ctx.alpha, None                    :: That passes `upstream` on everywhere. Where `x` is not positive the result does not change: 0.
        upstream * ctx.alpha * x * _on(x > 0, upstream), None :: That multiplies by the *value* of `x` as well. The slope is alpha, however large `x` is.
        (x > 0) => (x < 0) :: It is the other way round: pass `upstream` on where `x` is *positive*.
        (x > 0) => (x >= 0) :: Nearly. At exactly 0 the slope should be 0: `x > 0`, not `x >= 0`.
        (x > 0) => (x != 0) :: `x != 0` is true for negative `x` as well. Pass `upstream` on only where `x` is positive.
        upstream * torch.relu(x), None                :: That is upstream times the *value* of the ReLU. You need the slope: alpha or 0.
        upstream * ctx.alpha**2 * _on(x > 0, upstream), None :: You multiply by alpha twice.
        ctx.alpha * _on(x > 0, upstream) * upstream.sum(), None :: Each entry is multiplied by its own part of `upstream`, not by the sum of all.
        ctx.alpha * _on(x > 0, upstream) * upstream.mean(), None :: Nothing is averaged: each entry is multiplied by its own part of `upstream`.
        (upstream * ctx.alpha * _on(x > 0, upstream)).sum(), None :: One number cannot be the gradient of four: each entry of `x` has its own. Leave out the sum.
        upstream * ctx.alpha * _on(x > 0, upstream)   :: `forward` has two arguments, so return two values: the second, for `alpha`, is `None`.
        upstream * ctx.alpha * _on(x > 0, upstream), upstream.sum() :: The second value is for `alpha`, a plain number, which has no gradient. Return `None` there; the gradient of `x` comes first.
        None, None                                    :: `None` twice means that nothing goes back. `x` needs its gradient.
        upstream * ctx.alpha * (x > 0).to(upstream.dtype) * (ctx.alpha > 0), None :: A negative `alpha` is a factor like any other: the rule does not depend on its sign.
        upstream * abs(ctx.alpha) * (x > 0).to(upstream.dtype), None :: `abs` does not belong there: with a negative `alpha` the curve falls, and the slope is negative.
        abs(upstream) * ctx.alpha * (x > 0).to(upstream.dtype), None :: `abs` does not belong there: what arrives may be negative, and keeps its sign.
        upstream * ctx.alpha * torch.sigmoid(x), None :: The sigmoid is a soft step. The ReLU has a hard one: its slope is 1 where `x` is positive, and 0 elsewhere.
        upstream + ctx.alpha * (x > 0).to(upstream.dtype), None :: That adds. What arrives is *multiplied* by the slope.
        torch.where(x > 0, upstream, ctx.alpha * upstream), None :: That is a leaky ReLU. Here alpha is the slope where `x` is *positive*, and elsewhere the slope is 0.
        upstream / ctx.alpha * (x > 0), None          :: That divides by alpha. The slope is alpha: multiply.
        upstream * (ctx.alpha * x > 0).to(upstream.dtype), None :: Here `alpha` only decides where the gate is open. It is a factor of the slope: times `ctx.alpha`.
        """),
    exercise(r"""
        12.2 neighbours
        solution: Neighbours
        probe: _probe([[2.0, 3.0, 5.0], [1.0, -2.0, 0.5, 4.0]])
        why: $x_i$ is also the right factor of its left neighbour's product, $y_{i-1} = x_{i-1} x_i$. So its second part is what arrives at $y_{i-1}$ times $x_{i-1}$: the product `upstream * x`, moved one place to the right.
        shows: The table showed where to look: one roll went to the wrong side.
        look: The second part of $x_i$ comes from $y_{i-1} = x_{i-1} x_i$: what arrives there, times the other factor.
        hint: Which two products contain $x_0$? $y_0 = x_0 x_1$ and $y_2 = x_2 x_0$. The first part is already there.
        hint: The second part of $x_0$ is what arrives at $y_2$, times $x_2$. From which side must both be moved to position 0?
        hint: `torch.roll(upstream * x, 1)`

        return x * torch.roll(x, -1) => return x * torch.roll(x, 1) :: The forward multiplies by the *left* neighbour. It should be the right one, as it was.
        upstream * torch.roll(x, -1) => upstream * x :: The first part is multiplied by `x` itself. In its own product `x` was multiplied by its right neighbour, `torch.roll(x, -1)`.
        upstream * torch.roll(x, -1) + torch.roll(upstream * x, 1) => upstream * 2 * x :: That is the rule of $x^2$. Here no number is multiplied by itself, but each by its neighbour.
        instead of upstream * torch.roll(x, -1) + torch.roll(upstream * x, 1):
        torch.roll(x, -1) + torch.roll(x, 1)        :: Both parts are local derivatives alone. Multiply each by what arrives, `upstream`, at its product.
        upstream * torch.roll(x, -1) + torch.roll(upstream * x, -1) :: That is the rule of the table above: it takes the part from the *right* neighbour. $x_i$ is a factor of its *left* neighbour's product.
        upstream * torch.roll(x, -1)                :: That is one part only. Each number is in two products.
        upstream * torch.roll(x, -1) + upstream * torch.roll(x, 1) :: The factor comes from the left neighbour, as it should. But what arrives at *its* product counts: `upstream` must move as well.
        upstream * torch.roll(x, -1) + torch.roll(upstream, 1) * x :: `upstream` has moved, and `x` has not. The other factor in the left neighbour's product is the left neighbour.
        upstream * torch.roll(x, -1) + upstream * x :: Nothing is moved: that uses what arrives at its own product twice, and `x` itself as the other factor.
        upstream * torch.roll(x, -1) + torch.roll(x, 1) :: The second part is the local derivative alone. Multiply it by what arrives there.
        upstream * torch.roll(x, -1) + torch.roll(upstream, 1) :: The second part is what arrives, without the other factor.
        upstream * torch.roll(x, 1) + torch.roll(upstream * x, -1) :: Both rolls go to the wrong side. In its own product `x` is multiplied by its *right* neighbour, `torch.roll(x, -1)`; the second part comes from the left.
        (upstream + torch.roll(upstream, 1)) * (torch.roll(x, -1) + torch.roll(x, 1)) :: That multiplies out to four terms. You need two products, added: each is an upstream entry times one other factor.
        torch.roll(upstream, 1) * torch.roll(x, 1) - upstream * torch.roll(x, -1) :: The first part has the wrong sign: parts are added.
        2 * upstream * torch.roll(x, -1)            :: That counts the first part twice. The second comes from another product.
        (upstream * torch.roll(x, -1) + torch.roll(upstream * x, 1)) / 2 :: The two parts are averaged. They should be added.
        upstream * torch.roll(x, -1) - torch.roll(upstream * x, 1) :: The second part has the wrong sign: parts are added.
        torch.roll(upstream * x, 1)                 :: The second part is right. The first one is missing.
        upstream * torch.roll(x, -1) + torch.roll(upstream * x, 2) :: That moves it two places. With three numbers that is the same as one place to the left.
        upstream * torch.roll(x, -1) + torch.roll(upstream, -1) * torch.roll(x, 1) :: What arrives is rolled the wrong way in the second part: it should move one place to the right, as `x` does.
        upstream * torch.roll(x, 1) + torch.roll(upstream * x, 1) :: The first part is multiplied by the wrong neighbour: in its own product `x` was multiplied by the one to the *right*, `torch.roll(x, -1)`.
        upstream * torch.roll(x, -1) + x            :: Each entry is in two products, and each product brings what *arrived* at it times the other factor. Your second part leaves out what arrived.
        """),
    exercise(r"""
        12.3 read the report
        solution:
            first, second, third, fourth = "b", "c", "e", "d"
        names: ("first", "second", "third", "fourth")
        why: Without upstream every output seems to depend on every input: whole rows are filled. Half-way between two slopes: a kink. The right numbers in the wrong places: swapped. Both a little off: rounding.
        shows: A report is a picture of the mistake. Two of the four contain no mistake.
        look first: What has happened to the two zeros?
        look second: One entry is right. What lies half-way, and between what?
        look third: The diagonal is empty. Where are its numbers?
        look fourth: How far are the numbers off, and in which direction?
        hint: A factor changes the size of entries and leaves zeros alone. What fills a zero?
        hint: A kink shows at one entry, where the finite difference is half-way between two slopes.
        hint: Rounding errors are small, here a few per cent, and not the same for each entry.

        first = 'a'           :: One factor would leave the zeros at zero. Here entries off the diagonal are filled: each output seems to depend on both inputs.
        first = 'c'           :: A kink spoils single entries, where the finite difference is between the two slopes. Here whole rows are filled.
        first = 'd'           :: Rounding makes entries slightly wrong. Here zeros have become 6 and 10.
        first = 'e'           :: Swapped entries would leave the diagonal empty. Here it is right, and the rest is filled as well.
        second = 'a'          :: The entry 1 is right, so no factor is missing in the whole rule. What is special about the other entry?
        second = 'b'          :: A forgotten `upstream` fills the entries off the diagonal. They are 0, as they should be.
        second = 'd'          :: Rounding errors are small. 0.5 instead of 0 is half a slope.
        second = 'e'          :: If they were swapped, the 1 would have moved. It is in its place.
        third = 'a'           :: One factor cannot fill a zero. Look where the 4 and the 2 are now.
        third = 'b'           :: If `upstream` were forgotten, the diagonal would be right and the rest filled. Here the diagonal is empty.
        third = 'c'           :: At a kink one entry is half-way between two slopes. Here both numbers are there, in other places.
        third = 'd'           :: Rounding does not move a number to another place.
        fourth = 'a'          :: Divide: 1.967 by 2 is 0.98, and 5.722 by 6 is 0.95. Those are two different factors.
        fourth = 'b'          :: If `upstream` were forgotten, the entries off the diagonal would be filled. They are 0.
        fourth = 'c'          :: At a kink the finite difference is half-way between two slopes. Here it is off by a few per cent, in both entries.
        fourth = 'e'          :: Both entries are in their places, only slightly off.
        """),
    exercise(r"""
        12.4 polar coordinates
        solution: Polar
        probe: _polar_probe
        why: Each output brings its own upstream gradient. `r` moves $x$ by $\cos\varphi$ and $y$ by $\sin\varphi$; the angle moves $x$ by $-r\sin\varphi$ and $y$ by $r\cos\varphi$. The parts are added.
        shows: Two inputs, two outputs: four local derivatives, and none of them is computed unless it is needed.
        look: Four local derivatives: of $x$ and of $y$, with respect to $r$ and to the angle. Each is multiplied by what arrives at its output.
        hint: How fast does $x = r\cos\varphi$ change with $r$, and how fast with the angle? The same for $y$.
        hint: `grad_r` is what arrives at $x$ times $\cos\varphi$, plus what arrives at $y$ times $\sin\varphi$.
        hint: `grad_angle = to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle)`, if `ctx.needs_input_grad[1]`.

        r * torch.cos(angle), r * torch.sin(angle) => torch.cos(angle), torch.sin(angle) :: The forward leaves out `r`: that is a point at distance 1.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => to_x * torch.cos(angle) :: `r` moves $y$ as well. Add what arrives at $y$, times $\sin\varphi$.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => to_y * torch.sin(angle) :: `r` moves $x$ as well. Add what arrives at $x$, times $\cos\varphi$.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => to_x * torch.sin(angle) + to_y * torch.cos(angle) :: The two factors of `grad_r` are swapped: $x$ goes with the cosine, $y$ with the sine.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => r * (to_x * torch.cos(angle) + to_y * torch.sin(angle)) :: In `grad_r` there is one `r` too many: $r\cos\varphi$ changes by $\cos\varphi$ per unit of $r$.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => torch.cos(angle) + torch.sin(angle) :: Those are only the local derivatives with respect to `r`. Multiply each by what arrives at its output.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => (to_x + to_y) * (torch.cos(angle) + torch.sin(angle)) :: Each upstream gradient is multiplied by its own local derivative: that of $x$ by the cosine, that of $y$ by the sine.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => (to_x * torch.cos(angle) + to_y * torch.sin(angle)) / 2 :: The two parts of `grad_r` are added, not averaged.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => to_x * torch.cos(angle) - to_y * torch.sin(angle) :: The minus belongs to the angle, where the cosine becomes $-\sin$. For `r` both parts are added.
        to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) => r * (to_y * torch.cos(angle) + to_x * torch.sin(angle)) :: A sign is missing in `grad_angle`: the slope of the cosine is *minus* the sine.
        to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) => r * (to_x * torch.sin(angle) - to_y * torch.cos(angle)) :: The signs of `grad_angle` are the other way round: $-\sin$ comes from $x$, $+\cos$ from $y$.
        to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) => to_y * torch.cos(angle) - to_x * torch.sin(angle) :: In `grad_angle` the factor `r` is missing: the further out, the more the point moves.
        to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) => r * to_y * torch.cos(angle) :: The angle moves $x$ as well. Add what arrives at $x$, times $-r\sin\varphi$.
        to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) => -r * to_x * torch.sin(angle) :: The angle moves $y$ as well. Add what arrives at $y$, times $r\cos\varphi$.
        to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) => r * (to_x * torch.cos(angle) - to_y * torch.sin(angle)) :: Sine and cosine are swapped in `grad_angle`: $x$ brings $-\sin$, $y$ brings $\cos$.
        to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) => r * (torch.cos(angle) - torch.sin(angle)) :: Those are only the local derivatives with respect to the angle. Multiply each by what arrives at its output.
        r, angle = ctx.saved_tensors => angle, r = ctx.saved_tensors :: `ctx.saved_tensors` returns the tensors in the order in which they were saved: `r`, then `angle`.
        return grad_r, grad_angle => return grad_r :: `forward` has two arguments, so return two values: `grad_r, grad_angle`.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => to_x + to_y :: Those are the upstream gradients alone. Multiply each by its local derivative: the cosine for $x$, the sine for $y$.
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) ;; to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) => to_x * torch.cos(angle) + to_y * torch.sin(angle) :: The two gradients are in the wrong order: first that of `r`, then that of the angle.
        ctx.needs_input_grad[0] => True ;; ctx.needs_input_grad[1] => True :: Ask `ctx.needs_input_grad` first
        to_y * r * torch.cos(angle) - to_x * r * torch.sin(angle) => None :: The angle asks for a gradient, and `None` goes back. Is its condition ever true? `ctx.needs_input_grad[1]`
        to_x * torch.cos(angle) + to_y * torch.sin(angle) => None :: `r` asks for a gradient, and `None` goes back. Is its condition ever true? `ctx.needs_input_grad[0]`
        """),
    exercise(r"""
        12.5 count
        solution:
            arriving = 2       # one for each output
            returned = 3       # one for each argument
            asking = 1         # weight alone
            unused = 0         # filled in
            for_steps = None   # a plain number
        rtol: 1e-4
        why: `backward` is `forward` reversed: the gradients of the outputs come in, the gradients of the arguments go out.
        shows: One in for each output, one out for each argument, and `None` where there is no gradient.
        look arriving: How many tensors does `forward` return?
        look returned: How many arguments does `forward` have, besides `ctx`?
        look asking: Which of the three arguments requires a gradient?
        look unused: What did `to_sum` hold above?
        look for_steps: What does `backward` return for something that is not a tensor?
        hint: One gradient comes in for each output of `forward`, and one value goes out for each argument.
        hint: `data` asks for no gradient, and the number 10 cannot ask.
        hint: For an output that is not used, zeros are filled in.

        for_steps = 3 :: 3 is how many values `backward` returns. `steps` is a plain number: what does it get?
        arriving = 1     :: One for each *output*: `value` and `error`.
        arriving = 3     :: That is the number of arguments. What arrives belongs to the outputs.
        arriving = 0     :: What arrives is the upstream gradient of each output.
        returned = 2     :: Two tensors come in, but each *argument* has its place: `data`, `weight`, `steps`.
        returned = 1     :: Only `weight` asks for a gradient, but each argument has its place: `None` for the others.
        returned = 4     :: `ctx` gets no gradient: it is not an argument of `apply`.
        asking = 2       :: `data` requires no gradient.
        asking = 3       :: Only a tensor that requires a gradient asks: `weight`.
        asking = 0       :: `weight` requires a gradient.
        unused = None    :: `None` arrives only after `ctx.set_materialize_grads(False)`. Otherwise zeros are filled in.
        unused = 1       :: A pass begins with a 1, at the loss. Here nothing comes from the loss.
        for_steps = 0    :: A 0 would be a gradient. For something that is not a tensor there is none.
        for_steps = 10   :: 10 is the value of `steps`. There is no gradient to give for it.
        for_steps = 1    :: A number would be a gradient. For something that is not a tensor there is none.
        """),
]
