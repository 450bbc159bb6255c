"""Exercises of lesson 16, forward mode and vmap: rules for dual numbers, passes, both sides, a gradient for each sample."""

from __future__ import annotations

import math
from collections.abc import Iterator

import minigrad as torch

from .model import Complaint, Exercise, Question
from .sheet import exercise, question


def sine(a):
    return math.sin(a[0]), a[1] * math.cos(a[0])


def divide(a, b):
    return a[0] / b[0], (a[1] * b[0] - a[0] * b[1]) / b[0] ** 2


def both_sides(f, x, u, v):
    _, moved = torch.func.jvp(f, (x,), (u,))
    _, pull_back = torch.func.vjp(f, x)
    left = (v * moved).sum()
    right = (pull_back(v)[0] * u).sum()
    return left, right


def each_gradient(w, b, X, T):
    def loss(w, b, x, t):
        return ((w * x).sum() + b - t) ** 2

    return torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T)


class Dual:
    """As the lesson has it."""

    def __init__(self, value, tangent):
        self.value, self.tangent = value, tangent

    def __add__(self, other):
        return type(self)(self.value + other.value, self.tangent + other.tangent)

    def __mul__(self, other):
        tangent = self.tangent * other.value + self.value * other.tangent
        return type(self)(self.value * other.value, tangent)


class Richer(Dual):
    def exp(self):
        return type(self)(torch.exp(self.value), self.tangent * torch.exp(self.value))

    def __sub__(self, other):
        return type(self)(self.value - other.value, self.tangent - other.tangent)


# what the checks try


def _pair(what: str, answer) -> Iterator[tuple]:
    if answer is None or answer is ...:
        yield f"The tangent of {what}", answer
        return
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise Complaint(f"Return two numbers for {what}: the value, then the tangent.")
    yield f"The value of {what}", answer[0]
    yield f"The tangent of {what}", answer[1]


def _duals(sine, divide) -> Iterator[tuple]:
    for a in ((0.7, 3.0), (-2.0, 0.5), (0.5, 1.0)):
        yield from _pair(f"sine of {a}", sine(a))
    for a, b in (
        ((3.0, 2.0), (-4.0, 5.0)),
        ((1.5, -1.0), (2.5, 0.7)),
        ((4.0, 0.0), (5.0, 2.0)),
        ((3.0, 1.0), (2.0, 0.0)),
    ):
        yield from _pair(f"{a} divided by {b}", divide(a, b))


def _products(x):
    return torch.stack([x[0] * x[1], x[1] * x[2]])


def _waves(x):
    return torch.stack([torch.sin(x[0]) * x[1], x[0] * x[0], torch.exp(x[1])])


def _wrong_rule(x):
    """A sine whose backward is three times too large: if the two sides still agree, one of them was not computed."""
    y = torch.sin(x)
    if y.requires_grad:
        y.register_hook(lambda grad: 3 * grad)
    return y * x


def _sides() -> list[tuple]:
    return [
        (_products, torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, -1.0, 2.0]), torch.tensor([1.0, 10.0])),
        (_waves, torch.tensor([0.5, 1.5]), torch.tensor([2.0, -0.5]), torch.tensor([1.0, -2.0, 0.3])),
        (_wrong_rule, torch.tensor([0.5, 1.5]), torch.tensor([2.0, -0.5]), torch.tensor([1.0, -2.0])),
    ]


def _batches() -> list[tuple]:
    w, b = torch.tensor([0.5, -1.0, 2.0]), torch.tensor(0.3)
    X = torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0], [3.0, 1.0, 1.0], [0.5, 0.5, -2.0]])
    more = torch.tensor([[1.0, -1.0], [2.0, 0.5], [0.0, 3.0], [-1.5, 1.0], [2.0, 2.0], [0.5, -0.5]])
    return [
        (w, b, X, torch.tensor([1.0, 0.0, 2.0, -1.0])),
        (w[:2] * -1, -b, more, torch.tensor([0.5, -1.0, 2.0, 0.0, 1.0, 3.0])),
    ]


