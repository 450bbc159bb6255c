"""Exercises of lesson 15, gradients of gradients: a ladder, a Hessian, a product with it, Newton, a penalty, two repairs."""

from __future__ import annotations

from collections.abc import Iterator

import minigrad as torch

from .model import Complaint, Exercise, Question
from .sheet import exercise, question
from .side_effects import ASKS, GRAD, VALUES, Watch, counted_passes


def hessian(f, x):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    rows = []
    for i in range(len(x)):
        (row,) = torch.autograd.grad(g[i], x, retain_graph=True)
        rows.append(row)
    return torch.stack(rows)


def hvp(f, x, v):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    (product,) = torch.autograd.grad(g @ v, x)
    return product


def newton(f, x):
    H = torch.func.hessian(f)(x)
    (g,) = torch.autograd.grad(f(x), x)
    return x - torch.linalg.solve(H, g)


def with_penalty(out, x):
    (g,) = torch.autograd.grad(out, x, create_graph=True)
    return out + (g.norm() - 1) ** 2


class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(x, square)
        return square * x, square

    @staticmethod
    def backward(ctx, grad, square_grad):
        x, square = ctx.saved_tensors
        return grad * 3 * square + square_grad * 2 * x


# what the checks try


def _lesson(x):
    return (x * x * x).sum() + x[0] * x[1]


def _three(x):
    return x[0] * x[1] * x[1] + torch.sin(x[2]) * x[0] + torch.exp(x[1])


def _leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


def _products() -> list[tuple]:
    return [
        (_lesson, _leaf(1.0, 2.0), torch.tensor([1.0, -1.0])),
        (_three, _leaf(2.0, 0.5, 1.0), torch.tensor([1.0, 3.0, 2.0])),
    ]


def _wide(x):
    return (x**3).sum() + x[0] * x[1] - x[-1] * x[1]


def _two_passes(hvp) -> None:
    """A Complaint about a product that is right but took one pass per input, or a nudge."""
    v = torch.linspace(-1.0, 1.0, 40)
    x = (v * 2 + 0.3).requires_grad_()
    places: list = []

    def listened(at):
        places.append(at.detach().tolist() if isinstance(at, torch.Tensor) else at)
        return _wide(at)

    with counted_passes() as passes:
        hvp(listened, x, v)
    if any(isinstance(at, list) and at != x.tolist() for at in places):
        raise Complaint(
            "The product is right, or nearly. But `f` was run at points other than `x`: that is a nudge of the gradient, and a nudge "
            "is never exact. Differentiate the recorded gradient instead: two passes, both at `x`."
        )
    if len(passes) > 3:
        raise Complaint(
            f"The product is right. But with 40 inputs it took {len(passes)} backward passes: that builds the whole table, row by row. "
            "Two passes are enough, however many inputs there are: one for `g`, one for `g @ v`."
        )


def _bowl(x):
    return (x * x * torch.tensor([3.0, 5.0])).sum() + x[0] * x[1] - x[0]


def _curved(x):
    return torch.exp(x[0]) + x[1] ** 4 + x[0] * x[1]


def _penalties(with_penalty) -> Iterator[tuple]:
    """The loss, and what arrives at the weight, for two models."""
    for model, at in (
        (lambda w, x: (w * x * x).sum(), (2.0, -1.0)),
        (lambda w, x: torch.tanh(w * x).sum(), (0.5, -1.0, 2.0)),
    ):
        w = torch.tensor(1.5, requires_grad=True)
        x = _leaf(*at)
        watch = Watch(w=w, x=x)
        loss = with_penalty(model(w, x), x)
        besides = watch.first_change({GRAD, VALUES, ASKS})
        if not isinstance(loss, torch.Tensor):
            raise Complaint("Return a loss, a tensor that `backward()` can start from.")
        if loss.numel() != 1:
            raise Complaint(
                f"The loss has the shape {tuple(loss.shape)}. The *length* of the gradient is one number: `g.norm()`."
            )
        yield "The loss", loss.detach()
        if not loss.requires_grad:
            raise Complaint(
                "The loss has no way back to the weights any more: `out` itself must stay in it as it is."
            )
        loss.backward()
        yield "w.grad after `loss.backward()`", w.grad
        if besides:
            raise Complaint(besides)


