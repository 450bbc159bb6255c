"""Exercises of lesson 00, Start here: a slope, a function with a given slope, and what a slope depends on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad as torch

from .model import Complaint, Exercise, Question
from .sheet import exercise, question
from .values import describe


def slope_of_f(f: Any) -> Iterator[tuple[str, Any]]:
    """Probe: the gradient that backward() leaves in x when y = f(x), at three places."""
    for place in (4.0, -1.5, 10.0):
        x = torch.tensor(place, requires_grad=True)
        y = f(x)
        if x.grad is not None:
            raise Complaint(
                "`x.grad` is already filled inside your function. Only the backward pass should do that: return a `y` that "
                "has the slope."
            )
        if y is None:
            raise Complaint(
                "`f` returns `None`. Return `y` itself: is there a `return`? (`print` only shows a value.)"
            )
        if not isinstance(y, torch.Tensor):
            raise Complaint(
                f"`f` returns {describe(y, 40)}. It should return something that was computed from `x`."
            )
        if not y.requires_grad:
            elsewhere = f(torch.tensor(place + 1.0, requires_grad=True))
            if bool((elsewhere != y.detach()).any()):
                raise Complaint(
                    "The *value* of `f` depends on `x`, but the way back is cut: nothing was recorded (`detach` or `no_grad` "
                    "does that). Use `x` itself."
                )
            raise Complaint(
                "The result of `f` does not depend on `x`, so its slope is 0 everywhere. Use `x` in it."
            )
        y.sum().backward()
        if x.grad is None:
            raise Complaint(
                "The result asks for a gradient, but the way back from it does not lead to `x`: it was made from a plain "
                "number (`.item()`, `float` or `torch.tensor` does that). Compute with `x` itself."
            )
        if not x.grad.any():
            elsewhere = f(torch.tensor(place + 1.0, requires_grad=True))
            if bool((elsewhere.detach() != y.detach()).any()):
                raise Complaint(
                    "The value of `f` moves with `x`, but its slope is 0: part of it was taken out of the graph (`.item()` or "
                    "`detach` does that). Compute with `x` itself."
                )
        yield f"At x = {place:g} the slope is", x.grad


def straight_or_not(seen: dict[str, Any]) -> str:
    """What is wrong with slopes that match no listed answer: the line has a different slope, or it is not a line."""
    slopes = [float(slope) for slope in seen.values() if isinstance(slope, np.ndarray)]
    if len(slopes) < 3:
        return ""
    if max(slopes) - min(slopes) > 1e-4:
        return (
            "The slope differs from place to place, so your `f` is not one straight line. Multiply `x` by a single "
            "number, the same one everywhere."
        )
    if slopes[0] == 0:
        return "Your `f` is flat: it does not move when `x` does. What is `x` multiplied by in it, overall?"
    return f"It is a straight line, but with another slope, {slopes[0]:g}. Which number is `x` multiplied by in it, overall?"


QUESTIONS: list[Question] = [
    question(r"""
        0.a the gradient of y = 3 * x at x = 2
        truth: slope(lambda x: 3 * x, 2.0)
        found: Yes. Every step in $x$ makes a step three times as long in $y$, wherever $x$ is.
        missed: The gradient is the 3: when $x$ goes up by a little, $y$ goes up by three times as much.

        6.0  :: 6 is the *value* of $y$. The gradient says how fast $y$ changes: 3 per unit of $x$.
        2.0  :: 2 is the value of $x$. The gradient says how fast $y$ changes: 3 per unit of $x$.
        0.03 :: 0.03 is how far $y$ moves when $x$ moves by 0.01. The gradient is the ratio: $0.03 / 0.01 = 3$.
        1.0  :: 1 would be the gradient of $y = x$. Here every step in $x$ is multiplied by 3.
        """)
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        0.1 read a slope
        solution:
            slope = 7.0
        why: $7x$ grows by 7 whenever $x$ grows by 1. The value of $x$ makes no difference.
        shows: The slope of $7x$ is 7, and $x = 2$ was only the place where you looked.
        look slope: What is $7x$ at 2, and what is it at 3?
        hint: What is $7x$ at $x = 2$, and what is it at $x = 3$?
        hint: It goes from 14 to 21 while $x$ goes up by 1.

        0.7 :: From 2 to 3, $x$ goes up by 1, not by 10.
        6.0   :: 6 was the value of $3x$, in the lesson above. Here $x$ is multiplied by a different factor, and the question is not about the value.
        7 / 3 :: $7/3$: nothing is divided. When $x$ goes up by 1, how far does $7x$ go up?
        14.0  :: 14 is the value of $y$ at $x = 2$. How much does it *grow* when $x$ goes from 2 to 3?
        2.0   :: 2 is the value of $x$, not how fast $y$ grows.
        0.07  :: That is how far $y$ moves when $x$ moves by 0.01. The slope is the ratio of the two.
        3.5   :: That is $7/2$. Nothing is divided by $x$: how far does $y$ move per unit of $x$?
        1.0   :: 1 is where the way back begins. The multiplication then scales it.
        0.0   :: A slope of 0 would mean that $y$ does not change when $x$ moves. Compute it for $x = 2$ and $x = 3$.
        None  :: `None` is what is in `x.grad` *before* the backward pass. After it, there is a number.
        4.0   :: $7 - 3$: the 3 belongs to the lesson's example. Here there is only $7x$.
        9.0   :: $7 + 2$: nothing is added. How far does $y$ move per unit of $x$?
        3.0   :: 3 was the slope of $3x$. Here the factor is different.
        5.0   :: $7 - 2$: nothing is subtracted. How far does $y$ move per unit of $x$?
        0.14  :: $0.07 \cdot 2$? The slope is how far $y$ moves, divided by how far $x$ moves.
        1 / 7 :: That is upside down: how far $x$ moves per unit of $y$. The question is the other way round.
        21.0  :: 21 is the value of $y$ at $x = 3$. Subtract the value at $x = 2$.
        """),
    exercise(r"""
        0.2 make a slope
        solution:
            def f(x):
                return -5 * x
        names: ("f",)
        probe: slope_of_f
        diagnose: straight_or_not
        why: The factor in front of $x$ is the slope. A constant that is added, as in $-5x + 100$, moves the line and leaves the slope as it is.
        shows: Whatever $x$ is, a step to the right takes your $y$ five times as far down.
        look: Which number multiplies `x`, and does anything else depend on `x`?
        hint: Which number in `3 * x` made the gradient 3?
        hint: The gradient should be negative: $y$ has to *fall* when $x$ grows.

        5 * x                     :: The steepness is right, but this line rises. Which sign makes it fall?
        x - 5                     :: Adding or subtracting a number moves the line up or down and leaves its slope at 1. Multiply instead.
        -x                        :: It falls, but only by 1 per unit of `x`. It should fall by 5: what counts is the number that multiplies `x`.
        -5 * x.detach()           :: The *value* of `f` depends on `x`, but the way back is cut
        -3 * x                    :: That is the 3 of the example, with a minus. It should fall by 5 per unit of `x`.
        return torch.tensor(-5.0) :: The result of `f` does not depend on `x`
        return -5                 :: It should return something that was computed from `x`.
        torch.tensor(-5 * x.item(), requires_grad=True) :: the way back from it does not lead to `x`
        -5 * abs(x)               :: `abs` makes negative numbers positive: left of 0 that line rises. It should fall everywhere.
        x**-5                     :: `**` is a power: that is $1/x^5$, a curve. `*` multiplies.
        x / -5                    :: Dividing by 5 makes the line flatter. It should be five times as steep.
        -5 * x * x                :: That is a curve: its slope is different at every $x$. Use `x` once.
        x * x - 5 * x             :: $-5x$ is right, but $x^2$ has a slope too, $2x$, and the two are added. Leave the square out.
        torch.relu(-5 * x)        :: `relu` turns everything below 0 into 0, so your line is flat wherever $x$ is positive. Leave it out.
        -5 * x.item() + 0 * x     :: The value of `f` moves with `x`, but its slope is 0
        -5 * x**0                 :: Your `f` is flat
        -x**5                     :: `**` is a power: $x^5$ is a curve. `*` multiplies.
        x**5                      :: `**` is a power: $x^5$ is a curve. `*` multiplies, and a minus makes the line fall.
        """),
    exercise(r"""
        0.3 what depends on x
        solution:
            answer = "a"
        why: $y = 3x$ is 6 at 2 and 30 at 10: the value moves with $x$. Its gradient is the 3, and there is no $x$ in that.
        shows: The value depends on $x$. The slope of a straight line does not.
        hint: Write 10.0 instead of 2.0 in the cell that makes `x`, and run the cells below it again.

        "b" :: Try it: with $x = 10$ the gradient is 3 as before. It is the value of $y$ that moves.
        "c" :: The value moves, from 6 to 30. The gradient stays: there is no $x$ in the number 3.
        "d" :: $y$ is $3x$. With $x = 10$, what is it?
        """),
]
