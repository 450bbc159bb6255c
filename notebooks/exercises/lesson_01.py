"""Exercises of lesson 01, A slope you can check: nudge, chain rule, signs, the sigmoid, and what makes a chain steeper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad as torch

from .model import Complaint, Exercise, Question
from .sheet import exercise, question


def central(f, x, h):
    return (f(x + h) - f(x - h)) / (2 * h)


def sigmoid_slope(t):
    s = torch.sigmoid(t)
    return s * (1 - s)


def slopes_by(answer: Any) -> Iterator[tuple[str, Any]]:
    """Probe: the learner's slopes of five functions, and the points at which they are evaluated.

    The functions, points and sizes of h are chosen so that different mistakes give different slopes.
    """
    for formula, f, x, h in (
        ("x**3 - 2 * x", lambda x: x**3 - 2 * x, 3.0, 0.3),
        ("x**2 + x", lambda x: x**2 + x, -2.0, 0.7),
        ("1 / x", lambda x: 1 / x, 4.0, 1.5),
        ("5 - 7 * x", lambda x: 5 - 7 * x, 1.0, 0.125),
        ("x**4", lambda x: x**4, 10.0, 0.01),
    ):
        runs: list[Any] = []

        def counted(place: Any, f: Any = f, runs: list[Any] = runs) -> Any:
            runs.append(place)
            return f(place)

        slope = answer(counted, x, h)
        if slope is not None and not runs:
            raise Complaint(
                "`f` was not run at all for that number. A nudge runs it twice: a little to the right, a little to the left."
            )
        yield f"For `{formula}` at {x:g}, with h = {h:g}:", slope
        if isinstance(slope, int | float) and abs(slope - central(f, x, h)) <= 1e-3 * abs(slope):
            continue  # right, however it was found
        steps = sorted({float(f"{(float(run) - x) / h:.3g}") for run in runs if isinstance(run, float | int)})
        yield f"For `{formula}` it runs `f` at x plus h times", steps


def places_of_a_nudge(seen: dict[str, Any]) -> str:
    """What is wrong with a nudge that is not a listed answer: where it evaluates `f`, or what it does with the values."""
    steps = next((steps for label, steps in seen.items() if "it runs" in label), None)
    if not isinstance(steps, np.ndarray):
        return ""
    if steps.size > 2:
        return (
            f"`f` is run at {steps.size} places. Formulas with more places are more exact, but use two "
            "here: $x + h$ and $x - h$."
        )
    if steps.tolist() == [0.0]:
        return "`f` is run at `x` alone. A nudge compares the values at *two* places: $x + h$ and $x - h$."
    if steps.size == 1:
        return "Both values are taken at the same place, so they never differ. The two places are $x + h$ and $x - h$."
    if abs(steps[0] + steps[1]) < 1e-3 * abs(steps[1]) and steps[1] != 1.0:
        if all(np.array_equal(steps, other) for label, other in seen.items() if "it runs" in label):
            return f"You go {steps[1]:g} times $h$ to each side. Go $h$ to each side, and divide by $2h$."
        return "You use your own step, as far to the left as to the right. Use the `h` that you are given."
    if steps.tolist() != [-1.0, 1.0]:
        return "The two places are $x + h$ and $x - h$. Yours are different: look at what is inside the brackets of `f`."
    return "`f` is run at the right two places. But what you return is not how far $f$ moved, divided by how far $x$ moved."


QUESTIONS: list[Question] = [
    question(r"""
        1.a how steep x**3 - 2x is at x = 2
        truth: slope(lambda x: x**3 - 2 * x, 2.0)
        found: Yes: 10 up for each 1 to the right, by nudging and by the rules from school.
        missed: It is 10. From the drawing alone it is hard to say; between $x = 1.9$ and $x = 2.1$ the curve climbs by 2.

        4.0  :: 4 is how *high* the curve is at $x = 2$. How fast it climbs there is a different question: 10.
        12.0 :: 12 is the slope of $x^3$ alone. The $-2x$ takes 2 away.
        2.0  :: 2 is the value of $x$, or the height divided by $x$: $4/2$. The tangent is steeper: 10.
        8.0  :: 8 is $x^3$ at 2. The slope of $x^3$ is $3x^2 = 12$, and $-2x$ takes 2 away.
        6.0  :: The slope of $x^3$ is $3x^2$, so 12 and not $3x = 6$ or $2^3 = 8$; and $-2x$ takes 2 away.
        """),
    question(r"""
        1.b how far y = (3x + 1)**2 moves per unit of x, at x = 2
        truth: slope(lambda x: (3 * x + 1) ** 2, 2.0)
        found: Yes: 3 times as large, and then 14 times as large. If you magnify twice, the factors are multiplied.
        missed: When $x$ moves by 0.001, $u$ moves by 0.003, and $y$ by 14 times that: 0.042.

        17.0 :: $14 + 3$. But the second step magnifies what the first has already magnified: $14 \cdot 3 = 42$.
        14.0 :: 14 is per unit of $u$. When $x$ moves by 1, $u$ moves by 3.
        3.0  :: 3 is how far $u$ moves. $y$ moves 14 times as far.
        49.0 :: 49 is the value of $y$. Its slope is $14 \cdot 3 = 42$.
        12.0 :: That is $2 \cdot x \cdot 3$. The square acts on $u = 7$, not on $x = 2$: $2 \cdot 7 \cdot 3 = 42$.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        1.1 the judge
        solution: central
        probe: slopes_by
        diagnose: places_of_a_nudge
        why: How far $f$ moved, divided by how far $x$ moved. From $x - h$ to $x + h$ it is $2h$.
        shows: You have a judge for every slope: it needs nothing but the function. (Do not rely on it at a kink or a jump: see below.)
        look: How far has $f$ moved, between which two places? And how far apart are they?
        hint: In the numerator: the value on the right, minus the value on the *left*. Where is the left point?
        hint: In the denominator: how far is it from $x - h$ to $x + h$?
        hint: `f(x - h)` in the numerator and `(2 * h)` in the denominator. Mind the brackets around `2 * h`.

        (f(x + h) - f(x - h)) / h                 :: From $x - h$ to $x + h$ it is $2h$, not $h$: your slope is twice as large as it should be.
        (f(x + 2 * h) - f(x - 2 * h)) / h         :: You go $2h$ to each side, and divide by $h$ alone: your slope is four times as large as it should be. Go $h$ to each side, and divide by $2h$.
        (f(x + h) - f(x - h)) / (4 * h)           :: The two places are $x + h$ and $x - h$. From one to the other it is $2h$, not $4h$.
        (f(x + 2 * h) - f(x - 2 * h)) / (2 * h)   :: You go $2h$ to each side, so from one place to the other it is $4h$. Go $h$ to each side, and divide by $2h$.
        (f(x + 2 * h) - f(x - 2 * h)) / (4 * h)   :: That is the nudge by $2h$ to each side, and a good one. But $h$ is given: go $h$ to each side, and divide by $2h$.
        (f(x + 2 * h) - f(x)) / (2 * h)           :: That goes $2h$ to one side. It is more exact to go $h$ to each side: the two places are $x + h$ and $x - h$.
        (f(x + h) - f(x)) / h                     :: That is the nudge to one side. It works, but it is less exact: use the point on the left, $x - h$, as well.
        (f(x + h) - f(x)) / (2 * h)               :: You divide by the distance from $x - h$ to $x + h$, but the left value is taken at $x$. Take it at $x - h$.
        (f(x + h) - f(x - h)) / 2 * h             :: Python evaluates `/ 2 * h` from left to right: divided by 2, then *multiplied* by `h`. Write `/ (2 * h)`.
        f(x + h) - f(x - h) / (2 * h)             :: Only the second value is divided. Put brackets around the difference.
        (f(x + h) - (x - h)) / (2 * h)            :: On the left you subtract the *place*, `x - h`. Subtract the value there: `f(x - h)`.
        (f(x + h) - 2 * f(x) + f(x - h)) / h**2   :: That is the second derivative: how fast the *slope* changes. The slope is how far $f$ moved, divided by how far $x$ moved.
        (f(x + h) - f(x - h)) / h**2              :: The distance by which $x$ was moved is $2h$, with a single $h$. You divide by $h$ squared.
        (f(x + h) - f(x - h)) / (2 * h**2)        :: Almost: $2h$ and not $2h^2$. How far is it from $x - h$ to $x + h$?
        (f(x + h) - f(x - h)) / 2 * 1e-3          :: Python works from left to right: that is divided by 2 and then *multiplied*.
        (f(x + 0.001) - f(x - 0.001)) / 0.002     :: That is nearly the slope, but with your own small step. Use the `h` that you are given, whatever it is.
        (f(x - h) - f(x + h)) / (2 * h)           :: Left minus right: so it has the wrong sign. How far does $f$ go *up* when $x$ goes to the right?
        (f(x + h) + f(x - h)) / (2 * h)           :: The two values are added. How far $f$ has *moved* is their difference.
        f(x + h) - f(x - h)                       :: That is how far $f$ has moved. How far has $x$ moved? Divide by it.
        (f(x + h) - f(x - h)) / (x + h - x - h)   :: Python reads `x + h - x - h` from left to right, and it is 0. The distance from $x - h$ to $x + h$ is $2h$.
        (f(x + h) - f(h - x)) / (2 * h)           :: The place on the left is $x - h$. You have $h - x$.
        (f(x + h) - f(-x - h)) / (2 * h)          :: The place on the left is $x - h$. $-x - h$ is on the other side of 0.
        (f(x + h) - f(x - h)) / (2 + h)           :: Two times $h$ is `2 * h`: that is the distance between the two places.
        (f(x + h) - f(x) - h) / (2 * h)           :: The $h$ is subtracted from the *value*. It belongs inside the brackets: $f$ at the place $x - h$.
        (f(x) - f(x - h)) / h                     :: That is the nudge to the left side only. Use the point on the right, $x + h$, as well.
        (f(x + h) - f(x - h)) / (2 * x)           :: Divide by how far $x$ was *moved*, $2h$, not by $x$ itself.
        (f(x + h) - f(x - h)) / 2                 :: Divide how far $f$ moved by how far $x$ moved, which is $2h$, not 2.
        (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h) :: `f` is run at 4 places.
        (f(x + h) - f(x + h)) / (2 * h)           :: Both values are taken at the same place, $x + h$, so their difference is always 0. The place on the left is $x - h$.
        (f(x + h) - f(x) - f(h)) / (2 * h)        :: You subtract $f(x)$ and $f(h)$, the values of `f` at two other places. Subtract its value at $x - h$.
        round((f(x + h) - f(x - h)) / (2 * h), 1) :: You round the result. The formula is right: return it as it is, with all its digits.
        int((f(x + h) - f(x - h)) / (2 * h))      :: `int` and `round` turn it into a whole number. A slope need not be one: return it as it is.
        (f(x + h) - f(x - h)) // (2 * h)          :: `//` divides and rounds down to a whole number. Use `/`.
        (f(x + h / 2) - f(x - h / 2)) / h         :: That goes half of `h` to each side and is a good nudge. But `h` says how far to go to *each* side: $x + h$ and $x - h$, and then divide by $2h$.
        abs(f(x + h) - f(x - h)) / (2 * h)        :: `abs` makes every slope positive. Where a function falls, its slope is negative: leave `abs` out.
        (f(x + h) - f(x - h)) / 0.6               :: 0.6 is $2h$ for one particular `h`. Divide by `2 * h`, whatever `h` is.
        (f(x + h) - f(x - h)) * (2 * h)           :: You multiply by $2h$. A slope is how far $f$ moved *divided* by how far $x$ moved.
        max((f(x + h) - f(x)) / h, (f(x) - f(x - h)) / h) :: That picks the larger of the two one-sided slopes. Go to both sides at once: from $x - h$ to $x + h$.
        return (f(x + h) - f(x - h)) / (2 * h) => t = torch.tensor(x, requires_grad=True); f(t).backward(); return t.grad :: That is the machine's own answer, by a backward pass. The judge has to do without it: nudge `x`, and use the `h` that you are given.
        """),
    exercise(r"""
        1.2 a chain of two
        solution:
            du_dx = 2 * 2.0         # 2x at x = 2
            dy_du = 3 * 5.0**2      # 3u**2 at u = 5
            dy_dx = dy_du * du_dx   # along a path: multiply
        why: Each local derivative is taken at the number that went into its step: the square at $x = 2$, the cube at $u = 5$.
        shows: Two local derivatives, one product. A longer chain just has more factors.
        look du_dx: What is the derivative of $x^2 + 1$, at $x = 2$?
        look dy_du: What is the derivative of $u^3$, and what is $u$?
        look dy_dx: Nudge $x$ by 0.001 and follow it through both steps.
        hint: First the values: what is $u$ at $x = 2$?
        hint: The local derivative of $x^2 + 1$ is $2x$, at $x = 2$. That of $u^3$ is $3u^2$, at $u = 5$.
        hint: Along a path local derivatives are multiplied.

        dy_du = 37.5      :: That is half the right answer. A slope is not divided between the two steps: each step has its own whole slope.
        dy_du = 25.0      :: The square of $u$ alone. The derivative of a cube has a factor in front.
        dy_du = 0.0       :: Does $u^3$ stay where it is when $u$ moves? A slope of 0 would mean that.
        du_dx = 0.0       :: $x^2 + 1$ does move with $x$: put in 2 and 2.1. Only the $+1$ does not move.
        dy_dx = 0.0       :: A nudge of $x$ gets through both steps: neither of the two local derivatives is 0.
        dy_dx = 100.0     :: $4 \cdot 25$: the factor 3 of $3u^2$ got lost on the way.
        dy_dx = 600.0     :: Something is counted twice. There is one path from $x$ to $y$, with one number for each step.
        dy_dx = 1.0       :: 1 is where the walk back begins, at $y$. Then come the two steps.
        dy_dx = 39.5      :: That is the mean of the two, $(4 + 75)/2$. Nothing is averaged along a path, and nothing added: *multiply*.
        dy_dx = 150.0     :: That is half of the product. Nothing is averaged along a path: $u$ moves 4 per unit of $x$, and $y$ 75 per unit of $u$.
        dy_dx = 37.5      :: 75 was halved. Nothing is averaged along a path: multiply the 75 by how far $u$ moves per unit of $x$.
        dy_dx = 18.75     :: You divided. $y$ moves 75 per unit of $u$, and $u$ moves *4* per unit of $x$: more, not less.
        dy_dx = 125.0     :: 125 is the *value* of $y$. How far it moves when $x$ does is the product of the two lines above.
        dy_dx = 4.0       :: 4 is how far $u$ moves. How far does that move $y$?
        dy_dx = 12.0      :: That is $3x^2$ at $x = 2$: but the cube is taken of $u$, which is 5. Multiply the two lines above.
        dy_du = 30.0      :: $6u$ is the slope of $3u^2$: you have taken the derivative twice. Once is enough.
        dy_du = 6.0       :: $3 \cdot 2$ is not the derivative of $u^3$. That is $3u^2$, at $u = 5$.
        dy_dx = 15.0      :: $3 \cdot 5$? The whole slope is the product of the two lines above, and of nothing else.
        dy_du = 3.0       :: 3 is only the factor: the derivative of $u^3$ is $3u^2$, at $u = 5$.
        dy_du = 10.0      :: $2u$ is the slope of $u^2$. Here $u$ is cubed.
        dy_du = 27.0      :: $3^3$? The derivative of $u^3$ is $3u^2$, and $u$ is $2^2 + 1$.
        dy_du = 48.0      :: The derivative is $3u^2$, and $u$ is 5 (you have taken $u = 4$: the 1 is missing).
        dy_du = 225.0     :: You squared $3u$ as a whole. $3u^2$ is $3 \cdot 25$.
        du_dx = 4.5       :: The $+1$ does not move: the slope of $x^2 + 1$ is that of $x^2$.
        du_dx = 3.0       :: $2 + 1$? The derivative of $x^2$ is $2x$: put $x = 2$ in. The $+1$ does not move, so it adds nothing.
        du_dx = 1.0       :: 1 would be the slope of $x + 1$. Here $x$ is squared: $2x$ at 2.
        du_dx = 8.0       :: $2x^2$ is 8. The derivative of $x^2$ is $2x$.
        4.0, 75.0, 79.0   :: Both local derivatives are right. Along a path they are *multiplied*, not added.
        4.0, 12.0, 48.0   :: The cube is applied to $u$, so its derivative $3u^2$ is taken at $u = 5$, not at $x = 2$.
        4.0, 75.0, 75.0   :: 75 is per unit of $u$. When $x$ moves by 1, $u$ moves by more than that.
        5.0, 75.0, 375.0  :: The $+1$ does not move, so it adds nothing to the slope of $u$; 5 is the value of $u$.
        4.0, 125.0, 500.0 :: 125 is the *value* of $u^3$. Its derivative is $3u^2$.
        4.0, 25.0, 100.0  :: The 3 is missing: the derivative of $u^3$ is $3u^2$.
        4.0, 15.0, 60.0   :: $3u$ is 15. The derivative of $u^3$ is $3u^2$.
        2.0, 75.0, 150.0  :: The slope of $x^2$ is not 2 everywhere. It is $2x$, and $x$ is 2.
        """),
    exercise(r"""
        1.3 up or down
        solution:
            at_minus_1_5 = 1    # below zero, and rising
            at_minus_0_5 = -1   # above zero, and falling
            at_0 = -1           # at zero, and falling
        rtol: 1e-6
        allowed: (1, -1, 0)
        why: The formula agrees: $3x^2 - 2$ is 4.75, $-1.25$ and $-2$ at the three places.
        shows: How high a curve is and which way it goes have nothing to do with each other.
        look at_minus_1_5: Only `1`, `-1` or `0`: does the curve rise there, fall, or lie flat?
        look at_minus_0_5: Only `1`, `-1` or `0`: which way does the curve go, a little to the right of that place?
        look at_0: Only `1`, `-1` or `0`: follow the curve *through* that point.
        hint: Put your finger on the curve at the place and move it a little to the *right*. Does it go up or down?
        hint: Whether the curve is above or below the line at 0 does not matter.

        -1, 1, 0          :: That says where the curve lies below, above and on the line at 0. The question is which way it *goes*.
        -1, 1, 1          :: All three are the other way round. Walk from left to right.
        -1, -1, 0         :: Those are the signs of $x$. Look at the curve: does it rise or fall at that place?
        1, -1, 0          :: At 0 the curve passes *through* the line, and it is not flat there: it goes from above to below.
        1, 1, -1          :: At $-0.5$ the curve is already past its top and on its way down.
        4.75, -1.25, -2   :: Those are the slopes themselves, and they are right. Enter only their signs: `1`, `-1` or `0`.
        at_0 = 1          :: At 0 the curve comes from its top, on the left, and is on its way to its bottom, on the right.
        at_minus_1_5 = 0  :: At $-1.5$ the curve is steep. It is flat only at its top and at its bottom, at about $-0.8$ and $0.8$.
        at_minus_1_5 = -1 :: At $-1.5$ the curve is low, but it climbs. Which way does it *go* as you walk to the right?
        1, 0, -1          :: The top, where it is flat, is at about $-0.8$. At $-0.5$ the curve is on its way down.
        """),
    exercise(r"""
        1.4 the sigmoid
        solution: sigmoid_slope
        cases: lambda: [(torch.tensor([0.0, 2.0]),), (torch.tensor([-4.0, -1.0, 0.5, 3.0]),), (torch.tensor(-1.5),)]
        why: With $v = 1 + e^{-t}$, $\sigma = 1/v$. A chain of two: $-1/v^2$ times $-e^{-t}$ is $e^{-t}/v^2$, and that is $\frac{1}{v} \cdot \frac{v - 1}{v} = \sigma (1 - \sigma)$.
        shows: The slope is largest in the middle, 0.25, and dies away on both sides, where a sigmoid passes hardly anything back.
        without backward grad: The numbers are right, and the machine found them. Here, do it without `backward()`: write the slope with $\sigma(t)$ alone.
        look: At $t = 0$, where $\sigma$ is 0.5, the slope is 0.25; and it is the same on both sides.
        hint: Look at the table: $\sigma = 0.5$ has the slope 0.25. And 0.8808 has the same slope as 0.1192. What do these two add up to?
        hint: Multiply 0.8808 by 0.1192.
        hint: `s = torch.sigmoid(t)`. Return `s` times the difference between 1 and `s`.

        s = torch.sigmoid(t) => u = t.detach().clone().requires_grad_() ;; return s * (1 - s) => torch.sigmoid(u).sum().backward(); return u.grad :: Here, do it without `backward()`
        (torch.sigmoid(t) + 1 - torch.sigmoid(t)) / 2 :: The two factors were averaged. A slope is a *product* of local derivatives: $\sigma$ times $1 - \sigma$.
        torch.sigmoid(t) * 1 - torch.sigmoid(t)   :: Zero everywhere: Python multiplies before it subtracts, so that is $\sigma \cdot 1 - \sigma$. Add brackets: $\sigma$ times $(1 - \sigma)$.
        torch.sigmoid(t) - 1                      :: That is one factor, with the wrong sign. The sigmoid rises everywhere, so no slope is negative.
        2 * torch.sigmoid(t)                      :: The slope is small where the sigmoid is flat, at both ends. Yours is large on the right: look at the table once more.
        (torch.sigmoid(t + 0.001) - torch.sigmoid(t - 0.001)) / 0.002 * 0 + 0.25 :: 0.25 is right at 0. On both sides it dies away: the slope has to depend on `t`.
        torch.sigmoid(t) * (1 - t)                :: The first factor is right. The other factor is $1 - \sigma(t)$, not $1 - t$.
        torch.sigmoid(t) * torch.sigmoid(1 - t)   :: The 1 belongs outside: $1 - \sigma(t)$, and not $\sigma$ of $1 - t$.
        torch.sigmoid(t) / (1 - torch.sigmoid(t)) :: The two factors are right, but multiply them. (Divided, they make $e^t$.)
        torch.sigmoid(t) * (1 + torch.sigmoid(t)) :: Almost: $1 - \sigma$, not $1 + \sigma$.
        torch.sigmoid(t)                          :: That is the value of the sigmoid. Its slope is smaller: look at the second column.
        1 - torch.sigmoid(t)                      :: This is one of two factors. At $t = 0$ the slope is 0.25: half of what you have.
        1 - torch.sigmoid(t) ** 2                 :: $1 - s^2$ belongs to another squeezing function, the tanh. For the sigmoid, multiply $s$ by $1 - s$.
        t * (1 - t)                               :: The right shape of formula, but with $t$ in it. It should be $\sigma(t)$ instead of $t$.
        torch.sigmoid(t) ** 2                     :: At 0 it is right, by chance. At 4 the slope is small; yours is large. Multiply by $1 - s$.
        torch.exp(-t)                             :: That is the slope of the inside, without its sign. The outside, $1/v$, has a local derivative too: $-1/v^2$.
        1 / (1 + torch.exp(-t)) ** 2 * -torch.exp(-t) :: The sign: the sigmoid rises, so no slope is negative. With $\sigma$: the factor is $1 - \sigma$, not $\sigma - 1$. With $v$: two minus signs meet, that of $-1/v^2$ and that of $-e^{-t}$.
        torch.clamp(torch.sigmoid(t) * (1 - torch.sigmoid(t)), max=0.2) :: You cut the slope off at 0.2. It is largest in the middle, 0.25, and needs no limit.
        torch.sigmoid(t) * (1 - torch.sigmoid(t)) * t :: The two factors are right. The extra `t` does not belong there: $t$ appears only in $\sigma(t)$.
        torch.sigmoid(abs(t)) * (1 - torch.sigmoid(t)) :: `abs` does not belong there. The two factors $\sigma$ and $1 - \sigma$ already make the slope the same on both sides.
        torch.sigmoid(t) * (1 - torch.tanh(t))    :: Both factors are made of the *same* $\sigma(t)$: there is no tanh in the sigmoid's slope.
        0.25 * torch.exp(-t * t / 4)              :: That is a bell that looks like the slope but is a different curve. Use $\sigma$: $\sigma$ times $1 - \sigma$.
        (torch.sigmoid(t + 0.1) - torch.sigmoid(t - 0.1)) / 0.2 :: That is a nudge, and with a step of 0.1 it is only nearly right. Write the slope with $\sigma(t)$ itself.
        (torch.sigmoid(t) * (1 - torch.sigmoid(t))).sum() :: You add the slopes up. Each entry of `t` has its own slope: leave out the `sum`.
        torch.sigmoid(t * (1 - t))                :: The sigmoid goes on the outside there, and the formula inside. It is the other way round: first $\sigma(t)$, then $\sigma$ times $1 - \sigma$.
        torch.sigmoid(t) - torch.sigmoid(t) * 2   :: That is $-\sigma$. What you should subtract is the *square*: $\sigma - \sigma^2$.
        1 - torch.tanh(t) ** 2                    :: That is the slope of the tanh. For the sigmoid $\sigma$ it is $\sigma$ times $1 - \sigma$.
        torch.tanh(t) * (1 - torch.tanh(t))       :: The form is right, but with the wrong function in it: it is the sigmoid that is multiplied by one minus itself.
        """),
    exercise(r"""
        1.5 twice as steep
        solution:
            b = 8.0     # u = 6 + 8 = 14, and 2 * 14 * 3 = 84
            why = "b"
        why: The first step multiplies by 3, whatever $b$ is. The second multiplies by $2u$, and $u = 6 + b$. For $2u$ to double, $u$ has to go from 7 to 14.
        shows: A local derivative depends on the number that the step was given. So the forward pass has to come first.
        look b: The slope is $2u \cdot 3$, with $u = 3 \cdot 2 + b$. Which $u$ makes it 84?
        hint: The slope is $2u \cdot 3$. One of the two factors has to become twice as large.
        hint: $u$ has to be 14, and $u = 3 \cdot 2 + b$.
        hint: Did the 3 change? Did $2u$ change?

        b = 9.0   :: With $b = 9$, $u$ is 15 and the slope is 90. What must $u$ be, for $6u = 84$?
        b = -6.0  :: With $b = -6$, $u$ is 0 and so is the slope. What must $u$ be, for $6u = 84$?
        2.0, "b"  :: With $b = 2$, $u$ is 8 and the slope is $2 \cdot 8 \cdot 3 = 48$. It is $u$ that has to double, not $b$.
        7.0, "b"  :: 7 more than before is right, but $b$ was 1 before. With $b = 7$, $u$ is 13 and the slope is 78.
        14.0, "b" :: 14 is what $u$ has to be. $u = 6 + b$.
        b = 0.5   :: Half of $b$ makes it less steep: then $u$ is 6.5. It should become *twice* as steep.
        b = 1.0   :: With $b = 1$ it is the old slope, 42.
        b = 4.0   :: With $b = 4$, $u$ is 10 and the slope is 60. What must $u$ be, for $6u = 84$?
        b = 3.0   :: With $b = 3$, $u$ is 9 and the slope is 54. What must $u$ be, for $6u = 84$?
        b = 6.0   :: With $b = 6$, $u$ is 12 and the slope is 72. What must $u$ be, for $6u = 84$?
        b = -20.0 :: With $b = -20$, $u$ is $-14$ and the slope is $-84$: just as steep, but downhill. Twice as steep as 42 is 84.
        b = 84.0  :: 84 is the slope that you want. $b$ is in $u = 3x + b$.
        b = 42.0  :: 42 is the slope as it was. $b$ is in $u = 3x + b$.
        b = 13.0  :: $14 - 1$: but what is added to $b$ is $3x = 6$, not 1.
        8.0, "a"  :: The $b$ is right. The local derivative of $3x + b$ is 3 for any $b$: an added constant does not move.
        8.0, "c"  :: The $b$ is right. But one of the two local derivatives is still 3.
        8.0, "d"  :: The $b$ is right. $y$ went from 49 to 196, four times as much; and a value is not a slope.
        """),
]