def _slopes(cube, x: float) -> tuple:
    """The first and the second derivative at x of what cube(x) gives, as the Function computes them."""
    x = torch.tensor(x, requires_grad=True)
    (g,) = torch.autograd.grad(cube(x), x, create_graph=True)
    if not g.requires_grad:
        return g, None
    return g.detach(), torch.autograd.grad(g, x)[0]


def _repaired(Again, Both) -> Iterator[tuple]:
    """Slopes of the cube squared and of x times Both's second output. A first derivative alone would not reveal the fault."""
    if Again is ... or Both is ...:
        yield "your answer", ...
        return
    for at in (2.0, -3.0):
        parts = (
            ("Again: the cube squared", lambda x: Again.apply(x) * Again.apply(x)),
            ("Both: the cube squared", lambda x: Both.apply(x)[0] * Both.apply(x)[0]),
            ("Both: the square, its second output, times x", lambda x: Both.apply(x)[1] * x),
        )
        for name, function in parts:
            value = function(torch.tensor(at))
            yield f"{name}, at {at:g}", value
            first, second = _slopes(function, at)
            yield f"{name}: its slope at {at:g}", first
            if second is None:
                raise Complaint(
                    "The slope is right. But it comes without a history, so it cannot be differentiated again: something in "
                    "`backward` cuts it off (`detach()`, `no_grad`, `.item()`)."
                )
            yield f"{name}: the slope of the slope at {at:g}", second


# what people write


def _column_sums(f, x):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.stack([torch.autograd.grad(g.sum(), x, retain_graph=True)[0] for _ in range(len(x))])


QUESTIONS: list[Question] = [
    question(r"""
        15.a the second derivative of x² at 5
        truth: 2.0
        found: Yes: $2x$ rises by 2 with each unit, everywhere.
        missed: The slope is $2x$: 10 at 5, 12 at 6. It changes by 2 with each unit.

        10.0  :: That is the slope, $2x$. The question is how fast *that* changes.
        25.0  :: That is $x^2$ itself.
        100.0 :: That is the slope squared. The second derivative is the slope of $2x$.
        0.0   :: The slope $2x$ is not constant: at 5 it is 10, at 6 it is 12.
        1.0   :: $2x$ rises by more than that when $x$ goes from 5 to 6.
        5.0   :: The slope is $2x$, and its own slope is the same everywhere.
        """),
    question(r"""
        15.b x.grad after backward(create_graph=True) and x.grad.backward()
        truth: 105.0
        found: Yes: 75 from the first pass, and 30 added by the second.
        missed: The first pass leaves 75, the second brings 30 and adds it: 105.

        30.0   :: The second pass does add 30. But what was in `x.grad` before it, and has anything cleared that?
        75.0   :: That is what the first pass leaves. The second adds its own.
        150.0  :: The second pass adds the slope of the slope, 30, and not 75 once more.
        2250.0 :: $75 \cdot 30$: the gradients of two passes are added, not multiplied.
        0.0    :: Nothing clears `x.grad` between the two passes.
        """),
    question(r"""
        15.c the gradient of g.sum()
        truth: "b"
        found: Yes: the gradient of the sum of all entries of $g$ is the sum of the rows of $H$.
        missed: It is **b**: the gradient of a sum is the sum of the gradients, so the rows of $H$ are added up.

        "a" :: That would be true if $H$ had only zeros off its diagonal. Here $g_0$ depends on $x_1$ as well, and the sum includes that.
        "c" :: One backward pass gives one number for each *input*: two numbers, not four.
        "d" :: `g.sum()` is a single number with a recorded history, so a pass can begin there.
        """),
]

