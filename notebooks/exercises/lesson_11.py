"""Exercises of lesson 11, Control flow and a small RNN: paths, three steps by hand, clipping, truncating, reading on."""

from __future__ import annotations

from collections.abc import Iterator

import minigrad as torch

from .model import Complaint, Exercise, Question, returned
from .sheet import exercise, question
from .side_effects import GRAD, VALUES, Watch, unchanged


def clip(parameters, most):
    gradients = [p.grad for p in parameters if p.grad is not None]
    n = sum((gradient**2).sum() for gradient in gradients) ** 0.5
    if n > most:
        for gradient in gradients:
            gradient *= most / n


def truncated(w, h, steps, keep):
    for step in range(steps):
        if step == steps - keep:
            h = h.detach()
        h = w * h
    return h


def read_on(w, pieces, lr):
    h = torch.zeros(pieces[0].shape[1])
    losses = []
    for piece in pieces:
        h = h.detach()
        for x in piece:
            h = torch.tanh(w * h + x)
        loss = (h**2).mean()
        w.grad = None
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
        losses.append(loss.item())
    return losses


def _clip_probe(function) -> Iterator[tuple]:
    """Each gradient after clipping: of several parameters, one without a gradient; some too long, some short enough."""
    for most, scale in (
        (1.0, 1.0),
        (10.0, 1.0),
        (4.5, 1.0),
        (2.0, 4.0),
        (4.0, -1.0),
        (10.0, 0.1),
        (2.0, 0.2),
    ):
        parameters = [torch.zeros(2, requires_grad=True), torch.tensor(0.0, requires_grad=True)]
        parameters.append(torch.zeros(3, requires_grad=True))
        parameters[0].grad = torch.tensor([3.0, -4.0]) * scale
        second = 1.2 if scale > 0 else 8.0  # the longest need not be the first
        parameters[1].grad = torch.tensor(second) * scale
        watch = Watch(dict.fromkeys(("parameters",), frozenset({GRAD})), parameters=parameters)
        function(parameters, most)
        if parameters[2].grad is not None:
            raise Complaint("A parameter that had no gradient has one now. Leave it at `None`.")
        if any(p.grad is None for p in parameters[:2]):
            raise Complaint("A gradient is gone. It should be made shorter, not removed.")
        for name, p in zip(("first", "second"), parameters, strict=False):
            yield (
                f"The gradient of the {name} parameter (combined length {abs(scale) * (25 + second**2) ** 0.5:.3g}, limit {most:g})",
                p.grad.clone(),
            )
        watch.complain()


def _length(gradients):
    return sum((g**2).sum() for g in gradients) ** 0.5


def _truncated_probe(function) -> Iterator[tuple]:
    for weight, start, steps, keep in (
        (0.7, 1.5, 5, 2),
        (2.0, -1.0, 4, 3),
        (1.5, 0.5, 3, 1),
        (0.5, 1.0, 5, 5),
        (-1.5, 2.0, 7, 2),
    ):
        w, h = torch.tensor(weight, requires_grad=True), torch.tensor(start)
        with unchanged(w=w, h=h):
            out = function(w, h, steps, keep)
        if not isinstance(out, torch.Tensor):
            yield "what comes out", out
            return
        how = f"with w = {weight:g}, h = {start:g}, {steps} steps, the last {keep} kept"
        yield f"The value {how}", out.detach()
        if out.grad_fn is None:
            raise Complaint(
                "Nothing leads back from the result: either `h` is detached after the last step, or `w` is cut off in each step. Detach `h` alone, *before* the first step that should be seen."
            )
        out.backward()
        yield f"w.grad {how}", w.grad


def _reading_probe(function) -> Iterator[tuple]:
    torch.manual_seed(0)
    for count, length, width, lr in ((3, 2, 3, 0.1), (2, 4, 2, 0.05)):
        pieces = list(torch.randn(count, length, width))
        w = torch.tensor(0.8, requires_grad=True)
        watch = Watch({"w": {VALUES, GRAD}}, w=w, pieces=pieces)
        losses = returned(function(w, pieces, lr))
        if isinstance(losses, list) and any(
            isinstance(loss, torch.Tensor) and loss.grad_fn for loss in losses
        ):
            raise Complaint(
                "Each loss in the list holds the graph of its piece. Append plain numbers, `loss.item()`."
            )
        how = f"for {count} pieces of {length} steps"
        yield f"The losses {how}", losses
        yield f"w {how}", w.detach()
        watch.complain()