def _rules(Richer) -> Iterator[tuple]:
    a = Richer(torch.tensor([0.5, -1.0]), torch.tensor([1.0, -3.0]))
    b = Richer(torch.tensor([2.0, 4.0]), torch.tensor([0.5, -2.0]))
    yield "The value of exp", a.exp().value
    yield "The tangent of exp", a.exp().tangent
    yield "The value of a - b", (a - b).value
    yield "The tangent of a - b", (a - b).tangent
    deep = (a * b - a.exp()).exp()
    if not isinstance(deep, Richer):
        raise Complaint(
            f"The result is a `{type(deep).__name__}`, so the next operation on it fails: make it with `type(self)(value, tangent)`."
        )
    yield "The tangent of exp(a * b - exp(a))", deep.tangent


# what people write


QUESTIONS: list[Question] = [
    question(r"""
        16.a the tangent of x³ + x at 2
        truth: 13.0
        found: Yes: 12 from the cube, and 1 more from $x$ itself.
        missed: 12 from the cube and 1 from $x$: 13. In a sum the tangents are added.

        12.0 :: That is the cube's part. $x$ itself moves with speed 1, and speeds add up in a sum.
        10.0 :: That is the *value*, $8 + 2$. How fast does it move?
        14.0 :: To the cube's 12 you add the *tangent* of $x$, 1, not its value, 2.
        24.0 :: In a sum the tangents are added, not multiplied.
        6.5  :: Nothing is averaged: the tangents are added.
        """),
    question(r"""
        16.b J u with u = (0, 1, 0)
        truth: [1.0, 3.0]
        found: Yes: the second column.
        missed: $(1, 3)$, the second column: how both outputs move with $x_1$.

        [0.0, 3.0, 2.0] :: That is the second *row*, which a backward pass gives. How do both outputs move with $x_1$?
        [2.0, 0.0]      :: That is the first column. $u$ picks the second.
        [0.0, 2.0]      :: That is the third column. $u$ picks the second.
        [2.0, 6.0]      :: Those are the values $y$. How fast do they move when $x_1$ moves?
        [1.0, 3.0, 0.0] :: There are two outputs, so two numbers.
        [2.0, 1.0, 0.0] :: That is the first *row*. A forward pass gives a column.
        """),
    question(r"""
        16.c the number of axes inside vmap over a tensor of shape (8, 3)
        truth: 1.0
        counts: True
        found: Yes: one sample of three numbers. The batch axis is hidden.
        missed: One: the function sees one sample of three numbers; the batch axis is hidden.

        2.0 :: That is what `X` has outside. Inside, the batch axis is hidden.
        3.0 :: That is the *length* of the one axis that is left.
        8.0 :: That is the number of samples, and the function sees one of them.
        0.0 :: One sample has three numbers, along one axis.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        16.1 two more rules
        solution: (sine, divide)
        probe: _duals
        why: The tangent of $g(a)$ is $g'(a)\,a'$. For a quotient it is $(a'b - a b')/b^2$, the rule from school with tangents instead of derivatives.
        shows: With one rule per operation, any formula made of such operations can be differentiated while it is computed.
        look: The derivative from school, times the tangent that comes in. In a quotient both parts may move.
        hint: What is the derivative of the sine? It is multiplied by the tangent that comes in, `a[1]`.
        hint: The quotient rule from school: $(a/b)' = (a'b - ab')/b^2$.
        hint: `a[1] * math.cos(a[0])`, and `(a[1] * b[0] - a[0] * b[1]) / b[0] ** 2`.

        a[1] * math.cos(a[0]) => a[0] * math.cos(a[1]) :: Value and tangent are the wrong way round: the slope is taken at the value `a[0]`.
        math.sin(a[0]), a[1] * math.cos(a[0]) => a[1] * math.cos(a[0]), math.sin(a[0]) :: The pair is the wrong way round: first the value, then the tangent.
        lambda a: (math.sin(a[0]), a[1] * math.sin(a[0])), divide :: The slope of the sine is the *cosine*, taken at the value.
        lambda a: (math.sin(a[0]), math.cos(a[0] * a[1])), divide :: The tangent is inside the cosine. The slope is taken at the value alone, and then multiplied by the tangent.
        sine, lambda a, b: (a[0] / b[0], a[1] * b[0] - a[0] * b[1] / b[0] ** 2) :: Only the second part is divided by $b^2$. Both should be: put brackets around the difference.
        sine, lambda a, b: (a[0] / b[0], (a[1] * b[0] - a[0] * b[1]) / a[0] ** 2) :: You divide by the square of the wrong number. Divide by the square of the divisor, $b^2$.
        lambda a: (math.sin(a[0]), math.cos(a[0])), divide :: That is the local derivative alone: what comes in, `a[1]`, is missing. The result is right only where that is 1.
        lambda a: (math.sin(a[0]), math.cos(a[1])), divide :: Take the cosine at the *value*, and multiply it by the tangent.
        lambda a: (math.sin(a[0]), math.sin(a[1])), divide :: The sine of a speed is not a speed. Take the derivative at the value, and multiply by the tangent.
        lambda a: (math.sin(a[0]), -a[1] * math.cos(a[0])), divide :: The sign is wrong: the derivative of the sine is *plus* the cosine.
        lambda a: (math.sin(a[0]), a[1]), divide   :: The tangent passes through unchanged. The sine's own slope is missing.
        lambda a: (math.sin(a[0]), a[1] + math.cos(a[0])), divide :: The local derivative and the tangent are multiplied, not added.
        sine, lambda a, b: (a[0] / b[0], a[1] / b[1] if b[1] else 0.0) :: The tangent of a quotient is not the quotient of the tangents.
        sine, lambda a, b: (a[0] / b[0], a[1] / b[0]) :: That is right if `b` does not move. When it does, a second term is subtracted.
        sine, lambda a, b: (a[0] / b[0], (a[1] * b[0] + a[0] * b[1]) / b[0] ** 2) :: The sign is wrong: where `a` and `b` are positive and `b` grows, the quotient gets *smaller*.
        sine, lambda a, b: (a[0] / b[0], a[1] * b[0] - a[0] * b[1]) :: The division by $b^2$ is missing.
        sine, lambda a, b: (a[0] / b[0], (a[1] * b[0] - a[0] * b[1]) / b[0]) :: You divide by $b$. Divide by $b^2$.
        sine, lambda a, b: (a[0] / b[0], (a[0] * b[1] - a[1] * b[0]) / b[0] ** 2) :: The two products are swapped: it should be $a'b$ minus $ab'$.
        sine, lambda a, b: (a[0] / b[0], a[1] / b[1]) :: You divide by `b[1]`, the *speed* of `b`, which may be 0. Divide by the square of its value, `b[0] ** 2`.
        lambda a: (math.sin(math.radians(a[0])), a[1] * math.cos(math.radians(a[0]))), divide :: `math.radians` treats the number as degrees, but it is in radians already: write `math.sin(a[0])`.
        sine, lambda a, b: (a[0] // b[0], (a[1] * b[0] - a[0] * b[1]) / b[0] ** 2) :: `//` divides and rounds down. The quotient is `a[0] / b[0]`.
        sine, lambda a, b: (a[0] / b[0], a[1] * b[0] + a[0] * b[1]) :: That is the rule of a *product*. In a quotient the second part is subtracted, and both are divided by $b^2$.
        sine, lambda a, b: (a[0] / b[0], (a[1] * b[0] - a[0] * b[1]) / b[0] * 2) :: `b[0] * 2` is not the square, and Python divides first and then multiplies. Write `/ b[0] ** 2`.
        sine, lambda a, b: (a[0] / b[0], 1 / b[0]) :: The tangents are missing. How fast `a` and `b` move decides how fast the quotient moves.
        sine, lambda a, b: (a[0] / b[0], (a[1] - b[1]) / b[0]) :: The two tangents do not count equally: $a'$ is multiplied by $b$, and $b'$ by $a$.
        sine, lambda a, b: (a[0] * b[0], (a[1] * b[0] - a[0] * b[1]) / b[0] ** 2) :: The value is that of a product. Divide: `a[0] / b[0]`.
        lambda a: (math.cos(a[0]), a[1] * math.cos(a[0])), divide :: The tangent is right. The *value* of the sine is the sine.
        sine, lambda a, b: (a[0] / b[0], a[1] / b[0] - b[1] / a[0]) :: The second part should be $a\,b'/b^2$: the value of `a` times the tangent of `b`, divided by the square of `b`.
        sine, lambda a, b: (a[0] / b[0], a[1] / b[0] - a[0] * b[1] / b[0]) :: The second part should be divided by the *square* of `b[0]`.
        sine, lambda a, b: (a[0] / b[0], (a[1] * b[0] - a[0] * b[1]) / b[0] ^ 2) :: In Python `^` is not a power. Write `b[0] ** 2`.
        """),
    exercise(r"""
        16.2 how many passes?
        solution:
            net_forward = 5000  # one for each input, that is each weight
            net_backward = 1  # one for each output: the loss
            arm_forward = 3  # three motors
            arm_backward = 120  # 40 points with 3 coordinates each
        counts: 1
        rtol: 1e-5
        why: Forward: one column of the Jacobian per pass, one pass for each input. Backward: one row per pass, one pass for each output.
        shows: The network goes backward, the arm forward. Begin at the side with fewer numbers.
        look net_forward: A forward pass gives one column. How many inputs are there?
        look net_backward: A backward pass gives one row. How many outputs are there?
        look arm_forward: A forward pass gives one column. What are the inputs of the arm?
        look arm_backward: A backward pass gives one row. How many numbers come out?
        hint: Forward: as many passes as inputs. Backward: as many as outputs.
        hint: The inputs of the network's loss are its weights. A point has three coordinates.

        arm_backward = 60   :: That is half the right answer: 40 points, and each has three coordinates.
        arm_backward = 240  :: That is twice the right answer: 40 points, and each has three coordinates.
        arm_forward = 6     :: That is twice as many as you need: each motor is moved once, and all points are watched.
        arm_forward = 40    :: That is the number of points. In the forward direction the inputs count: the motors.
        arm_forward = 360   :: That is the number of *entries* of the Jacobian. A forward pass fills a whole column.
        arm_backward = 43   :: Only what comes *out* counts, and each point has three coordinates.
        net_forward = 1     :: One forward pass moves one input. There are 5,000 weights to move.
        net_backward = 5000 :: One backward pass reaches all weights at once. There is one output to start from.
        1, 5000, 3, 120     :: You have swapped the two directions for the network.
        5000, 1, 120, 3     :: You have swapped the two directions for the arm.
        1, 5000, 120, 3     :: You have swapped the directions: forward counts inputs, backward counts outputs.
        arm_forward = 120   :: That is the number of *outputs*. In the forward direction the inputs count: the motors.
        arm_forward = 1     :: One forward pass turns one motor. There are three.
        arm_backward = 40   :: 40 points, but each has three coordinates, and each of these is an output.
        arm_backward = 3    :: That is the number of motors. In the backward direction the outputs count.
        arm_backward = 1    :: One backward pass begins at one output. There is more than one here.
        net_forward = 2500  :: Nothing is halved or shared: each weight needs its own pass.
        net_forward = 10000 :: One pass for each weight, not two.
        net_backward = 0    :: Without a pass there is no gradient.
        arm_backward = 360  :: The number of motors does not matter here: there are 40 points with 3 coordinates each.
        net_backward = 2    :: The loss is one number.
        arm_forward = 9     :: Three motors, and each is turned once.
        """),
    exercise(r"""
        16.3 both sides
        solution: both_sides
        cases: _sides
        returns: ("left", "right")
        why: `moved` and `v` have the shape of the output, `pull_back(v)[0]` and `u` that of the input. Each pair gives one number, and the two numbers are equal.
        shows: Two passes in opposite directions agree on one number. For the function with a wrong rule that the check also tried, they do not.
        look: Two dot products: one between vectors of the output's shape, one between vectors of the input's.
        hint: `moved` is $J u$. Which of `u` and `v` has the same shape?
        hint: `pull_back(v)` is a tuple with one entry, $v^\top J$.
        hint: `v @ moved` and `pull_back(v)[0] @ u`.

        _, moved = torch.func.jvp => moved, _ = torch.func.jvp :: `jvp` returns the value first and the tangent second: you took the value.
        (pull_back(v)[0] * u).sum() => pull_back(v)[0].sum() * u.sum() :: You multiply two sums. A dot product multiplies entry by entry, and then adds up.
        (v * moved).sum() => moved     :: That is $J u$ itself, one number for each output. You need its dot product with `v`.
        (pull_back(v)[0] * u).sum() => pull_back(v)[0] :: That is $v^\top J$ itself, one number for each input. You need its dot product with `u`.
        (pull_back(v)[0] * u).sum() => pull_back(v) @ u :: `pull_back` returns a tuple, even for one input. Take its entry `[0]`.
        (pull_back(v)[0] * u).sum() => (pull_back(v) * u).sum() :: `pull_back(v)` is a tuple, and a tuple cannot be multiplied by a tensor. Take its one entry, `[0]`.
        (pull_back(v)[0] * u).sum() => pull_back(moved)[0] @ u :: `pull_back` should take `v`, the direction that you were given, not `moved`.
        (v * moved).sum() => moved.sum() :: A sum is the dot product with ones. `v` is not used.
        (pull_back(v)[0] * u).sum() => pull_back(v)[0].sum() :: A sum is the dot product with ones. `u` is not used.
        (v * moved).sum() => u @ moved :: `moved` has the shape of the *output*. It goes with `v`.
        (pull_back(v)[0] * u).sum() => pull_back(u)[0] @ v :: `pull_back` takes something that has the output's shape: `v`.
        (v * moved).sum() => v * moved ;; (pull_back(v)[0] * u).sum() => pull_back(v)[0] * u :: Those are the products entry by entry. Add them up.
        (v * moved).sum() => (v * moved).mean() ;; (pull_back(v)[0] * u).sum() => (pull_back(v)[0] * u).mean() :: Those are averages. A dot product adds up.
        (pull_back(v)[0] * u).sum() => left                     :: The number is right as long as all the rules are right. But your right side is made from `moved`, as the left is, so it cannot check anything: make it from `pull_back(v)[0]` and `u`.
        (v * moved).sum() => (pull_back(v)[0] * u).sum()                   :: The number is right as long as all the rules are right. But your left side comes from the backward pass, as the right does: make it from `moved` and `v`.
        (v * moved).sum() => moved @ u :: $Ju$ has the shape of the *output*, and so has `v`.
        (pull_back(v)[0] * u).sum() => pull_back * u  :: `pull_back` is a function: it walks back when it is called, `pull_back(v)`.
        (v * moved).sum() => abs(v) @ moved :: `abs` does not belong there: `v` has signs, and they count.
        (pull_back(v)[0] * u).sum() => pull_back(v)[0] @ abs(u) :: `abs` does not belong there: `u` has signs, and they count.
        (v * moved).sum() => -(v @ moved) ;; (pull_back(v)[0] * u).sum() => -(pull_back(v)[0] @ u) :: Both sides have the wrong sign, so they agree. But a dot product has no minus.
        """),
    exercise(r"""
        16.4 a gradient for each sample
        solution: each_gradient
        cases: _batches
        why: `loss` is written for one sample. `grad` differentiates it with respect to its first argument, `w`. `in_dims=(None, None, 0, 0)`: the weights are shared, the samples are not.
        shows: A gradient for each sample. With `vmap` one call gives all of them, and the loss knows nothing about batches.
        look: You need the loss of *one* sample, and an entry of `in_dims` for each of the four arguments.
        hint: Inside, `x` is one sample: a row of three numbers. What is its loss?
        hint: `in_dims` has an entry for each argument: `None` for what all samples share, 0 for what has one row per sample.
        hint: `(w @ x + b - t) ** 2`, and `in_dims=(None, None, 0, 0)`.

        (None, None, 0, 0) => (0, 0, 0, 0)             :: `w` and `b` have no sample axis: all samples share them.
        (None, None, 0, 0) => 0                        :: 0 stands for all four. But `w` and `b` have no sample axis, because all samples share them.
        (None, None, 0, 0) => (None, 0, 0)             :: There are four arguments, so `in_dims` needs four entries.
        (None, None, 0, 0) => (None, None, 0, None)    :: A loss is one number. `w * x` has several entries (you need the dot product), and so does a `t` that holds all samples: each sample has its own.
        (None, None, 0, 0) => (None, None, 1, 0)       :: The samples are the *rows* of `X`, axis 0.
        ((w * x).sum() + b - t) ** 2 => w @ x + b - t :: The square is missing: the loss is the *square* of the distance from `t`.
        ((w * x).sum() + b - t) ** 2 => (w @ x - t) ** 2 :: The bias is missing from the loss.
        ((w * x).sum() + b - t) ** 2 => (w @ x + b) ** 2 :: The target is missing: the loss is the square of the distance from `t`.
        ((w * x).sum() + b - t) ** 2 => (w @ x + b + t) ** 2 :: The target is *subtracted*: `- t`.
        ((w * x).sum() + b - t) ** 2 => 0.5 * (w @ x + b - t) ** 2 :: That is half the right answer. There is no factor of one half in this loss, and the slope of a square is *twice* what is squared.
        torch.func.grad(loss) => torch.func.grad(loss, argnums=1)                        :: That is the gradient of the bias. `w` is the first argument.
        torch.func.grad(loss) => torch.func.grad(loss, argnums=2)                        :: That is the gradient of the *sample*. `w` is the first argument.
        torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T) => torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T).sum(0)        :: That is the sum of the gradients, the batch gradient. You need each one separately.
        torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T) => torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T).mean(0)       :: That is the mean of the gradients. You need each one separately.
        torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T) => torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T).T             :: The samples are in the columns. You need a row for each.
        ((w * x).sum() + b - t) ** 2 => abs(w @ x + b - t) :: That is the distance from `t`. The loss is its *square*.
        (None, None, 0, 0) => (None, None, None, None) :: With `None` four times, there is nothing to map over. `X` and `T` have one row per sample: axis 0.
        return ((w * x).sum() + b - t) ** 2 => return ((X @ w + b - T) ** 2).sum() :: Your loss uses `X` and `T`, the whole batch, so every sample gets the gradient of all of them. Inside, use `x` and `t`.
        return ((w * x).sum() + b - t) ** 2 => return ((X @ w + b - T) ** 2).mean() :: Your loss is the mean over the whole batch, `X` and `T`. Inside, use `x` and `t`, one sample.
        return ((w * x).sum() + b - t) ** 2 => return ((w * x + b - t) ** 2).sum() :: You square each product on its own, with a bias and a target for each. First add the products up: `(w * x).sum()`.
        in_dims=(None, None, 0, 0) => in_dims=(0, None, 0, 0) :: `w` has no sample axis: all samples share it, so its entry is `None`.
        in_dims=(None, None, 0, 0) => in_dims=[None, None, 0, 0] :: Write `in_dims` as a tuple, with round brackets.
        torch.stack([2 * (w @ X[i] + b - T[i]) * X[i] for i in range(4)]) :: 4 is the number of samples in one batch. Go through all of them: `range(len(X))`.
        torch.stack([2 * (w @ X[0] + b - T[0]) * X[0] for _ in X]) :: Every row is the gradient of the first sample. Use `X[i]` and `T[i]`.
        ((w * x).sum() + b - t) ** 2 => abs(w @ x + b - t) ** 3 :: That is the third power of the distance. The loss is its *square*.
        torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T) => -torch.func.vmap(torch.func.grad(loss), in_dims=(None, None, 0, 0))(w, b, X, T)              :: The sign is wrong. The minus belongs to the step, not to the gradient.
        """),
    exercise(r"""
        16.5 more rules for the interpreter
        solution: Richer
        probe: _rules
        why: $\exp$ is its own derivative: take it at the value, and multiply by the tangent. The tangent of a difference is the difference of the tangents.
        shows: With two more rules, any formula made of these operations can be run forward, and nested. PyTorch's forward mode has a rule like these for each operation.
        look: The derivative from school, at the value, times the tangent that comes in.
        hint: What is the derivative of $e^x$? It is taken at the value and multiplied by `self.tangent`.
        hint: If two things move, how fast does their difference move?
        hint: `self.tangent * torch.exp(self.value)` and `self.tangent - other.tangent`.

        self.tangent * torch.exp(self.value) => self.tangent * self.value :: The slope of the exponential is the exponential of the value, not the value.
        self.tangent - other.tangent => -other.tangent :: The tangent of `self` is missing: both move.
        self.tangent * torch.exp(self.value) => torch.exp(self.value)     :: That is the local derivative alone: the tangent that comes in is missing.
        self.tangent * torch.exp(self.value) => torch.exp(self.tangent)     :: That is $e$ to the *speed*. Take the derivative at the value, and multiply it by the tangent.
        self.tangent * torch.exp(self.value) => self.tangent                :: The tangent comes out unchanged. Multiply it by the slope of $e^x$.
        self.tangent * torch.exp(self.value) => self.tangent * self.value * torch.exp(self.value - 1) :: That is the rule for powers, $x^n$. Here the exponent moves: $e^x$ is its own derivative.
        self.tangent * torch.exp(self.value) => self.tangent + torch.exp(self.value) :: The local derivative and the tangent are multiplied, not added.
        self.tangent - other.tangent => self.tangent + other.tangent  :: That is the rule of a sum. In a difference the tangents are subtracted.
        self.tangent - other.tangent => other.tangent - self.tangent  :: The order is swapped: `self` minus `other`.
        self.tangent - other.tangent => self.tangent       :: `other` moves as well.
        self.tangent - other.tangent => self.value - other.value    :: That is the *value* once more. How fast does it move?
        self.tangent - other.tangent => self.tangent * other.value - self.value * other.tangent :: That looks like the rule of a quotient. A difference is simpler.
        self.tangent * torch.exp(self.value) => -self.tangent * torch.exp(self.value) :: The sign is wrong: $e^x$ rises everywhere, so its slope is positive.
        self.tangent * torch.exp(self.value) => abs(self.tangent) * torch.exp(self.value) :: `abs` does not belong there: a tangent may be negative.
        type(self)(torch.exp(self.value) => type(self)(torch.exp2(self.value)                  :: `exp2` is $2^x$. You need $e^x$, `torch.exp`.
        self.tangent * torch.exp(self.value) => self.value * torch.exp(self.value) :: You multiply by the *value*. Multiply by the tangent, `self.tangent`.
        self.tangent * torch.exp(self.value) => self.value * torch.exp(self.tangent) :: Value and tangent are swapped: take the exponential at the value, and multiply it by the tangent.
        self.tangent * torch.exp(self.value) => torch.exp(self.value * self.tangent) :: The tangent is inside the exponential. Multiply the exponential by it.
        self.tangent * torch.exp(self.value) => self.tangent * torch.exp(-self.value) :: There is a minus in the exponent. The slope of $e^x$ is $e^x$.
        self.tangent - other.tangent => self.tangent * other.tangent :: The two tangents are multiplied. In a difference they are subtracted.
        """),
    exercise(r"""
        16.6 which one fits?
        solution:
            training = "b"  # one output
            dial = "a"  # one input
            outliers = "c"  # a gradient for each sample
            bend = "d"  # a direction, through a gradient
        words: {"forward": "a", "forward mode": "a", "reverse": "b", "reverse mode": "b", "hvp": "d"}
        why: One output: backward. One input: forward. One gradient for each sample: `vmap` of `grad`. The change of a gradient in a direction is a Hessian-vector product: the tangent is carried through the gradient.
        shows: You choose by counting: are there fewer inputs or fewer outputs?
        look training: How many inputs, how many outputs?
        look dial: How many inputs, how many outputs?
        look outliers: Do you need one gradient, or one for each sample?
        look bend: What should be differentiated here, and in how many directions?
        hint: Count the inputs and outputs of each.
        hint: Few outputs: backward. Few inputs: forward. One of the four asks for the derivative of a gradient.

        training = "a"     :: One forward pass moves one weight. There are 10 million.
        training = "c"     :: That gives a gradient for each sample, more than you need.
        training = "d"     :: That is how the gradient *changes*. You need the gradient itself.
        dial = "b"         :: One backward pass begins at one output. There are 1,000.
        dial = "c"         :: There are no samples here: one dial, many outputs.
        dial = "d"         :: No gradient of a gradient is needed: one dial, many outputs.
        outliers = "b"     :: One backward pass of the batch adds up the gradients of all samples.
        outliers = "a"     :: That shows how everything moves with one input. You need a gradient for *each sample*.
        outliers = "d"     :: That is how the gradient changes. You need a gradient for *each sample*.
        bend = "a"         :: One forward pass through the *loss* gives its slope in that direction. Here the *gradient* should be differentiated.
        bend = "b"         :: That is the gradient. How does *it* change?
        bend = "c"         :: There are no samples here: one gradient, and one direction in which it changes.
        "a", "b", "c", "d" :: The first two are swapped: training has one output, the dial is one input.
        """),
]