EXERCISES: list[Exercise] = [
    exercise(r"""
        15.1 a ladder by hand
        solution:
            slope = 3 * 3**2 + 2 * 3  # 3x² + 2x
            second = 6 * 3 + 2  # 6x + 2
            third = 6  # a constant
            fourth = 0  # of a constant
            x_grad = None  # autograd.grad returns its result and leaves .grad alone
        why: Each step differentiates the line above: $3x^2 + 2x$, $6x + 2$, $6$, $0$. `torch.autograd.grad` returns what it finds and writes nothing into `.grad`.
        shows: Each rung is the derivative of the one before, and none of them touched `.grad`.
        look slope: Differentiate $x^3$ and $x^2$ separately, and add.
        look second: Differentiate the *formula* of the slope, not its number.
        look third: Differentiate the formula of the second derivative.
        look fourth: What is the slope of a constant?
        look x_grad: Where does `torch.autograd.grad` put its result?
        about third: The second derivative is a straight line in $x$. How steep is it?
        about fourth: The third derivative no longer depends on $x$.
        about x_grad: The section above printed `x.grad` after one call.
        hint: Write down the formulas first: $x^3 + x^2$, then its derivative, then the derivative of that. Put in 3 at the end.
        hint: The slope is $3x^2 + 2x$.

        second = 11   :: $3 \cdot 3 + 2$: but the derivative of $3x^2$ is $6x$.
        slope = 45    :: $3x^2$ is 27 at 3, and the derivative of $x^2$ is $2x$, which is 6.
        slope = 30    :: $x^3$ contributes 27. $x^2$ has the slope $2x$, and that is 6 at 3, not 3.
        slope = 15    :: $x^3$ has the slope $3x^2$, not $3x$: 27 and 6.
        second = 8    :: $3x^2$ has the slope $6x$, which is 18 at 3. Add the 2.
        second = 24   :: $2x$ has the slope 2 everywhere, not 6.
        second = 56   :: $3x^2$ has the slope $6x$, not $6x^2$.
        slope = 16.5  :: That is half the right answer. The slopes of the two terms are added, not averaged.
        slope = 66    :: That is twice as much as it should be: each term is differentiated once.
        slope = 0     :: A slope of 0 would be a flat place. At 3 both terms rise.
        second = 10   :: That is half the right answer: the slopes of $3x^2$ and of $2x$ are added, not averaged.
        second = 40   :: That is twice as much as it should be: $3x^2$ and $2x$ are each differentiated once.
        third = 3     :: That is half the right answer: $6x$ rises by more than that with each unit.
        third = 12    :: That is twice as much as it should be: differentiate $6x + 2$ once.
        fourth = 1    :: A constant does not change at all.
        slope = 27    :: That is the slope of $x^3$ alone. $x^2$ has a slope too.
        slope = 36    :: That is the value of $y$, $27 + 9$. You need its slope.
        slope = 162   :: The slopes of the two terms are added, not multiplied.
        second = 18   :: The $2x$ in the slope has a slope as well.
        second = 0    :: The slope is not 33 everywhere: it is $3x^2 + 2x$, and that changes with $x$.
        second = 1089 :: That is the slope squared. Differentiate it instead.
        second = 33   :: That is the first derivative once more. Differentiate the formula $3x^2 + 2x$.
        third = 18    :: $6x$ belongs to the *second* derivative. Its slope is the same everywhere.
        third = 0     :: One rung too far: $6x + 2$ still rises with $x$.
        third = 8     :: The $+2$ of the second derivative is a constant; its slope is 0.
        fourth = 6    :: The third derivative is 6 everywhere. How fast does it change?
        fourth = None :: A constant has a slope, and it is a number.
        x_grad = 33   :: `backward()` would have put the slope there. `torch.autograd.grad` returns its result.
        x_grad = 59   :: That would be `backward()` four times, added up. `torch.autograd.grad` returns its results.
        x_grad = 0    :: A zero would be a gradient. Nothing was ever put there.
        """),
    exercise(r"""
        15.2 the whole table
        solution: hessian
        cases: lambda: [(_lesson, _leaf(1.0, 2.0)), (_three, _leaf(2.0, 0.5, 1.0))]
        why: `create_graph=True` makes `g` differentiable; row $i$ is the gradient of the one number `g[i]`; `retain_graph=True`, because the next row walks the same graph.
        shows: One recorded pass, and then one pass for each row: that is the Jacobian of lesson 6, applied to the gradient.
        without func functional jacobian jacrev jacfwd: The table is right. But here you should build it by hand, row by row, with `torch.autograd.grad`.
        look: Row $i$ is the gradient of one entry of the gradient. Does each of the blanks fit that?
        hint: What has to be switched on so that `g` can be differentiated?
        hint: A pass begins at *one* number. Which one belongs to row `i`?
        hint: `True`, `g[i]`, `True`.

        f(x).backward(create_graph=True)
        rows = []
        for i in range(len(x)):
            x.grad[i].backward(retain_graph=True)
            rows.append(x.grad)
        return torch.stack(rows) :: `backward()` adds each row to `x.grad`, on top of the gradient itself. `torch.autograd.grad` returns each row alone.
        torch.diag(_column_sums(f, x)[0])        :: That puts the gradient of `g.sum()` on the diagonal and zeros elsewhere. It is not the diagonal of the Hessian, and the other entries are needed too.
        create_graph=True => create_graph=False :: `g` was not recorded. Which argument records it?
        retain_graph=True => retain_graph=False :: The pass for the first row freed the graph of `g`, and the second row needs it too.
        _column_sums                             :: Each row is the sum of *all* rows: `g.sum()` mixes the entries, and so does a single `x.grad` that keeps adding up. Start from one entry, with `torch.autograd.grad`.
        g[i] => g :: `g` has several entries, and a pass begins at one number. Which entry belongs to row `i`?
        y = f(x); return torch.stack([torch.autograd.grad(y, x, retain_graph=True)[0] for _ in range(len(x))]) :: That is the gradient of `f` itself, again and again. It is the entries of the *gradient* that should be differentiated.
        (g,) = torch.autograd.grad(f(x), x); return torch.outer(g, g) :: That multiplies the gradient by itself. A second derivative is not a product of first ones.
        torch.diag(torch.diag(hessian(f, x)))    :: That is only the diagonal. $g_0$ changes with the other inputs too.
        torch.stack([hessian(f, x)[0]] * len(x)) :: Every row is a copy of the first. Use `i`.
        (row,) = torch.autograd.grad(g[i], x, retain_graph=True) => g[i].backward(retain_graph=True) ;; (row) => (x.grad.clone()) :: `backward()` adds up in `x.grad`, so each row contains the ones before it. `torch.autograd.grad` does not.
        2 * hessian(f, x)                        :: Every entry is twice as large as it should be. Each second derivative counts once.
        range(len(x)) => range(2) :: 2 is right for two inputs. There is a row for each input: `range(len(x))`.
        return torch.stack(rows) => >>           :: Only the first row comes back: the `return` is inside the loop. Put it after the loop.
        torch.eye(len(x))                        :: That is the table of a function whose gradient is `x` itself. Differentiate each entry of `g` once more.
        """),
    exercise(r"""
        15.3 two passes, no table
        solution: hvp
        cases: _products
        besides: _two_passes
        why: $g \cdot v$ is one number. Its gradient is $\sum_i v_i \nabla g_i = H v$, since $H$ is symmetric. That takes two passes, whatever the number of inputs.
        shows: A product with a table that was never built: two passes, with two inputs or a million.
        without func functional hessian jacobian jacrev jacfwd: The product is right. But compute it without the table and without a ready-made function, in two passes.
        look: Two passes: the first computes $g$ and records it. Which single number does the second start from?
        hint: The cell above does it for one `f`. Which of its lines do you need?
        hint: First the gradient, with `create_graph=True`. Then make one number from it and `v`.
        hint: The second pass is `torch.autograd.grad(g @ v, x)`; it returns a tuple with one entry.

        (g,) = torch.autograd.grad(f(x), x); return torch.autograd.grad(g @ v, x)[0] :: `g` has no history: the first pass must be recorded, and what it differentiates must depend on `x`. (`retain_graph=True` keeps the graph of `f` and records nothing new.)
        (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g.sum(), x)[0] ;; return product => :: `v` has no effect: that is the product with a vector of ones.
        (g,) = torch.autograd.grad(f(x), x); return g @ v :: $g \cdot v$ is the slope in the direction $v$, one number. Take its gradient.
        (g,) = torch.autograd.grad(f(x), x); return g * v :: That multiplies the gradient by `v`, entry by entry. Nothing is differentiated a second time.
        (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g.sum(), x)[0] * v ;; return product => :: `v` is applied too late: each *column* of the table should be multiplied by its own entry of `v`, before the sum.
        v @ hvp(f, x, v)                :: That is $v^\top H v$, one number. One factor `v` is enough.
        torch.autograd.grad(f(x), x)[0] :: That is the gradient. It should be differentiated once more, in the direction `v`.

        moved = (x + v).detach().requires_grad_()
        return torch.autograd.grad(f(moved), moved)[0] - torch.autograd.grad(f(x), x)[0] :: A whole step `v` is not a small nudge: the Hessian itself changes on the way. And you do not need a nudge here.

        (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g @ v, x) ;; return product => :: `torch.autograd.grad` returns a tuple, even for one input. Take its entry: `[0]`.
        (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g @ g, x)[0] ;; return product => :: In $g \cdot g$ both factors are `g`. One of them should be `v`.
        torch.autograd.grad(torch.autograd.grad(f(x), x, create_graph=True)[0] * v, x)[0] :: `g * v` has an entry for each input, and so has `g`. A pass begins at *one* number: their dot product, `g @ v`.
        torch.autograd.grad(torch.autograd.grad(f(x), x, create_graph=True)[0] @ v, v)[0] :: `v` is held fixed. Take the second gradient with respect to `x`.

        x = x.detach().requires_grad_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f(x).backward(create_graph=True)
        (x.grad @ v).backward()
        return x.grad.detach() :: Both of your passes added to `x.grad`, so it holds $g + Hv$. `torch.autograd.grad` returns each result on its own.

        (product,) = torch.autograd.grad(g @ v, x) => product = torch.stack([torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(len(x))]) @ v :: that builds the whole table, row by row.

        h = 1e-2
        def at(place):
            place = place.detach().requires_grad_()
            return torch.autograd.grad(f(place), place)[0]
        return (at(x + h * v) - at(x - h * v)) / (2 * h) :: that is a nudge of the gradient

        (product,) = torch.autograd.grad(g @ v, x) => (g @ v).backward() ;; return product => return x.grad :: Your function leaves a gradient in `x.grad`
        (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g @ abs(v), x)[0] ;; return product => :: `abs` does not belong there: `v` has signs, and they count.
        (product,) = torch.autograd.grad(g @ v, x) => return torch.autograd.grad(g[0] * v[0], x)[0] ;; return product => :: That is the first row of the table times the first entry of `v`. All the rows count: `g @ v`.
        -hvp(f, x, v)                   :: The sign is wrong: there is no minus in $Hv$.
        """),
    exercise(r"""
        15.4 Newton with many inputs
        solution: newton
        cases: lambda: [(_bowl, _leaf(2.0, -1.0)), (_curved, _leaf(1.0, 2.0))]
        why: `torch.linalg.solve(H, g)` is the step that brings the gradient to 0 if it keeps changing as $H$ says. It is subtracted from `x`.
        shows: One step to the bottom of a bowl, whatever its shape: the curvature says how long the step must be.
        look: With one input it was $x - f'/f''$. What replaces the division?
        hint: With one input: $x - f'/f''$.
        hint: `torch.linalg.solve(H, g)` is $H^{-1}g$.

        torch.linalg.solve(H, g) => g / g.norm() :: That is a step of length 1 against the gradient. Newton's step solves $H\,s = g$.
        instead of x - torch.linalg.solve(H, g):
        x - 0.1 * torch.linalg.solve(H, g) :: You multiply by a learning rate. Newton's step needs none: the curvature says how far to go.
        x - g / H.sum(1)                   :: You add up each row of `H` first, and so you no longer know which input changes which slope: solve the whole system, `torch.linalg.solve(H, g)`.
        x + torch.linalg.solve(H, g)       :: That goes uphill: the step should go *against* the slope.
        torch.linalg.solve(H, g)           :: That is the step. Where does it lead from `x`?
        -torch.linalg.solve(H, g)          :: That is the step, with its sign. Where does it lead from `x`?
        x - H @ g                          :: That multiplies by the curvature. The more curvature, the *shorter* the step should be.
        x - g                              :: That is gradient descent with a learning rate of 1. `H` is not used.
        x - g / torch.diag(H)              :: That divides by the diagonal alone. Each slope changes with the other inputs too: use `torch.linalg.solve`.
        x - g / H                          :: Dividing by a table divides entry by entry and gives a table. Use `torch.linalg.solve(H, g)`.
        x - torch.linalg.solve(H, x)       :: It is `g` that should be brought to 0, not `x`.
        x - 0.5 * torch.linalg.solve(H, g) :: That is half of the step. On a bowl the whole step leads to the bottom.
        x - torch.linalg.solve(g, H)       :: `solve` takes the table first, then the gradient: `torch.linalg.solve(H, g)`.
        x - torch.linalg.solve(H, g).sum() :: The step is summed, so every entry moves by the same amount. Each has its own step: leave out the `sum`.
        """),
    exercise(r"""
        15.5 a penalty that works
        solution: with_penalty
        probe: _penalties
        why: `create_graph=True` gives `g` its way back to the weights (and keeps the graph of `out`, so you do not need `retain_graph`). So the penalty acts on the weights like any other part of the loss.
        shows: The gradient is part of the loss, and the weights feel it. You cannot see from the loss alone whether they do: look at `w.grad`.
        look: The loss is `out` and the penalty. Are both in it, and do both have a way back to the weights?
        hint: Which argument makes the gradient differentiable?
        hint: The penalty: the length `g.norm()`, minus 1, squared.
        hint: `return out + (g.norm() - 1) ** 2`

        out.backward(create_graph=True)
        return out + (x.grad.norm() - 1) ** 2 :: That pass fills the `.grad` of every weight as well, and the training pass adds to it. `torch.autograd.grad` leaves `.grad` alone.
        g.norm() => g.abs().sum() :: The sum of the absolute values is not the length. The length is the root of the sum of the squares, `g.norm()`.
        out + (g.norm() - 1) ** 2 => out + 2 * (g.norm() - 1) ** 2 :: You added the penalty twice.
        create_graph=True => retain_graph=True :: The loss has the right *value*, but the weights do not feel the penalty: `g` has no history, or a `detach()` has cut it off. `retain_graph=True` keeps the graph of `out`; it records nothing new.
        create_graph=True => create_graph=False                  :: Your first pass freed the graph of `out`, which the loss still needs. And keeping that graph is not enough: `g` itself must have a history.
        g.norm() => g.sum() :: The sum of the entries is not the length: positive and negative ones cancel. Use `g.norm()`.
        g.norm() => (g * g).sum() :: That is the *square* of the length. The root is missing.
        out + (g.norm() - 1) ** 2 => out :: The penalty is not in the loss: you return `out` as it came in.
        out + (g.norm() - 1) ** 2 => out + (g.norm() - 1) * 2 :: Twice the distance is not its square: `** 2`.
        out + (g.norm() - 1) ** 2 => (g.norm() - 1) ** 2 :: `out` itself is missing from the loss.
        out + (g.norm() - 1) ** 2 => out + g.norm() ** 2 :: That pulls the length to 0. It should be 1.
        out + (g.norm() - 1) ** 2 => out + g.norm() - 1 :: Without the square, a shorter and shorter gradient makes the loss smaller and smaller.
        out + (g.norm() - 1) ** 2 => out - (g.norm() - 1) ** 2 :: A penalty is added. Subtracted, it is a reward.
        out + (g.norm() - 1) ** 2 => (out + g.norm() - 1) ** 2 :: The square is for the penalty alone, not for `out`.
        out + (out - 1) ** 2            :: That pulls the *output* to 1. The length of its *gradient* should be 1.
        out.backward(retain_graph=True); return out + (x.grad.norm() - 1) ** 2 :: `backward()` leaves a gradient without a history in `x.grad`, and adds its own part to every weight's `.grad`.
        (g,) => g ;; g.norm() => g      :: `torch.autograd.grad` returns a tuple, even for one input. Take its entry: `(g,) = ...`
        out + (g.norm() - 1) ** 2 => out.detach() + (g.norm() - 1) ** 2 :: The loss has the right value. But `out` is cut off, so the weights feel only the penalty.
        (g.norm() - 1) ** 2 => ((g - 1) ** 2).sum() :: That pulls *each entry* of the gradient to 1. The length of the whole gradient should be 1: `g.norm()`.
        out + (g.norm() - 1) ** 2 => out + g.norm() ** 2 - 1 :: The 1 belongs inside the square: $(|g| - 1)^2$. As it is, the length is pulled to 0.
        out + (g.norm() - 1) ** 2 => out + abs(g.norm() - 1) :: The distance from 1 is not squared: `** 2`.
        g.norm() => g.norm() / len(g) ** 0.5 :: You divide by the root of the number of entries. The length is `g.norm()`, nothing more.
        g.norm() => g[0].abs() :: That is the absolute value of a single entry. The length of the whole gradient is `g.norm()`.
        """),
    exercise(r"""
        15.6 two repairs
        solution: (Again, Both)
        probe: _repaired
        why: `Again` computes $3x^2$ from `x`, which the graph knows. In `Both` the saved square is an output, so the second pass reaches this very `backward` again, with `square_grad`; $x^2$ has the slope $2x$.
        shows: Both give 480. The first repair costs a product, the second keeps one more tensor: the old choice between computing and storing (lesson 10).
        look: In `Again` everything in `backward` comes from the saved *input*. In `Both` the square is returned, and its own upstream gradient is passed on to `x`.
        hint: `Again`: save `x`. What is the slope of $x^3$, written with `x` alone?
        hint: `Both`: `return square * x, square`. Two outputs lead back to `x`, so two terms are added in `backward`.
        hint: `grad * 3 * square + square_grad * 2 * x`

        ctx.save_for_backward(x) => ctx.save_for_backward(x * x) ;; return grad * 3 * x * x => return grad * 3 * x :: In `Again` the square is a constant for the second pass: it was made inside `forward`, where nothing is recorded, or `detach()` or `.item()` cuts it off. Save the input, and compute with it as it is.
        return grad * 3 * x * x => return 3 * x * x :: In `Again` the upstream gradient is missing: multiply by `grad`.
        return grad * 3 * x * x => return grad * x * x :: In `Again` the 3 of $3x^2$ is missing.
        return grad * 3 * x * x => return grad * 3 * x :: In `Again` that is $3x$. The slope of $x^3$ is $3x^2$.
        return grad * 3 * x * x => return grad * x * x * x :: In `Again` that is the value, $x^3$. Its slope is $3x^2$.
        return grad * 3 * x * x => with torch.no_grad(): return grad * 3 * x * x :: it cannot be differentiated again
        return grad * 3 * x * x => return grad * 2 * x :: In `Again` that is the slope of $x^2$. The slope of $x^3$ is $3x^2$.
        return grad * 3 * square + square_grad * 2 * x => return square_grad * 2 * x :: `Both` drops what arrives at its *first* output, the cube: add `grad * 3 * square`.
        return grad * 3 * square + square_grad * 2 * x => return grad * 3 * square + 2 * x :: In `Both` the slope $2x$ is not multiplied by what arrives at the second output, `square_grad`.
        return square * x, square => return square * x :: `Both` returns one output only. Return the square as well: then it is an output, and the graph knows it.
        return grad * 3 * square + square_grad * 2 * x => return grad * 3 * square :: `Both` drops what arrives at its second output. It is 0 on the first pass and counts on the second: add `square_grad * 2 * x`.
        return grad * 3 * square + square_grad * 2 * x => return grad * 3 * square + square_grad :: In `Both`, `square_grad` still has to be multiplied by the slope of $x^2$, which is $2x$.
        return grad * 3 * square + square_grad * 2 * x => return grad * 3 * square + square_grad * square :: In `Both`, `square_grad` is multiplied by the *value* of the second output. Multiply it by the slope of $x^2$, which is $2x$.
        return grad * 3 * square + square_grad * 2 * x => return grad * 3 * square + square_grad * x :: In `Both` a factor of 2 is missing: the slope of $x^2$ is $2x$.
        return grad * 3 * square + square_grad * 2 * x => return grad * 3 * square - square_grad * 2 * x :: In `Both` the second term has the wrong sign: what comes back from two outputs is added.
        return grad * 3 * square + square_grad * 2 * x => return grad * 3 * square, square_grad * 2 * x :: `Both` has one input, so `backward` returns one gradient: the two terms are added.
        return grad * 3 * square + square_grad * 2 * x => return (grad + square_grad) * 3 * square :: In `Both` each output has its own slope: $3x^2$ for the cube, $2x$ for the square.
        return grad * 3 * square + square_grad * 2 * x => return grad * 3 * square.detach() + square_grad * 2 * x :: In `Both` the saved square is a constant for the second pass: `detach()` cuts it off, or the square that is returned is not the one that was saved.
        return square * x, square => return square, square * x :: `Both` returns its two outputs in the wrong order: first the cube, then the square.
        return square * x, square => return square * x, x :: The second output of `Both` should be the square.
        """),
]