QUESTIONS: list[Question] = [
    question(r"""
        11.a the gradient on the other branch
        truth: slope(lambda x: x * 3, [-1.0, -2.0])
        found: Yes: $3x$ was the line that ran, with slope 3 everywhere.
        missed: The line that ran was $3x$. Its slope is 3, for each entry.

        [-2.0, -4.0] :: That is $2x$, the slope of the line that did *not* run. Here it was $3x$.
        [1.0, 2.0]   :: That mixes the two lines. Only one ran, $3x$.
        [-3.0, -6.0] :: Those are the values of $3x$. The slope is 3.
        [0.5, -0.5]  :: Nothing is averaged: one line ran, $3x$.
        [0.0, 0.0]   :: A line ran, $3x$, and it has a slope: 3.
        3.0          :: right
        """),
    question(r"""
        11.b the gradient of a weight that is used five times
        truth: slope(lambda weight: math.prod([weight] * 5), 0.5)
        found: Yes: $5 W^4 = 0.3125$. Five uses, and each contributes $0.5^4$.
        missed: $5 W^4 = 5 \cdot 0.0625 = 0.3125$.

        0.0625  :: That is what *one* of the five uses contributes. Add up all five.
        0.03125 :: That is the value, $W^5$. Its slope is $5 W^4$.
        2.5     :: That is five times $W$. It should be five times $W^4$, the product of the other four factors.
        5.0     :: Five uses, yes. Each contributes $W^4 = 0.0625$.
        1.0     :: That would be a single step with $h = 1$. There are five, and each contributes $W^4$.
        0.5     :: That is $W$. The slope of $W^5$ is $5 W^4$.
        """),
    question(r"""
        11.c how large a gradient gets in twenty steps with 1.5
        truth: min("abcd", key=lambda letter: abs(1.5**20 - {"a": 30, "b": 300, "c": 3000, "d": 1.5}[letter]))
        found: Yes: $1.5^{20} = 3325$.
        missed: It is **c**: $1.5^{20} = 3325$.

        "a" :: Along a chain, factors are *multiplied*, not added: $1.5^{20}$.
        "b" :: Too small: $1.5^{10}$ is already 58, and that squared is $1.5^{20}$.
        "d" :: It is the same weight, but it is used twenty times: $1.5^{20}$.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        11.1 the path taken
        solution:
            above = 2 * 4     # x * x
            below = -3        # -3 * x
            short = 1         # 6 > 5 at once: y is x
            middle = 2 * 3    # one iteration: x * x is 9
            long = 4          # three iterations: x to the fourth
        rtol: 1e-4
        why: Run the lines in your head and write down what was computed. Only that is in the graph.
        shows: The same lines compute $x$, $x^2$ or $x^4$, and each has its own slope.
        look above: Which line runs at 4, and what is its slope there?
        look below: Which line runs at $-4$, and what is its slope?
        look short: Is there a first iteration at all?
        look middle: Write down `y` after each iteration, until it is more than 5.
        look long: Write down `y` as a power of $x$ after each iteration. It never exceeds 5.
        hint: Go through the lines with the given number, and write down the formula that they compute.
        hint: `h` at 6: the first line of the loop is the condition, and 6 is more than 5.
        hint: `h` at 1: $y$ is $x$, then $x^2$, $x^3$, $x^4$. The value is 1 each time; the slope is not.

        below = 9     :: $(-3)^2$? The line that runs at $-4$ is $-3x$. Its slope is its factor.
        above = 0.0   :: A line ran, $x \cdot x$, and it is not flat at 4.
        above = 1.0   :: 1 is the slope of $x$ alone. The line that ran is $x \cdot x$.
        above = 2.667 :: Nothing is averaged: one line ran.
        below = 0.0   :: A line ran, and it is not flat: $-3x$.
        below = -1.5  :: Nothing is averaged between the two lines: one of them ran.
        below = 1.0   :: That is the slope of $x$. The line that ran is $-3x$.
        below = -1.0  :: That would be $-x$. The line that ran is $-3x$.
        below = -6.0  :: That is twice the slope of $-3x$. `x` appears in it only once.
        short = 2.0   :: For that, `x` would have to be used twice. The loop ends before any product, so `y` is `x`.
        short = 0.5   :: Nothing is averaged: `y` is `x`.
        middle = 0.0  :: One product was computed, so `y` is $x \cdot x$. That is not flat at 3.
        middle = 1.0  :: That would be `y = x`, without a product. 3 is not more than 5, so there is one.
        middle = 12.0 :: That is twice as much as it should be: one iteration, $x \cdot x$, and its slope at 3 is $2 \cdot 3$.
        middle = 2.0  :: The slope of $x \cdot x$ is $2x$, and `x` is 3.
        long = 0.0    :: The value stays 1, but only at $x = 1$. How does $x^4$ change when $x$ does?
        long = 1.333  :: Nothing is averaged: there are four factors, and each contributes 1.
        long = 8.0    :: That is twice as much as it should be: there is `x`, and one more factor from each of the three iterations, so four in all.
        long = 5.0    :: Before the first iteration `y` is `x`; then three iterations. That makes four factors.
        above = 16    :: That is the value, $4^2$. Its slope is $2 \cdot 4$.
        above = 4     :: The slope of $x \cdot x$ is $2x$: both factors are `x`.
        above = 5     :: Only one of the two lines ran. The other left nothing behind.
        above = -3    :: At 4 the condition holds: the first line ran.
        below = 12    :: That is the value. The slope of $-3x$ is $-3$ everywhere.
        below = -8    :: That is the slope of the line that did *not* run.
        below = 3     :: Check the sign: the line is $-3x$, whatever the sign of `x`.
        below = -11   :: That adds up both lines. The condition chose the second one alone.
        short = 12    :: 6 is already more than 5, so the loop ends before it multiplies.
        short = 6     :: That is the value. `y` is `x`, with slope 1.
        short = 0     :: Nothing is multiplied, but `y` is `x`: when `x` changes, so does `y`.
        short = None  :: `y` is `x` itself, so the way back is short. The gradient is 1.
        middle = 9    :: That is the value, $3^2$. Its slope is $2 \cdot 3$.
        middle = 18   :: That is one factor too many: after one product `y` is 9, and the loop ends.
        long = 6      :: `y` becomes $x^4$. Its slope is $4x^3$, and `x` is 1.
        middle = 27   :: After one iteration `y` is 9. That is more than 5, so the loop ends.
        middle = 108  :: That is $4x^3$, which would take three products. After the first one `y` is 9, so the loop ends.
        middle = 3    :: Both factors of $x \cdot x$ are `x`, so its slope is $2x$.
        long = 1      :: The *value* is 1. Four factors are `x`, and each contributes 1.
        long = 3      :: Three iterations, and `y` was `x` before the first one: four factors.
        long = 2      :: That would be one iteration. `y` never exceeds 5, so all three run.
        """),
    exercise(r"""
        11.2 three steps by hand
        solution:
            last = 3           # h_2, times what arrives: 1
            middle = 2         # h_1 = 1, times what arrives: 2
            first = 0          # h_0 = 0, times what arrives: 4
            whole = 3 + 2 + 0
            start = 2 * 2 * 2
        rtol: 1e-4
        why: In each step the product sends back *the other factor times what arrives*: $W$ gets the old state times what arrives, and the old state gets $W$ times what arrives.
        shows: One weight, three uses, three parts that add up. What arrives is doubled in each step on the way back.
        look last: At $h_3$ a 1 arrives. Which factor does $W$ multiply in the third step?
        look middle: What arrives at $h_2$, and what is the other factor in the second step?
        look first: What is the other factor in the first step?
        look whole: What do the three steps contribute together?
        look start: How many times is the gradient multiplied by $W$ on the way from $h_3$ to $h_0$?
        hint: At $h_3$ a 1 arrives, at $h_2$ a 2, at $h_1$ a 4.
        hint: The third step multiplied $W$ and $h_2$. So it contributes $h_2$ times 1 to the gradient of $W$.
        hint: The parts from several uses are added (lesson 4).

        start = 2.0   :: One factor of $W$ takes you back through *one* step. There are three steps.
        start = 15.0  :: Nothing is added here: along one path the factors are multiplied.
        last = 0.0    :: A 1 arrives, and the other factor $h_2$ is not zero.
        last = 1.5    :: Nothing is halved: $h_2$ times 1.
        middle = 0.0  :: $h_1$ is 1, and 2 arrives. Only the *first* step starts from a state of zero.
        whole = 0.0   :: The first part is 0; the other two are not.
        whole = 2.5   :: Nothing is averaged. The parts of all steps are added.
        whole = 1.0   :: 1 is what arrives at $h_3$. What do the three steps contribute?
        whole = 10.0  :: That is twice as much as it should be: each of the three steps contributes its part once.
        start = 16.0  :: One factor too many: there are three steps in between.
        start = 2.667 :: Nothing is divided between the steps: along the path you multiply by $W$, three times.
        start = 9.0   :: The factor is 2, and you multiply by it three times: $2^3$.
        start = 7.0   :: 7 is the value $h_3$. How much does it change when $h_0$ does?
        last = 7      :: 7 is $h_3$, what came out. The other factor is what went in, $h_2$.
        last = 1      :: 1 is what arrives. It is multiplied by the other factor, $h_2$.
        last = 6      :: $W h_2$ is the product itself. Only the other factor goes to $W$.
        last = 2      :: 2 is $W$, which is what the old state gets. $W$ gets the old state, $h_2$.
        last = 4      :: 4 is what arrives at $h_1$. In the third step 1 arrives, and the other factor is $h_2$.
        middle = 1    :: 1 is $h_1$, the other factor. Multiply it by what arrives at $h_2$: 2.
        middle = 3    :: What arrives, 2, is *multiplied* by the other factor, $h_1 = 1$.
        middle = 6    :: The old state of the second step is $h_1$, not $h_2$.
        middle = 4    :: At $h_2$ the 1 has been multiplied by $W$ once, so 2 arrives.
        first = 4     :: 4 arrives, and the other factor is $h_0$.
        first = 1     :: The other factor is the state *before* the step, $h_0 = 0$. The input 1 is added; it does not multiply $W$.
        first = 8     :: 8 is what arrives at $h_0$. What goes to $W$ is the other factor, $h_0$, times 4.
        first = None  :: The first step did run: $W$ was multiplied by $h_0$, and that is a number.
        whole = 12    :: That is $3 W^2$, which would be right for $W^3$. Here an input is added in each step: add up the three parts.
        whole = 3     :: That is the last step alone. All three uses count.
        whole = 1.667 :: Nothing is averaged: the parts add up.
        whole = 7     :: That is the value $h_3$.
        whole = 6     :: The parts are added, not multiplied: $3 + 2 + 0$.
        whole = 4     :: The parts are 3, 2 and 0. Add them up.
        start = 12    :: Along the path you multiply by 2 three times, and by nothing else.
        first = 2     :: The other factor in the first step is $h_0 = 0$, so nothing is left of what arrives.
        whole = 9     :: The first step has $h_0 = 0$ as its other factor, so it contributes nothing.
        start = 4     :: There are three steps in between, so you multiply by $W$ three times.
        start = 6     :: Along a path the factors are multiplied, not added.
        start = 0     :: The *value* of $h_0$ is 0. Its gradient says how $h_3$ changes when $h_0$ does.
        start = 1     :: 1 is the gradient at $h_3$. On the way back it is multiplied by $W$ three times.
        """),
    exercise(r"""
        11.3 clip
        solution: clip
        probe: _clip_probe
        why: All gradients are multiplied by the same number, so their direction stays the same. Gradients that were too long have the combined length `most` afterwards.
        shows: That is `torch.nn.utils.clip_grad_norm_`. Short gradients are left alone.
        look: All gradients together have one length, and one factor shortens them all.
        hint: The length: square all entries of all gradients, add them all up, and take the root.
        hint: `sum((gradient**2).sum() for gradient in gradients) ** 0.5`
        hint: The factor is `most / n`: if `n` is twice the limit, it is a half.

        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => max((g.abs().max().item() for g in gradients)) :: That uses the largest *entry* as the length. The length is the root of the sum of all squares.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => sum(((g ** 2).sum() for g in gradients)) :: That is the square of the length: the root is missing.
        most / n => n / most :: Upside down: `n / most` makes long gradients even longer.
        n > most => True :: That stretches short gradients. Leave gradients alone unless they are too long.
        n > most => n < most :: The comparison is the wrong way round: it stretches short gradients and leaves long ones alone.
        most / n => 1 / n :: The gradients have a length of 1 afterwards, whatever `most` is.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => sum(((g ** 2).sum() ** 0.5 for g in gradients)) ;; n > most => True :: Two things: lengths do not add up like that (add the squares, take the root once), and short gradients must be left alone.
        most / n => most  :: That multiplies by `most` itself. The gradients together should *have* the length `most`: divide by the length they have now.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => sum((g.abs().sum() for g in gradients)) :: That adds up the absolute values. The length is the root of the sum of the *squares*.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => sum((g.sum() ** 2 for g in gradients)) ** 0.5 :: That adds first and then squares, so entries of opposite sign cancel. Square each entry, then add.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => max(((g ** 2).sum() ** 0.5 for g in gradients)) :: That is the length of the longest gradient. All gradients *together* have one length.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => sum(((g ** 2).sum() ** 0.5 for g in gradients)) :: Lengths do not add up like that: add the squares, and take the root once.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => (sum(((g ** 2).sum() for g in gradients)) / 3) ** 0.5 :: Nothing is averaged: a length involves no division.
        n > most => True ;; gradient *= most / n => gradient *= min(1.0, most / gradient.norm().item())                                   :: That clips each parameter separately. It changes their proportions, and so the direction.
        n > most => True ;; gradient *= most / n => gradient.clamp_(-most, most) :: That limits each *entry*. The direction changes: a large entry becomes as small as its neighbours.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => _length(gradients) ;; gradient *= most / n => gradient = gradient * (most / n) :: Nothing has changed. Either `n` came out too small: print it. Or `gradient = gradient * ...` made a new tensor, which was thrown away: write into the old one with `*=`.
        n > most => n >= 1.0 :: 1 is the limit of one call. Compare with `most`, whatever it is.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => sum(((g ** 2).sum() for g in gradients)) ** 1 / 2 :: Python reads `** 1 / 2` as *to the power of 1, then halved*. Write `** 0.5`.
        sum((gradient**2).sum() for gradient in gradients) ** 0.5 => (gradients[0] ** 2).sum() ** 0.5 :: That is the length of the first gradient alone. All of them *together* have one length.
        n = sum((gradient**2).sum() for gradient in gradients) ** 0.5 => n = torch.tensor(gradients).norm() :: The gradients have different shapes, so they do not fit into one `torch.tensor`. Add up the squares of each, and take the root once.
        n > most => True ;; gradient *= most / n => gradient *= -most / gradient.norm() :: That gives each gradient the length `most` separately, and flips its sign. They have one length *together*, and they should keep their direction.
        with torch.no_grad():
            n = _length([p.grad for p in parameters if p.grad is not None])
            for p in parameters:
                if p.grad is not None and n > most:
                    p -= p.grad * most / n
        return :: Your function changes its input
        gradient *= most / n => gradient -= most / n :: The factor is *subtracted*. Multiply each gradient by it.
        n > most => True ;; gradient *= most / n => gradient *= most / gradient.norm() :: That brings each gradient to the length `most` separately, even a short one. All of them together have one length. Scale them all by one factor, and only if that length is too large.
        """),
    exercise(r"""
        11.4 the last few steps
        solution: truncated
        probe: _truncated_probe
        why: From step `steps - keep` on there are `keep` steps left. Everything before that counts as a plain number.
        shows: The value never changes; the gradient is that of the last steps. With `keep = steps` it is the full gradient.
        look: Count the steps that come after the cut.
        hint: With five steps, 0 to 4, the last two are 3 and 4.
        hint: The state is detached *before* the product of that step.
        hint: `step == steps - keep`

        h = h.detach() => break :: `break` ends the loop at the cut, so the last steps never run. Cut, and go on.
        h = h.detach() => w = w.detach()      :: That detaches the weight: the steps after the cut send it no gradient, and it gets the gradient of the *first* steps only.
        for step in range(steps): => for _step in range(keep): ;; if step == steps - keep: => ;; h = h.detach() => :: Only the last steps were *computed*. The value should be that of all `steps` steps.
        h = h.detach() => h = (w * h).detach(); continue :: The cut comes after the product, one step too late.
        h.detach() => torch.tensor(1.0)       :: The state starts again at the cut. `detach()` keeps its *value* and drops the history.
        steps - keep => 3                     :: 3 is right for one call. The cut comes `keep` steps before the end, whatever `steps` and `keep` are: `steps - keep`.
        step == steps - keep: => step < keep: :: That detaches in the first `keep` iterations. The gradient should see the *last* `keep`: detach once, `keep` iterations before the end.
        instead of step == steps - keep:
        step % keep == 0         :: That cuts every `keep` steps, so the number of steps that are seen varies. Cut once, `keep` steps before the end.
        step == steps - keep - 1 :: One step too early: the gradient sees `keep + 1` steps.
        step == steps - keep + 1 :: One step too late: the gradient sees one step fewer than it should.
        step == steps // keep    :: That divides. The cut comes `keep` steps before the end: `steps - keep`.
        step == keep             :: That leaves out the first `keep` steps. The *last* `keep` should be seen: count from the end.
        True                     :: That detaches in each step, or in each of the last ones, so the gradient sees only the very last step. Detach once.
        False                    :: Nothing is cut: the gradient sees all steps. (`h.detach()` on its own line changes nothing: it returns a new tensor. Write `h = h.detach()`.)
        """),
    exercise(r"""
        11.5 piece by piece
        solution: read_on
        probe: _reading_probe
        why: `h.detach()` has the numbers of the last state and no history. So each graph begins with its own piece.
        shows: You can read on for as long as you like, and each graph is only as long as one piece.
        look: Carry the state over as plain numbers.
        hint: What should be carried from piece to piece, and what should not?
        hint: Lesson 8: a new tensor with the same numbers and no history.
        hint: `h = h.detach()`

        pieces[0].shape[1] => 3               :: 3 is the width in one call. The state has as many entries as a row of a piece: `pieces[0].shape[1]`.
        w.grad = None =>                      :: The gradient of the previous piece is still in `w.grad`, and the new one is added. Clear it before each pass: `w.grad = None`.
        w -= lr * w.grad => w -= 0.1 * w.grad :: 0.1 is the learning rate of one call. Use `lr`, whatever it is.
        return losses => >>                   :: Only one piece was read: the `return` is inside the loop. Put it after the loop.
        (h**2) => h                           :: The loss is the mean of the *squares*: `(h**2).mean()`.
        h.detach() => h ;; loss.backward() => loss.backward(retain_graph=True) :: That keeps the old graph, but the old graph belongs to the old weight: `w` has changed since then.
        instead of h.detach():
        loss.item() => loss :: Each loss in the list holds the graph of its piece.
        h                        :: The second graph grows on top of the first, whose saved values have been freed. Carry the state over without its history: `h = h.detach()` (`h.detach()` on its own line changes nothing).
        torch.zeros_like(h)      :: Each piece begins from zero: what was read before is forgotten. Keep the numbers.
        h.mean().detach()        :: That carries over the mean of the states. Carry over each number.
        h = h.detach() => ;; w * h + x => w * h.detach() + x :: That detaches in every *step*, so the gradient sees only the last step of a piece. Detach once per piece.
        torch.ones_like(h)       :: Each piece begins from ones. Carry the state over instead.
        """),
]
